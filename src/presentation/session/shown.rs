//! The picture at the cursor, kept so that going forward costs only the new facts.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use crate::rows::density::is_dense;
use crate::view::RECENT;
use crate::view::cells::{Since, Touched};
use deltascope_cache::fact::FactRecord;
use deltascope_replay::picture::Picture;
use deltascope_replay::timeline::Timeline;

/// Of more facts than this, most cells have changed.
const MOST: usize = 20_000;

/// Folding this many facts is cheaper than copying a picture, …
const COPY: usize = 200;
/// … and so is folding one for this many items of a large one.
const COPIED: usize = 8;

/// The last two pictures that were asked for, each with the number of facts before it.
///
/// The screen holds the picture that it shows, so that one could only be copied. It releases the one before when it
/// changes; that one is updated in place.
pub(super) struct Shown {
    last: (usize, Rc<Picture>),
    before: (usize, Rc<Picture>),
    /// The last fact of the last view, and what had changed until then since the view before.
    viewed: Option<FactRecord>,
    since: Option<Rc<Since>>,
}

impl Shown {
    /// Begins with the start of a run.
    pub(super) fn new(timeline: &Timeline) -> Self {
        let start = Rc::new(timeline.picture(0));
        Self {
            before: (0, Rc::clone(&start)),
            last: (0, start),
            viewed: None,
            since: None,
        }
    }

    /// The state after `step` facts.
    pub(super) fn at(&mut self, timeline: &Timeline, step: usize) -> Rc<Picture> {
        if self.last.0 != step {
            std::mem::swap(&mut self.last, &mut self.before);
        }
        if self.last.0 != step {
            self.go_to(timeline, step);
        }
        Rc::clone(&self.last.1)
    }

    /// What has changed since the last view that was another one, if this view has many objects.
    pub(super) fn since(&mut self, timeline: &Timeline, step: usize) -> Option<Rc<Since>> {
        let (_, picture) = &self.last;
        let last = timeline.fact(step.checked_sub(1)?);
        let last = last.filter(|_| is_dense(picture));
        if self.viewed == last {
            return self.since.clone();
        }
        let after = std::mem::replace(&mut self.viewed, last);
        let since = after.and_then(|after| since(timeline, after, step));
        self.since = since.map(Rc::new);
        self.since.clone()
    }

    /// Visits the facts of a range, each with the state after it. The state after the last is then ready.
    pub(super) fn through(
        &mut self,
        timeline: &Timeline,
        facts: Range<usize>,
        visit: &mut dyn FnMut(&FactRecord, &Picture),
    ) {
        // The screen holds the state before the range; the other is moved there and on.
        std::mem::swap(&mut self.last, &mut self.before);
        self.go_to(timeline, facts.start);
        let picture = Rc::make_mut(&mut self.last.1);
        for record in timeline.facts(facts.clone()).iter() {
            picture.apply(record);
            visit(record, picture);
        }
        self.last.0 = facts.end;
    }

    /// The state after `step` facts, if it was the last or the one before.
    pub(super) fn kept(&self, step: usize) -> Option<&Rc<Picture>> {
        let both = [&self.last, &self.before];
        let found = both.into_iter().find(|(at, _)| *at == step);
        found.map(|(_, picture)| picture)
    }

    /// The run has changed after its first `step` facts.
    pub(super) fn cut(&mut self, timeline: &Timeline, step: usize) {
        let known = match [&self.last, &self.before].map(|(at, _)| *at <= step) {
            [true, true] => return,
            [true, false] => self.last.clone(),
            [false, true] => self.before.clone(),
            [false, false] => (0, Rc::new(timeline.picture(0))),
        };
        self.last = known.clone();
        self.before = known;
    }

    /// The first `gone` facts of the run were dropped.
    pub(super) fn forget(&mut self, timeline: &Timeline, gone: usize) {
        for (at, picture) in [&mut self.last, &mut self.before] {
            match at.checked_sub(gone) {
                Some(shown) => *at = shown,
                None => (*at, *picture) = (0, Rc::new(timeline.picture(0))),
            }
        }
    }

    /// Computes the state from the nearest picture; `last` is the one to be updated.
    fn go_to(&mut self, timeline: &Timeline, step: usize) {
        let (written, held) = (self.last.0, self.before.0);
        let can_fold = |from: usize| from <= step && timeline.has_facts(from..step);
        let kept = timeline.nearest(step);
        let free = Rc::get_mut(&mut self.last.1);
        if let Some(picture) = free
            && can_fold(written)
            && let near = written + COPY.max(picture.weight() / COPIED)
            && near >= kept
            && (held > step || near >= held)
        {
            timeline.fold(picture, written..step);
        } else if held >= kept && can_fold(held) {
            let mut picture = Picture::clone(&self.before.1);
            timeline.fold(&mut picture, held..step);
            self.last.1 = Rc::new(picture);
        } else {
            self.last.1 = Rc::new(timeline.picture(step));
        }
        self.last.0 = step;
    }
}

