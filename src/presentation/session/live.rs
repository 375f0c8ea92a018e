//! A live run of a real cluster. The answers are recorded as they arrive, wherever the cursor is.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::command::Command;
use crate::decimal::seconds;
use crate::i18n::Text;
use crate::view::{ErrorView, LiveView};
use deltascope_cache::controller::Generation;
use deltascope_replay::lessons::Lesson;
use deltascope_replay::timeline::{MAX_FACTS, Timeline, renumbered};
use deltascope_world::Time;
use deltascope_world::source;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::{ServerResponse, Wanted};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::Input;

use super::heard::Laid;
use super::messages::cannot_run;
use super::{Change, Session};

/// How many facts are computed before the page gets its turn: some 30 ms.
const SLICE: usize = 10_000;
/// This many facts are kept, and up to half as many more: some 100 MB with the answers that caused them, or the
/// facts of twenty seconds with a thousand events per second.
const KEPT: usize = 300_000;
/// The cluster's answers that are kept may take this many bytes: together with the rest of the page, a part of a
/// phone's memory.
const WEIGHS: usize = 128 << 20;
/// If the cursor is at most this many facts behind the edge, they are shown one by one, unless they are late;
/// otherwise all at once.
const SMOOTH: usize = 60;
/// While the user looks at the past, this many facts are kept before the shown ones are dropped, …
const LOOKED_AT: usize = MAX_FACTS / 2;
/// … and this many bytes of answers.
const LOOKED_AT_WEIGHS: usize = 2 * WEIGHS;

/// A fact is late if it has not been shown for longer than this, in ms.
const LATE_MS: Time = 1_000;

/// The start of a live run.
#[derive(Clone, Debug)]
pub struct LiveRun {
    /// Its title.
    pub title: Text,
    /// The scenario; its source is the cluster.
    pub scenario: Scenario,
    /// The wall-clock time now, in ms since 1970, if known.
    pub start: Option<Time>,
}

/// A live run.
#[derive(Debug)]
pub(super) struct Live {
    /// Whether the cursor stays at the edge.
    pub(super) following: bool,
    /// The answers that have arrived and are not in the run yet, each with its moment.
    received: VecDeque<(Time, Vec<ServerResponse>)>,
    /// The time that has passed, in ms.
    now: Time,
    /// Whether something is due that has not happened yet.
    busy: bool,
    /// The number of the informer that is followed behind a tap, whose recording goes on without this run.
    tapped: Option<usize>,
    /// The renumbering of what still comes, since the run began anew without its forgotten beginning.
    numbering: Option<(u32, u32)>,
    /// How many facts, and bytes of answers, are kept; …
    bounds: (usize, usize),
    /// … and how many while the user looks at the past.
    bounds_looked_at: (usize, usize),
}

impl Default for Live {
    fn default() -> Self {
        Self {
            following: true,
            received: VecDeque::new(),
            now: 0,
            busy: true,
            tapped: None,
            numbering: None,
            bounds: (KEPT + KEPT / 2, WEIGHS),
            bounds_looked_at: (LOOKED_AT, LOOKED_AT_WEIGHS),
        }
    }
}

impl Live {
    /// Keeps to its part of the memory, which several live runs share.
    pub(super) fn share(&mut self, among: usize) {
        let Self {
            bounds,
            bounds_looked_at,
            ..
        } = Self::default();
        let part = |(facts, bytes): (usize, usize)| (facts / among.max(1), bytes / among.max(1));
        self.bounds = part(bounds);
        self.bounds_looked_at = part(bounds_looked_at);
    }

    #[cfg(test)]
    pub(super) fn all_bounds(&self) -> [usize; 4] {
        let ((facts, bytes), (more, also)) = (self.bounds, self.bounds_looked_at);
        [facts, bytes, more, also]
    }
}

impl Session {
    /// Begins a live run now, in place of the open run.
    pub fn connect(&mut self, run: LiveRun) -> Change {
        let note = Text::new(
            "A real cluster, as its API server tells it. All of it is recorded: pause, step back, ask why.",
            "一个真实的集群，由它的 API server 讲述。全部都会录制：可以暂停、后退、追问原因。",
        );
        self.begin_live("cluster".into(), run, note)
    }

