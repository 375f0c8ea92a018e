//! What the keys of the keyboard mean. Pure; the listeners are in `board::keyboard`.
//!
//! One rule: a key is the stage's, unless what has the focus needs that key, and the focus came to it by
//! the keyboard. Who has clicked a button, or chosen from a list, is done with it, though it has the focus.

use super::command::Command;

/// What a key asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Something for the session.
    Command(Command),
    /// Show the help.
    Help,
}

/// What has the focus, as far as keys care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Focus {
    /// Nothing that takes keys.
    #[default]
    Page,
    /// A button, a link or a check box: space and enter press it.
    Button,
    /// A tab or a radio button: arrows go to the others.
    Tab,
    /// A list with a cursor of its own.
    List,
    /// A slider: what moves it moves the stage as well.
    Slider,
    /// A select that is closed: space opens it, letters choose.
    Select,
    /// Something that takes any key as long as it is open.
    Open,
    /// What scrolls.
    Scroll,
    /// A text field.
    Text,
}

/// How the focus came there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reached {
    /// By Tab, or as it would by Tab.
    #[default]
    Tab,
    /// The program put it there when a key was pressed.
    Key,
    /// By a click; or whoever had it there is done.
    Done,
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press<'a> {
    /// `KeyboardEvent.key`
    pub key: &'a str,
    /// Shift was down.
    pub shift: bool,
    /// Control, Alt or Meta was down: then the key is the browser's.
    pub modified: bool,
    /// Where the focus is.
    pub focus: Focus,
    /// How it came there.
    pub reached: Reached,
}

impl Press<'_> {
    /// Whether what has the focus needs this key.
    fn is_kept(self) -> bool {
        let along = matches!(self.key, "ArrowLeft" | "ArrowRight");
        let page = matches!(self.key, "PageUp" | "PageDown");
        match self.focus {
            Focus::Page | Focus::Slider => false,
            Focus::Text => !page,
            Focus::Open => true,
            Focus::Button => self.key == " " && self.reached == Reached::Tab,
            Focus::Scroll => page && self.reached == Reached::Tab,
            Focus::Tab => along && self.reached != Reached::Done,
            Focus::List => (along || page || self.key == " ") && self.reached != Reached::Done,
            Focus::Select => {
                (self.key == " " || is_typed(self.key)) && self.reached != Reached::Done
            }
        }
    }
}

/// Whether a select chooses by this key.
#[must_use]
pub fn is_typed(key: &str) -> bool {
    let mut letters = key.chars();
    let is_one = letters.next().is_some_and(char::is_alphanumeric);
    is_one && letters.next().is_none()
}

/// What `press` asks for in a run of `steps` facts.
#[must_use]
pub fn action(press: Press<'_>, steps: usize) -> Option<Action> {
    if press.modified || press.is_kept() {
        return None;
    }
    let walk = |on| Command::Walk {
        on,
        coarser: press.shift,
    };
    let command = match press.key {
        " " => Command::TogglePlay,
        "ArrowRight" | "PageDown" => walk(true),
        "ArrowLeft" | "PageUp" => walk(false),
        "." => Command::Step(1),
        "," => Command::Step(-1),
        "[" => Command::PreviousMarker,
        "]" => Command::NextMarker,
        "r" | "R" => Command::Reset,
        "f" | "F" => Command::Fork,
        "?" => return Some(Action::Help),
        key => Command::Seek(tenth(key, steps)?),
    };
    Some(Action::Command(command))
}

fn tenth(key: &str, steps: usize) -> Option<usize> {
    let mut digits = key.chars();
    let digit = digits.next()?.to_digit(10)?;
    if digits.next().is_some() {
        return None;
    }
    Some(steps.saturating_mul(usize::try_from(digit).ok()?) / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str) -> Press<'_> {
        Press {
            key,
            ..Press::default()
        }
    }

    #[test]
    fn arrows_and_a_presenters_remote_step_and_shift_makes_them_coarse() {
        for (key, on) in [
            ("ArrowRight", true),
            ("PageDown", true),
            ("ArrowLeft", false),
            ("PageUp", false),
        ] {
            for coarser in [false, true] {
                let press = Press {
                    shift: coarser,
                    ..press(key)
                };
                let walk = Command::Walk { on, coarser };
                assert_eq!(action(press, 62), Some(Action::Command(walk)), "{key}");
            }
        }
        assert_eq!(
            action(press(","), 62),
            Some(Action::Command(Command::Step(-1)))
        );
    }

    #[test]
    fn digits_go_to_tenths() {
        assert_eq!(
            action(press("5"), 62),
            Some(Action::Command(Command::Seek(31)))
        );
        assert_eq!(action(press("F5"), 62), None);
    }

    /// Of the stage's keys, those that what has the focus keeps.
    #[test]
    fn what_has_the_focus_keeps_what_it_needs_until_it_is_done_with() {
        const KEYS: [&str; 14] = [
            " ",
            "ArrowRight",
            "ArrowLeft",
            "PageDown",
            "PageUp",
            ".",
            ",",
            "[",
            "]",
            "r",
            "F",
            "?",
            "0",
            "7",
        ];
        use Reached::{Done, Key, Tab};
        for (focus, by, kept) in [
            (Focus::Page, &[Tab, Key, Done][..], &[][..]),
            (Focus::Slider, &[Tab, Key, Done], &[]),
            (Focus::Button, &[Tab], &[" "]),
            (Focus::Button, &[Key, Done], &[]),
            (Focus::Tab, &[Tab, Key], &["ArrowRight", "ArrowLeft"]),
            (Focus::Tab, &[Done], &[]),
            (
                Focus::List,
                &[Tab, Key],
                &[" ", "ArrowRight", "ArrowLeft", "PageDown", "PageUp"],
            ),
            (Focus::List, &[Done], &[]),
            (Focus::Select, &[Tab, Key], &[" ", "r", "F", "0", "7"]),
            (Focus::Select, &[Done], &[]),
            (Focus::Scroll, &[Tab], &["PageDown", "PageUp"]),
            (Focus::Scroll, &[Key, Done], &[]),
            (Focus::Open, &[Tab, Key, Done], &KEYS),
        ] {
            for reached in by {
                for key in KEYS {
                    let press = Press {
                        focus,
                        reached: *reached,
                        ..press(key)
                    };
                    let is_kept = action(press, 62).is_none();
                    assert_eq!(
                        is_kept,
                        kept.contains(&key),
                        "{focus:?} {reached:?} {key:?}"
                    );
                }
            }
        }
        // A field keeps all that can be typed or moves in it; a remote goes on beside it.
        for reached in [Tab, Key, Done] {
            for key in KEYS {
                let press = Press {
                    focus: Focus::Text,
                    reached,
                    ..press(key)
                };
                let is_kept = action(press, 62).is_none();
                assert_eq!(is_kept, !key.starts_with("Page"), "{reached:?} {key:?}");
            }
        }
    }

    #[test]
    fn the_browser_keeps_its_keys() {
        for key in ["r", "ArrowLeft", "0", " "] {
            let press = Press {
                modified: true,
                ..press(key)
            };
            assert_eq!(action(press, 62), None, "{key}");
        }
    }
}