/// What has changed up to this step since a fact; none if that is not at hand, or so near that a view has all of it.
fn since(timeline: &Timeline, after: FactRecord, step: usize) -> Option<Since> {
    let from = timeline.place_of(after.id)? + 1;
    if !(from + RECENT..from + MOST).contains(&step) || !timeline.has_facts(from - 1..step) {
        return None;
    }
    // Facts of another run have the same numbers.
    timeline.fact(from - 1).filter(|fact| *fact == after)?;
    let touched = Touched::of(|see| {
        timeline.each::<()>(from..step, &mut |_, record| {
            see(&record.fact);
            ControlFlow::Continue(())
        });
    });
    Some(Since { after, touched })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::landmarks::Landmarks;
    use crate::rows::density::{Cells, Field};
    use crate::view::View;
    use deltascope_cache::controller::Generation;
    use deltascope_replay::lessons;
    use deltascope_world::source::scenario::Scenario;
    use deltascope_world::source::wire;

    #[test]
    fn a_large_picture_is_folded_on_where_a_small_one_is_copied() {
        let items: Vec<_> = (0..2_000)
            .map(|n| json!({ "metadata": { "name": format!("p{n}"), "resourceVersion": "1" } }))
            .collect();
        let list = json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "9" }, "items": items });
        let settings = json!({ "feed": "recorded", "handlers": [{ "name": "h" }] });
        let large = Scenario {
            settings: serde_json::from_value(settings).unwrap(),
            recorded: Some(wire::open_text("list.json", &list.to_string())),
            ..Scenario::default()
        };
        let small = lessons::load(lessons::FIRST).unwrap().scenario;
        for (scenario, is_folded) in [(large, true), (small, false)] {
            let mut timeline = Timeline::new(scenario).unwrap();
            timeline.extend(9_000);
            let mut shown = Shown::new(&timeline);
            let first = shown.at(&timeline, 6_000);
            let (was, _held) = (Rc::as_ptr(&first), shown.at(&timeline, 6_250));
            drop(first);
            let next = shown.at(&timeline, 6_500);
            assert_eq!(Rc::as_ptr(&next) == was, is_folded);
            assert!(*next == timeline.picture(6_500));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn cells_that_go_on_from_view_to_view_look_as_if_drawn_anew(
            ways in prop::collection::vec(0..9_000usize, 1..60), generation in 0..4usize,
        ) {
            let mut scenario = lessons::load(lessons::FIRST).unwrap().scenario;
            scenario.settings.era = Generation::ALL[generation];
            let mut timeline = Timeline::new(scenario).unwrap();
            timeline.extend(9_000);
            let places = Landmarks::of(&timeline, &[]).places();
            let mut all = [Field::Objects, Field::Items, Field::Queue].map(|f| (f, Cells::default()));
            let mut after: Option<FactRecord> = None;
            let mut at = 0;
            for far in ways {
                // Most views are near the one before.
                let near = (at + far / 20).saturating_sub(60);
                at = if far % 8 == 0 { far } else { near }.min(timeline.len());
                let recent = timeline.facts(at.saturating_sub(RECENT)..at);
                let view = View {
                    picture: Rc::new(timeline.picture(at)),
                    since: after.and_then(|after| since(&timeline, after, at)).map(Rc::new),
                    recent: (&*recent).into(),
                    step: at,
                    places: Rc::clone(&places),
                    ..View::default()
                };
                for (field, cells) in &mut all {
                    let room = field.room(&view);
                    let before = cells.looks().to_vec();
                    let changed = cells.show(*field, &view, room);
                    prop_assert_eq!(cells.looks(), &*field.looks(&view, room), "{:?} {}", field, at);
                    let differs = |cell: &usize| before.get(*cell) != cells.looks().get(*cell);
                    prop_assert!(before.len() != room || changed.iter().all(differs));
                }
                after = recent.last().cloned();
            }
        }

        #[test]
        fn a_picture_is_the_same_however_it_is_reached(
            ways in prop::collection::vec((0..5u8, 0..9_000usize, any::<bool>()), 1..24),
        ) {
            let lesson = lessons::load(lessons::FIRST).unwrap();
            let mut timeline = Timeline::new(lesson.scenario).unwrap();
            timeline.extend(9_000);
            let mut shown = Shown::new(&timeline);
            let mut at: usize = 0;
            // As the screen does, or not.
            let mut held = None;
            for (way, far, hold) in ways {
                at = match way {
                    0 => at + 1,
                    1 => at.saturating_sub(1),
                    2 => at + far / 20,
                    3 => at.saturating_sub(far / 20),
                    _ => far,
                }
                .min(timeline.len());
                let picture = shown.at(&timeline, at);
                prop_assert!(*picture == timeline.picture(at), "{}", at);
                held = hold.then_some(picture).or(held);
            }
        }
    }
}
