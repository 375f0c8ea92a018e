//! Checks of what a sentence states against the other facts of the run.

mod handlers;
mod processing;
mod queueing;
mod requests;

use deltascope_cache::fact::{Fact, WorkFact};

use super::run::Run;

use handlers::{by_resync, notified, notified_of_what_is_there, silent, stored_first, syncing};
use processing::{
    keys_once, looked_up_first, popped_first, processed_after, processed_before,
    replaced_then_notified, under_the_lock, without_the_lock,
};
use queueing::{bookmark_alone, bookmark_queued, deletes_first, deletes_last, nothing_queued};
use requests::{
    at_once, from_last_sync, list_next, newest, no_request, paused, pauses, plain_list_next,
    reported, short_watch, stream_next, unreported, watch_next,
};

/// `Ok` if the statement holds, or if the run ends too early to decide.
pub(super) type Check = fn(&Run, usize) -> Result<(), String>;

pub(super) const CHECKS: [(&str, Check); 39] = [
    ("list next", list_next),
    ("LIST next", plain_list_next),
    ("stream next", stream_next),
    ("short watch", short_watch),
    ("watch next", watch_next),
    ("paused", paused),
    ("at once", at_once),
    ("reported", reported),
    ("unreported", unreported),
    ("newest", newest),
    ("pauses", pauses),
    ("from last sync", from_last_sync),
    ("nothing queued", nothing_queued),
    ("bookmark queued", bookmark_queued),
    ("bookmark alone", bookmark_alone),
    ("kept aside", nothing_queued),
    ("processed before", processed_before),
    ("processed after", processed_after),
    ("without the lock", without_the_lock),
    ("under the lock", under_the_lock),
    ("deletes first", deletes_first),
    ("deletes last", deletes_last),
    ("replaced, then told", replaced_then_notified),
    ("keys once", keys_once),
    ("looked up first", looked_up_first),
    ("told OnAdd", |run, at| notified(run, at, "add")),
    ("told OnUpdate", |run, at| notified(run, at, "update")),
    ("told OnDelete", |run, at| notified(run, at, "delete")),
    ("syncing", |run, at| syncing(run, at, true)),
    ("not syncing", |run, at| syncing(run, at, false)),
    ("by resync", |run, at| by_resync(run, at, true)),
    ("by list", |run, at| by_resync(run, at, false)),
    ("delay", delay),
    ("no request", no_request),
    ("popped first", popped_first),
    ("once", once),
    ("silent", silent),
    ("told what is there", notified_of_what_is_there),
    ("stored first", stored_first),
];

fn holds(yes: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if yes { Ok(()) } else { Err(what()) }
}

fn once(run: &Run, at: usize) -> Result<(), String> {
    let kind = run.facts[at].fact.name();
    let again = run.facts[at + 1..]
        .iter()
        .find(|record| record.fact.name() == kind);
    holds(again.is_none(), || format!("{again:?} comes"))
}

fn delay(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Work(WorkFact::WorkDelayed { ms, failures, .. }) = run.facts[at].fact else {
        return Err("nothing is delayed".into());
    };
    let before = run.before(at);
    let before = before
        .filter(|record| matches!(record.fact, Fact::Work(WorkFact::WorkDelayed { .. })))
        .count();
    let own = (5_u64 << (failures - 1).min(40)).min(1_000_000);
    holds(if before < 100 { ms == own } else { ms >= own }, || {
        format!("{ms} ms, not {own}")
    })
}
