//! Quoted texts as Go's `%q` and `json.Marshal` write them, for error texts.

use std::fmt;

/// A text as Go's `%q` prints it: unprintable chars become Go escapes.
///
/// Upstream: `strconv.Quote`.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                '\x07' => f.write_str("\\a")?,
                '\x08' => f.write_str("\\b")?,
                '\x0c' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\x0b' => f.write_str("\\v")?,
                letter if is_printable(letter) => write!(f, "{letter}")?,
                '\0'..='\x7f' => write!(f, "\\x{:02x}", u32::from(letter))?,
                '\u{80}'..='\u{ffff}' => write!(f, "\\u{:04x}", u32::from(letter))?,
                letter => write!(f, "\\U{:08x}", u32::from(letter))?,
            }
        }
        f.write_str("\"")
    }
}

/// Texts as Go's `json.Marshal` prints a slice of them.
pub(super) struct JsonList<'a>(pub(super) &'a [String]);

impl fmt::Display for JsonList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, text) in self.0.iter().enumerate() {
            f.write_str(if place == 0 { "[\"" } else { ",\"" })?;
            for letter in text.chars() {
                match letter {
                    '"' | '\\' => write!(f, "\\{letter}")?,
                    '\x08' => f.write_str("\\b")?,
                    '\x0c' => f.write_str("\\f")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    // Go escapes these so that JSON can be embedded in HTML and JavaScript.
                    '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                        write!(f, "\\u{:04x}", u32::from(letter))?;
                    }
                    letter => write!(f, "{letter}")?,
                }
            }
            f.write_str("\"")?;
        }
        f.write_str(if self.0.is_empty() { "null" } else { "]" })
    }
}

/// Whether a char is a letter, mark, number, punctuation, symbol or the space, by the standard
/// library's Unicode tables. `escape_debug` escapes all others, and a mark at the start of a text;
/// so the char is put after an `a`.
fn is_printable(letter: char) -> bool {
    let mut text = [0; 5];
    text[0] = b'a';
    let length = 1 + letter.encode_utf8(&mut text[1..]).len();
    let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
    letter == '\'' || text.escape_debug().nth(1) != Some('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_chars_are_escaped_as_in_go() {
        for (text, expected) in [
            ("", r#""""#),
            ("it's a \"b\\c\"", r#""it's a \"b\\c\"""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            ("\0\x01\x1f \x7f", r#""\x00\x01\x1f \x7f""#),
            ("\u{80}\u{9f}\u{a0}¡", r#""\u0080\u009f\u00a0¡""#),
            // Cf, Zs, Zl, Zp, Co and Cn; the replacement character is a symbol.
            ("\u{ad}\u{200b}\u{feff}", r#""\u00ad\u200b\ufeff""#),
            (
                "\u{2003}\u{3000}\u{2028}\u{2029}",
                r#""\u2003\u3000\u2028\u2029""#,
            ),
            (
                "\u{e000}\u{378}\u{ffff}\u{fffd}",
                "\"\\ue000\\u0378\\uffff\u{fffd}\"",
            ),
            (
                "\u{e0001}\u{10ffff}\u{1d173}",
                r#""\U000e0001\U0010ffff\U0001d173""#,
            ),
            // A mark, alone and on a letter; a joined emoji.
            ("\u{301}e\u{301}", "\"\u{301}e\u{301}\""),
            ("名前 é Ω 👩\u{200d}💻", r#""名前 é Ω 👩\u200d💻""#),
        ] {
            assert_eq!(Quoted(text).to_string(), expected);
        }
    }

    #[test]
    fn a_list_is_quoted_as_in_go_json() {
        for (texts, expected) in [
            (&[][..], "null"),
            (&["b", "c"], r#"["b","c"]"#),
            (&["", "\"\\\n\r\t\x08\x0c"], r#"["","\"\\\n\r\t\b\f"]"#),
            (&["\0\x07\x1f\x7f"], "[\"\\u0000\\u0007\\u001f\x7f\"]"),
            (&["<&>'\u{2028}"], r#"["\u003c\u0026\u003e'\u2028"]"#),
            (&["\u{200b}é"], "[\"\u{200b}é\"]"),
        ] {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(JsonList(&texts).to_string(), expected);
        }
    }
}
