//! A simulated API server: versions, create, update, delete, list, watch, and failures.
//!
//! It behaves like a real one as far as the reflector can observe: every write gets the next resource
//! version, a deletion too. A watch starts after a version while the server still has the history since then;
//! otherwise the answer is 410 Expired.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::virtual_time::Settings;
use crate::{Refused, Source, Time};
use deltascope_cache::fact::{
    EventType, Fact, ObjectRef, Refusal, Request, Rv, ServerFact, Verb, WatchEnd,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, WatchItem, WatchRequest,
};
use deltascope_cache::map::Map;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::selector::Labels;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::answer::{
    denied, key_of, list_answered, reference, refused_to_connect, watch_accepted, write_target,
};
use super::pod::{self, Write};
use super::stream::Stream;
use super::workload::Workload;
use super::{Command, Refusals};

/// How many changes the server remembers: few, so that a user can see a watch expire.
pub const WATCH_WINDOW: usize = 50;
/// The first version. Version 0 has a meaning of its own in a request, so no server is ever at it.
const FIRST_RV: u64 = 1;
/// How long the network is down after a cut, in virtual ms: long enough that the first attempt to reconnect
/// fails.
const OUTAGE_MS: Time = 300;
/// How many deleted objects the page still shows, struck out.
pub const DELETED_SHOWN: usize = 2;

/// An object that the server has, or had a moment ago.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The object.
    pub object: Arc<DynamicObject>,
    /// Whether it has been deleted and is kept for the page alone.
    pub deleted: bool,
}

#[derive(Clone, Debug)]
struct Change {
    rv: u64,
    event: EventType,
    object: Arc<DynamicObject>,
    /// The object before the change.
    old: Option<Arc<DynamicObject>>,
}

/// A simulated API server.
#[derive(Clone, Debug)]
pub struct Simulator {
    rv: u64,
    uids: u64,
    objects: Map<Key, Stored>,
    history: VecDeque<Change>,
    /// A watch from before this version is answered with 410.
    oldest: u64,
    pub(super) stream: Stream,
    /// No connection is accepted before this virtual time.
    down_until: Time,
    /// The rest of the list that is being sent in pages.
    pages: Option<Pages>,
    refusals: VecDeque<Refusals>,
    /// How it behaves.
    settings: Arc<Settings>,
    traffic: Option<Traffic>,
}

/// The rest of a list, as of the request for its first page.
#[derive(Clone, Debug)]
struct Pages {
    rv: u64,
    handed_out: usize,
    rest: VecDeque<Arc<DynamicObject>>,
}

#[derive(Clone, Debug)]
struct Traffic {
    workload: Workload,
    next: Option<(Time, Write)>,
    /// The number of writes that were due so far.
    number: u32,
    /// The numbers of the writes that are left out.
    drops: Arc<[u32]>,
}

impl Simulator {
    /// A server that behaves as these settings say, and has these objects already, and possibly endless traffic, without
    /// the writes of these numbers.
    #[must_use]
    pub fn new(
        settings: Arc<Settings>,
        initial: Vec<DynamicObject>,
        workload: Option<Workload>,
        drops: &[u32],
    ) -> Self {
        let mut server = Self {
            rv: FIRST_RV,
            uids: 0,
            objects: Map::default(),
            history: VecDeque::new(),
            oldest: FIRST_RV,
            stream: Stream::default(),
            down_until: 0,
            pages: None,
            refusals: VecDeque::new(),
            settings,
            traffic: workload.map(|workload| Traffic {
                workload,
                next: None,
                number: 0,
                drops: drops.into(),
            }),
        };
        for object in initial {
            // The first of two objects with the same name wins.
            let _refused = server.apply(Write::Create(object), &mut ());
        }
        server.history.clear();
        server.oldest = server.rv;
        server.plan_traffic(0);
        server
    }

    /// The server's current version.
    #[must_use]
    pub fn rv(&self) -> Rv {
        self.rv.to_string().into()
    }

    /// A watch from before this version is answered with 410.
    #[must_use]
    pub fn oldest(&self) -> Rv {
        self.oldest.to_string().into()
    }

    /// The versions of the remembered changes, oldest first.
    pub fn history(&self) -> impl Iterator<Item = Rv> {
        self.history
            .iter()
            .map(|change| change.rv.to_string().into())
    }

