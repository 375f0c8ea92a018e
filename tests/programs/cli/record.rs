//! `deltascope record`: a recording can be replayed, however it ended.

use std::fs;
use std::io::Read;
use std::sync::mpsc::Receiver;

use deltascope::replay::recording::RecordedInput;
use deltascope::replay::trace;
use serde_json::{Value, json};

use super::{
    HANGS, NOBODY, Proxy, Running, answer, api, deltascope, output, pod, refusing, resources,
    scratch, send, start,
};
#[cfg(unix)]
use super::{code, kill};

#[test]
fn a_recording_replays_the_same_facts() {
    for era in ["1.32", "1.36"] {
        let api = api("pods", |initial, mut to| {
            if initial {
                for name in ["web-1", "web-2"] {
                    send(&mut to, "ADDED", &pod(name, 1));
                }
                let end = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": {
                    "resourceVersion": "10",
                    "annotations": { "k8s.io/initial-events-end": "true" } } });
                send(&mut to, "BOOKMARK", &end);
            }
            send(&mut to, "MODIFIED", &pod("web-1", 11));
            send(&mut to, "ADDED", &pod("web-3", 12));
            // Stays open until the client hangs up.
            let _ended = to.read(&mut [0; 1]);
        });
        let mut command = deltascope(&["record", "--proxy", &api.url, "--era", era]);
        let (mut recording, out, _) = start(&mut command);
        // Events are written at once, while the watch is open.
        let mut text = written_until(&out, "web-3");
        end(&mut recording);
        text.extend(out.iter().map(|line| format!("{line}\n")));
        // The same facts: each input follows the same number of facts.
        let (read, error) = trace::read("trace", text.as_bytes());
        assert!(error.is_none(), "{era}: {error:?}");
        let trace = read.unwrap();
        assert_eq!(&*trace.title.en, "pods · all namespaces");
        // The start time, so that the trace can be compared with logs.
        assert!(trace.start > Some(1_700_000_000_000), "{:?}", trace.start);
        let timeline = trace.recording.play().unwrap();
        let after =
            |inputs: &[RecordedInput]| inputs.iter().map(|one| one.after).collect::<Vec<_>>();
        assert_eq!(
            after(timeline.inputs()),
            after(&trace.recording.inputs),
            "{era}"
        );
        let file = scratch(&format!("recorded-{era}.jsonl"));
        fs::write(&file, text).unwrap();
        let replayed = output(&mut deltascope(&["replay", file.to_str().unwrap()]));
        assert_eq!(replayed.status.code(), Some(0), "{era}");
        let replayed = String::from_utf8(replayed.stdout).unwrap();
        for line in [
            "OnAdd: web-1",
            "OnAdd: web-2",
            "OnUpdate: web-1",
            "OnAdd: web-3",
        ] {
            assert!(replayed.contains(line), "{era}: {line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_killed_recording_leaves_a_trace_that_opens() {
    let api = api("configmaps", |_, mut to| {
        send(&mut to, "ADDED", &pod("late", 11));
        let _ended = to.read(&mut [0; 1]);
    });
    let args = [
        "record",
        "--proxy",
        &api.url,
        "-r",
        "configmaps",
        "--era",
        "1.32",
    ];
    let mut command = deltascope(&args);
    let (mut recording, out, err) = start(command.arg("--progress"));
    assert!(
        err.recv_timeout(HANGS)
            .unwrap()
            .contains("configmaps · all")
    );
    let mut text = written_until(&out, "late");
    kill(&recording, "KILL");
    assert_eq!(code(&mut recording), None);
    text.extend(out.iter().map(|line| format!("{line}\n")));
    // The object's data is not recorded.
    assert!(!text.contains("hidden"));
    let file = scratch("killed.jsonl");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let replayed = output(&mut deltascope(&["replay", path]));
    assert_eq!(replayed.status.code(), Some(0));
    assert!(
        String::from_utf8(replayed.stdout)
            .unwrap()
            .contains("OnAdd: late")
    );
}

#[test]
fn a_recording_ends_as_asked_or_says_why_not() {
    let api_of_pods = api("pods", |_, mut to| {
        for number in 11..40 {
            send(&mut to, "ADDED", &pod(&format!("web-{number}"), number));
        }
        let _ended = to.read(&mut [0; 1]);
    });
    let forbidden = refusing(json!({ "kind": "Status", "apiVersion": "v1", "code": 403,
        "reason": "Forbidden", "message": "pods is forbidden" }));
    let page = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "text/html", b"<html>"));
    let silent = Proxy::start(|_, mut to| {
        let _ended = to.read(&mut [0; 1]);
    });
    let (api, forbidden, page) = (&*api_of_pods.url, &*forbidden.url, &*page.url);
    let silent = &*silent.url;
    let nowhere = scratch("no/such").join("trace.jsonl");
    let nowhere = nowhere.to_str().unwrap();
    // Arguments, exit code, number of events written, and text on stderr.
    let table: &[(&[&str], i32, usize, &str)] = &[
        (&["--proxy", api, "--max-events", "3"], 0, 3, ""),
        (
            &["--proxy", api, "--max-events", "3", "--metadata-only"],
            0,
            3,
            "",
        ),
        (
            &[
                "--proxy",
                api,
                "--max-events",
                "3",
                "--era",
                "1.32",
                "-n",
                "a",
            ],
            0,
            3,
            "",
        ),
        (&["--max-events", "0"], 2, 0, "--max-events"),
        (
            &["--proxy", forbidden, "--for", "1s"],
            1,
            0,
            "kubectl auth can-i list pods -A",
        ),
        (
            &["--proxy", forbidden, "--for", "1s", "--lang", "zh"],
            1,
            0,
            "没有录到任何内容",
        ),
        (&["--proxy", api, "-r", "widgets"], 1, 0, "widgets"),
        (&["--proxy", api, "-n", "No_Such"], 2, 0, "DNS label"),
        (&["--proxy", api, "-l", "a=b=c"], 2, 0, "label selector"),
        (&["--proxy", api, "-o", nowhere], 1, 0, "no/such"),
        (&["--proxy", NOBODY], 3, 0, "kubectl proxy --port=1"),
        (
            &["--proxy", NOBODY, "--for", "5000000000000h"],
            3,
            0,
            "kubectl proxy --port=1",
        ),
        (&["--proxy", page], 3, 0, "web page"),
        (&["--proxy", page], 3, 0, "--proxy names another address"),
        (&["--proxy", page], 3, 0, page),
        // All is said before its end.
        (&["--proxy", silent, "--for", "300ms"], 3, 0, silent),
        (
            &["--proxy", forbidden, "--for", "1s"],
            1,
            0,
            "\ndeltascope: Nothing is recorded.\n",
        ),
        (&["-A", "-n", "a"], 2, 0, "--all-namespaces"),
        (&["--full", "--metadata-only"], 2, 0, "--metadata-only"),
        (&["--for", "soon"], 2, 0, "30s"),
        (&["--era", "2.0"], 2, 0, "1.36"),
    ];
    for (args, code, events, err) in table {
        let mut args = args.to_vec();
        args.insert(0, "record");
        let output = output(&mut deltascope(&args));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {stderr}");
        assert!(stderr.contains(err), "{args:?}: {stderr}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.matches("\"ADDED\"").count(), *events, "{args:?}");
        if *events > 0 {
            let (read, error) = trace::read("trace", stdout.as_bytes());
            assert!(read.is_some() && error.is_none(), "{args:?}");
        }
    }
}

