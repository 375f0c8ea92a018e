//! Every fact, with pictures and causes that lead to different sentences.

use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, BackoffReason, Cause, Entry, EventType, Fact, FactId, HandlersFact, Known, LockName,
    NotificationRef, ObjectRef, Printer, ProcessMode, QueueFact, Reason, ReflectorFact, Refusal,
    RunFact, ServerFact, Shape, StoreFact, Verb, WatchEnd,
};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Behind, HandlerRoom, Picture, QueueKind, SourceKind};

use super::{check, object, record};
use crate::caption::{before_start, words};
use deltascope_world::text::Lang;

/// Pictures that lead to different sentences.
fn pictures() -> Vec<Picture> {
    let mut rich = Picture::default();
    rich.api.source = SourceKind::Server;
    rich.api.watch = Some("4".into());
    rich.queue.known_objects = true;
    rich.queue
        .deltas
        .insert(Key::from("default/web-1"), Vec::new());
    rich.store.present = true;
    rich.store.behind = Behind::By(3);
    rich.store
        .items
        .insert(Key::from("default/web-1"), object("default/web-1", "9"));
    rich.lock.waiting = vec![Actor::ProcessLoop, Actor::Listener(0)];
    rich.pop.mode = ProcessMode::Held;
    rich.handlers = vec![
        HandlerRoom {
            name: "first".into(),
            ..HandlerRoom::default()
        },
        HandlerRoom {
            name: "second".into(),
            latency_ms: 1500,
            inline: true,
            ..HandlerRoom::default()
        },
    ];
    let mut program = Picture::default();
    program.api.source = SourceKind::Program;
    program.queue.kind = QueueKind::RealFifo;
    program.queue.closed = true;
    program.lock.waiting = vec![Actor::Listener(9)];
    let mut fifo = Picture::default();
    fifo.queue.kind = QueueKind::Fifo;
    vec![Picture::default(), rich, program, fifo]
}

