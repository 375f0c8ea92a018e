//! Clocks and timers.

use std::time::{Duration, Instant};

use super::condvar_mutex::CondvarMutex;
use super::latch::Latch;
use super::sync::{Arc, Mutex};

/// Time since an arbitrary start.
///
/// Clones share the clock.
#[derive(Clone)]
pub struct Clock {
    kind: Arc<Kind>,
}

enum Kind {
    Real(Instant),
    Manual(Mutex<Manual>),
}

#[derive(Default)]
struct Manual {
    now: Duration,
    timers: Vec<std::sync::Weak<CondvarMutex<State>>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self::real()
    }
}

impl Clock {
    /// The operating system's monotonic clock.
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        reason = "here time comes from; everything else takes it as an argument"
    )]
    pub fn real() -> Self {
        Self {
            kind: Arc::new(Kind::Real(Instant::now())),
        }
    }

    /// A clock that stands still until [`advance`](Self::advance): for tests.
    #[must_use]
    pub fn manual() -> Self {
        Self {
            kind: Arc::new(Kind::Manual(Mutex::default())),
        }
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Duration {
        match &*self.kind {
            Kind::Real(start) => start.elapsed(),
            Kind::Manual(manual) => lock(manual).now,
        }
    }

    /// Advances a manual clock and wakes the threads whose time has come. Does nothing for a real
    /// clock.
    pub fn advance(&self, by: Duration) {
        let Kind::Manual(manual) = &*self.kind else {
            return;
        };
        let timers = {
            let mut manual = lock(manual);
            manual.now += by;
            manual.timers.retain(|timer| timer.strong_count() > 0);
            manual.timers.clone()
        };
        for timer in timers.iter().filter_map(std::sync::Weak::upgrade) {
            timer.notify_all(timer.lock());
        }
    }
}

/// A timer: one thread waits for a time that other threads set.
pub(super) struct Timer {
    clock: Clock,
    state: Arc<CondvarMutex<State>>,
}

#[derive(Default)]
struct State {
    at: Option<Duration>,
    ended: bool,
}

impl Timer {
    pub(super) fn new(clock: &Clock) -> Self {
        let state = Arc::new(CondvarMutex::new(State::default()));
        if let Kind::Manual(manual) = &*clock.kind {
            lock(manual).timers.push(Arc::downgrade(&state));
        }
        Self {
            clock: clock.clone(),
            state,
        }
    }

    /// Sets the time to wait for, or none.
    pub(super) fn set(&self, at: Option<Duration>) {
        let mut state = self.state.lock();
        if state.at != at {
            state.at = at;
            self.state.notify_all(state);
        }
    }

    /// Ends the wait for good.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        self.state.notify_all(state);
    }

    /// Waits until the time is reached, and clears it. Returns false after `end`.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.ended {
                return false;
            }
            let now = self.clock.now();
            state = match (state.at, &*self.clock.kind) {
                (Some(at), _) if at <= now => {
                    state.at = None;
                    return true;
                }
                (Some(at), Kind::Real(_)) => self.state.wait_timeout(state, at - now),
                _ => self.state.wait(state),
            };
        }
    }
}

/// Waits until `moment`, or until `stop` is set; returns whether `moment` was reached.
pub(super) fn wait_until(clock: &Clock, moment: Duration, stop: &Latch) -> bool {
    let timer = Arc::new(Timer::new(clock));
    timer.set(Some(moment));
    let ended = Arc::clone(&timer);
    let _hook = stop.on_set(move || ended.end());
    timer.wait()
}

fn lock(manual: &Mutex<Manual>) -> super::sync::MutexGuard<'_, Manual> {
    manual
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
