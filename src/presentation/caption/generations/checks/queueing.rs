//! Checks of what is queued, and in which order.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Actor, Entry, Fact, FactRecord, QueueFact, ReflectorFact};

use super::holds;
use crate::caption::generations::run::Run;

/// What the reflector queues before it receives its next event or sends its next request.
fn queued(run: &Run, at: usize) -> Vec<&Fact> {
    let until = run.after(at).take_while(|record| {
        !matches!(
            record.fact,
            Fact::Reflector(
                ReflectorFact::EventReceived { .. }
                    | ReflectorFact::ListRequested { .. }
                    | ReflectorFact::WatchRequested { .. }
            )
        )
    });
    until
        .map(|record| &record.fact)
        .filter(|fact| {
            matches!(
                fact,
                Fact::Queue(QueueFact::EntryAppended { .. } | QueueFact::DeltaAppended { .. })
            )
        })
        .collect()
}

pub(super) fn nothing_queued(run: &Run, at: usize) -> Result<(), String> {
    let queued = queued(run, at);
    holds(queued.is_empty(), || format!("{queued:?} is queued"))
}

pub(super) fn bookmark_queued(run: &Run, at: usize) -> Result<(), String> {
    let queued = queued(run, at);
    // The run may end before the bookmark is queued.
    let ok = match queued[..] {
        [
            Fact::Queue(QueueFact::EntryAppended {
                entry: Entry::Bookmark { .. },
                ..
            }),
        ] => true,
        [] => run.next_request(at).is_none() && run.after(at).count() < 4,
        _ => false,
    };
    holds(ok, || format!("{queued:?} is queued"))
}

pub(super) fn bookmark_alone(run: &Run, at: usize) -> Result<(), String> {
    nothing_queued(run, at)?;
    let Fact::Reflector(ReflectorFact::EventReceived { object, .. }) = &run.facts[at].fact else {
        return Err("no event".into());
    };
    let moved = run.after(at).next().is_none_or(|record| {
        matches!(&record.fact, Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) if *to == object.rv)
            || run.last_sync(at) == *object.rv
    });
    holds(moved, || "the version has not moved".into())
}

pub(super) fn deletes_first(run: &Run, at: usize) -> Result<(), String> {
    let before = listed(&mut run.before(at), run.facts[at].actor);
    holds(before == 0, || {
        format!("{before} of the list's objects come before")
    })
}

pub(super) fn deletes_last(run: &Run, at: usize) -> Result<(), String> {
    let after = listed(&mut run.facts[at + 1..].iter(), run.facts[at].actor);
    holds(after == 0, || {
        format!("{after} of the list's objects come after")
    })
}

/// Number of `Replaced` deltas that `actor` queues in `facts` before it next acquires or releases a lock.
fn listed(facts: &mut dyn Iterator<Item = &FactRecord>, actor: Actor) -> usize {
    facts
        .filter(|record| record.actor == actor)
        .take_while(|record| {
            !matches!(
                record.fact,
                Fact::Queue(QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. })
            )
        })
        .filter(|record| match &record.fact {
            Fact::Queue(
                QueueFact::EntryAppended {
                    entry: Entry::Delta(delta_type, _),
                    ..
                }
                | QueueFact::DeltaAppended { delta_type, .. },
            ) => *delta_type == DeltaType::Replaced,
            _ => false,
        })
        .count()
}
