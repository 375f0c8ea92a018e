//! The listener of one handler, in its own thread.
//!
//! In client-go, a listener has two goroutines: one is always ready to receive a notification from
//! the process loop, the other calls the handler. Here a single thread for all listeners receives
//! the notifications from the process loop and puts them into unbounded inboxes. So the process
//! loop does not wait for a handler here either.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use derive_where::derive_where;

use crate::event_handler::ResourceEventHandler;
use crate::listener::{PanicPolicy, REST_AFTER_PANIC, SingleFileTracker};
use crate::object::Object;
use crate::process::Notification;

use super::clock::{Clock, wait_until};
use super::condvar_mutex::CondvarMutex;
use super::latch::Latch;
use super::sync::Arc;

/// A handler that a thread can call.
pub(crate) type Handler<O> = Box<dyn ResourceEventHandler<O> + Send + Sync>;

/// Notifications in order, shared by their listeners. Clones share the data.
#[derive_where(Clone)]
pub(crate) struct Chunk<O> {
    notifications: Arc<[Notification<O>]>,
    /// Number of adds of the initial list.
    initial: usize,
}

impl<O: Object> Chunk<O> {
    pub(crate) fn new(notifications: impl IntoIterator<Item = Notification<O>>) -> Self {
        let notifications: Arc<[_]> = notifications.into_iter().collect();
        let initial = notifications
            .iter()
            .filter(|notification| notification.is_in_initial_list())
            .count();
        Self {
            notifications,
            initial,
        }
    }

    /// Whether any notification is a resync.
    pub(crate) fn has_sync(&self) -> bool {
        self.notifications.iter().any(Notification::is_sync)
    }

    /// The notifications that are not resyncs.
    pub(crate) fn without_sync(&self) -> Self {
        let others = self
            .notifications
            .iter()
            .filter(|notification| !notification.is_sync());
        Self::new(others.cloned())
    }
}

/// Relays notifications to one handler.
pub(crate) struct Listener<O> {
    handler: Handler<O>,
    inbox: CondvarMutex<Inbox<O>>,
    closed: Latch,
    // The same flag, cheap to read between two notifications.
    is_closed: AtomicBool,
    synced: Latch,
}

struct Inbox<O> {
    chunks: VecDeque<Chunk<O>>,
    tracker: SingleFileTracker,
}

impl<O: Object> Listener<O> {
    pub(crate) fn new(handler: Handler<O>) -> Self {
        Self {
            handler,
            inbox: CondvarMutex::new(Inbox {
                chunks: VecDeque::new(),
                tracker: SingleFileTracker::default(),
            }),
            closed: Latch::new(),
            is_closed: AtomicBool::new(false),
            synced: Latch::new(),
        }
    }

    /// Adds notifications to the inbox.
    pub(crate) fn add(&self, chunk: Chunk<O>) {
        if chunk.notifications.is_empty() {
            return;
        }
        let mut inbox = self.inbox.lock();
        for _ in 0..chunk.initial {
            inbox.tracker.start();
        }
        inbox.chunks.push_back(chunk);
        self.inbox.notify_one(inbox);
    }

    /// The informer has synced, and this listener has received its whole initial list.
    pub(crate) fn upstream_has_synced(&self) {
        let synced = self.inbox.lock().tracker.upstream_has_synced();
        if synced {
            self.synced.set();
        }
    }

    /// A latch that is set once the handler has handled its initial list.
    pub(crate) fn synced(&self) -> &Latch {
        &self.synced
    }

    /// Drops the waiting notifications; [`run`](Self::run) ends after the current one.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.closed.set();
        let mut inbox = self.inbox.lock();
        let dropped = std::mem::take(&mut inbox.chunks);
        self.inbox.notify_all(inbox);
        drop(dropped);
    }

    /// Calls the handler for each notification, until the listener is closed.
    pub(crate) fn run(&self, policy: PanicPolicy, clock: &Clock) {
        let mut panicked = false;
        let mut chunks = VecDeque::new();
        loop {
            {
                let mut inbox = self.inbox.lock();
                loop {
                    if self.is_closed.load(Ordering::Acquire) {
                        return;
                    }
                    if !inbox.chunks.is_empty() {
                        break;
                    }
                    inbox = self.inbox.wait(inbox);
                }
                // Swap, so that both buffers are reused.
                std::mem::swap(&mut inbox.chunks, &mut chunks);
            }
            for chunk in chunks.drain(..) {
                let mut initial = 0;
                let mut rest = chunk.notifications.iter().peekable();
                while let Some(notification) = rest.next() {
                    if self.is_closed.load(Ordering::Acquire) {
                        return;
                    }
                    if panicked {
                        wait_until(clock, clock.now() + REST_AFTER_PANIC, &self.closed);
                    }
                    let outcome =
                        catch_unwind(AssertUnwindSafe(|| notification.deliver(&*self.handler)));
                    panicked = outcome.is_err();
                    if panicked {
                        super::panicked(policy);
                    } else if notification.is_in_initial_list() {
                        initial += 1;
                    }
                    let last = rest.peek().is_none_or(|next| !next.is_in_initial_list());
                    if initial > 0 && last {
                        self.finished(std::mem::take(&mut initial));
                    }
                }
            }
        }
    }

    fn finished(&self, count: usize) {
        let mut inbox = self.inbox.lock();
        let mut synced = false;
        for _ in 0..count {
            synced |= inbox.tracker.finished();
        }
        drop(inbox);
        if synced {
            self.synced.set();
        }
    }
}
