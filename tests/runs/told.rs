//! Stories as elements, scripts and blocks of a book tell them.

use serde_json::{Value, json};

use deltascope::cache::controller::Generation;
use deltascope::presentation::against::Against;
use deltascope::presentation::command::{Command, Export, Tell};
use deltascope::presentation::options::{Attribute, Options};
use deltascope::presentation::session::present::Unshown;
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::state::state;
use deltascope::replay::lessons;
use deltascope::replay::picture::ProcessMode;
use deltascope::world::text::{Lang, Text};

fn present(pairs: &[(&str, &str)], scenario: Option<Value>) -> (Session, Result<(), String>) {
    let mut options = Options::default();
    for (name, value) in pairs {
        options.set(Attribute::named(name).unwrap(), value).unwrap();
    }
    let mut session = Session::empty();
    let shown = session.present(&options, scenario);
    let said = |unshown: Unshown| Text::from(unshown).en.to_string();
    (session, shown.map_err(said))
}

fn now(session: &mut Session) -> Value {
    state(&session.view(), Lang::En)
}

fn marker(session: &mut Session, id: &str) -> usize {
    let markers = session.view().markers;
    markers.iter().find(|one| &*one.id == id).unwrap().at
}

/// Ends what plays.
fn arrive(session: &mut Session) {
    while session.plays_scene() {
        session.tick();
    }
}

#[test]
fn options_choose_the_scene_and_an_error_says_what_to_write() {
    for (pairs, scene, at) in [
        (&[("mode", "story")][..], 1, "watching"),
        (&[("mode", "story"), ("scene", "4")], 4, "piled"),
        (&[("scene", "4")], 4, "piled"),
        (&[("scene", "4"), ("at", "queued")], 4, "queued"),
        (&[("mode", "story"), ("at", "piled")], 4, "piled"),
        (&[("mode", "quiz")], 4, "piled"),
        (&[("mode", "quiz"), ("scene", "5")], 6, "unseen"),
        (&[("mode", "quiz"), ("scene", "7")], 6, "unseen"),
        (&[("mode", "quiz"), ("at", "called")], 4, "called"),
    ] {
        let pairs = [&[("lesson", "first-look")], pairs].concat();
        let (mut session, shown) = present(&pairs, None);
        assert_eq!(shown, Ok(()), "{pairs:?}");
        let place = marker(&mut session, at);
        let state = now(&mut session);
        let found = (&state["scene"]["index"], &state["step"]);
        assert_eq!(found, (&json!(scene), &json!(place)), "{pairs:?}");
    }
    for pairs in [&[("mode", "watch"), ("scene", "4")][..], &[]] {
        let pairs = [&[("lesson", "first-look")], pairs].concat();
        assert_eq!(now(&mut present(&pairs, None).0)["scene"], Value::Null);
    }
    let bare = || Some(json!({"settings": {"machinery": "shared"}}));
    let asks_nothing = || {
        let mut lesson = first_look();
        for scene in lesson["story"]["scenes"].as_array_mut().unwrap() {
            scene.as_object_mut().unwrap().remove("ask");
        }
        Some(lesson)
    };
    for (pairs, scenario, words) in [
        (
            &[("mode", "story")][..],
            bare(),
            "mode=story: this lesson has no story. Choose one that has (first-look",
        ),
        (&[("mode", "quiz")], bare(), "mode=quiz: this lesson has no"),
        (&[("scene", "1")], bare(), "has no story"),
        (&[("mode", "quiz")], asks_nothing(), "Write mode=story"),
        (&[("scene", "8")], Some(first_look()), "Write 1 to 7"),
        (
            &[("scene", "4"), ("era", "1.36")],
            Some(first_look()),
            "Choose client-go 0.32 (era 1.32).",
        ),
    ] {
        let (mut session, shown) = present(pairs, scenario);
        let said = shown.unwrap_err();
        assert!(said.contains(words), "{pairs:?}: {said}");
        assert!(session.is_open() && now(&mut session)["scene"].is_null());
    }
}

fn first_look() -> Value {
    serde_json::from_str(include_str!("../../src/replay/lessons/first-look.json")).unwrap()
}

