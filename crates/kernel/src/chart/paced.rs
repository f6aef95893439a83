//! The worst walk with a limited number of visits: the other costs under a budget of steps.

use alloc::{vec, vec::Vec};

use super::{
    certificate::{Cost, CostGraph},
    reach,
};
use crate::id::StateId;

/// Visits beyond which the walk is not followed one by one.
const FOLLOWED: u64 = 20_000;

impl CostGraph<'_> {
    /// Returns a bound on the cost of any walk with at most this many visits.
    pub(super) fn paced(&self, starts: &[StateId], visits: u64) -> Cost {
        if visits > FOLLOWED {
            let dearest = self.visit.iter().fold(Cost::default(), |most, cost| most.max(*cost));
            return Cost(dearest.0.map(|each| each.saturating_mul(visits)));
        }
        // Budgets of edges are left aside: they only shorten walks.
        let next: Vec<Vec<StateId>> = self.chart.state_ids().map(|id| self.follows(id)).collect();
        let mut worst = vec![Cost::default(); next.len()];
        for _ in 0..visits {
            let longer = next.iter().zip(&self.visit).map(|(next, visit)| {
                let rest = next.iter().filter_map(|to| worst.get(to.index()));
                visit.then(rest.fold(Cost::default(), |most, cost| most.max(*cost)))
            });
            worst = longer.collect();
        }
        let from = starts.iter().filter_map(|start| worst.get(start.index()));
        from.fold(Cost::default(), |most, cost| most.max(*cost))
    }

    /// Returns the states that can follow in a walk.
    fn follows(&self, id: StateId) -> Vec<StateId> {
        if self.is_last(id) { Vec::new() } else { reach::next(self.chart, id).collect() }
    }
}
