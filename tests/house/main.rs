//! Checks the structure of the code, and that the books match it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod books;
mod map;
mod scripts;
mod tidy;
