//! The place of a fact in the pseudo-code: a routine, and one of its lines.

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, Fact, FactRecord, QueueFact};
use deltascope_cache::step::Step;
use deltascope_replay::picture::{Picture, QueueKind};

use super::routines::{Id, place};

/// The process function of a program that uses its own one instead of processDeltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProcess {
    /// It writes to a store according to the type of the delta.
    Stores,
    /// It has no store.
    Prints,
    /// It receives an object, not deltas.
    Object,
}

impl OwnProcess {
    /// The last delta that was taken decides: processDeltas always asks whether the object exists.
    fn of(recent: &[FactRecord], picture: &Picture) -> Option<Self> {
        if picture.queue.kind == QueueKind::Fifo {
            return Some(Self::Object);
        }
        let asked = recent.iter().rev().find_map(|record| {
            if let Fact::Queue(QueueFact::DeltaTaken { exists, .. }) = record.fact {
                Some(exists.is_some())
            } else {
                None
            }
        })?;
        match (asked, picture.store.present) {
            (true, _) => None,
            (false, true) => Some(Self::Stores),
            (false, false) => Some(Self::Prints),
        }
    }
}

/// The write that sets the store's version. The order is that of the statements in `pins`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Update,
    Replace,
    Delete,
    Bookmark,
}

/// What determines the place of a fact in addition to its step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    own: Option<OwnProcess>,
    /// Whether the queue is a RealFIFO. It shares the steps of its lock with all queues.
    real: bool,
    /// Whether the queue is a FIFO.
    fifo: bool,
    /// Whether Pop takes batches.
    batches: bool,
    /// The write that set the store's version: a bookmark if there was no other since the last Pop.
    pub(super) version: Version,
    /// The step at which the running process function notifies a handler that has no buffer.
    notify: Step,
}

impl Context {
    pub(super) fn of(recent: &[FactRecord], picture: &Picture) -> Self {
        let real = picture.queue.kind == QueueKind::RealFifo;
        let notify = recent.iter().rev().find_map(|record| match record.step {
            Step::ProcessDelta => Some(Step::ProcessNotify),
            Step::ProcessBatch => Some(Step::ProcessBatchNotify),
            Step::ProcessReplacedAll => Some(Step::ProcessReplacedNotify),
            Step::ProcessSyncAll => Some(Step::ProcessSyncNotify),
            _ => None,
        });
        let version = recent.iter().rev().find_map(|record| match record.step {
            Step::StoreWrite => Some(Version::Update),
            Step::StoreReplace => Some(Version::Replace),
            Step::StoreDelete => Some(Version::Delete),
            Step::RealPopBatch => Some(Version::Bookmark),
            _ => None,
        });
        Self {
            own: OwnProcess::of(recent, picture),
            version: version.unwrap_or(Version::Update),
            real,
            fifo: picture.queue.kind == QueueKind::Fifo,
            batches: real && generation(picture) >= 2,
            notify: notify.unwrap_or(Step::ProcessNotify),
        }
    }

    /// The step at which a fact is shown. The process function itself calls a handler without a buffer,
    /// so these facts are not shown at a listener's step.
    pub(super) fn step_of(self, record: &FactRecord) -> Step {
        match (record.step, record.actor) {
            (
                Step::ProcessNotify
                | Step::ListenerTake
                | Step::ListenerHandle
                | Step::ListenerDone,
                Actor::ProcessLoop,
            ) => self.notify,
            (Step::ListenerSend, Actor::Main) => Step::HandlerInitial,
            (step, _) => step,
        }
    }
}

/// The index of the picture's generation in the tags of `pins`.
pub(super) fn generation(picture: &Picture) -> usize {
    match picture.generation {
        Generation::Classic => 0,
        Generation::InOrder => 1,
        Generation::Batched => 2,
        Generation::Atomic => 3,
    }
}

/// The routine and the line of a fact.
pub(super) fn place_of(record: &FactRecord, context: Context) -> Option<(Id, usize)> {
    let step = context.step_of(record);
    if context.real
        && let Some(place) = place_in_real_fifo(step, context.batches)
    {
        return Some(place);
    }
    if context.fifo
        && let Some(line) = place_in_fifo_pop(step)
    {
        return Some((Id::FifoPop, line));
    }
    match (step, context.version) {
        (Step::StoreVersion, Version::Bookmark) => return Some((Id::StoreBookmark, 1)),
        (Step::StoreVersion, Version::Replace) => return Some((Id::StoreReplace, 2)),
        _ => {}
    }
    let (id, line) = place(step)?;
    Some(match (id, context.own) {
        (Id::ProcessDeltas, Some(OwnProcess::Stores)) => (Id::OwnProcess, line),
        // The same lines, without the one of the store.
        (Id::ProcessDeltas, Some(OwnProcess::Prints)) => {
            (Id::OwnPrint, if line > 2 { line - 1 } else { line })
        }
        (Id::ProcessDeltas, Some(OwnProcess::Object)) => (Id::OwnObject, line.saturating_sub(2)),
        // `DeleteKey` is also the step of `populated = true`, after the lock.
        (Id::Delete, _) if is_populating(&record.fact) => (Id::Delete, 3),
        _ => (id, line),
    })
}

