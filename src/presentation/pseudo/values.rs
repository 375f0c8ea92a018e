//! The values that a fact gives to the lines of a routine.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    EventType, Fact, HandlersFact, Known, ObjectRef, ProcessMode, QueueFact, ReflectorFact,
    Refusal, RunFact, ServerFact, StoreFact, WatchEnd, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_world::text::counted;
use deltascope_world::virtual_time::mode_text;

use crate::caption::{answer, refusal, short_name, short_rv};

/// Values, each with the offset of its line from the fact's line.
type Values = Vec<(isize, String)>;

/// The values of a fact, for its own line and for lines above or below it.
pub(super) fn values(fact: &Fact) -> Values {
    match fact {
        Fact::Server(fact) => here(server(fact)),
        Fact::Reflector(fact) => here(reflector(fact)),
        Fact::Queue(fact) => queue(fact),
        Fact::Store(fact) => here(store(fact)),
        Fact::Handlers(fact) => handlers(fact).map(here).unwrap_or_default(),
        Fact::Work(fact) => here(work(fact)),
        Fact::Run(fact) => here(run(fact)),
    }
}

fn here(value: String) -> Values {
    vec![(0, value)]
}

fn server(fact: &ServerFact) -> String {
    match fact {
        ServerFact::ObjectCreated { object, body: _ }
        | ServerFact::ObjectUpdated {
            object,
            body: _,
            old_rv: _,
        }
        | ServerFact::ObjectDeleted { object, old_rv: _ } => named(object),
        ServerFact::WriteRefused {
            verb: _,
            key: _,
            refusal,
        } => match refusal {
            Refusal::AlreadyExists => "409 AlreadyExists",
            Refusal::NotFound => "404 NotFound",
            Refusal::Invalid(_) => "422 Invalid",
        }
        .into(),
        ServerFact::RefusalsAsked {
            request,
            kind,
            times,
        } => match times {
            0 => "taken back".to_owned(),
            _ => format!("{} → {}", request.as_str(), refusal(*kind)),
        },
        ServerFact::HistoryCompacted { oldest } => format!("oldest {}", version(oldest)),
        ServerFact::ListAnswered { rv, count } => objects_at(*count as usize, rv),
        ServerFact::ObjectsLearned { rv, objects } => objects_at(objects.len(), rv),
        ServerFact::RequestDeferred {
            code,
            after_ms,
            attempt: _,
        } => format!("{code}, again in {after_ms} ms"),
        ServerFact::ListRefused { code, reason } => answer(*code, reason.as_str()),
        ServerFact::WatchDenied { code, reason } => answer(*code, reason),
        ServerFact::WatchAccepted { rv } => format!("open, rv {}", version(rv)),
        ServerFact::WatchRefused { rv: _, oldest: _ } => "410 Gone".into(),
        ServerFact::ConnectionRefused => "refused".into(),
        ServerFact::EventSent {
            event,
            object,
            ends_list,
        } => watch_event(*event, object, *ends_list),
        ServerFact::WatchClosed { end, lost: _ } => match end {
            WatchEnd::Closed => "closed".into(),
            WatchEnd::Cut | WatchEnd::CutInLine(_) => "cut".into(),
            WatchEnd::Silent => "silent".into(),
            WatchEnd::Failed(code, reason) => answer(*code, reason),
            WatchEnd::TooMuch(most) => format!("> {most}"),
        },
    }
}

