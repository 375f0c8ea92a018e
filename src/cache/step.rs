//! The steps of the algorithms, as the pseudo-code on the page has them.
//!
//! Each fact names the step that made it, so that the picture, the words and the pseudo-code cannot
//! tell three different stories. The text of the pseudo-code is in `ui/pseudo.rs`.

/// One line of one routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    missing_docs,
    reason = "the names are the documentation; the words are in ui/pseudo.rs"
)]
pub enum Step {
    // API server: write
    ServerCheck,
    ServerWrite,
    ServerCompact,
    ServerSend,
    // API server: list and watch
    ServerList,
    ServerWatch,
    ServerClose,

    // Reflector.ListAndWatch
    ReflectorList,
    ReflectorReplace,
    ReflectorWatch,
    ReflectorReceive,
    ReflectorDispatch,
    ReflectorSetVersion,
    ReflectorEnd,
    ReflectorBackoff,
    ReflectorStop,
    // Reflector.watchList
    StreamWatch,
    StreamKeep,
    StreamEnd,
    StreamFallBack,
    // Reflector.Run and startResync
    ReflectorReport,
    ReflectorResync,

    // A program that calls the queue itself
    ProgramCall,
    // The switches of the run
    SettingChanged,

    // FIFO
    FifoLock,
    FifoAdd,
    FifoEnqueue,
    FifoDelete,
    FifoReplace,
    FifoUnlock,
    FifoPopTake,
    FifoPopSkip,
    FifoPopProcess,

    // DeltaFIFO.Add, Update
    AddLock,
    AddKey,
    AddUnlock,
    // DeltaFIFO.queueActionLocked
    QueueActionKey,
    QueueActionTransform,
    QueueActionAppend,
    QueueActionDedup,
    QueueActionEnqueue,
    // DeltaFIFO.Delete
    DeleteLock,
    DeleteKey,
    DeleteCheck,
    DeleteIgnore,
    DeleteUnlock,
    // DeltaFIFO.Replace
    ReplaceLock,
    ReplaceItem,
    ReplaceMissing,
    ReplacePopulation,
    ReplaceUnlock,
    // DeltaFIFO.Resync
    ResyncLock,
    ResyncKey,
    ResyncUnlock,
    // DeltaFIFO.AddIfNotPresent
    AddIfNotPresent,
    // Pop, of every queue
    PopLock,
    PopWait,
    PopTake,
    PopCountDown,
    PopProcess,
    PopSlow,
    PopRequeue,
    PopUnlock,
    // Close, of every queue
    QueueClose,

    // RealFIFO
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

    // processDeltas
    ProcessDelta,
    ProcessStore,
    ProcessNotify,

    // threadSafeMap
    StoreWrite,
    StoreDelete,
    StoreReplace,
    StoreVersion,
    IndexRemove,
    IndexAdd,
    IndexFail,
    AddIndexers,

    // processorListener
    ListenerAdd,
    ListenerTake,
    ListenerHandle,
    ListenerDone,

    // workqueue
    WorkAdd,
    WorkDelay,
    WorkGet,
    WorkDone,
    WorkForget,
    WorkShutDown,
}
