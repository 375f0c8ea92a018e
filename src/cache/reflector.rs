//! The reflector: keeps a store in step with a server, by lists and watches.
//!
//! A state machine without I/O: [`Reflector::need`] says what it waits for, and each answer (a page,
//! an event, the outcome of a store call, a moment) brings it to the next need. Whoever drives it
//! owns the connection, the store and the clock.
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

use foldhash::fast::FixedState;
use indexmap::IndexMap;

use super::backoff::{Backoff, BackoffManager, Jitter, NoJitter, ResetSince};
use super::error::Error;
use super::fact::{BackoffReason, EventType, Fact, ListAgain, ObjectRef, ReflectorFact, Rv, Shape};
use super::key::Key;
use super::key_func::meta_namespace_key_func;
use super::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, ResourceVersionMatch, Table, WatchItem,
    WatchRequest,
};
use super::object::{Item, Object};
use super::order::Order;
use super::queue::{Release, TransformFunc, count, transform};
use super::step::Step;
use super::trace::Trace;

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

/// Servers are spared: no watch is asked for that is shorter.
pub const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);

/// How many objects a page has where nobody says otherwise.
pub const DEFAULT_PAGE_SIZE: u32 = 500;

/// A watch that ends sooner without an event counts as failed.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// So often it looks whether the end of the initial events is late.
const INITIAL_EVENTS_END_CHECK: Duration = Duration::from_secs(10);

/// Without a 500 for so long, the time for retries begins anew.
const INTERNAL_ERROR_RESET: Duration = Duration::from_secs(60);

/// What a reflector waits for.
#[derive(Debug)]
pub enum Need<O> {
    /// The answer to a list: [`Reflector::listed`].
    List(ListRequest),
    /// The answer to a watch: [`Reflector::watched`].
    Watch(WatchRequest),
    /// The next thing out of the open watch: [`Reflector::received`].
    Event,
    /// Somebody who takes this call to the store: [`Reflector::take_store_call`].
    Store(StoreCall<O>),
    /// The outcome of the call that was taken: [`Reflector::stored`].
    Stored,
    /// This moment: [`Reflector::waited`]. So it is at first, too.
    Wait(Duration),
    /// Nothing any more.
    Stopped,
}

impl<O> Clone for Need<O> {
    fn clone(&self) -> Self {
        match self {
            Self::List(request) => Self::List(request.clone()),
            Self::Watch(request) => Self::Watch(request.clone()),
            Self::Event => Self::Event,
            Self::Store(call) => Self::Store(call.clone()),
            Self::Stored => Self::Stored,
            Self::Wait(moment) => Self::Wait(*moment),
            Self::Stopped => Self::Stopped,
        }
    }
}

/// A call to the store (in an informer: to its queue).
#[derive(Debug)]
pub enum StoreCall<O> {
    /// `Add`
    Add(Item<O>),
    /// `Update`
    Update(Item<O>),
    /// `Delete`
    Delete(Item<O>),
    /// `Replace`, with the version of the list.
    Replace(Vec<Item<O>>, Rv),
    /// `Resync`; the reflector itself never asks for it, see [`Reflector::resync_fired`].
    Resync,
    /// `Bookmark`
    Bookmark(Rv),
    /// `UpdateResourceVersion`; cannot fail.
    UpdateResourceVersion(Rv),
}

impl<O> Clone for StoreCall<O> {
    fn clone(&self) -> Self {
        match self {
            Self::Add(item) => Self::Add(item.clone()),
            Self::Update(item) => Self::Update(item.clone()),
            Self::Delete(item) => Self::Delete(item.clone()),
            Self::Replace(items, rv) => Self::Replace(items.clone(), Arc::clone(rv)),
            Self::Resync => Self::Resync,
            Self::Bookmark(rv) => Self::Bookmark(Arc::clone(rv)),
            Self::UpdateResourceVersion(rv) => Self::UpdateResourceVersion(Arc::clone(rv)),
        }
    }
}

