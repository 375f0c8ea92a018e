use std::rc::Rc;

use serde_json::json;

use super::super::PIECE;
use super::*;
use crate::fact_queries;
use deltascope_cache::fact::WatchEnd;
use deltascope_world::source::live::{Page, ResponsePart};
use deltascope_world::source::wire::{RecordedEvent, event_of};
use deltascope_world::virtual_time::HandlerSettings;

/// A run with small bounds, whose cluster changes one object over and over.
fn run() -> (Session, Time) {
    let settings = json!({ "feed": "cluster", "machinery": "shared" });
    let mut session = Session::new();
    session.connect(LiveRun {
        title: Text::new("pods", "pods"),
        scenario: Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            ..Scenario::default()
        },
        start: None,
    });
    let live = session.live.as_mut().unwrap();
    live.bounds = (12_000, usize::MAX);
    live.bounds_looked_at = (24_000, usize::MAX);
    session.live_tick(0);
    respond(&mut session, 10, ResponsePart::Page(Page::default()));
    respond(&mut session, 20, ResponsePart::Opened);
    (session, 20)
}

#[test]
fn a_new_object_copies_no_places() {
    let (mut session, now) = run();
    let at = |session: &Session| Rc::as_ptr(&session.marking.landmarks.places());
    let before = at(&session);
    let event = json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
        "metadata": { "name": "a", "resourceVersion": "30" } } });
    let part = ResponsePart::Event(event_of(event).unwrap());
    respond(&mut session, now, part);
    assert_eq!(session.marking.landmarks.places().len(), 1);
    assert_eq!(
        at(&session),
        before,
        "of 49,000 objects each copied them all"
    );
}

fn respond(session: &mut Session, now: Time, part: ResponsePart) {
    let request = session.live_wanted().unwrap().request;
    session.live_received(now, vec![ServerResponse { request, part }]);
    tick(session, now);
}

fn until(session: &mut Session, now: &mut Time, is_so: impl Fn(&mut Session) -> bool) {
    while !is_so(session) {
        *now += 10;
        let event = json!({ "type": "MODIFIED", "object": { "kind": "Pod", "apiVersion": "v1",
            "metadata": { "name": "a", "resourceVersion": now.to_string() } } });
        respond(session, *now, ResponsePart::Event(event_of(event).unwrap()));
    }
}

#[test]
fn facts_in_view_are_kept_as_long_as_possible_and_their_loss_is_reported() {
    let (mut session, mut now) = run();
    until(&mut session, &mut now, |session| {
        session.view().steps > 9_000
    });
    session.obey(Command::Seek(5_000));
    let looked_at = session.timeline.fact(5_000);
    // The facts before it are forgotten first.
    let forgotten = |session: &mut Session| session.timeline.forgotten() > 0;
    until(&mut session, &mut now, forgotten);
    let view = session.view();
    assert!(view.error.is_none() && view.step < 5_000);
    assert!(session.timeline.fact(view.step) == looked_at);
    // Then the facts in view are forgotten, and a message states where the cursor is.
    let was = view.time;
    until(&mut session, &mut now, |session| {
        session.view().error.is_some()
    });
    let view = session.view();
    let error = view.error.unwrap().message;
    assert_eq!(view.step, 0);
    assert!(view.time > was, "{} {was}", view.time);
    for time in [was, view.time] {
        assert!(
            error.en.contains(&format!("{} s", seconds(time))),
            "{}",
            error.en
        );
    }
    assert!(error.zh.contains("不再保留"));
    // Following the edge again frees the room.
    session.obey(Command::GoLive);
    until(&mut session, &mut now, |session| {
        session.view().steps < 12_000
    });
}

