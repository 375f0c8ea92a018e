//! Invariants of every run of an informer, checked along its facts.
//!
//! A fold like the picture, but over the whole run: the first violation of each invariant is kept. Only new
//! facts are checked; after a cut, checking resumes from a state before the cut.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, FactRecord, Rv};
use deltascope_cache::key::Key;
use deltascope_world::{Time, named};

use super::picture::{InformerKind, Picture, QueueKind, SourceKind};
use super::timeline::{SEGMENT, Timeline};
use state::{Broken, State};

mod state;

named! {
    /// An invariant, in the order of the data flow.
    pub enum Invariant {
        /// The store holds only versions that the API server once had.
        Past = "past",
        /// No change is lost: the delete of a known object is not dropped, and at rest the store equals the API
        /// server.
        Lost = "lost",
        /// Every queued key has deltas, every delta is queued under its key, and no delta is lost.
        Queue = "queue",
        /// A lock has one holder, and only the holder of the queue's lock changes the queue.
        Lock = "lock",
        /// Every index contains exactly the stored objects.
        Index = "index",
        /// No stored object is replaced by an older version, and the store's version never decreases.
        Back = "back",
        /// `HasSynced` becomes true only after the first list was popped, and a handler's own only after it has
        /// processed that list.
        Synced = "synced",
        /// When the queue's `HasSynced` becomes true, the first list is in the store.
        Early = "early",
        /// A handler is notified of each object in order: first `OnAdd`, then newer versions, last `OnDelete`.
        Order = "order",
        /// A handler that has processed all its notifications knows exactly the stored objects.
        Notified = "told",
        /// Nobody writes into a shared object.
        Shared = "shared",
        /// No two workers have the same key.
        Work = "work",
    }
}

impl Invariant {
    /// Whether the invariant applies to a program of this kind.
    #[must_use]
    pub fn applies(self, start: &Picture) -> bool {
        let informer = start.informer.is_informer();
        let by_hand = start.informer == InformerKind::Manual;
        // A FIFO keeps neither deltas nor deletes, so their invariants do not apply.
        let queued = informer || by_hand && start.queue.kind != QueueKind::Fifo;
        let server = start.api.source == SourceKind::Server;
        match self {
            Self::Lock | Self::Synced => informer || by_hand,
            Self::Queue | Self::Lost => queued,
            Self::Index => start.store.present && !start.store.indices.is_empty(),
            Self::Past => queued && server && start.store.present,
            Self::Back => queued && start.api.source != SourceKind::Program && start.store.present,
            Self::Order => queued && !start.handlers.is_empty() || informer,
            Self::Notified => queued && start.store.present,
            Self::Early => informer,
            Self::Shared => queued && start.store.present,
            Self::Work => start.work.is_some(),
        }
    }

    /// Whether this generation is known to violate the invariant in this way.
    #[must_use]
    pub fn is_known(self, of: Generation, what: &ViolationKind) -> bool {
        match self {
            // The count decreases before the popped item is processed; 1.36 decreases it afterwards.
            Self::Early => of != Generation::Atomic,
            // A queue without KnownObjects drops the delete; every informer's queue has them.
            Self::Lost => matches!(what, ViolationKind::DeleteDropped),
            // All generations share objects, and only the mutation detector checks them.
            Self::Shared => true,
            // A RealFIFO queues the delete of an unknown object, and a list that is applied at once looks its
            // objects up in the old store.
            Self::Order => match what {
                ViolationKind::NotAddedBefore => of != Generation::Classic,
                ViolationKind::AddedTwice => of == Generation::Atomic,
                _ => false,
            },
            _ => false,
        }
    }
}

/// The kind of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// A stored key has no value in this index, or several.
    IndexCount(Arc<str>, u32),
    /// This index contains a key that is not stored.
    IndexDangling(Arc<str>),
    /// A key is queued without deltas, or has deltas and is not queued.
    QueueUneven,
    /// The number of items taken, and the number that had been queued.
    QueueCount(u32, u32),
    /// The lock was taken while another actor held it, or was released by an actor that did not hold it.
    LockStolen(Actor),
    /// The queue was changed by an actor that does not hold its lock.
    Unlocked(Actor),
    /// The store received a version that the server never had.
    NeverExisted(Rv),
    /// The old version and the new, older one.
    WentBack(Rv, Rv),
    /// A delete was dropped although the consumer knows the object.
    DeleteDropped,
    /// The run is at rest, and the versions differ; empty where there is no object.
    Differs {
        /// The version on the server.
        server: Rv,
        /// The version in the store, or the one that the handler knows.
        here: Rv,
    },
    /// A handler received another notification than the next one sent.
    Overtaken,
    /// `OnAdd` of an object that the handler knows.
    AddedTwice,
    /// `OnUpdate` or `OnDelete` of an object that the handler does not know.
    NotAddedBefore,
    /// Synced while this many items of the first list were unprocessed.
    TooEarly(u32),
    /// A shared object was changed; [`Violation::handler`] is the writer, `None` if only the detector
    /// noticed.
    Written,
    /// This worker already has the key.
    TwoWorkers(u8),
}

/// The first violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The violated invariant.
    pub invariant: Invariant,
    /// The number of facts up to and including the violation.
    pub at: usize,
    /// The virtual time, in ms.
    pub time: Time,
    /// The key, if the violation concerns one.
    pub key: Option<Key>,
    /// The handler, if the violation concerns one.
    pub handler: Option<u8>,
    /// The kind of violation.
    pub what: ViolationKind,
    /// Whether the run's generation is known to violate the invariant this way.
    pub known: bool,
}

