//! Recorded list and watch bodies: what a client read from a Kubernetes API server, as a file.
//!
//! A list is one JSON document; a watch is one JSON object a line. Both are taken as the server sent
//! them. What cannot be read is never a panic: [`Recorded::error`] says what, where and what to do,
//! and what came before it still plays.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value};

use crate::bounds::{self, MAX_CAUSES, MAX_READ, QUOTED};
use crate::slices::{Slices, at_once};
use crate::text::Text;
use deltascope_cache::fact::{EventType, Rv};

use super::pod::{Keep, trimmed};

pub use crate::bounds::shortened;
pub use crate::bounds::{MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// So many bytes are read before somebody asks whether that was enough for now; …
const CHUNK: usize = 16 << 10;
/// … so many cost as much as a fact.
const BYTES: usize = 128;
/// What the API server says of itself: it has no objects.
const NO_LISTS: [&str; 5] = [
    "APIVersions",
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIGroupDiscoveryList",
];

/// A recording, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The list it starts from; without one the store starts empty.
    pub start: Option<RecordedList>,
    /// What the watch brought, in order.
    pub events: Vec<RecordedEvent>,
    /// Whether there is a watch, be it one without events.
    pub has_watch: bool,
    /// What could not be read.
    pub error: Option<WireError>,
}

/// A list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedList {
    /// Its version; empty where the file has none (`kubectl get -o json`).
    pub rv: Rv,
    /// The kind of its items: `Pod`; empty where they tell it themselves.
    pub kind: String,
    /// The objects.
    pub items: Vec<Arc<DynamicObject>>,
    /// It is one page of several: the server had more.
    pub partial: bool,
}

/// One thing that a watch brought.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedEvent {
    /// `ADDED`, `MODIFIED` or `DELETED`.
    Object {
        /// Which of the three.
        event: EventType,
        /// The object.
        object: Arc<DynamicObject>,
    },
    /// `BOOKMARK`: a version and no object.
    Bookmark {
        /// The version.
        rv: Rv,
        /// It ends the initial events of a streaming list.
        initial_events_end: bool,
    },
    /// `ERROR`: a Status.
    Error {
        /// Its code; 0 where it has none.
        code: u16,
        /// Its reason: `Expired`.
        reason: String,
        /// Its text.
        message: String,
        /// The texts of its `details.causes`: one of them tells a version that is too large from any
        /// other timeout.
        causes: Vec<String>,
    },
    /// The connection broke inside a line.
    Cut {
        /// So many bytes of it had come.
        bytes: u32,
    },
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// What, where and what to do.
    pub message: Text,
    /// The line, from 1; none where it is about a whole file or several.
    pub line: Option<u32>,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for WireError {}

/// Reads a recording: a list, a watch, or a list and the watch that goes on from it (in any order);
/// each file with its name.
#[must_use]
pub fn open(files: &[(String, Vec<u8>)]) -> Recorded {
    at_once(open_slowly(files, &Slices::whole()))
}

/// The same in slices.
pub async fn open_slowly(files: &[(String, Vec<u8>)], slices: &Slices) -> Recorded {
    let mut recorded = Recorded::default();
    if let Err(error) = bounded(files) {
        recorded.error = Some(error);
        return recorded;
    }
    let mut watch = None;
    for (name, bytes) in files {
        match content(name, bytes, slices).await {
            Ok(Content::List(list)) if recorded.start.is_none() => recorded.start = Some(list),
            Ok(Content::Watch(lines)) if watch.is_none() => watch = Some((name, lines)),
            Ok(Content::List(_)) => return Recorded::failed(two_of_a_kind("lists", "列表")),
            Ok(Content::Watch(_)) => return Recorded::failed(two_of_a_kind("watches", "watch")),
            Err(error) => {
                // The first that fails is the one to mend.
                recorded.error.get_or_insert(error);
            }
        }
    }
    if let Some((name, lines)) = watch {
        if recorded.error.is_some() {
            // It goes on from a list that could not be read.
            return recorded;
        }
        let mut reader = WatchReader::new(name);
        for chunk in lines.chunks(CHUNK) {
            reader.feed(chunk);
            slices.spend(chunk.len() / BYTES).await;
        }
        (recorded.events, recorded.error) = reader.finish();
        recorded.has_watch = true;
    }
    recorded
}

/// Reads a recording that came as text; see [`open`].
#[must_use]
pub fn open_text(name: &str, text: &str) -> Recorded {
    open(&[(name.to_owned(), text.as_bytes().to_vec())])
}

