//! The interface and helpers that all queues share.
//!
//! Upstream: `Queue` in
//! [`fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/fifo.go),
//! `KeyListerGetter` in
//! [`delta_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/delta_fifo.go).

use std::sync::Arc;
use std::time::Duration;

use super::error::Error;
use super::fact::{Fact, QueueFact};
use super::key::Key;
use super::key_func::{KeyFunc, key_error, key_of};
use super::object::{Item, Object};
use super::step::Step;
use super::trace::Trace;

/// Transforms an object before it is queued or stored, or returns an error.
pub type TransformFunc<O> = Arc<dyn Fn(Item<O>) -> Result<Item<O>, String> + Send + Sync>;

/// The objects that a queue knows to be processed: usually the store that the process function
/// fills.
///
/// In client-go, a queue holds a pointer to it. Here queue and store are separate plain data, and
/// the queue cannot hold a reference to a store that others modify. So `delete`, `replace` and
/// `resync`, the operations that need it, take it as an argument.
pub trait KeyListerGetter<O> {
    /// All keys. Their order determines the order in which the queue adds entries for them.
    fn list_keys(&self) -> Vec<Key>;
    /// Visits all keys, in the same order. Cheaper if the keys need not be cloned.
    fn visit_keys(&self, visit: &mut dyn FnMut(&Key)) {
        for key in self.list_keys() {
            visit(&key);
        }
    }
    /// The known object of a key.
    ///
    /// # Errors
    /// If the lookup fails; the queue then continues without the object.
    fn get_by_key(&self, key: &str) -> Result<Option<Item<O>>, String>;
}

/// Which client-go minor release to follow, where their behaviour differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 0.24: transformers see everything, and indexers can be added only before objects.
    V0_24,
    /// 0.32, the last with `ErrRequeue` and `AddIfNotPresent`.
    V0_32,
    /// 0.34: RealFIFO, one entry at a time.
    V0_34,
    /// 0.35: RealFIFO in batches.
    V0_35,
    /// 0.36: atomic events; the initial population is counted down after the process function.
    #[default]
    V0_36,
}

impl Release {
    /// Whether FIFO and RealFIFO count down the initial population before they call the process
    /// function (DeltaFIFO always does).
    #[must_use]
    pub fn counts_before_process(self) -> bool {
        self < Self::V0_36
    }

    /// Whether a stopped process loop continues until the queue is empty: in client-go up to 0.33.
    /// Later releases check for the stop before each Pop, and the queued items are lost.
    #[must_use]
    pub fn drains_at_stop(self) -> bool {
        self < Self::V0_34
    }
}

/// The result of the process function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessOutcome {
    /// Success.
    Done,
    /// It failed; the popped item is lost.
    Failed(Arc<str>),
    /// It asked to requeue the popped item, perhaps with an error (`ErrRequeue`, up to client-go
    /// 0.32). The newer RealFIFO does not support this: there the item is lost.
    Requeue(Option<Arc<str>>),
}

impl ProcessOutcome {
    /// The result that Pop returns.
    pub(super) fn into_result(self) -> Result<(), Error> {
        match self {
            Self::Done | Self::Requeue(None) => Ok(()),
            Self::Failed(error) | Self::Requeue(Some(error)) => Err(Error::Process(error)),
        }
    }
}

/// The argument of a process function.
#[derive(Clone, Copy, Debug)]
pub struct Processing<'a, T> {
    /// The popped item.
    pub taken: &'a T,
    /// Whether it belongs to the initial list.
    pub is_in_initial_list: bool,
    /// The value of `HasSynced` while it is processed.
    pub has_synced: bool,
}

/// The result of a Pop.
pub trait PoppedItem {
    /// Whether it belongs to the initial list.
    fn is_in_initial_list(&self) -> bool;
}

/// A queue of changed objects.
///
/// Nothing blocks: where client-go waits, `begin_pop` returns `Ok(None)`, and the driver tries
/// again after the next `add`, `update`, `delete`, `replace`, `resync` or `close`.
pub trait Queue<O: Object> {
    /// The type of a popped item.
    type Popped: PoppedItem;

