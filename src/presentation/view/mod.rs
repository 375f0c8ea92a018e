//! Everything that the screen shows at one cursor. The rooms are drawn from it alone.

pub mod cells;
pub mod names;
pub mod selection;
pub mod story;
pub mod walking;
pub mod why;

use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::FactRecord;
use deltascope_replay::diff::{Counted, RoomDiff};
use deltascope_replay::edit::Setting;
use deltascope_replay::heard::Tally;
use deltascope_replay::invariants::{Invariant, Violation};
use deltascope_replay::lessons::Chapter;
use deltascope_replay::picture::{Behind, Picture, QueueKind};
use deltascope_replay::race::Moment;
use deltascope_replay::wall;
use deltascope_world::source::wire::WireError;

use cells::{CellSlots, Since};
use names::{Alike, Marks};
use selection::{Followed, Selection};
use story::StoryView;
use walking::Walking;
use why::Why;

use super::against::{Against, With};
use deltascope_world::text::Text;

/// How many facts up to the current one are available for pseudo-code values and lanes.
pub const RECENT: usize = 160;

/// The view of a run at one cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The state after `step` facts.
    pub picture: Rc<Picture>,
    /// The last [`RECENT`] facts up to the cursor, oldest first; the last one is the current fact.
    pub recent: Rc<[FactRecord]>,
    /// The headline of the step that ends here, if the step has several facts.
    pub headline: Option<Rc<Headline>>,
    /// What was dropped in the step that is shown, in order.
    pub dropped: Rc<[Dropped]>,
    /// While the reflector waits: when its backoff began, and the facts before that with which the last request or
    /// watch ended.
    pub backoff: Option<(u64, Rc<[FactRecord]>)>,
    /// How many facts have been shown.
    pub step: usize,
    /// How many facts are known.
    pub steps: usize,
    /// Whether more facts come when the cursor reaches the end (an endless source).
    pub endless: bool,
    /// Whether the run is over after its known facts: nothing more is due in it.
    pub over: bool,
    /// The facts before this one are thinned to checkpoints; going there takes longer.
    pub thinned: usize,
    /// Virtual time of the current fact, in ms.
    pub time: u64,
    /// How often the run was started over.
    pub anew: u64,
    /// Whether it is playing.
    pub playing: bool,
    /// Speed in percent: 100 is 1×.
    pub speed: u32,
    /// The marks on the timeline.
    pub ticks: Rc<[Tick]>,
    /// How far the store is behind along the run: the number of facts from which on it is so.
    pub behind: Rc<[(u32, Behind)]>,
    /// The named places of the run.
    pub markers: Rc<[Marker]>,
    /// The marks of the objects of this run.
    pub marks: Rc<Marks>,
    /// Which keys of this run have the same name.
    pub alike: Rc<Alike>,
    /// The cells of its objects, where there are many of them, …
    pub places: Rc<CellSlots>,
    /// … and what has changed of them since the view before.
    pub since: Option<Rc<Since>>,
    /// The lesson that is shown.
    pub lesson: Rc<LessonHead>,
    /// The step size, the last search and the breakpoints.
    pub walking: Rc<Walking>,
    /// The chain of causes, if it is open.
    pub why: Option<Rc<Why>>,
    /// The selected item.
    pub selection: Option<Rc<Selection>>,
    /// The object that is followed.
    pub followed: Option<Rc<Followed>>,
    /// The current error, if there is one.
    pub error: Option<ErrorView>,
    /// What a controller's log says, compared with the run.
    pub heard: Option<Rc<HeardView>>,
    /// How much work has been done to open another run, roughly in facts; `None` if none is being opened.
    pub opening: Option<usize>,
    /// An effect of the last command that the picture does not show, such as what it applies to or what was kept.
    pub notice: Option<Text>,
    /// The branches of the run.
    pub branches: Rc<[BranchRow]>,
    /// The server's events around the cursor.
    pub events: Rc<[ServerEvent]>,
    /// The invariants of this run, and their violations.
    pub checks: Rc<Checks>,
    /// What this run is shown beside, in place of the stage.
    pub beside: Option<BesideView>,
    /// What else it can be shown beside; empty if it is alone.
    pub choices: Rc<[Choice]>,
    /// The settings that a branch can change.
    pub settings: Rc<[SettingRow]>,
    /// The state of the connection, if the run comes live from a cluster.
    pub live: Option<LiveView>,
    /// The scene that is shown, if the screen shows a story.
    pub story: Option<Rc<StoryView>>,
}

