use std::collections::BTreeSet;

use super::state::Differs;
use super::*;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Body, Cause, Entry, Fact, FactId, HandlersFact, LockName, NotificationRef, ObjectRef,
    QueueFact, ServerFact, Shape, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::rng::Rng;
use deltascope_cache::selector::Selector;
use deltascope_cache::step::Step;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::Input;

fn object(rv: &str) -> ObjectRef {
    ObjectRef {
        key: "a/b".into(),
        shape: Shape::Object,
        rv: rv.into(),
        uid: "u".into(),
    }
}

fn key() -> Key {
    "a/b".into()
}

fn created(rv: &str) -> Fact {
    Fact::Server(ServerFact::ObjectCreated {
        object: object(rv),
        body: Body::default(),
    })
}

fn stored(rv: &str) -> Fact {
    Fact::Store(StoreFact::ItemStored {
        object: object(rv),
        old: None,
    })
}

fn indexed(value: &str) -> Fact {
    Fact::Store(StoreFact::IndexEntryAdded {
        index: "app".into(),
        value: value.into(),
        key: key(),
    })
}

fn add(rv: &str, is_in_initial_list: bool) -> NotificationRef {
    NotificationRef::Add {
        object: object(rv),
        is_in_initial_list,
    }
}

fn taken(notification: NotificationRef) -> Fact {
    Fact::Handlers(HandlersFact::NotificationTaken {
        handler: 0,
        notification,
    })
}

fn queued(notification: NotificationRef) -> Fact {
    Fact::Handlers(HandlersFact::NotificationQueued {
        handler: 0,
        notification,
        pending: 1,
    })
}

fn lock(by: Actor) -> Fact {
    Fact::Queue(QueueFact::LockTaken {
        lock: LockName::Queue,
        by,
    })
}

fn appended(rv: &str) -> Fact {
    Fact::Queue(QueueFact::DeltaAppended {
        delta_type: DeltaType::Added,
        object: object(rv),
        depth: 1,
    })
}

fn enqueued() -> Fact {
    Fact::Queue(QueueFact::KeyEnqueued {
        key: key(),
        length: 1,
    })
}

fn popped(deltas: usize) -> Fact {
    Fact::Queue(QueueFact::KeyPopped {
        key: key(),
        deltas: vec![(DeltaType::Added, object("5")); deltas],
        is_in_initial_list: true,
    })
}

fn settings(generation: Generation) -> Scenario {
    let settings = serde_json::json!({ "machinery": "shared", "era": generation.version(),
        "indices": ["app"], "handlers": [{ "name": "h" }], "work": { "workers": 2 } });
    Scenario {
        settings: serde_json::from_value(settings).unwrap(),
        ..Scenario::default()
    }
}

/// The violations of these facts, which the reflector states one virtual ms apart.
fn broken(generation: Generation, facts: Vec<Fact>) -> Vec<Violation> {
    let world = settings(generation).build().unwrap();
    let mut invariants = Invariants::new(&Picture::start(&world), false);
    for (place, fact) in facts.into_iter().enumerate() {
        let record = FactRecord {
            id: FactId(0),
            time: place as u64,
            actor: Actor::Reflector,
            cause: Cause::Start,
            step: Step::StoreWrite,
            fact,
        };
        invariants.see(place, &record);
    }
    invariants.end();
    invariants.violations().to_vec()
}

