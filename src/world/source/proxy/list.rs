//! Reads a list incrementally: each object is trimmed as soon as it is complete, so that the text of a list
//! of many megabytes is never in memory as a whole.

use std::sync::Arc;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value};

use crate::source::live::Page;
use crate::source::pod::Keep;
use crate::source::wire::{MAX_LINE, reason, text_of, whole};

use super::target::Target;

/// The most bytes of one answer: enough for those objects in full.
pub const MAX_LIST: usize = 512 << 20;
/// The most bytes outside of the items: a kind, a version and a token.
const MAX_FRAME: usize = 64 << 10;

/// A limit that an answer exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Objects: more than [`MAX_OBJECTS`](crate::source::live::MAX_OBJECTS).
    Objects,
    /// Bytes of an answer: more than [`MAX_LIST`].
    Bytes,
    /// Bytes of one object: more than [`MAX_LINE`].
    Object,
}

/// Why a list cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError {
    /// The list is valid but too large.
    Excess(Excess),
    /// The list is invalid; the reason.
    Bad(String),
}

/// Reads a list incrementally, in chunks of any size.
#[derive(Debug)]
pub struct ListReader {
    keep: Keep,
    /// How many objects can be kept.
    room: usize,
    /// The type of items without one, unless the list states it before them.
    types: TypeMeta,
    place: Place,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The text outside of the items.
    frame: Vec<u8>,
    /// The range of the last string in the frame.
    text: (usize, usize),
    /// The current, incomplete item.
    item: Vec<u8>,
    items: Vec<Arc<DynamicObject>>,
    has_items: bool,
    bytes: usize,
    error: Option<ListError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Outside of the items.
    Frame,
    /// Between two items.
    Between,
    /// Inside an item.
    Item,
}

impl ListReader {
    /// Creates a reader for answers of this target, for at most `room` objects.
    #[must_use]
    pub fn new(target: &Target, room: usize) -> Self {
        Self {
            keep: target.keep(),
            room,
            types: target.types(),
            place: Place::Frame,
            depth: 0,
            in_string: false,
            escaped: false,
            frame: Vec::new(),
            text: (0, 0),
            item: Vec::new(),
            items: Vec::new(),
            has_items: false,
            bytes: 0,
            error: None,
        }
    }

