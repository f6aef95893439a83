//! A step as items: the only place that turns events and effects into them.

use pointsman_kernel::{
    agent::{Answer, Order},
    agents::Program,
    body::Body,
    effect::{Effect, EffectKind},
    erased::{AnyRun, AppliedStep},
    event::{Event, UnansweredEffect},
    id::{At, EffectId},
    run::{Item, ItemStatus},
    view::{StepExplanation, explain},
};

use super::{
    TimelineItem, TimelineKind,
    describe::{self, AnswerText},
};
use crate::driver::{is_aside, listens, question, questions, waits_for};

/// Characters of a call in a few words.
const SHOWN: usize = 120;

/// The state of a run before a step.
#[derive(Debug)]
pub(crate) struct Before {
    entered: At,
    stage: Option<String>,
    waits: Vec<(u16, At)>,
}

impl Before {
    pub(crate) fn of(run: &dyn AnyRun) -> Self {
        Self { entered: run.core().entered, stage: run.stage(), waits: waits(run) }
    }
}

/// Returns the attempts after which an item waits, and until when.
fn waits(run: &dyn AnyRun) -> Vec<(u16, At)> {
    let wait = |item: &Item| match item.doing {
        ItemStatus::BackingOff { until } => Some((item.attempt, until)),
        _ => None,
    };
    run.core().items.iter().filter_map(wait).collect()
}

/// A step, with all that its items are made of.
pub(crate) struct Step<'a> {
    pub(crate) program: &'a Program,
    /// The run before it.
    pub(crate) before: &'a Before,
    pub(crate) event: &'a Event<Body>,
    /// The run after it.
    pub(crate) run: &'a dyn AnyRun,
    pub(crate) stepped: &'a AppliedStep,
    /// The orders that were open before it.
    pub(crate) open: &'a dyn Fn(EffectId) -> Option<&'a EffectKind<Body>>,
    /// The model's name, for people.
    pub(crate) model: &'a str,
}

/// Returns why a step went the way it did, and its items.
pub(crate) fn project(step: &Step<'_>) -> (StepExplanation, Vec<TimelineItem>) {
    let core = step.run.core();
    let why = explain(step.program, core, step.event.name(), step.stepped);
    let mut kinds = step.event();
    // Why an attempt with an answer failed; a fault is described as one.
    let fault = match step.event {
        Event::Answered { answer: Answer::Fault(fault), .. } => Some(&fault.message),
        _ => None,
    };
    let failed = why.failed.iter().filter(|why| Some(*why) != fault);
    kinds.extend(failed.map(|why| TimelineKind::Failed { why: why.as_str().into() }));
    let mut entered = step.before.entered;
    for (at, hop) in why.hops.iter().enumerate() {
        let began = at == 0 && core.next.0 == 2;
        kinds.push(TimelineKind::Transition {
            from: Some(hop.from.clone()).filter(|_| !began),
            to: hop.to.clone(),
            reason: hop.because.as_str().into(),
            spent: hop.spent.clone(),
            ms: why.at.since(entered),
        });
        entered = why.at;
    }
    let stage = step.run.stage();
    if stage != step.before.stage {
        kinds.push(TimelineKind::Stage { text: stage.map(Into::into) });
    }
    kinds.extend(why.verdicts.iter().cloned().map(TimelineKind::Verdict));
    let waits = waits(step.run);
    for (attempt, until) in waits.iter().filter(|wait| !step.before.waits.contains(wait)) {
        let (attempt, wait_ms) = (attempt.saturating_add(1), until.since(core.now));
        kinds.push(TimelineKind::Retrying { attempt, wait_ms });
    }
    step.effects(&mut kinds);
    if let Some(disposition) = core.ended {
        kinds.push(TimelineKind::Ended { disposition });
    } else if !why.hops.is_empty() && listens(step.program, core) {
        kinds.push(TimelineKind::Listens { error: step.run.turn_error().cloned() });
    }
    let (seq, at) = (why.seq, why.at);
    let items = (0..).zip(kinds).map(|(index, kind)| TimelineItem { seq, index, at, kind });
    (why, items.collect())
}

