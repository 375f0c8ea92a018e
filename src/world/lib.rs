//! Drives the cache under virtual time, and simulates or replays its API server ([`source`]). This file
//! defines the contract between the components that block and the scheduler that runs them.
//!
//! Every component that blocks is a small state machine. The scheduler asks it to continue; it does one
//! micro-step and returns a [`Wait`]: what it needs before the next one. [`virtual_time`] drives these
//! machines with a clock that jumps and a seeded scheduler, so that a run can be repeated to the last fact.
//!
//! Three records are for tests alone, which compare them with the picture: the log of a reflector, the notifications of a handler and the
//! output of a world. So they are noted directly, never from facts. They cost next to nothing.

pub mod bounds;
pub mod cause_tracker;
pub mod fields;
pub mod fill;
pub mod line;
pub mod lock;
pub mod named;
pub mod slices;
pub mod source;
pub mod text;
pub mod virtual_time;

use std::sync::Arc;

use kube_core::DynamicObject;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::Reason;
use deltascope_cache::lister_watcher::{ApiError, ListPage, ListRequest, WatchItem, WatchRequest};
use deltascope_cache::trace::Trace;

/// Virtual milliseconds since the start of the run.
pub type Time = u64;

/// What a machine needs before it can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: it can continue now.
    Ready,
    /// Until this virtual time, in ms.
    Until(Time),
    /// A lock: the queue's or `blockDeltas`.
    Lock,
    /// An event that only another machine or an input can cause.
    External,
}

/// Why a source did not answer a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The request failed with this error.
    Api(ApiError),
    /// The source will never answer again; the text says why.
    Over(Reason),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

/// A request of the reflector to a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A list, or a page of one.
    List(ListRequest),
    /// A watch.
    Watch(WatchRequest),
}

/// The source that the reflector lists and watches.
///
/// A source states the server's facts itself. It never sees the queue, the store or the handlers.
pub trait Source: Clone {
    /// The commands that the source takes from outside.
    type Command: Clone;

    /// Executes a command.
    fn command(&mut self, now: Time, command: Self::Command, trace: &mut impl Trace);

    /// Virtual time of the source's next scheduled action, in ms.
    fn next_moment(&self) -> Option<Time>;

    /// The number of that action, from 0.
    fn number(&self) -> u32 {
        0
    }

    /// Executes one action that is due at `now`.
    fn advance(&mut self, now: Time, trace: &mut impl Trace);

    /// Whether the reflector begins with a list. A recording without a list begins with a watch.
    fn begins_with_list(&self) -> bool;

    /// Takes a request of the reflector. [`Source::list`] or [`Source::watch`] returns the answer.
    fn ask(&mut self, _ask: Asked) {}

    /// Virtual time of the answer, given the `usual` one; `None` if the source does not know it yet.
    fn answer_at(&self, usual: Time) -> Option<Time> {
        Some(usual)
    }

    /// Whether commands drive the source, so that many of them arrive.
    fn is_driven_by_commands(&self) -> bool {
        false
    }

    /// Answers a list request, or one page of it.
    ///
    /// # Errors
    /// [`Refused`] if the server refuses the request or the source has ended.
    fn list(
        &mut self,
        now: Time,
        request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused>;

    /// Opens a watch.
    ///
    /// # Errors
    /// [`Refused`] if the server refuses the request or the source has ended.
    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused>;

    /// Virtual time at which the next item of the open watch arrives, in ms.
    fn arrival(&self) -> Option<Time>;

    /// Takes that item.
    fn receive(&mut self) -> Option<WatchItem<DynamicObject>>;

    /// Closes the watch; the reflector does not read items that are still in flight.
    fn hang_up(&mut self);

    /// The number of queue calls that a program without a reflector has yet to make.
    fn calls(&self) -> usize {
        0
    }

    /// Takes the next queue call of a program without a reflector; `None` for every other source.
    fn take_call(&mut self) -> Option<(DeltaType, Arc<DynamicObject>)> {
        None
    }
}
