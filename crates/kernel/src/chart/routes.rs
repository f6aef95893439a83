//! Every state with its ways out: what its job can end in, and what `on` says.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use super::{
    AllowedTools, Attempts, Edge, KernelOutcomes, Route, State, StateKind, Work,
    draft::{ChartDraft, Name, Spanned, StateDraft, StateKindDraft},
    limits::{attempts, governed_tools, label, no_limits, tools},
    parameters::parameters,
    resolve::NameTable,
    slots::influence,
};
use crate::{
    code::Code,
    diagnostic::{Findings, did_you_mean},
    id::Outcome,
    job::{Governance, Influence, JobDecl, JobKind},
};

/// Names with a fixed meaning, which no chart can give another.
const RESERVED: [&str; 7] =
    ["cancel", "cancel_turn", "shutdown", "failed", "timeout", "stuck", "denied"];

pub(super) struct StateTable {
    pub(super) states: Vec<State>,
    /// Whether every target is a state.
    pub(super) targets_known: bool,
    /// Whether every `spend` is a budget.
    pub(super) spends_known: bool,
}

pub(super) fn route(draft: &ChartDraft, names: &NameTable<'_>, found: &mut Findings) -> StateTable {
    let mut table = StateTable { states: Vec::new(), targets_known: true, spends_known: true };
    for written in &draft.states {
        let plan = plan(written, draft, names, found);
        let state = routes(written, plan, names, &mut table, found);
        table.states.push(state);
    }
    table
}

/// What a state does, and how it can end; `None` if that is unknown.
struct StatePlan {
    kind: StateKind,
    ends: Option<Vec<(String, Influence)>>,
    /// The kernel's outcomes that it can have.
    failed: Option<Influence>,
    timeout: bool,
    stuck: Option<Influence>,
    denied: Option<Influence>,
    /// Whether the chart names further outcomes.
    open: Option<Influence>,
    tools: AllowedTools,
}

fn plan(
    written: &StateDraft,
    draft: &ChartDraft,
    names: &NameTable<'_>,
    found: &mut Findings,
) -> StatePlan {
    let mut plan = StatePlan {
        kind: StateKind::Await { events: Box::default(), timeout: None },
        ends: None,
        failed: None,
        timeout: false,
        stuck: None,
        denied: None,
        open: None,
        tools: tools(written, names, found),
    };
    let Some(does) = &written.kind else {
        plan.ends = None;
        return plan;
    };
    let spanned = |name: &String| Spanned::new(name.clone(), does.span);
    match &does.value {
        StateKindDraft::Run(job) => {
            if let Some((id, job)) = names.job(&spanned(job), JobKind::Run, found) {
                parameters(written, job, names, found);
                let attempts = attempts(written, draft, job, found);
                plan.run(job, true, names.slots.is_fixed(written));
                plan.kind = StateKind::Run(work(id, job, attempts));
                governed_tools(written, job, found);
            }
        }
        StateKindDraft::Decide(job) => {
            no_limits(&written.limits, false, "a `decide` state", found);
            if let Some((id, job)) = names.job(&spanned(job), JobKind::Decide, found) {
                parameters(written, job, names, found);
                plan.pure(job, names.slots.is_fixed(written));
                plan.kind = StateKind::Decide(id);
            }
        }
        StateKindDraft::FanOut { over, run, join, max_parallel, max_items } => {
            let over = names.list(over, found);
            let run = names.job(run, JobKind::Run, found);
            let join = names.job(join, JobKind::Join, found);
            if *max_parallel == 0 {
                let hint = "write 1 or more";
                found.add(Code::BadValue, does.span, "with zero, items would wait forever", hint);
            }
            if let (Some((id, run)), Some((join_id, join))) = (run, join) {
                parameters(written, run, names, found);
                let attempts = attempts(written, draft, run, found);
                plan.pure(join, false);
                plan.run(run, false, false);
                plan.kind = StateKind::FanOut {
                    work: work(id, run, attempts),
                    over: over.unwrap_or_default(),
                    join: join_id,
                    max_parallel: *max_parallel,
                    max_items: *max_items,
                };
                governed_tools(written, run, found);
            }
        }
        StateKindDraft::Await(events) => {
            no_limits(&written.limits, true, "an await state", found);
            let timeout = written.limits.timeout.as_ref().map(|timeout| timeout.value);
            if events.is_empty() {
                let hint = "list the events";
                found.add(Code::BadValue, does.span, "an await state needs an event", hint);
            }
            let numbers = events.iter().filter_map(|event| names.event(event, found)).collect();
            plan.ends = Some(events.iter().map(|e| (e.value.clone(), Influence::None)).collect());
            plan.timeout = timeout.is_some();
            plan.kind = StateKind::Await { events: numbers, timeout };
        }
        StateKindDraft::Final(end) => {
            no_limits(&written.limits, false, "a final state", found);
            plan.ends = Some(Vec::new());
            plan.kind = StateKind::Final(*end);
        }
        StateKindDraft::BetweenAttemptsOf(of) => {
            no_limits(&written.limits, false, "a label", found);
            plan.ends = Some(Vec::new());
            plan.kind =
                StateKind::BetweenAttemptsOf(label(&spanned(of), draft, names, found, false));
        }
        StateKindDraft::WhileAsking(of) => {
            no_limits(&written.limits, false, "a label", found);
            plan.ends = Some(Vec::new());
            plan.kind = StateKind::WhileAsking(label(&spanned(of), draft, names, found, true));
        }
    }
    plan
}

