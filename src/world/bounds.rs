//! Limits on untrusted input: links, files, scenarios, a cluster's answers.
//!
//! Small input can have a large effect: a template is filled in for every object, a separator is part of
//! every key. So every text has a limit of its own, in addition to the limits on their number. Each limit is
//! a few times what a realistic run needs.

use std::collections::VecDeque;

use serde_json::Value;

// ---- files and links

/// The total size of all files, in bytes: a list of some 10,000 pods. Parsed, they take a few times as much
/// memory, and a page has 4 GiB at best.
pub const MAX_BYTES: usize = 64 << 20;
/// The longest line of a watch, in bytes. etcd stores objects of up to 1.5 MiB, and one with escapes and
/// managedFields stays below this limit.
pub const MAX_LINE: usize = 8 << 20;
/// The estimated memory of everything parsed from a file, in bytes. Real objects take about six times
/// [`MAX_BYTES`]; a file of small values alone would take twenty times that, more than a page has.
pub const MAX_READ: usize = 6 * MAX_BYTES;
/// The most events of a watch. Each causes some twenty facts, and nobody steps through more.
pub const MAX_EVENTS: usize = 10_000;
/// The most objects of a list, for the same reason.
pub const MAX_ITEMS: usize = 10_000;
/// The most causes read from one Status; an API server sends one or two.
pub(crate) const MAX_CAUSES: usize = 16;
/// The largest object accepted from outside, in bytes: etcd's default request limit.
pub(crate) const MAX_OBJECT: usize = 1_572_864;
/// The longest link that is read, in bytes.
pub const LONGEST_LINK: usize = 64 << 10;
/// The size of an unpacked link, in bytes.
pub const UNPACKED: usize = 1 << 20;
/// The most inputs of a run: more than anybody makes by hand.
pub const MAX_INPUTS: usize = 10_000;
/// The most responses of a cluster in one run, and the most objects of its lists: as many as fit into
/// [`MAX_BYTES`].
pub const MAX_RESPONSES: usize = 400_000;

// ---- scenarios

/// The most objects, recorded events and script entries of a scenario, counted once for each informer that
/// they are built for.
pub const MAX_BUILT: usize = 50_000;
/// The most handlers of a world: more than one can follow; facts number them in a `u8`.
pub const MOST_HANDLERS: usize = 200;
/// The most peer informers: more than one can follow.
pub const MOST_BESIDE: usize = 50;
/// The longest text, in bytes: a line of a program, a note. More than fits on a screen.
pub const MAX_TEXT: usize = 4 << 10;
/// The longest name, or label with its value, in bytes. A label's prefix may have 253 bytes, its name and its
/// value 63 each. Each name is repeated in every key, object and fact.
pub const MAX_NAME: usize = 512;
/// The most lines of one template, and the most indices: each is evaluated for every object.
pub const MOST_TEXTS: usize = 64;

// ---- the output of a run

/// The longest line that a program prints, in bytes. Values in a template can be long themselves: `{indices}`
/// prints a whole Indexer.
pub const MAX_PRINTED: usize = 16 << 10;
/// The most memory that the kept facts may hold in addition to their own size, in bytes.
pub const FACTS_HOLD: usize = 64 << 20;
/// The same limit for one segment of a run, which is kept as a whole.
pub const SEGMENT_HOLDS: usize = 8 << 20;
/// The same limit for all facts of a run, kept or not: the facts between two checkpoints are recomputed
/// together. Three million ordinary facts hold a fifth of it.
pub const RUN_HOLDS: usize = 512 << 20;

/// The length of a quotation in a message, in characters.
pub(crate) const QUOTED: usize = 80;

/// Shortens a text for a message.
#[must_use]
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The longest prefix of a text that has at most `most` bytes.
#[must_use]
pub fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Checks the length of a text.
///
/// # Errors
/// States the text's size and the limit.
pub fn text(text: &str, most: usize) -> Result<(), String> {
    let size = text.len();
    if size <= most {
        return Ok(());
    }
    let text = shortened(text);
    Err(format!(
        "{size} bytes are too long for one text; the most is {most}. Write a shorter one than {text:?}"
    ))
}

/// Checks a value that is a text or a list of texts: the length of each, and their number.
///
/// # Errors
/// States the limit that is exceeded.
pub(super) fn texts(value: &Value, longest: usize, most: usize) -> Result<(), String> {
    match value {
        Value::String(one) => text(one, longest),
        Value::Array(all) if all.len() > most => Err(format!(
            "there are {}; the most is {most}. Leave some out",
            all.len()
        )),
        Value::Array(all) => all.iter().try_for_each(|one| texts(one, longest, most)),
        _ => Ok(()),
    }
}

/// The estimated size of a map, in bytes: it allocates room for eleven entries.
const MAP: usize = 400;

/// A rough upper bound on the memory that a JSON text takes once parsed, in bytes, estimated without parsing it.
#[must_use]
pub fn weight_of_json(bytes: &[u8]) -> usize {
    let (mut weight, mut in_string, mut escaped, mut before) = (bytes.len(), false, false, 0);
    for &byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b',' | b'[' => weight += size_of::<Value>(),
            b'{' => weight += MAP,
            // An empty map allocates nothing.
            b'}' if before == b'{' => weight -= MAP,
            _ => {}
        }
        before = byte;
    }
    weight
}

/// Pushes one, of which a full list drops its oldest.
pub fn push_within<T>(list: &mut VecDeque<T>, most: usize, one: T) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(one);
}

/// The estimated memory of a value, in bytes.
#[must_use]
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => size_of::<Value>(),
        Value::String(text) => size_of::<Value>() + text.len(),
        Value::Array(values) => size_of::<Value>() + values.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let entry =
                |(name, value): (&String, &Value)| size_of::<String>() + name.len() + weight(value);
            let maps = fields.len().div_ceil(6) * MAP;
            size_of::<Value>() + maps + fields.iter().map(entry).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_json_is_estimated_before_and_after_it_is_parsed() {
        for text in [
            "0",
            "[0,0,0,0]",
            r#"{"a":{},"b":[{"c":"\\\"{,,,"}]}"#,
            r#"[{"a":0},{"a":0},{"a":0}]"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            let (before, after) = (weight_of_json(text.as_bytes()), weight(&value));
            let maps = text.matches(":0}").count() * MAP;
            assert!(after >= maps && before >= maps, "{text}: {before} {after}");
            assert!(after < 2 * before + 200, "{text}: {before} {after}");
        }
    }

    #[test]
    fn the_bounds_of_a_run_stay_below_each_other_and_below_the_memory_of_a_page() {
        const PAGE: usize = 4 << 30;
        for (smaller, larger) in [
            (MAX_NAME, MAX_TEXT),
            (MAX_TEXT, MAX_PRINTED),
            (LONGEST_LINK, UNPACKED),
            (MAX_OBJECT, MAX_LINE),
            (MAX_LINE, MAX_BYTES),
            // No segment takes more than an eighth of the kept facts, and they no more than an eighth of a
            // run.
            (8 * SEGMENT_HOLDS, FACTS_HOLD),
            (8 * FACTS_HOLD, RUN_HOLDS),
            (MAX_BYTES + MAX_READ + FACTS_HOLD + RUN_HOLDS, PAGE / 2),
        ] {
            assert!(smaller <= larger, "{smaller} {larger}");
        }
        for text in ["x", "名"] {
            let quoted = shortened(&text.repeat(MAX_NAME));
            assert_eq!(quoted, text.repeat(80) + "…");
        }
    }
}
