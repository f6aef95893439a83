//! The worst walk, searched exactly: states times what is left of each budget.
//!
//! What is left of a budget is one number: 0 is closed, 1 is used up, n is n − 1
//! left. Together they number the places of the search, lowest budget first.

use alloc::{vec, vec::Vec};

use super::{
    Reset,
    certificate::{Cost, Ground, is_timeout},
};
use crate::id::{BudgetId, StateId};

/// What is left of each budget, in file order.
type Purse = Vec<u64>;

impl Ground<'_> {
    /// Returns the cost of the worst walk from any of these states.
    pub(super) fn exact(&self, starts: &[StateId]) -> Cost {
        let full: Purse = self.chart.budget_ids().map(|id| self.full(id)).collect();
        let space = full.iter().fold(self.chart.states.len(), |space, full| {
            space.saturating_mul(usize::try_from(full.saturating_add(1)).unwrap_or(usize::MAX))
        });
        let left = |id| if self.closed == Some(id) { 0 } else { self.full(id) };
        let full: Purse = self.chart.budget_ids().map(left).collect();
        let mut known: Vec<Option<Cost>> = vec![None; space];
        let mut worst = Cost::default();
        for start in starts {
            worst = worst.max(self.walk((*start, full.clone()), &mut known));
        }
        worst
    }

    fn full(&self, id: BudgetId) -> u64 {
        self.max(id).saturating_add(1)
    }

    /// Walks depth first with a stack of its own; the loop rule keeps it finite.
    fn walk(&self, start: (StateId, Purse), known: &mut [Option<Cost>]) -> Cost {
        let mut stack = vec![start];
        while let Some((state, purse)) = stack.last() {
            let place = self.place(*state, purse);
            if let Some(cost) = known.get(place).copied().flatten() {
                stack.pop();
                if stack.is_empty() {
                    return cost;
                }
                continue;
            }
            let visited = self.visit.get(state.index()).copied().unwrap_or_default();
            let next = self.next(*state, purse);
            let before = stack.len();
            let mut rest = Cost::default();
            for (state, purse) in next {
                match known.get(self.place(state, &purse)).copied().flatten() {
                    Some(cost) => rest = rest.max(cost),
                    None => stack.push((state, purse)),
                }
            }
            if stack.len() > before {
                continue;
            }
            let cost = visited.then(rest);
            if let Some(slot) = known.get_mut(place) {
                *slot = Some(cost);
            }
            stack.pop();
            if stack.is_empty() {
                return cost;
            }
        }
        Cost::default()
    }

    fn place(&self, state: StateId, purse: &Purse) -> usize {
        let mut place = 0_usize;
        for (left, id) in purse.iter().zip(self.chart.budget_ids()) {
            let radix = usize::try_from(self.full(id).saturating_add(1)).unwrap_or(usize::MAX);
            let left = usize::try_from(*left).unwrap_or(usize::MAX);
            place = place.saturating_mul(radix).saturating_add(left);
        }
        place.saturating_mul(self.chart.states.len()).saturating_add(state.index())
    }

    /// Returns every place that one step can lead to.
    fn next(&self, at: StateId, purse: &Purse) -> Vec<(StateId, Purse)> {
        let Some(state) = self.chart.state(at) else { return Vec::new() };
        let mut next = Vec::new();
        for (way_at, way) in state.ways.iter().enumerate() {
            if self.ends_turn(state, way_at) {
                continue;
            }
            let mut purse = purse.clone();
            if state.is_await() && !is_timeout(state, way_at) {
                self.received(&mut purse);
            }
            let Some(id) = way.edge.spend else {
                next.push((way.edge.to, purse));
                continue;
            };
            if self.is_unsure(id) {
                next.extend(self.close(id, purse.clone()));
            }
            next.extend(self.spend(id, way.edge.to, purse));
        }
        for (id, budget) in self.chart.budget_ids().zip(&self.chart.budgets) {
            if budget.charge.is_some_and(|charge| self.runs_out(state, charge)) {
                next.extend(self.spend(id, budget.otherwise, purse.clone()));
            }
        }
        next
    }

    fn spend(&self, id: BudgetId, to: StateId, mut purse: Purse) -> Option<(StateId, Purse)> {
        let left = purse.get_mut(id.index())?;
        if *left <= 1 {
            return self.close(id, purse);
        }
        *left = left.saturating_sub(1);
        self.refill_below(id, &mut purse);
        Some((to, purse))
    }

    /// Goes on by `else`; spending a closed budget ends the run where it is.
    fn close(&self, id: BudgetId, mut purse: Purse) -> Option<(StateId, Purse)> {
        let left = purse.get_mut(id.index()).filter(|left| **left > 0)?;
        *left = 0;
        Some((self.chart.budget(id)?.otherwise, purse))
    }

    fn refill_below(&self, id: BudgetId, purse: &mut Purse) {
        for below in self.chart.budget(id).into_iter().flat_map(|budget| &budget.refills) {
            self.refill(*below, purse);
        }
    }

    fn refill(&self, id: BudgetId, purse: &mut Purse) {
        if let Some(left) = purse.get_mut(id.index()) {
            *left = self.full(id);
        }
        self.refill_below(id, purse);
    }

    fn received(&self, purse: &mut Purse) {
        for (id, budget) in self.chart.budget_ids().zip(&self.chart.budgets) {
            if budget.reset == Some(Reset::Await) {
                self.refill(id, purse);
            }
        }
    }
}
