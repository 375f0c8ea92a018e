//! Two runs side by side: the marked differences, and the violations found along a run.

use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::delta::DeltaType;
use deltascope::cache::fact::{Entry, Fact, ObjectRef, Printer, QueueFact, ServerFact, Shape};
use deltascope::cache::key::Key;
use deltascope::presentation::against::{Against, With};
use deltascope::presentation::command::Command;
use deltascope::presentation::options::{Attribute, Options};
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::{checks, rows};
use deltascope::replay::diff::{self, DiffSection, Label, Line, Pair, RoomDiff, Tallies, Thing};
use deltascope::replay::lessons;
use deltascope::replay::picture::Printed;
use deltascope::replay::recording::Recording;
use deltascope::replay::timeline::Timeline;
use deltascope::replay::writes::Alike;
use deltascope::world::text::{Lang, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{now, open};

/// How scripts name the race.
const RACE: &str = "race";

fn compare(session: &mut Session, with: &str) -> Value {
    session.obey(typed::against(with));
    now(session)["comparison"].clone()
}

/// Both sides of a line's differing items.
fn differing(session: &mut Session, room: DiffSection, label: &Label) -> Vec<(String, String)> {
    let compare = session.view().compare().cloned().unwrap();
    let room = compare.rooms.iter().find(|one| one.room == room).unwrap();
    let line = room.lines.iter().find(|line| line.label == *label).unwrap();
    let pairs = line.pairs.iter().filter(|pair| pair.differs);
    let text = |thing: &Option<Thing>| thing.as_ref().map_or_else(String::new, named);
    pairs
        .map(|pair| (text(&pair.left), text(&pair.right)))
        .collect()
}

fn named(thing: &Thing) -> String {
    let object = |object: &ObjectRef| {
        let sign = if object.shape == Shape::Tombstone {
            "?"
        } else {
            ""
        };
        format!(
            "{}@{}{sign}",
            object.key.trim_start_matches("default/"),
            object.rv
        )
    };
    match thing {
        Thing::Object(one) => object(one),
        Thing::Gone(one) => format!("-{}", object(one)),
        Thing::Delta(delta_type, one) => format!("{} {}", delta_type.as_str(), object(one)),
        Thing::BatchEntry(delta_type, rv, objects) => {
            let objects: Vec<String> = objects.iter().map(object).collect();
            format!("{} {rv} [{}]", delta_type.as_str(), objects.join(" "))
        }
        Thing::Notified(notification) => object(notification.object()),
        Thing::Line(text, _) => text.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_relist_becomes_single_deltas_in_one_generation_and_one_batch_entry_in_another() {
    let mut session = open("tombstone");
    session.obey(typed::place("waits"));
    let comparison = compare(&mut session, "1.36");
    assert_eq!(comparison["with"], "1.36");
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter()
            .map(|(one, other)| ((*one).into(), (*other).into()))
            .collect()
    };
    // The list is in the queue, and the store is unchanged.
    assert_eq!(
        differing(&mut session, DiffSection::Queue, &Label::Queued),
        pairs(&[
            ("Replaced a@2", ""),
            ("Replaced c@6", ""),
            ("Deleted b@3?", ""),
            ("", "ReplacedAll 7 [a@2 c@6]"),
        ])
    );
    assert_eq!(comparison["differs"]["store"], 0, "{comparison}");
    assert_eq!(comparison["differs"]["api"], 0);
    assert_eq!(comparison["summary"]["Deleted"], json!([1, 0]));
    assert_eq!(comparison["summary"]["ReplacedAll"], json!([0, 2]));

    // One Pop later one store is completely new, and the other still has b.
    session.obey(typed::place("half-told"));
    assert_eq!(
        differing(&mut session, DiffSection::Store, &Label::Items),
        pairs(&[("b@3", ""), ("c@4", "c@6")])
    );
    assert_eq!(
        differing(&mut session, DiffSection::Output, &Label::Lines),
        pairs(&[
            ("OnUpdate: a", ""),
            ("", "OnDelete: DeletedFinalStateUnknown{b}")
        ])
    );
    // Both stores are equal in the end; the handlers were notified in different orders.
    session.obey(Command::Seek(usize::MAX));
    let comparison = now(&mut session)["comparison"].clone();
    assert_eq!(
        comparison["differs"]["store"], 1,
        "the version only: {comparison}"
    );
    assert_eq!(
        comparison["summary"]["printer"],
        json!([[3, 2, 1], [3, 2, 1]])
    );
    assert_eq!(comparison["summary"]["stored"], json!([2, 2]));
    assert_eq!(
        differing(&mut session, DiffSection::Output, &Label::Lines),
        pairs(&[
            ("", "OnDelete: DeletedFinalStateUnknown{b}"),
            ("OnDelete: DeletedFinalStateUnknown{b}", "")
        ])
    );
    // The page names all differences.
    let view = session.view();
    for lang in [Lang::En, Lang::Zh] {
        let rooms = rows::compare::rooms(&view, lang);
        let of = |id: &str| rooms.iter().find(|room| room.id == id).unwrap().clone();
        let output = of("output");
        assert_eq!(output.differs, 2);
        let [left, right] = &output.lines[0].sides;
        assert_eq!(left.len(), right.len());
        let class = |at: usize| [left[at].class(), right[at].class()];
        assert_eq!(class(3), ["gap", "differs only"]);
        assert_eq!(of("queue").title, "DeltaFIFO · RealFIFO");
        assert!(
            rows::compare::summary(&view, lang)
                .iter()
                .any(|row| row.id == "pops" && row.left != row.right)
        );
    }
}

#[test]
fn the_other_cursor_follows_by_time_and_the_comparison_survives_changes_of_the_run() {
    let mut session = open("tombstone");
    compare(&mut session, "1.36");
    for by in [40, 30, -20, 15, 1, 1, -1] {
        session.obey(Command::Step(by));
        let state = now(&mut session);
        let (here, there) = (&state["time"], &state["comparison"]["time"]);
        assert!(there.as_u64() <= here.as_u64(), "{state}");
        // The position is at the end of this moment, and not later.
        let mut alone = open("tombstone");
        alone.obey(typed::generation("1.36"));
        alone.obey(Command::Seek(
            state["comparison"]["step"].as_u64().unwrap() as usize + 1,
        ));
        let next = now(&mut alone)["time"].as_u64();
        assert!(next > here.as_u64() || now(&mut alone)["step"] == now(&mut alone)["steps"]);
    }
    // An input applies to both runs.
    session.obey(Command::Seek(usize::MAX));
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "namespace": "default", "name": "d" } }),
    ));
    session.obey(Command::Seek(usize::MAX));
    let state = now(&mut session);
    assert_eq!(
        state["comparison"]["summary"]["stored"],
        json!([3, 3]),
        "{state}"
    );
    // Compare with another branch, then switch to that branch: there is nothing to compare it with.
    session.obey(Command::Fork);
    assert_eq!(compare(&mut session, "branch=1")["differs"]["output"], 0);
    session.obey(Command::Branch(1));
    assert_eq!(now(&mut session)["comparison"], Value::Null);
    assert_eq!(now(&mut session)["error"], Value::Null);
    // Loading another lesson starts another run.
    compare(&mut session, "");
    session.obey(Command::Load("reflector".into()));
    assert_eq!(now(&mut session)["comparison"], Value::Null);
}

