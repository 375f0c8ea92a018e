//! `deltascope replay`: a trace in words, as a whole, in parts and as JSON.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

use deltascope::presentation::command::{self as page, Export};
use deltascope::presentation::session::{Session, typed};
use deltascope::replay::trace;
use deltascope::world::text::Lang;
use serde_json::{Value, json};

use super::{deltascope, looked_at, output, pod, scratch};

#[test]
fn a_trace_has_the_same_words_as_in_the_page() {
    let file = scratch("told.jsonl");
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        let (trace, transcript) = looked_at("deltafifo", lang);
        fs::write(&file, &trace).unwrap();
        let path = file.to_str().unwrap();
        let output = output(&mut deltascope(&["replay", path, "--lang", name]));
        assert_eq!(output.status.code(), Some(0));
        assert!(
            output.stdout == transcript.as_bytes(),
            "{name}: not the page's words"
        );
        assert!(output.stderr.is_empty());
        let end = match lang {
            Lang::En => "The run ends here.\n",
            Lang::Zh => "运行到此结束。\n",
        };
        assert!(transcript.ends_with(end), "{name}: no end");
        // The same from stdin.
        let mut child = deltascope(&["--lang", name, "replay", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        thread::spawn(move || input.write_all(trace.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        assert!(output.stdout == transcript.as_bytes(), "{name}: stdin");
    }
}

#[test]
fn objects_of_several_namespaces_are_distinguished() {
    let in_namespace = |namespace: &str, version: u64| {
        let mut pod = pod("dup", version);
        pod["metadata"]["namespace"] = json!(namespace);
        pod["metadata"]["uid"] = json!(namespace);
        pod
    };
    let list = |namespaces: [&str; 2]| {
        json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "10" },
            "items": [in_namespace(namespaces[0], 1), in_namespace(namespaces[1], 2)] })
    };
    let watch = [("MODIFIED", 11), ("DELETED", 12)].map(|(kind, version)| {
        json!({ "type": kind, "object": in_namespace("lab", version) }).to_string()
    });
    let events = scratch("namespaces-watch.json");
    fs::write(&events, watch.join("\n")).unwrap();
    let (mut both, mut one) = (String::new(), String::new());
    for (namespaces, replayed) in [(["lab", "team-a"], &mut both), (["lab", "lab"], &mut one)] {
        let file = scratch("namespaces-list.json");
        fs::write(&file, list(namespaces).to_string()).unwrap();
        for lang in ["en", "zh"] {
            let files = [file.to_str().unwrap(), events.to_str().unwrap()];
            let output = output(&mut deltascope(&[
                "replay", files[0], files[1], "--lang", lang,
            ]));
            assert_eq!(output.status.code(), Some(0));
            replayed.push_str(&String::from_utf8(output.stdout).unwrap());
        }
    }
    let lines: Vec<&str> = both.lines().filter(|line| line.contains("dup")).collect();
    assert!(lines.len() > 20, "{both}");
    for line in &lines {
        assert!(
            line.contains("lab/dup") || line.contains("team-a/dup"),
            "{line}"
        );
    }
    for name in ["lab/dup", "team-a/dup"] {
        assert!(lines.iter().any(|line| line.contains(name)), "{name}");
    }
    // A single namespace is not shown.
    assert!(one.contains("dup") && !one.contains("lab/dup"), "{one}");
}

/// A log of three objects, with one line each, ten seconds apart.
fn log_of_three(name: &str) -> PathBuf {
    let line = |second: u64, kind: &str, name: &str, version: u64| {
        json!({ "time": format!("2026-11-22T23:59:{second:02}.250Z"), "informer": { "type": kind,
            "initial": kind == "ADDED", "object": pod(name, version) } })
    };
    let lines = [
        line(30, "ADDED", "web-0", 41),
        line(30, "ADDED", "web-1", 42),
        line(40, "MODIFIED", "web-0", 43),
        line(50, "MODIFIED", "web-1", 44),
    ];
    let file = scratch(name);
    fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    file
}

