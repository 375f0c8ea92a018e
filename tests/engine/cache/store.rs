//! The store and its indices, compared with a naive store and with the facts that they state.

use std::collections::{BTreeMap, BTreeSet};

use deltascope::cache::error::{Error, ErrorKind};
use deltascope::cache::fact::{Fact, ObjectRef, StoreFact};
use deltascope::cache::index::Indexers;
use deltascope::cache::key::Key;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::queue::Queue;
use deltascope::cache::step::Step;
use deltascope::cache::store::{Indexer, StoreOptions, Transaction, TransactionType, new_indexer};
use deltascope::cache::trace::Trace;
use proptest::prelude::*;

use super::fold::Fold;
use super::{
    Facts, IndexContent, O, any_item, any_pod, app_indexer, bad_app_fails, cases, content,
    delta_fifo, key_func, labelled, letters_indexer, namespace_indexer, pod, rv,
};

#[test]
fn a_store_lists_in_the_chosen_order() {
    let keys = |order: Order| {
        let options = StoreOptions {
            order,
            ..StoreOptions::default()
        };
        let mut store = Indexer::with_options(key_func(), namespace_indexer(), options);
        for name in ["n/d", "n/b", "n/c", "n/a", "n/e"] {
            store.add(pod(name, "1"), &mut ()).unwrap();
        }
        store.delete(&pod("n/b", "1"), &mut ()).unwrap();
        let keys: Vec<String> = store.list_keys().map(ToString::to_string).collect();
        let names = |items: &mut dyn Iterator<Item = &Item<O>>| -> Vec<String> {
            items
                .map(|item| format!("n/{}", item.as_object().unwrap().name()))
                .collect()
        };
        assert_eq!(names(&mut store.list()), keys);
        assert_eq!(store.list().len(), 4);
        assert_eq!(names(&mut store.by_index("namespace", "n").unwrap()), keys);
        assert_eq!(
            names(&mut store.index("namespace", &pod("n/x", "")).unwrap()),
            keys
        );
        let view = store.indices().next().unwrap();
        let viewed: Vec<_> = view
            .keys("n")
            .into_iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(viewed, keys);
        keys.join(" ")
    };
    assert_eq!(keys(Order::Insertion), "n/d n/c n/a n/e");
    assert_eq!(keys(Order::Key), "n/a n/c n/d n/e");
    assert_eq!(keys(Order::Dense), "n/d n/e n/c n/a");
    assert_eq!(keys(Order::Seeded(1)), keys(Order::Seeded(1)));
    let shuffles: BTreeSet<String> = (0..20).map(|seed| keys(Order::Seeded(seed))).collect();
    assert!(shuffles.len() > 5, "{shuffles:?}");
}

#[test]
fn a_failing_index_function_is_an_error_after_the_write() {
    let mut store = new_indexer(key_func(), letters_indexer());
    store.add(labelled("a", "1", "web"), &mut ()).unwrap();
    let error = store.add(labelled("a", "2", "bad"), &mut ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexWriteError);
    assert_eq!(
        error.to_string(),
        "unable to calculate an index entry for key \"a\" on index \"letters\": index func failed"
    );
    assert_eq!(rv(store.get_by_key("a").unwrap()), "2");
    assert_eq!(store.index_keys("letters", "web").unwrap(), ["a"]);
    assert_eq!(store.last_store_sync_resource_version(), "1");
    // The old object's values are unknown, so it cannot be deleted either.
    assert!(store.delete(&pod("a", "3"), &mut ()).is_err());
    assert!(store.get_by_key("a").is_some());
    // A list repairs it.
    store
        .replace([labelled("a", "4", "x")], "9", &mut ())
        .unwrap();
    assert_eq!(store.index_keys("letters", "x").unwrap(), ["a"]);
    assert!(store.index_keys("letters", "web").unwrap().is_empty());
    let asked = store.index("letters", &labelled("b", "", "bad"));
    assert_eq!(
        asked.err().unwrap(),
        Error::IndexFunc("index func failed".into())
    );
}

