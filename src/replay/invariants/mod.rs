//! Monitors: what holds in every run of an informer, watched along its facts.
//!
//! A fold like the picture, but over the whole run: each monitor keeps its first violation. Only what
//! is new is looked at, and a run that is cut is gone on with from a state before the cut.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::ControlFlow;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{
    Actor, EventType, Fact, FactRecord, HandlersFact, LockName, Notification, ObjectRef, QueueFact,
    ReflectorFact, RunFact, Rv, ServerFact, Shape, StoreFact, WorkFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::selector::Selector;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::Time;

use super::picture::{InformerKind, Picture, QueueKind, SourceKind};
use super::timeline::{SEGMENT, Timeline};

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every index shows exactly what is stored.
    Index,
    /// Every queued key has deltas, every delta is queued under its key, and none gets lost.
    Queue,
    /// A lock has one holder, and only who holds the queue's changes the queue.
    Lock,
    /// The store holds only what the API server once had.
    Past,
    /// No object in the store gives way to an older version of itself, nor does the store's version go
    /// back.
    Back,
    /// No change is lost: a delete of what is known is not dropped, and once all is quiet the store is
    /// what the API server has.
    Lost,
    /// A handler hears of each object in order: first `OnAdd`, then newer versions, last `OnDelete`.
    Order,
    /// A handler that has dealt with all it was told knows exactly what is stored.
    Told,
    /// `HasSynced` waits until the first list was popped, and a handler's own until it was told of it.
    Synced,
    /// When the queue's `HasSynced` turns true, the first list is in the store.
    Early,
    /// Nobody writes into the objects that all share.
    Shared,
    /// No two workers have the same key.
    Work,
}

impl Invariant {
    /// All, in the order in which data runs.
    pub const ALL: [Self; 12] = [
        Self::Past,
        Self::Lost,
        Self::Queue,
        Self::Lock,
        Self::Index,
        Self::Back,
        Self::Synced,
        Self::Early,
        Self::Order,
        Self::Told,
        Self::Shared,
        Self::Work,
    ];

    /// Its stable name.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Queue => "queue",
            Self::Lock => "lock",
            Self::Past => "past",
            Self::Back => "back",
            Self::Lost => "lost",
            Self::Order => "order",
            Self::Told => "told",
            Self::Synced => "synced",
            Self::Early => "early",
            Self::Shared => "shared",
            Self::Work => "work",
        }
    }

    /// Whether there is something to watch in a program of this shape.
    #[must_use]
    pub fn applies(self, start: &Picture) -> bool {
        let informer = matches!(start.machinery, InformerKind::Plain | InformerKind::Shared);
        let by_hand = start.machinery == InformerKind::Manual;
        // A FIFO keeps neither Deltas nor deletes: what is asked of those is nothing for it.
        let queued = informer || by_hand && start.queue.kind != QueueKind::Fifo;
        let server = start.api.feed == SourceKind::Server;
        match self {
            Self::Lock | Self::Synced => informer || by_hand,
            Self::Queue | Self::Lost => queued,
            Self::Index => start.store.present && !start.store.indices.is_empty(),
            Self::Past => queued && server && start.store.present,
            Self::Back => queued && start.api.feed != SourceKind::Program && start.store.present,
            Self::Order => queued && !start.handlers.is_empty() || informer,
            Self::Told => queued && start.store.present,
            Self::Early => informer,
            Self::Shared => queued && start.store.present,
            Self::Work => start.work.is_some(),
        }
    }

    /// Whether this generation is known to break it.
    #[must_use]
    pub fn is_known(self, of: Generation, what: &ViolationKind) -> bool {
        match self {
            // The count goes down before what was popped is processed; 1.36 counts afterwards.
            Self::Early => of != Generation::Atomic,
            // A queue without KnownObjects drops it; every informer's queue has them.
            Self::Lost => matches!(what, ViolationKind::DeleteDropped),
            // Objects are shared in all of them, and only the mutation detector looks.
            Self::Shared => true,
            // A RealFIFO queues the delete of an unknown object, and a list that is opened at once looks
            // each of its objects up in the old store.
            Self::Order => match what {
                ViolationKind::NotAddedBefore => of != Generation::Classic,
                ViolationKind::AddedTwice => of == Generation::Atomic,
                _ => false,
            },
            _ => false,
        }
    }
}

/// What a violation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// A stored key stands under no value of this index, or under several.
    IndexCount(std::sync::Arc<str>, u32),
    /// This index names a key that is not stored.
    IndexDangling(std::sync::Arc<str>),
    /// A key is queued and has no deltas, or has deltas and is not queued.
    QueueUneven,
    /// So many were taken; so many had been put in.
    QueueCount(u32, u32),
    /// The lock was taken though somebody has it, or given back by somebody else.
    LockStolen(Actor),
    /// The queue was changed by somebody who does not hold its lock.
    Unlocked(Actor),
    /// The store got a version that the server never had.
    NeverExisted(Rv),
    /// From this version to an older one.
    WentBack(Rv, Rv),
    /// A delete was dropped though the consumer knows the object.
    DeleteDropped,
    /// All is quiet, and the server has something else: its version there and here, empty where there is
    /// none.
    Differs {
        /// On the server.
        server: Rv,
        /// In the store, or as the handler knows it.
        here: Rv,
    },
    /// A handler was told something else than what it was sent next.
    Overtaken,
    /// `OnAdd` of what it knows.
    AddedTwice,
    /// `OnUpdate` or `OnDelete` of what it does not know.
    NotAddedBefore,
    /// Synced while so many of the first list were not dealt with.
    TooEarly(u32),
    /// Who wrote: the number of a handler; none where only the detector noticed.
    Written,
    /// This worker has it already.
    TwoWorkers(u8),
}

/// The first violation of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub monitor: Invariant,
    /// After so many facts it is there.
    pub at: usize,
    /// When, in virtual ms.
    pub time: Time,
    /// Of which key, where it is about one.
    pub key: Option<Key>,
    /// Of which handler, where it is about one.
    pub handler: Option<u8>,
    /// What.
    pub what: ViolationKind,
    /// The generation of the run is known to do so.
    pub known: bool,
}

/// All monitors along one run.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    applies: Vec<Invariant>,
    generation: Generation,
    state: State,
    /// Earlier states, to go on from when the run is cut.
    kept: Vec<State>,
    found: Vec<Violation>,
    /// Of those, the ones that were found at rest: where the run goes on otherwise from there, they may
    /// not be there.
    at_rest: Vec<Invariant>,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// So many facts were looked at.
    seen: usize,
    time: Time,
    is_server: bool,
    server: Server,
    store: Store,
    queue: Queue,
    locks: [Option<Actor>; 2],
    handlers: Vec<HandlerState>,
    /// What each worker has.
    workers: Vec<Option<Key>>,
}

