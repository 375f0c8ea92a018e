//! Long work in slices: the caller gets control back after each slice and decides when one ends. This module
//! has no clock.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Decides when to yield, and counts the work done. One unit of work costs about as much as one fact.
pub struct Slices {
    is_over: Box<dyn Fn() -> bool>,
    done: Cell<usize>,
}

impl fmt::Debug for Slices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slices").field("done", &self.done).finish()
    }
}

impl Slices {
    /// Slices that end when `is_over` returns true; [`Self::spend`] calls it after each piece of work.
    #[must_use]
    pub fn until(is_over: impl Fn() -> bool + 'static) -> Self {
        Self {
            is_over: Box::new(is_over),
            done: Cell::new(0),
        }
    }

    /// A single slice without an end.
    #[must_use]
    pub fn whole() -> Self {
        Self::until(|| false)
    }

    /// The work done, in units.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.get()
    }

    /// Counts finished work. At the end of a slice it yields once.
    pub async fn spend(&self, work: usize) {
        self.done.set(self.done.get().saturating_add(work));
        if (self.is_over)() {
            pause().await;
        }
    }
}

/// Yields to the executor once.
pub fn pause() -> impl Future<Output = ()> {
    let mut is_first = true;
    poll_fn(move |_| {
        if std::mem::take(&mut is_first) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
}

/// Runs sliced work to completion without a pause.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}
