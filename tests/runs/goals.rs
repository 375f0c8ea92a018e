//! A goal answers each attempt: that it is reached, with what was seen, or what it lacks.

use std::collections::BTreeSet;

use deltascope::cache::fact::{ProcessMode, Verb};
use deltascope::presentation::command::{Command, Fault, Tell};
use deltascope::presentation::session::{Change, Session, typed};
use deltascope::presentation::story::Story;
use deltascope::presentation::view::story::GoalView;
use deltascope::replay::lessons;
use deltascope::world::source::pod::PodSpec;
use deltascope::world::text::Lang;

fn at_goal(id: &str) -> Session {
    let mut session = Session::empty();
    session.obey(Command::Load(id.into()));
    session.obey(Command::Tell(Tell::Scene(usize::MAX)));
    session
}

fn goal(session: &mut Session) -> GoalView {
    session.view().story.unwrap().goal.clone().unwrap()
}

/// Lets time run, until it is over or the goal is reached.
fn run(session: &mut Session) {
    session.obey(Command::TogglePlay);
    while session.playback().is_playing() && session.tick() == Change::Forward {
        session.view();
    }
}

fn create(name: &str) -> Command {
    typed::write(
        Verb::Create,
        PodSpec::of(&format!("default/{name}")).to_json(),
    )
}

#[test]
fn an_attempt_that_fails_is_told_what_is_missing() {
    let delete = typed::delete;
    for (id, acts, expected) in [
        ("first-look", vec![], "Nothing was deleted"),
        (
            "first-look",
            vec![delete("default/web-1")],
            "received the Pod itself",
        ),
        (
            "first-look",
            vec![
                Command::CutWatch,
                create("x"),
                delete("default/x"),
                Command::Compact,
            ],
            "your cache never had the Pod",
        ),
        ("gone-410", vec![Command::CutWatch], "has not been deleted"),
        (
            "gone-410",
            vec![delete("default/web-0")],
            "an event brought the delete",
        ),
        (
            "gone-410",
            vec![Command::CutWatch, delete("default/web-0"), Command::Compact],
            "before there was a new `web-0`",
        ),
        (
            "tombstone",
            vec![Command::CutWatch, delete("default/a"), Command::Compact],
            "without a change",
        ),
        ("slow-handler", vec![create("x")], "Five calls never waited"),
        (
            "late-handler",
            vec![Command::AddHandler],
            "was called for what the Indexer holds",
        ),
        ("resync-is-not-relist", vec![], "no Pod named `api-0`"),
        (
            "indexer",
            vec![create("x"), delete("default/x")],
            "The queue kept the delete",
        ),
        (
            "indexer",
            vec![
                Command::CutWatch,
                create("x"),
                delete("default/x"),
                Command::Compact,
            ],
            "No delete has reached the queue",
        ),
        ("reflector", vec![create("x")], "Nothing was deleted"),
    ] {
        let mut session = at_goal(id);
        assert_eq!(goal(&mut session).missed, None, "{id}: nothing was tried");
        for act in acts.clone() {
            session.obey(act);
        }
        if session.timeline().is_endless() {
            // Nothing ends this run: one pauses.
            session.obey(Command::Step(200));
        } else {
            run(&mut session);
        }
        let said = goal(&mut session);
        assert!(!said.reached, "{id}: {acts:?}");
        let missed = said.missed.unwrap_or_default();
        assert!(missed.en.contains(expected), "{id}: {acts:?}: {missed:?}");
        // And once more.
        session.obey(Command::Tell(Tell::Scene(usize::MAX)));
        assert_eq!(goal(&mut session).missed, None, "{id}: {acts:?}");
    }
}

#[test]
fn a_delete_that_never_came_was_not_kept() {
    for (id, switch, expected) in [
        (
            "indexer",
            Some(Command::KnownObjects(false)),
            "never received one",
        ),
        ("reflector", None, "No delete reached the queue"),
    ] {
        let mut session = at_goal(id);
        session.obey(create("x"));
        run(&mut session);
        for act in switch.into_iter().chain([
            Command::CutWatch,
            typed::delete("default/x"),
            Command::Compact,
        ]) {
            session.obey(act);
        }
        run(&mut session);
        let missed = goal(&mut session).missed.unwrap_or_default();
        assert!(missed.en.contains(expected), "{id}: {missed:?}");
    }
}

