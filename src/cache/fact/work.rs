//! What happens to the workqueue, and what its workers do.

use super::{WorkPlace, facts};
use crate::key::Key;

facts! {
    /// What happens to the workqueue, and what its workers do.
    pub enum WorkFact {
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
    }
}
