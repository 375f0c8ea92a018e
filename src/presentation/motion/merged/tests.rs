//! How long the scenes of the lessons' runs take, and what moves at once.

use std::collections::BTreeMap;

use super::*;
use crate::motion::pace;
use crate::stage::Panel;
use crate::view::{RECENT, View};
use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Cause, Entry, FactId, ObjectRef, ReflectorFact, ServerFact, Shape, StoreFact,
};
use deltascope_cache::step::Step;
use deltascope_replay::beat::{MOST, beat};
use deltascope_replay::lessons;
use deltascope_replay::timeline::Timeline;
use deltascope_world::text::Lang;

/// The scenes of a run's beats, each with its facts.
fn scenes(timeline: &Timeline, from: usize) -> Vec<(Vec<FactRecord>, Scene)> {
    let mut picture = timeline.picture(from);
    let (mut at, mut scenes) = (from, Vec::new());
    while let Some(beat) = beat(&timeline.facts(at..at + MOST)) {
        let facts = timeline.facts(at..at + beat.facts).to_vec();
        let mut merged = Merged::default();
        for record in &facts {
            picture.apply(record);
            merged.add(record, &picture);
        }
        scenes.push((facts, merged.scene()));
        at += beat.facts;
    }
    scenes
}

/// The same as playback shows them: each for as long as its sentence takes to read, in the language that takes longer.
fn paced(timeline: &Timeline, from: usize) -> Vec<(Vec<FactRecord>, Scene)> {
    let mut at = from;
    let mut all = scenes(timeline, from);
    for (facts, scene) in &mut all {
        let Some(beat) = beat(&timeline.facts(at..at + MOST)) else {
            break;
        };
        let told = at + beat.headline + 1;
        let view = View {
            recent: timeline.facts(told.saturating_sub(RECENT)..told)[..].into(),
            picture: timeline.picture(told).into(),
            ..View::default()
        };
        let [en, zh] = [Lang::En, Lang::Zh].map(|lang| pace::reading(&view, lang));
        scene.ms = scene.ms.max(en).max(zh);
        at += facts.len();
    }
    all
}

fn run(id: &str, generation: Option<Generation>) -> Timeline {
    let mut scenario = match lessons::load(id) {
        Ok(lesson) => lesson.scenario,
        Err(error) => panic!("{id} does not load: {error:?}"),
    };
    if let Some(generation) = generation.filter(|_| scenario.settings.is_informer()) {
        scenario.settings.era = generation;
    }
    let Ok(mut timeline) = Timeline::new(scenario) else {
        panic!("{id} does not run")
    };
    timeline.extend(1_500);
    timeline
}