/// Reads a watch as it comes, in chunks of any size.
#[derive(Debug)]
pub struct WatchReader {
    splitter: LineSplitter,
    decoder: Decoder,
}

impl WatchReader {
    /// For the watch of this name; the name is for messages.
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

    /// Takes a chunk; after an error nothing more is read.
    pub fn feed(&mut self, chunk: &[u8]) {
        let Self { splitter, decoder } = self;
        if decoder.error.is_some() {
            return;
        }
        if let Err(LineTooLong { line }) = splitter.feed(chunk, |line, bytes| {
            decoder.line(line, bytes);
        }) {
            decoder.fail(
                line,
                &format!("the line is longer than {MAX_LINE} bytes. No Kubernetes object is; is this a watch, with one event a line?"),
                &format!("这一行超过 {MAX_LINE} 字节。Kubernetes 对象没有这么大；这是每行一个事件的 watch 吗？"),
            );
        }
    }

    /// The events since the last time.
    pub fn take_events(&mut self) -> Vec<RecordedEvent> {
        std::mem::take(&mut self.decoder.events)
    }

    /// What went wrong, if anything did.
    #[must_use]
    pub fn error(&self) -> Option<&WireError> {
        self.decoder.error.as_ref()
    }

    /// The stream is over: the last events (the very last one may be [`RecordedEvent::Cut`]) and
    /// what went wrong.
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

/// Makes lines of chunks. Bytes go in and lines of bytes come out: a chunk may end inside a
/// character.
#[derive(Clone, Debug)]
pub struct LineSplitter {
    rest: Vec<u8>,
    limit: usize,
    lines: u32,
}

/// A line is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLong {
    /// Which, from 1.
    pub line: u32,
}

impl LineSplitter {
    /// With the most bytes that a line may have.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            rest: Vec::new(),
            limit,
            lines: 0,
        }
    }

    /// Takes a chunk; `each` gets the number of every line that is now whole (from 1), and its bytes
    /// without `\n`.
    ///
    /// # Errors
    ///
    /// A line is too long. What comes after it is not read.
    pub fn feed(
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

    /// The last line, if it has no `\n`.
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

impl Recorded {
    fn failed(error: WireError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}

/// What a file holds.
enum Content<'a> {
    List(RecordedList),
    /// Its lines.
    Watch(&'a [u8]),
}

/// Turns lines into events.
#[derive(Debug)]
struct Decoder {
    name: String,
    events: Vec<RecordedEvent>,
    count: usize,
    /// What its objects take, in bytes, about.
    weight: usize,
    /// A line that ends in the middle: fine when it is the last one.
    cut: Option<CutLine>,
    error: Option<WireError>,
}

#[derive(Clone, Copy, Debug)]
struct CutLine {
    line: u32,
    bytes: u32,
}

/// Why a line is no event.
enum Fault {
    /// It ends in the middle.
    Cut,
    /// English and Chinese.
    Bad(String, String),
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
                "the line ends in the middle of an event, and others follow. A watch has one JSON object a line: record it again, or put each event on one line (jq -c .).",
                "这一行在事件中间结束，后面还有内容。watch 每行一个 JSON 对象：请重新录制，或把每个事件写成一行（jq -c .）。",
            );
            return;
        }
        if self.count == MAX_EVENTS {
            self.fail(
                line,
                &format!("there are more than {MAX_EVENTS} events. Cut the file here, or record a shorter watch."),
                &format!("事件超过 {MAX_EVENTS} 个。请在这里截断文件，或录制更短的 watch。"),
            );
            return;
        }
        match decode(bytes) {
            Ok(event) => {
                self.weight = self.weight.saturating_add(weight(&event));
                if self.weight > MAX_READ {
                    let (en, zh) = too_heavy();
                    return self.fail(line, &en, &zh);
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
            Err(Fault::Bad(en, zh)) => self.fail(line, &en, &zh),
        }
    }

    fn fail(&mut self, line: u32, en: &str, zh: &str) {
        let (en, zh) = match self.count {
            0 => (en.to_owned(), zh.to_owned()),
            1 => (
                format!("{en} The event before it plays."),
                format!("{zh}它之前的 1 个事件照常播放。"),
            ),
            count => (
                format!("{en} The {count} events before it play."),
                format!("{zh}它之前的 {count} 个事件照常播放。"),
            ),
        };
        self.error = Some(error(&self.name, Some(line), &en, &zh));
    }
}

/// What an event takes, in bytes, about.
fn weight(event: &RecordedEvent) -> usize {
    match event {
        RecordedEvent::Object { object, .. } => bounds::weight(&object.data),
        _ => 0,
    }
}

/// What is said of lists and events that hold more than is kept, in English and Chinese.
pub fn too_heavy() -> (String, String) {
    (
        format!(
            "there are so many small values that they would take more than {MAX_READ} bytes. Record less: one namespace, or metadata only."
        ),
        format!(
            "零碎的值太多，读取后将超过 {MAX_READ} 字节。请录制更小的范围：一个命名空间，或仅元数据。"
        ),
    )
}

fn decode(bytes: &[u8]) -> Result<RecordedEvent, Fault> {
    if bounds::weight_of_json(bytes) > MAX_READ {
        let (en, zh) = too_heavy();
        return Err(Fault::Bad(en, zh));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| match error.error_len() {
        None => Fault::Cut,
        Some(_) => {
            let (en, zh) = not_utf8(error.valid_up_to() + 1);
            Fault::Bad(en, zh)
        }
    })?;
    let value: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            return Fault::Cut;
        }
        let reason = reason(&error);
        let column = error.column();
        Fault::Bad(
            format!("the line is not JSON ({reason}, column {column}). A watch has one JSON object a line: mend or remove it."),
            format!("这一行不是 JSON（{reason}，第 {column} 列）。watch 每行一个 JSON 对象：请修正或删除这一行。"),
        )
    })?;
    event_of(value).map_err(|words| Fault::Bad(words.en.to_string(), words.zh.to_string()))
}

