//! Reads what passes, in a thread of its own: finds the informers, records each, and counts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use hyper::body::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use deltascope_presentation::cluster;
use deltascope_replay::recording::Recording;
use deltascope_replay::tap::call::{Call, Scope};
use deltascope_replay::tap::detect::{Began, Client, Detector, Id};
use deltascope_replay::tap::finding::Poll;
use deltascope_replay::tap::follow::{Follower, Over, Step};
use deltascope_replay::tap::ledger::{self, Ledger};
use deltascope_replay::tap::note::{Connection, Note, Stopped};
use deltascope_replay::tap::record::Recorder;
use deltascope_replay::trace::Trace;
use deltascope_world::Time;
use deltascope_world::source::live::ResponsePart;
use deltascope_world::source::proxy::exchange::Head;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::text::{Lang, Text};

use super::super::report::{self, Count, Observed};
use super::super::{Failure, note};
use super::names::Names;

/// Most bytes of responses that wait to be read.
const ROOM: usize = 16 << 20;
/// Most bytes of lists that are kept until a watch shows that they are an informer's.
const HELD: usize = 128 << 20;
/// Most objects and scopes whose reads are counted one by one.
const READ: usize = 4_096;

/// What the passage tells the watcher.
enum Word {
    /// A list or a watch begins.
    Asked {
        id: Id,
        at: Time,
        client: Client,
        call: Call,
    },
    /// The head of its response has come.
    Head { id: Id, at: Time, head: Head },
    /// A piece of it, with the room that it takes until it is read.
    Chunk {
        id: Id,
        at: Time,
        bytes: Bytes,
        _room: Option<OwnedSemaphorePermit>,
    },
    /// It is over.
    End { id: Id, at: Time, over: Over },
    /// Another request was answered.
    Other {
        at: Time,
        client: Client,
        call: Call,
        status: u16,
    },
    /// Somebody wants to know how it stands.
    Look(Time, oneshot::Sender<Observed>),
}

/// The room for what the watcher has not read yet.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    /// What a piece takes of it: at most all.
    pub(super) fn wanted(&self, bytes: usize) -> (Arc<Semaphore>, u32) {
        let wanted = u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX);
        (Arc::clone(&self.0), wanted)
    }
}

/// Tells the watcher.
pub(super) struct Teller {
    words: UnboundedSender<Word>,
    room: Room,
    began: Instant,
    next: AtomicU64,
}

/// Tells the watcher of one response.
pub(super) struct Telling {
    id: Id,
    words: UnboundedSender<Word>,
    room: Room,
    began: Instant,
    over: bool,
}

fn since(began: Instant) -> Time {
    Time::try_from(began.elapsed().as_millis()).unwrap_or(Time::MAX)
}

impl Teller {
    /// A list or a watch begins; none for what is only counted.
    pub(super) fn asked(&self, client: Client, call: Call) -> Option<Telling> {
        if !matches!(call, Call::List(..) | Call::Watch(..)) {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let at = since(self.began);
        let telling = Telling {
            id,
            words: self.words.clone(),
            room: self.room.clone(),
            began: self.began,
            over: false,
        };
        telling.say(Word::Asked {
            id,
            at,
            client,
            call,
        });
        Some(telling)
    }

    /// Another request was answered.
    pub(super) fn other(&self, client: Client, call: Call, status: u16) {
        let at = since(self.began);
        let _gone = self.words.send(Word::Other {
            at,
            client,
            call,
            status,
        });
    }

    /// How it stands.
    pub(super) async fn look(&self) -> Option<Observed> {
        let (answer, answered) = oneshot::channel();
        let now = since(self.began);
        self.words.send(Word::Look(now, answer)).ok()?;
        answered.await.ok()
    }
}

impl Telling {
    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    pub(super) fn head(&self, head: Head) {
        let (id, at) = (self.id, since(self.began));
        self.say(Word::Head { id, at, head });
    }

