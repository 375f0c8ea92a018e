//! Memos and effects whose machinery is compiled once for all.
//!
//! leptos compiles some KB of it for each type that a memo holds, and for each effect, and the rooms have many.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use leptos::prelude as leptos;
use leptos::{Get, GetUntracked, Track};

/// A value computed from others. Its readers are notified only when it changes.
pub struct Memo<T> {
    held: leptos::Memo<Held>,
    of: PhantomData<fn() -> T>,
}

// Not derived: the handle is `Copy` whatever `T` is.
impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Memo<T> {}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// A memo of `compute`, which gets the previous value.
    pub fn new(compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        let held = memo(Box::new(move |before: Option<&Held>| {
            kept(before, compute(before.and_then(Held::get)))
        }));
        Self {
            held,
            of: PhantomData,
        }
    }

    /// A memo whose value never changes.
    pub fn fixed(value: T) -> Self
    where
        T: Clone,
    {
        Self::new(move |_| value.clone())
    }

    /// Reads the value and subscribes to it.
    pub fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(of(&self.held.get()))
    }

    /// Reads the value without subscribing.
    pub fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(of(&self.held.get_untracked()))
    }

    /// A copy of the value; subscribes to it.
    #[must_use]
    pub fn get(self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// A copy of the value; does not subscribe.
    #[must_use]
    pub fn get_untracked(self) -> T
    where
        T: Clone,
    {
        self.with_untracked(T::clone)
    }

    /// Subscribes without reading.
    pub fn track(self) {
        self.held.track();
    }
}

#[derive(Clone)]
struct Held(Arc<dyn Any + Send + Sync>);

impl Held {
    fn get<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What was held before, if it is the same value.
fn kept<T: PartialEq + Send + Sync + 'static>(before: Option<&Held>, value: T) -> Held {
    match before {
        Some(before) if before.get() == Some(&value) => before.clone(),
        _ => Held(Arc::new(value)),
    }
}

#[allow(
    clippy::expect_used,
    reason = "what a memo holds comes out of its own function, which returns a T"
)]
fn of<T: 'static>(held: &Held) -> &T {
    held.get().expect("a memo holds what it computes")
}

/// Not a `dyn Fn`: the compiler adds to each of these a function that calls it once.
trait Compute: Send + Sync {
    fn compute(&self, before: Option<&Held>) -> Held;
}

impl<F: Fn(Option<&Held>) -> Held + Send + Sync> Compute for F {
    fn compute(&self, before: Option<&Held>) -> Held {
        self(before)
    }
}

// Not generic, so that leptos' machinery is compiled once.
fn memo(compute: Box<dyn Compute>) -> leptos::Memo<Held> {
    leptos::Memo::new(move |before| compute.compute(before))
}

/// Runs after the current task, and again when a signal changes that it has read, as long as its owner is there.
pub(crate) fn effect(run: impl FnMut() + 'static) {
    watch(Box::new(run));
}

/// The same, with what it returned the last time.
pub(crate) fn effect_after<T: 'static>(mut run: impl FnMut(Option<T>) -> T + 'static) {
    let mut last = None;
    effect(move || last = Some(run(last.take())));
}

fn watch(mut run: Box<dyn FnMut()>) {
    leptos::Effect::new(move |_| run());
}
