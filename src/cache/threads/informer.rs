//! The shared informer for multithreaded programs.

use std::sync::OnceLock;
use std::time::Duration;

use derive_where::derive_where;

use crate::controller::Config;
use crate::error::Error;
use crate::event_handler::ResourceEventHandler;
use crate::fact::Rv;
use crate::index::Indexers;
use crate::informer::{CacheSync, CacheSyncWait, SharedInformerState, WatchErrorHandler};
use crate::lister_watcher::ListerWatcher;
use crate::mutation_detector::{COMPARE_PERIOD, FingerprintFunc, Mutated, MutationDetector};
use crate::object::Object;
use crate::process::{Notification, Process, Progress};
use crate::processor::SharedProcessor;
use crate::queue::{ProcessOutcome, TransformFunc};

use super::clock::{Clock, wait_until};
use super::condvar_mutex::CondvarMutex;
use super::controller::{AnyListerWatcher, Engine, InformerOptions, Sink, lock};
use super::latch::Latch;
use super::listener::{Chunk, Listener};
use super::store::ThreadSafeStore;
use super::sync::{Arc, JoinHandle, Mutex};
use super::{guarded, has_ended, join, spawn};

/// Lists and watches one kind of object, keeps a store of them, and notifies any number of
/// handlers.
///
/// Clones share the informer.
///
/// Upstream: `sharedIndexInformer` in
/// [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).
#[derive_where(Clone)]
pub struct SharedIndexInformer<O> {
    shared: Arc<Shared<O>>,
}

/// Options of one handler.
#[derive(Clone, Debug, Default)]
pub struct HandlerOptions {
    /// The handler's name, for messages.
    pub name: Option<Arc<str>>,
    /// The resync period; zero: never; `None`: the informer's default.
    pub resync_period: Option<Duration>,
}

/// The registration of a handler.
pub struct Registration<O> {
    listener: Arc<Listener<O>>,
}

impl<O: Object> Registration<O> {
    /// Whether the informer has synced and the handler has handled its initial list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.listener.synced().is_set()
    }

    /// A latch that is set once the handler has synced.
    #[must_use]
    pub fn has_synced_checker(&self) -> Latch {
        self.listener.synced().clone()
    }
}

/// Capacity for notifications that is kept from one Pop to the next.
const ROOM: usize = 1024;

struct Shared<O> {
    options: InformerOptions<O>,
    store: Arc<ThreadSafeStore<O>>,
    lister_watcher: Arc<dyn AnyListerWatcher<O>>,
    /// Lock order: the state, the queue (in the engine), `block_deltas`, the store, the processor,
    /// the outbox, a listener.
    state: Mutex<SharedInformerState<O>>,
    /// BlockDeltas: locked while an item is processed, and while handlers are added or removed.
    /// Holds the notifications of the current Pop; between Pops, only those that a panic left
    /// unsent.
    block_deltas: Mutex<Vec<Notification<O>>>,
    /// Notifications that are not yet distributed to the listeners. A separate thread does that
    /// while the next item is processed, and takes all of them at once: waking a listener costs
    /// more than most Pops.
    outbox: CondvarMutex<Outbox<O>>,
    processor: Mutex<SharedProcessor<Arc<Listener<O>>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    engine: OnceLock<Arc<Engine<O>>>,
    synced: Latch,
    detector: Mutex<Option<Detector<O>>>,
}

struct Outbox<O> {
    notifications: Vec<Notification<O>>,
    ended: bool,
}

struct Detector<O> {
    detector: MutationDetector<O>,
    failed: MutatedFunc<O>,
}

/// Receives an object that was modified although it is shared, with client-go's message.
pub type MutatedFunc<O> = Arc<dyn Fn(&Mutated<O>, &str) + Send + Sync>;

