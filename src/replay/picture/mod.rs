//! The picture: everything the screen draws, as a fold of facts.
//!
//! The screen never reads the cache in the middle of an operation. It draws a [`Picture`], which is
//! made from nothing but the facts so far; `tests/fold.rs` holds it against the world after every
//! step, so the animation cannot lie.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;

use deltascope_cache::controller::{Generation, InformerQueue};
use deltascope_cache::delta::DeltaType;
pub use deltascope_cache::fact::ProcessMode;
use deltascope_cache::fact::{
    Actor, BackoffReason, Body, Entry, EventType, Fact, FactRecord, HandlersFact, LockName,
    Notification, ObjectRef, QueueFact, ReflectorFact, RunFact, Rv, ServerFact, Shape, StoreFact,
    WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_cache::queue::Queue;
use deltascope_cache::selector::{Labels, Selector};
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_world::fill::fill;
use deltascope_world::lock::Lock;
use deltascope_world::source::Refusals;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::known::Known;
use deltascope_world::source::program::event_of;
pub use deltascope_world::source::simulator::{DELETED_SHOWN, WATCH_WINDOW};
use deltascope_world::source::simulator::{order_refusals, take_refusal};
pub use deltascope_world::source::stream::{Delivery, STREAM_LINES, StreamLine};
pub use deltascope_world::virtual_time::{
    Answer, InformerKind, NOTIFICATIONS, OUTPUT_LINES, REQUESTS, ReflectorState, RequestKind,
    RequestLine, SourceKind,
};
use deltascope_world::virtual_time::{HandlerSettings, PoppedWork, World};

/// So many things of which all pictures share the content weigh as much as one that they do not share.
const SHARED: usize = 8;

/// What the screen draws.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Picture {
    /// What stands behind the reflector.
    pub machinery: InformerKind,
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
    pub feed: SourceKind,
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
    pub pending: VecDeque<Notification>,
    /// What it is working on.
    pub running: Option<Notification>,
    /// What it has been told so far, the newest [`NOTIFICATIONS`].
    pub notifications: VecDeque<Arc<Notification>>,
    /// What was sent to it and is not in its buffer yet: its sender waits.
    pub sending: Option<Notification>,
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
    /// What a world is like now, read off the world itself: where a fold begins, and what tests
    /// hold the fold against.
    #[must_use]
    pub fn of(world: &World<AnySource>) -> Self {
        let mut picture = Self {
            api: api_of(world),
            reflector: reflector_of(world),
            queue: queue_of(world),
            machinery: world.settings().machinery,
            generation: world.settings().era.0,
            lock: lock_of(world.lock()),
            block_deltas: lock_of(world.block_deltas()),
            pop: pop_of(world),
            store: store_of(world),
            handlers: handlers_of(world),
            asked: world
                .asked()
                .zip(world.handlers().len()..)
                .map(|(settings, number)| HandlerRoom {
                    leaving: u8::try_from(number).is_ok_and(|number| world.is_leaving(number)),
                    ..asked_of(settings, world)
                })
                .collect(),
            resync_check_ms: world.resync_check_ms(),
            work: work_of(world),
            output: world.output().clone(),
            beside: world.beside().map(beside_of).collect(),
        };
        picture.look_at_all();
        picture.settle();
        picture
    }

    /// The number, from 1, of an informer beside among those of its kind, shared or not, that of the
    /// one that is shown among them. `None`: it is shared, and the one that is shown is not.
    #[must_use]
    pub fn beside_number(&self, informer: u8) -> Option<usize> {
        let place = usize::from(informer);
        let shown = self.machinery == InformerKind::Shared;
        let shared = self.beside.get(place).is_some_and(|room| room.shared);
        let before = self.beside.iter().take(place);
        let before = before.filter(|room| room.shared == shared).count();
        (shown || !shared).then(|| usize::from(shown == shared) + before + 1)
    }

    /// Adds what one fact says.
    pub fn apply(&mut self, record: &FactRecord) {
        self.add(record);
        self.settle();
    }

    /// Adds what several facts say; what follows from the rest is worked out once, at the end.
    pub fn apply_all(&mut self, records: &[FactRecord]) {
        for record in records {
            self.add(record);
        }
        self.settle();
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

    fn add(&mut self, record: &FactRecord) {
        self.apply_server(record);
        self.apply_reflector(&record.fact, record.actor);
        self.apply_queue(&record.fact);
        self.apply_store(&record.fact);
        self.apply_handlers(&record.fact);
        self.apply_beside(&record.fact);
        self.look_again(&record.fact);
        if let Some(work) = &mut self.work {
            work.apply(record);
        }
    }

    /// What follows from the rest.
    fn settle(&mut self) {
        self.store.behind = self.behind();
    }

    fn apply_server(&mut self, record: &FactRecord) {
        let api = &mut self.api;
        match &record.fact {
            Fact::Server(ServerFact::RefusalsAsked { watch, kind, times }) => {
                let (watch, kind, times) = (*watch, *kind, *times);
                order_refusals(&mut api.refusals, Refusals { watch, kind, times });
            }
            // What was asked for comes before any other reason to refuse.
            Fact::Server(ServerFact::ListRefused { .. }) => take_refusal(&mut api.refusals, false),
            Fact::Server(ServerFact::WatchDenied { .. }) => take_refusal(&mut api.refusals, true),
            Fact::Server(ServerFact::ConnectionRefused) => {
                let watch = record.step == Step::ServerWatch;
                let next = api.refusals.iter().find(|order| order.watch == watch);
                if next.is_some_and(|order| order.kind == ApiErrorKind::ConnectionRefused) {
                    take_refusal(&mut api.refusals, watch);
                }
            }
            Fact::Server(ServerFact::ObjectCreated { object, body }) => {
                api.written(&object.rv);
                api.objects.shift_remove(&object.key);
                api.objects.insert(
                    object.key.clone(),
                    ApiObject {
                        object: object.clone(),
                        body: body.clone(),
                        deleted: false,
                    },
                );
            }
            Fact::Server(ServerFact::ObjectUpdated { object, body, .. }) => {
                api.written(&object.rv);
                if let Some(entry) = api.objects.get_mut(&object.key) {
                    entry.object = object.clone();
                    entry.body = body.clone();
                }
            }
            Fact::Server(ServerFact::ObjectDeleted { object, .. }) => {
                api.written(&object.rv);
                if let Some(mut entry) = api.objects.get(&object.key).cloned() {
                    entry.object = object.clone();
                    entry.deleted = true;
                    api.deleted.push_back(object.key.clone());
                    api.objects.insert(object.key.clone(), entry);
                }
            }
            Fact::Server(ServerFact::HistoryCompacted { oldest }) => {
                api.rv = Arc::clone(oldest);
                api.oldest = Arc::clone(oldest);
                api.history.clear();
            }
            Fact::Server(ServerFact::ObjectsLearned { rv, objects }) => {
                api.rv = Arc::clone(rv);
                api.deleted.clear();
                let all = objects.iter();
                api.objects = all
                    .map(|object| (object.key.clone(), told_object(object, false)))
                    .collect();
            }
            Fact::Server(ServerFact::WatchAccepted { rv }) => {
                api.watch = Some(Arc::clone(rv));
                api.tells = true;
            }
            Fact::Server(ServerFact::EventSent { event, object, .. }) => {
                api.tells &= *event != EventType::Error;
                api.line(*event, object, Delivery::Waiting);
                if matches!(api.feed, SourceKind::Recorded | SourceKind::Cluster) {
                    api.told(*event, object);
                }
            }
            Fact::Run(RunFact::Called { delta_type, object }) => {
                api.line(event_of(*delta_type), object, Delivery::Received);
            }
            Fact::Reflector(ReflectorFact::EventReceived { .. }) => {
                if let Some(line) = api
                    .stream
                    .iter_mut()
                    .find(|line| line.delivery == Delivery::Waiting)
                {
                    line.delivery = Delivery::Received;
                }
                api.trim();
            }
            Fact::Server(ServerFact::WatchClosed { lost, .. }) => {
                api.tells = false;
                if *lost > 0 {
                    for line in &mut api.stream {
                        if line.delivery == Delivery::Waiting {
                            line.delivery = Delivery::Lost;
                        }
                    }
                    api.trim();
                }
            }
            Fact::Reflector(ReflectorFact::WatchEnded { .. }) => {
                api.watch = None;
                api.tells = false;
                // Nobody reads any more.
                for line in &mut api.stream {
                    if line.delivery == Delivery::Waiting {
                        line.delivery = Delivery::Lost;
                    }
                }
                api.trim();
            }
            _ => {}
        }
        // A recreated object is no longer among the deleted; the last few of those stay in sight.
        api.deleted
            .retain(|key| api.objects.get(key).is_some_and(|entry| entry.deleted));
        while api.deleted.len() > DELETED_SHOWN {
            if let Some(key) = api.deleted.pop_front() {
                api.objects.shift_remove(&key);
            }
        }
    }

    fn apply_reflector(&mut self, fact: &Fact, actor: Actor) {
        let reflector = &mut self.reflector;
        match fact {
            Fact::Reflector(ReflectorFact::ListRequested {
                rv,
                rv_match,
                limit,
                continues,
            }) => {
                reflector.lists_asked += u64::from(!continues);
                reflector.request(RequestLine {
                    kind: RequestKind::List,
                    rv: Arc::clone(rv),
                    rv_match,
                    limit: *limit,
                    continues: *continues,
                    answer: Answer::Awaited,
                });
                reflector.temporary = None;
                reflector.state = ReflectorState::List;
                reflector.relist = false;
                reflector.backoff_ms = 0;
            }
            Fact::Reflector(ReflectorFact::PageReceived { count, .. }) => {
                reflector.answered(Answer::Page(*count))
            }
            Fact::Reflector(ReflectorFact::ListReceived { count, .. }) => {
                reflector.lists += 1;
                reflector.answered(Answer::Listed(*count));
            }
            Fact::Reflector(
                ReflectorFact::ListFailed { error, .. } | ReflectorFact::WatchFailed { error },
            ) => {
                reflector.answered(Answer::Failed(Arc::clone(error)));
            }
            Fact::Server(ServerFact::WatchAccepted { .. }) => reflector.answered(Answer::Open),
            Fact::Reflector(ReflectorFact::ObjectRejected { .. }) => reflector.in_hand = None,
            Fact::Reflector(ReflectorFact::InitialEventKept { event, object }) => {
                reflector.in_hand = None;
                let temporary = reflector.temporary.get_or_insert_default();
                if *event == EventType::Deleted {
                    temporary.remove(&object.key);
                } else {
                    temporary.insert(object.key.clone(), object.clone());
                }
            }
            Fact::Reflector(ReflectorFact::InitialEventsEnded { .. }) => {
                reflector.temporary = None;
                reflector.state = ReflectorState::Watch;
                reflector.lists += 1;
            }
            Fact::Reflector(ReflectorFact::VersionUnavailable { on }) => {
                reflector.unavailable = *on
            }
            Fact::Reflector(ReflectorFact::WatchErrorReported { .. }) => {
                reflector.watch_errors += 1
            }
            Fact::Reflector(ReflectorFact::ResyncDue { .. }) => reflector.resyncs += 1,
            Fact::Reflector(ReflectorFact::WatchRequested { rv, initial_events }) => {
                reflector.watches_asked += 1;
                reflector.request(RequestLine {
                    kind: if *initial_events {
                        RequestKind::Stream
                    } else {
                        RequestKind::Watch
                    },
                    rv: Arc::clone(rv),
                    rv_match: if *initial_events { "NotOlderThan" } else { "" },
                    limit: 0,
                    continues: false,
                    answer: Answer::Awaited,
                });
                reflector.state = if *initial_events {
                    reflector.temporary = Some(SortedMap::new());
                    ReflectorState::Stream
                } else {
                    ReflectorState::Watch
                };
                reflector.backoff_ms = 0;
                reflector.relist = false;
            }
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => {
                reflector.events += 1;
                // A program of its own keeps nothing in hand.
                if is_change(*event) && actor != Actor::Program {
                    reflector.in_hand = Some((*event, object.clone()));
                }
            }
            Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) => {
                reflector.last_sync = Arc::clone(to)
            }
            Fact::Reflector(ReflectorFact::WatchEnded { code, .. }) => {
                reflector.answered(Answer::Ended(*code));
                reflector.temporary = None;
            }
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, reason }) => {
                reflector.relist = *reason != BackoffReason::WatchEnded;
                reflector.temporary = None;
                reflector.state = ReflectorState::Backoff;
                reflector.backoff_ms = *ms;
            }
            Fact::Reflector(ReflectorFact::ReflectorStopped { .. }) => {
                reflector.state = ReflectorState::Stopped;
                reflector.backoff_ms = 0;
                reflector.relist = false;
                reflector.temporary = None;
            }
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                | QueueFact::DeleteIgnored { .. }
                | QueueFact::KeyFailed { .. }
                | QueueFact::TransformFailed { .. }
                | QueueFact::EntryAppended { .. },
            ) if actor == Actor::Reflector => {
                reflector.in_hand = None;
            }
            _ => {}
        }
    }

    fn apply_queue(&mut self, fact: &Fact) {
        let (queue, pop) = (&mut self.queue, &mut self.pop);
        match fact {
            Fact::Run(RunFact::ModeSet { mode }) => {
                pop.mode = *mode;
                pop.asked = 0;
            }
            Fact::Run(RunFact::PopAsked { asked }) => pop.asked = *asked,
            Fact::Run(RunFact::KnownObjectsSet { on }) => {
                queue.known_objects = *on;
                self.store.present |= *on;
            }
            Fact::Queue(
                QueueFact::LockTaken { lock, .. }
                | QueueFact::LockAwaited { lock, .. }
                | QueueFact::LockReleased { lock, .. },
            ) => match lock {
                LockName::Queue => self.lock.apply(fact),
                LockName::BlockDeltas => self.block_deltas.apply(fact),
            },
            Fact::Queue(QueueFact::Populated { .. }) => queue.populated = true,
            Fact::Queue(QueueFact::Synced) => queue.synced = true,
            Fact::Queue(QueueFact::QueueClosed) => queue.closed = true,
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type, object, ..
            }) => {
                let deltas = queue.deltas.or_default(object.key.clone());
                deltas.push((*delta_type, object.clone()));
                // Also between two facts a key is queued exactly when it has deltas.
                if deltas.len() == 1 {
                    queue.keys.push_back(object.key.clone());
                }
            }
            Fact::Queue(QueueFact::DeltasMerged { key, kept, .. }) => {
                if let Some(deltas) = queue.deltas.get_mut(key) {
                    deltas.pop();
                    if let Some(last) = deltas.last_mut() {
                        last.1 = kept.clone();
                    }
                }
            }
            // Only a FIFO's key takes its place by this alone.
            Fact::Queue(QueueFact::KeyEnqueued { key, .. }) if queue.kind == QueueKind::Fifo => {
                queue.keys.push_back(key.clone());
            }
            Fact::Queue(QueueFact::FifoItemSet { object, .. }) => {
                queue
                    .deltas
                    .insert(object.key.clone(), vec![(DeltaType::Added, object.clone())]);
            }
            Fact::Queue(QueueFact::FifoItemRemoved { key }) => {
                queue.deltas.remove(key);
            }
            Fact::Queue(QueueFact::FifoCleared) => {
                queue.deltas.clear();
                queue.keys.clear();
            }
            Fact::Queue(QueueFact::FifoKeySkipped { .. }) => {
                queue.keys.pop_front();
            }
            Fact::Queue(QueueFact::EntryAppended { entry, .. }) => {
                queue.entries.push_back(entry.clone())
            }
            Fact::Queue(QueueFact::EntriesTaken {
                count,
                is_in_initial_list,
            }) => {
                let count = (*count as usize).min(queue.entries.len());
                let entries: Vec<Entry> = queue.entries.drain(..count).collect();
                pop.asked = pop.asked.saturating_sub(1);
                pop.count += 1;
                pop.processing = Some(Popped::of_entries(entries, *is_in_initial_list));
            }
            Fact::Queue(QueueFact::KeyPopped {
                key,
                deltas,
                is_in_initial_list,
            }) => {
                queue.keys.pop_front();
                queue.deltas.remove(key);
                pop.asked = pop.asked.saturating_sub(1);
                pop.count += 1;
                pop.processing = Some(Popped {
                    key: key.clone(),
                    deltas: deltas.clone(),
                    position: None,
                    is_in_initial_list: *is_in_initial_list,
                    entries: Vec::new(),
                });
            }
            Fact::Queue(QueueFact::Requeued { key, added: true }) => {
                if let Some(popped) = &pop.processing {
                    let before = queue.deltas.insert(key.clone(), popped.deltas.clone());
                    if before.is_none() || queue.kind == QueueKind::Fifo {
                        queue.keys.push_back(key.clone());
                    }
                }
            }
            Fact::Queue(QueueFact::DeltaTaken { position, .. }) => {
                if let Some(popped) = &mut pop.processing {
                    popped.position = Some(*position as usize);
                }
            }
            Fact::Queue(QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. }) => {
                pop.last = pop.processing.take();
            }
            _ => {}
        }
    }

    fn apply_store(&mut self, fact: &Fact) {
        let store = &mut self.store;
        match fact {
            Fact::Store(StoreFact::ItemStored { object, .. }) => {
                store.items.insert(object.key.clone(), object.clone());
                if !store.keeps_rv {
                    store.rv = Arc::clone(&object.rv);
                }
            }
            Fact::Store(StoreFact::ItemRemoved { key, .. }) => {
                store.items.remove(key);
                let by = self.pop.processing.as_ref().and_then(|popped| {
                    let (_, object) = if popped.entries.is_empty() {
                        popped.deltas.get(popped.position?)?
                    } else {
                        popped
                            .deltas
                            .iter()
                            .find(|(_, object)| object.key == *key)?
                    };
                    (object.shape == Shape::Object).then_some(object)
                });
                if let (Some(object), false) = (by, store.keeps_rv) {
                    store.rv = Arc::clone(&object.rv);
                }
            }
            Fact::Store(StoreFact::StoreVersionMoved { to, .. }) => store.rv = Arc::clone(to),
            Fact::Store(StoreFact::StoreReplaced { items }) => {
                store.items = items
                    .iter()
                    .map(|object| (object.key.clone(), object.clone()))
                    .collect();
            }
            Fact::Store(StoreFact::IndicesReset) => {
                for values in store.indices.values_mut() {
                    values.clear();
                }
            }
            Fact::Store(StoreFact::IndexersAdded { names }) => {
                for name in names {
                    store.indices.entry(Arc::clone(name)).or_default();
                }
            }
            Fact::Store(StoreFact::IndexEntryAdded { index, value, key }) => {
                if let Some(values) = store.indices.get_mut(index) {
                    let keys = values.or_default(Arc::clone(value));
                    if let Err(place) = keys.binary_search(key) {
                        keys.insert(place, key.clone());
                    }
                }
            }
            Fact::Store(StoreFact::IndexEntryRemoved {
                index, value, key, ..
            }) => {
                if let Some(values) = store.indices.get_mut(index)
                    && let Some(keys) = values.get_mut(value)
                {
                    if let Ok(place) = keys.binary_search(key) {
                        keys.remove(place);
                    }
                    if keys.is_empty() {
                        values.remove(value);
                    }
                }
            }
            _ => {}
        }
    }

    fn apply_handlers(&mut self, fact: &Fact) {
        match fact {
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler,
                notification,
                ..
            }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.sending = None;
                    room.pending.push_back(notification.clone());
                }
            }
            Fact::Handlers(HandlersFact::NotificationSent {
                handler,
                notification,
            }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.sending = Some(notification.clone());
                }
            }
            Fact::Handlers(HandlersFact::HandlerAsked {
                name,
                latency_ms,
                resync_ms,
                filter,
            }) => self.asked.push_back(HandlerRoom {
                name: Arc::clone(name),
                latency_ms: *latency_ms,
                resync_ms: *resync_ms,
                filter: Arc::clone(filter),
                syncing: true,
                ..HandlerRoom::default()
            }),
            Fact::Handlers(HandlersFact::RemovalAsked { handler }) => {
                let mut all = self.handlers.iter_mut().chain(&mut self.asked);
                if let Some(room) = all.nth(usize::from(*handler)) {
                    room.leaving = true;
                }
            }
            Fact::Handlers(HandlersFact::HandlerAdded { .. }) => {
                self.handlers.extend(self.asked.pop_front())
            }
            Fact::Handlers(HandlersFact::HandlerSynced { handler }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.synced = true;
                }
            }
            Fact::Handlers(HandlersFact::SyncingSet { handler, syncing }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.syncing = *syncing;
                }
            }
            Fact::Handlers(HandlersFact::HandlerPanicked { handler, .. }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.running = None;
                    room.panics += 1;
                }
            }
            Fact::Handlers(HandlersFact::HandlerRemoved { handler }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.removed = true;
                    room.leaving = false;
                    room.sending = None;
                    room.pending.clear();
                }
            }
            Fact::Handlers(HandlersFact::ResyncCheckSet { ms }) => self.resync_check_ms = *ms,
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.pending.pop_front();
                    room.running = Some(notification.clone());
                    if room.notifications.len() == NOTIFICATIONS {
                        room.notifications.pop_front();
                    }
                    room.notifications.push_back(Arc::new(notification.clone()));
                }
            }
            Fact::Handlers(HandlersFact::NotificationHandled { handler }) => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.running = None;
                }
            }
            Fact::Handlers(HandlersFact::LinePrinted { line, .. }) => {
                if self.output.len() == OUTPUT_LINES {
                    self.output.pop_front();
                }
                self.output.push_back(Arc::clone(line));
            }
            _ => {}
        }
    }

    fn apply_beside(&mut self, fact: &Fact) {
        let Fact::Run(
            RunFact::BesideRequested { informer, .. } | RunFact::BesideStored { informer, .. },
        ) = fact
        else {
            return;
        };
        let Some(room) = self.beside.get_mut(usize::from(*informer)) else {
            return;
        };
        match fact {
            Fact::Run(RunFact::BesideRequested { watch: false, .. }) => room.lists += 1,
            Fact::Run(RunFact::BesideRequested { .. }) => room.watches += 1,
            Fact::Run(RunFact::BesideStored { key, object, .. }) => {
                match object {
                    Some(object) => room.objects.insert(key.clone(), object.clone()),
                    None => room.objects.remove(key),
                };
            }
            _ => {}
        }
    }
}

