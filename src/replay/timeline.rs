//! A run as a timeline that can be walked in both directions, and changed.
//!
//! The scenario and the inputs are the ground truth. Facts follow from them, and pictures are a fold of
//! facts. Going back takes a checkpoint and a short fold. An input in the past drops the facts (and the
//! user's inputs) after it, and the future is recomputed: later entries of the scenario's script still take
//! effect.
//!
//! The timeline is divided into segments, each with a checkpoint at its start. The facts of old segments are
//! dropped and recomputed on demand, so a long run needs limited memory. Clones share their common part,
//! which makes a fork cheap.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Deref, Range};
use std::sync::Arc;

use deltascope_cache::fact::{FactId, FactRecord};
use deltascope_world::Time;
use deltascope_world::bounds::{FACTS_HOLD, RUN_HOLDS, SEGMENT_HOLDS};
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::{Input, World};

use super::picture::Picture;
use super::recording::{RecordedInput, Recording};

mod live;
mod play;
mod segments;

pub use live::beginning;
use play::{Inputs, give, go_on};
pub use play::{Numbering, is_response};
use segments::gap_after;

/// The facts of a segment; for a large picture twice its weight instead. So the checkpoints weigh no more
/// than the facts, and no seek computes more than it shows.
pub const SEGMENT: usize = 2048;
/// The most pictures kept within the segment in use: a step back folds only the facts between two of them.
const WITHIN: usize = 8;
/// Another picture is kept this many facts before the requested one: a user who steps back once often steps
/// back again.
const BACK: usize = 256;
/// The most facts kept, about 75 MB. Older ones are recomputed.
pub const FACTS_KEPT: usize = 300_000;
/// The most checkpoints: those of some 1,200,000 facts.
const CHECKPOINTS: usize = 600;
/// A run in the background keeps one in this many of its checkpoints: there may be sixteen runs.
const RESTING: usize = 8;
/// The total weight of the checkpoints: about 160 MB with their worlds.
const CHECKPOINTS_WEIGH: usize = 800_000;
/// The most facts of a run: results found along it are kept, and at this number the page uses some 300 MB.
pub const MAX_FACTS: usize = 3_000_000;
/// If the beginning of a run was forgotten, the first watch of the rest opened this long before it, in ms.
const SETTLED_MS: Time = 2_000;
/// How many of its first events come in one input, which is one line of a trace.
const AT_ONCE: usize = 100;
/// How many facts an endless run is computed ahead of the cursor.
pub const AHEAD: usize = 40;
/// The picture near the end of the run follows it in pieces of at least this many facts, …
const EDGE: usize = 256;
/// … and stays this far behind it, before a cursor that a run is computed for.
const BEHIND_EDGE: usize = 2 * AHEAD;
/// A step of a live run whose facts hold this many bytes costs as much as a fact more.
const HOLDS_COSTS: usize = 1024;
/// The cost of an input, in facts, …
const EACH_INPUT: usize = 4;
/// … and the number of facts that are scanned at the cost of computing one.
pub const SEEN: usize = 8;

/// A run.
#[derive(Clone)]
pub struct Timeline {
    scenario: Arc<Scenario>,
    world: World<AnySource>,
    /// Never empty.
    segments: Vec<Segment>,
    /// The length of the last segment before the next one begins, in facts.
    gap: usize,
    /// A picture near the end of the last segment, and the number of that segment's facts before it. So the run's end is
    /// shown at once, however long the segment is, and the next checkpoint costs no long fold.
    edge: (usize, Arc<Picture>),
    /// The inputs of the user.
    inputs: Vec<RecordedInput>,
    /// How many inputs the world has taken.
    taken: usize,
    /// Whether nothing more can happen without an input.
    over: bool,
    /// The segments in use.
    looked_at: RefCell<Vec<LookedAt>>,
    /// Facts before this one have fewer checkpoints.
    thinned: usize,
    most: usize,
    /// The memory that all facts hold in addition to their own size, in bytes, …
    held: usize,
    /// … and its limits.
    may_hold: Holds,
    checkpoints: usize,
    /// The current virtual time of a live run, in ms; its future is not known yet.
    live: Option<Time>,
    /// The number of facts, and of inputs, before the kept ones.
    forgotten: u64,
    forgotten_inputs: usize,
    /// The user's inputs among the forgotten ones, which no cluster sent.
    by_hand: Vec<RecordedInput>,
    /// The weight of each input of a live run, …
    weights: VecDeque<usize>,
    /// … and their total, in bytes.
    weight: usize,
}

