//! The session of one user: the open run, the cursor, and the effects of commands on both.
//!
//! Pure: no leptos, no DOM, no clock. The driver takes a [`View`] from it after every command.

pub mod ask;
mod branches;
pub mod compare;
pub mod heard;
mod inputs;
pub mod keep;
pub mod live;
mod marking;
mod messages;
mod obey;
pub mod opening;
pub mod present;
mod race;
pub mod select;
mod share;
mod shown;
pub mod smallest;
mod story;
pub mod together;
pub mod transcript;
pub mod typed;
pub mod walk;
pub mod why;

pub use messages::hand_made;
pub use share::FAR;

use crate::view::walking::Walking;
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Fact, FactRecord, ReflectorFact};
use deltascope_replay::beat::{self, beat};
use deltascope_replay::branches::Branches;
use deltascope_replay::headline;
use deltascope_replay::lessons::{self, Lesson};
use deltascope_replay::picture::{Behind, Picture, ReflectorState, SourceKind};
use deltascope_replay::playback::Playback;
use deltascope_replay::predicate::Predicate;
use deltascope_replay::recording::Recording;
use deltascope_replay::step_size::{FARTHEST, is_minor};
use deltascope_replay::timeline::{AHEAD, SEGMENT, Timeline};
use deltascope_world::slices::Slices;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::InformerKind;

use super::anchor::Anchor;
use super::command::Command;
use super::motion::merged::{Merged, Scene};
use super::rows::drops;
use super::view::{
    Checks, Dropped, ErrorView, Headline, LessonHead, Marker, RECENT, SettingRow, Tick, View,
};
use deltascope_world::text::Text;
use marking::Marking;
use messages::{cannot_run, from_the_start, full};

/// A command computes at most this many facts, so that the page responds within a fraction of a second. Fuzzing looks for
/// what a command says, and the facts of a long run say it again and again.
const LEAP: usize = if cfg!(fuzzing) { 400 } else { 100_000 };
/// An endless run is computed for a command in pieces of this many facts.
const PIECE: usize = SEGMENT;
/// The marker that a lesson opens with is at most this many facts from the start.
const OPENING: usize = 1_000;
/// How many facts "Let time run" plays in the time of a play, at most: a run without an end has no other measure.
const STRETCH: usize = 100;

/// The effect of a command on the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The picture is the same.
    None,
    /// The picture is another one: cut to it.
    Cut,
    /// The cursor went forward by a fact, a beat or a step, which can be shown as a motion.
    Forward,
    /// The cursor went back by exactly one fact.
    Back,
}

/// What a command needs to be computed, piece by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Far {
    /// The run up to this many facts; so many are known.
    Place(usize, usize),
    /// The run up to a fact that fulfils a condition, from this many facts.
    Fact(Predicate, usize),
    /// The marks of a live run, from this many facts.
    Marks(usize),
}

impl Far {
    /// The command that remains to be obeyed once it is computed.
    #[must_use]
    pub fn instead_of(self, command: Command) -> Command {
        match self {
            Self::Place(to, _) => Command::Seek(to),
            Self::Fact(..) | Self::Marks(..) => command,
        }
    }
}

/// A motion shows at most this many facts of a step, its last ones.
const MOVED: usize = 400;
/// At most this many other facts stand below a headline.
const OTHERS: usize = 6;
/// This many facts explain why something was dropped.
const EXPLAINED: usize = 4;

/// What the run is shown beside.
enum Beside {
    Two(Box<compare::Compared>),
    Four(race::Racing),
}

