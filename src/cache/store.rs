//! The store with its indices: what an informer's cache is.
//!
//! Upstream: [`store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/store.go)
//! and [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go),
//! which keeps the content under a lock. Here there is no lock: whoever shares a store puts one
//! around it.

use std::sync::Arc;

use super::chunked_vec::ChunkedVec;
use super::error::{Error, TransactionError};
use super::fact::{Fact, QueueFact, Rv, StoreFact};
use super::index::{IndexView, Indexers, Indices};
use super::interner::Interner;
use super::key::Key;
use super::key_func::{KeyFunc, key_error};
use super::object::{Item, Object};
use super::order::Order;
use super::queue::{KeyListerGetter, TransformFunc};
use super::step::Step;
use super::store_order::{PlacesIter, StoreOrder};
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
    /// A number for each key: everything here and in the indices is by number.
    keys: Interner<Key>,
    /// `None` for a key that is in an index alone, after an index function failed.
    items: ChunkedVec<Option<Item<O>>>,
    /// The numbers of what is stored, as it lies.
    places: StoreOrder,
    indices: Indices<O>,
    version: Version,
    transformer: Option<TransformFunc<O>>,
    order: Order,
    refuses_late_indexers: bool,
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for Indexer<O> {
    fn clone(&self) -> Self {
        Self {
            key_func: Arc::clone(&self.key_func),
            keys: self.keys.clone(),
            items: self.items.clone(),
            places: self.places.clone(),
            indices: self.indices.clone(),
            version: self.version.clone(),
            transformer: self.transformer.clone(),
            order: self.order,
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
            keys: Interner::default(),
            items: ChunkedVec::default(),
            places: StoreOrder::default(),
            indices,
            version: Version::new(options.keeps_resource_version),
            transformer: options.transformer,
            order: options.order,
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
        self.version.prepare(Some(&item));
        self.put(key, item, trace)?;
        self.version.advance(trace);
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
        self.version.prepare(Some(item));
        self.remove(&key, trace)?;
        self.version.advance(trace);
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
        let mut keys = Interner::with_capacity(items.size_hint().0);
        let mut content = ChunkedVec::default();
        for item in items {
            let key = self.key_of(&item, trace)?;
            let (row, _) = keys.insert(key);
            content.set(row, Some(self.transform(item)?));
        }
        self.places = StoreOrder::in_turn(keys.len());
        self.keys = keys;
        self.items = content;
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
        let last = keyed.last().map(|(_, transaction)| &transaction.object);
        self.version.prepare(last);
        for (key, transaction) in keyed {
            match transaction.transaction_type {
                TransactionType::Add | TransactionType::Update => {
                    self.put(key, transaction.object, trace)?;
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

    /// Puts another object in the place of a stored one behind the back of the indices: what it comes
    /// to when somebody writes into an object that the store shares with him. Says whether the key
    /// is there.
    pub fn write_through(&mut self, key: &str, item: Item<O>) -> bool {
        let Some(row) = self.keys.find(key.as_bytes()) else {
            return false;
        };
        match self.items.get_mut(row) {
            Some(stored @ Some(_)) => {
                *stored = Some(item);
                // What the indices hold is not what they would be told of it now.
                self.indices.mark_stale(0, row);
                true
            }
            _ => false,
        }
    }

    /// Notes a version without a change.
    pub fn bookmark(&mut self, resource_version: &str, trace: &mut impl Trace) {
        self.version.set(resource_version, trace);
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

    /// What is stored under the object's key.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn get(&self, item: &Item<O>) -> Result<Option<&Item<O>>, Error> {
        let key = (self.key_func)(item).map_err(|error| key_error(item, error))?;
        Ok(self.find(key.as_bytes()))
    }

    /// What is stored under a key.
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<&Item<O>> {
        self.find(key.as_bytes())
    }

    /// Everything that is stored, lent, in the visible order.
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
        self.places.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.len() == 0
    }

    /// What shares an indexed value with `item`, which need not be stored; in the visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`], [`Error::IndexFunc`].
    pub fn index<'a>(&'a self, index: &str, item: &Item<O>) -> Result<ByIndex<'a, O>, Error> {
        Ok(self.by_rows(Rows::Own(self.indices.rows_like(index, item)?.into_iter())))
    }

    /// The keys under an indexed value, sorted.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<&Key>, Error> {
        let rows = self.indices.rows(index, value)?;
        let mut keys: Vec<_> = rows.iter().filter_map(|row| self.keys.name(*row)).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    /// The objects under an indexed value, lent, in the visible order.
    ///
    /// # Errors
    /// [`Error::IndexNotFound`].
    pub fn by_index(&self, index: &str, value: &str) -> Result<ByIndex<'_, O>, Error> {
        Ok(self.by_rows(Rows::Lent(self.indices.rows(index, value)?.iter())))
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
        self.indices.view(&self.keys)
    }

    /// The key function.
    #[must_use]
    pub fn key_func(&self) -> &KeyFunc<O> {
        &self.key_func
    }

    /// The version of the last write, list or bookmark. No maximum: it can go back.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> &str {
        &self.version.text
    }

    // ---- helpers

    fn key_of(&self, item: &Item<O>, trace: &mut impl Trace) -> Result<Key, Error> {
        (self.key_func)(item).map_err(|error| {
            let error = key_error(item, error);
            trace.fact(Step::StoreWrite, || {
                Fact::Queue(QueueFact::KeyFailed {
                    error: error.to_string().into(),
                })
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

    fn find(&self, key: &[u8]) -> Option<&Item<O>> {
        self.items.get(self.keys.find(key)?)?.as_ref()
    }

    /// What is stored, as it lies.
    fn stored(&self) -> Stored<'_, O> {
        Stored {
            keys: &self.keys,
            items: &self.items,
            rows: self.places.iter(),
        }
    }

    fn by_rows<'a>(&'a self, rows: Rows<'a>) -> ByIndex<'a, O> {
        let rows = if self.order.sorts() {
            Rows::Own(self.sorted(rows).into_iter())
        } else {
            rows
        };
        ByIndex {
            items: &self.items,
            rows,
        }
    }

    /// Numbers in the visible order, where it is not the one they lie in.
    fn sorted(&self, rows: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut keyed: Vec<_> = rows
            .filter_map(|row| Some((row, self.keys.name(row)?)))
            .collect();
        self.order.sort(&mut keyed, |(_, key)| key);
        keyed.into_iter().map(|(row, _)| row).collect()
    }

    fn put(&mut self, key: Key, item: Item<O>, trace: &mut impl Trace) -> Result<(), Error> {
        let (row, _) = self.keys.insert(key);
        let old = match self.items.get_mut(row) {
            Some(place) => place.replace(item),
            None => {
                self.items.push(Some(item));
                None
            }
        };
        if old.is_none() {
            self.places.push(row);
        }
        let (Some(key), Some(Some(item))) = (self.keys.name(row), self.items.get(row)) else {
            return Ok(());
        };
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
        let Some(row) = self.keys.find(key.as_bytes()) else {
            return Ok(());
        };
        let Some(place @ Some(_)) = self.items.get_mut(row) else {
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
            self.keys.remove(row);
        }
        Ok(())
    }

    /// Enters everything into the indices from `first` on.
    fn index_all(&mut self, first: usize, trace: &mut impl Trace) -> Result<(), Error> {
        let rows = if self.order.sorts() {
            self.sorted(self.places.iter())
        } else {
            self.places.iter().collect()
        };
        let mut end = Ok(());
        for row in rows {
            let (Some(key), Some(Some(item))) = (self.keys.name(row), self.items.get(row)) else {
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
    /// Else it is always empty.
    keeps: bool,
    /// What it will be when the write goes well; its room is used again and again.
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

    /// Notes the version of what is about to be written; a tombstone has none. Done before the
    /// write, while the object is being read for its key: later it would be waited for once more.
    fn prepare<O: Object>(&mut self, item: Option<&Item<O>>) {
        self.moves = false;
        if self.keeps
            && let Some(object) = item.and_then(Item::plain_object)
        {
            self.set_next(object.resource_version());
        }
    }

    /// The write that was prepared went well.
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
        // By hand: versions mostly differ in their last digits, and a processor that sees who reads
        // them fetches the next one ahead, which it cannot behind a call that everybody makes.
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

/// Everything in a store, lent.
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
        match &mut self.inner {
            Inner::Stored(stored) => stored.next_item(),
            Inner::Sorted(items) => items.next().map(|(_, item)| item),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<O> ExactSizeIterator for List<'_, O> {}

/// Keys and items as they lie. Each number that has a place has both.
struct Stored<'a, O> {
    keys: &'a Interner<Key>,
    items: &'a ChunkedVec<Option<Item<O>>>,
    rows: PlacesIter<'a>,
}

impl<'a, O> Stored<'a, O> {
    /// The next item, without a look at its key.
    fn next_item(&mut self) -> Option<&'a Item<O>> {
        self.items.get(self.rows.next()?)?.as_ref()
    }
}

impl<'a, O> Iterator for Stored<'a, O> {
    type Item = (&'a Key, &'a Item<O>);

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some((self.keys.name(row)?, self.items.get(row)?.as_ref()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

/// What is stored under one indexed value, lent.
pub struct ByIndex<'a, O> {
    items: &'a ChunkedVec<Option<Item<O>>>,
    rows: Rows<'a>,
}

/// Numbers of objects out of an index.
enum Rows<'a> {
    Lent(std::slice::Iter<'a, u32>),
    Own(std::vec::IntoIter<u32>),
}

impl Iterator for Rows<'_> {
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
            // Every indexed key is stored, unless an index function failed in a write before.
            if let Some(Some(item)) = self.items.get(self.rows.next()?) {
                return Some(item);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.rows.size_hint().1)
    }
}
