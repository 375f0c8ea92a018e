//! The reflector: keeps a store in sync with a server, by lists and watches.
//!
//! A state machine without I/O. [`Reflector::need`] returns what it waits for, and each answer (a
//! page, an event, the outcome of a store call, the end of a pause) leads to the next need. The
//! driver owns the connection, the store and the clock.
//!
//! ```
//! use std::time::Duration;
//!
//! use deltascope_cache::lister_watcher::ListPage;
//! use deltascope_cache::object::Item;
//! use deltascope_cache::reflector::{Need, Reflector, ReflectorOptions, StoreCall};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! let now = Duration::ZERO;
//! let mut reflector = Reflector::<Pod>::new(ReflectorOptions::default());
//! reflector.waited(now, &mut ());
//! let Need::List(request) = reflector.need() else { panic!() };
//! assert_eq!(&*request.resource_version, "0");
//! let page = ListPage {
//!     resource_version: "10".into(),
//!     items: vec![Item::object(Pod::default())],
//!     continue_token: "".into(),
//!     table: None,
//! };
//! reflector.listed(now, Ok(page), &mut ());
//! let Some(StoreCall::Replace(items, rv)) = reflector.take_store_call() else { panic!() };
//! assert_eq!((items.len(), &*rv), (1, "10"));
//! reflector.stored(now, Ok(()), &mut ());
//! assert!(matches!(reflector.need(), Need::Watch(_)));
//! ```
//!
//! Upstream: [`reflector.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/reflector.go),
//! [`pager.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/pager/pager.go) and
//! [`retry_with_deadline.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/retry_with_deadline.go).

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::backoff::{BackoffManager, ResetSince};
use super::error::Error;
use super::fact::{BackoffReason, EventType, Fact, ObjectRef, Reason, ReflectorFact, Rv};
use super::key::Key;
use super::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, WatchItem, WatchRequest,
};
use super::map::Map;
use super::object::{Item, Object};
use super::queue::Release;
use super::step::Step;
use super::trace::Trace;

mod lists;
mod options;
mod watches;

pub use options::{ExpectedType, ReflectorOptions, TableCheck};

/// Minimum timeout of a watch, to limit the load on servers.
pub const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Default page size, in objects.
pub const DEFAULT_PAGE_SIZE: u32 = 500;

/// A watch that ends sooner than this without an event counts as failed.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// Interval of the check whether the bookmark that ends the initial events is late.
const INITIAL_EVENTS_END_CHECK: Duration = Duration::from_secs(10);

/// After this time without a 500, the time limit for retries starts anew.
const INTERNAL_ERROR_RESET: Duration = Duration::from_secs(60);

/// What a reflector waits for.
#[derive(Debug)]
#[derive_where(Clone)]
pub enum Need<O> {
    /// The answer to a list: [`Reflector::listed`].
    List(ListRequest),
    /// The answer to a watch: [`Reflector::watched`].
    Watch(WatchRequest),
    /// The next item of the open watch: [`Reflector::received`].
    Event,
    /// The driver, to take this store call: [`Reflector::take_store_call`].
    Store(StoreCall<O>),
    /// The outcome of the store call that was taken: [`Reflector::stored`].
    Stored,
    /// This time: [`Reflector::waited`]. Also the initial need.
    Wait(Duration),
    /// Nothing: it has stopped.
    Stopped,
}

/// A call to the store (in an informer: to its queue).
#[derive(Debug)]
#[derive_where(Clone)]
pub enum StoreCall<O> {
    /// `Add`
    Add(Item<O>),
    /// `Update`
    Update(Item<O>),
    /// `Delete`
    Delete(Item<O>),
    /// `Replace`, with the version of the list.
    Replace(Vec<Item<O>>, Rv),
    /// `Resync`. The reflector itself never requests it; see [`Reflector::resync_fired`].
    Resync,
    /// `Bookmark`
    Bookmark(Rv),
    /// `UpdateResourceVersion`. It cannot fail.
    UpdateResourceVersion(Rv),
}

