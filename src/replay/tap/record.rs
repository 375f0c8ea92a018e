//! An informer's recording, written as its responses come: a trace that the page and `replay` open.
//!
//! In a replay the engine's own reflector asks, and numbers its requests. So the same reflector goes along here: it says
//! which request it would send next. Where the controller did something else, it gets an answer after which it
//! does the same. That is why the end of a request is only written once the next one shows what followed from it.

use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;
use serde_json::{Value, json};

use deltascope_cache::fact::WatchEnd;
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind, ListPage, WatchItem};
use deltascope_cache::object::Item;
use deltascope_cache::reflector::{Need, Reflector, ReflectorOptions};
use deltascope_world::Time;
use deltascope_world::bounds::{MAX_BYTES, MAX_RESPONSES};
use deltascope_world::source::Command;
use deltascope_world::source::item_of;
use deltascope_world::source::live::{MAX_OBJECTS, Page, ResponsePart, ServerResponse};
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::Input;

use crate::recording::RecordedInput;
use crate::trace::{self, Trace};

use super::call::Call;
use super::note::{NAME, Note};

/// A watch that ends within about this time without an event is ended for the reflector in another way: whether it is
/// a failure depends on a moment.
const BARELY_SHORT: Duration = Duration::from_secs(3);
/// How many answers lead the reflector to any request.
const MOST_ANSWERS: usize = 4;

/// A request, as a reflector distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    List,
    Stream,
    Watch,
}

/// The reflector that goes along.
#[derive(Clone)]
struct Model {
    reflector: Reflector<DynamicObject>,
    now: Duration,
    /// The number of its request.
    number: u32,
    /// When the watch was opened, and whether an event has come.
    opened: Duration,
    heard: bool,
    open: bool,
}

impl Model {
    fn new(watch_list: bool) -> Self {
        let options = ReflectorOptions {
            watch_list,
            ..ReflectorOptions::default()
        };
        let mut model = Self {
            reflector: Reflector::new(options),
            now: Duration::ZERO,
            number: 0,
            opened: Duration::ZERO,
            heard: false,
            open: false,
        };
        model.settle();
        model
    }

    /// The request that has no answer yet; none while a watch is open.
    fn wants(&self) -> Option<Want> {
        match self.reflector.need() {
            Need::List(_) => Some(Want::List),
            Need::Watch(watch) if watch.send_initial_events == Some(true) => Some(Want::Stream),
            Need::Watch(_) => Some(Want::Watch),
            _ => None,
        }
    }

    /// Carries out what needs no server.
    fn settle(&mut self) {
        loop {
            match self.reflector.need() {
                Need::Wait(until) => {
                    self.now = self.now.max(*until);
                    self.reflector.waited(self.now, &mut ());
                }
                Need::Store(_) | Need::Stored => {
                    let _call = self.reflector.take_store_call();
                    self.reflector.stored(self.now, Ok(()), &mut ());
                }
                Need::List(_) | Need::Watch(_) => {
                    self.number += 1;
                    self.open = false;
                    return;
                }
                Need::Event | Need::Stopped => return,
            }
        }
    }

    /// Gives it a part of the response, unless it does not wait for it.
    fn take(&mut self, at: Time, part: &ResponsePart) {
        self.now = self.now.max(Duration::from_millis(at));
        let (now, reflector) = (self.now, &mut self.reflector);
        let waits = !matches!(reflector.need(), Need::Event);
        match part {
            ResponsePart::Page(page) => reflector.listed(now, Ok(page_of(page)), &mut ()),
            ResponsePart::Opened if waits => {
                reflector.watched(now, Ok(()), &mut ());
                (self.opened, self.heard, self.open) = (now, false, true);
            }
            ResponsePart::Refused(error) if waits => match reflector.need() {
                Need::List(_) => reflector.listed(now, Err(error.clone()), &mut ()),
                _ => reflector.watched(now, Err(error.clone()), &mut ()),
            },
            ResponsePart::Event(event) if !waits => {
                if let Ok((_, _, item)) = item_of(event.clone()) {
                    reflector.received(now, item, &mut ());
                    self.heard = true;
                }
            }
            ResponsePart::Ended(_) if !waits => {
                reflector.received(now, WatchItem::Closed, &mut ());
            }
            // The same request will be sent again, or nobody waits for this.
            _ => return,
        }
        self.settle();
    }
}

