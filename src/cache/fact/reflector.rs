//! Facts of the reflector.

use std::sync::Arc;

use super::{BackoffReason, EventType, ListAgain, ObjectRef, Reason, Rv, facts};

facts! {
    /// Facts of the reflector.
    pub enum ReflectorFact {
        "API server":
        /// The reflector dropped an object of the wrong type, or an event or list that is a
        /// `Table`.
        ObjectRejected {
            /// The error's text.
            error: Arc<str>,
        },

        "list":
        /// The reflector requested a list.
        ListRequested {
            /// `resourceVersion` of the request; `"0"` for any version, `""` for the newest.
            rv: Rv,
            /// `resourceVersionMatch`; empty if not set.
            rv_match: &'static str,
            /// Maximum number of objects per page; 0: no limit.
            limit: u32,
            /// Whether it requests the next page.
            continues: bool,
        },
        /// The reflector received a page, and more follow.
        PageReceived {
            /// Number of objects.
            count: u32,
            /// Number of objects, including earlier pages.
            total: u32,
        },
        /// A list failed.
        ListFailed {
            /// The error's text.
            error: Arc<str>,
            /// What the reflector does next.
            next: ListAgain,
        },
        /// The reflector received the complete list.
        ListReceived {
            /// The list's version.
            rv: Rv,
            /// Number of objects.
            count: u32,
        },
        /// An event of a streaming list went into the temporary store.
        InitialEventKept {
            /// The event's type.
            event: EventType,
            /// The event's object.
            object: ObjectRef,
        },
        /// The bookmark that ends the initial events of a streaming list arrived.
        InitialEventsEnded {
            /// The bookmark's version, which is that of the list.
            rv: Rv,
            /// Number of objects in the temporary store.
            count: u32,
        },
        /// The bookmark that ends the initial events of a streaming list is late: the reflector
        /// logged a warning.
        InitialEventsEndMissed {
            /// How long no event has arrived, in ms.
            ms: u64,
            /// Whether any event has arrived at all.
            any: bool,
        },
        /// The reflector falls back from a streaming list to a regular list for this round.
        StreamFellBack {
            /// The reason.
            error: Arc<str>,
        },
        /// The reflector learned whether the last version is unavailable: expired, or too new for
        /// the server.
        VersionUnavailable {
            /// Whether it is unavailable.
            on: bool,
        },

        "watch":
        /// The reflector requested a watch.
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
        /// The reflector called the watch-error handler.
        WatchErrorReported {
            /// The error's text.
            error: Arc<str>,
        },
        /// The reflector received a watch event.
        EventReceived {
            /// The event's type.
            event: EventType,
            /// The event's object.
            object: ObjectRef,
            /// Whether it is the bookmark that ends a streaming list.
            ends_list: bool,
        },
        /// The reflector updated its last sync resource version.
        LastSyncMoved {
            /// The previous version.
            from: Rv,
            /// The new version.
            to: Rv,
        },
        /// The reflector noticed that its watch has ended.
        WatchEnded {
            /// Whether a list follows (otherwise: a watch from the last version).
            relist: bool,
            /// HTTP status of the `ERROR` event that ended the watch; 0: no such event.
            code: u16,
        },
        /// The reflector waits before it retries.
        BackoffStarted {
            /// Length of the pause, in ms.
            ms: u64,
            /// The reason.
            reason: BackoffReason,
        },
        /// The reflector gave up or was asked to stop.
        ReflectorStopped {
            /// The reason.
            reason: Reason,
        },

        "resync":
        /// The resync timer fired.
        ResyncDue {
            /// Whether any handler is due for a resync.
            wanted: bool,
        },
    }
}