/// What a step of several facts comes down to.
#[derive(Debug, PartialEq)]
pub struct Headline {
    /// The number of facts up to it.
    pub at: usize,
    /// The facts up to it, at most [`RECENT`]; it is the last.
    pub recent: Rc<[FactRecord]>,
    /// The state after it.
    pub picture: Rc<Picture>,
    /// The other facts of the step that say something, each with the number of facts up to it.
    pub others: Rc<[(usize, FactRecord)]>,
    /// How many more facts the step has.
    pub minor: usize,
}

/// Something that was dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// Its fact, the last, with those before it that explain it.
    pub facts: Rc<[FactRecord]>,
    /// The state after it; of those that are only counted, the state at the cursor.
    pub picture: Rc<Picture>,
}

impl View {
    /// Whether the lesson's handout is shown in place of its scene.
    #[must_use]
    pub fn on_paper(&self) -> bool {
        self.story.as_ref().is_some_and(|story| story.handout)
    }

    /// The comparison with another run.
    #[must_use]
    pub fn compare(&self) -> Option<&Rc<CompareView>> {
        match self.beside.as_ref()? {
            BesideView::Two(compare) => Some(compare),
            BesideView::Four(_) => None,
        }
    }

    /// The four generations.
    #[must_use]
    pub fn race(&self) -> Option<&Rc<RaceView>> {
        match self.beside.as_ref()? {
            BesideView::Two(_) => None,
            BesideView::Four(race) => Some(race),
        }
    }

    /// Whether there is nothing after the cursor, not even in another lane of a race.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        let goes_on = self.race().is_some_and(|race| race.goes_on);
        self.step >= self.steps && !self.endless && !goes_on
    }

    /// Whether the run ends at the cursor: nothing more happens by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.step == self.steps && self.step > 0 && self.over
    }

    /// The facts up to the one that is shown and narrated, and the state after that one.
    #[must_use]
    pub fn narrated(&self) -> (&[FactRecord], &Picture) {
        match &self.headline {
            Some(headline) => (&headline.recent, &headline.picture),
            None => (&self.recent, &self.picture),
        }
    }
}

/// A live run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveView {
    /// Whether the cursor stays at the edge.
    pub following: bool,
    /// How many facts the cursor is behind the edge.
    pub behind: usize,
    /// Whether the fact after the cursor has not been shown for too long.
    pub late: bool,
    /// How long the run has been going on, in ms.
    pub now: u64,
    /// How many of the oldest facts were forgotten.
    pub forgotten: u64,
}

/// A setting that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// The current setting.
    pub setting: Setting,
    /// Its name.
    pub name: Text,
    /// Its current value.
    pub value: String,
}

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRow {
    /// Its number.
    pub id: u32,
    /// Its name: given by the user, or made of its number and its origin.
    pub name: Text,
    /// Whether the user gave it that name.
    pub is_named: bool,
    /// How it was made, and when.
    pub made: Text,
    /// Its distance from the first branch.
    pub depth: usize,
    /// Whether it is shown.
    pub current: bool,
}

/// An event of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its place in the run.
    pub place: usize,
    /// Virtual time, in ms.
    pub time: u64,
    /// What happened, without the object.
    pub what: Text,
    /// The key of the object; empty if there is none.
    pub key: Arc<str>,
    /// The new version of the object.
    pub rv: Arc<str>,
    /// Whether it is before the cursor.
    pub past: bool,
    /// Whether it can be moved.
    pub can_move: bool,
}

/// A mark on the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The number of facts up to it.
    pub at: usize,
    /// Its hue.
    pub delta_type: DeltaType,
    /// How many deltas it stands for.
    pub count: usize,
}

/// A named place in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its id.
    pub id: Arc<str>,
    /// The number of facts up to it.
    pub at: usize,
    /// Its title.
    pub title: Text,
}

