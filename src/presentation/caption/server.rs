//! Captions of the API server.

use deltascope_cache::fact::{
    Cause, EventType, Fact, ObjectRef, Reason, ReflectorFact, Refusal, Request, ServerFact, Verb,
    WatchEnd,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::ApiErrorKind;
use deltascope_cache::step::Step;
use deltascope_replay::picture::SourceKind;

use super::amounts::objects;
use super::spans::{Span, answer, event_type, mono, plain, refusal, text, version};
use super::{Sentences, Writer};
use crate::decimal::duration;
use deltascope_world::in_lang;
use deltascope_world::text::counted;

names! {
    /// The Chinese names of these facts.
    ServerFact {
        ObjectCreated = "服务器创建对象",
        ObjectUpdated = "服务器更新对象",
        ObjectDeleted = "服务器删除对象",
        WriteRefused = "写入被拒绝",
        RefusalsAsked = "要求服务器拒绝请求",
        HistoryCompacted = "服务器压缩历史",
        ListAnswered = "服务器应答 List",
        ObjectsLearned = "得知服务器上的对象",
        RequestDeferred = "按 Retry-After 推迟请求",
        ListRefused = "List 被拒绝",
        WatchAccepted = "服务器接受 watch",
        WatchRefused = "watch 的版本太旧",
        WatchDenied = "watch 被拒绝",
        ConnectionRefused = "无法连接",
        EventSent = "服务器发出事件",
        WatchClosed = "watch 断开",
    }
}

impl Writer<'_> {
    pub(super) fn server_sentences(&self, fact: &ServerFact) -> Sentences {
        match fact {
            ServerFact::ObjectCreated { object, body: _ } => self.object_created(object),
            ServerFact::ObjectUpdated {
                object,
                body: _,
                old_rv,
            } => self.object_updated(object, old_rv),
            ServerFact::ObjectDeleted { object, old_rv } => self.object_deleted(object, old_rv),
            ServerFact::WriteRefused { verb, key, refusal } => {
                self.write_refused(*verb, key, refusal)
            }
            ServerFact::RefusalsAsked {
                request,
                kind,
                times,
            } => self.refusals_asked(*request, *kind, *times),
            ServerFact::HistoryCompacted { oldest } => self.history_compacted(oldest),
            ServerFact::ListAnswered { rv, count } => self.list_answered(rv, *count),
            ServerFact::ObjectsLearned { rv, objects: all } => self.objects_learned(rv, all),
            ServerFact::RequestDeferred {
                code,
                after_ms,
                attempt,
            } => self.request_deferred(*code, *after_ms, *attempt),
            ServerFact::ListRefused { code, reason } => self.list_refused(*code, reason),
            ServerFact::WatchAccepted { rv } => self.watch_accepted(rv),
            ServerFact::WatchRefused { rv, oldest } => self.watch_refused(rv, oldest),
            ServerFact::WatchDenied { code, reason } => self.watch_denied(*code, reason),
            ServerFact::ConnectionRefused => self.connection_refused(),
            ServerFact::EventSent {
                ends_list: true,
                object,
                ..
            } => self.initial_events_end_sent(object),
            ServerFact::EventSent { event, object, .. } => self.event_sent(*event, object),
            ServerFact::WatchClosed { end, lost } => self.watch_closed(end, *lost),
        }
    }

    fn object_created(&self, object: &ObjectRef) -> Sentences {
        (
            say!(
                self,
                "{name} was created on the server and got resourceVersion {rv}.",
                "{name} 在 API server 上创建，resourceVersion 为 {rv}。",
                name = self.name(&object.key),
                rv = version(&object.rv),
            ),
            self.who_hears_of_it(&object.key),
        )
    }

    fn object_updated(&self, object: &ObjectRef, old_rv: &str) -> Sentences {
        (
            say!(
                self,
                "{name} was changed on the server: resourceVersion {old} → {rv}.",
                "{name} 在 API server 上被修改：resourceVersion {old} → {rv}。",
                name = self.name(&object.key),
                old = version(old_rv),
                rv = version(&object.rv),
            ),
            self.who_hears_of_it(&object.key),
        )
    }

    fn object_deleted(&self, object: &ObjectRef, old_rv: &str) -> Sentences {
        let mut why = vec![say!(
            self,
            "A deletion is a write, too: it has a version of its own, later than {old}.",
            "删除也是一次写入：它有自己的 resourceVersion，晚于 {old}。",
            old = version(old_rv),
        )];
        why.extend(self.who_hears_of_it(&object.key));
        (
            say!(
                self,
                "{name} was deleted on the server, at resourceVersion {rv}.",
                "{name} 在 API server 上被删除，resourceVersion 为 {rv}。",
                name = self.name(&object.key),
                rv = version(&object.rv),
            ),
            why,
        )
    }

    fn who_hears_of_it(&self, key: &Key) -> Vec<Vec<Span>> {
        let watch = if self.picture.api.watch.is_some() {
            say!(
                self,
                "The cache gets it only through the watch.",
                "缓存只能通过 watch 得知。",
            )
        } else {
            say!(
                self,
                "No watch is open, so the cache cannot get it before the next watch or list.",
                "当前没有 watch，要等下一次 watch 或 List 才会有人知道。",
            )
        };
        match self.picture.store.items.get(key) {
            Some(stored) => vec![
                watch,
                say!(
                    self,
                    "Until then a lister still returns rv {rv}.",
                    "在此之前 lister 返回的仍是 rv {rv}。",
                    rv = version(&stored.rv),
                ),
            ],
            None => vec![watch],
        }
    }

    fn write_refused(&self, verb: Verb, key: &Key, refusal: &Refusal) -> Sentences {
        let (en, zh) = match verb {
            Verb::Create => ("create", "创建"),
            Verb::Update => ("update", "更新"),
            Verb::Delete => ("delete", "删除"),
        };
        let answer = match refusal {
            Refusal::AlreadyExists => "409 AlreadyExists".to_owned(),
            Refusal::NotFound => "404 NotFound".to_owned(),
            Refusal::Invalid(reason) => in_lang!(
                self.lang,
                "422 Invalid: {reason}",
                ("422 Invalid：{}", plain(&self.reason(reason)))
            ),
        };
        let verb = self.lang.pick(en, zh);
        told!(
            self,
            "The server refused to {verb} {name}: {answer}.",
            "API server 拒绝{verb} {name}：{answer}。",
            "Nothing changed: no new version, no event.",
            "什么都没有改变：没有新版本，也没有事件。",
            verb = text(verb),
            name = self.name(key),
            answer = mono(answer)
        )
    }

    fn refusals_asked(&self, asked: Request, kind: ApiErrorKind, times: u32) -> Sentences {
        let request = mono(asked.as_str());
        let answer = mono(refusal(kind));
        if times == 0 {
            return (
                say!(
                    self,
                    "The fault was taken back: the next {request} is not answered with {answer}.",
                    "故障已撤销：下一次 {request} 不会得到 {answer}。",
                    request = request,
                    answer = answer,
                ),
                Vec::new(),
            );
        }
        let what = if times == 1 {
            say!(
                self,
                "A fault is armed: the next {request} will be answered with {answer}.",
                "故障已就绪：下一次 {request} 将得到 {answer}。",
                request = request,
                answer = answer,
            )
        } else {
            say!(
                self,
                "A fault is armed: the next {times} of {request} will be answered with {answer}.",
                "故障已就绪：接下来 {times} 次 {request} 都将得到 {answer}。",
                times = text(times.to_string()),
                request = request,
                answer = answer,
            )
        };
        let why = if asked == Request::Watch {
            say!(
                self,
                "It waits until the Reflector asks for its next watch; a watch that is open goes on.",
                "它要等到 Reflector 下一次请求 watch；已打开的 watch 照常继续。",
            )
        } else {
            say!(
                self,
                "It waits until the Reflector lists again: while the watch goes on, it asks for no list.",
                "它要等到 Reflector 重新 List：watch 正常期间不会请求 List。",
            )
        };
        (what, vec![why])
    }

    fn history_compacted(&self, oldest: &str) -> Sentences {
        told!(
            self,
            "The server compacted its history: only what came after resourceVersion {rv} is left.",
            "API server 压缩了历史：只保留 resourceVersion {rv} 之后的变更。",
            "A watch from an older version is answered with 410 Gone, and the Reflector has to list again. The objects are untouched; the API server writes a key of its own for it, so the version is one higher.",
            "从更旧的版本开始的 watch 会得到 410 Gone，Reflector 只能重新 List。对象本身不受影响；API server 每次压缩都会写一个自己的 key，所以版本加一。",
            rv = version(oldest)
        )
    }

    fn list_answered(&self, rv: &str, count: u32) -> Sentences {
        told!(
            self,
            "The server answered the list: {objects} at resourceVersion {rv}.",
            "API server 返回了 List 结果：{objects}，resourceVersion 为 {rv}。",
            "This version is the list's own: the watch will go on exactly from there.",
            "这个版本属于整个列表：之后的 watch 正好从这里接上。",
            objects = text(objects(self.lang, count as usize)),
            rv = version(rv)
        )
    }

    fn objects_learned(&self, rv: &str, all: &[ObjectRef]) -> Sentences {
        told!(
            self,
            "So this is what the cluster has: {objects}, as of resourceVersion {rv}.",
            "于是知道了集群里有什么：{objects}，版本为 {rv}。",
            "A real server cannot be looked into: this room shows what its answers have contained so far.",
            "真实的 API server 内部看不到：这里显示的是它的应答到目前为止说明的内容。",
            objects = text(objects(self.lang, all.len())),
            rv = version(rv)
        )
    }

    fn request_deferred(&self, code: u16, after_ms: u64, attempt: u32) -> Sentences {
        told!(
            self,
            "The server asks to come again later: {code}, Retry-After. The client waits {pause}, then sends the same request again.",
            "API server 请客户端稍后再来：{code}，Retry-After。客户端等待 {pause}，然后把同一个请求再发一次。",
            "This is the HTTP client's own retry ({attempt}, of at most 10): the Reflector does not see it and does not back off.",
            "这是 HTTP 客户端自己的重试（第 {attempt} 次，最多 10 次）：Reflector 看不到它，也不会退避。",
            code = mono(code.to_string()),
            pause = text(duration(self.lang, after_ms)),
            attempt = mono(attempt.to_string())
        )
    }

    fn list_refused(&self, code: u16, reason: &Reason) -> Sentences {
        // Code 0: a recording or a program has no list to answer with.
        if code == 0 && self.picture.api.source != SourceKind::Cluster {
            told!(
                self,
                "No answer to the list: {reason}.",
                "List 没有得到回应：{reason}。",
                "The Reflector stops here. What is queued and what is stored stay as they are.",
                "Reflector 到此停止。队列和已存的内容保持原样。",
                reason = self.reason(reason)
            )
        } else {
            told!(
                self,
                "The server did not answer the list: {code}.",
                "API server 没有返回列表：{code}。",
                "The {queue} and what is stored stay as they are: old, but whole.",
                "{queue} 与已存的内容保持原样：虽旧，但完整。",
                code = mono(answer(code, reason.as_str())),
                queue = self.queue()
            )
        }
    }

    fn watch_accepted(&self, rv: &str) -> Sentences {
        if self.begins_in_mid_watch(rv) {
            told!(
                self,
                "The recording begins in the middle of a watch.",
                "录制从 watch 的中途开始。",
                "Only what comes over it from here on is known: neither what the server held nor from which version it started.",
                "能知道的只有此后推送的内容：API server 上原有什么、watch 从哪个版本开始，都不得而知。"
            )
        } else if self.asked_for_stream() {
            told!(
                self,
                "The streaming list is open: first come all objects, then a bookmark that says so, then every change.",
                "流式列表已建立：先推送全部对象，再用一个 BOOKMARK 表示齐全，然后是每次变更。",
                "List and watch are one request here: no change can fall between them.",
                "这里 List 和 watch 是同一个请求：两者之间不会漏掉任何变更。"
            )
        } else if is_any(rv) {
            told!(
                self,
                "The watch is open: first come all objects that there are, then every change.",
                "watch 已建立：先推送现有的全部对象，然后是每次变更。",
                "It starts at no particular version, so every object there is comes first, as [ADDED], in no promised order.",
                "没有指定起始版本，所以现有的每个对象都会先以 [ADDED] 推送一遍，顺序不作保证。"
            )
        } else {
            told!(
                self,
                "The watch is open, from resourceVersion {rv} on.",
                "watch 已建立，从 resourceVersion {rv} 之后开始。",
                "Every change after that comes over it; an object that does not change is not sent.",
                "此后的每次变更都会推送过来；没有变化的对象不会再发送。",
                rv = version(rv)
            )
        }
    }

    fn watch_refused(&self, rv: &str, oldest: &str) -> Sentences {
        told!(
            self,
            "The server refused the watch from resourceVersion {rv}: `410 Gone`.",
            "API server 拒绝了从 resourceVersion {rv} 开始的 watch：`410 Gone`。",
            "`{rv} is older than {oldest} → 410`: what happened in between is forgotten, so only a list can tell.",
            "`{rv} 早于 {oldest} → 410`：其间的历史已不存在，只能重新 List。",
            rv = version(rv),
            oldest = version(oldest)
        )
    }

    fn watch_denied(&self, code: u16, reason: &str) -> Sentences {
        (
            say!(
                self,
                "The server refused the watch: {code}.",
                "API server 拒绝了 watch：{code}。",
                code = mono(answer(code, reason)),
            ),
            vec![self.after_denial(code)],
        )
    }

    /// What the reflector does after the server denied its watch or streaming list.
    fn after_denial(&self, code: u16) -> Vec<Span> {
        match (self.asked_for_stream(), code) {
            (false, 429) => say!(
                self,
                "`429 → watch again`, after a pause and from the same version; it never leads to a list.",
                "`429 → 重新 watch`，先停顿，再从同一版本开始；不会因此重新 List。",
            ),
            (false, _) => say!(
                self,
                "This round is over: the watch-error handler is called, and after a pause the next round begins with a list.",
                "这一轮到此为止：调用 watch 错误处理函数，停顿之后，下一轮从 List 开始。",
            ),
            (true, 429) => say!(
                self,
                "`429 → stream again`, after a pause: the streaming list starts over, from nothing.",
                "`429 → 重新请求流`，先停顿一段时间：流式列表从头再来。",
            ),
            (true, 410) => say!(
                self,
                "`410 → stream again` at once, for the newest state: the version asked for is too old.",
                "`410 → 重新请求流`，立刻进行，并要求最新状态：请求的版本太旧。",
            ),
            // Code 504 stands for two errors.
            (true, 504) => say!(
                self,
                "A version that is too large: it streams again at once, for the newest state. Another timeout: a LIST comes at once.",
                "若是版本过新：立刻重新请求流，并要求最新状态。若是其他超时：立刻改用 List。",
            ),
            (true, _) => say!(
                self,
                "A LIST comes instead, at once and in the same round; the watch-error handler is not called.",
                "改用 List，就在这一轮立刻进行；不调用 watch 错误处理函数。",
            ),
        }
    }

    fn connection_refused(&self) -> Sentences {
        (
            say!(
                self,
                "The request did not reach the server: connection refused.",
                "请求没有到达 API server：无法连接。",
            ),
            vec![if self.record.step == Step::ServerList {
                say!(
                    self,
                    "This round is over. The next one begins with a list, after a pause; what is stored stays as it is.",
                    "这一轮到此为止。停顿之后，下一轮从 List 开始；已存的内容保持原样。",
                )
            } else if self.asked_for_stream() {
                say!(
                    self,
                    "`unreachable → stream again`, after a pause: the streaming list starts over, from nothing.",
                    "`无法连接 → 重新请求流`，先停顿一段时间：流式列表从头再来。",
                )
            } else {
                say!(
                    self,
                    "`unreachable → watch again`, after a pause and from the same version; it never leads to a list.",
                    "`无法连接 → 重新 watch`，先停顿，再从同一版本开始；不会因此重新 List。",
                )
            }],
        )
    }

    /// Whether the last watch request asked for a streaming list.
    fn asked_for_stream(&self) -> bool {
        self.recent.iter().rev().find_map(|record| {
            if let Fact::Reflector(ReflectorFact::WatchRequested { initial_events, .. }) =
                record.fact
            {
                Some(initial_events)
            } else {
                None
            }
        }) == Some(true)
    }

    fn initial_events_end_sent(&self, object: &ObjectRef) -> Sentences {
        told!(
            self,
            "The server put the {event} that ends the initial list on the watch stream, at {rv}.",
            "API server 在 watch 流中写入结束初始列表的 {event}，版本为 {rv}。",
            "`k8s.io/initial-events-end: \"true\"`: every object there is has been sent; what comes after it are changes.",
            "`k8s.io/initial-events-end: \"true\"`：现有的全部对象都已发送；此后的都是变更。",
            event = event_type(EventType::Bookmark),
            rv = version(&object.rv)
        )
    }

    fn event_sent(&self, event: EventType, object: &ObjectRef) -> Sentences {
        match event {
            EventType::Added | EventType::Modified | EventType::Deleted => (
                say!(
                    self,
                    "The server put {event} {object} on the watch stream.",
                    "API server 把 {event} {object} 写入 watch 流。",
                    event = event_type(event),
                    object = self.object(object),
                ),
                vec![self.crossed(event, object).unwrap_or_else(|| {
                    say!(
                        self,
                        "The object travels whole, not as a difference; it has not been received yet.",
                        "事件带着完整的对象，而不是差异；此刻还没有人取走它。",
                    )
                })],
            ),
            EventType::Bookmark => told!(
                self,
                "The server put a {event} at {rv} on the watch stream.",
                "API server 在 watch 流中写入 {event}，版本为 {rv}。",
                "It carries a version and no change, so that a later watch does not have to start from long ago.",
                "它只带版本、不带变更，这样以后的 watch 不必从很久以前开始。",
                event = event_type(event),
                rv = version(&object.rv)
            ),
            EventType::Error => told!(
                self,
                "The server put an {event} event on the watch stream.",
                "API server 在 watch 流中写入了 {event} 事件。",
                "It is the last thing on this stream: the watch cannot go on.",
                "这是该流上的最后一条：watch 无法继续。",
                event = event_type(event)
            ),
        }
    }

    /// Why an update is sent as another event: the object began or ceased to match the selector.
    fn crossed(&self, event: EventType, object: &ObjectRef) -> Option<Vec<Span>> {
        let api = &self.picture.api;
        let selector = mono(api.selector.as_ref()?.to_string());
        let Cause::Fact(id) = self.record.cause else {
            return None;
        };
        let mut recent = self.recent.iter().rev();
        let cause = recent.find(|record| record.id == id)?;
        if !matches!(cause.fact, Fact::Server(ServerFact::ObjectUpdated { .. })) {
            return None;
        }
        match event {
            EventType::Added => Some(say!(
                self,
                "It matches {selector} now and did not before: new to this watch, though not to the server.",
                "它现在匹配 {selector}，之前不匹配：对这个 watch 是新的，对 API server 却不是。",
                selector = selector,
            )),
            EventType::Deleted => Some(say!(
                self,
                "It lives on, and does not match {selector} any more: sent as it was when it last did, at the version {rv} of the change.",
                "它还活着，只是不再匹配 {selector}：事件带着它最后一次匹配时的样子，版本则是这次变更的 {rv}。",
                selector = selector,
                rv = version(&object.rv),
            )),
            _ => None,
        }
    }

    fn watch_closed(&self, end: &WatchEnd, lost: u32) -> Sentences {
        let what = match end {
            WatchEnd::Closed => say!(
                self,
                "The server closed the watch in good order.",
                "API server 正常关闭了 watch。",
            ),
            WatchEnd::Cut => say!(self, "The watch's connection broke.", "watch 的连接断了。"),
            WatchEnd::CutInLine(bytes) => say!(
                self,
                "The watch's connection broke inside a line, after {bytes} of it.",
                "watch 的连接在一行中间断了，这一行只收到 {bytes}。",
                bytes = text(self.lang.pick(
                    counted(*bytes as usize, "byte", "bytes"),
                    format!("{bytes} 字节")
                )),
            ),
            WatchEnd::Silent => say!(
                self,
                "Nothing came on the watch for too long, not even a bookmark: the connection was given up.",
                "watch 上太久没有任何内容，连 bookmark 也没有：放弃了这个连接。",
            ),
            WatchEnd::Failed(code, reason) => say!(
                self,
                "An error event ended the watch: {answer}.",
                "一个 ERROR 事件结束了 watch：{answer}。",
                answer = mono(answer(*code, reason)),
            ),
            WatchEnd::TooMuch(most) => say!(
                self,
                "The stream was closed here: more than {most} objects came, and no more are kept.",
                "流在这一端被关闭：收到的对象超过 {most} 个，不再保留更多。",
                most = text(most.to_string()),
            ),
        };
        let why = if let WatchEnd::TooMuch(_) = end {
            say!(
                self,
                "The Reflector asks for all of it again. That request is not sent before there are fewer.",
                "Reflector 会重新请求全部内容。在对象变少之前，这个请求不会发出。",
            )
        } else if lost > 0 {
            say!(
                self,
                "{events} on the way never arrived. The server has them still: the next watch starts before them, or a list makes up for them.",
                "有 {events} 在途中丢失。API server 上还有：下一次 watch 会从它们之前开始，或由 List 补上。",
                events = text(self.lang.pick(
                    counted(lost as usize, "event", "events"),
                    format!("{lost} 个事件")
                )),
            )
        } else if matches!(end, WatchEnd::CutInLine(_)) {
            say!(
                self,
                "Half an event is none: it is dropped. The server has it still: the next watch starts before it, or a list makes up for it.",
                "半个事件不算事件，直接丢弃。API server 上还有它：下一次 watch 会从它之前开始，或由 List 补上。",
            )
        } else {
            say!(
                self,
                "Nothing was on its way. The cache stays as it is and grows older; a lister cannot tell.",
                "途中没有事件。缓存保持原样并逐渐变旧，而 lister 看不出来。",
            )
        };
        (what, vec![why])
    }
}

/// Whether this version lets the server choose where the watch starts.
fn is_any(rv: &str) -> bool {
    rv.is_empty() || rv == "0"
}
