//! The smallest run that shows something: it shows it, and nothing more can be left out.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use deltascope::cache::controller::Generation;
use deltascope::replay::invariants::{Invariant, Invariants};
use deltascope::replay::recording::Recording;
use deltascope::replay::scramble::{Scramble, scramble};
use deltascope::replay::smallest::{Goal, Limits, Size, Smallest, smallest};
use deltascope::replay::{lessons, link::Link};
use deltascope::world::slices::{Slices, at_once};
use deltascope::world::source::Command;
use deltascope::world::source::live::{Page, ResponsePart};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::virtual_time::Input;
use proptest::prelude::*;
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    facts: 20_000,
    trials: 5_000,
};

fn lesson(id: &str, era: Generation) -> Recording {
    Recording::of(lessons::load(id).unwrap().scenario).in_generation(era)
}

fn condition(text: &str) -> Goal {
    Goal::Condition(text.parse().unwrap())
}

/// Whether a run shows it, looked for in another way: along all of the run.
fn shows(recording: &Recording, goal: &Goal) -> bool {
    let Ok((mut timeline, _)) = recording.play_within(20_000) else {
        return false;
    };
    timeline.extend(6_000);
    match goal {
        Goal::Condition(predicate) => timeline
            .all_facts()
            .iter()
            .any(|record| predicate.holds(record, false)),
        Goal::Broken(invariant) => Invariants::of(&timeline)
            .violations()
            .iter()
            .any(|found| found.invariant == *invariant),
    }
}

/// All recordings with one part less, made by hand.
fn with_one_less(of: &Recording) -> Vec<Recording> {
    let mut others = Vec::new();
    let mut each = |count: usize, remove: &dyn Fn(&mut Recording, usize)| {
        for nth in 0..count {
            let mut other = of.clone();
            remove(&mut other, nth);
            others.push(other);
        }
    };
    let scenario = &of.scenario;
    each(of.inputs.len(), &|other, nth| {
        other.inputs.remove(nth);
    });
    each(scenario.script.len(), &|other, nth| {
        other.scenario.script.remove(nth);
    });
    each(scenario.initial.len(), &|other, nth| {
        other.scenario.initial.remove(nth);
    });
    each(scenario.settings.handlers.len(), &|other, nth| {
        other.scenario.settings.handlers.remove(nth);
    });
    each(scenario.settings.indices.len(), &|other, nth| {
        other.scenario.settings.indices.remove(nth);
    });
    for (number, taken) in of.inputs.iter().enumerate() {
        let Input::Source(Command::Respond(responses)) = &taken.input else {
            continue;
        };
        for nth in 0..responses.len() {
            let mut other = of.clone();
            let mut fewer = responses.to_vec();
            fewer.remove(nth);
            other.inputs[number].input = Input::Source(Command::Respond(fewer.into()));
            others.push(other);
            let ResponsePart::Page(page) = &responses[nth].part else {
                continue;
            };
            for item in 0..page.items.len() {
                let mut other = of.clone();
                let (mut parts, mut items) = (responses.to_vec(), page.items.to_vec());
                items.remove(item);
                parts[nth].part = ResponsePart::Page(Page {
                    items: items.into(),
                    ..page.clone()
                });
                other.inputs[number].input = Input::Source(Command::Respond(parts.into()));
                others.push(other);
            }
        }
    }
    others
}

fn smallest_at_once(recording: &Recording, goal: &Goal, limits: Limits) -> Option<Smallest> {
    at_once(smallest(recording, goal, limits, &Slices::whole()))
}

/// Cuts a run down and checks the result.
fn checked(recording: &Recording, goal: &Goal) -> Smallest {
    let found = smallest_at_once(recording, goal, LIMITS).expect("the run shows it");
    assert!(found.is_smallest);
    assert!(shows(&found.recording, goal), "{found:?}");
    for other in with_one_less(&found.recording) {
        assert!(!shows(&other, goal), "{other:?}\nof {found:?}");
    }
    found
}

fn recorded() -> Recording {
    super::recorded::recorded(&json!({
        "indices": ["namespace", "node"],
        "handlers": [{ "name": "first" }, { "name": "second", "latencyMs": 40 }],
    }))
}

#[test]
fn only_what_shows_it_is_left() {
    let classic = Generation::Classic;
    for (recording, goal, left) in [
        // The watch breaks, b is deleted, and the server forgets it.
        (
            lesson("tombstone", classic),
            condition("tombstone key=default/b"),
            Size {
                script: 3,
                objects: 1,
                ..Size::default()
            },
        ),
        // The same for the handler that hears of it.
        (
            lesson("tombstone", classic),
            condition("tombstone key=default/b call=OnDelete"),
            Size {
                script: 3,
                objects: 1,
                handlers: 1,
                ..Size::default()
            },
        ),
        // HasSynced is true before the last item of the list is processed.
        (
            lesson("tombstone", classic),
            Goal::Broken(Invariant::Early),
            Size {
                objects: 1,
                ..Size::default()
            },
        ),
        // Traffic without an end: one of its writes does.
        (
            lesson("sandbox", classic),
            condition("delta=Deleted"),
            Size {
                script: 1,
                objects: 1,
                ..Size::default()
            },
        ),
    ] {
        let found = checked(&recording, &goal);
        assert_eq!(
            found.size(),
            left,
            "{goal:?} {:?}",
            found.recording.scenario
        );
        let (before, facts) = found.before;
        assert!(before.objects > left.objects && before.settings > left.settings);
        assert!(facts >= found.at && found.at > 0);
        // Such a run fits into a link, which opens to the same.
        let link = Link::of(None, &found.recording).to_string();
        assert!(link.len() < 600, "{link}");
        let again = Link::read(&link).unwrap();
        let again = again.recording(&Scenario::default()).unwrap();
        assert!(shows(&again, &goal));
    }
}