    /// Begins the run of the informer of this number behind a tap, in place of the open run. Whether its recording `goes_on` with
    /// what was there before.
    pub fn follow_informer(
        &mut self,
        number: usize,
        run: LiveRun,
        note: Text,
        goes_on: bool,
    ) -> Change {
        let change = self.begin_informer(number, run, note);
        if self.error.is_none() {
            self.lay = Some(Self::lay);
            self.goes_on = goes_on;
        }
        change
    }

    fn begin_informer(&mut self, number: usize, run: LiveRun, note: Text) -> Change {
        let change = self.begin_live(format!("informer:{number}").into(), run, note);
        if let Some(live) = &mut self.live {
            live.tapped = Some(number);
        }
        change
    }

    /// The recording of the informer goes on in another file, whose first watch is the one that is open: a streaming list is its
    /// first request, a watch after a list its second.
    pub fn follow_on(&mut self, streams: bool) {
        if let (Some(live), AnySource::Live(source)) = (&mut self.live, self.timeline.source()) {
            live.numbering = Some((if streams { 1 } else { 2 }, source.request()));
        }
    }

    /// The number of the informer that is followed behind a tap.
    #[must_use]
    pub fn followed_informer(&self) -> Option<usize> {
        self.live.as_ref()?.tapped
    }

    /// The same informer in another generation, from the beginning of what is kept of it.
    fn follow_in(&mut self, generation: Generation) -> Change {
        if self.timeline.scenario().settings.era.0 == generation {
            return Change::None;
        }
        let Some(live) = self.live.take() else {
            return Change::None;
        };
        let recording = self.timeline.recording().in_generation(generation);
        let numbering = self.timeline.numbering();
        let run = LiveRun {
            title: self.lesson.title.clone(),
            scenario: recording.scenario,
            start: self.lesson.start,
        };
        let note = self.lesson.note.clone();
        let (heard, lay) = (self.heard.take(), self.lay);
        let goes_on = self.goes_on || self.timeline.forgotten() > 0;
        let change = self.begin_informer(live.tapped.unwrap_or_default(), run, note);
        (self.heard, self.lay, self.goes_on) = (heard.map(Laid::again), lay, goes_on);
        if let Some(new) = &mut self.live {
            let known = recording.inputs.into_iter().filter_map(|taken| {
                let Input::Source(source::Command::Respond(responses)) = taken.input else {
                    return None;
                };
                Some((taken.at, responses.to_vec()))
            });
            let rest = live.received.into_iter().map(|(at, mut responses)| {
                renumber(&mut responses, numbering);
                (at, responses)
            });
            new.received = known.chain(rest).collect();
            new.numbering = then(live.numbering, numbering);
        }
        self.live_tick(live.now);
        change
    }

    /// Goes to what had happened by a moment of a live run, and stays there.
    pub fn live_look(&mut self, at: Time) -> Change {
        if let Some(live) = &mut self.live {
            live.following = false;
        }
        self.playback.pause();
        let step = self.timeline.count_until(at);
        self.playback.seek(step, self.timeline.len());
        Change::Cut
    }

    fn begin_live(&mut self, id: Arc<str>, run: LiveRun, note: Text) -> Change {
        self.error = None;
        match Timeline::live(run.scenario.clone()) {
            Ok(timeline) => {
                let lesson = Lesson {
                    id,
                    title: run.title,
                    note,
                    scenario: run.scenario,
                    start: run.start,
                    ..Lesson::default()
                };
                self.begin(lesson, timeline);
                self.mark_anew();
                self.live = Some(Live::default());
                Change::Cut
            }
            Err(reason) => self.fail(cannot_run(&reason), None),
        }
    }

    /// Whether a live run is open.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// The request that should be on the wire.
    #[must_use]
    pub fn live_wanted(&self) -> Option<Wanted> {
        self.live.as_ref()?;
        match self.timeline.source() {
            AnySource::Live(live) => live.wanted(),
            _ => None,
        }
    }

