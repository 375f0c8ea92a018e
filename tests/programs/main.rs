//! The programs, each as a process, and the examples.

#[path = "../share/attacks.rs"]
mod attacks;
mod cli;
mod examples;
mod mdbook;
