//! What is recorded replays, whatever the controller does.

use std::collections::BTreeMap;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::EventType;
use deltascope_cache::lister_watcher::{ListRequest, WatchRequest};
use deltascope_world::source::pod::PodSpec;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::{HandlerSettings, InformerKind, Settings, SourceKind};

use deltascope_world::source::proxy::exchange;

use super::super::call::Scope;
use super::super::finding::known_bugs;
use super::super::follow::{Follower, Over};
use super::*;
use crate::heard;
use crate::invariants::Invariant;
use crate::recording::Recording;

fn pod(name: &str, rv: &str) -> Arc<DynamicObject> {
    let mut pod = DynamicObject::from(PodSpec {
        namespace: "a".to_owned(),
        name: name.to_owned(),
        ..PodSpec::default()
    });
    pod.metadata.resource_version = Some(rv.to_owned());
    Arc::new(pod)
}

fn page(rv: &str, token: &str, names: &[&str]) -> ResponsePart {
    ResponsePart::Page(Page {
        rv: rv.into(),
        items: names.iter().map(|name| pod(name, rv)).collect(),
        continue_token: token.into(),
    })
}

fn event(event: EventType, name: &str, rv: &str) -> ResponsePart {
    let object = pod(name, rv);
    ResponsePart::Event(RecordedEvent::Object { event, object })
}

fn added(name: &str, rv: &str) -> ResponsePart {
    event(EventType::Added, name, rv)
}

fn ended() -> ResponsePart {
    ResponsePart::Ended(WatchEnd::Closed)
}

fn bookmark(rv: &str, initial_events_end: bool) -> ResponsePart {
    ResponsePart::Event(RecordedEvent::Bookmark {
        rv: rv.into(),
        initial_events_end,
    })
}

fn list(token: &str) -> Call {
    listed(token, 0)
}

/// In pages, as few of client-go's lists are.
fn paged(token: &str) -> Call {
    listed(token, 2)
}

fn listed(token: &str, limit: u32) -> Call {
    let list = ListRequest {
        limit,
        continue_token: token.into(),
        ..ListRequest::default()
    };
    Call::List(Scope::default(), list)
}

fn watch(initial: bool) -> Call {
    let watch = WatchRequest {
        send_initial_events: Some(initial),
        ..WatchRequest::default()
    };
    Call::Watch(Scope::default(), watch)
}

/// Requests, each with its response.
type Requests = Vec<(Call, Vec<ResponsePart>)>;

/// Where a recording goes on in another file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GoesOn {
    Never,
    /// Wherever it can.
    Always,
    /// At each list.
    AtLists,
}

/// Goes on in another file. Returns how that begins, and how many of its inputs say what was there.
fn go_on(recorder: &mut Recorder, at: Time, mut text: String) -> (String, usize) {
    let state = State::read(text.as_bytes()).unwrap();
    let head = state.head().unwrap().clone();
    let known = state.beginning(recorder.streams, at).len();
    let notes = super::super::ledger::Ledger::default().goes_on(at, 2);
    let (end, begin) = recorder.go_on(at, &state, notes, Box::new(|_| head));
    text.push_str(&end);
    let next = Some(Note::Stopped {
        at,
        why: Stopped::Next,
    });
    assert_eq!(last_note(&text), next);
    assert!(super::super::note::goes_on(begin.as_bytes()));
    (begin, known)
}

/// The trace of these requests, each with its response, at intervals of so many ms. If it goes on in other files, the last of these.
fn recorded(every: Time, goes_on: GoesOn, requests: Requests) -> Trace {
    recorded_of("test", every, goes_on, requests)
}

/// The same of a client with this name.
fn recorded_of(agent: &str, every: Time, goes_on: GoesOn, requests: Requests) -> Trace {
    let mut recorder = recorder_of(agent, &requests[0].0);
    let mut text = String::new();
    let mut at = 0;
    let mut known = (0, 0);
    for (call, parts) in requests {
        let lists = match &call {
            Call::List(_, list) => list.continue_token.is_empty(),
            call => *call == watch(true),
        };
        if goes_on == GoesOn::AtLists && lists && recorder.is_steady() {
            // The client has taken its time.
            at += every;
            let (begin, inputs) = go_on(&mut recorder, at, text);
            (text, known) = (begin, (at, inputs));
        }
        let note = Note::Opened { at };
        text.push_str(&recorder.asked(at, &call, &note));
        for part in parts {
            at += every;
            text.push_str(&recorder.took(at, vec![part], &[]));
            if goes_on == GoesOn::Always && recorder.is_steady() {
                let (begin, inputs) = go_on(&mut recorder, at, text);
                (text, known) = (begin, (at, inputs));
            }
        }
    }
    assert_eq!(recorder.stopped(), None);
    text.push_str(&recorder.finish());
    let (trace, error) = trace::read("trace", text.as_bytes());
    assert_eq!(error, None, "{text}");
    let trace = trace.unwrap();
    let inputs = &trace.recording.inputs;
    assert!(inputs.is_sorted_by_key(|input| input.at), "{text}");
    // Who follows passes over what is before.
    let before = inputs.iter().filter(|input| input.at < known.0);
    assert_eq!(before.count(), known.1, "{text}");
    trace
}