impl<O: Object + Send + Sync + 'static> SharedIndexInformer<O> {
    /// An informer that is idle until [`run`](Self::run).
    pub fn new<L>(lister_watcher: L, options: InformerOptions<O>) -> Self
    where
        L: ListerWatcher<O> + 'static,
        L::Watch: 'static,
    {
        let shared = Shared {
            store: Arc::new(ThreadSafeStore::new(options.config.store())),
            lister_watcher: Arc::new(lister_watcher),
            state: Mutex::new(SharedInformerState::new(options.config.full_resync_period)),
            block_deltas: Mutex::new(Vec::new()),
            outbox: CondvarMutex::new(Outbox {
                notifications: Vec::new(),
                ended: false,
            }),
            processor: Mutex::new(SharedProcessor::default()),
            threads: Mutex::new(Vec::new()),
            engine: OnceLock::new(),
            synced: Latch::new(),
            detector: Mutex::new(None),
            options,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    // ---- handlers

    /// Adds a handler, before or after the start. It first receives an add for everything in the
    /// store, then all changes; each handler has its own thread.
    ///
    /// # Errors
    /// [`Error::HandlerNotAdded`]: the informer has stopped.
    pub fn add_event_handler(
        &self,
        handler: impl ResourceEventHandler<O> + Send + Sync + 'static,
    ) -> Result<Registration<O>, Error> {
        self.add_event_handler_with_options(handler, &HandlerOptions::default())
    }

    /// Like [`add_event_handler`](Self::add_event_handler), with options.
    ///
    /// # Errors
    /// Those of [`add_event_handler`](Self::add_event_handler).
    pub fn add_event_handler_with_options(
        &self,
        handler: impl ResourceEventHandler<O> + Send + Sync + 'static,
        options: &HandlerOptions,
    ) -> Result<Registration<O>, Error> {
        let shared = &self.shared;
        let mut state = lock(&shared.state);
        let name = options.name.as_deref().unwrap_or_default();
        let registration = state.add_event_handler(name, options.resync_period, &mut ())?;
        let listener = Arc::new(Listener::new(Box::new(handler)));
        let now = shared.options.clock.now();
        let mut pending = lock(&shared.block_deltas);
        let initial = if registration.late {
            shared.store.list()
        } else {
            Vec::new()
        };
        let count = initial.len();
        shared.post(&mut pending);
        let mut processor = lock(&shared.processor);
        // Send earlier notifications to the other listeners first: the new handler receives the
        // store's content, which includes those changes.
        shared.hand_out(&processor);
        let entry = |_, _: &_| Arc::clone(&listener);
        processor.add_listener(&registration, count, entry, now, &mut ());
        let notifications = initial.into_iter().map(|object| Notification::Add {
            object,
            is_in_initial_list: true,
        });
        listener.add(Chunk::new(notifications));
        if registration.late {
            if shared.synced.is_set() {
                listener.upstream_has_synced();
            }
            shared.start_listener(&listener);
        }
        Ok(Registration { listener })
    }

    /// Removes a handler and drops its waiting notifications. Removing twice is allowed.
    pub fn remove_event_handler(&self, registration: &Registration<O>) {
        let shared = &self.shared;
        let _state = lock(&shared.state);
        let _block_deltas = lock(&shared.block_deltas);
        let mut processor = lock(&shared.processor);
        let id = processor
            .listeners()
            .find(|(_, listener)| Arc::ptr_eq(listener, &registration.listener))
            .map(|(id, _)| id);
        if let Some(listener) = id.and_then(|id| processor.remove_listener(id, &mut ())) {
            listener.close();
        }
    }

    // ---- before the start

    /// Sets the transformer, which every object passes before it is queued.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_transform(&self, transform: TransformFunc<O>) -> Result<(), Error> {
        lock(&self.shared.state).set_transform(Some(transform))
    }

    /// Sets the handler for errors of lists and watches.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_watch_error_handler(&self, handler: WatchErrorHandler) -> Result<(), Error> {
        lock(&self.shared.state).set_watch_error_handler(handler)
    }

    /// Checks every object for modifications of the shared data. client-go panics on one; `failed`
    /// may do the same.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_mutation_detector(
        &self,
        fingerprint: FingerprintFunc<O>,
        failed: MutatedFunc<O>,
    ) -> Result<(), Error> {
        let state = lock(&self.shared.state);
        state.check_not_started()?;
        let description = &self.shared.options.config.type_description;
        *lock(&self.shared.detector) = Some(Detector {
            detector: MutationDetector::new(description, fingerprint),
            failed,
        });
        Ok(())
    }

    /// Adds indices, before or after the start.
    ///
    /// # Errors
    /// [`Error::IndexerNotAdded`]: the informer has stopped. Otherwise those of
    /// [`Indexer::add_indexers`](crate::store::Indexer::add_indexers).
    pub fn add_indexers(&self, indexers: Indexers<O>) -> Result<(), Error> {
        let state = lock(&self.shared.state);
        state.check_add_indexers()?;
        self.shared.store.add_indexers(indexers)
    }

    // ---- lifecycle

    /// Runs until `stop` is set and every handler has returned from its current call.
    ///
    /// # Errors
    /// [`Error::InformerRunTwice`].
    pub fn run(&self, stop: &Latch) -> Result<(), Error> {
        let shared = &self.shared;
        let engine = {
            let mut state = lock(&shared.state);
            let config = Config {
                full_resync_period: state.start()?,
                transform: state
                    .transform()
                    .or(shared.options.config.transform.as_ref())
                    .cloned(),
                ..shared.options.config.clone()
            };
            let engine = Arc::new(Engine::new(
                &shared.options,
                config,
                &shared.store,
                &shared.lister_watcher,
                state.watch_error_handler().cloned(),
            ));
            let mut processor = lock(&shared.processor);
            processor.start();
            for (_, listener) in processor.listeners() {
                shared.start_listener(listener);
            }
            let _first = shared.engine.set(Arc::clone(&engine));
            engine
        };
        let ended = Latch::new();
        let detecting = lock(&shared.detector).is_some().then(|| {
            let (shared, ended) = (Arc::clone(shared), ended.clone());
            spawn("mutation-detector", move || shared.detect(&ended))
        });
        let distributing = {
            let (shared, stop) = (Arc::clone(shared), stop.clone());
            spawn("distributor", move || shared.distribute(&stop))
        };
        engine.run(stop, &**shared);
        lock(&shared.state).stop();
        let mut outbox = shared.outbox.lock();
        outbox.ended = true;
        shared.outbox.notify_all(outbox);
        join(distributing);
        ended.set();
        for (_, listener) in lock(&shared.processor).stop() {
            listener.close();
        }
        let threads = std::mem::take(&mut *lock(&shared.threads));
        threads.into_iter().chain(detecting).for_each(join);
        Ok(())
    }

    /// Calls [`run`](Self::run) in a new thread.
    pub fn spawn(&self, stop: &Latch) -> JoinHandle<Result<(), Error>> {
        let (informer, stop) = (self.clone(), stop.clone());
        spawn("informer", move || informer.run(&stop))
    }

    /// Whether the initial list is in the store.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.shared.synced.is_set()
    }

    /// A latch that is set once the informer has synced.
    #[must_use]
    pub fn has_synced_checker(&self) -> Latch {
        self.shared.synced.clone()
    }

    /// Whether it was started.
    #[must_use]
    pub fn has_started(&self) -> bool {
        lock(&self.shared.state).has_started()
    }

    /// Whether it has stopped; then it accepts no more handlers.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        lock(&self.shared.state).is_stopped()
    }

    // ---- accessors

    /// The store, for reading. Writing to it makes it inconsistent with the informer.
    #[must_use]
    pub fn get_store(&self) -> Arc<ThreadSafeStore<O>> {
        Arc::clone(&self.shared.store)
    }

    /// Same as [`get_store`](Self::get_store): here every store can have indices.
    #[must_use]
    pub fn get_indexer(&self) -> Arc<ThreadSafeStore<O>> {
        self.get_store()
    }

    /// The version of the last list, event or bookmark; empty before the first.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> Rv {
        let engine = self.shared.engine.get();
        engine.map_or_else(Rv::default, |engine| engine.last_sync_resource_version())
    }
}

