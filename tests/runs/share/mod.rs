//! Sharing: everything written reads back the same, and untrusted input does no harm.

mod limits;
mod links;
mod traces;
mod written;

#[path = "../../share/made.rs"]
mod made;

use std::sync::Arc;

use deltascope::replay::lessons;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::world::fields::Read;
use deltascope::world::source::scenario::Entry;
use serde_json::{Value, json};

fn debug(what: &impl std::fmt::Debug) -> String {
    format!("{what:?}")
}

fn inputs_of(acts: &[(u64, Value)]) -> Vec<RecordedInput> {
    let entry = |(at, act): &(u64, Value)| {
        let mut act = act.clone();
        act["at"] = json!(at);
        RecordedInput {
            after: usize::MAX,
            at: *at,
            input: Entry::read(act).unwrap().input,
        }
    };
    acts.iter().map(entry).collect()
}

/// A lesson with some user inputs.
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

const HEADER: &str = "{\"deltascope\":1}\n";
const SCENARIO: &str = "{\"scenario\":{\"settings\":{\"feed\":\"server\"},\"traffic\":7}}\n";

/// Whether `found` contains everything in `said`; it may contain more.
fn holds(said: &Value, found: &Value) -> bool {
    match (said, found) {
        (Value::Object(said), Value::Object(found)) => (said.iter())
            .all(|(name, said)| found.get(name).is_some_and(|found| holds(said, found))),
        _ => said == found,
    }
}
