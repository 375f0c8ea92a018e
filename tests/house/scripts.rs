//! The books and the element's files name what scripts can call and hear.

use std::collections::BTreeSet;
use std::fs;

use deltascope::presentation::options::Attribute;
use deltascope::presentation::session::typed::CALLS;
use deltascope::presentation::state::Event;

#[test]
fn the_books_list_each_method_of_the_page() {
    for lang in ["en", "zh"] {
        let text = fs::read_to_string(format!("docs/{lang}/src/scripting.md")).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        let first: String = rows.filter_map(|row| row.split(" | ").next()).collect();
        for (name, _) in CALLS {
            assert!(first.contains(&format!("`{name}(")), "{lang}: {name}");
        }
    }
}

#[test]
fn the_element_knows_each_attribute_and_event() {
    let text = fs::read_to_string("embed/files/names.js").unwrap();
    let list = |of: &str| {
        let (_, list) = text.split_once(&format!("{of} = [")).unwrap();
        let (list, _) = list.split_once(']').unwrap();
        list.split('"').skip(1).step_by(2).collect::<BTreeSet<_>>()
    };
    // A book names its run in words, not by a link.
    let attributes = Attribute::ALL
        .map(Attribute::id)
        .into_iter()
        .chain(["link"])
        .collect();
    assert_eq!(list("ATTRIBUTES"), attributes);
    // The element's own script says that it is ready.
    let events = Event::ALL.map(Event::id).into_iter().chain(["ready"]);
    assert_eq!(list("EVENTS"), events.collect());
}
