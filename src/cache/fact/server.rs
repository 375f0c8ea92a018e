//! Facts of the API server, or of the source that replaces it.

use std::sync::Arc;

use super::{Body, EventType, ObjectRef, Reason, Refusal, Request, Rv, Verb, WatchEnd, facts};
use crate::key::Key;
use crate::lister_watcher::ApiErrorKind;

facts! {
    /// Facts of the API server, or of the source that replaces it.
    pub enum ServerFact {
        "API server":
        /// An object was created and got a version.
        ObjectCreated {
            /// The new object.
            object: ObjectRef,
            /// Its labels, node and phase.
            body: Body,
        },
        /// An object was updated.
        ObjectUpdated {
            /// The updated object.
            object: ObjectRef,
            /// Its labels, node and phase after the update.
            body: Body,
            /// The version before the update.
            old_rv: Rv,
        },
        /// An object was deleted; `object.rv` is the version of the deletion.
        ObjectDeleted {
            /// The deleted object.
            object: ObjectRef,
            /// The version before the deletion.
            old_rv: Rv,
        },
        /// The server refused a write; nothing changed.
        WriteRefused {
            /// The requested operation.
            verb: Verb,
            /// The object's key.
            key: Key,
            /// The reason.
            refusal: Refusal,
        },
        /// The server was asked to refuse the next requests, or that was taken back.
        RefusalsAsked {
            /// Which of the requests it refuses.
            request: Request,
            /// The error that it answers with.
            kind: ApiErrorKind,
            /// Number of requests that are still to be refused; 0: taken back.
            times: u32,
        },
        /// The server compacted its history.
        HistoryCompacted {
            /// The oldest version from which a watch still works.
            oldest: Rv,
        },
        /// The server sent a watch event.
        EventSent {
            /// The event's type.
            event: EventType,
            /// The event's object; for a bookmark or an error only its version matters.
            object: ObjectRef,
            /// Whether it is the bookmark that ends a streaming list.
            ends_list: bool,
        },

        "list":
        /// All objects of a real server, as it reported them in a list or in a stream's initial
        /// events.
        ObjectsLearned {
            /// The version of that state.
            rv: Rv,
            /// The objects.
            objects: Arc<[ObjectRef]>,
        },
        /// The server answered a list request.
        ListAnswered {
            /// The list's version.
            rv: Rv,
            /// Number of objects.
            count: u32,
        },
        /// The server asked the client to retry later, and the client will.
        RequestDeferred {
            /// The HTTP status.
            code: u16,
            /// Delay until the retry, in ms.
            after_ms: u64,
            /// How often the request has been sent so far.
            attempt: u32,
        },
        /// The server failed a list request.
        ListRefused {
            /// The HTTP status.
            code: u16,
            /// The reason.
            reason: Reason,
        },
        /// A request did not reach the server: connection refused.
        ConnectionRefused,

        "watch":
        /// The server opened a watch.
        WatchAccepted {
            /// The watch starts after this version.
            rv: Rv,
        },
        /// The server refused a watch, or ended it at once, because its version is too old.
        WatchRefused {
            /// The requested version.
            rv: Rv,
            /// The oldest version that would have worked.
            oldest: Rv,
        },
        /// The server refused a watch for a reason other than its version.
        WatchDenied {
            /// The HTTP status.
            code: u16,
            /// The reason.
            reason: Arc<str>,
        },
        /// The watch's stream ended.
        WatchClosed {
            /// How it ended.
            end: WatchEnd,
            /// Number of events that were sent but never arrived.
            lost: u32,
        },
    }
}
