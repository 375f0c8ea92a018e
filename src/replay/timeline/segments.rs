//! The segments of a run, their checkpoints and their recomputation.

use std::sync::Arc;

use crate::picture::Picture;
use deltascope_cache::fact::FactRecord;
use deltascope_world::slices::{Slices, at_once};

use super::{
    BEHIND_EDGE, CHECKPOINTS_WEIGH, Checkpoint, EDGE, FACTS_KEPT, HOLDS_COSTS, Inputs, LOOKED_AT,
    LOOKED_AT_FACTS, LookedAt, RESTING, SEEN, SEGMENT, Segment, Timeline, go_on,
};

impl Timeline {
    /// Takes the new facts of the world, and keeps up with them.
    pub(super) fn collect(&mut self) {
        self.gather();
        self.keep_up(usize::MAX);
    }

    /// Takes the new facts. Returns what they cost, in facts: one may be about a whole list.
    pub(super) fn gather(&mut self) -> usize {
        let Some(last) = self.segments.last_mut() else {
            return 0;
        };
        let mut new = self.world.drain();
        let count = new.len();
        let holds: usize = new.iter().map(|record| record.fact.weight()).sum();
        last.holds += holds;
        self.held += holds;
        Arc::make_mut(last.facts.get_or_insert_default()).append(&mut new);
        count + holds / HOLDS_COSTS
    }

    /// Lets the picture near the end of the run follow by at most `most` facts, and begins a segment where one is due. False
    /// while it is behind: the world must not go on until then.
    pub(super) fn keep_up(&mut self, most: usize) -> bool {
        let Some((last, facts)) =
            (self.segments.last()).and_then(|last| Some((last, last.facts.as_ref()?)))
        else {
            return true;
        };
        // Only after a whole micro-step, where the world is the one that the next segment begins with.
        let is_full = facts.len() >= self.gap || last.holds >= self.may_hold.segment;
        let until = if is_full {
            facts.len()
        } else if facts.len() < self.edge.0 + EDGE {
            return true;
        } else {
            facts.len() - BEHIND_EDGE
        };
        let next = until.min(self.edge.0.saturating_add(most));
        let picture = Arc::make_mut(&mut self.edge.1);
        picture.apply_all(facts.get(self.edge.0..next).unwrap_or_default());
        self.edge.0 = next;
        if next < until {
            return false;
        }
        if is_full {
            let (picture, from) = (Arc::clone(&self.edge.1), last.from + until);
            self.begin_segment(picture, from);
            self.keep_bounds();
            // The next fold copies a picture that is large: that has a slice for itself.
            return self.gap <= SEGMENT;
        }
        true
    }

    pub(super) fn begin_segment(&mut self, picture: Arc<Picture>, from: usize) {
        self.gap = gap_after(&picture);
        // The next fold of the edge copies it.
        self.edge = (0, Arc::clone(&picture));
        let start = Checkpoint {
            world: self.world.clone(),
            time: if from == 0 { 0 } else { self.last_time() },
            taken: self.taken,
            picture,
        };
        self.segments.push(Segment {
            from,
            start: Arc::new(start),
            facts: Some(Arc::default()),
            holds: 0,
        });
    }

    /// Drops facts and checkpoints beyond the limits, the oldest first.
    pub(super) fn keep_bounds(&mut self) {
        let (mut kept, mut hold) = (0, 0);
        for (age, segment) in self.segments.iter_mut().rev().enumerate() {
            let Some(facts) = &segment.facts else {
                continue;
            };
            kept += facts.len();
            hold += segment.holds;
            // The segment that has just ended may be one step, which nobody has seen yet. All later views show its end.
            if age > 1 && (kept > FACTS_KEPT || hold > self.may_hold.kept) {
                segment.facts = None;
            }
        }
        self.thin(self.checkpoints);
    }

    /// Frees everything that can be recomputed, because the run is not shown for a while.
    pub fn rest(&mut self) {
        let last = self.segments.len().saturating_sub(1);
        for segment in self.segments.iter_mut().take(last) {
            segment.facts = None;
        }
        self.thin(self.checkpoints / RESTING);
        self.looked_at.borrow_mut().clear();
    }

    /// Reduces states kept along the run to one per checkpoint: the earliest of each segment. `seen` returns
    /// the number of facts before a state.
    pub fn thin_along<S>(&self, kept: &mut Vec<S>, seen: impl Fn(&S) -> usize) {
        if kept.len() <= self.segments.len() {
            return;
        }
        let mut last = None;
        kept.retain(|state| {
            let here = Some(self.segment_of(seen(state)));
            std::mem::replace(&mut last, here) != here
        });
    }

