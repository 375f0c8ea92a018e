//! A run as a JSON Lines file, from which the same run is recomputed.
//!
//! The first line is the header, `{"deltascope":1,…}`. Then come the scenario, the recording (the list, its
//! items, the events) and the inputs, one per line, and the notes of a tap, which the run does not need. Unknown
//! fields of the header are ignored; anything else unknown is an error, because the run would differ.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use deltascope_world::bounds::{self, MAX_READ, MAX_RESPONSES, MAX_TEXT};
use deltascope_world::fields::{Fields, Put as _, Read};
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::Command;
use deltascope_world::source::live::response_items;
use deltascope_world::source::scenario::{self, Entry, Scenario};
use deltascope_world::source::wire::{
    self, LineSplitter, LineTooLong, MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE, Recorded,
    RecordedEvent, WireError,
};
use deltascope_world::source::write;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{Input, SourceKind};
use deltascope_world::{Time, text};

use super::moment::Moment;
use super::moment::no_moment;
use super::recording::{RecordedInput, Recording};
use super::wall;

pub use deltascope_world::bounds::MAX_INPUTS;

/// The version of the format.
pub const VERSION: u64 = 1;
/// The field that identifies a trace.
const NAME: &str = "deltascope";

/// The number of bytes read between two checks whether the slice is over; …
const CHUNK: usize = 16 << 10;
/// … this many bytes cost about as much as one fact.
const BYTES: usize = 128;

/// The content of a trace file.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The id of the lesson that the run began with; empty if there was none.
    pub lesson: Arc<str>,
    /// The title of the run.
    pub title: Text,
    /// The moment that was shown.
    pub at: Option<Moment>,
    /// The wall-clock time at virtual time 0, in ms since 1970; `None` if unknown.
    pub start: Option<Time>,
    /// The recording that determines the run.
    pub recording: Recording,
}

/// Writes a trace as a file.
#[must_use]
pub fn write(trace: &Trace) -> String {
    let mut text = String::new();
    let version = env!("CARGO_PKG_VERSION");
    let title = &trace.title;
    // The identifying field comes first, so that readers recognize the file.
    let _ = write!(text, "{{\"{NAME}\":{VERSION},\"program\":\"{version}\"");
    let at = trace.at.as_ref().map(ToString::to_string);
    let start = trace.start.map(wall::written);
    for (name, value) in [
        ("lesson", Some(&*trace.lesson)),
        ("titleEn", Some(&*title.en)),
        ("titleZh", Some(&*title.zh)),
        ("at", at.as_deref()),
        ("start", start.as_deref()),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = write!(text, ",\"{name}\":{}", Value::from(value));
        }
    }
    text.push_str("}\n");
    let recording = &trace.recording;
    line(&mut text, "scenario", recording.scenario.written());
    if let Some(recorded) = &recording.scenario.recorded {
        if let Some(start) = &recorded.start {
            line(&mut text, "list", write::list(start));
            for item in write::items(start) {
                line(&mut text, "item", item);
            }
        }
        if recorded.has_watch {
            line(&mut text, "watch", Value::Bool(true));
        }
        for event in &recorded.events {
            line(&mut text, "event", write::event(event));
        }
    }
    inputs(&mut text, &recording.inputs);
    text
}

/// Whether a file is meant to be a trace; if so, [`read`] reports its errors.
#[must_use]
pub fn is_trace(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    let Some(rest) = bytes.strip_prefix(b"{") else {
        return false;
    };
    let name = format!("\"{NAME}\"");
    rest.trim_ascii_start().starts_with(name.as_bytes())
}

/// Reads a trace up to its first error: a trace returned with an error holds the lines before it.
#[must_use]
pub fn read(name: &str, bytes: &[u8]) -> (Option<Trace>, Option<WireError>) {
    at_once(read_slowly(name, bytes, &Slices::whole()))
}

