//! Whole runs: worlds, timelines, sessions, and what leaves the page.

mod branches;
mod compare;
mod fold;
mod lessons;
mod live;
mod log;
mod scramble;
mod session;
mod share;
mod simulation;
