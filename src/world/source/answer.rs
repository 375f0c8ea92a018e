//! How a source's server answers: the facts of its responses, and the items of its watch.

use std::sync::Arc;

use kube_core::DynamicObject;

use deltascope_cache::fact::{
    EventType, Fact, ObjectRef, Reason, Request, Rv, ServerFact, Shape, Verb,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::{ApiError, WatchItem};
use deltascope_cache::object::{Item, Object};
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::pod::Write;
use super::wire::RecordedEvent;

/// The server answers a list, or a page of one, with `count` objects.
pub(super) fn list_answered(rv: &Rv, count: usize, trace: &mut impl Trace) {
    trace.fact(Step::ServerList, || {
        Fact::Server(ServerFact::ListAnswered {
            rv: Arc::clone(rv),
            count: count as u32,
        })
    });
}

/// The server accepts a watch from this version.
pub(super) fn watch_accepted(rv: &Rv, trace: &mut impl Trace) {
    trace.fact(Step::ServerWatch, || {
        Fact::Server(ServerFact::WatchAccepted { rv: Arc::clone(rv) })
    });
}

/// The server refuses a watch, or a list.
pub(super) fn denied(request: Request, code: u16, reason: Arc<str>, trace: &mut impl Trace) {
    trace.fact(request.step(), || {
        Fact::Server(match request {
            Request::Watch => ServerFact::WatchDenied { code, reason },
            Request::List => ServerFact::ListRefused {
                code,
                reason: Reason::Text(reason),
            },
        })
    });
}

/// No connection was possible, for a watch or a list.
pub(super) fn refused_to_connect(request: Request, trace: &mut impl Trace) {
    trace.fact(request.step(), || {
        Fact::Server(ServerFact::ConnectionRefused)
    });
}

/// An event of a recording as the watch delivers it: its type, what facts name of its object, and the item.
///
/// # Errors
/// The bytes that had arrived of a line in which the connection broke.
pub fn item_of(
    event: RecordedEvent,
) -> Result<(EventType, ObjectRef, WatchItem<DynamicObject>), u32> {
    Ok(match event {
        RecordedEvent::Object { event, object } => {
            let sent = reference(&key_of(&object), &object);
            (event, sent, WatchItem::Event(event, Item::Object(object)))
        }
        RecordedEvent::Bookmark {
            rv,
            initial_events_end,
        } => {
            let item = WatchItem::Bookmark {
                resource_version: Arc::clone(&rv),
                initial_events_end,
            };
            (EventType::Bookmark, ObjectRef::bare(rv), item)
        }
        RecordedEvent::Error {
            code,
            reason,
            message,
            causes,
        } => {
            let causes = causes.iter().map(String::as_str);
            let error = ApiError::from_status(code, &reason, &message, causes);
            (
                EventType::Error,
                ObjectRef::bare(Rv::default()),
                WatchItem::Error(error),
            )
        }
        RecordedEvent::Cut { bytes } => return Err(bytes),
    })
}

pub(super) fn write_target(write: &Write) -> (Verb, Key) {
    match write {
        Write::Create(object) => (Verb::Create, key_of(object)),
        Write::Update(object) => (Verb::Update, key_of(object)),
        Write::Delete { namespace, name } => (Verb::Delete, Key::join(namespace, name)),
    }
}

/// The object's key: its namespace, a slash and its name.
#[must_use]
pub fn key_of(object: &DynamicObject) -> Key {
    Key::join(object.namespace(), object.name())
}

/// The reference that facts hold of an object.
pub fn reference(key: &Key, object: &DynamicObject) -> ObjectRef {
    ObjectRef {
        key: key.clone(),
        shape: Shape::Object,
        rv: object.resource_version().into(),
        uid: object.uid().into(),
    }
}