fn reflector(fact: &ReflectorFact) -> String {
    match fact {
        ReflectorFact::ListRequested { rv, .. } | ReflectorFact::WatchRequested { rv, .. } => {
            format!("rv = {}", version(rv))
        }
        ReflectorFact::PageReceived { count, total } => format!("{count}, {total} in all"),
        ReflectorFact::ListFailed { error, next: _ }
        | ReflectorFact::WatchFailed { error }
        | ReflectorFact::StreamFellBack { error }
        | ReflectorFact::ObjectRejected { error }
        | ReflectorFact::WatchErrorReported { error } => error.to_string(),
        ReflectorFact::ListReceived { rv, count }
        | ReflectorFact::InitialEventsEnded { rv, count } => objects_at(*count as usize, rv),
        ReflectorFact::InitialEventKept { event, object } => {
            format!("{} {}", event.as_str(), short_name(&object.key))
        }
        ReflectorFact::InitialEventsEndMissed { ms, any: _ } => format!("late, {ms} ms"),
        ReflectorFact::VersionUnavailable { on } => on.to_string(),
        ReflectorFact::ResyncDue { wanted } => format!("wanted: {wanted}"),
        ReflectorFact::EventReceived {
            event,
            object,
            ends_list,
        } => watch_event(*event, object, *ends_list),
        ReflectorFact::LastSyncMoved { from, to } => moved(from, to),
        ReflectorFact::WatchEnded { relist, .. } => if *relist { "list" } else { "watch" }.into(),
        ReflectorFact::BackoffStarted { ms, reason: _ } => format!("{ms} ms"),
        ReflectorFact::ReflectorStopped { reason } => reason.to_string(),
    }
}

fn queue(fact: &QueueFact) -> Values {
    here(match fact {
        QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. } => return Vec::new(),
        QueueFact::DeleteChecked {
            key,
            known,
            pending,
        } => return delete_checked(key, known.as_ref(), *pending),
        QueueFact::DeltaTaken {
            position: _,
            delta_type,
            object,
            exists,
        } => return delta_taken(*delta_type, object, *exists),
        QueueFact::LockAwaited { .. } | QueueFact::QueueEmpty => "waits".into(),
        QueueFact::KeyFailed { error: _ } => "KeyError".into(),
        QueueFact::TransformFailed { key: _, error: _ } | QueueFact::ProcessFailed { error: _ } => {
            "error".into()
        }
        QueueFact::Transformed { from: _, to: _ } => "another object".into(),
        QueueFact::Populated { initial: 0 } => "populated".into(),
        QueueFact::Populated { initial } => format!("populated, {initial} left"),
        QueueFact::DeleteIgnored { key: _ } => "true: dropped".into(),
        QueueFact::DeltaAppended {
            delta_type,
            object: _,
            depth,
        } => format!("{delta_type}, {}", deltas(*depth as usize)),
        QueueFact::DeltasMerged {
            key: _,
            kept: _,
            kept_older,
        } => if *kept_older {
            "the older stays"
        } else {
            "the newer stays"
        }
        .into(),
        QueueFact::KeyEnqueued { key: _, length } => {
            counted(*length as usize, "key queued", "keys queued")
        }
        QueueFact::ResyncSkipped { key } => format!("{}: skipped", short_name(key)),
        QueueFact::AlreadyPresent { key } => format!("{}: dropped", short_name(key)),
        QueueFact::DeletionDetected { key }
        | QueueFact::FifoItemRemoved { key }
        | QueueFact::FifoKeySkipped { key }
        | QueueFact::Processed { key } => short_name(key).to_owned(),
        QueueFact::FifoItemSet { object, .. } => named(object),
        QueueFact::FifoCleared => "emptied".into(),
        QueueFact::EntryAppended {
            entry: _,
            length: count,
        }
        | QueueFact::EntriesTaken {
            count,
            is_in_initial_list: _,
        }
        | QueueFact::EntriesProcessed { count } => counted(*count as usize, "entry", "entries"),
        QueueFact::KeyPopped {
            key,
            deltas: all,
            is_in_initial_list: _,
        } => format!("{}, {}", short_name(key), deltas(all.len())),
        QueueFact::Synced => "HasSynced".into(),
        QueueFact::Requeued { key, added } => format!(
            "{}: {}",
            short_name(key),
            if *added { "put back" } else { "dropped" }
        ),
        QueueFact::ProcessWasSlow { key: _, depth, ms } => format!("{ms} ms, {depth} waited"),
        QueueFact::QueueClosed => "closed".into(),
        QueueFact::ListOpened {
            rv: _,
            count,
            removed,
        } => format!("{count}, {removed} missing"),
        QueueFact::ResyncOpened { count } => counted(*count as usize, "object", "objects"),
    })
}

