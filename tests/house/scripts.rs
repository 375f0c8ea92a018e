//! The books and the element's files name what scripts can call and hear.

use std::collections::BTreeSet;
use std::fs;

use deltascope::presentation::options::{Attribute, HEIGHTS};
use deltascope::presentation::session::typed::{CALLS, SELDOM_CALLS};
use deltascope::presentation::state::Event;

#[test]
fn the_books_list_each_method_of_the_page() {
    for lang in ["en", "zh"] {
        let text = fs::read_to_string(format!("docs/{lang}/src/scripting.md")).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        let first: String = rows.filter_map(|row| row.split(" | ").next()).collect();
        for (name, _) in CALLS.iter().chain(&SELDOM_CALLS) {
            assert!(first.contains(&format!("`{name}(")), "{lang}: {name}");
        }
    }
}

/// A list of the element's names.
fn list<'a>(names: &'a str, of: &str) -> BTreeSet<&'a str> {
    let (_, list) = names.split_once(&format!("{of} = [")).unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn the_element_knows_each_attribute_and_event() {
    let names = fs::read_to_string("embed/files/names.js").unwrap();
    // A book names its run in words, not by a link.
    let attributes = Attribute::ALL
        .map(Attribute::id)
        .into_iter()
        .chain(["link"])
        .collect();
    assert_eq!(list(&names, "ATTRIBUTES"), attributes);
    // The element's own script says that it is ready.
    let events = Event::ALL.map(Event::id).into_iter().chain(["ready"]);
    assert_eq!(list(&names, "EVENTS"), events.collect());
    let script = fs::read_to_string("embed/deltascope.js").unwrap();
    let sent = script.split("#emit(\"").skip(1);
    let sent: BTreeSet<&str> = sent.filter_map(|rest| rest.split('"').next()).collect();
    assert!(
        !sent.is_empty() && sent.is_subset(&list(&names, "EVENTS")),
        "{sent:?}"
    );
}

#[test]
fn an_element_is_as_high_everywhere() {
    let (least, most) = (HEIGHTS.start(), HEIGHTS.end());
    for (file, says) in [
        (
            "embed/deltascope.js",
            format!("height >= {least} && height <= {most} ?"),
        ),
        (
            "embed/files/deltascope.d.ts",
            format!(" {least} … {most} px"),
        ),
        (
            "docs/en/src/embedding.md",
            format!("px from {least} to {most};"),
        ),
        (
            "docs/zh/src/embedding.md",
            format!("{least} 到 {most} 的像素数；"),
        ),
    ] {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(&says), "{file}: {says}");
    }
}
