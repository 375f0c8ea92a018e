//! Tests of the cache: against its specification, against recordings of client-go, and against
//! itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cache;
mod conformance;
mod faults;
#[path = "../share/of_world.rs"]
mod of_world;
mod threads;
