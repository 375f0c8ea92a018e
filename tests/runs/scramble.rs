//! A scrambled recording names nothing of its cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltascope::cache::object::Object;
use deltascope::replay::recording::Recording;
use deltascope::replay::scramble::{Scramble, scramble, scramble_trace};
use deltascope::replay::trace::{Trace, read, write};
use deltascope::world::source::Command;
use deltascope::world::source::live::{Page, ResponsePart};
use deltascope::world::source::wire::RecordedEvent;
use deltascope::world::text::Text;
use deltascope::world::virtual_time::Input;
use proptest::prelude::*;
use serde_json::json;

use super::recorded::recording;

const NAMES: Scramble = Scramble {
    names: true,
    labels: false,
};
const LABELS: Scramble = Scramble {
    names: false,
    labels: true,
};
const BOTH: Scramble = Scramble {
    names: true,
    labels: true,
};

fn recorded() -> Recording {
    super::recorded::recorded(&json!({
        "indices": ["namespace", "node", "app", ".spec.containers.0.name", ".status.qosClass"],
        "handlers": [{ "name": "handler", "filter": "app=nettool", "panicsAt": "nettool" }],
    }))
}

fn written(recording: &Recording) -> String {
    write(&Trace {
        lesson: "".into(),
        title: Text::default(),
        at: None,
        start: None,
        recording: recording.clone(),
    })
}

