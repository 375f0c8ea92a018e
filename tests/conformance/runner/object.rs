//! Objects as the files write them, and the functions over them that the files name.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::cache::delta::DeltaType;
use deltascope::cache::index::{IndexFunc, Indexers};
use deltascope::cache::key_func::{
    KeyFunc, deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope::cache::object::{DeletedFinalStateUnknown, Item, Object};
use deltascope::cache::queue::TransformFunc;
use serde::Deserialize;
use serde_json::{Value, json};

/// A small pod, by hand: whatever has metadata can be cached.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pod {
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
    #[serde(default)]
    #[allow(dead_code, reason = "part of the format, and nothing looks at it")]
    status: Option<Status>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    namespace: String,
    name: String,
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    #[allow(dead_code, reason = "part of the format, and nothing looks at it")]
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    node_name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    #[serde(default)]
    #[allow(dead_code, reason = "part of the format, and nothing looks at it")]
    phase: String,
}

impl Object for Pod {
    fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn uid(&self) -> &str {
        ""
    }

    fn resource_version(&self) -> &str {
        &self.metadata.resource_version
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        &self.metadata.labels
    }
}

/// Reads whatever stands where an object is expected.
pub(crate) fn item(value: Value) -> Result<Item<Pod>, String> {
    let map = match value {
        Value::String(text) => return Ok(Item::Opaque(text.as_str().into())),
        Value::Object(map) => map,
        other => return Err(format!("not an object: {other}")),
    };
    if let Some(key) = map.get("explicitKey") {
        return match (key, map.len()) {
            (Value::String(key), 1) => Ok(Item::ExplicitKey(key.as_str().into())),
            _ => Err(format!("not an explicit key: {}", Value::Object(map))),
        };
    }
    if let Some(inner) = map.get("tombstone").filter(|_| map.len() == 1) {
        let mut inner = super::Members::of("tombstone", inner.clone())?;
        let key = inner.text("key")?;
        let object = match inner.take("obj") {
            Value::Null => None,
            object => Some(item(object)?),
        };
        inner.finish("the tombstone")?;
        return Ok(Item::Tombstone(Arc::new(DeletedFinalStateUnknown {
            key: key.into(),
            object,
        })));
    }
    let without_nulls = super::normal(Value::Object(map), false);
    serde_json::from_value(without_nulls)
        .map(Item::object)
        .map_err(|error| format!("not an object of the format: {error}"))
}

/// Reads a list of objects.
pub(crate) fn items(values: Vec<Value>) -> Result<Vec<Item<Pod>>, String> {
    values.into_iter().map(item).collect()
}

/// The plain strings among some objects.
pub(crate) fn plain<'a>(items: impl IntoIterator<Item = &'a Item<Pod>>) -> Vec<String> {
    let text = |item: &Item<Pod>| match item {
        Item::Opaque(text) => Some(text.to_string()),
        Item::ExplicitKey(key) => Some(key.to_string()),
        Item::Object(_) | Item::Tombstone(_) => None,
    };
    items.into_iter().filter_map(text).collect()
}

/// How the files refer to an object.
pub(crate) fn reference(item: &Item<Pod>) -> Value {
    match item {
        Item::Object(object) => json!(object.resource_version()),
        Item::Tombstone(tombstone) => {
            json!({ "tombstone": tombstone.object.as_ref().map(reference) })
        }
        Item::ExplicitKey(key) => json!({ "explicitKey": key.as_str() }),
        Item::Opaque(text) => json!(text.as_str()),
    }
}

/// The key function of this name.
pub(crate) fn key_func(name: &str) -> Result<KeyFunc<Pod>, String> {
    Ok(match name {
        "MetaNamespaceKeyFunc" => Arc::new(meta_namespace_key_func),
        "DeletionHandlingMetaNamespaceKeyFunc" => {
            Arc::new(deletion_handling_meta_namespace_key_func)
        }
        "nsdashname" => Arc::new(|item| match item {
            Item::Object(pod) => Ok(format!("{}---{}", pod.namespace(), pod.name()).into()),
            _ => Err("not a pod".into()),
        }),
        _ => return Err(format!("unknown keyFunc {name:?}")),
    })
}

/// The index functions of these names.
pub(crate) fn indexers(names: Vec<String>) -> Result<Indexers<Pod>, String> {
    let mut indexers = Indexers::default();
    for name in names {
        let function = index_func(&name)?;
        if indexers.insert(name.as_str().into(), function).is_some() {
            return Err(format!("the indexer {name:?} is named twice"));
        }
    }
    Ok(indexers)
}

fn index_func(name: &str) -> Result<IndexFunc<Pod>, String> {
    /// An index by something that every pod has.
    fn by(value: impl Fn(&Pod) -> &str + Send + Sync + 'static) -> IndexFunc<Pod> {
        Arc::new(move |item, values| {
            values.push(value(pod(item)?));
            Ok(())
        })
    }
    fn pod(item: &Item<Pod>) -> Result<&Pod, String> {
        item.plain_object()
            .map(|object| &**object)
            .ok_or_else(|| "not a pod".into())
    }
    fn app(pod: &Pod) -> Option<&str> {
        pod.labels().get("app").map(String::as_str)
    }
    Ok(match name {
        "namespace" => by(|pod| pod.namespace()),
        "app" => by(|pod| app(pod).unwrap_or_default()),
        "node" => by(|pod| pod.spec.as_ref().map_or("", |spec| &spec.node_name)),
        "labels" => Arc::new(|item, values| {
            for (label, value) in pod(item)?.labels() {
                values.push_fmt(format_args!("{label}={value}"));
            }
            Ok(())
        }),
        "strictapp" => Arc::new(|item, values| {
            values.push(app(pod(item)?).ok_or("index func failed")?);
            Ok(())
        }),
        _ => return Err(format!("unknown indexer {name:?}")),
    })
}

/// The transformer of this name.
pub(crate) fn transformer(name: Option<&str>) -> Result<Option<TransformFunc<Pod>>, String> {
    match name {
        None => Ok(None),
        Some("appendT") => Ok(Some(Arc::new(append_t))),
        Some(name) => Err(format!("unknown transformer {name:?}")),
    }
}

fn append_t(item: Item<Pod>) -> Result<Item<Pod>, String> {
    match item {
        Item::Object(pod) => {
            if pod.labels().get("bad").is_some_and(|bad| bad == "true") {
                return Err("transform failed".into());
            }
            let mut pod = Pod::clone(&pod);
            pod.metadata.resource_version.push('t');
            Ok(Item::object(pod))
        }
        Item::Tombstone(tombstone) => {
            let object = tombstone.object.clone().map(append_t).transpose()?;
            let key = tombstone.key.clone();
            Ok(Item::Tombstone(Arc::new(DeletedFinalStateUnknown {
                key,
                object,
            })))
        }
        other => Ok(other),
    }
}

/// The delta type of this name.
pub(crate) fn delta_type(name: &str) -> Result<DeltaType, String> {
    use DeltaType::{Added, Deleted, Replaced, Sync, Updated};
    [Added, Updated, Deleted, Replaced, Sync]
        .into_iter()
        .find(|delta_type| delta_type.as_str() == name)
        .ok_or_else(|| format!("unknown delta type {name:?}"))
}
