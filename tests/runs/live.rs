//! A live run: what a cluster tells, recorded, seen, forgotten, written and played again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{EventType, Fact, ProcessMode, ReflectorFact, ServerFact, WatchEnd};
use deltascope::cache::lister_watcher::{ApiError, ApiErrorKind};
use deltascope::presentation::caption::{before_start, plain};
use deltascope::presentation::command::{Command as Click, Export};
use deltascope::presentation::i18n::{Lang, Text};
use deltascope::presentation::session::Session;
use deltascope::presentation::session::keep::Kept;
use deltascope::presentation::session::live::LiveRun;
use deltascope::presentation::session::walk::BreakCommand;
use deltascope::replay::picture::Behind;
use deltascope::replay::picture::Picture;
use deltascope::replay::timeline::Timeline;
use deltascope::replay::trace::{self, Trace};
use deltascope::world::source::Command;
use deltascope::world::source::any::AnySource;
use deltascope::world::source::live::{Page, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::wire::{RecordedEvent, event_of};
use deltascope::world::virtual_time::{
    Era, HandlerSettings, InformerKind, Input, Settings, SourceKind,
};
use deltascope::world::{Asked, Time};
use kube_core::DynamicObject;
use proptest::prelude::*;
use serde_json::json;

fn scenario(generation: Generation, watch_list: Option<bool>) -> Scenario {
    let handler = HandlerSettings {
        name: "h".into(),
        latency_ms: 5,
        ..HandlerSettings::default()
    };
    Scenario {
        settings: Settings {
            feed: SourceKind::Cluster,
            machinery: InformerKind::Shared,
            era: Era(generation),
            watch_list,
            resync_ms: 700,
            indices: vec!["namespace".into(), "app".into(), ".spec.nodeName".into()],
            handlers: vec![handler],
            ..Settings::default()
        },
        ..Scenario::default()
    }
}

fn object(name: u8, rv: u64) -> Arc<DynamicObject> {
    let event = json!({ "type": "ADDED", "object": {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": format!("ns{}", name % 3), "name": format!("p{name}"),
            "uid": format!("u{name}"), "resourceVersion": rv.to_string(),
            "labels": { "app": format!("a{}", rv % 4) } },
        "spec": { "nodeName": format!("n{}", name % 2) } } });
    match event_of(event) {
        Ok(RecordedEvent::Object { object, .. }) => object,
        _ => panic!("an object"),
    }
}

/// A server as small as can be, and the wire to it.
#[derive(Default)]
struct Cluster {
    rv: u64,
    objects: BTreeMap<u8, Arc<DynamicObject>>,
    /// What an open watch has not been told.
    unsent: Vec<RecordedEvent>,
    /// The request that was answered last.
    answered: u32,
    watching: bool,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Time goes by.
    Wait(u16),
    /// The wire is read.
    Read,
    Write(u8),
    Delete(u8),
    Bookmark,
    End(u8),
    /// The next answers are no.
    Refuse(u8),
    Mode(u8),
    Pop,
}

impl Cluster {
    fn write(&mut self, name: u8) {
        self.rv += 1;
        let made = object(name, self.rv);
        let event = match self.objects.insert(name, Arc::clone(&made)) {
            Some(_) => EventType::Modified,
            None => EventType::Added,
        };
        self.unsent.push(RecordedEvent::Object {
            event,
            object: made,
        });
    }

    fn delete(&mut self, name: u8) {
        if self.objects.remove(&name).is_some() {
            self.rv += 1;
            let event = EventType::Deleted;
            let object = object(name, self.rv);
            self.unsent.push(RecordedEvent::Object { event, object });
        }
    }

    fn rv(&self) -> Arc<str> {
        self.rv.to_string().into()
    }

    /// Whether something was written that is not told yet.
    fn has_more(&self) -> bool {
        let is_object = |event: &RecordedEvent| matches!(event, RecordedEvent::Object { .. });
        self.unsent.iter().any(is_object)
    }

    /// How many objects a store does not show as they are here.
    fn ahead_of(&self, picture: &Picture) -> Behind {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let there = self.objects.values().map(|object| {
            let of = &object.metadata;
            let key = [text(&of.namespace), text(&of.name)].join("/");
            (key, text(&of.resource_version))
        });
        let there: BTreeMap<String, String> = there.collect();
        let items = picture.store.items.iter();
        let here: BTreeMap<String, String> = items
            .map(|(key, object)| (key.to_string(), object.rv.to_string()))
            .collect();
        let gone = here.keys().filter(|key| !there.contains_key(*key)).count();
        let unlike = there
            .iter()
            .filter(|(key, rv)| here.get(*key) != Some(rv))
            .count();
        Behind::By((gone + unlike) as u64)
    }

