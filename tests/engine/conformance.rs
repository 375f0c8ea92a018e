//! Replays the recorded scenarios of the real client-go, and checks that the runner detects every
//! difference.

#[path = "../conformance/runner/mod.rs"]
mod runner;

use std::fs;
use std::path::{Path, PathBuf};

use runner::{Outcome, run_file, run_text};
use serde_json::{Value, json};

fn vectors(subject: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    runner::collect(&[root.join(subject)]).unwrap()
}

fn all_pass(subject: &str, count: usize) {
    let files = vectors(subject);
    assert_eq!(files.len(), count, "a file is missing or new");
    for file in files {
        assert_eq!(run_file(&file), Outcome::Passed, "{}", file.display());
    }
}

#[test]
fn indexer_behaves_as_recorded() {
    all_pass("indexer", 20);
}

#[test]
fn fifo_behaves_as_recorded() {
    all_pass("fifo", 11);
}

#[test]
fn delta_fifo_behaves_as_recorded() {
    all_pass("deltafifo", 29);
}

#[test]
fn real_fifo_behaves_as_recorded() {
    all_pass("realfifo", 49);
}

#[test]
fn informer_behaves_as_recorded() {
    all_pass("informer", 95);
}

#[test]
fn reflector_behaves_as_recorded() {
    all_pass("reflector", 56);
}

/// Files that together contain every compared member.
const SAMPLES: [&str; 31] = [
    "indexer/add-indexers-conflict",
    "indexer/basic-crud",
    "indexer/index-func-error-panics",
    "indexer/key-errors",
    "indexer/multi-value-index",
    "indexer/transaction",
    "indexer/unknown-index-name",
    "fifo/key-error",
    "fifo/pop-blocks",
    "fifo/v024-add-if-not-present",
    "deltafifo/transformer-error",
    "deltafifo/v024-add-if-not-present",
    "deltafifo/v024-err-requeue",
    "realfifo/atomic-replace-resync-bookmark",
    "realfifo/popbatch-unique-keys",
    "informer/add-handler-after-stop",
    "informer/filtering-handler",
    "informer/remove-handler",
    "informer/same-rv-after-resync-check",
    "informer/v032-plain-transformer",
    "informer/v035-plain-store-view",
    "informer/v035-watchlist-fallback",
    "informer/v036-list-without-rv",
    "reflector/bookmark-store",
    "reflector/list-error",
    "reflector/page-expired-full-list",
    "reflector/random-501",
    "reflector/resync-timer",
    "reflector/watch-request-expired",
    "reflector/watchlist-expired",
    "reflector/v032-update-resource-version-store",
];

/// The first lines of a file. Only these, because the tests below alter each line and replay the
/// sample each time.
fn sample(name: &str) -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let text = fs::read_to_string(root.join(name).with_extension("jsonl")).unwrap();
    text.lines()
        .take(30)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn run(lines: &[Value]) -> Outcome {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    run_text(&lines.join("\n"))
}

/// The line at which the sample fails.
fn failing_line(lines: &[Value]) -> Option<usize> {
    match run(lines) {
        Outcome::Failed(failure) => Some(failure.line),
        Outcome::Passed => None,
    }
}

#[test]
fn every_compared_value_is_compared() {
    for name in SAMPLES {
        let mut lines = sample(name);
        assert_eq!(run(&lines), Outcome::Passed, "{name}");
        for line in 1..lines.len() {
            for member in ["result", "error", "errorKind", "panic", "state"] {
                let mut paths = Vec::new();
                leaves(&lines[line][member], &format!("/{member}"), &mut paths);
                for path in paths {
                    // The runner does not compare the texts of the watch-error handler: they
                    // contain Go type names.
                    let internal = path.starts_with("/state/internal")
                        || path.starts_with("/result/watchErrorHandler/");
                    let leaf = lines[line].pointer_mut(&path).unwrap();
                    let before = leaf.take();
                    *leaf = other(&before);
                    let failed = failing_line(&lines);
                    let expected = (!internal).then_some(line + 1);
                    assert_eq!(failed, expected, "{name} line {} {path}", line + 1);
                    *lines[line].pointer_mut(&path).unwrap() = before;
                }
            }
        }
    }
}