    pub(super) fn chunk(&self, bytes: Bytes, room: Option<OwnedSemaphorePermit>) {
        let (id, at) = (self.id, since(self.began));
        self.say(Word::Chunk {
            id,
            at,
            bytes,
            _room: room,
        });
    }

    pub(super) fn over(&mut self, over: Over) {
        if !std::mem::replace(&mut self.over, true) {
            let (id, at) = (self.id, since(self.began));
            self.say(Word::End { id, at, over });
        }
    }

    fn say(&self, word: Word) {
        // The watcher listens as long as there are requests.
        let _gone = self.words.send(word);
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.over(Over::HungUp);
    }
}

/// The recordings, by their number from 1.
#[derive(Clone, Default)]
pub(super) struct Recordings(Arc<Mutex<Vec<PathBuf>>>);

impl Recordings {
    /// Adds one, and returns its number.
    pub(super) fn add(&self, path: PathBuf) -> usize {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(path);
        all.len()
    }

    /// The file of this number.
    pub(super) fn get(&self, number: usize) -> Option<PathBuf> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(number.checked_sub(1)?).cloned()
    }
}

/// What the watcher is told at its start.
pub(super) struct Options {
    /// Where the recordings go; `None` for none.
    pub(super) out: Option<PathBuf>,
    /// Whether they stay there.
    pub(super) kept: bool,
    /// Those that there are.
    pub(super) recordings: Recordings,
    /// Wall-clock time now, in ms since 1970.
    pub(super) start: Option<Time>,
    pub(super) lang: Lang,
}

/// The thread that reads.
pub(super) struct Watching(JoinHandle<Observed>);

impl Watching {
    /// What it has observed, once nobody tells anything any more.
    pub(super) fn end(self) -> Option<Observed> {
        self.0.join().ok()
    }
}

/// Starts the watcher.
#[allow(
    clippy::disallowed_methods,
    reason = "reading a large list would hold up the requests of this thread"
)]
pub(super) fn start(options: Options) -> Result<(Teller, Watching), Failure> {
    if let Some(out) = &options.out {
        be_new(out)?;
    }
    let (words, told) = unbounded_channel();
    let teller = Teller {
        words,
        room: Room(Arc::new(Semaphore::new(ROOM))),
        began: Instant::now(),
        next: AtomicU64::new(0),
    };
    let watching = std::thread::spawn(move || Watcher::new(options).run(told));
    Ok((teller, Watching(watching)))
}

/// Makes a folder for recordings, in which there are none yet.
fn be_new(out: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot_write(out, &error);
    fs::create_dir_all(out).map_err(failed)?;
    for entry in fs::read_dir(out).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let (out, there) = (out.display(), path.display());
            return Err(Failure::new(
                &format!("{out} has recordings already ({there}): name a new folder."),
                &format!("{out} 中已有录制（{there}）：请换一个新文件夹。"),
            ));
        }
    }
    Ok(())
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    Failure::new(
        &format!("Cannot write {shown}: {error}."),
        &format!("无法写入 {shown}：{error}。"),
    )
}

/// An informer, or lists that may become one.
struct Track {
    began: Time,
    /// Its last request. What comes of an earlier one, its client has left.
    last: Id,
    ledger: Ledger,
    recorder: Option<Recorder>,
    to: To,
    /// How often it listed without a watch.
    polls: Poll,
}

/// Where a recording goes.
enum To {
    /// Into memory, until a watch shows that it is an informer's.
    Held(String),
    File(File),
    /// Nowhere, as too much is held: to be said if it is an informer's.
    TooMuch,
    /// Nowhere any more.
    Nowhere,
}

/// What is read without a watch, by client and scope.
type Reads = BTreeMap<(Arc<str>, Scope), Poll>;

