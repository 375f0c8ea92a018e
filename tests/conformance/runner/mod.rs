//! Runs recorded scenarios: feeds the same steps to our implementation and compares.
//!
//! Shared by `cargo run --example conformance` and `cargo test --test conformance`. Whatever it
//! does not understand is a failure, never a skip.

mod indexer;
mod informer;
mod object;
mod queue;
mod reflector;
mod server;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deltascope::cache::error::{Error, ErrorKind};
use deltascope::cache::index::IndexView;
use deltascope::cache::key::Key;
use deltascope::cache::store::Indexer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use object::Pod;

/// How one file went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every step was as recorded.
    Passed,
    /// It was not as recorded, or the file is not understood.
    Failed(Failure),
}

/// Where and how a file failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The line in the file, from 1.
    pub(crate) line: usize,
    /// What was expected, and what was found.
    pub(crate) message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

/// Every `*.jsonl` under the folders (or files) named, sorted.
///
/// # Errors
/// When one cannot be read, or there is no such file.
pub(crate) fn collect(roots: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for root in roots {
        let before = files.len();
        walk(root, &mut files)?;
        if files.len() == before {
            return Err(format!(
                "{}: no *.jsonl here; name a folder with recorded scenarios",
                root.display()
            ));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let at = |error: io::Error| format!("{}: {error}", path.display());
    if fs::metadata(path).map_err(at)?.is_dir() {
        for entry in fs::read_dir(path).map_err(at)? {
            let entry = entry.map_err(at)?.path();
            if entry.is_dir() || entry.extension().is_some_and(|e| e == "jsonl") {
                walk(&entry, files)?;
            }
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Runs one file.
#[must_use]
pub(crate) fn run_file(path: &Path) -> Outcome {
    match fs::read_to_string(path) {
        Ok(text) => run_text(&text),
        Err(error) => Outcome::Failed(Failure {
            line: 0,
            message: format!("cannot be read as text: {error}"),
        }),
    }
}

/// Runs the text of one file.
#[must_use]
pub(crate) fn run_text(text: &str) -> Outcome {
    match try_run(text) {
        Ok(()) => Outcome::Passed,
        Err(failure) => Outcome::Failed(failure),
    }
}

fn try_run(text: &str) -> Result<(), Failure> {
    let mut lines = Vec::new();
    let text = text.strip_suffix('\n').unwrap_or(text);
    for (index, line) in text.split('\n').enumerate() {
        let line = Members::parse(line).map_err(at(index + 1))?;
        lines.push(line);
    }
    let mut lines = lines.into_iter().zip(1..);
    let Some((header, _)) = lines.next() else {
        return Err(at(1)("the header is missing".into()));
    };
    let header = Header::read(header).map_err(at(1))?;
    let steps = lines
        .map(|(line, number)| Ok((Step::read(line).map_err(at(number))?, number)))
        .collect::<Result<Vec<_>, Failure>>()?;
    if steps.is_empty() {
        return Err(at(1)("there are no steps".into()));
    }
    let mut subject = header.subject().map_err(at(1))?;
    // A member of the state that the whole file lacks did not exist in that version.
    let known: BTreeSet<String> = steps
        .iter()
        .flat_map(|(step, _)| step.state.keys().cloned())
        .collect();
    let states_watch_errors = steps
        .iter()
        .any(|(step, _)| step.result.get(WATCH_ERRORS).is_some());
    for (mut step, line) in steps {
        step.states_watch_errors = states_watch_errors;
        subject
            .step(step, &known)
            .map_err(|message| at(line)(message))?;
    }
    Ok(())
}

/// The member of a result that contains what the watch-error handler received.
const WATCH_ERRORS: &str = "watchErrorHandler";

fn at(line: usize) -> impl Fn(String) -> Failure {
    move |message| Failure { line, message }
}

/// The first line.
pub(crate) struct Header {
    subject: String,
    /// client-go's minor version.
    minor: u32,
    options: Members,
}

impl Header {
    fn read(mut line: Members) -> Result<Self, String> {
        let format = line.text("format")?;
        if format != "informer-conformance/1" {
            return Err(format!("unknown format {format:?}"));
        }
        let subject = line.text("subject")?;
        line.text("name")?;
        let source = line.text("source")?;
        let minor = source
            .strip_prefix("client-go v0.")
            .and_then(|version| version.split_once('.'))
            .filter(|(_, patch)| patch.parse::<u32>().is_ok())
            .and_then(|(minor, _)| minor.parse().ok())
            .ok_or_else(|| format!("unknown source {source:?}"))?;
        let options = line.members("options")?;
        line.optional_text("note")?;
        match line.take("seed") {
            Value::Null | Value::Number(_) => {}
            other => return Err(format!("\"seed\" is no number: {other}")),
        }
        line.finish("the header")?;
        Ok(Self {
            subject,
            minor,
            options,
        })
    }

    /// What plays the steps.
    fn subject(self) -> Result<Box<dyn Subject>, String> {
        let Self {
            subject,
            minor,
            options,
        } = self;
        Ok(match subject.as_str() {
            "indexer" => Box::new(indexer::Play::new(minor, options)?),
            "fifo" | "deltafifo" | "realfifo" => {
                Box::new(queue::Play::new(&subject, minor, options)?)
            }
            "reflector" => Box::new(reflector::Play::new(minor, options)?),
            "informer" => informer::play(minor, options)?,
            _ => return Err(format!("unknown subject {subject:?}")),
        })
    }
}

/// Any other line.
pub(crate) struct Step {
    /// The name of the operation.
    pub(crate) op: String,
    /// Its inputs.
    pub(crate) args: Members,
    result: Value,
    error: Option<String>,
    error_kind: Option<String>,
    panic: Option<String>,
    state: Map<String, Value>,
    /// Whether the file states anything about the watch-error handler at all: those of an informer need not.
    states_watch_errors: bool,
}

impl Step {
    fn read(mut line: Members) -> Result<Self, String> {
        let step = Self {
            op: line.text("op")?,
            args: line.optional_members("args")?.unwrap_or_default(),
            result: line.take("result"),
            error: line.optional_text("error")?,
            error_kind: line.optional_text("errorKind")?,
            panic: line.optional_text("panic")?,
            state: line.members("state")?.members,
            states_watch_errors: false,
        };
        line.finish("the step")?;
        Ok(step)
    }

    /// The result of a step after which the client was left to settle: what is empty is left out,
    /// and of the calls of the watch-error handler, whose texts hold names of Go types, only the
    /// number is compared.
    pub(crate) fn settled(
        &mut self,
        mut result: Value,
        watch_errors: usize,
    ) -> Result<Got, String> {
        let name = WATCH_ERRORS;
        let count = |count: usize| json!((count > 0).then_some(count));
        if let Some(expected) = self.result.get_mut(name) {
            let list = Members::of("result", json!({ name: expected.take() }))?.texts(name)?;
            *expected = count(list.len());
        }
        result[name] = count(watch_errors);
        self.result = without_empty(std::mem::take(&mut self.result));
        Ok(without_empty(result).into())
    }
}

/// What an operation came to.
#[derive(Default)]
pub(crate) struct Got {
    /// What it returned.
    pub(crate) result: Value,
    /// How it failed.
    pub(crate) error: Option<Error>,
    /// The plain strings that were passed as objects: in an error's text they are compared.
    pub(crate) plain: Vec<String>,
}

impl From<Value> for Got {
    fn from(result: Value) -> Self {
        Self {
            result,
            ..Self::default()
        }
    }
}

/// Plays one subject's steps.
pub(crate) trait Subject {
    /// Does what the step says. `Err`: the step is not understood.
    fn play(&mut self, step: &mut Step) -> Result<Got, String>;
    /// The state afterwards.
    fn state(&self) -> Value;
    /// Which lists of the result or the state are sets: by the last member's name on the way.
    fn sets(&self, op: &str) -> Sets;

    /// Plays a step and compares.
    fn step(&mut self, mut step: Step, known: &BTreeSet<String>) -> Result<(), String> {
        let mut got = self.play(&mut step)?;
        step.args.finish(&format!("the args of {}", step.op))?;
        let sets = self.sets(&step.op);
        let compare = |what: &str, expected: Value, got: Value, sets: bool| {
            let (expected, got) = (normal(expected, sets), normal(got, sets));
            if expected == got {
                return Ok(());
            }
            Err(format!(
                "{}: {what}: expected {expected}, got {got}",
                step.op
            ))
        };
        let panic = got
            .error
            .take_if(|error| error.kind() == ErrorKind::IndexWriteError)
            .map(|error| error.to_string());
        compare("panic", json!(step.panic), json!(panic), false)?;
        let kind = got.error.as_ref().map(|error| error.kind().as_str());
        compare("errorKind", json!(step.error_kind), json!(kind), false)?;
        if !same_error(step.error.as_deref(), got.error.as_ref(), &got.plain) {
            let text = got.error.map(|error| error.to_string());
            compare("error", json!(step.error), json!(text), false)?;
        }
        if let Some((expected, got)) = unblocked_errors(&mut step.result, &mut got.result) {
            compare("unblocked.error", expected, got, false)?;
        }
        compare("result", step.result, got.result, sets.result)?;
        let (mut expected, mut state) = (step.state, members(self.state()));
        // Private fields of the Go structs.
        expected.remove("internal");
        state.retain(|name, _| known.contains(name));
        for name in known {
            let (expected, got) = (
                expected.remove(name).unwrap_or_default(),
                state.remove(name).unwrap_or_default(),
            );
            let set = sets.state.contains(&name.as_str());
            compare(&format!("state.{name}"), expected, got, set)?;
        }
        Ok(())
    }
}

/// Which lists are sets.
pub(crate) struct Sets {
    /// Those of the result.
    pub(crate) result: bool,
    /// Those in these members of the state.
    pub(crate) state: &'static [&'static str],
}

/// The error of a Pop that was blocked is compared like any other, so it is taken out here.
fn unblocked_errors(expected: &mut Value, got: &mut Value) -> Option<(Value, Value)> {
    let take = |value: &mut Value| {
        value
            .get_mut("unblocked")
            .and_then(Value::as_object_mut)
            .and_then(|unblocked| unblocked.remove("error"))
            .unwrap_or_default()
    };
    let pair = (take(expected), take(got));
    (pair.0 != pair.1).then_some(pair)
}

/// Absent and null are equal; the order of a set means nothing.
fn normal(value: Value, sets: bool) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, normal(value, sets)))
            .collect(),
        Value::Array(list) => {
            let mut list: Vec<_> = list.into_iter().map(|v| normal(v, false)).collect();
            if sets {
                list.sort_by_key(ToString::to_string);
            }
            list.into()
        }
        other => other,
    }
}