/// Reads one event of a watch.
///
/// # Errors
/// Says what is wrong with it and what to do.
pub fn event_of(value: Value) -> Result<RecordedEvent, Text> {
    event_in(value, Keep::default()).map_err(|(en, zh)| Text {
        en: en.into(),
        zh: zh.into(),
    })
}

/// The same, with what is to be kept of its object; the error is English and Chinese.
pub(super) fn event_in(value: Value, keep: Keep) -> Result<RecordedEvent, (String, String)> {
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
            return Err((
                format!(
                    "the event type {other} is unknown. It is one of ADDED, MODIFIED, DELETED, BOOKMARK and ERROR: mend or remove the line."
                ),
                format!(
                    "未知的事件类型 {other}。类型只有 ADDED、MODIFIED、DELETED、BOOKMARK 和 ERROR：请修正或删除这一行。"
                ),
            ));
        }
    };
    let Some(Value::Object(object)) = object else {
        return Err((
            format!("the {kind} event has no object. Record the watch again, or remove the line."),
            format!("{kind} 事件没有 object。请重新录制，或删除这一行。"),
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
            let object = whole(object, None, keep).map_err(|(en, zh)| {
                (
                    format!("the object of the {kind} event cannot be used: {en}. Mend or remove the line."),
                    format!("{kind} 事件的对象无法使用：{zh}。请修正或删除这一行。"),
                )
            })?;
            Ok(RecordedEvent::Object {
                event,
                object: Arc::new(object),
            })
        }
    }
}

