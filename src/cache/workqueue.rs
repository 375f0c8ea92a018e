//! The workqueue: keys that wait for a worker, without duplicates.
//!
//! Upstream: [`queue.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/util/workqueue/queue.go),
//! [`delaying_queue.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/util/workqueue/delaying_queue.go),
//! [`rate_limiting_queue.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/util/workqueue/rate_limiting_queue.go)
//! and [`default_rate_limiters.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/util/workqueue/default_rate_limiters.go).
//! client-go nests three queues; here it is one. Nothing blocks: where client-go's `Get` waits,
//! [`Workqueue::get`] returns `Ok(None)`, and the driver tries again after the next `add`, `done`,
//! `advance` or shutdown.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use derive_where::derive_where;

use super::fact::{Fact, WorkFact, WorkPlace};
use super::key::Key;
use super::map::{Map, Set};
use super::step::Step;
use super::trace::Trace;

/// An item that can be queued. Strings and keys can; other types define their name in facts.
pub trait WorkItem: Clone + Eq + Hash {
    /// The item's name in facts.
    fn to_key(&self) -> Key;
}

impl<T: AsRef<str> + Clone + Eq + Hash> WorkItem for T {
    fn to_key(&self) -> Key {
        Key::from(self.as_ref())
    }
}

/// Decides how long a failed item has to wait.
///
/// Upstream: `TypedRateLimiter`.
pub trait RateLimiter<T>: Send + Sync {
    /// Counts another failure of the item and returns how long it waits from `now` on.
    fn when(&mut self, item: &T, now: Duration) -> Duration;
    /// Forgets an item's failures, whether it succeeded or is given up.
    fn forget(&mut self, item: &T);
    /// Number of failures of the item.
    fn num_requeues(&self, item: &T) -> u32;
    /// A copy with the same failures: a queue that is plain data can be cloned.
    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>>;
}

/// The rate limiter that controllers use: each item waits exponentially longer (5 ms to 1000 s),
/// and all items together get 10 retries per second after the first 100.
#[must_use]
pub fn default_controller_rate_limiter<T: WorkItem + Send + Sync + 'static>()
-> Box<dyn RateLimiter<T>> {
    Box::new(MaxOf::new(vec![
        Box::new(ItemExponentialFailure::new(
            Duration::from_millis(5),
            Duration::from_secs(1000),
        )),
        Box::new(Bucket::new(10.0, 100)),
    ]))
}

/// The exponential part of [`default_controller_rate_limiter`], starting at 1 ms.
#[must_use]
pub fn default_item_based_rate_limiter<T: WorkItem + Send + Sync + 'static>()
-> Box<dyn RateLimiter<T>> {
    Box::new(ItemExponentialFailure::new(
        Duration::from_millis(1),
        Duration::from_secs(1000),
    ))
}

/// The workqueue is shut down and empty: the worker should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutDown;

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the workqueue is shut down and empty: end the worker")
    }
}

impl std::error::Error for ShutDown {}

/// Items that wait for a worker: each at most once, and never with two workers at a time.
pub struct Workqueue<T> {
    // Each is in `dirty` and not in `processing` (unless `done` was called for an item that no
    // worker had).
    queue: VecDeque<T>,
    dirty: Set<T>,
    processing: Set<T>,
    waiting: Waiting<T>,
    limiter: Box<dyn RateLimiter<T>>,
    shutting_down: bool,
    drain: bool,
}

// `derive(Clone)` would require the box to be `Clone`.
impl<T: WorkItem> Clone for Workqueue<T> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            dirty: self.dirty.clone(),
            processing: self.processing.clone(),
            waiting: self.waiting.clone(),
            limiter: self.limiter.boxed_clone(),
            shutting_down: self.shutting_down,
            drain: self.drain,
        }
    }
}

