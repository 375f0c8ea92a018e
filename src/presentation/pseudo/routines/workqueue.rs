//! The workqueue and its workers, as in `util/workqueue`.

use deltascope_cache::step::Step;

use super::{Id, Routine, Title, call, line, plain};

pub(super) static WORKQUEUE: Routine = Routine {
    title: Title::Of("workqueue"),
    lines: &[
        plain("Add(key):  # nothing, if it is dirty"),
        line(
            "  dirty += key; queue += key, unless taken",
            &[Step::WorkAdd],
        ),
        line(
            "AddAfter(key, delay): Add when it is over",
            &[Step::WorkDelay],
        ),
        line(
            "Get(): queue.pop(); dirty -= it; taken += it",
            &[Step::WorkGet],
        ),
        line(
            "Done(key): taken -= it; dirty: queue += it",
            &[Step::WorkDone],
        ),
        line(
            "AddRateLimited(key): AddAfter, each time later",
            &[Step::WorkRateLimit],
        ),
        line("Forget(key): failures[key] = 0", &[Step::WorkForget]),
        line(
            "ShutDown(): Add does nothing any more",
            &[Step::WorkShutDown],
        ),
    ],
    unordered: Some((1, 7)),
};

pub(super) static WORKER: Routine = Routine {
    title: Title::Of("runWorker"),
    lines: &[
        plain("work():"),
        call("  while key = queue.get():", &[], &[Id::Workqueue]),
        line("    err = reconcile(key)", &[Step::Reconcile]),
        call(
            "    err: queue.add_rate_limited(key)",
            &[],
            &[Id::Workqueue],
        ),
        call("    else: queue.forget(key)", &[], &[Id::Workqueue]),
        call("    queue.done(key)", &[], &[Id::Workqueue]),
    ],
    unordered: Some((1, 5)),
};