    /// What comes over the wire now; `refuse` says with what a new request is answered.
    fn tell(&mut self, wanted: Option<Wanted>, refuse: Option<u8>) -> Vec<ServerResponse> {
        let Some(Wanted { request, ask, .. }) = wanted else {
            self.watching = false;
            return Vec::new();
        };
        let mut told = Vec::new();
        if self.answered != request {
            self.watching = false;
            if let Some(kind) = refuse {
                told.push(match kind % 4 {
                    0 => ResponsePart::Later {
                        code: 429,
                        after_ms: 1_000,
                        attempt: 1,
                    },
                    1 => ResponsePart::Refused(ApiError::new(ApiErrorKind::InternalError, "boom")),
                    2 => ResponsePart::Refused(ApiError::new(ApiErrorKind::Expired, "too old")),
                    _ => ResponsePart::Refused(ApiError::new(
                        ApiErrorKind::ConnectionRefused,
                        "nobody",
                    )),
                });
                if kind % 4 != 0 {
                    self.answered = request;
                }
                return told
                    .into_iter()
                    .map(|told| ServerResponse { request, told })
                    .collect();
            }
            self.answered = request;
            match ask {
                Asked::List(_) => {
                    told.push(ResponsePart::Page(Page {
                        rv: self.rv(),
                        items: self.objects.values().cloned().collect(),
                        continue_token: "".into(),
                    }));
                    self.unsent.clear();
                }
                Asked::Watch(watch) => {
                    told.push(ResponsePart::Opened);
                    self.watching = true;
                    if watch.send_initial_events == Some(true) {
                        self.unsent.clear();
                        for object in self.objects.values().cloned() {
                            let event = EventType::Added;
                            told.push(ResponsePart::Event(RecordedEvent::Object { event, object }));
                        }
                        told.push(ResponsePart::Event(RecordedEvent::Bookmark {
                            rv: self.rv(),
                            initial_events_end: true,
                        }));
                    }
                }
            }
        }
        if self.watching {
            told.extend(self.unsent.drain(..).map(ResponsePart::Event));
        }
        told.into_iter()
            .map(|told| ServerResponse { request, told })
            .collect()
    }
}

fn wanted(timeline: &Timeline) -> Option<Wanted> {
    match timeline.source() {
        AnySource::Live(live) => live.wanted(),
        _ => None,
    }
}

struct Run {
    timeline: Timeline,
    cluster: Cluster,
    now: Time,
    refuse: Option<u8>,
}

impl Run {
    fn new(generation: Generation, watch_list: Option<bool>) -> Self {
        Self::of(scenario(generation, watch_list))
    }

    fn of(scenario: Scenario) -> Self {
        let cluster = Cluster {
            rv: 100,
            ..Cluster::default()
        };
        let timeline = Timeline::live(scenario).unwrap();
        Self {
            timeline,
            cluster,
            now: 0,
            refuse: None,
        }
    }

    fn go(&mut self) {
        while !self.timeline.go_to(self.now, 10_000) {}
    }

    fn tell(&mut self, told: Vec<ServerResponse>) {
        if !told.is_empty() {
            let input = Input::Source(Command::Tell(told.into()));
            self.timeline.take(self.now, input);
            self.go();
        }
    }

    fn end(&mut self, end: WatchEnd) {
        if let Some(Wanted {
            request,
            ask: Asked::Watch(_),
            ..
        }) = wanted(&self.timeline)
            && self.cluster.watching
        {
            self.cluster.watching = false;
            self.tell(vec![ServerResponse {
                request,
                told: ResponsePart::Ended(end),
            }]);
        }
    }

