//! Single sentences, word by word.

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Cause, EventType, Fact, FactId, FactRecord, HandlersFact, Known, LockName, Printer,
    QueueFact, ReflectorFact, RunFact, ServerFact,
};
use deltascope_cache::key::Key;
use deltascope_replay::picture::{Picture, SourceKind};

use super::{object, record};
use crate::caption::spans::{Span, plain};
use crate::caption::{before_start, words};
use deltascope_world::text::Lang;

#[test]
fn the_reason_why_a_source_ends_is_translated() {
    use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
    use deltascope_world::source::program::Program;
    use deltascope_world::source::recorded::RecordedServer;
    use deltascope_world::source::wire::Recorded;
    use deltascope_world::{Refused, Source};

    let mut ends = Vec::new();
    let mut recording = RecordedServer::new(Recorded::default());
    let mut program = Program::default();
    let (list, watch) = (ListRequest::default(), WatchRequest::default());
    ends.push(recording.list(0, &list, &mut ()).map(|_| ()));
    ends.push(recording.watch(0, &watch, &mut ()));
    ends.push(program.list(0, &list, &mut ()).map(|_| ()));
    ends.push(program.watch(0, &watch, &mut ()));
    for end in ends {
        let Err(Refused::Over(reason)) = end else {
            panic!("{end:?} does not end the source");
        };
        for fact in [
            Fact::Reflector(ReflectorFact::ReflectorStopped {
                reason: reason.clone(),
            }),
            Fact::Server(ServerFact::ListRefused {
                code: 0,
                reason: reason.clone(),
            }),
        ] {
            let stopped = record(0, Actor::Reflector, Cause::Start, fact);
            let said = |lang| plain(&words(&stopped, &[], &Picture::default(), lang).what);
            assert!(said(Lang::En).contains(reason.as_str()));
            assert!(!said(Lang::Zh).contains("the "), "{}", said(Lang::Zh));
            assert!(!said(Lang::Zh).contains('0') && !said(Lang::En).contains('0'));
        }
    }
}

#[test]
fn a_recording_without_a_list_begins_in_mid_watch() {
    let mut picture = Picture::default();
    picture.api.source = SourceKind::Recorded;
    let start = plain(&before_start(&picture, Lang::En).why);
    assert!(start.contains("middle of a watch"), "{start}");
    assert!(!start.contains("starts with a list"), "{start}");
    let accepted = record(
        0,
        Actor::Server,
        Cause::Start,
        Fact::Server(ServerFact::WatchAccepted { rv: "".into() }),
    );
    let said = words(&accepted, &[], &picture, Lang::En);
    assert_eq!(
        plain(&said.what),
        "The recording begins in the middle of a watch."
    );
    picture.api.known_from_events = true;
    let start = plain(&before_start(&picture, Lang::En).why);
    assert!(start.contains("starts with a list"), "{start}");
}

#[test]
fn a_watch_from_any_version_sends_all_objects_first() {
    for rv in ["", "0"] {
        for fact in [
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv: rv.into(),
                initial_events: false,
            }),
            Fact::Server(ServerFact::WatchAccepted { rv: rv.into() }),
        ] {
            let asked = record(0, Actor::Reflector, Cause::Start, fact);
            let said = words(&asked, &[], &Picture::default(), Lang::En);
            let said = format!("{} {}", plain(&said.what), plain(&said.why));
            assert!(said.contains("first"), "{said}");
            for wrong in ["nothing comes twice", "every change after"] {
                assert!(!said.contains(wrong), "{said}");
            }
        }
    }
}

