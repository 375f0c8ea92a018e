//! Branches: forking, dropping or moving an event and changing a setting each start a new branch, and no
//! branch is lost.

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Cause, Fact, FactRecord, ProcessMode, ServerFact};
use deltascope::presentation::command::{Command, Export, When};
use deltascope::presentation::rows::api::free_name;
use deltascope::presentation::session::{Session, typed};
use deltascope::replay::branches::MOST_BRANCHES;
use deltascope::replay::edit::{Edit, EditError, Origin, Setting};
use deltascope::replay::lessons;
use deltascope::replay::timeline::Timeline;
use deltascope::world::text::Text;
use deltascope::world::virtual_time::Input;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{now, open};

/// The state without the branches.
fn shown(session: &mut Session) -> Value {
    let mut state = now(session);
    state.as_object_mut().unwrap().remove("branches");
    state
}

fn names(session: &mut Session) -> Vec<String> {
    let branches = session.view().branches;
    let name = |row: &deltascope::presentation::view::BranchRow| {
        format!(
            "{}{}{}",
            "  ".repeat(row.depth),
            // A branch without a name is shown with the reason why it was created.
            row.name
                .en
                .split(" · ")
                .next()
                .unwrap_or_default()
                .trim_start_matches("Branch "),
            if row.current { " *" } else { "" }
        )
    };
    branches.iter().map(name).collect()
}

fn error(session: &mut Session) -> String {
    let error = session.view().error;
    error
        .map(|error| error.message.en.to_string())
        .unwrap_or_default()
}

fn create(session: &mut Session, name: &str) {
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "namespace": "n", "name": name } }),
    ));
}

fn server_keys(session: &mut Session) -> Vec<String> {
    let state = now(session);
    let objects = state["api"]["objects"].as_object().unwrap();
    objects.keys().cloned().collect()
}

#[test]
fn a_change_of_the_run_that_was_opened_is_told_and_its_name_is_not_the_script_s() {
    let mut session = open("first-look");
    let made = |session: &mut Session| {
        let state = now(session);
        state["branches"][0]["made"].as_str().unwrap().to_owned()
    };
    session.obey(typed::place("piled"));
    let first = session.view();
    let other = |session: &mut Session| {
        session.obey(typed::against(""));
        now(session)["comparison"]["with"].clone()
    };
    assert_eq!(
        (&*made(&mut session), other(&mut session)),
        ("as it was opened", json!("1.36"))
    );
    // The script creates web-1 later.
    let name = free_name(&first);
    assert!(!first.picture.api.objects.contains_key("default/web-1"));
    assert!(!["web-0", "web-1"].contains(&&*name), "{name}");
    session.obey(typed::inject(
        "create",
        json!({ "metadata": { "namespace": "default", "name": name } }),
    ));
    assert_eq!(made(&mut session), "with 1 change of yours");
    assert_eq!(other(&mut session), "opened");
    let sides = session.view().compare().cloned().unwrap();
    let [mine, opened] = [0, 1].map(|side| sides.sides[side].name.en.to_string());
    assert_eq!(
        (&*mine, &*opened),
        ("with 1 change of yours", "as it was opened")
    );
    session.obey(Command::CutWatch);
    assert_eq!(made(&mut session), "with 2 changes of yours");
    session.obey(Command::Seek(usize::MAX));
    assert_eq!(
        server_keys(&mut session),
        ["default/web-1", &format!("default/{name}")]
    );
    // A link to it opens a run that nobody has changed yet.
    let Ok(link) = session.export(Export::Link) else {
        unreachable!("it can be shared")
    };
    session.obey(Command::OpenLink(link.into()));
    assert_eq!(made(&mut session), "as it was opened");
    session.obey(typed::against("opened"));
    assert!(error(&mut session).contains("names nothing to compare with"));
}