#[test]
fn an_attribute_that_changes_tells_the_story_at_the_moment_that_is_shown() {
    let (mut session, _) = present(&[("lesson", "first-look"), ("at", "called")], None);
    let called = marker(&mut session, "called");
    let mut options = Options::default();
    for (value, scene) in [
        ("story", json!(5)),
        ("quiz", json!(4)),
        ("explore", Value::Null),
        ("race", Value::Null),
        ("story", json!(4)),
        ("", Value::Null),
    ] {
        options.set(Attribute::Mode, value).unwrap();
        session.obey(typed::attribute(Attribute::Mode, &options).unwrap());
        let state = now(&mut session);
        assert_eq!(
            state["scene"].get("index").unwrap_or(&Value::Null),
            &scene,
            "{value}"
        );
        assert_eq!(state["step"], called, "{value}");
    }
    options.set(Attribute::Scene, "2").unwrap();
    session.obey(typed::attribute(Attribute::Mode, &options).unwrap());
    assert_eq!(now(&mut session)["scene"]["index"], 2);
}

#[test]
fn a_race_takes_the_place_of_the_story_and_one_that_cannot_be_leaves_it() {
    for (lesson, is_told) in [("first-look", false), ("deltafifo", true)] {
        let (mut session, _) = present(&[("lesson", lesson), ("mode", "story")], None);
        session.obey(Command::Compare(Against::Race));
        assert_eq!(session.view().story.is_some(), is_told, "{lesson}");
    }
}

#[test]
fn a_quiz_goes_from_question_to_question() {
    let (mut session, _) = present(&[("lesson", "first-look"), ("mode", "quiz")], None);
    let mut at = |tell: Tell| {
        session.obey(Command::Tell(tell));
        arrive(&mut session);
        let story = session.view().story.unwrap();
        (
            story.index,
            story.question,
            story.has_before,
            story.has_next,
        )
    };
    let (first, second) = (
        (3, Some((1, 2)), false, true),
        (5, Some((2, 2)), true, false),
    );
    for (tell, expected) in [
        (Tell::Next, second),
        (Tell::Next, second),
        (Tell::Back, first),
        (Tell::Back, first),
        // Back leads from an answer to its question.
        (Tell::Answer(None), (3, Some((1, 2)), true, true)),
        (Tell::Back, first),
        (Tell::Scene(4), (4, Some((1, 2)), true, true)),
        (Tell::Back, first),
    ] {
        assert_eq!(at(tell.clone()), expected, "{tell:?}");
    }
}

#[test]
fn the_state_has_the_scene_its_question_and_the_goal() {
    let (mut session, _) = present(&[("lesson", "first-look"), ("scene", "4")], None);
    let state = now(&mut session);
    assert_eq!(
        (&state["scene"], &state["goal"]),
        (
            &json!({
                "index": 4, "of": 7, "rooms": ["queue"],
                "say": "web-0 changes twice before Pop, which takes deltas out, comes to it. Each change has a new version, rv. The deltas pile up, oldest at the bottom.",
                "question": {
                    "kind": "choice", "text": "How many times will your handler be called?",
                    "choices": ["1 time", "2 times", "3 times"], "answered": null, "right": null, "because": null,
                },
            }),
            &Value::Null
        )
    );
    let asked = |session: &mut Session| {
        let question = now(session)["scene"]["question"].clone();
        // It says why once it is decided, whatever was answered.
        let why = question["because"].as_str();
        let says_why = why.is_some_and(|why| why.contains("each delta becomes one call"));
        (
            question["answered"].clone(),
            question["right"].clone(),
            says_why,
        )
    };
    session.obey(Command::Answer(json!(0)));
    assert_eq!(
        asked(&mut session),
        (json!(0), Value::Null, false),
        "not yet"
    );
    arrive(&mut session);
    assert_eq!(asked(&mut session), (json!(0), json!(false), true));
    session.obey(Command::Answer(json!(2)));
    arrive(&mut session);
    assert_eq!(asked(&mut session), (json!(2), json!(true), true));
    session.obey(Command::Answer(Value::Null));
    arrive(&mut session);
    assert_eq!(asked(&mut session), (json!("shown"), Value::Null, true));
    // What was done and answered is dropped, and the story begins again.
    session.obey(Command::Tell(Tell::Scene(6)));
    session.obey(Command::Tell(Tell::Hint));
    let goal = now(&mut session)["goal"].clone();
    assert_eq!(
        (
            goal["reached"].clone(),
            goal["hints"].as_array().unwrap().len()
        ),
        (json!(false), 1)
    );
    session.obey(Command::Reset);
    assert_eq!(now(&mut session)["scene"]["index"], 1);
    session.obey(Command::Tell(Tell::Scene(3)));
    assert_eq!(asked(&mut session), (Value::Null, Value::Null, false));
    session.obey(Command::Tell(Tell::Show(false)));
    assert_eq!(now(&mut session)["scene"], Value::Null);
}

