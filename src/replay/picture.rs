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
use crate::cache::fact::{
    Actor, Body, Entry, EventType, Fact, FactRecord, Notification, ObjectRef, Rv, Shape,
};
use crate::cache::fill::fill;
use crate::cache::key::Key;
use crate::cache::queue::Queue;
pub use crate::runtime::virtual_time::{Feed, NOTIFICATIONS, OUTPUT_LINES, ReflectorState};
use crate::runtime::virtual_time::{PoppedDeltas, World};
use crate::source::any::AnySource;
use crate::source::program::event_of;
pub use crate::source::simulator::{DELETED_SHOWN, WATCH_WINDOW};
pub use crate::source::stream::{Delivery, STREAM_LINES, StreamLine};

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

/// The API server, its objects and the watch stream.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiRoom {
    /// What stands in this room.
    pub feed: Feed,
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
    /// A watch from before this version is answered with 410; empty when the history is whole.
    pub oldest: Rv,
    /// The versions of the changes that the server remembers, at most [`WATCH_WINDOW`].
    pub history: VecDeque<Rv>,
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

impl Picture {
    /// What a world is like now, read off the world itself: where a fold begins, and what tests
    /// hold the fold against.
    #[must_use]
    pub fn of(world: &World<AnySource>) -> Self {
        let mut picture = Self {
            api: api_of(world),
            reflector: reflector_of(world),
            queue: queue_of(world),
            lock: LockState {
                holder: world.lock().holder(),
                waiting: world.lock().waiting().collect(),
            },
            pop: pop_of(world),
            store: store_of(world),
            handlers: handlers_of(world),
            output: world.output().clone(),
        };
        picture.settle();
        picture
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
            .flat_map(BTreeMap::values)
            .map(|keys| keys.len() + 1)
            .sum();
        let told: usize = self
            .handlers
            .iter()
            .map(|handler| handler.pending.len() + handler.notifications.len())
            .sum();
        self.api.objects.len()
            + self.api.stream.len()
            + self.queue.keys.len()
            + queued
            + self.store.items.len()
            + indexed
            + told
            + self.output.len()
    }

    fn add(&mut self, record: &FactRecord) {
        self.apply_server(&record.fact);
        self.apply_reflector(&record.fact, record.actor);
        self.apply_queue(&record.fact);
        self.apply_store(&record.fact);
        self.apply_handlers(&record.fact);
    }

    /// What follows from the rest.
    fn settle(&mut self) {
        let waiting = self
            .api
            .stream
            .iter()
            .filter(|line| line.delivery == Delivery::Waiting && is_change(line.event))
            .count();
        let in_hand = self.reflector.in_hand.is_some();
        let queued: usize = self.queue.deltas.values().map(Vec::len).sum();
        // The one in work counts until the next one is taken or all are done.
        let in_work = self.pop.processing.as_ref().map_or(0, |popped| {
            popped.deltas.len() - popped.position.unwrap_or(0)
        });
        self.store.behind = if self.store.present {
            (waiting + usize::from(in_hand) + queued + self.queue.entries.len() + in_work) as u64
        } else {
            0
        };
    }

