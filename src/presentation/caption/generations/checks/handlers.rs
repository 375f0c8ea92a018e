//! Checks of what the handlers receive, and when.

use deltascope_cache::fact::{
    Actor, Cause, Fact, HandlersFact, NotificationRef, QueueFact, ReflectorFact, ServerFact,
    StoreFact,
};

use super::holds;
use crate::caption::generations::run::Run;
use deltascope_replay::step_size::ends_pop;

/// The next notification about the object of this delta is `wanted`: `add`, `update` or `delete`.
pub(super) fn notified(run: &Run, at: usize, wanted: &str) -> Result<(), String> {
    let Fact::Queue(QueueFact::DeltaTaken { object, .. }) = &run.facts[at].fact else {
        return Err("no delta was taken".into());
    };
    for record in &run.facts[at + 1..] {
        let (of, kind) = match &record.fact {
            Fact::Handlers(
                HandlersFact::NotificationSent { notification, .. }
                | HandlersFact::NotificationTaken { notification, .. },
            ) => (
                &notification.object().key,
                match notification {
                    NotificationRef::Add { .. } => "add",
                    NotificationRef::Update { .. } => "update",
                    NotificationRef::Delete { .. } => "delete",
                },
            ),
            Fact::Handlers(HandlersFact::NotificationWithheld { key, .. }) => (key, "update"),
            fact if ends_pop(fact) => return Ok(()),
            _ => continue,
        };
        // A listener may still be handling an earlier notification.
        let by_loop = record.actor == Actor::ProcessLoop
            || matches!(
                record.fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. })
            ) && run.inline;
        if *of == object.key && by_loop {
            return holds(kind == wanted, || format!("{record:?} comes"));
        }
    }
    Ok(())
}

pub(super) fn syncing(run: &Run, at: usize, wanted: bool) -> Result<(), String> {
    let of = match run.facts[at].fact {
        Fact::Handlers(
            HandlersFact::NotificationSent { handler, .. }
            | HandlersFact::NotificationWithheld { handler, .. },
        ) => handler,
        _ => return Err("no handler is notified".into()),
    };
    // Before the first resync check, every handler counts as syncing.
    let is = run.before(at).find_map(|record| match record.fact {
        Fact::Handlers(HandlersFact::SyncingSet { handler, syncing }) if handler == of => {
            Some(syncing)
        }
        _ => None,
    });
    holds(is.unwrap_or(true) == wanted, || format!("syncing: {is:?}"))
}

/// The chain of causes starts with a resync if `wanted`, with a list otherwise.
pub(super) fn by_resync(run: &Run, at: usize, wanted: bool) -> Result<(), String> {
    let mut record = &run.facts[at];
    for _ in 0..40 {
        match &record.fact {
            Fact::Reflector(ReflectorFact::ResyncDue { .. }) => {
                return holds(wanted, || "a resync began it".into());
            }
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            )
            | Fact::Server(ServerFact::ListAnswered { .. }) => {
                return holds(!wanted, || "a list began it".into());
            }
            _ => {}
        }
        let Cause::Fact(id) = record.cause else {
            break;
        };
        let Ok(place) = run.facts.binary_search_by_key(&id, |record| record.id) else {
            break;
        };
        record = &run.facts[place];
    }
    Err(format!("{record:?} began it"))
}

pub(super) fn silent(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Handlers(HandlersFact::HandlerRemoved { handler: of }) = run.facts[at].fact else {
        return Err("no handler was removed".into());
    };
    let notified = run.facts[at + 1..].iter().find(
        |record| matches!(record.fact, Fact::Handlers(HandlersFact::NotificationTaken { handler, .. }) if handler == of),
    );
    holds(notified.is_none(), || format!("{notified:?} comes"))
}

pub(super) fn notified_of_what_is_there(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Handlers(HandlersFact::HandlerAdded {
        handler: of,
        initial,
        ..
    }) = run.facts[at].fact
    else {
        return Err("no handler was added".into());
    };
    let taken = run.facts[at + 1..]
        .iter()
        .filter_map(|record| match &record.fact {
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) if *handler == of => Some(notification),
            _ => None,
        });
    let wrong = taken.take(initial as usize).find(|notification| {
        !matches!(
            notification,
            NotificationRef::Add {
                is_in_initial_list: true,
                ..
            }
        )
    });
    holds(wrong.is_none(), || format!("{wrong:?} comes"))
}

pub(super) fn stored_first(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Store(StoreFact::ItemStored { object, .. }) = &run.facts[at].fact else {
        return Err("nothing was stored".into());
    };
    let notified = run.before(at).find(|record| match &record.fact {
        Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => {
            let of = notification.object();
            of.key == object.key
                && of.rv == object.rv
                && !matches!(notification, NotificationRef::Delete { .. })
        }
        _ => false,
    });
    holds(notified.is_none(), || format!("{notified:?} came before"))
}