#[test]
fn json_facts_have_the_wall_clock_time_and_can_be_limited_to_one_object() {
    let file = log_of_three("three.log");
    let path = file.to_str().unwrap();
    let replayed = |more: &[&str]| {
        let output = output(&mut deltascope(&[&["replay", path], more].concat()));
        let err = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            err,
        )
    };
    let facts = |more: &[&str]| -> Vec<Value> {
        let (code, out, err) = replayed(&[&["--json"], more].concat());
        assert_eq!(code, Some(0), "{err}");
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (_, words, _) = replayed(&[]);
    assert!(
        words.contains("10.00 s  2026-11-22T23:59:40.250Z  "),
        "{words}"
    );
    let all = facts(&[]);
    for (place, fact) in all.iter().enumerate() {
        assert_eq!(fact["step"], place + 1);
        for text in ["actor", "fact", "what", "why"] {
            assert!(fact[text].is_string(), "{fact}");
        }
        let wall = fact["wallTime"].as_str().unwrap();
        assert!(
            wall.starts_with("2026-11-22T23:59:") && wall.ends_with('Z'),
            "{fact}"
        );
        assert!(words.contains(fact["what"].as_str().unwrap()), "{fact}");
        if let Some(cause) = fact["cause"]["step"].as_u64() {
            assert!(cause < fact["step"].as_u64().unwrap(), "{fact}");
        }
    }
    let received = |facts: &[Value]| -> Vec<(u64, String)> {
        let received = facts.iter().filter(|fact| fact["fact"] == "EventReceived");
        received
            .map(|fact| {
                (
                    fact["time"].as_u64().unwrap(),
                    fact["key"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    let events = [
        (10_000, "default/web-0".to_owned()),
        (20_000, "default/web-1".to_owned()),
    ];
    assert_eq!(received(&all), events);
    // Of one object: in order, nothing about the other objects, and what concerns several.
    let one = facts(&["--key", "default/web-1"]);
    assert!(one.len() < all.len() && one.iter().all(|fact| all.contains(fact)));
    assert_eq!(received(&one), events[1..]);
    let about = |fact: &&Value| fact["key"] == "default/web-1";
    assert_eq!(
        one.iter().filter(about).count(),
        all.iter().filter(about).count()
    );
    assert!(one.iter().all(|fact| fact["key"].is_null() || about(&fact)));
    assert!(one.iter().any(|fact| fact["fact"] == "ObjectsLearned"));
    // The last facts.
    assert_eq!(facts(&["--last", "3"]), all[all.len() - 3..]);
    assert_eq!(
        facts(&["--last", "3", "--key", "default/web-1"]),
        one[one.len() - 3..]
    );
    assert_eq!(facts(&["--last", "0"]), [Value::Null; 0]);
    assert_eq!(facts(&["--last", "1h"]), all);
    let end = all.last().unwrap()["time"].as_u64().unwrap();
    let late: Vec<&Value> = all
        .iter()
        .filter(|fact| fact["time"].as_u64().unwrap() + 5_000 >= end)
        .collect();
    assert!(!late.is_empty() && late.len() < all.len());
    assert!(facts(&["--last", "5s"]).iter().eq(late));
    let (_, words, _) = replayed(&["--last", "1", "--key", "default/web-1", "--lang", "zh"]);
    assert!(
        words.contains("之前的内容省略") && words.contains("只讲述与 default/web-1"),
        "{words}"
    );
    for (more, code, said) in [
        (["--key", "web-1"], 1, "default/web"),
        (["--key", "default/nobody"], 1, "default/nobody"),
        (["--last", "soon"], 2, "30s"),
    ] {
        let (found, out, err) = replayed(&more);
        assert_eq!((found, &*out), (Some(code), ""), "{more:?}");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn a_part_of_a_recording_opens_by_itself() {
    let file = log_of_three("whole.log");
    let path = file.to_str().unwrap();
    let part = scratch("part.jsonl");
    let part = part.to_str().unwrap();
    // How many events of web-0 and of web-1 the part has.
    let table: &[(&[&str], [usize; 2])] = &[
        (&[], [1, 1]),
        (&["--key", "default/web-1"], [0, 1]),
        (&["--until", "15s"], [1, 0]),
        (&["--key", "default/web-0", "--era", "1.32"], [1, 0]),
    ];
    let heard = |path: &str, name: &str| {
        let output = output(&mut deltascope(&["replay", path, "--json"]));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{err}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(
            out.contains("2026-11-22T23:59:"),
            "the time of the clock stays"
        );
        let line = format!("\"key\":\"default/{name}\"");
        let facts = out
            .lines()
            .filter(|fact| fact.contains("\"EventReceived\""));
        facts.filter(|fact| fact.contains(&line)).count()
    };
    for (more, [zero, one]) in table {
        let args = [&["replay", path, "--export", part], *more].concat();
        let output = output(&mut deltascope(&args));
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(0), &b""[..]),
            "{more:?}"
        );
        let (read, error) = trace::read("part", &fs::read(part).unwrap());
        assert!(read.is_some() && error.is_none(), "{more:?}: {error:?}");
        assert_eq!(
            [heard(part, "web-0"), heard(part, "web-1")],
            [*zero, *one],
            "{more:?}"
        );
        if more.contains(&"default/web-1") {
            assert!(!fs::read_to_string(part).unwrap().contains("web-0"));
        }
    }
    // The end of a long recording begins with the objects that the cluster had then.
    let long = scratch("long.log");
    let lines = (0..4_000).map(|number| {
        let (name, kind) = (
            format!("web-{}", number % 7),
            if number < 7 { "ADDED" } else { "MODIFIED" },
        );
        let line = json!({ "ts": 1_800_000_000_000_u64 + number * 100, "informer": {
            "type": kind, "object": pod(&name, 100 + number) } });
        format!("{line}\n")
    });
    fs::write(&long, lines.collect::<String>()).unwrap();
    let long = long.to_str().unwrap();
    let output_of = |args: &[&str]| {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
        String::from_utf8(output.stdout).unwrap()
    };
    output_of(&["replay", long, "--last", "20s", "--export", part]);
    let (whole, part_of_it) = (output_of(&["replay", long]), output_of(&["replay", part]));
    assert!(part_of_it.len() * 2 < whole.len());
    let end = |replayed: &str| replayed.lines().last().unwrap().to_owned();
    assert_eq!(end(&whole), end(&part_of_it));
    // The state of a simulated run follows from all of it, so it cannot be cut.
    let simulated = scratch("simulated.jsonl");
    fs::write(&simulated, looked_at("tombstone", Lang::En).0).unwrap();
    let refused = output(&mut deltascope(&[
        "replay",
        simulated.to_str().unwrap(),
        "--export",
        "-",
    ]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8(refused.stderr)
            .unwrap()
            .contains("simulated")
    );
}

#[test]
fn a_trace_keeps_its_wall_clock_time() {
    let file = log_of_three("kept.log");
    let mut session = Session::new();
    session.obey(page::Command::Open(vec![(
        "a.log".to_owned(),
        fs::read(file).unwrap(),
    )]));
    let wall = |session: &mut Session| {
        session.obey(page::Command::Seek(usize::MAX));
        let view = session.view();
        view.lesson.wall(view.time)
    };
    let shown = wall(&mut session);
    assert!(
        shown.as_ref().unwrap().starts_with("2026-11-22T23:59:50."),
        "{shown:?}"
    );
    session.obey(typed::generation("1.32"));
    assert!(wall(&mut session).is_some());
    let written = session.export(Export::Trace).unwrap();
    assert!(
        written
            .lines()
            .next()
            .unwrap()
            .contains("\"start\":\"2026-11-22T23:59:30.250Z\"")
    );
    session.obey(page::Command::Load("tombstone".into()));
    assert_eq!(wall(&mut session), None);
    // A trace without a start time opens as before. So does one with an invalid start time, which is reported.
    for (start, odd_start) in [
        ("\"other\":1", false),
        ("\"start\":\"yesterday\"", true),
        ("\"start\":7", true),
    ] {
        let odd = written.replace("\"start\":\"2026-11-22T23:59:30.250Z\"", start);
        session.obey(page::Command::Open(vec![(
            "b.jsonl".to_owned(),
            odd.into_bytes(),
        )]));
        let error = session.view().error;
        assert_eq!(error.is_some(), odd_start, "{start}: {error:?}");
        assert!(error.is_none_or(|error| error.message.en.contains("\"start\" is no time")));
        assert_eq!(wall(&mut session), None, "{start}");
    }
}

#[test]
fn options_select_what_is_replayed() {
    let (trace, whole) = looked_at("deltafifo", Lang::En);
    let file = scratch("chosen.jsonl");
    fs::write(&file, &trace).unwrap();
    let path = file.to_str().unwrap();
    let list = "tests/transcripts/list-25-limit-rv0.body";
    let broken = scratch("broken.jsonl");
    fs::write(&broken, format!("{trace}{{\"op\":\"cut\",\"at\":")).unwrap();
    let broken = broken.to_str().unwrap();
    let nothing = scratch("nothing.jsonl");
    fs::write(&nothing, "hello\n").unwrap();
    let nothing = nothing.to_str().unwrap();
    let endless = scratch("endless.jsonl");
    fs::write(&endless, looked_at("sandbox", Lang::En).0).unwrap();
    let endless = endless.to_str().unwrap();
    let log = scratch("controller.log");
    let line = json!({ "time": "2026-11-22T10:00:00Z", "msg": "seen", "informer": {
        "type": "ADDED", "initial": true, "object": pod("web-0", 41) } });
    fs::write(&log, format!("I1122 starting\n{line}\n")).unwrap();
    let log = log.to_str().unwrap();
    // Arguments, exit code, and text on stdout and on stderr.
    let table: &[(&[&str], i32, &str, &str)] = &[
        (&[path, "--until", "500ms"], 0, "0.50 s", ""),
        (&[path, "--until", "delta=Deleted"], 0, "Deleted", ""),
        (
            &[path, "--until", "key=default/nobody"],
            1,
            "",
            "default/nobody was not found",
        ),
        (
            &[path, "--until", "key=default/nobody", "--lang", "zh"],
            1,
            "",
            "没有找到",
        ),
        (&[path, "--until", "soon"], 2, "", "1500ms"),
        (&[path, "--era", "2.0"], 2, "", "1.36"),
        (&[broken], 0, "0.50 s", "broken.jsonl is cut off in line 3"),
        (&[nothing], 1, "", "nothing.jsonl"),
        (&["no/such/file"], 1, "", "no/such/file"),
        (
            &["tests/runs"],
            1,
            "",
            "runs is a folder: name a file in it",
        ),
        (&[list], 0, "list-25-limit-rv0.body", ""),
        // Its queue is made by hand, so it has only one generation.
        (&[list, "--era", "1.36"], 1, "", "by hand"),
        (&[log, "--era", "1.32"], 0, "web-0", ""),
        (&[endless, "--until", "1s"], 0, "(1.32)", ""),
        (
            &[endless, "--until", "1s", "--era", "1.32"],
            0,
            "(1.32)",
            "",
        ),
        (&[], 2, "", "FILE"),
    ];
    for (args, code, out, err) in table {
        let mut args = args.to_vec();
        args.insert(0, "replay");
        let output = output(&mut deltascope(&args));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {stderr}");
        assert!(stdout.contains(out), "{args:?}");
        assert_eq!(out.is_empty(), stdout.is_empty(), "{args:?}");
        assert!(stderr.contains(err), "{args:?}: {stderr}");
        if args.contains(&path) {
            assert!(whole.starts_with(&stdout), "{args:?}");
        }
    }
}

#[test]
fn a_recording_that_is_cut_off_is_told_and_what_is_no_text_is_named() {
    let (trace, _) = looked_at("tombstone", Lang::En);
    let lines = trace.lines().count() + 1;
    let (cut, ended, binary) = (
        scratch("cut.jsonl"),
        scratch("ended.jsonl"),
        scratch("random.bin"),
    );
    let half = format!("{trace}{{\"op\":\"cut\",");
    fs::write(&cut, &half).unwrap();
    fs::write(&ended, format!("{half}\n")).unwrap();
    fs::write(&binary, b"\x1f\x8b\x08\0\xff\xfe").unwrap();
    for (file, code, said) in [
        (&cut, 0, &*format!("cut.jsonl is cut off in line {lines}")),
        // Its writer has ended the line: nothing is missing, it is wrong.
        (&ended, 1, "the line is not JSON"),
        (&binary, 1, "random.bin is not text"),
    ] {
        let done = output(&mut deltascope(&["replay", file.to_str().unwrap()]));
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{err}");
        assert!(err.contains(said), "{err}");
        assert_eq!(done.stdout.is_empty(), *file == binary);
    }
}

#[test]
fn the_reader_may_close_stdout_early() {
    let (trace, _) = looked_at("sandbox", Lang::En);
    let file = scratch("long.jsonl");
    fs::write(&file, &trace).unwrap();
    let mut child = deltascope(&["replay", file.to_str().unwrap(), "--until", "5m"])
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
