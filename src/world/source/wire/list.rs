//! Reads a list: one JSON document, its items one by one.

use crate::text;
use crate::text::Text;
use std::ops::Range;
use std::sync::Arc;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value};

use crate::bounds;
use crate::bounds::{MAX_ITEMS, MAX_LINE, MAX_READ};
use crate::slices::Slices;
use crate::source::pod::Keep;

use super::{
    BYTES, CHUNK, NO_LISTS, RecordedList, WireError, column_at, discovery, error, line_at,
    not_utf8, nothing_to_play, quoted, reason, status, table, text_of, too_heavy, whole,
};

/// The positions of a document's parts in its text.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The range between the brackets of `items`.
    around: Option<Range<usize>>,
    /// The range of each item, between two commas: at most [`MAX_ITEMS`] and one.
    items: Vec<Range<usize>>,
    /// The number of items.
    count: usize,
    /// The position of a second `items`.
    again: Option<usize>,
    /// The end of the document; `None` where the text ends earlier.
    end: Option<usize>,
}

impl Parts {
    /// Scans a text that begins with a brace.
    async fn of(text: &str, slices: &Slices) -> Self {
        let bytes = text.as_bytes();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut parts = Self::default();
        // The range of the last string; inside the items also where they and the current one begin.
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
                        // A missing item is represented by the comma or bracket in its place.
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

    /// The text ends here, possibly inside the items or inside one of them.
    fn cut(&mut self, begin: Option<usize>, item: Option<usize>, end: usize) {
        if let Some(begin) = begin {
            if let Some(start) = item {
                self.add(start..end);
            }
            self.around = Some(begin..end);
        }
    }
}

/// Reads one JSON document, which must be a list. Its items are read one by one: the JSON of all items at
/// once would take several times the memory of what is kept, without a pause.
pub(super) async fn document(
    name: &str,
    bytes: &[u8],
    slices: &Slices,
) -> Result<RecordedList, WireError> {
    let fail = |at: usize, words: Text| error(name, Some(line_at(bytes, at)), words);
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
                Text::new(
                    "a second document begins here. A list is one document; a watch has one event a line, each with type and object (kubectl get --raw '…?watch=true').",
                    "这里开始了第二个文档。列表只有一个文档；watch 每行一个事件，各有 type 和 object（kubectl get --raw '…?watch=true'）。",
                ),
            ));
        }
        kind = kind_of_list(&fields).map_err(|words| fail(first, words))?;
        // More items may come under an escaped name, or null may follow an array.
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
            // The file is not valid JSON: only its first error is still looked for.
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

/// The objects of a list and their weight.
#[derive(Default)]
pub(super) struct Items {
    objects: Vec<Arc<DynamicObject>>,
    weight: usize,
}

impl Items {
    fn add(&mut self, object: Arc<DynamicObject>) -> Result<(), Text> {
        self.weight = self.weight.saturating_add(bounds::weight(&object.data));
        if self.weight > MAX_READ {
            return Err(too_heavy());
        }
        self.objects.push(object);
        Ok(())
    }
}

/// The kind of a list's items: its own kind without `List`.
pub(super) fn kind_of_list(fields: &Map<String, Value>) -> Result<&str, Text> {
    let kind = text_of(fields, "kind").unwrap_or_default();
    match kind {
        "Status" => return Err(status(fields).words()),
        "Table" => return Err(table().words()),
        kind if NO_LISTS.contains(&kind) => return Err(discovery(kind)),
        "" if fields.contains_key("paths") => return Err(discovery("paths")),
        "" => return Err(nothing_to_play()),
        _ => {}
    }
    let Some(of) = kind.strip_suffix("List") else {
        let kind = quoted(kind);
        return Err(text!(
            "this is a single object of kind {kind}. Record the list of its kind, or a watch.",
            "这是单个对象，kind 为 {kind}。请录制这一类的列表，或 watch。"
        ));
    };
    match fields.get("items") {
        // Go writes a nil slice as null.
        Some(Value::Array(_) | Value::Null) => Ok(of),
        _ => {
            let kind = quoted(kind);
            Err(text!(
                "the list of kind {kind} has no array items. Record it again.",
                "kind 为 {kind} 的列表没有 items 数组。请重新录制。"
            ))
        }
    }
}

