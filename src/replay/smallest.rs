//! The smallest run that still shows something: a recording without all that it does not need for that.
//!
//! Delta debugging. Larger parts of the recording are left out first, then smaller ones, in the end each alone; what
//! is left out stays out where the run without it still shows the same. Each trial is a run, so the result is
//! never a guess.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use deltascope_cache::fact::Cause;
use deltascope_world::fields::Read as _;
use deltascope_world::slices::{Slices, at_once};
use deltascope_world::source::live::{ResponsePart, ServerResponse};
use deltascope_world::source::pod::PodSpec;
use deltascope_world::source::scenario::Entry;
use deltascope_world::source::workload::{Options, Workload};
use deltascope_world::source::{Command, write};
use deltascope_world::virtual_time::{Input, Settings};

use super::edit::act_of;
use super::invariants::{Invariant, Invariants, Violation, ViolationKind};
use super::predicate::Predicate;
use super::recording::Recording;
use super::timeline::{MAX_FACTS, Timeline};

/// The most runs that are tried.
pub const MOST_TRIALS: usize = 5_000;
/// The most facts that all trials compute: about a minute on the page.
pub const MOST_COMPUTED: usize = 10_000_000;
/// A trial may take this many times the facts of the whole run, …
const TIMES: usize = 2;
/// … and this many more.
const MORE: usize = 1_000;
/// A trial computes so many facts between two looks at them.
const PIECE: usize = 512;
/// The settings that say which program runs. Another program is another bug.
const PROGRAM: [&str; 4] = ["era", "feed", "machinery", "queue"];

/// What the run must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A fact for which a condition holds.
    Condition(Predicate),
    /// The invariant is violated, in the same way as in the whole run.
    Broken(Invariant),
}

/// The size of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The user's inputs, and what a cluster answered apart from objects and events.
    pub inputs: usize,
    /// The entries of the script; those of the traffic up to what is shown count.
    pub script: usize,
    /// The objects at the start, and those in lists.
    pub objects: usize,
    /// The recorded events.
    pub events: usize,
    /// The handlers, and the informers beside.
    pub handlers: usize,
    /// The settings that are not as by default.
    pub settings: usize,
}

/// The smallest run.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// What determines it.
    pub recording: Recording,
    /// The number of facts up to and including the one that shows it.
    pub at: usize,
    /// How large the whole recording was, and the number of facts up to the one that showed it.
    pub before: (Size, usize),
    /// How many runs were tried.
    pub trials: usize,
    /// Whether nothing can be left out any more; otherwise a limit ended the trials.
    pub is_smallest: bool,
}

impl Smallest {
    /// How large the recording is now.
    #[must_use]
    pub fn size(&self) -> Size {
        Size::of(&self.recording)
    }
}

/// How much is computed at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The facts of the whole run until it shows what it must.
    pub facts: usize,
    /// The runs that are tried.
    pub trials: usize,
}

/// Cuts a recording down. `None`: the run does not show it within the limit.
pub async fn smallest(
    recording: &Recording,
    goal: &Goal,
    limits: Limits,
    slices: &Slices,
) -> Option<Smallest> {
    let mut trials = Trials {
        goal,
        broken: None,
        slices,
        count: 0,
        from: slices.done(),
        most: limits.facts.min(MAX_FACTS),
        most_trials: limits.trials,
    };
    let mut now = trials.run(recording).await?;
    trials.broken = now.broken;
    trials.most = now
        .at
        .saturating_mul(TIMES)
        .saturating_add(MORE)
        .min(MAX_FACTS);
    let mut before = (Size::of(&now.recording), now.at);
    if recording.scenario.traffic.is_some() {
        // Its writes can be left out one by one where a script makes them.
        let scripted = scripted(&now);
        before.0 = Size::of(&scripted);
        if let Some(shown) = trials.run(&scripted).await {
            now = shown;
        }
    }
    loop {
        now = trials.cut(now).await;
        let (plainer, is_other) = trials.set_back(now).await;
        now = plainer;
        if !is_other || trials.is_over() {
            break;
        }
    }
    Some(Smallest {
        recording: now.recording,
        at: now.at,
        before,
        trials: trials.count,
        is_smallest: !trials.is_over(),
    })
}

