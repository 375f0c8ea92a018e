//! A real cluster as a source: it requests lists and watches, and the responses arrive as inputs.
//!
//! There is no I/O here. [`Live::wanted`] states the request that should be on the wire. The owner of the
//! wire (a page's fetch, a program's socket) reports each response with [`Command::Respond`], and each report is
//! an input with its moment. So a live run is a recording from the start, and plays again without the
//! cluster.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

pub use super::response::{Page, ResponsePart, ServerResponse, response_items};
pub use crate::Asked;
use crate::{Refused, Source, Time};
use deltascope_cache::fact::{
    EventType, Fact, ObjectRef, Reason, Refusal, Request, ServerFact, WatchEnd,
};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, WatchItem, WatchRequest,
};
use deltascope_cache::map::{self, Map};
use deltascope_cache::object::Item;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Command;
use super::answer::{
    denied, item_of, key_of, list_answered, reference, refused_to_connect, watch_accepted,
    write_target,
};
use super::known::Known;
use super::pod::Write;
use super::stream::Stream;
use super::wire::RecordedEvent;

/// The most objects of one answer. A page with 10,000 of them stays smooth; with ten times as many it still works, but some frames
/// are late, and it takes a GB.
pub const MAX_OBJECTS: usize = 100_000;

/// The request that should be on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The number of the request, from 1; each request has the next one.
    pub request: u32,
    /// The list or the watch.
    pub ask: Asked,
    /// How many objects of the same list have already arrived; 0 unless the request continues a list.
    pub has: usize,
    /// Whether the last full list had more objects than can be kept: it should be requested again only when
    /// there are fewer.
    pub too_much: bool,
}

/// The state of the request.
#[derive(Clone, Debug)]
enum State {
    /// There is no request.
    Idle,
    /// The request was sent.
    Asked(Asked),
    /// The answer is here; the reflector has not taken it yet.
    Answered(Asked, Result<Answer, ApiError>),
    /// The watch is open.
    Open(WatchRequest),
    /// The watch has ended; the reflector does not know it yet.
    Ended,
}

#[derive(Clone, Debug)]
enum Answer {
    Page(Page),
    Opened,
}

/// A real cluster, or its recorded responses, as a source.
#[derive(Clone, Debug)]
pub struct Live {
    request: u32,
    state: State,
    /// Parts of the response that arrived before the reflector opened the watch.
    early: VecDeque<ResponsePart>,
    /// Responses to requests that were not made yet: in an edited run the reflector may reach these requests
    /// later than in the recorded one.
    ahead: VecDeque<ServerResponse>,
    pub(super) stream: Stream,
    known: Known<Arc<DynamicObject>>,
    /// Whether the last full list had more objects than can be kept.
    too_much: bool,
    /// The objects so far of a list in pages, or of the initial events of a streaming list.
    under_way: Option<Map<Key, Arc<DynamicObject>>>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            request: 0,
            state: State::Idle,
            early: VecDeque::new(),
            ahead: VecDeque::new(),
            stream: Stream::default(),
            known: Known::new("".into(), true),
            too_much: false,
            under_way: None,
        }
    }
}

impl Live {
    /// The request that should be on the wire: one without an answer, or an open watch. Any other request on
    /// the wire should be closed.
    #[must_use]
    pub fn wanted(&self) -> Option<Wanted> {
        let ask = match &self.state {
            State::Asked(ask) | State::Answered(ask, Ok(Answer::Opened)) => ask.clone(),
            State::Open(request) => Asked::Watch(request.clone()),
            State::Idle | State::Answered(..) | State::Ended => return None,
        };
        let (whole, continues) = match &ask {
            Asked::List(list) => (true, !list.continue_token.is_empty()),
            Asked::Watch(watch) => (watch.send_initial_events == Some(true), false),
        };
        let waits = matches!(self.state, State::Asked(_));
        // Objects of a list that failed do not belong to the next list.
        let of_list = self.under_way.as_ref().filter(|_| continues);
        Some(Wanted {
            request: self.request,
            has: of_list.map_or(0, Map::len),
            too_much: self.too_much && whole && waits,
            ask,
        })
    }

