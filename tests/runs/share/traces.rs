//! Traces: exported traces open again, old ones keep opening, and errors in a trace are reported.

use deltascope::cache::fact::{ProcessMode, Verb};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::presentation::command::{Command, Export, Fault};
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::state::state;
use deltascope::replay::edit::Setting;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::replay::trace::{self, Trace};
use deltascope::world::fields::LATEST_MS;
use deltascope::world::source::pod::PodSpec;
use deltascope::world::source::wire;
use deltascope::world::text::{Lang, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{HEADER, SCENARIO, all_lessons, debug, holds, made, touched};

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
fn an_input_keeps_its_position_whether_the_position_or_only_the_time_is_given() {
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

#[test]
fn an_error_in_a_trace_states_the_line_and_what_to_do() {
    let deep = format!("{}{}\n", "[".repeat(300), "]".repeat(300));
    let nested = json!({ "beside": [{ "beside": [{}] }] });
    let object = json!({ "metadata": { "name": "a" } });
    let wide = json!({ "beside": vec![json!({}); 50], "initial": vec![object; 1_100] });
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

/// A user's command on the page.
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
    let pod = || {
        (word(), word(), word(), word(), word()).prop_map(|(namespace, name, app, node, phase)| {
            let mut pod = PodSpec {
                namespace,
                name,
                node,
                phase,
                ..PodSpec::default()
            };
            pod.set_app(app);
            pod
        })
    };
    prop_oneof![
        word().prop_map(|key| typed::delete(&key)),
        pod().prop_map(|pod| typed::write(Verb::Create, pod.to_json())),
        pod().prop_map(|pod| typed::write(Verb::Update, pod.to_json())),
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
            Command::Fault(Fault::List(ApiErrorKind::Expired)),
            Command::Mode(ProcessMode::Held),
            Command::Mode(ProcessMode::Paced(u32::MAX)),
            typed::generation("1.36"),
            Command::DropEvent(3),
            typed::setting(&Setting::ResyncMs(0), "1000000000000"),
            typed::setting(&Setting::PageSize(0), "4294967295"),
        ]),
    ]
}

/// Found by `make soak`: a trace holds no later moment.
#[test]
fn a_run_ends_before_a_moment_that_a_trace_cannot_hold() {
    let mut session = Session::new();
    session.obey(Command::Load("resync-is-not-relist".into()));
    session.obey(Command::Set(Setting::ResyncMs(LATEST_MS)));
    session.obey(Command::Step(200));
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "name": "a" } }),
    ));
    let trace = session.export(Export::Trace).unwrap();
    let (read, error) = trace::read("a.jsonl", trace.as_bytes());
    assert_eq!(error, None, "{trace}");
    let last = read.unwrap().recording.inputs.pop().unwrap();
    assert!(last.at <= LATEST_MS, "{trace}");
}

proptest! {
    /// Also one that JSON's usual parsers round.
    #[test]
    fn a_trace_keeps_every_number(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
        let mut session = Session::new();
        let object = json!({ "metadata": { "namespace": "default", "name": "a" }, "spec": { "number": number } });
        session.obey(typed::inject("create", object.clone()));
        let trace = session.export(Export::Trace).unwrap();
        let (read, error) = trace::read("a.jsonl", trace.as_bytes());
        prop_assert_eq!(error, None);
        let recording = read.unwrap().recording;
        prop_assert_eq!(debug(&recording), debug(&session.timeline().recording()));
        let body = trace.lines().find(|line| line.contains("number")).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        prop_assert_eq!(&body["object"]["spec"], &object["spec"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    /// Whatever the user did: an exported trace opens again, and is the same run.
    #[test]
    fn an_exported_trace_opens_again(
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
            session.obey(typed::inject(op, object));
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

proptest! {
    // Each case runs worlds, so a quarter of the cases is enough.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn any_scenario_is_built_or_refused_without_a_panic(
        scenario in made::scenario(),
        inputs in proptest::collection::vec((0..20_000_u64, 0..900_usize, made::input()), 0..6),
    ) {
        let inputs = inputs.into_iter().map(|(at, after, input)| RecordedInput { after, at, input });
        let recording = Recording { scenario, inputs: inputs.collect() };
        // Not every scenario can be built; those are refused.
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
    fn a_corrupt_trace_is_read_up_to_the_error(
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
}

/// Old traces open to the same state: the file beside each trace holds the page's state when it is open.
#[test]
fn old_traces_keep_opening() {
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
        // The exported trace opens to the same state.
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
fn a_trace_with_an_unreachable_moment_opens_at_its_start() {
    // If the run ends earlier, its end is shown.
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
fn a_scenario_opens_as_a_file_alone_or_as_a_lesson() {
    for (text, title, objects) in [
        (r#"{"traffic":7}"#, "A scenario of this page", 0),
        (
            r#"{"title":"Mine","scenario":{"settings":{"machinery":"shared"},"initial":[{"metadata":{"name":"a"}}]}}"#,
            "Mine",
            1,
        ),
    ] {
        let mut session = Session::new();
        session.obey(Command::Open(vec![("a.json".into(), text.into())]));
        let view = session.view();
        assert_eq!(view.error, None, "{text}");
        assert_eq!(view.lesson.title.en.as_ref(), title);
        assert_eq!(session.scenario().initial.len(), objects);
    }
    let mut session = Session::new();
    let wrong = r#"{"settings":{"machinery":"steam"}}"#;
    session.obey(Command::Open(vec![("a.json".into(), wrong.into())]));
    let error = session.view().error.unwrap().message;
    assert!(error.en.contains("steam"), "{error:?}");
    // What is no scenario is refused as a recording.
    session.obey(Command::Open(vec![(
        "a.json".into(),
        b"{\"a\":1}".to_vec(),
    )]));
    let error = session.view().error.unwrap().message;
    assert!(!error.en.contains("scenario"), "{error:?}");
}