#[test]
fn a_script_answers_each_kind_of_question_or_is_told_how() {
    let text = |text: &str| json!({"en": text, "zh": text});
    let asks = [
        json!({"kind": "choice", "text": text("?"), "choices": [
            {"say": text("a"), "when": [{"fact": "call=any"}]}, {"say": text("b"), "when": [{"fact": "call=any", "count": 0}]},
        ]}),
        json!({"kind": "number", "text": text("?"), "answer": {"fact": "call=any"}}),
        json!({"kind": "place", "text": text("?"), "rooms": ["queue", "indexer"], "answer": {"fact": "fact=ItemStored"}}),
        json!({"kind": "order", "text": text("?"), "belief": text("no"), "items": [
            {"say": text("called"), "fact": "call=any"}, {"say": text("stored"), "fact": "fact=ItemStored"},
        ]}),
    ];
    for (ask, right, kind, choices, wrong) in [
        (
            0,
            json!(0),
            "choice",
            json!(["a", "b"]),
            &[json!(2), json!(-1), json!("a")][..],
        ),
        (
            1,
            json!(3),
            "number",
            json!([]),
            &[json!("3"), json!(1.5), json!([3])],
        ),
        (
            2,
            json!("indexer"),
            "place",
            json!(["queue", "indexer"]),
            &[json!("api"), json!(0)],
        ),
        (
            3,
            json!([1, 0]),
            "order",
            json!(["called", "stored"]),
            &[json!([0]), json!([0, 0]), json!([0, 2]), json!("0,1")],
        ),
    ] {
        let mut lesson = first_look();
        lesson["story"]["scenes"][3]["ask"] = asks[ask].clone();
        let (mut session, shown) = present(&[("scene", "4")], Some(lesson));
        assert_eq!(shown, Ok(()));
        for value in wrong {
            session.obey(Command::Answer(value.clone()));
            let error = now(&mut session)["error"]["message"].clone();
            let error = error.as_str().unwrap_or_default();
            let begins = format!("answer: {value} is no answer");
            assert!(error.starts_with(&begins), "{value}: {error}");
        }
        session.obey(Command::Answer(right.clone()));
        arrive(&mut session);
        let state = now(&mut session);
        let question = &state["scene"]["question"];
        let found = (
            &question["kind"],
            &question["choices"],
            &question["answered"],
        );
        assert_eq!(found, (&json!(kind), &choices, &right));
        assert_eq!(
            (&question["right"], &state["error"]),
            (&json!(true), &Value::Null)
        );
    }
    // Where nothing is asked.
    let (mut session, _) = present(&[("lesson", "first-look"), ("mode", "story")], None);
    session.obey(Command::Answer(json!(0)));
    let error = now(&mut session)["error"]["message"].clone();
    assert!(error.as_str().unwrap().contains("next()"), "{error}");
    // What has not begun begins with its first scene.
    let (mut session, _) = present(&[("lesson", "first-look")], None);
    session.obey(Command::Tell(Tell::Next));
    assert_eq!(now(&mut session)["scene"]["index"], 1);
}

#[test]
fn what_the_server_has_forgotten_is_said_while_the_reflector_lacks_it() {
    for (scene, expected) in [("3", None), ("4", Some("7")), ("5", Some("7")), ("6", None)] {
        let (mut session, _) = present(&[("lesson", "gone-410"), ("scene", scene)], None);
        let rows = deltascope::presentation::rows::api::rows(&session.view(), 4, 4);
        let forgotten = rows.forgotten.map(|rv| rv.short);
        assert_eq!(forgotten.as_deref(), expected, "scene {scene}");
    }
}

