//! A run as a line that can be walked in both directions, and changed.
//!
//! Ground truth is the scenario and the inputs. Facts are what follows from them; pictures are a
//! fold of facts. Going back is a checkpoint and a short fold. An input at an earlier moment drops
//! the facts (and the inputs of the user) after it, and the future is computed anew: what the
//! script of the scenario still holds happens as it would.
//!
//! The line is cut into segments, each with a checkpoint at its start. The facts of old segments are
//! dropped and computed again when they are looked at; so a run may be long and its memory bounded.
//! Clones share what they have in common, which is what makes a fork cheap.

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

use play::{Inputs, give, go_on};
pub use play::{is_told, renumber};
use segments::gap_after;

/// A segment has so many facts, or (a heavy world) twice as many as there are things in its picture:
/// so the checkpoints weigh no more than the facts, and no seek computes more than it shows.
pub const SEGMENT: usize = 2048;
/// So many pictures are kept within the segment that is looked at: a step back folds what lies
/// between two of them.
const WITHIN: usize = 8;
/// One picture more is kept so many facts before the one that was asked for: who goes back one goes back
/// another.
const BACK: usize = 256;
/// The facts of at most so many are kept: about 75 MB of them. Older ones are computed again.
pub const FACTS_KEPT: usize = 300_000;
/// How many checkpoints there are at the most: those of some 1,200,000 facts.
const CHECKPOINTS: usize = 600;
/// A run that nobody looks at has this part of them: there may be sixteen.
const RESTING: usize = 8;
/// What they may weigh together, in things: about 160 MB with their worlds.
const CHECKPOINTS_WEIGH: usize = 800_000;
/// How many facts a run has at the most: what is found along it stays, and at so many the page has
/// come to some 300 MB.
pub const MAX_FACTS: usize = 3_000_000;
/// So long before the rest of a run, whose beginning was forgotten, its first watch was opened.
const SETTLED_MS: Time = 2_000;
/// So many of its first events come at once: what comes at once is a line of a trace.
const AT_ONCE: usize = 100;
/// How many facts an endless run is ahead of the cursor.
pub const AHEAD: usize = 40;
/// An input costs as much as so many facts, …
const EACH_INPUT: usize = 4;
/// … and a fact as much as to look at so many.
pub const SEEN: usize = 8;

/// One run.
#[derive(Clone)]
pub struct Timeline {
    scenario: Arc<Scenario>,
    world: World<AnySource>,
    /// At least one.
    segments: Vec<Segment>,
    /// How long the last one gets.
    gap: usize,
    /// The inputs of the user.
    inputs: Vec<RecordedInput>,
    /// How many of them the world has taken.
    taken: usize,
    /// Nothing can happen any more without an input.
    over: bool,
    /// What was computed to be looked at.
    looked_at: RefCell<Vec<LookedAt>>,
    /// Facts before this one lie behind fewer checkpoints.
    thinned: usize,
    most: usize,
    /// What all facts hold beside themselves, in bytes, …
    held: usize,
    /// … and what they may.
    may_hold: Holds,
    checkpoints: usize,
    /// A live run has come to this moment; what comes after it nobody knows yet.
    live: Option<Time>,
    /// So many facts, and inputs, came before what is kept.
    forgotten: u64,
    forgotten_inputs: usize,
    /// Of the forgotten inputs those that no cluster told.
    by_hand: Vec<RecordedInput>,
    /// What the inputs of a live run weigh, each, …
    weights: VecDeque<usize>,
    /// … and together, in bytes.
    weight: usize,
}

#[derive(Clone)]
struct Segment {
    /// How many facts come before it.
    from: usize,
    start: Arc<Checkpoint>,
    /// Its facts, unless they were dropped; the last one's never are.
    facts: Option<Arc<Vec<FactRecord>>>,
    /// What they hold beside themselves, in bytes.
    holds: usize,
}

/// What facts may hold beside themselves, in bytes.
#[derive(Clone, Copy)]
struct Holds {
    /// Those of a segment, …
    segment: usize,
    /// … all that are kept, …
    kept: usize,
    /// … and all of a run.
    run: usize,
}

struct Checkpoint {
    world: World<AnySource>,
    /// The time of the last fact.
    time: Time,
    taken: usize,
    picture: Picture,
}

/// A segment that is looked at.
#[derive(Clone, Debug, Default)]
struct LookedAt {
    from: usize,
    /// Its facts, where they had been dropped.
    facts: Option<Arc<Vec<FactRecord>>>,
    /// Pictures within it, each with the number of facts before it.
    pictures: Vec<(usize, Arc<Picture>)>,
    /// The one that is kept for going back.
    back: Option<(usize, Arc<Picture>)>,
}

