//! Rebuilds the state of a store and a queue from their facts.

use std::collections::{BTreeMap, VecDeque};

use deltascope::cache::delta::DeltaType;
use deltascope::cache::fact::{Entry, Fact, ObjectRef, QueueFact, Rv, StoreFact};
use deltascope::cache::key::Key;
use deltascope::cache::step::Step;
use deltascope::cache::trace::Trace;

use super::IndexContent;

/// The state according to the facts. Applying a fact also checks what it states about the earlier
/// state.
#[derive(Default)]
pub(super) struct Fold {
    pub(super) store: BTreeMap<Key, ObjectRef>,
    pub(super) indices: IndexContent,
    pub(super) rv: Rv,
    pub(super) queue: VecDeque<Key>,
    pub(super) deltas: BTreeMap<Key, Vec<(DeltaType, ObjectRef)>>,
    pub(super) entries: VecDeque<Entry>,
    pub(super) popped: Option<(Key, Vec<(DeltaType, ObjectRef)>)>,
    pub(super) populated: bool,
    pub(super) synced: bool,
    pub(super) closed: bool,
}

impl Trace for Fold {
    fn fact(&mut self, _step: Step, fact: impl FnOnce() -> Fact) {
        self.apply(fact());
    }
}

impl Fold {
    pub(super) fn apply(&mut self, fact: Fact) {
        match fact {
            Fact::Store(StoreFact::ItemStored { object, old }) => {
                let key = object.key.clone();
                assert_eq!(self.store.insert(key, object), old);
            }
            Fact::Store(StoreFact::ItemRemoved { key, old }) => {
                assert_eq!(self.store.remove(&key), old)
            }
            Fact::Store(StoreFact::StoreReplaced { items }) => {
                self.store = items.iter().map(|o| (o.key.clone(), o.clone())).collect();
            }
            Fact::Store(StoreFact::IndicesReset) => {
                self.indices.values_mut().for_each(BTreeMap::clear)
            }
            Fact::Store(StoreFact::IndexersAdded { names }) => {
                for name in names {
                    assert!(
                        self.indices
                            .insert(name.to_string(), BTreeMap::new())
                            .is_none()
                    );
                }
            }
            Fact::Store(StoreFact::IndexEntryAdded { index, value, key }) => {
                let values = self.indices.get_mut(&*index).unwrap();
                let keys = values.entry(value.to_string()).or_default();
                assert!(keys.insert(key.to_string()), "the key was already there");
            }
            Fact::Store(StoreFact::IndexEntryRemoved {
                index,
                value,
                key,
                emptied,
            }) => {
                let values = self.indices.get_mut(&*index).unwrap();
                let keys = values.get_mut(&*value).unwrap();
                assert!(keys.remove(key.as_str()), "the key was missing");
                assert_eq!(keys.is_empty(), emptied);
                if emptied {
                    values.remove(&*value);
                }
            }
            Fact::Store(StoreFact::StoreVersionMoved { from, to }) => {
                assert_eq!(self.rv, from);
                assert_ne!(from, to);
                self.rv = to;
            }
            Fact::Queue(QueueFact::Populated { .. }) => {
                assert!(!std::mem::replace(&mut self.populated, true))
            }
            Fact::Queue(QueueFact::Synced) => {
                assert!(self.populated);
                assert!(!std::mem::replace(&mut self.synced, true));
            }
            Fact::Queue(QueueFact::QueueClosed) => self.closed = true,
            Fact::Queue(QueueFact::DeleteChecked { key, pending, .. }) => {
                assert_eq!(pending, self.deltas.contains_key(&key));
            }
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type,
                object,
                depth,
            }) => {
                let deltas = self.deltas.entry(object.key.clone()).or_default();
                deltas.push((delta_type, object));
                assert_eq!(deltas.len(), depth as usize);
            }
            Fact::Queue(QueueFact::DeltasMerged {
                key,
                kept,
                kept_older,
            }) => {
                let deltas = self.deltas.get_mut(&key).unwrap();
                let newer = deltas.pop().unwrap();
                let older = deltas.pop().unwrap();
                let stays = if kept_older { older } else { newer };
                assert_eq!(stays, (DeltaType::Deleted, kept));
                deltas.push(stays);
            }
            Fact::Queue(QueueFact::KeyEnqueued { key, length }) => {
                self.queue.push_back(key);
                assert_eq!(self.queue.len(), length as usize);
            }
            Fact::Queue(QueueFact::KeyPopped {
                key,
                deltas,
                is_in_initial_list,
            }) => {
                assert_eq!(self.queue.pop_front().as_ref(), Some(&key));
                assert_eq!(self.deltas.remove(&key).as_ref(), Some(&deltas));
                assert_eq!(is_in_initial_list, !self.synced);
                self.popped = Some((key, deltas));
            }
            Fact::Queue(QueueFact::Requeued { key, added }) => {
                assert_eq!(added, !self.deltas.contains_key(&key));
                if added {
                    let (popped, deltas) = self.popped.clone().unwrap();
                    assert_eq!(popped, key);
                    self.deltas.insert(key, deltas);
                }
            }
            Fact::Queue(QueueFact::AlreadyPresent { key } | QueueFact::ResyncSkipped { key }) => {
                let queued = |entry: &Entry| matches!(entry, Entry::Delta(_, o) if o.key == key);
                assert!(self.deltas.contains_key(&key) || self.entries.iter().any(queued));
            }
            Fact::Queue(QueueFact::DeleteIgnored { key }) => {
                assert!(!self.deltas.contains_key(&key))
            }
            Fact::Queue(QueueFact::FifoCleared) => {
                self.queue.clear();
                self.deltas.clear();
            }
            Fact::Queue(QueueFact::FifoItemSet { object, old }) => {
                let key = object.key.clone();
                let before = self.deltas.insert(key, vec![(DeltaType::Added, object)]);
                assert_eq!(before.map(|deltas| deltas[0].1.clone()), old);
            }
            Fact::Queue(QueueFact::FifoItemRemoved { key }) => {
                assert!(self.deltas.remove(&key).is_some())
            }
            Fact::Queue(QueueFact::FifoKeySkipped { key }) => {
                assert_eq!(self.queue.pop_front().as_ref(), Some(&key));
                assert!(!self.deltas.contains_key(&key));
            }
            Fact::Queue(QueueFact::EntryAppended { entry, length }) => {
                self.entries.push_back(entry);
                assert_eq!(self.entries.len(), length as usize);
            }
            Fact::Queue(QueueFact::EntriesTaken {
                count,
                is_in_initial_list,
            }) => {
                assert_eq!(is_in_initial_list, !self.synced);
                self.entries.drain(..count as usize);
            }
            // These change nothing.
            Fact::Queue(
                QueueFact::KeyFailed { .. }
                | QueueFact::TransformFailed { .. }
                | QueueFact::Transformed { .. }
                | QueueFact::DeletionDetected { .. }
                | QueueFact::ProcessFailed { .. }
                | QueueFact::ProcessWasSlow { .. },
            )
            | Fact::Store(StoreFact::IndexFailed { .. }) => {}
            other => panic!("not a fact of a store or a queue: {other:?}"),
        }
    }
}
