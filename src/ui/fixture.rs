//! One moment to look at until the session feeds the page: a Delete is kept because the Indexer
//! still knows the object. `?fixture=start` and `?fixture=crowd` show an empty and a crowded board.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::window;

use super::app::Lessons;
use super::i18n::Text;
use super::view::{LessonHead, Marker, Tick, View};
use crate::cache::delta::DeltaType;
use crate::cache::fact::{
    Actor, Body, Cause, Entry, EventType, Fact, FactId, FactRecord, Known, Notification, ObjectRef,
    Shape,
};
use crate::cache::step::Step;
use crate::replay::picture::{
    ApiObject, Delivery, Feed, HandlerRoom, Picture, Popped, ProcessMode, QueueKind,
    ReflectorState, StreamLine,
};

pub(super) fn lessons() -> Lessons {
    [
        ("deltafifo", "A DeltaFIFO on its own", "单独的 DeltaFIFO"),
        ("listwatch", "List, then Watch", "先 List 再 Watch"),
        (
            "reflector",
            "Reflector without KnownObjects",
            "没有 KnownObjects 的 Reflector",
        ),
        (
            "indexer",
            "Why is the Delete kept?",
            "为什么 Delete 被保留？",
        ),
        ("sandbox", "Sandbox", "沙盒"),
    ]
    .into_iter()
    .map(|(id, en, zh)| (Arc::from(id), text(en, zh)))
    .collect::<Vec<_>>()
    .into()
}

pub(super) fn view() -> View {
    let search = window().location().search().unwrap_or_default();
    if search.contains("fixture=start") {
        start()
    } else if search.contains("fixture=crowd") {
        crowd()
    } else if search.contains("fixture=real") {
        real()
    } else if search.contains("fixture=program") {
        program()
    } else if search.contains("fixture=recorded") {
        recorded()
    } else {
        moment()
    }
}

fn text(en: &str, zh: &str) -> Text {
    Text {
        en: en.into(),
        zh: zh.into(),
    }
}

// Chosen for their marks.
fn uid(key: &str) -> Arc<str> {
    match key {
        "default/web-0" => "uid-1",
        "default/web-1" => "uid-2",
        "kube-sys/dns" => "uid-3",
        "default/nettool" => "uid-4",
        other => return other.into(),
    }
    .into()
}

fn object(key: &str, rv: &str) -> ObjectRef {
    ObjectRef {
        key: key.into(),
        shape: Shape::Object,
        rv: rv.into(),
        uid: uid(key),
    }
}

fn base() -> View {
    View {
        picture: Rc::new(Picture::default()),
        recent: Rc::from([]),
        step: 0,
        steps: 62,
        endless: false,
        time: 0,
        playing: false,
        speed: 100,
        ticks: [
            (3, DeltaType::Replaced),
            (4, DeltaType::Replaced),
            (5, DeltaType::Replaced),
            (14, DeltaType::Added),
            (21, DeltaType::Updated),
            (26, DeltaType::Updated),
            (32, DeltaType::Updated),
            (37, DeltaType::Deleted),
        ]
        .map(|(at, delta_type)| Tick { at, delta_type })
        .into(),
        markers: Rc::from([Marker {
            id: "delete".into(),
            at: 44,
            title: text("The Delete arrives", "Delete 到达"),
        }]),
        lesson: Rc::new(LessonHead {
            id: "indexer".into(),
            title: text("Why is the Delete kept?", "为什么 Delete 被保留？"),
            note: text(
                "Turn KnownObjects off and step again: the same Delete is dropped without a trace.",
                "关掉 KnownObjects 再走一步：同一个 Delete 会被悄悄丢弃。",
            ),
            era: "1.32".into(),
            can_switch_known: true,
            can_write: true,
            can_cut: true,
        }),
        error: None,
    }
}

fn body(app: &str) -> Body {
    Body {
        labels: [("app".to_owned(), app.to_owned())].into(),
        node: "node-1".into(),
        phase: "Running".into(),
    }
}