impl<O: Object + Send + Sync + 'static> Shared<O> {
    /// Moves the notifications of a Pop to the outbox.
    fn post(&self, pending: &mut Vec<Notification<O>>) {
        if pending.is_empty() {
            return;
        }
        let mut outbox = self.outbox.lock();
        if outbox.notifications.is_empty() {
            // Swap, so that both buffers are reused.
            std::mem::swap(&mut outbox.notifications, pending);
        } else {
            outbox.notifications.append(pending);
            pending.shrink_to(ROOM);
        }
        self.outbox.notify_all(outbox);
    }

    /// Distributes the outbox to the listeners until it has ended.
    fn distribute(&self, stop: &Latch) {
        // Dropping the last reference to an object runs its `Drop`, which may panic.
        guarded(self.options.panic_policy, &self.options.clock, stop, || {
            loop {
                let mut outbox = self.outbox.lock();
                while outbox.notifications.is_empty() {
                    if outbox.ended {
                        return;
                    }
                    outbox = self.outbox.wait(outbox);
                }
                drop(outbox);
                self.hand_out(&lock(&self.processor));
            }
        });
    }

    /// Sends the outbox to the listeners. Needs the processor's lock, so that meanwhile no listener
    /// is added or removed, and no thread sends newer notifications.
    fn hand_out(&self, processor: &SharedProcessor<Arc<Listener<O>>>) {
        let chunk = {
            let notifications = &mut self.outbox.lock().notifications;
            if notifications.is_empty() {
                return;
            }
            let chunk = Chunk::new(notifications.drain(..));
            notifications.shrink_to(ROOM);
            chunk
        };
        let has_sync = chunk.has_sync();
        let mut without_sync = None;
        for (id, listener) in processor.listeners() {
            if has_sync && !processor.is_syncing(id) {
                let others = without_sync.get_or_insert_with(|| chunk.without_sync());
                listener.add(others.clone());
            } else {
                listener.add(chunk.clone());
            }
        }
    }

    fn start_listener(&self, listener: &Arc<Listener<O>>) {
        let listener = Arc::clone(listener);
        let (policy, clock) = (self.options.panic_policy, self.options.clock.clone());
        let thread = spawn("listener", move || listener.run(policy, &clock));
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !has_ended(thread));
        threads.push(thread);
    }

    fn watch_for_changes(&self, notifications: &[Notification<O>]) {
        let mut detector = lock(&self.detector);
        let Some(Detector { detector, .. }) = &mut *detector else {
            return;
        };
        for notification in notifications {
            if !matches!(notification, Notification::Delete { .. }) {
                detector.add_object(notification.object());
            }
        }
    }

    fn detect(&self, ended: &Latch) {
        let (policy, clock) = (self.options.panic_policy, &self.options.clock);
        guarded(policy, clock, ended, || {
            while !ended.is_set() {
                let (found, message, failed) = {
                    let mut detector = lock(&self.detector);
                    let Some(Detector { detector, failed }) = &mut *detector else {
                        return;
                    };
                    let found = detector.compare_objects(clock.now(), &mut ());
                    (found, detector.message(), Arc::clone(failed))
                };
                for mutated in &found {
                    failed(mutated, &message);
                }
                wait_until(clock, clock.now() + COMPARE_PERIOD, ended);
            }
        });
    }
}

