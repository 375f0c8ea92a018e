//! A workqueue and its workers in a world.

use std::time::Duration;

use crate::{Source, Time, Wait};
use deltascope_cache::fact::{Actor, Fact, WorkFact};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;
use deltascope_cache::workqueue::{Workqueue, default_controller_rate_limiter};

use super::settings::WorkSettings;
use super::{World, millis};

/// A workqueue and its workers.
#[derive(Clone)]
pub struct Work {
    pub(super) queue: Workqueue<Key>,
    settings: WorkSettings,
    workers: Vec<Worker>,
    /// How many reconciles have succeeded.
    pub reconciled: u64,
    /// The keys that have ever failed.
    failed: SortedMap<Key, ()>,
}

#[derive(Clone, Default)]
enum Worker {
    #[default]
    Idle,
    Busy(Key, Time),
    /// Whether the reconcile succeeded.
    Ended(Key, bool),
    /// `Forget` or `AddRateLimited` was called.
    Answered(Key),
}

impl Work {
    pub(super) fn new(settings: &WorkSettings) -> Self {
        Self {
            queue: Workqueue::new(default_controller_rate_limiter()),
            settings: settings.clone(),
            workers: vec![Worker::Idle; usize::from(settings.workers)],
            reconciled: 0,
            failed: SortedMap::new(),
        }
    }

    /// The workqueue.
    #[must_use]
    pub fn queue(&self) -> &Workqueue<Key> {
        &self.queue
    }

    /// How often each key has failed since it was forgotten.
    pub fn failures(&self) -> SortedMap<Key, u32> {
        let failed = self.failed.keys();
        failed
            .map(|key| (key.clone(), self.queue.num_requeues(key)))
            .filter(|(_, failures)| *failures > 0)
            .collect()
    }

    /// The key that each worker holds.
    pub fn in_work(&self) -> impl Iterator<Item = Option<&Key>> {
        self.workers.iter().map(|worker| match worker {
            Worker::Idle => None,
            Worker::Busy(key, _) | Worker::Ended(key, _) | Worker::Answered(key) => Some(key),
        })
    }

    /// When the next delayed key is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.queue.next_due()
    }
}

impl<S: Source> World<S> {
    pub(super) fn workers(&self) -> u8 {
        self.work.as_ref().map_or(0, |work| work.settings.workers)
    }

    pub(super) fn worker_waits(&self, number: u8) -> Wait {
        let Some(work) = &self.work else {
            return Wait::External;
        };
        match work.workers.get(usize::from(number)) {
            Some(Worker::Idle) if !work.queue.is_empty() => Wait::Ready,
            Some(Worker::Busy(_, until)) => Wait::Until(*until),
            Some(Worker::Ended(..) | Worker::Answered(_)) => Wait::Ready,
            _ => Wait::External,
        }
    }

    /// Whether a worker's next micro-step states a fact, if that is known beforehand.
    pub(super) fn worker_states(&self, number: u8) -> Option<bool> {
        let worker = self.work.as_ref()?.workers.get(usize::from(number))?;
        (!matches!(worker, Worker::Ended(..))).then_some(true)
    }

    /// The delaying queue's own goroutine: queues the keys whose delay is over.
    pub(super) fn advance_work(&mut self) {
        if let Some(work) = &mut self.work {
            work.queue.advance(millis(self.now), &mut self.tracker);
        }
    }

    pub(super) fn run_worker(&mut self, number: u8) {
        let now = self.now;
        let Some(work) = &mut self.work else {
            return;
        };
        let Some(worker) = work.workers.get_mut(usize::from(number)) else {
            return;
        };
        let tracker = &mut self.tracker;
        *worker = match std::mem::take(worker) {
            Worker::Idle => match work.queue.get(number, tracker) {
                Ok(Some(key)) => Worker::Busy(key, now + Time::from(work.settings.latency_ms)),
                Ok(None) | Err(_) => Worker::Idle,
            },
            Worker::Busy(key, _) => {
                let ok = work.queue.num_requeues(&key) >= work.settings.failures;
                work.reconciled += u64::from(ok);
                tracker.fact(Step::Reconcile, || {
                    Fact::Work(WorkFact::Reconciled {
                        worker: number,
                        key: key.clone(),
                        ok,
                    })
                });
                Worker::Ended(key, ok)
            }
            Worker::Ended(key, true) => {
                work.queue.forget(&key, tracker);
                Worker::Answered(key)
            }
            Worker::Ended(key, false) => {
                work.failed.insert(key.clone(), ());
                work.queue
                    .add_rate_limited(key.clone(), millis(now), tracker);
                Worker::Answered(key)
            }
            Worker::Answered(key) => {
                work.queue.done(&key, tracker);
                Worker::Idle
            }
        };
    }

    /// The actors of the workqueue.
    pub(super) fn work_actors(&self) -> impl Iterator<Item = Actor> + use<S> {
        (0..self.workers()).map(Actor::Worker)
    }
}
