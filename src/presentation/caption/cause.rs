//! Captions of the cause of a fact.

use deltascope_cache::fact::{
    Cause, Fact, HandlersFact, QueueFact, ReflectorFact, ServerFact, StoreFact, WatchEnd,
};

use super::Writer;
use super::spans::{Span, answer, delta, event_type, mono, text, version};

impl Writer<'_> {
    /// The cause in a few words, if it is one of the recent facts and the user would not see it anyway.
    pub(super) fn cause_clause(&self) -> Option<Vec<Span>> {
        let Cause::Fact(id) = self.record.cause else {
            return None;
        };
        let cause = self.recent.iter().rev().find(|record| record.id == id)?;
        if explains(&cause.fact, &self.record.fact) {
            self.clause(&cause.fact)
        } else {
            None
        }
    }

    /// A fact as a clause without a full stop; only for causes that [`explains`] accepts.
    fn clause(&self, fact: &Fact) -> Option<Vec<Span>> {
        match fact {
            Fact::Server(fact) => self.server_clause(fact),
            Fact::Reflector(fact) => self.reflector_clause(fact),
            Fact::Queue(fact) => self.queue_clause(fact),
            Fact::Handlers(fact) => self.handlers_clause(fact),
            Fact::Store(_) | Fact::Work(_) | Fact::Run(_) => None,
        }
    }

    fn server_clause(&self, fact: &ServerFact) -> Option<Vec<Span>> {
        if let ServerFact::ObjectCreated { object, .. } = fact {
            Some(say!(
                self,
                "{object} was created",
                "{object} 被创建",
                object = self.object(object)
            ))
        } else if let ServerFact::ObjectUpdated { object, .. } = fact {
            Some(say!(
                self,
                "{object} was changed",
                "{object} 被修改",
                object = self.object(object)
            ))
        } else if let ServerFact::ObjectDeleted { object, .. } = fact {
            Some(say!(
                self,
                "{object} was deleted",
                "{object} 被删除",
                object = self.object(object)
            ))
        } else if let ServerFact::WatchClosed { end, .. } = fact {
            Some(self.end_clause(end))
        } else if let ServerFact::ConnectionRefused = fact {
            Some(say!(self, "the connection was refused", "无法连接"))
        } else if let ServerFact::WatchRefused { rv, .. } = fact {
            Some(say!(
                self,
                "the watch from {rv} was refused with 410 Gone",
                "从 {rv} 开始的 watch 被 410 Gone 拒绝",
                rv = version(rv)
            ))
        } else if let ServerFact::ListRefused { code: 0, .. } = fact {
            Some(say!(self, "the list had no answer", "List 没有得到回应"))
        } else if let ServerFact::ListRefused { code, reason } = fact {
            Some(say!(
                self,
                "the list was answered with {answer}",
                "List 得到 {answer}",
                answer = mono(answer(*code, reason.as_str()))
            ))
        } else {
            None
        }
    }

    fn end_clause(&self, end: &WatchEnd) -> Vec<Span> {
        match end {
            WatchEnd::Closed => say!(self, "the server closed it", "API server 关闭了它"),
            WatchEnd::Cut | WatchEnd::CutInLine(_) => {
                say!(self, "the connection broke", "连接断了")
            }
            WatchEnd::Silent => say!(self, "nothing came any more", "不再有内容"),
            WatchEnd::Failed(code, reason) => say!(
                self,
                "{answer}",
                "API server 返回 {answer}",
                answer = mono(answer(*code, reason))
            ),
            WatchEnd::TooMuch(most) => say!(
                self,
                "more than {most} objects came",
                "收到的对象超过 {most} 个",
                most = text(most.to_string()),
            ),
        }
    }

    fn reflector_clause(&self, fact: &ReflectorFact) -> Option<Vec<Span>> {
        if let ReflectorFact::EventReceived { event, object, .. } = fact {
            // A bookmark and an error have no object.
            Some(if object.key.is_empty() {
                say!(
                    self,
                    "{event} was received",
                    "收到 {event}",
                    event = event_type(*event),
                )
            } else {
                say!(
                    self,
                    "{event} {name} was received",
                    "收到 {event} {name}",
                    event = event_type(*event),
                    name = self.name(&object.key),
                )
            })
        } else if let ReflectorFact::ListReceived { rv, .. } = fact {
            Some(say!(
                self,
                "the list at rv {rv} was received",
                "收到版本 {rv} 的列表",
                rv = version(rv)
            ))
        } else {
            None
        }
    }

    fn queue_clause(&self, fact: &QueueFact) -> Option<Vec<Span>> {
        if let QueueFact::DeletionDetected { key } = fact {
            Some(say!(
                self,
                "the list does not have {name}",
                "列表里没有 {name}",
                name = self.name(key),
            ))
        } else if let QueueFact::DeltaTaken {
            delta_type, object, ..
        } = fact
        {
            Some(say!(
                self,
                "{delta} {name} is being processed",
                "正在处理 {delta} {name}",
                delta = delta(*delta_type),
                name = self.name(&object.key),
            ))
        } else {
            None
        }
    }

    fn handlers_clause(&self, fact: &HandlersFact) -> Option<Vec<Span>> {
        if let HandlersFact::NotificationTaken { notification, .. } = fact {
            Some(say!(
                self,
                "{call} was called",
                "调用了 {call}",
                call = self.call(notification)
            ))
        } else {
            None
        }
    }
}

/// Whether the cause explains more of its effect than the user sees anyway.
fn explains(cause: &Fact, effect: &Fact) -> bool {
    matches!(
        (effect, cause),
        (
            Fact::Server(ServerFact::EventSent { .. }),
            Fact::Server(
                ServerFact::ObjectCreated { .. }
                    | ServerFact::ObjectUpdated { .. }
                    | ServerFact::ObjectDeleted { .. }
            )
        ) | (
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                    | QueueFact::EntryAppended { .. }
                    | QueueFact::DeleteChecked { .. }
                    | QueueFact::FifoItemSet { .. }
                    | QueueFact::FifoItemRemoved { .. }
                    | QueueFact::KeyFailed { .. }
                    | QueueFact::TransformFailed { .. }
            ) | Fact::Reflector(ReflectorFact::LastSyncMoved { .. }),
            Fact::Reflector(
                ReflectorFact::EventReceived { .. } | ReflectorFact::ListReceived { .. }
            ) | Fact::Queue(QueueFact::DeletionDetected { .. })
        ) | (
            Fact::Reflector(ReflectorFact::WatchEnded { .. }),
            Fact::Server(ServerFact::WatchClosed { .. } | ServerFact::WatchRefused { .. })
        ) | (
            Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::BackoffStarted { .. }
            ),
            Fact::Server(
                ServerFact::WatchRefused { .. }
                    | ServerFact::ListRefused { .. }
                    | ServerFact::ConnectionRefused
            )
        ) | (
            Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
                | Fact::Handlers(HandlersFact::NotificationQueued { .. }),
            Fact::Queue(QueueFact::DeltaTaken { .. })
        ) | (
            Fact::Handlers(HandlersFact::LinePrinted { .. }),
            Fact::Handlers(HandlersFact::NotificationTaken { .. })
                | Fact::Queue(QueueFact::DeltaTaken { .. })
                | Fact::Reflector(ReflectorFact::EventReceived { .. })
        )
    )
}
