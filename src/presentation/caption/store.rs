//! Captions of the store and its indices.

use std::sync::Arc;

use deltascope_cache::fact::{ObjectRef, StoreFact};
use deltascope_cache::key::Key;

use super::amounts::objects;
use super::spans::{Span, mono, named, quoted, text, version};
use super::{Sentences, Writer};

names! {
    /// The Chinese names of these facts.
    StoreFact {
        ItemStored = "存储写入对象",
        ItemRemoved = "存储移除对象",
        StoreReplaced = "存储整体替换",
        IndexEntryRemoved = "移除索引条目",
        IndexEntryAdded = "添加索引条目",
        IndexFailed = "索引函数失败",
        IndexersAdded = "添加索引",
        IndicesReset = "清空索引",
        StoreVersionMoved = "存储版本更新",
    }
}

impl Writer<'_> {
    pub(super) fn store_sentences(&self, fact: &StoreFact) -> Sentences {
        match fact {
            StoreFact::ItemStored { object, old } => self.item_stored(object, old.as_ref()),
            StoreFact::ItemRemoved { key, old } => self.item_removed(key, old.as_ref()),
            StoreFact::StoreReplaced { items } => self.store_replaced(items),
            StoreFact::IndexEntryRemoved {
                index,
                value,
                key,
                emptied,
            } => self.index_entry_removed(index, value, key, *emptied),
            StoreFact::IndexEntryAdded { index, value, key } => {
                self.index_entry_added(index, value, key)
            }
            StoreFact::IndexFailed { index, key, error } => self.index_failed(index, key, error),
            StoreFact::IndexersAdded { names } => self.indexers_added(names),
            StoreFact::IndicesReset => self.indices_reset(),
            StoreFact::StoreVersionMoved { from, to } => self.store_version_moved(from, to),
        }
    }

    fn item_stored(&self, object: &ObjectRef, old: Option<&ObjectRef>) -> Sentences {
        let Some(old) = old else {
            return told!(
                self,
                "The Indexer now holds {object}.",
                "Indexer 现在持有 {object}。",
                "`old = none`. A lister finds it from now on, before any handler is called.",
                "`old = 无`。从现在起 lister 就能查到它，早于任何 handler 收到通知。",
                object = self.object(object)
            );
        };
        let why = if !old.uid.is_empty() && !object.uid.is_empty() && old.uid != object.uid {
            say!(
                self,
                "The UID is another one: it was deleted and created again, and all that handlers see is one OnUpdate.",
                "UID 变了：它被删除后又重新创建，而 handler 看到的只是一次 OnUpdate。",
            )
        } else if old.rv == object.rv && !object.rv.is_empty() {
            say!(
                self,
                "It is the same version: it is stored all the same, nothing is compared.",
                "版本相同也照样写入，不做任何比较。",
            )
        } else {
            say!(
                self,
                "`old = {old}, new = {new}`. The store compares no versions: an older object would be stored as well.",
                "`old = {old}，new = {new}`。存储不比较版本：更旧的对象同样会写入。",
                old = version(&old.rv),
                new = version(&object.rv),
            )
        };
        (
            say!(
                self,
                "The Indexer replaced {name}: rv {old} → {new}.",
                "Indexer 更新了 {name}：rv {old} → {new}。",
                name = self.name(&object.key),
                old = version(&old.rv),
                new = version(&object.rv),
            ),
            vec![why],
        )
    }

    fn item_removed(&self, key: &Key, old: Option<&ObjectRef>) -> Sentences {
        match old {
            Some(old) => told!(
                self,
                "The Indexer no longer holds {name}; it had rv {rv}.",
                "Indexer 不再持有 {name}，之前存的版本是 {rv}。",
                "From now on a lister does not find it, though no handler may have seen its OnDelete yet.",
                "从现在起 lister 就查不到它了，而 handler 可能都还没收到 OnDelete。",
                name = self.name(key),
                rv = version(&old.rv)
            ),
            None => told!(
                self,
                "The Indexer was to remove {name}, but did not hold it.",
                "要从 Indexer 删除 {name}，但其中并没有它。",
                "`{name} is stored = no → nothing to do`. It is no error, and OnDelete is called all the same.",
                "`{name} 已存储 = 否 → 无事可做`。这不算错误，OnDelete 照样会调用。",
                name = self.name(key)
            ),
        }
    }

    fn store_replaced(&self, items: &[ObjectRef]) -> Sentences {
        told!(
            self,
            "The whole content of the Indexer was replaced: {objects} now.",
            "Indexer 的内容被整体替换：现在有 {objects}。",
            "The indices follow, step by step. The store's own lock is held until the last of them: no reader sees anything in between.",
            "索引随后逐步更新。存储自己的锁要到最后一步才释放：读者看不到中间状态。",
            objects = text(objects(self.lang, items.len()))
        )
    }

    fn index_entry_removed(&self, index: &str, value: &str, key: &Key, emptied: bool) -> Sentences {
        (
            say!(
                self,
                "Index {index}: {name} left the keys under {value}.",
                "索引 {index}：{name} 从 {value} 下的 key 集合中移除。",
                index = named(index),
                value = quoted(value),
                name = self.name(key),
            ),
            vec![if emptied {
                say!(
                    self,
                    "It was the last key there, so the value {value} goes, too: empty sets would pile up.",
                    "它是那里的最后一个 key，所以值 {value} 也一并删除：否则空集合会越积越多。",
                    value = quoted(value),
                )
            } else {
                say!(
                    self,
                    "The values come from the old object; the other keys under {value} stay.",
                    "这些值由旧对象算出，{value} 下的其他 key 不变。",
                    value = quoted(value),
                )
            }],
        )
    }

    fn index_entry_added(&self, index: &str, value: &str, key: &Key) -> Sentences {
        told!(
            self,
            "Index {index}: {name} joined the keys under {value}.",
            "索引 {index}：{name} 加入 {value} 下的 key 集合。",
            "The index function gave {value} for the new object. An index holds keys, never objects.",
            "索引函数对新对象算出 {value}。索引里只存 key，不存对象。",
            index = named(index),
            value = quoted(value),
            name = self.name(key)
        )
    }

    fn index_failed(&self, index: &str, key: &Key, error: &str) -> Sentences {
        told!(
            self,
            "The index function of {index} failed for {name}.",
            "{index} 的索引函数对 {name} 执行失败。",
            "`{error}`. The object was stored before, so items has it and this index lacks it. client-go panics here.",
            "`{error}`。对象在此之前已经存入，所以 items 里有它，这个索引里却没有。client-go 在这里会 panic。",
            index = named(index),
            name = self.name(key),
            error = mono(error)
        )
    }

    fn indexers_added(&self, names: &[Arc<str>]) -> Sentences {
        told!(
            self,
            "New indices: {names}.",
            "新增索引：{names}。",
            "What is already stored is indexed at once. A name that is taken would have refused all of them.",
            "已存储的对象会立即编入索引。只要有一个名字已被占用，就会全部拒绝。",
            names = self.list(names)
        )
    }

    fn list(&self, names: &[Arc<str>]) -> Vec<Span> {
        let mut spans = Vec::new();
        for item in names {
            if !spans.is_empty() {
                spans.push(Span::Text(self.comma().into()));
            }
            spans.push(Span::Name(item.to_string()));
        }
        if spans.is_empty() {
            spans.push(Span::Text("–".into()));
        }
        spans
    }

    fn indices_reset(&self) -> Sentences {
        told!(
            self,
            "All indices were emptied.",
            "所有索引都被清空。",
            "The content is new, so they are filled again from it; old values are not taken out one by one.",
            "内容已经换新，索引要据此重建，而不是逐个移除旧值。"
        )
    }

    fn store_version_moved(&self, from: &str, to: &str) -> Sentences {
        (
            if from.is_empty() {
                say!(
                    self,
                    "The store's resourceVersion was set to {to}.",
                    "存储的 resourceVersion 设为 {to}。",
                    to = version(to),
                )
            } else {
                say!(
                    self,
                    "The store's resourceVersion moved: {from} → {to}.",
                    "存储的 resourceVersion 变化：{from} → {to}。",
                    from = version(from),
                    to = version(to),
                )
            },
            vec![say!(
                self,
                "It is the version of the last write, not the highest: an older object takes it back. client-go keeps it from 0.36 on.",
                "它是最后一次写入的版本，而不是最大的：写入更旧的对象会让它回退。client-go 从 0.36 起才保存它。",
            )],
        )
    }
}
