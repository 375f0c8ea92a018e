//! The order of the rows in a store.

/// Numbers without duplicates, at positions 0, 1, 2 …
#[derive(Clone, Default)]
pub(super) struct StoreOrder {
    /// The number of entries, as long as each number is its own position: nothing was removed
    /// except from the end.
    in_turn: u32,
    /// All entries, once the order was disturbed.
    mixed: Option<Mixed>,
}

#[derive(Clone)]
struct Mixed {
    /// The numbers by position.
    numbers: Vec<u32>,
    /// The positions by number; arbitrary for a number that is not contained.
    places: Vec<u32>,
}

impl StoreOrder {
    /// The numbers from 0 to `count` - 1.
    pub(super) fn in_turn(count: usize) -> Self {
        Self {
            in_turn: count as u32,
            mixed: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.mixed {
            None => self.in_turn as usize,
            Some(mixed) => mixed.numbers.len(),
        }
    }

    /// Appends a number that is not contained.
    pub(super) fn push(&mut self, number: u32) {
        if self.mixed.is_none() && self.in_turn == number {
            self.in_turn += 1;
            return;
        }
        let Mixed { numbers, places } = self.mixed();
        if places.len() <= number as usize {
            places.resize(number as usize + 1, 0);
        }
        places[number as usize] = numbers.len() as u32;
        numbers.push(number);
    }

    /// Removes a contained number. Then either the later ones move up, or the last one fills the
    /// gap.
    pub(super) fn remove(&mut self, number: u32, moves_up: bool) {
        if self.mixed.is_none() && self.in_turn == number + 1 {
            self.in_turn = number;
            return;
        }
        let Mixed { numbers, places } = self.mixed();
        let place = places[number as usize];
        if moves_up {
            numbers.remove(place as usize);
            for number in &numbers[place as usize..] {
                places[*number as usize] -= 1;
            }
        } else {
            numbers.swap_remove(place as usize);
            if let Some(moved) = numbers.get(place as usize) {
                places[*moved as usize] = place;
            }
        }
    }

    /// The numbers in their order.
    pub(super) fn iter(&self) -> PlacesIter<'_> {
        match &self.mixed {
            None => PlacesIter::InTurn(0..self.in_turn),
            Some(mixed) => PlacesIter::Mixed(mixed.numbers.iter()),
        }
    }

    fn mixed(&mut self) -> &mut Mixed {
        let count = self.in_turn;
        self.mixed.get_or_insert_with(|| Mixed {
            numbers: (0..count).collect(),
            places: (0..count).collect(),
        })
    }
}

/// The numbers of [`StoreOrder`], in their order.
#[derive(Clone)]
pub(super) enum PlacesIter<'a> {
    InTurn(std::ops::Range<u32>),
    Mixed(std::slice::Iter<'a, u32>),
}

impl Iterator for PlacesIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::InTurn(numbers) => numbers.next(),
            Self::Mixed(numbers) => numbers.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::InTurn(numbers) => numbers.size_hint(),
            Self::Mixed(numbers) => numbers.size_hint(),
        }
    }
}

impl ExactSizeIterator for PlacesIter<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_vec_with_positions(
            moves_up: bool,
            steps in prop::collection::vec((0..3_usize, 0..12_u32), 0..100),
        ) {
            let mut places = StoreOrder::default();
            let mut naive: Vec<u32> = Vec::new();
            for (kind, number) in steps {
                // Two thirds of the numbers are the least free one, as in a store.
                let number = match kind {
                    0 => number,
                    _ => (0..).find(|n| !naive.contains(n)).unwrap_or_default(),
                };
                match naive.iter().position(|n| *n == number) {
                    Some(place) => {
                        places.remove(number, moves_up);
                        if moves_up {
                            naive.remove(place);
                        } else {
                            naive.swap_remove(place);
                        }
                    }
                    None => {
                        places.push(number);
                        naive.push(number);
                    }
                }
                prop_assert_eq!(places.len(), naive.len());
                prop_assert!(places.iter().eq(naive.iter().copied()));
            }
        }
    }
}
