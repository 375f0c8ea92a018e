//! Controllers behind the tap, with random requests, answers, faults and restarts: after each step every recording holds what its
//! controller has, plays to it, and its counts are those of what came.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests; a failure says how to see it"
)]

mod server;
mod tap;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use deltascope::cache::fact::EventType;
use deltascope::cache::rng::Rng;
use deltascope::replay::heard;
use deltascope::replay::log::{Call as Called, Logged};
use deltascope::replay::tap::call::Call;
use deltascope::replay::tap::detect::{Client, Id, Track};
use deltascope::replay::tap::follow::Over;
use deltascope::replay::tap::ledger::Ledger;
use deltascope::replay::tap::note;
use deltascope::replay::tap::state::State;
use deltascope::replay::trace;
use deltascope::world::Time;
use deltascope::world::source::Command;
use deltascope::world::source::live::ResponsePart;
use deltascope::world::source::proxy::exchange::Head;
use deltascope::world::source::wire::RecordedEvent;
use deltascope::world::virtual_time::Input;
use serde_json::Value;

use super::simulation::{run_all, seeds};
use server::{Of, Server};
use tap::Tap;

/// What happens in a run.
const STEPS: usize = 120;
/// Facts of a recording that are played, at most.
const PLAYED: usize = 200_000;

/// How many logs were compared of controllers that had begun anew.
static AGAIN: AtomicUsize = AtomicUsize::new(0);

/// Versions of objects by their keys.
type Versions = BTreeMap<String, String>;

/// What somebody has who hears lists and watches.
#[derive(Clone, Debug, Default)]
struct Store {
    objects: Versions,
    /// Those of a list, or of initial events, under way.
    coming: Option<Versions>,
    /// Whether the last list has come whole.
    settled: bool,
    events: u64,
    bookmarks: u64,
    watches: u64,
}

impl Store {
    fn lists(&mut self) {
        (self.coming, self.settled) = (Some(Versions::new()), false);
    }

    /// The rest of it will not come.
    fn fails(&mut self) {
        self.coming = None;
    }

    fn settle(&mut self) {
        if let Some(all) = self.coming.take() {
            (self.objects, self.settled) = (all, true);
        }
    }

    fn event(&mut self, kind: &str, object: &Value) {
        let (key, rv) = (key(object), rv(object));
        if self.coming.is_none() {
            self.events += 1;
        }
        let objects = self.coming.as_mut().unwrap_or(&mut self.objects);
        match kind {
            "DELETED" => drop(objects.remove(&key)),
            _ => drop(objects.insert(key, rv)),
        }
    }
}

fn key(object: &Value) -> String {
    let of = &object["metadata"];
    format!(
        "{}/{}",
        of["namespace"].as_str().unwrap(),
        of["name"].as_str().unwrap()
    )
}

fn rv(object: &Value) -> String {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Cached,
    Whole,
    Paged(usize),
    Streamed,
}

/// A request and what is to come of it.
#[derive(Debug)]
struct Open {
    id: Id,
    track: Track,
    watches: bool,
    /// Not sent yet.
    head: Option<Head>,
    /// What is still to come.
    body: Vec<u8>,
    /// What of it has come, of a watch since its last line.
    came: Vec<u8>,
    /// The events up to this version are in the body; `None` if none follow.
    sent: Option<u64>,
}

/// A controller's informer.
#[derive(Debug)]
struct Informer {
    client: Client,
    of: Of,
    how: How,
    /// Whether there is another of the same client and the same objects.
    has_twin: bool,
    /// It lists, from this token on.
    lists: Option<String>,
    version: String,
    store: Store,
    open: Option<Open>,
    track: Option<Track>,
    /// What its handler was called with, and in which file of its recording that is; `None` from a restart on that the tap does
    /// not see.
    log: Option<Vec<(usize, Logged)>>,
    /// Whether the controller has begun anew.
    again: bool,
}

impl Informer {
    fn is_client_go(&self) -> bool {
        self.client.agent.contains("kubernetes")
    }