/// The session of one user.
pub struct Session {
    lesson: Lesson,
    head: Rc<LessonHead>,
    timeline: Timeline,
    playback: Playback,
    /// The facts of the last move forward.
    moved: Range<usize>,
    /// Where the last beat that was played ends.
    played: Option<usize>,
    /// The last beat before a scene's moment, where the move forward is to look as if it was played.
    landed: Option<Range<usize>>,
    markers: Rc<[Marker]>,
    ticks: Rc<[Tick]>,
    behind: Rc<[(u32, Behind)]>,
    marking: Marking,
    checks: Rc<Checks>,
    beside: Option<Beside>,
    error: Option<ErrorView>,
    /// A log that lies beside this run, …
    heard: Option<heard::Laid>,
    /// … and what lays one there: an informer's run has it.
    lay: Option<heard::Lay>,
    /// Whether the run goes on with what was there before.
    goes_on: bool,
    /// How much work has been done to open another run.
    opening: Option<usize>,
    /// An effect of the last command that the picture does not show.
    notice: Option<Text>,
    picture: shown::Shown,
    /// The recording in the generation in which the user's last input was made; other generations are computed from
    /// it. `None` until another generation is chosen.
    first_run: Option<Recording>,
    branches: Branches<branches::Kept>,
    /// How many inputs the run had that was opened, without a cluster's responses.
    given: usize,
    asked: why::Asked,
    walking: Rc<Walking>,
    settings: Rc<[SettingRow]>,
    /// The part that all links to this run share, once a link was asked for.
    packed: RefCell<Option<Rc<share::Packed>>>,
    /// The connection, if the run comes live from a cluster.
    live: Option<live::Live>,
    /// Where playback ends or pauses.
    stops: present::Stops,
    /// The lesson's story, once it was asked for.
    telling: Option<story::Telling>,
    /// How many runs were opened, and how often the run was replaced or changed.
    opened: u64,
    run: u64,
    /// How often the run was started over, or gone on with from a scene.
    anew: u64,
    /// The run as far as the last search has examined it, for continuing the search.
    ahead: Option<walk::Ahead>,
    /// A search that is not over.
    search: Option<walk::Search>,
}

impl Session {
    /// Opens the first lesson, at the marker that it opens with.
    #[must_use]
    pub fn new() -> Self {
        let mut session = Self::empty();
        session.open_at_hand(lessons::FIRST);
        session.show_opening();
        session
    }

    /// Opens nothing; the caller then opens a run.
    #[must_use]
    pub fn empty() -> Self {
        let lesson = Lesson::default();
        // An empty scenario always builds.
        let timeline = Timeline::new(lesson.scenario.clone()).unwrap_or_else(|_| Timeline::empty());
        let picture = shown::Shown::new(&timeline);
        let mut session = Self {
            head: Rc::new(head_of(&lesson, timeline.scenario())),
            lesson,
            timeline,
            playback: Playback::default(),
            moved: 0..0,
            landed: None,
            played: None,
            markers: Rc::new([]),
            ticks: Rc::new([]),
            behind: Rc::new([]),
            marking: Marking::default(),
            checks: Rc::default(),
            beside: None,
            error: None,
            heard: None,
            lay: None,
            goes_on: false,
            opening: None,
            notice: None,
            picture,
            first_run: None,
            branches: Branches::default(),
            given: 0,
            asked: why::Asked::default(),
            walking: Rc::default(),
            settings: Rc::new([]),
            packed: RefCell::default(),
            opened: 0,
            run: 0,
            anew: 0,
            live: None,
            stops: present::Stops::default(),
            telling: None,
            ahead: None,
            search: None,
        };
        session.list_settings();
        session
    }

    /// Goes to the marker that the lesson opens with, so that the page does not begin with an empty queue.
    fn show_opening(&mut self) {
        let Some(id) = self.lesson.open.clone() else {
            return;
        };
        self.timeline.extend(OPENING);
        self.mark_anew();
        if let Some(at) = self.markers.iter().find(|m| m.id == id).map(|m| m.at) {
            self.playback.seek(at, self.timeline.len());
        }
    }

    /// One tick of playback: a beat.
    pub fn tick(&mut self) -> Change {
        if self.race().is_some() {
            return self.race_tick();
        }
        if self.end_scene() {
            return Change::None;
        }
        let from = self.playback.cursor();
        self.look_ahead(from + beat::MOST);
        let mut known = self.timeline.len();
        if self.is_live() {
            // Only what is marked is shown; the check of a long fact is a piece of its own.
            while self.marking.invariants.seen() <= from && !self.is_marked() {
                self.mark_some(PIECE);
            }
            known = self.marking.invariants.seen();
        }
        let to = self.beat_end(known);
        if self.playback.tick(to - from, self.timeline.len()) {
            self.play_beat(from);
            if !self.stop_at_breaks(self.playback.cursor()) && !self.stop_at_place(from) {
                self.join();
            }
            Change::Forward
        } else if self.timeline.is_full() {
            let most = self.timeline.most().min(self.timeline.len());
            self.say(full(most))
        } else {
            Change::None
        }
    }

    /// Goes on by a beat, but not beyond `to`.
    pub(super) fn go_on(&mut self, to: usize) -> Change {
        let from = self.playback.cursor();
        self.look_ahead(from + beat::MOST);
        let end = self.beat_end(to);
        self.playback.seek(end, self.timeline.len());
        self.play_beat(from);
        if end > from {
            Change::Forward
        } else {
            Change::None
        }
    }

