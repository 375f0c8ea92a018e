//! The selected item of the stage, and the followed object.

use std::sync::Arc;

use deltascope_cache::key::Key;

use crate::anchor::Anchor;

/// An item of the stage that the user selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Its place.
    pub anchor: Anchor,
    /// Its object, if it has one.
    pub key: Option<Key>,
    /// The fact that put it there.
    pub found: Found,
}

/// The fact that put something in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The fact at this place.
    Fact(usize),
    /// It was there from the start.
    Start,
    /// It happened longer ago than the search goes back.
    LongAgo,
}

/// The facts about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its key.
    pub key: Key,
    /// How many facts are about it.
    pub count: usize,
    /// Some of these facts for the timeline, each as the number of facts up to it.
    pub ticks: Arc<[u32]>,
}
