//! The lists of the books and of the element's types: fields, values and rooms, as the code has them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use deltascope::presentation::options::{Attribute, Options};
use deltascope::presentation::stage::Panel;
use deltascope::replay::lessons;
use deltascope::replay::tap::finding::Odd;

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
        let keys = Attribute::ALL
            .map(Attribute::id)
            .into_iter()
            .chain(["link"])
            .map(str::to_owned);
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
    for (attribute, of) in [
        (Attribute::Era, "type Era = "),
        (Attribute::Panels, "type Panel = "),
        (Attribute::Granularity, "type Granularity = "),
        (Attribute::Controls, "  controls?: "),
        (Attribute::Mode, "  mode?: "),
        (Attribute::Theme, "  theme?: "),
        (Attribute::Motion, "  motion?: "),
        (Attribute::Load, "  load?: "),
        (Attribute::Markers, "  markers?: "),
    ] {
        let key = attribute.id();
        assert!(attributes.contains(&format!("  {key}?: ")), "{key}");
        let has = words(of);
        let error = Options::default().set(attribute, "?").unwrap_err();
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
