//! A controller's log as a run: JSON Lines, of which only lines with the key `informer` are used.
//!
//! ```json
//! {"time":"2026-11-22T10:00:00.12Z","informer":{"type":"ADDED","initial":true,"object":{"metadata":{"name":"web-0", …}}}}
//! {"time":"2026-11-22T10:00:07Z","informer":{"type":"MODIFIED","object":{…}}}
//! {"ts":1763805610.5,"informer":{"type":"DELETED","object":{…}}}
//! ```
//!
//! `type` and `object` are those of a watch event; a `DeletedFinalStateUnknown` may replace the object.
//! Events with `initial` form the list; `{"informer":{"list":…}}` gives it as a server sends it. The `time`
//! (or `ts`, or `timestamp`) is RFC 3339 or a number: seconds or milliseconds since 1970, or milliseconds
//! since the start. Other fields and other lines are ignored.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::{Map, Value, json};

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::EventType;
use deltascope_cache::key::Key;
use deltascope_cache::map::Map as Ordered;
use deltascope_world::bounds::{self, MAX_READ};
use deltascope_world::fields::LATEST_MS;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope_world::source::pod::named;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::{
    self, LineSplitter, LineTooLong, MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE, RecordedEvent,
    WireError,
};
use deltascope_world::source::{Command, key_of};
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{HandlerSettings, InformerKind, Input, Settings, SourceKind};
use deltascope_world::{Time, text};

use super::recording::{RecordedInput, Recording};
use super::trace::{Trace, each_line, json_of};
use super::wall;

/// The key that marks a line to be used.
const KEY: &str = "informer";
/// The part of a file in which a line must identify it as a log, in bytes from its start.
const NEAR: usize = 1 << 20;
/// Virtual times at which the list arrives, the watch opens and the first event may arrive: the informer has
/// sent its requests by then.
const LIST_AT: Time = 50;
const OPEN_AT: Time = 100;
const EVENTS_AT: Time = 150;
/// The interval between lines without times, in ms.
const STEP_MS: Time = 500;

/// Whether a file is such a log; if so, [`read`] reports its errors.
#[must_use]
pub fn is_log(bytes: &[u8]) -> bool {
    let near = &bytes[..bytes.len().min(NEAR)];
    near.split(|&byte| byte == b'\n')
        .filter(|line| mentions(line))
        .any(|line| matches!(json_of(1, line), Ok(Some(value)) if value.get(KEY).is_some_and(Value::is_object)))
}

/// Whether a line may have the key.
fn mentions(line: &[u8]) -> bool {
    let name = format!("\"{KEY}\"");
    line.windows(name.len()).any(|part| part == name.as_bytes())
}

/// Reads a log up to its first error: a trace returned with an error holds the lines before it.
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
    let fail = |line, words: Text| wire::error(name, line, words);
    if bytes.len() > MAX_BYTES {
        return (None, Some(fail(None, too_large(bytes.len()))));
    }
    let mut log = Log::default();
    let mut error = None;
    let mut each = |number: u32, line: &[u8]| {
        if error.is_none()
            && let Err(words) = log.line(number, line)
        {
            error = Some(fail(Some(number), words));
        }
    };
    let split = each_line(bytes, slices, &mut each).await;
    if let Err(LineTooLong { line }) = split {
        error.get_or_insert(fail(Some(line), line_too_long()));
    }
    if log.initial.is_empty() && log.events.is_empty() && !log.has_list {
        return (None, Some(error.unwrap_or_else(|| fail(None, no_event()))));
    }
    (Some(log.trace(name)), error)
}

/// A call of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `Added`: `OnAdd`, `Modified`: `OnUpdate`, `Deleted`: `OnDelete`.
    pub event: EventType,
    /// The object's key.
    pub key: String,
    /// The object's version; empty where it is not known.
    pub rv: String,
    /// Whether the object is a tombstone.
    pub tombstone: bool,
}

/// A line of a log: what a handler says it was called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The number of the line, from 1: in the log that it is from.
    pub line: u32,
    /// The call.
    pub call: Call,
    /// The object's `apiVersion` and `kind`; empty where the line has none.
    pub kind: (String, String),
}

impl Logged {
    /// As a line of a log, with what is read of it and no more.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let Self { line, call, kind } = self;
        let (namespace, name) = named(&call.key);
        let mut object = json!({ "metadata": { "name": name } });
        for (field, text) in [("namespace", namespace), ("resourceVersion", &call.rv)] {
            if !text.is_empty() {
                object["metadata"][field] = text.into();
            }
        }
        if call.tombstone {
            object = json!({ "Key": call.key, "Obj": object });
        }
        let event = call.event.as_str();
        let mut informer = json!({ "line": line, "type": event, "object": object });
        for (field, text) in [("apiVersion", &kind.0), ("kind", &kind.1)] {
            if !text.is_empty() {
                informer[field] = text.as_str().into();
            }
        }
        json!({ KEY: informer })
    }
}

