//! From state to state: which edge, at what cost, and what follows.

use super::Stepping;
use crate::{
    agent::{Abandoned, Agent},
    chart::{Budget, Charge, Disposition, Route, State, StateKind},
    effect::{Cause, Hop},
    id::{BudgetId, Outcome, StateId},
    run::{Item, ItemStatus},
};

/// Whether the run stays where it is, or leaves.
pub(super) enum Flow {
    Wait,
    Leave(LeaveReason),
}

/// Why a run leaves its state.
pub(super) enum LeaveReason {
    /// The state ended in one of its ways.
    By(Outcome),
    /// A budget is used up.
    Beyond(BudgetId),
    /// The calls that the certificate permits are used up.
    Bound,
    /// The agent broke its declaration, and the chart has no way for that.
    Broken,
}

impl<A: Agent> Stepping<'_, A> {
    /// Continues until the run waits. The loop ends because charts have no cycle of decide states,
    /// and every other state waits or is bounded by the loop rule.
    pub(super) fn follow(&mut self, mut flow: Flow) {
        loop {
            if let Flow::Wait = flow {
                // A used-up budget interrupts; nothing is started only to be stopped. If every
                // item is done, the join comes first: it may end the run.
                let interrupts =
                    self.run.core.items.iter().any(|item| item.doing != ItemStatus::Done);
                flow = match self.used_up().filter(|_| interrupts) {
                    Some(budget) => Flow::Leave(LeaveReason::Beyond(budget)),
                    None => self.pump(),
                };
            }
            match flow {
                Flow::Wait => return,
                Flow::Leave(exit) => flow = self.leave(&exit),
            }
        }
    }

    fn leave(&mut self, exit: &LeaveReason) -> Flow {
        match exit {
            LeaveReason::By(outcome) => {
                let Some(edge) = self.state.route(*outcome).map(Route::edge) else {
                    return self.leave(&LeaveReason::Broken);
                };
                // A terminal result counts, even if a budget is used up by now.
                let ends = self.chart.state(edge.to).is_some_and(State::is_final);
                if let Some(budget) = self.used_up().filter(|_| !ends) {
                    return self.beyond(budget, Some(*outcome));
                }
                if self.run.core.items.iter().any(|item| item.doing != ItemStatus::Done) {
                    let reason = "another call ended the state".into();
                    self.abandon_all(&Abandoned::Stuck { reason });
                }
                let cause = Cause::Outcome(*outcome);
                match edge.spend {
                    None => self.enter(edge.to, cause, None),
                    Some(budget) if self.spend(budget) => self.enter(edge.to, cause, Some(budget)),
                    Some(budget) => self.beyond(budget, Some(*outcome)),
                }
            }
            LeaveReason::Beyond(budget) => self.beyond(*budget, None),
            LeaveReason::Bound => {
                self.abandon_all(&Abandoned::Budget);
                self.end(Cause::Bound, Disposition::Budget)
            }
            LeaveReason::Broken => {
                self.abandon_all(&Abandoned::Cancelled);
                self.end(Cause::Broken, Disposition::Failed)
            }
        }
    }

    /// Takes a budget's `else` and closes it; a closed one ends the run.
    fn beyond(&mut self, budget: BudgetId, outcome: Option<Outcome>) -> Flow {
        let cause = Cause::Beyond { budget, outcome };
        self.overdrawn = None;
        let used_up = self.chart.budget(budget);
        if let Some(budget) = used_up {
            A::used_up(&mut self.run.data, self.state, budget);
        }
        self.abandon_all(&Abandoned::Budget);
        let otherwise = used_up.map(Budget::otherwise);
        match (self.close(budget), otherwise) {
            (true, Some(to)) => self.enter_free(to, cause, None),
            _ => self.end(cause, Disposition::Budget),
        }
    }

    /// Enters a state that was paid for by an edge; visits are charged here.
    pub(super) fn enter(&mut self, to: StateId, by: Cause, spent: Option<BudgetId>) -> Flow {
        let ends = self.chart.state(to).is_some_and(State::is_final);
        let charged = if ends { Ok(()) } else { self.charge(Charge::Step, 1) };
        match charged {
            Ok(()) => self.enter_free(to, by, spent),
            Err(budget) => {
                let outcome = if let Cause::Outcome(outcome) = by { Some(outcome) } else { None };
                self.beyond(budget, outcome)
            }
        }
    }

    /// Enters a state: ends, waits, decides, or starts its job.
    pub(super) fn enter_free(&mut self, to: StateId, by: Cause, spent: Option<BudgetId>) -> Flow {
        let Some(state) = self.chart.state(to) else { return Flow::Leave(LeaveReason::Broken) };
        let core = &mut self.run.core;
        self.out.hops.push(Hop { from: core.state, by, to: Some(to), spent });
        core.state = to;
        core.entered = self.at;
        core.visits = core.visits.saturating_add(1);
        core.items.clear();
        self.run.held.clear();
        self.state = state;
        // The end of the last phase is not a fresh start: a halt before it still counts.
        if !state.is_final() {
            self.turn_page();
        }
        let core = &mut self.run.core;
        match state.kind() {
            StateKind::Final(disposition) => {
                // A stuck run never reads as a success.
                let stuck = *disposition == Disposition::Succeeded && core.governor.has_halted();
                core.ended = Some(if stuck { Disposition::Stuck } else { *disposition });
                Flow::Wait
            }
            StateKind::Decide(job) => {
                let visit = self.visit(*job, 0);
                let outcome = A::decide(&mut self.run.data, &visit);
                Flow::Leave(self.own(outcome))
            }
            StateKind::Run(_) => {
                core.items.push(Item::NEW);
                Flow::Wait
            }
            StateKind::FanOut { over, max_items, .. } => {
                let items = A::items(&self.run.data, *over);
                let taken = usize::from(items.min(*max_items));
                core.items.resize(taken, Item::NEW);
                self.refuse_beyond(*max_items, items);
                Flow::Wait
            }
            StateKind::Await { .. }
            | StateKind::BetweenAttemptsOf(_)
            | StateKind::WhileAsking(_) => Flow::Wait,
        }
    }

    /// Returns the exit by an outcome of the job's own; the kernel's are not the agent's to give.
    pub(super) fn own(&self, outcome: Outcome) -> LeaveReason {
        let added = self.state.kernel_outcomes();
        let kernels = [added.failed, added.timeout, added.stuck, added.denied];
        let routes = self.state.routes().len();
        if outcome.index() < routes && !kernels.contains(&Some(outcome)) {
            LeaveReason::By(outcome)
        } else {
            LeaveReason::Broken
        }
    }

    fn end(&mut self, by: Cause, disposition: Disposition) -> Flow {
        let core = &mut self.run.core;
        self.out.hops.push(Hop { from: core.state, by, to: None, spent: None });
        core.ended = Some(disposition);
        core.items.clear();
        self.run.held.clear();
        Flow::Wait
    }
}
