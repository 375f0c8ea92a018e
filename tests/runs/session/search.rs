//! Searches through the facts: their results, and that a failed one changes nothing.

use deltascope::cache::fact::ProcessMode;
use deltascope::presentation::command::Command;
use deltascope::presentation::options::{Attribute, Options};
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::view::View;
use deltascope::presentation::view::walking::Said;
use proptest::prelude::*;

use super::open;

/// The view without the result of a search.
fn without_the_search(session: &mut Session) -> View {
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
        let before = without_the_search(&mut session);
        let text = format!("key=nobody/at-all {part}");
        let mut options = Options::default();
        options.set(Attribute::Until, "input:9999").unwrap();
        match how {
            0 => session.obey(typed::predicate(&text, Command::RunUntil)),
            1 => session.obey_or_say(typed::predicate(&text, Command::RunUntil)),
            2 => session.obey(typed::place("input:9999")),
            _ => session.obey(typed::attribute(Attribute::Until, &options).unwrap()),
        };
        if how == 0 {
            let view = session.view();
            prop_assert!(matches!(view.walking.said, Some(Said::NotFound(_))));
        } else {
            prop_assert!(session.view().error.is_some());
        }
        prop_assert_eq!(&without_the_search(&mut session), &before);
        session.obey(Command::LookOn);
        prop_assert_eq!(&without_the_search(&mut session), &before);
        // The searched facts are forgotten when the run changes.
        session.obey(Command::Mode(ProcessMode::Free));
        session.obey(typed::predicate("fact=ModeSet", Command::RunUntil));
        session.obey(Command::Mode(ProcessMode::Paced(9)));
        session.obey(Command::Step(-1));
        let step = session.view().step;
        session.obey(typed::predicate("fact=ModeSet", Command::RunUntil));
        prop_assert_eq!(session.view().walking.said.clone(), Some(Said::Found(step + 1)));
    }
}

/// In an endless run a search computes far more facts than are shown, and keeps none of them.
#[test]
fn a_search_has_no_effect_on_the_run() {
    let (mut one, mut other) = (open("sandbox"), open("sandbox"));
    let mut both = |act: &dyn Fn(&mut Session)| {
        act(&mut one);
        act(&mut other);
    };
    both(&|session| {
        session.obey(Command::Seek(300));
    });
    let search = |session: &mut Session, text: &str| {
        session.obey(typed::predicate(text, Command::RunUntil));
        let said = session.view().walking.said.clone();
        assert!(matches!(said, Some(Said::NotFound(_))), "{text}: {said:?}");
    };
    search(&mut one, "key=default/nobody");
    assert_eq!(without_the_search(&mut one), without_the_search(&mut other));
    for session in [&mut one, &mut other] {
        session.obey(Command::Mode(ProcessMode::Held));
    }
    // The copy of the run that was searched before, with its Pops, is dropped.
    search(&mut one, "fact=KeyPopped");
    assert_eq!(without_the_search(&mut one), without_the_search(&mut other));
}

#[test]
fn a_failed_search_states_the_reason() {
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
            &["ends at fact", "nothing more is due"],
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
            // Nothing reaches the Indexer, so a resync has nothing to send.
            session.obey(Command::Seek(0));
            session.obey(Command::Mode(ProcessMode::Held));
        }
        let end = session.view().step + 100_000;
        session.obey_or_say(typed::predicate(text, Command::RunUntil));
        let message = session.view().error.unwrap().message;
        for part in parts {
            assert!(message.en.contains(part), "{lesson} {text}: {}", message.en);
        }
        let bound = message.en.contains(&format!("up to fact {end},"));
        assert_eq!(bound, lesson == "sandbox", "{}", message.en);
        assert_eq!(message.en.contains("held"), held, "{}", message.en);
        assert_eq!(message.zh.contains("手动"), held, "{}", message.zh);
    }
}
