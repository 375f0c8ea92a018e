//! No small file takes much time or memory.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{HOSTILE, deltascope, output, scratch, shown};
use crate::attacks;

/// The program with a limit on its memory, where the system has one: loading what it should refuse would exceed
/// it.
fn within_bounds(args: &[&str]) -> Command {
    let mut command = deltascope(args);
    if cfg!(unix) {
        let program = command.get_program().to_owned();
        command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 524288; exec \"$0\" \"$@\""])
            .arg(program)
            .args(args)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }
    command
}

#[test]
fn no_small_file_takes_much_time_or_memory() {
    let long = format!("{HOSTILE}{}", "x".repeat(700_000));
    let header = "{\"deltascope\":1}\n";
    let small = "{\"scenario\":{\"settings\":{\"machinery\":\"shared\"}}}\n";
    let print = json!({ "at": 1, "op": "print", "line": "{indices}".repeat(60_000) });
    // A file, the parts of its error message, and whether part of it can be replayed.
    let mut table: Vec<(&str, String, Vec<&str>, bool)> = Vec::new();
    for (scenario, field, most) in attacks::scenarios(&long) {
        let trace = format!("{header}{}\n", json!({ "scenario": scenario }));
        let line = "much.jsonl, line 2: ";
        table.push(("much.jsonl", trace, vec![line, field, most], false));
        table.push(("much.json", scenario.to_string(), vec![field, most], false));
    }
    let named = json!([{ "metadata": { "name": "x".repeat(7_000_000), "resourceVersion": "1" } }]);
    let list = json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": named });
    let values = "{\"a\":0},".repeat(1_000_000);
    for (name, text, said, describes) in [
        (
            "named.list",
            list.to_string(),
            vec![
                "named.list, line 1: items[0]",
                "metadata.name: 7000000 bytes",
                "4096",
            ],
            false,
        ),
        (
            "named.json",
            json!({ "settings": { "machinery": "shared" }, "initial": named }).to_string(),
            vec!["The object has 70000", "at most 1572864", "Leave out"],
            false,
        ),
        (
            "values.list",
            format!("{{\"kind\":\"PodList\",\"items\":[{values}{{}}]}}"),
            vec![
                "values.list, line 1: ",
                "at most 10000",
                "Record one namespace",
            ],
            false,
        ),
        (
            "values.json",
            format!("{{\"settings\":{{}},\"x\":[{values}0]}}"),
            vec!["values.json, line 1: ", "small values", "Record less"],
            false,
        ),
        (
            "values.jsonl",
            format!("{header}{{\"scenario\":{{}},\"x\":[{values}0]}}\n"),
            vec![
                "values.jsonl, line 2: ",
                "small values",
                "Cut the file here",
            ],
            false,
        ),
        // The rest of the trace is shown, and its export opens.
        (
            "print.jsonl",
            format!("{header}{small}{print}\n"),
            vec![
                "print.jsonl, line 3: ",
                "field \"line\": 540000",
                "the most is 4096",
            ],
            true,
        ),
        (
            "nobody.jsonl",
            format!(
                "{header}{small}{{\"at\":5,\"op\":\"delete\",\"object\":{{\"metadata\":{{\"name\":\"\"}}}}}}\n"
            ),
            vec![
                "nobody.jsonl, line 3: an entry of a script, field \"object\"",
                "metadata.name is missing",
                "Mend the line",
            ],
            true,
        ),
        (
            "moment.jsonl",
            format!(
                "{{\"deltascope\":1,\"at\":{}}}\n{small}",
                json!("x".repeat(700_000))
            ),
            vec!["no marker \"xxxx", "…\"", "Write input:N"],
            true,
        ),
    ] {
        table.push((name, text, said, describes));
    }
    for (name, text, said, describes) in table {
        let (file, written) = (scratch(name), scratch("much-written"));
        fs::write(&file, text).unwrap();
        let (path, to) = (file.to_str().unwrap(), written.to_str().unwrap());
        for args in [&["draw", path, "-o", to][..], &["replay", path]] {
            // `replay` takes no scenario outside of a trace.
            if args[0] == "replay" && name.ends_with(".json") {
                continue;
            }
            let _there_was_none = fs::remove_file(&written);
            let done = output(&mut within_bounds(args));
            let (out, err) = (shown(&done.stdout), shown(&done.stderr));
            assert_eq!(done.status.code(), Some(1), "{args:?}: {err}");
            for words in &said {
                assert!(err.contains(words), "{args:?}: {words}: {err}");
            }
            assert!(err.len() < 800, "{args:?}: {err}");
            let describes = describes && args[0] == "replay";
            assert_eq!(
                (out.is_empty(), written.exists()),
                (!describes, false),
                "{args:?}: {err}"
            );
        }
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_huge_title_is_cut() {
    let file = scratch("title.jsonl");
    let title = "名".repeat(1_000_000);
    let head = format!("{{\"deltascope\":1,\"titleEn\":\"{title}\",\"titleZh\":\"{title}\"}}");
    let text = format!("{head}\n{{\"scenario\":{{\"settings\":{{\"machinery\":\"shared\"}}}}}}\n");
    fs::write(&file, text).unwrap();
    for program in ["draw", "replay"] {
        let done = output(&mut within_bounds(&[program, file.to_str().unwrap()]));
        let (out, err) = (shown(&done.stdout), shown(&done.stderr));
        assert_eq!((done.status.code(), &*err), (Some(0), ""), "{program}");
        assert!(
            out.contains("名名") && out.len() < 100_000,
            "{program}: {}",
            out.len()
        );
    }
    fs::remove_file(&file).unwrap();
}
