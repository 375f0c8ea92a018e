//! RealFIFO: every change, in arrival order.
//!
//! Upstream: [`the_real_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/the_real_fifo.go).

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use hashbrown::{HashTable, hash_table};

use super::chunked_queue::ChunkedQueue;
use super::delta::{Delta, DeltaType};
use super::error::Error;
use super::fact::{Entry, Fact, QueueFact, Rv};
use super::few::Few;
use super::interner::Interner;
use super::key::Key;
use super::key_func::KeyFunc;
use super::object::{DeletedFinalStateUnknown, Item, Object};
use super::queue::{
    KeyListerGetter, PoppedItem, Population, ProcessOutcome, Processing, Queue, Release,
    SLOW_DEPTH, SLOW_PROCESS, TransformFunc, count, queue_key, state_processed, transform,
};
use super::step::Step;
use super::trace::Trace;

/// Maximum number of entries in a batch; client-go's value.
pub const DEFAULT_BATCH_SIZE: usize = 1000;

/// Maximum for the time limit of a batch: the limit of a single entry times the number of entries,
/// but no more than this. A batch over its limit is reported as slow.
const SLOW_BATCH: Duration = Duration::from_secs(1);

/// Configuration of a RealFIFO.
pub struct RealFifoOptions<O> {
    /// The key function.
    pub key_func: KeyFunc<O>,
    /// Runs over each object before it is queued.
    pub transformer: Option<TransformFunc<O>>,
    /// Whether a list or a resync is one entry. KnownObjects are not used then.
    pub atomic_events: bool,
    /// Whether bookmarks are queued; otherwise they are dropped.
    pub emit_delta_type_bookmark: bool,
    /// Whether the queue's lock is released while processing, unless very many entries are waiting.
    pub unlock_while_processing: bool,
    /// Maximum number of entries in a batch.
    pub batch_size: usize,
    /// Which release to follow. Up to 0.35 the queue counts down the initial population before it
    /// calls the process function, and treats a single entry as a batch.
    pub release: Release,
}

impl<O> RealFifoOptions<O> {
    /// The configuration of a release's informers: up to 0.35 one entry per change; in 0.36 atomic
    /// events, bookmarks and unlocking.
    pub fn new(key_func: KeyFunc<O>, release: Release) -> Self {
        let atomic = release >= Release::V0_36;
        Self {
            key_func,
            transformer: None,
            atomic_events: atomic,
            emit_delta_type_bookmark: atomic,
            unlock_while_processing: atomic,
            batch_size: DEFAULT_BATCH_SIZE,
            release,
        }
    }
}

/// An entry of the queue: a change, a list, a resync or a bookmark.
#[derive(Debug)]
#[derive_where(Clone)]
pub enum QueuedDelta<O> {
    /// A change of one object.
    Delta {
        /// The object's key.
        key: Key,
        /// The change.
        delta: Delta<O>,
    },
    /// A whole list.
    ReplacedAll(Arc<ReplacedAllInfo<O>>),
    /// A whole resync.
    SyncAll,
    /// A newer resource version.
    Bookmark(Rv),
}

/// A whole list, unchecked: an object without a key is found only in processing.
#[derive(Debug)]
pub struct ReplacedAllInfo<O> {
    /// The list's version.
    pub resource_version: Rv,
    /// The objects, in list order.
    pub objects: Vec<Item<O>>,
}

impl<O: Object> QueuedDelta<O> {
    /// The delta type of the entry.
    #[must_use]
    pub fn delta_type(&self) -> DeltaType {
        match self {
            Self::Delta { delta, .. } => delta.delta_type,
            Self::ReplacedAll(_) => DeltaType::ReplacedAll,
            Self::SyncAll => DeltaType::SyncAll,
            Self::Bookmark(_) => DeltaType::Bookmark,
        }
    }

    /// The key, if the entry is a change of one object.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Delta { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The entry as recorded in facts. `key_func` computes the keys of a list's objects; an object
    /// without a key gets an empty one.
    #[must_use]
    pub fn to_entry(&self, key_func: &KeyFunc<O>) -> Entry {
        match self {
            Self::Delta { key, delta } => Entry::Delta(delta.delta_type, delta.object.to_ref(key)),
            Self::ReplacedAll(info) => Entry::ReplacedAll {
                rv: Arc::clone(&info.resource_version),
                objects: info
                    .objects
                    .iter()
                    .map(|item| item.to_ref(&key_or_empty(key_func, item)))
                    .collect(),
            },
            Self::SyncAll => Entry::SyncAll,
            Self::Bookmark(rv) => Entry::Bookmark { rv: Arc::clone(rv) },
        }
    }
}