/// All invariants along one run.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    applies: Vec<Invariant>,
    generation: Generation,
    state: State,
    /// Earlier states, to resume from after a cut.
    kept: Vec<State>,
    found: Vec<Violation>,
    /// The invariants whose violation was found at rest: if the run continues there in another way, the
    /// violation may not exist.
    at_rest: Vec<Invariant>,
}

impl Invariants {
    /// The invariants of a run, checked on all known facts.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut invariants = Self::begin(timeline);
        invariants.check_new(timeline);
        invariants
    }

    /// The invariants of a run before its first fact.
    #[must_use]
    pub fn begin(timeline: &Timeline) -> Self {
        Self::new(&timeline.picture(0), timeline.scenario().settings.by_type)
    }

    /// The invariants of a run that starts with this picture; `by_type`: the process function uses the
    /// delta's type alone.
    #[must_use]
    pub fn new(start: &Picture, by_type: bool) -> Self {
        let state = State::begin(start, by_type);
        Self {
            applies: Invariant::ALL
                .into_iter()
                .filter(|invariant| invariant.applies(start))
                .collect(),
            generation: start.generation,
            kept: vec![state.clone()],
            state,
            found: Vec::new(),
            at_rest: Vec::new(),
        }
    }

    /// How many facts have been checked.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.state.seen
    }

    /// Checks the new facts.
    pub fn check_new(&mut self, timeline: &Timeline) {
        self.check_up_to(timeline, timeline.len());
        self.thin(timeline);
        // Nothing more happens without an input.
        if !timeline.is_endless() && !timeline.is_full() && !timeline.is_live() {
            self.end();
        }
    }

    /// Checks the new facts up to this number, without the check at the end of a run.
    pub fn check_up_to(&mut self, timeline: &Timeline, end: usize) {
        let range = self.state.seen..end;
        timeline.each::<()>(range, &mut |place, record| {
            self.see(place, record);
            ControlFlow::Continue(())
        });
    }

    /// Reduces the earlier states to one per checkpoint of the run.
    pub fn thin(&mut self, timeline: &Timeline) {
        timeline.thin_along(&mut self.kept, |state| state.seen);
    }

    /// Drops everything after this many facts, because the run was cut there.
    pub fn cut(&mut self, at: usize) {
        if at < self.state.seen {
            let kept = self.kept.partition_point(|state| state.seen <= at).max(1);
            self.kept.truncate(kept);
            if let Some(state) = self.kept.last() {
                self.state = state.clone();
            }
        }
        // Only the next fact shows whether the run is at rest after the last one.
        let (seen, at_rest) = (self.state.seen, &self.at_rest);
        self.found.retain(|found| {
            found.at < seen || found.at == seen && !at_rest.contains(&found.invariant)
        });
        let found = &self.found;
        self.at_rest
            .retain(|invariant| found.iter().any(|found| found.invariant == *invariant));
    }

    /// Forgets the first facts of the run; the remaining ones begin at 0 again.
    pub fn forget(&mut self, gone: usize) {
        self.state.seen = self.state.seen.saturating_sub(gone);
        self.kept.retain(|state| state.seen >= gone);
        for state in &mut self.kept {
            state.seen -= gone;
        }
        if self.kept.is_empty() {
            self.kept.push(self.state.clone());
        }
        for found in &mut self.found {
            found.at = found.at.saturating_sub(gone);
        }
    }

    /// The first violation of each invariant, in the order of the run.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.found
    }

    /// Whether the last of the first `at` facts breaks an invariant for the first time.
    #[must_use]
    pub fn are_violated(&self, at: usize) -> bool {
        self.found.iter().any(|violation| violation.at == at)
    }

    /// The invariants that apply to this run.
    #[must_use]
    pub fn applying(&self) -> &[Invariant] {
        &self.applies
    }

    /// Checks the next fact.
    pub fn see(&mut self, place: usize, record: &FactRecord) {
        if record.time > self.state.time {
            self.end();
            self.state.time = record.time;
        }
        let mut broken = Broken::default();
        self.state.see(record, &mut broken);
        self.state.seen = place + 1;
        self.note(broken);
        let gap = SEGMENT.max(self.state.weight() * 2);
        if self
            .kept
            .last()
            .is_none_or(|kept| self.state.seen >= kept.seen + gap)
        {
            self.kept.push(self.state.clone());
        }
    }

    /// Checks the run at rest: at the end of each virtual ms and of the run.
    pub fn end(&mut self) {
        let mut broken = Broken::default();
        self.state.rest(&mut broken);
        let before = self.found.len();
        self.note(broken);
        let new = self.found.iter().skip(before);
        self.at_rest.extend(new.map(|found| found.invariant));
    }

    fn note(&mut self, broken: Broken) {
        for (invariant, key, handler, what) in broken.0 {
            let first = self.found.iter().all(|found| found.invariant != invariant);
            if first && self.applies.contains(&invariant) {
                self.found.push(Violation {
                    invariant,
                    at: self.state.seen,
                    time: self.state.time,
                    key,
                    handler,
                    known: invariant.is_known(self.generation, &what),
                    what,
                });
            }
        }
    }
}

/// Whether one version is older than the other. Since Kubernetes 1.35 versions are comparable as decimal
/// numbers; other texts have no order.
#[must_use]
pub fn is_older(one: &str, other: &str) -> bool {
    let number = |rv: &str| {
        let digits = !rv.is_empty() && rv.bytes().all(|byte| byte.is_ascii_digit());
        digits && (!rv.starts_with('0') || rv == "0")
    };
    let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
    number(one) && number(other) && order == Ordering::Less
}

#[cfg(test)]
mod tests;
