//! The steps of the algorithms: a line of pseudo-code each.
//!
//! Each fact names the step that stated it, so that whatever shows facts can show the line beside them.

macro_rules! steps {
    ($($step:ident,)*) => {
        /// One line of one routine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the names are the documentation")]
        pub enum Step {
            $($step,)*
        }

        impl Step {
            /// All steps, by routine.
            pub const ALL: [Self; [$(stringify!($step)),*].len()] = [$(Self::$step),*];
        }
    };
}

steps! {
    // API server: write
    ServerCheck,
    ServerWrite,
    ServerCompact,
    ServerSend,
    // API server: list and watch
    ServerList,
    ServerWatch,
    ServerClose,

    // Reflector.ListAndWatch, and the loop around it
    ReflectorFallBack,
    ReflectorWatchError,
    ReflectorBackoff,
    ReflectorStop,
    // Reflector.list
    ReflectorList,
    ReflectorPage,
    ReflectorListFailed,
    ReflectorUnavailable,
    ReflectorListVersion,
    // Reflector.watchList
    ReflectorStream,
    ReflectorStreamReceive,
    ReflectorKeep,
    ReflectorStreamEnd,
    ReflectorStreamAgain,
    ReflectorStreamUsed,
    ReflectorStreamVersion,
    // Reflector.watch
    ReflectorWatch,
    ReflectorRetry,
    ReflectorReceive,
    ReflectorReject,
    ReflectorSetVersion,
    ReflectorEnd,
    // Reflector.startResync, sharedProcessor.shouldResync
    ResyncTimer,
    ResyncCheck,

    // A program that calls the queue directly
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
    // HasSynced, of every queue
    HasSyncedLock,
    HasSyncedUnlock,
    // Pop, of every queue
    PopLock,
    PopWait,
    PopTake,
    PopCountDown,
    // The queue's lock is released while processing, then acquired again
    PopRelease,
    PopProcess,
    PopRetake,
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

    // sharedIndexInformer.HandleDeltas
    BlockDeltasLock,
    BlockDeltasUnlock,
    // processDeltas
    ProcessDelta,
    ProcessNotify,
    // processDeltasInBatch
    ProcessBatch,
    ProcessBatchNotify,
    // processReplacedAllInfo
    ProcessReplacedAll,
    ProcessReplacedNotify,
    // processDeltas: SyncAll, Bookmark
    ProcessSyncAll,
    ProcessSyncNotify,

    // threadSafeMap
    StoreWrite,
    StoreDelete,
    StoreReplace,
    StoreVersion,
    IndexRemove,
    IndexAdd,
    IndexFail,
    AddIndexers,

    // sharedIndexInformer.AddEventHandler, RemoveEventHandler
    HandlerPeriod,
    HandlerLock,
    HandlerAdd,
    HandlerInitial,
    HandlerUnlock,
    RemoveLock,
    HandlerRemove,
    RemoveUnlock,
    // sharedProcessor.distribute
    Withhold,
    ListenerSend,
    // processorListener
    ListenerPop,
    ListenerTake,
    ListenerHandle,
    ListenerDone,
    HandlerSync,
    HandlerPanic,
    // cacheMutationDetector
    MutationCheck,

    // workqueue
    WorkAdd,
    WorkDelay,
    WorkRateLimit,
    WorkGet,
    WorkDone,
    WorkForget,
    WorkShutDown,
    // A worker of the program
    Reconcile,
}
