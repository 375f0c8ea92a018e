//! Long work in slices: whoever has it done gets the control back after each, and decides how long the
//! next one is. There is no clock here: work is counted.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// How much is done at once, and how much was. A unit is about a fact.
#[derive(Debug)]
pub struct Slices {
    each: Cell<usize>,
    left: Cell<usize>,
    done: Cell<usize>,
}

impl Slices {
    /// Slices of so many units.
    #[must_use]
    pub fn of(each: usize) -> Self {
        Self {
            each: Cell::new(each),
            left: Cell::new(each),
            done: Cell::new(0),
        }
    }

    /// One slice, however much there is to do.
    #[must_use]
    pub fn whole() -> Self {
        Self::of(usize::MAX)
    }

    /// From the next slice on, each has so many units.
    pub fn set(&self, each: usize) {
        self.each.set(each.max(1));
    }

    /// How many units a slice has.
    #[must_use]
    pub fn each(&self) -> usize {
        self.each.get()
    }

    /// How many units were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.get()
    }

    /// So much was done; at the end of a slice the control is given back, once.
    pub async fn spend(&self, work: usize) {
        self.done.set(self.done.get().saturating_add(work));
        let left = self.left.get().saturating_sub(work);
        self.left.set(left);
        if left == 0 {
            pause().await;
            self.left.set(self.each.get());
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
