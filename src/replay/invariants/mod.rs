//! Monitors: what holds in every run of an informer, watched along its facts.
//!
//! A fold like the picture, but over the whole run: each monitor keeps its first violation. Only what
//! is new is looked at, and a run that is cut is gone on with from a state before the cut.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Actor, FactRecord, Rv};
use deltascope_cache::key::Key;
use deltascope_world::Time;

use super::picture::{InformerKind, Picture, QueueKind, SourceKind};
use super::timeline::{SEGMENT, Timeline};
use state::{Broken, State};

mod state;

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every index shows exactly what is stored.
    Index,
    /// Every queued key has deltas, every delta is queued under its key, and none gets lost.
    Queue,
    /// A lock has one holder, and only who holds the queue's changes the queue.
    Lock,
    /// The store holds only what the API server once had.
    Past,
    /// No object in the store gives way to an older version of itself, nor does the store's version go
    /// back.
    Back,
    /// No change is lost: a delete of what is known is not dropped, and once all is quiet the store is
    /// what the API server has.
    Lost,
    /// A handler hears of each object in order: first `OnAdd`, then newer versions, last `OnDelete`.
    Order,
    /// A handler that has dealt with all it was told knows exactly what is stored.
    Notified,
    /// `HasSynced` waits until the first list was popped, and a handler's own until it was told of it.
    Synced,
    /// When the queue's `HasSynced` turns true, the first list is in the store.
    Early,
    /// Nobody writes into the objects that all share.
    Shared,
    /// No two workers have the same key.
    Work,
}

impl Invariant {
    /// All, in the order in which data runs.
    pub const ALL: [Self; 12] = [
        Self::Past,
        Self::Lost,
        Self::Queue,
        Self::Lock,
        Self::Index,
        Self::Back,
        Self::Synced,
        Self::Early,
        Self::Order,
        Self::Notified,
        Self::Shared,
        Self::Work,
    ];

    /// Its stable name.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Queue => "queue",
            Self::Lock => "lock",
            Self::Past => "past",
            Self::Back => "back",
            Self::Lost => "lost",
            Self::Order => "order",
            Self::Notified => "told",
            Self::Synced => "synced",
            Self::Early => "early",
            Self::Shared => "shared",
            Self::Work => "work",
        }
    }

    /// Whether there is something to watch in a program of this shape.
    #[must_use]
    pub fn applies(self, start: &Picture) -> bool {
        let informer = matches!(start.informer, InformerKind::Plain | InformerKind::Shared);
        let by_hand = start.informer == InformerKind::Manual;
        // A FIFO keeps neither Deltas nor deletes: what is asked of those is nothing for it.
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

    /// Whether this generation is known to break it.
    #[must_use]
    pub fn is_known(self, of: Generation, what: &ViolationKind) -> bool {
        match self {
            // The count goes down before what was popped is processed; 1.36 counts afterwards.
            Self::Early => of != Generation::Atomic,
            // A queue without KnownObjects drops it; every informer's queue has them.
            Self::Lost => matches!(what, ViolationKind::DeleteDropped),
            // Objects are shared in all of them, and only the mutation detector looks.
            Self::Shared => true,
            // A RealFIFO queues the delete of an unknown object, and a list that is opened at once looks
            // each of its objects up in the old store.
            Self::Order => match what {
                ViolationKind::NotAddedBefore => of != Generation::Classic,
                ViolationKind::AddedTwice => of == Generation::Atomic,
                _ => false,
            },
            _ => false,
        }
    }
}

/// What a violation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// A stored key stands under no value of this index, or under several.
    IndexCount(Arc<str>, u32),
    /// This index names a key that is not stored.
    IndexDangling(Arc<str>),
    /// A key is queued and has no deltas, or has deltas and is not queued.
    QueueUneven,
    /// So many were taken; so many had been put in.
    QueueCount(u32, u32),
    /// The lock was taken though somebody has it, or given back by somebody else.
    LockStolen(Actor),
    /// The queue was changed by somebody who does not hold its lock.
    Unlocked(Actor),
    /// The store got a version that the server never had.
    NeverExisted(Rv),
    /// From this version to an older one.
    WentBack(Rv, Rv),
    /// A delete was dropped though the consumer knows the object.
    DeleteDropped,
    /// All is quiet, and the server has something else: its version there and here, empty where there is
    /// none.
    Differs {
        /// On the server.
        server: Rv,
        /// In the store, or as the handler knows it.
        here: Rv,
    },
    /// A handler was told something else than what it was sent next.
    Overtaken,
    /// `OnAdd` of what it knows.
    AddedTwice,
    /// `OnUpdate` or `OnDelete` of what it does not know.
    NotAddedBefore,
    /// Synced while so many of the first list were not dealt with.
    TooEarly(u32),
    /// Who wrote: the number of a handler; none where only the detector noticed.
    Written,
    /// This worker has it already.
    TwoWorkers(u8),
}

