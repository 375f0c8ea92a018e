//! `getState()`: the picture as JSON, in the words of the scripting interface.

use serde_json::{Map, Value, json};

use crate::cache::fact::{Actor, Entry, Notification, ObjectRef, Shape};
use crate::cache::fill::fill;
use crate::replay::picture::{Picture, QueueKind, ReflectorState};

use super::i18n::Lang;
use super::view::View;

/// The version of the scripting interface: it changes when a name or a meaning does.
pub const API_VERSION: &str = "1";

/// What `getState()` answers.
#[must_use]
pub fn state(view: &View, lang: Lang) -> Value {
    let picture = &*view.picture;
    json!({
        "lesson": &*view.lesson.id,
        "era": &*view.lesson.era,
        "knownObjects": picture.queue.known_objects,
        "playing": view.playing,
        "step": view.step,
        "steps": view.steps,
        "time": view.time,
        "lock": {
            "holder": picture.lock.holder.map(|actor| actor_id(actor, picture)),
            "waiting": picture.lock.waiting.iter()
                .map(|actor| actor_id(*actor, picture)).collect::<Vec<_>>(),
        },
        "api": {
            "resourceVersion": &*picture.api.rv,
            "objects": fill::<Map<_, _>, _>(picture.api.objects.iter()
                .filter(|(_, entry)| !entry.deleted)
                .map(|(key, entry)| (key.to_string(), json!(&*entry.object.rv)))),
        },
        "reflector": {
            "state": reflector_state(picture.reflector.state),
            "lastSyncResourceVersion": &*picture.reflector.last_sync,
        },
        "queue": queue(picture),
        "store": store(picture),
        "handlers": picture.handlers.iter().map(|handler| json!({
            "name": &*handler.name,
            "pending": handler.pending.len(),
            "notifications": handler.notifications.iter().map(notification).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "output": picture.output.iter().map(|line| &**line).collect::<Vec<_>>(),
        "error": view.error.as_ref().map(|error| json!({
            "message": error.message.get(lang),
            "line": error.line,
        })),
    })
}

/// A stable name of an actor, never translated.
fn actor_id(actor: Actor, picture: &Picture) -> String {
    match actor {
        Actor::Server => "api server".to_owned(),
        Actor::Program => "program".to_owned(),
        Actor::Reflector => "reflector".to_owned(),
        Actor::ProcessLoop => "process loop".to_owned(),
        Actor::Resync => "resync timer".to_owned(),
        Actor::Main => "main program".to_owned(),
        Actor::Worker(number) => format!("worker {number}"),
        Actor::Pop(number) | Actor::Listener(number) => picture
            .handlers
            .get(usize::from(number))
            .map_or_else(String::new, |handler| handler.name.to_string()),
    }
}

fn reflector_state(state: ReflectorState) -> &'static str {
    match state {
        ReflectorState::Idle => "idle",
        ReflectorState::List => "list",
        ReflectorState::Stream => "stream",
        ReflectorState::Watch => "watch",
        ReflectorState::Backoff => "backoff",
        ReflectorState::Stopped => "stopped",
    }
}

fn queue(picture: &Picture) -> Value {
    let queue = &picture.queue;
    if queue.kind == QueueKind::RealFifo {
        let items: Vec<Value> = queue.entries.iter().map(entry).collect();
        return json!({ "kind": queue.kind.as_str(), "items": items });
    }
    let deltas: Map<String, Value> = fill(queue.deltas.iter().map(|(key, deltas)| {
        let deltas: Vec<Value> = deltas
            .iter()
            .map(|(delta_type, object)| json!([delta_type.as_str(), reference(object)]))
            .collect();
        (key.to_string(), Value::from(deltas))
    }));
    let keys: Vec<&str> = queue.keys.iter().map(|key| &**key).collect();
    json!({ "kind": queue.kind.as_str(), "keys": keys, "deltas": deltas })
}

fn store(picture: &Picture) -> Value {
    let store = &picture.store;
    let items: Map<String, Value> = fill(
        store
            .items
            .iter()
            .map(|(key, object)| (key.to_string(), reference(object))),
    );
    let mut indices = Map::new();
    if store.present {
        for (name, values) in &store.indices {
            let values: Map<String, Value> = fill(values.iter().map(|(value, keys)| {
                let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
                (value.to_string(), json!(keys))
            }));
            indices.insert(name.to_string(), Value::from(values));
        }
    }
    json!({ "items": items, "indices": indices })
}

fn entry(entry: &Entry) -> Value {
    match entry {
        Entry::Delta(delta_type, object) => {
            json!([delta_type.as_str(), &*object.key, reference(object)])
        }
        Entry::ReplacedAll { rv, objects } => {
            let objects: Vec<Value> = objects
                .iter()
                .map(|object| json!([&*object.key, reference(object)]))
                .collect();
            json!(["ReplacedAll", null, { "rv": &**rv, "objects": objects }])
        }
        Entry::SyncAll => json!(["SyncAll", null, null]),
        Entry::Bookmark { rv } => json!(["Bookmark", null, { "rv": &**rv }]),
    }
}

fn notification(notification: &Notification) -> Value {
    match notification {
        Notification::Add {
            object,
            is_in_initial_list,
        } => json!(["add", &*object.key, reference(object), is_in_initial_list]),
        Notification::Update { old, new } => json!([
            "update",
            &*new.key,
            old.as_ref().map_or(Value::Null, reference),
            reference(new)
        ]),
        Notification::Delete { object } => {
            let tombstone = matches!(object.shape, Shape::Tombstone | Shape::EmptyTombstone);
            let inner = if object.shape == Shape::EmptyTombstone {
                Value::Null
            } else {
                json!(&*object.rv)
            };
            json!(["delete", &*object.key, inner, tombstone])
        }
    }
}

/// An object as the recorded vectors write it.
fn reference(object: &ObjectRef) -> Value {
    match object.shape {
        Shape::Object => json!(&*object.rv),
        Shape::Tombstone => json!({ "tombstone": &*object.rv }),
        Shape::EmptyTombstone => json!({ "tombstone": null }),
        Shape::ExplicitKey => json!({ "explicitKey": &*object.key }),
        Shape::Opaque => json!(&*object.key),
    }
}
