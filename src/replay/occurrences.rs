//! The occurrences of each object in a run.
//!
//! A run grows while the user watches it, and is cut: only new facts are scanned, and an object's last fact
//! is found among its own occurrences.

use std::sync::Arc;

use deltascope_cache::fact::{Entry, Fact, QueueFact, ReflectorFact, ServerFact, StoreFact};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;

/// The indices of the facts about each object. They are 32-bit, because runs are shorter than that.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    of: SortedMap<Key, Vec<u32>>,
    /// The indices of facts about a whole list or store.
    wholes: Vec<u32>,
}

impl Occurrences {
    /// Adds the next fact; true if it is the first one about its object.
    pub fn see(&mut self, place: usize, fact: &Fact) -> bool {
        let Ok(place) = u32::try_from(place) else {
            return false;
        };
        match fact.key() {
            Some(key) => match self.of.get_mut(key) {
                Some(places) => places.push(place),
                None => {
                    self.of.insert(key.clone(), vec![place]);
                    return true;
                }
            },
            None if is_whole(fact) => self.wholes.push(place),
            None => {}
        }
        false
    }

    /// Drops all facts from this index on.
    pub fn cut(&mut self, place: usize) {
        let cut = |places: &mut Vec<u32>| {
            let kept = places.partition_point(|at| (*at as usize) < place);
            places.truncate(kept);
        };
        cut(&mut self.wholes);
        let of = std::mem::take(&mut self.of).into_iter();
        self.of = of
            .filter_map(|(key, mut places)| {
                cut(&mut places);
                (!places.is_empty()).then_some((key, places))
            })
            .collect();
    }

    /// Drops the first facts of the run; the remaining ones begin at 0 again.
    pub fn forget(&mut self, gone: usize) {
        let forget = |places: &mut Vec<u32>| {
            let first = places.partition_point(|at| (*at as usize) < gone);
            places.drain(..first);
            for at in places.iter_mut() {
                *at = at.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
            }
        };
        forget(&mut self.wholes);
        let of = std::mem::take(&mut self.of).into_iter();
        self.of = of
            .filter_map(|(key, mut places)| {
                forget(&mut places);
                (!places.is_empty()).then_some((key, places))
            })
            .collect();
    }

    /// The indices of the facts about one object, in order.
    #[must_use]
    pub fn of(&self, key: &str) -> &[u32] {
        self.of.get(key).map_or(&[], Vec::as_slice)
    }

    /// The indices before `before` of facts about this object or about a whole list, the last first.
    pub fn back(&self, key: &str, before: usize) -> impl Iterator<Item = usize> {
        let mut lists = [self.of(key), &self.wholes].map(|places| {
            let count = places.partition_point(|at| (*at as usize) < before);
            places.get(..count).unwrap_or_default()
        });
        std::iter::from_fn(move || {
            let [one, other] = &mut lists;
            let list = if one.last() > other.last() {
                one
            } else {
                other
            };
            let (last, rest) = list.split_last()?;
            *list = rest;
            Some(*last as usize)
        })
    }
}

fn is_whole(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Server(ServerFact::ObjectsLearned { .. })
            | Fact::Reflector(ReflectorFact::ListReceived { .. })
            | Fact::Queue(QueueFact::EntriesTaken { .. })
            | Fact::Store(StoreFact::StoreReplaced { .. })
            | Fact::Queue(QueueFact::EntryAppended {
                entry: Entry::ReplacedAll { .. } | Entry::SyncAll,
                ..
            })
    )
}

/// Thins out indices to at most the number that fits on the screen.
#[must_use]
pub fn thinned(places: &[u32], most: usize) -> Arc<[u32]> {
    let thin = places.len().div_ceil(most).max(1);
    places.iter().step_by(thin).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltascope_cache::fact::HandlersFact;

    fn about(key: &str) -> Fact {
        Fact::Handlers(HandlersFact::MutationDetected { key: key.into() })
    }

    #[test]
    fn the_occurrences_of_an_object_are_found_from_the_end() {
        let list = Fact::Store(StoreFact::StoreReplaced {
            items: Arc::default(),
        });
        let facts = [
            about("a"),
            about("b"),
            list,
            about("a"),
            Fact::Queue(QueueFact::QueueEmpty),
            about("a"),
        ];
        let mut passages = Occurrences::default();
        for (place, fact) in facts.iter().enumerate() {
            passages.see(place, fact);
        }
        assert_eq!(passages.of("a"), [0, 3, 5]);
        assert!(passages.back("a", 9).eq([5, 3, 2, 0]));
        assert!(passages.back("a", 5).eq([3, 2, 0]));
        assert!(passages.back("b", 2).eq([1]));
        assert!(passages.back("c", 9).eq([2]));
        passages.cut(3);
        assert_eq!(passages.of("a"), [0]);
        passages.cut(1);
        assert!(passages.of("b").is_empty() && passages.of.len() == 1);
        assert_eq!(*thinned(&[1, 2, 3, 4, 5], 3), [1, 3, 5]);
    }
}
