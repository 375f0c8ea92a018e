//! What happens to the queue, to its lock and to what Pop hands out.

use std::sync::Arc;

use super::{Actor, Entry, Known, LockName, ObjectRef, Rv, facts};
use crate::delta::DeltaType;
use crate::key::Key;

facts! {
    /// What happens to the queue, to its lock and to what Pop hands out.
    pub enum QueueFact {
        /// Somebody got the lock.
        LockTaken {
            /// Which.
            lock: LockName,
            /// Who.
            by: Actor,
        },
        /// Somebody has to wait for the lock.
        LockAwaited {
            /// Which.
            lock: LockName,
            /// Who.
            by: Actor,
            /// Who has it.
            holder: Actor,
        },
        /// The lock was given back.
        LockReleased {
            /// Which.
            lock: LockName,
            /// By whom.
            by: Actor,
        },
        /// No key could be made; nothing was queued or stored.
        KeyFailed {
            /// The error's text.
            error: Arc<str>,
        },
        /// The transformer failed; nothing was queued.
        TransformFailed {
            /// For which key.
            key: Key,
            /// The error's text.
            error: Arc<str>,
        },
        /// The transformer made another object of it.
        Transformed {
            /// As it came.
            from: ObjectRef,
            /// As it is queued.
            to: ObjectRef,
        },
        /// `populated` was set: from now on the queue is past its first fill.
        Populated {
            /// How many keys have to be popped before `HasSynced`.
            initial: u32,
        },
        /// Delete asked whether anybody would notice.
        DeleteChecked {
            /// The key.
            key: Key,
            /// What KnownObjects holds: `None` when there are no KnownObjects.
            known: Option<Known>,
            /// Whether the key has deltas in the queue.
            pending: bool,
        },
        /// A delete was dropped: neither known nor pending.
        DeleteIgnored {
            /// The key.
            key: Key,
        },
        /// A delta was put on top of its key's others.
        DeltaAppended {
            /// Its type.
            delta_type: DeltaType,
            /// Its object; `object.key` is the key.
            object: ObjectRef,
            /// How many deltas the key has now.
            depth: u32,
        },
        /// The two newest deltas were both deletes: one of them is left.
        DeltasMerged {
            /// The key.
            key: Key,
            /// The one that stays.
            kept: ObjectRef,
            /// Whether it is the older one.
            kept_older: bool,
        },
        /// A key took its place at the end of the queue.
        KeyEnqueued {
            /// The key.
            key: Key,
            /// How many keys are queued now.
            length: u32,
        },
        /// A list did not hold a key that is known or queued: its deletion was missed.
        DeletionDetected {
            /// The key.
            key: Key,
        },
        /// A resync passed a key over, because it has deltas in the queue.
        ResyncSkipped {
            /// The key.
            key: Key,
        },
        /// `AddIfNotPresent` did nothing: the key has newer content.
        AlreadyPresent {
            /// The key.
            key: Key,
        },
        /// FIFO only: the object of a key was set.
        FifoItemSet {
            /// The object.
            object: ObjectRef,
            /// What it takes the place of.
            old: Option<ObjectRef>,
        },
        /// FIFO only: an object was removed; its key stays in the queue.
        FifoItemRemoved {
            /// The key.
            key: Key,
        },
        /// FIFO only: all objects and all keys were dropped before a list is put in.
        FifoCleared,
        /// FIFO only: Pop skipped a key whose object is gone.
        FifoKeySkipped {
            /// The key.
            key: Key,
        },
        /// RealFIFO only: one entry was put at the end.
        EntryAppended {
            /// The entry.
            entry: Entry,
            /// How many entries are queued now.
            length: u32,
        },
        /// RealFIFO only: the first `count` entries were taken.
        EntriesTaken {
            /// How many.
            count: u32,
            /// Whether all of them belong to the first list.
            is_in_initial_list: bool,
        },
        /// The consumer has to wait: the queue is empty.
        QueueEmpty,
        /// A key left the queue, with all that was queued for it.
        KeyPopped {
            /// The key.
            key: Key,
            /// Its deltas, oldest first (FIFO: one, of type Added).
            deltas: Vec<(DeltaType, ObjectRef)>,
            /// Whether it belongs to the first list.
            is_in_initial_list: bool,
        },
        /// The first fill has been popped: `HasSynced` is true from now on.
        Synced,
        /// The process function failed; what was popped is gone.
        ProcessFailed {
            /// The error's text.
            error: Arc<str>,
        },
        /// The process function asked for it again (ErrRequeue): its key has again what the last
        /// `KeyPopped` took, and `KeyEnqueued` follows.
        Requeued {
            /// The key.
            key: Key,
            /// Whether it went in (else the key has newer content).
            added: bool,
        },
        /// Processing took long while many keys waited.
        ProcessWasSlow {
            /// The key.
            key: Key,
            /// How many keys waited.
            depth: u32,
            /// Milliseconds.
            ms: u64,
        },
        /// The queue was closed.
        QueueClosed,
        /// The process function took the next delta and looked its key up.
        DeltaTaken {
            /// Its place in what was popped.
            position: u32,
            /// Its type.
            delta_type: DeltaType,
            /// Its object.
            object: ObjectRef,
            /// What the store holds for the key: `None` where there is no store.
            exists: Option<bool>,
        },
        /// The process function returned.
        Processed {
            /// The key.
            key: Key,
        },
        /// RealFIFO only: the process function returned.
        EntriesProcessed {
            /// How many entries it had.
            count: u32,
        },
        /// A whole list was opened: the store is replaced before anybody is told.
        ListOpened {
            /// Its version.
            rv: Rv,
            /// How many objects.
            count: u32,
            /// How many stored objects it lacks.
            removed: u32,
        },
        /// A whole resync was opened: everything stored is handed out again.
        ResyncOpened {
            /// How many objects.
            count: u32,
        },
    }
}
