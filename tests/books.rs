//! The two books say the same: the same chapters, with the same runs in them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;

/// What a block has in the language of its book.
const WORDS: [&str; 4] = ["caption", "alt", "title", "note"];

#[test]
fn both_books_have_the_same_chapters_and_runs() {
    let chapters = ["en", "zh"].map(|lang| {
        let entries = fs::read_dir(format!("docs/{lang}/src")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.ends_with(".md"))
            .collect::<BTreeSet<_>>()
    });
    assert_eq!(chapters[0], chapters[1]);
    for chapter in &chapters[0] {
        let [en, zh] = ["en", "zh"].map(|lang| {
            let text = fs::read_to_string(format!("docs/{lang}/src/{chapter}")).unwrap();
            blocks(&text)
        });
        assert_eq!(en.len(), zh.len(), "{chapter}: as many blocks");
        for (number, (en, zh)) in (1..).zip(en.iter().zip(&zh)) {
            assert_eq!(en, zh, "{chapter}: block {number}");
        }
    }
}

/// The fenced blocks that run, without words.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(fence) = lines.next() {
        if !["```deltascope", "```rust"]
            .iter()
            .any(|open| fence.starts_with(open))
        {
            continue;
        }
        let body = lines.by_ref().take_while(|line| *line != "```");
        let block: Vec<&str> = [fence].into_iter().chain(body).collect();
        blocks.push(without_words(&block.join("\n")));
    }
    blocks
}

/// Leaves out the values of [`WORDS`]: a text in quotes, or a table with one for each language.
fn without_words(block: &str) -> String {
    let mut kept = String::new();
    let mut rest = block;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at + 1);
        kept.push_str(before);
        let name = before[..at]
            .trim_end()
            .rsplit(|c: char| !c.is_alphanumeric())
            .next();
        let value = after.trim_start_matches(' ');
        let end = match value.chars().next() {
            Some('"') => value[1..].find('"').map(|end| end + 2),
            Some('{') => value.find('}').map(|end| end + 1),
            _ => None,
        };
        rest = match end {
            Some(end) if name.is_some_and(|name| WORDS.contains(&name)) => &value[end..],
            _ => after,
        };
    }
    kept + rest
}
