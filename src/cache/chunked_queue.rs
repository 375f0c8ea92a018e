//! A queue whose memory use follows its length.

use std::collections::VecDeque;

use derive_where::derive_where;

/// A FIFO queue. A long queue consists of pieces: a single `VecDeque` would copy everything to
/// grow, and never release memory.
#[derive(Clone)]
#[derive_where(Default)]
pub(super) struct ChunkedQueue<T> {
    /// No piece is empty, except a single remaining one. All but the first and the last have
    /// `PIECE` values.
    pieces: VecDeque<VecDeque<T>>,
}

/// Maximum number of values in a piece: small enough for the short queues on a page, large enough
/// that the cost of allocating a piece is negligible.
const PIECE: usize = 512;

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
                // The first piece grows up to the size of the others.
                let mut piece = match last {
                    Some(_) => VecDeque::with_capacity(PIECE),
                    None => VecDeque::new(),
                };
                piece.push_back(value);
                self.pieces.push_back(piece);
            }
        }
    }

    /// Takes the first value.
    pub(super) fn pop_front(&mut self) -> Option<T> {
        let piece = self.pieces.front_mut()?;
        let value = piece.pop_front();
        self.end_piece();
        value
    }

    /// Takes this many values off the front, or all.
    pub(super) fn take(&mut self, mut length: usize) -> Vec<T> {
        length = length.min(self.len());
        let mut taken = Vec::with_capacity(length);
        while let Some(piece) = self.pieces.front_mut()
            && length > 0
        {
            let part = length.min(piece.len());
            taken.extend(piece.drain(..part));
            length -= part;
            self.end_piece();
        }
        taken
    }

    /// Drops the first piece if it is empty, unless it is the last one: a queue that is mostly empty
    /// should not allocate for each value.
    fn end_piece(&mut self) {
        if self.pieces.len() > 1 && self.pieces.front().is_some_and(VecDeque::is_empty) {
            self.pieces.pop_front();
        }
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
        fn behaves_like_a_queue(steps in prop::collection::vec((any::<bool>(), 0..2 * PIECE), 0..12)) {
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
                    prop_assert_eq!(ring.pop_front(), naive.pop_front());
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
