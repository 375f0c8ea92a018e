//! Facts of the program around the informer: its own queue calls, switches, and the other
//! informers.

use super::{ObjectRef, ProcessMode, Request, facts};
use crate::delta::DeltaType;
use crate::key::Key;

facts! {
    /// Facts of the program around the informer: its own queue calls, switches, and the other
    /// informers.
    pub enum RunFact {
        "DeltaFIFO":
        /// The queue's KnownObjects were set or removed.
        KnownObjectsSet {
            /// Whether they are set now.
            on: bool,
        },

        "any queue":
        /// The mode of the process loop changed.
        ModeSet {
            /// The new mode.
            mode: ProcessMode,
        },
        /// The user requested a Pop (only in held mode).
        PopAsked {
            /// Number of requested Pops that have not happened yet.
            asked: u32,
        },

        "program":
        /// A program without a reflector called a method of the queue.
        Called {
            /// The method. Added: `Add`, Updated: `Update`, Deleted: `Delete`.
            delta_type: DeltaType,
            /// The argument.
            object: ObjectRef,
        },
        /// One of the other informers requested a list or a watch.
        BesideRequested {
            /// The informer's number, from 0.
            informer: u8,
            /// Which of the two.
            request: Request,
        },
        /// The store of one of the other informers changed.
        BesideStored {
            /// The informer's number, from 0.
            informer: u8,
            /// The object's key.
            key: Key,
            /// The stored object; `None` after a deletion.
            object: Option<ObjectRef>,
        },
    }
}
