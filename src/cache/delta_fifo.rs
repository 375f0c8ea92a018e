//! DeltaFIFO: for each key, all changes of its object since the last Pop.
//!
//! Upstream: [`delta_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/delta_fifo.go).

use std::collections::VecDeque;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::delta::{Delta, DeltaType, Deltas};
use super::error::Error;
use super::fact::{Fact, Known, QueueFact};
use super::interner::Interner;
use super::key::Key;
use super::key_func::{KeyFunc, key_error, key_of};
use super::object::{DeletedFinalStateUnknown, Item, Object};
use super::queue::{
    KeyListerGetter, PoppedItem, Population, ProcessOutcome, Queue, Release, SLOW_PROCESS,
    TransformFunc, checked, count, state_key_failed, state_processed, state_requeued, transform,
};
use super::quote::Quoted;
use super::sorted;
use super::step::Step;
use super::trace::Trace;

/// Configuration of a DeltaFIFO.
pub struct DeltaFifoOptions<O> {
    /// The key function.
    pub key_func: KeyFunc<O>,
    /// Whether `Replace` queues `Replaced` (the informers' choice) or `Sync` (the older way).
    pub emit_delta_type_replaced: bool,
    /// Runs over each object before it is queued.
    pub transformer: Option<TransformFunc<O>>,
    /// Which release to follow. Only 0.24 differs: its transformer also sees tombstones and
    /// resyncs.
    pub release: Release,
}

impl<O> DeltaFifoOptions<O> {
    /// client-go's defaults: `Sync` for a list, no transformer, the newest release.
    pub fn new(key_func: KeyFunc<O>) -> Self {
        Self {
            key_func,
            emit_delta_type_replaced: false,
            transformer: None,
            release: Release::default(),
        }
    }
}

/// A queue of keys, with the deltas of each since the last Pop.
///
/// Cloning copies the queue and shares the objects.
#[derive_where(Clone)]
pub struct DeltaFifo<O> {
    /// The queued keys, by number, with the deltas of each, oldest first; never empty.
    items: Interner<Key, Deltas<O>>,
    /// The numbers of the queued keys, the next one first.
    ///
    /// Invariant: a key is in `queue`, exactly once, if and only if it has a number and deltas.
    queue: VecDeque<u32>,
    population: Population,
    closed: bool,
    key_func: KeyFunc<O>,
    emit_delta_type_replaced: bool,
    transformer: Option<TransformFunc<O>>,
    release: Release,
}

/// The result of [`DeltaFifo::begin_pop`].
#[derive(Debug)]
#[derive_where(Clone)]
pub struct PoppedDeltas<O> {
    /// The key.
    pub key: Key,
    /// Its deltas, oldest first; at least one.
    pub deltas: Deltas<O>,
    /// Whether they belong to the initial list.
    pub is_in_initial_list: bool,
    /// Number of keys left in the queue.
    pub depth: usize,
}

impl<O> PoppedItem for PoppedDeltas<O> {
    fn is_in_initial_list(&self) -> bool {
        self.is_in_initial_list
    }
}

/// The argument of [`DeltaFifo::add_if_not_present`].
#[derive(Debug)]
pub enum Offered<O> {
    /// Deltas that Pop returned.
    Deltas(Deltas<O>),
    /// Anything else: rejected.
    Item(Item<O>),
}

impl<O: Object> DeltaFifo<O> {
    /// An empty queue.
    #[must_use]
    pub fn new(options: DeltaFifoOptions<O>) -> Self {
        Self {
            items: Interner::default(),
            queue: VecDeque::new(),
            population: Population::default(),
            closed: false,
            key_func: options.key_func,
            emit_delta_type_replaced: options.emit_delta_type_replaced,
            transformer: options.transformer,
            release: options.release,
        }
    }

