//! A live run of a real cluster. The answers are recorded as they arrive, wherever the cursor is.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::command::{Class, Command};
use crate::decimal::seconds;
use crate::fact_queries::whole;
use crate::view::LiveView;
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::Fact;
use deltascope_replay::lessons::Lesson;
use deltascope_replay::timeline::{MAX_FACTS, Numbering, Timeline};
use deltascope_world::source;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::{ServerResponse, Wanted};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::text::Text;
use deltascope_world::virtual_time::Input;
use deltascope_world::{Time, text};

use super::heard::Laid;
use super::messages::{cannot_run, not_at_the_edge, not_live, only_looked_at, while_live};
use super::{Change, Session};

/// How many facts are computed before the page gets its turn: some 10 ms.
const SLICE: usize = 3_000;
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
    numbering: Option<Numbering>,
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

    /// The recording of the informer goes on in another file, whose first watch is the one that is open.
    pub fn follow_on(&mut self, streams: bool) {
        if let (Some(live), AnySource::Live(source)) = (&mut self.live, self.timeline.source()) {
            live.numbering = Some(Numbering {
                was: Numbering::first_watch(streams),
                is: source.request(),
            });
        }
    }

    /// The number of the informer that is followed behind a tap.
    #[must_use]
    pub fn followed_informer(&self) -> Option<usize> {
        self.live.as_ref()?.tapped
    }

    /// The same informer in another generation, from the beginning of what is kept of it.
    fn follow_in(&mut self, generation: Generation) -> Change {
        if self.timeline.scenario().settings.era == generation {
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
            new.numbering = match (live.numbering, numbering) {
                (Some(first), Some(next)) => Some(first.then(next)),
                (one, other) => one.or(other),
            };
        }
        self.live_tick(live.now);
        change
    }

    /// Goes to what had happened by a moment of a live run, and stays there.
    pub fn live_look(&mut self, at: Time) -> Change {
        if let Some(live) = &mut self.live {
            live.following = false;
        }
        self.mark_rest();
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
            Err(reason) => self.say(cannot_run(&reason)),
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
        // One step may cost more than a slice. What a full slice has stated is marked in those that follow, before the run
        // goes on.
        let mut is_full = false;
        while !is_full && self.marking.invariants.seen() == known {
            let until = live.received.front().map_or(live.now, |(at, _)| *at);
            if !self.timeline.go_to(until, SLICE) {
                is_full = true;
            } else if let Some((at, responses)) = live.received.pop_front() {
                let responses: Arc<[ServerResponse]> = responses.into();
                let input = Input::Source(source::Command::Respond(responses));
                let cost = self.timeline.take(at, input);
                is_full = cost.max(self.timeline.len() - known) >= SLICE;
            } else {
                live.busy = false;
                break;
            }
        }
        if !is_full && !self.is_marked() {
            self.mark_some(SLICE);
        }
        let is_marked = self.is_marked();
        let Some(live) = &mut self.live else {
            return;
        };
        live.busy |= !is_marked;
        let busy = live.busy;
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
        if !self.is_marked() {
            return;
        }
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
            self.say(went(was, is));
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
        if !self.is_marked() {
            return Change::None;
        }
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

    /// Marks at most so many facts. One about a whole list has a piece for itself, and its check another. Returns whether
    /// that was all.
    pub(super) fn mark_some(&mut self, most: usize) -> bool {
        let seen = self.marking.landmarks.seen();
        let range = seen..self.timeline.len().min(seen.saturating_add(most));
        let is_long = |fact: &Fact| whole(fact).is_some_and(|all| all.len() > most / 8);
        let long = self.timeline.each(range.clone(), &mut |place, record| {
            if is_long(&record.fact) {
                return ControlFlow::Break(place);
            }
            ControlFlow::Continue(())
        });
        let end = long.map_or(range.end, |place| place.max(seen + 1));
        if self.marking.invariants.seen() == seen {
            let rules = &self.lesson.markers;
            self.marking.landmarks.go_on_to(&self.timeline, rules, end);
        }
        if self.marking.invariants.seen() < seen || long != Some(seen) {
            let seen = self.marking.landmarks.seen();
            self.marking.invariants.check_up_to(&self.timeline, seen);
            self.marking.invariants.thin(&self.timeline);
        }
        self.marked_so_far();
        self.is_marked()
    }

    /// Whether all facts are marked.
    pub(super) fn is_marked(&self) -> bool {
        self.marking.invariants.seen() == self.timeline.len()
    }

    /// Marks what a live run has not marked yet.
    fn mark_rest(&mut self) {
        if !self.is_marked() {
            self.marked();
        }
    }

    /// Goes to the edge, and follows it.
    pub(super) fn go_live(&mut self) -> Change {
        let Some(live) = &mut self.live else {
            return self.say(not_live());
        };
        live.following = true;
        self.mark_rest();
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
        self.mark_rest();
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
        if self.is_live() && command.moves() {
            self.mark_rest();
        }
        let live = self.live.as_mut()?;
        match command {
            opening if opening.opens() => {
                self.disconnect();
            }
            C::TogglePlay | C::Play if live.following => {
                live.following = matches!(command, C::Play);
                return Some(Change::None);
            }
            C::TogglePlay | C::Play | C::PlayUntil(_)
                if self.playback.cursor() == self.timeline.len() =>
            {
                return Some(self.go_live());
            }
            C::Pause => live.following = false,
            moving if moving.moves() && !matches!(moving, C::GoLive) => {
                live.following = false;
            }
            C::Generation(generation) if live.tapped.is_some() => {
                return Some(self.follow_in(*generation));
            }
            other if matches!(other.class(), Class::Reruns | Class::Restarts) => {
                if live.tapped.is_none() {
                    return Some(self.say(while_live()));
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
            return self.say(only_looked_at());
        }
        if !following && self.playback.cursor() < self.timeline.len() {
            return self.say(not_at_the_edge());
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
        self.marking.landmarks.forget(gone, &self.timeline);
        self.marking.invariants.forget(gone);
        self.asked.forget();
        if let Some(heard) = &mut self.heard {
            heard.forget(gone, &self.timeline);
        }
        self.marked();
    }
}

fn renumber(responses: &mut [ServerResponse], numbering: Option<Numbering>) {
    if let Some(numbering) = numbering {
        for response in responses {
            response.request = numbering.of(response.request);
        }
    }
}

/// The facts that the user looked at, at the time `was`, are forgotten; the rest begins at `is`.
fn went(was: Time, is: Time) -> Text {
    let (was, is) = (seconds(was), seconds(is));
    text!(
        "What you were looking at, {was} s after the start, is no longer kept: too much has come since. The oldest moment that is kept is at {is} s. Disconnect, or watch less, to look at the past for longer.",
        "你刚才看的时刻（开始后 {was} 秒）已不再保留：之后收到的内容太多。现存最早的时刻是 {is} 秒。断开连接或缩小范围，可以更久地查看过去。"
    )
}

#[cfg(test)]
mod tests;