    fn act(&mut self, op: Op) {
        match op {
            Op::Wait(ms) => {
                self.now += Time::from(ms);
                self.go();
            }
            Op::Read => {
                self.go();
                let refuse = self.refuse.take();
                let told = self.cluster.tell(wanted(&self.timeline), refuse);
                self.tell(told);
            }
            Op::Write(name) => self.cluster.write(name % 12),
            Op::Delete(name) => self.cluster.delete(name % 12),
            Op::Bookmark => self.cluster.unsent.push(RecordedEvent::Bookmark {
                rv: self.cluster.rv(),
                initial_events_end: false,
            }),
            Op::End(kind) => self.end(match kind % 4 {
                0 => WatchEnd::Closed,
                1 => WatchEnd::Cut,
                2 => WatchEnd::CutInLine(9),
                _ => WatchEnd::Silent,
            }),
            Op::Refuse(kind) => self.refuse = Some(kind),
            Op::Mode(kind) => {
                let mode = match kind % 3 {
                    0 => ProcessMode::Free,
                    1 => ProcessMode::Held,
                    _ => ProcessMode::Paced(40),
                };
                self.timeline.take(self.now, Input::Mode(mode));
            }
            Op::Pop => self.timeline.take(self.now, Input::Pop),
        }
    }

    /// Until the store has what the cluster has.
    fn catch_up(&mut self) {
        self.timeline.take(self.now, Input::Mode(ProcessMode::Free));
        for _ in 0..200 {
            self.act(Op::Read);
            self.act(Op::Wait(2_000));
        }
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => (0..900u16).prop_map(Op::Wait),
        8 => Just(Op::Read),
        8 => any::<u8>().prop_map(Op::Write),
        3 => any::<u8>().prop_map(Op::Delete),
        1 => Just(Op::Bookmark),
        1 => any::<u8>().prop_map(Op::End),
        1 => any::<u8>().prop_map(Op::Refuse),
        1 => any::<u8>().prop_map(Op::Mode),
        1 => Just(Op::Pop),
    ];
    prop::collection::vec(op, 1..80)
}

fn generation() -> impl Strategy<Value = Generation> {
    (0..4usize).prop_map(|n| Generation::ALL[n])
}

/// The facts there, in short.
fn differ(one: &Timeline, other: &Timeline, at: Option<usize>) -> String {
    let of = |timeline: &Timeline| {
        let record = timeline.fact(at?)?;
        Some((record.time, record.actor, record.cause, record.fact.name()))
    };
    format!("{:?} and {:?}", of(one), of(other))
}

