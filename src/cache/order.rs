//! The visible order where client-go iterates over Go maps.

use std::hash::BuildHasher;

use super::sorted;

/// The listing order of collections that have no order of their own.
///
/// client-go ranges over Go maps there, so any order is correct. Ours is chosen, and the same in
/// every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Memory order: like `Insertion`, but a removal moves the last element into the gap. The
    /// fastest.
    #[default]
    Dense,
    /// Insertion order. A removal takes time proportional to the number of later insertions.
    Insertion,
    /// By key, bytewise. Listing sorts.
    Key,
    /// Shuffled by this seed: code that depends on the order by mistake behaves differently under
    /// another seed. Listing sorts.
    Seeded(u64),
}

impl Order {
    /// Whether elements must be sorted before they are listed.
    pub(super) fn sorts(self) -> bool {
        matches!(self, Self::Key | Self::Seeded(_))
    }

    /// Whether a removal must preserve the order of the remaining elements.
    pub(super) fn keeps_place(self) -> bool {
        self == Self::Insertion
    }

    /// Sorts the items, if this order requires it.
    pub fn sort<T>(self, items: &mut [T], key: impl Fn(&T) -> &str) {
        if !self.sorts() {
            return;
        }
        let keys = items.iter().map(key).collect();
        sorted::put(items, self.places(keys));
    }

    // Not generic: this one serves all types.
    fn places(self, keys: Vec<&str>) -> Vec<u32> {
        let place = |key: &str| match self {
            Self::Seeded(seed) => foldhash::quality::FixedState::with_seed(seed).hash_one(key),
            Self::Dense | Self::Insertion | Self::Key => 0,
        };
        let keyed: Vec<_> = keys.into_iter().map(|key| (place(key), key)).collect();
        sorted::places(keyed.len(), &mut |one, other| keyed[one].cmp(&keyed[other]))
    }
}