/// The activity of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReflectorState {
    /// Not started.
    #[default]
    Idle,
    /// Listing.
    List,
    /// Reading the initial events of a streaming list, or waiting for it to open.
    Stream,
    /// Watching, or waiting for the watch to open.
    Watch,
    /// Pausing before the next attempt.
    Backoff,
    /// Stopped.
    Stopped,
}

/// Why a round, or the streaming list at its start, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectorError {
    /// A list failed.
    List {
        /// The type of the listed objects.
        type_description: Arc<str>,
        /// The error.
        error: ApiError,
    },
    /// The store returned an error for a list.
    Sync(Error),
    /// The store returned an error for a streaming list.
    SyncWatchList(Error),
    /// A watch failed: its request, or later in the stream.
    Watch(ApiError),
    /// A watch ended within a second without an event.
    VeryShortWatch {
        /// The reflector's name.
        name: Arc<str>,
    },
}

impl ReflectorError {
    /// Whether a version had expired. This is harmless: client-go's default watch-error handler
    /// logs it at a low level.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        match self {
            Self::List { error, .. } | Self::Watch(error) => error.is_expired(),
            _ => false,
        }
    }
}

impl fmt::Display for ReflectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List {
                type_description,
                error,
            } => write!(f, "failed to list {type_description}: {error}"),
            Self::Sync(error) => write!(f, "unable to sync list result: {error}"),
            Self::SyncWatchList(error) => write!(f, "unable to sync watch-list result: {error}"),
            Self::Watch(error) => error.fmt(f),
            Self::VeryShortWatch { name } => write!(
                f,
                "very short watch: {name}: Unexpected watch close - watch lasted less than a second and no items received"
            ),
        }
    }
}

impl std::error::Error for ReflectorError {}

/// Keeps a store in sync with a server.
#[derive_where(Clone)]
pub struct Reflector<O> {
    options: ReflectorOptions<O>,
    need: Need<O>,
    stage: Stage,
    state: ReflectorState,
    /// `Some` once the first round has begun.
    backoff_manager: Option<BackoffManager>,
    last_sync: Rv,
    unavailable: bool,
    /// Whether the server returns pages even when it could answer from its watch cache.
    paginated_result: bool,
    pager: Pager<O>,
    stream: Stream,
    temporary_store: Map<Key, Item<O>>,
    retry: RetryWithDeadline,
    resync: ResyncTimer,
    watch_error: Option<ReflectorError>,
}

/// How the reflector will interpret the answer to its need.
#[derive(Clone, Debug)]
enum Stage {
    /// The end of a pause; `Next` follows.
    Pause(Next),
    /// A page of a list.
    List,
    /// The store's outcome for the list of this version.
    Replace(Rv),
    /// A streaming list, open or requested.
    Stream,
    /// The store's outcome for the streaming list of this version.
    ReplaceStream(Rv),
    /// A watch, open or requested.
    Watch,
    /// The store's outcome for the event of this version.
    Dispatch(Rv),
    /// The store's outcome for the new version.
    UpdateVersion,
    /// None.
    Stopped,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Round,
    Stream,
    Watch,
}

/// A list in progress, page by page.
#[derive_where(Default, Clone)]
struct Pager<O> {
    /// The version that was requested first.
    resource_version: Rv,
    page_size: u32,
    /// Whether that version was "0", as in the very first list.
    from_cache: bool,
    /// The continue token of the requested page.
    token: Arc<str>,
    /// The objects of the earlier pages, and the version of the first page.
    so_far: Option<(Vec<Item<O>>, Rv)>,
    paginated: bool,
    /// Whether this is the full list without pages, after a token expired.
    full: bool,
    /// Whether this is the second attempt, after the version was unavailable.
    again: bool,
}

/// The open watch.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    open: bool,
    /// When the watch was requested.
    start: Duration,
    events: u64,
    /// Whether any event other than ADDED has arrived: then the initial events, which may be in any
    /// order, are over.
    besides_added: bool,
    /// Whether its ADDED events are ordered by version.
    in_order: bool,
    /// HTTP status of the `ERROR` event that ended it.
    code: u16,
    /// When the last event arrived.
    last_event: Option<Duration>,
    /// Streaming list only: the next check whether its end is late.
    check_at: Option<Duration>,
}

