//! A place on the stage and its one text form, which `data-anchor`, links and scripts use.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::stage::{Panel, StateName, WorkPart};
use deltascope_cache::fact::LockName;
use deltascope_cache::key::Key;

/// A place on the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// A room.
    Room(Panel),
    /// A room as the entrance to its neighbour or the exit from it, where the room between the two is not shown.
    Door(Panel),
    /// The API server's resource version.
    ServerGauge,
    /// An object of the API server.
    Object(Key),
    /// A line on the watch stream, by its number.
    Line(u64),
    /// A program's call, by its number in the run, from 0.
    Call(u64),
    /// A state of the reflector.
    State(StateName),
    /// The reflector's requests.
    Requests,
    /// The resource version that the reflector synced last.
    LastSync,
    /// The event that the reflector has just received.
    Hand,
    /// A queued key's deltas.
    Column {
        /// The key.
        key: Key,
        /// FIFO: how many places of the same key are behind this one.
        behind: usize,
    },
    /// A queued key's place in the queue.
    QueuedKey {
        /// The key.
        key: Key,
        /// FIFO: how many places of the same key are behind this one.
        behind: usize,
    },
    /// A queued delta.
    Delta {
        /// Its key.
        key: Key,
        /// Its place among the key's deltas, the oldest first, from 0.
        index: usize,
    },
    /// An entry of a RealFIFO, by its place, from 0.
    Entry(usize),
    /// The `+N` of the items that do not fit into the queue's room.
    More,
    /// A lock.
    Lock(LockName),
    /// The item that was popped and is being processed.
    Slot,
    /// A delta of the popped item, by its place, from 0.
    PoppedDelta(usize),
    /// The item that was popped before.
    LastPopped,
    /// A delta of the item that was popped before.
    LastDelta,
    /// The store's resource version.
    StoreGauge,
    /// An item of the store.
    Item(Key),
    /// A key under a value of an index.
    IndexKey {
        /// The index.
        index: Arc<str>,
        /// The indexed value.
        value: Arc<str>,
        /// The key.
        key: Key,
    },
    /// A handler, or a place in it.
    Handler(u8, HandlerPlace),
    /// A part of the workqueue, or a key in it.
    Work(WorkPart, Option<Key>),
    /// The newest line of the output.
    LastLine,
    /// A line of the output, by its place among the lines that are kept, from 0.
    OutputLine(usize),
    /// The informers beside the one on the stage.
    Beside(BesidePart),
}

/// A place in a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerPlace {
    /// The whole handler.
    Whole,
    /// The notification whose sender waits.
    Sending,
    /// The notification that it handles.
    Running,
    /// A notification in its buffer, by its place, from 0.
    Pending(usize),
}

/// A part of the card of the informers beside the one on the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BesidePart {
    /// The whole card.
    Whole,
    /// The shared informers.
    Shared,
    /// The informers that are not shared.
    Alone,
    /// The store of one of them, or a key in it.
    Store(Option<Key>),
}

impl Anchor {
    /// The anchor of a key under a value of an index.
    #[must_use]
    pub fn index_key(index: &Arc<str>, value: &Arc<str>, key: &Key) -> Self {
        Self::IndexKey {
            index: Arc::clone(index),
            value: Arc::clone(value),
            key: key.clone(),
        }
    }

