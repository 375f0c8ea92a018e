//! A memo whose machinery is compiled once for all types.
//!
//! leptos compiles some KB of it for each type that a memo holds, and the rooms hold many.

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
        let held = memo(Box::new(move |before| Held {
            value: Arc::new(compute(before.and_then(Held::get))),
            equal: equal::<T>,
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
struct Held {
    value: Arc<dyn Any + Send + Sync>,
    equal: fn(&Self, &Self) -> bool,
}

impl Held {
    fn get<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        (self.equal)(self, other)
    }
}

fn equal<T: PartialEq + 'static>(one: &Held, other: &Held) -> bool {
    one.get::<T>() == other.get::<T>()
}

#[allow(
    clippy::expect_used,
    reason = "what a memo holds comes out of its own function, which returns a T"
)]
fn of<T: 'static>(held: &Held) -> &T {
    held.get().expect("a memo holds what it computes")
}

type Compute = Box<dyn Fn(Option<&Held>) -> Held + Send + Sync>;

// Not generic, so that leptos' machinery is compiled once.
fn memo(compute: Compute) -> leptos::Memo<Held> {
    leptos::Memo::new(compute)
}
