//! Captions of the queue, its lock, Pop and processing.

mod delta_fifo;
mod fifo;
mod lock;
mod pop;
mod processing;
mod real_fifo;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, ObjectRef, QueueFact};
use deltascope_cache::key::Key;
use deltascope_cache::step::Step;
use deltascope_replay::picture::QueueKind;

use super::amounts::{entries, keys};
use super::spans::{mono, text};
use super::{Sentences, Writer};

names! {
    /// The Chinese names of these facts.
    QueueFact {
        LockTaken = "取得锁",
        LockAwaited = "等待锁",
        LockReleased = "释放锁",
        KeyFailed = "key 处理失败",
        TransformFailed = "transform 失败",
        Transformed = "transform 完成",
        Populated = "populated 置位",
        DeleteChecked = "Delete 检查是否已知",
        DeleteIgnored = "Delete 被忽略",
        DeltaAppended = "追加 Delta",
        DeltasMerged = "合并 Delta",
        KeyEnqueued = "key 入队",
        DeletionDetected = "relist 推出删除",
        ResyncSkipped = "resync 跳过",
        AlreadyPresent = "已在队列中，忽略" as "already queued",
        FifoItemSet = "FIFO 存入对象",
        FifoItemRemoved = "FIFO 移除对象",
        FifoCleared = "FIFO 清空",
        FifoKeySkipped = "FIFO 跳过 key",
        EntryAppended = "追加条目",
        EntriesTaken = "取出条目",
        QueueEmpty = "队列为空",
        KeyPopped = "Pop 取出 key",
        Synced = "HasSynced 变为 true",
        ProcessFailed = "process 失败",
        Requeued = "重新入队",
        ProcessWasSlow = "process 耗时过长",
        QueueClosed = "队列关闭",
        DeltaTaken = "取出 Delta",
        Processed = "process 返回",
        EntriesProcessed = "条目处理完毕",
        ListOpened = "开始处理整个列表",
        ResyncOpened = "resync 开始",
    }
}

