//! What a visitor's commands come to, without a browser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::rc::Rc;

use deltascope::cache::controller::Generation;
use deltascope::cache::delta::DeltaType;
use deltascope::cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, LockName, ProcessMode, QueueFact, ReflectorFact,
    ServerFact,
};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::selector::Selector;
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::caption;
use deltascope::presentation::command::{Command, Draft, FAULTS, Fault};
use deltascope::presentation::i18n::Lang;
use deltascope::presentation::options::Options;
use deltascope::presentation::rows;
use deltascope::presentation::session::walk::Said;
use deltascope::presentation::session::why::Link;
use deltascope::presentation::session::{Change, Session};
use deltascope::presentation::state::state;
use deltascope::presentation::strings;
use deltascope::presentation::view::View;
use deltascope::replay::edit::as_set;
use deltascope::replay::lessons;
use deltascope::replay::picture::{Answer, RequestKind};
use deltascope::replay::step_size::StepSize;
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::scenario::{Act, Scenario};
use deltascope::world::virtual_time::{Era, Input};
use proptest::prelude::*;
use serde_json::{Value, json};

fn open(lesson: &str) -> Session {
    let mut session = Session::new();
    session.obey(Command::Load(lesson.into()));
    session
}

fn now(session: &mut Session) -> Value {
    state(&session.view(), Lang::En)
}

fn end(session: &mut Session) -> Value {
    session.obey(Command::Seek(usize::MAX));
    now(session)
}

#[test]
fn a_lesson_opens_at_its_start_with_every_member_of_the_state() {
    let mut session = open("indexer");
    assert_eq!(
        now(&mut session),
        json!({
            "lesson": "indexer", "era": "1.32", "knownObjects": true, "playing": false,
            "step": 0, "steps": session.view().steps, "time": 0, "wallTime": null,
            "lock": { "holder": null, "waiting": [] },
            "api": { "resourceVersion": "1", "objects": {} },
            "reflector": { "state": "idle", "lastSyncResourceVersion": "" },
            "queue": { "kind": "DeltaFIFO", "keys": [], "deltas": {} },
            "store": { "items": {}, "indices": { "namespace": {}, "app": {}, "node": {} }, "behind": 0 },
            "handlers": [{ "name": "process", "pending": 0, "notifications": [] }],
            "output": [], "error": null,
            "grain": "micro", "breakpoints": [], "selection": null, "following": null,
            "branches": [{ "id": 1, "name": "main", "made": "as it was opened", "depth": 0, "current": true }],
            "violations": [], "comparison": null, "live": null,
        })
    );
}

#[test]
fn the_page_opens_with_deltas_piled_up_and_a_delete_that_is_kept() {
    let mut session = Session::new();
    assert!(matches!(
        &session.current().unwrap().fact,
        Fact::Queue(QueueFact::DeltaAppended {
            delta_type: DeltaType::Deleted,
            depth: 1,
            ..
        })
    ));
    let picture = session.picture();
    let deltas: usize = picture.queue.deltas.values().map(Vec::len).sum();
    assert_eq!(picture.queue.deltas.len(), 3);
    assert!(
        deltas >= 5 && picture.store.items.len() >= 3,
        "{picture:#?}"
    );
    assert!(!session.view().playing);
}

#[test]
fn the_switch_for_known_objects_decides_whether_the_same_delete_is_kept() {
    for (lesson, known, kept) in [
        ("reflector", false, false),
        ("reflector", true, true),
        ("indexer", true, true),
        ("indexer", false, false),
    ] {
        let mut session = open(lesson);
        session.obey(Command::KnownObjects(known));
        let state = end(&mut session);
        let lines = state["output"].as_array().unwrap();
        let deleted = lines.last().unwrap() == "Deleted : nettool : Running";
        assert_eq!(
            (lines.len(), deleted),
            (9 + usize::from(kept), kept),
            "{lesson} {known}"
        );
    }
}

#[test]
fn what_is_written_reaches_the_server_at_once_and_the_store_in_the_end() {
    let mut session = open("indexer");
    end(&mut session);
    let pod =
        json!({ "metadata": { "namespace": "shop", "name": "db-0", "labels": { "app": "db" } } });
    assert!(matches!(
        session.inject("create", pod.clone()),
        Change::Follow(_)
    ));
    let state = now(&mut session);
    assert_eq!(state["api"]["objects"], json!({ "shop/db-0": "12" }));
    assert_eq!(state["store"]["items"], json!({}));
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({ "shop/db-0": "12" }));
    assert_eq!(
        state["store"]["indices"]["app"],
        json!({ "db": ["shop/db-0"] })
    );

    session.inject(
        "update",
        json!({ "metadata": { "namespace": "shop", "name": "db-0" } }),
    );
    assert_eq!(
        end(&mut session)["store"]["indices"]["app"],
        json!({ "": ["shop/db-0"] })
    );
    session.inject("delete", pod);
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({}));
    assert_eq!(state["error"], Value::Null);
}