    /// The objects in the order of their creation, including the last deleted ones.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Stored)> {
        self.objects.iter()
    }

    /// The pending refusals, the next one first.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusals> {
        self.refusals.iter()
    }

    /// Whether the server has endless traffic.
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

    /// Applies a write; `None` if it was refused.
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
        if let Some(traffic) = &mut self.traffic {
            traffic.workload.note(&key, event != EventType::Deleted);
        }
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
                trace.fact(Step::ServerWrite, || {
                    Fact::Server(ServerFact::ObjectCreated {
                        object: reference,
                        body,
                    })
                });
            }
            EventType::Modified => {
                self.insert(&key, &object);
                trace.fact(Step::ServerWrite, || {
                    Fact::Server(ServerFact::ObjectUpdated {
                        object: reference,
                        body,
                        old_rv,
                    })
                });
            }
            _ => {
                self.insert(&key, &object);
                if let Some(stored) = self.objects.get_mut(&key) {
                    stored.deleted = true;
                }
                // `deleted` objects disappear in the order of their deletion.
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
                trace.fact(Step::ServerWrite, || {
                    Fact::Server(ServerFact::ObjectDeleted {
                        object: reference,
                        old_rv,
                    })
                });
            }
        }
        let change = Change {
            rv: self.rv,
            event,
            object,
            old: current,
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

    fn send(
        &mut self,
        now: Time,
        event: EventType,
        object: &Arc<DynamicObject>,
        trace: &mut impl Trace,
    ) {
        if !self.stream.is_watched() {
            return;
        }
        let sent = reference(&key_of(object), object);
        let item = WatchItem::Event(event, Item::Object(Arc::clone(object)));
        self.stream.send(now, event, sent, item, trace);
    }

    fn send_bookmark(&mut self, now: Time, initial_events_end: bool, trace: &mut impl Trace) {
        let rv = self.rv();
        let item = WatchItem::Bookmark {
            resource_version: Arc::clone(&rv),
            initial_events_end,
        };
        let sent = ObjectRef::bare(rv);
        self.stream
            .send(now, EventType::Bookmark, sent, item, trace);
    }

    /// The existing objects that the selector matches.
    fn live_objects(&self) -> Vec<Arc<DynamicObject>> {
        self.objects
            .values()
            .filter(|stored| !stored.deleted && self.selects(&stored.object))
            .map(|stored| Arc::clone(&stored.object))
            .collect()
    }

    /// The objects of a list, with the repeated ones.
    fn listed_objects(&self) -> Vec<Arc<DynamicObject>> {
        let mut objects = self.live_objects();
        let again = self
            .settings
            .repeats
            .iter()
            .filter_map(|key| self.live(key));
        let again = again.filter(|object| self.selects(object));
        objects.extend(again.map(Arc::clone));
        objects
    }

    fn selects(&self, object: &DynamicObject) -> bool {
        let labels = object.metadata.labels.as_ref();
        self.settings
            .selector
            .as_ref()
            .is_none_or(|selector| selector.matches(labels.unwrap_or(&Labels::new())))
    }

    /// The event that a watch sends for a change. An object that starts matching the selector is new to the
    /// watch. One that stops matching is deleted: the event holds its last matching state, with the version
    /// of the change.
    fn event_for(&self, change: &Change) -> Option<(EventType, Arc<DynamicObject>)> {
        let was = change.old.as_ref().filter(|old| self.selects(old));
        let is = change.event != EventType::Deleted && self.selects(&change.object);
        let object = Arc::clone(&change.object);
        match (was, is) {
            (None, false) => None,
            (None, true) => Some((EventType::Added, object)),
            (Some(_), true) => Some((EventType::Modified, object)),
            (Some(_), false) if change.event == EventType::Deleted => {
                Some((EventType::Deleted, object))
            }
            (Some(was), false) => {
                let mut last = DynamicObject::clone(was);
                last.metadata.resource_version = Some(change.rv.to_string());
                Some((EventType::Deleted, Arc::new(last)))
            }
        }
    }

    fn send_event(&mut self, now: Time, change: &Change, trace: &mut impl Trace) {
        if let Some((event, object)) = self.event_for(change) {
            self.send(now, event, &object, trace);
        }
    }

    /// Fails a request while the network is down or a refusal is pending.
    fn refused(
        &mut self,
        now: Time,
        request: Request,
        trace: &mut impl Trace,
    ) -> Result<(), ApiError> {
        let is_down = now < self.down_until;
        // A network that is down also consumes a pending refusal that is a refused connection.
        let asked = self.refusals.iter().find(|order| order.request == request);
        let asked = asked.map(|order| order.kind);
        let comes = !is_down || asked == Some(ApiErrorKind::ConnectionRefused);
        if comes {
            take_refusal(&mut self.refusals, request);
        }
        if is_down {
            return Err(connection_refused(request, trace));
        }
        let Some(kind) = asked else {
            return Ok(());
        };
        if kind == ApiErrorKind::ConnectionRefused {
            return Err(connection_refused(request, trace));
        }
        Err(refuse_request(kind, request, trace))
    }

    fn ask_refusals(&mut self, refusals: Refusals, trace: &mut impl Trace) {
        let Refusals {
            request,
            kind,
            times,
        } = refusals;
        let before = self.refusals.len();
        order_refusals(&mut self.refusals, refusals);
        if self.refusals.len() != before {
            trace.fact(Step::SettingChanged, || {
                Fact::Server(ServerFact::RefusalsAsked {
                    request,
                    kind,
                    times,
                })
            });
        }
    }

    fn plan_traffic(&mut self, now: Time) {
        if let Some(traffic) = &mut self.traffic {
            let objects = &self.objects;
            traffic.next = Some(traffic.workload.next(now, &|key| {
                let stored = objects.get(key)?;
                Some(pod::body(&stored.object))
            }));
        }
    }
}

