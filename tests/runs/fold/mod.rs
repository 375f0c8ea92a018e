//! The animation shows the truth: the fold of the facts equals the world after every step.

mod causes;
mod gauge;
mod timeline;
mod world;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{ProcessMode, Request};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::selector::Selector;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{HandlerSettings, Input, Settings, SourceKind};
use deltascope::world::virtual_time::{
    InformerKind, ManualQueue, PrintSettings, ProcessFailure, Question, TransformSettings,
    WorkSettings,
};
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Clone, Debug)]
enum Op {
    Steps(u8),
    Create(u8, u8),
    Update(u8, u8),
    Delete(u8),
    Cut,
    Compact,
    Pop,
    Mode(ProcessMode),
    Known(bool),
    Close,
    Bookmark,
    ErrorEvent(u16),
    Refuse(Refusals),
    AddHandler(u8),
    RemoveHandler(u8),
    Print,
    Ask(u8),
}

fn pod(name: u8, flavour: u8) -> PodSpec {
    PodSpec {
        namespace: ["a", "b", ""][usize::from(name % 3)].to_owned(),
        name: format!("p{}", name % 5),
        labels: if flavour.is_multiple_of(3) {
            Default::default()
        } else {
            [("app".to_owned(), format!("app-{}", flavour % 3))].into()
        },
        node: format!("n{}", flavour % 2),
        phase: "Running".to_owned(),
    }
}

fn input(op: &Op) -> Option<Input<Command>> {
    let write = |write| Some(Input::Source(Command::Write(write)));
    match op {
        Op::Steps(_) => None,
        Op::Create(name, flavour) => write(Write::Create(pod(*name, *flavour).into_object())),
        Op::Update(name, flavour) => write(Write::Update(pod(*name, *flavour).into_object())),
        Op::Delete(name) => {
            let PodSpec {
                namespace, name, ..
            } = pod(*name, 0);
            write(Write::Delete { namespace, name })
        }
        Op::Cut => Some(Input::Source(Command::Cut)),
        Op::Compact => Some(Input::Source(Command::Compact)),
        Op::Pop => Some(Input::Pop),
        Op::Mode(mode) => Some(Input::Mode(*mode)),
        Op::Known(on) => Some(Input::KnownObjects(*on)),
        Op::Close => Some(Input::Source(Command::Close)),
        Op::Bookmark => Some(Input::Source(Command::Bookmark)),
        Op::ErrorEvent(code) => Some(Input::Source(Command::ErrorEvent(*code))),
        Op::Refuse(refusals) => Some(Input::Source(Command::Refuse(*refusals))),
        Op::AddHandler(n) => Some(Input::AddHandler(handler(*n))),
        Op::RemoveHandler(n) => Some(Input::RemoveHandler(*n)),
        Op::Print => Some(Input::Print("{indices}".into())),
        Op::Ask(n) => Some(Input::Ask(Question {
            index: ["app", "none"][usize::from(n % 7 / 6)].into(),
            value: format!("app-{}", n % 3).into(),
            json: n.is_multiple_of(2),
        })),
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => (1..30u8).prop_map(Op::Steps),
        4 => (any::<u8>(), any::<u8>()).prop_map(|(name, flavour)| Op::Create(name, flavour)),
        5 => (any::<u8>(), any::<u8>()).prop_map(|(name, flavour)| Op::Update(name, flavour)),
        4 => any::<u8>().prop_map(Op::Delete),
        1 => Just(Op::Cut),
        1 => Just(Op::Compact),
        2 => Just(Op::Pop),
        1 => prop_oneof![
            Just(ProcessMode::Free),
            Just(ProcessMode::Held),
            Just(ProcessMode::Paced(300)),
        ].prop_map(Op::Mode),
        1 => any::<bool>().prop_map(Op::Known),
        1 => Just(Op::Close),
        1 => Just(Op::Bookmark),
        1 => prop_oneof![Just(410u16), Just(429), Just(500)].prop_map(Op::ErrorEvent),
        1 => (select(vec![Request::List, Request::Watch]), 1..3u32, prop_oneof![
            Just(ApiErrorKind::Expired),
            Just(ApiErrorKind::TooLarge),
            Just(ApiErrorKind::TooManyRequests),
            Just(ApiErrorKind::ConnectionRefused),
            Just(ApiErrorKind::InternalError),
            Just(ApiErrorKind::Forbidden),
            Just(ApiErrorKind::Invalid),
        ]).prop_map(|(request, times, kind)| Op::Refuse(Refusals { request, kind, times })),
        1 => any::<u8>().prop_map(Op::AddHandler),
        1 => (0..4u8).prop_map(Op::RemoveHandler),
        1 => Just(Op::Print),
        1 => any::<u8>().prop_map(Op::Ask),
    ];
    prop::collection::vec(op, 1..60)
}