#[derive(Clone, Debug, Default)]
struct Server {
    /// What is asked for; all where there is none.
    selector: Option<Selector>,
    /// Of each object the versions it had that the store may still get, oldest first, and whether it is
    /// there and asked for.
    had: SortedMap<Key, Had>,
    /// Of versions up to this one some were forgotten.
    floor: Rv,
    /// A watch is open …
    watching: bool,
    /// … and its initial events are not all there.
    streaming: bool,
    /// Sent and not received.
    on_the_way: u32,
    in_hand: bool,
}

#[derive(Clone, Debug, Default)]
struct Had {
    versions: Vec<Rv>,
    live: bool,
}

#[derive(Clone, Debug, Default)]
struct Store {
    present: bool,
    items: SortedMap<Key, Rv>,
    /// Keys of which the server has something else.
    differs: SortedMap<Key, ()>,
    /// Index → key → under how many values it stands.
    indices: SortedMap<std::sync::Arc<str>, SortedMap<Key, u32>>,
    /// Keys that the current write touches.
    touched: Vec<Key>,
    /// All were touched.
    all_touched: bool,
    /// Keys whose index function failed.
    failed: SortedMap<Key, ()>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// DeltaFIFO: how many deltas of a key, and whether it is queued.
    keys: SortedMap<Key, (u32, bool)>,
    /// How many keys are one without the other.
    uneven: u32,
    /// RealFIFO: how many entries.
    entries: u32,
    /// Popped last: how many deltas.
    popped: u32,
    /// Of the first list, how many are still to be popped.
    initial: u32,
    populated: bool,
    synced: bool,
    /// Something was popped and is not done with …
    processing: bool,
    /// … and nothing of it has come to the store.
    untouched: bool,
}

#[derive(Clone, Debug, Default)]
struct HandlerState {
    knows: SortedMap<Key, Rv>,
    /// Keys of which the store has something else.
    differs: SortedMap<Key, ()>,
    pending: VecDeque<Notification>,
    /// Of those and the one in work, so many belong to the first list.
    initial: u32,
    sending: bool,
    running: bool,
    /// The one in work belongs to the first list.
    running_initial: bool,
    removed: bool,
    by_type: bool,
}

/// The versions of an object that are remembered, at the most.
const VERSIONS: usize = 64;

impl Invariants {
    /// Those of a run, as far as it is known.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut monitors = Self::begin(timeline);
        monitors.go_on(timeline);
        monitors
    }

    /// Those of a run before its first fact.
    #[must_use]
    pub fn begin(timeline: &Timeline) -> Self {
        Self::new(&timeline.picture(0), timeline.scenario().settings.by_type)
    }

    /// Those of a run that begins so, before its first fact; `by_type`: its process function goes by the
    /// delta's type alone.
    #[must_use]
    pub fn new(start: &Picture, by_type: bool) -> Self {
        let mut state = State {
            is_server: start.api.feed == SourceKind::Server,
            ..State::default()
        };
        state.server.selector.clone_from(&start.api.selector);
        state.store.present = start.store.present;
        for name in start.store.indices.keys() {
            state
                .store
                .indices
                .insert(name.clone(), SortedMap::default());
        }
        for (key, entry) in &start.api.objects {
            let selected = start.api.selects(&entry.body.labels);
            state.written(key, Some(&entry.object.rv), selected);
        }
        for handler in &start.handlers {
            // A handler inside `process` is told by the delta's type where the program goes by that.
            state.handlers.push(HandlerState {
                by_type: by_type || handler.inline && !start.machinery_is_informer(),
                ..HandlerState::default()
            });
        }
        if let Some(work) = &start.work {
            state.workers = vec![None; work.workers.len()];
        }
        Self {
            applies: Invariant::ALL
                .into_iter()
                .filter(|monitor| monitor.applies(start))
                .collect(),
            generation: start.generation,
            kept: vec![state.clone()],
            state,
            found: Vec::new(),
            at_rest: Vec::new(),
        }
    }

    /// Looks at what is new.
    pub fn go_on(&mut self, timeline: &Timeline) {
        self.go_on_to(timeline, timeline.len());
        self.thin(timeline);
        // Nothing more comes by itself.
        if !timeline.is_endless() && !timeline.is_full() && !timeline.is_live() {
            self.end();
        }
    }

    /// Looks through what is new, up to so many facts; that a run is over it does not notice.
    pub fn go_on_to(&mut self, timeline: &Timeline, end: usize) {
        let range = self.state.seen..end;
        timeline.each::<()>(range, &mut |place, record| {
            self.see(place, record);
            ControlFlow::Continue(())
        });
    }

    /// Keeps no more earlier states than the run has checkpoints.
    pub fn thin(&mut self, timeline: &Timeline) {
        timeline.thin_along(&mut self.kept, |state| state.seen);
    }

    /// Forgets what came after so many facts: the run was cut there.
    pub fn cut(&mut self, at: usize) {
        if at < self.state.seen {
            let kept = self.kept.partition_point(|state| state.seen <= at).max(1);
            self.kept.truncate(kept);
            if let Some(state) = self.kept.last() {
                self.state = state.clone();
            }
        }
        // Whether anything rests after the last fact, only what comes next tells.
        let (seen, at_rest) = (self.state.seen, &self.at_rest);
        self.found.retain(|found| {
            found.at < seen || found.at == seen && !at_rest.contains(&found.monitor)
        });
        let found = &self.found;
        self.at_rest
            .retain(|monitor| found.iter().any(|found| found.monitor == *monitor));
    }

    /// Forgets the first so many facts of the run; what is left begins at 0 again.
    pub fn forget(&mut self, gone: usize) {
        self.state.seen = self.state.seen.saturating_sub(gone);
        self.kept.retain(|state| state.seen >= gone);
        for state in &mut self.kept {
            state.seen -= gone;
        }
        if self.kept.is_empty() {
            self.kept.push(self.state.clone());
        }
        for found in &mut self.found {
            found.at = found.at.saturating_sub(gone);
        }
    }

    /// The first violation of each monitor, in the order of the run.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.found
    }

    /// The monitors that have something to watch here.
    #[must_use]
    pub fn applying(&self) -> &[Invariant] {
        &self.applies
    }

    /// Looks at the next fact.
    pub fn see(&mut self, place: usize, record: &FactRecord) {
        if record.time > self.state.time {
            self.end();
            self.state.time = record.time;
        }
        let mut broken = Broken::default();
        self.state.see(record, &mut broken);
        self.state.seen = place + 1;
        self.note(broken);
        let gap = SEGMENT.max(self.state.weight() * 2);
        if self
            .kept
            .last()
            .is_none_or(|kept| self.state.seen >= kept.seen + gap)
        {
            self.kept.push(self.state.clone());
        }
    }

    /// Looks at what is at rest: at the end of the run, as at that of each virtual ms.
    pub fn end(&mut self) {
        let mut broken = Broken::default();
        self.state.rest(&mut broken);
        let before = self.found.len();
        self.note(broken);
        let new = self.found.iter().skip(before);
        self.at_rest.extend(new.map(|found| found.monitor));
    }

    fn note(&mut self, broken: Broken) {
        for (monitor, key, handler, what) in broken.0 {
            let first = self.found.iter().all(|found| found.monitor != monitor);
            if first && self.applies.contains(&monitor) {
                self.found.push(Violation {
                    monitor,
                    at: self.state.seen,
                    time: self.state.time,
                    key,
                    handler,
                    known: monitor.is_known(self.generation, &what),
                    what,
                });
            }
        }
    }
}