struct Watcher {
    options: Options,
    detector: Detector,
    tracks: BTreeMap<usize, Track>,
    open: BTreeMap<Id, (usize, Follower)>,
    reads: Reads,
    names: Names,
    counts: BTreeMap<(Arc<str>, &'static str, String), Count>,
    until: Time,
    files: usize,
}

impl Watcher {
    fn new(options: Options) -> Self {
        Self {
            options,
            detector: Detector::default(),
            tracks: BTreeMap::new(),
            open: BTreeMap::new(),
            reads: BTreeMap::new(),
            names: Names::default(),
            counts: BTreeMap::new(),
            until: 0,
            files: 0,
        }
    }

    fn run(mut self, mut told: UnboundedReceiver<Word>) -> Observed {
        while let Some(word) = told.blocking_recv() {
            self.hear(word);
        }
        let tracks: Vec<usize> = self.tracks.keys().copied().collect();
        for track in tracks {
            let recorder = |one: &mut Track| one.recorder.as_mut().map(Recorder::finish);
            if let Some(text) = self.tracks.get_mut(&track).and_then(recorder) {
                self.write(track, &text);
            }
        }
        self.observed()
    }

    fn hear(&mut self, word: Word) {
        match word {
            Word::Asked {
                id,
                at,
                client,
                call,
            } => {
                self.until = at;
                self.asked(id, at, &client, &call);
            }
            Word::Head { id, at, head } => {
                self.step(id, at, |follower, at| follower.head(at, &head))
            }
            Word::Chunk { id, at, bytes, .. } => {
                self.step(id, at, |follower, at| follower.chunk(at, &bytes));
            }
            Word::End { id, at, over } => {
                self.step(id, at, |follower, at| follower.end(at, over));
                if let Some((track, _)) = self.open.remove(&id) {
                    self.detector.ended(track, id);
                }
            }
            Word::Other {
                at,
                client,
                call,
                status,
            } => {
                self.until = at;
                self.names.came(&client);
                self.other(at, client.agent, call, status);
            }
            Word::Look(at, answer) => {
                self.until = self.until.max(at);
                // Who asked may have gone.
                let _gone = answer.send(self.observed());
            }
        }
    }

    fn asked(&mut self, id: Id, at: Time, client: &Client, call: &Call) {
        self.names.came(client);
        let Some(Began {
            track,
            is_new,
            forgotten,
        }) = self.detector.began(id, client, call)
        else {
            return;
        };
        for track in forgotten {
            self.forget(track);
        }
        let is_informer = self.detector.is_informer(track);
        let begins = match call {
            Call::List(_, list) => list.token.is_empty(),
            _ => false,
        };
        if is_new {
            let new = self.track(at, client, call);
            self.tracks.insert(track, new);
        }
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let began = one.began;
        let Some((follower, note)) = Follower::new(at.saturating_sub(began), call) else {
            return;
        };
        if begins {
            one.polls.count += 1;
            one.polls.last = at;
        }
        one.last = id;
        one.ledger.note(&note);
        let at = at.saturating_sub(began);
        let mut stopped = None;
        let over = Note::Connection {
            at,
            connection: Connection {
                tap: self.options.start.unwrap_or_default(),
                number: client.connection,
            },
        };
        let known = one.ledger.connections.len();
        one.ledger.note(&over);
        let is_new = one.ledger.connections.len() > known;
        if let Some(recorder) = &mut one.recorder {
            let mut text = recorder.asked(at, call, &note);
            if is_new {
                text.push_str(&recorder.took(at, Vec::new(), &[over]));
            }
            stopped = recorder.stopped();
            self.write(track, &text);
        }
        if let Some(stopped) = stopped {
            self.stop(track, at, stopped);
        }
        if is_informer {
            self.confirm(track);
        }
        self.open.insert(id, (track, follower));
    }

