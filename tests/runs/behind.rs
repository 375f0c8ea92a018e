//! What a learner sees of a cache that is behind: what was dropped, which objects are stale, the connection, and the
//! line below the timeline.

use std::collections::BTreeSet;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, QueueFact, ReflectorFact, ServerFact};
use deltascope::cache::key::Key;
use deltascope::presentation::command::Command;
use deltascope::presentation::landmarks::Landmarks;
use deltascope::presentation::rows::reflector::pipe;
use deltascope::presentation::rows::{behind, drops};
use deltascope::presentation::session::Session;
use deltascope::presentation::stage::{Pipe, PipeState};
use deltascope::replay::gauge::Freshness;
use deltascope::replay::headline::step_to;
use deltascope::replay::lessons;
use deltascope::replay::picture::{Behind, Picture};
use deltascope::replay::step_size::StepSize;
use deltascope::replay::timeline::Timeline;
use deltascope::world::text::Lang;

use crate::headlines::runs;

/// The drops on the stage: each with its place and its words.
fn dropped(session: &mut Session, lang: Lang) -> Vec<(u64, String, String)> {
    let view = session.view();
    let mut places: Vec<_> = view
        .dropped
        .iter()
        .filter_map(|one| drops::place(one.facts.last()?))
        .collect();
    places.dedup();
    let rows = places
        .iter()
        .flat_map(|place| drops::rows(&view, place, lang).0);
    rows.map(|row| (row.number, row.what, row.why)).collect()
}

#[test]
fn everything_that_is_dropped_has_a_place_and_a_reason_until_the_next_step() {
    let mut seen = BTreeSet::new();
    for (id, _) in lessons::menu() {
        for generation in Generation::ALL {
            let mut lesson = lessons::load(&id).unwrap();
            if lesson.scenario.settings.is_informer() {
                lesson.scenario.settings.era = generation;
            } else if generation != Generation::ALL[0] {
                continue;
            }
            let mut session = Session::new();
            session.open(lesson);
            session.obey(Command::Step(2_000));
            let steps = session.timeline().len().min(2_000);
            for place in 0..steps {
                let record = session.timeline().fact(place).unwrap();
                if drops::place(&record).is_none() {
                    continue;
                }
                seen.insert(record.fact.name());
                session.obey(Command::Seek(place + 1));
                for lang in [Lang::En, Lang::Zh] {
                    let rows = dropped(&mut session, lang);
                    let (_, what, why) = rows.last().unwrap();
                    assert!(!what.is_empty() && !why.is_empty(), "{id}: {record:?}");
                    assert_eq!(rows.len(), 1, "{id}: {rows:?}");
                }
                session.obey(Command::Step(1));
                let rows = dropped(&mut session, Lang::En);
                assert!(rows.iter().all(|(number, ..)| *number != record.id.0));
            }
        }
    }
    // What the lessons drop; a lesson that drops more is welcome.
    let expected = ["DeleteIgnored", "DeletionDetected"];
    assert!(expected.iter().all(|name| seen.contains(name)), "{seen:?}");
}

#[test]
fn a_drop_stays_for_the_step_in_which_it_lies() {
    let mut session = Session::new();
    session.open(lessons::load("reflector").unwrap());
    session.obey(Command::StepSize(StepSize::Event));
    let is_ignored = |session: &Session, place| {
        matches!(
            session.timeline().fact(place).map(|record| record.fact),
            Some(Fact::Queue(QueueFact::DeleteIgnored { .. }))
        )
    };
    let steps = session.view().steps;
    let place = (0..steps)
        .find(|place| is_ignored(&session, *place))
        .unwrap();
    let expected = (
        place as u64,
        "Deleted nettool".to_owned(),
        "known = (off), pending = no → dropped".to_owned(),
    );
    let mut cursor = 0;
    while cursor < steps {
        session.obey(Command::Walk {
            on: true,
            coarser: false,
        });
        cursor = session.view().step;
        let range = step_to(StepSize::Event, session.timeline(), cursor);
        let rows = dropped(&mut session, Lang::En);
        match range.contains(&place) {
            true => assert_eq!(rows.first(), Some(&expected)),
            false => assert_eq!(rows, [], "{range:?}"),
        }
    }
    // While it plays, for the beat.
    session.obey(Command::Seek(0));
    session.play();
    while session.view().step <= place {
        session.tick();
    }
    assert_eq!(dropped(&mut session, Lang::En).first(), Some(&expected));
}

#[test]
fn a_drop_has_the_same_reason_at_every_size_of_step() {
    let mut session = Session::new();
    session.open(lessons::load("tombstone").unwrap());
    let steps = session.view().steps;
    let facts = session.timeline().facts(0..steps);
    let is_missed = |fact: &Fact| matches!(fact, Fact::Queue(QueueFact::DeletionDetected { .. }));
    let place = facts.iter().position(|record| is_missed(&record.fact));
    let place = place.unwrap();
    session.obey(Command::Seek(place + 1));
    let expected = dropped(&mut session, Lang::En);
    assert_eq!(expected.len(), 1);
    for size in StepSize::ALL {
        session.obey(Command::StepSize(size));
        session.obey(Command::Seek(place));
        session.obey(Command::Walk {
            on: true,
            coarser: false,
        });
        let rows = dropped(&mut session, Lang::En);
        assert!(rows.contains(&expected[0]), "{size:?}: {rows:?}");
    }
}