#[test]
fn every_invariant_reports_the_fact_that_violates_it() {
    use Generation::{Atomic, Classic, InOrder};
    let watched = || {
        let rv: Rv = "9".into();
        vec![Fact::Server(ServerFact::WatchAccepted { rv }), created("5")]
    };
    let good = || {
        vec![
            created("5"),
            stored("5"),
            indexed("web"),
            Fact::Queue(QueueFact::QueueEmpty),
        ]
    };
    let with = |mut before: Vec<Fact>, mut facts: Vec<Fact>| {
        before.append(&mut facts);
        before
    };
    let work = |worker| Fact::Work(WorkFact::WorkTaken { worker, key: key() });
    let entry = |length| {
        Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::Delta(DeltaType::Added, object("5")),
            length,
        })
    };
    let reflector = Actor::Reflector;
    let released = Fact::Queue(QueueFact::LockReleased {
        lock: LockName::Queue,
        by: reflector,
    });
    let ignored = Fact::Queue(QueueFact::DeleteIgnored { key: key() });
    let first_list = Fact::Queue(QueueFact::Populated { initial: 1 });
    // (generation, facts, violation, its position, known)
    let differs = |server: &str, here: &str| ViolationKind::Differs {
        server: server.into(),
        here: here.into(),
    };
    // Each fact has its own virtual time, so at rest a handler has to know the stored objects.
    let notified = || {
        let before = with(vec![queued(add("5", true))], good());
        with(before, vec![taken(add("5", true))])
    };
    let done = Fact::Handlers(HandlersFact::NotificationHandled { handler: 0 });
    let table: Vec<(Generation, Vec<Fact>, Invariant, ViolationKind, usize, bool)> = vec![
        (
            Atomic,
            vec![created("5"), stored("4")],
            Invariant::Past,
            ViolationKind::NeverExisted("4".into()),
            2,
            false,
        ),
        (
            Atomic,
            watched(),
            Invariant::Lost,
            differs("5", ""),
            2,
            false,
        ),
        (
            Classic,
            with(good(), vec![ignored]),
            Invariant::Lost,
            ViolationKind::DeleteDropped,
            5,
            true,
        ),
        (
            Classic,
            vec![lock(reflector), appended("5"), released.clone()],
            Invariant::Queue,
            ViolationKind::QueueUneven,
            3,
            false,
        ),
        (
            Classic,
            vec![lock(reflector), appended("5"), enqueued(), popped(2)],
            Invariant::Queue,
            ViolationKind::QueueCount(2, 1),
            4,
            false,
        ),
        (
            InOrder,
            vec![lock(reflector), entry(2)],
            Invariant::Queue,
            ViolationKind::QueueCount(2, 1),
            2,
            false,
        ),
        (
            Classic,
            vec![lock(Actor::ProcessLoop), lock(reflector)],
            Invariant::Lock,
            ViolationKind::LockStolen(Actor::ProcessLoop),
            2,
            false,
        ),
        (
            Classic,
            vec![released],
            Invariant::Lock,
            ViolationKind::LockStolen(reflector),
            1,
            false,
        ),
        (
            Classic,
            vec![appended("5")],
            Invariant::Lock,
            ViolationKind::Unlocked(reflector),
            1,
            false,
        ),
        (
            Atomic,
            vec![
                created("5"),
                stored("5"),
                Fact::Queue(QueueFact::QueueEmpty),
            ],
            Invariant::Index,
            ViolationKind::IndexCount("app".into(), 0),
            3,
            false,
        ),
        (
            Atomic,
            with(
                good(),
                vec![indexed("db"), Fact::Queue(QueueFact::QueueEmpty)],
            ),
            Invariant::Index,
            ViolationKind::IndexCount("app".into(), 2),
            6,
            false,
        ),
        (
            Atomic,
            vec![indexed("db"), Fact::Queue(QueueFact::QueueEmpty)],
            Invariant::Index,
            ViolationKind::IndexDangling("app".into()),
            2,
            false,
        ),
        (
            Atomic,
            with(good(), vec![created("7"), stored("7"), stored("5")]),
            Invariant::Back,
            ViolationKind::WentBack("7".into(), "5".into()),
            7,
            false,
        ),
        (
            Atomic,
            vec![Fact::Store(StoreFact::StoreVersionMoved {
                from: "10".into(),
                to: "9".into(),
            })],
            Invariant::Back,
            ViolationKind::WentBack("10".into(), "9".into()),
            1,
            false,
        ),
        (
            Atomic,
            vec![first_list.clone(), Fact::Queue(QueueFact::Synced)],
            Invariant::Synced,
            ViolationKind::TooEarly(1),
            2,
            false,
        ),
        (
            Atomic,
            vec![
                queued(add("5", true)),
                Fact::Handlers(HandlersFact::NotificationSent {
                    handler: 0,
                    notification: add("5", true),
                }),
                Fact::Queue(QueueFact::Populated { initial: 0 }),
                Fact::Queue(QueueFact::Synced),
                Fact::Handlers(HandlersFact::HandlerSynced { handler: 0 }),
            ],
            Invariant::Synced,
            ViolationKind::TooEarly(1),
            5,
            false,
        ),
        (
            Classic,
            vec![
                lock(reflector),
                appended("5"),
                enqueued(),
                first_list,
                popped(1),
                Fact::Queue(QueueFact::Synced),
            ],
            Invariant::Early,
            ViolationKind::TooEarly(1),
            6,
            true,
        ),
        (
            Atomic,
            with(
                good(),
                vec![
                    queued(add("5", true)),
                    queued(add("6", true)),
                    taken(add("6", true)),
                ],
            ),
            Invariant::Order,
            ViolationKind::Overtaken,
            7,
            false,
        ),
        (
            Atomic,
            with(notified(), vec![taken(add("5", false))]),
            Invariant::Order,
            ViolationKind::AddedTwice,
            7,
            true,
        ),
        (
            Classic,
            with(
                good(),
                vec![taken(NotificationRef::Delete {
                    object: object("5"),
                })],
            ),
            Invariant::Order,
            ViolationKind::NotAddedBefore,
            5,
            false,
        ),
        (
            InOrder,
            with(
                good(),
                vec![taken(NotificationRef::Delete {
                    object: object("5"),
                })],
            ),
            Invariant::Order,
            ViolationKind::NotAddedBefore,
            5,
            true,
        ),
        (
            Atomic,
            with(
                good(),
                vec![
                    taken(add("5", true)),
                    taken(NotificationRef::Update {
                        old: None,
                        new: object("4"),
                    }),
                ],
            ),
            Invariant::Order,
            ViolationKind::WentBack("5".into(), "4".into()),
            6,
            false,
        ),
        (
            Atomic,
            with(
                notified(),
                vec![done.clone(), stored("5"), created("6"), stored("6")],
            ),
            Invariant::Notified,
            differs("6", "5"),
            10,
            false,
        ),
        (
            Atomic,
            with(
                notified(),
                vec![Fact::Handlers(HandlersFact::ObjectMutated {
                    key: key(),
                    handler: 0,
                })],
            ),
            Invariant::Shared,
            ViolationKind::Written,
            7,
            true,
        ),
        (
            Atomic,
            with(
                notified(),
                vec![Fact::Handlers(HandlersFact::MutationDetected {
                    key: key(),
                })],
            ),
            Invariant::Shared,
            ViolationKind::Written,
            7,
            true,
        ),
        (
            Atomic,
            vec![work(0), work(1)],
            Invariant::Work,
            ViolationKind::TwoWorkers(0),
            2,
            false,
        ),
    ];
    for (generation, facts, invariant, what, at, known) in table {
        let found = broken(generation, facts);
        let one = found.iter().find(|found| found.invariant == invariant);
        let one = one.unwrap_or_else(|| panic!("{invariant:?} {what:?}: {found:#?}"));
        assert_eq!(
            (&one.what, one.at, one.known),
            (&what, at, known),
            "{found:#?}"
        );
    }
    // The facts that these cases build on violate nothing.
    let worked = vec![
        work(0),
        Fact::Work(WorkFact::WorkDone {
            key: key(),
            again: false,
        }),
        work(1),
    ];
    let added = Fact::Work(WorkFact::WorkAdded {
        key: key(),
        place: WorkPlace::Queue,
    });
    let good = with(with(notified(), vec![done, added]), worked);
    assert_eq!(broken(Atomic, good), []);
}

