//! A chart written in Rust: the same draft that the TOML reader makes.

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, vec::Vec};

use serde_json::value::RawValue;

use super::{
    Authority, Charge, Chart, Disposition, RefusedChart,
    draft::{
        AnyDraft, AttemptLimits, Backoff, BudgetDraft, ChartDraft, EdgeDraft, Name, Spanned,
        StateDraft, StateKindDraft, ToolsDraft,
    },
    verify::check,
};
use crate::{
    diagnostic::{Findings, Span},
    job::Registry,
};

/// Builds a chart in Rust; [`ChartBuilder::verify`] applies every rule that a file meets.
#[derive(Clone, Debug)]
pub struct ChartBuilder(ChartDraft);

/// Builds one state.
#[derive(Clone, Debug)]
pub struct StateBuilder(StateDraft);

fn sp<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn name(text: &str) -> Name {
    sp(text.to_owned())
}

impl ChartBuilder {
    /// Starts a chart that uses an agent's jobs and begins in the given state.
    pub fn new(chart: &str, jobs: &str, start: &str, authority: Authority) -> Self {
        Self(ChartDraft {
            chart: name(chart),
            version: 1,
            jobs: name(jobs),
            start: Some(name(start)),
            authority: Some(authority),
            ..ChartDraft::default()
        })
    }

    /// Declares a budget that edges spend.
    #[must_use]
    pub fn budget(self, budget: &str, max: u64, otherwise: &str) -> Self {
        self.with_budget(budget, max, None, None, otherwise)
    }

    /// Declares a budget that edges spend and that something refills: an earlier
    /// budget, or `"await"`.
    #[must_use]
    pub fn budget_reset_by(self, budget: &str, max: u64, by: &str, otherwise: &str) -> Self {
        self.with_budget(budget, max, None, Some(by), otherwise)
    }

    /// Declares a budget that the kernel charges.
    #[must_use]
    pub fn charge(self, budget: &str, max: u64, charge: Charge, otherwise: &str) -> Self {
        self.with_budget(budget, max, Some(charge), None, otherwise)
    }

    fn with_budget(
        mut self,
        budget: &str,
        max: u64,
        charge: Option<Charge>,
        reset: Option<&str>,
        otherwise: &str,
    ) -> Self {
        self.0.budgets.push(BudgetDraft {
            name: name(budget),
            max,
            charge,
            reset: reset.map(name),
            otherwise: Some(name(otherwise)),
        });
        self
    }

    /// Says where cancelling leads.
    #[must_use]
    pub fn cancel(mut self, to: &str) -> Self {
        self.0.any = AnyDraft { cancel: Some(name(to)), ..self.0.any };
        self
    }

    /// Says where cancelling a turn leads.
    #[must_use]
    pub fn cancel_turn(mut self, to: &str) -> Self {
        self.0.any.cancel_turn = Some(name(to));
        self
    }

    /// Says where shutting down leads.
    #[must_use]
    pub fn shutdown(mut self, to: &str) -> Self {
        self.0.any.shutdown = Some(name(to));
        self
    }

    /// Declares a slot, with its default.
    #[must_use]
    pub fn slot(mut self, slot: &str, holds: &str) -> Self {
        self.0.slots.push((name(slot), holds.into()));
        self
    }

    /// Adds the next state; the order is the rank.
    #[must_use]
    pub fn state(mut self, state: StateBuilder) -> Self {
        self.0.states.push(state.0);
        self
    }

    /// Verifies the chart.
    pub fn verify(&self, registry: &Registry<'_>) -> Result<Chart, RefusedChart> {
        check(&self.0, registry, Findings::default())
    }
}

impl StateBuilder {
    fn new(state: &str, does: StateKindDraft) -> Self {
        Self(StateDraft {
            name: name(state),
            kind: Some(sp(does)),
            limits: AttemptLimits::default(),
            tools: None,
            with: None,
            places: BTreeMap::new(),
            on: Vec::new(),
        })
    }

