//! Queues with an asynchronous Pop: for the browser, where nothing may block.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use derive_where::derive_where;

use crate::error::Error;
use crate::object::{Item, Object};
use crate::queue::{KeyListerGetter, PoppedItem, ProcessOutcome, Processing, Queue};

/// A queue for the tasks of one thread. [`pop`](Self::pop) is ready once the queue is not empty.
///
/// Clones share the queue. The process function may add to it, because no other task runs in the
/// meantime.
#[derive_where(Clone)]
pub struct AsyncQueue<O, Q> {
    inner: Rc<Inner<O, Q>>,
}

struct Inner<O, Q> {
    queue: RefCell<Q>,
    known: Option<Rc<dyn KeyListerGetter<O>>>,
    waiting: RefCell<Vec<Waker>>,
}

/// A Pop in progress. Resolves to the popped item and the result of the process function, or to
/// [`Error::FifoClosed`].
#[must_use = "a Pop does nothing before it is awaited"]
pub struct Pop<O, Q, F> {
    inner: Rc<Inner<O, Q>>,
    process: Option<F>,
}

impl<O: Object, Q: Queue<O>> AsyncQueue<O, Q> {
    /// Wraps a queue. `known` is usually the store that the process function fills.
    #[must_use]
    pub fn new(queue: Q, known: Option<Rc<dyn KeyListerGetter<O>>>) -> Self {
        Self {
            inner: Rc::new(Inner {
                queue: RefCell::new(queue),
                known,
                waiting: RefCell::default(),
            }),
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

    /// [`Queue::close`]: wakes tasks that await a Pop; they end once the queue is empty.
    pub fn close(&self) {
        self.write(|queue, _| queue.close(&mut ()));
    }

    /// [`Queue::has_synced`]
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.inner.queue.borrow().has_synced()
    }

    /// [`Queue::depth`]
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.queue.borrow().depth()
    }

