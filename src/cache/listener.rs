//! The listener of one handler. It sits between the process loop and the handler, so that a slow
//! handler does not block the other handlers.
//!
//! Upstream: `processorListener` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go)
//! with its three goroutines, and `SingleFileTracker` in
//! [`synctrack.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/synctrack/synctrack.go).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::fact::{Fact, HandlersFact};
use super::object::Object;
use super::process::Notification;
use super::queue::count;
use super::step::Step;
use super::trace::Trace;

/// Initial capacity of the ring buffer, in notifications; it doubles when it is full.
pub const INITIAL_BUFFER_SIZE: usize = 1024;

/// How long a listener pauses before the next notification after its handler panicked.
pub const REST_AFTER_PANIC: Duration = Duration::from_secs(1);

/// The number of a listener, in registration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerId(pub u32);

impl ListenerId {
    /// The number as used in facts; all after the 255th share one.
    #[must_use]
    pub fn number(self) -> u8 {
        u8::try_from(self.0).unwrap_or(u8::MAX)
    }
}

/// Counts the notifications of the initial list that a handler has not handled yet.
#[derive(Clone, Debug, Default)]
pub struct SingleFileTracker {
    waiting: usize,
    upstream_has_synced: bool,
    synced: bool,
}

impl SingleFileTracker {
    /// Counts a notification that was sent to the handler.
    pub fn start(&mut self) {
        self.waiting += 1;
    }

    /// Counts a handled notification. Returns whether the handler is synced now.
    pub fn finished(&mut self) -> bool {
        self.waiting = self.waiting.saturating_sub(1);
        self.check()
    }

    /// The informer has synced, so all notifications were started. Returns whether the handler is
    /// synced now.
    pub fn upstream_has_synced(&mut self) -> bool {
        self.upstream_has_synced = true;
        self.check()
    }

    /// Whether the informer has synced and the handler has handled its whole initial list. Never
    /// reverts to false.
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

/// What happens to the program when a handler panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PanicPolicy {
    /// The program ends: client-go's default.
    #[default]
    Crash,
    /// The notification counts as not handled. After a pause, the listener continues with the next
    /// one (client-go: `ReallyCrash` off).
    Skip,
}

/// How a handler's method call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerEnd {
    /// It returned.
    Returned,
    /// It panicked with this message.
    Panicked(Arc<str>),
}

/// A notification on its way to the handler.
#[derive(Debug)]
pub struct PoppedNotification<O> {
    /// The notification.
    pub notification: Arc<Notification<O>>,
    /// How long to pause before the call: zero, unless the last call panicked.
    pub rest: Duration,
}

/// Relays notifications to one handler.
///
/// client-go has `add` (called by the process loop; blocks until `pop` has received), `pop` (a
/// goroutine with a ring buffer) and `run` (a goroutine that calls the handler). Here these are
/// methods: [`offer`](Self::offer), [`receive`](Self::receive), [`take`](Self::take) and
/// [`done`](Self::done). A driver without a thread for `pop` uses [`add`](Self::add) instead of the
/// first two: then `pop` is always ready to receive.
#[derive_where(Clone)]
pub struct ProcessorListener<O> {
    id: ListenerId,
    name: Arc<str>,
    /// Sent by `add`, not yet received by `pop`.
    offered: Option<Arc<Notification<O>>>,
    /// Offered by `pop` to `run`.
    next: Option<Arc<Notification<O>>>,
    /// The ring buffer: the notifications behind `next`.
    pending: VecDeque<Arc<Notification<O>>>,
    /// Capacity of the ring buffer.
    capacity: usize,
    /// Set while the handler is running: whether its notification is of the initial list.
    running: Option<bool>,
    panicked: bool,
    closed: bool,
    tracker: SingleFileTracker,
}

impl<O: Object> ProcessorListener<O> {
    /// A listener without notifications. `name` is the handler's name.
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

    /// Offers a notification to `pop`. The caller waits until [`is_offered`](Self::is_offered) is
    /// false before it continues.
    ///
    /// # Errors
    /// Returns the notification if `pop` has not received the previous one.
    pub fn offer(
        &mut self,
        notification: Arc<Notification<O>>,
        trace: &mut impl Trace,
    ) -> Result<(), Arc<Notification<O>>> {
        if self.offered.is_some() {
            return Err(notification);
        }
        // A closed listener drops it; the processor no longer contains this listener anyway.
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

    /// Whether a notification is offered that `pop` has not received.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.offered.is_some()
    }

    /// Offers and receives a notification in one call. Returns whether `run` was idle and has to be
    /// woken.
    pub fn add(&mut self, notification: Arc<Notification<O>>, trace: &mut impl Trace) -> bool {
        let idle = self.next.is_none();
        // Occupied only if a caller mixes the two ways. Then the older notification goes first.
        if let Err(notification) = self.offer(notification, trace) {
            self.receive(trace);
            let _empty_now = self.offer(notification, trace);
        }
        self.receive(trace);
        idle && self.next.is_some()
    }

    // ---- pop

    /// `pop` receives the offered notification: it becomes the next one, or goes to the end of the
    /// ring buffer. After [`close`](Self::close), `pop` drops all waiting notifications and ends.
    /// Returns whether there was anything to do.
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

    /// Whether [`take`](Self::take) would return a notification.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.running.is_none() && self.next.is_some() && !self.closed
    }

    /// `run` receives the next notification from `pop`, to call the handler with it. `None` while
    /// the handler is running or if no notification is waiting.
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

    /// The handler's method ended. A handler that panicked loses its notification; if that was of
    /// the initial list, the handler never counts as synced.
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

    /// Whether `run` has ended: closed, and the handler is not running.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.closed && self.running.is_none()
    }

    // ---- lifecycle

    /// The informer has synced, and this listener has received its whole initial list.
    pub fn upstream_has_synced(&mut self, trace: &mut impl Trace) {
        if !self.closed && self.tracker.upstream_has_synced() {
            self.state_synced(trace);
        }
    }

    /// Whether the informer has synced and the handler has handled its initial list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.tracker.has_synced()
    }

    /// Closes the listener: `pop` drops the waiting notifications, `run` ends after the current
    /// call.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    // ---- inspection

    /// The listener's number.
    #[must_use]
    pub fn id(&self) -> ListenerId {
        self.id
    }

    /// The handler's name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The notification that is currently offered to `pop`.
    #[must_use]
    pub fn offered(&self) -> Option<&Arc<Notification<O>>> {
        self.offered.as_ref()
    }

    /// The notifications that wait for the handler, next one first.
    pub fn notifications(&self) -> impl Iterator<Item = &Arc<Notification<O>>> {
        self.next.iter().chain(&self.pending)
    }

    /// Number of notifications that wait for the handler.
    #[must_use]
    pub fn waiting(&self) -> usize {
        usize::from(self.next.is_some()) + self.pending.len()
    }

    /// Capacity of the ring buffer.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether the handler is running.
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
