//! The fold of the facts equals the world after every step, and each fact has its cause.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltascope::cache::fact::{EventType, Fact, FactRecord, ProcessMode, QueueFact};
use deltascope::replay::lessons;
use deltascope::replay::picture::{Picture, QueueKind};
use deltascope::world::source::Command;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::wire::{Recorded, RecordedEvent, RecordedList};
use deltascope::world::virtual_time::{Input, Settings, SourceKind, World};
use proptest::prelude::*;

use super::causes::{cause, is_caused};
use super::{Op, input, ops, pod, scenario, settings};
use crate::of_world::picture_of;

fn start(world: &World<AnySource>) -> Picture {
    let picture = Picture::start(world);
    assert_eq!(picture, picture_of(world), "before the first fact");
    picture
}

/// Applies the new facts and compares the fold with the world.
fn check(world: &mut World<AnySource>, picture: &mut Picture, all: &mut Vec<FactRecord>) {
    for record in world.drain() {
        picture.apply(&record);
        // Even between the facts of one step a key is queued exactly when it has deltas.
        let queued: BTreeSet<_> = picture.queue.keys.iter().collect();
        if picture.queue.kind == QueueKind::Fifo {
            // A FIFO's keys may have lost their objects, and be queued twice.
            let mut keys = picture.queue.deltas.keys();
            let set = matches!(record.fact, Fact::Queue(QueueFact::FifoItemSet { .. }));
            assert!(set || keys.all(|key| queued.contains(key)));
        } else {
            assert!(queued.iter().copied().eq(picture.queue.deltas.keys()));
            assert_eq!(queued.len(), picture.queue.keys.len());
        }
        all.push(record);
    }
    assert_eq!(*picture, picture_of(world), "after {:#?}", all.last());
}

/// Any content of a file, and more: objects without a version, errors and cuts in the middle.
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_of_the_facts_is_the_world_after_every_step(settings in settings(), ops in ops()) {
        let scenario = scenario(settings);
        let mut world = scenario.build().unwrap();
        let mut picture = start(&world);
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

    #[test]
    fn a_fold_of_a_recording_is_the_world_after_every_step(
        settings in settings(),
        recorded in recorded(),
        ops in ops(),
    ) {
        // A resync timer never ends.
        let settings = Settings { source: SourceKind::Recorded, resync_ms: 0, ..settings };
        let scenario = Scenario { recorded: Some(recorded), ..scenario(settings) };
        let mut world = scenario.build().unwrap();
        let mut picture = start(&world);
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
        let mut picture = start(&world);
        let mut facts = Vec::new();
        for n in 0..writes {
            if n == compact {
                world.input(Input::Source(Command::Compact));
            }
            world.input(input(&if n < 15 { Op::Create(n, 0) } else { Op::Update(n % 15, n) }).unwrap());
            check(&mut world, &mut picture, &mut facts);
        }
    }
}

#[test]
fn every_lesson_starts_with_the_picture_of_its_world() {
    for (id, _) in lessons::menu() {
        start(&lessons::load(&id).unwrap().scenario.build().unwrap());
    }
}

#[test]
fn a_long_run_drops_the_same_lines_and_events_in_the_picture_and_in_the_world() {
    let mut scenario = lessons::load("sandbox").unwrap().scenario;
    scenario.settings.mode = ProcessMode::Free;
    let mut world = scenario.build().unwrap();
    let mut picture = start(&world);
    while picture.output.len() < 500 || picture.api.sent < 400 || world.count() < 9_000 {
        assert!(world.step());
        for record in world.drain() {
            picture.apply(&record);
        }
        if world.count().is_multiple_of(16) {
            assert_eq!(picture, picture_of(&world), "after {} facts", world.count());
        }
    }
    assert_eq!(picture, picture_of(&world));
}