fn stored(timeline: &Timeline) -> Vec<(String, String)> {
    let picture = timeline.picture(timeline.len());
    let items = picture.store.items.iter();
    items
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// The picture is right, what was recorded is the same run when it is played again, from memory and
    /// from a file; and in the end the store has what the cluster has.
    #[test]
    fn a_live_run_is_a_recording(
        ops in ops(),
        generation in generation(),
        streams in any::<Option<bool>>(),
    ) {
        let mut run = Run::new(generation, streams);
        let mut picture = run.timeline.picture(0);
        let mut seen = 0;
        for op in &ops {
            run.act(*op);
            picture.apply_all(&run.timeline.facts(seen..run.timeline.len()));
            seen = run.timeline.len();
            // Without a watch nobody knows what the cluster has; with one, as far as it has told.
            match picture.store.behind {
                Behind::Unknown => {}
                behind => {
                    prop_assert!(run.cluster.watching, "{behind:?}");
                    prop_assert!(run.cluster.has_more() || behind == run.cluster.ahead_of(&picture));
                }
            }
        }
        prop_assert!(picture == run.timeline.picture(seen), "the fold is another picture");

        let mut live = run.timeline.clone();
        live.end_live();
        let recording = live.recording();
        let (mut played, all) = recording.play_within(live.len()).unwrap();
        played.extend(seen);
        prop_assert_eq!(all, recording.inputs.len());
        let differs = (0..seen).find(|at| played.fact(*at) != live.fact(*at));
        prop_assert!(differs.is_none(), "played again, fact {differs:?} of {seen} differs: {}",
            differ(&played, &live, differs));
        prop_assert!(played.picture(seen) == live.picture(seen));

        let text = trace::write(&Trace {
            lesson: "".into(), title: Text::default(), at: None, start: None, recording,
        });
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        prop_assert!(error.is_none(), "{}", error.unwrap());
        let read = read.unwrap().recording;
        let (mut again, _) = read.play_within(live.len()).unwrap();
        again.extend(seen);
        let differs = (0..seen).find(|at| again.fact(*at) != live.fact(*at));
        prop_assert!(differs.is_none(), "read again, {}", differ(&again, &live, differs));

        run.catch_up();
        let there = |object: &Arc<DynamicObject>| {
            let of = &object.metadata;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let key = format!("{}/{}", text(&of.namespace), text(&of.name));
            (key, text(&of.resource_version))
        };
        let mut has: Vec<_> = run.cluster.objects.values().map(there).collect();
        has.sort();
        prop_assert_eq!(stored(&run.timeline), has);
        let behind = run.timeline.picture(run.timeline.len()).store.behind;
        prop_assert_eq!(behind, Behind::By(0));
    }

    /// What is left of a long run is itself a recording: it begins with what the cluster had.
    #[test]
    fn what_is_forgotten_is_made_up_for(
        generation in generation(),
        streams in any::<Option<bool>>(),
        left in 0..9_000usize,
        later in ops(),
    ) {
        let mut run = Run::new(generation, streams);
        for round in 0..500_u16 {
            run.cluster.write((round % 12) as u8);
            if round % 7 == 0 {
                run.cluster.delete((round % 5) as u8);
            }
            if round % 90 == 13 {
                run.act(Op::End((round % 4) as u8));
            }
            run.act(Op::Read);
            run.act(Op::Wait(70));
        }
        let known = run.timeline.len();
        let whole = run.timeline.clone();
        let gone = run.timeline.forget(left);
        prop_assert_eq!(run.timeline.len() + gone, known);
        prop_assert!(gone > 0 || left + 4_096 > known, "{} {}", left, known);
        for at in [0, 1, 700, run.timeline.len() / 2, run.timeline.len()] {
            prop_assert!(run.timeline.fact(at) == whole.fact(gone + at), "{at}");
            prop_assert!(run.timeline.picture(at) == whole.picture(gone + at), "{at}");
        }
        for op in later.iter().filter(|op| !matches!(op, Op::Mode(_) | Op::Pop)) {
            run.act(*op);
        }
        run.catch_up();
        // Computed again after it was dropped.
        let mut rested = run.timeline.clone();
        rested.rest();
        let middle = rested.len() / 2;
        prop_assert!(rested.picture(middle) == run.timeline.picture(middle));

        let mut live = run.timeline.clone();
        live.end_live();
        let recording = live.recording();
        let text = trace::write(&Trace {
            lesson: "".into(), title: Text::default(), at: None, start: None, recording,
        });
        let longest = text.lines().map(str::len).max();
        prop_assert!(longest < Some(40_000), "{longest:?}");
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        prop_assert!(error.is_none(), "{}", error.unwrap());
        let mut played = read.unwrap().recording.play().unwrap();
        played.extend_past(run.now);
        prop_assert_eq!(stored(&played), stored(&live));
        let told = |timeline: &Timeline| {
            let mut told = Vec::new();
            timeline.each::<()>(0..timeline.len(), &mut |_, record| {
                if let Fact::Server(ServerFact::EventSent { event, object, .. }) = &record.fact {
                    told.push(format!("{} {}", event.as_str(), object.rv));
                }
                std::ops::ControlFlow::Continue(())
            });
            told
        };
        let (was, is) = (told(&live), told(&played));
        prop_assert!(is.ends_with(&was), "{} events, then {}", was.len(), is.len());
    }
}

fn session() -> (Session, Cluster) {
    let mut session = Session::new();
    session.connect(LiveRun {
        title: Text::new("pods", "pods"),
        scenario: scenario(Generation::Atomic, None),
        start: Some(1_795_341_600_000),
    });
    session.live_tick(0);
    let cluster = Cluster {
        rv: 100,
        ..Cluster::default()
    };
    (session, cluster)
}

fn read(session: &mut Session, cluster: &mut Cluster, now: Time) {
    let told = cluster.tell(session.live_wanted(), None);
    session.live_told(now, told);
    while session.live_due().is_some_and(|at| at <= now) {
        session.live_tick(now);
    }
}

