//! The engine of an informer: one thread for the reflector, one for its resync timer, and the
//! process loop.
//!
//! Upstream: [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::panic::resume_unwind;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::controller::{Config, Generation, InformerQueue};
use crate::error::Error;
use crate::fact::Rv;
use crate::factory::InformerScope;
use crate::index::{IndexFunc, NAMESPACE_INDEX, meta_namespace_index_func};
use crate::informer::WatchErrorHandler;
use crate::listener::PanicPolicy;
use crate::lister_watcher::{
    ApiError, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use crate::object::Object;
use crate::process::Process;
use crate::queue::ProcessOutcome;
use crate::reflector::{Need, Reflector, ReflectorOptions, StoreCall};

use super::clock::{Clock, Timer, wait_until};
use super::condvar_mutex::CondvarMutex;
use super::latch::Latch;
use super::queue::caught;
use super::store::ThreadSafeStore;
use super::sync::{Arc, Mutex, MutexGuard};
use super::{RandomJitter, guarded, in_threads};

/// Configuration of an informer and of its threads.
pub struct InformerOptions<O> {
    /// Its queue, its store and its reflector. `full_resync_period` is the default for the handlers
    /// of a shared informer. `watch_list` is ignored if the lister-watcher does not support
    /// streaming lists.
    pub config: Config<O>,
    /// What happens when a handler, a transformer or an index function panics. Like in client-go,
    /// the default is a crash.
    pub panic_policy: PanicPolicy,
    /// The clock.
    pub clock: Clock,
}

impl<O> InformerOptions<O> {
    /// A generation with the defaults of its release, and with random jitter.
    #[must_use]
    pub fn new(generation: Generation) -> Self {
        Self {
            config: Config {
                jitter: Box::new(RandomJitter::new()),
                ..Config::new(generation)
            },
            panic_policy: PanicPolicy::Crash,
            clock: Clock::real(),
        }
    }
}

impl<O: Object + 'static> InformerOptions<O> {
    /// The options of a factory's informer, as client-go's generated ones have them: the scope's resync period, and an index
    /// of the namespaces. The scope's namespace and list options are for the lister-watcher.
    ///
    /// Upstream: `NewFilteredPodInformer` in
    /// [`informers/core/v1/pod.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/informers/core/v1/pod.go).
    #[must_use]
    pub fn of(scope: &InformerScope) -> Self {
        let mut options = Self::default();
        options.config.full_resync_period = scope.resync_period;
        let namespace: IndexFunc<O> = std::sync::Arc::new(meta_namespace_index_func);
        options
            .config
            .indexers
            .insert(NAMESPACE_INDEX.into(), namespace);
        options
    }
}

impl<O> Default for InformerOptions<O> {
    fn default() -> Self {
        Self::new(Generation::default())
    }
}

/// A type-erased [`ListerWatcher`].
pub(super) trait AnyListerWatcher<O>: Send + Sync {
    fn list(&self, request: &ListRequest) -> Result<ListPage<O>, ApiError>;
    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watcher<O>>, ApiError>;
    fn streams(&self) -> bool;
}

impl<O, L> AnyListerWatcher<O> for L
where
    L: ListerWatcher<O>,
    L::Watch: 'static,
{
    fn list(&self, request: &ListRequest) -> Result<ListPage<O>, ApiError> {
        ListerWatcher::list(self, request)
    }

    fn watch(&self, request: &WatchRequest) -> Result<Box<dyn Watcher<O>>, ApiError> {
        Ok(Box::new(ListerWatcher::watch(self, request)?))
    }

    fn streams(&self) -> bool {
        !self.is_watch_list_semantics_unsupported()
    }
}

/// The consumer of popped items.
pub(super) trait Sink<O>: Send + Sync {
    /// Writes the item into the store and sends its notifications.
    fn process(&self, store: &ThreadSafeStore<O>, process: &mut Process<O>) -> ProcessOutcome;
    /// Sends the notifications that a panic left unsent.
    fn flush(&self);
    /// The queue has synced; called once.
    fn synced(&self);
    /// A resync is due. Returns whether any handler takes part.
    fn should_resync(&self, now: Duration) -> bool;
}