#[test]
fn the_choices_to_compare_a_run_with_are_offered_and_named() {
    for (lesson, first) in [
        ("tombstone", "1.36"),
        ("reflector", "knownObjects=on"),
        ("indexer", "knownObjects=off"),
    ] {
        let mut session = open(lesson);
        assert_eq!(compare(&mut session, "")["with"], first, "{lesson}");
        let choices = session.view().choices;
        assert!(choices.len() > 1 || lesson != "tombstone");
        for choice in choices.iter() {
            let id = choice.against.id();
            assert_eq!(Against::parse(&id), Some(choice.against));
            assert_eq!(compare(&mut session, &id)["with"], id, "{lesson}");
            assert!(!choice.name.en.is_empty() && !choice.name.zh.is_empty());
        }
        for wrong in [
            "1.x",
            "branch=9",
            "branch=x",
            "knownObjects=maybe",
            "speed=3",
            "=",
        ] {
            compare(&mut session, wrong);
            let state = now(&mut session);
            assert!(
                state["error"]["message"]
                    .as_str()
                    .is_some_and(|text| text.len() > 20),
                "{wrong}"
            );
            session.obey(Command::DismissError);
        }
    }
    // A program without a queue has nothing to compare with, and the page says so.
    let mut session = open("sharedinformer-indexer");
    assert_eq!(compare(&mut session, ""), Value::Null);
    assert!(session.view().error.is_some());
}