/// What one fact breaks.
#[derive(Default)]
struct Broken(Vec<(Invariant, Option<Key>, Option<u8>, ViolationKind)>);

impl Broken {
    fn of(&mut self, monitor: Invariant, key: Option<&Key>, what: ViolationKind) {
        self.0.push((monitor, key.cloned(), None, what));
    }

    fn told(&mut self, monitor: Invariant, key: Option<&Key>, handler: usize, what: ViolationKind) {
        let handler = u8::try_from(handler).ok();
        self.0.push((monitor, key.cloned(), handler, what));
    }
}

impl State {
    fn see(&mut self, record: &FactRecord, broken: &mut Broken) {
        let (fact, actor) = (&record.fact, record.actor);
        self.see_index(fact, broken);
        self.see_lock(fact, actor, broken);
        self.see_server(fact, actor);
        self.see_queue(fact, broken);
        self.see_store(fact, broken);
        self.see_handlers(fact, broken);
        self.see_work(fact, broken);
    }

    /// What a copy of it costs, roughly.
    fn weight(&self) -> usize {
        let told = |told: &HandlerState| told.knows.len() + told.pending.len();
        self.server.had.len() * 2
            + self.store.items.len() * (1 + self.store.indices.len())
            + self.queue.keys.len()
            + self.handlers.iter().map(told).sum::<usize>()
    }

    fn rest(&self, broken: &mut Broken) {
        let still = |told: &HandlerState| told.pending.is_empty() && !told.running && !told.sending;
        let between = !self.queue.processing && self.locks[1].is_none();
        for (number, told) in self.handlers.iter().enumerate() {
            if let Some((key, ())) = told.differs.iter().next()
                && between
                && still(told)
                && !told.removed
            {
                let here = told.knows.get(key).cloned().unwrap_or_default();
                let server = self.store.items.get(key).cloned().unwrap_or_default();
                let what = ViolationKind::Differs { server, here };
                broken.told(Invariant::Told, Some(key), number, what);
            }
        }
        let server = &self.server;
        let watching = server.watching && !server.streaming;
        let arrived = watching && server.on_the_way == 0 && !server.in_hand;
        let empty = self.queue.keys.is_empty() && self.queue.entries == 0;
        if let Some((key, ())) = self.store.differs.iter().next()
            && arrived
            && empty
            && between
            && self.locks[0].is_none()
            && self.is_server
            && self.store.present
        {
            let here = self.store.items.get(key).cloned().unwrap_or_default();
            let server = self.server.live(key).cloned().unwrap_or_default();
            let what = ViolationKind::Differs { server, here };
            broken.of(Invariant::Lost, Some(key), what);
        }
    }

    // ---- the server and what comes from it