/// Reads what the handlers say, in the order of the lines, as the log grows. Unlike in a run, any line may follow any other: a
/// controller may have begun anew.
#[derive(Debug)]
pub struct Calls {
    name: String,
    lines: LineSplitter,
}

impl Calls {
    /// A log of this name, of which nothing has come.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            lines: LineSplitter::new(MAX_LINE),
        }
    }

    /// Reads what follows.
    ///
    /// # Errors
    /// States which line cannot be read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<Logged>, WireError> {
        let (mut calls, mut error) = (Vec::new(), None);
        let split = self
            .lines
            .push(bytes, |number, line| match call_of(number, line) {
                Ok(call) => calls.extend(call),
                Err(words) => {
                    error.get_or_insert((number, words));
                }
            });
        if let Err(LineTooLong { line }) = split {
            error.get_or_insert((line, line_too_long()));
        }
        match error {
            Some((line, words)) => Err(wire::error(&self.name, Some(line), words)),
            None => Ok(calls),
        }
    }
}

/// What the handlers say in a log that has ended.
///
/// # Errors
/// States which line cannot be read, or that none says anything.
pub fn read_calls(name: &str, bytes: &[u8]) -> Result<Vec<Logged>, WireError> {
    let fail = |words: Text| wire::error(name, None, words);
    if bytes.len() > MAX_BYTES {
        return Err(fail(too_large(bytes.len())));
    }
    let mut log = Calls::new(name);
    let mut calls = log.read(bytes)?;
    calls.extend(log.read(b"\n")?);
    match calls.is_empty() {
        true => Err(fail(no_event())),
        false => Ok(calls),
    }
}

/// What a line says; `None` where it is no handler's.
///
/// # Errors
/// Says what cannot be read.
pub fn call_of(number: u32, line: &[u8]) -> Result<Option<Logged>, Text> {
    if !mentions(line) {
        return Ok(None);
    }
    let Some((_, mut informer)) = fields_of(number, line)? else {
        return Ok(None);
    };
    if informer.contains_key("list") {
        return Ok(None);
    }
    // What a tap has kept of a log says which line it was.
    let given = informer.get("line").and_then(Value::as_u64);
    let line = given.and_then(|line| u32::try_from(line).ok());
    let tombstone = is_tombstone(&informer);
    let RecordedEvent::Object { event, object } = event_of(&mut informer)? else {
        return Ok(None);
    };
    let kind = object.types.as_ref();
    Ok(Some(Logged {
        line: line.unwrap_or(number),
        call: Call {
            event,
            key: key_of(&object).to_string(),
            rv: object.metadata.resource_version.clone().unwrap_or_default(),
            tombstone,
        },
        kind: kind.map_or_else(Default::default, |types| {
            (types.api_version.clone(), types.kind.clone())
        }),
    }))
}

#[derive(Default)]
struct Log {
    /// The time of the first line, and of the previous one.
    first: Option<Time>,
    last: Time,
    has_list: bool,
    rv: Arc<str>,
    initial: Ordered<Key, Arc<DynamicObject>>,
    events: Vec<(Time, RecordedEvent)>,
    /// The estimated memory of the objects, in bytes.
    weight: usize,
    /// The last version of each object.
    versions: Ordered<Key, String>,
}

impl Log {
    fn line(&mut self, number: u32, line: &[u8]) -> Result<(), Text> {
        let Some((fields, informer)) = fields_of(number, line)? else {
            return Ok(());
        };
        let at = self.time(&fields)?;
        self.informer(at, informer)
    }