#[test]
fn a_stale_entry_of_a_failed_index_function_hides_no_other() {
    for order in [Order::Dense, Order::Insertion, Order::Key] {
        let options = StoreOptions {
            order,
            ..StoreOptions::default()
        };
        let mut store = Indexer::with_options(key_func(), letters_indexer(), options);
        store.add(labelled("a", "1", "web"), &mut ()).unwrap();
        store.add(labelled("b", "2", "web"), &mut ()).unwrap();
        let hint = |store: &Indexer<O>| store.by_index("letters", "web").unwrap().size_hint();
        assert_eq!(hint(&store), (2, Some(2)));
        // The entry of "a" stays: the index function fails for the bad object in between, so the
        // entry cannot be removed.
        store.add(labelled("a", "3", "bad"), &mut ()).unwrap_err();
        store.add(labelled("a", "4", "new"), &mut ()).unwrap_err();
        store.delete(&pod("a", "5"), &mut ()).unwrap();
        assert_eq!(store.index_keys("letters", "web").unwrap(), ["a", "b"]);
        assert_eq!(hint(&store), (0, Some(2)));
        let found: Vec<_> = store.by_index("letters", "web").unwrap().map(rv).collect();
        assert_eq!(found, ["2"]);
        let like = store.index("letters", &labelled("c", "", "web")).unwrap();
        assert_eq!(like.map(rv).collect::<Vec<_>>(), ["2"]);
    }
}

#[test]
fn write_through_leaves_the_old_value_in_the_indices() {
    let mut store = new_indexer(key_func(), app_indexer());
    store.add(labelled("p", "1", "a"), &mut ()).unwrap();
    assert!(store.write_through("p", labelled("p", "1", "b")));
    assert!(!store.write_through("q", labelled("q", "1", "b")));
    // The index function sees the modified object, so "a" is not removed.
    store.update(labelled("p", "2", "c"), &mut ()).unwrap();
    for (value, keys) in [("a", vec!["p"]), ("b", vec![]), ("c", vec!["p"])] {
        assert_eq!(store.index_keys("app", value).unwrap(), keys, "{value}");
    }
}

#[test]
fn a_store_has_a_transformer_too() {
    let options = StoreOptions {
        transformer: Some(bad_app_fails()),
        ..StoreOptions::default()
    };
    let mut store = Indexer::with_options(key_func(), Indexers::default(), options);
    store.add(pod("a", "1"), &mut ()).unwrap();
    assert_eq!(rv(store.get_by_key("a").unwrap()), "1t");
    assert_eq!(store.last_store_sync_resource_version(), "1t");
    let error = store.replace([pod("b", "2"), labelled("c", "3", "bad")], "9", &mut ());
    assert_eq!(
        error.unwrap_err().to_string(),
        "transforming: transform failed"
    );
    assert_eq!(store.len(), 1);
}

#[test]
fn a_store_keeps_a_version_only_since_0_36() {
    let options = StoreOptions {
        keeps_resource_version: false,
        ..StoreOptions::default()
    };
    let mut store = Indexer::with_options(key_func(), Indexers::default(), options);
    let mut facts = Facts::new();
    store.replace([pod("a", "1")], "9", &mut facts).unwrap();
    store.bookmark("10", &mut facts);
    assert_eq!(store.last_store_sync_resource_version(), "");
    assert!(
        !facts
            .iter()
            .any(|(_, fact)| matches!(fact, Fact::Store(StoreFact::StoreVersionMoved { .. })))
    );
}