#[test]
fn what_cannot_be_done_says_so_and_changes_nothing_else() {
    // (lesson, op, object, a part of the message)
    let pod = json!({ "metadata": { "name": "x" } });
    for (lesson, op, object, part) in [
        ("indexer", "update", pod.clone(), "404"),
        ("indexer", "delete", pod.clone(), "404"),
        ("indexer", "create", Value::Null, "object"),
        ("indexer", "create", json!({ "metadata": {} }), "name"),
        (
            "indexer",
            "create",
            json!({ "metadata": { "name": "UPPER_case" } }),
            "name",
        ),
        (
            "indexer",
            "patch",
            pod.clone(),
            "create, update, delete or cut",
        ),
        ("indexer", "cut", Value::Null, "no open watch"),
        ("pod-lifecycle", "create", pod.clone(), "recording"),
    ] {
        let mut session = open(lesson);
        session.inject(op, object);
        let state = now(&mut session);
        let message = state["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{lesson} {op}: {message:?}");
        assert_eq!(state["store"]["items"], json!({}));
        session.obey(Command::DismissError);
        assert_eq!(now(&mut session)["error"], Value::Null);
    }
    for (lesson, part) in [("pod-lifecycle", "has none"), ("indexer", "There are: ")] {
        let mut session = open(lesson);
        session.seek_marker("x");
        let state = now(&mut session);
        let message = state["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    }
    let mut session = open("indexer");
    session.inject("create", pod.clone());
    session.inject("create", pod);
    assert!(
        now(&mut session)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("409")
    );
}

#[test]
fn files_that_cannot_be_read_leave_what_came_before_playable() {
    let event = |name: &str, rv: &str| {
        json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
            "metadata": { "namespace": "a", "name": name, "resourceVersion": rv } } })
        .to_string()
    };
    let text = format!(
        "{}\n{}\nnot json\n{}\n",
        event("p", "1"),
        event("q", "2"),
        event("r", "3")
    );
    let mut session = Session::new();
    session.obey(Command::Open(vec![("bad.json".into(), text.into_bytes())]));
    assert_eq!(now(&mut session)["error"]["line"], 3);
    let state = end(&mut session);
    assert_eq!(state["store"]["items"], json!({ "a/p": "1", "a/q": "2" }));

    // Nothing at all could be read: what was open stays open.
    let mut session = open("deltafifo");
    session.obey(Command::Open(vec![("x".into(), b"\x1f\x8b\x08".to_vec())]));
    let state = now(&mut session);
    assert_eq!(state["lesson"], "deltafifo");
    assert!(state["error"]["message"].as_str().unwrap().contains("gzip"));
}

