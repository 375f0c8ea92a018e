//! Recordings of runs, and the picture: a fold of a run's facts.

pub mod beat;
pub mod branches;
pub mod diff;
pub mod difference;
pub mod edit;
pub mod gauge;
pub mod headline;
pub mod heard;
pub mod invariants;
pub mod lessons;
pub mod link;
pub mod log;
pub mod moment;
pub mod occurrences;
pub mod picture;
pub mod playback;
pub mod predicate;
pub mod race;
pub mod recording;
pub mod scramble;
pub mod smallest;
pub mod step_size;
pub mod timeline;
pub mod trace;
pub mod wall;
pub mod writes;
