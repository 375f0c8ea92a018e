//! Control characters in foreign text never reach the terminal.

use std::fs;
use std::io::Read;
use std::thread;

use deltascope::world::text::Lang;
use serde_json::{Value, json};

use super::{
    HOSTILE, Proxy, answer, api, deltascope, looked_at, output, pod, refusing, resources, scratch,
    send, shown,
};

#[test]
fn control_characters_in_files_and_arguments_are_escaped() {
    let pod = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "name": HOSTILE, "namespace": HOSTILE,
        "uid": HOSTILE, "resourceVersion": HOSTILE, "labels": { HOSTILE: HOSTILE } } });
    let list = json!({ "kind": "PodList", "apiVersion": "v1",
        "metadata": { "resourceVersion": HOSTILE }, "items": [pod] });
    let file = scratch("hostile.json");
    fs::write(&file, list.to_string()).unwrap();
    let list = file.to_str().unwrap();
    let lesson = json!({ "scenario": { "settings": { "machinery": "shared" }, "initial": [pod] },
        "title": { "en": HOSTILE, "zh": HOSTILE } });
    let file = scratch("hostile-lesson.json");
    fs::write(&file, lesson.to_string()).unwrap();
    let lesson = file.to_str().unwrap();
    let (trace, _) = looked_at("tombstone", Lang::En);
    let (_, rest) = trace.split_once('\n').unwrap();
    let head = json!({ "deltascope": 1, "titleEn": HOSTILE, "titleZh": HOSTILE });
    let head = head
        .to_string()
        .replace("{\"deltascope\":1,", "{")
        .replacen('{', "{\"deltascope\":1,", 1);
    let file = scratch("hostile.jsonl");
    fs::write(&file, format!("{head}\n{rest}")).unwrap();
    let trace = file.to_str().unwrap();
    // The file's name holds control characters too; its content is no trace.
    #[cfg(unix)]
    let broken = scratch("hostile\u{1b}[2J.jsonl");
    #[cfg(not(unix))]
    let broken = scratch("hostile-broken.jsonl");
    fs::write(&broken, format!("{head}\n{{\"{HOSTILE}")).unwrap();
    let broken = broken.to_str().unwrap();
    let nobody = "no/such\u{1b}[2J\u{202e}";
    let option = "--no\u{1b}]0;owned\u{7}\u{202e}";
    // Arguments, exit code, and the text as printed.
    let table: &[(&[&str], i32, &str)] = &[
        (
            &["replay", list],
            0,
            "x\\u{1b}]0;owned\\u{7}\\u{0}\\u{9b}2J\\u{7f}\\u{202e}\\u{2066}\\u{2028}\\nforged: y",
        ),
        (&["replay", trace], 0, "x\\u{1b}]0;owned"),
        (&["replay", "--lang", "zh", trace], 0, "x\\u{1b}]0;owned"),
        (&["replay", broken], 1, ".jsonl"),
        (&["replay", nobody], 1, "no/such\\u{1b}[2J\\u{202e}"),
        (&["replay", list, "--until", HOSTILE], 2, "--until"),
        (&["replay", list, "--era", HOSTILE], 2, "--era"),
        (&["replay", list, option], 2, "--no"),
        (&["draw", list, "--at", HOSTILE], 2, "owned"),
        (&["draw", list], 0, "<svg"),
        (&["draw", lesson], 1, "DNS"),
        (&["draw", "--lesson", HOSTILE], 1, "owned"),
        (&["record", "--index", HOSTILE], 2, "owned"),
        (
            &["record", "-o", nobody, "--proxy", "http://127.0.0.1:1"],
            3,
            "kubectl proxy",
        ),
        (&["serve", "--dist", nobody], 1, "no/such"),
        (&["serve", "--proxy", HOSTILE], 2, "kubectl proxy"),
        (&[HOSTILE], 2, "unrecognized"),
    ];
    for (args, code, said) in table {
        // Arguments cannot hold NUL.
        let args: Vec<String> = args.iter().map(|arg| arg.replace('\0', "")).collect();
        let args: Vec<&str> = args.iter().map(|arg| &**arg).collect();
        let output = output(&mut deltascope(&args));
        let (out, err) = (shown(&output.stdout), shown(&output.stderr));
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {err}");
        assert!(format!("{out}{err}").contains(said), "{args:?}: {out}{err}");
        let forged = format!("{out}{err}")
            .lines()
            .any(|line| line.starts_with("forged"));
        assert!(!forged || *code == 2, "{args:?}: {out}{err}");
    }
}

#[test]
fn control_characters_from_a_cluster_are_escaped() {
    let forbidden = refusing(json!({ "kind": "Status", "apiVersion": "v1", "code": 403,
        "reason": HOSTILE, "message": HOSTILE }));
    let no_json = Proxy::start(|head, mut to| {
        if head.contains("/pods") {
            answer(
                &mut to,
                "500 Internal Server Error",
                "text/plain",
                HOSTILE.as_bytes(),
            );
        } else {
            resources(&head, &mut to);
        }
    });
    // Long enough for an answer on a busy machine; all at once, since each lasts that long.
    thread::scope(|scope| {
        for (url, said) in [(&forbidden.url, "owned"), (&no_json.url, "500")] {
            for more in [&[][..], &["--progress"]] {
                scope.spawn(move || {
                    let args = [&["record", "--proxy", url, "--for", "2s"], more].concat();
                    let output = output(&mut deltascope(&args));
                    let err = shown(&output.stderr);
                    assert_eq!(output.status.code(), Some(1), "{err}");
                    assert!(
                        err.contains(said) && !err.lines().any(|line| line.starts_with("forged")),
                        "{err}"
                    );
                });
            }
        }
    });
    // The recorded object is the same, however it is escaped.
    let api = api("pods", |_, mut to| {
        send(&mut to, "ADDED", &pod(HOSTILE, 11));
        let _ended = to.read(&mut [0; 1]);
    });
    let args = [
        "record",
        "--proxy",
        &api.url,
        "--max-events",
        "1",
        "--era",
        "1.32",
    ];
    let output = output(&mut deltascope(&args));
    assert_eq!(output.status.code(), Some(0));
    let text = shown(&output.stdout);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        last.pointer("/told/0/event/object/metadata/name"),
        Some(&json!(HOSTILE)),
        "{last}"
    );
}