impl<T: WorkItem> Workqueue<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(limiter: Box<dyn RateLimiter<T>>) -> Self {
        Self {
            queue: VecDeque::new(),
            dirty: Set::default(),
            processing: Set::default(),
            waiting: Waiting::default(),
            limiter,
            shutting_down: false,
            drain: false,
        }
    }

    /// Adds an item. Does nothing after a shutdown.
    pub fn add(&mut self, item: T, trace: &mut impl Trace) {
        if self.shutting_down {
            return;
        }
        let place = if self.dirty.contains(&item) {
            WorkPlace::Duplicate
        } else if self.processing.contains(&item) {
            WorkPlace::Dirty
        } else {
            WorkPlace::Queue
        };
        trace.fact(Step::WorkAdd, || {
            Fact::Work(WorkFact::WorkAdded {
                key: item.to_key(),
                place,
            })
        });
        if place == WorkPlace::Queue {
            self.queue.push_back(item.clone());
        }
        if place != WorkPlace::Duplicate {
            self.dirty.insert(item);
        }
    }

    /// Adds an item after `delay`. If it is already waiting, the earlier time counts.
    pub fn add_after(&mut self, item: T, delay: Duration, now: Duration, trace: &mut impl Trace) {
        self.delay(item, delay, 0, now, trace);
    }

    /// Adds a failed item again, after the delay that the rate limiter returns.
    pub fn add_rate_limited(&mut self, item: T, now: Duration, trace: &mut impl Trace) {
        // As in client-go, the limiter counts even after a shutdown.
        let delay = self.limiter.when(&item, now);
        let failures = self.limiter.num_requeues(&item);
        self.delay(item, delay, failures, now, trace);
    }

    /// Queues the items whose delay is over.
    pub fn advance(&mut self, now: Duration, trace: &mut impl Trace) {
        while let Some(item) = self.waiting.take_due(now) {
            self.add(item, trace);
        }
    }

    /// The next item, for a worker. `Ok(None)`: the queue is empty, Get would block.
    ///
    /// # Errors
    /// [`ShutDown`]: the queue is shut down and empty.
    pub fn get(&mut self, worker: u8, trace: &mut impl Trace) -> Result<Option<T>, ShutDown> {
        let Some(item) = self.queue.pop_front() else {
            return if self.shutting_down {
                Err(ShutDown)
            } else {
                Ok(None)
            };
        };
        trace.fact(Step::WorkGet, || {
            Fact::Work(WorkFact::WorkTaken {
                worker,
                key: item.to_key(),
            })
        });
        self.dirty.swap_remove(&item);
        self.processing.insert(item.clone());
        Ok(Some(item))
    }

    /// A worker is done with an item. If it was added in the meantime, it is queued again.
    pub fn done(&mut self, item: &T, trace: &mut impl Trace) {
        self.processing.swap_remove(item);
        let again = self.dirty.contains(item);
        trace.fact(Step::WorkDone, || {
            Fact::Work(WorkFact::WorkDone {
                key: item.to_key(),
                again,
            })
        });
        if again {
            self.queue.push_back(item.clone());
        }
    }

    /// The rate limiter forgets an item's failures. The worker must still call `done`.
    pub fn forget(&mut self, item: &T, trace: &mut impl Trace) {
        self.limiter.forget(item);
        trace.fact(Step::WorkForget, || {
            Fact::Work(WorkFact::WorkForgotten { key: item.to_key() })
        });
    }

    /// Number of failures of an item since it was last forgotten.
    #[must_use]
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }

    /// Shuts the queue down: it accepts no more items and drops delayed ones. Queued items can
    /// still be taken.
    pub fn shut_down(&mut self, trace: &mut impl Trace) {
        self.end(false, trace);
    }

    /// Like [`Workqueue::shut_down`], but [`Workqueue::is_draining`] is true until the workers are
    /// done with their items. (client-go blocks until then. It does not wait for items that are
    /// queued but not taken.)
    pub fn shut_down_with_drain(&mut self, trace: &mut impl Trace) {
        self.end(true, trace);
    }

    /// Whether it was shut down.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Whether a shutdown with drain still waits for workers.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.drain && !self.processing.is_empty()
    }

    /// When [`Workqueue::advance`] next has an item to queue.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.waiting.first()
    }

    /// Number of queued items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no item is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The queued items, next one first.
    pub fn queued(&self) -> impl ExactSizeIterator<Item = &T> {
        self.queue.iter()
    }

    /// The items that workers are processing.
    pub fn processing(&self) -> impl ExactSizeIterator<Item = &T> {
        self.processing.iter()
    }

    /// The items that were added again while a worker is processing them.
    pub fn dirty_while_processing(&self) -> impl Iterator<Item = &T> {
        self.processing
            .iter()
            .filter(|item| self.dirty.contains(*item))
    }

    /// The delayed items with the time when each is due, in no particular order.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = (&T, Duration)> {
        self.waiting.moments.iter().map(|(item, at)| (item, at.0))
    }

    fn delay(
        &mut self,
        item: T,
        delay: Duration,
        failures: u32,
        now: Duration,
        trace: &mut impl Trace,
    ) {
        if self.shutting_down {
            return;
        }
        let step = if failures > 0 {
            Step::WorkRateLimit
        } else {
            Step::WorkDelay
        };
        trace.fact(step, || {
            Fact::Work(WorkFact::WorkDelayed {
                key: item.to_key(),
                ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                failures,
            })
        });
        if delay.is_zero() {
            self.add(item, trace);
        } else {
            self.waiting.put(item, now.saturating_add(delay));
        }
    }

    fn end(&mut self, drain: bool, trace: &mut impl Trace) {
        self.shutting_down = true;
        self.drain = drain;
        self.waiting = Waiting::default();
        trace.fact(Step::WorkShutDown, || {
            Fact::Work(WorkFact::WorkShutDown { drain })
        });
    }
}

