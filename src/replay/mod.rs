//! Recordings, and the picture that is a fold of their facts.

pub mod branches;
pub mod edit;
pub mod monitors;
pub mod picture;
pub mod playback;
pub mod recording;
pub mod timeline;
