//! The two books have the same chapters with the same runs. Their lists match the code.

mod links;
mod lists;
mod runs;
mod stated;

use std::collections::BTreeSet;

use deltascope::cache::controller::Generation;

/// A part of a chapter: from a heading to the next.
#[derive(Default)]
struct Section {
    anchor: String,
    /// Paragraphs, list items and table rows.
    said: Vec<String>,
    /// The generations of its runs.
    runs: BTreeSet<Generation>,
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

/// The targets of a text's links, outside of code.
fn addresses(said: &str) -> impl Iterator<Item = &str> {
    let parts = said.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')').map(|(address, _)| address))
}