// ---- delayed items

/// Items by the time when they are due.
#[derive(Clone)]
#[derive_where(Default)]
struct Waiting<T> {
    // Authoritative: the due time, and a sequence number that orders equal times.
    moments: Map<T, (Duration, u64)>,
    // The order. May hold outdated times, which were replaced by earlier ones, but never at its
    // front.
    heap: BinaryHeap<Due<T>>,
    put: u64,
}

impl<T: WorkItem> Waiting<T> {
    fn first(&self) -> Option<Duration> {
        self.heap.peek().map(|due| due.at.0)
    }

    fn put(&mut self, item: T, moment: Duration) {
        if self.moments.get(&item).is_some_and(|at| at.0 <= moment) {
            return;
        }
        self.put += 1;
        let at = (moment, self.put);
        self.moments.insert(item.clone(), at);
        self.heap.push(Due { at, item });
        // Outdated times would pile up if a caller keeps asking for earlier ones.
        if self.heap.len() > 2 * self.moments.len() {
            let moments = &self.moments;
            self.heap
                .retain(|due| moments.get(&due.item) == Some(&due.at));
        }
    }

    fn take_due(&mut self, now: Duration) -> Option<T> {
        if self.first()? > now {
            return None;
        }
        let item = self.heap.pop()?.item;
        self.moments.swap_remove(&item);
        while let Some(due) = self.heap.peek()
            && self.moments.get(&due.item) != Some(&due.at)
        {
            self.heap.pop();
        }
        Some(item)
    }
}

/// The greatest is the one that is due first, because the heap is a max-heap.
#[derive(Clone)]
struct Due<T> {
    at: (Duration, u64),
    item: T,
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<T> Eq for Due<T> {}

// ---- rate limiters

/// Waits `base · 2ⁿ` after a failure of an item with n earlier ones, up to a maximum delay.
///
/// Upstream: `TypedItemExponentialFailureRateLimiter`.
#[derive(Clone)]
pub struct ItemExponentialFailure<T> {
    failures: Failures<T>,
    base: Duration,
    greatest: Duration,
}

impl<T: WorkItem> ItemExponentialFailure<T> {
    /// A limiter without failures.
    #[must_use]
    pub fn new(base: Duration, greatest: Duration) -> Self {
        Self {
            failures: Failures::default(),
            base,
            greatest,
        }
    }
}

impl<T: WorkItem + Send + Sync + 'static> RateLimiter<T> for ItemExponentialFailure<T> {
    fn when(&mut self, item: &T, _now: Duration) -> Duration {
        let before = i32::try_from(self.failures.count(item)).unwrap_or(i32::MAX);
        let nanos = self.base.as_nanos() as f64 * 2_f64.powi(before);
        // client-go also returns the maximum beyond the range of Go's durations.
        if nanos > i64::MAX as f64 {
            return self.greatest;
        }
        Duration::from_nanos(nanos as u64).min(self.greatest)
    }

    fn forget(&mut self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.of(item)
    }

    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>> {
        Box::new(self.clone())
    }
}

/// Waits for a short delay after the first failures of an item, then for a long one.
///
/// Upstream: `TypedItemFastSlowRateLimiter`.
#[derive(Clone)]
pub struct ItemFastSlow<T> {
    failures: Failures<T>,
    fast: Duration,
    slow: Duration,
    max_fast_attempts: u32,
}

impl<T: WorkItem> ItemFastSlow<T> {
    /// A limiter without failures.
    #[must_use]
    pub fn new(fast: Duration, slow: Duration, max_fast_attempts: u32) -> Self {
        Self {
            failures: Failures::default(),
            fast,
            slow,
            max_fast_attempts,
        }
    }
}

