//! Checks of the reflector's next request, and of what it does before it.

use deltascope_cache::backoff::BACKOFF_RESET;
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, Fact, ReflectorFact, ServerFact};

use super::holds;
use crate::caption::generations::run::{Asks, Run};

fn asks(run: &Run, at: usize, kinds: &[Asks]) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(kinds.contains(&request.kind), || {
            format!("{request:?} comes next")
        })
    })
}

pub(super) fn list_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::List, Asks::Stream])
}

pub(super) fn plain_list_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::List])
}

pub(super) fn stream_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::Stream])
}

pub(super) fn watch_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::Watch])?;
    let last = run.last_sync(at);
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(request.rv == last, || {
            format!("{request:?} comes next, not from {last}")
        })
    })
}

/// The watch that has ended was accepted less than a second ago, and no event has come since.
pub(super) fn short_watch(run: &Run, at: usize) -> Result<(), String> {
    let facts = &run.facts[..at];
    let is_open = |fact: &Fact| matches!(fact, Fact::Server(ServerFact::WatchAccepted { .. }));
    let Some(open) = facts.iter().rposition(|record| is_open(&record.fact)) else {
        return Err("no watch was accepted".into());
    };
    let events = facts[open..].iter().filter(|record| {
        matches!(
            record.fact,
            Fact::Reflector(ReflectorFact::EventReceived { .. })
        )
    });
    let (ms, events) = (run.facts[at].time - facts[open].time, events.count());
    holds(ms < 1_000 && events == 0, || {
        format!("{ms} ms, {events} events")
    })
}

fn between(run: &Run, at: usize, is: fn(&Fact) -> bool, wanted: bool) -> Result<(), String> {
    let here = is(&run.facts[at].fact);
    run.next_request(at).map_or(Ok(()), |(request, between)| {
        let met = here || between.iter().any(|record| is(&record.fact));
        holds(met == wanted, || format!("{between:?} before {request:?}"))
    })
}

fn is_pause(fact: &Fact) -> bool {
    matches!(fact, Fact::Reflector(ReflectorFact::BackoffStarted { .. }))
}

fn is_report(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Reflector(ReflectorFact::WatchErrorReported { .. })
    )
}

pub(super) fn paused(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_pause, true)
}

pub(super) fn at_once(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_pause, false)
}

pub(super) fn reported(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_report, true)
}

pub(super) fn unreported(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_report, false)
}

pub(super) fn newest(run: &Run, at: usize) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(request.rv.is_empty(), || format!("{request:?} comes next"))
    })
}

/// Each pause is twice the one before, up to 30 s. The generation determines when the pauses start over.
pub(super) fn pauses(run: &Run, at: usize) -> Result<(), String> {
    let reset = BACKOFF_RESET.as_millis() as u64;
    let all = run.facts[..=at]
        .iter()
        .filter_map(|record| match record.fact {
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some((record.time, ms)),
            _ => None,
        });
    // The backoff starts with the reflector, at time 0.
    let (mut start, mut next, mut wanted, mut found) = (0, 800, 0, 0);
    for (time, ms) in all {
        let anew = time - start > reset;
        if anew {
            next = 800;
        }
        if anew || run.generation != Generation::Atomic {
            start = time;
        }
        (wanted, found) = (next, ms);
        next = (next * 2).min(30_000);
    }
    holds(wanted == found, || format!("{wanted} ms, not {found}"))
}

pub(super) fn from_last_sync(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) = &run.facts[at].fact else {
        return Err("nothing moved".into());
    };
    for record in run.by(Actor::Reflector, at) {
        match &record.fact {
            Fact::Reflector(ReflectorFact::LastSyncMoved { .. }) => return Ok(()),
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv,
                initial_events: false,
            }) => {
                return holds(rv == to, || format!("the next watch is from {rv}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The stream goes on: the reflector sends no request before it ends.
pub(super) fn no_request(run: &Run, at: usize) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, between)| {
        let ended = between.iter().any(|record| {
            matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::WatchEnded { .. })
            )
        });
        // After a failed streaming list the reflector requests a list.
        let refused = between.iter().any(|record| {
            matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::StreamFellBack { .. })
            )
        });
        holds(ended || refused, || format!("{request:?} before its end"))
    })
}