impl LookedAt {
    /// The last picture up to `step`.
    fn nearest(&self, step: usize) -> Option<&(usize, Arc<Picture>)> {
        let kept = self.pictures.iter().chain(&self.back);
        kept.filter(|(at, _)| *at <= step).max_by_key(|(at, _)| *at)
    }
}

/// How many segments are kept ready to be looked at: those around the cursor, and what its causes are in.
const LOOKED_AT: usize = 8;
/// How many facts that had been dropped they may have together; of one alone more.
const LOOKED_AT_FACTS: usize = 60_000;

/// Some facts in a row, to be read.
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
    /// Runs a scenario: to its end, or (an endless one) a little ahead.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let world = scenario.build()?;
        let mut timeline = Self::of(Arc::new(scenario), world, false);
        timeline.extend(AHEAD);
        Ok(timeline)
    }

    /// The same with nothing of it computed yet, and with no more than so many facts.
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

    /// Adds an input to a run that is being played again, after all others: after as many facts as it
    /// came, if that is at its time and `exactly` is asked for, else at the end of its time. Computes
    /// nothing beyond it; false when there is no room for so many facts.
    pub(super) async fn append(
        &mut self,
        taken: &RecordedInput,
        exactly: bool,
        slices: &Slices,
    ) -> bool {
        // The informers beside may have gone on without a fact; computed again, they had not.
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

    /// How many inputs there were, the forgotten ones among them.
    #[must_use]
    pub fn all_inputs(&self) -> usize {
        self.forgotten_inputs + self.inputs.len()
    }

    /// The inputs from this number on, as they came: after as many facts as there were then, the forgotten ones among
    /// them. None where some of these inputs are forgotten.
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

    /// What the inputs of a live run take, about, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// How many facts came before what is kept.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Where the fact with this number is, unless it was forgotten.
    #[must_use]
    pub fn place_of(&self, id: FactId) -> Option<usize> {
        usize::try_from(id.0.checked_sub(self.forgotten)?).ok()
    }

    /// A run in which nothing happens.
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
        timeline.begin_segment(Picture::of(&timeline.world), 0);
        timeline
    }

    /// How many facts are known.
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

    /// Whether more facts come when they are asked for.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        !self.over && !self.is_live() && self.has_room()
    }

    /// Whether more facts may be computed.
    fn has_room(&self) -> bool {
        self.len() < self.most && self.held < self.may_hold.run
    }

    /// Whether the run stopped only because it cannot be longer.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.over && !self.has_room()
    }

    /// From now on there are no more than so many facts, however much room there is.
    pub fn limit(&mut self, most: usize) {
        self.most = most.min(MAX_FACTS);
    }

    /// With room for so many checkpoints and no more.
    #[must_use]
    pub fn with_checkpoints(mut self, most: usize) -> Self {
        self.checkpoints = most;
        self.thin(most);
        self
    }

    /// How many checkpoints there are.
    #[must_use]
    pub fn checkpoints(&self) -> usize {
        self.segments.len()
    }

    /// How many facts there can be.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Before so many facts the checkpoints were thinned: to go there takes longer.
    #[must_use]
    pub fn thinned(&self) -> usize {
        self.thinned
    }

    /// One fact.
    #[must_use]
    pub fn fact(&self, place: usize) -> Option<FactRecord> {
        let (from, facts) = self.segment_at(place)?;
        facts.get(place - from).cloned()
    }

    /// The facts of a range, as far as there are some.
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
            // One segment holds it all: it is lent.
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

    /// All facts. They are copied: for short runs.
    #[must_use]
    pub fn all_facts(&self) -> Facts {
        self.facts(0..self.len())
    }

    /// Shows each fact of a range, with its place, until it has seen enough.
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

    /// The same from the last to the first.
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

    /// How many facts there are up to the end of this moment, among the known ones.
    #[must_use]
    pub fn count_until(&self, time: Time) -> usize {
        let after = self
            .segments
            .partition_point(|s| s.start.world.now() <= time);
        // The clock of a checkpoint may be ahead of its last fact, never behind its next.
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

    /// The time of the last of so many facts.
    #[must_use]
    pub fn time_at(&self, count: usize) -> Time {
        match count.checked_sub(1) {
            Some(place) => self.fact(place).map_or(0, |record| record.time),
            // Where the beginning was forgotten, time had gone by.
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

    /// What the run follows from. Where its beginning was forgotten, it begins with what the cluster had
    /// by then, as its answer to a list.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let scenario = Scenario::clone(&self.scenario);
        let mut inputs = self.prologue();
        let from = inputs.len();
        inputs.extend_from_slice(&self.inputs);
        if let Some(numbering) = self.numbering() {
            for taken in inputs.iter_mut().skip(from) {
                renumber(taken, numbering);
            }
        }
        Recording { scenario, inputs }
    }

    /// What is told later goes on from [`Self::recording`] under these numbers: what a request is called here, and there.
    #[must_use]
    pub fn numbering(&self) -> Option<(u32, u32)> {
        // The request that was open is the first, or (after a list) the second.
        match self.start()?.world.source() {
            AnySource::Live(live) if self.forgotten > 0 => {
                Some((live.request(), if self.streams() { 1 } else { 2 }))
            }
            _ => None,
        }
    }

    /// The number, in [`Self::recording`], of the input that this run counts so; none where it was
    /// forgotten.
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

    /// Makes sure that `wanted` facts are known, if there are so many; a run that ends by itself is
    /// computed to its end.
    pub fn extend(&mut self, wanted: usize) {
        at_once(self.extend_slowly(wanted, &Slices::whole()));
    }

    /// The same as [`Self::extend`] in slices.
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

    /// Looks through the facts of a range in slices, until one has what is looked for.
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

    /// One micro-step, if its moment has come.
    fn step(&mut self) -> bool {
        self.world.step_within(self.live.unwrap_or(Time::MAX))
    }

    /// Makes sure that all facts up to the end of this moment are known, and says how many they are.
    pub fn extend_past(&mut self, time: Time) -> usize {
        at_once(self.extend_past_slowly(time, &Slices::whole()))
    }

    /// The same in slices.
    pub async fn extend_past_slowly(&mut self, time: Time, slices: &Slices) -> usize {
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

    /// The state after `step` facts.
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
        let (mut at, mut picture) = match looked_at.nearest(step) {
            Some((at, picture)) => (*at, Picture::clone(picture)),
            None => (from, segment.start.picture.clone()),
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
                // A thinned segment has more places for them: the nearest stay.
                if looked_at.pictures.len() > WITHIN {
                    looked_at.pictures.remove(0);
                }
            }
        }
        self.looked(looked_at);
        picture
    }

    /// The last place up to `step` from which a picture can be had without a fold.
    #[must_use]
    pub fn nearest(&self, step: usize) -> usize {
        let number = self.segment_of(step.min(self.len()).saturating_sub(1));
        let from = self.segments.get(number).map_or(0, |segment| segment.from);
        let cache = self.looked_at.borrow();
        let looked_at = cache.iter().find(|one| one.from == from);
        let kept = looked_at.and_then(|one| one.nearest(step));
        kept.map_or(from, |(at, _)| *at)
    }

    /// Whether the facts of a range are at hand: none of them would have to be computed again.
    #[must_use]
    pub fn has_facts(&self, range: Range<usize>) -> bool {
        let numbers = self.segment_of(range.start)..=self.segment_of(range.end);
        let segments = self.segments.get(numbers).unwrap_or_default();
        segments.iter().all(|segment| segment.facts.is_some())
    }

    /// Adds the facts of a range to the picture of its start.
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

    /// Puts an input right after `step` facts (or as soon after them as a micro-step ends), drops
    /// what came later, computes the future anew, and answers where the input has shown.
    pub fn insert(&mut self, step: usize, input: Input<Command>) -> usize {
        // What a cluster told later it would have told all the same.
        let later = self.told_after(step);
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
            // The input showed nothing by itself, so the first thing that follows from it does.
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

    /// What a cluster has told after so many facts.
    fn told_after(&self, step: usize) -> Vec<RecordedInput> {
        let later = self.inputs.iter().filter(|taken| taken.after >= step);
        let is_told = |taken: &&RecordedInput| is_told(&taken.input);
        // At the end of the run it came before what is put in.
        if step < self.len() {
            later.filter(is_told).cloned().collect()
        } else {
            Vec::new()
        }
    }

    /// Forgets what the user did after so many facts, and what followed from it.
    pub fn forget_after(&mut self, step: usize) {
        if self.has_inputs_after(step) {
            self.rewind(step);
            self.extend(self.len() + AHEAD);
        }
    }

    /// Whether the user did something after so many facts.
    #[must_use]
    pub fn has_inputs_after(&self, step: usize) -> bool {
        let later = |taken: &RecordedInput| taken.after >= step && !is_told(&taken.input);
        step < self.len() && self.inputs.iter().any(later)
    }

    /// Back to the first moment at or after `step` facts at which an input can come in.
    fn rewind(&mut self, step: usize) {
        let step = step.min(self.len());
        let at_end = step == self.len();
        // Where a run is over, its world has gone on to what states no fact: an input has to find it
        // as it finds it when the run is computed again.
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

    /// The time of the last fact.
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
