//! A beat: the facts that playback shows as one motion, such as an event on its way from the server to the queue.
//!
//! What says little by itself, such as a lock, costs no time of its own: it comes with the fact that it leads to or
//! that it follows from.

use deltascope_cache::fact::{
    Entry, Fact, FactRecord, HandlersFact, QueueFact, ReflectorFact, ServerFact,
};
use deltascope_cache::key::Key;

use super::step_size::{Told, is_minor, told};

/// The most facts of a beat.
pub const MOST: usize = 64;

/// The facts of a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// How many.
    pub facts: usize,
    /// The place of the one that says what became of them.
    pub headline: usize,
}

/// What a fact is part of.
#[derive(PartialEq)]
enum Act<'a> {
    /// An object of this version is on its way to the queue, and has come this far.
    Arrives(&'a Key, &'a str, u8),
    /// The server answers a list, …
    Answers,
    /// … and the reflector receives it.
    Lists,
    /// Handlers are notified of an object.
    Notifies(&'a Key),
    /// A handler takes its notification.
    Handles(u8),
    /// It prints.
    Prints,
    /// Keys move through the workqueue.
    Works,
    /// Anything else begins a beat.
    Begins,
}

/// How far an object is that the queue has taken.
const QUEUED: u8 = 3;

fn act(fact: &Fact) -> Act<'_> {
    if let Fact::Server(
        ServerFact::ObjectCreated { object, .. }
        | ServerFact::ObjectUpdated { object, .. }
        | ServerFact::ObjectDeleted { object, .. },
    ) = fact
    {
        return Act::Arrives(&object.key, &object.rv, 0);
    }
    if let Fact::Server(ServerFact::EventSent { object, .. }) = fact {
        return Act::Arrives(&object.key, &object.rv, 1);
    }
    if let Fact::Reflector(ReflectorFact::EventReceived { object, .. }) = fact {
        return Act::Arrives(&object.key, &object.rv, 2);
    }
    if let Fact::Server(ServerFact::ListAnswered { .. }) = fact {
        return Act::Answers;
    }
    if let Fact::Reflector(
        ReflectorFact::ListReceived { .. } | ReflectorFact::PageReceived { .. },
    ) = fact
    {
        return Act::Lists;
    }
    if let Fact::Queue(
        QueueFact::DeltaAppended { object, .. }
        | QueueFact::FifoItemSet { object, .. }
        | QueueFact::EntryAppended {
            entry: Entry::Delta(_, object),
            ..
        },
    )
    | Fact::Reflector(ReflectorFact::InitialEventKept { object, .. }) = fact
    {
        return Act::Arrives(&object.key, &object.rv, QUEUED);
    }
    if let Fact::Queue(QueueFact::DeleteIgnored { key }) = fact {
        return Act::Arrives(key, "", QUEUED);
    }
    if let Fact::Handlers(
        HandlersFact::NotificationSent { notification, .. }
        | HandlersFact::NotificationQueued { notification, .. },
    ) = fact
    {
        return Act::Notifies(&notification.object().key);
    }
    if let Fact::Handlers(HandlersFact::NotificationTaken { handler, .. }) = fact {
        return Act::Handles(*handler);
    }
    if matches!(fact, Fact::Handlers(HandlersFact::LinePrinted { .. })) {
        return Act::Prints;
    }
    if matches!(fact, Fact::Work(_)) {
        Act::Works
    } else {
        Act::Begins
    }
}

/// Whether a fact belongs to the beat of the facts `seen`.
fn continues(seen: &[FactRecord], before: &Act, next: &Act) -> bool {
    let is_new = |act: &Act| seen.iter().all(|record| self::act(&record.fact) != *act);
    match (before, next) {
        (Act::Arrives(key, rv, far), Act::Arrives(next, version, farther)) if key == next => {
            far < farther && (rv == version || version.is_empty())
        }
        // The objects of a list, which no events brought.
        (Act::Arrives(_, _, QUEUED), Act::Arrives(key, _, QUEUED)) => {
            seen.iter().all(|record| match act(&record.fact) {
                Act::Arrives(other, _, far) => far == QUEUED && other != *key,
                _ => true,
            })
        }
        (Act::Answers, Act::Lists) => true,
        (Act::Notifies(key), Act::Notifies(next)) => key == next,
        // All handlers at once, and each of them once.
        (Act::Handles(_) | Act::Prints, Act::Handles(_)) => is_new(next),
        (Act::Handles(_) | Act::Prints, Act::Prints) | (Act::Works, Act::Works) => true,
        _ => false,
    }
}

/// The beat that begins with these facts; `None` if there are none.
#[must_use]
pub fn beat(facts: &[FactRecord]) -> Option<Beat> {
    let facts = &facts[..facts.len().min(MOST)];
    let mut beat: Option<Beat> = None;
    let mut before = Act::Begins;
    for (place, FactRecord { fact, .. }) in facts.iter().enumerate() {
        if matches!(told(fact), Told::WithLast | Told::EndsLast) {
            if let Some(beat) = &mut beat {
                beat.facts = place + 1;
            }
            continue;
        }
        let next = act(fact);
        if next == Act::Begins && is_minor(fact) {
            continue;
        }
        if beat.is_some() && !continues(&facts[..place], &before, &next) {
            break;
        }
        before = next;
        beat = Some(Beat {
            facts: place + 1,
            headline: place,
        });
    }
    // What is left at the end of a run.
    let rest = facts.len().checked_sub(1).map(|last| Beat {
        facts: facts.len(),
        headline: last,
    });
    beat.or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons;
    use crate::timeline::Timeline;

    #[test]
    fn the_first_event_of_the_first_lesson_is_shown_in_beats() {
        let lesson = lessons::load(lessons::FIRST).unwrap();
        let mut timeline = Timeline::new(lesson.scenario).unwrap();
        timeline.extend(200);
        let (mut at, mut beats) = (67, Vec::new());
        while at < 75 {
            let facts = timeline.facts(at..at + MOST);
            let beat = beat(&facts).unwrap();
            let names = facts[..beat.facts].iter().map(|record| record.fact.name());
            let names: Vec<_> = names.collect();
            beats.push((facts[beat.headline].fact.name(), names.join(" ")));
            at += beat.facts;
        }
        let event = "ObjectUpdated EventSent EventReceived LockTaken DeltaAppended KeyEnqueued LockReleased LastSyncMoved";
        let expected = [("DeltaAppended", event.to_owned())];
        assert_eq!(beats, expected);
    }

    #[test]
    fn beats_cover_every_run_without_a_gap() {
        for (id, _) in lessons::menu() {
            let mut timeline = Timeline::new(lessons::load(&id).unwrap().scenario).unwrap();
            timeline.extend(1_000);
            let facts = timeline.facts(0..1_000);
            let mut at = 0;
            while let Some(beat) = beat(&facts[at..]) {
                assert!(beat.headline < beat.facts && beat.facts <= MOST);
                at += beat.facts;
            }
            assert_eq!(at, facts.len(), "{id}");
        }
    }
}
