//! The handlers and the mutation detector, as in `shared_informer.go` and `mutation_detector.go`.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static ADD_HANDLER: Routine = Routine {
    title: Title::Of("AddEventHandler"),
    lines: &[
        plain("AddEventHandler(handler, resync_period):"),
        line(
            "  not started, period < check: check = period",
            &[Step::HandlerPeriod],
        ),
        line("  if started: lock block_deltas", &[Step::HandlerLock]),
        line("  listeners += handler", &[Step::HandlerAdd]),
        call(
            "  if started: tell it the whole store",
            &[Step::HandlerInitial],
            &[Id::Listener, Id::Distribute],
        ),
        line("  if started: unlock block_deltas", &[Step::HandlerUnlock]),
    ],
    unordered: None,
};

pub(super) static REMOVE_HANDLER: Routine = Routine {
    title: Title::Of("RemoveEventHandler"),
    lines: &[
        plain("RemoveEventHandler(handle):"),
        line("  lock block_deltas", &[Step::RemoveLock]),
        line(
            "  listeners -= it; its goroutines end",
            &[Step::HandlerRemove],
        ),
        line("  unlock block_deltas", &[Step::RemoveUnlock]),
    ],
    unordered: None,
};

pub(super) static DISTRIBUTE: Routine = Routine {
    title: Title::Of("sharedProcessor.distribute"),
    lines: &[
        plain("distribute(notification, sync):"),
        plain("  # sync: OnUpdate with old.rv == new.rv"),
        plain("  for listener in listeners:"),
        line(
            "    if sync and not listener.syncing: skip",
            &[Step::Withhold],
        ),
        call(
            "    else: listener.add(notification)",
            &[Step::ListenerSend],
            &[Id::Listener],
        ),
    ],
    unordered: Some((3, 4)),
};

pub(super) static LISTENER: Routine = Routine {
    title: Title::Of("processorListener"),
    lines: &[
        plain("pop():  # add() waits until it has received"),
        line(
            "  hand it to run, or into the ring buffer",
            &[Step::ListenerPop],
        ),
        plain("run():"),
        line("  for notification, in order:", &[Step::ListenerTake]),
        line(
            "    handler.on_add | on_update | on_delete",
            &[Step::ListenerHandle],
        ),
        line("    # it returned, with no error", &[Step::ListenerDone]),
        line(
            "    if that was the whole first list: synced",
            &[Step::HandlerSync],
        ),
        line(
            "    if it panicked: next one, after 1 s",
            &[Step::HandlerPanic],
        ),
    ],
    unordered: None,
};

pub(super) static MUTATIONS: Routine = Routine {
    title: Title::Of("cacheMutationDetector"),
    lines: &[
        plain("each second, for obj that was handed out:"),
        line("  if it is not as its copy: panic", &[Step::MutationCheck]),
    ],
    unordered: None,
};