#[test]
fn the_facts_of_replace_come_in_this_order() {
    let mut store = new_indexer(key_func(), namespace_indexer());
    store.add(pod("a/p0", "1"), &mut ()).unwrap();
    let mut facts = Facts::new();
    store
        .replace([pod("b/p0", "2"), pod("b/p1", "3")], "9", &mut facts)
        .unwrap();
    let steps: Vec<Step> = facts.iter().map(|(step, _)| *step).collect();
    use Step::{IndexAdd, StoreReplace, StoreVersion};
    assert_eq!(
        steps,
        [StoreReplace, StoreVersion, StoreReplace, IndexAdd, IndexAdd]
    );
    assert!(matches!(
        facts[0].1,
        Fact::Store(StoreFact::StoreReplaced { .. })
    ));
    assert!(matches!(facts[2].1, Fact::Store(StoreFact::IndicesReset)));
    // The same object again: the indexed values stay the same, so there are no facts about the
    // index.
    let mut facts = Facts::new();
    store.update(pod("b/p0", "4"), &mut facts).unwrap();
    let steps: Vec<Step> = facts.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [Step::StoreWrite, StoreVersion]);
}

#[test]
fn only_changed_indexed_values_are_stated() {
    let mut store = new_indexer(key_func(), letters_indexer());
    store.add(labelled("a", "1", "web"), &mut ()).unwrap();
    let mut facts = Facts::new();
    store.update(labelled("a", "2", "ew"), &mut facts).unwrap();
    let changed: Vec<String> = facts
        .iter()
        .filter_map(|(_, fact)| match fact {
            Fact::Store(StoreFact::IndexEntryRemoved { value, .. }) => Some(format!("-{value}")),
            Fact::Store(StoreFact::IndexEntryAdded { value, .. }) => Some(format!("+{value}")),
            _ => None,
        })
        .collect();
    assert_eq!(changed, ["-letter=b", "-web", "+ew"]);
}

#[test]
fn a_trace_that_ignores_facts_builds_none() {
    /// Ignores all facts, but counts them.
    struct Deaf(usize);
    impl Trace for Deaf {
        fn fact(&mut self, _step: Step, _fact: impl FnOnce() -> Fact) {
            self.0 += 1;
        }
    }
    let mut deaf = Deaf(0);
    let mut queue = delta_fifo();
    queue.add(pod("a", "1"), &mut deaf).unwrap();
    assert_eq!(deaf.0, 4, "populated, synced, appended, enqueued");
}

/// The writes of a case: with the cases of `make soak`, a million of them.
const WRITES: std::ops::Range<usize> = 20..90;

#[derive(Clone, Debug)]
enum Write {
    Add(Item<O>),
    Delete(Item<O>),
    Replace(Vec<Item<O>>, u8),
    Transaction(Vec<(TransactionType, Item<O>)>),
    Bookmark(u8),
    AddApp,
}

fn any_write(bad: bool) -> impl Strategy<Value = Write> {
    let transaction_type = prop::sample::select(vec![
        TransactionType::Add,
        TransactionType::Update,
        TransactionType::Delete,
    ]);
    prop_oneof![
        8 => any_item(bad).prop_map(Write::Add),
        4 => any_item(bad).prop_map(Write::Delete),
        2 => (prop::collection::vec(any_pod(bad), 0..6), 0..99_u8)
            .prop_map(|(items, rv)| Write::Replace(items, rv)),
        1 => (prop::collection::vec(any_item(bad), 0..6), 0..99_u8)
            .prop_map(|(items, rv)| Write::Replace(items, rv)),
        2 => prop::collection::vec((transaction_type, any_item(bad)), 0..5)
            .prop_map(Write::Transaction),
        1 => (0..99_u8).prop_map(Write::Bookmark),
        1 => Just(Write::AddApp),
    ]
}

