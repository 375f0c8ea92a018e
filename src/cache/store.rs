//! The store with its indices: what an informer's cache is.
//!
//! Upstream: [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go)
//! and [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go),
//! which keeps the content under a lock. Here there is no lock: whoever shares a store puts one
//! around it.

use std::sync::Arc;

use foldhash::fast::FixedState;
use indexmap::IndexMap;

use super::error::{Error, TransactionError};
use super::fact::{Fact, Rv};
use super::index::{IndexView, Indexers, Indices, Keys};
use super::key::Key;
use super::key_func::{KeyFunc, key_error};
use super::object::{Item, Object};
use super::order::Order;
use super::queue::{KeyListerGetter, TransformFunc};
use super::step::Step;
use super::trace::Trace;

/// What a store is made of besides its key function and indexers.
pub struct StoreOptions<O> {
    /// The visible order.
    pub order: Order,
    /// Runs over each object that is stored (upstream: `WithTransformer`).
    pub transformer: Option<TransformFunc<O>>,
    /// Whether `LastStoreSyncResourceVersion` is kept (client-go 0.36 with its gate AtomicFIFO, the
    /// default); else it is always empty.
    pub keeps_resource_version: bool,
    /// Whether indexers are refused once the store holds something (client-go 0.24).
    pub refuses_late_indexers: bool,
}

impl<O> Default for StoreOptions<O> {
    fn default() -> Self {
        Self {
            order: Order::default(),
            transformer: None,
            keeps_resource_version: true,
            refuses_late_indexers: false,
        }
    }
}

/// A store without indices, with client-go's defaults of today.
pub fn new_store<O: Object>(key_func: KeyFunc<O>) -> Store<O> {
    Indexer::with_options(key_func, Indexers::default(), StoreOptions::default())
}

/// A store with indices, with client-go's defaults of today.
pub fn new_indexer<O: Object>(key_func: KeyFunc<O>, indexers: Indexers<O>) -> Indexer<O> {
    Indexer::with_options(key_func, indexers, StoreOptions::default())
}

/// A store: an [`Indexer`] whose indices nobody asked for.
pub type Store<O> = Indexer<O>;

/// Objects by key, with indices over them.
///
/// Cloning copies the maps and shares the objects.
pub struct Indexer<O> {
    key_func: KeyFunc<O>,
    items: IndexMap<Key, Item<O>, FixedState>,
    indices: Indices<O>,
    resource_version: String,
    transformer: Option<TransformFunc<O>>,
    order: Order,
    keeps_resource_version: bool,
    refuses_late_indexers: bool,
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for Indexer<O> {
    fn clone(&self) -> Self {
        Self {
            key_func: Arc::clone(&self.key_func),
            items: self.items.clone(),
            indices: self.indices.clone(),
            resource_version: self.resource_version.clone(),
            transformer: self.transformer.clone(),
            order: self.order,
            keeps_resource_version: self.keeps_resource_version,
            refuses_late_indexers: self.refuses_late_indexers,
        }
    }
}

/// What a [`Transaction`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionType {
    /// Like [`Indexer::add`].
    Add,
    /// Like [`Indexer::update`].
    Update,
    /// Like [`Indexer::delete`].
    Delete,
}

/// One write of several that are done together.
#[derive(Debug)]
pub struct Transaction<O> {
    /// What to do.
    pub transaction_type: TransactionType,
    /// With which object.
    pub object: Item<O>,
}

impl<O: Object> Indexer<O> {
    /// An empty store.
    pub fn with_options(
        key_func: KeyFunc<O>,
        indexers: Indexers<O>,
        options: StoreOptions<O>,
    ) -> Self {
        let mut indices = Indices::new(options.order);
        indices.add(indexers);
        Self {
            key_func,
            items: IndexMap::default(),
            indices,
            resource_version: String::new(),
            transformer: options.transformer,
            order: options.order,
            keeps_resource_version: options.keeps_resource_version,
            refuses_late_indexers: options.refuses_late_indexers,
        }
    }

    // ---- writing

