//! The store with its indices: an informer's cache.
//!
//! Upstream: [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go)
//! and [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go),
//! which guards the content with a lock. Here there is no lock: to share a store, put one around
//! it.

use std::hint::black_box;
use std::sync::Arc;

use derive_where::derive_where;

use super::error::{Error, TransactionError};
use super::fact::{Fact, Rv, StoreFact};
use super::index::{IndexView, Indexers, Indices, Rows};
use super::interner::Interner;
use super::key::Key;
use super::key_func::{KeyFunc, key_error};
use super::object::{Item, Object};
use super::order::Order;
use super::queue::{KeyListerGetter, TransformFunc, checked};
use super::sorted;
use super::step::Step;
use super::store_order::{PlacesIter, StoreOrder};
use super::trace::Trace;

/// Options of a store besides its key function and indexers.
pub struct StoreOptions<O> {
    /// The visible order.
    pub order: Order,
    /// Transforms each object before it is stored (upstream: `WithTransformer`).
    pub transformer: Option<TransformFunc<O>>,
    /// Whether `LastStoreSyncResourceVersion` is kept (client-go 0.36 with the feature gate
    /// AtomicFIFO, which is the default); otherwise it is always empty.
    pub keeps_resource_version: bool,
    /// Whether indexers are rejected once the store is not empty (client-go 0.24).
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

/// A store without indices, with the defaults of the newest client-go.
pub fn new_store<O: Object>(key_func: KeyFunc<O>) -> Store<O> {
    Indexer::with_options(key_func, Indexers::default(), StoreOptions::default())
}

/// A store with indices, with the defaults of the newest client-go.
pub fn new_indexer<O: Object>(key_func: KeyFunc<O>, indexers: Indexers<O>) -> Indexer<O> {
    Indexer::with_options(key_func, indexers, StoreOptions::default())
}

/// A store: an [`Indexer`] without indices.
pub type Store<O> = Indexer<O>;

/// Objects by key, with indices.
///
/// Cloning copies the maps and shares the objects.
#[derive_where(Clone)]
pub struct Indexer<O> {
    key_func: KeyFunc<O>,
    /// The objects by key; the other fields and the indices use the row numbers. `None` if the key
    /// is only in an index, after an index function failed.
    rows: Rows<O>,
    /// The rows of the stored objects, in memory order.
    places: StoreOrder,
    indices: Indices<O>,
    version: Version,
    transformer: Option<TransformFunc<O>>,
    order: Order,
    refuses_late_indexers: bool,
}

/// The operation of a [`Transaction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionType {
    /// Like [`Indexer::add`].
    Add,
    /// Like [`Indexer::update`].
    Update,
    /// Like [`Indexer::delete`].
    Delete,
}