#[test]
fn an_action_in_the_past_keeps_the_later_actions_on_a_branch() {
    let mut session = open("indexer");
    session.obey(Command::Seek(6));
    create(&mut session, "a");
    let after_a = session.view().step;
    create(&mut session, "b");
    session.obey(Command::Step(3));
    let left = shown(&mut session);
    session.obey(Command::Seek(after_a));
    create(&mut session, "c");
    assert_eq!(names(&mut session), ["main", "  2 *"]);
    let notice = session.view().notice.clone().expect("it says what is left");
    assert_eq!(
        &*notice.en,
        "Branch 2 begins here. 1 later input stayed in main."
    );
    assert_eq!(*session.view().branches[1].name.en, *"Branch 2");
    session.obey(Command::Seek(usize::MAX));
    assert_eq!(server_keys(&mut session), ["n/a", "n/c"]);
    // The branch left behind is unchanged, and so is its cursor.
    let mut back = left.clone();
    session.obey(Command::Branch(1));
    back["step"] = (after_a).into();
    assert_eq!(now(&mut session)["step"], back["step"]);
    session.obey(Command::Seek(left["step"].as_u64().unwrap() as usize));
    assert_eq!(shown(&mut session), left);
    assert_eq!(names(&mut session), ["main *", "  2"]);
}

#[test]
fn a_fork_omits_the_later_actions_of_the_user() {
    let mut session = open("indexer");
    session.obey(Command::Seek(6));
    create(&mut session, "a");
    let after_a = session.view().step;
    create(&mut session, "b");
    session.obey(Command::Seek(after_a));
    session.obey(Command::Fork);
    let forked = session.view().branches[1].clone();
    assert_eq!(forked.name, Text::new("Branch 2", "分支 2"));
    let notice = session.view().notice.clone().expect("it says what is left");
    assert_eq!(
        &*notice.en,
        "Branch 2 begins here. 1 later input stayed in main."
    );
    assert!(
        forked.made.en.starts_with("forked at "),
        "{}",
        forked.made.en
    );
    session.obey(Command::RenameBranch(2, "  only a ".into()));
    assert_eq!(names(&mut session), ["main", "  only a *"]);
    session.obey(Command::Seek(usize::MAX));
    assert_eq!(server_keys(&mut session), ["n/a"]);
    // Starting over keeps the run as a branch, too.
    session.obey(Command::Reset);
    assert_eq!(names(&mut session), ["main", "  only a", "    3 *"]);
    assert_eq!(session.view().step, 0);
    session.obey(Command::RemoveBranch(3));
    assert!(error(&mut session).contains("has to stay"));
    session.obey(Command::Branch(1));
    session.obey(Command::RemoveBranch(2));
    assert_eq!(names(&mut session), ["main *", "  3"]);
    session.obey(Command::Seek(usize::MAX));
    assert_eq!(server_keys(&mut session), ["n/a", "n/b"]);
}

#[test]
fn a_fork_shows_no_picture_of_the_run_that_it_leaves() {
    let mut session = open("tombstone");
    create(&mut session, "a");
    let after = session.view().step;
    session.obey(Command::Seek(after - 1));
    session.view();
    session.obey(Command::Fork);
    session.obey(Command::Seek(after));
    let picture = session.timeline().picture(after);
    assert_eq!(*session.view().picture, picture);
}

#[test]
fn commands_that_need_a_branch_are_refused_when_there_is_no_room() {
    let mut session = open("indexer");
    for _ in 1..MOST_BRANCHES {
        session.obey(Command::Fork);
        assert_eq!(error(&mut session), "");
    }
    create(&mut session, "a");
    session.obey(Command::Seek(0));
    let before = now(&mut session);
    for command in [
        Command::Fork,
        Command::Reset,
        Command::Set(Setting::ProcessMs(5)),
    ] {
        session.obey(command);
        assert!(error(&mut session).contains("Remove one first"));
        session.obey(Command::DismissError);
        assert_eq!(now(&mut session), before);
    }
    create(&mut session, "b");
    assert!(error(&mut session).contains("Remove one first"));
}

#[test]
fn an_event_of_the_server_is_dropped_or_moved() {
    let mut session = Session::new();
    session.obey(Command::Seek(600));
    let events = session.view().events;
    assert_eq!(events.iter().filter(|event| event.past).count(), 8);
    // The last event before the cursor.
    let event = events
        .iter()
        .rev()
        .find(|event| event.past)
        .unwrap()
        .clone();
    let kept = shown(&mut session);
    session.obey(Command::DropEvent(event.place));
    assert_eq!(error(&mut session), "");
    assert!(session.view().branches[1].made.en.contains("without"));
    let dropped = session.view().events;
    assert!(
        !dropped
            .iter()
            .any(|other| (other.time, &other.key) == (event.time, &event.key))
    );
    session.obey(Command::Branch(1));
    assert_eq!(shown(&mut session), kept);

    session.obey(Command::MoveEvent(event.place, When::Earlier));
    assert_eq!(error(&mut session), "");
    let moved = session.view().events;
    let place = |time: u64| {
        moved
            .iter()
            .position(|other| other.time == time && other.key == event.key)
    };
    assert!(place(event.time).is_none());
    let before = events
        .iter()
        .rev()
        .find(|other| other.place < event.place)
        .unwrap();
    assert!(place(before.time - 1).is_some(), "{moved:?}");
    assert_eq!(names(&mut session), ["main", "  2", "  3 *"]);
}