/// A bookmark is never read as an object: of pods it holds `"spec":{"containers":null}`.
fn bookmark(object: &Map<String, Value>) -> Result<RecordedEvent, (String, String)> {
    let metadata = object.get("metadata");
    let rv = metadata
        .and_then(|metadata| metadata.get("resourceVersion"))
        .and_then(Value::as_str)
        .filter(|rv| !rv.is_empty());
    let Some(rv) = rv else {
        return Err((
            "the BOOKMARK event has no metadata.resourceVersion, and nothing else is in a bookmark. Remove the line.".to_owned(),
            "BOOKMARK 事件没有 metadata.resourceVersion，而 BOOKMARK 只有这一项。请删除这一行。".to_owned(),
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

/// An object that has a name; the error is English and Chinese, without a full stop.
pub(super) fn whole(
    fields: Map<String, Value>,
    types: Option<&TypeMeta>,
    keep: Keep,
) -> Result<DynamicObject, (String, String)> {
    let object = trimmed(fields, types, keep).map_err(|error| {
        let error = shortened(&error);
        (error.clone(), error)
    })?;
    if object
        .metadata
        .name
        .as_deref()
        .unwrap_or_default()
        .is_empty()
    {
        return Err((
            "it has no metadata.name".to_owned(),
            "它没有 metadata.name".to_owned(),
        ));
    }
    Ok(object)
}

fn bounded(files: &[(String, Vec<u8>)]) -> Result<(), WireError> {
    let count = files.len();
    if count == 0 {
        return Err(error(
            "",
            None,
            "There is no file. Open a recorded list, a recorded watch, or both.",
            "没有文件。请打开录制的列表、watch，或两者。",
        ));
    }
    if count > 2 {
        return Err(error(
            "",
            None,
            &format!("These are {count} files. Open a list, a watch, or one list with its watch."),
            &format!("共有 {count} 个文件。请打开一个列表、一个 watch，或一个列表和它的 watch。"),
        ));
    }
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    if size > MAX_BYTES {
        return Err(error(
            "",
            None,
            &format!(
                "The recording has {size} bytes; at most {MAX_BYTES} are read. Record one namespace, or with Accept: application/json;as=PartialObjectMetadataList."
            ),
            &format!(
                "录制共 {size} 字节，最多读取 {MAX_BYTES} 字节。请只录制一个命名空间，或使用 Accept: application/json;as=PartialObjectMetadataList。"
            ),
        ));
    }
    Ok(())
}

async fn content<'a>(
    name: &str,
    bytes: &'a [u8],
    slices: &Slices,
) -> Result<Content<'a>, WireError> {
    let fail = |line, en: &str, zh: &str| Err(error(name, line, en, zh));
    // Through a text decoder the second byte becomes U+FFFD.
    if bytes.starts_with(b"\x1f\x8b") || bytes.starts_with("\u{1f}\u{fffd}".as_bytes()) {
        return fail(
            None,
            "the file is compressed (gzip). Unpack it first (gunzip), or record with curl --compressed.",
            "文件是压缩的（gzip）。请先解压（gunzip），或用 curl --compressed 录制。",
        );
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return fail(
            None,
            "the file is UTF-16 (PowerShell writes it so with >). Save it as UTF-8.",
            "文件是 UTF-16 编码（PowerShell 的 > 会这样写）。请另存为 UTF-8。",
        );
    }
    let json = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let begin = json.trim_ascii_start();
    let line = line_at(json, json.len() - begin.len());
    match begin.first() {
        None => {
            return fail(
                None,
                "the file is empty. A watch to which nothing happened looks like this: open its list alone.",
                "文件是空的。没有发生任何事情的 watch 就是这样：请只打开它的列表。",
            );
        }
        Some(b'{') => {}
        Some(b'<') => {
            return fail(
                Some(line),
                "this is a page of HTML, not an answer of the API server. Record the URL of a list or a watch, such as /api/v1/pods?watch=true.",
                "这是 HTML 页面，不是 API server 的应答。请录制列表或 watch 的 URL，例如 /api/v1/pods?watch=true。",
            );
        }
        Some(b'[') => {
            return fail(
                Some(line),
                "this is a JSON array. A list is a JSON object with kind and items; a watch has one JSON object a line (jq -c '.[]' makes lines of an array of events).",
                "这是 JSON 数组。列表是带有 kind 和 items 的 JSON 对象；watch 每行一个 JSON 对象（jq -c '.[]' 可把事件数组变成多行）。",
            );
        }
        Some(_) => {
            let text = quoted_line(begin);
            return fail(
                Some(line),
                &format!(
                    "this is plain text, not JSON: {text}. Record a list or a watch as JSON (kubectl get --raw, or -o json)."
                ),
                &format!(
                    "这是纯文本，不是 JSON：{text}。请把列表或 watch 录制为 JSON（kubectl get --raw 或 -o json）。"
                ),
            );
        }
    }
    if is_watch(begin) {
        return Ok(Content::Watch(bytes));
    }
    document(name, json, slices).await.map(Content::List)
}

/// Whether the first key of the object is one of a watch event's two. A document has others, also
/// with its keys in order (`apiVersion`); and a key cut short in the only line is a watch's.
fn is_watch(object: &[u8]) -> bool {
    let Some(rest) = object.strip_prefix(b"{") else {
        return false;
    };
    let key = rest.trim_ascii_start();
    if key.is_empty() {
        return rest.is_empty();
    }
    [&b"\"type\""[..], b"\"object\""]
        .iter()
        .any(|name| key.starts_with(name) || name.starts_with(key))
}

/// Where the parts of a document stand in its text.
#[derive(Debug, Default)]
struct Parts {
    /// What is between the brackets of its items.
    around: Option<Range<usize>>,
    /// Each of them, what is between two commas: no more than [`MAX_ITEMS`] and one.
    items: Vec<Range<usize>>,
    /// How many there are.
    count: usize,
    /// Where it has items once more.
    again: Option<usize>,
    /// Where it ends; nothing where the text ends before.
    end: Option<usize>,
}

impl Parts {
    /// Looks through a text that begins with a brace.
    async fn of(text: &str, slices: &Slices) -> Self {
        let bytes = text.as_bytes();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut parts = Self::default();
        // The last string; where the items begin, and one of them, while this is in them.
        let (mut string, mut begin, mut item) = (0..0, None, None);
        for (chunk, from) in bytes.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
            for (&byte, at) in chunk.iter().zip(from..) {
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => {
                            in_string = false;
                            string.end = at;
                        }
                        _ => {}
                    }
                    continue;
                }
                if let (Some(start), 2) = (begin, depth) {
                    match byte {
                        // Where there is none, the comma or bracket stands in its place.
                        b',' => parts.add(item.take().map_or(at..at + 1, |start| start..at)),
                        b']' => {
                            match item.take() {
                                Some(start) => parts.add(start..at),
                                None if parts.count == 0 => {}
                                None => parts.add(at..at + 1),
                            }
                            parts.around = Some(start..at);
                            begin = None;
                        }
                        _ if byte.is_ascii_whitespace() => {}
                        _ => {
                            item.get_or_insert(at);
                        }
                    }
                }
                match byte {
                    b'"' => {
                        in_string = true;
                        string = at + 1..at + 1;
                    }
                    b'{' => depth += 1,
                    b'[' => {
                        if depth == 1 && text.get(string.clone()) == Some("items") {
                            if parts.around.is_some() {
                                parts.again.get_or_insert(at);
                            } else {
                                begin = Some(at + 1);
                            }
                        }
                        depth += 1;
                    }
                    b'}' | b']' => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            parts.end = Some(at + 1);
                            parts.cut(begin, item, at);
                            return parts;
                        }
                    }
                    _ => {}
                }
            }
            slices.spend(chunk.len() / BYTES).await;
        }
        parts.cut(begin, item, text.len());
        parts
    }

    fn add(&mut self, item: Range<usize>) {
        self.count += 1;
        if self.items.len() <= MAX_ITEMS {
            self.items.push(item);
        }
    }

    /// The document ends here, be it in its items, or in one of them.
    fn cut(&mut self, begin: Option<usize>, item: Option<usize>, end: usize) {
        if let Some(begin) = begin {
            if let Some(start) = item {
                self.add(start..end);
            }
            self.around = Some(begin..end);
        }
    }
}

