//! Chinese has its own marks, and keeps to the glossary.

use super::reading::{line_of, literals};
use super::tree::{File, assert_none, files, read};

#[test]
fn chinese_has_its_own_marks() {
    let mut found = Vec::new();
    for file in files(&["rs", "json"]) {
        if file.under("src") {
            found.extend(half_width(&file.path, &file.text));
        }
    }
    assert_none(&found);
}

/// What Chinese readers stumble over, and what they expect.
const AVOIDED: [(&str, &str); 7] = [
    ("听说", "收到"),
    ("听到", "收到"),
    ("闻所未闻", "不知道"),
    ("无人看见", "没收到事件"),
    ("告诉 handler", "通知 handler"),
    ("站在", "位于"),
    ("各过各的", "各按自己的节奏"),
];

/// The Chinese texts of the page, the lessons and the books use the glossary's words, and none that it rules out.
#[test]
fn chinese_keeps_to_the_glossary() {
    let glossary = read("docs/zh/src/glossary.md");
    let rows: Vec<Vec<&str>> = glossary
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .map(|line| line.trim_matches('|').split(" |").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 10, "{} terms", rows.len());
    let avoided: Vec<(&str, &str)> = rows
        .iter()
        .flat_map(|row| row[3].split('、').map(|word| (word, row[1])))
        .chain(AVOIDED)
        .collect();
    let mut said = String::new();
    let mut found = Vec::new();
    for file in files(&["rs", "json", "md", "js"]) {
        let is_ours = ["src", "embed", "docs/zh"]
            .iter()
            .any(|place| file.under(place));
        if !is_ours || file.path.ends_with("glossary.md") {
            continue;
        }
        for (line, text) in chinese(&file) {
            for (word, instead) in &avoided {
                if has_word(&text, word) {
                    found.push(format!(
                        "{}:{line}: {word}, write {instead}: {text}",
                        file.path
                    ));
                }
            }
            said.push_str(&text);
        }
    }
    assert_none(&found);
    for row in &rows {
        for term in row[1]
            .split(['、', '（', '：', '）'])
            .filter(|term| !term.is_empty())
        {
            assert!(said.contains(term), "the glossary's {term} is used nowhere");
        }
    }
    // Both books list the same terms.
    let terms = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        rows.map(|line| line[2..].split(" |").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(terms(&glossary), terms(&read("docs/en/src/glossary.md")));
}

/// The Chinese texts of a file with their lines, without code and placeholders.
fn chinese(file: &File) -> Vec<(usize, String)> {
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let lines = file.text.lines().enumerate();
    let texts: Vec<(usize, String)> = if file.path.ends_with(".md") {
        lines
            .map(|(index, line)| (index + 1, line.to_owned()))
            .collect()
    } else if file.path.ends_with(".json") {
        // The English is on the same line.
        let chinese =
            lines.filter_map(|(index, line)| Some((index, line.split_once("\"zh\":")?.1)));
        chinese
            .map(|(index, text)| (index + 1, text.to_owned()))
            .collect()
    } else {
        let literals = literals(&file.text).into_iter();
        literals
            .map(|literal| (line_of(&file.text, literal.start), literal.value))
            .collect()
    };
    texts
        .into_iter()
        .filter(|(_, text)| is_chinese(text))
        .map(|(line, text)| (line, without_code(&text)))
        .collect()
}

/// Removes what is in backticks, braces or a link's address.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '{', '(']) {
        kept.push_str(&rest[..at]);
        let close = match &rest[at..=at] {
            "`" => '`',
            "{" => '}',
            _ => ')',
        };
        kept.push(' ');
        rest = match rest[at + 1..].find(close) {
            Some(end) => &rest[at + 1 + end + 1..],
            None => &rest[at + 1..],
        };
    }
    kept + rest
}

/// Whether a text contains a word. A Latin word must match as a whole; a Chinese one must not be part of an
/// allowed word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let joins =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | '.' | '/');
            return !before.ends_with(joins) && !after.starts_with(joins);
        }
        // Allowed: a key of a keyboard.
        word != "键"
            || !(before.ends_with(['按', '主', '捷', '车', '向'])
                || after.starts_with(['盘', '入']))
    })
}

/// Finds Latin punctuation right after a Chinese character.
fn half_width(path: &str, text: &str) -> Vec<String> {
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let is_mark = |c: char| matches!(c, ',' | ':' | ';' | '(' | ')' | '?' | '!');
    text.lines()
        .enumerate()
        .filter(|(_, line)| {
            let line: Vec<char> = line.chars().collect();
            line.windows(2)
                .any(|pair| is_chinese(pair[0]) && is_mark(pair[1]))
        })
        .map(|(index, line)| format!("{path}:{}: half-width mark: {}", index + 1, line.trim()))
        .collect()
}

#[test]
fn half_width_marks_are_found() {
    assert_eq!(half_width("a.rs", "好,\nok, 好，\n好(x)").len(), 2);
}
