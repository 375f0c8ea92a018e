//! Each step has one headline: what became of the event, the list, or the store; never a lock.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use serde_json::json;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, FactRecord, QueueFact, ReflectorFact, StoreFact};
use deltascope::presentation::caption::plain;
use deltascope::presentation::command::Command;
use deltascope::presentation::rows::said;
use deltascope::presentation::session::{Session, typed};
use deltascope::replay::headline::{headline, step_at};
use deltascope::replay::lessons;
use deltascope::replay::recording::Recording;
use deltascope::replay::step_size::{StepSize, ends_pop, is_minor};
use deltascope::replay::timeline::Timeline;
use deltascope::world::text::Lang;

/// Every lesson in every generation that it can be run in.
pub(crate) fn runs() -> impl Iterator<Item = (String, Timeline)> {
    let lessons = lessons::menu().into_iter();
    lessons.flat_map(|(id, _)| {
        let scenario = lessons::load(&id).unwrap().scenario;
        let generations = match scenario.settings.is_informer() {
            true => &Generation::ALL[..],
            false => &Generation::ALL[..1],
        };
        generations.iter().map(move |generation| {
            let recording = Recording::of(scenario.clone());
            let recording = match generations.len() {
                1 => recording,
                _ => recording.in_generation(*generation),
            };
            let mut timeline = recording.play().unwrap();
            timeline.extend(3_000);
            (format!("{id} {}", generation.version()), timeline)
        })
    })
}

/// The facts of each step of a size.
fn steps(size: StepSize, timeline: &Timeline) -> Vec<Vec<FactRecord>> {
    let ends = (1..=timeline.len()).filter_map(|cursor| step_at(size, timeline, cursor));
    ends.map(|range| timeline.facts(range).to_vec()).collect()
}

#[test]
fn no_headline_is_a_lock_where_anything_else_happened() {
    for (run, timeline) in runs() {
        for size in StepSize::ALL {
            for facts in steps(size, &timeline) {
                let fact = &facts[headline(size, &facts).unwrap()].fact;
                let all_minor = facts.iter().all(|record| is_minor(&record.fact));
                assert!(all_minor || !is_minor(fact), "{run} {size:?}: {fact:?}");
            }
        }
    }
}

