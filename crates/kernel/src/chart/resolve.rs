//! Names to ids, with a finding for every name that means nothing.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    sync::Arc,
    vec::Vec,
};

use super::{
    draft::{ChartDraft, Name, StateKindDraft},
    slots::Slots,
};
use crate::{
    code::Code,
    diagnostic::{Findings, did_you_mean},
    id::{BudgetId, JobId, StateId},
    job::{AgentDecl, JobDecl, JobKind, Registry, SERVERS, ToolShape},
};

/// Everything that a chart can name.
pub(super) struct NameTable<'a> {
    draft: &'a ChartDraft,
    pub(super) registry: &'a Registry<'a>,
    /// The agent of `jobs`, if it is known.
    pub(super) agent: Option<&'a AgentDecl>,
    states: BTreeMap<&'a str, StateId>,
    /// States by their corrected names, where their own are invalid.
    ill_named: BTreeMap<String, StateId>,
    budgets: BTreeMap<&'a str, BudgetId>,
    /// The names of states and budgets, for hints.
    known_states: Arc<[Box<str>]>,
    known_budgets: Arc<[Box<str>]>,
    pub(super) slots: Slots<'a>,
}

impl<'a> NameTable<'a> {
    pub(super) fn new(
        draft: &'a ChartDraft,
        registry: &'a Registry<'a>,
        found: &mut Findings,
    ) -> Self {
        let agent = registry.agents.iter().find(|agent| agent.name == draft.jobs.as_str());
        if agent.is_none() {
            let hint = did_you_mean(&draft.jobs, registry.agents.iter().map(|a| a.name), "agent");
            let message = format!("no agent is called `{}`", *draft.jobs);
            found.add(Code::UnknownAgent, draft.jobs.span, message, hint);
        }
        // A file cannot name two states alike; a builder can.
        let mut names = BTreeSet::new();
        for name in draft.states.iter().map(|state| &state.name) {
            if !names.insert(name.as_str()) {
                let message = format!("two states are called `{}`", **name);
                found.add(Code::BadValue, name.span, message, "give one of them another name");
            }
        }
        let states = (0..).map(StateId).zip(&draft.states);
        let states = states.map(|(id, state)| (state.name.as_str(), id));
        let budgets = (0..).map(BudgetId).zip(&draft.budgets);
        let ill_named = states.clone().filter(|(name, _)| !is_well_named(name));
        let known = states.clone().map(|(name, _)| name).filter(|name| is_well_named(name));
        Self {
            draft,
            registry,
            agent,
            ill_named: ill_named.map(|(name, id)| (plain(name), id)).collect(),
            known_states: known.map(Into::into).collect(),
            states: states.collect(),
            budgets: budgets.map(|(id, budget)| (budget.name.as_str(), id)).collect(),
            known_budgets: draft.budgets.iter().map(|it| it.name.as_str().into()).collect(),
            slots: Slots::of(draft, agent),
        }
    }

    pub(super) fn budget_ids(&self) -> impl Iterator<Item = BudgetId> + use<> {
        (0..u8::try_from(self.draft.budgets.len()).unwrap_or(u8::MAX)).map(BudgetId)
    }

    /// Returns the state of that name, of any kind.
    pub(super) fn state(&self, name: &Name, found: &mut Findings) -> Option<StateId> {
        let id = self.states.get(name.as_str()).or_else(|| self.ill_named.get(name.as_str()));
        if id.is_none() {
            found.unknown(Code::UnknownState, name, &self.known_states, "state");
        }
        id.copied()
    }

    /// Returns the state of that name, if a run can go there.
    pub(super) fn target(&self, name: &Name, found: &mut Findings) -> Option<StateId> {
        let id = self.state(name, found)?;
        match self.kind(id) {
            Some(StateKindDraft::BetweenAttemptsOf(of) | StateKindDraft::WhileAsking(of)) => {
                let message = format!("`{}` is only a label for `{of}`", **name);
                found.add(Code::LabelTarget, name.span, message, format!("route to `{of}`"));
                None
            }
            _ => Some(id),
        }
    }

