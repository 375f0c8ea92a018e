//! One invocation of a routine: its start, its caller, and the values of its lines.

use crate::fact_queries::changes_store;
use deltascope_cache::fact::{Fact, FactRecord, QueueFact};
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_world::text::counted;

use super::places::{Context, place_of};
use super::routines::Id;
use super::values::{deltas, named, values};

/// The values of one invocation, gathered from its facts backwards from the last one.
pub(super) struct Invocation {
    /// The index of its first fact.
    pub(super) start: usize,
    /// The value of each line that has one.
    pub(super) values: SortedMap<usize, String>,
}

impl Invocation {
    /// The invocation of routine `id` that contains the last fact, which is at line `current`.
    pub(super) fn ending_with_last(
        recent: &[FactRecord],
        id: Id,
        current: usize,
        context: Context,
    ) -> Self {
        let routine = id.routine();
        let actor = recent.last().map(|record| record.actor);
        let mut found = Self {
            start: recent.len(),
            values: SortedMap::new(),
        };
        let mut nested: SortedMap<usize, Vec<&Fact>> = SortedMap::new();
        let mut lowest = current;
        let deletions = if id == Id::Replace {
            first_deletion(recent, context)
        } else {
            None
        };
        // Whether an earlier round of a loop has been reached; its values are not shown.
        let mut earlier_round = false;
        for (index, record) in recent.iter().enumerate().rev() {
            // The user may change a setting in the middle of an invocation.
            if Some(record.actor) != actor
                || record.step == Step::SettingChanged && index + 1 < recent.len()
            {
                continue;
            }
            let Some((of, own)) = place_of(record, context) else {
                break;
            };
            let line = if of == id {
                own
            } else if let Some(line) = routine.line_that_calls(of, lowest) {
                match deletions {
                    // Both loops of Replace make the same call; the deletions come last.
                    Some((first, deleting)) if index > first => deleting,
                    _ if id == Id::Replace => routine.line_that_calls(of, 0).unwrap_or(line),
                    _ => line,
                }
            } else {
                break;
            };
            if line > lowest {
                if routine.loops(line) && routine.loops(lowest) {
                    earlier_round = true;
                } else {
                    break;
                }
            }
            lowest = line;
            found.start = index;
            if !(earlier_round && routine.loops(line)) {
                if of == id {
                    found.add(line, &record.fact, id);
                } else if routine.lines[line].calls.contains(&of) {
                    nested.or_default(line).push(&record.fact);
                }
            }
            let begins = matches!(record.fact, Fact::Queue(QueueFact::LockTaken { .. }));
            if of == id && begins && record.step != Step::PopRetake {
                break;
            }
        }
        for (line, facts) in nested {
            if let Some(value) = outcome(&facts) {
                found.values.or_insert(line, value);
            }
        }
        found
    }

    fn add(&mut self, line: usize, fact: &Fact, id: Id) {
        let values = if let Fact::Queue(QueueFact::KeyPopped { deltas, .. }) = fact
            && id == Id::FifoPop
        {
            // FIFO pops an object, not deltas.
            let objects = deltas.iter();
            objects.map(|(_, object)| (0, named(object))).collect()
        } else {
            values(fact)
        };
        for (offset, value) in values {
            if let Some(line) = line.checked_add_signed(offset)
                && line < id.routine().lines.len()
            {
                self.values.or_insert(line, value);
            }
        }
    }
}

/// The routine that called `id`, from the facts of the same actor `before` it.
pub(super) fn caller(
    before: &[FactRecord],
    current: &FactRecord,
    id: Id,
    context: Context,
) -> Option<Id> {
    for record in before
        .iter()
        .rev()
        .filter(|record| record.actor == current.actor)
    {
        if matches!(record.fact, Fact::Queue(QueueFact::LockReleased { .. })) {
            return None;
        }
        let (of, _) = place_of(record, context)?;
        let routine = of.routine();
        if routine.lines.iter().any(|line| line.calls.contains(&id)) {
            return Some(of);
        }
        // An indirect caller: the direct caller has stated no fact.
        if of != id && routine.line_that_calls(id, usize::MAX).is_some() {
            return None;
        }
    }
    None
}

/// Index and line of the first deletion that the current Replace detected.
fn first_deletion(recent: &[FactRecord], context: Context) -> Option<(usize, usize)> {
    let actor = recent.last()?.actor;
    let mut first = None;
    for (index, record) in recent.iter().enumerate().rev() {
        if record.actor != actor {
            continue;
        }
        if matches!(record.fact, Fact::Queue(QueueFact::LockTaken { .. })) {
            break;
        }
        if matches!(record.fact, Fact::Queue(QueueFact::DeletionDetected { .. })) {
            first = place_of(record, context).map(|(_, line)| (index, line));
        }
    }
    first
}

/// The result of a call. `facts` are those of the called routine, newest first.
fn outcome(facts: &[&Fact]) -> Option<String> {
    // A loop calls the routine once per object.
    let appended = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::Queue(QueueFact::DeltaAppended { .. })))
        .count();
    if appended > 1 {
        return Some(counted(appended, "object", "objects"));
    }
    // The write states more than the index updates after it.
    let write = facts.iter().find(|fact| changes_store(fact));
    let mut enqueued = false;
    for fact in write.into_iter().chain(facts) {
        if matches!(fact, Fact::Queue(QueueFact::KeyEnqueued { .. })) {
            enqueued = true;
        } else if matches!(fact, Fact::Queue(QueueFact::DeltasMerged { .. })) {
            return Some("merged".into());
        } else if let Fact::Queue(QueueFact::DeltaAppended { depth, .. }) = fact {
            let depth = deltas(*depth as usize);
            return Some(if enqueued {
                format!("key enqueued, {depth}")
            } else {
                depth
            });
        } else if let Some((_, value)) = values(fact).into_iter().find(|(offset, _)| *offset == 0) {
            return Some(value);
        }
    }
    None
}
