//! Numbers for names: other data structures use a small number instead of the text.

use std::hash::{BuildHasher, Hasher};

use derive_where::derive_where;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::chunked_vec::ChunkedVec;

/// Assigns a number to each name, lowest first, and looks it up again. A released number is reused
/// for another name.
#[derive(Clone)]
#[derive_where(Default)]
pub(super) struct Interner<N> {
    /// The numbers, by the hashes of their names. Hashes are not stored: a growing table computes
    /// them again, once or twice per name, which saves their bytes for each cached object.
    table: HashTable<u32>,
    /// The names by number; `None` for a free number.
    names: ChunkedVec<Option<N>>,
    free: Vec<u32>,
}

/// A name that can have a number.
pub(super) trait Name {
    fn bytes(&self) -> &[u8];
}

impl Name for super::key::Key {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Name for std::sync::Arc<str> {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<N: Name> Interner<N> {
    /// With capacity for this many names.
    pub(super) fn with_capacity(names: usize) -> Self {
        Self {
            table: HashTable::with_capacity(names),
            ..Self::default()
        }
    }

    /// Reserves capacity for this many more names.
    pub(super) fn reserve(&mut self, names: usize) {
        let all = &self.names;
        self.table.reserve(names, |&number| rehash(all, number));
    }

    /// Number of names that have a number.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// The number of a name, by its bytes.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        self.table
            .find(hash(name), |&number| is_at(&self.names, number, name))
            .copied()
    }

    /// The number of a name, and whether it is new.
    pub(super) fn insert(&mut self, name: N) -> (u32, bool) {
        let hash = hash(name.bytes());
        let names = &self.names;
        if let Some(&number) = self
            .table
            .find(hash, |&number| is_at(names, number, name.bytes()))
        {
            return (number, false);
        }
        let number = self.free.pop().unwrap_or_else(|| count(self.table.len()));
        self.names.set(number, Some(name));
        let names = &self.names;
        self.table
            .insert_unique(hash, number, |&number| rehash(names, number));
        (number, true)
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> Option<&N> {
        self.names.get(number)?.as_ref()
    }

    /// Releases a number and returns its name.
    pub(super) fn remove(&mut self, number: u32) -> Option<N> {
        let name = self.names.get_mut(number)?.take()?;
        if let Ok(entry) = self
            .table
            .find_entry(hash(name.bytes()), |&other| other == number)
        {
            entry.remove();
        }
        self.free.push(number);
        Some(name)
    }
}

/// A number from a count: more than 2³² names would not fit into memory.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn hash(name: &[u8]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(name);
    hasher.finish()
}

fn is_at<N: Name>(names: &ChunkedVec<Option<N>>, number: u32, name: &[u8]) -> bool {
    matches!(names.get(number), Some(Some(other)) if other.bytes() == name)
}

fn rehash<N: Name>(names: &ChunkedVec<Option<N>>, number: u32) -> u64 {
    match names.get(number) {
        Some(Some(name)) => hash(name.bytes()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::key::Key;

    proptest! {
        #[test]
        fn assigns_each_name_one_number(
            steps in prop::collection::vec((any::<bool>(), 0..40_u32), 0..200),
        ) {
            let mut numbers = Interner::default();
            let mut naive: BTreeMap<String, u32> = BTreeMap::new();
            for (insert, name) in steps {
                let name = format!("some-namespace/pod-{name}");
                if insert {
                    let (number, new) = numbers.insert(Key::from(&*name));
                    match naive.get(&name) {
                        Some(known) => prop_assert_eq!((number, new), (*known, false)),
                        None => {
                            prop_assert!(new);
                            prop_assert!(naive.values().all(|taken| *taken != number));
                            // Small numbers keep the arrays that they index short.
                            prop_assert!(number < 40);
                            naive.insert(name, number);
                        }
                    }
                } else if let Some(number) = naive.remove(&name) {
                    prop_assert_eq!(numbers.remove(number), Some(Key::from(&*name)));
                    prop_assert_eq!(numbers.name(number), None);
                } else {
                    prop_assert_eq!(numbers.find(name.as_bytes()), None);
                }
                prop_assert_eq!(numbers.len(), naive.len());
                for (name, number) in &naive {
                    prop_assert_eq!(numbers.find(name.as_bytes()), Some(*number));
                    prop_assert_eq!(numbers.name(*number), Some(&Key::from(&**name)));
                }
            }
        }
    }
}
