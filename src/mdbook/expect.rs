//! Expectations of a state: paths, the values there, and short messages for those that differ.

use serde_json::{Map, Value};

use super::near::{hint, listed};

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The names of the members that lead to the expectation.
    pub(super) names: Vec<String>,
    /// One or more lines.
    pub(super) message: String,
}

/// The member of an expectation that lists the paths that must not exist.
pub(super) const ABSENT: &str = "absent";

/// Of values longer than this, only the differences are reported.
const SHORT: usize = 100;
/// Most differences that are reported of one value.
const DIFFERENCES: usize = 6;

/// The expectations that do not hold for `state`.
pub(super) fn check(expected: &Map<String, Value>, state: &Value) -> Vec<Mismatch> {
    let mut found = Vec::new();
    for (name, value) in expected {
        if name == ABSENT && state.get(ABSENT).is_none() {
            absent(value, state, &mut found);
        } else {
            member(std::slice::from_ref(name), name, value, state, &mut found);
        }
    }
    found
}

/// Whether the first name of a path is a member of the state.
pub(super) fn begins_in(state: &Value, path: &str) -> bool {
    let fields = state.as_object();
    fields.is_some_and(|fields| longest(fields, path).is_some())
}

fn member(
    names: &[String],
    path: &str,
    expected: &Value,
    state: &Value,
    found: &mut Vec<Mismatch>,
) {
    match resolve(state, path) {
        Err(missing) => found.push(Mismatch {
            names: names.to_vec(),
            message: missing.words(path, expected),
        }),
        Ok(value) => compare(names, path, expected, value, found),
    }
}

fn compare(
    names: &[String],
    path: &str,
    expected: &Value,
    value: &Value,
    found: &mut Vec<Mismatch>,
) {
    match expected {
        Value::Object(fields) if value.is_object() => {
            for (name, expected) in fields {
                let names: Vec<String> = names.iter().chain([name]).cloned().collect();
                match resolve(value, name) {
                    Err(missing) => found.push(Mismatch {
                        names,
                        message: missing.words(&format!("{path}.{name}"), expected),
                    }),
                    Ok(value) => {
                        compare(&names, &format!("{path}.{name}"), expected, value, found);
                    }
                }
            }
        }
        expected if holds(expected, value) => {}
        expected => found.push(Mismatch {
            names: names.to_vec(),
            message: difference(path, expected, value),
        }),
    }
}

/// Arrays and plain values must be equal; a table must have the expected members; an empty table matches anything.
fn holds(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::Object(fields), _) if fields.is_empty() => true,
        (Value::Object(fields), Value::Object(_)) => fields
            .iter()
            .all(|(name, expected)| resolve(value, name).is_ok_and(|value| holds(expected, value))),
        (Value::Array(expected), Value::Array(values)) => {
            expected.len() == values.len()
                && expected
                    .iter()
                    .zip(values)
                    .all(|(one, other)| holds(one, other))
        }
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        _ => expected == value,
    }
}

/// A path must not exist: its value is null, or a map lacks the key.
fn absent(paths: &Value, state: &Value, found: &mut Vec<Mismatch>) {
    let names = vec![ABSENT.to_owned()];
    let Some(paths) = paths.as_array() else {
        found.push(Mismatch {
            names,
            message: "absent is an array of paths that lead to nothing".into(),
        });
        return;
    };
    for (place, path) in paths.iter().enumerate() {
        let names: Vec<String> = names.iter().cloned().chain([place.to_string()]).collect();
        let message = match path.as_str() {
            None => format!("{} in absent is no path", text(path)),
            Some(path) => match resolve(state, path) {
                Ok(Value::Null) => continue,
                Ok(value) => format!(
                    "{path} is there\n  expected  nothing\n  found     {}",
                    text(value)
                ),
                Err(missing) if missing.may_be => continue,
                Err(missing) => missing.words(path, &Value::Null),
            },
        };
        found.push(Mismatch { names, message });
    }
}