/// Like [`read`], in slices.
pub async fn read_slowly(
    name: &str,
    bytes: &[u8],
    slices: &Slices,
) -> (Option<Trace>, Option<WireError>) {
    if bytes.len() > MAX_BYTES {
        let size = bytes.len();
        let error = wire::error(
            name,
            None,
            text!(
                "the trace has {size} bytes; at most {MAX_BYTES} are read. Share a shorter run.",
                "运行记录共 {size} 字节，最多读取 {MAX_BYTES} 字节。请分享更短的运行。"
            ),
        );
        return (None, Some(error));
    }
    let mut parts = Parts::default();
    let mut header = None;
    let mut error = None;
    // The run does not need the header's fields.
    let mut doubt = None;
    let mut each = |number: u32, bytes: &[u8]| {
        if error.is_some() {
            return;
        }
        let read = match (&header, json_of(number, bytes)) {
            (_, Ok(None)) => Ok(()),
            (None, Ok(Some(value))) => header_of(value).map(|(read, words)| {
                header = Some(read);
                doubt = words.map(|words| wire::error(name, Some(number), words));
            }),
            (Some(_), Ok(Some(value))) => parts.take(value),
            (_, Err(words)) => Err(words),
        };
        if let Err(words) = read {
            error = Some(wire::error(name, Some(number), words));
        }
    };
    let split = each_line(bytes, slices, &mut each).await;
    if let Err(LineTooLong { line }) = split {
        let words = too_long();
        error.get_or_insert(wire::error(name, Some(line), words));
    }
    let Some(header) = header else {
        let error = error.unwrap_or_else(|| {
            let words = no_header();
            wire::error(name, None, words)
        });
        return (None, Some(error));
    };
    let recording = parts.recording().and_then(|recording| {
        let size = bytes.len().saturating_mul(recording.scenario.readers());
        if size > MAX_BYTES && recording.scenario.recorded.is_some() {
            return Err(too_large(size));
        }
        Ok(recording)
    });
    match recording {
        Ok(recording) => (
            Some(Trace {
                recording,
                ..header
            }),
            error.or(doubt),
        ),
        Err(words) => {
            let unread = || wire::error(name, None, words);
            (None, Some(error.unwrap_or_else(unread)))
        }
    }
}

/// Calls `each` for each line, in slices.
///
/// # Errors
/// A line is too long; the error states its number, and later lines are not read.
pub(super) async fn each_line(
    bytes: &[u8],
    slices: &Slices,
    each: &mut impl FnMut(u32, &[u8]),
) -> Result<(), LineTooLong> {
    let mut lines = LineSplitter::new(MAX_LINE);
    for chunk in bytes.chunks(CHUNK) {
        lines.push(chunk, &mut *each)?;
        slices.spend(chunk.len() / BYTES).await;
    }
    if let Some((number, rest)) = lines.finish() {
        each(number, &rest);
    }
    Ok(())
}

/// The content of all lines but the header.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) scenario: Option<Scenario>,
    /// The difference from a lesson's scenario; only in links.
    pub(super) change: Option<Value>,
    pub(super) inputs: Vec<RecordedInput>,
    list: Option<Value>,
    items: Vec<Value>,
    has_watch: bool,
    events: Vec<RecordedEvent>,
    /// How many of the inputs are responses of a cluster.
    responses: usize,
    /// The estimated memory of all lines, in bytes.
    weight: usize,
}

