//! Writes scenarios, inputs and recorded streams as JSON that reads back as the same value.
//!
//! Fields with their default value are left out, except the generation. So a default must never change: a
//! link shared today would become another run.

use kube_core::DynamicObject;
use serde_json::{Map, Value};

use crate::virtual_time::{
    HandlerSettings, Input, PrintSettings, ProcessFailure, ProcessModeText, Settings,
    TransformSettings, WorkSettings,
};
use deltascope_cache::fact::{EventType, ProcessMode, WatchEnd};
use deltascope_cache::lister_watcher::ApiErrorKind;

use super::Command;
use super::live::{ResponsePart, ServerResponse};
use super::pod::Write;
use super::scenario::{Act, Entry, Scenario, refusal_name};
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
        settings: built,
        initial,
        script,
        traffic,
        drops,
        beside,
        recorded: _,
    } = scenario;
    let mut fields = Fields::default();
    fields.put("settings", settings(built));
    fields.put("initial", Value::Array(initial.clone()));
    fields.put("script", array(script.iter().map(entry)));
    fields.some("traffic", traffic.map(Value::from));
    fields.put("drops", array(drops.iter().map(|n| Value::from(*n))));
    fields.put("beside", array(beside.iter().map(self::scenario)));
    fields.done()
}

/// The settings of a world, as JSON.
#[must_use]
pub fn settings(settings: &Settings) -> Value {
    let Settings {
        seed,
        interleave,
        jitter,
        source,
        informer,
        queue,
        key_separator,
        prints,
        era,
        watch_list,
        refuses_streaming,
        withholds_initial_events_end,
        selector,
        repeats,
        page_size,
        resync_ms,
        known_objects,
        store,
        emit_delta_type_replaced,
        indices,
        type_description,
        mode,
        transform,
        process_ms,
        process_fails,
        by_type,
        handlers,
        mutation_detector,
        work,
    } = settings;
    let PrintSettings {
        on_list,
        on_event,
        on_sync,
    } = prints;
    let mut lines = Fields::default();
    lines.put("onList", texts(on_list));
    lines.put("onEvent", texts(on_event));
    lines.put("onSync", texts(on_sync));

    let mut fields = Fields::default();
    fields.put("seed", (*seed).into());
    fields.put("interleave", (*interleave).into());
    fields.some("jitter", jitter.map(Value::from));
    fields.put("feed", chosen(source, source.as_str()));
    fields.put("machinery", chosen(informer, informer.as_str()));
    fields.put("queue", chosen(queue, queue.as_str()));
    fields.some("keySeparator", key_separator.as_deref().map(Value::from));
    fields.put("prints", lines.done());
    fields.put("era", era.0.version().into());
    fields.some("watchList", watch_list.map(Value::from));
    fields.put("refusesStreaming", (*refuses_streaming).into());
    fields.put(
        "withholdsInitialEventsEnd",
        (*withholds_initial_events_end).into(),
    );
    let selector = selector.as_ref().map(ToString::to_string);
    fields.some("selector", selector.map(Value::from));
    fields.put("repeats", texts(repeats));
    fields.put("pageSize", (*page_size).into());
    fields.put("resyncMs", (*resync_ms).into());
    fields.put("knownObjects", (*known_objects).into());
    fields.put("store", (*store).into());
    fields.put("emitDeltaTypeReplaced", (*emit_delta_type_replaced).into());
    fields.put("indices", texts(indices));
    fields.some(
        "typeDescription",
        type_description.as_deref().map(Value::from),
    );
    let free = mode.0 == ProcessMode::Free;
    fields.some("mode", (!free).then(|| ProcessModeText(mode.0).into()));
    fields.some("transform", transform.as_ref().map(self::transform));
    fields.put("processMs", (*process_ms).into());
    let fails = process_fails.as_ref();
    fields.some("processFails", fails.map(self::process_fails));
    fields.put("byType", (*by_type).into());
    fields.put("handlers", array(handlers.iter().map(handler)));
    fields.put("mutationDetector", (*mutation_detector).into());
    fields.some("work", work.as_ref().map(self::work));
    fields.done()
}

/// An entry of a script.
#[must_use]
pub fn entry(entry: &Entry) -> Value {
    let mut fields = Fields::default();
    fields.some("at", Some(entry.at.into()));
    act(&entry.act, &mut fields);
    fields.done()
}

