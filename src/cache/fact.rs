//! Facts: what happened, in the past tense.
//!
//! A fact holds everything that the picture, the words and the motion need, so that nothing on the
//! page has to look into the cache. `Event` would be the other word for it, but watch events and
//! DOM events have taken that one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delta::DeltaType;
use super::key::Key;
use super::lister_watcher::ApiErrorKind;
use super::step::Step;

// What facts speak of.
pub use super::lister_watcher::EventType;
pub use super::object::{ObjectRef, Rv, Shape};

/// What the API server shows of an object besides its metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// `spec.nodeName`; empty when there is none.
    pub node: Arc<str>,
    /// `status.phase`; empty when there is none.
    pub phase: Arc<str>,
}

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The API server, or whatever stands in for it.
    Server,
    /// A program that calls the queue itself, where there is no reflector.
    Program,
    /// The reflector.
    Reflector,
    /// The reflector's resync timer, which runs beside it.
    Resync,
    /// The loop that pops and processes.
    ProcessLoop,
    /// Whoever adds and removes handlers: the program around the informer.
    Main,
    /// `pop` of the n-th listener: from the sender into its buffer.
    Pop(u8),
    /// `run` of the n-th listener of the shared processor: calls its handler.
    Listener(u8),
    /// The n-th worker of the workqueue.
    Worker(u8),
}

/// Which lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockName {
    /// The queue's.
    #[default]
    Queue,
    /// `blockDeltas`: no delta is processed while a handler is added.
    BlockDeltas,
}

/// What a client asked the API server to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Make an object.
    Create,
    /// Change an object.
    Update,
    /// Delete an object.
    Delete,
}

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 409 AlreadyExists.
    AlreadyExists,
    /// 404 NotFound.
    NotFound,
    /// 422 Invalid, with the reason.
    Invalid(Arc<str>),
}

/// How a watch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The server closed it in good order (its timeout).
    Closed,
    /// The connection broke; what was on its way is lost.
    Cut,
    /// The connection broke inside a line; so many bytes of it had come.
    CutInLine(u32),
    /// Nothing came for too long: whoever reads has given it up.
    Silent,
    /// An `ERROR` event ended it: code and reason.
    Failed(u16, Arc<str>),
    /// More objects than so many came: whoever reads has no room for them and has closed it.
    TooMuch(u32),
}

/// Why the reflector did what it did next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffReason {
    /// There is no watch (refused, or 429); the next one starts at the last version.
    WatchEnded,
    /// The version is too old; a list comes next.
    Expired,
    /// The watch failed otherwise, or ended at once without an event; a list comes next.
    WatchFailed,
    /// The list failed.
    ListFailed,
    /// A streaming list failed; it starts over.
    StreamFailed,
}

/// What follows a list that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListAgain {
    /// Another one after a pause.
    Later,
    /// Another one at once, for the newest state: the version has expired.
    Expired,
    /// Another one at once, for the newest state: no server is that far yet.
    TooLarge,
    /// The whole list at once, in one piece: the token for the next page has expired.
    PageExpired,
}

/// Where a key went in a workqueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkPlace {
    /// To the end of the queue.
    Queue,
    /// Only marked dirty: a worker has it, it is queued again when that is done.
    Dirty,
    /// Nowhere: it waits already.
    Duplicate,
}

/// How the process loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProcessMode {
    /// It pops whenever there is something.
    #[default]
    Free,
    /// It rests so many ms after each Pop.
    Paced(u32),
    /// It pops only when asked.
    Held,
}

