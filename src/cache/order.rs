//! The visible order of what client-go keeps in Go maps.

use std::hash::BuildHasher;

/// How things without an order of their own are listed.
///
/// client-go ranges over Go maps there, so any order is right; ours is chosen, and the same in
/// every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// As they lie: like `Insertion`, but a removal puts the last one into the gap. The fastest.
    #[default]
    Dense,
    /// As they came in. A removal costs time in proportion to what came in later.
    Insertion,
    /// By key, bytewise. Listing sorts.
    Key,
    /// Shuffled by this seed: what depends on an order by mistake shows with another seed. Listing
    /// sorts.
    Seeded(u64),
}

impl Order {
    /// Whether what lies in memory has to be sorted before it is shown.
    pub(super) fn sorts(self) -> bool {
        matches!(self, Self::Key | Self::Seeded(_))
    }

    /// Whether a removal has to keep the others in their order.
    pub(super) fn keeps_place(self) -> bool {
        self == Self::Insertion
    }

    /// Sorts, where this order needs it.
    pub(super) fn sort<T>(self, items: &mut [T], key: impl Fn(&T) -> &str) {
        if !self.sorts() {
            return;
        }
        let keys = items.iter().map(key).collect();
        let mut places = self.places(keys);
        for from in 0..items.len() {
            while places[from] != from {
                let to = places[from];
                items.swap(from, to);
                places.swap(from, to);
            }
        }
    }

    // Apart from what is sorted: a sort is some KB of a page, and this one serves all types.
    fn places(self, keys: Vec<&str>) -> Vec<usize> {
        let place = |key: &str| match self {
            Self::Seeded(seed) => foldhash::quality::FixedState::with_seed(seed).hash_one(key),
            Self::Dense | Self::Insertion | Self::Key => 0,
        };
        let mut sorted: Vec<_> = keys
            .into_iter()
            .enumerate()
            .map(|(from, key)| (place(key), key, from))
            .collect();
        sorted.sort_unstable();
        let mut places = vec![0; sorted.len()];
        for (to, (_, _, from)) in sorted.into_iter().enumerate() {
            places[from] = to;
        }
        places
    }
}
