//! Any of the sources, so that a scenario can choose one.

use std::sync::Arc;

use kube_core::DynamicObject;

use crate::{Asked, Refused, Source, Time};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::lister_watcher::{ListPage, ListRequest, WatchItem, WatchRequest};
use deltascope_cache::trace::Trace;

use super::Command;
use super::live::Live;
use super::program::Program;
use super::recorded::RecordedServer;
use super::simulator::Simulator;
use super::stream::Stream;

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
    Recorded(RecordedServer),
    /// A real cluster, or the recorded responses of one.
    Live(Live),
    /// A program that calls the queue itself.
    Program(Program),
}

macro_rules! each {
    ($self:expr, $source:ident => $call:expr) => {
        match $self {
            AnySource::Server($source) => $call,
            AnySource::Recorded($source) => $call,
            AnySource::Live($source) => $call,
            AnySource::Program($source) => $call,
        }
    };
}

impl AnySource {
    /// The watch stream, or a program's calls.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        each!(self, source => &source.stream)
    }
}

impl Source for AnySource {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        each!(self, source => source.command(now, command, trace));
    }

    fn next_moment(&self) -> Option<Time> {
        each!(self, source => source.next_moment())
    }

    fn number(&self) -> u32 {
        each!(self, source => source.number())
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        each!(self, source => source.advance(now, trace));
    }

    fn begins_with_list(&self) -> bool {
        each!(self, source => source.begins_with_list())
    }

    fn ask(&mut self, ask: Asked) {
        each!(self, source => source.ask(ask));
    }

    fn answer_at(&self, usual: Time) -> Option<Time> {
        each!(self, source => source.answer_at(usual))
    }

    fn is_driven_by_commands(&self) -> bool {
        each!(self, source => source.is_driven_by_commands())
    }

    fn list(
        &mut self,
        now: Time,
        request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        each!(self, source => source.list(now, request, trace))
    }

    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused> {
        each!(self, source => source.watch(now, request, trace))
    }

    fn arrival(&self) -> Option<Time> {
        each!(self, source => source.arrival())
    }

    fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        each!(self, source => source.receive())
    }

    fn hang_up(&mut self) {
        each!(self, source => source.hang_up());
    }

    fn calls(&self) -> usize {
        each!(self, source => source.calls())
    }

    fn take_call(&mut self) -> Option<(DeltaType, Arc<DynamicObject>)> {
        each!(self, source => source.take_call())
    }
}