/// Every event of the server or the user in a run, with its position and its fact.
fn edits_of(timeline: &Timeline) -> Vec<(usize, Origin, FactRecord)> {
    let facts = timeline.all_facts();
    let found = facts.iter().enumerate();
    found
        .filter_map(|(place, record)| Some((place, Origin::of(record)?, record.clone())))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_changes_nothing_before_it_and_can_be_replayed(
        lesson in prop::sample::select(vec!["sandbox", "reflector", "pod-lifecycle", "bookmarks"]),
        which in any::<prop::sample::Index>(),
        to in prop::option::of(0_u64..30_000),
        inputs in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let scenario = lessons::load(lesson).unwrap().scenario;
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(600);
        let mut places: Vec<usize> = inputs.iter().map(|place| place.index(timeline.len())).collect();
        places.sort_unstable();
        for place in places {
            timeline.insert(place, Input::Mode(ProcessMode::Paced(70)));
        }
        timeline.extend(600);
        let all = edits_of(&timeline);
        prop_assume!(!all.is_empty());
        let (place, origin, record) = which.get(&all).clone();
        let edit = match to {
            Some(to) => Edit::Move { origin, to },
            None => Edit::Drop(origin),
        };
        let recording = timeline.recording();
        match recording.edited(&edit, Some(&record)) {
            Ok(edited) => {
                let mut other = edited.play().unwrap();
                other.extend(600);
                let same = place.min(to.map_or(place, |to| timeline.count_until(to.saturating_sub(1))));
                // A recording has no times: its events move by positions.
                let same = if recording.scenario.recorded.is_some() { 0 } else { same };
                prop_assert!(other.facts(0..same)[..] == timeline.facts(0..same)[..]);
                let mut again = other.recording().play().unwrap();
                again.extend(600);
                let len = other.len().min(again.len());
                prop_assert!(other.facts(0..len)[..] == again.facts(0..len)[..]);
            }
            Err(error) => prop_assert_eq!(error, EditError::NoEvent),
        }
    }
}