#[derive(Clone)]
struct Segment {
    /// The number of facts before the segment.
    from: usize,
    start: Arc<Checkpoint>,
    /// The facts, unless they were dropped; those of the last segment never are.
    facts: Option<Arc<Vec<FactRecord>>>,
    /// The memory that the facts hold in addition to their own size, in bytes.
    holds: usize,
}

/// Limits on the memory that facts hold in addition to their own size, in bytes.
#[derive(Clone, Copy)]
struct Holds {
    /// For one segment, …
    segment: usize,
    /// … for all kept facts, …
    kept: usize,
    /// … and for all facts of a run.
    run: usize,
}

struct Checkpoint {
    world: World<AnySource>,
    /// The virtual time of the last fact, in ms.
    time: Time,
    taken: usize,
    picture: Arc<Picture>,
}

/// A segment in use.
#[derive(Clone, Debug, Default)]
struct LookedAt {
    from: usize,
    /// The recomputed facts, if they had been dropped.
    facts: Option<Arc<Vec<FactRecord>>>,
    /// Pictures within the segment, each with the number of facts before it.
    pictures: Vec<(usize, Arc<Picture>)>,
    /// The picture kept for a further step back.
    back: Option<(usize, Arc<Picture>)>,
}

impl LookedAt {
    /// The last picture at or before `step`.
    fn nearest(&self, step: usize) -> Option<&(usize, Arc<Picture>)> {
        let kept = self.pictures.iter().chain(&self.back);
        kept.filter(|(at, _)| *at <= step).max_by_key(|(at, _)| *at)
    }
}

/// How many segments are kept in use: those around the cursor, and those of its causes.
const LOOKED_AT: usize = 8;
/// The most recomputed facts that they may have together; a single segment may have more.
const LOOKED_AT_FACTS: usize = 60_000;

/// A range of consecutive facts.
#[derive(Clone, Debug)]
pub struct Facts {
    facts: Arc<Vec<FactRecord>>,
    range: Range<usize>,
}

impl Deref for Facts {
    type Target = [FactRecord];

    fn deref(&self) -> &[FactRecord] {
        self.facts.get(self.range.clone()).unwrap_or_default()
    }
}

