//! The maps and sets that remember the order of insertion, hashed with a fixed seed: the same in every run.

use foldhash::fast::FixedState;

/// A map in the order of insertion.
#[allow(clippy::disallowed_types, reason = "this is the one")]
pub type Map<K, V> = indexmap::IndexMap<K, V, FixedState>;

/// A set in the order of insertion.
#[allow(clippy::disallowed_types, reason = "this is the one")]
pub type Set<T> = indexmap::IndexSet<T, FixedState>;
