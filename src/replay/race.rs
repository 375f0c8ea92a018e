//! The same inputs in the four generations, at one virtual time, and the moments at which they part.
//!
//! Each lane is a run of its own. At a time it shows what holds at the end of that moment: facts have no counterparts
//! in another run, times have.

use std::ops::ControlFlow;
use std::sync::Arc;

use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Fact, HandlersFact, NotificationRef, ObjectRef};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::Time;

use super::diff::{self, SHOWN, Thing};
use super::picture::{Picture, QueueKind};
use super::timeline::{SEEN, Timeline};
use super::writes::{Alike, Writes};

/// The lanes: one for each generation, oldest first.
pub const LANES: usize = Generation::ALL.len();
/// The most facts of a lane, so that all four together respond as fast as one run does.
pub const MOST_FACTS: usize = 25_000;
/// The most work for the comparisons, in facts: many objects count for several facts.
const MOST_WORK: usize = 1_000_000;
/// How much of that work is done to count the partings before anything is shown.
const COUNTED_WORK: usize = 20_000;
/// The most things of a queue, a store or a handler that a lane shows.
const SHOWN_IN_LANE: usize = SHOWN / 2;

/// What is compared. Lanes that are alike have the same number in [`Groups`].
const COMPARED: [fn(&State, &State, Alike) -> bool; 3] = [queues, stores, handlers];
/// The place of the queues in [`Groups`].
pub const QUEUES: usize = 0;
/// The place of the stores.
pub const STORES: usize = 1;
/// The place of what the handlers know.
pub const HANDLERS: usize = 2;

/// For queues, stores and handlers: the number of the first lane that each lane is like.
pub type Groups = [[usize; LANES]; COMPARED.len()];

/// What a handler was told: the last notification of each object, and the last of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Told {
    of: SortedMap<Key, Arc<NotificationRef>>,
    last: Option<Arc<NotificationRef>>,
}

impl Told {
    /// The objects that exist as far as the handler knows, by key.
    fn known(&self) -> impl Iterator<Item = &ObjectRef> {
        let known = self.of.values().filter(|told| !is_delete(told));
        known.map(|told| told.object())
    }
}

fn is_delete(notification: &NotificationRef) -> bool {
    matches!(notification, NotificationRef::Delete { .. })
}

/// A lane after some of its facts.
#[derive(Clone, Debug, Default)]
struct State {
    step: usize,
    picture: Picture,
    told: Vec<Told>,
}

impl State {
    fn of(timeline: &Timeline) -> Self {
        Self {
            picture: timeline.picture(0),
            ..Self::default()
        }
    }

    /// Goes to the state after `step` facts. Returns whether what is compared may have changed.
    fn go_to(&mut self, timeline: &Timeline, step: usize) -> bool {
        if step < self.step {
            (self.step, self.told) = (0, Vec::new());
            self.picture = timeline.picture(step);
        } else {
            timeline.fold(&mut self.picture, self.step..step);
        }
        let mut changed = false;
        let told = &mut self.told;
        timeline.each::<()>(self.step..step, &mut |_, record| {
            let fact = &record.fact;
            changed |= matches!(fact, Fact::Queue(_) | Fact::Store(_) | Fact::Handlers(_));
            if let Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) = fact
            {
                let number = usize::from(*handler);
                if told.len() <= number {
                    told.resize(number + 1, Told::default());
                }
                let notification = Arc::new(notification.clone());
                let key = notification.object().key.clone();
                told[number].of.insert(key, Arc::clone(&notification));
                told[number].last = Some(notification);
            }
            ControlFlow::Continue(())
        });
        self.step = step;
        changed
    }
}

fn queues(one: &State, other: &State, alike: Alike) -> bool {
    let (one, other) = (&one.picture, &other.picture);
    same(diff::queued(one), diff::queued(other), |one, other| {
        one.is_like(&other, alike)
    })
}

fn stores(one: &State, other: &State, alike: Alike) -> bool {
    let (one, other) = (&one.picture.store.items, &other.picture.store.items);
    same(one.values(), other.values(), |one, other| {
        diff::is_like(one, other, alike)
    })
}

