//! Indices: from an indexed value to the keys of the objects with that value.
//!
//! Upstream: [`index.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/index.go)
//! and `storeIndex` in
//! [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go).

use std::fmt;
use std::sync::Arc;

use derive_where::derive_where;

use super::error::Error;
use super::fact::{Fact, StoreFact};
use super::interner::Interner;
use super::key::Key;
use super::map::Map;
use super::object::{Item, Object};
use super::order::Order;
use super::postings::{Held, Postings, Removed};
use super::sorted;
use super::step::Step;
use super::trace::Trace;

/// Pushes the values under which an object is indexed, or returns the reason why it cannot.
///
/// The function must always return the same values for the same object. The index remembers the
/// value of a stored object with at most one value, so an update calls the function only for the
/// new object; client-go calls it for the old and the new one. Only a stateful function can observe
/// the difference.
pub type IndexFunc<O> =
    Arc<dyn Fn(&Item<O>, &mut IndexedValues) -> Result<(), String> + Send + Sync>;

/// Index functions by index name.
pub type Indexers<O> = Map<Arc<str>, IndexFunc<O>>;

/// The index name for [`meta_namespace_index_func`].
pub const NAMESPACE_INDEX: &str = "namespace";

/// Indexes by namespace.
///
/// # Errors
/// If the item has no metadata.
pub fn meta_namespace_index_func<O: Object>(
    item: &Item<O>,
    values: &mut IndexedValues,
) -> Result<(), String> {
    match item {
        Item::Object(object) => {
            values.push(object.namespace());
            Ok(())
        }
        _ => Err("object has no meta: object does not implement the Object interfaces".into()),
    }
}

/// Indexes by the value of one label; objects without the label are not in the index.
#[must_use]
pub fn label_index_func<O: Object>(label: &str) -> IndexFunc<O> {
    let label = label.to_owned();
    Arc::new(move |item, values| {
        if let Some(value) = item.as_object().and_then(|o| o.labels().get(&label)) {
            values.push(value);
        }
        Ok(())
    })
}

/// The output of an index function: the indexed values of one object.
///
/// The buffer is reused for the next object, so an index function need not allocate.
#[derive(Clone, Default)]
pub struct IndexedValues {
    text: String,
    ends: Vec<usize>,
}

impl IndexedValues {
    /// Adds a value, which may be empty.
    pub fn push(&mut self, value: &str) {
        self.text.push_str(value);
        self.ends.push(self.text.len());
    }

    /// Adds a formatted value: `values.push_fmt(format_args!("{k}={v}"))`.
    pub fn push_fmt(&mut self, value: fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.text, value);
        self.ends.push(self.text.len());
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values, in the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let value = &self.text[start..end];
            start = end;
            value
        })
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn contains(&self, value: &str) -> bool {
        self.iter().any(|v| v == value)
    }
}

/// An index with its function.
#[derive_where(Clone)]
struct Index<O> {
    name: Arc<str>,
    function: IndexFunc<O>,
    postings: Postings,
}

/// The keys of a store and their objects, by row number.
pub(super) type Rows<O> = Interner<Key, Option<Item<O>>>;

/// All indices of a store.
pub(super) struct Indices<O> {
    list: Vec<Index<O>>,
    order: Order,
    // Buffers for the values of the old and the new object, reused by each call.
    old: IndexedValues,
    new: IndexedValues,
}

impl<O> Clone for Indices<O> {
    fn clone(&self) -> Self {
        Self {
            list: self.list.clone(),
            order: self.order,
            old: IndexedValues::default(),
            new: IndexedValues::default(),
        }
    }
}

impl<O: Object> Indices<O> {
    pub(super) fn new(order: Order) -> Self {
        Self {
            list: Vec::new(),
            order,
            old: IndexedValues::default(),
            new: IndexedValues::default(),
        }
    }

    /// The names that already exist, sorted.
    pub(super) fn conflicts(&self, indexers: &Indexers<O>) -> Vec<Arc<str>> {
        let mut names: Vec<_> = indexers
            .keys()
            .filter(|name| self.position(name).is_some())
            .cloned()
            .collect();
        sorted::sort(&mut names, Ord::cmp);
        names
    }

