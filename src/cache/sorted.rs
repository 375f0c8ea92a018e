//! The one sort, and a sorted map for a few entries, or for many that arrive in order.
//!
//! The map keeps its entries in one `Vec`. A `BTreeMap` is faster for thousands of entries, but each
//! instance of it adds five KB to the page's wasm, and the picture of a run uses a dozen.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::iter::Map;
use std::slice;
use std::vec;

use derive_where::derive_where;

/// Sorts the items; equals keep their order.
///
/// `[T]::sort` and its kin add some KB to the page's wasm for each type; this adds a loop.
pub fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let places = places(items.len(), &mut |one, other| {
        compare(&items[one], &items[other])
    });
    put(items, places);
}

/// The place of each of `count` items in their order; equals keep theirs.
pub(super) fn places(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<u32> {
    // More than 2³² items would not fit into memory.
    let mut sorted: Vec<u32> = (0..count as u32).collect();
    sorted.sort_unstable_by(|one, other| {
        compare(*one as usize, *other as usize).then(one.cmp(other))
    });
    let mut places = vec![0; count];
    for (to, from) in (0..).zip(sorted) {
        places[from as usize] = to;
    }
    places
}

/// Moves each item to its place.
pub(super) fn put<T>(items: &mut [T], mut places: Vec<u32>) {
    for from in 0..items.len() {
        while places[from] as usize != from {
            let to = places[from] as usize;
            items.swap(from, to);
            places.swap(from, to);
        }
    }
}

/// A map in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive_where(Default)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

/// The entries of a [`SortedMap`].
pub type Iter<'a, K, V> = Map<slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator {
        self.0.iter().map(|(_, value)| value)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// The value of `key`, mutable.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    /// The value of each of these keys. Neighbours are found without a search.
    pub fn all_of<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a K>,
    ) -> impl Iterator<Item = Option<&'a V>> {
        let mut next = 0;
        keys.map(move |key| {
            if self.0.get(next).is_none_or(|(other, _)| other != key) {
                next = self.place(key).ok()?;
            }
            next += 1;
            self.0.get(next - 1).map(|(_, value)| value)
        })
    }

    /// Number of keys that are smaller than `key`.
    pub fn rank<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.place(key).unwrap_or_else(|place| place)
    }

    /// Whether the map contains `key`.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of `key` and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// The value of `key`; inserts the default if there is none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.0.insert(place, (key, V::default()));
            place
        });
        &mut self.0[place].1
    }

    /// Sets the value of `key` if there is none.
    pub fn or_insert(&mut self, key: K, value: V) {
        if let Err(place) = self.place(&key) {
            self.0.insert(place, (key, value));
        }
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        // Most new entries come in order.
        if self.0.last().is_some_and(|(last, _)| last.borrow() < key) {
            return Err(self.0.len());
        }
        self.0
            .binary_search_by(|(other, _)| other.borrow().cmp(key))
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_as_std_does(mut items in prop::collection::vec((0..5u8, 0..200u8), 0..40)) {
            let mut like = items.clone();
            sort(&mut items, |one, other| one.0.cmp(&other.0));
            like.sort_by_key(|one| one.0);
            prop_assert_eq!(items, like);
        }

        #[test]
        fn behaves_like_a_btree_map(steps in prop::collection::vec((0..4u8, 0..12u8, 0..9u8), 0..40)) {
            let (mut map, mut like) = (SortedMap::new(), BTreeMap::new());
            for (what, key, value) in steps {
                match what {
                    0 => prop_assert_eq!(map.insert(key, value), like.insert(key, value)),
                    1 => prop_assert_eq!(map.remove(&key), like.remove(&key)),
                    2 => *map.or_default(key) += value,
                    _ => {
                        if let Some(one) = map.get_mut(&key) {
                            *one = value;
                        }
                    }
                }
                match what {
                    2 => *like.entry(key).or_default() += value,
                    3 => {
                        like.entry(key).and_modify(|one| *one = value);
                    }
                    _ => {}
                }
                prop_assert!(map.iter().eq(&like));
                prop_assert_eq!(map.get(&key), like.get(&key));
                // All of every third key, whether or not they are there.
                let some: Vec<u8> = (key % 3..12).step_by(3).collect();
                prop_assert!(map.all_of(some.iter()).eq(some.iter().map(|key| like.get(key))));
                let all: Vec<u8> = (0..12).collect();
                prop_assert!(map.all_of(all.iter()).flatten().eq(like.values()));
                prop_assert_eq!(map.contains_key(&key), like.contains_key(&key));
                prop_assert_eq!(map.rank(&key), like.range(..key).count());
            }
            prop_assert!(map.keys().eq(like.keys()) && map.values().eq(like.values()));
            let again: SortedMap<_, _> = like.into_iter().rev().collect();
            prop_assert_eq!(&again, &map);
            prop_assert_eq!(map.len(), again.into_iter().count());
        }
    }
}