    fn informer(&mut self, at: Time, mut informer: Map<String, Value>) -> Result<(), Text> {
        if let Some(list) = informer.remove("list") {
            return self.list(list);
        }
        let initial = informer.get("initial") == Some(&Value::Bool(true));
        let event = event_of(&mut informer)?;
        if let RecordedEvent::Object { event, object } = &event {
            self.weight = self.weight.saturating_add(bounds::weight(&object.data));
            if self.weight > MAX_READ {
                return Err(wire::too_heavy());
            }
            let key = key_of(object);
            let version = object.metadata.resource_version.clone().unwrap_or_default();
            let before = self.versions.insert(key.clone(), version.clone());
            if *event == EventType::Deleted {
                self.versions.swap_remove(&key);
            } else if *event == EventType::Modified
                && before.as_deref() == Some(&version)
                && !version.is_empty()
            {
                // A resync notified the handler again; the server has sent no event.
                return Ok(());
            }
            if initial && *event == EventType::Added {
                if !self.events.is_empty() {
                    return Err(late());
                }
                self.rv = newer(&self.rv, &version);
                if self.initial.len() == MAX_ITEMS {
                    return Err(text!(
                        "there are more than {MAX_ITEMS} objects in the initial list. Log one namespace, or with a selector.",
                        "初始列表中的对象超过 {MAX_ITEMS} 个。请只记录一个命名空间，或使用选择器。"
                    ));
                }
                self.initial.insert(key, Arc::clone(object));
                return Ok(());
            }
        }
        if self.events.len() == MAX_EVENTS {
            return Err(text!(
                "there are more than {MAX_EVENTS} events. Cut the log here.",
                "事件超过 {MAX_EVENTS} 个。请在这里截断日志。"
            ));
        }
        self.events.push((at, event));
        Ok(())
    }

    fn list(&mut self, mut list: Value) -> Result<(), Text> {
        if !self.events.is_empty() || self.has_list {
            return Err(late());
        }
        let items = match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let list = wire::list_of(list, items).map_err(|error| error.message)?;
        self.has_list = true;
        self.rv = list.rv;
        for object in list.items {
            let key = key_of(&object);
            let version = object.metadata.resource_version.clone().unwrap_or_default();
            self.versions.insert(key.clone(), version);
            self.initial.insert(key, object);
        }
        Ok(())
    }

    /// The time of a line, in ms since the first one; never before the previous line.
    fn time(&mut self, fields: &Map<String, Value>) -> Result<Time, Text> {
        let names = ["time", "ts", "timestamp"];
        let written = names.iter().find_map(|name| fields.get(*name));
        let at = match written {
            None => {
                let step = STEP_MS * Time::from(self.first.is_some());
                let first = self.first.unwrap_or_default();
                first.saturating_add(self.last).saturating_add(step)
            }
            Some(written) => moment(written).ok_or_else(|| {
                let written = wire::shortened(&written.to_string());
                text!(
                    "the time {written} cannot be read. Write it as in RFC 3339 (2026-11-22T10:00:00.5Z), or in ms.",
                    "时间 {written} 无法读取。请使用 RFC 3339（2026-11-22T10:00:00.5Z）或毫秒数。"
                )
            })?,
        };
        let first = *self.first.get_or_insert(at);
        self.last = at.saturating_sub(first).min(LATEST_MS / 2).max(self.last);
        Ok(self.last)
    }

    fn trace(self, name: &str) -> Trace {
        let settings = Settings {
            source: SourceKind::Cluster,
            informer: InformerKind::Shared,
            era: Generation::Atomic,
            watch_list: Some(false),
            indices: vec!["namespace".into()],
            handlers: vec![HandlerSettings {
                name: "handler".into(),
                ..HandlerSettings::default()
            }],
            ..Settings::default()
        };
        let page = Page {
            rv: self.rv,
            items: self.initial.into_values().collect(),
            continue_token: Arc::default(),
        };
        let mut responses = vec![
            (LIST_AT, 1, ResponsePart::Page(page)),
            (OPEN_AT, 2, ResponsePart::Opened),
        ];
        let mut over = false;
        for (at, event) in self.events {
            // Events after an error belong to another watch, whose start the log does not contain.
            if !over {
                over = matches!(event, RecordedEvent::Error { .. });
                responses.push((EVENTS_AT.max(at), 2, ResponsePart::Event(event)));
            }
        }
        let inputs = responses
            .into_iter()
            .map(|(at, request, part)| RecordedInput {
                after: usize::MAX,
                at,
                input: Input::Source(Command::Respond([ServerResponse { request, part }].into())),
            });
        Trace {
            lesson: Arc::default(),
            title: Text::new(name, name),
            at: None,
            // Smaller numbers do not count from 1970.
            start: self.first.filter(|first| *first as f64 >= MS_FROM),
            recording: Recording {
                scenario: Scenario {
                    settings,
                    ..Scenario::default()
                },
                inputs: inputs.collect(),
            },
        }
    }
}

/// The fields of a line, and those of its key `informer`; `None` for any other line.
fn fields_of(number: u32, line: &[u8]) -> Result<Option<Line>, Text> {
    // Plain text, like most lines of a log.
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if !text.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    let Some(Value::Object(mut fields)) = json_of(number, line)? else {
        return Ok(None);
    };
    Ok(match fields.remove(KEY) {
        Some(Value::Object(informer)) => Some((fields, informer)),
        _ => None,
    })
}

