//! How lessons and files open, and the first state that they show.

use deltascope::cache::delta::DeltaType;
use deltascope::cache::fact::{Fact, QueueFact};
use deltascope::presentation::command::Command;
use deltascope::presentation::session::Session;
use serde_json::json;

use super::{end, now, open};

#[test]
fn a_lesson_opens_at_its_start_with_a_complete_state() {
    let mut session = open("indexer");
    assert_eq!(
        now(&mut session),
        json!({
            "lesson": "indexer", "era": "1.32", "knownObjects": true, "playing": false,
            "step": 0, "steps": session.view().steps, "time": 0, "wallTime": null,
            "lock": { "holder": null, "waiting": [] },
            "api": { "resourceVersion": "1", "objects": {} },
            "reflector": { "state": "idle", "lastSyncResourceVersion": "" },
            "queue": { "kind": "DeltaFIFO", "keys": [], "deltas": {} },
            "store": { "items": {}, "indices": { "namespace": {}, "app": {}, "node": {} }, "behind": 0 },
            "handlers": [{ "name": "process", "pending": 0, "notifications": [] }],
            "output": [], "error": null,
            "grain": "micro", "breakpoints": [], "selection": null, "following": null,
            "branches": [{ "id": 1, "name": "main", "made": "as it was opened", "depth": 0, "current": true }],
            "violations": [], "comparison": null, "live": null, "scene": null, "goal": null,
        })
    );
}

#[test]
fn the_page_opens_with_queued_deltas_and_a_delete_that_is_kept() {
    let mut session = Session::new();
    assert!(matches!(
        &session.current().unwrap().fact,
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Deleted,
            depth: 1,
            ..
        })
    ));
    let picture = session.picture();
    let deltas: usize = picture.queue.deltas.values().map(Vec::len).sum();
    assert_eq!(picture.queue.deltas.len(), 3);
    assert!(
        deltas >= 5 && picture.store.items.len() >= 3,
        "{picture:#?}"
    );
    assert!(!session.view().playing);
}

#[test]
fn the_switch_for_known_objects_decides_whether_the_same_delete_is_kept() {
    for (lesson, known, kept) in [
        ("reflector", false, false),
        ("reflector", true, true),
        ("indexer", true, true),
        ("indexer", false, false),
    ] {
        let mut session = open(lesson);
        session.obey(Command::KnownObjects(known));
        let state = end(&mut session);
        let lines = state["output"].as_array().unwrap();
        let deleted = lines.last().unwrap() == "Deleted : nettool : Running";
        assert_eq!(
            (lines.len(), deleted),
            (9 + usize::from(kept), kept),
            "{lesson} {known}"
        );
    }
}

#[test]
fn the_lines_before_an_unreadable_one_still_play() {
    let event = |name: &str, rv: &str| {
        json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
            "metadata": { "namespace": "a", "name": name, "resourceVersion": rv } } })
        .to_string()
    };
    let text = format!(
        "{}\n{}\nnot json\n{}\n",
        event("p", "1"),
        event("q", "2"),
        event("r", "3")
    );
    let mut session = Session::new();
    session.obey(Command::Open(vec![("bad.json".into(), text.into_bytes())]));
    assert_eq!(now(&mut session)["error"]["line"], 3);
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({ "a/p": "1", "a/q": "2" }));

    // If nothing could be read, the open run stays open.
    let mut session = open("deltafifo");
    session.obey(Command::Open(vec![("x".into(), b"\x1f\x8b\x08".to_vec())]));
    let state = now(&mut session);
    assert_eq!(state["lesson"], "deltafifo");
    assert!(state["error"]["message"].as_str().unwrap().contains("gzip"));
}

#[test]
fn the_note_of_a_list_says_if_it_is_one_page_of_several() {
    for (token, is_partial) in [("", false), ("abc", true)] {
        let list = json!({ "kind": "PodList", "apiVersion": "v1", "items": [],
            "metadata": { "resourceVersion": "7", "continue": token } });
        let mut session = Session::new();
        let bytes = list.to_string().into_bytes();
        session.obey(Command::Open(vec![("list.json".into(), bytes)]));
        let view = session.view();
        assert!(view.error.is_none());
        let note = &view.lesson.note;
        assert_eq!(note.en.contains("one page of several"), is_partial);
        assert_eq!(note.zh.contains("多页中的一页"), is_partial);
    }
}
