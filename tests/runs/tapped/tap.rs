//! The tap between controllers and server, as `deltascope tap` puts it together, with texts in place of files.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::presentation::cluster;
use deltascope::replay::recording::Recording;
use deltascope::replay::tap::call::{Call, Scope};
use deltascope::replay::tap::detect::{Client, Detector, Id, Track};
use deltascope::replay::tap::follow::{Follower, Over, Step};
use deltascope::replay::tap::ledger::Ledger;
use deltascope::replay::tap::note::Note;
use deltascope::replay::tap::record::{Head as TraceHead, Recorder};
use deltascope::replay::tap::state::State;
use deltascope::replay::trace::Trace;
use deltascope::world::Time;
use deltascope::world::source::live::ResponsePart;
use deltascope::world::source::proxy::exchange::Head;
use deltascope::world::source::wire::RecordedEvent;
use deltascope::world::text::Text;

/// An informer, as the tap has found it.
pub(super) struct Tapped {
    pub(super) began: Time,
    pub(super) last: Id,
    pub(super) ledger: Ledger,
    pub(super) recorder: Option<Recorder>,
    /// Its files, the newest last.
    pub(super) files: Vec<String>,
    /// Whether it goes on with the next list.
    resumes: bool,
}

pub(super) struct Tap {
    pub(super) detector: Detector,
    pub(super) tracks: BTreeMap<Track, Tapped>,
    open: BTreeMap<Id, (Track, Follower)>,
    /// From so many bytes on a recording goes on in another file.
    rotate: usize,
    /// Files that are complete.
    pub(super) complete: Vec<(Track, String)>,
}

fn head(scope: Scope, streams: bool) -> TraceHead {
    Box::new(move |_| {
        let target = scope.target("Pod");
        let mut scenario = cluster::scenario(&target, &cluster::Options::default(), 0);
        scenario.settings.jitter = None;
        scenario.settings.watch_list = Some(streams);
        Trace {
            lesson: "".into(),
            title: Text::default(),
            at: None,
            start: None,
            recording: Recording::of(scenario),
        }
    })
}

impl Tap {
    pub(super) fn new(rotate: usize) -> Self {
        Self {
            detector: Detector::default(),
            tracks: BTreeMap::new(),
            open: BTreeMap::new(),
            rotate,
            complete: Vec::new(),
        }
    }

    /// A request begins. Returns whose it is.
    pub(super) fn asked(&mut self, id: Id, at: Time, client: &Client, call: &Call) -> Track {
        let began = self.detector.began(id, client, call).unwrap();
        for track in began.forgotten {
            self.tracks.remove(&track);
        }
        let (scope, lists, streams) = match call {
            Call::List(scope, list) => (scope, list.token.is_empty(), false),
            Call::Watch(scope, watch) => (scope, watch.initial, watch.initial),
            _ => panic!("{call:?}"),
        };
        let informer = Note::Informer {
            agent: Arc::clone(&client.agent),
            scope: scope.clone(),
        };
        let new_recorder = || {
            Recorder::new(
                call,
                informer.clone(),
                head(scope.clone(), streams),
                self.rotate,
            )
        };
        let one = self.tracks.entry(began.track).or_insert_with(|| Tapped {
            began: at,
            last: id,
            ledger: Ledger::of([&informer]),
            recorder: Some(new_recorder()),
            files: vec![String::new()],
            resumes: false,
        });
        one.last = id;
        let at = at - one.began;
        if lists && one.recorder.is_none() && one.resumes {
            one.files.push(String::new());
            one.ledger.stopped = None;
            one.resumes = false;
            one.recorder = Some(new_recorder().anew(at, one.files.len() as u32));
        }
        let (follower, note) = Follower::new(at, call).unwrap();
        one.ledger.note(&note);
        if let Some(recorder) = &mut one.recorder {
            let text = recorder.asked(at, call, &note);
            one.files.last_mut().unwrap().push_str(&text);
        }
        self.stop(began.track, at);
        self.open.insert(id, (began.track, follower));
        began.track
    }

    pub(super) fn head(&mut self, id: Id, at: Time, head: &Head) {
        self.step(id, at, |follower, at| follower.head(at, head));
    }

    pub(super) fn chunk(&mut self, id: Id, at: Time, bytes: &[u8]) {
        self.step(id, at, |follower, at| follower.chunk(at, bytes));
    }

    pub(super) fn end(&mut self, id: Id, at: Time, over: Over) {
        self.step(id, at, |follower, at| follower.end(at, over));
        if let Some((track, _)) = self.open.remove(&id) {
            self.detector.ended(track, id);
        }
    }

    fn step(&mut self, id: Id, at: Time, read: impl FnOnce(&mut Follower, Time) -> Step) {
        let Some((track, follower)) = self.open.get_mut(&id) else {
            return;
        };
        let track = *track;
        let Some(one) = self.tracks.get_mut(&track).filter(|one| one.last == id) else {
            return;
        };
        let at = at - one.began;
        let step = read(follower, at);
        for part in &step.parts {
            let detector = &mut self.detector;
            match part {
                ResponsePart::Page(page) => {
                    detector.page(track, id, &page.rv, &page.continue_token)
                }
                ResponsePart::Event(RecordedEvent::Object { object, .. }) => {
                    let rv = object.metadata.resource_version.as_deref();
                    detector.version(track, id, rv.unwrap());
                }
                ResponsePart::Event(RecordedEvent::Bookmark { rv, .. }) => {
                    detector.version(track, id, rv)
                }
                ResponsePart::Opened => {}
                _ => detector.ended(track, id),
            }
        }
        for note in &step.notes {
            one.ledger.note(note);
        }
        if let Some(recorder) = &mut one.recorder {
            let text = recorder.took(at, step.parts, &step.notes);
            one.files.last_mut().unwrap().push_str(&text);
            let is_long = recorder.is_long() && recorder.is_steady();
            self.stop(track, at);
            if is_long {
                self.go_on(track, at);
            }
        }
    }

    /// Goes on in another file.
    fn go_on(&mut self, track: Track, at: Time) {
        let one = self.tracks.get_mut(&track).unwrap();
        let part = one.files.len() as u32 + 1;
        let recorder = one.recorder.as_mut().unwrap();
        let file = one.files.last_mut().unwrap();
        let state = State::read(file.as_bytes()).unwrap();
        let head = state.head().unwrap().clone();
        let mut notes = vec![Note::Informer {
            agent: Arc::clone(&one.ledger.agent),
            scope: one.ledger.scope.clone(),
        }];
        notes.extend(one.ledger.goes_on(at, part));
        let (end, begin) = recorder.go_on(at, &state, notes, Box::new(|_| head));
        file.push_str(&end);
        self.complete.push((track, file.clone()));
        one.files.push(begin);
    }

    fn stop(&mut self, track: Track, at: Time) {
        let one = self.tracks.get_mut(&track).unwrap();
        if let Some(why) = one.recorder.as_ref().and_then(Recorder::stopped) {
            one.ledger.note(&Note::Stopped { at, why });
            one.resumes = one
                .recorder
                .take()
                .is_some_and(|recorder| recorder.may_resume());
        }
    }
}