impl Parts {
    /// Adds the content of one line.
    pub(super) fn take(&mut self, value: Value) -> Result<(), Text> {
        self.weight = self.weight.saturating_add(bounds::weight(&value));
        if self.weight > MAX_READ {
            return Err(too_heavy());
        }
        let Value::Object(mut fields) = value else {
            return Err(no_line());
        };
        if let Some(op) = fields.get("op") {
            if op == "tell" {
                self.responses += 1;
                self.unpack(&mut fields);
            }
            if self.inputs.len() - self.responses.min(self.inputs.len()) == MAX_INPUTS {
                return Err(too_many("inputs", "输入", MAX_INPUTS));
            }
            if self.responses > MAX_RESPONSES {
                return Err(too_many("answers", "应答", MAX_RESPONSES));
            }
            self.inputs
                .push(taken(fields).map_err(|error| bad(&error))?);
            return Ok(());
        }
        let (Some(name), 1) = (fields.keys().next().cloned(), fields.len()) else {
            return Err(no_line());
        };
        let value = fields.remove(&name).unwrap_or_default();
        match &*name {
            "scenario" => self.scenario = Some(scenario(value).map_err(|error| bad(&error))?),
            "change" => self.change = Some(value),
            "list" => self.list = Some(value),
            "item" if self.items.len() == self.most_items() => {
                return Err(too_many("objects", "对象", self.most_items()));
            }
            "item" => {
                // Read here as well, so that an error is reported with its line.
                wire::list_of(Map::new().into(), vec![value.clone()])
                    .map_err(|error| error.message)?;
                self.items.push(value);
            }
            "watch" => self.has_watch = true,
            "event" if self.events.len() == MAX_EVENTS => {
                return Err(too_many("events", "事件", MAX_EVENTS));
            }
            "event" => {
                self.has_watch = true;
                self.events.push(event(value)?);
            }
            // What a tap has noted; the run does not need it.
            "tap" => {}
            _ => return Err(no_line()),
        }
        Ok(())
    }

    /// A cluster may have more objects than the file of one list.
    fn most_items(&self) -> usize {
        let source = self
            .scenario
            .as_ref()
            .map(|scenario| scenario.settings.source);
        if source == Some(SourceKind::Cluster) {
            MAX_RESPONSES
        } else {
            MAX_ITEMS
        }
    }

    /// Takes the objects of a response's pages from the preceding lines.
    fn unpack(&mut self, fields: &mut Map<String, Value>) {
        let responses = fields.get_mut("told").and_then(Value::as_array_mut);
        let pages = responses.into_iter().flatten();
        for page in pages.filter_map(|response| response.get_mut("page")?.as_object_mut()) {
            let count = page.remove("count").and_then(|count| count.as_u64());
            if let Some(count) = count.and_then(|count| usize::try_from(count).ok()) {
                let count = count.min(self.items.len());
                let items = self.items.drain(..count).collect();
                page.insert("items".to_owned(), Value::Array(items));
            }
        }
    }

    /// The inputs so far, which the caller keeps. The limits count anew: it has its own.
    pub(super) fn grown(&mut self) -> Vec<RecordedInput> {
        self.responses = 0;
        if self.items.is_empty() {
            self.weight = 0;
        }
        std::mem::take(&mut self.inputs)
    }

    /// The recording that the lines describe.
    fn recording(mut self) -> Result<Recording, Text> {
        let recorded = self.recorded()?;
        let Some(mut scenario) = self.scenario else {
            return Err(Text::new(
                "the trace has no line with a scenario. Export it again.",
                "运行记录中没有 scenario 这一行。请重新导出。",
            ));
        };
        scenario.recorded = recorded;
        scenario.bounded().map_err(|error| bad(&error))?;
        Ok(Recording {
            scenario,
            inputs: self.inputs,
        })
    }

    fn recorded(&mut self) -> Result<Option<Recorded>, Text> {
        if self.list.is_none() && !self.has_watch {
            return Ok(None);
        }
        let start = match self.list.take() {
            Some(list) => {
                let items = std::mem::take(&mut self.items);
                Some(wire::list_of(list, items).map_err(|error| error.message)?)
            }
            None => None,
        };
        Ok(Some(Recorded {
            start,
            events: std::mem::take(&mut self.events),
            has_watch: self.has_watch,
            error: None,
        }))
    }
}

/// Writes the lines of all inputs.
pub(super) fn inputs(text: &mut String, inputs: &[RecordedInput]) {
    for taken in inputs {
        self::input(text, taken);
    }
}

/// Writes the lines of an input.
pub fn input(text: &mut String, taken: &RecordedInput) {
    for line in lines(taken) {
        let _ = writeln!(text, "{line}");
    }
}

