//! Captions of RealFIFO, which keeps one entry per event.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, Shape};

use crate::caption::amounts::{entries, objects};
use crate::caption::spans::{boolean, delta, text, version};
use crate::caption::{Sentences, Writer};

impl Writer<'_> {
    pub(super) fn entry_appended(&self, entry: &Entry, length: u32) -> Sentences {
        let behind = text(entries(self.lang, length as usize));
        match entry {
            Entry::Delta(delta_type, object) => (
                say!(
                    self,
                    "{delta} {object} was put at the end of the queue: {entries} now.",
                    "{delta} {object} 排到队尾：现在共有 {entries}。",
                    delta = delta(*delta_type),
                    object = self.object(object),
                    entries = behind,
                ),
                match (delta_type, object.shape) {
                    (DeltaType::Replaced | DeltaType::Sync, _)
                    | (DeltaType::Deleted, Shape::Tombstone | Shape::EmptyTombstone) => {
                        self.why_appended(*delta_type, object, 1)
                    }
                    (DeltaType::Deleted, _) => vec![say!(
                        self,
                        "RealFIFO does not check whether the object is known, as DeltaFIFO does: OnDelete is called even for one that was never stored.",
                        "RealFIFO 不像 DeltaFIFO 那样查问有没有人认识这个对象：没人见过的也会触发 OnDelete。"
                    )],
                    _ => vec![say!(
                        self,
                        "RealFIFO groups nothing by key and merges nothing: the order of the events is the order of the queue.",
                        "RealFIFO 不按 key 归并，也不合并：事件的顺序就是队列的顺序。",
                    )],
                },
            ),
            Entry::ReplacedAll { rv, objects: list } => told!(
                self,
                "The whole list, {objects} at {rv}, became one [ReplacedAll] entry.",
                "整个列表（{objects}，版本 {rv}）成为一个 [ReplacedAll] 条目。",
                "The queue compares it with nothing: which deletions it means is found out when it is processed.",
                "队列不拿它做任何比较：其中意味着哪些删除，处理时才计算。",
                objects = text(objects(self.lang, list.len())),
                rv = version(rv)
            ),
            Entry::SyncAll => told!(
                self,
                "A resync became one [SyncAll] entry: {entries} in the queue now.",
                "resync 成为一个 [SyncAll] 条目：队列现在共有 {entries}。",
                "It asks no server. The objects are taken from the store when it is processed.",
                "它不会请求 API server，处理时才从存储里取对象。",
                entries = behind
            ),
            Entry::Bookmark { rv } => told!(
                self,
                "A [Bookmark] for version {rv} was put at the end of the queue.",
                "版本 {rv} 的 [Bookmark] 排到队尾。",
                "It waits its turn, so the store's version never runs ahead of its content.",
                "它也要排队，这样存储的版本就不会跑到内容前面。",
                rv = version(rv)
            ),
        }
    }

    pub(super) fn entries_taken(&self, count: u32, is_in_initial_list: bool) -> Sentences {
        (
            say!(
                self,
                "Pop took {entries} from the front of the queue.",
                "Pop 从队首取走了 {entries}。",
                entries = text(entries(self.lang, count as usize)),
            ),
            vec![
                say!(
                    self,
                    "`isInInitialList = {flag}`.",
                    "`isInInitialList = {flag}`。",
                    flag = boolean(is_in_initial_list),
                ),
                match self
                    .picture
                    .pop
                    .processing
                    .as_ref()
                    .and_then(|popped| popped.entries.first())
                {
                    _ if count > 1 => say!(
                        self,
                        "A batch ends where a key would come a second time, and with the first list: so each key keeps its order.",
                        "同一个 key 第二次出现时批次就结束，首个列表结束时也一样：所以每个 key 内部的顺序不变。",
                    ),
                    Some(Entry::ReplacedAll { .. } | Entry::SyncAll | Entry::Bookmark { .. }) => {
                        say!(
                            self,
                            "It is about the whole store, so it comes alone.",
                            "该条目涉及整个存储，所以单独取出。"
                        )
                    }
                    _ => say!(
                        self,
                        "What else is queued for the same key stays where it is.",
                        "同一个 key 的其他内容仍留在原处。",
                    ),
                },
            ],
        )
    }
}
