//! Every step has a line, and every line fits.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use super::Id;
use crate::pseudo::LINE;
use deltascope_cache::step::Step;

/// Declares all steps. A missing step does not compile.
macro_rules! steps {
    ($($step:ident),* $(,)?) => {
        pub(in crate::pseudo) const STEPS: &[Step] = &[$(Step::$step),*];

        fn is_listed(step: Step) -> bool {
            match step {
                $(Step::$step => true),*
            }
        }
    };
}

steps!(
    ServerCheck,
    ServerWrite,
    ServerCompact,
    ServerSend,
    ServerList,
    ServerWatch,
    ServerClose,
    ReflectorFallBack,
    ReflectorWatchError,
    ReflectorBackoff,
    ReflectorStop,
    ReflectorList,
    ReflectorPage,
    ReflectorListFailed,
    ReflectorUnavailable,
    ReflectorListVersion,
    ReflectorStream,
    ReflectorStreamReceive,
    ReflectorKeep,
    ReflectorStreamEnd,
    ReflectorStreamAgain,
    ReflectorStreamUsed,
    ReflectorStreamVersion,
    ReflectorWatch,
    ReflectorRetry,
    ReflectorReceive,
    ReflectorReject,
    ReflectorSetVersion,
    ReflectorEnd,
    ResyncTimer,
    ResyncCheck,
    ProgramCall,
    SettingChanged,
    FifoLock,
    FifoAdd,
    FifoEnqueue,
    FifoDelete,
    FifoReplace,
    FifoUnlock,
    FifoPopTake,
    FifoPopSkip,
    FifoPopProcess,
    AddLock,
    AddKey,
    AddUnlock,
    QueueActionKey,
    QueueActionTransform,
    QueueActionAppend,
    QueueActionDedup,
    QueueActionEnqueue,
    DeleteLock,
    DeleteKey,
    DeleteCheck,
    DeleteIgnore,
    DeleteUnlock,
    ReplaceLock,
    ReplaceItem,
    ReplaceMissing,
    ReplacePopulation,
    ReplaceUnlock,
    ResyncLock,
    ResyncKey,
    ResyncUnlock,
    AddIfNotPresent,
    HasSyncedLock,
    HasSyncedUnlock,
    PopLock,
    PopWait,
    PopTake,
    PopCountDown,
    PopRelease,
    PopProcess,
    PopRetake,
    PopSlow,
    PopRequeue,
    PopUnlock,
    QueueClose,
    RealAdd,
    RealDelete,
    RealReplaceDeletes,
    RealReplaceItems,
    RealReplaceAll,
    RealPopulation,
    RealResync,
    RealSyncAll,
    RealBookmark,
    RealPopBatch,
    BlockDeltasLock,
    BlockDeltasUnlock,
    ProcessDelta,
    ProcessNotify,
    ProcessBatch,
    ProcessBatchNotify,
    ProcessReplacedAll,
    ProcessReplacedNotify,
    ProcessSyncAll,
    ProcessSyncNotify,
    StoreWrite,
    StoreDelete,
    StoreReplace,
    StoreVersion,
    IndexRemove,
    IndexAdd,
    IndexFail,
    AddIndexers,
    HandlerPeriod,
    HandlerLock,
    HandlerAdd,
    HandlerInitial,
    HandlerUnlock,
    RemoveLock,
    HandlerRemove,
    RemoveUnlock,
    Withhold,
    ListenerSend,
    ListenerPop,
    ListenerTake,
    ListenerHandle,
    ListenerDone,
    HandlerSync,
    HandlerPanic,
    MutationCheck,
    WorkAdd,
    WorkDelay,
    WorkRateLimit,
    WorkGet,
    WorkDone,
    WorkForget,
    WorkShutDown,
    Reconcile,
);

#[test]
fn every_step_is_one_line_of_one_routine() {
    for &step in STEPS {
        assert!(is_listed(step));
        let places: Vec<_> = Id::ALL
            .into_iter()
            .flat_map(|id| id.routine().lines.iter().map(move |line| (id, line)))
            .flat_map(|(id, line)| line.steps.iter().map(move |step| (id, line.text, *step)))
            .filter(|(_, _, at)| *at == step)
            .collect();
        assert_eq!(places.len(), 1, "{step:?}: {places:?}");
    }
}

#[test]
fn every_line_fits_and_begins_with_a_header() {
    for id in Id::ALL {
        let lines = id.routine().lines;
        assert!(lines.len() <= 10, "{id:?}");
        assert!(!lines[0].text.starts_with(' ') && lines[0].steps.is_empty());
        for line in lines {
            assert!(line.text.chars().count() <= LINE, "{id:?}: {:?}", line.text);
        }
        if let Some((first, last)) = id.routine().unordered {
            assert!(first < last && last < lines.len(), "{id:?}");
        }
    }
}
