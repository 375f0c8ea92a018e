//! A recorded stream as a source: response bodies that a real API server sent.
//!
//! It can answer only what was recorded. When the reflector asks for more, the source reports that the
//! recording is over.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::{Refused, Source, Time};
use deltascope_cache::fact::{Fact, ObjectRef, Reason, Refusal, ServerFact, WatchEnd};
use deltascope_cache::lister_watcher::{ListPage, ListRequest, WatchItem, WatchRequest};
use deltascope_cache::object::Item;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Command;
use super::answer::{item_of, key_of, list_answered, reference, watch_accepted, write_target};
use super::known::Known;
use super::stream::Stream;
use super::wire::{Recorded, RecordedEvent};

/// The interval at which the events of a recording without times are played, in virtual ms.
pub const EVENT_MS: Time = 500;

/// A recorded stream as a source.
#[derive(Clone, Debug)]
pub struct RecordedServer {
    list: Option<ListPage<DynamicObject>>,
    has_list: bool,
    events: VecDeque<RecordedEvent>,
    has_watch: bool,
    next: Time,
    /// How many events were sent.
    number: u32,
    pub(super) stream: Stream,
    /// The objects that the server has by now; unknown without a list.
    known: Known<ObjectRef>,
}

impl RecordedServer {
    /// Builds the source from a recording that [`super::wire::open`] has read.
    #[must_use]
    pub fn new(recorded: Recorded) -> Self {
        let mut known = Known::new("".into(), recorded.start.is_some());
        if let Some(start) = &recorded.start {
            let objects = start.items.iter().map(|object| {
                let key = key_of(object);
                (key.clone(), reference(&key, object))
            });
            known.learn(Arc::clone(&start.rv), objects);
        }
        let list = recorded.start.map(|start| ListPage {
            resource_version: start.rv,
            items: start.items.into_iter().map(Item::Object).collect(),
            continue_token: Arc::default(),
            table: None,
        });
        Self {
            known,
            has_list: list.is_some(),
            list,
            events: recorded.events.into(),
            has_watch: recorded.has_watch,
            next: 0,
            number: 0,
            stream: Stream::default(),
        }
    }

    /// The objects that the server is known to have.
    #[must_use]
    pub fn known(&self) -> &Known<ObjectRef> {
        &self.known
    }
}

impl Source for RecordedServer {
    type Command = Command;

    /// A write is refused, because a recording cannot change; a cut is possible.
    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        match command {
            Command::Write(write) => {
                let (verb, key) = write_target(&write);
                trace.fact(Step::ServerCheck, || {
                    Fact::Server(ServerFact::WriteRefused {
                        verb,
                        key,
                        refusal: Refusal::Invalid(Reason::ReadOnly),
                    })
                });
            }
            Command::Cut => {
                if self.stream.is_watched() {
                    self.events.clear();
                    self.stream.end(now, WatchEnd::Cut, trace);
                }
            }
            // A recording has no more than was recorded.
            Command::Compact
            | Command::Close
            | Command::Bookmark
            | Command::ErrorEvent(_)
            | Command::Refuse(_)
            | Command::Respond(_) => {}
        }
    }

    fn next_moment(&self) -> Option<Time> {
        (self.stream.watch().is_some() && !self.events.is_empty()).then_some(self.next)
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        let Some(event) = self.events.pop_front() else {
            return;
        };
        self.number += 1;
        self.next = now + EVENT_MS;
        match item_of(event) {
            Ok((event, object, item)) => {
                self.known.follow(event, &object, Some(object.clone()));
                self.stream.send(now, event, object, item, trace);
            }
            Err(bytes) => self.stream.end(now, WatchEnd::CutInLine(bytes), trace),
        }
    }

    fn begins_with_list(&self) -> bool {
        self.has_list
    }

    fn list(
        &mut self,
        _now: Time,
        _request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        let Some(page) = self.list.take() else {
            let reason = Reason::NoFurtherList;
            trace.fact(Step::ServerList, || {
                Fact::Server(ServerFact::ListRefused {
                    code: 0,
                    reason: reason.clone(),
                })
            });
            return Err(Refused::Over(reason));
        };
        list_answered(&page.resource_version, page.items.len(), trace);
        Ok(page)
    }

    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused> {
        if !self.has_watch || self.events.is_empty() && self.next > 0 {
            return Err(Refused::Over(Reason::RecordingEnds));
        }
        let rv = &request.resource_version;
        self.stream.open(rv);
        self.next = now + EVENT_MS;
        watch_accepted(rv, trace);
        Ok(())
    }

    fn arrival(&self) -> Option<Time> {
        self.stream.arrival()
    }

    fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        self.stream.receive()
    }

    fn hang_up(&mut self) {
        self.stream.hang_up();
    }
}
