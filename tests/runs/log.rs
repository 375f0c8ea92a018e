//! A controller's log, opened as a run.

use deltascope::replay::log::{is_log, read};
use deltascope::replay::{recording::Recording, trace};
use serde_json::{Value, json};

fn pod(name: &str, version: u32) -> Value {
    json!({ "metadata": { "name": name, "namespace": "default", "resourceVersion": version.to_string() } })
}

/// A log as slog and klog write it, with other lines in between.
fn logged() -> String {
    let line = |time: Value, informer: Value| {
        json!({ "time": time, "level": "INFO", "msg": "informer", "informer": informer })
            .to_string()
    };
    let gone = json!({ "Key": "default/b", "Obj": pod("b", 42) });
    [
        "I1122 10:00:00.000000       1 main.go:30] \"Starting\" informer={}".to_owned(),
        json!({ "time": "2026-11-22T09:59:00Z", "msg": "started" }).to_string(),
        line(json!("2026-11-22T10:00:00.5Z"), json!({ "type": "ADDED", "initial": true, "object": pod("a", 41) })),
        line(json!("2026-11-22T10:00:00.6Z"), json!({ "type": "ADDED", "initial": true, "object": pod("b", 42), "kind": "Pod", "apiVersion": "v1" })),
        String::new(),
        line(json!("2026-11-22T10:00:02.5Z"), json!({ "type": "MODIFIED", "object": pod("a", 43) })),
        line(json!("2026-11-22T10:00:30.5Z"), json!({ "type": "MODIFIED", "object": pod("a", 43) })),
        line(json!("2026-11-22T12:00:03.5+02:00"), json!({ "type": "DELETED", "object": gone })),
        line(json!("2026-11-22T10:00:33.5Z"), json!({ "type": "ADDED", "object": pod("c", 45) })),
    ]
    .join("\r\n")
}

/// The keys in the store at the end, and the time of the last fact.
fn played(recording: &Recording) -> (Vec<String>, u64) {
    let timeline = recording.play().unwrap();
    let picture = timeline.picture(timeline.len());
    let keys = picture
        .store
        .items
        .iter()
        .map(|(key, _)| key.to_string())
        .collect();
    (keys, timeline.time_at(timeline.len()))
}

#[test]
fn a_log_plays_as_a_run_of_a_cluster() {
    let text = logged();
    assert!(is_log(text.as_bytes()));
    let (found, error) = read("controller.log", text.as_bytes());
    assert_eq!(error, None);
    let found = found.unwrap();
    assert_eq!(&*found.title.en, "controller.log");
    // A list, an open watch and three events: the resync in between is not an input.
    assert_eq!(found.recording.inputs.len(), 5);
    let times: Vec<u64> = found
        .recording
        .inputs
        .iter()
        .map(|taken| taken.at)
        .collect();
    assert_eq!(times[2..], [2_000, 30_000, 33_000]);
    let (keys, end) = played(&found.recording);
    assert_eq!(keys, ["default/a", "default/c"]);
    assert!(end >= 33_000, "{end}");
    // Written as a trace, it is the same run.
    let written = trace::write(&found);
    let (again, error) = trace::read("t", written.as_bytes());
    assert_eq!(error, None);
    assert_eq!(played(&again.unwrap().recording), (keys, end));
}

#[test]
fn a_list_may_be_given_as_a_server_sends_it() {
    let list = json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "50" }, "items": [pod("a", 41)] });
    let text = [
        json!({ "ts": 10, "informer": { "list": list } }),
        json!({ "informer": { "type": "ADDED", "object": pod("b", 51) } }),
        json!({ "informer": { "type": "BOOKMARK", "object": { "metadata": { "resourceVersion": "52" } } } }),
    ]
    .map(|line| line.to_string())
    .join("\n");
    let (found, error) = read("l", text.as_bytes());
    assert_eq!(error, None);
    let recording = found.unwrap().recording;
    assert_eq!(recording.inputs[3].at - recording.inputs[2].at, 500);
    assert_eq!(played(&recording).0, ["default/a", "default/b"]);
}

#[test]
fn an_unreadable_line_is_reported_and_the_lines_before_it_play() {
    let added = json!({ "informer": { "type": "ADDED", "object": pod("a", 41) } });
    let with = |line: &str| format!("text\n{added}\n{line}\n{added}\n");
    for (text, line, part, plays) in [
        (with("{\"informer\":"), Some(3), "not JSON", true),
        (
            with(r#"{"informer":{"type":"SEEN","object":{}}}"#),
            Some(3),
            "SEEN",
            true,
        ),
        (
            with(r#"{"informer":{"type":"ADDED"}}"#),
            Some(3),
            "no object",
            true,
        ),
        (
            with(r#"{"informer":{"object":{"metadata":{"name":"a"}}}}"#),
            Some(3),
            "type",
            true,
        ),
        (
            with(r#"{"time":"soon","informer":{}}"#),
            Some(3),
            "time \"soon\"",
            true,
        ),
        (
            with(r#"{"informer":{"list":{"kind":"PodList","items":[]}}}"#),
            Some(3),
            "a list comes after",
            true,
        ),
        (
            "{\"informer\":5}\nnothing".to_owned(),
            None,
            "no line has the key",
            false,
        ),
        (String::new(), None, "no line has the key", false),
    ] {
        let (found, error) = read("x.log", text.as_bytes());
        let error = error.expect(part);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.en.contains(part), "{error}");
        assert!(
            error.message.zh.chars().any(|c| c > '\u{4e00}'),
            "{}",
            error.message.zh
        );
        assert_eq!(found.is_some(), plays, "{error}");
        if let Some(found) = found {
            assert_eq!(played(&found.recording).0, ["default/a"], "{part}");
        }
    }
}

#[test]
fn other_files_are_not_logs() {
    for text in [
        "",
        "text with \"informer\": in it",
        r#"{"deltascope":1}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"informer":"x"}}}}"#,
        r#"{"informer":"x"}"#,
    ] {
        assert!(!is_log(text.as_bytes()), "{text}");
    }
}

#[test]
fn the_data_of_secrets_is_dropped_from_a_log_too() {
    let secret = json!({ "metadata": { "name": "a" }, "data": { "p": "hunter2" } });
    for informer in [
        json!({ "type": "ADDED", "object": secret }),
        json!({ "type": "ADDED", "object": secret, "kind": "Secret", "apiVersion": "v1", "initial": true }),
        json!({ "list": { "kind": "SecretList", "items": [secret] } }),
    ] {
        let (found, error) = read("l", json!({ "informer": informer }).to_string().as_bytes());
        assert_eq!(error, None);
        let text = trace::write(&found.unwrap());
        assert!(text.contains("\"a\"") && !text.contains("hunter2"));
    }
}
