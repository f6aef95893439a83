//! Worlds that do not behave: what they send is late, doubled, early or nonsense.

use pointsman_kernel::{
    agent::{Answer, ChildEnd, Fault, FaultClass, Reply, ToolResult},
    chart::Disposition,
    event::{Event, Observed, Pauser, Scope, UnansweredEffect, Usage},
    id::{At, Digest, EffectId, Seq},
};

use crate::{drive::DrivenRun, scripted_agent::Report};

impl DrivenRun<'_, '_> {
    /// Returns an event that may or may not make sense now.
    pub(crate) fn hostile_event(&mut self, last: &Observed<Report>) -> Observed<Report> {
        let core = &self.run.core;
        let (now, ended, begun) = (core.now, core.ended.is_some(), core.has_begun());
        let what = self.genes.below(16);
        if what < 8 && begun && !ended {
            return self.next();
        }
        let at = match self.genes.below(8) {
            0 => At(now.0.saturating_sub(1)),
            1 => now.after(1000),
            2 => self.run.core.wake.unwrap_or(now),
            3 => At(u64::MAX - self.genes.number(3)),
            _ => now,
        };
        // A run at the end of time can do nothing new, so few are sent there.
        let at = if at.0 > u64::MAX / 2 && !self.genes.is_one_in(8) { now } else { at };
        let event = match what {
            8 => last.event.clone(),
            9 => Event::Paused { why: String::new(), by: self.pauser() },
            10 => match self.pauser() {
                Some(by) => Event::Lifted { by },
                None => Event::Resumed,
            },
            11 => Event::Cancelled {
                scope: match self.genes.below(8) {
                    0 => Scope::Run,
                    1 => Scope::Shutdown,
                    _ => Scope::Turn,
                },
            },
            12 => Event::Woke,
            13 => {
                Event::Given { event: self.genes.number(5).try_into().unwrap(), body: self.body() }
            }
            14 => Event::ApprovalAnswered {
                effect: self.effect(),
                call: Digest::default(),
                granted: self.genes.is_one_in(2),
                reason: "why".into(),
                remember: None,
                sent: self.sent(),
            },
            15 if self.genes.is_one_in(4) => self.begin().event,
            15 if self.genes.is_one_in(2) => Event::Interrupted {
                under_way: vec![UnansweredEffect { effect: self.effect(), call: None }],
                counted: self.genes.is_one_in(2),
            },
            15 if self.genes.is_one_in(8) => Event::Forked,
            15 if self.genes.is_one_in(2) => Event::Granted {
                charge: pointsman_kernel::chart::Charge::ModelCall,
                amount: self.genes.number(3),
            },
            _ => Event::Answered {
                effect: self.effect(),
                answer: self.any_answer(),
                usage: Usage { tokens: self.genes.number(9), ..Usage::default() },
                sent: self.sent(),
            },
        };
        Observed { at, event }
    }

    fn pauser(&mut self) -> Option<Pauser> {
        let known = [Pauser::Person, Pauser::Parent, Pauser::Machine, Pauser::Worker];
        known.get(self.genes.below(5)).copied()
    }

    /// Returns a time around now, or none.
    fn sent(&mut self) -> Option<At> {
        let now = self.run.core.now;
        self.genes.is_one_in(2).then(|| now.after(self.genes.number(200)))
    }

    fn effect(&mut self) -> EffectId {
        let next = self.run.core.next.0;
        let back = self.genes.number(4);
        EffectId {
            seq: Seq(next.saturating_sub(back)),
            index: self.genes.number(4).try_into().unwrap(),
        }
    }

    fn any_answer(&mut self) -> Answer<Report> {
        let text = ["0", "1", "7", "more"][self.genes.below(4)].to_owned();
        match self.genes.below(5) {
            0 => Answer::Own(Report::End(self.genes.take(), None)),
            1 => Answer::Model(Reply { text, calls: Vec::new() }),
            2 => Answer::Tool(ToolResult { ok: false, output: text, mutated: true }),
            3 => Answer::Child(ChildEnd { ended: Disposition::Failed, result: text }),
            _ => Answer::Fault(Fault {
                class: FaultClass::Gone,
                repeatable: self.genes.is_one_in(2),
                hint_ms: self.genes.is_one_in(2).then_some(u64::MAX),
                message: text,
            }),
        }
    }
}
