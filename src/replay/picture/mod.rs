//! The picture: everything that the screen draws, as a fold of facts.
//!
//! The screen never reads the cache in the middle of an operation. It draws a [`Picture`], which is computed
//! from the facts alone; `tests/runs/fold` compares it with the world after every step, so the animation
//! cannot show anything false.

use std::collections::VecDeque;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
pub use deltascope_cache::fact::ProcessMode;
use deltascope_cache::fact::{Actor, Body, Entry, EventType, NotificationRef, ObjectRef, Rv};
use deltascope_cache::key::Key;
use deltascope_cache::map::Map;
use deltascope_cache::selector::{Labels, Selector};
use deltascope_cache::sorted::SortedMap;
use deltascope_world::named;
use deltascope_world::source::Refusals;
pub use deltascope_world::source::simulator::{DELETED_SHOWN, WATCH_WINDOW};
pub use deltascope_world::source::stream::{Delivery, STREAM_LINES, StreamLine};
pub use deltascope_world::virtual_time::{
    Answer, InformerKind, NOTIFICATIONS, OUTPUT_LINES, Popped, Printed, REQUESTS, ReflectorState,
    RequestKind, RequestLine, SourceKind,
};

mod fold;
mod start;

/// How many items whose content all pictures share weigh as much as one that is not shared.
const SHARED: usize = 8;

/// Everything that the screen draws.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Picture {
    /// The kind of informer behind the reflector.
    pub informer: InformerKind,
    /// The client-go generation of the informer.
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
    /// Handlers whose addition was requested and is not done yet.
    pub asked: VecDeque<HandlerRoom>,
    /// How often the informer checks for due resyncs, in ms; 0: never.
    pub resync_check_ms: u64,
    /// The workqueue and its workers, where the program has them.
    pub work: Option<WorkRoom>,
    /// The lines printed by the programs, the newest [`OUTPUT_LINES`].
    pub output: VecDeque<Printed>,
    /// The peer informers.
    pub beside: Vec<BesideRoom>,
}

/// The API server, its objects and the watch stream.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiRoom {
    /// The kind of source in this room.
    pub source: SourceKind,
    /// The resource version of the server.
    pub rv: Rv,
    /// The objects in the order of their creation, including the last [`DELETED_SHOWN`] deleted ones.
    pub objects: Map<Key, Arc<ApiObject>>,
    /// The keys of the deleted objects, the longest ago first.
    pub deleted: VecDeque<Key>,
    /// How many events were sent.
    pub sent: u64,
    /// Whether the events keep `objects` complete: they continue a known list.
    pub known_from_events: bool,
    /// The last events of the watch stream, oldest first, at most [`STREAM_LINES`].
    pub stream: VecDeque<StreamLine>,
    /// The `resourceVersion` of the open watch.
    pub watch: Option<Rv>,
    /// Whether a watch is open and can still send events: its end is not in flight.
    pub sends_events: bool,
    /// A watch from before this version is answered with 410; empty if the history is complete.
    pub oldest: Rv,
    /// The versions of the changes that the server remembers, at most [`WATCH_WINDOW`].
    pub history: VecDeque<Rv>,
    /// The requests that the server will still refuse, the next one first.
    pub refusals: VecDeque<Refusals>,
    /// The selector of lists and watches; `None` selects all objects.
    pub selector: Option<Selector>,
}

impl ApiRoom {
    /// Whether the selector matches these labels.
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
    /// The fields that the page shows.
    pub body: Body,
    /// Whether it is deleted and shown struck out; it counts as gone.
    pub deleted: bool,
}

/// The reflector.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReflectorRoom {
    /// The state of the reflector.
    pub state: ReflectorState,
    /// `LastSyncResourceVersion()`.
    pub last_sync: Rv,
    /// Events received.
    pub events: u64,
    /// Lists received.
    pub lists: u64,
    /// The length of the current backoff, in ms.
    pub backoff_ms: u64,
    /// Whether a list follows the backoff.
    pub relist: bool,
    /// The event that was received and is not in the queue yet.
    pub in_hand: Option<(EventType, ObjectRef)>,
    /// Lists requested, whatever the number of their pages.
    pub lists_asked: u64,
    /// Watches requested, including streaming lists.
    pub watches_asked: u64,
    /// The requests, oldest first, at most [`REQUESTS`].
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

named! {
    /// The kind of a queue.
    #[derive(Default)]
    pub enum QueueKind {
        /// FIFO
        Fifo = "FIFO",
        /// DeltaFIFO
        #[default]
        DeltaFifo = "DeltaFIFO",
        /// RealFIFO
        RealFifo = "RealFIFO",
    }
}

/// The queue.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct QueueRoom {
    /// The kind of the queue.
    pub kind: QueueKind,
    /// The keys in order, the next one first. A FIFO's key may be listed without an object, and twice.
    pub keys: VecDeque<Key>,
    /// The deltas of each key, oldest first; for a FIFO its object, with type Added.
    pub deltas: SortedMap<Key, Vec<(DeltaType, ObjectRef)>>,
    /// RealFIFO only: the entries, the next one first.
    pub entries: VecDeque<Entry>,
    /// Whether `Delete`, `Replace` and `Resync` can use KnownObjects.
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
    /// The actor that holds the lock.
    pub holder: Option<Actor>,
    /// The waiting actors, the first in line first.
    pub waiting: Vec<Actor>,
}

