//! The programs and the examples, each run as a process.

#[path = "../share/attacks.rs"]
mod attacks;
mod cli;
mod examples;
mod mdbook;
mod process;
