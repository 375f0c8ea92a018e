//! Requests as they pass, told to the watcher.

use deltascope_replay::tap::finding::Odd;
use deltascope_replay::tap::follow::Over;
use deltascope_replay::tap::note::Stopped;
use hyper::body::Bytes;

use super::super::super::http::head_of;
use super::*;

/// One that records, and a client.
pub(super) fn watcher() -> (Watcher, Client) {
    let watcher = Watcher::new(Options {
        out: Some(PathBuf::from("never-written")),
        kept: true,
        rotate: usize::MAX,
        keep: 1,
        recordings: Recordings::default(),
        logs: false,
        start: None,
        lang: Lang::En,
    });
    let client = Client {
        agent: "m".into(),
        connection: 0,
    };
    (watcher, client)
}

impl Watcher {
    /// A request, in the ms of its number, and the head of its answer.
    pub(super) fn ask(&mut self, client: &Client, id: Id, wanted: &str, status: u16) {
        let call = Call::asked("GET", wanted, "application/json");
        self.asked(id, id, client, &call);
        let head = head_of(status, &hyper::HeaderMap::new());
        self.hear(Word::Head { id, at: id, head });
    }

    /// More of its answer.
    pub(super) fn come(&mut self, id: Id, at: Time, bytes: impl Into<Bytes>) {
        self.hear(Word::Chunk {
            id,
            at,
            bytes: bytes.into(),
            _room: None,
        });
    }

    pub(super) fn end(&mut self, id: Id, over: Over) {
        self.hear(Word::End { id, at: id, over });
    }

    /// A request for pods, and its whole answer.
    fn ask_pods(&mut self, client: &Client, id: Id, query: &str, status: u16, body: &'static str) {
        self.ask(client, id, &format!("api/v1/pods{query}"), status);
        self.come(id, id, body);
        self.end(id, Over::Complete);
    }
}

#[test]
fn a_request_that_no_reflector_makes_ends_the_recording() {
    let (mut watcher, client) = watcher();
    // Its list fails, and it watches.
    watcher.ask_pods(&client, 0, "", 500, "");
    watcher.ask(&client, 5, "api/v1/pods?watch=1", 200);
    let stopped: Vec<_> = (watcher.tracks.values())
        .filter_map(|track| track.ledger.stopped)
        .collect();
    assert_eq!(stopped, [(5, Stopped::Unlike)]);
}

#[test]
fn of_two_informers_the_one_that_has_more_is_not_compared() {
    let (mut watcher, client) = watcher();
    for (id, path) in [(0, "api/v1/pods"), (2, "api/v1/namespaces/a/pods")] {
        watcher.ask(&client, id, path, 200);
        watcher.come(id, id, WHOLE);
        watcher.end(id, Over::Complete);
        watcher.ask(&client, id + 1, &format!("{path}{WATCH}"), 200);
    }
    let line =
        br#"{"informer":{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"b"}}}}"#;
    let logged = deltascope_replay::log::call_of(1, line).unwrap().unwrap();
    watcher.logged(logged);
    let informers = watcher.observed().informers;
    let troubles: Vec<bool> = informers.iter().map(|one| one.trouble.is_some()).collect();
    assert_eq!(troubles, [true, false]);
    assert_eq!(watcher.said.counts.unclaimed, 1);
}

const FORBIDDEN: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"pods is forbidden","code":403}"#;
const WHOLE: &str =
    r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#;
const WATCH: &str = "?watch=1&resourceVersion=1";
const STREAM: &str = "?watch=1&sendInitialEvents=true";

/// What is found so far: of a refusal, what it says.
fn found(watcher: &mut Watcher) -> Vec<String> {
    let found = watcher.observed().found();
    let said = found.iter().map(|one| match &one.odd {
        Odd::Refused(refused) => {
            let Refused {
                request,
                count,
                error,
                ..
            } = refused;
            let what = request.as_str();
            format!("{what} {count} {} {}", error.code, error.message)
        }
        other => other.id().to_owned(),
    });
    said.collect()
}

