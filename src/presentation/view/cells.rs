//! The cells of a run's objects, where there are many of them.

use std::collections::VecDeque;
use std::rc::Rc;

use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Fact, FactRecord, ServerFact, StoreFact};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::{self, SortedMap};

/// A deleted object keeps its place for this many facts: it is struck out for a while, and may come back.
const KEPT: usize = 4_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    place: u32,
    /// Whether the object was deleted. Its place may be another's since.
    left: bool,
}

/// The cells of a run's objects: a number for each key, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CellSlots {
    of: SortedMap<Key, Slot>,
    count: u32,
    /// The places of deleted objects, each with its key and the number of facts at the delete. All other places have one key each
    /// that has not left.
    left: VecDeque<(usize, Key, u32)>,
}

impl CellSlots {
    /// How many places there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of a key.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<usize> {
        self.of.get(key).map(|slot| slot.place as usize)
    }

    /// The place of each of these keys; neighbours are found fast.
    pub fn all_of<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a Key>,
    ) -> impl Iterator<Item = Option<usize>> {
        self.of
            .all_of(keys)
            .map(|slot| slot.map(|slot| slot.place as usize))
    }

    /// Those of these keys for which [`Self::meet`] does something, and perhaps more.
    pub fn unmet<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a Key> + Clone,
    ) -> impl Iterator<Item = &'a Key> {
        keys.clone()
            .zip(self.of.all_of(keys))
            .filter(|(_, slot)| slot.is_none_or(|slot| slot.left))
            .map(|(key, _)| key)
    }

    /// The keys that have had this place: more than one if it was reused.
    pub fn at(&self, place: usize) -> impl Iterator<Item = &Key> {
        let here = self.of.iter();
        here.filter_map(move |(key, slot)| (slot.place as usize == place).then_some(key))
    }

    /// All keys that have, or have had, one of these places, which are sorted.
    pub fn among(&self, places: &[usize]) -> impl Iterator<Item = (&Key, usize)> {
        let all = self.of.iter().map(|(key, slot)| (key, slot.place as usize));
        all.filter(|(_, place)| places.binary_search(place).is_ok())
    }

    /// All keys that have a place, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.of.keys()
    }

    /// Gives a place to an object that exists after `at` facts.
    pub fn meet(this: &mut Rc<Self>, at: usize, key: &Key) {
        let known = this.of.get(key).copied();
        if known.is_some_and(|slot| !slot.left) {
            return;
        }
        let this = Rc::make_mut(this);
        let is_own = |(_, left, place): &(usize, Key, u32)| {
            known.is_some_and(|slot| slot.place == *place) && left == key
        };
        if let Some(own) = this.left.iter().position(is_own) {
            this.left.remove(own);
            if let Some(slot) = this.of.get_mut(key) {
                slot.left = false;
            }
            return;
        }
        let free = this.left.front().filter(|(left, ..)| left + KEPT < at);
        let place = free.map_or(this.count, |(.., place)| *place);
        if free.is_some() {
            this.left.pop_front();
        } else {
            this.count += 1;
        }
        this.of.insert(key.clone(), Slot { place, left: false });
    }

    /// Notes that an object was deleted; its place may be reused later.
    pub fn leave(this: &mut Rc<Self>, at: usize, key: &Key) {
        if this.of.get(key).is_none_or(|slot| slot.left) {
            return;
        }
        let this = Rc::make_mut(this);
        if let Some(slot) = this.of.get_mut(key) {
            slot.left = true;
            this.left.push_back((at, key.clone(), slot.place));
        }
    }

    /// How many keys have, or have had, a place.
    #[must_use]
    pub fn known(&self) -> usize {
        self.of.len()
    }

    /// Adapts to the drop of the run's first `gone` facts.
    pub fn shift(this: &mut Rc<Self>, gone: usize) {
        if !this.left.is_empty() {
            for (left, ..) in &mut Rc::make_mut(this).left {
                *left = left.saturating_sub(gone);
            }
        }
    }

    /// Forgets the keys that do not occur any more.
    pub fn forget(this: &mut Rc<Self>, is_there: &dyn Fn(&Key) -> bool) {
        let this = Rc::make_mut(this);
        let of = std::mem::take(&mut this.of).into_iter();
        let left = &mut this.left;
        this.of = of
            .filter(|(key, slot)| {
                let stays = is_there(key);
                if !stays && !slot.left {
                    left.push_front((0, key.clone(), slot.place));
                }
                stays
            })
            .collect();
    }

    /// Adapts to a cut of the run after `at` facts. Objects that came later keep their places: they may come again.
    pub fn cut(this: &mut Rc<Self>, at: usize) {
        if this.left.back().is_some_and(|(left, ..)| *left > at) {
            let Self { of, left, .. } = Rc::make_mut(this);
            left.retain(|(left, key, place)| {
                let stays = *left <= at;
                if let (false, Some(slot)) = (stays, of.get_mut(key)) {
                    slot.left &= slot.place != *place;
                }
                stays
            });
        }
    }
}

/// What facts have changed in the fields of cells.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The keys that they are about, each once.
    pub keys: Vec<Key>,
    /// Whether they have changed more of the objects and items than these keys, …
    pub objects: bool,
    /// … and whether they have changed the queue, in which a place is another one after each Pop.
    pub queue: bool,
}