/// A queue of changes, without merging.
///
/// Cloning copies the queue and shares the objects.
pub struct RealFifo<O> {
    items: ChunkedQueue<QueuedDelta<O>>,
    /// The keys of a batch; reused by each batch.
    unique: HashTable<usize>,
    population: Population,
    closed: bool,
    key_func: KeyFunc<O>,
    transformer: Option<TransformFunc<O>>,
    atomic_events: bool,
    emit_delta_type_bookmark: bool,
    unlock_while_processing: bool,
    batch_size: usize,
    release: Release,
}

// Without the keys of the last batch, which nobody needs.
impl<O> Clone for RealFifo<O> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            unique: HashTable::new(),
            population: self.population.clone(),
            closed: self.closed,
            key_func: Arc::clone(&self.key_func),
            transformer: self.transformer.clone(),
            atomic_events: self.atomic_events,
            emit_delta_type_bookmark: self.emit_delta_type_bookmark,
            unlock_while_processing: self.unlock_while_processing,
            batch_size: self.batch_size,
            release: self.release,
        }
    }
}

/// The result of [`RealFifo::begin_pop`] or [`RealFifo::begin_pop_batch`].
#[derive(Debug)]
#[derive_where(Clone)]
pub struct PoppedBatch<O> {
    /// The entries, oldest first; at least one.
    pub entries: Few<QueuedDelta<O>>,
    /// Whether all of them belong to the initial list.
    pub is_in_initial_list: bool,
    /// Whether the batch function processes them; otherwise the function for a single entry.
    pub batch: bool,
    /// Number of entries left in the queue.
    pub depth: usize,
}

impl<O> PoppedItem for PoppedBatch<O> {
    fn is_in_initial_list(&self) -> bool {
        self.is_in_initial_list
    }
}

impl<O: Object> RealFifo<O> {
    /// An empty queue.
    #[must_use]
    pub fn new(options: RealFifoOptions<O>) -> Self {
        Self {
            items: ChunkedQueue::default(),
            unique: HashTable::new(),
            population: Population::default(),
            closed: false,
            key_func: options.key_func,
            transformer: options.transformer,
            atomic_events: options.atomic_events,
            emit_delta_type_bookmark: options.emit_delta_type_bookmark,
            unlock_while_processing: options.unlock_while_processing,
            // With a batch size of 0, Pop would make no progress.
            batch_size: options.batch_size.max(1),
            release: options.release,
        }
    }

    /// Queues a newer version without a change. This does not populate the queue.
    pub fn bookmark(&mut self, resource_version: &str, trace: &mut impl Trace) {
        if self.emit_delta_type_bookmark {
            let entry = QueuedDelta::Bookmark(resource_version.into());
            self.append(entry, Step::RealBookmark, trace);
        }
    }

    /// Takes the next entries: with different keys, up to the batch size, and not across the end of
    /// the initial list. A list, a resync or a bookmark is taken alone. `Ok(None)`: Pop would
    /// block.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the queue is empty and closed.
    pub fn begin_pop_batch(
        &mut self,
        trace: &mut impl Trace,
    ) -> Result<Option<PoppedBatch<O>>, Error> {
        self.unique.clear();
        let mut length = 0;
        for entry in self.items.iter().take(self.batch_size) {
            if self.population.initial > 0 && length >= self.population.initial {
                break;
            }
            match entry.key() {
                None if length == 0 => {
                    length = 1;
                    break;
                }
                Some(key) if is_new(&mut self.unique, &self.items, length, key) => length += 1,
                _ => break,
            }
        }
        let batch = length > 1 || self.release < Release::V0_36;
        self.take(length, batch, Step::RealPopBatch, trace)
    }