    /// The key of an item; for a tombstone, its own key.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn key_of(&self, item: &Item<O>) -> Result<Key, Error> {
        key_of(&self.key_func, item).map_err(|error| key_error(item, error))
    }

    /// The key of a list of deltas: that of the newest.
    ///
    /// # Errors
    /// [`Error::Key`], also when there are no deltas.
    pub fn key_of_deltas(&self, deltas: &[Delta<O>]) -> Result<Key, Error> {
        match deltas.last() {
            Some(newest) => self.key_of(&newest.object),
            None => Err(Error::Key {
                object: "[]".into(),
                error: "0 length Deltas object; can't get key".into(),
            }),
        }
    }

    /// Requeues deltas that Pop returned, unless the key has newer ones (client-go up to 0.32).
    ///
    /// # Errors
    /// [`Error::NotDeltas`], [`Error::Key`]: nothing was queued.
    pub fn add_if_not_present(
        &mut self,
        offered: Offered<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let step = Step::AddIfNotPresent;
        let deltas = match offered {
            Offered::Deltas(deltas) => deltas,
            Offered::Item(item) => return Err(Error::NotDeltas(go_syntax(&item).into())),
        };
        let key = self.key_of_deltas(&deltas).map_err(|error| {
            let error = match deltas.last() {
                Some(_) => error,
                // client-go wraps this error twice.
                None => Error::Key {
                    object: "[]".into(),
                    error: error.to_string().into(),
                },
            };
            state_key_failed(&error, step, trace);
            error
        })?;
        self.population.populate(0, step, trace);
        if self.is_queued(&key) {
            trace.fact(step, || Fact::Queue(QueueFact::AlreadyPresent { key }));
            return Ok(());
        }
        for (position, delta) in deltas.iter().enumerate() {
            trace.fact(step, || {
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type: delta.delta_type,
                    object: delta.object.to_ref(&key),
                    depth: count(position + 1),
                })
            });
        }
        self.enqueue(key, deltas, step, trace);
        Ok(())
    }

    /// The newest object of each key, in queue order (client-go up to 0.32).
    pub fn list(&self) -> impl Iterator<Item = &Item<O>> {
        self.queue
            .iter()
            .filter_map(|number| self.items.row(*number)?.1.last())
            .map(|newest| &newest.object)
    }

    /// The queued keys, the next one first.
    pub fn list_keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.queue.iter().map(|number| self.key(*number))
    }

    /// The deltas of a key, oldest first.
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<&[Delta<O>]> {
        let number = self.items.find(key.as_bytes())?;
        self.items.row(number).map(|(_, deltas)| &**deltas)
    }

    /// The deltas of the object's key, oldest first (client-go up to 0.32).
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn get(&self, item: &Item<O>) -> Result<Option<&[Delta<O>]>, Error> {
        Ok(self.get_by_key(&self.key_of(item)?))
    }

    /// How many keys are queued.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the queue has ever been written to.
    #[must_use]
    pub fn populated(&self) -> bool {
        self.population.populated
    }

    /// Number of keys of the initial list that are still to be popped.
    #[must_use]
    pub fn initial_population_count(&self) -> usize {
        self.population.initial
    }

    /// Whether `queue` and `items` hold the same keys.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let mut numbers: Vec<_> = self.queue.iter().collect();
        sorted::sort(&mut numbers, Ord::cmp);
        numbers.dedup();
        numbers.len() == self.queue.len()
            && numbers.len() == self.items.len()
            && numbers.iter().all(|number| {
                let row = self.items.row(**number);
                row.is_some_and(|(_, deltas)| !deltas.is_empty())
            })
    }

    // ---- helpers

    /// Compares only the lengths, because a full check takes time proportional to the queue.
    /// tests/engine/cache/queues.rs checks [`DeltaFifo::is_consistent`].
    fn check_invariant(&self) {
        debug_assert_eq!(
            self.queue.len(),
            self.items.len(),
            "a key is queued exactly when it has deltas"
        );
    }

    fn key(&self, number: u32) -> &Key {
        // Every number in the queue has a key.
        self.items.name(number).unwrap_or(&Key::EMPTY)
    }

    fn is_queued(&self, key: &Key) -> bool {
        self.items.number(key).is_some()
    }

    /// Appends a key that is not queued yet.
    fn enqueue(&mut self, mut key: Key, deltas: Deltas<O>, step: Step, trace: &mut impl Trace) {
        let row = self.items.insert(&mut key, deltas);
        if let Some(number) = row.map(|row| row.number) {
            self.append(number, step, trace);
        }
    }

    /// Appends the number of a key to the queue.
    fn append(&mut self, number: u32, step: Step, trace: &mut impl Trace) {
        self.queue.push_back(number);
        trace.fact(step, || {
            Fact::Queue(QueueFact::KeyEnqueued {
                key: self.key(number).clone(),
                length: count(self.queue.len()),
            })
        });
        self.check_invariant();
    }

    /// Queues a delta and returns the number of its key. `cause` is the requested operation: a
    /// `Replace` may queue `Sync`, but is not a resync for the transformer.
    fn queue_action(
        &mut self,
        delta_type: DeltaType,
        cause: DeltaType,
        key: &mut Key,
        item: Item<O>,
        trace: &mut impl Trace,
    ) -> Result<u32, Error> {
        let item = match &self.transformer {
            Some(transformer)
                if self.release == Release::V0_24
                    || (!item.is_tombstone() && cause != DeltaType::Sync) =>
            {
                transform(transformer, key, item, Step::QueueActionTransform, trace)?
            }
            _ => item,
        };
        let delta = Delta {
            delta_type,
            object: item,
        };
        // Every key that was inserted has a row.
        let Some(row) = self.items.insert(key, Deltas::one(delta)) else {
            return Ok(0);
        };
        let (number, key, deltas) = (row.number, row.name, row.value);
        let new = row.given.is_none();
        if let Some(delta) = row.given {
            deltas.append(delta);
        }
        if let Some(newest) = deltas.last() {
            trace.fact(Step::QueueActionAppend, || {
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type,
                    object: newest.object.to_ref(key),
                    depth: count(deltas.len()),
                })
            });
        }
        if new {
            self.append(number, Step::QueueActionEnqueue, trace);
            return Ok(number);
        }
        if let Some(kept_older) = dedup(deltas)
            && let Some(kept) = deltas.last()
        {
            trace.fact(Step::QueueActionDedup, || {
                Fact::Queue(QueueFact::DeltasMerged {
                    key: key.clone(),
                    kept: kept.object.to_ref(key),
                    kept_older,
                })
            });
        }
        Ok(number)
    }

    fn queue_item(
        &mut self,
        delta_type: DeltaType,
        item: Item<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        self.population.populate(0, Step::AddKey, trace);
        let mut key = key_of(&self.key_func, &item);
        let key = checked(&mut key, &item, Step::QueueActionKey, trace)?;
        self.queue_action(delta_type, delta_type, key, item, trace)?;
        Ok(())
    }

    #[cold]
    fn requeue(&mut self, taken: &PoppedDeltas<O>, trace: &mut impl Trace) {
        self.population.populate(0, Step::PopRequeue, trace);
        let added = !self.is_queued(&taken.key);
        if added {
            let (key, deltas) = (taken.key.clone(), taken.deltas.clone());
            // The facts are stated below.
            self.enqueue(key, deltas, Step::PopRequeue, &mut ());
        }
        let length = added.then_some(self.queue.len());
        state_requeued(&taken.key, length, trace);
    }

    fn queue_deletion(
        &mut self,
        key: &mut Key,
        object: Option<Item<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        trace.fact(Step::ReplaceMissing, || {
            Fact::Queue(QueueFact::DeletionDetected { key: key.clone() })
        });
        let tombstone = Item::Tombstone(Arc::new(DeletedFinalStateUnknown {
            key: key.clone(),
            object,
        }));
        let deleted = DeltaType::Deleted;
        self.queue_action(deleted, deleted, key, tombstone, trace)?;
        Ok(())
    }
}

