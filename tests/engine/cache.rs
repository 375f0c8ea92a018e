//! The store and the queues: tables, properties, and that their facts tell the whole story.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod informer;
mod reflector;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::delta::{Delta, DeltaType};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions, Offered};
use deltascope::cache::error::{Error, ErrorKind};
use deltascope::cache::fact::{Entry, Fact, Known, ObjectRef, QueueFact, Rv, StoreFact};
use deltascope::cache::fifo::{Fifo, FifoOptions};
use deltascope::cache::index::{
    IndexFunc, Indexers, NAMESPACE_INDEX, label_index_func, meta_namespace_index_func,
};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{
    KeyFunc, deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
    split_meta_namespace_key,
};
use deltascope::cache::lister::{GroupResource, ListerError};
use deltascope::cache::object::{DeletedFinalStateUnknown, Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release, TransformFunc};
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions, TakenDeltas};
use deltascope::cache::step::Step;
use deltascope::cache::store::{
    Indexer, StoreOptions, Transaction, TransactionType, new_indexer, new_store,
};
use deltascope::cache::trace::Trace;
use k8s_openapi::api::core::v1::Pod;
use kube_core::discovery::ApiResource;
use kube_core::metadata::PartialObjectMeta;
use kube_core::{DynamicObject, GroupVersionKind, Resource};
use proptest::prelude::*;

type O = DynamicObject;
type Facts = Vec<(Step, Fact)>;

// ---- what the tests are made of

fn object(name: &str, rv: &str, app: Option<&str>) -> DynamicObject {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let mut object = DynamicObject::new(name, &kind);
    let meta = object.meta_mut();
    meta.namespace = Some(namespace.to_owned()).filter(|text| !text.is_empty());
    meta.resource_version = Some(rv.to_owned());
    meta.labels = app.map(|app| BTreeMap::from([("app".to_owned(), app.to_owned())]));
    object
}

fn pod(name: &str, rv: &str) -> Item<O> {
    Item::object(object(name, rv, None))
}

fn labelled(name: &str, rv: &str, app: &str) -> Item<O> {
    Item::object(object(name, rv, Some(app)))
}

fn tombstone(key: &str, object: Option<Item<O>>) -> Item<O> {
    let key = Key::from(key);
    Item::Tombstone(Arc::new(DeletedFinalStateUnknown { key, object }))
}

fn opaque() -> Item<O> {
    Item::Opaque("not-an-object".into())
}

fn key_func() -> KeyFunc<O> {
    Arc::new(meta_namespace_key_func)
}

fn namespace_indexer() -> Indexers<O> {
    let function: IndexFunc<O> = Arc::new(meta_namespace_index_func);
    Indexers::from_iter([(NAMESPACE_INDEX.into(), function)])
}

fn app_indexer() -> Indexers<O> {
    Indexers::from_iter([("app".into(), label_index_func("app"))])
}

/// Fails for the app "bad"; else several values: the app, and its letters.
fn letters_indexer() -> Indexers<O> {
    let function: IndexFunc<O> = Arc::new(|item, values| {
        let app = item.as_object().and_then(|o| o.labels().get("app"));
        let Some(app) = app else { return Ok(()) };
        if app == "bad" {
            return Err("index func failed".into());
        }
        for letter in app.chars() {
            values.push_fmt(format_args!("letter={letter}"));
        }
        values.push(app);
        Ok(())
    });
    Indexers::from_iter([("letters".into(), function)])
}

fn bad_app_fails() -> TransformFunc<O> {
    Arc::new(|item| match item.as_object() {
        Some(object) if object.labels().get("app").is_some_and(|app| app == "bad") => {
            Err("transform failed".into())
        }
        Some(inner) => {
            let mut object = DynamicObject::clone(inner);
            if let Some(rv) = &mut object.meta_mut().resource_version {
                rv.push('t');
            }
            Ok(Item::object(object))
        }
        None => Ok(item),
    })
}

fn delta_fifo() -> DeltaFifo<O> {
    DeltaFifo::new(DeltaFifoOptions {
        emit_delta_type_replaced: true,
        ..DeltaFifoOptions::new(key_func())
    })
}

fn types(deltas: &[Delta<O>]) -> Vec<DeltaType> {
    deltas.iter().map(|delta| delta.delta_type).collect()
}

fn rv(item: &Item<O>) -> &str {
    item.as_object().map_or("", |o| o.resource_version())
}

fn no_clock() -> Duration {
    Duration::ZERO
}

// ---- objects and keys