impl ReflectorRoom {
    fn request(&mut self, line: RequestLine) {
        if self.requests.len() == REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back(line);
    }

    fn answered(&mut self, answer: Answer) {
        if let Some(last) = self.requests.back_mut() {
            last.answer = answer;
        }
    }
}

impl WorkRoom {
    fn apply(&mut self, record: &FactRecord) {
        match &record.fact {
            Fact::Work(WorkFact::WorkAdded { key, place }) => {
                // The delaying queue's own goroutine.
                if record.actor == Actor::Main {
                    self.delayed.remove(key);
                }
                self.dirty.insert(key.clone(), ());
                if *place == WorkPlace::Queue {
                    self.queue.push_back(key.clone());
                }
            }
            Fact::Work(WorkFact::WorkTaken { worker, key }) => {
                self.queue.pop_front();
                self.dirty.remove(key);
                if let Some(has) = self.workers.get_mut(usize::from(*worker)) {
                    *has = Some(key.clone());
                }
            }
            Fact::Work(WorkFact::WorkDone { key, again }) => {
                for has in &mut self.workers {
                    if has.as_ref() == Some(key) {
                        *has = None;
                    }
                }
                if *again {
                    self.queue.push_back(key.clone());
                }
            }
            Fact::Work(WorkFact::WorkDelayed { key, ms, failures }) => {
                let at = record.time + ms;
                let earliest = self.delayed.get(key).map_or(at, |before| at.min(*before));
                self.delayed.insert(key.clone(), earliest);
                if *failures > 0 {
                    self.failures.insert(key.clone(), *failures);
                }
            }
            Fact::Work(WorkFact::WorkForgotten { key }) => {
                self.failures.remove(key);
            }
            Fact::Work(WorkFact::Reconciled { ok: true, .. }) => self.reconciled += 1,
            Fact::Work(WorkFact::WorkShutDown { .. }) => self.shut_down = true,
            _ => {}
        }
    }
}

