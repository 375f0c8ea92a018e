//! How far a step goes: to the next fact, to where a lock is given back, to where a Pop is done, to
//! where the reflector is done with what the server said.

use std::ops::ControlFlow;

use deltascope_cache::fact::{Actor, Fact, LockName, QueueFact, ReflectorFact};

use super::timeline::Timeline;

/// A step goes over at most so many facts: a run may be long and hold no boundary at all.
pub const FARTHEST: usize = 20_000;

/// A size of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepSize {
    /// Until the reflector is done with what the server said (or a program with its call).
    Event,
    /// Until a Pop is done.
    Pop,
    /// Until somebody gives back a lock.
    Lock,
    /// One fact.
    #[default]
    Micro,
}

impl StepSize {
    /// The coarsest first.
    pub const ALL: [Self; 4] = [Self::Event, Self::Pop, Self::Lock, Self::Micro];

    /// Its name.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Pop => "pop",
            Self::Lock => "lock",
            Self::Micro => "micro",
        }
    }

    /// By its name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step_size| step_size.id() == id)
    }

    /// The next coarser one.
    #[must_use]
    pub fn coarser(self) -> Option<Self> {
        match self {
            Self::Event => None,
            Self::Pop => Some(Self::Event),
            Self::Lock => Some(Self::Pop),
            Self::Micro => Some(Self::Lock),
        }
    }

    /// Whether a step of this size ends with this fact.
    #[must_use]
    pub fn ends_with(self, fact: &Fact) -> bool {
        match self {
            Self::Micro => true,
            Self::Lock => matches!(fact, Fact::Queue(QueueFact::LockReleased { .. })),
            Self::Pop => matches!(
                fact,
                Fact::Queue(
                    QueueFact::Processed { .. }
                        | QueueFact::EntriesProcessed { .. }
                        | QueueFact::ProcessFailed { .. }
                )
            ),
            Self::Event => matches!(
                fact,
                Fact::Reflector(
                    ReflectorFact::LastSyncMoved { .. }
                        | ReflectorFact::WatchEnded { .. }
                        | ReflectorFact::ListFailed { .. }
                        | ReflectorFact::WatchFailed { .. }
                        | ReflectorFact::ReflectorStopped { .. }
                ) | Fact::Queue(QueueFact::LockReleased {
                    lock: LockName::Queue,
                    by: Actor::Program,
                })
            ),
        }
    }

    /// Where the step on from `cursor` ends; nothing where no such moment is known.
    #[must_use]
    pub fn next(self, timeline: &Timeline, cursor: usize) -> Option<usize> {
        let range = cursor..cursor.saturating_add(FARTHEST);
        timeline.each(range, &mut |place, record| {
            self.found(&record.fact, place + 1)
        })
    }

    /// Where the step back from `cursor` ends: at the last such moment, or at the start.
    #[must_use]
    pub fn previous(self, timeline: &Timeline, cursor: usize) -> usize {
        let end = cursor.saturating_sub(1);
        let from = end.saturating_sub(FARTHEST);
        let found = timeline.each_back(from..end, &mut |place, record| {
            self.found(&record.fact, place + 1)
        });
        found.unwrap_or(from)
    }

    fn found(self, fact: &Fact, at: usize) -> ControlFlow<usize> {
        if self.ends_with(fact) {
            ControlFlow::Break(at)
        } else {
            ControlFlow::Continue(())
        }
    }
}