#[test]
fn going_along_stops_at_a_breakpoint_and_playing_joins_the_edge() {
    let (mut session, mut cluster) = session();
    // (how many objects come at once: shown fact by fact, and at once)
    for (round, names) in [1_u8, 40].into_iter().enumerate() {
        let now = 1_000 * (round as u64 + 1);
        session.obey(Click::GoLive);
        read(&mut session, &mut cluster, now);
        at_the_edge(&mut session);
        let at = format!("fact=ItemStored key=ns{}/p{names}", names % 3);
        session.obey(Click::Break(BreakCommand::Add(at)));
        (1..=names).for_each(|name| cluster.write(name));
        read(&mut session, &mut cluster, now + 10);
        read(&mut session, &mut cluster, now + 20);
        at_the_edge(&mut session);
        let live = session.view().live.unwrap();
        assert!(!live.following && live.behind > 0, "{names}: {live:?}");
        let stopped = session.view().walking.breaks[0].clone();
        assert_eq!(stopped.hit, Some(session.view().step));
        // On from there, up to the edge.
        session.obey(Click::Break(BreakCommand::Remove(stopped.id)));
        session.play();
        while session.tick() == deltascope::presentation::session::Change::Forward {}
        let live = session.view().live.unwrap();
        assert!(live.following && live.behind == 0, "{names}: {live:?}");
    }
}

fn at_the_edge(session: &mut Session) {
    while session.live_follow() != deltascope::presentation::session::Change::None {}
}

#[test]
fn who_goes_along_is_late_only_for_a_moment_and_sees_the_end() {
    let (mut session, mut cluster) = session();
    read(&mut session, &mut cluster, 10);
    at_the_edge(&mut session);
    cluster.write(1);
    read(&mut session, &mut cluster, 20);
    let live = session.view().live.unwrap();
    assert!(live.following && live.behind > 0 && !live.late, "{live:?}");
    read(&mut session, &mut cluster, 5_000);
    assert!(session.view().live.unwrap().late);
    session.obey(Click::Disconnect);
    let view = session.view();
    assert!(view.live.is_none() && view.step == view.steps);
}

#[test]
fn a_live_session_goes_on_wherever_one_looks() {
    let (mut session, mut cluster) = session();
    for name in 0..4 {
        cluster.write(name);
    }
    read(&mut session, &mut cluster, 10);
    read(&mut session, &mut cluster, 20);
    at_the_edge(&mut session);
    let view = session.view();
    assert!(
        view.live
            .is_some_and(|live| live.following && live.behind == 0)
    );
    assert_eq!(view.picture.store.items.len(), 4);
    // Looking back, and the recording goes on.
    session.obey(Click::Step(-30));
    let step = session.view().step;
    cluster.write(9);
    read(&mut session, &mut cluster, 3_000);
    assert!(session.live_follow() == deltascope::presentation::session::Change::None);
    let view = session.view();
    assert_eq!(view.step, step);
    assert!(
        view.live
            .is_some_and(|live| !live.following && live.behind > 30)
    );
    // The past cannot be acted on while there is a present; the present can.
    session.obey(Click::AddHandler);
    assert!(session.view().error.is_some());
    session.obey(Click::Fork);
    assert!(session.view().error.is_some());
    session.obey(Click::GoLive);
    session.obey(Click::AddHandler);
    assert!(session.view().error.is_none());
    read(&mut session, &mut cluster, 4_000);
    at_the_edge(&mut session);
    assert_eq!(session.view().picture.handlers.len(), 2);
    assert_eq!(session.view().picture.store.items.len(), 5);
    // Why leads to the cluster, and a link is refused: a file is what carries it.
    session.obey(Click::AskWhy(true));
    assert!(session.view().why.is_some());
    assert!(session.export(Export::Link).is_err());
    let text = session.export(Export::Trace).ok().unwrap();
    assert!(
        session
            .export(Export::Transcript(Lang::En))
            .ok()
            .unwrap()
            .len()
            > 1_000
    );

    // Disconnected it is a recording like any other: forked, changed, and an event left out.
    session.obey(Click::Disconnect);
    assert!(!session.is_live() && session.live_wanted().is_none());
    let steps = session.view().steps;
    let events = session.view().events;
    let last = events.iter().rev().find(|event| event.key.ends_with("p9"));
    session.obey(Click::DropEvent(last.unwrap().place));
    assert!(session.view().error.is_none(), "{:?}", session.view().error);
    session.obey(Click::Seek(usize::MAX));
    assert_eq!(session.view().picture.store.items.len(), 4);
    session.obey(Click::Seek(60));
    session.obey(Click::Mode(ProcessMode::Paced(3)));
    assert!(session.view().error.is_none());
    // What came later comes all the same.
    session.obey(Click::Seek(usize::MAX));
    assert_eq!(session.view().picture.store.items.len(), 4);
    session.obey(Click::Era("1.32".into()));
    session.obey(Click::Seek(usize::MAX));
    assert_eq!(session.view().picture.store.items.len(), 4);
    // Started over, the cluster tells what it told, and what was set stays; what was done here does not.
    session.obey(Click::Reset);
    assert_eq!((session.view().step, session.view().error), (0, None));
    session.obey(Click::Seek(usize::MAX));
    let picture = session.view().picture;
    let mode = session.timeline().scenario().settings.mode.0;
    assert_eq!((picture.store.items.len(), picture.handlers.len()), (4, 1));
    assert_eq!(
        (mode, picture.pop.mode),
        (ProcessMode::Paced(3), ProcessMode::Paced(3))
    );

    let mut other = Session::new();
    other.obey(Click::Open(vec![("t.jsonl".into(), text.into_bytes())]));
    assert!(other.view().error.is_none(), "{:?}", other.view().error);
    other.obey(Click::Seek(steps));
    assert_eq!(other.view().picture.store.items.len(), 5);
}