// --- paths --------------------------------------------------------------------------------------

/// Members whose keys are names of objects, of indices and the like: any key may appear there.
const MAPS: [&str; 7] = [
    "api.objects",
    "queue.deltas",
    "queue.objects",
    "store.items",
    "store.indices",
    "comparison.differs",
    "comparison.summary",
];

/// A path that does not exist to its end.
struct Missing {
    /// The part that exists.
    before: String,
    /// The rest.
    name: String,
    /// The members that exist after that part.
    names: Vec<String>,
    /// Whether the rest may exist at other moments.
    may_be: bool,
    /// The value after that part, if it has no members.
    leaf: Option<String>,
}

impl Missing {
    fn words(&self, path: &str, expected: &Value) -> String {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let hint = match &self.leaf {
            Some(leaf) => format!("{} is {leaf}.", self.before),
            None => {
                // Names may contain dots, but most do not.
                let first = self.name.split('.').next().unwrap_or_default();
                let is_whole = names.iter().any(|name| name.contains('.'));
                let wanted = if is_whole { &self.name } else { first };
                let hint = hint(wanted, &names);
                if self.before.is_empty() {
                    hint
                } else {
                    format!("In {}: {hint}", self.before)
                }
            }
        };
        let wanted = match expected {
            Value::Null => String::new(),
            expected => format!("\n  expected  {}\n  found     nothing", text(expected)),
        };
        format!("{path} leads to nothing. {hint}{wanted}")
    }
}

/// Resolves a path. Names may contain dots, so the longest name that fits is taken.
fn resolve<'a>(state: &'a Value, path: &str) -> Result<&'a Value, Missing> {
    let (mut value, mut rest) = (state, path);
    let mut before = String::new();
    loop {
        let missing = |names: Vec<String>, leaf: Option<String>| Missing {
            may_be: leaf.is_none()
                && (MAPS.contains(&&*before) || before.starts_with("store.indices.")),
            before: before.clone(),
            name: rest.to_owned(),
            names,
            leaf,
        };
        let (name, next) = match value {
            Value::Object(fields) => match longest(fields, rest) {
                Some(name) => (name, fields.get(name)),
                None => return Err(missing(fields.keys().cloned().collect(), None)),
            },
            Value::Array(values) => {
                let name = rest.split('.').next().unwrap_or(rest);
                match name
                    .parse::<usize>()
                    .ok()
                    .and_then(|place| values.get(place))
                {
                    Some(next) => (name, Some(next)),
                    None => {
                        let leaf = format!("an array of {}: write a number from 0", values.len());
                        return Err(missing(Vec::new(), Some(leaf)));
                    }
                }
            }
            leaf => return Err(missing(Vec::new(), Some(text(leaf)))),
        };
        let Some(next) = next else {
            return Err(missing(Vec::new(), None));
        };
        if !before.is_empty() {
            before.push('.');
        }
        before.push_str(name);
        value = next;
        match rest.get(name.len() + 1..) {
            Some(more) => rest = more,
            None => return Ok(value),
        }
    }
}

/// The longest member name that is the whole path, or its beginning before a dot.
fn longest<'a>(fields: &Map<String, Value>, path: &'a str) -> Option<&'a str> {
    let ends = path.match_indices('.').map(|(at, _)| at);
    let ends: Vec<usize> = ends.chain([path.len()]).collect();
    let mut names = ends.into_iter().rev().filter_map(|end| path.get(..end));
    names.find(|name| fields.contains_key(*name))
}

// --- words --------------------------------------------------------------------------------------

