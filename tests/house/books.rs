//! The two books have the same chapters with the same runs. Their lists match the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use deltascope::cache::controller::Generation;
use deltascope::presentation::options::{KEYS, Options};
use deltascope::presentation::stage::Panel;
use deltascope::presentation::strings::strings;
use deltascope::replay::branches::MOST_BRANCHES;
use deltascope::replay::lessons;
use deltascope::replay::link::LONGEST;
use deltascope::replay::smallest::{MOST_COMPUTED, MOST_TRIALS};
use deltascope::replay::tap::finding::Odd;
use deltascope::replay::timeline::{FACTS_KEPT, MAX_FACTS};
use deltascope::world::bounds;
use deltascope::world::source::live::MAX_OBJECTS;
use deltascope::world::source::proxy::list::MAX_LIST;
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
fn page_and_front_page_say_what_it_is_in_the_same_sentence() {
    for path in ["index.html", "docs/index.html"] {
        let text = fs::read_to_string(path).unwrap();
        let [en, zh] = [Lang::En, Lang::Zh].map(|lang| strings(lang).about);
        assert!(
            text.contains(&format!("<meta name=\"description\" content=\"{en}\">")),
            "{path}"
        );
        for about in [en, zh] {
            assert!(text.contains(&format!(">{about}</")), "{path}: {about}");
        }
    }
}

// --- statements about a generation ---------------------------------------------------------------

/// A part of a chapter: from a heading to the next.
#[derive(Default)]
struct Section {
    anchor: String,
    /// Paragraphs, list items and table rows.
    said: Vec<String>,
    /// The generations of its runs.
    runs: BTreeSet<Generation>,
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

fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut open = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let section = sections.last_mut().unwrap();
        if line.starts_with("```") {
            // A longer fence shows a shorter one inside.
            let fence = &line[..line.len() - line.trim_start_matches('`').len()];
            let body = lines.by_ref().take_while(|line| *line != fence);
            let block: Vec<&str> = [line].into_iter().chain(body).collect();
            if line.starts_with("```deltascope") {
                let era = block
                    .iter()
                    .find_map(|line| after(line, "era"))
                    .unwrap_or("1.32");
                section.runs.insert(Generation::from_version(era).unwrap());
            }
            open = false;
        } else if let Some(heading) = line.strip_prefix('#') {
            let anchor = anchor(heading.trim_start_matches(['#', ' ']));
            sections.push(Section {
                anchor,
                ..Section::default()
            });
            open = false;
        } else if line.trim().is_empty() {
            open = false;
        } else if open && !line.starts_with("- ") && !line.starts_with('|') {
            let last = section.said.last_mut().unwrap();
            last.push(' ');
            last.push_str(line);
        } else {
            section.said.push(line.to_owned());
            open = true;
        }
    }
    sections
}

/// The version after `name=` or `name = "`.
fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (before, rest) = line.split_once(name)?;
    let rest = rest
        .trim_start()
        .strip_prefix('=')?
        .trim_start()
        .trim_start_matches('"');
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    (!before.ends_with(char::is_alphanumeric)).then(|| &rest[..end])
}

/// The anchor that mdBook makes of a heading.
fn anchor(heading: &str) -> String {
    let (heading, id) = heading.split_once(" {#").unwrap_or((heading, ""));
    if !id.is_empty() {
        return id.trim_end_matches('}').to_owned();
    }
    let words = heading.to_lowercase().replace(' ', "-");
    words
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect()
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

/// The targets of a text's links, outside of code.
fn addresses(said: &str) -> impl Iterator<Item = &str> {
    let parts = said.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')').map(|(address, _)| address))
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

// --- lists ---------------------------------------------------------------------------------------