#[test]
fn a_busy_cluster_is_forgotten_as_it_goes() {
    let (mut session, mut cluster) = session();
    let (mut now, mut most) = (0, 0);
    let (mut kept, mut copy) = (Kept::default(), String::new());
    for round in 0..4_000_u32 {
        for n in 0..10 {
            cluster.write(((round + n) % 60) as u8);
        }
        now += 10;
        read(&mut session, &mut cluster, now);
        most = most.max(session.view().steps);
        copied(&session, &mut kept, &mut copy);
    }
    let view = session.view();
    assert!(most < 470_000, "{most}");
    assert!(view.live.is_some_and(|live| live.forgotten > 100_000));
    // Where it begins now it had gone on for long.
    session.obey(Click::Seek(0));
    let view = session.view();
    assert!(
        view.time > 1_000 && view.picture.store.items.len() == 60,
        "{}",
        view.time
    );
    let said = [Lang::En, Lang::Zh].map(|lang| plain(&before_start(&view.picture, lang).what));
    assert!(
        said[0].contains("no longer kept") && said[1].contains("不再保留"),
        "{said:?}"
    );
    // What somebody looks at stays, however much comes; who goes along lets it go.
    session.obey(Click::Seek(5_000));
    let looked_at = session.view();
    for round in 0..1_000_u32 {
        (0..10).for_each(|n| cluster.write(((round + n) % 60) as u8));
        now += 10;
        read(&mut session, &mut cluster, now);
        copied(&session, &mut kept, &mut copy);
    }
    let view = session.view();
    assert!(
        view.steps > 450_000 && view.error.is_none(),
        "{}",
        view.steps
    );
    assert_eq!((view.step, view.time), (looked_at.step, looked_at.time));
    assert!(view.picture == looked_at.picture);
    session.obey(Click::GoLive);
    read(&mut session, &mut cluster, now + 10);
    assert!(session.view().steps < 470_000);
    session.obey(Click::GoLive);
    let picture = session.view().picture;
    assert_eq!(picture.store.items.len(), 60);
    assert!(*picture == fold(&session), "the picture at the edge");
    // The copy outside of the program has what was forgotten, too.
    let (trace, error) = trace::read("copy.jsonl", copy.as_bytes());
    assert_eq!(error.map(|error| error.message.en), None);
    let inputs = trace.unwrap().recording.inputs;
    let versions = inputs.iter().flat_map(|taken| match &taken.input {
        Input::Source(Command::Tell(told)) => told.iter().filter_map(version).collect(),
        _ => Vec::new(),
    });
    assert!(versions.eq(101..=50_100), "each event, once");
}

fn version(telling: &ServerResponse) -> Option<u64> {
    match &telling.told {
        ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
            object.metadata.resource_version.as_ref()?.parse().ok()
        }
        _ => None,
    }
}

/// Brings a copy of the run up to date; false where it cannot be whole any more.
fn copied(session: &Session, kept: &mut Kept, copy: &mut String) -> bool {
    let mut is_whole = true;
    while let Some(copied) = session.copy(kept) {
        if !copied.is_more {
            copy.clear();
        }
        copy.push_str(&copied.text);
        is_whole = copied.is_whole;
    }
    is_whole
}

