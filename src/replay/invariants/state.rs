//! The state of the invariants, and the change that each fact makes.

use std::collections::VecDeque;
use std::sync::Arc;

use deltascope_cache::fact::{
    Actor, EventType, Fact, FactRecord, HandlersFact, LockName, NotificationRef, ObjectRef,
    QueueFact, ReflectorFact, RunFact, Rv, ServerFact, Shape, StoreFact, WorkFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::selector::Selector;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::Time;

use super::{Invariant, ViolationKind, is_older};
use crate::picture::{Picture, SourceKind};

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The number of facts checked.
    pub(super) seen: usize,
    pub(super) time: Time,
    is_server: bool,
    server: Server,
    store: Store,
    queue: Queue,
    locks: [Option<Actor>; 2],
    handlers: Vec<HandlerState>,
    /// The key that each worker holds.
    workers: Vec<Option<Key>>,
}

#[derive(Clone, Debug, Default)]
struct Server {
    /// The selector of lists and watches; `None` selects all objects.
    selector: Option<Selector>,
    /// For each object the versions that the store may still receive, oldest first, and whether it exists and
    /// the selector matches it.
    had: SortedMap<Key, Had>,
    /// Some of the versions up to this one were forgotten.
    floor: Rv,
    /// Whether a watch is open …
    watching: bool,
    /// … and its initial events are incomplete.
    streaming: bool,
    /// The number of events sent and not received.
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
    /// The keys whose object differs from the server's.
    differs: Differs,
    /// Index → key → the number of its values.
    indices: SortedMap<Arc<str>, SortedMap<Key, u32>>,
    /// The keys that the current write touches.
    touched: Vec<Key>,
    /// Whether the write touches all keys.
    all_touched: bool,
    /// The keys whose index function failed.
    failed: SortedMap<Key, ()>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// DeltaFIFO: the number of deltas of each key, and whether it is queued.
    keys: SortedMap<Key, (u32, bool)>,
    /// The number of keys that are queued without deltas or have deltas without being queued.
    uneven: u32,
    /// RealFIFO: the number of entries.
    entries: u32,
    /// The number of deltas of the last popped item.
    popped: u32,
    /// The number of items of the first list that are still to be popped.
    initial: u32,
    populated: bool,
    synced: bool,
    /// Whether a popped item is being processed …
    processing: bool,
    /// … and none of it has reached the store.
    untouched: bool,
}

#[derive(Clone, Debug, Default)]
struct HandlerState {
    knows: SortedMap<Key, Rv>,
    /// The keys whose object differs from the store's.
    differs: Differs,
    pending: VecDeque<NotificationRef>,
    /// The number of unprocessed notifications that belong to the first list.
    initial: u32,
    sending: bool,
    running: bool,
    /// Whether the current notification belongs to the first list.
    running_initial: bool,
    removed: bool,
    by_type: bool,
}

/// So many keys that no longer differ are kept, and as many as still do.
const SETTLED: usize = 64;

/// The keys whose objects differ. Of a list they all do, and then one after the other no longer: taken out at once, each would move
/// all that follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Differs {
    of: SortedMap<Key, bool>,
    count: usize,
}

impl Differs {
    pub(super) fn note(&mut self, key: &Key, differs: bool) {
        let before = match self.of.get_mut(key) {
            Some(of) => std::mem::replace(of, differs),
            None => {
                if differs {
                    self.of.insert(key.clone(), true);
                }
                false
            }
        };
        self.count += usize::from(differs);
        self.count -= usize::from(before);
        if self.of.len() > 2 * self.count + SETTLED {
            let all = std::mem::take(&mut self.of).into_iter();
            self.of = all.filter(|(_, differs)| *differs).collect();
        }
    }

    pub(super) fn first(&self) -> Option<&Key> {
        let mut all = self.of.iter();
        all.find_map(|(key, differs)| differs.then_some(key))
    }
}

