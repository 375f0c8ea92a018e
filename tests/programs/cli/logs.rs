//! What a controller logs beside what its handler should have heard, through `deltascope tap`; and recordings that go on in
//! another file.

#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use deltascope::cache::controller::Generation;
use deltascope::cache::event_handler::ResourceEventHandlerFuncs;
use deltascope::cache::object::Item;
use deltascope::cache::threads::{Latch, SharedIndexInformer};
use kube_core::DynamicObject;
use serde_json::{Value, json};

use super::informers::{
    Api, faults, folder, hears_of, informers, options, recordings, stored, watching,
};
use super::tap::Tap;
use super::{HANGS, ask, deltascope, output, scratch, start};
use crate::http_client;

/// A controller whose handler logs what it hears, as the book describes.
struct Logging {
    heard: Receiver<String>,
    stop: Latch,
}

/// What becomes of a line: each is told its number.
type Tamper = fn(usize, String) -> Vec<String>;

impl Logging {
    fn start(tap: &Tap, generation: Generation, log: &Path, tamper: Tamper) -> Self {
        let base = format!("http://127.0.0.1:{}{}", tap.port, tap.base);
        let proxy = http_client::Proxy::new(&base, "api/v1/pods").unwrap();
        let informer = SharedIndexInformer::<DynamicObject>::new(proxy, options(generation));
        let file = OpenOptions::new().create(true).append(true).open(log);
        let to = Arc::new(Mutex::new((file.unwrap(), 0)));
        let (send, heard) = channel();
        let say = move |event: &'static str| {
            let (to, send) = (Arc::clone(&to), send.clone());
            move |pod: &Item<DynamicObject>| log_line(&to, &send, event, pod, tamper)
        };
        let updated = say("MODIFIED");
        informer
            .add_event_handler(ResourceEventHandlerFuncs {
                add_func: Some(Box::new(say("ADDED"))),
                update_func: Some(Box::new(move |_, pod| updated(pod))),
                delete_func: Some(Box::new(say("DELETED"))),
            })
            .unwrap();
        let stop = Latch::new();
        let (latch, running) = (stop.clone(), Arc::new(informer));
        thread::spawn(move || running.run(&latch).unwrap());
        Self { heard, stop }
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.stop.set();
    }
}

fn log_line(
    to: &Mutex<(File, usize)>,
    send: &Sender<String>,
    event: &str,
    pod: &Item<DynamicObject>,
    tamper: Tamper,
) {
    let object = pod.as_object();
    let logged = object.map(|pod| json!({ "metadata": pod.metadata }));
    let name = object.and_then(|pod| pod.metadata.name.clone());
    let logged = match pod {
        Item::Tombstone(unknown) => json!({ "Key": unknown.key.to_string(), "Obj": logged }),
        _ => json!(logged),
    };
    let line = json!({ "msg": "informer", "informer": {
        "type": event, "kind": "Pod", "apiVersion": "v1", "object": logged } });
    let mut to = to.lock().unwrap();
    let (file, number) = &mut *to;
    *number += 1;
    for line in tamper(*number, line.to_string()) {
        writeln!(file, "{line}").unwrap();
    }
    // The test may be over.
    let _over = send.send(name.unwrap_or_default());
}

/// A tap that records and reads a log; where both and its report are.
struct Recording {
    tap: Tap,
    out: PathBuf,
    json: PathBuf,
    log: PathBuf,
}

impl Recording {
    /// `earlier` is what the log has before.
    fn start(name: &str, api: &Api, earlier: Option<&str>, more: &[&str]) -> Self {
        let (out, json) = (folder(name), scratch(&format!("tap-{name}.json")));
        let log = scratch(&format!("tap-{name}.log"));
        let _none = fs::remove_file(&log);
        if let Some(earlier) = earlier {
            fs::write(&log, earlier).unwrap();
        }
        let [of_out, of_json, of_log] = [&out, &json, &log].map(|path| path.to_str().unwrap());
        let mut args = vec!["--out", of_out, "--report", of_json, "--log", of_log];
        args.extend(more);
        let tap = Tap::start(name, &api.url, &args);
        Self {
            tap,
            out,
            json,
            log,
        }
    }
}