#[test]
fn an_attempt_is_answered_only_once_time_has_run() {
    let mut session = at_goal("reflector");
    session.obey(Command::Mode(ProcessMode::Held));
    assert_eq!(goal(&mut session).missed, None);
}

#[test]
fn a_fault_stops_time_so_that_it_can_be_used() {
    for (act, plays) in [
        (Command::CutWatch, false),
        (Command::Compact, false),
        (Command::Fault(Fault::Close), false),
        (create("web-3"), true),
    ] {
        let mut session = at_goal("stale-read");
        session.obey(create("web-2"));
        session.obey(Command::TogglePlay);
        session.tick();
        session.obey(act.clone());
        assert_eq!(session.playback().is_playing(), plays, "{act:?}");
    }
    // Not where nothing is asked for.
    let mut session = at_goal("stale-read");
    session.obey(Command::Tell(Tell::Show(false)));
    session.obey(create("web-2"));
    session.obey(Command::TogglePlay);
    session.tick();
    session.obey(Command::CutWatch);
    assert!(session.playback().is_playing());
}

#[test]
fn a_cache_that_is_behind_for_a_moment_is_told_from_one_that_stays_so() {
    for (cuts, held, expected) in [
        (false, false, true),
        (true, false, false),
        (false, true, false),
    ] {
        let mut session = at_goal("stale-read");
        session.obey(create("web-2"));
        run(&mut session);
        if held {
            session.obey(Command::Mode(ProcessMode::Held));
        }
        if cuts {
            session.obey(Command::CutWatch);
        }
        session.obey(typed::delete("default/web-1"));
        if held {
            run(&mut session);
        }
        session.obey(typed::delete("default/web-2"));
        let goal = goal(&mut session);
        assert!(goal.reached, "{cuts} {held}");
        let also = goal.also.map(|also| also.en.contains("on their way"));
        assert_eq!(also, expected.then_some(true), "{cuts} {held}");
    }
}

#[test]
fn a_goal_is_reached_once_the_handler_has_returned_and_its_line_is_there() {
    let mut session = at_goal("first-look");
    session.obey(Command::CutWatch);
    session.obey(typed::delete("default/web-1"));
    session.obey(Command::Compact);
    run(&mut session);
    let reached = goal(&mut session);
    assert!(reached.reached && reached.past && reached.also.is_none());
    let picture = session.view().picture;
    assert_eq!(
        *picture.output.back().unwrap().line,
        *"OnDelete: DeletedFinalStateUnknown{web-1}"
    );
    assert!(
        picture
            .handlers
            .iter()
            .all(|handler| handler.running.is_none())
    );
    // Back at the last scene's moment its words are there again.
    session.obey(Command::Tell(Tell::Back));
    let back = goal(&mut session);
    assert!(back.reached && !back.past);
}

#[test]
fn a_list_that_no_410_caused_is_explained() {
    for (waits, end, explained) in [
        (false, Command::CutWatch, true),
        (true, Command::CutWatch, false),
        (false, Command::Fault(Fault::Event(410)), false),
    ] {
        let mut session = at_goal("gone-410");
        if waits {
            // An event, so that the watch is no failed one.
            session.obey(create("other"));
            run(&mut session);
        }
        session.obey(end.clone());
        session.obey(typed::delete("default/web-0"));
        session.obey(create("web-0"));
        session.obey(Command::Compact);
        run(&mut session);
        let goal = goal(&mut session);
        assert!(goal.reached, "{waits} {end:?}: {:?}", goal.missed);
        assert_eq!(
            goal.also.is_some(),
            explained,
            "{waits} {end:?}: {:?}",
            goal.also
        );
        // It says how the goal was reached, not what is so at another moment.
        session.obey(Command::Tell(Tell::Back));
        assert_eq!(self::goal(&mut session).also, goal.also, "{waits}");
    }
}

#[test]
fn what_a_goal_says_is_complete_and_says_one_thing_each_time() {
    for id in lessons::told() {
        let lesson = lessons::load(id).unwrap();
        let goal = Story::read(lesson.story.as_ref().unwrap())
            .unwrap()
            .goal
            .unwrap();
        let last = goal.missed.last().unwrap();
        assert!(last.when.is_empty(), "{id}: not every attempt is answered");
        for lang in [Lang::En, Lang::Zh] {
            let said = goal.missed.iter().map(|one| one.say.get(lang));
            let said: BTreeSet<&str> = said.collect();
            assert_eq!(said.len(), goal.missed.len(), "{id}");
        }
    }
}
