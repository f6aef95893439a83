//! How long to wait before the next attempt: seeded, so that a replay waits as long.

use crate::{
    chart::Attempts,
    id::{At, Seq},
};

/// Returns the milliseconds to wait after the given attempt failed.
///
/// base·2^(attempt−1), capped, times a jitter of 0.75 to 1.0 drawn from the seed,
/// the entry and the item. Frozen: journals depend on it.
pub(crate) fn delay(limits: &Attempts, attempt: u16, seed: u64, seq: Seq, item: u16) -> u64 {
    let doublings = u32::from(attempt.saturating_sub(1)).min(63);
    let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    let full = limits.base.saturating_mul(factor).min(limits.cap);
    jittered(full, seed, seq, item)
}

/// Returns 0.75 to 1.0 times the delay, in 4096 steps.
fn jittered(full: u64, seed: u64, seq: Seq, item: u16) -> u64 {
    let drawn = mix(seed ^ mix(seq.0 ^ mix(u64::from(item)))) >> 52;
    let parts = u128::from(drawn).saturating_add(3 * 4095);
    let delay = u128::from(full).saturating_mul(parts) / (4 * 4095);
    u64::try_from(delay).unwrap_or(u64::MAX)
}

/// One step of `SplitMix64`.
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns when the next attempt is due, or nothing if the hint is too long to wait.
pub(crate) fn next_attempt(
    limits: &Attempts,
    attempt: u16,
    hint: Option<u64>,
    now: At,
    draw: (u64, Seq, u16),
) -> Option<At> {
    let (seed, seq, item) = draw;
    let hint = hint.unwrap_or(0);
    if hint > limits.hint_cap {
        return None;
    }
    Some(now.after(delay(limits, attempt, seed, seq, item).max(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_frozen() {
        let limits = Attempts {
            max: 9,
            timeout: 1,
            base: 1_000,
            cap: 30_000,
            hint_cap: 60_000,
            ask_timeout: 1,
        };
        let delays: [u64; 8] = core::array::from_fn(|at| {
            let at = u16::try_from(at).unwrap_or_default();
            delay(&limits, at.saturating_add(1), 42, Seq(u64::from(at) + 7), at % 3)
        });
        assert_eq!(delays, FROZEN);
    }

    /// Computed apart from this code, from the sentence above `delay` alone.
    const FROZEN: [u64; 8] = [985, 1_780, 3_406, 7_726, 15_613, 24_858, 29_734, 27_278];

    #[test]
    fn jitter_stays_within_its_bounds() {
        for seed in 0..10_000 {
            let delay = jittered(1_000, seed, Seq(seed / 3), 0);
            assert!((750..=1_000).contains(&delay), "{delay}");
        }
    }
}
