//! The worst walk, bounded by composing loops from the innermost out.
//!
//! A budget is refilled only by spending the one it names, so budgets form levels: those that
//! nothing refills, those that these refill, and so on. While no outer budget is spent, a level's
//! budgets can be spent a limited number of times in total; the longest walk within that is a
//! power of a matrix over (max, +). The result is the "forward walk" of the next level out. With
//! one budget per level, as in every chain of resets, this is exact; otherwise a level shares its
//! total.

use alloc::{vec, vec::Vec};

use super::{
    CertificateScope, Reset,
    certificate::{Cost, CostGraph, is_timeout},
};
use crate::id::{BudgetId, StateId};

/// The longest walks between any two states: the cost of every visit after the first.
#[derive(Clone)]
struct Walks {
    size: usize,
    cells: Vec<Option<Cost>>,
}

pub(super) fn bound(ground: &CostGraph<'_>, starts: &[StateId]) -> Cost {
    let size = ground.chart.states.len();
    let mut walks = forward(ground);
    let deepest = ground.chart.budget_ids().map(|id| depth(ground, id)).max();
    for level in (0..=deepest.unwrap_or(0)).rev() {
        let budgets: Vec<BudgetId> =
            ground.chart.budget_ids().filter(|id| depth(ground, *id) == level).collect();
        walks = compose(ground, &walks, &budgets);
    }
    if ground.per == CertificateScope::Run {
        // Events refill the budgets that name `await`; each await is left once.
        let mut events = Walks::none(size);
        let mut awaits: u64 = 0;
        for (from, state) in ground.chart.state_ids().zip(&ground.chart.states) {
            awaits = awaits.saturating_add(u64::from(state.is_await()));
            for (at, route) in state.routes.iter().enumerate() {
                if state.is_await() && !is_timeout(state, at) {
                    events.edge(ground, from, route.edge.to);
                    let spend = route.edge.spend.and_then(|id| ground.chart.budget(id));
                    if let Some(budget) = spend {
                        events.edge(ground, from, budget.otherwise);
                    }
                }
            }
        }
        walks = walks.times(&events).or_stay().power(awaits).times(&walks);
    }
    let mut worst = Cost::default();
    for start in starts {
        let visit = ground.visit.get(start.index()).copied().unwrap_or_default();
        let rest = walks.row(start.index()).iter().flatten();
        worst = worst.max(visit.then(rest.fold(Cost::default(), |most, cost| most.max(*cost))));
    }
    worst
}

/// Returns how many budgets refill this one, one through another.
fn depth(ground: &CostGraph<'_>, id: BudgetId) -> usize {
    match ground.chart.budget(id).and_then(|budget| budget.reset) {
        Some(Reset::Spending(by)) => depth(ground, by).saturating_add(1),
        Some(Reset::Await) | None => 0,
    }
}

/// Returns the walks that spend nothing; the loop rule makes them a graph without cycles.
fn forward(ground: &CostGraph<'_>) -> Walks {
    let size = ground.chart.states.len();
    let mut edges = Walks::none(size);
    for (from, state) in ground.chart.state_ids().zip(&ground.chart.states) {
        for (at, route) in state.routes.iter().enumerate() {
            let event = state.is_await() && !is_timeout(state, at);
            if route.edge.spend.is_none() && !event {
                edges.edge(ground, from, route.edge.to);
            }
        }
    }
    // Each edge leads forward or into an await that only an event leaves, so no
    // walk is longer than there are states.
    edges.or_stay().power(size as u64)
}

/// Returns the walks that also spend these budgets.
fn compose(ground: &CostGraph<'_>, within: &Walks, budgets: &[BudgetId]) -> Walks {
    let size = ground.chart.states.len();
    let mut spend = Walks::none(size);
    // Closings that lead to an end, and those after which the walk continues.
    let (mut ends, mut goes_on) = (Walks::none(size), Walks::none(size));
    let (mut permits, mut closings): (u64, u64) = (0, 0);
    for id in budgets.iter().filter(|id| ground.closed != Some(**id)) {
        let Some(budget) = ground.chart.budget(*id) else { continue };
        permits = permits.saturating_add(ground.max(*id));
        let last = ground.is_last(budget.otherwise);
        closings = closings.saturating_add(u64::from(!last));
        let beyond = if last { &mut ends } else { &mut goes_on };
        for (from, state) in ground.chart.state_ids().zip(&ground.chart.states) {
            for (at, route) in state.routes.iter().enumerate() {
                if route.edge.spend == Some(*id) && !ground.ends_turn(state, at) {
                    spend.edge(ground, from, route.edge.to);
                    beyond.edge(ground, from, budget.otherwise);
                }
            }
            if budget.charge.is_some_and(|charge| ground.runs_out(state, charge)) {
                beyond.edge(ground, from, budget.otherwise);
            }
        }
    }
    let spends = within.times(&spend).or_stay();
    let inside = if closings > 0 && budgets.len() > 1 {
        // Which budget closes when is not known, so closings mix with spendings.
        let either = spends.or(&within.times(&goes_on));
        either.power(permits.saturating_add(closings)).times(within)
    } else {
        let inside = spends.power(permits).times(within);
        // A budget alone on its level closes once, after all its spendings.
        inside.or(&inside.times(&goes_on).times(within))
    };
    inside.times(&ends.or_stay())
}

impl Walks {
    fn none(size: usize) -> Self {
        Self { size, cells: vec![None; size.saturating_mul(size)] }
    }

    fn row(&self, from: usize) -> &[Option<Cost>] {
        let start = from.saturating_mul(self.size);
        self.cells.get(start..start.saturating_add(self.size)).unwrap_or_default()
    }

    fn row_mut(&mut self, from: usize) -> &mut [Option<Cost>] {
        let start = from.saturating_mul(self.size);
        self.cells.get_mut(start..start.saturating_add(self.size)).unwrap_or_default()
    }

    fn edge(&mut self, ground: &CostGraph<'_>, from: StateId, to: StateId) {
        let cost = ground.visit.get(to.index()).copied().unwrap_or_default();
        if let Some(cell) = self.row_mut(from.index()).get_mut(to.index()) {
            *cell = Some(cell.map_or(cost, |known| known.max(cost)));
        }
    }

    /// Adds the walk that goes nowhere.
    fn or_stay(mut self) -> Self {
        for at in 0..self.size {
            if let Some(cell) = self.row_mut(at).get_mut(at) {
                cell.get_or_insert_default();
            }
        }
        self
    }

    fn or(&self, other: &Self) -> Self {
        let cells = self.cells.iter().zip(&other.cells).map(|cells| match cells {
            (Some(left), Some(right)) => Some(left.max(*right)),
            (one, other) => one.or(*other),
        });
        Self { size: self.size, cells: cells.collect() }
    }

    fn times(&self, after: &Self) -> Self {
        let mut product = Self::none(self.size);
        for from in 0..self.size {
            for (via, first) in self.row(from).iter().enumerate() {
                let Some(first) = first else { continue };
                for (cell, second) in product.row_mut(from).iter_mut().zip(after.row(via)) {
                    let Some(second) = second else { continue };
                    let cost = first.then(*second);
                    *cell = Some(cell.map_or(cost, |known| known.max(cost)));
                }
            }
        }
        product
    }

    fn power(self, mut exponent: u64) -> Self {
        let mut result = Self::none(self.size).or_stay();
        let mut base = self;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(&base);
            }
            exponent >>= 1;
            if exponent > 0 {
                base = base.times(&base);
            }
        }
        result
    }
}
