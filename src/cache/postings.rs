//! The content of one index: which objects, by number, have which values.

use std::sync::Arc;

use super::chunked_vec::ChunkedVec;
use super::interner::Interner;
use super::store_order::StoreOrder;

/// Maps each value to the numbers of its objects, and each number back to its place in those lists.
#[derive(Clone, Default)]
pub(super) struct Postings {
    /// The list of an existing value is never empty.
    values: Interner<Arc<str>, Vec<u32>>,
    /// The visible order of the values.
    order: StoreOrder,
    /// Indexed by object number.
    entries: ChunkedVec<Entry>,
    /// Overflow: the entries of objects for which one entry is not enough.
    many: Vec<Vec<Entry>>,
    free: Vec<u32>,
    /// Whether a removal preserves the order of the remaining objects.
    moves_up: bool,
}

/// One value of an object, with the object's position in the value's list.
#[derive(Clone, Copy)]
struct Entry {
    /// The value's number, [`NONE`], or [`MANY`].
    value: u32,
    /// For `MANY`, the position in `many`.
    place: u32,
}

const NONE: u32 = u32::MAX;
const MANY: u32 = u32::MAX - 1;
const NO_ENTRY: Entry = Entry {
    value: NONE,
    place: 0,
};

/// What is known about an object's values.
pub(super) enum Held<'a> {
    /// It has at most one value.
    One(Option<&'a Arc<str>>),
    /// It has several values, or the entries may differ from the object's values.
    Unsure,
}

/// A value that was removed from an object.
pub(super) enum Removed<'a> {
    /// Other objects still have the value.
    Shared(&'a Arc<str>),
    /// No object has the value any more, so it was removed.
    Last(Arc<str>),
}

impl Postings {
    pub(super) fn new(moves_up: bool) -> Self {
        Self {
            moves_up,
            ..Self::default()
        }
    }

    /// Adds a value to an object; `None` if the object already has it.
    pub(super) fn insert(&mut self, object: u32, value: &str) -> Option<&Arc<str>> {
        let number = match self.values.find(value.as_bytes()) {
            Some(number) => number,
            None => {
                let number = self.values.insert(&mut value.into(), Vec::new())?.number;
                self.order.push(number);
                number
            }
        };
        if self.entry(object, number).is_some() {
            return None;
        }
        let (_, list) = self.values.row_mut(number)?;
        let new = Entry {
            value: number,
            place: list.len() as u32,
        };
        list.push(object);
        let entry = self.entries.fill_to(object, NO_ENTRY);
        match entry.value {
            NONE => *entry = new,
            MANY => self.many[entry.place as usize].push(new),
            _ => self.unsure(object).push(new),
        }
        self.values.name(number)
    }

