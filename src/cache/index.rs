//! Indices: from an indexed value to the keys of the objects that have it.
//!
//! Upstream: [`index.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/index.go)
//! and `storeIndex` in
//! [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go).

use std::fmt;
use std::sync::Arc;

use foldhash::fast::FixedState;
use indexmap::{IndexMap, IndexSet};

use super::error::Error;
use super::fact::Fact;
use super::key::Key;
use super::object::{Item, Object};
use super::order::Order;
use super::step::Step;
use super::trace::Trace;

/// Tells the values under which an object is indexed, by pushing them; or says why it cannot.
pub type IndexFunc<O> =
    Arc<dyn Fn(&Item<O>, &mut IndexedValues) -> Result<(), String> + Send + Sync>;

/// Index functions by the name of their index.
pub type Indexers<O> = IndexMap<Arc<str>, IndexFunc<O>, FixedState>;

/// The name of the index that [`meta_namespace_index_func`] is for.
pub const NAMESPACE_INDEX: &str = "namespace";

/// Indexes by namespace.
///
/// # Errors
/// For what has no metadata.
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

/// Indexes by the value of one label; an object without it is not in the index.
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

/// What an index function fills: the indexed values of one object.
///
/// The room is used again for the next object, so an index function allocates nothing.
#[derive(Clone, Default)]
pub struct IndexedValues {
    text: String,
    ends: Vec<usize>,
}

impl IndexedValues {
    /// Adds a value; the empty one is a value like any other.
    pub fn push(&mut self, value: &str) {
        self.text.push_str(value);
        self.ends.push(self.text.len());
    }

    /// Adds a value that is written in parts: `values.push_fmt(format_args!("{k}={v}"))`.
    pub fn push_fmt(&mut self, value: fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.text, value);
        self.ends.push(self.text.len());
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values in the order in which they were pushed.
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

/// Keys without an order of their own.
pub(super) type Keys = IndexSet<Key, FixedState>;

/// One index with its function.
struct Index<O> {
    name: Arc<str>,
    function: IndexFunc<O>,
    values: IndexMap<Arc<str>, Keys, FixedState>,
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for Index<O> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            function: Arc::clone(&self.function),
            values: self.values.clone(),
        }
    }
}

/// All indices of a store.
pub(super) struct Indices<O> {
    list: Vec<Index<O>>,
    order: Order,
    // Room for the values of the old and the new object, kept from call to call.
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

    /// The names that are taken already, sorted.
    pub(super) fn conflicts(&self, indexers: &Indexers<O>) -> Vec<Arc<str>> {
        let mut names: Vec<_> = indexers
            .keys()
            .filter(|name| self.position(name).is_some())
            .cloned()
            .collect();
        names.sort_unstable();
        names
    }

