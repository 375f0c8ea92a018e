//! The picture as a fold: the change that each fact makes.

use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, BackoffReason, Entry, EventType, Fact, FactRecord, HandlersFact, LockName, ObjectRef,
    QueueFact, ReflectorFact, Request, RunFact, Rv, ServerFact, Shape, StoreFact, WorkFact,
    WorkPlace,
};
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_cache::map;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_world::bounds::push_within;
use deltascope_world::source::Refusals;
use deltascope_world::source::program::event_of;
use deltascope_world::source::simulator::{order_refusals, take_refusal};

use super::{
    Answer, ApiObject, ApiRoom, DELETED_SHOWN, Delivery, HandlerRoom, LockState, NOTIFICATIONS,
    OUTPUT_LINES, Picture, Popped, Printed, QueueKind, REQUESTS, ReflectorRoom, ReflectorState,
    RequestKind, RequestLine, STREAM_LINES, SourceKind, StreamLine, WATCH_WINDOW, WorkRoom,
    known_object,
};

impl Picture {
    /// Applies one fact.
    pub fn apply(&mut self, record: &FactRecord) {
        self.add(record);
        self.settle();
    }

    /// Applies several facts; derived values are computed once, at the end.
    pub fn apply_all(&mut self, records: &[FactRecord]) {
        for record in records {
            self.add(record);
        }
        self.settle();
    }

    fn add(&mut self, record: &FactRecord) {
        match &record.fact {
            Fact::Server(fact) => self.server(fact, record.step),
            Fact::Reflector(fact) => self.reflector(fact, record.actor),
            Fact::Queue(fact) => self.queue(fact, record.actor),
            Fact::Store(fact) => self.store(fact),
            Fact::Handlers(fact) => self.handlers(fact),
            Fact::Work(fact) => {
                if let Some(work) = &mut self.work {
                    work.apply(fact, record.actor, record.time);
                }
            }
            Fact::Run(fact) => self.run(fact),
        }
        self.look_again(&record.fact);
    }

    /// Computes the derived values.
    pub(super) fn settle(&mut self) {
        self.store.behind = self.behind();
    }

    fn locks(&mut self, name: LockName) -> &mut LockState {
        match name {
            LockName::Queue => &mut self.lock,
            LockName::BlockDeltas => &mut self.block_deltas,
        }
    }

    fn server(&mut self, fact: &ServerFact, step: Step) {
        let api = &mut self.api;
        match fact {
            ServerFact::RefusalsAsked {
                request,
                kind,
                times,
            } => {
                let (request, kind, times) = (*request, *kind, *times);
                let new = Refusals {
                    request,
                    kind,
                    times,
                };
                order_refusals(&mut api.refusals, new);
            }
            // Requested refusals come before any other reason to refuse.
            ServerFact::ListRefused { .. } => take_refusal(&mut api.refusals, Request::List),
            ServerFact::WatchDenied { .. } => take_refusal(&mut api.refusals, Request::Watch),
            ServerFact::ConnectionRefused => {
                let mut orders = api.refusals.iter();
                if let Some(next) = orders.find(|order| order.request.step() == step)
                    && next.kind == ApiErrorKind::ConnectionRefused
                {
                    let request = next.request;
                    take_refusal(&mut api.refusals, request);
                }
            }
            ServerFact::ObjectCreated { object, body } => {
                api.written(&object.rv);
                map::remove(&mut api.objects, &object.key);
                let entry = ApiObject {
                    object: object.clone(),
                    body: body.clone(),
                    deleted: false,
                };
                api.objects.insert(object.key.clone(), Arc::new(entry));
            }
            ServerFact::ObjectUpdated { object, body, .. } => {
                api.written(&object.rv);
                if let Some(entry) = api.objects.get_mut(&object.key) {
                    let entry = Arc::make_mut(entry);
                    entry.object = object.clone();
                    entry.body = body.clone();
                }
            }
            ServerFact::ObjectDeleted { object, .. } => {
                api.written(&object.rv);
                if let Some(entry) = api.objects.get_mut(&object.key) {
                    let entry = Arc::make_mut(entry);
                    entry.object = object.clone();
                    entry.deleted = true;
                    api.deleted.push_back(object.key.clone());
                }
            }
            ServerFact::HistoryCompacted { oldest } => {
                api.rv = Arc::clone(oldest);
                api.oldest = Arc::clone(oldest);
                api.history.clear();
            }
            ServerFact::ObjectsLearned { rv, objects } => {
                api.rv = Arc::clone(rv);
                api.deleted.clear();
                let all = objects.iter();
                api.objects = all
                    .map(|object| (object.key.clone(), known_object(object, false)))
                    .collect();
            }
            ServerFact::WatchAccepted { rv } => {
                api.watch = Some(Arc::clone(rv));
                api.sends_events = true;
                self.reflector.answered(Answer::Open);
            }
            ServerFact::EventSent { event, object, .. } => {
                api.sends_events &= *event != EventType::Error;
                api.line(*event, object, Delivery::Waiting);
                if matches!(api.source, SourceKind::Recorded | SourceKind::Cluster) {
                    api.learn(*event, object);
                }
            }
            ServerFact::WatchClosed { lost, .. } => {
                api.sends_events = false;
                if *lost > 0 {
                    api.lose();
                }
            }
            ServerFact::WriteRefused { .. }
            | ServerFact::ListAnswered { .. }
            | ServerFact::RequestDeferred { .. }
            | ServerFact::WatchRefused { .. } => {}
        }
        // A recreated object is no longer deleted; only the last deleted ones stay.
        api.deleted
            .retain(|key| api.objects.get(key).is_some_and(|entry| entry.deleted));
        while api.deleted.len() > DELETED_SHOWN {
            if let Some(key) = api.deleted.pop_front() {
                map::remove(&mut api.objects, &key);
            }
        }
    }

