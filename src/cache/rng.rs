//! Reproducible random numbers.

use crate::backoff::Jitter;

/// A SplitMix64 generator.
///
/// Recordings, shared links and lessons store a seed instead of the generated data. So a seed must
/// always produce the same numbers, in every release and on every platform. A test pins them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, from the full range.
    pub fn next_u64(&mut self) -> u64 {
        // The three constants are SplitMix64's own.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Multiply and shift: always one draw per call, so that later draws stay the same.
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included; `low` if `high` is smaller.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A number from 0 (included) to 1 (excluded).
    pub fn unit(&mut self) -> f64 {
        // Use as many bits as the mantissa holds.
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True `percent` times of 100.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }
}

/// The seed determines the jitter, so a replayed recording has the same pauses.
impl Jitter for Rng {
    fn unit(&mut self) -> f64 {
        Self::unit(self)
    }

    fn boxed_clone(&self) -> Box<dyn Jitter> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn is_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn stays_in_bounds_and_reaches_them() {
        let mut rng = Rng::new(7);
        let mut seen = [0_u32; 5];
        for _ in 0..1_000 {
            seen[rng.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert!((0..100).all(|_| (3..=5).contains(&rng.between(3, 5))));
        assert_eq!(rng.between(5, 3), 5);
        assert!(!rng.chance(0));
        assert!(rng.chance(100));
    }
}