fn moment() -> View {
    let mut picture = Picture::default();
    let api = &mut picture.api;
    api.rv = "12".into();
    for (key, rv, app, deleted) in [
        ("default/web-0", "9", "web", false),
        ("default/web-1", "12", "web", true),
        ("kube-sys/dns", "4", "dns", false),
        ("default/nettool", "11", "tools", false),
    ] {
        api.objects.insert(
            key.into(),
            ApiObject {
                object: object(key, rv),
                body: body(app),
                deleted,
            },
        );
    }
    for (number, (event, key, rv)) in (0..).zip([
        (EventType::Added, "default/nettool", "5"),
        (EventType::Modified, "default/nettool", "7"),
        (EventType::Modified, "default/web-0", "9"),
        (EventType::Modified, "default/nettool", "11"),
        (EventType::Deleted, "default/web-1", "12"),
    ]) {
        api.stream.push_back(StreamLine {
            number,
            event,
            object: object(key, rv),
            delivery: Delivery::Received,
        });
    }
    api.watch = Some("4".into());
    let reflector = &mut picture.reflector;
    reflector.state = ReflectorState::Watch;
    reflector.last_sync = "11".into();
    reflector.events = 4;
    reflector.lists = 1;
    reflector.in_hand = Some((EventType::Deleted, object("default/web-1", "12")));
    let queue = &mut picture.queue;
    queue.known_objects = true;
    queue.populated = true;
    queue.synced = true;
    for (key, deltas) in [
        (
            "default/nettool",
            &[
                (DeltaType::Added, "5"),
                (DeltaType::Updated, "7"),
                (DeltaType::Updated, "11"),
            ][..],
        ),
        ("default/web-0", &[(DeltaType::Updated, "9")]),
        ("default/web-1", &[(DeltaType::Deleted, "12")]),
    ] {
        queue.keys.push_back(key.into());
        queue.deltas.insert(
            key.into(),
            deltas.iter().map(|(t, rv)| (*t, object(key, rv))).collect(),
        );
    }
    picture.lock.holder = Some(Actor::Reflector);
    picture.lock.waiting = vec![Actor::ProcessLoop];
    picture.pop.mode = ProcessMode::Held;
    picture.pop.last = Some(Popped {
        key: "kube-sys/dns".into(),
        deltas: vec![(DeltaType::Replaced, object("kube-sys/dns", "4"))],
        position: Some(0),
        is_in_initial_list: true,
    });
    let store = &mut picture.store;
    store.present = true;
    store.rv = "4".into();
    store.behind = 5;
    for (key, rv) in [
        ("default/web-0", "3"),
        ("default/web-1", "2"),
        ("kube-sys/dns", "4"),
    ] {
        store.items.insert(key.into(), object(key, rv));
    }
    for (index, values) in [
        (
            "namespace",
            &[
                ("default", &["default/web-0", "default/web-1"][..]),
                ("kube-sys", &["kube-sys/dns"]),
            ][..],
        ),
        (
            "app",
            &[
                ("dns", &["kube-sys/dns"]),
                ("web", &["default/web-0", "default/web-1"]),
            ],
        ),
        (
            "node",
            &[
                ("node-1", &["default/web-0", "kube-sys/dns"]),
                ("node-2", &["default/web-1"]),
            ],
        ),
    ] {
        let entry = store.indices.entry(index.into()).or_default();
        for (value, keys) in values {
            entry.insert(
                (*value).into(),
                keys.iter().map(|key| (*key).into()).collect(),
            );
        }
    }
    let add = |key: &str, rv: &str| Notification::Add {
        object: object(key, rv),
        is_in_initial_list: true,
    };
    picture.handlers = vec![
        HandlerRoom {
            name: "first".into(),
            ..HandlerRoom::default()
        },
        HandlerRoom {
            name: "second (slow)".into(),
            latency_ms: 2000,
            pending: [add("kube-sys/dns", "4")].into(),
            running: Some(add("default/web-1", "2")),
            ..HandlerRoom::default()
        },
    ];
    picture.output = [
        "OnAdd: web-0",
        "OnAdd:second web-0",
        "OnAdd: web-1",
        "OnAdd: dns",
    ]
    .map(Arc::from)
    .into();
    let recent = delete_facts();
    View {
        picture: Rc::new(picture),
        recent: recent.into(),
        step: 38,
        time: 14_000,
        ..base()
    }
}

fn delete_facts() -> Vec<FactRecord> {
    let web = || object("default/web-1", "12");
    let reflector = Actor::Reflector;
    [
        (
            reflector,
            Step::ReflectorReceive,
            Fact::EventReceived {
                event: EventType::Deleted,
                object: web(),
            },
        ),
        (
            reflector,
            Step::DeleteLock,
            Fact::LockTaken { by: reflector },
        ),
        (
            Actor::ProcessLoop,
            Step::PopLock,
            Fact::LockAwaited {
                by: Actor::ProcessLoop,
                holder: reflector,
            },
        ),
        (
            reflector,
            Step::DeleteCheck,
            Fact::DeleteChecked {
                key: "default/web-1".into(),
                known: Some(Known::Yes("2".into())),
                pending: false,
            },
        ),
        (
            reflector,
            Step::QueueActionAppend,
            Fact::DeltaAppended {
                delta_type: DeltaType::Deleted,
                object: web(),
                depth: 1,
            },
        ),
        (
            reflector,
            Step::QueueActionEnqueue,
            Fact::KeyEnqueued {
                key: "default/web-1".into(),
                length: 3,
            },
        ),
    ]
    .into_iter()
    .zip(32..)
    .map(|((actor, step, fact), id)| FactRecord {
        id: FactId(id),
        time: 14_000,
        actor,
        cause: Cause::Fact(FactId(id - 1)),
        step,
        fact,
    })
    .collect()
}

fn start() -> View {
    let mut picture = Picture::default();
    picture.store.present = true;
    for index in ["namespace", "app", "node"] {
        picture
            .store
            .indices
            .insert(index.into(), Default::default());
    }
    picture.queue.known_objects = true;
    picture.handlers = vec![HandlerRoom {
        name: "first".into(),
        ..HandlerRoom::default()
    }];
    View {
        picture: Rc::new(picture),
        ..base()
    }
}

