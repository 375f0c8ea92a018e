//! Facts of the workqueue and its workers.

use super::{WorkPlace, facts};
use crate::key::Key;

facts! {
    /// Facts of the workqueue and its workers.
    pub enum WorkFact {
        "workqueue":
        /// A worker compared the actual state with the desired state.
        Reconciled {
            /// The worker's number.
            worker: u8,
            /// The key.
            key: Key,
            /// Whether it succeeded.
            ok: bool,
        },
        /// A key was added to the workqueue.
        WorkAdded {
            /// The key.
            key: Key,
            /// Where the key was put.
            place: WorkPlace,
        },
        /// A worker took a key.
        WorkTaken {
            /// The worker's number.
            worker: u8,
            /// The key.
            key: Key,
        },
        /// A worker finished a key.
        WorkDone {
            /// The key.
            key: Key,
            /// Whether the key was added in the meantime and is queued again.
            again: bool,
        },
        /// A key was scheduled to be added later.
        WorkDelayed {
            /// The key.
            key: Key,
            /// The delay, in ms.
            ms: u64,
            /// How often the key has failed; 0: the delay has another reason.
            failures: u32,
        },
        /// The rate limiter forgot how often a key has failed.
        WorkForgotten {
            /// The key.
            key: Key,
        },
        /// The workqueue was shut down and accepts no more keys.
        WorkShutDown {
            /// Whether the shutdown waits for keys that workers are processing.
            drain: bool,
        },
    }
}