/// One JSON document; only a list will do. Its items are read one by one: the JSON of all at once would
/// take some times what is kept of it, and as long as there is no pause.
async fn document(name: &str, bytes: &[u8], slices: &Slices) -> Result<RecordedList, WireError> {
    let fail =
        |at: usize, (en, zh): (String, String)| error(name, Some(line_at(bytes, at)), &en, &zh);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(wrong) => {
            let at = wrong.valid_up_to();
            return Err(fail(at, not_utf8(column_at(bytes, at))));
        }
    };
    let first = text.len() - text.trim_start().len();
    let parts = Parts::of(text, slices).await;
    let end = parts.end.unwrap_or(text.len());
    let is_found = parts.around.is_some();
    let around = parts.around.unwrap_or(end..end);
    let frame = [
        text.get(..around.start).unwrap_or_default(),
        text.get(around.end..end).unwrap_or_default(),
    ]
    .concat();
    if let Some(at) = parts.again {
        return Err(fail(at, items_twice()));
    }
    if frame.len() > MAX_LINE {
        return Err(fail(first, no_list_of_this_size(frame.len())));
    }
    if bounds::weight_of_json(frame.as_bytes()) > MAX_READ {
        return Err(fail(first, too_heavy()));
    }
    let mut late = None;
    let mut fields = Map::new();
    match serde_json::from_str::<Value>(&frame) {
        Ok(Value::Object(read)) => fields = read,
        Ok(_) => return Err(fail(first, nothing_to_play())),
        Err(wrong) => match place_of(&frame, &wrong) {
            at if at < around.start => return Err(fail(at, no_json(bytes, at, &wrong))),
            at => late = Some((at + around.len(), wrong)),
        },
    }
    let mut kind = "";
    if late.is_none() {
        let more = text.get(end..).unwrap_or_default().trim_start();
        if !more.is_empty() {
            return Err(fail(
                text.len() - more.len(),
                (
                    "a second document begins here. A list is one document; a watch has one event a line, each with type and object (kubectl get --raw '…?watch=true').".to_owned(),
                    "这里开始了第二个文档。列表只有一个文档；watch 每行一个事件，各有 type 和 object（kubectl get --raw '…?watch=true'）。".to_owned(),
                ),
            ));
        }
        kind = kind_of_list(&fields).map_err(|words| fail(first, words))?;
        // Others may come under an escaped name, or null after an array.
        let is_all = match fields.get("items") {
            Some(Value::Array(rest)) => is_found && rest.is_empty(),
            _ => !is_found,
        };
        if !is_all {
            return Err(fail(first, items_twice()));
        }
    }
    if let Some(item) = parts.items.get(MAX_ITEMS) {
        return Err(fail(item.start, too_many(parts.count)));
    }
    let types = types_of(&fields, kind);
    let mut items = Items::default();
    for (index, range) in parts.items.into_iter().enumerate() {
        let json = text.get(range.clone()).unwrap_or_default();
        let object = if json.len() > MAX_LINE {
            Err(too_large(json.len()))
        } else if bounds::weight_of_json(json.as_bytes()) > MAX_READ {
            return Err(fail(range.start, too_heavy()));
        } else {
            match serde_json::from_str(json) {
                Ok(item) => object_of(item, types.as_ref()),
                Err(wrong) => {
                    let at = range.start + place_of(json, &wrong);
                    return Err(fail(at, no_json(bytes, at, &wrong)));
                }
            }
        };
        slices.spend(json.len() / BYTES).await;
        match object {
            // The file is no JSON: only the first error in it is looked for.
            _ if late.is_some() => {}
            Ok(object) => items.add(object).map_err(|words| fail(first, words))?,
            Err(words) => return Err(fail(range.start, unusable(index, words))),
        }
    }
    if let Some((at, wrong)) = late {
        return Err(fail(at, no_json(bytes, at, &wrong)));
    }
    let kind = kind.to_owned();
    Ok(list_with(&fields, kind, items.objects))
}

