//! Captions of processing what Pop took.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::ObjectRef;
use deltascope_cache::key::Key;
use deltascope_cache::step::Step;
use deltascope_replay::picture::QueueKind;

use crate::caption::amounts::{entries, keys, objects};
use crate::caption::spans::{Span, boolean, delta, mono, text, version};
use crate::caption::{Sentences, Writer};
use crate::decimal::duration;

impl Writer<'_> {
    pub(super) fn delta_taken(
        &self,
        position: u32,
        delta_type: DeltaType,
        object: &ObjectRef,
        exists: Option<bool>,
    ) -> Sentences {
        let total = self
            .picture
            .pop
            .processing
            .as_ref()
            .map_or(0, |popped| popped.deltas.len());
        let what = if total > 1 {
            say!(
                self,
                "Delta {n} of {total}, {delta} {object}, is being processed.",
                "第 {n} 个 Delta（共 {total} 个）：处理 {delta} {object}。",
                n = text((u64::from(position) + 1).to_string()),
                total = text(total.to_string()),
                delta = delta(delta_type),
                object = self.object(object),
            )
        } else {
            say!(
                self,
                "{delta} {object} is being processed.",
                "处理 {delta} {object}。",
                delta = delta(delta_type),
                object = self.object(object),
            )
        };
        let why = match (delta_type, exists) {
            (DeltaType::Deleted, Some(found)) => say!(
                self,
                "`Deleted → Delete` (exists = {found} changes nothing here): handlers get OnDelete.",
                "`Deleted → Delete`（exists = {found} 在此没有影响）：handler 会收到 OnDelete。",
                found = boolean(found),
            ),
            (DeltaType::Deleted, None) => say!(
                self,
                "`Deleted → delete`: this program goes by the delta's type alone.",
                "`Deleted → 删除`：这个程序只看 Delta 的类型。",
            ),
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                Some(true),
            ) => {
                if delta_type == DeltaType::Updated {
                    say!(
                        self,
                        "`exists = true → Update`: the Indexer holds it, so handlers get OnUpdate(old, new).",
                        "`exists = true → Update`：Indexer 里有它，所以 handler 收到 OnUpdate(old, new)。",
                    )
                } else {
                    say!(
                        self,
                        "`exists = true → Update`: handlers get OnUpdate, although the delta says {delta}.",
                        "`exists = true → Update`：虽然 Delta 是 {delta}，handler 收到的仍是 OnUpdate。",
                        delta = delta(delta_type),
                    )
                }
            }
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                Some(false),
            ) => {
                if delta_type == DeltaType::Added {
                    say!(
                        self,
                        "`exists = false → Add`: the Indexer does not hold it, so handlers get OnAdd.",
                        "`exists = false → Add`：Indexer 里没有它，所以 handler 收到 OnAdd。",
                    )
                } else {
                    say!(
                        self,
                        "`exists = false → Add`: handlers get OnAdd, although the delta says {delta}.",
                        "`exists = false → Add`：虽然 Delta 是 {delta}，handler 收到的仍是 OnAdd。",
                        delta = delta(delta_type),
                    )
                }
            }
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                None,
            ) if self.picture.store.present => say!(
                self,
                "This program goes by the delta's type alone; it does not ask the Indexer whether the object exists.",
                "这个程序只看 Delta 的类型，不查 Indexer 里有没有这个对象。",
            ),
            (
                DeltaType::Added | DeltaType::Updated | DeltaType::Replaced | DeltaType::Sync,
                None,
            ) => say!(
                self,
                "There is no store to ask: the delta's type alone decides, and the old object is not known.",
                "没有存储可查：只由 Delta 的类型决定，旧对象无从得知。",
            ),
            (DeltaType::ReplacedAll | DeltaType::SyncAll | DeltaType::Bookmark, _) => say!(
                self,
                "It is about the whole store, not about one key.",
                "该条目涉及整个存储，而不是某一个 key。",
            ),
        };
        let mut why = vec![why];
        if self.record.step == Step::ProcessBatch {
            why.push(say!(self, "Nothing is written yet: first all of the batch is looked up, then written at once, then the handlers are notified.", "还没有写入：先查完整个批次，再一次写入，然后才通知。"));
        }
        (what, why)
    }

    pub(super) fn processed(&self, key: &Key) -> Sentences {
        (
            say!(
                self,
                "Everything that was popped for {name} has been processed.",
                "本次 Pop 的 {name} 的 Delta 全部处理完毕。",
                name = self.name(key),
            ),
            vec![self.after_processing()],
        )
    }

    pub(super) fn entries_processed(&self, count: u32) -> Sentences {
        (
            say!(
                self,
                "The process function returned: {entries} done.",
                "处理函数返回：完成 {entries}。",
                entries = text(entries(self.lang, count as usize))
            ),
            vec![self.after_processing()],
        )
    }

    fn after_processing(&self) -> Vec<Span> {
        if self.picture.handlers.iter().any(|handler| !handler.inline) {
            say!(
                self,
                "The handlers have been notified, which doesn't mean that they have run.",
                "handler 已经收到通知，但并不意味着它们已经运行。",
            )
        } else {
            say!(
                self,
                "Pop returns now; what it took is gone from the queue.",
                "Pop 即将返回，取出的内容已不在队列里。",
            )
        }
    }

    pub(super) fn process_failed(&self, error: &str) -> Sentences {
        (
            say!(
                self,
                "The process function failed: {error}.",
                "处理函数失败：{error}。",
                error = mono(error),
            ),
            vec![if self.picture.queue.kind == QueueKind::RealFifo {
                say!(
                    self,
                    "What was popped is gone: Pop returns the error, and since 0.33 nothing can put it back.",
                    "Pop 出来的内容就此丢失：Pop 只返回错误，从 0.33 起没有任何途径把它放回去。",
                )
            } else {
                say!(
                    self,
                    "What was popped is gone unless the process function asks for it again, with ErrRequeue. No informer of client-go does.",
                    "Pop 出来的内容就此丢失，除非处理函数用 ErrRequeue 要求放回。client-go 自带的 informer 都不这样做。",
                )
            }],
        )
    }

    pub(super) fn process_was_slow(&self, key: &Key, depth: u32, ms: u64) -> Sentences {
        told!(
            self,
            "Processing {name} took {ms} while {keys} waited.",
            "处理 {name} 用了 {ms}，其间有 {keys} 在等待。",
            "`depth = {depth} > 10, took {ms} → log`. Nothing is dropped or skipped: client-go only complains in its log.",
            "`depth = {depth} > 10，耗时 {ms} → 记日志`。不会丢弃或跳过任何内容，client-go 只在日志里抱怨一句。",
            name = self.name(key),
            ms = text(duration(self.lang, ms)),
            keys = text(keys(self.lang, depth as usize)),
            depth = text(depth.to_string())
        )
    }

    pub(super) fn list_opened(&self, rv: &str, count: u32, removed: u32) -> Sentences {
        told!(
            self,
            "The list at resourceVersion {rv} was opened in the store: {objects}, and it lacks {removed} that the store has.",
            "在存储中展开 resourceVersion 为 {rv} 的列表：{objects}；存储中有而列表中没有的：{removed}。",
            "The store is replaced as a whole before any handler is called; the deletes come first. Up to 0.35 a list came item by item.",
            "先整体替换存储，再开始通知，删除排在前面。0.35 及之前列表是逐个处理的。",
            rv = version(rv),
            objects = text(objects(self.lang, count as usize)),
            removed = text(objects(self.lang, removed as usize))
        )
    }

    pub(super) fn resync_opened(&self, count: u32) -> Sentences {
        told!(
            self,
            "A resync was opened in the store: {objects} are handed out again.",
            "在存储中展开一次 resync：{objects} 会再次发出。",
            "Old and new are the same object, so only syncing handlers are called.",
            "旧对象和新对象是同一个，所以只通知标记为 syncing 的 handler。",
            objects = text(objects(self.lang, count as usize))
        )
    }
}