type Line = (Map<String, Value>, Map<String, Value>);

fn event_of(informer: &mut Map<String, Value>) -> Result<RecordedEvent, Text> {
    let mut event = Map::new();
    event.insert(
        "type".to_owned(),
        informer.remove("type").unwrap_or_default(),
    );
    event.insert("object".to_owned(), object_of(informer));
    wire::event_of(event.into())
}

fn is_tombstone(informer: &Map<String, Value>) -> bool {
    let object = informer.get("object");
    object.is_some_and(|object| object.get("Key").is_some() && object.get("Obj").is_some())
}

/// The object of a line. A missed deletion comes as a tombstone. A Go program omits the object's kind, which
/// may be a field of the line instead.
fn object_of(informer: &mut Map<String, Value>) -> Value {
    let mut object = informer.remove("object").unwrap_or_default();
    if object.get("Key").is_some()
        && let Some(inner) = object.get_mut("Obj")
    {
        object = inner.take();
    }
    if let Value::Object(fields) = &mut object {
        for name in ["apiVersion", "kind"] {
            if let Some(given) = informer.remove(name) {
                fields.entry(name).or_insert(given);
            }
        }
    }
    object
}

/// The version of a list without a logged one: the newest of its objects' versions.
fn newer(one: &Arc<str>, other: &str) -> Arc<str> {
    let number = |text: &str| text.parse::<u64>().unwrap_or_default();
    if number(other) >= number(one) {
        other.into()
    } else {
        Arc::clone(one)
    }
}

fn too_large(size: usize) -> Text {
    text!(
        "the log has {size} bytes; at most {MAX_BYTES} are read. Keep its last lines, or those of one kind.",
        "日志共 {size} 字节，最多读取 {MAX_BYTES} 字节。请只保留最后的若干行，或某一类对象的行。"
    )
}

fn line_too_long() -> Text {
    text!(
        "the line is longer than {MAX_LINE} bytes. Take it out.",
        "这一行超过 {MAX_LINE} 字节。请删除它。"
    )
}

fn no_event() -> Text {
    text!(
        "no line has the key {KEY:?} with an event. Log each as {{\"time\":…,\"{KEY}\":{{\"type\":\"ADDED\",\"object\":{{…}}}}}}.",
        "没有一行带有含事件的字段 {KEY:?}。请把每个事件记录为 {{\"time\":…,\"{KEY}\":{{\"type\":\"ADDED\",\"object\":{{…}}}}}}。"
    )
}

fn late() -> Text {
    Text::new(
        "a list comes after events, or after another list. Cut the log before this line, or begin with it.",
        "列表出现在事件或另一个列表之后。请在这一行之前截断日志，或从这一行开始。",
    )
}

/// Larger numbers would be seconds in the year 5138, smaller ones milliseconds in the 1970s.
const MS_FROM: f64 = 1e11;

/// Reads a time, in ms.
fn moment(written: &Value) -> Option<Time> {
    /// Smaller numbers are not seconds since 1970, but ms since the start.
    const SECONDS_FROM: f64 = 1e8;
    match written {
        Value::String(text) => wall::read(text),
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| *number >= 0.0)?;
            let seconds = (SECONDS_FROM..MS_FROM).contains(&number);
            // Larger values are clamped.
            Some(if seconds { number * 1_000.0 } else { number } as Time)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form_that_loggers_write() {
        for (written, ms) in [
            (json!("1970-01-01T00:00:00Z"), Some(0)),
            (json!("2026-11-22T10:00:00.12Z"), Some(1_795_341_600_120)),
            (
                json!("2026-11-22T18:00:00.120456789+08:00"),
                Some(1_795_341_600_120),
            ),
            (
                json!("2026-11-22 05:00:00,12-0500"),
                Some(1_795_341_600_120),
            ),
            (json!("2024-02-29T23:59:60Z"), Some(1_709_251_200_000)),
            (json!(1_795_341_600.12), Some(1_795_341_600_120)),
            (json!(1_795_341_600_120_u64), Some(1_795_341_600_120)),
            (json!(1_500), Some(1_500)),
            (json!(-1), None),
            (json!("2026-13-22T10:00:00Z"), None),
            (json!("2026-11-22T10:00:00"), None),
            (json!("2026-11-22T10:00:00+1"), None),
            (json!("yesterday"), None),
            (json!("二〇二六-11-22T10:00:00Z"), None),
            (json!(null), None),
        ] {
            assert_eq!(moment(&written), ms, "{written}");
        }
    }
}