#[test]
fn the_copy_of_a_run_is_its_recording() {
    let mut session = Session::new();
    let (mut kept, mut copy) = (Kept::default(), String::new());
    let create = json!({ "metadata": { "namespace": "default", "name": "mine" } });
    for (what, command) in [
        ("nothing", Click::Seek(0)),
        ("steps", Click::Step(3)),
        ("an input", Click::CutWatch),
        ("one more", Click::Seek(40)),
        ("into the past", Click::Seek(10)),
        ("which drops what came after", Click::CutWatch),
        ("a branch", Click::Fork),
        ("the other one", Click::Branch(1)),
        ("a generation", Click::Era("1.36".into())),
        ("a lesson", Click::Load("reflector".into())),
    ] {
        session.obey(command);
        if what == "one more" {
            session.inject("create", create.clone());
        }
        assert!(copied(&session, &mut kept, &mut copy), "{what}");
        let exported = session.export(Export::Trace).unwrap();
        let lines = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
        assert_eq!(lines(&copy), lines(&exported), "{what}");
        assert_eq!(session.copy(&mut kept), None, "{what}");
    }
    // What is too large to be written down at once has no copy.
    let pods = (0..3_000)
        .map(|n| json!({ "metadata": { "namespace": "default", "name": format!("pod-{n}") } }));
    let trace = format!(
        "{{\"deltascope\":1}}\n{}\n",
        json!({ "scenario": { "initial": pods.collect::<Vec<_>>() } })
    );
    session.obey(Click::Open(vec![("many.jsonl".into(), trace.into_bytes())]));
    assert_eq!(session.view().error, None);
    assert!(!copied(&session, &mut kept, &mut copy));
    assert_eq!(copy, "");
}

fn fold(session: &Session) -> Picture {
    let timeline = session.timeline();
    let mut picture = timeline.picture(0);
    picture.apply_all(&timeline.all_facts());
    picture
}

#[test]
fn an_index_of_a_field_has_its_values() {
    let mut run = Run::new(Generation::Batched, Some(false));
    for name in 0..5 {
        run.cluster.write(name);
    }
    run.catch_up();
    let picture = run.timeline.picture(run.timeline.len());
    let values = &picture.store.indices[".spec.nodeName"];
    let values: Vec<_> = values
        .iter()
        .map(|(value, keys)| (&**value, keys.len()))
        .collect();
    assert_eq!(values, [("n0", 3), ("n1", 2)]);
}

#[test]
fn more_than_can_be_kept_is_waited_for_and_no_error_of_the_reflector() {
    let mut run = Run::new(Generation::Atomic, None);
    run.go();
    let one = |n: u32| {
        let mut made = DynamicObject::clone(&object(1, 7));
        made.metadata.name = Some(n.to_string());
        ResponsePart::Event(RecordedEvent::Object {
            event: EventType::Added,
            object: Arc::new(made),
        })
    };
    let tell = |run: &mut Run, told: Vec<ResponsePart>| {
        let request = wanted(&run.timeline).unwrap().request;
        let tell = |told| ServerResponse { request, told };
        run.now += 10;
        run.go();
        run.tell(told.into_iter().map(tell).collect());
    };
    let all = |count: u32| {
        [ResponsePart::Opened]
            .into_iter()
            .chain((0..count).map(one))
            .collect()
    };
    tell(&mut run, all(50_001));
    // It asks for all of it again, and says that it is worth waiting for; nobody has failed.
    for _ in 0..3 {
        run.now += 100_000;
        run.go();
        let wanted = wanted(&run.timeline).unwrap();
        assert!(wanted.too_much && wanted.request == 2, "{wanted:?}");
    }
    let picture = run.timeline.picture(run.timeline.len());
    assert_eq!(picture.reflector.watch_errors, 0);
    assert!(picture.store.items.is_empty());
    // There are fewer: it goes on by itself.
    tell(&mut run, all(3));
    let rv = "9".into();
    let end = ResponsePart::Event(RecordedEvent::Bookmark {
        rv,
        initial_events_end: true,
    });
    tell(&mut run, vec![end]);
    assert_eq!(stored(&run.timeline).len(), 3);
    assert!(!wanted(&run.timeline).unwrap().too_much);
    // What was recorded of it is the same run.
    let again = run.timeline.recording().play().unwrap();
    assert_eq!(stored(&again).len(), 3);
}

