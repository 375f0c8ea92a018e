//! The picture: everything the screen draws, as a fold of facts.
//!
//! The screen never reads the cache in the middle of an operation. It draws a [`Picture`], which is
//! made from nothing but the facts so far; `tests/fold.rs` holds it against the world after every
//! step, so the animation cannot lie.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::cache::delta::DeltaType;
pub use crate::cache::fact::ProcessMode;
use crate::cache::fact::{Actor, Body, Entry, EventType, Notification, ObjectRef, Rv};
use crate::cache::key::Key;

/// How many lines of the watch stream are kept: more than a screen shows, less than memory minds.
pub const STREAM_LINES: usize = 200;
/// How many lines of output are kept.
pub const OUTPUT_LINES: usize = 500;
/// How many notifications are kept for each handler.
pub const NOTIFICATIONS: usize = 500;

/// What the screen draws.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Picture {
    /// The API server's room.
    pub api: ApiRoom,
    /// The reflector's room.
    pub reflector: ReflectorRoom,
    /// The queue's room.
    pub queue: QueueRoom,
    /// The queue's lock.
    pub lock: LockState,
    /// Pop and the process function.
    pub pop: PopRoom,
    /// The store and its indices.
    pub store: StoreRoom,
    /// The handlers.
    pub handlers: Vec<HandlerRoom>,
    /// What the programs printed, the newest [`OUTPUT_LINES`].
    pub output: VecDeque<Arc<str>>,
}

/// What feeds the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Feed {
    /// A simulated API server, through a reflector.
    #[default]
    Server,
    /// A recording of a real API server, through a reflector.
    Recorded,
    /// A program that calls the queue itself: no server, no reflector.
    Program,
}

/// The API server, its objects and the watch stream.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiRoom {
    /// What stands in this room.
    pub feed: Feed,
    /// Its resource version.
    pub rv: Rv,
    /// Its objects in the order of their creation; deleted ones stay for [`DELETED_SHOWN`] writes.
    pub objects: IndexMap<Key, ApiObject>,
    /// The last lines of the watch stream, oldest first, at most [`STREAM_LINES`].
    pub stream: VecDeque<StreamLine>,
    /// The `resourceVersion` of the open watch.
    pub watch: Option<Rv>,
    /// A watch from before this version is answered with 410; empty when the history is whole.
    pub oldest: Rv,
}

/// How many deleted objects stay in sight, struck out.
pub const DELETED_SHOWN: usize = 2;

/// One object on the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiObject {
    /// Its key, version and UID.
    pub object: ObjectRef,
    /// What it is like.
    pub body: Body,
    /// It has been deleted and is shown struck out; it counts as gone.
    pub deleted: bool,
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sent, not yet taken by the reflector.
    Waiting,
    /// Taken by the reflector.
    Received,
    /// Lost when the connection broke.
    Lost,
}

/// One event on the watch stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLine {
    /// How many were sent before it, since the start.
    pub number: u64,
    /// Its type.
    pub event: EventType,
    /// Its object.
    pub object: ObjectRef,
    /// Where it is.
    pub delivery: Delivery,
}

/// What the reflector is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReflectorState {
    /// Nothing yet, or there is no reflector.
    #[default]
    Idle,
    /// Waiting for a list or putting it into the queue.
    List,
    /// Watching.
    Watch,
    /// Waiting before it tries again.
    Backoff,
    /// Over.
    Stopped,
}

/// The reflector.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReflectorRoom {
    /// What it is doing.
    pub state: ReflectorState,
    /// `LastSyncResourceVersion()`.
    pub last_sync: Rv,
    /// Events received.
    pub events: u64,
    /// Lists received.
    pub lists: u64,
    /// How long it waits, in ms, while it backs off.
    pub backoff_ms: u64,
    /// Whether a list comes next (the watch expired).
    pub relist: bool,
    /// The event that was taken off the stream and is not in the queue yet.
    pub in_hand: Option<(EventType, ObjectRef)>,
}

/// Which queue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QueueKind {
    /// FIFO
    Fifo,
    /// DeltaFIFO
    #[default]
    DeltaFifo,
    /// RealFIFO
    RealFifo,
}

impl QueueKind {
    /// Upstream's name of it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fifo => "FIFO",
            Self::DeltaFifo => "DeltaFIFO",
            Self::RealFifo => "RealFIFO",
        }
    }
}

/// The queue.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct QueueRoom {
    /// Which.
    pub kind: QueueKind,
    /// The keys in order, the next one first.
    pub keys: VecDeque<Key>,
    /// The deltas of each key, oldest first.
    pub deltas: BTreeMap<Key, Vec<(DeltaType, ObjectRef)>>,
    /// RealFIFO only: its entries, the next one first.
    pub entries: VecDeque<Entry>,
    /// Whether `Delete`, `Replace` and `Resync` can ask KnownObjects.
    pub known_objects: bool,
    /// Whether it was filled for the first time.
    pub populated: bool,
    /// `HasSynced()`.
    pub synced: bool,
    /// `IsClosed()`.
    pub closed: bool,
}

/// The queue's lock.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LockState {
    /// Who has it.
    pub holder: Option<Actor>,
    /// Who waits for it, the first first.
    pub waiting: Vec<Actor>,
}

/// Pop and the process function.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PopRoom {
    /// How the process loop runs.
    pub mode: ProcessMode,
    /// How often Pop has been asked for and not yet come (held only).
    pub asked: u32,
    /// What is being processed.
    pub processing: Option<Popped>,
    /// What was processed last.
    pub last: Option<Popped>,
    /// How many Pops there were.
    pub count: u64,
}

/// Something that was popped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popped {
    /// The key.
    pub key: Key,
    /// Its deltas, oldest first.
    pub deltas: Vec<(DeltaType, ObjectRef)>,
    /// Which of them is in work (`None` before the first).
    pub position: Option<usize>,
    /// Whether it belongs to the first list.
    pub is_in_initial_list: bool,
}

/// The store and its indices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StoreRoom {
    /// Whether the program has a store at all.
    pub present: bool,
    /// What is stored, by key.
    pub items: BTreeMap<Key, ObjectRef>,
    /// Index name → indexed value → keys; every index is there, also an empty one.
    pub indices: IndexMap<Arc<str>, BTreeMap<Arc<str>, Vec<Key>>>,
    /// The version of the last list or event that was applied (not kept by client-go before 1.36).
    pub rv: Rv,
    /// How many events were sent that the store does not show yet.
    pub behind: u64,
}

/// One handler.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HandlerRoom {
    /// Its name.
    pub name: Arc<str>,
    /// It runs inside `process`, under the queue's lock, and has no buffer.
    pub inline: bool,
    /// How long it takes for each notification, in virtual ms.
    pub latency_ms: u32,
    /// What waits for it.
    pub pending: VecDeque<Notification>,
    /// What it is working on.
    pub running: Option<Notification>,
    /// What it has been told so far, the newest [`NOTIFICATIONS`].
    pub notifications: VecDeque<Notification>,
}
