//! A queue that is as large as what is in it.

use std::collections::VecDeque;

/// First in, first out. A long one is made of pieces: one `VecDeque` would copy all of it to grow,
/// and never give room back.
#[derive(Clone)]
pub(super) struct ChunkedQueue<T> {
    /// None is empty; all but the first and the last have `PIECE` values.
    pieces: VecDeque<VecDeque<T>>,
}

/// How many values a piece has at most: so few that a page's queues need one that stays small, so
/// many that making one is nothing beside filling it.
const PIECE: usize = 512;

impl<T> Default for ChunkedQueue<T> {
    fn default() -> Self {
        Self {
            pieces: VecDeque::new(),
        }
    }
}

impl<T> ChunkedQueue<T> {
    pub(super) fn len(&self) -> usize {
        match (self.pieces.front(), self.pieces.back()) {
            (Some(front), Some(back)) if self.pieces.len() > 1 => {
                front.len() + (self.pieces.len() - 2) * PIECE + back.len()
            }
            (Some(only), _) => only.len(),
            _ => 0,
        }
    }

    pub(super) fn push_back(&mut self, value: T) {
        match self.pieces.back_mut() {
            Some(piece) if piece.len() < PIECE => piece.push_back(value),
            last => {
                // The first one grows, up to the size of the others.
                let mut piece = match last {
                    Some(_) => VecDeque::with_capacity(PIECE),
                    None => VecDeque::new(),
                };
                piece.push_back(value);
                self.pieces.push_back(piece);
            }
        }
    }

    /// Takes so many off the front, or all.
    pub(super) fn take(&mut self, mut length: usize) -> Vec<T> {
        length = length.min(self.len());
        let mut taken = Vec::with_capacity(length);
        while let Some(piece) = self.pieces.front_mut()
            && length > 0
        {
            let part = length.min(piece.len());
            taken.extend(piece.drain(..part));
            length -= part;
            // The last one stays: a queue that is mostly empty is not made anew for each value.
            if piece.is_empty() && self.pieces.len() > 1 {
                self.pieces.pop_front();
            }
        }
        taken
    }

    pub(super) fn get(&self, place: usize) -> Option<&T> {
        let front = self.pieces.front()?;
        match place.checked_sub(front.len()) {
            None => front.get(place),
            Some(place) => self.pieces.get(1 + place / PIECE)?.get(place % PIECE),
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        RingIter {
            left: self.len(),
            values: self.pieces.iter().flatten(),
        }
    }
}

struct RingIter<I> {
    values: I,
    left: usize,
}

impl<I: Iterator> Iterator for RingIter<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let value = self.values.next()?;
        self.left -= 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for RingIter<I> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_queue(steps in prop::collection::vec((any::<bool>(), 0..2 * PIECE), 0..12)) {
            let mut ring = ChunkedQueue::default();
            let mut naive: VecDeque<usize> = VecDeque::new();
            let mut next = 0;
            for (push, count) in steps {
                if push {
                    for value in next..next + count {
                        ring.push_back(value);
                        naive.push_back(value);
                    }
                    next += count;
                } else {
                    let count = count.min(naive.len());
                    let taken: Vec<_> = naive.drain(..count).collect();
                    prop_assert_eq!(ring.take(count), taken);
                }
                prop_assert_eq!(ring.len(), naive.len());
                prop_assert_eq!(ring.iter().len(), naive.len());
                prop_assert!(ring.iter().eq(&naive));
                for place in (0..=naive.len()).step_by(101) {
                    prop_assert_eq!(ring.get(place), naive.get(place));
                }
            }
        }
    }
}
