//! The smallest run that still shows something: a recording without all that it does not need for that.
//!
//! Delta debugging. Larger parts of the recording are left out first, then smaller ones, in the end each alone; what
//! is left out stays out where the run without it still shows the same. Each trial is a run, so the result is
//! never a guess.

use std::mem::{Discriminant, discriminant};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use serde_json::Value;

use deltascope_cache::fact::Cause;
use deltascope_cache::sorted;
use deltascope_world::fields::{Put as _, Read as _};
use deltascope_world::slices::Slices;
use deltascope_world::source::Command;
use deltascope_world::source::live::ResponsePart;
use deltascope_world::source::pod::PodSpec;
use deltascope_world::source::scenario::Entry;
use deltascope_world::source::workload::{Options, Workload};
use deltascope_world::virtual_time::{Input, Settings};

use super::edit::write_of;
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
    now = trials.cut(now).await;
    Some(Smallest {
        recording: now.recording,
        at: now.at,
        before,
        trials: trials.count,
        is_smallest: !trials.is_over(),
    })
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
            invariants: self.goal.violation().then(|| Invariants::begin(&timeline)),
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

    /// Leaves out what is not needed.
    async fn cut(&mut self, mut now: Shown) -> Shown {
        let mut size = count(&now.recording);
        loop {
            size = size.div_ceil(2).max(1);
            let (mut end, mut is_other) = (count(&now.recording), false);
            // From the end: what comes later needs what came before.
            while end > 0 {
                if self.is_over() {
                    return now;
                }
                let gone = end.saturating_sub(size)..end;
                end = gone.start;
                if let Some(less) = without(&now.recording, gone)
                    && let Some(shown) = self.run(&less).await
                {
                    now = shown;
                    is_other = true;
                    // What came after the fact that shows it has gone, too.
                    end = end.min(count(&now.recording));
                }
            }
            if size == 1 && !is_other {
                return now;
            }
        }
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
    invariants: Option<Invariants>,
}

impl Look {
    /// The number of facts up to the one that shows it, if one of the new facts does.
    fn at(&mut self, timeline: &Timeline, trials: &Trials<'_>) -> Option<(usize, Option<Broken>)> {
        let Some(invariants) = &mut self.invariants else {
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
        invariants.check_new(timeline);
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
        let mut found = invariants.violations().iter();
        let found = found.find(|found| shows(found) && is_same(found))?;
        Some((found.at, Some(how(found))))
    }
}

/// What a part of a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Input,
    Entry,
    Object,
    Event,
    Handler,
    Setting,
    /// A part of a setting or of a handler.
    Detail,
}

impl Size {
    fn of(recording: &Recording) -> Self {
        let mut size = Self::default();
        sift(recording, &mut |kind| {
            match kind {
                Kind::Input => size.inputs += 1,
                Kind::Entry => size.script += 1,
                Kind::Object => size.objects += 1,
                Kind::Event => size.events += 1,
                Kind::Handler => size.handlers += 1,
                Kind::Setting => size.settings += 1,
                Kind::Detail => {}
            }
            true
        });
        size
    }
}

/// How many parts can be left out.
fn count(of: &Recording) -> usize {
    let mut count = 0;
    sift(of, &mut |_| {
        count += 1;
        true
    });
    count
}

/// The recording without some parts, each given by its number. `None`: a setting cannot be without what it has lost.
fn without(of: &Recording, gone: Range<usize>) -> Option<Recording> {
    let mut number = 0..;
    sift(of, &mut |_| {
        number.next().is_none_or(|number| !gone.contains(&number))
    })
}

/// The recording with those of its parts that `keeps` keeps. It is asked for each, always in the same order.
fn sift(of: &Recording, keeps: &mut dyn FnMut(Kind) -> bool) -> Option<Recording> {
    let mut other = of.clone();
    let scenario = &mut other.scenario;
    let mut written = scenario.settings.written();
    if sift_settings(&mut written, 0, keeps) {
        scenario.settings = Settings::read(written).ok()?;
    }
    scenario.beside.retain(|_| keeps(Kind::Handler));
    scenario.initial.retain(|_| keeps(Kind::Object));
    if let Some(recorded) = &mut scenario.recorded {
        if let Some(list) = &mut recorded.start {
            list.items.retain(|_| keeps(Kind::Object));
        }
        recorded.events.retain(|_| keeps(Kind::Event));
    }
    scenario.script.retain(|_| keeps(Kind::Entry));
    other.inputs.retain_mut(|taken| {
        let Input::Source(Command::Respond(responses)) = &mut taken.input else {
            return keeps(Kind::Input);
        };
        let mut kept = responses.to_vec();
        kept.retain_mut(|response| match &mut response.part {
            ResponsePart::Event(_) => keeps(Kind::Event),
            ResponsePart::Page(page) => {
                let stays = keeps(Kind::Input);
                let mut items = page.items.to_vec();
                items.retain(|_| keeps(Kind::Object));
                page.items = items.into();
                stays
            }
            _ => keeps(Kind::Input),
        });
        *responses = kept.into();
        !responses.is_empty()
    });
    Some(other)
}

/// The same for settings as JSON, which leaves defaults out: a member that is left out has its default. Whether
/// any was.
fn sift_settings(of: &mut Value, depth: usize, keeps: &mut dyn FnMut(Kind) -> bool) -> bool {
    let mut is_other = false;
    match of {
        Value::Object(fields) => fields.retain(|name, value| {
            if depth == 0 && PROGRAM.contains(&&**name) {
                return true;
            }
            let handlers = depth == 0 && name == "handlers";
            let stays = keeps(match depth {
                0 if !handlers => Kind::Setting,
                _ => Kind::Detail,
            });
            is_other |= !stays | sift_settings(value, if handlers { 1 } else { 2 }, keeps);
            stays
        }),
        Value::Array(values) => values.retain_mut(|value| {
            let stays = keeps(match depth {
                1 => Kind::Handler,
                _ => Kind::Detail,
            });
            is_other |= !stays | sift_settings(value, 2, keeps);
            stays
        }),
        _ => {}
    }
    is_other
}

/// The same run, with a script in the place of the traffic.
fn scripted(shown: &Shown) -> Recording {
    let mut other = shown.recording.clone();
    let scenario = &mut other.scenario;
    if let Some(seed) = scenario.traffic.take() {
        let start = Workload::new(seed, Options::default()).start();
        let start = start.into_iter().map(PodSpec::into_object);
        scenario.initial.extend(start.map(Arc::new));
    }
    scenario.drops.clear();
    shown.timeline.each::<()>(0..shown.at, &mut |_, record| {
        if matches!(record.cause, Cause::Source(_))
            && let Some(write) = write_of(&record.fact)
        {
            scenario.script.push(Entry {
                at: record.time,
                input: Input::Source(Command::Write(write)),
            });
        }
        ControlFlow::Continue(())
    });
    sorted::sort(&mut scenario.script, |one, other| one.at.cmp(&other.at));
    other
}
