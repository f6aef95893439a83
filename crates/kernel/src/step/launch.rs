//! Starting an order: its price, its verdict, its effect.

use alloc::string::String;

use super::{
    Stepping,
    transition::{Flow, LeaveReason},
};
use crate::{
    agent::{Abandoned, Agent, Fault, FaultClass, Order, ToolCall},
    chart::{Charge, StateKind},
    effect::EffectKind,
    governor::{Level, Verdict, identity},
    id::BudgetId,
    run::{HeldOrder, ItemStatus},
};

/// The consequence of a verdict on a call.
enum Ruling {
    Start,
    Ask,
    Stop(Flow),
}

impl<A: Agent> Stepping<'_, A> {
    /// Starts an item: its held order, or the next attempt.
    pub(super) fn launch(&mut self, at: u16) -> Flow {
        let Some(work) = self.work() else { return Flow::Wait };
        if let Some(item) = self.run.core.items.get_mut(usize::from(at)) {
            item.placed = true;
        }
        let held = self.run.held.iter().position(|held| held.item == at);
        if let Some(place) = held {
            let HeldOrder { order, approved, .. } = self.run.held.remove(place);
            return self.order(at, order, approved);
        }
        let Some(item) = self.run.core.items.get_mut(usize::from(at)) else { return Flow::Wait };
        item.attempt = item.attempt.saturating_add(1);
        item.left = work.attempts.timeout;
        item.tasks = 0;
        item.used = crate::job::Charges::default();
        if self.governed_start(at, work.governed) == Level::Halt {
            return self.halt(at, "nothing new was learnt in this state".into());
        }
        let visit = self.visit(work.job, at);
        let order = A::brief(&self.run.data, &visit);
        self.order(at, order, false)
    }

    /// Pays for an order, has it judged, and starts it.
    fn order(&mut self, at: u16, order: Order<A::Task>, approved: bool) -> Flow {
        if !approved && !self.declared(at, &order) {
            return self.breach(at, "the job requests more than it declares");
        }
        // Budgets come before the governor: what cannot be paid is not judged.
        if !self.is_within_bound(&order) {
            return Flow::Leave(LeaveReason::Bound);
        }
        if let Err(budget) = self.affords(&order) {
            return Flow::Leave(LeaveReason::Beyond(budget));
        }
        let mut key = None;
        // A tool may want less time than its state allows.
        let mut limit = u64::MAX;
        if let Order::Tool(call) = &order {
            let tool = self.run.core.governor.tool(&call.tool);
            limit = tool.and_then(|tool| tool.timeout_ms).unwrap_or(u64::MAX);
            if self.work().is_none_or(|work| !work.governed.calls()) {
                return self.breach(at, "the job starts a tool call but does not declare it");
            }
            let compared = self.run.core.governor.key(call);
            if !approved {
                let (proposed, when) = ((call, &compared), (self.at, self.seq));
                let verdict = self.run.core.governor.judge(self.chart, self.state, proposed, when);
                if verdict.as_ref().is_some_and(|it| self.run.core.governor.leaves_to_host(it)) {
                    return self.ask(at, order, false);
                }
                match self.ruling(at, verdict) {
                    Ruling::Start => {}
                    Ruling::Ask => return self.ask(at, order, false),
                    Ruling::Stop(flow) => return flow,
                }
            }
            key = Some(compared);
        }
        self.pay(&order);
        let kind = order.kind();
        let effect = self.emit(EffectKind::Start(order));
        if let Some(item) = self.run.core.items.get_mut(usize::from(at)) {
            let deadline = self.at.after(item.left.min(limit));
            item.doing = ItemStatus::Working { effect, kind, deadline };
            item.call = key;
        }
        Flow::Wait
    }

    /// Counts an order, and returns whether the job's declaration covers it.
    fn declared(&mut self, at: u16, order: &Order<A::Task>) -> bool {
        let Some(work) = self.work() else { return false };
        let Some(item) = self.run.core.items.get_mut(usize::from(at)) else { return false };
        item.tasks = item.tasks.saturating_add(1);
        let used = &mut item.used;
        match order {
            Order::Model(_) => used.model_calls = used.model_calls.saturating_add(1),
            Order::Tool(_) => used.tool_calls = used.tool_calls.saturating_add(1),
            Order::Child(_) => {}
            Order::Own { interactions, actions, .. } => {
                used.interactions = used.interactions.saturating_add(*interactions);
                used.actions = used.actions.saturating_add(*actions);
            }
        }
        item.tasks <= work.tasks
            && used.model_calls <= work.worst.model_calls
            && used.tool_calls <= work.worst.tool_calls
            && used.interactions <= work.worst.interactions
            && used.actions <= work.worst.actions
    }

    /// Returns whether the certificate permits one more call. Only calls that were made again
    /// can use it up.
    fn is_within_bound(&self, order: &Order<A::Task>) -> bool {
        let (core, bound) = (&self.run.core, self.chart.certificate());
        match order {
            Order::Model(_) => core.model_calls.left(bound.model_calls) > 0,
            Order::Tool(_) => core.tool_calls.left(bound.tool_calls) > 0,
            Order::Child(_) | Order::Own { .. } => true,
        }
    }

    fn affords(&self, order: &Order<A::Task>) -> Result<(), BudgetId> {
        match order {
            Order::Model(_) | Order::Child(_) => {
                self.bears(Charge::ModelCall, 1)?;
                self.bears(Charge::Token, 1)?;
                self.bears(Charge::Money, 1)
            }
            Order::Tool(_) => self.bears(Charge::ToolCall, 1),
            Order::Own { interactions, actions, .. } => {
                for (charge, amount) in owed(*interactions, *actions) {
                    self.bears(charge, amount)?;
                }
                Ok(())
            }
        }
    }

    fn pay(&mut self, order: &Order<A::Task>) {
        // The cost was checked a moment ago.
        let paid = match order {
            Order::Model(_) => self.charge(Charge::ModelCall, 1),
            Order::Tool(_) => self.charge(Charge::ToolCall, 1),
            Order::Child(_) => Ok(()),
            Order::Own { interactions, actions, .. } => owed(*interactions, *actions)
                .try_for_each(|(charge, amount)| self.charge(charge, amount)),
        };
        debug_assert!(paid.is_ok(), "an order was started that could not be paid");
        match order {
            Order::Model(_) => self.run.core.model_calls.add(1),
            Order::Tool(_) => self.run.core.tool_calls.add(1),
            Order::Child(_) | Order::Own { .. } => {}
        }
    }

    /// Holds a call until a person has decided; its attempt's clock stops. The person learns
    /// whether it would be a repetition.
    pub(super) fn ask(&mut self, at: u16, order: Order<A::Task>, again: bool) -> Flow {
        let Some(work) = self.work() else { return Flow::Wait };
        if let Order::Tool(call) = &order {
            let (call, identity): (ToolCall, _) = (call.clone(), identity(call));
            let effect = self.emit(EffectKind::AskPerson(call));
            let expires = self.at.after(work.attempts.ask_timeout);
            self.set(at, ItemStatus::Asking { effect, expires, call: identity, again });
            self.run.held.push(HeldOrder { item: at, order, approved: false });
        }
        Flow::Wait
    }

    /// The host found that the call which a person was to decide over cannot run: its failed
    /// result is taken as that of any call. Nothing was started, so nothing is paid.
    pub(super) fn drop_question(&mut self, at: u16) {
        let held = self.run.held.iter().position(|held| held.item == at);
        let order = held.map(|place| self.run.held.remove(place).order);
        if let Some(item) = self.run.core.items.get_mut(usize::from(at)) {
            item.doing = ItemStatus::Queued;
            if let Some(Order::Tool(call)) = &order {
                item.call = Some(self.run.core.governor.key(call));
            }
        }
    }

    /// Rules on a call of an unattended run after the host has checked it; nothing if a person
    /// decides. Only the rules count, whatever the answer says.
    pub(super) fn unattended(&mut self, at: u16) -> Option<Flow> {
        let item = self.run.core.items.get(usize::from(at))?;
        let ItemStatus::Asking { again: false, .. } = item.doing else { return None };
        let held = self.run.held.iter().find(|held| held.item == at)?;
        let Order::Tool(call) = &held.order else { return None };
        let verdict = self.run.core.governor.unattended(call, self.at)?;
        match self.ruling(at, Some(verdict)) {
            Ruling::Stop(flow) => Some(flow),
            Ruling::Start | Ruling::Ask => None,
        }
    }

    /// A person said yes: the held call starts as soon as there is a place.
    pub(super) fn grant(&mut self, at: u16) -> Flow {
        for held in self.run.held.iter_mut().filter(|held| held.item == at) {
            held.approved = true;
        }
        self.set(at, ItemStatus::Queued);
        Flow::Wait
    }

    /// A person or a rule said no: an item's result in a fan-out, else `denied`.
    pub(super) fn deny(&mut self, at: u16, reason: String) -> Flow {
        self.abandon(at, &Abandoned::Denied { reason });
        self.state
            .kernel_outcomes()
            .denied
            .map_or(Flow::Wait, |denied| Flow::Leave(LeaveReason::By(denied)))
    }

    /// Returns the consequence of a verdict on a call.
    fn ruling(&mut self, at: u16, verdict: Option<Verdict>) -> Ruling {
        let Some(verdict) = verdict else { return Ruling::Start };
        let (rule, reason) = (verdict.rule, verdict.reason.clone());
        match self.ruled(Some(verdict)) {
            Level::Allow | Level::Warn => Ruling::Start,
            Level::Ask => Ruling::Ask,
            Level::Refuse if rule.is_permission() => Ruling::Stop(self.deny(at, reason)),
            // In a fan-out, one refused call is an item's result; alone it is `stuck`.
            Level::Refuse if matches!(self.state.kind(), StateKind::FanOut { .. }) => {
                self.abandon(at, &Abandoned::Stuck { reason });
                Ruling::Stop(Flow::Wait)
            }
            Level::Refuse | Level::Halt => Ruling::Stop(self.halt(at, reason)),
        }
    }

    fn halt(&mut self, at: u16, reason: String) -> Flow {
        self.abandon(at, &Abandoned::Stuck { reason });
        self.state
            .kernel_outcomes()
            .stuck
            .map_or(Flow::Leave(LeaveReason::Broken), |it| Flow::Leave(LeaveReason::By(it)))
    }

    pub(super) fn breach(&mut self, at: u16, message: &str) -> Flow {
        self.fail_attempt(
            at,
            Fault {
                class: FaultClass::Contract,
                repeatable: false,
                hint_ms: None,
                message: message.into(),
            },
        )
    }
}

/// Returns the charges of the agent's own order. Zero can be charged even to a closed budget.
fn owed(interactions: u32, actions: u32) -> impl Iterator<Item = (Charge, u64)> {
    let owed = [(Charge::Interaction, interactions), (Charge::Action, actions)];
    owed.into_iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(charge, amount)| (charge, u64::from(amount)))
}