/// The most versions remembered of an object.
const VERSIONS: usize = 64;

/// The violations of one fact.
#[derive(Default)]
pub(super) struct Broken(pub(super) Vec<(Invariant, Option<Key>, Option<u8>, ViolationKind)>);

impl Broken {
    fn of(&mut self, invariant: Invariant, key: Option<&Key>, what: ViolationKind) {
        self.0.push((invariant, key.cloned(), None, what));
    }

    fn of_handler(
        &mut self,
        invariant: Invariant,
        key: Option<&Key>,
        handler: usize,
        what: ViolationKind,
    ) {
        let handler = u8::try_from(handler).ok();
        self.0.push((invariant, key.cloned(), handler, what));
    }
}

impl State {
    /// The state before the first fact of a run that starts with this picture.
    pub(super) fn begin(start: &Picture, by_type: bool) -> Self {
        let mut state = State {
            is_server: start.api.source == SourceKind::Server,
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
            // In a manual assembly, a handler inside `process` depends on the delta's type.
            state.handlers.push(HandlerState {
                by_type: by_type || handler.inline && !start.informer.is_informer(),
                ..HandlerState::default()
            });
        }
        if let Some(work) = &start.work {
            state.workers = vec![None; work.workers.len()];
        }
        state
    }

    pub(super) fn see(&mut self, record: &FactRecord, broken: &mut Broken) {
        // The indices are compared after the write that touched them.
        if !matches!(record.fact, Fact::Store(_)) {
            self.store.check_indices(broken);
        }
        match &record.fact {
            Fact::Server(fact) => self.see_server(fact),
            Fact::Reflector(fact) => self.see_reflector(fact, record.actor),
            Fact::Queue(fact) => self.see_queue(fact, record.actor, broken),
            Fact::Store(fact) => self.see_store(fact, broken),
            Fact::Handlers(fact) => self.see_handlers(fact, broken),
            Fact::Work(fact) => self.see_work(fact, broken),
            Fact::Run(fact) => self.see_run(fact),
        }
    }

    /// The approximate cost of a copy.
    pub(super) fn weight(&self) -> usize {
        let size = |state: &HandlerState| state.knows.len() + state.pending.len();
        self.server.had.len() * 2
            + self.store.items.len() * (1 + self.store.indices.len())
            + self.queue.keys.len()
            + self.handlers.iter().map(size).sum::<usize>()
    }

    pub(super) fn rest(&self, broken: &mut Broken) {
        let still =
            |state: &HandlerState| state.pending.is_empty() && !state.running && !state.sending;
        let between = !self.queue.processing && self.locks[1].is_none();
        for (number, state) in self.handlers.iter().enumerate() {
            if between
                && still(state)
                && !state.removed
                && let Some(key) = state.differs.first()
            {
                let here = state.knows.get(key).cloned().unwrap_or_default();
                let server = self.store.items.get(key).cloned().unwrap_or_default();
                let what = ViolationKind::Differs { server, here };
                broken.of_handler(Invariant::Notified, Some(key), number, what);
            }
        }
        let server = &self.server;
        let watching = server.watching && !server.streaming;
        let arrived = watching && server.on_the_way == 0 && !server.in_hand;
        let empty = self.queue.keys.is_empty() && self.queue.entries == 0;
        if arrived
            && empty
            && between
            && self.locks[0].is_none()
            && self.is_server
            && self.store.present
            && let Some(key) = self.store.differs.first()
        {
            let here = self.store.items.get(key).cloned().unwrap_or_default();
            let server = self.server.live(key).cloned().unwrap_or_default();
            let what = ViolationKind::Differs { server, here };
            broken.of(Invariant::Lost, Some(key), what);
        }
    }

    // ---- the server and its events