    /// Pops the next item and processes it with `process`.
    pub fn pop<F>(&self, process: F) -> Pop<O, Q, F>
    where
        F: FnOnce(Processing<'_, Q::Popped>) -> ProcessOutcome + Unpin,
    {
        Pop {
            inner: Rc::clone(&self.inner),
            process: Some(process),
        }
    }

    fn write<R>(&self, change: impl FnOnce(&mut Q, Option<&dyn KeyListerGetter<O>>) -> R) -> R {
        let changed = change(
            &mut self.inner.queue.borrow_mut(),
            self.inner.known.as_deref(),
        );
        self.inner.wake();
        changed
    }
}

impl<O, Q> Inner<O, Q> {
    fn wake(&self) {
        let waiting = self.waiting.take();
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl<O, Q, F> Future for Pop<O, Q, F>
where
    O: Object,
    Q: Queue<O>,
    F: FnOnce(Processing<'_, Q::Popped>) -> ProcessOutcome + Unpin,
{
    type Output = Result<(Q::Popped, Result<(), Error>), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = Rc::clone(&self.inner);
        let taken = match inner.queue.borrow_mut().begin_pop(&mut ()) {
            Err(error) => return Poll::Ready(Err(error)),
            Ok(Some(taken)) => taken,
            Ok(None) => {
                let mut waiting = inner.waiting.borrow_mut();
                if !waiting.iter().any(|one| one.will_wake(context.waker())) {
                    waiting.push(context.waker().clone());
                }
                return Poll::Pending;
            }
        };
        let mut ending = Ending {
            inner: &inner,
            taken: Some(taken),
        };
        let has_synced = inner.queue.borrow().has_synced();
        let outcome = match (self.process.take(), &ending.taken) {
            (Some(process), Some(taken)) => process(Processing {
                taken,
                is_in_initial_list: taken.is_in_initial_list(),
                has_synced,
            }),
            // Polled again after it was ready, which callers must not do.
            _ => ProcessOutcome::Requeue(None),
        };
        // `None` is impossible: it ends only once.
        ending
            .end(outcome)
            .map_or(Poll::Pending, |popped| Poll::Ready(Ok(popped)))
    }
}

/// Finishes a Pop even if its process function panics. client-go does the same in a deferred call:
/// the item counts as popped.
struct Ending<'a, O: Object, Q: Queue<O>> {
    inner: &'a Inner<O, Q>,
    taken: Option<Q::Popped>,
}

impl<O: Object, Q: Queue<O>> Ending<'_, O, Q> {
    fn end(&mut self, outcome: ProcessOutcome) -> Option<(Q::Popped, Result<(), Error>)> {
        let taken = self.taken.take()?;
        let mut queue = self.inner.queue.borrow_mut();
        // Only a trace would need the elapsed time.
        let popped = queue.finish_pop(taken, outcome, Duration::ZERO, &mut ());
        drop(queue);
        // A requeued item is available again.
        self.inner.wake();
        Some(popped)
    }
}

impl<O: Object, Q: Queue<O>> Drop for Ending<'_, O, Q> {
    fn drop(&mut self) {
        let _nobody_asks = self.end(ProcessOutcome::Failed("it panicked".into()));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::delta_fifo::{DeltaFifo, DeltaFifoOptions};
    use crate::key_func::meta_namespace_key_func;
    use crate::queue::Release;
    use crate::real_fifo::{RealFifo, RealFifoOptions};

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn pod(name: &str) -> Item<Pod> {
        let mut pod = Pod::default();
        pod.metadata.name = Some(name.into());
        Item::object(pod)
    }

    #[test]
    fn a_pop_is_ready_once_something_was_added_and_ends_with_the_queue() {
        let key_func = Arc::new(meta_namespace_key_func);
        let queue = AsyncQueue::new(DeltaFifo::new(DeltaFifoOptions::new(key_func)), None);
        let woken: [Arc<Woken>; 2] = Default::default();
        let wakers = woken.clone().map(Waker::from);
        let adding = queue.clone();
        let mut first = queue.pop(|_| {
            adding.add(pod("b")).unwrap();
            ProcessOutcome::Done
        });
        let mut second = queue.pop(|_| ProcessOutcome::Failed("no".into()));
        let mut contexts = wakers.each_ref().map(Context::from_waker);
        for _ in 0..2 {
            assert!(Pin::new(&mut first).poll(&mut contexts[0]).is_pending());
            assert!(Pin::new(&mut second).poll(&mut contexts[1]).is_pending());
        }
        let times = || woken.each_ref().map(|one| one.0.load(Ordering::Relaxed));
        assert_eq!(times(), [0, 0]);

        queue.add(pod("a")).unwrap();
        assert_eq!(times(), [1, 1]);
        let key = |popped: Poll<Result<(crate::delta_fifo::PoppedDeltas<Pod>, _), Error>>| {
            let Poll::Ready(Ok((taken, end))) = popped else {
                panic!("not ready");
            };
            (taken.key.to_string(), end)
        };
        let popped = key(Pin::new(&mut first).poll(&mut contexts[0]));
        assert_eq!(popped, ("a".to_owned(), Ok(())));
        let popped = key(Pin::new(&mut second).poll(&mut contexts[1]));
        assert_eq!(popped, ("b".to_owned(), Err(Error::Process("no".into()))));

        let mut third = queue.pop(|_| ProcessOutcome::Done);
        assert!(Pin::new(&mut third).poll(&mut contexts[0]).is_pending());
        queue.close();
        assert_eq!(times(), [2, 1]);
        let end = Pin::new(&mut third).poll(&mut contexts[0]);
        assert!(matches!(end, Poll::Ready(Err(Error::FifoClosed))));
        assert!(queue.has_synced() && queue.depth() == 0);
    }

    // Upstream: `RealFIFO.Pop` unlocks and counts down in deferred calls.
    #[test]
    fn a_pop_that_panics_or_is_dropped_leaves_the_queue_consistent() {
        let key_func = Arc::new(meta_namespace_key_func);
        let options = RealFifoOptions::new(key_func, Release::V0_36);
        let queue = AsyncQueue::new(RealFifo::new(options), None);
        let woken: [Arc<Woken>; 2] = Default::default();
        let wakers = woken.clone().map(Waker::from);
        let mut contexts = wakers.each_ref().map(Context::from_waker);
        let adding = queue.clone();
        let mut panics = queue.pop(|_| {
            adding.add(pod("b")).unwrap();
            panic!("a fault");
        });
        let mut dropped = queue.pop(|_| ProcessOutcome::Done);
        assert!(Pin::new(&mut panics).poll(&mut contexts[0]).is_pending());
        assert!(Pin::new(&mut dropped).poll(&mut contexts[1]).is_pending());
        drop(dropped);
        queue.replace(vec![pod("a")], "1").unwrap();
        assert!(!queue.has_synced());

        let mut waits = queue.pop(|_| ProcessOutcome::Done);
        let polled = AssertUnwindSafe(|| Pin::new(&mut panics).poll(&mut contexts[0]).is_ready());
        let panic = catch_unwind(polled).expect_err("its panic goes on");
        assert_eq!(panic.downcast_ref(), Some(&"a fault"));
        // The popped item was the initial list and is lost; the added item is queued.
        assert!(queue.has_synced());
        assert_eq!(queue.depth(), 1);
        let popped = Pin::new(&mut waits).poll(&mut contexts[1]);
        assert!(matches!(popped, Poll::Ready(Ok((_, Ok(()))))));
        assert_eq!(queue.depth(), 0);
        let next = Pin::new(&mut queue.pop(|_| ProcessOutcome::Done)).poll(&mut contexts[1]);
        assert!(next.is_pending());
    }
}