fn delete_checked(key: &Key, known: Option<&Known>, pending: bool) -> Values {
    let dropped = !pending && matches!(known, None | Some(Known::No));
    let known = match known {
        None => "no known objects".into(),
        Some(Known::No) => "false".into(),
        Some(Known::Failed) => "error".into(),
        Some(Known::Yes(rv)) if rv.is_empty() => "true".into(),
        Some(Known::Yes(rv)) => format!("true (rv {})", short_rv(rv)),
    };
    vec![
        (-3, short_name(key).to_owned()),
        (0, known),
        (1, pending.to_string()),
        (2, dropped.to_string()),
    ]
}

fn delta_taken(delta_type: DeltaType, object: &ObjectRef, exists: Option<bool>) -> Values {
    let mut values = here(format!("{delta_type} {}", short_name(&object.key)));
    if let Some(exists) = exists {
        values.push((1, format!("exists = {exists}")));
    }
    values
}

fn store(fact: &StoreFact) -> String {
    match fact {
        StoreFact::ItemStored { object, old } => match old {
            Some(old) => format!("rv {} → {}", version(&old.rv), version(&object.rv)),
            None => named(object),
        },
        StoreFact::ItemRemoved { key, old: _ } => short_name(key).to_owned(),
        StoreFact::StoreReplaced { items } => counted(items.len(), "object", "objects"),
        StoreFact::IndexEntryRemoved {
            index,
            value,
            key: _,
            emptied: _,
        }
        | StoreFact::IndexEntryAdded {
            index,
            value,
            key: _,
        } => {
            if value.is_empty() {
                format!("{index}: \"\"")
            } else {
                format!("{index}: {value}")
            }
        }
        StoreFact::IndexFailed {
            index,
            key: _,
            error: _,
        } => index.to_string(),
        StoreFact::IndexersAdded { names } => names.join(", "),
        StoreFact::IndicesReset => "emptied".into(),
        StoreFact::StoreVersionMoved { from, to } => moved(from, to),
    }
}

fn handlers(fact: &HandlersFact) -> Option<String> {
    Some(match fact {
        HandlersFact::NotificationSent {
            handler: _,
            notification,
        } => notification.call().into(),
        HandlersFact::NotificationWithheld { handler: _, key } => {
            format!("not {}", short_name(key))
        }
        HandlersFact::NotificationQueued {
            handler: _,
            notification,
            pending,
        } => format!("{}, {pending} waiting", notification.call()),
        HandlersFact::NotificationTaken {
            handler: _,
            notification,
        } => format!(
            "{}({})",
            notification.call(),
            short_name(&notification.object().key)
        ),
        HandlersFact::LinePrinted { by: _, line } => line.to_string(),
        HandlersFact::HandlerPanicked { handler: _, error } => error.to_string(),
        HandlersFact::HandlerAsked { name, .. } => name.to_string(),
        HandlersFact::HandlerAdded {
            handler: _,
            name: _,
            initial,
        } => format!("{initial} first"),
        HandlersFact::SyncingSet {
            handler: _,
            syncing,
        } => format!("syncing = {syncing}"),
        HandlersFact::ResyncCheckSet { ms } => format!("{ms} ms"),
        HandlersFact::ObjectMutated { key, handler: _ }
        | HandlersFact::MutationDetected { key } => short_name(key).into(),
        HandlersFact::NotificationHandled { handler: _ }
        | HandlersFact::RemovalAsked { handler: _ }
        | HandlersFact::HandlerRemoved { handler: _ }
        | HandlersFact::HandlerSynced { handler: _ } => return None,
    })
}

