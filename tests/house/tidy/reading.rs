//! A reader for Rust and CSS, as precise as the rules need.

use std::collections::BTreeSet;

/// The first segment of every path that starts at the crate's root. `path` is the file's path in the crate.
pub(super) fn roots(code: &str, path: &str) -> Vec<String> {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let depth = module.split('/').count();
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let mut rest = &code[at + word.len()..];
        let mut ups = usize::from(word == "super");
        while let Some(further) = rest.strip_prefix("::super").filter(|_| ups > 0) {
            rest = further;
            ups += 1;
        }
        let begins = !code[..at].ends_with("::");
        if word == "crate" || begins && ups >= depth {
            found.extend(first_segments(rest));
        }
    }
    found
}

/// The names in `::name…` or `::{name…, name…}`.
fn first_segments(rest: &str) -> Vec<String> {
    let Some(rest) = rest.strip_prefix("::") else {
        return Vec::new();
    };
    let name = |text: &str| -> String {
        let text = text.trim_start();
        text.chars().take_while(|&c| is_word(c)).collect()
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let mut names = vec![name(group)];
    let mut depth = 1;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&group[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The words of some code, with their offsets.
pub(super) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_word)?;
        let length = code[start..]
            .find(|c| !is_word(c))
            .unwrap_or(code.len() - start);
        rest = start + length;
        Some((start, &code[start..rest]))
    })
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A string literal: the offset of its opening quote, and its content.
pub(super) struct Literal {
    pub(super) start: usize,
    pub(super) value: String,
}

/// The text with comments and the contents of literals blanked. Lines and offsets stay.
pub(super) fn code(text: &str) -> String {
    scan(text).0
}

pub(super) fn literals(text: &str) -> Vec<Literal> {
    scan(text).1
}

fn scan(text: &str) -> (String, Vec<Literal>) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        let end = if rest.starts_with(b"//") {
            at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            end_of_comment(bytes, at)
        } else if rest[0] == b'"' {
            let end = end_of_string(bytes, at);
            literals.push(Literal {
                start: at,
                value: text[at + 1..end.max(at + 2) - 1].to_owned(),
            });
            end
        } else if rest[0] == b'r'
            && (at == 0 || !is_word(char::from(bytes[at - 1])) || bytes[at - 1] == b'b')
        {
            match raw_string(text, at) {
                Some((start, inside, end)) => {
                    literals.push(Literal {
                        start,
                        value: inside,
                    });
                    end
                }
                None => at,
            }
        } else if rest[0] == b'\'' {
            end_of_char(text, at)
        } else {
            at
        };
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    (
        String::from_utf8(code).expect("whole literals and comments were blanked"),
        literals,
    )
}

/// The text without the contents of its literals. Lines stay.
pub(super) fn without_literals(text: &str) -> String {
    let mut out = text.to_owned();
    for literal in literals(text).into_iter().rev() {
        if let Some(at) = out[literal.start..].find(&literal.value) {
            let start = literal.start + at;
            let lines = "\n".repeat(literal.value.matches('\n').count());
            out.replace_range(start..start + literal.value.len(), &lines);
        }
    }
    out
}

fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string(text: &str, start: usize) -> Option<(usize, String, usize)> {
    let rest = &text[start + 1..];
    let hashes = rest.bytes().take_while(|&b| b == b'#').count();
    let inside = rest[hashes..].strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&closing)?;
    let from = start + 1 + hashes + 1;
    Some((
        start,
        inside[..length].to_owned(),
        from + length + closing.len(),
    ))
}

/// The end of a character literal; for a lifetime, `start`.
fn end_of_char(text: &str, start: usize) -> usize {
    let rest = &text[start + 1..];
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            chars
                .find(|(_, c)| *c == '\'')
                .map_or(start, |(end, _)| start + 1 + end + 1)
        }
        Some(_) => match chars.next() {
            Some((end, '\'')) => start + 1 + end + 1,
            _ => start,
        },
        None => start,
    }
}

/// Blanks the items after `#[cfg(test)]`.
pub(super) fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let mut depth = 0;
        let mut end = out.len();
        for (at, c) in out[start..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(c, '}' | ';') {
                end = start + at + 1;
                break;
            }
        }
        let blank: String = out[start..end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        out.replace_range(start..end, &blank);
    }
    out
}

pub(super) fn without_css_comments(text: &str) -> String {
    let mut out = text.to_owned();
    while let Some(start) = out.find("/*") {
        let end = out[start..]
            .find("*/")
            .map_or(out.len(), |at| start + at + 2);
        let blank: String = out[start..end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        out.replace_range(start..end, &blank);
    }
    out
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The dependencies in a Cargo.toml, as Rust writes their names, without those only for tests.
pub(super) fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]") && !line.contains("dev-dependencies");
        } else if inside
            && let Some((name, _)) = line.split_once('=')
            && !line.starts_with([' ', '#', '"', ']'])
        {
            found.insert(name.trim().trim_end_matches(".workspace").replace('-', "_"));
        }
    }
    found
}

#[test]
fn imports_are_found() {
    for (path, code, names) in [
        ("store.rs", "use crate::index::A;", vec!["index"]),
        (
            "store.rs",
            "use super::{index::{A, B}, key};",
            vec!["index", "key"],
        ),
        ("rows/queue.rs", "use super::live;", vec![]),
        ("rows/queue.rs", "use super::super::view::V;", vec!["view"]),
        ("rows/mod.rs", "fn f() -> super::view::V {}", vec!["view"]),
        ("rows/queue.rs", "let a: crate::view::V;", vec!["view"]),
    ] {
        assert_eq!(roots(code, path), names, "{path}: {code}");
    }
}

#[test]
fn literals_and_comments_are_distinguished_from_code() {
    let text =
        "let a = \"x // \\\" y\"; /* b /* c */ d */ let e = 'f'; let g: &'h str = r#\"i\"#; // j";
    let code = code(text);
    assert_eq!(code.len(), text.len());
    let left: Vec<&str> = words(&code).map(|(_, word)| word).collect();
    assert_eq!(left, ["let", "a", "let", "e", "let", "g", "h", "str"]);
}
