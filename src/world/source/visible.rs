//! Makes foreign text safe to show: control characters drive a terminal, and bidi controls make a line read
//! differently from what it is.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal or its reader takes the character for anything but itself.
#[must_use]
pub fn is_active(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        )
}

/// As one line: active characters are escaped as in Rust, `\u{1b}` or `
/// `.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_active, |letter, out| {
        out.extend(letter.escape_default());
    })
}

/// As several lines: line ends and tabs stay, other active characters are escaped.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    let active = |letter| is_active(letter) && !matches!(letter, '\n' | '\t');
    replaced(text, active, |letter, out| {
        out.extend(letter.escape_default());
    })
}

/// Equivalent JSON: outside of strings only line ends and tabs are active, and they stay.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let active = |letter| is_active(letter) && !matches!(letter, '\n' | '\r' | '\t');
    replaced(text, active, |letter, out| {
        let _ = write!(out, "\\u{:04x}", u32::from(letter));
    })
}

/// Equivalent XML: active characters become character references where XML allows them.
#[must_use]
pub fn xml(text: &str) -> Cow<'_, str> {
    let active = |letter| is_active(letter) && !matches!(letter, '\n' | '\r' | '\t');
    replaced(text, active, |letter, out| {
        // XML allows no reference to a control character below the space.
        let named = if letter < ' ' { '\u{fffd}' } else { letter };
        let _ = write!(out, "&#x{:x};", u32::from(named));
    })
}

fn replaced(
    text: &str,
    active: impl Fn(char) -> bool,
    write: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    let Some(first) = text.find(&active) else {
        return Cow::Borrowed(text);
    };
    let (before, rest) = text.split_at(first);
    let mut out = before.to_owned();
    for letter in rest.chars() {
        if active(letter) {
            write(letter, &mut out);
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn terminal_controls_are_escaped() {
        for (text, one_line, several) in [
            ("plain 中文 é 🦀", "plain 中文 é 🦀", "plain 中文 é 🦀"),
            (
                "\x1b]0;owned\x07",
                "\\u{1b}]0;owned\\u{7}",
                "\\u{1b}]0;owned\\u{7}",
            ),
            (
                "a\0b\u{9b}2J\x7f",
                "a\\u{0}b\\u{9b}2J\\u{7f}",
                "a\\u{0}b\\u{9b}2J\\u{7f}",
            ),
            ("a\r\nb\tc", "a\\r\\nb\\tc", "a\\r\nb\tc"),
            (
                "\u{202e}x\u{2066}y\u{2028}",
                "\\u{202e}x\\u{2066}y\\u{2028}",
                "\\u{202e}x\\u{2066}y\\u{2028}",
            ),
        ] {
            assert_eq!((&*line(text), &*lines(text)), (one_line, several));
        }
    }

    #[test]
    fn only_control_characters_and_bidi_controls_are_active() {
        // Unicode's Bidi_Control, its two line separators, and its deprecated shaping controls.
        let others = [
            '\u{61c}'..='\u{61c}',
            '\u{200e}'..='\u{200f}',
            '\u{2028}'..='\u{2029}',
            '\u{202a}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
            '\u{206a}'..='\u{206f}',
        ];
        for letter in '\0'..=char::MAX {
            let expected = matches!(letter, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}')
                || others.iter().any(|range| range.contains(&letter));
            assert_eq!(is_active(letter), expected, "{letter:?}");
        }
        let named = xml("\u{1}\u{1b}\u{7f}\u{9b}\u{202e}");
        assert_eq!(named, "&#xfffd;&#xfffd;&#x7f;&#x9b;&#x202e;");
    }

    proptest! {
        #[test]
        fn escaped_json_and_xml_are_equivalent(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f\u{200e}\u{2028}-\u{202e}\u{2066}-\u{2069}\"\\\\]){0,30}") {
            let written = serde_json::Value::from(&*text).to_string();
            let shown = json(&written);
            prop_assert!(!shown.chars().any(is_active), "{shown}");
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text.clone());
            prop_assert!(!line(&text).chars().any(is_active));
            let left = lines(&text).chars().any(|c| is_active(c) && !matches!(c, '\n' | '\t'));
            prop_assert!(!left);
            prop_assert!(!xml(&text).chars().any(|c| is_active(c) && !matches!(c, '\n' | '\r' | '\t')));
        }
    }
}
