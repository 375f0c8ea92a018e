//! What is selected on the stage, and the object that is followed.

use std::sync::Arc;

use deltascope_cache::key::Key;

use crate::anchor::Anchor;

/// Something on the stage that was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Where it was.
    pub anchor: Anchor,
    /// The object that it was about.
    pub key: Option<Key>,
    /// What put it there.
    pub found: Found,
}

/// What put something where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The fact at this place.
    Fact(usize),
    /// It was so from the start.
    Start,
    /// It happened longer ago than is looked for.
    LongAgo,
}

/// The passage of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Which.
    pub key: Key,
    /// How many facts are about it.
    pub count: usize,
    /// Some of them, each as the number of facts up to it, to be marked on the timeline.
    pub ticks: Arc<[u32]>,
}
