//! Reads a watch: one JSON object per line, in chunks of any size.

use crate::text;
use std::sync::Arc;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value};

use crate::bounds;
use crate::bounds::{MAX_EVENTS, MAX_LINE, MAX_READ, shortened};
use crate::source::pod::{Keep, trimmed};
use crate::text::Text;
use deltascope_cache::fact::EventType;

use super::{
    BOM, Mistake, RecordedEvent, WireError, causes, code, error, not_an_event, not_utf8, quoted,
    reason, status, table, text_of,
};

/// Reads a watch incrementally, in chunks of any size.
#[derive(Debug)]
pub struct WatchReader {
    splitter: LineSplitter,
    decoder: Decoder,
}

impl WatchReader {
    /// Creates a reader; `name` is used in messages.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            splitter: LineSplitter::new(MAX_LINE),
            decoder: Decoder {
                name: name.to_owned(),
                events: Vec::new(),
                count: 0,
                weight: 0,
                cut: None,
                error: None,
            },
        }
    }

    /// Reads a chunk; after an error chunks are ignored.
    pub fn push(&mut self, chunk: &[u8]) {
        let Self { splitter, decoder } = self;
        if decoder.error.is_some() {
            return;
        }
        if let Err(LineTooLong { line }) = splitter.push(chunk, |line, bytes| {
            decoder.line(line, bytes);
        }) {
            decoder.fail(
                line,
                text!(
                    "the line is longer than {MAX_LINE} bytes. No Kubernetes object is; is this a watch, with one event a line?",
                    "这一行超过 {MAX_LINE} 字节。Kubernetes 对象没有这么大；这是每行一个事件的 watch 吗？"
                ),
            );
        }
    }

    /// The error, if there was one.
    #[must_use]
    pub fn error(&self) -> Option<&WireError> {
        self.decoder.error.as_ref()
    }

    /// Ends the stream: returns the events (the last one may be [`RecordedEvent::Cut`]) and the
    /// error.
    #[must_use]
    pub fn finish(self) -> (Vec<RecordedEvent>, Option<WireError>) {
        let Self {
            splitter,
            mut decoder,
        } = self;
        if let Some((line, bytes)) = splitter.finish() {
            decoder.line(line, &bytes);
        }
        if decoder.error.is_none()
            && let Some(cut) = decoder.cut
        {
            decoder.events.push(RecordedEvent::Cut { bytes: cut.bytes });
        }
        (decoder.events, decoder.error)
    }
}

/// Splits chunks into lines of bytes, not of characters: a chunk may end inside a character.
#[derive(Clone, Debug)]
pub struct LineSplitter {
    rest: Vec<u8>,
    limit: usize,
    lines: u32,
}

/// A line exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLong {
    /// The number of the line, from 1.
    pub line: u32,
}

impl LineSplitter {
    /// Creates a splitter; `limit` is the longest line, in bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            rest: Vec::new(),
            limit,
            lines: 0,
        }
    }

    /// Splits a chunk; `each` receives the number of every line that is now complete (from 1), and its bytes
    /// without the line feed.
    ///
    /// # Errors
    ///
    /// A line is too long. The rest of the chunk is not read.
    pub fn push(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(u32, &[u8]),
    ) -> Result<(), LineTooLong> {
        while let Some(end) = chunk.iter().position(|&byte| byte == b'\n') {
            let head = &chunk[..end];
            chunk = &chunk[end + 1..];
            self.check(head)?;
            self.lines = self.lines.saturating_add(1);
            if self.rest.is_empty() {
                each(self.lines, head);
            } else {
                self.rest.extend_from_slice(head);
                each(self.lines, &self.rest);
                self.rest.clear();
            }
        }
        self.check(chunk)?;
        self.rest.extend_from_slice(chunk);
        Ok(())
    }

    /// The last line, if it does not end with a line feed.
    #[must_use]
    pub fn finish(self) -> Option<(u32, Vec<u8>)> {
        (!self.rest.is_empty()).then(|| (self.lines.saturating_add(1), self.rest))
    }

    fn check(&self, more: &[u8]) -> Result<(), LineTooLong> {
        if self.rest.len() + more.len() > self.limit {
            return Err(LineTooLong {
                line: self.lines.saturating_add(1),
            });
        }
        Ok(())
    }
}