    /// Adds indices and returns the position of the first.
    pub(super) fn add(&mut self, indexers: Indexers<O>) -> usize {
        let (first, order) = (self.list.len(), self.order);
        self.list
            .extend(indexers.into_iter().map(|(name, function)| Index {
                name,
                function,
                postings: Postings::new(order.keeps_place()),
            }));
        first
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.list.iter().map(|index| &index.name)
    }

    pub(super) fn indexers(&self) -> Indexers<O> {
        self.list
            .iter()
            .map(|index| (Arc::clone(&index.name), Arc::clone(&index.function)))
            .collect()
    }

    /// Removes all entries but keeps the indices.
    pub(super) fn reset(&mut self) {
        for index in &mut self.list {
            index.postings.clear();
        }
    }

    /// Updates the indices from `first` on, from the old to the new object of a key. `row` is the
    /// number of the key.
    pub(super) fn update(
        &mut self,
        first: usize,
        old: Option<&Item<O>>,
        new: Option<&Item<O>>,
        (row, key): (u32, &Key),
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let (old_values, new_values) = (&mut self.old, &mut self.new);
        for position in first..self.list.len() {
            let index = &mut self.list[position];
            let held = index.held(old, row);
            let values = match held {
                Some(_) => Ok(()),
                None => index.values_of(old, old_values),
            };
            let values = values.and_then(|()| index.values_of(new, new_values));
            if let Err(error) = values {
                trace.fact(Step::IndexFail, || {
                    Fact::Store(StoreFact::IndexFailed {
                        index: Arc::clone(&index.name),
                        key: key.clone(),
                        error: Arc::clone(&error),
                    })
                });
                let error = Error::IndexWrite {
                    key: key.clone(),
                    index: Arc::clone(&index.name),
                    error,
                };
                self.mark_stale(position, row);
                return Err(error);
            }
            // client-go skips it too, even if the key is missing after an index function failed.
            let same = new_values.len() == 1
                && match held {
                    Some(held) => held.is_some_and(|held| **held == *new_values.text),
                    None => old_values.len() == 1 && old_values.text == new_values.text,
                };
            if same {
                continue;
            }
            if let Some(held) = held {
                old_values.clear();
                held.into_iter().for_each(|held| old_values.push(held));
            }
            for value in old_values.iter() {
                if !new_values.contains(value) {
                    index.remove(value, (row, key), trace);
                }
            }
            for value in new_values.iter() {
                index.insert(value, (row, key), trace);
            }
        }
        Ok(())
    }

    /// Marks the row as stale in the indices from `first` on: they were not updated.
    pub(super) fn mark_stale(&mut self, first: usize, row: u32) {
        for index in self.list.iter_mut().skip(first) {
            index.postings.mark_stale(row);
        }
    }

    /// Releases a row number, unless an index still holds it: a failed index function can leave a
    /// key in an index that is no longer in the store.
    pub(super) fn forget(&mut self, row: u32) -> bool {
        if self.list.iter().any(|index| index.postings.holds(row)) {
            return false;
        }
        for index in &mut self.list {
            index.postings.forget(row);
        }
        true
    }

    /// The rows that share a value with `item`.
    pub(super) fn rows_like(&self, name: &str, item: &Item<O>) -> Result<Vec<u32>, Error> {
        let index = self.get(name)?;
        let mut values = IndexedValues::default();
        (index.function)(item, &mut values).map_err(|error| Error::IndexFunc(error.into()))?;
        let mut union = Map::<u32, ()>::default();
        for value in values.iter() {
            union.extend(index.postings.list(value).iter().map(|row| (*row, ())));
        }
        Ok(union.into_keys().collect())
    }

    /// The rows with a value.
    pub(super) fn rows(&self, name: &str, value: &str) -> Result<&[u32], Error> {
        Ok(self.get(name)?.postings.list(value))
    }