    /// How many objects are complete.
    #[must_use]
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// Reads a chunk; after an error chunks are ignored.
    ///
    /// # Errors
    /// Why this is not a list, or not one that can be kept.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), ListError> {
        self.push_with(chunk, |_| {})
    }

    /// Like [`push`](Self::push); `each` gets the bytes of every object that is complete now, before they are trimmed.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn push_with(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), ListError> {
        if self.error.is_none() && self.bytes + chunk.len() > MAX_LIST {
            self.error = Some(ListError::Excess(Excess::Bytes));
        }
        self.bytes += chunk.len();
        while self.error.is_none() && !chunk.is_empty() {
            chunk = &chunk[self.some_of(chunk, &mut each)..];
        }
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Ends the list and returns its page.
    ///
    /// # Errors
    /// Why this is not a list.
    pub fn finish(mut self) -> Result<Page, ListError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let frame = fields_of(&self.frame).map_err(|error| {
            let bytes = self.bytes;
            let error = format!("the answer is not a JSON list ({error}; {bytes} bytes came)");
            ListError::Bad(error)
        })?;
        let kind = text_of(&frame, "kind").unwrap_or_default();
        // Only checked at the end, because the kind may follow the items.
        if !kind.ends_with("List") || !self.has_items && !frame.contains_key("items") {
            let kind = crate::source::wire::shortened(kind);
            return Err(ListError::Bad(format!(
                "the answer is of kind {kind:?} and no list of objects"
            )));
        }
        let metadata = frame.get("metadata").and_then(Value::as_object);
        let text = |name| {
            metadata
                .and_then(|of| text_of(of, name))
                .unwrap_or_default()
        };
        Ok(Page {
            rv: text("resourceVersion").into(),
            continue_token: text("continue").into(),
            items: self.items.into(),
        })
    }

    /// Reads at least one byte; returns how many it has read.
    fn some_of(&mut self, chunk: &[u8], each: &mut impl FnMut(&[u8])) -> usize {
        match self.place {
            Place::Item => self.item_bytes(chunk, each),
            Place::Between => {
                match chunk[0] {
                    b']' => {
                        self.frame.push(b']');
                        self.depth -= 1;
                        self.place = Place::Frame;
                    }
                    b',' | b' ' | b'\n' | b'\r' | b'\t' => {}
                    _ => {
                        self.place = Place::Item;
                        return self.item_bytes(chunk, each);
                    }
                }
                1
            }
            Place::Frame => {
                let byte = chunk[0];
                if self.frame.len() == MAX_FRAME {
                    self.error = Some(ListError::Bad(format!(
                        "there are more than {MAX_FRAME} bytes around the objects of the list"
                    )));
                    return 1;
                }
                let opens_items = byte == b'['
                    && !self.in_string
                    && self.depth == 1
                    && &self.frame[self.text.0..self.text.1] == b"items";
                let begins = byte == b'"' && !self.in_string;
                self.follow(byte);
                self.frame.push(byte);
                if begins {
                    self.text.0 = self.frame.len();
                } else if byte == b'"' && !self.in_string {
                    self.text.1 = self.frame.len() - 1;
                }
                if begins {
                    self.text.1 = self.text.0;
                }
                if opens_items {
                    self.has_items = true;
                    self.place = Place::Between;
                    self.learn_types();
                }
                1
            }
        }
    }

    /// Collects the bytes of an item; reads it once it is complete.
    fn item_bytes(&mut self, chunk: &[u8], each: &mut impl FnMut(&[u8])) -> usize {
        let mut taken = chunk.len();
        let mut ends = false;
        for (at, &byte) in chunk.iter().enumerate() {
            let level = !self.in_string && self.depth == 2;
            // An item that is not an object ends before a comma or the end of the items.
            if level && matches!(byte, b',' | b']') {
                (taken, ends) = (at, true);
                break;
            }
            self.follow(byte);
            if !level && !self.in_string && self.depth == 2 && matches!(byte, b'}' | b']') {
                (taken, ends) = (at + 1, true);
                break;
            }
        }
        let number = self.items.len();
        if self.item.len() + taken > MAX_LINE {
            self.error = Some(ListError::Excess(Excess::Object));
            return taken.max(1);
        }
        self.item.extend_from_slice(&chunk[..taken]);
        if ends {
            self.place = Place::Between;
            if number == self.room {
                self.error = Some(ListError::Excess(Excess::Objects));
            } else if let Err(error) = self.read_item() {
                let error = format!("items[{number}] cannot be used: {error}");
                self.error = Some(ListError::Bad(error));
            } else {
                each(&self.item);
            }
            self.item.clear();
        }
        taken
    }

    /// Tracks the nesting.
    fn follow(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn read_item(&mut self) -> Result<(), String> {
        let fields = fields_of(&self.item)?;
        let object = whole(fields, Some(&self.types), self.keep);
        // An error may quote the object.
        let object = object.map_err(|words| match self.keep.redacted {
            true => "its metadata cannot be read".to_owned(),
            false => words.en.to_string(),
        })?;
        self.items.push(Arc::new(object));
        Ok(())
    }

    /// A server that cannot send metadata only sends whole objects, as its kind says; most servers write the
    /// kind first.
    fn learn_types(&mut self) {
        let mut frame = self.frame.clone();
        frame.extend_from_slice(b"]}");
        let Ok(frame) = fields_of(&frame) else {
            return;
        };
        let (kind, version) = (text_of(&frame, "kind"), text_of(&frame, "apiVersion"));
        if let (Some(kind), Some(version)) =
            (kind.and_then(|kind| kind.strip_suffix("List")), version)
            && !kind.is_empty()
        {
            self.types = TypeMeta {
                api_version: version.to_owned(),
                kind: kind.to_owned(),
            };
        }
    }
}

fn fields_of(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    // serde_json's own reader of bytes would be a second copy of its code.
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(reason(&error)),
    }
}

/// The total number of objects, from the answer to [`super::request::count`].
#[must_use]
pub fn count(body: &[u8]) -> Option<u64> {
    let list = fields_of(body).ok()?;
    let here = list.get("items")?.as_array().map_or(0, Vec::len) as u64;
    let more = list
        .get("metadata")
        .and_then(|of| of.get("remainingItemCount"));
    Some(here + more.and_then(Value::as_u64).unwrap_or_default())
}

/// The names of a list's objects, from the answer to [`super::request::namespaces`].
#[must_use]
pub fn names(body: &[u8]) -> Option<Vec<String>> {
    let list = fields_of(body).ok()?;
    let items = list.get("items")?.as_array().into_iter().flatten();
    let name = |item: &Value| Some(item.get("metadata")?.get("name")?.as_str()?.to_owned());
    Some(items.filter_map(name).collect())
}