#[test]
fn late_facts_are_shown_at_once() {
    let (mut session, now) = run();
    while session.live_follow() != Change::None {}
    let event = json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
        "metadata": { "name": "a", "resourceVersion": "30" } } });
    respond(
        &mut session,
        now + 10,
        ResponsePart::Event(event_of(event).unwrap()),
    );
    assert_eq!(session.live_follow(), Change::Forward);
    session.live_tick(now + 10 + LATE_MS);
    assert_eq!(session.live_follow(), Change::Forward);
    session.live_tick(now + 11 + LATE_MS);
    assert_eq!(session.live_follow(), Change::Cut);
    assert_eq!(session.live_view().unwrap().behind, 0);
    // At the edge, a script's play is the button's.
    for (command, follows) in [
        (Command::TogglePlay, false),
        (Command::Play, true),
        (Command::Play, true),
        (Command::Pause, false),
        (Command::TogglePlay, true),
    ] {
        session.obey(command.clone());
        assert_eq!(
            session.live_view().unwrap().following,
            follows,
            "{command:?}"
        );
    }
}

#[test]
fn an_informer_behind_a_tap_can_be_overruled_left_and_looked_at() {
    let (mut session, _) = run();
    let scenario = session.timeline.scenario().clone();
    let run = LiveRun {
        title: Text::new("pods", "pods"),
        scenario,
        start: None,
    };
    session.follow_informer(3, run, Text::new("said", "说"), false);
    session.live_tick(0);
    respond(&mut session, 10, ResponsePart::Page(Page::default()));
    respond(&mut session, 20, ResponsePart::Opened);
    let pod = |name: &str| {
        let event = json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
            "metadata": { "name": name, "resourceVersion": "7" } } });
        ResponsePart::Event(event_of(event).unwrap())
    };
    respond(&mut session, 30, pod("a"));
    respond(&mut session, 90, pod("b"));
    let was = session.view().lesson.era;
    let other = Generation::ALL.into_iter().find(|one| *one != was).unwrap();
    // In another generation, from the beginning, and still live.
    session.obey(Command::Generation(other));
    while session.live_due().is_some_and(|due| due <= 90) {
        session.live_tick(90);
    }
    assert_eq!(session.view().lesson.era, other);
    assert_eq!(session.followed_informer(), Some(3));
    respond(&mut session, 95, pod("c"));
    session.obey(Command::GoLive);
    let stored = |session: &mut Session| session.view().picture.store.items.len();
    assert_eq!(stored(&mut session), 3);
    // The same once more changes nothing.
    assert_eq!(session.obey(Command::Generation(other)), Change::None);
    assert_eq!(session.followed_informer(), Some(3));
    // A moment of the past.
    session.live_look(89);
    assert_eq!(stored(&mut session), 1);
    assert!(!session.live_view().unwrap().following);
    let log = Command::Open(vec![("a".into(), br#"{"informer":{}}"#.to_vec())]);
    assert!(session.hears(&log));
    // A fork leaves the tap alone, at that moment.
    let step = session.view().step;
    session.obey(Command::Fork);
    let view = session.view();
    assert!(view.error.is_none(), "{:?}", view.error);
    assert_eq!((view.step, session.is_live()), (step, false));
    // What is called like an informer is none.
    assert!(session.hears(&log));
    let named =
        json!({ "id": "informer:x", "scenario": { "settings": { "machinery": "shared" } } });
    session.present(&Default::default(), Some(named)).unwrap();
    assert_eq!(
        (&*session.view().lesson.id, session.hears(&log)),
        ("informer:x", false)
    );
}

/// Follows an informer behind a tap.
fn follow(session: &mut Session) {
    let mut scenario = session.timeline.scenario().clone();
    scenario.settings.handlers = vec![HandlerSettings::default()];
    let run = LiveRun {
        title: Text::new("pods", "pods"),
        scenario,
        start: None,
    };
    session.follow_informer(3, run, Text::default(), false);
}

/// An informer behind a tap, whose third request, a watch, has changed `a` until facts were forgotten.
fn informer_with_forgotten_facts() -> (Session, Time) {
    let (mut session, _) = run();
    follow(&mut session);
    session.live_tick(0);
    respond(&mut session, 10, ResponsePart::Page(Page::default()));
    respond(&mut session, 20, ResponsePart::Opened);
    let mut now = 5_000;
    respond(&mut session, now, ResponsePart::Ended(WatchEnd::Closed));
    while session
        .live_wanted()
        .is_none_or(|wanted| wanted.request < 3)
    {
        now += 1_000;
        tick(&mut session, now);
    }
    respond(&mut session, now, ResponsePart::Opened);
    session.live.as_mut().unwrap().bounds = (12_000, usize::MAX);
    until(&mut session, &mut now, |session| {
        session.timeline.forgotten() > 0
    });
    (session, now)
}

fn tick(session: &mut Session, now: Time) {
    session.live_tick(now);
    while session.live_due().is_some_and(|due| due <= now) {
        session.live_tick(now);
    }
}

#[test]
fn an_informer_whose_beginning_is_forgotten_goes_on_in_another_generation() {
    let (mut session, mut now) = informer_with_forgotten_facts();
    let was = session.view().lesson.era;
    let generations = Generation::ALL.into_iter().filter(|one| *one != was);
    // Its recording goes on with the numbers that it has.
    for (number, generation) in generations.take(2).enumerate() {
        session.obey(Command::Generation(generation));
        tick(&mut session, now);
        assert_eq!(session.live_wanted().unwrap().request, 2);
        let name = format!("new-{number}");
        let event = json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1",
            "metadata": { "name": name, "resourceVersion": (now + 1).to_string() } } });
        let part = ResponsePart::Event(event_of(event).unwrap());
        now += 10;
        session.live_received(now, vec![ServerResponse { request: 3, part }]);
        tick(&mut session, now);
        session.obey(Command::GoLive);
        let stored = session.view().picture.store.items.len();
        assert_eq!(stored, number + 2, "{generation:?}");
    }
}

