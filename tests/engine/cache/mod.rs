//! Stores and queues: table tests, property tests, and that their state can be rebuilt from their
//! facts.

mod fold;
mod informer;
mod naive;
mod objects;
mod queues;
mod reflector;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::fact::Fact;
use deltascope::cache::index::{
    IndexFunc, Indexers, NAMESPACE_INDEX, label_index_func, meta_namespace_index_func,
};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{KeyFunc, meta_namespace_key_func};
use deltascope::cache::object::{DeletedFinalStateUnknown, Item, Object};
use deltascope::cache::queue::TransformFunc;
use deltascope::cache::step::Step;
use deltascope::cache::store::Indexer;
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, GroupVersionKind, Resource};
use proptest::prelude::*;

type O = DynamicObject;
type Facts = Vec<(Step, Fact)>;

// ---- fixtures

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

/// Fails for the app "bad"; otherwise returns several values: the app, and one for each of its
/// letters.
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

fn rv(item: &Item<O>) -> &str {
    item.as_object().map_or("", |o| o.resource_version())
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

type IndexContent = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn content(store: &Indexer<O>) -> BTreeMap<String, String> {
    store
        .iter()
        .map(|(key, item)| (key.to_string(), rv(item).to_owned()))
        .collect()
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    }
}