    fn see_server(&mut self, fact: &ServerFact) {
        match fact {
            ServerFact::ObjectCreated { object, body }
            | ServerFact::ObjectUpdated { object, body, .. } => {
                let selector = self.server.selector.as_ref();
                let selected = selector.is_none_or(|selector| selector.matches(&body.labels));
                self.written(&object.key, Some(&object.rv), selected);
            }
            ServerFact::ObjectDeleted { object, .. } => self.written(&object.key, None, false),
            ServerFact::WatchAccepted { .. } => {
                self.server.on_the_way = 0;
                self.server.watching = true;
            }
            ServerFact::WatchClosed { .. } | ServerFact::WatchRefused { .. } => {
                self.server.watching = false;
            }
            ServerFact::EventSent { .. } => self.server.on_the_way += 1,
            ServerFact::WriteRefused { .. }
            | ServerFact::RefusalsAsked { .. }
            | ServerFact::HistoryCompacted { .. }
            | ServerFact::ListAnswered { .. }
            | ServerFact::ObjectsLearned { .. }
            | ServerFact::RequestDeferred { .. }
            | ServerFact::ListRefused { .. }
            | ServerFact::WatchDenied { .. }
            | ServerFact::ConnectionRefused => {}
        }
    }

    fn see_reflector(&mut self, fact: &ReflectorFact, actor: Actor) {
        let server = &mut self.server;
        match fact {
            ReflectorFact::WatchRequested { initial_events, .. } => {
                server.streaming = *initial_events;
            }
            ReflectorFact::InitialEventsEnded { .. } => server.streaming = false,
            ReflectorFact::WatchEnded { .. } => server.watching = false,
            ReflectorFact::EventReceived { event, .. } => {
                server.on_the_way = server.on_the_way.saturating_sub(1);
                server.in_hand = !matches!(event, EventType::Bookmark | EventType::Error);
            }
            ReflectorFact::ObjectRejected { .. } | ReflectorFact::InitialEventKept { .. } => {
                server.in_hand &= actor != Actor::Reflector;
            }
            ReflectorFact::ListRequested { .. }
            | ReflectorFact::PageReceived { .. }
            | ReflectorFact::ListFailed { .. }
            | ReflectorFact::ListReceived { .. }
            | ReflectorFact::WatchFailed { .. }
            | ReflectorFact::InitialEventsEndMissed { .. }
            | ReflectorFact::StreamFellBack { .. }
            | ReflectorFact::VersionUnavailable { .. }
            | ReflectorFact::WatchErrorReported { .. }
            | ReflectorFact::ResyncDue { .. }
            | ReflectorFact::LastSyncMoved { .. }
            | ReflectorFact::BackoffStarted { .. }
            | ReflectorFact::ReflectorStopped { .. } => {}
        }
    }

