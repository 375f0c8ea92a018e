//! The watch stream: the events sent, and whether they arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::Time;
use deltascope_cache::fact::{EventType, Fact, ObjectRef, Rv, ServerFact, WatchEnd};
use deltascope_cache::lister_watcher::WatchItem;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

/// How long an event takes to reach the reflector, in virtual ms.
const TRAVEL_MS: Time = 30;
/// How many delivered events are kept: more than fit on a screen, few enough for memory.
pub const STREAM_LINES: usize = 200;

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sent, not yet received by the reflector.
    Waiting,
    /// Received by the reflector.
    Received,
    /// Lost when the connection broke.
    Lost,
}

/// One event on the watch stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamLine {
    /// The number of events sent before it since the start.
    pub number: u64,
    /// The type of the event.
    pub event: EventType,
    /// The object of the event.
    pub object: ObjectRef,
    /// Where the event is.
    pub delivery: Delivery,
}

/// The stream between a source and the reflector.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    watch: Option<Rv>,
    lines: VecDeque<StreamLine>,
    sent: u64,
    on_the_way: VecDeque<(Time, WatchItem<DynamicObject>)>,
    end: Option<(Time, WatchEnd)>,
}

impl Stream {
    /// The events sent, oldest first; old ones that have arrived are dropped.
    pub fn lines(&self) -> impl Iterator<Item = &StreamLine> {
        self.lines.iter()
    }

    /// A watch is open, from this version.
    pub(crate) fn open(&mut self, rv: &Rv) {
        self.watch = Some(Arc::clone(rv));
    }

    /// The version that the open watch started at.
    #[must_use]
    pub fn watch(&self) -> Option<&Rv> {
        self.watch.as_ref()
    }

    /// Whether an open watch can receive events.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_some() && self.end.is_none()
    }

    /// How many events were sent since the start.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Sends an event.
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

    /// Sends an event that arrives at this time.
    pub(crate) fn send_at(
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

    /// Records an event that does not travel.
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

    /// Ends the stream now, after all events have arrived.
    pub(crate) fn end_at_once(&mut self, now: Time, end: WatchEnd, trace: &mut impl Trace) {
        trace.fact(Step::ServerClose, || {
            Fact::Server(ServerFact::WatchClosed {
                end: end.clone(),
                lost: 0,
            })
        });
        self.end = Some((now, end));
    }

    /// Ends the stream after the events in flight; a cut drops them.
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

    /// Whether an end is in flight, of any kind: no event will follow it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_error = |(_, item): &(Time, WatchItem<_>)| matches!(item, WatchItem::Error(_));
        self.end.is_some() || self.on_the_way.iter().any(is_error)
    }

    /// Virtual time at which the next item arrives, in ms.
    #[must_use]
    pub fn arrival(&self) -> Option<Time> {
        self.on_the_way
            .front()
            .map(|(at, _)| *at)
            .or_else(|| self.end.as_ref().map(|(at, _)| *at))
    }

    /// Takes that item.
    pub fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        let Some((_, item)) = self.on_the_way.pop_front() else {
            self.end.take()?;
            self.watch = None;
            return Some(WatchItem::Closed);
        };
        if item.ends_the_watch() {
            self.watch = None;
        }
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

    /// Drops the events in flight: the reader is gone.
    pub fn hang_up(&mut self) {
        for line in &mut self.lines {
            if line.delivery == Delivery::Waiting {
                line.delivery = Delivery::Lost;
            }
        }
        self.on_the_way.clear();
        (self.watch, self.end) = (None, None);
        self.trim();
    }

    /// Waiting events are never dropped.
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