impl<O: Object> Queue<O> for DeltaFifo<O> {
    type Popped = PoppedDeltas<O>;

    fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.queue_item(DeltaType::Added, item, trace)
    }

    fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.queue_item(DeltaType::Updated, item, trace)
    }

    /// Ignores a delete of a key that is neither queued nor known, because it would have no effect.
    /// If `known` fails, the delete is queued.
    fn delete(
        &mut self,
        item: Item<O>,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let mut key = key_of(&self.key_func, &item);
        let key = checked(&mut key, &item, Step::DeleteKey, trace)?;
        self.population.populate(0, Step::DeleteKey, trace);
        let pending = self.is_queued(key);
        let known = known.map(|known| match known.get_by_key(key) {
            Ok(Some(item)) => Known::Yes(
                item.as_object()
                    .map_or("", |object| object.resource_version())
                    .into(),
            ),
            Ok(None) => Known::No,
            Err(_) => Known::Failed,
        });
        let ignored = !pending && matches!(known, None | Some(Known::No));
        trace.fact(Step::DeleteCheck, || {
            Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known,
                pending,
            })
        });
        if ignored {
            trace.fact(Step::DeleteIgnore, || {
                Fact::Queue(QueueFact::DeleteIgnored { key: take(key) })
            });
            return Ok(());
        }
        let deleted = DeltaType::Deleted;
        self.queue_action(deleted, deleted, key, item, trace)?;
        Ok(())
    }

    /// Queues the listed objects, then a tombstone for each key that is queued or known but not
    /// listed. Stops at the first error: earlier objects stay queued, but no deletions.
    fn replace(
        &mut self,
        items: Vec<Item<O>>,
        _resource_version: &str,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let delta_type = if self.emit_delta_type_replaced {
            DeltaType::Replaced
        } else {
            DeltaType::Sync
        };
        // Indexed by key number. Listed keys are queued too, so their numbers stay valid during
        // this call.
        let mut listed: Vec<bool> = Vec::new();
        let more = items.len().saturating_sub(self.queue.len());
        self.items.reserve(more);
        self.queue.reserve(more);
        for item in items {
            let mut key = key_of(&self.key_func, &item);
            let key = checked(&mut key, &item, Step::ReplaceItem, trace)?;
            let number = self
                .queue_action(delta_type, DeltaType::Replaced, key, item, trace)
                .map_err(|error| Error::Enqueue(Box::new(error)))?;
            let number = number as usize;
            if listed.len() <= number {
                listed.resize(number + 1, false);
            }
            listed[number] = true;
        }
        let is_listed = |number: u32| listed.get(number as usize).is_some_and(|listed| *listed);

        let mut initial = listed.iter().filter(|listed| **listed).count();
        let missing: Vec<u32> = self
            .queue
            .iter()
            .copied()
            .filter(|number| !is_listed(*number))
            .collect();
        for number in missing {
            let object = match self.items.row(number).and_then(|(_, deltas)| deltas.last()) {
                Some(newest) => match &newest.object {
                    // A tombstone inside a tombstone would hide the object.
                    Item::Tombstone(tombstone) => tombstone.object.clone(),
                    object => Some(object.clone()),
                },
                None => None,
            };
            initial += 1;
            self.queue_deletion(&mut self.key(number).clone(), object, trace)?;
        }
        if let Some(known) = known {
            let mut missing = Vec::new();
            known.visit_keys(&mut |key| {
                if !self.is_queued(key) {
                    missing.push(key.clone());
                }
            });
            for mut key in missing {
                if self.is_queued(&key) {
                    continue;
                }
                // If the lookup fails, queue the deletion without the object.
                let object = known.get_by_key(&key).unwrap_or_default();
                initial += 1;
                self.queue_deletion(&mut key, object, trace)?;
            }
        }

        self.population
            .populate(initial, Step::ReplacePopulation, trace);
        Ok(())
    }

    /// Queues `Sync` for each known key that has nothing queued.
    fn resync(
        &mut self,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let Some(known) = known else { return Ok(()) };
        for key in known.list_keys() {
            let Ok(Some(item)) = known.get_by_key(&key) else {
                continue;
            };
            let mut key = key_of(&self.key_func, &item);
            let key = checked(&mut key, &item, Step::ResyncKey, trace)?;
            if self.is_queued(key) {
                trace.fact(Step::ResyncKey, || {
                    Fact::Queue(QueueFact::ResyncSkipped { key: take(key) })
                });
                continue;
            }
            let sync = DeltaType::Sync;
            self.queue_action(sync, sync, key, item, trace)
                .map_err(|error| Error::QueueObject(Box::new(error)))?;
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
        self.queue.len()
    }

    /// Takes the next key with all its deltas. Counts down the initial population here, before
    /// processing: `has_synced` is already true while the last key of the initial list is
    /// processed.
    fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<PoppedDeltas<O>>, Error> {
        let is_in_initial_list = !self.population.synced;
        let taken = self.queue.pop_front();
        let taken = taken.and_then(|number| self.items.remove(number));
        let Some((key, deltas)) = taken else {
            return if self.closed {
                Err(Error::FifoClosed)
            } else {
                Ok(None)
            };
        };
        self.check_invariant();
        trace.fact(Step::PopTake, || {
            Fact::Queue(QueueFact::KeyPopped {
                key: key.clone(),
                deltas: deltas
                    .iter()
                    .map(|delta| (delta.delta_type, delta.object.to_ref(&key)))
                    .collect(),
                is_in_initial_list,
            })
        });
        self.population.count_down(1, Step::PopCountDown, trace);
        Ok(Some(PoppedDeltas {
            key,
            deltas,
            is_in_initial_list,
            depth: self.queue.len(),
        }))
    }

    /// Finishes a Pop. If the process function asks for a requeue, the deltas go to the end of the
    /// queue, unless their key has newer ones.
    fn finish_pop(
        &mut self,
        taken: PoppedDeltas<O>,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> (PoppedDeltas<O>, Result<(), Error>) {
        let slow = SLOW_PROCESS;
        state_processed(
            Step::PopProcess,
            || taken.key.clone(),
            taken.depth,
            slow,
            &outcome,
            elapsed,
            trace,
        );
        if let ProcessOutcome::Requeue(_) = outcome {
            self.requeue(&taken, trace);
        }
        (taken, outcome.into_result())
    }
}

/// Merges the two newest deltas if both are deletions, and returns whether the older one was kept.
/// The older one is dropped only if it is a tombstone: then the newer one may know more.
fn dedup<O>(deltas: &mut Deltas<O>) -> Option<bool> {
    let [.., older, newer] = &**deltas else {
        return None;
    };
    if older.delta_type != DeltaType::Deleted || newer.delta_type != DeltaType::Deleted {
        return None;
    }
    let kept_older = !older.object.is_tombstone();
    let drop = deltas.len() - if kept_older { 1 } else { 2 };
    deltas.remove(drop);
    Some(kept_older)
}

/// An item in Go syntax, if it is plain text.
fn go_syntax<O: Object>(item: &Item<O>) -> String {
    match item {
        Item::Opaque(text) => Quoted(text).to_string(),
        Item::ExplicitKey(key) => Quoted(key.as_str()).to_string(),
        Item::Object(_) => "<object>".into(),
        Item::Tombstone(_) => "<tombstone>".into(),
    }
}
