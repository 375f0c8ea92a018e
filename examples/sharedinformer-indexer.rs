//! An Indexer on its own, with a custom key function and an index on the label `app`.
//!
//! ```text
//! cargo run --example sharedinformer-indexer
//! ```

mod common;

use std::process::ExitCode;
use std::sync::Arc;

use common::Lines;
use deltascope::cache::error::Error;
use deltascope::cache::index::{IndexedValues, Indexers};
use deltascope::cache::key::Key;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::store::{Indexer, new_indexer};
use k8s_openapi::api::core::v1::Pod;

fn main() -> ExitCode {
    common::main_with(&[], |_| {
        run(&Lines::without_end()).map_err(|e| e.to_string())
    })
}

fn run(lines: &Lines) -> Result<(), Error> {
    let mut indexers: Indexers<Pod> = Indexers::default();
    indexers.insert("app".into(), Arc::new(labels_index_func));
    let mut index = new_indexer(Arc::new(my_key_func), indexers);
    index.add(pod("ns1", "pod1", "l1"), &mut ())?;
    index.add(pod("ns2", "pod2", "l2"), &mut ())?;

    lines.print("打印索引");
    lines.print(indices(&index));
    // Go prints the list, then the nil error.
    let keys: Vec<&str> = index
        .index_keys("app", "l1")?
        .into_iter()
        .map(|key| &**key)
        .collect();
    lines.print(format_args!("[{}] <nil>", keys.join(" ")));
    Ok(())
}

fn pod(namespace: &str, name: &str, app: &str) -> Item<Pod> {
    let mut pod = Pod::default();
    pod.metadata.namespace = Some(namespace.to_owned());
    pod.metadata.name = Some(name.to_owned());
    pod.metadata.labels = Some([("app".to_owned(), app.to_owned())].into());
    Item::object(pod)
}

/// This function alone decides what a key looks like.
fn my_key_func(item: &Item<Pod>) -> Result<Key, String> {
    match item.as_object() {
        Some(pod) if pod.namespace().is_empty() => Ok(pod.name().into()),
        Some(pod) => Ok(format!("{}---{}", pod.namespace(), pod.name()).into()),
        None => Err("object has no meta".to_owned()),
    }
}

/// Indexes pods by the label `app`.
fn labels_index_func(item: &Item<Pod>, values: &mut IndexedValues) -> Result<(), String> {
    let pod = item.as_object().ok_or("object has no meta")?;
    values.push(pod.labels().get("app").map_or("", |value| value));
    Ok(())
}

/// All indices, as Go prints a map of maps of sets.
fn indices(store: &Indexer<Pod>) -> String {
    let set = |keys: Vec<&Key>| -> String {
        let keys: Vec<String> = keys.into_iter().map(|key| format!("{key}:{{}}")).collect();
        format!("map[{}]", keys.join(" "))
    };
    let all: Vec<String> = store
        .indices()
        .map(|index| {
            let values = index.values().into_iter();
            let values: Vec<String> = values
                .map(|(value, keys)| format!("{value}:{}", set(keys)))
                .collect();
            format!("{}:map[{}]", index.name(), values.join(" "))
        })
        .collect();
    format!("map[{}]", all.join(" "))
}
