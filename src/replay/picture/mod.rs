//! The picture: everything the screen draws, as a fold of facts.
//!
//! The screen never reads the cache in the middle of an operation. It draws a [`Picture`], which is
//! made from nothing but the facts so far; `tests/runs/fold` holds it against the world after every
//! step, so the animation cannot lie.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
pub use deltascope_cache::fact::ProcessMode;
use deltascope_cache::fact::{Actor, Body, Entry, EventType, NotificationRef, ObjectRef, Rv};
use deltascope_cache::key::Key;
use deltascope_cache::selector::{Labels, Selector};
use deltascope_cache::sorted::SortedMap;
use deltascope_world::source::Refusals;
pub use deltascope_world::source::simulator::{DELETED_SHOWN, WATCH_WINDOW};
pub use deltascope_world::source::stream::{Delivery, STREAM_LINES, StreamLine};
pub use deltascope_world::virtual_time::{
    Answer, InformerKind, NOTIFICATIONS, OUTPUT_LINES, REQUESTS, ReflectorState, RequestKind,
    RequestLine, SourceKind,
};

mod fold;
mod of_world;

/// So many things of which all pictures share the content weigh as much as one that they do not share.
const SHARED: usize = 8;

/// What the screen draws.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Picture {
    /// What stands behind the reflector.
    pub informer: InformerKind,
    /// Whose behaviour it has.
    pub generation: Generation,
    /// The API server's room.
    pub api: ApiRoom,
    /// The reflector's room.
    pub reflector: ReflectorRoom,
    /// The queue's room.
    pub queue: QueueRoom,
    /// The queue's lock.
    pub lock: LockState,
    /// The lock that keeps deltas from being processed while a handler is added.
    pub block_deltas: LockState,
    /// Pop and the process function.
    pub pop: PopRoom,
    /// The store and its indices.
    pub store: StoreRoom,
    /// The handlers.
    pub handlers: Vec<HandlerRoom>,
    /// Handlers that were asked for and are not there yet.
    pub asked: VecDeque<HandlerRoom>,
    /// How often the informer looks for due resyncs, in ms; 0: never.
    pub resync_check_ms: u64,
    /// The workqueue and its workers, where the program has them.
    pub work: Option<WorkRoom>,
    /// What the programs printed, the newest [`OUTPUT_LINES`].
    pub output: VecDeque<Arc<str>>,
    /// The informers beside the one that is shown.
    pub beside: Vec<BesideRoom>,
}

/// The API server, its objects and the watch stream.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiRoom {
    /// What stands in this room.
    pub source: SourceKind,
    /// Its resource version.
    pub rv: Rv,
    /// Its objects in the order of their creation, the last [`DELETED_SHOWN`] deleted ones among
    /// them.
    pub objects: IndexMap<Key, ApiObject>,
    /// The deleted ones, the longest ago first.
    pub deleted: VecDeque<Key>,
    /// How many events were sent.
    pub sent: u64,
    /// A recording with a list: its events tell what the server has.
    pub told_by_events: bool,
    /// The last lines of the watch stream, oldest first, at most [`STREAM_LINES`].
    pub stream: VecDeque<StreamLine>,
    /// The `resourceVersion` of the open watch.
    pub watch: Option<Rv>,
    /// A watch is open, and tells of what changes: its end is not on the way.
    pub tells: bool,
    /// A watch from before this version is answered with 410; empty when the history is whole.
    pub oldest: Rv,
    /// The versions of the changes that the server remembers, at most [`WATCH_WINDOW`].
    pub history: VecDeque<Rv>,
    /// The requests that it was asked to refuse and has not refused yet, the first first.
    pub refusals: VecDeque<Refusals>,
    /// What is asked for; all where there is none.
    pub selector: Option<Selector>,
}

impl ApiRoom {
    /// Whether an object with these labels is asked for.
    #[must_use]
    pub fn selects(&self, labels: &Labels) -> bool {
        let selector = self.selector.as_ref();
        selector.is_none_or(|selector| selector.matches(labels))
    }
}

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
    /// Whether a list comes next, while it backs off.
    pub relist: bool,
    /// The event that was taken off the stream and is not in the queue yet.
    pub in_hand: Option<(EventType, ObjectRef)>,
    /// Lists asked for, whatever the number of their pages.
    pub lists_asked: u64,
    /// Watches asked for, those of streaming lists among them.
    pub watches_asked: u64,
    /// Its requests, the newest last, at most [`REQUESTS`].
    pub requests: VecDeque<RequestLine>,
    /// A streaming list's temporary store, while it is being filled.
    pub temporary: Option<SortedMap<Key, ObjectRef>>,
    /// Whether its last version is known to have expired, or to be too new for the server.
    pub unavailable: bool,
    /// How often the watch-error handler was called.
    pub watch_errors: u64,
    /// How often the resync timer fired.
    pub resyncs: u64,
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
    /// The keys in order, the next one first. In a FIFO one can be there without an object, and twice.
    pub keys: VecDeque<Key>,
    /// The deltas of each key, oldest first; of a FIFO its object, as one of type Added.
    pub deltas: SortedMap<Key, Vec<(DeltaType, ObjectRef)>>,
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

/// A lock.
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
    /// RealFIFO only: the entries, oldest first; `key` is empty and `deltas` are theirs (of a list or
    /// a resync, which is one entry, there are none).
    pub entries: Vec<Entry>,
}

impl Popped {
    /// What a RealFIFO gave out.
    #[must_use]
    pub fn of_entries(entries: Vec<Entry>, is_in_initial_list: bool) -> Self {
        Self {
            key: Key::from(""),
            deltas: entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Delta(delta_type, object) => Some((*delta_type, object.clone())),
                    _ => None,
                })
                .collect(),
            position: None,
            is_in_initial_list,
            entries,
        }
    }
}

