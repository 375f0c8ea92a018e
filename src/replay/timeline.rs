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

use deltascope_cache::fact::{EventType, FactId, FactRecord};
use deltascope_world::Time;
use deltascope_world::bounds::{FACTS_HOLD, RUN_HOLDS, SEGMENT_HOLDS};
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::{Input, World};

use super::picture::Picture;
use super::recording::{RecordedInput, Recording};

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

    /// A run that happens as it is looked at: nothing comes but what is told, and nothing before its time.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn live(scenario: Scenario) -> Result<Self, String> {
        let world = scenario.build()?;
        let mut timeline = Self::of(Arc::new(scenario), world, false);
        timeline.live = Some(0);
        Ok(timeline)
    }

    /// Whether it goes on by itself, as time does.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Nothing more is told; it is a recording from now on.
    pub fn end_live(&mut self) {
        self.live = None;
        self.over = true;
    }

    /// Time has gone by up to `now`: what is due happens, at most so many facts of it. True when that
    /// was all.
    pub fn go_to(&mut self, now: Time, most: usize) -> bool {
        let Some(live) = self.live else {
            return true;
        };
        let now = now.max(live);
        self.live = Some(now);
        let until = self.len().saturating_add(most);
        while self.len() < until {
            if !self.world.step_within(now) {
                return true;
            }
            self.collect();
        }
        false
    }

    /// What comes into a live run now; for when [`Self::go_to`] has said that all has happened.
    pub fn take(&mut self, now: Time, input: Input<Command>) {
        let now = now.max(self.last_time());
        while !self.go_to(now, SEGMENT) {}
        let taken = RecordedInput {
            after: self.len(),
            at: now,
            input,
        };
        let weight = match &taken.input {
            Input::Source(Command::Tell(told)) => told.iter().map(ServerResponse::weight).sum(),
            _ => 0,
        };
        self.weights.push_back(weight);
        self.weight += weight;
        let time = self.last_time();
        give(&mut self.world, &taken, time);
        self.inputs.push(taken);
        self.taken += 1;
        self.collect();
    }

    /// When something happens in a live run by itself.
    #[must_use]
    pub fn next_moment(&self) -> Option<Time> {
        self.live?;
        self.world.next_moment()
    }

    /// Where list and watch come from, at the end of what is known.
    #[must_use]
    pub fn source(&self) -> &AnySource {
        self.world.source()
    }

    /// Forgets the oldest facts, and the inputs behind them, so that about so many are left; what is left
    /// begins at 0 again. Answers how many were forgotten.
    ///
    /// It begins where a watch is open: there a recording can begin.
    pub fn forget(&mut self, left: usize) -> usize {
        let latest = self.len().saturating_sub(left);
        let steady = |segment: &Segment| match segment.start.world.source() {
            AnySource::Live(live) => live.is_steady(),
            _ => false,
        };
        let found = self
            .segments
            .iter()
            .rposition(|segment| segment.from <= latest && steady(segment));
        let Some(number) = found.filter(|number| *number > 0) else {
            return 0;
        };
        self.segments.drain(..number);
        let Some(first) = self.segments.first() else {
            return 0;
        };
        let (gone, inputs) = (first.from, first.start.taken);
        for segment in &mut self.segments {
            segment.from -= gone;
        }
        let count = inputs - self.forgotten_inputs;
        let weights = self.weights.drain(..count.min(self.weights.len()));
        self.weight -= weights.sum::<usize>();
        let forgotten = self.inputs.drain(..count);
        self.by_hand
            .extend(forgotten.filter(|taken| !is_told(&taken.input)));
        for taken in &mut self.inputs {
            taken.after = taken.after.saturating_sub(gone);
        }
        self.forgotten += gone as u64;
        self.held = self.segments.iter().map(|segment| segment.holds).sum();
        self.forgotten_inputs = inputs;
        self.thinned = self.thinned.saturating_sub(gone);
        self.looked_at.borrow_mut().clear();
        gone
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

    /// What stands for all that was forgotten: what the user did, and what the cluster had.
    fn prologue(&self) -> Vec<RecordedInput> {
        let mut prologue = self.by_hand.clone();
        let Some(start) = self.start().filter(|_| self.forgotten > 0) else {
            return prologue;
        };
        let AnySource::Live(live) = start.world.source() else {
            return prologue;
        };
        // A watch that ends within a second without an event would count as a failed one.
        let at = start.time.saturating_sub(SETTLED_MS);
        let rv = live.known().rv();
        let objects = live.objects().map(Arc::clone);
        let told = if self.streams() {
            let event = |object| {
                let event = EventType::Added;
                ResponsePart::Event(RecordedEvent::Object { event, object })
            };
            let end = ResponsePart::Event(RecordedEvent::Bookmark {
                rv: Arc::clone(rv),
                initial_events_end: true,
            });
            let events = objects.map(event).chain([end]);
            let mut told: Vec<ResponsePart> =
                [ResponsePart::Opened].into_iter().chain(events).collect();
            let mut parts = Vec::new();
            while !told.is_empty() {
                let rest = told.split_off(told.len().min(AT_ONCE));
                parts.push((1, std::mem::replace(&mut told, rest)));
            }
            parts
        } else {
            let page = Page {
                rv: Arc::clone(rv),
                items: objects.collect(),
                continue_token: "".into(),
            };
            vec![
                (1, vec![ResponsePart::Page(page)]),
                (2, vec![ResponsePart::Opened]),
            ]
        };
        for (request, told) in told {
            let told: Vec<ResponsePart> = told;
            let tellings = told
                .into_iter()
                .map(|told| ServerResponse { request, told });
            prologue.push(RecordedInput {
                after: usize::MAX,
                at,
                input: Input::Source(Command::Tell(tellings.collect())),
            });
        }
        prologue
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

    fn collect(&mut self) {
        let Some(last) = self.segments.last_mut() else {
            return;
        };
        let facts = last.facts.get_or_insert_default();
        let mut new = self.world.drain();
        let holds: usize = new.iter().map(|record| record.fact.weight()).sum();
        last.holds += holds;
        self.held += holds;
        Arc::make_mut(facts).append(&mut new);
        // Only after a whole micro-step: there the world is what the next segment begins with.
        if facts.len() < self.gap && last.holds < self.may_hold.segment {
            return;
        }
        let mut picture = last.start.picture.clone();
        picture.apply_all(facts);
        let from = last.from + facts.len();
        self.begin_segment(picture, from);
        self.keep_bounds();
    }

    fn begin_segment(&mut self, picture: Picture, from: usize) {
        self.gap = gap_after(&picture);
        let start = Checkpoint {
            world: self.world.clone(),
            time: if from == 0 { 0 } else { self.last_time() },
            taken: self.taken,
            picture,
        };
        self.segments.push(Segment {
            from,
            start: Arc::new(start),
            facts: Some(Arc::default()),
            holds: 0,
        });
    }

    /// Drops what there is too much of, the oldest first.
    fn keep_bounds(&mut self) {
        let (mut kept, mut hold) = (0, 0);
        for segment in self.segments.iter_mut().rev() {
            let Some(facts) = &segment.facts else {
                continue;
            };
            kept += facts.len();
            hold += segment.holds;
            if kept > FACTS_KEPT || hold > self.may_hold.kept {
                segment.facts = None;
            }
        }
        self.thin(self.checkpoints);
    }

    /// Gives back what can be computed again: nobody looks at it for a while.
    pub fn rest(&mut self) {
        let last = self.segments.len().saturating_sub(1);
        for segment in self.segments.iter_mut().take(last) {
            segment.facts = None;
        }
        self.thin(self.checkpoints / RESTING);
        self.looked_at.borrow_mut().clear();
    }

    /// Leaves as many states that were kept along the run as it has checkpoints: of each segment the
    /// earliest. `seen`: how many facts a state comes after.
    pub fn thin_along<S>(&self, kept: &mut Vec<S>, seen: impl Fn(&S) -> usize) {
        if kept.len() <= self.segments.len() {
            return;
        }
        let mut last = None;
        kept.retain(|state| {
            let here = Some(self.segment_of(seen(state)));
            std::mem::replace(&mut last, here) != here
        });
    }

    /// Leaves so many checkpoints.
    fn thin(&mut self, most: usize) {
        let weigh = |segment: &Segment| segment.start.picture.weight();
        let mut weight: usize = self.segments.iter().map(weigh).sum();
        while self.segments.len() > most.max(2) || weight > CHECKPOINTS_WEIGH {
            // Two neighbours become one, the shortest of the older ones, so that all grow alike.
            let old = 1..(self.segments.len() * 3 / 4).max(2);
            let length = |number: &usize| self.len_of(number - 1) + self.len_of(*number);
            let Some(number) = old.min_by_key(length) else {
                return;
            };
            let until = self.segments.get(number + 1).map(|next| next.from);
            // The last one grows, and stays.
            let Some(until) = until else {
                return;
            };
            let shorter = self.segments.remove(number);
            weight -= weigh(&shorter);
            if let Some(longer) = self.segments.get_mut(number - 1) {
                longer.holds += shorter.holds;
                longer.facts = None;
            }
            self.thinned = self.thinned.max(until);
            self.looked_at.borrow_mut().clear();
        }
    }

    /// Which segment has the fact at this place, or would have it.
    fn segment_of(&self, place: usize) -> usize {
        let after = self
            .segments
            .partition_point(|segment| segment.from <= place);
        after.saturating_sub(1)
    }

    fn len_of(&self, number: usize) -> usize {
        let from = self.segments.get(number).map_or(0, |segment| segment.from);
        let next = self.segments.get(number + 1);
        next.map_or_else(|| self.len(), |next| next.from) - from
    }

    /// The segment with the fact at this place: how many facts come before it, and its facts.
    fn segment_at(&self, place: usize) -> Option<(usize, Arc<Vec<FactRecord>>)> {
        let number = self.segment_of(place);
        let segment = self.segments.get(number)?;
        if let Some(facts) = &segment.facts {
            return Some((segment.from, Arc::clone(facts)));
        }
        let looked_at = self.look(number);
        let facts = looked_at.facts.clone();
        self.looked(looked_at);
        Some((segment.from, facts?))
    }

    /// Drops the run in slices: to drop a million facts takes a fifth of a second on the page.
    pub async fn drop_slowly(mut self, slices: &Slices) {
        while let Some(segment) = self.segments.pop() {
            drop(segment);
            slices.spend(SEGMENT / SEEN).await;
        }
    }

    /// Computes the facts of this place's segment again, in slices, where they were dropped. Returns where the
    /// segment ends.
    pub async fn ready(&self, place: usize, slices: &Slices) -> usize {
        let number = self.segment_of(place);
        let Some(segment) = self.segments.get(number) else {
            return self.len();
        };
        if segment.facts.is_none() {
            let one = self.look_slowly(number, slices).await;
            self.looked(one);
        }
        segment.from + self.len_of(number)
    }

    /// A segment made ready to be looked at; to be given back to [`Self::looked`].
    fn look(&self, number: usize) -> LookedAt {
        at_once(self.look_slowly(number, &Slices::whole()))
    }

    async fn look_slowly(&self, number: usize, slices: &Slices) -> LookedAt {
        let Some(segment) = self.segments.get(number) else {
            return LookedAt::default();
        };
        let take = || {
            let mut cache = self.looked_at.borrow_mut();
            let place = cache.iter().position(|one| one.from == segment.from);
            place.map(|place| cache.remove(place))
        };
        let mut one = take().unwrap_or_default();
        one.from = segment.from;
        // They may have been dropped since it was looked at.
        if segment.facts.is_none() && one.facts.is_none() {
            let len = self.len_of(number);
            let mut world = segment.start.world.clone();
            let mut taken = segment.start.taken;
            let mut facts: Vec<FactRecord> = Vec::with_capacity(len);
            while facts.len() < len {
                let time = facts.last().map_or(segment.start.time, |last| last.time);
                let known = facts.len();
                let inputs = Inputs {
                    all: &self.inputs,
                    before: self.forgotten_inputs,
                };
                let place = segment.from + known;
                if !go_on(&mut world, inputs, &mut taken, place, time) {
                    break;
                }
                facts.append(&mut world.drain());
                slices.spend(facts.len() - known).await;
            }
            one.facts = Some(Arc::new(facts));
        }
        one
    }

    fn looked(&self, at: LookedAt) {
        let mut cache = self.looked_at.borrow_mut();
        cache.push(at);
        let facts = |one: &LookedAt| one.facts.as_ref().map_or(0, |facts| facts.len());
        while cache.len() > LOOKED_AT
            || cache.len() > 1 && cache.iter().map(facts).sum::<usize>() > LOOKED_AT_FACTS
        {
            cache.remove(0);
        }
    }
}

/// Whether a cluster told it: nobody did it by hand.
#[must_use]
pub fn is_told(input: &Input<Command>) -> bool {
    matches!(input, Input::Source(Command::Tell(_)))
}

/// An input as it stands in a recording that begins where a watch was open: `was` is what its request is called here, `is`
/// there.
pub fn renumber(taken: &mut RecordedInput, (was, is): (u32, u32)) {
    // It came after other facts than it will.
    taken.after = usize::MAX;
    if let Input::Source(Command::Tell(told)) = &mut taken.input {
        *told = told
            .iter()
            .map(|telling| ServerResponse {
                // What is about an older one was passed over, and will be.
                request: match telling.request.checked_sub(was) {
                    Some(later) => is + later,
                    None => 0,
                },
                told: telling.told.clone(),
            })
            .collect();
    }
}

/// The segment that begins with this has so many facts.
fn gap_after(picture: &Picture) -> usize {
    SEGMENT.max(picture.weight() * 2)
}

/// The inputs that are kept, and how many came before them.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    all: &'a [RecordedInput],
    before: usize,
}