fn write(store: &mut Indexer<O>, write: Write, trace: &mut impl Trace) -> Result<(), Error> {
    match write {
        Write::Add(item) => store.add(item, trace),
        Write::Delete(item) => store.delete(&item, trace),
        Write::Replace(items, rv) => store.replace(items, &rv.to_string(), trace),
        Write::Transaction(entries) => {
            let entries = entries
                .into_iter()
                .map(|(transaction_type, object)| Transaction {
                    transaction_type,
                    object,
                });
            store.transaction(entries.collect(), trace)
        }
        Write::Bookmark(rv) => {
            store.bookmark(&rv.to_string(), trace);
            Ok(())
        }
        Write::AddApp => store.add_indexers(app_indexer(), trace),
    }
}

fn index_content(store: &Indexer<O>) -> IndexContent {
    store
        .indices()
        .map(|index| {
            let values = index.values().into_iter().map(|(value, keys)| {
                let keys = keys.into_iter().map(ToString::to_string).collect();
                (value.to_string(), keys)
            });
            (index.name().to_string(), values.collect())
        })
        .collect()
}

/// A naive store: a list of entries, without any derived data.
#[derive(Default)]
struct Naive {
    items: Vec<(String, Item<O>)>,
    rv: String,
    app: bool,
}

impl Naive {
    fn put(&mut self, item: &Item<O>) -> Option<()> {
        let key = meta_namespace_key_func(item).ok()?.to_string();
        match self.items.iter_mut().find(|(other, _)| *other == key) {
            Some((_, old)) => *old = item.clone(),
            None => self.items.push((key, item.clone())),
        }
        self.rv = rv(item).to_owned();
        Some(())
    }

    fn remove(&mut self, item: &Item<O>) -> Option<()> {
        let key = meta_namespace_key_func(item).ok()?.to_string();
        self.items.retain(|(other, _)| *other != key);
        self.rv = rv(item).to_owned();
        Some(())
    }

    fn write(&mut self, write: &Write) {
        match write {
            Write::Add(item) => {
                self.put(item);
            }
            Write::Delete(item) => {
                self.remove(item);
            }
            Write::Replace(items, rv) => {
                if items.iter().all(|item| item.plain_object().is_some()) {
                    self.items.clear();
                    items.iter().for_each(|item| {
                        self.put(item);
                    });
                    self.rv = rv.to_string();
                }
            }
            Write::Transaction(entries) => {
                for (transaction_type, item) in entries {
                    match transaction_type {
                        TransactionType::Delete => self.remove(item),
                        TransactionType::Add | TransactionType::Update => self.put(item),
                    };
                }
            }
            Write::Bookmark(rv) => self.rv = rv.to_string(),
            Write::AddApp => self.app = true,
        }
    }

    fn values(&self, index: &str, item: &Item<O>) -> Vec<String> {
        let object = item.as_object().unwrap();
        let app = object.labels().get("app").cloned();
        match index {
            "namespace" => vec![object.namespace().to_owned()],
            "app" => app.into_iter().collect(),
            _ => app.map_or(Vec::new(), |app| {
                let letters = app.chars().map(|letter| format!("letter={letter}"));
                letters.chain([app.clone()]).collect()
            }),
        }
    }

    fn indices(&self) -> IndexContent {
        let mut names = vec!["namespace", "letters"];
        names.extend(self.app.then_some("app"));
        let mut indices = IndexContent::new();
        for name in names {
            let index = indices.entry(name.into()).or_default();
            for (key, item) in &self.items {
                for value in self.values(name, item) {
                    index.entry(value).or_default().insert(key.clone());
                }
            }
        }
        indices
    }
}