#[test]
fn a_lost_delete_is_in_the_state_and_explained_in_words() {
    let mut session = open("reflector");
    let state = now(&mut session);
    let [lost] = state["violations"].as_array().unwrap().as_slice() else {
        panic!("{state}");
    };
    assert_eq!(lost["monitor"], "lost");
    assert_eq!(
        (&lost["key"], &lost["known"]),
        (&json!("default/nettool"), &json!(true))
    );
    session.obey(Command::Seek(lost["at"].as_u64().unwrap() as usize));
    assert!(matches!(
        session.current().unwrap().fact,
        Fact::Queue(QueueFact::DeleteIgnored { .. })
    ));
    let view = session.view();
    let found = &view.checks.violations[0];
    for (lang, part) in [
        (Lang::En, "no KnownObjects"),
        (Lang::Zh, "没有 KnownObjects"),
    ] {
        let text = checks::explain(found, &view.picture, lang).replace("也", "");
        assert!(text.contains(part) && text.contains("nettool"), "{text}");
        assert!(!text.contains(['①', '②', '③']), "{text}");
        assert!(!checks::known(found).get(lang).is_empty());
    }
    // The violation can be run to.
    session.obey(Command::Seek(0));
    session.obey(typed::predicate("violation", Command::RunUntil));
    assert_eq!(now(&mut session)["step"], lost["at"]);
    // With KnownObjects the delete is not lost, and there is no violation before it.
    session.obey(Command::Seek(0));
    session.obey(Command::KnownObjects(true));
    assert_eq!(now(&mut session)["violations"], json!([]));
}

#[test]
fn tallies_are_the_same_whichever_way_a_moment_was_reached() {
    let lesson = lessons::load(lessons::FIRST).unwrap();
    let mut timeline = Timeline::new(lesson.scenario).unwrap();
    timeline.extend(10_000);
    let mut walked = Tallies::default();
    for at in [5, 4_000, 4_096, 9_000, 300, 8_192, 8_191, 10_000, 0, 1] {
        let tally = walked.at(&timeline, at).clone();
        assert_eq!(&tally, Tallies::default().at(&timeline, at), "{at}");
        assert_eq!(tally.facts as usize, at);
    }
}

fn things() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..4_u8, 0..24)
}

/// The compared lines of two programs' output.
fn printed(left: &[u8], right: &[u8]) -> Option<Line> {
    let picture = |lines: &[u8]| {
        let mut picture = Timeline::empty().picture(0);
        let printed = |line: &u8| Printed::of(Printer::Handler(0), &line.to_string().into());
        picture.output = lines.iter().map(printed).collect();
        picture
    };
    let rooms = diff::diff(&picture(left), &picture(right), Alike::default());
    let room = rooms
        .into_iter()
        .find(|room| room.room == DiffSection::Output)?;
    room.lines.into_iter().next()
}