/// What a handler heard last is shown and not compared: with another order the same becomes known.
fn handlers(one: &State, other: &State, alike: Alike) -> bool {
    let none = Told::default();
    (0..one.told.len().max(other.told.len())).all(|number| {
        let [one, other] = [one, other].map(|state| state.told.get(number).unwrap_or(&none));
        same(one.known(), other.known(), |one, other| {
            diff::is_like(one, other, alike)
        })
    })
}

/// Whether both have the same things in the same order.
fn same<T>(
    mut one: impl Iterator<Item = T>,
    mut other: impl Iterator<Item = T>,
    like: impl Fn(T, T) -> bool,
) -> bool {
    loop {
        let is_like = match (one.next(), other.next()) {
            (Some(one), Some(other)) => like(one, other),
            (one, other) => return one.is_none() && other.is_none(),
        };
        if !is_like {
            return false;
        }
    }
}

/// The lane that the others are held against: one of the largest group, the oldest if there are several.
fn standard(groups: &[usize; LANES]) -> usize {
    let size = |lane: &usize| groups.iter().filter(|group| *group == lane).count();
    // The last of the greatest, so from the newest to the oldest.
    (0..LANES).rev().max_by_key(size).unwrap_or_default()
}

/// Whether two lanes that were alike are not alike any more.
fn part(before: &Groups, now: &Groups) -> bool {
    before.iter().zip(now).any(|(before, now)| {
        (0..LANES)
            .any(|one| (0..one).any(|other| before[one] == before[other] && now[one] != now[other]))
    })
}

/// What all lanes show at one time.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Moment {
    /// The lanes, in the order of their generations.
    pub lanes: Vec<LaneAt>,
    /// The stored objects.
    pub items: Columns,
    /// The handlers.
    pub handlers: Vec<Heard>,
    /// Which lanes are alike.
    pub groups: Groups,
    /// Whether lanes part here.
    pub parts: bool,
}

impl Moment {
    /// Whether anything differs.
    #[must_use]
    pub fn differs_somewhere(&self) -> bool {
        self.groups != Groups::default()
    }

    /// For queues, stores and handlers: whether this lane differs from most.
    #[must_use]
    pub fn differs(&self, lane: usize) -> [bool; COMPARED.len()] {
        self.groups
            .map(|groups| groups[lane] != groups[standard(&groups)])
    }
}

/// A lane, as far as it is not held against others thing by thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneAt {
    /// How many facts it has had.
    pub step: usize,
    /// The kind of its queue.
    pub kind: QueueKind,
    /// What is in the queue, the next item first.
    pub queued: Vec<Thing>,
    /// How many more.
    pub hidden: usize,
}

/// Objects by key, in all lanes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Columns {
    /// Those that are shown: what differs comes before what does not, where there are too many.
    pub columns: Vec<Column>,
    /// How many more.
    pub hidden: usize,
}

/// One object in all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What each lane has of it. An object is gone for a handler that heard of its delete.
    pub things: Vec<Option<Thing>>,
    /// Which lanes differ from most.
    pub differs: Vec<bool>,
}

impl Column {
    /// Whether a lane differs.
    #[must_use]
    pub fn parts(&self) -> bool {
        self.differs.contains(&true)
    }
}

/// What a handler has heard, in all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Its name.
    pub name: Arc<str>,
    /// The objects that exist as far as it knows.
    pub known: Columns,
    /// The last notification.
    pub last: Vec<Option<Arc<NotificationRef>>>,
}

/// One run.
struct Lane {
    timeline: Timeline,
    /// As far as the lanes were compared.
    compared: State,
    /// At the time that is shown.
    shown: State,
    writes: Writes,
}

impl Lane {
    /// The number of facts up to a time.
    fn step_at(&mut self, time: Option<Time>) -> usize {
        time.map_or(0, |time| self.timeline.extend_past(time))
    }
}

fn lane_at(lane: &Lane) -> LaneAt {
    let picture = &lane.shown.picture;
    let mut queued: Vec<Thing> = diff::queued(picture).collect();
    let hidden = queued.len().saturating_sub(SHOWN_IN_LANE);
    queued.truncate(SHOWN_IN_LANE);
    LaneAt {
        step: lane.shown.step,
        kind: picture.queue.kind,
        queued,
        hidden,
    }
}

