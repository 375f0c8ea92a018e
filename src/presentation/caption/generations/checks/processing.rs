//! Checks of what Pop takes, of the queue's lock during processing, and of what is written.

use std::collections::BTreeSet;

use deltascope_cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, LockName, NotificationRef, QueueFact, StoreFact,
};
use deltascope_cache::key::Key;

use super::holds;
use crate::caption::generations::run::Run;
use deltascope_replay::step_size::ends_pop;

fn pops(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. })
    )
}

/// Whether the fact is a step of processing what Pop took.
fn works(record: &FactRecord) -> bool {
    record.actor == Actor::ProcessLoop
        && matches!(
            record.fact,
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                    | QueueFact::ListOpened { .. }
                    | QueueFact::ResyncOpened { .. }
            ) | Fact::Store(
                StoreFact::StoreReplaced { .. }
                    | StoreFact::ItemStored { .. }
                    | StoreFact::ItemRemoved { .. }
            ) | Fact::Handlers(HandlersFact::NotificationSent { .. })
        )
}

/// Before this fact, what Pop took last is processed completely, or has failed.
pub(super) fn processed_before(run: &Run, at: usize) -> Result<(), String> {
    let fails =
        |record: &&FactRecord| matches!(record.fact, Fact::Queue(QueueFact::ProcessFailed { .. }));
    let popped = || run.before(at).take_while(|record| !pops(&record.fact));
    let done = popped().filter(|record| works(record)).count();
    let left = run.after(at).take_while(|record| !ends_pop(&record.fact));
    let left = left.filter(|record| works(record)).count();
    let next = run.after(at).find(|record| ends_pop(&record.fact));
    let failed = popped().any(|record| fails(&record)) || next.is_some_and(|record| fails(&record));
    holds((done > 0 || failed) && left == 0, || {
        format!("{done} done, {left} left")
    })
}

/// What Pop took last is processed only after this fact.
pub(super) fn processed_after(run: &Run, at: usize) -> Result<(), String> {
    let next = run
        .after(at)
        .find(|record| pops(&record.fact) || ends_pop(&record.fact));
    holds(next.is_none_or(|record| ends_pop(&record.fact)), || {
        format!("{next:?} comes next")
    })?;
    let last = run
        .before(at)
        .find(|record| pops(&record.fact) || ends_pop(&record.fact));
    holds(last.is_some_and(|record| pops(&record.fact)), || {
        format!("{last:?} was the last")
    })
}

fn releases_or_takes(fact: &Fact) -> Option<bool> {
    match fact {
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }) => Some(true),
        Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }) => Some(false),
        _ => None,
    }
}

/// The process loop acquires the queue's lock again only after processing.
pub(super) fn without_the_lock(run: &Run, at: usize) -> Result<(), String> {
    let mut taken = false;
    for record in run.by(Actor::ProcessLoop, at) {
        if ends_pop(&record.fact) {
            return Ok(());
        }
        taken |= releases_or_takes(&record.fact) == Some(true);
        holds(!(taken && works(record)), || {
            format!("{record:?} under the lock")
        })?;
    }
    Ok(())
}

/// The process loop holds the queue's lock, and releases it only after processing or if it popped nothing.
pub(super) fn under_the_lock(run: &Run, at: usize) -> Result<(), String> {
    let mut popped = run
        .before(at + 1)
        .filter(|record| record.actor == Actor::ProcessLoop || pops(&record.fact))
        .take_while(|record| releases_or_takes(&record.fact) != Some(false))
        .any(|record| pops(&record.fact));
    let mut done = run
        .before(at + 1)
        .take_while(|record| !pops(&record.fact))
        .any(|record| ends_pop(&record.fact));
    for record in run.facts[at + 1..].iter() {
        if record.actor == Actor::ProcessLoop {
            popped |= pops(&record.fact);
            done |= ends_pop(&record.fact);
        }
        if releases_or_takes(&record.fact) == Some(false) {
            return holds(done || !popped, || "the lock is released before".into());
        }
    }
    Ok(())
}

/// The list replaces the store before any handler is notified. Deletions are notified first.
pub(super) fn replaced_then_notified(run: &Run, at: usize) -> Result<(), String> {
    let mut replaced = false;
    let mut others = false;
    for record in run.facts[at + 1..].iter() {
        match &record.fact {
            Fact::Store(StoreFact::StoreReplaced { .. }) => replaced = true,
            fact if ends_pop(fact) => break,
            Fact::Handlers(HandlersFact::NotificationSent {
                notification,
                handler: 0,
            }) => {
                let deletes = matches!(notification, NotificationRef::Delete { .. });
                holds(replaced && !(deletes && others), || {
                    format!("{record:?} is sent")
                })?;
                others |= !deletes;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The keys of the deltas that are processed together.
fn taken(run: &Run, at: usize) -> Vec<&Key> {
    let until = run.after(at).take_while(|record| !ends_pop(&record.fact));
    let keys = until.filter_map(|record| match &record.fact {
        Fact::Queue(QueueFact::DeltaTaken { object, .. }) => Some(&object.key),
        _ => None,
    });
    keys.collect()
}

pub(super) fn keys_once(run: &Run, at: usize) -> Result<(), String> {
    let keys = taken(run, at);
    let once: BTreeSet<_> = keys.iter().collect();
    holds(once.len() == keys.len(), || format!("{keys:?}"))
}

pub(super) fn looked_up_first(run: &Run, at: usize) -> Result<(), String> {
    let wrote = run
        .before(at)
        .filter(|record| record.actor == Actor::ProcessLoop)
        .take_while(|record| !pops(&record.fact))
        .find(|record| {
            matches!(
                record.fact,
                Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
            )
        });
    holds(wrote.is_none(), || format!("{wrote:?} came before"))
}

/// `HasSynced` is false until `initial` keys or entries have been popped.
pub(super) fn popped_first(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Queue(QueueFact::Populated { initial }) = run.facts[at].fact else {
        return Err("nothing is populated".into());
    };
    let mut popped = 0;
    for record in &run.facts[at + 1..] {
        match record.fact {
            Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::FifoKeySkipped { .. }) => {
                popped += 1
            }
            Fact::Queue(QueueFact::EntriesTaken { count, .. }) => popped += count,
            Fact::Queue(QueueFact::Synced) => {
                return holds(popped >= initial, || format!("{popped} popped"));
            }
            _ => {}
        }
    }
    Ok(())
}
