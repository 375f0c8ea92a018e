//! What all queues have in common.
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
use super::key_func::{KeyFunc, key_of};
use super::object::{Item, Object};
use super::step::Step;
use super::trace::Trace;

/// Makes another object of the one that is about to be queued or stored, or refuses it.
pub type TransformFunc<O> = Arc<dyn Fn(Item<O>) -> Result<Item<O>, String> + Send + Sync>;

/// What a queue knows of the objects that were processed before: usually the store that the process
/// function fills.
///
/// Upstream a queue holds a pointer to it. Here queue and store are plain data side by side, and one
/// cannot hold the other while somebody else writes to it; so it is an argument of the three
/// operations that ask: `delete`, `replace` and `resync`.
pub trait KeyListerGetter<O> {
    /// All keys. Their order decides the order of what is queued for them.
    fn list_keys(&self) -> Vec<Key>;
    /// Shows all keys, in the same order: where they need not be cloned for that, it is cheaper.
    fn visit_keys(&self, visit: &mut dyn FnMut(&Key)) {
        for key in self.list_keys() {
            visit(&key);
        }
    }
    /// What is known under a key.
    ///
    /// # Errors
    /// When it cannot tell; the queue then goes on without the object.
    fn get_by_key(&self, key: &str) -> Result<Option<Item<O>>, String>;
}

/// Whose behaviour it is: client-go's minor versions, as far as they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 0.24: transformers see everything, indexers come before objects.
    V0_24,
    /// 0.32, the last with `ErrRequeue` and `AddIfNotPresent`.
    V0_32,
    /// 0.34: RealFIFO, one by one.
    V0_34,
    /// 0.35: RealFIFO in batches.
    V0_35,
    /// 0.36: atomic events; the first fill is counted down after the process function.
    #[default]
    V0_36,
}

impl Release {
    /// Whether FIFO and RealFIFO count the first fill down before the process function is called
    /// (DeltaFIFO always does).
    #[must_use]
    pub fn counts_before_process(self) -> bool {
        self < Self::V0_36
    }

    /// Whether a stopped process loop goes on until the queue is empty: up to client-go 0.33. Since
    /// then it looks for the stop before each Pop, and what is queued is lost.
    #[must_use]
    pub fn drains_at_stop(self) -> bool {
        self < Self::V0_34
    }
}

/// How the process function ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessOutcome {
    /// Well.
    Done,
    /// With an error; what was popped is gone.
    Failed(Arc<str>),
    /// It asked for what was popped again, perhaps with an error (`ErrRequeue`, up to client-go
    /// 0.32). Without meaning for a RealFIFO, which came later: gone.
    Requeue(Option<Arc<str>>),
}

impl ProcessOutcome {
    /// What Pop returns for it.
    pub(super) fn into_result(self) -> Result<(), Error> {
        match self {
            Self::Done | Self::Requeue(None) => Ok(()),
            Self::Failed(error) | Self::Requeue(Some(error)) => Err(Error::Process(error)),
        }
    }
}

/// What a process function is told.
#[derive(Clone, Copy, Debug)]
pub struct Processing<'a, T> {
    /// What was popped.
    pub taken: &'a T,
    /// Whether it belongs to the first list.
    pub is_in_initial_list: bool,
    /// What `HasSynced` says while it is processed.
    pub has_synced: bool,
}

/// What a Pop has taken out of its queue.
pub trait PoppedItem {
    /// Whether it belongs to the first list.
    fn is_in_initial_list(&self) -> bool;
}

/// A queue of objects that have changed.
///
/// Nothing blocks here: where upstream waits, `begin_pop` gives `Ok(None)`, and whoever drives the
/// queue tries again after the next `add`, `update`, `delete`, `replace`, `resync` or `close`.
pub trait Queue<O: Object> {
    /// What Pop takes.
    type Popped: PoppedItem;

    /// An object appeared.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::Transform`]: it was not queued.
    fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error>;