pub(super) fn object_of(item: Value, types: Option<&TypeMeta>) -> Result<Arc<DynamicObject>, Text> {
    match item {
        Value::Object(item) => whole(item, types, Keep::default()).map(Arc::new),
        _ => Err(Text::new("it is not a JSON object", "它不是 JSON 对象")),
    }
}

pub(super) fn unusable(index: usize, Text { en, zh }: Text) -> Text {
    text!(
        "items[{index}] cannot be used: {en}. Mend it or record the list again.",
        "items[{index}] 无法使用：{zh}。请修正或重新录制列表。"
    )
}

pub(super) fn too_many(count: usize) -> Text {
    text!(
        "the list has {count} objects; at most {MAX_ITEMS} are shown. Record one namespace, or with a selector.",
        "列表有 {count} 个对象，最多显示 {MAX_ITEMS} 个。请只录制一个命名空间，或使用选择器。"
    )
}

pub(super) fn too_large(size: usize) -> Text {
    text!(
        "it has {size} bytes, and at most {MAX_LINE} are read",
        "它有 {size} 字节，最多读取 {MAX_LINE} 字节"
    )
}

pub(super) fn no_list_of_this_size(size: usize) -> Text {
    text!(
        "this is not a list: {size} bytes stand beside its items. Record the list of a kind, or a watch.",
        "这不是列表：除 items 外还有 {size} 字节。请录制某一类的列表，或 watch。"
    )
}

pub(super) fn items_twice() -> Text {
    Text::new(
        "the list has items twice, or under an escaped name. Record it again.",
        "列表的 items 出现两次，或其名称带有转义。请重新录制。",
    )
}

pub(super) fn no_json(bytes: &[u8], at: usize, wrong: &serde_json::Error) -> Text {
    if at >= bytes.len() {
        return Text::new(
            "the file ends in the middle. Half a list would look like deletions: record it again.",
            "文件在中间结束。半个列表看起来就像删除：请重新录制。",
        );
    }
    let column = column_at(bytes, at);
    let Text { en, zh } = if wrong.is_eof() {
        Text::new("the value ends in the middle", "值在中间结束")
    } else {
        let reason = reason(wrong);
        Text::new(&reason, &reason)
    };
    text!(
        "this is not JSON ({en}, column {column}). Mend it or record it again.",
        "这不是 JSON（{zh}，第 {column} 列）。请修正或重新录制。"
    )
}

/// The position of a JSON error in a text.
pub(super) fn place_of(text: &str, wrong: &serde_json::Error) -> usize {
    if wrong.is_eof() {
        return text.len();
    }
    let before = text
        .split_inclusive('\n')
        .take(wrong.line().saturating_sub(1));
    before.map(str::len).sum::<usize>() + wrong.column().saturating_sub(1)
}

/// Items of a typed list have no types of their own; a `List` of kubectl mixes kinds, and each of its items
/// has them.
pub(super) fn types_of(fields: &Map<String, Value>, kind: &str) -> Option<TypeMeta> {
    (!kind.is_empty()).then(|| TypeMeta {
        api_version: text_of(fields, "apiVersion").unwrap_or_default().to_owned(),
        kind: kind.to_owned(),
    })
}

pub(super) fn list_with(
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

/// Reads a list whose items are stored apart from it: at most [`MAX_ITEMS`] of them.
///
/// # Errors
/// States what is wrong with the list and what to do.
pub fn list_of(list: Value, items: Vec<Value>) -> Result<RecordedList, WireError> {
    let fail = |words: Text| error("", None, words);
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