/// A manual queue loses a delete without KnownObjects, and keeps it with them.
#[test]
fn a_delete_dropped_by_a_queue_without_known_objects_is_reported_with_its_key() {
    for known in [false, true] {
        let text = serde_json::json!({ "settings": { "knownObjects": known, "store": true,
                "handlers": [{ "name": "h", "inline": true }] },
            "script": [
                { "at": 1000, "op": "create", "object": { "metadata": { "namespace": "a", "name": "b" } } },
                { "at": 2000, "op": "delete", "object": { "metadata": { "namespace": "a", "name": "b" } } }] });
        let scenario: Scenario = serde_json::from_value(text).unwrap();
        let timeline = Timeline::new(scenario).unwrap();
        let invariants = Invariants::of(&timeline);
        let found = invariants.violations();
        if known {
            assert_eq!(found, []);
            continue;
        }
        let [lost] = found else { panic!("{found:?}") };
        assert_eq!(
            (lost.invariant, &lost.what, lost.known),
            (Invariant::Lost, &ViolationKind::DeleteDropped, true)
        );
        assert_eq!(lost.key, Some(key()));
        let fact = timeline.fact(lost.at - 1).unwrap().fact;
        assert_eq!(fact, Fact::Queue(QueueFact::DeleteIgnored { key: key() }));
    }
}