    /// Queues an added object.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::Transform`]: the object was not queued.
    fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error>;

    /// Queues a changed object.
    ///
    /// # Errors
    /// Those of `add`.
    fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error>;

    /// Queues a deletion.
    ///
    /// # Errors
    /// Those of `add`.
    fn delete(
        &mut self,
        item: Item<O>,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// Queues a new list.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::Transform`], [`Error::Enqueue`]. How much of the list was queued
    /// depends on the queue type.
    fn replace(
        &mut self,
        items: Vec<Item<O>>,
        resource_version: &str,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// Queues the known objects again.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::QueueObject`]: the rest was not queued.
    fn resync(
        &mut self,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// Closes the queue: Pop fails once the queue is empty. Nothing else is affected.
    fn close(&mut self, trace: &mut impl Trace);

    /// Whether the queue was closed.
    fn is_closed(&self) -> bool;

    /// Whether the initial list has been popped (or another write came before any list).
    fn has_synced(&self) -> bool;

    /// Number of items that Pop can take one after the other.
    fn depth(&self) -> usize;

    /// Takes the next item out of the queue. `Ok(None)`: the queue is empty, Pop would block.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the queue is empty and closed.
    fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<Self::Popped>, Error>;

    /// Finishes what [`Queue::begin_pop`] began, after the process function returned; `elapsed` is
    /// how long that took.
    ///
    /// # Errors
    /// The second element of the pair is the error of the process function: [`Error::Process`].
    fn finish_pop(
        &mut self,
        taken: Self::Popped,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> (Self::Popped, Result<(), Error>);

    /// A complete Pop: takes the next item, processes it and returns it with the result of
    /// `process`. `Ok(None)`: the queue is empty, Pop would block. `now` returns the time of any
    /// clock.
    ///
    /// # Errors
    /// [`Error::FifoClosed`].
    #[allow(
        clippy::type_complexity,
        reason = "what was popped and its result, as upstream returns them"
    )]
    fn pop(
        &mut self,
        process: impl FnOnce(Processing<'_, Self::Popped>) -> ProcessOutcome,
        now: impl Fn() -> Duration,
        trace: &mut impl Trace,
    ) -> Result<Option<(Self::Popped, Result<(), Error>)>, Error> {
        let Some(taken) = self.begin_pop(trace)? else {
            return Ok(None);
        };
        // Like client-go, read the clock only if many items are waiting, because that costs time.
        let timed = self.depth() > SLOW_DEPTH;
        let start = if timed { now() } else { Duration::ZERO };
        let outcome = process(Processing {
            taken: &taken,
            is_in_initial_list: taken.is_in_initial_list(),
            has_synced: self.has_synced(),
        });
        let elapsed = if timed {
            now().saturating_sub(start)
        } else {
            Duration::ZERO
        };
        Ok(Some(self.finish_pop(taken, outcome, elapsed, trace)))
    }
}

/// A slow process function is reported only if more than this many items are waiting, as in
/// client-go.
pub const SLOW_DEPTH: usize = 10;

/// … and if it took longer than this.
pub const SLOW_PROCESS: Duration = Duration::from_millis(100);

/// The initial population of a queue, on which `HasSynced` depends.
#[derive(Clone, Debug, Default)]
pub(super) struct Population {
    /// Whether the queue has ever been written to.
    pub(super) populated: bool,
    /// Number of items of the initial list that are still to be popped.
    pub(super) initial: usize,
    /// `HasSynced`. Never reverts to false.
    pub(super) synced: bool,
}

impl Population {
    /// Records a write. On the first one, `initial` items are to be popped before `HasSynced`.
    pub(super) fn populate(&mut self, initial: usize, step: Step, trace: &mut impl Trace) {
        if !self.populated {
            self.populated = true;
            self.initial = initial;
            trace.fact(step, || {
                Fact::Queue(QueueFact::Populated {
                    initial: count(initial),
                })
            });
        }
        self.check(step, trace);
    }

    /// Counts down popped items.
    pub(super) fn count_down(&mut self, popped: usize, step: Step, trace: &mut impl Trace) {
        if self.initial > 0 {
            self.initial = self.initial.saturating_sub(popped);
            self.check(step, trace);
        }
    }

    /// Records whether the initial population has been popped.
    pub(super) fn check(&mut self, step: Step, trace: &mut impl Trace) {
        if self.populated && self.initial == 0 && !self.synced {
            self.synced = true;
            trace.fact(step, || Fact::Queue(QueueFact::Synced));
        }
    }
}

/// A count for a fact. A queue of more than 2³² items would not fit into memory.
pub(super) fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The key that a key function has made; states the fact if there is none. The key stays where it is: to copy what was just
/// written makes the CPU wait.
pub(super) fn checked<'a, O: Object>(
    key: &'a mut Result<Key, String>,
    item: &Item<O>,
    step: Step,
    trace: &mut impl Trace,
) -> Result<&'a mut Key, Error> {
    key.as_mut().map_err(|error| {
        let error = key_error(item, std::mem::take(error));
        state_key_failed(&error, step, trace);
        error
    })
}

/// The key of an item; states the fact if there is none.
pub(super) fn queue_key<O: Object>(
    key_func: &KeyFunc<O>,
    item: &Item<O>,
    step: Step,
    trace: &mut impl Trace,
) -> Result<Key, Error> {
    checked(&mut key_of(key_func, item), item, step, trace).map(std::mem::take)
}

/// States that a key was requeued, with the new queue length, or that it has newer content
/// (`None`).
pub(super) fn state_requeued(key: &Key, length: Option<usize>, trace: &mut impl Trace) {
    trace.fact(Step::PopRequeue, || {
        Fact::Queue(QueueFact::Requeued {
            key: key.clone(),
            added: length.is_some(),
        })
    });
    if let Some(length) = length {
        trace.fact(Step::PopRequeue, || {
            Fact::Queue(QueueFact::KeyEnqueued {
                key: key.clone(),
                length: count(length),
            })
        });
    }
}

/// States that the key function failed.
pub(super) fn state_key_failed(error: &Error, step: Step, trace: &mut impl Trace) {
    trace.fact(step, || {
        Fact::Queue(QueueFact::KeyFailed {
            error: error.to_string().into(),
        })
    });
}

/// Applies the transformer to an item.
pub(super) fn transform<O: Object>(
    transformer: &TransformFunc<O>,
    key: &Key,
    item: Item<O>,
    step: Step,
    trace: &mut impl Trace,
) -> Result<Item<O>, Error> {
    let before = item.clone();
    match transformer(item) {
        Ok(after) => {
            if !after.is_same(&before) {
                trace.fact(step, || {
                    Fact::Queue(QueueFact::Transformed {
                        from: before.to_ref(key),
                        to: after.to_ref(key),
                    })
                });
            }
            Ok(after)
        }
        Err(error) => {
            let error: Arc<str> = error.into();
            trace.fact(step, || {
                Fact::Queue(QueueFact::TransformFailed {
                    key: key.clone(),
                    error: Arc::clone(&error),
                })
            });
            Err(Error::Transform(error))
        }
    }
}

/// States the outcome of the process function, which ran in `step`: that it was slow or failed.
pub(super) fn state_processed(
    step: Step,
    key: impl FnOnce() -> Key,
    depth: usize,
    slow: Duration,
    outcome: &ProcessOutcome,
    elapsed: Duration,
    trace: &mut impl Trace,
) {
    if depth > SLOW_DEPTH && elapsed > slow {
        trace.fact(Step::PopSlow, || {
            Fact::Queue(QueueFact::ProcessWasSlow {
                key: key(),
                depth: count(depth),
                ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            })
        });
    }
    if let ProcessOutcome::Failed(error) = outcome {
        trace.fact(step, || {
            Fact::Queue(QueueFact::ProcessFailed {
                error: Arc::clone(error),
            })
        });
    }
}