impl StatePlan {
    /// Takes a job's own outcomes; `fixed` is a job that is given no words of a model.
    fn pure(&mut self, job: &JobDecl, fixed: bool) {
        let ends =
            job.outcomes.iter().map(|(name, it)| ((*name).into(), influence(*it, job, fixed)));
        self.ends = Some(ends.collect());
        self.open = job.open.map(|it| influence(it, job, fixed));
    }

    /// Adds the kernel's outcomes for a job with effects: alone it ends the state, in a fan-out
    /// its failures are an item's result.
    fn run(&mut self, job: &JobDecl, alone: bool, fixed: bool) {
        if alone {
            self.pure(job, fixed);
            self.failed = job.fails.map(|it| influence(it, job, fixed));
            self.timeout = job.fails.is_some();
        }
        let proposed = influence(Influence::Proposal, job, fixed);
        let watched = matches!(job.governed, Governance::Turns | Governance::Calls);
        self.stuck = watched.then_some(proposed);
        self.denied = (alone && job.governed.calls()).then_some(match job.governed {
            Governance::Own => Influence::None,
            Governance::No | Governance::Turns | Governance::Calls => proposed,
        });
    }
}

const fn work(job: crate::id::JobId, decl: &JobDecl, attempts: Attempts) -> Work {
    let JobDecl { governed, tasks, worst, person, .. } = *decl;
    Work { job, governed, tasks, worst, attempts, person }
}

/// Matches a state's `on` with the ways that it can end.
fn routes(
    written: &StateDraft,
    plan: StatePlan,
    names: &NameTable<'_>,
    table: &mut StateTable,
    found: &mut Findings,
) -> State {
    let mut expected = plan.ends.clone().unwrap_or_default();
    if let Some(influence) = plan.open {
        let fresh = |name: &String| {
            expected.iter().all(|(known, _)| known != name) && !RESERVED.contains(&name.as_str())
        };
        let more: Vec<_> = written.on.iter().map(|edge| &edge.outcome.value).collect();
        let more: Vec<_> = more.into_iter().filter(|name| fresh(name)).cloned().collect();
        expected.extend(more.into_iter().map(|name| (name, influence)));
    }
    let on = |name: &str| written.on.iter().any(|edge| edge.outcome.as_str() == name);
    let mut added = KernelOutcomes::default();
    let mut next = u8::try_from(expected.len()).unwrap_or(u8::MAX);
    let mut add = |name: &str, influence: Influence, slot: &mut Option<Outcome>| {
        *slot = Some(Outcome(next));
        next = next.saturating_add(1);
        expected.push((name.into(), influence));
    };
    if let Some(influence) = plan.failed {
        add("failed", influence, &mut added.failed);
    }
    if plan.timeout && (plan.failed.is_none() || on("timeout")) {
        add("timeout", Influence::None, &mut added.timeout);
    } else {
        added.timeout = added.failed;
    }
    if let Some(influence) = plan.stuck {
        add("stuck", influence, &mut added.stuck);
    }
    if let Some(influence) = plan.denied {
        add("denied", influence, &mut added.denied);
    }

    let mut edges: Vec<(&Name, Edge)> = Vec::new();
    for edge in &written.on {
        let to = edge.to.as_ref().and_then(|to| names.target(to, found));
        table.targets_known &= to.is_some();
        let spend = edge.spend.as_ref().map(|name| names.budget(name, found));
        table.spends_known &= spend != Some(None);
        if let Some(to) = to {
            edges.push((&edge.outcome, Edge { to, spend: spend.flatten() }));
        }
        // Where the job is unknown, so are its outcomes.
        let known = expected.iter().any(|(name, _)| *name == *edge.outcome.value);
        if plan.ends.is_some() && !known {
            let message = format!("state `{}` cannot end in `{}`", *written.name, *edge.outcome);
            let hint = if expected.is_empty() {
                String::from("this state has no outcomes; remove the route")
            } else {
                did_you_mean(&edge.outcome, expected.iter().map(|(name, _)| name.as_str()), "way")
            };
            found.add(Code::Impossible, edge.outcome.span, message, hint);
        }
    }
    for (name, _) in expected.iter().filter(|(name, _)| plan.ends.is_some() && !on(name)) {
        let message = format!("state `{}` does not route `{name}`", *written.name);
        found.add(Code::Unrouted, written.name.span, message, format!("add `on.{name} = \"…\"`"));
        table.targets_known = false;
    }
    // Where it is not known how a state ends, its routes say nothing.
    table.targets_known &= plan.ends.is_some();
    table.spends_known &= plan.ends.is_some();

    let routes = expected.into_iter().filter_map(|(name, influence)| {
        let (_, edge) = edges.iter().find(|(outcome, _)| outcome.value == name)?;
        Some(Route { name: name.into_boxed_str(), edge: *edge, influence })
    });
    State {
        name: written.name.as_str().into(),
        kind: plan.kind,
        routes: routes.collect(),
        kernel_outcomes: added,
        tools: plan.tools,
        with: written.with.as_ref().map(|with| with.value.clone()),
    }
}
