//! Numbers for names: other data structures use a small number instead of the text.

use derive_where::derive_where;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::chunked_vec::ChunkedVec;
use super::key::{Key, hash};

/// Assigns a number to each name, lowest first, and looks it up again. A released number is reused
/// for another name. Each name has a value beside it, so that both come with one load from memory.
#[derive(Clone)]
#[derive_where(Default)]
pub(super) struct Interner<N, V = ()> {
    /// The numbers, by the hashes of their names. Hashes are not stored: with them, the table would
    /// not stay in the CPU's cache for as many objects.
    table: HashTable<u32>,
    /// By number; `None` for a free number.
    rows: ChunkedVec<Option<(N, V)>>,
    free: Vec<u32>,
}

/// What [`Interner::insert`] has done.
pub(super) struct Inserted<'a, N, V> {
    pub(super) number: u32,
    pub(super) name: &'a N,
    pub(super) value: &'a mut V,
    /// The value that was not needed: the name had a number.
    pub(super) given: Option<V>,
}

/// A name that can have a number. Its default needs no memory.
pub(super) trait Name: Default + Eq {
    fn bytes(&self) -> &[u8];

    /// The hash of its bytes.
    #[inline]
    fn hashed(&self) -> u64 {
        hash(self.bytes())
    }
}

impl Name for Key {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    #[inline]
    fn hashed(&self) -> u64 {
        Key::hashed(self)
    }
}

impl Name for std::sync::Arc<str> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<N: Name, V> Interner<N, V> {
    /// With capacity for this many names.
    pub(super) fn with_capacity(names: usize) -> Self {
        let mut interner = Self::default();
        interner.reserve(names);
        interner
    }

    /// Reserves capacity for this many more names.
    pub(super) fn reserve(&mut self, names: usize) {
        let rows = &self.rows;
        self.table.reserve(names, |&number| rehash(rows, number));
    }

    /// Doubles a full table, quadruples a small one, and reads the names for it in their order: `HashTable` itself
    /// reads them in that of the hashes, which no CPU predicts.
    #[cold]
    fn grow(&mut self) {
        /// Up to here, room costs little, and each name is hashed 1.3 times instead of twice.
        const SMALL: usize = 4096;
        let length = self.table.len();
        let times = if length < SMALL { 4 } else { 2 };
        let mut table = HashTable::with_capacity(times * length);
        for number in 0..count(self.rows.len()) {
            if let Some(name) = self.name(number) {
                table.insert_unique(name.hashed(), number, |_| 0);
            }
        }
        self.table = table;
    }

    /// Number of names that have a number.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// The number of a name.
    pub(super) fn number(&self, name: &N) -> Option<u32> {
        let is = |&number: &u32| self.name(number) == Some(name);
        self.table.find(name.hashed(), is).copied()
    }

    /// The number of a name, by its bytes.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        let is = |&number: &u32| is_at(&self.rows, number, name);
        self.table.find(hash(name), is).copied()
    }

    /// Most likely the number of a name, without reading the name there.
    pub(super) fn guess(&self, name: &N) -> Option<u32> {
        self.table.find(name.hashed(), |_| true).copied()
    }

    /// The number of a name, and its row. A new one is taken, and has this value; otherwise the value is given back.
    pub(super) fn insert(&mut self, name: &mut N, value: V) -> Option<Inserted<'_, N, V>> {
        let length = self.table.len();
        // Not where most numbers are free.
        if length == self.table.capacity() && self.rows.len() <= 2 * length {
            self.grow();
        }
        let rows = &self.rows;
        let entry = self.table.entry(
            name.hashed(),
            |&number| matches!(rows.get(number), Some(Some((other, _))) if *other == *name),
            |&number| rehash(rows, number),
        );
        let (number, given) = match entry {
            Entry::Occupied(entry) => (*entry.get(), Some(value)),
            Entry::Vacant(entry) => {
                let row = Some((std::mem::take(name), value));
                let number = match self.free.pop() {
                    Some(number) => {
                        *self.rows.get_mut(number)? = row;
                        number
                    }
                    None => {
                        self.rows.push(row);
                        count(length)
                    }
                };
                entry.insert(number);
                (number, None)
            }
        };
        let (name, value) = self.row_mut(number)?;
        Some(Inserted {
            number,
            name,
            value,
            given,
        })
    }

    /// The name and the value of a number.
    pub(super) fn row(&self, number: u32) -> Option<&(N, V)> {
        self.rows.get(number)?.as_ref()
    }

    /// The name and, mutable, the value of a number.
    pub(super) fn row_mut(&mut self, number: u32) -> Option<(&N, &mut V)> {
        let (name, value) = self.rows.get_mut(number)?.as_mut()?;
        Some((name, value))
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> Option<&N> {
        Some(&self.row(number)?.0)
    }

    /// Releases a number and returns its name and value.
    pub(super) fn remove(&mut self, number: u32) -> Option<(N, V)> {
        let row = self.rows.get_mut(number)?.take()?;
        let hash = row.0.hashed();
        if let Ok(entry) = self.table.find_entry(hash, |&other| other == number) {
            entry.remove();
        }
        self.free.push(number);
        Some(row)
    }
}

/// A number from a count: more than 2³² names would not fit into memory.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn rehash<N: Name, V>(rows: &ChunkedVec<Option<(N, V)>>, number: u32) -> u64 {
    match rows.get(number) {
        Some(Some((name, _))) => name.hashed(),
        _ => 0,
    }
}

fn is_at<N: Name, V>(rows: &ChunkedVec<Option<(N, V)>>, number: u32, name: &[u8]) -> bool {
    matches!(rows.get(number), Some(Some((other, _))) if other.bytes() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn assigns_each_name_one_number(
            steps in prop::collection::vec((any::<bool>(), 0..40_u32), 0..200),
        ) {
            let mut numbers = Interner::<Key>::default();
            let mut naive: BTreeMap<String, u32> = BTreeMap::new();
            for (insert, name) in steps {
                let name = format!("some-namespace/pod-{name}");
                if insert {
                    let row = numbers.insert(&mut Key::from(&*name), ());
                    let row = row.map(|row| (row.number, row.given.is_none()));
                    let (number, new) = row.unwrap_or_default();
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
                    prop_assert_eq!(numbers.remove(number), Some((Key::from(&*name), ())));
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