/// What a handler is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// `OnAdd(obj, isInInitialList)`
    Add {
        /// The object.
        object: ObjectRef,
        /// Whether it came with the first list.
        is_in_initial_list: bool,
    },
    /// `OnUpdate(old, new)`
    Update {
        /// What was stored before; `None` where nothing is stored.
        old: Option<ObjectRef>,
        /// The object.
        new: ObjectRef,
    },
    /// `OnDelete(obj)`
    Delete {
        /// The object, or its tombstone.
        object: ObjectRef,
    },
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    // ---- the API server
    /// An object was created and got a version.
    ObjectCreated {
        /// It.
        object: ObjectRef,
        /// What it is like.
        body: Body,
    },
    /// An object was changed.
    ObjectUpdated {
        /// It.
        object: ObjectRef,
        /// What it is like now.
        body: Body,
        /// Its version before.
        old_rv: Rv,
    },
    /// An object was deleted; `object.rv` is the version of the deletion.
    ObjectDeleted {
        /// It.
        object: ObjectRef,
        /// Its version before.
        old_rv: Rv,
    },
    /// A write was refused; nothing changed.
    WriteRefused {
        /// What was asked for.
        verb: Verb,
        /// Of which object.
        key: Key,
        /// Why not.
        refusal: Refusal,
    },
    /// Somebody asked the server to refuse the next requests, or took that back.
    RefusalsAsked {
        /// Watches (streaming lists are), else lists.
        watch: bool,
        /// With what.
        kind: ApiErrorKind,
        /// How many more of them; 0: it was taken back.
        times: u32,
    },
    /// The server forgot its history up to this version.
    HistoryCompacted {
        /// A watch from here or later still works.
        oldest: Rv,
    },
    /// The server answered a list.
    ListAnswered {
        /// The version of the list.
        rv: Rv,
        /// How many objects.
        count: u32,
    },
    /// What a real server has, all of it: it told so with a list, or with a stream's initial events.
    ObjectsLearned {
        /// As of this version.
        rv: Rv,
        /// The objects.
        objects: Arc<[ObjectRef]>,
    },
    /// The server asks to come again later, and the client will.
    RequestDeferred {
        /// HTTP status.
        code: u16,
        /// When, in ms from now.
        after_ms: u64,
        /// How often the request was sent so far.
        attempt: u32,
    },
    /// The server could not answer a list.
    ListRefused {
        /// HTTP status.
        code: u16,
        /// Why.
        reason: Arc<str>,
    },
    /// A watch is open.
    WatchAccepted {
        /// It starts after this version.
        rv: Rv,
    },
    /// A watch was not opened, or ended at once: the version is too old.
    WatchRefused {
        /// The version asked for.
        rv: Rv,
        /// The oldest that would have worked.
        oldest: Rv,
    },
    /// A watch was not opened, for any other reason than its version.
    WatchDenied {
        /// HTTP status.
        code: u16,
        /// Why.
        reason: Arc<str>,
    },
    /// A request did not reach the server: the connection is refused.
    ConnectionRefused,
    /// An event was put on the stream.
    EventSent {
        /// Its type.
        event: EventType,
        /// Its object; of a bookmark and an error only the version counts.
        object: ObjectRef,
        /// It is the bookmark that ends a streaming list.
        ends_list: bool,
    },
    /// The stream ended.
    WatchClosed {
        /// How.
        end: WatchEnd,
        /// So many events were on their way and never arrived.
        lost: u32,
    },

    // ---- the reflector
    /// The reflector asked for a list.
    ListRequested {
        /// `resourceVersion` of the request; `"0"` for anything, `""` for the newest.
        rv: Rv,
        /// `resourceVersionMatch`; empty without one.
        rv_match: &'static str,
        /// The most objects a page may have; 0 without a limit.
        limit: u32,
        /// Whether it asks for the next page.
        continues: bool,
    },
    /// A page arrived at the reflector, and there are more.
    PageReceived {
        /// How many objects.
        count: u32,
        /// How many with the pages before it.
        total: u32,
    },
    /// A list failed.
    ListFailed {
        /// The error's text.
        error: Arc<str>,
        /// What follows.
        next: ListAgain,
    },
    /// The list arrived at the reflector.
    ListReceived {
        /// Its version.
        rv: Rv,
        /// How many objects.
        count: u32,
    },
    /// The reflector asked for a watch.
    WatchRequested {
        /// `resourceVersion` of the request.
        rv: Rv,
        /// `sendInitialEvents`: a streaming list.
        initial_events: bool,
    },
    /// The request for a watch failed.
    WatchFailed {
        /// The error's text.
        error: Arc<str>,
    },
    /// A streaming list's event went into the temporary store.
    InitialEventKept {
        /// Its type.
        event: EventType,
        /// Its object.
        object: ObjectRef,
    },
    /// The bookmark came that ends the initial events of a streaming list.
    InitialEventsEnded {
        /// Its version: that of the list.
        rv: Rv,
        /// How many objects the temporary store holds.
        count: u32,
    },
    /// The bookmark that ends the initial events of a streaming list is late: a warning was logged.
    InitialEventsEndMissed {
        /// For how long nothing has come, in ms.
        ms: u64,
        /// Whether anything has come at all.
        any: bool,
    },
    /// There will be no streaming list in this round: a list comes instead.
    StreamFellBack {
        /// Why.
        error: Arc<str>,
    },
    /// An event's object was of another type than the informer's, or it or a list was a `Table`; it
    /// was left out.
    ObjectRejected {
        /// The error's text.
        error: Arc<str>,
    },
    /// Whether the last version is known to have expired, or to be too new for the server.
    VersionUnavailable {
        /// Which.
        on: bool,
    },
    /// The watch-error handler was called.
    WatchErrorReported {
        /// The error's text.
        error: Arc<str>,
    },
    /// The resync timer fired.
    ResyncDue {
        /// Whether anybody wants a resync now.
        wanted: bool,
    },
    /// The reflector took an event off the stream.
    EventReceived {
        /// Its type.
        event: EventType,
        /// Its object.
        object: ObjectRef,
        /// It is the bookmark that ends a streaming list.
        ends_list: bool,
    },
    /// The reflector noted how far it has come.
    LastSyncMoved {
        /// Before.
        from: Rv,
        /// Now.
        to: Rv,
    },
    /// The reflector noticed that its watch is over.
    WatchEnded {
        /// Whether a list comes next (else: a watch from the last version).
        relist: bool,
        /// HTTP status of the `ERROR` event that ended it; 0 without one.
        code: u16,
    },
    /// The reflector waits before it tries again.
    BackoffStarted {
        /// Milliseconds.
        ms: u64,
        /// Why.
        reason: BackoffReason,
    },
    /// The reflector gave up or was told to stop.
    ReflectorStopped {
        /// Why.
        reason: Arc<str>,
    },

    /// A program without a reflector called the queue.
    Called {
        /// Added: `Add`, Updated: `Update`, Deleted: `Delete`.
        delta_type: DeltaType,
        /// With this object.
        object: ObjectRef,
    },

    // ---- the switches of the run
    /// The process loop runs differently from now on.
    ModeSet {
        /// How.
        mode: ProcessMode,
    },
    /// Pop was asked for (held only).
    PopAsked {
        /// How often it was asked for and has not come yet.
        asked: u32,
    },
    /// The queue got its KnownObjects, or lost them.
    KnownObjectsSet {
        /// Which.
        on: bool,
    },

    // ---- the queue's lock
    /// Somebody got the lock.
    LockTaken {
        /// Which.
        lock: LockName,
        /// Who.
        by: Actor,
    },
    /// Somebody has to wait for the lock.
    LockAwaited {
        /// Which.
        lock: LockName,
        /// Who.
        by: Actor,
        /// Who has it.
        holder: Actor,
    },
    /// The lock was given back.
    LockReleased {
        /// Which.
        lock: LockName,
        /// By whom.
        by: Actor,
    },

    // ---- the queues
    /// No key could be made; nothing was queued or stored.
    KeyFailed {
        /// The error's text.
        error: Arc<str>,
    },
    /// The transformer failed; nothing was queued.
    TransformFailed {
        /// For which key.
        key: Key,
        /// The error's text.
        error: Arc<str>,
    },
    /// The transformer made another object of it.
    Transformed {
        /// As it came.
        from: ObjectRef,
        /// As it is queued.
        to: ObjectRef,
    },
    /// `populated` was set: from now on the queue is past its first fill.
    Populated {
        /// How many keys have to be popped before `HasSynced`.
        initial: u32,
    },
    /// Delete asked whether anybody would notice.
    DeleteChecked {
        /// The key.
        key: Key,
        /// What KnownObjects holds: `None` when there are no KnownObjects.
        known: Option<Known>,
        /// Whether the key has deltas in the queue.
        pending: bool,
    },
    /// A delete was dropped: neither known nor pending.
    DeleteIgnored {
        /// The key.
        key: Key,
    },
    /// A delta was put on top of its key's others.
    DeltaAppended {
        /// Its type.
        delta_type: DeltaType,
        /// Its object; `object.key` is the key.
        object: ObjectRef,
        /// How many deltas the key has now.
        depth: u32,
    },
    /// The two newest deltas were both deletes: one of them is left.
    DeltasMerged {
        /// The key.
        key: Key,
        /// The one that stays.
        kept: ObjectRef,
        /// Whether it is the older one.
        kept_older: bool,
    },
    /// A key took its place at the end of the queue.
    KeyEnqueued {
        /// The key.
        key: Key,
        /// How many keys are queued now.
        length: u32,
    },
    /// A list did not hold a key that is known or queued: its deletion was missed.
    DeletionDetected {
        /// The key.
        key: Key,
    },
    /// A resync passed a key over, because it has deltas in the queue.
    ResyncSkipped {
        /// The key.
        key: Key,
    },
    /// `AddIfNotPresent` did nothing: the key has newer content.
    AlreadyPresent {
        /// The key.
        key: Key,
    },
    /// FIFO only: the object of a key was set.
    FifoItemSet {
        /// The object.
        object: ObjectRef,
        /// What it takes the place of.
        old: Option<ObjectRef>,
    },
    /// FIFO only: an object was removed; its key stays in the queue.
    FifoItemRemoved {
        /// The key.
        key: Key,
    },
    /// FIFO only: all objects and all keys were dropped before a list is put in.
    FifoCleared,
    /// FIFO only: Pop skipped a key whose object is gone.
    FifoKeySkipped {
        /// The key.
        key: Key,
    },
    /// RealFIFO only: one entry was put at the end.
    EntryAppended {
        /// The entry.
        entry: Entry,
        /// How many entries are queued now.
        length: u32,
    },
    /// RealFIFO only: the first `count` entries were taken.
    EntriesTaken {
        /// How many.
        count: u32,
        /// Whether all of them belong to the first list.
        is_in_initial_list: bool,
    },
    /// The consumer has to wait: the queue is empty.
    QueueEmpty,
    /// A key left the queue, with all that was queued for it.
    KeyPopped {
        /// The key.
        key: Key,
        /// Its deltas, oldest first (FIFO: one, of type Added).
        deltas: Vec<(DeltaType, ObjectRef)>,
        /// Whether it belongs to the first list.
        is_in_initial_list: bool,
    },
    /// The first fill has been popped: `HasSynced` is true from now on.
    Synced,
    /// The process function failed; what was popped is gone.
    ProcessFailed {
        /// The error's text.
        error: Arc<str>,
    },
    /// The process function asked for it again (ErrRequeue): its key has again what the last
    /// `KeyPopped` took, and `KeyEnqueued` follows.
    Requeued {
        /// The key.
        key: Key,
        /// Whether it went in (else the key has newer content).
        added: bool,
    },
    /// Processing took long while many keys waited.
    ProcessWasSlow {
        /// The key.
        key: Key,
        /// How many keys waited.
        depth: u32,
        /// Milliseconds.
        ms: u64,
    },
    /// The queue was closed.
    QueueClosed,

    // ---- processing
    /// The process function took the next delta and looked its key up.
    DeltaTaken {
        /// Its place in what was popped.
        position: u32,
        /// Its type.
        delta_type: DeltaType,
        /// Its object.
        object: ObjectRef,
        /// What the store holds for the key: `None` where there is no store.
        exists: Option<bool>,
    },
    /// The process function returned.
    Processed {
        /// The key.
        key: Key,
    },
    /// RealFIFO only: the process function returned.
    EntriesProcessed {
        /// How many entries it had.
        count: u32,
    },
    /// A whole list was opened: the store is replaced before anybody is told.
    ListOpened {
        /// Its version.
        rv: Rv,
        /// How many objects.
        count: u32,
        /// How many stored objects it lacks.
        removed: u32,
    },
    /// A whole resync was opened: everything stored is handed out again.
    ResyncOpened {
        /// How many objects.
        count: u32,
    },

    // ---- the store
    /// An object was stored.
    ItemStored {
        /// It.
        object: ObjectRef,
        /// What was there before.
        old: Option<ObjectRef>,
    },
    /// An object was removed.
    ItemRemoved {
        /// The key.
        key: Key,
        /// What was there.
        old: Option<ObjectRef>,
    },
    /// The content was replaced as a whole; what the new one lacks has been removed.
    StoreReplaced {
        /// The new content.
        items: Vec<ObjectRef>,
    },
    /// A key left the set under an indexed value.
    IndexEntryRemoved {
        /// The index.
        index: Arc<str>,
        /// The indexed value.
        value: Arc<str>,
        /// The key.
        key: Key,
        /// Whether the value went with its last key.
        emptied: bool,
    },
    /// A key entered the set under an indexed value.
    IndexEntryAdded {
        /// The index.
        index: Arc<str>,
        /// The indexed value.
        value: Arc<str>,
        /// The key.
        key: Key,
    },
    /// An index function failed; the object is stored, the index lacks it.
    IndexFailed {
        /// The index.
        index: Arc<str>,
        /// The key.
        key: Key,
        /// The error's text.
        error: Arc<str>,
    },
    /// Indices were added.
    IndexersAdded {
        /// Their names.
        names: Vec<Arc<str>>,
    },
    /// All indices were emptied before they are filled again.
    IndicesReset,
    /// The store's resource version was set.
    StoreVersionMoved {
        /// Before.
        from: Rv,
        /// Now.
        to: Rv,
    },

    // ---- handlers
    /// A notification was sent to a handler; the sender waits until `pop` takes it.
    NotificationSent {
        /// Which handler.
        handler: u8,
        /// What it says.
        notification: Notification,
    },
    /// A handler was not told: the version is the same as before, and no resync of it is due.
    NotificationWithheld {
        /// Which handler.
        handler: u8,
        /// Of which key.
        key: Key,
    },
    /// A notification was taken into a handler's buffer.
    NotificationQueued {
        /// Which handler.
        handler: u8,
        /// What it says.
        notification: Notification,
        /// How many wait now.
        pending: u32,
    },
    /// A handler began to work on its next notification.
    NotificationTaken {
        /// Which handler.
        handler: u8,
        /// What it says.
        notification: Notification,
    },
    /// A program printed a line.
    LinePrinted {
        /// Which handler.
        handler: u8,
        /// The line.
        line: Arc<str>,
    },
    /// A handler returned.
    NotificationHandled {
        /// Which handler.
        handler: u8,
    },
    /// A handler panicked; its item is lost to it.
    HandlerPanicked {
        /// Which handler.
        handler: u8,
        /// What it said.
        error: Arc<str>,
    },
    /// The program asked for a handler to be added.
    HandlerAsked {
        /// Its name.
        name: Arc<str>,
        /// How long it takes for each notification, in ms.
        latency_ms: u32,
        /// How often it wants to be told everything again, in ms; 0: never.
        resync_ms: u64,
        /// It is told only of objects with this label and value; empty: of all.
        filter: Arc<str>,
    },
    /// The program asked for a handler to be removed.
    RemovalAsked {
        /// Which handler.
        handler: u8,
    },
    /// A handler was added.
    HandlerAdded {
        /// Which handler.
        handler: u8,
        /// Its name.
        name: Arc<str>,
        /// How many objects it is told first, because the store holds them.
        initial: u32,
    },
    /// A handler was removed; what waits for it is dropped.
    HandlerRemoved {
        /// Which handler.
        handler: u8,
    },
    /// A handler has been told the whole first list: its own `HasSynced`.
    HandlerSynced {
        /// Which handler.
        handler: u8,
    },
    /// A resync check decided whether a handler takes part.
    SyncingSet {
        /// Which handler.
        handler: u8,
        /// Whether it does.
        syncing: bool,
    },
    /// The informer looks more often for due resyncs from now on, or never.
    ResyncCheckSet {
        /// Milliseconds between two checks; 0: none.
        ms: u64,
    },
    /// Somebody wrote into an object that everybody shares.
    ObjectMutated {
        /// Its key.
        key: Key,
        /// Which handler.
        handler: u8,
    },
    /// The mutation detector found an object that is not as it came.
    MutationDetected {
        /// Its key.
        key: Key,
    },

    // ---- the workqueue
    /// A key was added to the workqueue.
    WorkAdded {
        /// The key.
        key: Key,
        /// Where it went.
        place: WorkPlace,
    },
    /// A worker took a key.
    WorkTaken {
        /// Which worker.
        worker: u8,
        /// The key.
        key: Key,
    },
    /// A worker is done with a key.
    WorkDone {
        /// The key.
        key: Key,
        /// Whether it was added meanwhile and is queued again.
        again: bool,
    },
    /// A key will be added later.
    WorkDelayed {
        /// The key.
        key: Key,
        /// In so many ms.
        ms: u64,
        /// How often it has failed, where that is why.
        failures: u32,
    },
    /// The rate limiter forgot how often a key has failed.
    WorkForgotten {
        /// The key.
        key: Key,
    },
    /// A worker compared what is with what should be.
    Reconciled {
        /// Which worker.
        worker: u8,
        /// The key.
        key: Key,
        /// Whether that went well.
        ok: bool,
    },
    /// The workqueue takes nothing more.
    WorkShutDown {
        /// Whether it waits for what the workers have.
        drain: bool,
    },

    // ---- informers beside the one that is shown
    /// An informer beside asked the API server for a list, or for a watch.
    BesideRequested {
        /// Which of them, from 0.
        informer: u8,
        /// Whether for a watch.
        watch: bool,
    },
    /// The store of an informer beside changed.
    BesideStored {
        /// Which of them, from 0.
        informer: u8,
        /// The key.
        key: Key,
        /// What it holds now; `None`: nothing any more.
        object: Option<ObjectRef>,
    },
}

