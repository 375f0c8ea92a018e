//! All that the screen shows at one moment. Rooms are drawn from it and from nothing else.

pub mod cells;
pub mod names;
pub mod selection;
pub mod walking;
pub mod why;

use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::FactRecord;
use deltascope_replay::diff::{Counted, RoomDiff};
use deltascope_replay::edit::Setting;
use deltascope_replay::invariants::{Invariant, Violation};
use deltascope_replay::picture::{Picture, QueueKind};
use deltascope_replay::wall;

use cells::CellSlots;
use names::{Alike, Marks};
use selection::{Followed, Selection};
use walking::Walking;
use why::Why;

use super::i18n::Text;

/// How many facts before the current one are at hand for pseudo-code values and lanes.
pub const RECENT: usize = 160;

/// One moment of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The state after `step` facts.
    pub picture: Rc<Picture>,
    /// The last [`RECENT`] facts up to the cursor, oldest first; the last one is the current fact.
    pub recent: Rc<[FactRecord]>,
    /// How many facts have been shown.
    pub step: usize,
    /// How many are known.
    pub steps: usize,
    /// Whether more facts come when the cursor reaches the end (an endless source).
    pub endless: bool,
    /// Facts before this one are thinned to checkpoints: to go there takes longer.
    pub thinned: usize,
    /// Virtual time of the current fact, in ms.
    pub time: u64,
    /// Whether it is playing.
    pub playing: bool,
    /// Speed in percent: 100 is 1×.
    pub speed: u32,
    /// What the timeline marks.
    pub ticks: Rc<[Tick]>,
    /// Named moments.
    pub markers: Rc<[Marker]>,
    /// The marks of the objects of this run.
    pub marks: Rc<Marks>,
    /// Which keys of this run have one name.
    pub alike: Rc<Alike>,
    /// Where its objects have their cells, where they are many.
    pub places: Rc<CellSlots>,
    /// What is being shown.
    pub lesson: Rc<LessonHead>,
    /// How far steps go, what is run to, and the breakpoints.
    pub walking: Rc<Walking>,
    /// The chain of causes; nothing while nobody asks.
    pub why: Option<Rc<Why>>,
    /// What is selected on the stage.
    pub selection: Option<Rc<Selection>>,
    /// The object that is followed.
    pub followed: Option<Rc<Followed>>,
    /// What went wrong, if anything did.
    pub error: Option<ErrorView>,
    /// Something else is being opened; so much was done for it, about in facts.
    pub opening: Option<usize>,
    /// What the last command has done beside what is shown: what it holds for, what was kept.
    pub notice: Option<Text>,
    /// The branches of the run.
    pub branches: Rc<[BranchRow]>,
    /// What the server did around the cursor.
    pub events: Rc<[ServerEvent]>,
    /// What the monitors watch here, and what they found.
    pub checks: Rc<Checks>,
    /// Another run beside this one.
    pub compare: Option<Rc<CompareView>>,
    /// What can be set otherwise in a branch.
    pub settings: Rc<[SettingRow]>,
    /// Where the run comes from a cluster, now.
    pub live: Option<LiveView>,
}

/// A live run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveView {
    /// The cursor stays at the edge.
    pub following: bool,
    /// How many facts the cursor is behind it.
    pub behind: usize,
    /// What comes next at the cursor has been there for longer than is needed to show it.
    pub late: bool,
    /// How long it has been going on, in ms.
    pub now: u64,
    /// How many facts, the oldest, were forgotten.
    pub forgotten: u64,
}

/// Something that can be set otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// As it is set now.
    pub setting: Setting,
    /// What it is called.
    pub name: Text,
    /// Its value now.
    pub value: String,
}

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRow {
    /// Its number.
    pub id: u32,
    /// What it is called, by the user or by its number and why it was made.
    pub name: Text,
    /// Whether the user gave it that name.
    pub is_named: bool,
    /// Why it was made, and when.
    pub made: Text,
    /// How many branches it is away from the first.
    pub depth: usize,
    /// It is shown.
    pub current: bool,
}

/// Something that happened on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its place in the run.
    pub place: usize,
    /// Virtual time, in ms.
    pub time: u64,
    /// What happened, without the object.
    pub what: Text,
    /// The key of the object; empty where there is none.
    pub key: Arc<str>,
    /// The version that it got.
    pub rv: Arc<str>,
    /// It has been shown already.
    pub past: bool,
    /// It can be moved.
    pub can_move: bool,
}

/// A mark on the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// After so many facts.
    pub at: usize,
    /// Its hue.
    pub delta_type: DeltaType,
}

/// A named moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its id.
    pub id: Arc<str>,
    /// After so many facts.
    pub at: usize,
    /// What it is called.
    pub title: Text,
}

/// What is being shown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LessonHead {
    /// The stable id.
    pub id: Arc<str>,
    /// What it is called.
    pub title: Text,
    /// One or two sentences about it; shown beside the captions.
    pub note: Text,
    /// The generation: `1.32`.
    pub era: Arc<str>,
    /// The switch for KnownObjects does something here.
    pub can_switch_known: bool,
    /// Objects can be created, edited and deleted.
    pub can_write: bool,
    /// The watch can be cut.
    pub can_cut: bool,
    /// Handlers can be added and removed.
    pub can_add: bool,
    /// The generation can be chosen.
    pub can_choose: bool,
    /// The store's version is client-go's own.
    pub keeps_rv: bool,
    /// What the clock on the wall showed at moment 0, in ms since 1970, where it is known.
    pub start: Option<u64>,
}

impl LessonHead {
    /// What the clock on the wall showed at a moment of the run, as RFC 3339; none where nobody knows.
    #[must_use]
    pub fn wall(&self, time: u64) -> Option<String> {
        let start = self.start?;
        Some(wall::written(start.saturating_add(time)))
    }
}

/// An error that the user caused or a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorView {
    /// What, where, what to do, in the language of the page.
    pub message: Text,
    /// The line of the file, from 1; the message names it as well.
    pub line: Option<u32>,
}

/// What the monitors watch in this run, and what they found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Those that have something to watch.
    pub applying: Vec<Invariant>,
    /// The first violation of each, in the order of the run.
    pub violations: Vec<Violation>,
}

/// Two runs at the same virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareView {
    /// What this run is held against, as scripts name it.
    pub with: Arc<str>,
    /// What else it can be held against.
    pub choices: Rc<[Choice]>,
    /// This run and the other one.
    pub sides: [Side; 2],
    /// What is there, room by room.
    pub rooms: Vec<RoomDiff>,
    /// What both have come to.
    pub summary: Vec<Counted>,
    /// What the monitors found in the other run.
    pub violations: Vec<Violation>,
}

/// Something to hold a run against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As scripts name it.
    pub id: Arc<str>,
    /// As readers do.
    pub name: Text,
}

/// One of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What tells it from the other.
    pub name: Text,
    /// After so many facts.
    pub step: usize,
    /// So many are known.
    pub steps: usize,
    /// The virtual time of the last of them, in ms.
    pub time: u64,
    /// What that was.
    pub what: Text,
    /// Its queue.
    pub queue: QueueKind,
}
