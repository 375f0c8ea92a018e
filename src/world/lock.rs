//! A lock whose holder and waiting queue can be inspected.

use std::collections::VecDeque;

use deltascope_cache::fact::{Actor, Fact, LockName, QueueFact};
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Time;
use super::cause_tracker::CauseTracker;

/// A lock in virtual time, fair: first come, first served.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    name: LockName,
    holder: Option<Actor>,
    waiting: VecDeque<(Actor, Step)>,
}

impl Lock {
    /// A free lock.
    #[must_use]
    pub fn new(name: LockName) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// The actor that holds the lock.
    #[must_use]
    pub fn holder(&self) -> Option<Actor> {
        self.holder
    }

    /// The waiting actors, the first in line first.
    pub fn waiting(&self) -> impl Iterator<Item = Actor> {
        self.waiting.iter().map(|(actor, _)| *actor)
    }

    /// Whether `actor`, which wants the lock, can act on it now: take it, start to wait, or continue because
    /// the lock was handed to it. It cannot while it waits in line.
    #[must_use]
    pub(crate) fn is_ready_for(&self, actor: Actor) -> bool {
        !self.waiting().any(|waiting| waiting == actor)
    }

    /// Acquires the lock for an actor that does not know whether it holds it already. If it does, it waits
    /// for itself, forever: a deadlock.
    pub(crate) fn acquire_again(
        &mut self,
        actor: Actor,
        step: Step,
        tracker: &mut CauseTracker,
    ) -> bool {
        if self.holder != Some(actor) {
            return self.acquire(actor, step, tracker);
        }
        self.wait(actor, actor, step, tracker);
        false
    }

    fn wait(&mut self, actor: Actor, holder: Actor, step: Step, tracker: &mut CauseTracker) {
        self.waiting.push_back((actor, step));
        tracker.fact(step, || {
            Fact::Queue(QueueFact::LockAwaited {
                lock: self.name,
                by: actor,
                holder,
            })
        });
    }

    /// Takes the lock or starts to wait; true when `actor` holds it.
    pub(crate) fn acquire(&mut self, actor: Actor, step: Step, tracker: &mut CauseTracker) -> bool {
        match self.holder {
            Some(holder) if holder == actor => true,
            None => {
                self.holder = Some(actor);
                tracker.fact(step, || {
                    Fact::Queue(QueueFact::LockTaken {
                        lock: self.name,
                        by: actor,
                    })
                });
                true
            }
            Some(holder) => {
                self.wait(actor, holder, step, tracker);
                false
            }
        }
    }

    /// Releases the lock; the actor that has waited longest takes it at once.
    pub fn release(&mut self, now: Time, actor: Actor, step: Step, tracker: &mut CauseTracker) {
        tracker.fact(step, || {
            Fact::Queue(QueueFact::LockReleased {
                lock: self.name,
                by: actor,
            })
        });
        self.holder = None;
        if let Some((next, step)) = self.waiting.pop_front() {
            self.holder = Some(next);
            tracker.turn(now, next);
            tracker.fact(step, || {
                Fact::Queue(QueueFact::LockTaken {
                    lock: self.name,
                    by: next,
                })
            });
        }
    }
}