#[test]
fn a_watch_is_called_very_short_if_it_was_that_and_brought_nothing() {
    let open = || Fact::Server(ServerFact::WatchAccepted { rv: "4".into() });
    let event = || {
        Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Added,
            object: object("a/b", "5"),
            ends_list: false,
        })
    };
    let end = |relist, code| Fact::Reflector(ReflectorFact::WatchEnded { relist, code });
    let fact_at = |(time, fact)| FactRecord {
        time,
        ..record(0, Actor::Reflector, Cause::Start, fact)
    };
    for (facts, is_short) in [
        (vec![(100, open()), (1_099, end(true, 0))], true),
        (vec![(100, open()), (1_100, end(true, 0))], false),
        (vec![(100, open()), (200, end(true, 410))], false),
        (vec![(100, open()), (1_100, end(false, 0))], false),
        (
            vec![(100, open()), (150, event()), (200, end(true, 0))],
            false,
        ),
        // An event of the watch before.
        (vec![(0, event()), (100, open()), (200, end(true, 0))], true),
        (vec![(200, end(true, 0))], false),
    ] {
        let facts: Vec<_> = facts.into_iter().map(fact_at).collect();
        let last = facts.last().unwrap();
        for lang in [Lang::En, Lang::Zh] {
            let said = words(last, &facts, &Picture::default(), lang);
            let said = plain(&said.why).contains("“very short watch”");
            assert_eq!(said, is_short, "{facts:?}");
        }
    }
}

#[test]
fn a_bookmark_as_a_cause_has_no_name() {
    let recent = [
        record(
            0,
            Actor::Reflector,
            Cause::Start,
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Bookmark,
                object: object("", "9"),
                ends_list: false,
            }),
        ),
        record(
            1,
            Actor::Reflector,
            Cause::Fact(FactId(0)),
            Fact::Reflector(ReflectorFact::LastSyncMoved {
                from: "4".into(),
                to: "9".into(),
            }),
        ),
    ];
    let said = words(&recent[1], &recent, &Picture::default(), Lang::En);
    assert!(plain(&said.why).starts_with("Cause: BOOKMARK was received. "));
}

#[test]
fn the_switch_of_known_objects_states_what_delete_checks() {
    let said_of = |on, picture: &Picture| {
        let set = record(
            0,
            Actor::ProcessLoop,
            Cause::Start,
            Fact::Run(RunFact::KnownObjectsSet { on }),
        );
        let said = words(&set, &[], picture, Lang::En);
        format!("{} {}", plain(&said.what), plain(&said.why))
    };
    let mut picture = Picture::default();
    picture.store.present = true;
    let on = said_of(true, &picture);
    assert!(on.contains("keeps an Indexer from here on") && on.contains("empty now"));
    picture
        .store
        .items
        .insert(Key::from("a/b"), object("a/b", "1"));
    assert!(!said_of(true, &picture).contains("empty"));
    assert!(said_of(false, &picture).contains("Delete looks only at what is in the DeltaFIFO"));
}

#[test]
fn a_kept_delete_states_why_it_was_kept() {
    let key = Key::from("default/web-1");
    let recent = [
        record(
            0,
            Actor::Reflector,
            Cause::Start,
            Fact::Queue(QueueFact::DeleteChecked {
                key,
                known: Some(Known::Yes("2".into())),
                pending: false,
            }),
        ),
        record(
            1,
            Actor::Reflector,
            Cause::Fact(FactId(0)),
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type: DeltaType::Deleted,
                object: object("default/web-1", "12"),
                depth: 1,
            }),
        ),
    ];
    let said = words(&recent[1], &recent, &Picture::default(), Lang::En);
    assert!(plain(&said.why).starts_with("known = yes (rv 2), pending = no → kept."));
    assert_eq!(said.what[0], Span::Name("web-1".into()));
    assert!(
        said.what
            .contains(&Span::Delta(DeltaType::Deleted, "Deleted".into()))
    );
    assert_eq!(
        said.why[0],
        Span::Code("known = yes (rv 2), pending = no → kept".into())
    );
}

#[test]
fn the_cause_is_looked_up_by_its_fact_id() {
    let recent = [
        record(
            7,
            Actor::Reflector,
            Cause::Start,
            Fact::Reflector(ReflectorFact::EventReceived {
                event: EventType::Modified,
                object: object("default/web-0", "9"),
                ends_list: false,
            }),
        ),
        record(
            8,
            Actor::Reflector,
            Cause::Fact(FactId(7)),
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type: DeltaType::Updated,
                object: object("default/web-0", "9"),
                depth: 2,
            }),
        ),
    ];
    let with = words(&recent[1], &recent, &Picture::default(), Lang::En);
    assert!(plain(&with.why).starts_with("Cause: MODIFIED web-0 was received. "));
    // A cause that is not among the recent facts is left out.
    let without = words(&recent[1], &recent[1..], &Picture::default(), Lang::En);
    assert!(!plain(&without.why).contains("Cause"));
}

