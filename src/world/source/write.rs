//! Writes scenarios, inputs and recorded streams as JSON that reads back as the same value.
//!
//! Fields with their default value are left out, except the generation. So a default must never change: a
//! link shared today would become another run.

use kube_core::DynamicObject;
use serde_json::{Map, Value};

use crate::fields::{Put as _, Written};
use crate::virtual_time::Input;
use deltascope_cache::fact::{EventType, WatchEnd};
use deltascope_cache::lister_watcher::ApiErrorKind;

use super::Command;
use super::live::{ResponsePart, ServerResponse};
use super::pod::Write;
use super::scenario::{Entry, Scenario, refusal_name};
use super::wire::{Recorded, RecordedEvent, RecordedList};

/// Whether two scenarios give the same run.
#[must_use]
pub fn is_same(one: &Scenario, other: &Scenario) -> bool {
    scenario(one) == scenario(other) && one.recorded == other.recorded
}

/// A scenario without its recording, which may be large: [`list`] and [`event`] write that.
#[must_use]
pub fn scenario(scenario: &Scenario) -> Value {
    let Scenario {
        settings,
        initial,
        script,
        traffic,
        drops,
        beside,
        recorded: _,
    } = scenario;
    let mut fields = Written::default();
    fields.put("settings", settings.written());
    fields.put("initial", array(initial.iter().map(|one| object(one))));
    fields.put("script", array(script.iter().map(entry)));
    fields.some("traffic", traffic.map(Value::from));
    fields.put("drops", array(drops.iter().map(|n| Value::from(*n))));
    fields.put("beside", array(beside.iter().map(self::scenario)));
    fields.done()
}

/// An entry of a script.
#[must_use]
pub fn entry(entry: &Entry) -> Value {
    input(entry.at, &[], &entry.input)
}

/// An input as the script entry that does the same at this time; `more` holds fields that come before the
/// operation.
#[must_use]
pub fn input(at: u64, more: &[(&str, u64)], input: &Input<Command>) -> Value {
    let mut fields = Written::default();
    fields.some("at", Some(at.into()));
    for (name, value) in more {
        fields.some(name, Some((*value).into()));
    }
    operation(input, &mut fields);
    fields.done()
}

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

/// A scenario with its recording, as one value.
#[must_use]
pub fn whole(scenario: &Scenario) -> Value {
    let mut written = self::scenario(scenario);
    if let (Value::Object(fields), Some(recorded)) = (&mut written, &scenario.recorded) {
        fields.insert("recorded".to_owned(), self::recorded(recorded));
    }
    written
}

fn recorded(recorded: &Recorded) -> Value {
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

fn operation(input: &Input<Command>, fields: &mut Written) {
    let (op, arguments): (&str, Vec<(&str, Value)>) = match input {
        Input::Source(Command::Write(Write::Create(made))) => {
            ("create", vec![("object", object(made))])
        }
        Input::Source(Command::Write(Write::Update(changed))) => {
            ("update", vec![("object", object(changed))])
        }
        Input::Source(Command::Write(Write::Delete { namespace, name })) => {
            let mut metadata = Written::default();
            metadata.put("namespace", (&**namespace).into());
            metadata.put("name", (&**name).into());
            let mut object = Written::default();
            object.put("metadata", metadata.done());
            ("delete", vec![("object", object.done())])
        }
        Input::Source(Command::Cut) => ("cut", Vec::new()),
        Input::Source(Command::Compact) => ("compact", Vec::new()),
        Input::Source(Command::Respond(responses)) => {
            let responses = array(responses.iter().map(response));
            ("tell", vec![("told", responses)])
        }
        Input::Pop => ("pop", Vec::new()),
        Input::Mode(mode) => ("mode", vec![("mode", mode.written())]),
        Input::KnownObjects(on) => ("knownObjects", vec![("on", (*on).into())]),
        Input::Source(Command::Close) => ("close", Vec::new()),
        Input::Source(Command::Bookmark) => ("bookmark", Vec::new()),
        Input::Source(Command::ErrorEvent(code)) => ("error", vec![("code", (*code).into())]),
        Input::Source(Command::Refuse(refusals)) => {
            let request = if refusals.watch { "watch" } else { "list" };
            let arguments = vec![
                ("request", request.into()),
                ("with", refusal_name(refusals.kind).into()),
                ("times", refusals.times.into()),
            ];
            ("refuse", arguments)
        }
        Input::AddHandler(handler) => ("addHandler", vec![("handler", handler.written())]),
        Input::RemoveHandler(handler) => ("removeHandler", vec![("handler", (*handler).into())]),
        Input::Print(line) => ("print", vec![("line", (&**line).into())]),
        Input::Ask(question) => {
            let form = if question.json { "json" } else { "go" };
            let arguments = vec![
                ("index", (&*question.index).into()),
                ("value", (&*question.value).into()),
                ("as", form.into()),
            ];
            ("ask", arguments)
        }
    };
    fields.some("op", Some(op.into()));
    for (name, value) in arguments {
        fields.some(name, Some(value));
    }
}

fn whole_object(object: &DynamicObject) -> Value {
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

/// A response to a request. For a page it holds only the number of objects: [`response_items`] writes these
/// apart, because together they exceed the longest line.
fn response(response: &ServerResponse) -> Value {
    let mut fields = Written::default();
    fields.some("request", Some(response.request.into()));
    let mut of = Written::default();
    match &response.part {
        ResponsePart::Page(page) => {
            of.put("resourceVersion", (&*page.rv).into());
            of.put("continue", (&*page.continue_token).into());
            of.some("count", Some(page.items.len().into()));
            fields.some("page", Some(of.done()));
        }
        ResponsePart::Opened => fields.some("opened", Some(true.into())),
        ResponsePart::Refused(error) => {
            of.some("code", Some(error.code.into()));
            of.put("reason", (&*error.reason).into());
            of.put("message", (&*error.message).into());
            of.put("tooLarge", error.is_too_large_resource_version().into());
            let refused = error.kind == ApiErrorKind::ConnectionRefused;
            of.put("connectionRefused", refused.into());
            fields.some("refused", Some(of.done()));
        }
        ResponsePart::Later {
            code,
            after_ms,
            attempt,
        } => {
            of.some("code", Some((*code).into()));
            of.some("afterMs", Some((*after_ms).into()));
            of.some("attempt", Some((*attempt).into()));
            fields.some("later", Some(of.done()));
        }
        ResponsePart::Event(event) => fields.some("event", Some(self::event(event))),
        ResponsePart::Ended(end) => {
            let (word, bytes) = match end {
                WatchEnd::Closed => ("closed", None),
                WatchEnd::Silent => ("silent", None),
                WatchEnd::CutInLine(bytes) => ("cut", Some((*bytes).into())),
                WatchEnd::Cut | WatchEnd::Failed(..) | WatchEnd::TooMuch(_) => ("cut", None),
            };
            fields.some("ended", Some(word.into()));
            fields.some("bytes", bytes);
        }
    }
    fields.done()
}

/// The objects of all pages among the responses, in order.
pub fn response_items(responses: &[ServerResponse]) -> impl Iterator<Item = Value> {
    responses
        .iter()
        .filter_map(|response| match &response.part {
            ResponsePart::Page(page) => Some(page.items.iter().map(|object| whole_object(object))),
            _ => None,
        })
        .flatten()
}

fn array(mut values: impl Iterator<Item = Value>) -> Value {
    collect(&mut values)
}

// One copy of this code, not one for each type of list.
fn collect(values: &mut dyn Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}