/// An op of a script with all its fields.
fn ops() -> Value {
    let (object, name) = (json!({"metadata": {"name": "a"}}), json!("a"));
    json!({
        "create": {"object": object}, "update": {"object": object}, "delete": {"object": object},
        "cut": {}, "close": {}, "compact": {}, "bookmark": {}, "pop": {}, "error": {"code": 410},
        "refuse": {"request": "list", "with": "expired", "times": 1},
        "mode": {"mode": "held"}, "knownObjects": {"on": true},
        "addHandler": {"handler": {}}, "removeHandler": {"handler": 0},
        "print": {"line": name}, "ask": {"index": name, "value": name, "as": "go"},
    })
}

#[test]
fn the_tables_of_the_chapters_list_all_fields_and_values() {
    for lang in ["en", "zh"] {
        let [around, scenario, settings, handler, script] =
            tables(lang, "scenarios").try_into().unwrap();
        // `expect` is only for the library's tests of its lessons, and `chapter` for its own book.
        let inline = known_in("there are: ", json!({"?": 0, "scenario": {}}));
        let inline = without(without(inline, "expect"), "chapter");
        assert_eq!(first(&around), inline, "{lang}");
        let taken = |scenario: Value| known_in("there are: ", scenario);
        assert_eq!(first(&scenario), taken(json!({"?": 0})), "{lang}");
        let set = |name: &str, value: Value| json!({"settings": {name: value}});
        assert_eq!(first(&settings), taken(set("?", json!(0))), "{lang}");
        let keys = taken(set("handlers", json!([{"?": 0}])));
        assert_eq!(first(&handler), keys, "{lang}");
        for name in ["prints", "transform", "processFails", "work"] {
            let listed = named(&row(&settings, name)[2..], false);
            // The error of a process function needs this field.
            let fields = json!({"?": 0, "at": "a"});
            assert_eq!(listed, taken(set(name, fields)), "{lang}: {name}");
        }
        for name in ["machinery", "queue", "feed"] {
            let listed = named(&row(&settings, name)[1..], true);
            let words = known_in("is not one of ", set(name, json!("?")));
            assert_eq!(listed, words, "{lang}: {name}");
        }

        let entry = |fields: Value| taken(json!({"script": [fields]}));
        // Recordings consist of it; scripts do not use it.
        let names = without(entry(json!({"at": 0, "op": "?"})), "tell");
        assert_eq!(first(&script), names, "{lang}");
        for name in &names {
            let mut fields = ops()[name].clone();
            fields["at"] = json!(0);
            fields["op"] = json!(name);
            fields["?"] = json!(0);
            let takes = without(without(entry(fields), "at"), "op");
            let needs = &row(&script, name)[1..2];
            assert_eq!(named(needs, false), takes, "{lang}: {name}");
        }
        let refuse = row(&script, "refuse");
        let mut words = entry(json!({"at": 0, "op": "refuse", "request": "list", "with": "?"}));
        words.extend(["list", "watch"].map(str::to_owned));
        assert_eq!(named(&refuse[2..], true), words, "{lang}");

        // The preprocessor prints these.
        let text = fs::read_to_string(format!("docs/{lang}/src/scenarios.md")).unwrap();
        for list in ["facts", "lessons"] {
            assert!(
                text.contains(&format!("\n{{{{#deltascope {list}}}}}\n")),
                "{lang}: {list}"
            );
        }

        let attributes = first(&tables(lang, "embedding")[0]);
        let keys = KEYS.into_iter().chain(["link"]).map(str::to_owned);
        assert_eq!(attributes, keys.collect(), "{lang}");
    }
}

#[test]
fn styles_scripts_and_books_know_every_room() {
    let knows = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(name), "{file} lacks {name}");
    };
    for id in Panel::ALL.map(Panel::id) {
        knows("style/stage.css", &format!("grid-area: {id};"));
        knows("style/chosen.css", &format!(".grid.chosen > .room.{id}"));
        knows("embed/files/deltascope.css", &format!("[panels*=\"{id}\"]"));
        knows("embed/files/deltascope.d.ts", &format!("\"{id}\""));
    }
    let all = format!("`{}`", Panel::ALL.map(Panel::id).join(" "));
    for lang in ["en", "zh"] {
        knows(&format!("docs/{lang}/src/embedding.md"), &all);
    }
}

