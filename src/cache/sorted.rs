//! A sorted map whose copies share what is the same.
//!
//! It keeps its entries in chunks. A copy shares them, and a change copies the chunk that it falls into: a run has many
//! pictures of a large store, and each differs from the next by a few entries. A `BTreeMap` shares nothing, and each
//! instance of it adds five KB to the page's wasm; the picture of a run uses a dozen.

use std::borrow::Borrow;
use std::iter::FlatMap;
use std::slice;
use std::sync::Arc;
use std::vec;

use derive_where::derive_where;

/// The most entries of a chunk. A test has few entries.
const CHUNK: usize = if cfg!(test) { 4 } else { 128 };

type Chunk<K, V> = Arc<Vec<(K, V)>>;

/// A chunk, and a place in it.
type Place = (usize, usize);

/// A map in the order of its keys.
#[derive(Clone, Debug)]
#[derive_where(Default)]
pub struct SortedMap<K, V> {
    /// None is empty.
    chunks: Vec<Chunk<K, V>>,
    len: usize,
}

/// The entries of a [`SortedMap`].
#[derive(Clone, Debug)]
pub struct Iter<'a, K, V> {
    chunks: slice::Iter<'a, Chunk<K, V>>,
    first: slice::Iter<'a, (K, V)>,
    last: slice::Iter<'a, (K, V)>,
    left: usize,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        while self.first.as_slice().is_empty() {
            self.first = match self.chunks.next() {
                Some(chunk) => chunk.iter(),
                None => std::mem::take(&mut self.last),
            };
        }
        self.first.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        while self.last.as_slice().is_empty() {
            self.last = match self.chunks.next_back() {
                Some(chunk) => chunk.iter(),
                None => std::mem::take(&mut self.first),
            };
        }
        self.last.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let mut chunks = self.chunks.iter().zip(&other.chunks);
        self.len == other.len
            && (chunks.all(|(one, other)| Arc::ptr_eq(one, other)) || self.iter().eq(other.iter()))
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter {
            chunks: self.chunks.iter(),
            first: [].iter(),
            last: [].iter(),
            left: self.len,
        }
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.iter().map(|(key, _)| key)
    }

    /// The values in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator {
        self.iter().map(|(_, value)| value)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    fn entry(&self, (chunk, at): Place) -> Option<&(K, V)> {
        self.chunks.get(chunk)?.get(at)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.entry(place).map(|(_, value)| value)
    }

    /// The value of each of these keys. Neighbours are found without a search.
    pub fn all_of<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a K>,
    ) -> impl Iterator<Item = Option<&'a V>> {
        let mut next = (0, 0);
        keys.map(move |key| {
            if self.entry(next).is_none_or(|(other, _)| other != key) {
                next = self.place(key).ok()?;
            }
            let found = self.entry(next);
            next.1 += 1;
            if self.entry(next).is_none() {
                next = (next.0 + 1, 0);
            }
            found.map(|(_, value)| value)
        })
    }

    /// Number of keys that are smaller than `key`.
    pub fn rank<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        let (chunk, at) = self.place(key).unwrap_or_else(|place| place);
        let before = self.chunks.iter().take(chunk);
        before.map(|chunk| chunk.len()).sum::<usize>() + at
    }

    /// Whether the map contains `key`.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        let ends_before = |chunk: &Chunk<K, V>| {
            let last = chunk.last();
            last.is_some_and(|(last, _)| last.borrow() < key)
        };
        // Most new entries come in order.
        let chunk = match self.chunks.last() {
            Some(last) if !ends_before(last) => self.chunks.partition_point(ends_before),
            _ => self.chunks.len(),
        };
        let Some(entries) = self.chunks.get(chunk) else {
            return Err((chunk, 0));
        };
        match entries.binary_search_by(|(other, _)| other.borrow().cmp(key)) {
            Ok(at) => Ok((chunk, at)),
            Err(at) => Err((chunk, at)),
        }
    }
}

impl<K: Ord + Clone, V: Clone> SortedMap<K, V> {
    /// The value of `key`, mutable.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.value_mut(place))
    }

    /// Sets the value of `key` and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(self.value_mut(place), value)),
            Err(place) => {
                self.add(place, key, value);
                None
            }
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (chunk, at) = self.place(key).ok()?;
        let entries = Arc::make_mut(&mut self.chunks[chunk]);
        let (_, value) = entries.remove(at);
        if entries.is_empty() {
            self.chunks.remove(chunk);
        }
        self.len -= 1;
        Some(value)
    }

    /// The value of `key`; inserts the default if there is none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.place(&key);
        let place = place.unwrap_or_else(|place| self.add(place, key, V::default()));
        self.value_mut(place)
    }

    /// Sets the value of `key` if there is none.
    pub fn or_insert(&mut self, key: K, value: V) {
        if let Err(place) = self.place(&key) {
            self.add(place, key, value);
        }
    }

    fn value_mut(&mut self, (chunk, at): Place) -> &mut V {
        &mut Arc::make_mut(&mut self.chunks[chunk])[at].1
    }

    /// Adds an entry, and returns its place. Entries that come in order leave no chunk half empty.
    fn add(&mut self, (mut chunk, mut at): Place, key: K, value: V) -> Place {
        if let Some(entries) = self.chunks.get_mut(chunk) {
            if entries.len() == CHUNK {
                let rest = Arc::make_mut(entries).split_off(CHUNK / 2);
                self.chunks.insert(chunk + 1, Arc::new(rest));
                if at > CHUNK / 2 {
                    (chunk, at) = (chunk + 1, at - CHUNK / 2);
                }
            }
        } else {
            match self.chunks.last() {
                Some(last) if last.len() < CHUNK => (chunk, at) = (chunk - 1, last.len()),
                _ => self.chunks.push(Arc::default()),
            }
        }
        Arc::make_mut(&mut self.chunks[chunk]).insert(at, (key, value));
        self.len += 1;
        (chunk, at)
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord + Clone, V: Clone, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
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

impl<K: Clone, V: Clone> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter =
        FlatMap<vec::IntoIter<Chunk<K, V>>, Vec<(K, V)>, fn(Chunk<K, V>) -> Vec<(K, V)>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flat_map(Arc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_btree_map(steps in prop::collection::vec((0..4u8, 0..12u8, 0..9u8), 0..40)) {
            let (mut map, mut like) = (SortedMap::new(), BTreeMap::new());
            let (mut copy, mut copied) = (map.clone(), like.clone());
            for (what, key, value) in steps {
                if value == 0 {
                    (copy, copied) = (map.clone(), like.clone());
                }
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
                prop_assert!(map.iter().rev().eq(like.iter().rev()));
                prop_assert!(copy.iter().eq(&copied));
                prop_assert_eq!(copy == map, copied == like);
                let mut ends = map.iter();
                let last = ends.next_back();
                prop_assert_eq!(ends.len() + usize::from(last.is_some()), like.len());
                prop_assert_eq!(ends.chain(last).count(), like.len());
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