#[test]
fn the_headline_of_an_event_says_what_became_of_its_object_in_the_queue() {
    let mut seen = 0;
    for (run, timeline) in runs() {
        for facts in steps(StepSize::Event, &timeline) {
            if ends_pop(&facts.last().unwrap().fact) {
                continue;
            }
            let found = &facts[headline(StepSize::Event, &facts).unwrap()].fact;
            let received = facts.iter().find_map(|record| match &record.fact {
                Fact::Reflector(ReflectorFact::EventReceived {
                    object,
                    ends_list: false,
                    ..
                }) if !object.key.is_empty() => Some(&object.key),
                _ => None,
            });
            let is_list = facts.iter().any(|record| {
                matches!(
                    record.fact,
                    Fact::Reflector(
                        ReflectorFact::ListReceived { .. }
                            | ReflectorFact::InitialEventsEnded { .. }
                    )
                )
            });
            let has_queue = facts
                .iter()
                .any(|record| matches!(record.fact, Fact::Queue(QueueFact::LockTaken { .. })));
            if let (Some(key), false, true) = (received, is_list, has_queue) {
                seen += 1;
                assert!(matches!(found, Fact::Queue(_)), "{run}: {found:?}");
                assert_eq!(found.key(), Some(key), "{run}: {found:?}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn the_headline_of_a_pop_says_what_became_of_the_store() {
    let mut seen = 0;
    for (run, timeline) in runs() {
        for facts in steps(StepSize::Pop, &timeline) {
            let found = &facts[headline(StepSize::Pop, &facts).unwrap()].fact;
            let is_written = facts.iter().any(|record| {
                matches!(
                    record.fact,
                    Fact::Store(
                        StoreFact::ItemStored { .. }
                            | StoreFact::ItemRemoved { .. }
                            | StoreFact::StoreReplaced { .. }
                    )
                )
            });
            let has_failed = facts
                .iter()
                .any(|record| matches!(record.fact, Fact::Queue(QueueFact::ProcessFailed { .. })));
            if is_written && !has_failed {
                seen += 1;
                assert!(matches!(found, Fact::Store(_)), "{run}: {found:?}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The headlines of a lesson's steps, as names with keys.
fn headlines(lesson: &str, era: &str, size: StepSize) -> Vec<String> {
    let mut session = Session::new();
    session.obey(Command::Load(lesson.into()));
    session.obey(typed::generation(era));
    session.obey(Command::Seek(0));
    session.obey(Command::StepSize(size));
    let mut all = Vec::new();
    loop {
        let before = session.playback().cursor();
        session.obey(Command::Walk {
            on: true,
            coarser: false,
        });
        let view = session.view();
        if view.step == before {
            return all;
        }
        let record = view.narrated().0.last().unwrap();
        let key = record.fact.key().map_or("", |key| &**key);
        all.push(
            format!("{} {key}", record.fact.name())
                .trim_end()
                .to_owned(),
        );
    }
}

#[test]
fn a_lesson_read_by_its_headlines_tells_its_story() {
    for (lesson, era, size, story) in [
        // The watch is open again before it brings what was missed.
        (
            "gone-410",
            "1.32",
            StepSize::Event,
            "ListReceived | ItemStored default/web-0 | ItemStored default/web-1 | WatchEnded | WatchFailed | \
             WatchAccepted | DeltaAppended default/web-1 | ItemStored default/web-1 | \
             WatchEnded | WatchFailed | WatchFailed | ListReceived | ItemStored default/web-0 | \
             ItemStored default/web-1 | WatchAccepted",
        ),
        (
            "tombstone",
            "1.32",
            StepSize::Event,
            "ListReceived | ItemStored default/a | ItemStored default/b | ItemStored default/c | \
             WatchEnded | WatchFailed | WatchFailed | DeletionDetected default/b | \
             ItemStored default/a | ItemStored default/c | ItemRemoved default/b | NotificationHandled",
        ),
        (
            "tombstone",
            "1.36",
            StepSize::Event,
            "ListReceived | StoreReplaced | WatchEnded | WatchFailed | WatchFailed | \
             ListReceived | StoreReplaced | NotificationHandled",
        ),
        (
            "tombstone",
            "1.32",
            StepSize::Pop,
            "ItemStored default/a | ItemStored default/b | ItemStored default/c | ItemStored default/a | \
             ItemStored default/c | ItemRemoved default/b | NotificationHandled",
        ),
    ] {
        assert_eq!(
            headlines(lesson, era, size).join(" | "),
            story,
            "{lesson} {era} {size:?}"
        );
    }
}

#[test]
fn a_step_ends_at_a_watch_that_is_open_again_however_much_is_done_meanwhile() {
    let pods = (0..60).map(|pod| json!({ "metadata": { "name": format!("pod-{pod}") } }));
    let scenario = json!({
        "settings": { "machinery": "shared", "era": "1.32", "processMs": 50 },
        "initial": pods.collect::<Vec<_>>(),
        "script": [
            { "at": 1_400, "op": "refuse", "request": "watch", "with": "connectionRefused", "times": 1 },
            { "at": 1_500, "op": "close" },
        ],
    });
    let mut timeline = Timeline::new(serde_json::from_value(scenario).unwrap()).unwrap();
    timeline.extend(3_000);
    let facts = timeline.all_facts();
    let places = |name: &str| -> Vec<usize> {
        let found = facts.iter().enumerate();
        found
            .filter(|(_, record)| record.fact.name() == name)
            .map(|(place, _)| place)
            .collect()
    };
    let [first, again] = places("WatchAccepted")[..] else {
        panic!("{:?}", places("WatchAccepted"));
    };
    let waits = places("BackoffStarted")[0];
    assert!(
        (waits + 100..waits + 1_000).contains(&again),
        "{waits} {again}"
    );
    for (at, ends) in [(first, false), (again, true)] {
        let is = StepSize::Event.ends_at(&timeline, at, &facts[at]);
        assert_eq!(is, ends, "{at}");
    }
}

#[test]
fn a_headline_is_the_same_however_its_moment_was_reached() {
    let mut session = Session::new();
    session.obey(Command::Load("tombstone".into()));
    session.obey(Command::StepSize(StepSize::Event));
    let mut seen = Vec::new();
    for _ in 0..8 {
        session.obey(Command::Walk {
            on: true,
            coarser: false,
        });
        let view = session.view();
        seen.push((view.step, view.headline));
    }
    for (step, headline) in seen.into_iter().rev() {
        session.obey(Command::Seek(step));
        assert_eq!(session.view().headline, headline, "{step}");
    }
}

#[test]
fn no_lesson_ends_on_a_lock() {
    for (id, _) in lessons::menu() {
        let mut session = Session::new();
        session.obey(Command::Load(id.clone()));
        let view = session.view();
        session.obey(Command::Seek(view.steps));
        if view.endless {
            assert!(!session.view().is_over(), "{id}");
            continue;
        }
        let view = session.view();
        for (lang, opening) in [
            (Lang::En, "The run ends here."),
            (Lang::Zh, "运行到此结束。"),
        ] {
            let words = plain(&said(&view, lang).what);
            assert!(words.starts_with(opening), "{id}: {words}");
        }
    }
}

#[test]
fn a_step_back_undoes_one_step_of_its_size() {
    for (id, run) in runs() {
        for size in StepSize::ALL {
            let mut ends = vec![0];
            while let Some(end) = size.next(&run, ends[ends.len() - 1]) {
                ends.push(end);
            }
            for at in 1..=run.len() {
                let before = ends.iter().rfind(|end| **end < at);
                assert_eq!(
                    Some(&size.previous(&run, at)),
                    before,
                    "{id}, {size:?}, back from {at}"
                );
            }
        }
    }
}