    fn call(&self) -> Call {
        let path = match self.of.namespace {
            Some(namespace) => format!("/api/v1/namespaces/{namespace}/pods"),
            None => "/api/v1/pods".to_owned(),
        };
        let mut query = Vec::new();
        let mut say = |name: &str, value: &str| query.push((name.to_owned(), value.to_owned()));
        if self.of.web {
            say("labelSelector", "app=web");
        }
        match (&self.lists, self.how) {
            (None, _) => {
                say("watch", "true");
                say("allowWatchBookmarks", "true");
                say("resourceVersion", &self.version);
            }
            (Some(_), How::Streamed) => {
                say("watch", "true");
                say("sendInitialEvents", "true");
                say("resourceVersionMatch", "NotOlderThan");
                say("allowWatchBookmarks", "true");
            }
            (Some(_), How::Cached) => say("resourceVersion", "0"),
            (Some(_), How::Whole) => {}
            (Some(token), How::Paged(limit)) => {
                say("limit", &limit.to_string());
                if !token.is_empty() {
                    say("continue", token);
                }
            }
        }
        Call::read("GET", &path, &query, "application/json")
    }

    /// Its handler is called.
    fn calls(&mut self, file: usize, event: EventType, key: &str, rv: &str, tombstone: bool) {
        if let Some(log) = &mut self.log {
            let call = Called {
                event,
                key: key.to_owned(),
                rv: rv.to_owned(),
                tombstone,
            };
            let logged = Logged {
                line: log.len() as u32 + 1,
                call,
                kind: ("v1".into(), "Pod".into()),
            };
            log.push((file, logged));
        }
    }

    /// The list has come: the handler hears what is new of it.
    fn settle(&mut self, file: usize) {
        let before = self.store.objects.clone();
        self.store.settle();
        for (key, rv) in self.store.objects.clone() {
            let event = match before.get(&key) {
                None => EventType::Added,
                Some(_) => EventType::Modified,
            };
            self.calls(file, event, &key, &rv, false);
        }
        for (key, rv) in &before {
            if !self.store.objects.contains_key(key) {
                self.calls(file, EventType::Deleted, key, rv, true);
            }
        }
        self.lists = None;
    }
}