/// How the store's version of each object compares, from the two maps alone.
fn compared(picture: &Picture) -> Vec<(Key, Freshness)> {
    let (api, store) = (&picture.api, &picture.store);
    let there = |key: &Key| {
        let found = api.objects.get(key).filter(|object| !object.deleted);
        found.filter(|object| api.selects(&object.body.labels))
    };
    let keys: BTreeSet<&Key> = api.objects.keys().chain(store.items.keys()).collect();
    let one = |key: &Key| match (there(key), store.items.get(key)) {
        _ if picture.store.behind == Behind::Nothing => Freshness::Unknown,
        (None, None) => Freshness::Unknown,
        (Some(_), None) => Freshness::Missing,
        (None, Some(_)) => Freshness::Gone,
        (Some(there), Some(here)) if there.object.rv == here.rv => Freshness::Same,
        (Some(_), Some(_)) => Freshness::Stale,
    };
    keys.into_iter()
        .map(|key| (key.clone(), one(key)))
        .collect()
}

#[test]
fn an_object_is_stale_exactly_where_the_two_maps_differ_and_the_gauge_counts_them() {
    let mut seen = BTreeSet::new();
    for (run, timeline) in runs() {
        let mut picture = timeline.picture(0);
        for place in 0..timeline.len() {
            timeline.fold(&mut picture, place..place + 1);
            // What a recording states is unknown before its list, and after its end.
            if picture.store.behind == Behind::Unknown {
                continue;
            }
            let mut count = 0;
            for (key, expected) in compared(&picture) {
                let found = picture.freshness(&key);
                assert_eq!(found, expected, "{run} {place} {key}");
                seen.insert(format!("{found:?}"));
                count += u64::from(!matches!(found, Freshness::Same | Freshness::Unknown));
            }
            if let Some(behind) = picture.store.behind.count() {
                assert_eq!(behind, count, "{run} {place}");
            }
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

/// The gauge at each step, from the parts of a line.
fn unfolded(line: &[(u32, Behind)], steps: usize) -> Vec<Behind> {
    let at = |step: usize| {
        let part = line.iter().rev().find(|(from, _)| *from as usize <= step);
        part.map_or(Behind::Nothing, |(_, behind)| *behind)
    };
    (0..=steps).map(at).collect()
}

fn gauges(timeline: &Timeline) -> Vec<Behind> {
    let mut picture = timeline.picture(0);
    let mut gauges = vec![picture.store.behind];
    for place in 0..timeline.len() {
        timeline.fold(&mut picture, place..place + 1);
        gauges.push(picture.store.behind);
    }
    gauges
}

#[test]
fn the_line_is_the_gauge_at_every_step() {
    for (run, timeline) in runs() {
        let line = Landmarks::of(&timeline, &[]).behind();
        assert_eq!(unfolded(&line, timeline.len()), gauges(&timeline), "{run}");
    }
}

#[test]
fn a_long_line_has_few_parts_and_hides_no_peak() {
    let mut timeline = Timeline::new(lessons::load(lessons::FIRST).unwrap().scenario).unwrap();
    timeline.extend(60_000);
    let line = Landmarks::of(&timeline, &[]).behind();
    assert!(line.len() <= 802, "{}", line.len());
    let (shown, gauges) = (unfolded(&line, timeline.len()), gauges(&timeline));
    assert_eq!(shown.iter().max(), gauges.iter().max());
    assert!(shown.iter().zip(&gauges).all(|(shown, is)| shown >= is));
    // It is not simply high everywhere.
    assert!(shown.iter().any(|shown| *shown < Behind::By(2)));
}

#[test]
fn the_line_is_as_long_as_the_run_and_at_least_four_objects_high() {
    let mut session = Session::new();
    session.open(lessons::load("tombstone").unwrap());
    let view = session.view();
    let rows = behind::rows(&view, view.steps).unwrap();
    assert_eq!((rows.high, rows.most), (4, 3));
    assert!(rows.path.starts_with("M0 4V1H"), "{}", rows.path);
    session.open(lessons::load("deltafifo").unwrap());
    let view = session.view();
    assert_eq!(behind::rows(&view, view.steps), None);
}

#[test]
fn the_connection_is_open_broken_refused_and_waits() {
    let mut session = Session::new();
    session.open(lessons::load("tombstone").unwrap());
    let mut said: Vec<Pipe> = Vec::new();
    for step in 0..=session.view().steps {
        session.obey(Command::Seek(step));
        let view = session.view();
        let now = pipe(&view);
        // The ring shows what is left of the wait.
        let last = view.recent.last().map(|record| &record.fact);
        if let Some(Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. })) = last {
            assert_eq!((now.left_ms, now.left), (*ms, 100));
        }
        if let Some(Fact::Server(ServerFact::WatchRefused { .. })) = last {
            assert_eq!(now.code, 410);
        }
        if said.last().map(|pipe| (pipe.state, pipe.code)) != Some((now.state, now.code)) {
            said.push(now);
        }
    }
    let said: Vec<_> = said.iter().map(|pipe| (pipe.state, pipe.code)).collect();
    assert_eq!(
        said,
        [
            (PipeState::None, 0),
            (PipeState::Asked, 0),
            // The list is there, and a watch not yet asked for.
            (PipeState::None, 0),
            (PipeState::Asked, 0),
            (PipeState::Open, 0),
            (PipeState::Ended, 0),
            // It asks again at once, and finds nobody.
            (PipeState::Asked, 0),
            (PipeState::Ended, 0),
            (PipeState::Waiting, 0),
            (PipeState::Asked, 0),
            (PipeState::Ended, 410),
            (PipeState::Waiting, 410),
            (PipeState::Asked, 0),
            (PipeState::None, 0),
            (PipeState::Asked, 0),
            (PipeState::Open, 0),
        ]
    );
}
