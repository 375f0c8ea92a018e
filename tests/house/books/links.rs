//! The links of the books and of the README lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{addresses, sections};

#[test]
fn links_between_chapters_lead_somewhere() {
    for lang in ["en", "zh"] {
        let chapters = anchors(lang);
        let files: Vec<String> = chapters.keys().cloned().collect();
        for file in files {
            let text = fs::read_to_string(format!("docs/{lang}/src/{file}")).unwrap();
            for (to, anchor) in links(&text) {
                let there = if to.is_empty() { &file } else { &to };
                let known = chapters.get(there).unwrap_or_else(|| {
                    panic!("{lang}/{file} links to {to}, and there is no such chapter")
                });
                assert!(
                    anchor.is_empty() || known.contains(&anchor),
                    "{lang}/{file} links to {to}#{anchor}; there are {known:?}"
                );
            }
        }
    }
}

/// An old link leads from a place that is no more to one that is.
#[test]
fn redirects_lead_from_old_sections_to_those_of_today() {
    for lang in ["en", "zh"] {
        let chapters = anchors(lang);
        let is_there = |address: &str| {
            let (page, anchor) = address.split_once('#').unwrap_or((address, ""));
            let chapter = &chapters[&page.trim_start_matches('/').replace(".html", ".md")];
            anchor.is_empty() || chapter.iter().any(|one| encoded(one) == anchor)
        };
        let config = fs::read_to_string(format!("docs/{lang}/book.toml")).unwrap();
        let (_, rows) = config.split_once("\n[output.html.redirect]\n").unwrap();
        for row in rows.lines() {
            let names: Vec<&str> = row.split('"').collect();
            let (from, to) = (names[1], names[3]);
            assert!(!is_there(from) && is_there(to), "{lang}: {from} to {to}");
        }
    }
}

/// An anchor as it stands in an address.
fn encoded(anchor: &str) -> String {
    let coded = |byte: u8| match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    anchor.bytes().map(coded).collect()
}

#[test]
fn both_books_list_all_their_chapters_in_the_same_order() {
    let [en, zh] = ["en", "zh"].map(|lang| {
        let text = fs::read_to_string(format!("docs/{lang}/src/SUMMARY.md")).unwrap();
        links(&text)
            .into_iter()
            .map(|(to, _)| to)
            .collect::<Vec<_>>()
    });
    assert_eq!(en, zh);
    let listed: BTreeSet<&String> = en.iter().collect();
    assert_eq!(listed.len(), en.len(), "each once: {en:?}");
    let mut chapters = anchors("en");
    chapters.remove("SUMMARY.md");
    assert_eq!(listed, chapters.keys().collect());
}

/// The README only introduces the project; details belong to the books.
#[test]
fn the_readme_is_short_and_leads_into_both_books() {
    let readme = fs::read_to_string("README.md").unwrap();
    let lines = readme.lines().count();
    assert!(lines <= 200, "README.md has {lines} lines");
    let books = ["en", "zh"].map(|lang| (format!("docs/{lang}/src/"), anchors(lang)));
    let mut led = BTreeMap::new();
    for (to, anchor) in links(&readme) {
        assert!(fs::exists(&to).unwrap(), "README.md links to {to}");
        for (book, chapters) in &books {
            if let Some(chapter) = to.strip_prefix(book) {
                assert!(
                    anchor.is_empty() || chapters[chapter].contains(&anchor),
                    "README.md links to {to}#{anchor}"
                );
                *led.entry(chapter.to_owned()).or_insert(0) +=
                    if book.contains("/en/") { 1 } else { -1 };
            }
        }
    }
    for section in sections(&readme) {
        let said = section.said.join(" ");
        for name in ["src=\"", "srcset=\""] {
            for shown in said.split(name).skip(1) {
                let (file, _) = shown.split_once('"').unwrap();
                assert!(fs::exists(file).unwrap(), "README.md shows {file}");
            }
        }
    }
    let alone: Vec<_> = led.iter().filter(|(_, more)| **more != 0).collect();
    assert!(alone.is_empty(), "in one language alone: {alone:?}");
    assert!(led.len() > 10, "{led:?}");
}

/// The links of a text to files of the project, outside of code: the file, if it is another one, and the anchor.
fn links(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for section in sections(text) {
        for said in &section.said {
            let plain: String = said.split('`').step_by(2).collect::<Vec<_>>().join("code");
            let here = addresses(&plain).filter(|address| !address.contains("://"));
            let parts = here.map(|address| address.split_once('#').unwrap_or((address, "")));
            found.extend(parts.map(|(file, anchor)| (file.to_owned(), anchor.to_owned())));
        }
    }
    found
}

/// The chapters of a book, with their anchors.
fn anchors(lang: &str) -> BTreeMap<String, BTreeSet<String>> {
    let entries = fs::read_dir(format!("docs/{lang}/src")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let sections = sections(&fs::read_to_string(&path).unwrap());
            let anchors = sections.into_iter().map(|section| section.anchor);
            (name, anchors.collect())
        })
        .collect()
}