fn page_of(page: &Page) -> ListPage<DynamicObject> {
    let items = page.items.iter();
    ListPage {
        resource_version: Arc::clone(&page.rv),
        items: items
            .map(|object| Item::Object(Arc::clone(object)))
            .collect(),
        continue_token: Arc::clone(&page.continue_token),
        table: None,
    }
}

/// Why a recording does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A longer one could not be opened.
    Full,
    /// The controller asked what no reflector asks.
    Unlike,
}

/// Makes the head of the trace, once the kind of the objects is known; empty if there was none.
pub type Head = Box<dyn FnOnce(&str) -> Trace + Send>;

/// The recording of one informer.
pub struct Recorder {
    head: Option<Head>,
    model: Model,
    /// Notes that come before the head.
    early: Vec<Note>,
    /// The end of the last request, until it shows what followed.
    pending: Option<(Time, ResponsePart)>,
    /// How often the current request was put off.
    attempts: u32,
    /// The objects of the list so far.
    listed: usize,
    written: usize,
    answers: usize,
    stopped: Option<Stopped>,
}

impl Recorder {
    /// Begins with the informer's first request, and the note that names it. Whether it begins with a streaming list
    /// decides how a replay asks.
    #[must_use]
    pub fn new(first: &Call, informer: Note, head: Head) -> Self {
        let streams = matches!(first, Call::Watch(_, watch) if watch.initial);
        Self {
            head: Some(head),
            model: Model::new(streams),
            early: vec![informer],
            pending: None,
            attempts: 0,
            listed: 0,
            written: 0,
            answers: 0,
            stopped: None,
        }
    }

    /// Why it does not go on, if it does not.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// The next request begins. Returns what is to be written.
    pub fn asked(&mut self, at: Time, call: &Call, note: &Note) -> String {
        let mut text = String::new();
        let want = match call {
            Call::List(_, list) => {
                if list.token.is_empty() {
                    self.listed = 0;
                }
                Want::List
            }
            Call::Watch(_, watch) if watch.initial => Want::Stream,
            Call::Watch(..) => Want::Watch,
            Call::Get(_) | Call::Write(..) | Call::Other => return text,
        };
        self.lead_to(at, want, &mut text);
        self.note(note, &mut text);
        text
    }

    /// Parts of the response have come. Returns what is to be written.
    pub fn took(&mut self, at: Time, parts: Vec<ResponsePart>, notes: &[Note]) -> String {
        let mut text = String::new();
        let mut batch = Vec::new();
        for mut part in parts {
            match &mut part {
                ResponsePart::Later { attempt, .. } => {
                    self.attempts += 1;
                    *attempt = self.attempts;
                }
                ResponsePart::Page(page) => {
                    self.listed += page.items.len();
                    if self.listed > MAX_OBJECTS {
                        self.stopped.get_or_insert(Stopped::Full);
                    }
                }
                _ => {}
            }
            if self.stopped.is_some() {
                return text;
            }
            let ends = matches!(
                part,
                ResponsePart::Refused(_)
                    | ResponsePart::Ended(_)
                    | ResponsePart::Event(RecordedEvent::Error { .. })
            );
            if ends {
                self.pending = Some((at, part));
                continue;
            }
            let number = self.model.number;
            self.model.take(at, &part);
            batch.push(ServerResponse {
                request: number,
                part,
            });
        }
        self.answer(at, batch, &mut text);
        for note in notes {
            self.note(note, &mut text);
        }
        text
    }

