//! The colours of style/tokens.css that pictures need: a picture is self-contained and cannot use the page's style
//! sheet. A test compares both.

use crate::rows::Mark;
use deltascope_cache::delta::DeltaType;

/// A colour, by its place in [`TOKENS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink(pub(super) u8);

/// Name, light, dark.
#[rustfmt::skip]
pub(super) const TOKENS: [(&str, &str, &str); 25] = [
    ("paper", "#f7f6f2", "#10151c"),
    ("card", "#ffffff", "#171e27"),
    ("ink", "#1b2430", "#e8edf3"),
    ("ink-2", "#5b6675", "#9fabb9"),
    ("ink-3", "#5d6875", "#909dab"),
    ("line", "#dcdfe3", "#2a3441"),
    ("line-2", "#eceef0", "#212a35"),
    ("wire", "#7f8993", "#74808d"),
    ("glow", "#fff3c4", "#3a3210"),
    ("glow-line", "#b08400", "#d8b12a"),
    ("lock-line", "#8a6b00", "#d8b12a"),
    ("added", "#077553", "#34c79a"),
    ("updated", "#1769aa", "#5aa9ee"),
    ("deleted", "#b0410f", "#f0804e"),
    ("replaced", "#8f4c89", "#d08fca"),
    ("sync", "#855900", "#e5b04a"),
    ("bookmark", "#5d6875", "#93a0ae"),
    ("hue-0", "#4e79a7", "#5f8fc4"),
    ("hue-1", "#b07d00", "#e0a100"),
    ("hue-2", "#7b5ea7", "#9a7fc8"),
    ("hue-3", "#2a8f81", "#2f9e8f"),
    ("hue-4", "#c2554f", "#d96f68"),
    ("hue-5", "#5f8a2b", "#82ad4a"),
    ("hue-6", "#b5578f", "#cf78ab"),
    ("hue-7", "#8a6a4a", "#ad8b68"),
];

/// The fonts of style/tokens.css.
pub(super) const SANS: &str = "system-ui, \"Segoe UI\", Roboto, \"Noto Sans\", \"Noto Sans SC\", \
    \"Noto Sans CJK SC\", \"DejaVu Sans\", sans-serif";
/// The monospaced fonts of style/tokens.css.
pub(super) const MONO: &str =
    "ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";

impl Ink {
    /// No colour: no fill, or no stroke.
    pub(super) const NONE: Self = Self(u8::MAX);
    pub(super) const PAPER: Self = Self(0);
    pub(super) const CARD: Self = Self(1);
    pub(super) const INK: Self = Self(2);
    pub(super) const INK_2: Self = Self(3);
    pub(super) const INK_3: Self = Self(4);
    pub(super) const LINE: Self = Self(5);
    pub(super) const LINE_2: Self = Self(6);
    pub(super) const WIRE: Self = Self(7);
    pub(super) const GLOW: Self = Self(8);
    pub(super) const GLOW_LINE: Self = Self(9);
    pub(super) const LOCK_LINE: Self = Self(10);
    pub(super) const ADDED: Self = Self(11);
    pub(super) const DELETED: Self = Self(13);
    const HUE_0: u8 = 17;

    pub(super) fn of(delta_type: DeltaType) -> Self {
        match delta_type {
            DeltaType::Added => Self::ADDED,
            DeltaType::Updated => Self(12),
            DeltaType::Deleted => Self::DELETED,
            DeltaType::Replaced | DeltaType::ReplacedAll => Self(14),
            DeltaType::Sync | DeltaType::SyncAll => Self(15),
            DeltaType::Bookmark => Self(16),
        }
    }

    /// The colour of a mark; [`Self::NONE`] if the mark is hollow.
    pub(super) fn of_mark(mark: Mark) -> Self {
        mark.look()
            .map_or(Self::NONE, |(hue, _)| Self(Self::HUE_0 + hue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colours_and_fonts_are_those_of_the_page() {
        let css = include_str!("../../../style/tokens.css");
        for (name, light, dark) in TOKENS {
            let line = format!("--{name}: light-dark({light}, {dark});");
            assert!(css.contains(&line), "style/tokens.css has no {line}");
        }
        for (name, fonts) in [("sans", SANS), ("mono", MONO)] {
            let line = format!("--{name}: {fonts};");
            assert!(css.contains(&line), "style/tokens.css has no {line}");
        }
        for (ink, name) in [
            (Ink::PAPER, "paper"),
            (Ink::LOCK_LINE, "lock-line"),
            (Ink::of(DeltaType::Updated), "updated"),
            (Ink::of(DeltaType::ReplacedAll), "replaced"),
            (Ink::of(DeltaType::Bookmark), "bookmark"),
            (Ink(Ink::HUE_0), "hue-0"),
        ] {
            assert_eq!(TOKENS[usize::from(ink.0)].0, name);
        }
    }
}