/// More facts of the same kinds, which lead to different sentences.
fn more() -> Vec<Fact> {
    let key = Key::from("default/web-1");
    let shaped = |shape| ObjectRef {
        shape,
        rv: "".into(),
        ..object("default/web-1", "")
    };
    let mut facts = vec![
        Fact::Server(ServerFact::WriteRefused {
            verb: Verb::Update,
            key: key.clone(),
            refusal: Refusal::NotFound,
        }),
        Fact::Server(ServerFact::WriteRefused {
            verb: Verb::Delete,
            key: key.clone(),
            refusal: Refusal::Invalid(Reason::Text("name".into())),
        }),
        Fact::Server(ServerFact::ListAnswered {
            rv: "".into(),
            count: 1,
        }),
        Fact::Server(ServerFact::WatchAccepted { rv: "".into() }),
        Fact::Reflector(ReflectorFact::WatchRequested {
            rv: "".into(),
            initial_events: false,
        }),
        Fact::Reflector(ReflectorFact::ListRequested {
            rv: "".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        }),
        Fact::Reflector(ReflectorFact::ListRequested {
            rv: "123456789".into(),
            rv_match: "",
            limit: 0,
            continues: false,
        }),
        Fact::Reflector(ReflectorFact::LastSyncMoved {
            from: "".into(),
            to: "4".into(),
        }),
        Fact::Store(StoreFact::StoreVersionMoved {
            from: "".into(),
            to: "".into(),
        }),
        Fact::Reflector(ReflectorFact::WatchEnded {
            relist: false,
            code: 0,
        }),
        Fact::Reflector(ReflectorFact::BackoffStarted {
            ms: 30_000,
            reason: BackoffReason::Expired,
        }),
        Fact::Reflector(ReflectorFact::BackoffStarted {
            ms: 0,
            reason: BackoffReason::ListFailed,
        }),
        Fact::Reflector(ReflectorFact::BackoffStarted {
            ms: 800,
            reason: BackoffReason::WatchFailed,
        }),
        Fact::Queue(QueueFact::LockAwaited {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
            holder: Actor::Program,
        }),
        Fact::Queue(QueueFact::LockAwaited {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
            holder: Actor::ProcessLoop,
        }),
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::Listener(0),
        }),
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::Server,
        }),
        Fact::Run(RunFact::ModeSet {
            mode: ProcessMode::Free,
        }),
        Fact::Run(RunFact::ModeSet {
            mode: ProcessMode::Paced(500),
        }),
        Fact::Run(RunFact::PopAsked { asked: 3 }),
        Fact::Run(RunFact::KnownObjectsSet { on: true }),
        Fact::Queue(QueueFact::Populated { initial: 0 }),
        Fact::Queue(QueueFact::Populated { initial: 1 }),
        Fact::Queue(QueueFact::DeltasMerged {
            key: key.clone(),
            kept: shaped(Shape::EmptyTombstone),
            kept_older: false,
        }),
        Fact::Queue(QueueFact::KeyEnqueued {
            key: key.clone(),
            length: 1,
        }),
        Fact::Queue(QueueFact::FifoItemSet {
            object: object("a/x", "5"),
            old: None,
        }),
        Fact::Queue(QueueFact::EntriesTaken {
            count: 1,
            is_in_initial_list: false,
        }),
        Fact::Queue(QueueFact::Requeued {
            key: key.clone(),
            added: false,
        }),
        Fact::Store(StoreFact::ItemRemoved {
            key: key.clone(),
            old: None,
        }),
        Fact::Store(StoreFact::ItemStored {
            object: object("default/web-1", "5"),
            old: None,
        }),
        Fact::Store(StoreFact::ItemStored {
            object: object("default/web-1", "5"),
            old: Some(object("default/web-1", "5")),
        }),
        Fact::Store(StoreFact::ItemStored {
            object: object("default/web-1", "5"),
            old: Some(ObjectRef {
                uid: "other".into(),
                ..object("default/web-1", "5")
            }),
        }),
        Fact::Store(StoreFact::IndexEntryRemoved {
            index: "app".into(),
            value: "".into(),
            key: key.clone(),
            emptied: false,
        }),
        Fact::Store(StoreFact::IndexersAdded { names: Vec::new() }),
        Fact::Queue(QueueFact::KeyPopped {
            key: key.clone(),
            deltas: vec![(DeltaType::Sync, object("default/web-1", "5"))],
            is_in_initial_list: true,
        }),
        Fact::Queue(QueueFact::KeyPopped {
            key: key.clone(),
            deltas: vec![(DeltaType::Updated, object("default/web-1", "5")); 9],
            is_in_initial_list: true,
        }),
        Fact::Handlers(HandlersFact::NotificationHandled { handler: 9 }),
        Fact::Handlers(HandlersFact::LinePrinted {
            by: Printer::Handler(9),
            line: "x".into(),
        }),
    ];
    for event in [
        EventType::Added,
        EventType::Modified,
        EventType::Bookmark,
        EventType::Error,
    ] {
        facts.push(Fact::Server(ServerFact::EventSent {
            event,
            object: object("default/web-1", "5"),
            ends_list: false,
        }));
        facts.push(Fact::Reflector(ReflectorFact::EventReceived {
            event,
            object: object("default/web-1", ""),
            ends_list: false,
        }));
    }
    for end in [
        WatchEnd::Closed,
        WatchEnd::CutInLine(7),
        WatchEnd::Silent,
        WatchEnd::Failed(410, "Expired".into()),
        WatchEnd::TooMuch(50_000),
    ] {
        facts.push(Fact::Server(ServerFact::WatchClosed { end, lost: 0 }));
    }
    for known in [
        None,
        Some(Known::No),
        Some(Known::Failed),
        Some(Known::Yes("".into())),
    ] {
        for pending in [false, true] {
            facts.push(Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known: known.clone(),
                pending,
            }));
        }
    }
    for delta_type in DeltaType::ALL {
        for shape in [
            Shape::Object,
            Shape::Tombstone,
            Shape::EmptyTombstone,
            Shape::ExplicitKey,
            Shape::Opaque,
        ] {
            for depth in [1, 3] {
                facts.push(Fact::Queue(QueueFact::DeltaAppended {
                    delta_type,
                    object: shaped(shape),
                    depth,
                }));
            }
            facts.push(Fact::Queue(QueueFact::DeltasMerged {
                key: key.clone(),
                kept: shaped(shape),
                kept_older: true,
            }));
        }
        facts.push(Fact::Run(RunFact::Called {
            delta_type,
            object: object("default/web-1", ""),
        }));
        for exists in [None, Some(false), Some(true)] {
            facts.push(Fact::Queue(QueueFact::DeltaTaken {
                position: 1,
                delta_type,
                object: object("default/web-1", "5"),
                exists,
            }));
        }
    }
    for entry in [
        Entry::ReplacedAll {
            rv: "5".into(),
            objects: Arc::default(),
        },
        Entry::SyncAll,
        Entry::Bookmark { rv: "5".into() },
    ] {
        facts.push(Fact::Queue(QueueFact::EntryAppended { entry, length: 1 }));
    }
    for notification in [
        NotificationRef::Delete {
            object: shaped(Shape::Tombstone),
        },
        NotificationRef::Update {
            old: Some(object("default/web-1", "5")),
            new: object("default/web-1", "5"),
        },
        NotificationRef::Update {
            old: None,
            new: object("default/db", "5"),
        },
    ] {
        for handler in [0, 1] {
            facts.push(Fact::Handlers(HandlersFact::NotificationQueued {
                handler,
                notification: notification.clone(),
                pending: 1,
            }));
            facts.push(Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification: notification.clone(),
            }));
        }
    }
    facts
}

#[test]
fn every_fact_has_words_in_both_languages() {
    let facts: Vec<_> = Fact::samples().into_iter().chain(more()).collect();
    for lang in [Lang::En, Lang::Zh] {
        for picture in &pictures() {
            check(
                &before_start(picture, lang),
                lang,
                &Fact::Queue(QueueFact::QueueEmpty),
            );
            for fact in &facts {
                for actor in [Actor::Reflector, Actor::ProcessLoop] {
                    let alone = record(0, actor, Cause::Start, fact.clone());
                    let recent = [alone.clone()];
                    check(&words(&alone, &recent, picture, lang), lang, fact);
                }
                for cause in Fact::samples() {
                    let caused = record(1, Actor::Reflector, Cause::Fact(FactId(0)), fact.clone());
                    let recent = [
                        record(0, Actor::Reflector, Cause::Start, cause),
                        caused.clone(),
                    ];
                    check(&words(&caused, &recent, picture, lang), lang, fact);
                }
            }
        }
    }
}