#[test]
fn a_clusters_run_is_cut_down_and_gets_made_up_names() {
    let recording = recorded();
    let goal = condition("call=OnDelete");
    let found = checked(&recording, &goal);
    let before = found.before.0;
    assert!(before.objects > 4 && before.events > 10, "{before:?}");
    let left = Size {
        // The list, and that the watch is open.
        inputs: 2,
        events: found.size().events,
        handlers: 1,
        settings: found.size().settings,
        ..Size::default()
    };
    assert_eq!(found.size(), left);
    assert!(left.events <= 2, "{left:?}");
    let names = Scramble {
        names: true,
        labels: false,
    };
    let given = scramble(&found.recording, names);
    assert!(found.is_like(&given) && !found.is_like(&recording));
    assert!(shows(&given, &goal));
    let link = Link::of(None, &given).to_string();
    assert!(link.len() < 2_000, "{}", link.len());
    let opened = Link::read(&link).unwrap();
    let opened = opened.recording(&Scenario::default()).unwrap();
    assert!(shows(&opened, &goal));
    let written = format!("{opened:?}");
    assert!(format!("{recording:?}").contains("nettool"));
    assert!(!written.contains("nettool"), "{written}");
}

#[test]
fn what_never_holds_has_no_smallest_run() {
    let goal = condition("tombstone key=default/nobody");
    assert!(smallest_at_once(&lesson("tombstone", Generation::Classic), &goal, LIMITS).is_none());
    let goal = Goal::Broken(Invariant::Past);
    assert!(smallest_at_once(&lesson("sandbox", Generation::Atomic), &goal, LIMITS).is_none());
}

#[test]
fn the_work_comes_in_slices_and_ends_at_the_limit() {
    let recording = lesson("tombstone", Generation::Classic);
    let goal = condition("tombstone key=default/b");
    let slices = Slices::until(|| true);
    let mut work = pin!(smallest(&recording, &goal, LIMITS, &slices));
    let (mut pauses, mut before, mut longest) = (0, 0, 0);
    while work
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_pending()
    {
        pauses += 1;
        longest = longest.max(slices.done() - before);
        before = slices.done();
    }
    assert!(pauses > 100 && longest < 3_000, "{pauses} {longest}");
    let limits = Limits {
        trials: 4,
        ..LIMITS
    };
    let found = smallest_at_once(&recording, &goal, limits).unwrap();
    assert!(!found.is_smallest && found.trials == 4);
    assert!(shows(&found.recording, &goal));
}

fn entries() -> impl Strategy<Value = Vec<Value>> {
    let object = |name: &str, app: &str| json!({ "metadata": { "namespace": "default", "name": name, "labels": { "app": app } } });
    let entry = (
        0..12_u64,
        prop::sample::select(&["create", "update", "delete", "cut", "compact", "close"][..]),
        prop::sample::select(&["a", "b", "c"][..]),
        prop::sample::select(&["web", "db"][..]),
    );
    let entry = entry.prop_map(move |(at, op, name, app)| match op {
        "create" | "update" | "delete" => {
            json!({ "at": at * 700, "op": op, "object": object(name, app) })
        }
        _ => json!({ "at": at * 700, "op": op }),
    });
    prop::collection::vec(entry, 0..14).prop_map(|mut entries| {
        entries.sort_by_key(|entry| entry["at"].as_u64());
        entries
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_any_run_nothing_more_can_be_left_out(
        script in entries(),
        era in prop::sample::select(&Generation::ALL[..]),
        goal in prop::sample::select(&[
            "tombstone",
            "delta=Deleted key=default/a",
            "call=OnUpdate key=default/b",
            "fact=WatchClosed",
            "delta=Replaced key=default/c rv>=4",
        ][..]),
    ) {
        let object = |name: &str| json!({ "metadata": { "namespace": "default", "name": name } });
        let scenario = json!({
            "settings": {
                "machinery": "shared", "watchList": false, "indices": ["namespace"],
                "handlers": [{ "name": "one", "latencyMs": 30 }, { "name": "two" }],
            },
            "initial": [object("a"), object("b")],
            "script": script,
        });
        let recording = Recording::of(serde_json::from_value(scenario).unwrap())
        .in_generation(era);
        let goal = condition(goal);
        if shows(&recording, &goal) {
            checked(&recording, &goal);
        } else {
            prop_assert!(smallest_at_once(&recording, &goal, LIMITS).is_none());
        }
    }
}