impl<T: WorkItem + Send + Sync + 'static> RateLimiter<T> for ItemFastSlow<T> {
    fn when(&mut self, item: &T, _now: Duration) -> Duration {
        if self.failures.count(item) < self.max_fast_attempts {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&mut self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.of(item)
    }

    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>> {
        Box::new(self.clone())
    }
}

/// A token bucket that fills at a steady rate. Each failure of any item takes a token, on credit if
/// the bucket is empty.
///
/// Upstream: `TypedBucketRateLimiter` around
/// [`rate.Limiter`](https://github.com/golang/time/blob/v0.14.0/rate/rate.go).
#[derive(Clone)]
pub struct Bucket {
    per_second: f64,
    burst: u32,
    // Negative: this many tokens are owed.
    tokens: f64,
    last: Duration,
}

impl Bucket {
    /// A full bucket. With a burst of 0, or a rate that is not a positive number, items without a
    /// token wait for ever. With an infinite rate nothing waits, whatever the burst.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self {
            per_second,
            burst,
            tokens: f64::from(burst),
            last: Duration::ZERO,
        }
    }
}

impl<T> RateLimiter<T> for Bucket {
    fn when(&mut self, _item: &T, now: Duration) -> Duration {
        // client-go's `rate.Inf` is the greatest finite number.
        if self.per_second >= f64::MAX {
            return Duration::ZERO;
        }
        if self.burst == 0 {
            return Duration::MAX;
        }
        let elapsed = now.saturating_sub(self.last).as_secs_f64();
        self.last = self.last.max(now);
        self.tokens = (self.tokens + elapsed * self.per_second).min(f64::from(self.burst)) - 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / self.per_second).unwrap_or(Duration::MAX)
    }

    fn forget(&mut self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> u32 {
        0
    }

    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>> {
        Box::new(self.clone())
    }
}

/// Asks several limiters and takes the longest delay; each of them counts the failure.
///
/// Upstream: `TypedMaxOfRateLimiter`.
pub struct MaxOf<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOf<T> {
    /// Combines these limiters.
    #[must_use]
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        Self { limiters }
    }
}

impl<T: 'static> RateLimiter<T> for MaxOf<T> {
    fn when(&mut self, item: &T, now: Duration) -> Duration {
        let delays = self.limiters.iter_mut().map(|one| one.when(item, now));
        delays.max().unwrap_or_default()
    }

    fn forget(&mut self, item: &T) {
        for limiter in &mut self.limiters {
            limiter.forget(item);
        }
    }

    fn num_requeues(&self, item: &T) -> u32 {
        let counts = self.limiters.iter().map(|one| one.num_requeues(item));
        counts.max().unwrap_or_default()
    }

    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>> {
        let limiters = self.limiters.iter().map(|one| one.boxed_clone()).collect();
        Box::new(Self { limiters })
    }
}

/// A limiter with a maximum delay.
///
/// Upstream: `TypedWithMaxWaitRateLimiter`.
pub struct WithMaxWait<T> {
    limiter: Box<dyn RateLimiter<T>>,
    greatest: Duration,
}

impl<T> WithMaxWait<T> {
    /// Limits the delays of `limiter` to `greatest`.
    #[must_use]
    pub fn new(limiter: Box<dyn RateLimiter<T>>, greatest: Duration) -> Self {
        Self { limiter, greatest }
    }
}

impl<T: 'static> RateLimiter<T> for WithMaxWait<T> {
    fn when(&mut self, item: &T, now: Duration) -> Duration {
        self.limiter.when(item, now).min(self.greatest)
    }

    fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }

    fn boxed_clone(&self) -> Box<dyn RateLimiter<T>> {
        Box::new(Self {
            limiter: self.limiter.boxed_clone(),
            greatest: self.greatest,
        })
    }
}

/// The number of failures of each item.
#[derive(Clone)]
#[derive_where(Default)]
struct Failures<T>(Map<T, u32>);

impl<T: WorkItem> Failures<T> {
    /// Counts a failure and returns the number of earlier ones.
    fn count(&mut self, item: &T) -> u32 {
        let failures = self.0.entry(item.clone()).or_default();
        let before = *failures;
        *failures = before.saturating_add(1);
        before
    }

    fn of(&self, item: &T) -> u32 {
        self.0.get(item).copied().unwrap_or_default()
    }

    fn forget(&mut self, item: &T) {
        self.0.swap_remove(item);
    }
}

#[cfg(test)]
mod tests;