fn difference(path: &str, expected: &Value, value: &Value) -> String {
    let (wanted, there) = (text(expected), text(value));
    let is_short = wanted.chars().count().max(there.chars().count()) <= SHORT;
    let mut message = format!("{path} is otherwise");
    if is_short {
        message.push_str(&format!("\n  expected  {wanted}\n  found     {there}"));
    }
    if expected.is_array() && value.is_array() || !is_short {
        let mut lines = Vec::new();
        differences(String::new(), expected, value, &mut lines);
        let (these, rest) = lines.split_at(listed(lines.len(), DIFFERENCES));
        for line in these {
            message.push_str(&format!("\n  {line}"));
        }
        let more = rest.len();
        if more > 0 {
            message.push_str(&format!("\n  and {more} more"));
        }
    }
    let is_text = value.as_str().is_some_and(|text| text == wanted);
    if is_text {
        message.push_str("\n  it is a text: write it in quotes");
    }
    message
}

/// Lists where two values differ.
fn differences(at: String, expected: &Value, value: &Value, lines: &mut Vec<String>) {
    match (expected, value) {
        _ if holds(expected, value) => {}
        (Value::Array(expected), Value::Array(values)) => {
            for place in 0..expected.len().max(values.len()) {
                let at = format!("{at}[{place}]");
                match (expected.get(place), values.get(place)) {
                    (Some(one), Some(other)) => differences(at, one, other, lines),
                    (Some(one), None) => lines.push(format!("{at} is missing: {}", text(one))),
                    (None, Some(other)) => lines.push(format!("{at} is too much: {}", text(other))),
                    (None, None) => {}
                }
            }
        }
        (Value::Object(fields), Value::Object(_)) => {
            for (name, one) in fields {
                let at = format!("{at}.{name}");
                match resolve(value, name) {
                    Ok(other) => differences(at, one, other, lines),
                    Err(_) => lines.push(format!("{at} is missing: {}", text(one))),
                }
            }
        }
        (one, other) => lines.push(format!(
            "{at} expected {}, found {}",
            text(one),
            text(other)
        )),
    }
}

/// A value in TOML, on one line.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(text).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".into(),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{} = {}", key(name), text(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        value => value.to_string(),
    }
}

/// A key in TOML.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// Members about the page's state, not the run's: they make no useful expectations.
const PASSING: [&str; 8] = [
    "branches",
    "breakpoints",
    "following",
    "grain",
    "playing",
    "selection",
    "step",
    "steps",
];

/// The state as lines for `[expect]`. The paths that lead to null come last.
pub(super) fn lines(state: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let mut absent = Vec::new();
    for (name, value) in state.as_object().into_iter().flatten() {
        if !PASSING.contains(&&**name) {
            leaves(name, value, &mut lines, &mut absent);
        }
    }
    let absent: Vec<String> = absent
        .iter()
        .map(|path| Value::from(&**path).to_string())
        .collect();
    lines.push(format!("{ABSENT} = [{}]", absent.join(", ")));
    lines
}

fn leaves(path: &str, value: &Value, lines: &mut Vec<String>, absent: &mut Vec<String>) {
    match value {
        Value::Null => absent.push(path.to_owned()),
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(&format!("{path}.{name}"), value, lines, absent);
            }
        }
        // An empty table would match anything, so it is left out.
        Value::Object(_) => {}
        value => lines.push(format!("{} = {}", key(path), anything(value))),
    }
}