    /// The end of the beat at the cursor, or a place before it at which playback pauses.
    fn beat_end(&self, most: usize) -> usize {
        let from = self.playback.cursor();
        let facts = self.timeline.facts(from..from + beat::MOST);
        let end = beat(&facts)
            .map_or(from, |beat| from + beat.facts)
            .min(most);
        let stops = [self.first_break(from..end), self.next_stop(from)];
        stops.into_iter().flatten().fold(end, usize::min)
    }

    fn play_beat(&mut self, from: usize) {
        self.moved = from..self.playback.cursor();
        self.played = Some(self.moved.end);
    }

    /// The motion of the last move forward.
    pub fn scene(&mut self) -> Scene {
        let mut merged = Merged::default();
        if self.moved.end == self.playback.cursor() {
            let facts = self.moved.start.max(self.moved.end.saturating_sub(MOVED))..self.moved.end;
            self.picture
                .through(&self.timeline, facts, &mut |record, after| {
                    merged.add(record, after);
                });
        }
        merged.scene()
    }

    /// Pauses playback.
    pub fn pause(&mut self) {
        self.playback.pause();
    }

    /// Starts playback.
    pub fn play(&mut self) {
        self.forget_target();
        // A play to the end of a scene that was stopped in its last motion is over.
        if self.scene_end() == Some(self.playback.cursor()) {
            self.forget_end();
        }
        self.before_play();
        if self.race().is_some() {
            // Another lane may be longer than this run.
            return self.playback.play(usize::MAX);
        }
        let to = self.playback.cursor() + STRETCH;
        self.look_ahead(to);
        self.playback.play(self.timeline.len());
        if self.tells() {
            self.hurry_to(to.min(self.timeline.len()));
        }
    }

    /// The cursor and the state of playback.
    #[must_use]
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// The run that is shown.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The fact at the cursor, which was shown last.
    #[must_use]
    pub fn current(&self) -> Option<FactRecord> {
        self.timeline.fact(self.playback.cursor().checked_sub(1)?)
    }

    /// The fact after the cursor, and the state after it: what a step back has taken back.
    #[must_use]
    pub fn taken_back(&self) -> Option<(FactRecord, Rc<Picture>)> {
        let cursor = self.playback.cursor();
        let record = self.timeline.fact(cursor)?;
        let picture = match self.picture.kept(cursor + 1) {
            Some(picture) => Rc::clone(picture),
            None => Rc::new(self.timeline.picture(cursor + 1)),
        };
        Some((record, picture))
    }

    /// The state at the cursor.
    pub fn picture(&mut self) -> Rc<Picture> {
        self.picture.at(&self.timeline, self.playback.cursor())
    }

    /// The headline of the beat that was played, or of the step that ends at the cursor.
    fn headline(&mut self) -> Option<Rc<Headline>> {
        let (size, cursor) = (self.walking.step_size, self.playback.cursor());
        let played = self.played == Some(cursor);
        let range = if played {
            self.moved.clone()
        } else {
            headline::step_at(size, &self.timeline, cursor)?
        };
        let facts = self.timeline.facts(range.clone());
        let place = if played {
            beat(&facts)?.headline
        } else {
            headline::headline(size, &facts)?
        };
        let at = range.start + place + 1;
        let picture = match at == cursor {
            true => self.picture(),
            false => Rc::new(self.timeline.picture(at)),
        };
        let others = facts
            .iter()
            .enumerate()
            .filter(|(other, record)| !played && *other != place && !is_minor(&record.fact));
        let others = others.map(|(other, record)| (range.start + other + 1, record.clone()));
        let mut others: Vec<_> = others.collect();
        // Those around the headline.
        let from = others.partition_point(|(other, _)| *other < at);
        let from = from.saturating_sub(OTHERS / 2);
        others.drain(..from);
        others.truncate(OTHERS);
        let recent = self.timeline.facts(at.saturating_sub(RECENT)..at);
        Some(Rc::new(Headline {
            at,
            recent: (&*recent).into(),
            picture,
            minor: if played {
                0
            } else {
                facts.len() - 1 - others.len()
            },
            others: others.into(),
        }))
    }