impl Fact {
    /// The fact's own name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ObjectCreated { .. } => "ObjectCreated",
            Self::ObjectUpdated { .. } => "ObjectUpdated",
            Self::ObjectDeleted { .. } => "ObjectDeleted",
            Self::WriteRefused { .. } => "WriteRefused",
            Self::RefusalsAsked { .. } => "RefusalsAsked",
            Self::HistoryCompacted { .. } => "HistoryCompacted",
            Self::ListAnswered { .. } => "ListAnswered",
            Self::ObjectsLearned { .. } => "ObjectsLearned",
            Self::RequestDeferred { .. } => "RequestDeferred",
            Self::ListRefused { .. } => "ListRefused",
            Self::WatchAccepted { .. } => "WatchAccepted",
            Self::WatchRefused { .. } => "WatchRefused",
            Self::WatchDenied { .. } => "WatchDenied",
            Self::ConnectionRefused => "ConnectionRefused",
            Self::EventSent { .. } => "EventSent",
            Self::WatchClosed { .. } => "WatchClosed",
            Self::ListRequested { .. } => "ListRequested",
            Self::PageReceived { .. } => "PageReceived",
            Self::ListFailed { .. } => "ListFailed",
            Self::ListReceived { .. } => "ListReceived",
            Self::WatchRequested { .. } => "WatchRequested",
            Self::WatchFailed { .. } => "WatchFailed",
            Self::InitialEventKept { .. } => "InitialEventKept",
            Self::InitialEventsEnded { .. } => "InitialEventsEnded",
            Self::InitialEventsEndMissed { .. } => "InitialEventsEndMissed",
            Self::StreamFellBack { .. } => "StreamFellBack",
            Self::ObjectRejected { .. } => "ObjectRejected",
            Self::VersionUnavailable { .. } => "VersionUnavailable",
            Self::WatchErrorReported { .. } => "WatchErrorReported",
            Self::ResyncDue { .. } => "ResyncDue",
            Self::EventReceived { .. } => "EventReceived",
            Self::LastSyncMoved { .. } => "LastSyncMoved",
            Self::WatchEnded { .. } => "WatchEnded",
            Self::BackoffStarted { .. } => "BackoffStarted",
            Self::ReflectorStopped { .. } => "ReflectorStopped",
            Self::Called { .. } => "Called",
            Self::ModeSet { .. } => "ModeSet",
            Self::PopAsked { .. } => "PopAsked",
            Self::KnownObjectsSet { .. } => "KnownObjectsSet",
            Self::LockTaken { .. } => "LockTaken",
            Self::LockAwaited { .. } => "LockAwaited",
            Self::LockReleased { .. } => "LockReleased",
            Self::KeyFailed { .. } => "KeyFailed",
            Self::TransformFailed { .. } => "TransformFailed",
            Self::Transformed { .. } => "Transformed",
            Self::Populated { .. } => "Populated",
            Self::DeleteChecked { .. } => "DeleteChecked",
            Self::DeleteIgnored { .. } => "DeleteIgnored",
            Self::DeltaAppended { .. } => "DeltaAppended",
            Self::DeltasMerged { .. } => "DeltasMerged",
            Self::KeyEnqueued { .. } => "KeyEnqueued",
            Self::DeletionDetected { .. } => "DeletionDetected",
            Self::ResyncSkipped { .. } => "ResyncSkipped",
            Self::AlreadyPresent { .. } => "AlreadyPresent",
            Self::FifoItemSet { .. } => "FifoItemSet",
            Self::FifoItemRemoved { .. } => "FifoItemRemoved",
            Self::FifoCleared => "FifoCleared",
            Self::FifoKeySkipped { .. } => "FifoKeySkipped",
            Self::EntryAppended { .. } => "EntryAppended",
            Self::EntriesTaken { .. } => "EntriesTaken",
            Self::QueueEmpty => "QueueEmpty",
            Self::KeyPopped { .. } => "KeyPopped",
            Self::Synced => "Synced",
            Self::ProcessFailed { .. } => "ProcessFailed",
            Self::Requeued { .. } => "Requeued",
            Self::ProcessWasSlow { .. } => "ProcessWasSlow",
            Self::QueueClosed => "QueueClosed",
            Self::DeltaTaken { .. } => "DeltaTaken",
            Self::Processed { .. } => "Processed",
            Self::EntriesProcessed { .. } => "EntriesProcessed",
            Self::ListOpened { .. } => "ListOpened",
            Self::ResyncOpened { .. } => "ResyncOpened",
            Self::ItemStored { .. } => "ItemStored",
            Self::ItemRemoved { .. } => "ItemRemoved",
            Self::StoreReplaced { .. } => "StoreReplaced",
            Self::IndexEntryRemoved { .. } => "IndexEntryRemoved",
            Self::IndexEntryAdded { .. } => "IndexEntryAdded",
            Self::IndexFailed { .. } => "IndexFailed",
            Self::IndexersAdded { .. } => "IndexersAdded",
            Self::IndicesReset => "IndicesReset",
            Self::StoreVersionMoved { .. } => "StoreVersionMoved",
            Self::NotificationSent { .. } => "NotificationSent",
            Self::NotificationWithheld { .. } => "NotificationWithheld",
            Self::NotificationQueued { .. } => "NotificationQueued",
            Self::NotificationTaken { .. } => "NotificationTaken",
            Self::LinePrinted { .. } => "LinePrinted",
            Self::NotificationHandled { .. } => "NotificationHandled",
            Self::HandlerPanicked { .. } => "HandlerPanicked",
            Self::HandlerAsked { .. } => "HandlerAsked",
            Self::RemovalAsked { .. } => "RemovalAsked",
            Self::HandlerAdded { .. } => "HandlerAdded",
            Self::HandlerRemoved { .. } => "HandlerRemoved",
            Self::HandlerSynced { .. } => "HandlerSynced",
            Self::SyncingSet { .. } => "SyncingSet",
            Self::ResyncCheckSet { .. } => "ResyncCheckSet",
            Self::ObjectMutated { .. } => "ObjectMutated",
            Self::MutationDetected { .. } => "MutationDetected",
            Self::WorkAdded { .. } => "WorkAdded",
            Self::WorkTaken { .. } => "WorkTaken",
            Self::WorkDone { .. } => "WorkDone",
            Self::WorkDelayed { .. } => "WorkDelayed",
            Self::WorkForgotten { .. } => "WorkForgotten",
            Self::Reconciled { .. } => "Reconciled",
            Self::WorkShutDown { .. } => "WorkShutDown",
            Self::BesideRequested { .. } => "BesideRequested",
            Self::BesideStored { .. } => "BesideStored",
        }
    }

    /// What it put into the queue.
    #[must_use]
    pub fn queued(&self) -> Option<DeltaType> {
        match self {
            Self::DeltaAppended { delta_type, .. } => Some(*delta_type),
            Self::EntryAppended { entry, .. } => Some(match entry {
                Entry::Delta(delta_type, _) => *delta_type,
                Entry::ReplacedAll { .. } => DeltaType::ReplacedAll,
                Entry::SyncAll => DeltaType::SyncAll,
                Entry::Bookmark { .. } => DeltaType::Bookmark,
            }),
            _ => None,
        }
    }

    /// What it holds beside itself, in bytes, about: lists and texts of which each fact has its own.
    #[must_use]
    pub fn weight(&self) -> usize {
        const EACH: usize = size_of::<ObjectRef>();
        let own = match self {
            Self::LinePrinted { line, .. } => line.len(),
            Self::ObjectsLearned { objects, .. } => objects.len() * EACH,
            Self::StoreReplaced { items } => items.len() * EACH,
            Self::KeyPopped { deltas, .. } => deltas.len() * EACH,
            Self::EntryAppended {
                entry: Entry::ReplacedAll { objects, .. },
                ..
            } => objects.len() * EACH,
            Self::ObjectCreated { body, .. } | Self::ObjectUpdated { body, .. } => {
                let labels = body.labels.iter();
                let labels: usize = labels.map(|(key, value)| key.len() + value.len()).sum();
                labels + body.node.len() + body.phase.len()
            }
            Self::IndexEntryAdded { value, .. } | Self::IndexEntryRemoved { value, .. } => {
                value.len()
            }
            _ => 0,
        };
        own + self.key().map_or(0, |key| key.len())
    }

    /// The key of the object that the fact is about, where it is about one.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::WriteRefused { key, .. }
            | Self::TransformFailed { key, .. }
            | Self::DeleteChecked { key, .. }
            | Self::DeleteIgnored { key, .. }
            | Self::DeltasMerged { key, .. }
            | Self::KeyEnqueued { key, .. }
            | Self::DeletionDetected { key, .. }
            | Self::ResyncSkipped { key, .. }
            | Self::AlreadyPresent { key, .. }
            | Self::FifoItemRemoved { key, .. }
            | Self::FifoKeySkipped { key, .. }
            | Self::KeyPopped { key, .. }
            | Self::Requeued { key, .. }
            | Self::ProcessWasSlow { key, .. }
            | Self::Processed { key, .. }
            | Self::ItemRemoved { key, .. }
            | Self::IndexEntryRemoved { key, .. }
            | Self::IndexEntryAdded { key, .. }
            | Self::IndexFailed { key, .. }
            | Self::NotificationWithheld { key, .. }
            | Self::ObjectMutated { key, .. }
            | Self::MutationDetected { key }
            | Self::WorkAdded { key, .. }
            | Self::WorkTaken { key, .. }
            | Self::WorkDone { key, .. }
            | Self::WorkDelayed { key, .. }
            | Self::WorkForgotten { key }
            | Self::Reconciled { key, .. }
            | Self::BesideStored { key, .. } => Some(key),
            Self::ObjectCreated { object, .. }
            | Self::ObjectUpdated { object, .. }
            | Self::ObjectDeleted { object, .. }
            | Self::EventSent { object, .. }
            | Self::EventReceived { object, .. }
            | Self::InitialEventKept { object, .. }
            | Self::Called { object, .. }
            | Self::DeltaAppended { object, .. }
            | Self::FifoItemSet { object, .. }
            | Self::DeltaTaken { object, .. }
            | Self::ItemStored { object, .. } => Some(&object.key),
            Self::Transformed { to, .. } => Some(&to.key),
            Self::EntryAppended {
                entry: Entry::Delta(_, object),
                ..
            } => Some(&object.key),
            Self::NotificationSent { notification, .. }
            | Self::NotificationQueued { notification, .. }
            | Self::NotificationTaken { notification, .. } => Some(&notification.object().key),
            _ => None,
        }
    }
}