proptest! {
    /// No item is missing or invented, the order is kept, and only equal items are paired.
    #[test]
    fn the_pairs_contain_both_sequences(left in things(), right in things()) {
        let pairs: Vec<Pair> = printed(&left, &right).map(|line| {
            let hidden = line.hidden.0;
            prop_assert!(hidden == 0 || line.pairs.len() == 12);
            Ok(line.pairs)
        }).transpose()?.unwrap_or_default();
        let side = |pick: fn(&Pair) -> &Option<Thing>| -> Vec<u8> {
            let texts = pairs.iter().filter_map(|pair| match pick(pair) {
                Some(Thing::Line(text, _)) => text.parse().ok(),
                _ => None,
            });
            texts.collect()
        };
        prop_assert!(left.ends_with(&side(|pair| &pair.left)));
        prop_assert!(right.ends_with(&side(|pair| &pair.right)));
        for pair in &pairs {
            prop_assert_eq!(pair.differs, pair.left.is_none() || pair.right.is_none());
        }
        if left == right {
            prop_assert!(pairs.iter().all(|pair| !pair.differs));
        }
    }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for (id, _) in lessons::menu() {
        let scenario = lessons::load(&id).unwrap().scenario;
        let recording = Recording::of(scenario);
        let mut timeline = recording.play().unwrap();
        timeline.extend(2_000);
        for at in [0, 50, 700, 2_000] {
            let picture = timeline.picture(at);
            for room in diff::diff(&picture, &picture, Alike::default()) {
                assert_eq!(room.differs(), 0, "{id} {at} {:?}", room.room);
            }
        }
    }
    // UIDs alone are no difference.
    let object = |uid: &str| ObjectRef {
        key: "a".into(),
        shape: Shape::Object,
        rv: "1".into(),
        uid: uid.into(),
    };
    let delta = |uid: &str| Thing::Delta(DeltaType::Added, object(uid));
    assert!(delta("x").is_like(&delta("y"), Alike::default()));
    assert!(!delta("x").is_like(&Thing::Object(object("x")), Alike::default()));
    assert_eq!(Generation::ALL.len(), 4);
}

#[test]
fn an_item_with_more_keys_or_objects_than_are_shown_is_compared_whole() {
    let object = |number: usize| ObjectRef {
        key: format!("d/{number:03}").into(),
        shape: Shape::Object,
        rv: number.to_string().into(),
        uid: "".into(),
    };
    let picture = |last: usize| {
        let mut picture = Timeline::empty().picture(0);
        let objects: Arc<[ObjectRef]> = (0..100).chain([last]).map(object).collect();
        let keys = objects.iter().map(|object| object.key.clone()).collect();
        picture.store.present = true;
        let values = [("n1".into(), keys)].into_iter().collect();
        picture.store.indices.insert("node".into(), values);
        picture.queue.entries.push_back(Entry::ReplacedAll {
            rv: "9".into(),
            objects,
        });
        picture
    };
    // The index set, and the batch entry on each side.
    for (last, expected) in [(100, 0), (101, 3)] {
        let rooms = diff::diff(&picture(100), &picture(last), Alike::default());
        let differing: usize = rooms.iter().map(RoomDiff::differs).sum();
        assert_eq!(differing, expected, "{last}");
    }
}

/// The positions of the writes to the server, with the keys.
fn writes(session: &mut Session, steps: usize) -> Vec<(usize, Key)> {
    let mut found = Vec::new();
    for step in 1..=steps {
        session.obey(Command::Seek(step));
        let record = session.current().unwrap();
        let is_write = matches!(
            record.fact,
            Fact::Server(
                ServerFact::ObjectCreated { .. }
                    | ServerFact::ObjectUpdated { .. }
                    | ServerFact::ObjectDeleted { .. }
            )
        );
        found.extend(
            record
                .fact
                .key()
                .filter(|_| is_write)
                .map(|key| (step - 1, key.clone())),
        );
    }
    found
}

