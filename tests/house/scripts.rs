//! The books list what a script can call.

use std::fs;

use deltascope::presentation::session::typed::CALLS;

#[test]
fn the_books_list_each_method_of_the_page() {
    for lang in ["en", "zh"] {
        let text = fs::read_to_string(format!("docs/{lang}/src/scripting.md")).unwrap();
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
        for (name, _) in CALLS {
            let call = format!("`{name}(");
            let is_of = |row: &&str| row.split(" | ").next().is_some_and(|cell| cell.contains(&call));
            assert!(rows.iter().any(|row| is_of(row)), "{lang}: {name}");
        }
    }
}
