//! The four generations of the informer, their queues, and the informer without shared handlers.
//!
//! Upstream: [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).
//!
//! ```
//! use std::time::Duration;
//!
//! use deltascope_cache::controller::{Config, Controller, Generation};
//! use deltascope_cache::lister_watcher::ListPage;
//! use deltascope_cache::object::Item;
//! use k8s_openapi::api::core::v1::Pod;
//!
//! let now = Duration::ZERO;
//! let mut informer: Controller<Pod> = Controller::new(Config::new(Generation::Classic));
//! let page = ListPage {
//!     resource_version: "10".into(),
//!     items: vec![Item::object(Pod::default())],
//!     continue_token: "".into(),
//!     table: None,
//! };
//! informer.reflector_mut().waited(now, &mut ());
//! informer.reflector_mut().listed(now, Ok(page), &mut ());
//! informer.carry_out(now, &mut ());
//! let mut notified = 0;
//! while informer.process(|_, _| notified += 1, || now, &mut ()).unwrap() {}
//! assert_eq!((notified, informer.has_synced()), (1, true));
//! ```

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::backoff::{Backoff, Jitter, NoJitter};
use super::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use super::error::Error;
use super::fact::{Fact, QueueFact, Rv};
use super::fifo::Fifo;
use super::index::Indexers;
use super::key::Key;
use super::key_func::{
    KeyFunc, deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use super::object::Object;
use super::order::Order;
use super::process::{Notification, PoppedItems, Process};
use super::queue::{KeyListerGetter, ProcessOutcome, Queue, Release, TransformFunc, count};
use super::real_fifo::{RealFifo, RealFifoOptions};
use super::reflector::{
    ExpectedType, MIN_WATCH_TIMEOUT, Reflector, ReflectorOptions, StoreCall, TableCheck,
};
use super::step::Step;
use super::store::{Indexer, StoreOptions};
use super::trace::Trace;

/// The internals of an informer, named after the client-go releases with these defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Up to 1.32: DeltaFIFO; processes all deltas of one key at a time.
    Classic,
    /// 1.33 and 1.34: RealFIFO; processes one delta at a time.
    InOrder,
    /// 1.35: RealFIFO in batches of up to 1000 keys.
    Batched,
    /// From 1.36 on: a whole list or resync is one entry.
    #[default]
    Atomic,
}

impl Generation {
    /// All generations, oldest first.
    pub const ALL: [Self; 4] = [Self::Classic, Self::InOrder, Self::Batched, Self::Atomic];

    /// The version of each, as [`version`](Self::version) returns it.
    pub const VERSIONS: [&'static str; Self::ALL.len()] = {
        let mut versions = [""; Self::ALL.len()];
        let mut place = 0;
        while place < versions.len() {
            versions[place] = Self::ALL[place].version();
            place += 1;
        }
        versions
    };

    /// The generation of a Kubernetes version like `1.32`.
    #[must_use]
    pub fn from_version(version: &str) -> Option<Self> {
        let minor = version.strip_prefix("1.")?;
        if !minor.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(match minor.parse().ok()? {
            0..=32_u32 => Self::Classic,
            33..=34 => Self::InOrder,
            35 => Self::Batched,
            36.. => Self::Atomic,
        })
    }

    /// A Kubernetes version with this generation.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::Classic => "1.32",
            Self::InOrder => "1.34",
            Self::Batched => "1.35",
            Self::Atomic => "1.36",
        }
    }

    /// The same in client-go's own numbers.
    #[must_use]
    pub const fn client_go(self) -> &'static str {
        match self {
            Self::Classic => "0.32",
            Self::InOrder => "0.34",
            Self::Batched => "0.35",
            Self::Atomic => "0.36",
        }
    }

    /// The generation's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::InOrder => "in-order",
            Self::Batched => "batched",
            Self::Atomic => "atomic",
        }
    }

    /// The client-go release with this generation as its default.
    #[must_use]
    pub fn release(self) -> Release {
        match self {
            Self::Classic => Release::V0_32,
            Self::InOrder => Release::V0_34,
            Self::Batched => Release::V0_35,
            Self::Atomic => Release::V0_36,
        }
    }

    /// Whether the initial list is a streaming list by default.
    #[must_use]
    pub fn watch_list_by_default(self) -> bool {
        self >= Self::Batched
    }

    /// Whether bookmarks go through the queue, and the store keeps the version of its last write.
    #[must_use]
    pub fn keeps_store_resource_version(self) -> bool {
        self == Self::Atomic
    }
}