    fn see_server(&mut self, fact: &Fact, actor: Actor) {
        match fact {
            Fact::Server(
                ServerFact::ObjectCreated { object, body }
                | ServerFact::ObjectUpdated { object, body, .. },
            ) => {
                let selector = self.server.selector.as_ref();
                let selected = selector.is_none_or(|selector| selector.matches(&body.labels));
                self.written(&object.key, Some(&object.rv), selected);
            }
            Fact::Server(ServerFact::ObjectDeleted { object, .. }) => {
                self.written(&object.key, None, false)
            }
            Fact::Reflector(ReflectorFact::WatchRequested { initial_events, .. }) => {
                self.server.streaming = *initial_events
            }
            Fact::Server(ServerFact::WatchAccepted { .. }) => {
                self.server.on_the_way = 0;
                self.server.watching = true;
            }
            Fact::Reflector(ReflectorFact::InitialEventsEnded { .. }) => {
                self.server.streaming = false
            }
            Fact::Server(ServerFact::WatchClosed { .. })
            | Fact::Reflector(ReflectorFact::WatchEnded { .. })
            | Fact::Server(ServerFact::WatchRefused { .. }) => {
                self.server.watching = false;
            }
            Fact::Server(ServerFact::EventSent { .. }) => self.server.on_the_way += 1,
            Fact::Reflector(ReflectorFact::EventReceived { event, .. }) => {
                self.server.on_the_way = self.server.on_the_way.saturating_sub(1);
                self.server.in_hand = !matches!(event, EventType::Bookmark | EventType::Error);
            }
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                | QueueFact::DeltasMerged { .. }
                | QueueFact::DeleteIgnored { .. }
                | QueueFact::EntryAppended { .. }
                | QueueFact::KeyFailed { .. }
                | QueueFact::TransformFailed { .. },
            )
            | Fact::Reflector(
                ReflectorFact::ObjectRejected { .. } | ReflectorFact::InitialEventKept { .. },
            ) if actor == Actor::Reflector => {
                self.server.in_hand = false;
            }
            _ => {}
        }
    }

    /// The server has another version of a key, or nothing any more; `selected`: it is asked for.
    fn written(&mut self, key: &Key, rv: Option<&Rv>, selected: bool) {
        let had = self.server.had.or_default(key.clone());
        had.live = selected;
        if let Some(rv) = rv {
            if had.versions.len() == VERSIONS {
                forget(&mut self.server.floor, had.versions.remove(0));
            }
            had.versions.push(rv.clone());
        }
        self.compare_store(key);
    }

    fn compare_store(&mut self, key: &Key) {
        if !self.store.present {
            return;
        }
        if self.server.live(key) == self.store.items.get(key) {
            self.store.differs.remove(key);
        } else {
            self.store.differs.insert(key.clone(), ());
        }
    }

    // ---- the queue

    fn see_queue(&mut self, fact: &Fact, broken: &mut Broken) {
        let queue = &mut self.queue;
        match fact {
            Fact::Queue(QueueFact::DeltaAppended { object, .. }) => {
                queue.change(&object.key, |(deltas, _)| *deltas += 1)
            }
            Fact::Queue(QueueFact::DeltasMerged { key, .. }) => {
                queue.change(key, |(deltas, _)| *deltas = deltas.saturating_sub(1));
            }
            Fact::Queue(QueueFact::KeyEnqueued { key, .. }) => {
                queue.change(key, |(_, queued)| *queued = true)
            }
            Fact::Queue(QueueFact::KeyPopped { key, deltas, .. }) => {
                let popped = u32::try_from(deltas.len()).unwrap_or(u32::MAX);
                let (had, queued) = queue.keys.get(key).copied().unwrap_or_default();
                if had != popped {
                    broken.of(
                        Invariant::Queue,
                        Some(key),
                        ViolationKind::QueueCount(popped, had),
                    );
                } else if had == 0 || !queued {
                    broken.of(Invariant::Queue, Some(key), ViolationKind::QueueUneven);
                }
                queue.change(key, |entry| *entry = (0, false));
                queue.popped = popped;
                queue.processing = true;
                queue.untouched = true;
                queue.initial = queue.initial.saturating_sub(1);
            }
            Fact::Queue(QueueFact::Requeued { key, added: true }) => {
                let popped = queue.popped;
                queue.change(key, |(deltas, _)| *deltas = popped);
            }
            Fact::Queue(QueueFact::LockReleased {
                lock: LockName::Queue,
                ..
            }) if queue.uneven > 0 => {
                let uneven = |(_, entry): &(&Key, &(u32, bool))| (entry.0 > 0) != entry.1;
                let key = queue.keys.iter().find(uneven).map(|(key, _)| key);
                broken.of(Invariant::Queue, key, ViolationKind::QueueUneven);
            }
            Fact::Queue(QueueFact::EntryAppended { length, .. }) => {
                queue.entries += 1;
                if queue.entries != *length {
                    let what = ViolationKind::QueueCount(*length, queue.entries);
                    broken.of(Invariant::Queue, fact.key(), what);
                    queue.entries = *length;
                }
            }
            Fact::Queue(QueueFact::EntriesTaken { count, .. }) => {
                if *count > queue.entries || *count == 0 {
                    let what = ViolationKind::QueueCount(*count, queue.entries);
                    broken.of(Invariant::Queue, None, what);
                }
                queue.entries = queue.entries.saturating_sub(*count);
                queue.initial = queue.initial.saturating_sub(*count);
                queue.processing = true;
                queue.untouched = true;
            }
            Fact::Queue(QueueFact::Populated { initial }) => {
                queue.populated = true;
                queue.initial = *initial;
            }
            Fact::Queue(QueueFact::Synced) => {
                queue.synced = true;
                if queue.initial > 0 || !queue.populated {
                    broken.of(
                        Invariant::Synced,
                        None,
                        ViolationKind::TooEarly(queue.initial),
                    );
                }
                if queue.untouched {
                    broken.of(Invariant::Early, None, ViolationKind::TooEarly(1));
                }
            }
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                | QueueFact::ListOpened { .. }
                | QueueFact::ResyncOpened { .. },
            )
            | Fact::Store(StoreFact::StoreVersionMoved { .. } | StoreFact::ItemStored { .. }) => {
                queue.untouched = false
            }
            Fact::Queue(QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. }) => {
                queue.processing = false;
                queue.untouched = false;
            }
            Fact::Queue(QueueFact::DeleteIgnored { key }) => {
                let told = |told: &HandlerState| told.knows.contains_key(key);
                if self.store.items.contains_key(key) || self.handlers.iter().any(told) {
                    broken.of(Invariant::Lost, Some(key), ViolationKind::DeleteDropped);
                }
            }
            _ => {}
        }
    }

    fn see_lock(&mut self, fact: &Fact, actor: Actor, broken: &mut Broken) {
        let place = |lock: LockName| usize::from(lock == LockName::BlockDeltas);
        match fact {
            Fact::Queue(QueueFact::LockTaken { lock, by }) => {
                let holder = &mut self.locks[place(*lock)];
                if let Some(holder) = *holder {
                    broken.of(Invariant::Lock, None, ViolationKind::LockStolen(holder));
                }
                *holder = Some(*by);
            }
            Fact::Queue(QueueFact::LockReleased { lock, by }) => {
                let holder = &mut self.locks[place(*lock)];
                if *holder != Some(*by) {
                    broken.of(Invariant::Lock, None, ViolationKind::LockStolen(*by));
                }
                *holder = None;
            }
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                | QueueFact::DeltasMerged { .. }
                | QueueFact::KeyEnqueued { .. }
                | QueueFact::FifoItemSet { .. }
                | QueueFact::FifoItemRemoved { .. }
                | QueueFact::FifoKeySkipped { .. }
                | QueueFact::EntryAppended { .. }
                | QueueFact::KeyPopped { .. }
                | QueueFact::EntriesTaken { .. },
            ) if self.locks[0] != Some(actor) => {
                broken.of(Invariant::Lock, fact.key(), ViolationKind::Unlocked(actor));
            }
            _ => {}
        }
    }

    // ---- the store

    fn see_store(&mut self, fact: &Fact, broken: &mut Broken) {
        match fact {
            Fact::Run(RunFact::KnownObjectsSet { on: true }) => self.store.present = true,
            Fact::Store(StoreFact::ItemStored { object, .. }) => self.stored(object, broken),
            Fact::Store(StoreFact::ItemRemoved { key, .. }) => {
                self.store.items.remove(key);
                self.changed(key);
                self.forget_gone(key);
            }
            Fact::Store(StoreFact::StoreReplaced { items }) => {
                let before = std::mem::take(&mut self.store.items);
                for object in items {
                    if let Some(rv) = before.get(&object.key) {
                        self.store.items.insert(object.key.clone(), rv.clone());
                    }
                    self.stored(object, broken);
                }
                for key in before.keys() {
                    if !self.store.items.contains_key(key) {
                        self.changed(key);
                        self.forget_gone(key);
                    }
                }
            }
            Fact::Store(StoreFact::StoreVersionMoved { from, to }) if is_older(to, from) => {
                let what = ViolationKind::WentBack(from.clone(), to.clone());
                broken.of(Invariant::Back, None, what);
            }
            _ => {}
        }
    }

    fn stored(&mut self, object: &ObjectRef, broken: &mut Broken) {
        let (key, rv) = (&object.key, &object.rv);
        let before = self.store.items.insert(key.clone(), rv.clone());
        if let Some(before) = before
            && is_older(rv, &before)
        {
            let what = ViolationKind::WentBack(before, rv.clone());
            broken.of(Invariant::Back, Some(key), what);
        }
        let server = &mut self.server;
        let had = server.had.get_mut(key);
        let place = had
            .as_ref()
            .and_then(|had| had.versions.iter().position(|had| had == rv));
        match (had, place) {
            (Some(had), Some(place)) => {
                for forgotten in had.versions.drain(..place) {
                    forget(&mut server.floor, forgotten);
                }
            }
            // It may be one of those that were forgotten.
            _ if object.shape == Shape::Object
                && !is_older(rv, &server.floor)
                && *rv != server.floor =>
            {
                broken.of(
                    Invariant::Past,
                    Some(key),
                    ViolationKind::NeverExisted(rv.clone()),
                );
            }
            _ => {}
        }
        self.changed(key);
    }

    /// The store has something else under this key.
    fn changed(&mut self, key: &Key) {
        self.compare_store(key);
        for told in &mut self.handlers {
            told.compare(key, self.store.items.get(key));
        }
    }

    /// An object that is neither here nor there any more.
    fn forget_gone(&mut self, key: &Key) {
        let server = &mut self.server;
        if server.had.get(key).is_some_and(|had| !had.live)
            && let Some(had) = server.had.remove(key)
        {
            for forgotten in had.versions {
                forget(&mut server.floor, forgotten);
            }
        }
    }

    fn see_index(&mut self, fact: &Fact, broken: &mut Broken) {
        let store = &mut self.store;
        match fact {
            Fact::Store(StoreFact::ItemStored { object, .. }) => {
                store.touched.push(object.key.clone())
            }
            Fact::Store(StoreFact::ItemRemoved { key, .. }) => store.touched.push(key.clone()),
            Fact::Store(StoreFact::StoreReplaced { .. }) => store.all_touched = true,
            Fact::Store(StoreFact::StoreVersionMoved { .. }) => {}
            Fact::Store(StoreFact::IndexersAdded { names }) => {
                for name in names {
                    store.indices.or_default(name.clone());
                }
                store.all_touched = true;
            }
            Fact::Store(StoreFact::IndicesReset) => {
                // Keys stay, so that each is looked at.
                let names: Vec<_> = store.indices.keys().cloned().collect();
                for name in names {
                    store.indices.insert(name, SortedMap::default());
                }
                store.failed.clear();
                store.all_touched = true;
            }
            Fact::Store(StoreFact::IndexEntryAdded { index, key, .. }) => {
                *store
                    .indices
                    .or_default(index.clone())
                    .or_default(key.clone()) += 1;
                store.touched.push(key.clone());
            }
            Fact::Store(StoreFact::IndexEntryRemoved { index, key, .. }) => {
                let keys = store.indices.or_default(index.clone());
                let count = keys.or_default(key.clone());
                *count = count.saturating_sub(1);
                if *count == 0 {
                    keys.remove(key);
                }
                store.touched.push(key.clone());
            }
            Fact::Store(StoreFact::IndexFailed { key, .. }) => {
                store.failed.insert(key.clone(), ());
            }
            _ => {
                if store.all_touched {
                    store.all_touched = false;
                    store.touched = store.items.keys().cloned().collect();
                    for keys in store.indices.values() {
                        store.touched.extend(keys.keys().cloned());
                    }
                }
                for key in std::mem::take(&mut store.touched) {
                    store.check_index(&key, broken);
                }
            }
        }
    }

    // ---- the handlers

    fn see_handlers(&mut self, fact: &Fact, broken: &mut Broken) {
        let store = &self.store.items;
        let Fact::Handlers(
            HandlersFact::NotificationSent { handler, .. }
            | HandlersFact::NotificationQueued { handler, .. }
            | HandlersFact::NotificationTaken { handler, .. }
            | HandlersFact::NotificationHandled { handler }
            | HandlersFact::HandlerPanicked { handler, .. }
            | HandlersFact::HandlerRemoved { handler }
            | HandlersFact::HandlerSynced { handler }
            | HandlersFact::ObjectMutated { handler, .. },
        ) = fact
        else {
            match fact {
                Fact::Handlers(HandlersFact::HandlerAdded { .. }) => {
                    let mut told = HandlerState::default();
                    for key in store.keys() {
                        told.differs.insert(key.clone(), ());
                    }
                    self.handlers.push(told);
                }
                Fact::Handlers(HandlersFact::MutationDetected { key }) => {
                    broken.of(Invariant::Shared, Some(key), ViolationKind::Written);
                }
                _ => {}
            }
            return;
        };
        let number = usize::from(*handler);
        let synced = self.queue.synced;
        let Some(told) = self.handlers.get_mut(number) else {
            return;
        };
        match fact {
            Fact::Handlers(HandlersFact::NotificationSent { notification, .. }) => {
                told.sending = true;
                told.initial += u32::from(is_initial(notification));
            }
            Fact::Handlers(HandlersFact::NotificationQueued { notification, .. }) => {
                told.sending = false;
                told.pending.push_back(notification.clone());
            }
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => {
                let next = told.pending.pop_front();
                if next.is_some_and(|next| next != *notification) {
                    let key = Some(&notification.object().key);
                    broken.told(Invariant::Order, key, number, ViolationKind::Overtaken);
                }
                told.running = true;
                told.running_initial = is_initial(notification);
                told.hear(number, notification, store, broken);
            }
            Fact::Handlers(
                HandlersFact::NotificationHandled { .. } | HandlersFact::HandlerPanicked { .. },
            ) => {
                told.running = false;
                let counted = std::mem::take(&mut told.running_initial);
                told.initial = told.initial.saturating_sub(u32::from(counted));
            }
            Fact::Handlers(HandlersFact::HandlerRemoved { .. }) => {
                told.removed = true;
                told.pending.clear();
                told.sending = false;
            }
            Fact::Handlers(HandlersFact::HandlerSynced { .. }) if !synced || told.initial > 0 => {
                let what = ViolationKind::TooEarly(told.initial);
                broken.told(Invariant::Synced, None, number, what);
            }
            Fact::Handlers(HandlersFact::ObjectMutated { key, .. }) => {
                broken.told(Invariant::Shared, Some(key), number, ViolationKind::Written);
            }
            _ => {}
        }
    }

    fn see_work(&mut self, fact: &Fact, broken: &mut Broken) {
        match fact {
            Fact::Work(WorkFact::WorkTaken { worker, key }) => {
                let same = self
                    .workers
                    .iter()
                    .position(|has| has.as_ref() == Some(key));
                if let Some(other) = same.and_then(|other| u8::try_from(other).ok()) {
                    broken.of(Invariant::Work, Some(key), ViolationKind::TwoWorkers(other));
                }
                if let Some(has) = self.workers.get_mut(usize::from(*worker)) {
                    *has = Some(key.clone());
                }
            }
            Fact::Work(WorkFact::WorkDone { key, .. }) => {
                for has in &mut self.workers {
                    if has.as_ref() == Some(key) {
                        *has = None;
                    }
                }
            }
            _ => {}
        }
    }
}