/// The only informer of a report.
fn only(report: &Value) -> &Value {
    let all = report["informers"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{report:#}");
    &all[0]
}

fn report(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_good_controllers_log_is_what_it_should_have_heard_in_every_fault() {
    let threads = [Generation::Classic, Generation::Atomic].map(|generation| {
        thread::spawn(move || {
            let api = Api::start(&["--pods", "20", "--rate", "0"]);
            let name = format!("log-{}", generation.version());
            // What was there before is of another run.
            let earlier = Some("an earlier run\n{\"informer\":{}}\n");
            let Recording {
                mut tap,
                out,
                json,
                log,
            } = Recording::start(&name, &api, earlier, &[]);
            let controller = Logging::start(&tap, generation, &log, |_, line| vec![line]);
            for (number, (_, commands)) in faults().iter().enumerate() {
                watching(&tap, 1);
                for (command, args) in commands {
                    api.tell(command, args);
                }
                let name = format!("after-{number}");
                api.tell("create", &json!(["pods", { "metadata": { "name": name } }]));
                hears_of(&controller.heard, &name);
                api.tell("update", &json!(["pods", format!("default/{name}")]));
                hears_of(&controller.heard, &name);
                if number % 3 == 0 {
                    api.tell("remove", &json!(["pods", format!("default/{name}")]));
                    hears_of(&controller.heard, &name);
                }
            }
            drop(controller);
            let said = tap.end();
            let report = report(&json);
            let logged = &only(&report)["log"];
            let compared = &logged["compared"];
            assert_eq!(compared["first"], Value::Null, "{said}\n{compared:#}");
            assert_eq!(
                (&compared["behind"], &compared["ahead"]),
                (&json!(0), &json!(0)),
                "{compared:#}"
            );
            // Every line, but for the resyncs that relists are to a handler.
            let lines = fs::read_to_string(&log).unwrap().lines().count() - 2;
            assert_eq!(logged["lines"], lines);
            let alike = compared["alike"].as_u64().unwrap();
            assert!(alike >= 50 && alike <= lines as u64, "{compared:#}");
            assert_eq!(report["log"]["unclaimed"], 0);
            assert_eq!(report["log"]["unread"], 0);
            assert!(said.contains("says what it should"), "{said}");
            assert!(!said.contains("\n- The log"), "{said}");
            // The kept lines are a log themselves.
            let recording = &recordings(&out)[1];
            assert_eq!(recording.extension().unwrap(), "log");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn what_a_log_lacks_or_says_twice_is_found_at_its_line() {
    let api = Api::start(&["--pods", "3", "--rate", "0"]);
    let table: [(&str, Tamper, &str, u64); 3] = [
        // Its sixth call is the update of `new`.
        (
            "lacks",
            |number, line| if number == 5 { vec![] } else { vec![line] },
            "missing",
            5,
        ),
        (
            "twice",
            |number, line| match number {
                5 => vec![
                    line.clone(),
                    "plain".to_owned(),
                    line.replace("MODIFIED", "DELETED"),
                ],
                _ => vec![line],
            },
            "extra",
            7,
        ),
        (
            "another",
            |number, line| match number {
                5 => vec![line.replace("MODIFIED", "ADDED")],
                _ => vec![line],
            },
            "type",
            5,
        ),
    ];
    for (name, tamper, kind, line) in table {
        let json = scratch(&format!("tap-log-{name}.json"));
        let log = scratch(&format!("tap-log-{name}.log"));
        let _none = fs::remove_file(&log);
        let args = [
            "--log",
            log.to_str().unwrap(),
            "--report",
            json.to_str().unwrap(),
        ];
        let mut tap = Tap::start(&format!("log-{name}"), &api.url, &args);
        let controller = Logging::start(&tap, Generation::Atomic, &log, tamper);
        watching(&tap, 1);
        let pod = json!(["pods", { "metadata": { "name": name } }]);
        api.tell("create", &pod);
        hears_of(&controller.heard, name);
        for _ in 0..2 {
            api.tell("update", &json!(["pods", format!("default/{name}")]));
            hears_of(&controller.heard, name);
        }
        api.tell("remove", &json!(["pods", format!("default/{name}")]));
        hears_of(&controller.heard, name);
        drop(controller);
        let said = tap.end();
        let report = report(&json);
        let first = &only(&report)["log"]["compared"]["first"];
        assert_eq!(first["difference"], kind, "{said}\n{report:#}");
        assert_eq!(first["heard"]["line"], line, "{first:#}");
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|one| one["kind"] == "log").unwrap();
        assert!(
            said.contains(finding["words"]["en"].as_str().unwrap()),
            "{said}"
        );
        assert!(said.contains(&format!("from line {line} on")), "{said}");
    }
}

#[test]
fn what_the_command_prints_is_read_and_passes_as_it_is() {
    let api = Api::start(&["--pods", "1", "--rate", "0"]);
    let page = super::informers::page();
    let line = json!({ "informer": { "type": "ADDED", "kind": "Pod", "apiVersion": "v1", "object": {
        "metadata": { "name": "nobody", "namespace": "a", "resourceVersion": "1" } } } });
    let script = format!(
        "printf 'a\\000b\\033[1m\\n'; echo '{line}' >&2; echo '{{\"informer\":{{\"type\":\"GONE\"}}}}'; exit 7"
    );
    let json = scratch("tap-log-printed.json");
    let mut command = deltascope(&["tap", "--proxy", &api.url, "--log", "-", "--report"]);
    command.arg(&json).arg("--dist").arg(page);
    let output_is = output(command.args(["--", "sh", "-c", &script]));
    assert_eq!(output_is.status.code(), Some(7));
    let out = b"a\0b\x1b[1m\n{\"informer\":{\"type\":\"GONE\"}}\n";
    assert_eq!(output_is.stdout, out);
    let err = String::from_utf8(output_is.stderr).unwrap();
    assert!(err.contains(&format!("{line}\n")), "{err}");
    let report = report(&json);
    let logged = &report["log"];
    let counts = ["lines", "unclaimed", "unread"].map(|name| logged[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1], "{report:#}");
    assert!(
        err.contains("1 of 1 lines of the log belong to no informer"),
        "{err}"
    );
    for (args, code, said) in [
        (&["--log", "-"][..], 2, "names a file"),
        (&["--log", "/", "--", "true"], 1, "it is no file"),
        (&["--log", "no.log", "--", "true"], 0, "no.log is not there"),
        (&["sh", "-c", "exit 7", "--log"], 7, ""),
    ] {
        let mut command = deltascope(&["tap", "--proxy", &api.url]);
        let output = output(command.args(args).current_dir(std::env::temp_dir()));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        assert!(
            err.contains(said) || code == 2 && err.contains("behind --"),
            "{err}"
        );
    }
}

#[test]
fn what_the_command_leaves_running_does_not_hold_the_tap() {
    let api = Api::start(&["--pods", "1", "--rate", "0"]);
    // One holds the output open, one prints without end.
    for (left, lives) in [("tail -f /dev/null", true), ("yes", false)] {
        let script = format!("sh -c 'echo $$; exec {left}' &");
        let args = [
            "tap", "--proxy", &api.url, "--log", "-", "--", "sh", "-c", &script,
        ];
        let (mut running, out, _) = start(&mut deltascope(&args));
        let id = out.recv_timeout(HANGS).unwrap();
        assert_eq!(super::code(&mut running), Some(0), "{left}");
        let killed = std::process::Command::new("kill").arg(id.trim()).status();
        assert!(killed.unwrap().success() || !lives, "{left}");
    }
}

#[test]
fn the_end_does_not_wait_for_the_count_of_an_old_log() {
    let api = Api::start(&["--pods", "1", "--rate", "0"]);
    let log = scratch("tap-log-old.log");
    // So long that to count its lines takes minutes; a hole needs no room on the disk.
    File::create(&log).unwrap().set_len(1 << 40).unwrap();
    let log_is = log.to_str().unwrap();
    let args = ["tap", "--proxy", &api.url, "--log", log_is, "--", "true"];
    let (mut running, _, err) = start(&mut deltascope(&args));
    let ends = loop {
        if let Err(why) = err.recv_timeout(HANGS) {
            break why;
        }
    };
    assert_eq!(ends, RecvTimeoutError::Disconnected, "it counts");
    assert_eq!(super::code(&mut running), Some(0));
    fs::remove_file(&log).unwrap();
}

fn get(tap: &Tap, path: &str) -> (u16, Vec<u8>) {
    let head = tap.head("GET", &format!("/deltascope/{path}"));
    let got = ask(
        tap.port,
        format!("{head}Connection: close\r\n\r\n").as_bytes(),
    );
    (got.code, got.body)
}

#[test]
fn a_long_recording_goes_on_in_files_that_play_by_themselves() {
    let api = Api::start(&["--pods", "10", "--rate", "0"]);
    let more = ["--rotate", "40K", "--keep", "2"];
    let Recording {
        mut tap,
        out,
        json,
        log,
    } = Recording::start("rotate", &api, None, &more);
    let controller = Logging::start(&tap, Generation::Atomic, &log, |_, line| vec![line]);
    watching(&tap, 1);
    let late = Instant::now() + HANGS;
    let part = |tap: &Tap| {
        let shown: Value = serde_json::from_slice(&get(tap, "page.json").1).unwrap();
        shown["rows"][0]["part"].as_u64().unwrap()
    };
    let mut writes = 0;
    // Also across a relist, and a deletion that only this one shows.
    while part(&tap) < 5 {
        assert!(Instant::now() < late, "it does not go on");
        let name = format!("new-{writes}");
        let key = format!("default/{name}");
        api.tell("create", &json!(["pods", { "metadata": { "name": name } }]));
        hears_of(&controller.heard, &name);
        for _ in 0..4 {
            api.tell("update", &json!(["pods", key]));
            hears_of(&controller.heard, &name);
        }
        // A log is read as often as it is looked at, and this is fast.
        let lines = || fs::read_to_string(&log).unwrap().lines().count();
        while informers(&tap)["log"]["lines"] != lines() {
            assert!(Instant::now() < late, "its log is not read");
        }
        if writes % 5 == 4 {
            for (command, args) in [
                ("stall", json!([])),
                ("remove", json!(["pods", key])),
                ("advance", json!([])),
                ("compact", json!([])),
                ("resume", json!([])),
                ("end", json!([])),
            ] {
                api.tell(command, &args);
            }
            watching(&tap, 1);
        }
        writes += 1;
    }
    let known = informers(&tap);
    let informer = only(&known);
    assert_eq!(informer["stopped"], Value::Null);
    assert_eq!(informer["objects"], api.pods().len());
    let lists = informer["listCount"].as_u64().unwrap();
    // Only so many are kept, and the page is told which.
    let files = recordings(&out);
    let traces: Vec<&PathBuf> = (files.iter())
        .filter(|file| file.extension().unwrap() == "jsonl")
        .collect();
    assert_eq!(traces.len(), 2, "{files:?}");
    let newest = part(&tap);
    assert!(
        traces[1]
            .to_str()
            .unwrap()
            .ends_with(&format!("-all.{newest}.jsonl"))
    );
    assert_eq!(stored(traces[1]), api.pods());
    for (part, code) in [
        (newest, 200),
        (newest - 1, 200),
        (newest - 2, 404),
        (newest + 1, 404),
    ] {
        for ending in ["jsonl", "log"] {
            let path = format!("informers/1.{ending}?part={part}&from=0");
            assert_eq!(get(&tap, &path).0, code, "{path}");
        }
    }
    // Without a part, the newest; and the one before says that it ends.
    let (_, recorded) = get(&tap, "informers/1.jsonl");
    assert_eq!(recorded, fs::read(traces[1]).unwrap());
    let before = fs::read_to_string(traces[0]).unwrap();
    assert!(
        before.lines().last().unwrap().contains("\"next\""),
        "{before}"
    );
    drop(controller);
    let said = tap.end();
    let report_is = report(&json);
    let informer = only(&report_is);
    assert_eq!(informer["listCount"].as_u64().unwrap(), lists);
    let compared = &informer["log"]["compared"];
    assert_eq!(compared["first"], Value::Null, "{said}\n{compared:#}");
    assert_eq!(compared["lacksBeginning"], true);
    assert!(compared["alike"].as_u64().unwrap() > 20, "{compared:#}");
    assert_eq!(compared["behind"], 0, "{compared:#}");
    // Together they are one informer, in whatever order.
    let again = scratch("tap-rotate-again.json");
    let again_of = |traces: &[&PathBuf]| {
        let mut command = deltascope(&["report", "-o"]);
        let done = output(command.arg(&again).args(traces));
        assert_eq!(done.status.code(), Some(0));
        report(&again)
    };
    let [name, within] = [traces[0].file_name(), out.file_name()].map(Option::unwrap);
    let first = out.join("..").join(within).join(name);
    let both = again_of(&[traces[1], &first]);
    let file = only(&both)["file"].as_str().unwrap();
    assert_eq!(file, traces[1].to_str().unwrap());
    assert_eq!(only(&both)["objects"], api.pods().len());
    let alike = |report: &Value| only(report)["log"]["compared"]["alike"].as_u64().unwrap();
    let each: u64 = traces.iter().map(|trace| alike(&again_of(&[trace]))).sum();
    assert_eq!(alike(&both), each);
    // Each opens by itself, alone and beside its part of the log.
    for trace in traces {
        let mut command = deltascope(&["replay"]);
        let heard = output(
            command
                .arg(trace)
                .arg("--heard")
                .arg(trace.with_extension("log")),
        );
        let (out, err) = (heard.stdout, heard.stderr);
        assert_eq!(
            heard.status.code(),
            Some(0),
            "{}{}",
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&err)
        );
        assert!(only(&again_of(&[trace]))["objects"].as_u64().unwrap() > 10);
    }
}

#[test]
fn a_recording_whose_folder_is_gone_says_so_everywhere() {
    let api = Api::start(&["--pods", "5", "--rate", "0"]);
    let (out, json) = (folder("unwritten"), scratch("tap-unwritten.json"));
    let page = super::informers::page();
    let mut tap = Tap::start(
        "unwritten",
        &api.url,
        &[
            "--out",
            out.to_str().unwrap(),
            "--dist",
            page.to_str().unwrap(),
            "--report",
            json.to_str().unwrap(),
        ],
    );
    let log = scratch("tap-unwritten.log");
    let controller = Logging::start(&tap, Generation::Atomic, &log, |_, line| vec![line]);
    watching(&tap, 1);
    fs::remove_dir_all(&out).unwrap();
    api.tell(
        "create",
        &json!(["pods", { "metadata": { "name": "later" } }]),
    );
    hears_of(&controller.heard, "later");
    // Whoever follows the recording is told first.
    let (code, told) = get(&tap, "informers/1.jsonl?part=1&from=100");
    let told = String::from_utf8(told).unwrap();
    assert!(
        code == 200 && told.contains("\"unwritten\""),
        "{code} {told}"
    );
    let shown: Value = serde_json::from_slice(&get(&tap, "page.json").1).unwrap();
    let remark = shown["rows"][0]["remark"]["en"].as_str().unwrap();
    assert!(remark.contains("could not be written"), "{remark}");
    let known = informers(&tap);
    assert_eq!(only(&known)["stopped"]["why"], "unwritten");
    // It is counted on.
    assert_eq!(only(&known)["objects"], 6);
    drop(controller);
    let said = tap.end();
    assert!(said.contains("its file could not be written"), "{said}");
    assert_eq!(only(&report(&json))["stopped"]["why"], "unwritten");
}
