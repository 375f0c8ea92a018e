//! The animation cannot lie: a fold of the facts is the world, after every step.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{
    Actor, Cause, Entry, EventType, Fact, FactRecord, HandlersFact, ProcessMode, QueueFact,
    ReflectorFact, RunFact, ServerFact, Shape, StoreFact, WorkFact,
};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::selector::Selector;
use deltascope::replay::picture::Behind;
use deltascope::replay::picture::{Picture, QueueKind};
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::wire::{Recorded, RecordedEvent, RecordedList};
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{
    Era, HandMadeQueue, InformerKind, PROGRAM, PrintSettings, ProcessFailure, Question,
    TransformSettings, WorkSettings,
};
use deltascope::world::virtual_time::{HandlerSettings, Input, Settings, SourceKind, World};
use proptest::prelude::*;

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
        1 => (any::<bool>(), 1..3u32, prop_oneof![
            Just(ApiErrorKind::Expired),
            Just(ApiErrorKind::TooLarge),
            Just(ApiErrorKind::TooManyRequests),
            Just(ApiErrorKind::ConnectionRefused),
            Just(ApiErrorKind::InternalError),
            Just(ApiErrorKind::Forbidden),
            Just(ApiErrorKind::Invalid),
        ]).prop_map(|(watch, times, kind)| Op::Refuse(Refusals { watch, kind, times })),
        1 => any::<u8>().prop_map(Op::AddHandler),
        1 => (0..4u8).prop_map(Op::RemoveHandler),
        1 => Just(Op::Print),
        1 => any::<u8>().prop_map(Op::Ask),
    ];
    prop::collection::vec(op, 1..60)
}

/// One of the handlers that can be, by its number.
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
                (seed, interleave, feed, machinery, generation),
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
                let is_fifo = machinery == InformerKind::Manual && refuses_streaming;
                let feed = if is_fifo { SourceKind::Program } else { feed };
                let by_type = by_type && machinery == InformerKind::Manual && !is_fifo;
                Settings {
                    seed,
                    interleave,
                    feed,
                    machinery,
                    queue: if is_fifo {
                        HandMadeQueue::Fifo
                    } else {
                        HandMadeQueue::DeltaFifo
                    },
                    era: Era(generation),
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
                        // A server's list would be asked for again without an end.
                        rejects: (feed == SourceKind::Program).then(|| "app=app-2".into()),
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

/// Perhaps with informers beside it, of the same kind and of another.
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

/// Applies what is new and holds the fold against the world.
fn check(world: &mut World<AnySource>, picture: &mut Picture, all: &mut Vec<FactRecord>) {
    for record in world.drain() {
        picture.apply(&record);
        // Also between the facts of one step a key is queued exactly when it has deltas.
        let queued: BTreeSet<_> = picture.queue.keys.iter().collect();
        if picture.queue.kind == QueueKind::Fifo {
            // Its keys may have lost their objects, and be there twice.
            let mut keys = picture.queue.deltas.keys();
            let set = matches!(record.fact, Fact::Queue(QueueFact::FifoItemSet { .. }));
            assert!(set || keys.all(|key| queued.contains(key)));
        } else {
            assert!(queued.iter().copied().eq(picture.queue.deltas.keys()));
            assert_eq!(queued.len(), picture.queue.keys.len());
        }
        all.push(record);
    }
    assert_eq!(*picture, Picture::of(world), "after {:#?}", all.last());
}

/// What a file could hold, and more: objects without a version, errors and cuts in the middle.
fn recorded() -> impl Strategy<Value = Recorded> {
    let object = |name: u8, rv: u8| {
        let mut object = pod(name, rv).into_object();
        object.metadata.resource_version = (rv > 0).then(|| rv.to_string());
        Arc::new(object)
    };
    let event = prop_oneof![
        12 => (0..3u8, any::<u8>(), 0..9u8).prop_map(move |(event, name, rv)| RecordedEvent::Object {
            event: [EventType::Added, EventType::Modified, EventType::Deleted][usize::from(event)],
            object: object(name, rv),
        }),
        2 => (0..99u8).prop_map(|rv| RecordedEvent::Bookmark {
            rv: rv.to_string().into(),
            initial_events_end: false,
        }),
        1 => prop_oneof![Just(410u16), Just(429), Just(500)].prop_map(|code| RecordedEvent::Error {
            code,
            reason: "Expired".to_owned(),
            message: String::new(),
            causes: Vec::new(),
        }),
        1 => Just(RecordedEvent::Cut { bytes: 7 }),
    ];
    (
        prop::option::of(prop::collection::vec((any::<u8>(), 0..9u8), 0..6)),
        prop::option::of(prop::collection::vec(event, 0..40)),
    )
        .prop_map(move |(list, events)| Recorded {
            start: list.map(|items| RecordedList {
                rv: "5".into(),
                items: items
                    .into_iter()
                    .map(|(name, rv)| object(name, rv))
                    .collect(),
                ..RecordedList::default()
            }),
            has_watch: events.is_some(),
            events: events.unwrap_or_default(),
            error: None,
        })
}

fn cause<'a>(record: &FactRecord, all: &'a [FactRecord]) -> Option<&'a FactRecord> {
    match record.cause {
        Cause::Fact(id) => all.get(id.0 as usize),
        _ => None,
    }
}