    /// Takes answers that arrived `now`, in ms since the run began. Follow with [`Session::live_follow`].
    pub fn live_received(&mut self, now: Time, mut responses: Vec<ServerResponse>) {
        if let Some(live) = &mut self.live {
            renumber(&mut responses, live.numbering);
            if !responses.is_empty() {
                live.received.push_back((now, responses));
            }
            self.live_tick(now);
        }
    }

    /// Lets time pass: does what is due, a slice at a time (then [`Session::live_due`] is now).
    pub fn live_tick(&mut self, now: Time) {
        let Some(live) = &mut self.live else {
            return;
        };
        let known = self.timeline.len();
        live.now = live.now.max(now);
        live.busy = true;
        while self.timeline.len() < known + SLICE {
            let until = live.received.front().map_or(live.now, |(at, _)| *at);
            if !self.timeline.go_to(until, SLICE) {
                break;
            }
            let Some((at, responses)) = live.received.pop_front() else {
                live.busy = false;
                break;
            };
            let responses: Arc<[ServerResponse]> = responses.into();
            let input = Input::Source(source::Command::Respond(responses));
            self.timeline.take(at, input);
        }
        let busy = live.busy;
        if self.timeline.len() > known {
            self.marked();
        }
        if let Some(heard) = self.heard.as_mut().filter(|_| !busy) {
            heard.catch_up(&self.timeline);
        }
        self.keep_bounds();
    }

    /// Forgets the oldest facts if there are too many, those that the user looks at as late as possible.
    fn keep_bounds(&mut self) {
        let Some(live) = &self.live else {
            return;
        };
        let known = self.timeline.len();
        let (facts, bytes) = if live.following {
            live.bounds
        } else {
            live.bounds_looked_at
        };
        let left = if known > facts {
            live.bounds.0 * 2 / 3
        } else if self.timeline.weight() > bytes {
            known / 2
        } else {
            return;
        };
        let cursor = self.playback.cursor();
        if live.following || cursor >= known - left {
            return self.forget_oldest(left);
        }
        // It may be enough to forget the facts before the cursor.
        self.forget_oldest(known - cursor);
        if self.timeline.len() <= facts && self.timeline.weight() <= bytes {
            return;
        }
        let was = self.timeline.time_at(self.playback.cursor());
        self.forget_oldest(left);
        let is = self.timeline.time_at(self.playback.cursor());
        if is > was {
            self.error = Some(ErrorView {
                message: went(was, is),
                line: None,
            });
        }
    }

    /// When [`Session::live_tick`] is due again.
    #[must_use]
    pub fn live_due(&self) -> Option<Time> {
        let live = self.live.as_ref()?;
        if live.busy {
            Some(live.now)
        } else {
            self.timeline.next_moment()
        }
    }

    /// Moves the cursor nearer to the edge, if it follows that: by one fact or, far behind, at once.
    pub fn live_follow(&mut self) -> Change {
        let Some(live) = self.live.as_ref().filter(|live| live.following) else {
            return Change::None;
        };
        let late = self.is_late(live);
        let (cursor, edge) = (self.playback.cursor(), self.timeline.len());
        // Following the edge stops at a breakpoint, as playback does.
        let to = self.first_break(cursor..edge).unwrap_or(edge);
        let change = match edge.saturating_sub(cursor) {
            0 => Change::None,
            1..=SMOOTH if !late => self.go_on(to),
            _ => {
                self.playback.seek(to, edge);
                Change::Cut
            }
        };
        if change != Change::None
            && self.stop_at_breaks(self.playback.cursor())
            && let Some(live) = &mut self.live
        {
            live.following = false;
        }
        change
    }

    /// Follows the edge once playback has reached it.
    pub(super) fn join(&mut self) {
        let at_edge = self.playback.cursor() == self.timeline.len();
        if let Some(live) = &mut self.live {
            live.following |= at_edge;
        }
    }

    /// Goes to the edge, and follows it.
    pub(super) fn go_live(&mut self) -> Change {
        let Some(live) = &mut self.live else {
            return self.fail(not_live(), None);
        };
        live.following = true;
        self.playback.pause();
        let edge = self.timeline.len();
        self.playback.seek(edge, edge);
        Change::Cut
    }