/// The same inputs in the four generations. A time is `None` before the first fact.
pub struct Race {
    lanes: Vec<Lane>,
    /// How far the lanes were compared, and which were alike there.
    seen: Option<Time>,
    groups: Groups,
    /// The moments so far at which they part.
    partings: Vec<Time>,
    work: usize,
}

impl Race {
    /// A race of runs in the order of [`Generation::ALL`].
    #[must_use]
    pub fn new(runs: Vec<Timeline>) -> Self {
        let lane = |mut timeline: Timeline| {
            timeline.limit(MOST_FACTS);
            Lane {
                compared: State::of(&timeline),
                shown: State::of(&timeline),
                writes: Writes::default(),
                timeline,
            }
        };
        let mut race = Self {
            lanes: runs.into_iter().map(lane).collect(),
            seen: None,
            groups: Groups::default(),
            partings: Vec::new(),
            work: 0,
        };
        race.groups = race.groups(|lane| &lane.compared);
        race
    }

    /// The next moment at which something happens in a lane.
    pub fn next(&mut self, time: Option<Time>) -> Option<Time> {
        let mut next: Option<Time> = None;
        for lane in &mut self.lanes {
            let step = lane.step_at(time);
            match lane.timeline.fact(step) {
                Some(record) => next = Some(next.map_or(record.time, |one| one.min(record.time))),
                // Nobody knows what comes in this lane.
                None if lane.timeline.is_full() => return None,
                None => {}
            }
        }
        next
    }

    /// The moment before.
    #[must_use]
    pub fn previous(&self, time: Option<Time>) -> Option<Time> {
        let before = time?.checked_sub(1)?;
        let last = |lane: &Lane| match lane.timeline.count_until(before) {
            0 => None,
            step => Some(lane.timeline.time_at(step)),
        };
        self.lanes.iter().filter_map(last).max()
    }

    /// The next moment at which lanes part; none if they do not, as far as they were compared.
    pub fn next_parting(&mut self, time: Option<Time>) -> Option<Time> {
        loop {
            let later = self.partings.partition_point(|one| Some(*one) <= time);
            if let Some(found) = self.partings.get(later) {
                return Some(*found);
            }
            if !self.compare_next() {
                return None;
            }
        }
    }

    /// Whether lanes part at a time.
    pub fn parts_at(&mut self, time: Time) -> bool {
        self.compare_to(Some(time));
        self.partings.binary_search(&time).is_ok()
    }

