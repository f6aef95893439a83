//! Budgets at work: spending, charging, closing, refilling. N permits exactly N.

use super::Stepping;
use crate::{
    agent::{Agent, OrderKind},
    chart::{Budget, Charge, Per, Reset},
    event::Usage,
    id::BudgetId,
    run::{Calls, Doing, Purse},
};

impl<A: Agent> Stepping<'_, A> {
    fn purse(&mut self, id: BudgetId) -> Option<&mut Purse> {
        self.run.core.purses.get_mut(id.index())
    }

    /// Takes one from a budget that an edge spends, and refills those below it.
    pub(super) fn spend(&mut self, id: BudgetId) -> bool {
        let Some(purse) = self.purse(id) else { return false };
        let Some(left) = purse.left.checked_sub(1).filter(|_| !purse.closed) else { return false };
        purse.left = left;
        self.refill_below(id);
        true
    }

    /// Closes a budget; false if it was closed already, which ends the run.
    pub(super) fn close(&mut self, id: BudgetId) -> bool {
        self.purse(id).is_some_and(|purse| !core::mem::replace(&mut purse.closed, true))
    }

    fn refill_below(&mut self, id: BudgetId) {
        let refills = self.chart.budget(id).into_iter().flat_map(|budget| &budget.refills);
        for below in refills {
            self.refill(*below);
        }
    }

    fn refill(&mut self, id: BudgetId) {
        let max = self.chart.budget(id).map_or(0, Budget::max);
        if let Some(purse) = self.purse(id) {
            *purse = Purse { left: max, closed: false };
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
        for (budget, purse) in self.chart.budgets().iter().zip(&mut self.run.core.purses) {
            if budget.charge() == Some(charge) {
                purse.left = purse.left.saturating_sub(amount);
            }
        }
        Ok(())
    }

    /// Returns the first budget of that kind that cannot bear so much.
    pub(super) fn bears(&self, charge: Charge, amount: u64) -> Result<(), BudgetId> {
        let budgets = self.chart.budget_ids().zip(self.chart.budgets()).zip(&self.run.core.purses);
        for ((id, budget), purse) in budgets {
            if budget.charge() == Some(charge) && (purse.closed || purse.left < amount) {
                return Err(id);
            }
        }
        Ok(())
    }

    /// Permits more of what is charged, as a person has said. A budget that is closed opens.
    pub(super) fn grant_more(&mut self, charge: Charge, amount: u64) {
        for (budget, purse) in self.chart.budgets().iter().zip(&mut self.run.core.purses) {
            if budget.charge() == Some(charge) {
                *purse = Purse { left: purse.left.saturating_add(amount), closed: false };
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

    /// Begins a run of its own that shares another's past. What is under way was paid for and
    /// made there, so that here it is made for the first time.
    pub(super) fn part_ways(&mut self) {
        let core = &mut self.run.core;
        core.governor.part_ways();
        core.model_calls = Calls::default();
        core.tool_calls = Calls::default();
        for item in &core.items {
            let Doing::Working { kind, .. } = item.doing else { continue };
            let paid = match kind {
                OrderKind::Model => Charge::ModelCall,
                OrderKind::Tool => Charge::ToolCall,
                OrderKind::Child | OrderKind::Own => continue,
            };
            for (budget, purse) in self.chart.budgets().iter().zip(&mut core.purses) {
                if budget.charge() == Some(paid) {
                    purse.left = purse.left.saturating_add(1);
                }
            }
        }
    }

    /// Begins a new turn, where the certificate holds for turns.
    pub(super) fn begin_turn(&mut self) {
        if self.chart.certificate().per == Per::Turn {
            self.run.core.model_calls = Calls::default();
            self.run.core.tool_calls = Calls::default();
        }
    }

    /// Charges what is known only with the answer. Tokens and money may overdraw:
    /// the next call then does not start.
    pub(super) fn charge_usage(&mut self, usage: Usage) {
        for (charge, amount) in [
            (Charge::Token, usage.tokens),
            (Charge::Money, usage.money),
            (Charge::ModelCall, usage.model_calls),
            (Charge::ToolCall, usage.tool_calls),
        ] {
            for (budget, purse) in self.chart.budgets().iter().zip(&mut self.run.core.purses) {
                if budget.charge() == Some(charge) {
                    purse.left = purse.left.saturating_sub(amount);
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
        let asking = |doing: &Doing| match doing {
            Doing::Asking { .. } => true,
            Doing::Working { .. } => self.work().is_some_and(|work| work.person),
            Doing::Queued | Doing::BackingOff { .. } | Doing::Done => false,
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
        for (budget, purse) in self.chart.budgets().iter().zip(&mut core.purses) {
            if budget.charge() == Some(Charge::Time) && !purse.closed {
                purse.left = purse.left.saturating_sub(passed);
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
        let budgets = self.chart.budget_ids().zip(self.chart.budgets()).zip(&self.run.core.purses);
        budgets
            .filter(|((_, budget), purse)| {
                budget.charge() == Some(Charge::Time) && purse.left == 0 && !purse.closed
            })
            .map(|((id, _), _)| id)
            .next()
    }
}
