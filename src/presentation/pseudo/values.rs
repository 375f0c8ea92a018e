//! What a fact says at its line.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Fact, HandlersFact, Known, Notification, ObjectRef, ProcessMode, QueueFact, ReflectorFact,
    Refusal, RunFact, ServerFact, StoreFact, WatchEnd, WorkFact, WorkPlace,
};

use crate::caption::{answer, short_name, short_rv};
use crate::strings;

/// What a fact says at its line, and at lines so far above or below it.
pub(super) fn values(fact: &Fact) -> Vec<(isize, String)> {
    let here = |value: String| vec![(0, value)];
    match fact {
        // ---- the API server
        Fact::Server(
            ServerFact::ObjectCreated { object, body: _ }
            | ServerFact::ObjectUpdated {
                object,
                body: _,
                old_rv: _,
            }
            | ServerFact::ObjectDeleted { object, old_rv: _ },
        ) => here(named(object)),
        Fact::Server(ServerFact::WriteRefused {
            verb: _,
            key: _,
            refusal,
        }) => here(
            match refusal {
                Refusal::AlreadyExists => "409 AlreadyExists",
                Refusal::NotFound => "404 NotFound",
                Refusal::Invalid(_) => "422 Invalid",
            }
            .into(),
        ),
        Fact::Server(ServerFact::RefusalsAsked { watch, kind, times }) => {
            let request = if *watch { "WATCH" } else { "LIST" };
            here(match times {
                0 => "taken back".to_owned(),
                _ => format!("{request} → {}", strings::refusal(*kind)),
            })
        }
        Fact::Server(ServerFact::HistoryCompacted { oldest }) => {
            here(format!("oldest {}", version(oldest)))
        }
        Fact::Server(ServerFact::ListAnswered { rv, count })
        | Fact::Reflector(ReflectorFact::ListReceived { rv, count }) => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::Server(ServerFact::ObjectsLearned { rv, objects }) => here(format!(
            "{}, rv {}",
            counted(objects.len(), "object", "objects"),
            version(rv)
        )),
        Fact::Server(ServerFact::RequestDeferred {
            code,
            after_ms,
            attempt: _,
        }) => here(format!("{code}, again in {after_ms} ms")),
        Fact::Server(
            ServerFact::ListRefused { code, reason } | ServerFact::WatchDenied { code, reason },
        ) => here(answer(*code, reason)),
        Fact::Server(ServerFact::WatchAccepted { rv }) => here(format!("open, rv {}", version(rv))),
        Fact::Server(ServerFact::WatchRefused { rv: _, oldest: _ }) => here("410 Gone".into()),
        Fact::Server(ServerFact::ConnectionRefused) => here("refused".into()),
        Fact::Server(ServerFact::EventSent {
            event,
            object,
            ends_list,
        })
        | Fact::Reflector(ReflectorFact::EventReceived {
            event,
            object,
            ends_list,
        }) => {
            let last = if *ends_list {
                "initial-events-end"
            } else {
                short_name(&object.key)
            };
            here(format!("{} {last}", event.as_str()))
        }
        Fact::Server(ServerFact::WatchClosed { end, lost: _ }) => here(match end {
            WatchEnd::Closed => "closed".into(),
            WatchEnd::Cut | WatchEnd::CutInLine(_) => "cut".into(),
            WatchEnd::Silent => "silent".into(),
            WatchEnd::Failed(code, reason) => answer(*code, reason),
            WatchEnd::TooMuch(most) => format!("> {most}"),
        }),

        // ---- the reflector
        Fact::Reflector(
            ReflectorFact::ListRequested { rv, .. } | ReflectorFact::WatchRequested { rv, .. },
        ) => here(format!("rv = {}", version(rv))),
        Fact::Reflector(ReflectorFact::InitialEventsEndMissed { ms, any: _ }) => {
            here(format!("late, {ms} ms"))
        }
        Fact::Reflector(ReflectorFact::PageReceived { count, total }) => {
            here(format!("{count}, {total} in all"))
        }
        Fact::Reflector(
            ReflectorFact::ListFailed { error, next: _ }
            | ReflectorFact::WatchFailed { error }
            | ReflectorFact::StreamFellBack { error }
            | ReflectorFact::ObjectRejected { error }
            | ReflectorFact::WatchErrorReported { error },
        )
        | Fact::Handlers(HandlersFact::HandlerPanicked { handler: _, error }) => {
            here(error.to_string())
        }
        Fact::Reflector(ReflectorFact::InitialEventKept { event, object }) => {
            here(format!("{} {}", event.as_str(), short_name(&object.key)))
        }
        Fact::Reflector(ReflectorFact::InitialEventsEnded { rv, count }) => here(format!(
            "{}, rv {}",
            counted(*count as usize, "object", "objects"),
            version(rv)
        )),
        Fact::Reflector(ReflectorFact::VersionUnavailable { on }) => here(on.to_string()),
        Fact::Reflector(ReflectorFact::ResyncDue { wanted }) => here(format!("wanted: {wanted}")),
        Fact::Reflector(ReflectorFact::LastSyncMoved { from, to })
        | Fact::Store(StoreFact::StoreVersionMoved { from, to }) => {
            here(format!("{} → {}", version(from), version(to)))
        }
        Fact::Reflector(ReflectorFact::WatchEnded { relist, .. }) => {
            here(if *relist { "list" } else { "watch" }.into())
        }
        Fact::Reflector(ReflectorFact::BackoffStarted { ms, reason: _ }) => {
            here(format!("{ms} ms"))
        }
        Fact::Reflector(ReflectorFact::ReflectorStopped { reason }) => here(reason.to_string()),

        // ---- a program, and the switches
        Fact::Run(RunFact::Called { delta_type, object }) => here(format!(
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
        )),
        Fact::Run(RunFact::ModeSet { mode }) => here(match mode {
            ProcessMode::Free => "free".into(),
            ProcessMode::Paced(ms) => format!("paced, {ms} ms"),
            ProcessMode::Held => "held".into(),
        }),
        Fact::Run(RunFact::PopAsked { asked }) => here(format!("pop asked: {asked}")),
        Fact::Run(RunFact::KnownObjectsSet { on }) => {
            here(format!("known objects {}", switch(*on)))
        }

        // ---- the lock
        Fact::Queue(QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. }) => Vec::new(),
        Fact::Queue(QueueFact::LockAwaited { .. }) => here("waits".into()),

        // ---- the queues
        Fact::Queue(QueueFact::KeyFailed { error: _ }) => here("KeyError".into()),
        Fact::Queue(QueueFact::TransformFailed { key: _, error: _ }) => here("error".into()),
        Fact::Queue(QueueFact::Transformed { from: _, to: _ }) => here("another object".into()),
        Fact::Queue(QueueFact::Populated { initial: 0 }) => here("populated".into()),
        Fact::Queue(QueueFact::Populated { initial }) => here(format!("populated, {initial} left")),
        Fact::Queue(QueueFact::DeleteChecked {
            key,
            known,
            pending,
        }) => {
            let dropped = !pending && matches!(known, None | Some(Known::No));
            vec![
                (-3, short_name(key).to_owned()),
                (
                    0,
                    match known {
                        None => "no known objects".into(),
                        Some(Known::No) => "false".into(),
                        Some(Known::Failed) => "error".into(),
                        Some(Known::Yes(rv)) if rv.is_empty() => "true".into(),
                        Some(Known::Yes(rv)) => format!("true (rv {})", short_rv(rv)),
                    },
                ),
                (1, pending.to_string()),
                (2, dropped.to_string()),
            ]
        }
        Fact::Queue(QueueFact::DeleteIgnored { key: _ }) => here("true: dropped".into()),
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type,
            object: _,
            depth,
        }) => here(format!("{delta_type}, {}", deltas(*depth as usize))),
        Fact::Queue(QueueFact::DeltasMerged {
            key: _,
            kept: _,
            kept_older,
        }) => here(if *kept_older {
            "the older stays".into()
        } else {
            "the newer stays".into()
        }),
        Fact::Queue(QueueFact::KeyEnqueued { key: _, length }) => {
            here(counted(*length as usize, "key queued", "keys queued"))
        }
        Fact::Queue(QueueFact::ResyncSkipped { key }) => {
            here(format!("{}: skipped", short_name(key)))
        }
        Fact::Queue(QueueFact::AlreadyPresent { key }) => {
            here(format!("{}: dropped", short_name(key)))
        }
        Fact::Queue(
            QueueFact::DeletionDetected { key }
            | QueueFact::FifoItemRemoved { key }
            | QueueFact::FifoKeySkipped { key }
            | QueueFact::Processed { key },
        )
        | Fact::Store(StoreFact::ItemRemoved { key, old: _ }) => here(short_name(key).to_owned()),
        Fact::Queue(QueueFact::FifoItemSet { object, .. }) => here(named(object)),
        Fact::Queue(QueueFact::FifoCleared) | Fact::Store(StoreFact::IndicesReset) => {
            here("emptied".into())
        }
        Fact::Queue(QueueFact::EntryAppended { entry: _, length }) => {
            here(counted(*length as usize, "entry", "entries"))
        }
        Fact::Queue(QueueFact::EntriesTaken {
            count,
            is_in_initial_list: _,
        }) => here(counted(*count as usize, "entry", "entries")),
        Fact::Queue(QueueFact::QueueEmpty) => here("waits".into()),
        Fact::Queue(QueueFact::KeyPopped {
            key,
            deltas: all,
            is_in_initial_list: _,
        }) => here(format!("{}, {}", short_name(key), deltas(all.len()))),
        Fact::Queue(QueueFact::Synced) => here("HasSynced".into()),
        Fact::Queue(QueueFact::ProcessFailed { error: _ }) => here("error".into()),
        Fact::Queue(QueueFact::Requeued { key, added }) => here(format!(
            "{}: {}",
            short_name(key),
            if *added { "put back" } else { "dropped" }
        )),
        Fact::Queue(QueueFact::ProcessWasSlow { key: _, depth, ms }) => {
            here(format!("{ms} ms, {depth} waited"))
        }
        Fact::Queue(QueueFact::QueueClosed) => here("closed".into()),

        // ---- processing and the store
        Fact::Queue(QueueFact::DeltaTaken {
            position: _,
            delta_type,
            object,
            exists,
        }) => {
            let mut values = here(format!("{delta_type} {}", short_name(&object.key)));
            if let Some(exists) = exists {
                values.push((1, format!("exists = {exists}")));
            }
            values
        }
        Fact::Store(StoreFact::ItemStored { object, old }) => here(match old {
            Some(old) => format!("rv {} → {}", version(&old.rv), version(&object.rv)),
            None => named(object),
        }),
        Fact::Store(StoreFact::StoreReplaced { items }) => {
            here(counted(items.len(), "object", "objects"))
        }
        Fact::Store(
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
            },
        ) => here(if value.is_empty() {
            format!("{index}: \"\"")
        } else {
            format!("{index}: {value}")
        }),
        Fact::Store(StoreFact::IndexFailed {
            index,
            key: _,
            error: _,
        }) => here(index.to_string()),
        Fact::Store(StoreFact::IndexersAdded { names }) => here(names.join(", ")),

        Fact::Queue(QueueFact::EntriesProcessed { count }) => {
            here(counted(*count as usize, "entry", "entries"))
        }
        Fact::Queue(QueueFact::ListOpened {
            rv: _,
            count,
            removed,
        }) => here(format!("{count}, {removed} missing")),
        Fact::Queue(QueueFact::ResyncOpened { count }) => {
            here(counted(*count as usize, "object", "objects"))
        }

        // ---- handlers
        Fact::Handlers(HandlersFact::NotificationSent {
            handler: _,
            notification,
        }) => here(function(notification).into()),
        Fact::Handlers(HandlersFact::NotificationWithheld { handler: _, key }) => {
            here(format!("not {}", short_name(key)))
        }
        Fact::Handlers(HandlersFact::HandlerAdded {
            handler: _,
            name: _,
            initial,
        }) => here(format!("{initial} first")),
        Fact::Handlers(HandlersFact::HandlerAsked { name, .. }) => here(name.to_string()),
        Fact::Handlers(
            HandlersFact::RemovalAsked { handler: _ }
            | HandlersFact::HandlerRemoved { handler: _ }
            | HandlersFact::HandlerSynced { handler: _ },
        ) => Vec::new(),
        Fact::Handlers(HandlersFact::SyncingSet {
            handler: _,
            syncing,
        }) => here(format!("syncing = {syncing}")),
        Fact::Handlers(HandlersFact::ResyncCheckSet { ms }) => here(format!("{ms} ms")),
        Fact::Handlers(
            HandlersFact::ObjectMutated { key, handler: _ }
            | HandlersFact::MutationDetected { key },
        )
        | Fact::Work(WorkFact::WorkTaken { worker: _, key } | WorkFact::WorkForgotten { key }) => {
            here(short_name(key).into())
        }
        Fact::Work(WorkFact::WorkAdded { key, place }) => here(format!(
            "{} {}",
            short_name(key),
            match place {
                WorkPlace::Queue => "queued",
                WorkPlace::Dirty => "dirty",
                WorkPlace::Duplicate => "there already",
            }
        )),
        Fact::Work(WorkFact::WorkDone { key, again }) => here(if *again {
            format!("{} again", short_name(key))
        } else {
            short_name(key).into()
        }),
        Fact::Work(WorkFact::WorkDelayed {
            key,
            ms,
            failures: _,
        }) => here(format!("{} in {ms} ms", short_name(key))),
        Fact::Work(WorkFact::Reconciled { worker: _, key, ok }) => {
            here(format!("{}: {ok}", short_name(key)))
        }
        Fact::Work(WorkFact::WorkShutDown { drain }) => here(format!("drain = {drain}")),
        Fact::Handlers(HandlersFact::NotificationQueued {
            handler: _,
            notification,
            pending,
        }) => here(format!("{}, {pending} waiting", function(notification))),
        Fact::Handlers(HandlersFact::NotificationTaken {
            handler: _,
            notification,
        }) => here(format!(
            "{}({})",
            function(notification),
            short_name(match notification {
                Notification::Add { object, .. } | Notification::Delete { object } => &object.key,
                Notification::Update { new, .. } => &new.key,
            })
        )),
        Fact::Run(RunFact::BesideRequested { informer: _, watch }) => here(if *watch {
            "WATCH".to_owned()
        } else {
            "LIST".to_owned()
        }),
        Fact::Run(RunFact::BesideStored {
            informer: _,
            key,
            object: _,
        }) => here(short_name(key).to_owned()),
        Fact::Handlers(HandlersFact::LinePrinted { handler: _, line }) => here(line.to_string()),
        Fact::Handlers(HandlersFact::NotificationHandled { handler: _ }) => Vec::new(),
    }
}

pub(super) fn function(notification: &Notification) -> &'static str {
    match notification {
        Notification::Add { .. } => "OnAdd",
        Notification::Update { .. } => "OnUpdate",
        Notification::Delete { .. } => "OnDelete",
    }
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

pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn deltas(n: usize) -> String {
    counted(n, "delta", "deltas")
}

#[cfg(test)]
mod tests {
    use deltascope_cache::fact::Actor;

    use crate::caption::samples;
    use crate::pseudo::routines::tests::STEPS;
    use crate::pseudo::tests::{classic, records};
    use crate::pseudo::{VALUE, listing};

    #[test]
    fn every_fact_at_every_step_gives_a_listing_that_fits() {
        for fact in samples() {
            for &step in STEPS {
                let recent = records(Actor::Reflector, vec![(step, fact.clone())]);
                let listing = listing(&recent, &classic());
                assert!(!listing.title.is_empty());
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