#[test]
fn renumberings_follow_each_other() {
    let [first, next] = [50, 7].map(|was| Numbering { was, is: 2 });
    for request in [50, 54, 55, 70] {
        let one = next.of(first.of(request));
        assert_eq!(one, first.then(next).of(request), "{request}");
    }
}

/// A line of a log.
fn logged(event: &str, rv: &str) -> String {
    let line = json!({ "informer": { "type": event, "object": { "metadata": {
        "name": "a", "resourceVersion": rv } } } });
    format!("{line}\n")
}

#[test]
fn a_log_lies_beside_an_informer_also_after_its_end() {
    let open = || Command::Open(vec![("log".to_owned(), logged("ADDED", "7").into_bytes())]);
    let (mut session, _) = run();
    assert!(!session.hears(&open()), "a cluster");
    follow(&mut session);
    tick(&mut session, 0);
    respond(&mut session, 10, ResponsePart::Page(Page::default()));
    session.obey(Command::Disconnect);
    session.obey(open());
    let view = session.view();
    assert!(view.error.is_none(), "{:?}", view.error);
    let heard = view.heard.unwrap();
    assert_eq!((heard.lines, heard.goes_on), (1, false));
    assert_eq!(
        heard.first.as_ref().unwrap().heard,
        Some(("OnAdd a 7".to_owned(), 1))
    );
    assert_eq!(&*view.lesson.id, "informer:3");
}