/// One of several writes that are done together.
#[derive(Debug)]
pub struct Transaction<O> {
    /// The operation.
    pub transaction_type: TransactionType,
    /// The object.
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
            rows: Interner::default(),
            places: StoreOrder::default(),
            indices,
            version: Version::new(options.keeps_resource_version),
            transformer: options.transformer,
            order: options.order,
            refuses_late_indexers: options.refuses_late_indexers,
        }
    }

    // ---- writing

    /// Stores an object, whether or not its key exists.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::StoreTransform`]: nothing changed. [`Error::IndexWrite`]: the
    /// object is stored, but missing in the indices from the named one on.
    pub fn add(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let mut key = (self.key_func)(&item);
        let key = checked(&mut key, &item, Step::StoreWrite, trace)?;
        let item = self.transform(item)?;
        self.version.prepare(Some(&item));
        self.put(key, item, trace)?;
        self.version.advance(trace);
        Ok(())
    }

    /// Same as [`Indexer::add`].
    ///
    /// # Errors
    /// Those of [`Indexer::add`].
    pub fn update(&mut self, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        self.add(item, trace)
    }

    /// Removes the object stored under this object's key, if any.
    ///
    /// The store's version becomes that of the argument, even if nothing was stored; a tombstone
    /// has no version.
    ///
    /// # Errors
    /// [`Error::Key`]: nothing changed. [`Error::IndexWrite`]: the object is still stored.
    pub fn delete(&mut self, item: &Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let mut key = (self.key_func)(item);
        let key = checked(&mut key, item, Step::StoreWrite, trace)?;
        self.version.prepare(Some(item));
        self.remove(key, trace)?;
        self.version.advance(trace);
        Ok(())
    }

    /// Replaces the whole content.
    ///
    /// # Errors
    /// [`Error::Key`], [`Error::StoreTransform`]: nothing changed. [`Error::IndexWrite`]: the
    /// content was replaced, but the indices hold only the objects before the named key.
    pub fn replace(
        &mut self,
        items: impl IntoIterator<Item = Item<O>>,
        resource_version: &str,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let items = items.into_iter();
        let mut rows: Rows<O> = Interner::with_capacity(items.size_hint().0);
        for item in items {
            let mut key = (self.key_func)(&item);
            let key = checked(&mut key, &item, Step::StoreWrite, trace)?;
            let item = self.transform(item)?;
            if let Some(row) = rows.insert(key, Some(item))
                && let Some(item) = row.given
            {
                *row.value = item;
            }
        }
        self.places = StoreOrder::in_turn(rows.len());
        self.rows = rows;
        trace.fact(Step::StoreReplace, || {
            Fact::Store(StoreFact::StoreReplaced {
                items: self.iter().map(|(key, item)| item.to_ref(key)).collect(),
            })
        });
        self.version.set(resource_version, trace);
        self.indices.reset();
        trace.fact(Step::StoreReplace, || Fact::Store(StoreFact::IndicesReset));
        self.index_all(0, trace)
    }

    /// Does several writes at once. The version becomes that of the last write with a key.
    ///
    /// # Errors
    /// [`Error::Transaction`]: entries without a key were skipped. [`Error::IndexWrite`]: the
    /// writes after the named key were not done.
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
            let mut key = (self.key_func)(&transaction.object);
            match checked(&mut key, &transaction.object, Step::StoreWrite, trace) {
                Ok(key) => {
                    let key = std::mem::take(key);
                    successful_indices.push(position);
                    keyed.push((key, transaction));
                }
                Err(error) => errors.push(error),
            }
        }
        let last = keyed.last().map(|(_, transaction)| &transaction.object);
        self.version.prepare(last);
        for (mut key, transaction) in keyed {
            match transaction.transaction_type {
                TransactionType::Add | TransactionType::Update => {
                    self.put(&mut key, transaction.object, trace)?;
                }
                TransactionType::Delete => self.remove(&key, trace)?,
            }
        }
        self.version.advance(trace);
        if errors.is_empty() {
            return Ok(());
        }
        Err(Error::Transaction(TransactionError {
            successful_indices,
            total_transactions,
            errors,
        }))
    }

    /// Replaces a stored object without updating the indices, as if a caller had modified the
    /// shared object. Returns whether the key exists.
    pub fn write_through(&mut self, key: &str, item: Item<O>) -> bool {
        let Some(row) = self.rows.find(key.as_bytes()) else {
            return false;
        };
        match self.rows.row_mut(row) {
            Some((_, stored @ Some(_))) => {
                *stored = Some(item);
                // The indices may no longer match the object.
                self.indices.mark_stale(0, row);
                true
            }
            _ => false,
        }
    }

    /// Records a version without a change.
    pub fn bookmark(&mut self, resource_version: &str, trace: &mut impl Trace) {
        self.version.set(resource_version, trace);
    }

    /// Does nothing: a store is always in sync with itself.
    pub fn resync(&mut self) {}

    /// Adds indices and indexes the stored objects.
    ///
    /// # Errors
    /// [`Error::IndexerConflict`], [`Error::IndexerRunning`]: nothing changed.
    /// [`Error::IndexWrite`]: the indices were added, but hold only the objects before the named
    /// key.
    pub fn add_indexers(
        &mut self,
        indexers: Indexers<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        if self.refuses_late_indexers && !self.is_empty() {
            return Err(Error::IndexerRunning);
        }
        let conflicts = self.indices.conflicts(&indexers);
        if !conflicts.is_empty() {
            return Err(Error::IndexerConflict(conflicts));
        }
        trace.fact(Step::AddIndexers, || {
            Fact::Store(StoreFact::IndexersAdded {
                names: indexers.keys().cloned().collect(),
            })
        });
        let first = self.indices.add(indexers);
        self.index_all(first, trace)
    }

    // ---- reading

    /// The object stored under this item's key.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn get(&self, item: &Item<O>) -> Result<Option<&Item<O>>, Error> {
        match &(self.key_func)(item) {
            Ok(key) => Ok(self.item(self.rows.number(key))),
            Err(error) => Err(key_error(item, error.clone())),
        }
    }

    /// The object stored under a key.
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<&Item<O>> {
        self.item(self.rows.find(key.as_bytes()))
    }

    /// All stored objects, borrowed, in the visible order.
    #[must_use]
    pub fn list(&self) -> List<'_, O> {
        List {
            inner: if self.order.sorts() {
                let mut items: Vec<_> = self.stored().collect();
                self.order.sort(&mut items, |(key, _)| key);
                Inner::Sorted(items.into_iter())
            } else {
                Inner::Stored(self.stored())
            },
        }
    }

    /// All keys and objects, borrowed, in the visible order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Item<O>)> {
        self.list().inner
    }

    /// The keys, in the visible order.
    pub fn list_keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// Number of stored objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the store is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.len() == 0
    }

    /// The objects that share an indexed value with `item`, which need not be stored; in the
    /// visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`], [`Error::IndexFunc`].
    pub fn index<'a>(&'a self, index: &str, item: &Item<O>) -> Result<ByIndex<'a, O>, Error> {
        Ok(self.by_rows(Found::Own(self.indices.rows_like(index, item)?.into_iter())))
    }

    /// The keys of an indexed value, sorted.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<&Key>, Error> {
        let rows = self.indices.rows(index, value)?;
        let mut keys = Vec::with_capacity(rows.len());
        keys.extend(rows.iter().filter_map(|row| self.rows.name(*row)));
        sorted::sort(&mut keys, Ord::cmp);
        Ok(keys)
    }

    /// The objects with an indexed value, borrowed, in the visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn by_index(&self, index: &str, value: &str) -> Result<ByIndex<'_, O>, Error> {
        Ok(self.by_rows(Found::Lent(self.indices.rows(index, value)?.iter())))
    }

    /// The values of an index, in the visible order; empty for an unknown index.
    #[must_use]
    pub fn list_index_func_values(&self, index: &str) -> Vec<&Arc<str>> {
        self.indices.values(index)
    }

    /// The index functions by name.
    #[must_use]
    pub fn get_indexers(&self) -> Indexers<O> {
        self.indices.indexers()
    }

    /// The names of the indices, in the order in which they were added.
    pub fn index_names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.indices.names()
    }

    /// A read-only view of each index.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = IndexView<'_, O>> {
        self.indices.view(&self.rows)
    }

    /// The key function.
    #[must_use]
    pub fn key_func(&self) -> &KeyFunc<O> {
        &self.key_func
    }

    /// The version of the last write, list or bookmark. Not a maximum: it can go back.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> &str {
        &self.version.text
    }

    // ---- helpers

    /// Reads what writes of these keys will read, so that it is in the CPU's cache. All of it would
    /// come one after the other from memory in a store that is larger than the cache: a slot, the
    /// row, the old object. Kind by kind, the CPU waits for many at a time.
    pub(super) fn warm<'a>(&self, keys: impl Iterator<Item = &'a Key>) {
        /// So many objects fit into the cache with all that they hold.
        const CACHED: usize = 4096;
        if cfg!(target_arch = "wasm32") || self.len() < CACHED {
            return;
        }
        let numbers: Vec<u32> = keys.filter_map(|key| self.rows.guess(key)).collect();
        let items = || {
            numbers
                .iter()
                .filter_map(|row| self.rows.row(*row)?.1.as_ref())
        };
        let objects = || items().filter_map(Item::plain_object);
        black_box(items().count());
        black_box(objects().map(Arc::strong_count).sum::<usize>());
        let version = |object: &Arc<O>| object.resource_version().bytes().next().map(usize::from);
        black_box(objects().filter_map(version).sum::<usize>());
    }

    #[inline]
    fn transform(&self, item: Item<O>) -> Result<Item<O>, Error> {
        match &self.transformer {
            Some(transformer) => {
                transformer(item).map_err(|error| Error::StoreTransform(error.into()))
            }
            None => Ok(item),
        }
    }

    fn item(&self, row: Option<u32>) -> Option<&Item<O>> {
        self.rows.row(row?)?.1.as_ref()
    }

    /// The stored objects in memory order.
    fn stored(&self) -> Stored<'_, O> {
        Stored {
            rows: &self.rows,
            places: self.places.iter(),
        }
    }

    fn by_rows<'a>(&'a self, found: Found<'a>) -> ByIndex<'a, O> {
        let found = if self.order.sorts() {
            Found::Own(self.sorted(found).into_iter())
        } else {
            found
        };
        ByIndex {
            rows: &self.rows,
            found,
            all_stored: self.rows.len() == self.len(),
        }
    }

    /// Rows in the visible order, for orders that sort.
    fn sorted(&self, rows: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut keyed: Vec<_> = rows
            .filter_map(|row| Some((row, self.rows.name(row)?)))
            .collect();
        self.order.sort(&mut keyed, |(_, key)| key);
        keyed.into_iter().map(|(row, _)| row).collect()
    }

    fn put(&mut self, key: &mut Key, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let Some(inserted) = self.rows.insert(key, Some(item)) else {
            return Ok(());
        };
        let (row, key, place) = (inserted.number, inserted.name, inserted.value);
        let old = match inserted.given {
            Some(item) => std::mem::replace(place, item),
            None => None,
        };
        match &old {
            // Loads its reference count while the indices are updated: the old object is dropped at
            // the end, and an atomic decrement waits for memory with all that comes after it.
            Some(Item::Object(old)) => {
                black_box(Arc::strong_count(old));
            }
            Some(_) => {}
            None => self.places.push(row),
        }
        let Some(item) = place else { return Ok(()) };
        trace.fact(Step::StoreWrite, || {
            Fact::Store(StoreFact::ItemStored {
                object: item.to_ref(key),
                old: old.as_ref().map(|old| old.to_ref(key)),
            })
        });
        self.indices
            .update(0, old.as_ref(), Some(item), (row, key), trace)
    }

    fn remove(&mut self, key: &Key, trace: &mut impl Trace) -> Result<(), Error> {
        let Some(row) = self.rows.number(key) else {
            return Ok(());
        };
        let Some((_, place @ Some(_))) = self.rows.row_mut(row) else {
            return Ok(());
        };
        self.indices
            .update(0, place.as_ref(), None, (row, key), trace)?;
        let old = place.take();
        trace.fact(Step::StoreDelete, || {
            Fact::Store(StoreFact::ItemRemoved {
                key: key.clone(),
                old: old.map(|old| old.to_ref(key)),
            })
        });
        self.places.remove(row, self.order.keeps_place());
        if self.indices.forget(row) {
            self.rows.remove(row);
        }
        Ok(())
    }

    /// Adds all stored objects to the indices from `first` on.
    fn index_all(&mut self, first: usize, trace: &mut impl Trace) -> Result<(), Error> {
        let rows = if self.order.sorts() {
            self.sorted(self.places.iter())
        } else {
            self.places.iter().collect()
        };
        let mut end = Ok(());
        for row in rows {
            let Some((key, Some(item))) = self.rows.row(row) else {
                continue;
            };
            if end.is_ok() {
                end = self
                    .indices
                    .update(first, None, Some(item), (row, key), trace);
            } else {
                self.indices.mark_stale(first, row);
            }
        }
        end
    }
}

