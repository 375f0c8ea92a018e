//! Recorded answers of an API server and a proxy, decoded: in chunks of any size they mean the same.

mod answers;
mod discovery;
mod failures;
mod limits;
mod requests;
mod secrets;

use std::fs;
use std::path::{Path, PathBuf};

use deltascope::cache::fact::{EventType, WatchEnd};
use deltascope::cache::lister_watcher::{ApiErrorKind, ListRequest, WatchRequest};
use deltascope::world::source::live::{Asked, Page, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::proxy::exchange::{Deadlines, End, Exchange, Head, Phase};
use deltascope::world::source::proxy::target::{Resource, Target};
use deltascope::world::source::wire::RecordedEvent;
use serde_json::Value;

use Ending::{Closed, Cut, CutInLine, Error};
use Meaning::{Later, List, Refused, Watch};

/// The meaning of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Number of objects, version, and whether there is a next page.
    List(usize, &'static str, bool),
    /// Numbers of ADDED, MODIFIED, DELETED and BOOKMARK events, and the end of the watch.
    Watch([usize; 4], Ending),
    /// Code, class, reason and a part of the text.
    Refused(u16, ApiErrorKind, &'static str, &'static str),
    /// Deferred: status code and delay in ms.
    Later(u16, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Cut,
    CutInLine(u32),
    /// An ERROR event with this code, reason and part of its text.
    Error(u16, &'static str, &'static str),
}

fn answer(exchange: &mut Exchange, now: u64, status: u16, body: &[u8]) -> Vec<ServerResponse> {
    let head = Head {
        status,
        content_type: "application/json".to_owned(),
        ..Head::default()
    };
    exchange.sent(now);
    let mut responses = exchange.head(now, &head);
    if exchange.phase() != Phase::Reading {
        // The exchange has closed the connection.
        return responses;
    }
    responses.extend(exchange.chunk(now, body));
    responses.extend(exchange.end(now, End::Complete));
    responses
}

/// A recorded answer.
struct Answer {
    watch: bool,
    target: Target,
    head: Head,
    end: End,
    body: Vec<u8>,
    /// The ends of its chunks.
    chunks: Vec<usize>,
}

impl Answer {
    fn of(name: &str) -> Self {
        let text = fs::read_to_string(path(name, "json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let response = &file["response"];
        let header = |name: &str| -> String {
            let headers = response["headers"].as_array().unwrap();
            let found = headers
                .iter()
                .find(|header| header[0].as_str().unwrap().eq_ignore_ascii_case(name));
            found.map_or_else(String::new, |header| header[1].as_str().unwrap().to_owned())
        };
        let request = &file["request"];
        let query = request["query"].as_str().unwrap_or_default();
        let accept = request["headers"]["Accept"].as_str().unwrap_or_default();
        let chunks = file["chunks"].as_array().unwrap().iter();
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        Self {
            watch: query.contains("watch=true")
                || request["path"].as_str().unwrap().contains("/watch/"),
            target: Target {
                metadata_only: accept.contains("PartialObjectMetadata"),
                ..pods()
            },
            head: Head {
                status: response["status"].as_u64().unwrap().try_into().unwrap(),
                content_type: header("Content-Type"),
                retry_after: header("Retry-After"),
                server: header("Server"),
            },
            end: match response["end"].as_str().unwrap() {
                "complete" => End::Complete,
                why => End::Broken(why.to_owned()),
            },
            body: fs::read(path(name, "body")).unwrap(),
            chunks: chunks
                .map(|chunk| number(&chunk["offset"]) + number(&chunk["length"]))
                .collect(),
        }
    }

    fn exchange(&self) -> Exchange {
        Exchange::new(&self.target, &wanted(self.watch), Deadlines::default(), 0)
    }

    /// The responses for a body cut at these positions.
    fn responses(&self, cuts: &[usize]) -> Vec<ServerResponse> {
        let mut exchange = self.exchange();
        exchange.sent(0);
        let mut responses = exchange.head(0, &self.head);
        let mut from = 0;
        let mut ends: Vec<usize> = cuts.iter().map(|end| *end.min(&self.body.len())).collect();
        ends.push(self.body.len());
        ends.sort_unstable();
        for end in ends {
            responses.extend(exchange.chunk(0, &self.body[from..end]));
            from = end;
        }
        responses.extend(exchange.end(0, self.end.clone()));
        responses
    }
}

fn meaning(responses: &[ServerResponse]) -> Meaning {
    assert!(responses.iter().all(|response| response.request == 7));
    let parts: Vec<&ResponsePart> = responses.iter().map(|response| &response.part).collect();
    let text = |text: &str| -> &'static str { text.to_owned().leak() };
    match parts[..] {
        [
            ResponsePart::Page(Page {
                rv,
                items,
                continue_token,
            }),
        ] => List(items.len(), text(rv), !continue_token.is_empty()),
        [ResponsePart::Refused(error)] => Refused(
            error.code,
            error.kind,
            text(&error.reason),
            text(&error.message),
        ),
        [
            ResponsePart::Later {
                code,
                after_ms,
                attempt,
            },
        ] => {
            assert_eq!(*attempt, 1);
            Later(*code, *after_ms)
        }
        [ResponsePart::Opened, ref events @ ..] => {
            let (mut counts, mut ending) = ([0; 4], None);
            for event in events {
                assert_eq!(ending, None, "something comes after the end");
                match event {
                    ResponsePart::Event(RecordedEvent::Object { event, .. }) => match event {
                        EventType::Added => counts[0] += 1,
                        EventType::Modified => counts[1] += 1,
                        EventType::Deleted => counts[2] += 1,
                        EventType::Bookmark | EventType::Error => panic!("{event:?}"),
                    },
                    ResponsePart::Event(RecordedEvent::Bookmark { .. }) => counts[3] += 1,
                    ResponsePart::Event(RecordedEvent::Error {
                        code,
                        reason,
                        message,
                        ..
                    }) => ending = Some(Error(*code, text(reason), text(message))),
                    ResponsePart::Ended(WatchEnd::Closed) => ending = Some(Closed),
                    ResponsePart::Ended(WatchEnd::Cut) => ending = Some(Cut),
                    ResponsePart::Ended(WatchEnd::CutInLine(bytes)) => {
                        ending = Some(CutInLine(*bytes))
                    }
                    other => panic!("unexpected in a watch: {other:?}"),
                }
            }
            Watch(counts, ending.expect("a watch ends"))
        }
        _ => panic!("{} responses that are not one answer", parts.len()),
    }
}

fn pods() -> Target {
    Target {
        base: "/".to_owned(),
        resource: resource("", "v1", "Pod", "pods"),
        ..Target::default()
    }
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        ..Resource::default()
    }
}

fn wanted(watch: bool) -> Wanted {
    let ask = if watch {
        Asked::Watch(WatchRequest::default())
    } else {
        Asked::List(ListRequest::default())
    };
    Wanted {
        request: 7,
        ask,
        has: 0,
        too_much: false,
    }
}

fn path(name: &str, extension: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/transcripts")
        .join(format!("{name}.{extension}"))
}