#[test]
fn a_list_that_is_refused_again_and_again_is_no_poll() {
    let (mut watcher, client) = watcher();
    for (id, expected) in (0..12).zip([0, 1].into_iter().chain([1; 10])) {
        watcher.ask_pods(&client, id, "", 403, FORBIDDEN);
        assert_eq!(found(&mut watcher).len(), expected, "{id}");
    }
    assert_eq!(found(&mut watcher), ["LIST 12 403 pods is forbidden"]);
    watcher.ask_pods(&client, 12, "", 200, WHOLE);
    assert_eq!(found(&mut watcher), ["poll"], "it is refused no more");
    for id in 13..15 {
        watcher.ask_pods(&client, id, "", 403, FORBIDDEN);
        let mut expected = vec!["poll", "LIST 2 403 pods is forbidden"];
        expected.truncate(id as usize - 12);
        assert_eq!(found(&mut watcher), expected, "the lists of before stay");
    }
}

#[test]
fn a_watch_that_is_refused_between_lists_is_found() {
    let (mut watcher, client) = watcher();
    for id in 0..3 {
        watcher.ask_pods(&client, id * 2, "", 200, WHOLE);
        watcher.ask_pods(&client, id * 2 + 1, WATCH, 403, FORBIDDEN);
    }
    assert_eq!(
        found(&mut watcher),
        ["relists", "WATCH 3 403 pods is forbidden"]
    );
    watcher.ask_pods(&client, 6, WATCH, 200, "");
    assert_eq!(
        found(&mut watcher),
        ["relists", "short-watches"],
        "it opens"
    );
}

#[test]
fn a_streaming_list_that_is_refused_is_a_list() {
    let (mut watcher, client) = watcher();
    for id in 0..2 {
        watcher.ask_pods(&client, id, STREAM, 403, FORBIDDEN);
    }
    assert_eq!(found(&mut watcher), ["LIST 2 403 pods is forbidden"]);
    watcher.ask_pods(&client, 2, "", 200, WHOLE);
    assert_eq!(found(&mut watcher), [""; 0], "it has its list");
}

#[test]
fn what_only_lists_is_counted_and_its_list_is_freed() {
    let (mut watcher, client) = watcher();
    let body = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
        {"metadata":{"name":"one","namespace":"default","uid":"u","resourceVersion":"1"}}]}"#;
    let mut held = Vec::new();
    for id in 0..100 {
        watcher.ask_pods(&client, id, "", 200, body);
        held.push(watcher.held());
    }
    assert!(held[0] > 0);
    assert_eq!(held[50], held[99], "it grows");
    assert_eq!((watcher.tracks.len(), watcher.open.len()), (8, 0));
    let polls = watcher.observed().polls;
    assert_eq!((polls.len(), polls[0].count), (1, 100));
    assert_eq!((polls[0].first, polls[0].last), (0, 99));
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_on_a_full_disk_ends_and_is_counted_on() {
    let (mut watcher, client) = watcher();
    let out = std::env::temp_dir().join(format!("deltascope-full-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    watcher.options.out = Some(out.clone());
    watcher.ask(&client, 0, "api/v1/pods?watch=1", 200);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let tracks = &mut watcher.tracks;
    tracks
        .values_mut()
        .for_each(|track| track.to = To::File(full.try_clone().unwrap()));
    let event = r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}"#;
    for at in [6, 7] {
        watcher.come(0, at, format!("{event}\n"));
    }
    let ledger = &watcher.observed().informers[0].ledger;
    let stopped = ledger.stopped.map(|(_, why)| why);
    assert_eq!((stopped, ledger.events), (Some(Stopped::Unwritten), 2));
    let unsaid = watcher.options.recordings.unsaid(1, None).unwrap();
    assert!(unsaid.contains("unwritten"), "{unsaid}");
    std::fs::remove_dir_all(&out).unwrap();
}
