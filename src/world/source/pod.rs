//! Pods as dynamic objects: built, read, and validated when they come from outside.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, TypeMeta};
use serde_json::{Map, Value, json};

use crate::bounds::{self, MAX_OBJECT, MAX_TEXT};
use crate::fields::{Read, Wrong};
use crate::fill::fill;
use crate::text;
use crate::text::Text;
use deltascope_cache::fact::Body;

/// The longest name: a DNS subdomain, as in the API server's validation.
const MAX_NAME: usize = 253;
/// The longest DNS label (a namespace), and the longest name or value of a label.
const MAX_LABEL: usize = 63;
/// `kubectl apply` stores a whole copy of the object here, including a Secret's data.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of a small pod; empty ones are left out of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSpec {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.labels`
    pub labels: BTreeMap<String, String>,
    /// `spec.nodeName`
    pub node: String,
    /// `status.phase`
    pub phase: String,
}

/// A write request to the API server.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "writes are made one at a time and not kept"
)]
pub enum Write {
    /// Create this object.
    Create(DynamicObject),
    /// Replace the object of the same name.
    Update(DynamicObject),
    /// Delete the object of this name.
    Delete {
        /// Its namespace; empty for a cluster-scoped object.
        namespace: String,
        /// Its name.
        name: String,
    },
}

impl Write {
    /// Deletes what has the name of this object.
    #[must_use]
    pub fn delete(object: DynamicObject) -> Self {
        Self::Delete {
            namespace: object.metadata.namespace.unwrap_or_default(),
            name: object.metadata.name.unwrap_or_default(),
        }
    }
}

impl Read for DynamicObject {
    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(from_json(value)?)
    }
}

impl Read for Arc<DynamicObject> {
    fn read(value: Value) -> Result<Self, Wrong> {
        DynamicObject::read(value).map(Self::new)
    }
}

/// The namespace, empty if there is none, and the name in a key.
#[must_use]
pub fn named(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}

impl PodSpec {
    /// The pod with this key, and nothing else.
    #[must_use]
    pub fn of(key: &str) -> Self {
        let (namespace, name) = named(key);
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Label `app`, or nothing.
    #[must_use]
    pub fn app(&self) -> &str {
        self.labels.get("app").map_or("", String::as_str)
    }

    /// Sets label `app`, or takes it away.
    pub fn set_app(&mut self, app: String) {
        if app.is_empty() {
            self.labels.remove("app");
        } else {
            self.labels.insert("app".to_owned(), app);
        }
    }

    /// As JSON, the way a user would write it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "metadata": { "namespace": self.namespace, "name": self.name, "labels": self.labels },
            "spec": { "nodeName": self.node },
            "status": { "phase": self.phase },
        })
    }

    /// As an object of kind Pod.
    #[must_use]
    pub fn into_object(self) -> DynamicObject {
        let mut object = DynamicObject::new(&self.name, &ApiResource::erase::<PodKind>(&()));
        object.metadata.namespace = some_text(self.namespace);
        object.metadata.labels = Some(self.labels).filter(|labels| !labels.is_empty());
        let mut data = Map::new();
        if !self.node.is_empty() {
            data.insert("spec".to_owned(), json!({ "nodeName": self.node }));
        }
        if !self.phase.is_empty() {
            data.insert("status".to_owned(), json!({ "phase": self.phase }));
        }
        object.data = Value::Object(data);
        object
    }
}

impl From<PodSpec> for DynamicObject {
    fn from(spec: PodSpec) -> Self {
        spec.into_object()
    }
}

/// `status.phase`; empty when there is none.
#[must_use]
pub fn phase(object: &DynamicObject) -> &str {
    field(object, "/status/phase")
}

/// `spec.nodeName`; empty when there is none.
#[must_use]
pub fn node(object: &DynamicObject) -> &str {
    field(object, "/spec/nodeName")
}

/// The fields of the object that the page shows.
#[must_use]
pub fn body(object: &DynamicObject) -> Body {
    Body {
        labels: object.metadata.labels.clone().unwrap_or_default(),
        node: node(object).into(),
        phase: phase(object).into(),
    }
}