#[test]
fn a_dropped_write_is_the_only_difference_although_later_versions_differ() {
    let pod = |name: &str, phase: &str| json!({ "metadata": { "name": name }, "status": { "phase": phase } });
    let act = |at: u32, op: &str, name: &str, phase: &str| json!({ "at": at, "op": op, "object": pod(name, phase) });
    for generation in Generation::ALL {
        let lesson = json!({
            "id": "x", "title": { "en": "", "zh": "" }, "note": { "en": "", "zh": "" },
            "era": generation.version(),
            "scenario": {
                "settings": { "era": generation.version(), "machinery": "shared", "handlers": [
                    { "name": "h", "onAdd": ["+ {name} {rv}"], "onUpdate": ["~ {name} {rv}"],
                      "onDelete": ["- {name} {rv}"] }
                ] },
                "initial": [pod("a", "Pending"), pod("c", "Pending")],
                "script": [
                    act(2000, "update", "a", "Running"), act(3000, "create", "d", "Running"),
                    act(4000, "update", "c", "Running"), { "at": 4500, "op": "cut" },
                    { "at": 4600, "op": "compact" }, act(9000, "delete", "d", "Running")
                ]
            }
        });
        let mut session = Session::new();
        session.open(lessons::inline(lesson).unwrap());
        let steps = session.view().steps;
        let (place, key) = writes(&mut session, steps)[0].clone();
        assert_eq!(&*key, "a");
        session.obey(Command::DropEvent(place));
        session.obey(Command::Seek(usize::MAX));
        let comparison = compare(&mut session, "branch=1");
        assert_eq!(
            comparison["differs"],
            json!({ "api": 1, "reflector": 1, "queue": 0, "store": 1, "handlers": 3, "output": 3 }),
            "{generation:?}: {comparison}"
        );
        // The list after the cut contains a again, in its old version here and in its new one there.
        for (room, label, expected) in [
            (DiffSection::Api, Label::Objects, vec![("a@2", "a@4")]),
            (DiffSection::Store, Label::Items, vec![("a@2", "a@4")]),
            (
                DiffSection::Output,
                Label::Lines,
                vec![("", "~ a 4"), ("~ a 2", ""), ("", "~ a 4")],
            ),
        ] {
            let mut found = differing(&mut session, room, &label);
            let mut expected: Vec<(String, String)> = expected
                .iter()
                .map(|(one, other)| ((*one).into(), (*other).into()))
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{generation:?}");
        }
        // The other writes have other versions in each run, and are still paired.
        let rooms = session.view().compare().unwrap().rooms.clone();
        let line = rooms
            .iter()
            .find(|one| one.room == DiffSection::Output)
            .unwrap();
        let texts = line.lines[0].pairs.iter().map(|pair| {
            let text = |thing: &Option<Thing>| thing.as_ref().map_or_else(String::new, named);
            [text(&pair.left), text(&pair.right)]
        });
        assert!(
            texts.into_iter().any(|pair| pair == ["~ c 5", "~ c 6"]),
            "{generation:?}"
        );
    }
}

#[test]
fn every_watch_is_counted_as_requested() {
    let mut session = open("tombstone");
    for era in ["1.34", "1.35", "1.36", "watchList=on", "pageSize=1"] {
        session.obey(Command::Seek(usize::MAX));
        let summary = compare(&mut session, era)["summary"].clone();
        // Two lists, in pages or not, each with the watch that follows it. Between them two watches from the
        // last version: one while the network is down, and one that comes too late.
        assert_eq!(summary["lists"][1], 2, "{era}: {summary}");
        assert_eq!(summary["watches"], json!([4, 4]), "{era}: {summary}");
    }
}

/// Plays until it pauses.
fn play(session: &mut Session) -> Value {
    session.play();
    while session.playback().is_playing() {
        session.tick();
    }
    now(session)
}

const WALK: [Command; 2] = [
    Command::Walk {
        on: true,
        coarser: true,
    },
    Command::Walk {
        on: false,
        coarser: true,
    },
];

