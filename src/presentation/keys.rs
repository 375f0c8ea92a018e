//! The meaning of the keys on the keyboard. Pure; the listeners are in `board::keyboard`, which also decides what Esc closes, and in
//! `board::shelf`, which has the keys among the lessons.
//!
//! The rule: a key belongs to the stage, unless the focused control needs that key and got the focus by the
//! keyboard. After a click on a button, or a choice from a list, the control keeps the focus, but the user is done
//! with it.

use super::command::{Command, Tell};
use super::strings::Strings;

/// A word of the page.
pub type Word = fn(&'static Strings) -> &'static str;

/// The keys in the help, with what they do.
pub const HELP: [(&[&str], Word); 17] = [
    (&["␣"], |words| words.key_play),
    (&["←", "→", "PgUp", "PgDn"], |words| words.key_step),
    (&["⇧ ←", "⇧ →"], |words| words.key_coarse),
    (&[",", "."], |words| words.key_micro),
    (&["[", "]"], |words| words.key_marker),
    (&["Tab", "↑", "↓", "↵"], |words| words.key_things),
    (&["0", "…", "9"], |words| words.key_tenths),
    (&["F"], |words| words.key_fork),
    (&["R"], |words| words.key_reset),
    (&["/"], |words| words.key_shelf),
    (&["M"], |words| words.key_story),
    (&["1", "…", "9"], |words| words.key_answer),
    (&["P"], |words| words.key_present),
    (&["B", "."], |words| words.key_blank),
    (&["Q"], |words| words.key_code),
    (&["Esc"], |words| words.key_close),
    (&["?"], |words| words.key_help),
];

/// The action of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A command for the session.
    Command(Command),
    /// Show the help.
    Help,
    /// Choose this answer of the question, from 1.
    Choose(u32),
    /// Begin or end the presenter.
    Present,
    /// Blank the presenter's screen, or show it again.
    Blank,
    /// Show the code of the link to this moment, or hide it.
    Code,
}

/// What the screen shows, as far as keys depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shown {
    /// The whole board.
    #[default]
    Board,
    /// A story.
    Story,
    /// A story in front of a class.
    Presenter,
    /// Nothing: the presenter's screen is blank.
    Blank,
}

/// The kind of the focused control, as far as keys depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Focus {
    /// No control that needs keys.
    #[default]
    Page,
    /// A button, a link, a check box or a thing on the stage: Space and Enter press it.
    Button,
    /// A tab or a radio button: arrow keys go to the others.
    Tab,
    /// A list with a cursor of its own.
    List,
    /// A slider: the keys that would move it move the stage, too.
    Slider,
    /// A closed select: Space opens it, letters choose.
    Select,
    /// A control that takes any key while it is open.
    Open,
    /// An area that scrolls.
    Scroll,
    /// A text field.
    Text,
    /// An empty field for a number: there is nothing to move in, and a space is no number.
    Number,
}

/// How the control got the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reached {
    /// By Tab, or in a way that is equivalent to it.
    #[default]
    Tab,
    /// The program moved it there in response to a key.
    Key,
    /// By a click; or the user is done with the control.
    Done,
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press<'a> {
    /// `KeyboardEvent.key`
    pub key: &'a str,
    /// Shift was down.
    pub shift: bool,
    /// Control, Alt or Meta was down: the key belongs to the browser.
    pub modified: bool,
    /// The focused control.
    pub focus: Focus,
    /// How the control got the focus.
    pub reached: Reached,
}