fn two_indexers() -> Indexers<O> {
    let mut indexers = namespace_indexer();
    indexers.extend(letters_indexer());
    indexers
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_store_behaves_like_the_naive_one(
        writes in prop::collection::vec(any_write(false), WRITES),
        probe in any_pod(false),
        order in prop::sample::select(vec![Order::Dense, Order::Insertion, Order::Key, Order::Seeded(3)]),
    ) {
        let options = StoreOptions { order, ..StoreOptions::default() };
        let mut store = Indexer::with_options(key_func(), two_indexers(), options);
        let mut naive = Naive::default();
        for one in writes {
            naive.write(&one);
            // After an error both must be equal, too. Other tests check which error it is.
            let _ = write(&mut store, one, &mut ());
            let expected: BTreeMap<_, _> = naive
                .items
                .iter()
                .map(|(key, item)| (key.clone(), rv(item).to_owned()))
                .collect();
            prop_assert_eq!(content(&store), expected);
            prop_assert_eq!(index_content(&store), naive.indices());
            prop_assert_eq!(store.last_store_sync_resource_version(), &naive.rv);
            if order == Order::Insertion {
                let keys: Vec<&str> = store.list_keys().map(Key::as_str).collect();
                let expected: Vec<&str> = naive.items.iter().map(|(key, _)| key.as_str()).collect();
                prop_assert_eq!(keys, expected);
            }
            for (index, values) in naive.indices() {
                for (value, keys) in &values {
                    let found = store.index_keys(&index, value).unwrap();
                    prop_assert!(found.into_iter().map(Key::as_str).eq(keys.iter().map(String::as_str)));
                    let found = store.by_index(&index, value).unwrap();
                    let found: BTreeSet<String> = found
                        .map(|item| meta_namespace_key_func(item).unwrap().to_string())
                        .collect();
                    prop_assert_eq!(&found, keys);
                }
                let found: BTreeSet<_> = store.list_index_func_values(&index).into_iter().map(|v| v.to_string()).collect();
                prop_assert!(found.iter().eq(values.keys()));
                let union: BTreeSet<String> = naive
                    .values(&index, &probe)
                    .iter()
                    .flat_map(|value| values.get(value).cloned().unwrap_or_default())
                    .collect();
                let found: Vec<String> = store
                    .index(&index, &probe)
                    .unwrap()
                    .map(|item| meta_namespace_key_func(item).unwrap().to_string())
                    .collect();
                prop_assert_eq!(found.len(), union.len());
                prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), union);
            }
        }
    }

    #[test]
    fn indexers_added_late_equal_those_from_the_start(
        writes in prop::collection::vec(any_write(false), 0..30),
        after in prop::collection::vec(any_write(false), 0..10),
    ) {
        let mut early = new_indexer(key_func(), two_indexers());
        let mut late = new_indexer(key_func(), Indexers::default());
        for one in writes.into_iter().filter(|one| !matches!(one, Write::AddApp)) {
            let _ = write(&mut early, one.clone(), &mut ());
            let _ = write(&mut late, one, &mut ());
        }
        late.add_indexers(two_indexers(), &mut ()).unwrap();
        prop_assert_eq!(index_content(&early), index_content(&late));
        for one in after {
            prop_assert_eq!(
                write(&mut early, one.clone(), &mut ()),
                write(&mut late, one, &mut ())
            );
        }
        prop_assert_eq!(index_content(&early), index_content(&late));
    }

    #[test]
    fn the_facts_of_a_store_determine_its_state(
        writes in prop::collection::vec(any_write(true), 0..40),
        order in prop::sample::select(vec![Order::Dense, Order::Insertion, Order::Key]),
    ) {
        let options = StoreOptions { order, ..StoreOptions::default() };
        let mut store = Indexer::with_options(key_func(), two_indexers(), options);
        let mut fold = Fold::default();
        for name in store.index_names() {
            fold.indices.insert(name.to_string(), BTreeMap::new());
        }
        for one in writes {
            // Index functions may fail here.
            let _ = write(&mut store, one, &mut fold);
            let items: BTreeMap<Key, ObjectRef> = store
                .iter()
                .map(|(key, item)| (key.clone(), item.to_ref(key)))
                .collect();
            prop_assert_eq!(&fold.store, &items);
            prop_assert_eq!(&fold.indices, &index_content(&store));
            prop_assert_eq!(&*fold.rv, store.last_store_sync_resource_version());
        }
    }
}