impl LockState {
    fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::Queue(QueueFact::LockTaken { by, .. }) => {
                self.holder = Some(*by);
                self.waiting.retain(|actor| actor != by);
            }
            Fact::Queue(QueueFact::LockAwaited { by, .. }) => self.waiting.push(*by),
            Fact::Queue(QueueFact::LockReleased { .. }) => self.holder = None,
            _ => {}
        }
    }
}

impl ApiRoom {
    /// What a server is known to have.
    fn know(&mut self, known: &Known) {
        self.rv = Arc::clone(known.rv());
        self.told_by_events = known.is_complete();
        for (key, (object, deleted)) in known.objects() {
            let object = told_object(object, *deleted);
            self.objects.insert(key.clone(), object);
        }
        self.deleted = known.deleted().cloned().collect();
    }

    fn told(&mut self, event: EventType, object: &ObjectRef) {
        if !object.rv.is_empty() {
            self.rv = Arc::clone(&object.rv);
        }
        if !self.told_by_events || !is_change(event) {
            return;
        }
        let deleted = event == EventType::Deleted;
        let was = self.objects.get(&object.key);
        if event == EventType::Added && was.is_some_and(|was| was.deleted) {
            self.objects.shift_remove(&object.key);
        }
        let entry = told_object(object, deleted);
        let was = self.objects.insert(object.key.clone(), entry);
        if deleted && was.is_none_or(|was| !was.deleted) {
            self.deleted.push_back(object.key.clone());
        }
    }

