//! Deltas: what happened to an object.

use std::fmt;

use super::object::Item;

/// The type of a change.
///
/// Upstream: `DeltaType` in
/// [`delta_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/delta_fifo.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeltaType {
    /// The object appeared.
    Added,
    /// The object changed.
    Updated,
    /// The object went away.
    Deleted,
    /// The object was in a list; whether it changed is not known.
    Replaced,
    /// The object is handed out again by a resync (or by a list, where `Replaced` is not emitted).
    Sync,
    /// A whole list at once (the atomic generation).
    ReplacedAll,
    /// A whole resync at once (the atomic generation).
    SyncAll,
    /// A newer resource version without a change (the atomic generation).
    Bookmark,
}

impl DeltaType {
    /// Upstream's name of it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "Added",
            Self::Updated => "Updated",
            Self::Deleted => "Deleted",
            Self::Replaced => "Replaced",
            Self::Sync => "Sync",
            Self::ReplacedAll => "ReplacedAll",
            Self::SyncAll => "SyncAll",
            Self::Bookmark => "Bookmark",
        }
    }
}

impl fmt::Display for DeltaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One change of one object.
#[derive(Debug)]
pub struct Delta<O> {
    /// What kind of change.
    pub delta_type: DeltaType,
    /// The object after it (for `Deleted`: the last state, or a tombstone).
    pub object: Item<O>,
}

impl<O> Clone for Delta<O> {
    fn clone(&self) -> Self {
        Self {
            delta_type: self.delta_type,
            object: self.object.clone(),
        }
    }
}

/// The changes of one object, oldest first.
pub type Deltas<O> = Vec<Delta<O>>;
