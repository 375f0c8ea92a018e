//! Scenarios and inputs of all kinds.

use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{ProcessMode, Request};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::world::fields::{Put as _, Read};
use deltascope::world::source::pod::{self, Write};
use deltascope::world::source::scenario::{Entry, Scenario};
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{Input, Question, Settings};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn text() -> impl Strategy<Value = String> {
    select(vec![
        "",
        "a",
        "{name}: {phase}",
        "名 \"\n",
        "app=web",
        "---",
    ])
    .prop_map(str::to_owned)
}

fn arc() -> impl Strategy<Value = Arc<str>> {
    text().prop_map(Arc::from)
}

fn ms() -> impl Strategy<Value = u64> {
    select(vec![0, 1, 500, 20_000, 1_000_000_000_000])
}

fn mode() -> impl Strategy<Value = ProcessMode> {
    select(vec![
        ProcessMode::Free,
        ProcessMode::Held,
        ProcessMode::Paced(0),
        ProcessMode::Paced(700),
    ])
}

fn generation() -> impl Strategy<Value = Generation> {
    select(Generation::ALL.to_vec())
}

/// An object as somebody writes it.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    select(vec![
        json!({ "metadata": { "name": "a" } }),
        json!({ "metadata": { "name": "a", "namespace": "", "labels": {}, "annotations": {} } }),
        json!({ "metadata": { "name": "web-0", "namespace": "default", "labels": { "app": "web" },
            "uid": "u", "resourceVersion": "7", "annotations": { "b": "" } },
            "spec": { "nodeName": "n1", "more": [null, 1.5, { "@": [0, 1] }] },
            "status": { "phase": "Running" } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" } }),
        json!({ "apiVersion": "v2", "kind": "Pod", "metadata": { "name": "d" } }),
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "d" }, "type": "x" }),
    ])
}

/// Any of these values.
fn any_of<T: Clone + Into<Value> + std::fmt::Debug + 'static>(
    values: &[T],
) -> BoxedStrategy<Value> {
    select(values.to_vec()).prop_map(Into::into).boxed()
}

/// Any of this type.
fn any_such<T: Arbitrary + Into<Value> + 'static>() -> BoxedStrategy<Value> {
    any::<T>().prop_map(Into::into).boxed()
}

fn several(of: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    vec(of, 0..3).prop_map(Value::from).boxed()
}

/// Some of these fields.
fn some<const N: usize>(fields: [(&'static str, BoxedStrategy<Value>); N]) -> BoxedStrategy<Value> {
    let fields = fields.map(|(name, value)| {
        let field = value.prop_map(move |value| (name.to_owned(), value));
        option::of(field)
    });
    let fields = fields.into_iter().collect::<Vec<_>>();
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect()))
        .boxed()
}

fn handler() -> BoxedStrategy<Value> {
    let (words, lines) = (
        || text().prop_map(Value::from).boxed(),
        || several(text().prop_map(Value::from)),
    );
    some([
        ("name", words()),
        ("inline", any_such::<bool>()),
        ("latencyMs", any_of(&[0, 1, 900])),
        ("resyncMs", ms().prop_map(Value::from).boxed()),
        ("filter", words()),
        ("panicsAt", words()),
        ("mutates", words()),
        ("queues", any_such::<bool>()),
        ("callsHasSynced", any_such::<bool>()),
        ("onAdd", lines()),
        ("onUpdate", lines()),
        ("onDelete", lines()),
    ])
}

fn question() -> impl Strategy<Value = Question> {
    (arc(), arc(), any::<bool>()).prop_map(|(index, value, json)| Question { index, value, json })
}

fn refusals() -> impl Strategy<Value = Refusals> {
    let kinds = vec![
        ApiErrorKind::Expired,
        ApiErrorKind::TooLarge,
        ApiErrorKind::TooManyRequests,
        ApiErrorKind::ConnectionRefused,
        ApiErrorKind::InternalError,
        ApiErrorKind::Forbidden,
        ApiErrorKind::Invalid,
    ];
    let requests = vec![Request::List, Request::Watch];
    (select(requests), select(kinds), 0..4_u32).prop_map(|(request, kind, times)| Refusals {
        request,
        kind,
        times,
    })
}

