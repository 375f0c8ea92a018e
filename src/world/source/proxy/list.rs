//! A list, read while it comes: each object is trimmed as soon as it is whole, so that a list of many
//! megabytes never lies in memory as text.

use std::sync::Arc;

use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value};

use crate::source::live::Page;
use crate::source::pod::Keep;
use crate::source::wire::{MAX_LINE, reason, text_of, whole};

use super::target::Target;

/// The most objects of one answer. A page with 10,000 of them stays smooth; a multiple of that is
/// kept, but takes the memory that a page has.
pub const MAX_OBJECTS: usize = 50_000;
/// The most bytes of one answer: those objects, with all that they have.
pub const MAX_LIST: usize = 512 << 20;
/// The most bytes around the objects: a kind, a version and a token.
const MAX_FRAME: usize = 64 << 10;

/// What there is more of than can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Objects: more than [`MAX_OBJECTS`].
    Objects,
    /// Bytes of an answer: more than [`MAX_LIST`].
    Bytes,
    /// Bytes of one object: more than [`MAX_LINE`].
    Object,
}

/// Why a list is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError {
    /// It is one, and there is no room for it.
    Excess(Excess),
    /// What is wrong with it.
    Bad(String),
}

/// Reads a list as it comes, in chunks of any size.
#[derive(Debug)]
pub struct ListReader {
    keep: Keep,
    /// How many objects there is room for.
    room: usize,
    /// What items without types are, unless the list says it before them.
    types: TypeMeta,
    place: Place,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// What stands around the items.
    frame: Vec<u8>,
    /// Where the last text of the frame begins and ends.
    text: (usize, usize),
    /// The item that is under way.
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
    /// For what was asked of this target, with room for so many objects.
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

    /// How many objects have come so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// Takes a chunk; after an error nothing more is read.
    ///
    /// # Errors
    /// Says why this is no list, or none that can be kept.
    pub fn source(&mut self, mut chunk: &[u8]) -> Result<(), ListError> {
        if self.error.is_none() && self.bytes + chunk.len() > MAX_LIST {
            self.error = Some(ListError::Excess(Excess::Bytes));
        }
        self.bytes += chunk.len();
        while self.error.is_none() && !chunk.is_empty() {
            chunk = &chunk[self.some_of(chunk)..];
        }
        self.error.clone().map_or(Ok(()), Err)
    }

    /// The list is whole.
    ///
    /// # Errors
    /// Says why this is no list.
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
        // A watch event's types stand before its object, a list's may stand after its items.
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

    /// Takes at least one byte, and says how many.
    fn some_of(&mut self, chunk: &[u8]) -> usize {
        match self.place {
            Place::Item => self.item_bytes(chunk),
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
                        return self.item_bytes(chunk);
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

    /// Takes what belongs to the item, and reads it where that was all of it.
    fn item_bytes(&mut self, chunk: &[u8]) -> usize {
        let mut taken = chunk.len();
        let mut ends = false;
        for (at, &byte) in chunk.iter().enumerate() {
            let level = !self.in_string && self.depth == 2;
            // What is no object ends before a comma, or the end of the items.
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
            }
            self.item.clear();
        }
        taken
    }

    /// Follows the nesting.
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
        // An error may quote what it does not like.
        let object = object.map_err(|(error, _)| match self.keep.redacted {
            true => "its metadata cannot be read".to_owned(),
            false => error,
        })?;
        self.items.push(Arc::new(object));
        Ok(())
    }

    /// A server that cannot do what was asked for says so with its kind; most write it first.
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
    // serde_json's own reader of bytes is another copy of all of it.
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(reason(&error)),
    }
}

/// How many objects there are, out of the answer to [`super::request::count`]; with selectors a
/// server does not say, and it is at least this.
#[must_use]
pub fn count(body: &[u8]) -> Option<u64> {
    let list = fields_of(body).ok()?;
    let here = list.get("items")?.as_array().map_or(0, Vec::len) as u64;
    let more = list
        .get("metadata")
        .and_then(|of| of.get("remainingItemCount"));
    Some(here + more.and_then(Value::as_u64).unwrap_or_default())
}

/// The names of the objects of a list, as [`super::request::namespaces`] asks for it.
#[must_use]
pub fn names(body: &[u8]) -> Option<Vec<String>> {
    let list = fields_of(body).ok()?;
    let items = list.get("items")?.as_array().into_iter().flatten();
    let name = |item: &Value| Some(item.get("metadata")?.get("name")?.as_str()?.to_owned());
    Some(items.filter_map(name).collect())
}
