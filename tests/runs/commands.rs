//! Whatever the user does, in any order: the picture is the fold of the facts, what is shared opens at the same state, and
//! nothing panics. `make soak` gives a hundred thousand commands.

use std::collections::BTreeSet;

use deltascope::cache::fact::{ProcessMode, Request, Verb};
use deltascope::cache::key::Key;
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::command::{
    BreakCommand, Command, Export, FAULTS, SvgOptions, Tell, When,
};
use deltascope::presentation::options::Mode;
use deltascope::presentation::session::live::LiveRun;
use deltascope::presentation::session::{Session, typed};
use deltascope::presentation::state::state;
use deltascope::replay::edit::Setting;
use deltascope::replay::lessons;
use deltascope::replay::step_size::StepSize;
use deltascope::world::source::pod::PodSpec;
use deltascope::world::text::{Lang, Text};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::live::{Cluster, generation, scenario};

/// What happens.
#[derive(Clone, Debug)]
enum Do {
    Obey(Command),
    /// Playback goes on.
    Tick,
    /// Open what was exported in place of the run.
    OpenLink,
    OpenTrace,
    /// The cluster changes this object, or removes it.
    Write(u8),
    Remove(u8),
    /// Its responses come, after so many ms.
    Respond(u16),
}

fn key() -> impl Strategy<Value = &'static str> {
    select(vec!["default/web-0", "shop/db-0", "ns1/p1", "x", ""])
}

fn predicate() -> impl Strategy<Value = &'static str> {
    select(vec![
        "fact=ItemStored",
        "delta=Deleted",
        "call=any key=default/web-0",
        "violation",
        "rv>=20 tombstone",
        "nonsense",
    ])
}

fn pod() -> impl Strategy<Value = PodSpec> {
    key().prop_map(|key| {
        let mut pod = PodSpec::of(key);
        pod.set_app("web".into());
        pod
    })
}

fn setting() -> impl Strategy<Value = Command> {
    let settings = Setting::all_of(&lessons::load("sandbox").unwrap().scenario);
    let given = settings.into_iter().flat_map(|setting| {
        let values = setting.choices().iter().chain(&["2", "2000", "bad"]);
        values.map(move |value| typed::setting(&setting, value))
    });
    select(given.collect::<Vec<_>>())
}