/// The queue of an informer, or of a program that builds its own.
#[derive_where(Clone)]
pub enum InformerQueue<O> {
    /// Of the classic generation.
    Delta(DeltaFifo<O>),
    /// Of the other generations.
    Real(RealFifo<O>),
    /// Not used by informers; only a program can choose it.
    Fifo(Fifo<O>),
}

impl<O: Object> InformerQueue<O> {
    /// An empty queue of a generation.
    #[must_use]
    pub fn new(
        generation: Generation,
        key_func: KeyFunc<O>,
        transformer: Option<TransformFunc<O>>,
    ) -> Self {
        Self::of_release(generation, generation.release(), key_func, transformer)
    }

    /// An empty queue of an older generation as in a newer client-go, where a feature gate can
    /// restore it.
    #[must_use]
    pub fn of_release(
        generation: Generation,
        release: Release,
        key_func: KeyFunc<O>,
        transformer: Option<TransformFunc<O>>,
    ) -> Self {
        if generation == Generation::Classic {
            return Self::Delta(DeltaFifo::new(DeltaFifoOptions {
                key_func,
                emit_delta_type_replaced: true,
                transformer,
                release,
            }));
        }
        let atomic = generation == Generation::Atomic;
        Self::Real(RealFifo::new(RealFifoOptions {
            transformer,
            atomic_events: atomic,
            emit_delta_type_bookmark: atomic,
            unlock_while_processing: atomic,
            ..RealFifoOptions::new(key_func, release)
        }))
    }

    /// Applies a store call of the reflector; `known` is the store that the process function fills.
    ///
    /// # Errors
    /// Those of the [`Queue`] methods.
    pub fn write(
        &mut self,
        call: StoreCall<O>,
        known: &dyn KeyListerGetter<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        match self {
            Self::Delta(queue) => write(queue, call, known, trace),
            Self::Real(queue) => match call {
                StoreCall::Bookmark(rv) => {
                    queue.bookmark(&rv, trace);
                    Ok(())
                }
                call => write(queue, call, known, trace),
            },
            Self::Fifo(queue) => write(queue, call, known, trace),
        }
    }

    /// Takes the next item: the input of one call of the process function. `Ok(None)`: Pop would
    /// block.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the queue is empty and closed.
    pub fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<PoppedItems<O>>, Error> {
        match self {
            Self::Delta(queue) => Ok(queue.begin_pop(trace)?.map(PoppedItems::Deltas)),
            Self::Real(queue) => {
                // client-go has PopBatch since 0.35.
                let taken = if queue.release() < Release::V0_35 {
                    queue.begin_pop(trace)?
                } else {
                    queue.begin_pop_batch(trace)?
                };
                Ok(taken.map(PoppedItems::Entries))
            }
            Self::Fifo(queue) => Ok(queue.begin_pop(trace)?.map(PoppedItems::Object)),
        }
    }

    /// The key that [`begin_pop`](Self::begin_pop) takes next, if the queue holds keys.
    #[must_use]
    pub fn next_key(&self) -> Option<&Key> {
        match self {
            Self::Delta(queue) => queue.list_keys().next(),
            Self::Real(_) => None,
            Self::Fifo(queue) => {
                let has_object = |key: &&Key| queue.get_by_key(key).is_some();
                let key = queue.queue().find(has_object);
                key.or_else(|| queue.queue().next())
            }
        }
    }