#[test]
fn the_books_say_what_to_do_about_each_finding() {
    let ids: BTreeSet<String> = Odd::IDS.iter().map(|id| (*id).to_owned()).collect();
    for lang in ["en", "zh"] {
        assert_eq!(first(&tables(lang, "controller")[0]), ids, "{lang}");
    }
}

#[test]
fn the_element_s_types_have_every_field_of_a_scenario() {
    let types = fs::read_to_string("embed/files/deltascope.d.ts").unwrap();
    // The fields between these words and the brace at the same depth.
    let fields = |of: &str| {
        let (_, rest) = types.split_once(of).unwrap();
        let (mut depth, mut outer) = (0, String::new());
        for c in rest.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            match depth {
                0 if c == '}' => break,
                1 => outer.push(c),
                _ => {}
            }
        }
        let names = outer.split(['{', ';', '\n', '}']).filter_map(|field| {
            let name = field.split_once(':')?.0.trim().trim_end_matches('?');
            name.chars()
                .all(char::is_alphanumeric)
                .then(|| name.to_owned())
        });
        names.collect::<BTreeSet<_>>()
    };
    let known = |scenario| known_in("there are: ", scenario);
    let set = |name: &str, value: Value| known(json!({"settings": {name: value}}));
    assert_eq!(fields("interface Scenario "), known(json!({"?": 0})));
    assert_eq!(fields("interface ScenarioSettings "), set("?", json!(0)));
    let handler = set("handlers", json!([{"?": 0}]));
    assert_eq!(fields("interface HandlerSettings "), handler);
    for name in ["prints", "transform", "processFails", "work"] {
        let inside = set(name, json!({"?": 0, "at": "a"}));
        assert_eq!(fields(&format!("  {name}?: ")), inside, "{name}");
    }
}

#[test]
fn the_element_s_types_have_every_word_of_an_option() {
    let types = fs::read_to_string("embed/files/deltascope.d.ts").unwrap();
    // The words in quotes from there to the end of the declaration.
    let words = |of: &str| {
        let (_, rest) = types.split_once(of).unwrap();
        let (declared, _) = rest.split_once(';').unwrap();
        let words = declared.split('"').skip(1).step_by(2);
        words.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let listed = |error: String| {
        let (_, listed) = error.split_once("Write one of: ").unwrap();
        let listed = listed.trim_end_matches('.').split(", ");
        listed.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (_, attributes) = types.split_once("interface DeltaScopeAttributes ").unwrap();
    for (key, of) in [
        ("era", "type Era = "),
        ("panels", "type Panel = "),
        ("granularity", "type Granularity = "),
        ("controls", "  controls?: "),
        ("mode", "  mode?: "),
        ("theme", "  theme?: "),
        ("motion", "  motion?: "),
        ("load", "  load?: "),
        ("markers", "  markers?: "),
    ] {
        assert!(attributes.contains(&format!("  {key}?: ")), "{key}");
        let mut has = words(of);
        // Nobody has to write it, and it is no word of the error.
        has.remove("auto");
        let error = Options::default().set(key, "?").unwrap_err();
        assert_eq!(has, listed(error.en.to_string()), "{key}");
    }
    for name in ["feed", "machinery", "queue"] {
        let known = known_in("one of ", json!({"settings": {name: "?"}}));
        assert_eq!(words(&format!("  {name}?: ")), known, "{name}");
    }
    let refuse = json!({"at": 1, "op": "refuse", "request": "list", "with": "?", "times": 1});
    let known = known_in("there are: ", json!({"script": [refuse]}));
    assert_eq!(words("      with: "), known);
}

#[test]
fn the_element_and_the_page_tell_a_scenario_by_the_same_words() {
    let names = |file: &str, before: &str| {
        let text = fs::read_to_string(file).unwrap();
        let (_, rest) = text.split_once(before).unwrap();
        rest.split_once(']').unwrap().0.to_owned()
    };
    assert_eq!(
        names("embed/deltascope.js", "const isOne = ["),
        names(
            "src/presentation/session/opening.rs",
            "const NAMES: [&str; 5] = ["
        ),
    );
}

/// The names that an error lists after `words`.
fn known_in(words: &str, scenario: Value) -> BTreeSet<String> {
    let error = lessons::inline(scenario).unwrap_err().message();
    let Some((_, listed)) = error.split_once(words) else {
        panic!("lists nothing: {error}");
    };
    let listed = listed.trim_end_matches('.').split(", ");
    listed.map(str::to_owned).collect()
}

type Row = Vec<String>;

/// The tables of a chapter, without their heads.
fn tables(lang: &str, chapter: &str) -> Vec<Vec<Row>> {
    let text = fs::read_to_string(format!("docs/{lang}/src/{chapter}.md")).unwrap();
    let mut tables: Vec<Vec<Row>> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Row = line
            .trim_matches('|')
            .split(" |")
            .map(|cell| cell.trim_matches([' ', '|']).to_owned())
            .collect();
        if line.starts_with("|---") {
            tables.push(Vec::new());
        } else if let Some(table) = tables.last_mut() {
            table.push(cells);
        }
    }
    // The head of each further table was appended to the table before it.
    let last = tables.len() - 1;
    for table in &mut tables[..last] {
        table.pop();
    }
    tables
}

/// The names in the first column.
fn first(table: &[Row]) -> BTreeSet<String> {
    table
        .iter()
        .flat_map(|row| named(&row[..1], false))
        .collect()
}

fn row<'a>(table: &'a [Row], name: &str) -> &'a Row {
    let found = table
        .iter()
        .find(|row| named(&row[..1], false).contains(name));
    found.unwrap_or_else(|| panic!("no row of {name}"))
}