/// A handler, derived from a number.
fn handler(n: u8) -> HandlerSettings {
    HandlerSettings {
        name: format!("h{n}").into(),
        inline: n % 3 == 1,
        latency_ms: 200 * u32::from(n % 4),
        resync_ms: [None, Some(0), Some(1_500), Some(4_000)][usize::from(n / 3 % 4)],
        filter: (n % 5 == 4).then(|| "app=app-1".into()),
        panics_at: (n % 7 == 6).then(|| "p2".into()),
        mutates: (n % 7 == 5).then(|| "app=changed".into()),
        queues: n.is_multiple_of(2),
        calls_has_synced: n % 16 == 7,
        on_add: vec!["OnAdd {name}".into()],
        on_update: vec!["OnUpdate {name} {rv} {phase} {synced}".into()],
        on_delete: vec!["OnDelete {name}".into()],
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    (
        (
            any::<u64>(),
            any::<bool>(),
            prop_oneof![3 => Just(SourceKind::Server), 1 => Just(SourceKind::Program)],
            prop_oneof![
                1 => Just(InformerKind::Manual),
                1 => Just(InformerKind::Plain),
                3 => Just(InformerKind::Shared),
                1 => Just(InformerKind::Indexer),
                1 => Just(InformerKind::Client),
            ],
            prop::sample::select(&Generation::ALL[..]),
        ),
        (
            prop::option::of(any::<bool>()),
            any::<bool>(),
            prop_oneof![Just(0u32), Just(2)],
            prop_oneof![Just(0u64), Just(2_000)],
            any::<bool>(),
            prop::option::of(Just("app!=web")),
            prop::collection::vec(Just("a/p0".into()), 0..2),
            prop::bool::weighted(0.1),
        ),
        any::<(bool, bool, bool, bool)>(),
        prop_oneof![Just(0u32), Just(120)],
        prop::collection::vec(any::<u8>(), 0..3),
        prop::option::of((1..3u8, 0..300u32, 0..3u32)),
    )
        .prop_map(
            |(
                (seed, interleave, source, informer, generation),
                (
                    watch_list,
                    refuses_streaming,
                    page_size,
                    resync_ms,
                    mutation_detector,
                    selector,
                    repeats,
                    withholds_initial_events_end,
                ),
                (known, store, replaced, by_type),
                process_ms,
                handlers,
                work,
            )| {
                let is_fifo = informer == InformerKind::Manual && refuses_streaming;
                let source = if is_fifo { SourceKind::Program } else { source };
                let by_type = by_type && informer == InformerKind::Manual && !is_fifo;
                Settings {
                    seed,
                    interleave,
                    source,
                    informer,
                    queue: if is_fifo {
                        ManualQueue::Fifo
                    } else {
                        ManualQueue::DeltaFifo
                    },
                    era: generation,
                    watch_list,
                    refuses_streaming,
                    withholds_initial_events_end,
                    selector: selector.map(|text| Selector::parse(text).unwrap()),
                    repeats,
                    page_size,
                    resync_ms,
                    mutation_detector,
                    known_objects: known && !is_fifo,
                    store,
                    emit_delta_type_replaced: replaced && !is_fifo,
                    by_type,
                    transform: (seed % 4 == 1 && !is_fifo).then(|| TransformSettings {
                        // With a server the reflector would relist forever.
                        rejects: (source == SourceKind::Program).then(|| "app=app-2".into()),
                        sets: Some("sets=a".into()),
                        appends: Some("app=+".into()),
                    }),
                    process_ms,
                    process_fails: (seed % 4 == 2 && !is_fifo).then(|| ProcessFailure {
                        at: "p1".into(),
                        times: (seed >> 8) as u8 % 9,
                        requeue: known,
                    }),
                    indices: vec!["namespace".into(), "app".into(), "node".into()],
                    handlers: handlers.into_iter().map(handler).collect(),
                    work: work.map(|(workers, latency_ms, failures)| WorkSettings {
                        workers,
                        latency_ms,
                        failures,
                    }),
                    key_separator: known.then(|| "---".into()),
                    prints: PrintSettings {
                        on_list: vec!["{name}".to_owned()],
                        on_event: vec!["{type} {name}".to_owned()],
                        on_sync: vec!["synced".into()],
                    },
                    ..Settings::default()
                }
            },
        )
}

/// A scenario, in some cases with peer informers: one with the same server and one with another.
fn scenario(settings: Settings) -> Scenario {
    let beside = |script| Scenario {
        settings: settings.clone(),
        script,
        ..Scenario::default()
    };
    let other =
        || serde_json::from_str(r#"{"at": 900, "op": "print", "line": "another"}"#).unwrap();
    Scenario {
        beside: match settings.seed % 3 {
            0 => vec![beside(Vec::new()), beside(vec![other()])],
            _ => Vec::new(),
        },
        settings,
        ..Scenario::default()
    }
}
