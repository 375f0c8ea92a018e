//! Icons, drawn inline.

use leptos::prelude::*;

use super::parts::Text;
use deltascope_presentation::svg::glyphs::LOCK;
pub(super) use deltascope_presentation::svg::glyphs::{
    BACK, FOLLOW, NEXT, PLAY, RESET, STEP, glyph,
};

/// A filled icon in a box of 14 px.
pub(super) fn filled(path: &'static str) -> impl IntoView {
    view! {
        <svg class="icon" width="14" height="14" viewBox="0 0 14 14" fill="currentColor" aria-hidden="true">
            <path d=path></path>
        </svg>
    }
}

/// A stroked icon in a box of 14 px.
pub(super) fn drawn(path: &'static str) -> impl IntoView {
    view! {
        <svg
            class="icon"
            width="14"
            height="14"
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
        >
            <path d=path></path>
        </svg>
    }
}

/// The glyph of a delta's type.
pub(super) fn delta(glyph: Text) -> impl IntoView {
    view! {
        <svg
            width="14"
            height="14"
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            stroke-width="2"
            aria-hidden="true"
        >
            <path d=glyph></path>
        </svg>
    }
}

pub(super) fn lock() -> impl IntoView {
    view! {
        <svg
            class="icon"
            width="12"
            height="13"
            viewBox="0 0 12 13"
            fill="none"
            stroke="currentColor"
            stroke-width="1.6"
            aria-hidden="true"
        >
            <path d=LOCK></path>
        </svg>
    }
}

pub(super) const PAUSE: &str = "M3 2h3v10H3zM8 2h3v10H8z";
pub(super) const REPLAY: &str =
    "M7 2.2V.3l4 2.9-4 2.9V4.1A3.4 3.4 0 1010.4 7.5h1.9A5.3 5.3 0 117 2.2z";
pub(super) const SUN: &str = "M7 4.4a2.6 2.6 0 100 5.2 2.6 2.6 0 000-5.2zM7 .9v1.2M7 11.9v1.2M.9 7h1.2M11.9 7h1.2M2.7 2.7l.8.8M10.5 10.5l.8.8M11.3 2.7l-.8.8M3.5 10.5l-.8.8";
pub(super) const MOON: &str = "M12 8.4A5.3 5.3 0 015.6 2a5.3 5.3 0 106.4 6.4z";
pub(super) const FOLDER: &str = "M1.5 11.5v-9h4l1.3 1.8h5.7v7.2z";
/// A line that branches off another.
pub(super) const BRANCHES: &str = "M4 2v11M4 9c0-3 6-1 6-5M2.5 2h3M8.5 3h3M2.5 13h3";
/// An arrow out of a box.
pub(super) const SHARE: &str = "M7 8.5V1.5M4.5 4L7 1.5L9.5 4M4 6.5H2.5v6h9v-6H10";
pub(super) const UNTIL: &str = "M1.5 7h7M6 4l3 3-3 3M12 2v10";
pub(super) const WHY: &str = "M3 2.5h3v3H3zM8 8.5h3v3H8zM4.5 5.5V10H8";
pub(super) const CHEVRON: &str = "M3.5 5.5L7 9l3.5-3.5";
/// Machines, stacked.
pub(super) const CLUSTER: &str = "M2 2h10v4H2zM2 8h10v4H2zM4.3 4h.4M4.3 10h.4M7 4h2.7M7 10h2.7";
/// Two columns, of which one differs.
pub(super) const COMPARE: &str = "M1.5 2h4.2v10H1.5zM8.3 2h4.2v10H8.3zM8.3 7h4.2M3 5h1.2M3 9h1.2";
/// A lens.
pub(super) const CLOSER: &str = "M6 2a4 4 0 100 8 4 4 0 000-8zM9 9l3.5 3.5";
/// A screen on its foot.
pub(super) const PRESENT: &str = "M1.5 2h11v7.5h-11zM7 9.5V12M4.5 12.5h5";
/// The corners of a code.
pub(super) const CODE: &str =
    "M1.5 1.5h4v4h-4zM8.5 1.5h4v4h-4zM1.5 8.5h4v4h-4zM8.5 8.5h1.5v1.5M12.5 8.5v4h-4V11";
/// Rows and columns.
pub(super) const TABLE: &str = "M1.5 2.5h11v9h-11zM1.5 5.5h11M1.5 8.5h11M5 2.5v9";
/// A list with ticks.
pub(super) const CHECKS: &str = "M1.3 3.6l1.2 1.2 2-2.4M1.3 9.6l1.2 1.2 2-2.4M7 4h5.6M7 10h5.6";