    /// Finishes what [`begin_pop`](Self::begin_pop) began; `elapsed` is the processing time.
    ///
    /// # Errors
    /// The error of the process function: [`Error::Process`]. The process loop ignores it; the
    /// popped item is lost.
    pub fn finish_pop(
        &mut self,
        taken: PoppedItems<O>,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        match (self, taken) {
            (Self::Delta(queue), PoppedItems::Deltas(taken)) => {
                let (taken, end) = queue.finish_pop(taken, outcome, elapsed, trace);
                trace.fact(Step::PopProcess, || {
                    Fact::Queue(QueueFact::Processed { key: taken.key })
                });
                end
            }
            (Self::Real(queue), PoppedItems::Entries(taken)) => {
                let (taken, end) = queue.finish_pop(taken, outcome, elapsed, trace);
                trace.fact(Step::PopProcess, || {
                    Fact::Queue(QueueFact::EntriesProcessed {
                        count: count(taken.entries.len()),
                    })
                });
                end
            }
            (Self::Fifo(queue), PoppedItems::Object(taken)) => {
                let (taken, end) = queue.finish_pop(taken, outcome, elapsed, trace);
                trace.fact(Step::FifoPopProcess, || {
                    Fact::Queue(QueueFact::Processed { key: taken.key })
                });
                end
            }
            // The item is from another type of queue: there is nothing to finish.
            _ => outcome.into_result(),
        }
    }

    /// Whether the queue's lock is released while the popped item is processed.
    #[must_use]
    pub fn unlocks_while_processing(&self) -> bool {
        match self {
            Self::Delta(_) | Self::Fifo(_) => false,
            Self::Real(queue) => queue.unlocks_while_processing(),
        }
    }

    /// Whether the initial list was popped.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        match self {
            Self::Delta(queue) => queue.has_synced(),
            Self::Real(queue) => queue.has_synced(),
            Self::Fifo(queue) => queue.has_synced(),
        }
    }

    /// Closes the queue: Pop fails once it is empty.
    pub fn close(&mut self, trace: &mut impl Trace) {
        match self {
            Self::Delta(queue) => queue.close(trace),
            Self::Real(queue) => queue.close(trace),
            Self::Fifo(queue) => queue.close(trace),
        }
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Delta(queue) => queue.is_closed(),
            Self::Real(queue) => queue.is_closed(),
            Self::Fifo(queue) => queue.is_closed(),
        }
    }

    /// Number of queued keys or entries.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Delta(queue) => queue.depth(),
            Self::Real(queue) => queue.depth(),
            Self::Fifo(queue) => queue.depth(),
        }
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.depth() == 0
    }
}

fn write<O: Object>(
    queue: &mut impl Queue<O>,
    call: StoreCall<O>,
    known: &dyn KeyListerGetter<O>,
    trace: &mut impl Trace,
) -> Result<(), Error> {
    match call {
        StoreCall::Add(item) => queue.add(item, trace),
        StoreCall::Update(item) => queue.update(item, trace),
        StoreCall::Delete(item) => queue.delete(item, Some(known), trace),
        StoreCall::Replace(items, rv) => queue.replace(items, &rv, Some(known), trace),
        StoreCall::Resync => queue.resync(Some(known), trace),
        // Only a RealFIFO handles bookmarks, and no queue keeps a version.
        StoreCall::Bookmark(_) | StoreCall::UpdateResourceVersion(_) => Ok(()),
    }
}