struct Run {
    seed: u64,
    rng: Rng,
    server: Server,
    tap: Tap,
    informers: Vec<Informer>,
    /// What each informer of the tap has been told.
    told: BTreeMap<Track, Store>,
    now: Time,
    requests: Id,
    connections: u64,
    /// The next request is refused so; 0: it does not arrive.
    refuses: Option<u16>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let rotate = [usize::MAX, 1_500, 4_000][rng.below(3) as usize];
        let agents = [
            "m/v1.36.0 (linux/amd64) kubernetes/abc",
            "m2/v1 client-go",
            "kube-rs",
        ];
        let mut informers: Vec<Informer> = Vec::new();
        for number in 0..1 + rng.below(4) {
            let agent = agents[rng.below(3) as usize];
            let of = Of {
                namespace: [None, None, Some("a")][rng.below(3) as usize],
                web: rng.chance(30),
            };
            let client = Client {
                agent: agent.into(),
                connection: number,
            };
            let twin = informers
                .iter_mut()
                .find(|one| one.client.agent == client.agent && one.of == of);
            let has_twin = twin.map(|twin| twin.has_twin = true).is_some();
            informers.push(Informer {
                client,
                of,
                how: [How::Cached, How::Whole, How::Paged(2), How::Streamed][rng.below(4) as usize],
                has_twin,
                lists: Some(String::new()),
                version: String::new(),
                store: Store::default(),
                open: None,
                track: None,
                log: Some(Vec::new()),
                again: false,
            });
        }
        Self {
            seed,
            connections: informers.len() as u64,
            rng,
            server: Server::new(),
            tap: Tap::new(rotate),
            informers,
            told: BTreeMap::new(),
            now: 0,
            requests: 0,
            refuses: None,
        }
    }

    fn step(&mut self) {
        self.now += [0, 1, 700, 2_500][self.rng.below(4) as usize];
        let one = self.rng.below(self.informers.len() as u64) as usize;
        match self.rng.below(40) {
            0..10 => {
                let key = format!(
                    "{}/p{}",
                    ["a", "b"][self.rng.below(2) as usize],
                    self.rng.below(5)
                );
                let (removes, web) = (self.rng.chance(30), self.rng.chance(60));
                self.server.write(&key, removes, web);
            }
            10 => self.server.compact(),
            11 => self.refuses = Some([0, 410, 429, 500, 403][self.rng.below(5) as usize]),
            12 => self.bookmark(one),
            13 => self.error(one),
            14 => self.end(one, Over::Complete),
            15 => self.end(one, Over::Broken("reset".to_owned())),
            16 => self.end(one, Over::HungUp),
            17 if self.rng.chance(50) => self.restart(one),
            17 | 18 => {
                self.connections += 1;
                self.informers[one].client.connection = self.connections;
            }
            19 if self.rng.chance(30) && self.informers[one].open.is_none() => {
                // Also in place of further pages.
                let informer = &mut self.informers[one];
                informer.how = How::Whole;
                if let Some(token) = &mut informer.lists {
                    token.clear();
                }
            }
            _ if self.informers[one].open.is_none() => self.ask(one),
            _ => self.deliver(one),
        }
    }

    /// It sends its next request, and the server decides what it answers.
    fn ask(&mut self, one: usize) {
        let informer = &mut self.informers[one];
        let call = informer.call();
        let id = self.requests;
        self.requests += 1;
        let (track, anew) = self.tap.asked(id, self.now, &informer.client, &call);
        informer.track = Some(track);
        if anew {
            informer.log.get_or_insert_default();
        }
        let told = self.told.entry(track).or_default();
        let ok = Head {
            status: 200,
            content_type: "application/json".to_owned(),
            ..Head::default()
        };
        let mut open = Open {
            id,
            track,
            watches: matches!(call, Call::Watch(..)),
            head: Some(ok.clone()),
            body: Vec::new(),
            came: Vec::new(),
            sent: None,
        };
        let is_first = informer.lists.as_deref() == Some("");
        if is_first {
            informer.store.lists();
            told.lists();
        }
        let mut refuses = self.refuses.take();
        let body = match &informer.lists {
            Some(token) if !open.watches => {
                let limit = match informer.how {
                    How::Paged(limit) => limit,
                    _ => 0,
                };
                self.server.list(informer.of, limit, token)
            }
            Some(_) => {
                open.sent = Some(self.server.rv);
                Some(self.server.initial(informer.of))
            }
            None => {
                let version: u64 = informer.version.parse().unwrap();
                match self.server.has(version) {
                    true => {
                        open.sent = Some(version);
                        Some(String::new())
                    }
                    // In the stream.
                    false if self.rng.chance(50) => Some(server::error(410, "Expired")),
                    false => None,
                }
            }
        };
        if body.is_none() {
            refuses.get_or_insert(410);
        }
        open.body = body.unwrap_or_default().into_bytes();
        if let Some(code) = refuses {
            open.sent = None;
            let reason = match code {
                410 => "Expired",
                429 => "TooManyRequests",
                403 => "Forbidden",
                _ => "InternalError",
            };
            open.body = server::status(code, reason).to_string().into_bytes();
            open.head = Some(Head {
                status: code,
                retry_after: if code == 429 { "1" } else { "" }.to_owned(),
                ..ok
            });
        }
        informer.open = Some(open);
        if refuses == Some(0) {
            self.end(one, Over::Broken("refused".to_owned()));
        }
    }

    /// Some of the answer comes.
    fn deliver(&mut self, one: usize) {
        let informer = &mut self.informers[one];
        let Some(open) = &mut informer.open else {
            return;
        };
        let refused = open.head.as_ref().is_some_and(|head| head.status != 200);
        if let Some(head) = open.head.take() {
            self.tap.head(open.id, self.now, &head);
            if open.watches && !refused {
                self.told.get_mut(&open.track).unwrap().watches += 1;
            }
        }
        if refused {
            let body = std::mem::take(&mut open.body);
            self.tap.chunk(open.id, self.now, &body);
            return self.end(one, Over::Complete);
        }
        if let Some(sent) = open.sent {
            open.body
                .extend(self.server.events(informer.of, sent).bytes());
            open.sent = Some(self.server.rv);
        }
        let mut size = match self.rng.chance(40) {
            true => open.body.len(),
            false => open.body.len().min(1 + self.rng.below(400) as usize),
        };
        // Whether a last line without an end is one, readers may see in different ways.
        if open.body.get(size) == Some(&b'\n') {
            size += 1;
        }
        let piece: Vec<u8> = open.body.drain(..size).collect();
        self.tap.chunk(open.id, self.now, &piece);
        open.came.extend(piece);
        let (is_over, watches) = (open.body.is_empty() && open.sent.is_none(), open.watches);
        if watches {
            self.lines(one);
        }
        if is_over {
            self.end(one, Over::Complete);
        }
    }

    /// Lines of a watch have come.
    fn lines(&mut self, one: usize) {
        let informer = &mut self.informers[one];
        let Some(open) = &mut informer.open else {
            return;
        };
        let end = open
            .came
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let lines: Vec<u8> = open.came.drain(..end).collect();
        let told = self.told.get_mut(&open.track).unwrap();
        let file = self.tap.files(open.track);
        let mut fails = None;
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let line: Value = serde_json::from_slice(line).unwrap();
            let (kind, object) = (line["type"].as_str().unwrap(), &line["object"]);
            match kind {
                "ERROR" => fails = object["code"].as_u64(),
                "BOOKMARK" => {
                    told.bookmarks += 1;
                    informer.version = rv(object);
                    if object["metadata"]["annotations"].is_object() {
                        told.settle();
                        informer.settle(file);
                    }
                }
                kind => {
                    told.event(kind, object);
                    let initial = informer.store.coming.is_some();
                    let known = informer.store.objects.contains_key(&key(object));
                    informer.store.event(kind, object);
                    informer.version = rv(object);
                    if !initial {
                        let event = match (kind, known) {
                            ("DELETED", _) => EventType::Deleted,
                            (_, true) => EventType::Modified,
                            (_, false) => EventType::Added,
                        };
                        informer.calls(file, event, &key(object), &rv(object), false);
                    }
                }
            }
        }
        if fails == Some(410) {
            informer.lists = Some(String::new());
        }
        // Others read on.
        if fails.is_some() && self.informers[one].is_client_go() {
            self.end(one, Over::HungUp);
        }
    }

    /// Its request ends.
    fn end(&mut self, one: usize, over: Over) {
        let informer = &mut self.informers[one];
        let Some(open) = informer.open.take() else {
            return;
        };
        let told = self.told.get_mut(&open.track).unwrap();
        let whole = over == Over::Complete
            && !open.watches
            && open.head.is_none()
            && open.body.is_empty()
            && !open.came.is_empty();
        self.tap.end(open.id, self.now, over);
        let file = self.tap.files(open.track);
        if whole {
            let list: Value = serde_json::from_slice(&open.came).unwrap();
            for object in list["items"].as_array().unwrap() {
                for store in [&mut *told, &mut informer.store] {
                    let coming = store.coming.get_or_insert_default();
                    coming.insert(key(object), rv(object));
                }
            }
            match list["metadata"]["continue"].as_str() {
                Some(token) => informer.lists = Some(token.to_owned()),
                None => {
                    informer.version = rv(&list);
                    told.settle();
                    informer.settle(file);
                }
            }
        } else {
            // After a list that fails comes another, after a watch what the controller thinks right.
            let fails = informer.store.coming.is_some();
            if fails || self.rng.chance(30) {
                told.fails();
                informer.store.fails();
                informer.lists = Some(String::new());
            }
        }
    }

    fn bookmark(&mut self, one: usize) {
        let Informer { of, open, .. } = &mut self.informers[one];
        if let Some(open) = open
            && let Some(sent) = open.sent
        {
            let of = *of;
            open.body.extend(self.server.events(of, sent).bytes());
            open.body
                .extend(server::bookmark(self.server.rv, false).bytes());
            open.sent = Some(self.server.rv);
        }
    }

    fn error(&mut self, one: usize) {
        let (code, reason) = [(410, "Expired"), (500, "InternalError")][self.rng.below(2) as usize];
        if let Some(open) = &mut self.informers[one].open
            && open.sent.take().is_some()
        {
            open.body.extend(server::error(code, reason).bytes());
        }
    }

    /// The controller begins anew, with all its informers.
    fn restart(&mut self, one: usize) {
        let agent = self.informers[one].client.agent.clone();
        self.connections += 1;
        for one in 0..self.informers.len() {
            if self.informers[one].client.agent != agent {
                continue;
            }
            self.end(one, Over::HungUp);
            let informer = &mut self.informers[one];
            informer.client.connection = self.connections;
            informer.lists = Some(String::new());
            informer.store = Store::default();
            (informer.log, informer.again) = (None, true);
        }
    }

    fn check(&mut self, plays: bool) {
        for (track, told) in &self.told {
            // It may be forgotten.
            let Some(one) = self.tap.tracks.get(track) else {
                continue;
            };
            let name = || format!("track {track} of seed {}", self.seed);
            let ledger = &one.ledger;
            let counts = (ledger.events, ledger.bookmarks, ledger.watches);
            assert_eq!(
                counts,
                (told.events, told.bookmarks, told.watches),
                "{}",
                name()
            );
            if !told.settled {
                continue;
            }
            assert_eq!(ledger.objects(), told.objects.len(), "{}", name());
            if one.recorder.is_some() {
                assert_eq!(state(one.files.last().unwrap()), told.objects, "{}", name());
            }
            if plays && one.recorder.is_some() {
                assert_eq!(
                    stored(one.files.last().unwrap()),
                    told.objects,
                    "{}",
                    name()
                );
            }
            if let ([file], true) = (&*one.files, one.recorder.is_some()) {
                let read = Ledger::of(&note::read(file.as_bytes()));
                assert_eq!(
                    (read.events, read.bookmarks, read.watches),
                    counts,
                    "{}",
                    name()
                );
                assert_eq!(read.objects(), told.objects.len(), "{}", name());
            }
        }
        // A file plays by itself to what the next one begins with.
        for (track, file) in std::mem::take(&mut self.tap.complete) {
            let name = || format!("track {track} of seed {}", self.seed);
            assert_eq!(stored(&file), state(&file), "{}", name());
        }
        for informer in &self.informers {
            let Some(track) = informer.track.filter(|_| !informer.has_twin) else {
                continue;
            };
            if informer.store.settled {
                let told = &self.told[&track];
                assert_eq!(
                    informer.store.objects, told.objects,
                    "{informer:?} of seed {}",
                    self.seed
                );
            }
        }
    }

    /// What the handlers were called with is what the recordings say.
    fn check_logs(&mut self) {
        for informer in &mut self.informers {
            let (Some(track), Some(log)) = (informer.track, informer.log.take()) else {
                continue;
            };
            let Some(one) = self.tap.tracks.get(&track) else {
                continue;
            };
            if informer.has_twin || !informer.store.settled || one.recorder.is_none() {
                continue;
            }
            let file = one.files.last().unwrap().as_bytes();
            let log = log.into_iter().filter(|(of, _)| *of == one.files.len());
            let log = log.map(|(_, logged)| logged).collect();
            let (trace, _) = trace::read("tap", file);
            let goes_on = note::goes_on(file);
            let beside = heard::beside(&trace.unwrap().recording, goes_on, log).unwrap();
            if informer.again && beside.tally().alike > 0 {
                AGAIN.fetch_add(1, Ordering::Relaxed);
            }
            assert_eq!(
                beside.first(),
                None,
                "track {track} of seed {}: {:?}",
                self.seed,
                beside.heard()
            );
        }
    }
}

