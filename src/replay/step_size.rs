//! The size of a step: to the next fact, the next release of a lock, the end of a Pop, or the point where one thing is
//! done, such as a response with which the reflector has finished.

use std::ops::ControlFlow;

use deltascope_cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, LockName, QueueFact, ReflectorFact, RunFact, ServerFact,
    StoreFact,
};
use deltascope_world::named;

use super::timeline::Timeline;

/// The most facts of one step: a run may be long without a boundary.
pub const FARTHEST: usize = 20_000;

named! {
    /// The size of a step, the coarsest first.
    #[derive(Default)]
    pub enum StepSize {
        /// Until a Pop has finished.
        Pop = "pop",
        /// Until one thing is done: a watch is open again, the reflector has finished with a server response, a Pop has finished,
        /// or a program has finished a call or printed.
        Event = "event",
        /// Until a lock is released.
        Lock = "lock",
        /// One fact.
        #[default]
        Micro = "micro",
    }
}

impl StepSize {
    /// The next coarser size.
    #[must_use]
    pub fn coarser(self) -> Option<Self> {
        match self {
            Self::Pop => None,
            Self::Event => Some(Self::Pop),
            Self::Lock => Some(Self::Event),
            Self::Micro => Some(Self::Lock),
        }
    }

    /// Whether a step of this size ends with the fact at `place`.
    #[must_use]
    pub fn ends_at(self, timeline: &Timeline, place: usize, record: &FactRecord) -> bool {
        let fact = &record.fact;
        match self {
            Self::Micro => true,
            Self::Lock => matches!(fact, Fact::Queue(QueueFact::LockReleased { .. })),
            Self::Pop => ends_pop(fact),
            Self::Event => {
                ends_pop(fact)
                    || ends_response(fact)
                    || ends_reconnect(timeline, place, fact)
                    || record.actor == Actor::Program && ends_call(timeline, place, fact)
            }
        }
    }

    /// The end of the step forward from `cursor`; `None` if no boundary is known. Passes over steps in which nothing
    /// can be seen.
    #[must_use]
    pub fn next(self, timeline: &Timeline, cursor: usize) -> Option<usize> {
        let range = cursor..cursor.saturating_add(FARTHEST);
        let mut seen = self == Self::Micro;
        timeline.each(range, &mut |place, record| {
            seen |= !is_minor(&record.fact);
            if seen && self.ends_at(timeline, place, record) {
                ControlFlow::Break(place + 1)
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// The end of the step back from `cursor`: the previous boundary, or the start of the searched range. Passes over
    /// the same steps.
    #[must_use]
    pub fn previous(self, timeline: &Timeline, cursor: usize) -> usize {
        let end = cursor.saturating_sub(1);
        let from = end.saturating_sub(FARTHEST);
        let mut boundary = None;
        let found = timeline.each_back(from..end, &mut |place, record| {
            if self.ends_at(timeline, place, record) {
                // Nothing was seen since the boundary before this one.
                boundary = Some(place + 1);
            }
            match boundary {
                Some(found) if self == Self::Micro || !is_minor(&record.fact) => {
                    ControlFlow::Break(found)
                }
                _ => ControlFlow::Continue(()),
            }
        });
        found.unwrap_or(from)
    }
}

/// Whether a Pop has finished with this fact.
#[must_use]
pub fn ends_pop(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Queue(
            QueueFact::Processed { .. }
                | QueueFact::EntriesProcessed { .. }
                | QueueFact::ProcessFailed { .. }
        )
    )
}

/// Whether the reflector has finished with a server response.
fn ends_response(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Reflector(
            ReflectorFact::LastSyncMoved { .. }
                | ReflectorFact::WatchEnded { .. }
                | ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::ReflectorStopped { .. }
        )
    )
}

/// Whether a watch is open again that had ended: with what it brings another step begins.
fn ends_reconnect(timeline: &Timeline, place: usize, fact: &Fact) -> bool {
    if !matches!(fact, Fact::Server(ServerFact::WatchAccepted { .. })) {
        return false;
    }
    let mut requested = false;
    let again = timeline.each_back(place.saturating_sub(FARTHEST)..place, &mut |_, record| {
        let Fact::Reflector(fact) = &record.fact else {
            return ControlFlow::Continue(());
        };
        if !requested {
            requested = matches!(fact, ReflectorFact::WatchRequested { .. });
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(matches!(
            fact,
            ReflectorFact::WatchEnded { .. } | ReflectorFact::BackoffStarted { .. }
        ))
    });
    again.unwrap_or_default()
}

/// Whether a program has finished a call, or printed. Not each call ends with a fact of its own.
fn ends_call(timeline: &Timeline, place: usize, fact: &Fact) -> bool {
    let is_end = matches!(
        fact,
        Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            ..
        }) | Fact::Handlers(HandlersFact::LinePrinted { .. })
    );
    is_end
        || matches!(
            timeline.fact(place + 1).map(|record| record.fact),
            Some(Fact::Run(RunFact::Called { .. }))
        )
}

/// With which facts a fact is shown.
pub(super) enum Told {
    /// With those that it begins.
    Itself,
    /// With the one that it leads to; it says little.
    WithNext,
    /// With the one before; it says little.
    WithLast,
    /// With the one before, though it says something.
    EndsLast,
}

/// Locks, bookkeeping, and parts of what another fact says say little by themselves.
pub(super) fn told(fact: &Fact) -> Told {
    if let Fact::Queue(
        QueueFact::LockTaken { .. }
        | QueueFact::LockAwaited { .. }
        | QueueFact::Populated { .. }
        | QueueFact::DeleteChecked { .. }
        | QueueFact::DeltaTaken { .. },
    )
    | Fact::Reflector(ReflectorFact::ResyncDue { .. })
    | Fact::Server(ServerFact::EventSent { .. })
    | Fact::Handlers(HandlersFact::NotificationTaken { .. }) = fact
    {
        Told::WithNext
    } else if let Fact::Queue(
        QueueFact::LockReleased { .. }
        | QueueFact::KeyEnqueued { .. }
        | QueueFact::QueueEmpty
        | QueueFact::Processed { .. }
        | QueueFact::EntriesProcessed { .. },
    )
    | Fact::Reflector(
        ReflectorFact::LastSyncMoved { .. } | ReflectorFact::VersionUnavailable { .. },
    )
    | Fact::Store(
        StoreFact::IndexEntryAdded { .. }
        | StoreFact::IndexEntryRemoved { .. }
        | StoreFact::IndicesReset
        | StoreFact::StoreVersionMoved { .. },
    )
    | Fact::Handlers(HandlersFact::SyncingSet { .. }) = fact
    {
        Told::WithLast
    } else if let Fact::Handlers(HandlersFact::NotificationHandled { .. }) = fact {
        Told::EndsLast
    } else {
        Told::Itself
    }
}

/// Whether a fact says little by itself.
#[must_use]
pub fn is_minor(fact: &Fact) -> bool {
    matches!(told(fact), Told::WithNext | Told::WithLast)
}