/// An input as the script entry that does the same at this time; `more` holds fields that come before the
/// operation.
#[must_use]
pub fn input(at: u64, more: &[(&str, u64)], input: &Input<Command>) -> Value {
    let mut fields = Fields::default();
    fields.some("at", Some(at.into()));
    for (name, value) in more {
        fields.some(name, Some((*value).into()));
    }
    act(&act_of(input), &mut fields);
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
    let mut metadata = Fields::default();
    metadata.put("resourceVersion", (&*list.rv).into());
    metadata.put("continue", if list.partial { "more" } else { "" }.into());
    let mut fields = Fields::default();
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
    let mut object = Fields::default();
    let (kind, object) = match event {
        RecordedEvent::Object { event, object } => (*event, whole_object(object)),
        RecordedEvent::Bookmark {
            rv,
            initial_events_end,
        } => {
            let mut annotations = Fields::default();
            if *initial_events_end {
                annotations.put("k8s.io/initial-events-end", "true".into());
            }
            let mut metadata = Fields::default();
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
            let mut details = Fields::default();
            details.put("causes", array(causes.iter().map(|text| cause(text))));
            object.put("details", details.done());
            (EventType::Error, object.done())
        }
        RecordedEvent::Cut { bytes } => {
            object.some("cut", Some((*bytes).into()));
            return object.done();
        }
    };
    let mut fields = Fields::default();
    fields.put("type", kind.as_str().into());
    fields.some("object", Some(object));
    fields.done()
}

fn cause(text: &str) -> Value {
    let mut fields = Fields::default();
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
    let mut fields = Fields::default();
    if let Some(start) = &recorded.start {
        fields.put("list", list(start));
        fields.put("items", array(items(start)));
    }
    if recorded.has_watch {
        fields.some("events", Some(array(recorded.events.iter().map(event))));
    }
    fields.done()
}

fn handler(handler: &HandlerSettings) -> Value {
    let HandlerSettings {
        name,
        inline,
        latency_ms,
        resync_ms,
        filter,
        panics_at,
        mutates,
        queues,
        calls_has_synced,
        on_add,
        on_update,
        on_delete,
    } = handler;
    let mut fields = Fields::default();
    fields.put("name", (&**name).into());
    fields.put("inline", (*inline).into());
    fields.put("latencyMs", (*latency_ms).into());
    fields.some("resyncMs", resync_ms.map(Value::from));
    for (name, text) in [
        ("filter", filter),
        ("panicsAt", panics_at),
        ("mutates", mutates),
    ] {
        fields.some(name, text.as_deref().map(Value::from));
    }
    fields.put("queues", (*queues).into());
    fields.put("callsHasSynced", (*calls_has_synced).into());
    fields.put("onAdd", texts(on_add));
    fields.put("onUpdate", texts(on_update));
    fields.put("onDelete", texts(on_delete));
    fields.done()
}

fn transform(transform: &TransformSettings) -> Value {
    let TransformSettings {
        rejects,
        sets,
        appends,
    } = transform;
    let mut fields = Fields::default();
    for (name, pair) in [("rejects", rejects), ("sets", sets), ("appends", appends)] {
        fields.some(name, pair.as_deref().map(Value::from));
    }
    fields.done()
}

fn process_fails(fails: &ProcessFailure) -> Value {
    let ProcessFailure { at, times, requeue } = fails;
    let mut fields = Fields::default();
    fields.some("at", Some((&**at).into()));
    fields.some("times", Some((*times).into()));
    fields.put("requeue", (*requeue).into());
    fields.done()
}

fn work(work: &WorkSettings) -> Value {
    let WorkSettings {
        workers,
        latency_ms,
        failures,
    } = work;
    let mut fields = Fields::default();
    fields.some("workers", Some((*workers).into()));
    fields.put("latencyMs", (*latency_ms).into());
    fields.put("failures", (*failures).into());
    fields.done()
}