/// Decodes lines into events.
#[derive(Debug)]
pub(super) struct Decoder {
    name: String,
    events: Vec<RecordedEvent>,
    count: usize,
    /// The estimated memory of the objects, in bytes.
    weight: usize,
    /// A line that ends in the middle: valid only as the last one.
    cut: Option<CutLine>,
    error: Option<WireError>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CutLine {
    line: u32,
    bytes: u32,
}

/// Why a line is not an event.
pub(super) enum Fault {
    /// The line ends in the middle.
    Cut,
    /// The line is wrong; the reason.
    Bad(Text),
}

impl Decoder {
    fn line(&mut self, line: u32, bytes: &[u8]) {
        let bytes = match bytes.strip_prefix(BOM) {
            Some(rest) if line == 1 => rest,
            _ => bytes,
        };
        if self.error.is_some() || bytes.trim_ascii().is_empty() {
            return;
        }
        if let Some(cut) = self.cut.take() {
            self.fail(
                cut.line,
                Text::new(
                    "the line ends in the middle of an event, and others follow. A watch has one JSON object a line: record it again, or put each event on one line (jq -c .).",
                    "这一行在事件中间结束，后面还有内容。watch 每行一个 JSON 对象：请重新录制，或把每个事件写成一行（jq -c .）。",
                ),
            );
            return;
        }
        if self.count == MAX_EVENTS {
            self.fail(
                line,
                text!(
                    "there are more than {MAX_EVENTS} events. Cut the file here, or record a shorter watch.",
                    "事件超过 {MAX_EVENTS} 个。请在这里截断文件，或录制更短的 watch。"
                ),
            );
            return;
        }
        match decode(bytes) {
            Ok(event) => {
                self.weight = self.weight.saturating_add(weight(&event));
                if self.weight > MAX_READ {
                    return self.fail(line, too_heavy());
                }
                self.count += 1;
                self.events.push(event);
            }
            Err(Fault::Cut) => {
                self.cut = Some(CutLine {
                    line,
                    bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                });
            }
            Err(Fault::Bad(words)) => self.fail(line, words),
        }
    }

    fn fail(&mut self, line: u32, words: Text) {
        let Text { en, zh } = &words;
        let words = match self.count {
            0 => words,
            1 => text!(
                "{en} The event before it plays.",
                "{zh}它之前的 1 个事件照常播放。"
            ),
            count => text!(
                "{en} The {count} events before it play.",
                "{zh}它之前的 {count} 个事件照常播放。"
            ),
        };
        self.error = Some(error(&self.name, Some(line), words));
    }
}

/// The estimated memory of an event, in bytes.
pub(super) fn weight(event: &RecordedEvent) -> usize {
    match event {
        RecordedEvent::Object { object, .. } => bounds::weight(&object.data),
        _ => 0,
    }
}

/// The message for lists and events that hold more than can be kept.
pub fn too_heavy() -> Text {
    text!(
        "there are so many small values that they would take more than {MAX_READ} bytes. Record less: one namespace, or metadata only.",
        "零碎的值太多，读取后将超过 {MAX_READ} 字节。请录制更小的范围：一个命名空间，或仅元数据。"
    )
}

pub(super) fn decode(bytes: &[u8]) -> Result<RecordedEvent, Fault> {
    if bounds::weight_of_json(bytes) > MAX_READ {
        return Err(Fault::Bad(too_heavy()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| match error.error_len() {
        None => Fault::Cut,
        Some(_) => Fault::Bad(not_utf8(error.valid_up_to() + 1)),
    })?;
    let value: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            return Fault::Cut;
        }
        let reason = reason(&error);
        let column = error.column();
        Fault::Bad(text!(
            "the line is not JSON ({reason}, column {column}). A watch has one JSON object a line: mend or remove it.",
            "这一行不是 JSON（{reason}，第 {column} 列）。watch 每行一个 JSON 对象：请修正或删除这一行。"
        ))
    })?;
    event_in(value, Keep::default()).map_err(|mistake| Fault::Bad(mistake.words()))
}

