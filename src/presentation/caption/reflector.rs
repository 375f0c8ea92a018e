//! Captions of the reflector.

use deltascope_cache::fact::{
    BackoffReason, EventType, Fact, ListAgain, ObjectRef, Reason, ReflectorFact, ServerFact,
};
use deltascope_cache::queue::Release;
use deltascope_cache::step::Step;

use super::amounts::objects;
use super::spans::{Span, event_type, mono, text, version};
use super::{Sentences, Writer};
use crate::decimal::duration;
use deltascope_world::text::{Lang, counted};

names! {
    /// The Chinese names of these facts.
    ReflectorFact {
        ListRequested = "请求 List",
        PageReceived = "收到一页",
        ListFailed = "List 失败",
        ListReceived = "收到列表",
        WatchRequested = "请求 watch",
        WatchFailed = "watch 失败",
        InitialEventKept = "暂存初始事件",
        InitialEventsEnded = "初始事件结束",
        InitialEventsEndMissed = "初始事件未见结束",
        StreamFellBack = "流式列表退回 List",
        ObjectRejected = "类型不符，忽略对象",
        VersionUnavailable = "版本过期或过新",
        WatchErrorReported = "报告 watch 错误",
        ResyncDue = "resync 到期",
        EventReceived = "收到事件",
        LastSyncMoved = "lastSyncResourceVersion 更新",
        WatchEnded = "watch 结束",
        BackoffStarted = "开始退避",
        ReflectorStopped = "Reflector 停止",
    }
}

