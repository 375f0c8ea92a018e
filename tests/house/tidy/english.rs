//! English writes client-go's nouns in one way and without words that readers stumble over, and both languages its releases.

use super::reading::{is_word, literals, without_tests};
use super::tree::{File, assert_none, files};

/// What readers of Kubernetes' documentation stumble over, and what they expect.
const AVOIDED: [(&str, &str); 17] = [
    ("anew", "again"),
    ("whoever", "anyone who, or the program that"),
    ("nobody", "nothing, or no one in particular: say it without"),
    ("is told", "is called, is notified"),
    ("are told", "are called, are notified"),
    ("was told", "was called, was notified"),
    ("were told", "were called, were notified"),
    ("be told", "be called, be notified"),
    ("been told", "been called, been notified"),
    ("hear", "receive"),
    ("hears", "receives"),
    ("heard", "received"),
    ("passed over", "skipped, ignored"),
    ("in silence", "without an error"),
    ("in work", "being processed"),
    ("becomes of", "happens to"),
    ("came of", "resulted from"),
];

/// In books and stories, where they are no names of resources or of parts of the program.
const NAMES: [(&str, &str); 3] = [("reflector", "Reflector"), ("pod", "Pod"), ("pods", "Pods")];

#[test]
fn english_avoids_what_readers_stumble_over() {
    let mut found = Vec::new();
    let mut said = 0;
    for file in files(&["md", "json", "rs", "js"]) {
        let (texts, names) = english(&file);
        for text in texts {
            said += 1;
            for (word, instead) in AVOIDED.iter().chain(names) {
                if says(&text, word) {
                    found.push(format!("{}: {word}, write {instead}: {text}", file.path));
                }
            }
        }
    }
    assert!(said > 3_000, "{said} texts");
    assert_none(&found);
}

/// The English texts for users in a file, and the names that it has to spell.
fn english(file: &File) -> (Vec<String>, &'static [(&'static str, &'static str)]) {
    if file.path == "README.md" || file.under("docs/en/src") {
        return (prose(&file.text), &NAMES);
    }
    if file.under("src/replay/lessons") && file.path.ends_with(".json") {
        let lines = file
            .text
            .lines()
            .filter(|line| !line.starts_with("\"chapter\""));
        let texts = lines.flat_map(|line| line.split("\"en\":\"").skip(1));
        let texts = texts.filter_map(|text| text.split("\",\"zh\":").next());
        return (texts.map(without_code).collect(), &NAMES);
    }
    let of_users = [
        "presentation",
        "page",
        "cli",
        "mdbook",
        "replay",
        "world",
        "terminal",
    ];
    let is_shown = of_users
        .iter()
        .any(|name| file.under(&format!("src/{name}/")));
    if !is_shown && !file.under("embed/files") || file.path.contains("tests") {
        return (Vec::new(), &[]);
    }
    let texts = literals(&without_tests(&file.text)).into_iter();
    let texts = texts.filter(|one| one.value.contains(' '));
    (texts.map(|one| without_code(&one.value)).collect(), &[])
}

/// The lines of a chapter without code; of a block its words.
fn prose(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if open || is_fence {
            open ^= is_fence;
            for name in ["caption", "alt", "title"] {
                for open in [format!("{name}=\""), format!("{name} = \"")] {
                    let values = line.split(&open).skip(1);
                    texts.extend(values.map(|rest| rest.split('"').next().unwrap().to_owned()));
                }
            }
        } else {
            texts.push(without_code(line));
        }
    }
    texts
}

/// Removes what is in backticks, a link's address or a heading's id.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    for part in text.split('`').step_by(2) {
        kept.push(' ');
        let mut rest = part;
        while let Some((before, after)) = rest.split_once("](").or_else(|| rest.split_once(" {#")) {
            kept.push_str(before);
            rest = after.find([')', '}']).map_or("", |end| &after[end + 1..]);
        }
        kept.push_str(rest);
    }
    kept
}

/// Whether a text has a word, also at the start of a sentence.
fn says(text: &str, word: &str) -> bool {
    let large = word[..1].to_uppercase() + &word[1..];
    let is_name = NAMES.iter().any(|(name, _)| *name == word);
    let forms = [Some(word), (!is_name).then_some(&*large)];
    forms.into_iter().flatten().any(|form| {
        text.match_indices(form).any(|(at, _)| {
            let joins = |c: char| is_word(c) || matches!(c, '-' | '=' | '.' | '/' | '#' | '"');
            let (before, after) = (&text[..at], &text[at + form.len()..]);
            let goes_on = |c: char| is_word(c) || matches!(c, '-' | '=' | '/' | '"');
            !before.ends_with(joins) && !after.starts_with(goes_on)
        })
    })
}

#[test]
fn words_to_avoid_are_found() {
    for (text, word, is) in [
        ("The handler is told of b.", "is told", true),
        ("Nobody saw it", "nobody", true),
        ("a manewer", "anew", false),
        ("replay --heard controller.log", "heard", false),
        ("a pod is deleted", "pod", true),
        ("Pods, pod-1 and pods/log", "pod", false),
    ] {
        assert_eq!(says(text, word), is, "{text}");
    }
    let text = "[hear](a.md#heard) ## One {#hears}\n```deltascope caption=\"anew\"\nnobody\n```\nwhoever `told`";
    assert_eq!(prose(text).len(), 3, "{:?}", prose(text));
    assert!(says(&prose(text)[0], "hear") && !says(&prose(text)[0], "heard"));
}

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
