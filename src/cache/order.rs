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
        match self {
            Self::Dense | Self::Insertion => {}
            Self::Key => items.sort_unstable_by(|a, b| key(a).cmp(key(b))),
            Self::Seeded(seed) => {
                let state = foldhash::quality::FixedState::with_seed(seed);
                let place = |item: &T| state.hash_one(key(item));
                items.sort_unstable_by(|a, b| {
                    place(a).cmp(&place(b)).then_with(|| key(a).cmp(key(b)))
                });
            }
        }
    }
}
