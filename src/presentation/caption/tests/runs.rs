//! Every step of whole runs: the lessons, all generations, and a run with most of what can happen.

use std::collections::BTreeSet;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Fact, FactRecord, HandlersFact};
use deltascope_replay::picture::Picture;

use super::check;
use crate::caption::say::is_chinese;
use crate::caption::spans::plain;
use crate::caption::words;
use deltascope_world::text::Lang;

#[test]
fn every_lesson_has_words_and_a_listing_at_every_step() {
    use deltascope_replay::lessons;

    for (id, title) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        for text in [&title, &lesson.note] {
            let chinese: Vec<char> = text.get(Lang::Zh).chars().collect();
            assert!(
                !chinese.windows(2).any(|pair| {
                    is_chinese(pair[0]) && matches!(pair[1], ',' | ':' | ';' | '(' | '?')
                }),
                "{id}: {}",
                text.get(Lang::Zh)
            );
        }
        follow(&id, lesson.scenario, 400);
    }
}

#[test]
fn every_generation_has_words_and_a_listing_at_every_step() {
    use deltascope_world::source::pod::PodSpec;
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::virtual_time::{HandlerSettings, InformerKind, Settings, WorkSettings};

    let handler = |name: &str, resync_ms| HandlerSettings {
        name: name.into(),
        resync_ms: Some(resync_ms),
        ..HandlerSettings::default()
    };
    let script = r#"[
        {"at": 400, "op": "create", "object": {"metadata": {"namespace": "a", "name": "x"}}},
        {"at": 900, "op": "update", "object": {"metadata": {"namespace": "a", "name": "x"}}},
        {"at": 1500, "op": "bookmark"},
        {"at": 1600, "op": "refuse", "request": "watch", "with": "tooManyRequests", "times": 1},
        {"at": 1700, "op": "close"},
        {"at": 3000, "op": "addHandler", "handler": {"name": "late"}},
        {"at": 3600, "op": "removeHandler", "handler": 2},
        {"at": 4000, "op": "delete", "object": {"metadata": {"namespace": "a", "name": "x"}}},
        {"at": 5000, "op": "refuse", "request": "list", "with": "tooLarge", "times": 1},
        {"at": 5050, "op": "error", "code": 410}
    ]"#;
    for generation in GENERATIONS {
        for streams in [false, true] {
            let settings = Settings {
                informer: InformerKind::Shared,
                era: generation,
                watch_list: Some(streams),
                page_size: 2,
                resync_ms: 1_000,
                indices: vec!["namespace".into()],
                handlers: vec![
                    HandlerSettings {
                        queues: true,
                        mutates: Some("seen=yes".into()),
                        ..handler("first", 1_000)
                    },
                    HandlerSettings {
                        panics_at: Some("x".into()),
                        ..handler("second", 0)
                    },
                ],
                mutation_detector: true,
                work: Some(WorkSettings {
                    failures: 1,
                    ..WorkSettings::default()
                }),
                ..Settings::default()
            };
            let object = |key| PodSpec::of(key).into_object().into();
            let scenario = Scenario {
                settings,
                initial: ["a/p", "a/q", "a/r"].map(object).to_vec(),
                script: serde_json::from_str(script).unwrap(),
                ..Scenario::default()
            };
            let name = format!("{}, streams = {streams}", generation.as_str());
            let said = follow(&name, scenario, 1_500);
            let has = |words: &str| said.contains(words);
            // A feature of some generations occurs only in their captions.
            let real = generation != Generation::Classic;
            assert_eq!(has("OnDelete is called even for one"), real, "{name}");
            let batches = generation >= Generation::Batched;
            let looked_up = "Nothing is written yet";
            assert!(batches || !has(looked_up), "{name}");
            let atomic = generation == Generation::Atomic;
            assert_eq!(has("became one ReplacedAll entry"), atomic, "{name}");
            assert_eq!(has("It processes without the lock"), atomic, "{name}");
            assert_eq!(has("The streaming list is open"), streams, "{name}");
            assert_eq!(has("asked for the next page"), !streams, "{name}");
        }
    }
}

const GENERATIONS: [Generation; 4] = [
    Generation::Classic,
    Generation::InOrder,
    Generation::Batched,
    Generation::Atomic,
];

