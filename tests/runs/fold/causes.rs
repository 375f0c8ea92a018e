//! The valid causes of each fact.

use deltascope::cache::fact::{
    Actor, Cause, Entry, EventType, Fact, FactRecord, HandlersFact, Printer, QueueFact,
    ReflectorFact, RunFact, ServerFact, Shape, StoreFact, WorkFact,
};

pub(super) fn cause<'a>(record: &FactRecord, all: &'a [FactRecord]) -> Option<&'a FactRecord> {
    match record.cause {
        Cause::Fact(id) => all.get(id.0 as usize),
        _ => None,
    }
}

/// Whether the fact's cause is a valid one.
pub(super) fn is_caused(record: &FactRecord, all: &[FactRecord]) -> bool {
    let Some(by) = cause(record, all) else {
        let by_input = matches!(record.cause, Cause::Input(_) | Cause::Script(_));
        return match &record.fact {
            Fact::Server(
                ServerFact::ObjectCreated { .. }
                | ServerFact::ObjectUpdated { .. }
                | ServerFact::ObjectDeleted { .. }
                | ServerFact::WriteRefused { .. }
                | ServerFact::HistoryCompacted { .. }
                | ServerFact::RefusalsAsked { .. },
            )
            | Fact::Run(
                RunFact::Called { .. }
                | RunFact::ModeSet { .. }
                | RunFact::PopAsked { .. }
                | RunFact::KnownObjectsSet { .. },
            )
            | Fact::Handlers(
                HandlersFact::HandlerAsked { .. } | HandlersFact::RemovalAsked { .. },
            ) => by_input,
            Fact::Handlers(HandlersFact::LinePrinted { by, .. }) => {
                by_input == (*by == Printer::Program)
            }
            Fact::Server(ServerFact::WatchClosed { .. }) => true,
            Fact::Reflector(
                ReflectorFact::ListRequested { .. }
                | ReflectorFact::WatchRequested { .. }
                | ReflectorFact::InitialEventsEndMissed { .. }
                | ReflectorFact::ResyncDue { .. },
            )
            | Fact::Handlers(HandlersFact::SyncingSet { .. }) => !by_input,
            // Of a peer informer, whose own facts are not recorded.
            Fact::Run(RunFact::BesideRequested { .. } | RunFact::BesideStored { .. }) => !by_input,
            // Of a recording; a simulated server sends these events on a command.
            Fact::Server(ServerFact::EventSent { event, .. }) => {
                !by_input || matches!(event, EventType::Bookmark | EventType::Error)
            }
            _ => false,
        };
    };
    if by.id >= record.id {
        return false;
    }
    let next_pop = || {
        all[record.id.0 as usize..]
            .iter()
            .find_map(|later| match &later.fact {
                Fact::Queue(QueueFact::KeyPopped { key, .. }) => Some(Some(key)),
                Fact::Queue(QueueFact::EntriesTaken { .. }) => Some(None),
                _ => None,
            })
    };
    // Facts that the reflector, the process loop and other actors act on.
    let at_work = matches!(
        by.fact,
        Fact::Reflector(
            ReflectorFact::EventReceived { .. }
                | ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. }
        ) | Fact::Run(RunFact::Called { .. })
            | Fact::Reflector(ReflectorFact::ResyncDue { .. })
            | Fact::Queue(
                QueueFact::KeyPopped { .. }
                    | QueueFact::EntriesTaken { .. }
                    | QueueFact::DeltaTaken { .. }
                    | QueueFact::ListOpened { .. }
                    | QueueFact::ResyncOpened { .. }
            )
            | Fact::Handlers(
                HandlersFact::HandlerAsked { .. }
                    | HandlersFact::HandlerAdded { .. }
                    | HandlersFact::RemovalAsked { .. }
            )
    );
    // Facts that report a failed request.
    let refused = matches!(
        by.fact,
        Fact::Server(
            ServerFact::ListRefused { .. }
                | ServerFact::WatchRefused { .. }
                | ServerFact::WatchDenied { .. }
                | ServerFact::ConnectionRefused
        ) | Fact::Reflector(
            ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::WatchEnded { .. }
        )
    );
    match (&record.fact, &by.fact) {
        (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectCreated { object: of, .. }),
        )
        | (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectUpdated { object: of, .. }),
        )
        | (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectDeleted { object: of, .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::EventReceived { object, .. }),
            Fact::Server(ServerFact::EventSent { object: of, .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::InitialEventKept { object, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }),
        ) => object == of,
        (
            Fact::Server(ServerFact::EventSent { .. }),
            Fact::Server(ServerFact::WatchAccepted { .. }),
        ) => true,
        (
            Fact::Server(
                ServerFact::ListAnswered { .. }
                | ServerFact::ListRefused { .. }
                | ServerFact::ConnectionRefused,
            ),
            Fact::Reflector(ReflectorFact::ListRequested { .. }),
        )
        | (
            Fact::Server(
                ServerFact::WatchAccepted { .. }
                | ServerFact::WatchRefused { .. }
                | ServerFact::WatchDenied { .. }
                | ServerFact::ConnectionRefused,
            ),
            Fact::Reflector(ReflectorFact::WatchRequested { .. }),
        )
        | (
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::PageReceived { .. },
            ),
            Fact::Server(ServerFact::ListAnswered { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::ListRequested { .. }),
            Fact::Reflector(
                ReflectorFact::PageReceived { .. } | ReflectorFact::StreamFellBack { .. },
            ),
        )
        | (
            Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. },
            ),
            Fact::Reflector(ReflectorFact::BackoffStarted { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::ReflectorStopped { .. }),
            Fact::Server(ServerFact::ListRefused { .. })
            | Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. },
            ),
        )
        | (
            Fact::Reflector(ReflectorFact::WatchEnded { .. }),
            Fact::Server(ServerFact::WatchClosed { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: false }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            )
            | Fact::Server(ServerFact::ListAnswered { .. })
            | Fact::Reflector(ReflectorFact::EventReceived { .. }),
        )
        | (
            Fact::Reflector(
                ReflectorFact::InitialEventsEnded { .. } | ReflectorFact::ObjectRejected { .. },
            ),
            Fact::Reflector(ReflectorFact::EventReceived { .. }),
        ) => true,
        (
            Fact::Reflector(
                ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::WatchErrorReported { .. }
                | ReflectorFact::BackoffStarted { .. }
                | ReflectorFact::StreamFellBack { .. }
                | ReflectorFact::VersionUnavailable { on: true }
                | ReflectorFact::ReflectorStopped { .. }
                | ReflectorFact::ListRequested { .. }
                | ReflectorFact::WatchRequested { .. },
            ),
            _,
        ) if refused => true,
        // A list that the queue does not accept.
        (
            Fact::Reflector(
                ReflectorFact::WatchErrorReported { .. } | ReflectorFact::BackoffStarted { .. },
            ),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            ),
        ) => true,
        (
            Fact::Reflector(ReflectorFact::WatchRequested { .. }),
            Fact::Reflector(ReflectorFact::ListReceived { .. }),
        ) => true,
        (
            Fact::Reflector(ReflectorFact::WatchEnded { .. }),
            Fact::Reflector(ReflectorFact::EventReceived { event, .. }),
        ) => *event == EventType::Error,
        (
            Fact::Reflector(ReflectorFact::LastSyncMoved { .. }),
            Fact::Reflector(
                ReflectorFact::EventReceived { .. }
                | ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. },
            ),
        ) => true,
        (
            Fact::Queue(
                QueueFact::LockTaken { by: who, .. } | QueueFact::LockAwaited { by: who, .. },
            ),
            cause,
        ) => match (who, cause) {
            (Actor::ProcessLoop, Fact::Run(RunFact::PopAsked { .. })) => true,
            (Actor::ProcessLoop, Fact::Queue(QueueFact::DeltaAppended { object, .. })) => {
                next_pop().flatten().is_none_or(|key| *key == object.key)
            }
            (
                Actor::ProcessLoop,
                Fact::Queue(
                    QueueFact::EntryAppended { .. }
                    | QueueFact::FifoItemSet { .. }
                    | QueueFact::FifoItemRemoved { .. },
                ),
            ) => true,
            _ => at_work,
        },
        (
            Fact::Queue(QueueFact::DeltaAppended { object, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }),
        )
        | (
            Fact::Queue(
                QueueFact::DeltaAppended { object, .. } | QueueFact::FifoItemSet { object, .. },
            ),
            Fact::Run(RunFact::Called { object: of, .. }),
        ) => object == of,
        (
            Fact::Queue(QueueFact::FifoItemRemoved { key }),
            Fact::Run(RunFact::Called { object: of, .. }),
        ) => of.key == *key,
        (
            Fact::Queue(QueueFact::FifoKeySkipped { .. }),
            Fact::Queue(QueueFact::FifoItemRemoved { .. }),
        ) => true,
        // A Pop that finds no object releases the lock and waits.
        (
            Fact::Queue(QueueFact::LockReleased { .. }),
            Fact::Run(RunFact::PopAsked { .. })
            | Fact::Queue(QueueFact::FifoItemSet { .. } | QueueFact::FifoItemRemoved { .. }),
        ) => record.actor == Actor::ProcessLoop,
        // The key was popped or skipped at an earlier position.
        (
            Fact::Queue(QueueFact::FifoKeySkipped { .. }),
            Fact::Run(RunFact::PopAsked { .. })
            | Fact::Queue(QueueFact::FifoItemSet { .. } | QueueFact::KeyPopped { .. }),
        ) => true,
        (
            Fact::Queue(QueueFact::KeyPopped { deltas, .. }),
            Fact::Queue(QueueFact::FifoItemSet { object, .. }),
        ) => deltas[0].1 == *object,
        // The list lacks a known object: exactly the deletion of that object follows.
        (
            Fact::Queue(
                QueueFact::DeltaAppended { object, .. }
                | QueueFact::EntryAppended {
                    entry: Entry::Delta(_, object),
                    ..
                },
            ),
            Fact::Queue(QueueFact::DeletionDetected { key }),
        ) => object.key == *key && object.shape != Shape::Object,
        (
            Fact::Queue(QueueFact::DeltaAppended { .. } | QueueFact::EntryAppended { .. }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. }
                | ReflectorFact::ResyncDue { .. },
            ),
        ) => true,
        (
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. })
            | Fact::Run(RunFact::Called { object: of, .. }),
        ) => match entry {
            Entry::Delta(_, object) => object == of,
            Entry::Bookmark { rv } => *rv == of.rv,
            _ => false,
        },
        (
            Fact::Queue(QueueFact::KeyPopped { key, deltas, .. }),
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type, object, ..
            }),
        ) => object.key == *key && deltas[0] == (*delta_type, object.clone()),
        (
            Fact::Queue(QueueFact::EntriesTaken { .. }),
            Fact::Queue(QueueFact::EntryAppended { .. }),
        ) => true,
        (
            Fact::Queue(QueueFact::ListOpened { rv, .. }),
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
        ) => {
            matches!(entry, Entry::ReplacedAll { rv: of, .. } if rv == of)
        }
        (
            Fact::Queue(QueueFact::ResyncOpened { .. }),
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
        ) => *entry == Entry::SyncAll,
        (
            Fact::Queue(QueueFact::DeltaTaken {
                delta_type, object, ..
            }),
            Fact::Queue(
                QueueFact::DeltaAppended {
                    delta_type: t,
                    object: of,
                    ..
                }
                | QueueFact::EntryAppended {
                    entry: Entry::Delta(t, of),
                    ..
                },
            ),
        ) => (delta_type, object) == (t, of),
        // In a batch, too, each notification is caused by its own delta.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            )
            | Fact::Handlers(
                HandlersFact::NotificationSent { .. } | HandlersFact::NotificationWithheld { .. },
            ),
            Fact::Queue(QueueFact::DeltaTaken { object, .. }),
        ) => record.fact.key() == Some(&object.key),
        // Nothing takes a delta from a FIFO's object.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            )
            | Fact::Handlers(
                HandlersFact::NotificationTaken { .. }
                | HandlersFact::NotificationSent { .. }
                | HandlersFact::NotificationWithheld { .. },
            )
            | Fact::Queue(QueueFact::Processed { .. }),
            Fact::Queue(QueueFact::KeyPopped { key, .. }),
        ) => record.fact.key() == Some(key),
        (
            Fact::Handlers(HandlersFact::NotificationSent { .. }),
            Fact::Handlers(HandlersFact::HandlerAdded { .. }),
        ) => record.actor == Actor::Main,
        (
            Fact::Handlers(HandlersFact::NotificationSent { .. }),
            Fact::Queue(QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. }),
        )
        | (
            Fact::Handlers(HandlersFact::NotificationWithheld { .. }),
            Fact::Queue(QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. }),
        )
        | (
            Fact::Store(
                StoreFact::StoreReplaced { .. }
                | StoreFact::IndicesReset
                | StoreFact::IndexEntryAdded { .. },
            ),
            Fact::Queue(QueueFact::ListOpened { .. }),
        )
        | (
            Fact::Queue(QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. }),
            Fact::Queue(QueueFact::DeltaTaken { .. }),
        )
        | (
            Fact::Queue(QueueFact::EntriesProcessed { .. }),
            Fact::Queue(
                QueueFact::ListOpened { .. }
                | QueueFact::ResyncOpened { .. }
                | QueueFact::EntriesTaken { .. },
            ),
        )
        | (
            Fact::Store(StoreFact::StoreVersionMoved { .. }),
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                | QueueFact::ListOpened { .. }
                | QueueFact::EntriesTaken { .. },
            ),
        ) => true,
        (
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler,
                notification,
                ..
            }),
            Fact::Handlers(HandlersFact::NotificationSent {
                handler: h,
                notification: n,
            }),
        )
        | (
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }),
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler: h,
                notification: n,
                ..
            }),
        ) => (handler, notification) == (h, n),
        // A program without a queue.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            ),
            Fact::Run(RunFact::Called { .. }),
        ) => record.actor == Actor::Program,
        (
            Fact::Handlers(HandlersFact::LinePrinted { by, .. }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::EventReceived { .. },
            )
            | Fact::Queue(QueueFact::Synced),
        ) => *by == Printer::Program,
        // A handler inside `process`.
        (
            Fact::Handlers(HandlersFact::NotificationTaken { .. }),
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                | QueueFact::ListOpened { .. }
                | QueueFact::ResyncOpened { .. },
            ),
        ) => record.actor == Actor::ProcessLoop,
        (
            Fact::Handlers(
                HandlersFact::LinePrinted {
                    by: Printer::Handler(handler),
                    ..
                }
                | HandlersFact::NotificationHandled { handler }
                | HandlersFact::HandlerPanicked { handler, .. }
                | HandlersFact::HandlerSynced { handler }
                | HandlersFact::ObjectMutated { handler, .. },
            ),
            Fact::Handlers(HandlersFact::NotificationTaken { handler: h, .. }),
        ) => handler == h,
        (
            Fact::Work(WorkFact::WorkAdded { key, .. }),
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }),
        ) => notification.object().key == *key,
        (
            Fact::Work(WorkFact::WorkAdded { key, .. }),
            Fact::Work(WorkFact::WorkDelayed { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkTaken { key, .. }),
            Fact::Work(WorkFact::WorkAdded { key: of, .. } | WorkFact::WorkDelayed { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::Reconciled { key, .. }),
            Fact::Work(WorkFact::WorkTaken { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkDelayed { key, .. }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkForgotten { key }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkDone { key, .. }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        ) => key == of,
        (
            Fact::Handlers(HandlersFact::MutationDetected { .. }),
            Fact::Handlers(HandlersFact::ObjectMutated { .. }),
        ) => true,
        (
            Fact::Handlers(HandlersFact::HandlerAdded { .. }),
            Fact::Handlers(HandlersFact::HandlerAsked { .. }),
        )
        | (
            Fact::Handlers(HandlersFact::HandlerRemoved { .. }),
            Fact::Handlers(HandlersFact::RemovalAsked { .. }),
        ) => true,
        // Other facts of an actor have the cause that the actor is acting on.
        (
            Fact::Queue(
                QueueFact::LockReleased { .. } | QueueFact::Populated { .. } | QueueFact::Synced,
            )
            | Fact::Handlers(HandlersFact::HandlerSynced { .. })
            | Fact::Queue(
                QueueFact::DeleteChecked { .. }
                | QueueFact::DeleteIgnored { .. }
                | QueueFact::DeltasMerged { .. }
                | QueueFact::KeyEnqueued { .. }
                | QueueFact::KeyFailed { .. }
                | QueueFact::DeletionDetected { .. }
                | QueueFact::ResyncSkipped { .. }
                | QueueFact::Transformed { .. }
                | QueueFact::TransformFailed { .. }
                | QueueFact::ProcessFailed { .. }
                | QueueFact::Requeued { .. }
                | QueueFact::ProcessWasSlow { .. },
            ),
            _,
        ) => at_work,
        _ => false,
    }
}