/// How often each fact occurs in a run.
fn facts(recording: &Recording) -> BTreeMap<String, usize> {
    let timeline = recording.play().unwrap();
    let mut counts = BTreeMap::new();
    for record in (0..timeline.len()).filter_map(|place| timeline.fact(place)) {
        *counts.entry(record.fact.name().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn a_scrambled_run_states_the_same_facts_with_other_names() {
    let recording = recorded();
    let other = scramble(&recording, NAMES);
    assert_eq!(facts(&other), facts(&recording));
    let text = written(&other);
    for name in [
        "nettool",
        "batch",
        "kube-node-lease",
        "worker",
        "Mozilla",
        "10.244",
        "nginx",
    ] {
        assert!(!text.contains(name), "{name} is still there");
    }
    assert!(written(&recording).contains("nettool"));
    assert!(text.contains("Running") && text.contains("\"app\":"));
    // The scrambled run opens, and scrambling it again changes nothing visible.
    let (again, error) = read("t", text.as_bytes());
    assert_eq!(error, None);
    assert_eq!(written(&again.unwrap().recording), text);
}

#[test]
fn an_owner_has_the_name_in_a_reference_that_it_has_itself() {
    let object = |value| Arc::new(deltascope::world::source::pod::from_json(value).unwrap());
    let items = [
        object(
            json!({ "kind": "ReplicaSet", "metadata": { "name": "billing-7d4", "uid": "secret-uid" } }),
        ),
        object(
            json!({ "metadata": { "name": "billing-7d4-x", "uid": "u", "ownerReferences": [
            { "kind": "ReplicaSet", "name": "billing-7d4", "uid": "secret-uid", "controller": true }] } }),
        ),
    ];
    let page = ResponsePart::Page(Page {
        items: items.into(),
        ..Page::default()
    });
    let settings = json!({ "settings": { "feed": "cluster", "machinery": "shared" } });
    let other = scramble(&recording(&settings, vec![(1, page)]), NAMES);
    let text = written(&other);
    assert!(
        !text.contains("billing") && !text.contains("secret"),
        "{text}"
    );
    let Input::Source(Command::Respond(responses)) = &other.inputs[0].input else {
        panic!("{text}");
    };
    let ResponsePart::Page(page) = &responses[0].part else {
        panic!("{text}");
    };
    let owner = &page.items[1].metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (&*owner.name, &*owner.uid),
        (page.items[0].name(), page.items[0].uid())
    );
    assert_eq!((&*owner.kind, owner.controller), ("ReplicaSet", Some(true)));
}

#[test]
fn labels_and_annotations_can_be_removed_alone() {
    let recording = recorded();
    let other = scramble(&recording, LABELS);
    let text = written(&other);
    assert!(text.contains("nettool-") || text.contains("\"name\":\"nettool\""));
    assert!(!text.contains("\"labels\"") && !text.contains("\"annotations\""));
    assert_eq!(
        other
            .scenario
            .settings
            .indices
            .iter()
            .map(|index| &**index)
            .collect::<Vec<_>>(),
        [
            "namespace",
            "node",
            ".spec.containers.0.name",
            ".status.qosClass"
        ]
    );
    let nothing = scramble(&recording, Scramble::default());
    assert_eq!(written(&nothing), written(&recording));
}

#[test]
fn a_title_that_may_contain_names_is_replaced() {
    let trace = |lesson: &str, recording: Recording| Trace {
        lesson: lesson.into(),
        title: Text::new("pods in secret-place", "secret-place 的 pods"),
        at: None,
        start: None,
        recording,
    };
    let lesson = || recording(&json!({}), Vec::new());
    for (trace, stays) in [
        (trace("", lesson()), false),
        (trace("file:secret-place.jsonl", lesson()), false),
        (trace("cluster", recorded()), false),
        (trace("hello-1", lesson()), true),
    ] {
        let has = |what| write(&scramble_trace(&trace, what)).contains("secret-place");
        assert_eq!(has(BOTH), stays, "{}", trace.lesson);
        // A cluster's title contains the selectors, which are labels.
        assert_eq!(has(LABELS), &*trace.lesson != "cluster");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// No part of a name is left in the file, equal names stay equal, and different names stay different.
    #[test]
    fn no_name_survives(
        names in prop::collection::btree_set("[a-z]{1,4}qz[a-z]{0,3}(-[a-z]{0,3}zq[0-9]{0,3}){0,2}", 1..12),
        what in prop::sample::select(vec![NAMES, BOTH]),
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = |at: usize| names[at % names.len()];
        let object = |at: usize| json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {
                "name": name(at), "namespace": name(at + 1), "uid": name(at + 2), "resourceVersion": at.to_string(),
                "labels": { "app": name(at + 3) },
                "annotations": { "note": name(at + 4) },
            },
            "spec": { "nodeName": name(at + 5), "host": { "names": [name(at + 6)] }, "env": [{ "value": name(at) }] },
            "status": { "phase": name(at + 7), "message": name(at + 1) },
        });
        let read_object = |at: usize| Arc::new(deltascope::world::source::pod::from_json(object(at)).unwrap());
        let error = deltascope::cache::lister_watcher::ApiError::from_status(504, "Timeout", name(3), ["ResourceVersionTooLarge"]);
        let responses = vec![
            (1, ResponsePart::Page(Page { rv: "5".into(), items: (0..9).map(read_object).collect(), continue_token: name(2).into() })),
            (2, ResponsePart::Refused(error)),
            (3, ResponsePart::Opened),
            (3, ResponsePart::Event(RecordedEvent::Object { event: deltascope::cache::fact::EventType::Added, object: read_object(3) })),
            (3, ResponsePart::Event(RecordedEvent::Error {
                code: 410,
                reason: "Expired".to_owned(),
                message: name(4).to_owned(),
                causes: vec![name(5).to_owned()],
            })),
        ];
        let handler = json!({
            "name": "h", "filter": format!("app={}", name(3)), "mutates": format!("app={}", name(1)),
            "panicsAt": name(2), "onAdd": [format!("saw {} there", name(1))],
        });
        let mut recording = recording(
            &json!({
                "settings": {
                    "feed": "cluster", "machinery": "shared", "handlers": [handler],
                    "indices": [".spec.host.names.0", ".status.message"],
                    "selector": format!("app in ({}, {}),tier!={}", name(3), name(4), name(5)), "repeats": [format!("{}/{}", name(1), name(0))],
                    "transform": { "rejects": format!("app={}", name(0)), "sets": format!("a={}", name(2)) },
                    "processFails": { "at": name(2) },
                },
                "initial": [object(0), object(1)],
                "script": [
                    { "at": 1, "op": "create", "object": object(2) },
                    { "at": 2, "op": "delete", "object": object(3) },
                    { "at": 3, "op": "print", "line": format!("{}: {}/{}", name(0), name(1), name(2)) },
                    { "at": 4, "op": "ask", "index": "node", "value": name(4), "as": "go" },
                ],
                "beside": [{ "initial": [object(4)], "script": [{ "at": 3, "op": "update", "object": object(5) }] }],
            }),
            responses,
        );
        recording.scenario.recorded = Some(deltascope::world::source::wire::open_text(
            "r",
            &json!({ "type": "ADDED", "object": object(6) }).to_string(),
        ));
        let other = scramble(&recording, what);
        let text = written(&other);
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        for part in names.iter().flat_map(|name| name.split('-')) {
            prop_assert!(!words.contains(part), "{part} is in {text}");
        }
        for field in [r#""host":{"names":[""#, r#""status":{"message":""#] {
            prop_assert!(text.contains(field), "{field}");
        }
        let (again, error) = read("t", text.as_bytes());
        prop_assert_eq!(error, None);
        let again = written(&again.unwrap().recording);
        for (line, other) in text.lines().zip(again.lines()) {
            prop_assert_eq!(line, other);
        }
        prop_assert_eq!(again.len(), text.len());
        // The original and the made-up names, in pairs.
        let pages = |recording: &Recording| -> Vec<(String, String)> {
            let Input::Source(Command::Respond(responses)) = &recording.inputs[0].input else { panic!("no page") };
            let ResponsePart::Page(page) = &responses[0].part else { panic!("no page") };
            page.items.iter().map(|object| (object.name().to_owned(), object.namespace().to_owned())).collect()
        };
        let pairs: BTreeSet<_> = pages(&recording).into_iter().zip(pages(&other)).collect();
        let befores: BTreeSet<_> = pairs.iter().map(|(before, _)| before).collect();
        let afters: BTreeSet<_> = pairs.iter().map(|(_, after)| after).collect();
        prop_assert_eq!((befores.len(), afters.len()), (pairs.len(), pairs.len()));
        for ((name, _), (made, _)) in &pairs {
            let shape = |text: &str| -> String {
                text.chars().map(|c| if c.is_ascii_digit() { '0' } else if c.is_alphabetic() { 'a' } else { c }).collect()
            };
            prop_assert_eq!(shape(name), shape(made));
        }
    }
}
