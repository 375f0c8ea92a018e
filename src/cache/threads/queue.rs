//! Queues with a blocking Pop.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::delta_fifo::DeltaFifo;
use crate::error::Error;
use crate::fifo::Fifo;
use crate::object::{Item, Object};
use crate::queue::{KeyListerGetter, PoppedItem, ProcessOutcome, Processing, Queue};
use crate::real_fifo::{PoppedBatch, RealFifo};

use super::condvar_mutex::CondvarMutex;
use super::sync::Arc;

/// The known objects that a queue consults.
pub type KnownObjects<O> = Arc<dyn KeyListerGetter<O> + Send + Sync>;

/// The popped item, and the result of the process function.
pub type Popped<T> = (T, Result<(), Error>);

/// A queue whose Pop may release the lock while it processes.
pub trait Unlocks {
    /// Whether it does so for the popped item.
    fn unlocks_while_processing(&self) -> bool;
}

impl<O: Object> Unlocks for Fifo<O> {
    fn unlocks_while_processing(&self) -> bool {
        false
    }
}

impl<O: Object> Unlocks for DeltaFifo<O> {
    fn unlocks_while_processing(&self) -> bool {
        false
    }
}

impl<O: Object> Unlocks for RealFifo<O> {
    fn unlocks_while_processing(&self) -> bool {
        Self::unlocks_while_processing(self)
    }
}

/// A queue for several threads. [`pop`](Self::pop) waits until the queue is not empty.
///
/// As in client-go, the lock is held while the process function runs (except for a RealFIFO that
/// unlocks), so writers wait for it.
pub struct BlockingQueue<O, Q> {
    queue: CondvarMutex<Q>,
    known: Option<KnownObjects<O>>,
}

impl<O: Object, Q: Queue<O> + Unlocks> BlockingQueue<O, Q> {
    /// Wraps a queue. `known` is usually the store that the process function fills.
    #[must_use]
    pub fn new(queue: Q, known: Option<KnownObjects<O>>) -> Self {
        Self {
            queue: CondvarMutex::new(queue),
            known,
        }
    }

    /// [`Queue::add`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn add(&self, item: Item<O>) -> Result<(), Error> {
        self.write(|queue, _| queue.add(item, &mut ()))
    }

    /// [`Queue::update`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn update(&self, item: Item<O>) -> Result<(), Error> {
        self.write(|queue, _| queue.update(item, &mut ()))
    }

    /// [`Queue::delete`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn delete(&self, item: Item<O>) -> Result<(), Error> {
        self.write(|queue, known| queue.delete(item, known, &mut ()))
    }

    /// [`Queue::replace`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn replace(&self, items: Vec<Item<O>>, resource_version: &str) -> Result<(), Error> {
        self.write(|queue, known| queue.replace(items, resource_version, known, &mut ()))
    }

    /// [`Queue::resync`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn resync(&self) -> Result<(), Error> {
        self.write(|queue, known| queue.resync(known, &mut ()))
    }

    /// [`Queue::close`]: threads that wait in [`pop`](Self::pop) return once the queue is empty.
    pub fn close(&self) {
        self.write(|queue, _| queue.close(&mut ()));
    }

    /// [`Queue::is_closed`]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.queue.lock().is_closed()
    }

    /// [`Queue::has_synced`]
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.queue.lock().has_synced()
    }

    /// [`Queue::depth`]
    #[must_use]
    pub fn depth(&self) -> usize {
        self.queue.lock().depth()
    }

    /// Waits for the next item, processes it and returns it with the result of `process`.
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the queue is closed and empty.
    pub fn pop(
        &self,
        process: impl FnOnce(Processing<'_, Q::Popped>) -> ProcessOutcome,
    ) -> Result<Popped<Q::Popped>, Error> {
        self.pop_with(|queue| queue.begin_pop(&mut ()), process)
    }

    // ---- helpers

    fn write<R>(&self, change: impl FnOnce(&mut Q, Option<&dyn KeyListerGetter<O>>) -> R) -> R {
        let known = self.known.as_ref();
        let mut queue = self.queue.lock();
        let changed = change(&mut queue, known.map(|known| &**known as _));
        self.queue.notify_all(queue);
        changed
    }

    fn pop_with(
        &self,
        begin: impl Fn(&mut Q) -> Result<Option<Q::Popped>, Error>,
        process: impl FnOnce(Processing<'_, Q::Popped>) -> ProcessOutcome,
    ) -> Result<Popped<Q::Popped>, Error> {
        let mut queue = self.queue.lock();
        let taken = loop {
            match begin(&mut queue)? {
                Some(taken) => break taken,
                None => queue = self.queue.wait(queue),
            }
        };
        let processing = Processing {
            taken: &taken,
            is_in_initial_list: taken.is_in_initial_list(),
            has_synced: queue.has_synced(),
        };
        let run = || process(processing);
        let (outcome, panic) = if queue.unlocks_while_processing() {
            drop(queue);
            let caught = caught(run);
            queue = self.queue.lock();
            caught
        } else {
            caught(run)
        };
        // Only a trace would need the elapsed time.
        let elapsed = std::time::Duration::ZERO;
        let popped = queue.finish_pop(taken, outcome, elapsed, &mut ());
        // A requeued item is available again.
        self.queue.notify_all(queue);
        match panic {
            Some(panic) => resume_unwind(panic),
            None => Ok(popped),
        }
    }
}

impl<O: Object> BlockingQueue<O, RealFifo<O>> {
    /// Like [`pop`](Self::pop) with a batch: [`RealFifo::begin_pop_batch`].
    ///
    /// # Errors
    /// [`Error::FifoClosed`]: the queue is closed and empty.
    pub fn pop_batch(
        &self,
        process: impl FnOnce(Processing<'_, PoppedBatch<O>>) -> ProcessOutcome,
    ) -> Result<Popped<PoppedBatch<O>>, Error> {
        self.pop_with(|queue| queue.begin_pop_batch(&mut ()), process)
    }
}

/// The outcome of a process function, and its panic. The caller resumes the panic after it has
/// finished the Pop, because in client-go the popped item counts as popped even then.
pub(super) fn caught(process: impl FnOnce() -> ProcessOutcome) -> (ProcessOutcome, Option<Panic>) {
    match catch_unwind(AssertUnwindSafe(process)) {
        Ok(outcome) => (outcome, None),
        Err(panic) => (ProcessOutcome::Failed("it panicked".into()), Some(panic)),
    }
}

type Panic = Box<dyn Any + Send>;