    /// An object changed.
    ///
    /// # Errors
    /// As for `add`.
    fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error>;

    /// An object went away.
    ///
    /// # Errors
    /// As for `add`.
    fn delete(
        &mut self,
        item: Item<O>,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// A new list arrived.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::Transform`], [`Error::Enqueue`]: how much of the list was queued
    /// differs; see the queue.
    fn replace(
        &mut self,
        items: Vec<Item<O>>,
        resource_version: &str,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// Queues what is known once more.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::QueueObject`]: the rest was not queued.
    fn resync(
        &mut self,
        known: Option<&dyn KeyListerGetter<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error>;

    /// Ends Pop once the queue is empty. It gates nothing else.
    fn close(&mut self, trace: &mut impl Trace);

    /// Whether the queue was closed.
    fn is_closed(&self) -> bool;

    /// Whether the first list has been popped (or something else came before any list).
    fn has_synced(&self) -> bool;

    /// How much is queued: what Pop can take one after the other.
    fn depth(&self) -> usize;

    /// Takes the next out of the queue. `Ok(None)`: there is nothing, Pop would block.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: there is nothing and there will be nothing.
    fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<Self::Popped>, Error>;

    /// Ends what [`Queue::begin_pop`] began, after the process function returned; `elapsed` is how
    /// long that took.
    ///
    /// # Errors
    /// The second of the pair is what the process function failed with: [`Error::Process`].
    fn finish_pop(
        &mut self,
        taken: Self::Popped,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> (Self::Popped, Result<(), Error>);

    /// Pop as a whole: takes the next, processes it and gives it back with the result of `process`.
    /// `Ok(None)`: there is nothing, Pop would block. `now` is the time, by any clock.
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
        // Upstream looks at the clock only where many wait, because that costs time, too.
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

/// A slow process function is reported when more than so many wait, as upstream does.
pub const SLOW_DEPTH: usize = 10;

/// … and it took longer than this.
pub const SLOW_PROCESS: Duration = Duration::from_millis(100);

/// The first fill of a queue: what `HasSynced` is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Population {
    /// Whether anything was ever put in.
    pub(super) populated: bool,
    /// How much of the first list is still to be popped.
    pub(super) initial: usize,
    /// `HasSynced`, which never goes back.
    pub(super) synced: bool,
}

impl Population {
    /// Something came; if nothing had come before, `initial` are to be popped before `HasSynced`.
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

    /// So many were popped.
    pub(super) fn count_down(&mut self, popped: usize, step: Step, trace: &mut impl Trace) {
        if self.initial > 0 {
            self.initial = self.initial.saturating_sub(popped);
            self.check(step, trace);
        }
    }

    /// Notes whether the first fill has been popped.
    pub(super) fn check(&mut self, step: Step, trace: &mut impl Trace) {
        if self.populated && self.initial == 0 && !self.synced {
            self.synced = true;
            trace.fact(step, || Fact::Queue(QueueFact::Synced));
        }
    }
}

/// A count for a fact; a queue of more than four thousand million does not fit into memory.
pub(super) fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The key of an item, and the fact when there is none.
pub(super) fn queue_key<O: Object>(
    key_func: &KeyFunc<O>,
    item: &Item<O>,
    step: Step,
    trace: &mut impl Trace,
) -> Result<Key, Error> {
    key_of(key_func, item).inspect_err(|error| state_key_failed(error, step, trace))
}

/// States that a key is back at the end of the queue, as long as now, or that it has newer content.
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

/// States that no key could be made.
pub(super) fn state_key_failed(error: &Error, step: Step, trace: &mut impl Trace) {
    trace.fact(step, || {
        Fact::Queue(QueueFact::KeyFailed {
            error: error.to_string().into(),
        })
    });
}

/// Runs the transformer over an item.
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

/// States what became of the process function, which ran in `step`: that it was slow, that it failed.
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