    /// A complete Pop of a batch; like [`Queue::pop`].
    ///
    /// # Errors
    /// [`Error::FifoClosed`].
    #[allow(
        clippy::type_complexity,
        reason = "what was popped and its result, as for the other Pops"
    )]
    pub fn pop_batch(
        &mut self,
        process: impl FnOnce(Processing<'_, PoppedBatch<O>>) -> ProcessOutcome,
        now: impl Fn() -> Duration,
        trace: &mut impl Trace,
    ) -> Result<Option<(PoppedBatch<O>, Result<(), Error>)>, Error> {
        let Some(taken) = self.begin_pop_batch(trace)? else {
            return Ok(None);
        };
        Ok(Some(self.process(taken, process, now, trace)))
    }

    /// Whether the lock is released while the popped entries are processed.
    #[must_use]
    pub fn unlocks_while_processing(&self) -> bool {
        // With this many waiting, the writers are faster than the consumer, so let them wait.
        self.unlock_while_processing && self.items.len() < self.batch_size.saturating_mul(2)
    }

    /// The queued entries, next one first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &QueuedDelta<O>> {
        self.items.iter()
    }

    /// The key function, for [`QueuedDelta::to_entry`].
    #[must_use]
    pub fn key_func(&self) -> &KeyFunc<O> {
        &self.key_func
    }

    /// The release that the queue follows.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// Whether the queue has ever been written to.
    #[must_use]
    pub fn populated(&self) -> bool {
        self.population.populated
    }

    /// Number of entries of the initial population that are still to be popped.
    #[must_use]
    pub fn initial_population_count(&self) -> usize {
        self.population.initial
    }

    // ---- helpers

    fn append(&mut self, entry: QueuedDelta<O>, step: Step, trace: &mut impl Trace) {
        trace.fact(step, || {
            Fact::Queue(QueueFact::EntryAppended {
                entry: entry.to_entry(&self.key_func),
                length: count(self.items.len() + 1),
            })
        });
        self.items.push_back(entry);
    }

    fn add_to_items(
        &mut self,
        delta_type: DeltaType,
        transforms: bool,
        item: Item<O>,
        step: Step,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let key = queue_key(&self.key_func, &item, step, trace)?;
        self.add_keyed(delta_type, transforms, key, item, step, trace)
    }

    fn add_keyed(
        &mut self,
        delta_type: DeltaType,
        transforms: bool,
        mut key: Key,
        item: Item<O>,
        step: Step,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let object = match &self.transformer {
            Some(transformer) if transforms && !item.is_tombstone() => {
                let object = transform(transformer, &key, item, step, trace)?;
                // client-go computes the key from the transformed object.
                if let Ok(transformed) = super::key_func::key_of(&self.key_func, &object) {
                    key = transformed;
                }
                object
            }
            _ => item,
        };
        let delta = Delta { delta_type, object };
        self.append(QueuedDelta::Delta { key, delta }, step, trace);
        Ok(())
    }

    fn change(
        &mut self,
        delta_type: DeltaType,
        item: Item<O>,
        step: Step,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        self.population.populate(0, step, trace);
        self.add_to_items(delta_type, true, item, step, trace)
    }

    fn replace_all(
        &mut self,
        mut objects: Vec<Item<O>>,
        resource_version: &str,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let step = Step::RealReplaceAll;
        if let Some(transformer) = &self.transformer {
            objects = objects
                .into_iter()
                .map(|item| {
                    let key = key_or_empty(&self.key_func, &item);
                    transform(transformer, &key, item, step, trace)
                })
                .collect::<Result<_, _>>()?;
        }
        let info = ReplacedAllInfo {
            resource_version: resource_version.into(),
            objects,
        };
        self.append(QueuedDelta::ReplacedAll(Arc::new(info)), step, trace);
        Ok(())
    }

    /// Queues tombstones for objects that are queued or known but not listed, then the listed
    /// objects.
    fn reconcile(
        &mut self,
        items: Vec<Item<O>>,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let step = Step::RealReplaceItems;
        let mut keys: Vec<Key> = Vec::with_capacity(items.len());
        for item in &items {
            keys.push(queue_key(&self.key_func, item, step, trace)?);
        }
        // Their places in `keys`. The table has room for all.
        let mut listed = HashTable::with_capacity(keys.len());
        for (place, key) in (0..).zip(&keys) {
            let is = |other: &u32| keys[*other as usize] == *key;
            listed.entry(key.hashed(), is, |_| 0).or_insert(place);
        }
        let is_listed = |key: &Key| {
            let is = |place: &u32| keys[*place as usize] == *key;
            listed.find(key.hashed(), is).is_some()
        };

        // The queued keys, with the position of the newest entry of each.
        let mut queued = Interner::default();
        let mut newest: Vec<usize> = Vec::new();
        for (place, entry) in self.items.iter().enumerate() {
            if let Some(key) = entry.key() {
                match queued.insert(&mut key.clone(), ()) {
                    Some(row) if row.given.is_some() => newest[row.number as usize] = place,
                    _ => newest.push(place),
                }
            }
        }
        for (number, place) in (0..).zip(newest) {
            let Some(key) = queued.name(number) else {
                continue;
            };
            if is_listed(key) {
                continue;
            }
            let Some(QueuedDelta::Delta { delta, .. }) = self.items.get(place) else {
                continue;
            };
            // A deletion of the object is already queued.
            if delta.delta_type == DeltaType::Deleted {
                continue;
            }
            let object = Some(delta.object.clone());
            self.queue_deletion(key.clone(), object, trace)?;
        }
        if let Some(known) = known {
            let mut missing = Vec::new();
            known.visit_keys(&mut |key| {
                if !is_listed(key) && queued.number(key).is_none() {
                    missing.push(key.clone());
                }
            });
            for key in missing {
                // If the lookup fails, queue the deletion without the object.
                let object = known.get_by_key(&key).unwrap_or_default();
                self.queue_deletion(key, object, trace)?;
            }
        }

        for (item, key) in items.into_iter().zip(keys) {
            self.add_keyed(DeltaType::Replaced, true, key, item, step, trace)
                .map_err(|error| Error::Enqueue(Box::new(error)))?;
        }
        Ok(())
    }

    fn queue_deletion(
        &mut self,
        key: Key,
        object: Option<Item<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let step = Step::RealReplaceDeletes;
        trace.fact(step, || {
            Fact::Queue(QueueFact::DeletionDetected { key: key.clone() })
        });
        let tombstone = Item::Tombstone(Arc::new(DeletedFinalStateUnknown { key, object }));
        self.add_to_items(DeltaType::Deleted, false, tombstone, step, trace)
            .map_err(|error| Error::Enqueue(Box::new(error)))
    }

    /// Takes `length` entries off the front.
    fn take(
        &mut self,
        length: usize,
        batch: bool,
        step: Step,
        trace: &mut impl Trace,
    ) -> Result<Option<PoppedBatch<O>>, Error> {
        if self.items.len() == 0 {
            return if self.closed {
                Err(Error::FifoClosed)
            } else {
                Ok(None)
            };
        }
        let is_in_initial_list = !self.population.synced;
        let entries = if length == 1 {
            self.items.pop_front().map(Few::one).unwrap_or_default()
        } else {
            self.items.take(length).into()
        };
        trace.fact(step, || {
            Fact::Queue(QueueFact::EntriesTaken {
                count: count(length),
                is_in_initial_list,
            })
        });
        if self.release.counts_before_process() {
            self.population
                .count_down(length, Step::PopCountDown, trace);
        }
        Ok(Some(PoppedBatch {
            entries,
            is_in_initial_list,
            batch,
            depth: self.items.len(),
        }))
    }

    fn process(
        &mut self,
        taken: PoppedBatch<O>,
        process: impl FnOnce(Processing<'_, PoppedBatch<O>>) -> ProcessOutcome,
        now: impl Fn() -> Duration,
        trace: &mut impl Trace,
    ) -> (PoppedBatch<O>, Result<(), Error>) {
        // Like client-go, read the clock only if many entries are waiting, because that costs time.
        let timed = taken.depth > SLOW_DEPTH;
        let start = if timed { now() } else { Duration::ZERO };
        let outcome = process(Processing {
            taken: &taken,
            is_in_initial_list: taken.is_in_initial_list,
            has_synced: self.population.synced,
        });
        let elapsed = if timed {
            now().saturating_sub(start)
        } else {
            Duration::ZERO
        };
        self.finish_pop(taken, outcome, elapsed, trace)
    }
}