impl Timeline {
    /// Runs a scenario: to its end, or an endless one a little ahead.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let world = scenario.build()?;
        let mut timeline = Self::of(Arc::new(scenario), world, false);
        timeline.extend(AHEAD);
        Ok(timeline)
    }

    /// A timeline of at most `most` facts, of which none is computed yet.
    pub(super) async fn begin(
        scenario: Scenario,
        most: usize,
        slices: &Slices,
    ) -> Result<Self, String> {
        let world = scenario.build_slowly(slices).await?;
        let mut timeline = Self::of(Arc::new(scenario), world, false);
        timeline.limit(most);
        Ok(timeline)
    }

    /// Adds an input to a run that is being replayed, after all other inputs. With `exactly` it comes after
    /// `taken.after` facts, if that position is at its time; else at the end of its time. Computes nothing
    /// beyond it; false when the run is too long.
    pub(super) async fn append(
        &mut self,
        taken: &RecordedInput,
        exactly: bool,
        slices: &Slices,
    ) -> bool {
        // The peer informers may have advanced without a fact; in a recomputed run they have not.
        if self.over && self.world.is_ahead() && !self.scenario.beside.is_empty() {
            self.rewind(self.len());
        }
        let is_there = |timeline: &Self| {
            exactly && timeline.len() == taken.after && timeline.last_time() == taken.at
        };
        while !is_there(self) {
            if !self.has_room() {
                return false;
            }
            let known = self.len();
            if !self.world.step_within(taken.at) {
                break;
            }
            self.collect();
            slices.spend(self.len() - known).await;
        }
        let taken = RecordedInput {
            after: self.len(),
            at: taken.at.max(self.last_time()),
            input: taken.input.clone(),
        };
        let time = self.last_time();
        give(&mut self.world, &taken, time);
        self.inputs.push(taken);
        self.taken = self.all_inputs();
        self.over = false;
        let known = self.len();
        self.collect();
        slices.spend(EACH_INPUT + self.len() - known).await;
        true
    }

    /// The number of inputs, including the forgotten ones.
    #[must_use]
    pub fn all_inputs(&self) -> usize {
        self.forgotten_inputs + self.inputs.len()
    }

    /// The original inputs from this number on; `after` counts the forgotten facts, too. `None` if some of
    /// these inputs are forgotten.
    pub fn inputs_since(&self, number: usize) -> Option<impl Iterator<Item = RecordedInput>> {
        let from = number.checked_sub(self.forgotten_inputs)?;
        let forgotten = usize::try_from(self.forgotten).unwrap_or(usize::MAX);
        Some(
            self.inputs
                .iter()
                .skip(from)
                .map(move |taken| RecordedInput {
                    after: taken.after.saturating_add(forgotten),
                    ..taken.clone()
                }),
        )
    }

    /// The estimated memory of a live run's inputs, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// The number of facts before the kept ones.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The index of the fact with this number, unless it is forgotten.
    #[must_use]
    pub fn place_of(&self, id: FactId) -> Option<usize> {
        usize::try_from(id.0.checked_sub(self.forgotten)?).ok()
    }

    /// A run without any events.
    #[must_use]
    pub fn empty() -> Self {
        let scenario = Scenario::default();
        let world = scenario.empty_world();
        Self::of(Arc::new(scenario), world, true)
    }

    fn of(scenario: Arc<Scenario>, world: World<AnySource>, over: bool) -> Self {
        let mut timeline = Self {
            scenario,
            segments: Vec::new(),
            gap: SEGMENT,
            edge: (0, Arc::default()),
            inputs: Vec::new(),
            taken: 0,
            over,
            looked_at: RefCell::default(),
            thinned: 0,
            most: MAX_FACTS,
            held: 0,
            may_hold: Holds {
                segment: SEGMENT_HOLDS,
                kept: FACTS_HOLD,
                run: RUN_HOLDS,
            },
            checkpoints: CHECKPOINTS,
            live: None,
            forgotten: 0,
            forgotten_inputs: 0,
            by_hand: Vec::new(),
            weights: VecDeque::new(),
            weight: 0,
            world,
        };
        timeline.begin_segment(Arc::new(Picture::start(&timeline.world)), 0);
        timeline
    }

    /// The number of known facts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.last().map_or(0, |last| {
            last.from + last.facts.as_ref().map_or(0, |facts| facts.len())
        })
    }

    /// Whether nothing has happened and nothing will.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether more facts can be computed on demand.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        !self.over && !self.is_live() && self.has_room()
    }

    /// Whether the limits allow more facts.
    fn has_room(&self) -> bool {
        self.len() < self.most && self.held < self.may_hold.run
    }

    /// Whether the run has ended: nothing more is due in it. One that stopped at a limit goes on.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over && !self.is_live()
    }

    /// Whether the run stopped only because of a limit.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.over && !self.has_room()
    }

    /// Limits the number of facts to `most`, at most [`MAX_FACTS`].
    pub fn limit(&mut self, most: usize) {
        self.most = most.min(MAX_FACTS);
    }

    /// Limits the number of checkpoints.
    #[must_use]
    pub fn with_checkpoints(mut self, most: usize) -> Self {
        self.checkpoints = most;
        self.thin(most);
        self
    }

    /// The number of checkpoints.
    #[must_use]
    pub fn checkpoints(&self) -> usize {
        self.segments.len()
    }

    /// The most facts that the run can have.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// The number of facts with thinned-out checkpoints: seeking before it takes longer.
    #[must_use]
    pub fn thinned(&self) -> usize {
        self.thinned
    }

    /// The fact at this index.
    #[must_use]
    pub fn fact(&self, place: usize) -> Option<FactRecord> {
        let (from, facts) = self.segment_at(place)?;
        facts.get(place - from).cloned()
    }

    /// The existing facts of a range.
    #[must_use]
    pub fn facts(&self, range: Range<usize>) -> Facts {
        let mut all = Vec::new();
        let mut place = range.start;
        let end = range.end.min(self.len());
        while place < end {
            let Some((from, facts)) = self.segment_at(place) else {
                break;
            };
            let until = (end - from).min(facts.len());
            // One segment holds the whole range, so its facts are shared.
            if all.is_empty() && from + until == end {
                let range = place - from..until;
                return Facts { facts, range };
            }
            all.extend_from_slice(facts.get(place - from..until).unwrap_or_default());
            if until == 0 || from + until <= place {
                break;
            }
            place = from + until;
        }
        let range = 0..all.len();
        Facts {
            facts: Arc::new(all),
            range,
        }
    }

    /// All facts. This copies them, so it suits only short runs.
    #[must_use]
    pub fn all_facts(&self) -> Facts {
        self.facts(0..self.len())
    }

    /// Calls `seen` for each fact of a range, with its index, until it breaks.
    pub fn each<B>(
        &self,
        range: Range<usize>,
        seen: &mut dyn FnMut(usize, &FactRecord) -> ControlFlow<B>,
    ) -> Option<B> {
        let end = range.end.min(self.len());
        let mut place = range.start;
        while place < end {
            let (from, facts) = self.segment_at(place)?;
            for (within, record) in facts.iter().enumerate().skip(place - from) {
                if from + within >= end {
                    return None;
                }
                if let ControlFlow::Break(found) = seen(from + within, record) {
                    return Some(found);
                }
            }
            place = from + facts.len().max(1);
        }
        None
    }

    /// Like [`Self::each`], from the last fact to the first.
    pub fn each_back<B>(
        &self,
        range: Range<usize>,
        seen: &mut dyn FnMut(usize, &FactRecord) -> ControlFlow<B>,
    ) -> Option<B> {
        let mut end = range.end.min(self.len());
        while end > range.start {
            let (from, facts) = self.segment_at(end - 1)?;
            let first = range.start.max(from);
            let part = facts.get(first - from..end - from).unwrap_or_default();
            for (within, record) in part.iter().enumerate().rev() {
                if let ControlFlow::Break(found) = seen(first + within, record) {
                    return Some(found);
                }
            }
            end = first;
        }
        None
    }

    /// The number of known facts up to and including this virtual time.
    #[must_use]
    pub fn count_until(&self, time: Time) -> usize {
        let after = self
            .segments
            .partition_point(|s| s.start.world.now() <= time);
        // A checkpoint's clock may be ahead of its last fact, but never behind the next one.
        for segment in self.segments.get(..after).unwrap_or_default().iter().rev() {
            let Some((from, facts)) = self.segment_at(segment.from) else {
                continue;
            };
            let within = facts.partition_point(|record| record.time <= time);
            if within > 0 || from == 0 {
                return from + within;
            }
        }
        0
    }

    /// The number of known facts before this virtual time.
    #[must_use]
    pub fn count_before(&self, time: Time) -> usize {
        let before = time.checked_sub(1);
        before.map_or(0, |before| self.count_until(before))
    }

    /// The virtual time of the last of `count` facts, in ms.
    #[must_use]
    pub fn time_at(&self, count: usize) -> Time {
        match count.checked_sub(1) {
            Some(place) => self.fact(place).map_or(0, |record| record.time),
            // A forgotten beginning has taken time.
            None => self.start().map_or(0, |start| start.time),
        }
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The inputs of the user.
    #[must_use]
    pub fn inputs(&self) -> &[RecordedInput] {
        &self.inputs
    }

    /// The recording that reproduces the run. If the beginning was forgotten, it begins with the cluster's
    /// objects at that time, as the answer to a list.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let scenario = Scenario::clone(&self.scenario);
        let mut inputs = self.prologue();
        let from = inputs.len();
        inputs.extend_from_slice(&self.inputs);
        if let Some(numbering) = self.numbering() {
            for taken in inputs.iter_mut().skip(from) {
                numbering.input(taken);
            }
        }
        Recording { scenario, inputs }
    }

    /// The renumbering of requests for inputs that continue [`Self::recording`].
    #[must_use]
    pub fn numbering(&self) -> Option<Numbering> {
        match self.start()?.world.source() {
            AnySource::Live(live) if self.forgotten > 0 => Some(Numbering {
                was: live.request(),
                is: Numbering::first_watch(self.streams()),
            }),
            _ => None,
        }
    }

    /// The number that an input of this run has in [`Self::recording`]; `None` if it was forgotten.
    #[must_use]
    pub fn recorded_input(&self, number: u32) -> Option<u32> {
        let kept = (number as usize).checked_sub(self.forgotten_inputs)?;
        u32::try_from(kept + self.prologue().len()).ok()
    }

    fn start(&self) -> Option<&Checkpoint> {
        self.segments.first().map(|first| &*first.start)
    }

    fn streams(&self) -> bool {
        self.scenario.settings.streams()
    }

    /// Computes up to `wanted` facts; a run that ends by itself is computed to its end.
    pub fn extend(&mut self, wanted: usize) {
        at_once(self.extend_slowly(wanted, &Slices::whole()));
    }

    /// Like [`Self::extend`], in slices.
    pub async fn extend_slowly(&mut self, wanted: usize, slices: &Slices) {
        let wanted = if self.scenario.is_endless() {
            wanted.min(self.most)
        } else {
            self.most
        };
        while self.len() < wanted && self.is_endless() {
            let known = self.len();
            self.over = !self.step();
            self.collect();
            slices.spend((self.len() - known).max(1)).await;
        }
    }

    /// Searches the facts of a range in slices, until `seen` breaks.
    pub async fn search<B>(
        &self,
        range: Range<usize>,
        slices: &Slices,
        seen: &mut dyn FnMut(usize, &FactRecord) -> ControlFlow<B>,
    ) -> Option<B> {
        let mut from = range.start;
        while from < range.end {
            let until = self.ready(from, slices).await;
            let until = range.end.min(from + SEGMENT).min(until.max(from + 1));
            let found = self.each(from..until, seen);
            if found.is_some() {
                return found;
            }
            slices.spend((until - from) / SEEN).await;
            from = until;
        }
        None
    }

    /// One micro-step, unless it is in a live run's future.
    fn step(&mut self) -> bool {
        self.world.step_within(self.live.unwrap_or(Time::MAX))
    }

    /// Computes all facts up to and including this virtual time, and returns their number.
    pub fn extend_past(&mut self, time: Time) -> usize {
        at_once(self.extend_past_slowly(time, &Slices::whole()))
    }

    /// Like [`Self::extend_past`], in slices.
    pub(crate) async fn extend_past_slowly(&mut self, time: Time, slices: &Slices) -> usize {
        while self.is_endless() && (self.is_empty() || self.time_at(self.len()) <= time) {
            self.extend_slowly(self.len() + AHEAD, slices).await;
        }
        let after = self
            .segments
            .partition_point(|segment| segment.start.world.now() <= time);
        if let Some(segment) = self.segments.get(after.saturating_sub(1)) {
            self.ready(segment.from, slices).await;
        }
        self.count_until(time)
    }

    /// The picture after `step` facts.
    #[must_use]
    pub fn picture(&self, step: usize) -> Picture {
        let step = step.min(self.len());
        let number = self.segment_of(step.saturating_sub(1));
        let Some(segment) = self.segments.get(number) else {
            return Picture::default();
        };
        let from = segment.from;
        let gap = gap_after(&segment.start.picture) / WITHIN;
        let mut looked_at = self.look(number);
        let kept = looked_at.nearest(step).map(|(at, kept)| (*at, kept));
        let kept = kept.into_iter().chain(self.edge_at(step));
        let (mut at, mut picture) = match kept.max_by_key(|(at, _)| *at) {
            Some((at, picture)) => (at, Picture::clone(picture)),
            None => (from, Picture::clone(&segment.start.picture)),
        };
        let facts = segment.facts.clone().or_else(|| looked_at.facts.clone());
        let facts = facts.as_deref().map_or(&[][..], Vec::as_slice);
        let back = step.saturating_sub(BACK);
        while at < step {
            let mut next = (((at - from) / gap + 1) * gap + from).min(step);
            if at < back {
                next = next.min(back);
            }
            picture.apply_all(facts.get(at - from..next - from).unwrap_or_default());
            at = next;
            if at == back {
                looked_at.back = Some((at, Arc::new(picture.clone())));
            }
            let known = looked_at.pictures.partition_point(|(of, _)| *of < at);
            if (at - from).is_multiple_of(gap)
                && looked_at
                    .pictures
                    .get(known)
                    .is_none_or(|(of, _)| *of != at)
            {
                let kept = Arc::new(picture.clone());
                looked_at.pictures.insert(known, (at, kept));
                // A merged segment has more positions for pictures; the last ones stay.
                if looked_at.pictures.len() > WITHIN {
                    looked_at.pictures.remove(0);
                }
            }
        }
        self.looked(looked_at);
        picture
    }

    /// The last position at or before `step` whose picture needs no fold.
    #[must_use]
    pub fn nearest(&self, step: usize) -> usize {
        let number = self.segment_of(step.min(self.len()).saturating_sub(1));
        let from = self.segments.get(number).map_or(0, |segment| segment.from);
        let cache = self.looked_at.borrow();
        let looked_at = cache.iter().find(|one| one.from == from);
        let kept = looked_at.and_then(|one| one.nearest(step));
        let edge = self.edge_at(step).map_or(from, |(at, _)| at);
        kept.map_or(from, |(at, _)| *at).max(edge)
    }

    /// The picture near the end of the run and the number of facts before it, if it is at or before `step`.
    fn edge_at(&self, step: usize) -> Option<(usize, &Arc<Picture>)> {
        let (within, picture) = &self.edge;
        let at = self.segments.last()?.from + within;
        (at <= step).then_some((at, picture))
    }

    /// Whether the facts of a range are in memory, so that none has to be recomputed.
    #[must_use]
    pub fn has_facts(&self, range: Range<usize>) -> bool {
        let numbers = self.segment_of(range.start)..=self.segment_of(range.end);
        let segments = self.segments.get(numbers).unwrap_or_default();
        segments.iter().all(|segment| segment.facts.is_some())
    }

    /// Applies the facts of a range to the picture of its start.
    pub fn fold(&self, picture: &mut Picture, range: Range<usize>) {
        let mut place = range.start;
        while place < range.end {
            let Some((from, facts)) = self.segment_at(place) else {
                return;
            };
            let until = range.end.min(from + facts.len());
            let part = facts.get(place - from..until - from).unwrap_or_default();
            if part.is_empty() {
                return;
            }
            picture.apply_all(part);
            place = until;
        }
    }

    /// Inserts an input right after `step` facts (or as soon after them as a micro-step ends), drops what
    /// came later and recomputes the future. Returns the number of facts up to the first effect of the input.
    pub fn insert(&mut self, step: usize, input: Input<Command>) -> usize {
        // A cluster's later responses would have come all the same.
        let later = self.responses_after(step);
        self.rewind(step);
        let after = self.len();
        self.inputs.push(RecordedInput {
            after,
            at: self.time_at(after),
            input: input.clone(),
        });
        self.taken = self.all_inputs();
        self.world.input(input);
        self.collect();
        if self.len() == after {
            // The input stated no fact, so its first effect is the next fact.
            self.over = !self.step();
            self.collect();
        }
        let shown = self.len();
        self.over = false;
        for taken in &later {
            at_once(self.append(taken, false, &Slices::whole()));
        }
        self.extend(shown + AHEAD);
        shown
    }

    /// The responses of a cluster after this many facts.
    fn responses_after(&self, step: usize) -> Vec<RecordedInput> {
        let later = self.inputs.iter().filter(|taken| taken.after >= step);
        let is_response = |taken: &&RecordedInput| is_response(&taken.input);
        // At the end of the run they precede the inserted input.
        if step < self.len() {
            later.filter(is_response).cloned().collect()
        } else {
            Vec::new()
        }
    }

    /// Drops the user's inputs after this many facts, and their effects.
    pub fn forget_after(&mut self, step: usize) {
        if self.has_inputs_after(step) {
            self.rewind(step);
            self.extend(self.len() + AHEAD);
        }
    }

    /// Whether the user made an input after this many facts.
    #[must_use]
    pub fn has_inputs_after(&self, step: usize) -> bool {
        let later = |taken: &RecordedInput| taken.after >= step && !is_response(&taken.input);
        step < self.len() && self.inputs.iter().any(later)
    }

    /// Goes back to the first position at or after `step` facts at which an input can come.
    fn rewind(&mut self, step: usize) {
        let step = step.min(self.len());
        let at_end = step == self.len();
        // The world of a finished run has made micro-steps without facts: an input must find the same world
        // as in a recomputed run.
        if at_end && !self.over {
            return;
        }
        self.inputs.retain(|taken| at_end || taken.after < step);
        let inputs = self.all_inputs();
        let kept = self
            .segments
            .partition_point(|segment| segment.from <= step && segment.start.taken <= inputs);
        self.segments.truncate(kept.max(1));
        self.looked_at.borrow_mut().clear();
        if let Some(last) = self.segments.last_mut() {
            last.facts = Some(Arc::default());
            last.holds = 0;
            self.world = last.start.world.clone();
            self.taken = last.start.taken;
            self.gap = gap_after(&last.start.picture);
            self.edge = (0, Arc::clone(&last.start.picture));
        }
        self.held = self.segments.iter().map(|segment| segment.holds).sum();
        self.thinned = self.thinned.min(self.len());
        self.over = false;
        while self.len() < step || self.taken < inputs {
            let known = self.len();
            let time = self.last_time();
            let before = self.forgotten_inputs;
            let inputs = Inputs {
                all: &self.inputs,
                before,
            };
            if !go_on(&mut self.world, inputs, &mut self.taken, known, time) {
                break;
            }
            self.collect();
        }
    }

    /// The virtual time of the last fact, in ms.
    fn last_time(&self) -> Time {
        let last = self.segments.last();
        let facts = last.and_then(|last| last.facts.as_ref());
        match facts.and_then(|facts| facts.last()) {
            Some(record) => record.time,
            None => self.time_at(self.len()),
        }
    }
}

#[cfg(test)]
mod tests;
