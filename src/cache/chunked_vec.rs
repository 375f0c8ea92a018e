//! A growable array that never moves its elements.

use derive_where::derive_where;

/// Values by number, in chunks of a fixed size. A large `Vec` copies itself when it grows, and up
/// to half of its capacity is unused.
#[derive(Clone)]
#[derive_where(Default)]
pub(super) struct ChunkedVec<T> {
    /// All chunks except the last are full.
    chunks: Vec<Vec<T>>,
}

/// Number of values in a chunk: 12 KB of keys. The first chunk grows up to it, because most stores
/// on a page are small.
const CHUNK: usize = 512;

impl<T> ChunkedVec<T> {
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.begin_chunk();
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(value);
        }
    }

    #[cold]
    fn begin_chunk(&mut self) {
        let room = if self.chunks.is_empty() { 0 } else { CHUNK };
        self.chunks.push(Vec::with_capacity(room));
    }

    pub(super) fn len(&self) -> usize {
        match self.chunks.split_last() {
            Some((last, full)) => full.len() * CHUNK + last.len(),
            None => 0,
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        self.chunks.get(number / CHUNK)?.get(number % CHUNK)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let number = number as usize;
        self.chunks.get_mut(number / CHUNK)?.get_mut(number % CHUNK)
    }

    /// A mutable reference to a value; appends copies of `filling` until it exists.
    pub(super) fn fill_to(&mut self, number: u32, filling: T) -> &mut T
    where
        T: Copy,
    {
        for _ in self.len()..=number as usize {
            self.push(filling);
        }
        let number = number as usize;
        &mut self.chunks[number / CHUNK][number % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_vec() {
        let mut chunks = ChunkedVec::default();
        let mut naive = Vec::new();
        for value in 0..3 * CHUNK as u32 {
            chunks.push(value);
            naive.push(value);
        }
        for (value, changed) in [(1, 7), (CHUNK as u32, 8), (2 * CHUNK as u32 + 1, 9)] {
            if let Some(place) = chunks.get_mut(value) {
                *place = changed;
            }
            naive[value as usize] = changed;
        }
        *chunks.fill_to(4 * CHUNK as u32, 5) = 6;
        naive.resize(4 * CHUNK, 5);
        naive.push(6);
        assert_eq!(chunks.len(), naive.len());
        for (number, value) in (0..).zip(&naive) {
            assert_eq!(chunks.get(number), Some(value));
        }
        assert_eq!(chunks.get(naive.len() as u32), None);
    }
}
