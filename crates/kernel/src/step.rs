//! One event, run to completion: settle, route, every `decide`, up to the next wait.
//!
//! The order of checks is: cancel, then a terminal result, then budgets, then the governor. An
//! event is rejected before the first change.

mod admission;
mod budget;
mod governance;
mod items;
mod launch;
mod recovery;
mod timers;
mod transition;

use alloc::string::String;

use crate::{
    agent::{Abandoned, Agent, Answer, Settlement, Visit},
    chart::{Chart, State, StateKind, Work},
    effect::{Cause, Effect, EffectKind, StepOutput},
    event::{Event, Observed, Pauser, RunConfig, Scope, Usage},
    governor::Level,
    id::{At, BudgetId, EffectId, JobId, Outcome, Seq},
    run::{ItemStatus, Run},
};

pub use admission::{Late, Rejected};
pub use recovery::{Shortfall, shortfall};
use transition::{Flow, LeaveReason};

/// What became of an event that was not rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum StepResult {
    /// It changed the run; its entry must be written before its effects start.
    Applied,
    /// It came late or twice. Expected; nothing changed and nothing is written.
    Ignored(Late),
}

/// Applies one event to a run, in place.
///
/// Pure and total: the same chart, run, number and event give the same run and
/// output, on any machine, on any day. `out` is emptied first.
pub fn step<A: Agent>(
    chart: &Chart,
    run: &mut Run<A>,
    seq: Seq,
    seen: Observed<A::Report>,
    out: &mut StepOutput<A::Task>,
) -> Result<StepResult, Rejected> {
    out.clear();
    if let Some(late) = admission::admit(chart, &run.core, seq, &seen)? {
        return Ok(StepResult::Ignored(late));
    }
    let Some(state) = chart.state(run.core.state) else { return Err(Rejected::OtherChart) };
    // The agent's own refusal is the last one; from here on everything applies.
    if let Event::Begun(begun) = &seen.event {
        A::begin(&mut run.data, &begun.config)?;
    }
    if let Event::Given { event, body } = &seen.event {
        A::receive(&mut run.data, *event, body)?;
    }
    let mut stepping = Stepping { chart, state, run, out, seq, at: seen.at, overdrawn: None };
    // A run without an owner did nothing, so that time is not charged. A grant and a fork come
    // before the run continues.
    let stood_still =
        matches!(seen.event, Event::Interrupted { .. } | Event::Granted { .. } | Event::Forked);
    if !stood_still {
        stepping.elapse();
    }
    let flow = match seen.event {
        Event::Begun(begun) => stepping.begin(*begun),
        Event::Given { event, .. } => stepping.receive(event),
        Event::Answered { effect, answer, usage, .. } => stepping.answer(effect, answer, usage),
        Event::ApprovalAnswered { effect, granted, reason, remember, .. } => {
            if let Some(grant) = remember {
                stepping.run.core.governor.remember(grant);
            }
            stepping.approval(effect, granted, reason)
        }
        Event::Woke => stepping.wake(),
        Event::Cancelled { scope } => stepping.cancel(scope),
        Event::Paused { by, .. } => {
            stepping.run.core.pause(by);
            Flow::Wait
        }
        Event::Resumed => {
            stepping.run.core.lift(None);
            Flow::Wait
        }
        Event::Lifted { by } => {
            stepping.run.core.lift(Some(by));
            Flow::Wait
        }
        Event::Interrupted { under_way, counted } => stepping.recover(under_way, counted),
        Event::Forked => {
            stepping.fork();
            Flow::Wait
        }
        Event::Granted { charge, amount } => {
            stepping.grant_more(charge, amount);
            Flow::Wait
        }
    };
    stepping.follow(flow);
    stepping.finish();
    Ok(StepResult::Applied)
}

/// A step in progress.
struct Stepping<'a, A: Agent> {
    chart: &'a Chart,
    /// The state that the run is in.
    state: &'a State,
    run: &'a mut Run<A>,
    out: &'a mut StepOutput<A::Task>,
    seq: Seq,
    at: At,
    /// A budget that the answer being applied has overdrawn.
    overdrawn: Option<BudgetId>,
}

