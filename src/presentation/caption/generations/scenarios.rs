//! The runs: the lessons, every refusal, directed scenarios, and random scenarios.

use deltascope_cache::controller::Generation;
use deltascope_cache::rng::Rng;
use deltascope_replay::lessons;
use deltascope_world::source::scenario::Scenario;
use serde_json::{Value, json};

use super::run::Run;

pub(super) fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    for (id, _) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        if lesson.scenario.settings.is_informer() {
            in_all(&mut runs, &id, &lesson.scenario, 500);
        } else {
            runs.push(Run::of(&id, lesson.scenario, 500));
        }
    }
    refusals(&mut runs);
    directed(&mut runs);
    for seed in 0..SEEDS {
        let scenario: Scenario = serde_json::from_value(faults(seed)).unwrap();
        in_all(&mut runs, &format!("seed {seed}"), &scenario, 900);
    }
    runs
}

const SEEDS: u64 = 80;

/// The same scenario in every generation.
fn in_all(runs: &mut Vec<Run>, name: &str, scenario: &Scenario, steps: usize) {
    for generation in Generation::ALL {
        let mut scenario = scenario.clone();
        scenario.settings.era = generation;
        runs.push(Run::of(name, scenario, steps));
    }
}

const REFUSALS: [&str; 7] = [
    "expired",
    "tooLarge",
    "tooManyRequests",
    "connectionRefused",
    "internalError",
    "forbidden",
    "invalid",
];

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

fn pod(rng: &mut Rng) -> Value {
    json!({ "metadata": {
        "namespace": pick(rng, &["a", "b"]),
        "name": format!("p{}", rng.below(5)),
        "labels": { "app": format!("app-{}", rng.below(3)) },
    } })
}

fn act(rng: &mut Rng, at: u64) -> Value {
    let mut act = match rng.below(24) {
        0..6 => json!({ "op": "create", "object": pod(rng) }),
        6..10 => json!({ "op": "update", "object": pod(rng) }),
        10..13 => json!({ "op": "delete", "object": pod(rng) }),
        13 => json!({ "op": "cut" }),
        14 => json!({ "op": "compact" }),
        15 => json!({ "op": "close" }),
        16 => json!({ "op": "bookmark" }),
        17..19 => json!({ "op": "error", "code": pick(rng, &[410, 429, 500]) }),
        19..22 => json!({
            "op": "refuse",
            "request": pick(rng, &["list", "watch"]),
            "with": pick(rng, &REFUSALS),
            "times": 1 + rng.below(3),
        }),
        22 => json!({ "op": "addHandler", "handler": { "name": "late" } }),
        _ => json!({ "op": "removeHandler", "handler": rng.below(3) }),
    };
    act["at"] = json!(at);
    act
}

/// A random scenario with many faults, for a shared or a plain informer.
fn faults(seed: u64) -> Value {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let shared = rng.chance(70);
    let mut at = 0;
    let script: Vec<Value> = (0..14)
        .map(|_| {
            at += rng.below(900);
            act(rng, at)
        })
        .filter(|act| shared || !matches!(act["op"].as_str(), Some("addHandler" | "removeHandler")))
        .collect();
    let handler = |rng: &mut Rng, name: &str| {
        let mut handler = json!({ "name": name, "onAdd": ["OnAdd: {name}"] });
        if shared {
            handler["latencyMs"] = json!(rng.below(4) * 60);
            handler["queues"] = json!(rng.chance(50));
            handler["resyncMs"] = json!(pick(rng, &[0, 1_000, 2_500]));
        }
        handler
    };
    let mut settings = json!({
        "machinery": if shared { "shared" } else { "plain" },
        "refusesStreaming": rng.chance(25),
        "pageSize": rng.below(3),
        "resyncMs": rng.below(3) * 1_000,
        "processMs": rng.below(2) * 120,
        "indices": ["namespace", "app"],
        "handlers": [handler(rng, "first"), handler(rng, "second")],
    });
    if rng.chance(50) {
        settings["watchList"] = json!(rng.chance(50));
    }
    if rng.chance(30) {
        settings["mode"] = json!(200);
    }
    if rng.chance(25) {
        settings["selector"] = json!("app in (app-0,app-2)");
    }
    if rng.chance(20) {
        settings["repeats"] = json!(["a/p0", "b/p3"]);
    }
    if rng.chance(20) {
        settings["transform"] = json!({ "rejects": "app=app-1" });
    }
    if rng.chance(20) {
        let requeue = rng.chance(50);
        settings["processFails"] = json!({ "at": "p1", "times": 1, "requeue": requeue });
    }
    if shared {
        settings["work"] = json!({ "latencyMs": 30, "failures": rng.below(3) });
        settings["mutationDetector"] = json!(rng.chance(20));
    }
    json!({
        "settings": settings,
        "initial": [
            { "metadata": { "namespace": "a", "name": "p0", "labels": { "app": "app-0" } } },
            { "metadata": { "namespace": "a", "name": "p1", "labels": { "app": "app-2" } } },
            { "metadata": { "namespace": "b", "name": "p3", "labels": { "app": "app-0" } } },
        ],
        "script": script,
    })
}

