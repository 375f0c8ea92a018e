//! The state of a shared informer besides its queue, its store and its listeners: whether it runs,
//! its resync periods, and its settings.
//!
//! Upstream: `sharedIndexInformer` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::error::Error;
use super::fact::{Fact, HandlersFact};
use super::object::{Item, Object};
use super::process::Notification;
use super::queue::TransformFunc;
use super::reflector::ReflectorError;
use super::step::Step;
use super::store::Indexer;
use super::trace::Trace;

/// The shortest resync period of a handler.
pub const MINIMUM_RESYNC_PERIOD: Duration = Duration::from_secs(1);

/// The poll interval of [`CacheSyncWait`].
pub const SYNCED_POLL_PERIOD: Duration = Duration::from_millis(100);

/// The effective resync period of a handler: zero if the informer never checks, and at least the
/// check period.
#[must_use]
pub fn determine_resync_period(desired: Duration, check: Duration) -> Duration {
    if desired.is_zero() || check.is_zero() {
        Duration::ZERO
    } else {
        desired.max(check)
    }
}

/// The decision of [`SharedInformerState::add_event_handler`] about a new handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRegistration {
    /// The handler's name.
    pub name: Arc<str>,
    /// The requested period, at least one second, and after the start at least the check period.
    pub requested_resync_period: Duration,
    /// The effective period.
    pub resync_period: Duration,
    /// The new check period of the informer, if the handler requested a shorter one; it also
    /// changes the periods of the other handlers.
    pub new_resync_check_period: Option<Duration>,
    /// Whether the informer is already running. Then hold BlockDeltas from before the listener is
    /// added until it has received [`initial_notifications`].
    pub late: bool,
}

/// The state of a shared informer.
#[derive_where(Clone)]
pub struct SharedInformerState<O> {
    resync_check_period: Duration,
    default_event_handler_resync_period: Duration,
    started: bool,
    stopped: bool,
    synced: bool,
    transform: Option<TransformFunc<O>>,
    watch_error_handler: Option<WatchErrorHandler>,
}

/// Receives the reason why a round of the reflector ended. It should return quickly.
pub type WatchErrorHandler = Arc<dyn Fn(&ReflectorError) + Send + Sync>;

impl<O: Object> SharedInformerState<O> {
    /// An informer that is not started. `resync_period` is the default period of its handlers, and
    /// how often it checks which handlers are due. Zero: it never checks, whatever period a handler
    /// requests.
    #[must_use]
    pub fn new(resync_period: Duration) -> Self {
        Self {
            resync_check_period: resync_period,
            default_event_handler_resync_period: resync_period,
            started: false,
            stopped: false,
            synced: false,
            transform: None,
            watch_error_handler: None,
        }
    }

    /// Decides about a new handler. `resync_period` is the period that it requests; zero: never;
    /// `None`: the informer's default.
    ///
    /// # Errors
    /// [`Error::HandlerNotAdded`]: the informer has stopped.
    pub fn add_event_handler(
        &mut self,
        name: &str,
        resync_period: Option<Duration>,
        trace: &mut impl Trace,
    ) -> Result<HandlerRegistration, Error> {
        if self.stopped {
            return Err(Error::HandlerNotAdded(name.into()));
        }
        let mut requested = resync_period.unwrap_or(self.default_event_handler_resync_period);
        let mut new_check = None;
        if !requested.is_zero() {
            requested = requested.max(MINIMUM_RESYNC_PERIOD);
            if requested < self.resync_check_period {
                if self.started {
                    requested = self.resync_check_period;
                } else {
                    self.resync_check_period = requested;
                    new_check = Some(requested);
                    trace.fact(Step::HandlerPeriod, || {
                        Fact::Handlers(HandlersFact::ResyncCheckSet {
                            ms: u64::try_from(requested.as_millis()).unwrap_or(u64::MAX),
                        })
                    });
                }
            }
        }
        Ok(HandlerRegistration {
            name: name.into(),
            requested_resync_period: requested,
            resync_period: determine_resync_period(requested, self.resync_check_period),
            new_resync_check_period: new_check,
            late: self.started,
        })
    }