/// The names in backticks: the quoted ones, which are values, or the others.
fn named(cells: &[String], in_quotes: bool) -> BTreeSet<String> {
    let code = cells
        .iter()
        .flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code.filter(|name| name.starts_with('"') == in_quotes)
        .map(|name| name.trim_matches('"').to_owned())
        .collect()
}

fn without(mut names: BTreeSet<String>, name: &str) -> BTreeSet<String> {
    assert!(names.remove(name), "{name} in {names:?}");
    names
}

#[test]
fn the_books_and_the_page_describe_the_gauge_alike() {
    for (lang, book) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        let text = fs::read_to_string(format!("docs/{book}/src/page.md")).unwrap();
        let words = strings(lang);
        let said = [words.behind_is, words.behind_known].join(" ");
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        assert!(solid(&text).contains(&solid(&said)), "{book}: {said}");
    }
}

/// The books promise these bounds, so a change of a bound has to change the books.
#[test]
fn the_books_state_the_current_bounds() {
    for (en, zh, bound) in [
        (
            "the recording, up to {} of it",
            "留存的内容：录制，最多 {}",
            bounds::MAX_BYTES,
        ),
        (
            "The trace of a cluster may have {}",
            "要能再次打开，最多 {}",
            bounds::MAX_BYTES,
        ),
        ("and {} answers", "、{} 个应答", bounds::MAX_RESPONSES),
        (
            "One answer of a cluster may have {}",
            "集群的一个应答最多 {}",
            MAX_LIST,
        ),
        (
            "{} an object or an event",
            "一个对象或事件最多 {}",
            bounds::MAX_LINE,
        ),
        (
            "pages or events it comes in, {} objects",
            "多少页或多少个事件，最多 {} 个对象",
            MAX_OBJECTS,
        ),
        (
            "A recording may have {}",
            "一个录制最多 {}",
            bounds::MAX_BYTES,
        ),
        (
            "{} a line or an item",
            "每行或每个对象最多 {}",
            bounds::MAX_LINE,
        ),
        (
            "an item, {} objects",
            "每行或每个对象最多 8 MiB，最多 {} 个对象",
            bounds::MAX_ITEMS,
        ),
        (
            "objects and {} events",
            "个对象和 {} 个事件",
            bounds::MAX_EVENTS,
        ),
        (
            "A run has at most {} facts",
            "一个运行最多 {} 个事实",
            MAX_FACTS,
        ),
        ("The newest {} are kept", "只保留最新的 {} 个", FACTS_KEPT),
        (
            "In a scenario a text may have {}",
            "在场景里，一段文字最多 {}",
            bounds::MAX_TEXT,
        ),
        ("or a separator {}", "或一个分隔符最多 {}", bounds::MAX_NAME),
        (
            "there may be {} lines",
            "一条通知最多 {} 行",
            bounds::MOST_TEXTS,
        ),
        ("{} indices", "{} 个索引", bounds::MOST_TEXTS),
        ("{} handlers", "{} 个 handler", bounds::MOST_HANDLERS),
        (
            "{} informers beside",
            "旁边 {} 个 informer",
            bounds::MOST_BESIDE,
        ),
        (
            "{} objects and entries in all",
            "对象和条目合计最多 {} 个",
            bounds::MAX_BUILT,
        ),
        (
            "A printed line is cut after {}",
            "打印的一行在 {} 之后截断",
            bounds::MAX_PRINTED,
        ),
        (
            "read of a file may take about {}",
            "从一个文件读入的内容最多约占 {}",
            bounds::MAX_READ,
        ),
        (
            "a run hold beside themselves {}",
            "在自身之外最多持有 {}",
            bounds::RUN_HOLDS,
        ),
        (
            "A link has at most {} characters",
            "生成的链接最多 {} 个字符",
            LONGEST,
        ),
        (
            "links up to {} are read",
            "读取的链接最多 {}",
            bounds::LONGEST_LINK,
        ),
        ("and hold at most {}", "解开后最多 {}", bounds::UNPACKED),
        ("and {} inputs", "最多 {} 个输入", bounds::MAX_INPUTS),
        (
            "is looked for in at most {} runs",
            "最多试运行 {} 次",
            MOST_TRIALS,
        ),
        ("of {} facts in all", "共计算 {} 个事实", MOST_COMPUTED),
        (
            "There are at most {} branches",
            "最多 {} 个分支",
            MOST_BRANCHES,
        ),
    ] {
        for (lang, said) in [("en", en), ("zh", zh)] {
            let book = fs::read_to_string(format!("docs/{lang}/src/limits.md")).unwrap();
            assert_says(&book, said, bound);
        }
    }
    // The README's short list.
    let readme = fs::read_to_string("README.md").unwrap();
    let (_, limits) = readme.split_once("\n## Limits\n").unwrap();
    assert_says(limits, "A list may have {} objects", MAX_OBJECTS);
    assert_says(limits, "A recording may have {}", bounds::MAX_BYTES);
    assert_says(limits, "a run at most {} facts", MAX_FACTS);
}

/// A bound is written as a number or as a size.
fn assert_says(text: &str, said: &str, bound: usize) {
    let solid: Vec<&str> = text.split_whitespace().collect();
    let solid = solid.join(" ");
    let digits = bound.to_string();
    let count = digits.as_bytes().rchunks(3).rev();
    let count: Vec<&str> = count
        .map(|part| std::str::from_utf8(part).unwrap())
        .collect();
    let sizes = [
        (20, ["MiB", "MiB"]),
        (10, ["KiB", "KiB"]),
        (0, ["bytes", "字节"]),
    ];
    let whole = |(shift, _): &&(u32, _)| bound.is_multiple_of(1 << shift);
    let (shift, units) = sizes.iter().find(whole).unwrap();
    let sized = units.map(|unit| format!("{} {unit}", bound >> shift));
    let either = [vec![count.join(",")], sized.to_vec()].concat();
    let is_said = either
        .iter()
        .any(|is| solid.contains(&said.replace("{}", is)));
    assert!(is_said, "{said}: {either:?}");
}

// --- links -----------------------------------------------------------------------------------------

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
