//! English writes client-go's nouns in one way, and both languages its releases.

use super::reading::{is_word, literals, without_tests};
use super::tree::{assert_none, files};

/// What a queue holds is a delta; `Delta`, in code, is the type. A sentence may begin with it.
#[test]
fn a_delta_is_small_in_prose() {
    let mut found = Vec::new();
    let mut said = 0;
    for file in files(&["md", "json", "rs"]) {
        let is_text = file.path == "README.md"
            || file.under("docs/en")
            || file.under("src/replay/lessons") && file.path.ends_with(".json");
        let lines: Vec<String> = if is_text {
            file.text.lines().map(str::to_owned).collect()
        } else if file.under("src/presentation") && file.path.ends_with(".rs") {
            let literals = literals(&file.text).into_iter();
            literals.map(|one| one.value).collect()
        } else {
            continue;
        };
        for line in lines {
            let prose = line.split('`').step_by(2);
            for part in prose {
                said += part.matches(" delta").count();
                if is_large(part) {
                    found.push(format!("{}: {}", file.path, part.trim()));
                }
            }
        }
    }
    assert!(said > 100, "{said} deltas");
    assert_none(&found);
}

/// Whoever reads the page sees client-go's own numbers. Those of Kubernetes are for files, links and scripts.
#[test]
fn the_page_names_releases_by_client_gos_numbers() {
    let mut found = Vec::new();
    let mut said = 0;
    for file in files(&["json", "rs"]) {
        let texts: Vec<String> = if file.under("src/replay/lessons") {
            // What a user types into the search is none of the page's words.
            let lines = file
                .text
                .lines()
                .filter(|line| line.contains("\"zh\"") && !line.starts_with("\"search\":"));
            lines.map(str::to_owned).collect()
        } else if file.under("src/presentation") || file.under("src/page") {
            let texts = literals(&without_tests(&file.text)).into_iter();
            texts.map(|one| one.value).collect()
        } else {
            continue;
        };
        for text in texts {
            said += text.matches("client-go 0.3").count();
            if is_of_kubernetes(&text) {
                found.push(format!("{}: {}", file.path, text.trim()));
            }
        }
    }
    assert!(said > 3, "{said} releases");
    assert_none(&found);
}

/// Whether a sentence has a release as Kubernetes numbers it. What is written in quotes is a value to write.
fn is_of_kubernetes(text: &str) -> bool {
    text.contains(' ')
        && text.match_indices("1.3").any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let is_more = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'v' | '"');
            !before.is_some_and(is_more) && text[at + 3..].starts_with(|c: char| c.is_ascii_digit())
        })
}

#[test]
fn a_release_of_kubernetes_is_found() {
    for (text, is) in [
        ("since 1.33: RealFIFO", true),
        ("从 1.36 起，每两分钟", true),
        ("such as \\\"1.36\\\"", false),
        ("v1.32 of client-go", false),
        ("client-go 0.33", false),
        ("11.35 s", false),
    ] {
        assert_eq!(is_of_kubernetes(text), is, "{text}");
    }
}

/// Whether a sentence goes on with a large Delta.
fn is_large(text: &str) -> bool {
    text.match_indices("Delta").any(|(at, word)| {
        let rest = text[at + word.len()..].trim_start_matches('s');
        let before = text[..at].trim_end_matches('*').strip_suffix(' ');
        let goes_on = |c: char| c.is_ascii_lowercase() || c == ',';
        !rest.starts_with(is_word) && before.is_some_and(|before| before.ends_with(goes_on))
    })
}

#[test]
fn a_large_delta_within_a_sentence_is_found() {
    for (text, large) in [
        ("puts a **Delta** into", true),
        ("all Deltas of a key", true),
        ("event, Delta, Pop", true),
        ("A delta is queued. Deltas pile up", false),
        ("with a DeltaFIFO", false),
    ] {
        assert_eq!(is_large(text), large, "{text}");
    }
}
