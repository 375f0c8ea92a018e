//! Facts of the queue, its lock and the popped items.

use std::sync::Arc;

use super::{Actor, Entry, Known, LockName, ObjectRef, Rv, facts};
use crate::delta::DeltaType;
use crate::key::Key;

facts! {
    /// Facts of the queue, its lock and the popped items.
    pub enum QueueFact {
        "list":
        /// The process function opened a whole list: it replaces the store's content before it
        /// notifies anyone.
        ListOpened {
            /// The list's version.
            rv: Rv,
            /// Number of objects in the list.
            count: u32,
            /// Number of stored objects that are not in the list.
            removed: u32,
        },

        "DeltaFIFO":
        /// `populated` was set, by the first list or by an earlier write.
        Populated {
            /// Number of keys to pop before `HasSynced` is true.
            initial: u32,
        },
        /// `Delete` checked whether the key is known or queued.
        DeleteChecked {
            /// The key.
            key: Key,
            /// What KnownObjects holds for the key; `None`: the queue has no KnownObjects.
            known: Option<Known>,
            /// Whether the key has deltas in the queue.
            pending: bool,
        },
        /// A delete was ignored: the key is neither known nor pending.
        DeleteIgnored {
            /// The key.
            key: Key,
        },
        /// A delta was appended to the deltas of its key.
        DeltaAppended {
            /// The delta's type.
            delta_type: DeltaType,
            /// The delta's object; `object.key` is the key.
            object: ObjectRef,
            /// Number of deltas of the key now.
            depth: u32,
        },
        /// The two newest deltas of a key were both deletes; one was dropped.
        DeltasMerged {
            /// The key.
            key: Key,
            /// The delete that was kept.
            kept: ObjectRef,
            /// Whether the older one was kept.
            kept_older: bool,
        },
        /// A key was appended to the queue.
        KeyEnqueued {
            /// The key.
            key: Key,
            /// Number of queued keys now.
            length: u32,
        },
        /// A list lacks a key that is known or queued: its deletion was missed.
        DeletionDetected {
            /// The key.
            key: Key,
        },
        /// A key was popped, with everything queued for it.
        KeyPopped {
            /// The key.
            key: Key,
            /// Its deltas, oldest first (FIFO: one, of type Added).
            deltas: Vec<(DeltaType, ObjectRef)>,
            /// Whether it belongs to the initial list.
            is_in_initial_list: bool,
        },
        /// The process function requested a requeue (ErrRequeue): the queue puts the item of the
        /// last `KeyPopped` back under its key. `KeyEnqueued` follows.
        Requeued {
            /// The key.
            key: Key,
            /// Whether it was put back (otherwise the key has newer content).
            added: bool,
        },

        "RealFIFO":
        /// RealFIFO only: an entry was appended to the queue.
        EntryAppended {
            /// The entry.
            entry: Entry,
            /// Number of queued entries now.
            length: u32,
        },
        /// RealFIFO only: the first `count` entries were popped.
        EntriesTaken {
            /// Number of popped entries.
            count: u32,
            /// Whether all of them belong to the initial list.
            is_in_initial_list: bool,
        },
        /// The process function took the next delta and looked up its key.
        DeltaTaken {
            /// The delta's position in the popped item.
            position: u32,
            /// The delta's type.
            delta_type: DeltaType,
            /// The delta's object.
            object: ObjectRef,
            /// Whether the store holds the key; `None`: not looked up.
            exists: Option<bool>,
        },
        /// RealFIFO only: the process function returned.
        EntriesProcessed {
            /// Number of processed entries.
            count: u32,
        },

        "FIFO":
        /// `AddIfNotPresent` did nothing: the key already has newer content.
        AlreadyPresent {
            /// The key.
            key: Key,
        },
        /// FIFO only: the object of a key was set.
        FifoItemSet {
            /// The object.
            object: ObjectRef,
            /// The object that it replaced, if any.
            old: Option<ObjectRef>,
        },
        /// FIFO only: an object was removed; its key stays in the queue.
        FifoItemRemoved {
            /// The key.
            key: Key,
        },
        /// FIFO only: all objects and keys were dropped before a list is queued.
        FifoCleared,
        /// FIFO only: Pop skipped a key whose object was deleted.
        FifoKeySkipped {
            /// The key.
            key: Key,
        },

        "any queue":
        /// The key function failed; nothing was queued or stored.
        KeyFailed {
            /// The error's text.
            error: Arc<str>,
        },
        /// An actor acquired a lock.
        LockTaken {
            /// The lock.
            lock: LockName,
            /// The actor.
            by: Actor,
        },
        /// An actor has to wait for a lock.
        LockAwaited {
            /// The lock.
            lock: LockName,
            /// The waiting actor.
            by: Actor,
            /// The actor that holds the lock.
            holder: Actor,
        },
        /// An actor released a lock.
        LockReleased {
            /// The lock.
            lock: LockName,
            /// The actor.
            by: Actor,
        },
        /// The transformer failed; nothing was queued.
        TransformFailed {
            /// The object's key.
            key: Key,
            /// The error's text.
            error: Arc<str>,
        },
        /// The transformer replaced an object.
        Transformed {
            /// The object before.
            from: ObjectRef,
            /// The object after, as it is queued.
            to: ObjectRef,
        },
        /// The consumer waits: the queue is empty.
        QueueEmpty,
        /// The queue was closed.
        QueueClosed,

        "process":
        /// The initial population has been popped: `HasSynced` is true from now on.
        Synced,
        /// The process function failed; the popped item is lost.
        ProcessFailed {
            /// The error's text.
            error: Arc<str>,
        },
        /// Processing took long while many keys were waiting.
        ProcessWasSlow {
            /// The key.
            key: Key,
            /// Number of waiting keys.
            depth: u32,
            /// Processing time, in ms.
            ms: u64,
        },
        /// The process function returned.
        Processed {
            /// The key.
            key: Key,
        },

        "resync":
        /// A resync skipped a key because it has deltas in the queue.
        ResyncSkipped {
            /// The key.
            key: Key,
        },
        /// The process function opened a whole resync: it delivers every stored object again.
        ResyncOpened {
            /// Number of objects.
            count: u32,
        },
    }
}
