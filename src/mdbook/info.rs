//! The attributes in the info string: `key=value`, in quotes if the value has spaces.

/// Parses the attributes, in order.
///
/// # Errors
/// All problems, one sentence each.
pub(super) fn attributes(text: &str) -> Result<Vec<(String, String)>, Vec<String>> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut wrong = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '=');
        let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
        let Some(after) = after.strip_prefix('=') else {
            wrong.push(format!(
                "{key:?} has no value. Write {}=…",
                key.trim_matches(['{', '}', ',', '.'])
            ));
            rest = after.trim_start();
            continue;
        };
        let (value, after) = match value(after) {
            Ok(read) => read,
            Err(quote) => {
                wrong.push(format!("The value of {key} has no closing {quote}"));
                break;
            }
        };
        if key.is_empty() {
            wrong.push(format!("={value} has no name before it"));
        } else if found.iter().any(|(other, _)| other == key) {
            wrong.push(format!("{key} is there twice"));
        } else {
            found.push((key.to_owned(), value));
        }
        rest = after.trim_start();
    }
    if wrong.is_empty() {
        Ok(found)
    } else {
        Err(wrong)
    }
}

/// The value at the start of a text, and the rest; or the quote that is not closed.
fn value(text: &str) -> Result<(String, &str), char> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => return Ok((value, &text[at + c.len_utf8()..])),
            '\\' => match chars.next() {
                Some((_, escaped)) if escaped == quote || escaped == '\\' => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            _ => value.push(c),
        }
    }
    Err(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_parsed_and_problems_reported() {
        let right: &[(&str, &[(&str, &str)])] = &[
            ("", &[]),
            (
                "lesson=tombstone  at=relist+3",
                &[("lesson", "tombstone"), ("at", "relist+3")],
            ),
            (
                r#"caption="b is \"gone\", unseen" alt='it'"#,
                &[("caption", r#"b is "gone", unseen"#), ("alt", "it")],
            ),
            (
                r#"caption="a\b \\ 中" panels=api,queue"#,
                &[("caption", r"a\b \ 中"), ("panels", "api,queue")],
            ),
            ("caption=\"\" x=", &[("caption", ""), ("x", "")]),
            ("src=a=b", &[("src", "a=b")]),
        ];
        for (text, expected) in right {
            let read = attributes(text).unwrap();
            let read: Vec<_> = read.iter().map(|(k, v)| (&**k, &**v)).collect();
            assert_eq!(read, *expected, "{text}");
        }
        for (text, word) in [
            ("lesson", "\"lesson\" has no value"),
            ("lesson=a loop at=b", "\"loop\" has no value"),
            ("caption=\"open", "no closing \""),
            ("a=1 a=2", "a is there twice"),
            ("=x", "no name"),
        ] {
            let wrong = attributes(text).unwrap_err();
            assert!(
                wrong.len() == 1 && wrong[0].contains(word),
                "{text}: {wrong:?}"
            );
        }
    }
}
