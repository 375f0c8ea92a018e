//! Lanes: which actor ran, waited or held a lock, over the last facts.

use deltascope_cache::fact::{Actor, Fact, FactRecord, HandlersFact, LockName, QueueFact};
use deltascope_cache::step::Step;
use deltascope_replay::picture::{LockState, Picture, SourceKind};

use super::fact_queries::lock_of;
use deltascope_world::text::Lang;

/// How many facts the lanes show: a slot is then about 5 px wide, the least that the eye can distinguish.
const WINDOW: usize = 40;

/// One lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// The actor of the lane.
    pub actor: Actor,
    /// The actor's English name; [`actor_name`] has the others.
    pub name: String,
    /// What the actor did, in order, without overlap.
    pub segments: Vec<Segment>,
}

/// A stretch of one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where it begins: 0 is the window's left edge.
    pub from: f32,
    /// Where it ends: 1 is the window's right edge.
    pub to: f32,
    /// What the actor did.
    pub kind: Kind,
}

/// What an actor did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It ran without a lock.
    Runs,
    /// It held the queue's lock.
    HoldsLock,
    /// It held `blockDeltas` and not the queue's lock.
    HoldsBlock,
    /// It waited for the queue's lock.
    Waits,
    /// It waited for `blockDeltas`.
    WaitsBlock,
}

/// The lanes of the last [`WINDOW`] facts of `recent` (oldest first); `picture` is the state after
/// them. Each fact is one slot, so a short run fills the lanes from the left.
#[must_use]
pub fn lanes(recent: &[FactRecord], picture: &Picture) -> Vec<Lane> {
    let queue = picture.informer.has_queue();
    let source = match picture.api.source {
        SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster if queue => {
            Actor::Reflector
        }
        _ => Actor::Program,
    };
    let listeners = picture
        .handlers
        .iter()
        .zip(0..)
        .filter(|(handler, number)| {
            // A handler that has stopped keeps its lane for that fact only.
            let ends = recent.last().is_some_and(|last| {
                last.actor == Actor::Listener(*number)
                    || matches!(last.fact, Fact::Handlers(HandlersFact::HandlerRemoved { handler }) if handler == *number)
            });
            !handler.inline && (!handler.is_gone() || ends)
        })
        .map(|(_, number)| Actor::Listener(number));
    let resyncs = picture.resync_check_ms > 0 || picture.reflector.resyncs > 0;
    let workers = picture.work.as_ref().map_or(0, |work| work.workers.len());
    [
        Some(source),
        resyncs.then_some(Actor::Resync),
        queue.then_some(Actor::ProcessLoop),
    ]
    .into_iter()
    .flatten()
    .chain(listeners)
    .chain((0..=u8::MAX).take(workers).map(Actor::Worker))
    .map(|actor| Lane {
        actor,
        name: actor_name(actor, picture, Lang::En),
        segments: segments(actor, recent, picture),
    })
    .collect()
}

/// The name of an actor on the page; in English also where scripts read it.
#[must_use]
pub fn actor_name(actor: Actor, picture: &Picture, lang: Lang) -> String {
    match (actor, lang) {
        (Actor::Server, Lang::En) => "api server".into(),
        (Actor::Server, Lang::Zh) => "API server".into(),
        (Actor::Program, Lang::En) => "program".into(),
        (Actor::Program, Lang::Zh) => "程序".into(),
        (Actor::Reflector, Lang::En) => "reflector".into(),
        (Actor::Reflector, Lang::Zh) => "Reflector".into(),
        (Actor::ProcessLoop, Lang::En) => "process loop".into(),
        (Actor::ProcessLoop, Lang::Zh) => "处理循环".into(),
        (Actor::Resync, Lang::En) => "resync timer".into(),
        (Actor::Resync, Lang::Zh) => "resync 定时器".into(),
        (Actor::Main, Lang::En) => "main program".into(),
        (Actor::Main, Lang::Zh) => "主程序".into(),
        (Actor::Worker(number), _) => format!("worker {}", u16::from(number) + 1),
        (Actor::Pop(number) | Actor::Listener(number), _) => match handler_name(number, picture) {
            HandlerName::Own(name) | HandlerName::Noun(name) => name.to_owned(),
            HandlerName::Number => format!("handler {}", u16::from(number) + 1),
        },
    }
}