#[test]
fn every_missing_member_fails() {
    for name in SAMPLES {
        let mut lines = sample(name);
        for line in 1..lines.len() {
            let step = lines[line].clone();
            for member in ["op", "result", "error", "errorKind", "panic", "state"] {
                if step.get(member).is_some_and(|value| !value.is_null()) {
                    lines[line].as_object_mut().unwrap().remove(member);
                    let failed = failing_line(&lines);
                    assert_eq!(failed, Some(line + 1), "{name} without {member}");
                    lines[line] = step.clone();
                }
            }
            for member in step["state"].as_object().unwrap().keys() {
                // A member that is absent from the whole file did not exist in that version.
                let elsewhere =
                    (1..lines.len()).any(|l| l != line && lines[l]["state"].get(member).is_some());
                if member != "internal" && elsewhere {
                    lines[line]["state"].as_object_mut().unwrap().remove(member);
                    assert_eq!(failing_line(&lines), Some(line + 1), "{name}: {member}");
                    lines[line] = step.clone();
                }
            }
        }
    }
}

#[test]
fn an_unknown_value_fails() {
    let shared = "informer/remove-handler";
    let filtering = "informer/filtering-handler";
    let plain = "informer/v035-plain-store-view";
    let paths: [(&str, usize, &str, Value); 36] = [
        (shared, 0, "/options/queue", json!("FIFO")),
        (shared, 0, "/options/generation", json!("classic")),
        (shared, 0, "/options/generation", json!("batched")),
        (shared, 0, "/options/generation", json!("atomicc")),
        (shared, 0, "/options/atomicFIFO", json!("yes")),
        (shared, 0, "/options/resyncSeconds", json!("0")),
        (shared, 0, "/options/resyncSeconds", json!(-1)),
        (shared, 0, "/options/indexers", json!(["uid"])),
        (shared, 0, "/options/transformer", json!("appendX")),
        (shared, 0, "/options/extra", json!(1)),
        (shared, 0, "/source", json!("client-go v0.35.7")),
        (shared, 2, "/args/name", json!("h1")),
        (shared, 2, "/args/extra", json!(1)),
        (shared, 2, "/args/resyncSeconds", json!([])),
        (shared, 7, "/args/name", json!("h9")),
        (filtering, 2, "/args/filter/label", Value::Null),
        (filtering, 2, "/args/filter/extra", json!(1)),
        (plain, 1, "/op", json!("AddHandler")),
        (plain, 0, "/source", json!("client-go v0.34.10")),
        (
            "indexer/basic-crud",
            0,
            "/format",
            json!("informer-conformance/2"),
        ),
        ("indexer/basic-crud", 0, "/subject", json!("store")),
        ("indexer/basic-crud", 0, "/source", json!("client-go")),
        ("indexer/basic-crud", 0, "/extra", json!(1)),
        ("indexer/basic-crud", 0, "/options/extra", json!(1)),
        ("indexer/basic-crud", 0, "/options/keyFunc", json!("uid")),
        ("indexer/basic-crud", 0, "/options/indexers", json!(["uid"])),
        ("indexer/basic-crud", 1, "/op", json!("Upsert")),
        ("indexer/basic-crud", 1, "/extra", json!(1)),
        ("indexer/basic-crud", 1, "/args/extra", json!(1)),
        ("indexer/basic-crud", 1, "/args/obj/extra", json!(1)),
        ("indexer/basic-crud", 1, "/state/extra", json!(1)),
        ("deltafifo/resync", 0, "/options/api", json!("v0.30")),
        (
            "deltafifo/resync",
            0,
            "/options/transformer",
            json!("appendX"),
        ),
        (
            "deltafifo/resync",
            0,
            "/options/knownObjects/mode",
            json!("dead"),
        ),
        (
            "realfifo/popbatch-size",
            0,
            "/options/batchSize",
            json!("3"),
        ),
        (
            "deltafifo/accumulate-and-pop",
            1,
            "/op",
            json!("AddIfNotPresent"),
        ),
    ];
    for (name, line, path, value) in paths {
        let mut lines = sample(name);
        let (parent, member) = path.rsplit_once('/').unwrap();
        let parent = lines[line].pointer_mut(parent).unwrap();
        parent[member] = value.clone();
        let failed = failing_line(&lines);
        assert_eq!(failed, Some(line + 1), "{name} {path} {value}");
    }
    let header = r#"{"format":"informer-conformance/1","subject":"informer","name":"n","source":"client-go v0.36.4","options":{}}"#;
    let step = r#"{"op":"Run","state":{}}"#;
    assert_eq!(run_text(&format!("{header}\n{step}\n")), Outcome::Passed);
    for (text, line) in [
        (String::new(), 1),
        (format!("{header}\n"), 1),
        (format!("{header}\n{step}\nnot JSON\n"), 3),
        (format!("{header}\n[]\n"), 2),
        (format!("{header}\n\n{step}\n"), 2),
        (format!("{step}\n{step}\n"), 1),
    ] {
        match run_text(&text) {
            Outcome::Failed(failure) => assert_eq!(failure.line, line, "{text}: {failure}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Every required argument of every operation.
#[test]
fn every_missing_argument_fails() {
    for name in SAMPLES {
        let mut lines = sample(name);
        for line in 1..lines.len() {
            let step = lines[line].clone();
            for argument in step["args"].as_object().into_iter().flat_map(|a| a.keys()) {
                if argument == "status" {
                    // Repeats the error's name.
                    continue;
                }
                let args = lines[line]["args"].as_object_mut().unwrap();
                args.remove(argument);
                let what = format!("{name} line {}: {argument}", line + 1);
                let failed = failing_line(&lines);
                if argument == "filter" || argument == "resyncSeconds" {
                    // Without it the handler is a different one, which shows only later.
                    assert!(failed.is_some_and(|failed| failed > line + 1), "{what}");
                } else {
                    assert_eq!(failed, Some(line + 1), "{what}");
                }
                lines[line] = step.clone();
            }
        }
    }
}

#[test]
fn an_operation_of_another_version_fails() {
    for (source, op, args) in [
        ("client-go v0.34.10", "Transaction", json!({ "txns": [] })),
        ("client-go v0.35.7", "Bookmark", json!({ "rv": "" })),
        (
            "client-go v0.35.7",
            "LastStoreSyncResourceVersion",
            json!({}),
        ),
    ] {
        let mut lines = sample("indexer/basic-crud");
        lines.truncate(1);
        lines[0]["source"] = json!(source);
        lines.push(json!({ "op": op, "args": args, "state": {} }));
        assert_eq!(failing_line(&lines), Some(2), "{op}");
    }
    let mut lines = sample("realfifo/popbatch-size");
    lines[0]["options"]["knownObjects"] = Value::Null;
    assert_eq!(
        failing_line(&lines),
        Some(1),
        "only an atomic queue works without known objects"
    );
}

/// Responses that a scripted server cannot give, or that the reflector did not request.
#[test]
fn an_inconsistent_script_fails() {
    let ends = json!({ "metadata": { "annotations": { "k8s.io/initial-events-end": "true" } } });
    let object = json!({ "metadata": { "name": "p0", "resourceVersion": "11" } });
    let steps: [(&str, usize, Value); 31] = [
        // In the first two lines.
        ("no number", 0, json!({ "pageSize": "2" })),
        ("no page", 0, json!({ "pageSize": -1 })),
        ("too large", 0, json!({ "pageSize": 5_000_000_000_u64 })),
        ("no time", 0, json!({ "resyncSeconds": 0.5 })),
        ("no time", 0, json!({ "maxInternalErrorRetrySeconds": "1" })),
        ("no such call", 0, json!({ "failingStoreOp": "Pop" })),
        ("no text", 0, json!({ "failingStoreOp": true })),
        ("no such function", 0, json!({ "transformer": "appendX" })),
        ("no flag", 0, json!({ "watchList": 1 })),
        ("no such option", 0, json!({ "watchlist": true })),
        (
            "no run",
            1,
            json!({ "op": "Watch", "args": { "response": { "open": true } } }),
        ),
        (
            "no args",
            1,
            json!({ "op": "Run", "args": { "seconds": 1 } }),
        ),
        // While a watch is open.
        ("again", 4, json!({ "op": "Run" })),
        (
            "no list",
            4,
            json!({ "op": "List", "args": { "response": { "error": "gone" } } }),
        ),
        (
            "no watch",
            4,
            json!({ "op": "Watch", "args": { "response": { "open": true } } }),
        ),
        (
            "unknown",
            4,
            json!({ "op": "AddHandler", "args": { "name": "h" } }),
        ),
        (
            "no error",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "ERROR" } }),
        ),
        (
            "no such error",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "ERROR", "error": "409" } }),
        ),
        (
            "no status",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "ERROR", "error": "gone", "status": {} } }),
        ),
        (
            "no HTTP status",
            4,
            json!({ "op": "WatchEvent",
                "args": { "type": "ERROR", "error": "gone", "status": { "code": 70_000 } } }),
        ),
        (
            "no object",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "ADDED" } }),
        ),
        (
            "no type",
            4,
            json!({ "op": "WatchEvent", "args": { "object": object } }),
        ),
        (
            "no such type",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "SYNC", "object": object } }),
        ),
        (
            "no annotation",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "BOOKMARK",
                "object": { "metadata": { "annotations": { "a": true } } } } }),
        ),
        (
            "no metadata",
            4,
            json!({ "op": "WatchEvent", "args": { "type": "BOOKMARK", "object": {} } }),
        ),
        (
            "no list",
            4,
            json!({ "op": "WatchEvents", "args": { "events": ends } }),
        ),
        (
            "no event",
            4,
            json!({ "op": "WatchEvents", "args": { "events": [1] } }),
        ),
        (
            "more than an event",
            4,
            json!({ "op": "WatchEvents",
                "args": { "events": [{ "type": "ADDED", "object": object, "at": 1 }] } }),
        ),
        (
            "no time",
            4,
            json!({ "op": "Advance", "args": { "seconds": "1" } }),
        ),
        (
            "backwards",
            4,
            json!({ "op": "Advance", "args": { "seconds": -1 } }),
        ),
        (
            "for ever",
            4,
            json!({ "op": "Advance", "args": { "seconds": 1e300 } }),
        ),
    ];
    for (name, line, change) in steps {
        let mut lines = sample("reflector/list-then-watch");
        lines.truncate(5);
        if line == 0 {
            let options = lines[0]["options"].as_object_mut().unwrap();
            options.extend(change.as_object().unwrap().clone());
        } else {
            let state = lines[line]["state"].take();
            lines[line] = change;
            lines[line]["state"] = state;
        }
        assert_eq!(failing_line(&lines), Some(line + 1), "{name}");
    }
    // The same events, correctly written.
    let mut lines = sample("reflector/list-then-watch");
    lines.truncate(4);
    let state = json!({ "lastSyncResourceVersion": "" });
    let mut ends = ends;
    ends["metadata"]["resourceVersion"] = json!("");
    lines.push(json!({ "op": "WatchEvent", "args": { "type": "BOOKMARK", "object": ends }, "state": state }));
    lines.push(json!({ "op": "Advance", "args": { "seconds": 0.5 }, "state": state }));
    lines.push(json!({ "op": "Stop", "state": state }));
    assert_eq!(run(&lines), Outcome::Passed);
    // No watch is open any more.
    lines.push(json!({ "op": "WatchClose", "state": state }));
    assert_eq!(failing_line(&lines), Some(8));
    let mut old = sample("reflector/v032-list-then-watch");
    old[0]["options"]["bookmarkStore"] = json!(true);
    assert_eq!(
        failing_line(&old),
        Some(1),
        "bookmark stores exist since 0.36"
    );
    old[0]["options"]["bookmarkStore"] = json!(false);
    old[0]["source"] = json!("client-go v0.24.17");
    assert_eq!(failing_line(&old), Some(1), "too old");
}