/// Whether a fact's cause is what really caused it.
fn is_caused(record: &FactRecord, all: &[FactRecord]) -> bool {
    let Some(by) = cause(record, all) else {
        let by_input = matches!(record.cause, Cause::Input(_) | Cause::Script(_));
        return match &record.fact {
            Fact::Server(ServerFact::ObjectCreated { .. } | ServerFact::ObjectUpdated { .. } | ServerFact::ObjectDeleted { .. } | ServerFact::WriteRefused { .. } | ServerFact::HistoryCompacted { .. } | ServerFact::RefusalsAsked { .. })
            | Fact::Run(RunFact::Called { .. } | RunFact::ModeSet { .. } | RunFact::PopAsked { .. })
            | Fact::Handlers(HandlersFact::HandlerAsked { .. } | HandlersFact::RemovalAsked { .. })
            | Fact::Run(RunFact::KnownObjectsSet { .. }) => by_input,
            Fact::Handlers(HandlersFact::LinePrinted { handler, .. }) => by_input == (*handler == PROGRAM),
            Fact::Server(ServerFact::WatchClosed { .. }) => true,
            Fact::Reflector(ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. } | ReflectorFact::InitialEventsEndMissed { .. } | ReflectorFact::ResyncDue { .. })
            | Fact::Handlers(HandlersFact::SyncingSet { .. })
            // Of an informer beside, whose own facts nobody sees.
            | Fact::Run(RunFact::BesideRequested { .. } | RunFact::BesideStored { .. }) => !by_input,
            // Of a recording; a simulated server says such things when it is asked to.
            Fact::Server(ServerFact::EventSent { event, .. }) => {
                !by_input || matches!(event, EventType::Bookmark | EventType::Error)
            }
            _ => false,
        };
    };
    if by.id >= record.id {
        return false;
    }
    let next_pop = || {
        all[record.id.0 as usize..]
            .iter()
            .find_map(|later| match &later.fact {
                Fact::Queue(QueueFact::KeyPopped { key, .. }) => Some(Some(key)),
                Fact::Queue(QueueFact::EntriesTaken { .. }) => Some(None),
                _ => None,
            })
    };
    // What the reflector, the process loop and the others are at when they do something.
    let at_work = matches!(
        by.fact,
        Fact::Reflector(
            ReflectorFact::EventReceived { .. }
                | ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. }
        ) | Fact::Run(RunFact::Called { .. })
            | Fact::Reflector(ReflectorFact::ResyncDue { .. })
            | Fact::Queue(
                QueueFact::KeyPopped { .. }
                    | QueueFact::EntriesTaken { .. }
                    | QueueFact::DeltaTaken { .. }
                    | QueueFact::ListOpened { .. }
                    | QueueFact::ResyncOpened { .. }
            )
            | Fact::Handlers(
                HandlersFact::HandlerAsked { .. }
                    | HandlersFact::HandlerAdded { .. }
                    | HandlersFact::RemovalAsked { .. }
            )
    );
    // What an answer that was no use leads to.
    let refused = matches!(
        by.fact,
        Fact::Server(
            ServerFact::ListRefused { .. }
                | ServerFact::WatchRefused { .. }
                | ServerFact::WatchDenied { .. }
                | ServerFact::ConnectionRefused
        ) | Fact::Reflector(
            ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::WatchEnded { .. }
        )
    );
    match (&record.fact, &by.fact) {
        (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectCreated { object: of, .. }),
        )
        | (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectUpdated { object: of, .. }),
        )
        | (
            Fact::Server(ServerFact::EventSent { object, .. }),
            Fact::Server(ServerFact::ObjectDeleted { object: of, .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::EventReceived { object, .. }),
            Fact::Server(ServerFact::EventSent { object: of, .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::InitialEventKept { object, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }),
        ) => object == of,
        (
            Fact::Server(ServerFact::EventSent { .. }),
            Fact::Server(ServerFact::WatchAccepted { .. }),
        ) => true,
        (
            Fact::Server(
                ServerFact::ListAnswered { .. }
                | ServerFact::ListRefused { .. }
                | ServerFact::ConnectionRefused,
            ),
            Fact::Reflector(ReflectorFact::ListRequested { .. }),
        )
        | (
            Fact::Server(
                ServerFact::WatchAccepted { .. }
                | ServerFact::WatchRefused { .. }
                | ServerFact::WatchDenied { .. }
                | ServerFact::ConnectionRefused,
            ),
            Fact::Reflector(ReflectorFact::WatchRequested { .. }),
        )
        | (
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::PageReceived { .. },
            ),
            Fact::Server(ServerFact::ListAnswered { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::ListRequested { .. }),
            Fact::Reflector(
                ReflectorFact::PageReceived { .. } | ReflectorFact::StreamFellBack { .. },
            ),
        )
        | (
            Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. },
            ),
            Fact::Reflector(ReflectorFact::BackoffStarted { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::ReflectorStopped { .. }),
            Fact::Server(ServerFact::ListRefused { .. })
            | Fact::Reflector(
                ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. },
            ),
        )
        | (
            Fact::Reflector(ReflectorFact::WatchEnded { .. }),
            Fact::Server(ServerFact::WatchClosed { .. }),
        )
        | (
            Fact::Reflector(ReflectorFact::VersionUnavailable { on: false }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            )
            | Fact::Server(ServerFact::ListAnswered { .. })
            | Fact::Reflector(ReflectorFact::EventReceived { .. }),
        )
        | (
            Fact::Reflector(
                ReflectorFact::InitialEventsEnded { .. } | ReflectorFact::ObjectRejected { .. },
            ),
            Fact::Reflector(ReflectorFact::EventReceived { .. }),
        ) => true,
        (
            Fact::Reflector(
                ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::WatchErrorReported { .. }
                | ReflectorFact::BackoffStarted { .. }
                | ReflectorFact::StreamFellBack { .. }
                | ReflectorFact::VersionUnavailable { on: true }
                | ReflectorFact::ReflectorStopped { .. }
                | ReflectorFact::ListRequested { .. }
                | ReflectorFact::WatchRequested { .. },
            ),
            _,
        ) if refused => true,
        // A list that the queue does not take.
        (
            Fact::Reflector(
                ReflectorFact::WatchErrorReported { .. } | ReflectorFact::BackoffStarted { .. },
            ),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            ),
        ) => true,
        (
            Fact::Reflector(ReflectorFact::WatchRequested { .. }),
            Fact::Reflector(ReflectorFact::ListReceived { .. }),
        ) => true,
        (
            Fact::Reflector(ReflectorFact::WatchEnded { .. }),
            Fact::Reflector(ReflectorFact::EventReceived { event, .. }),
        ) => *event == EventType::Error,
        (
            Fact::Reflector(ReflectorFact::LastSyncMoved { .. }),
            Fact::Reflector(
                ReflectorFact::EventReceived { .. }
                | ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. },
            ),
        ) => true,
        (
            Fact::Queue(
                QueueFact::LockTaken { by: who, .. } | QueueFact::LockAwaited { by: who, .. },
            ),
            cause,
        ) => match (who, cause) {
            (Actor::ProcessLoop, Fact::Run(RunFact::PopAsked { .. })) => true,
            (Actor::ProcessLoop, Fact::Queue(QueueFact::DeltaAppended { object, .. })) => {
                next_pop().flatten().is_none_or(|key| *key == object.key)
            }
            (
                Actor::ProcessLoop,
                Fact::Queue(
                    QueueFact::EntryAppended { .. }
                    | QueueFact::FifoItemSet { .. }
                    | QueueFact::FifoItemRemoved { .. },
                ),
            ) => true,
            _ => at_work,
        },
        (
            Fact::Queue(QueueFact::DeltaAppended { object, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. }),
        )
        | (
            Fact::Queue(
                QueueFact::DeltaAppended { object, .. } | QueueFact::FifoItemSet { object, .. },
            ),
            Fact::Run(RunFact::Called { object: of, .. }),
        ) => object == of,
        (
            Fact::Queue(QueueFact::FifoItemRemoved { key }),
            Fact::Run(RunFact::Called { object: of, .. }),
        ) => of.key == *key,
        (
            Fact::Queue(QueueFact::FifoKeySkipped { .. }),
            Fact::Queue(QueueFact::FifoItemRemoved { .. }),
        ) => true,
        // A Pop that finds no object gives the lock back and waits.
        (
            Fact::Queue(QueueFact::LockReleased { .. }),
            Fact::Run(RunFact::PopAsked { .. })
            | Fact::Queue(QueueFact::FifoItemSet { .. } | QueueFact::FifoItemRemoved { .. }),
        ) => record.actor == Actor::ProcessLoop,
        // It was handed over at an earlier place, or skipped there.
        (
            Fact::Queue(QueueFact::FifoKeySkipped { .. }),
            Fact::Run(RunFact::PopAsked { .. })
            | Fact::Queue(QueueFact::FifoItemSet { .. } | QueueFact::KeyPopped { .. }),
        ) => true,
        (
            Fact::Queue(QueueFact::KeyPopped { deltas, .. }),
            Fact::Queue(QueueFact::FifoItemSet { object, .. }),
        ) => deltas[0].1 == *object,
        // The list has not what is known of: the deletion of that one, and of no other.
        (
            Fact::Queue(
                QueueFact::DeltaAppended { object, .. }
                | QueueFact::EntryAppended {
                    entry: Entry::Delta(_, object),
                    ..
                },
            ),
            Fact::Queue(QueueFact::DeletionDetected { key }),
        ) => object.key == *key && object.shape != Shape::Object,
        (
            Fact::Queue(QueueFact::DeltaAppended { .. } | QueueFact::EntryAppended { .. }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. }
                | ReflectorFact::ResyncDue { .. },
            ),
        ) => true,
        (
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
            Fact::Reflector(ReflectorFact::EventReceived { object: of, .. })
            | Fact::Run(RunFact::Called { object: of, .. }),
        ) => match entry {
            Entry::Delta(_, object) => object == of,
            Entry::Bookmark { rv } => *rv == of.rv,
            _ => false,
        },
        (
            Fact::Queue(QueueFact::KeyPopped { key, deltas, .. }),
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type, object, ..
            }),
        ) => object.key == *key && deltas[0] == (*delta_type, object.clone()),
        (
            Fact::Queue(QueueFact::EntriesTaken { .. }),
            Fact::Queue(QueueFact::EntryAppended { .. }),
        ) => true,
        (
            Fact::Queue(QueueFact::ListOpened { rv, .. }),
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
        ) => {
            matches!(entry, Entry::ReplacedAll { rv: of, .. } if rv == of)
        }
        (
            Fact::Queue(QueueFact::ResyncOpened { .. }),
            Fact::Queue(QueueFact::EntryAppended { entry, .. }),
        ) => *entry == Entry::SyncAll,
        (
            Fact::Queue(QueueFact::DeltaTaken {
                delta_type, object, ..
            }),
            Fact::Queue(
                QueueFact::DeltaAppended {
                    delta_type: t,
                    object: of,
                    ..
                }
                | QueueFact::EntryAppended {
                    entry: Entry::Delta(t, of),
                    ..
                },
            ),
        ) => (delta_type, object) == (t, of),
        // In a batch, too, each is told because of its own delta.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            )
            | Fact::Handlers(
                HandlersFact::NotificationSent { .. } | HandlersFact::NotificationWithheld { .. },
            ),
            Fact::Queue(QueueFact::DeltaTaken { object, .. }),
        ) => record.fact.key() == Some(&object.key),
        // A FIFO's object is not taken once more.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            )
            | Fact::Handlers(
                HandlersFact::NotificationTaken { .. }
                | HandlersFact::NotificationSent { .. }
                | HandlersFact::NotificationWithheld { .. },
            )
            | Fact::Queue(QueueFact::Processed { .. }),
            Fact::Queue(QueueFact::KeyPopped { key, .. }),
        ) => record.fact.key() == Some(key),
        (
            Fact::Handlers(HandlersFact::NotificationSent { .. }),
            Fact::Handlers(HandlersFact::HandlerAdded { .. }),
        ) => record.actor == Actor::Main,
        (
            Fact::Handlers(HandlersFact::NotificationSent { .. }),
            Fact::Queue(QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. }),
        )
        | (
            Fact::Handlers(HandlersFact::NotificationWithheld { .. }),
            Fact::Queue(QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. }),
        )
        | (
            Fact::Store(
                StoreFact::StoreReplaced { .. }
                | StoreFact::IndicesReset
                | StoreFact::IndexEntryAdded { .. },
            ),
            Fact::Queue(QueueFact::ListOpened { .. }),
        )
        | (
            Fact::Queue(QueueFact::Processed { .. } | QueueFact::EntriesProcessed { .. }),
            Fact::Queue(QueueFact::DeltaTaken { .. }),
        )
        | (
            Fact::Queue(QueueFact::EntriesProcessed { .. }),
            Fact::Queue(
                QueueFact::ListOpened { .. }
                | QueueFact::ResyncOpened { .. }
                | QueueFact::EntriesTaken { .. },
            ),
        )
        | (
            Fact::Store(StoreFact::StoreVersionMoved { .. }),
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                | QueueFact::ListOpened { .. }
                | QueueFact::EntriesTaken { .. },
            ),
        ) => true,
        (
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler,
                notification,
                ..
            }),
            Fact::Handlers(HandlersFact::NotificationSent {
                handler: h,
                notification: n,
            }),
        )
        | (
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }),
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler: h,
                notification: n,
                ..
            }),
        ) => (handler, notification) == (h, n),
        // A program without a queue.
        (
            Fact::Store(
                StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. },
            ),
            Fact::Run(RunFact::Called { .. }),
        ) => record.actor == Actor::Program,
        (
            Fact::Handlers(HandlersFact::LinePrinted { handler, .. }),
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::EventReceived { .. },
            )
            | Fact::Queue(QueueFact::Synced),
        ) => *handler == PROGRAM,
        // A handler inside process.
        (
            Fact::Handlers(HandlersFact::NotificationTaken { .. }),
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                | QueueFact::ListOpened { .. }
                | QueueFact::ResyncOpened { .. },
            ),
        ) => record.actor == Actor::ProcessLoop,
        (
            Fact::Handlers(
                HandlersFact::LinePrinted { handler, .. }
                | HandlersFact::NotificationHandled { handler }
                | HandlersFact::HandlerPanicked { handler, .. }
                | HandlersFact::HandlerSynced { handler }
                | HandlersFact::ObjectMutated { handler, .. },
            ),
            Fact::Handlers(HandlersFact::NotificationTaken { handler: h, .. }),
        ) => handler == h,
        (
            Fact::Work(WorkFact::WorkAdded { key, .. }),
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }),
        ) => notification.object().key == *key,
        (
            Fact::Work(WorkFact::WorkAdded { key, .. }),
            Fact::Work(WorkFact::WorkDelayed { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkTaken { key, .. }),
            Fact::Work(WorkFact::WorkAdded { key: of, .. } | WorkFact::WorkDelayed { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::Reconciled { key, .. }),
            Fact::Work(WorkFact::WorkTaken { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkDelayed { key, .. }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkForgotten { key }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        )
        | (
            Fact::Work(WorkFact::WorkDone { key, .. }),
            Fact::Work(WorkFact::Reconciled { key: of, .. }),
        ) => key == of,
        (
            Fact::Handlers(HandlersFact::MutationDetected { .. }),
            Fact::Handlers(HandlersFact::ObjectMutated { .. }),
        ) => true,
        (
            Fact::Handlers(HandlersFact::HandlerAdded { .. }),
            Fact::Handlers(HandlersFact::HandlerAsked { .. }),
        )
        | (
            Fact::Handlers(HandlersFact::HandlerRemoved { .. }),
            Fact::Handlers(HandlersFact::RemovalAsked { .. }),
        ) => true,
        // What an actor does on its way has the cause of the way.
        (
            Fact::Queue(
                QueueFact::LockReleased { .. } | QueueFact::Populated { .. } | QueueFact::Synced,
            )
            | Fact::Handlers(HandlersFact::HandlerSynced { .. })
            | Fact::Queue(
                QueueFact::DeleteChecked { .. }
                | QueueFact::DeleteIgnored { .. }
                | QueueFact::DeltasMerged { .. }
                | QueueFact::KeyEnqueued { .. }
                | QueueFact::KeyFailed { .. }
                | QueueFact::DeletionDetected { .. }
                | QueueFact::ResyncSkipped { .. }
                | QueueFact::Transformed { .. }
                | QueueFact::TransformFailed { .. }
                | QueueFact::ProcessFailed { .. }
                | QueueFact::Requeued { .. }
                | QueueFact::ProcessWasSlow { .. },
            ),
            _,
        ) => at_work,
        _ => false,
    }
}

/// What a server has after some writes, worked out from the writes alone.
#[derive(Default)]
struct Server {
    rv: u64,
    /// By key: the version, and the labels.
    objects: BTreeMap<String, (u64, BTreeMap<String, String>)>,
}

impl Server {
    fn write(&mut self, op: &Op) {
        let key = |pod: &PodSpec| [&*pod.namespace, &*pod.name].join("/");
        let (pod, is_there) = match op {
            Op::Create(name, flavour) => (pod(*name, *flavour), false),
            Op::Update(name, flavour) => (pod(*name, *flavour), true),
            Op::Delete(name) => (pod(*name, 0), true),
            Op::Compact => {
                self.rv += 1;
                return;
            }
            _ => return,
        };
        let key = key(&pod).trim_start_matches('/').to_owned();
        if self.objects.contains_key(&key) != is_there {
            return;
        }
        self.rv += 1;
        if matches!(op, Op::Delete(_)) {
            self.objects.remove(&key);
        } else {
            self.objects.insert(key, (self.rv, pod.labels));
        }
    }

    /// How many of the objects that are asked for the store does not show as they are.
    fn ahead_of(&self, world: &World<AnySource>) -> Behind {
        let Some(store) = world.store() else {
            return Behind::Nothing;
        };
        let selector = world.settings().selector.as_ref();
        let asked = self
            .objects
            .iter()
            .filter(|(_, (_, labels))| selector.is_none_or(|selector| selector.matches(labels)));
        let there: BTreeMap<&str, String> = asked
            .map(|(key, (rv, _))| (&**key, rv.to_string()))
            .collect();
        let here: BTreeMap<&str, String> = store
            .iter()
            .map(|(key, item)| (&**key, item.to_ref(key).rv.to_string()))
            .collect();
        let keys: BTreeSet<&str> = there.keys().chain(here.keys()).copied().collect();
        let unlike = keys.iter().filter(|key| there.get(*key) != here.get(*key));
        Behind::By(unlike.count() as u64)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_of_the_facts_is_the_world_after_every_step(settings in settings(), ops in ops()) {
        let scenario = scenario(settings);
        let mut world = scenario.build().unwrap();
        let mut picture = Picture::of(&world);
        let mut facts = Vec::new();
        for op in &ops {
            if let Some(input) = input(op) {
                world.input(input);
                check(&mut world, &mut picture, &mut facts);
            }
            if let Op::Steps(steps) = op {
                for _ in 0..*steps {
                    world.step();
                    check(&mut world, &mut picture, &mut facts);
                }
            }
        }
        for (number, record) in facts.iter().enumerate() {
            prop_assert_eq!(record.id.0 as usize, number);
            prop_assert!(is_caused(record, &facts), "{record:#?} by {:#?}", cause(record, &facts));
        }
    }

    /// How many objects of what the informer selects the store does not show as the server has them: at
    /// every moment, whatever was cut, refused, forgotten or is held in the queue.
    #[test]
    fn the_gauge_counts_the_objects_that_the_store_does_not_show_as_the_server_has_them(
        settings in settings(),
        machinery in prop::sample::select(vec![InformerKind::Manual, InformerKind::Plain, InformerKind::Shared]),
        selector in prop::option::of(prop::sample::select(vec!["app", "app=app-1", "app!=app-2"])),
        ops in ops(),
    ) {
        let settings = Settings {
            feed: SourceKind::Server,
            machinery,
            queue: HandMadeQueue::DeltaFifo,
            selector: selector.map(|text| Selector::parse(text).unwrap()),
            ..settings
        };
        let mut world = scenario(settings).build().unwrap();
        let mut picture = Picture::of(&world);
        let mut server = Server { rv: 1, ..Server::default() };
        for op in &ops {
            let steps = match op {
                Op::Steps(steps) => *steps,
                _ => 0,
            };
            server.write(op);
            for step in 0..=steps {
                match input(op).filter(|_| step == 0) {
                    Some(input) => world.input(input),
                    None => {
                        world.step();
                    }
                }
                picture.apply_all(&world.drain());
                let AnySource::Server(simulated) = world.source() else {
                    panic!("a server");
                };
                prop_assert_eq!(&*simulated.rv(), server.rv.to_string());
                prop_assert_eq!(picture.store.behind, server.ahead_of(&world), "after {:?}", op);
            }
        }
    }

    #[test]
    fn a_fold_of_a_recording_is_the_world_after_every_step(
        settings in settings(),
        recorded in recorded(),
        ops in ops(),
    ) {
        // A timer has no end.
        let settings = Settings { feed: SourceKind::Recorded, resync_ms: 0, ..settings };
        let scenario = Scenario { recorded: Some(recorded), ..scenario(settings) };
        let mut world = scenario.build().unwrap();
        let mut picture = Picture::of(&world);
        let mut facts = Vec::new();
        for op in &ops {
            if let Some(input) = input(op) {
                world.input(input);
                check(&mut world, &mut picture, &mut facts);
            }
            for _ in 0..10 {
                world.step();
                check(&mut world, &mut picture, &mut facts);
            }
        }
        while world.step() {
            check(&mut world, &mut picture, &mut facts);
        }
        for record in &facts {
            prop_assert!(is_caused(record, &facts), "{record:#?} by {:#?}", cause(record, &facts));
        }
    }

    #[test]
    fn a_watch_window_that_overflows_is_in_the_picture(writes in 40..120u8, compact in 0..120u8) {
        let mut world = Scenario::default().build().unwrap();
        let mut picture = Picture::of(&world);
        let mut facts = Vec::new();
        for n in 0..writes {
            if n == compact {
                world.input(Input::Source(Command::Compact));
            }
            world.input(input(&if n < 15 { Op::Create(n, 0) } else { Op::Update(n % 15, n) }).unwrap());
            check(&mut world, &mut picture, &mut facts);
        }
    }

    #[test]
    fn any_walk_back_and_forth_ends_in_the_identical_picture(
        settings in settings(),
        ops in ops(),
        walk in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let scenario = scenario(settings);
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                let shown = timeline.insert(timeline.len(), input);
                prop_assert!(shown <= timeline.len());
            }
        }
        let mut pictures = vec![timeline.picture(0)];
        for record in timeline.all_facts().iter() {
            let mut next = pictures.last().unwrap().clone();
            next.apply(record);
            pictures.push(next);
        }
        for place in walk {
            let step = place.index(pictures.len());
            prop_assert_eq!(&timeline.picture(step), &pictures[step]);
        }
    }

    #[test]
    fn a_recording_states_the_same_facts_again(
        settings in settings(),
        ops in ops(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        traffic in prop::option::of(any::<u64>()),
    ) {
        let scenario = Scenario { traffic, ..scenario(settings) };
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                timeline.insert(timeline.len(), input);
            }
        }
        for place in places {
            let step = place.index(timeline.len() + 1);
            timeline.insert(step, Input::Pop);
        }
        let mut again = timeline.recording().play().unwrap();
        again.extend(timeline.len());
        prop_assert!(*again.facts(0..timeline.len()) == *timeline.all_facts());
    }

    #[test]
    fn an_input_into_the_past_keeps_what_came_before(
        settings in settings(),
        ops in ops(),
        place in any::<prop::sample::Index>(),
    ) {
        let scenario = scenario(settings);
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                timeline.insert(timeline.len(), input);
            }
        }
        let before: Vec<FactRecord> = timeline.all_facts().to_vec();
        let step = place.index(before.len() + 1);
        let shown = timeline.insert(step, Input::Mode(ProcessMode::Held));
        prop_assert!(*timeline.facts(0..step) == before[..step]);
        prop_assert!(shown >= step && shown <= timeline.len());
        let mut picture = timeline.picture(0);
        for record in timeline.all_facts().iter() {
            picture.apply(record);
        }
        prop_assert_eq!(picture, timeline.picture(timeline.len()));
    }
}