    /// Ends the connection. The run so far stays as a recording.
    pub(super) fn disconnect(&mut self) -> Change {
        let Some(live) = self.live.take() else {
            return Change::None;
        };
        self.timeline.end_live();
        self.packed.borrow_mut().take();
        let edge = self.timeline.len();
        if !live.following || self.playback.cursor() == edge {
            return Change::None;
        }
        // A user who followed the edge sees the end.
        self.playback.seek(edge, edge);
        Change::Cut
    }

    /// Ends a live run where it is looked at.
    fn leave_alone(&mut self) {
        let cursor = self.playback.cursor();
        self.disconnect();
        self.playback.seek(cursor, self.timeline.len());
    }

    /// What a command does to a live run before it is executed; refuses some commands.
    pub(super) fn before(&mut self, command: &Command) -> Option<Change> {
        use Command as C;
        if let C::Open(files) = command
            && self.hears(command)
            && let Some(lay) = self.lay
        {
            return Some(lay(self, files));
        }
        let live = self.live.as_mut()?;
        match command {
            opening if opening.opens() => {
                self.disconnect();
            }
            C::TogglePlay if live.following => {
                live.following = false;
                return Some(Change::None);
            }
            C::TogglePlay | C::PlayUntil(_) if self.playback.cursor() == self.timeline.len() => {
                return Some(self.go_live());
            }
            C::Step(_)
            | C::Seek(_)
            | C::NextMarker
            | C::PreviousMarker
            | C::Walk { .. }
            | C::RunUntil(_)
            | C::PlayUntil(_)
            | C::LookOn => live.following = false,
            C::Generation(generation) if live.tapped.is_some() => {
                return Some(self.follow_in(*generation));
            }
            C::Reset
            | C::Generation(_)
            | C::Fork
            | C::Branch(_)
            | C::DropEvent(_)
            | C::MoveEvent(..)
            | C::Set(_)
            | C::Compare(_) => {
                if live.tapped.is_none() {
                    return Some(self.fail(while_live(), None));
                }
                // The tap goes on recording: this run can be left alone.
                self.leave_alone();
            }
            _ => {}
        }
        None
    }

    /// Inserts an input at the edge of a live run.
    pub(super) fn insert_live(&mut self, input: Input<source::Command>) -> Change {
        let live = self.live.as_ref();
        let (now, following) = live.map_or((0, false), |live| (live.now, live.following));
        // A user who follows the edge sees it, or will after the next frame.
        if matches!(input, Input::Source(source::Command::Write(_))) {
            return self.fail(only_looked_at(), None);
        }
        if !following && self.playback.cursor() < self.timeline.len() {
            return self.fail(not_at_the_edge(), None);
        }
        self.timeline.take(now, input);
        self.live_tick(now);
        self.go_live()
    }

    /// The state of the live run.
    #[must_use]
    pub fn live_view(&self) -> Option<LiveView> {
        let live = self.live.as_ref()?;
        let cursor = self.playback.cursor();
        Some(LiveView {
            following: live.following,
            behind: self.timeline.len().saturating_sub(cursor),
            late: self.is_late(live),
            now: live.now,
            forgotten: self.timeline.forgotten(),
        })
    }

    /// Whether the fact after the cursor is late.
    fn is_late(&self, live: &Live) -> bool {
        let unseen = self.timeline.fact(self.playback.cursor());
        let unseen = unseen.map(|fact| fact.time);
        let unseen = unseen.or(live.received.front().map(|(at, _)| *at));
        unseen.is_some_and(|at| at.saturating_add(LATE_MS) < live.now)
    }

    fn forget_oldest(&mut self, left: usize) {
        let gone = self.timeline.forget(left);
        if gone == 0 {
            return;
        }
        let cursor = self.playback.cursor().saturating_sub(gone);
        self.playback.seek(cursor, self.timeline.len());
        self.picture.forget(&self.timeline, gone);
        self.landmarks.forget(gone, &self.timeline);
        self.invariants.forget(gone);
        self.asked.forget();
        if let Some(heard) = &mut self.heard {
            heard.forget(gone, &self.timeline);
        }
        self.marked();
    }
}

