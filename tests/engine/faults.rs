//! Faults that a scenario can cause inside an informer, compared with recordings of the real
//! client-go.

use std::fs;

use deltascope::cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, NotificationRef, QueueFact, ReflectorFact,
};
use deltascope::cache::step::Step;
use deltascope::replay::picture::Picture;
use deltascope::world::source::scenario::Scenario;
use serde_json::{Value, json};

use crate::of_world::picture_of;

/// Runs a scenario; returns the facts and the final picture. Limits the number of facts, because an
/// object that is always rejected is listed for ever.
fn run(scenario: Value) -> (Vec<FactRecord>, Picture) {
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    let mut world = scenario.build().unwrap();
    let mut picture = Picture::start(&world);
    let mut facts = Vec::new();
    while facts.len() < 2_000 && world.step() {
        for record in world.drain() {
            picture.apply(&record);
            facts.push(record);
        }
        assert_eq!(picture, picture_of(&world), "after {:?}", facts.last());
    }
    (facts, picture)
}

fn recorded(subject: &str, name: &str) -> Vec<Value> {
    let path = format!("tests/conformance/{subject}/{name}.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// A handler's notifications: type, object, and whether it is in the initial list. Sorted, because
/// a recorded list has an order of its own.
fn notifications(facts: &[FactRecord]) -> Vec<String> {
    let mut notifications: Vec<String> = facts
        .iter()
        .filter_map(|record| match &record.fact {
            Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => {
                Some(notification)
            }
            _ => None,
        })
        .map(|notification| {
            let key = &notification.object().key;
            match notification {
                NotificationRef::Add {
                    is_in_initial_list, ..
                } => format!("add {key} {is_in_initial_list}"),
                NotificationRef::Update { .. } => format!("update {key}"),
                NotificationRef::Delete { .. } => format!("delete {key}"),
            }
        })
        .collect();
    notifications.sort();
    notifications
}

fn recorded_notifications(line: &Value, handler: &str) -> Vec<String> {
    let all = line["result"]["notifications"][handler].as_array();
    let mut notifications: Vec<String> = all
        .into_iter()
        .flatten()
        .map(
            |one| match (one[0].as_str().unwrap(), one[1].as_str().unwrap()) {
                ("add", key) => format!("add {key} {}", one[3]),
                (kind, key) => format!("{kind} {key}"),
            },
        )
        .collect();
    notifications.sort();
    notifications
}

#[test]
fn a_list_that_the_transform_rejects_causes_the_recorded_notifications() {
    for (era, name, informer, handler) in [
        ("1.32", "v032-plain-transformer", "plain", "h"),
        ("1.34", "v034-plain-transformer", "plain", "h"),
        ("1.35", "v035-plain-transformer", "plain", "h"),
        ("1.36", "v036-plain-transformer", "plain", "h"),
        ("1.32", "v032-transformer", "shared", "h1"),
        ("1.34", "v034-transformer", "shared", "h1"),
        ("1.35", "v035-transformer", "shared", "h1"),
        ("1.36", "transformer", "shared", "h1"),
    ] {
        let lines = recorded("informer", name);
        let lists: Vec<&Value> = lines.iter().filter(|line| line["op"] == "List").collect();
        let items = |list: &Value| {
            list["args"]["response"]["items"]
                .as_array()
                .unwrap()
                .clone()
        };
        // Delete what the second list lacks before it is requested.
        let kept = items(lists[1]);
        let kept: Vec<&Value> = kept.iter().map(|item| &item["metadata"]["name"]).collect();
        let gone = items(lists[0]).into_iter().filter(|item| {
            let labels = &item["metadata"]["labels"];
            labels["bad"] == "true" || !kept.contains(&&item["metadata"]["name"])
        });
        let script = gone.map(|object| json!({ "at": 100, "op": "delete", "object": object }));
        let (facts, _) = run(json!({
            "settings": {
                "machinery": informer, "era": era, "watchList": false,
                "transform": { "rejects": "bad=true", "appends": "seen=t" },
                "handlers": [{ "name": "h" }],
            },
            "initial": items(lists[0]),
            "script": script.collect::<Vec<_>>(),
        }));
        let asked: Vec<usize> = (0..facts.len())
            .filter(|place| {
                matches!(
                    facts[*place].fact,
                    Fact::Reflector(ReflectorFact::ListRequested { .. })
                )
            })
            .collect();
        assert_eq!(asked.len(), 2, "{name}");
        for (list, facts) in lists.iter().zip([&facts[..asked[1]], &facts[asked[1]..]]) {
            assert_eq!(
                notifications(facts),
                recorded_notifications(list, handler),
                "{name}"
            );
            let synced = facts
                .iter()
                .any(|record| record.fact == Fact::Queue(QueueFact::Synced));
            assert_eq!(json!(synced), list["state"]["hasSynced"], "{name}");
        }
    }
}

#[test]
fn the_temporary_store_of_a_streaming_list_transforms_as_recorded() {
    for (era, name, seen) in [
        ("1.32", "v032-watchlist-transformer", "t"),
        ("1.34", "watchlist-transformer", "tt"),
        ("1.35", "watchlist-transformer", "tt"),
        ("1.36", "watchlist-transformer", "tt"),
    ] {
        let (facts, picture) = run(json!({
            "settings": {
                "machinery": "shared", "era": era, "watchList": true, "indices": ["seen"],
                "transform": { "appends": "seen=t" },
            },
            "initial": [{ "metadata": { "namespace": "a", "name": "p0" } }],
        }));
        let lines = recorded("reflector", name);
        let calls = lines
            .iter()
            .find_map(|line| line["result"]["storeCalls"].as_array());
        let replaced = calls.unwrap()[0][2][0][1].as_str().unwrap();
        let kept = |record: &&FactRecord| {
            record.step == Step::ReflectorKeep
                && matches!(record.fact, Fact::Queue(QueueFact::Transformed { .. }))
        };
        let kept = facts.iter().filter(kept).count();
        assert_eq!(kept, usize::from(replaced.ends_with('t')), "{era}");
        let (_, values) = picture.store.indices.iter().next().unwrap();
        let values: Vec<&str> = values.keys().map(|value| &**value).collect();
        assert_eq!(values, [seen], "{era}");
    }
}

/// The queue of a DeltaFIFO in the picture, in the format of the recordings.
fn queue(picture: &Picture) -> Value {
    let queue = &picture.queue;
    let items = queue.deltas.iter().map(|(key, deltas)| {
        let deltas = deltas
            .iter()
            .map(|(kind, object)| json!([kind.as_str(), &*object.rv]));
        (key.to_string(), Value::from_iter(deltas))
    });
    let keys: Vec<String> = queue.keys.iter().map(ToString::to_string).collect();
    json!({ "queue": keys, "items": Value::from_iter(items) })
}

#[test]
fn a_failed_item_is_requeued_at_the_end_or_lost_as_recorded() {
    for (name, requeue, steps) in [
        ("v024-err-requeue", true, 5),
        ("pop-error", false, usize::MAX),
    ] {
        let lines = recorded("deltafifo", name);
        let (mut script, mut states, mut failures) = (Vec::new(), Vec::new(), 0);
        for line in lines[1..].iter().take(steps) {
            let op = match line["op"].as_str().unwrap() {
                "Add" => "create",
                "Update" => "update",
                "Pop" => "pop",
                _ => break,
            };
            let process = line["args"]["process"].as_str();
            failures += u8::from(matches!(process, Some("error" | "requeue")));
            let mut entry = json!({ "at": script.len() * 100, "op": op });
            if op != "pop" {
                entry["object"] = line["args"]["obj"].clone();
            }
            script.push(entry);
            states
                .push(json!({ "queue": line["state"]["queue"], "items": line["state"]["items"] }));
        }
        for (count, state) in (1..).zip(states) {
            let (_, picture) = run(json!({
                "settings": {
                    "feed": "program", "mode": "held",
                    "processFails": { "at": "p0", "times": failures, "requeue": requeue },
                },
                "script": script[..count],
            }));
            assert_eq!(queue(&picture), state, "{name}: after {count}");
        }
    }
}

#[test]
fn a_failed_process_function_loses_its_item_and_in_an_atomic_list_all_items() {
    for (era, requeue, lines, failed) in [
        (
            "1.32",
            true,
            ["OnAdd a", "OnAdd c", "OnAdd b"].as_slice(),
            0,
        ),
        ("1.32", false, &["OnAdd a", "OnAdd c"], 1),
        // RealFIFO does not support requeueing.
        ("1.34", true, &["OnAdd a", "OnAdd c"], 1),
        // In a batch, the other objects are still written and notified.
        ("1.35", true, &["OnAdd a", "OnAdd c"], 1),
        ("1.36", true, &[], 1),
    ] {
        let initial = ["a", "b", "c"].map(|name| json!({ "metadata": { "name": name } }));
        for informer in ["plain", "shared"] {
            let (facts, picture) = run(json!({
                "settings": {
                    "machinery": informer, "era": era, "watchList": false,
                    "processFails": { "at": "b", "requeue": requeue },
                    "handlers": [{ "onAdd": ["OnAdd {name}"] }],
                },
                "initial": initial,
            }));
            let context = format!("{era} {informer} {requeue}");
            let output: Vec<&str> = picture
                .output
                .iter()
                .map(|printed| &*printed.line)
                .collect();
            assert_eq!(output, lines, "{context}");
            assert_eq!(picture.store.items.len(), lines.len(), "{context}");
            assert!(picture.queue.synced, "{context}");
            let errors = facts.iter().filter_map(|record| match &record.fact {
                Fact::Queue(QueueFact::ProcessFailed { error }) => {
                    Some(error.contains("cannot process b"))
                }
                _ => None,
            });
            assert_eq!(errors.collect::<Vec<_>>(), vec![true; failed], "{context}");
        }
    }
}

#[test]
fn up_to_1_35_a_handler_that_calls_has_synced_inside_pop_deadlocks() {
    let lines = recorded("informer", "v036-plain-store-view");
    let list = lines.iter().find(|line| line["op"] == "List").unwrap();
    let seen = list["result"]["hasSyncedSeen"]["h"].as_array().unwrap();
    for era in ["1.32", "1.34", "1.35", "1.36"] {
        let (facts, picture) = run(json!({
            "settings": {
                "machinery": "plain", "era": era, "watchList": false,
                "handlers": [{ "callsHasSynced": true, "onAdd": ["{synced}"], "onUpdate": ["then {synced}"] }],
            },
            "initial": list["args"]["response"]["items"],
            "script": [{ "at": 500, "op": "update", "object": { "metadata": { "namespace": "b", "name": "p0" } } }],
        }));
        let itself = |record: &&FactRecord| match &record.fact {
            Fact::Queue(QueueFact::LockAwaited { by, holder, .. }) => by == holder,
            _ => false,
        };
        let (actors, output): (&[Actor], Vec<String>) = if era == "1.36" {
            let then = "then true".to_owned();
            (
                &[],
                seen.iter().map(Value::to_string).chain([then]).collect(),
            )
        } else {
            (&[Actor::ProcessLoop, Actor::Reflector], Vec::new())
        };
        assert_eq!(
            facts.iter().filter(itself).count(),
            usize::from(era != "1.36"),
            "{era}"
        );
        assert_eq!(picture.lock.waiting, actors, "{era}");
        assert_eq!(picture.lock.holder, actors.first().copied(), "{era}");
        let printed: Vec<String> = picture
            .output
            .iter()
            .map(|printed| printed.line.to_string())
            .collect();
        assert_eq!(printed, output, "{era}");
    }
}

#[test]
fn an_invalid_setting_is_reported_with_the_valid_ones() {
    for (settings, named) in [
        (json!({ "transform": { "rejects": "bad" } }), "label=value"),
        (
            json!({ "transform": { "prints": [] } }),
            "rejects, sets, appends",
        ),
        (
            json!({ "processFails": { "times": 2 } }),
            "needs the field \"at\"",
        ),
        (
            json!({ "processFails": { "at": "b", "times": 256 } }),
            "up to 255",
        ),
    ] {
        let scenario = json!({ "settings": settings });
        let error = serde_json::from_value::<Scenario>(scenario).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
}