/// What a reflector is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReflectorState {
    /// Nothing yet.
    #[default]
    Idle,
    /// It lists.
    List,
    /// It reads the initial events of a streaming list, or has asked for one.
    Stream,
    /// It watches, or has asked for a watch.
    Watch,
    /// It pauses before the next attempt.
    Backoff,
    /// Nothing any more.
    Stopped,
}

/// Why a round, or the streaming list it began with, came to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectorError {
    /// A list failed.
    List {
        /// What was listed.
        type_description: Arc<str>,
        /// How.
        error: ApiError,
    },
    /// The store refused a list.
    Sync(Error),
    /// The store refused a streaming list.
    SyncWatchList(Error),
    /// A watch failed: the request, or in the stream.
    Watch(ApiError),
    /// A watch ended within a second and had brought nothing.
    VeryShortWatch {
        /// The reflector's name.
        name: Arc<str>,
    },
}

impl ReflectorError {
    /// Whether a version was too old: nothing to worry about, upstream's own watch-error handler
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

/// Keeps a store in step with a server.
pub struct Reflector<O> {
    options: ReflectorOptions<O>,
    need: Need<O>,
    stage: Stage,
    state: ReflectorState,
    /// There is one from the beginning on.
    backoff_manager: Option<BackoffManager>,
    last_sync: Rv,
    unavailable: bool,
    /// Whether the server pages even where it could answer out of its watch cache.
    paginated_result: bool,
    pager: Pager<O>,
    stream: Stream,
    temporary_store: IndexMap<Key, Item<O>, FixedState>,
    retry: RetryWithDeadline,
    resync: ResyncTimer,
    watch_error: Option<ReflectorError>,
}

/// What the answer to the need will mean.
#[derive(Clone, Debug)]
enum Stage {
    /// A pause is over: what comes next.
    Pause(Next),
    /// A page.
    List,
    /// The store has the list, of this version.
    Replace(Rv),
    /// The streaming list is, or will be, open.
    Stream,
    /// The store has the objects of the streaming list.
    ReplaceStream(Rv),
    /// The watch is, or will be, open.
    Watch,
    /// The store has the event, of this version.
    Dispatch(Rv),
    /// The store knows the version.
    UpdateVersion,
    /// Nothing.
    Stopped,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Round,
    Stream,
    Watch,
}

/// One list, in pages.
struct Pager<O> {
    /// The version asked for at first.
    resource_version: Rv,
    page_size: u32,
    /// Whether that was "0", the first list of all.
    from_cache: bool,
    /// The token of the page asked for.
    token: Arc<str>,
    /// What the pages before have brought, and the version of the first of them.
    so_far: Option<(Vec<Item<O>>, Rv)>,
    paginated: bool,
    /// It is the whole list in one piece: a token had expired.
    full: bool,
    /// It is the second attempt: the version was not available.
    again: bool,
}

impl<O> Default for Pager<O> {
    fn default() -> Self {
        Self {
            resource_version: Rv::default(),
            page_size: 0,
            from_cache: false,
            token: Arc::default(),
            so_far: None,
            paginated: false,
            full: false,
            again: false,
        }
    }
}

impl<O> Clone for Pager<O> {
    fn clone(&self) -> Self {
        Self {
            resource_version: Arc::clone(&self.resource_version),
            token: Arc::clone(&self.token),
            so_far: self.so_far.clone(),
            ..*self
        }
    }
}

/// The open watch.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    open: bool,
    /// When it was asked for.
    start: Duration,
    events: u64,
    /// Whether anything but ADDED has come: the initial events, in any order, are over.
    besides_added: bool,
    /// Whether its ADDED events are in the order of their versions.
    in_order: bool,
    /// HTTP status of the `ERROR` event that ends it.
    code: u16,
    /// When the last event came.
    last_event: Option<Duration>,
    /// Of a streaming list: when to look next whether its end is late.
    check_at: Option<Duration>,
}

/// When the next resync is due.
#[derive(Clone, Debug, Default)]
struct ResyncTimer {
    at: Option<Duration>,
    /// It has fired; the store is at it.
    busy: bool,
    /// It has failed; the watch ends.
    failed: bool,
}

/// How long internal errors have been going on.
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