/// What somebody does.
pub(crate) fn input() -> impl Strategy<Value = Input<Command>> {
    let write = |write| Input::Source(Command::Write(write));
    let read = |value: Value| pod::from_json(value).unwrap();
    prop_oneof![
        object().prop_map(move |object| write(Write::Create(read(object)))),
        object().prop_map(move |object| write(Write::Update(read(object)))),
        object().prop_map(move |object| write(Write::delete(read(object)))),
        select(vec![
            Input::Source(Command::Cut),
            Input::Source(Command::Compact),
            Input::Source(Command::Close),
            Input::Source(Command::Bookmark),
            Input::Pop,
        ]),
        mode().prop_map(Input::Mode),
        any::<bool>().prop_map(Input::KnownObjects),
        select(vec![0, 410, 500]).prop_map(|code| Input::Source(Command::ErrorEvent(code))),
        refusals().prop_map(|refusals| Input::Source(Command::Refuse(refusals))),
        handler().prop_map(|handler| Input::AddHandler(Read::read(handler).unwrap())),
        (0..3_u8).prop_map(Input::RemoveHandler),
        arc().prop_map(Input::Print),
        question().prop_map(Input::Ask),
    ]
}

/// Settings of all kinds, from their JSON.
pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let words = || text().prop_map(Value::from).boxed();
    let (on, many) = (any_such::<bool>, || several(words()));
    let pair = || text().prop_map(|text| format!("{text}=x").into()).boxed();
    let mode = mode().prop_map(|mode| mode.written());
    let generation = generation().prop_map(|era| era.written());
    let fails = (text(), any::<u8>(), any::<bool>())
        .prop_map(|(at, times, requeue)| json!({"at": at, "times": times, "requeue": requeue}));
    let settings = some([
        ("seed", any_such::<u64>()),
        ("interleave", on()),
        ("jitter", any_such::<u32>()),
        ("feed", any_of(&["server", "recorded", "program"])),
        (
            "machinery",
            any_of(&["handMade", "plain", "shared", "indexer", "client"]),
        ),
        ("keySeparator", words()),
        (
            "prints",
            some([("onList", many()), ("onEvent", many()), ("onSync", many())]),
        ),
        ("era", generation.boxed()),
        ("watchList", on()),
        ("refusesStreaming", on()),
        ("withholdsInitialEventsEnd", on()),
        ("selector", any_of(&["", "app=web", "!b,a in (x,y)"])),
        ("repeats", many()),
        ("pageSize", any_of(&[0, 1, 2])),
        ("resyncMs", ms().prop_map(Value::from).boxed()),
        ("knownObjects", on()),
        ("store", on()),
        ("emitDeltaTypeReplaced", on()),
        ("indices", many()),
        ("typeDescription", words()),
        ("mode", mode.boxed()),
        (
            "transform",
            some([("rejects", pair()), ("sets", pair()), ("appends", pair())]),
        ),
        ("processMs", any_of(&[0, 1, 300])),
        ("processFails", fails.boxed()),
        ("byType", on()),
        ("handlers", several(handler())),
        ("mutationDetector", on()),
        (
            "work",
            some([
                ("workers", any_of(&[0, 1, 2])),
                ("latencyMs", any_of(&[0, 99])),
                ("failures", any_of(&[0, 1, 2])),
            ]),
        ),
    ]);
    settings.prop_map(|settings| {
        // Where nothing speaks against a FIFO, it is one.
        let mut with_fifo = settings.clone();
        with_fifo["queue"] = "FIFO".into();
        Settings::read(with_fifo)
            .or_else(|_| Settings::read(settings))
            .unwrap()
    })
}

/// Scenarios of all kinds.
pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let alone = || {
        let entry = (ms(), input()).prop_map(|(at, input)| Entry { at, input });
        let object = object().prop_map(|object| Arc::new(pod::from_json(object).unwrap()));
        let script = vec(entry, 0..4);
        let traffic = option::of(any::<u64>());
        (
            settings(),
            vec(object, 0..3),
            script,
            traffic,
            vec(0..9_u32, 0..3),
        )
            .prop_map(|(settings, initial, script, traffic, drops)| Scenario {
                settings,
                initial,
                script,
                traffic,
                drops,
                ..Scenario::default()
            })
    };
    (alone(), vec(alone(), 0..2)).prop_map(|(scenario, beside)| Scenario { beside, ..scenario })
}

/// Any JSON, with few names, so that values have much in common.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(vec![
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!("a"),
            json!({ "@": [0, 1] })
        ]),
        (0..4_u8).prop_map(|n| json!({ "@": [n, n % 2, n] })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = select(vec!["a", "b", "@"]).prop_map(str::to_owned);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name, inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