/// Checks the captions and the listing at each step of a run; returns the English captions.
fn follow(
    id: &str,
    scenario: deltascope_world::source::scenario::Scenario,
    steps: usize,
) -> String {
    use deltascope_replay::timeline::Timeline;
    use std::fmt::Write;

    let mut all = String::new();
    let mut timeline = Timeline::new(scenario).unwrap();
    timeline.extend(steps);
    let facts = timeline.all_facts().to_vec();
    let mut picture = timeline.picture(0);
    for (index, record) in facts.iter().enumerate() {
        picture.apply(record);
        let recent = &facts[(index + 1).saturating_sub(160)..=index];
        for lang in [Lang::En, Lang::Zh] {
            let said = words(record, recent, &picture, lang);
            // A program may print any text.
            if !matches!(
                record.fact,
                Fact::Handlers(HandlersFact::LinePrinted { .. })
            ) {
                check(&said, lang, &record.fact);
            }
            let what = plain(&said.what);
            assert!(
                !what.to_lowercase().contains("handler handler") && !what.contains("handler your"),
                "{id}: {what}"
            );
            if lang == Lang::En {
                writeln!(all, "{what} | {}", plain(&said.why)).unwrap();
            }
        }
        let listing = crate::pseudo::listing(recent, &picture);
        let current = listing.lines.iter().filter(|line| line.current).count();
        assert_eq!(current, 1, "{id}: {record:?}");
    }
    all
}

/// A run with most of what can happen: a held and a free process loop, a cut, a 410, a missed delete.
fn run(known: bool, source: &str) -> Vec<(FactRecord, Vec<FactRecord>, Picture)> {
    use deltascope_replay::timeline::Timeline;
    use deltascope_world::source::scenario::Scenario;

    let pod = |name: &str, app: &str| {
        serde_json::json!({
            "metadata": {"namespace": "default", "name": name, "labels": {"app": app}},
        })
    };
    let act = |at: u64, op: &str, object| serde_json::json!({"at": at, "op": op, "object": object});
    let scenario: Scenario = serde_json::from_value(serde_json::json!({
        "settings": {
            "feed": source,
            "store": true,
            "knownObjects": known,
            "processMs": 600,
            "emitDeltaTypeReplaced": true,
            "indices": ["namespace", "app"],
            "handlers": [
                {"name": "first", "onAdd": ["OnAdd: {name}"], "onDelete": ["OnDelete: {name}"]},
                {"name": "second", "latencyMs": 900},
                {"name": "inside", "inline": true, "onUpdate": ["OnUpdate: {name}"]},
            ],
        },
        "initial": [pod("web-0", "web"), pod("web-1", "web")],
        "script": [
            act(1000, "create", pod("db", "db")),
            {"at": 1500, "op": "mode", "mode": "held"},
            act(1600, "update", pod("db", "web")),
            act(1700, "update", pod("db", "db")),
            act(1800, "delete", pod("web-1", "")),
            {"at": 1900, "op": "pop"},
            {"at": 2000, "op": "mode", "mode": "free"},
            {"at": 3000, "op": "cut"},
            act(3010, "delete", pod("web-0", "")),
            {"at": 3020, "op": "compact"},
            act(3030, "create", pod("db", "db")),
            {"at": 6000, "op": "knownObjects", "on": true},
        ],
    }))
    .unwrap();
    let mut timeline = Timeline::new(scenario).unwrap();
    timeline.extend(500);
    let facts = timeline.all_facts().to_vec();
    (1..=facts.len())
        .map(|step| {
            (
                facts[step - 1].clone(),
                facts[step.saturating_sub(160)..step].to_vec(),
                timeline.picture(step),
            )
        })
        .collect()
}

#[test]
fn a_real_run_has_words_and_a_listing_at_every_step() {
    let mut met = BTreeSet::new();
    for (known, source) in [(true, "server"), (false, "server"), (false, "program")] {
        for (record, recent, picture) in run(known, source) {
            met.insert(record.fact.name());
            for lang in [Lang::En, Lang::Zh] {
                let said = words(&record, &recent, &picture, lang);
                check(&said, lang, &record.fact);
            }
            let listing = crate::pseudo::listing(&recent, &picture);
            assert_eq!(
                listing.lines.iter().filter(|line| line.current).count(),
                1,
                "{record:?}"
            );
        }
    }
    for kind in [
        "DeleteIgnored",
        "DeletionDetected",
        "WatchRefused",
        "Called",
        "LockAwaited",
    ] {
        assert!(met.contains(kind), "no run has a {kind}: {met:?}");
    }
}
