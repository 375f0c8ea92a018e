//! The listener of one handler: between the process loop and the handler, so that a slow handler
//! holds nobody up.
//!
//! Upstream: `processorListener` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go)
//! with its three goroutines, and `SingleFileTracker` in
//! [`synctrack.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/synctrack/synctrack.go).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::fact::{Fact, HandlersFact};
use super::object::Object;
use super::process::Notification;
use super::queue::count;
use super::step::Step;
use super::trace::Trace;

/// How many notifications the ring buffer has room for at first; it doubles when it is full.
pub const INITIAL_BUFFER_SIZE: usize = 1024;

/// How long a listener rests before the notification after one in which its handler panicked.
pub const REST_AFTER_PANIC: Duration = Duration::from_secs(1);

/// The number of a listener, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerId(pub u32);

impl ListenerId {
    /// As a fact has it. Only a world states facts, and it has few handlers.
    #[must_use]
    pub fn number(self) -> u8 {
        u8::try_from(self.0).unwrap_or(u8::MAX)
    }
}

/// Counts the notifications of the first list that a handler is not done with.
#[derive(Clone, Debug, Default)]
pub struct SingleFileTracker {
    waiting: usize,
    upstream_has_synced: bool,
    synced: bool,
}

impl SingleFileTracker {
    /// One more is on its way.
    pub fn start(&mut self) {
        self.waiting += 1;
    }

    /// One is done. Says whether that was the last one missing.
    pub fn finished(&mut self) -> bool {
        self.waiting = self.waiting.saturating_sub(1);
        self.check()
    }

    /// The informer has synced, so everything has been started. Says whether nothing is missing.
    pub fn upstream_has_synced(&mut self) -> bool {
        self.upstream_has_synced = true;
        self.check()
    }

    /// Whether the informer has synced and everything of its first list is done; never goes back.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    fn check(&mut self) -> bool {
        let before = self.synced;
        self.synced |= self.upstream_has_synced && self.waiting == 0;
        self.synced != before
    }
}

/// What becomes of the program when a handler panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PanicPolicy {
    /// It ends, upstream's default.
    Crash,
    /// The notification counts as not handled, and after a rest the next one is tried (upstream:
    /// `ReallyCrash` off).
    #[default]
    Skip,
}

/// How a handler's method ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerEnd {
    /// It returned.
    Returned,
    /// It panicked with this text.
    Panicked(Arc<str>),
}

/// What is handed to the handler.
#[derive(Debug)]
pub struct PoppedNotification<O> {
    /// What it is to be told.
    pub notification: Arc<Notification<O>>,
    /// How long to rest before: not at all, unless the handler panicked the last time.
    pub rest: Duration,
}

/// Relays notifications to one handler.
///
/// Upstream it is `add` (called by the process loop; blocks until `pop` has received), `pop` (a
/// goroutine with a ring buffer) and `run` (a goroutine that calls the handler). Here these are
/// methods: [`offer`](Self::offer), [`receive`](Self::receive), [`take`](Self::take) and
/// [`done`](Self::done). Who has no thread for `pop`, which is always ready to receive, uses
/// [`add`](Self::add) for the first two.
pub struct ProcessorListener<O> {
    id: ListenerId,
    name: Arc<str>,
    /// What `add` sends and `pop` has not received.
    offered: Option<Arc<Notification<O>>>,
    /// What `pop` offers to `run`.
    next: Option<Arc<Notification<O>>>,
    /// What waits behind it.
    pending: VecDeque<Arc<Notification<O>>>,
    /// For how many the ring buffer has room.
    capacity: usize,
    /// What the handler works on: whether it is of the first list.
    running: Option<bool>,
    panicked: bool,
    closed: bool,
    tracker: SingleFileTracker,
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for ProcessorListener<O> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            name: Arc::clone(&self.name),
            offered: self.offered.clone(),
            next: self.next.clone(),
            pending: self.pending.clone(),
            capacity: self.capacity,
            running: self.running,
            panicked: self.panicked,
            closed: self.closed,
            tracker: self.tracker.clone(),
        }
    }
}

impl<O: Object> ProcessorListener<O> {
    /// A listener with nothing to tell. `name` is that of the handler.
    #[must_use]
    pub fn new(id: ListenerId, name: &str) -> Self {
        Self {
            id,
            name: name.into(),
            offered: None,
            next: None,
            pending: VecDeque::new(),
            capacity: INITIAL_BUFFER_SIZE,
            running: None,
            panicked: false,
            closed: false,
            tracker: SingleFileTracker::default(),
        }
    }

    // ---- add

    /// Offers a notification to `pop`. Whoever offers waits until [`is_offered`](Self::is_offered)
    /// is false before going on.
    ///
    /// # Errors
    /// Gives it back when `pop` has not received the one before.
    pub fn offer(
        &mut self,
        notification: Arc<Notification<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Arc<Notification<O>>> {
        if self.offered.is_some() {
            return Err(notification);
        }
        // Nobody offers to a closed one: it is no longer among the processor's.
        if !self.closed {
            if notification.is_in_initial_list() {
                self.tracker.start();
            }
            trace.fact(Step::ListenerSend, || {
                Fact::Handlers(HandlersFact::NotificationSent {
                    handler: self.id.number(),
                    notification: notification.to_fact(),
                })
            });
            self.offered = Some(notification);
        }
        Ok(())
    }

    /// Whether something is offered that `pop` has not received.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.offered.is_some()
    }

