//! English writes client-go's nouns in one way.

use super::reading::{is_word, literals};
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
