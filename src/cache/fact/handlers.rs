//! What the shared processor and the handlers do.

use std::sync::Arc;

use super::{NotificationRef, facts};
use crate::key::Key;

facts! {
    /// What the shared processor and the handlers do.
    pub enum HandlersFact {
        /// A notification was sent to a handler; the sender waits until `pop` takes it.
        NotificationSent {
            /// Which handler.
            handler: u8,
            /// What it says.
            notification: NotificationRef,
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
            notification: NotificationRef,
            /// How many wait now.
            pending: u32,
        },
        /// A handler began to work on its next notification.
        NotificationTaken {
            /// Which handler.
            handler: u8,
            /// What it says.
            notification: NotificationRef,
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
    }
}