    /// What was dropped in the beat that was played, or in the step up to the cursor, whether or not it ends there.
    fn dropped(&mut self) -> Rc<[Dropped]> {
        let cursor = self.playback.cursor();
        let range = if self.played == Some(cursor) {
            self.moved.clone()
        } else {
            headline::step_to(self.walking.step_size, &self.timeline, cursor)
        };
        let mut found = Vec::new();
        self.timeline.each::<()>(range, &mut |fact, record| {
            found.extend(drops::place(record).map(|place| (fact + 1, place)));
            ControlFlow::Continue(())
        });
        let now = self.picture();
        let explained = |(which, (at, place)): (usize, &(usize, Anchor))| {
            let later = found[which + 1..].iter();
            let later = later.filter(|(_, other)| other == place);
            let is_counted = later.take(drops::SHOWN).count() == drops::SHOWN;
            let picture = match *at == cursor || is_counted {
                true => Rc::clone(&now),
                false => Rc::new(self.timeline.picture(*at)),
            };
            let facts = self.timeline.facts(at.saturating_sub(EXPLAINED)..*at);
            Dropped {
                facts: (&*facts).into(),
                picture,
            }
        };
        found.iter().enumerate().map(explained).collect()
    }

    /// The backoff that goes on: other actors may have stated many facts since it began.
    fn backoff(&mut self) -> Option<(u64, Rc<[FactRecord]>)> {
        if self.picture().reflector.state != ReflectorState::Backoff {
            return None;
        }
        let cursor = self.playback.cursor();
        let range = cursor.saturating_sub(FARTHEST)..cursor;
        let began = self.timeline.each_back(range, &mut |place, record| {
            if let Fact::Reflector(ReflectorFact::BackoffStarted { .. }) = &record.fact {
                ControlFlow::Break((place, record.time))
            } else {
                ControlFlow::Continue(())
            }
        });
        let (place, time) = began?;
        let before = self.timeline.facts(place.saturating_sub(RECENT)..place);
        Some((time, (&*before).into()))
    }

    /// Everything that the screen shows now.
    pub fn view(&mut self) -> View {
        let beside = self.beside_view();
        let choices = beside.as_ref().map(|beside| self.choices(beside.against()));
        let story = self.story_view();
        let picture = self.picture();
        let step = self.playback.cursor();
        let recent = self.timeline.facts(step.saturating_sub(RECENT)..step);
        View {
            picture,
            time: (self.race_time()).unwrap_or_else(|| self.timeline.time_at(step)),
            recent: (&*recent).into(),
            headline: self.headline(),
            dropped: self.dropped(),
            backoff: self.backoff(),
            step,
            steps: self.timeline.len(),
            endless: self.timeline.is_endless(),
            over: self.timeline.is_over(),
            thinned: self.timeline.thinned(),
            anew: self.anew,
            playing: self.playback.is_playing(),
            speed: self.playback.speed(),
            ticks: Rc::clone(&self.ticks),
            behind: Rc::clone(&self.behind),
            markers: Rc::clone(&self.markers),
            marks: self.marking.landmarks.marks(),
            alike: self.marking.landmarks.alike(),
            places: self.marking.landmarks.places(),
            since: self.picture.since(&self.timeline, step),
            lesson: Rc::clone(&self.head),
            walking: self.walking(),
            why: self.why(),
            selection: self.selection(),
            followed: self.followed(),
            error: self.error.clone(),
            heard: self.heard_view(),
            opening: self.opening,
            notice: self.notice.clone(),
            branches: self.branch_rows(),
            events: self.server_events(),
            checks: Rc::clone(&self.checks),
            beside,
            choices: choices.unwrap_or_default(),
            settings: Rc::clone(&self.settings),
            live: self.live_view(),
            story,
        }
    }

    /// Shows a run of a lesson at its start; its landmarks have yet to be found.
    fn begin(&mut self, lesson: Lesson, timeline: Timeline) {
        let speed = self.playback.speed();
        self.opened += 1;
        self.live = None;
        (self.heard, self.lay, self.goes_on) = (None, None, false);
        self.timeline = timeline;
        self.first_run = None;
        self.beside = None;
        self.branches = Branches::default();
        self.given = branches::own_inputs(&self.timeline);
        self.list_settings();
        self.head = Rc::new(head_of(&lesson, self.timeline.scenario()));
        self.lesson = lesson;
        self.telling = None;
        self.playback = Playback::default();
        self.playback.set_speed(speed);
        self.picture = shown::Shown::new(&self.timeline);
    }