impl Press<'_> {
    /// Whether the focused control needs this key.
    fn is_kept(self) -> bool {
        let along = matches!(self.key, "ArrowLeft" | "ArrowRight");
        let page = matches!(self.key, "PageUp" | "PageDown");
        match self.focus {
            Focus::Page | Focus::Slider => false,
            Focus::Text => !page,
            Focus::Number => !(along || page || self.key == " "),
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

/// Whether this key chooses an option of a select.
#[must_use]
pub fn is_typed(key: &str) -> bool {
    let mut letters = key.chars();
    let is_one = letters.next().is_some_and(char::is_alphanumeric);
    is_one && letters.next().is_none()
}

/// The action of `press` in a run of `steps` facts.
#[must_use]
pub fn action(press: Press<'_>, steps: usize, shown: Shown) -> Option<Action> {
    if press.modified || press.is_kept() {
        return None;
    }
    match shown {
        Shown::Board => {}
        Shown::Story => return told(press.key),
        Shown::Presenter => return presented(press.key),
        Shown::Blank => return unblanked(press.key),
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
        "m" | "M" => Command::Tell(Tell::Show(true)),
        "?" => return Some(Action::Help),
        key => Command::Seek(tenth(key, steps)?),
    };
    Some(Action::Command(command))
}

/// The action of a key while a story is shown: what a presenter's remote sends goes from scene to scene.
fn told(key: &str) -> Option<Action> {
    Some(Action::Command(Command::Tell(match key {
        " " | "ArrowRight" | "PageDown" => Tell::Next,
        "ArrowLeft" | "PageUp" => Tell::Back,
        "m" | "M" => Tell::Show(false),
        "p" | "P" => return Some(Action::Present),
        "?" => return Some(Action::Help),
        _ => return digit(key).filter(|at| *at > 0).map(Action::Choose),
    })))
}

/// The action of a key in front of a class. Some remotes send a full stop to blank the screen.
fn presented(key: &str) -> Option<Action> {
    match key {
        "b" | "B" | "." => Some(Action::Blank),
        "q" | "Q" => Some(Action::Code),
        key => told(key),
    }
}

/// Nobody sees what a key would do to a blank screen, so it only shows the screen again.
fn unblanked(key: &str) -> Option<Action> {
    match presented(key)? {
        Action::Command(_) | Action::Blank => Some(Action::Blank),
        Action::Present => Some(Action::Present),
        Action::Help | Action::Code | Action::Choose(_) => None,
    }
}

fn tenth(key: &str, steps: usize) -> Option<usize> {
    Some(steps.saturating_mul(usize::try_from(digit(key)?).ok()?) / 10)
}

fn digit(key: &str) -> Option<u32> {
    let mut digits = key.chars();
    let digit = digits.next()?.to_digit(10)?;
    digits.next().is_none().then_some(digit)
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
    fn arrows_and_a_presenters_remote_step_and_shift_makes_the_step_coarser() {
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
                assert_eq!(
                    action(press, 62, Shown::Board),
                    Some(Action::Command(walk)),
                    "{key}"
                );
            }
        }
        assert_eq!(
            action(press(","), 62, Shown::Board),
            Some(Action::Command(Command::Step(-1)))
        );
    }

    #[test]
    fn the_help_names_each_key() {
        let named = [
            " ",
            "ArrowLeft",
            "ArrowRight",
            "ArrowUp",
            "ArrowDown",
            "PageUp",
            "PageDown",
            "Home",
            "End",
            "Enter",
        ];
        let typed = ('!'..='~').map(String::from);
        for key in named.map(String::from).into_iter().chain(typed) {
            let shown = [Shown::Board, Shown::Story, Shown::Presenter, Shown::Blank];
            if shown
                .iter()
                .all(|shown| action(press(&key), 62, *shown).is_none())
            {
                continue;
            }
            let label = match &*key {
                " " => "␣".to_owned(),
                "ArrowLeft" => "←".to_owned(),
                "ArrowRight" => "→".to_owned(),
                "PageUp" => "PgUp".to_owned(),
                "PageDown" => "PgDn".to_owned(),
                "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" => "…".to_owned(),
                key => key.to_uppercase(),
            };
            let is_told = HELP.iter().any(|(keys, _)| keys.contains(&&*label));
            assert!(is_told, "{key}");
        }
    }

    #[test]
    fn digits_go_to_tenths() {
        assert_eq!(
            action(press("5"), 62, Shown::Board),
            Some(Action::Command(Command::Seek(31)))
        );
        assert_eq!(action(press("F5"), 62, Shown::Board), None);
    }

    /// Which of the stage's keys the focused control keeps.
    #[test]
    fn the_focused_control_keeps_its_keys_until_the_user_is_done_with_it() {
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
                    let is_kept = action(press, 62, Shown::Board).is_none();
                    assert_eq!(
                        is_kept,
                        kept.contains(&key),
                        "{focus:?} {reached:?} {key:?}"
                    );
                }
            }
        }
        // A text field keeps all keys that type or move in it; the keys of a presenter's remote still step.
        for (focus, free) in [
            (Focus::Text, &["Page"][..]),
            (Focus::Number, &["Page", "Arrow", " "]),
        ] {
            for (reached, key) in [Tab, Key, Done]
                .iter()
                .flat_map(|by| KEYS.map(|key| (*by, key)))
            {
                let press = Press {
                    focus,
                    reached,
                    ..press(key)
                };
                let is_kept = action(press, 62, Shown::Board).is_none();
                let is_free = free.iter().any(|begin| key.starts_with(begin));
                assert_eq!(is_kept, !is_free, "{focus:?} {reached:?} {key:?}");
            }
        }
    }

    #[test]
    fn a_presenters_remote_goes_through_scenes_and_blanks_the_screen() {
        let does = |shown, key| action(press(key), 62, shown);
        let tell = |tell| Some(Action::Command(Command::Tell(tell)));
        for (key, told) in [
            (" ", Tell::Next),
            ("ArrowRight", Tell::Next),
            ("PageDown", Tell::Next),
            ("ArrowLeft", Tell::Back),
            ("PageUp", Tell::Back),
            ("M", Tell::Show(false)),
        ] {
            for shown in [Shown::Story, Shown::Presenter] {
                assert_eq!(does(shown, key), tell(told.clone()), "{key}");
            }
            assert_eq!(does(Shown::Blank, key), Some(Action::Blank), "{key}");
        }
        for (key, wanted) in [
            ("b", Action::Blank),
            ("B", Action::Blank),
            (".", Action::Blank),
            ("q", Action::Code),
            ("p", Action::Present),
            ("?", Action::Help),
        ] {
            assert_eq!(does(Shown::Presenter, key), Some(wanted), "{key}");
        }
        assert_eq!(does(Shown::Blank, "."), Some(Action::Blank));
        assert_eq!(does(Shown::Blank, "P"), Some(Action::Present));
        assert_eq!(does(Shown::Blank, "q"), None);
        // What is not in front of a class has neither a blank screen nor a code.
        assert_eq!(does(Shown::Story, "P"), Some(Action::Present));
        for key in ["b", ".", "q"] {
            assert_eq!(does(Shown::Story, key), None, "{key}");
        }
        assert_eq!(does(Shown::Presenter, "3"), Some(Action::Choose(3)));
        for key in ["0", "F3"] {
            assert_eq!(does(Shown::Story, key), None, "{key}");
        }
        assert_eq!(does(Shown::Board, "p"), None);
    }

    #[test]
    fn the_browser_keeps_its_keys() {
        for key in ["r", "ArrowLeft", "0", " "] {
            let press = Press {
                modified: true,
                ..press(key)
            };
            assert_eq!(action(press, 62, Shown::Board), None, "{key}");
        }
    }
}