impl Writer<'_> {
    pub(super) fn reflector_sentences(&self, fact: &ReflectorFact) -> Sentences {
        match fact {
            ReflectorFact::ListRequested {
                rv,
                limit,
                continues,
                ..
            } => self.list_requested(rv, *limit, *continues),
            ReflectorFact::PageReceived { count: _, total } => self.page_received(*total),
            ReflectorFact::ListFailed { error, next } => self.list_failed(error, *next),
            ReflectorFact::ListReceived { rv, count } => self.list_received(rv, *count),
            ReflectorFact::WatchRequested { rv, initial_events } => {
                self.watch_requested(rv, *initial_events)
            }
            ReflectorFact::WatchFailed { error } => self.watch_failed(error),
            ReflectorFact::InitialEventKept { event, object } => {
                self.initial_event_kept(*event, object)
            }
            ReflectorFact::InitialEventsEnded { rv, count } => {
                self.initial_events_ended(rv, *count)
            }
            ReflectorFact::InitialEventsEndMissed { ms, any } => {
                self.initial_events_end_missed(*ms, *any)
            }
            ReflectorFact::StreamFellBack { error } => self.stream_fell_back(error),
            ReflectorFact::ObjectRejected { error } => self.object_rejected(error),
            ReflectorFact::VersionUnavailable { on } => self.version_unavailable(*on),
            ReflectorFact::WatchErrorReported { error } => self.watch_error_reported(error),
            ReflectorFact::ResyncDue { wanted } => self.resync_due(*wanted),
            ReflectorFact::EventReceived {
                ends_list: true,
                object,
                ..
            } => self.initial_events_end_received(object),
            ReflectorFact::EventReceived { event, object, .. } => {
                self.event_received(*event, object)
            }
            ReflectorFact::LastSyncMoved { from, to } => self.last_sync_moved(from, to),
            ReflectorFact::WatchEnded { relist, code } => self.watch_ended(*relist, *code),
            ReflectorFact::BackoffStarted { ms, reason } => self.backoff_started(*ms, *reason),
            ReflectorFact::ReflectorStopped { reason } => self.reflector_stopped(reason),
        }
    }

    fn list_requested(&self, rv: &str, limit: u32, continues: bool) -> Sentences {
        if continues {
            told!(
                self,
                "The Reflector asked for the next page of its list.",
                "Reflector 请求列表的下一页。",
                "It sends the token instead of a version: a server refuses both together.",
                "它带的是 token 而不是版本：两者同时出现会被 API server 拒绝。"
            )
        } else {
            (
                say!(
                    self,
                    "The Reflector asked for a list with resourceVersion {rv}.",
                    "Reflector 发出 List 请求，resourceVersion 为 {rv}。",
                    rv = version(rv),
                ),
                vec![match rv {
                    "0" => say!(
                        self,
                        "`0, limit = {limit}`: any state will do, even an old one from the server's watch cache, which ignores the limit.",
                        "`0，limit = {limit}`：任何状态都可以，哪怕是 API server watch cache 里较旧的一份，它会忽略 limit。",
                        limit = text(limit.to_string()),
                    ),
                    "" => say!(
                        self,
                        "Empty means: the newest state, read from etcd. The last version it knew cannot be had any more.",
                        "空字符串表示要最新状态，从 etcd 读取。它上次记下的版本已无法取得。",
                    ),
                    _ => say!(
                        self,
                        "It asks for a state not older than what it has already seen, so that the cache does not go back in time.",
                        "它要求结果不早于自己已见过的状态，这样缓存就不会倒退。",
                    ),
                }],
            )
        }
    }

    fn page_received(&self, total: u32) -> Sentences {
        told!(
            self,
            "A page of the list arrived; {objects} so far.",
            "收到列表的一页；到目前为止共 {objects}。",
            "The server gave a token for the next page. The list has the version of its first page.",
            "API server 给了下一页的 token。整个列表的版本是第一页的版本。",
            objects = text(objects(self.lang, total as usize))
        )
    }

    fn list_failed(&self, error: &str, next: ListAgain) -> Sentences {
        told!(
            self,
            "The list failed: {error}.",
            "List 失败：{error}。",
            "{next}",
            "{next}",
            error = mono(error),
            next = self.list_again(next)
        )
    }

    fn list_again(&self, next: ListAgain) -> Vec<Span> {
        match next {
            ListAgain::Later => say!(
                self,
                "This round is over. After a pause the next one begins with a list.",
                "这一轮到此为止。停顿之后，下一轮从 List 开始。",
            ),
            ListAgain::Expired => say!(
                self,
                "The version has expired: it lists again at once, for the newest state.",
                "版本已过期：立刻重新 List，要求最新状态。",
            ),
            ListAgain::TooLarge => say!(
                self,
                "The server has not come that far: it lists again at once, for the newest state.",
                "API server 还没有走到那个版本：立刻重新 List，要求最新状态。",
            ),
            ListAgain::PageExpired => say!(
                self,
                "The token for the next page has expired: the whole list is asked for at once, in one piece.",
                "下一页的 token 已过期：立刻一次性请求整个列表。",
            ),
        }
    }

    fn list_received(&self, rv: &str, count: u32) -> Sentences {
        told!(
            self,
            "The list reached the Reflector: {objects} at resourceVersion {rv}.",
            "Reflector 收到列表：{objects}，resourceVersion 为 {rv}。",
            "All of it goes into the {queue} with one call of Replace. What the list lacks counts as deleted.",
            "整个列表通过一次 Replace 放入 {queue}。列表里没有的，就视为已删除。",
            objects = text(objects(self.lang, count as usize)),
            rv = version(rv),
            queue = self.queue()
        )
    }

    fn watch_requested(&self, rv: &str, initial_events: bool) -> Sentences {
        if self.begins_in_mid_watch(rv) {
            told!(
                self,
                "The Reflector asked for a watch, without a list before it.",
                "Reflector 请求 watch，在此之前没有 List。",
                "The recording begins in the middle of a watch and does not say from which version that was.",
                "录制从 watch 的中途开始，没有记下是从哪个版本开始的。"
            )
        } else if initial_events {
            told!(
                self,
                "The Reflector asked for a streaming list, {rv}.",
                "Reflector 请求流式列表，{rv}。",
                "`sendInitialEvents = true`: a watch that begins with all objects, so the server never has to build a list as a whole.",
                "`sendInitialEvents = true`：以全部对象开头的 watch，API server 无需拼出整个列表。",
                rv = match (rv.is_empty(), self.lang) {
                    (true, Lang::En) => text("of the newest state"),
                    (true, Lang::Zh) => text("要求最新状态"),
                    (false, _) =>
                        say!(self, "not older than {rv}", "不早于 {rv}", rv = version(rv)),
                }
            )
        } else {
            (
                say!(
                    self,
                    "The Reflector asked for a watch from resourceVersion {rv}.",
                    "Reflector 请求从 resourceVersion {rv} 开始 watch。",
                    rv = version(rv),
                ),
                vec![if rv == "0" {
                    say!(
                        self,
                        "`0` means: start from any state, even an old one, and send all objects of it first.",
                        "`0` 表示从任何状态开始都可以，哪怕较旧，并先把其中的全部对象发送一遍。",
                    )
                } else if rv.is_empty() {
                    say!(
                        self,
                        "Without a version, the server starts from the newest state and sends all of it first.",
                        "不带版本时，API server 从最新状态开始，并先把全部对象发送一遍。",
                    )
                } else {
                    say!(
                        self,
                        "That is LastSyncResourceVersion, the last it has seen: if the server still has what came after it, nothing is missed and nothing comes twice.",
                        "这就是 LastSyncResourceVersion，即它见到的最后一个版本：只要 API server 还保留着其后的变更，就不重不漏。",
                    )
                }],
            )
        }
    }

    fn watch_failed(&self, error: &str) -> Sentences {
        (
            say!(
                self,
                "The watch was not opened: {error}.",
                "watch 没有建立：{error}。",
                error = mono(error)
            ),
            vec![if self.record.step == Step::ReflectorStream {
                say!(
                    self,
                    "Unreachable or 429: it streams again after a pause. Version expired or too large: at once. Any other error: a LIST, at once.",
                    "无法连接或 429：停顿后重新请求流。版本过旧或过新：立刻重新请求流。其他错误：立刻改用 List。"
                )
            } else {
                say!(
                    self,
                    "Unreachable or 429: it watches again after a pause. Any other error ends the round, and the next one begins with a list.",
                    "无法连接或 429：停顿后重新 watch。其他错误会结束这一轮，下一轮从 List 开始。"
                )
            }],
        )
    }

    fn initial_event_kept(&self, event: EventType, object: &ObjectRef) -> Sentences {
        told!(
            self,
            "The Reflector put {event} {object} into a temporary store.",
            "Reflector 把 {event} {object} 放进临时存储。",
            "A streaming list is handed on as a whole, once the bookmark says that it is complete.",
            "流式列表要等 BOOKMARK 表示齐全之后才整体交出去。",
            event = event_type(event),
            object = self.object(object)
        )
    }

    fn initial_events_ended(&self, rv: &str, count: u32) -> Sentences {
        told!(
            self,
            "The initial events are complete: {objects} at resourceVersion {rv}.",
            "初始事件已齐全：{objects}，resourceVersion 为 {rv}。",
            "The same stream goes on as the watch; no second request is made.",
            "同一条流接着充当 watch，不再发第二个请求。",
            objects = text(objects(self.lang, count as usize)),
            rv = version(rv)
        )
    }

    fn initial_events_end_missed(&self, ms: u64, any: bool) -> Sentences {
        (
            say!(
                self,
                "client-go warns in its log: the bookmark that ends the initial events has not come.",
                "client-go 在日志里警告：结束初始事件的 bookmark 还没有来。"
            ),
            vec![if any {
                say!(
                    self,
                    "`the last event came {ms} ago → log`. It goes on waiting, and looks again every ten seconds; nothing of what has come is in the {queue}.",
                    "`上一个事件在 {ms}之前 → 记日志`。它继续等，每十秒再看一次；来过的内容都还不在 {queue} 里。",
                    ms = text(duration(self.lang, ms)),
                    queue = self.queue(),
                )
            } else {
                say!(
                    self,
                    "`no event for {ms} → log`. It goes on waiting, and looks again every ten seconds.",
                    "`{ms}没有任何事件 → 记日志`。它继续等，每十秒再看一次。",
                    ms = text(duration(self.lang, ms)),
                )
            }],
        )
    }

    fn stream_fell_back(&self, error: &str) -> Sentences {
        told!(
            self,
            "The streaming list failed: {error}. A LIST comes instead.",
            "流式列表失败：{error}。改用 List。",
            "At once, in the same round, and no watch-error handler is called. The next round tries a streaming list again.",
            "就在这一轮，立刻进行，也不通知 watch 错误处理函数。下一轮仍会先尝试流式列表。",
            error = mono(error)
        )
    }

    fn object_rejected(&self, error: &str) -> Sentences {
        (
            say!(
                self,
                "It was left out: {error}.",
                "已忽略：{error}。",
                error = mono(error)
            ),
            vec![if self.record.step == Step::ReflectorListFailed {
                say!(
                    self,
                    "The server answered with a Table, made for printing, and the list has failed.",
                    "服务器返回的是用于打印的 Table，这次列表失败。"
                )
            } else {
                say!(
                    self,
                    "The stream goes on, and the version does not move for it.",
                    "流继续进行，版本不会因它前移。"
                )
            }],
        )
    }

    fn version_unavailable(&self, on: bool) -> Sentences {
        if on {
            told!(
                self,
                "The Reflector noted that its last version cannot be had any more.",
                "Reflector 记下：它的最后版本已无法取得。",
                "The next list asks for the newest state.",
                "下一次 List 会要求最新状态。"
            )
        } else {
            told!(
                self,
                "The Reflector noted that its last version is good again.",
                "Reflector 记下：它的最后版本又可用了。",
                "It has a fresh list, with a version of its own.",
                "它拿到了新的列表，带有新的版本。"
            )
        }
    }

    fn watch_error_reported(&self, error: &str) -> Sentences {
        told!(
            self,
            "The watch-error handler was called with {error}.",
            "调用了 watch 错误处理函数：{error}。",
            "It is called when a list fails or a watch is denied for good, not for 429, errors inside a stream or streaming lists. client-go's own one logs.",
            "List 失败或 watch 被彻底拒绝时会通知它；429、流中途的错误、流式列表失败则不会。client-go 自带的只是记日志。",
            error = mono(error)
        )
    }

    fn resync_due(&self, wanted: bool) -> Sentences {
        if wanted {
            told!(
                self,
                "The resync timer fired.",
                "resync 定时器到点。",
                "`wanted = yes → {queue}.Resync`. It hands out again what is stored; no request is sent.",
                "`wanted = 是 → {queue}.Resync`。它只是把已存的内容再发一遍，API server 毫不知情。",
                queue = self.queue()
            )
        } else {
            told!(
                self,
                "The resync timer fired, and no handler is due: nothing is queued.",
                "resync 定时器到点，但没有 handler 到期：什么也不入队。",
                "Handlers have periods of their own, but only the informer's checks look at them.",
                "handler 各有各的周期，但只有 informer 检查时才会看。"
            )
        }
    }

    fn initial_events_end_received(&self, object: &ObjectRef) -> Sentences {
        told!(
            self,
            "The Reflector took the {event} that ends the initial list off the stream, at {rv}.",
            "Reflector 从流中取出结束初始列表的 {event}，版本为 {rv}。",
            "`list complete = yes`: its annotation says so. What the temporary store holds goes into the {queue} as one list.",
            "`列表齐全 = 是`：它的注解这样说。临时存储里的内容将作为一个列表放入 {queue}。",
            event = event_type(EventType::Bookmark),
            rv = version(&object.rv),
            queue = self.queue()
        )
    }

    fn event_received(&self, event: EventType, object: &ObjectRef) -> Sentences {
        let queue = self.queue();
        let streaming = self.record.step == Step::ReflectorStreamReceive;
        let why = match event {
            EventType::Bookmark | EventType::Error => self.why_received(event, queue),
            _ if streaming => say!(
                self,
                "`list complete = no → temporary store`: the {queue} does not get it yet.",
                "`列表齐全 = 否 → 临时存储`：{queue} 还不会得知。",
                queue = queue
            ),
            EventType::Added => say!(
                self,
                "`ADDED → {queue}.Add`. The Reflector compares nothing: the event's type alone decides.",
                "`ADDED → {queue}.Add`。Reflector 不做任何比较，只看事件类型。",
                queue = queue,
            ),
            EventType::Modified => say!(
                self,
                "`MODIFIED → {queue}.Update`. The event holds the new object only, not what changed.",
                "`MODIFIED → {queue}.Update`。事件里只有新对象，没有具体改了什么。",
                queue = queue,
            ),
            EventType::Deleted => say!(
                self,
                "`DELETED → {queue}.Delete`, with the object's last state. It may also just have left the selector.",
                "`DELETED → {queue}.Delete`，带着对象的最后状态。它也可能只是不再匹配 selector。",
                queue = queue,
            ),
        };
        let what = match event {
            EventType::Added | EventType::Modified | EventType::Deleted => say!(
                self,
                "The Reflector took {event} {object} off the stream.",
                "Reflector 从流中取出 {event} {object}。",
                event = event_type(event),
                object = self.object(object),
            ),
            EventType::Bookmark => say!(
                self,
                "The Reflector took a {event} at {rv} off the stream.",
                "Reflector 从流中取出 {event}，版本为 {rv}。",
                event = event_type(event),
                rv = version(&object.rv),
            ),
            EventType::Error => say!(
                self,
                "The Reflector took an {event} event off the stream.",
                "Reflector 从流中取出 {event} 事件。",
                event = event_type(event),
            ),
        };
        (what, vec![why])
    }

    fn why_received(&self, event: EventType, queue: Vec<Span>) -> Vec<Span> {
        if event == EventType::Error {
            say!(
                self,
                "`ERROR → the watch is over`. Nothing is queued.",
                "`ERROR → watch 结束`。不会有任何内容入队。",
            )
        } else if self.record.step == Step::ReflectorStreamReceive {
            say!(
                self,
                "It carries no object; an annotation on it may say that the list is complete.",
                "它不带对象，但可能带有表示列表已齐全的注解。",
            )
        } else if self.picture.store.keeps_rv {
            say!(
                self,
                "`BOOKMARK → {queue}.Bookmark` (from 0.36 on): no object has changed; it waits in line, so that the store's version keeps its order.",
                "`BOOKMARK → {queue}.Bookmark`（从 0.36 起）：没有对象变化；它也要排队，让存储的版本保持顺序。",
                queue = queue
            )
        } else {
            say!(
                self,
                "`BOOKMARK → LastSyncResourceVersion` alone: the {queue} does not get it.",
                "`BOOKMARK → LastSyncResourceVersion`，仅此而已：{queue} 不会得知。",
                queue = queue,
            )
        }
    }

    fn last_sync_moved(&self, from: &str, to: &str) -> Sentences {
        (
            if from.is_empty() {
                say!(
                    self,
                    "LastSyncResourceVersion was set to {to}.",
                    "LastSyncResourceVersion 设为 {to}。",
                    to = version(to),
                )
            } else {
                say!(
                    self,
                    "LastSyncResourceVersion moved: {from} → {to}.",
                    "LastSyncResourceVersion 前移：{from} → {to}。",
                    from = version(from),
                    to = version(to),
                )
            },
            vec![self.received_is_not_stored()],
        )
    }

    fn received_is_not_stored(&self) -> Vec<Span> {
        if let Some(behind @ 1..) = self.picture.store.behind.count() {
            let behind = usize::try_from(behind).unwrap_or(usize::MAX);
            say!(
                self,
                "It says what was received, not what is stored: the Indexer is {objects} behind.",
                "它表示收到了什么，而不是存了什么：Indexer 还落后 {objects}。",
                objects = text(self.lang.pick(
                    counted(behind, "object", "objects"),
                    format!("{behind} 个对象")
                )),
            )
        } else {
            say!(
                self,
                "The next watch starts from it. It says what was received, not what has been processed.",
                "下一次 watch 从这里开始。它表示收到了什么，而不是处理了什么。",
            )
        }
    }

    fn watch_ended(&self, relist: bool, code: u16) -> Sentences {
        if self.record.step == Step::ReflectorStreamAgain {
            told!(
                self,
                "The streaming list ended before it was complete.",
                "流式列表在齐全之前就结束了。",
                "What it has brought is dropped: half a list would look like deletions.",
                "已收到的都被丢弃：半个列表会被误当成删除。"
            )
        } else {
            (
                if relist {
                    say!(
                        self,
                        "The Reflector noticed that its watch is over{by}, and will list again.",
                        "Reflector 发现 watch 已结束{by}，接下来要重新 List。",
                        by = self.ended_by(code),
                    )
                } else {
                    say!(
                        self,
                        "The Reflector noticed that its watch is over{by}, and will watch again from {rv}.",
                        "Reflector 发现 watch 已结束{by}，接下来从 {rv} 重新 watch。",
                        by = self.ended_by(code),
                        rv = version(&self.picture.reflector.last_sync),
                    )
                },
                vec![if relist && code == 0 && self.was_short() {
                    say!(
                        self,
                        "`< 1 s, 0 events → list`: client-go takes so short a watch for a failed one (“very short watch”). After a longer one it would watch again.",
                        "`< 1 s，0 个事件 → list`：这么短的 watch，client-go 当作失败（“very short watch”）。再长一些，就会重新 watch。",
                    )
                } else if relist {
                    say!(
                        self,
                        "`relist = true`: a list comes first, plain or streaming. What was deleted meanwhile will only show as missing from it.",
                        "`relist = true`：要先 List（普通或流式）。这期间被删除的对象，只会表现为列表里没有它。",
                    )
                } else {
                    say!(
                        self,
                        "`relist = false`: it does not list. Whether the server still has what came after that version, only its answer will say.",
                        "`relist = false`：不重新 List。这个版本之后的变更 API server 是否还保留着，要看它的应答。",
                    )
                }],
            )
        }
    }

    /// Whether the last watch was open for less than a second and has brought no event.
    fn was_short(&self) -> bool {
        let is_open = |fact: &Fact| matches!(fact, Fact::Server(ServerFact::WatchAccepted { .. }));
        let brings =
            |fact: &Fact| matches!(fact, Fact::Reflector(ReflectorFact::EventReceived { .. }));
        let mut before = self.recent.iter().rev();
        let last = before.find(|record| is_open(&record.fact) || brings(&record.fact));
        last.is_some_and(|last| is_open(&last.fact) && self.record.time < last.time + 1_000)
    }

    /// The `ERROR` event that ended the watch, in parentheses; empty for code 0.
    fn ended_by(&self, code: u16) -> Vec<Span> {
        if code == 0 {
            return Vec::new();
        }
        say!(
            self,
            " ({event} {code})",
            "（{event} {code}）",
            event = event_type(EventType::Error),
            code = mono(code.to_string()),
        )
    }

    fn backoff_started(&self, ms: u64, reason: BackoffReason) -> Sentences {
        (
            say!(
                self,
                "The Reflector waits {ms} before it tries again.",
                "Reflector 等待 {ms} 后重试。",
                ms = text(duration(self.lang, ms)),
            ),
            vec![match reason {
                BackoffReason::WatchEnded => say!(
                    self,
                    "`unreachable or 429 → watch again` from the last version, never a list. Meanwhile nothing stops the process loop.",
                    "`无法连接或 429 → 重新 watch`，从最后的版本开始，不会 List。这期间处理循环照常运行。",
                ),
                BackoffReason::Expired => say!(
                    self,
                    "Its version is too old to watch from: the next round begins with a list, plain or streaming.",
                    "它的版本太旧，无法继续 watch：下一轮从 List（普通或流式）开始。",
                ),
                BackoffReason::WatchFailed => say!(
                    self,
                    "The watch failed, or ended within a second without an event: the next round begins with a list, plain or streaming.",
                    "watch 失败，或者一秒之内没有任何事件就结束了：下一轮从 List（普通或流式）开始。",
                ),
                BackoffReason::StreamFailed => say!(
                    self,
                    "`unreachable or 429 → stream again`: the streaming list starts over, from nothing.",
                    "`无法连接或 429 → 重新请求流`：流式列表从头再来。",
                ),
                BackoffReason::ListFailed if self.picture.generation.release() < Release::V0_36 => {
                    say!(
                        self,
                        "The list failed. Each pause is twice the one before, up to 30 s, until there was none for two minutes. On a cluster jitter comes on top.",
                        "List 失败了。每次停顿是上一次的两倍，最多 30 秒；两分钟没有停顿才从头算起。连接集群时还会加上抖动。",
                    )
                }
                BackoffReason::ListFailed => say!(
                    self,
                    "The list failed. Each pause is twice the one before, up to 30 s; from 0.36 on they start again every two minutes. On a cluster jitter comes on top.",
                    "List 失败了。每次停顿是上一次的两倍，最多 30 秒；从 0.36 起，每两分钟从头算起。连接集群时还会加上抖动。",
                ),
            }],
        )
    }

    fn reflector_stopped(&self, reason: &Reason) -> Sentences {
        told!(
            self,
            "The Reflector stopped: {reason}.",
            "Reflector 已停止：{reason}。",
            "Nothing new comes in. What is queued can still be popped.",
            "不再有新内容进来，已在队列里的仍然可以 Pop。",
            reason = self.reason(reason)
        )
    }
}