    /// Runs the same in another client-go generation. The user's inputs happen at the same virtual times, and the
    /// cursor stays at its virtual time.
    fn choose(&mut self, generation: Generation) -> Change {
        if !self.head.can_choose {
            return self.say(hand_made());
        }
        // The run has that generation already.
        if self.timeline.scenario().settings.era == generation {
            return Change::None;
        }
        let first = self.first_run();
        let played = self.play_in(&first, generation, self.leap());
        let (timeline, to) = match played {
            Ok(played) => played,
            Err(reason) => return self.say(cannot_run(&reason)),
        };
        self.error = None;
        self.show(timeline, to, None);
        self.first_run = Some(first);
        self.notice = Some(from_the_start(generation));
        Change::Cut
    }

    /// The recording from which other generations are computed.
    fn first_run(&self) -> Recording {
        let first = self.first_run.clone();
        first.unwrap_or_else(|| self.timeline.recording())
    }

    /// Plays that recording in a generation, as [`Self::play_again`] does.
    fn play_in(
        &self,
        first: &Recording,
        generation: Generation,
        most: usize,
    ) -> Result<(Timeline, usize), String> {
        if first.scenario.settings.era == generation {
            self.play_again(first, false, most)
        } else {
            self.play_again(&first.in_generation(generation), true, most)
        }
    }

    /// Shows an error until the next command.
    pub fn say(&mut self, message: impl Into<ErrorView>) -> Change {
        self.error = Some(message.into());
        Change::Cut
    }

    fn or_say(&mut self, done: Result<Change, Text>) -> Change {
        done.unwrap_or_else(|message| self.say(message))
    }

    fn move_by(&mut self, by: i64) -> Change {
        let before = self.playback.cursor();
        // A number that a usize cannot hold is beyond the end of any run.
        let wanted = usize::try_from(by.max(0)).unwrap_or(usize::MAX);
        self.look_ahead(before.saturating_add(wanted));
        self.playback.step(by, self.timeline.len());
        if self.playback.cursor() == before + 1 {
            Change::Forward
        } else if self.playback.cursor() + 1 == before {
            Change::Back
        } else if self.playback.cursor() == before {
            Change::None
        } else {
            Change::Cut
        }
    }

    fn go_to(&mut self, to: usize) -> Change {
        self.look_ahead(to);
        self.playback.seek(to, self.timeline.len());
        Change::Cut
    }

    /// Computes an endless run as far as it is shown.
    fn look_ahead(&mut self, to: usize) {
        let known = self.timeline.len();
        let wanted = to.saturating_add(AHEAD).min(known.saturating_add(LEAP));
        if wanted > known {
            self.timeline.extend(wanted);
            if self.timeline.len() > known {
                self.marked();
            }
        }
    }

    /// What must be computed for a command, if that may take several pieces.
    #[must_use]
    pub fn needs(&self, command: &Command) -> Option<Far> {
        // A step of a cluster's run may state more facts than can be marked at once.
        if self.is_live() && !self.is_marked() && command.moves() {
            return Some(Far::Marks(self.marking.invariants.seen()));
        }
        if let Some((predicate, from)) = self.searches(command) {
            return Some(Far::Fact(predicate, from));
        }
        let known = self.timeline.len();
        let to = match command {
            Command::Seek(to) => *to,
            // A race goes by moments.
            Command::Step(by) if self.race().is_none() => {
                let by = usize::try_from(*by).unwrap_or_default();
                self.playback.cursor().saturating_add(by)
            }
            _ => return None,
        };
        let to = to.min(known.saturating_add(LEAP));
        (to > known + PIECE && self.timeline.is_endless()).then_some(Far::Place(to, known))
    }

    /// Computes a piece of what a command needs. Returns how many facts are done, if more are missing.
    pub fn compute(&mut self, far: &Far) -> Option<usize> {
        let (place, from) = match far {
            Far::Place(to, from) => {
                let known = self.timeline.len();
                self.timeline.extend((*to).min(known + PIECE));
                self.marked();
                let place = self.timeline.len();
                let is_missing = (known + 1..*to).contains(&place);
                (is_missing.then_some(place)?, from)
            }
            Far::Fact(predicate, from) => (self.search_piece(predicate, *from)?, from),
            Far::Marks(from) => {
                let is_missing = !self.mark_some(PIECE);
                (is_missing.then_some(self.marking.invariants.seen())?, from)
            }
        };
        Some(place.saturating_sub(*from))
    }

    /// Finds the landmarks and the violations of a new run.
    fn mark_anew(&mut self) {
        self.mark(Marking::of(&self.timeline, &self.lesson.markers));
    }