fn renumber(responses: &mut [ServerResponse], numbering: Option<(u32, u32)>) {
    if let Some(numbering) = numbering {
        for response in responses {
            response.request = renumbered(response.request, numbering);
        }
    }
}

/// A renumbering after another.
fn then(first: Option<(u32, u32)>, next: Option<(u32, u32)>) -> Option<(u32, u32)> {
    match (first, next) {
        (Some((was, is)), Some((then, next))) => Some((was + then.saturating_sub(is), next)),
        (one, other) => one.or(other),
    }
}

fn not_live() -> Text {
    Text::new(
        "No cluster is connected. Connect to one first.",
        "没有连接集群。请先连接。",
    )
}

fn while_live() -> Text {
    Text::new(
        "The cluster is being recorded, and a recording has one past. Disconnect first: what came stays, and can be forked and changed.",
        "集群正在录制中，录制只有一个过去。请先断开：已收到的内容会保留，可以分叉和修改。",
    )
}

fn only_looked_at() -> Text {
    Text::new(
        "A real cluster is only looked at: nothing is written to it from here. Disconnect first: what came stays, and can be changed.",
        "真实的集群只供查看：这里不会向它写入任何内容。请先断开：已收到的内容会保留，可以修改。",
    )
}

/// The facts that the user looked at, at the time `was`, are forgotten; the rest begins at `is`.
fn went(was: Time, is: Time) -> Text {
    let (was, is) = (seconds(was), seconds(is));
    Text::new(
        &format!(
            "What you were looking at, {was} s after the start, is no longer kept: too much has come since. The oldest moment that is kept is at {is} s. Disconnect, or watch less, to look at the past for longer."
        ),
        &format!(
            "你刚才看的时刻（开始后 {was} 秒）已不再保留：之后收到的内容太多。现存最早的时刻是 {is} 秒。断开连接或缩小范围，可以更久地查看过去。"
        ),
    )
}

fn not_at_the_edge() -> Text {
    Text::new(
        "That happens now, and you are looking at the past. Go to the live edge first, or disconnect.",
        "这会发生在现在，而你正在看过去。请先回到实时位置，或断开连接。",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use deltascope_cache::fact::WatchEnd;
    use deltascope_world::source::live::{Page, ResponsePart};
    use deltascope_world::source::wire::event_of;
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
        assert_eq!(then(None, None), None);
        assert_eq!(then(None, Some((5, 2))), Some((5, 2)));
        assert_eq!(then(Some((5, 2)), None), Some((5, 2)));
        let both = then(Some((50, 2)), Some((7, 2)));
        for request in [50, 54, 55, 70] {
            let one = renumbered(renumbered(request, (50, 2)), (7, 2));
            let at_once = renumbered(request, both.unwrap());
            assert_eq!(one, at_once, "{request}");
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
        assert!(before.goes_on && before.first.is_none() && before.counts[1] > 0);
        // The controller has heard all, from the beginning on; the last line is on its way.
        let all = |now: Time| {
            let updates = (0..=now / 10).map(|at| logged("MODIFIED", &(at * 10).to_string()));
            updates.collect::<String>()
        };
        let mut said = all(now);
        session.listen_to(&said.as_bytes()[..said.len() - 9]);
        let is = heard(&mut session);
        assert_eq!((is.first, is.counts[1]), (None, 1));
        session.listen_to(&said.as_bytes()[said.len() - 9..]);
        let is = heard(&mut session);
        assert_eq!(is.counts[1], 0);
        // What is forgotten takes its lines along, and nothing that follows differs.
        let forgotten = session.timeline.forgotten();
        until(&mut session, &mut now, |session| {
            session.timeline.forgotten() > forgotten
        });
        // Nothing is lost of what is known of it.
        assert_eq!(heard(&mut session).counts[0], is.counts[0]);
        let more = all(now)[said.len()..].to_owned();
        said.push_str(&more);
        session.listen_to(more.as_bytes());
        let is = heard(&mut session);
        assert_eq!((is.first.as_ref(), is.counts[1]), (None, 0), "{is:?}");
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
}
