//! One request of an informer and its response, read as it comes: into what a recording holds, and into notes.

use deltascope_cache::lister_watcher::WatchRequest;
use deltascope_world::Time;
use deltascope_world::source::key_of;
use deltascope_world::source::live::{Asked, ResponsePart, Wanted};
use deltascope_world::source::proxy::exchange::{End, Exchange, Head};
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::RequestKind;

use super::call::{Call, Scope};
use super::note::{EventNote, Kind, Note, Weight, Why};
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
    want: RequestKind,
    /// The objects of a watch; `None` for a list.
    watch: Option<Scope>,
    /// The head of the response.
    head: Head,
    /// Whether the last line of a watch was an error.
    failed: bool,
    /// The objects of a list that have come.
    objects: Vec<Weighed>,
    /// Whether the end was noted.
    over: bool,
}

/// What a piece of a response was.
#[derive(Debug, Default)]
pub struct Piece {
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
                    version: list.resource_version.to_string(),
                    limit: list.limit,
                    continues: !list.continue_token.is_empty(),
                };
                (scope, Asked::List(list.clone()), note)
            }
            Call::Watch(scope, watch) => {
                let note = Note::Watch {
                    at,
                    version: watch.resource_version.to_string(),
                    initial: RequestKind::of(watch) == RequestKind::Stream,
                };
                (scope, Asked::Watch(watch.clone()), note)
            }
            Call::Get(_) | Call::Write(..) | Call::Other => return None,
        };
        let want = call.want()?;
        let follower = Self {
            exchange: sent(scope, ask, at),
            want,
            watch: (want != RequestKind::List).then(|| scope.clone()),
            head: Head::default(),
            failed: false,
            objects: Vec::new(),
            over: false,
        };
        Some((follower, note))
    }

    /// What the request asks for.
    #[must_use]
    pub fn want(&self) -> RequestKind {
        self.want
    }

    /// The head of the response has come.
    pub fn head(&mut self, at: Time, head: &Head) -> Piece {
        head.clone_into(&mut self.head);
        let responses = self.exchange.head(at, head);
        self.piece(at, responses, Vec::new(), false)
    }

    /// A piece of the body has come.
    pub fn chunk(&mut self, at: Time, chunk: &[u8]) -> Piece {
        let (mut raw, mut responses) = (Vec::new(), Vec::new());
        if self.watch.is_none() {
            let objects = &mut self.objects;
            let each = |json: &[u8]| objects.push(weighed(json, 1));
            responses = self.exchange.chunk_with(at, chunk, each);
            return self.piece(at, responses, raw, false);
        }
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.failed && !line.trim_ascii().is_empty() {
                self.read_on(at);
            }
            // The event around an object.
            let each = |json: &[u8]| raw.push(weighed(json, 2));
            responses.extend(self.exchange.chunk_with(at, line, each));
            let last = responses.last().map(|response| &response.part);
            self.failed = matches!(last, Some(ResponsePart::Event(RecordedEvent::Error { .. })));
        }
        self.piece(at, responses, raw, false)
    }

    /// More comes behind an error of a watch. For client-go it is over, others read on.
    fn read_on(&mut self, at: Time) {
        if let Some(scope) = &self.watch {
            self.exchange = sent(scope, Asked::Watch(WatchRequest::default()), at);
            // It is open already.
            let _opened = self.exchange.head(at, &self.head);
            self.over = false;
        }
    }

    /// The response has ended.
    pub fn end(&mut self, at: Time, over: Over) -> Piece {
        let hung_up = over == Over::HungUp;
        let end = match over {
            Over::Complete => End::Complete,
            Over::Broken(why) => End::Broken(why),
            Over::HungUp => End::Broken(String::new()),
        };
        let mut responses = self.exchange.end(at, end);
        if hung_up && self.watch.is_none() {
            // It has no answer, and the client wants none.
            responses.clear();
        }
        let mut piece = self.piece(at, responses, Vec::new(), hung_up);
        if hung_up && !std::mem::replace(&mut self.over, true) {
            piece.notes.push(Note::Ended {
                at,
                why: Why::HungUp,
            });
        }
        piece
    }

    fn piece(
        &mut self,
        at: Time,
        responses: Vec<deltascope_world::source::live::ServerResponse>,
        raw: Vec<Weighed>,
        hung_up: bool,
    ) -> Piece {
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
                        RecordedEvent::Object { event, object } => heard.push(EventNote {
                            kind: Kind::of(*event),
                            object: weight(key_of(object).to_string(), &weighed),
                            by: weighed.by,
                        }),
                        RecordedEvent::Bookmark {
                            initial_events_end, ..
                        } => heard.push(EventNote {
                            kind: match initial_events_end {
                                true => Kind::InitialEnd,
                                false => Kind::Bookmark,
                            },
                            ..EventNote::default()
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
        Piece { parts, notes }
    }
}

/// The exchange of a request that is sent.
fn sent(scope: &Scope, ask: Asked, at: Time) -> Exchange {
    let wanted = Wanted {
        request: 1,
        ask,
        has: 0,
        too_much: false,
    };
    Exchange::heard(&scope.target(""), &wanted, at)
}

fn weight(key: String, weighed: &Weighed) -> Weight {
    Weight {
        key,
        bytes: weighed.bytes,
        managed: weighed.managed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_read_on_behind_an_error_of_its_watch() {
        let pods = Scope {
            version: "v1".to_owned(),
            plural: "pods".to_owned(),
            ..Scope::default()
        };
        let call = Call::Watch(pods, WatchRequest::default());
        let (mut follower, _) = Follower::new(0, &call).unwrap();
        let head = Head {
            status: 200,
            content_type: "application/json".to_owned(),
            ..Head::default()
        };
        follower.head(1, &head);
        let added = |name: &str| {
            format!(
                "{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"name\":\"{name}\",\"resourceVersion\":\"1\"}}}}}}\n"
            )
        };
        let kinds = |piece: &Piece| -> Vec<&str> {
            let kind = |note: &Note| match note {
                Note::Events { .. } => "events",
                Note::Ended { .. } => "ended",
                _ => "else",
            };
            piece.notes.iter().map(kind).collect()
        };
        let [one, two, three] = ["one", "two", "three"].map(added);
        // The end of a line may come later.
        let first = follower.chunk(2, format!("{one}{{\"type\":\n\n").as_bytes());
        assert_eq!(kinds(&first), ["events", "ended"]);
        let (half, rest) = two.split_at(9);
        assert_eq!(kinds(&follower.chunk(3, half.as_bytes())), [""; 0]);
        let second = follower.chunk(4, format!("{rest}{three}").as_bytes());
        assert_eq!((kinds(&second), second.parts.len()), (vec!["events"], 2));
        assert_eq!(kinds(&follower.end(5, Over::Complete)), ["ended"]);
    }
}
