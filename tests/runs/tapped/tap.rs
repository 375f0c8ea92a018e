//! The tap between controllers and server, as `deltascope tap` puts it together, with texts in place of files.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltascope::presentation::cluster;
use deltascope::replay::recording::Recording;
use deltascope::replay::tap::call::Call;
use deltascope::replay::tap::detect::{Client, Detector, Id, Track};
use deltascope::replay::tap::follow::{Follower, Over, Piece};
use deltascope::replay::tap::ledger::Ledger;
use deltascope::replay::tap::next::{Next, Turn};
use deltascope::replay::tap::note::{Note, Stopped};
use deltascope::replay::tap::record::Recorder;
use deltascope::replay::tap::state::State;
use deltascope::replay::trace::Trace;
use deltascope::world::Time;
use deltascope::world::source::live::ResponsePart;
use deltascope::world::source::proxy::exchange::Head;
use deltascope::world::source::wire::RecordedEvent;
use deltascope::world::text::Text;
use deltascope::world::virtual_time::RequestKind;

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

fn recorder(of: &Ledger, call: &Call, long: usize) -> Recorder {
    let (scope, streams) = (of.scope.clone(), call.want() == Some(RequestKind::Stream));
    let head = move |_: &str| {
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
    };
    Recorder::new(call, of.informer(), Box::new(head), long)
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

    /// A request begins. Returns whose it is, and whether another file begins with it.
    pub(super) fn asked(
        &mut self,
        id: Id,
        at: Time,
        client: &Client,
        call: &Call,
    ) -> (Track, bool) {
        let began = self.detector.began(id, client, call).unwrap();
        for track in began.forgotten {
            self.tracks.remove(&track);
        }
        let (scope, lists) = match call {
            Call::List(scope, list) => (scope, list.continue_token.is_empty()),
            Call::Watch(scope, watch) => (scope, RequestKind::of(watch) == RequestKind::Stream),
            _ => panic!("{call:?}"),
        };
        let rotate = self.rotate;
        let one = self.tracks.entry(began.track).or_insert_with(|| {
            let ledger = Ledger::of([&Note::Informer {
                agent: Arc::clone(&client.agent),
                scope: scope.clone(),
            }]);
            Tapped {
                began: at,
                last: id,
                recorder: Some(recorder(&ledger, call, rotate)),
                ledger,
                files: vec![String::new()],
                resumes: false,
            }
        });
        one.last = id;
        let (at, before) = (at - one.began, one.files.len());
        if lists {
            self.go_on(began.track, at, Some(call));
        }
        let one = self.tracks.get_mut(&began.track).unwrap();
        let anew = one.files.len() > before;
        let (follower, note) = Follower::new(at, call).unwrap();
        one.ledger.note(&note);
        if let Some(recorder) = &mut one.recorder {
            let text = recorder.asked(at, call, &note);
            one.files.last_mut().unwrap().push_str(&text);
        }
        self.stop(began.track, at);
        self.open.insert(id, (began.track, follower));
        (began.track, anew)
    }

    /// How many files an informer has; none if it is forgotten.
    pub(super) fn files(&self, track: Track) -> usize {
        self.tracks.get(&track).map_or(0, |one| one.files.len())
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

    fn step(&mut self, id: Id, at: Time, read: impl FnOnce(&mut Follower, Time) -> Piece) {
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
            self.stop(track, at);
            self.go_on(track, at, None);
        }
    }

    /// Goes on in another file, if it is time to.
    fn go_on(&mut self, track: Track, at: Time, list: Option<&Call>) {
        let one = self.tracks.get_mut(&track).unwrap();
        let next = Next::of(&one.ledger, one.recorder.as_ref(), one.resumes, list);
        if next == Next::Same {
            return;
        }
        let part = one.files.len() as u32 + 1;
        let is_whole = one.recorder.is_some();
        let list = list.map(|call| recorder(&one.ledger, call, self.rotate));
        let file = one.files.last_mut().unwrap();
        let (ledger, recorder) = (&one.ledger, &mut one.recorder);
        let state = || State::read(file.as_bytes());
        let turn = Turn::to(next, (at, part), ledger, recorder, list, state).unwrap();
        file.push_str(&turn.end);
        if is_whole {
            self.complete.push((track, file.clone()));
        }
        match turn.begin {
            Some(begin) => {
                (one.ledger.stopped, one.resumes) = (None, false);
                one.files.push(begin);
            }
            None => self.stopped(track, at, Stopped::Full),
        }
    }

    fn stop(&mut self, track: Track, at: Time) {
        let one = &self.tracks[&track];
        if let Some(why) = one.recorder.as_ref().and_then(Recorder::stopped) {
            self.stopped(track, at, why);
        }
    }

    fn stopped(&mut self, track: Track, at: Time, why: Stopped) {
        let one = self.tracks.get_mut(&track).unwrap();
        one.ledger.note(&Note::Stopped { at, why });
        let recorder = one.recorder.take();
        one.resumes = recorder.is_some_and(|recorder| recorder.may_resume());
    }
}
