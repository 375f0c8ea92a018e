//! Scenarios and inputs of all kinds.

use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::ProcessMode;
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::selector::Selector;
use deltascope::world::source::pod::{self, Write};
use deltascope::world::source::scenario::{Entry, Scenario};
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{
    HandlerSettings, InformerKind, Input, ManualQueue, PrintSettings, ProcessFailure, Question,
    Settings, SourceKind, TransformSettings, WorkSettings,
};
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

fn handler() -> impl Strategy<Value = HandlerSettings> {
    (
        (arc(), any::<bool>(), 0..900_u32, option::of(ms())),
        (option::of(arc()), option::of(arc()), option::of(arc())),
        any::<(bool, bool)>(),
        (vec(text(), 0..2), vec(text(), 0..2), vec(text(), 0..2)),
    )
        .prop_map(
            |(first, words, (queues, calls_has_synced), lines)| HandlerSettings {
                name: first.0,
                inline: first.1,
                latency_ms: first.2,
                resync_ms: first.3,
                filter: words.0,
                panics_at: words.1,
                mutates: words.2,
                queues,
                calls_has_synced,
                on_add: lines.0,
                on_update: lines.1,
                on_delete: lines.2,
            },
        )
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
    (any::<bool>(), select(kinds), 0..4_u32).prop_map(|(watch, kind, times)| Refusals {
        watch,
        kind,
        times,
    })
}

/// What somebody does.
pub(crate) fn input() -> impl Strategy<Value = Input<Command>> {
    let write = |write| Input::Source(Command::Write(write));
    let read = |value: Value| pod::from_json(&value).unwrap();
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
        handler().prop_map(Input::AddHandler),
        (0..3_u8).prop_map(Input::RemoveHandler),
        arc().prop_map(Input::Print),
        question().prop_map(Input::Ask),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let source = select(vec![
        SourceKind::Server,
        SourceKind::Recorded,
        SourceKind::Program,
    ]);
    let informer = select(vec![
        InformerKind::Manual,
        InformerKind::Plain,
        InformerKind::Shared,
        InformerKind::Indexer,
        InformerKind::Client,
    ]);
    let work =
        (0..3_u8, 0..99_u32, 0..3_u32).prop_map(|(workers, latency_ms, failures)| WorkSettings {
            workers,
            latency_ms,
            failures,
        });
    let prints = (vec(text(), 0..2), vec(text(), 0..2), vec(arc(), 0..2)).prop_map(
        |(on_list, on_event, on_sync)| PrintSettings {
            on_list,
            on_event,
            on_sync,
        },
    );
    let transform = (option::of(arc()), option::of(arc()), option::of(arc())).prop_map(
        |(rejects, sets, appends)| {
            let pair = |text: Arc<str>| Arc::from(format!("{text}=x"));
            TransformSettings {
                rejects: rejects.map(pair),
                sets: sets.map(pair),
                appends: appends.map(pair),
            }
        },
    );
    let fails = (arc(), any::<u8>(), any::<bool>())
        .prop_map(|(at, times, requeue)| ProcessFailure { at, times, requeue });
    (
        (
            any::<u64>(),
            any::<bool>(),
            source,
            informer,
            option::of(arc()),
            prints,
        ),
        (
            generation(),
            option::of(any::<bool>()),
            any::<bool>(),
            0..3_u32,
            ms(),
            any::<bool>(),
            option::of(select(vec!["", "app=web", "!b,a in (x,y)"])),
            vec(arc(), 0..3),
        ),
        (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            vec(arc(), 0..3),
            mode(),
            option::of(transform),
            option::of(fails),
        ),
        (
            0..300_u32,
            any::<bool>(),
            vec(handler(), 0..3),
            any::<bool>(),
            option::of(work),
            option::of(arc()),
            option::of(any::<u32>()),
        ),
    )
        .prop_map(|(a, b, c, d)| Settings {
            // A FIFO has no more than a program that feeds it.
            queue: match (a.2, a.3) {
                (SourceKind::Program, InformerKind::Manual)
                    if !(c.0 || c.2 || d.1 || c.5.is_some() || c.6.is_some()) =>
                {
                    ManualQueue::Fifo
                }
                _ => ManualQueue::DeltaFifo,
            },
            seed: a.0,
            interleave: a.1,
            jitter: d.6,
            source: a.2,
            informer: a.3,
            key_separator: a.4,
            prints: a.5,
            era: b.0,
            watch_list: b.1,
            refuses_streaming: b.2,
            withholds_initial_events_end: b.5,
            selector: b.6.map(|text| Selector::parse(text).unwrap()),
            repeats: b.7,
            page_size: b.3,
            resync_ms: b.4,
            known_objects: c.0,
            store: c.1,
            emit_delta_type_replaced: c.2,
            indices: c.3,
            type_description: d.5,
            mode: c.4,
            transform: c.5,
            process_ms: d.0,
            process_fails: c.6,
            by_type: d.1,
            handlers: d.2,
            mutation_detector: d.3,
            work: d.4,
        })
}

/// Scenarios of all kinds.
pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    let alone = || {
        let entry = (ms(), input()).prop_map(|(at, input)| Entry { at, input });
        let object = object().prop_map(|object| Arc::new(pod::from_json(&object).unwrap()));
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
