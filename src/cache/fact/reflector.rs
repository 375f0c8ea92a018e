//! What the reflector does.

use std::sync::Arc;

use super::{BackoffReason, EventType, ListAgain, ObjectRef, Reason, Rv, facts};

facts! {
    /// What the reflector does.
    pub enum ReflectorFact {
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
            reason: Reason,
        },
    }
}