    fn apply_server(&mut self, fact: &Fact) {
        let api = &mut self.api;
        match fact {
            Fact::ObjectCreated { object, body } => {
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
            Fact::ObjectUpdated { object, body, .. } => {
                api.written(&object.rv);
                if let Some(entry) = api.objects.get_mut(&object.key) {
                    entry.object = object.clone();
                    entry.body = body.clone();
                }
            }
            Fact::ObjectDeleted { object, .. } => {
                api.written(&object.rv);
                if let Some(mut entry) = api.objects.get(&object.key).cloned() {
                    entry.object = object.clone();
                    entry.deleted = true;
                    api.deleted.push_back(object.key.clone());
                    api.objects.insert(object.key.clone(), entry);
                }
            }
            Fact::HistoryCompacted { oldest } => {
                api.rv = Arc::clone(oldest);
                api.oldest = Arc::clone(oldest);
                api.history.clear();
            }
            Fact::WatchAccepted { rv } => api.watch = Some(Arc::clone(rv)),
            Fact::EventSent { event, object } => {
                api.line(*event, object, Delivery::Waiting);
                if api.feed == Feed::Recorded {
                    api.told(*event, object);
                }
            }
            Fact::Called { delta_type, object } => {
                api.line(event_of(*delta_type), object, Delivery::Received);
            }
            Fact::EventReceived { .. } => {
                if let Some(line) = api
                    .stream
                    .iter_mut()
                    .find(|line| line.delivery == Delivery::Waiting)
                {
                    line.delivery = Delivery::Received;
                }
                api.trim();
            }
            Fact::WatchClosed { lost, .. } if *lost > 0 => {
                for line in &mut api.stream {
                    if line.delivery == Delivery::Waiting {
                        line.delivery = Delivery::Lost;
                    }
                }
                api.trim();
            }
            Fact::WatchEnded { .. } => api.watch = None,
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
            Fact::ListRequested { .. } => {
                reflector.state = ReflectorState::List;
                reflector.relist = false;
                reflector.backoff_ms = 0;
            }
            Fact::ListReceived { .. } => reflector.lists += 1,
            Fact::WatchRequested { .. } => {
                reflector.state = ReflectorState::Watch;
                reflector.backoff_ms = 0;
            }
            Fact::EventReceived { event, object } => {
                reflector.events += 1;
                if is_change(*event) {
                    reflector.in_hand = Some((*event, object.clone()));
                }
            }
            Fact::LastSyncMoved { to, .. } => reflector.last_sync = Arc::clone(to),
            Fact::WatchEnded { relist } => reflector.relist = *relist,
            Fact::BackoffStarted { ms, .. } => {
                reflector.state = ReflectorState::Backoff;
                reflector.backoff_ms = *ms;
            }
            Fact::ReflectorStopped { .. } => reflector.state = ReflectorState::Stopped,
            Fact::DeltaAppended { .. }
            | Fact::DeleteIgnored { .. }
            | Fact::KeyFailed { .. }
            | Fact::TransformFailed { .. }
            | Fact::EntryAppended { .. }
                if actor == Actor::Reflector =>
            {
                reflector.in_hand = None;
            }
            _ => {}
        }
    }

    fn apply_queue(&mut self, fact: &Fact) {
        let (queue, pop) = (&mut self.queue, &mut self.pop);
        match fact {
            Fact::ModeSet { mode } => {
                pop.mode = *mode;
                pop.asked = 0;
            }
            Fact::PopAsked { asked } => pop.asked = *asked,
            Fact::KnownObjectsSet { on } => {
                queue.known_objects = *on;
                self.store.present |= *on;
            }
            Fact::LockTaken { by, .. } => {
                self.lock.holder = Some(*by);
                self.lock.waiting.retain(|actor| actor != by);
            }
            Fact::LockAwaited { by, .. } => self.lock.waiting.push(*by),
            Fact::LockReleased { .. } => self.lock.holder = None,
            Fact::Populated { .. } => queue.populated = true,
            Fact::Synced => queue.synced = true,
            Fact::QueueClosed => queue.closed = true,
            Fact::DeltaAppended {
                delta_type, object, ..
            } => {
                queue
                    .deltas
                    .entry(object.key.clone())
                    .or_default()
                    .push((*delta_type, object.clone()));
                queue.enqueue(&object.key);
            }
            Fact::DeltasMerged { key, kept, .. } => {
                if let Some(deltas) = queue.deltas.get_mut(key) {
                    deltas.pop();
                    if let Some(last) = deltas.last_mut() {
                        last.1 = kept.clone();
                    }
                }
            }
            // Only a FIFO's key takes its place by this alone.
            Fact::KeyEnqueued { key, .. } => queue.enqueue(key),
            Fact::FifoItemSet { object } => {
                queue
                    .deltas
                    .insert(object.key.clone(), vec![(DeltaType::Added, object.clone())]);
            }
            Fact::FifoItemRemoved { key } => {
                queue.deltas.remove(key);
            }
            Fact::FifoCleared => {
                queue.deltas.clear();
                queue.keys.clear();
            }
            Fact::FifoKeySkipped { .. } => {
                queue.keys.pop_front();
            }
            Fact::EntryAppended { entry, .. } => queue.entries.push_back(entry.clone()),
            Fact::EntriesTaken { count, .. } => {
                queue
                    .entries
                    .drain(..(*count as usize).min(queue.entries.len()));
            }
            Fact::KeyPopped {
                key,
                deltas,
                is_in_initial_list,
            } => {
                queue.keys.pop_front();
                queue.deltas.remove(key);
                pop.asked = pop.asked.saturating_sub(1);
                pop.count += 1;
                pop.processing = Some(Popped {
                    key: key.clone(),
                    deltas: deltas.clone(),
                    position: None,
                    is_in_initial_list: *is_in_initial_list,
                });
            }
            Fact::Requeued { key, added: true } => {
                if let Some(popped) = &pop.processing {
                    queue.deltas.insert(key.clone(), popped.deltas.clone());
                    queue.enqueue(key);
                }
            }
            Fact::DeltaTaken { position, .. } => {
                if let Some(popped) = &mut pop.processing {
                    popped.position = Some(*position as usize);
                }
            }
            Fact::Processed { .. } => pop.last = pop.processing.take(),
            _ => {}
        }
    }

    fn apply_store(&mut self, fact: &Fact) {
        let store = &mut self.store;
        match fact {
            Fact::ItemStored { object, .. } => {
                store.items.insert(object.key.clone(), object.clone());
                store.rv = Arc::clone(&object.rv);
            }
            Fact::ItemRemoved { key, .. } => {
                store.items.remove(key);
                let by = self.pop.processing.as_ref().and_then(|popped| {
                    let (_, object) = popped.deltas.get(popped.position?)?;
                    (object.shape == Shape::Object).then_some(object)
                });
                if let Some(object) = by {
                    store.rv = Arc::clone(&object.rv);
                }
            }
            Fact::StoreReplaced { items } => {
                store.items = items
                    .iter()
                    .map(|object| (object.key.clone(), object.clone()))
                    .collect();
            }
            Fact::IndicesReset => {
                for values in store.indices.values_mut() {
                    values.clear();
                }
            }
            Fact::IndexersAdded { names } => {
                for name in names {
                    store.indices.entry(Arc::clone(name)).or_default();
                }
            }
            Fact::IndexEntryAdded { index, value, key } => {
                if let Some(values) = store.indices.get_mut(index) {
                    let keys = values.entry(Arc::clone(value)).or_default();
                    if let Err(place) = keys.binary_search(key) {
                        keys.insert(place, key.clone());
                    }
                }
            }
            Fact::IndexEntryRemoved {
                index, value, key, ..
            } => {
                if let Some(values) = store.indices.get_mut(index)
                    && let Some(keys) = values.get_mut(value)
                {
                    keys.retain(|other| other != key);
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
            Fact::NotificationQueued {
                handler,
                notification,
                ..
            } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.pending.push_back(notification.clone());
                }
            }
            Fact::NotificationTaken {
                handler,
                notification,
            } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.pending.pop_front();
                    room.running = Some(notification.clone());
                    if room.notifications.len() == NOTIFICATIONS {
                        room.notifications.pop_front();
                    }
                    room.notifications.push_back(notification.clone());
                }
            }
            Fact::NotificationHandled { handler } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.running = None;
                }
            }
            Fact::LinePrinted { line, .. } => {
                if self.output.len() == OUTPUT_LINES {
                    self.output.pop_front();
                }
                self.output.push_back(Arc::clone(line));
            }
            _ => {}
        }
    }
}

