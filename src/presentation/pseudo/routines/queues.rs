//! The queues: FIFO, DeltaFIFO and RealFIFO, as in `fifo.go`, `delta_fifo.go` and `the_real_fifo.go`.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static FIFO_WRITE: Routine = Routine {
    title: Title::Of("FIFO.Add, Delete, Replace"),
    lines: &[
        plain("Add(obj) | Delete(obj) | Replace(list):"),
        line("  lock", &[Step::FifoLock]),
        line("  Replace: items, queue = the list's", &[Step::FifoReplace]),
        line("  Add: items[key] = obj", &[Step::FifoAdd]),
        line(
            "  Add: enqueue key if it was not there",
            &[Step::FifoEnqueue],
        ),
        line(
            "  Delete: items.remove(key)  # not queue",
            &[Step::FifoDelete],
        ),
        line("  unlock", &[Step::FifoUnlock]),
    ],
    unordered: Some((2, 4)),
};

pub(super) static FIFO_POP: Routine = Routine {
    title: Title::Of("FIFO.Pop"),
    lines: &[
        plain("Pop(process):"),
        plain("  lock"),
        plain("  while queue is empty: wait"),
        line("  key = queue.pop_front()", &[Step::FifoPopTake]),
        plain("  if left > 0: left = left - 1"),
        line("  if items lacks key: next key", &[Step::FifoPopSkip]),
        call(
            "  process(items.remove(key))",
            &[Step::FifoPopProcess],
            &[Id::OwnObject],
        ),
        plain("  unlock"),
    ],
    unordered: Some((2, 5)),
};

pub(super) static ADD: Routine = Routine {
    title: Title::OfQueue("Add"),
    lines: &[
        plain("Add(obj) | Update(obj):"),
        line("  lock", &[Step::AddLock]),
        line("  populated = true", &[Step::AddKey]),
        call(
            "  queue_action(Added | Updated, obj)",
            &[],
            &[Id::QueueAction, Id::RealWrite],
        ),
        line("  unlock", &[Step::AddUnlock]),
    ],
    unordered: None,
};

pub(super) static QUEUE_ACTION: Routine = Routine {
    title: Title::Of("queueActionLocked"),
    lines: &[
        plain("queue_action(type, obj):"),
        line("  key = key_of(obj)", &[Step::QueueActionKey]),
        line(
            "  obj = transform(obj)  # not for Sync",
            &[Step::QueueActionTransform],
        ),
        line("  items[key].push(type, obj)", &[Step::QueueActionAppend]),
        line(
            "  if the last two are Deleted: keep one",
            &[Step::QueueActionDedup],
        ),
        line(
            "  if key was not queued: queue.push(key)",
            &[Step::QueueActionEnqueue],
        ),
    ],
    unordered: None,
};

pub(super) static DELETE: Routine = Routine {
    title: Title::OfQueue("Delete"),
    lines: &[
        plain("Delete(obj):"),
        line("  key = key_of(obj)", &[Step::DeleteKey]),
        line("  lock", &[Step::DeleteLock]),
        plain("  populated = true"),
        line(
            "  known   = known_objects.get(key) is some",
            &[Step::DeleteCheck],
        ),
        plain("  pending = items contains key"),
        line(
            "  if not known and not pending: return",
            &[Step::DeleteIgnore],
        ),
        call(
            "  queue_action(Deleted, obj)",
            &[],
            &[Id::QueueAction, Id::RealWrite],
        ),
        line("  unlock", &[Step::DeleteUnlock]),
    ],
    // A fact about the key may come before or after the lock.
    unordered: Some((1, 2)),
};

pub(super) static REPLACE: Routine = Routine {
    title: Title::OfQueue("Replace"),
    lines: &[
        plain("Replace(list):"),
        line("  lock", &[Step::ReplaceLock]),
        plain("  for obj in list:"),
        call(
            "    queue_action(Replaced, obj)",
            &[Step::ReplaceItem],
            &[Id::QueueAction],
        ),
        plain("  for key in items, known_objects not in list:"),
        call(
            "    queue_action(Deleted, tombstone(key))",
            &[Step::ReplaceMissing],
            &[Id::QueueAction],
        ),
        line(
            "  if not populated: left = keys queued",
            &[Step::ReplacePopulation],
        ),
        line("  unlock", &[Step::ReplaceUnlock]),
    ],
    unordered: Some((3, 5)),
};

pub(super) static RESYNC: Routine = Routine {
    title: Title::OfQueue("Resync"),
    lines: &[
        plain("Resync():"),
        line("  lock", &[Step::ResyncLock]),
        plain("  for key in known_objects:"),
        line("    if items contains key: skip it", &[Step::ResyncKey]),
        call("    else: queue_action(Sync, obj)", &[], &[Id::QueueAction]),
        line("  unlock", &[Step::ResyncUnlock]),
    ],
    unordered: Some((3, 4)),
};

