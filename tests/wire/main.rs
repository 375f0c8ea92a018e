//! Decoding of API servers' answers: over a connection and from files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod proxy;
mod wire;
