//! A whole run of a reflector: its resyncs, its stops, its facts, arbitrary inputs, and a driver.

use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::error::Error;
use deltascope::cache::fact::{EventType, Fact, ReflectorFact};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind as Kind, ListPage, ListRequest, ListWatch, ListerWatcher, WatchItem,
    WatchRequest, Watcher,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{Need, Reflector, ReflectorOptions, ReflectorState};
use deltascope::cache::step::Step;
use kube_core::DynamicObject as O;
use proptest::prelude::*;

use super::Say::{
    Added, Bookmark, Close, Deleted, End, ListError, Modified, Opaque, Open, OpenError, Page, Pass,
    Refuse, Resync, Start, Stop, TablePage,
};
use super::{NOW, Say, Talk, options, plays, streaming, written};
use crate::cache::{object, pod};

#[test]
fn the_resync_timer_runs_from_list_to_the_end_of_the_round() {
    let options = || ReflectorOptions {
        resync_period: Duration::from_secs(30),
        ..options()
    };
    let mut talk = plays(
        "without errors",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            // Also while no watch is open.
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

    // The round ends before the store has finished the resync.
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
        "a resync that fails ends the watch without calling the handler",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Resync(true, Err(())), r#"Resync; pause; LIST "10"/0"#),
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
            // Ends the next watch, because none is open at that time.
            (Resync(true, Err(())), r#"Resync; WATCH "20""#),
            (OpenError(Kind::TooManyRequests), r#"pause; WATCH "20""#),
            (Open, r#"pause; LIST "20"/0"#),
        ],
    );
}

#[test]
fn it_stops_in_any_state() {
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
    /// With any inputs in any order: no panic, answers to other needs change nothing, and a copy
    /// behaves the same.
    #[test]
    fn it_accepts_any_input(
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

/// The blocking driver in its simplest form: one thread, and a server with a few answers.
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
fn a_bookmark_or_error_as_an_event_is_recognized() {
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
