//! What the program around the informer does: its own calls of the queue, switches, and the informers beside the one that is shown.

use super::{ObjectRef, ProcessMode, facts};
use crate::delta::DeltaType;
use crate::key::Key;

facts! {
    /// What the program around the informer does: its own calls of the queue, switches, and the informers beside the one that is shown.
    pub enum RunFact {
        /// A program without a reflector called the queue.
        Called {
            /// Added: `Add`, Updated: `Update`, Deleted: `Delete`.
            delta_type: DeltaType,
            /// With this object.
            object: ObjectRef,
        },
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
}