impl Server {
    /// The version that the server has of a key.
    fn live(&self, key: &Key) -> Option<&Rv> {
        let had = self.had.get(key).filter(|had| had.live)?;
        had.versions.last()
    }
}

impl Queue {
    fn change(&mut self, key: &Key, change: impl FnOnce(&mut (u32, bool))) {
        let uneven = |entry: &(u32, bool)| u32::from((entry.0 > 0) != entry.1);
        let entry = self.keys.or_default(key.clone());
        let before = uneven(entry);
        change(entry);
        let after = uneven(entry);
        if *entry == (0, false) {
            self.keys.remove(key);
        }
        self.uneven = self.uneven + after - before;
    }
}

impl Store {
    fn check_index(&self, key: &Key, broken: &mut Broken) {
        if self.failed.contains_key(key) {
            return;
        }
        for (index, keys) in self.indices.iter() {
            let count = keys.get(key).copied().unwrap_or_default();
            match (self.items.contains_key(key), count) {
                (true, 1) | (false, 0) => {}
                (true, count) => {
                    let what = ViolationKind::IndexCount(index.clone(), count);
                    broken.of(Invariant::Index, Some(key), what);
                }
                (false, _) => {
                    let what = ViolationKind::IndexDangling(index.clone());
                    broken.of(Invariant::Index, Some(key), what);
                }
            }
        }
    }
}

