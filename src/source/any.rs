//! Any of the sources, so that a world can be built from a scenario.

use std::sync::Arc;

use kube_core::DynamicObject;

use crate::cache::delta::DeltaType;
use crate::cache::trace::Trace;
use crate::runtime::{Listing, Refused, Source, StreamItem, Time};

use super::Command;
use super::program::Program;
use super::recorded::Recording;
use super::simulator::Simulator;

/// One of the sources.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one in a world, and worlds are few"
)]
pub enum AnySource {
    /// A simulated API server.
    Server(Simulator),
    /// A recorded stream.
    Recorded(Recording),
    /// A program that calls the queue itself.
    Program(Program),
}

macro_rules! each {
    ($self:expr, $source:ident => $call:expr) => {
        match $self {
            AnySource::Server($source) => $call,
            AnySource::Recorded($source) => $call,
            AnySource::Program($source) => $call,
        }
    };
}

impl Source for AnySource {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        each!(self, source => source.command(now, command, trace));
    }

    fn next_moment(&self) -> Option<Time> {
        each!(self, source => source.next_moment())
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        each!(self, source => source.advance(now, trace));
    }

    fn begins_with_list(&self) -> bool {
        each!(self, source => source.begins_with_list())
    }

    fn list(&mut self, now: Time, rv: &str, trace: &mut impl Trace) -> Result<Listing, Refused> {
        each!(self, source => source.list(now, rv, trace))
    }

    fn watch(&mut self, now: Time, rv: &str, trace: &mut impl Trace) -> Result<(), Refused> {
        each!(self, source => source.watch(now, rv, trace))
    }

    fn arrival(&self) -> Option<Time> {
        each!(self, source => source.arrival())
    }

    fn receive(&mut self) -> Option<StreamItem> {
        each!(self, source => source.receive())
    }

    fn calls(&self) -> usize {
        each!(self, source => Source::calls(source))
    }

    fn take_call(&mut self) -> Option<(DeltaType, Arc<DynamicObject>)> {
        each!(self, source => source.take_call())
    }
}