    /// Stores an object, whether or not its key is there.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::StoreTransform`]: nothing changed. [`Error::IndexWrite`]: the object
    /// is stored, the indices from the named one on lack it.
    pub fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let key = self.key_of(&item, trace)?;
        let item = self.transform(item)?;
        // The version is taken before the item moves into the store, and set when all went well.
        let object = item.plain_object().map(Arc::clone);
        self.put(key, item, trace)?;
        if let Some(object) = object {
            self.set_version(object.resource_version(), trace);
        }
        Ok(())
    }

    /// The same as [`Indexer::add`].
    ///
    /// # Errors
    /// As there.
    pub fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.add(item, trace)
    }

    /// Removes what is stored under the object's key, if anything is.
    ///
    /// The version is that of the object that is passed, also when nothing was there; a tombstone
    /// has none.
    ///
    /// # Errors
    /// [`Error::Key`]: nothing changed. [`Error::IndexWrite`]: the object is still there.
    pub fn delete(&mut self, item: &Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let key = self.key_of(item, trace)?;
        self.remove(&key, trace)?;
        if let Some(object) = item.plain_object() {
            self.set_version(object.resource_version(), trace);
        }
        Ok(())
    }

    /// Replaces the whole content.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::StoreTransform`]: nothing changed. [`Error::IndexWrite`]: the
    /// content is the new one, the indices hold only what came before the named key.
    pub fn replace(
        &mut self,
        items: impl IntoIterator<Item = Item<O>>,
        resource_version: &str,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let items = items.into_iter();
        let mut content =
            IndexMap::with_capacity_and_hasher(items.size_hint().0, FixedState::default());
        for item in items {
            let key = self.key_of(&item, trace)?;
            content.insert(key, self.transform(item)?);
        }
        self.items = content;
        trace.fact(Step::StoreReplace, || Fact::StoreReplaced {
            items: self.iter().map(|(key, item)| item.to_ref(key)).collect(),
        });
        self.set_version(resource_version, trace);
        self.indices.reset();
        trace.fact(Step::StoreReplace, || Fact::IndicesReset);
        self.index_all(0, trace)
    }

    /// Does several writes at once. The version is that of the last one that has a key.
    ///
    /// # Errors
    /// [`Error::Transaction`]: entries without a key were left out. [`Error::IndexWrite`]: what
    /// comes after the named key was not done.
    pub fn transaction(
        &mut self,
        transactions: Vec<Transaction<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let total_transactions = transactions.len();
        let mut successful_indices = Vec::with_capacity(total_transactions);
        let mut errors = Vec::new();
        let mut keyed = Vec::with_capacity(total_transactions);
        for (position, transaction) in transactions.into_iter().enumerate() {
            match self.key_of(&transaction.object, trace) {
                Ok(key) => {
                    successful_indices.push(position);
                    keyed.push((key, transaction));
                }
                Err(error) => errors.push(error),
            }
        }
        let last = keyed
            .last()
            .and_then(|(_, transaction)| transaction.object.plain_object().map(Arc::clone));
        for (key, transaction) in keyed {
            match transaction.transaction_type {
                TransactionType::Add | TransactionType::Update => {
                    self.put(key, transaction.object, trace)?;
                }
                TransactionType::Delete => self.remove(&key, trace)?,
            }
        }
        if let Some(object) = last {
            self.set_version(object.resource_version(), trace);
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Error::Transaction(TransactionError {
            successful_indices,
            total_transactions,
            errors,
        }))
    }

    /// Puts another object in the place of a stored one behind the back of the indices: what it comes
    /// to when somebody writes into an object that the store shares with him. Says whether the key
    /// is there.
    pub fn write_through(&mut self, key: &str, item: Item<O>) -> bool {
        match self.items.get_mut(key) {
            Some(stored) => {
                *stored = item;
                true
            }
            None => false,
        }
    }

    /// Notes a version without a change.
    pub fn bookmark(&mut self, resource_version: &str, trace: &mut impl Trace) {
        self.set_version(resource_version, trace);
    }

    /// Does nothing: a store is always in step with itself.
    pub fn resync(&mut self) {}

    /// Adds indices; what is stored enters them.
    ///
    /// # Errors
    /// [`Error::IndexerConflict`], [`Error::IndexerRunning`]: nothing changed.
    /// [`Error::IndexWrite`]: the indices are there and hold what came before the named key.
    pub fn add_indexers(
        &mut self,
        indexers: Indexers<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        if self.refuses_late_indexers && !self.items.is_empty() {
            return Err(Error::IndexerRunning);
        }
        let conflicts = self.indices.conflicts(&indexers);
        if !conflicts.is_empty() {
            return Err(Error::IndexerConflict(conflicts));
        }
        trace.fact(Step::AddIndexers, || Fact::IndexersAdded {
            names: indexers.keys().cloned().collect(),
        });
        let first = self.indices.add(indexers);
        self.index_all(first, trace)
    }

    // ---- reading

    /// What is stored under the object's key.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn get(&self, item: &Item<O>) -> Result<Option<&Item<O>>, Error> {
        let key = (self.key_func)(item).map_err(|error| key_error(item, error))?;
        Ok(self.get_by_key(&key))
    }

    /// What is stored under a key.
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<&Item<O>> {
        self.items.get(key)
    }

    /// Everything that is stored, lent, in the visible order.
    #[must_use]
    pub fn list(&self) -> List<'_, O> {
        List {
            inner: if self.order.sorts() {
                let mut items: Vec<_> = self.items.iter().collect();
                self.order.sort(&mut items, |(key, _)| key);
                Inner::Sorted(items.into_iter())
            } else {
                Inner::Stored(self.items.iter())
            },
        }
    }

    /// Keys and items, lent, in the visible order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Item<O>)> {
        self.list().inner
    }

    /// The keys, in the visible order.
    pub fn list_keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// How many objects are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What shares an indexed value with `item`, which need not be stored; in the visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`], [`Error::IndexFunc`].
    pub fn index<'a>(
        &'a self,
        index: &str,
        item: &Item<O>,
    ) -> Result<impl Iterator<Item = &'a Item<O>> + use<'a, O>, Error> {
        let keys = self.indices.keys_like(index, item)?;
        Ok(keys.into_iter().filter_map(|key| self.items.get(key)))
    }

    /// The keys under an indexed value, sorted.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<&Key>, Error> {
        let mut keys: Vec<_> = self
            .indices
            .keys(index, value)?
            .map(|keys| keys.iter().collect())
            .unwrap_or_default();
        keys.sort_unstable();
        Ok(keys)
    }

    /// The objects under an indexed value, lent, in the visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn by_index(&self, index: &str, value: &str) -> Result<ByIndex<'_, O>, Error> {
        let keys = self.indices.keys(index, value)?;
        let keys = if self.order.sorts() {
            let mut keys: Vec<_> = keys.into_iter().flatten().collect();
            self.order.sort(&mut keys, |key| key);
            IndexedKeys::Sorted(keys.into_iter())
        } else {
            IndexedKeys::Stored(keys.map(Keys::iter))
        };
        Ok(ByIndex {
            items: &self.items,
            keys,
        })
    }

    /// The values of an index, in the visible order; none for an unknown index.
    #[must_use]
    pub fn list_index_func_values(&self, index: &str) -> Vec<&Arc<str>> {
        self.indices.values(index)
    }

    /// The index functions by name.
    #[must_use]
    pub fn get_indexers(&self) -> Indexers<O> {
        self.indices.indexers()
    }

    /// The names of the indices, as they were added.
    pub fn index_names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.indices.names()
    }

    /// Every index with its values and keys, to look at.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = IndexView<'_>> {
        self.indices.view()
    }

    /// The key function.
    #[must_use]
    pub fn key_func(&self) -> &KeyFunc<O> {
        &self.key_func
    }

    /// The version of the last write, list or bookmark. No maximum: it can go back.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> &str {
        &self.resource_version
    }

    // ---- helpers

    fn key_of(&self, item: &Item<O>, trace: &mut impl Trace) -> Result<Key, Error> {
        (self.key_func)(item).map_err(|error| {
            let error = key_error(item, error);
            trace.fact(Step::StoreWrite, || Fact::KeyFailed {
                error: error.to_string().into(),
            });
            error
        })
    }

    fn transform(&self, item: Item<O>) -> Result<Item<O>, Error> {
        match &self.transformer {
            Some(transformer) => {
                transformer(item).map_err(|error| Error::StoreTransform(error.into()))
            }
            None => Ok(item),
        }
    }

    fn put(&mut self, key: Key, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let (place, old) = self.items.insert_full(key, item);
        let Some((key, item)) = self.items.get_index(place) else {
            return Ok(());
        };
        trace.fact(Step::StoreWrite, || Fact::ItemStored {
            object: item.to_ref(key),
            old: old.as_ref().map(|old| old.to_ref(key)),
        });
        self.indices.update(0, old.as_ref(), Some(item), key, trace)
    }

    fn remove(&mut self, key: &Key, trace: &mut impl Trace) -> Result<(), Error> {
        let Some((place, key, item)) = self.items.get_full(key) else {
            return Ok(());
        };
        self.indices.update(0, Some(item), None, key, trace)?;
        trace.fact(Step::StoreDelete, || Fact::ItemRemoved {
            key: key.clone(),
            old: Some(item.to_ref(key)),
        });
        if self.order.keeps_place() {
            self.items.shift_remove_index(place);
        } else {
            self.items.swap_remove_index(place);
        }
        Ok(())
    }

    /// Enters everything into the indices from `first` on.
    fn index_all(&mut self, first: usize, trace: &mut impl Trace) -> Result<(), Error> {
        let mut enter =
            |key: &Key, item: &Item<O>| self.indices.update(first, None, Some(item), key, trace);
        if self.order.sorts() {
            let mut items: Vec<_> = self.items.iter().collect();
            self.order.sort(&mut items, |(key, _)| key);
            items
                .into_iter()
                .try_for_each(|(key, item)| enter(key, item))
        } else {
            self.items
                .iter()
                .try_for_each(|(key, item)| enter(key, item))
        }
    }

    fn set_version(&mut self, to: &str, trace: &mut impl Trace) {
        if !self.keeps_resource_version || self.resource_version == to {
            return;
        }
        trace.fact(Step::StoreVersion, || Fact::StoreVersionMoved {
            from: Rv::from(&*self.resource_version),
            to: Rv::from(to),
        });
        self.resource_version.clear();
        self.resource_version.push_str(to);
    }
}