pub(super) static ADD_IF_NOT_PRESENT: Routine = Routine {
    title: Title::OfQueue("AddIfNotPresent"),
    lines: &[
        plain("AddIfNotPresent(key, deltas):"),
        plain("  populated = true"),
        line(
            "  if items lacks key: put them at the end",
            &[Step::AddIfNotPresent],
        ),
    ],
    unordered: None,
};

pub(super) static POP: Routine = Routine {
    title: Title::OfQueue("Pop"),
    lines: &[
        plain("Pop(process):"),
        line("  lock", &[Step::PopLock]),
        line("  while queue is empty: wait", &[Step::PopWait]),
        line("  deltas = take the front", &[Step::PopTake]),
        line("  if left > 0: left = left - 1", &[Step::PopCountDown]),
        call(
            "  process(deltas, is_in_initial_list)",
            &[Step::PopProcess],
            &[
                Id::HandleDeltas,
                Id::ProcessDeltas,
                Id::OwnProcess,
                Id::OwnPrint,
            ],
        ),
        line("  if slow and depth > 10: log it", &[Step::PopSlow]),
        line(
            "  up to 0.32, if ErrRequeue: put it back",
            &[Step::PopRequeue],
        ),
        line("  unlock", &[Step::PopUnlock]),
    ],
    // A Pop that waited acquires the lock again, and `ProcessWasSlow` comes before `ProcessFailed`.
    unordered: Some((1, 6)),
};

pub(super) static CLOSE: Routine = Routine {
    title: Title::OfQueue("Close"),
    lines: &[
        plain("Close():"),
        line("  closed = true; wake everybody", &[Step::QueueClose]),
    ],
    unordered: None,
};

pub(super) static HAS_SYNCED: Routine = Routine {
    title: Title::OfQueue("HasSynced"),
    lines: &[
        plain("HasSynced():"),
        line("  lock", &[Step::HasSyncedLock]),
        plain("  synced = populated and left == 0"),
        line("  unlock", &[Step::HasSyncedUnlock]),
        plain("  return synced"),
    ],
    unordered: None,
};

pub(super) static REAL_WRITE: Routine = Routine {
    title: Title::Of("RealFIFO.Add, Delete, Bookmark"),
    lines: &[
        plain("Add | Update | Delete(obj) | Bookmark(rv):"),
        plain("  lock"),
        plain("  unless Bookmark: populated = true"),
        line("  items.push(Added | Updated, obj)", &[Step::RealAdd]),
        line(
            "  items.push(Deleted, obj)  # asks no store",
            &[Step::RealDelete],
        ),
        line("  items.push(Bookmark, rv)", &[Step::RealBookmark]),
        plain("  unlock"),
    ],
    unordered: Some((2, 5)),
};

pub(super) static REAL_REPLACE: Routine = Routine {
    title: Title::Of("RealFIFO.Replace"),
    lines: &[
        plain("Replace(list, rv):"),
        plain("  lock"),
        line(
            "  atomic: items.push(ReplacedAll, list)",
            &[Step::RealReplaceAll],
        ),
        plain("  else for key missing from list:"),
        line(
            "    items.push(Deleted, tombstone(key))",
            &[Step::RealReplaceDeletes],
        ),
        plain("  for obj in list:"),
        line("    items.push(Replaced, obj)", &[Step::RealReplaceItems]),
        line(
            "  if not populated: left = len(items)",
            &[Step::RealPopulation],
        ),
        plain("  unlock"),
    ],
    unordered: None,
};

pub(super) static REAL_RESYNC: Routine = Routine {
    title: Title::Of("RealFIFO.Resync"),
    lines: &[
        plain("Resync():"),
        plain("  lock"),
        line("  atomic: items.push(SyncAll)", &[Step::RealSyncAll]),
        plain("  else for known key that is not queued:"),
        line("    items.push(Sync, obj)", &[Step::RealResync]),
        plain("  unlock"),
    ],
    unordered: None,
};

pub(super) static REAL_POP_BATCH: Routine = Routine {
    title: Title::Of("RealFIFO.PopBatch"),
    lines: &[
        plain("PopBatch(process):"),
        plain("  lock"),
        plain("  while items is empty: wait"),
        line("  batch = the front, each key once", &[Step::RealPopBatch]),
        line("  unlock  # from 0.36 on", &[Step::PopRelease]),
        call(
            "  process(batch, is_in_initial_list)",
            &[],
            &[
                Id::HandleDeltas,
                Id::ProcessDeltas,
                Id::ProcessBatch,
                Id::ProcessReplacedAll,
                Id::ProcessSyncAll,
                Id::OwnProcess,
                Id::OwnPrint,
            ],
        ),
        line("  lock again", &[Step::PopRetake]),
        plain("  left -= len(batch)  # up to 0.35: before"),
        plain("  if slow and depth > 10: log it"),
        plain("  unlock"),
    ],
    unordered: Some((1, 8)),
};
