//! A flag that is set once: the equivalent of a Go channel that is only ever closed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::condvar_mutex::CondvarMutex;
use super::sync::Arc;

/// A flag that is set once and never cleared: to stop something, or to signal that something is
/// done.
///
/// Clones share the latch.
#[derive(Clone, Default)]
pub struct Latch {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    // A copy of the flag in `state`, to be read without the lock.
    set: AtomicBool,
    state: CondvarMutex<State>,
}

#[derive(Default)]
struct State {
    set: bool,
    next: u64,
    hooks: Vec<(u64, Hook)>,
}

type Hook = Arc<dyn Fn() + Send + Sync>;

impl Default for CondvarMutex<State> {
    fn default() -> Self {
        Self::new(State::default())
    }
}

/// Removes a hook when it is dropped.
pub(crate) struct Hooked {
    latch: Latch,
    id: u64,
}

impl Latch {
    /// A latch that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the latch. Does nothing if it is already set.
    pub fn set(&self) {
        if self.is_set() {
            return;
        }
        let mut state = self.inner.state.lock();
        state.set = true;
        self.inner.set.store(true, Ordering::Release);
        let hooks: Vec<Hook> = state.hooks.drain(..).map(|(_, hook)| hook).collect();
        self.inner.state.notify_all(state);
        for hook in hooks {
            hook();
        }
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.inner.set.load(Ordering::Acquire)
    }

    /// Waits until the latch is set.
    pub fn wait(&self) {
        let mut state = self.inner.state.lock();
        while !state.set {
            state = self.inner.state.wait(state);
        }
    }

    /// Waits until this latch or `other` is set; returns whether this one is.
    #[must_use]
    pub fn wait_unless(&self, other: &Self) -> bool {
        let _hook = {
            let inner = Arc::clone(&self.inner);
            other.on_set(move || {
                let state = inner.state.lock();
                inner.state.notify_all(state);
            })
        };
        let mut state = self.inner.state.lock();
        while !state.set && !other.is_set() {
            state = self.inner.state.wait(state);
        }
        state.set
    }

    /// Calls `hook` when the latch is set; immediately if it already is. Dropping the returned
    /// value removes the hook, but does not wait for a call in progress.
    pub(crate) fn on_set(&self, hook: impl Fn() + Send + Sync + 'static) -> Hooked {
        let mut state = self.inner.state.lock();
        let id = state.next;
        state.next += 1;
        if state.set {
            drop(state);
            hook();
        } else {
            state.hooks.push((id, Arc::new(hook)));
        }
        Hooked {
            latch: self.clone(),
            id,
        }
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        let mut state = self.latch.inner.state.lock();
        state.hooks.retain(|(id, _)| *id != self.id);
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Latch").field(&self.is_set()).finish()
    }
}

/// Waits until all of `latches` are set, or `stop` is; returns whether all are.
///
/// Upstream: `WaitFor` in
/// [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).
#[must_use]
pub fn wait_for(stop: &Latch, latches: &[Latch]) -> bool {
    latches.iter().all(|latch| latch.wait_unless(stop))
}