/// The lines of an input: first the objects of a cluster's lists, one per line.
pub fn lines(taken: &RecordedInput) -> impl Iterator<Item = Value> {
    let responses = match &taken.input {
        Input::Source(Command::Respond(responses)) => &**responses,
        _ => &[],
    };
    let items = response_items(responses).map(|item| named("item", item));
    // An input that was moved has no position yet.
    let after = (taken.after != usize::MAX).then_some(("after", taken.after as u64));
    let own = move || scenario::input(taken.at, after.as_slice(), &taken.input);
    items.chain(std::iter::once_with(own))
}

/// The lines of a trace before its inputs.
#[must_use]
pub fn head(trace: &Trace) -> String {
    let mut trace = trace.clone();
    trace.recording.inputs.clear();
    write(&trace)
}

pub(super) fn line(text: &mut String, name: &str, value: Value) {
    let _ = writeln!(text, "{}", named(name, value));
}

fn named(name: &str, value: Value) -> Value {
    let mut line = Map::new();
    line.insert(name.to_owned(), value);
    Value::Object(line)
}

/// The line in which a trace is cut off, if that is all that is wrong with it: its writer was stopped there.
#[must_use]
pub fn cut_off(name: &str, bytes: &[u8]) -> Option<u32> {
    let last = bytes.rsplit(|byte| *byte == b'\n').next()?;
    let whole = serde_json::from_slice::<IgnoredAny>(last);
    if last.is_empty() || !whole.is_err_and(|error| error.is_eof()) {
        return None;
    }
    let (Some(_), Some(error)) = read(name, bytes) else {
        return None;
    };
    let lines = bytes.split(|byte| *byte == b'\n').count();
    error.line.filter(|line| *line as usize == lines)
}

/// The JSON of a line; `None` if it is empty.
pub(super) fn json_of(number: u32, bytes: &[u8]) -> Result<Option<Value>, Text> {
    let bytes = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .filter(|_| number == 1)
        .unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    if bounds::weight_of_json(bytes) > MAX_READ {
        return Err(too_heavy());
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(Text::new(
            "the line is not UTF-8. Save the file as UTF-8, or export it again.",
            "这一行不是 UTF-8。请另存为 UTF-8，或重新导出。",
        ));
    };
    serde_json::from_str(text).map(Some).map_err(|error| {
        let (reason, column) = (wire::reason(&error), error.column());
        text!(
            "the line is not JSON ({reason}, column {column}). Mend or remove it, or export the trace again.",
            "这一行不是 JSON（{reason}，第 {column} 列）。请修正或删除，或重新导出运行记录。"
        )
    })
}

/// Reads an untrusted scenario and checks the cost of building it.
///
/// # Errors
/// States what is wrong with the scenario.
pub(super) fn scenario(mut value: Value) -> Result<Scenario, String> {
    let recorded = match value.as_object_mut() {
        Some(fields) => fields.remove("recorded"),
        None => None,
    };
    let mut scenario = Scenario::read(value)?;
    if let Some(recorded) = recorded {
        scenario.recorded = Some(recorded_of(recorded)?);
    }
    scenario.bounded()?;
    Ok(scenario)
}

/// Reads a recording that is written as one value.
fn recorded_of(value: Value) -> Result<Recorded, String> {
    let mut fields = Fields::of("what was recorded", value)?;
    let mut parts = Parts {
        list: fields.get("list")?,
        items: fields.get("items")?,
        ..Parts::default()
    };
    let events: Option<Vec<Value>> = fields.get("events")?;
    fields.done()?;
    parts.has_watch = events.is_some();
    for value in events.unwrap_or_default() {
        parts
            .events
            .push(event(value).map_err(|words| words.en.to_string())?);
    }
    let read = parts.recorded().map_err(|words| words.en.to_string())?;
    Ok(read.unwrap_or_default())
}

fn event(value: Value) -> Result<RecordedEvent, Text> {
    match value.get("cut").and_then(Value::as_u64) {
        Some(bytes) => Ok(RecordedEvent::Cut {
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        }),
        None => wire::event_of(value),
    }
}