/// The version of the last write, list or bookmark.
#[derive(Clone)]
struct Version {
    text: String,
    /// Otherwise the version is always empty.
    keeps: bool,
    /// The version after a successful write. The buffer is reused.
    next: String,
    moves: bool,
}

impl Version {
    fn new(keeps: bool) -> Self {
        Self {
            text: String::new(),
            keeps,
            next: String::new(),
            moves: false,
        }
    }

    /// Records the version of the object to be written; a tombstone has none. Done before the
    /// write, while the object is in the CPU cache from computing its key. Later it would have to
    /// be loaded again.
    fn prepare<O: Object>(&mut self, item: Option<&Item<O>>) {
        self.moves = false;
        if self.keeps
            && let Some(object) = item.and_then(Item::plain_object)
        {
            self.set_next(object.resource_version());
        }
    }

    /// Sets the prepared version after a successful write.
    fn advance(&mut self, trace: &mut impl Trace) {
        if self.moves {
            self.moves = false;
            trace.fact(Step::StoreVersion, || {
                Fact::Store(StoreFact::StoreVersionMoved {
                    from: Rv::from(&*self.text),
                    to: Rv::from(&*self.next),
                })
            });
            std::mem::swap(&mut self.text, &mut self.next);
        }
    }

    fn set(&mut self, to: &str, trace: &mut impl Trace) {
        if self.keeps {
            self.set_next(to);
            self.advance(trace);
        }
    }

