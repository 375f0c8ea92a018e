//! Whole informers under the virtual scheduler: whoever goes first, nobody is left waiting, and in the
//! end the store is what the server has and every handler has been told so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests; `make soak` asks for more by the environment"
)]

use std::collections::BTreeMap;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, FactRecord, Notification};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::replay::picture::{Delivery, Picture};
use deltascope::runtime::rng::Rng;
use deltascope::runtime::virtual_time::{
    Era, HandlerSettings, Input, Machinery, Settings, WorkSettings, World,
};
use deltascope::source::any::AnySource;
use deltascope::source::pod::{PodSpec, Write};
use deltascope::source::scenario::Scenario;
use deltascope::source::{Command, Refusals};

/// How many seeds there are: 100, or what `SOAK_SEEDS` says (as `make soak` does).
fn seeds() -> u64 {
    std::env::var("SOAK_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(100)
}

fn pod(rng: &mut Rng) -> PodSpec {
    PodSpec {
        namespace: ["a", "b"][rng.below(2) as usize].to_owned(),
        name: format!("p{}", rng.below(6)),
        labels: [("app".to_owned(), format!("app-{}", rng.below(3)))].into(),
        node: format!("n{}", rng.below(2)),
        phase: "Running".to_owned(),
    }
}

fn handler(rng: &mut Rng, name: &str) -> HandlerSettings {
    HandlerSettings {
        name: name.into(),
        latency_ms: rng.below(4) as u32 * 70,
        queues: rng.chance(50),
        ..HandlerSettings::default()
    }
}

fn scenario(seed: u64, rng: &mut Rng) -> Scenario {
    let generation = Generation::ALL[(seed % 4) as usize];
    let shared = !rng.chance(20);
    Scenario {
        settings: Settings {
            seed,
            interleave: true,
            machinery: if shared {
                Machinery::Shared
            } else {
                Machinery::Plain
            },
            era: Era(generation),
            watch_list: Some(rng.chance(50)),
            refuses_streaming: rng.chance(20),
            page_size: rng.below(3) as u32,
            process_ms: rng.below(2) as u32 * 25,
            indices: vec!["namespace".into(), "app".into()],
            handlers: (0..rng.below(4))
                .map(|n| handler(rng, &format!("h{n}")))
                .collect(),
            work: rng.chance(50).then(|| WorkSettings {
                workers: 1 + rng.below(2) as u8,
                latency_ms: 30,
                failures: rng.below(3) as u32,
            }),
            ..Settings::default()
        },
        ..Scenario::default()
    }
}

fn input(rng: &mut Rng) -> Input<Command> {
    let source = Input::Source;
    match rng.below(20) {
        0..6 => source(Command::Write(Write::Create(pod(rng).into_object()))),
        6..10 => source(Command::Write(Write::Update(pod(rng).into_object()))),
        10..13 => {
            let PodSpec {
                namespace, name, ..
            } = pod(rng);
            source(Command::Write(Write::Delete { namespace, name }))
        }
        13 => source(Command::Cut),
        14 => source(Command::Compact),
        15 => source(Command::Close),
        16 => source(Command::Bookmark),
        17 => source(Command::ErrorEvent([410, 429, 500][rng.below(3) as usize])),
        18 => source(Command::Refuse(Refusals {
            watch: rng.chance(50),
            kind: [
                ApiErrorKind::Expired,
                ApiErrorKind::TooLarge,
                ApiErrorKind::TooManyRequests,
                ApiErrorKind::Forbidden,
                ApiErrorKind::InternalError,
            ][rng.below(5) as usize],
            times: 1 + rng.below(2) as u32,
        })),
        _ if rng.chance(70) => Input::AddHandler(handler(rng, "late")),
        _ => Input::RemoveHandler(rng.below(4) as u8),
    }
}

/// What a handler would have if it had kept what it was told.
fn kept(facts: &[FactRecord], number: usize) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    for record in facts {
        let Fact::NotificationTaken {
            handler,
            notification,
        } = &record.fact
        else {
            continue;
        };
        if usize::from(*handler) != number {
            continue;
        }
        match notification {
            Notification::Add { object, .. } | Notification::Update { new: object, .. } => {
                kept.insert(object.key.to_string(), object.rv.to_string());
            }
            Notification::Delete { object } => {
                kept.remove(object.key.as_str());
            }
        }
    }
    kept
}

fn run(seed: u64) {
    let mut rng = Rng::new(seed);
    let scenario = scenario(seed, &mut rng);
    let mut world: World<AnySource> = scenario.build().unwrap();
    let mut facts = Vec::new();
    for _ in 0..rng.between(10, 40) {
        world.input(input(&mut rng));
        for _ in 0..rng.below(25) {
            world.step();
        }
        facts.append(&mut world.drain());
    }
    // A watch does not notice that a server has forgotten; what is on the way arrives.
    let mut left = 200_000;
    while world.step() {
        left -= 1;
        assert!(left > 0, "seed {seed}: no end");
        facts.append(&mut world.drain());
    }
    facts.append(&mut world.drain());

    let picture = Picture::of(&world);
    let stuck = format!("seed {seed}: {:?}", scenario.settings);
    assert_eq!(picture.lock.holder, None, "{stuck}");
    assert_eq!(picture.block_deltas.holder, None, "{stuck}");
    assert!(picture.lock.waiting.is_empty(), "{stuck}");
    assert!(picture.block_deltas.waiting.is_empty(), "{stuck}");
    assert!(picture.asked.is_empty(), "{stuck}");
    assert!(picture.queue.keys.is_empty(), "{stuck}");
    assert!(picture.queue.entries.is_empty(), "{stuck}");
    assert_eq!(picture.pop.processing, None, "{stuck}");
    assert!(picture.queue.synced, "{stuck}");
    let waiting =
        |line: &&deltascope::replay::picture::StreamLine| line.delivery == Delivery::Waiting;
    assert_eq!(
        picture.api.stream.iter().filter(waiting).count(),
        0,
        "{stuck}"
    );

    let server: BTreeMap<String, String> = picture
        .api
        .objects
        .values()
        .filter(|object| !object.deleted)
        .map(|object| (object.object.key.to_string(), object.object.rv.to_string()))
        .collect();
    let store: BTreeMap<String, String> = picture
        .store
        .items
        .iter()
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect();
    assert_eq!(store, server, "{stuck}");
    for (number, handler) in picture.handlers.iter().enumerate() {
        assert!(handler.pending.is_empty(), "{stuck}");
        assert_eq!(handler.running, None, "{stuck}");
        if !handler.removed {
            assert_eq!(kept(&facts, number), server, "{stuck}: {}", handler.name);
            assert!(
                handler.synced || handler.inline,
                "{stuck}: {}",
                handler.name
            );
        }
    }
    if let Some(work) = &picture.work {
        assert!(work.queue.is_empty() && work.dirty.is_empty(), "{stuck}");
        assert!(work.workers.iter().all(Option::is_none), "{stuck}");
        assert!(work.failures.is_empty(), "{stuck}");
    }
}

#[test]
fn nobody_is_left_waiting_whoever_goes_first() {
    for seed in 0..seeds() {
        run(seed);
    }
}