impl Writer<'_> {
    pub(super) fn queue_sentences(&self, fact: &QueueFact) -> Sentences {
        match fact {
            QueueFact::LockTaken { lock, by } => self.lock_taken(*lock, *by),
            QueueFact::LockAwaited { lock, by, holder } => self.lock_awaited(*lock, *by, *holder),
            QueueFact::LockReleased { lock, by } => self.lock_released(*lock, *by),
            QueueFact::KeyFailed { error } => self.key_failed(error),
            QueueFact::TransformFailed { key, error } => self.transform_failed(key, error),
            QueueFact::Transformed { to, .. } => self.transformed(to),
            QueueFact::Populated { initial } => self.populated(*initial),
            QueueFact::DeleteChecked {
                key,
                known,
                pending,
            } => self.delete_checked(key, known.as_ref(), *pending),
            QueueFact::DeleteIgnored { key } => self.delete_ignored(key),
            QueueFact::DeltaAppended {
                delta_type,
                object,
                depth,
            } => self.delta_appended(*delta_type, object, *depth),
            QueueFact::DeltasMerged {
                key,
                kept,
                kept_older,
            } => self.deltas_merged(key, kept, *kept_older),
            QueueFact::KeyEnqueued { key, length } => self.key_enqueued(key, *length),
            QueueFact::DeletionDetected { key } => self.deletion_detected(key),
            QueueFact::ResyncSkipped { key } => self.resync_skipped(key),
            QueueFact::AlreadyPresent { key } => self.already_present(key),
            QueueFact::FifoItemSet { object, old } => self.fifo_item_set(object, old.as_ref()),
            QueueFact::FifoItemRemoved { key } => self.fifo_item_removed(key),
            QueueFact::FifoCleared => self.fifo_cleared(),
            QueueFact::FifoKeySkipped { key } => self.fifo_key_skipped(key),
            QueueFact::EntryAppended { entry, length } => self.entry_appended(entry, *length),
            QueueFact::EntriesTaken {
                count,
                is_in_initial_list,
            } => self.entries_taken(*count, *is_in_initial_list),
            QueueFact::QueueEmpty => self.queue_empty(),
            QueueFact::KeyPopped {
                key,
                deltas,
                is_in_initial_list,
            } => self.key_popped(key, deltas, *is_in_initial_list),
            QueueFact::Synced => self.synced(),
            QueueFact::ProcessFailed { error } => self.process_failed(error),
            QueueFact::Requeued { key, added } => self.requeued(key, *added),
            QueueFact::ProcessWasSlow { key, depth, ms } => self.process_was_slow(key, *depth, *ms),
            QueueFact::QueueClosed => self.queue_closed(),
            QueueFact::DeltaTaken {
                position,
                delta_type,
                object,
                exists,
            } => self.delta_taken(*position, *delta_type, object, *exists),
            QueueFact::Processed { key } => self.processed(key),
            QueueFact::EntriesProcessed { count } => self.entries_processed(*count),
            QueueFact::ListOpened { rv, count, removed } => self.list_opened(rv, *count, *removed),
            QueueFact::ResyncOpened { count } => self.resync_opened(*count),
        }
    }

    fn key_failed(&self, error: &str) -> Sentences {
        told!(
            self,
            "No key could be made for the object, so nothing was queued.",
            "无法为对象算出 key，因此没有入队。",
            "`{error}`. The caller gets the error; without a key there is no place for the object in queue or store.",
            "`{error}`。错误返回给调用者；没有 key，对象在队列和存储里都无处可放。",
            error = mono(error)
        )
    }

    fn transform_failed(&self, key: &Key, error: &str) -> Sentences {
        if self.record.step == Step::ReflectorKeep {
            told!(
                self,
                "The transformer failed for {name}: the streaming list will lack it.",
                "{name} 的 transformer 失败：流式列表里会缺少它。",
                "`{error}`. What the list lacks counts as deleted.",
                "`{error}`。列表里没有的，就视为已删除。",
                name = self.name(key),
                error = mono(error)
            )
        } else {
            told!(
                self,
                "The transformer failed for {name}, so it was not queued.",
                "{name} 的 transformer 失败，因此它没有入队。",
                "`{error}`. From a watch this event is lost for good, and the version moves on all the same; from a list, the whole list is asked for again.",
                "`{error}`。若来自 watch，这个事件就此丢失，版本却照样前移；若来自 List，则整个列表会重新请求。",
                name = self.name(key),
                error = mono(error)
            )
        }
    }

    fn transformed(&self, to: &ObjectRef) -> Sentences {
        if self.record.step == Step::ReflectorKeep {
            told!(
                self,
                "The transformer made another object of {name} on its way into the temporary store.",
                "{name} 进入临时存储之前，transformer 把它换成了另一个对象。",
                "The queue gives it to the transformer once more: what is done twice must come to the same as done once.",
                "到了队列，它还要再经过一次 transformer：做两次的结果必须和做一次相同。",
                name = self.name(&to.key)
            )
        } else {
            told!(
                self,
                "The transformer made another object of {name} before it was queued.",
                "{name} 入队之前，transformer 把它换成了另一个对象。",
                "What it strips never reaches the store. Tombstones and [Sync] skip it; it can still see an object twice, so it must be idempotent.",
                "被去掉的部分不会进入存储。墓碑和 [Sync] 不经过它；同一对象仍可能经过两次，所以它必须是幂等的。",
                name = self.name(&to.key)
            )
        }
    }

    fn populated(&self, initial: u32) -> Sentences {
        if initial == 0 {
            told!(
                self,
                "The {queue} counts as populated, with no first list to wait for.",
                "{queue} 的首个列表为空，无需等待。",
                "`populated = true, initial = 0`. Any Add, Update or Delete sets it; a list that comes later is not counted.",
                "`populated = true，initial = 0`。任何 Add、Update 或 Delete 都会设置它，之后的列表不再计数。",
                queue = self.queue()
            )
        } else {
            let waiting = match (self.picture.queue.kind, self.lang) {
                (QueueKind::RealFifo, lang) => entries(lang, initial as usize),
                (QueueKind::Fifo | QueueKind::DeltaFifo, lang) => keys(lang, initial as usize),
            };
            told!(
                self,
                "The {queue} is populated for the first time: HasSynced waits for {keys} to be popped.",
                "{queue} 首次填充完毕：要等 {keys} 被 Pop 之后 HasSynced 才为 true。",
                "`populated = false → true, initial = {n}`. It happens once: later lists do not make HasSynced false again.",
                "`populated = false → true，initial = {n}`。只发生一次：之后的列表不会让 HasSynced 变回 false。",
                queue = self.queue(),
                keys = text(waiting),
                n = text(initial.to_string())
            )
        }
    }

    fn key_enqueued(&self, key: &Key, length: u32) -> Sentences {
        (
            if length <= 1 {
                say!(
                    self,
                    "{name} took its place in the queue: it is the only key, and next.",
                    "{name} 进入队列：目前只有它一个 key，下一个就轮到它。",
                    name = self.name(key),
                )
            } else {
                say!(
                    self,
                    "{name} took its place at the end of the queue, behind {others}.",
                    "{name} 排到队尾，前面有 {others}。",
                    name = self.name(key),
                    others = text(keys(self.lang, length as usize - 1)),
                )
            },
            vec![if self.picture.queue.kind != QueueKind::Fifo {
                say!(
                    self,
                    "`{name} is queued = no → enqueue`. Whatever comes for it now joins it there: the key keeps its place.",
                    "`{name} 已在队列 = 否 → 入队`。之后它的变更都加在这里，key 的位置不变。",
                    name = self.name(key),
                )
            } else if self
                .picture
                .queue
                .keys
                .iter()
                .filter(|at| *at == key)
                .count()
                > 1
            {
                say!(
                    self,
                    "`{name} is in items = no → enqueue`. The queue is never searched: a place that Delete left is still in it. That place will get this object, and the new one nothing.",
                    "`{name} 在 items 里 = 否 → 入队`，而且不看队列：Delete 留下的旧位置也在里面。先到的旧位置会拿到这个对象，新位置到时什么也找不到。",
                    name = self.name(key),
                )
            } else {
                say!(
                    self,
                    "`{name} is in items = no → enqueue`. An update exchanges its object from now on: the key keeps its place.",
                    "`{name} 在 items 里 = 否 → 入队`。之后的更新只换掉它的对象，key 的位置不变。",
                    name = self.name(key),
                )
            }],
        )
    }

    fn queue_empty(&self) -> Sentences {
        if self.picture.queue.closed {
            told!(
                self,
                "The {queue} is empty and closed: Pop gives up.",
                "{queue} 已空且已关闭：Pop 结束。",
                "`queue empty = yes, closed = yes → ErrFIFOClosed`.",
                "`队列为空 = 是，closed = 是 → ErrFIFOClosed`。",
                queue = self.queue()
            )
        } else {
            told!(
                self,
                "The {queue} is empty: Pop waits.",
                "{queue} 是空的：Pop 等待。",
                "`queue empty = yes, closed = no → wait`. Waiting gives the lock away, so something can be put in.",
                "`队列为空 = 是，closed = 否 → 等待`。等待时会让出锁，所以别人可以放入内容。",
                queue = self.queue()
            )
        }
    }

    fn synced(&self) -> Sentences {
        (
            say!(
                self,
                "HasSynced is true from now on.",
                "从现在起 HasSynced 为 true。",
            ),
            vec![
                say!(
                    self,
                    "`populated = true, left to pop = 0 → synced`.",
                    "`populated = true，待 Pop = 0 → synced`。",
                ),
                if self.record.actor != Actor::ProcessLoop {
                    say!(
                        self,
                        "It says nothing of the handlers: they may not have run yet.",
                        "它与 handler 无关：handler 可能还没有运行。",
                    )
                } else if self.picture.generation == Generation::Atomic
                    && self.picture.queue.kind == QueueKind::RealFifo
                {
                    say!(
                        self,
                        "From 0.36 on it counts down after processing: what did not fail is stored and on its way to the handlers, which need not have run.",
                        "从 0.36 起先处理再减计数：处理成功的都已存好并发往 handler，但 handler 不一定运行过。"
                    )
                } else {
                    say!(
                        self,
                        "{queue} counts down before it processes: what was just popped is not even stored yet, and no handler has to have run.",
                        "{queue} 先减计数再处理：刚 Pop 出来的甚至还没存入，handler 也不一定运行过。",
                        queue = self.queue(),
                    )
                },
            ],
        )
    }

    fn queue_closed(&self) -> Sentences {
        told!(
            self,
            "The {queue} was closed.",
            "{queue} 已关闭。",
            "Close refuses nothing: Add still adds, and Pop goes on until nothing is left. Only empty and closed together end it.",
            "关闭并不拦截任何人：Add 照样能加，Pop 会一直进行到取空。只有又空又关闭时才结束。",
            queue = self.queue()
        )
    }
}