impl Touched {
    /// By all facts that `each` visits.
    pub fn of(each: impl FnOnce(&mut dyn FnMut(&Fact))) -> Self {
        let mut touched = Self::default();
        each(&mut |fact| touched.see(fact));
        // Once for all: there may be thousands.
        sorted::sort(&mut touched.keys, Ord::cmp);
        touched.keys.dedup();
        touched
    }

    fn see(&mut self, fact: &Fact) {
        self.keys.extend(fact.key().cloned());
        if let Fact::Store(StoreFact::StoreReplaced { .. })
        | Fact::Server(ServerFact::ObjectsLearned { .. }) = fact
        {
            self.objects = true;
        }
        self.queue |= matches!(fact, Fact::Queue(_));
    }
}

/// What has changed since the view before, where these are more facts than a view has at hand.
#[derive(Clone, Debug)]
pub struct Since {
    /// The last fact of that view.
    pub after: FactRecord,
    /// What the facts from there on have changed.
    pub touched: Touched,
}

/// Views are the same however they were reached.
impl PartialEq for Since {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The colour of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Hue {
    /// Server and store have the same.
    #[default]
    Same,
    /// The delta type of a queued item, or the change that the store still lacks.
    Of(DeltaType),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_place_is_kept_and_reused_much_later() {
        let mut places = Rc::default();
        for (at, key) in ["a", "b", "c"].into_iter().enumerate() {
            CellSlots::meet(&mut places, at, &key.into());
        }
        CellSlots::leave(&mut places, 10, &"b".into());
        CellSlots::leave(&mut places, 11, &"a".into());
        CellSlots::meet(&mut places, 20, &"a".into());
        CellSlots::meet(&mut places, 30, &"d".into());
        CellSlots::meet(&mut places, KEPT + 30, &"e".into());
        CellSlots::meet(&mut places, KEPT + 30, &"f".into());
        let of = ["a", "b", "c", "d", "e", "f"].map(|key| places.get(&key.into()));
        assert_eq!(of, [Some(0), Some(1), Some(2), Some(3), Some(1), Some(4)]);
        CellSlots::shift(&mut places, 100);
        CellSlots::forget(&mut places, &|key| **key != *"c");
        assert_eq!((places.get(&"c".into()), places.len()), (None, 5));
    }

    #[test]
    fn no_two_objects_that_are_there_have_one_place() {
        let mut places = Rc::default();
        let apart = |places: &Rc<CellSlots>, keys: &[&str]| {
            let of: BTreeSet<_> = keys.iter().map(|key| places.get(&(*key).into())).collect();
            assert_eq!(
                (of.len(), of.contains(&None)),
                (keys.len(), false),
                "{of:?}"
            );
        };
        CellSlots::meet(&mut places, 0, &"a".into());
        CellSlots::leave(&mut places, 1, &"a".into());
        // Its place is another's now, also once it comes back, …
        CellSlots::meet(&mut places, KEPT + 2, &"b".into());
        let mut back = Rc::clone(&places);
        CellSlots::meet(&mut back, KEPT + 3, &"a".into());
        apart(&back, &["a", "b"]);
        // … and once it is forgotten.
        CellSlots::forget(&mut places, &|key| **key != *"a");
        CellSlots::meet(&mut places, KEPT + 3, &"c".into());
        apart(&places, &["b", "c"]);
        // A place that two gone keys had becomes free once.
        CellSlots::leave(&mut places, KEPT + 4, &"b".into());
        CellSlots::meet(&mut places, 2 * KEPT + 5, &"d".into());
        CellSlots::forget(&mut places, &|key| **key == *"c");
        for key in ["e", "f"] {
            CellSlots::meet(&mut places, 2 * KEPT + 6, &key.into());
        }
        apart(&places, &["c", "e", "f"]);
        assert_eq!(places.len(), 3);
    }

    #[test]
    fn what_is_met_does_not_count_as_unmet_when_others_have_left() {
        let mut places = Rc::default();
        let keys = ["a", "b", "c"].map(Key::from);
        for key in &keys[..2] {
            CellSlots::meet(&mut places, 0, key);
        }
        CellSlots::leave(&mut places, 1, &keys[0]);
        let unmet: Vec<_> = places.unmet(keys.iter()).collect();
        assert_eq!(unmet, [&keys[0], &keys[2]]);
    }

    #[test]
    fn a_cell_that_became_free_after_the_cut_is_not_free() {
        let mut places = Rc::default();
        for (at, key) in ["a", "b"].into_iter().enumerate() {
            CellSlots::meet(&mut places, at, &key.into());
        }
        CellSlots::leave(&mut places, 10, &"a".into());
        CellSlots::leave(&mut places, 20, &"b".into());
        CellSlots::cut(&mut places, 10);
        let later = 20 + KEPT + 1;
        CellSlots::meet(&mut places, later, &"c".into());
        CellSlots::meet(&mut places, later, &"d".into());
        let of = ["a", "b", "c", "d"].map(|key| places.get(&key.into()));
        assert_eq!(of, [Some(0), Some(1), Some(0), Some(2)]);
    }
}
