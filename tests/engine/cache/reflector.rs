//! The reflector: conversations with a server that the recorded scenarios lack.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::backoff::{
    BACKOFF_RESET, Backoff, BackoffManager, Jitter, NoJitter, ResetSince,
};
use deltascope::cache::error::Error;
use deltascope::cache::fact::{EventType, Fact, ReflectorFact};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind as Kind, ListPage, ListRequest, ListWatch, ListerWatcher,
    ResourceVersionMatch, Table, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{
    MIN_WATCH_TIMEOUT, Need, Reflector, ReflectorOptions, ReflectorState, StoreCall,
};
use deltascope::cache::step::Step;
use kube_core::DynamicObject as O;
use proptest::prelude::*;

use super::{object, pod};

const NOW: Duration = Duration::from_secs(1000);

/// What is said to the reflector.
#[derive(Clone, Debug)]
enum Say {
    Start,
    /// A page: version, objects, token of the next one.
    Page(&'static str, &'static [&'static str], &'static str),
    /// A page that is a `Table`: version.
    TablePage(&'static str),
    ListError(Kind),
    Open,
    OpenError(Kind),
    /// Events: key and version.
    Added(&'static str, &'static str),
    Modified(&'static str, &'static str),
    Deleted(&'static str, &'static str),
    Bookmark(&'static str),
    /// The bookmark that ends the initial events.
    End(&'static str),
    Opaque,
    Error(Kind),
    Close,
    /// So many seconds pass; where the end of a streaming list is late, that is said.
    Pass(u64),
    /// The resync timer fires: whether a resync is wanted, and what comes of it.
    Resync(bool, Result<(), ()>),
    /// From now on the store refuses these calls.
    Refuse(&'static str),
    Stop,
}

/// Says it, and writes down what comes of it until the reflector needs something again. Pauses
/// elapse, the store obeys.
#[derive(Clone)]
struct Talk {
    reflector: Reflector<O>,
    now: Duration,
    refuses: &'static str,
    facts: Vec<(Step, Fact)>,
}

fn key(item: &Item<O>) -> String {
    let Some(object) = item.as_object() else {
        return format!("{item:?}");
    };
    format!("{}@{}", object.name(), object.resource_version())
}

impl Talk {
    fn new(options: ReflectorOptions<O>) -> Self {
        Self {
            reflector: Reflector::new(options),
            now: NOW,
            refuses: "none",
            facts: Vec::new(),
        }
    }

    fn say(&mut self, say: &Say) -> String {
        let error = |kind: &Kind| ApiError::new(*kind, &format!("{kind:?}"));
        let event = |event, key, rv| WatchItem::Event(event, pod(key, rv));
        let mut said = Vec::new();
        let (now, facts) = (self.now, &mut self.facts);
        let reflector = &mut self.reflector;
        match say {
            Say::Start => {}
            Say::TablePage(rv) => {
                let page = ListPage {
                    resource_version: (*rv).into(),
                    items: Vec::new(),
                    continue_token: "".into(),
                    table: Some(Table::V1),
                };
                reflector.listed(now, Ok(page), facts);
            }
            Say::Page(rv, items, next) => {
                let items = items.iter().map(|key| pod(key, rv)).collect();
                let page = ListPage {
                    resource_version: (*rv).into(),
                    items,
                    continue_token: (*next).into(),
                    table: None,
                };
                reflector.listed(now, Ok(page), facts);
            }
            Say::ListError(kind) => reflector.listed(now, Err(error(kind)), facts),
            Say::Open => reflector.watched(now, Ok(()), facts),
            Say::OpenError(kind) => reflector.watched(now, Err(error(kind)), facts),
            Say::Added(key, rv) => reflector.received(now, event(EventType::Added, key, rv), facts),
            Say::Modified(key, rv) => {
                reflector.received(now, event(EventType::Modified, key, rv), facts);
            }
            Say::Deleted(key, rv) => {
                reflector.received(now, event(EventType::Deleted, key, rv), facts);
            }
            Say::Bookmark(rv) | Say::End(rv) => {
                let bookmark = WatchItem::Bookmark {
                    resource_version: (*rv).into(),
                    initial_events_end: matches!(say, Say::End(_)),
                };
                reflector.received(now, bookmark, facts);
            }
            Say::Opaque => {
                let item = WatchItem::Event(EventType::Modified, Item::Opaque("?".into()));
                reflector.received(now, item, facts);
            }
            Say::Error(kind) => reflector.received(now, WatchItem::Error(error(kind)), facts),
            Say::Close => reflector.received(now, WatchItem::Closed, facts),
            Say::Pass(seconds) => {
                self.now += Duration::from_secs(*seconds);
                let next = |reflector: &Reflector<O>| reflector.initial_events_end_check_at();
                while let Some(at) = next(reflector).filter(|at| *at <= self.now) {
                    let before = facts.len();
                    reflector.initial_events_end_checked(at, facts);
                    for (_, fact) in &facts[before..] {
                        let Fact::Reflector(ReflectorFact::InitialEventsEndMissed { ms, any }) =
                            fact
                        else {
                            panic!("{fact:?}");
                        };
                        said.push(format!("late {ms} {any}"));
                    }
                }
            }
            Say::Resync(wanted, outcome) => {
                self.now = reflector.resync_at().expect("a resync is due");
                if reflector.resync_fired(self.now, *wanted, facts) {
                    said.push("Resync".into());
                    let outcome = outcome.map_err(|()| Error::Process("refused".into()));
                    reflector.resync_done(self.now, outcome, facts);
                }
            }
            Say::Refuse(calls) => self.refuses = calls,
            Say::Stop => reflector.stop(now, facts),
        }
        self.settle(&mut said);
        said.join("; ")
    }

    fn settle(&mut self, said: &mut Vec<String>) {
        loop {
            let facts = &mut self.facts;
            let reflector = &mut self.reflector;
            if let Some(error) = reflector.take_watch_error() {
                said.push(format!("!{error}"));
            }
            assert!(
                !reflector.is_watching()
                    || matches!(reflector.need(), Need::Event | Need::Store(_)),
                "an open watch that nobody reads"
            );
            match reflector.need().clone() {
                Need::Wait(moment) => {
                    if reflector.state() == ReflectorState::Backoff {
                        said.push("pause".into());
                        assert!(moment > self.now);
                        self.now = moment;
                    }
                    reflector.waited(self.now, facts);
                }
                Need::Store(call) => {
                    let (name, text) = written(&call);
                    said.push(text);
                    assert!(reflector.take_store_call().is_some());
                    assert!(reflector.take_store_call().is_none(), "taken twice");
                    let outcome = if self.refuses.contains(name) {
                        Err(Error::Process("refused".into()))
                    } else {
                        Ok(())
                    };
                    reflector.stored(self.now, outcome, facts);
                }
                Need::List(request) => {
                    assert_eq!(request.resource_version_match, None);
                    let (rv, limit) = (request.resource_version, request.limit);
                    let token = request.continue_token;
                    said.push(if token.is_empty() {
                        format!("LIST {rv:?}/{limit}")
                    } else {
                        assert_eq!(&*rv, "", "a version beside a token");
                        format!("LIST page {token}/{limit}")
                    });
                    return;
                }
                Need::Watch(request) => {
                    assert!(request.allow_watch_bookmarks);
                    assert!(request.timeout >= MIN_WATCH_TIMEOUT);
                    let rv = request.resource_version;
                    match (request.send_initial_events, request.resource_version_match) {
                        (None, None) => said.push(format!("WATCH {rv:?}")),
                        (Some(true), Some(ResourceVersionMatch::NotOlderThan)) => {
                            said.push(format!("STREAM {rv:?}"));
                        }
                        other => panic!("{other:?}"),
                    }
                    return;
                }
                Need::Event => return,
                Need::Stopped => {
                    said.push("stopped".into());
                    return;
                }
                Need::Stored => panic!("the call was answered"),
            }
        }
    }
}

fn written(call: &StoreCall<O>) -> (&'static str, String) {
    let (name, what) = match call {
        StoreCall::Add(item) => ("Add", key(item)),
        StoreCall::Update(item) => ("Update", key(item)),
        StoreCall::Delete(item) => ("Delete", key(item)),
        StoreCall::Replace(items, rv) => {
            let items: Vec<_> = items.iter().map(key).collect();
            ("Replace", format!("{rv:?} {}", items.join(" ")))
        }
        StoreCall::Resync => ("Resync", String::new()),
        StoreCall::Bookmark(rv) => ("Bookmark", rv.to_string()),
        StoreCall::UpdateResourceVersion(rv) => ("UpdateResourceVersion", rv.to_string()),
    };
    let mut text = name.to_owned();
    write!(text, " {what}").unwrap();
    (name, text.trim_end().to_owned())
}

fn options() -> ReflectorOptions<O> {
    ReflectorOptions {
        name: "r".into(),
        type_description: "pods".into(),
        order: Order::Key,
        ..ReflectorOptions::default()
    }
}

fn streaming() -> ReflectorOptions<O> {
    ReflectorOptions {
        watch_list: true,
        ..options()
    }
}

/// Plays a conversation; each line is what is said and what is expected to come of it.
fn plays(name: &str, options: ReflectorOptions<O>, lines: &[(Say, &str)]) -> Talk {
    let mut talk = Talk::new(options);
    for (position, (say, expected)) in lines.iter().enumerate() {
        assert_eq!(talk.say(say), *expected, "{name}, line {position}: {say:?}");
    }
    talk
}

use Say::{
    Added, Bookmark, Close, Deleted, End, ListError, Modified, Opaque, Open, OpenError, Page, Pass,
    Refuse, Resync, Start, Stop, TablePage,
};

#[test]
fn a_list_comes_in_pages() {
    let first = (Start, r#"LIST "0"/500"#);
    plays(
        "a server that pages is asked for pages again",
        options(),
        &[
            first.clone(),
            (Page("10", &["a", "b"], "c1"), "LIST page c1/500"),
            (Page("11", &["c"], "c2"), "LIST page c2/500"),
            (
                Page("12", &["d"], ""),
                r#"Replace "10" a@10 b@10 c@11 d@12; WATCH "10""#,
            ),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "10"/500"#,
            ),
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
        ],
    );
    plays(
        "a page of an own size, also for lists after the first",
        ReflectorOptions {
            page_size: 2,
            ..options()
        },
        &[
            (Start, r#"LIST "0"/2"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (
                OpenError(Kind::Forbidden),
                r#"!Forbidden; pause; LIST "10"/2"#,
            ),
        ],
    );
    plays(
        "without a limit the server may page all the same",
        options(),
        &[
            first.clone(),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (OpenError(Kind::Gone), r#"!Gone; pause; LIST "10"/0"#),
            (Page("20", &["a"], "c"), "LIST page c/0"),
            (
                Page("21", &["b"], ""),
                r#"Replace "20" a@20 b@21; WATCH "20""#,
            ),
            (OpenError(Kind::Gone), r#"!Gone; pause; LIST "20"/0"#),
        ],
    );
    plays(
        "a token expires: the whole list, whatever the server says of a next page",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (ListError(Kind::Expired), r#"LIST "0"/0"#),
            (Page("12", &["b"], "c9"), r#"Replace "12" b@12; WATCH "12""#),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "12"/500"#,
            ),
        ],
    );
    plays(
        "only the reason Expired says that; Gone and a version too large mean the list",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (ListError(Kind::Gone), r#"LIST ""/500"#),
            (Page("11", &["a"], "c2"), "LIST page c2/500"),
            (
                ListError(Kind::TooLarge),
                r#"!failed to list pods: TooLarge; pause; LIST ""/500"#,
            ),
            (Page("12", &[], ""), r#"Replace "12"; WATCH "12""#),
            // It did not page in the end.
            (OpenError(Kind::Expired), r#"!Expired; pause; LIST "12"/0"#),
        ],
    );
    plays(
        "any other error of a page begins anew after a pause",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (
                ListError(Kind::InternalError),
                r#"!failed to list pods: InternalError; pause; LIST "0"/500"#,
            ),
            (Page("10", &["b"], ""), r#"Replace "10" b@10; WATCH "10""#),
        ],
    );
    plays(
        "the second attempt of the first list counts for paging, too",
        options(),
        &[
            first,
            (ListError(Kind::Expired), r#"LIST ""/500"#),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (
                Page("10", &["b"], ""),
                r#"Replace "10" a@10 b@10; WATCH "10""#,
            ),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "10"/500"#,
            ),
        ],
    );
}

#[test]
fn a_version_that_is_not_available_is_left_out_until_a_list_succeeds() {
    let talk = plays(
        "expired again and again",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (OpenError(Kind::Expired), r#"!Expired; pause; LIST "10"/0"#),
            // At once, without a word to the handler, and in the same kind of pages.
            (ListError(Kind::Expired), r#"LIST ""/0"#),
            (
                ListError(Kind::Expired),
                r#"!failed to list pods: Expired; pause; LIST ""/500"#,
            ),
            (ListError(Kind::TooLarge), r#"LIST ""/500"#),
            (Page("9", &["a"], "c"), "LIST page c/500"),
            (ListError(Kind::Expired), r#"LIST ""/0"#),
            (
                ListError(Kind::Forbidden),
                r#"!failed to list pods: Forbidden; pause; LIST ""/500"#,
            ),
        ],
    );
    assert!(talk.reflector.is_last_sync_resource_version_unavailable());
    assert_eq!(&**talk.reflector.last_sync_resource_version(), "10");
    let mut talk = talk;
    let said = talk.say(&Page("30", &[], ""));
    assert_eq!(said, r#"Replace "30"; WATCH "30""#);
    assert!(!talk.reflector.is_last_sync_resource_version_unavailable());
    let said = talk.say(&OpenError(Kind::Timeout));
    assert_eq!(said, r#"!Timeout; pause; LIST "30"/0"#);
}

#[test]
fn what_follows_a_watch_that_could_not_be_opened() {
    for (kind, expected) in [
        (Kind::ConnectionRefused, r#"pause; WATCH "10""#.to_owned()),
        (Kind::TooManyRequests, r#"pause; WATCH "10""#.to_owned()),
    ]
    .into_iter()
    .chain(
        [
            Kind::Expired,
            Kind::Gone,
            Kind::TooLarge,
            Kind::InternalError,
            Kind::Timeout,
            Kind::Forbidden,
            Kind::Invalid,
            Kind::Unauthorized,
            Kind::NotFound,
            Kind::Other,
        ]
        .map(|kind| (kind, format!(r#"!{kind:?}; pause; LIST "10"/0"#))),
    ) {
        plays(
            &format!("{kind:?}"),
            ReflectorOptions {
                // Only for what comes in a stream.
                max_internal_error_retry: Duration::from_secs(10),
                ..options()
            },
            &[
                (Start, r#"LIST "0"/500"#),
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (OpenError(kind), &expected),
            ],
        );
    }
}

#[test]
fn what_follows_the_end_of_a_watch() {
    let relist = r#"pause; LIST "11"/0"#;
    for (name, end, expected) in [
        (
            "429",
            Say::Error(Kind::TooManyRequests),
            r#"pause; WATCH "11""#,
        ),
        ("expired", Say::Error(Kind::Expired), relist),
        ("gone", Say::Error(Kind::Gone), relist),
        ("500", Say::Error(Kind::InternalError), relist),
        ("504", Say::Error(Kind::Timeout), relist),
        ("too large", Say::Error(Kind::TooLarge), relist),
        ("403", Say::Error(Kind::Forbidden), relist),
        // Not in a stream: there it is no reason to watch again.
        ("refused", Say::Error(Kind::ConnectionRefused), relist),
        ("other", Say::Error(Kind::Other), relist),
        ("clean", Close, r#"WATCH "11""#),
    ] {
        plays(
            name,
            options(),
            &[
                (Start, r#"LIST "0"/500"#),
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (Open, ""),
                (Modified("a", "11"), "Update a@11"),
                (end, expected),
            ],
        );
    }
}

#[test]
fn a_watch_that_ends_at_once_and_brought_nothing_is_a_failure() {
    let open = [
        (Start, r#"LIST "0"/500"#),
        (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
        (Open, ""),
    ];
    let relist = r#"pause; LIST "10"/0"#;
    let ends: [(&str, &[(Say, &str)]); 5] = [
        ("nothing", &[(Close, relist)]),
        ("after a second", &[(Pass(1), ""), (Close, r#"WATCH "10""#)]),
        (
            "a bookmark",
            &[(Bookmark("10"), ""), (Close, r#"WATCH "10""#)],
        ),
        // What is skipped does not count.
        ("no object", &[(Opaque, ""), (Close, relist)]),
        (
            "the clock starts with the request",
            &[
                (Pass(1), ""),
                (Close, r#"WATCH "10""#),
                (Pass(2), r#"WATCH "10""#),
                (Open, ""),
                (Close, r#"WATCH "10""#),
            ],
        ),
    ];
    for (name, end) in ends {
        let lines: Vec<_> = open.iter().chain(end).cloned().collect();
        plays(name, options(), &lines);
    }
}

#[test]
fn internal_errors_are_retried_for_a_while() {
    let error = Say::Error(Kind::InternalError);
    plays(
        "the while",
        ReflectorOptions {
            max_internal_error_retry: Duration::from_secs(10),
            ..options()
        },
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            (Pass(10), ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            // Quiet for a minute: it begins anew.
            (Pass(60), ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            (Pass(11), ""),
            (error.clone(), r#"pause; LIST "10"/0"#),
            // And with the next round.
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
            (Open, ""),
            (error, r#"WATCH "20""#),
        ],
    );
}

#[test]
fn added_events_of_a_watch_from_anywhere_move_no_version_since_0_36() {
    for (release, expected) in [
        (Release::V0_32, "5"),
        (Release::V0_35, "5"),
        (Release::V0_36, ""),
    ] {
        let both = release == Release::V0_36;
        let update = |rv: &str| format!("; UpdateResourceVersion {rv}");
        let early = |rv| if both { String::new() } else { update(rv) };
        let mut talk = Talk::new(ReflectorOptions {
            release,
            update_resource_version_store: true,
            ..options()
        });
        assert_eq!(talk.say(&Start), r#"LIST "0"/500"#);
        // A server that keeps no version of its lists.
        let said = talk.say(&Page("", &[], ""));
        assert_eq!(said, r#"Replace ""; WATCH """#);
        assert_eq!(talk.say(&Open), "");
        assert_eq!(talk.say(&Added("a", "7")), format!("Add a@7{}", early("7")));
        assert_eq!(talk.say(&Added("b", "5")), format!("Add b@5{}", early("5")));
        assert_eq!(&**talk.reflector.last_sync_resource_version(), expected);
        let mut closed = talk.clone();
        assert_eq!(closed.say(&Close), format!("WATCH {expected:?}"));
        // A bookmark, too, says that the first events are over.
        let mut marked = talk.clone();
        assert_eq!(marked.say(&Bookmark("6")), "UpdateResourceVersion 6");
        assert_eq!(
            talk.say(&Modified("b", "8")),
            "Update b@8; UpdateResourceVersion 8"
        );
        // From here on they come in order.
        assert_eq!(
            talk.say(&Added("c", "9")),
            "Add c@9; UpdateResourceVersion 9"
        );
        assert_eq!(talk.say(&Close), r#"WATCH "9""#);
    }
}

#[test]
fn what_follows_a_streaming_list_that_failed() {
    let again = r#"STREAM """#;
    let paused = r#"pause; STREAM """#;
    let list = r#"LIST "0"/500"#;
    for (kind, expected) in [
        (Kind::ConnectionRefused, paused),
        (Kind::TooManyRequests, paused),
        (Kind::Expired, again),
        (Kind::Gone, again),
        (Kind::TooLarge, again),
        (Kind::InternalError, list),
        (Kind::Timeout, list),
        (Kind::Forbidden, list),
        (Kind::Invalid, list),
        (Kind::Unauthorized, list),
        (Kind::NotFound, list),
        (Kind::Other, list),
    ] {
        let options = || ReflectorOptions {
            // Has no say here.
            max_internal_error_retry: Duration::from_secs(10),
            ..streaming()
        };
        let opening = [(Start, again), (OpenError(kind), expected)];
        plays(&format!("{kind:?} on opening"), options(), &opening);
        let mut stream = vec![
            (Start, again),
            (Open, ""),
            (Added("a", "5"), ""),
            (Say::Error(kind), expected),
        ];
        if expected != list {
            // What the first stream brought is gone.
            stream.extend([
                (Open, ""),
                (Added("b", "6"), ""),
                (End("10"), r#"Replace "10" b@6"#),
                (Close, r#"pause; STREAM "10""#),
            ]);
        } else {
            // In the next round it is tried again.
            stream.extend([
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (OpenError(Kind::Other), r#"!Other; pause; STREAM "10""#),
            ]);
        }
        plays(&format!("{kind:?} in the stream"), options(), &stream);
    }
}

#[test]
fn a_streaming_list_from_its_request_to_the_watch() {
    plays(
        "changes before the bookmark, bookmarks between",
        ReflectorOptions {
            bookmark_store: true,
            update_resource_version_store: true,
            ..streaming()
        },
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Added("c", "5"), ""),
            (Added("a", "3"), ""),
            (Added("b", "4"), ""),
            (Modified("a", "6"), ""),
            (Deleted("b", "7"), ""),
            (Deleted("x", "7"), ""),
            (Bookmark("8"), ""),
            (Opaque, ""),
            (End("9"), r#"Replace "9" a@6 c@5"#),
            // The same stream goes on.
            (Bookmark("10"), "Bookmark 10; UpdateResourceVersion 10"),
            (End("11"), "Bookmark 11; UpdateResourceVersion 11"),
            (Added("d", "12"), "Add d@12; UpdateResourceVersion 12"),
            (Close, r#"WATCH "12""#),
            (OpenError(Kind::TooManyRequests), r#"pause; WATCH "12""#),
            (OpenError(Kind::Expired), r#"!Expired; pause; STREAM "12""#),
            (OpenError(Kind::Expired), r#"STREAM """#),
            (OpenError(Kind::Invalid), r#"LIST ""/500"#),
        ],
    );
    plays(
        "closed early: again, and at once without an event a list",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Added("a", "5"), ""),
            (Close, r#"STREAM """#),
            (Open, ""),
            (Pass(1), ""),
            (Close, r#"STREAM """#),
            (Open, ""),
            (Close, r#"LIST "0"/500"#),
        ],
    );
    plays(
        "the store refuses: a list, and only that is told",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Refuse("Replace"), ""),
            (End("9"), r#"Replace "9"; LIST "0"/500"#),
            (
                Page("9", &["a"], ""),
                r#"Replace "9" a@9; !unable to sync list result: refused; pause; STREAM """#,
            ),
        ],
    );
}

#[test]
fn the_end_of_a_streaming_list_that_is_late_is_warned_of() {
    let talk = plays(
        "nobody is told anything else",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Pass(30), r#"STREAM """#),
            (Open, ""),
            // Where nothing came, since the request.
            (Pass(9), ""),
            (Pass(1), "late 40000 false"),
            (Pass(10), "late 50000 false"),
            (Pass(1), ""),
            (Added("a", "5"), ""),
            // Something came since the last look.
            (Pass(9), ""),
            (Pass(10), "late 19000 true"),
            (Bookmark("6"), ""),
            (Pass(20), "late 10000 true; late 20000 true"),
            (Close, r#"STREAM """#),
            (Pass(10), r#"STREAM """#),
            (Open, ""),
            (Pass(10), "late 20000 false"),
            (End("9"), r#"Replace "9""#),
            (Pass(60), ""),
            (Close, r#"WATCH "9""#),
            (Open, ""),
            (Pass(60), ""),
        ],
    );
    assert_eq!(talk.reflector.state(), ReflectorState::Watch);
    plays(
        "a list, and a watch after it",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Pass(60), ""),
        ],
    );
}

#[test]
fn the_temporary_store_transforms_since_0_34_and_has_the_order_that_was_chosen() {
    let transformer = |item: Item<O>| match item.as_object() {
        Some(o) if o.name() == "bad" => Err("no".to_owned()),
        Some(o) => Ok(pod(o.name(), &format!("{}t", o.resource_version()))),
        None => Ok(item),
    };
    for (release, order, expected) in [
        (
            Release::V0_32,
            Order::Insertion,
            r#"Replace "9" c@5 bad@3 b@6"#,
        ),
        (Release::V0_34, Order::Insertion, r#"Replace "9" c@5t b@6t"#),
        (Release::V0_36, Order::Insertion, r#"Replace "9" c@5t b@6t"#),
        (Release::V0_36, Order::Dense, r#"Replace "9" b@6t c@5t"#),
        (Release::V0_36, Order::Key, r#"Replace "9" b@6t c@5t"#),
    ] {
        let options = ReflectorOptions {
            release,
            order,
            transformer: Some(Arc::new(transformer)),
            ..streaming()
        };
        plays(
            &format!("{release:?} {order:?}"),
            options,
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("a", "1"), ""),
                (Added("c", "5"), ""),
                (Added("bad", "3"), ""),
                (Added("b", "4"), ""),
                (Modified("b", "6"), ""),
                (Deleted("a", "7"), ""),
                (End("9"), expected),
                // What comes later is left to the queue.
                (Modified("c", "10"), "Update c@10"),
            ],
        );
    }
}

#[test]
fn events_with_another_type_are_skipped_and_lists_are_not_looked_at() {
    let check = |o: &O| match o.name() {
        "odd" => Err("expected type Pod, but watch event object had type Node".to_owned()),
        _ => Ok(()),
    };
    for release in [
        Release::V0_32,
        Release::V0_34,
        Release::V0_35,
        Release::V0_36,
    ] {
        let options = |options| ReflectorOptions {
            release,
            expected_type: Some(Arc::new(check)),
            ..options
        };
        let mut talk = plays(
            &format!("{release:?}"),
            options(self::options()),
            &[
                (Start, r#"LIST "0"/500"#),
                (
                    Page("10", &["a", "odd"], ""),
                    r#"Replace "10" a@10 odd@10; WATCH "10""#,
                ),
                (Open, ""),
                (Modified("odd", "11"), ""),
                (Opaque, ""),
            ],
        );
        assert_eq!(&**talk.reflector.last_sync_resource_version(), "10");
        let rejected = |(_, fact): &&(Step, Fact)| {
            matches!(fact, Fact::Reflector(ReflectorFact::ObjectRejected { .. }))
        };
        assert_eq!(talk.facts.iter().filter(rejected).count(), 2);
        assert_eq!(talk.say(&Deleted("a", "12")), "Delete a@12");
        plays(
            &format!("{release:?}, streaming"),
            options(streaming()),
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("odd", "1"), ""),
                (Added("a", "2"), ""),
                (End("9"), r#"Replace "9" a@2"#),
            ],
        );
    }
}

/// In streaming lists since 1.34, in watches and as the answer to a list since 1.36.
#[test]
fn a_table_is_refused_where_upstream_does_so() {
    let table_check = |o: &O| {
        Table::of(
            "meta.k8s.io/v1",
            if o.name() == "odd" { "Table" } else { "Pod" },
        )
    };
    for (release, stream, watch, list) in [
        (
            Release::V0_32,
            r#"Replace "9" odd@1 a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_34,
            r#"Replace "9" a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_35,
            r#"Replace "9" a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_36,
            r#"Replace "9" a@2"#,
            "",
            r#"!failed to list pods: unsupported list gvk: meta.k8s.io/v1, Kind=Table, type: pods; pause; LIST "0"/500"#,
        ),
    ] {
        let options = |options| ReflectorOptions {
            release,
            order: Order::Insertion,
            table_check: Some(Arc::new(table_check)),
            ..options
        };
        plays(
            &format!("{release:?}, streaming"),
            options(streaming()),
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("odd", "1"), ""),
                (Added("a", "2"), ""),
                (End("9"), stream),
                (Modified("odd", "11"), watch),
            ],
        );
        plays(
            &format!("{release:?}, a list"),
            options(self::options()),
            &[(Start, r#"LIST "0"/500"#), (TablePage("9"), list)],
        );
    }
    assert_eq!(Table::of("v1", "Table"), None);
    let beta = Table::of("meta.k8s.io/v1beta1", "Table").unwrap();
    assert_eq!(beta.to_string(), "meta.k8s.io/v1beta1, Kind=Table");
}

#[test]
fn a_store_that_refuses_an_event_does_not_stop_the_stream() {
    plays(
        "refused",
        ReflectorOptions {
            bookmark_store: true,
            ..options()
        },
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Refuse("Add Update Delete Bookmark Replace"), ""),
            (Added("a", "11"), "Add a@11"),
            (Modified("a", "12"), "Update a@12"),
            (Deleted("a", "13"), "Delete a@13"),
            (Bookmark("14"), "Bookmark 14"),
            // The version has moved with each of them.
            (Say::Error(Kind::Expired), r#"pause; LIST "14"/0"#),
            (
                Page("20", &["b"], ""),
                r#"Replace "20" b@20; !unable to sync list result: refused; pause; LIST "14"/0"#,
            ),
        ],
    );
}

#[test]
fn the_resync_timer_runs_from_list_to_the_end_of_the_round() {
    let options = || ReflectorOptions {
        resync_period: Duration::from_secs(30),
        ..options()
    };
    let mut talk = plays(
        "in good order",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            // Also while there is no watch.
            (Resync(true, Ok(())), r#"Resync; WATCH "10""#),
            (Open, ""),
            (Resync(false, Ok(())), ""),
            (Resync(true, Ok(())), "Resync"),
        ],
    );
    assert_eq!(talk.now, NOW + Duration::from_secs(90));
    assert_eq!(
        talk.reflector.resync_at(),
        Some(talk.now + Duration::from_secs(30))
    );
    talk.now += Duration::from_secs(20);
    let said = talk.say(&Say::Error(Kind::Expired));
    assert_eq!(said, r#"pause; LIST "10"/0"#);
    assert_eq!(talk.reflector.resync_at(), None);
    assert!(
        !talk.reflector.resync_fired(talk.now, true, &mut ()),
        "too late"
    );
    let said = talk.say(&Page("20", &[], ""));
    assert_eq!(said, r#"Replace "20"; WATCH "20""#);
    assert_eq!(
        talk.reflector.resync_at(),
        Some(talk.now + Duration::from_secs(30))
    );

    // The round is over before the store is done with it.
    let due = talk.reflector.resync_at().unwrap();
    assert!(talk.reflector.resync_fired(due, true, &mut ()));
    assert_eq!(
        talk.say(&OpenError(Kind::Other)),
        r#"!Other; pause; LIST "20"/0"#
    );
    for outcome in [Ok(()), Err(Error::FifoClosed)] {
        talk.reflector.resync_done(due, outcome, &mut ());
        assert_eq!(talk.reflector.resync_at(), None);
    }

    plays(
        "a resync that fails ends the watch, without a word to the handler",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Resync(true, Err(())), r#"Resync; pause; LIST "10"/0"#),
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
            // The next watch, where there is none at that moment.
            (Resync(true, Err(())), r#"Resync; WATCH "20""#),
            (OpenError(Kind::TooManyRequests), r#"pause; WATCH "20""#),
            (Open, r#"pause; LIST "20"/0"#),
        ],
    );
}

#[test]
fn it_stops_wherever_it_is() {
    let lines = [
        (Start, r#"STREAM """#),
        (Open, ""),
        (Added("a", "5"), ""),
        (End("9"), r#"Replace "9" a@5"#),
        (Added("b", "10"), "Add b@10"),
        (Close, r#"WATCH "10""#),
    ];
    for length in 0..=lines.len() {
        let mut talk = plays("until the stop", streaming(), &lines[..length]);
        assert_eq!(talk.say(&Stop), "stopped");
        assert_eq!(talk.reflector.state(), ReflectorState::Stopped);
        for late in [Page("1", &[], ""), Open, Added("z", "99"), Close, Stop] {
            assert_eq!(talk.say(&late), "stopped");
        }
        let stops = |(_, fact): &&(Step, Fact)| {
            matches!(
                fact,
                Fact::Reflector(ReflectorFact::ReflectorStopped { .. })
            )
        };
        assert_eq!(talk.facts.iter().filter(stops).count(), 1);
    }
}

#[test]
fn every_decision_is_a_fact() {
    fn names(talk: &Talk) -> String {
        let names: Vec<_> = talk.facts.iter().map(|(_, fact)| fact.name()).collect();
        names.join(" ")
    }
    let talk = plays(
        "lists",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("9", &["a"], "c"), "LIST page c/500"),
            (ListError(Kind::Expired), r#"LIST "0"/0"#),
            (ListError(Kind::TooLarge), r#"LIST ""/500"#),
            (
                ListError(Kind::Other),
                r#"!failed to list pods: Other; pause; LIST ""/500"#,
            ),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (OpenError(Kind::TooManyRequests), r#"pause; WATCH "10""#),
            (Open, ""),
            (Modified("a", "11"), "Update a@11"),
            (Close, r#"WATCH "11""#),
            (Open, ""),
            (Say::Error(Kind::Expired), r#"pause; LIST "11"/0"#),
            (Stop, "stopped"),
        ],
    );
    assert_eq!(
        names(&talk),
        "ListRequested PageReceived ListRequested ListFailed ListRequested ListFailed \
         VersionUnavailable ListRequested ListFailed WatchErrorReported BackoffStarted \
         ListRequested ListReceived VersionUnavailable LastSyncMoved WatchRequested \
         WatchFailed BackoffStarted WatchRequested EventReceived LastSyncMoved WatchEnded \
         WatchRequested EventReceived WatchEnded BackoffStarted ListRequested ReflectorStopped"
    );
    let talk = plays(
        "streams",
        ReflectorOptions {
            resync_period: Duration::from_secs(30),
            ..streaming()
        },
        &[
            (Start, r#"STREAM """#),
            (OpenError(Kind::ConnectionRefused), r#"pause; STREAM """#),
            (Open, ""),
            (Added("a", "5"), ""),
            (Say::Error(Kind::Gone), r#"STREAM """#),
            (Open, ""),
            (Opaque, ""),
            (End("9"), r#"Replace "9""#),
            (Resync(false, Ok(())), ""),
            (Say::Error(Kind::Other), r#"pause; STREAM "9""#),
            (OpenError(Kind::Invalid), r#"LIST "9"/0"#),
        ],
    );
    assert_eq!(
        names(&talk),
        "WatchRequested WatchFailed BackoffStarted WatchRequested EventReceived \
         InitialEventKept EventReceived WatchEnded VersionUnavailable WatchRequested \
         EventReceived ObjectRejected EventReceived InitialEventsEnded VersionUnavailable \
         LastSyncMoved ResyncDue EventReceived WatchEnded BackoffStarted WatchRequested \
         WatchFailed StreamFellBack ListRequested"
    );
}

#[test]
fn a_watch_is_asked_for_five_to_ten_minutes_or_longer() {
    #[derive(Clone)]
    struct Fixed(f64);
    impl Jitter for Fixed {
        fn unit(&mut self) -> f64 {
            self.0
        }
        fn boxed_clone(&self) -> Box<dyn Jitter> {
            Box::new(self.clone())
        }
    }
    for (min, unit, seconds) in [
        (0, 0.0, 300),
        (299, 0.5, 450),
        (300, 0.999_999, 599),
        (600, 0.0, 600),
        (600, 0.25, 750),
    ] {
        let mut reflector = Reflector::<O>::new(ReflectorOptions {
            min_watch_timeout: Duration::from_secs(min),
            jitter: Box::new(Fixed(unit)),
            ..streaming()
        });
        reflector.waited(NOW, &mut ());
        let Need::Watch(request) = reflector.need() else {
            panic!("{:?}", reflector.need());
        };
        assert_eq!(request.timeout.as_secs(), seconds, "{min} {unit}");
    }
}

#[test]
fn the_class_of_an_error_is_that_of_its_reason_or_else_its_code() {
    let none: [&str; 0] = [];
    for (code, reason, message, causes, expected) in [
        (410, "Expired", "", &none[..], Kind::Expired),
        (410, "Gone", "", &none, Kind::Gone),
        (410, "", "", &none, Kind::Gone),
        (410, "Conflict", "", &none, Kind::Other),
        (429, "", "", &none, Kind::TooManyRequests),
        (429, "Conflict", "", &none, Kind::TooManyRequests),
        (500, "", "", &none, Kind::InternalError),
        (500, "InternalError", "", &none, Kind::InternalError),
        (500, "ServerTimeout", "", &none, Kind::Other),
        (504, "Timeout", "", &none, Kind::Timeout),
        (
            504,
            "Timeout",
            "",
            &["ResourceVersionTooLarge"],
            Kind::TooLarge,
        ),
        (
            504,
            "Timeout",
            "",
            &["Too large resource version"],
            Kind::TooLarge,
        ),
        (
            504,
            "",
            "Too large resource version: 9, current: 5",
            &none,
            Kind::TooLarge,
        ),
        (
            500,
            "",
            "Too large resource version",
            &none,
            Kind::InternalError,
        ),
        (403, "Forbidden", "", &none, Kind::Forbidden),
        (422, "Invalid", "", &none, Kind::Invalid),
        (401, "", "", &none, Kind::Unauthorized),
        (404, "NotFound", "", &none, Kind::NotFound),
        (418, "Teapot", "", &none, Kind::Other),
    ] {
        let error = ApiError::from_status(code, reason, message, causes.iter().copied());
        assert_eq!(error.kind, expected, "{code} {reason} {message} {causes:?}");
        assert_eq!((error.code, &*error.reason), (code, reason));
    }
    for kind in [
        Kind::Expired,
        Kind::Gone,
        Kind::InternalError,
        Kind::Invalid,
    ] {
        let error = ApiError::new(kind, "m");
        let again = ApiError::from_status(error.code, &error.reason, "m", []);
        assert_eq!(again, error);
    }
}

#[test]
fn pauses_double_up_to_the_cap_and_begin_anew() {
    let pauses = |since, gap: u64, count: usize| -> Vec<u128> {
        let mut manager = BackoffManager::new(Backoff::default(), since, NOW);
        let mut now = NOW;
        let mut pause = || {
            let pause = manager.step(now, 0.0);
            now += pause + Duration::from_secs(gap);
            pause.as_millis()
        };
        (0..count).map(|_| pause()).collect()
    };
    let grown = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
    assert_eq!(pauses(ResetSince::LastBackoff, 0, 8), grown);
    // Up to 0.35 a server that is away for long is left alone; since then all starts over.
    let long = pauses(ResetSince::LastBackoff, 0, 50);
    assert!(long[6..].iter().all(|pause| *pause == 30_000));
    let anew = pauses(ResetSince::LastReset, 0, 10);
    assert_eq!(
        anew,
        [
            800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000, 800
        ]
    );
    for since in [ResetSince::LastBackoff, ResetSince::LastReset] {
        let gap = BACKOFF_RESET.as_secs() + 1;
        assert_eq!(pauses(since, gap, 5), [800; 5], "{since:?}");
    }
    let mut constant = BackoffManager::new(
        Backoff {
            duration: Duration::from_secs(1),
            factor: 0.0,
            jitter: 0.5,
            steps: 5,
            cap: Duration::ZERO,
        },
        ResetSince::LastReset,
        NOW,
    );
    assert_eq!(constant.step(NOW, 0.0), Duration::from_secs(1));
    assert_eq!(constant.step(NOW, 0.5), Duration::from_millis(1250));
    // Steps end the growth, too.
    let mut two = BackoffManager::new(
        Backoff {
            steps: 2,
            ..Backoff::default()
        },
        ResetSince::LastReset,
        NOW,
    );
    let steps: Vec<_> = (0..4).map(|_| two.step(NOW, 0.0).as_millis()).collect();
    assert_eq!(steps, [800, 1600, 3200, 3200]);
    assert_eq!(NoJitter.boxed_clone().unit(), 0.0);
}

#[test]
fn a_server_that_stays_away_is_asked_more_often_since_0_36() {
    for (release, again) in [(Release::V0_35, 30_000), (Release::V0_36, 800)] {
        let mut talk = Talk::new(ReflectorOptions {
            release,
            ..options()
        });
        talk.say(&Start);
        for _ in 0..10 {
            talk.say(&ListError(Kind::ConnectionRefused));
        }
        let pauses: Vec<_> = talk
            .facts
            .iter()
            .filter_map(|(_, fact)| match fact {
                Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some(*ms),
                _ => None,
            })
            .collect();
        assert_eq!(pauses[..7], [800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
        assert_eq!(pauses[9], again, "{release:?}");
    }
}

fn any_say() -> impl Strategy<Value = Say> {
    let kind = || {
        prop::sample::select(vec![
            Kind::Expired,
            Kind::Gone,
            Kind::TooLarge,
            Kind::TooManyRequests,
            Kind::ConnectionRefused,
            Kind::InternalError,
            Kind::Timeout,
            Kind::Other,
        ])
    };
    let key = || prop::sample::select(vec!["a", "b", "odd"]);
    let rv = || prop::sample::select(vec!["", "0", "5", "7"]);
    prop_oneof![
        3 => (rv(), prop::sample::select(vec!["", "", "c"])).prop_map(|(rv, c)| Page(rv, &["a"], c)),
        1 => rv().prop_map(TablePage),
        1 => kind().prop_map(ListError),
        4 => Just(Open),
        1 => kind().prop_map(OpenError),
        2 => (key(), rv()).prop_map(|(key, rv)| Added(key, rv)),
        1 => (key(), rv()).prop_map(|(key, rv)| Modified(key, rv)),
        1 => (key(), rv()).prop_map(|(key, rv)| Deleted(key, rv)),
        1 => rv().prop_map(Bookmark),
        2 => rv().prop_map(End),
        1 => Just(Opaque),
        1 => kind().prop_map(Say::Error),
        1 => Just(Close),
        1 => (0..200_u64).prop_map(Pass),
        1 => prop::sample::select(vec!["none", "Replace", "Add Bookmark"]).prop_map(Refuse),
    ]
}

proptest! {
    /// Each pause lies between its base and twice that, whatever the clock does between.
    #[test]
    fn a_pause_is_once_to_twice_its_base(
        steps in prop::collection::vec((0.0..1.0_f64, 0..200_000_u64), 1..40),
        last in any::<bool>(),
    ) {
        let since = if last { ResetSince::LastBackoff } else { ResetSince::LastReset };
        let mut manager = BackoffManager::new(Backoff::default(), since, NOW);
        let (mut now, mut start, mut base) = (NOW, NOW, 800.0_f64);
        for (unit, wait) in steps {
            now += Duration::from_millis(wait);
            if now - start > BACKOFF_RESET {
                base = 800.0;
                start = now;
            } else if last {
                start = now;
            }
            let pause = manager.step(now, unit).as_secs_f64() * 1000.0;
            prop_assert!(pause >= base - 1e-3 && pause < 2.0 * base + 1e-3, "{pause} {base}");
            prop_assert!((pause - base * (1.0 + unit)).abs() < 1e-3);
            prop_assert!(pause < 60_000.0);
            base = (base * 2.0).min(30_000.0);
        }
    }

    /// Whatever is said, in whatever order: no panic, answers to other questions change nothing,
    /// and a copy goes the same way.
    #[test]
    fn it_takes_anything(
        says in prop::collection::vec(any_say(), 1..60),
        watch_list in any::<bool>(),
        old in any::<bool>(),
        copy_at in 0..60_usize,
    ) {
        let options = ReflectorOptions {
            watch_list,
            bookmark_store: !old,
            update_resource_version_store: true,
            max_internal_error_retry: Duration::from_secs(30),
            release: if old { Release::V0_32 } else { Release::V0_36 },
            expected_type: Some(Arc::new(|o: &O| match o.name() {
                "odd" => Err("odd".to_owned()),
                _ => Ok(()),
            })),
            ..options()
        };
        let mut talk = Talk::new(options);
        talk.say(&Start);
        let mut copy = None;
        for (position, say) in says.iter().enumerate() {
            if position == copy_at {
                copy = Some(talk.clone());
            }
            let before = (format!("{:?}", talk.reflector.need()), talk.facts.len());
            let fits = match (talk.reflector.need(), say) {
                (Need::List(_), Page(..) | TablePage(_) | ListError(_)) => true,
                (Need::Watch(_), Open | OpenError(_)) => true,
                (Need::List(_) | Need::Watch(_), _) => false,
                (_, Page(..) | TablePage(_) | ListError(_) | Open | OpenError(_)) => false,
                _ => true,
            };
            let said = talk.say(say);
            if !fits {
                let after = (format!("{:?}", talk.reflector.need()), talk.facts.len());
                prop_assert_eq!(before, after);
            }
            if let Some(copy) = &mut copy {
                prop_assert_eq!(copy.say(say), said);
                prop_assert_eq!(&copy.facts, &talk.facts);
            }
            let expected = match talk.reflector.need() {
                Need::List(_) => ReflectorState::List,
                Need::Watch(request) if request.send_initial_events.is_some() => {
                    ReflectorState::Stream
                }
                Need::Watch(_) => ReflectorState::Watch,
                _ => talk.reflector.state(),
            };
            prop_assert_eq!(talk.reflector.state(), expected);
            prop_assert_eq!(
                talk.reflector.is_watching(),
                matches!(talk.reflector.need(), Need::Event)
            );
        }
    }
}

/// The blocking driver in its simplest form: one thread, a server of a few answers.
#[test]
fn a_lister_watcher_of_two_functions_can_drive_it() {
    struct Few(std::vec::IntoIter<WatchItem<O>>);
    impl Watcher<O> for Few {
        fn next(&mut self) -> WatchItem<O> {
            self.0.next().unwrap_or(WatchItem::Closed)
        }
        fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
            Box::new(|| {})
        }
    }
    let server = ListWatch {
        list_func: |request: &ListRequest| {
            Ok(ListPage {
                resource_version: "10".into(),
                items: vec![pod(&request.resource_version, "10")],
                continue_token: "".into(),
                table: None,
            })
        },
        watch_func: |request: &WatchRequest| match &*request.resource_version {
            "10" => Ok(Few(vec![WatchItem::Event(
                EventType::Added,
                pod("b", "11"),
            )]
            .into_iter())),
            _ => Err(ApiError::new(Kind::Forbidden, "no")),
        },
        watch_list_semantics_unsupported: true,
    };
    let mut reflector = Reflector::new(ReflectorOptions {
        watch_list: !server.is_watch_list_semantics_unsupported(),
        ..options()
    });
    let (mut watch, mut calls) = (None, Vec::new());
    let error = loop {
        match reflector.need().clone() {
            Need::Wait(_) => match reflector.take_watch_error() {
                None => reflector.waited(NOW, &mut ()),
                Some(error) => break error,
            },
            Need::List(request) => reflector.listed(NOW, server.list(&request), &mut ()),
            Need::Watch(request) => {
                let answer = server.watch(&request).map(|opened| watch = Some(opened));
                reflector.watched(NOW, answer, &mut ());
            }
            Need::Event => {
                let item = watch.as_mut().map_or(WatchItem::Closed, Watcher::next);
                reflector.received(NOW, item, &mut ());
            }
            Need::Store(call) => {
                calls.push(written(&call).1);
                reflector.take_store_call();
                reflector.stored(NOW, Ok(()), &mut ());
            }
            Need::Stored | Need::Stopped => panic!("{calls:?}"),
        }
    };
    assert_eq!(calls, [r#"Replace "10" 0@10"#, "Add b@11"]);
    assert_eq!(error.to_string(), "no");
    assert_eq!(&**reflector.last_sync_resource_version(), "11");
}

#[test]
fn an_event_that_is_none_is_taken_for_what_it_says() {
    let mut talk = plays(
        "open",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
        ],
    );
    let bookmark = WatchItem::Event(EventType::Bookmark, Item::object(object("", "12", None)));
    talk.reflector.received(talk.now, bookmark, &mut talk.facts);
    assert_eq!(&**talk.reflector.last_sync_resource_version(), "12");
    let error = WatchItem::Event(EventType::Error, pod("a", "13"));
    talk.reflector.received(talk.now, error, &mut talk.facts);
    assert_eq!(talk.say(&Start), r#"pause; LIST "12"/0"#);
}