/// A sequence of user commands.
fn commands() -> impl Strategy<Value = Vec<Command>> {
    let place = 0_usize..1_200;
    let command = prop_oneof![
        4 => place.clone().prop_map(Command::Seek),
        4 => (-40_i64..40).prop_map(Command::Step),
        2 => Just(Command::Fork),
        2 => (0_u32..6).prop_map(Command::Branch),
        1 => (0_u32..6).prop_map(Command::RemoveBranch),
        2 => place.clone().prop_map(Command::DropEvent),
        1 => place.clone().prop_map(|at| Command::MoveEvent(at, When::Earlier)),
        1 => place.clone().prop_map(|at| Command::MoveEvent(at, When::Later)),
        1 => (place, 0_u64..40_000).prop_map(|(at, to)| Command::MoveEvent(at, When::At(to))),
        1 => Just(Command::Set(Setting::HandlerMs(200))),
        1 => Just(Command::Set(Setting::Generation(Generation::Atomic))),
        1 => Just(typed::generation("1.34")),
        1 => Just(Command::CutWatch),
        1 => Just(Command::Compact),
        1 => Just(Command::Mode(ProcessMode::Held)),
        1 => Just(Command::PopOne),
        1 => Just(Command::Reset),
        1 => Just(typed::delete("shop/db-0")),
    ];
    prop::collection::vec(command, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_moment_looks_the_same_whichever_way_it_was_reached(commands in commands()) {
        let mut session = Session::new();
        for command in commands {
            session.obey(command.clone());
            let before = session.view();
            let step = before.step;
            // Reach the same position in another way.
            session.obey(Command::Seek(0));
            session.obey(Command::Seek(step + 7));
            session.obey(Command::Step(-7));
            let after = session.view();
            // The run ended earlier, so the steps back went too far.
            if step + 7 > after.steps {
                session.obey(Command::Seek(step));
                continue;
            }
            prop_assert_eq!(&before.picture, &after.picture, "after {:?} at {}", command, step);
            prop_assert_eq!((before.step, before.time), (after.step, after.time));
            prop_assert_eq!(&before.recent, &after.recent);
            prop_assert_eq!(before.branches, after.branches);
        }
    }
}

#[test]
fn a_setting_is_applied_if_the_program_has_it_and_refused_otherwise() {
    let settings = [
        Setting::Generation(Generation::Atomic),
        Setting::Traffic(3),
        Setting::ResyncMs(5_000),
        Setting::PageSize(2),
        Setting::WatchList(true),
        Setting::KnownObjects(false),
        Setting::Mode(ProcessMode::Held),
        Setting::ProcessMs(40),
        Setting::HandlerMs(900),
        Setting::WorkFailures(3),
    ];
    for (lesson, fits) in [
        ("sandbox", "ytyyynyyyy"),
        ("indexer", "nnnyyyyynn"),
        ("listwatch", "nnnnnnnnnn"),
    ] {
        for (setting, fits) in settings.into_iter().zip(fits.chars()) {
            let mut session = open(lesson);
            session.obey(Command::Seek(200));
            let time = session.view().time;
            session.obey(Command::Set(setting));
            let fails = error(&mut session).contains("nothing that the setting could change");
            assert_eq!(fails, fits == 'n', "{lesson} {setting:?}");
            let branches = session.view().branches;
            assert_eq!(branches.len(), if fails { 1 } else { 2 });
            // It does not show a later moment.
            assert!(session.view().time <= time);
        }
    }
}

#[test]
fn a_typed_value_is_read_or_refused() {
    for (setting, text, value) in [
        (
            Setting::Generation(Generation::Classic),
            "1.36",
            Some("1.36"),
        ),
        (Setting::Generation(Generation::Classic), "2", None),
        (Setting::ResyncMs(0), " 5000 ", Some("5000")),
        (Setting::ResyncMs(0), "99999999999999999", None),
        (Setting::ResyncMs(0), "-1", None),
        (Setting::WatchList(false), "on", Some("on")),
        (Setting::WatchList(false), "true", None),
        (Setting::Mode(ProcessMode::Free), "held", Some("held")),
        (Setting::Mode(ProcessMode::Free), "250", Some("250")),
        (Setting::Mode(ProcessMode::Free), "slow", None),
        (Setting::PageSize(0), "4294967296", None),
    ] {
        let read = setting.with(text).map(|setting| setting.value());
        assert_eq!(read.as_deref(), value, "{setting:?} {text}");
        let mut session = Session::new();
        session.obey(typed::setting(&setting, text));
        assert_eq!(
            error(&mut session).contains("is not a value"),
            value.is_none()
        );
    }
    // A written value is read back as the same.
    for setting in Setting::all_of(&lessons::load("sandbox").unwrap().scenario) {
        assert_eq!(setting.with(&setting.value()), Some(setting));
        for choice in setting.choices() {
            assert!(setting.with(choice).is_some());
        }
    }
}

#[test]
fn another_seed_makes_another_run_and_a_drop_removes_only_its_event() {
    let mut session = Session::new();
    session.obey(Command::Seek(900));
    let before = now(&mut session);
    session.obey(Command::Set(Setting::Traffic(99)));
    assert_ne!(now(&mut session)["api"], before["api"]);
    let lesson = lessons::load("pod-lifecycle").unwrap();
    let timeline = Timeline::new(lesson.scenario).unwrap();
    let first = edits_of(&timeline).into_iter().find(|(_, _, record)| {
        matches!(record.fact, Fact::Server(ServerFact::EventSent { .. }))
            && matches!(record.cause, Cause::Source(_))
    });
    let (_, origin, record) = first.unwrap();
    let edited = timeline
        .recording()
        .edited(&Edit::Drop(origin), Some(&record));
    let other = edited.unwrap().play().unwrap();
    let sent = |timeline: &Timeline| {
        let facts = timeline.all_facts();
        facts
            .iter()
            .filter(|record| matches!(record.fact, Fact::Server(ServerFact::EventSent { .. })))
            .count()
    };
    assert_eq!(sent(&other) + 1, sent(&timeline));
}