/// The objects of a list, and what they hold.
#[derive(Default)]
struct Items {
    objects: Vec<Arc<DynamicObject>>,
    weight: usize,
}

impl Items {
    fn add(&mut self, object: Arc<DynamicObject>) -> Result<(), (String, String)> {
        self.weight = self.weight.saturating_add(bounds::weight(&object.data));
        if self.weight > MAX_READ {
            return Err(too_heavy());
        }
        self.objects.push(object);
        Ok(())
    }
}

/// What a list is of; its kind without `List`.
fn kind_of_list(fields: &Map<String, Value>) -> Result<&str, (String, String)> {
    let kind = text_of(fields, "kind").unwrap_or_default();
    match kind {
        "Status" => return Err(status(fields)),
        "Table" => return Err(table()),
        kind if NO_LISTS.contains(&kind) => return Err(discovery(kind)),
        "" if fields.contains_key("paths") => return Err(discovery("paths")),
        "" => return Err(nothing_to_play()),
        _ => {}
    }
    let Some(of) = kind.strip_suffix("List") else {
        let kind = quoted(kind);
        return Err((
            format!(
                "this is a single object of kind {kind}. Record the list of its kind, or a watch."
            ),
            format!("这是单个对象，kind 为 {kind}。请录制这一类的列表，或 watch。"),
        ));
    };
    match fields.get("items") {
        // Null is how Go writes a slice that was never made.
        Some(Value::Array(_) | Value::Null) => Ok(of),
        _ => {
            let kind = quoted(kind);
            Err((
                format!("the list of kind {kind} has no array items. Record it again."),
                format!("kind 为 {kind} 的列表没有 items 数组。请重新录制。"),
            ))
        }
    }
}

fn object_of(
    item: Value,
    types: Option<&TypeMeta>,
) -> Result<Arc<DynamicObject>, (String, String)> {
    match item {
        Value::Object(item) => whole(item, types, Keep::default()).map(Arc::new),
        _ => Err((
            "it is not a JSON object".to_owned(),
            "它不是 JSON 对象".to_owned(),
        )),
    }
}

