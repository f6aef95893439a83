//! The budgets of a run whose person thinks in actions.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// Visits of states that one action may take: a round, a recovery and a restart.
const STEPS_PER_ACTION: u64 = 12;
/// Taps and keys that one action may take.
const TAPS_PER_ACTION: u64 = 2;
/// The time of a run whose actions are given.
const TIME: &str = "1h";

/// Returns the budgets that so many actions need, but for those that are named: each with its
/// name and its amount, as `--budget` takes them.
pub fn lifted(actions: u64, named: &[&str]) -> Vec<(&'static str, String)> {
    let times = |each: u64| actions.saturating_mul(each).to_string();
    let all = [
        ("steps", times(STEPS_PER_ACTION)),
        ("taps", times(TAPS_PER_ACTION)),
        ("restarts", times(1)),
        ("outside", times(1)),
        ("rounds", times(1)),
        ("time", TIME.into()),
    ];
    all.into_iter().filter(|(name, _)| !named.contains(name)).collect()
}
