//! Links: the moments that they name, their content, and that old links keep opening.

use deltascope::cache::fact::Cause;
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::command::{Command, Export};
use deltascope::presentation::options::Options;
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::state::state;
use deltascope::presentation::view::{SettingRow, View};
use deltascope::replay::edit::Setting;
use deltascope::replay::lessons::{self, MarkerRule};
use deltascope::replay::link::{Link, is_packed};
use deltascope::replay::moment::Moment;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::replay::timeline::Timeline;
use deltascope::world::slices::{Slices, at_once};
use deltascope::world::text::{Lang, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{HEADER, all_lessons, debug, holds, made, touched};

#[test]
fn moments_have_stable_names() {
    for text in [
        "kept-delete",
        "kept-delete+3",
        "input:2",
        "input:1+10",
        "t:0",
        "t:16900+4",
    ] {
        assert_eq!(text.parse::<Moment>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "5",
        "+3",
        "t:",
        "t:x",
        "t:-5",
        "t:99999999999999999999",
        "input:0",
        "input:",
        "a+b",
        "a+99999999999999999999",
        "step:5",
        "a+-1",
    ] {
        assert!(text.parse::<Moment>().is_err(), "{text}");
    }
    let mut timeline = touched("reflector").play().unwrap();
    let rule = MarkerRule {
        id: "m".into(),
        title: Text::default(),
        fact: "ListAnswered",
        nth: 1,
    };
    let marked = rule.find(&timeline).unwrap();
    let markers = [rule];
    let find = |timeline: &mut Timeline, text: &str| {
        let moment: Moment = text.parse().unwrap();
        at_once(moment.find_slowly(timeline, &markers, &Slices::whole()))
    };
    assert_eq!(find(&mut timeline, "m+2"), Some(marked + 2));
    assert_eq!(find(&mut timeline, "n"), None);
    assert_eq!(find(&mut timeline, "input:99"), None);
    let first = find(&mut timeline, "input:1").unwrap();
    let record = timeline.fact(first - 1).unwrap();
    assert!(matches!(record.cause, Cause::Input(0)), "{record:?}");
    // A time with fewer facts than the link states.
    let end = timeline.count_until(1_000);
    assert_eq!(find(&mut timeline, "t:1000+99999"), Some(end));
    let mut endless = touched("sandbox").play_within(9_000).unwrap().0;
    assert_eq!(find(&mut endless, "t:999999999999999"), None);
    assert_eq!(find(&mut endless, "input:999999999"), None);
}

#[test]
fn a_link_is_short() {
    for id in all_lessons() {
        let lesson = lessons::load(&id).unwrap();
        let mut recording = touched(&id);
        let plain = Link::of(
            Some((id.clone(), &lesson.scenario)),
            &Recording {
                inputs: Vec::new(),
                ..recording.clone()
            },
        );
        assert!(plain.to_string().len() < 80, "{plain}");
        recording.scenario.drops = vec![3, 4];
        recording.scenario.settings.process_ms += 10;
        if !recording.scenario.script.is_empty() {
            recording.scenario.script.remove(0);
        }
        if let Some(recorded) = &mut recording.scenario.recorded {
            recorded.events.pop();
        }
        let link = Link::of(Some((id.clone(), &lesson.scenario)), &recording);
        let text = link.to_string();
        assert!(text.len() < 700, "{}: {text}", text.len());
        let read = Link::read(&text)
            .unwrap()
            .recording(&lesson.scenario)
            .unwrap();
        assert_eq!(debug(&read), debug(&recording), "{id}");
    }
}

/// Every published link opens to the same state: each file holds the link and the page's state at that time.
/// A link is never changed; its state only where the simulation was wrong.
#[test]
fn old_links_keep_opening() {
    let mut seen = 0;
    for file in std::fs::read_dir("tests/links").unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (link, said) = text.split_once('\n').unwrap();
        let said: Value = serde_json::from_str(said).unwrap();
        let mut session = Session::new();
        let before = session.view();
        session.obey(Command::OpenLink(link.into()));
        let view = session.view();
        let path = path.display();
        seen += 1;
        if let Some(words) = said["error"].as_str() {
            let error = view
                .error
                .clone()
                .unwrap_or_else(|| panic!("{path}: no error"))
                .message;
            assert!(
                error.en.contains(words) && !error.zh.is_empty(),
                "{path}: {}",
                error.en
            );
            let (same, now) = (
                state(&before, Lang::En),
                state(
                    &View {
                        error: None,
                        ..view
                    },
                    Lang::En,
                ),
            );
            assert_eq!(same, now, "{path}: the page stays as it was");
            continue;
        }
        let found = state(&view, Lang::En);
        assert!(
            holds(&said, &found),
            "{path}\n{}",
            serde_json::to_string(&found).unwrap()
        );
        // A link made from there opens to the same state again.
        let again = session.export(Export::Link).unwrap();
        let mut other = Session::new();
        other.obey(Command::OpenLink(again.clone().into()));
        assert!(
            holds(&said, &state(&other.view(), Lang::En)),
            "{path}: {again}"
        );
        assert_eq!(other.export(Export::Link).unwrap(), again, "{path}");
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_link_contains_the_selection() {
    let mut session = Session::new();
    let anchor = "api/object/default/web-1";
    session.obey(Command::Select(Anchor::read(anchor)));
    assert!(session.view().selection.is_some());
    let link = session.export(Export::Link).unwrap();
    assert!(link.contains(&format!(";sel={anchor}")), "{link}");
    let mut other = Session::new();
    other.obey(Command::OpenLink(link.into()));
    assert_eq!(other.view().selection, session.view().selection);
    other.obey(Command::OpenLink(
        "#v1;lesson=sandbox;sel=no/such/thing".into(),
    ));
    assert_eq!((other.view().selection, other.view().error), (None, None));
}

/// The settings of a link are stored nowhere else, so starting over must not lose them.
#[test]
fn starting_over_keeps_the_settings_of_a_link_and_drops_its_actions() {
    let mut maker = Session::new();
    maker.obey(typed::setting(&Setting::ProcessMs(0), "300"));
    let set = maker.export(Export::Link).unwrap();
    let place = maker.view().events.first().unwrap().place;
    maker.obey(Command::DropEvent(place));
    let done = maker.export(Export::Link).unwrap();
    for (link, process_ms, branches) in [
        (&*set, Some("300"), 1),
        (&*done, Some("300"), 2),
        ("#v1;lesson=sandbox", None, 1),
        ("#v1;lesson=sandbox;era=1.36", None, 1),
        ("#v1;lesson=sharedinformerfactory;era=1.36", None, 1),
    ] {
        let mut session = Session::new();
        session.obey(Command::OpenLink(link.into()));
        assert_eq!(session.view().error, None);
        let before = state(&session.view(), Lang::En);
        session.obey(Command::Reset);
        let view = session.view();
        assert_eq!(view.branches.len(), branches, "{link}");
        assert_eq!(view.lesson.era.version(), before["era"]);
        if let Some(process_ms) = process_ms {
            let is_it = |row: &&SettingRow| matches!(row.setting, Setting::ProcessMs(_));
            let row = view.settings.iter().find(is_it).unwrap();
            assert_eq!(row.value, process_ms, "{link}");
            assert!(session.timeline().scenario().drops.is_empty());
        }
        if branches > 1 {
            let other = view.branches.iter().find(|row| !row.current).unwrap().id;
            session.obey(Command::Branch(other));
            assert_eq!(session.timeline().scenario().drops.len(), 1);
            assert_eq!(state(&session.view(), Lang::En)["step"], before["step"]);
        }
    }
}

/// The search for a marker is limited; a later moment is named by its time.
#[test]
fn a_link_to_a_late_marker_opens_there() {
    let mut session = Session::new();
    session.obey(typed::setting(&Setting::ProcessMs(0), "400000"));
    let late = |view: &View| {
        let marker = view.markers.iter().find(|marker| &*marker.id == "synced");
        marker.map(|marker| marker.at)
    };
    let at = loop {
        let view = session.view();
        if let Some(at) = late(&view) {
            break at;
        }
        assert!(view.steps < 900_000, "it comes");
        session.obey(Command::Seek(view.steps + 100_000));
    };
    assert!(at > 160_000, "{at}");
    session.obey(Command::Seek(at));
    let link = session.export(Export::Link).unwrap();
    let mut other = Session::new();
    other.obey(Command::OpenLink(link.clone().into()));
    assert_eq!(
        (other.view().error, other.view().step),
        (None, at),
        "{link}"
    );
    assert_eq!(other.export(Export::Link), Ok(link));
}

#[test]
fn a_link_to_a_marker_of_a_scenario_in_a_page_opens_there() {
    let scenario = json!({
        "markers": [{ "id": "stored", "fact": "ItemStored" }],
        "scenario": {
            "settings": { "machinery": "shared" },
            "initial": [{ "metadata": { "namespace": "default", "name": "a" } }],
        },
    });
    let mut session = Session::new();
    let options = Options {
        at: Some("stored".parse().unwrap()),
        ..Options::default()
    };
    session.present(&options, Some(scenario)).unwrap();
    let shown = session.view();
    let link = session.export(Export::Link).unwrap();
    let mut opened = Session::new();
    opened.obey(Command::OpenLink(link.clone().into()));
    let view = opened.view();
    assert_eq!(view.error.map(|error| error.message), None, "{link}");
    assert_eq!(view.step, shown.step, "{link}");
}

#[test]
fn a_moment_beyond_the_limit_of_a_link_is_not_linked() {
    // Many handlers, so that the limit is low.
    let handlers = vec![json!({ "onUpdate": ["{name}"] }); 200];
    let scenario = json!({ "settings": { "machinery": "shared", "resyncMs": 1, "handlers": handlers },
        "initial": [{ "metadata": { "name": "a" } }] });
    let text = format!("{HEADER}{{\"scenario\":{scenario}}}\n");
    let mut session = Session::new();
    session.obey(Command::Open(vec![("a".to_owned(), text.into_bytes())]));
    let far = 1_000_000 / (1 + 200 / 8);
    for (step, opens) in [(far - 1_000, true), (far + 10, false), (far - 1_000, true)] {
        session.obey(Command::Seek(step));
        match session.export(Export::Link) {
            Ok(link) => {
                assert!(opens, "{step}");
                let mut other = Session::new();
                other.obey(Command::OpenLink(link.into()));
                assert_eq!((other.view().error, other.view().step), (None, step));
            }
            Err(reason) => assert!(!opens && reason.en.contains(&far.to_string()), "{reason:?}"),
        }
    }
}

#[test]
fn a_run_with_an_action_beyond_the_limit_of_a_link_is_not_linked() {
    // One more handler makes the facts so far too expensive.
    let handlers = vec![json!({ "onUpdate": ["{name}"] }); 191];
    let scenario = json!({ "settings": { "machinery": "shared", "resyncMs": 1, "handlers": handlers },
        "initial": [{ "metadata": { "name": "a" } }] });
    let text = format!("{HEADER}{{\"scenario\":{scenario}}}\n");
    let mut session = Session::new();
    session.obey(Command::Open(vec![("a".to_owned(), text.into_bytes())]));
    session.obey(Command::Seek(1_000_000 / (1 + 192 / 8) + 500));
    assert!(session.export(Export::Link).is_ok());
    session.obey(Command::AddHandler);
    assert_eq!(session.view().error, None);
    for step in [5, 0] {
        session.obey(Command::Seek(step));
        assert!(session.export(Export::Link).is_err(), "{step}");
    }
}

proptest! {
    // Each case runs worlds, so a quarter of the cases is enough.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn a_moment_is_found_again(place in 0.0..1.0_f64) {
        for id in ["sandbox", "reflector"] {
            let mut timeline = touched(id).play().unwrap();
            timeline.extend(3_000);
            let step = (timeline.len() as f64 * place) as usize;
            let moment = Moment::of(&timeline, step);
            let read: Moment = moment.to_string().parse().unwrap();
            prop_assert_eq!(&read, &moment);
            let mut fresh = touched(id).play().unwrap();
            let found = at_once(read.find_slowly(&mut fresh, &[], &Slices::whole()));
            prop_assert_eq!(found, Some(step));
        }
    }

    #[test]
    fn a_link_reads_back_the_same_recording(
        scenario in made::scenario(),
        inputs in proptest::collection::vec((0..20_000_u64, 0..900_usize, made::input()), 0..6),
        own in made::scenario(),
    ) {
        let inputs = inputs.into_iter().map(|(at, after, input)| RecordedInput { after, at, input });
        let recording = Recording { scenario, inputs: inputs.collect() };
        for lesson in [None, Some(("x".into(), &own))] {
            let made = Link::of(lesson, &recording);
            let link = made.to_string();
            let read = Link::read(&link).unwrap().recording(&own).unwrap();
            prop_assert_eq!(debug(&read), debug(&recording), "{}", link);
            // Also as some programs pass it on: escaped in part, or in lower case, and without the `#`.
            for (semicolon, i, equals) in [
                (";", "i", "="),
                ("%3B", "i", "="),
                ("%3b", "i", "="),
                ("%3B", "i", "%3D"),
                ("%3b", "i", "%3d"),
                ("%3B", "%69", "%3d"),
                ("%3b", "%69", "="),
            ] {
                let passed = link.replace(";i=", &[";", i, "="].concat());
                let passed = passed.replace(';', semicolon).replace('=', equals);
                for passed in [passed.trim_start_matches('#'), &passed] {
                    let read = Link::read(passed).unwrap().recording(&own).unwrap();
                    prop_assert_eq!(debug(&read), debug(&recording), "{}", passed);
                    prop_assert_eq!(is_packed(passed), !made.packed().is_empty(), "{}", passed);
                }
            }
        }
    }
}
