//! A mutex with a condition variable.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

use super::sync::{Condvar, Mutex, MutexGuard};

/// A value, its lock, and a condition variable.
///
/// Notifies only if a thread is waiting, because a notification costs a system call.
pub(crate) struct CondvarMutex<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    value: T,
    // At least this many threads wait and have not been notified.
    waiting: usize,
}

/// The guard of a locked [`CondvarMutex`].
pub(crate) struct Held<'a, T>(MutexGuard<'a, State<T>>);

impl<T> CondvarMutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            state: Mutex::new(State { value, waiting: 0 }),
            changed: Condvar::new(),
        }
    }

    /// Locks. Ignores poisoning, because client-go's locks are not poisoned by a panic either.
    pub(crate) fn lock(&self) -> Held<'_, T> {
        Held(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Unlocks until another thread notifies; spurious wake-ups are possible.
    pub(crate) fn wait<'a>(&self, mut held: Held<'a, T>) -> Held<'a, T> {
        held.0.waiting += 1;
        let guard = self.changed.wait(held.0);
        Held(guard.unwrap_or_else(PoisonError::into_inner))
    }

    /// Like `wait`, with a timeout.
    pub(crate) fn wait_timeout<'a>(&self, mut held: Held<'a, T>, timeout: Duration) -> Held<'a, T> {
        held.0.waiting += 1;
        let waited = self.changed.wait_timeout(held.0, timeout);
        Held(waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Unlocks and wakes one waiting thread.
    pub(crate) fn notify_one(&self, mut held: Held<'_, T>) {
        let waiting = held.0.waiting;
        held.0.waiting = waiting.saturating_sub(1);
        drop(held);
        if waiting > 0 {
            self.changed.notify_one();
        }
    }

    /// Unlocks and wakes all waiting threads.
    pub(crate) fn notify_all(&self, mut held: Held<'_, T>) {
        let waiting = std::mem::take(&mut held.0.waiting);
        drop(held);
        if waiting > 0 {
            self.changed.notify_all();
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}
