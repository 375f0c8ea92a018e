//! Hand-drawn paths of the page and of pictures: the glyphs of delta types, the lock, and the buttons of playback.

use deltascope_cache::delta::DeltaType;

/// The glyph of a delta type, as a path in a box of 14 by 14.
#[must_use]
pub fn glyph(delta_type: DeltaType) -> &'static str {
    match delta_type {
        DeltaType::Added => "M7 2v10M2 7h10",
        DeltaType::Updated => "M2 8q2.5-5 5-1t5-1",
        DeltaType::Deleted => "M3 3l8 8M11 3l-8 8",
        DeltaType::Replaced | DeltaType::ReplacedAll => {
            "M11.5 7a4.5 4.5 0 11-1.4-3.3M11.5 1.5v2.8H8.7"
        }
        DeltaType::Sync | DeltaType::SyncAll => {
            "M2.6 6.2a4.6 4.6 0 018.2-1.9M11.4 7.8a4.6 4.6 0 01-8.2 1.9M10.9 1.6v2.8H8.1M3.1 12.4V9.6h2.8"
        }
        DeltaType::Bookmark => "M4 12.5V2h6.5L8.6 4.7l1.9 2.8H4",
    }
}

/// The lock, as a path in a box of 12 by 13.
pub const LOCK: &str = "M3 5.5h6a1.5 1.5 0 011.5 1.5v3.5A1.5 1.5 0 019 12H3a1.5 1.5 0 01-1.5-1.5V7A1.5 1.5 0 \
    013 5.5zM3.5 5.5V3.7a2.5 2.5 0 015 0v1.8";

/// To the start, as a path in a box of 14 by 14, like those that follow.
pub const RESET: &str = "M2 2h2v10H2zM12 2v10L5 7z";
/// A step back.
pub const BACK: &str = "M9 2v10L2.5 7zM10.5 2h1.6v10h-1.6z";
/// Playback.
pub const PLAY: &str = "M3 1.5v11L12.5 7z";
/// A step on.
pub const STEP: &str = "M5 2v10l6.5-5zM1.9 2h1.6v10H1.9z";
/// To the next marker.
pub const NEXT: &str = "M10 2h2v10h-2zM2 2v10l7-5z";
/// A frame around what is followed; drawn, not filled.
pub const FOLLOW: &str =
    "M7 3.2a3.8 3.8 0 100 7.6 3.8 3.8 0 000-7.6zM7 .8v3M7 10.2v3M.8 7h3M10.2 7h3";
