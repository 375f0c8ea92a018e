//! The headline of a step: the one of its facts that says what became of it.
//!
//! A step of a fact has itself as its headline. A coarser step ends on its boundary, such as the release of a lock,
//! which says nothing: its headline is what became of the event in the queue, of the list, or of the store.

use std::ops::Range;

use deltascope_cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, QueueFact, ReflectorFact, StoreFact,
};

use super::step_size::{StepSize, ends_pop, is_minor};
use super::timeline::Timeline;

/// The most facts of a step that are examined: those before them are long past.
const MOST: usize = 2_000;

/// Tells whether a fact belongs to a rank.
type Rank = fn(&Fact) -> bool;

/// The ranks of what a reflector, or a program in its place, has done; the most important first. The last fact of
/// the first rank that has one is the headline.
const OF_EVENTS: &[Rank] = &[
    // An object was lost on the way.
    |fact| {
        matches!(
            fact,
            Fact::Queue(QueueFact::KeyFailed { .. } | QueueFact::TransformFailed { .. })
                | Fact::Reflector(ReflectorFact::ObjectRejected { .. })
        )
    },
    // A list found what no event had said, …
    |fact| matches!(fact, Fact::Queue(QueueFact::DeletionDetected { .. })),
    // … or brought many objects at once.
    |fact| {
        matches!(
            fact,
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. }
            )
        )
    },
    // The queue dropped or merged what the event brought, …
    |fact| {
        matches!(
            fact,
            Fact::Queue(
                QueueFact::DeleteIgnored { .. }
                    | QueueFact::DeltasMerged { .. }
                    | QueueFact::AlreadyPresent { .. }
            )
        )
    },
    // … or took it.
    |fact| {
        matches!(
            fact,
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                    | QueueFact::EntryAppended { .. }
                    | QueueFact::FifoItemSet { .. }
                    | QueueFact::FifoItemRemoved { .. }
            )
        )
    },
    // There was no event.
    |fact| {
        matches!(
            fact,
            Fact::Reflector(
                ReflectorFact::ListFailed { .. }
                    | ReflectorFact::WatchFailed { .. }
                    | ReflectorFact::WatchEnded { .. }
                    | ReflectorFact::StreamFellBack { .. }
                    | ReflectorFact::ReflectorStopped { .. }
            )
        )
    },
    |fact| {
        matches!(
            fact,
            Fact::Reflector(
                ReflectorFact::InitialEventKept { .. } | ReflectorFact::EventReceived { .. }
            )
        )
    },
];

/// The same for a Pop: what became of the store, and who was notified.
const OF_POPS: &[Rank] = &[
    |fact| {
        matches!(
            fact,
            Fact::Queue(QueueFact::ProcessFailed { .. })
                | Fact::Store(StoreFact::IndexFailed { .. })
        )
    },
    |fact| matches!(fact, Fact::Store(StoreFact::StoreReplaced { .. })),
    |fact| {
        matches!(
            fact,
            Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
        )
    },
    |fact| {
        matches!(
            fact,
            Fact::Handlers(
                HandlersFact::NotificationSent { .. }
                    | HandlersFact::NotificationQueued { .. }
                    | HandlersFact::NotificationWithheld { .. }
            )
        )
    },
    |fact| {
        matches!(
            fact,
            Fact::Queue(QueueFact::Requeued { .. } | QueueFact::FifoKeySkipped { .. })
        )
    },
    |fact| {
        matches!(
            fact,
            Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. })
        )
    },
];

/// Whether an actor fills the queue, rather than emptying it.
fn fills(actor: Actor) -> bool {
    matches!(actor, Actor::Reflector | Actor::Program | Actor::Server)
}

/// The place of the headline among the facts of a step; `None` if there are none.
#[must_use]
pub fn headline(size: StepSize, facts: &[FactRecord]) -> Option<usize> {
    let last = facts.len().checked_sub(1)?;
    let of_events = match size {
        StepSize::Micro => return Some(last),
        StepSize::Event => !ends_pop(&facts[last].fact),
        StepSize::Pop => false,
        StepSize::Lock => fills(facts[last].actor),
    };
    let ranks = if of_events { OF_EVENTS } else { OF_POPS };
    let of_step = |record: &FactRecord| !of_events || fills(record.actor);
    let latest = |is: &dyn Fn(&FactRecord) -> bool| facts.iter().rposition(is);
    // What precedes the event, such as a resync, is no part of it.
    let begin = |record: &FactRecord| {
        matches!(
            record.fact,
            Fact::Reflector(ReflectorFact::EventReceived { .. })
        )
    };
    let from = latest(&begin).filter(|_| of_events).unwrap_or(0);
    let by_rank = || {
        ranks.iter().find_map(|rank| {
            let found = facts[from..]
                .iter()
                .rposition(|record| of_step(record) && rank(&record.fact))?;
            Some(from + found)
        })
    };
    by_rank()
        .or_else(|| latest(&|record| of_step(record) && !is_minor(&record.fact)))
        .or_else(|| latest(&|record| !is_minor(&record.fact)))
        .or(Some(last))
}

/// The facts of the step of a size up to `cursor`, whether or not it ends there: all since the boundary before.
#[must_use]
pub fn step_to(size: StepSize, timeline: &Timeline, cursor: usize) -> Range<usize> {
    let from = match size {
        StepSize::Micro => cursor.saturating_sub(1),
        _ => size.previous(timeline, cursor),
    };
    from.max(cursor.saturating_sub(MOST))..cursor
}

/// The facts of the step of a size that ends at `cursor`: all since the boundary before. `None` if no step of this
/// size ends there.
#[must_use]
pub fn step_at(size: StepSize, timeline: &Timeline, cursor: usize) -> Option<Range<usize>> {
    let last = timeline.fact(cursor.checked_sub(1)?)?;
    let ends = cursor == timeline.len() && timeline.is_over();
    if size == StepSize::Micro || !ends && !size.ends_at(timeline, cursor - 1, &last) {
        return None;
    }
    Some(step_to(size, timeline, cursor))
}