fn crowd() -> View {
    let view = moment();
    let mut picture = (*view.picture).clone();
    for n in 0..60 {
        let key = format!("team-{}/payments-api-7c9d8f5b64-{n:02}", n % 7);
        let rv = format!("{}", 20_471_400 + n);
        let object = object(&key, &rv);
        picture.api.objects.insert(
            key.as_str().into(),
            ApiObject {
                object: object.clone(),
                body: body("payments"),
                deleted: false,
            },
        );
        picture
            .store
            .items
            .insert(key.as_str().into(), object.clone());
        for (index, value) in [
            ("namespace", format!("team-{}", n % 7)),
            ("app", "payments".to_owned()),
            (
                "node",
                format!("ip-10-0-{}-17.eu-central-1.compute.internal", n % 5),
            ),
        ] {
            picture.store.indices[index]
                .entry(value.into())
                .or_default()
                .push(key.as_str().into());
        }
        if n < 10 {
            picture.queue.keys.push_front(key.as_str().into());
            picture.queue.deltas.insert(
                key.as_str().into(),
                (0..8 + n * 2)
                    .map(|i| {
                        (
                            if i == 0 {
                                DeltaType::Added
                            } else {
                                DeltaType::Updated
                            },
                            object.clone(),
                        )
                    })
                    .collect(),
            );
        }
        picture.api.stream.push_back(StreamLine {
            number: 5 + n,
            event: EventType::Modified,
            object: object.clone(),
            delivery: if n < 56 {
                Delivery::Received
            } else if n < 58 {
                Delivery::Waiting
            } else {
                Delivery::Lost
            },
        });
        picture
            .output
            .push_back(format!("OnUpdate:second payments-api-7c9d8f5b64-{n:02} Running").into());
    }
    picture.api.rv = "20471474".into();
    picture.api.watch = Some("20471400".into());
    picture.reflector.last_sync = "20471459".into();
    picture.reflector.events = 1234;
    picture.store.rv = "20471400".into();
    picture.store.behind = 59;
    let key = "team-0/payments-api-7c9d8f5b64-00";
    picture.pop.processing = Some(Popped {
        key: key.into(),
        deltas: (0..6)
            .map(|_| (DeltaType::Updated, object(key, "20471400")))
            .collect(),
        position: Some(2),
        is_in_initial_list: false,
    });
    for n in 0..4u8 {
        let pending = (0..5 + usize::from(n))
            .map(|_| Notification::Update {
                old: None,
                new: object(key, "1"),
            })
            .collect();
        picture.handlers.push(HandlerRoom {
            name: format!("reconciler-{n}").into(),
            pending,
            ..HandlerRoom::default()
        });
    }
    View {
        picture: Rc::new(picture),
        ..view
    }
}

fn real() -> View {
    let view = moment();
    let mut picture = (*view.picture).clone();
    picture.queue.kind = QueueKind::RealFifo;
    picture.queue.keys.clear();
    picture.queue.deltas.clear();
    picture.queue.entries.push_back(Entry::ReplacedAll {
        rv: "4".into(),
        objects: vec![
            object("default/web-0", "3"),
            object("default/web-1", "2"),
            object("kube-sys/dns", "4"),
        ],
    });
    for (delta_type, key, rv) in [
        (DeltaType::Added, "default/nettool", "5"),
        (DeltaType::Updated, "default/nettool", "7"),
        (DeltaType::Updated, "default/web-0", "9"),
        (DeltaType::Deleted, "default/web-1", "12"),
    ] {
        picture
            .queue
            .entries
            .push_back(Entry::Delta(delta_type, object(key, rv)));
    }
    View {
        picture: Rc::new(picture),
        ..view
    }
}

fn program() -> View {
    let view = moment();
    let mut picture = (*view.picture).clone();
    picture.api = Default::default();
    picture.api.feed = Feed::Program;
    picture.reflector = Default::default();
    picture.store = Default::default();
    picture.handlers.clear();
    let recent: Vec<_> = [
        (DeltaType::Added, "1"),
        (DeltaType::Updated, "2"),
        (DeltaType::Deleted, "2"),
    ]
    .into_iter()
    .zip(0..)
    .map(|((delta_type, rv), id)| FactRecord {
        id: FactId(id),
        time: 0,
        actor: Actor::Program,
        cause: Cause::Start,
        step: Step::ProgramCall,
        fact: Fact::Called {
            delta_type,
            object: object("default/pod1", rv),
        },
    })
    .collect();
    View {
        picture: Rc::new(picture),
        recent: recent.into(),
        ..view
    }
}

fn recorded() -> View {
    let view = moment();
    let mut picture = (*view.picture).clone();
    picture.api.feed = Feed::Recorded;
    picture.api.objects.clear();
    View {
        picture: Rc::new(picture),
        error: Some(super::view::ErrorView {
            message: text(
                "This line is not JSON: expected `,` at column 100.",
                "这一行不是 JSON：第 100 列应为 `,`。",
            ),
            line: Some(5),
        }),
        ..view
    }
}