#[test]
fn whatever_has_metadata_can_be_cached() {
    fn key<T: Object>(object: T) -> String {
        let key = meta_namespace_key_func(&Item::object(object)).unwrap();
        key.to_string()
    }
    let meta = object("a/p0", "1", Some("web")).metadata;
    assert_eq!(key(object("a/p0", "1", None)), "a/p0");
    assert_eq!(key(object("p0", "1", None)), "p0");
    let partial: PartialObjectMeta<Pod> = PartialObjectMeta {
        metadata: meta.clone(),
        ..PartialObjectMeta::default()
    };
    assert_eq!(partial.labels()["app"], "web");
    assert_eq!(partial.resource_version(), "1");
    assert_eq!(key(partial), "a/p0");
    let typed = Pod {
        metadata: meta,
        ..Pod::default()
    };
    assert_eq!(key(typed), "a/p0");
    // Nothing but Object is asked of a type, not Clone.
    struct Own(BTreeMap<String, String>);
    impl Object for Own {
        fn namespace(&self) -> &str {
            "own"
        }
        fn name(&self) -> &str {
            "thing"
        }
        fn uid(&self) -> &str {
            ""
        }
        fn resource_version(&self) -> &str {
            "7"
        }
        fn labels(&self) -> &BTreeMap<String, String> {
            &self.0
        }
    }
    let mut store = new_store::<Own>(Arc::new(meta_namespace_key_func));
    store
        .add(Item::object(Own(BTreeMap::new())), &mut ())
        .unwrap();
    assert!(store.clone().get_by_key("own/thing").is_some());
    assert_eq!(store.last_store_sync_resource_version(), "7");
}

#[test]
fn keys_of_everything() {
    let long = "n".repeat(300);
    type Made = Result<String, ()>;
    let cases: [(Item<O>, Made, Made); 6] = [
        (pod("a/p0", "1"), Ok("a/p0".into()), Ok("a/p0".into())),
        (pod("p0", "1"), Ok("p0".into()), Ok("p0".into())),
        (
            pod(&format!("é/{long}"), "1"),
            Ok(format!("é/{long}")),
            Ok(format!("é/{long}")),
        ),
        (
            Item::ExplicitKey("x/y/z".into()),
            Ok("x/y/z".into()),
            Ok("x/y/z".into()),
        ),
        (
            tombstone("gone", Some(pod("a/p0", "1"))),
            Err(()),
            Ok("gone".into()),
        ),
        (opaque(), Err(()), Err(())),
    ];
    for (item, plain, deletion_handling) in cases {
        let text = |key: Result<Key, String>| key.map(|key| key.to_string()).map_err(drop);
        assert_eq!(text(meta_namespace_key_func(&item)), plain, "{item:?}");
        let key = deletion_handling_meta_namespace_key_func(&item);
        assert_eq!(text(key), deletion_handling, "{item:?}");
        let key = delta_fifo()
            .key_of(&item)
            .map_err(|error| error.to_string());
        assert_eq!(text(key), deletion_handling, "{item:?}");
    }
}

#[test]
fn the_key_of_deltas_is_that_of_the_newest() {
    let queue = delta_fifo();
    let delta = |delta_type, object| Delta { delta_type, object };
    let deltas = [
        delta(DeltaType::Added, opaque()),
        delta(DeltaType::Deleted, tombstone("gone", None)),
    ];
    assert_eq!(queue.key_of_deltas(&deltas).unwrap(), "gone");
    assert_eq!(
        queue.key_of_deltas(&[]).unwrap_err().to_string(),
        "couldn't create key for object []: 0 length Deltas object; can't get key"
    );
}

#[test]
fn a_key_error_names_the_object() {
    let mut store = new_store(key_func());
    let text = |item| store.add(item, &mut ()).unwrap_err().to_string();
    let reason = "object has no meta: object does not implement the Object interfaces";
    let texts = [opaque(), tombstone("a/p1", None)].map(text);
    assert_eq!(
        texts,
        [
            format!("couldn't create key for object not-an-object: {reason}"),
            format!("couldn't create key for object {{Key:a/p1 Obj:<nil>}}: {reason}"),
        ]
    );
}

// ---- the store