    /// Returns whether nothing runs in the state.
    pub(super) fn rests(&self, id: StateId) -> bool {
        // A state that could not be read was complained of already.
        self.kind(id)
            .is_none_or(|does| matches!(does, StateKindDraft::Final(_) | StateKindDraft::Await(_)))
    }

    pub(super) fn kind(&self, id: StateId) -> Option<&'a StateKindDraft> {
        self.draft.states.get(id.index())?.kind.as_ref().map(|does| &does.value)
    }

    pub(super) fn budget(&self, name: &Name, found: &mut Findings) -> Option<BudgetId> {
        let id = self.budgets.get(name.as_str()).copied();
        if id.is_none() {
            found.unknown(Code::UnknownBudget, name, &self.known_budgets, "budget");
        }
        id
    }

    /// Returns a job of the chart's agent, if it fits its place.
    pub(super) fn job(
        &self,
        name: &Name,
        kind: JobKind,
        found: &mut Findings,
    ) -> Option<(JobId, &'static JobDecl)> {
        let jobs = self.agent?.jobs;
        let Some(at) = jobs.iter().position(|job| job.name == name.as_str()) else {
            let message = format!("agent `{}` has no job `{}`", *self.draft.jobs, **name);
            let fitting = jobs.iter().filter(|job| job.kind == kind).map(|job| job.name);
            found.add(Code::UnknownJob, name.span, message, did_you_mean(name, fitting, "job"));
            return None;
        };
        let job = jobs.get(at)?;
        if job.kind != kind {
            let place = |kind| match kind {
                JobKind::Run => "`run`",
                JobKind::Decide => "`decide`",
                JobKind::Join => "the `join` of a `fan_out`",
            };
            let message = format!("`{}` cannot be used in {}", **name, place(kind));
            found.add(
                Code::WrongKind,
                name.span,
                message,
                format!("use it in {}", place(job.kind)),
            );
            return None;
        }
        Some((JobId(u16::try_from(at).ok()?), job))
    }

    pub(super) fn event(&self, name: &Name, found: &mut Findings) -> Option<u16> {
        let events = self.agent?.events;
        position(name, events, Code::UnknownEvent, "event", found)
    }

    pub(super) fn list(&self, name: &Name, found: &mut Findings) -> Option<u16> {
        let lists = self.agent?.lists;
        position(name, lists, Code::UnknownList, "list", found)
    }

    /// Returns the declaration of a tool; tools of MCP servers are unknown.
    pub(super) fn tool(&self, name: &Name, found: &mut Findings) -> Option<&'a ToolShape<'a>> {
        let tools = self.registry.tools;
        let tool = tools.iter().find(|tool| tool.name == name.as_str());
        if tool.is_none() && !name.starts_with(SERVERS) {
            let message = format!("no tool is called `{}`", **name);
            let known = tools.iter().map(|tool| tool.name);
            found.add(Code::UnknownTool, name.span, message, did_you_mean(name, known, "tool"));
        }
        tool
    }
}

/// Returns whether a name is lower-case letters, digits and underscores, a letter first.
pub(super) fn is_well_named(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    starts && name.bytes().all(plain)
}

/// Returns a name as it should be written: lower case, with underscores.
pub(super) fn plain(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '-' { '_' } else { c }).collect()
}

fn position(
    name: &Name,
    known: &[&str],
    code: Code,
    what: &str,
    found: &mut Findings,
) -> Option<u16> {
    let at = known.iter().position(|known| *known == name.as_str());
    if at.is_none() {
        let message = format!("no {what} is called `{}`", **name);
        let known: Vec<&str> = known.to_vec();
        found.add(code, name.span, message, did_you_mean(name, known.into_iter(), what));
    }
    at.and_then(|at| u16::try_from(at).ok())
}