/// Like [`smallest`], without a pause.
#[must_use]
pub fn smallest_at_once(recording: &Recording, goal: &Goal, limits: Limits) -> Option<Smallest> {
    at_once(smallest(recording, goal, limits, &Slices::whole()))
}

impl Smallest {
    /// Whether another recording, the same with made-up names, states the same facts up to the one that shows it.
    #[must_use]
    pub fn is_like(&self, other: &Recording) -> bool {
        let facts = |of: &Recording| {
            let (timeline, _) = of.play_within(self.at.saturating_add(MORE)).ok()?;
            let facts = timeline.facts(0..self.at);
            let facts = facts.iter().map(|record| (record.time, record.fact.name()));
            Some(facts.collect::<Vec<_>>())
        };
        facts(other) == facts(&self.recording)
    }
}

/// A run that shows it.
struct Shown {
    /// With the inputs that came before, each at its place.
    recording: Recording,
    at: usize,
    broken: Option<Broken>,
    timeline: Timeline,
}

/// How an invariant is violated: one run may not stand for another bug.
type Broken = (Invariant, Discriminant<ViolationKind>, bool);

fn how(found: &Violation) -> Broken {
    (found.invariant, discriminant(&found.what), found.known)
}

struct Trials<'a> {
    goal: &'a Goal,
    /// The violation of the whole run.
    broken: Option<Broken>,
    slices: &'a Slices,
    count: usize,
    /// How much work was done before.
    from: usize,
    /// The most facts of a trial.
    most: usize,
    most_trials: usize,
}

impl Trials<'_> {
    fn is_over(&self) -> bool {
        self.count >= self.most_trials || self.slices.done() - self.from >= MOST_COMPUTED
    }

    /// Runs a recording until it shows it.
    async fn run(&mut self, recording: &Recording) -> Option<Shown> {
        self.count += 1;
        let began = Timeline::begin(recording.scenario.clone(), self.most, self.slices).await;
        let mut timeline = began.ok()?;
        let mut look = Look {
            seen: 0,
            monitors: self.goal.violation().then(|| Invariants::begin(&timeline)),
        };
        let mut found = None;
        for taken in &recording.inputs {
            if found.is_some() || !timeline.append(taken, true, self.slices).await {
                break;
            }
            found = look.at(&timeline, self);
        }
        while found.is_none() {
            let known = timeline.len();
            timeline.extend_slowly(known + PIECE, self.slices).await;
            found = look.at(&timeline, self);
            if timeline.len() == known {
                break;
            }
        }
        let (at, broken) = found?;
        Some(Shown {
            recording: timeline.recording(),
            at,
            broken,
            timeline,
        })
    }

    /// Leaves out what is not needed of inputs, script, objects, events and informers.
    async fn cut(&mut self, mut now: Shown) -> Shown {
        let mut size = Part::all_of(&now.recording).len();
        loop {
            size = size.div_ceil(2).max(1);
            let mut parts = Part::all_of(&now.recording);
            let (mut end, mut is_other) = (parts.len(), false);
            // From the end: what comes later needs what came before.
            while end > 0 {
                if self.is_over() {
                    return now;
                }
                let from = end.saturating_sub(size);
                let gone = parts.get(from..end).unwrap_or_default();
                if let Some(shown) = self.run(&without(&now.recording, gone)).await {
                    now = shown;
                    // What came after the fact that shows it has gone, too.
                    parts = Part::all_of(&now.recording);
                    is_other = true;
                }
                end = from.min(parts.len());
            }
            if size == 1 && !is_other {
                return now;
            }
        }
    }

    /// Gives each setting its default where the run still shows it; whether one had another.
    async fn set_back(&mut self, mut now: Shown) -> (Shown, bool) {
        let (mut place, mut is_other) = (0, false);
        while !self.is_over() {
            let (program, mut rest) = written(&now.recording.scenario.settings);
            if !remove_nth(&mut rest, &mut { place }) {
                break;
            }
            if let Value::Object(rest) = &mut rest {
                rest.extend(program);
            }
            if let Ok(settings) = Settings::read(rest) {
                let mut other = now.recording.clone();
                other.scenario.settings = settings;
                if let Some(shown) = self.run(&other).await {
                    now = shown;
                    is_other = true;
                    continue;
                }
            }
            place += 1;
        }
        (now, is_other)
    }
}

