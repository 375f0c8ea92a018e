//! The programs and the examples, each run as a process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "../share/attacks.rs"]
mod attacks;
mod cli;
mod examples;
mod fuzz;
/// The HTTP client of the examples, for a controller in front of an API server.
#[cfg(unix)]
#[path = "../../examples/common/proxy.rs"]
mod http_client;
mod mdbook;
mod process;

#[cfg(unix)]
use kube_core::DynamicObject;
