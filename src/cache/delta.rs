//! Deltas: changes of an object.

use std::fmt;

use derive_where::derive_where;

use super::few::Few;
use super::object::Item;

/// The type of a change.
///
/// Upstream: `DeltaType` in
/// [`delta_fifo.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/delta_fifo.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeltaType {
    /// The object was added.
    Added,
    /// The object changed.
    Updated,
    /// The object was deleted.
    Deleted,
    /// The object was in a list; it may or may not have changed.
    Replaced,
    /// A resync delivers the object again (or a list does, if `Replaced` is not emitted).
    Sync,
    /// A whole list at once (the atomic generation).
    ReplacedAll,
    /// A whole resync at once (the atomic generation).
    SyncAll,
    /// A newer resource version without a change (the atomic generation).
    Bookmark,
}

impl DeltaType {
    /// All types.
    pub const ALL: [Self; 8] = [
        Self::Added,
        Self::Updated,
        Self::Deleted,
        Self::Replaced,
        Self::Sync,
        Self::ReplacedAll,
        Self::SyncAll,
        Self::Bookmark,
    ];

    /// The name in client-go.
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
#[derive_where(Clone)]
pub struct Delta<O> {
    /// The type of the change.
    pub delta_type: DeltaType,
    /// The object after the change (for `Deleted`: its last state, or a tombstone).
    pub object: Item<O>,
}

/// The changes of one object, oldest first.
pub type Deltas<O> = Few<Delta<O>>;
