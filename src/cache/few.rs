//! A list that usually has one element.

use std::ops::Deref;
use std::{mem, slice};

use derive_where::derive_where;

/// A list in which a single element needs no allocation: most keys have one delta when they are
/// popped, and most Pops take one entry.
#[derive(Clone, Debug)]
#[derive_where(Default)]
pub struct Few<T>(Content<T>);

#[derive(Clone, Debug)]
#[derive_where(Default)]
enum Content<T> {
    One(T),
    /// Any number, also none or one.
    #[derive_where(default)]
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// A list of one element.
    #[must_use]
    pub const fn one(value: T) -> Self {
        Self(Content::One(value))
    }

    /// Appends an element.
    pub fn push(&mut self, value: T) {
        /// A list of several often gets many, so the capacity quadruples up to this; from there on
        /// `Vec` doubles it.
        const MANY: usize = 16;
        let mut many = match mem::take(self).0 {
            Content::Many(many) => many,
            Content::One(first) => {
                let mut many = Vec::with_capacity(4);
                many.push(first);
                many
            }
        };
        let length = many.len();
        if length == many.capacity() && length < MANY {
            many.reserve_exact(3 * length.max(1));
        }
        many.push(value);
        self.0 = Content::Many(many);
    }

    /// Appends all elements of another list.
    pub(super) fn append(&mut self, other: Self) {
        match other.0 {
            Content::One(one) => self.push(one),
            Content::Many(many) => many.into_iter().for_each(|one| self.push(one)),
        }
    }

    /// Removes an element of several.
    pub(super) fn remove(&mut self, place: usize) {
        if let Content::Many(many) = &mut self.0 {
            many.remove(place);
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Content::One(one) => slice::from_ref(one),
            Content::Many(many) => many,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(many: Vec<T>) -> Self {
        Self(Content::Many(many))
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_vec(steps in prop::collection::vec((0..4_u8, 0..9_usize), 0..40)) {
            let (mut few, mut like) = (Few::default(), Vec::new());
            for (what, value) in steps {
                match what {
                    0 => {
                        few = Few::one(value);
                        like = vec![value];
                    }
                    1 => {
                        few.push(value);
                        like.push(value);
                    }
                    2 if value < like.len() && like.len() > 1 => {
                        few.remove(value);
                        like.remove(value);
                    }
                    _ => {
                        few.append(few.clone());
                        like.extend(like.clone());
                        like.truncate(64);
                        few = Few::from(few[..like.len()].to_vec());
                    }
                }
                prop_assert_eq!(&*few, &*like);
                prop_assert!((&few).into_iter().eq(&like));
            }
        }
    }
}