#[test]
fn a_link_opens_its_scene_with_what_the_reader_did() {
    let (mut session, _) = present(&[("lesson", "first-look"), ("scene", "7")], None);
    session.obey(Command::CutWatch);
    session.obey(typed::delete("default/web-1"));
    session.obey(Command::Compact);
    session.obey(Command::Seek(usize::MAX));
    let link = session.export(Export::Link).unwrap();
    let before = now(&mut session);
    assert_eq!(before["goal"]["reached"], true);
    session.obey(Command::OpenLink(link.into()));
    let after = now(&mut session);
    for member in ["scene", "goal", "step", "error", "output"] {
        assert_eq!(after[member], before[member], "{member}");
    }
}

#[test]
fn whatever_was_set_the_story_is_told_anew_in_the_lessons_own_run() {
    for id in lessons::told() {
        let (mut session, _) = present(&[("lesson", id), ("mode", "story")], None);
        let scenes = now(&mut session)["scene"]["of"].as_u64().unwrap();
        let own = session.export(Export::Link).unwrap();
        // More often than there is room for branches.
        for round in 0..20 {
            session.obey(Command::Mode(ProcessMode::Held));
            session.obey(Command::KnownObjects(false));
            session.obey(Command::CutWatch);
            session.obey(Command::Reset);
            let state = now(&mut session);
            assert_eq!(state["scene"]["index"], 1, "{id}, round {round}");
            assert_eq!(session.export(Export::Link).unwrap(), own, "{id}");
        }
        session.obey(Command::KnownObjects(false));
        for scene in 2..=scenes {
            session.obey(Command::Tell(Tell::Next));
            arrive(&mut session);
            let state = now(&mut session);
            assert_eq!(state["scene"]["index"], scene, "{id}");
            assert_eq!(state["error"], Value::Null, "{id}");
        }
        // The last run that was changed is still there.
        assert!(
            now(&mut session)["branches"].as_array().unwrap().len() <= 4,
            "{id}"
        );
    }
}

#[test]
fn a_scene_that_does_not_come_in_a_generation_leaves_the_readers_run() {
    let mut found = 0;
    for id in lessons::told() {
        let (mut session, _) = present(&[("lesson", id), ("mode", "story")], None);
        let scenes = now(&mut session)["scene"]["of"].as_u64().unwrap();
        session.obey(Command::Generation(Generation::Atomic));
        session.obey(Command::CutWatch);
        session.obey(Command::Seek(0));
        let before = session.export(Export::Link).unwrap();
        for scene in 1..usize::try_from(scenes).unwrap() {
            session.obey(Command::Tell(Tell::Scene(scene)));
            if session.view().error.is_none() {
                break;
            }
            found += 1;
            session.obey(Command::DismissError);
            assert_eq!(session.export(Export::Link).unwrap(), before, "{id}");
        }
    }
    assert!(found > 0);
}

#[test]
fn a_run_that_changes_while_a_scene_plays_is_no_longer_played_up_to_there() {
    let (mut session, _) = present(&[("lesson", "first-look"), ("scene", "5")], None);
    session.obey(Command::Tell(Tell::Next));
    assert!(session.plays_scene());
    session.obey(Command::CutWatch);
    assert!(!session.plays_scene());
}

#[test]
fn a_scene_whose_last_motion_was_stopped_does_not_swallow_the_next_play() {
    let next = || {
        let (mut session, _) = present(&[("lesson", "first-look"), ("scene", "5")], None);
        session.obey(Command::Tell(Tell::Next));
        session
    };
    let mut session = next();
    arrive(&mut session);
    let end = session.playback().cursor();
    let mut session = next();
    while session.playback().cursor() < end {
        session.tick();
    }
    assert!(session.plays_scene());
    session.pause();
    session.play();
    assert!(!session.plays_scene());
    session.tick();
    assert!(session.playback().cursor() > end);
}
