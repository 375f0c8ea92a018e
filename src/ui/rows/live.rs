//! Which room acts now.

use crate::cache::fact::{Actor, Fact, FactRecord};
use crate::cache::step::Step;

/// A room of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Room {
    /// The API server, or what stands in for it.
    Api,
    /// The reflector.
    Reflector,
    /// The queue.
    Queue,
    /// Pop and process.
    Pop,
    /// The store and its indices.
    Indexer,
    /// The pseudo-code and the lanes.
    Now,
    /// The handlers.
    Processor,
}

impl Room {
    /// All of them, in the order of the data's path.
    pub const ALL: [Self; 7] = [
        Self::Api,
        Self::Reflector,
        Self::Queue,
        Self::Pop,
        Self::Indexer,
        Self::Now,
        Self::Processor,
    ];

    /// The name that anchors, test ids and classes use.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Reflector => "reflector",
            Self::Queue => "queue",
            Self::Pop => "pop",
            Self::Indexer => "indexer",
            Self::Now => "now",
            Self::Processor => "processor",
        }
    }
}

/// The room in which a fact happened.
#[must_use]
pub fn room(record: &FactRecord) -> Room {
    match &record.fact {
        Fact::ObjectCreated { .. }
        | Fact::ObjectUpdated { .. }
        | Fact::ObjectDeleted { .. }
        | Fact::WriteRefused { .. }
        | Fact::HistoryCompacted { .. }
        | Fact::RefusalsAsked { .. }
        | Fact::ListAnswered { .. }
        | Fact::ObjectsLearned { .. }
        | Fact::RequestDeferred { .. }
        | Fact::ListRefused { .. }
        | Fact::WatchAccepted { .. }
        | Fact::WatchRefused { .. }
        | Fact::ConnectionRefused
        | Fact::WatchDenied { .. }
        | Fact::EventSent { .. }
        | Fact::WatchClosed { .. }
        | Fact::Called { .. } => Room::Api,

        // A program without a reflector.
        Fact::ListRequested { .. }
        | Fact::ListFailed { .. }
        | Fact::WatchFailed { .. }
        | Fact::ListReceived { .. }
        | Fact::WatchRequested { .. }
        | Fact::EventReceived { .. }
        | Fact::WatchEnded { .. }
            if record.actor == Actor::Program =>
        {
            Room::Api
        }

        Fact::ListRequested { .. }
        | Fact::PageReceived { .. }
        | Fact::ListFailed { .. }
        | Fact::WatchFailed { .. }
        | Fact::InitialEventKept { .. }
        | Fact::InitialEventsEnded { .. }
        | Fact::InitialEventsEndMissed { .. }
        | Fact::StreamFellBack { .. }
        | Fact::ObjectRejected { .. }
        | Fact::VersionUnavailable { .. }
        | Fact::WatchErrorReported { .. }
        | Fact::ResyncDue { .. }
        | Fact::ListReceived { .. }
        | Fact::WatchRequested { .. }
        | Fact::EventReceived { .. }
        | Fact::LastSyncMoved { .. }
        | Fact::WatchEnded { .. }
        | Fact::BackoffStarted { .. }
        | Fact::ReflectorStopped { .. } => Room::Reflector,

        Fact::LockTaken { by, .. }
        | Fact::LockAwaited { by, .. }
        | Fact::LockReleased { by, .. } => match by {
            Actor::ProcessLoop => Room::Pop,
            // It has to do with handlers only.
            Actor::Main => Room::Processor,
            _ => Room::Queue,
        },

        Fact::TransformFailed { .. } | Fact::Transformed { .. }
            if record.step == Step::ReflectorKeep =>
        {
            Room::Reflector
        }

        Fact::KeyFailed { .. }
        | Fact::TransformFailed { .. }
        | Fact::Transformed { .. }
        | Fact::Populated { .. }
        | Fact::DeleteChecked { .. }
        | Fact::DeleteIgnored { .. }
        | Fact::DeltaAppended { .. }
        | Fact::DeltasMerged { .. }
        | Fact::KeyEnqueued { .. }
        | Fact::DeletionDetected { .. }
        | Fact::ResyncSkipped { .. }
        | Fact::AlreadyPresent { .. }
        | Fact::FifoItemSet { .. }
        | Fact::FifoItemRemoved { .. }
        | Fact::FifoCleared
        | Fact::EntryAppended { .. }
        | Fact::Synced
        | Fact::Requeued { .. }
        | Fact::KnownObjectsSet { .. }
        | Fact::QueueClosed => Room::Queue,

        Fact::FifoKeySkipped { .. }
        | Fact::EntriesTaken { .. }
        | Fact::QueueEmpty
        | Fact::KeyPopped { .. }
        | Fact::ProcessFailed { .. }
        | Fact::ProcessWasSlow { .. }
        | Fact::DeltaTaken { .. }
        | Fact::Processed { .. }
        | Fact::EntriesProcessed { .. }
        | Fact::ModeSet { .. }
        | Fact::PopAsked { .. } => Room::Pop,

        Fact::ItemStored { .. }
        | Fact::ListOpened { .. }
        | Fact::ResyncOpened { .. }
        | Fact::ObjectMutated { .. }
        | Fact::MutationDetected { .. }
        | Fact::ItemRemoved { .. }
        | Fact::StoreReplaced { .. }
        | Fact::IndexEntryRemoved { .. }
        | Fact::IndexEntryAdded { .. }
        | Fact::IndexFailed { .. }
        | Fact::IndexersAdded { .. }
        | Fact::IndicesReset
        | Fact::StoreVersionMoved { .. }
        // Their card stands there.
        | Fact::BesideRequested { .. }
        | Fact::BesideStored { .. } => Room::Indexer,

        Fact::NotificationQueued { .. }
        | Fact::NotificationSent { .. }
        | Fact::NotificationWithheld { .. }
        | Fact::HandlerPanicked { .. }
        | Fact::HandlerAdded { .. }
        | Fact::HandlerAsked { .. }
        | Fact::RemovalAsked { .. }
        | Fact::HandlerRemoved { .. }
        | Fact::HandlerSynced { .. }
        | Fact::SyncingSet { .. }
        | Fact::ResyncCheckSet { .. }
        | Fact::WorkAdded { .. }
        | Fact::WorkTaken { .. }
        | Fact::WorkDone { .. }
        | Fact::WorkDelayed { .. }
        | Fact::WorkForgotten { .. }
        | Fact::Reconciled { .. }
        | Fact::WorkShutDown { .. }
        | Fact::NotificationTaken { .. }
        | Fact::LinePrinted { .. }
        | Fact::NotificationHandled { .. } => Room::Processor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::fact::{Cause, FactId, LockName};

    fn at(actor: Actor, fact: Fact) -> Room {
        room(&FactRecord {
            id: FactId(0),
            time: 0,
            actor,
            cause: Cause::Start,
            step: Step::PopLock,
            fact,
        })
    }

    #[test]
    fn a_lock_belongs_to_the_room_of_who_takes_it() {
        let by = Actor::ProcessLoop;
        assert_eq!(
            at(
                by,
                Fact::LockTaken {
                    lock: LockName::Queue,
                    by
                }
            ),
            Room::Pop
        );
        let by = Actor::Reflector;
        assert_eq!(
            at(
                by,
                Fact::LockTaken {
                    lock: LockName::Queue,
                    by
                }
            ),
            Room::Queue
        );
    }
}
