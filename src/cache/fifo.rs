//! FIFO: the newest object of each key.
//!
//! Upstream: [`fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/fifo.go).

use std::collections::VecDeque;
use std::time::Duration;

use derive_where::derive_where;

use super::delta::DeltaType;
use super::error::Error;
use super::fact::{Fact, QueueFact};
use super::key::Key;
use super::key_func::{KeyFunc, key_error};
use super::map::Map;
use super::object::{Item, Object};
use super::order::Order;
use super::queue::{
    KeyListerGetter, PoppedItem, Population, ProcessOutcome, Queue, Release, checked, count,
    state_processed, state_requeued,
};
use super::step::Step;
use super::trace::Trace;

/// Configuration of a FIFO.
pub struct FifoOptions<O> {
    /// The key function. A FIFO does not itself unwrap tombstones.
    pub key_func: KeyFunc<O>,
    /// The order of the queue after a `Replace`. client-go iterates over a Go map there.
    pub order: Order,
    /// Which release to follow. Up to 0.35 the queue counts down the initial population before it
    /// calls the process function, in 0.36 after the process function returned.
    pub release: Release,
}

impl<O> FifoOptions<O> {
    /// The queue keeps the list's order and follows the newest release.
    pub fn new(key_func: KeyFunc<O>) -> Self {
        Self {
            key_func,
            order: Order::default(),
            release: Release::default(),
        }
    }
}

/// A queue of keys, with the newest object of each.
///
/// Every key in `items` is also in `queue`. The reverse does not hold: a deletion leaves the key in
/// `queue`, and Pop skips it.
#[derive_where(Clone)]
pub struct Fifo<O> {
    items: Map<Key, Item<O>>,
    queue: VecDeque<Key>,
    population: Population,
    closed: bool,
    key_func: KeyFunc<O>,
    order: Order,
    release: Release,
}

/// The result of [`Fifo::begin_pop`].
#[derive(Debug)]
#[derive_where(Clone)]
pub struct PoppedObject<O> {
    /// The key.
    pub key: Key,
    /// Its newest object.
    pub item: Item<O>,
    /// Whether it belongs to the initial list.
    pub is_in_initial_list: bool,
    /// Number of keys left in the queue.
    pub depth: usize,
}

impl<O> PoppedItem for PoppedObject<O> {
    fn is_in_initial_list(&self) -> bool {
        self.is_in_initial_list
    }
}

impl<O: Object> Fifo<O> {
    /// An empty queue.
    #[must_use]
    pub fn new(options: FifoOptions<O>) -> Self {
        Self {
            items: Map::default(),
            queue: VecDeque::new(),
            population: Population::default(),
            closed: false,
            key_func: options.key_func,
            order: options.order,
            release: options.release,
        }
    }

    /// Adds an object unless its key already has one (client-go up to 0.32).
    ///
    /// # Errors
    /// [`Error::Key`]: nothing changed.
    pub fn add_if_not_present(
        &mut self,
        item: Item<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let step = Step::AddIfNotPresent;
        let key = self.key_of(&item, step, trace)?;
        self.population.populate(0, step, trace);
        if self.items.contains_key(&key) {
            trace.fact(step, || Fact::Queue(QueueFact::AlreadyPresent { key }));
        } else {
            self.set(key, item, step, step, trace);
        }
        Ok(())
    }

    /// The objects, in queue order (client-go up to 0.32).
    #[must_use]
    pub fn list(&self) -> Vec<(&Key, &Item<O>)> {
        // A key can be queued twice; list its object once.
        let items: Map<&Key, &Item<O>> = self
            .queue
            .iter()
            .filter_map(|key| self.items.get_key_value(key))
            .collect();
        items.into_iter().collect()
    }

    /// The keys that have an object, in queue order (client-go up to 0.32).
    pub fn list_keys(&self) -> impl Iterator<Item = &Key> {
        self.list().into_iter().map(|(key, _)| key)
    }

    /// The object of a key.
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<&Item<O>> {
        self.items.get(key)
    }

    /// The object stored under this item's key (client-go up to 0.32).
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn get(&self, item: &Item<O>) -> Result<Option<&Item<O>>, Error> {
        let key = (self.key_func)(item).map_err(|error| key_error(item, error))?;
        Ok(self.get_by_key(&key))
    }

    /// The queued keys, next one first, including keys whose object was deleted.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.queue.iter()
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

    // ---- helpers

    fn key_of(&self, item: &Item<O>, step: Step, trace: &mut impl Trace) -> Result<Key, Error> {
        checked(&mut (self.key_func)(item), item, step, trace).map(std::mem::take)
    }