/// How many objects of what the informer selects the store does not show as the server has them: each
/// one that it lacks, has in another version or still has counts once, however often it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Behind {
    /// There is no server, no store, or nothing that fills the one from the other.
    #[default]
    Nothing,
    /// It cannot be known. A cluster, or a recording of one, tells what it has in a list, and then only
    /// while a watch is open; of the simulated server it is always known.
    Unknown,
    /// By so many objects.
    By(u64),
}

impl Behind {
    /// The number, where there is one and it is known.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        match self {
            Self::By(count) => Some(count),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

/// The store and its indices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StoreRoom {
    /// Whether the program has a store at all.
    pub present: bool,
    /// What is stored, by key.
    pub items: SortedMap<Key, ObjectRef>,
    /// Index name → indexed value → keys; every index is there, also an empty one.
    pub indices: IndexMap<Arc<str>, SortedMap<Arc<str>, Vec<Key>>>,
    /// The version of the last list or event that was applied (not kept by client-go before 1.36).
    pub rv: Rv,
    /// Whether client-go itself keeps that version (from 1.36 on).
    pub keeps_rv: bool,
    /// The keys of what it does not show as the server has it.
    pub unlike: SortedMap<Key, ()>,
    /// How far it is behind the server.
    pub behind: Behind,
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
    pub pending: VecDeque<NotificationRef>,
    /// What it is working on.
    pub running: Option<NotificationRef>,
    /// What it has been told so far, the newest [`NOTIFICATIONS`].
    pub notifications: VecDeque<Arc<NotificationRef>>,
    /// What was sent to it and is not in its buffer yet: its sender waits.
    pub sending: Option<NotificationRef>,
    /// Its own `HasSynced()`: it was told the whole first list.
    pub synced: bool,
    /// Whether it takes part in resyncs at the moment.
    pub syncing: bool,
    /// How often it wants a resync, in ms; 0: never.
    pub resync_ms: u64,
    /// Only objects with this label and value pass, as `app=web`; empty: all.
    pub filter: Arc<str>,
    /// It is being removed: that was asked for and has not come yet.
    pub leaving: bool,
    /// It was removed.
    pub removed: bool,
    /// How often it panicked.
    pub panics: u32,
}

impl HandlerRoom {
    /// Whether it was removed and has ended what it was at.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.removed && self.running.is_none()
    }
}

/// A workqueue and its workers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WorkRoom {
    /// The keys that wait, the next one first.
    pub queue: VecDeque<Key>,
    /// The keys that have to be looked at, also those that a worker has.
    pub dirty: SortedMap<Key, ()>,
    /// What each worker has.
    pub workers: Vec<Option<Key>>,
    /// The keys that will be added, each with its moment in ms.
    pub delayed: SortedMap<Key, u64>,
    /// How often each key has failed since it was forgotten.
    pub failures: SortedMap<Key, u32>,
    /// How many keys were reconciled well.
    pub reconciled: u64,
    /// It takes nothing more.
    pub shut_down: bool,
}

/// An informer beside the one that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BesideRoom {
    /// It is a shared one.
    pub shared: bool,
    /// How many handlers it was given.
    pub handlers: usize,
    /// Lists it has asked for.
    pub lists: u64,
    /// Watches it has asked for.
    pub watches: u64,
    /// What is in its store, by key.
    pub objects: SortedMap<Key, ObjectRef>,
}

impl Picture {
    /// The number, from 1, of an informer beside among those of its kind, shared or not, that of the
    /// one that is shown among them. `None`: it is shared, and the one that is shown is not.
    #[must_use]
    pub fn beside_number(&self, informer: u8) -> Option<usize> {
        let place = usize::from(informer);
        let shown = self.informer == InformerKind::Shared;
        let shared = self.beside.get(place).is_some_and(|room| room.shared);
        let before = self.beside.iter().take(place);
        let before = before.filter(|room| room.shared == shared).count();
        (shown || !shared).then(|| usize::from(shown == shared) + before + 1)
    }

    /// How many things are in it, roughly: what a copy of it costs.
    #[must_use]
    pub fn weight(&self) -> usize {
        let queued: usize = self.queue.deltas.values().map(Vec::len).sum();
        let indexed: usize = self
            .store
            .indices
            .values()
            .flat_map(SortedMap::values)
            .map(|keys| keys.len() + 1)
            .sum();
        let told: usize = self
            .handlers
            .iter()
            .map(|handler| handler.pending.len() + handler.notifications.len() / SHARED)
            .sum();
        let listed = |entry: &Entry| match entry {
            Entry::ReplacedAll { objects, .. } => objects.len(),
            _ => 1,
        };
        let popped = self.pop.processing.iter().chain(&self.pop.last);
        let popped = popped.flat_map(|popped| &popped.entries);
        let entries: usize = self.queue.entries.iter().chain(popped).map(listed).sum();
        self.api.objects.len()
            + self.api.stream.len()
            + self.queue.keys.len()
            + queued
            + entries
            + self.store.items.len()
            + self.store.unlike.len()
            + indexed
            + told
            + self.output.len() / SHARED
            + self
                .beside
                .iter()
                .map(|room| room.objects.len())
                .sum::<usize>()
    }
}

/// Nothing is told of what it is like.
fn told_object(object: &ObjectRef, deleted: bool) -> ApiObject {
    ApiObject {
        object: object.clone(),
        body: Body::default(),
        deleted,
    }
}