    fn reflector(&mut self, fact: &ReflectorFact, actor: Actor) {
        let (reflector, api) = (&mut self.reflector, &mut self.api);
        match fact {
            ReflectorFact::ListRequested {
                rv,
                rv_match,
                limit,
                continues,
            } => {
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
            ReflectorFact::PageReceived { count, .. } => reflector.answered(Answer::Page(*count)),
            ReflectorFact::ListReceived { count, .. } => {
                reflector.lists += 1;
                reflector.answered(Answer::Listed(*count));
            }
            ReflectorFact::ListFailed { error, .. } | ReflectorFact::WatchFailed { error } => {
                reflector.answered(Answer::Failed(Arc::clone(error)));
            }
            ReflectorFact::ObjectRejected { .. } => reflector.in_hand = None,
            ReflectorFact::InitialEventKept { event, object } => {
                reflector.in_hand = None;
                let temporary = reflector.temporary.get_or_insert_default();
                if *event == EventType::Deleted {
                    temporary.remove(&object.key);
                } else {
                    temporary.insert(object.key.clone(), object.clone());
                }
            }
            ReflectorFact::InitialEventsEnded { .. } => {
                reflector.temporary = None;
                reflector.state = ReflectorState::Watch;
                reflector.lists += 1;
            }
            ReflectorFact::VersionUnavailable { on } => reflector.unavailable = *on,
            ReflectorFact::WatchErrorReported { .. } => reflector.watch_errors += 1,
            ReflectorFact::ResyncDue { .. } => reflector.resyncs += 1,
            ReflectorFact::WatchRequested { rv, initial_events } => {
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
            ReflectorFact::EventReceived { event, object, .. } => {
                reflector.events += 1;
                api.received();
                // A program without a reflector keeps nothing in hand.
                if is_change(*event) && actor != Actor::Program {
                    reflector.in_hand = Some((*event, object.clone()));
                }
            }
            ReflectorFact::LastSyncMoved { to, .. } => reflector.last_sync = Arc::clone(to),
            ReflectorFact::WatchEnded { code, .. } => {
                reflector.answered(Answer::Ended(*code));
                reflector.temporary = None;
                api.watch = None;
                api.sends_events = false;
                // Nobody reads the stream anymore.
                api.lose();
            }
            ReflectorFact::BackoffStarted { ms, reason } => {
                reflector.relist = *reason != BackoffReason::WatchEnded;
                reflector.temporary = None;
                reflector.state = ReflectorState::Backoff;
                reflector.backoff_ms = *ms;
            }
            ReflectorFact::ReflectorStopped { .. } => {
                reflector.state = ReflectorState::Stopped;
                reflector.backoff_ms = 0;
                reflector.relist = false;
                reflector.temporary = None;
            }
            ReflectorFact::InitialEventsEndMissed { .. } | ReflectorFact::StreamFellBack { .. } => {
            }
        }
    }

    fn queue(&mut self, fact: &QueueFact, actor: Actor) {
        let (queue, pop) = (&mut self.queue, &mut self.pop);
        match fact {
            QueueFact::LockTaken { lock, by } => {
                let lock = self.locks(*lock);
                lock.holder = Some(*by);
                lock.waiting.retain(|actor| actor != by);
            }
            QueueFact::LockAwaited { lock, by, .. } => self.locks(*lock).waiting.push(*by),
            QueueFact::LockReleased { lock, .. } => self.locks(*lock).holder = None,
            QueueFact::Populated { .. } => queue.populated = true,
            QueueFact::Synced => queue.synced = true,
            QueueFact::QueueClosed => queue.closed = true,
            QueueFact::DeltaAppended {
                delta_type, object, ..
            } => {
                let deltas = queue.deltas.or_default(object.key.clone());
                deltas.push((*delta_type, object.clone()));
                // Even between two facts a key is queued exactly when it has deltas.
                if deltas.len() == 1 {
                    queue.keys.push_back(object.key.clone());
                }
            }
            QueueFact::DeltasMerged { key, kept, .. } => {
                if let Some(deltas) = queue.deltas.get_mut(key) {
                    deltas.pop();
                    if let Some(last) = deltas.last_mut() {
                        last.1 = kept.clone();
                    }
                }
            }
            // Only in a FIFO this fact alone queues the key.
            QueueFact::KeyEnqueued { key, .. } if queue.kind == QueueKind::Fifo => {
                queue.keys.push_back(key.clone());
            }
            QueueFact::FifoItemSet { object, .. } => {
                queue
                    .deltas
                    .insert(object.key.clone(), vec![(DeltaType::Added, object.clone())]);
            }
            QueueFact::FifoItemRemoved { key } => {
                queue.deltas.remove(key);
            }
            QueueFact::FifoCleared => {
                queue.deltas.clear();
                queue.keys.clear();
            }
            QueueFact::FifoKeySkipped { .. } => {
                queue.keys.pop_front();
            }
            QueueFact::EntryAppended { entry, .. } => queue.entries.push_back(entry.clone()),
            QueueFact::EntriesTaken {
                count,
                is_in_initial_list,
            } => {
                let count = (*count as usize).min(queue.entries.len());
                let entries: Vec<Entry> = queue.entries.drain(..count).collect();
                pop.asked = pop.asked.saturating_sub(1);
                pop.count += 1;
                pop.processing = Some(Popped::of_entries(entries, *is_in_initial_list));
            }
            QueueFact::KeyPopped {
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
                    entries: Vec::new(),
                });
            }
            QueueFact::Requeued { key, added: true } => {
                if let Some(popped) = &pop.processing {
                    let before = queue.deltas.insert(key.clone(), popped.deltas.clone());
                    if before.is_none() || queue.kind == QueueKind::Fifo {
                        queue.keys.push_back(key.clone());
                    }
                }
            }
            QueueFact::DeltaTaken { position, .. } => {
                if let Some(popped) = &mut pop.processing {
                    popped.position = Some(*position as usize);
                }
            }
            QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. } => {
                pop.last = pop.processing.take();
            }
            QueueFact::KeyEnqueued { .. }
            | QueueFact::Requeued { .. }
            | QueueFact::KeyFailed { .. }
            | QueueFact::TransformFailed { .. }
            | QueueFact::DeleteIgnored { .. }
            | QueueFact::Transformed { .. }
            | QueueFact::DeleteChecked { .. }
            | QueueFact::DeletionDetected { .. }
            | QueueFact::ResyncSkipped { .. }
            | QueueFact::AlreadyPresent { .. }
            | QueueFact::QueueEmpty
            | QueueFact::ProcessFailed { .. }
            | QueueFact::ProcessWasSlow { .. }
            | QueueFact::ListOpened { .. }
            | QueueFact::ResyncOpened { .. } => {}
        }
        let is_in_queue = matches!(
            fact,
            QueueFact::DeltaAppended { .. }
                | QueueFact::DeleteIgnored { .. }
                | QueueFact::KeyFailed { .. }
                | QueueFact::TransformFailed { .. }
                | QueueFact::EntryAppended { .. }
        );
        if is_in_queue && actor == Actor::Reflector {
            self.reflector.in_hand = None;
        }
    }

    fn store(&mut self, fact: &StoreFact) {
        let store = &mut self.store;
        match fact {
            StoreFact::ItemStored { object, .. } => {
                store.items.insert(object.key.clone(), object.clone());
                if !store.keeps_rv {
                    store.rv = Arc::clone(&object.rv);
                }
            }
            StoreFact::ItemRemoved { key, .. } => {
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
            StoreFact::StoreVersionMoved { to, .. } => store.rv = Arc::clone(to),
            StoreFact::StoreReplaced { items } => {
                store.items = items
                    .iter()
                    .map(|object| (object.key.clone(), object.clone()))
                    .collect();
            }
            StoreFact::IndicesReset => {
                for values in store.indices.values_mut() {
                    values.clear();
                }
            }
            StoreFact::IndexersAdded { names } => {
                for name in names {
                    store.indices.entry(Arc::clone(name)).or_default();
                }
            }
            StoreFact::IndexEntryAdded { index, value, key } => {
                if let Some(values) = store.indices.get_mut(index) {
                    let keys = values.or_default(Arc::clone(value));
                    // Most come in order.
                    if keys.last().is_none_or(|last| last < key) {
                        keys.push(key.clone());
                    } else if let Err(place) = keys.binary_search(key) {
                        keys.insert(place, key.clone());
                    }
                }
            }
            StoreFact::IndexEntryRemoved {
                index, value, key, ..
            } => {
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
            StoreFact::IndexFailed { .. } => {}
        }
    }

    fn handlers(&mut self, fact: &HandlersFact) {
        match fact {
            HandlersFact::NotificationQueued {
                handler,
                notification,
                ..
            } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.sending = None;
                    room.pending.push_back(notification.clone());
                }
            }
            HandlersFact::NotificationSent {
                handler,
                notification,
            } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.sending = Some(notification.clone());
                }
            }
            HandlersFact::HandlerAsked {
                name,
                latency_ms,
                resync_ms,
                filter,
            } => self.asked.push_back(HandlerRoom {
                name: Arc::clone(name),
                latency_ms: *latency_ms,
                resync_ms: *resync_ms,
                filter: Arc::clone(filter),
                syncing: true,
                ..HandlerRoom::default()
            }),
            HandlersFact::RemovalAsked { handler } => {
                let mut all = self.handlers.iter_mut().chain(&mut self.asked);
                if let Some(room) = all.nth(usize::from(*handler)) {
                    room.leaving = true;
                }
            }
            HandlersFact::HandlerAdded { .. } => self.handlers.extend(self.asked.pop_front()),
            HandlersFact::HandlerSynced { handler } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.synced = true;
                }
            }
            HandlersFact::SyncingSet { handler, syncing } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.syncing = *syncing;
                }
            }
            HandlersFact::HandlerPanicked { handler, .. } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.running = None;
                    room.panics += 1;
                }
            }
            HandlersFact::HandlerRemoved { handler } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.removed = true;
                    room.leaving = false;
                    room.sending = None;
                    room.pending.clear();
                }
            }
            HandlersFact::ResyncCheckSet { ms } => self.resync_check_ms = *ms,
            HandlersFact::NotificationTaken {
                handler,
                notification,
            } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.pending.pop_front();
                    room.running = Some(notification.clone());
                    let told = Arc::new(notification.clone());
                    push_within(&mut room.notifications, NOTIFICATIONS, told);
                }
            }
            HandlersFact::NotificationHandled { handler } => {
                if let Some(room) = self.handlers.get_mut(usize::from(*handler)) {
                    room.running = None;
                }
            }
            HandlersFact::LinePrinted { by, line } => {
                push_within(&mut self.output, OUTPUT_LINES, Printed::of(*by, line));
            }
            HandlersFact::NotificationWithheld { .. }
            | HandlersFact::ObjectMutated { .. }
            | HandlersFact::MutationDetected { .. } => {}
        }
    }

    fn run(&mut self, fact: &RunFact) {
        match fact {
            RunFact::Called { delta_type, object } => {
                let event = event_of(*delta_type);
                self.api.line(event, object, Delivery::Received);
            }
            RunFact::ModeSet { mode } => {
                self.pop.mode = *mode;
                self.pop.asked = 0;
            }
            RunFact::PopAsked { asked } => self.pop.asked = *asked,
            RunFact::KnownObjectsSet { on } => {
                self.queue.known_objects = *on;
                self.store.present |= *on;
            }
            RunFact::BesideRequested { informer, request } => {
                if let Some(room) = self.beside.get_mut(usize::from(*informer)) {
                    let asked = match request {
                        Request::List => &mut room.lists,
                        Request::Watch => &mut room.watches,
                    };
                    *asked += 1;
                }
            }
            RunFact::BesideStored {
                informer,
                key,
                object,
            } => {
                if let Some(room) = self.beside.get_mut(usize::from(*informer)) {
                    match object {
                        Some(object) => room.objects.insert(key.clone(), object.clone()),
                        None => room.objects.remove(key),
                    };
                }
            }
        }
    }
}