/// Configuration of an informer: its queue, its store and its reflector.
#[derive_where(Clone)]
pub struct Config<O> {
    /// The generation, which determines the queue.
    pub generation: Generation,
    /// Which client-go release to follow otherwise: newer releases can be switched back to an older
    /// generation.
    pub release: Release,
    /// The type of the cached objects, for error texts.
    pub type_description: Arc<str>,
    /// The store's indices.
    pub indexers: Indexers<O>,
    /// The visible order of the store, and the order of a streaming list's objects.
    pub order: Order,
    /// Whether the store keeps the version of its last write (the gate AtomicFIFO, on in 0.36).
    pub keeps_store_resource_version: bool,
    /// Transforms every object before it is queued.
    pub transform: Option<TransformFunc<O>>,
    /// See [`ReflectorOptions::expected_type`].
    pub expected_type: Option<ExpectedType<O>>,
    /// See [`ReflectorOptions::table_check`].
    pub table_check: Option<TableCheck<O>>,
    /// How often the reflector checks whether a resync is due; 0: never.
    pub full_resync_period: Duration,
    /// Whether the initial list is a streaming list.
    pub watch_list: bool,
    /// See [`ReflectorOptions::page_size`].
    pub watch_list_page_size: u32,
    /// See [`ReflectorOptions::min_watch_timeout`].
    pub min_watch_timeout: Duration,
    /// See [`ReflectorOptions::max_internal_error_retry`].
    pub max_internal_error_retry: Duration,
    /// The pauses between the reflector's attempts.
    pub backoff: Backoff,
    /// The source of randomness for pauses and timeouts.
    pub jitter: Box<dyn Jitter>,
}

impl<O> Config<O> {
    /// A generation, with the defaults of its release.
    #[must_use]
    pub fn new(generation: Generation) -> Self {
        Self {
            generation,
            release: generation.release(),
            type_description: "<unspecified>".into(),
            indexers: Indexers::default(),
            order: Order::default(),
            keeps_store_resource_version: generation.keeps_store_resource_version(),
            transform: None,
            expected_type: None,
            table_check: None,
            full_resync_period: Duration::ZERO,
            watch_list: generation.watch_list_by_default(),
            watch_list_page_size: 0,
            min_watch_timeout: MIN_WATCH_TIMEOUT,
            max_internal_error_retry: Duration::ZERO,
            backoff: Backoff::default(),
            jitter: Box::new(NoJitter),
        }
    }
}

impl<O> Default for Config<O> {
    fn default() -> Self {
        Self::new(Generation::default())
    }
}

impl<O: Object + 'static> Config<O> {
    /// An empty queue with this configuration.
    #[must_use]
    pub fn queue(&self) -> InformerQueue<O> {
        InformerQueue::of_release(
            self.generation,
            self.release,
            Arc::new(meta_namespace_key_func),
            self.transform.clone(),
        )
    }

    /// An empty store with this configuration.
    #[must_use]
    pub fn store(&self) -> Indexer<O> {
        let options = StoreOptions {
            order: self.order,
            keeps_resource_version: self.keeps_store_resource_version,
            ..StoreOptions::default()
        };
        Indexer::with_options(
            Arc::new(deletion_handling_meta_namespace_key_func),
            self.indexers.clone(),
            options,
        )
    }

    /// The reflector's part of this configuration.
    #[must_use]
    pub fn reflector_options(&self) -> ReflectorOptions<O> {
        ReflectorOptions {
            type_description: Arc::clone(&self.type_description),
            watch_list: self.watch_list,
            page_size: self.watch_list_page_size,
            resync_period: self.full_resync_period,
            max_internal_error_retry: self.max_internal_error_retry,
            min_watch_timeout: self.min_watch_timeout,
            bookmark_store: self.generation == Generation::Atomic,
            transformer: self.transform.clone(),
            expected_type: self.expected_type.clone(),
            table_check: self.table_check.clone(),
            release: self.release,
            order: self.order,
            backoff: self.backoff,
            jitter: self.jitter.clone(),
            ..ReflectorOptions::default()
        }
    }
}

/// An informer without indices: upstream's `NewInformer`.
#[must_use]
pub fn new_informer<O: Object + 'static>(generation: Generation) -> Controller<O> {
    Controller::new(Config::new(generation))
}

/// An informer with indices: upstream's `NewIndexerInformer`.
#[must_use]
pub fn new_indexer_informer<O: Object + 'static>(
    generation: Generation,
    indexers: Indexers<O>,
) -> Controller<O> {
    Controller::new(Config {
        indexers,
        ..Config::new(generation)
    })
}

/// The unshared informer, for one thread: the process loop calls its only handler between the
/// writes.
///
/// The driver answers the needs of its [`reflector`](Self::reflector), carries out the reflector's
/// store calls and calls [`process`](Self::process).
#[derive_where(Clone)]
pub struct Controller<O> {
    queue: InformerQueue<O>,
    store: Indexer<O>,
    reflector: Reflector<O>,
}