/// Without the members that say nothing.
fn without_empty(value: Value) -> Value {
    let Value::Object(members) = value else {
        return value;
    };
    let members: Map<_, _> = members
        .into_iter()
        .filter(|(_, value)| !value.is_null() && *value != json!([]) && *value != json!({}))
        .collect();
    if members.is_empty() {
        return Value::Null;
    }
    Value::Object(members)
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Texts are equal, except where Go prints a whole struct.
fn same_error(expected: Option<&str>, got: Option<&Error>, plain: &[String]) -> bool {
    match (expected, got) {
        (None, None) => true,
        (Some(expected), Some(got)) => {
            let mut parts = vec![String::new()];
            pattern(got, plain, &mut parts);
            matches(expected, &parts)
        }
        _ => false,
    }
}

/// The text of an error, with a gap for each object that is more than a plain string.
fn pattern(error: &Error, plain: &[String], parts: &mut Vec<String>) {
    let mut push = |text: &str| {
        if let Some(last) = parts.last_mut() {
            last.push_str(text);
        }
    };
    match error {
        Error::Key { object, error } if !plain.iter().any(|text| **text == **object) => {
            push("couldn't create key for object ");
            parts.push(format!(": {error}"));
        }
        Error::NotDeltas(got) if !plain.iter().any(|text| format!("{text:?}") == **got) => {
            push("object must be of type deltas, but got: ");
            parts.push(String::new());
        }
        Error::Enqueue(inner) => {
            push("couldn't enqueue object: ");
            pattern(inner, plain, parts);
        }
        Error::QueueObject(inner) => {
            push("couldn't queue object: ");
            pattern(inner, plain, parts);
        }
        Error::Transaction(transaction) => {
            let (failed, total) = (transaction.errors.len(), transaction.total_transactions);
            push(&format!(
                "failed to execute ({failed}/{total}) transactions failed due to: ["
            ));
            for (position, error) in transaction.errors.iter().enumerate() {
                if let Some(last) = parts.last_mut() {
                    last.push_str(if position == 0 { "" } else { " " });
                }
                pattern(error, plain, parts);
            }
            if let Some(last) = parts.last_mut() {
                last.push(']');
            }
        }
        other => push(&other.to_string()),
    }
}

fn matches(text: &str, parts: &[String]) -> bool {
    let [first, middle @ .., last] = parts else {
        return parts.first().is_some_and(|only| only == text);
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    for part in middle {
        match rest.split_once(part.as_str()) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

/// Any JSON without two members of one name in an object: of those serde_json keeps the last, and
/// the file would not mean what it says.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Self)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(value)) = entries.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Unambiguous(value))) = entries.next_entry::<String, _>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("two members {name:?}")));
            }
            members.insert(name, value);
        }
        Ok(members.into())
    }
}

