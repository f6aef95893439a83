//! The one wake-up: the earliest of everything that is waited for.

use super::{
    Stepping,
    transition::{Flow, LeaveReason},
};
use crate::{
    agent::{Agent, Fault, FaultClass},
    chart::{Charge, StateKind},
    effect::EffectKind,
    id::At,
    run::ItemStatus,
};

impl<A: Agent> Stepping<'_, A> {
    /// Applies everything that is due.
    pub(super) fn wake(&mut self) -> Flow {
        if let StateKind::Await { timeout, .. } = self.state.kind() {
            let due = timeout.is_some_and(|ms| self.run.core.entered.after(ms) <= self.at);
            let timeout = self.state.kernel_outcomes().timeout.filter(|_| due);
            return timeout.map_or(Flow::Wait, |timeout| Flow::Leave(LeaveReason::By(timeout)));
        }
        // Time that is up interrupts the jobs in flight; `follow` sees to it.
        if self.time_up().is_some() {
            return Flow::Wait;
        }
        let count = u16::try_from(self.run.core.items.len()).unwrap_or(u16::MAX);
        for at in 0..count {
            let doing = self.run.core.items.get(usize::from(at)).map(|item| item.doing);
            let flow = match doing {
                Some(ItemStatus::BackingOff { until }) if until <= self.at => {
                    self.set(at, ItemStatus::Queued);
                    Flow::Wait
                }
                Some(ItemStatus::Working { effect, deadline, .. }) if deadline <= self.at => {
                    self.emit(EffectKind::Stop(effect));
                    self.set(at, ItemStatus::Queued);
                    self.excuse(at);
                    self.fail_attempt(at, timed_out())
                }
                Some(ItemStatus::Asking { expires, .. }) if expires <= self.at => {
                    self.deny(at, "nobody answered in time".into())
                }
                _ => Flow::Wait,
            };
            if let Flow::Leave(_) = flow {
                return flow;
            }
        }
        Flow::Wait
    }

    /// Returns when the run must be woken next.
    pub(super) fn next_wake(&self) -> Option<At> {
        let core = &self.run.core;
        if core.ended.is_some() {
            return None;
        }
        if let StateKind::Await { timeout, .. } = self.state.kind() {
            return timeout.map(|ms| core.entered.after(ms));
        }
        let mut wake: Option<At> = None;
        let mut sooner = |at: At| wake = Some(wake.map_or(at, |known| known.min(at)));
        for item in &core.items {
            match item.doing {
                ItemStatus::Working { deadline, .. } => sooner(deadline),
                ItemStatus::BackingOff { until } => sooner(until),
                ItemStatus::Asking { expires, .. } => sooner(expires),
                ItemStatus::Queued | ItemStatus::Done => {}
            }
        }
        if !self.is_idle() {
            for (budget, balance) in self.chart.budgets().iter().zip(&core.balances) {
                if budget.charge() == Some(Charge::Time) && !balance.closed {
                    sooner(self.at.after(balance.left));
                }
            }
        }
        wake
    }
}

const fn timed_out() -> Fault {
    Fault {
        class: FaultClass::Timeout,
        repeatable: true,
        hint_ms: None,
        message: alloc::string::String::new(),
    }
}