/// Reads one event of a watch.
///
/// # Errors
/// States what is wrong with the event and what to do.
pub fn event_of(value: Value) -> Result<RecordedEvent, Text> {
    event_in(value, Keep::default()).map_err(|mistake| mistake.words())
}

/// Reads an event and drops what `keep` excludes of its object.
pub(in crate::source) fn event_in(value: Value, keep: Keep) -> Result<RecordedEvent, Mistake> {
    let Value::Object(mut fields) = value else {
        return Err(not_an_event());
    };
    let object = fields.remove("object");
    let Some(kind) = text_of(&fields, "type") else {
        if text_of(&fields, "kind") == Some("Status") {
            return Err(status(&fields));
        }
        return Err(not_an_event());
    };
    let event = match kind {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => EventType::Bookmark,
        "ERROR" => EventType::Error,
        other => {
            let other = quoted(other);
            return Err(Mistake::new(
                text!(
                    "the event type {other} is unknown",
                    "未知的事件类型 {other}"
                ),
                Text::new(
                    "It is one of ADDED, MODIFIED, DELETED, BOOKMARK and ERROR: mend or remove the line.",
                    "类型只有 ADDED、MODIFIED、DELETED、BOOKMARK 和 ERROR：请修正或删除这一行。",
                ),
            ));
        }
    };
    let Some(Value::Object(object)) = object else {
        return Err(Mistake::new(
            text!("the {kind} event has no object", "{kind} 事件没有 object"),
            Text::new(
                "Record the watch again, or remove the line.",
                "请重新录制，或删除这一行。",
            ),
        ));
    };
    match event {
        EventType::Bookmark => bookmark(&object),
        EventType::Error => Ok(RecordedEvent::Error {
            code: code(&object),
            reason: text_of(&object, "reason").unwrap_or_default().to_owned(),
            message: text_of(&object, "message").unwrap_or_default().to_owned(),
            causes: causes(&object),
        }),
        EventType::Added | EventType::Modified | EventType::Deleted => {
            if text_of(&object, "kind") == Some("Table") {
                return Err(table());
            }
            let object = whole(object, None, keep).map_err(|Text { en, zh }| {
                Mistake::new(
                    text!(
                        "the object of the {kind} event cannot be used: {en}",
                        "{kind} 事件的对象无法使用：{zh}"
                    ),
                    Text::new("Mend or remove the line.", "请修正或删除这一行。"),
                )
            })?;
            Ok(RecordedEvent::Object {
                event,
                object: Arc::new(object),
            })
        }
    }
}

/// Reads a bookmark, never as an object: a bookmark of pods contains `"spec":{"containers":null}`.
pub(super) fn bookmark(object: &Map<String, Value>) -> Result<RecordedEvent, Mistake> {
    let metadata = object.get("metadata");
    let rv = metadata
        .and_then(|metadata| metadata.get("resourceVersion"))
        .and_then(Value::as_str)
        .filter(|rv| !rv.is_empty());
    let Some(rv) = rv else {
        return Err(Mistake::new(
            Text::new(
                "the BOOKMARK event has no metadata.resourceVersion, and nothing else is in a bookmark",
                "BOOKMARK 事件没有 metadata.resourceVersion，而 BOOKMARK 只有这一项",
            ),
            Text::new("Remove the line.", "请删除这一行。"),
        ));
    };
    let initial_events_end = metadata
        .and_then(|metadata| metadata.get("annotations"))
        .and_then(|annotations| annotations.get("k8s.io/initial-events-end"))
        .and_then(Value::as_str)
        == Some("true");
    Ok(RecordedEvent::Bookmark {
        rv: rv.into(),
        initial_events_end,
    })
}

/// Reads an object that must have a name; the error is without a full stop.
pub(in crate::source) fn whole(
    fields: Map<String, Value>,
    types: Option<&TypeMeta>,
    keep: Keep,
) -> Result<DynamicObject, Text> {
    let object = trimmed(fields, types, keep).map_err(|error| {
        let error = shortened(&error);
        Text::new(&error, &error)
    })?;
    if object
        .metadata
        .name
        .as_deref()
        .unwrap_or_default()
        .is_empty()
    {
        return Err(Text::new("it has no metadata.name", "它没有 metadata.name"));
    }
    Ok(object)
}