impl QueueRoom {
    /// Also between two facts a key is queued exactly when it has deltas.
    fn enqueue(&mut self, key: &Key) {
        if self.kind == QueueKind::Fifo || !self.keys.contains(key) {
            self.keys.push_back(key.clone());
        }
    }
}

impl ApiRoom {
    /// What a recorded event says of the server.
    fn told(&mut self, event: EventType, object: &ObjectRef) {
        if !object.rv.is_empty() {
            self.rv = Arc::clone(&object.rv);
        }
        if !self.told_by_events || !is_change(event) {
            return;
        }
        let deleted = event == EventType::Deleted;
        if event == EventType::Added {
            self.objects.shift_remove(&object.key);
        }
        let entry = ApiObject {
            object: object.clone(),
            body: Body::default(),
            deleted,
        };
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
            for (key, stored) in server.objects() {
                let object = ApiObject {
                    object: crate::source::simulator::reference(key, &stored.object),
                    body: crate::source::pod::body(&stored.object),
                    deleted: stored.deleted,
                };
                room.objects.insert(key.clone(), object);
            }
            let mut deleted: Vec<_> = server
                .objects()
                .filter(|(_, stored)| stored.deleted)
                .collect();
            deleted.sort_unstable_by_key(|(_, stored)| {
                crate::source::simulator::version(&stored.object)
            });
            room.deleted = deleted.into_iter().map(|(key, _)| key.clone()).collect();
            server.stream()
        }
        AnySource::Recorded(recording) => {
            room.watch = recording.open_watch();
            room.rv = Arc::clone(recording.rv());
            room.told_by_events = recording.knows_objects();
            for (key, (object, deleted)) in recording.objects() {
                let object = ApiObject {
                    object: object.clone(),
                    body: Body::default(),
                    deleted: *deleted,
                };
                room.objects.insert(key.clone(), object);
            }
            room.deleted = recording.deleted().cloned().collect();
            recording.stream()
        }
        AnySource::Program(program) => program.calls(),
    };
    room.stream = stream.lines().cloned().collect();
    room.sent = stream.sent();
    room
}

