//! The facts of a beat or a step → one scene. Pure.
//!
//! An object that comes through several places flies along one path, without a stop but in the reflector's hand. What
//! happens to several handlers or index entries at once is shown at once; everything else, one after the other.

use super::plan::{BRIEF_MS, Flight, Hides, LIGHT_MS, Look, Motion, REST_MS, SETTLE_MS, plan};
use crate::anchor::Anchor;
use deltascope_cache::fact::{Fact, FactRecord, HandlersFact, QueueFact};
use deltascope_cache::key::Key;
use deltascope_replay::picture::Picture;
use deltascope_replay::step_size::is_minor;

/// The time from one place on a path to the next, in ms at normal speed.
const LEG_MS: u32 = 300;
/// The time between the landing of one thing and the start of the next, in ms at normal speed.
const GAP_MS: u32 = 100;
/// Things of a list leave one after the other, this many ms apart at normal speed.
const STAGGER_MS: u32 = 60;
/// At most this many things move in a scene: nobody follows more. The objects of the others are counted, way by way.
const MOST_FLIGHTS: usize = 24;
/// A step's scene takes at most this long, in ms at normal speed.
const LONGEST_MS: u32 = 8_000;

/// What moves and lights up in a beat or a step.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scene {
    /// What moves, in order.
    pub flights: Vec<Flight>,
    /// What lights up, and when, in ms at normal speed.
    pub flashes: Vec<(u32, Vec<Anchor>)>,
    /// The time for all of it, in ms at normal speed.
    pub ms: u32,
}

/// What moves at once with others of its kind.
#[derive(Clone, Copy, PartialEq)]
enum Together {
    Listed,
    Notified,
    Handled,
    Worked,
}

fn together(fact: &Fact) -> Option<Together> {
    if matches!(fact, Fact::Work(_)) {
        Some(Together::Worked)
    } else if matches!(
        fact,
        Fact::Queue(QueueFact::DeltaAppended { .. } | QueueFact::EntryAppended { .. })
    ) {
        Some(Together::Listed)
    } else if matches!(
        fact,
        Fact::Handlers(
            HandlersFact::NotificationSent { .. } | HandlersFact::NotificationQueued { .. }
        )
    ) {
        Some(Together::Notified)
    } else {
        matches!(
            fact,
            Fact::Handlers(
                HandlersFact::NotificationTaken { .. } | HandlersFact::LinePrinted { .. }
            )
        )
        .then_some(Together::Handled)
    }
}

/// Merges the motions of facts.
#[derive(Default)]
pub struct Merged {
    scene: Scene,
    /// When the last thing has landed.
    now: u32,
    /// The last things that moved at once: their kind, when they began to, and which is the first.
    last: Option<(Together, u32, usize)>,
    /// The ways from room to room of what is not shown each: the first flight on it, and the objects that go it.
    others: Vec<(Flight, Vec<Key>)>,
}

impl Merged {
    /// Adds a fact; `after` is the picture with the fact applied.
    pub fn add(&mut self, record: &FactRecord, after: &Picture) {
        let Motion { flight, flash, ms } = plan(record, after);
        let Some(flight) = flight else {
            self.scene.ms = self.scene.ms.max(ms);
            // The light of a lock would hide that of what moves.
            let is_hidden = is_minor(&record.fact) && !self.scene.flights.is_empty();
            if !flash.is_empty() && !is_hidden {
                self.scene.flashes.push((self.now, flash));
            }
            return;
        };
        self.fly(flight, &record.fact);
    }

    fn fly(&mut self, mut flight: Flight, fact: &Fact) {
        let kind = together(fact);
        let is_work = kind == Some(Together::Worked);
        let flights = &mut self.scene.flights;
        let before = flights
            .iter_mut()
            .rev()
            .find(|one| one.to.first() == flight.from.first());
        match before {
            // The reflector has it, and puts it into the queue then.
            Some(before) if flight.from.first() == Some(&Anchor::Hand) => {
                flight.at = before.end() + GAP_MS;
            }
            Some(before) if is_same(&before.look, &flight.look) => {
                extend(before, flight, if is_work { BRIEF_MS } else { LEG_MS });
                self.now = self.now.max(before.end());
                return;
            }
            // It goes on where something else has come. What is in a crate leaves it one by one.
            Some(before) if before.look != Look::Crate => flight.at = before.end(),
            _ => flight.at = self.start(&flight, kind),
        }
        if is_work {
            flight.ms = BRIEF_MS;
        }
        if self.scene.flights.len() >= MOST_FLIGHTS {
            flight.at = flight.at.min(self.now + GAP_MS);
            self.count(flight, fact);
            return;
        }
        self.now = self.now.max(flight.end());
        self.scene.flights.push(flight);
    }