/// A scenario with every error in every place. The expected values follow from client-go's code.
#[test]
fn hand_written_scenarios_can_be_run() {
    let state = |rv: &str| json!({ "lastSyncResourceVersion": rv });
    let list = |rv: &str, limit: u32| json!({ "resourceVersion": rv, "resourceVersionMatch": "", "limit": limit, "continue": "" });
    let watch = |rv: &str| json!({ "resourceVersion": rv, "resourceVersionMatch": "", "allowWatchBookmarks": true });
    let header = json!({
        "format": "informer-conformance/1", "subject": "reflector", "name": "own",
        "source": "client-go v0.36.3",
        "options": { "failingStoreOp": "Replace", "resyncSeconds": 10 },
    });
    let mut lines = vec![header, json!({ "op": "Run", "state": state("") })];
    for error in [
        "timeout",
        "forbidden",
        "internal",
        "invalid",
        "too-many-requests",
        "generic",
    ] {
        lines.push(json!({
            "op": "List", "args": { "response": { "error": error } },
            "result": { "request": list("0", 500), "watchErrorHandler": ["what it was"] },
            "state": state(""),
        }));
    }
    let filled = json!({ "resourceVersion": "10", "items": null });
    lines.push(json!({
        "op": "List", "args": { "response": filled },
        "result": {
            "request": list("0", 500), "storeCalls": [["Replace", "10", []]],
            "watchErrorHandler": ["the store failed"],
        },
        "state": state(""),
    }));
    assert_eq!(run(&lines), Outcome::Passed);
    // The number of calls must match.
    let last = lines.len();
    for count in [0, 2] {
        let mut other = lines.clone();
        other[last - 1]["result"]["watchErrorHandler"] = json!(vec!["text"; count]);
        assert_eq!(failing_line(&other), Some(last), "{count}");
    }
    lines[0]["options"]["failingStoreOp"] = json!("Resync");
    let filling = lines.last_mut().unwrap();
    filling["state"] = state("10");
    filling["result"]["watchErrorHandler"] = json!([]);
    for error in ["connection-refused", "too-many-requests"] {
        lines.push(json!({
            "op": "Watch", "args": { "response": { "error": error } },
            "result": { "request": watch("10") }, "state": state("10"),
        }));
    }
    lines.push(json!({
        "op": "Watch", "args": { "response": { "open": true } },
        "result": { "request": watch("10") }, "state": state("10"),
    }));
    // A failed resync ends the watch.
    lines.push(json!({
        "op": "Advance", "args": { "seconds": 11 },
        "result": { "storeCalls": [["Resync"]] }, "state": state("10"),
    }));
    lines.push(json!({
        "op": "List", "args": { "response": { "error": "too-large-resource-version" } },
        "result": { "request": list("10", 0) }, "state": state("10"),
    }));
    lines.push(json!({
        "op": "List", "args": { "response": { "error": "gone" } },
        "result": { "request": list("", 0), "watchErrorHandler": [""] }, "state": state("10"),
    }));
    assert_eq!(run(&lines), Outcome::Passed);
}