impl Goal {
    fn violation(&self) -> bool {
        match self {
            Self::Condition(predicate) => predicate.violation,
            Self::Broken(_) => true,
        }
    }
}

/// What has been seen of a trial.
struct Look {
    seen: usize,
    monitors: Option<Invariants>,
}

impl Look {
    /// The number of facts up to the one that shows it, if one of the new facts does.
    fn at(&mut self, timeline: &Timeline, trials: &Trials<'_>) -> Option<(usize, Option<Broken>)> {
        let Some(monitors) = &mut self.monitors else {
            let Goal::Condition(predicate) = trials.goal else {
                return None;
            };
            let new = self.seen..timeline.len();
            self.seen = new.end;
            return timeline.each(
                new,
                &mut |place, record| match predicate.holds(record, false) {
                    true => ControlFlow::Break((place + 1, None)),
                    false => ControlFlow::Continue(()),
                },
            );
        };
        monitors.check_new(timeline);
        let shows = |found: &&Violation| match trials.goal {
            Goal::Broken(invariant) => found.invariant == *invariant,
            Goal::Condition(predicate) => {
                let record = found.at.checked_sub(1);
                let record = record.and_then(|place| timeline.fact(place));
                record.is_some_and(|record| predicate.holds(&record, true))
            }
        };
        let is_same = |found: &&Violation| {
            let broken = trials.broken.as_ref();
            broken.is_none_or(|broken| *broken == how(found))
        };
        let mut found = monitors.violations().iter();
        let found = found.find(|found| shows(found) && is_same(found))?;
        Some((found.at, Some(how(found))))
    }
}

/// A part of a recording that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// An informer beside.
    Beside(usize),
    /// An object at the start.
    Initial(usize),
    /// An object of the recorded list.
    Listed(usize),
    /// A recorded event.
    Event(usize),
    /// An entry of the script.
    Script(usize),
    /// An input of the user.
    Input(usize),
    /// A response among those of an input; whether it is an event.
    Response(usize, usize, bool),
    /// An object of the page that this is.
    Item(usize, usize, usize),
}

impl Part {
    fn all_of(recording: &Recording) -> Vec<Self> {
        let scenario = &recording.scenario;
        let mut parts = Vec::new();
        parts.extend((0..scenario.beside.len()).map(Self::Beside));
        parts.extend((0..scenario.initial.len()).map(Self::Initial));
        if let Some(recorded) = &scenario.recorded {
            let listed = recorded.start.as_ref().map_or(0, |list| list.items.len());
            parts.extend((0..listed).map(Self::Listed));
            parts.extend((0..recorded.events.len()).map(Self::Event));
        }
        parts.extend((0..scenario.script.len()).map(Self::Script));
        for (number, taken) in recording.inputs.iter().enumerate() {
            let Input::Source(Command::Respond(responses)) = &taken.input else {
                parts.push(Self::Input(number));
                continue;
            };
            for (nth, response) in responses.iter().enumerate() {
                let is_event = matches!(response.part, ResponsePart::Event(_));
                parts.push(Self::Response(number, nth, is_event));
                if let ResponsePart::Page(page) = &response.part {
                    let items = 0..page.items.len();
                    parts.extend(items.map(|item| Self::Item(number, nth, item)));
                }
            }
        }
        parts
    }
}

impl Size {
    fn of(recording: &Recording) -> Self {
        let settings = &recording.scenario.settings;
        let (_, rest) = written(settings);
        let mut size = Self {
            handlers: settings.handlers.len(),
            settings: rest.as_object().map_or(0, |rest| {
                rest.keys().filter(|name| *name != "handlers").count()
            }),
            ..Self::default()
        };
        for part in Part::all_of(recording) {
            let count = match part {
                Part::Beside(_) => &mut size.handlers,
                Part::Initial(_) | Part::Listed(_) | Part::Item(..) => &mut size.objects,
                Part::Event(_) | Part::Response(_, _, true) => &mut size.events,
                Part::Script(_) => &mut size.script,
                Part::Input(_) | Part::Response(_, _, false) => &mut size.inputs,
            };
            *count += 1;
        }
        size
    }
}

