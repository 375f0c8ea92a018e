//! How much is taken of what comes from others: links, files, scenarios, a cluster.
//!
//! What is small where it comes in may be large where it is used: a template is filled in for each
//! object, a separator stands in each key. So every text has a bound of its own, beside the bounds of
//! how many there are. A bound is what no honest run comes near, times a few.

use serde_json::Value;

// ---- files and links

/// The most bytes of all files together: some 10,000 pods as a list has them; read, they take a few
/// times that, and a page has 4 GiB at best.
pub const MAX_BYTES: usize = 64 << 20;
/// The longest line of a watch: etcd takes objects of 1.5 MiB, escapes and managedFields included
/// that stays below this.
pub const MAX_LINE: usize = 8 << 20;
/// What all that is read of a file may take, in bytes, about: six times [`MAX_BYTES`], which is what
/// real objects come to. Small values alone would come to twenty times that, more than a page has.
pub const MAX_READ: usize = 6 * MAX_BYTES;
/// The most events of a watch: each becomes some twenty facts, and nobody steps through more.
pub const MAX_EVENTS: usize = 10_000;
/// The most objects of a list, for the same reason.
pub const MAX_ITEMS: usize = 10_000;
/// The most texts of causes: a server has one or two.
pub const MAX_CAUSES: usize = 16;
/// The largest object that is taken from outside: what etcd takes in one request by default.
pub const MAX_OBJECT: usize = 1_572_864;
/// The longest link that is read.
pub const LONGEST_LINK: usize = 64 << 10;
/// What a link may hold when it is unpacked, in bytes.
pub const UNPACKED: usize = 1 << 20;
/// The most inputs: more than anybody makes by hand.
pub const MAX_INPUTS: usize = 10_000;
/// The most that a cluster has told, and the most objects of its lists: what [`MAX_BYTES`] have room for.
pub const MAX_TOLD: usize = 400_000;

// ---- scenarios

/// The most objects, recorded events and entries of a script, counted once for each informer that they
/// are built for.
pub const MAX_BUILT: usize = 50_000;
/// How many handlers a world has room for: a fact's number from `BESIDE` on is no handler's.
pub const MOST_HANDLERS: usize = 200;
/// How many informers there may be beside the first: more than anybody can follow.
pub const MOST_BESIDE: usize = 50;
/// The longest text: a line of a program, a note. More than a screen has.
pub const MAX_TEXT: usize = 4 << 10;
/// The longest name, or label with its value: a label's prefix may have 253 bytes, its name and its
/// value 63 each. It stands in each key, in each object, in each fact.
pub const MAX_NAME: usize = 512;
/// The most lines of one template, and the most indices: each is made anew for each object.
pub const MOST_TEXTS: usize = 64;

// ---- what a run makes of it

/// The longest line that is printed: a template is filled in with what may be long itself, `{indices}`
/// with a whole Indexer.
pub const MAX_PRINTED: usize = 16 << 10;
/// What the facts that are kept may hold beside themselves, in bytes.
pub const FACTS_HOLD: usize = 64 << 20;
/// The same of one segment of a run, which is kept as a whole.
pub const SEGMENT_HOLDS: usize = 8 << 20;
/// The same of all facts of a run, kept or not: between two checkpoints there are some of them, and
/// they are computed again together. Three million ordinary ones hold a fifth of it.
pub const RUN_HOLDS: usize = 512 << 20;

/// How much of a text is quoted in a message, in characters.
pub(crate) const QUOTED: usize = 80;

/// The beginning of a text, for a message.
#[must_use]
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of a text, with no more than so many bytes.
#[must_use]
pub fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Whether a text is short enough.
///
/// # Errors
/// Says how long it is, and how long it may be.
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

/// Whether each text in a value, which is one or a list of some, is short enough, and whether there are
/// not too many of them.
///
/// # Errors
/// Says which is too long, or how many there are.
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

/// What a map takes: it comes with room for eleven entries.
const MAP: usize = 400;

/// What JSON would take at the most if it were read, in bytes, about: without reading it.
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
            // One that is empty has no room for anything.
            b'}' if before == b'{' => weight -= MAP,
            _ => {}
        }
        before = byte;
    }
    weight
}

/// What a value takes, in bytes, about.
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

/// A line that is being printed, with no more than [`MAX_PRINTED`] bytes.
#[derive(Clone, Debug, Default)]
pub struct Line {
    text: String,
    cut: bool,
}

impl Line {
    /// Adds to it, as far as there is room.
    pub fn push(&mut self, more: &str) {
        if self.cut {
            return;
        }
        let room = MAX_PRINTED - self.text.len();
        if more.len() <= room {
            return self.text.push_str(more);
        }
        let ends = more.char_indices().map(|(at, _)| at);
        let end = ends.take_while(|at| *at <= room).last().unwrap_or_default();
        self.text.push_str(more.get(..end).unwrap_or_default());
        self.cut = true;
    }

    /// Whether there is no more room: what comes now is left out.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.cut
    }

    /// The line; where something was left out, it says so.
    #[must_use]
    pub fn into_text(mut self) -> std::sync::Arc<str> {
        if self.cut {
            self.text
                .push_str(&format!("… (cut after {MAX_PRINTED} bytes)"));
        }
        self.text.into()
    }

    /// A template with each `{name}` replaced by what it stands for.
    #[must_use]
    pub fn filled(template: &str, values: &[(&str, &str)]) -> Self {
        let mut line = Self::default();
        let mut rest = template;
        while let Some(at) = rest.find('{')
            && !line.is_full()
        {
            let (before, from) = rest.split_at(at);
            line.push(before);
            let found = values
                .iter()
                .find_map(|(name, value)| Some((from.strip_prefix(name)?, *value)));
            match found {
                Some((after, value)) => {
                    line.push(value);
                    rest = after;
                }
                None => {
                    line.push("{");
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        line.push(rest);
        line
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        self.push(more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_takes_is_known_before_and_after_it_is_read() {
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
    fn bounds_of_one_run_stay_below_each_other_and_below_what_a_page_has() {
        const PAGE: usize = 4 << 30;
        for (smaller, larger) in [
            (MAX_NAME, MAX_TEXT),
            (MAX_TEXT, MAX_PRINTED),
            (LONGEST_LINK, UNPACKED),
            (MAX_OBJECT, MAX_LINE),
            (MAX_LINE, MAX_BYTES),
            // Nothing that is kept whole takes more than an eighth of what is kept, nor that of a run.
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

    #[test]
    fn a_line_is_filled_in_once_and_has_an_end() {
        let values = [("{name}", "{rv}"), ("{rv}", "7")];
        for (template, line) in [
            ("", ""),
            ("a {name} {rv}{rv} {nam} {", "a {rv} 77 {nam} {"),
            ("名{name}", "名{rv}"),
        ] {
            assert_eq!(&*Line::filled(template, &values).into_text(), line);
        }
        let long = "名".repeat(MAX_PRINTED);
        let line = Line::filled("{name}{name}", &[("{name}", &long)]);
        assert!(line.is_full());
        let text = line.into_text();
        assert!(text.ends_with("名… (cut after 16384 bytes)"));
        assert!(text.len() < MAX_PRINTED + 40);
        let exact = "x".repeat(MAX_PRINTED);
        assert_eq!(&*Line::filled(&exact, &[]).into_text(), exact);
    }
}