#[test]
fn any_header_may_state_the_generation() {
    for name in ["indexer/basic-crud", "fifo/key-error", "deltafifo/resync"] {
        let mut lines = sample(name);
        lines[0]["options"]["generation"] = json!("atomic");
        assert_eq!(run(&lines), Outcome::Passed, "{name}");
        lines[0]["options"]["generation"] = json!("atomicc");
        assert_eq!(failing_line(&lines), Some(1), "{name}");
    }
}

#[test]
fn a_member_named_twice_fails() {
    let lines: Vec<String> = sample("indexer/basic-crud")
        .iter()
        .map(ToString::to_string)
        .collect();
    let text = lines.join("\n");
    for (from, to) in [
        ("\"op\":", "\"op\":\"Add\",\"op\":"),
        ("\"state\":", "\"state\":null,\"state\":"),
        ("\"name\":\"p0\"", "\"name\":\"p0\",\"name\":\"p0\""),
    ] {
        let twice = text.replacen(from, to, 1);
        assert_ne!(twice, text, "{from}");
        let Outcome::Failed(failure) = run_text(&twice) else {
            panic!("{to} passed");
        };
        assert!(failure.message.contains("two members"), "{failure}");
    }
}

#[test]
fn an_absent_member_is_null_and_a_set_has_no_order() {
    let mut lines = sample("indexer/basic-crud");
    for line in &mut lines[1..] {
        for member in ["args", "result", "error", "errorKind", "panic"] {
            let step = line.as_object_mut().unwrap();
            step.entry(member).or_insert(Value::Null);
        }
        if let Some(list) = line
            .pointer_mut("/result/items")
            .and_then(Value::as_array_mut)
        {
            list.reverse();
        }
    }
    assert_eq!(run(&lines), Outcome::Passed);
    // The keys of IndexKeys and a queue are ordered.
    let mut lines = sample("deltafifo/accumulate-and-pop");
    let line = (1..lines.len())
        .find(|line| lines[*line]["state"]["queue"].as_array().unwrap().len() > 1)
        .unwrap();
    let queue = lines[line].pointer_mut("/state/queue").unwrap();
    queue.as_array_mut().unwrap().reverse();
    assert_eq!(failing_line(&lines), Some(line + 1));
}

#[test]
fn a_folder_without_scenarios_is_an_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    assert!(runner::collect(&[root.join("runner")]).is_err());
    assert!(runner::collect(&[root.join("no such folder")]).is_err());
}

/// The paths of all values that have no members.
fn leaves(value: &Value, path: &str, paths: &mut Vec<String>) {
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, value) in map {
                leaves(value, &format!("{path}/{}", escape(name)), paths);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (index, value) in list.iter().enumerate() {
                leaves(value, &format!("{path}/{index}"), paths);
            }
        }
        // Absent: there is nothing to change.
        Value::Null if path.matches('/').count() == 1 => {}
        _ => paths.push(path.to_owned()),
    }
}

/// A different value, as close as possible.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!("x"),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(_) => json!(["x"]),
        Value::Object(_) => json!({ "x": "x" }),
    }
}
