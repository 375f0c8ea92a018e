//! The watch stream: what was sent, and what became of it.

use std::collections::VecDeque;

use kube_core::DynamicObject;

use crate::Time;
use deltascope_cache::fact::{EventType, Fact, ObjectRef, ServerFact, WatchEnd};
use deltascope_cache::lister_watcher::WatchItem;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

/// How long an event travels to the reflector, in virtual ms.
pub const TRAVEL_MS: Time = 30;
/// How many lines are kept once they have arrived: more than a screen shows, less than memory minds.
pub const STREAM_LINES: usize = 200;

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sent, not yet taken by the reflector.
    Waiting,
    /// Taken by the reflector.
    Received,
    /// Lost when the connection broke.
    Lost,
}

/// One event on the watch stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLine {
    /// How many were sent before it, since the start.
    pub number: u64,
    /// Its type.
    pub event: EventType,
    /// Its object.
    pub object: ObjectRef,
    /// Where it is.
    pub delivery: Delivery,
}

/// The stream between a source and the reflector.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    lines: VecDeque<StreamLine>,
    sent: u64,
    on_the_way: VecDeque<(Time, WatchItem<DynamicObject>)>,
    end: Option<(Time, WatchEnd)>,
}

impl Stream {
    /// What was sent, oldest first; old lines that have arrived are forgotten.
    pub fn lines(&self) -> impl Iterator<Item = &StreamLine> {
        self.lines.iter()
    }

    /// How many were sent since the start.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Puts an event on its way.
    pub fn send(
        &mut self,
        now: Time,
        event: EventType,
        object: ObjectRef,
        item: WatchItem<DynamicObject>,
        trace: &mut impl Trace,
    ) {
        self.send_at(now + TRAVEL_MS, event, object, item, trace);
    }

    /// The same, with the moment when it arrives.
    pub fn send_at(
        &mut self,
        arrival: Time,
        event: EventType,
        object: ObjectRef,
        item: WatchItem<DynamicObject>,
        trace: &mut impl Trace,
    ) {
        self.note(event, object.clone(), Delivery::Waiting);
        let ends_list = matches!(
            item,
            WatchItem::Bookmark {
                initial_events_end: true,
                ..
            }
        );
        self.on_the_way.push_back((arrival, item));
        trace.fact(Step::ServerSend, || {
            Fact::Server(ServerFact::EventSent {
                event,
                object,
                ends_list,
            })
        });
    }

    /// Notes something that needs no travelling.
    pub fn note(&mut self, event: EventType, object: ObjectRef, delivery: Delivery) {
        self.lines.push_back(StreamLine {
            number: self.sent,
            event,
            object,
            delivery,
        });
        self.sent += 1;
        self.trim();
    }

    /// Ends the stream now, after all that has arrived.
    pub fn end_at_once(&mut self, now: Time, end: WatchEnd, trace: &mut impl Trace) {
        trace.fact(Step::ServerClose, || {
            Fact::Server(ServerFact::WatchClosed {
                end: end.clone(),
                lost: 0,
            })
        });
        self.end = Some((now, end));
    }

    /// Ends the stream after what is on its way, or (a cut) instead of it.
    pub fn end(&mut self, now: Time, end: WatchEnd, trace: &mut impl Trace) {
        let mut lost = 0;
        if end == WatchEnd::Cut {
            for line in &mut self.lines {
                if line.delivery == Delivery::Waiting {
                    line.delivery = Delivery::Lost;
                    lost += 1;
                }
            }
            self.on_the_way.clear();
            self.trim();
        }
        trace.fact(Step::ServerClose, || {
            Fact::Server(ServerFact::WatchClosed {
                end: end.clone(),
                lost,
            })
        });
        self.end = Some((now + TRAVEL_MS, end));
    }

    /// Whether the end is on its way.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.end.is_some()
    }

    /// Whether an end is on the way, of whatever kind: nothing will be told after it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_error = |(_, item): &(Time, WatchItem<_>)| matches!(item, WatchItem::Error(_));
        self.is_ending() || self.on_the_way.iter().any(is_error)
    }

    /// When the next thing arrives.
    #[must_use]
    pub fn arrival(&self) -> Option<Time> {
        self.on_the_way
            .front()
            .map(|(at, _)| *at)
            .or_else(|| self.end.as_ref().map(|(at, _)| *at))
    }

    /// Takes it.
    pub fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        let Some((_, item)) = self.on_the_way.pop_front() else {
            return self.end.take().map(|_| WatchItem::Closed);
        };
        if let Some(line) = self
            .lines
            .iter_mut()
            .find(|line| line.delivery == Delivery::Waiting)
        {
            line.delivery = Delivery::Received;
        }
        self.trim();
        Some(item)
    }

    /// Nobody reads any more: what is on its way is lost.
    pub fn hang_up(&mut self) {
        for line in &mut self.lines {
            if line.delivery == Delivery::Waiting {
                line.delivery = Delivery::Lost;
            }
        }
        self.on_the_way.clear();
        self.end = None;
        self.trim();
    }

    /// What still waits is never forgotten.
    fn trim(&mut self) {
        while self.lines.len() > STREAM_LINES
            && self
                .lines
                .front()
                .is_some_and(|line| line.delivery != Delivery::Waiting)
        {
            self.lines.pop_front();
        }
    }
}