/// The resync timer.
#[derive(Clone, Debug, Default)]
struct ResyncTimer {
    at: Option<Duration>,
    /// It has fired, and the store is resyncing.
    busy: bool,
    /// The resync failed, so the watch ends.
    failed: bool,
}

/// Since when internal errors have been occurring.
#[derive(Clone, Copy, Debug, Default)]
struct RetryWithDeadline {
    first: Option<Duration>,
    last: Option<Duration>,
}

impl RetryWithDeadline {
    fn after(&mut self, now: Duration) {
        if self
            .last
            .is_none_or(|last| now.saturating_sub(last) >= INTERNAL_ERROR_RESET)
        {
            self.first = None;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    fn should_retry(&self, now: Duration, max: Duration) -> bool {
        !max.is_zero()
            && self
                .first
                .is_some_and(|first| now.saturating_sub(first) <= max)
    }
}

impl<O: Object> Reflector<O> {
    /// A reflector that starts with [`Reflector::waited`].
    #[must_use]
    pub fn new(options: ReflectorOptions<O>) -> Self {
        Self {
            options,
            need: Need::Wait(Duration::ZERO),
            stage: Stage::Pause(Next::Round),
            state: ReflectorState::Idle,
            backoff_manager: None,
            last_sync: Rv::default(),
            unavailable: false,
            paginated_result: false,
            pager: Pager::default(),
            stream: Stream::default(),
            temporary_store: Map::default(),
            retry: RetryWithDeadline::default(),
            resync: ResyncTimer::default(),
            watch_error: None,
        }
    }

    /// Starts with a watch, as if a list had come before: for the recording of a watch only.
    // Hidden, as what client-go does not have: only whoever replays a recording has no list.
    #[doc(hidden)]
    #[must_use]
    pub fn in_mid_watch(options: ReflectorOptions<O>) -> Self {
        Self {
            stage: Stage::Pause(Next::Watch),
            ..Self::new(options)
        }
    }

    // ---- needs and answers

    /// What the reflector waits for, until the answer comes.
    ///
    /// An answer to another need is ignored, because it is outdated.
    #[must_use]
    pub fn need(&self) -> &Need<O> {
        &self.need
    }

    /// Takes the call of a [`Need::Store`].
    pub fn take_store_call(&mut self) -> Option<StoreCall<O>> {
        match mem::replace(&mut self.need, Need::Stored) {
            Need::Store(call) => Some(call),
            other => {
                self.need = other;
                None
            }
        }
    }

    /// The answer to a [`Need::List`].
    pub fn listed(
        &mut self,
        now: Duration,
        answer: Result<ListPage<O>, ApiError>,
        trace: &mut impl Trace,
    ) {
        if !matches!(self.need, Need::List(_)) {
            return;
        }
        match answer {
            Ok(page) => self.page(now, page, trace),
            Err(error) => self.list_failed(now, error, trace),
        }
    }

    /// The answer to a [`Need::Watch`]. If it is `Ok`, the watch is open from now on.
    pub fn watched(&mut self, now: Duration, answer: Result<(), ApiError>, trace: &mut impl Trace) {
        if !matches!(self.need, Need::Watch(_)) {
            return;
        }
        let streaming = matches!(self.stage, Stage::Stream);
        match answer {
            Ok(()) => {
                self.stream.open = true;
                self.stream.check_at =
                    streaming.then(|| now.saturating_add(INITIAL_EVENTS_END_CHECK));
                self.await_event(now, trace);
            }
            Err(error) => {
                trace.fact(watch_step(streaming), || {
                    Fact::Reflector(ReflectorFact::WatchFailed {
                        error: Arc::clone(&error.message),
                    })
                });
                if streaming {
                    self.stream_failed(now, ReflectorError::Watch(error), trace);
                } else if error.is_watch_error_retriable() {
                    self.back_off(now, Next::Watch, BackoffReason::WatchEnded, trace);
                } else {
                    let reason = if error.is_expired() {
                        BackoffReason::Expired
                    } else {
                        BackoffReason::WatchFailed
                    };
                    self.report(ReflectorError::Watch(error), trace);
                    self.end_round(now, reason, trace);
                }
            }
        }
    }

    /// The answer to a [`Need::Event`]: an item of the watch.
    pub fn received(&mut self, now: Duration, item: WatchItem<O>, trace: &mut impl Trace) {
        if !matches!(self.need, Need::Event) {
            return;
        }
        let streaming = matches!(self.stage, Stage::Stream);
        match item {
            WatchItem::Event(EventType::Bookmark, item) => {
                let rv = item.plain_object().map_or("", |o| o.resource_version());
                self.bookmark(now, rv.into(), false, streaming, trace);
            }
            WatchItem::Event(EventType::Error, _) => {
                let error = ApiError::new(ApiErrorKind::Other, NO_STATUS);
                self.received(now, WatchItem::Error(error), trace);
            }
            WatchItem::Event(event, item) => self.event(now, event, item, streaming, trace),
            WatchItem::Bookmark {
                resource_version,
                initial_events_end,
            } => self.bookmark(now, resource_version, initial_events_end, streaming, trace),
            WatchItem::Error(error) => {
                trace.fact(receive_step(streaming), || {
                    Fact::Reflector(ReflectorFact::EventReceived {
                        event: EventType::Error,
                        object: ObjectRef::bare(Rv::default()),
                        ends_list: false,
                    })
                });
                self.stream.code = error.code;
                if streaming {
                    self.close_stream(true, trace);
                    self.stream_failed(now, ReflectorError::Watch(error), trace);
                } else {
                    self.watch_failed(now, &error, trace);
                }
            }
            WatchItem::Closed => {
                let short =
                    now.saturating_sub(self.stream.start) < SHORT_WATCH && self.stream.events == 0;
                match (streaming, short) {
                    (true, true) => {
                        self.close_stream(true, trace);
                        let name = Arc::clone(&self.options.name);
                        self.stream_failed(now, ReflectorError::VeryShortWatch { name }, trace);
                    }
                    (true, false) => {
                        self.close_stream(true, trace);
                        self.open_stream(now, trace);
                    }
                    (false, true) => {
                        self.close_stream(true, trace);
                        self.end_round(now, BackoffReason::WatchFailed, trace);
                    }
                    (false, false) => {
                        self.close_stream(false, trace);
                        self.open_watch(now, trace);
                    }
                }
            }
        }
    }

    /// The outcome of the store call that was taken.
    pub fn stored(&mut self, now: Duration, outcome: Result<(), Error>, trace: &mut impl Trace) {
        if !matches!(self.need, Need::Stored) {
            return;
        }
        match (mem::replace(&mut self.stage, Stage::Watch), outcome) {
            (Stage::Replace(rv), Ok(())) => {
                self.set_last_sync(rv, Step::ReflectorListVersion, trace);
                self.begin_watch(now, trace);
            }
            (Stage::Replace(_), Err(error)) => {
                self.report(ReflectorError::Sync(error), trace);
                self.end_round(now, BackoffReason::ListFailed, trace);
            }
            (Stage::ReplaceStream(rv), Ok(())) => {
                self.set_last_sync(rv, Step::ReflectorStreamVersion, trace);
                self.begin_watch(now, trace);
            }
            (Stage::ReplaceStream(_), Err(error)) => {
                self.close_stream(true, trace);
                self.fall_back(ReflectorError::SyncWatchList(error), trace);
            }
            // Continue after an error: the store has stated the reason, and the reflector does not
            // retry an event.
            (Stage::Dispatch(rv), _) => self.note_version(now, rv, trace),
            (Stage::UpdateVersion, _) => self.await_event(now, trace),
            // Store calls occur only in the stages above.
            (other, _) => self.stage = other,
        }
    }

    /// The answer to a [`Need::Wait`]: the pause is over.
    pub fn waited(&mut self, now: Duration, trace: &mut impl Trace) {
        let (Need::Wait(_), Stage::Pause(next)) = (&self.need, &self.stage) else {
            return;
        };
        self.backoff_manager.get_or_insert_with(|| {
            // The back-off starts with the reflector, not with the first failure.
            let since = if self.options.release < Release::V0_36 {
                ResetSince::LastBackoff
            } else {
                ResetSince::LastReset
            };
            BackoffManager::new(self.options.backoff, since, now)
        });
        match next {
            Next::Round => self.begin_round(now, trace),
            Next::Stream => self.open_stream(now, trace),
            Next::Watch => self.open_watch(now, trace),
        }
    }

    /// Stops the reflector, whatever it waits for.
    pub fn stop(&mut self, now: Duration, trace: &mut impl Trace) {
        self.stop_because(now, Reason::StopRequested, trace);
    }

    /// Stops the reflector for another reason than a stop request.
    pub fn stop_because(&mut self, _now: Duration, reason: Reason, trace: &mut impl Trace) {
        if matches!(self.need, Need::Stopped) {
            return;
        }
        self.stream = Stream::default();
        self.resync = ResyncTimer::default();
        self.temporary_store.clear();
        self.pager = Pager::default();
        self.stage = Stage::Stopped;
        self.state = ReflectorState::Stopped;
        self.need = Need::Stopped;
        trace.fact(Step::ReflectorStop, || {
            Fact::Reflector(ReflectorFact::ReflectorStopped { reason })
        });
    }

    // ---- the resync timer, which runs concurrently

    /// When the next resync is due.
    #[must_use]
    pub fn resync_at(&self) -> Option<Duration> {
        self.resync.at
    }

    /// The resync timer has fired. If this returns `true`, call the store's `Resync`, then
    /// [`Reflector::resync_done`].
    pub fn resync_fired(
        &mut self,
        now: Duration,
        should_resync: bool,
        trace: &mut impl Trace,
    ) -> bool {
        if self.resync.at.take().is_none() {
            return false;
        }
        trace.fact(Step::ResyncTimer, || {
            Fact::Reflector(ReflectorFact::ResyncDue {
                wanted: should_resync,
            })
        });
        if should_resync {
            self.resync.busy = true;
        } else {
            self.start_resync_timer(now);
        }
        should_resync
    }

    /// The outcome of the store's `Resync`. An error ends the watch, and there are no more resyncs
    /// in this round.
    pub fn resync_done(
        &mut self,
        now: Duration,
        outcome: Result<(), Error>,
        trace: &mut impl Trace,
    ) {
        if !mem::take(&mut self.resync.busy) {
            return;
        }
        if outcome.is_ok() {
            self.start_resync_timer(now);
            return;
        }
        self.resync.failed = true;
        if matches!(self.need, Need::Event) {
            self.await_event(now, trace);
        }
    }

    // ---- the ticker of a streaming list, which runs concurrently with its events

    /// The next check whether the bookmark that ends the initial events is late.
    #[must_use]
    pub fn initial_events_end_check_at(&self) -> Option<Duration> {
        let awaited = matches!((&self.stage, &self.need), (Stage::Stream, Need::Event));
        self.stream.check_at.filter(|_| awaited)
    }

    /// The check is due: if no event has arrived since the last one, states the warning that
    /// client-go logs.
    pub fn initial_events_end_checked(&mut self, now: Duration, trace: &mut impl Trace) {
        if self.initial_events_end_check_at().is_none_or(|at| at > now) {
            return;
        }
        self.stream.check_at = Some(now.saturating_add(INITIAL_EVENTS_END_CHECK));
        let Stream {
            start, last_event, ..
        } = self.stream;
        let silent = now.saturating_sub(last_event.unwrap_or(start));
        if last_event.is_none() || silent >= INITIAL_EVENTS_END_CHECK {
            trace.fact(Step::ReflectorStreamReceive, || {
                Fact::Reflector(ReflectorFact::InitialEventsEndMissed {
                    ms: u64::try_from(silent.as_millis()).unwrap_or(u64::MAX),
                    any: last_event.is_some(),
                })
            });
        }
    }

    // ---- inspection

    /// The current activity.
    #[must_use]
    pub fn state(&self) -> ReflectorState {
        self.state
    }

    /// The objects of the initial events of a streaming list so far; `None` outside of one.
    #[must_use]
    pub fn temporary_store(&self) -> Option<impl Iterator<Item = (&Key, &Item<O>)>> {
        matches!(self.stage, Stage::Stream).then(|| self.temporary_store.iter())
    }

    /// Whether it is in a pause before a list, streaming or not.
    #[must_use]
    pub fn lists_next(&self) -> bool {
        let paused = self.state == ReflectorState::Backoff;
        paused && matches!(self.stage, Stage::Pause(Next::Round | Next::Stream))
    }

    /// Whether the last opened watch is still in use; otherwise the driver closes it.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.stream.open
    }

    /// The version of the last list, event or bookmark. Not monotonic.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> &Rv {
        &self.last_sync
    }

