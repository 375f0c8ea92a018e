//! What a shared informer has to remember besides its queue, its store and its listeners: whether
//! it runs, its resync periods, and who may still be added.
//!
//! Upstream: `sharedIndexInformer` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).

use std::sync::Arc;
use std::time::Duration;

use super::error::Error;
use super::fact::{Fact, HandlersFact};
use super::object::{Item, Object};
use super::process::Notification;
use super::queue::TransformFunc;
use super::reflector::ReflectorError;
use super::step::Step;
use super::store::Indexer;
use super::trace::Trace;

/// No handler is told everything again more often than this.
pub const MINIMUM_RESYNC_PERIOD: Duration = Duration::from_secs(1);

/// How often [`CacheSyncWait`] asks.
pub const SYNCED_POLL_PERIOD: Duration = Duration::from_millis(100);

/// The period that counts for a handler: none in an informer that never checks, and no shorter than
/// the check's.
#[must_use]
pub fn determine_resync_period(desired: Duration, check: Duration) -> Duration {
    if desired.is_zero() || check.is_zero() {
        Duration::ZERO
    } else {
        desired.max(check)
    }
}

/// What [`SharedInformerState::add_event_handler`] decided about a new handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRegistration {
    /// The handler's name.
    pub name: Arc<str>,
    /// The period asked for, no shorter than a second, and after start no shorter than the check's.
    pub requested_resync_period: Duration,
    /// The period that counts.
    pub resync_period: Duration,
    /// The informer checks this often from now on, because the handler asked for less; the other
    /// handlers' periods follow.
    pub new_resync_check_period: Option<Duration>,
    /// The informer runs already: hold BlockDeltas from before the listener is added until it was
    /// given [`initial_notices`].
    pub late: bool,
}

/// The bookkeeping of a shared informer.
pub struct SharedInformerState<O> {
    resync_check_period: Duration,
    default_event_handler_resync_period: Duration,
    started: bool,
    stopped: bool,
    synced: bool,
    transform: Option<TransformFunc<O>>,
    watch_error_handler: Option<WatchErrorHandler>,
}

/// Is told why a round of the reflector ended. It should return quickly.
pub type WatchErrorHandler = Arc<dyn Fn(&ReflectorError) + Send + Sync>;

// Derived, this would ask for `O: Clone`.
impl<O> Clone for SharedInformerState<O> {
    fn clone(&self) -> Self {
        Self {
            resync_check_period: self.resync_check_period,
            default_event_handler_resync_period: self.default_event_handler_resync_period,
            started: self.started,
            stopped: self.stopped,
            synced: self.synced,
            transform: self.transform.clone(),
            watch_error_handler: self.watch_error_handler.clone(),
        }
    }
}

impl<O: Object> SharedInformerState<O> {
    /// An informer that was not started. `resync_period` is the default of its handlers, and how
    /// often it checks who is due; zero: it never does, whatever a handler asks for.
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

    /// Decides about a new handler. `resync_period`: how often it wants to be told everything again;
    /// zero: never; `None`: the informer's default.
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

    /// Whether indexers may be added.
    ///
    /// # Errors
    /// [`Error::IndexerNotAdded`]: the informer has stopped.
    pub fn check_add_indexers(&self) -> Result<(), Error> {
        if self.stopped {
            return Err(Error::IndexerNotAdded);
        }
        Ok(())
    }

    /// Sets what every object goes through before it is queued.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_transform(&mut self, transform: Option<TransformFunc<O>>) -> Result<(), Error> {
        self.check_not_started()?;
        self.transform = transform;
        Ok(())
    }

    /// What every object goes through before it is queued.
    #[must_use]
    pub fn transform(&self) -> Option<&TransformFunc<O>> {
        self.transform.as_ref()
    }

    /// Sets who is told why a round of the reflector ended; the last one counts.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn set_watch_error_handler(&mut self, handler: WatchErrorHandler) -> Result<(), Error> {
        self.check_not_started()?;
        self.watch_error_handler = Some(handler);
        Ok(())
    }

    /// Who is told why a round of the reflector ended.
    #[must_use]
    pub fn watch_error_handler(&self) -> Option<&WatchErrorHandler> {
        self.watch_error_handler.as_ref()
    }

    /// Whether what has to come before the start may still be set.
    ///
    /// # Errors
    /// [`Error::InformerStarted`].
    pub fn check_not_started(&self) -> Result<(), Error> {
        if self.started {
            return Err(Error::InformerStarted);
        }
        Ok(())
    }

    /// Starts. What it gives is how often the reflector asks whether a resync is due.
    ///
    /// # Errors
    /// [`Error::InformerRunTwice`]: it was started before (upstream warns and returns).
    pub fn start(&mut self) -> Result<Duration, Error> {
        if self.started {
            return Err(Error::InformerRunTwice);
        }
        self.started = true;
        Ok(self.resync_check_period)
    }

    /// Notes that the queue has synced: to be told once the lock of the queue is free again, so that
    /// every notification of the first list was handed to the listeners before.
    pub fn set_synced(&mut self) {
        self.synced = true;
    }

    /// Stops for good.
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

    /// Whether the first list is in the store.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// How often it checks who is due for a resync; zero: never.
    #[must_use]
    pub fn resync_check_period(&self) -> Duration {
        self.resync_check_period
    }
}

/// What a late handler is told first: an add for everything in the store.
#[must_use]
pub fn initial_notices<O: Object>(store: &Indexer<O>) -> Vec<Arc<Notification<O>>> {
    let add = |object: &Item<O>| {
        Arc::new(Notification::Add {
            object: object.clone(),
            is_in_initial_list: true,
        })
    };
    store.list().map(add).collect()
}

/// What somebody who waits for caches does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheSync {
    /// All have synced.
    Synced,
    /// It was stopped before.
    Stopped,
    /// Ask again then.
    AskAt(Duration),
}

/// WaitForCacheSync: asks at once, and then ten times a second, whether all have synced.
#[derive(Clone, Debug, Default)]
pub struct CacheSyncWait {
    next: Option<Duration>,
}

impl CacheSyncWait {
    /// Asks, when it is time. The first time it asks even if it was stopped.
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
