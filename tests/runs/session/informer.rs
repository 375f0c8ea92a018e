//! The informer on the page: its handlers, its faults, and a place on the page for each of its facts.

use std::collections::BTreeSet;

use deltascope::cache::fact::{
    Actor, Fact, FactRecord, LockName, QueueFact, ReflectorFact, ServerFact,
};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::presentation::caption;
use deltascope::presentation::command::{Command, FAULTS, Fault};
use deltascope::presentation::rows;
use deltascope::presentation::session::{Change, typed};
use deltascope::presentation::strings;
use deltascope::replay::lessons;
use deltascope::replay::picture::{Answer, RequestKind};
use deltascope::replay::timeline::Timeline;
use deltascope::world::text::Lang;
use deltascope::world::virtual_time::Input;
use serde_json::{Value, json};

use super::{end, informer, now, open};

#[test]
fn clicks_show_refused_writes_slow_processing_and_known_objects() {
    let mut shown = BTreeSet::new();
    let mut note = |timeline: &Timeline| {
        shown.extend(timeline.all_facts().iter().map(|record| record.fact.name()));
    };
    use deltascope::world::source::Command as Server;
    use deltascope::world::source::pod::{PodSpec, Write};
    use deltascope::world::virtual_time::Input;
    let pod = || PodSpec {
        name: "p".into(),
        ..PodSpec::default()
    };
    let write = |write| Input::Source(Server::Write(write));
    let create = || write(Write::Create(pod().into_object()));
    let mut timeline = Timeline::new(lessons::load("indexer").unwrap().scenario).unwrap();
    for input in [
        create(),
        create(),
        Input::KnownObjects(false),
        Input::KnownObjects(true),
    ] {
        timeline.insert(timeline.len(), input);
    }
    note(&timeline);
    // Many keys behind a slow process function.
    let mut slow = lessons::load("indexer").unwrap().scenario;
    slow.settings.process_ms = 150;
    slow.initial = (0..13)
        .map(|n| PodSpec::of(&format!("p{n}")).into_object().into())
        .collect();
    note(&Timeline::new(slow).unwrap());

    let names = ["KnownObjectsSet", "ProcessWasSlow", "WriteRefused"];
    for name in names {
        assert!(shown.contains(name), "{name}");
    }
}

#[test]
fn a_late_handler_receives_the_stored_objects_and_a_removed_one_nothing_more() {
    let mut session = informer();
    end(&mut session);
    assert!(matches!(session.obey(Command::AddHandler), Change::Forward));
    let state = end(&mut session);
    let late = &state["handlers"][1];
    assert_eq!(late["notifications"].as_array().unwrap().len(), 3, "{late}");
    assert_eq!(late["notifications"][0][0], "add");
    assert!(state["output"].to_string().contains("OnAdd:late-2 a"));
    assert!(session.picture().handlers[1].synced);

    session.obey(Command::RemoveHandler(0));
    let before = end(&mut session)["handlers"][0]["notifications"].clone();
    assert!(session.picture().handlers[0].removed);
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "namespace": "shop", "name": "d" } }),
    ));
    let state = end(&mut session);
    assert_eq!(state["handlers"][0]["notifications"], before);
    assert_eq!(
        state["handlers"][1]["notifications"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn a_handler_is_removed_once_even_if_requested_twice() {
    let mut session = informer();
    end(&mut session);
    session.obey(Command::RemoveHandler(0));
    assert!(session.picture().handlers[0].leaving);
    session.obey(Command::RemoveHandler(0));
    assert_ne!(now(&mut session)["error"], Value::Null);
    session.obey(Command::Step(1));
    assert_eq!(now(&mut session)["error"], Value::Null, "it has been read");
    end(&mut session);
    let picture = session.picture();
    assert!(picture.handlers[0].removed && !picture.handlers[0].leaving);

    // The world, too, ignores the second request silently.
    let lesson = lessons::load("sharedinformer-listwatch").unwrap();
    let mut timeline = Timeline::new(lesson.scenario).unwrap();
    timeline.extend(usize::MAX);
    let at = timeline.len();
    let asked = timeline.insert(at, Input::RemoveHandler(0));
    timeline.insert(asked, Input::RemoveHandler(0));
    timeline.extend(usize::MAX);
    let locked = |record: &&FactRecord| {
        matches!(
            record.fact,
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::BlockDeltas,
                by: Actor::Main
            })
        )
    };
    let after = timeline.facts(at..timeline.len());
    assert_eq!(after.iter().filter(locked).count(), 1);
}