    /// Whether that version had expired or was too new for the server. Then the next list requests
    /// the newest state.
    #[must_use]
    pub fn is_last_sync_resource_version_unavailable(&self) -> bool {
        self.unavailable
    }

    /// The error for the watch-error handler; each is returned once.
    pub fn take_watch_error(&mut self) -> Option<ReflectorError> {
        self.watch_error.take()
    }

    // ---- rounds

    fn begin_round(&mut self, now: Duration, trace: &mut impl Trace) {
        if self.options.watch_list {
            self.open_stream(now, trace);
        } else {
            self.list(trace);
        }
    }

    fn end_round(&mut self, now: Duration, reason: BackoffReason, trace: &mut impl Trace) {
        self.resync = ResyncTimer::default();
        self.back_off(now, Next::Round, reason, trace);
    }

    fn back_off(
        &mut self,
        now: Duration,
        next: Next,
        reason: BackoffReason,
        trace: &mut impl Trace,
    ) {
        let unit = self.options.jitter.unit();
        let pause = self
            .backoff_manager
            .as_mut()
            .map_or(Duration::ZERO, |manager| manager.step(now, unit));
        let step = match next {
            Next::Round => Step::ReflectorBackoff,
            Next::Stream => Step::ReflectorStreamAgain,
            Next::Watch => Step::ReflectorRetry,
        };
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::BackoffStarted {
                ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
                reason,
            })
        });
        self.state = ReflectorState::Backoff;
        self.stage = Stage::Pause(next);
        self.need = Need::Wait(now.saturating_add(pause));
    }

    fn report(&mut self, error: ReflectorError, trace: &mut impl Trace) {
        trace.fact(Step::ReflectorWatchError, || {
            Fact::Reflector(ReflectorFact::WatchErrorReported {
                error: error.to_string().into(),
            })
        });
        self.watch_error = Some(error);
    }

    fn set_last_sync(&mut self, to: Rv, step: Step, trace: &mut impl Trace) {
        if self.last_sync == to {
            return;
        }
        let from = mem::replace(&mut self.last_sync, Arc::clone(&to));
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::LastSyncMoved { from, to })
        });
    }

    fn set_unavailable(&mut self, on: bool, step: Step, trace: &mut impl Trace) {
        if mem::replace(&mut self.unavailable, on) != on {
            trace.fact(step, || {
                Fact::Reflector(ReflectorFact::VersionUnavailable { on })
            });
        }
    }
}

/// The version that requests a list from the server's watch cache, however old it is.
const FROM_CACHE: &str = "0";

/// The error text for an ERROR event without a status.
const NO_STATUS: &str = "an error event without a status";

/// The error text for an event without an object.
const NO_OBJECT: &str = "object does not implement the Object interfaces";

fn receive_step(streaming: bool) -> Step {
    if streaming {
        Step::ReflectorStreamReceive
    } else {
        Step::ReflectorReceive
    }
}

fn watch_step(streaming: bool) -> Step {
    if streaming {
        Step::ReflectorStream
    } else {
        Step::ReflectorWatch
    }
}