#[test]
fn seeded_traffic_causes_only_known_violations() {
    for seed in 0..3 {
        for generation in Generation::ALL {
            let mut scenario = settings(generation);
            scenario.traffic = Some(seed);
            scenario.settings.process_ms = seed as u32 * 30;
            if seed == 1 {
                // Most changes do not match the selector, or the objects leave and come back.
                scenario.settings.selector = Selector::parse("app notin (web,api)").ok();
            }
            let mut timeline = Timeline::new(scenario).unwrap();
            timeline.extend(12_000);
            timeline.insert(3_000, Input::Source(deltascope_world::source::Command::Cut));
            timeline.extend(5_000);
            timeline.insert(
                4_000,
                Input::Source(deltascope_world::source::Command::Compact),
            );
            timeline.insert(4_100, Input::Source(deltascope_world::source::Command::Cut));
            timeline.extend(12_000);
            let invariants = Invariants::of(&timeline);
            let found: Vec<_> = invariants
                .violations()
                .iter()
                .map(|one| one.invariant)
                .collect();
            let early = [Invariant::Early];
            let expected = if generation == Generation::Atomic {
                &[][..]
            } else {
                &early
            };
            assert_eq!(
                found,
                expected,
                "{seed} {generation:?} {:#?}",
                invariants.violations()
            );
        }
    }
}

#[test]
fn a_cut_run_is_checked_like_a_run_that_was_never_longer() {
    let mut scenario = settings(Generation::Classic);
    scenario.traffic = Some(1);
    scenario.settings.mode = super::super::picture::ProcessMode::Paced(50);
    // With few checkpoints there are few states to resume from.
    for checkpoints in [usize::MAX, 2] {
        let timeline = Timeline::new(scenario.clone()).unwrap();
        let mut timeline = timeline.with_checkpoints(checkpoints);
        let mut invariants = Invariants::of(&timeline);
        for (extend, cut) in [(9_000, 4_300), (6_000, 40), (200, 100), (5_000, 4_990)] {
            timeline.extend(extend);
            invariants.check_new(&timeline);
            assert!(invariants.kept.len() <= timeline.checkpoints());
            invariants.cut(cut);
            timeline.insert(cut, Input::Source(deltascope_world::source::Command::Cut));
            invariants.check_new(&timeline);
            let anew = Invariants::of(&timeline);
            assert_eq!(invariants.violations(), anew.violations());
            assert_eq!(
                format!("{:?}", invariants.state),
                format!("{:?}", anew.state)
            );
        }
    }
}

