//! A simulated API server: revisions, create, edit, delete, list, watch, and what can go wrong.
//!
//! It answers as a real one does where the reflector can tell: every write gets the next resource
//! version, a deletion too; a watch starts after a version, as long as the server still has the
//! history since then, and is answered with 410 Expired otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;
use kube_core::DynamicObject;

use crate::cache::fact::{Body, EventType, Fact, ObjectRef, Refusal, Rv, Shape, Verb, WatchEnd};
use crate::cache::key::Key;
use crate::cache::object::Object;
use crate::cache::step::Step;
use crate::cache::trace::Trace;
use crate::runtime::{Listing, Refused, Source, StreamItem, Time};

use super::Command;
use super::pod::{self, Write};
use super::stream::Stream;
use super::workload::Workload;

/// How many changes the server remembers: small, so that a watch can expire before one's eyes.
pub const WATCH_WINDOW: usize = 50;
/// Where the versions begin: 0 has a meaning of its own in a request, so no server is ever there.
const FIRST_RV: u64 = 1;
/// How long the network is down after a cut, in virtual ms: long enough for the first attempt to
/// reconnect to be refused.
const OUTAGE_MS: Time = 300;
/// How many deleted objects stay in the picture, struck out.
pub const DELETED_SHOWN: usize = 2;

/// One object the server has, or had a moment ago.
#[derive(Clone, Debug)]
pub struct Stored {
    /// It.
    pub object: Arc<DynamicObject>,
    /// It has been deleted: kept for the picture alone.
    pub deleted: bool,
}

#[derive(Clone, Debug)]
struct Change {
    rv: u64,
    event: EventType,
    object: Arc<DynamicObject>,
}

/// The server.
#[derive(Clone, Debug)]
pub struct Simulator {
    rv: u64,
    uids: u64,
    objects: IndexMap<Key, Stored>,
    history: VecDeque<Change>,
    /// A watch from before this version is too old.
    oldest: u64,
    watch: Option<Rv>,
    stream: Stream,
    /// Until then no connection is accepted.
    down_until: Time,
    traffic: Option<Traffic>,
}

#[derive(Clone, Debug)]
struct Traffic {
    workload: Workload,
    next: Option<(Time, Write)>,
}

impl Simulator {
    /// A server that has these objects already, and perhaps traffic that goes on for ever.
    #[must_use]
    pub fn new(initial: Vec<DynamicObject>, workload: Option<Workload>) -> Self {
        let mut server = Self {
            rv: FIRST_RV,
            uids: 0,
            objects: IndexMap::new(),
            history: VecDeque::new(),
            oldest: FIRST_RV,
            watch: None,
            stream: Stream::default(),
            down_until: 0,
            traffic: None,
        };
        for object in initial {
            // A name that is there twice stays as it was first.
            let _refused = server.apply(Write::Create(object), &mut ());
        }
        server.history.clear();
        server.oldest = server.rv;
        server.traffic = workload.map(|workload| Traffic {
            workload,
            next: None,
        });
        server.plan_traffic(0);
        server
    }

    /// Its version.
    #[must_use]
    pub fn rv(&self) -> Rv {
        self.rv.to_string().into()
    }

    /// A watch from before this version is answered with 410.
    #[must_use]
    pub fn oldest(&self) -> Rv {
        self.oldest.to_string().into()
    }

    /// The versions of the changes that it remembers, oldest first.
    pub fn history(&self) -> impl Iterator<Item = Rv> {
        self.history
            .iter()
            .map(|change| change.rv.to_string().into())
    }

    /// Its objects in the order of their creation, and the last deleted ones.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Stored)> {
        self.objects.iter()
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