/// The lesson that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LessonHead {
    /// The stable id.
    pub id: Arc<str>,
    /// Its title.
    pub title: Text,
    /// One or two sentences about it; shown beside the captions.
    pub note: Text,
    /// The generation.
    pub era: Generation,
    /// Whether the switch for KnownObjects has an effect.
    pub can_switch_known: bool,
    /// Whether objects can be created, edited and deleted.
    pub can_write: bool,
    /// Whether the watch can be cut.
    pub can_cut: bool,
    /// Whether handlers can be added and removed.
    pub can_add: bool,
    /// Whether the generation can be chosen.
    pub can_choose: bool,
    /// Whether client-go itself keeps the store's version.
    pub keeps_rv: bool,
    /// The wall-clock time at moment 0, in ms since 1970, if known.
    pub start: Option<u64>,
    /// Whether the lesson has a story.
    pub has_story: bool,
    /// Where the book explains it.
    pub chapter: Option<Chapter>,
}

impl LessonHead {
    /// The wall-clock time at a moment of the run, as RFC 3339; none if it is not known.
    #[must_use]
    pub fn wall(&self, time: u64) -> Option<String> {
        let start = self.start?;
        Some(wall::written(start.saturating_add(time)))
    }
}

/// An error that the user caused or a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorView {
    /// What is wrong, where, and what to do, in both languages.
    pub message: Text,
    /// The line of the file, from 1; the message names it as well.
    pub line: Option<u32>,
}

/// A controller's log beside what its handler should have heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeardView {
    /// How the two compare.
    pub tally: Tally,
    /// How many lines it has.
    pub lines: usize,
    /// The last notifications at the cursor.
    pub rows: Vec<HeardRow>,
    /// The first difference.
    pub first: Option<FirstView>,
    /// Whether what came before this run is not compared.
    pub goes_on: bool,
    /// Why the log says no more, or not all.
    pub trouble: Option<Text>,
}

/// A notification beside a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardRow {
    /// Its place among all.
    pub number: usize,
    /// What the handler should have heard.
    pub call: Arc<str>,
    /// The line of the log that says so.
    pub line: Option<u32>,
    /// The step that notifies of it.
    pub step: usize,
    /// Whether it is the first difference.
    pub differs: bool,
}

/// How a log and a run differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstView {
    /// How.
    pub is: Text,
    /// What it should have heard.
    pub should: Option<String>,
    /// The step of that, if the run still has it.
    pub step: Option<usize>,
    /// What the log says, and in which line.
    pub heard: Option<(String, u32)>,
}

impl From<Text> for ErrorView {
    fn from(message: Text) -> Self {
        Self {
            message,
            line: None,
        }
    }
}

impl From<WireError> for ErrorView {
    fn from(WireError { message, line }: WireError) -> Self {
        Self { message, line }
    }
}

/// The invariants of this run, and their violations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// The invariants that apply to this run.
    pub applying: Vec<Invariant>,
    /// The first violation of each, in the order of the run.
    pub violations: Vec<Violation>,
}

/// What a run is shown beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BesideView {
    /// Another run.
    Two(Rc<CompareView>),
    /// The four generations.
    Four(Rc<RaceView>),
}

impl BesideView {
    /// What scripts and menus call it.
    #[must_use]
    pub fn against(&self) -> Against {
        match self {
            Self::Two(compare) => Against::Run(compare.with),
            Self::Four(_) => Against::Race,
        }
    }
}

/// Two runs at the same virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareView {
    /// What this run is compared with.
    pub with: With,
    /// This run and the other one.
    pub sides: [Side; 2],
    /// The differences, room by room.
    pub rooms: Vec<RoomDiff>,
    /// The metrics of both runs.
    pub summary: Vec<Counted>,
    /// The violations in the other run.
    pub violations: Vec<Violation>,
}

/// The same inputs in the four generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceView {
    /// What the lanes show.
    pub moment: Moment,
    /// The lane of this run.
    pub own: usize,
    /// Whether something comes after this moment in a lane.
    pub goes_on: bool,
    /// How many partings there are up to this moment, and in all; `None` if the lanes were not compared to their end.
    pub partings: (usize, Option<usize>),
}

/// A run to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is shown beside this run.
    pub against: Against,
    /// Its name for readers.
    pub name: Text,
}

/// One of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its name, which distinguishes it from the other run.
    pub name: Text,
    /// The number of facts up to its cursor.
    pub step: usize,
    /// How many facts are known.
    pub steps: usize,
    /// The virtual time of the last fact up to its cursor, in ms.
    pub time: u64,
    /// That fact in words.
    pub what: Text,
    /// The kind of its queue.
    pub queue: QueueKind,
}