#[test]
fn an_armed_fault_is_shown_and_can_be_disarmed() {
    for taken_back in [false, true] {
        let mut session = informer();
        end(&mut session);
        session.obey(Command::Fault(Fault::List(ApiErrorKind::Forbidden)));
        let armed = rows::api::rows(&session.view(), 9, 9).armed;
        let words = strings::armed(Lang::En, armed.first().unwrap());
        assert_eq!(words, "next LIST answers 403 Forbidden");
        assert!(matches!(
            session.current().unwrap().fact,
            Fact::Server(ServerFact::RefusalsAsked { .. })
        ));
        if taken_back {
            let armed = armed.first().unwrap();
            session.obey(Command::Disarm(armed.request, armed.kind));
            assert!(session.picture().api.refusals.is_empty());
        }
        session.obey(Command::Compact);
        end(&mut session);
        let picture = session.picture();
        let failed =
            picture.reflector.requests.iter().any(|line| {
                line.kind == RequestKind::List && matches!(line.answer, Answer::Failed(_))
            });
        assert_eq!(failed, !taken_back);
    }
}

#[test]
fn a_streaming_list_shows_its_parameters_and_the_bookmark_that_ends_it() {
    let mut session = open("sharedinformer-listwatch");
    session.obey(typed::generation("1.36"));
    session.obey(Command::Seek(0));
    let mut ends = Vec::new();
    while session.obey(Command::Step(1)) == Change::Forward {
        let view = session.view();
        let record = session.current().unwrap();
        if let Fact::Server(ServerFact::EventSent { ends_list, .. })
        | Fact::Reflector(ReflectorFact::EventReceived { ends_list, .. }) = record.fact
        {
            let words = caption::words(&record, &view.recent, &view.picture, Lang::En);
            let what = caption::plain(&words.what);
            assert_eq!(what.contains("ends the initial list"), ends_list, "{what}");
            ends.extend(ends_list.then_some(record.fact.name()));
            assert_eq!(
                rows::api::rows(&view, 9, 9).watch.unwrap(),
                "watch=true & sendInitialEvents=true & resourceVersionMatch=NotOlderThan \
                 & allowWatchBookmarks=true"
            );
        }
    }
    assert_eq!(ends, ["EventSent", "EventReceived"]);
}

#[test]
fn the_reflector_recovers_from_every_fault() {
    for fault in FAULTS {
        let mut session = informer();
        end(&mut session);
        session.obey(Command::Fault(fault));
        // A list request must follow to fail.
        if matches!(fault, Fault::List(_)) {
            session.obey(Command::Compact);
        }
        let state = end(&mut session);
        assert_eq!(state["error"], Value::Null, "{fault:?}");
        assert_eq!(state["reflector"]["state"], "watch", "{fault:?}");
        let picture = session.picture();
        let failed =
            picture.reflector.requests.iter().any(|line| {
                line.kind == RequestKind::List && matches!(line.answer, Answer::Failed(_))
            });
        let asked = matches!(fault, Fault::List(_));
        assert_eq!(failed, asked, "{fault:?}");
        let ended = |code| {
            let mut requests = picture.reflector.requests.iter();
            requests.any(|line| line.answer == Answer::Ended(code))
        };
        match fault {
            Fault::Event(code) => assert!(ended(code), "{:?}", picture.reflector.requests),
            Fault::Close => assert!(ended(0), "{:?}", picture.reflector.requests),
            _ => {}
        }
        assert!(picture.api.refusals.is_empty(), "{fault:?} has come");
    }
    let mut session = informer();
    session.obey(Command::Fault(Fault::Close));
    assert_ne!(
        now(&mut session)["error"],
        Value::Null,
        "no watch is open yet"
    );
}
