//! A book can neither control the terminal, nor take much time or memory, nor cause a panic.

use std::fs;

use serde_json::json;

use super::{Book, folder, pipe, run};
use crate::attacks;

#[cfg(unix)]
#[test]
fn control_characters_in_a_book_are_escaped() {
    let folder = folder("hostile");
    let hostile = "x\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{2066}";
    let wrong = format!(
        "```deltascope lesson={hostile} {hostile}={hostile}\n[expect]\n\"{hostile}\" = 1\n```\n\n```deltascope lesson=tombstone\n{hostile}\n```\n"
    );
    let file = format!("{hostile}\nforged.md");
    fs::write(folder.join(&file), wrong).unwrap();
    let nobody = format!("no-{hostile}");
    for arguments in [
        &["check", &file][..],
        &["check", "--verbose", "."],
        &["check", &nobody],
        &["install", "--from", &nobody, "."],
        &["install", &nobody],
        &[&nobody],
        &["check", &file, "--no-\u{1b}[2J\u{202e}"],
    ] {
        let done = run(arguments, &folder);
        for text in [&done.out, &done.err] {
            let drives = |letter: char| {
                (letter.is_control() && letter != '\n') || "\u{202e}\u{2066}".contains(letter)
            };
            let forged = text.lines().any(|line| line.starts_with("forged"));
            assert!(!text.contains(drives) && !forged, "{arguments:?}: {text:?}");
        }
        assert!(!done.ok && !done.err.is_empty(), "{arguments:?}");
    }
}

/// Blocks that would take too much are refused with their line, by `check` and in a build, which then writes
/// nothing.
#[test]
fn no_block_takes_much_time_or_memory() {
    let long = format!("\u{1b}]0;owned\u{7}{}", "x".repeat(700_000));
    let mut table: Vec<(String, String, Vec<&str>)> = Vec::new();
    for (scenario, field, most) in attacks::scenarios(&long) {
        let body = json!({ "scenario": scenario });
        let trace = format!("{{\"deltascope\":1}}\n{body}\n");
        // The body is one line, which the message names.
        let own = format!("\n```deltascope\n{body}\n```\n");
        let mut said = vec![field, most];
        table.push((own, String::new(), [&["a.md:3: "], &*said].concat()));
        said.extend(["a.md:1: ", "file.x: "]);
        let src = "```deltascope src=file.x\n```\n";
        table.push((src.to_owned(), body.to_string(), said.clone()));
        said.push("file.x, line 2: ");
        table.push((src.to_owned(), trace, said));
    }
    let values = "{\"a\":0},".repeat(1_000_000);
    let around =
        format!("{{\"{long}\":[{}0]}}", "0,".repeat(100_000)).replace(['\u{1b}', '\u{7}'], "");
    for (info, body, file, said) in [
        (
            "src=file.x",
            "",
            format!("{{\"kind\":\"PodList\",\"items\":[{values}{{}}]}}"),
            vec!["a.md:1: file.x: file.x, line 1: ", "at most 10000"],
        ),
        (
            "src=file.x",
            "",
            json!({ "initial": [{ "metadata": { "name": "x".repeat(7_000_000) } }] }).to_string(),
            vec![
                "a.md:1: file.x: ",
                "The object has 70000",
                "at most 1572864",
            ],
        ),
        (
            "",
            &around,
            String::new(),
            vec!["a.md:2: ", "no field \"]0;owned", "…\""],
        ),
        (
            &format!("lesson={long}"),
            "",
            String::new(),
            vec!["a.md:1: ", "no lesson \"\\u{1b}]0;owned", "…\""],
        ),
        (
            &format!("lesson=tombstone at={long}"),
            "",
            String::new(),
            vec!["a.md:1: ", "no marker \"\\u{1b}]0;owned", "…\""],
        ),
        (
            &format!("{long}=x"),
            "",
            String::new(),
            vec!["a.md:1: ", "no attribute \"\\u{1b}]0;owned", "…\""],
        ),
    ] {
        let end = if body.is_empty() { "" } else { "\n" };
        table.push((
            format!("```deltascope {info}\n{body}{end}```\n"),
            file,
            said,
        ));
    }
    let book = folder("much");
    for (text, file, said) in &table {
        let book = Book::new(book.clone(), &[("a.md", text)]);
        fs::write(book.root.join("src/file.x"), file).unwrap();
        for done in [run(&["check", "src"], &book.root), book.run("html")] {
            let from = text.get(..80).unwrap_or(text);
            assert!(!done.ok && done.out.is_empty(), "{from}");
            for words in said {
                assert!(done.err.contains(words), "{from}: {words}: {}", done.err);
            }
            assert!(done.err.len() < 1_000, "{from}: {}", done.err);
            let drives = |letter: char| letter.is_control() && letter != '\n';
            assert!(!done.err.contains(drives), "{from}: {:?}", done.err);
            assert!(!book.root.join("src/deltascope").exists(), "{from}");
        }
    }
}

#[test]
fn malformed_input_does_not_panic() {
    let folder = folder("no-book");
    for (text, words) in [
        ("", "no book of mdBook's"),
        ("[{}, {\"sections\": []}]", "0.5 is needed"),
        (
            "[{\"mdbook_version\": \"0.4.40\"}, {\"sections\": []}]",
            "mdBook 0.4.40",
        ),
    ] {
        let built = pipe(text, &folder);
        assert!(!built.ok && built.err.contains(words), "{}", built.err);
    }
    let empty = pipe(
        "[{}, {\"items\": [\"Separator\", {\"PartTitle\": \"x\"}]}]",
        &folder,
    );
    assert_eq!(
        empty.out,
        "{\"items\":[\"Separator\",{\"PartTitle\":\"x\"}]}"
    );
}