    /// What begins with this request.
    fn track(&self, at: Time, client: &Client, call: &Call) -> Track {
        let scope = match call {
            Call::List(scope, _) | Call::Watch(scope, _) => scope.clone(),
            _ => Scope::default(),
        };
        let start = self.options.start.map(|start| start + at);
        let informer = Note::Informer {
            agent: Arc::clone(&client.agent),
            scope: scope.clone(),
        };
        let mut ledger = Ledger::of([&informer]);
        ledger.start = start;
        let room = self.held() < HELD;
        let recorder = (self.options.out.is_some() && room).then(|| {
            let head = head(scope.clone(), Arc::clone(&client.agent), start, call, at);
            Recorder::new(call, informer, head)
        });
        Track {
            began: at,
            last: 0,
            ledger,
            recorder,
            to: match room {
                true => To::Held(String::new()),
                false => To::TooMuch,
            },
            polls: Poll {
                agent: Arc::clone(&client.agent),
                scope,
                count: 0,
                first: at,
                last: at,
            },
        }
    }

    /// Frees what is kept of one that only lists; its lists are still counted.
    fn forget(&mut self, track: usize) {
        if let Some(one) = self.tracks.remove(&track) {
            self.open.retain(|_, (of, _)| *of != track);
            add(&mut self.reads, &one.polls);
        }
    }

    fn held(&self) -> usize {
        let held = self.tracks.values().map(|track| match &track.to {
            To::Held(text) => text.len(),
            To::File(_) | To::TooMuch | To::Nowhere => 0,
        });
        held.sum()
    }

    fn step(&mut self, id: Id, at: Time, read: impl FnOnce(&mut Follower, Time) -> Step) {
        self.until = self.until.max(at);
        let Some((track, follower)) = self.open.get_mut(&id) else {
            return;
        };
        let track = *track;
        let one = self.tracks.get(&track);
        let Some(began) = one.filter(|one| one.last == id).map(|one| one.began) else {
            return;
        };
        let at = at.saturating_sub(began);
        let step = read(follower, at);
        for part in &step.parts {
            self.detect(track, id, part);
        }
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        for note in &step.notes {
            one.ledger.note(note);
        }
        if let Some(recorder) = &mut one.recorder {
            let text = recorder.took(at, step.parts, &step.notes);
            let stopped = recorder.stopped();
            self.write(track, &text);
            if let Some(stopped) = stopped {
                self.stop(track, at, stopped);
            }
        }
    }

    fn detect(&mut self, track: usize, id: Id, part: &ResponsePart) {
        match part {
            ResponsePart::Page(page) => {
                self.detector
                    .page(track, id, &page.rv, &page.continue_token);
            }
            ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
                let rv = object.metadata.resource_version.as_deref();
                self.detector.version(track, id, rv.unwrap_or_default());
            }
            ResponsePart::Event(RecordedEvent::Bookmark { rv, .. }) => {
                self.detector.version(track, id, rv);
            }
            ResponsePart::Event(RecordedEvent::Error { .. } | RecordedEvent::Cut { .. })
            | ResponsePart::Refused(_)
            | ResponsePart::Later { .. }
            | ResponsePart::Ended(_) => self.detector.ended(track, id),
            ResponsePart::Opened => {}
        }
    }

    fn other(&mut self, at: Time, agent: Arc<str>, call: Call, status: u16) {
        let (verb, scope) = match call {
            Call::Get(scope) => ("get", scope),
            Call::Write(scope, verb) => (verb, scope),
            Call::List(..) | Call::Watch(..) | Call::Other => return,
        };
        let key = (Arc::clone(&agent), verb, scope.resource());
        let count = self.counts.entry(key).or_default();
        count.times += 1;
        count.failed += u64::from(status >= 400);
        if verb != "get" {
            return;
        }
        let read = Poll {
            agent,
            scope,
            count: 1,
            first: at,
            last: at,
        };
        add(&mut self.reads, &read);
    }