fn taken(mut fields: Map<String, Value>) -> Result<RecordedInput, String> {
    let after: Option<usize> = match fields.remove("after") {
        Some(after) => Some(usize::read(after)?),
        None => None,
    };
    let Entry { at, input } = Entry::read(Value::Object(fields))?;
    Ok(RecordedInput {
        // Written by hand, without a position: its virtual time counts.
        after: after.unwrap_or(usize::MAX),
        at,
        input,
    })
}

/// Reads the header into an empty trace; also returns an error in the header's fields about the run.
pub(super) fn header_of(value: Value) -> Result<(Trace, Option<Text>), Text> {
    let version = value.get(NAME).cloned().unwrap_or_default();
    match version.as_u64() {
        Some(VERSION) => {}
        Some(later) if later > VERSION => {
            return Err(text!(
                "the trace has version {later}, and this page reads version {VERSION}. Open it with a newer page.",
                "运行记录的版本是 {later}，本页读取版本 {VERSION}。请用更新的页面打开。"
            ));
        }
        _ => return Err(no_header()),
    }
    let text = |name: &str| {
        let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
        bounds::beginning(text, MAX_TEXT)
    };
    let (at, start) = (text("at"), text("start"));
    let named = at.parse();
    let trace = Trace {
        lesson: text("lesson").into(),
        title: Text::new(text("titleEn"), text("titleZh")),
        at: named.as_ref().ok().cloned(),
        start: wall::read(start),
        recording: Recording::of(Scenario::default()),
    };
    let doubt = match named {
        Err(error) if value.get("at").is_some() => Some(no_moment(&error, at, "\"at\"", "\"at\" ")),
        _ if value.get("start").is_some() && trace.start.is_none() => Some(Text::new(
            "\"start\" is no time such as 2026-01-02T03:04:05.678Z. Mend or remove it.",
            "\"start\" 不是 2026-01-02T03:04:05.678Z 这样的时间。请修正或删除它。",
        )),
        _ => None,
    };
    Ok((trace, doubt))
}

pub(super) fn bad(error: &str) -> Text {
    let error = error.trim_end_matches('.');
    text!(
        "{error}. Mend the line, or export the trace again.",
        "{error}。请修正这一行，或重新导出运行记录。"
    )
}

fn no_header() -> Text {
    text!(
        "the first line of a trace is a header such as {{\"{NAME}\":{VERSION}}}. Export the trace again.",
        "运行记录的第一行是 {{\"{NAME}\":{VERSION}}} 这样的头部。请重新导出运行记录。"
    )
}

fn no_line() -> Text {
    Text::new(
        "a line of a trace has one of scenario, list, item, watch and event, or at and op. Mend or remove it.",
        "运行记录的每一行有 `scenario`、`list`、`item`、`watch`、`event` 之一，或 `at` 和 `op`。请修正或删除这一行。",
    )
}

pub(super) fn too_long() -> Text {
    text!(
        "the line is longer than {MAX_LINE} bytes. Is this a trace, with one thing a line?",
        "这一行超过 {MAX_LINE} 字节。这是每行一项的运行记录吗？"
    )
}

fn too_large(size: usize) -> Text {
    text!(
        "each informer beside reads what was recorded, which makes {size} bytes; the most is {MAX_BYTES}. Take informers out, or share a shorter run.",
        "旁边的每个 informer 都要读取录制，共 {size} 字节，最多 {MAX_BYTES} 字节。请减少 informer，或分享更短的运行。"
    )
}

fn too_heavy() -> Text {
    text!(
        "with this line there are so many small values that they would take more than {MAX_READ} bytes. Cut the file here.",
        "加上这一行，零碎的值太多，读取后将超过 {MAX_READ} 字节。请在这里截断文件。"
    )
}

fn too_many(en: &str, zh: &str, most: usize) -> Text {
    text!(
        "there are more than {most} {en}. Cut the file here.",
        "{zh}超过 {most} 个。请在这里截断文件。"
    )
}