#[test]
fn a_race_plays_until_its_lanes_part_and_says_what_the_handler_knows_in_each() {
    let mut session = open("tombstone");
    session.obey(Command::Seek(0));
    // Where nothing differs it begins with the first parting.
    let race = compare(&mut session, RACE);
    assert_eq!(
        (&race["with"], &race["parts"], &race["time"]),
        (&json!(RACE), &json!(true), &json!(4550))
    );
    let partings = |session: &mut Session| session.view().race().unwrap().partings;
    let (first, all) = partings(&mut session);
    assert!(first == 1 && all > Some(1), "{all:?}");
    session.obey(Command::Seek(0));
    assert_eq!(now(&mut session)["comparison"]["parts"], false);
    assert_eq!(partings(&mut session), (0, all));
    let state = play(&mut session);
    // A relist waits in the queues.
    assert_eq!(
        (&state["time"], &state["comparison"]["time"]),
        (&json!(4550), &json!(4550))
    );
    assert_eq!(
        state["comparison"]["said"],
        "They part here. Queue: in 0.32, 0.34 and 0.35 it holds 3 deltas; in 0.36 it holds one entry for the whole list."
    );
    let chinese = rows::said(&session.view(), Lang::Zh).what;
    let chinese = deltascope::presentation::caption::plain(&chinese);
    assert!(
        chinese.contains("在 0.32、0.34、0.35 中有 3 个 Delta；在 0.36 中有整个列表的一个条目。"),
        "{chinese}"
    );
    // Lanes that were alike part once.
    let state = play(&mut session);
    let race = &state["comparison"];
    assert_eq!(
        (&state["time"], &race["parts"]),
        (&json!(6900), &json!(true))
    );
    assert_eq!(
        race["said"],
        "They part here. Handler printer: in 0.32 it knows b (rv 3); in 0.34, 0.35 and 0.36 it was called for the delete of \
         b (a tombstone of rv 3). The Indexers and the queues differ."
    );
    let lane = |race: &Value, lane: usize, what: &str| race["lanes"][lane][what].clone();
    assert_eq!(
        lane(race, 0, "knows"),
        json!({ "printer": { "default/a": "2", "default/b": "3", "default/c": "4" } })
    );
    assert_eq!(
        lane(race, 3, "knows"),
        json!({ "printer": { "default/a": "2", "default/c": "4" } })
    );
    assert_eq!(
        lane(race, 3, "differs"),
        json!({ "queue": false, "store": false, "handlers": false })
    );
    // The picture of a page or a book says it, too.
    let chinese = rows::said(&session.view(), Lang::Zh).what;
    let chinese = deltascope::presentation::caption::plain(&chinese);
    assert!(
        chinese.contains("在 0.34、0.35、0.36 中已收到 b（rv 3 的墓碑）的 OnDelete。"),
        "{chinese}"
    );
    // Back and on by partings and by moments; the cursor of this run goes along.
    let mut times = Vec::new();
    for command in [
        WALK[1].clone(),
        WALK[1].clone(),
        WALK[0].clone(),
        Command::Step(1),
        Command::Step(-1),
    ] {
        session.obey(command);
        let state = now(&mut session);
        let step = state["step"].as_u64().unwrap() as usize;
        assert!(session.timeline().time_at(step) <= state["time"].as_u64().unwrap());
        times.push(state["time"].as_u64().unwrap());
    }
    assert_eq!(
        (times[0], times[1], times[2], times[4]),
        (4550, 0, 4550, 4550)
    );
    assert!(times[3] > 4550, "{times:?}");
    // To the end, and not beyond.
    session.obey(Command::Step(i64::MAX));
    let end = now(&mut session);
    assert_eq!(play(&mut session), end);
}