/// Reads an object from JSON text; see [`from_json`].
///
/// # Errors
///
/// States what is wrong, where, and what to do.
pub fn parse(text: &str) -> Result<DynamicObject, String> {
    if text.len() > MAX_OBJECT {
        return Err(too_large(text.len()));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("The object is not JSON: {error}. Give one JSON object."))?;
    checked(value).map_err(|error| error.en.to_string())
}

/// Reads an object from JSON that a user wrote. Only `metadata.name` is required: without `kind` it is a Pod,
/// without a namespace it is cluster-scoped.
///
/// # Errors
///
/// States what is wrong, where, and what to do.
pub fn from_json(value: Value) -> Result<DynamicObject, String> {
    sized(value).map_err(|error| error.en.to_string())
}

/// Reads an object that a user writes on the server: as [`from_json`], and a Pod's node is a name.
///
/// # Errors
///
/// States what is wrong, where, and what to do; what can be written in a form, in both languages.
pub fn to_write(value: Value) -> Result<DynamicObject, Text> {
    if let Some(fields) = value.as_object() {
        check_node(fields)?;
    }
    sized(value)
}

fn sized(value: Value) -> Result<DynamicObject, Text> {
    let size = serde_json::to_vec(&value).map_or(0, |bytes| bytes.len());
    if size > MAX_OBJECT {
        return Err(in_english(&too_large(size)));
    }
    checked(value)
}

/// What is said where no form is: files and scripts have it in English.
fn in_english(error: &str) -> Text {
    Text::new(error, error)
}

/// Which parts of an object are kept, in addition to the rules for its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    /// Drop the data as for a Secret or a ConfigMap, whatever kind the object states.
    pub(crate) redacted: bool,
    /// Keep the metadata alone.
    pub(crate) metadata_only: bool,
}

/// Builds an object from JSON without the parts that must not or need not be kept: metadata other than the
/// fields that identify, version, label or annotate the object or name its owners; the last applied configuration; the data of
/// Secrets and ConfigMaps. `types` applies to an object without a `kind`.
pub(crate) fn trimmed(
    mut fields: Map<String, Value>,
    types: Option<&TypeMeta>,
    keep: Keep,
) -> Result<DynamicObject, String> {
    let own = match (text(&fields, "apiVersion"), text(&fields, "kind")) {
        (Some(api_version), Some(kind)) => Some(TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }),
        _ => None,
    };
    let kind = text(&fields, "kind").or(types.map(|types| &*types.kind));
    let redacted = keep.redacted || matches!(kind, Some("Secret" | "ConfigMap"));
    // An object of unknown kind may be a Secret.
    let mut redacted = redacted;
    if kind.is_none() {
        for name in ["data", "stringData", "binaryData"] {
            redacted |= fields.remove(name).is_some();
        }
    }
    let known: &[&str] = match (keep.metadata_only, redacted) {
        (true, _) => &["metadata"],
        (false, true) => &["metadata", "type", "immutable"],
        (false, false) => &[],
    };
    let types = own.or_else(|| types.cloned());
    fields.remove("apiVersion");
    fields.remove("kind");
    if !known.is_empty() {
        fields.retain(|name, _| known.contains(&&**name));
    }
    let metadata = fields.remove("metadata").unwrap_or_default();
    let mut metadata = read_metadata(metadata).map_err(|error| format!("metadata{error}"))?;
    if redacted {
        // Tools store copies of the whole object in annotations, under names of their own.
        metadata.annotations = None;
    }
    Ok(DynamicObject {
        types,
        metadata,
        data: Value::Object(fields),
    })
}