impl ReflectorRoom {
    fn request(&mut self, line: RequestLine) {
        push_within(&mut self.requests, REQUESTS, line);
    }

    fn answered(&mut self, answer: Answer) {
        if let Some(last) = self.requests.back_mut() {
            last.answer = answer;
        }
    }
}

impl WorkRoom {
    fn apply(&mut self, fact: &WorkFact, actor: Actor, time: u64) {
        match fact {
            WorkFact::WorkAdded { key, place } => {
                // The delaying queue's own goroutine adds the key.
                if actor == Actor::Main {
                    self.delayed.remove(key);
                }
                self.dirty.insert(key.clone(), ());
                if *place == WorkPlace::Queue {
                    self.queue.push_back(key.clone());
                }
            }
            WorkFact::WorkTaken { worker, key } => {
                self.queue.pop_front();
                self.dirty.remove(key);
                if let Some(has) = self.workers.get_mut(usize::from(*worker)) {
                    *has = Some(key.clone());
                }
            }
            WorkFact::WorkDone { key, again } => {
                for has in &mut self.workers {
                    if has.as_ref() == Some(key) {
                        *has = None;
                    }
                }
                if *again {
                    self.queue.push_back(key.clone());
                }
            }
            WorkFact::WorkDelayed { key, ms, failures } => {
                let at = time + ms;
                let earliest = self.delayed.get(key).map_or(at, |before| at.min(*before));
                self.delayed.insert(key.clone(), earliest);
                if *failures > 0 {
                    self.failures.insert(key.clone(), *failures);
                }
            }
            WorkFact::WorkForgotten { key } => {
                self.failures.remove(key);
            }
            WorkFact::Reconciled { ok, .. } => self.reconciled += u64::from(*ok),
            WorkFact::WorkShutDown { .. } => self.shut_down = true,
        }
    }
}

