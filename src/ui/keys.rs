//! What the keys of the keyboard mean. Pure; the listener is in `board`.

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
    /// A button, a link or a tab: it takes space, enter and, for tabs, arrows.
    Control,
    /// Something that takes any key: a text field, a list, a slider.
    Field,
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
}

/// What `press` asks for in a run of `steps` facts.
#[must_use]
pub fn action(press: Press<'_>, steps: usize) -> Option<Action> {
    if press.modified || press.focus == Focus::Field {
        return None;
    }
    let walk = |on| Command::Walk {
        on,
        coarser: press.shift,
    };
    let command = match press.key {
        " " if press.focus == Focus::Page => Command::TogglePlay,
        "ArrowRight" => walk(true),
        "ArrowLeft" => walk(false),
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
    fn arrows_step_and_shift_makes_them_coarse() {
        let step = |press| action(press, 62);
        assert_eq!(
            step(press("ArrowLeft")),
            Some(Action::Command(Command::Walk {
                on: false,
                coarser: false
            }))
        );
        assert_eq!(step(press(",")), Some(Action::Command(Command::Step(-1))));
        let coarse = Press {
            shift: true,
            ..press("ArrowRight")
        };
        assert_eq!(
            step(coarse),
            Some(Action::Command(Command::Walk {
                on: true,
                coarser: true
            }))
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

    #[test]
    fn a_field_and_the_browser_keep_their_keys() {
        let typed = Press {
            focus: Focus::Field,
            ..press("r")
        };
        assert_eq!(action(typed, 62), None);
        let reload = Press {
            modified: true,
            ..press("r")
        };
        assert_eq!(action(reload, 62), None);
        let on_button = Press {
            focus: Focus::Control,
            ..press(" ")
        };
        assert_eq!(action(on_button, 62), None);
    }
}