#[test]
fn a_dropped_delete_shows_the_condition_that_was_checked() {
    let key = Key::from("default/pod1");
    let recent = [
        record(
            0,
            Actor::Program,
            Cause::Start,
            Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known: None,
                pending: false,
            }),
        ),
        record(
            1,
            Actor::Program,
            Cause::Start,
            Fact::Queue(QueueFact::DeleteIgnored { key: key.clone() }),
        ),
    ];
    let mut picture = Picture::default();
    let dropped = words(&recent[1], &recent, &picture, Lang::En);
    assert!(
        plain(&dropped.why)
            .starts_with("known = (off), pending = no → dropped. Without KnownObjects")
    );
    picture.store.items.insert(key, object("default/pod1", "3"));
    let stale = words(&recent[1], &recent, &picture, Lang::En);
    assert!(plain(&stale.why).contains("The Indexer still holds pod1"));
}

#[test]
fn the_breakpoint_that_stopped_playing_comes_first() {
    let stopped = |lang| {
        let said = before_start(&Picture::default(), lang);
        plain(&said.stopped_by("fact=KeyPopped", lang).why)
    };
    assert_eq!(
        stopped(Lang::En),
        "Stopped at the breakpoint fact=KeyPopped. Step on: the Reflector starts with a list."
    );
    assert!(stopped(Lang::Zh).starts_with("停在断点 fact=KeyPopped。向前一步"));
}

#[test]
fn a_line_names_who_printed_it() {
    let said = |by| {
        let line = "a".into();
        let fact = Fact::Handlers(HandlersFact::LinePrinted { by, line });
        let record = record(0, Actor::Program, Cause::Start, fact);
        plain(&words(&record, &[], &Picture::default(), Lang::En).what)
    };
    assert_eq!(said(Printer::Program), "The program printed: a");
    assert_eq!(said(Printer::Beside(0)), "Informer 2 printed: a");
}

#[test]
fn an_argument_is_never_markup() {
    let odd = record(
        0,
        Actor::Program,
        Cause::Start,
        Fact::Handlers(HandlersFact::LinePrinted {
            by: Printer::Program,
            line: "{line} `x` [Added]".into(),
        }),
    );
    let said = words(&odd, &[], &Picture::default(), Lang::En);
    assert_eq!(plain(&said.what), "The program printed: {line} `x` [Added]");
}

#[test]
fn chinese_is_spaced_as_chinese() {
    let mut picture = Picture::default();
    picture.lock.waiting = vec![Actor::ProcessLoop];
    let taken = record(
        0,
        Actor::ProcessLoop,
        Cause::Start,
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }),
    );
    let said = words(&taken, &[], &picture, Lang::Zh);
    assert_eq!(plain(&said.what), "处理循环拿到了 DeltaFIFO 的锁。");
    assert_eq!(plain(&said.why), "处理循环还在等这把锁。");
}

#[test]
fn a_skipped_key_states_why() {
    let key = || Key::from("default/x");
    for (fact, en, zh) in [
        (
            Fact::Queue(QueueFact::ResyncSkipped { key: key() }),
            "`x is queued = yes → skip`: a [Sync] with the stored object would come after newer changes and take it back in time.",
            "`x 已在队列 = 是 → 跳过`：带着旧对象的 [Sync] 会排在更新的变更之后，让它倒退。",
        ),
        (
            Fact::Queue(QueueFact::AlreadyPresent { key: key() }),
            "`x is queued = yes → return`: what was popped before is dropped, not put in front.",
            "`x 已在队列 = 是 → return`：之前 Pop 出来的被丢弃，不会插到前面。",
        ),
    ] {
        let record = record(0, Actor::Resync, Cause::Start, fact);
        for (lang, expected) in [(Lang::En, en), (Lang::Zh, zh)] {
            let words = words(&record, &[], &Picture::default(), lang);
            let expected = expected.replace(['`', '[', ']'], "");
            assert_eq!(plain(&words.why), expected);
        }
    }
}
