//! Limits on untrusted input; and expensive input is opened in slices.

use std::task::{Context, Poll, Waker};

use deltascope::presentation::command::Command;
use deltascope::presentation::session::{Session, opening};
use deltascope::presentation::state::state;
use deltascope::replay::link::Link;
use deltascope::replay::trace;
use deltascope::world::slices::{Slices, at_once};
use deltascope::world::source::wire;
use deltascope::world::text::{Lang, Text};
use serde_json::{Value, json};

use super::{HEADER, SCENARIO};

#[test]
fn a_recording_is_counted_once_for_each_informer_that_reads_it() {
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
    // The same in a link, where the recording is a part of the scenario.
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

/// The fragment of a link to a scenario with these inputs.
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

/// Small but expensive input is refused with what is wrong, where and what to do: as a link, as a trace and
/// as a scenario in a web page or a book.
#[test]
fn small_but_expensive_files_are_refused() {
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
                .map_err(Text::from)
                .unwrap_err()
                .en,
        ];
        for error in errors {
            let named = error.contains(&format!("{field:?}")) || error.contains(field);
            assert!(named && error.contains(words), "{field}: {error}");
            assert!(error.len() < 1_000, "{field}: {}", error.len());
        }
    }
    // A cluster's objects may have their own names, but no endless ones.
    let item = json!({ "item": { "metadata": { "name": long } } });
    let (_, error) = trace::read("a.jsonl", format!("{HEADER}{SCENARIO}{item}\n").as_bytes());
    assert!(error.unwrap().message.en.contains("the most is 4096"));
}

/// The result of a template is limited as well, and says so.
#[test]
fn a_filled_in_line_is_cut_at_its_limit() {
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
    let last = &picture.output.back().unwrap().line;
    // Go sorts the keys of a map that it prints, not the printed text.
    assert!(last.starts_with("map[namespace:map[a:map[a/p0:{} a/p1:{} a/p10:{} a/p100:{} "));
    assert!(last.ends_with("… (cut after 16384 bytes)"));
    assert!(
        picture
            .output
            .iter()
            .all(|printed| printed.line.len() < 17_000)
    );
}

/// Many small values take twenty times the memory of their text: such a file is read only up to a limit.
#[test]
fn the_memory_of_a_parsed_file_is_limited() {
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

/// Opens it with every possible pause; returns the number of pauses, and the most work done between two of
/// them.
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

/// Whatever is opened, the page regains control after each slice, and the result is the same.
#[test]
fn everything_opens_in_slices() {
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
    // (what is opened, a part of the error, the least number of pauses)
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
        // A pause for each printed line.
        (open(link_to(&many, &prints.join("\n"))), "", 2_000),
        (file(trace), "", 2_000),
        (file(log.join("\n")), "", 1_000),
        // A pause for each object, even if an error follows at the end.
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
    // An unreachable moment is not computed at all.
    let slices = Slices::whole();
    let far = open("#v1;lesson=sandbox;at=listed+4294967290".to_owned());
    assert!(at_once(opening::open(&far, &slices)).is_err());
    assert!(slices.done() < 20_000, "{}", slices.done());
}

#[test]
fn a_run_that_takes_too_long_is_cut_short() {
    // Beyond the end of any run, unordered, and never at the stated position.
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
    // A run that ends, but far too late.
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

#[test]
fn the_cost_of_many_handlers_is_limited_too() {
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