#[test]
fn a_click_on_a_lane_shows_its_generation_at_this_moment() {
    for (lane, generation) in Generation::ALL.into_iter().enumerate() {
        let mut session = open("tombstone");
        compare(&mut session, RACE);
        for _ in 0..2 {
            session.obey(WALK[0].clone());
        }
        let race = now(&mut session)["comparison"].clone();
        session.obey(Command::Generation(generation));
        // It is this run's lane now, of the same race.
        let state = now(&mut session);
        assert_eq!(state["comparison"], race);
        assert_eq!(session.view().race().unwrap().own, lane);
        session.obey(Command::CloseCompare);
        let state = now(&mut session);
        assert_eq!(state["comparison"], Value::Null);
        assert_eq!(state["era"], generation.version());
        assert_eq!(state["step"], race["lanes"][lane]["step"]);
        assert_eq!(state["error"], Value::Null);
    }
}

#[test]
fn a_race_follows_the_run_and_ends_with_it() {
    let mut session = open("tombstone");
    compare(&mut session, RACE);
    session.obey(typed::place("synced"));
    let object = json!({ "metadata": { "namespace": "default", "name": "d" } });
    session.obey(typed::inject("create", object));
    let (marker, time) = (
        session.obey(typed::place("told")),
        now(&mut session)["time"].clone(),
    );
    let race = now(&mut session)["comparison"].clone();
    assert_eq!(race["time"], time, "{marker:?}");
    for lane in race["lanes"].as_array().unwrap() {
        let d = &lane["knows"]["printer"]["default/d"];
        assert!(d.is_string(), "every lane has the new object: {race}");
    }
    session.obey(typed::generation("1.34"));
    let state = now(&mut session);
    assert_eq!(
        (&state["era"], &state["comparison"]["with"]),
        (&json!("1.34"), &json!(RACE))
    );
    for command in [
        Command::CloseCompare,
        Command::Compare(Against::Run(With::parse("1.36").unwrap())),
        Command::Load("reflector".into()),
    ] {
        compare(&mut session, RACE);
        session.obey(command);
        assert_ne!(now(&mut session)["comparison"]["with"], RACE);
    }
    // A program without generations says so, and so does a moment that is too late.
    let message = |session: &mut Session| now(session)["error"]["message"].to_string();
    let mut session = open("deltafifo");
    assert_eq!(compare(&mut session, RACE), Value::Null);
    assert!(message(&mut session).contains("by hand"));
    let mut session = open("sandbox");
    session.obey(Command::Seek(30_000));
    assert_eq!(compare(&mut session, RACE), Value::Null);
    assert!(message(&mut session).contains("25000"));
    session.obey(Command::Seek(100));
    assert_eq!(compare(&mut session, RACE)["with"], RACE);
    session.obey(Command::Seek(30_000));
    assert_eq!(now(&mut session)["comparison"], Value::Null);
}

#[test]
fn an_element_may_begin_with_a_race_and_playing_ends_where_it_says() {
    let mut options = Options::default();
    for (key, value) in [
        (Attribute::Lesson, "tombstone"),
        (Attribute::At, "start"),
        (Attribute::Until, "expired"),
        (Attribute::Mode, "race"),
    ] {
        options.set(key, value).unwrap();
    }
    let mut session = Session::new();
    session.present(&options, None).unwrap();
    assert_eq!(now(&mut session)["comparison"]["with"], RACE);
    let ended = play(&mut session);
    let view = session.view();
    let until = view
        .markers
        .iter()
        .find(|one| &*one.id == "expired")
        .unwrap();
    assert_eq!(ended["time"], session.timeline().time_at(until.at));
    options.set(Attribute::Mode, "explore").unwrap();
    session.obey(typed::attribute(Attribute::Mode, &options).unwrap());
    assert_eq!(now(&mut session)["comparison"], Value::Null);
    options.set(Attribute::Mode, "race").unwrap();
    options.set(Attribute::Until, "").unwrap();
    options.set(Attribute::Lesson, "deltafifo").unwrap();
    let shown = session.present(&options, None).map_err(Text::from);
    assert!(shown.unwrap_err().en.contains("by hand"));
}
