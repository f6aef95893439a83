//! The governor's view of a step, and the consequences of its verdicts.

use super::{
    Stepping,
    transition::{Flow, LeaveReason},
};
use crate::{
    agent::{Agent, Answer, FaultClass, Settlement},
    chart::State,
    governor::{Level, Verdict},
    job::Governance,
};

impl<A: Agent> Stepping<'_, A> {
    /// Shows the governor an answer and returns how strictly it rules.
    pub(super) fn governed(&mut self, at: u16, answer: &Answer<A::Report>, turn: bool) -> Level {
        let call = self.run.core.items.get(usize::from(at)).and_then(|item| item.call);
        let stuck = self.chart.stuck();
        let governor = &mut self.run.core.governor;
        let verdict = match answer {
            Answer::Tool(result) => {
                call.and_then(|key| governor.observe(stuck, &key, result, self.seq))
            }
            Answer::Model(reply) if turn => governor.observe_reply(stuck, reply, self.seq),
            Answer::Fault(_) => {
                self.excuse(at);
                None
            }
            Answer::Model(_) | Answer::Child(_) | Answer::Own(_) => None,
        };
        self.ruled(verdict)
    }

    /// Tells the governor that the infrastructure failed, which is not a loop.
    pub(super) fn excuse(&mut self, at: u16) {
        let call = self.run.core.items.get(usize::from(at)).and_then(|item| item.call);
        self.run.core.governor.excuse(call.as_ref());
    }

    /// Shows the governor whether a model's turn could be read.
    pub(super) fn governed_turn(
        &mut self,
        from_model: bool,
        settled: &Settlement<A::Task>,
    ) -> Level {
        if !from_model {
            return Level::Allow;
        }
        let unread =
            matches!(settled, Settlement::Failed(fault) if fault.class == FaultClass::Invalid);
        let verdict = self.run.core.governor.read(self.chart.stuck(), !unread, self.seq);
        self.ruled(verdict)
    }

    /// Shows the governor that a governed job starts an attempt.
    pub(super) fn governed_start(&mut self, at: u16, governed: Governance) -> Level {
        // A fan-out is one step, however many items it has.
        if matches!(governed, Governance::No | Governance::Own) || at > 0 {
            return Level::Allow;
        }
        let state = self.run.core.state;
        let verdict = self.run.core.governor.enter(self.chart.stuck(), state, self.seq);
        self.ruled(verdict)
    }

    /// Records a verdict, passes it to the agent, and returns its level.
    pub(super) fn ruled(&mut self, verdict: Option<Verdict>) -> Level {
        let Some(mut verdict) = verdict else { return Level::Allow };
        // Without a route in the chart, being stuck is only reported.
        if self.state.kernel_outcomes().stuck.is_none()
            && (verdict.level == Level::Halt
                || (verdict.level == Level::Refuse && !verdict.rule.is_permission()))
        {
            verdict.level = Level::Warn;
        }
        let level = verdict.level;
        if level == Level::Halt {
            self.run.core.governor.note_halt();
        }
        A::advise(&mut self.run.data, &verdict);
        self.out.verdicts.push(verdict);
        level
    }

    /// Leaves by `stuck`, unless the answer has brought the run to its end.
    pub(super) fn halted(&mut self, flow: Flow) -> Flow {
        if let Flow::Leave(LeaveReason::By(outcome)) = &flow
            && let Some(route) = self.state.route(*outcome)
            && self.chart.state(route.edge().to).is_some_and(State::is_final)
        {
            return flow;
        }
        self.state.kernel_outcomes().stuck.map_or(flow, |stuck| Flow::Leave(LeaveReason::By(stuck)))
    }

    /// Lets a new phase start afresh.
    pub(super) fn turn_page(&mut self) {
        let phase = A::phase(&self.run.data);
        if core::mem::replace(&mut self.run.core.phase, phase) != phase
            && self.chart.stuck().reset_on_phase
        {
            self.run.core.governor.turn_page();
        }
    }
}