    fn set(&mut self, key: Key, item: Item<O>, set: Step, enqueue: Step, trace: &mut impl Trace) {
        trace.fact(set, || {
            Fact::Queue(QueueFact::FifoItemSet {
                object: item.to_ref(&key),
                old: self.items.get(&key).map(|old| old.to_ref(&key)),
            })
        });
        if self.items.insert(key.clone(), item).is_none() {
            self.queue.push_back(key.clone());
            trace.fact(enqueue, || {
                Fact::Queue(QueueFact::KeyEnqueued {
                    key,
                    length: count(self.queue.len()),
                })
            });
        }
    }
}

impl<O: Object> Queue<O> for Fifo<O> {
    type Popped = PoppedObject<O>;

    fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let key = self.key_of(&item, Step::FifoAdd, trace)?;
        self.population.populate(0, Step::FifoAdd, trace);
        self.set(key, item, Step::FifoAdd, Step::FifoEnqueue, trace);
        Ok(())
    }

    /// Same as `add`.
    fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.add(item, trace)
    }

    /// Removes the object but leaves its key in the queue. Does not use `known`.
    fn delete(
        &mut self,
        item: Item<O>,
        _known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let key = self.key_of(&item, Step::FifoDelete, trace)?;
        self.population.populate(0, Step::FifoDelete, trace);
        if self.items.swap_remove(&key).is_some() {
            trace.fact(Step::FifoDelete, || {
                Fact::Queue(QueueFact::FifoItemRemoved { key })
            });
        }
        Ok(())
    }

    /// Replaces the whole content of the queue. If an object has no key, nothing changes.
    fn replace(
        &mut self,
        items: Vec<Item<O>>,
        _resource_version: &str,
        _known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let mut content: Map<Key, Item<O>> =
            Map::with_capacity_and_hasher(items.len(), Default::default());
        for item in items {
            let key = self.key_of(&item, Step::FifoReplace, trace)?;
            content.insert(key, item);
        }
        // A waiting Pop may have skipped the last key of the initial list. Do not check here: that
        // Pop is still part of the initial list.
        if !self.population.populated {
            self.population
                .populate(content.len(), Step::FifoReplace, trace);
        }
        self.items.clear();
        self.queue.clear();
        trace.fact(Step::FifoReplace, || Fact::Queue(QueueFact::FifoCleared));
        let mut content: Vec<_> = content.into_iter().collect();
        self.order.sort(&mut content, |(key, _)| key);
        for (key, item) in content {
            self.set(key, item, Step::FifoReplace, Step::FifoReplace, trace);
        }
        Ok(())
    }

    /// Does nothing: the key of every object is already queued.
    fn resync(
        &mut self,
        _known: Option<&dyn KeyListerGetter<O>>,
        _trace: &mut impl Trace,
    ) -> Result<(), Error> {
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

    /// Takes the next object. Skips keys without an object, but counts them down.
    fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<PoppedObject<O>>, Error> {
        while let Some(key) = self.queue.pop_front() {
            let is_in_initial_list = !self.population.synced;
            self.population.initial = self.population.initial.saturating_sub(1);
            let item = self.items.swap_remove(&key);
            match &item {
                Some(item) => trace.fact(Step::FifoPopTake, || {
                    Fact::Queue(QueueFact::KeyPopped {
                        key: key.clone(),
                        // A FIFO has no deltas; by convention the fact uses `Added`.
                        deltas: vec![(DeltaType::Added, item.to_ref(&key))],
                        is_in_initial_list,
                    })
                }),
                None => trace.fact(Step::FifoPopSkip, || {
                    Fact::Queue(QueueFact::FifoKeySkipped { key: key.clone() })
                }),
            }
            // In 0.36 HasSynced changes only when Pop returns: in `finish_pop` or below.
            if self.release.counts_before_process() {
                self.population.check(Step::PopCountDown, trace);
            }
            if let Some(item) = item {
                return Ok(Some(PoppedObject {
                    key,
                    item,
                    is_in_initial_list,
                    depth: self.queue.len(),
                }));
            }
        }
        if self.closed {
            self.population.check(Step::PopCountDown, trace);
            Err(Error::FifoClosed)
        } else {
            Ok(None)
        }
    }

    /// Finishes a Pop. A FIFO does not report a slow process function.
    fn finish_pop(
        &mut self,
        taken: PoppedObject<O>,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> (PoppedObject<O>, Result<(), Error>) {
        state_processed(
            Step::FifoPopProcess,
            || taken.key.clone(),
            0,
            Duration::MAX,
            &outcome,
            elapsed,
            trace,
        );
        if let ProcessOutcome::Requeue(_) = outcome {
            self.population.populate(0, Step::PopRequeue, trace);
            let added = !self.items.contains_key(&taken.key);
            if added {
                self.queue.push_back(taken.key.clone());
                self.items.insert(taken.key.clone(), taken.item.clone());
            }
            let length = added.then_some(self.queue.len());
            state_requeued(&taken.key, length, trace);
        }
        self.population.check(Step::PopCountDown, trace);
        (taken, outcome.into_result())
    }
}