/// The queue, store and reflector of a running informer.
pub(super) struct Engine<O> {
    queue: CondvarMutex<InformerQueue<O>>,
    store: Arc<ThreadSafeStore<O>>,
    reflector: Mutex<Reflector<O>>,
    lister_watcher: Arc<dyn AnyListerWatcher<O>>,
    watch_error_handler: Option<WatchErrorHandler>,
    /// Closes the open watch, if there is one.
    watch: Mutex<Option<Stopper>>,
    resync: Timer,
    synced: AtomicBool,
    /// Whether the process loop drains the queue after a stop.
    drains: bool,
    panic_policy: PanicPolicy,
    clock: Clock,
}

type Stopper = Box<dyn Fn() + Send + Sync>;

impl<O: Object + Send + Sync + 'static> Engine<O> {
    pub(super) fn new(
        options: &InformerOptions<O>,
        config: Config<O>,
        store: &Arc<ThreadSafeStore<O>>,
        lister_watcher: &Arc<dyn AnyListerWatcher<O>>,
        watch_error_handler: Option<WatchErrorHandler>,
    ) -> Self {
        let reflector = Reflector::new(ReflectorOptions {
            watch_list: config.watch_list && lister_watcher.streams(),
            ..config.reflector_options()
        });
        Self {
            queue: CondvarMutex::new(config.queue()),
            store: Arc::clone(store),
            reflector: Mutex::new(reflector),
            lister_watcher: Arc::clone(lister_watcher),
            watch_error_handler,
            watch: Mutex::new(None),
            resync: Timer::new(&options.clock),
            synced: AtomicBool::new(false),
            drains: config.release.drains_at_stop(),
            panic_policy: options.panic_policy,
            clock: options.clock.clone(),
        }
    }

    pub(super) fn has_synced(&self) -> bool {
        self.queue.lock().has_synced()
    }

    pub(super) fn last_sync_resource_version(&self) -> Rv {
        Arc::clone(self.reflector().last_sync_resource_version())
    }

    /// Runs until `stop` is set, with the process loop in this thread.
    pub(super) fn run(&self, stop: &Latch, sink: &dyn Sink<O>) {
        let (policy, clock) = (self.panic_policy, &self.clock);
        let reflect = || guarded(policy, clock, stop, || self.reflect(stop, sink));
        let resync = || guarded(policy, clock, stop, || self.resync(sink));
        // In its own thread, because a handler may set `stop` while holding the lock that this
        // needs.
        let end = || {
            stop.wait();
            self.stop();
        };
        in_threads(
            [
                ("reflector", &reflect),
                ("resync-timer", &resync),
                ("stop", &end),
            ],
            || guarded(policy, clock, stop, || self.process(stop, sink)),
        );
    }

    fn stop(&self) {
        let mut queue = self.queue.lock();
        queue.close(&mut ());
        self.queue.notify_all(queue);
        self.resync.end();
        self.stop_watch();
    }

    // ---- the reflector

    fn reflect(&self, stop: &Latch, sink: &dyn Sink<O>) {
        let mut watch: Option<Box<dyn Watcher<O>>> = None;
        let mut resync_at = None;
        let mut reflector = self.reflector();
        loop {
            if stop.is_set() {
                reflector.stop(self.clock.now(), &mut ());
            }
            if watch.is_some() && !reflector.is_watching() {
                self.stop_watch();
                watch = None;
            }
            if let Some(error) = reflector.take_watch_error() {
                drop(reflector);
                if let Some(handler) = &self.watch_error_handler {
                    handler(&error);
                }
                reflector = self.reflector();
                continue;
            }
            if reflector.resync_at() != resync_at {
                resync_at = reflector.resync_at();
                // Set it under the lock, so that an older time cannot replace a newer one.
                self.resync.set(resync_at);
            }
            match reflector.need() {
                Need::List(request) => {
                    let request = request.clone();
                    drop(reflector);
                    let answer = self.lister_watcher.list(&request);
                    reflector = self.reflector();
                    // After a stop, discard the answer: client-go does not wait for the list any
                    // more.
                    if !stop.is_set() {
                        reflector.listed(self.clock.now(), answer, &mut ());
                    }
                }
                Need::Watch(request) => {
                    let request = request.clone();
                    drop(reflector);
                    let answer = self.lister_watcher.watch(&request).map(|opened| {
                        *lock(&self.watch) = Some(opened.stopper());
                        // `stop` may have been set before the stopper was stored.
                        if stop.is_set() {
                            self.stop_watch();
                        }
                        watch = Some(opened);
                    });
                    reflector = self.reflector();
                    reflector.watched(self.clock.now(), answer, &mut ());
                }
                Need::Event => {
                    drop(reflector);
                    let item = match &mut watch {
                        Some(watch) => watch.next(),
                        // A panic lost the watch.
                        None => WatchItem::Closed,
                    };
                    reflector = self.reflector();
                    let now = self.clock.now();
                    reflector.received(now, item, &mut ());
                    // Usually this leads to a store call, then to `Need::Event` again.
                    if let Some(call) = reflector.take_store_call() {
                        reflector = self.store(call, now, reflector, sink);
                    }
                }
                Need::Store(_) => {
                    if let Some(call) = reflector.take_store_call() {
                        reflector = self.store(call, self.clock.now(), reflector, sink);
                    }
                }
                // A panic lost the call.
                Need::Stored => {
                    let lost = Error::Process("the store call panicked".into());
                    reflector.stored(self.clock.now(), Err(lost), &mut ());
                }
                Need::Wait(moment) => {
                    let moment = *moment;
                    drop(reflector);
                    let waited = wait_until(&self.clock, moment, stop);
                    reflector = self.reflector();
                    if waited {
                        reflector.waited(self.clock.now(), &mut ());
                    }
                }
                Need::Stopped => break,
            }
        }
        drop(reflector);
        self.stop_watch();
    }

    /// Applies a store call to the queue. Unlocks the reflector in the meantime, because handlers
    /// may ask for its version, and the call may have to wait for handlers. `now` is the time
    /// before the call: one clock reading per event is enough.
    fn store<'a>(
        &'a self,
        call: StoreCall<O>,
        now: Duration,
        reflector: MutexGuard<'a, Reflector<O>>,
        sink: &dyn Sink<O>,
    ) -> MutexGuard<'a, Reflector<O>> {
        drop(reflector);
        let outcome = self.write(call, sink);
        let mut reflector = self.reflector();
        reflector.stored(now, outcome, &mut ());
        reflector
    }

    fn write(&self, call: StoreCall<O>, sink: &dyn Sink<O>) -> Result<(), Error> {
        let mut queue = self.queue.lock();
        let outcome = queue.write(call, &*self.store, &mut ());
        let synced = queue.has_synced();
        self.queue.notify_all(queue);
        self.check_synced(synced, sink);
        outcome
    }

    fn resync(&self, sink: &dyn Sink<O>) {
        while self.resync.wait() {
            let now = self.clock.now();
            // A new round may have begun in the meantime.
            if self.reflector().resync_at().is_none_or(|at| at > now) {
                continue;
            }
            let wanted = sink.should_resync(now);
            if self.reflector().resync_fired(now, wanted, &mut ()) {
                let outcome = self.write(StoreCall::Resync, sink);
                let mut reflector = self.reflector();
                reflector.resync_done(self.clock.now(), outcome, &mut ());
                if !reflector.is_watching() {
                    // The resync failed, which ended the watch.
                    self.stop_watch();
                }
            }
            let reflector = self.reflector();
            self.resync.set(reflector.resync_at());
        }
    }

    fn stop_watch(&self) {
        let stopper = lock(&self.watch).take();
        if let Some(stop) = stopper {
            stop();
        }
    }

    fn reflector(&self) -> MutexGuard<'_, Reflector<O>> {
        lock(&self.reflector)
    }

    // ---- the process loop

    fn process(&self, stop: &Latch, sink: &dyn Sink<O>) {
        // Does not start after a stop, even if it would drain the queue.
        let mut goes_on = !stop.is_set();
        while goes_on {
            let mut queue = self.queue.lock();
            let work = loop {
                match queue.begin_pop(&mut ()) {
                    Ok(Some(work)) => break work,
                    Ok(None) => queue = self.queue.wait(queue),
                    Err(_) => return,
                }
            };
            let mut process = Process::new(work);
            let run = || sink.process(&self.store, &mut process);
            let (outcome, panic) = if queue.unlocks_while_processing() {
                drop(queue);
                let caught = caught(run);
                queue = self.queue.lock();
                caught
            } else {
                caught(run)
            };
            // Ignore the error, like client-go. Only a trace would need the elapsed time.
            let _ignored = queue.finish_pop(process.into_taken(), outcome, Duration::ZERO, &mut ());
            let synced = queue.has_synced();
            drop(queue);
            self.check_synced(synced, sink);
            if let Some(panic) = panic {
                sink.flush();
                resume_unwind(panic);
            }
            goes_on = self.drains || !stop.is_set();
        }
    }

    fn check_synced(&self, synced: bool, sink: &dyn Sink<O>) {
        if synced && !self.synced.swap(true, Ordering::AcqRel) {
            sink.flush();
            sink.synced();
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
