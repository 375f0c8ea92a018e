//! The visible order where client-go iterates over Go maps.

use std::hash::BuildHasher;

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
        let place = |key: &str| match self {
            Self::Seeded(seed) => foldhash::quality::FixedState::with_seed(seed).hash_one(key),
            Self::Dense | Self::Insertion | Self::Key => 0,
        };
        sort_by_rank(items, |item| {
            let key = key(item);
            (place(key), key)
        });
    }
}

/// Sorts items by a number, and by a text where the numbers are equal; equal items stay in their order.
pub fn sort_by_rank<T>(items: &mut [T], rank: impl Fn(&T) -> (u64, &str)) {
    let mut places = places(items.iter().map(rank).collect());
    for from in 0..items.len() {
        while places[from] != from {
            let to = places[from];
            items.swap(from, to);
            places.swap(from, to);
        }
    }
}

// Not generic: each instance of a sort adds some KB to the page's wasm, and this one serves all
// types.
fn places(ranks: Vec<(u64, &str)>) -> Vec<usize> {
    let mut sorted: Vec<_> = ranks
        .into_iter()
        .enumerate()
        .map(|(from, (number, text))| (number, text, from))
        .collect();
    sorted.sort_unstable();
    let mut places = vec![0; sorted.len()];
    for (to, (_, _, from)) in sorted.into_iter().enumerate() {
        places[from] = to;
    }
    places
}