impl<O: Object + Send + Sync + 'static> Sink<O> for Shared<O> {
    fn process(&self, store: &ThreadSafeStore<O>, process: &mut Process<O>) -> ProcessOutcome {
        let mut pending = lock(&self.block_deltas);
        let outcome = {
            // Readers wait as long as client-go's readers wait for a batch. No handler runs under
            // this lock.
            let mut store = store.write();
            loop {
                match process.step(&mut store, &mut ()) {
                    Progress::Took | Progress::Wrote => {}
                    Progress::Notify(notification) => pending.push(notification),
                    Progress::Done(outcome) => break outcome,
                }
                process.take_pending(&mut pending);
            }
        };
        self.watch_for_changes(&pending);
        self.post(&mut pending);
        outcome
    }

    fn flush(&self) {
        self.post(&mut lock(&self.block_deltas));
    }

    fn synced(&self) {
        lock(&self.state).set_synced();
        let processor = lock(&self.processor);
        // Each listener must count its initial notifications before it learns that they are
        // complete.
        self.hand_out(&processor);
        self.synced.set();
        for (_, listener) in processor.listeners() {
            listener.upstream_has_synced();
        }
    }

    fn should_resync(&self, now: Duration) -> bool {
        let mut processor = lock(&self.processor);
        // Earlier notifications go to the listeners that were syncing then.
        self.hand_out(&processor);
        processor.should_resync(now, &mut ())
    }
}

/// Waits until all of `synced` return true, polling ten times a second, or until `stop` is set.
/// Returns whether all have synced.
///
/// Upstream: `WaitForCacheSync`. For latches, [`wait_for`](super::wait_for) waits without polling.
#[must_use]
pub fn wait_for_cache_sync(clock: &Clock, stop: &Latch, synced: &[&dyn Fn() -> bool]) -> bool {
    let mut wait = CacheSyncWait::default();
    loop {
        let all = || synced.iter().all(|synced| synced());
        match wait.poll(clock.now(), stop.is_set(), all) {
            CacheSync::Synced => return true,
            CacheSync::Stopped => return false,
            CacheSync::AskAt(moment) => {
                wait_until(clock, moment, stop);
            }
        }
    }
}