impl<'a, A: Agent> Stepping<'a, A> {
    fn begin(&mut self, begun: RunConfig) -> Flow {
        self.run.core.seed = begun.seed;
        if begun.queued {
            self.run.core.pause(Some(Pauser::Worker));
        }
        self.run.core.governor.begin(begun.permissions, begun.tools, begun.checks);
        self.enter(self.chart.start(), Cause::Began, None)
    }

    fn receive(&mut self, event: u16) -> Flow {
        let StateKind::Await { events, .. } = self.state.kind() else { return Flow::Wait };
        let at = events.iter().position(|awaited| *awaited == event);
        let Some(outcome) = at.and_then(|at| u8::try_from(at).ok()).map(Outcome) else {
            return Flow::Wait;
        };
        if A::speaks(event) {
            self.run.core.governor.observe_person();
        }
        self.refill_on_event();
        self.begin_turn();
        Flow::Leave(LeaveReason::By(outcome))
    }

    fn answer(&mut self, effect: EffectId, answer: Answer<A::Report>, usage: Usage) -> Flow {
        let (Some(at), Some(work)) = (self.item_of(effect), self.work()) else {
            return Flow::Wait;
        };
        self.charge_usage(usage);
        match self.run.core.items.get_mut(usize::from(at)) {
            Some(item) => match item.doing {
                ItemStatus::Working { deadline, .. } => {
                    item.left = deadline.since(self.at);
                    item.doing = ItemStatus::Queued;
                }
                ItemStatus::Asking { .. } => self.drop_question(at),
                ItemStatus::Queued | ItemStatus::BackingOff { .. } | ItemStatus::Done => {}
            },
            None => return Flow::Wait,
        }
        let visit = self.visit(work.job, at);
        let from_model = matches!(answer, Answer::Model(_)) && A::is_turn(&self.run.data, &visit);
        let seen = self.governed(at, &answer, from_model);
        let settled = A::settle(&mut self.run.data, &visit, answer);
        let seen = seen.max(self.governed_turn(from_model, &settled));
        let flow = match settled {
            Settlement::Outcome(outcome) => self.settled(at, outcome),
            Settlement::Again(order) => self.again(at, order),
            Settlement::Failed(fault) => self.fail_attempt(at, fault),
        };
        if seen == Level::Halt { self.halted(flow) } else { flow }
    }

    fn approval(&mut self, effect: EffectId, granted: bool, reason: String) -> Flow {
        match self.item_of(effect) {
            Some(at) => match self.unattended(at) {
                Some(flow) => flow,
                None if granted => self.grant(at),
                None => self.deny(at, reason),
            },
            None => Flow::Wait,
        }
    }

    fn cancel(&mut self, scope: Scope) -> Flow {
        let any = self.chart.any();
        let to = match scope {
            Scope::Run => Some(any.cancel),
            Scope::Turn => any.cancel_turn,
            Scope::Shutdown => any.shutdown,
        };
        let Some(to) = to else { return Flow::Wait };
        self.abandon_all(&Abandoned::Cancelled);
        self.begin_turn();
        self.enter_free(to, Cause::Cancelled(scope), None)
    }

    /// Ends the step: when to be woken, and the next number.
    fn finish(&mut self) {
        let wake = self.next_wake();
        let core = &mut self.run.core;
        core.next = self.seq.next();
        core.now = self.at;
        core.wake = wake;
    }

    /// Returns the job that the state runs, with its limits.
    const fn work(&self) -> Option<Work> {
        if let StateKind::Run(work) | StateKind::FanOut { work, .. } = self.state.kind() {
            return Some(*work);
        }
        None
    }

    /// Returns the visit of a job. It borrows only from the chart, so that the agent's data can
    /// change meanwhile.
    fn visit(&self, job: JobId, item: u16) -> Visit<'a> {
        let attempt = self.run.core.items.get(usize::from(item)).map_or(0, |item| item.attempt);
        let held = self.run.held.iter().any(|held| held.item == item);
        let entered = self.run.core.entered;
        Visit { state: self.state, job, item, attempt, held, entered, now: self.at }
    }

    fn emit(&mut self, order: EffectKind<A::Task>) -> EffectId {
        let index = u16::try_from(self.out.effects.len()).unwrap_or(u16::MAX);
        let id = EffectId { seq: self.seq, index };
        self.out.effects.push(Effect { id, order });
        id
    }
}
