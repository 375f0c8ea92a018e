//! Whole runs: worlds, timelines, sessions and exports.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod behind;
mod branches;
mod commands;
mod compare;
mod fold;
mod goals;
mod headlines;
mod heard;
mod lessons;
mod live;
mod log;
#[path = "../share/of_world.rs"]
mod of_world;
mod recorded;
mod scramble;
mod session;
mod share;
mod shelf;
mod simulation;
mod smallest;
mod stories;
mod tapped;
mod told;

use deltascope::presentation::command::Command;
use deltascope::presentation::session::Session;
use deltascope::presentation::state::state;
use deltascope::world::text::Lang;
use serde_json::Value;

fn open(lesson: &str) -> Session {
    let mut session = Session::new();
    session.obey(Command::Load(lesson.into()));
    session
}

fn now(session: &mut Session) -> Value {
    state(&session.view(), Lang::En)
}
