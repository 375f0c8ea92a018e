//! Recordings, and the picture that is a fold of their facts.

pub mod picture;
pub mod playback;
pub mod recording;
pub mod timeline;