    /// It is an informer: its recording goes into a file.
    fn confirm(&mut self, track: usize) {
        let (Some(out), Some(one)) = (&self.options.out, self.tracks.get_mut(&track)) else {
            return;
        };
        let held = match &one.to {
            To::Held(held) => held,
            To::TooMuch => {
                one.to = To::Nowhere;
                let of = one.ledger.scope.title();
                let said = Text::new(
                    &format!(
                        "{of} is not recorded: too many lists waited for a watch. It is still counted."
                    ),
                    &format!("{of} 未录制：等待 watch 的列表过多。统计仍在继续。"),
                );
                return note(said.get(self.options.lang));
            }
            To::File(_) | To::Nowhere => return,
        };
        if held.is_empty() && one.recorder.is_none() {
            return;
        }
        self.files += 1;
        let path = out.join(file_name(self.files, &one.ledger.scope));
        let file = super::private(&path)
            .and_then(|mut file| file.write_all(held.as_bytes()).map(|()| file));
        match file {
            Ok(file) => {
                one.to = To::File(file);
                if self.options.kept {
                    one.ledger.file = path.display().to_string();
                }
                one.ledger.recording = self.options.recordings.add(path);
                self.say_stopped(track);
            }
            Err(error) => {
                note(cannot_write(&path, &error).text.get(self.options.lang));
                one.to = To::Nowhere;
                one.recorder = None;
            }
        }
    }

    fn write(&mut self, track: usize, text: &str) {
        let full = self.held() + text.len() > HELD;
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let written = match &mut one.to {
            To::Held(_) if full => {
                one.to = To::TooMuch;
                one.recorder = None;
                Ok(())
            }
            To::Held(held) => {
                held.push_str(text);
                Ok(())
            }
            To::File(file) => file.write_all(text.as_bytes()),
            To::TooMuch | To::Nowhere => Ok(()),
        };
        if let Err(error) = written {
            let path = self.options.recordings.get(one.ledger.recording);
            let failed = cannot_write(&path.unwrap_or_default(), &error);
            note(failed.text.get(self.options.lang));
            one.to = To::Nowhere;
            one.recorder = None;
            let (at, why) = (one.ledger.until, Stopped::Unwritten);
            one.ledger.note(&Note::Stopped { at, why });
        }
    }

    /// The recording does not go on.
    fn stop(&mut self, track: usize, at: Time, why: Stopped) {
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        one.recorder = None;
        one.ledger.note(&Note::Stopped { at, why });
        self.say_stopped(track);
    }

    /// Says that a recording does not go on, once it is in a file. Of one that is not kept, the page says so.
    fn say_stopped(&self, track: usize) {
        if let Some(one) = self.tracks.get(&track)
            && !one.ledger.file.is_empty()
            && let Some(said) = report::stopped(&one.ledger)
        {
            note(said.get(self.options.lang));
        }
    }

    fn observed(&mut self) -> Observed {
        let tracks = self.tracks.iter_mut();
        let (informers, lists): (Vec<_>, Vec<_>) =
            tracks.partition(|(track, _)| self.detector.is_informer(**track));
        let mut polls = self.reads.clone();
        for (_, track) in lists {
            add(&mut polls, &track.polls);
        }
        Observed {
            start: self.options.start,
            lasted: self.until,
            informers: informers
                .into_iter()
                .map(|(_, track)| track.ledger.summary())
                .collect(),
            polls: polls.into_values().collect(),
            shared: self.names.shared().clone(),
            counts: self.counts.clone(),
        }
    }
}

/// Counts reads of the same thing together; of too many things, none of the new ones.
fn add(polls: &mut Reads, more: &Poll) {
    let key = (Arc::clone(&more.agent), more.scope.clone());
    if polls.len() < READ || polls.contains_key(&key) {
        let poll = polls.entry(key).or_insert_with(|| Poll {
            count: 0,
            ..more.clone()
        });
        poll.count += more.count;
        poll.first = poll.first.min(more.first);
        poll.last = poll.last.max(more.last);
    }
}

fn file_name(number: usize, scope: &Scope) -> String {
    let place = scope.namespace.as_deref().unwrap_or("all");
    let name = format!("{}-{place}", scope.resource());
    let usual = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let name: String = name.chars().filter(|c| usual(*c)).take(100).collect();
    format!("{number:02}-{name}.jsonl")
}