    /// Removes a value from an object; `None` if the object does not have it.
    pub(super) fn remove(&mut self, object: u32, value: &str) -> Option<Removed<'_>> {
        let number = self.values.find(value.as_bytes())?;
        let place = self.entry(object, number)?.place;
        let entry = self.entries.get_mut(object)?;
        if entry.value == MANY {
            self.many[entry.place as usize].retain(|entry| entry.value != number);
        } else {
            *entry = NO_ENTRY;
        }
        let mut list = std::mem::take(self.values.row_mut(number)?.1);
        if self.moves_up {
            list.remove(place as usize);
        } else {
            list.swap_remove(place as usize);
        }
        let end = if self.moves_up {
            list.len()
        } else {
            list.len().min(place as usize + 1)
        };
        for (place, moved) in (place..).zip(&list[place as usize..end]) {
            if let Some(entry) = self.entry(*moved, number) {
                entry.place = place;
            }
        }
        if list.is_empty() {
            self.order.remove(number, self.moves_up);
            return self
                .values
                .remove(number)
                .map(|(value, _)| Removed::Last(value));
        }
        let (value, place) = self.values.row_mut(number)?;
        *place = list;
        Some(Removed::Shared(value))
    }

    /// The values of an object, if they are known to match the index function's result.
    pub(super) fn held(&self, object: u32) -> Held<'_> {
        match self.entries.get(object).map_or(NONE, |entry| entry.value) {
            NONE => Held::One(None),
            MANY => Held::Unsure,
            value => Held::One(self.values.name(value)),
        }
    }

    /// Marks an object's values as unknown because the index function failed. The mark remains
    /// until the object is removed.
    pub(super) fn mark_stale(&mut self, object: u32) {
        self.unsure(object);
    }

    /// Whether an object has a value.
    pub(super) fn holds(&self, object: u32) -> bool {
        self.entries
            .get(object)
            .is_some_and(|entry| match entry.value {
                NONE => false,
                MANY => !self.many[entry.place as usize].is_empty(),
                _ => true,
            })
    }

    /// Releases an object that has no value.
    pub(super) fn forget(&mut self, object: u32) {
        if let Some(entry) = self.entries.get_mut(object)
            && entry.value == MANY
        {
            self.free.push(entry.place);
            *entry = NO_ENTRY;
        }
    }

    /// The objects with a value.
    pub(super) fn list(&self, value: &str) -> &[u32] {
        let number = self.values.find(value.as_bytes());
        match number.and_then(|number| self.values.row(number)) {
            Some((_, list)) => list,
            None => &[],
        }
    }

    /// The values, each with its objects.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &[u32])> {
        let rows = self.order.iter().map(|number| self.values.row(number));
        rows.flatten().map(|(value, list)| (value, &**list))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.moves_up);
    }

    fn entry(&mut self, object: u32, value: u32) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(object)?;
        match entry.value {
            NONE => None,
            MANY => self.many[entry.place as usize]
                .iter_mut()
                .find(|entry| entry.value == value),
            _ => Some(entry).filter(|entry| entry.value == value),
        }
    }

    /// The entries of an object in `many`; moves them there if necessary.
    fn unsure(&mut self, object: u32) -> &mut Vec<Entry> {
        let entry = self.entries.fill_to(object, NO_ENTRY);
        if entry.value != MANY {
            let place = self.free.pop().unwrap_or(self.many.len() as u32);
            let one = (entry.value != NONE).then_some(*entry);
            if self.many.len() == place as usize {
                self.many.push(Vec::new());
            }
            let many = &mut self.many[place as usize];
            many.clear();
            many.extend(one);
            *entry = Entry { value: MANY, place };
        }
        &mut self.many[entry.place as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_list_of_objects_per_value(
            moves_up: bool,
            steps in prop::collection::vec((0..4_u8, 0..6_u32, 0..4_u32), 0..120),
        ) {
            let mut postings = Postings::new(moves_up);
            let mut naive: Vec<(String, Vec<u32>)> = Vec::new();
            for (kind, object, value) in steps {
                let value = format!("value-{value}");
                let at = naive.iter().position(|(other, _)| *other == value);
                let place = at.and_then(|at| naive[at].1.iter().position(|o| *o == object));
                match (kind, at, place) {
                    (0 | 1, at, None) => {
                        prop_assert_eq!(postings.insert(object, &value).map(|v| &**v), Some(&*value));
                        match at {
                            Some(at) => naive[at].1.push(object),
                            None => naive.push((value, vec![object])),
                        }
                    }
                    (0 | 1, _, Some(_)) => prop_assert!(postings.insert(object, &value).is_none()),
                    (2, Some(at), Some(place)) => {
                        let last = naive[at].1.len() == 1;
                        match postings.remove(object, &value) {
                            Some(Removed::Last(name)) => prop_assert!(last && *name == *value),
                            Some(Removed::Shared(name)) => prop_assert!(!last && **name == *value),
                            None => prop_assert!(false, "it was there"),
                        }
                        match (last, moves_up) {
                            (true, true) => drop(naive.remove(at)),
                            (true, false) => drop(naive.swap_remove(at)),
                            (false, true) => drop(naive[at].1.remove(place)),
                            (false, false) => drop(naive[at].1.swap_remove(place)),
                        }
                    }
                    (2, ..) => prop_assert!(postings.remove(object, &value).is_none()),
                    _ => postings.mark_stale(object),
                }
                let found: Vec<_> = postings
                    .iter()
                    .map(|(value, list)| (value.to_string(), list.to_vec()))
                    .collect();
                prop_assert_eq!(&found, &naive);
                for (value, list) in &naive {
                    prop_assert_eq!(postings.list(value), list);
                }
                for object in 0..6 {
                    let has = |(_, list): &&(String, Vec<u32>)| list.contains(&object);
                    let values: Vec<_> = naive.iter().filter(has).map(|(value, _)| value).collect();
                    prop_assert_eq!(postings.holds(object), !values.is_empty());
                    if let Held::One(value) = postings.held(object) {
                        prop_assert!(values.iter().map(|v| &***v).eq(value.map(|v| &**v)));
                    }
                    if values.is_empty() {
                        postings.forget(object);
                        prop_assert!(matches!(postings.held(object), Held::One(None)));
                    }
                }
            }
        }
    }
}