impl Notification {
    /// The object that it is about: the new one of an update.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        match self {
            Self::Add { object, .. } | Self::Delete { object } => object,
            Self::Update { new, .. } => new,
        }
    }
}

/// What KnownObjects says of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It has it, in this version.
    Yes(Rv),
    /// It does not have it.
    No,
    /// It could not tell.
    Failed,
}

/// One entry of a RealFIFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A change of one object.
    Delta(DeltaType, ObjectRef),
    /// A whole list.
    ReplacedAll {
        /// Its version.
        rv: Rv,
        /// Its objects.
        objects: Vec<ObjectRef>,
    },
    /// A whole resync.
    SyncAll,
    /// A newer version.
    Bookmark {
        /// It.
        rv: Rv,
    },
}

/// The number of a fact in its recording, from 0. A run that goes on for weeks has more than 32 bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub u64);

/// Why something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// It was set so from the start.
    Start,
    /// Something that the source did of its own accord, as its traffic or its recording says: its
    /// number, from 0.
    Source(u32),
    /// An entry of the scenario's script: its number in the order of time, from 0.
    Script(u32),
    /// An input of the user: its number, from 0.
    Input(u32),
    /// Another fact.
    Fact(FactId),
}

/// A fact with its place in the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// Its number.
    pub id: FactId,
    /// Virtual milliseconds since the start.
    pub time: u64,
    /// Who.
    pub actor: Actor,
    /// Why.
    pub cause: Cause,
    /// Which step of which algorithm.
    pub step: Step,
    /// What.
    pub fact: Fact,
}