/// Pop and the process function.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PopRoom {
    /// The mode of the process loop.
    pub mode: ProcessMode,
    /// How many requested Pops have not begun yet (mode `Held` only).
    pub asked: u32,
    /// The item being processed.
    pub processing: Option<Popped>,
    /// The last item processed.
    pub last: Option<Popped>,
    /// The number of Pops.
    pub count: u64,
}

/// How many selected objects differ between the store and the server. An object that the store lacks, has in
/// another version or still has counts once, however often it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Behind {
    /// There is no server, no store, or nothing that fills the store from the server.
    #[default]
    Nothing,
    /// It is unknown. A cluster or its recording states its objects by a list, and changes only while a watch
    /// is open. For the simulated server the number is always known.
    Unknown,
    /// The number of differing objects.
    By(u64),
}

impl Behind {
    /// The number, if it is known.
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
    /// The stored objects, by key.
    pub items: SortedMap<Key, ObjectRef>,
    /// Index name → indexed value → keys; empty indices are included.
    pub indices: Map<Arc<str>, SortedMap<Arc<str>, Vec<Key>>>,
    /// The version of the last list or event that was applied (not kept by client-go before 0.36).
    pub rv: Rv,
    /// Whether client-go itself keeps that version (from 0.36 on).
    pub keeps_rv: bool,
    /// The keys of the objects that differ from the server's.
    pub unlike: SortedMap<Key, ()>,
    /// How many objects the store is behind the server.
    pub behind: Behind,
}

/// One handler.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HandlerRoom {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it runs inside `process`, under the queue's lock and without a buffer.
    pub inline: bool,
    /// How long it takes for each notification, in virtual ms.
    pub latency_ms: u32,
    /// The notifications that wait for it.
    pub pending: VecDeque<NotificationRef>,
    /// The notification that it is processing.
    pub running: Option<NotificationRef>,
    /// The notifications that it has received, the newest [`NOTIFICATIONS`].
    pub notifications: VecDeque<Arc<NotificationRef>>,
    /// The notification that was sent and is not in the buffer yet: its sender waits.
    pub sending: Option<NotificationRef>,
    /// The handler's own `HasSynced()`: it has processed the whole first list.
    pub synced: bool,
    /// Whether it currently takes part in resyncs.
    pub syncing: bool,
    /// The resync period, in ms; 0: never.
    pub resync_ms: u64,
    /// Only objects with this label and value reach it, as `app=web`; empty: all.
    pub filter: Arc<str>,
    /// Whether its removal was requested and is not done yet.
    pub leaving: bool,
    /// Whether it was removed.
    pub removed: bool,
    /// How often it panicked.
    pub panics: u32,
}

impl HandlerRoom {
    /// Whether it was removed and has finished its last notification.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.removed && self.running.is_none()
    }
}

/// A workqueue and its workers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WorkRoom {
    /// The waiting keys, the next one first.
    pub queue: VecDeque<Key>,
    /// The dirty keys, including those that a worker holds.
    pub dirty: SortedMap<Key, ()>,
    /// The key that each worker holds.
    pub workers: Vec<Option<Key>>,
    /// The delayed keys, each with its due virtual time in ms.
    pub delayed: SortedMap<Key, u64>,
    /// How often each key has failed since it was forgotten.
    pub failures: SortedMap<Key, u32>,
    /// How many reconciles succeeded.
    pub reconciled: u64,
    /// Whether it accepts no more keys.
    pub shut_down: bool,
}

/// A peer informer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BesideRoom {
    /// Whether it is a shared informer.
    pub shared: bool,
    /// The number of its handlers.
    pub handlers: usize,
    /// The number of lists requested.
    pub lists: u64,
    /// The number of watches requested.
    pub watches: u64,
    /// The stored objects, by key.
    pub objects: SortedMap<Key, ObjectRef>,
}

impl Picture {
    /// The number of a peer informer, from 1, among all informers of the same kind (shared or not), including
    /// the main one. `None` if the peer is shared and the main one is not.
    #[must_use]
    pub fn beside_number(&self, informer: u8) -> Option<usize> {
        let place = usize::from(informer);
        let shown = self.informer == InformerKind::Shared;
        let shared = self.beside.get(place).is_some_and(|room| room.shared);
        let before = self.beside.iter().take(place);
        let before = before.filter(|room| room.shared == shared).count();
        (shown || !shared).then(|| usize::from(shown == shared) + before + 1)
    }

    /// The approximate number of items in it: the cost of a copy.
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
        let notifications: usize = self
            .handlers
            .iter()
            .map(|handler| handler.pending.len() + handler.notifications.len() / SHARED)
            .sum();
        let popped = self.pop.processing.iter().chain(&self.pop.last);
        let popped: usize = popped.map(|popped| popped.entries.len()).sum();
        let entries = self.queue.entries.len() + popped;
        self.api.objects.len()
            + self.api.stream.len()
            + self.queue.keys.len()
            + queued
            + entries
            + self.store.items.len()
            + self.store.unlike.len()
            + indexed
            + notifications
            + self.output.len() / SHARED
            + self
                .beside
                .iter()
                .map(|room| room.objects.len())
                .sum::<usize>()
    }
}

/// An object of which the source states no body.
fn known_object(object: &ObjectRef, deleted: bool) -> Arc<ApiObject> {
    Arc::new(ApiObject {
        object: object.clone(),
        body: Body::default(),
        deleted,
    })
}