/// How a sentence calls a handler.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HandlerName<'a> {
    /// By its name, after the noun: `handler printer`.
    Own(&'a str),
    /// By its name alone, which has the noun: `handler-a`, `your handler`.
    Noun(&'a str),
    /// By its number: it has no name.
    Number,
}

pub(crate) fn handler_name(number: u8, picture: &Picture) -> HandlerName<'_> {
    let handler = picture.handlers.get(usize::from(number));
    match handler.map(|handler| &*handler.name) {
        None | Some("") => HandlerName::Number,
        Some(name) if name.starts_with("handler") || name.ends_with("handler") => {
            HandlerName::Noun(name)
        }
        Some(name) => HandlerName::Own(name),
    }
}

fn segments(actor: Actor, recent: &[FactRecord], picture: &Picture) -> Vec<Segment> {
    let start = recent.len().saturating_sub(WINDOW);
    let [mut queue, mut block] = [LockName::Queue, LockName::BlockDeltas]
        .map(|lock| LockUse::at_start(lock, actor, recent, picture));
    let mut segments: Vec<(usize, usize, Kind)> = Vec::new();
    for (index, record) in recent.iter().enumerate() {
        // The slot in which a lock changes hands belongs to the actor that gets it or releases it.
        let mut released = None;
        if let Some((lock, by)) = lock_of(&record.fact)
            && runs_in(by, picture) == actor
        {
            let of = match lock {
                LockName::Queue => &mut queue,
                LockName::BlockDeltas => &mut block,
            };
            if let Fact::Queue(QueueFact::LockTaken { .. }) = record.fact {
                *of = LockUse::HELD;
            } else if let Fact::Queue(QueueFact::LockAwaited { .. }) = record.fact {
                of.waits = true;
            } else {
                of.held = false;
                released = Some(lock);
            }
        }
        let kind = if queue.waits {
            Kind::Waits
        } else if block.waits {
            Kind::WaitsBlock
        } else if queue.held || released == Some(LockName::Queue) {
            Kind::HoldsLock
        } else if block.held || released == Some(LockName::BlockDeltas) {
            Kind::HoldsBlock
        } else if runs_in(record.actor, picture) == actor && record.step != Step::SettingChanged {
            // A switch that the user moved is no actor's work.
            Kind::Runs
        } else {
            continue;
        };
        let Some(slot) = index.checked_sub(start) else {
            continue;
        };
        match segments.last_mut() {
            Some((_, to, last)) if *to == slot && *last == kind => *to = slot + 1,
            _ => segments.push((slot, slot + 1, kind)),
        }
    }
    segments
        .into_iter()
        .map(|(from, to, kind)| Segment {
            from: edge(from),
            to: edge(to),
            kind,
        })
        .collect()
}

/// An inline handler has no thread of its own: it runs in the process loop. A listener's `pop` and
/// `run` share a lane.
fn runs_in(actor: Actor, picture: &Picture) -> Actor {
    match actor {
        Actor::Pop(number) => Actor::Listener(number),
        Actor::Listener(number)
            if picture
                .handlers
                .get(usize::from(number))
                .is_some_and(|handler| handler.inline) =>
        {
            Actor::ProcessLoop
        }
        _ => actor,
    }
}

/// One actor's use of one lock.
#[derive(Clone, Copy)]
struct LockUse {
    held: bool,
    waits: bool,
}

impl LockUse {
    const HELD: Self = Self {
        held: true,
        waits: false,
    };

    /// The state before the first of `recent`. The first fact about the lock names its holder. An actor that waited
    /// then still waits, if no fact since says that its wait began or ended.
    fn at_start(lock: LockName, actor: Actor, recent: &[FactRecord], picture: &Picture) -> Self {
        let now: &LockState = match lock {
            LockName::Queue => &picture.lock,
            LockName::BlockDeltas => &picture.block_deltas,
        };
        let mut facts = recent
            .iter()
            .filter(|record| lock_of(&record.fact).is_some_and(|(of, _)| of == lock));
        let holder = facts
            .clone()
            .next()
            .map_or(now.holder, |record| holder_before(&record.fact));
        Self {
            held: holder.map(|holder| runs_in(holder, picture)) == Some(actor),
            waits: now.waiting.contains(&actor)
                && !facts.any(|record| {
                    matches!(
                        &record.fact,
                        Fact::Queue(
                            QueueFact::LockTaken { by, .. } | QueueFact::LockAwaited { by, .. },
                        ) if *by == actor
                    )
                }),
        }
    }
}

