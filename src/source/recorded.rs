//! A recorded stream as a source: the bodies that a real API server once sent.
//!
//! Only what was recorded can be answered. When the reflector asks for more, the recording is over
//! and says so.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::cache::fact::{EventType, Fact, ObjectRef, Refusal, Rv, Shape, WatchEnd};
use crate::cache::key::Key;
use crate::cache::step::Step;
use crate::cache::trace::Trace;
use crate::runtime::{Listing, Refused, Source, StreamItem, Time};

use super::Command;
use super::simulator::{DELETED_SHOWN, key_of, reference, write_target};
use super::stream::Stream;
use super::wire::{Recorded, RecordedEvent};

/// How far apart the events of a recording without times are played, in virtual ms.
pub const EVENT_MS: Time = 500;

/// The source.
#[derive(Clone, Debug)]
pub struct Recording {
    list: Option<Listing>,
    has_list: bool,
    events: VecDeque<RecordedEvent>,
    has_watch: bool,
    watch: Option<Rv>,
    next: Time,
    stream: Stream,
    /// What the server had by now, going by the list and the events; without a list nobody knows.
    objects: IndexMap<Key, (ObjectRef, bool)>,
    deleted: VecDeque<Key>,
    rv: Rv,
}

impl Recording {
    /// From what [`super::wire::open`] read.
    #[must_use]
    pub fn new(recorded: Recorded) -> Self {
        let list = recorded.start.map(|start| Listing {
            rv: start.rv,
            items: start.items,
        });
        let mut objects = IndexMap::new();
        for object in list.iter().flat_map(|list| &list.items) {
            let key = key_of(object);
            objects.insert(key.clone(), (reference(&key, object), false));
        }
        Self {
            objects,
            deleted: VecDeque::new(),
            rv: list
                .as_ref()
                .map_or_else(|| "".into(), |list| Arc::clone(&list.rv)),
            has_list: list.is_some(),
            list,
            events: recorded.events.into(),
            has_watch: recorded.has_watch,
            watch: None,
            next: 0,
            stream: Stream::default(),
        }
    }

    /// The version that the open watch started at.
    #[must_use]
    pub fn open_watch(&self) -> Option<Rv> {
        self.watch.clone()
    }

    /// What was sent.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The version of the list, or of the last event sent.
    #[must_use]
    pub fn rv(&self) -> &Rv {
        &self.rv
    }

    /// Whether it is known what the server had: there was a list.
    #[must_use]
    pub fn knows_objects(&self) -> bool {
        self.has_list
    }

    /// The server's objects, the last deleted ones (true) among them.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &(ObjectRef, bool))> {
        self.objects.iter()
    }

    /// The deleted ones among them, the longest ago first.
    pub fn deleted(&self) -> impl Iterator<Item = &Key> {
        self.deleted.iter()
    }

    fn follow(&mut self, event: EventType, object: &ObjectRef) {
        if !object.rv.is_empty() {
            self.rv = Arc::clone(&object.rv);
        }
        if !self.has_list {
            return;
        }
        let key = &object.key;
        match event {
            EventType::Added => {
                self.objects.shift_remove(key);
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object.clone(), false));
            }
            EventType::Modified => {
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object.clone(), false));
            }
            EventType::Deleted => {
                let was = self.objects.insert(key.clone(), (object.clone(), true));
                if was.is_none_or(|(_, deleted)| !deleted) {
                    self.deleted.push_back(key.clone());
                }
                if self.deleted.len() > DELETED_SHOWN
                    && let Some(first) = self.deleted.pop_front()
                {
                    self.objects.shift_remove(&first);
                }
            }
            EventType::Bookmark | EventType::Error => {}
        }
    }
}

impl Source for Recording {
    type Command = Command;

    /// Nobody can write to the past; a cut is possible.
    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        match command {
            Command::Write(write) => {
                let (verb, key) = write_target(&write);
                trace.fact(Step::ServerCheck, || Fact::WriteRefused {
                    verb,
                    key,
                    refusal: Refusal::Invalid("a recording cannot be written to".into()),
                });
            }
            Command::Cut => {
                if self.watch.is_some() && !self.stream.is_ending() {
                    self.events.clear();
                    self.stream.end(now, WatchEnd::Cut, trace);
                }
            }
            Command::Compact => {}
        }
    }

    fn next_moment(&self) -> Option<Time> {
        (self.watch.is_some() && !self.events.is_empty()).then_some(self.next)
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        let Some(event) = self.events.pop_front() else {
            return;
        };
        self.next = now + EVENT_MS;
        let (sent, object, item) = match event {
            RecordedEvent::Object { event, object } => {
                let sent = reference(&key_of(&object), &object);
                (event, sent, StreamItem::Object(event, object))
            }
            RecordedEvent::Bookmark { rv, .. } => {
                let sent = bare(Arc::clone(&rv));
                (EventType::Bookmark, sent, StreamItem::Bookmark(rv))
            }
            RecordedEvent::Error { code, reason, .. } => {
                let reason: Arc<str> = reason.as_str().into();
                let item = StreamItem::Error(code, reason);
                (EventType::Error, bare("".into()), item)
            }
            RecordedEvent::Cut { bytes } => {
                self.stream.end(now, WatchEnd::CutInLine(bytes), trace);
                return;
            }
        };
        self.follow(sent, &object);
        self.stream.send(now, sent, object, item, trace);
    }

    fn begins_with_list(&self) -> bool {
        self.has_list
    }

    fn list(&mut self, _now: Time, _rv: &str, trace: &mut impl Trace) -> Result<Listing, Refused> {
        let Some(listing) = self.list.take() else {
            let reason: Arc<str> = "the recording holds no further list".into();
            trace.fact(Step::ServerList, || Fact::ListRefused {
                code: 0,
                reason: Arc::clone(&reason),
            });
            return Err(Refused::Over(reason));
        };
        trace.fact(Step::ServerList, || Fact::ListAnswered {
            rv: Arc::clone(&listing.rv),
            count: listing.items.len() as u32,
        });
        Ok(listing)
    }

    fn watch(&mut self, now: Time, rv: &str, trace: &mut impl Trace) -> Result<(), Refused> {
        if !self.has_watch || self.events.is_empty() && self.next > 0 {
            return Err(Refused::Over("the recording ends here".into()));
        }
        self.watch = Some(rv.into());
        self.next = now + EVENT_MS;
        trace.fact(Step::ServerWatch, || Fact::WatchAccepted { rv: rv.into() });
        Ok(())
    }

    fn arrival(&self) -> Option<Time> {
        self.stream.arrival()
    }

    fn receive(&mut self) -> Option<StreamItem> {
        let item = self.stream.receive()?;
        if matches!(item, StreamItem::End(_) | StreamItem::Error(..)) {
            self.watch = None;
        }
        Some(item)
    }
}

fn bare(rv: Rv) -> ObjectRef {
    ObjectRef {
        key: Key::from(""),
        shape: Shape::Object,
        rv,
        uid: "".into(),
    }
}