#[test]
fn a_long_run_forgets_the_same_in_the_picture_and_in_the_world() {
    let mut scenario = deltascope::replay::lessons::load("sandbox")
        .unwrap()
        .scenario;
    scenario.settings.mode.0 = ProcessMode::Free;
    let mut world = scenario.build().unwrap();
    let mut picture = Picture::of(&world);
    while picture.output.len() < 500 || picture.api.sent < 400 || world.count() < 9_000 {
        assert!(world.step());
        for record in world.drain() {
            picture.apply(&record);
        }
        if world.count().is_multiple_of(16) {
            assert_eq!(
                picture,
                Picture::of(&world),
                "after {} facts",
                world.count()
            );
        }
    }
    assert_eq!(picture, Picture::of(&world));
}

#[test]
fn an_input_at_the_same_place_takes_the_place_of_the_first() {
    let scenario = deltascope::replay::lessons::load("indexer")
        .unwrap()
        .scenario;
    let mut once = Timeline::new(scenario).unwrap();
    let place = once.len();
    let mut twice = once.clone();
    twice.insert(place, input(&Op::Create(1, 1)).unwrap());
    for timeline in [&mut once, &mut twice] {
        timeline.insert(place, input(&Op::Create(2, 2)).unwrap());
    }
    assert!(*once.all_facts() == *twice.all_facts());
}