/// The members of a JSON object, taken one by one; what is left over was not understood.
#[derive(Default)]
pub(crate) struct Members {
    members: Map<String, Value>,
}

impl Members {
    fn parse(line: &str) -> Result<Self, String> {
        match serde_json::from_str(line).map(|Unambiguous(value)| value) {
            Ok(Value::Object(members)) => Ok(Self { members }),
            Ok(other) => Err(format!("not a JSON object: {other}")),
            Err(error) => Err(format!("not JSON: {error}")),
        }
    }

    fn of(name: &str, value: Value) -> Result<Self, String> {
        match value {
            Value::Object(members) => Ok(Self { members }),
            other => Err(format!("{name:?} is no object: {other}")),
        }
    }

    /// Takes a member; null when it is absent.
    pub(crate) fn take(&mut self, name: &str) -> Value {
        self.members.remove(name).unwrap_or_default()
    }

    /// Takes a member that has to be there (and may be null).
    pub(crate) fn required(&mut self, name: &str) -> Result<Value, String> {
        let value = self.members.remove(name);
        value.ok_or_else(|| format!("{name:?} is missing"))
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, String> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| format!("{name:?} is missing"))
    }

    /// Takes a text that may be absent.
    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            other => Err(format!("{name:?} is no text: {other}")),
        }
    }

    /// Takes a boolean; absent is false.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(flag),
            other => Err(format!("{name:?} is neither true nor false: {other}")),
        }
    }

    /// Takes a number from 0 on; absent is 0.
    pub(crate) fn number(&mut self, name: &str) -> Result<u64, String> {
        match self.take(name) {
            Value::Null => Ok(0),
            value => value
                .as_u64()
                .ok_or_else(|| format!("{name:?} is no number from 0 on: {value}")),
        }
    }

    /// Takes a list; absent is empty.
    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value>, String> {
        match self.take(name) {
            Value::Null => Ok(Vec::new()),
            Value::Array(list) => Ok(list),
            other => Err(format!("{name:?} is no list: {other}")),
        }
    }

    /// Takes a list that has to be there (and may be null, Go's empty one).
    pub(crate) fn required_list(&mut self, name: &str) -> Result<Vec<Value>, String> {
        if !self.members.contains_key(name) {
            return Err(format!("{name:?} is missing"));
        }
        self.list(name)
    }

    /// Takes a list of texts; absent is empty.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        texts(name, self.list(name)?)
    }

    /// Takes an object.
    pub(crate) fn members(&mut self, name: &str) -> Result<Self, String> {
        let members = self.optional_members(name)?;
        members.ok_or_else(|| format!("{name:?} is missing"))
    }

    /// Takes an object that may be absent.
    pub(crate) fn optional_members(&mut self, name: &str) -> Result<Option<Self>, String> {
        match self.take(name) {
            Value::Null => Ok(None),
            value => Self::of(name, value).map(Some),
        }
    }

    /// Takes the generation of the informer, which the version decides; some headers repeat it.
    pub(crate) fn generation(&mut self) -> Result<(), String> {
        match self.optional_text("generation")?.as_deref() {
            None | Some("classic" | "in-order" | "batched" | "atomic") => Ok(()),
            Some(other) => Err(format!("unknown generation {other:?}")),
        }
    }

    /// Whether the member is there and not null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| !value.is_null())
    }

    /// Everything must have been taken.
    pub(crate) fn finish(&mut self, what: &str) -> Result<(), String> {
        match self.members.iter().find(|(_, value)| !value.is_null()) {
            None => Ok(()),
            Some((name, _)) => Err(format!("unknown member {name:?} in {what}")),
        }
    }
}

/// How the state has the indices of a store.
fn index_state(store: &Indexer<Pod>) -> Value {
    let keys = |keys: Vec<&Key>| keys.into_iter().map(|key| json!(key.as_str())).collect();
    let values = |index: IndexView<'_, _>| {
        let values = index.values().into_iter();
        values
            .map(|(value, of_value)| (value.to_string(), keys(of_value)))
            .collect()
    };
    let indices: Map<String, Value> = store
        .indices()
        .map(|index| (index.name().to_string(), Value::Object(values(index))))
        .collect();
    Value::Object(indices)
}

/// The texts of the list of this name.
pub(crate) fn texts(name: &str, list: Vec<Value>) -> Result<Vec<String>, String> {
    let text = |value| match value {
        Value::String(text) => Ok(text),
        other => Err(format!("not a text in {name:?}: {other}")),
    };
    list.into_iter().map(text).collect()
}

/// An unknown operation.
pub(crate) fn unknown_op(op: &str) -> String {
    format!("unknown op {op:?}")
}