/// Reads the metadata by hand: serde's reader for all its fields, with timestamps, would be a tenth of the
/// page's wasm.
fn read_metadata(value: Value) -> Result<ObjectMeta, String> {
    let mut fields = match value {
        Value::Null => return Ok(ObjectMeta::default()),
        Value::Object(fields) => fields,
        _ => return Err(" must be a JSON object".to_owned()),
    };
    let mut text = |name: &str| take_text(&mut fields, name);
    let (name, namespace) = (text("name")?, text("namespace")?);
    let (uid, resource_version) = (text("uid")?, text("resourceVersion")?);
    let mut texts = |name: &str| match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(entries)) => entries
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(text) => Ok((key, text)),
                other => Err(format!(
                    ".{name}: the value of {} must be a text, not {}",
                    quoted(&key),
                    quoted(&other.to_string())
                )),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(|entries| Some(fill::<BTreeMap<_, _>, _>(entries))),
        Some(_) => Err(format!(".{name} must be a JSON object")),
    };
    let labels = texts("labels")?;
    for (key, value) in labels.iter().flatten() {
        for text in [key, value] {
            bounds::text(text, MAX_TEXT).map_err(|error| format!(".labels: {error}"))?;
        }
    }
    let mut annotations = texts("annotations")?;
    if let Some(annotations) = &mut annotations {
        annotations.remove(LAST_APPLIED);
    }
    let owner_references = match fields.remove("ownerReferences") {
        None | Some(Value::Null) => None,
        Some(Value::Array(owners)) => {
            let mut read = Vec::new();
            for owner in owners {
                let owner = read_owner(owner);
                read.push(owner.map_err(|error| format!(".ownerReferences{error}"))?);
            }
            Some(read)
        }
        Some(_) => return Err(".ownerReferences must be a JSON array".to_owned()),
    };
    Ok(ObjectMeta {
        name,
        namespace,
        uid,
        resource_version,
        labels,
        annotations,
        owner_references,
        ..ObjectMeta::default()
    })
}

/// Reads an owner reference, except `blockOwnerDeletion`, which only the garbage collector needs.
fn read_owner(value: Value) -> Result<OwnerReference, String> {
    let Value::Object(mut fields) = value else {
        return Err(": each must be a JSON object".to_owned());
    };
    let controller = fields.get("controller").and_then(Value::as_bool);
    let mut text = |name: &str| take_text(&mut fields, name).map(Option::unwrap_or_default);
    Ok(OwnerReference {
        api_version: text("apiVersion")?,
        kind: text("kind")?,
        name: text("name")?,
        uid: text("uid")?,
        controller,
        ..OwnerReference::default()
    })
}

/// Takes a text out of a JSON object.
fn take_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => match bounds::text(&text, MAX_TEXT) {
            Ok(()) => Ok(Some(text)),
            Err(error) => Err(format!(".{name}: {error}")),
        },
        Some(other) => Err(format!(
            ".{name} must be a text, not {}",
            quoted(&other.to_string())
        )),
    }
}

/// kube-core has no Pod type of its own.
type PodKind = k8s_openapi::api::core::v1::Pod;

fn field<'a>(object: &'a DynamicObject, pointer: &str) -> &'a str {
    object
        .data
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn some_text(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn too_large(size: usize) -> String {
    format!(
        "The object has {size} bytes; at most {MAX_OBJECT} are taken. Leave out what the page does not show."
    )
}

fn checked(value: Value) -> Result<DynamicObject, Text> {
    let Value::Object(mut fields) = value else {
        return Err(in_english(
            "The object must be a JSON object such as {\"metadata\": {\"name\": \"web-0\"}}.",
        ));
    };
    for name in ["apiVersion", "kind"] {
        match fields.get(name) {
            None => {}
            Some(Value::String(text)) if !text.is_empty() => {}
            Some(_) => {
                return Err(in_english(&format!(
                    "{name} must be a text that is not empty; leave it out for a Pod of v1."
                )));
            }
        }
    }
    if let Some(kind) = text(&fields, "kind").filter(|kind| kind.ends_with("List")) {
        return Err(in_english(&format!(
            "kind is {kind}: give its items one by one, each as an object."
        )));
    }
    check_metadata(&fields)?;
    for (name, inner) in [("spec", "nodeName"), ("status", "phase")] {
        match fields.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(part)) => {
                if part
                    .get(inner)
                    .is_some_and(|value| !value.is_string() && !value.is_null())
                {
                    return Err(in_english(&format!("{name}.{inner} must be a text.")));
                }
            }
            Some(_) => return Err(in_english(&format!("{name} must be a JSON object."))),
        }
    }
    fields
        .entry("apiVersion")
        .or_insert_with(|| Value::from("v1"));
    fields.entry("kind").or_insert_with(|| Value::from("Pod"));
    trimmed(fields, None, Keep::default())
        .map_err(|error| in_english(&format!("{error}. Correct it or leave it out.")))
}

