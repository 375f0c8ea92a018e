//! Whole runs: worlds, timelines, sessions and exports.

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
