//! Captions of FIFO, which keeps one object per key.

use deltascope_cache::fact::ObjectRef;
use deltascope_cache::key::Key;

use crate::caption::spans::version;
use crate::caption::{Sentences, Writer};

impl Writer<'_> {
    pub(super) fn fifo_item_set(&self, object: &ObjectRef, old: Option<&ObjectRef>) -> Sentences {
        match old {
            None => told!(
                self,
                "FIFO now holds {object}.",
                "FIFO 现在持有 {object}。",
                "FIFO keeps one object a key, the newest: a state that was not popped in time is gone.",
                "FIFO 对每个 key 只保留最新的一个对象：没来得及 Pop 的旧状态就没有了。",
                object = self.object(object)
            ),
            Some(old) => told!(
                self,
                "FIFO exchanged the object of {name}: rv {rv} in place of {old}.",
                "FIFO 换掉了 {name} 的对象：版本 {rv} 取代了 {old}。",
                "`{name} is in items = yes → no enqueue`. The key keeps its place, and rv {old} is never handed over.",
                "`{name} 在 items 里 = 是 → 不再入队`。key 的位置不变，而版本 {old} 永远不会交出去。",
                name = self.name(&object.key),
                rv = version(&object.rv),
                old = version(&old.rv)
            ),
        }
    }

    pub(super) fn fifo_item_removed(&self, key: &Key) -> Sentences {
        told!(
            self,
            "FIFO dropped the object of {name}; its key stays in the queue.",
            "FIFO 丢弃了 {name} 的对象，它的 key 仍留在队列里。",
            "Pop will skip the key. FIFO has no [Deleted]: the consumer never gets it.",
            "Pop 会跳过这个 key。FIFO 没有 [Deleted]：消费者不会得知这次删除。",
            name = self.name(key)
        )
    }

    pub(super) fn fifo_cleared(&self) -> Sentences {
        told!(
            self,
            "FIFO dropped everything that it held.",
            "FIFO 丢弃了原有的全部内容。",
            "Replace puts the list in its place. What the list lacks is simply gone, without a notification.",
            "Replace 用新列表取而代之。列表里没有的就直接消失，不会通知任何人。"
        )
    }

    pub(super) fn fifo_key_skipped(&self, key: &Key) -> Sentences {
        told!(
            self,
            "Pop skipped {name}: its object is gone.",
            "Pop 跳过了 {name}：它的对象已经不在了。",
            "`{name} is in items = no → next key`. Deleted while it waited, or handed over at an earlier place; for HasSynced it counts as popped.",
            "`{name} 在 items 里 = 否 → 下一个 key`。它在等待时被删除了，或者在更前面的位置已经交出；对 HasSynced 来说这算 Pop 过。",
            name = self.name(key)
        )
    }
}