    /// Counts the object of a flight that is not shown.
    fn count(&mut self, flight: Flight, fact: &Fact) {
        let Some(key) = fact.key() else { return };
        let way = |of: &Flight| [&of.from, &of.to].map(|end| end.first().map(Anchor::room));
        let place = self
            .others
            .iter()
            .position(|(of, _)| way(of) == way(&flight));
        let place = place.unwrap_or_else(|| {
            self.others.push((flight, Vec::new()));
            self.others.len() - 1
        });
        let keys = &mut self.others[place].1;
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }

    /// When a flight begins: with others of its kind, or after all before it.
    fn start(&mut self, flight: &Flight, kind: Option<Together>) -> u32 {
        let flights = &self.scene.flights;
        if let Some((last, at, first)) = self.last
            && Some(last) == kind
        {
            let others = flights.get(first..).unwrap_or_default();
            if others.iter().all(|one| one.to.first() != flight.to.first()) {
                let count = u32::try_from(others.len().min(8)).unwrap_or_default();
                return match last {
                    Together::Listed => at + STAGGER_MS * count,
                    Together::Notified | Together::Handled | Together::Worked => at,
                };
            }
        }
        let at = match flights.is_empty() {
            true => LIGHT_MS,
            false => self.now + GAP_MS,
        };
        self.last = kind.map(|kind| (kind, at, flights.len()));
        at
    }

    /// All of it.
    #[must_use]
    pub fn scene(self) -> Scene {
        let Self {
            mut scene,
            mut now,
            last,
            others,
        } = self;
        for (flight, keys) in others {
            now = now.max(flight.end());
            scene.flights.push(Flight {
                look: Look::Others(keys.len()),
                hides: Hides::Nothing,
                ghost: false,
                ..flight
            });
        }
        // What came back to where it was has not moved.
        scene
            .flights
            .retain(|flight| flight.from.first() != flight.to.first());
        for flight in &scene.flights {
            let after = scene.flashes.iter().position(|(at, _)| *at > flight.end());
            let place = after.unwrap_or(scene.flashes.len());
            scene
                .flashes
                .insert(place, (flight.end(), flight.to.clone()));
        }
        if scene.flights.is_empty() {
            return scene;
        }
        // Retries are no news.
        let works = matches!(last, Some((Together::Worked, ..)));
        scene.ms = now + SETTLE_MS + if works { 0 } else { REST_MS };
        if scene.ms > LONGEST_MS {
            let all = scene.ms;
            let shorter = |ms: &mut u32| {
                let scaled = u64::from(*ms) * u64::from(LONGEST_MS) / u64::from(all);
                *ms = u32::try_from(scaled).unwrap_or(LONGEST_MS);
            };
            for flight in &mut scene.flights {
                shorter(&mut flight.at);
                shorter(&mut flight.ms);
            }
            scene.flashes.iter_mut().for_each(|(at, _)| shorter(at));
            scene.ms = LONGEST_MS;
        }
        scene
    }
}

/// Whether both show the same object.
fn is_same(one: &Look, other: &Look) -> bool {
    match (one, other) {
        (Look::Pill(one), Look::Pill(other)) => one == other,
        (Look::Label(one), Look::Label(other)) => one == other,
        _ => false,
    }
}

/// Lets a flight go on to the end of the next one. A path that returns to a place goes on from there.
fn extend(flight: &mut Flight, next: Flight, leg: u32) {
    let end = next.to.first();
    if let Some(place) = flight.via.iter().position(|via| via.first() == end) {
        flight.ms -= leg * u32::try_from(flight.via.len() - place).unwrap_or_default();
        flight.via.truncate(place);
    } else if flight.from.first() == end {
        flight.via.clear();
    } else {
        flight.via.push(std::mem::take(&mut flight.to));
        flight.ms += leg;
    }
    flight.to = next.to;
    flight.look = next.look;
    flight.hides = next.hides;
    flight.hue = next.hue.or(flight.hue);
}

#[cfg(test)]
mod tests;