impl<O: Object> KeyListerGetter<O> for Indexer<O> {
    fn list_keys(&self) -> Vec<Key> {
        Indexer::list_keys(self).cloned().collect()
    }

    fn get_by_key(&self, key: &str) -> Result<Option<Item<O>>, String> {
        Ok(Indexer::get_by_key(self, key).cloned())
    }
}

/// Everything in a store, lent.
pub struct List<'a, O> {
    inner: Inner<'a, O>,
}

enum Inner<'a, O> {
    Stored(indexmap::map::Iter<'a, Key, Item<O>>),
    Sorted(std::vec::IntoIter<(&'a Key, &'a Item<O>)>),
}

impl<'a, O> Iterator for Inner<'a, O> {
    type Item = (&'a Key, &'a Item<O>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Stored(items) => items.next(),
            Self::Sorted(items) => items.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Stored(items) => items.size_hint(),
            Self::Sorted(items) => items.size_hint(),
        }
    }
}

impl<O> ExactSizeIterator for Inner<'_, O> {}

impl<'a, O> Iterator for List<'a, O> {
    type Item = &'a Item<O>;

    fn next(&mut self) -> Option<Self::Item> {
        self.inner.next().map(|(_, item)| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<O> ExactSizeIterator for List<'_, O> {}

/// What is stored under one indexed value, lent.
pub struct ByIndex<'a, O> {
    items: &'a IndexMap<Key, Item<O>, FixedState>,
    keys: IndexedKeys<'a>,
}

enum IndexedKeys<'a> {
    Stored(Option<indexmap::set::Iter<'a, Key>>),
    Sorted(std::vec::IntoIter<&'a Key>),
}

impl<'a, O> Iterator for ByIndex<'a, O> {
    type Item = &'a Item<O>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let key = match &mut self.keys {
                IndexedKeys::Stored(keys) => keys.as_mut()?.next()?,
                IndexedKeys::Sorted(keys) => keys.next()?,
            };
            // Every indexed key is stored, unless an index function failed in a write before.
            if let Some(item) = self.items.get(key) {
                return Some(item);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (_, most) = match &self.keys {
            IndexedKeys::Stored(keys) => keys.as_ref().map_or((0, Some(0)), Iterator::size_hint),
            IndexedKeys::Sorted(keys) => keys.size_hint(),
        };
        (0, most)
    }
}