fn queue_of(world: &World<AnySource>) -> QueueRoom {
    let queue = world.queue();
    QueueRoom {
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
        known_objects: world.known_objects(),
        populated: queue.populated(),
        synced: queue.has_synced(),
        closed: queue.is_closed(),
    }
}

fn store_of(world: &World<AnySource>) -> StoreRoom {
    let mut room = StoreRoom {
        present: world.store().is_some(),
        rv: world.store_rv(),
        indices: world
            .settings()
            .indices
            .iter()
            .map(|name| (Arc::clone(name), BTreeMap::new()))
            .collect(),
        ..StoreRoom::default()
    };
    if let Some(store) = world.store() {
        room.items = fill(
            store
                .iter()
                .map(|(key, item)| (key.clone(), item.to_ref(key))),
        );
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
    ReflectorRoom {
        state: feeder.state,
        last_sync: Arc::clone(&feeder.last_sync),
        events: feeder.events,
        lists: feeder.lists,
        backoff_ms: feeder.backoff_ms,
        relist: feeder.relist,
        in_hand: feeder.in_hand.clone(),
    }
}

fn pop_of(world: &World<AnySource>) -> PopRoom {
    let process = world.process();
    let room = |popped: PoppedDeltas| Popped {
        key: popped.key,
        deltas: popped.deltas,
        position: popped.position,
        is_in_initial_list: popped.is_in_initial_list,
    };
    PopRoom {
        mode: process.mode,
        asked: process.asked,
        processing: process.processing().map(room),
        last: process.last.clone().map(room),
        count: process.count,
    }
}

fn handlers_of(world: &World<AnySource>) -> Vec<HandlerRoom> {
    world
        .handlers()
        .iter()
        .map(|handler| HandlerRoom {
            name: Arc::clone(&handler.settings.name),
            inline: handler.settings.inline,
            latency_ms: handler.settings.latency_ms,
            pending: handler
                .pending
                .iter()
                .map(|(notification, ..)| notification.clone())
                .collect(),
            running: handler
                .running
                .as_ref()
                .map(|(notification, ..)| notification.clone()),
            notifications: handler.notifications.clone(),
        })
        .collect()
}