    /// Whether a watch is open and nothing else is in progress: a recording can begin here.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        matches!(self.state, State::Open(_))
            && self.under_way.is_none()
            && self.stream.arrival().is_none()
    }

    /// The number of the last request.
    #[must_use]
    pub fn request(&self) -> u32 {
        self.request
    }

    /// The objects that the server is known to have.
    #[must_use]
    pub fn known(&self) -> &Known<Arc<DynamicObject>> {
        &self.known
    }

    /// The server's objects, without the deleted ones.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<DynamicObject>> {
        self.known.existing()
    }

    fn take_part(&mut self, now: Time, part: ResponsePart, trace: &mut impl Trace) {
        match (&self.state, part) {
            (
                State::Asked(_),
                ResponsePart::Later {
                    code,
                    after_ms,
                    attempt,
                },
            ) => {
                let step = self.step();
                trace.fact(step, || {
                    Fact::Server(ServerFact::RequestDeferred {
                        code,
                        after_ms,
                        attempt,
                    })
                });
            }
            (State::Asked(_), ResponsePart::Refused(error)) => self.answered(Err(error)),
            (State::Asked(Asked::List(_)), ResponsePart::Page(page)) => {
                self.answered(Ok(Answer::Page(page)));
            }
            (State::Asked(Asked::Watch(_)), ResponsePart::Opened) => {
                self.answered(Ok(Answer::Opened))
            }
            (
                State::Answered(_, Ok(Answer::Opened)),
                part @ (ResponsePart::Event(_) | ResponsePart::Ended(_)),
            ) => {
                self.early.push_back(part);
            }
            (State::Open(_), ResponsePart::Event(event)) => self.send(now, event, trace),
            (State::Open(_), ResponsePart::Ended(end)) => {
                self.state = State::Ended;
                self.stream.end_at_once(now, end, trace);
            }
            // The reflector does not wait for this anymore.
            _ => {}
        }
    }

    fn answered(&mut self, answer: Result<Answer, ApiError>) {
        if let State::Asked(ask) = std::mem::replace(&mut self.state, State::Idle) {
            self.state = State::Answered(ask, answer);
        }
    }

    fn step(&self) -> Step {
        match &self.state {
            State::Asked(Asked::List(_)) | State::Answered(Asked::List(_), _) => Step::ServerList,
            _ => Step::ServerWatch,
        }
    }

    fn send(&mut self, now: Time, event: RecordedEvent, trace: &mut impl Trace) {
        let mut settled = None;
        match &event {
            RecordedEvent::Object { event, object } => {
                if let Some(objects) = &mut self.under_way {
                    let key = key_of(object);
                    if *event == EventType::Deleted {
                        map::remove(objects, &key);
                    } else {
                        objects.insert(key, Arc::clone(object));
                    }
                }
            }
            RecordedEvent::Bookmark {
                initial_events_end: true,
                ..
            } => settled = self.under_way.take(),
            RecordedEvent::Bookmark { .. }
            | RecordedEvent::Error { .. }
            | RecordedEvent::Cut { .. } => {}
        }
        let Ok((sent, object, item)) = item_of(event) else {
            return;
        };
        if self
            .under_way
            .as_ref()
            .is_some_and(|all| all.len() > MAX_OBJECTS)
        {
            self.too_much = true;
            self.under_way = None;
            self.state = State::Ended;
            let end = WatchEnd::TooMuch(MAX_OBJECTS as u32);
            return self.stream.end_at_once(now, end, trace);
        }
        let kept = match &item {
            WatchItem::Event(_, Item::Object(kept)) => Some(Arc::clone(kept)),
            _ => None,
        };
        self.known.follow(sent, &object, kept);
        self.stream.send_at(now, sent, object, item, trace);
        // An object that the stream did not repeat is gone.
        if let Some(objects) = settled {
            self.settle(objects, trace);
        }
    }

    /// A user's change of a cluster's run, applied as if the cluster's watch had sent it.
    fn write(&mut self, now: Time, write: Write, trace: &mut impl Trace) {
        let (verb, key) = write_target(&write);
        let current = self.known.get(&key);
        let refused = |refusal| {
            Fact::Server(ServerFact::WriteRefused {
                verb,
                key: key.clone(),
                refusal,
            })
        };
        if !matches!(self.state, State::Open(_)) {
            let why = Refusal::Invalid(Reason::NoWatch);
            return trace.fact(Step::ServerCheck, || refused(why));
        }
        let (event, mut object) = match (write, current) {
            (Write::Create(object), None) => (EventType::Added, object),
            (Write::Update(object), Some(_)) => (EventType::Modified, object),
            (Write::Delete { .. }, Some(current)) => {
                (EventType::Deleted, DynamicObject::clone(current))
            }
            (Write::Create(_), Some(_)) => {
                return trace.fact(Step::ServerCheck, || refused(Refusal::AlreadyExists));
            }
            (Write::Update(_) | Write::Delete { .. }, None) => {
                return trace.fact(Step::ServerCheck, || refused(Refusal::NotFound));
            }
        };
        // Only the server assigns versions; a numeric one is incremented.
        let rv = self.known.rv();
        let rv = rv
            .parse::<u64>()
            .map_or_else(|_| format!("{rv}1"), |rv| rv.saturating_add(1).to_string());
        object.metadata.uid = match current {
            Some(current) => current.metadata.uid.clone(),
            None => Some(format!("written-{rv}")),
        };
        object.metadata.resource_version = Some(rv);
        let object = Arc::new(object);
        self.send(now, RecordedEvent::Object { event, object }, trace);
    }

    /// The server's objects are completely known now.
    fn settle(&mut self, objects: Map<Key, Arc<DynamicObject>>, trace: &mut impl Trace) {
        let learned: Arc<[ObjectRef]> = objects
            .iter()
            .map(|(key, object)| reference(key, object))
            .collect();
        self.too_much = false;
        let rv = Arc::clone(self.known.rv());
        self.known.learn(Arc::clone(&rv), objects);
        trace.fact(Step::ServerList, || {
            Fact::Server(ServerFact::ObjectsLearned {
                rv,
                objects: learned,
            })
        });
    }
}

