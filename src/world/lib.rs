//! What drives the cache under virtual time, and what feeds it ([`source`]); first of all the contract between
//! what blocks and what runs it.
//!
//! What blocks is a small state machine. It is asked to go on, does one micro-step and says with
//! [`Wait`] what it needs before the next one. [`virtual_time`] drives such machines under a clock
//! that jumps and a scheduler with a seed, so that a run can be repeated to the last fact.

pub mod bounds;
pub mod cause_tracker;
pub mod fields;
pub mod fill;
pub mod lock;
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

/// What a machine needs before it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: it can go on now.
    Ready,
    /// The moment.
    Until(Time),
    /// A lock: the queue's or `blockDeltas`.
    Lock,
    /// Something that only another machine or an input can bring.
    External,
}

/// Why a source did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// With this error.
    Api(ApiError),
    /// Nothing more will come.
    Over(Reason),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

/// What a reflector asks a source for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A list, or a page of one.
    List(ListRequest),
    /// A watch.
    Watch(WatchRequest),
}

/// Where list and watch come from.
///
/// A source states the server's facts itself; it never sees queue, store or handlers.
pub trait Source: Clone {
    /// What the outside can tell it to do.
    type Command: Clone;

    /// Obeys a command.
    fn command(&mut self, now: Time, command: Self::Command, trace: &mut impl Trace);

    /// When it does something of its own accord next.
    fn next_moment(&self) -> Option<Time>;

    /// The number of what it does next of its own accord, from 0.
    fn number(&self) -> u32 {
        0
    }

    /// Does what is due at `now`: one thing.
    fn advance(&mut self, now: Time, trace: &mut impl Trace);

    /// Whether the reflector begins with a list (else with a watch: a recording of a watch alone).
    fn begins_with_list(&self) -> bool;

    /// The reflector asks; the answer is taken with [`Source::list`] or [`Source::watch`].
    fn ask(&mut self, _ask: Asked) {}

    /// When the answer is here that is usually here then; nothing: that is not known yet.
    fn answer_at(&self, usual: Time) -> Option<Time> {
        Some(usual)
    }

    /// Whether it goes by what it is told from outside, often.
    fn is_told(&self) -> bool {
        false
    }

    /// Answers a list, or a page of it.
    ///
    /// # Errors
    /// [`Refused`] says why not.
    fn list(
        &mut self,
        now: Time,
        request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused>;

    /// Opens a watch.
    ///
    /// # Errors
    /// [`Refused`] says why not.
    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused>;

    /// When the next item of the open watch arrives.
    fn arrival(&self) -> Option<Time>;

    /// Takes it.
    fn receive(&mut self) -> Option<WatchItem<DynamicObject>>;

    /// The reflector has done with the watch: what is still on its way will not be read.
    fn hang_up(&mut self);

    /// How many calls a program that has no reflector has yet to make.
    fn calls(&self) -> usize {
        0
    }

    /// The next call of a program that has no reflector, if this source is one.
    fn take_call(&mut self) -> Option<(DeltaType, Arc<DynamicObject>)> {
        None
    }
}