    /// The server has a new version of a key, or deleted it; `selected`: the selector matches the object.
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
        let differs = self.server.live(key) != self.store.items.get(key);
        self.store.differs.note(key, differs);
    }

    fn see_queue(&mut self, fact: &QueueFact, actor: Actor, broken: &mut Broken) {
        let unlocked = self.locks[0] != Some(actor);
        let place = |lock: LockName| usize::from(lock == LockName::BlockDeltas);
        let queue = &mut self.queue;
        let changes = match fact {
            QueueFact::DeltaAppended { object, .. } => {
                queue.change(&object.key, |(deltas, _)| *deltas += 1);
                true
            }
            QueueFact::DeltasMerged { key, .. } => {
                queue.change(key, |(deltas, _)| *deltas = deltas.saturating_sub(1));
                true
            }
            QueueFact::KeyEnqueued { key, .. } => {
                queue.change(key, |(_, queued)| *queued = true);
                true
            }
            QueueFact::KeyPopped { key, deltas, .. } => {
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
                true
            }
            QueueFact::Requeued { key, added: true } => {
                let popped = queue.popped;
                queue.change(key, |(deltas, _)| *deltas = popped);
                true
            }
            QueueFact::LockTaken { lock, by } => {
                let holder = &mut self.locks[place(*lock)];
                if let Some(holder) = *holder {
                    broken.of(Invariant::Lock, None, ViolationKind::LockStolen(holder));
                }
                *holder = Some(*by);
                false
            }
            QueueFact::LockReleased { lock, by } => {
                let holder = &mut self.locks[place(*lock)];
                if *holder != Some(*by) {
                    broken.of(Invariant::Lock, None, ViolationKind::LockStolen(*by));
                }
                *holder = None;
                // The event in its hand is passed on.
                self.server.in_hand &= *by != Actor::Reflector;
                if *lock == LockName::Queue && queue.uneven > 0 {
                    let uneven = |(_, entry): &(&Key, &(u32, bool))| (entry.0 > 0) != entry.1;
                    let key = queue.keys.iter().find(uneven).map(|(key, _)| key);
                    broken.of(Invariant::Queue, key, ViolationKind::QueueUneven);
                }
                false
            }
            QueueFact::EntryAppended { length, .. } => {
                queue.entries += 1;
                if queue.entries != *length {
                    let what = ViolationKind::QueueCount(*length, queue.entries);
                    broken.of(Invariant::Queue, fact.key(), what);
                    queue.entries = *length;
                }
                true
            }
            QueueFact::EntriesTaken { count, .. } => {
                if *count > queue.entries || *count == 0 {
                    let what = ViolationKind::QueueCount(*count, queue.entries);
                    broken.of(Invariant::Queue, None, what);
                }
                queue.entries = queue.entries.saturating_sub(*count);
                queue.initial = queue.initial.saturating_sub(*count);
                queue.processing = true;
                queue.untouched = true;
                true
            }
            QueueFact::Populated { initial } => {
                queue.populated = true;
                queue.initial = *initial;
                true
            }
            QueueFact::Synced => {
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
                false
            }
            QueueFact::DeltaTaken { .. }
            | QueueFact::ListOpened { .. }
            | QueueFact::ResyncOpened { .. } => {
                queue.untouched = false;
                false
            }
            QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. } => {
                queue.processing = false;
                queue.untouched = false;
                false
            }
            QueueFact::DeleteIgnored { key } => {
                let knows = |state: &HandlerState| state.knows.contains_key(key);
                if self.store.items.contains_key(key) || self.handlers.iter().any(knows) {
                    broken.of(Invariant::Lost, Some(key), ViolationKind::DeleteDropped);
                }
                false
            }
            QueueFact::FifoItemSet { .. }
            | QueueFact::FifoItemRemoved { .. }
            | QueueFact::FifoCleared
            | QueueFact::FifoKeySkipped { .. } => true,
            QueueFact::LockAwaited { .. }
            | QueueFact::KeyFailed { .. }
            | QueueFact::TransformFailed { .. }
            | QueueFact::Transformed { .. }
            | QueueFact::DeleteChecked { .. }
            | QueueFact::DeletionDetected { .. }
            | QueueFact::ResyncSkipped { .. }
            | QueueFact::AlreadyPresent { .. }
            | QueueFact::QueueEmpty
            | QueueFact::ProcessFailed { .. }
            | QueueFact::Requeued { .. }
            | QueueFact::ProcessWasSlow { .. }
            | QueueFact::QueueClosed => false,
        };
        if changes && unlocked {
            broken.of(Invariant::Lock, fact.key(), ViolationKind::Unlocked(actor));
        }
    }

    // ---- the store

    fn see_store(&mut self, fact: &StoreFact, broken: &mut Broken) {
        match fact {
            StoreFact::ItemStored { object, .. } => {
                self.queue.untouched = false;
                self.store.touched.push(object.key.clone());
                self.stored(object, broken);
            }
            StoreFact::ItemRemoved { key, .. } => {
                self.store.touched.push(key.clone());
                self.store.items.remove(key);
                self.changed(key);
                self.forget_gone(key);
            }
            StoreFact::StoreReplaced { items } => {
                self.store.all_touched = true;
                let before = std::mem::take(&mut self.store.items);
                for object in items.iter() {
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
            StoreFact::StoreVersionMoved { from, to } => {
                self.queue.untouched = false;
                if is_older(to, from) {
                    let what = ViolationKind::WentBack(from.clone(), to.clone());
                    broken.of(Invariant::Back, None, what);
                }
            }
            StoreFact::IndexersAdded { names } => {
                for name in names {
                    self.store.indices.or_default(name.clone());
                }
                self.store.all_touched = true;
            }
            StoreFact::IndicesReset => {
                // The keys stay, so that each one is checked.
                let names: Vec<_> = self.store.indices.keys().cloned().collect();
                for name in names {
                    self.store.indices.insert(name, SortedMap::default());
                }
                self.store.failed.clear();
                self.store.all_touched = true;
            }
            StoreFact::IndexEntryAdded { index, key, .. } => {
                let keys = self.store.indices.or_default(index.clone());
                *keys.or_default(key.clone()) += 1;
                self.store.touched.push(key.clone());
            }
            StoreFact::IndexEntryRemoved { index, key, .. } => {
                let keys = self.store.indices.or_default(index.clone());
                let count = keys.or_default(key.clone());
                *count = count.saturating_sub(1);
                if *count == 0 {
                    keys.remove(key);
                }
                self.store.touched.push(key.clone());
            }
            StoreFact::IndexFailed { key, .. } => {
                self.store.failed.insert(key.clone(), ());
            }
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
            // It may be one of the forgotten versions.
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

    /// The store has another object under this key, or none.
    fn changed(&mut self, key: &Key) {
        self.compare_store(key);
        for state in &mut self.handlers {
            state.compare(key, self.store.items.get(key));
        }
    }

    /// Forgets an object that neither the server nor the store has.
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

    // ---- the handlers

    fn see_handlers(&mut self, fact: &HandlersFact, broken: &mut Broken) {
        match fact {
            HandlersFact::NotificationSent {
                handler,
                notification,
            } => {
                if let Some(state) = self.handlers.get_mut(usize::from(*handler)) {
                    state.sending = true;
                    state.initial += u32::from(is_initial(notification));
                }
            }
            HandlersFact::NotificationQueued {
                handler,
                notification,
                ..
            } => {
                if let Some(state) = self.handlers.get_mut(usize::from(*handler)) {
                    state.sending = false;
                    state.pending.push_back(notification.clone());
                }
            }
            HandlersFact::NotificationTaken {
                handler,
                notification,
            } => {
                let number = usize::from(*handler);
                if let Some(state) = self.handlers.get_mut(number) {
                    let next = state.pending.pop_front();
                    if next.is_some_and(|next| next != *notification) {
                        let key = Some(&notification.object().key);
                        broken.of_handler(Invariant::Order, key, number, ViolationKind::Overtaken);
                    }
                    state.running = true;
                    state.running_initial = is_initial(notification);
                    state.hear(number, notification, &self.store.items, broken);
                }
            }
            HandlersFact::NotificationHandled { handler }
            | HandlersFact::HandlerPanicked { handler, .. } => {
                if let Some(state) = self.handlers.get_mut(usize::from(*handler)) {
                    state.running = false;
                    let counted = std::mem::take(&mut state.running_initial);
                    state.initial = state.initial.saturating_sub(u32::from(counted));
                }
            }
            HandlersFact::HandlerAdded { .. } => {
                let mut state = HandlerState::default();
                for key in self.store.items.keys() {
                    state.differs.note(key, true);
                }
                self.handlers.push(state);
            }
            HandlersFact::HandlerRemoved { handler } => {
                if let Some(state) = self.handlers.get_mut(usize::from(*handler)) {
                    state.removed = true;
                    state.pending.clear();
                    state.sending = false;
                }
            }
            HandlersFact::HandlerSynced { handler } => {
                let number = usize::from(*handler);
                if let Some(state) = self.handlers.get(number)
                    && (!self.queue.synced || state.initial > 0)
                {
                    let what = ViolationKind::TooEarly(state.initial);
                    broken.of_handler(Invariant::Synced, None, number, what);
                }
            }
            HandlersFact::ObjectMutated { handler, key } => {
                let number = usize::from(*handler);
                if number < self.handlers.len() {
                    broken.of_handler(Invariant::Shared, Some(key), number, ViolationKind::Written);
                }
            }
            HandlersFact::MutationDetected { key } => {
                broken.of(Invariant::Shared, Some(key), ViolationKind::Written);
            }
            HandlersFact::NotificationWithheld { .. }
            | HandlersFact::LinePrinted { .. }
            | HandlersFact::HandlerAsked { .. }
            | HandlersFact::RemovalAsked { .. }
            | HandlersFact::SyncingSet { .. }
            | HandlersFact::ResyncCheckSet { .. } => {}
        }
    }

    fn see_work(&mut self, fact: &WorkFact, broken: &mut Broken) {
        match fact {
            WorkFact::WorkTaken { worker, key } => {
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
            WorkFact::WorkDone { key, .. } => {
                for has in &mut self.workers {
                    if has.as_ref() == Some(key) {
                        *has = None;
                    }
                }
            }
            WorkFact::WorkAdded { .. }
            | WorkFact::WorkDelayed { .. }
            | WorkFact::WorkForgotten { .. }
            | WorkFact::Reconciled { .. }
            | WorkFact::WorkShutDown { .. } => {}
        }
    }

    fn see_run(&mut self, fact: &RunFact) {
        match fact {
            RunFact::KnownObjectsSet { on } => self.store.present |= *on,
            RunFact::Called { .. }
            | RunFact::ModeSet { .. }
            | RunFact::PopAsked { .. }
            | RunFact::BesideRequested { .. }
            | RunFact::BesideStored { .. } => {}
        }
    }
}

impl Server {
    /// The server's current version of a key.
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
    fn check_indices(&mut self, broken: &mut Broken) {
        if self.all_touched {
            self.all_touched = false;
            self.touched = self.items.keys().cloned().collect();
            for keys in self.indices.values() {
                self.touched.extend(keys.keys().cloned());
            }
        }
        for key in std::mem::take(&mut self.touched) {
            self.check_index(&key, broken);
        }
    }

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
        self.differs.note(key, self.knows.get(key) != stored);
    }

    fn hear(
        &mut self,
        number: usize,
        notification: &NotificationRef,
        store: &SortedMap<Key, Rv>,
        broken: &mut Broken,
    ) {
        let object = notification.object();
        let key = &object.key;
        let knew = match notification {
            NotificationRef::Delete { .. } => self.knows.remove(key),
            _ => self.knows.insert(key.clone(), object.rv.clone()),
        };
        let what = match (notification, knew) {
            (_, Some(knew)) if is_older(&object.rv, &knew) => {
                Some(ViolationKind::WentBack(knew, object.rv.clone()))
            }
            // A process function that uses the delta's type alone may call `OnAdd` repeatedly.
            (NotificationRef::Add { .. }, Some(_)) if !self.by_type => {
                Some(ViolationKind::AddedTwice)
            }
            (NotificationRef::Update { .. } | NotificationRef::Delete { .. }, None)
                if !self.by_type =>
            {
                Some(ViolationKind::NotAddedBefore)
            }
            _ => None,
        };
        if let Some(what) = what {
            broken.of_handler(Invariant::Order, Some(key), number, what);
        }
        self.compare(key, store.get(key));
    }
}

fn is_initial(notification: &NotificationRef) -> bool {
    matches!(
        notification,
        NotificationRef::Add {
            is_in_initial_list: true,
            ..
        }
    )
}

/// Raises the version up to which versions may be forgotten.
fn forget(floor: &mut Rv, version: Rv) {
    if floor.is_empty() || is_older(floor, &version) {
        *floor = version;
    }
}
