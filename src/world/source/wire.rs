//! Recorded list and watch bodies: responses of a Kubernetes API server, as files.
//!
//! A list is one JSON document; a watch is one JSON object per line. Both are read as the server sent them.
//! Unreadable input never panics: [`Recorded::error`] says what is wrong, where and what to do, and the
//! events before the error still play.

use std::fmt;
use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::{Map, Value};

use crate::bounds::{MAX_CAUSES, QUOTED};
use crate::slices::{Slices, at_once};
use crate::text;
use crate::text::Text;
use deltascope_cache::fact::{EventType, Rv};

pub use crate::bounds::shortened;
pub use crate::bounds::{MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE};

mod list;
mod stream;

use list::document;
pub use list::list_of;
pub use stream::{LineSplitter, LineTooLong, WatchReader, event_of, too_heavy};
pub(in crate::source) use stream::{event_in, whole};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// The number of bytes read between two checks whether the slice is over; …
const CHUNK: usize = 16 << 10;
/// … this many bytes cost about as much as one fact.
const BYTES: usize = 128;
/// Discovery documents of the API server: they look like lists but have no objects.
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
    /// The initial list; without one the store starts empty.
    pub start: Option<RecordedList>,
    /// The events of the watch, in order.
    pub events: Vec<RecordedEvent>,
    /// Whether there is a watch, possibly without events.
    pub has_watch: bool,
    /// The part that could not be read.
    pub error: Option<WireError>,
}

/// A list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedList {
    /// The version of the list; empty where the file has none (`kubectl get -o json`).
    pub rv: Rv,
    /// The kind of the items: `Pod`; empty where each item states its own kind.
    pub kind: String,
    /// The objects.
    pub items: Vec<Arc<DynamicObject>>,
    /// Whether it is one page of several: the server had more.
    pub partial: bool,
}

/// One item of a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedEvent {
    /// `ADDED`, `MODIFIED` or `DELETED`.
    Object {
        /// The type of the event.
        event: EventType,
        /// The object.
        object: Arc<DynamicObject>,
    },
    /// `BOOKMARK`: a version and no object.
    Bookmark {
        /// The version.
        rv: Rv,
        /// Whether it ends the initial events of a streaming list.
        initial_events_end: bool,
    },
    /// `ERROR`: a Status.
    Error {
        /// The code of the Status; 0 where it has none.
        code: u16,
        /// The reason: `Expired`.
        reason: String,
        /// The message.
        message: String,
        /// The texts of its `details.causes`: one of them distinguishes a too large resource version from
        /// other timeouts.
        causes: Vec<String>,
    },
    /// The connection broke inside a line.
    Cut {
        /// The number of bytes of the line that had arrived.
        bytes: u32,
    },
}

/// A recording, or a part of it, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong, where and what to do.
    pub message: Text,
    /// The line, from 1; `None` where the error concerns a whole file or several.
    pub line: Option<u32>,
}

/// What is wrong with a value, and, for a file, how to mend it.
pub(in crate::source) struct Mistake {
    /// Without a full stop.
    pub(in crate::source) what: Text,
    advice: Text,
}

impl Mistake {
    fn new(what: Text, advice: Text) -> Self {
        Self { what, advice }
    }

    fn words(&self) -> Text {
        let Self { what, advice } = self;
        text!(
            ("{}. {}", what.en, advice.en),
            ("{}。{}", what.zh, advice.zh)
        )
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for WireError {}

/// Reads a recording: a list, a watch, or a list and the watch that continues it (in any order). Each file
/// comes with its name.
#[must_use]
pub fn open(files: &[(String, Vec<u8>)]) -> Recorded {
    at_once(open_slowly(files, &Slices::whole()))
}

/// Reads a recording in slices; see [`open`].
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
                // The first error is the one to fix.
                recorded.error.get_or_insert(error);
            }
        }
    }
    if let Some((name, lines)) = watch {
        if recorded.error.is_some() {
            // The watch continues a list that could not be read.
            return recorded;
        }
        let mut reader = WatchReader::new(name);
        for chunk in lines.chunks(CHUNK) {
            reader.push(chunk);
            slices.spend(chunk.len() / BYTES).await;
        }
        (recorded.events, recorded.error) = reader.finish();
        recorded.has_watch = true;
    }
    recorded
}

/// Reads a recording from text; see [`open`].
#[must_use]
pub fn open_text(name: &str, text: &str) -> Recorded {
    open(&[(name.to_owned(), text.as_bytes().to_vec())])
}

