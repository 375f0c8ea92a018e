//! What is shared: what is written reads back to the same, and nothing that comes from outside does harm.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "../share/made.rs"]
mod made;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use deltascope::cache::fact::{Cause, ProcessMode};
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::command::{Command, Draft, Export, Fault};
use deltascope::presentation::i18n::Lang;
use deltascope::presentation::session::{Session, opening};
use deltascope::presentation::state::state;
use deltascope::presentation::view::{SettingRow, View};
use deltascope::replay::difference::{apply, difference};
use deltascope::replay::edit::Setting;
use deltascope::replay::lessons;
use deltascope::replay::link::Link;
use deltascope::replay::moment::Moment;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::replay::timeline::Timeline;
use deltascope::replay::trace::{self, Trace};
use deltascope::world::fields::Read;
use deltascope::world::slices::{Slices, at_once};
use deltascope::world::source::scenario::{Entry, Scenario};
use deltascope::world::source::wire;
use deltascope::world::source::write;
use deltascope::world::text::Text;
use deltascope::world::virtual_time::Settings;
use proptest::prelude::*;
use serde_json::{Value, json};

/// As text, and read from it.
fn through_text(value: &Value) -> Value {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn debug(what: &impl std::fmt::Debug) -> String {
    format!("{what:?}")
}

proptest! {
    #[test]
    fn a_scenario_reads_back_to_the_same(scenario in made::scenario()) {
        let read = Scenario::read(through_text(&write::scenario(&scenario))).unwrap();
        prop_assert_eq!(debug(&read), debug(&scenario));
    }

    #[test]
    fn an_input_reads_back_to_the_same(at in 0..1_000_000_u64, input in made::input()) {
        let read = Entry::read(through_text(&write::input(at, &[], &input))).unwrap();
        prop_assert_eq!(read.at, at);
        prop_assert_eq!(debug(&read.act.into_input().unwrap()), debug(&input));
    }
}

#[test]
fn what_has_its_default_is_left_out_but_for_the_generation() {
    let written = write::settings(&Settings::default());
    assert_eq!(written, json!({ "era": "1.32" }));
    let said = json!({ "era": "1.36", "watchList": false, "mode": 0, "work": { "workers": 0 },
        "keySeparator": "", "handlers": [{ "resyncMs": 0, "filter": "" }] });
    let read = Settings::read(said.clone()).unwrap();
    assert_eq!(write::settings(&read), said);
}

#[test]
fn every_lesson_is_written_and_read() {
    for (id, _) in lessons::menu() {
        let scenario = lessons::load(&id).unwrap().scenario;
        let mut read = Scenario::read(through_text(&write::scenario(&scenario))).unwrap();
        read.recorded = scenario.recorded.clone();
        assert_eq!(debug(&read), debug(&scenario), "{id}");
    }
}

#[test]
fn recorded_streams_read_back_to_the_same() {
    let mut seen = 0;
    for folder in ["tests/transcripts", "src/replay/lessons/recordings"] {
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap();
            if !file.file_name().to_string_lossy().ends_with(".body") {
                continue;
            }
            let bytes = std::fs::read(file.path()).unwrap();
            let name = file.path().display().to_string();
            let recorded = wire::open(&[(name.clone(), bytes)]);
            if let Some(start) = &recorded.start {
                let items = write::items(start).map(|item| through_text(&item));
                let list = through_text(&write::list(start));
                assert_eq!(
                    &wire::list_of(list, items.collect()).unwrap(),
                    start,
                    "{name}"
                );
                seen += 1;
            }
            for event in &recorded.events {
                if matches!(event, wire::RecordedEvent::Cut { .. }) {
                    continue;
                }
                let read = wire::event_of(through_text(&write::event(event))).unwrap();
                assert_eq!(&read, event, "{name}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

fn inputs_of(acts: &[(u64, Value)]) -> Vec<RecordedInput> {
    let entry = |(at, act): &(u64, Value)| {
        let mut act = act.clone();
        act["at"] = json!(at);
        RecordedInput {
            after: usize::MAX,
            at: *at,
            input: Entry::read(act).unwrap().act.into_input().unwrap(),
        }
    };
    acts.iter().map(entry).collect()
}

/// A lesson to which somebody did things.
fn touched(id: &str) -> Recording {
    let object = |name: &str| json!({ "metadata": { "namespace": "default", "name": name } });
    let inputs = inputs_of(&[
        (900, json!({ "op": "create", "object": object("mine") })),
        (2_100, json!({ "op": "mode", "mode": "held" })),
        (2_200, json!({ "op": "cut" })),
        (2_300, json!({ "op": "delete", "object": object("mine") })),
        (4_000, json!({ "op": "pop" })),
    ]);
    let scenario = lessons::load(id).unwrap().scenario;
    let timeline = Recording { scenario, inputs }.play().unwrap();
    timeline.recording()
}

fn all_lessons() -> Vec<Arc<str>> {
    lessons::menu().into_iter().map(|(id, _)| id).collect()
}

#[test]
fn a_trace_plays_the_same_facts() {
    for id in all_lessons() {
        let recording = touched(&id);
        let written = trace::write(&Trace {
            lesson: id.clone(),
            title: Text::new("a", "\"名\""),
            at: "t:2100+3".parse().ok(),
            start: None,
            recording: recording.clone(),
        });
        assert!(trace::is_trace(written.as_bytes()));
        let (read, error) = trace::read("a.jsonl", written.as_bytes());
        assert_eq!(error, None, "{id}");
        let read = read.unwrap();
        assert_eq!(debug(&read.recording), debug(&recording), "{id}");
        assert_eq!((&*read.lesson, &*read.title.zh), (&*id, "\"名\""));
        assert_eq!(read.at.unwrap().to_string(), "t:2100+3");
        let (again, played) = read.recording.play_within(1_000_000).unwrap();
        assert_eq!(played, recording.inputs.len());
        let first = recording.play().unwrap();
        let len = first.len().min(again.len());
        assert!(len > 5, "{id}");
        assert!(first.facts(0..len)[..] == again.facts(0..len)[..], "{id}");
    }
}

#[test]
fn an_input_comes_where_it_was_whether_it_was_counted_or_not() {
    for id in ["sandbox", "reflector", "sharedinformer-simulate"] {
        let counted = touched(id);
        let mut by_hand = counted.clone();
        for taken in &mut by_hand.inputs {
            taken.after = usize::MAX;
        }
        assert_eq!(
            debug(&by_hand.play().unwrap().recording()),
            debug(&counted),
            "{id}"
        );
        assert_eq!(
            debug(&counted.play().unwrap().recording()),
            debug(&counted),
            "{id}"
        );
        assert!(counted.inputs.len() == 5 && counted.inputs[0].after < 1_000);
    }
}

const HEADER: &str = "{\"deltascope\":1}\n";
const SCENARIO: &str = "{\"scenario\":{\"settings\":{\"feed\":\"server\"},\"traffic\":7}}\n";

#[test]
fn a_trace_that_is_wrong_says_its_line_and_what_to_do() {
    let deep = format!("{}{}\n", "[".repeat(300), "]".repeat(300));
    let nested = json!({ "beside": [{ "beside": [{}] }] });
    let wide = json!({ "beside": vec![json!({}); 50], "initial": vec![json!({}); 1_100] });
    for (more, line, words, opens) in [
        ("{\"deltascope\":2}\n", 1, "newer page", false),
        ("{\"deltascope\":\"1\"}\n", 1, "header", false),
        (
            "\u{feff}{\"deltascope\":1,\"a\":1}\n\n{\"b\":1}\n",
            3,
            "one of scenario",
            false,
        ),
        (&format!("{HEADER}[]\n"), 2, "one of scenario", false),
        (
            &format!("{HEADER}{SCENARIO}{{\"at\":5"),
            3,
            "not JSON",
            true,
        ),
        (&format!("{HEADER}{SCENARIO}{deep}"), 3, "not JSON", true),
        (
            &format!("{HEADER}{SCENARIO}{{\"at\":-5,\"op\":\"cut\"}}\n"),
            3,
            "\"at\"",
            true,
        ),
        (
            &format!("{HEADER}{SCENARIO}{{\"at\":5,\"after\":-1,\"op\":\"cut\"}}\n"),
            3,
            "-1",
            true,
        ),
        (
            &format!("{HEADER}{SCENARIO}{{\"at\":5,\"op\":\"cut\",\"x\":1}}\n"),
            3,
            "\"x\"",
            true,
        ),
        (
            &format!("{HEADER}{SCENARIO}{{\"item\":{{\"metadata\":{{}}}}}}\n"),
            3,
            "metadata.name",
            true,
        ),
        (
            &format!("{HEADER}{SCENARIO}{{\"event\":{{\"type\":\"NEW\",\"object\":{{}}}}}}\n"),
            3,
            "NEW",
            true,
        ),
        (
            &format!("{HEADER}{{\"scenario\":{{\"settings\":{{\"no\":1}}}}}}\n"),
            2,
            "\"no\"",
            false,
        ),
        (
            &format!("{HEADER}{{\"scenario\":{nested}}}\n"),
            2,
            "beside itself",
            false,
        ),
        (
            &format!("{HEADER}{{\"scenario\":{wide}}}\n"),
            2,
            "the most is",
            false,
        ),
        (
            &format!("{{\"deltascope\":1,\"at\":\"input:0\"}}\n{SCENARIO}"),
            1,
            "\"at\" names no moment with \"input:0\"",
            true,
        ),
        (
            &format!("{{\"deltascope\":1,\"start\":\"noon\"}}\n{SCENARIO}"),
            1,
            "\"start\" is no time",
            true,
        ),
    ] {
        let (read, error) = trace::read("a.jsonl", more.as_bytes());
        let error = error.expect(words);
        assert_eq!((error.line, read.is_some()), (Some(line), opens), "{error}");
        assert!(error.message.en.contains(words), "{words}: {error}");
        assert!(
            error.message.en.contains(&format!("line {line}:")),
            "{error}"
        );
        assert!(!error.message.zh.is_empty());
        if let Some(read) = read {
            assert!(read.recording.play_within(10_000).unwrap().0.len() > 10);
        }
    }
    let (read, error) = trace::read("a.jsonl", HEADER.as_bytes());
    assert!(
        read.is_none()
            && error
                .unwrap()
                .message
                .en
                .contains("no line with a scenario")
    );
    let long = format!("{HEADER}{}\n", "x".repeat(wire::MAX_LINE + 1));
    let (_, error) = trace::read("a.jsonl", long.as_bytes());
    assert!(error.unwrap().message.en.contains("longer than"));
    let large = vec![b'\n'; wire::MAX_BYTES + 1];
    let (_, error) = trace::read("a.jsonl", &large);
    assert!(error.unwrap().message.en.contains("at most"));
    let mut many = format!("{HEADER}{SCENARIO}");
    for _ in 0..=trace::MAX_INPUTS {
        many.push_str("{\"at\":5,\"op\":\"cut\"}\n");
    }
    let (read, error) = trace::read("a.jsonl", many.as_bytes());
    assert_eq!(error.unwrap().line, Some(trace::MAX_INPUTS as u32 + 3));
    assert_eq!(read.unwrap().recording.inputs.len(), trace::MAX_INPUTS);
}

#[test]
fn what_many_informers_would_read_is_counted_for_each() {
    let said = |beside: usize, items: usize, bytes: usize| {
        let reader = json!({ "settings": { "machinery": "shared", "feed": "recorded" } });
        let mut scenario = reader.clone();
        scenario["beside"] = json!(vec![reader; beside]);
        let mut text = format!("{HEADER}{{\"scenario\":{scenario}}}\n{{\"list\":{{}}}}\n");
        for number in 0..items {
            let name = format!("n{number}");
            let note = "x".repeat(bytes);
            let item = json!({ "item": { "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": name, "annotations": { "note": note } } } });
            text.push_str(&format!("{item}\n"));
        }
        let (read, error) = trace::read("a.jsonl", text.as_bytes());
        assert_eq!(read.is_some(), error.is_none());
        error.map_or_else(String::new, |error| error.message.en.to_string())
    };
    assert_eq!(said(0, 3_000, 0), "");
    assert_eq!(said(15, 3_000, 0), "");
    assert!(said(16, 3_000, 0).contains("51000 objects and entries"));
    assert_eq!(said(40, 1, 1 << 20), "");
    assert!(said(40, 2, 1 << 20).contains("the most is 67108864"));
    // The same in a link, where what was recorded is a part of the scenario.
    let reader = json!({ "settings": { "machinery": "shared", "feed": "recorded" } });
    let items: Vec<Value> = (0..1_000)
        .map(|number| json!({ "metadata": { "name": number.to_string() } }))
        .collect();
    let mut scenario = reader.clone();
    scenario["beside"] = json!(vec![reader; 50]);
    scenario["recorded"] = json!({ "list": {}, "items": items });
    let packed = miniz_oxide::deflate::compress_to_vec(
        json!({ "scenario": scenario }).to_string().as_bytes(),
        6,
    );
    use base64::Engine;
    let packed = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(packed);
    let error = Link::read(&format!("#v1;i={packed}")).unwrap_err();
    assert!(error.en.contains("51000 objects"), "{}", error.en);
}

/// What stands behind the `#` of a link to a scenario with these inputs.
fn link_to(scenario: &Value, inputs: &str) -> String {
    use base64::Engine;
    let lines = format!("{}\n{inputs}", json!({ "scenario": scenario }));
    let packed = miniz_oxide::deflate::compress_to_vec(lines.as_bytes(), 6);
    let packed = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(packed);
    format!("#v1;i={packed}")
}

fn pods(count: usize) -> Vec<Value> {
    let pod =
        |number: usize| json!({ "metadata": { "namespace": "a", "name": format!("p{number}") } });
    (0..count).map(pod).collect()
}

/// A small link that takes much is refused with what, where and what to do: as a link, as a trace and as
/// a scenario of somebody's page or book.
#[test]
fn no_small_file_takes_much() {
    let long = "x".repeat(500_000);
    let shared = |settings: Value| {
        let mut settings = settings;
        settings["machinery"] = json!("shared");
        json!({ "settings": settings, "initial": pods(1_000) })
    };
    let handler = |handler: Value| shared(json!({ "handlers": [handler] }));
    let entry = |entry: Value| json!({ "script": [entry] });
    let print = |line: &str| entry(json!({ "at": 1, "op": "print", "line": line }));
    for (scenario, field, words) in [
        (
            handler(json!({ "onAdd": [long] })),
            "onAdd",
            "the most is 4096",
        ),
        (
            handler(json!({ "onUpdate": vec!["a"; 65] })),
            "onUpdate",
            "there are 65; the most is 64",
        ),
        (
            handler(json!({ "mutates": format!("a={long}") })),
            "mutates",
            "the most is 512",
        ),
        (
            handler(json!({ "filter": long })),
            "filter",
            "the most is 512",
        ),
        (
            handler(json!({ "panicsAt": long })),
            "panicsAt",
            "the most is 512",
        ),
        (handler(json!({ "name": long })), "name", "the most is 512"),
        (
            shared(json!({ "transform": { "sets": format!("a={long}") } })),
            "sets",
            "the most is 512",
        ),
        (
            shared(json!({ "transform": { "appends": format!("a={long}") } })),
            "appends",
            "the most is 512",
        ),
        (
            shared(json!({ "keySeparator": long })),
            "keySeparator",
            "the most is 512",
        ),
        (
            shared(json!({ "indices": vec!["a"; 100] })),
            "indices",
            "the most is 64",
        ),
        (
            shared(json!({ "indices": [long] })),
            "indices",
            "the most is 512",
        ),
        (
            shared(json!({ "typeDescription": long })),
            "typeDescription",
            "the most is 512",
        ),
        (
            shared(json!({ "repeats": [long] })),
            "repeats",
            "the most is 512",
        ),
        (
            shared(json!({ "selector": long })),
            "selector",
            "the most is 4096",
        ),
        (
            shared(json!({ "prints": { "onSync": [long] } })),
            "onSync",
            "the most is 4096",
        ),
        (
            shared(json!({ "processFails": { "at": long } })),
            "at",
            "the most is 512",
        ),
        (shared(json!({ "feed": long })), "feed", "…"),
        (shared(json!({ long.clone(): 1 })), "settings", "…"),
        (
            print(&"{indices}".repeat(60_000)),
            "line",
            "the most is 4096",
        ),
        (
            entry(json!({ "at": 1, "op": "ask", "as": "go", "index": "a", "value": long })),
            "value",
            "the most is 512",
        ),
        (
            entry(json!({ "at": 1, "op": long })),
            "op",
            "the most is 4096",
        ),
    ] {
        let link = link_to(&scenario, "");
        assert!(link.len() < 64 << 10, "{field}: {}", link.len());
        let errors = [
            Link::read(&link).unwrap_err().en,
            trace::read(
                "a.jsonl",
                format!("{HEADER}{}\n", json!({ "scenario": scenario })).as_bytes(),
            )
            .1
            .unwrap()
            .message
            .en,
            Session::new()
                .present(&Default::default(), Some(scenario))
                .unwrap_err()
                .en,
        ];
        for error in errors {
            let named = error.contains(&format!("{field:?}")) || error.contains(field);
            assert!(named && error.contains(words), "{field}: {error}");
            assert!(error.len() < 1_000, "{field}: {}", error.len());
        }
    }
    // A cluster's objects may have names of their own, but no endless ones.
    let item = json!({ "item": { "metadata": { "name": long } } });
    let (_, error) = trace::read("a.jsonl", format!("{HEADER}{SCENARIO}{item}\n").as_bytes());
    assert!(error.unwrap().message.en.contains("the most is 4096"));
}

/// What a template becomes is bounded as well, and says so.
#[test]
fn what_a_line_is_filled_in_with_has_an_end() {
    let scenario = json!({
        "settings": { "machinery": "shared", "indices": ["namespace"], "handlers": [{ "onAdd": ["{name}".repeat(600)] }] },
        "initial": pods(400),
    });
    let print = json!({ "at": 5_000, "op": "print", "line": "{indices}".repeat(450) });
    let mut session = Session::new();
    session.obey(Command::OpenLink(
        link_to(&scenario, &print.to_string()).into(),
    ));
    assert_eq!(session.view().error, None);
    session.obey(Command::Seek(usize::MAX));
    let picture = session.view().picture;
    let last = picture.output.back().unwrap();
    // Go sorts the keys of a map that it prints, not what it prints of them.
    assert!(last.starts_with("map[namespace:map[a:map[a/p0:{} a/p1:{} a/p10:{} a/p100:{} "));
    assert!(last.ends_with("… (cut after 16384 bytes)"));
    assert!(picture.output.iter().all(|line| line.len() < 17_000));
}

/// Many small values take twenty times their text: a file of them is read only so far.
#[test]
fn what_a_file_comes_to_is_bounded_in_bytes() {
    let values = "{\"a\":0},".repeat(120_000);
    let object = |number: usize| {
        let metadata = json!({ "name": format!("n{number}"), "uid": "u" });
        format!("{{\"metadata\":{metadata},\"spec\":{{\"values\":[{values}0]}}}}")
    };
    let items: String = (0..10)
        .map(|n| format!("{{\"item\":{}}}\n", object(n)))
        .collect();
    let (read, error) = trace::read(
        "a.jsonl",
        format!("{HEADER}{SCENARIO}{{\"list\":{{}}}}\n{items}").as_bytes(),
    );
    let error = error.unwrap();
    assert!(
        error.message.en.contains("small values") && error.line > Some(5),
        "{error}"
    );
    let start = read
        .unwrap()
        .recording
        .scenario
        .recorded
        .unwrap()
        .start
        .unwrap();
    assert!(
        (3..10).contains(&start.items.len()),
        "{}",
        start.items.len()
    );
    let event = |n| format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", object(n));
    let recorded = wire::open_text("w", &(0..10).map(event).collect::<String>());
    let error = recorded.error.unwrap();
    assert!(
        error.message.en.contains("small values") && (3..10).contains(&recorded.events.len()),
        "{error}"
    );
    let list: Vec<String> = (0..10).map(object).collect();
    let text = format!("{{\"kind\":\"PodList\",\"items\":[{}]}}", list.join(","));
    let error = wire::open_text("l", &text).error.unwrap();
    assert!(error.message.en.contains("small values"), "{error}");
    let line = wire::open_text(
        "w",
        &event(0).replace("[{", &format!("[{}{{", "{\"b\":1},".repeat(900_000))),
    );
    assert!(line.error.unwrap().message.en.contains("small values"));
}

/// Opens it with each pause that there may be; says how many there were, and how much was done without one.
fn in_slices(command: &Command) -> (Session, usize, usize) {
    let slices = Slices::until(|| true);
    let mut work = Box::pin(opening::open(command, &slices));
    let (mut pauses, mut most) = (0, 0);
    loop {
        let before = slices.done();
        let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        most = most.max(slices.done() - before);
        if let Poll::Ready(opened) = polled {
            let mut session = Session::new();
            session.show_opened(opened);
            return (session, pauses, most);
        }
        pauses += 1;
    }
}

/// Whatever is asked for, the page gets its turn after a slice, and what comes is the same.
#[test]
fn what_is_opened_comes_in_slices() {
    let crowd = json!({ "settings": { "machinery": "shared", "resyncMs": 1, "work": { "workers": 255 },
        "handlers": vec![json!({ "queues": true }); 150] }, "initial": [{ "metadata": { "name": "a" } }] });
    let beside = json!({ "settings": { "machinery": "shared", "resyncMs": 1 } });
    let deep = json!({ "settings": { "machinery": "shared" }, "initial": pods(20), "beside": vec![beside; 50] });
    let prints: Vec<String> = (0..2_000)
        .map(|n| json!({ "at": n, "op": "print", "line": "{indices}" }).to_string())
        .collect();
    let many = json!({ "settings": { "machinery": "shared", "indices": ["namespace"] }, "initial": pods(1_000) });
    let at = |link: String, at: &str| link.replace("#v1;", &format!("#v1;at={at};"));
    let open = |link: String| Command::OpenLink(link.into());
    let trace = format!(
        "{HEADER}{}\n{}\n",
        json!({ "scenario": many }),
        prints.join("\n")
    );
    let file = |text: String| Command::Open(vec![("a.jsonl".to_owned(), text.into_bytes())]);
    let pod = |n: usize| json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("p{n}"), "resourceVersion": n.to_string() } });
    let event = |n| json!({ "informer": { "type": "ADDED", "object": pod(n) } }).to_string();
    let log: Vec<String> = (1..2_000).map(event).collect();
    let items: Vec<String> = (1..5_000).map(|n| pod(n).to_string()).collect();
    let list = format!("{{\"kind\":\"PodList\",\"items\":[{}]}}", items.join(","));
    // (what is opened, words of its error, how many pauses there are at the least)
    for (command, words, least) in [
        (
            open(at(link_to(&crowd, ""), "t:999999999999")),
            "does not come",
            10_000,
        ),
        (
            open(at(link_to(&crowd, ""), "input:7+5")),
            "does not come",
            1_000,
        ),
        (open(at(link_to(&deep, ""), "t:400")), "", 1_000),
        // Each line that is printed.
        (open(link_to(&many, &prints.join("\n"))), "", 2_000),
        (file(trace), "", 2_000),
        (file(log.join("\n")), "", 1_000),
        // Each object, also where something is wrong in the end.
        (
            file(list.replace("]}", ",7]}")),
            "items[4999] cannot be used",
            5_000,
        ),
        (
            file(list.replace("]}", ",{]}")),
            "this is not JSON (key must be a string",
            5_000,
        ),
        (
            file(list.replace("]}", "")),
            "the file ends in the middle",
            5_000,
        ),
    ] {
        let (mut session, pauses, most) = in_slices(&command);
        let view = session.view();
        let error = view.error.as_ref().map_or("", |error| &error.message.en);
        assert!(
            error.contains(words) && error.is_empty() == words.is_empty(),
            "{words}: {error}"
        );
        // One step may state many facts: the first list is queued as a whole.
        assert!(pauses >= least && most < 3_000, "{words}: {pauses} {most}");
        let mut other = Session::new();
        other.obey(command);
        let (one, two) = (state(&view, Lang::En), state(&other.view(), Lang::En));
        assert_eq!(one, two);
    }
    // What cannot come is not computed at all.
    let slices = Slices::whole();
    let far = open("#v1;lesson=sandbox;at=listed+4294967290".to_owned());
    assert!(at_once(opening::open(&far, &slices)).is_err());
    assert!(slices.done() < 20_000, "{}", slices.done());
}

/// What somebody does on the page.
fn command() -> impl Strategy<Value = Command> {
    let word = || {
        proptest::sample::select(vec![
            "",
            "/",
            "a/",
            "/a",
            "A b",
            "名",
            "web-0",
            "default/web-0",
            "default",
            "x/y/z",
        ])
        .prop_map(str::to_owned)
    };
    let draft = || {
        (word(), word(), word(), word(), word()).prop_map(|(namespace, name, app, node, phase)| {
            Draft {
                namespace,
                name,
                app,
                node,
                phase,
            }
        })
    };
    prop_oneof![
        word().prop_map(|key| Command::Delete(key.into())),
        draft().prop_map(Command::Create),
        draft().prop_map(Command::Edit),
        proptest::sample::select(vec![
            Command::CutWatch,
            Command::Compact,
            Command::PopOne,
            Command::AddHandler,
            Command::RemoveHandler(0),
            Command::KnownObjects(true),
            Command::Fork,
            Command::Reset,
            Command::Step(40),
            Command::Step(-30),
            Command::Seek(0),
            Command::Fault(Fault::Close),
            Command::Fault(Fault::Event(0)),
            Command::Fault(Fault::List(410)),
            Command::Mode(ProcessMode::Held),
            Command::Mode(ProcessMode::Paced(u32::MAX)),
            Command::Era("1.36".into()),
            Command::DropEvent(3),
            Command::SetText(Setting::ResyncMs(0), "1000000000000".into()),
            Command::SetText(Setting::PageSize(0), "4294967295".into()),
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    /// Whatever somebody did: what the page gives away it takes again, and it is the same.
    #[test]
    fn a_trace_that_can_be_exported_opens_again(
        id in proptest::sample::select(all_lessons()),
        commands in proptest::collection::vec(command(), 0..12),
        injected in proptest::collection::vec(
            (proptest::sample::select(vec!["create", "update", "delete"]), prop_oneof![made::object(), made::json()]),
            0..3,
        ),
    ) {
        let mut session = Session::new();
        session.obey(Command::Load(id));
        for command in commands {
            session.obey(command);
        }
        for (op, object) in injected {
            session.inject(op, object);
        }
        let trace = session.export(Export::Trace).unwrap();
        let mut other = Session::new();
        other.obey(Command::Open(vec![("a.jsonl".to_owned(), trace.clone().into_bytes())]));
        let view = other.view();
        prop_assert_eq!(view.error, None, "{}", trace);
        prop_assert_eq!(debug(&other.timeline().recording()), debug(&session.timeline().recording()));
        prop_assert_eq!(view.step, session.view().step);
    }
}

#[test]
fn what_would_take_too_long_is_cut_short() {
    // Farther than any run, in any order, and never where they say they were.
    let mut text = format!("{HEADER}{SCENARIO}");
    for (after, at) in [(u32::MAX, 1_000_000_000_000_u64), (5, 3), (7, 900_000)] {
        text.push_str(&format!(
            "{{\"at\":{at},\"after\":{after},\"op\":\"cut\"}}\n"
        ));
    }
    let (read, error) = trace::read("a.jsonl", text.as_bytes());
    assert_eq!(error, None);
    let (timeline, played) = read.unwrap().recording.play_within(20_000).unwrap();
    assert_eq!(played, 0);
    assert!((20_000..20_100).contains(&timeline.len()));
    // A run that ends by itself, one day.
    let endless = json!({ "settings": { "machinery": "shared", "work": { "failures": u32::MAX },
        "handlers": [{ "queues": true }] },
        "initial": [{ "metadata": { "name": "a" } }] });
    let text = format!("{HEADER}{{\"scenario\":{endless}}}\n");
    let (read, _) = trace::read("a.jsonl", text.as_bytes());
    let (timeline, _) = read.unwrap().recording.play_within(5_000).unwrap();
    assert!(
        (5_000..5_100).contains(&timeline.len()),
        "{}",
        timeline.len()
    );
}

proptest! {
    // Each of them runs worlds: a quarter is enough.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn no_scenario_from_outside_does_harm(
        scenario in made::scenario(),
        inputs in proptest::collection::vec((0..20_000_u64, 0..900_usize, made::input()), 0..6),
    ) {
        let inputs = inputs.into_iter().map(|(at, after, input)| RecordedInput { after, at, input });
        let recording = Recording { scenario, inputs: inputs.collect() };
        // Not every one can be built, and that is said.
        if let Ok((timeline, _)) = recording.play_within(1_000) {
            let exact = timeline.recording();
            let (again, played) = exact.play_within(1_000).unwrap();
            prop_assert_eq!(played, exact.inputs.len());
            let len = timeline.len().min(again.len());
            prop_assert!(timeline.facts(0..len)[..] == again.facts(0..len)[..]);
            let _ = again.picture(again.len());
        }
    }

    #[test]
    fn a_spoiled_trace_is_read_as_far_as_it_goes(
        place in 0.0..1.0_f64,
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = trace::write(&Trace {
            lesson: "pod-lifecycle".into(),
            title: Text::default(),
            at: None,
            start: None,
            recording: touched("pod-lifecycle"),
        })
        .into_bytes();
        let place = (bytes.len() as f64 * place) as usize;
        bytes[place] = byte;
        if cut {
            bytes.truncate(place + 1);
        }
        let (read, error) = trace::read("a.jsonl", &bytes);
        prop_assert!(read.is_some() || error.is_some());
        if let Some(Ok((timeline, _))) = read.map(|read| read.recording.play_within(2_000)) {
            prop_assert!(timeline.len() < 2_100);
        }
    }

    #[test]
    fn a_difference_makes_the_one_of_the_other(from in made::json(), to in made::json()) {
        if let Some(change) = difference(&from, &to) {
            let mut made = from.clone();
            apply(&mut made, through_text(&change)).unwrap();
            prop_assert_eq!(made, to);
        }
    }

    #[test]
    fn any_change_of_any_value_is_taken_or_refused(from in made::json(), change in made::json()) {
        let mut made = from;
        let _ = apply(&mut made, change);
    }

    #[test]
    fn a_moment_is_found_again(place in 0.0..1.0_f64) {
        for id in ["sandbox", "reflector"] {
            let mut timeline = touched(id).play().unwrap();
            timeline.extend(3_000);
            let step = (timeline.len() as f64 * place) as usize;
            let moment = Moment::of(&timeline, step);
            let read: Moment = moment.to_string().parse().unwrap();
            prop_assert_eq!(&read, &moment);
            let mut fresh = touched(id).play().unwrap();
            prop_assert_eq!(read.find(&mut fresh, &|_, _| None), Some(step));
        }
    }

    #[test]
    fn a_link_opens_what_it_was_made_of(
        scenario in made::scenario(),
        inputs in proptest::collection::vec((0..20_000_u64, 0..900_usize, made::input()), 0..6),
        own in made::scenario(),
    ) {
        let inputs = inputs.into_iter().map(|(at, after, input)| RecordedInput { after, at, input });
        let recording = Recording { scenario, inputs: inputs.collect() };
        for lesson in [None, Some(("x".into(), &own))] {
            let link = Link::of(lesson, &recording).to_string();
            let read = Link::read(&link).unwrap().recording(&own).unwrap();
            prop_assert_eq!(debug(&read), debug(&recording), "{}", link);
        }
    }

    #[test]
    fn no_link_does_harm(text in "\\PC{0,40}", packed in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Link::read(&text);
        let _ = Link::read(&format!("#v1;{text}"));
        let _ = Link::read(&format!("#v1;at={text}"));
        use base64::Engine;
        let packed = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(packed);
        // Random bytes may be something packed, but hardly lines of a trace.
        let read = Link::read(&format!("#v1;i={packed}"));
        prop_assert!(read.is_err() || read.unwrap().inputs.is_empty());
    }
}

#[test]
fn moments_are_named_by_what_lasts() {
    for text in [
        "kept-delete",
        "kept-delete+3",
        "input:2",
        "input:1+10",
        "t:0",
        "t:16900+4",
    ] {
        assert_eq!(text.parse::<Moment>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "5",
        "+3",
        "t:",
        "t:x",
        "t:-5",
        "t:99999999999999999999",
        "input:0",
        "input:",
        "a+b",
        "a+99999999999999999999",
        "step:5",
        "a+-1",
    ] {
        assert!(text.parse::<Moment>().is_err(), "{text}");
    }
    let mut timeline = touched("reflector").play().unwrap();
    let find = |timeline: &mut Timeline, text: &str| {
        text.parse::<Moment>()
            .unwrap()
            .find(timeline, &|_, id| (id == "m").then_some(7))
    };
    assert_eq!(find(&mut timeline, "m+2"), Some(9));
    assert_eq!(find(&mut timeline, "n"), None);
    assert_eq!(find(&mut timeline, "input:99"), None);
    let first = find(&mut timeline, "input:1").unwrap();
    let record = timeline.fact(first - 1).unwrap();
    assert!(matches!(record.cause, Cause::Input(0)), "{record:?}");
    // What has fewer facts than it had.
    let end = timeline.count_until(1_000);
    assert_eq!(find(&mut timeline, "t:1000+99999"), Some(end));
    let mut endless = touched("sandbox").play_within(9_000).unwrap().0;
    assert_eq!(find(&mut endless, "t:999999999999999"), None);
    assert_eq!(find(&mut endless, "input:999999999"), None);
}

#[test]
fn a_link_is_short() {
    for id in all_lessons() {
        let lesson = lessons::load(&id).unwrap();
        let mut recording = touched(&id);
        let plain = Link::of(
            Some((id.clone(), &lesson.scenario)),
            &Recording {
                inputs: Vec::new(),
                ..recording.clone()
            },
        );
        assert!(plain.to_string().len() < 80, "{plain}");
        recording.scenario.drops = vec![3, 4];
        recording.scenario.settings.process_ms += 10;
        if !recording.scenario.script.is_empty() {
            recording.scenario.script.remove(0);
        }
        if let Some(recorded) = &mut recording.scenario.recorded {
            recorded.events.pop();
        }
        let link = Link::of(Some((id.clone(), &lesson.scenario)), &recording);
        let text = link.to_string();
        assert!(text.len() < 700, "{}: {text}", text.len());
        let read = Link::read(&text)
            .unwrap()
            .recording(&lesson.scenario)
            .unwrap();
        assert_eq!(debug(&read), debug(&recording), "{id}");
    }
}

/// Whether all that is said is so; what is not said may be anything.
fn holds(said: &Value, found: &Value) -> bool {
    match (said, found) {
        (Value::Object(said), Value::Object(found)) => (said.iter())
            .all(|(name, said)| found.get(name).is_some_and(|found| holds(said, found))),
        _ => said == found,
    }
}

/// Every link that was ever made opens to what it opened to: each file has the link, and what the
/// page says of itself then. A link is never changed; what it opens to only where what is simulated
/// was wrong.
#[test]
fn links_open_for_ever() {
    let mut seen = 0;
    for file in std::fs::read_dir("tests/links").unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (link, said) = text.split_once('\n').unwrap();
        let said: Value = serde_json::from_str(said).unwrap();
        let mut session = Session::new();
        let before = session.view();
        session.obey(Command::OpenLink(link.into()));
        let view = session.view();
        let path = path.display();
        seen += 1;
        if let Some(words) = said["error"].as_str() {
            let error = view
                .error
                .clone()
                .unwrap_or_else(|| panic!("{path}: no error"))
                .message;
            assert!(
                error.en.contains(words) && !error.zh.is_empty(),
                "{path}: {}",
                error.en
            );
            let (same, now) = (
                state(&before, Lang::En),
                state(
                    &View {
                        error: None,
                        ..view
                    },
                    Lang::En,
                ),
            );
            assert_eq!(same, now, "{path}: the page stays as it was");
            continue;
        }
        let found = state(&view, Lang::En);
        assert!(
            holds(&said, &found),
            "{path}\n{}",
            serde_json::to_string(&found).unwrap()
        );
        // What is shared from there opens to the same again.
        let again = session.export(Export::Link).unwrap();
        let mut other = Session::new();
        other.obey(Command::OpenLink(again.clone().into()));
        assert!(
            holds(&said, &state(&other.view(), Lang::En)),
            "{path}: {again}"
        );
        assert_eq!(other.export(Export::Link).unwrap(), again, "{path}");
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_link_carries_what_is_selected() {
    let mut session = Session::new();
    let anchor = "api/object/default/web-1";
    session.obey(Command::Select(Anchor::read(anchor)));
    assert!(session.view().selection.is_some());
    let link = session.export(Export::Link).unwrap();
    assert!(link.contains(&format!(";sel={anchor}")), "{link}");
    let mut other = Session::new();
    other.obey(Command::OpenLink(link.into()));
    assert_eq!(other.view().selection, session.view().selection);
    other.obey(Command::OpenLink(
        "#v1;lesson=sandbox;sel=no/such/thing".into(),
    ));
    assert_eq!((other.view().selection, other.view().error), (None, None));
}

/// What a link changes is nowhere else: to start over does not lose it.
#[test]
fn who_starts_over_keeps_what_a_link_has_set_and_leaves_what_it_did() {
    let mut maker = Session::new();
    maker.obey(Command::SetText(Setting::ProcessMs(0), "300".into()));
    let set = maker.export(Export::Link).unwrap();
    let place = maker.view().events.first().unwrap().place;
    maker.obey(Command::DropEvent(place));
    let done = maker.export(Export::Link).unwrap();
    for (link, process_ms, branches) in [
        (&*set, Some("300"), 1),
        (&*done, Some("300"), 2),
        ("#v1;lesson=sandbox", None, 1),
        ("#v1;lesson=sandbox;era=1.36", None, 1),
        ("#v1;lesson=sharedinformerfactory;era=1.36", None, 1),
    ] {
        let mut session = Session::new();
        session.obey(Command::OpenLink(link.into()));
        assert_eq!(session.view().error, None);
        let before = state(&session.view(), Lang::En);
        session.obey(Command::Reset);
        let view = session.view();
        assert_eq!(view.branches.len(), branches, "{link}");
        assert_eq!(*view.lesson.era, *before["era"].as_str().unwrap());
        if let Some(process_ms) = process_ms {
            let is_it = |row: &&SettingRow| matches!(row.setting, Setting::ProcessMs(_));
            let row = view.settings.iter().find(is_it).unwrap();
            assert_eq!(row.value, process_ms, "{link}");
            assert!(session.timeline().scenario().drops.is_empty());
        }
        if branches > 1 {
            let other = view.branches.iter().find(|row| !row.current).unwrap().id;
            session.obey(Command::Branch(other));
            assert_eq!(session.timeline().scenario().drops.len(), 1);
            assert_eq!(state(&session.view(), Lang::En)["step"], before["step"]);
        }
    }
}

/// A marker is looked for only so far; a moment that is later is named by its time.
#[test]
fn a_link_to_a_late_marker_opens_there() {
    let mut session = Session::new();
    session.obey(Command::SetText(Setting::ProcessMs(0), "400000".into()));
    let late = |view: &View| {
        let marker = view.markers.iter().find(|marker| &*marker.id == "synced");
        marker.map(|marker| marker.at)
    };
    let at = loop {
        let view = session.view();
        if let Some(at) = late(&view) {
            break at;
        }
        assert!(view.steps < 900_000, "it comes");
        session.obey(Command::Seek(view.steps + 100_000));
    };
    assert!(at > 160_000, "{at}");
    session.obey(Command::Seek(at));
    let link = session.export(Export::Link).unwrap();
    let mut other = Session::new();
    other.obey(Command::OpenLink(link.clone().into()));
    assert_eq!(
        (other.view().error, other.view().step),
        (None, at),
        "{link}"
    );
    assert_eq!(other.export(Export::Link), Ok(link));
}

#[test]
fn what_is_farther_than_a_link_computes_is_not_linked() {
    // A crowd, so that not much is computed.
    let handlers = vec![json!({ "onUpdate": ["{name}"] }); 200];
    let scenario = json!({ "settings": { "machinery": "shared", "resyncMs": 1, "handlers": handlers },
        "initial": [{ "metadata": { "name": "a" } }] });
    let text = format!("{HEADER}{{\"scenario\":{scenario}}}\n");
    let mut session = Session::new();
    session.obey(Command::Open(vec![("a".to_owned(), text.into_bytes())]));
    let far = 1_000_000 / (1 + 200 / 8);
    for (step, opens) in [(far - 1_000, true), (far + 10, false), (far - 1_000, true)] {
        session.obey(Command::Seek(step));
        match session.export(Export::Link) {
            Ok(link) => {
                assert!(opens, "{step}");
                let mut other = Session::new();
                other.obey(Command::OpenLink(link.into()));
                assert_eq!((other.view().error, other.view().step), (None, step));
            }
            Err(reason) => assert!(!opens && reason.en.contains(&far.to_string()), "{reason:?}"),
        }
    }
}

#[test]
fn what_is_done_farther_than_a_link_computes_is_not_linked() {
    // One handler more, and so many more facts are too many.
    let handlers = vec![json!({ "onUpdate": ["{name}"] }); 191];
    let scenario = json!({ "settings": { "machinery": "shared", "resyncMs": 1, "handlers": handlers },
        "initial": [{ "metadata": { "name": "a" } }] });
    let text = format!("{HEADER}{{\"scenario\":{scenario}}}\n");
    let mut session = Session::new();
    session.obey(Command::Open(vec![("a".to_owned(), text.into_bytes())]));
    session.obey(Command::Seek(1_000_000 / (1 + 192 / 8) + 500));
    assert!(session.export(Export::Link).is_ok());
    session.obey(Command::AddHandler);
    assert_eq!(session.view().error, None);
    for step in [5, 0] {
        session.obey(Command::Seek(step));
        assert!(session.export(Export::Link).is_err(), "{step}");
    }
}

/// The same of traces: what stands beside each says what the page says of itself when it is open.
#[test]
fn traces_open_for_ever() {
    let mut seen = 0;
    for file in std::fs::read_dir("tests/traces").unwrap() {
        let path = file.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let said = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        let mut session = Session::new();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        session.obey(Command::Open(vec![(
            name.clone(),
            std::fs::read(&path).unwrap(),
        )]));
        let found = state(&session.view(), Lang::En);
        assert!(
            holds(&said, &found),
            "{name}\n{}",
            serde_json::to_string(&found).unwrap()
        );
        // What is exported opens to the same.
        let trace = session.export(Export::Trace).unwrap();
        let mut other = Session::new();
        other.obey(Command::Open(vec![(
            name.clone(),
            trace.clone().into_bytes(),
        )]));
        assert!(holds(&said, &state(&other.view(), Lang::En)), "{name}");
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn a_trace_whose_moment_does_not_come_is_shown_from_its_start() {
    // A run that ends has an end, and what would be after it is there.
    for (at, step) in [("nowhere", 0), ("input:99", 0), ("t:900000000000", 10)] {
        let text = format!("{{\"deltascope\":1,\"at\":\"{at}\"}}\n{{\"scenario\":{{}}}}\n");
        let mut session = Session::new();
        session.obey(Command::Open(vec![(
            "a.jsonl".to_owned(),
            text.into_bytes(),
        )]));
        let view = session.view();
        assert_eq!(
            (&*view.lesson.id, view.step),
            ("file:a.jsonl", step),
            "{at}"
        );
        assert_eq!(view.error.is_some(), step == 0, "{at}");
    }
}

#[test]
fn what_a_crowd_costs_is_bounded_too() {
    let steps = |handlers: usize| {
        let scenario = json!({ "settings": { "machinery": "shared", "resyncMs": 1,
            "handlers": vec![json!({ "onUpdate": ["{name}"] }); handlers] },
            "initial": [{ "metadata": { "name": "a" } }] });
        let input = "{\"at\":1000000000000,\"op\":\"cut\"}";
        let text = format!("{HEADER}{{\"scenario\":{scenario}}}\n{input}\n");
        let mut session = Session::new();
        session.obey(Command::Open(vec![("a".to_owned(), text.into_bytes())]));
        let view = session.view();
        assert!(view.error.unwrap().message.en.contains("first 0 of 1"));
        view.steps
    };
    let (few, many) = (steps(64), steps(200));
    assert!(many < few && few < 120_000, "{many} {few}");
}