/// Every refusal, of every kind of request.
fn refusals(runs: &mut Vec<Run>) {
    for with in REFUSALS {
        for (request, streams) in [
            ("watch", false),
            ("watch", true),
            ("list", false),
            ("list", true),
        ] {
            let scenario = json!({
                "settings": {
                    "machinery": "shared", "watchList": streams, "handlers": [{ "name": "h" }],
                },
                "initial": [{ "metadata": { "name": "a" } }],
                "script": [
                    { "at": 0, "op": "refuse", "request": request, "with": with, "times": 2 },
                    { "at": 9_000, "op": "create", "object": { "metadata": { "name": "b" } } },
                    { "at": 9_900, "op": "refuse", "request": request, "with": with, "times": 2 },
                    { "at": 9_901, "op": "error", "code": 410 },
                ],
            });
            let scenario: Scenario = serde_json::from_value(scenario).unwrap();
            in_all(
                runs,
                &format!("{request} refused: {with}, {streams}"),
                &scenario,
                400,
            );
        }
    }
}

/// Scenarios of what the random ones do not reach.
fn directed(runs: &mut Vec<Run>) {
    let objects = |n: usize| -> Vec<Value> {
        let object = |n| json!({ "metadata": { "namespace": "a", "name": format!("p{n}") } });
        (0..n).map(object).collect()
    };
    let update = |at: u64, name: &str| json!({ "at": at, "op": "update", "object": { "metadata": { "namespace": "a", "name": name } } });
    let handlers = json!([{ "name": "h" }]);
    let all = [
        (
            "lists fail for minutes",
            json!({
                "settings": { "machinery": "shared", "watchList": false, "handlers": handlers },
                "initial": objects(2),
                "script": [
                    { "at": 0, "op": "refuse", "request": "list", "with": "forbidden", "times": 20 },
                ],
            }),
        ),
        (
            "slow",
            json!({
                "settings": { "machinery": "shared", "processMs": 150, "handlers": handlers },
                "initial": objects(14),
                "script": (0..14).map(|n| update(2_500 + n, &format!("p{n}"))).collect::<Vec<_>>(),
            }),
        ),
        (
            "resync behind changes",
            json!({
                "settings": {
                    "machinery": "shared", "mode": 700, "resyncMs": 1_000, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [update(3_900, "p0"), update(3_950, "p1"), update(3_960, "p0"), { "at": 9_000, "op": "cut" }],
            }),
        ),
        (
            "a token expires",
            json!({
                "settings": { "machinery": "shared", "watchList": false, "pageSize": 1, "handlers": handlers },
                "initial": objects(3),
                "script": [{ "at": 50, "op": "refuse", "request": "list", "with": "expired", "times": 1 }],
            }),
        ),
        (
            "no end of the initial events",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "withholdsInitialEventsEnd": true, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [{ "at": 35_000, "op": "close" }],
            }),
        ),
        (
            "transformed",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "transform": { "appends": "seen=x" }, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [update(900, "p0")],
            }),
        ),
        (
            "the store refuses a stream",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "transform": { "rejects": "bad=true" }, "handlers": handlers,
                },
                "initial": [{ "metadata": { "name": "a", "labels": { "bad": "true" } } }, { "metadata": { "name": "b" } }],
                "script": [update(900, "p0")],
            }),
        ),
        (
            "handlers that panic and write",
            json!({
                "settings": {
                    "machinery": "shared", "resyncMs": 4_000, "mutationDetector": true,
                    "handlers": [
                        { "name": "often", "resyncMs": 1_000, "panicsAt": "p0" },
                        { "name": "h", "mutates": "seen=yes" },
                    ],
                },
                "initial": objects(2),
                "script": [
                    update(900, "p0"),
                    { "at": 1_000, "op": "addHandler", "handler": { "name": "late", "resyncMs": 500 } },
                ],
            }),
        ),
        (
            "HasSynced inside Pop",
            json!({
                "settings": { "machinery": "plain", "handlers": [{ "name": "h", "callsHasSynced": true }] },
                "initial": objects(2),
                "script": [update(900, "p0")],
            }),
        ),
        (
            "slow inside Pop",
            json!({
                "settings": { "machinery": "plain", "processMs": 400, "handlers": handlers },
                "initial": objects(3),
                "script": [update(300, "p0"), update(310, "p1")],
            }),
        ),
    ];
    for (name, scenario) in all {
        let scenario: Scenario = serde_json::from_value(scenario).unwrap();
        in_all(runs, name, &scenario, 600);
    }
    let by_hand = |queue: &str, known: bool| {
        json!({
            "settings": {
                "feed": "program", "queue": queue, "store": true, "knownObjects": known, "mode": 300,
                "handlers": [{ "name": "h", "inline": true, "onAdd": ["OnAdd: {name}"] }],
            },
            "script": [
                { "at": 100, "op": "create", "object": { "metadata": { "name": "a", "resourceVersion": "1" } } },
                { "at": 110, "op": "create", "object": { "metadata": { "name": "b", "resourceVersion": "2" } } },
                { "at": 120, "op": "update", "object": { "metadata": { "name": "b", "resourceVersion": "3" } } },
                { "at": 130, "op": "delete", "object": { "metadata": { "name": "b" } } },
                { "at": 140, "op": "delete", "object": { "metadata": { "name": "b" } } },
                { "at": 150, "op": "create", "object": { "metadata": { "name": "b", "resourceVersion": "4" } } },
                { "at": 2_000, "op": "delete", "object": { "metadata": { "name": "a" } } },
                { "at": 2_010, "op": "delete", "object": { "metadata": { "name": "c" } } },
            ],
        })
    };
    for (queue, known) in [("DeltaFIFO", true), ("DeltaFIFO", false), ("FIFO", false)] {
        let scenario: Scenario = serde_json::from_value(by_hand(queue, known)).unwrap();
        runs.push(Run::of(queue, scenario, 400));
    }
}
