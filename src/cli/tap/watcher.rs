//! Reads what passes, in a thread of its own: finds the informers, records each, and counts.

mod keep;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedReceiver;

use deltascope_cache::fact::Request;
use deltascope_replay::log::Logged;
use deltascope_replay::tap::call::{Call, Scope};
use deltascope_replay::tap::detect::{Began, Client, Detector, Id};
use deltascope_replay::tap::finding::{Poll, Refused};
use deltascope_replay::tap::follow::{Follower, Piece};
use deltascope_replay::tap::ledger::Ledger;
use deltascope_replay::tap::note::{Connection, Note};
use deltascope_replay::tap::record::{Recorder, kind_of};
use deltascope_world::Time;
use deltascope_world::source::live::ResponsePart;
use deltascope_world::source::proxy::target::group_of;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::text::Lang;
use deltascope_world::virtual_time::RequestKind;

use super::super::Failure;
use super::super::report::{Count, Informer, Observed, log_of};
use super::names::Names;
use super::recordings::{Recordings, be_new, recorder};
use super::said::{Lines, Said};
use super::teller::{Teller, Word};

/// Most bytes of lists that are kept until a watch shows that they are an informer's.
const HELD: usize = 128 << 20;
/// Most objects and scopes whose reads are counted one by one.
const READ: usize = 4_096;

/// What the watcher is told at its start.
pub(super) struct Options {
    /// Where the recordings go; `None` for none.
    pub(super) out: Option<PathBuf>,
    /// Whether they stay there.
    pub(super) kept: bool,
    /// From so many bytes on a recording goes on in another file, …
    pub(super) rotate: usize,
    /// … and so many of these are kept.
    pub(super) keep: usize,
    /// Those that there are.
    pub(super) recordings: Recordings,
    /// Whether the controller's log is read.
    pub(super) logs: bool,
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
    let (teller, told) = Teller::new();
    let watching = std::thread::spawn(move || Watcher::new(options).run(told));
    Ok((teller, Watching(watching)))
}

