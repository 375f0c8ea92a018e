//! The runs of the chapters: the same in both, a chapter for every lesson, and something to show for what is said of a
//! generation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{Section, addresses, sections};
use deltascope::cache::controller::Generation;
use deltascope::replay::lessons;
use deltascope::world::text::Lang;

/// The values of a block that depend on the book's language.
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

/// The fenced blocks that run, without the values that depend on the language.
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

/// Removes the values of [`WORDS`]: a quoted text, or a table with one text per language.
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

#[test]
fn every_lesson_has_its_chapter_and_the_chapter_its_lesson() {
    let mut chapters = 0;
    for (id, _) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        if lesson.scenario.recorded.is_some() {
            continue;
        }
        let Some(chapter) = lesson.chapter else {
            panic!("src/replay/lessons/{id}.json says no chapter: \"chapter\":\"FILE.md\"");
        };
        for (lang, book) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
            let file = chapter.file(lang);
            assert_eq!(file, chapter.file(Lang::En), "{id}");
            let summary = fs::read_to_string(format!("docs/{book}/src/SUMMARY.md")).unwrap();
            assert!(summary.contains(&format!("({file})")), "{id}: {file}");
            let text = fs::read_to_string(format!("docs/{book}/src/{file}")).unwrap();
            let there = sections(&text);
            if let Some(heading) = chapter.heading(lang) {
                let anchors: Vec<&str> = there.iter().map(|one| &*one.anchor).collect();
                assert!(anchors.contains(&heading), "{id}: {heading} in {anchors:?}");
            }
            chapters += 1;
        }
    }
    assert!(chapters >= 28, "{chapters}");
    // With these the preprocessor puts the links into the chapters.
    for book in ["en", "zh"] {
        let config = fs::read_to_string(format!("docs/{book}/book.toml")).unwrap();
        for line in ["page = \"../../page/\"\n", "lessons = true\n"] {
            assert!(config.contains(line), "docs/{book}/book.toml: {line}");
        }
    }
}

#[test]
fn statements_about_a_generation_have_a_run_a_recording_or_a_source_line() {
    for lang in ["en", "zh"] {
        let chapters: BTreeMap<String, Vec<Section>> = fs::read_dir(format!("docs/{lang}/src"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .map(|path| {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, sections(&fs::read_to_string(path).unwrap()))
            })
            .collect();
        let mut sentences = 0;
        for (chapter, sections) in &chapters {
            for section in sections {
                for said in &section.said {
                    let named = generations_named(said);
                    // The last lines of a chapter are links to sources already.
                    if named.is_empty() || said.starts_with("Upstream:") || said.starts_with("上游")
                    {
                        continue;
                    }
                    sentences += 1;
                    let mut shown = linked(said);
                    if section.runs.is_empty() {
                        shown.extend(whole(sections));
                    }
                    shown.extend(&section.runs);
                    let elsewhere = targets(said).into_iter().any(|(file, anchor)| {
                        let there = if file.is_empty() { chapter } else { &file };
                        let there = chapters.get(there).map(Vec::as_slice).unwrap_or_default();
                        let at = there.iter().find(|section| section.anchor == anchor);
                        let runs = match at {
                            Some(section) if !section.runs.is_empty() => section.runs.clone(),
                            Some(_) => whole(there),
                            None if anchor.is_empty() => whole(there),
                            None => return false,
                        };
                        named.is_subset(&runs)
                    });
                    // Or it refers to a recording of client-go.
                    let recorded = said.contains("`tests/conformance/");
                    assert!(
                        named.is_subset(&shown) || elsewhere || recorded,
                        "{lang}/{chapter}, {:?} shows {shown:?}, and names {named:?}: {said}",
                        section.anchor
                    );
                }
            }
        }
        assert!(sentences > 40, "{lang}: {sentences}");
    }
}

/// The generations for which a chapter has runs or links to sources.
fn whole(sections: &[Section]) -> BTreeSet<Generation> {
    let runs = sections.iter().flat_map(|section| section.runs.clone());
    let said = sections.iter().flat_map(|section| &section.said);
    runs.chain(said.flat_map(|said| linked(said))).collect()
}

/// The generations that a text names by release (from 1.32, or 0.32, on), outside of code and addresses.
fn generations_named(said: &str) -> BTreeSet<Generation> {
    let plain: String = said.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let plain: String = plain
        .split("](")
        .enumerate()
        .map(|(at, part)| {
            if at == 0 {
                part
            } else {
                part.split_once(')').map_or("", |(_, rest)| rest)
            }
        })
        .collect::<Vec<_>>()
        .join(" ");
    let mut found = BTreeSet::new();
    for start in ["1.3", "0.3"] {
        for (at, _) in plain.match_indices(start) {
            let before = plain[..at].chars().next_back();
            let mut rest = plain[at + 3..].chars();
            let minor = rest.next().filter(|minor| ('2'..='6').contains(minor));
            let alone = !before.is_some_and(|c| c.is_ascii_digit() || c == '.')
                && !rest.next().is_some_and(|c| c.is_ascii_digit());
            if let Some(minor) = minor.filter(|_| alone) {
                found.insert(Generation::from_version(&format!("1.3{minor}")).unwrap());
            }
        }
    }
    found
}

/// The generations that a text links to lines of.
fn linked(said: &str) -> BTreeSet<Generation> {
    addresses(said)
        .filter_map(|address| {
            let rest = address.strip_prefix("https://github.com/kubernetes/")?;
            let (_, rest) = rest.split_once("/blob/v0.")?;
            let (minor, rest) = rest.split_once('.')?;
            let (_, line) = rest.split_once("#L")?;
            line.parse::<u32>().ok()?;
            Generation::from_version(&format!("1.{minor}"))
        })
        .collect()
}

/// The chapters that a text links to, with the anchors in them.
fn targets(said: &str) -> Vec<(String, String)> {
    let inside = addresses(said).filter(|address| !address.contains("//"));
    let parts = inside.map(|address| address.split_once('#').unwrap_or((address, "")));
    let files =
        parts.map(|(file, anchor)| (file.trim_end_matches(".md").to_owned(), anchor.to_owned()));
    files.collect()
}