    /// The place that a text names; none if it names no place.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/');
        Some(match (parts.next()?, parts.next(), parts.next()) {
            ("room", Some(id), None) => Self::Room(Panel::named(id)?),
            ("door", Some(id), None) => Self::Door(Panel::named(id)?),
            ("api", Some("gauge"), None) => Self::ServerGauge,
            ("api", Some("object"), Some(key)) => Self::Object(key.into()),
            ("api", Some("stream"), Some(number)) => Self::Line(number.parse().ok()?),
            ("api", Some("call"), Some(number)) => Self::Call(number.parse().ok()?),
            ("reflector", Some("state"), Some(id)) => Self::State(StateName::named(id)?),
            ("reflector", Some("requests"), None) => Self::Requests,
            ("reflector", Some("lastsync"), None) => Self::LastSync,
            ("reflector", Some("hand"), None) => Self::Hand,
            ("queue", Some("column"), Some(place)) => {
                let (key, behind) = queued(place);
                Self::Column { key, behind }
            }
            ("queue", Some("key"), Some(place)) => {
                let (key, behind) = queued(place);
                Self::QueuedKey { key, behind }
            }
            ("queue", Some("delta"), Some(rest)) => {
                let (key, index) = rest.rsplit_once('/')?;
                Self::Delta {
                    key: key.into(),
                    index: place(index)?,
                }
            }
            ("queue", Some("entry"), Some(at)) => Self::Entry(place(at)?),
            ("queue", Some("more"), None) => Self::More,
            ("pop", Some("lock"), None) => Self::Lock(LockName::Queue),
            ("pop", Some("block"), None) => Self::Lock(LockName::BlockDeltas),
            ("pop", Some("slot"), None) => Self::Slot,
            ("pop", Some("delta"), Some(at)) => Self::PoppedDelta(place(at)?),
            ("pop", Some("last"), None) => Self::LastPopped,
            ("pop", Some("last"), Some("delta")) => Self::LastDelta,
            ("store", Some("gauge"), None) => Self::StoreGauge,
            ("store", Some("item"), Some(key)) => Self::Item(key.into()),
            ("store", Some("index"), Some(rest)) => {
                let mut parts = rest.splitn(3, '/');
                Self::IndexKey {
                    index: unescaped(parts.next()?).into(),
                    value: unescaped(parts.next()?).into(),
                    key: parts.next()?.into(),
                }
            }
            ("handler", Some(number), part) => {
                let place = match part {
                    None => HandlerPlace::Whole,
                    Some("sending") => HandlerPlace::Sending,
                    Some("running") => HandlerPlace::Running,
                    Some(part) => HandlerPlace::Pending(place(part.strip_prefix("pending/")?)?),
                };
                Self::Handler(number.parse().ok()?, place)
            }
            ("work", Some(part), key) => Self::Work(WorkPart::named(part)?, key.map(Key::from)),
            ("output", Some("last"), None) => Self::LastLine,
            ("output", Some("line"), Some(at)) => Self::OutputLine(place(at)?),
            ("beside", None, None) => Self::Beside(BesidePart::Whole),
            ("beside", Some("shared"), None) => Self::Beside(BesidePart::Shared),
            ("beside", Some("alone"), None) => Self::Beside(BesidePart::Alone),
            ("beside", Some("store"), key) => Self::Beside(BesidePart::Store(key.map(Key::from))),
            _ => return None,
        })
    }

    /// The room of this place.
    #[must_use]
    pub fn room(&self) -> Panel {
        match self {
            Self::Room(room) | Self::Door(room) => *room,
            Self::ServerGauge | Self::Object(_) | Self::Line(_) | Self::Call(_) => Panel::Api,
            Self::State(_) | Self::Requests | Self::LastSync | Self::Hand => Panel::Reflector,
            Self::Column { .. }
            | Self::QueuedKey { .. }
            | Self::Delta { .. }
            | Self::Entry(_)
            | Self::More => Panel::Queue,
            Self::Lock(_)
            | Self::Slot
            | Self::PoppedDelta(_)
            | Self::LastPopped
            | Self::LastDelta => Panel::Pop,
            Self::StoreGauge | Self::Item(_) | Self::IndexKey { .. } | Self::Beside(_) => {
                Panel::Indexer
            }
            Self::Handler(..) | Self::Work(..) | Self::LastLine | Self::OutputLine(_) => {
                Panel::Processor
            }
        }
    }

    /// The key of the object at this place, if it names one.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Object(key)
            | Self::Column { key, .. }
            | Self::QueuedKey { key, .. }
            | Self::Delta { key, .. }
            | Self::Item(key)
            | Self::IndexKey { key, .. } => Some(key),
            Self::Work(_, key) | Self::Beside(BesidePart::Store(key)) => key.as_ref(),
            Self::Room(_)
            | Self::Door(_)
            | Self::ServerGauge
            | Self::Line(_)
            | Self::Call(_)
            | Self::State(_)
            | Self::Requests
            | Self::LastSync
            | Self::Hand
            | Self::Entry(_)
            | Self::More
            | Self::Lock(_)
            | Self::Slot
            | Self::PoppedDelta(_)
            | Self::LastPopped
            | Self::LastDelta
            | Self::StoreGauge
            | Self::Handler(..)
            | Self::LastLine
            | Self::OutputLine(_)
            | Self::Beside(BesidePart::Whole | BesidePart::Shared | BesidePart::Alone) => None,
        }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(room) => write!(f, "room/{}", room.id()),
            Self::Door(room) => write!(f, "door/{}", room.id()),
            Self::ServerGauge => f.write_str("api/gauge"),
            Self::Object(key) => write!(f, "api/object/{key}"),
            Self::Line(number) => write!(f, "api/stream/{number}"),
            Self::Call(number) => write!(f, "api/call/{number}"),
            Self::State(state) => write!(f, "reflector/state/{}", state.id()),
            Self::Requests => f.write_str("reflector/requests"),
            Self::LastSync => f.write_str("reflector/lastsync"),
            Self::Hand => f.write_str("reflector/hand"),
            Self::Column { key, behind: 0 } => write!(f, "queue/column/{key}"),
            Self::Column { key, behind } => write!(f, "queue/column/{key}#{behind}"),
            Self::QueuedKey { key, behind: 0 } => write!(f, "queue/key/{key}"),
            Self::QueuedKey { key, behind } => write!(f, "queue/key/{key}#{behind}"),
            Self::Delta { key, index } => write!(f, "queue/delta/{key}/{index}"),
            Self::Entry(at) => write!(f, "queue/entry/{at}"),
            Self::More => f.write_str("queue/more"),
            Self::Lock(LockName::Queue) => f.write_str("pop/lock"),
            Self::Lock(LockName::BlockDeltas) => f.write_str("pop/block"),
            Self::Slot => f.write_str("pop/slot"),
            Self::PoppedDelta(at) => write!(f, "pop/delta/{at}"),
            Self::LastPopped => f.write_str("pop/last"),
            Self::LastDelta => f.write_str("pop/last/delta"),
            Self::StoreGauge => f.write_str("store/gauge"),
            Self::Item(key) => write!(f, "store/item/{key}"),
            Self::IndexKey { index, value, key } => {
                let (index, value) = (escaped(index), escaped(value));
                write!(f, "store/index/{index}/{value}/{key}")
            }
            Self::Handler(number, HandlerPlace::Whole) => write!(f, "handler/{number}"),
            Self::Handler(number, HandlerPlace::Sending) => write!(f, "handler/{number}/sending"),
            Self::Handler(number, HandlerPlace::Running) => write!(f, "handler/{number}/running"),
            Self::Handler(number, HandlerPlace::Pending(at)) => {
                write!(f, "handler/{number}/pending/{at}")
            }
            Self::Work(part, None) => write!(f, "work/{}", part.id()),
            Self::Work(part, Some(key)) => write!(f, "work/{}/{key}", part.id()),
            Self::LastLine => f.write_str("output/last"),
            Self::OutputLine(at) => write!(f, "output/line/{at}"),
            Self::Beside(BesidePart::Whole) => f.write_str("beside"),
            Self::Beside(BesidePart::Shared) => f.write_str("beside/shared"),
            Self::Beside(BesidePart::Alone) => f.write_str("beside/alone"),
            Self::Beside(BesidePart::Store(None)) => f.write_str("beside/store"),
            Self::Beside(BesidePart::Store(Some(key))) => write!(f, "beside/store/{key}"),
        }
    }
}