impl Recorded {
    fn failed(error: WireError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}

/// The content of a file.
enum Content<'a> {
    List(RecordedList),
    /// The lines of the file.
    Watch(&'a [u8]),
}

fn bounded(files: &[(String, Vec<u8>)]) -> Result<(), WireError> {
    let count = files.len();
    if count == 0 {
        return Err(error(
            "",
            None,
            Text::new(
                "There is no file. Open a recorded list, a recorded watch, or both.",
                "没有文件。请打开录制的列表、watch，或两者。",
            ),
        ));
    }
    if count > 2 {
        return Err(error(
            "",
            None,
            text!(
                "These are {count} files. Open a list, a watch, or one list with its watch.",
                "共有 {count} 个文件。请打开一个列表、一个 watch，或一个列表和它的 watch。"
            ),
        ));
    }
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    if size > MAX_BYTES {
        return Err(error(
            "",
            None,
            text!(
                "The recording has {size} bytes; at most {MAX_BYTES} are read. Record one namespace, or with Accept: application/json;as=PartialObjectMetadataList.",
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
    let fail = |line, words: Text| Err(error(name, line, words));
    // A text decoder turns the second byte into U+FFFD.
    if bytes.starts_with(b"\x1f\x8b") || bytes.starts_with("\u{1f}\u{fffd}".as_bytes()) {
        return fail(
            None,
            Text::new(
                "the file is compressed (gzip). Unpack it first (gunzip), or record with curl --compressed.",
                "文件是压缩的（gzip）。请先解压（gunzip），或用 curl --compressed 录制。",
            ),
        );
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return fail(
            None,
            Text::new(
                "the file is UTF-16 (PowerShell writes it so with >). Save it as UTF-8.",
                "文件是 UTF-16 编码（PowerShell 的 > 会这样写）。请另存为 UTF-8。",
            ),
        );
    }
    let json = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let begin = json.trim_ascii_start();
    let line = line_at(json, json.len() - begin.len());
    match begin.first() {
        None => {
            return fail(
                None,
                Text::new(
                    "the file is empty. An idle watch gives an empty file: open the list that you took before it.",
                    "文件是空的。watch 期间什么都没发生，文件就是空的：请打开在它之前录下的列表。",
                ),
            );
        }
        Some(b'{') => {}
        Some(b'<') => {
            return fail(
                Some(line),
                Text::new(
                    "this is a page of HTML, not an answer of the API server. Record the URL of a list or a watch, such as /api/v1/pods?watch=true.",
                    "这是 HTML 页面，不是 API server 的应答。请录制列表或 watch 的 URL，例如 /api/v1/pods?watch=true。",
                ),
            );
        }
        Some(b'[') => {
            return fail(
                Some(line),
                Text::new(
                    "this is a JSON array. A list is a JSON object with kind and items; a watch has one JSON object a line (jq -c '.[]' makes lines of an array of events).",
                    "这是 JSON 数组。列表是带有 kind 和 items 的 JSON 对象；watch 每行一个 JSON 对象（jq -c '.[]' 可把事件数组变成多行）。",
                ),
            );
        }
        Some(_) => {
            let text = quoted_line(begin);
            return fail(
                Some(line),
                text!(
                    "this is plain text, not JSON: {text}. Record a list or a watch as JSON (kubectl get --raw, or -o json).",
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

/// Whether the object's first key is `type` or `object`, as in a watch event. A document begins with another
/// key, even with its keys sorted (`apiVersion`). If the only line is cut inside its first key, it is a
/// watch.
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

fn line_at(bytes: &[u8], at: usize) -> u32 {
    let before = bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// The column of a byte, from 1, in bytes.
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

/// The texts of a Status's causes: reasons and messages alike.
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

/// serde_json's message without the position, which is reported separately.
pub fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

/// An error in a file of this name; its message includes the position.
pub fn error(name: &str, line: Option<u32>, words: Text) -> WireError {
    let file = shortened(name);
    let Text { en, zh } = &words;
    let message = match line {
        None if file.is_empty() => words,
        None => text!("{file}: {en}", "{file}：{zh}"),
        Some(line) if file.is_empty() => text!("line {line}: {en}", "第 {line} 行：{zh}"),
        Some(line) => text!("{file}, line {line}: {en}", "{file} 第 {line} 行：{zh}"),
    };
    WireError { message, line }
}

fn two_of_a_kind(en: &str, zh: &str) -> WireError {
    error(
        "",
        None,
        text!(
            "Both files are {en}. Open one of them, or one list with its watch.",
            "两个文件都是{zh}。请只打开其中一个，或一个列表和它的 watch。"
        ),
    )
}

fn not_utf8(column: usize) -> Text {
    text!(
        "byte {column} of the line is not UTF-8. Save the file as UTF-8, or record it again.",
        "这一行的第 {column} 个字节不是 UTF-8。请另存为 UTF-8，或重新录制。"
    )
}

fn not_an_event() -> Mistake {
    Mistake::new(
        Text::new(
            "the line is JSON but no watch event: it lacks type and object",
            "这一行是 JSON，但不是 watch 事件：没有 type 和 object",
        ),
        Text::new(
            "Remove it, or record the watch again.",
            "请删除这一行，或重新录制。",
        ),
    )
}

fn nothing_to_play() -> Text {
    Text::new(
        "this JSON is neither a list (kind and items) nor a watch (type and object on each line). Record a list or a watch of the API server.",
        "这段 JSON 既不是列表（kind 和 items），也不是 watch（每行有 type 和 object）。请录制 API server 的列表或 watch。",
    )
}

fn status(fields: &Map<String, Value>) -> Mistake {
    let code = code(fields);
    let reason = shortened(text_of(fields, "reason").unwrap_or("no reason"));
    let message = quoted(text_of(fields, "message").unwrap_or_default());
    Mistake::new(
        text!(
            "the API server answered with an error: {code} {reason}, {message}",
            "API server 返回了错误：{code} {reason}，{message}"
        ),
        Text::new(
            "There is nothing to play: mend the request and record it again.",
            "没有可播放的内容：请修正请求后重新录制。",
        ),
    )
}

fn table() -> Mistake {
    Mistake::new(
        Text::new(
            "this is a Table, made for printing: it has no objects",
            "这是用于打印的 Table，其中没有对象",
        ),
        Text::new(
            "Record with Accept: application/json.",
            "请用 Accept: application/json 录制。",
        ),
    )
}

fn discovery(kind: &str) -> Text {
    text!(
        "this is a discovery document ({kind}): it says what the API server has. Record a list or a watch, such as /api/v1/pods.",
        "这是发现文档（{kind}）：它说明 API server 有哪些资源。请录制列表或 watch，例如 /api/v1/pods。"
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
