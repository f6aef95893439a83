//! Reading a chart: its names, and where an outcome leads.

use alloc::boxed::Box;

use super::{
    AllowedTools, AnyState, Authority, AuthorityReport, Budget, Certificate, Charge, Chart, Edge,
    KernelOutcomes, Reset, Route, State, StateKind, StuckThresholds,
};
use crate::{
    id::{BudgetId, Digest, Outcome, StateId},
    job::Influence,
};

impl Chart {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version that the file declares.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Returns the digest of the chart's meaning: comments and layout do not count.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the name of the agent whose jobs the chart uses.
    pub fn jobs(&self) -> &str {
        &self.jobs
    }

    /// Returns how far a model may decide.
    pub const fn authority(&self) -> Authority {
        self.authority
    }

    /// Returns the first state.
    pub const fn start(&self) -> StateId {
        self.start
    }

    /// Returns every state, in the order of the file.
    pub const fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns every budget, in the order of the file.
    pub const fn budgets(&self) -> &[Budget] {
        &self.budgets
    }

    /// Returns where cancelling leads.
    pub const fn any(&self) -> AnyState {
        self.any
    }

    /// Returns the named rules of the governor.
    pub const fn stuck(&self) -> &StuckThresholds {
        &self.stuck
    }

    /// Returns the slots that something fills, for charts whose data is slots.
    pub const fn slots(&self) -> &[Box<str>] {
        &self.slots
    }

    /// Returns the defaults of the chart's own slots.
    pub const fn filled(&self) -> &[(Box<str>, serde_json::Value)] {
        &self.filled
    }

    /// Returns the slots that a run cannot start without.
    pub const fn needs(&self) -> &[Box<str>] {
        &self.needs
    }

    /// Returns the proved bounds.
    pub const fn certificate(&self) -> Certificate {
        self.certificate
    }

    /// Returns every edge that model output can influence.
    pub const fn authority_report(&self) -> &AuthorityReport {
        &self.report
    }

    /// Returns a state; ids come from this very chart.
    pub fn state(&self, id: StateId) -> Option<&State> {
        self.states.get(id.index())
    }

    /// Returns a budget; ids come from this very chart.
    pub fn budget(&self, id: BudgetId) -> Option<&Budget> {
        self.budgets.get(id.index())
    }

    /// Returns a state's name, or a question mark for an id of another chart.
    pub fn state_name(&self, id: StateId) -> &str {
        self.state(id).map_or("?", |state| &state.name)
    }

    /// Returns the state of that name.
    pub fn find(&self, name: &str) -> Option<StateId> {
        let at = self.states.iter().position(|state| &*state.name == name)?;
        u16::try_from(at).ok().map(StateId)
    }

    /// Returns the ids of all states.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..u16::try_from(self.states.len()).unwrap_or(u16::MAX)).map(StateId)
    }

    /// Returns the ids of all budgets.
    pub fn budget_ids(&self) -> impl Iterator<Item = BudgetId> + use<> {
        (0..u8::try_from(self.budgets.len()).unwrap_or(u8::MAX)).map(BudgetId)
    }

    /// Returns the name under which a run in `state` is seen while its next attempt waits.
    pub fn between_attempts(&self, state: StateId) -> Option<StateId> {
        self.label(|does| matches!(does, StateKind::BetweenAttemptsOf(of) if *of == state))
    }

    /// Returns the name under which a run in `state` is seen while a person is asked.
    pub fn while_asking(&self, state: StateId) -> Option<StateId> {
        self.label(|does| matches!(does, StateKind::WhileAsking(of) if *of == state))
    }

    fn label(&self, is: impl Fn(&StateKind) -> bool) -> Option<StateId> {
        self.state_ids().find(|id| self.state(*id).is_some_and(|state| is(&state.kind)))
    }
}

impl State {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its kind.
    pub const fn kind(&self) -> &StateKind {
        &self.kind
    }

    /// Returns every way out.
    pub const fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Returns one way out.
    pub fn route(&self, outcome: Outcome) -> Option<&Route> {
        self.routes.get(outcome.index())
    }

    /// Returns the outcome of that name.
    pub fn outcome(&self, name: &str) -> Option<Outcome> {
        let at = self.routes.iter().position(|route| &*route.name == name)?;
        u8::try_from(at).ok().map(Outcome)
    }

    /// Returns the outcomes that the kernel adds.
    pub const fn kernel_outcomes(&self) -> KernelOutcomes {
        self.kernel_outcomes
    }

    /// Returns the tools that it allows.
    pub const fn tools(&self) -> &AllowedTools {
        &self.tools
    }

    /// Returns the job's parameters, as JSON.
    pub fn with(&self) -> Option<&str> {
        self.with.as_deref().map(serde_json::value::RawValue::get)
    }

    /// Returns whether a run ends here.
    pub const fn is_final(&self) -> bool {
        matches!(self.kind, StateKind::Final(_))
    }

    /// Returns whether a run waits here for an event.
    pub const fn is_await(&self) -> bool {
        matches!(self.kind, StateKind::Await { .. })
    }

    /// Returns whether it is only a label.
    pub const fn is_label(&self) -> bool {
        matches!(self.kind, StateKind::BetweenAttemptsOf(_) | StateKind::WhileAsking(_))
    }
}

impl Route {
    /// Returns the outcome's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it leads.
    pub const fn edge(&self) -> Edge {
        self.edge
    }

    /// Returns how far model output can bring it about.
    pub const fn influence(&self) -> Influence {
        self.influence
    }
}

impl Budget {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how much it permits.
    pub const fn max(&self) -> u64 {
        self.max
    }

    /// Returns its charge, if edges do not spend it.
    pub const fn charge(&self) -> Option<Charge> {
        self.charge
    }

    /// Returns what refills it.
    pub const fn reset(&self) -> Option<Reset> {
        self.reset
    }

    /// Returns where a run goes that would spend more.
    pub const fn otherwise(&self) -> StateId {
        self.otherwise
    }
}