impl Source for Simulator {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        match command {
            Command::Write(write) => {
                if let Some(change) = self.apply(write, trace) {
                    self.send_event(now, &change, trace);
                }
            }
            Command::Cut => {
                if self.stream.is_watched() {
                    self.down_until = now + OUTAGE_MS;
                    self.stream.end(now, WatchEnd::Cut, trace);
                }
            }
            Command::Compact => {
                // Versions belong to the whole server, where other kinds have been written too. So a watch
                // that is opened again from an old version comes too late.
                self.rv += 1;
                self.pages = None;
                self.history.clear();
                self.oldest = self.rv;
                let oldest = self.oldest();
                trace.fact(Step::ServerCompact, || {
                    Fact::Server(ServerFact::HistoryCompacted { oldest })
                });
            }
            Command::Close => {
                if self.stream.is_watched() {
                    self.stream.end(now, WatchEnd::Closed, trace);
                }
            }
            Command::Bookmark => {
                if self.stream.is_watched() {
                    self.send_bookmark(now, false, trace);
                }
            }
            Command::ErrorEvent(code) => {
                if self.stream.is_watched() {
                    let kind = kind_of(code);
                    let error = ApiError::new(kind, message(kind));
                    let end = WatchEnd::Failed(error.code, Arc::clone(&error.reason));
                    let item = WatchItem::Error(error);
                    self.stream.send(
                        now,
                        EventType::Error,
                        ObjectRef::bare(Rv::default()),
                        item,
                        trace,
                    );
                    self.stream.end(now, end, trace);
                }
            }
            Command::Refuse(refusals) => self.ask_refusals(refusals, trace),
            // The simulator knows its own objects.
            Command::Respond(_) => {}
        }
    }

    fn next_moment(&self) -> Option<Time> {
        let next = self.traffic.as_ref()?.next.as_ref();
        next.map(|(at, _)| *at)
    }

    fn number(&self) -> u32 {
        self.traffic.as_ref().map_or(0, |traffic| traffic.number)
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        if let Some(traffic) = &mut self.traffic
            && let Some((_, write)) = traffic.next.take()
        {
            let dropped = traffic.drops.contains(&traffic.number);
            traffic.number += 1;
            if !dropped {
                self.command(now, Command::Write(write), trace);
            }
            self.plan_traffic(now);
        }
    }

    fn begins_with_list(&self) -> bool {
        true
    }

    fn list(
        &mut self,
        now: Time,
        request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        self.refused(now, Request::List, trace)?;
        let (rv, handed_out, mut rest) = if request.continue_token.is_empty() {
            let asked = request.resource_version.parse().unwrap_or(0);
            if asked > self.rv {
                return Err(refuse_request(ApiErrorKind::TooLarge, Request::List, trace).into());
            }
            (self.rv, 0, self.listed_objects().into())
        } else {
            // A continue token continues the list that it came with, while the server remembers that list.
            match self.pages.take() {
                Some(pages) if *request.continue_token == *pages.token() => {
                    (pages.rv, pages.handed_out, pages.rest)
                }
                _ => return Err(refuse_request(ApiErrorKind::Expired, Request::List, trace).into()),
            }
        };
        // A list from the watch cache (version "0") comes in one piece, whatever the limit.
        let limit = match (request.limit, &*request.resource_version) {
            (0, _) | (_, "0") => rest.len(),
            (limit, _) => rest.len().min(limit as usize),
        };
        let items: Vec<_> = rest.drain(..limit).map(Item::Object).collect();
        let pages = (!rest.is_empty()).then_some(Pages {
            rv,
            handed_out: handed_out + limit,
            rest,
        });
        let continue_token = pages.as_ref().map(Pages::token).unwrap_or_default().into();
        self.pages = pages;
        let resource_version: Rv = rv.to_string().into();
        list_answered(&resource_version, items.len(), trace);
        Ok(ListPage {
            resource_version,
            items,
            continue_token,
            table: None,
        })
    }

    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused> {
        self.refused(now, Request::Watch, trace)?;
        let rv = &request.resource_version;
        let initial = request.send_initial_events == Some(true);
        if initial && self.settings.refuses_streaming {
            return Err(refuse_request(ApiErrorKind::Invalid, Request::Watch, trace).into());
        }
        let from: u64 = rv.parse().unwrap_or_default();
        if from > 0 && from < self.oldest && !initial {
            let oldest = self.oldest();
            trace.fact(Step::ServerWatch, || {
                Fact::Server(ServerFact::WatchRefused {
                    rv: Arc::clone(rv),
                    oldest,
                })
            });
            return Err(
                ApiError::new(ApiErrorKind::Expired, message(ApiErrorKind::Expired)).into(),
            );
        }
        self.stream.open(rv);
        watch_accepted(rv, trace);
        if initial || from == 0 {
            for object in self.live_objects() {
                self.send(now, EventType::Added, &object, trace);
            }
            if initial && !self.settings.withholds_initial_events_end {
                self.send_bookmark(now, true, trace);
            }
            return Ok(());
        }
        let missed: Vec<Change> = self
            .history
            .iter()
            .filter(|change| change.rv > from)
            .cloned()
            .collect();
        for change in missed {
            self.send_event(now, &change, trace);
        }
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

impl Pages {
    /// Opaque to clients.
    fn token(&self) -> String {
        format!("{}:{}", self.rv, self.handed_out)
    }
}

/// Adds a pending refusal, or withdraws it where `times` is 0.
pub fn order_refusals(orders: &mut VecDeque<Refusals>, new: Refusals) {
    if new.times > 0 {
        orders.push_back(new);
    } else {
        orders.retain(|order| (order.request, order.kind) != (new.request, new.kind));
    }
}

/// Consumes one pending refusal of such a request.
pub fn take_refusal(orders: &mut VecDeque<Refusals>, request: Request) {
    let Some(place) = orders.iter().position(|order| order.request == request) else {
        return;
    };
    if let Some(order) = orders.get_mut(place) {
        order.times = order.times.saturating_sub(1);
        if order.times == 0 {
            orders.remove(place);
        }
    }
}

fn connection_refused(request: Request, trace: &mut impl Trace) -> ApiError {
    refused_to_connect(request, trace);
    let kind = ApiErrorKind::ConnectionRefused;
    ApiError::new(kind, message(kind))
}

fn refuse_request(kind: ApiErrorKind, request: Request, trace: &mut impl Trace) -> ApiError {
    let error = ApiError::new(kind, message(kind));
    let (code, reason) = (error.code, Arc::clone(&error.reason));
    denied(request, code, reason, trace);
    error
}

/// The server's message for an error.
fn message(kind: ApiErrorKind) -> &'static str {
    use ApiErrorKind as K;
    match kind {
        K::Expired | K::Gone => "too old resource version",
        K::TooLarge => "Too large resource version",
        K::TooManyRequests => "too many requests",
        K::ConnectionRefused => "connection refused",
        K::InternalError => "internal error",
        K::Timeout => "timeout",
        K::Forbidden => "forbidden",
        K::Invalid => "sendInitialEvents is forbidden for watch",
        K::Unauthorized => "unauthorized",
        K::NotFound => "not found",
        K::Other => "bad request",
    }
}

/// The class of the error that an `ERROR` event of this HTTP status carries: on a stream, 410 is `Expired`.
fn kind_of(code: u16) -> ApiErrorKind {
    match code {
        410 => ApiErrorKind::Expired,
        429 => ApiErrorKind::TooManyRequests,
        code => ApiError::from_status(code, "", "", []).kind,
    }
}

fn refuse(verb: Verb, key: Key, refusal: Refusal, trace: &mut impl Trace) -> Option<Change> {
    trace.fact(Step::ServerCheck, || {
        Fact::Server(ServerFact::WriteRefused { verb, key, refusal })
    });
    None
}

/// The version of an object of the simulator, as a number; 0 without a numeric version.
pub fn version(object: &DynamicObject) -> u64 {
    object.resource_version().parse().unwrap_or_default()
}

/// A UID that looks real, derived from a number.
fn uid(number: u64) -> String {
    let mut rng = deltascope_cache::rng::Rng::new(number);
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

#[cfg(test)]
mod tests;