    /// The informer is over: writes what is left.
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        if let Some((at, part)) = self.pending.take() {
            self.say(at, part, &mut text);
        }
        self.begin("", &mut text);
        text
    }

    /// Answers the reflector so that its next request is the one that was sent.
    fn lead_to(&mut self, at: Time, want: Want, text: &mut String) {
        if let Some((then, part)) = self.pending.take() {
            let part = self.leading(then, part, want);
            self.say(then, part, text);
        } else if self.model.open {
            // The client has hung up, and nothing else came.
            let part = self.leading(at, ResponsePart::Ended(WatchEnd::Cut), want);
            self.say(at, part, text);
        }
        for _ in 0..MOST_ANSWERS {
            let part = match (self.model.wants(), want) {
                (Some(wanted), want) if wanted == want => return,
                (Some(Want::Watch), _) => refused(410, "Expired"),
                (Some(Want::Stream), Want::List) => refused(422, "Invalid"),
                (Some(Want::List), Want::Stream) => not_reached(),
                (Some(Want::List), Want::Watch) if self.listed == 0 && self.model.number == 1 => {
                    // A watch without a list before it.
                    ResponsePart::Page(Page::default())
                }
                _ => break,
            };
            self.say(at, part, text);
        }
        self.stopped.get_or_insert(Stopped::Unlike);
    }

    /// The end of a request, or one in its place after which the reflector does as the controller did.
    fn leading(&self, at: Time, end: ResponsePart, want: Want) -> ResponsePart {
        let model = &self.model;
        let now = model.now.max(Duration::from_millis(at));
        let barely = matches!(end, ResponsePart::Ended(_))
            && !model.heard
            && now.saturating_sub(model.opened) < BARELY_SHORT;
        let leads = |part: &ResponsePart| {
            let mut model = model.clone();
            model.take(at, part);
            model.wants() == Some(want)
        };
        let others = match model.open {
            true => [
                error(429, "TooManyRequests"),
                error(410, "Expired"),
                error(500, "InternalError"),
            ],
            false => [
                not_reached(),
                refused(410, "Expired"),
                refused(422, "Invalid"),
            ],
        };
        if !barely && leads(&end) {
            return end;
        }
        others.into_iter().find(leads).unwrap_or(end)
    }

    /// Writes one answer to the reflector's request.
    fn say(&mut self, at: Time, part: ResponsePart, text: &mut String) {
        let request = self.model.number;
        self.model.take(at, &part);
        self.attempts = 0;
        self.answer(at, vec![ServerResponse { request, part }], text);
    }

    fn answer(&mut self, at: Time, batch: Vec<ServerResponse>, text: &mut String) {
        if batch.is_empty() || self.stopped.is_some() {
            return;
        }
        if self.head.is_some() {
            let kind = batch.iter().find_map(|response| kind_of(&response.part));
            // A watch may open long before its first object.
            let kind = kind.unwrap_or_default().to_owned();
            self.begin(&kind, text);
        }
        let before = text.len();
        let input = RecordedInput {
            after: usize::MAX,
            at,
            input: Input::Source(Command::Respond(batch.into())),
        };
        trace::input(text, &input);
        self.answers += 1;
        self.count(before, text);
    }

    fn note(&mut self, note: &Note, text: &mut String) {
        if self.stopped.is_some() {
            return;
        }
        if self.head.is_some() {
            self.early.push(note.clone());
            return;
        }
        let before = text.len();
        text.push_str(&line(note));
        self.count(before, text);
    }

    fn begin(&mut self, kind: &str, text: &mut String) {
        if let Some(head) = self.head.take() {
            text.push_str(&trace::head(&head(kind)));
            for note in std::mem::take(&mut self.early) {
                text.push_str(&line(&note));
            }
            self.written += text.len();
        }
    }

    /// Counts what was written; takes it back if the trace could not be opened with it.
    fn count(&mut self, before: usize, text: &mut String) {
        self.written += text.len() - before;
        if self.written > MAX_BYTES || self.answers > MAX_RESPONSES {
            text.truncate(before);
            self.stopped = Some(Stopped::Full);
        }
    }
}