fn check_metadata(fields: &Map<String, Value>) -> Result<(), Text> {
    let Some(Value::Object(metadata)) = fields.get("metadata") else {
        return Err(Text::new(
            "metadata is missing: add \"metadata\": {\"name\": \"web-0\"} to the object.",
            "缺少 metadata，请在对象中加入 \"metadata\": {\"name\": \"web-0\"}。",
        ));
    };
    match metadata.get("name") {
        Some(Value::String(name)) if is_subdomain(name) => {}
        Some(Value::String(name)) if !name.is_empty() => {
            let Text { en, zh } = no_subdomain("metadata.name", name);
            return Err(text!("{en}.", "{zh}。"));
        }
        None | Some(Value::Null | Value::String(_)) => {
            return Err(Text::new(
                "metadata.name is missing: give the object a name such as web-0.",
                "缺少 metadata.name，请给对象起个名字，例如 web-0。",
            ));
        }
        Some(_) => {
            return Err(Text::new(
                "metadata.name must be a text such as \"web-0\".",
                "metadata.name 必须是文本，例如 \"web-0\"。",
            ));
        }
    }
    match metadata.get("namespace") {
        None | Some(Value::Null) => {}
        Some(Value::String(namespace)) if namespace.is_empty() || is_dns_label(namespace) => {}
        Some(Value::String(namespace)) => {
            let namespace = quoted(namespace);
            return Err(text!(
                "metadata.namespace {namespace} is not a DNS label: use a-z, 0-9 and -, begin and end with a letter or digit, at most {MAX_LABEL} characters; leave it out for a cluster-scoped object.",
                "metadata.namespace {namespace} 不是 DNS label：只用 a-z、0-9 和 -，以字母或数字开头和结尾，最多 {MAX_LABEL} 个字符；集群级对象请省略。"
            ));
        }
        Some(_) => {
            return Err(Text::new(
                "metadata.namespace must be a text such as \"default\".",
                "metadata.namespace 必须是文本，例如 \"default\"。",
            ));
        }
    }
    match metadata.get("labels") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(labels)) => labels
            .iter()
            .try_for_each(|(key, value)| check_label(key, value)),
        Some(_) => Err(Text::new(
            "metadata.labels must be a JSON object such as {\"app\": \"web\"}.",
            "metadata.labels 必须是 JSON 对象，例如 {\"app\": \"web\"}。",
        )),
    }
}

/// Refuses a Pod's node that is no name. In other kinds, `spec.nodeName` may be anything.
fn check_node(fields: &Map<String, Value>) -> Result<(), Text> {
    let node = fields
        .get("spec")
        .and_then(|spec| text(spec.as_object()?, "nodeName"));
    let is_pod = text(fields, "kind").is_none_or(|kind| kind == "Pod");
    match node.filter(|node| is_pod && !node.is_empty() && !is_subdomain(node)) {
        Some(node) => {
            let Text { en, zh } = no_subdomain("spec.nodeName", node);
            Err(text!(
                "{en}; leave it out for a Pod without a node.",
                "{zh}；没有节点的 Pod 请省略。"
            ))
        }
        None => Ok(()),
    }
}

fn no_subdomain(path: &str, name: &str) -> Text {
    let name = quoted(name);
    text!(
        "{path} {name} is not a DNS subdomain: use a-z, 0-9, - and ., begin and end each part with a letter or digit, at most {MAX_NAME} characters",
        "{path} {name} 不是 DNS subdomain：只用 a-z、0-9、- 和 .，每一段以字母或数字开头和结尾，最多 {MAX_NAME} 个字符"
    )
}

