//! The line of what is said to a board while what it needs of the program is fetched. It is done in its order, and
//! nothing goes before what was said earlier.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Who waits, in order. The first may be at work.
#[derive(Default)]
pub(super) struct Line(RefCell<VecDeque<Rc<Place>>>);

#[derive(Default)]
struct Place {
    state: Cell<State>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waits,
    Goes,
    /// The same, and opens the run that those behind it are for.
    Leads,
    Dropped,
}

impl Place {
    fn becomes(&self, state: State) {
        self.state.set(state);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Whether those that wait are for the run that the first one opens.
    pub(super) fn is_led(&self) -> bool {
        let line = self.0.borrow();
        let first = line.front();
        first.is_some_and(|first| first.state.get() == State::Leads)
    }

    /// The first goes.
    pub(super) fn go(&self) {
        let first = self.0.borrow().front().cloned();
        if let Some(first) = first.filter(|first| first.state.get() == State::Waits) {
            first.becomes(State::Goes);
        }
    }

    /// Takes out those that wait. Their turn does not come.
    pub(super) fn leave(&self) -> Left {
        let all = self.0.take();
        let (left, stays) = all
            .into_iter()
            .partition(|place| place.state.get() == State::Waits);
        self.0.replace(stays);
        Left(left.into())
    }
}

/// Those that were taken out. They hear of it when this is dropped.
pub(super) struct Left(Vec<Rc<Place>>);

impl Drop for Left {
    fn drop(&mut self) {
        for place in &self.0 {
            place.becomes(State::Dropped);
        }
    }
}

/// A turn: the next one's comes when this is dropped.
pub(super) struct Turn(Option<(Rc<Line>, Rc<Place>)>);

impl Turn {
    /// The turn of what does not have to wait.
    pub(super) const NOW: Self = Self(None);

    /// At the end of a line.
    pub(super) fn last(line: &Rc<Line>) -> Self {
        let place = Rc::default();
        line.0.borrow_mut().push_back(Rc::clone(&place));
        Self(Some((Rc::clone(line), place)))
    }

    /// Waits for it. Returns false if it does not come.
    pub(super) async fn comes(&self) -> bool {
        let Some((_, place)) = &self.0 else {
            return true;
        };
        poll_fn(|context| match place.state.get() {
            State::Waits => {
                place.waker.replace(Some(context.waker().clone()));
                Poll::Pending
            }
            state => Poll::Ready(state == State::Goes),
        })
        .await
    }

    /// Waits once more, before all others: for more than what it has waited for.
    pub(super) fn again(&self) {
        if let Some((_, place)) = &self.0 {
            place.state.set(State::Waits);
        }
    }

    /// Opens the run that those behind it are for.
    pub(super) fn leads(&self) {
        if let Some((_, place)) = &self.0 {
            place.state.set(State::Leads);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some((line, place)) = &self.0 {
            line.0.borrow_mut().retain(|one| !Rc::ptr_eq(one, place));
            if matches!(place.state.get(), State::Goes | State::Leads) {
                line.go();
            }
        }
    }
}
