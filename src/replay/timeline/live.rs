//! A live run, which happens while the user watches it, and the rest of it after its beginning was forgotten.

use std::sync::Arc;

use crate::picture::Picture;
use crate::recording::RecordedInput;
use deltascope_cache::fact::EventType;
use deltascope_world::Time;
use deltascope_world::source::Command;
use deltascope_world::source::any::AnySource;
use deltascope_world::source::live::{Page, ResponsePart, ServerResponse};
use deltascope_world::source::scenario::Scenario;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::virtual_time::{Input, World};
use kube_core::DynamicObject;

use super::{AT_ONCE, Inputs, SEGMENT, SETTLED_MS, Segment, Timeline, give, go_on, is_response};

impl Timeline {
    /// A live run: it receives only the reported responses, and never runs ahead of time.
    ///
    /// # Errors
    /// States which object of the scenario cannot be read.
    pub fn live(scenario: Scenario) -> Result<Self, String> {
        let world = scenario.build()?;
        let mut timeline = Self::of(Arc::new(scenario), world, false);
        timeline.live = Some(0);
        Ok(timeline)
    }

    /// Whether the run advances with real time.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Ends the live run; it is a recording from now on.
    pub fn end_live(&mut self) {
        self.live = None;
        self.over = true;
    }

    /// Advances to `now` and executes what is due, at the cost of at most `most` facts, or the picture's part of a step that
    /// has cost more. True when everything due has been executed.
    pub fn go_to(&mut self, now: Time, most: usize) -> bool {
        let Some(live) = self.live else {
            return true;
        };
        let now = now.max(live);
        self.live = Some(now);
        let mut cost = 0;
        // One step may cost more than that.
        while cost < most && self.keep_up(most) {
            if !self.world.step_within(now) {
                return true;
            }
            cost += self.gather();
        }
        false
    }

    /// Gives the live run an input at `now`, after executing everything that is due. Returns the cost, in facts.
    pub fn take(&mut self, now: Time, input: Input<Command>) -> usize {
        let now = now.max(self.last_time());
        while !self.go_to(now, SEGMENT) {}
        let taken = RecordedInput {
            after: self.len(),
            at: now,
            input,
        };
        let weight = match &taken.input {
            Input::Source(Command::Respond(responses)) => {
                responses.iter().map(ServerResponse::weight).sum()
            }
            _ => 0,
        };
        self.weights.push_back(weight);
        self.weight += weight;
        let time = self.last_time();
        give(&mut self.world, &taken, time);
        self.inputs.push(taken);
        self.taken += 1;
        self.gather()
    }

    /// The next virtual time at which a live run does something by itself, in ms.
    #[must_use]
    pub fn next_moment(&self) -> Option<Time> {
        self.live?;
        self.world.next_moment()
    }

    /// The source, at the end of the known facts.
    #[must_use]
    pub fn source(&self) -> &AnySource {
        self.world.source()
    }

    /// Shows each object that a cluster has after this many facts, in a run of a cluster.
    pub fn each_object(&self, step: usize, seen: &mut dyn FnMut(&Arc<DynamicObject>)) {
        let mut show = |world: &World<AnySource>| {
            if let AnySource::Live(live) = world.source() {
                live.objects().for_each(&mut *seen);
            }
        };
        let number = self.segment_of(step.saturating_sub(1));
        let Some(segment) = self.segments.get(number).filter(|_| step < self.len()) else {
            return show(&self.world);
        };
        let mut world = segment.start.world.clone();
        let (mut known, mut time, mut taken) =
            (segment.from, segment.start.time, segment.start.taken);
        let inputs = Inputs {
            all: &self.inputs,
            before: self.forgotten_inputs,
        };
        while known < step && go_on(&mut world, inputs, &mut taken, known, time) {
            let new = world.drain();
            known += new.len();
            time = new.last().map_or(time, |last| last.time);
        }
        show(&world);
    }

    /// Forgets the oldest facts, and their inputs, so that about `left` facts remain, which begin at 0 again.
    /// Returns how many were forgotten.
    ///
    /// The rest begins at an open watch, where a recording can begin.
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
            .extend(forgotten.filter(|taken| !is_response(&taken.input)));
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

    /// The picture that the known facts begin with.
    #[must_use]
    pub fn at_start(&self) -> Option<&Picture> {
        Some(&*self.start()?.picture)
    }

    /// The inputs that replace the forgotten beginning: the user's own, and the cluster's objects.
    pub(super) fn prologue(&self) -> Vec<RecordedInput> {
        let mut prologue = self.by_hand.clone();
        let Some(start) = self.start().filter(|_| self.forgotten > 0) else {
            return prologue;
        };
        let AnySource::Live(live) = start.world.source() else {
            return prologue;
        };
        let objects = live.objects().map(Arc::clone);
        let rv = live.known().rv();
        prologue.extend(beginning(self.streams(), rv, objects, start.time));
        prologue
    }
}

/// What stands for all that a cluster answered before a moment: its objects of that time, and a watch that is open.
pub fn beginning(
    streams: bool,
    rv: &Arc<str>,
    objects: impl Iterator<Item = Arc<DynamicObject>>,
    at: Time,
) -> Vec<RecordedInput> {
    // A watch that ends within a second without an event counts as failed.
    let at = at.saturating_sub(SETTLED_MS);
    let responses = if streams {
        let event = |object| {
            let event = EventType::Added;
            ResponsePart::Event(RecordedEvent::Object { event, object })
        };
        let end = ResponsePart::Event(RecordedEvent::Bookmark {
            rv: Arc::clone(rv),
            initial_events_end: true,
        });
        let events = objects.map(event).chain([end]);
        let mut parts: Vec<ResponsePart> =
            [ResponsePart::Opened].into_iter().chain(events).collect();
        let mut responses = Vec::new();
        while !parts.is_empty() {
            let rest = parts.split_off(parts.len().min(AT_ONCE));
            responses.push((1, std::mem::replace(&mut parts, rest)));
        }
        responses
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
    let told = responses.into_iter().map(|(request, parts)| {
        let parts: Vec<ResponsePart> = parts;
        let responses = parts
            .into_iter()
            .map(|part| ServerResponse { request, part });
        RecordedInput {
            after: usize::MAX,
            at,
            input: Input::Source(Command::Respond(responses.collect())),
        }
    });
    told.collect()
}
