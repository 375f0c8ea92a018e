//! What a reflector is made of.

use std::sync::Arc;
use std::time::Duration;

use crate::backoff::{Backoff, Jitter, NoJitter};
use crate::lister_watcher::Table;
use crate::order::Order;
use crate::queue::{Release, TransformFunc};

use super::MIN_WATCH_TIMEOUT;

/// Says why an object is not of the expected type.
pub type ExpectedType<O> = Arc<dyn Fn(&O) -> Result<(), String> + Send + Sync>;

/// Says whether an object is a `Table`.
pub type TableCheck<O> = Arc<dyn Fn(&O) -> Option<Table> + Send + Sync>;

/// What a reflector is made of.
pub struct ReflectorOptions<O> {
    /// Its name; part of an error's text.
    pub name: Arc<str>,
    /// What it lists, for the texts of errors.
    pub type_description: Arc<str>,
    /// Whether it begins each round with a streaming list. Up to client-go 0.34 it has to be asked
    /// for; a server or client that cannot do it has to be known beforehand, or refuse it.
    pub watch_list: bool,
    /// The most objects of a page (`WatchListPageSize`); 0: 500, and no limit where a server could
    /// answer out of its watch cache.
    pub page_size: u32,
    /// How often [`StoreCall::Resync`] is due; 0: never.
    pub resync_period: Duration,
    /// How long a 500 in the stream is answered by another watch; 0: by a list at once.
    pub max_internal_error_retry: Duration,
    /// A watch is asked for once to twice this long; less than five minutes counts as five.
    pub min_watch_timeout: Duration,
    /// Whether the store wants [`StoreCall::Bookmark`] (client-go 0.36).
    pub bookmark_store: bool,
    /// Whether the store wants [`StoreCall::UpdateResourceVersion`].
    pub update_resource_version_store: bool,
    /// The store's transformer. A streaming list's temporary store uses it, too (from client-go
    /// 0.34 on): such objects are transformed twice.
    pub transformer: Option<TransformFunc<O>>,
    /// Which objects are of the expected type: an event with another one is skipped. What is listed
    /// is not looked at, upstream either.
    pub expected_type: Option<ExpectedType<O>>,
    /// Which objects are a `Table`, where `O` can be one. An event with one is skipped: in streaming
    /// lists from client-go 0.34 on, in watches from 0.36 on; then a list that is one
    /// ([`ListPage::table`]) has failed, too.
    pub table_check: Option<TableCheck<O>>,
    /// Whose behaviour it is.
    pub release: Release,
    /// In which order a streaming list's objects reach the store.
    pub order: Order,
    /// The pauses between attempts.
    pub backoff: Backoff,
    /// Spreads pauses and timeouts.
    pub jitter: Box<dyn Jitter>,
}

impl<O> Default for ReflectorOptions<O> {
    fn default() -> Self {
        Self {
            name: Arc::default(),
            type_description: "<unspecified>".into(),
            watch_list: false,
            page_size: 0,
            resync_period: Duration::ZERO,
            max_internal_error_retry: Duration::ZERO,
            min_watch_timeout: MIN_WATCH_TIMEOUT,
            bookmark_store: false,
            update_resource_version_store: false,
            transformer: None,
            expected_type: None,
            table_check: None,
            release: Release::default(),
            order: Order::default(),
            backoff: Backoff::default(),
            jitter: Box::new(NoJitter),
        }
    }
}

// Derived, this and the others would ask for `O: Clone`.
impl<O> Clone for ReflectorOptions<O> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            type_description: Arc::clone(&self.type_description),
            transformer: self.transformer.clone(),
            expected_type: self.expected_type.clone(),
            table_check: self.table_check.clone(),
            jitter: self.jitter.clone(),
            ..*self
        }
    }
}
