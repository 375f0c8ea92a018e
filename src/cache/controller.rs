//! The four generations of the informer, the queue of each, and what its Pop takes.
//!
//! Upstream: [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go)
//! (`newQueueFIFO`, `processLoop`).

use std::time::Duration;

use super::delta_fifo::{self, DeltaFifo, DeltaFifoOptions};
use super::error::Error;
use super::fact::Fact;
use super::key_func::KeyFunc;
use super::object::Object;
use super::queue::{ProcessOutcome, Queue, Release, TransformFunc, count};
use super::real_fifo::{RealFifo, RealFifoOptions, TakenDeltas};
use super::step::Step;
use super::trace::Trace;

/// How an informer works inside, by the version of client-go whose defaults it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Up to 1.32: DeltaFIFO; all deltas of one key at a time.
    Classic,
    /// 1.33 and 1.34: RealFIFO; one delta at a time.
    InOrder,
    /// 1.35: RealFIFO in batches of up to 1000 keys.
    Batched,
    /// From 1.36 on: a list or a resync is one entry.
    #[default]
    Atomic,
}

impl Generation {
    /// All, the oldest first.
    pub const ALL: [Self; 4] = [Self::Classic, Self::InOrder, Self::Batched, Self::Atomic];

    /// That of a Kubernetes version like `1.32`.
    #[must_use]
    pub fn from_era(era: &str) -> Option<Self> {
        let minor = era.strip_prefix("1.")?;
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

    /// The Kubernetes version that stands for it.
    #[must_use]
    pub fn era(self) -> &'static str {
        match self {
            Self::Classic => "1.32",
            Self::InOrder => "1.34",
            Self::Batched => "1.35",
            Self::Atomic => "1.36",
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::InOrder => "in-order",
            Self::Batched => "batched",
            Self::Atomic => "atomic",
        }
    }

    /// The client-go that it is the default of.
    #[must_use]
    pub fn release(self) -> Release {
        match self {
            Self::Classic => Release::V0_32,
            Self::InOrder => Release::V0_34,
            Self::Batched => Release::V0_35,
            Self::Atomic => Release::V0_36,
        }
    }

    /// Whether the first list is streamed by default.
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

/// The queue of an informer.
pub enum InformerQueue<O> {
    /// Of the classic one.
    Delta(DeltaFifo<O>),
    /// Of the others.
    Real(RealFifo<O>),
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for InformerQueue<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Delta(queue) => Self::Delta(queue.clone()),
            Self::Real(queue) => Self::Real(queue.clone()),
        }
    }
}

/// What one Pop of an [`InformerQueue`] took.
#[derive(Debug)]
pub enum TakenWork<O> {
    /// All deltas of one key.
    Deltas(delta_fifo::Taken<O>),
    /// One entry, or several of different keys.
    Entries(TakenDeltas<O>),
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for TakenWork<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Deltas(taken) => Self::Deltas(taken.clone()),
            Self::Entries(taken) => Self::Entries(taken.clone()),
        }
    }
}

impl<O> TakenWork<O> {
    /// How many deltas or entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Deltas(taken) => taken.deltas.len(),
            Self::Entries(taken) => taken.entries.len(),
        }
    }

    /// Whether there is none; there always is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the batch function gets it: all writes come before all notifications.
    #[must_use]
    pub fn is_batch(&self) -> bool {
        match self {
            Self::Deltas(_) => false,
            Self::Entries(taken) => taken.batch,
        }
    }

    /// Whether it belongs to the first list.
    #[must_use]
    pub fn is_in_initial_list(&self) -> bool {
        match self {
            Self::Deltas(taken) => taken.is_in_initial_list,
            Self::Entries(taken) => taken.is_in_initial_list,
        }
    }

    /// How much was left in the queue.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Deltas(taken) => taken.depth,
            Self::Entries(taken) => taken.depth,
        }
    }
}

impl<O: Object> InformerQueue<O> {
    /// The queue of a generation, empty.
    #[must_use]
    pub fn new(
        generation: Generation,
        key_func: KeyFunc<O>,
        transformer: Option<TransformFunc<O>>,
    ) -> Self {
        Self::of_release(generation, generation.release(), key_func, transformer)
    }

    /// The queue of an older generation as a newer client-go has it, which can be switched back.
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

    /// Takes the next: what the process function gets in one call. `Ok(None)`: Pop would block.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: there is nothing and there will be nothing.
    pub fn begin_pop(&mut self, trace: &mut impl Trace) -> Result<Option<TakenWork<O>>, Error> {
        match self {
            Self::Delta(queue) => Ok(queue.begin_pop(trace)?.map(TakenWork::Deltas)),
            Self::Real(queue) => {
                // PopBatch came with 0.35.
                let taken = if queue.release() < Release::V0_35 {
                    queue.begin_pop(trace)?
                } else {
                    queue.begin_pop_batch(trace)?
                };
                Ok(taken.map(TakenWork::Entries))
            }
        }
    }

    /// Ends what [`begin_pop`](Self::begin_pop) began; `elapsed` is how long processing took.
    ///
    /// # Errors
    /// What the process function failed with: [`Error::Process`]. The process loop ignores it; what
    /// was taken is gone.
    pub fn finish_pop(
        &mut self,
        taken: TakenWork<O>,
        outcome: ProcessOutcome,
        elapsed: Duration,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        match (self, taken) {
            (Self::Delta(queue), TakenWork::Deltas(taken)) => {
                let (taken, end) = queue.finish_pop(taken, outcome, elapsed, trace);
                trace.fact(Step::PopProcess, || Fact::Processed { key: taken.key });
                end
            }
            (Self::Real(queue), TakenWork::Entries(taken)) => {
                let (taken, end) = queue.finish_pop(taken, outcome, elapsed, trace);
                trace.fact(Step::PopProcess, || Fact::EntriesProcessed {
                    count: count(taken.entries.len()),
                });
                end
            }
            // Taken from another queue: there is nothing to end here.
            _ => outcome.into_result(),
        }
    }

    /// Whether the queue's lock is given back while what was just taken is processed.
    #[must_use]
    pub fn unlocks_while_processing(&self) -> bool {
        match self {
            Self::Delta(_) => false,
            Self::Real(queue) => queue.unlocks_while_processing(),
        }
    }

    /// Whether the first list was popped.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        match self {
            Self::Delta(queue) => queue.has_synced(),
            Self::Real(queue) => queue.has_synced(),
        }
    }

    /// Ends Pop once the queue is empty.
    pub fn close(&mut self, trace: &mut impl Trace) {
        match self {
            Self::Delta(queue) => queue.close(trace),
            Self::Real(queue) => queue.close(trace),
        }
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Delta(queue) => queue.is_closed(),
            Self::Real(queue) => queue.is_closed(),
        }
    }

    /// How much is queued: keys or entries.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Delta(queue) => queue.depth(),
            Self::Real(queue) => queue.depth(),
        }
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.depth() == 0
    }
}