impl<O: Object> Queue<O> for RealFifo<O> {
    type Popped = PoppedBatch<O>;

    fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.change(DeltaType::Added, item, Step::RealAdd, trace)
    }

    fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.change(DeltaType::Updated, item, Step::RealAdd, trace)
    }

    /// Queues the deletion even if the object is unknown; does not use `known`.
    fn delete(
        &mut self,
        item: Item<O>,
        _known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        self.change(DeltaType::Deleted, item, Step::RealDelete, trace)
    }

    /// With atomic events, queues one entry without checking keys, or nothing if the transformer
    /// fails. Otherwise queues deletions, then the listed objects: nothing if an object has no key,
    /// and only the earlier entries if the transformer fails.
    fn replace(
        &mut self,
        items: Vec<Item<O>>,
        resource_version: &str,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        if self.atomic_events {
            self.replace_all(items, resource_version, trace)?;
        } else {
            self.reconcile(items, known, trace)?;
        }
        let initial = self.items.len();
        self.population
            .populate(initial, Step::RealPopulation, trace);
        Ok(())
    }

    /// With atomic events, queues one entry; otherwise `Sync` for each known key that has no queued
    /// entry.
    fn resync(
        &mut self,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        if self.atomic_events {
            self.append(QueuedDelta::SyncAll, Step::RealSyncAll, trace);
            return Ok(());
        }
        let Some(known) = known else { return Ok(()) };
        let step = Step::RealResync;
        let mut queued = Interner::default();
        for key in self.items.iter().filter_map(QueuedDelta::key) {
            queued.insert(&mut key.clone(), ());
        }
        for key in known.list_keys() {
            if queued.number(&key).is_some() {
                trace.fact(step, || Fact::Queue(QueueFact::ResyncSkipped { key }));
                continue;
            }
            if let Ok(Some(item)) = known.get_by_key(&key) {
                self.add_to_items(DeltaType::Sync, false, item, step, trace)
                    .map_err(|error| Error::QueueObject(Box::new(error)))?;
            }
        }
        Ok(())
    }

    fn close(&mut self, trace: &mut impl Trace) {
        self.closed = true;
        trace.fact(Step::QueueClose, || Fact::Queue(QueueFact::QueueClosed));
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn has_synced(&self) -> bool {
        self.population.synced
    }

    fn depth(&self) -> usize {
        self.items.len()
    }

    /// Takes a single entry.
    fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<PoppedBatch<O>>, Error> {
        self.take(1, false, Step::PopTake, trace)
    }

    /// Finishes a Pop of one entry or of a batch.
    fn finish_pop(
        &mut self,
        taken: PoppedBatch<O>,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> (PoppedBatch<O>, Result<(), Error>) {
        let length = taken.entries.len();
        let slow = SLOW_PROCESS
            .saturating_mul(count(length))
            .min(SLOW_BATCH)
            .max(SLOW_PROCESS);
        let key = || {
            let first = taken.entries.first().and_then(QueuedDelta::key);
            // A list, a resync or a bookmark has no key.
            first.cloned().unwrap_or_else(|| Key::from(""))
        };
        state_processed(
            Step::PopProcess,
            key,
            taken.depth,
            slow,
            &outcome,
            elapsed,
            trace,
        );
        if !self.release.counts_before_process() {
            self.population
                .count_down(length, Step::PopCountDown, trace);
        }
        (taken, outcome.into_result())
    }
}

/// Adds the key of the entry at `place` to the batch's keys; false if it is already there.
fn is_new<O: Object>(
    unique: &mut HashTable<usize>,
    items: &ChunkedQueue<QueuedDelta<O>>,
    place: usize,
    key: &Key,
) -> bool {
    let key_at = |place: usize| items.get(place).and_then(QueuedDelta::key);
    let hash_at = |place: usize| key_at(place).map_or(0, |key| key.hashed());
    match unique.entry(
        key.hashed(),
        |other| key_at(*other) == Some(key),
        |other| hash_at(*other),
    ) {
        hash_table::Entry::Occupied(_) => false,
        hash_table::Entry::Vacant(entry) => {
            entry.insert(place);
            true
        }
    }
}

fn key_or_empty<O: Object>(key_func: &KeyFunc<O>, item: &Item<O>) -> Key {
    super::key_func::key_of(key_func, item).unwrap_or_else(|_| Key::from(""))
}
