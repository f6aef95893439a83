//! Drives a run by bytes: well-behaved worlds that answer what was asked, eager ones
//! that go the longest way round, and what a run has cost so far.

use pointsman_kernel::{
    Rejected, StepResult,
    agent::{Answer, Fault, FaultClass, Order, OrderKind, Reply, ToolResult},
    chart::{Chart, State, StateKind},
    effect::{EffectKind, StepOutput},
    event::{Event, Observed, RunConfig, UnansweredEffect, Usage},
    governor::Permissions,
    id::{At, EffectId},
    run::{ItemStatus, Run},
    shortfall, step,
};
use serde_json::value::RawValue;

use crate::{
    charts::{Genes, sketch},
    scripted_agent::{Data, Report, ScriptedAgent, Task, ask_erase, asked},
};

/// How the world answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum World {
    /// As the bytes say.
    Random,
    /// It prefers ways back, and those of the innermost loop first.
    Eager,
    /// The same, and every answer comes at the last moment, after every failure.
    Slow,
}

/// What a run has cost, counted from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    pub(crate) model_calls: u64,
    pub(crate) tool_calls: u64,
    pub(crate) time_ms: u64,
}

/// A run and its world.
pub(crate) struct DrivenRun<'c, 'g> {
    pub(crate) chart: &'c Chart,
    pub(crate) run: Run<ScriptedAgent>,
    pub(crate) out: StepOutput<Task>,
    pub(crate) genes: Genes<'g>,
    pub(crate) cost: Cost,
    world: World,
}

impl<'c, 'g> DrivenRun<'c, 'g> {
    pub(crate) fn new(chart: &'c Chart, genes: Genes<'g>, world: World) -> Self {
        let (run, out) = (Run::new(chart), StepOutput::default());
        Self { chart, run, out, genes, cost: Cost::default(), world }
    }

    /// Applies an event that must be taken, and counts what it cost.
    pub(crate) fn apply(&mut self, seen: Observed<Report>) {
        let core = &self.run.core;
        let asking = core.items.iter().any(|item| matches!(item.doing, ItemStatus::Asking { .. }));
        let works = !asking && !core.paused && !core.items.is_empty();
        let (visits, passed) = (core.visits, seen.at.since(core.now));
        assert_eq!(self.offer(seen), Ok(StepResult::Applied));
        self.cost.time_ms += if works { passed } else { 0 };
        self.cost.steps += self.run.core.visits - visits;
        for effect in &self.out.effects {
            match effect.order {
                EffectKind::Start(Order::Model(_)) => self.cost.model_calls += 1,
                EffectKind::Start(Order::Tool(_)) => self.cost.tool_calls += 1,
                _ => {}
            }
        }
    }

    /// Resumes the run after an interruption of every repeatable effect, if the budget allows it,
    /// and counts the repetitions. Returns whether it did.
    pub(crate) fn interrupt(&mut self) -> bool {
        let working = self.run.core.items.iter().filter_map(|item| match item.doing {
            ItemStatus::Working { effect, kind: OrderKind::Model, .. } => Some(effect),
            _ => None,
        });
        let under_way: Vec<UnansweredEffect> =
            working.map(|effect| UnansweredEffect { effect, call: None }).collect();
        if under_way.is_empty() || shortfall(self.chart, &self.run.core, &under_way).is_some() {
            return false;
        }
        let calls = u64::try_from(under_way.len()).unwrap();
        let event = Event::Interrupted { under_way, counted: true };
        self.apply(Observed { at: self.run.core.now, event });
        assert!(self.run.core.ended.is_none(), "what can be paid ends nothing");
        self.cost.model_calls += calls;
        true
    }

    /// Applies an event, or finds out why it is not taken.
    pub(crate) fn offer(&mut self, seen: Observed<Report>) -> Result<StepResult, Rejected> {
        let next = self.run.core.next;
        step(self.chart, &mut self.run, next, seen, &mut self.out)
    }

    /// Returns the whole run as text.
    pub(crate) fn snapshot(&self) -> String {
        serde_json::to_string(&self.run).unwrap()
    }

    pub(crate) fn begin(&mut self) -> Observed<Report> {
        let permissions = match self.genes.below(3) {
            0 => Permissions::allow_all(),
            1 => Permissions { rules: vec![ask_erase()], ..Permissions::allow_all() },
            _ => Permissions::ask_all(),
        };
        let begun = RunConfig {
            chart: "random".into(),
            version: 1,
            digest: self.chart.digest(),
            seed: u64::from(self.genes.take()),
            permissions,
            tools: Vec::new(),
            checks: false,
            queued: false,
            config: self.body(),
            place: None,
        };
        Observed { at: At(0), event: Event::Begun(Box::new(begun)) }
    }

    pub(crate) fn body(&mut self) -> Box<RawValue> {
        let data = Data {
            choose: self.choices(),
            items: u16::from(self.genes.take() % 6),
            tools: [0, 0x2020, 0x0202][self.genes.below(3)],
            ..Data::default()
        };
        RawValue::from_string(serde_json::to_string(&data).unwrap()).unwrap()
    }

    fn choices(&mut self) -> u64 {
        (0..4).fold(0, |choose, _| choose << 16 | u64::from(self.genes.take()) << 4 & 0x0770)
    }