#[test]
fn a_log_that_grows_is_compared_with_what_is_kept_of_a_run_that_goes_on() {
    let (mut session, mut now) = informer_with_forgotten_facts();
    session.listen();
    let heard = |session: &mut Session| (*session.view().heard.unwrap()).clone();
    // The run has lost its beginning, so it says what it is compared from.
    session.listen_to(b"");
    let before = heard(&mut session);
    assert!(before.goes_on && before.first.is_none() && before.tally.behind > 0);
    // The controller has heard all, from the beginning on; the last line is on its way.
    let all = |now: Time| {
        let updates = (0..=now / 10).map(|at| logged("MODIFIED", &(at * 10).to_string()));
        updates.collect::<String>()
    };
    let mut said = all(now);
    session.listen_to(&said.as_bytes()[..said.len() - 9]);
    let is = heard(&mut session);
    assert_eq!((is.first, is.tally.behind), (None, 1));
    session.listen_to(&said.as_bytes()[said.len() - 9..]);
    let is = heard(&mut session);
    assert_eq!(is.tally.behind, 0);
    // What is forgotten takes its lines along, and nothing that follows differs.
    let forgotten = session.timeline.forgotten();
    until(&mut session, &mut now, |session| {
        session.timeline.forgotten() > forgotten
    });
    // Nothing is lost of what is known of it.
    assert_eq!(heard(&mut session).tally.alike, is.tally.alike);
    let more = all(now)[said.len()..].to_owned();
    said.push_str(&more);
    session.listen_to(more.as_bytes());
    let is = heard(&mut session);
    assert_eq!((is.first.as_ref(), is.tally.behind), (None, 0), "{is:?}");
    assert!(is.lines < said.lines().count() / 2, "{}", is.lines);
    // The same in another generation, from the beginning of what is kept.
    let was = session.view().lesson.era;
    let other = Generation::ALL.into_iter().find(|one| *one != was).unwrap();
    session.obey(Command::Generation(other));
    tick(&mut session, now);
    session.listen_to(b"");
    assert_eq!(heard(&mut session).first, None);
    // A line too many is found, at its line.
    session.listen_to(logged("ADDED", &now.to_string()).as_bytes());
    now += 10;
    let event = json!({ "type": "DELETED", "object": { "kind": "Pod", "apiVersion": "v1",
        "metadata": { "name": "a", "resourceVersion": now.to_string() } } });
    let part = ResponsePart::Event(event_of(event).unwrap());
    session.live_received(now, vec![ServerResponse { request: 3, part }]);
    tick(&mut session, now);
    session.listen_to(logged("DELETED", &now.to_string()).as_bytes());
    let is = heard(&mut session);
    assert_eq!(
        is.first.unwrap().heard.unwrap().1 as usize,
        said.lines().count() + 1
    );
}

/// A run of the atomic generation to which a list of so many objects has just come.
fn listed(objects: usize) -> Session {
    let (mut session, _) = run();
    let mut scenario = session.timeline.scenario().clone();
    scenario.settings.era = Generation::Atomic;
    scenario.settings.watch_list = Some(false);
    scenario.settings.indices = vec!["namespace".into()];
    session.connect(LiveRun {
        title: Text::default(),
        scenario,
        start: None,
    });
    session.live_tick(0);
    let items = (0..objects).map(|n| {
        let event = json!({ "type": "ADDED", "object": { "kind": "Pod", "apiVersion": "v1", "metadata":
            { "namespace": "n", "name": format!("p{n:05}"), "uid": format!("u{n}"), "resourceVersion": "7" } } });
        match event_of(event).unwrap() {
            RecordedEvent::Object { object, .. } => object,
            other => panic!("{other:?}"),
        }
    });
    let part = ResponsePart::Page(Page {
        rv: "7".into(),
        items: items.collect(),
        continue_token: "".into(),
    });
    let request = session.live_wanted().unwrap().request;
    session.live_received(1, vec![ServerResponse { request, part }]);
    session
}

#[test]
fn a_step_with_more_facts_than_a_slice_is_marked_in_slices() {
    const OBJECTS: usize = 4 * SLICE;
    let mut session = listed(OBJECTS);
    // The step has a slice for itself.
    assert!(session.timeline.len() > OBJECTS);
    assert!(
        session.marking.landmarks.seen() < 9,
        "{}",
        session.marking.landmarks.seen()
    );
    let (mut whole, mut waited) = (0, 0);
    for now in 2..60 {
        loop {
            let (known, seen) = (session.timeline.len(), session.marking.landmarks.seen());
            let was_checked = session.marking.invariants.seen();
            session.live_tick(now);
            let came = session.timeline.len() - known;
            let found = session.marking.landmarks.seen() - seen;
            let checked = session.marking.invariants.seen() - was_checked;
            assert!(came < SLICE || found + checked == 0, "{came} {found}");
            assert!(found.max(checked) <= SLICE, "{found} {checked}");
            // A fact about all objects has a slice for itself, and its check another.
            for fact in session.timeline.facts(seen..seen + found).iter() {
                if fact_queries::whole(&fact.fact).is_some_and(|all| all.len() == OBJECTS) {
                    assert_eq!((found, checked), (1, 0), "{}", fact.fact.name());
                    whole += 1;
                }
            }
            // No fact is shown that is not marked, and a command would wait for the marks.
            let (cursor, is_marked) = (session.playback.cursor(), session.is_marked());
            while session.live_follow() != Change::None {}
            assert!(is_marked || session.playback.cursor() == cursor);
            assert_eq!(is_marked, session.needs(&Command::Step(-1)).is_none());
            waited += usize::from(!is_marked);
            if session.live_due() != Some(now) {
                break;
            }
        }
    }
    assert!(waited > OBJECTS / SLICE, "{waited}");
    assert_eq!(whole, 3, "the cluster, the queue and the store");
    let view = session.view();
    assert_eq!(view.live.unwrap().behind, 0);
    assert_eq!(view.picture.store.items.len(), OBJECTS);
    assert_eq!(view.places.len(), OBJECTS);
    assert!((0..OBJECTS).all(|n| view.marks.get(&format!("u{n}")).is_some()));
}

