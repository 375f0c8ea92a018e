//! What is found along a run: markers, the marks on the timeline, and the marks of objects.
//!
//! A run grows while it is shown, and an input cuts it. Only new facts are examined.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Entry, EventType, Fact, FactRecord, ObjectRef, QueueFact, ReflectorFact, RunFact, ServerFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_replay::gauge::BehindLine;
use deltascope_replay::lessons::MarkerRule;
use deltascope_replay::occurrences::Occurrences;
use deltascope_replay::picture::Behind;
use deltascope_replay::timeline::{SEGMENT, Timeline};

use super::fact_queries;
use super::rows::MARKS;
use super::view::cells::CellSlots;
use super::view::names::{Alike, Marks};
use super::view::{Marker, Tick};

/// The timeline shows at most this many marks; more would touch each other.
const MAX_TICKS: usize = 400;
/// The line below the timeline has at most this many parts: it is some hundred px wide.
const BEHIND_PARTS: usize = 400;

/// The findings so far.
#[derive(Clone, Debug, Default)]
pub struct Landmarks {
    state: State,
    /// Earlier states, from which to continue when the run is cut.
    kept: Vec<State>,
    ticks: Vec<(u32, DeltaType)>,
    /// The number of facts up to the marker of each rule, once it is found.
    found: Vec<Option<usize>>,
    /// UIDs in the order of their first facts, each with its place.
    met: Vec<(usize, Arc<str>)>,
    marks: Rc<Marks>,
    /// After a cut it may hold keys that do not occur any more; its users check which objects exist.
    alike: Rc<Alike>,
    places: Rc<CellSlots>,
    passages: Occurrences,
    behind: BehindLine,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// How many facts have been examined.
    seen: usize,
    /// How often the fact of each rule was among them.
    counts: Vec<usize>,
    /// The marks of the objects that exist.
    there: SortedMap<Key, u8>,
    /// How many of them have each mark.
    taken: [u32; MARKS as usize],
    /// The mark that was assigned last.
    last: u8,
}

impl State {
    fn note(&mut self, key: &Key, mark: Option<u8>) {
        let before = match mark {
            Some(mark) => self.there.insert(key.clone(), mark),
            None => self.there.remove(key),
        };
        for (mark, by) in [(mark, 1), (before, u32::MAX)] {
            let taken = mark.and_then(|mark| self.taken.get_mut(usize::from(mark)));
            if let Some(taken) = taken {
                *taken = taken.wrapping_add(by);
            }
        }
    }
}

impl Landmarks {
    /// The landmarks of a run, as far as the run is known.
    #[must_use]
    pub fn of(timeline: &Timeline, rules: &[MarkerRule]) -> Self {
        let mut landmarks = Self::begin(timeline, rules);
        landmarks.go_on(timeline, rules);
        landmarks
    }

    /// The landmarks of a run before its first fact.
    #[must_use]
    pub fn begin(timeline: &Timeline, rules: &[MarkerRule]) -> Self {
        let mut landmarks = Self {
            state: State {
                counts: vec![0; rules.len()],
                last: MARKS - 1,
                ..State::default()
            },
            found: vec![None; rules.len()],
            ..Self::default()
        };
        for object in timeline.picture(0).api.objects.values() {
            landmarks.meet(0, &object.object);
            landmarks.name(0, &object.object.key);
        }
        landmarks.kept.push(landmarks.state.clone());
        landmarks
    }

    /// Examines the new facts.
    pub fn go_on(&mut self, timeline: &Timeline, rules: &[MarkerRule]) {
        self.go_on_to(timeline, rules, timeline.len());
    }