    /// Whether writes go on for ever.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.traffic.is_some()
    }

    fn live(&self, key: &str) -> Option<&Arc<DynamicObject>> {
        self.objects
            .get(key)
            .filter(|stored| !stored.deleted)
            .map(|stored| &stored.object)
    }

    /// Applies a write; `None` when it was refused.
    fn apply(&mut self, write: Write, trace: &mut impl Trace) -> Option<Change> {
        let (verb, key) = write_target(&write);
        let current = self.live(&key).cloned();
        let (event, mut object) = match (write, &current) {
            (Write::Create(object), None) => (EventType::Added, object),
            (Write::Update(object), Some(_)) => (EventType::Modified, object),
            (Write::Delete { .. }, Some(current)) => {
                (EventType::Deleted, DynamicObject::clone(current))
            }
            (Write::Create(_), Some(_)) => {
                return refuse(verb, key, Refusal::AlreadyExists, trace);
            }
            (Write::Update(_) | Write::Delete { .. }, None) => {
                return refuse(verb, key, Refusal::NotFound, trace);
            }
        };
        self.rv += 1;
        object.metadata.resource_version = Some(self.rv.to_string());
        object.metadata.uid = Some(match &current {
            Some(current) => current.uid().to_owned(),
            None => {
                self.uids += 1;
                uid(self.uids)
            }
        });
        let object = Arc::new(object);
        let reference = reference(&key, &object);
        let body = pod::body(&object);
        let old_rv: Rv = current
            .as_ref()
            .map_or("", |current| current.resource_version())
            .into();
        match event {
            EventType::Added => {
                self.objects.shift_remove(&key);
                self.insert(&key, &object);
                trace.fact(Step::ServerWrite, || Fact::ObjectCreated {
                    object: reference,
                    body,
                });
            }
            EventType::Modified => {
                self.insert(&key, &object);
                trace.fact(Step::ServerWrite, || Fact::ObjectUpdated {
                    object: reference,
                    body,
                    old_rv,
                });
            }
            _ => {
                self.insert(&key, &object);
                if let Some(stored) = self.objects.get_mut(&key) {
                    stored.deleted = true;
                }
                // `deleted` objects leave the picture in the order of their deletion.
                while self.objects.values().filter(|s| s.deleted).count() > DELETED_SHOWN {
                    let first = self
                        .objects
                        .iter()
                        .filter(|(_, stored)| stored.deleted)
                        .min_by_key(|(_, stored)| version(&stored.object))
                        .map(|(key, _)| key.clone());
                    if let Some(first) = first {
                        self.objects.shift_remove(&first);
                    }
                }
                trace.fact(Step::ServerWrite, || Fact::ObjectDeleted {
                    object: reference,
                    old_rv,
                });
            }
        }
        let change = Change {
            rv: self.rv,
            event,
            object,
        };
        self.history.push_back(change.clone());
        if self.history.len() > WATCH_WINDOW
            && let Some(forgotten) = self.history.pop_front()
        {
            self.oldest = forgotten.rv;
        }
        Some(change)
    }

    fn insert(&mut self, key: &Key, object: &Arc<DynamicObject>) {
        self.objects.insert(
            key.clone(),
            Stored {
                object: Arc::clone(object),
                deleted: false,
            },
        );
    }

    fn send(&mut self, now: Time, change: &Change, trace: &mut impl Trace) {
        if self.watch.is_none() || self.stream.is_ending() {
            return;
        }
        let object = reference(&key_of(&change.object), &change.object);
        let item = StreamItem::Object(change.event, Arc::clone(&change.object));
        self.stream.send(now, change.event, object, item, trace);
    }

    fn reachable(&self, now: Time, trace: &mut impl Trace) -> Result<(), Refused> {
        if now < self.down_until {
            trace.fact(Step::ServerWatch, || Fact::ConnectionRefused);
            return Err(Refused::Unreachable);
        }
        Ok(())
    }

    fn plan_traffic(&mut self, now: Time) {
        let existing: Vec<(Key, Body)> = self
            .objects
            .iter()
            .filter(|(_, stored)| !stored.deleted)
            .map(|(key, stored)| (key.clone(), pod::body(&stored.object)))
            .collect();
        if let Some(traffic) = &mut self.traffic {
            traffic.next = Some(traffic.workload.next(now, &existing));
        }
    }
}

