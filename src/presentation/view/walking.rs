//! The step size, the result of the last search, and the breakpoints.

use deltascope_replay::predicate::Predicate;
use deltascope_replay::step_size::StepSize;

/// The settings and results of steps, searches and breakpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walking {
    /// The step size.
    pub step_size: StepSize,
    /// The breakpoints, the oldest first.
    pub breaks: Vec<Break>,
    /// The result of the last search.
    pub said: Option<Said>,
    /// Playback stops at the next fact that fulfils this predicate.
    pub(crate) playing_to: Option<Predicate>,
    pub(crate) last_id: u32,
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its number.
    pub id: u32,
    /// The predicate of the facts at which it stops.
    pub predicate: Predicate,
    /// Whether it is on.
    pub on: bool,
    /// The number of facts after which it last stopped playback.
    pub hit: Option<usize>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The number of facts up to the one that was found.
    Found(usize),
    /// Nothing was found; the run is unchanged.
    NotFound(NotFound),
}

/// A search that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The predicate.
    pub what: Predicate,
    /// The parts of it that held for no fact; `None`: each part held, but never all at once.
    pub missing: Option<Predicate>,
    /// The number of facts up to which it was searched for.
    pub to: usize,
    /// Why the search ended there.
    pub end: End,
    /// How many keys or entries wait for a Pop there, because the process loop is held.
    pub held: usize,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run is over: nothing more is due.
    Over,
    /// One search examines a bounded number of facts; the run goes on.
    Bound,
    /// No more facts are kept.
    Full,
    /// The run comes from a cluster, which has not sent more yet.
    Live,
}

impl NotFound {
    /// Whether the search can be continued.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.end == End::Bound
    }
}

impl Walking {
    /// The breakpoints that stopped playback after `at` facts.
    #[must_use]
    pub fn stopped_by(&self, at: usize) -> Option<String> {
        let hit = self.breaks.iter().filter(|one| one.hit == Some(at));
        let names: Vec<String> = hit.map(|one| one.predicate.to_string()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