    /// Takes the landmarks and the violations of a new run.
    fn mark(&mut self, found: Marking) {
        self.marking = found;
        self.run_replaced();
        self.asked.forget();
        self.marked();
    }

    /// Forgets what was found, drawn and computed of what came after these facts: the run goes on otherwise.
    fn cut(&mut self, at: usize) {
        self.first_run = None;
        self.marking.landmarks.cut(at);
        self.asked.cut(at);
        self.picture.cut(&self.timeline, at);
        self.run_changed(at);
    }

    /// Finds the landmarks and the violations of new facts, in slices.
    async fn marked_slowly(&mut self, slices: &Slices) {
        let rules = &self.lesson.markers;
        self.marking
            .go_on_slowly(&self.timeline, rules, slices)
            .await;
        self.marked();
    }

    /// Finds the landmarks and the violations of new facts.
    fn marked(&mut self) {
        let rules = &self.lesson.markers;
        self.marking.go_on(&self.timeline, rules);
        self.marked_so_far();
    }

    fn marked_so_far(&mut self) {
        let rules = &self.lesson.markers;
        self.markers = self.marking.landmarks.markers(rules);
        self.ticks = self.marking.landmarks.ticks();
        self.behind = self.marking.landmarks.behind();
        self.list_checks();
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

fn head_of(lesson: &Lesson, scenario: &Scenario) -> LessonHead {
    let settings = &scenario.settings;
    let source = settings.source;
    LessonHead {
        id: Arc::clone(&lesson.id),
        title: lesson.title.clone(),
        note: lesson.note.clone(),
        era: settings.era,
        can_switch_known: settings.informer == InformerKind::Manual && !settings.has_fifo(),
        can_write: !matches!(source, SourceKind::Recorded | SourceKind::Cluster),
        can_cut: source == SourceKind::Server,
        can_add: settings.informer == InformerKind::Shared,
        can_choose: settings.is_informer(),
        keeps_rv: settings.keeps_resource_version(),
        start: lesson.start,
        has_story: lesson.story.is_some(),
        chapter: lesson.chapter.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_full_run_reports_it_and_accepts_no_more_inputs() {
        let mut session = Session::new();
        session.timeline.limit(10_000);
        session.obey(Command::Step(i64::MAX));
        let steps = session.view().steps;
        assert_eq!(session.view().step, steps);
        assert!((10_000..10_100).contains(&steps) && !session.view().endless);
        session.play();
        assert_eq!(session.tick(), Change::Cut);
        let message = |session: &mut Session| session.view().error.unwrap().message.en;
        assert!(message(&mut session).contains("No more than 10000 facts"));
        session.obey(Command::DismissError);
        session.obey(typed::inject(
            "create",
            json!({ "metadata": { "name": "x" } }),
        ));
        assert!(message(&mut session).contains("No more than 10000 facts"));
        assert_eq!(session.view().steps, steps);
        // Farther back there is room again.
        session.obey(Command::Seek(5_000));
        session.obey(typed::inject(
            "create",
            json!({ "metadata": { "name": "x" } }),
        ));
        assert!(session.view().error.is_none());
    }

    #[test]
    fn a_far_command_is_computed_in_pieces_and_ends_where_it_would_have_ended() {
        let (mut session, mut other) = (Session::new(), Session::new());
        let known = session.view().steps;
        assert_eq!(session.needs(&Command::Seek(known + PIECE)), None);
        assert_eq!(session.needs(&Command::Step(-1)), None);
        let far = session.needs(&Command::Seek(20_000)).unwrap();
        assert_eq!(far, Far::Place(20_000, known));
        let mut last = known;
        while session.compute(&far).is_some() {
            let steps = session.timeline.len();
            assert!((1..PIECE + AHEAD).contains(&(steps - last)), "{last}");
            last = steps;
        }
        session.obey(far.instead_of(Command::Step(1)));
        other.obey(Command::Seek(20_000));
        let (one, other) = (session.view(), other.view());
        assert_eq!((one.step, one.steps), (other.step, other.steps));
        assert_eq!(one, other);
        let far = session.needs(&Command::Step(i64::MAX)).unwrap();
        let known = session.timeline.len();
        assert_eq!(far, Far::Place(known + LEAP, known));
    }

    #[test]
    fn a_command_computes_a_bounded_number_of_facts() {
        let mut session = Session::new();
        let known = session.view().steps;
        session.obey(Command::Seek(usize::MAX));
        let steps = session.view().steps;
        assert!((known + LEAP..known + LEAP + 100).contains(&steps));
        assert!(session.view().endless);
    }
}