/// Whether the fact states that the queue is populated or synced.
pub(super) fn is_populating(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Queue(QueueFact::Populated { .. } | QueueFact::Synced)
    )
}

/// RealFIFO's place of a step that all queues share, if it differs from DeltaFIFO's.
fn place_in_real_fifo(step: Step, batches: bool) -> Option<(Id, usize)> {
    Some(match step {
        Step::AddLock | Step::DeleteLock => (Id::RealWrite, 1),
        Step::AddUnlock | Step::DeleteUnlock => (Id::RealWrite, 6),
        Step::ReplaceLock => (Id::RealReplace, 1),
        Step::ReplaceUnlock => (Id::RealReplace, 8),
        Step::ResyncLock => (Id::RealResync, 1),
        Step::ResyncUnlock => (Id::RealResync, 5),
        Step::PopLock if batches => (Id::RealPopBatch, 1),
        Step::PopWait if batches => (Id::RealPopBatch, 2),
        Step::PopTake if batches => (Id::RealPopBatch, 3),
        Step::PopProcess if batches => (Id::RealPopBatch, 5),
        Step::PopCountDown if batches => (Id::RealPopBatch, 7),
        Step::PopSlow if batches => (Id::RealPopBatch, 8),
        Step::PopUnlock if batches => (Id::RealPopBatch, 9),
        _ => return None,
    })
}

/// The line in FIFO's Pop for a step that all queues share.
fn place_in_fifo_pop(step: Step) -> Option<usize> {
    Some(match step {
        Step::PopLock => 1,
        Step::PopWait => 2,
        Step::PopCountDown => 4,
        Step::PopUnlock => 7,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_several_queues_has_the_matching_line_in_each() {
        use Step::{
            AddLock, AddUnlock, DeleteLock, DeleteUnlock, PopCountDown, PopLock, PopProcess,
            PopSlow, PopTake, PopUnlock, PopWait, ReplaceLock, ReplaceUnlock, ResyncLock,
            ResyncUnlock,
        };
        let said = |id: Id, line: usize| id.routine().lines[line].text.trim();
        for (step, batches, routine, text) in [
            (AddLock, false, Id::RealWrite, "lock"),
            (DeleteLock, false, Id::RealWrite, "lock"),
            (AddUnlock, false, Id::RealWrite, "unlock"),
            (DeleteUnlock, false, Id::RealWrite, "unlock"),
            (ReplaceLock, false, Id::RealReplace, "lock"),
            (ReplaceUnlock, false, Id::RealReplace, "unlock"),
            (ResyncLock, false, Id::RealResync, "lock"),
            (ResyncUnlock, false, Id::RealResync, "unlock"),
            (PopLock, true, Id::RealPopBatch, "lock"),
            (
                PopWait,
                true,
                Id::RealPopBatch,
                "while items is empty: wait",
            ),
            (
                PopTake,
                true,
                Id::RealPopBatch,
                "batch = the front, each key once",
            ),
            (
                PopProcess,
                true,
                Id::RealPopBatch,
                "process(batch, is_in_initial_list)",
            ),
            (
                PopCountDown,
                true,
                Id::RealPopBatch,
                "left -= len(batch)  # up to 0.35: before",
            ),
            (
                PopSlow,
                true,
                Id::RealPopBatch,
                "if slow and depth > 10: log it",
            ),
            (PopUnlock, true, Id::RealPopBatch, "unlock"),
        ] {
            let (id, line) = place_in_real_fifo(step, batches).unwrap();
            assert_eq!((id, said(id, line)), (routine, text), "{step:?}");
        }
        for (step, text) in [
            (PopLock, "lock"),
            (PopWait, "while queue is empty: wait"),
            (PopCountDown, "if left > 0: left = left - 1"),
            (PopUnlock, "unlock"),
        ] {
            let line = place_in_fifo_pop(step).unwrap();
            assert_eq!(said(Id::FifoPop, line), text, "{step:?}");
        }
        // All other steps have the same place for every queue.
        let elsewhere = Step::ALL.into_iter().filter(|step| {
            place_in_real_fifo(*step, true).is_some() || place_in_fifo_pop(*step).is_some()
        });
        assert_eq!(elsewhere.count(), 15);
    }
}