fn line(note: &Note) -> String {
    let note = serde_json::to_value(note).unwrap_or(Value::Null);
    format!("{}\n", json!({ NAME: note }))
}

fn kind_of(part: &ResponsePart) -> Option<&str> {
    let object = match part {
        ResponsePart::Page(page) => page.items.first()?,
        ResponsePart::Event(RecordedEvent::Object { object, .. }) => object,
        _ => return None,
    };
    object.types.as_ref().map(|types| &*types.kind)
}

fn error(code: u16, reason: &str) -> ResponsePart {
    ResponsePart::Event(RecordedEvent::Error {
        code,
        reason: reason.to_owned(),
        message: INSTEAD.to_owned(),
        causes: Vec::new(),
    })
}

fn refused(code: u16, reason: &str) -> ResponsePart {
    ResponsePart::Refused(ApiError::from_status(code, reason, INSTEAD, []))
}

fn not_reached() -> ResponsePart {
    ResponsePart::Refused(ApiError::new(ApiErrorKind::ConnectionRefused, INSTEAD))
}

/// The message of an answer that no server gave.
const INSTEAD: &str = "deltascope tap: after this the reflector asks what the controller asked";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deltascope_cache::controller::Generation;
    use deltascope_cache::fact::EventType;
    use deltascope_world::source::pod::PodSpec;
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::text::Text;
    use deltascope_world::virtual_time::{
        Era, HandlerSettings, InformerKind, Settings, SourceKind,
    };

    use super::super::call::{ListCall, Scope, WatchCall};
    use super::super::finding::{Finding, known_bugs};
    use super::*;
    use crate::invariants::Invariant;
    use crate::recording::Recording;

    fn pod(name: &str, rv: &str) -> Arc<DynamicObject> {
        let mut pod = DynamicObject::from(PodSpec {
            namespace: "a".to_owned(),
            name: name.to_owned(),
            ..PodSpec::default()
        });
        pod.metadata.resource_version = Some(rv.to_owned());
        Arc::new(pod)
    }

    fn page(rv: &str, token: &str, names: &[&str]) -> ResponsePart {
        ResponsePart::Page(Page {
            rv: rv.into(),
            items: names.iter().map(|name| pod(name, rv)).collect(),
            continue_token: token.into(),
        })
    }

    fn event(event: EventType, name: &str, rv: &str) -> ResponsePart {
        let object = pod(name, rv);
        ResponsePart::Event(RecordedEvent::Object { event, object })
    }

    fn added(name: &str, rv: &str) -> ResponsePart {
        event(EventType::Added, name, rv)
    }

    fn ended() -> ResponsePart {
        ResponsePart::Ended(WatchEnd::Closed)
    }

    fn bookmark(rv: &str, initial_events_end: bool) -> ResponsePart {
        ResponsePart::Event(RecordedEvent::Bookmark {
            rv: rv.into(),
            initial_events_end,
        })
    }

    fn list(token: &str) -> Call {
        let token = token.to_owned();
        Call::List(
            Scope::default(),
            ListCall {
                token,
                ..ListCall::default()
            },
        )
    }

    fn watch(initial: bool) -> Call {
        let version = String::new();
        Call::Watch(Scope::default(), WatchCall { version, initial })
    }

    /// Requests, each with its response.
    type Requests = Vec<(Call, Vec<ResponsePart>)>;

    /// The trace of these requests, each with its response, at intervals of so many ms.
    fn recorded(every: Time, requests: Requests) -> Trace {
        let streams = matches!(&requests[0].0, Call::Watch(_, watch) if watch.initial);
        let informer = Note::Informer {
            agent: "test".into(),
            scope: Scope::default(),
        };
        let head: Head = Box::new(move |_| Trace {
            lesson: "".into(),
            title: Text::new("a", "a"),
            at: None,
            start: None,
            recording: Recording {
                scenario: Scenario {
                    settings: Settings {
                        source: SourceKind::Cluster,
                        era: Era(Generation::Atomic),
                        informer: InformerKind::Shared,
                        watch_list: Some(streams),
                        handlers: vec![HandlerSettings::default()],
                        ..Settings::default()
                    },
                    ..Scenario::default()
                },
                inputs: Vec::new(),
            },
        });
        let mut recorder = Recorder::new(&requests[0].0, informer, head);
        let mut text = String::new();
        let mut at = 0;
        for (call, parts) in requests {
            let note = Note::Opened { at };
            text.push_str(&recorder.asked(at, &call, &note));
            for part in parts {
                at += every;
                text.push_str(&recorder.took(at, vec![part], &[]));
            }
        }
        assert_eq!(recorder.stopped(), None);
        text.push_str(&recorder.finish());
        let (trace, error) = trace::read("trace", text.as_bytes());
        assert_eq!(error, None, "{text}");
        trace.unwrap()
    }

    fn stored(trace: &Trace) -> BTreeMap<String, String> {
        let mut timeline = trace.recording.play().unwrap();
        timeline.extend(timeline.len() + 100_000);
        let picture = timeline.picture(timeline.len());
        let items = picture.store.items.iter();
        items
            .map(|(key, object)| (key.to_string(), object.rv.to_string()))
            .collect()
    }

    #[test]
    fn whatever_the_controller_does_its_recording_replays() {
        let gone = || error(410, "Expired");
        let failed = || error(500, "InternalError");
        let denied = || refused(403, "Forbidden");
        let start = || vec![(list(""), vec![page("10", "", &["x", "y"])])];
        let then = |more: Requests| [start(), more].concat();
        let open = |rest: Vec<ResponsePart>| [vec![ResponsePart::Opened], rest].concat();
        let table: Vec<(&str, Requests)> = vec![
            (
                "a list and a watch",
                then(vec![(watch(false), open(vec![added("z", "30")]))]),
            ),
            (
                "a watch that ends and goes on",
                then(vec![
                    (watch(false), open(vec![added("w", "20"), ended()])),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "a watch that ends at once, and a client that goes on with it",
                then(vec![
                    (watch(false), open(vec![ended()])),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "a watch that ends at once, and a client that lists again",
                then(vec![
                    (watch(false), open(vec![ended()])),
                    (list(""), vec![page("20", "", &["x", "w"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "an error in the stream, and a client that goes on with the watch",
                then(vec![
                    (watch(false), open(vec![added("w", "20"), failed()])),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "an expired version",
                then(vec![
                    (watch(false), open(vec![added("w", "20"), gone()])),
                    (list(""), vec![page("25", "", &["x"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "a watch that is refused, and a client that tries again",
                then(vec![
                    (watch(false), vec![denied()]),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "a client that hangs up and lists",
                then(vec![
                    (watch(false), open(vec![added("w", "20")])),
                    (list(""), vec![page("25", "", &["x"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "two lists, one after the other",
                then(vec![
                    (list(""), vec![page("25", "", &["x"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ]),
            ),
            (
                "lists that fail",
                vec![
                    (list(""), vec![denied()]),
                    (list(""), vec![not_reached()]),
                    (list(""), vec![page("10", "", &["x"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ],
            ),
            (
                "pages, of which one expires",
                vec![
                    (list(""), vec![page("10", "more", &["x"])]),
                    (list("more"), vec![refused(410, "Expired")]),
                    (list(""), vec![page("12", "", &["x", "y"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ],
            ),
            (
                "pages",
                vec![
                    (list(""), vec![page("10", "more", &["x"])]),
                    (list("more"), vec![page("10", "", &["y"])]),
                    (watch(false), open(vec![added("z", "30")])),
                ],
            ),
            (
                "a streaming list",
                vec![(
                    watch(true),
                    open(vec![
                        added("x", "9"),
                        bookmark("10", true),
                        added("z", "30"),
                    ]),
                )],
            ),
            (
                "a streaming list that breaks off, and another",
                vec![
                    (watch(true), open(vec![added("x", "9"), ended()])),
                    (
                        watch(true),
                        open(vec![
                            added("x", "9"),
                            bookmark("10", true),
                            added("z", "30"),
                        ]),
                    ),
                ],
            ),
            (
                "a streaming list that the server does not know",
                vec![
                    (watch(true), vec![refused(422, "Invalid")]),
                    (list(""), vec![page("10", "", &["x"])]),
                    (watch(false), open(vec![added("z", "30"), gone()])),
                    (watch(true), vec![refused(422, "Invalid")]),
                    (list(""), vec![page("40", "", &["z"])]),
                ],
            ),
            (
                "a streaming list after an expired version",
                vec![
                    (
                        watch(true),
                        open(vec![added("x", "9"), bookmark("10", true), gone()]),
                    ),
                    (
                        watch(true),
                        open(vec![added("z", "30"), bookmark("30", true)]),
                    ),
                ],
            ),
            (
                "a watch without a list",
                vec![(watch(false), open(vec![added("x", "9"), added("z", "30")]))],
            ),
        ];
        for (name, requests) in table {
            // The store that the client has: of the last list on.
            let mut wanted: BTreeMap<String, String> = BTreeMap::new();
            let mut paged = false;
            for (call, parts) in &requests {
                if matches!(call, Call::Watch(_, watch) if watch.initial) {
                    let ends = |part: &ResponsePart| {
                        *part == bookmark("10", true) || *part == bookmark("30", true)
                    };
                    if parts.iter().any(ends) {
                        wanted.clear();
                    } else {
                        continue;
                    }
                }
                for part in parts {
                    match part {
                        ResponsePart::Page(page) => {
                            if !paged {
                                wanted.clear();
                            }
                            paged = !page.continue_token.is_empty();
                            for object in page.items.iter() {
                                let name = object.metadata.name.clone().unwrap();
                                wanted.insert(format!("a/{name}"), page.rv.to_string());
                            }
                        }
                        ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
                            let of = &object.metadata;
                            let key = format!("a/{}", of.name.clone().unwrap());
                            wanted.insert(key, of.resource_version.clone().unwrap());
                        }
                        _ => paged = false,
                    }
                }
            }
            for every in [1, 400, 2_999, 3_001, 60_000] {
                let trace = recorded(every, requests.clone());
                assert_eq!(stored(&trace), wanted, "{name}, every {every} ms");
            }
        }
    }

    #[test]
    fn notes_lie_beside_the_run() {
        let requests = vec![(list(""), vec![page("10", "", &["x"])])];
        let trace = recorded(5, requests);
        // The informer's own, and one for the request.
        let bytes = trace::write(&trace);
        assert!(
            super::super::note::read(bytes.as_bytes()).is_empty(),
            "only the tap writes them"
        );
        let line = line(&Note::Opened { at: 7 });
        assert_eq!(line, "{\"tap\":{\"opened\":{\"at\":7}}}\n");
        assert_eq!(
            super::super::note::read(line.as_bytes()),
            [Note::Opened { at: 7 }]
        );
    }

    #[test]
    fn a_known_bug_that_the_run_meets_is_found() {
        let watched = |event_of: EventType| {
            let unknown = event(event_of, "never-seen", "30");
            vec![
                (list(""), vec![page("10", "", &["x"])]),
                (watch(false), vec![ResponsePart::Opened, unknown]),
            ]
        };
        for (event, bugs) in [(EventType::Added, 0), (EventType::Deleted, 1)] {
            let found = known_bugs(0, &recorded(5, watched(event)));
            assert_eq!(found.len(), bugs, "{event:?}: {found:?}");
            for finding in found {
                let Finding::KnownBug { violation, .. } = finding else {
                    panic!("{finding:?}");
                };
                assert_eq!(violation.invariant, Invariant::Order);
            }
        }
    }
}