/// Lets a world that has stated so many facts, the last at `time`, take its next input, if that is due,
/// or make its next micro-step; false when there is none.
fn go_on(
    world: &mut World<AnySource>,
    inputs: Inputs<'_>,
    taken: &mut usize,
    known: usize,
    time: Time,
) -> bool {
    let next = taken.checked_sub(inputs.before);
    match next.and_then(|next| inputs.all.get(next)) {
        Some(next) if next.after == known => {
            *taken += 1;
            give(world, next, time);
            true
        }
        _ => world.step(),
    }
}

/// Gives a world an input. One that came later than the last fact came when time had gone by.
fn give(world: &mut World<AnySource>, taken: &RecordedInput, time: Time) {
    if taken.at > time {
        // What states no fact is done meanwhile.
        while world.step_within(taken.at) {}
        world.wait_until(taken.at);
    }
    world.input(taken.input.clone());
}

impl Recording {
    /// Runs it. An input comes after as many facts as it did; where those are others than they were
    /// (it is another generation, another setting, another version of this program), at its time.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play(&self) -> Result<Timeline, String> {
        let (timeline, _) = self.play_within(MAX_FACTS)?;
        Ok(timeline)
    }

    /// The same with no more than so many facts, for what comes from outside; and how many of the inputs
    /// could be played.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play_within(&self, most: usize) -> Result<(Timeline, usize), String> {
        at_once(self.play_slowly(most, &Slices::whole()))
    }

    /// The same in slices.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub async fn play_slowly(
        &self,
        most: usize,
        slices: &Slices,
    ) -> Result<(Timeline, usize), String> {
        self.play_to(most, true, slices).await
    }

    /// Runs it, with no more than so many facts, with every input at its time: after the last fact of
    /// that moment.
    ///
    /// # Errors
    /// Says which object of the scenario cannot be read.
    pub fn play_by_time(&self, most: usize) -> Result<Timeline, String> {
        let (timeline, _) = at_once(self.play_to(most, false, &Slices::whole()))?;
        Ok(timeline)
    }

    async fn play_to(
        &self,
        most: usize,
        exactly: bool,
        slices: &Slices,
    ) -> Result<(Timeline, usize), String> {
        let mut timeline = Timeline::begin(self.scenario.clone(), most, slices).await?;
        let mut played = 0;
        while let Some(taken) = self.inputs.get(played)
            && timeline.append(taken, exactly, slices).await
        {
            played += 1;
        }
        timeline.extend_slowly(timeline.len() + AHEAD, slices).await;
        Ok((timeline, played))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use deltascope_world::source::wire;

    fn heavy() -> Scenario {
        let items: Vec<_> = (0..2_000)
            .map(|n| {
                serde_json::json!({ "metadata": { "namespace": "a", "name": format!("p{n}"),
                    "resourceVersion": "1" } })
            })
            .collect();
        let list = serde_json::json!({ "kind": "PodList", "apiVersion": "v1",
            "metadata": { "resourceVersion": "9" }, "items": items });
        let settings = serde_json::json!({ "feed": "recorded", "knownObjects": true,
            "indices": ["namespace", "app"], "handlers": [{ "name": "h", "latencyMs": 100 }] });
        Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            recorded: Some(wire::open_text("list.json", &list.to_string())),
            ..Scenario::default()
        }
    }

    fn endless() -> Scenario {
        let settings = serde_json::json!({ "knownObjects": true, "indices": ["namespace", "app"],
            "handlers": [{ "name": "h", "onAdd": ["{name}"], "onUpdate": ["{name}"] }] });
        Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            traffic: Some(7),
            ..Scenario::default()
        }
    }

    #[test]
    fn what_is_kept_for_seeking_weighs_no_more_than_the_facts() {
        for scenario in [heavy(), endless()] {
            let mut timeline = Timeline::new(scenario).unwrap();
            timeline.extend(30_000);
            assert!(timeline.len() >= 20_000);
            let starts = timeline
                .segments
                .iter()
                .map(|segment| &segment.start.picture);
            let weight: usize = starts.map(Picture::weight).sum();
            assert!(weight <= timeline.len(), "{weight} {}", timeline.len());
            for pair in timeline.segments.windows(2) {
                let gap = pair[1].from - pair[0].from;
                let most = SEGMENT.max(pair[0].start.picture.weight() * 2);
                assert!((most..most + 100).contains(&gap), "{gap}");
            }
        }
    }

    /// A server of many objects whose lists come again and again; each fills the store with one fact.
    fn relisting() -> Scenario {
        let initial =
            (0..500).map(|n| serde_json::json!({ "metadata": { "name": format!("p{n}") } }));
        let settings =
            serde_json::json!({ "machinery": "plain", "era": "1.36", "watchList": false });
        let entries = (1..40).flat_map(|n| {
            ["compact", "cut"].map(|op| serde_json::json!({ "at": n * 20_000, "op": op }))
        });
        let script = entries.map(|entry| serde_json::from_value(entry).unwrap());
        Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            initial: initial.collect(),
            script: script.collect(),
            ..Scenario::default()
        }
    }

    #[test]
    fn what_facts_hold_is_bounded_beside_their_number() {
        const KB: usize = 1 << 10;
        // So much comes with one micro-step.
        const STEP: usize = 100 * KB;
        let weigh = |facts: &[FactRecord]| -> usize {
            facts.iter().map(|record| record.fact.weight()).sum()
        };
        let all = Timeline::new(relisting()).unwrap();
        let whole = weigh(&all.all_facts());
        assert!(whole > 1_000 * KB && !all.is_full(), "{whole}");
        let slices = Slices::whole();
        let begun = at_once(Timeline::begin(relisting(), MAX_FACTS, &slices));
        let mut bounded = begun.unwrap();
        bounded.may_hold = Holds {
            segment: 100 * KB,
            kept: 300 * KB,
            run: whole / 2,
        };
        bounded.extend(usize::MAX);
        assert!(bounded.is_full() && !bounded.is_endless() && bounded.len() < all.len());
        let kept = bounded
            .segments
            .iter()
            .filter_map(|one| one.facts.as_deref());
        let kept: Vec<usize> = kept.map(|facts| weigh(facts)).collect();
        let are_short = kept.iter().all(|held| *held < 100 * KB + STEP);
        let sum: usize = kept.iter().sum();
        assert!(are_short && sum < 400 * KB + STEP, "{kept:?}");
        let len = bounded.len();
        let held = weigh(&bounded.all_facts());
        assert!((whole / 2..whole / 2 + STEP).contains(&held), "{held}");
        assert!(bounded.all_facts()[..] == all.facts(0..len)[..]);
        // There is room again farther back.
        bounded.insert(len / 2, Input::Print("a".into()));
        assert_eq!(bounded.held, weigh(&bounded.all_facts()));
    }

    #[test]
    fn a_place_is_found_however_many_came_before() {
        let mut timeline = Timeline::new(endless()).unwrap();
        let gone = (1 << 32) + 5;
        timeline.forgotten = gone;
        for (id, place) in [(gone + 2, Some(2)), (gone - 1, None), (7, None)] {
            assert_eq!(timeline.place_of(FactId(id)), place, "{id}");
        }
    }

    #[test]
    fn past_the_bound_the_oldest_are_thinned_alike() {
        let mut timeline = Timeline::new(endless()).unwrap();
        timeline.checkpoints = 12;
        timeline.extend(100 * SEGMENT);
        assert_eq!(timeline.segments.len(), 12);
        assert!(timeline.thinned() > 90 * SEGMENT && timeline.thinned() < timeline.len());
        let lengths: Vec<usize> = (0..11).map(|number| timeline.len_of(number)).collect();
        assert!(
            lengths.iter().all(|length| *length <= 32 * SEGMENT),
            "{lengths:?}"
        );
        let mut dense = Timeline::new(endless()).unwrap();
        dense.extend(100 * SEGMENT);
        assert_eq!(dense.thinned(), 0);
        for place in [0, 1, 7 * SEGMENT, 50 * SEGMENT + 3, 99 * SEGMENT] {
            assert!(timeline.picture(place) == dense.picture(place), "{place}");
            assert!(timeline.fact(place) == dense.fact(place), "{place}");
        }
    }

    #[test]
    fn what_is_dropped_while_it_is_looked_at_is_computed_again() {
        let mut timeline = Timeline::new(endless()).unwrap();
        timeline.extend(3 * SEGMENT);
        let kept = timeline.all_facts().to_vec();
        let places = [0, 500, SEGMENT - 1, SEGMENT + 300];
        let pictures = places.map(|place| timeline.picture(place));
        timeline.rest();
        for (place, picture) in places.into_iter().zip(pictures) {
            assert!(timeline.picture(place) == picture, "{place}");
            assert!(timeline.fact(place).as_ref() == kept.get(place), "{place}");
        }
        // Without its cache being emptied.
        timeline.extend(6 * SEGMENT);
        let before = timeline.picture(5 * SEGMENT - 9);
        for segment in timeline.segments.iter_mut().take(4) {
            segment.facts = None;
        }
        assert!(timeline.fact(4 * SEGMENT - 9).is_some());
        assert!(timeline.picture(5 * SEGMENT - 9) == before);
    }

    #[test]
    fn inputs_that_come_elsewhere_are_all_kept() {
        let mut timeline = Timeline::new(endless()).unwrap();
        timeline.extend(400);
        for place in [100, 104, 108, 300] {
            timeline.insert(
                place,
                Input::Mode(deltascope_cache::fact::ProcessMode::Paced(7)),
            );
        }
        timeline.insert(308, Input::Pop);
        let recording = timeline.recording();
        let again = recording.play().unwrap();
        assert!(again.facts(0..300)[..] == timeline.facts(0..300)[..]);
        // Facts that there were not, places that are too far, times that go back: none is lost.
        for change in [-9_i64, 3, 10, 10_000_000] {
            let mut other = recording.clone();
            for taken in &mut other.inputs {
                taken.after = taken.after.saturating_add_signed(change as isize);
            }
            for swapped in [false, true] {
                if swapped {
                    other.inputs.swap(1, 3);
                }
                for by_time in [false, true] {
                    let mut played = if by_time {
                        other.play_by_time(MAX_FACTS).unwrap()
                    } else {
                        other.play().unwrap()
                    };
                    assert_eq!(played.inputs().len(), 5, "{change} {swapped} {by_time}");
                    // What is played can be played again, and computed again.
                    played.extend(800);
                    let mut twice = played.recording().play().unwrap();
                    twice.extend(800);
                    assert!(twice.facts(0..800)[..] == played.facts(0..800)[..]);
                    let facts = played.facts(0..800).to_vec();
                    played.rewind(350);
                    played.extend(800);
                    let same = played.facts(0..350).iter().zip(&facts).all(|(a, b)| a == b);
                    assert!(same, "{change} {swapped} {by_time}");
                }
            }
        }
    }

    #[test]
    fn an_input_after_the_end_comes_when_time_has_gone_by() {
        let mut timeline = Timeline::new(heavy()).unwrap();
        timeline.extend(1);
        let end = timeline.time_at(timeline.len());
        let mut recording = timeline.recording();
        recording.inputs.push(RecordedInput {
            after: usize::MAX,
            at: end + 25_000,
            input: Input::Mode(deltascope_cache::fact::ProcessMode::Held),
        });
        for _ in 0..2 {
            let mut played = recording.play().unwrap();
            let last = played.len();
            assert_eq!(played.time_at(last), end + 25_000);
            // Computed again it comes at the same time.
            let fact = played.fact(last - 1);
            played.over = true;
            played.rewind(last);
            assert!(played.fact(last - 1) == fact);
            recording = played.recording();
        }
    }

    #[test]
    fn what_was_dropped_is_computed_again_and_the_same() {
        let mut timeline = Timeline::new(endless()).unwrap();
        timeline.extend(3 * SEGMENT);
        timeline.insert(
            SEGMENT + 7,
            Input::Mode(deltascope_cache::fact::ProcessMode::Held),
        );
        timeline.insert(SEGMENT + 90, Input::Pop);
        timeline.extend(5 * SEGMENT);
        let kept = timeline.all_facts().to_vec();
        let places: Vec<usize> = (0..timeline.len()).step_by(997).collect();
        let pictures: Vec<Picture> = places.iter().map(|at| timeline.picture(*at)).collect();
        for drop in [0, 1, 2] {
            let last = timeline.segments.len() - 1;
            for segment in &mut timeline.segments[..last] {
                segment.facts = None;
            }
            if drop == 1 {
                // As thinning does.
                timeline.segments.remove(1);
                timeline.looked_at.borrow_mut().clear();
            }
            let again = timeline.all_facts();
            let differs = again
                .iter()
                .zip(&kept)
                .position(|(again, kept)| again != kept);
            assert_eq!((again.len(), differs), (kept.len(), None), "drop {drop}");
            for (place, picture) in places.iter().zip(&pictures) {
                assert_eq!(&timeline.picture(*place), picture, "{place}");
                assert_eq!(timeline.fact(*place).as_ref(), kept.get(*place));
            }
        }
        let mut back = Vec::new();
        let range = SEGMENT - 3..2 * SEGMENT + 3;
        timeline.each_back::<()>(range.clone(), &mut |place, record| {
            back.push((place, record.clone()));
            ControlFlow::Continue(())
        });
        back.reverse();
        let forth: Vec<_> = range.clone().zip(kept[range].iter().cloned()).collect();
        assert!(back == forth);
        for time in [0, 1, 700, 5_000, timeline.time_at(timeline.len())] {
            let count = kept.partition_point(|record| record.time <= time);
            assert_eq!(timeline.count_until(time), count, "{time}");
        }
    }
}