/// The first violation of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub monitor: Invariant,
    /// After so many facts it is there.
    pub at: usize,
    /// When, in virtual ms.
    pub time: Time,
    /// Of which key, where it is about one.
    pub key: Option<Key>,
    /// Of which handler, where it is about one.
    pub handler: Option<u8>,
    /// What.
    pub what: ViolationKind,
    /// The generation of the run is known to do so.
    pub known: bool,
}

/// All monitors along one run.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    applies: Vec<Invariant>,
    generation: Generation,
    state: State,
    /// Earlier states, to go on from when the run is cut.
    kept: Vec<State>,
    found: Vec<Violation>,
    /// Of those, the ones that were found at rest: where the run goes on otherwise from there, they may
    /// not be there.
    at_rest: Vec<Invariant>,
}

impl Invariants {
    /// Those of a run, as far as it is known.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut monitors = Self::begin(timeline);
        monitors.go_on(timeline);
        monitors
    }

    /// Those of a run before its first fact.
    #[must_use]
    pub fn begin(timeline: &Timeline) -> Self {
        Self::new(&timeline.picture(0), timeline.scenario().settings.by_type)
    }

    /// Those of a run that begins so, before its first fact; `by_type`: its process function goes by the
    /// delta's type alone.
    #[must_use]
    pub fn new(start: &Picture, by_type: bool) -> Self {
        let state = State::begin(start, by_type);
        Self {
            applies: Invariant::ALL
                .into_iter()
                .filter(|monitor| monitor.applies(start))
                .collect(),
            generation: start.generation,
            kept: vec![state.clone()],
            state,
            found: Vec::new(),
            at_rest: Vec::new(),
        }
    }

    /// Looks at what is new.
    pub fn go_on(&mut self, timeline: &Timeline) {
        self.go_on_to(timeline, timeline.len());
        self.thin(timeline);
        // Nothing more comes by itself.
        if !timeline.is_endless() && !timeline.is_full() && !timeline.is_live() {
            self.end();
        }
    }

    /// Looks through what is new, up to so many facts; that a run is over it does not notice.
    pub fn go_on_to(&mut self, timeline: &Timeline, end: usize) {
        let range = self.state.seen..end;
        timeline.each::<()>(range, &mut |place, record| {
            self.see(place, record);
            ControlFlow::Continue(())
        });
    }

    /// Keeps no more earlier states than the run has checkpoints.
    pub fn thin(&mut self, timeline: &Timeline) {
        timeline.thin_along(&mut self.kept, |state| state.seen);
    }

    /// Forgets what came after so many facts: the run was cut there.
    pub fn cut(&mut self, at: usize) {
        if at < self.state.seen {
            let kept = self.kept.partition_point(|state| state.seen <= at).max(1);
            self.kept.truncate(kept);
            if let Some(state) = self.kept.last() {
                self.state = state.clone();
            }
        }
        // Whether anything rests after the last fact, only what comes next tells.
        let (seen, at_rest) = (self.state.seen, &self.at_rest);
        self.found.retain(|found| {
            found.at < seen || found.at == seen && !at_rest.contains(&found.monitor)
        });
        let found = &self.found;
        self.at_rest
            .retain(|monitor| found.iter().any(|found| found.monitor == *monitor));
    }

    /// Forgets the first so many facts of the run; what is left begins at 0 again.
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

    /// The first violation of each monitor, in the order of the run.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.found
    }

    /// The monitors that have something to watch here.
    #[must_use]
    pub fn applying(&self) -> &[Invariant] {
        &self.applies
    }

    /// Looks at the next fact.
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

    /// Looks at what is at rest: at the end of the run, as at that of each virtual ms.
    pub fn end(&mut self) {
        let mut broken = Broken::default();
        self.state.rest(&mut broken);
        let before = self.found.len();
        self.note(broken);
        let new = self.found.iter().skip(before);
        self.at_rest.extend(new.map(|found| found.monitor));
    }

    fn note(&mut self, broken: Broken) {
        for (monitor, key, handler, what) in broken.0 {
            let first = self.found.iter().all(|found| found.monitor != monitor);
            if first && self.applies.contains(&monitor) {
                self.found.push(Violation {
                    monitor,
                    at: self.state.seen,
                    time: self.state.time,
                    key,
                    handler,
                    known: monitor.is_known(self.generation, &what),
                    what,
                });
            }
        }
    }
}

/// Whether one version comes before the other. They can be compared from Kubernetes 1.35 on: as decimal
/// numbers; what is none has no order.
#[must_use]
pub fn is_older(one: &str, other: &str) -> bool {
    let number = |rv: &str| {
        let digits = !rv.is_empty() && rv.bytes().all(|byte| byte.is_ascii_digit());
        digits && (!rv.starts_with('0') || rv == "0")
    };
    let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
    number(one) && number(other) && order == Ordering::Less
}

impl Picture {
    fn machinery_is_informer(&self) -> bool {
        matches!(self.informer, InformerKind::Plain | InformerKind::Shared)
    }
}

#[cfg(test)]
mod tests;
