//! The reflector, as in `reflector.go`.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static LIST_AND_WATCH: Routine = Routine {
    title: Title::Of("Reflector.ListAndWatch"),
    lines: &[
        plain("ListAndWatch():"),
        call(
            "  streaming list on: w = watch_list()",
            &[],
            &[Id::WatchList],
        ),
        line(
            "    refused: list in this round",
            &[Step::ReflectorFallBack],
        ),
        call("  else: list()", &[], &[Id::List]),
        call(
            "  beside the watch: start_resync()",
            &[],
            &[Id::StartResync],
        ),
        call("  watch(w)", &[], &[Id::Watch]),
        line(
            "  on an error: watch_error_handler(err)",
            &[Step::ReflectorWatchError],
        ),
        line(
            "wait, longer after each failure; again",
            &[Step::ReflectorBackoff],
        ),
        line("until it is stopped", &[Step::ReflectorStop]),
    ],
    unordered: Some((2, 7)),
};

pub(super) static LIST: Routine = Routine {
    title: Title::Of("Reflector.list"),
    lines: &[
        plain("list():"),
        line(
            "  page = server.list(last_sync_rv, or \"0\")",
            &[Step::ReflectorList],
        ),
        line(
            "  while more: append it, ask with its token",
            &[Step::ReflectorPage],
        ),
        line(
            "  failed: at once again, or return err",
            &[Step::ReflectorListFailed],
        ),
        line(
            "  rv_unavailable = expired or too large",
            &[Step::ReflectorUnavailable],
        ),
        call(
            "  queue.replace(list, list.rv)",
            &[],
            &[Id::Replace, Id::RealReplace, Id::FifoWrite],
        ),
        line("  last_sync_rv = list.rv", &[Step::ReflectorListVersion]),
    ],
    unordered: Some((1, 4)),
};

pub(super) static WATCH_LIST: Routine = Routine {
    title: Title::Of("Reflector.watchList"),
    lines: &[
        plain("watch_list():"),
        line(
            "  w = server.watch(rv, send_initial_events)",
            &[Step::ReflectorStream],
        ),
        line("  for event in w:", &[Step::ReflectorStreamReceive]),
        line(
            "    temporary.add | update | delete(obj)",
            &[Step::ReflectorKeep],
        ),
        line(
            "    until the bookmark that ends the list",
            &[Step::ReflectorStreamEnd],
        ),
        line(
            "  expired, refused or closed: again",
            &[Step::ReflectorStreamAgain],
        ),
        line("  rv_unavailable = false", &[Step::ReflectorStreamUsed]),
        call(
            "  queue.replace(temporary, bookmark.rv)",
            &[],
            &[Id::Replace, Id::RealReplace, Id::FifoWrite],
        ),
        line(
            "  last_sync_rv = bookmark.rv",
            &[Step::ReflectorStreamVersion],
        ),
        plain("  return w  # the same stream goes on"),
    ],
    unordered: Some((1, 5)),
};

pub(super) static WATCH: Routine = Routine {
    title: Title::Of("Reflector.watch"),
    lines: &[
        plain("watch(w):"),
        line(
            "  if there is no w: w = server.watch(last_rv)",
            &[Step::ReflectorWatch],
        ),
        line(
            "  refused or 429: wait, then watch again",
            &[Step::ReflectorRetry],
        ),
        line("  for event in w:", &[Step::ReflectorReceive]),
        line(
            "    if it is of another type: skip it",
            &[Step::ReflectorReject],
        ),
        call(
            "    queue.add | update | delete(event.obj)",
            &[],
            &[Id::Add, Id::Delete, Id::RealWrite, Id::FifoWrite],
        ),
        line("    last_sync_rv = event.rv", &[Step::ReflectorSetVersion]),
        line(
            "  error, or short and empty: list next",
            &[Step::ReflectorEnd],
        ),
        plain("  else: watch again"),
    ],
    unordered: Some((1, 7)),
};

pub(super) static START_RESYNC: Routine = Routine {
    title: Title::Of("Reflector.startResync"),
    lines: &[
        plain("start_resync():"),
        plain("  each resync_period:"),
        call(
            "    if should_resync():",
            &[Step::ResyncTimer],
            &[Id::ShouldResync],
        ),
        call("      queue.resync()", &[], &[Id::Resync, Id::RealResync]),
    ],
    unordered: Some((2, 3)),
};

pub(super) static SHOULD_RESYNC: Routine = Routine {
    title: Title::Of("sharedProcessor.shouldResync"),
    lines: &[
        plain("should_resync():"),
        plain("  for listener in listeners:"),
        line(
            "    listener.syncing = its resync is due",
            &[Step::ResyncCheck],
        ),
        plain("    if it is: due again after its period"),
        plain("  return whether any is due"),
    ],
    unordered: None,
};
