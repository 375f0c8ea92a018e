//! The store for multithreaded programs.

use std::ops::Deref;
use std::sync::PoisonError;

use crate::error::Error;
use crate::index::Indexers;
use crate::key::Key;
use crate::lister::ReadStore;
use crate::object::{Item, Object};
use crate::queue::KeyListerGetter;
use crate::store::{Indexer, Transaction};

use super::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A store for several threads: many readers or one writer.
///
/// Single reads return copies (of pointers; objects are shared). For many reads, lock with
/// [`read`](Self::read) and borrow.
///
/// Upstream: `threadSafeMap` in
/// [`thread_safe_store.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/thread_safe_store.go).
pub struct ThreadSafeStore<O> {
    store: RwLock<Indexer<O>>,
}

/// Read access to a store: no thread can write while it exists. Writing from the same thread
/// meanwhile is a deadlock.
pub struct StoreReader<'a, O>(RwLockReadGuard<'a, Indexer<O>>);

impl<O> Deref for StoreReader<'_, O> {
    type Target = Indexer<O>;

    fn deref(&self) -> &Indexer<O> {
        &self.0
    }
}

impl<O: Object> ThreadSafeStore<O> {
    /// Wraps a store.
    #[must_use]
    pub fn new(store: Indexer<O>) -> Self {
        Self {
            store: RwLock::new(store),
        }
    }

    /// Locks the store for reading.
    #[must_use]
    pub fn read(&self) -> StoreReader<'_, O> {
        StoreReader(self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Indexer<O>> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- writing

    /// [`Indexer::add`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn add(&self, item: Item<O>) -> Result<(), Error> {
        self.write().add(item, &mut ())
    }

    /// [`Indexer::update`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn update(&self, item: Item<O>) -> Result<(), Error> {
        self.write().update(item, &mut ())
    }

    /// [`Indexer::delete`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn delete(&self, item: &Item<O>) -> Result<(), Error> {
        self.write().delete(item, &mut ())
    }

    /// [`Indexer::replace`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn replace(
        &self,
        items: impl IntoIterator<Item = Item<O>>,
        resource_version: &str,
    ) -> Result<(), Error> {
        self.write().replace(items, resource_version, &mut ())
    }

    /// [`Indexer::transaction`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn transaction(&self, transactions: Vec<Transaction<O>>) -> Result<(), Error> {
        self.write().transaction(transactions, &mut ())
    }

    /// [`Indexer::bookmark`]
    pub fn bookmark(&self, resource_version: &str) {
        self.write().bookmark(resource_version, &mut ());
    }

    /// [`Indexer::add_indexers`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn add_indexers(&self, indexers: Indexers<O>) -> Result<(), Error> {
        self.write().add_indexers(indexers, &mut ())
    }

    // ---- reading

    /// [`Indexer::get`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn get(&self, item: &Item<O>) -> Result<Option<Item<O>>, Error> {
        Ok(self.read().get(item)?.cloned())
    }

    /// [`Indexer::get_by_key`]
    #[must_use]
    pub fn get_by_key(&self, key: &str) -> Option<Item<O>> {
        self.read().get_by_key(key).cloned()
    }

    /// [`Indexer::list`]
    #[must_use]
    pub fn list(&self) -> Vec<Item<O>> {
        self.read().list().cloned().collect()
    }

    /// [`Indexer::list_keys`]
    #[must_use]
    pub fn list_keys(&self) -> Vec<Key> {
        self.read().list_keys().cloned().collect()
    }

    /// [`Indexer::len`]
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// [`Indexer::is_empty`]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// [`Indexer::index`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn index(&self, index: &str, item: &Item<O>) -> Result<Vec<Item<O>>, Error> {
        let store = self.read();
        let found = store.index(index, item)?.cloned().collect();
        Ok(found)
    }

    /// [`Indexer::index_keys`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<Key>, Error> {
        let store = self.read();
        let keys = store.index_keys(index, value)?;
        Ok(keys.into_iter().cloned().collect())
    }

    /// [`Indexer::by_index`]
    ///
    /// # Errors
    /// The errors of that method.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Item<O>>, Error> {
        Ok(self.read().by_index(index, value)?.cloned().collect())
    }

    /// [`Indexer::last_store_sync_resource_version`]
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> String {
        self.read().last_store_sync_resource_version().to_owned()
    }
}

/// Each call locks separately, as in client-go.
impl<O: Object> KeyListerGetter<O> for ThreadSafeStore<O> {
    fn list_keys(&self) -> Vec<Key> {
        Self::list_keys(self)
    }

    fn get_by_key(&self, key: &str) -> Result<Option<Item<O>>, String> {
        Ok(Self::get_by_key(self, key))
    }
}

impl<O: Object> ReadStore<O> for ThreadSafeStore<O> {
    fn with_store<R>(&self, read: impl FnOnce(&Indexer<O>) -> R) -> R {
        read(&self.read())
    }
}