/// The wire never delivers such a list, but a file may contain one.
fn too_much() -> ApiError {
    let message = format!("there are more than {MAX_OBJECTS} objects");
    ApiError::new(ApiErrorKind::Other, &message)
}

fn no_answer() -> Refused {
    ApiError::new(ApiErrorKind::Other, "there is no answer").into()
}

fn refused(error: &ApiError, request: Request, trace: &mut impl Trace) {
    if error.kind == ApiErrorKind::ConnectionRefused {
        return refused_to_connect(request, trace);
    }
    // An answer that could not be used has no reason; its message takes that place.
    let reason = if error.code == 0 {
        &error.message
    } else {
        &error.reason
    };
    denied(request, error.code, Arc::clone(reason), trace);
}

impl Source for Live {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, trace: &mut impl Trace) {
        match command {
            Command::Respond(responses) => {
                for response in responses.iter() {
                    if response.request > self.request {
                        self.ahead.push_back(response.clone());
                    } else if response.request == self.request {
                        self.take_part(now, response.part.clone(), trace);
                    }
                }
            }
            Command::Write(write) => self.write(now, write, trace),
            // As if the network had failed; later events are ignored.
            Command::Cut => {
                if matches!(self.state, State::Open(_)) {
                    self.state = State::Ended;
                    self.stream.end(now, WatchEnd::Cut, trace);
                }
            }
            Command::Compact
            | Command::Close
            | Command::Bookmark
            | Command::ErrorEvent(_)
            | Command::Refuse(_) => {}
        }
    }

    fn begins_with_list(&self) -> bool {
        true
    }

    fn ask(&mut self, ask: Asked) {
        self.request += 1;
        self.state = State::Asked(ask);
        self.early.clear();
    }

    fn answer_at(&self, _usual: Time) -> Option<Time> {
        matches!(self.state, State::Answered(..)).then_some(0)
    }

    fn next_moment(&self) -> Option<Time> {
        let next = self.ahead.front()?;
        (next.request <= self.request).then_some(0)
    }

    fn advance(&mut self, now: Time, trace: &mut impl Trace) {
        if let Some(ServerResponse { request, part }) = self.ahead.pop_front()
            && request == self.request
        {
            self.take_part(now, part, trace);
        }
    }

    fn is_driven_by_commands(&self) -> bool {
        true
    }

    fn list(
        &mut self,
        _now: Time,
        request: &ListRequest,
        trace: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        let answer = match std::mem::replace(&mut self.state, State::Idle) {
            State::Answered(_, answer) => answer,
            _ => return Err(no_answer()),
        };
        let page = match answer {
            Ok(Answer::Page(page)) => page,
            Ok(Answer::Opened) => return Err(no_answer()),
            Err(error) => {
                refused(&error, Request::List, trace);
                return Err(error.into());
            }
        };
        list_answered(&page.rv, page.items.len(), trace);
        if request.continue_token.is_empty() {
            self.under_way = None;
        }
        let objects = self.under_way.get_or_insert_default();
        objects.extend(page.items.iter().map(|o| (key_of(o), Arc::clone(o))));
        if objects.len() > MAX_OBJECTS {
            self.too_much = true;
            self.under_way = None;
            return Err(too_much().into());
        }
        if page.continue_token.is_empty() {
            let objects = self.under_way.take().unwrap_or_default();
            self.known.set_rv(Arc::clone(&page.rv));
            self.settle(objects, trace);
        }
        Ok(ListPage {
            resource_version: page.rv,
            items: page
                .items
                .iter()
                .map(|o| Item::Object(Arc::clone(o)))
                .collect(),
            continue_token: page.continue_token,
            table: None,
        })
    }

    fn watch(
        &mut self,
        now: Time,
        request: &WatchRequest,
        trace: &mut impl Trace,
    ) -> Result<(), Refused> {
        let answer = match std::mem::replace(&mut self.state, State::Idle) {
            State::Answered(_, answer) => answer,
            _ => return Err(no_answer()),
        };
        match answer {
            Ok(Answer::Opened) => {}
            Ok(Answer::Page(_)) => return Err(no_answer()),
            Err(error) => {
                refused(&error, Request::Watch, trace);
                return Err(error.into());
            }
        }
        self.state = State::Open(request.clone());
        self.under_way = (request.send_initial_events == Some(true)).then(Map::default);
        let rv = &request.resource_version;
        self.stream.open(rv);
        watch_accepted(rv, trace);
        while let Some(part) = self.early.pop_front() {
            self.take_part(now, part, trace);
        }
        Ok(())
    }

    fn arrival(&self) -> Option<Time> {
        self.stream.arrival()
    }

    fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        let item = self.stream.receive()?;
        if item.ends_the_watch() {
            self.state = State::Idle;
        }
        Some(item)
    }

    fn hang_up(&mut self) {
        // A request without an answer is not a watch.
        if matches!(self.state, State::Open(_) | State::Ended) {
            self.state = State::Idle;
        }
        self.stream.hang_up();
    }
}
