//! How far steps go, what a search came to, and the breakpoints.

use deltascope_replay::predicate::Predicate;
use deltascope_replay::step_size::StepSize;

/// What is said of steps, of what is run to and of breakpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walking {
    /// How far a step goes.
    pub step_size: StepSize,
    /// The breakpoints, the oldest first.
    pub breaks: Vec<Break>,
    /// What came of the last search.
    pub said: Option<Said>,
    /// Playing stops at the next fact for which this holds.
    pub(crate) playing_to: Option<Predicate>,
    pub(crate) last_id: u32,
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its number.
    pub id: u32,
    /// Where it stops.
    pub predicate: Predicate,
    /// Whether it does.
    pub on: bool,
    /// It has stopped the playing, after so many facts.
    pub hit: Option<usize>,
}

/// What came of running until something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It happened: the number of facts up to it.
    Found(usize),
    /// It did not; the run is as it was.
    NotFound(NotFound),
}

/// A search that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// What was looked for.
    pub what: Predicate,
    /// The parts of it that held for no fact; nothing: each did, but never all at once.
    pub missing: Option<Predicate>,
    /// Looked through up to so many facts.
    pub to: usize,
    /// Why no farther.
    pub end: End,
    /// There the process loop is held, and so many keys or entries wait for a Pop.
    pub held: usize,
}

/// Why a search went no farther.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run is over: nothing more is due in it.
    Over,
    /// A search looks through so many facts; the run goes on.
    Bound,
    /// No more facts are kept.
    Full,
    /// It comes from a cluster, which has told no more yet.
    Live,
}

impl NotFound {
    /// Whether it may be found farther on.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.end == End::Bound
    }
}

impl Walking {
    /// The breakpoints that stopped the playing after so many facts.
    #[must_use]
    pub fn stopped_by(&self, at: usize) -> Option<String> {
        let hit = self.breaks.iter().filter(|one| one.hit == Some(at));
        let names: Vec<String> = hit.map(|one| one.predicate.to_string()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