/// An informer, or lists that may become one.
struct Track {
    began: Time,
    /// Its last request. What comes of an earlier one, its client has left.
    last: Id,
    ledger: Ledger,
    /// The number of its recording; 0 if there is none.
    recording: usize,
    recorder: Option<Recorder>,
    /// Whether its recording has stopped, and may go on with its next list.
    resumes: bool,
    to: To,
    /// How often it listed without a watch.
    polls: Poll,
    /// The group and the kind of its objects, once one has come.
    kind: Option<(String, String)>,
    /// What the controller logged of it.
    lines: Lines,
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
    /// By client and scope: of a list, and of a watch behind one.
    refused: BTreeMap<(Arc<str>, Scope, Request), Refused>,
    names: Names,
    counts: BTreeMap<(Arc<str>, &'static str, String), Count>,
    until: Time,
    files: usize,
    said: Said,
}

impl Watcher {
    fn new(options: Options) -> Self {
        Self {
            options,
            detector: Detector::default(),
            tracks: BTreeMap::new(),
            open: BTreeMap::new(),
            reads: BTreeMap::new(),
            refused: BTreeMap::new(),
            names: Names::default(),
            counts: BTreeMap::new(),
            until: 0,
            files: 0,
            said: Said::default(),
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
            Word::Logged { from, bytes, .. } => {
                for logged in self.said.read(from, &bytes) {
                    self.logged(logged);
                }
            }
            Word::LogBegins(lines) => self.said.begin(lines),
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
            Call::List(_, list) => list.continue_token.is_empty(),
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
        let at = at.saturating_sub(began);
        let lists = begins || call.want() == Some(RequestKind::Stream);
        if lists {
            self.go_on(track, at, Some(call));
        }
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        one.ledger.note(&note);
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
            self.claim();
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
        let mut ledger = Ledger::of([&Note::Informer {
            agent: Arc::clone(&client.agent),
            scope: scope.clone(),
        }]);
        ledger.start = start;
        let room = self.held() < HELD;
        let recorder = (self.options.out.is_some() && room)
            .then(|| recorder(&ledger, call, self.options.rotate));
        Track {
            began: at,
            last: 0,
            ledger,
            recording: 0,
            recorder,
            resumes: false,
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
            kind: None,
            lines: Lines::default(),
        }
    }

    /// Frees what is kept of one that only lists; its lists are still counted.
    fn forget(&mut self, track: usize) {
        if let Some(one) = self.tracks.remove(&track) {
            self.open.retain(|_, (of, _)| *of != track);
            add(&mut self.reads, &one.polls);
        }
    }

    fn step(&mut self, id: Id, at: Time, read: impl FnOnce(&mut Follower, Time) -> Piece) {
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
        let piece = read(follower, at);
        let want = follower.want();
        for part in &piece.parts {
            self.detect(track, id, part);
            self.note_refusal(track, want, part);
        }
        let Some(one) = self.tracks.get_mut(&track) else {
            return;
        };
        let kind = piece.parts.iter().find_map(kind_of);
        let is_known = one.kind.is_none() && kind.is_some();
        if let Some(types) = kind.filter(|_| is_known) {
            one.kind = Some((group_of(&types.api_version).to_owned(), types.kind.clone()));
        }
        for note in &piece.notes {
            one.ledger.note(note);
        }
        if let Some(recorder) = &mut one.recorder {
            let text = recorder.took(at, piece.parts, &piece.notes);
            let stopped = recorder.stopped();
            self.write(track, &text);
            if let Some(stopped) = stopped {
                self.stop(track, at, stopped);
            }
            self.go_on(track, at, None);
        }
        if is_known {
            self.claim();
        }
    }

    /// The controller has logged that a handler was called.
    fn logged(&mut self, logged: Logged) {
        let (api_version, kind) = &logged.kind;
        let group = group_of(api_version);
        let namespace = logged
            .call
            .key
            .split_once('/')
            .map(|(namespace, _)| namespace);
        let fits = |track: &Track| {
            let Track {
                ledger, kind: is, ..
            } = track;
            let is_kind = match is {
                Some((of, is)) => is == kind && (api_version.is_empty() || of == group),
                None => false,
            };
            let place = ledger.scope.namespace.as_deref();
            (kind.is_empty() || is_kind) && place.is_none_or(|place| Some(place) == namespace)
        };
        let fitting = self.tracks.iter().filter(|(_, one)| fits(one));
        let fitting = fitting.map(|(track, _)| *track);
        let fitting = fitting.filter(|track| self.detector.is_informer(*track));
        match &*fitting.collect::<Vec<_>>() {
            [track] => {
                let recordings = &self.options.recordings;
                if let Some(one) = self.tracks.get_mut(track) {
                    let recording = one.recording;
                    one.lines.add(&logged, || {
                        let recording = recordings.get(recording, None);
                        let path = recording.ok_or(io::ErrorKind::NotFound)?;
                        super::private(&log_of(&path))
                    });
                }
            }
            // Two of the same: nothing says whose it is.
            several @ [_, _, ..] => {
                self.said.counts.unclaimed += 1;
                self.share(several);
            }
            [] => self.said.wait(logged),
        }
    }

    /// A line fits several informers. Those that have more objects than the others do not get all of their lines.
    fn share(&mut self, several: &[usize]) {
        let place = |track: &usize| self.tracks.get(track)?.ledger.scope.namespace.as_ref();
        let (all, some): (Vec<_>, Vec<_>) =
            (several.iter()).partition(|track| place(track).is_none());
        if some.is_empty() {
            return;
        }
        for track in all {
            if let Some(one) = self.tracks.get_mut(track)
                && one.lines.share()
            {
                let number = one.recording;
                self.options.recordings.hears_no_more(number);
                for part in self.options.recordings.parts(number) {
                    // There may be none.
                    let _gone = std::fs::remove_file(log_of(&part.path));
                }
            }
        }
    }

    /// Looks anew whose the lines are that wait.
    fn claim(&mut self) {
        for logged in std::mem::take(&mut self.said.waiting) {
            self.logged(logged);
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

    /// Counts answers that refuse a list or a watch, until one does not.
    fn note_refusal(&mut self, track: usize, want: RequestKind, part: &ResponsePart) {
        let Some(ledger) = self.tracks.get(&track).map(|one| &one.ledger) else {
            return;
        };
        let key = |request| (Arc::clone(&ledger.agent), ledger.scope.clone(), request);
        match part {
            ResponsePart::Refused(error) => {
                let key = key(match want {
                    RequestKind::Watch => Request::Watch,
                    RequestKind::List | RequestKind::Stream => Request::List,
                });
                if self.refused.len() >= READ && !self.refused.contains_key(&key) {
                    return;
                }
                let (agent, scope, request) = key.clone();
                let refused = self.refused.entry(key).or_insert_with(|| Refused {
                    agent,
                    scope,
                    request,
                    count: 0,
                    error: error.clone(),
                });
                refused.count += 1;
                refused.error = error.clone();
            }
            ResponsePart::Page(_) | ResponsePart::Opened => {
                if want != RequestKind::Watch {
                    self.refused.remove(&key(Request::List));
                }
                if want != RequestKind::List {
                    self.refused.remove(&key(Request::Watch));
                }
            }
            _ => {}
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

    fn observed(&mut self) -> Observed {
        self.look_for_files();
        let tracks = self.tracks.iter_mut();
        let (informers, lists): (Vec<_>, Vec<_>) =
            tracks.partition(|(track, _)| self.detector.is_informer(**track));
        let mut polls = self.reads.clone();
        for (_, track) in lists {
            add(&mut polls, &track.polls);
        }
        let recordings = &self.options.recordings;
        let informer = |(_, track): (_, &mut Track)| Informer {
            ledger: track.ledger.summary(),
            recording: track.recording,
            parts: recordings.parts(track.recording),
            kept: self.options.kept,
            lines: track.lines.count,
            trouble: track.lines.trouble.clone(),
            logs: None,
        };
        Observed {
            start: self.options.start,
            lasted: self.until,
            informers: informers.into_iter().map(informer).collect(),
            polls: polls.into_values().collect(),
            refused: self.refused.values().cloned().collect(),
            shared: self.names.shared().clone(),
            counts: self.counts.clone(),
            log: self.options.logs.then(|| self.said.counts()),
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

#[cfg(test)]
mod tests;