fn unusable(index: usize, (en, zh): (String, String)) -> (String, String) {
    (
        format!("items[{index}] cannot be used: {en}. Mend it or record the list again."),
        format!("items[{index}] 无法使用：{zh}。请修正或重新录制列表。"),
    )
}

fn too_many(count: usize) -> (String, String) {
    (
        format!(
            "the list has {count} objects; at most {MAX_ITEMS} are shown. Record one namespace, or with a selector."
        ),
        format!(
            "列表有 {count} 个对象，最多显示 {MAX_ITEMS} 个。请只录制一个命名空间，或使用选择器。"
        ),
    )
}

fn too_large(size: usize) -> (String, String) {
    (
        format!("it has {size} bytes, and at most {MAX_LINE} are read"),
        format!("它有 {size} 字节，最多读取 {MAX_LINE} 字节"),
    )
}

fn no_list_of_this_size(size: usize) -> (String, String) {
    (
        format!(
            "this is not a list: {size} bytes stand beside its items. Record the list of a kind, or a watch."
        ),
        format!("这不是列表：除 items 外还有 {size} 字节。请录制某一类的列表，或 watch。"),
    )
}

fn items_twice() -> (String, String) {
    (
        "the list has items twice, or under an escaped name. Record it again.".to_owned(),
        "列表的 items 出现两次，或其名称带有转义。请重新录制。".to_owned(),
    )
}

fn no_json(bytes: &[u8], at: usize, wrong: &serde_json::Error) -> (String, String) {
    if at >= bytes.len() {
        return (
            "the file ends in the middle. Half a list would look like deletions: record it again."
                .to_owned(),
            "文件在中间结束。半个列表看起来就像删除：请重新录制。".to_owned(),
        );
    }
    let column = column_at(bytes, at);
    let (en, zh) = if wrong.is_eof() {
        (
            "the value ends in the middle".to_owned(),
            "值在中间结束".to_owned(),
        )
    } else {
        (reason(wrong), reason(wrong))
    };
    (
        format!("this is not JSON ({en}, column {column}). Mend it or record it again."),
        format!("这不是 JSON（{zh}，第 {column} 列）。请修正或重新录制。"),
    )
}

/// Where in a text it is that is wrong.
fn place_of(text: &str, wrong: &serde_json::Error) -> usize {
    if wrong.is_eof() {
        return text.len();
    }
    let before = text
        .split_inclusive('\n')
        .take(wrong.line().saturating_sub(1));
    before.map(str::len).sum::<usize>() + wrong.column().saturating_sub(1)
}

/// Items come without their types; a `List` of kubectl mixes kinds, and its items have them.
fn types_of(fields: &Map<String, Value>, kind: &str) -> Option<TypeMeta> {
    (!kind.is_empty()).then(|| TypeMeta {
        api_version: text_of(fields, "apiVersion").unwrap_or_default().to_owned(),
        kind: kind.to_owned(),
    })
}