    fn set_next(&mut self, to: &str) {
        // Compare by hand, because versions mostly differ in their last digits. Inlined, the CPU's
        // prefetcher can also predict these loads, which it cannot inside a shared `memcmp`.
        let mut bytes = self.text.bytes().rev().zip(to.bytes().rev());
        self.moves = self.text.len() != to.len() || bytes.any(|(a, b)| a != b);
        if self.moves {
            self.next.clear();
            self.next.push_str(to);
        }
    }
}

impl<O: Object> KeyListerGetter<O> for Indexer<O> {
    fn list_keys(&self) -> Vec<Key> {
        Indexer::list_keys(self).cloned().collect()
    }

    fn visit_keys(&self, visit: &mut dyn FnMut(&Key)) {
        Indexer::list_keys(self).for_each(visit);
    }

    fn get_by_key(&self, key: &str) -> Result<Option<Item<O>>, String> {
        Ok(Indexer::get_by_key(self, key).cloned())
    }
}

/// Iterates over all objects of a store, borrowed.
pub struct List<'a, O> {
    inner: Inner<'a, O>,
}

enum Inner<'a, O> {
    Stored(Stored<'a, O>),
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

/// Keys and objects in memory order. Each row in `places` has both.
struct Stored<'a, O> {
    rows: &'a Rows<O>,
    places: PlacesIter<'a>,
}

impl<'a, O> Iterator for Stored<'a, O> {
    type Item = (&'a Key, &'a Item<O>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, item) = self.rows.row(self.places.next()?)?;
        Some((key, item.as_ref()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

/// Iterates over the objects with an indexed value, borrowed.
pub struct ByIndex<'a, O> {
    rows: &'a Rows<O>,
    found: Found<'a>,
    /// Whether every key has an object, so that the length is known and a collection need not grow.
    all_stored: bool,
}

/// Rows from an index.
enum Found<'a> {
    Lent(std::slice::Iter<'a, u32>),
    Own(std::vec::IntoIter<u32>),
}

impl Iterator for Found<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Lent(rows) => rows.next().copied(),
            Self::Own(rows) => rows.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Lent(rows) => rows.size_hint(),
            Self::Own(rows) => rows.size_hint(),
        }
    }
}

impl<'a, O> Iterator for ByIndex<'a, O> {
    type Item = &'a Item<O>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // Every indexed key is stored, unless an index function failed in an earlier write.
            if let Some((_, Some(item))) = self.rows.row(self.found.next()?) {
                return Some(item);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (length, at_most) = self.found.size_hint();
        (if self.all_stored { length } else { 0 }, at_most)
    }
}
