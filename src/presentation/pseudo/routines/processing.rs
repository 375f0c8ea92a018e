//! Processing and the store, as in `controller.go`, `shared_informer.go` and `thread_safe_store.go`.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static HANDLE_DELTAS: Routine = Routine {
    title: Title::Of("sharedIndexInformer.HandleDeltas"),
    lines: &[
        plain("handle_deltas(deltas):"),
        line("  lock block_deltas", &[Step::BlockDeltasLock]),
        call(
            "  process_deltas(deltas)",
            &[],
            &[
                Id::ProcessDeltas,
                Id::ProcessBatch,
                Id::ProcessReplacedAll,
                Id::ProcessSyncAll,
            ],
        ),
        line("  unlock block_deltas", &[Step::BlockDeltasUnlock]),
    ],
    unordered: None,
};

pub(super) static PROCESS_DELTAS: Routine = Routine {
    title: Title::Of("processDeltas"),
    lines: &[
        plain("process_deltas(deltas):"),
        line(
            "  for type, obj in deltas, oldest first:",
            &[Step::ProcessDelta],
        ),
        plain("    old, exists = store.get(key)"),
        call(
            "    store.update | add | delete(obj)",
            &[],
            &[Id::StoreWrite, Id::StoreReplace],
        ),
        call(
            "    handler.on_update | on_add | on_delete",
            &[Step::ProcessNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: Some((1, 4)),
};

pub(super) static PROCESS_BATCH: Routine = Routine {
    title: Title::Of("processDeltasInBatch"),
    lines: &[
        plain("process_deltas_in_batch(deltas):"),
        line("  for type, obj in deltas:", &[Step::ProcessBatch]),
        plain("    old, exists = store.get(key)"),
        plain("    note the change, and what to tell"),
        call("  store.transaction(changes)", &[], &[Id::StoreWrite]),
        call(
            "  then tell all of it, in order",
            &[Step::ProcessBatchNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: Some((1, 3)),
};

pub(super) static PROCESS_REPLACED_ALL: Routine = Routine {
    title: Title::Of("processReplacedAllInfo"),
    lines: &[
        plain("process_replaced_all(list, rv):"),
        line(
            "  removed = what is stored and not in list",
            &[Step::ProcessReplacedAll],
        ),
        plain("  old = store.get(key), for each of list"),
        call(
            "  store.replace(list, rv)",
            &[],
            &[Id::StoreReplace, Id::StoreWrite],
        ),
        plain("  handler.on_delete(tombstone) for removed"),
        call(
            "  handler.on_update | on_add for list",
            &[Step::ProcessReplacedNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: None,
};

pub(super) static PROCESS_SYNC_ALL: Routine = Routine {
    title: Title::Of("processDeltas, SyncAll"),
    lines: &[
        plain("process_sync_all():"),
        line("  for obj in store.list():", &[Step::ProcessSyncAll]),
        call(
            "    handler.on_update(obj, obj)",
            &[Step::ProcessSyncNotify],
            &[Id::Distribute, Id::Listener],
        ),
    ],
    unordered: None,
};

pub(super) static OWN_PROCESS: Routine = Routine {
    title: Title::Of("process"),
    lines: &[
        plain("process(deltas):"),
        plain("  for type, obj in deltas, oldest first:"),
        plain("    switch type:"),
        call(
            "      store.add | update | delete(obj)",
            &[],
            &[Id::StoreWrite, Id::StoreReplace],
        ),
        call("      print(type, obj)", &[], &[Id::Listener]),
    ],
    unordered: Some((1, 4)),
};

pub(super) static OWN_PRINT: Routine = Routine {
    title: Title::Of("process"),
    lines: &[
        plain("process(deltas):"),
        plain("  for type, obj in deltas, oldest first:"),
        plain("    switch type:"),
        call("      print(type, obj)", &[], &[Id::Listener]),
    ],
    unordered: Some((1, 3)),
};

pub(super) static OWN_OBJECT: Routine = Routine {
    title: Title::Of("process"),
    lines: &[
        plain("process(obj):"),
        call("  store.add | update(obj)", &[], &[Id::StoreWrite]),
        call("  print(obj)", &[], &[Id::Listener]),
    ],
    unordered: None,
};

pub(super) static STORE_WRITE: Routine = Routine {
    title: Title::Of("Indexer.Update"),
    lines: &[
        plain("Update(key, obj) | Delete(key):"),
        line("  Update: items[key] = obj", &[Step::StoreWrite]),
        plain("  for index in indices:"),
        line("    if its function fails: panic", &[Step::IndexFail]),
        line(
            "    take key out under the old values",
            &[Step::IndexRemove],
        ),
        line("    put key in under the new values", &[Step::IndexAdd]),
        line("  Delete: items.remove(key)", &[Step::StoreDelete]),
        line("  store_rv = obj.rv  # from 0.36 on", &[Step::StoreVersion]),
    ],
    unordered: Some((3, 5)),
};

pub(super) static STORE_REPLACE: Routine = Routine {
    title: Title::Of("Indexer.Replace"),
    lines: &[
        plain("Replace(list, rv):"),
        line(
            "  items = the list's; empty all indices",
            &[Step::StoreReplace],
        ),
        plain("  store_rv = rv  # from 0.36 on"),
        call("  index each of items", &[], &[Id::StoreWrite]),
    ],
    unordered: Some((1, 3)),
};

pub(super) static STORE_BOOKMARK: Routine = Routine {
    title: Title::Of("Indexer.Bookmark"),
    lines: &[plain("Bookmark(rv):"), plain("  store_rv = rv")],
    unordered: None,
};

pub(super) static ADD_INDEXERS: Routine = Routine {
    title: Title::Of("Indexer.AddIndexers"),
    lines: &[
        plain("AddIndexers(new):"),
        line(
            "  if no name is taken: add all of them",
            &[Step::AddIndexers],
        ),
        call("  index each of items", &[], &[Id::StoreWrite]),
    ],
    unordered: None,
};
