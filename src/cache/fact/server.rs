//! What the API server does, or whatever stands in for it.

use std::sync::Arc;

use super::{Body, EventType, ObjectRef, Reason, Refusal, Rv, Verb, WatchEnd, facts};
use crate::key::Key;
use crate::lister_watcher::ApiErrorKind;

facts! {
    /// What the API server does, or whatever stands in for it.
    pub enum ServerFact {
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
            /// HTTP status; 0: there was no answer.
            code: u16,
            /// Why.
            reason: Reason,
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
    }
}
