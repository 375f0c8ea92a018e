//! The workqueue for worker threads.

use std::time::Duration;

use crate::workqueue::{RateLimiter, ShutDown, WorkItem, Workqueue};

use super::clock::{Clock, Timer};
use super::condvar_mutex::CondvarMutex;
use super::sync::{Arc, JoinHandle, Mutex};
use super::{join, spawn};

/// A workqueue for several threads. [`get`](Self::get) waits for work.
///
/// As in client-go, a separate thread queues the delayed items. It ends with
/// [`shut_down`](Self::shut_down), or when the queue is dropped.
pub struct BlockingWorkqueue<T> {
    shared: Arc<Shared<T>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared<T> {
    queue: CondvarMutex<Workqueue<T>>,
    clock: Clock,
    timer: Timer,
}

impl<T: WorkItem + Send + 'static> BlockingWorkqueue<T> {
    /// An empty queue with the operating system's clock.
    #[must_use]
    pub fn new(limiter: Box<dyn RateLimiter<T>>) -> Self {
        Self::with_clock(limiter, &Clock::real())
    }

    /// An empty queue.
    #[must_use]
    pub fn with_clock(limiter: Box<dyn RateLimiter<T>>, clock: &Clock) -> Self {
        let shared = Arc::new(Shared {
            queue: CondvarMutex::new(Workqueue::new(limiter)),
            clock: clock.clone(),
            timer: Timer::new(clock),
        });
        let waiting = Arc::clone(&shared);
        let thread = spawn("workqueue", move || {
            while waiting.timer.wait() {
                waiting.change(|queue, now| queue.advance(now, &mut ()));
            }
        });
        Self {
            shared,
            thread: Mutex::new(Some(thread)),
        }
    }

    /// [`Workqueue::add`]
    pub fn add(&self, item: T) {
        self.shared.change(|queue, _| queue.add(item, &mut ()));
    }

    /// [`Workqueue::add_after`]
    pub fn add_after(&self, item: T, delay: Duration) {
        self.shared
            .change(|queue, now| queue.add_after(item, delay, now, &mut ()));
    }

    /// [`Workqueue::add_rate_limited`]
    pub fn add_rate_limited(&self, item: T) {
        self.shared
            .change(|queue, now| queue.add_rate_limited(item, now, &mut ()));
    }

    /// Waits for the next item.
    ///
    /// # Errors
    /// [`ShutDown`]: no more items will come, and the worker should end.
    pub fn get(&self) -> Result<T, ShutDown> {
        let mut queue = self.shared.queue.lock();
        loop {
            match queue.get(0, &mut ())? {
                Some(item) => return Ok(item),
                None => queue = self.shared.queue.wait(queue),
            }
        }
    }

    /// [`Workqueue::done`]
    pub fn done(&self, item: &T) {
        self.shared.change(|queue, _| queue.done(item, &mut ()));
    }

    /// [`Workqueue::forget`]
    pub fn forget(&self, item: &T) {
        self.shared.queue.lock().forget(item, &mut ());
    }

    /// [`Workqueue::num_requeues`]
    #[must_use]
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared.queue.lock().num_requeues(item)
    }

    /// Number of queued items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.queue.lock().len()
    }

    /// Whether no item is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// [`Workqueue::is_shutting_down`]
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.shared.queue.lock().is_shutting_down()
    }

    /// [`Workqueue::shut_down`]
    pub fn shut_down(&self) {
        self.shared.change(|queue, _| queue.shut_down(&mut ()));
        self.end();
    }

    /// Shuts down, and waits until the workers are done with their items, or
    /// [`shut_down`](Self::shut_down) is called.
    pub fn shut_down_with_drain(&self) {
        self.shared
            .change(|queue, _| queue.shut_down_with_drain(&mut ()));
        let mut queue = self.shared.queue.lock();
        while queue.is_draining() {
            queue = self.shared.queue.wait(queue);
        }
        drop(queue);
        self.end();
    }

    fn end(&self) {
        self.shared.timer.end();
        let thread = self.thread.lock();
        let thread = thread
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        thread.into_iter().for_each(join);
    }
}

impl<T> Drop for BlockingWorkqueue<T> {
    fn drop(&mut self) {
        self.shared.timer.end();
    }
}

impl<T: WorkItem> Shared<T> {
    fn change(&self, change: impl FnOnce(&mut Workqueue<T>, Duration)) {
        let now = self.clock.now();
        let mut queue = self.queue.lock();
        let before = queue.len();
        change(&mut queue, now);
        // Set it under the lock, so that an older time cannot replace a newer one.
        self.timer.set(queue.next_due());
        // After a shutdown, callers that wait for a drain share the condition variable with the
        // workers.
        if queue.len() == before + 1 && !queue.is_shutting_down() {
            self.queue.notify_one(queue);
        } else if queue.len() != before || queue.is_shutting_down() {
            self.queue.notify_all(queue);
        } else {
            drop(queue);
        }
    }
}
