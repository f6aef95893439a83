//! Budgets at work: spending, charging, closing, refilling. N permits exactly N.

use super::Stepping;
use crate::{
    agent::{Agent, OrderKind},
    chart::{Budget, CertificateScope, Charge, Reset},
    event::Usage,
    id::BudgetId,
    run::{BudgetBalance, Calls, ItemStatus},
};

impl<A: Agent> Stepping<'_, A> {
    fn balance(&mut self, id: BudgetId) -> Option<&mut BudgetBalance> {
        self.run.core.balances.get_mut(id.index())
    }

    /// Takes one from a budget that an edge spends, and refills those below it.
    pub(super) fn spend(&mut self, id: BudgetId) -> bool {
        let Some(balance) = self.balance(id) else { return false };
        let Some(left) = balance.left.checked_sub(1).filter(|_| !balance.closed) else {
            return false;
        };
        balance.left = left;
        self.refill_below(id);
        true
    }

    /// Closes a budget; false if it was closed already, which ends the run.
    pub(super) fn close(&mut self, id: BudgetId) -> bool {
        self.balance(id).is_some_and(|balance| !core::mem::replace(&mut balance.closed, true))
    }

    fn refill_below(&mut self, id: BudgetId) {
        let refills = self.chart.budget(id).into_iter().flat_map(|budget| &budget.refills);
        for below in refills {
            self.refill(*below);
        }
    }

    fn refill(&mut self, id: BudgetId) {
        let max = self.chart.budget(id).map_or(0, Budget::max);
        if let Some(balance) = self.balance(id) {
            *balance = BudgetBalance { left: max, closed: false };
        }
        self.refill_below(id);
    }

    /// Refills what names `await`: an event was received.
    pub(super) fn refill_on_event(&mut self) {
        for (id, budget) in self.chart.budget_ids().zip(self.chart.budgets()) {
            if budget.reset() == Some(Reset::Await) {
                self.refill(id);
            }
        }
    }

    /// Charges every budget of that kind, or returns the first that cannot bear it.
    pub(super) fn charge(&mut self, charge: Charge, amount: u64) -> Result<(), BudgetId> {
        self.bears(charge, amount)?;
        for (budget, balance) in self.chart.budgets().iter().zip(&mut self.run.core.balances) {
            if budget.charge() == Some(charge) {
                balance.left = balance.left.saturating_sub(amount);
            }
        }
        Ok(())
    }

    /// Returns the first budget of that kind that cannot bear so much.
    pub(super) fn bears(&self, charge: Charge, amount: u64) -> Result<(), BudgetId> {
        let budgets =
            self.chart.budget_ids().zip(self.chart.budgets()).zip(&self.run.core.balances);
        for ((id, budget), balance) in budgets {
            if budget.charge() == Some(charge) && (balance.closed || balance.left < amount) {
                return Err(id);
            }
        }
        Ok(())
    }

    /// Raises a charged limit, as a person has granted. A closed budget opens.
    pub(super) fn grant_more(&mut self, charge: Charge, amount: u64) {
        for (budget, balance) in self.chart.budgets().iter().zip(&mut self.run.core.balances) {
            if budget.charge() == Some(charge) {
                *balance =
                    BudgetBalance { left: balance.left.saturating_add(amount), closed: false };
            }
        }
        if let Some(calls) = self.calls(charge) {
            calls.granted = calls.granted.saturating_add(amount);
        }
    }

    /// Returns the calls that the certificate bounds, where it bounds them.
    pub(super) const fn calls(&mut self, charge: Charge) -> Option<&mut Calls> {
        match charge {
            Charge::ModelCall => Some(&mut self.run.core.model_calls),
            Charge::ToolCall => Some(&mut self.run.core.tool_calls),
            Charge::Step
            | Charge::Token
            | Charge::Interaction
            | Charge::Action
            | Charge::OutsideApp
            | Charge::Time
            | Charge::Money => None,
        }
    }

    /// Makes a fork: a separate run that shares another's past. Work in progress was charged and
    /// started there, so here it starts for the first time.
    pub(super) fn fork(&mut self) {
        let core = &mut self.run.core;
        core.governor.fork();
        core.model_calls = Calls::default();
        core.tool_calls = Calls::default();
        for item in &core.items {
            let ItemStatus::Working { kind, .. } = item.doing else { continue };
            let paid = match kind {
                OrderKind::Model => Charge::ModelCall,
                OrderKind::Tool => Charge::ToolCall,
                OrderKind::Child | OrderKind::Own => continue,
            };
            for (budget, balance) in self.chart.budgets().iter().zip(&mut core.balances) {
                if budget.charge() == Some(paid) {
                    balance.left = balance.left.saturating_add(1);
                }
            }
        }
    }

    /// Begins a new turn, where the certificate holds for turns.
    pub(super) fn begin_turn(&mut self) {
        if self.chart.certificate().per == CertificateScope::Turn {
            self.run.core.model_calls = Calls::default();
            self.run.core.tool_calls = Calls::default();
        }
    }

    /// Charges the usage that is known only with the answer. Tokens and money may overdraw: then
    /// the next call does not start.
    pub(super) fn charge_usage(&mut self, usage: Usage) {
        for (charge, amount) in [
            (Charge::Token, usage.tokens),
            (Charge::Money, usage.money),
            (Charge::ModelCall, usage.model_calls),
            (Charge::ToolCall, usage.tool_calls),
        ] {
            for (budget, balance) in self.chart.budgets().iter().zip(&mut self.run.core.balances) {
                if budget.charge() == Some(charge) {
                    balance.left = balance.left.saturating_sub(amount);
                }
            }
        }
        self.run.core.model_calls.add(usage.model_calls);
        self.run.core.tool_calls.add(usage.tool_calls);
        if usage.outside_app > 0 {
            self.overdrawn = self.charge(Charge::OutsideApp, usage.outside_app).err();
        }
    }

    /// Returns whether no time is charged: nothing runs, or a person is waited for.
    pub(super) fn is_idle(&self) -> bool {
        let core = &self.run.core;
        let asking = |doing: &ItemStatus| match doing {
            ItemStatus::Asking { .. } => true,
            ItemStatus::Working { .. } => self.work().is_some_and(|work| work.person),
            ItemStatus::Queued | ItemStatus::BackingOff { .. } | ItemStatus::Done => false,
        };
        core.paused || core.items.is_empty() || core.items.iter().any(|it| asking(&it.doing))
    }

    /// Lets the time since the last event pass, unless a person is waited for.
    pub(super) fn elapse(&mut self) {
        if self.is_idle() {
            return;
        }
        let core = &mut self.run.core;
        let passed = self.at.since(core.now);
        for (budget, balance) in self.chart.budgets().iter().zip(&mut core.balances) {
            if budget.charge() == Some(Charge::Time) && !balance.closed {
                balance.left = balance.left.saturating_sub(passed);
            }
        }
    }

    /// Returns the budget that the event being applied has used up, if it has.
    pub(super) fn used_up(&self) -> Option<BudgetId> {
        let used_up = self.overdrawn.or_else(|| self.time_up());
        used_up.filter(|_| self.run.core.ended.is_none())
    }

    /// Returns the first time budget that has just run out.
    pub(super) fn time_up(&self) -> Option<BudgetId> {
        let budgets =
            self.chart.budget_ids().zip(self.chart.budgets()).zip(&self.run.core.balances);
        budgets
            .filter(|((_, budget), balance)| {
                budget.charge() == Some(Charge::Time) && balance.left == 0 && !balance.closed
            })
            .map(|((id, _), _)| id)
            .next()
    }
}