impl<O> Clone for Reflector<O> {
    fn clone(&self) -> Self {
        Self {
            options: self.options.clone(),
            need: self.need.clone(),
            stage: self.stage.clone(),
            last_sync: Arc::clone(&self.last_sync),
            pager: self.pager.clone(),
            temporary_store: self.temporary_store.clone(),
            resync: self.resync.clone(),
            watch_error: self.watch_error.clone(),
            ..*self
        }
    }
}

impl<O: Object> Reflector<O> {
    /// Waits for [`Reflector::waited`] to begin.
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
            temporary_store: IndexMap::default(),
            retry: RetryWithDeadline::default(),
            resync: ResyncTimer::default(),
            watch_error: None,
        }
    }

    /// Begins with a watch, as if a list had come before: for the recording of a watch alone.
    #[must_use]
    pub fn in_mid_watch(options: ReflectorOptions<O>) -> Self {
        Self {
            stage: Stage::Pause(Next::Watch),
            ..Self::new(options)
        }
    }

    // ---- what it waits for, and the answers

    /// What it waits for; stays so until the answer comes.
    ///
    /// An answer to something else is ignored: it comes too late.
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

    /// The answer to a [`Need::Watch`]; the watch is open from now on, where it is `Ok`.
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

    /// What came out of the watch, for a [`Need::Event`].
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
                        object: bare_ref(&Rv::default()),
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
            // A store that refuses an event is not asked again; it has stated why.
            (Stage::Dispatch(rv), _) => self.note_version(now, rv, trace),
            (Stage::UpdateVersion, _) => self.await_event(now, trace),
            // Calls belong to one of the stages above.
            (other, _) => self.stage = other,
        }
    }

    /// A [`Need::Wait`] is over.
    pub fn waited(&mut self, now: Duration, trace: &mut impl Trace) {
        let (Need::Wait(_), Stage::Pause(next)) = (&self.need, &self.stage) else {
            return;
        };
        self.backoff_manager.get_or_insert_with(|| {
            // How long it has been going well is counted from the start on.
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

    /// Ends it, whatever it waits for.
    pub fn stop(&mut self, now: Duration, trace: &mut impl Trace) {
        self.stop_because(now, STOP_REQUESTED.into(), trace);
    }

    /// The same for another reason than that somebody wants it so.
    pub fn stop_because(&mut self, _now: Duration, reason: Arc<str>, trace: &mut impl Trace) {
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

    // ---- the resync timer, which runs beside all this

    /// When the next resync is due.
    #[must_use]
    pub fn resync_at(&self) -> Option<Duration> {
        self.resync.at
    }

    /// The resync is due. `true`: call the store's `Resync`, then [`Reflector::resync_done`].
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

    /// The store's `Resync` has returned. An error ends the watch, and no resync follows in this
    /// round.
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

    // ---- the ticker of a streaming list, which runs beside its events

    /// When to look next whether the bookmark that ends the initial events is late.
    #[must_use]
    pub fn initial_events_end_check_at(&self) -> Option<Duration> {
        let awaited = matches!((&self.stage, &self.need), (Stage::Stream, Need::Event));
        self.stream.check_at.filter(|_| awaited)
    }

    /// That moment has come: upstream warns in its log where nothing has come since the last look.
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

    // ---- what can be seen of it

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> ReflectorState {
        self.state
    }

    /// What the initial events of a streaming list have brought so far; `None` outside of one.
    #[must_use]
    pub fn temporary_store(&self) -> Option<impl Iterator<Item = (&Key, &Item<O>)>> {
        matches!(self.stage, Stage::Stream).then(|| self.temporary_store.iter())
    }

    /// Whether a list comes next, while it pauses: streamed or not.
    #[must_use]
    pub fn lists_next(&self) -> bool {
        let paused = self.state == ReflectorState::Backoff;
        paused && matches!(self.stage, Stage::Pause(Next::Round | Next::Stream))
    }

    /// Whether the watch that was opened last is still in use; else the driver closes it.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.stream.open
    }

    /// How far it has come: the version of the last list, event or bookmark. Not monotone.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> &Rv {
        &self.last_sync
    }

    /// Whether that version was too old or too new for the server; the next list asks for the
    /// newest one.
    #[must_use]
    pub fn is_last_sync_resource_version_unavailable(&self) -> bool {
        self.unavailable
    }

    /// What the watch-error handler has to be told, once.
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

    // ---- lists

    fn list(&mut self, trace: &mut impl Trace) {
        let resource_version = if self.unavailable {
            Rv::default()
        } else if self.last_sync.is_empty() {
            Rv::from(FROM_CACHE)
        } else {
            Arc::clone(&self.last_sync)
        };
        let from_cache = &*resource_version == FROM_CACHE;
        let page_size = if self.options.page_size != 0 {
            self.options.page_size
        } else if self.paginated_result || from_cache || resource_version.is_empty() {
            DEFAULT_PAGE_SIZE
        } else {
            // In one piece, a server can answer out of its watch cache.
            0
        };
        self.state = ReflectorState::List;
        self.stage = Stage::List;
        self.pager = Pager {
            resource_version,
            page_size,
            from_cache,
            ..Pager::default()
        };
        self.request_page(trace);
    }

    /// Asks for what the pager is at.
    fn request_page(&mut self, trace: &mut impl Trace) {
        let pager = &self.pager;
        let continues = !pager.token.is_empty();
        let request = ListRequest {
            // A server refuses a version beside a token.
            resource_version: if continues {
                Rv::default()
            } else {
                Arc::clone(&pager.resource_version)
            },
            resource_version_match: None,
            limit: if pager.full { 0 } else { pager.page_size },
            continue_token: Arc::clone(&pager.token),
        };
        trace.fact(Step::ReflectorList, || {
            Fact::Reflector(ReflectorFact::ListRequested {
                rv: Arc::clone(&request.resource_version),
                rv_match: "",
                limit: request.limit,
                continues,
            })
        });
        self.need = Need::List(request);
    }

    fn page(&mut self, now: Duration, page: ListPage<O>, trace: &mut impl Trace) {
        let pager = &mut self.pager;
        let ListPage {
            resource_version,
            mut items,
            continue_token,
            table,
        } = page;
        if pager.full {
            // Whatever the pages before it have brought is older.
            return self.list_complete(now, items, resource_version, table, trace);
        }
        let page_count = count(items.len());
        let last = continue_token.is_empty();
        let (items, rv) = match pager.so_far.take() {
            None => (items, resource_version),
            Some((mut so_far, rv)) => {
                so_far.append(&mut items);
                (so_far, rv)
            }
        };
        if last {
            return self.list_complete(now, items, rv, table, trace);
        }
        trace.fact(Step::ReflectorPage, || {
            Fact::Reflector(ReflectorFact::PageReceived {
                count: page_count,
                total: count(items.len()),
            })
        });
        pager.so_far = Some((items, rv));
        pager.token = continue_token;
        pager.paginated = true;
        self.request_page(trace);
    }

    fn list_failed(&mut self, now: Duration, error: ApiError, trace: &mut impl Trace) {
        let pager = &mut self.pager;
        let token_expired = error.kind == ApiErrorKind::Expired && !pager.token.is_empty();
        let next = if token_expired {
            ListAgain::PageExpired
        } else if pager.again {
            ListAgain::Later
        } else if error.is_expired() {
            ListAgain::Expired
        } else if error.is_too_large_resource_version() {
            ListAgain::TooLarge
        } else {
            ListAgain::Later
        };
        trace.fact(Step::ReflectorListFailed, || {
            Fact::Reflector(ReflectorFact::ListFailed {
                error: Arc::clone(&error.message),
                next,
            })
        });
        match next {
            ListAgain::PageExpired => {
                pager.full = true;
                pager.token = Arc::default();
                pager.so_far = None;
                self.request_page(trace);
            }
            ListAgain::Expired | ListAgain::TooLarge => {
                self.pager = Pager {
                    page_size: pager.page_size,
                    from_cache: pager.from_cache,
                    again: true,
                    ..Pager::default()
                };
                self.set_unavailable(true, Step::ReflectorUnavailable, trace);
                self.request_page(trace);
            }
            ListAgain::Later => {
                self.give_up_list(now, error, trace);
            }
        }
    }

    fn give_up_list(&mut self, now: Duration, error: ApiError, trace: &mut impl Trace) {
        self.pager = Pager::default();
        let type_description = Arc::clone(&self.options.type_description);
        let error = ReflectorError::List {
            type_description,
            error,
        };
        self.report(error, trace);
        self.end_round(now, BackoffReason::ListFailed, trace);
    }

    fn list_complete(
        &mut self,
        now: Duration,
        items: Vec<Item<O>>,
        rv: Rv,
        table: Option<Table>,
        trace: &mut impl Trace,
    ) {
        if let Some(table) = table
            && self.options.release >= Release::V0_36
        {
            let kind = &self.options.type_description;
            let error = format!("unsupported list gvk: {table}, type: {kind}");
            let error = ApiError::new(ApiErrorKind::Other, &error);
            trace.fact(Step::ReflectorListFailed, || {
                Fact::Reflector(ReflectorFact::ObjectRejected {
                    error: Arc::clone(&error.message),
                })
            });
            return self.give_up_list(now, error, trace);
        }
        let pager = mem::take(&mut self.pager);
        // Paged although it could have come out of the watch cache: there is none.
        self.paginated_result |= pager.from_cache && pager.paginated;
        trace.fact(Step::ReflectorList, || {
            Fact::Reflector(ReflectorFact::ListReceived {
                rv: Arc::clone(&rv),
                count: count(items.len()),
            })
        });
        self.set_unavailable(false, Step::ReflectorUnavailable, trace);
        self.stage = Stage::Replace(Arc::clone(&rv));
        self.need = Need::Store(StoreCall::Replace(items, rv));
    }

    /// Why an event with this object is skipped.
    fn rejects(&self, object: &O, streaming: bool) -> Option<String> {
        let options = &self.options;
        if let Some(expected) = &options.expected_type
            && let Err(error) = expected(object)
        {
            return Some(error);
        }
        let looks = match streaming {
            true => options.release >= Release::V0_34,
            false => options.release >= Release::V0_36,
        };
        let table = options.table_check.as_ref().filter(|_| looks)?(object)?;
        Some(format!("Unsupported watch event object gvk: {table}"))
    }

    // ---- streaming lists

    fn open_stream(&mut self, now: Duration, trace: &mut impl Trace) {
        self.temporary_store.clear();
        let resource_version = if self.unavailable {
            Rv::default()
        } else {
            Arc::clone(&self.last_sync)
        };
        self.state = ReflectorState::Stream;
        self.stage = Stage::Stream;
        self.request_watch(now, resource_version, true, trace);
    }

    fn stream_failed(&mut self, now: Duration, error: ReflectorError, trace: &mut impl Trace) {
        match &error {
            ReflectorError::Watch(error) if error.is_watch_error_retriable() => {
                self.back_off(now, Next::Stream, BackoffReason::StreamFailed, trace);
            }
            ReflectorError::Watch(error)
                if error.is_expired() || error.is_too_large_resource_version() =>
            {
                self.set_unavailable(true, Step::ReflectorStreamAgain, trace);
                self.open_stream(now, trace);
            }
            _ => self.fall_back(error, trace),
        }
    }

    /// No streaming list in this round.
    fn fall_back(&mut self, error: ReflectorError, trace: &mut impl Trace) {
        trace.fact(Step::ReflectorFallBack, || {
            Fact::Reflector(ReflectorFact::StreamFellBack {
                error: error.to_string().into(),
            })
        });
        self.temporary_store.clear();
        self.list(trace);
    }

    fn keep(&mut self, event: EventType, item: Item<O>, object: ObjectRef, trace: &mut impl Trace) {
        let transformer = match &self.options.transformer {
            Some(transformer) if self.options.release >= Release::V0_34 => Some(transformer),
            _ => None,
        };
        let key = object.key.clone();
        if event == EventType::Deleted {
            if self.options.order.keeps_place() {
                self.temporary_store.shift_remove(&key);
            } else {
                self.temporary_store.swap_remove(&key);
            }
        } else {
            let step = Step::ReflectorKeep;
            let item = match transformer {
                Some(transformer) => transform(transformer, &key, item, step, trace),
                None => Ok(item),
            };
            // What cannot be transformed is missing from the list then.
            let Ok(item) = item else { return };
            self.temporary_store.insert(key, item);
        }
        trace.fact(Step::ReflectorKeep, || {
            Fact::Reflector(ReflectorFact::InitialEventKept { event, object })
        });
    }

    fn initial_events_ended(&mut self, rv: Rv, trace: &mut impl Trace) {
        let kept = mem::take(&mut self.temporary_store);
        trace.fact(Step::ReflectorStreamEnd, || {
            Fact::Reflector(ReflectorFact::InitialEventsEnded {
                rv: Arc::clone(&rv),
                count: count(kept.len()),
            })
        });
        self.set_unavailable(false, Step::ReflectorStreamUsed, trace);
        self.state = ReflectorState::Watch;
        let mut kept: Vec<_> = kept.into_iter().collect();
        self.options.order.sort(&mut kept, |(key, _)| key);
        let items = kept.into_iter().map(|(_, item)| item).collect();
        self.stage = Stage::ReplaceStream(Arc::clone(&rv));
        self.need = Need::Store(StoreCall::Replace(items, rv));
    }

    // ---- watches

    /// The store is filled: the timer starts, and an open streaming list goes on as a watch.
    fn begin_watch(&mut self, now: Duration, trace: &mut impl Trace) {
        self.retry = RetryWithDeadline::default();
        self.start_resync_timer(now);
        if self.stream.open {
            self.state = ReflectorState::Watch;
            self.stage = Stage::Watch;
            self.stream = Stream {
                open: true,
                start: now,
                in_order: true,
                ..Stream::default()
            };
            self.await_event(now, trace);
        } else {
            self.open_watch(now, trace);
        }
    }

    fn open_watch(&mut self, now: Duration, trace: &mut impl Trace) {
        self.state = ReflectorState::Watch;
        self.stage = Stage::Watch;
        self.request_watch(now, Arc::clone(&self.last_sync), false, trace);
    }

    fn request_watch(
        &mut self,
        now: Duration,
        resource_version: Rv,
        initial_events: bool,
        trace: &mut impl Trace,
    ) {
        let step = watch_step(initial_events);
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv: Arc::clone(&resource_version),
                initial_events,
            })
        });
        let from_any = resource_version.is_empty() || &*resource_version == FROM_CACHE;
        self.stream = Stream {
            start: now,
            in_order: !from_any,
            ..Stream::default()
        };
        let min = self.options.min_watch_timeout.max(MIN_WATCH_TIMEOUT);
        let spread = min.mul_f64(self.options.jitter.unit().clamp(0.0, 1.0));
        self.need = Need::Watch(WatchRequest {
            resource_version,
            resource_version_match: initial_events.then_some(ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: initial_events.then_some(true),
            // A request says it in whole seconds.
            timeout: Duration::from_secs(min.saturating_add(spread).as_secs()),
        });
    }

    fn await_event(&mut self, now: Duration, trace: &mut impl Trace) {
        if mem::take(&mut self.resync.failed) {
            self.close_stream(true, trace);
            return self.end_round(now, BackoffReason::WatchFailed, trace);
        }
        self.need = Need::Event;
    }

    fn event(
        &mut self,
        now: Duration,
        event: EventType,
        item: Item<O>,
        streaming: bool,
        trace: &mut impl Trace,
    ) {
        let key = meta_namespace_key_func(&item).unwrap_or_else(|_| Key::from(""));
        let object = item.to_ref(&key);
        trace.fact(receive_step(streaming), || {
            Fact::Reflector(ReflectorFact::EventReceived {
                event,
                object: object.clone(),
                ends_list: false,
            })
        });
        let rejected = match item.plain_object() {
            Some(object) => self.rejects(object, streaming),
            None => Some(NO_OBJECT.into()),
        };
        if let Some(error) = rejected {
            trace.fact(Step::ReflectorReject, || {
                Fact::Reflector(ReflectorFact::ObjectRejected {
                    error: error.into(),
                })
            });
            return;
        }
        self.stream.events += 1;
        self.stream.last_event = Some(now);
        self.stream.besides_added |= event != EventType::Added;
        if streaming {
            return self.keep(event, item, object, trace);
        }
        self.stage = Stage::Dispatch(object.rv);
        self.need = Need::Store(match event {
            EventType::Modified => StoreCall::Update(item),
            EventType::Deleted => StoreCall::Delete(item),
            _ => StoreCall::Add(item),
        });
    }

    fn bookmark(
        &mut self,
        now: Duration,
        rv: Rv,
        initial_events_end: bool,
        streaming: bool,
        trace: &mut impl Trace,
    ) {
        trace.fact(receive_step(streaming), || {
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Bookmark,
                object: bare_ref(&rv),
                ends_list: streaming && initial_events_end,
            })
        });
        self.stream.events += 1;
        self.stream.last_event = Some(now);
        self.stream.besides_added = true;
        if !streaming {
            if self.options.bookmark_store {
                self.stage = Stage::Dispatch(Arc::clone(&rv));
                self.need = Need::Store(StoreCall::Bookmark(rv));
            } else {
                self.note_version(now, rv, trace);
            }
        } else if initial_events_end {
            self.initial_events_ended(rv, trace);
        }
    }

    /// The store has had an event of this version.
    fn note_version(&mut self, now: Duration, rv: Rv, trace: &mut impl Trace) {
        self.stage = Stage::Watch;
        // Without a version to start from, ADDED events come in any order at first: none of them
        // says how far the stream has come. Up to 0.35 upstream did not care.
        let Stream {
            in_order,
            besides_added,
            ..
        } = self.stream;
        if self.options.release >= Release::V0_36 && !in_order && !besides_added {
            return self.await_event(now, trace);
        }
        self.set_last_sync(Arc::clone(&rv), Step::ReflectorSetVersion, trace);
        if self.options.update_resource_version_store {
            self.stage = Stage::UpdateVersion;
            self.need = Need::Store(StoreCall::UpdateResourceVersion(rv));
        } else {
            self.await_event(now, trace);
        }
    }

    fn watch_failed(&mut self, now: Duration, error: &ApiError, trace: &mut impl Trace) {
        let internal = error.kind == ApiErrorKind::InternalError;
        if internal {
            self.retry.after(now);
        }
        if error.kind == ApiErrorKind::TooManyRequests {
            self.close_stream(false, trace);
            self.back_off(now, Next::Watch, BackoffReason::WatchEnded, trace);
        } else if internal
            && self
                .retry
                .should_retry(now, self.options.max_internal_error_retry)
        {
            self.close_stream(false, trace);
            self.open_watch(now, trace);
        } else {
            self.close_stream(true, trace);
            let reason = if error.is_expired() {
                BackoffReason::Expired
            } else {
                BackoffReason::WatchFailed
            };
            self.end_round(now, reason, trace);
        }
    }

    fn close_stream(&mut self, relist: bool, trace: &mut impl Trace) {
        let Stream { code, .. } = mem::take(&mut self.stream);
        let step = if matches!(self.stage, Stage::Stream) {
            Step::ReflectorStreamAgain
        } else {
            Step::ReflectorEnd
        };
        trace.fact(step, || {
            Fact::Reflector(ReflectorFact::WatchEnded { relist, code })
        });
    }

    fn start_resync_timer(&mut self, now: Duration) {
        let period = self.options.resync_period;
        self.resync = ResyncTimer {
            at: (!period.is_zero()).then(|| now.saturating_add(period)),
            ..ResyncTimer::default()
        };
    }
}

/// The version of a list that may be as old as the server's watch cache.
const FROM_CACHE: &str = "0";

/// Why a reflector stopped.
const STOP_REQUESTED: &str = "stop requested";

/// What an ERROR event without a status says.
const NO_STATUS: &str = "an error event without a status";

/// What an event without an object is.
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

/// A bookmark or an error: only its version counts.
fn bare_ref(rv: &Rv) -> ObjectRef {
    ObjectRef {
        key: Key::from(""),
        shape: Shape::Object,
        rv: Arc::clone(rv),
        uid: Arc::default(),
    }
}