    /// Returns the next event of a world that does as it is asked.
    pub(crate) fn next(&mut self) -> Observed<Report> {
        let state = self.chart.state(self.run.core.state).unwrap();
        if let StateKind::Await { events, .. } = state.kind() {
            let event = events[self.genes.below(events.len())];
            return match self.run.core.wake {
                Some(at) if self.genes.is_one_in(2) => Observed { at, event: Event::Woke },
                _ => Observed {
                    at: self.run.core.now,
                    event: Event::Given { event, body: self.body() },
                },
            };
        }
        let Some(due) = self.run.core.wake else {
            if self.run.core.paused {
                return Observed { at: self.run.core.now, event: Event::Resumed };
            }
            panic!("nothing wakes the run in {:?} of\n{}", self.run.core, sketch(self.chart));
        };
        let items = &self.run.core.items;
        let first = self.genes.below(items.len());
        let turned = items.iter().cycle().skip(first).take(items.len());
        let waiting =
            turned.map(|item| (item.doing, item.attempt)).find_map(
                |(doing, attempt)| match doing {
                    ItemStatus::Working { effect, kind, deadline } => {
                        Some((effect, Some((kind, deadline)), attempt))
                    }
                    ItemStatus::Asking { effect, .. } => Some((effect, None, attempt)),
                    _ => None,
                },
            );
        let patience = if self.world == World::Slow { u64::MAX } else { self.genes.number(64) };
        let at = self.run.core.now.after(patience).min(due);
        match waiting {
            // A slow world answers at the deadline, and lets the run wait till then.
            Some((_, Some((_, deadline)), _)) if self.world == World::Slow && due < deadline => {
                Observed { at: due, event: Event::Woke }
            }
            Some((effect, Some((kind, _)), attempt)) => {
                Observed { at, event: self.answer(state, effect, kind, attempt) }
            }
            Some((effect, None, _)) => {
                let granted = !self.genes.is_one_in(4);
                let call = asked(&self.run.core, effect);
                let (reason, remember, sent) = (String::new(), None, None);
                let event =
                    Event::ApprovalAnswered { effect, call, granted, reason, remember, sent };
                Observed { at: self.run.core.now.after(self.genes.number(9)).min(due), event }
            }
            None => Observed { at: due, event: Event::Woke },
        }
    }

    fn answer(
        &mut self,
        state: &State,
        effect: EffectId,
        kind: OrderKind,
        attempt: u16,
    ) -> Event<Report> {
        let limits = match state.kind() {
            StateKind::Run(work) | StateKind::FanOut { work, .. } => work.attempts,
            _ => unreachable!(),
        };
        let fails = match self.world {
            World::Slow => attempt < limits.max,
            World::Eager | World::Random => self.genes.is_one_in(5),
        };
        let answer = if fails {
            let hint_ms = (self.world == World::Slow).then_some(limits.hint_cap);
            let class =
                if self.genes.is_one_in(4) { FaultClass::Timeout } else { FaultClass::Other };
            Answer::Fault(Fault { class, repeatable: true, hint_ms, message: String::new() })
        } else {
            let more = self.genes.is_one_in(3);
            let outcome = self.outcome(state);
            let text = if more { "more".to_owned() } else { outcome.to_string() };
            match kind {
                OrderKind::Model => Answer::Model(Reply { text, calls: Vec::new() }),
                OrderKind::Tool => {
                    Answer::Tool(ToolResult { ok: true, output: text, mutated: false })
                }
                _ if more => Answer::Own(Report::More),
                _ => Answer::Own(Report::End(outcome, Some(self.choices()))),
            }
        };
        let usage = Usage {
            tokens: self.genes.number(16),
            money: self.genes.number(16),
            outside_app: u64::from(self.genes.is_one_in(4)),
            ..Usage::default()
        };
        Event::Answered { effect, answer, usage, sent: None }
    }

    /// Returns an outcome of the job's own.
    fn outcome(&mut self, state: &State) -> u8 {
        let own = |at: &usize| {
            !["failed", "timeout", "stuck", "denied"].contains(&state.routes()[*at].name())
        };
        let own: Vec<usize> = (0..state.routes().len()).filter(own).collect();
        let chosen = match self.world {
            World::Random => own[self.genes.below(own.len())],
            World::Eager | World::Slow => {
                let best = own.iter().max_by_key(|at| self.lure(state, **at));
                *best.unwrap()
            }
        };
        u8::try_from(chosen).unwrap()
    }

    /// Returns how much a way promises: most of all a loop that can be paid, the
    /// innermost first; then the nearest state ahead; then what lies beyond a budget.
    fn lure(&self, state: &State, at: usize) -> (usize, u16) {
        let edge = state.routes()[at].edge();
        let nearer = u16::MAX - edge.to.0;
        match edge.spend.map(|budget| (budget.index(), self.run.core.balances[budget.index()])) {
            Some((budget, purse)) if purse.left > 0 && !purse.closed => (4 + budget, nearer),
            None if !self.chart.state(edge.to).unwrap().is_final() => (3, nearer),
            Some((_, purse)) if !purse.closed => (2, nearer),
            None => (1, nearer),
            Some(_) => (0, nearer),
        }
    }
}