/// TOML has no null, so an empty table stands for it: it matches anything.
fn anything(value: &Value) -> String {
    fn without_null(value: &Value) -> Value {
        match value {
            Value::Null => Value::Object(Map::new()),
            Value::Array(values) => Value::Array(values.iter().map(without_null).collect()),
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, value)| (name.clone(), without_null(value)))
                    .collect(),
            ),
            value => value.clone(),
        }
    }
    text(&without_null(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state() -> Value {
        json!({
            "queue": {"kind": "DeltaFIFO", "keys": ["default/b"], "deltas": {"default/b": [["Deleted", {"tombstone": "2"}]]}},
            "store": {"items": {"default/a": "1", "kube-system/x.y": "7"}, "indices": {}},
            "handlers": [{"name": "printer", "pending": 0}],
            "lock": {"holder": null},
            "output": ["OnAdd: a", "OnAdd: b"],
            "live": null,
            "time": 900,
        })
    }

    #[test]
    fn an_expectation_that_holds_is_not_reported() {
        for expected in [
            json!({"queue.keys": ["default/b"], "store.items.default/a": "1"}),
            json!({"store.items.kube-system/x.y": "7", "store": {"items": {"default/a": "1"}}}),
            json!({"queue": {"deltas.default/b": [["Deleted", {"tombstone": "2"}]]}}),
            json!({"queue.deltas": {"default/b": [["Deleted", {}]]}}),
            json!({"handlers.0.pending": 0, "handlers": [{"name": "printer"}], "time": 900.0}),
            json!({"absent": ["store.items.default/b", "lock.holder", "live"], "lock.holder": null}),
        ] {
            let Value::Object(expected) = expected else {
                unreachable!()
            };
            assert_eq!(check(&expected, &state()), [], "{expected:?}");
        }
    }

    #[test]
    fn an_expectation_that_does_not_hold_is_reported() {
        for (expected, names, words) in [
            (
                json!({"queue.keys": []}),
                "queue.keys",
                "expected  []\n  found     [\"default/b\"]\n  [0] is too much",
            ),
            (
                json!({"store": {"items": {"default/a": "2"}}}),
                "store|items|default/a",
                "store.items.default/a is otherwise\n  expected  \"2\"\n  found     \"1\"",
            ),
            (
                json!({"store.items.default/a": 1}),
                "store.items.default/a",
                "write it in quotes",
            ),
            (
                json!({"quue.keys": []}),
                "quue.keys",
                "leads to nothing. Did you mean \"queue\"?",
            ),
            (
                json!({"queue.key": []}),
                "queue.key",
                "In queue: Did you mean \"keys\"? There are: deltas, keys, kind.",
            ),
            (
                json!({"store.items.default/b": "1"}),
                "store.items.default/b",
                "found     nothing",
            ),
            (
                json!({"queue.kind.x": 1}),
                "queue.kind.x",
                "queue.kind is \"DeltaFIFO\".",
            ),
            (
                json!({"handlers.1.name": "x"}),
                "handlers.1.name",
                "an array of 1",
            ),
            (
                json!({"output": ["OnAdd: a"]}),
                "output",
                "[1] is too much: \"OnAdd: b\"",
            ),
            (
                json!({"output": ["OnAdd: a", "x", "y"]}),
                "output",
                "[1] expected \"x\", found \"OnAdd: b\"\n  [2] is missing: \"y\"",
            ),
            (
                json!({"absent": ["store.items.default/a"]}),
                "absent|0",
                "store.items.default/a is there",
            ),
            (
                json!({"absent": ["store.itmes.default/a"]}),
                "absent|0",
                "\"items\"",
            ),
            (json!({"absent": "x"}), "absent", "an array of paths"),
        ] {
            let Value::Object(expected) = expected else {
                unreachable!()
            };
            let found = check(&expected, &state());
            assert_eq!(found.len(), 1, "{expected:?}: {found:?}");
            assert_eq!(found[0].names.join("|"), names);
            assert!(
                found[0].message.contains(words),
                "{}\n{words}",
                found[0].message
            );
        }
        let long: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
        let mut expected = Map::new();
        expected.insert("output".into(), json!(long));
        let found = check(&expected, &json!({"output": []}));
        assert!(
            found[0].message.ends_with("and 34 more"),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn the_state_can_be_written_under_expect() {
        let lines = lines(&state());
        assert!(
            lines.contains(&"\"queue.keys\" = [\"default/b\"]".to_owned()),
            "{lines:?}"
        );
        assert!(
            lines.contains(&"absent = [\"live\", \"lock.holder\"]".to_owned()),
            "{lines:?}"
        );
        let document = lines.join("\n");
        let body = super::super::body::Body::read(&format!("[expect]\n{document}")).unwrap();
        assert_eq!(check(&body.expect, &state()), []);
    }
}
