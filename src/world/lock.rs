//! A lock as a thing that can be seen: who has it, who waits.

use std::collections::VecDeque;

use deltascope_cache::fact::{Actor, Fact, LockName, QueueFact};
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Time;
use super::cause_tracker::CauseTracker;

/// A lock in virtual time: fair, first come, first served.
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

    /// Who has it.
    #[must_use]
    pub fn holder(&self) -> Option<Actor> {
        self.holder
    }

    /// Who waits, the first first.
    pub fn waiting(&self) -> impl Iterator<Item = Actor> {
        self.waiting.iter().map(|(actor, _)| *actor)
    }

    /// Whether `actor`, which wants the lock, can do something about it now: take it, begin to
    /// wait, or go on because it was handed over.
    #[must_use]
    pub fn is_ready_for(&self, actor: Actor) -> bool {
        !self.waiting().any(|waiting| waiting == actor)
    }

    /// The same for somebody who does not know whether he has it: if he has, he waits for himself,
    /// and for ever.
    pub fn acquire_again(&mut self, actor: Actor, step: Step, tracker: &mut CauseTracker) -> bool {
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

    /// Takes it or begins to wait; true when `actor` has it.
    pub fn acquire(&mut self, actor: Actor, step: Step, tracker: &mut CauseTracker) -> bool {
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

    /// Gives it back; who waited longest has it at once.
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