/// An input as an entry of a script.
fn act_of(input: &Input<Command>) -> Act {
    match input {
        Input::Source(Command::Write(Write::Create(made))) => Act::Create {
            object: object(made),
        },
        Input::Source(Command::Write(Write::Update(changed))) => Act::Update {
            object: object(changed),
        },
        Input::Source(Command::Write(Write::Delete { namespace, name })) => {
            let mut metadata = Fields::default();
            metadata.put("namespace", (&**namespace).into());
            metadata.put("name", (&**name).into());
            let mut object = Fields::default();
            object.put("metadata", metadata.done());
            Act::Delete {
                object: object.done(),
            }
        }
        Input::Source(Command::Cut) => Act::Cut,
        Input::Source(Command::Compact) => Act::Compact,
        Input::Source(Command::Close) => Act::Close,
        Input::Source(Command::Bookmark) => Act::Bookmark,
        Input::Source(Command::ErrorEvent(code)) => Act::Error { code: *code },
        Input::Source(Command::Refuse(refusals)) => Act::Refuse {
            refusals: *refusals,
        },
        Input::Source(Command::Respond(responses)) => Act::Responses {
            responses: std::sync::Arc::clone(responses),
        },
        Input::Pop => Act::Pop,
        Input::Mode(mode) => Act::Mode {
            mode: ProcessModeText(*mode),
        },
        Input::KnownObjects(on) => Act::KnownObjects { on: *on },
        Input::AddHandler(handler) => Act::AddHandler {
            handler: handler.clone(),
        },
        Input::RemoveHandler(handler) => Act::RemoveHandler { handler: *handler },
        Input::Print(line) => Act::Print {
            line: std::sync::Arc::clone(line),
        },
        Input::Ask(question) => Act::Ask {
            question: question.clone(),
        },
    }
}

fn act(act: &Act, fields: &mut Fields) {
    let (op, arguments): (&str, Vec<(&str, Value)>) = match act {
        Act::Create { object } => ("create", vec![("object", object.clone())]),
        Act::Update { object } => ("update", vec![("object", object.clone())]),
        Act::Delete { object } => ("delete", vec![("object", object.clone())]),
        Act::Cut => ("cut", Vec::new()),
        Act::Compact => ("compact", Vec::new()),
        Act::Responses { responses } => {
            let responses = array(responses.iter().map(response));
            ("tell", vec![("told", responses)])
        }
        Act::Pop => ("pop", Vec::new()),
        Act::Mode { mode } => ("mode", vec![("mode", ProcessModeText(mode.0).into())]),
        Act::KnownObjects { on } => ("knownObjects", vec![("on", (*on).into())]),
        Act::Close => ("close", Vec::new()),
        Act::Bookmark => ("bookmark", Vec::new()),
        Act::Error { code } => ("error", vec![("code", (*code).into())]),
        Act::Refuse { refusals } => {
            let request = if refusals.watch { "watch" } else { "list" };
            let arguments = vec![
                ("request", request.into()),
                ("with", refusal_name(refusals.kind).into()),
                ("times", refusals.times.into()),
            ];
            ("refuse", arguments)
        }
        Act::AddHandler { handler } => ("addHandler", vec![("handler", self::handler(handler))]),
        Act::RemoveHandler { handler } => ("removeHandler", vec![("handler", (*handler).into())]),
        Act::Print { line } => ("print", vec![("line", (&**line).into())]),
        Act::Ask { question } => {
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
    let mut metadata = Fields::default();
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
            let mut fields = Fields::default();
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
    let mut fields = Fields::default();
    fields.some("request", Some(response.request.into()));
    let mut of = Fields::default();
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

/// The fields of an object.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    /// Adds a field, unless its value is empty.
    fn put(&mut self, name: &str, value: Value) {
        let blank = match &value {
            Value::Null => true,
            Value::Bool(on) => !on,
            Value::Number(number) => number.as_u64() == Some(0),
            Value::String(text) => text.is_empty(),
            Value::Array(values) => values.is_empty(),
            Value::Object(fields) => fields.is_empty(),
        };
        self.some(name, (!blank).then_some(value));
    }

    /// Adds a field that has a value, even an empty one.
    fn some(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

/// The word of a value; the default has none.
fn chosen<T: Default + PartialEq>(value: &T, word: &str) -> Value {
    if *value == T::default() {
        Value::Null
    } else {
        word.into()
    }
}

fn array(mut values: impl Iterator<Item = Value>) -> Value {
    collect(&mut values)
}

// One copy of this code, not one for each type of list.
fn collect(values: &mut dyn Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}

fn texts<T: AsRef<str>>(texts: &[T]) -> Value {
    array(texts.iter().map(|text| Value::from(text.as_ref())))
}