#[test]
fn a_store_lists_in_the_order_that_was_chosen() {
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
    // The old object cannot be taken out of the index, so it cannot be deleted either.
    assert!(store.delete(&pod("a", "3"), &mut ()).is_err());
    assert!(store.get_by_key("a").is_some());
    // A list mends it.
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
fn an_entry_that_a_failing_index_function_left_behind_hides_no_other() {
    for order in [Order::Dense, Order::Insertion, Order::Key] {
        let options = StoreOptions {
            order,
            ..StoreOptions::default()
        };
        let mut store = Indexer::with_options(key_func(), letters_indexer(), options);
        store.add(labelled("a", "1", "web"), &mut ()).unwrap();
        store.add(labelled("b", "2", "web"), &mut ()).unwrap();
        // The entry of "a" stays, because the bad object in between cannot say where it is.
        store.add(labelled("a", "3", "bad"), &mut ()).unwrap_err();
        store.add(labelled("a", "4", "new"), &mut ()).unwrap_err();
        store.delete(&pod("a", "5"), &mut ()).unwrap();
        assert_eq!(store.index_keys("letters", "web").unwrap(), ["a", "b"]);
        let found: Vec<_> = store.by_index("letters", "web").unwrap().map(rv).collect();
        assert_eq!(found, ["2"]);
        let like = store.index("letters", &labelled("c", "", "web")).unwrap();
        assert_eq!(like.map(rv).collect::<Vec<_>>(), ["2"]);
    }
}

#[test]
fn what_was_written_behind_the_back_of_the_indices_stays_in_them() {
    let mut store = new_indexer(key_func(), app_indexer());
    store.add(labelled("p", "1", "a"), &mut ()).unwrap();
    assert!(store.write_through("p", labelled("p", "1", "b")));
    assert!(!store.write_through("q", labelled("q", "1", "b")));
    // The index function is asked what the object is like now: no word of "a".
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
fn versions_are_kept_only_since_0_36() {
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
fn replace_says_what_it_did_in_this_order() {
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
    // The same once more: no value changes, and nothing is said of the index.
    let mut facts = Facts::new();
    store.update(pod("b/p0", "4"), &mut facts).unwrap();
    let steps: Vec<Step> = facts.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [Step::StoreWrite, StoreVersion]);
}

#[test]
fn only_the_indexed_values_that_changed_are_told() {
    let mut store = new_indexer(key_func(), letters_indexer());
    store.add(labelled("a", "1", "web"), &mut ()).unwrap();
    let mut facts = Facts::new();
    store.update(labelled("a", "2", "ew"), &mut facts).unwrap();
    let told: Vec<String> = facts
        .iter()
        .filter_map(|(_, fact)| match fact {
            Fact::Store(StoreFact::IndexEntryRemoved { value, .. }) => Some(format!("-{value}")),
            Fact::Store(StoreFact::IndexEntryAdded { value, .. }) => Some(format!("+{value}")),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["-letter=b", "-web", "+ew"]);
}

#[test]
fn without_a_listener_no_fact_is_made() {
    /// Listens to nothing, but counts.
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

#[derive(Clone, Debug)]
enum Write {
    Add(Item<O>),
    Delete(Item<O>),
    Replace(Vec<Item<O>>, u8),
    Transaction(Vec<(TransactionType, Item<O>)>),
    Bookmark(u8),
    AddApp,
}

fn any_pod(bad: bool) -> impl Strategy<Value = Item<O>> {
    let names = prop::sample::select(vec!["a/p0", "a/p1", "a/p2", "b/p0", "b/p1", "c0"]);
    let last = if bad { 6 } else { 5 };
    (names, 0..20_u8, 0..last).prop_map(|(name, rv, app)| {
        let apps = [
            None,
            Some(""),
            Some("web"),
            Some("ew"),
            Some("db"),
            Some("bad"),
        ];
        let app: Option<&str> = apps[app as usize];
        Item::object(object(name, &rv.to_string(), app))
    })
}

fn any_item(bad: bool) -> impl Strategy<Value = Item<O>> {
    prop_oneof![
        12 => any_pod(bad),
        1 => Just(opaque()),
        1 => (any_pod(false), any::<bool>()).prop_map(|(pod, whole)| {
            let key = meta_namespace_key_func(&pod).unwrap();
            tombstone(&key, whole.then_some(pod))
        }),
    ]
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

type IndexContent = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn content(store: &Indexer<O>) -> BTreeMap<String, String> {
    store
        .iter()
        .map(|(key, item)| (key.to_string(), rv(item).to_owned()))
        .collect()
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

/// What the store should be: a list of entries, and nothing remembered beside them.
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

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_store_is_like_the_naive_one(
        writes in prop::collection::vec(any_write(false), 0..40),
        probe in any_pod(false),
        order in prop::sample::select(vec![Order::Dense, Order::Insertion, Order::Key, Order::Seeded(3)]),
    ) {
        let options = StoreOptions { order, ..StoreOptions::default() };
        let mut store = Indexer::with_options(key_func(), two_indexers(), options);
        let mut naive = Naive::default();
        for one in writes {
            naive.write(&one);
            // An error leaves both as they are; which error it is, is tested elsewhere.
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
    fn indexers_added_late_are_as_if_from_the_start(
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
    fn the_facts_of_a_store_tell_its_state(
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
            // A failing index function is part of it.
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

// ---- the fold

/// What can be known from the facts alone. Applying one checks what it says of the state before.
#[derive(Default)]
struct Fold {
    store: BTreeMap<Key, ObjectRef>,
    indices: IndexContent,
    rv: Rv,
    queue: VecDeque<Key>,
    deltas: BTreeMap<Key, Vec<(DeltaType, ObjectRef)>>,
    entries: VecDeque<Entry>,
    popped: Option<(Key, Vec<(DeltaType, ObjectRef)>)>,
    populated: bool,
    synced: bool,
    closed: bool,
}

impl Trace for Fold {
    fn fact(&mut self, _step: Step, fact: impl FnOnce() -> Fact) {
        self.apply(fact());
    }
}

impl Fold {
    fn apply(&mut self, fact: Fact) {
        match fact {
            Fact::Store(StoreFact::ItemStored { object, old }) => {
                let key = object.key.clone();
                assert_eq!(self.store.insert(key, object), old);
            }
            Fact::Store(StoreFact::ItemRemoved { key, old }) => {
                assert_eq!(self.store.remove(&key), old)
            }
            Fact::Store(StoreFact::StoreReplaced { items }) => {
                self.store = items.into_iter().map(|o| (o.key.clone(), o)).collect();
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
                assert!(keys.insert(key.to_string()), "it was there");
            }
            Fact::Store(StoreFact::IndexEntryRemoved {
                index,
                value,
                key,
                emptied,
            }) => {
                let values = self.indices.get_mut(&*index).unwrap();
                let keys = values.get_mut(&*value).unwrap();
                assert!(keys.remove(key.as_str()), "it was not there");
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
            // They change nothing.
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

// ---- the queues

#[derive(Clone, Debug)]
enum Call {
    Add(Item<O>),
    Update(Item<O>),
    Delete(Item<O>),
    Replace(Vec<Item<O>>),
    Resync,
    Close,
    Bookmark(u8),
    AddIfNotPresent(Item<O>),
    Begin { batch: bool },
    Finish(ProcessOutcome),
}

fn any_call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![
        5 => Just(ProcessOutcome::Done),
        1 => Just(ProcessOutcome::Failed("process failed".into())),
        1 => Just(ProcessOutcome::Requeue(None)),
        1 => Just(ProcessOutcome::Requeue(Some("process failed".into()))),
    ];
    prop_oneof![
        4 => any_item(true).prop_map(Call::Add),
        4 => any_item(true).prop_map(Call::Update),
        5 => any_item(true).prop_map(Call::Delete),
        2 => prop::collection::vec(any_pod(false), 0..5).prop_map(Call::Replace),
        1 => prop::collection::vec(any_item(true), 0..5).prop_map(Call::Replace),
        2 => Just(Call::Resync),
        1 => Just(Call::Close),
        1 => (0..99_u8).prop_map(Call::Bookmark),
        2 => any_item(false).prop_map(Call::AddIfNotPresent),
        6 => any::<bool>().prop_map(|batch| Call::Begin { batch }),
        8 => outcome.prop_map(Call::Finish),
    ]
}

/// The calls that every queue takes.
fn call<Q: Queue<O>>(
    queue: &mut Q,
    call: Call,
    known: Option<&dyn KeyListerGetter<O>>,
    fold: &mut Fold,
) {
    // An error is a legal end; what it left behind is what the fold is held against.
    let _ = match call {
        Call::Add(item) => queue.add(item, fold),
        Call::Update(item) => queue.update(item, fold),
        Call::Delete(item) => queue.delete(item, known, fold),
        Call::Replace(items) => queue.replace(items, "9", known, fold),
        Call::Resync => queue.resync(known, fold),
        Call::Close => {
            queue.close(fold);
            Ok(())
        }
        Call::Bookmark(_) | Call::AddIfNotPresent(_) | Call::Begin { .. } | Call::Finish(_) => {
            Ok(())
        }
    };
}

fn deltas_of(key: &Key, deltas: &[Delta<O>]) -> Vec<(DeltaType, ObjectRef)> {
    deltas
        .iter()
        .map(|delta| (delta.delta_type, delta.object.to_ref(key)))
        .collect()
}

fn releases() -> impl Strategy<Value = Release> {
    prop::sample::select(vec![
        Release::V0_24,
        Release::V0_32,
        Release::V0_34,
        Release::V0_35,
        Release::V0_36,
    ])
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_facts_of_a_delta_fifo_tell_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        replaced in any::<bool>(),
        transforms in any::<bool>(),
        knows in any::<bool>(),
        release in releases(),
    ) {
        let mut queue = DeltaFifo::new(DeltaFifoOptions {
            key_func: key_func(),
            emit_delta_type_replaced: replaced,
            transformer: transforms.then(bad_app_fails),
            release,
        });
        let mut store = new_store::<O>(Arc::new(deletion_handling_meta_namespace_key_func));
        let mut fold = Fold::default();
        let mut taken = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    let was_empty = queue.is_empty();
                    match queue.begin_pop(&mut fold) {
                        Ok(Some(item)) => taken = Some(item),
                        Ok(None) => prop_assert!(was_empty && !queue.is_closed()),
                        Err(error) => {
                            prop_assert!(was_empty && queue.is_closed());
                            prop_assert_eq!(error, Error::FifoClosed);
                        }
                    }
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    let fails = matches!(outcome, ProcessOutcome::Failed(_) | ProcessOutcome::Requeue(Some(_)));
                    if outcome == ProcessOutcome::Done {
                        for delta in &item.deltas {
                            if delta.delta_type == DeltaType::Deleted {
                                store.delete(&delta.object, &mut ()).unwrap();
                            } else {
                                store.add(delta.object.clone(), &mut ()).unwrap();
                            }
                        }
                    }
                    let (_, end) = queue.finish_pop(item, outcome, Duration::ZERO, &mut fold);
                    prop_assert_eq!(end.is_err(), fails);
                },
                Call::AddIfNotPresent(object) => {
                    let delta = Delta { delta_type: DeltaType::Added, object };
                    let _ = queue.add_if_not_present(Offered::Deltas(vec![delta]), &mut fold);
                }
                other => {
                    let known = knows.then_some(&store as &dyn KeyListerGetter<O>);
                    call(&mut queue, other, known, &mut fold);
                }
            }
            prop_assert!(queue.is_consistent());
            let keys: VecDeque<Key> = queue.list_keys().cloned().collect();
            let deltas: BTreeMap<Key, _> = keys
                .iter()
                .map(|key| (key.clone(), deltas_of(key, queue.get_by_key(key).unwrap())))
                .collect();
            for deltas in deltas.values() {
                let deletes = |pair: &[(DeltaType, ObjectRef)]| {
                    pair.iter().all(|(delta_type, _)| *delta_type == DeltaType::Deleted)
                };
                // What is put back is taken as it comes; all else is merged.
                prop_assert!(!deltas.windows(2).any(deletes));
            }
            prop_assert_eq!(&fold.queue, &keys);
            prop_assert_eq!(&fold.deltas, &deltas);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.synced, queue.populated() && queue.initial_population_count() == 0);
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }

    #[test]
    fn the_facts_of_a_fifo_tell_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        release in releases(),
    ) {
        let mut queue = Fifo::new(FifoOptions { release, ..FifoOptions::new(key_func()) });
        let mut fold = Fold::default();
        let mut taken = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    taken = queue.begin_pop(&mut fold).unwrap_or_default();
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    queue.finish_pop(item, outcome, Duration::ZERO, &mut fold).1.unwrap_or_default();
                },
                Call::AddIfNotPresent(item) => {
                    let _ = queue.add_if_not_present(item, &mut fold);
                }
                other => call(&mut queue, other, None, &mut fold),
            }
            let keys: VecDeque<Key> = queue.queue().cloned().collect();
            let items: BTreeMap<Key, _> = queue
                .list()
                .into_iter()
                .map(|(key, item)| (key.clone(), vec![(DeltaType::Added, item.to_ref(key))]))
                .collect();
            prop_assert_eq!(&fold.queue, &keys);
            prop_assert_eq!(&fold.deltas, &items);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }

    #[test]
    fn the_facts_of_a_real_fifo_tell_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        transforms in any::<bool>(),
        release in releases(),
        batch_size in 1..4_usize,
    ) {
        let mut queue = RealFifo::new(RealFifoOptions {
            transformer: transforms.then(bad_app_fails),
            batch_size,
            ..RealFifoOptions::new(key_func(), release)
        });
        let store = known_store();
        let mut fold = Fold::default();
        let mut taken: Option<TakenDeltas<O>> = None;
        for one in calls {
            match one {
                Call::Begin { batch } if taken.is_none() => {
                    let before = queue.initial_population_count();
                    let popped = if batch {
                        queue.begin_pop_batch(&mut fold)
                    } else {
                        queue.begin_pop(&mut fold)
                    };
                    taken = popped.unwrap_or_default();
                    if let Some(taken) = &taken {
                        let length = taken.entries.len();
                        let keys: BTreeSet<_> = taken.entries.iter().map(|entry| entry.key()).collect();
                        prop_assert!((1..=batch_size).contains(&length));
                        prop_assert!(before == 0 || length <= before, "across the first list's end");
                        prop_assert_eq!(keys.len(), length, "a key twice");
                        prop_assert!(length == 1 || !keys.contains(&None), "what comes alone");
                        prop_assert!(length == 1 || taken.batch);
                    }
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    let _ = queue.finish_pop(item, outcome, Duration::ZERO, &mut fold);
                },
                Call::Bookmark(rv) => queue.bookmark(&rv.to_string(), &mut fold),
                Call::AddIfNotPresent(_) => {}
                other => call(&mut queue, other, Some(&store), &mut fold),
            }
            let entries: VecDeque<Entry> = queue
                .entries()
                .map(|entry| entry.to_entry(queue.key_func()))
                .collect();
            prop_assert_eq!(&fold.entries, &entries);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }
}

fn known_store() -> Indexer<O> {
    let mut store = new_store(key_func());
    store.add(pod("a/p0", "1"), &mut ()).unwrap();
    store.add(pod("b/p1", "2"), &mut ()).unwrap();
    store
}

#[test]
fn only_neighbouring_deletions_are_merged() {
    let whole = |rv: &str| pod("a", rv);
    let gone = |rv: &str| tombstone("a", Some(pod("a", rv)));
    type Two = [Item<O>; 2];
    let cases: [(&str, Two, &str, bool); 4] = [
        (
            "two objects: the older",
            [whole("1"), whole("2")],
            "1",
            false,
        ),
        (
            "object, tombstone: the object",
            [whole("1"), gone("2")],
            "1",
            false,
        ),
        (
            "tombstone, object: the object",
            [gone("1"), whole("2")],
            "2",
            false,
        ),
        (
            "two tombstones: the newer",
            [gone("1"), gone("2")],
            "2",
            true,
        ),
    ];
    for (name, [older, newer], kept, is_tombstone) in cases {
        let mut queue = delta_fifo();
        queue.add(pod("a", "0"), &mut ()).unwrap();
        queue.delete(older, None, &mut ()).unwrap();
        queue.delete(newer, None, &mut ()).unwrap();
        let deltas = queue.get_by_key("a").unwrap();
        assert_eq!(
            types(deltas),
            [DeltaType::Added, DeltaType::Deleted],
            "{name}"
        );
        assert_eq!(rv(&deltas[1].object), kept, "{name}");
        assert_eq!(deltas[1].object.is_tombstone(), is_tombstone, "{name}");
    }
    let mut queue = delta_fifo();
    for _ in 0..2 {
        queue.add(pod("a", "1"), &mut ()).unwrap();
        queue.update(pod("a", "1"), &mut ()).unwrap();
        queue.delete(pod("a", "1"), None, &mut ()).unwrap();
    }
    assert_eq!(queue.get_by_key("a").unwrap().len(), 6);
}

#[test]
fn a_deletion_is_dropped_when_nobody_would_notice() {
    struct Unsure;
    impl KeyListerGetter<O> for Unsure {
        fn list_keys(&self) -> Vec<Key> {
            Vec::new()
        }
        fn get_by_key(&self, _key: &str) -> Result<Option<Item<O>>, String> {
            Err("cannot tell".into())
        }
    }
    let store = known_store();
    type Asked<'a> = Option<&'a dyn KeyListerGetter<O>>;
    let cases: [(&str, Asked<'_>, Option<Known>, bool); 4] = [
        ("a/p0", None, None, false),
        ("a/p0", Some(&store), Some(Known::Yes("1".into())), true),
        ("a/p9", Some(&store), Some(Known::No), false),
        ("a/p9", Some(&Unsure), Some(Known::Failed), true),
    ];
    for (key, knows, known, queued) in cases {
        let mut queue = delta_fifo();
        let mut facts = Facts::new();
        queue.delete(pod(key, "5"), knows, &mut facts).unwrap();
        assert_eq!(queue.get_by_key(key).is_some(), queued, "{known:?}");
        let key = Key::from(key);
        let pending = false;
        let checked = (
            Step::DeleteCheck,
            Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known,
                pending,
            }),
        );
        assert_eq!(facts[2], checked, "after Populated and Synced");
        let ignored = (
            Step::DeleteIgnore,
            Fact::Queue(QueueFact::DeleteIgnored { key }),
        );
        assert_eq!(facts[3] == ignored, !queued);
        assert!(queue.has_synced(), "it counts as filling the queue");
    }
}

#[test]
fn what_was_missed_while_away_is_found_by_the_next_list() {
    let store = known_store();
    let mut queue = delta_fifo();
    queue.add(pod("c0", "3"), &mut ()).unwrap();
    queue
        .replace(vec![pod("a/p0", "4")], "9", Some(&store), &mut ())
        .unwrap();
    let keys: Vec<&Key> = queue.list_keys().collect();
    assert_eq!(keys, ["c0", "a/p0", "b/p1"]);
    let queued = queue.get_by_key("c0").unwrap();
    assert_eq!(types(queued), [DeltaType::Added, DeltaType::Deleted]);
    let missed = &queue.get_by_key("b/p1").unwrap()[0];
    assert_eq!(missed.delta_type, DeltaType::Deleted);
    assert!(missed.object.is_tombstone());
    assert_eq!(rv(&missed.object), "2");
}

#[test]
fn the_transformer_of_0_24_saw_everything() {
    for (release, expected) in [(Release::V0_24, "2tt"), (Release::V0_32, "2t")] {
        let mut queue = DeltaFifo::new(DeltaFifoOptions {
            transformer: Some(bad_app_fails()),
            release,
            ..DeltaFifoOptions::new(key_func())
        });
        // The list is transformed in any release, although it queues Sync.
        queue
            .replace(vec![pod("a", "2")], "9", None, &mut ())
            .unwrap();
        let mut store = new_store(key_func());
        let (taken, _) = queue
            .pop(|_| ProcessOutcome::Done, no_clock, &mut ())
            .unwrap()
            .unwrap();
        assert_eq!(rv(&taken.deltas[0].object), "2t");
        store.add(taken.deltas[0].object.clone(), &mut ()).unwrap();
        queue.resync(Some(&store), &mut ()).unwrap();
        assert_eq!(rv(&queue.get_by_key("a").unwrap()[0].object), expected);
    }
}

#[test]
fn pop_is_begin_process_and_finish() {
    let mut queue = delta_fifo();
    assert!(matches!(
        queue.pop(|_| ProcessOutcome::Done, no_clock, &mut ()),
        Ok(None)
    ));
    let list = vec![pod("a", "1"), pod("b", "1")];
    queue.replace(list, "9", None, &mut ()).unwrap();
    assert!(!queue.has_synced());
    let mut seen = Vec::new();
    for _ in 0..2 {
        let process = |p: deltascope::cache::queue::Processing<'_, _>| {
            let taken: &deltascope::cache::delta_fifo::PoppedDeltas<O> = p.taken;
            seen.push((taken.key.to_string(), p.is_in_initial_list, p.has_synced));
            ProcessOutcome::Failed("process failed".into())
        };
        let (_, end) = queue.pop(process, no_clock, &mut ()).unwrap().unwrap();
        assert_eq!(end.unwrap_err().to_string(), "process failed");
    }
    assert_eq!(seen, [("a".into(), true, false), ("b".into(), true, true)]);
    queue.close(&mut ());
    let end = queue.pop(|_| ProcessOutcome::Done, no_clock, &mut ());
    assert_eq!(end.unwrap_err().kind().as_str(), "ErrFIFOClosed");
}

#[test]
fn has_synced_turns_true_before_or_after_the_process_function() {
    for (release, during) in [
        (Release::V0_34, true),
        (Release::V0_35, true),
        (Release::V0_36, false),
    ] {
        let mut fifo = Fifo::new(FifoOptions {
            release,
            ..FifoOptions::new(key_func())
        });
        let mut real = RealFifo::new(RealFifoOptions::new(key_func(), release));
        let known = new_store(key_func());
        fifo.replace(vec![pod("a", "1")], "9", None, &mut ())
            .unwrap();
        real.replace(vec![pod("a", "1")], "9", Some(&known), &mut ())
            .unwrap();
        let taken = fifo.begin_pop(&mut ()).unwrap().unwrap();
        assert_eq!(fifo.has_synced(), during, "FIFO {release:?}");
        let _ = fifo.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
        assert!(fifo.has_synced());
        let taken = real.begin_pop_batch(&mut ()).unwrap().unwrap();
        assert_eq!(real.has_synced(), during, "RealFIFO {release:?}");
        let _ = real.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
        assert!(real.has_synced());
    }
}

#[test]
fn a_skipped_key_of_the_first_list_counts_when_the_pop_ends() {
    let list = || {
        let mut queue = Fifo::new(FifoOptions::new(key_func()));
        queue
            .replace(vec![pod("a", "1")], "9", None, &mut ())
            .unwrap();
        queue.delete(pod("a", "1"), None, &mut ()).unwrap();
        queue
    };
    // Another object ends the Pop; it still belongs to the first list.
    let mut queue = list();
    queue.add(pod("b", "2"), &mut ()).unwrap();
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(taken.is_in_initial_list && !queue.has_synced());
    let _ = queue.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
    assert!(queue.has_synced());
    // Close ends it.
    let mut queue = list();
    assert!(queue.begin_pop(&mut ()).unwrap().is_none());
    assert!(!queue.has_synced(), "that Pop is still waiting");
    queue.close(&mut ());
    assert!(queue.begin_pop(&mut ()).is_err());
    assert!(queue.has_synced());
    // A second list while that Pop waits does not, an Add does.
    let mut queue = list();
    assert!(queue.begin_pop(&mut ()).unwrap().is_none());
    queue
        .replace(vec![pod("b", "2")], "10", None, &mut ())
        .unwrap();
    assert!(!queue.has_synced());
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(taken.is_in_initial_list && !queue.has_synced());
    queue.add(pod("c", "3"), &mut ()).unwrap();
    assert!(queue.has_synced());
}

#[test]
fn a_slow_process_function_is_reported_when_many_wait() {
    let slow = |waiting: usize, ms: u64| {
        let mut queue = delta_fifo();
        for index in 0..=waiting {
            queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        }
        let clock = Cell::new(Duration::from_secs(5));
        let mut facts = Facts::new();
        let process = |_: deltascope::cache::queue::Processing<'_, _>| {
            clock.set(clock.get() + Duration::from_millis(ms));
            ProcessOutcome::Done
        };
        queue.pop(process, || clock.get(), &mut facts).unwrap();
        facts.into_iter().find_map(|(step, fact)| match fact {
            Fact::Queue(QueueFact::ProcessWasSlow { key, depth, ms }) => {
                assert_eq!(step, Step::PopSlow);
                Some((key.to_string(), depth, ms))
            }
            _ => None,
        })
    };
    assert_eq!(slow(11, 101), Some(("p0".into(), 11, 101)));
    assert_eq!(slow(11, 100), None);
    assert_eq!(slow(10, 5000), None);
}

#[test]
fn a_batch_may_take_longer() {
    let slow = |batch: usize, ms: u64| {
        let mut queue = RealFifo::new(RealFifoOptions {
            batch_size: batch,
            ..RealFifoOptions::new(key_func(), Release::V0_36)
        });
        for index in 0..batch + 11 {
            queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        }
        let mut facts = Facts::new();
        let taken = queue.begin_pop_batch(&mut facts).unwrap().unwrap();
        let elapsed = Duration::from_millis(ms);
        let _ = queue.finish_pop(taken, ProcessOutcome::Done, elapsed, &mut facts);
        facts
            .iter()
            .any(|(_, fact)| matches!(fact, Fact::Queue(QueueFact::ProcessWasSlow { .. })))
    };
    assert!(slow(1, 101) && !slow(1, 100));
    assert!(slow(3, 301) && !slow(3, 300));
    assert!(slow(20, 1001) && !slow(20, 1000));
}

#[test]
fn the_lock_is_given_back_unless_very_much_waits() {
    let options = RealFifoOptions {
        batch_size: 2,
        ..RealFifoOptions::new(key_func(), Release::V0_36)
    };
    let mut queue = RealFifo::new(options);
    for (index, unlocks) in [true, true, true, false].into_iter().enumerate() {
        queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        assert_eq!(queue.unlocks_while_processing(), unlocks);
    }
    let old = RealFifo::<O>::new(RealFifoOptions::new(key_func(), Release::V0_35));
    assert!(!old.unlocks_while_processing());
}

#[test]
fn what_is_requeued_comes_last_unless_there_is_newer() {
    let mut queue = delta_fifo();
    for name in ["a", "b"] {
        queue.add(pod(name, "1"), &mut ()).unwrap();
    }
    let again = |_: deltascope::cache::queue::Processing<'_, _>| ProcessOutcome::Requeue(None);
    queue.pop(again, no_clock, &mut ()).unwrap();
    assert_eq!(queue.list_keys().collect::<Vec<_>>(), ["b", "a"]);
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    queue.update(pod("b", "2"), &mut ()).unwrap();
    let mut facts = Facts::new();
    let outcome = ProcessOutcome::Requeue(Some("process failed".into()));
    let (_, end) = queue.finish_pop(taken, outcome, Duration::ZERO, &mut facts);
    assert!(end.is_err());
    let key = Key::from("b");
    assert_eq!(
        facts,
        [(
            Step::PopRequeue,
            Fact::Queue(QueueFact::Requeued { key, added: false })
        )]
    );
    assert_eq!(rv(&queue.get_by_key("b").unwrap()[0].object), "2");
}

/// A name that nobody can see is told from one that is empty.
#[test]
fn what_errors_name_is_quoted_as_in_go() {
    const UNSEEN: &str = "a\u{200b}\u{7}";
    let index_write = Error::IndexWrite {
        key: UNSEEN.into(),
        index: UNSEEN.into(),
        error: "boom".into(),
    };
    let not_found = ListerError::NotFound {
        resource: GroupResource::new("", "pods"),
        name: UNSEEN.into(),
    };
    let mut queue = delta_fifo();
    let mut refused = |item| {
        let refused = queue.add_if_not_present(item, &mut ());
        refused.unwrap_err().to_string()
    };
    for (said, count) in [
        (
            split_meta_namespace_key(&format!("a/b/{UNSEEN}")).unwrap_err(),
            1,
        ),
        (not_found.to_string(), 1),
        (index_write.to_string(), 2),
        (refused(Offered::Item(Item::Opaque(UNSEEN.into()))), 1),
        (refused(Offered::Item(Item::ExplicitKey(UNSEEN.into()))), 1),
    ] {
        assert_eq!(said.matches(r#"a\u200b\a""#).count(), count, "{said}");
    }
}
