//! The animation cannot lie: a fold of the facts is the world, after every step.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;

use deltascope::cache::fact::{Cause, EventType, FactRecord, ProcessMode};
use deltascope::replay::picture::Picture;
use deltascope::replay::timeline::Timeline;
use deltascope::runtime::virtual_time::{Feed, HandlerSettings, Input, Settings, World};
use deltascope::source::Command;
use deltascope::source::any::AnySource;
use deltascope::source::pod::{PodSpec, Write};
use deltascope::source::scenario::Scenario;
use deltascope::source::wire::{Recorded, RecordedEvent, RecordedList};
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
    ];
    prop::collection::vec(op, 1..60)
}

fn settings() -> impl Strategy<Value = Settings> {
    (
        any::<u64>(),
        any::<bool>(),
        prop_oneof![3 => Just(Feed::Server), 1 => Just(Feed::Program)],
        any::<(bool, bool, bool, bool)>(),
        prop_oneof![Just(0u32), Just(120)],
        0..3usize,
    )
        .prop_map(
            |(seed, interleave, feed, (known, store, replaced, by_type), process_ms, handlers)| {
                Settings {
                    seed,
                    interleave,
                    feed,
                    known_objects: known,
                    store,
                    emit_delta_type_replaced: replaced,
                    by_type,
                    process_ms,
                    indices: vec!["namespace".into(), "app".into(), "node".into()],
                    handlers: (0..handlers)
                        .map(|n| HandlerSettings {
                            name: format!("h{n}").into(),
                            inline: n == 1,
                            latency_ms: 200 * n as u32,
                            on_add: vec!["OnAdd {name}".into()],
                            on_update: vec!["OnUpdate {name} {rv} {phase}".into()],
                            on_delete: vec!["OnDelete {name}".into()],
                        })
                        .collect(),
                    ..Settings::default()
                }
            },
        )
}

/// Applies what is new and holds the fold against the world.
fn check(world: &mut World<AnySource>, picture: &mut Picture, all: &mut Vec<FactRecord>) {
    for record in world.drain() {
        picture.apply(&record);
        // Also between the facts of one step a key is queued exactly when it has deltas.
        let queued: BTreeSet<_> = picture.queue.keys.iter().collect();
        assert!(queued.iter().copied().eq(picture.queue.deltas.keys()));
        assert_eq!(queued.len(), picture.queue.keys.len());
        all.push(record);
    }
    assert_eq!(*picture, Picture::of(world), "after {:#?}", all.last());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_of_the_facts_is_the_world_after_every_step(settings in settings(), ops in ops()) {
        let scenario = Scenario { settings, ..Scenario::default() };
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
            if let Cause::Fact(cause) = record.cause {
                prop_assert!(cause < record.id, "{:?}", record);
            }
        }
    }

    #[test]
    fn a_fold_of_a_recording_is_its_world_after_every_step(
        list in any::<bool>(),
        events in prop::collection::vec((0..5u8, any::<u8>(), any::<u8>()), 0..40),
        settings in settings(),
    ) {
        let mut rv = 10;
        let recorded = Recorded {
            start: list.then(|| RecordedList {
                rv: "10".into(),
                items: (0..3).map(|name| std::sync::Arc::new(pod(name, name).into_object())).collect(),
                ..RecordedList::default()
            }),
            events: events.iter().map(|(kind, name, flavour)| {
                rv += 1;
                let mut object = pod(*name, *flavour).into_object();
                object.metadata.resource_version = Some(rv.to_string());
                let event = match kind {
                    0 => EventType::Added,
                    1 | 2 => EventType::Modified,
                    3 => EventType::Deleted,
                    _ => return RecordedEvent::Bookmark { rv: rv.to_string().into(), initial_events_end: false },
                };
                RecordedEvent::Object { event, object: object.into() }
            }).collect(),
            has_watch: true,
            error: None,
        };
        let settings = Settings { feed: Feed::Recorded, ..settings };
        let scenario = Scenario { settings, recorded: Some(recorded), ..Scenario::default() };
        let mut world = scenario.build().unwrap();
        let mut picture = Picture::of(&world);
        let mut facts = Vec::new();
        while world.step() {
            check(&mut world, &mut picture, &mut facts);
        }
    }

    #[test]
    fn any_walk_back_and_forth_ends_in_the_identical_picture(
        settings in settings(),
        ops in ops(),
        walk in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let scenario = Scenario { settings, ..Scenario::default() };
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                let shown = timeline.insert(timeline.len(), input);
                prop_assert!(shown <= timeline.len());
            }
        }
        let mut pictures = vec![timeline.picture(0)];
        for record in timeline.facts() {
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
    fn an_input_into_the_past_keeps_what_came_before(
        settings in settings(),
        ops in ops(),
        place in any::<prop::sample::Index>(),
    ) {
        let scenario = Scenario { settings, ..Scenario::default() };
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                timeline.insert(timeline.len(), input);
            }
        }
        let before: Vec<FactRecord> = timeline.facts().to_vec();
        let step = place.index(before.len() + 1);
        let shown = timeline.insert(step, Input::Mode(ProcessMode::Held));
        prop_assert_eq!(&timeline.facts()[..step], &before[..step]);
        prop_assert!(shown >= step && shown <= timeline.len());
        let mut picture = timeline.picture(0);
        for record in timeline.facts() {
            picture.apply(record);
        }
        prop_assert_eq!(picture, timeline.picture(timeline.len()));
    }
}
