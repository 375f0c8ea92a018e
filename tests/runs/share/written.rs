//! Everything written reads back the same: scenarios, inputs, recordings and differences.

use deltascope::replay::difference::{apply, difference};
use deltascope::replay::lessons;
use deltascope::world::fields::{Put as _, Read};
use deltascope::world::source::scenario::{self, Entry, Scenario};
use deltascope::world::source::wire;
use deltascope::world::source::write;
use deltascope::world::virtual_time::Settings;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{debug, made};

/// The value after a round trip through text.
fn through_text(value: &Value) -> Value {
    serde_json::from_str(&value.to_string()).unwrap()
}

/// The names of all settings: an error lists them.
fn names(value: Value) -> Vec<String> {
    let error = Settings::read(value).unwrap_err().message();
    let (_, names) = error.split_once("there are: ").unwrap();
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn random_scenarios_have_every_setting() {
    let mut runner = TestRunner::deterministic();
    let mut random = || made::settings().new_tree(&mut runner).unwrap().current();
    let all: Vec<Value> = (0..200).map(|_| random().written()).collect();
    for (place, asked) in [
        ("", json!({"?": 0})),
        ("/handlers/0", json!({"handlers": [{"?": 0}]})),
        ("/prints", json!({"prints": {"?": 0}})),
        ("/transform", json!({"transform": {"?": 0}})),
        (
            "/processFails",
            json!({"processFails": {"?": 0, "at": "a"}}),
        ),
        ("/work", json!({"work": {"?": 0}})),
    ] {
        for name in names(asked) {
            let has_it = |one: &Value| one.pointer(&format!("{place}/{name}")).is_some();
            assert!(
                all.iter().any(has_it),
                "tests/share/made.rs makes no {place}/{name}"
            );
        }
    }
}

proptest! {
    #[test]
    fn a_scenario_reads_back_to_the_same(scenario in made::scenario()) {
        let read = Scenario::read(through_text(&scenario.written())).unwrap();
        prop_assert_eq!(debug(&read), debug(&scenario));
    }

    #[test]
    fn an_input_reads_back_to_the_same(at in 0..1_000_000_u64, input in made::input()) {
        let read = Entry::read(through_text(&scenario::input(at, &[], &input))).unwrap();
        prop_assert_eq!(read.at, at);
        prop_assert_eq!(debug(&read.input), debug(&input));
    }
}

#[test]
fn default_values_are_left_out_except_the_generation() {
    let written = Settings::default().written();
    assert_eq!(written, json!({ "era": "1.32" }));
    let said = json!({ "era": "1.36", "watchList": false, "mode": 0, "work": { "workers": 0 },
        "keySeparator": "", "handlers": [{ "resyncMs": 0, "filter": "" }] });
    let read = Settings::read(said.clone()).unwrap();
    assert_eq!(read.written(), said);
}

/// A word that changed would make another run of an old link, or none.
#[test]
fn the_words_of_the_kinds_stay_as_they_are() {
    for (field, words) in [
        ("feed", &["server", "recorded", "cluster", "program"][..]),
        (
            "machinery",
            &["handMade", "plain", "shared", "indexer", "client"],
        ),
        ("queue", &["DeltaFIFO", "FIFO"]),
    ] {
        for (place, word) in words.iter().enumerate() {
            let mut said = json!({ "era": "1.32", field: word });
            if *word == "FIFO" {
                said["feed"] = json!("program");
            }
            let read = Settings::read(said.clone()).unwrap();
            // The first is the default.
            if place == 0 {
                said = json!({ "era": "1.32" });
            }
            assert_eq!(read.written(), said, "{word}");
        }
        let error = Settings::read(json!({ field: "other" })).unwrap_err();
        let message = error.message();
        assert!(message.contains(&words.join(", ")), "{message}");
    }
}

#[test]
fn every_lesson_reads_back_to_the_same() {
    for (id, _) in lessons::menu() {
        let scenario = lessons::load(&id).unwrap().scenario;
        let mut read = Scenario::read(through_text(&scenario.written())).unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn a_difference_turns_one_value_into_the_other(from in made::json(), to in made::json()) {
        if let Some(change) = difference(&from, &to) {
            let mut made = from.clone();
            apply(&mut made, through_text(&change)).unwrap();
            prop_assert_eq!(made, to);
        }
    }

    #[test]
    fn any_change_is_applied_or_refused_without_a_panic(from in made::json(), change in made::json()) {
        let mut made = from;
        let _ = apply(&mut made, change);
    }
}