fn command() -> impl Strategy<Value = Command> {
    let place = || 0_usize..900;
    let moves = prop_oneof![
        4 => place().prop_map(Command::Seek),
        4 => (-40_i64..40).prop_map(Command::Step),
        2 => select(StepSize::ALL.to_vec()).prop_map(Command::StepSize),
        3 => any::<(bool, bool)>().prop_map(|(on, coarser)| Command::Walk { on, coarser }),
        1 => select(vec![Command::NextMarker, Command::PreviousMarker, Command::TogglePlay]),
        1 => select(vec![Command::Play, Command::Pause]),
        1 => (select(StepSize::ALL.to_vec()), -4_i64..5)
            .prop_map(|(size, by)| Command::WalkBy(size, by)),
        1 => predicate().prop_map(|text| typed::predicate(text, Command::RunUntil)),
        1 => predicate().prop_map(|text| typed::predicate(text, Command::PlayUntil)),
        1 => predicate().prop_map(|text| {
            typed::predicate(text, |what| Command::Break(BreakCommand::Add(what)))
        }),
        1 => (0_u32..4).prop_map(|id| Command::Break(BreakCommand::Turn(id, false))),
        1 => (0_u32..4).prop_map(|id| Command::Break(BreakCommand::Remove(id))),
        1 => select(vec![Command::GoLive, Command::LookOn]),
        1 => select(vec!["end", "start", "relist", "t:900", "input:1", "?"]).prop_map(typed::place),
        1 => Just(Command::Speed(800)),
    ];
    let acts = prop_oneof![
        3 => pod().prop_map(|pod| typed::write(Verb::Create, pod.to_json())),
        2 => pod().prop_map(|pod| typed::write(Verb::Update, pod.to_json())),
        2 => key().prop_map(typed::delete),
        2 => select(FAULTS.to_vec()).prop_map(Command::Fault),
        3 => select(vec![
            Command::CutWatch,
            Command::Compact,
            Command::PopOne,
            Command::Mode(ProcessMode::Held),
            Command::Mode(ProcessMode::Free),
            Command::KnownObjects(false),
            Command::AddHandler,
            Command::RemoveHandler(0),
            Command::Disarm(Request::List, ApiErrorKind::Forbidden),
        ]),
        1 => setting(),
        1 => generation().prop_map(Command::Generation),
        2 => (select(vec!["create", "update", "delete", "?"]), key()).prop_map(|(op, key)| {
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            typed::inject(op, json!({ "metadata": { "namespace": namespace, "name": name } }))
        }),
        1 => place().prop_map(Command::DropEvent),
        1 => (place(), 0_u64..9_000).prop_map(|(at, to)| Command::MoveEvent(at, When::At(to))),
        1 => Just(Command::MoveEvent(30, When::Later)),
    ];
    let views = prop_oneof![
        2 => Just(Command::Fork),
        2 => (0_u32..5).prop_map(Command::Branch),
        1 => (0_u32..5).prop_map(Command::RemoveBranch),
        1 => Just(Command::RenameBranch(1, " x ".into())),
        1 => any::<bool>().prop_map(Command::AskWhy),
        1 => select(vec!["api/object/default/web-0", "room/queue", "reflector/state/watch", "?"])
            .prop_map(|text| Command::Select(Anchor::read(text))),
        1 => key().prop_map(|text| Command::Follow(Some(Key::from(text)))),
        2 => select(vec!["", "race", "1.36", "branch=1", "processMs=90", "opened", "none"])
            .prop_map(typed::against),
        1 => Just(Command::CloseCompare),
        1 => Just(Command::DismissError),
        1 => Just(Command::Reset),
        1 => select(vec!["tombstone", "sandbox", "pod-lifecycle", "deltafifo", "nowhere"])
            .prop_map(|id| Command::Load(id.into())),
        1 => (0_usize..4).prop_map(|scene| Command::Tell(Tell::Scene(scene))),
        1 => select(vec![Tell::Next, Tell::Back, Tell::Hint, Tell::Answer(None), Tell::Show(false)])
            .prop_map(Command::Tell),
        1 => (0_u8..4).prop_map(|answer| Command::Answer(answer.into())),
        1 => any::<bool>().prop_map(|on| Command::Stops(None, on)),
        1 => (1_usize..5).prop_map(|scene| Command::Present(Mode::Story, Some(scene))),
        1 => Just(Command::Disconnect),
    ];
    prop_oneof![5 => moves, 4 => acts, 3 => views]
}

fn things() -> impl Strategy<Value = Vec<Do>> {
    let thing = prop_oneof![
        19 => command().prop_map(Do::Obey),
        2 => Just(Do::Tick),
        1 => Just(Do::OpenLink),
        1 => Just(Do::OpenTrace),
        2 => any::<u8>().prop_map(Do::Write),
        1 => any::<u8>().prop_map(Do::Remove),
        4 => (0_u16..900).prop_map(Do::Respond),
    ];
    prop::collection::vec(thing, 10..31)
}

macro_rules! names {
    ($($Command:ident)+) => {
        const NAMES: &[&str] = &[$(stringify!($Command)),+];

        fn name(command: &Command) -> &'static str {
            match command { $(Command::$Command { .. } => stringify!($Command),)+ }
        }
    };
}

names! {
    TogglePlay Play Pause Step Seek SeekTo NextMarker PreviousMarker Reset Speed Load Open OpenLink Smallest Write CutWatch
    Compact PopOne Mode KnownObjects Generation AddHandler RemoveHandler Fault Disarm Fork Branch RenameBranch RemoveBranch
    DropEvent MoveEvent Set StepSize Walk WalkBy RunUntil LookOn PlayUntil Break Stops Present Compare CloseCompare AskWhy
    Select Follow GoLive Disconnect Tell Answer Wrong DismissError
}

