//! In which room a fact happened, and which one is shown where there is room for one.

use crate::stage::Panel;
use crate::view::View;
use deltascope_cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, QueueFact, ReflectorFact, RunFact,
};
use deltascope_cache::step::Step;
use deltascope_replay::picture::Picture;

/// The room that an element begins with where it shows one of these at a time: that of the newest fact that has one,
/// or the queue.
#[must_use]
pub fn shown(view: &View, rooms: &[Panel]) -> Panel {
    let has = |room: &Panel| rooms.contains(room);
    let first = || rooms.first().copied().unwrap_or(Panel::Queue);
    let mut facts = view.narrated().0.iter().rev();
    facts
        .find_map(|record| Some(room(record)).filter(has))
        .or(Some(Panel::Queue).filter(has))
        .unwrap_or_else(first)
}

/// The room in which a fact happened.
#[must_use]
pub fn room(record: &FactRecord) -> Panel {
    match &record.fact {
        Fact::Server(_) => Panel::Api,
        // The program sends the requests itself, without a reflector.
        Fact::Reflector(fact) if record.actor == Actor::Program && is_of_requests(fact) => {
            Panel::Api
        }
        Fact::Reflector(_) => Panel::Reflector,
        Fact::Queue(QueueFact::TransformFailed { .. } | QueueFact::Transformed { .. })
            if record.step == Step::ReflectorKeep =>
        {
            Panel::Reflector
        }
        Fact::Queue(fact) => queue_room(fact),
        Fact::Store(_) => Panel::Indexer,
        Fact::Handlers(fact) => handlers_room(fact),
        Fact::Work(_) => Panel::Processor,
        Fact::Run(fact) => run_room(fact),
    }
}

/// The room to begin with, before anything has happened: the queue, or what the program has instead.
#[must_use]
pub fn first(picture: &Picture) -> Panel {
    if picture.informer.has_queue() {
        Panel::Queue
    } else if picture.store.present {
        Panel::Indexer
    } else {
        Panel::Api
    }
}

/// Whether it is about a list or a watch, which a program can request itself.
fn is_of_requests(fact: &ReflectorFact) -> bool {
    matches!(
        fact,
        ReflectorFact::ListRequested { .. }
            | ReflectorFact::ListFailed { .. }
            | ReflectorFact::WatchFailed { .. }
            | ReflectorFact::ListReceived { .. }
            | ReflectorFact::WatchRequested { .. }
            | ReflectorFact::EventReceived { .. }
            | ReflectorFact::WatchEnded { .. }
    )
}

fn queue_room(fact: &QueueFact) -> Panel {
    if let QueueFact::LockTaken { by, .. }
    | QueueFact::LockAwaited { by, .. }
    | QueueFact::LockReleased { by, .. } = fact
    {
        let waits = matches!(fact, QueueFact::LockAwaited { .. });
        return match by {
            Actor::ProcessLoop => Panel::Pop,
            // The main program only handles event handlers.
            Actor::Main => Panel::Processor,
            // Who waits is shown beside what it waits for.
            _ if waits => Panel::Pop,
            _ => Panel::Queue,
        };
    }
    let of_pop = matches!(
        fact,
        QueueFact::FifoKeySkipped { .. }
            | QueueFact::EntriesTaken { .. }
            | QueueFact::QueueEmpty
            | QueueFact::KeyPopped { .. }
            | QueueFact::ProcessFailed { .. }
            | QueueFact::ProcessWasSlow { .. }
            | QueueFact::DeltaTaken { .. }
            | QueueFact::Processed { .. }
            | QueueFact::EntriesProcessed { .. }
    );
    if of_pop {
        Panel::Pop
    } else if matches!(
        fact,
        QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. }
    ) {
        Panel::Indexer
    } else {
        Panel::Queue
    }
}

fn handlers_room(fact: &HandlersFact) -> Panel {
    // The object that a handler wrote into is in the store.
    if matches!(
        fact,
        HandlersFact::ObjectMutated { .. } | HandlersFact::MutationDetected { .. }
    ) {
        Panel::Indexer
    } else {
        Panel::Processor
    }
}