#[test]
fn the_pages_of_one_list_count_together_and_no_others() {
    let mut run = Run::new(Generation::Classic, None);
    let mut has = Vec::new();
    for told in [
        ResponsePart::Page(Page {
            rv: "9".into(),
            items: (1..4).map(|name| object(name, 7)).collect(),
            continue_token: "more".into(),
        }),
        ResponsePart::Refused(ApiError::new(ApiErrorKind::InternalError, "boom")),
    ] {
        run.now += 100_000;
        run.go();
        let Wanted { request, .. } = wanted(&run.timeline).unwrap();
        run.tell(vec![ServerResponse { request, told }]);
        run.now += 100_000;
        run.go();
        has.push(wanted(&run.timeline).unwrap().has);
    }
    assert_eq!(has, [3, 0]);
}

#[test]
fn the_waits_of_a_run_are_spread_and_play_again_as_they_were() {
    // What a seed makes of the first pause and of the time that a watch is asked for.
    let waits = |jitter: Option<u32>| {
        let mut scenario = scenario(Generation::Atomic, Some(false));
        scenario.settings.jitter = jitter;
        let mut run = Run::of(scenario);
        run.go();
        run.refuse = Some(1);
        for _ in 0..40 {
            run.act(Op::Read);
            run.act(Op::Wait(100));
        }
        let paused = run.timeline.all_facts();
        let paused = paused.iter().find_map(|record| match record.fact {
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some(ms),
            _ => None,
        });
        let asked = match wanted(&run.timeline).unwrap().ask {
            Asked::Watch(watch) => watch.timeout.as_secs(),
            Asked::List(_) => panic!("a watch"),
        };
        let text = trace::write(&Trace {
            lesson: "".into(),
            title: Text::default(),
            at: None,
            start: None,
            recording: run.timeline.recording(),
        });
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        assert_eq!(error, None);
        let again = read.unwrap().recording.play().unwrap();
        let facts = run.timeline.all_facts();
        assert!(again.facts(0..facts.len())[..] == facts[..]);
        (paused.unwrap(), asked)
    };
    assert_eq!(waits(None), (800, 300));
    let seeds: Vec<_> = (0..20).map(|seed| waits(Some(seed))).collect();
    for (paused, asked) in &seeds {
        assert!(
            (800..1_600).contains(paused) && (300..600).contains(asked),
            "{seeds:?}"
        );
    }
    let mut different = seeds.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), seeds.len(), "{seeds:?}");
}

#[test]
fn what_was_told_can_be_written_to_once_it_is_over() {
    let (mut session, mut cluster) = session();
    cluster.write(1);
    for now in [10, 20] {
        read(&mut session, &mut cluster, now);
    }
    session.obey(Click::GoLive);
    let facts = session.view().steps;
    let pod = |name: &str| json!({ "metadata": { "namespace": "ns0", "name": name } });
    // Nobody asks a server: so no server refuses, and nothing of it is recorded.
    session.inject("create", pod("new"));
    let error = session.view().error.unwrap().message;
    assert!(error.en.contains("only looked at"), "{}", error.en);
    assert_eq!(session.view().steps, facts);
    session.obey(Click::Disconnect);

    let names = |session: &mut Session| {
        session.obey(Click::Seek(usize::MAX));
        let picture = session.view().picture;
        let items = picture.store.items.iter();
        let items: Vec<String> = items.map(|(key, _)| key.to_string()).collect();
        items.join(" ")
    };
    // (what, at what, what the store has then or what is said of it)
    for (op, object, has) in [
        ("create", pod("new"), Ok("ns0/new ns1/p1")),
        ("create", pod("new"), Err("409")),
        ("update", pod("other"), Err("404")),
        ("update", pod("new"), Ok("ns0/new ns1/p1")),
        ("delete", pod("new"), Ok("ns1/p1")),
        ("delete", pod("new"), Err("404")),
    ] {
        session.obey(Click::DismissError);
        session.inject(op, object);
        let error = session
            .view()
            .error
            .map(|error| error.message.en.to_string());
        match has {
            Ok(has) => {
                assert_eq!(error, None, "{op}");
                assert_eq!(names(&mut session), has, "{op}");
            }
            Err(part) => assert!(error.unwrap().contains(part), "{op}"),
        }
    }
    // Before anything watches nobody would hear of it.
    session.obey(Click::Seek(1));
    session.inject("create", pod("early"));
    let error = session.view().error.unwrap().message;
    assert!(error.en.contains("No watch is open"), "{}", error.en);
}