    /// The values of an index in the visible order; empty for an unknown index.
    pub(super) fn values(&self, name: &str) -> Vec<&Arc<str>> {
        let mut values: Vec<_> = self
            .position(name)
            .and_then(|position| self.list.get(position))
            .map(|index| index.postings.iter().map(|(value, _)| value).collect())
            .unwrap_or_default();
        self.order.sort(&mut values, |value| value);
        values
    }

    /// A view of every index.
    pub(super) fn view<'a>(
        &'a self,
        rows: &'a Rows<O>,
    ) -> impl ExactSizeIterator<Item = IndexView<'a, O>> {
        self.list.iter().map(move |index| IndexView {
            name: &index.name,
            postings: &index.postings,
            rows,
            order: self.order,
        })
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|index| &*index.name == name)
    }

    fn get(&self, name: &str) -> Result<&Index<O>, Error> {
        self.position(name)
            .and_then(|position| self.list.get(position))
            .ok_or_else(|| Error::IndexNotFound(name.into()))
    }
}

/// A read-only view of one index.
#[derive_where(Clone, Copy)]
pub struct IndexView<'a, O> {
    name: &'a Arc<str>,
    postings: &'a Postings,
    rows: &'a Rows<O>,
    order: Order,
}

impl<'a, O> IndexView<'a, O> {
    /// The name of the index.
    #[must_use]
    pub fn name(&self) -> &'a Arc<str> {
        self.name
    }

    /// The values with their keys, both in the store's visible order.
    #[must_use]
    pub fn values(&self) -> Vec<(&'a Arc<str>, Vec<&'a Key>)> {
        let mut values: Vec<_> = self
            .postings
            .iter()
            .map(|(value, list)| (value, self.keys_of(list)))
            .collect();
        self.order.sort(&mut values, |(value, _)| value);
        values
    }

    /// The values with their keys in memory order, unsorted.
    pub fn entries(self) -> impl Iterator<Item = (&'a Arc<str>, impl Iterator<Item = &'a Key>)> {
        let rows = self.rows;
        self.postings.iter().map(move |(value, list)| {
            let found = list.iter().filter_map(move |row| rows.name(*row));
            (value, found)
        })
    }

    /// The keys of one value, in the store's visible order.
    #[must_use]
    pub fn keys(&self, value: &str) -> Vec<&'a Key> {
        self.keys_of(self.postings.list(value))
    }

    fn keys_of(&self, list: &[u32]) -> Vec<&'a Key> {
        let mut keys: Vec<_> = list.iter().filter_map(|row| self.rows.name(*row)).collect();
        self.order.sort(&mut keys, |key| key);
        keys
    }
}

impl<O> Index<O> {
    fn values_of(
        &self,
        item: Option<&Item<O>>,
        values: &mut IndexedValues,
    ) -> Result<(), Arc<str>> {
        values.clear();
        match item {
            Some(item) => (self.function)(item, values).map_err(Arc::from),
            None => Ok(()),
        }
    }

    /// The remembered value of the old object, or that it has none. `None` if it is not known without the
    /// index function.
    fn held(&self, old: Option<&Item<O>>, row: u32) -> Option<Option<&Arc<str>>> {
        match self.postings.held(row) {
            Held::One(value) if old.is_some() => Some(value),
            _ => None,
        }
    }

    fn insert(&mut self, value: &str, (row, key): (u32, &Key), trace: &mut impl Trace) {
        if let Some(value) = self.postings.insert(row, value) {
            trace.fact(Step::IndexAdd, || {
                Fact::Store(StoreFact::IndexEntryAdded {
                    index: Arc::clone(&self.name),
                    value: Arc::clone(value),
                    key: key.clone(),
                })
            });
        }
    }

    fn remove(&mut self, value: &str, (row, key): (u32, &Key), trace: &mut impl Trace) {
        if let Some(removed) = self.postings.remove(row, value) {
            trace.fact(Step::IndexRemove, || {
                let (value, emptied) = match removed {
                    Removed::Shared(value) => (Arc::clone(value), false),
                    Removed::Last(value) => (value, true),
                };
                Fact::Store(StoreFact::IndexEntryRemoved {
                    index: Arc::clone(&self.name),
                    value,
                    key: key.clone(),
                    emptied,
                })
            });
        }
    }
}