/// Makes the head of a recording, once the kind of its objects is known.
fn head(
    scope: Scope,
    agent: Arc<str>,
    start: Option<Time>,
    call: &Call,
    at: Time,
) -> deltascope_replay::tap::record::Head {
    let first = Follower::new(at, call).map(|(_, note)| note);
    let ledger = Ledger::of(first.iter());
    let how = ledger.lists.first().map(|list| &list.how);
    let (generation, _) = ledger::generation(&agent, how);
    let streams = matches!(call, Call::Watch(_, watch) if watch.initial);
    Box::new(move |kind| {
        let kind = if kind.is_empty() { &scope.plural } else { kind };
        let target = scope.target(kind);
        let options = cluster::Options {
            era: generation,
            ..cluster::Options::default()
        };
        let mut scenario = cluster::scenario(&target, &options, 0);
        // The controller's own pauses are in the times of its requests.
        scenario.settings.jitter = None;
        scenario.settings.watch_list = Some(streams);
        let title = cluster::title(&target);
        let client = agent.split(' ').next().unwrap_or_default();
        Trace {
            lesson: "".into(),
            title: Text::new(
                &format!("{} · {client}", title.en),
                &format!("{} · {client}", title.zh),
            ),
            at: None,
            start,
            recording: Recording {
                scenario,
                inputs: Vec::new(),
            },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_no_reflector_makes_ends_the_recording() {
        let mut watcher = Watcher::new(Options {
            out: Some(PathBuf::from("never-written")),
            kept: true,
            recordings: Recordings::default(),
            start: None,
            lang: Lang::En,
        });
        let client = Client {
            agent: "m".into(),
            connection: 0,
        };
        let ask = |watcher: &mut Watcher, id, query: &[(&str, &str)]| {
            let query: Vec<_> = (query.iter())
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let call = Call::read("GET", "api/v1/pods", &query, "application/json");
            watcher.asked(id, id, &client, &call);
        };
        // Its list fails, and it watches.
        ask(&mut watcher, 0, &[]);
        watcher.hear(Word::Head {
            id: 0,
            at: 0,
            head: super::super::super::http::head_of(500, &hyper::HeaderMap::new()),
        });
        watcher.hear(Word::End {
            id: 0,
            at: 0,
            over: Over::Complete,
        });
        ask(&mut watcher, 5, &[("watch", "1")]);
        let stopped: Vec<_> = (watcher.tracks.values())
            .filter_map(|track| track.ledger.stopped)
            .collect();
        assert_eq!(stopped, [(5, Stopped::Unlike)]);
    }

    #[test]
    fn what_only_lists_is_counted_and_its_list_is_freed() {
        let mut watcher = Watcher::new(Options {
            out: Some(PathBuf::from("never-written")),
            kept: true,
            recordings: Recordings::default(),
            start: None,
            lang: Lang::En,
        });
        let client = Client {
            agent: "m".into(),
            connection: 0,
        };
        let body = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
            {"metadata":{"name":"one","namespace":"default","uid":"u","resourceVersion":"1"}}]}"#;
        let mut held = Vec::new();
        for id in 0..100 {
            let query = [];
            let call = Call::read("GET", "api/v1/pods", &query, "application/json");
            watcher.asked(id, id, &client, &call);
            watcher.hear(Word::Head {
                id,
                at: id,
                head: super::super::super::http::head_of(200, &hyper::HeaderMap::new()),
            });
            watcher.hear(Word::Chunk {
                id,
                at: id,
                bytes: Bytes::from_static(body.as_bytes()),
                _room: None,
            });
            watcher.hear(Word::End {
                id,
                at: id,
                over: Over::Complete,
            });
            held.push(watcher.held());
        }
        assert!(held[0] > 0);
        assert_eq!(held[50], held[99], "it grows");
        assert_eq!((watcher.tracks.len(), watcher.open.len()), (8, 0));
        let polls = watcher.observed().polls;
        assert_eq!((polls.len(), polls[0].count), (1, 100));
        assert_eq!((polls[0].first, polls[0].last), (0, 99));
    }
}
