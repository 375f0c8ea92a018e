//! Captions of the workqueue and its workers.

use deltascope_cache::fact::{Actor, WorkFact, WorkPlace};
use deltascope_cache::key::Key;

use super::spans::text;
use super::{Sentences, Writer};
use crate::decimal::duration;
use deltascope_world::text::{Lang, counted};

names! {
    /// The Chinese names of these facts.
    WorkFact {
        WorkAdded = "workqueue 加入 key" as "added to the workqueue",
        WorkTaken = "workqueue 取出 key" as "taken by a worker",
        WorkDone = "workqueue Done" as "worker done",
        WorkDelayed = "workqueue 延后 key" as "retry delayed",
        WorkForgotten = "workqueue Forget" as "failures forgotten",
        Reconciled = "列表与存储比对",
        WorkShutDown = "workqueue 关闭" as "workqueue shut down",
    }
}

impl Writer<'_> {
    pub(super) fn work_sentences(&self, fact: &WorkFact) -> Sentences {
        match fact {
            WorkFact::WorkAdded { key, place } => self.work_added(key, *place),
            WorkFact::WorkTaken { worker, key } => self.work_taken(*worker, key),
            WorkFact::WorkDone { key, again } => self.work_done(key, *again),
            WorkFact::WorkDelayed { key, ms, failures } => self.work_delayed(key, *ms, *failures),
            WorkFact::WorkForgotten { key } => self.work_forgotten(key),
            WorkFact::Reconciled { worker, key, ok } => self.reconciled(*worker, key, *ok),
            WorkFact::WorkShutDown { drain } => self.work_shut_down(*drain),
        }
    }

    fn work_added(&self, key: &Key, place: WorkPlace) -> Sentences {
        match place {
            WorkPlace::Queue => told!(
                self,
                "{name} was added to the workqueue.",
                "{name} 加入了工作队列。",
                "`dirty = no, processing = no → enqueue`. It keeps keys, not events: the worker will ask the lister what is there by then.",
                "`dirty = 否，处理中 = 否 → 入队`。它保存 key 而不是事件：届时由 worker 向 lister 查询现状。",
                name = self.name(key)
            ),
            WorkPlace::Dirty => told!(
                self,
                "{name} was marked dirty: a worker has it at the moment.",
                "{name} 被标记为 dirty：有 worker 正在处理它。",
                "`dirty = no, processing = yes → wait for Done`: no two workers ever have the same key.",
                "`dirty = 否，处理中 = 是 → 等 Done`：同一个 key 不会同时在两个 worker 手里。",
                name = self.name(key)
            ),
            WorkPlace::Duplicate => told!(
                self,
                "{name} waits already; it was not added again.",
                "{name} 已在等待，不再重复加入。",
                "`dirty = yes → nothing to do`: many changes become one reconcile.",
                "`dirty = 是 → 无事可做`：多次变更合成一次调谐。",
                name = self.name(key)
            ),
        }
    }

    fn work_taken(&self, worker: u8, key: &Key) -> Sentences {
        told!(
            self,
            "{worker} took {name}.",
            "{worker} 取走了 {name}。",
            "It is being processed and no longer dirty: a change from now on marks it again.",
            "它进入处理中，不再 dirty：此后的变更会重新标记它。",
            worker = self.actor(Actor::Worker(worker)),
            name = self.name(key)
        )
    }

    fn work_done(&self, key: &Key, again: bool) -> Sentences {
        if again {
            told!(
                self,
                "Done with {name}, which became dirty meanwhile: it is queued again.",
                "{name} 处理完毕（Done），但期间又变 dirty：再次入队。",
                "`dirty = yes → enqueue`: what the worker read may have been old.",
                "`dirty = 是 → 入队`：worker 读到的可能已是旧的。",
                name = self.name(key)
            )
        } else {
            told!(
                self,
                "Done with {name}.",
                "{name} 处理完毕（Done）。",
                "`dirty = no → gone`. Without Done, the key would never be handed out again.",
                "`dirty = 否 → 移出`。不调用 Done，这个 key 就再也不会交出。",
                name = self.name(key)
            )
        }
    }

    fn work_delayed(&self, key: &Key, ms: u64, failures: u32) -> Sentences {
        if failures == 0 {
            told!(
                self,
                "{name} will be added in {time}.",
                "{name} 将在 {time} 后加入。",
                "Until then it is not in the queue; an Add goes before it.",
                "在此之前它不在队列里；期间的 Add 会先到。",
                name = self.name(key),
                time = text(duration(self.lang, ms))
            )
        } else {
            told!(
                self,
                "{name} will be added again in {time}, having failed {times}.",
                "{name} 将在 {time} 后再次加入，已失败 {times}。",
                "`5 ms × 2^(failures − 1)`, at most 1000 s, until Forget; or longer, as all keys together get 100 at once, then 10 a second. Done does not wait.",
                "`5 ms × 2^(失败次数 − 1)`，最多 1000 秒，直到 Forget；也可能更久：所有 key 合计先放行 100 次，之后每秒 10 次。Done 不必等它。",
                name = self.name(key),
                time = text(duration(self.lang, ms)),
                times = text(self.lang.pick(
                    counted(failures as usize, "time", "times"),
                    format!("{failures} 次")
                ))
            )
        }
    }

    fn work_forgotten(&self, key: &Key) -> Sentences {
        told!(
            self,
            "The rate limiter forgot the failures of {name}.",
            "限速器清除了 {name} 的失败次数。",
            "The next failure waits 5 ms again. Forget is not Done: that is still to come.",
            "下次失败又从 5 ms 算起。Forget 不等于 Done，Done 还得调用。",
            name = self.name(key)
        )
    }

    fn reconciled(&self, worker: u8, key: &Key, ok: bool) -> Sentences {
        if ok {
            told!(
                self,
                "{worker} reconciled {name}.",
                "{worker} 调谐了 {name}。",
                "It knows only the key: whether that was an add, an update or many of them makes no difference.",
                "它只知道 key：是新增、更新还是多次变更，都没有区别。",
                worker = self.actor(Actor::Worker(worker)),
                name = self.name(key)
            )
        } else {
            told!(
                self,
                "{worker} failed to reconcile {name}.",
                "{worker} 调谐 {name} 失败。",
                "`err → AddRateLimited`: without it, the key would never come back.",
                "`err → AddRateLimited`：不重新入队就不会再处理。",
                worker = self.actor(Actor::Worker(worker)),
                name = self.name(key)
            )
        }
    }

    fn work_shut_down(&self, drain: bool) -> Sentences {
        told!(
            self,
            "The workqueue was shut down{drain}.",
            "工作队列已关闭{drain}。",
            "Add does nothing any more; what is queued is still handed out.",
            "Add 不再起作用；已入队的仍会交出。",
            drain = text(match (drain, self.lang) {
                (true, Lang::En) => ", and waits for what is being processed",
                (true, Lang::Zh) => "，并等待处理中的项",
                _ => "",
            })
        )
    }
}
