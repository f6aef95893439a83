//! Seeded draws: the same seed, the same tests and benchmarks, on any machine.

/// `SplitMix64`.
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Draws from this seed on.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Returns a number below `bound`, or 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    /// Returns `true` once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of these, or nothing where there are none.
    pub fn one_of<'a, T>(&mut self, these: &'a [T]) -> Option<&'a T> {
        these.get(self.below(these.len()))
    }
}

/// Returns the number that `SplitMix64` makes of a state.
pub const fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_match_the_reference() {
        let mut draws = SplitMix64::new(1_234_567);
        let first = [draws.next(), draws.next(), draws.next()];
        let reference =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, reference);
    }

    #[test]
    fn no_bound_draws_nothing() {
        let mut draws = SplitMix64::new(1);
        assert_eq!(draws.below(0), 0);
        assert_eq!(draws.one_of::<u8>(&[]), None);
    }
}