#[test]
fn every_command_is_given() {
    let mut runner = TestRunner::deterministic();
    let given = (0..5_000).map(|_| name(&command().new_tree(&mut runner).unwrap().current()));
    let given: BTreeSet<_> = given.collect();
    let missing: Vec<_> = NAMES.iter().filter(|name| !given.contains(*name)).collect();
    // Two open what was exported, and a trial takes long.
    assert_eq!(missing, [&"Open", &"OpenLink", &"Smallest"]);
}

/// A session and the cluster that it may follow.
struct Run {
    session: Session,
    cluster: Cluster,
    now: u64,
}

impl Run {
    fn new(start: &str) -> Self {
        let mut session = Session::new();
        if start == "live" {
            session.connect(LiveRun {
                title: Text::new("pods", "pods"),
                scenario: scenario(Default::default(), None),
                start: Some(1_795_341_600_000),
            });
            session.live_tick(0);
        } else {
            session.obey(Command::Load(start.into()));
        }
        Self {
            session,
            cluster: Cluster::default(),
            now: 0,
        }
    }

    fn act(&mut self, thing: &Do) {
        let session = &mut self.session;
        match thing {
            Do::Obey(command) => drop(session.obey(command.clone())),
            Do::Tick => drop(session.tick()),
            Do::OpenLink => {
                if let Ok(link) = session.export(Export::Link) {
                    session.obey(Command::OpenLink(link.into()));
                }
            }
            Do::OpenTrace => {
                if let Ok(trace) = session.export(Export::Trace) {
                    session.obey(Command::Open(vec![("a.jsonl".into(), trace.into_bytes())]));
                }
            }
            Do::Write(name) => self.cluster.write(name % 12),
            Do::Remove(name) => self.cluster.delete(name % 12),
            Do::Respond(ms) => {
                self.now += u64::from(*ms);
                let responses = self.cluster.respond(session.live_wanted(), None);
                session.live_received(self.now, responses);
                while session.live_due().is_some_and(|at| at <= self.now) {
                    session.live_tick(self.now);
                }
                session.live_follow();
            }
        }
    }

    fn check(&mut self, after: &Do) {
        let view = self.session.view();
        let timeline = self.session.timeline();
        let mut picture = timeline.picture(0);
        timeline.fold(&mut picture, 0..view.step);
        assert!(
            picture == *view.picture,
            "after {after:?}, at {}",
            view.step
        );
        assert!(view.step <= view.steps, "after {after:?}");
        for error in view.error.iter() {
            assert!(!error.message.en.is_empty() && !error.message.zh.is_empty());
        }
        let _told = [Lang::En, Lang::Zh].map(|lang| state(&view, lang));
    }

    /// What is shared opens at the same state.
    fn check_shared(&mut self) {
        let view = self.session.view();
        let shared = [
            self.session
                .export(Export::Link)
                .map(|link| Command::OpenLink(link.into())),
            self.session
                .export(Export::Trace)
                .map(|trace| Command::Open(vec![("a.jsonl".into(), trace.into_bytes())])),
        ];
        for open in shared {
            let Ok(open) = open else { continue };
            let mut other = Session::new();
            other.obey(open.clone());
            let opened = other.view();
            assert_eq!(
                opened.error.as_ref().map(|error| &error.message),
                None,
                "{open:?}"
            );
            assert_eq!(opened.step, view.step, "{open:?}");
            // A race goes by time, and only its own run is shared.
            if view.race().is_none() {
                assert_eq!(opened.time, view.time, "{open:?}");
            }
            assert!(opened.picture == view.picture, "{open:?}");
        }
        let _picture = self.session.export(Export::Svg(SvgOptions::default()));
        let _words = self.session.export(Export::Transcript(Lang::En));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn in_any_order_commands_leave_a_picture_that_is_right_and_can_be_shared(
        start in select(vec!["live", "live", "sandbox", "tombstone", "indexer", "pod-lifecycle"]),
        things in things(),
    ) {
        assert!(start == "live" || lessons::is_known(start));
        let mut run = Run::new(start);
        for thing in &things {
            run.act(thing);
            run.check(thing);
        }
        run.check_shared();
    }
}
