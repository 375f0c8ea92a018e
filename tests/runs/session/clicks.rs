//! The user's actions on a run, and the errors for those that are not possible.

use deltascope::cache::fact::{Fact, ProcessMode, ServerFact, Verb};
use deltascope::presentation::command::Command;
use deltascope::presentation::options::Options;
use deltascope::presentation::rows::api::draft;
use deltascope::presentation::session::{Change, Session, typed};
use serde_json::{Value, json};

use super::{end, now, open};

#[test]
fn a_write_reaches_the_server_at_once_and_the_store_in_the_end() {
    let mut session = open("indexer");
    end(&mut session);
    let pod =
        json!({ "metadata": { "namespace": "shop", "name": "db-0", "labels": { "app": "db" } } });
    assert!(matches!(
        session.obey(typed::inject("create", pod.clone())),
        Change::Forward
    ));
    let state = now(&mut session);
    assert_eq!(state["api"]["objects"], json!({ "shop/db-0": "12" }));
    assert_eq!(state["store"]["items"], json!({}));
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({ "shop/db-0": "12" }));
    assert_eq!(
        state["store"]["indices"]["app"],
        json!({ "db": ["shop/db-0"] })
    );

    session.obey(typed::inject(
        "update",
        json!({ "metadata": { "namespace": "shop", "name": "db-0" } }),
    ));
    assert_eq!(
        end(&mut session)["store"]["indices"]["app"],
        json!({ "": ["shop/db-0"] })
    );
    session.obey(typed::inject("delete", pod));
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({}));
    assert_eq!(state["error"], Value::Null);
}

#[test]
fn an_act_in_the_midst_of_traffic_is_what_is_shown_and_said() {
    for at in (600..900).step_by(10) {
        let mut session = open("sandbox");
        session.obey(Command::Seek(at));
        let pod = json!({ "metadata": { "namespace": "default", "name": "mine" } });
        for op in ["create", "update", "delete"] {
            assert_eq!(
                session.obey(typed::inject(op, pod.clone())),
                Change::Forward
            );
            let view = session.view();
            let said = view.narrated().0.last().unwrap();
            let key = match &said.fact {
                Fact::Server(
                    ServerFact::ObjectCreated { object, .. }
                    | ServerFact::ObjectUpdated { object, .. }
                    | ServerFact::ObjectDeleted { object, .. }
                    | ServerFact::EventSent { object, .. },
                ) => &*object.key,
                other => other.name(),
            };
            assert_eq!(key, "default/mine", "{op} at {at}");
            assert_eq!(session.current().unwrap().id, said.id, "{op} at {at}");
        }
    }
}

#[test]
fn a_script_goes_to_a_marker_that_the_run_has_not_come_to() {
    let lesson = json!({ "scenario": { "settings": { "machinery": "shared" }, "traffic": 7 },
        "markers": [{ "id": "late", "fact": "ItemStored", "nth": 400 }, { "id": "never", "fact": "FifoCleared" }] });
    let mut session = Session::new();
    session.present(&Options::default(), Some(lesson)).unwrap();
    session.obey(typed::place("late"));
    let view = session.view();
    assert_eq!((&view.error, view.markers.len()), (&None, 1));
    assert_eq!(view.step, view.markers[0].at);
    session.obey(typed::place("never"));
    let error = session.view().error.unwrap().message;
    assert!(
        error.en.contains("does not come to the marker"),
        "{error:?}"
    );
}

#[test]
fn an_impossible_action_reports_an_error_and_changes_nothing_else() {
    // (lesson, op, object, a part of the message)
    let pod = json!({ "metadata": { "name": "x" } });
    for (lesson, op, object, part) in [
        ("indexer", "update", pod.clone(), "404"),
        ("indexer", "delete", pod.clone(), "404"),
        ("indexer", "create", Value::Null, "object"),
        ("indexer", "create", json!({ "metadata": {} }), "name"),
        (
            "indexer",
            "create",
            json!({ "metadata": { "name": "UPPER_case" } }),
            "name",
        ),
        (
            "indexer",
            "patch",
            pod.clone(),
            "create, update, delete or cut",
        ),
        ("indexer", "cut", Value::Null, "no open watch"),
        ("pod-lifecycle", "create", pod.clone(), "recording"),
    ] {
        let mut session = open(lesson);
        session.obey(typed::inject(op, object));
        let state = now(&mut session);
        let message = state["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{lesson} {op}: {message:?}");
        assert_eq!(state["store"]["items"], json!({}));
        session.obey(Command::DismissError);
        assert_eq!(now(&mut session)["error"], Value::Null);
    }
    for (lesson, part) in [("pod-lifecycle", "has none"), ("indexer", "There are: ")] {
        let mut session = open(lesson);
        session.obey(typed::place("x"));
        let state = now(&mut session);
        let message = state["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    }
    let mut session = open("indexer");
    session.obey(typed::inject("create", pod.clone()));
    session.obey(typed::inject("create", pod));
    assert!(
        now(&mut session)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("409")
    );
}

#[test]
fn a_held_loop_lets_deltas_pile_up_and_pops_one_key_when_asked() {
    let mut session = open("indexer");
    session.obey(Command::Mode(ProcessMode::Held));
    let state = end(&mut session);
    assert_eq!(state["queue"]["keys"], json!(["default/nettool"]));
    assert_eq!(
        state["queue"]["deltas"]["default/nettool"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
    assert_eq!(state["output"], json!([]));
    session.obey(Command::PopOne);
    let state = end(&mut session);
    assert_eq!(state["queue"]["keys"], json!([]));
    assert_eq!(state["output"].as_array().unwrap().len(), 10);

    let mut session = open("indexer");
    session.obey(Command::PopOne);
    assert!(
        now(&mut session)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("held")
    );
}

#[test]
fn a_watch_that_is_ending_cannot_be_cut_again() {
    let mut session = open("indexer");
    end(&mut session);
    session.obey(typed::inject("cut", Value::Null));
    assert_eq!(now(&mut session)["error"], Value::Null);
    let step = now(&mut session)["step"].clone();
    session.obey(typed::inject("cut", Value::Null));
    let state = now(&mut session);
    assert!(
        state["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no open watch")
    );
    assert_eq!(state["step"], step);
}

#[test]
fn a_history_is_compacted_only_where_there_is_one() {
    for (lesson, fails) in [
        ("indexer", false),
        ("pod-lifecycle", true),
        ("deltafifo", true),
    ] {
        let mut session = open(lesson);
        session.obey(Command::Compact);
        assert_eq!(now(&mut session)["error"].is_null(), !fails, "{lesson}");
    }
}

#[test]
fn an_edit_keeps_the_labels_that_the_form_does_not_show() {
    let mut session = open("indexer");
    end(&mut session);
    let labels = json!({ "app": "db", "tier": "t-1" });
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "name": "x", "labels": labels } }),
    ));
    let mut edited = draft(&session.view(), &"x".into()).unwrap();
    edited.set_app("cache".into());
    session.obey(typed::write(Verb::Update, edited.to_json()));
    let picture = session.picture();
    let labels = &picture.api.objects.get("x").unwrap().body.labels;
    assert_eq!(labels.get("app").map(String::as_str), Some("cache"));
    assert_eq!(labels.get("tier").map(String::as_str), Some("t-1"));
}

#[test]
fn an_endless_run_is_computed_as_far_as_the_cursor_goes() {
    let mut session = open("sandbox");
    let known = session.view().steps;
    session.obey(Command::Seek(known + 500));
    let view = session.view();
    assert_eq!(view.step, known + 500);
    assert!(view.endless && view.steps > view.step);
}