/// The unescaped texts that an old link may have for a key of an index (index, value and key, joined by slashes),
/// given how [`Anchor::read`] splits that link today.
#[must_use]
pub(crate) fn old_index_key(index: &str, value: &str, key: &str) -> [String; 2] {
    // In an old link an escape sequence may be part of the name, so both readings are returned.
    let escaped = [&*escaped(index), &*escaped(value), key];
    [[index, value, key], escaped].map(|parts| parts.join("/"))
}

fn place(text: &str) -> Option<usize> {
    text.parse().ok()
}

/// Splits `key#behind`. A Kubernetes name contains no `#`; any other name that ends in `#` and a number is taken
/// for this form.
fn queued(text: &str) -> (Key, usize) {
    if let Some((key, behind)) = text.rsplit_once('#')
        && !behind.starts_with(['0', '+'])
        && let Some(behind) = place(behind)
    {
        return (key.into(), behind);
    }
    (text.into(), 0)
}

/// Escapes one part of a path, so that a slash in it does not separate parts.
fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['/', '%']) {
        name.replace('%', "%25").replace('/', "%2F").into()
    } else {
        name.into()
    }
}

fn unescaped(part: &str) -> Cow<'_, str> {
    if part.contains('%') {
        part.replace("%2F", "/").replace("%25", "%").into()
    } else {
        part.into()
    }
}

#[cfg(test)]
mod tests;