    fn line(&mut self, event: EventType, object: &ObjectRef, delivery: Delivery) {
        self.stream.push_back(StreamLine {
            number: self.sent,
            event,
            object: object.clone(),
            delivery,
        });
        self.sent += 1;
        self.trim();
    }

    /// The server's version moves with every change, and the window of its history with it.
    fn written(&mut self, rv: &Rv) {
        self.rv = Arc::clone(rv);
        self.history.push_back(Arc::clone(rv));
        if self.history.len() > WATCH_WINDOW
            && let Some(forgotten) = self.history.pop_front()
        {
            self.oldest = forgotten;
        }
    }

    fn trim(&mut self) {
        while self.stream.len() > STREAM_LINES
            && self
                .stream
                .front()
                .is_some_and(|line| line.delivery != Delivery::Waiting)
        {
            self.stream.pop_front();
        }
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

/// Bookmarks and errors change no object.
fn is_change(event: EventType) -> bool {
    !matches!(event, EventType::Bookmark | EventType::Error)
}

fn api_of(world: &World<AnySource>) -> ApiRoom {
    let mut room = ApiRoom {
        feed: world.settings().feed,
        ..ApiRoom::default()
    };
    let stream = match world.source() {
        AnySource::Server(server) => {
            room.rv = server.rv();
            room.oldest = server.oldest();
            room.history = server.history().collect();
            room.watch = server.open_watch();
            room.refusals = server.refusals().copied().collect();
            room.selector = world.settings().selector.clone();
            for (key, stored) in server.objects() {
                let object = ApiObject {
                    object: deltascope_world::source::simulator::reference(key, &stored.object),
                    body: deltascope_world::source::pod::body(&stored.object),
                    deleted: stored.deleted,
                };
                room.objects.insert(key.clone(), object);
            }
            let deleted = server.objects().filter(|(_, stored)| stored.deleted);
            // No two have one version.
            let deleted: SortedMap<u64, &Key> = deleted
                .map(|(key, stored)| {
                    (
                        deltascope_world::source::simulator::version(&stored.object),
                        key,
                    )
                })
                .collect();
            room.deleted = deleted.values().map(|key| (*key).clone()).collect();
            server.stream()
        }
        AnySource::Recorded(recording) => {
            room.watch = recording.open_watch();
            room.know(recording.known());
            recording.stream()
        }
        AnySource::Live(live) => {
            room.watch = live.open_watch();
            room.know(live.known());
            live.stream()
        }
        AnySource::Program(program) => program.calls(),
    };
    room.tells = room.watch.is_some() && !stream.is_over();
    room.stream = stream.lines().cloned().collect();
    room.sent = stream.sent();
    room
}

fn lock_of(lock: &Lock) -> LockState {
    LockState {
        holder: lock.holder(),
        waiting: lock.waiting().collect(),
    }
}

fn queue_of(world: &World<AnySource>) -> QueueRoom {
    let known_objects = world.known_objects();
    match world.queue() {
        InformerQueue::Delta(queue) => QueueRoom {
            kind: QueueKind::DeltaFifo,
            keys: queue.list_keys().cloned().collect(),
            deltas: fill(queue.list_keys().filter_map(|key| {
                let deltas = queue.get_by_key(key)?;
                let deltas = deltas
                    .iter()
                    .map(|delta| (delta.delta_type, delta.object.to_ref(key)))
                    .collect();
                Some((key.clone(), deltas))
            })),
            entries: VecDeque::new(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
        InformerQueue::Fifo(queue) => QueueRoom {
            kind: QueueKind::Fifo,
            keys: queue.queue().cloned().collect(),
            deltas: fill(
                queue
                    .list()
                    .into_iter()
                    .map(|(key, item)| (key.clone(), vec![(DeltaType::Added, item.to_ref(key))])),
            ),
            entries: VecDeque::new(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
        InformerQueue::Real(queue) => QueueRoom {
            kind: QueueKind::RealFifo,
            keys: VecDeque::new(),
            deltas: SortedMap::new(),
            entries: queue
                .entries()
                .map(|entry| entry.to_entry(queue.key_func()))
                .collect(),
            known_objects,
            populated: queue.populated(),
            synced: queue.has_synced(),
            closed: queue.is_closed(),
        },
    }
}

fn store_of(world: &World<AnySource>) -> StoreRoom {
    let mut room = StoreRoom {
        present: world.store().is_some(),
        rv: world.store_rv(),
        keeps_rv: world.settings().keeps_resource_version(),
        indices: world
            .settings()
            .indices
            .iter()
            .map(|name| (Arc::clone(name), SortedMap::new()))
            .collect(),
        ..StoreRoom::default()
    };
    if let Some(store) = world.store() {
        room.items = items_of(world);
        for index in store.indices() {
            let values = fill(index.values().into_iter().map(|(value, keys)| {
                let mut keys: Vec<Key> = keys.into_iter().cloned().collect();
                keys.sort_unstable();
                (Arc::clone(value), keys)
            }));
            room.indices.insert(Arc::clone(index.name()), values);
        }
    }
    room
}

fn reflector_of(world: &World<AnySource>) -> ReflectorRoom {
    let feeder = world.reflector();
    let reflector = feeder.reflector();
    let log = &feeder.log;
    ReflectorRoom {
        state: feeder.state(),
        last_sync: Arc::clone(reflector.last_sync_resource_version()),
        events: log.events,
        lists: log.lists,
        backoff_ms: log.backoff_ms.unwrap_or_default(),
        relist: reflector.lists_next(),
        in_hand: feeder.in_hand.clone(),
        lists_asked: log.lists_asked,
        watches_asked: log.watches_asked,
        requests: log.requests.clone(),
        temporary: reflector
            .temporary_store()
            .map(|kept| fill(kept.map(|(key, item)| (key.clone(), item.to_ref(key))))),
        unavailable: reflector.is_last_sync_resource_version_unavailable(),
        watch_errors: log.watch_errors,
        resyncs: log.resyncs,
    }
}

fn pop_of(world: &World<AnySource>) -> PopRoom {
    let process = world.process();
    let room = |popped: PoppedWork| Popped {
        key: popped.key,
        deltas: popped.deltas,
        position: popped.position,
        is_in_initial_list: popped.is_in_initial_list,
        entries: popped.entries,
    };
    PopRoom {
        mode: process.mode,
        asked: process.asked,
        processing: world.processing().map(room),
        last: process.last.clone().map(room),
        count: process.count,
    }
}

fn handlers_of(world: &World<AnySource>) -> Vec<HandlerRoom> {
    world
        .handlers()
        .iter()
        .zip(0..)
        .map(|(handler, number)| {
            let listener = world.listener(number);
            let room = asked_of(&handler.settings, world);
            HandlerRoom {
                inline: handler.inline,
                pending: listener
                    .into_iter()
                    .flat_map(|listener| listener.notices())
                    .map(|notice| notice.to_fact())
                    .collect(),
                running: handler.at_work(),
                notifications: handler.notifications.clone(),
                sending: listener
                    .and_then(|listener| listener.offered())
                    .map(|notice| notice.to_fact()),
                synced: handler.had_synced()
                    || listener.is_some_and(|listener| listener.has_synced()),
                syncing: handler.syncing || world.is_syncing(number),
                leaving: world.is_leaving(number),
                removed: handler.removed,
                panics: handler.panics,
                ..room
            }
        })
        .collect()
}

fn asked_of(settings: &HandlerSettings, world: &World<AnySource>) -> HandlerRoom {
    HandlerRoom {
        name: Arc::clone(&settings.name),
        latency_ms: settings.latency_ms,
        resync_ms: settings.resync_ms.unwrap_or(world.settings().resync_ms),
        filter: settings.filter.clone().unwrap_or_default(),
        syncing: true,
        ..HandlerRoom::default()
    }
}

fn beside_of(world: &World<AnySource>) -> BesideRoom {
    let log = &world.reflector().log;
    BesideRoom {
        shared: world.settings().machinery == InformerKind::Shared,
        handlers: world.settings().handlers.len(),
        lists: log.lists_asked,
        watches: log.watches_asked,
        objects: items_of(world),
    }
}

fn items_of(world: &World<AnySource>) -> SortedMap<Key, ObjectRef> {
    let items = world.store().into_iter().flat_map(|store| store.iter());
    fill(items.map(|(key, item)| (key.clone(), item.to_ref(key))))
}

fn work_of(world: &World<AnySource>) -> Option<WorkRoom> {
    let work = world.work()?;
    let queue = work.queue();
    let dirty = queue.queued().chain(queue.dirty_while_processing());
    let dirty = dirty.map(|key| (key.clone(), ())).collect();
    let failures = work.failures();
    Some(WorkRoom {
        queue: queue.queued().cloned().collect(),
        dirty,
        workers: work.in_work().map(|key| key.cloned()).collect(),
        delayed: queue
            .waiting()
            .map(|(key, at)| (key.clone(), at.as_millis() as u64))
            .collect(),
        failures,
        reconciled: work.reconciled,
        shut_down: queue.is_shutting_down(),
    })
}