/// What a recording tells is known while it tells: not before its watch is open, and not after its end.
#[test]
fn the_gauge_of_a_recording_says_when_it_cannot_be_known() {
    let object = |name, rv: u8| {
        let mut object = pod(name, 0).into_object();
        object.metadata.resource_version = Some(rv.to_string());
        Arc::new(object)
    };
    for generation in Generation::ALL {
        let recorded = Recorded {
            start: Some(RecordedList {
                rv: "5".into(),
                items: vec![object(0, 2), object(1, 3)],
                ..RecordedList::default()
            }),
            has_watch: true,
            events: vec![
                RecordedEvent::Object {
                    event: EventType::Modified,
                    object: object(0, 6),
                },
                RecordedEvent::Object {
                    event: EventType::Deleted,
                    object: object(1, 7),
                },
                RecordedEvent::Cut { bytes: 7 },
            ],
            error: None,
        };
        let settings = Settings {
            feed: SourceKind::Recorded,
            machinery: InformerKind::Shared,
            era: Era(generation),
            ..Settings::default()
        };
        let scenario = Scenario {
            recorded: Some(recorded),
            ..scenario(settings)
        };
        let timeline = Timeline::new(scenario).unwrap();
        let mut said = Vec::new();
        for step in 0..=timeline.len() {
            said.push(timeline.picture(step).store.behind);
        }
        said.dedup();
        let (known, open) = (Behind::By, Behind::Unknown);
        assert_eq!(
            said,
            [open, known(0), known(1), known(0), known(1), known(0), open],
            "{generation:?}"
        );
    }
}