impl Source for Simulator {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        match command {
            Command::Write(write) => {
                if let Some(change) = self.apply(write, trace) {
                    self.send(now, &change, trace);
                }
            }
            Command::Cut => {
                if self.watch.is_some() && !self.stream.is_ending() {
                    self.down_until = now + OUTAGE_MS;
                    self.stream.end(now, WatchEnd::Cut, trace);
                }
            }
            Command::Compact => {
                // Versions belong to the whole server: other kinds have been written, too. So a watch
                // that is asked for again comes too late.
                self.rv += 1;
                self.history.clear();
                self.oldest = self.rv;
                let oldest = self.oldest();
                trace.fact(Step::ServerCompact, || Fact::HistoryCompacted { oldest });
            }
        }
    }

    fn next_moment(&self) -> Option<Time> {
        let next = self.traffic.as_ref()?.next.as_ref();
        next.map(|(at, _)| *at)
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        if let Some(traffic) = &mut self.traffic
            && let Some((_, write)) = traffic.next.take()
        {
            self.command(now, Command::Write(write), trace);
            self.plan_traffic(now);
        }
    }

    fn begins_with_list(&self) -> bool {
        true
    }

    fn list(&mut self, now: Time, _rv: &str, trace: &mut impl Trace) -> Result<Listing, Refused> {
        self.reachable(now, trace)?;
        let items: Vec<_> = self
            .objects
            .values()
            .filter(|stored| !stored.deleted)
            .map(|stored| Arc::clone(&stored.object))
            .collect();
        let rv = self.rv();
        trace.fact(Step::ServerList, || Fact::ListAnswered {
            rv: Arc::clone(&rv),
            count: items.len() as u32,
        });
        Ok(Listing { rv, items })
    }

    fn watch(&mut self, now: Time, rv: &str, trace: &mut impl Trace) -> Result<(), Refused> {
        self.reachable(now, trace)?;
        let from: u64 = rv.parse().unwrap_or_default();
        if from < self.oldest {
            let oldest = self.oldest();
            trace.fact(Step::ServerWatch, || Fact::WatchRefused {
                rv: rv.into(),
                oldest,
            });
            return Err(Refused::Expired);
        }
        self.watch = Some(rv.into());
        trace.fact(Step::ServerWatch, || Fact::WatchAccepted { rv: rv.into() });
        let missed: Vec<Change> = self
            .history
            .iter()
            .filter(|change| change.rv > from)
            .cloned()
            .collect();
        for change in missed {
            self.send(now, &change, trace);
        }
        Ok(())
    }

    fn arrival(&self) -> Option<Time> {
        self.stream.arrival()
    }

    fn receive(&mut self) -> Option<StreamItem> {
        let item = self.stream.receive()?;
        if matches!(item, StreamItem::End(_)) {
            self.watch = None;
        }
        Some(item)
    }
}

fn refuse(verb: Verb, key: Key, refusal: Refusal, trace: &mut impl Trace) -> Option<Change> {
    trace.fact(Step::ServerCheck, || Fact::WriteRefused {
        verb,
        key,
        refusal,
    });
    None
}

fn join(namespace: &str, name: &str) -> Key {
    if namespace.is_empty() {
        Key::from(name)
    } else {
        Key::from(format!("{namespace}/{name}"))
    }
}

pub(super) fn write_target(write: &Write) -> (Verb, Key) {
    match write {
        Write::Create(object) => (Verb::Create, key_of(object)),
        Write::Update(object) => (Verb::Update, key_of(object)),
        Write::Delete { namespace, name } => (Verb::Delete, join(namespace, name)),
    }
}

pub(super) fn key_of(object: &DynamicObject) -> Key {
    join(object.namespace(), object.name())
}

pub(crate) fn reference(key: &Key, object: &DynamicObject) -> ObjectRef {
    ObjectRef {
        key: key.clone(),
        shape: Shape::Object,
        rv: object.resource_version().into(),
        uid: object.uid().into(),
    }
}

pub(crate) fn version(object: &DynamicObject) -> u64 {
    object.resource_version().parse().unwrap_or_default()
}

/// A UID that looks like one; the same for the same number.
fn uid(number: u64) -> String {
    let mut rng = crate::runtime::rng::Rng::new(number);
    let (a, b) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}