    /// A state that runs a job, each attempt with this timeout in milliseconds.
    pub fn run(state: &str, job: &str, timeout: u64) -> Self {
        let mut built = Self::new(state, StateKindDraft::Run(job.to_owned()));
        built.0.limits.timeout = Some(sp(timeout));
        built
    }

    /// A state that settles a pure job.
    pub fn decide(state: &str, job: &str) -> Self {
        Self::new(state, StateKindDraft::Decide(job.to_owned()))
    }

    /// A state that waits for events.
    pub fn awaits(state: &str, events: &[&str]) -> Self {
        Self::new(state, StateKindDraft::Await(events.iter().map(|event| name(event)).collect()))
    }

    /// A state that runs a job for each item of a list and joins the results.
    pub fn fan_out(state: &str, over: &str, run: &str, join: &str, timeout: u64) -> Self {
        let does = StateKindDraft::FanOut {
            over: name(over),
            run: name(run),
            join: name(join),
            max_parallel: 1,
            max_items: 1,
        };
        let mut built = Self::new(state, does);
        built.0.limits.timeout = Some(sp(timeout));
        built
    }

    /// A state that ends the run.
    pub fn ends(state: &str, disposition: Disposition) -> Self {
        Self::new(state, StateKindDraft::Final(disposition))
    }

    /// Limits a fan-out: items at once, and items in all.
    #[must_use]
    pub fn items(mut self, parallel: u16, items: u16) -> Self {
        if let Some(StateKindDraft::FanOut { max_parallel, max_items, .. }) =
            self.0.kind.as_mut().map(|does| &mut does.value)
        {
            (*max_parallel, *max_items) = (parallel, items);
        }
        self
    }

    /// Tries the job so often, the first try included, with these waiting times.
    #[must_use]
    pub fn attempts(mut self, max: u16, base: u64, cap: u64) -> Self {
        self.0.limits.attempts = Some(sp(max));
        self.0.limits.backoff = Some(sp(Backoff { base, cap }));
        self
    }

    /// Lets an await continue by `timeout` after this many milliseconds.
    #[must_use]
    pub fn timeout(mut self, timeout: u64) -> Self {
        self.0.limits.timeout = Some(sp(timeout));
        self
    }

    /// Makes an attempt the last one when a provider asks for a longer wait.
    #[must_use]
    pub fn hint_cap(mut self, ms: u64) -> Self {
        self.0.limits.hint_cap = Some(sp(ms));
        self
    }

    /// Gives a person this many milliseconds to answer.
    #[must_use]
    pub fn ask_timeout(mut self, ms: u64) -> Self {
        self.0.limits.ask_timeout = Some(sp(ms));
        self
    }

    /// Allows every tool.
    #[must_use]
    pub fn all_tools(mut self) -> Self {
        self.0.tools = Some(sp(ToolsDraft::All));
        self
    }

    /// Allows these tools.
    #[must_use]
    pub fn tools(mut self, tools: &[&str]) -> Self {
        self.0.tools = Some(sp(ToolsDraft::Only(tools.iter().map(|tool| name(tool)).collect())));
        self
    }

    /// Gives the job its parameters: a JSON object.
    #[must_use]
    pub fn with(mut self, parameters: Box<RawValue>) -> Self {
        self.0.with = Some(sp(parameters));
        self
    }

    /// Routes an outcome.
    #[must_use]
    pub fn on(mut self, outcome: &str, to: &str) -> Self {
        self.0.on.push(EdgeDraft { outcome: name(outcome), to: Some(name(to)), spend: None });
        self
    }

    /// Routes an outcome along an edge that spends a budget.
    #[must_use]
    pub fn on_spending(mut self, outcome: &str, to: &str, budget: &str) -> Self {
        let spend = Some(name(budget));
        self.0.on.push(EdgeDraft { outcome: name(outcome), to: Some(name(to)), spend });
        self
    }
}