impl Step<'_> {
    /// Returns the item of the event. A call that turned out to be impossible before a person was
    /// asked was never reported as started, so it is reported here.
    fn event(&self) -> Vec<TimelineKind> {
        let mut kinds = Vec::new();
        let event = match self.event {
            Event::Begun(begun) => {
                TimelineKind::Begun { chart: begun.chart.as_str().into(), version: begun.version }
            }
            Event::Given { event, .. } => {
                let names = self.program.agent().events;
                let name = names.get(usize::from(*event)).copied().unwrap_or_default();
                TimelineKind::Given { event: name.into(), text: describe::words(self.event) }
            }
            Event::Answered { effect, answer, usage, .. } => {
                let order = (self.open)(*effect);
                if let Some(EffectKind::AskPerson(call)) = order {
                    let order = Order::Tool(call.clone());
                    kinds.push(self.started(*effect, &order, false, true));
                }
                self.answered(*effect, order, answer, *usage)
            }
            Event::ApprovalAnswered { effect, granted, reason, .. } => {
                TimelineKind::ApprovalAnswered {
                    effect: *effect,
                    granted: *granted,
                    reason: reason.as_str().into(),
                    call: (self.open)(*effect).and_then(called),
                }
            }
            Event::Woke => TimelineKind::Woke,
            Event::Cancelled { scope } => TimelineKind::Cancelled { scope: *scope },
            Event::Paused { why, by } => TimelineKind::Paused { why: why.as_str().into(), by: *by },
            Event::Lifted { by } => {
                TimelineKind::Lifted { by: *by, still_paused: self.run.core().paused }
            }
            Event::Resumed => TimelineKind::Resumed,
            Event::Interrupted { .. } => TimelineKind::Interrupted,
            Event::Forked => TimelineKind::Forked,
            Event::Granted { charge, amount } => {
                TimelineKind::Granted { charge: *charge, amount: *amount }
            }
            // A later kernel's.
            event => TimelineKind::Raw { event: event.name().into(), hops: Vec::new() },
        };
        kinds.push(event);
        kinds
    }

    fn answered(
        &self,
        effect: EffectId,
        order: Option<&EffectKind<Body>>,
        answer: &Answer<Body>,
        usage: pointsman_kernel::event::Usage,
    ) -> TimelineKind {
        let agent = self.program.agent();
        let did = match order {
            Some(kind @ EffectKind::Start(order)) => question(self.run, kind).map_or_else(
                || describe::start(self.run, agent, order, self.model),
                |asked| format!("asks: {asked}"),
            ),
            _ => String::new(),
        };
        let aside = matches!(order, Some(EffectKind::Start(order)) if is_aside(order, agent));
        let AnswerText { ok, what } = describe::answer(self.run, answer, aside);
        TimelineKind::Answered {
            effect,
            did: did.into(),
            ok,
            what: what.into(),
            aside,
            call: order.and_then(called),
            answer: Box::new(answer.clone()),
            usage,
        }
    }

    /// Adds the effects that the step started, asked for or stopped, and those that an
    /// interruption left in progress: they start again.
    fn effects(&self, kinds: &mut Vec<TimelineKind>) {
        let effects = &self.stepped.effects;
        let new = |effect: &EffectId| effects.iter().find(|it| it.id == *effect);
        let asked = questions(self.run, |effect| new(effect).map(|it| it.order.clone()));
        for Effect { id, order } in effects {
            if let Some(question) = asked.iter().find(|it| it.effect == *id) {
                kinds.push(TimelineKind::Asked(question.clone()));
                continue;
            }
            match order {
                EffectKind::Start(order) => kinds.push(self.started(*id, order, false, false)),
                EffectKind::Stop(effect) if (self.open)(*effect).is_some() => {
                    kinds.push(TimelineKind::Stopped { effect: *effect });
                }
                _ => {}
            }
        }
        let Event::Interrupted { under_way, .. } = self.event else { return };
        for UnansweredEffect { effect, .. } in under_way {
            let works = |item: &Item| matches!(item.doing, ItemStatus::Working { effect: it, .. } if it == *effect);
            if self.run.core().items.iter().any(works)
                && let Some(EffectKind::Start(order)) = (self.open)(*effect)
            {
                kinds.push(self.started(*effect, order, true, false));
            }
        }
    }

    fn started(
        &self,
        effect: EffectId,
        order: &Order<Body>,
        again: bool,
        only_checked: bool,
    ) -> TimelineKind {
        let what = describe::start(self.run, self.program.agent(), order, self.model);
        let mut items = self.run.core().items.iter();
        let attempt = items.find(|item| waits_for(item, effect)).map_or(1, |item| item.attempt);
        let call = match order {
            Order::Tool(call) => Some(Box::new(call.clone())),
            _ => None,
        };
        let what = describe::shortened(&what, SHOWN).into();
        let by = order.kind();
        TimelineKind::Started { effect, attempt, by, what, call, again, only_checked }
    }
}

/// Returns the call that is made or asked for by an order.
fn called(order: &EffectKind<Body>) -> Option<Box<pointsman_kernel::agent::ToolCall>> {
    match order {
        EffectKind::Start(Order::Tool(call)) | EffectKind::AskPerson(call) => {
            Some(Box::new(call.clone()))
        }
        _ => None,
    }
}