/// What a recording says that the informer has.
fn state(file: &str) -> Versions {
    let state = State::read(file.as_bytes()).unwrap();
    let mut objects = Versions::new();
    for input in state.beginning(false, 0) {
        let Input::Source(Command::Respond(responses)) = &input.input else {
            continue;
        };
        for response in responses.iter() {
            let some: Vec<_> = match &response.part {
                ResponsePart::Page(page) => page.items.iter().collect(),
                ResponsePart::Event(RecordedEvent::Object { object, .. }) => vec![object],
                _ => continue,
            };
            for object in some {
                let of = &object.metadata;
                let [namespace, name, rv] = [&of.namespace, &of.name, &of.resource_version];
                let key = format!(
                    "{}/{}",
                    namespace.as_deref().unwrap(),
                    name.as_deref().unwrap()
                );
                objects.insert(key, rv.clone().unwrap());
            }
        }
    }
    objects
}

/// What is stored where a file has been played.
fn stored(file: &str) -> Versions {
    let (trace, error) = trace::read("tap", file.as_bytes());
    assert_eq!(error, None, "{file}");
    let mut timeline = trace.unwrap().recording.play().unwrap();
    timeline.extend(PLAYED);
    let picture = timeline.picture(timeline.len());
    let items = picture.store.items.iter();
    items
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect()
}

/// Of a failure the recordings are left.
impl Drop for Run {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for (track, one) in &self.tap.tracks {
            for (number, file) in one.files.iter().enumerate() {
                let name = format!("tap-{}-{track}.{}.jsonl", self.seed, number + 1);
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
                if std::fs::write(&path, file).is_ok() {
                    eprintln!("seed {}: deltascope replay {}", self.seed, path.display());
                }
            }
        }
    }
}

fn run(seed: u64) {
    let mut run = Run::new(seed);
    for step in 0..STEPS {
        run.step();
        run.check(step % 20 == 19);
    }
    run.check_logs();
}

#[test]
fn whatever_controllers_do_their_recordings_have_what_they_have() {
    run_all(seeds(60, 10), run);
    assert!(AGAIN.load(Ordering::Relaxed) > 0, "none is compared");
}