/// For each object that goes into the store: the ms that its own beats take, from the server's event until it stands
/// in items and index.
fn travels(scenes: &[(Vec<FactRecord>, Scene)]) -> Vec<(String, u32)> {
    let mut under_way: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut done = Vec::new();
    for (facts, scene) in scenes {
        let mut seen = Vec::new();
        for FactRecord { fact, .. } in facts {
            let (object, begins, ends) = match fact {
                Fact::Server(ServerFact::EventSent { object, .. }) => (object, true, false),
                Fact::Reflector(ReflectorFact::EventReceived { object, .. }) => {
                    (object, true, false)
                }
                Fact::Queue(
                    QueueFact::DeltaAppended { object, .. }
                    | QueueFact::EntryAppended {
                        entry: Entry::Delta(_, object),
                        ..
                    },
                ) => (object, false, false),
                Fact::Store(StoreFact::ItemStored { object, .. }) => (object, false, true),
                Fact::Queue(QueueFact::KeyPopped { deltas, .. }) => {
                    for (_, object) in deltas {
                        let id = (object.key.to_string(), object.rv.to_string());
                        if let Some(ms) = under_way.get_mut(&id) {
                            *ms += scene.ms;
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            let id = (object.key.to_string(), object.rv.to_string());
            if begins {
                under_way.entry(id.clone()).or_default();
            }
            if let Some(ms) = under_way.get_mut(&id)
                && !seen.contains(&id)
            {
                *ms += scene.ms;
                seen.push(id.clone());
            }
            if ends && let Some(ms) = under_way.remove(&id) {
                done.push((format!("{} {}", id.0, id.1), ms));
            }
        }
    }
    done
}

#[test]
fn an_event_gets_from_the_server_into_the_index_in_six_seconds() {
    let mut seen = 0;
    for (id, _) in lessons::menu() {
        for generation in Generation::ALL {
            let timeline = run(&id, Some(generation));
            for (object, ms) in travels(&scenes(&timeline, 0)) {
                assert!(ms <= 6_000, "{id} {generation:?}: {object} takes {ms} ms");
                seen += 1;
            }
            // That an event waits, for others on the stream or for a lock, is told apart from its way.
            let mut told = paced(&timeline, 0);
            told.retain(|(facts, _)| {
                let has = |names: &[&str]| {
                    let mut facts = facts.iter();
                    facts.any(|record| names.contains(&record.fact.name()))
                };
                !has(&["EventSent", "EventReceived"]) || has(&["DeltaAppended", "EntryAppended"])
            });
            for (object, ms) in travels(&told) {
                assert!(
                    ms <= 6_000,
                    "{id} {generation:?}: {object} is told in {ms} ms"
                );
            }
        }
    }
    assert!(seen > 200, "{seen} events");
}

#[test]
fn a_scene_shows_an_object_in_one_room_after_the_other_and_all_handlers_at_once() {
    let scenes = scenes(&run(lessons::FIRST, None), 0);
    let of = |name: &'static str| {
        let has = move |(facts, _): &&(Vec<FactRecord>, Scene)| {
            facts.iter().any(|record| record.fact.name() == name)
        };
        scenes.iter().filter(has).map(|(_, scene)| scene)
    };
    // The server's row, the line on the stream, the reflector; and from there the queue.
    let has_two = |scene: &&Scene| {
        scene.flights.iter().any(|one| {
            let next = |other: &&Flight| other.from.first() == one.to.first();
            let next = scene.flights.iter().find(next);
            one.via.len() == 1
                && one.to.first() == Some(&Anchor::Hand)
                && next.is_some_and(|next| next.look == one.look && next.at > one.end())
        })
    };
    assert!(of("EventSent").filter(has_two).count() > 10);
    for scene in of("NotificationQueued") {
        let [first, others @ ..] = scene.flights.as_slice() else {
            panic!("nobody is notified")
        };
        assert!(others.iter().all(|one| one.at == first.at), "{scene:?}");
    }
    for scene in of("IndexEntryAdded") {
        let [item, entries @ ..] = scene.flights.as_slice() else {
            panic!("nothing is stored")
        };
        assert!(entries.iter().all(|one| one.at == item.end()), "{scene:?}");
    }
    for (facts, scene) in &scenes {
        let works = facts
            .iter()
            .any(|record| matches!(record.fact, Fact::Work(_)));
        assert!(!works || scene.ms <= 1_800, "{facts:?}: {}", scene.ms);
    }
}

#[test]
fn a_printed_line_flies_to_where_it_stands_though_others_are_printed_after_it() {
    let timeline = run("stale-read", None);
    let (mut at, mut others) = (0, 0);
    for (facts, scene) in scenes(&timeline, 0) {
        at += facts.len();
        let output = timeline.picture(at).output;
        for flight in &scene.flights {
            if let ([Anchor::OutputLine(line)], Look::Label(text)) = (&flight.to[..], &flight.look)
            {
                assert_eq!(output.get(*line).map(|one| &*one.line), Some(&**text));
                others += usize::from(line + 1 < output.len());
            }
        }
    }
    assert!(
        others > 0,
        "nothing is printed after a line in the same scene"
    );
}

#[test]
fn from_the_opening_an_event_comes_soon_and_the_first_line_soon_after_the_start() {
    let lesson = lessons::load(lessons::FIRST).unwrap_or_default();
    let timeline = run(lessons::FIRST, None);
    let until = |from: usize, name: &str| {
        let mut ms = 0;
        for (facts, scene) in scenes(&timeline, from) {
            ms += scene.ms;
            if facts.iter().any(|record| record.fact.name() == name) {
                return ms;
            }
        }
        u32::MAX
    };
    assert!(lesson.open.is_some());
    let (printed, sent) = (until(0, "LinePrinted"), until(829, "EventSent"));
    assert!(printed <= 12_000 && sent <= 6_000, "{printed} {sent}");
    let told = paced(&timeline, 0);
    let line = told.iter().position(|(facts, _)| {
        facts
            .iter()
            .any(|record| record.fact.name() == "LinePrinted")
    });
    let ms: u32 = told
        .iter()
        .take(line.unwrap_or(usize::MAX))
        .map(|(_, scene)| scene.ms)
        .sum();
    assert!(ms <= 20_000, "{ms}");
}

#[test]
fn of_a_long_list_few_objects_fly_and_the_others_are_counted_on_each_of_their_ways() {
    const COUNT: u32 = 300;
    let mut merged = Merged::default();
    let mut picture = Picture::default();
    let object = |place: u32, rv: &str| ObjectRef {
        key: format!("default/pod-{place}").as_str().into(),
        shape: Shape::Object,
        rv: rv.into(),
        uid: "".into(),
    };
    let queued = |place, rv: &str| {
        Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::Delta(DeltaType::Replaced, object(place, rv)),
            length: place + 1,
        })
    };
    // Each object once; then five of them again, and three of them into an index.
    let facts = (0..COUNT).map(|place| queued(place, "1"));
    let again = (0..5).map(|place| queued(COUNT - 1 - place, "2"));
    let stored = (0..3).map(|place| {
        Fact::Store(StoreFact::IndexEntryAdded {
            index: "app".into(),
            value: "web".into(),
            key: object(COUNT - 1 - place, "1").key,
        })
    });
    for (id, fact) in (0..).zip(facts.chain(again).chain(stored)) {
        let record = FactRecord {
            id: FactId(id),
            time: 0,
            actor: Actor::Reflector,
            cause: Cause::Start,
            step: Step::StoreWrite,
            fact,
        };
        picture.apply(&record);
        merged.add(&record, &picture);
    }
    let scene = merged.scene();
    let (shown, others) = scene.flights.split_at(MOST_FLIGHTS);
    assert!(shown.iter().all(|one| matches!(one.look, Look::Pill(_))));
    let rooms = |of: &Flight| [&of.from, &of.to].map(|end| end[0].room());
    let others: Vec<_> = others
        .iter()
        .map(|one| (rooms(one), one.look.clone()))
        .collect();
    let rest = COUNT as usize - MOST_FLIGHTS;
    assert_eq!(
        others,
        [
            ([Panel::Reflector, Panel::Queue], Look::Others(rest)),
            ([Panel::Indexer, Panel::Indexer], Look::Others(3)),
        ]
    );
    let last = scene.flights.iter().map(Flight::end).max();
    assert!(
        last.is_some_and(|end| end + SETTLE_MS <= scene.ms && scene.ms < 3_000),
        "{}",
        scene.ms
    );
}