#[test]
fn playback_shows_only_what_is_marked_and_goes_on() {
    let mut session = listed(4 * SLICE);
    let end = session.timeline.len();
    session.live.as_mut().unwrap().following = false;
    assert!(session.marking.invariants.seen() < 9 && end > 4 * SLICE);
    session.play();
    let mut pieces = 0;
    while session.playback.cursor() < end {
        assert!(session.playback.is_playing());
        let seen = session.marking.invariants.seen();
        assert_eq!(session.tick(), Change::Forward);
        assert!(session.playback.cursor() <= session.marking.invariants.seen());
        // A fact about all objects, and its check.
        assert!(session.marking.invariants.seen() - seen <= 2 * PIECE);
        pieces += usize::from(session.marking.invariants.seen() > seen);
    }
    assert!(pieces >= end / PIECE, "{pieces}");
}

#[test]
fn a_command_waits_for_the_marks_piece_by_piece() {
    let mut session = listed(4 * SLICE);
    let mut now = 1;
    while session.is_marked() || session.timeline.len() < 4 * SLICE {
        now += 1;
        session.live_tick(now);
    }
    assert_eq!(session.needs(&Command::Disconnect), None);
    let far = session.needs(&Command::Seek(3)).unwrap();
    let (mut seen, mut pieces) = (session.marking.invariants.seen(), 0);
    while session.compute(&far).is_some() {
        assert!(session.marking.invariants.seen() - seen <= PIECE);
        seen = session.marking.invariants.seen();
        pieces += 1;
    }
    assert!(pieces >= 4 * SLICE / PIECE, "{pieces}");
    let command = far.instead_of(Command::Seek(3));
    assert_eq!(command, Command::Seek(3));
    assert_eq!(session.needs(&command), None);
    session.obey(command);
    assert_eq!(session.playback.cursor(), 3);
}

#[test]
fn forgetting_facts_looks_for_gone_objects_once_half_of_all_may_be_gone() {
    let (mut session, mut now) = run();
    let told = |session: &mut Session, now: &mut Time, event: &str, name: &str| {
        *now += 10;
        let event = json!({ "type": event, "object": { "kind": "Pod", "apiVersion": "v1", "metadata":
            { "name": name, "uid": name, "resourceVersion": now.to_string() } } });
        respond(session, *now, ResponsePart::Event(event_of(event).unwrap()));
    };
    let forget = |session: &mut Session, now: &mut Time| {
        let before = session.timeline.forgotten();
        until(session, now, |session| {
            session.timeline.forgotten() > before
        });
    };
    let names = ["b", "c", "d", "e", "f", "g", "h", "i"];
    for name in names {
        told(&mut session, &mut now, "ADDED", name);
    }
    // One of nine is gone: nothing is looked for.
    told(&mut session, &mut now, "DELETED", "b");
    let marks = session.marking.landmarks.marks();
    forget(&mut session, &mut now);
    assert!(Rc::ptr_eq(&marks, &session.marking.landmarks.marks()));
    // Eight of nine, of which the last two are shown.
    for name in &names[1..] {
        told(&mut session, &mut now, "DELETED", name);
    }
    let places = |session: &Session| {
        let places = session.marking.landmarks.places();
        names.map(|name| places.get(&name.into()).is_some())
    };
    assert_eq!(places(&session), [true; 8]);
    // Until the run begins after that.
    for _ in 0..5 {
        forget(&mut session, &mut now);
    }
    let shown = [false, false, false, false, false, false, true, true];
    assert_eq!(places(&session), shown);
}
