//! Words about the cause of a fact.

use deltascope_cache::fact::{
    Cause, Fact, HandlersFact, QueueFact, ReflectorFact, ServerFact, StoreFact, WatchEnd,
};

use super::Writer;
use super::spans::{Span, answer, delta, event_type, mono, text, version};

impl Writer<'_> {
    /// The cause in a few words, where it is another fact, at hand, and not what one sees anyway.
    pub(super) fn cause_clause(&self) -> Option<Vec<Span>> {
        let Cause::Fact(id) = self.record.cause else {
            return None;
        };
        let cause = self.recent.iter().rev().find(|record| record.id == id)?;
        let wanted = match &self.record.fact {
            Fact::Server(ServerFact::EventSent { .. }) => matches!(
                cause.fact,
                Fact::Server(
                    ServerFact::ObjectCreated { .. }
                        | ServerFact::ObjectUpdated { .. }
                        | ServerFact::ObjectDeleted { .. }
                )
            ),
            Fact::Queue(
                QueueFact::DeltaAppended { .. }
                | QueueFact::EntryAppended { .. }
                | QueueFact::DeleteChecked { .. }
                | QueueFact::FifoItemSet { .. }
                | QueueFact::FifoItemRemoved { .. },
            )
            | Fact::Reflector(ReflectorFact::LastSyncMoved { .. })
            | Fact::Queue(QueueFact::KeyFailed { .. } | QueueFact::TransformFailed { .. }) => {
                matches!(
                    cause.fact,
                    Fact::Reflector(
                        ReflectorFact::EventReceived { .. } | ReflectorFact::ListReceived { .. }
                    ) | Fact::Queue(QueueFact::DeletionDetected { .. })
                )
            }
            Fact::Reflector(ReflectorFact::WatchEnded { .. }) => matches!(
                cause.fact,
                Fact::Server(ServerFact::WatchClosed { .. } | ServerFact::WatchRefused { .. })
            ),
            Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::BackoffStarted { .. },
            ) => matches!(
                cause.fact,
                Fact::Server(
                    ServerFact::WatchRefused { .. }
                        | ServerFact::ListRefused { .. }
                        | ServerFact::ConnectionRefused
                )
            ),
            Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
            | Fact::Handlers(HandlersFact::NotificationQueued { .. }) => {
                matches!(cause.fact, Fact::Queue(QueueFact::DeltaTaken { .. }))
            }
            Fact::Handlers(HandlersFact::LinePrinted { .. }) => matches!(
                cause.fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. })
                    | Fact::Queue(QueueFact::DeltaTaken { .. })
                    | Fact::Reflector(ReflectorFact::EventReceived { .. })
            ),
            _ => false,
        };
        if wanted {
            self.clause(&cause.fact)
        } else {
            None
        }
    }

    /// A fact as a clause without a full stop; only for what [`Self::cause_clause`] lets through.
    fn clause(&self, fact: &Fact) -> Option<Vec<Span>> {
        Some(match fact {
            Fact::Queue(QueueFact::DeletionDetected { key }) => say!(
                self,
                "the list does not have {name}",
                "列表里没有 {name}",
                name = self.name(key),
            ),
            Fact::Server(ServerFact::ObjectCreated { object, .. }) => say!(
                self,
                "{object} was created",
                "{object} 被创建",
                object = self.object(object)
            ),
            Fact::Server(ServerFact::ObjectUpdated { object, .. }) => say!(
                self,
                "{object} was changed",
                "{object} 被修改",
                object = self.object(object)
            ),
            Fact::Server(ServerFact::ObjectDeleted { object, .. }) => say!(
                self,
                "{object} was deleted",
                "{object} 被删除",
                object = self.object(object)
            ),
            // A bookmark and an error are about no object.
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. })
                if object.key.is_empty() =>
            {
                say!(
                    self,
                    "{event} was received",
                    "收到 {event}",
                    event = event_type(*event),
                )
            }
            Fact::Reflector(ReflectorFact::EventReceived { event, object, .. }) => say!(
                self,
                "{event} {name} was received",
                "收到 {event} {name}",
                event = event_type(*event),
                name = self.name(&object.key),
            ),
            Fact::Reflector(ReflectorFact::ListReceived { rv, .. }) => say!(
                self,
                "the list at rv {rv} was received",
                "收到版本 {rv} 的列表",
                rv = version(rv)
            ),
            Fact::Server(ServerFact::WatchClosed { end, .. }) => match end {
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
            },
            Fact::Server(ServerFact::ConnectionRefused) => {
                say!(self, "the connection was refused", "无法连接")
            }
            Fact::Server(ServerFact::WatchRefused { rv, .. }) => say!(
                self,
                "the watch from {rv} was refused with 410 Gone",
                "从 {rv} 开始的 watch 被 410 Gone 拒绝",
                rv = version(rv)
            ),
            Fact::Server(ServerFact::ListRefused { code: 0, .. }) => {
                say!(self, "the list had no answer", "List 没有得到回应")
            }
            Fact::Server(ServerFact::ListRefused { code, reason }) => say!(
                self,
                "the list was answered with {answer}",
                "List 得到 {answer}",
                answer = mono(answer(*code, reason))
            ),
            Fact::Queue(QueueFact::DeltaTaken {
                delta_type, object, ..
            }) => say!(
                self,
                "{delta} {name} is being processed",
                "正在处理 {delta} {name}",
                delta = delta(*delta_type),
                name = self.name(&object.key),
            ),
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => say!(
                self,
                "{call} was called",
                "调用了 {call}",
                call = self.call(notification)
            ),
            _ => return None,
        })
    }
}