    /// Checks whether indexers may be added.
    ///
    /// # Errors
    /// [`Error::IndexerNotAdded`]: the informer has stopped.
    pub fn check_add_indexers(&self) -> Result<(), Error> {
        if self.stopped {
            return Err(Error::IndexerNotAdded);
        }
        Ok(())
    }

    /// Sets the transformer, which every object passes before it is queued.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_transform(&mut self, transform: Option<TransformFunc<O>>) -> Result<(), Error> {
        self.check_not_started()?;
        self.transform = transform;
        Ok(())
    }

    /// The transformer.
    #[must_use]
    pub fn transform(&self) -> Option<&TransformFunc<O>> {
        self.transform.as_ref()
    }

    /// Sets the watch-error handler, which replaces an earlier one.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_watch_error_handler(&mut self, handler: WatchErrorHandler) -> Result<(), Error> {
        self.check_not_started()?;
        self.watch_error_handler = Some(handler);
        Ok(())
    }

    /// The watch-error handler.
    #[must_use]
    pub fn watch_error_handler(&self) -> Option<&WatchErrorHandler> {
        self.watch_error_handler.as_ref()
    }

    /// Checks that the informer is not started: some settings may only be changed before.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn check_not_started(&self) -> Result<(), Error> {
        if self.started {
            return Err(Error::InformerStarted);
        }
        Ok(())
    }

    /// Marks the informer as started. Returns how often the reflector checks whether a resync is
    /// due.
    ///
    /// # Errors
    /// [`Error::InformerRunTwice`]: it was already started (client-go warns and returns).
    pub fn start(&mut self) -> Result<Duration, Error> {
        if self.started {
            return Err(Error::InformerRunTwice);
        }
        self.started = true;
        Ok(self.resync_check_period)
    }

    /// Records that the queue has synced. Call it after the queue's lock was released, so that all
    /// notifications of the initial list have already been sent to the listeners.
    pub fn set_synced(&mut self) {
        self.synced = true;
    }

    /// Marks the informer as stopped, for good.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether it was started.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether the initial list is in the store.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// How often the informer checks which handlers are due for a resync; zero: never.
    #[must_use]
    pub fn resync_check_period(&self) -> Duration {
        self.resync_check_period
    }
}

/// The first notifications of a late handler: an add for every stored object.
#[must_use]
pub fn initial_notifications<O: Object>(store: &Indexer<O>) -> Vec<Arc<Notification<O>>> {
    let add = |object: &Item<O>| {
        Arc::new(Notification::Add {
            object: object.clone(),
            is_in_initial_list: true,
        })
    };
    store.list().map(add).collect()
}

/// The result of [`CacheSyncWait::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheSync {
    /// All caches have synced.
    Synced,
    /// Stopped before all had synced.
    Stopped,
    /// Poll again at this time.
    AskAt(Duration),
}

/// WaitForCacheSync: polls at once, then ten times a second, until all caches have synced.
#[derive(Clone, Debug, Default)]
pub struct CacheSyncWait {
    next: Option<Duration>,
}

impl CacheSyncWait {
    /// Polls, if it is time. The first call polls even if `stopped`.
    pub fn poll(
        &mut self,
        now: Duration,
        stopped: bool,
        all_synced: impl FnOnce() -> bool,
    ) -> CacheSync {
        let due = self.next.is_none_or(|next| now >= next);
        if stopped && self.next.is_some() {
            return CacheSync::Stopped;
        }
        if due && all_synced() {
            return CacheSync::Synced;
        }
        if stopped {
            return CacheSync::Stopped;
        }
        let next = match self.next {
            Some(next) if !due => next,
            _ => now.saturating_add(SYNCED_POLL_PERIOD),
        };
        self.next = Some(next);
        CacheSync::AskAt(next)
    }
}