#[test]
fn a_held_loop_lets_deltas_pile_up_and_pops_one_key_when_asked() {
    let mut session = open("indexer");
    session.obey(Command::Mode(ProcessMode::Held));
    let state = end(&mut session);
    assert_eq!(state["queue"]["keys"], json!(["default/nettool"]));
    assert_eq!(
        state["queue"]["deltas"]["default/nettool"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
    assert_eq!(state["output"], json!([]));
    session.obey(Command::PopOne);
    let state = end(&mut session);
    assert_eq!(state["queue"]["keys"], json!([]));
    assert_eq!(state["output"].as_array().unwrap().len(), 10);

    let mut session = open("indexer");
    session.obey(Command::PopOne);
    assert!(
        now(&mut session)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("held")
    );
}

#[test]
fn a_list_that_is_one_page_says_so() {
    for (token, told) in [("", false), ("abc", true)] {
        let list = json!({ "kind": "PodList", "apiVersion": "v1", "items": [],
            "metadata": { "resourceVersion": "7", "continue": token } });
        let mut session = Session::new();
        let bytes = list.to_string().into_bytes();
        session.obey(Command::Open(vec![("list.json".into(), bytes)]));
        let view = session.view();
        assert!(view.error.is_none());
        let note = &view.lesson.note;
        assert_eq!(note.en.contains("one page of several"), told);
        assert_eq!(note.zh.contains("多页中的一页"), told);
    }
}

#[test]
fn a_watch_that_is_ending_cannot_be_cut_again() {
    let mut session = open("indexer");
    end(&mut session);
    session.inject("cut", Value::Null);
    assert_eq!(now(&mut session)["error"], Value::Null);
    let step = now(&mut session)["step"].clone();
    session.inject("cut", Value::Null);
    let state = now(&mut session);
    assert!(
        state["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no open watch")
    );
    assert_eq!(state["step"], step);
}

#[test]
fn a_history_is_forgotten_only_where_there_is_one() {
    for (lesson, fails) in [
        ("indexer", false),
        ("pod-lifecycle", true),
        ("deltafifo", true),
    ] {
        let mut session = open(lesson);
        session.obey(Command::Compact);
        assert_eq!(now(&mut session)["error"].is_null(), !fails, "{lesson}");
    }
}

#[test]
fn an_edit_keeps_the_labels_that_the_form_does_not_show() {
    let mut session = open("indexer");
    end(&mut session);
    let labels = json!({ "app": "db", "tier": "t-1" });
    session.inject(
        "create",
        json!({ "metadata": { "name": "x", "labels": labels } }),
    );
    let draft = Draft {
        name: "x".into(),
        app: "cache".into(),
        ..Draft::default()
    };
    session.obey(Command::Edit(draft));
    let picture = session.picture();
    let labels = &picture.api.objects.get("x").unwrap().body.labels;
    assert_eq!(labels.get("app").map(String::as_str), Some("cache"));
    assert_eq!(labels.get("tier").map(String::as_str), Some("t-1"));
}

#[test]
fn an_endless_run_goes_on_as_far_as_it_is_looked_at() {
    let mut session = open("sandbox");
    let known = session.view().steps;
    session.obey(Command::Seek(known + 500));
    let view = session.view();
    assert_eq!(view.step, known + 500);
    assert!(view.endless && view.steps > view.step);
}

/// What was set stays, what was done goes; and the switch that did nothing for what was before holds for
/// all of the run.
#[test]
fn starting_over_keeps_what_was_set() {
    use deltascope::replay::edit::Setting;
    let settings = |session: &mut Session| -> Vec<String> {
        let rows = session.view().settings;
        rows.iter().map(|row| row.value.clone()).collect()
    };
    let step = || Command::Step(40);
    for (lesson, commands) in [
        (
            "sandbox",
            vec![Command::Era("1.36".into()), step(), Command::CutWatch],
        ),
        (
            "sandbox",
            vec![Command::Mode(ProcessMode::Held), step(), Command::PopOne],
        ),
        (
            "sandbox",
            vec![
                Command::Mode(ProcessMode::Held),
                Command::Era("1.35".into()),
                Command::Mode(ProcessMode::Paced(250)),
                Command::AddHandler,
            ],
        ),
        (
            "reflector",
            vec![step(), Command::KnownObjects(true), step()],
        ),
        (
            "indexer",
            vec![
                step(),
                Command::KnownObjects(false),
                Command::Mode(ProcessMode::Held),
            ],
        ),
        (
            "sandbox",
            vec![
                Command::Set(Setting::HandlerMs(700)),
                Command::Set(Setting::ResyncMs(5_000)),
                Command::Set(Setting::PageSize(2)),
                Command::Set(Setting::WorkFailures(3)),
                Command::Set(Setting::Traffic(7)),
                Command::Set(Setting::ProcessMs(90)),
                Command::CutWatch,
            ],
        ),
        (
            "tombstone",
            vec![Command::Era("1.34".into()), Command::Seek(0)],
        ),
        ("deltafifo", vec![step()]),
    ] {
        let mut session = open(lesson);
        session.obey(Command::Seek(30));
        session.obey(Command::Speed(400));
        session.obey(Command::StepSize(StepSize::Pop));
        for command in &commands {
            session.obey(command.clone());
            assert_eq!(session.view().error, None, "{command:?}");
        }
        let mut set = settings(&mut session);
        // What is set as it runs is no setting of the scenario yet.
        for taken in session.timeline().inputs() {
            let wanted = match taken.input {
                Input::Mode(mode) => Setting::Mode(mode),
                Input::KnownObjects(on) => Setting::KnownObjects(on),
                _ => continue,
            };
            let rows = session.timeline().scenario();
            let at = Setting::all_of(rows)
                .into_iter()
                .filter(|one| one.fits(rows));
            let is_it =
                |one: &Setting| std::mem::discriminant(one) == std::mem::discriminant(&wanted);
            let at = at.collect::<Vec<_>>().iter().position(is_it).unwrap();
            set[at] = wanted.value();
        }
        let era = session.view().lesson.era.clone();
        session.obey(Command::Reset);
        let view = session.view();
        assert_eq!((view.step, view.speed, &view.lesson.era), (0, 400, &era));
        assert_eq!(view.walking.grain, StepSize::Pop);
        assert_eq!(settings(&mut session), set, "{lesson} {commands:?}");
        assert!(session.timeline().inputs().is_empty());
        let own = lessons::load(lesson).unwrap().scenario;
        let shown = session.timeline().scenario();
        assert_eq!(shown.script.len(), own.script.len());
        assert_eq!(shown.settings.handlers.len(), own.settings.handlers.len());
        // It says so, where anything is otherwise than in the lesson.
        let said = session.view().notice;
        assert_eq!(
            said.is_some(),
            lesson != "deltafifo",
            "{lesson} {commands:?}"
        );
        // Once more there is nothing to leave behind.
        let branches = session.view().branches.len();
        session.obey(Command::Reset);
        assert_eq!(session.view().branches.len(), branches);
        assert_eq!(settings(&mut session), set);
    }
    // "Turn KnownObjects on and run again."
    let mut session = open("reflector");
    let lost = end(&mut session)["output"].clone();
    session.obey(Command::KnownObjects(true));
    assert_eq!(end(&mut session)["output"], lost, "it holds from there on");
    session.obey(Command::Reset);
    assert_eq!(
        end(&mut session)["output"],
        end(&mut open("indexer"))["output"]
    );
}

#[test]
fn a_switch_says_what_it_holds_for() {
    for (lesson, command, en, zh) in [
        (
            "sandbox",
            Command::Era("1.36".into()),
            "from the start",
            "从头",
        ),
        (
            "reflector",
            Command::KnownObjects(true),
            "from here on",
            "从此刻起",
        ),
    ] {
        let mut session = open(lesson);
        session.obey(Command::Seek(30));
        assert_eq!(session.view().notice, None);
        session.obey(command);
        let said = session.view().notice.unwrap();
        assert!(said.en.contains(en) && said.zh.contains(zh), "{said:?}");
        session.obey(Command::Step(1));
        assert_eq!(session.view().notice, None);
    }
}

/// What was set of one program is nothing to another, and traffic has only who had some.
#[test]
fn what_was_set_is_kept_where_it_fits() {
    let scenario = |(queue, process_ms, traffic): (&str, u32, Option<u64>)| -> Scenario {
        let settings = json!({ "queue": queue, "feed": "program", "processMs": process_ms });
        serde_json::from_value(json!({ "settings": settings, "traffic": traffic })).unwrap()
    };
    for (own, run, kept) in [
        (("FIFO", 1, Some(1)), ("FIFO", 2, Some(2)), (2, Some(2))),
        (("FIFO", 1, Some(1)), ("FIFO", 2, None), (2, Some(1))),
        (("FIFO", 1, None), ("FIFO", 2, Some(2)), (2, None)),
        (
            ("FIFO", 1, Some(1)),
            ("DeltaFIFO", 2, Some(2)),
            (1, Some(1)),
        ),
    ] {
        let own = scenario(own);
        let set = as_set(&own, &scenario(run), &[]);
        assert_eq!((set.settings.process_ms, set.traffic), kept, "{run:?}");
        assert_eq!(set.settings.queue, own.settings.queue);
    }
}

/// All that the screen shows, but what came of a search.
fn but_the_search(session: &mut Session) -> View {
    let mut view = session.view();
    let mut walking = (*view.walking).clone();
    walking.said = None;
    (view.walking, view.error) = (walking.into(), None);
    view
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_search_that_fails_leaves_everything_as_it_was(
        lesson in prop::sample::select(vec!["sandbox", "indexer", "deltafifo", "tombstone", "cut"]),
        held in any::<bool>(),
        at in 0..1_000_usize,
        part in prop::sample::select(vec!["", "delta=Deleted", "call=any", "violation", "rv>=2"]),
        how in 0..4_u8,
    ) {
        let mut session = open(lesson);
        session.obey(Command::Seek(at));
        if held {
            session.obey(Command::Mode(ProcessMode::Held));
        }
        let before = but_the_search(&mut session);
        let text = format!("key=nobody/at-all {part}");
        let mut options = Options::default();
        options.set("until", "input:9999").unwrap();
        match how {
            0 => session.obey(Command::RunUntil(text)),
            1 => session.run_until_or_say(&text),
            2 => session.seek_named("input:9999"),
            _ => {
                prop_assert!(session.set_stops(&options).is_err());
                Change::None
            }
        };
        if how == 0 {
            let view = session.view();
            prop_assert!(matches!(view.walking.said, Some(Said::NotFound(_))));
        } else if how < 3 {
            prop_assert!(session.view().error.is_some());
        }
        prop_assert_eq!(&but_the_search(&mut session), &before);
        session.obey(Command::LookOn);
        prop_assert_eq!(&but_the_search(&mut session), &before);
        // What the search looked through is forgotten where the run becomes another one.
        session.obey(Command::Mode(ProcessMode::Free));
        session.obey(Command::RunUntil("fact=ModeSet".to_owned()));
        session.obey(Command::Mode(ProcessMode::Paced(9)));
        session.obey(Command::Step(-1));
        let step = session.view().step;
        session.obey(Command::RunUntil("fact=ModeSet".to_owned()));
        prop_assert_eq!(session.view().walking.said.clone(), Some(Said::Found(step + 1)));
    }
}

/// In a run without end the search computes far more of it than is shown, and takes nothing of that over.
#[test]
fn who_has_searched_goes_on_as_who_has_not() {
    let (mut one, mut other) = (open("sandbox"), open("sandbox"));
    let mut both = |act: &dyn Fn(&mut Session)| {
        act(&mut one);
        act(&mut other);
    };
    both(&|session| {
        session.obey(Command::Seek(300));
    });
    let search = |session: &mut Session, text: &str| {
        session.obey(Command::RunUntil(text.to_owned()));
        let said = session.view().walking.said.clone();
        assert!(matches!(said, Some(Said::NotFound(_))), "{text}: {said:?}");
    };
    search(&mut one, "key=default/nobody");
    assert_eq!(but_the_search(&mut one), but_the_search(&mut other));
    for session in [&mut one, &mut other] {
        session.obey(Command::Mode(ProcessMode::Held));
    }
    // Of the copy that was searched before there is nothing left: it has Pops.
    search(&mut one, "fact=KeyPopped");
    assert_eq!(but_the_search(&mut one), but_the_search(&mut other));
}

#[test]
fn a_search_that_fails_says_what_holds_it_back() {
    for (lesson, held, text, parts) in [
        (
            "sandbox",
            true,
            "delta=Sync",
            &[
                "delta=Sync",
                "as far as one search looks",
                "held",
                "to free",
            ][..],
        ),
        (
            "sandbox",
            false,
            "key=nobody call=any",
            &[
                "as far as one search looks",
                "No fact there has key=nobody.",
            ],
        ),
        (
            "deltafifo",
            false,
            "key=nobody",
            &["ends at step", "nothing more is due"],
        ),
        (
            "deltafifo",
            false,
            "delta=Added fact=KeyPopped",
            &["never all at once"],
        ),
    ] {
        let mut session = Session::new();
        if lesson != "sandbox" {
            session = open(lesson);
        }
        if held {
            // Nothing comes into the Indexer, so a resync has nothing to send.
            session.obey(Command::Seek(0));
            session.obey(Command::Mode(ProcessMode::Held));
        }
        let end = session.view().step + 100_000;
        session.run_until_or_say(text);
        let message = session.view().error.unwrap().message;
        for part in parts {
            assert!(message.en.contains(part), "{lesson} {text}: {}", message.en);
        }
        let bound = message.en.contains(&format!("up to step {end},"));
        assert_eq!(bound, lesson == "sandbox", "{}", message.en);
        assert_eq!(message.en.contains("held"), held, "{}", message.en);
        assert_eq!(message.zh.contains("手动"), held, "{}", message.zh);
    }
}

#[test]
fn every_fact_of_the_classic_informer_is_shown_by_a_lesson_or_a_click() {
    let mut shown = BTreeSet::new();
    let mut note = |timeline: &Timeline| {
        shown.extend(timeline.all_facts().iter().map(|record| record.fact.name()));
    };
    for (id, _) in lessons::menu() {
        let mut timeline = Timeline::new(lessons::load(&id).unwrap().scenario).unwrap();
        timeline.extend(2_000);
        note(&timeline);
    }
    use deltascope::world::source::Command as Server;
    use deltascope::world::source::pod::{PodSpec, Write};
    use deltascope::world::virtual_time::Input;
    let pod = || PodSpec {
        name: "p".into(),
        ..PodSpec::default()
    };
    let write = |write| Input::Source(Server::Write(write));
    let create = || write(Write::Create(pod().into_object()));
    let delete = || {
        write(Write::Delete {
            namespace: String::new(),
            name: "p".into(),
        })
    };
    let other = PodSpec {
        name: "other".into(),
        ..PodSpec::default()
    };
    let cut = || Input::Source(Server::Cut);
    let compact = || Input::Source(Server::Compact);
    let held = || Input::Mode(ProcessMode::Held);
    // Each input right behind the one before (false) or after all that follows from it (true).
    for inputs in [
        // A deletion that the watch misses; the relist finds it.
        vec![
            (true, create()),
            (true, cut()),
            (false, delete()),
            (false, compact()),
        ],
        // A deletion that waits in the queue when a list finds it once more.
        vec![
            (true, create()),
            (true, held()),
            (true, delete()),
            (true, cut()),
            // Without a newer version the watch would not be too old.
            (false, write(Write::Create(other.into_object()))),
            (false, compact()),
            (true, Input::Pop),
        ],
        vec![
            (true, create()),
            (true, create()),
            (true, Input::KnownObjects(false)),
            (true, Input::KnownObjects(true)),
        ],
    ] {
        let mut timeline = Timeline::new(lessons::load("indexer").unwrap().scenario).unwrap();
        let mut at = 0;
        for (settled, input) in inputs {
            if settled {
                at = timeline.len();
            }
            at = timeline.insert(at, input);
        }
        note(&timeline);
    }
    // Many keys behind a slow process function.
    let mut slow = lessons::load("indexer").unwrap().scenario;
    slow.settings.process_ms = 150;
    slow.initial = (0..13)
        .map(|n| json!({ "metadata": { "name": format!("p{n}") } }))
        .collect();
    note(&Timeline::new(slow).unwrap());

    // What only other queues, transformers, closed queues and later generations state.
    let elsewhere: BTreeSet<&str> = [
        "AlreadyPresent",
        "EntriesTaken",
        "EntryAppended",
        "FifoCleared",
        "FifoItemRemoved",
        "FifoItemSet",
        "FifoKeySkipped",
        "IndexFailed",
        "IndexersAdded",
        "IndicesReset",
        "KeyFailed",
        "ProcessFailed",
        "QueueClosed",
        "QueueEmpty",
        "Requeued",
        "StoreReplaced",
        "StoreVersionMoved",
        "TransformFailed",
        "Transformed",
        // The reflector with all its fall-backs, the shared processor, the workqueue.
        "PageReceived",
        "ListFailed",
        "InitialEventKept",
        "InitialEventsEnded",
        "InitialEventsEndMissed",
        "StreamFellBack",
        "ObjectRejected",
        "VersionUnavailable",
        "EntriesProcessed",
        "ListOpened",
        "ResyncOpened",
        "NotificationWithheld",
        "HandlerPanicked",
        "HandlerAdded",
        "HandlerAsked",
        "RemovalAsked",
        "RefusalsAsked",
        "WatchDenied",
        "HandlerRemoved",
        "SyncingSet",
        "ResyncCheckSet",
        "ObjectMutated",
        "MutationDetected",
        "WorkShutDown",
        // Of a real cluster: tests/live.rs.
        "ObjectsLearned",
        "RequestDeferred",
    ]
    .into();
    let all: BTreeSet<&str> = caption::samples().iter().map(Fact::name).collect();
    let missing: Vec<_> = all
        .iter()
        .filter(|name| !shown.contains(*name) && !elsewhere.contains(*name))
        .collect();
    assert!(
        missing.is_empty(),
        "no lesson and no click shows {missing:?}"
    );
    let both: Vec<_> = elsewhere
        .iter()
        .filter(|name| shown.contains(*name))
        .collect();
    assert!(both.is_empty(), "shown after all: {both:?}");
}

/// A shared informer with a slow handler; two pods at the start, one more and an update later.
fn informer() -> Session {
    let pod = |name: &str, phase: &str| {
        json!({ "metadata": { "namespace": "shop", "name": name, "labels": { "app": name } },
            "status": { "phase": phase } })
    };
    let lesson = json!({
        "id": "informer", "title": { "en": "", "zh": "" }, "note": { "en": "", "zh": "" },
        "era": "1.32",
        "scenario": {
            "settings": { "machinery": "shared", "indices": ["app"], "handlers": [
                { "name": "slow", "latencyMs": 900, "onAdd": ["+ {name}"], "onUpdate": ["~ {name}"],
                  "onDelete": ["- {name}"] }
            ] },
            "initial": [pod("a", "Running"), pod("b", "Running")],
            "script": [
                { "at": 2000, "op": "create", "object": pod("c", "Pending") },
                { "at": 3000, "op": "update", "object": pod("c", "Running") }
            ]
        }
    });
    let mut session = Session::new();
    session.open(serde_json::from_value(lesson).unwrap());
    session
}

#[test]
fn another_generation_runs_the_same_clicks_at_the_same_times() {
    let mut session = informer();
    let at = session.view().steps;
    session.obey(Command::Seek(at * 2 / 3));
    let made = json!({ "metadata": { "namespace": "shop", "name": "mine" } });
    session.inject("create", made);
    let here = session.view();
    let (classic, time) = (now(&mut session), here.time);
    assert_eq!(classic["queue"]["kind"], "DeltaFIFO");
    let stored = end(&mut session)["store"]["items"].clone();
    session.obey(Command::Seek(here.step));
    for era in ["1.34", "1.35", "1.36"] {
        assert_eq!(session.obey(Command::Era(era.into())), Change::Cut);
        let state = now(&mut session);
        assert_eq!(
            (&state["era"], &state["queue"]["kind"]),
            (&json!(era), &json!("RealFIFO"))
        );
        let then = state["time"].as_u64().unwrap();
        assert!(
            then <= time && time - then < 1000,
            "{era}: {then}, not {time}"
        );
        let (_, step) = (end(&mut session), session.view().step);
        assert_eq!(now(&mut session)["store"]["items"], stored, "{era}");
        let lines = now(&mut session)["output"].to_string();
        assert!(lines.contains("+ mine"), "{era}: {lines}");
        // From the end of one generation to the end of the next, and back to where it was.
        assert!(step > 0);
        let place = session
            .view()
            .recent
            .iter()
            .rev()
            .find(|record| record.time <= time)
            .map(|record| record.id.0 as usize + 1);
        session.obey(Command::Seek(place.unwrap_or_default()));
    }
    session.obey(Command::Seek(0));
    session.obey(Command::Era("1.32".into()));
    assert_eq!(now(&mut session)["step"], 0);
    session.obey(Command::Seek(here.step));
    assert_eq!(now(&mut session), classic, "the same run as at first");

    session.obey(Command::Era("0.9".into()));
    let message = now(&mut session)["error"]["message"].to_string();
    assert!(
        message.contains("0.9") && message.contains("1.36"),
        "{message}"
    );
    let mut by_hand = open("deltafifo");
    by_hand.obey(Command::Era("1.36".into()));
    assert_eq!(now(&mut by_hand)["era"], "1.32");
    assert_ne!(now(&mut by_hand)["error"], Value::Null);
}

#[test]
fn a_handler_that_comes_late_is_told_what_is_there_and_a_removed_one_nothing_more() {
    let mut session = informer();
    end(&mut session);
    assert!(matches!(
        session.obey(Command::AddHandler),
        Change::Follow(_)
    ));
    let state = end(&mut session);
    let late = &state["handlers"][1];
    assert_eq!(late["notifications"].as_array().unwrap().len(), 3, "{late}");
    assert_eq!(late["notifications"][0][0], "add");
    assert!(state["output"].to_string().contains("OnAdd:late-2 a"));
    assert!(session.picture().handlers[1].synced);

    session.obey(Command::RemoveHandler(0));
    let before = end(&mut session)["handlers"][0]["notifications"].clone();
    assert!(session.picture().handlers[0].removed);
    session.inject(
        "create",
        json!({ "metadata": { "namespace": "shop", "name": "d" } }),
    );
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
fn a_handler_is_removed_once_however_often_that_is_asked_for() {
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

    // The world itself, too, takes the second one without a word.
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
fn an_armed_fault_is_in_sight_and_can_be_taken_back() {
    for taken_back in [false, true] {
        let mut session = informer();
        end(&mut session);
        session.obey(Command::Fault(Fault::List(403)));
        let armed = rows::api::rows(&session.view(), 9, 9).armed;
        let words = strings::armed(Lang::En, armed.first().unwrap());
        assert_eq!(words, "next LIST answers 403 Forbidden");
        assert!(matches!(
            session.current().unwrap().fact,
            Fact::Server(ServerFact::RefusalsAsked { .. })
        ));
        if taken_back {
            session.obey(Command::Disarm(false, ApiErrorKind::Forbidden));
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
fn a_streaming_list_says_what_was_asked_for_and_which_bookmark_ends_it() {
    let mut session = open("sharedinformer-listwatch");
    session.obey(Command::Era("1.36".into()));
    session.obey(Command::Seek(0));
    let mut ends = Vec::new();
    while session.obey(Command::Step(1)) == Change::Forward {
        let view = session.view();
        let record = session.current().unwrap();
        if let Fact::Server(ServerFact::EventSent { ends_list, .. })
        | Fact::Reflector(ReflectorFact::EventReceived { ends_list, .. }) = record.fact
        {
            let told = caption::words(&record, &view.recent, &view.picture, Lang::En);
            let what = caption::plain(&told.what);
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
fn the_reflector_comes_back_from_every_fault() {
    for fault in FAULTS {
        let mut session = informer();
        end(&mut session);
        session.obey(Command::Fault(fault));
        // A list only fails when there is one.
        if matches!(fault, Fault::List(_) | Fault::Refuse) {
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
        let asked = matches!(fault, Fault::List(_) | Fault::Refuse);
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

/// What the drawer says of the step at the cursor: its facts, in brackets what is no cause but explains one.
fn chain(session: &mut Session) -> Vec<String> {
    session.obey(Command::AskWhy(true));
    let why = session.view().why.unwrap();
    let link = |link: &Rc<Link>| match link.aside {
        Some(_) => format!("({})", link.fact),
        None => link.fact.to_owned(),
    };
    why.links.iter().map(link).collect()
}

#[test]
fn a_deletion_that_nobody_saw_leads_to_what_was_known_and_to_the_delete() {
    // By a list: what is between the deletion and the request for the list.
    let queued = |first: &str| {
        let rest =
            "DeletionDetected (ItemStored) ListReceived ListAnswered (ObjectDeleted) ListRequested";
        format!("{first} {rest}")
    };
    let (delta, entry) = (queued("DeltaAppended"), queued("EntryAppended"));
    let whole = "ListOpened (StoreReplaced) EntryAppended ListReceived ListAnswered (ObjectDeleted) ListRequested";
    let streamed = "DeltaAppended DeletionDetected (ItemStored) InitialEventsEnded EventReceived EventSent (ObjectDeleted) WatchAccepted";
    let left = delta.replace("ObjectDeleted", "ObjectUpdated");
    for (generation, streams, selector, expected) in [
        (Generation::Classic, false, None, &*delta),
        (Generation::InOrder, false, None, &*entry),
        (Generation::Batched, false, None, &*entry),
        (Generation::Atomic, false, None, whole),
        (Generation::Classic, true, None, streamed),
        // It lives on, and is not asked for any more.
        (Generation::Classic, false, Some("app"), &*left),
    ] {
        let mut lesson = lessons::load("tombstone").unwrap();
        let settings = &mut lesson.scenario.settings;
        settings.era = Era(generation);
        settings.watch_list = Some(streams);
        settings.selector = selector.map(|text| Selector::parse(text).unwrap());
        if selector.is_some() {
            let object = json!({ "metadata": { "namespace": "default", "name": "b" } });
            lesson.scenario.script[1].act = Act::Update { object };
        }
        let mut session = Session::new();
        session.open(lesson);
        let steps = session.view().steps;
        let told = (1..=steps).rev().find(|step| {
            session.obey(Command::Seek(*step));
            let last = session.current().unwrap().fact;
            matches!(last, Fact::Handlers(HandlersFact::LinePrinted { line, .. }) if &*line == "OnDelete: b")
        });
        assert!(told.is_some(), "{generation:?}");
        let names = chain(&mut session).join(" ");
        assert!(names.contains(expected), "{generation:?}: {names}");
        let why = session.view().why.unwrap();
        let words = |lang| {
            why.links
                .iter()
                .map(move |link| caption::plain(link.words(lang)))
        };
        let said: Vec<String> = words(Lang::En).collect();
        let all = said.join("\n");
        assert!(
            all.contains("The Indexer has b, the list has not. "),
            "{all}"
        );
        assert!(
            all.contains("That is why the list lacks b; no event of it arrived. "),
            "{all}"
        );
        assert!(words(Lang::Zh).any(|said| said.starts_with("Indexer 里有 b，列表里没有。")));
    }
}

#[test]
fn an_empty_place_in_a_fifo_leads_to_what_emptied_it() {
    let call = |at: u32, op: &str, name: &str, rv: &str| json!({ "at": at, "op": op, "object": { "metadata": { "name": name, "resourceVersion": rv } } });
    let lesson = json!({
        "id": "fifo", "title": { "en": "", "zh": "" }, "note": { "en": "", "zh": "" }, "era": "1.32",
        "scenario": {
            "settings": { "queue": "FIFO", "feed": "program", "mode": "held" },
            "script": [
                call(300, "create", "x", "1"), call(600, "delete", "x", "1"),
                call(900, "create", "x", "2"), { "at": 1200, "op": "pop" }
            ]
        }
    });
    let mut session = Session::new();
    session.open(serde_json::from_value(lesson).unwrap());
    let mut seen = Vec::new();
    for step in 1..=session.view().steps {
        session.obey(Command::Seek(step));
        if !session.view().picture.queue.keys.is_empty() {
            session.obey(Command::Select(Anchor::read("queue/key/x")));
            seen.push(chain(&mut session).join(" "));
        }
    }
    seen.dedup();
    assert_eq!(
        seen,
        [
            "KeyEnqueued Called",
            "FifoItemRemoved Called",
            "FifoItemSet Called",
            "KeyEnqueued Called",
            "KeyPopped FifoItemSet Called",
        ]
    );
}