/// The recording without some parts.
fn without(of: &Recording, gone: &[Part]) -> Recording {
    let gone: BTreeSet<Part> = gone.iter().copied().collect();
    let mut other = of.clone();
    let scenario = &mut other.scenario;
    keep(&mut scenario.beside, |nth| {
        !gone.contains(&Part::Beside(nth))
    });
    keep(&mut scenario.initial, |nth| {
        !gone.contains(&Part::Initial(nth))
    });
    keep(&mut scenario.script, |nth| {
        !gone.contains(&Part::Script(nth))
    });
    if let Some(recorded) = &mut scenario.recorded {
        if let Some(list) = &mut recorded.start {
            keep(&mut list.items, |nth| !gone.contains(&Part::Listed(nth)));
        }
        keep(&mut recorded.events, |nth| {
            !gone.contains(&Part::Event(nth))
        });
    }
    let mut number = 0..;
    other.inputs.retain_mut(|taken| {
        let number = number.next().unwrap_or_default();
        let Input::Source(Command::Respond(responses)) = &mut taken.input else {
            return !gone.contains(&Part::Input(number));
        };
        let mut all = responses.to_vec();
        for (nth, response) in all.iter_mut().enumerate() {
            if let ResponsePart::Page(page) = &mut response.part {
                let mut items = page.items.to_vec();
                keep(&mut items, |item| {
                    !gone.contains(&Part::Item(number, nth, item))
                });
                page.items = items.into();
            }
        }
        let is_event = |response: &ServerResponse| matches!(response.part, ResponsePart::Event(_));
        let events: Vec<bool> = all.iter().map(is_event).collect();
        keep(&mut all, |nth| {
            !gone.contains(&Part::Response(number, nth, events[nth]))
        });
        *responses = all.into();
        !responses.is_empty()
    });
    other
}

fn keep<T>(all: &mut Vec<T>, mut keeps: impl FnMut(usize) -> bool) {
    let mut nth = 0..;
    all.retain(|_| nth.next().is_some_and(&mut keeps));
}

/// The same run, with a script in the place of the traffic.
fn scripted(shown: &Shown) -> Recording {
    let mut other = shown.recording.clone();
    let scenario = &mut other.scenario;
    if let Some(seed) = scenario.traffic.take() {
        let start = Workload::new(seed, Options::default()).start();
        scenario.initial.extend(start.iter().map(PodSpec::to_json));
    }
    scenario.drops.clear();
    shown.timeline.each::<()>(0..shown.at, &mut |_, record| {
        if matches!(record.cause, Cause::Source(_))
            && let Some(act) = act_of(&record.fact)
        {
            scenario.script.push(Entry {
                at: record.time,
                act,
            });
        }
        ControlFlow::Continue(())
    });
    scenario.script.sort_by_key(|entry| entry.at);
    other
}

/// The settings as JSON, which leaves defaults out: those that say which program runs, and the others.
fn written(settings: &Settings) -> (Map<String, Value>, Value) {
    let mut program = Map::new();
    let mut rest = write::settings(settings);
    if let Value::Object(rest) = &mut rest {
        for name in PROGRAM {
            if let Some(value) = rest.remove(name) {
                program.insert(name.to_owned(), value);
            }
        }
    }
    (program, rest)
}

/// Removes the n-th member or element, each counted before what it holds. False: there are not so many.
fn remove_nth(of: &mut Value, left: &mut usize) -> bool {
    let is_it = |left: &mut usize| {
        let is_it = *left == 0;
        *left = left.saturating_sub(1);
        is_it
    };
    match of {
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            names.iter().any(|name| {
                if is_it(left) {
                    fields.remove(name);
                    return true;
                }
                fields
                    .get_mut(name)
                    .is_some_and(|value| remove_nth(value, left))
            })
        }
        Value::Array(values) => (0..values.len()).any(|nth| {
            if is_it(left) {
                values.remove(nth);
                return true;
            }
            values
                .get_mut(nth)
                .is_some_and(|value| remove_nth(value, left))
        }),
        _ => false,
    }
}