#[test]
fn a_run_continued_after_its_end_is_checked_like_a_run_that_never_ended() {
    // Inputs at the end of a run, in the ms in which everything seemed at rest.
    let world = settings(Generation::Atomic).build().unwrap();
    let record = |fact| FactRecord {
        id: FactId(0),
        time: 7,
        actor: Actor::Reflector,
        cause: Cause::Start,
        step: Step::StoreWrite,
        fact,
    };
    let watched = Fact::Server(ServerFact::WatchAccepted { rv: "9".into() });
    let facts = [watched, created("5"), stored("5"), indexed("web")].map(record);
    let fold = |ends: &[usize]| {
        let mut invariants = Invariants::new(&Picture::start(&world), false);
        for (place, record) in facts.iter().enumerate() {
            if ends.contains(&place) {
                invariants.end();
                invariants.cut(place);
            }
            invariants.see(place, record);
        }
        invariants.end();
        invariants
    };
    let (anew, ended) = (fold(&[]), fold(&[0, 1, 2, 3]));
    assert!(
        !anew
            .found
            .iter()
            .any(|found| found.invariant == Invariant::Lost)
    );
    assert_eq!(ended.violations(), anew.violations());
    // A violation found at the end of an earlier ms stays.
    let mut late = facts.clone();
    late[2].time += 1;
    let mut invariants = Invariants::new(&Picture::start(&world), false);
    for (place, record) in late.iter().enumerate() {
        invariants.see(place, record);
    }
    invariants.end();
    invariants.cut(4);
    let lost = invariants.violations().iter();
    assert_eq!(
        lost.filter(|found| (found.invariant, found.at) == (Invariant::Lost, 2))
            .count(),
        1
    );
    // Whole runs, continued from their ends.
    for generation in Generation::ALL {
        for process_ms in [0, 300] {
            let mut scenario = settings(generation);
            scenario.settings.process_ms = process_ms;
            let mut timeline = Timeline::new(scenario).unwrap();
            assert!(!timeline.is_endless());
            let mut invariants = Invariants::of(&timeline);
            for name in ["x", "y", "z"] {
                let object = serde_json::json!({ "metadata": { "name": name } });
                let object = deltascope_world::source::pod::from_json(object).unwrap();
                let write = deltascope_world::source::pod::Write::Create(object);
                for input in [
                    deltascope_world::source::Command::Write(write),
                    deltascope_world::source::Command::Compact,
                    deltascope_world::source::Command::Cut,
                ] {
                    let end = timeline.len();
                    invariants.cut(end);
                    timeline.insert(end, Input::Source(input));
                    invariants.check_new(&timeline);
                    let anew = Invariants::of(&timeline);
                    assert_eq!(invariants.violations(), anew.violations());
                    assert_eq!(invariants.at_rest, anew.at_rest);
                }
            }
        }
    }
}

#[test]
fn numeric_versions_are_compared_as_numbers() {
    for (one, other, older) in [
        ("9", "10", true),
        ("10", "9", false),
        ("9", "9", false),
        ("", "1", false),
        ("a", "b", false),
        ("08", "9", false),
        ("0", "1", true),
    ] {
        assert_eq!(is_older(one, other), older, "{one} {other}");
    }
}

#[test]
fn what_differs_is_noted_as_in_a_set() {
    let (mut differs, mut set) = (Differs::default(), BTreeSet::new());
    let keys: Vec<Key> = (100..400).map(|n| n.to_string().as_str().into()).collect();
    let mut note = |key: &Key, is: bool| {
        differs.note(key, is);
        if is {
            set.insert(key.clone());
        } else {
            set.remove(key);
        }
        assert_eq!(differs.first(), set.first());
    };
    for is in [true, true, false, false] {
        keys.iter().for_each(|key| note(key, is));
    }
    let mut rng = Rng::new(7);
    for _ in 0..2_000 {
        note(&keys[rng.below(300) as usize], rng.below(3) == 0);
    }
}
