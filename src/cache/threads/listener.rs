//! The listener of one handler, in a thread of its own.
//!
//! Upstream a listener has two goroutines, one that is always ready to take a notification off the
//! process loop and one that calls the handler. Here one thread for all listeners takes them off the
//! process loop and puts them into the inboxes, as many as there are: nobody waits for a handler
//! either.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Notifications in their order, shared by all who are told them. Clones are the same.
pub(crate) struct Chunk<O> {
    notifications: Arc<[Notification<O>]>,
    /// How many are adds of the first list.
    initial: usize,
}

// Derived, this would ask for `O: Clone`.
impl<O> Clone for Chunk<O> {
    fn clone(&self) -> Self {
        Self {
            notifications: Arc::clone(&self.notifications),
            initial: self.initial,
        }
    }
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

    /// Whether some count as resyncs.
    pub(crate) fn has_sync(&self) -> bool {
        self.notifications.iter().any(Notification::is_sync)
    }

    /// The others.
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
    // The same for whoever is between two notifications.
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

    /// The handler is to be told this.
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

    /// The informer has synced, and this listener was given its whole first list.
    pub(crate) fn upstream_has_synced(&self) {
        let synced = self.inbox.lock().tracker.upstream_has_synced();
        if synced {
            self.synced.set();
        }
    }

    /// Set once the handler is done with its first list.
    pub(crate) fn synced(&self) -> &Latch {
        &self.synced
    }

    /// What waits is dropped; [`run`](Self::run) ends after the notification that it is at.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.closed.set();
        let mut inbox = self.inbox.lock();
        let dropped = std::mem::take(&mut inbox.chunks);
        self.inbox.notify_all(inbox);
        drop(dropped);
    }

    /// Calls the handler with everything that comes, until it is closed.
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
                // The room of both is used again and again.
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
                    let told = catch_unwind(AssertUnwindSafe(|| notification.tell(&*self.handler)));
                    panicked = told.is_err();
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
