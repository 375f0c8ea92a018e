//! Captions of the shared processor and the handlers.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Fact, HandlersFact, NotificationRef, Printer, QueueFact, Shape,
};
use deltascope_cache::key::Key;

use super::amounts::objects;
use super::spans::{Span, boolean, mono, named, short_rv, text, version};
use super::{Sentences, Writer};
use crate::decimal::duration;

names! {
    /// The Chinese names of these facts.
    HandlersFact {
        NotificationSent = "发出通知",
        NotificationWithheld = "不发通知",
        NotificationQueued = "通知进入缓冲",
        NotificationTaken = "取出通知",
        LinePrinted = "输出一行",
        NotificationHandled = "通知处理完毕",
        HandlerPanicked = "handler panic",
        HandlerAsked = "请求添加 handler",
        RemovalAsked = "请求移除 handler",
        HandlerAdded = "添加 handler",
        HandlerRemoved = "移除 handler",
        HandlerSynced = "handler 已同步",
        SyncingSet = "决定 handler 是否参与 resync",
        ResyncCheckSet = "设置 resync 检查间隔",
        ObjectMutated = "handler 改动共享对象",
        MutationDetected = "发现对象被改动",
    }
}

impl Writer<'_> {
    pub(super) fn handlers_sentences(&self, fact: &HandlersFact) -> Sentences {
        match fact {
            HandlersFact::NotificationSent {
                handler,
                notification,
            } => self.notification_sent(*handler, notification),
            HandlersFact::NotificationWithheld { handler, key } => {
                self.notification_withheld(*handler, key)
            }
            HandlersFact::NotificationQueued {
                handler,
                notification,
                pending,
            } => self.notification_queued(*handler, notification, *pending),
            HandlersFact::NotificationTaken {
                handler,
                notification,
            } => self.notification_taken(*handler, notification),
            HandlersFact::LinePrinted { by, line } => self.line_printed(*by, line),
            HandlersFact::NotificationHandled { handler } => self.notification_handled(*handler),
            HandlersFact::HandlerPanicked { handler, error } => {
                self.handler_panicked(*handler, error)
            }
            HandlersFact::HandlerAsked { name, .. } => self.handler_asked(name),
            HandlersFact::RemovalAsked { handler } => self.removal_asked(*handler),
            HandlersFact::HandlerAdded {
                handler,
                name: _,
                initial,
            } => self.handler_added(*handler, *initial),
            HandlersFact::HandlerRemoved { handler } => self.handler_removed(*handler),
            HandlersFact::HandlerSynced { handler } => self.handler_synced(*handler),
            HandlersFact::SyncingSet { handler, syncing } => self.syncing_set(*handler, *syncing),
            HandlersFact::ResyncCheckSet { ms } => self.resync_check_set(*ms),
            HandlersFact::ObjectMutated { key, handler } => self.object_mutated(key, *handler),
            HandlersFact::MutationDetected { key } => self.mutation_detected(key),
        }
    }

    fn notification_sent(&self, handler: u8, notification: &NotificationRef) -> Sentences {
        (
            say!(
                self,
                "{call} was sent to {handler}.",
                "{call} 已发给 {handler}。",
                call = self.call(notification),
                handler = self.actor(Actor::Listener(handler))
            ),
            self.why_sent(notification),
        )
    }

    fn why_sent(&self, notification: &NotificationRef) -> Vec<Vec<Span>> {
        let mut why = Vec::new();
        if let NotificationRef::Update {
            old: Some(old),
            new,
        } = notification
            && old.rv == new.rv
            && !new.rv.is_empty()
        {
            why.push(if !self.in_resync_of(&new.key) {
                say!(
                    self,
                    "`old rv = new rv → counts as a resync`, though a list brought it: only syncing handlers are called.",
                    "`old rv = new rv → 按 resync 处理`，尽管它来自列表：只通知标记为 syncing 的 handler。",
                )
            } else if self.picture.resync_check_ms == 0 {
                say!(
                    self,
                    "`old rv = new rv → resync`: only syncing handlers are called, and before the first check all are.",
                    "`old rv = new rv → resync`：只通知标记为 syncing 的 handler；没有人检查时，全部 handler 都是。",
                )
            } else {
                say!(
                    self,
                    "`old rv = new rv → resync`: only syncing handlers are called.",
                    "`old rv = new rv → resync`：只通知标记为 syncing 的 handler。",
                )
            });
        }
        why.push(say!(
            self,
            "The sender waits until the listener has taken it into its buffer, not until the handler has run.",
            "发送方只等到listener 把它放进缓冲区，不等 handler 执行。",
        ));
        why
    }

    /// Whether the current notification about `key` comes from a resync, not from a list or an event.
    fn in_resync_of(&self, key: &Key) -> bool {
        let recent = self.recent.iter().rev();
        let mut by_loop = recent.filter(|record| record.actor == Actor::ProcessLoop);
        by_loop.find_map(|record| {
            let Fact::Queue(fact) = &record.fact else {
                return None;
            };
            if let QueueFact::ResyncOpened { .. } = fact {
                Some(true)
            } else if let QueueFact::ListOpened { .. } = fact {
                Some(false)
            } else if let QueueFact::DeltaTaken {
                delta_type, object, ..
            } = fact
                && object.key == *key
            {
                Some(*delta_type == DeltaType::Sync)
            } else {
                None
            }
        }) == Some(true)
    }

    fn notification_withheld(&self, handler: u8, key: &Key) -> Sentences {
        told!(
            self,
            "{handler} was not called for {name}.",
            "没有通知 {handler} 关于 {name} 的更新。",
            "`same rv, syncing = no → withheld`: at the last resync check this handler was not due.",
            "`rv 相同，syncing = 否 → 不通知`：上次 resync 检查时这个 handler 没有到期。",
            handler = self.actor(Actor::Listener(handler)),
            name = self.name(key)
        )
    }

    fn notification_queued(
        &self,
        handler: u8,
        notification: &NotificationRef,
        pending: u32,
    ) -> Sentences {
        let why = if pending > 1 {
            say!(
                self,
                "{n} wait there now. The buffer has no bound: a slow handler holds up only itself, and memory pays.",
                "那里已有 {n} 个在等。缓冲没有上限：慢 handler 只拖慢自己，代价是内存。",
                n = text(pending.to_string()),
            )
        } else {
            say!(
                self,
                "The sender goes on at once, and never waits for the handler.",
                "发送方立即继续，不会等待 handler。",
            )
        };
        (
            say!(
                self,
                "{call} was put into the buffer of {who}.",
                "{call} 放入 {who} 的缓冲。",
                call = self.call(notification),
                who = self.actor(Actor::Listener(handler)),
            ),
            vec![why],
        )
    }

    fn notification_taken(&self, handler: u8, notification: &NotificationRef) -> Sentences {
        let room = self.picture.handlers.get(usize::from(handler));
        let mut why = Vec::new();
        if let NotificationRef::Add {
            is_in_initial_list, ..
        } = notification
        {
            why.push(say!(
                self,
                "`isInInitialList = {flag}`.",
                "`isInInitialList = {flag}`。",
                flag = boolean(*is_in_initial_list),
            ));
        }
        let object = notification.object();
        let store = &self.picture.store;
        let stored = store.items.get(&object.key);
        why.push(if room.is_some_and(|room| room.inline)
            && self.picture.lock.holder != Some(Actor::ProcessLoop)
        {
            say!(self, "It runs inside process, without a buffer: nothing else is popped until it returns, but the queue can be filled.", "它在处理函数里运行，没有缓冲：返回之前不会再 Pop，但队列仍可放入。")
        } else if room.is_some_and(|room| room.inline) {
            say!(
                self,
                "It runs inside process, under the queue's lock: until it returns, nothing can be queued.",
                "它在处理函数里、持有队列锁的情况下运行：返回之前什么都无法入队。",
            )
        } else if store.present
            && !matches!(notification, NotificationRef::Delete { .. })
            && stored.map(|stored| &stored.rv) != Some(&object.rv)
        {
            match stored {
                Some(stored) => say!(
                    self,
                    "The Indexer has gone on: a lister asked in here returns {rv} already.",
                    "Indexer 已经走在前面：此时在这里查 lister，得到的已是 {rv}。",
                    rv = version(&stored.rv),
                ),
                None => say!(
                    self,
                    "The Indexer has gone on: a lister asked in here no longer finds it.",
                    "Indexer 已经走在前面：此时在这里查 lister，已经查不到它。",
                ),
            }
        } else if let Some(room) = room.filter(|room| room.latency_ms > 0) {
            say!(
                self,
                "It takes {ms} here; neither the queue nor another handler waits for it.",
                "这里它要用 {ms}，队列和其他 handler 都不必等它。",
                ms = text(duration(self.lang, u64::from(room.latency_ms))),
            )
        } else {
            say!(
                self,
                "A handler gets its notifications one by one, in order; between handlers there is no order.",
                "同一个 handler 按顺序逐个收到通知，handler 之间没有先后保证。",
            )
        });
        (
            say!(
                self,
                "{who} is called: {call}.",
                "{who} 被调用：{call}。",
                who = self.actor(Actor::Listener(handler)),
                call = self.call(notification),
            ),
            why,
        )
    }

    fn line_printed(&self, by: Printer, line: &str) -> Sentences {
        (
            say!(
                self,
                "{who} printed: {line}",
                "{who} 输出：{line}",
                who = self.printer(by),
                line = mono(line),
            ),
            vec![],
        )
    }

    fn printer(&self, by: Printer) -> Vec<Span> {
        match by {
            Printer::Handler(handler) => self.actor(Actor::Listener(handler)),
            Printer::Beside(informer) => self.beside(informer),
            Printer::Program => self.actor(Actor::Program),
        }
    }

    fn notification_handled(&self, handler: u8) -> Sentences {
        (
            say!(
                self,
                "{who} returned.",
                "{who} 返回。",
                who = self.actor(Actor::Listener(handler)),
            ),
            vec![self.after_handling(handler)],
        )
    }

    fn after_handling(&self, handler: u8) -> Vec<Span> {
        let room = self.picture.handlers.get(usize::from(handler));
        let waiting = room.map_or(0, |room| room.pending.len());
        if room.is_some_and(|room| room.inline) {
            say!(
                self,
                "It has no buffer: only now can the process loop go on.",
                "它没有缓冲：处理循环到这时才能继续。",
            )
        } else if waiting == 0 {
            say!(
                self,
                "Its buffer is empty. A handler returns no error: client-go does not know whether it succeeded.",
                "它的缓冲已空。handler 不返回错误：client-go 不知道它是否成功。",
            )
        } else {
            say!(
                self,
                "Its buffer holds {n} more, the next one is taken at once.",
                "缓冲里还有 {n} 个在等，马上取下一个。",
                n = text(waiting.to_string()),
            )
        }
    }

    fn handler_panicked(&self, handler: u8, error: &str) -> Sentences {
        told!(
            self,
            "{handler} panicked: {error}.",
            "{handler} 发生 panic：{error}。",
            "By default client-go logs it and lets the whole program crash. Here it goes on after a second, without this item.",
            "默认情况下 client-go 记录日志后让整个程序崩溃；这里则是一秒后继续，跳过这一项。",
            handler = self.actor(Actor::Listener(handler)),
            error = mono(error)
        )
    }

    fn handler_asked(&self, name: &str) -> Sentences {
        (
            say!(
                self,
                "The program asks for handler {name} to be added, while the informer runs.",
                "程序要求在 informer 运行时添加 handler {name}。",
                name = named(name),
            ),
            Vec::new(),
        )
    }

    fn removal_asked(&self, handler: u8) -> Sentences {
        (
            say!(
                self,
                "The program asks for {handler} to be removed.",
                "程序要求移除 {handler}。",
                handler = self.actor(Actor::Listener(handler)),
            ),
            Vec::new(),
        )
    }

    fn handler_added(&self, handler: u8, initial: u32) -> Sentences {
        told!(
            self,
            "{handler} was added; it is called for {objects} first.",
            "添加了 {handler}；先通知它 {objects}。",
            "What the store holds comes as OnAdd with isInInitialList=true, however late the handler is.",
            "存储里已有的内容以 isInInitialList=true 的 OnAdd 发给它，无论它来得多晚。",
            handler = self.actor(Actor::Listener(handler)),
            objects = text(objects(self.lang, initial as usize))
        )
    }

    fn handler_removed(&self, handler: u8) -> Sentences {
        told!(
            self,
            "{handler} was removed; what waits for it is dropped.",
            "移除了 {handler}；等着它的通知一并丢弃。",
            "It gets no more calls, not even OnDelete.",
            "之后不再通知它，连已通知过的对象的 OnDelete 也没有。",
            handler = self.actor(Actor::Listener(handler))
        )
    }

    fn handler_synced(&self, handler: u8) -> Sentences {
        told!(
            self,
            "{handler} has been called for the whole first list: its own HasSynced is true.",
            "{handler} 已收到整个初始列表：它自己的 HasSynced 为 true。",
            "`informer synced = yes, first notifications left = 0`. The informer's HasSynced does not wait for handlers; this one does.",
            "`informer 已同步 = 是，剩余首批通知 = 0`。informer 的 HasSynced 不等 handler，这个才等。",
            handler = self.actor(Actor::Listener(handler))
        )
    }

    fn syncing_set(&self, handler: u8, syncing: bool) -> Sentences {
        if syncing {
            told!(
                self,
                "{handler} takes part in this resync.",
                "{handler} 参与这次 resync。",
                "`due = yes → syncing`, until the next check.",
                "`到期 = 是 → syncing`，直到下一次检查。",
                handler = self.actor(Actor::Listener(handler))
            )
        } else {
            told!(
                self,
                "{handler} takes no part in resyncs until it is due.",
                "{handler} 在到期之前不参与 resync。",
                "`due = no → not syncing`. Before the first check every handler counts as syncing.",
                "`到期 = 否 → 不再 syncing`。第一次检查之前，每个 handler 都算 syncing。",
                handler = self.actor(Actor::Listener(handler))
            )
        }
    }

    fn resync_check_set(&self, ms: u64) -> Sentences {
        if ms == 0 {
            (
                say!(
                    self,
                    "The informer does not look for due resyncs.",
                    "informer 不检查 resync 是否到期。"
                ),
                Vec::new(),
            )
        } else {
            told!(
                self,
                "The informer looks every {time} for handlers whose resync is due.",
                "informer 每 {time} 检查一次哪些 handler 的 resync 到期。",
                "A handler wants it more often than the informer looked. Once started, its period would be rounded up instead.",
                "有 handler 要求的周期比检查更短。informer 启动之后就会反过来，把它的周期调大。",
                time = text(duration(self.lang, ms))
            )
        }
    }

    fn object_mutated(&self, key: &Key, handler: u8) -> Sentences {
        told!(
            self,
            "{handler} wrote into {name}, which it shares with the store and everybody else.",
            "{handler} 直接修改了 {name}，而存储和其他各方用的是同一个对象。",
            "The indices know nothing of it: the key stays under its old values.",
            "索引对此一无所知：key 仍在旧值之下。",
            handler = self.actor(Actor::Listener(handler)),
            name = self.name(key)
        )
    }

    fn mutation_detected(&self, key: &Key) -> Sentences {
        told!(
            self,
            "The mutation detector found that {name} is not as it came.",
            "变更检测器发现 {name} 已不是收到时的样子。",
            "It keeps a copy of all that came in and compares once a second; client-go panics here. It is off unless asked for.",
            "它为收到的每个对象留一份副本，每秒比较一次；client-go 在这里会 panic。默认不开启。",
            name = self.name(key)
        )
    }

    pub(super) fn call(&self, notification: &NotificationRef) -> Vec<Span> {
        let mut spans = vec![
            Span::Text(format!("{}(", notification.call())),
            Span::Name(self.naming.of(&notification.object().key)),
        ];
        match notification {
            NotificationRef::Update { old, new } => {
                let old = old.as_ref().map(|old| short_rv(&old.rv));
                let new = short_rv(&new.rv);
                if let Some(old) = old.filter(|old| !old.is_empty() && !new.is_empty()) {
                    spans.push(Span::Text(format!(", rv {old} → {new}")));
                }
            }
            NotificationRef::Delete { object } => match object.shape {
                Shape::Tombstone | Shape::EmptyTombstone => {
                    spans.push(Span::Text(", tombstone".into()));
                }
                Shape::Object | Shape::ExplicitKey | Shape::Opaque => {}
            },
            NotificationRef::Add { .. } => {}
        }
        spans.push(Span::Text(")".into()));
        spans
    }
}