fn list_with(
    fields: &Map<String, Value>,
    kind: String,
    items: Vec<Arc<DynamicObject>>,
) -> RecordedList {
    let metadata = fields.get("metadata");
    let of_list = |name| {
        metadata
            .and_then(|metadata| metadata.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    RecordedList {
        rv: of_list("resourceVersion").into(),
        kind,
        items,
        partial: !of_list("continue").is_empty(),
    }
}

/// Reads a list whose items stand apart from it: at most [`MAX_ITEMS`] of them.
///
/// # Errors
/// Says what is wrong with it and what to do.
pub fn list_of(list: Value, items: Vec<Value>) -> Result<RecordedList, WireError> {
    let fail = |(en, zh): (String, String)| error("", None, &en, &zh);
    let Value::Object(fields) = list else {
        return Err(fail(nothing_to_play()));
    };
    if items.len() > MAX_ITEMS {
        return Err(fail(too_many(items.len())));
    }
    let kind = text_of(&fields, "kind").unwrap_or_default();
    let kind = kind.strip_suffix("List").unwrap_or(kind).to_owned();
    let types = types_of(&fields, &kind);
    let mut read = Items::default();
    for (index, item) in items.into_iter().enumerate() {
        let object = object_of(item, types.as_ref());
        let object = object.map_err(|words| fail(unusable(index, words)))?;
        read.add(object).map_err(fail)?;
    }
    Ok(list_with(&fields, kind, read.objects))
}

fn line_at(bytes: &[u8], at: usize) -> u32 {
    let before = bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// Counted from one, in bytes.
fn column_at(bytes: &[u8], at: usize) -> usize {
    let line = bytes[..at].iter().rposition(|&byte| byte == b'\n');
    at - line.map_or(0, |end| end + 1) + 1
}

pub(super) fn text_of<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

pub(super) fn code(status: &Map<String, Value>) -> u16 {
    status
        .get("code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok())
        .unwrap_or_default()
}

/// The texts of the causes of a Status, reasons and messages alike.
pub(super) fn causes(status: &Map<String, Value>) -> Vec<String> {
    let causes = status.get("details").and_then(|of| of.get("causes"));
    let causes = causes.and_then(Value::as_array).into_iter().flatten();
    causes
        .flat_map(|cause| [cause.get("reason"), cause.get("message")])
        .filter_map(|text| text.and_then(Value::as_str))
        .filter(|text| !text.is_empty())
        .take(MAX_CAUSES)
        .map(str::to_owned)
        .collect()
}

/// serde_json's reason without its place, which is said elsewhere.
pub fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

/// An error in a file of this name; its words say where it is.
pub fn error(name: &str, line: Option<u32>, en: &str, zh: &str) -> WireError {
    let file = shortened(name);
    let message = match line {
        None if file.is_empty() => Text::new(en, zh),
        None => Text {
            en: format!("{file}: {en}").into(),
            zh: format!("{file}：{zh}").into(),
        },
        Some(line) if file.is_empty() => Text {
            en: format!("line {line}: {en}").into(),
            zh: format!("第 {line} 行：{zh}").into(),
        },
        Some(line) => Text {
            en: format!("{file}, line {line}: {en}").into(),
            zh: format!("{file} 第 {line} 行：{zh}").into(),
        },
    };
    WireError { message, line }
}

fn two_of_a_kind(en: &str, zh: &str) -> WireError {
    error(
        "",
        None,
        &format!("Both files are {en}. Open one of them, or one list with its watch."),
        &format!("两个文件都是{zh}。请只打开其中一个，或一个列表和它的 watch。"),
    )
}

fn not_utf8(column: usize) -> (String, String) {
    (
        format!(
            "byte {column} of the line is not UTF-8. Save the file as UTF-8, or record it again."
        ),
        format!("这一行的第 {column} 个字节不是 UTF-8。请另存为 UTF-8，或重新录制。"),
    )
}

fn not_an_event() -> (String, String) {
    (
        "the line is JSON but no watch event: it lacks type and object. Remove it, or record the watch again.".to_owned(),
        "这一行是 JSON，但不是 watch 事件：没有 type 和 object。请删除这一行，或重新录制。".to_owned(),
    )
}

fn nothing_to_play() -> (String, String) {
    (
        "this JSON is neither a list (kind and items) nor a watch (type and object on each line). Record a list or a watch of the API server.".to_owned(),
        "这段 JSON 既不是列表（kind 和 items），也不是 watch（每行有 type 和 object）。请录制 API server 的列表或 watch。".to_owned(),
    )
}

fn status(fields: &Map<String, Value>) -> (String, String) {
    let code = code(fields);
    let reason = shortened(text_of(fields, "reason").unwrap_or("no reason"));
    let message = quoted(text_of(fields, "message").unwrap_or_default());
    (
        format!(
            "the API server answered with an error: {code} {reason}, {message}. There is nothing to play: mend the request and record it again."
        ),
        format!(
            "API server 返回了错误：{code} {reason}，{message}。没有可播放的内容：请修正请求后重新录制。"
        ),
    )
}

fn table() -> (String, String) {
    (
        "this is a Table, made for printing: it has no objects. Record with Accept: application/json.".to_owned(),
        "这是用于打印的 Table，其中没有对象。请用 Accept: application/json 录制。".to_owned(),
    )
}

fn discovery(kind: &str) -> (String, String) {
    (
        format!(
            "this is a discovery document ({kind}): it says what the API server has. Record a list or a watch, such as /api/v1/pods."
        ),
        format!(
            "这是发现文档（{kind}）：它说明 API server 有哪些资源。请录制列表或 watch，例如 /api/v1/pods。"
        ),
    )
}

/// The first line of something that is not JSON, for a message.
fn quoted_line(bytes: &[u8]) -> String {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    // A character has at most four bytes.
    let line = &line[..line.len().min(4 * (QUOTED + 1))];
    quoted(String::from_utf8_lossy(line).trim_end())
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}