/// The actor that held a lock before a fact about the lock.
fn holder_before(fact: &Fact) -> Option<Actor> {
    if let Fact::Queue(
        QueueFact::LockAwaited { holder, .. } | QueueFact::LockReleased { by: holder, .. },
    ) = fact
    {
        Some(*holder)
    } else {
        None
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a slot is at most WINDOW, far below what f32 holds exactly"
)]
fn edge(slot: usize) -> f32 {
    slot as f32 / WINDOW as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltascope_cache::fact::{Cause, FactId, LockName};
    use deltascope_replay::picture::HandlerRoom;

    fn records(facts: Vec<(Actor, Fact)>) -> Vec<FactRecord> {
        facts
            .into_iter()
            .zip(0..)
            .map(|((actor, fact), id)| FactRecord {
                id: FactId(id),
                time: 0,
                actor,
                cause: Cause::Start,
                step: Step::AddLock,
                fact,
            })
            .collect()
    }

    fn taken(by: Actor) -> (Actor, Fact) {
        (
            by,
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by,
            }),
        )
    }

    fn released(by: Actor) -> (Actor, Fact) {
        (
            by,
            Fact::Queue(QueueFact::LockReleased {
                lock: LockName::Queue,
                by,
            }),
        )
    }

    fn spans(lane: &Lane) -> Vec<(usize, usize, Kind)> {
        let slot = |edge: f32| (0..=WINDOW).find(|slot| (super::edge(*slot) - edge).abs() < 1e-4);
        lane.segments
            .iter()
            .map(|segment| {
                (
                    slot(segment.from).unwrap_or(usize::MAX),
                    slot(segment.to).unwrap_or(usize::MAX),
                    segment.kind,
                )
            })
            .collect()
    }

    #[test]
    fn one_actor_waits_while_the_other_holds_the_lock() {
        let (reflector, pop) = (Actor::Reflector, Actor::ProcessLoop);
        let recent = records(vec![
            (reflector, Fact::Queue(QueueFact::QueueEmpty)),
            taken(reflector),
            (
                pop,
                Fact::Queue(QueueFact::LockAwaited {
                    lock: LockName::Queue,
                    by: pop,
                    holder: reflector,
                }),
            ),
            (reflector, Fact::Queue(QueueFact::FifoCleared)),
            released(reflector),
            taken(pop),
            (pop, Fact::Queue(QueueFact::QueueEmpty)),
            released(pop),
            (pop, Fact::Queue(QueueFact::FifoCleared)),
        ]);
        let lanes = lanes(&recent, &Picture::default());
        assert_eq!(lanes.len(), 2);
        assert_eq!(lanes[0].name, "reflector");
        assert_eq!(
            spans(&lanes[0]),
            [(0, 1, Kind::Runs), (1, 5, Kind::HoldsLock)]
        );
        assert_eq!(
            spans(&lanes[1]),
            [
                (2, 5, Kind::Waits),
                (5, 8, Kind::HoldsLock),
                (8, 9, Kind::Runs)
            ]
        );
    }

    #[test]
    fn a_lock_held_since_before_the_window_is_shown() {
        let mut facts = vec![taken(Actor::ProcessLoop)];
        facts.extend((0..60).map(|_| (Actor::ProcessLoop, Fact::Queue(QueueFact::FifoCleared))));
        facts.push(released(Actor::ProcessLoop));
        let all = records(facts);
        let picture = Picture::default();
        assert_eq!(
            spans(&lanes(&all, &picture)[1]),
            [(0, WINDOW, Kind::HoldsLock)]
        );
        // The same if the lock was taken before all available facts.
        assert_eq!(
            spans(&lanes(&all[30..], &picture)[1]),
            [(0, 32, Kind::HoldsLock)]
        );
        let mut held = picture;
        held.lock.holder = Some(Actor::ProcessLoop);
        held.lock.waiting = vec![Actor::Reflector];
        let middle = lanes(&all[10..20], &held);
        assert_eq!(spans(&middle[0]), [(0, 10, Kind::Waits)]);
        assert_eq!(spans(&middle[1]), [(0, 10, Kind::HoldsLock)]);
    }

    #[test]
    fn handlers_with_a_buffer_have_lanes_and_inline_ones_run_in_the_process_loop() {
        let mut picture = Picture::default();
        picture.api.source = SourceKind::Program;
        picture.handlers = vec![
            HandlerRoom {
                name: "inside".into(),
                inline: true,
                ..HandlerRoom::default()
            },
            HandlerRoom {
                name: "second".into(),
                ..HandlerRoom::default()
            },
        ];
        let recent = records(vec![
            (
                Actor::Listener(0),
                Fact::Handlers(HandlersFact::NotificationHandled { handler: 0 }),
            ),
            (
                Actor::Listener(1),
                Fact::Handlers(HandlersFact::NotificationHandled { handler: 1 }),
            ),
        ]);
        let lanes = lanes(&recent, &picture);
        let names: Vec<_> = lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["program", "process loop", "second"]);
        assert_eq!(spans(&lanes[1]), [(0, 1, Kind::Runs)]);
        assert_eq!(spans(&lanes[2]), [(1, 2, Kind::Runs)]);
    }

    #[test]
    fn a_removed_handler_has_a_lane_until_it_has_stopped() {
        let picture = Picture {
            handlers: vec![HandlerRoom {
                removed: true,
                ..HandlerRoom::default()
            }],
            ..Picture::default()
        };
        let count = |fact| lanes(&records(vec![(Actor::Main, fact)]), &picture).len();
        assert_eq!(
            count(Fact::Handlers(HandlersFact::HandlerRemoved { handler: 0 })),
            3
        );
        assert_eq!(count(Fact::Queue(QueueFact::QueueEmpty)), 2);
    }

    #[test]
    fn two_locks_are_distinguished() {
        let (main, pop) = (Actor::Main, Actor::ProcessLoop);
        let lock = LockName::BlockDeltas;
        let mut picture = Picture::default();
        picture.resync_check_ms = 1;
        picture.work = Some(deltascope_replay::picture::WorkRoom {
            workers: vec![None; 2],
            ..Default::default()
        });
        picture.handlers = vec![HandlerRoom::default()];
        let recent = records(vec![
            taken(pop),
            (
                pop,
                Fact::Queue(QueueFact::LockAwaited {
                    lock,
                    by: pop,
                    holder: main,
                }),
            ),
            (pop, Fact::Queue(QueueFact::LockTaken { lock, by: pop })),
            released(pop),
            (pop, Fact::Queue(QueueFact::FifoCleared)),
            (pop, Fact::Queue(QueueFact::LockReleased { lock, by: pop })),
            (Actor::Pop(0), Fact::Queue(QueueFact::FifoCleared)),
            (Actor::Listener(0), Fact::Queue(QueueFact::FifoCleared)),
            (Actor::Worker(1), Fact::Queue(QueueFact::FifoCleared)),
        ]);
        let lanes = lanes(&recent, &picture);
        let names: Vec<_> = lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "reflector",
                "resync timer",
                "process loop",
                "handler 1",
                "worker 1",
                "worker 2"
            ]
        );
        assert_eq!(
            spans(&lanes[2]),
            [
                (0, 1, Kind::HoldsLock),
                (1, 2, Kind::WaitsBlock),
                (2, 4, Kind::HoldsLock),
                (4, 6, Kind::HoldsBlock)
            ]
        );
        assert_eq!(spans(&lanes[3]), [(6, 8, Kind::Runs)]);
        assert_eq!(spans(&lanes[5]), [(8, 9, Kind::Runs)]);
    }

    #[test]
    fn lanes_without_facts_are_empty() {
        let lanes = lanes(&[], &Picture::default());
        assert!(lanes.iter().all(|lane| lane.segments.is_empty()));
    }

    #[test]
    fn a_missing_handler_has_a_name() {
        assert_eq!(
            actor_name(Actor::Listener(7), &Picture::default(), Lang::Zh),
            "handler 8"
        );
    }

    #[test]
    fn a_name_that_begins_with_the_noun_stands_alone() {
        for (name, expected) in [
            ("", HandlerName::Number),
            ("printer", HandlerName::Own("printer")),
            ("handler-a", HandlerName::Noun("handler-a")),
        ] {
            let mut picture = Picture::default();
            picture.handlers.push(HandlerRoom {
                name: name.into(),
                ..HandlerRoom::default()
            });
            assert_eq!(handler_name(0, &picture), expected);
        }
    }
}
