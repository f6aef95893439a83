//! Going on after an interruption: what was under way is done again, asked about or
//! given up, as its tool declares. Nothing is repeated silently.

use super::{
    Stepping,
    travel::{Exit, Flow},
};
use crate::{
    agent::{Agent, Fault, FaultClass, Order, OrderKind},
    chart::Charge,
    event::UnderWay,
    run::Doing,
    tool::Recovery,
};

impl<A: Agent> Stepping<'_, A> {
    /// Settles what to do about everything that was under way.
    ///
    /// What stays `Working` is to be done again by the runtime, under the same id.
    pub(super) fn recover(&mut self, under_way: alloc::vec::Vec<UnderWay>) -> Flow {
        for unsure in under_way {
            let Some(at) = self.item_of(unsure.effect) else { continue };
            if let leave @ Flow::Leave(_) = self.recover_one(at, unsure) {
                return leave;
            }
        }
        Flow::Wait
    }

    fn recover_one(&mut self, at: u16, unsure: UnderWay) -> Flow {
        let Some(work) = self.work() else { return Flow::Wait };
        let Some(item) = self.run.core.items.get_mut(usize::from(at)) else { return Flow::Wait };
        let Doing::Working { effect, kind, .. } = item.doing else { return Flow::Wait };
        // The attempt's clock starts anew: it is done again from the beginning.
        item.left = work.attempts.timeout;
        item.doing = Doing::Working { effect, kind, deadline: self.at.after(item.left) };
        let Some(call) = unsure.call else {
            let again = if kind == OrderKind::Model { Some(Charge::ModelCall) } else { None };
            return self.pay_again(again);
        };
        let tool = self.run.core.governor.tool(&call.tool);
        match tool.map_or_else(Recovery::default, |tool| tool.recovery) {
            Recovery::Retry | Recovery::Probe => self.pay_again(Some(Charge::ToolCall)),
            Recovery::Ask => self.ask(at, Order::Tool(call), true),
            Recovery::Fail => self.fail_attempt(at, unsettled()),
        }
    }

    /// Pays for a call that is made a second time; both count.
    fn pay_again(&mut self, charge: Option<Charge>) -> Flow {
        let paid = charge.map_or(Ok(()), |charge| self.charge(charge, 1));
        paid.map_or_else(|budget| Flow::Leave(Exit::Beyond(budget)), |()| Flow::Wait)
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