fn check_label(key: &str, value: &Value) -> Result<(), Text> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if !is_qualified(name) || prefix.is_some_and(|prefix| !is_subdomain(prefix)) {
        let key = quoted(key);
        return Err(text!(
            "metadata.labels: the key {key} is not valid: use letters, digits, -, _ and ., begin and end with a letter or digit, at most {MAX_LABEL} characters, perhaps after a DNS subdomain and /.",
            "metadata.labels 的 key {key} 无效：只用字母、数字、-、_ 和 .，以字母或数字开头和结尾，最多 {MAX_LABEL} 个字符，前面可以有 DNS subdomain 和 /。"
        ));
    }
    match value {
        Value::String(value) if value.is_empty() || is_qualified(value) => Ok(()),
        Value::String(value) => {
            let value = quoted(value);
            Err(text!(
                "metadata.labels: the value {value} of {key} is not valid: use letters, digits, -, _ and ., begin and end with a letter or digit, at most {MAX_LABEL} characters.",
                "metadata.labels 中 {key} 的值 {value} 无效：只用字母、数字、-、_ 和 .，以字母或数字开头和结尾，最多 {MAX_LABEL} 个字符。"
            ))
        }
        _ => Err(text!(
            "metadata.labels: the value of {key} must be a text; put it in quotes.",
            "metadata.labels 中 {key} 的值必须是文本，请加上引号。"
        )),
    }
}

/// Quotes a text, shortened for a message.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("\"{}…\"", printable(&text[..end])),
        None => format!("\"{}\"", printable(text)),
    }
}

/// Replaces control characters, which would not show.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text
            .split('.')
            .all(|part| is_bounded(part, |byte| byte == b'-', false))
}

/// Whether it may name a namespace.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= MAX_LABEL && is_bounded(text, |byte| byte == b'-', false)
}

fn is_qualified(text: &str) -> bool {
    text.len() <= MAX_LABEL && is_bounded(text, |byte| matches!(byte, b'-' | b'_' | b'.'), true)
}

