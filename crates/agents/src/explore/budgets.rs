//! The budgets of a run whose person thinks in actions.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::chart::{Budget, Charge, Chart};

/// Visits of states that one action may take: a round, a recovery and a restart.
const STEPS_PER_ACTION: u64 = 12;
/// Touches that one action may take: a text taps its field first.
const TAPS_PER_ACTION: u64 = 2;
/// The time of a run whose actions are given.
const HOUR_MS: u64 = 3_600_000;

/// Returns limits for the budgets of a chart that are not named: this many actions must not end
/// for want of something else. Each with its name and its amount, as `--budget` takes them;
/// none is lowered.
pub fn raised(chart: &Chart, actions: u64, named: &[&str]) -> Vec<(String, String)> {
    let need = |budget: &Budget| {
        let charge = budget.charge();
        let (unit, need) = if charge == Some(Charge::Step) {
            ("", actions.saturating_mul(STEPS_PER_ACTION))
        } else if charge == Some(Charge::Interaction) {
            ("", actions.saturating_mul(TAPS_PER_ACTION))
        } else if charge == Some(Charge::Time) {
            ("ms", HOUR_MS)
        } else if charge.is_none() || charge == Some(Charge::OutsideApp) {
            ("", actions)
        } else {
            return None;
        };
        (need > budget.max()).then(|| (budget.name().into(), format!("{need}{unit}")))
    };
    let open = chart.budgets().iter().filter(|it| !named.contains(&it.name()));
    open.filter_map(need).collect()
}
