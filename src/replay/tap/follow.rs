//! One request of an informer and its response, read as it comes: into what a recording holds, and into notes.

use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
use deltascope_world::Time;
use deltascope_world::source::key_of;
use deltascope_world::source::live::{Asked, ResponsePart, Wanted};
use deltascope_world::source::proxy::exchange::{Deadlines, End, Exchange, Head};
use deltascope_world::source::wire::RecordedEvent;

use super::call::{Call, Scope};
use super::note::{Heard, Kind, Note, Weight, Why};
use super::weigh::{Weighed, weighed};

/// How a response ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// It is complete.
    Complete,
    /// The connection to the server broke, or was never there; the reason.
    Broken(String),
    /// The client hung up.
    HungUp,
}

/// A request and its response so far.
#[derive(Debug)]
pub struct Follower {
    exchange: Exchange,
    watch: bool,
    /// The objects of a list that have come.
    objects: Vec<Weighed>,
    /// Whether the end was noted.
    over: bool,
}

/// What a piece of a response was.
#[derive(Debug, Default)]
pub struct Step {
    /// The response, or a part of it, as a recording holds it.
    pub parts: Vec<ResponsePart>,
    /// What is noted of it.
    pub notes: Vec<Note>,
}

impl Follower {
    /// Begins with a list or a watch; `None` for other requests. Also returns its note.
    #[must_use]
    pub fn new(at: Time, call: &Call) -> Option<(Self, Note)> {
        let (scope, ask, note): (&Scope, _, _) = match call {
            Call::List(scope, list) => {
                let note = Note::List {
                    at,
                    version: list.version.clone(),
                    limit: list.limit,
                    continues: !list.token.is_empty(),
                };
                (scope, Asked::List(ListRequest::default()), note)
            }
            Call::Watch(scope, watch) => {
                let note = Note::Watch {
                    at,
                    version: watch.version.clone(),
                    initial: watch.initial,
                };
                (scope, Asked::Watch(WatchRequest::default()), note)
            }
            Call::Get(_) | Call::Write(..) | Call::Other => return None,
        };
        let watch = matches!(ask, Asked::Watch(_));
        let wanted = Wanted {
            request: 1,
            ask,
            has: 0,
            too_much: false,
        };
        let mut exchange = Exchange::new(&scope.target(""), &wanted, Deadlines::default(), at);
        exchange.sent(at);
        let follower = Self {
            exchange,
            watch,
            objects: Vec::new(),
            over: false,
        };
        Some((follower, note))
    }

    /// The head of the response has come.
    pub fn head(&mut self, at: Time, head: &Head) -> Step {
        let responses = self.exchange.head(at, head);
        self.step(at, responses, Vec::new(), false)
    }

    /// A piece of the body has come.
    pub fn chunk(&mut self, at: Time, chunk: &[u8]) -> Step {
        let mut raw = Vec::new();
        // An object of a list, or the event around one.
        let depth = if self.watch { 2 } else { 1 };
        let responses = self
            .exchange
            .chunk_with(at, chunk, |json| raw.push(weighed(json, depth)));
        if !self.watch {
            self.objects.append(&mut raw);
        }
        self.step(at, responses, raw, false)
    }

    /// The response has ended.
    pub fn end(&mut self, at: Time, over: Over) -> Step {
        let hung_up = over == Over::HungUp;
        let end = match over {
            Over::Complete => End::Complete,
            Over::Broken(why) => End::Broken(why),
            Over::HungUp => End::Broken(String::new()),
        };
        let mut responses = self.exchange.end(at, end);
        if hung_up && !self.watch {
            // It has no answer, and the client wants none.
            responses.clear();
        }
        let mut step = self.step(at, responses, Vec::new(), hung_up);
        if hung_up && !std::mem::replace(&mut self.over, true) {
            step.notes.push(Note::Ended {
                at,
                why: Why::HungUp,
            });
        }
        step
    }

    fn step(
        &mut self,
        at: Time,
        responses: Vec<deltascope_world::source::live::ServerResponse>,
        raw: Vec<Weighed>,
        hung_up: bool,
    ) -> Step {
        let mut raw = raw.into_iter();
        let (mut parts, mut notes, mut heard) = (Vec::new(), Vec::new(), Vec::new());
        let mut why = None;
        for response in responses {
            match &response.part {
                ResponsePart::Page(page) => {
                    let weighed = std::mem::take(&mut self.objects).into_iter();
                    let objects = page.items.iter().zip(weighed);
                    notes.push(Note::Page {
                        at,
                        objects: objects
                            .map(|(object, weighed)| weight(key_of(object).to_string(), &weighed))
                            .collect(),
                        more: !page.continue_token.is_empty(),
                    });
                }
                ResponsePart::Opened => notes.push(Note::Opened { at }),
                ResponsePart::Event(event) => {
                    let weighed = raw.next().unwrap_or_default();
                    match event {
                        RecordedEvent::Object { event, object } => heard.push(Heard {
                            kind: Kind::of(*event),
                            object: weight(key_of(object).to_string(), &weighed),
                            by: weighed.by,
                        }),
                        RecordedEvent::Bookmark {
                            initial_events_end, ..
                        } => heard.push(Heard {
                            kind: match initial_events_end {
                                true => Kind::InitialEnd,
                                false => Kind::Bookmark,
                            },
                            ..Heard::default()
                        }),
                        RecordedEvent::Error { .. } | RecordedEvent::Cut { .. } => {
                            why = Why::of(&response.part);
                        }
                    }
                }
                ResponsePart::Ended(_) if hung_up => {}
                ResponsePart::Later { .. } | ResponsePart::Refused(_) | ResponsePart::Ended(_) => {
                    why = Why::of(&response.part)
                }
            }
            parts.push(response.part);
        }
        if !heard.is_empty() {
            notes.push(Note::Events { at, events: heard });
        }
        if self.exchange.excess().is_some() {
            why = Some(Why::TooLarge);
        }
        if let Some(why) = why
            && !std::mem::replace(&mut self.over, true)
        {
            notes.push(Note::Ended { at, why });
        }
        Step { parts, notes }
    }
}

fn weight(key: String, weighed: &Weighed) -> Weight {
    Weight {
        key,
        bytes: weighed.bytes,
        managed: weighed.managed,
    }
}