impl HandlerState {
    fn compare(&mut self, key: &Key, stored: Option<&Rv>) {
        if self.knows.get(key) == stored {
            self.differs.remove(key);
        } else {
            self.differs.insert(key.clone(), ());
        }
    }

    fn hear(
        &mut self,
        number: usize,
        notification: &Notification,
        store: &SortedMap<Key, Rv>,
        broken: &mut Broken,
    ) {
        let object = notification.object();
        let key = &object.key;
        let knew = match notification {
            Notification::Delete { .. } => self.knows.remove(key),
            _ => self.knows.insert(key.clone(), object.rv.clone()),
        };
        let what = match (notification, knew) {
            (_, Some(knew)) if is_older(&object.rv, &knew) => {
                Some(ViolationKind::WentBack(knew, object.rv.clone()))
            }
            // A program that goes by the delta's type says "added" as often as it is told so.
            (Notification::Add { .. }, Some(_)) if !self.by_type => Some(ViolationKind::AddedTwice),
            (Notification::Update { .. } | Notification::Delete { .. }, None) if !self.by_type => {
                Some(ViolationKind::NotAddedBefore)
            }
            _ => None,
        };
        if let Some(what) = what {
            broken.told(Invariant::Order, Some(key), number, what);
        }
        self.compare(key, store.get(key));
    }
}

fn is_initial(notification: &Notification) -> bool {
    matches!(
        notification,
        Notification::Add {
            is_in_initial_list: true,
            ..
        }
    )
}

/// Versions up to this one may be forgotten.
fn forget(floor: &mut Rv, version: Rv) {
    if floor.is_empty() || is_older(floor, &version) {
        *floor = version;
    }
}

/// Whether one version comes before the other. They can be compared from Kubernetes 1.35 on: as decimal
/// numbers; what is none has no order.
#[must_use]
pub fn is_older(one: &str, other: &str) -> bool {
    let number = |rv: &str| {
        let digits = !rv.is_empty() && rv.bytes().all(|byte| byte.is_ascii_digit());
        digits && (!rv.starts_with('0') || rv == "0")
    };
    let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
    number(one) && number(other) && order == Ordering::Less
}

