//! Settings are kept where they apply, and a switch states the part of the run that it affects.

use deltascope::cache::fact::ProcessMode;
use deltascope::presentation::command::Command;
use deltascope::presentation::session::{Change, Session, typed};
use deltascope::replay::edit::as_set;
use deltascope::replay::lessons;
use deltascope::replay::step_size::StepSize;
use deltascope::world::source::scenario::Scenario;
use deltascope::world::virtual_time::Input;
use serde_json::{Value, json};

use super::{end, informer, now, open};

/// Starting over keeps the settings and drops the actions; a switch that was turned on during the run then
/// applies to the whole run.
#[test]
fn starting_over_keeps_the_settings() {
    use deltascope::replay::edit::Setting;
    let settings = |session: &mut Session| -> Vec<String> {
        let rows = session.view().settings;
        rows.iter().map(|row| row.value.clone()).collect()
    };
    let step = || Command::Step(40);
    for (lesson, commands) in [
        (
            "sandbox",
            vec![typed::generation("1.36"), step(), Command::CutWatch],
        ),
        (
            "sandbox",
            vec![Command::Mode(ProcessMode::Held), step(), Command::PopOne],
        ),
        (
            "sandbox",
            vec![
                Command::Mode(ProcessMode::Held),
                typed::generation("1.35"),
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
            vec![typed::generation("1.34"), Command::Seek(0)],
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
        // A setting changed during the run is not part of the scenario yet.
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
        let era = session.view().lesson.era;
        session.obey(Command::Reset);
        let view = session.view();
        assert_eq!((view.step, view.speed, view.lesson.era), (0, 400, era));
        assert_eq!(view.walking.step_size, StepSize::Pop);
        assert_eq!(settings(&mut session), set, "{lesson} {commands:?}");
        assert!(session.timeline().inputs().is_empty());
        let own = lessons::load(lesson).unwrap().scenario;
        let shown = session.timeline().scenario();
        assert_eq!(shown.script.len(), own.script.len());
        assert_eq!(shown.settings.handlers.len(), own.settings.handlers.len());
        // The notice appears if anything differs from the lesson.
        let said = session.view().notice;
        assert_eq!(
            said.is_some(),
            lesson != "deltafifo",
            "{lesson} {commands:?}"
        );
        // Starting over again has nothing to drop.
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
fn a_switch_states_the_part_of_the_run_that_it_affects() {
    for (lesson, command, en, zh) in [
        (
            "sandbox",
            typed::generation("1.36"),
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

/// The settings of one program do not apply to another, and only a scenario with traffic gets a traffic seed.
#[test]
fn settings_are_kept_where_they_apply() {
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

#[test]
fn another_generation_runs_the_same_clicks_at_the_same_times() {
    let mut session = informer();
    let at = session.view().steps;
    session.obey(Command::Seek(at * 2 / 3));
    let made = json!({ "metadata": { "namespace": "shop", "name": "mine" } });
    session.obey(typed::inject("create", made));
    let here = session.view();
    let (classic, time) = (now(&mut session), here.time);
    assert_eq!(classic["queue"]["kind"], "DeltaFIFO");
    let stored = end(&mut session)["store"]["items"].clone();
    session.obey(Command::Seek(here.step));
    for era in ["1.34", "1.35", "1.36"] {
        assert_eq!(session.obey(typed::generation(era)), Change::Cut);
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
        // From the end of one generation to the end of the next, and back to the same time.
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
    session.obey(typed::generation("1.32"));
    assert_eq!(now(&mut session)["step"], 0);
    session.obey(Command::Seek(here.step));
    assert_eq!(now(&mut session), classic, "the same run as at first");

    session.obey(typed::generation("0.9"));
    let message = now(&mut session)["error"]["message"].to_string();
    assert!(
        message.contains("0.9") && message.contains("1.36"),
        "{message}"
    );
    let mut by_hand = open("deltafifo");
    by_hand.obey(typed::generation("1.36"));
    assert_eq!(now(&mut by_hand)["era"], "1.32");
    assert_ne!(now(&mut by_hand)["error"], Value::Null);
}
