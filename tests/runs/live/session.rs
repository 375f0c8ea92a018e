//! A live run on the page: following it, looking back, and forgetting its beginning.

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::ProcessMode;
use deltascope::presentation::caption::{before_start, plain};
use deltascope::presentation::command::BreakCommand;
use deltascope::presentation::command::{Command as Click, Export};
use deltascope::presentation::session::keep::Kept;
use deltascope::presentation::session::live::LiveRun;
use deltascope::presentation::session::{Session, typed};
use deltascope::replay::picture::Picture;
use deltascope::replay::trace;
use deltascope::world::Time;
use deltascope::world::source::Command;
use deltascope::world::source::live::{ResponsePart, ServerResponse};
use deltascope::world::source::wire::RecordedEvent;
use deltascope::world::text::{Lang, Text};
use deltascope::world::virtual_time::Input;
use serde_json::json;

use super::{Cluster, copied, scenario};

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
    let responses = cluster.respond(session.live_wanted(), None);
    session.live_received(now, responses);
    while session.live_due().is_some_and(|at| at <= now) {
        session.live_tick(now);
    }
}

#[test]
fn following_stops_at_a_breakpoint_and_playing_returns_to_the_live_edge() {
    let (mut session, mut cluster) = session();
    // (how many objects arrive together: one is shown fact by fact, 40 at once)
    for (round, names) in [1_u8, 40].into_iter().enumerate() {
        let now = 1_000 * (round as u64 + 1);
        session.obey(Click::GoLive);
        read(&mut session, &mut cluster, now);
        at_the_edge(&mut session);
        let at = format!("fact=ItemStored key=ns{}/p{names}", names % 3);
        session.obey(Click::Break(BreakCommand::Add(at.parse().unwrap())));
        (1..=names).for_each(|name| cluster.write(name));
        read(&mut session, &mut cluster, now + 10);
        read(&mut session, &mut cluster, now + 20);
        at_the_edge(&mut session);
        let live = session.view().live.unwrap();
        assert!(!live.following && live.behind > 0, "{names}: {live:?}");
        let stopped = session.view().walking.breaks[0].clone();
        assert_eq!(stopped.hit, Some(session.view().step));
        // Continue from there to the live edge.
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
fn a_follower_is_late_only_briefly_and_sees_the_end() {
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
fn a_live_session_continues_while_the_user_looks_back() {
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
    // Looking back does not stop the recording.
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
    // During a live run the user cannot act on the past, only on the present.
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
    // The causes lead to the cluster; a link is refused, because only a file can hold the run.
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

    // After a disconnect it is a normal recording: it can be forked, changed, and an event dropped.
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
    // The later responses still come.
    session.obey(Click::Seek(usize::MAX));
    assert_eq!(session.view().picture.store.items.len(), 4);
    session.obey(typed::generation("1.32"));
    session.obey(Click::Seek(usize::MAX));
    assert_eq!(session.view().picture.store.items.len(), 4);
    // Starting over keeps the cluster's responses and the settings, and drops the user's actions.
    session.obey(Click::Reset);
    assert_eq!((session.view().step, session.view().error), (0, None));
    session.obey(Click::Seek(usize::MAX));
    let picture = session.view().picture;
    let mode = session.timeline().scenario().settings.mode;
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
fn the_beginning_of_a_busy_run_is_forgotten() {
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
    // The rest begins long after the start of the run.
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
    // The facts that the user is looking at are kept; following the run again lets them go.
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
    // The copy outside of the program also has the forgotten part.
    let (trace, error) = trace::read("copy.jsonl", copy.as_bytes());
    assert_eq!(error.map(|error| error.message.en), None);
    let inputs = trace.unwrap().recording.inputs;
    let versions = inputs.iter().flat_map(|taken| match &taken.input {
        Input::Source(Command::Respond(responses)) => {
            responses.iter().filter_map(version).collect()
        }
        _ => Vec::new(),
    });
    assert!(versions.eq(101..=50_100), "each event, once");
}

fn version(response: &ServerResponse) -> Option<u64> {
    match &response.part {
        ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
            object.metadata.resource_version.as_ref()?.parse().ok()
        }
        _ => None,
    }
}

fn fold(session: &Session) -> Picture {
    let timeline = session.timeline();
    let mut picture = timeline.picture(0);
    picture.apply_all(&timeline.all_facts());
    picture
}

#[test]
fn a_live_run_can_be_written_to_after_a_disconnect() {
    let (mut session, mut cluster) = session();
    cluster.write(1);
    for now in [10, 20] {
        read(&mut session, &mut cluster, now);
    }
    session.obey(Click::GoLive);
    let facts = session.view().steps;
    let pod = |name: &str| json!({ "metadata": { "namespace": "ns0", "name": name } });
    // A live cluster cannot be written to, so no server refuses the write and no fact records it.
    session.obey(typed::inject("create", pod("new")));
    let error = session.view().error.unwrap().message;
    assert!(error.en.contains("only looked at"), "{}", error.en);
    assert_eq!(session.view().steps, facts);
    session.obey(Click::Disconnect);
    // What the cluster sent is no change of the user's.
    let made = |session: &mut Session| session.view().branches[0].made.en.to_string();
    assert_eq!(made(&mut session), "as it was opened");

    let names = |session: &mut Session| {
        session.obey(Click::Seek(usize::MAX));
        let picture = session.view().picture;
        let items = picture.store.items.iter();
        let items: Vec<String> = items.map(|(key, _)| key.to_string()).collect();
        items.join(" ")
    };
    // (operation, object, the store's keys afterwards or a part of the error)
    for (op, object, has) in [
        ("create", pod("new"), Ok("ns0/new ns1/p1")),
        ("create", pod("new"), Err("409")),
        ("update", pod("other"), Err("404")),
        ("update", pod("new"), Ok("ns0/new ns1/p1")),
        ("delete", pod("new"), Ok("ns1/p1")),
        ("delete", pod("new"), Err("404")),
    ] {
        session.obey(Click::DismissError);
        session.obey(typed::inject(op, object));
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
    assert_eq!(made(&mut session), "with 6 changes of yours");
    // Beside it stands what the cluster did, and that alone.
    session.obey(typed::against("opened"));
    let beside = session.view().compare().cloned().unwrap();
    let sides = [0, 1].map(|at| beside.sides[at].name.en.to_string());
    assert_eq!(sides, ["with 6 changes of yours", "as it was opened"]);
    assert!(session.view().error.is_none());
    // Before a watch is open, the reflector would not learn of the write.
    session.obey(Click::Seek(1));
    session.obey(typed::inject("create", pod("early")));
    let error = session.view().error.unwrap().message;
    assert!(error.en.contains("No watch is open"), "{}", error.en);
}