fn run_room(fact: &RunFact) -> Panel {
    match fact {
        RunFact::Called { .. } => Panel::Api,
        RunFact::KnownObjectsSet { .. } => Panel::Queue,
        RunFact::ModeSet { .. } | RunFact::PopAsked { .. } => Panel::Pop,
        // Their card is in the Indexer's room.
        RunFact::BesideRequested { .. } | RunFact::BesideStored { .. } => Panel::Indexer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::session::Session;
    use deltascope_cache::fact::{Cause, FactId, LockName};

    fn record(actor: Actor, fact: Fact) -> FactRecord {
        FactRecord {
            id: FactId(0),
            time: 0,
            actor,
            cause: Cause::Start,
            step: Step::PopLock,
            fact,
        }
    }

    fn at(actor: Actor, fact: Fact) -> Panel {
        room(&record(actor, fact))
    }

    #[test]
    fn an_element_begins_in_the_room_of_the_newest_fact_that_has_one_there() {
        use Panel::{Indexer, Now, Pop, Processor, Queue, Reflector};
        let mut session = Session::new();
        session.obey(Command::Load("myinformer".into()));
        let view = session.view();
        assert_eq!(shown(&view, &[Pop, Queue]), Queue, "nothing has happened");
        assert_eq!(shown(&view, &[Now, Reflector]), Now);
        let updated = view.markers.iter().find(|one| &*one.id == "on-update");
        let at = updated.map(|one| one.at);
        session.obey(Command::Seek(at.unwrap_or_default()));
        let view = session.view();
        // The handler is called: the object has just been stored, after it was popped.
        assert_eq!(shown(&view, &[Queue, Indexer, Processor]), Processor);
        assert_eq!(shown(&view, &[Queue, Pop, Indexer, Now]), Indexer);
        assert_eq!(shown(&view, &[Queue, Pop]), Pop);
    }

    #[test]
    fn a_fact_is_in_its_owners_room_but_for_these() {
        let elsewhere = [
            (Panel::Api, "Called"),
            (Panel::Queue, "KnownObjectsSet"),
            (
                Panel::Pop,
                "FifoKeySkipped EntriesTaken QueueEmpty KeyPopped ProcessFailed ProcessWasSlow DeltaTaken \
                 Processed EntriesProcessed ModeSet PopAsked",
            ),
            (
                Panel::Indexer,
                "ListOpened ResyncOpened ObjectMutated MutationDetected BesideRequested BesideStored",
            ),
        ];
        let has = |names: &str, name: &str| names.split(' ').any(|of| of == name);
        // A program without a reflector sends its requests itself …
        let asked = "ListRequested ListFailed WatchFailed ListReceived WatchRequested EventReceived WatchEnded";
        // … and what a streaming list keeps is not queued yet.
        let kept = "TransformFailed Transformed";
        let locks = "LockTaken LockAwaited LockReleased";
        for fact in Fact::samples() {
            let name = fact.name();
            let owner = match fact {
                Fact::Server(_) => Panel::Api,
                Fact::Reflector(_) => Panel::Reflector,
                Fact::Queue(_) | Fact::Run(_) => Panel::Queue,
                Fact::Store(_) => Panel::Indexer,
                Fact::Handlers(_) | Fact::Work(_) => Panel::Processor,
            };
            if has(locks, name) {
                continue;
            }
            let exception = elsewhere.iter().find(|(_, names)| has(names, name));
            let own = exception.map_or(owner, |(room, _)| *room);
            let or = |names, other| if has(names, name) { other } else { own };
            for (actor, step, expected) in [
                (Actor::Reflector, Step::PopLock, own),
                (Actor::Program, Step::PopLock, or(asked, Panel::Api)),
                (
                    Actor::Reflector,
                    Step::ReflectorKeep,
                    or(kept, Panel::Reflector),
                ),
            ] {
                let room = room(&FactRecord {
                    step,
                    ..record(actor, fact.clone())
                });
                assert_eq!(room, expected, "{name}");
            }
        }
    }

    #[test]
    fn a_lock_belongs_to_the_room_of_the_actor_that_takes_it_and_a_wait_to_that_of_the_lock() {
        for (by, expected) in [
            (Actor::ProcessLoop, Panel::Pop),
            (Actor::Main, Panel::Processor),
            (Actor::Reflector, Panel::Queue),
            (Actor::Resync, Panel::Queue),
            (Actor::Program, Panel::Queue),
        ] {
            for lock in [LockName::Queue, LockName::BlockDeltas] {
                for fact in [
                    Fact::Queue(QueueFact::LockTaken { lock, by }),
                    Fact::Queue(QueueFact::LockReleased { lock, by }),
                ] {
                    assert_eq!(at(by, fact.clone()), expected, "{fact:?}");
                }
                let holder = Actor::Server;
                let waits = Fact::Queue(QueueFact::LockAwaited { lock, by, holder });
                let beside = match expected {
                    Panel::Processor => expected,
                    _ => Panel::Pop,
                };
                assert_eq!(at(by, waits), beside, "{by:?}");
            }
        }
    }
}
