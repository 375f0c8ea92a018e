//! One invocation of a routine: where it begins, who called it, and the values of its lines.

use deltascope_cache::fact::{Fact, FactRecord, QueueFact, StoreFact};
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;

use super::places::{Context, place_of};
use super::routines::Id;
use super::values::{counted, deltas, named, values};

/// What the facts of one invocation say, gathered backwards from the last one.
pub(super) struct Invocation {
    /// The index of its first fact.
    pub(super) start: usize,
    /// The value of each line that has one.
    pub(super) values: SortedMap<usize, String>,
}

impl Invocation {
    /// The one of routine `id` that the last fact is in, at its line `current`.
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
            // A switch may be moved in the middle of anything.
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
            // A FIFO has an object where a DeltaFIFO has deltas.
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

/// Who called the routine, from what the same actor did `before`.
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
        // The caller's caller: the caller itself has said nothing.
        if of != id && routine.line_that_calls(id, usize::MAX).is_some() {
            return None;
        }
    }
    None
}

/// In a Replace: the index of the first deletion that this call found, and its line.
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

/// What a call came to: `facts` are those of the routine that was called, newest first.
fn outcome(facts: &[&Fact]) -> Option<String> {
    // In a loop it is called again and again.
    let appended = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::Queue(QueueFact::DeltaAppended { .. })))
        .count();
    if appended > 1 {
        return Some(counted(appended, "object", "objects"));
    }
    // The write says more than the indices that follow it.
    let write = facts.iter().find(|fact| {
        matches!(
            fact,
            Fact::Store(
                StoreFact::ItemStored { .. }
                    | StoreFact::ItemRemoved { .. }
                    | StoreFact::StoreReplaced { .. }
            )
        )
    });
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