fn work(fact: &WorkFact) -> String {
    match fact {
        WorkFact::WorkAdded { key, place } => format!(
            "{} {}",
            short_name(key),
            match place {
                WorkPlace::Queue => "queued",
                WorkPlace::Dirty => "dirty",
                WorkPlace::Duplicate => "there already",
            }
        ),
        WorkFact::WorkTaken { worker: _, key } | WorkFact::WorkForgotten { key } => {
            short_name(key).into()
        }
        WorkFact::WorkDone { key, again } => {
            if *again {
                format!("{} again", short_name(key))
            } else {
                short_name(key).into()
            }
        }
        WorkFact::WorkDelayed {
            key,
            ms,
            failures: _,
        } => format!("{} in {ms} ms", short_name(key)),
        WorkFact::Reconciled { worker: _, key, ok } => format!("{}: {ok}", short_name(key)),
        WorkFact::WorkShutDown { drain } => format!("drain = {drain}"),
    }
}

fn run(fact: &RunFact) -> String {
    match fact {
        RunFact::Called { delta_type, object } => format!(
            "{}({})",
            match delta_type {
                DeltaType::Added => "add",
                DeltaType::Updated => "update",
                DeltaType::Deleted => "delete",
                DeltaType::Replaced | DeltaType::ReplacedAll => "replace",
                DeltaType::Sync | DeltaType::SyncAll => "resync",
                DeltaType::Bookmark => "bookmark",
            },
            short_name(&object.key)
        ),
        RunFact::ModeSet { mode } => match mode {
            ProcessMode::Paced(ms) => format!("paced, {ms} ms"),
            mode => mode_text(*mode),
        },
        RunFact::PopAsked { asked } => format!("pop asked: {asked}"),
        RunFact::KnownObjectsSet { on } => format!("known objects {}", switch(*on)),
        RunFact::BesideRequested {
            informer: _,
            request,
        } => request.as_str().to_owned(),
        RunFact::BesideStored {
            informer: _,
            key,
            object: _,
        } => short_name(key).to_owned(),
    }
}

/// `3 objects, rv 4`
fn objects_at(count: usize, rv: &str) -> String {
    format!(
        "{}, rv {}",
        counted(count, "object", "objects"),
        version(rv)
    )
}

fn watch_event(event: EventType, object: &ObjectRef, ends_list: bool) -> String {
    let last = if ends_list {
        "initial-events-end"
    } else {
        short_name(&object.key)
    };
    format!("{} {last}", event.as_str())
}

fn moved(from: &str, to: &str) -> String {
    format!("{} → {}", version(from), version(to))
}

pub(super) fn named(object: &ObjectRef) -> String {
    let name = short_name(&object.key);
    if object.rv.is_empty() {
        name.to_owned()
    } else {
        format!("{name} rv {}", short_rv(&object.rv))
    }
}

fn version(rv: &str) -> String {
    if rv.is_empty() {
        "\"\"".into()
    } else {
        short_rv(rv)
    }
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

pub(super) fn deltas(n: usize) -> String {
    counted(n, "delta", "deltas")
}

#[cfg(test)]
mod tests {
    use deltascope_cache::fact::{Actor, Fact};
    use deltascope_cache::step::Step;

    use crate::pseudo::tests::{classic, records};
    use crate::pseudo::{VALUE, listing};

    #[test]
    fn every_fact_at_every_step_gives_a_listing_that_fits() {
        for fact in Fact::samples() {
            for step in Step::ALL {
                let recent = records(Actor::Reflector, vec![(step, fact.clone())]);
                let listing = listing(&recent, &classic());
                assert!(!listing.routine.is_empty());
                let current = listing.lines.iter().filter(|line| line.current).count();
                assert_eq!(current, 1, "{step:?}");
                for value in listing.lines.iter().filter_map(|line| line.value.as_ref()) {
                    assert!(
                        !value.is_empty() && value.chars().count() <= VALUE,
                        "{value}"
                    );
                }
            }
        }
    }
}