/// The state that a handler sees when the process loop calls it.
#[derive(Clone, Copy)]
pub struct Seen<'a, O> {
    /// The store at that time.
    pub store: &'a Indexer<O>,
    /// `HasSynced` of the queue at that time.
    pub has_synced: bool,
}

impl<O: Object + 'static> Controller<O> {
    /// An informer that has not started: its reflector waits for
    /// [`waited`](super::reflector::Reflector::waited).
    #[must_use]
    pub fn new(config: Config<O>) -> Self {
        Self {
            queue: config.queue(),
            store: config.store(),
            reflector: Reflector::new(config.reflector_options()),
        }
    }

    /// The reflector.
    #[must_use]
    pub fn reflector(&self) -> &Reflector<O> {
        &self.reflector
    }

    /// The reflector, mutable, to answer its needs.
    pub fn reflector_mut(&mut self) -> &mut Reflector<O> {
        &mut self.reflector
    }

    /// The store. Only [`process`](Self::process) writes to it.
    #[must_use]
    pub fn store(&self) -> &Indexer<O> {
        &self.store
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &InformerQueue<O> {
        &self.queue
    }

    /// Carries out the reflector's pending store call; returns false if there is none.
    pub fn carry_out(&mut self, now: Duration, trace: &mut impl Trace) -> bool {
        let Some(call) = self.reflector.take_store_call() else {
            return false;
        };
        let outcome = self.write(call, trace);
        self.reflector.stored(now, outcome, trace);
        true
    }

    /// Applies a store call of the reflector or of its resync timer.
    ///
    /// # Errors
    /// Those of the queue. Report the error to the reflector.
    pub fn write(&mut self, call: StoreCall<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.queue.write(call, &self.store, trace)
    }

    /// Resyncs if that is due; the only handler always takes part. Returns whether it resynced.
    pub fn resync(&mut self, now: Duration, trace: &mut impl Trace) -> bool {
        let due = self.reflector.resync_at().is_some_and(|at| at <= now);
        if !due || !self.reflector.resync_fired(now, true, trace) {
            return false;
        }
        let outcome = self.write(StoreCall::Resync, trace);
        self.reflector.resync_done(now, outcome, trace);
        true
    }

    /// Pops one item and processes it, calling the handler for each notification. Returns whether
    /// there was an item. `now` returns the time of any clock.
    ///
    /// Like client-go's loop, it ignores an error of the process function; the popped item is lost.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the informer was stopped, and everything is processed.
    pub fn process(
        &mut self,
        mut handler: impl FnMut(Notification<O>, Seen<'_, O>),
        now: impl Fn() -> Duration,
        trace: &mut impl Trace,
    ) -> Result<bool, Error> {
        let Some(work) = self.queue.begin_pop(trace)? else {
            return Ok(false);
        };
        let start = now();
        let has_synced = self.queue.has_synced();
        let mut process = Process::new(work);
        let outcome = loop {
            match process.next_notification(&mut self.store, trace) {
                Ok(notification) => {
                    let store = &self.store;
                    handler(notification, Seen { store, has_synced });
                }
                Err(outcome) => break outcome,
            }
        };
        let elapsed = now().saturating_sub(start);
        let taken = process.into_taken();
        // The error was already stated as a fact.
        let _ignored = self.queue.finish_pop(taken, outcome, elapsed, trace);
        Ok(true)
    }

    /// Stops the informer: it sends no more requests. Queued items can still be processed, as
    /// client-go's loop does if [`Release::drains_at_stop`].
    pub fn stop(&mut self, now: Duration, trace: &mut impl Trace) {
        self.reflector.stop(now, trace);
        self.queue.close(trace);
    }

    /// Whether the initial list was processed.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.queue.has_synced()
    }

    /// The resource version of the last list, event or bookmark.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> &Rv {
        self.reflector.last_sync_resource_version()
    }
}