#[test]
fn no_earlier_recording_is_overwritten_and_an_empty_one_is_not_left() {
    let forbidden = refusing(json!({ "kind": "Status", "code": 403, "reason": "Forbidden" }));
    let folder = scratch("kept");
    let _none = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let (there, series) = (folder.join("pods.jsonl"), folder.join("many-7.jsonl"));
    for old in [&there, &series] {
        fs::write(old, "old").unwrap();
    }
    let empty = folder.join("empty.jsonl");
    fs::write(&empty, "").unwrap();
    for (to, rotate, err) in [
        ("pods.jsonl", &[][..], "pods.jsonl is there already"),
        (
            "many.jsonl",
            &["--rotate", "16K"],
            "many-7.jsonl is there already",
        ),
        ("new.jsonl", &[], "Nothing is recorded"),
        ("empty.jsonl", &[], "Nothing is recorded"),
    ] {
        let mut command = deltascope(&["record", "--proxy", &forbidden.url, "--for", "1s"]);
        let output = output(command.args(rotate).arg("-o").arg(folder.join(to)));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{to}: {said}");
        assert!(said.contains(err), "{to}: {said}");
    }
    for old in [&there, &series] {
        assert_eq!(fs::read_to_string(old).unwrap(), "old");
    }
    assert_eq!(fs::read_to_string(&empty).unwrap(), "", "it was there");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
}

