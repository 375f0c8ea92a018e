//! `deltascope replay --smallest`, and `--heard`.

use std::fs;

use deltascope::world::text::Lang;
use serde_json::json;

use super::{deltascope, looked_at, output, pod, scratch};

fn replay(args: &[&str]) -> (Option<i32>, String, String) {
    let output = output(deltascope(&["replay"]).args(args));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_smallest_run_is_a_file_and_a_link_of_its_own() {
    let (trace, _) = looked_at("tombstone", Lang::En);
    let (file, small) = (scratch("smallest.jsonl"), scratch("small.jsonl"));
    fs::write(&file, &trace).unwrap();
    let (path, out) = (file.to_str().unwrap(), small.to_str().unwrap());
    let until = "tombstone key=default/b";
    let run = [path, "--until", until, "--smallest"];
    let (code, said, err) = replay(&[&run[..], &["--export", out]].concat());
    assert_eq!((code, &*said), (Some(0), ""), "{err}");
    for words in [
        "3 of 6 entries of the script, 1 of 3 objects, 0 of 1 handlers",
        "#v1;",
    ] {
        assert!(err.contains(words), "{err}");
    }
    // On stdout without a file, and the same from the small run.
    for path in [path, out] {
        let (code, said, err) = replay(&[path, "--until", until, "--smallest", "--lang", "zh"]);
        assert_eq!((code, &*err), (Some(0), ""));
        assert!(
            said.contains("脚本条目 3/") && said.contains("#v1;"),
            "{said}"
        );
    }
    let (code, said, err) = replay(&[out, "--until", until]);
    assert_eq!(code, Some(0), "{err}");
    assert!(said.contains("DeletedFinalStateUnknown"), "{said}");
    for (args, code, words) in [
        (&["--until", "1s"][..], 2, "needs a condition"),
        (
            &["--until", "tombstone key=default/nobody"],
            1,
            "does not show",
        ),
        (&[], 2, "--until"),
    ] {
        let (found, said, err) = replay(&[&[path, "--smallest"], args].concat());
        assert_eq!((found, &*said), (Some(code), ""), "{args:?} {err}");
        assert!(err.contains(words), "{args:?} {err}");
    }
}

#[test]
fn what_a_controller_heard_is_compared_with_what_it_should_have_heard() {
    let line = |at: u32, event: &str, name: &str, version: u64, initial: bool| {
        let informer = json!({ "type": event, "initial": initial, "object": pod(name, version) });
        json!({ "time": format!("2026-11-22T10:00:{at:02}Z"), "informer": informer }).to_string()
    };
    let lines = [
        line(0, "ADDED", "a", 41, true),
        line(0, "ADDED", "b", 42, true),
        line(2, "MODIFIED", "a", 43, false),
        line(9, "DELETED", "b", 44, false),
        line(12, "ADDED", "c", 45, false),
    ];
    let (run, log) = (scratch("whole.log"), scratch("heard.log"));
    fs::write(&run, lines.join("\n")).unwrap();
    let (run, path) = (run.to_str().unwrap(), log.to_str().unwrap());
    let (code, said, err) = replay(&[run, "--heard", run]);
    assert_eq!(
        (code, &*said, &*err),
        (Some(0), "5 notifications are as they should be.\n", "")
    );
    let mut other = lines.to_vec();
    other.remove(2);
    fs::write(&log, other.join("\n")).unwrap();
    for (lang, words) in [
        (
            "en",
            [
                "expected call: OnUpdate default/a 43",
                "2026-11-22T10:00:02.000Z",
                "the log lacks",
            ],
        ),
        (
            "zh",
            [
                "应当收到：OnUpdate default/a 43",
                "2026-11-22T10:00:02.000Z",
                "缺少",
            ],
        ),
    ] {
        let (code, said, err) = replay(&[run, "--heard", path, "--lang", lang]);
        assert_eq!(code, Some(4), "{err}");
        assert!(words.iter().all(|words| said.contains(words)), "{said}");
        assert!(!err.is_empty());
    }
    let (code, _, err) = replay(&[run, "--heard", "no/such/file"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no/such/file"), "{err}");
}