    /// Whether a lane has as many facts as a lane may have, and goes on.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.lanes.iter().any(|lane| lane.timeline.is_full())
    }

    /// The last parting before a time.
    pub fn previous_parting(&mut self, time: Option<Time>) -> Option<Time> {
        self.compare_to(time);
        let before = self.partings.partition_point(|one| Some(*one) < time);
        self.partings.get(before.checked_sub(1)?).copied()
    }

    /// Compares the lanes to their end if that is not much work. Returns whether it was done.
    pub fn count_partings(&mut self) -> bool {
        while self.work < COUNTED_WORK {
            if !self.compare_next() {
                return !self.is_full();
            }
        }
        false
    }

    /// The moments at which the lanes part, as far as they were compared.
    #[must_use]
    pub fn partings(&self) -> &[Time] {
        &self.partings
    }

    /// How far the lanes were compared.
    #[must_use]
    pub fn seen(&self) -> Option<Time> {
        self.seen
    }

    /// What the lanes show at a time.
    pub fn at(&mut self, time: Option<Time>) -> Moment {
        self.compare_to(time);
        for lane in &mut self.lanes {
            let step = lane.step_at(time);
            lane.shown.go_to(&lane.timeline, step);
        }
        let groups = self.groups(|lane| &lane.shown);
        let items = |state: &State| {
            let items = state.picture.store.items.values();
            items.map(|one| Thing::Object(one.clone())).collect()
        };
        let handlers = |lane: &Lane| lane.shown.picture.handlers.len();
        let count = self.lanes.iter().map(handlers).max().unwrap_or_default();
        let handlers = (0..count).filter_map(|number| self.heard(&groups[HANDLERS], number));
        Moment {
            lanes: self.lanes.iter().map(lane_at).collect(),
            items: self.columns(&groups[STORES], &items),
            handlers: handlers.collect(),
            groups,
            parts: time.is_some_and(|time| self.partings.binary_search(&time).is_ok()),
        }
    }

    /// What the handler of this number has heard.
    fn heard(&self, groups: &[usize; LANES], number: usize) -> Option<Heard> {
        let mut rooms = self.lanes.iter().map(|lane| &lane.shown.picture.handlers);
        let name = rooms.find_map(|rooms| rooms.get(number))?.name.clone();
        let known = |state: &State| {
            let told = state.told.get(number).into_iter();
            let told = told.flat_map(|told| told.of.values());
            let thing = |told: &Arc<NotificationRef>| {
                let object = told.object().clone();
                if is_delete(told) {
                    Thing::Gone(object)
                } else {
                    Thing::Object(object)
                }
            };
            told.map(thing).collect()
        };
        let last = |lane: &Lane| lane.shown.told.get(number)?.last.clone();
        Some(Heard {
            name,
            known: self.columns(groups, &known),
            last: self.lanes.iter().map(last).collect(),
        })
    }

    /// Puts the objects of all lanes side by side. An object that is nowhere else than gone is left out.
    fn columns(&self, groups: &[usize; LANES], of: &dyn Fn(&State) -> Vec<Thing>) -> Columns {
        let mut all: SortedMap<Key, Vec<Option<Thing>>> = SortedMap::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            for thing in of(&lane.shown) {
                if let Thing::Object(object) | Thing::Gone(object) = &thing {
                    let things = all.or_default(object.key.clone());
                    things.resize(number, None);
                    things.push(Some(thing));
                }
            }
        }
        let of = standard(groups);
        let is_there = |thing: &Option<Thing>| matches!(thing, Some(Thing::Object(_)));
        let column = |(_, mut things): (Key, Vec<Option<Thing>>)| {
            things.resize(LANES, None);
            let differs = |lane: usize| match (&things[of], &things[lane]) {
                (Some(one @ Thing::Object(_)), Some(other @ Thing::Object(_))) => {
                    !one.is_like(other, self.alike(of, lane))
                }
                (one, other) => is_there(one) != is_there(other),
            };
            Column {
                differs: (0..LANES).map(differs).collect(),
                things,
            }
        };
        let there = all
            .into_iter()
            .filter(|(_, things)| things.iter().any(is_there));
        let columns = there.map(column);
        let mut columns: Vec<Column> = columns.collect();
        let all = columns.len();
        let mut room =
            SHOWN_IN_LANE.saturating_sub(columns.iter().filter(|one| one.parts()).count());
        columns.retain(|one| {
            let fits = one.parts() || room > 0;
            room -= usize::from(fits && !one.parts());
            fits
        });
        columns.truncate(SHOWN_IN_LANE);
        Columns {
            hidden: all - columns.len(),
            columns,
        }
    }

    fn alike(&self, one: usize, other: usize) -> Alike<'_> {
        Alike::new([one, other].map(|lane| &self.lanes[lane].writes), [0; 2])
    }

    fn groups(&self, of: fn(&Lane) -> &State) -> Groups {
        COMPARED.map(|are_alike| {
            let mut groups = [0; LANES];
            for lane in 1..LANES {
                let first = (0..lane).filter(|other| groups[*other] == *other);
                let like = |other: &usize| {
                    let [one, other_lane] = [*other, lane].map(|one| of(&self.lanes[one]));
                    are_alike(one, other_lane, self.alike(*other, lane))
                };
                let found = first.into_iter().find(like);
                groups[lane] = found.unwrap_or(lane);
            }
            groups
        })
    }

    fn compare_to(&mut self, time: Option<Time>) {
        while self.seen < time && self.compare_next() {}
    }

    /// Compares the lanes at the next moment; false if there is none, or if it was too much work so far.
    fn compare_next(&mut self) -> bool {
        if self.work > MOST_WORK {
            return false;
        }
        let Some(next) = self.next(self.seen) else {
            return false;
        };
        self.seen = Some(next);
        let mut changed = false;
        for lane in &mut self.lanes {
            let step = lane.timeline.count_until(next);
            self.work += step - lane.compared.step;
            changed |= lane.compared.go_to(&lane.timeline, step);
            lane.writes.read_up_to(&lane.timeline, step);
        }
        if changed {
            let weights = self.lanes.iter().map(|lane| lane.compared.picture.weight());
            self.work += weights.sum::<usize>() / SEEN;
            let groups = self.groups(|lane| &lane.compared);
            if part(&self.groups, &groups) {
                self.partings.push(next);
            }
            self.groups = groups;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use deltascope_cache::fact::Entry;
    use deltascope_world::source::scenario::Scenario;

    use super::*;
    use crate::lessons;
    use crate::recording::Recording;

    fn runs(recording: &Recording) -> Vec<Timeline> {
        let run = |generation| {
            let other = recording.in_generation(generation);
            other.play_by_time(MOST_FACTS).unwrap()
        };
        Generation::ALL.into_iter().map(run).collect()
    }

    fn recording(scenario: Scenario) -> Recording {
        Recording::of(scenario)
    }

    /// The moments of a race up to a time.
    fn moments(race: &mut Race, until: Time) -> Vec<Time> {
        let mut time = None;
        let next = || {
            time = race.next(time);
            time.filter(|time| *time <= until)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn each_lane_is_the_plain_run_of_its_generation() {
        let mut raced = 0;
        for (id, _) in lessons::menu() {
            let lesson = lessons::load(&id).unwrap();
            if !lesson.scenario.settings.is_informer() {
                continue;
            }
            raced += 1;
            let recording = recording(lesson.scenario);
            let mut race = Race::new(runs(&recording));
            let mut plain = runs(&recording);
            let all = moments(&mut race, 20_000);
            assert!(all.len() > 3, "{id}: {all:?}");
            // Forward, then back.
            let some = all.iter().step_by(all.len().div_ceil(12));
            for time in some.clone().chain(some.rev()) {
                let moment = race.at(Some(*time));
                for (lane, run) in plain.iter_mut().enumerate() {
                    let step = run.extend_past(*time);
                    assert_eq!(moment.lanes[lane].step, step, "{id} {time}");
                    let shown = &race.lanes[lane].shown;
                    assert_eq!(shown.picture, run.picture(step), "{id} {time}");
                }
            }
            for pair in all.windows(2) {
                assert_eq!(race.previous(Some(pair[1])), Some(pair[0]), "{id}");
            }
            assert_eq!(race.previous(Some(all[0])), None);
        }
        assert!(raced > 5);
    }

    #[test]
    fn lanes_part_where_a_relist_becomes_one_entry_and_again_with_each_pop() {
        let lesson = lessons::load("tombstone").unwrap();
        let mut race = Race::new(runs(&recording(lesson.scenario)));
        let first = race.next_parting(None);
        let moment = race.at(first);
        assert!(moment.parts);
        // The queues part when the second list comes: up to 1.35 its objects, from 1.36 on the whole list.
        let [queues, stores, handlers] = moment.groups;
        assert_eq!((queues[0], queues[3]), (0, 3), "{moment:?}");
        assert_eq!((stores, handlers), ([0; LANES], [0; LANES]));
        assert!(matches!(
            &moment.lanes[3].queued[..],
            [Thing::BatchEntry(..)]
        ));
        assert_eq!(moment.differs(3), [true, false, false]);
        // With the first Pop the handler of 1.36 learns of the delete; the others have it before them.
        let second = race.next_parting(first);
        assert_eq!(second, Some(6_900));
        let moment = race.at(second);
        let [printer] = &moment.handlers[..] else {
            unreachable!("one handler: {moment:?}");
        };
        let b = printer
            .known
            .columns
            .iter()
            .find(|one| one.parts())
            .unwrap();
        let there = |lane: usize| matches!(b.things[lane], Some(Thing::Object(_)));
        assert_eq!((there(0), there(3)), (true, false), "{b:?}");
        assert_eq!(race.previous_parting(second), first);
        assert_eq!(race.previous_parting(first), None);
    }

    /// What is compared of a lane, in words.
    fn state(run: &mut Timeline, time: Time) -> [String; 3] {
        let step = run.extend_past(time);
        let picture = run.picture(step);
        let mut told: Vec<SortedMap<Key, String>> = Vec::new();
        for record in run.facts(0..step).iter() {
            let Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) = &record.fact
            else {
                continue;
            };
            told.resize(told.len().max(usize::from(*handler) + 1), SortedMap::new());
            let known = &mut told[usize::from(*handler)];
            let object = notification.object();
            if format!("{notification:?}").starts_with("Delete") {
                known.remove(&object.key);
            } else {
                let what = format!("{:?} {}", object.shape, object.rv);
                known.insert(object.key.clone(), what);
            }
        }
        let items = picture.store.items.values();
        let items: Vec<_> = items.map(|one| (&one.key, one.shape, &one.rv)).collect();
        let queue = &picture.queue;
        let keyed = queue
            .keys
            .iter()
            .flat_map(|key| queue.deltas.get(key).unwrap().clone());
        let keyed: Vec<Entry> = keyed
            .map(|(kind, object)| Entry::Delta(kind, object))
            .collect();
        let flat = queue.entries.iter().cloned();
        let queued: Vec<Entry> = keyed.into_iter().chain(flat).collect();
        [
            format!("{queued:?}"),
            format!("{items:?}"),
            format!("{told:?}"),
        ]
    }

    fn scripts() -> impl Strategy<Value = Vec<Value>> {
        let object = |name: &str, phase: u8| {
            json!({
                "metadata": {"namespace": "default", "name": name},
                "status": {"phase": format!("P{phase}")},
            })
        };
        let entry = (0..8_u8, 400..6_000_u32, 0..9_u8).prop_map(move |(op, at, phase)| {
            let name = ["a", "b", "c"][usize::from(phase % 3)];
            match op {
                0 => json!({"at": at, "op": "cut"}),
                1 => json!({"at": at, "op": "compact"}),
                2 => json!({"at": at, "op": "mode", "mode": "held"}),
                3 => json!({"at": at, "op": "mode", "mode": "free"}),
                4 => json!({"at": at, "op": "mode", "mode": 250}),
                5 => json!({"at": at, "op": "delete", "object": object(name, phase)}),
                6 => json!({"at": at, "op": "create", "object": object(name, phase)}),
                _ => json!({"at": at, "op": "update", "object": object(name, phase)}),
            }
        });
        prop::collection::vec(entry, 1..12).prop_map(|mut script| {
            script.sort_by_key(|entry| entry["at"].as_u64());
            script
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn lanes_part_exactly_where_two_that_were_alike_differ(script in scripts()) {
            let value = json!({
                "settings": {"machinery": "shared", "mode": "free", "handlers": [{"name": "h", "latencyMs": 60}]},
                "initial": [{"metadata": {"namespace": "default", "name": "a"}}],
                "script": script,
            });
            let recording = recording(lessons::inline(value).unwrap().scenario);
            let mut race = Race::new(runs(&recording));
            let mut plain = runs(&recording);
            let mut before: Option<Vec<[String; 3]>> = None;
            let mut expected = Vec::new();
            for time in moments(&mut race, 20_000) {
                let now: Vec<_> = plain.iter_mut().map(|run| state(run, time)).collect();
                let pairs = (0..LANES).flat_map(|one| (0..one).map(move |other| (one, other)));
                let was = |one: usize, other: usize, what: usize| {
                    before.as_ref().is_none_or(|before| before[one][what] == before[other][what])
                };
                let parts = pairs.into_iter().any(|(one, other)| {
                    (0..3).any(|what| was(one, other, what) && now[one][what] != now[other][what])
                });
                prop_assert_eq!(race.at(Some(time)).parts, parts, "{}: {:?}", time, now);
                expected.extend(parts.then_some(time));
                before = Some(now);
            }
            let mut time = None;
            let found = std::iter::from_fn(|| {
                time = race.next_parting(time);
                time.filter(|time| *time <= 20_000)
            });
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
