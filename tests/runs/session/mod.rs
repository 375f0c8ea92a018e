//! The effects of a user's commands, without a browser.

mod clicks;
mod informer;
mod opening;
mod search;
mod settings;
mod why;

use deltascope::presentation::command::Command;
use deltascope::presentation::session::Session;
use deltascope::replay::lessons;
use serde_json::{Value, json};

use crate::{now, open};

fn end(session: &mut Session) -> Value {
    session.obey(Command::Seek(usize::MAX));
    now(session)
}

/// A shared informer with a slow handler; two pods at the start, another one and an update later.
fn informer() -> Session {
    let pod = |name: &str, phase: &str| {
        json!({ "metadata": { "namespace": "shop", "name": name, "labels": { "app": name } },
            "status": { "phase": phase } })
    };
    let lesson = json!({
        "id": "informer", "title": { "en": "", "zh": "" }, "note": { "en": "", "zh": "" },
        "era": "1.32",
        "scenario": {
            "settings": { "machinery": "shared", "indices": ["app"], "handlers": [
                { "name": "slow", "latencyMs": 900, "onAdd": ["+ {name}"], "onUpdate": ["~ {name}"],
                  "onDelete": ["- {name}"] }
            ] },
            "initial": [pod("a", "Running"), pod("b", "Running")],
            "script": [
                { "at": 2000, "op": "create", "object": pod("c", "Pending") },
                { "at": 3000, "op": "update", "object": pod("c", "Running") }
            ]
        }
    });
    let mut session = Session::new();
    session.open(lessons::inline(lesson).unwrap());
    session
}
