//! Writes objects and recorded streams as JSON that reads back as the same value.

use kube_core::DynamicObject;
use serde_json::{Map, Value};

use crate::fields::Written;
use deltascope_cache::fact::EventType;

use super::wire::{Recorded, RecordedEvent, RecordedList};

/// An object, with the fields that are kept of it. `kind` and `apiVersion` of a v1 Pod are left out, because
/// they are the default.
#[must_use]
pub fn object(object: &DynamicObject) -> Value {
    let mut written = whole_object(object);
    if let Value::Object(fields) = &mut written
        && fields.get("apiVersion").is_some_and(|text| text == "v1")
        && fields.get("kind").is_some_and(|text| text == "Pod")
    {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    written
}

/// A recorded list without its items.
#[must_use]
pub fn list(list: &RecordedList) -> Value {
    let mut metadata = Written::default();
    metadata.put("resourceVersion", (&*list.rv).into());
    metadata.put("continue", if list.partial { "more" } else { "" }.into());
    let mut fields = Written::default();
    fields.some("kind", Some(format!("{}List", list.kind).into()));
    fields.put("metadata", metadata.done());
    fields.done()
}

/// The objects of a recorded list.
pub fn items(list: &RecordedList) -> impl Iterator<Item = Value> {
    list.items.iter().map(|object| whole_object(object))
}

/// An event as the server sent it; for a broken connection, how many bytes of the line had arrived.
#[must_use]
pub fn event(event: &RecordedEvent) -> Value {
    let mut object = Written::default();
    let (kind, object) = match event {
        RecordedEvent::Object { event, object } => (*event, whole_object(object)),
        RecordedEvent::Bookmark {
            rv,
            initial_events_end,
        } => {
            let mut annotations = Written::default();
            if *initial_events_end {
                annotations.put("k8s.io/initial-events-end", "true".into());
            }
            let mut metadata = Written::default();
            metadata.put("resourceVersion", (&**rv).into());
            metadata.put("annotations", annotations.done());
            object.put("metadata", metadata.done());
            (EventType::Bookmark, object.done())
        }
        RecordedEvent::Error {
            code,
            reason,
            message,
            causes,
        } => {
            object.put("kind", "Status".into());
            object.put("code", (*code).into());
            object.put("reason", (&**reason).into());
            object.put("message", (&**message).into());
            let mut details = Written::default();
            details.put("causes", array(causes.iter().map(|text| cause(text))));
            object.put("details", details.done());
            (EventType::Error, object.done())
        }
        RecordedEvent::Cut { bytes } => {
            object.some("cut", Some((*bytes).into()));
            return object.done();
        }
    };
    let mut fields = Written::default();
    fields.put("type", kind.as_str().into());
    fields.some("object", Some(object));
    fields.done()
}

fn cause(text: &str) -> Value {
    let mut fields = Written::default();
    fields.put("message", text.into());
    fields.done()
}

pub(super) fn recorded(recorded: &Recorded) -> Value {
    let mut fields = Written::default();
    if let Some(start) = &recorded.start {
        fields.put("list", list(start));
        fields.put("items", array(items(start)));
    }
    if recorded.has_watch {
        fields.some("events", Some(array(recorded.events.iter().map(event))));
    }
    fields.done()
}

pub(super) fn whole_object(object: &DynamicObject) -> Value {
    let mut fields = match &object.data {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    if let Some(types) = &object.types {
        fields.insert("apiVersion".to_owned(), types.api_version.clone().into());
        fields.insert("kind".to_owned(), types.kind.clone().into());
    }
    let of = &object.metadata;
    let mut metadata = Written::default();
    for (name, text) in [
        ("name", &of.name),
        ("namespace", &of.namespace),
        ("uid", &of.uid),
        ("resourceVersion", &of.resource_version),
    ] {
        metadata.some(name, text.as_deref().map(Value::from));
    }
    for (name, pairs) in [("labels", &of.labels), ("annotations", &of.annotations)] {
        let pairs = pairs.as_ref().map(|pairs| {
            let mut fields = Map::new();
            for (key, value) in pairs {
                fields.insert(key.clone(), value.as_str().into());
            }
            Value::Object(fields)
        });
        metadata.some(name, pairs);
    }
    let owners = of.owner_references.as_ref().map(|owners| {
        let owners = owners.iter().map(|owner| {
            let mut fields = Written::default();
            for (name, text) in [
                ("apiVersion", &owner.api_version),
                ("kind", &owner.kind),
                ("name", &owner.name),
                ("uid", &owner.uid),
            ] {
                fields.put(name, text.as_str().into());
            }
            fields.some("controller", owner.controller.map(Value::from));
            fields.done()
        });
        Value::Array(owners.collect())
    });
    metadata.some("ownerReferences", owners);
    fields.insert("metadata".to_owned(), metadata.done());
    Value::Object(fields)
}

pub(super) fn array(mut values: impl Iterator<Item = Value>) -> Value {
    collect(&mut values)
}

// One copy of this code, not one for each type of list.
fn collect(values: &mut dyn Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}