fn stored(trace: &Trace) -> BTreeMap<String, String> {
    let mut timeline = trace.recording.play().unwrap();
    timeline.extend(timeline.len() + 100_000);
    let picture = timeline.picture(timeline.len());
    let items = picture.store.items.iter();
    items
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect()
}

#[test]
fn whatever_the_controller_does_its_recording_replays() {
    let gone = || error(410, "Expired");
    let failed = || error(500, "InternalError");
    let denied = || refused(403, "Forbidden");
    let start = || vec![(list(""), vec![page("10", "", &["x", "y"])])];
    let then = |more: Requests| [start(), more].concat();
    let open = |rest: Vec<ResponsePart>| [vec![ResponsePart::Opened], rest].concat();
    let table: Vec<(&str, Requests)> = vec![
        (
            "a list and a watch",
            then(vec![(watch(false), open(vec![added("z", "30")]))]),
        ),
        (
            "a watch that ends and goes on",
            then(vec![
                (watch(false), open(vec![added("w", "20"), ended()])),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "a watch that ends at once, and a client that goes on with it",
            then(vec![
                (watch(false), open(vec![ended()])),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "a watch that ends at once, and a client that lists again",
            then(vec![
                (watch(false), open(vec![ended()])),
                (list(""), vec![page("20", "", &["x", "w"])]),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "an error in the stream, and a client that goes on with the watch",
            then(vec![
                (watch(false), open(vec![added("w", "20"), failed()])),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "an error in the stream, and a client that reads on",
            then(vec![
                (
                    watch(false),
                    open(vec![added("w", "20"), failed(), added("v", "25")]),
                ),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "an expired version",
            then(vec![
                (watch(false), open(vec![added("w", "20"), gone()])),
                (list(""), vec![page("25", "", &["x"])]),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "a watch that is refused, and a client that tries again",
            then(vec![
                (watch(false), vec![denied()]),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "a client that hangs up and lists",
            then(vec![
                (watch(false), open(vec![added("w", "20")])),
                (list(""), vec![page("25", "", &["x"])]),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "two lists, one after the other",
            then(vec![
                (list(""), vec![page("25", "", &["x"])]),
                (watch(false), open(vec![added("z", "30")])),
            ]),
        ),
        (
            "lists that fail",
            vec![
                (list(""), vec![denied()]),
                (list(""), vec![not_reached()]),
                (list(""), vec![page("10", "", &["x"])]),
                (watch(false), open(vec![added("z", "30")])),
            ],
        ),
        (
            "pages, of which one expires",
            vec![
                (list(""), vec![page("10", "more", &["x"])]),
                (list("more"), vec![refused(410, "Expired")]),
                (list(""), vec![page("12", "", &["x", "y"])]),
                (watch(false), open(vec![added("z", "30")])),
            ],
        ),
        (
            "pages",
            vec![
                (list(""), vec![page("10", "more", &["x"])]),
                (list("more"), vec![page("10", "", &["y"])]),
                (watch(false), open(vec![added("z", "30")])),
            ],
        ),
        (
            "pages, after which the list begins anew",
            vec![
                (list(""), vec![page("10", "more", &["x"])]),
                (list(""), vec![page("12", "more", &["w"])]),
                (list("more"), vec![page("12", "", &["y"])]),
                (watch(false), open(vec![added("z", "30")])),
            ],
        ),
        (
            "pages, of which one expires, and pages again",
            vec![
                (paged(""), vec![page("10", "more", &["x"])]),
                (paged("more"), vec![refused(410, "Expired")]),
                (paged(""), vec![page("12", "more", &["w"])]),
                (paged("more"), vec![page("12", "", &["y"])]),
                (watch(false), open(vec![added("z", "30")])),
            ],
        ),
        (
            "a streaming list",
            vec![(
                watch(true),
                open(vec![
                    added("x", "9"),
                    bookmark("10", true),
                    added("z", "30"),
                ]),
            )],
        ),
        (
            "a streaming list that breaks off, and another",
            vec![
                (watch(true), open(vec![added("x", "9"), ended()])),
                (
                    watch(true),
                    open(vec![
                        added("x", "9"),
                        bookmark("10", true),
                        added("z", "30"),
                    ]),
                ),
            ],
        ),
        (
            "a streaming list that the server does not know",
            vec![
                (watch(true), vec![refused(422, "Invalid")]),
                (list(""), vec![page("10", "", &["x"])]),
                (watch(false), open(vec![added("z", "30"), gone()])),
                (watch(true), vec![refused(422, "Invalid")]),
                (list(""), vec![page("40", "", &["z"])]),
            ],
        ),
        (
            "a streaming list after an expired version",
            vec![
                (
                    watch(true),
                    open(vec![added("x", "9"), bookmark("10", true), gone()]),
                ),
                (
                    watch(true),
                    open(vec![added("z", "30"), bookmark("30", true)]),
                ),
            ],
        ),
        (
            "a watch without a list",
            vec![(watch(false), open(vec![added("x", "9"), added("z", "30")]))],
        ),
    ];
    for (name, requests) in table {
        // The store that the client has: of the last list on.
        let mut wanted: BTreeMap<String, String> = BTreeMap::new();
        let mut paged = false;
        for (call, parts) in &requests {
            if matches!(call, Call::Watch(_, watch) if RequestKind::of(watch) == RequestKind::Stream)
            {
                let ends = |part: &ResponsePart| {
                    *part == bookmark("10", true) || *part == bookmark("30", true)
                };
                if parts.iter().any(ends) {
                    wanted.clear();
                } else {
                    continue;
                }
            }
            paged &= !matches!(call, Call::List(_, list) if list.continue_token.is_empty());
            for part in parts {
                match part {
                    ResponsePart::Page(page) => {
                        if !paged {
                            wanted.clear();
                        }
                        paged = !page.continue_token.is_empty();
                        for object in page.items.iter() {
                            let name = object.metadata.name.clone().unwrap();
                            wanted.insert(format!("a/{name}"), page.rv.to_string());
                        }
                    }
                    ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
                        let of = &object.metadata;
                        let key = format!("a/{}", of.name.clone().unwrap());
                        wanted.insert(key, of.resource_version.clone().unwrap());
                    }
                    _ => paged = false,
                }
            }
        }
        for every in [1, 400, 2_999, 3_001, 60_000] {
            for goes_on in [GoesOn::Never, GoesOn::Always, GoesOn::AtLists] {
                let trace = recorded(every, goes_on, requests.clone());
                assert_eq!(
                    stored(&trace),
                    wanted,
                    "{name}, every {every} ms, {goes_on:?}"
                );
            }
        }
    }
}

#[test]
fn client_go_takes_nothing_behind_an_error_of_its_watch() {
    let requests = |again: Call| {
        let behind = vec![
            ResponsePart::Opened,
            error(500, "InternalError"),
            event(EventType::Deleted, "x", "20"),
            added("z", "21"),
        ];
        let rest = match &again {
            Call::List(..) => page("30", "", &["y"]),
            _ => ResponsePart::Opened,
        };
        vec![
            (list(""), vec![page("10", "", &["x", "y"])]),
            (watch(false), behind),
            (again, vec![rest]),
        ]
    };
    let own = "manager/v0.0.0 (linux/amd64) kubernetes/$Format";
    // Who, what it asks then, and what it has.
    for (agent, again, wanted) in [
        (own, watch(false), "a/x 10 a/y 10"),
        (own, list(""), "a/y 30"),
        ("", watch(false), "a/y 10 a/z 21"),
        ("", list(""), "a/y 30"),
    ] {
        let trace = recorded_of(agent, 10, GoesOn::Never, requests(again));
        let stored: Vec<_> = stored(&trace)
            .iter()
            .map(|(key, rv)| format!("{key} {rv}"))
            .collect();
        assert_eq!(stored.join(" "), wanted, "{agent}");
        let mut timeline = trace.recording.play().unwrap();
        timeline.extend(timeline.len() + 100_000);
        let heard = heard::notified(&timeline, 0, timeline.len());
        let added = heard.iter().any(|one| one.call.key == "a/z");
        assert_eq!(added, agent.is_empty(), "{agent}");
    }
}

/// A recorder, and how its head begins.
fn recorder(first: &Call) -> Recorder {
    recorder_of("test", first)
}

fn recorder_of(agent: &str, first: &Call) -> Recorder {
    let streams =
        matches!(first, Call::Watch(_, watch) if RequestKind::of(watch) == RequestKind::Stream);
    let informer = Note::Informer {
        agent: agent.into(),
        scope: Scope::default(),
    };
    let head: Head = Box::new(move |_| Trace {
        lesson: "".into(),
        title: Text::new("a", "a"),
        at: None,
        start: None,
        recording: Recording {
            scenario: Scenario {
                settings: Settings {
                    source: SourceKind::Cluster,
                    era: Generation::Atomic,
                    informer: InformerKind::Shared,
                    watch_list: Some(streams),
                    handlers: vec![HandlerSettings::default()],
                    ..Settings::default()
                },
                ..Scenario::default()
            },
            inputs: Vec::new(),
        },
    });
    Recorder::new(first, informer, head, usize::MAX)
}

/// The last note of a recording that opens.
fn last_note(text: &str) -> Option<Note> {
    let (trace, error) = trace::read("trace", text.as_bytes());
    assert!(trace.is_some() && error.is_none(), "{error:?}");
    super::super::note::read(text.as_bytes()).pop()
}

#[test]
fn a_recording_stops_before_it_is_too_heavy_to_open() {
    let mut labels = BTreeMap::new();
    for number in 0..20_000 {
        labels.insert(format!("{number:x}"), String::new());
    }
    let mut heavy = DynamicObject::clone(&pod("x", "20"));
    heavy.metadata.labels = Some(labels);
    let heavy = Arc::new(heavy);
    let first = list("");
    let mut recorder = recorder(&first);
    let mut text = recorder.asked(0, &first, &Note::Opened { at: 0 });
    text.push_str(&recorder.took(1, vec![page("10", "", &[])], &[]));
    text.push_str(&recorder.asked(2, &watch(false), &Note::Opened { at: 2 }));
    text.push_str(&recorder.took(3, vec![ResponsePart::Opened], &[]));
    let mut at = 3;
    while recorder.stopped().is_none() {
        at += 1;
        let event = EventType::Modified;
        let object = Arc::clone(&heavy);
        let part = ResponsePart::Event(RecordedEvent::Object { event, object });
        text.push_str(&recorder.took(at, vec![part], &[]));
    }
    assert!(text.len() < MAX_BYTES / 2, "{}", text.len());
    let why = Stopped::Full;
    assert_eq!(last_note(&text), Some(Note::Stopped { at, why }));
}

#[test]
fn a_list_that_is_too_large_is_no_empty_one() {
    let pods = Scope {
        version: "v1".to_owned(),
        plural: "pods".to_owned(),
        ..Scope::default()
    };
    let first = Call::List(pods, ListRequest::default());
    let (mut follower, note) = Follower::new(0, &first).unwrap();
    let mut recorder = recorder(&first);
    let mut text = recorder.asked(0, &first, &note);
    let head = exchange::Head {
        status: 200,
        content_type: "application/json".to_owned(),
        ..exchange::Head::default()
    };
    let long = "x".repeat(MAX_LINE);
    let body = format!("{{\"kind\":\"PodList\",\"items\":[{{\"spec\":\"{long}\"}}]}}");
    for step in [
        follower.head(1, &head),
        follower.chunk(2, body.as_bytes()),
        follower.end(3, Over::Complete),
    ] {
        text.push_str(&recorder.took(2, step.parts, &step.notes));
    }
    assert_eq!(recorder.stopped(), Some(Stopped::Full));
    text.push_str(&recorder.asked(4, &watch(false), &Note::Opened { at: 4 }));
    text.push_str(&recorder.took(5, vec![ResponsePart::Opened], &[]));
    text.push_str(&recorder.finish());
    let (at, why) = (2, Stopped::Full);
    assert_eq!(last_note(&text), Some(Note::Stopped { at, why }));
    assert!(!text.contains("\"page\""), "{text}");
}

#[test]
fn notes_lie_beside_the_run() {
    let requests = vec![(list(""), vec![page("10", "", &["x"])])];
    let trace = recorded(5, GoesOn::Never, requests);
    // The informer's own, and one for the request.
    let bytes = trace::write(&trace);
    assert!(
        super::super::note::read(bytes.as_bytes()).is_empty(),
        "only the tap writes them"
    );
    let line = Note::Opened { at: 7 }.line().to_string();
    assert_eq!(line, "{\"tap\":{\"opened\":{\"at\":7}}}");
    assert_eq!(
        super::super::note::read(line.as_bytes()),
        [Note::Opened { at: 7 }]
    );
}

#[test]
fn a_known_bug_that_the_run_meets_is_found() {
    let watched = |event_of: EventType| {
        let unknown = event(event_of, "never-seen", "30");
        vec![
            (list(""), vec![page("10", "", &["x"])]),
            (watch(false), vec![ResponsePart::Opened, unknown]),
        ]
    };
    for (event, bugs) in [(EventType::Added, 0), (EventType::Deleted, 1)] {
        let found = known_bugs(&recorded(5, GoesOn::Never, watched(event)));
        assert_eq!(found.len(), bugs, "{event:?}: {found:?}");
        for (_, violation) in found {
            assert_eq!(violation.invariant, Invariant::Order);
        }
    }
}