    /// Offers a notification and receives it in one go. Says whether `run` had nothing to do until
    /// now, and so has to be woken.
    pub fn add(&mut self, notification: Arc<Notification<O>>, trace: &mut impl Trace) -> bool {
        let idle = self.next.is_none();
        // Full only where somebody mixes the two ways; then the older one goes first.
        if let Err(notification) = self.offer(notification, trace) {
            self.receive(trace);
            let _empty_now = self.offer(notification, trace);
        }
        self.receive(trace);
        idle && self.next.is_some()
    }

    // ---- pop

    /// `pop` receives what is offered: it is next, or goes into the ring buffer behind what waits.
    /// After [`close`](Self::close) it drops what waits instead, and ends. Says whether there was
    /// anything to do.
    pub fn receive(&mut self, trace: &mut impl Trace) -> bool {
        if self.closed {
            let waited = self.offered.is_some() || self.next.is_some();
            self.offered = None;
            self.next = None;
            self.pending.clear();
            return waited;
        }
        let Some(notification) = self.offered.take() else {
            return false;
        };
        trace.fact(Step::ListenerPop, || {
            Fact::Handlers(HandlersFact::NotificationQueued {
                handler: self.id.number(),
                notification: notification.to_fact(),
                pending: count(self.waiting() + 1),
            })
        });
        if self.next.is_none() {
            self.next = Some(notification);
        } else {
            if self.pending.len() == self.capacity {
                self.capacity *= 2;
            }
            self.pending.push_back(notification);
        }
        true
    }

    // ---- run

    /// Whether [`take`](Self::take) has something to give.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.running.is_none() && self.next.is_some() && !self.closed
    }

    /// `run` receives the next notification from `pop`, and calls the handler with it. `None` while
    /// the handler is at work or nothing waits.
    pub fn take(&mut self, trace: &mut impl Trace) -> Option<PoppedNotification<O>> {
        if !self.is_ready() {
            return None;
        }
        let notification = self.next.take()?;
        self.next = self.pending.pop_front();
        self.running = Some(notification.is_in_initial_list());
        trace.fact(Step::ListenerTake, || {
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler: self.id.number(),
                notification: notification.to_fact(),
            })
        });
        let rest = if self.panicked {
            REST_AFTER_PANIC
        } else {
            Duration::ZERO
        };
        Some(PoppedNotification { notification, rest })
    }

    /// The handler's method has ended. One that panicked skips what it was told: if that was of the
    /// first list, this handler never counts as synced.
    pub fn done(&mut self, end: HandlerEnd, trace: &mut impl Trace) {
        let Some(initial) = self.running.take() else {
            return;
        };
        let handler = self.id.number();
        self.panicked = end != HandlerEnd::Returned;
        match end {
            HandlerEnd::Returned => {
                trace.fact(Step::ListenerDone, || {
                    Fact::Handlers(HandlersFact::NotificationHandled { handler })
                });
                if initial && self.tracker.finished() {
                    self.state_synced(trace);
                }
            }
            HandlerEnd::Panicked(error) => {
                trace.fact(Step::HandlerPanic, || {
                    Fact::Handlers(HandlersFact::HandlerPanicked { handler, error })
                });
            }
        }
    }

    /// Whether `run` has come to its end: closed, and the handler is not at work.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.closed && self.running.is_none()
    }

    // ---- its life

    /// The informer has synced, and this listener was given its whole first list.
    pub fn upstream_has_synced(&mut self, trace: &mut impl Trace) {
        if !self.closed && self.tracker.upstream_has_synced() {
            self.state_synced(trace);
        }
    }

    /// Whether the informer has synced and the handler is done with its first list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.tracker.has_synced()
    }

    /// Nothing more will be offered: `pop` drops what waits, `run` ends after what it is at.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // ---- to look at

    /// Its number.
    #[must_use]
    pub fn id(&self) -> ListenerId {
        self.id
    }

    /// Its handler's name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What is offered to `pop` now.
    #[must_use]
    pub fn offered(&self) -> Option<&Arc<Notification<O>>> {
        self.offered.as_ref()
    }

    /// What waits for the handler, the next one first.
    pub fn notifications(&self) -> impl Iterator<Item = &Arc<Notification<O>>> {
        self.next.iter().chain(&self.pending)
    }

    /// How many wait for the handler.
    #[must_use]
    pub fn waiting(&self) -> usize {
        usize::from(self.next.is_some()) + self.pending.len()
    }

    /// For how many the ring buffer has room.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether the handler is at work.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    fn state_synced(&self, trace: &mut impl Trace) {
        trace.fact(Step::HandlerSync, || {
            Fact::Handlers(HandlersFact::HandlerSynced {
                handler: self.id.number(),
            })
        });
    }
}
