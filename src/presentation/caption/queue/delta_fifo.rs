//! Captions of the deltas that DeltaFIFO keeps for each key or drops.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, Fact, Known, ObjectRef, QueueFact, Shape};
use deltascope_cache::key::Key;
use deltascope_cache::step::Step;
use deltascope_replay::picture::{InformerKind, QueueKind, SourceKind};

use crate::caption::say::say;
use crate::caption::spans::{Span, delta, short_rv, text};
use crate::caption::{Sentences, Writer};
use deltascope_world::text::Lang;

impl Writer<'_> {
    pub(super) fn delete_checked(
        &self,
        key: &Key,
        known: Option<&Known>,
        pending: bool,
    ) -> Sentences {
        let name = self.name(key);
        let what = match (known, pending) {
            (Some(Known::Yes(_)), false) => say!(
                self,
                "The queue holds nothing for {name}, but the Indexer still knows it.",
                "队列里没有 {name}，但 Indexer 还认识它。",
                name = name,
            ),
            (Some(Known::Yes(_)), true) => say!(
                self,
                "The Indexer knows {name}, and deltas of it are queued.",
                "Indexer 认识 {name}，队列里也有它的 Delta。",
                name = name,
            ),
            (Some(Known::No), true) => say!(
                self,
                "The Indexer does not know {name} yet, but deltas of it are queued.",
                "Indexer 还不认识 {name}，但队列里有它的 Delta。",
                name = name,
            ),
            (Some(Known::No), false) => say!(
                self,
                "Neither the Indexer nor the queue knows {name}.",
                "Indexer 和队列都不认识 {name}。",
                name = name,
            ),
            (Some(Known::Failed), _) => say!(
                self,
                "KnownObjects could not say whether it holds {name}.",
                "KnownObjects 无法判断是否持有 {name}。",
                name = name,
            ),
            (None, true) => say!(
                self,
                "There are no KnownObjects to ask, but deltas of {name} are queued.",
                "没有 KnownObjects 可查，但队列里有 {name} 的 Delta。",
                name = name,
            ),
            (None, false) => say!(
                self,
                "There are no KnownObjects to ask, and the queue holds nothing for {name}.",
                "没有 KnownObjects 可查，队列里也没有 {name}。",
                name = name,
            ),
        };
        (
            what,
            vec![
                self.delete_condition(known, pending),
                say!(
                    self,
                    "Only Delete asks: Add and Update always queue.",
                    "只有 Delete 会检查，Add 和 Update 总是入队。",
                ),
            ],
        )
    }

    fn delete_condition(&self, known: Option<&Known>, pending: bool) -> Vec<Span> {
        let kept = pending || !matches!(known, None | Some(Known::No));
        let (value, outcome) = match self.lang {
            Lang::En => (
                match known {
                    None => "(off)".to_owned(),
                    Some(Known::No) => "no".to_owned(),
                    Some(Known::Failed) => "error".to_owned(),
                    Some(Known::Yes(rv)) if rv.is_empty() => "yes".to_owned(),
                    Some(Known::Yes(rv)) => format!("yes (rv {})", short_rv(rv)),
                },
                if kept { "kept" } else { "dropped" },
            ),
            Lang::Zh => (
                match known {
                    None => "未启用".to_owned(),
                    Some(Known::No) => "否".to_owned(),
                    Some(Known::Failed) => "出错".to_owned(),
                    Some(Known::Yes(rv)) if rv.is_empty() => "是".to_owned(),
                    Some(Known::Yes(rv)) => format!("是（rv {}）", short_rv(rv)),
                },
                if kept { "保留" } else { "丢弃" },
            ),
        };
        say!(
            self,
            "`known = {known}, pending = {pending} → {outcome}`.",
            "`known = {known}，pending = {pending} → {outcome}`。",
            known = text(value),
            pending = text(match (self.lang, pending) {
                (Lang::En, true) => "yes",
                (Lang::En, false) => "no",
                (Lang::Zh, true) => "是",
                (Lang::Zh, false) => "否",
            }),
            outcome = text(outcome),
        )
    }

    /// What the last Delete of `key` found: whether KnownObjects know the key, and whether it is queued.
    fn checked(&self, key: &Key) -> Option<(Option<&Known>, bool)> {
        self.recent.iter().rev().find_map(|record| {
            if let Fact::Queue(QueueFact::DeleteChecked {
                key: asked,
                known,
                pending,
            }) = &record.fact
                && asked == key
            {
                Some((known.as_ref(), *pending))
            } else {
                None
            }
        })
    }

    pub(super) fn delete_ignored(&self, key: &Key) -> Sentences {
        let mut why = Vec::new();
        let known = match self.checked(key) {
            Some((known, pending)) => {
                why.push(self.delete_condition(known, pending));
                known.is_some()
            }
            None => self.picture.queue.known_objects,
        };
        why.push(if self.picture.store.items.contains_key(key) {
            say!(
                self,
                "The Indexer still holds {name}, and it will never be removed: with KnownObjects on, the delta would have been kept.",
                "Indexer 里还存着 {name}，却再也不会有人通知它：打开 KnownObjects 的话，这个 Delta 会保留下来。",
                name = self.name(key),
            )
        } else if known {
            say!(
                self,
                "No delta, no notification: OnDelete is never called for an unknown object.",
                "没有 Delta，也没有通知：没人见过的对象不会触发 OnDelete。",
            )
        } else {
            say!(
                self,
                "Without KnownObjects the queue knows only what is queued right now: OnDelete is never called.",
                "没有 KnownObjects 的队列只知道此刻队列里有什么：OnDelete 永远不会被调用。",
            )
        });
        (
            say!(
                self,
                "The delete of {name} was dropped without a trace.",
                "{name} 的删除被悄悄丢弃。",
                name = self.name(key),
            ),
            why,
        )
    }

    pub(super) fn delta_appended(
        &self,
        delta_type: DeltaType,
        object: &ObjectRef,
        depth: u32,
    ) -> Sentences {
        let alone = depth <= 1
            && delta_type == DeltaType::Deleted
            && object.shape == Shape::Object
            && matches!(
                self.checked(&object.key),
                Some((Some(Known::Yes(_)), false))
            );
        let what = if alone {
            let (en, zh) = match self.picture.api.source {
                SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => (
                    "{name} was deleted on the server. The queue holds nothing for it, but the Indexer knows it, so a [Deleted] delta is kept.",
                    "{name} 在 API server 上被删除。队列里没有它，但 Indexer 还认识它，所以保留一个 [Deleted] Delta。",
                ),
                SourceKind::Program => (
                    "The queue holds nothing for {name}, but the Indexer knows it, so a [Deleted] delta is kept.",
                    "队列里没有 {name}，但 Indexer 还认识它，所以保留一个 [Deleted] Delta。",
                ),
            };
            say(self.lang, en, zh, &[("name", self.name(&object.key))])
        } else if depth <= 1 {
            say!(
                self,
                "{delta} was queued for {object}: its key's only delta.",
                "{object} 的 {delta} 已入队：这个 key 唯一的 Delta。",
                delta = delta(delta_type),
                object = self.object(object),
            )
        } else {
            say!(
                self,
                "{delta} was put on top for {object}: {n} deltas now.",
                "{object} 的 {delta} 追加到末尾（画在最上）：共 {n} 个 Delta。",
                delta = delta(delta_type),
                object = self.object(object),
                n = text(depth.to_string()),
            )
        };
        (what, self.why_appended(delta_type, object, depth))
    }

    pub(super) fn why_appended(
        &self,
        delta_type: DeltaType,
        object: &ObjectRef,
        depth: u32,
    ) -> Vec<Vec<Span>> {
        let untouched = || {
            say!(
                self,
                "The other deltas of {name} are untouched: DeltaFIFO merges only neighbouring deletes.",
                "{name} 的其他 Delta 不受影响：DeltaFIFO 只合并相邻的删除。",
                name = self.name(&object.key),
            )
        };
        match delta_type {
            DeltaType::Deleted => match object.shape {
                Shape::Tombstone => vec![say!(
                    self,
                    "The real delete was missed, so a tombstone stands in: DeletedFinalStateUnknown with the last known object, which may be stale.",
                    "真正的删除事件被错过了，于是用墓碑（DeletedFinalStateUnknown）代替，内含最后已知的对象，可能是旧的。",
                )],
                Shape::EmptyTombstone => vec![say!(
                    self,
                    "The real delete was missed, and the object is not known any more: DeletedFinalStateUnknown with a key and nothing else.",
                    "真正的删除事件被错过了，对象也已无处可寻：DeletedFinalStateUnknown 里只有 key。",
                )],
                Shape::Object | Shape::ExplicitKey | Shape::Opaque => {
                    match self.checked(&object.key) {
                        Some((known @ Some(Known::Yes(_)), false))
                            if self.picture.informer == InformerKind::Manual =>
                        {
                            vec![
                                self.delete_condition(known, false),
                                say!(
                                    self,
                                    "Turn KnownObjects off and step again: the same Delete is dropped without a trace.",
                                    "关掉 KnownObjects 再走一遍：同一个 Delete 会被悄悄丢弃。",
                                ),
                            ]
                        }
                        Some((known, pending)) => {
                            let mut why = vec![self.delete_condition(known, pending)];
                            if depth > 1 {
                                why.push(untouched());
                            }
                            why
                        }
                        None if depth > 1 => vec![untouched()],
                        None => vec![say!(
                            self,
                            "It holds the object's last state, for OnDelete.",
                            "它带着对象的最后状态，留给 OnDelete 使用。",
                        )],
                    }
                }
            },
            DeltaType::Added if depth > 1 => vec![untouched()],
            DeltaType::Added if !self.picture.store.present => vec![say!(
                self,
                "The queue does not ask whether the object is new: the type only says which method was called.",
                "队列不会去查对象是不是新的：类型只说明调用了哪个方法。",
            )],
            DeltaType::Added => vec![say!(
                self,
                "Whether this becomes OnAdd or OnUpdate is decided only when it is popped, by looking into the Indexer.",
                "它最终是 OnAdd 还是 OnUpdate，要到 Pop 时查过 Indexer 才能决定。",
            )],
            DeltaType::Updated if depth > 1 => vec![say!(
                self,
                "No update replaces another: one Pop will hand over all {n}, oldest first.",
                "更新之间不会互相覆盖：一次 Pop 会把这 {n} 个从旧到新一起交出。",
                n = text(depth.to_string()),
            )],
            DeltaType::Updated => vec![say!(
                self,
                "It holds only the new object; the old one for OnUpdate has to come from the Indexer.",
                "它只带新对象，OnUpdate 需要的旧对象得从 Indexer 里取。",
            )],
            DeltaType::Replaced => vec![say!(
                self,
                "It was in a list: whether it is new, changed or the same is not known before it is popped.",
                "它来自列表：是新的、变了还是没变，要到 Pop 时才知道。",
            )],
            DeltaType::Sync if self.in_resync() => vec![say!(
                self,
                "A resync asks no server: it hands out again what the Indexer holds, the very same object.",
                "resync 不会请求 API server：它只是把 Indexer 里的同一个对象再发一遍。",
            )],
            DeltaType::Sync => vec![say!(
                self,
                "It was in a list. With emitDeltaTypeReplaced off, a list says [Sync] where it would say [Replaced].",
                "它来自列表。emitDeltaTypeReplaced 关闭时，列表用 [Sync] 代替 [Replaced]。",
            )],
            DeltaType::ReplacedAll => vec![say!(
                self,
                "A whole list is one delta: what it lacks is found out when it is processed.",
                "整个列表就是一个 Delta：缺了哪些，处理时才计算。",
            )],
            DeltaType::SyncAll => vec![say!(
                self,
                "A whole resync is one delta: the objects are looked up when it is processed.",
                "整个 resync 就是一个 Delta：处理时才去取对象。",
            )],
            DeltaType::Bookmark => vec![say!(
                self,
                "It changes no object and keeps the store's version in order.",
                "它不改变对象，只让存储的版本按顺序前进。",
            )],
        }
    }

    /// Whether the current call is a Resync, not a Replace.
    fn in_resync(&self) -> bool {
        self.recent
            .iter()
            .rev()
            .filter(|record| record.actor == self.record.actor)
            .find_map(|record| match record.step {
                Step::ResyncLock | Step::ResyncKey | Step::RealResync => Some(true),
                Step::ReplaceLock
                | Step::ReplaceItem
                | Step::ReplaceMissing
                | Step::RealReplaceItems => Some(false),
                _ => None,
            })
            .unwrap_or(false)
    }

    pub(super) fn deltas_merged(&self, key: &Key, kept: &ObjectRef, kept_older: bool) -> Sentences {
        (
            say!(
                self,
                "The two newest deltas of {name} were both [Deleted]: only one is left.",
                "{name} 最新的两个 Delta 都是 [Deleted]：只留下一个。",
                name = self.name(key),
            ),
            vec![if kept_older {
                say!(
                    self,
                    "`older is a tombstone = no → keep the older` ({what}). Only neighbouring deletes are merged; updates never are.",
                    "`较早的是墓碑 = 否 → 保留较早的`（{what}）。只合并相邻的删除，更新从不合并。",
                    what = self.shape(kept),
                )
            } else {
                say!(
                    self,
                    "`older is a tombstone = yes → keep the newer` ({what}): the tombstone's object may be stale.",
                    "`较早的是墓碑 = 是 → 保留较新的`（{what}）：墓碑里的对象可能是旧的。",
                    what = self.shape(kept),
                )
            }],
        )
    }

    fn shape(&self, object: &ObjectRef) -> Vec<Span> {
        let rv = short_rv(&object.rv);
        text(match (object.shape, self.lang) {
            (Shape::Tombstone, _) if rv.is_empty() => "tombstone".to_owned(),
            (Shape::Tombstone, Lang::En) => format!("tombstone, rv {rv}"),
            (Shape::Tombstone, Lang::Zh) => format!("tombstone，rv {rv}"),
            (Shape::EmptyTombstone, Lang::En) => "empty tombstone".to_owned(),
            (Shape::EmptyTombstone, Lang::Zh) => "空墓碑".to_owned(),
            (Shape::ExplicitKey, Lang::En) => "a key".to_owned(),
            (Shape::ExplicitKey, Lang::Zh) => "仅 key".to_owned(),
            (Shape::Object | Shape::Opaque, Lang::En) if rv.is_empty() => "an object".to_owned(),
            (Shape::Object | Shape::Opaque, Lang::Zh) if rv.is_empty() => "对象".to_owned(),
            (Shape::Object | Shape::Opaque, _) => format!("rv {rv}"),
        })
    }

    pub(super) fn deletion_detected(&self, key: &Key) -> Sentences {
        let real = self.picture.queue.kind == QueueKind::RealFifo;
        let queued = self.picture.queue.deltas.contains_key(key)
            || self
                .picture
                .queue
                .entries
                .iter()
                .any(|entry| matches!(entry, Entry::Delta(_, object) if object.key == *key));
        let order = if real {
            say!(
                self,
                "RealFIFO queues deletions before the list's objects, DeltaFIFO after them.",
                "RealFIFO 把删除排在列表对象之前，DeltaFIFO 则排在之后。"
            )
        } else {
            say!(
                self,
                "DeltaFIFO queues it after the list's objects.",
                "DeltaFIFO 把它排在列表对象之后。"
            )
        };
        (
            say!(
                self,
                "The list does not have {name}: its deletion was missed.",
                "列表里没有 {name}：它的删除事件被错过了。",
                name = self.name(key),
            ),
            vec![
                if queued {
                    say!(
                        self,
                        "`in list = no, queued = yes → Deleted`, with a tombstone that holds the newest queued object.",
                        "`在列表 = 否，在队列 = 是 → Deleted`，附带墓碑，内含队列中最新的对象。",
                    )
                } else {
                    say!(
                        self,
                        "`in list = no, known = yes → Deleted`, with a tombstone that holds the Indexer's object: the real last state is unknown.",
                        "`在列表 = 否，known = 是 → Deleted`，附带墓碑，内含 Indexer 中的对象：真正的最后状态已无从得知。",
                    )
                },
                order,
            ],
        )
    }

    pub(super) fn resync_skipped(&self, key: &Key) -> Sentences {
        told!(
            self,
            "The resync passed {name} over.",
            "resync 跳过了 {name}。",
            "`{name} is queued = yes → skip`: a [Sync] with the stored object would come after newer changes and take it back in time.",
            "`{name} 已在队列 = 是 → 跳过`：带着旧对象的 [Sync] 会排在更新的变更之后，让它倒退。",
            name = self.name(key)
        )
    }

    pub(super) fn already_present(&self, key: &Key) -> Sentences {
        told!(
            self,
            "AddIfNotPresent left {name} alone: newer content is queued for it.",
            "AddIfNotPresent 没有动 {name}：队列里已有它更新的内容。",
            "`{name} is queued = yes → return`: what was popped before is dropped, not put in front.",
            "`{name} 已在队列 = 是 → return`：之前 Pop 出来的被丢弃，不会插到前面。",
            name = self.name(key)
        )
    }
}
