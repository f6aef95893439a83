//! The worst walk, searched exactly: states times balances.
//!
//! The balance of a budget is one number: 0 is closed, 1 is used up, n is n − 1 left. Together
//! they number the positions of the search, lowest budget first.

use alloc::{vec, vec::Vec};

use super::{
    Reset,
    certificate::{Cost, CostGraph, is_timeout},
};
use crate::id::{BudgetId, StateId};

/// The balance of each budget, in file order.
type Balances = Vec<u64>;

impl CostGraph<'_> {
    /// Returns the cost of the worst walk from any of these states.
    pub(super) fn exact(&self, starts: &[StateId]) -> Cost {
        let full: Balances = self.chart.budget_ids().map(|id| self.full(id)).collect();
        let space = full.iter().fold(self.chart.states.len(), |space, full| {
            space.saturating_mul(usize::try_from(full.saturating_add(1)).unwrap_or(usize::MAX))
        });
        let left = |id| if self.closed == Some(id) { 0 } else { self.full(id) };
        let full: Balances = self.chart.budget_ids().map(left).collect();
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

    /// Walks depth first with an explicit stack; the loop rule keeps it finite.
    fn walk(&self, start: (StateId, Balances), known: &mut [Option<Cost>]) -> Cost {
        let mut stack = vec![start];
        while let Some((state, balance)) = stack.last() {
            let place = self.place(*state, balance);
            if let Some(cost) = known.get(place).copied().flatten() {
                stack.pop();
                if stack.is_empty() {
                    return cost;
                }
                continue;
            }
            let visited = self.visit.get(state.index()).copied().unwrap_or_default();
            let next = self.next(*state, balance);
            let before = stack.len();
            let mut rest = Cost::default();
            for (state, balance) in next {
                match known.get(self.place(state, &balance)).copied().flatten() {
                    Some(cost) => rest = rest.max(cost),
                    None => stack.push((state, balance)),
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

    fn place(&self, state: StateId, balance: &Balances) -> usize {
        let mut place = 0_usize;
        for (left, id) in balance.iter().zip(self.chart.budget_ids()) {
            let radix = usize::try_from(self.full(id).saturating_add(1)).unwrap_or(usize::MAX);
            let left = usize::try_from(*left).unwrap_or(usize::MAX);
            place = place.saturating_mul(radix).saturating_add(left);
        }
        place.saturating_mul(self.chart.states.len()).saturating_add(state.index())
    }

    /// Returns every place that one step can lead to.
    fn next(&self, at: StateId, balance: &Balances) -> Vec<(StateId, Balances)> {
        let Some(state) = self.chart.state(at) else { return Vec::new() };
        let mut next = Vec::new();
        for (way_at, route) in state.routes.iter().enumerate() {
            if self.ends_turn(state, way_at) {
                continue;
            }
            let mut balance = balance.clone();
            if state.is_await() && !is_timeout(state, way_at) {
                self.refill_on_event(&mut balance);
            }
            let Some(id) = route.edge.spend else {
                next.push((route.edge.to, balance));
                continue;
            };
            if self.is_unsure(id) {
                next.extend(self.close(id, balance.clone()));
            }
            next.extend(self.spend(id, route.edge.to, balance));
        }
        for (id, budget) in self.chart.budget_ids().zip(&self.chart.budgets) {
            if budget.charge.is_some_and(|charge| self.runs_out(state, charge)) {
                next.extend(self.spend(id, budget.otherwise, balance.clone()));
            }
        }
        next
    }

    fn spend(
        &self,
        id: BudgetId,
        to: StateId,
        mut balance: Balances,
    ) -> Option<(StateId, Balances)> {
        let left = balance.get_mut(id.index())?;
        if *left <= 1 {
            return self.close(id, balance);
        }
        *left = left.saturating_sub(1);
        self.refill_below(id, &mut balance);
        Some((to, balance))
    }

    /// Continues by `else`; spending a closed budget ends the run where it is.
    fn close(&self, id: BudgetId, mut balance: Balances) -> Option<(StateId, Balances)> {
        let left = balance.get_mut(id.index()).filter(|left| **left > 0)?;
        *left = 0;
        Some((self.chart.budget(id)?.otherwise, balance))
    }

    fn refill_below(&self, id: BudgetId, balance: &mut Balances) {
        for below in self.chart.budget(id).into_iter().flat_map(|budget| &budget.refills) {
            self.refill(*below, balance);
        }
    }

    fn refill(&self, id: BudgetId, balance: &mut Balances) {
        if let Some(left) = balance.get_mut(id.index()) {
            *left = self.full(id);
        }
        self.refill_below(id, balance);
    }

    fn refill_on_event(&self, balance: &mut Balances) {
        for (id, budget) in self.chart.budget_ids().zip(&self.chart.budgets) {
            if budget.reset == Some(Reset::Await) {
                self.refill(id, balance);
            }
        }
    }
}