/// Not empty, begins and ends with a letter or digit, and contains only those and `inner`.
fn is_bounded(text: &str, inner: impl Fn(u8) -> bool, upper: bool) -> bool {
    let plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || (upper && byte.is_ascii_uppercase())
    };
    let bytes = text.as_bytes();
    bytes.first().copied().is_some_and(plain)
        && bytes.last().copied().is_some_and(plain)
        && bytes.iter().all(|&byte| plain(byte) || inner(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_becomes_a_pod_and_reads_back() {
        let spec = PodSpec {
            namespace: "default".to_owned(),
            name: "web-0".to_owned(),
            labels: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
            node: "n1".to_owned(),
            phase: "Running".to_owned(),
        };
        let object = spec.clone().into_object();
        assert_eq!(
            serde_json::to_value(&object).unwrap(),
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": "default", "name": "web-0", "labels": {"app": "web"}},
                "spec": {"nodeName": "n1"}, "status": {"phase": "Running"},
            })
        );
        assert_eq!((node(&object), phase(&object)), ("n1", "Running"));
        assert_eq!(body(&object).labels, spec.labels);
        assert_eq!(
            from_json(serde_json::to_value(&object).unwrap()).unwrap(),
            object
        );
    }

    #[test]
    fn empty_fields_are_left_out() {
        let object = PodSpec {
            name: "a".to_owned(),
            ..PodSpec::default()
        }
        .into_object();
        assert_eq!(
            serde_json::to_value(&object).unwrap(),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
        );
        assert_eq!(body(&object), Body::default());
    }

    #[test]
    fn only_a_name_is_needed() {
        let object = parse(r#"{"metadata":{"name":"node-1.example"}}"#).unwrap();
        let types = object.types.unwrap();
        assert_eq!((&*types.api_version, &*types.kind), ("v1", "Pod"));
        assert_eq!(object.metadata.namespace, None);
    }

    #[test]
    fn the_data_of_a_secret_is_dropped() {
        let object = from_json(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "s", "managedFields": [], "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "hunter2", "a": "b"}},
            "data": {"p": "hunter2"}, "stringData": {"p": "hunter2"}, "type": "Opaque",
        }))
        .unwrap();
        let text = serde_json::to_string(&object).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains("managedFields"), "{text}");
        // Any annotation may be a copy of the whole object.
        assert!(
            text.contains("Opaque") && !text.contains("annotations"),
            "{text}"
        );
    }

    #[test]
    fn an_invalid_object_is_refused_with_its_field_and_the_reason() {
        let long = "a".repeat(254);
        let label = "a".repeat(64);
        for (value, part) in [
            (json!([]), "must be a JSON object"),
            (json!({}), "metadata is missing"),
            (json!({"metadata": 1}), "metadata is missing"),
            (json!({"metadata": {}}), "metadata.name is missing"),
            (
                json!({"metadata": {"name": ""}}),
                "metadata.name is missing",
            ),
            (
                json!({"metadata": {"name": 7}}),
                "metadata.name must be a text",
            ),
            (
                json!({"metadata": {"name": "Web"}}),
                "\"Web\" is not a DNS subdomain",
            ),
            (json!({"metadata": {"name": "a..b"}}), "not a DNS subdomain"),
            (json!({"metadata": {"name": "-a"}}), "not a DNS subdomain"),
            (json!({"metadata": {"name": "a/b"}}), "not a DNS subdomain"),
            (json!({"metadata": {"name": "名"}}), "not a DNS subdomain"),
            (json!({"metadata": {"name": long}}), "not a DNS subdomain"),
            (
                json!({"metadata": {"name": "a", "namespace": "a.b"}}),
                "metadata.namespace \"a.b\"",
            ),
            (
                json!({"metadata": {"name": "a", "namespace": label}}),
                "not a DNS label",
            ),
            (
                json!({"metadata": {"name": "a", "namespace": 1}}),
                "metadata.namespace must be",
            ),
            (
                json!({"metadata": {"name": "a", "labels": []}}),
                "metadata.labels must be",
            ),
            (
                json!({"metadata": {"name": "a", "labels": {"x": 1}}}),
                "value of x must be a text",
            ),
            (
                json!({"metadata": {"name": "a", "labels": {"x": "a b"}}}),
                "value \"a b\" of x",
            ),
            (
                json!({"metadata": {"name": "a", "labels": {"": "a"}}}),
                "the key \"\"",
            ),
            (
                json!({"metadata": {"name": "a", "labels": {"A/b": "a"}}}),
                "the key \"A/b\"",
            ),
            (
                json!({"metadata": {"name": "a"}, "kind": "PodList"}),
                "kind is PodList",
            ),
            (
                json!({"metadata": {"name": "a"}, "kind": 1}),
                "kind must be a text",
            ),
            (
                json!({"metadata": {"name": "a"}, "spec": 1}),
                "spec must be",
            ),
            (
                json!({"metadata": {"name": "a"}, "status": {"phase": 1}}),
                "status.phase must be",
            ),
            (
                json!({"metadata": {"name": "a", "uid": 1}}),
                "metadata.uid must be a text",
            ),
            (
                json!({"metadata": {"name": "a", "ownerReferences": {}}}),
                "metadata.ownerReferences must be a JSON array",
            ),
            (
                json!({"metadata": {"name": "a", "ownerReferences": ["b"]}}),
                "metadata.ownerReferences: each must be a JSON object",
            ),
            (
                json!({"metadata": {"name": "a", "ownerReferences": [{"name": 7}]}}),
                "metadata.ownerReferences.name must be a text",
            ),
        ] {
            let error = from_json(value.clone()).unwrap_err();
            assert!(error.contains(part), "{value}: {error}");
        }
        let node = to_write(json!({"metadata": {"name": "a"}, "spec": {"nodeName": "N@de"}}));
        let Text { en, zh } = node.unwrap_err();
        assert!(
            en.contains("spec.nodeName \"N@de\" is not a DNS subdomain")
                && zh.contains("spec.nodeName \"N@de\" 不是 DNS subdomain")
        );
        assert!(parse("{").unwrap_err().contains("not JSON"));
        let large = format!("\"{}\"", "x".repeat(MAX_OBJECT));
        assert!(parse(&large).unwrap_err().contains("at most 1572864"));
    }

    #[test]
    fn owners_are_read_and_written_back() {
        let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d4", "uid": "u",
            "controller": true});
        let value = json!({"metadata": {"name": "a", "ownerReferences": [owner]}});
        let object = from_json(value.clone()).unwrap();
        assert_eq!(crate::source::write::object(&object), value);
        let owner = object.metadata.owner_references.unwrap().remove(0);
        assert_eq!((&*owner.kind, &*owner.uid), ("ReplicaSet", "u"));
    }

    #[test]
    fn label_keys_may_have_a_prefix() {
        let value = json!({"metadata": {"name": "a", "labels": {
            "app.kubernetes.io/name": "web", "Tier_1": "", "x": "v1.2_B"}}});
        assert_eq!(from_json(value).unwrap().metadata.labels.unwrap().len(), 3);
    }
}
