//! Configuration of a reflector.

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use crate::backoff::{Backoff, Jitter, NoJitter};
use crate::lister_watcher::Table;
use crate::order::Order;
use crate::queue::{Release, TransformFunc};

use super::MIN_WATCH_TIMEOUT;

/// Returns an error if an object is not of the expected type.
pub type ExpectedType<O> = Arc<dyn Fn(&O) -> Result<(), String> + Send + Sync>;

/// Returns which kind of `Table` an object is, if it is one.
pub type TableCheck<O> = Arc<dyn Fn(&O) -> Option<Table> + Send + Sync>;

/// Configuration of a reflector.
#[derive_where(Clone)]
pub struct ReflectorOptions<O> {
    /// The reflector's name, for error texts.
    pub name: Arc<str>,
    /// The type of the listed objects, for error texts.
    pub type_description: Arc<str>,
    /// Whether each round begins with a streaming list. In client-go up to 0.34 this is opt-in. If
    /// the server or the client does not support streaming lists, set it to false, unless the
    /// server rejects the request.
    pub watch_list: bool,
    /// Maximum number of objects per page (`WatchListPageSize`). 0: 500, or no limit if the server
    /// can answer from its watch cache.
    pub page_size: u32,
    /// Period of [`StoreCall::Resync`]; 0: never.
    pub resync_period: Duration,
    /// How long the reflector reopens a watch that ends with a 500, instead of listing. 0: it
    /// always lists.
    pub max_internal_error_retry: Duration,
    /// The timeout of a watch is random, once to twice this value. Less than five minutes counts as
    /// five.
    pub min_watch_timeout: Duration,
    /// Whether the store accepts [`StoreCall::Bookmark`] (client-go 0.36).
    pub bookmark_store: bool,
    /// Whether the store accepts [`StoreCall::UpdateResourceVersion`].
    pub update_resource_version_store: bool,
    /// The store's transformer. The temporary store of a streaming list uses it, too (from
    /// client-go 0.34 on), so these objects are transformed twice.
    pub transformer: Option<TransformFunc<O>>,
    /// Checks the type of watched objects. An event with an object of another type is skipped. Like
    /// client-go, the reflector does not check listed objects.
    pub expected_type: Option<ExpectedType<O>>,
    /// Detects objects that are a `Table`, if `O` can be one. An event with a `Table` is skipped:
    /// in streaming lists from client-go 0.34 on, in watches from 0.36 on. From 0.36 on, a list
    /// that is a `Table` ([`ListPage::table`]) fails.
    pub table_check: Option<TableCheck<O>>,
    /// Which client-go release to follow.
    pub release: Release,
    /// The order in which the objects of a streaming list reach the store.
    pub order: Order,
    /// The pauses between attempts.
    pub backoff: Backoff,
    /// The source of randomness for pauses and timeouts.
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
