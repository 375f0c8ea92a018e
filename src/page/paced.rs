//! Long work in slices, between which the page responds.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use leptos::prelude::document;

use crate::animate::now;
use deltascope_world::slices::Slices;

/// How long one slice of an opening takes, in ms. The page stays responsive in between.
pub(crate) const SLICE_MS: f64 = 40.0;
/// The same in a hidden tab, in ms. Browsers run its timers once a second.
const HIDDEN_MS: f64 = 1_000.0;

/// Work in slices of about the same duration, however fast the machine is and however long a unit of the work
/// takes.
pub(crate) struct Paced<F> {
    slices: Rc<Slices>,
    /// When the current slice ends, in ms.
    end: Rc<Cell<f64>>,
    work: Pin<Box<F>>,
}

impl<F: Future> Paced<F> {
    /// Wraps the work. `work` gets the `Slices`, which say where a slice ends.
    pub(crate) fn of(work: impl FnOnce(Rc<Slices>) -> F) -> Self {
        let end = Rc::new(Cell::new(0.0));
        let ends = Rc::clone(&end);
        let slices = Rc::new(Slices::until(move || now() >= ends.get()));
        Self {
            work: Box::pin(work(Rc::clone(&slices))),
            slices,
            end,
        }
    }

    /// Does one slice.
    pub(crate) fn go_on(&mut self) -> Poll<F::Output> {
        let ms = if document().hidden() {
            HIDDEN_MS
        } else {
            SLICE_MS
        };
        self.end.set(now() + ms);
        self.work
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    /// How many units of the work are done.
    #[must_use]
    pub(crate) fn done(&self) -> usize {
        self.slices.done()
    }
}

/// Numbers what is begun anew: what belongs to an earlier turn does not count any more.
#[derive(Default)]
pub(crate) struct Turns(Cell<u64>);

impl Turns {
    /// Begins the next turn.
    pub(crate) fn next(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }

    /// The current turn.
    pub(crate) fn now(&self) -> u64 {
        self.0.get()
    }

    /// Whether this is the current turn.
    pub(crate) fn is(&self, turn: u64) -> bool {
        self.0.get() == turn
    }
}
