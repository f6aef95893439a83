//! Resuming after an interruption: work in progress is repeated, asked about or failed, as its
//! tool declares. Nothing is repeated silently, and nothing for free.

use alloc::{string::String, vec::Vec};

use super::{
    Stepping,
    transition::{Flow, LeaveReason},
};
use crate::{
    agent::{Agent, Fault, FaultClass, Order, OrderKind},
    chart::{Budget, Charge, Chart},
    event::UnansweredEffect,
    id::EffectId,
    run::{Core, ItemStatus},
    tool::Recovery,
};

/// The budget that interrupted calls lack to be repeated.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Shortfall {
    /// Of what.
    pub charge: Charge,
    /// How much would have to be granted.
    pub missing: u64,
    /// The budget that is used up; none where it is the certificate.
    pub budget: Option<String>,
    /// How many it permits.
    pub permits: u64,
}

/// Returns what is missing to repeat the calls that were in progress. If a run is resumed anyway,
/// it leaves by the used-up budget.
pub fn shortfall(chart: &Chart, core: &Core, under_way: &[UnansweredEffect]) -> Option<Shortfall> {
    [Charge::ModelCall, Charge::ToolCall].into_iter().find_map(|charge| {
        let repeats = under_way.iter().filter(|unsure| again(core, unsure) == Some(charge));
        let wanted = u64::try_from(repeats.count()).unwrap_or(u64::MAX);
        if wanted == 0 {
            return None;
        }
        let lacking = |left: u64, permits: u64, budget: Option<&Budget>| {
            let missing = wanted.checked_sub(left).filter(|missing| *missing > 0)?;
            let budget = budget.map(|budget| budget.name().into());
            Some(Shortfall { charge, missing, budget, permits })
        };
        let budgets = chart.budgets().iter().zip(&core.balances);
        let mut budgets = budgets.filter(|(budget, _)| budget.charge() == Some(charge));
        let by_budget = budgets.find_map(|(budget, balance)| {
            let left = if balance.closed { 0 } else { balance.left };
            lacking(left, budget.max(), Some(budget))
        });
        // A person's approval also covers the budget.
        let asked = under_way.iter().filter(|unsure| recovery(core, unsure) == Some(Recovery::Ask));
        let asked = u64::try_from(asked.count()).unwrap_or(u64::MAX);
        by_budget.or_else(|| {
            let (bound, calls) = if charge == Charge::ModelCall {
                (chart.certificate().model_calls, core.model_calls)
            } else {
                (chart.certificate().tool_calls, core.tool_calls)
            };
            let permits = bound.saturating_add(calls.granted);
            let asked = if charge == Charge::ToolCall { asked } else { 0 };
            lacking(permits.saturating_sub(calls.made).saturating_add(asked), permits, None)
        })
    })
}

/// Returns the cost of a call that was in progress and is to be repeated or asked about.
fn again(core: &Core, unsure: &UnansweredEffect) -> Option<Charge> {
    let Some(recovery) = recovery(core, unsure) else {
        return (kind(core, unsure.effect)? == OrderKind::Model).then_some(Charge::ModelCall);
    };
    match recovery {
        Recovery::Retry | Recovery::Probe | Recovery::Ask => Some(Charge::ToolCall),
        Recovery::Fail => None,
    }
}

/// Returns the recovery that a tool declares for an interrupted call.
fn recovery(core: &Core, unsure: &UnansweredEffect) -> Option<Recovery> {
    let tool = core.governor.tool(&unsure.call.as_ref()?.tool);
    Some(tool.map_or_else(Recovery::default, |tool| tool.recovery))
}

fn kind(core: &Core, waited: EffectId) -> Option<OrderKind> {
    core.items.iter().find_map(|item| {
        let ItemStatus::Working { effect, kind, .. } = item.doing else { return None };
        (effect == waited).then_some(kind)
    })
}

impl<A: Agent> Stepping<'_, A> {
    /// Decides about all work that was in progress.
    ///
    /// An item that stays `Working` is repeated by the runtime, under the same id.
    pub(super) fn recover(&mut self, under_way: Vec<UnansweredEffect>, counted: bool) -> Flow {
        for unsure in under_way {
            let Some(at) = self.item_of(unsure.effect) else { continue };
            if let leave @ Flow::Leave(_) = self.recover_one(at, unsure, counted) {
                return leave;
            }
        }
        Flow::Wait
    }

    fn recover_one(&mut self, at: u16, unsure: UnansweredEffect, counted: bool) -> Flow {
        let Some(work) = self.work() else { return Flow::Wait };
        let Some(item) = self.run.core.items.get_mut(usize::from(at)) else { return Flow::Wait };
        let ItemStatus::Working { effect, kind, .. } = item.doing else { return Flow::Wait };
        // The attempt's clock restarts: the work is repeated from the beginning.
        item.left = work.attempts.timeout;
        item.doing = ItemStatus::Working { effect, kind, deadline: self.at.after(item.left) };
        let Some(call) = unsure.call else {
            let again = if kind == OrderKind::Model { Some(Charge::ModelCall) } else { None };
            return again.map_or(Flow::Wait, |charge| self.pay_again(charge, counted));
        };
        let tool = self.run.core.governor.tool(&call.tool);
        match tool.map_or_else(Recovery::default, |tool| tool.recovery) {
            Recovery::Retry | Recovery::Probe => self.pay_again(Charge::ToolCall, counted),
            Recovery::Ask => {
                // A person's yes permits this one call beyond the certificate. A budget is
                // charged when the call is made.
                if counted && let Some(calls) = self.calls(Charge::ToolCall) {
                    calls.granted = calls.granted.saturating_add(1);
                }
                self.ask(at, Order::Tool(call), true)
            }
            Recovery::Fail => self.fail_attempt(at, unsettled()),
        }
    }

    /// Pays for a call that is made a second time; both count.
    fn pay_again(&mut self, charge: Charge, counted: bool) -> Flow {
        if let Err(budget) = self.charge(charge, 1) {
            return Flow::Leave(LeaveReason::Beyond(budget));
        }
        self.note_repetition(charge, counted);
        let certificate = self.chart.certificate();
        let models = charge == Charge::ModelCall;
        let bound = if models { certificate.model_calls } else { certificate.tool_calls };
        let Some(calls) = self.calls(charge).filter(|_| counted) else { return Flow::Wait };
        if calls.left(bound) == 0 {
            return Flow::Leave(LeaveReason::Bound);
        }
        calls.add(1);
        Flow::Wait
    }

    fn note_repetition(&mut self, charge: Charge, counted: bool) {
        if let Some(calls) = self.calls(charge).filter(|_| counted) {
            calls.repeated = calls.repeated.saturating_add(1);
        }
    }
}

fn unsettled() -> Fault {
    Fault {
        class: FaultClass::Other,
        repeatable: false,
        hint_ms: None,
        message: "it was under way when the program stopped, and nobody knows whether it was done"
            .into(),
    }
}
