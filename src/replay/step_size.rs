//! The size of a step: to the next fact, the next release of a lock, the end of a Pop, or the point where the
//! reflector has finished with a server response.

use std::ops::ControlFlow;

use deltascope_cache::fact::{Actor, Fact, LockName, QueueFact, ReflectorFact};

use super::timeline::Timeline;

/// The most facts of one step: a run may be long without a boundary.
pub const FARTHEST: usize = 20_000;

/// The size of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepSize {
    /// Until the reflector has finished with a server response (or a program with its call).
    Event,
    /// Until a Pop has finished.
    Pop,
    /// Until a lock is released.
    Lock,
    /// One fact.
    #[default]
    Micro,
}

impl StepSize {
    /// All sizes, the coarsest first.
    pub const ALL: [Self; 4] = [Self::Event, Self::Pop, Self::Lock, Self::Micro];

    /// The name of the size, as used in links.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Pop => "pop",
            Self::Lock => "lock",
            Self::Micro => "micro",
        }
    }

    /// The size with this name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step_size| step_size.id() == id)
    }

    /// The next coarser size.
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

    /// The end of the step forward from `cursor`; `None` if no boundary is known.
    #[must_use]
    pub fn next(self, timeline: &Timeline, cursor: usize) -> Option<usize> {
        let range = cursor..cursor.saturating_add(FARTHEST);
        timeline.each(range, &mut |place, record| {
            self.found(&record.fact, place + 1)
        })
    }

    /// The end of the step back from `cursor`: the previous boundary, or the start of the searched range.
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