#[test]
fn a_recording_says_at_its_end_what_it_has() {
    // It has no streaming lists, which is no problem.
    let api = |objects: usize| {
        Proxy::start(move |head, mut to| {
            let wants = |part: &str| head.lines().next().unwrap().contains(part);
            if !wants("/pods") {
                resources(&head, &mut to);
            } else if wants("sendInitialEvents") {
                let status = json!({ "kind": "Status", "code": 422, "reason": "Invalid",
                    "message": "sendInitialEvents: Forbidden" });
                let (code, body) = ("422 Unprocessable Entity", status.to_string());
                answer(&mut to, code, "application/json", body.as_bytes());
            } else if wants("watch=") {
                super::opened(&mut to);
                let _ended = to.read(&mut [0; 1]);
            } else {
                let items: Vec<_> = (0..objects).map(|_| pod("web-1", 1)).collect();
                super::listed(&mut to, &items);
            }
        })
    };
    let (some, none, file) = (api(1), api(0), scratch("ended well.jsonl"));
    let to = file.to_str().unwrap();
    let has = format!(": 1 object, 0 events. See them with: deltascope replay '{to}'");
    for (api, args, said) in [
        (&some, &["-o", to][..], &*has),
        (&some, &[], ""),
        (&some, &["--progress"], ": 1 object, 0 events\n"),
        (&none, &["-n", "nope"], "There are no pods in nope"),
    ] {
        let _none = fs::remove_file(&file);
        let mut command = deltascope(&["record", "--proxy", &api.url, "--for", "500ms"]);
        let done = output(command.args(args));
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(!err.contains("422"), "{args:?}: {err}");
        assert_eq!(err.is_empty(), said.is_empty(), "{args:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn a_recording_that_is_stopped_before_its_list_leaves_no_file() {
    let (asked, asks) = std::sync::mpsc::channel();
    let api = Proxy::start(move |head, mut to| match head.contains("/pods") {
        true => {
            asked.send(()).unwrap();
            let _ended = to.read(&mut [0; 1]);
        }
        false => resources(&head, &mut to),
    });
    let folder = scratch("stopped");
    let _none = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for rotate in [&[][..], &["--rotate", "16K"]] {
        let mut command = deltascope(&["record", "--full", "--proxy", &api.url]);
        let to = folder.join("pods.jsonl");
        let (mut recording, _, _) = start(command.args(rotate).arg("-o").arg(to));
        asks.recv_timeout(HANGS).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        end(&mut recording);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{rotate:?}");
    }
}

#[test]
fn a_recording_rotates_and_each_file_opens_on_its_own() {
    const EVENTS: u64 = 6_000;
    for era in ["1.32", "1.36"] {
        let api = api("pods", |initial, mut to| {
            if initial {
                let end = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": {
                    "resourceVersion": "10",
                    "annotations": { "k8s.io/initial-events-end": "true" } } });
                send(&mut to, "BOOKMARK", &end);
            }
            for number in 0..EVENTS {
                let kind = if number < 5 { "ADDED" } else { "MODIFIED" };
                send(
                    &mut to,
                    kind,
                    &pod(&format!("pod-{}", number % 5), 11 + number),
                );
            }
            let _ended = to.read(&mut [0; 1]);
        });
        let folder = scratch(&format!("rotated-{era}"));
        let _none = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let to = folder.join("pods.jsonl");
        let most = EVENTS.to_string();
        let args = [
            "record",
            "--proxy",
            &api.url,
            "--era",
            era,
            "--max-events",
            &most,
        ];
        let mut command = deltascope(&args);
        command
            .args(["--rotate", "16K", "--keep", "2", "-o"])
            .arg(&to);
        let output = output(&mut command);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(err.contains("The last file shows the end: "), "{err}");
        let mut names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        let numbers: Vec<u32> = names
            .iter()
            .map(|name| {
                let number = name.strip_prefix("pods-").unwrap().strip_suffix(".jsonl");
                number.unwrap().parse().unwrap()
            })
            .collect();
        assert!(
            numbers.len() == 2 && numbers[0] + 1 == numbers[1] && numbers[1] > 3,
            "{names:?}"
        );
        for (name, end) in names.iter().zip([None, Some(10 + EVENTS)]) {
            let bytes = fs::read(folder.join(name)).unwrap();
            let (read, error) = trace::read(name, &bytes);
            assert!(error.is_none(), "{name}: {error:?}");
            let recording = read.unwrap().recording;
            let mut timeline = recording.play().unwrap();
            assert_eq!(timeline.inputs().len(), recording.inputs.len(), "{name}");
            timeline.extend(timeline.len() + 1_000_000);
            let picture = timeline.picture(timeline.len());
            assert_eq!(
                picture.store.items.len(),
                if era == "1.32" { 7 } else { 5 },
                "{name}"
            );
            let newest = picture
                .store
                .items
                .iter()
                .map(|(_, object)| object.rv.parse::<u64>().unwrap())
                .max();
            assert!(end.is_none() || newest == end, "{name}: {newest:?}");
        }
    }
    for (args, said) in [
        (&["--rotate", "16K"][..], "--output"),
        (&["--rotate", "16K"], "Usage: deltascope record [OPTIONS]"),
        (&["--keep", "2"], "--rotate"),
        (&["--rotate", "1K", "-o", "x"], "16K"),
        (&["--rotate", "1G", "-o", "x"], "16K"),
        (&["--rotate", "16é", "-o", "x"], "16K"),
        (
            &["--rotate", "16M", "-o", "x", "--scramble", "names"],
            "--scramble",
        ),
    ] {
        let output = output(&mut deltascope(&[&["record"], args].concat()));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && err.contains(said),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn a_recording_can_be_scrambled() {
    let api = api("pods", |_, mut to| {
        send(&mut to, "ADDED", &pod("late", 11));
        let _ended = to.read(&mut [0; 1]);
    });
    for (parts, names, labels) in [
        ("names", false, true),
        ("labels", true, false),
        ("names,labels", false, false),
    ] {
        let args = [
            "record", "--proxy", &api.url, "-n", "corner", "--era", "1.32",
        ];
        let mut command = deltascope(&args);
        let output = output(command.args(["--max-events", "1", "--scramble", parts]));
        assert_eq!(output.status.code(), Some(0), "{parts}");
        let text = String::from_utf8(output.stdout).unwrap();
        for name in ["web-1", "late"] {
            assert_eq!(text.contains(name), names, "{parts}: {name}");
        }
        // Only the title has the namespace, beside the selectors.
        assert!(!text.contains("corner"), "{parts}");
        assert_eq!(text.contains("\"tier\""), labels, "{parts}");
        let (read, error) = trace::read("trace", text.as_bytes());
        assert!(read.is_some() && error.is_none(), "{parts}");
    }
}

#[test]
fn a_recording_ends_when_its_reader_closes_stdout() {
    let api = api("pods", |_, mut to| {
        for number in 11.. {
            if !send(&mut to, "ADDED", &pod("web", number)) {
                break;
            }
        }
    });
    let mut child = deltascope(&["record", "--proxy", &api.url, "--era", "1.32"])
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// An API server with Secrets in place of ConfigMaps. As a real one, it counts only without selectors.
fn api_of_secrets() -> Proxy {
    Proxy::start(|head, mut to| {
        let asks = |part: &str| head.lines().next().unwrap().contains(part);
        if asks("/api HTTP") {
            let body = fs::read_to_string("tests/transcripts/discovery-aggregated-api.body");
            let body = body.unwrap().replace("configmaps", "secrets");
            let body = body.replace("ConfigMap", "Secret");
            answer(&mut to, "200 OK", "application/json", body.as_bytes());
        } else if asks("/apis HTTP") {
            resources(&head, &mut to);
        } else if asks("watch=") {
            super::opened(&mut to);
            send(&mut to, "ADDED", &pod("late", 11));
            let _ended = to.read(&mut [0; 1]);
        } else if asks("limit=1&") && !asks("Selector") {
            let list = json!({ "kind": "List", "items": [pod("web-1", 1)],
                "metadata": { "resourceVersion": "10", "remainingItemCount": 500 } });
            let list = list.to_string();
            answer(&mut to, "200 OK", "application/json", list.as_bytes());
        } else {
            super::listed(&mut to, &[pod("web-1", 1)]);
        }
    })
}

#[test]
fn a_report_knows_what_was_recorded() {
    let api = api_of_secrets();
    let label = json!({ "version": "v1", "plural": "secrets", "labelSelector": "app=web" });
    let role = json!({ "version": "v1", "plural": "namespaces", "labelSelector": "role=edge" });
    let metadata = json!({ "version": "v1", "plural": "secrets", "metadataOnly": true });
    for (number, (args, scope, odd)) in [
        (
            &["--full", "-r", "secrets"][..],
            json!({ "version": "v1", "plural": "secrets" }),
            &["all-secrets"][..],
        ),
        (&["--full", "-r", "secrets", "-l", "app=web"], label, &[]),
        (&["--metadata-only", "-r", "secrets"], metadata, &[]),
        (
            &["--full", "-r", "namespaces", "-l", "role=edge"],
            role,
            &[],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let [file, report] = ["jsonl", "json"].map(|ending| {
            let path = scratch(&format!("watched-{number}.{ending}"));
            let _none = fs::remove_file(&path);
            path
        });
        let mut command = deltascope(&["record", "--proxy", &api.url, "--era", "1.32"]);
        command.args(["--max-events", "1", "-o"]);
        let done = output(command.arg(&file).args(args));
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{args:?}: {err}");
        let done = output(deltascope(&["report", "-o"]).arg(&report).arg(&file));
        assert_eq!(done.status.code(), Some(0), "{args:?}");
        let said: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        assert_eq!(said["informers"][0]["scope"], scope, "{args:?}");
        let found = said["findings"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(found, odd, "{args:?}");
    }
}

#[test]
fn all_objects_are_counted_whatever_is_selected() {
    let api = api_of_secrets();
    for selector in [&[][..], &["-l", "app=web"]] {
        let mut command = deltascope(&["record", "--proxy", &api.url, "-r", "secrets"]);
        let done = output(command.args(["--max-events", "1"]).args(selector));
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(
            text.contains("PartialObjectMetadata"),
            "{selector:?}: {text}"
        );
    }
}

/// The output up to the line that contains `wanted`.
fn written_until(out: &Receiver<String>, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        text.push_str(&out.recv_timeout(HANGS).expect("it is not written"));
        text.push('\n');
    }
    text
}

/// Ends the program: with SIGINT, as Ctrl-C does, where the system has it.
fn end(running: &mut Running) {
    #[cfg(unix)]
    {
        kill(running, "INT");
        assert_eq!(code(running), Some(0));
    }
    #[cfg(not(unix))]
    running.0.kill().unwrap();
}
