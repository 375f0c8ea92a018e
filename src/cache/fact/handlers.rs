//! Facts of the shared processor and the handlers.

use std::sync::Arc;

use super::{NotificationRef, Printer, facts};
use crate::key::Key;

facts! {
    /// Facts of the shared processor and the handlers.
    pub enum HandlersFact {
        "resync":
        /// A resync check decided whether a handler takes part in the resync.
        SyncingSet {
            /// The handler's number.
            handler: u8,
            /// Whether it takes part.
            syncing: bool,
        },
        /// The informer changed how often it checks for due resyncs.
        ResyncCheckSet {
            /// Milliseconds between two checks; 0: never.
            ms: u64,
        },

        "handlers":
        /// The processor sent a notification to a handler. The sender waits until `pop` receives
        /// it.
        NotificationSent {
            /// The handler's number.
            handler: u8,
            /// The notification.
            notification: NotificationRef,
        },
        /// The processor did not notify a handler: the version is unchanged, and no resync is due
        /// for it.
        NotificationWithheld {
            /// The handler's number.
            handler: u8,
            /// The object's key.
            key: Key,
        },
        /// A notification entered a handler's buffer.
        NotificationQueued {
            /// The handler's number.
            handler: u8,
            /// The notification.
            notification: NotificationRef,
            /// Number of waiting notifications, this one included.
            pending: u32,
        },
        /// A handler began to work on its next notification.
        NotificationTaken {
            /// The handler's number.
            handler: u8,
            /// The notification.
            notification: NotificationRef,
        },
        /// A line was printed.
        LinePrinted {
            /// Who printed it.
            by: Printer,
            /// The printed text.
            line: Arc<str>,
        },
        /// A handler returned.
        NotificationHandled {
            /// The handler's number.
            handler: u8,
        },
        /// A handler panicked and loses the notification.
        HandlerPanicked {
            /// The handler's number.
            handler: u8,
            /// The panic message.
            error: Arc<str>,
        },
        /// The program requested a new handler.
        HandlerAsked {
            /// The handler's name.
            name: Arc<str>,
            /// Time that the handler takes per notification, in ms.
            latency_ms: u32,
            /// The requested resync period, in ms; 0: never.
            resync_ms: u64,
            /// The handler is notified only of objects with this label and value; empty: of all
            /// objects.
            filter: Arc<str>,
        },
        /// The program requested the removal of a handler.
        RemovalAsked {
            /// The handler's number.
            handler: u8,
        },
        /// A handler was added.
        HandlerAdded {
            /// The handler's number.
            handler: u8,
            /// The handler's name.
            name: Arc<str>,
            /// Number of stored objects that the handler receives first.
            initial: u32,
        },
        /// A handler was removed. Its waiting notifications are dropped.
        HandlerRemoved {
            /// The handler's number.
            handler: u8,
        },
        /// A handler has handled the whole initial list: its own `HasSynced`.
        HandlerSynced {
            /// The handler's number.
            handler: u8,
        },
        /// A handler modified an object that is shared with the cache.
        ObjectMutated {
            /// The object's key.
            key: Key,
            /// The handler's number.
            handler: u8,
        },
        /// The mutation detector found a modified object.
        MutationDetected {
            /// The object's key.
            key: Key,
        },
    }
}