    /// Adds indices and gives the place of the first.
    pub(super) fn add(&mut self, indexers: Indexers<O>) -> usize {
        let first = self.list.len();
        self.list
            .extend(indexers.into_iter().map(|(name, function)| Index {
                name,
                function,
                values: IndexMap::default(),
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

    /// Drops all entries; the indices stay.
    pub(super) fn reset(&mut self) {
        for index in &mut self.list {
            index.values.clear();
        }
    }

    /// Brings the indices from `first` on from the old to the new object of a key.
    pub(super) fn update(
        &mut self,
        first: usize,
        old: Option<&Item<O>>,
        new: Option<&Item<O>>,
        key: &Key,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        for index in self.list.iter_mut().skip(first) {
            let function = &index.function;
            let mut values_of = |item: Option<&Item<O>>, values: &mut IndexedValues| {
                values.clear();
                let Some(item) = item else { return Ok(()) };
                function(item, values).map_err(|error| {
                    let error: Arc<str> = error.into();
                    trace.fact(Step::IndexFail, || Fact::IndexFailed {
                        index: Arc::clone(&index.name),
                        key: key.clone(),
                        error: Arc::clone(&error),
                    });
                    Error::IndexWrite {
                        key: key.clone(),
                        index: Arc::clone(&index.name),
                        error,
                    }
                })
            };
            values_of(old, &mut self.old)?;
            values_of(new, &mut self.new)?;
            // As upstream does, even where the key is missing after an index function failed.
            if self.old.len() == 1 && self.new.len() == 1 && self.old.text == self.new.text {
                continue;
            }
            for value in self.old.iter() {
                if !self.new.contains(value) {
                    index.remove(value, key, self.order, trace);
                }
            }
            for value in self.new.iter() {
                index.insert(value, key, trace);
            }
        }
        Ok(())
    }

    /// The keys that share a value with `item`.
    pub(super) fn keys_like(&self, name: &str, item: &Item<O>) -> Result<Vec<&Key>, Error> {
        let index = self.get(name)?;
        let mut values = IndexedValues::default();
        (index.function)(item, &mut values).map_err(|error| Error::IndexFunc(error.into()))?;
        let mut union: IndexSet<&Key, FixedState> = IndexSet::default();
        for value in values.iter() {
            union.extend(index.values.get(value).into_iter().flatten());
        }
        let mut keys: Vec<_> = union.into_iter().collect();
        self.order.sort(&mut keys, |key| key);
        Ok(keys)
    }

    /// The keys under a value; `None` when nothing has it.
    pub(super) fn keys(&self, name: &str, value: &str) -> Result<Option<&Keys>, Error> {
        Ok(self.get(name)?.values.get(value))
    }

    /// The values of an index in the visible order; none for an unknown index.
    pub(super) fn values(&self, name: &str) -> Vec<&Arc<str>> {
        let mut values: Vec<_> = self
            .position(name)
            .and_then(|position| self.list.get(position))
            .map(|index| index.values.keys().collect())
            .unwrap_or_default();
        self.order.sort(&mut values, |value| value);
        values
    }

    /// Every index with its values and their keys.
    pub(super) fn view(&self) -> impl ExactSizeIterator<Item = IndexView<'_>> {
        self.list.iter().map(|index| IndexView {
            name: &index.name,
            values: &index.values,
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

/// One index, to look at.
#[derive(Clone, Copy)]
pub struct IndexView<'a> {
    name: &'a Arc<str>,
    values: &'a IndexMap<Arc<str>, Keys, FixedState>,
    order: Order,
}

impl<'a> IndexView<'a> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a Arc<str> {
        self.name
    }

    /// Its values with their keys, both in the store's visible order.
    #[must_use]
    pub fn values(&self) -> Vec<(&'a Arc<str>, Vec<&'a Key>)> {
        let mut values: Vec<_> = self
            .values
            .iter()
            .map(|(value, keys)| {
                let mut keys: Vec<_> = keys.iter().collect();
                self.order.sort(&mut keys, |key| key);
                (value, keys)
            })
            .collect();
        self.order.sort(&mut values, |(value, _)| value);
        values
    }

    /// The keys under one value, in the store's visible order.
    #[must_use]
    pub fn keys(&self, value: &str) -> Vec<&'a Key> {
        let mut keys: Vec<_> = self.values.get(value).into_iter().flatten().collect();
        self.order.sort(&mut keys, |key| key);
        keys
    }
}

impl<O> Index<O> {
    fn insert(&mut self, value: &str, key: &Key, trace: &mut impl Trace) {
        let (value, inserted) = match self.values.get_full_mut(value) {
            Some((_, value, keys)) => (value, keys.insert(key.clone())),
            None => {
                let entry = self.values.entry(Arc::from(value));
                let place = entry.index();
                entry.or_default().insert(key.clone());
                let Some((value, _)) = self.values.get_index(place) else {
                    return;
                };
                (value, true)
            }
        };
        if inserted {
            trace.fact(Step::IndexAdd, || Fact::IndexEntryAdded {
                index: Arc::clone(&self.name),
                value: Arc::clone(value),
                key: key.clone(),
            });
        }
    }

    fn remove(&mut self, value: &str, key: &Key, order: Order, trace: &mut impl Trace) {
        let Some((place, value, keys)) = self.values.get_full_mut(value) else {
            return;
        };
        let removed = if order.keeps_place() {
            keys.shift_remove(key)
        } else {
            keys.swap_remove(key)
        };
        if !removed {
            return;
        }
        let emptied = keys.is_empty();
        trace.fact(Step::IndexRemove, || Fact::IndexEntryRemoved {
            index: Arc::clone(&self.name),
            value: Arc::clone(value),
            key: key.clone(),
            emptied,
        });
        if emptied {
            if order.keeps_place() {
                self.values.shift_remove_index(place);
            } else {
                self.values.swap_remove_index(place);
            }
        }
    }
}
