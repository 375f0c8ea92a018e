//! The maps and sets that remember the order of insertion, hashed with a fixed seed: the same in every run.

use std::hash::Hash;

use foldhash::fast::FixedState;

/// A map in the order of insertion.
#[allow(clippy::disallowed_types, reason = "this is the one")]
pub type Map<K, V> = indexmap::IndexMap<K, V, FixedState>;

/// A set in the order of insertion.
#[allow(clippy::disallowed_types, reason = "this is the one")]
pub type Set<T> = indexmap::IndexSet<T, FixedState>;

/// Up to so many entries keep their order when one of them is removed.
const ORDERED: usize = 4_096;

/// Removes an entry. Of thousands, whose order nobody sees, the last one takes its place: to move all that follow would cost more than
/// all else that an event does.
pub fn remove<K: Hash + Eq, V>(map: &mut Map<K, V>, key: &K) -> Option<V> {
    if map.len() > ORDERED {
        map.swap_remove(key)
    } else {
        map.shift_remove(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_keeps_the_order_of_few_and_moves_one_of_many() {
        for (count, third) in [(ORDERED, 3), (ORDERED + 1, ORDERED)] {
            let mut map: Map<usize, ()> = (0..count).map(|n| (n, ())).collect();
            assert_eq!(remove(&mut map, &2), Some(()));
            assert_eq!(map.keys().nth(2), Some(&third));
            assert_eq!((remove(&mut map, &2), map.len()), (None, count - 1));
        }
    }
}
