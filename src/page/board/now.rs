//! What runs now: the pseudo-code, and the lanes.

use leptos::html;
use leptos::prelude::*;

use super::frame::Frame;
use super::parts::{either, places, shown, text};
use crate::memo::{Memo, effect};
use crate::ui::Ui;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::lanes::{self, Kind, Lane, Segment};
use deltascope_presentation::pseudo::{self, Link, Listing, ListingLine};
use deltascope_presentation::stage::Panel;

#[component]
pub(super) fn Now() -> impl IntoView {
    let ui = Ui::get();
    let listing = ui.memo(|view| pseudo::listing(view.narrated().0, view.narrated().1));
    let rows = ui.memo(|view| lanes::lanes(&view.recent, &view.picture));
    let title = ui.word(|words| words.now_running);
    let side = move || {
        view! {
            <span class="where" translate="no">
                {place(listing, true, false, true)}
            </span>
        }
    };
    let lines = Memo::new(move |_| listing.with(|listing| listing.lines.clone()));
    let code = NodeRef::<html::Pre>::new();
    effect(move || {
        listing.track();
        if let Some(code) = code.get() {
            // Once the lines of this step are in place.
            request_animation_frame(move || show_current(&code));
        }
    });
    view! {
        <Frame room=Panel::Now title=title side=side>
            <div class="listing">
            <pre class="code" node_ref=code tabindex="0" translate="no">
                {shown(
                    move || lines.with(Vec::is_empty),
                    move || view! { <span class="empty">{ui.word(|words| words.nothing_runs)}</span> },
                )}
                {places(lines, |line| either(
                    move || line.with(|line| line.current),
                    move || view! { <mark>{content(line)}</mark> },
                    move || view! { <span class="line">{content(line)}</span> },
                ))}
            </pre>
            </div>
            <Lanes rows=rows />
        </Frame>
    }
}

fn content(line: Memo<ListingLine>) -> impl IntoView {
    let value = move || line.with(|line| line.value.clone());
    view! {
        <span class="text">{text(move || line.with(|line| line.text))}</span>
        {shown(move || value().is_some(), move || view! {
            <i class="result">"→ " {text(move || value().unwrap_or_default())}</i>
        })}
    }
}

/// What runs, with a link into client-go if there is one. The short forms leave out the caller, or the version of
/// client-go, which the styles may leave out too. Where the link may be hidden, Tab has to skip it.
pub(super) fn place(
    listing: Memo<Listing>,
    whole_routine: bool,
    whole_link: bool,
    focusable: bool,
) -> impl IntoView + use<> {
    let title = move || listing.with(Listing::title);
    let routine = move || match whole_routine {
        true => title(),
        false => listing.with(|listing| listing.routine.clone()),
    };
    let linked = Memo::new(move |_| listing.with(|listing| listing.link.is_some()));
    let link = move |of: fn(&Link) -> String| {
        text(move || listing.with(|listing| listing.link.as_ref().map(of).unwrap_or_default()))
    };
    view! {
        <span class="n" title=text(title)>
            {text(routine)}
        </span>
        {shown(move || linked.get(), move || {
            let version = whole_link.then(|| {
                view! { <span class="version">{link(|link| format!("{} ", link.source))}</span> }
            });
            view! {
                <span class="dot">"·"</span>
                <a
                    tabindex=(!focusable).then_some("-1")
                    href=link(|link| link.url.clone())
                    target="_blank"
                    rel="noopener noreferrer"
                    title=link(Link::to_string)
                >
                    {version}
                    {link(|link| link.place.clone())}
                </a>
            }
        })}
    }
}

fn show_current(code: &web_sys::HtmlElement) {
    use leptos::wasm_bindgen::JsCast;
    let Ok(Some(mark)) = code.query_selector("mark") else {
        return;
    };
    let Ok(mark) = mark.dyn_into::<web_sys::HtmlElement>() else {
        return;
    };
    let (top, height) = (mark.offset_top() - code.offset_top(), mark.offset_height());
    let (from, room) = (code.scroll_top(), code.client_height());
    // The first line is sticky: it stays on top of the others.
    if height == 0 {
        return;
    }
    // Scroll by whole lines, so that the first is not cut. A line's height is no whole number of pixels.
    let line = mark.get_bounding_client_rect().height();
    let lines = if top < from + height || top + height > from + room {
        let above = f64::from((room / height).max(2) / 2);
        (f64::from(top) / line).round() - above
    } else {
        // The previous listing may have left the scroll position between two lines.
        (f64::from(from) / line).floor()
    };
    // The lowest scroll position may come first, and it may not be at a whole line.
    let furthest = f64::from(code.scroll_height() - room) / line;
    let lines = lines.min(furthest.floor());
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a place in a listing of some ten lines"
    )]
    code.set_scroll_top((lines * line).round() as i32);
}

#[component]
fn Lanes(rows: Memo<Vec<Lane>>) -> impl IntoView {
    let ui = Ui::get();
    let name = move |actor| {
        let lang = ui.lang.get();
        ui.view
            .with(|view| lanes::actor_name(actor, &view.picture, lang))
    };
    view! {
        <div
            class="lanes"
            class:many=move || rows.with(|rows| rows.len() > 2)
            prop:style=move || format!("--rows:{}", rows.with(|rows| rows.len().div_ceil(2)))
            tabindex="0"
            role="group" aria-label=ui.word(|words| words.lanes)
        >
            {places(rows, move |lane| {
                let actor = move || lane.with(|lane| lane.actor);
                let segments = Memo::new(move |_| lane.with(|lane| lane.segments.clone()));
                view! {
                    <div class="lane">
                        <span class="n">{text(move || name(actor()))}</span>
                        <span class="track">{places(segments, move |segment| stretch(ui, segment))}</span>
                    </div>
                }
            })}
        </div>
    }
}

/// A stretch of a lane.
fn stretch(ui: Ui, segment: Memo<Segment>) -> impl IntoView {
    let kind = move || segment.with(|segment| segment.kind);
    let class = move || match kind() {
        Kind::Runs => "run",
        Kind::HoldsLock => "lk",
        Kind::HoldsBlock => "lk bd",
        Kind::Waits => "wt",
        Kind::WaitsBlock => "wt bd",
    };
    let title = move || {
        let words = ui.words();
        let (title, lock) = match kind() {
            Kind::Runs => (words.runs, ""),
            Kind::HoldsLock => (words.holds_lock, ""),
            Kind::HoldsBlock => (words.holds_lock, " (blockDeltas)"),
            Kind::Waits => (words.waits, ""),
            Kind::WaitsBlock => (words.waits, " (blockDeltas)"),
        };
        [title, lock].concat()
    };
    let style = move || {
        let (from, to) = segment.with(|segment| (segment.from, segment.to));
        let width = (to - from).max(0.004);
        decimals(
            "left:#%;width:#%",
            &[from, width].map(|x| f64::from(x) * 100.0),
        )
    };
    view! { <i class=text(class) title=text(title) prop:style=style></i> }
}