    /// How many facts have been examined.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.state.seen
    }

    /// Examines the new facts among the first `end`.
    pub fn go_on_to(&mut self, timeline: &Timeline, rules: &[MarkerRule], end: usize) {
        let range = self.state.seen..end;
        timeline.each::<()>(range, &mut |place, record| {
            self.see(place, record, rules);
            ControlFlow::Continue(())
        });
        self.behind.go_on_to(timeline, end);
        self.thin(timeline);
    }

    /// Keeps no more earlier states than the run has checkpoints.
    fn thin(&mut self, timeline: &Timeline) {
        timeline.thin_along(&mut self.kept, |state| state.seen);
    }

    /// Forgets the findings after the first `at` facts, where the run was cut.
    pub fn cut(&mut self, at: usize) {
        if at >= self.state.seen {
            return;
        }
        let kept = self.kept.partition_point(|state| state.seen <= at).max(1);
        self.kept.truncate(kept);
        let Some(state) = self.kept.last() else {
            return;
        };
        self.state = state.clone();
        let seen = state.seen;
        let ticks = self.ticks.partition_point(|(at, _)| *at as usize <= seen);
        self.ticks.truncate(ticks);
        for found in &mut self.found {
            *found = found.filter(|at| *at <= seen);
        }
        self.passages.cut(seen);
        self.behind.cut(at);
        CellSlots::cut(&mut self.places, seen);
        let met = self.met.partition_point(|(at, _)| *at <= seen);
        self.met.truncate(met);
        self.keep_marks();
    }

    /// Forgets the first `gone` facts of the run; the rest begins at 0 again.
    pub fn forget(&mut self, gone: usize, timeline: &Timeline) {
        let shift = |at: &mut usize| *at = at.saturating_sub(gone);
        shift(&mut self.state.seen);
        self.kept.retain(|state| state.seen >= gone);
        for state in &mut self.kept {
            shift(&mut state.seen);
        }
        if self.kept.is_empty() {
            self.kept.push(self.state.clone());
        }
        self.ticks.retain(|(at, _)| *at as usize > gone);
        for (at, _) in &mut self.ticks {
            *at = at.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
        }
        for found in self.found.iter_mut().flatten() {
            shift(found);
        }
        self.passages.forget(gone);
        self.behind.forget(gone);
        CellSlots::shift(&mut self.places, gone);
        let Some(start) = timeline.at_start() else {
            return;
        };
        // Looking at all objects takes long if there are many. Half of what is kept may be gone.
        let most = 2 * start.api.objects.len();
        if self.met.len().max(self.places.known()) <= most {
            self.met.iter_mut().for_each(|(at, _)| shift(at));
            return;
        }
        let is_there =
            |key: &Key| start.api.objects.contains_key(key) || !self.passages.of(key).is_empty();
        CellSlots::forget(&mut self.places, &is_there);
        Alike::forget(&mut self.alike, &is_there);
        let there = Marks::default();
        for object in start.api.objects.values() {
            there.insert(&object.object.uid, 0);
        }
        self.met.retain_mut(|(at, uid)| {
            let kept = *at > gone || there.get(uid).is_some();
            shift(at);
            kept
        });
        self.keep_marks();
    }

    /// Keeps the marks of what was met alone.
    fn keep_marks(&mut self) {
        let marks = self.marks.only(self.met.iter().map(|(_, uid)| uid));
        self.marks = Rc::new(marks);
    }

    /// The same for a run beside this one, which keeps as many earlier states as that has checkpoints.
    #[must_use]
    pub fn beside(&self, timeline: &Timeline) -> Self {
        let mut beside = self.clone();
        // Else what one run meets would be met in the other.
        beside.marks = Rc::new(Marks::clone(&self.marks));
        beside.alike = self.alike.apart();
        beside.thin(timeline);
        beside
    }

    /// The markers, in the order of time.
    #[must_use]
    pub fn markers(&self, rules: &[MarkerRule]) -> Rc<[Marker]> {
        let mut markers: Vec<Marker> = Vec::new();
        for (rule, found) in rules.iter().zip(&self.found) {
            let Some(at) = *found else {
                continue;
            };
            // There are few, so each is inserted in place: a sort would add some KB to the page.
            let place = markers.partition_point(|marker| marker.at <= at);
            let marker = Marker {
                id: Arc::clone(&rule.id),
                at,
                title: rule.title.clone(),
            };
            markers.insert(place, marker);
        }
        markers.into()
    }

    /// The marks on the timeline, thinned if there are too many.
    #[must_use]
    pub fn ticks(&self) -> Rc<[Tick]> {
        let thin = self.ticks.len().div_ceil(MAX_TICKS).max(1);
        let ticks = self.ticks.chunks(thin);
        ticks
            .filter_map(|chunk| {
                let (at, delta_type) = *chunk.first()?;
                Some(Tick {
                    at: at as usize,
                    delta_type,
                    count: chunk.len(),
                })
            })
            .collect()
    }

    /// How far the store is behind along the run: the number of facts from which on it is so.
    #[must_use]
    pub fn behind(&self) -> Rc<[(u32, Behind)]> {
        self.behind.parts(BEHIND_PARTS)
    }

    /// The marks of the objects.
    #[must_use]
    pub fn marks(&self) -> Rc<Marks> {
        Rc::clone(&self.marks)
    }

    /// Which keys have the same name.
    #[must_use]
    pub fn alike(&self) -> Rc<Alike> {
        Rc::clone(&self.alike)
    }

    /// The cells of the objects.
    #[must_use]
    pub fn places(&self) -> Rc<CellSlots> {
        Rc::clone(&self.places)
    }

    /// Where each object occurs in the run.
    #[must_use]
    pub fn passages(&self) -> &Occurrences {
        &self.passages
    }

    fn see(&mut self, place: usize, record: &FactRecord, rules: &[MarkerRule]) {
        let at = place + 1;
        for (number, rule) in rules.iter().enumerate() {
            let (Some(count), Some(found)) = (
                self.state.counts.get_mut(number),
                self.found.get_mut(number),
            ) else {
                continue;
            };
            if found.is_none() && record.fact.name() == rule.fact {
                *count += 1;
                *found = (*count == rule.nth).then_some(at);
            }
        }
        if let Some(delta_type) = record.fact.queued() {
            // Runs have fewer facts: `MAX_FACTS`.
            self.ticks
                .push((u32::try_from(at).unwrap_or(u32::MAX), delta_type));
        }
        self.note_objects(at, &record.fact);
        if let Fact::Server(ServerFact::ObjectCreated { object, .. })
        | Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Added,
            object,
            ..
        }) = &record.fact
        {
            CellSlots::meet(&mut self.places, at, &object.key);
        }
        let whole = fact_queries::whole(&record.fact).unwrap_or_default();
        // Held while a key is named, the places would be copied for it.
        let unmet = self.places.unmet(whole.iter().map(|object| &object.key));
        for key in unmet.cloned().collect::<Vec<_>>() {
            self.name(at, &key);
        }
        if self.passages.see(place, &record.fact)
            && let Some(key) = record.fact.key()
        {
            self.name(at, key);
        }
        self.state.seen = at;
        let gap = SEGMENT.max(self.state.there.len() * 4);
        if self.kept.last().is_none_or(|kept| at >= kept.seen + gap) {
            self.kept.push(self.state.clone());
        }
    }

    fn note_objects(&mut self, at: usize, fact: &Fact) {
        if let Fact::Server(ServerFact::ObjectDeleted { object, .. })
        | Fact::Reflector(ReflectorFact::EventReceived {
            event: EventType::Deleted,
            object,
            ..
        }) = fact
        {
            self.meet(at, object);
            self.state.note(&object.key, None);
            CellSlots::leave(&mut self.places, at, &object.key);
        } else if let Fact::Server(ServerFact::ObjectCreated { object, .. })
        | Fact::Run(RunFact::Called { object, .. })
        | Fact::Reflector(ReflectorFact::EventReceived { object, .. })
        | Fact::Queue(
            QueueFact::DeltaAppended { object, .. }
            | QueueFact::FifoItemSet { object, .. }
            | QueueFact::EntryAppended {
                entry: Entry::Delta(_, object),
                ..
            },
        ) = fact
        {
            self.meet(at, object);
        } else if let Fact::Queue(QueueFact::EntryAppended {
            entry: Entry::ReplacedAll { objects, .. },
            ..
        }) = fact
        {
            for object in objects.iter() {
                self.meet(at, object);
            }
        }
    }

    /// Adds a key.
    fn name(&mut self, at: usize, key: &Key) {
        Alike::see(&mut self.alike, key);
        CellSlots::meet(&mut self.places, at, key);
    }

    fn meet(&mut self, at: usize, object: &ObjectRef) {
        if object.uid.is_empty() || self.marks.get(&object.uid).is_some() {
            return;
        }
        let next = |mark: u8| (mark + 1) % MARKS;
        let state = &mut self.state;
        let taken = |mark: &u8| state.taken.get(usize::from(*mark)) != Some(&0);
        let turn = std::iter::successors(Some(next(state.last)), |mark| Some(next(*mark)));
        let turn = turn.take(usize::from(MARKS));
        let free = turn.into_iter().find(|mark| !taken(mark));
        let mark = free.unwrap_or_else(|| next(state.last));
        state.last = mark;
        state.note(&object.key, Some(mark));
        self.met.push((at, Arc::clone(&object.uid)));
        self.marks.insert(&object.uid, mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltascope_cache::fact::{ProcessMode, Shape};
    use deltascope_replay::lessons;
    use deltascope_world::virtual_time::Input;

    #[test]
    fn no_two_existing_objects_have_the_same_mark() {
        let mut landmarks = Landmarks::default();
        let created = |key: &str, uid: String| {
            Fact::Run(RunFact::Called {
                delta_type: DeltaType::Added,
                object: ObjectRef {
                    key: key.into(),
                    shape: Shape::Object,
                    rv: "1".into(),
                    uid: uid.into(),
                },
            })
        };
        for n in 0..10 {
            landmarks.note_objects(n, &created(&format!("a/{n}"), format!("uid-{n}")));
        }
        // Recreated more often than there are marks.
        for n in 0..40 {
            landmarks.note_objects(n, &created("a/0", format!("again-{n}")));
        }
        let marks = landmarks.marks();
        let rest: std::collections::BTreeSet<_> =
            (1..10).map(|n| marks.get(&format!("uid-{n}"))).collect();
        assert_eq!(rest.len(), 9);
        let mut before = marks.get("uid-0");
        for n in 0..40 {
            let mark = marks.get(&format!("again-{n}"));
            assert_ne!(mark, before, "recreated, and looks the same");
            assert!(!rest.contains(&mark), "looks like another one");
            before = mark;
        }
    }

    #[test]
    fn a_view_shares_what_a_run_meets_and_a_run_beside_it_does_not() {
        let mut landmarks = Landmarks::default();
        let key = Key::from("a/web");
        landmarks.name(1, &key);
        let (marks, alike) = (landmarks.marks(), landmarks.alike());
        let beside = landmarks.beside(&Timeline::empty());
        landmarks.name(2, &"a/dns".into());
        landmarks.meet(
            2,
            &ObjectRef {
                key,
                shape: Shape::Object,
                rv: "1".into(),
                uid: "uid".into(),
            },
        );
        let met = |marks: &Marks, alike: &Alike| (marks.get("uid").is_some(), alike.has("dns"));
        assert_eq!(met(&marks, &alike), (true, true));
        let (marks, alike) = (beside.marks(), beside.alike());
        assert_eq!(met(&marks, &alike), (false, false));
        assert!(alike.has("web"));
    }

    #[test]
    fn a_run_that_was_cut_has_the_landmarks_of_a_new_run() {
        let lesson = lessons::load(lessons::FIRST).unwrap();
        // With few checkpoints there are also few states to continue from.
        for checkpoints in [usize::MAX, 2] {
            let timeline = Timeline::new(lesson.scenario.clone()).unwrap();
            let mut timeline = timeline.with_checkpoints(checkpoints);
            let mut landmarks = Landmarks::of(&timeline, &lesson.markers);
            for (extend, cut) in [(9_000, 4_300), (6_000, 40), (200, 100), (5_000, 4_990)] {
                timeline.extend(extend);
                landmarks.go_on(&timeline, &lesson.markers);
                assert!(landmarks.kept.len() <= timeline.checkpoints());
                landmarks.cut(cut);
                timeline.insert(cut, Input::Mode(ProcessMode::Paced(cut as u32)));
                landmarks.go_on(&timeline, &lesson.markers);
                let anew = Landmarks::of(&timeline, &lesson.markers);
                assert_eq!(landmarks.ticks(), anew.ticks());
                assert_eq!(landmarks.marks(), anew.marks());
                assert_eq!(
                    landmarks.markers(&lesson.markers),
                    anew.markers(&lesson.markers)
                );
            }
        }
    }
}
