//! The order of functions in a file: beside those that are like them, for compression finds what is near in fewer bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// So many bytes in a row are a feature of a function.
const ROW: usize = 4;
/// The features of a function, each as a bit.
type Features = [u64; 1 << (BITS - 6)];
const BITS: u32 = 14;
/// How many functions of about the same size are asked which is most like the one before.
const NEAR: usize = 512;

/// Functions, each with its type and its bytes: those of a type side by side, the commonest type first; from small to large, each
/// followed by one that is like it.
pub(super) fn alike<'a>(functions: impl Iterator<Item = (u32, u32, &'a [u8])>) -> Vec<u32> {
    let mut types: BTreeMap<u32, Vec<(u32, &[u8])>> = BTreeMap::new();
    for (function, ty, bytes) in functions {
        types.entry(ty).or_default().push((function, bytes));
    }
    let mut types: Vec<_> = types.into_values().collect();
    types.sort_by_key(|functions| Reverse(functions.len()));
    types.into_iter().flat_map(of_a_type).collect()
}

fn of_a_type(mut functions: Vec<(u32, &[u8])>) -> Vec<u32> {
    // They are taken from the end.
    functions.sort_by_key(|(function, bytes)| Reverse((bytes.len(), *function)));
    let with_features = |(function, bytes)| (function, features(bytes));
    let mut left: Vec<(u32, Features)> = functions.into_iter().map(with_features).collect();
    let mut order = Vec::with_capacity(left.len());
    let mut last = [0; 1 << (BITS - 6)];
    while !left.is_empty() {
        let near = left.len().saturating_sub(NEAR)..left.len();
        let next = near.max_by_key(|&at| likeness(&last, &left[at].1));
        let (function, features) = left.remove(next.unwrap_or_default());
        order.push(function);
        last = features;
    }
    order
}

fn features(bytes: &[u8]) -> Features {
    let mut features = [0u64; 1 << (BITS - 6)];
    for row in bytes.windows(ROW) {
        let hash = row.iter().fold(0u32, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        });
        // The upper bits know little of the first bytes.
        let bit = (hash.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize;
        features[bit / 64] |= 1 << (bit % 64);
    }
    features
}

/// How many features both have, in thousandths of what they could have.
fn likeness(one: &Features, other: &Features) -> u32 {
    let (mut both, mut all) = (0, 0);
    for (one, other) in one.iter().zip(other) {
        both += (one & other).count_ones();
        all += (one | other).count_ones();
    }
    both * 1000 / all.max(1)
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn a_function_is_followed_by_one_like_it_of_its_type() {
        let of = |first: u8, length: u8| (first..first + length).collect::<Vec<_>>();
        let [small, one, other, like] = [of(10, 12), of(50, 20), of(90, 20), of(12, 20)];
        let all = [(1, 7, &one), (2, 7, &other), (3, 7, &like), (4, 7, &small)];
        let rare = (0, 1, &small);
        let all = [rare].into_iter().chain(all);
        let order = alike(all.map(|(number, ty, bytes)| (number, ty, &**bytes)));
        assert_eq!(order[..2], [4, 3]);
        assert_eq!((order.len(), order[4]), (5, 0));
    }
}