    /// Reduces the checkpoints to `most`.
    pub(super) fn thin(&mut self, most: usize) {
        let weigh = |segment: &Segment| segment.start.picture.weight();
        let mut weight: usize = self.segments.iter().map(weigh).sum();
        while self.segments.len() > most.max(2) || weight > CHECKPOINTS_WEIGH {
            // Merge two neighbours, the shortest pair of the older ones, so that all segments grow evenly. What the segment
            // that has just ended has is still shown.
            let len = self.segments.len();
            let old = 1..(len * 3 / 4).max(2).min(len.saturating_sub(2));
            let length = |number: &usize| self.len_of(number - 1) + self.len_of(*number);
            let Some(number) = old.min_by_key(length) else {
                return;
            };
            let until = self.segments.get(number + 1).map(|next| next.from);
            // The last segment still grows and is not merged.
            let Some(until) = until else {
                return;
            };
            let shorter = self.segments.remove(number);
            weight -= weigh(&shorter);
            if let Some(longer) = self.segments.get_mut(number - 1) {
                longer.holds += shorter.holds;
                longer.facts = None;
            }
            self.thinned = self.thinned.max(until);
            self.looked_at.borrow_mut().clear();
        }
    }

    /// The number of the segment that contains this index, or would contain it.
    pub(super) fn segment_of(&self, place: usize) -> usize {
        let after = self
            .segments
            .partition_point(|segment| segment.from <= place);
        after.saturating_sub(1)
    }

    pub(super) fn len_of(&self, number: usize) -> usize {
        let from = self.segments.get(number).map_or(0, |segment| segment.from);
        let next = self.segments.get(number + 1);
        next.map_or_else(|| self.len(), |next| next.from) - from
    }

    /// The segment that contains this index: the number of facts before it, and its facts.
    pub(super) fn segment_at(&self, place: usize) -> Option<(usize, Arc<Vec<FactRecord>>)> {
        let number = self.segment_of(place);
        let segment = self.segments.get(number)?;
        if let Some(facts) = &segment.facts {
            return Some((segment.from, Arc::clone(facts)));
        }
        let looked_at = self.look(number);
        let facts = looked_at.facts.clone();
        self.looked(looked_at);
        Some((segment.from, facts?))
    }

    /// Drops the run in slices: dropping a million facts takes a fifth of a second on the page.
    pub async fn drop_slowly(mut self, slices: &Slices) {
        while let Some(segment) = self.segments.pop() {
            drop(segment);
            slices.spend(SEGMENT / SEEN).await;
        }
    }

    /// Recomputes the dropped facts of the segment at this index, in slices. Returns the end of the segment.
    pub async fn ready(&self, place: usize, slices: &Slices) -> usize {
        let number = self.segment_of(place);
        let Some(segment) = self.segments.get(number) else {
            return self.len();
        };
        if segment.facts.is_none() {
            let one = self.look_slowly(number, slices).await;
            self.looked(one);
        }
        segment.from + self.len_of(number)
    }

    /// Takes a segment into use; [`Self::looked`] takes it back.
    pub(super) fn look(&self, number: usize) -> LookedAt {
        at_once(self.look_slowly(number, &Slices::whole()))
    }

    async fn look_slowly(&self, number: usize, slices: &Slices) -> LookedAt {
        let Some(segment) = self.segments.get(number) else {
            return LookedAt::default();
        };
        let take = || {
            let mut cache = self.looked_at.borrow_mut();
            let place = cache.iter().position(|one| one.from == segment.from);
            place.map(|place| cache.remove(place))
        };
        let mut one = take().unwrap_or_default();
        one.from = segment.from;
        // The facts may have been dropped since the segment was last in use.
        if segment.facts.is_none() && one.facts.is_none() {
            let len = self.len_of(number);
            let mut world = segment.start.world.clone();
            let mut taken = segment.start.taken;
            let mut facts: Vec<FactRecord> = Vec::with_capacity(len);
            while facts.len() < len {
                let time = facts.last().map_or(segment.start.time, |last| last.time);
                let known = facts.len();
                let inputs = Inputs {
                    all: &self.inputs,
                    before: self.forgotten_inputs,
                };
                let place = segment.from + known;
                if !go_on(&mut world, inputs, &mut taken, place, time) {
                    break;
                }
                facts.append(&mut world.drain());
                slices.spend(facts.len() - known).await;
            }
            one.facts = Some(Arc::new(facts));
        }
        one
    }

    pub(super) fn looked(&self, at: LookedAt) {
        let mut cache = self.looked_at.borrow_mut();
        cache.push(at);
        let facts = |one: &LookedAt| one.facts.as_ref().map_or(0, |facts| facts.len());
        while cache.len() > LOOKED_AT
            || cache.len() > 1 && cache.iter().map(facts).sum::<usize>() > LOOKED_AT_FACTS
        {
            cache.remove(0);
        }
    }
}

/// The length of a segment that begins with this picture, in facts.
pub(super) fn gap_after(picture: &Picture) -> usize {
    SEGMENT.max(picture.weight() * 2)
}