impl Picture {
    fn machinery_is_informer(&self) -> bool {
        matches!(self.machinery, InformerKind::Plain | InformerKind::Shared)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use super::*;
    use deltascope_cache::delta::DeltaType;
    use deltascope_cache::fact::{Body, Cause, Entry, FactId, WorkPlace};
    use deltascope_cache::step::Step;
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::virtual_time::{Input, ProcessModeText};

    fn object(rv: &str) -> ObjectRef {
        ObjectRef {
            key: "a/b".into(),
            shape: Shape::Object,
            rv: rv.into(),
            uid: "u".into(),
        }
    }

    fn key() -> Key {
        "a/b".into()
    }

    fn created(rv: &str) -> Fact {
        Fact::Server(ServerFact::ObjectCreated {
            object: object(rv),
            body: Body::default(),
        })
    }

    fn stored(rv: &str) -> Fact {
        Fact::Store(StoreFact::ItemStored {
            object: object(rv),
            old: None,
        })
    }

    fn indexed(value: &str) -> Fact {
        Fact::Store(StoreFact::IndexEntryAdded {
            index: "app".into(),
            value: value.into(),
            key: key(),
        })
    }

    fn add(rv: &str, is_in_initial_list: bool) -> Notification {
        Notification::Add {
            object: object(rv),
            is_in_initial_list,
        }
    }

    fn taken(notification: Notification) -> Fact {
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler: 0,
            notification,
        })
    }

    fn queued(notification: Notification) -> Fact {
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler: 0,
            notification,
            pending: 1,
        })
    }

    fn lock(by: Actor) -> Fact {
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by,
        })
    }

    fn appended(rv: &str) -> Fact {
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Added,
            object: object(rv),
            depth: 1,
        })
    }

    fn enqueued() -> Fact {
        Fact::Queue(QueueFact::KeyEnqueued {
            key: key(),
            length: 1,
        })
    }

    fn popped(deltas: usize) -> Fact {
        Fact::Queue(QueueFact::KeyPopped {
            key: key(),
            deltas: vec![(DeltaType::Added, object("5")); deltas],
            is_in_initial_list: true,
        })
    }

    fn settings(generation: Generation) -> Scenario {
        let settings = serde_json::json!({ "machinery": "shared", "era": generation.era(),
            "indices": ["app"], "handlers": [{ "name": "h" }], "work": { "workers": 2 } });
        Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            ..Scenario::default()
        }
    }

    /// What these facts break, each of them a virtual ms after the one before, all by the reflector.
    fn broken(generation: Generation, facts: Vec<Fact>) -> Vec<Violation> {
        let world = settings(generation).build().unwrap();
        let mut monitors = Invariants::new(&Picture::of(&world), false);
        for (place, fact) in facts.into_iter().enumerate() {
            let record = FactRecord {
                id: FactId(0),
                time: place as u64,
                actor: Actor::Reflector,
                cause: Cause::Start,
                step: Step::StoreWrite,
                fact,
            };
            monitors.see(place, &record);
        }
        monitors.end();
        monitors.violations().to_vec()
    }

    #[test]
    fn every_monitor_fires_at_the_fact_that_breaks_what_it_watches() {
        use Generation::{Atomic, Classic, InOrder};
        let watched = || {
            let rv: Rv = "9".into();
            vec![Fact::Server(ServerFact::WatchAccepted { rv }), created("5")]
        };
        let good = || {
            vec![
                created("5"),
                stored("5"),
                indexed("web"),
                Fact::Queue(QueueFact::QueueEmpty),
            ]
        };
        let with = |mut before: Vec<Fact>, mut facts: Vec<Fact>| {
            before.append(&mut facts);
            before
        };
        let work = |worker| Fact::Work(WorkFact::WorkTaken { worker, key: key() });
        let entry = |length| {
            Fact::Queue(QueueFact::EntryAppended {
                entry: Entry::Delta(DeltaType::Added, object("5")),
                length,
            })
        };
        let reflector = Actor::Reflector;
        let released = Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            by: reflector,
        });
        let ignored = Fact::Queue(QueueFact::DeleteIgnored { key: key() });
        let first_list = Fact::Queue(QueueFact::Populated { initial: 1 });
        // (generation, facts, what is found, after how many facts, known)
        let differs = |server: &str, here: &str| ViolationKind::Differs {
            server: server.into(),
            here: here.into(),
        };
        // Each fact has a moment of its own, and at rest a handler has to know what is stored.
        let told = || {
            let before = with(vec![queued(add("5", true))], good());
            with(before, vec![taken(add("5", true))])
        };
        let done = Fact::Handlers(HandlersFact::NotificationHandled { handler: 0 });
        let table: Vec<(Generation, Vec<Fact>, Invariant, ViolationKind, usize, bool)> = vec![
            (
                Atomic,
                vec![created("5"), stored("4")],
                Invariant::Past,
                ViolationKind::NeverExisted("4".into()),
                2,
                false,
            ),
            (
                Atomic,
                watched(),
                Invariant::Lost,
                differs("5", ""),
                2,
                false,
            ),
            (
                Classic,
                with(good(), vec![ignored]),
                Invariant::Lost,
                ViolationKind::DeleteDropped,
                5,
                true,
            ),
            (
                Classic,
                vec![lock(reflector), appended("5"), released.clone()],
                Invariant::Queue,
                ViolationKind::QueueUneven,
                3,
                false,
            ),
            (
                Classic,
                vec![lock(reflector), appended("5"), enqueued(), popped(2)],
                Invariant::Queue,
                ViolationKind::QueueCount(2, 1),
                4,
                false,
            ),
            (
                InOrder,
                vec![lock(reflector), entry(2)],
                Invariant::Queue,
                ViolationKind::QueueCount(2, 1),
                2,
                false,
            ),
            (
                Classic,
                vec![lock(Actor::ProcessLoop), lock(reflector)],
                Invariant::Lock,
                ViolationKind::LockStolen(Actor::ProcessLoop),
                2,
                false,
            ),
            (
                Classic,
                vec![released],
                Invariant::Lock,
                ViolationKind::LockStolen(reflector),
                1,
                false,
            ),
            (
                Classic,
                vec![appended("5")],
                Invariant::Lock,
                ViolationKind::Unlocked(reflector),
                1,
                false,
            ),
            (
                Atomic,
                vec![
                    created("5"),
                    stored("5"),
                    Fact::Queue(QueueFact::QueueEmpty),
                ],
                Invariant::Index,
                ViolationKind::IndexCount("app".into(), 0),
                3,
                false,
            ),
            (
                Atomic,
                with(
                    good(),
                    vec![indexed("db"), Fact::Queue(QueueFact::QueueEmpty)],
                ),
                Invariant::Index,
                ViolationKind::IndexCount("app".into(), 2),
                6,
                false,
            ),
            (
                Atomic,
                vec![indexed("db"), Fact::Queue(QueueFact::QueueEmpty)],
                Invariant::Index,
                ViolationKind::IndexDangling("app".into()),
                2,
                false,
            ),
            (
                Atomic,
                with(good(), vec![created("7"), stored("7"), stored("5")]),
                Invariant::Back,
                ViolationKind::WentBack("7".into(), "5".into()),
                7,
                false,
            ),
            (
                Atomic,
                vec![Fact::Store(StoreFact::StoreVersionMoved {
                    from: "10".into(),
                    to: "9".into(),
                })],
                Invariant::Back,
                ViolationKind::WentBack("10".into(), "9".into()),
                1,
                false,
            ),
            (
                Atomic,
                vec![first_list.clone(), Fact::Queue(QueueFact::Synced)],
                Invariant::Synced,
                ViolationKind::TooEarly(1),
                2,
                false,
            ),
            (
                Atomic,
                vec![
                    queued(add("5", true)),
                    Fact::Handlers(HandlersFact::NotificationSent {
                        handler: 0,
                        notification: add("5", true),
                    }),
                    Fact::Queue(QueueFact::Populated { initial: 0 }),
                    Fact::Queue(QueueFact::Synced),
                    Fact::Handlers(HandlersFact::HandlerSynced { handler: 0 }),
                ],
                Invariant::Synced,
                ViolationKind::TooEarly(1),
                5,
                false,
            ),
            (
                Classic,
                vec![
                    lock(reflector),
                    appended("5"),
                    enqueued(),
                    first_list,
                    popped(1),
                    Fact::Queue(QueueFact::Synced),
                ],
                Invariant::Early,
                ViolationKind::TooEarly(1),
                6,
                true,
            ),
            (
                Atomic,
                with(
                    good(),
                    vec![
                        queued(add("5", true)),
                        queued(add("6", true)),
                        taken(add("6", true)),
                    ],
                ),
                Invariant::Order,
                ViolationKind::Overtaken,
                7,
                false,
            ),
            (
                Atomic,
                with(told(), vec![taken(add("5", false))]),
                Invariant::Order,
                ViolationKind::AddedTwice,
                7,
                true,
            ),
            (
                Classic,
                with(
                    good(),
                    vec![taken(Notification::Delete {
                        object: object("5"),
                    })],
                ),
                Invariant::Order,
                ViolationKind::NotAddedBefore,
                5,
                false,
            ),
            (
                InOrder,
                with(
                    good(),
                    vec![taken(Notification::Delete {
                        object: object("5"),
                    })],
                ),
                Invariant::Order,
                ViolationKind::NotAddedBefore,
                5,
                true,
            ),
            (
                Atomic,
                with(
                    good(),
                    vec![
                        taken(add("5", true)),
                        taken(Notification::Update {
                            old: None,
                            new: object("4"),
                        }),
                    ],
                ),
                Invariant::Order,
                ViolationKind::WentBack("5".into(), "4".into()),
                6,
                false,
            ),
            (
                Atomic,
                with(
                    told(),
                    vec![done.clone(), stored("5"), created("6"), stored("6")],
                ),
                Invariant::Told,
                differs("6", "5"),
                10,
                false,
            ),
            (
                Atomic,
                with(
                    told(),
                    vec![Fact::Handlers(HandlersFact::ObjectMutated {
                        key: key(),
                        handler: 0,
                    })],
                ),
                Invariant::Shared,
                ViolationKind::Written,
                7,
                true,
            ),
            (
                Atomic,
                with(
                    told(),
                    vec![Fact::Handlers(HandlersFact::MutationDetected {
                        key: key(),
                    })],
                ),
                Invariant::Shared,
                ViolationKind::Written,
                7,
                true,
            ),
            (
                Atomic,
                vec![work(0), work(1)],
                Invariant::Work,
                ViolationKind::TwoWorkers(0),
                2,
                false,
            ),
        ];
        for (generation, facts, monitor, what, at, known) in table {
            let found = broken(generation, facts);
            let one = found.iter().find(|found| found.monitor == monitor);
            let one = one.unwrap_or_else(|| panic!("{monitor:?} {what:?}: {found:#?}"));
            assert_eq!(
                (&one.what, one.at, one.known),
                (&what, at, known),
                "{found:#?}"
            );
        }
        // Nothing is wrong with what these build on.
        let worked = vec![
            work(0),
            Fact::Work(WorkFact::WorkDone {
                key: key(),
                again: false,
            }),
            work(1),
        ];
        let added = Fact::Work(WorkFact::WorkAdded {
            key: key(),
            place: WorkPlace::Queue,
        });
        let good = with(with(told(), vec![done, added]), worked);
        assert_eq!(broken(Atomic, good), []);
    }

    /// A queue by hand: without KnownObjects a delete is lost, with them it is not.
    #[test]
    fn the_delete_that_a_queue_without_known_objects_drops_is_found_with_its_key() {
        for known in [false, true] {
            let text = serde_json::json!({ "settings": { "knownObjects": known, "store": true,
                    "handlers": [{ "name": "h", "inline": true }] },
                "script": [
                    { "at": 1000, "op": "create", "object": { "metadata": { "namespace": "a", "name": "b" } } },
                    { "at": 2000, "op": "delete", "object": { "metadata": { "namespace": "a", "name": "b" } } }] });
            let scenario: Scenario = serde_json::from_value(text).unwrap();
            let timeline = Timeline::new(scenario).unwrap();
            let monitors = Invariants::of(&timeline);
            let found = monitors.violations();
            if known {
                assert_eq!(found, []);
                continue;
            }
            let [lost] = found else { panic!("{found:?}") };
            assert_eq!(
                (lost.monitor, &lost.what, lost.known),
                (Invariant::Lost, &ViolationKind::DeleteDropped, true)
            );
            assert_eq!(lost.key, Some(key()));
            let fact = timeline.fact(lost.at - 1).unwrap().fact;
            assert_eq!(fact, Fact::Queue(QueueFact::DeleteIgnored { key: key() }));
        }
    }

    #[test]
    fn seeded_traffic_breaks_nothing_that_is_not_known() {
        for seed in 0..3 {
            for generation in Generation::ALL {
                let mut scenario = settings(generation);
                scenario.traffic = Some(seed);
                scenario.settings.process_ms = seed as u32 * 30;
                if seed == 1 {
                    // Most of what changes is not asked for, or leaves and comes back.
                    scenario.settings.selector = Selector::parse("app notin (web,api)").ok();
                }
                let mut timeline = Timeline::new(scenario).unwrap();
                timeline.extend(12_000);
                timeline.insert(3_000, Input::Source(deltascope_world::source::Command::Cut));
                timeline.extend(5_000);
                timeline.insert(
                    4_000,
                    Input::Source(deltascope_world::source::Command::Compact),
                );
                timeline.insert(4_100, Input::Source(deltascope_world::source::Command::Cut));
                timeline.extend(12_000);
                let monitors = Invariants::of(&timeline);
                let found: Vec<_> = monitors
                    .violations()
                    .iter()
                    .map(|one| one.monitor)
                    .collect();
                let early = [Invariant::Early];
                let expected = if generation == Generation::Atomic {
                    &[][..]
                } else {
                    &early
                };
                assert_eq!(
                    found,
                    expected,
                    "{seed} {generation:?} {:#?}",
                    monitors.violations()
                );
            }
        }
    }

    #[test]
    fn a_run_that_was_cut_is_watched_as_if_it_had_always_been_so() {
        let mut scenario = settings(Generation::Classic);
        scenario.traffic = Some(1);
        scenario.settings.mode = ProcessModeText(super::super::picture::ProcessMode::Paced(50));
        // With few checkpoints there are as few states to go on from.
        for checkpoints in [usize::MAX, 2] {
            let timeline = Timeline::new(scenario.clone()).unwrap();
            let mut timeline = timeline.with_checkpoints(checkpoints);
            let mut monitors = Invariants::of(&timeline);
            for (extend, cut) in [(9_000, 4_300), (6_000, 40), (200, 100), (5_000, 4_990)] {
                timeline.extend(extend);
                monitors.go_on(&timeline);
                assert!(monitors.kept.len() <= timeline.checkpoints());
                monitors.cut(cut);
                timeline.insert(cut, Input::Source(deltascope_world::source::Command::Cut));
                monitors.go_on(&timeline);
                let anew = Invariants::of(&timeline);
                assert_eq!(monitors.violations(), anew.violations());
                assert_eq!(format!("{:?}", monitors.state), format!("{:?}", anew.state));
            }
        }
    }

    #[test]
    fn a_run_that_had_come_to_its_end_is_watched_as_if_it_had_always_gone_on() {
        // What somebody does at the end, in the ms in which all seemed to rest.
        let world = settings(Generation::Atomic).build().unwrap();
        let record = |fact| FactRecord {
            id: FactId(0),
            time: 7,
            actor: Actor::Reflector,
            cause: Cause::Start,
            step: Step::StoreWrite,
            fact,
        };
        let watched = Fact::Server(ServerFact::WatchAccepted { rv: "9".into() });
        let facts = [watched, created("5"), stored("5"), indexed("web")].map(record);
        let fold = |ends: &[usize]| {
            let mut monitors = Invariants::new(&Picture::of(&world), false);
            for (place, record) in facts.iter().enumerate() {
                if ends.contains(&place) {
                    monitors.end();
                    monitors.cut(place);
                }
                monitors.see(place, record);
            }
            monitors.end();
            monitors
        };
        let (anew, ended) = (fold(&[]), fold(&[0, 1, 2, 3]));
        assert!(
            !anew
                .found
                .iter()
                .any(|found| found.monitor == Invariant::Lost)
        );
        assert_eq!(ended.violations(), anew.violations());
        // And what was found at the end of an earlier ms stays.
        let mut late = facts.clone();
        late[2].time += 1;
        let mut monitors = Invariants::new(&Picture::of(&world), false);
        for (place, record) in late.iter().enumerate() {
            monitors.see(place, record);
        }
        monitors.end();
        monitors.cut(4);
        let lost = monitors.violations().iter();
        assert_eq!(
            lost.filter(|found| (found.monitor, found.at) == (Invariant::Lost, 2))
                .count(),
            1
        );
        // Whole runs, gone on with from their ends.
        for generation in Generation::ALL {
            for process_ms in [0, 300] {
                let mut scenario = settings(generation);
                scenario.settings.process_ms = process_ms;
                let mut timeline = Timeline::new(scenario).unwrap();
                assert!(!timeline.is_endless());
                let mut monitors = Invariants::of(&timeline);
                for name in ["x", "y", "z"] {
                    let object = serde_json::json!({ "metadata": { "name": name } });
                    let object = deltascope_world::source::pod::from_json(&object).unwrap();
                    let write = deltascope_world::source::pod::Write::Create(object);
                    for input in [
                        deltascope_world::source::Command::Write(write),
                        deltascope_world::source::Command::Compact,
                        deltascope_world::source::Command::Cut,
                    ] {
                        let end = timeline.len();
                        monitors.cut(end);
                        timeline.insert(end, Input::Source(input));
                        monitors.go_on(&timeline);
                        let anew = Invariants::of(&timeline);
                        assert_eq!(monitors.violations(), anew.violations());
                        assert_eq!(monitors.at_rest, anew.at_rest);
                    }
                }
            }
        }
    }

    #[test]
    fn versions_are_compared_as_numbers_where_they_are_numbers() {
        for (one, other, older) in [
            ("9", "10", true),
            ("10", "9", false),
            ("9", "9", false),
            ("", "1", false),
            ("a", "b", false),
            ("08", "9", false),
            ("0", "1", true),
        ] {
            assert_eq!(is_older(one, other), older, "{one} {other}");
        }
    }
}