impl ApiRoom {
    fn learn(&mut self, event: EventType, object: &ObjectRef) {
        if !object.rv.is_empty() {
            self.rv = Arc::clone(&object.rv);
        }
        if !self.known_from_events || !is_change(event) {
            return;
        }
        let deleted = event == EventType::Deleted;
        let was = self.objects.get(&object.key);
        if event == EventType::Added && was.is_some_and(|was| was.deleted) {
            map::remove(&mut self.objects, &object.key);
        }
        let entry = known_object(object, deleted);
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

    /// Each change advances the server's version and the window of its history.
    fn written(&mut self, rv: &Rv) {
        self.rv = Arc::clone(rv);
        self.history.push_back(Arc::clone(rv));
        if self.history.len() > WATCH_WINDOW
            && let Some(forgotten) = self.history.pop_front()
        {
            self.oldest = forgotten;
        }
    }

    /// The reflector received the next event of the stream.
    fn received(&mut self) {
        let mut lines = self.stream.iter_mut();
        if let Some(line) = lines.find(|line| line.delivery == Delivery::Waiting) {
            line.delivery = Delivery::Received;
        }
        self.trim();
    }

    /// The events in flight never arrive.
    fn lose(&mut self) {
        for line in &mut self.stream {
            if line.delivery == Delivery::Waiting {
                line.delivery = Delivery::Lost;
            }
        }
        self.trim();
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
