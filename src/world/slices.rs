//! Long work in slices: the caller gets the control back after each slice, and decides when one ends. There
//! is no clock here.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Says when to give the control back, and counts the work that is done. A unit of work is about a fact.
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
    /// Slices that end when `is_over` is true; [`Self::spend`] asks it after each piece of work.
    #[must_use]
    pub fn until(is_over: impl Fn() -> bool + 'static) -> Self {
        Self {
            is_over: Box::new(is_over),
            done: Cell::new(0),
        }
    }

    /// One slice, however much there is to do.
    #[must_use]
    pub fn whole() -> Self {
        Self::until(|| false)
    }

    /// How many units were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.get()
    }

    /// Counts work that was done. At the end of a slice it gives the control back, once.
    pub async fn spend(&self, work: usize) {
        self.done.set(self.done.get().saturating_add(work));
        if (self.is_over)() {
            pause().await;
        }
    }
}

/// Gives the control back to whoever polls, once.
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

/// Does work that comes in slices without a pause.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}
