//! The reflector: conversations with a server that the recorded scenarios do not cover.

mod lists;
mod pauses;
mod run;
mod streaming;
mod watches;

use std::fmt::Write as _;
use std::time::Duration;

use deltascope::cache::error::Error;
use deltascope::cache::fact::{EventType, Fact, ReflectorFact};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind as Kind, ListPage, ResourceVersionMatch, Table, WatchItem,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::reflector::{
    MIN_WATCH_TIMEOUT, Need, Reflector, ReflectorOptions, ReflectorState, StoreCall,
};
use deltascope::cache::step::Step;
use kube_core::DynamicObject as O;

use super::pod;

const NOW: Duration = Duration::from_secs(1000);

/// An input of the reflector.
#[derive(Clone, Debug)]
enum Say {
    Start,
    /// A page: version, objects, continue token.
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
    /// This many seconds pass; records when the reflector reports that the end of a streaming list
    /// is late.
    Pass(u64),
    /// The resync timer fires: whether a resync is needed, and its outcome.
    Resync(bool, Result<(), ()>),
    /// From now on the store refuses these calls.
    Refuse(&'static str),
    Stop,
}

/// Gives the reflector an input and records its actions until it needs another one. Pauses elapse,
/// and the store carries out calls.
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
                "an open watch that is not read"
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
                        assert_eq!(&*rv, "", "a version together with a token");
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

/// Plays a conversation. Each line has an input and the expected actions.
fn plays(name: &str, options: ReflectorOptions<O>, lines: &[(Say, &str)]) -> Talk {
    let mut talk = Talk::new(options);
    for (position, (say, expected)) in lines.iter().enumerate() {
        assert_eq!(talk.say(say), *expected, "{name}, line {position}: {say:?}");
    }
    talk
}
