//! The certificate: the worst-case cost of a run, or of a turn.
//!
//! A chart that passed the loop rule walks a finite space: its states times the balances of its
//! budgets. If that space is small, the worst walk is searched exactly; if not, [`levels`] bounds
//! it by composing loops from the innermost out, which is exact for a chain of resets. Charges cut
//! the result.

use alloc::{vec, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Charge, Chart, Reset, State, StateKind, levels, reach};
use crate::{
    id::{BudgetId, StateId},
    job::Child,
};

/// Proved upper bounds. Time spent waiting for people does not count.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Certificate {
    /// The scope of the bounds.
    pub per: CertificateScope,
    /// State visits, the final one included.
    pub steps: u64,
    /// Calls of a model.
    pub model_calls: u64,
    /// Calls of a tool.
    pub tool_calls: u64,
    /// Milliseconds of work and of waiting between attempts.
    pub time_ms: u64,
    /// Tokens, where a budget limits them: beyond it no call starts, and the call that
    /// reached it is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Millionths of a currency unit, in the same way. It counts only known prices: a model
    /// without a price is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<u64>,
}

/// The scope of a certificate.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CertificateScope {
    /// The whole run.
    #[default]
    Run,
    /// From one received event to the next: some await can be reached again.
    Turn,
}

/// Where the exact search gives way to the bound by levels.
const EXACT: u64 = 1 << 18;
/// A larger bound is useless, and numbers in JSON lose digits.
const USEFUL: u64 = 9_000_000_000_000_000;

/// The four measures of one visit, or of a walk.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Cost(pub(super) [u64; 4]);

impl Cost {
    /// Returns the cost of this and then that.
    pub(super) fn then(self, after: Self) -> Self {
        let mut sum = self;
        for (sum, after) in sum.0.iter_mut().zip(after.0) {
            *sum = sum.saturating_add(after);
        }
        sum
    }

    /// Returns the worse of the two, measure by measure.
    pub(super) fn max(self, other: Self) -> Self {
        let mut most = self;
        for (most, other) in most.0.iter_mut().zip(other.0) {
            *most = (*most).max(other);
        }
        most
    }
}

/// The chart as the walk sees it.
pub(super) struct CostGraph<'a> {
    pub(super) chart: &'a Chart,
    pub(super) per: CertificateScope,
    pub(super) visit: Vec<Cost>,
    /// A budget that is closed from the start.
    pub(super) closed: Option<BudgetId>,
    /// Whether the walk begins with unknown balances.
    pub(super) midway: bool,
}

/// Returns the bounds, or nothing where they are too large to be of use.
pub(super) fn certify(chart: &Chart, children: &[Child<'_>]) -> Option<Certificate> {
    let per = if chart.state_ids().any(|id| comes_back(chart, id)) {
        CertificateScope::Turn
    } else {
        CertificateScope::Run
    };
    let visit = chart.states.iter().map(|state| visit(state, children)).collect();
    let mut ground = CostGraph { chart, per, visit, closed: None, midway: false };
    let starts = ground.starts();
    let Cost([steps, model_calls, tool_calls, time_ms]) = ground.worst(&starts);
    let (tokens, money) = (None, None);
    let mut certificate =
        Certificate { per, steps, model_calls, tool_calls, time_ms, tokens, money };
    for budget in chart.budget_ids() {
        ground.cut(budget, &starts, &mut certificate);
    }
    (certificate.steps.max(certificate.time_ms) <= USEFUL).then_some(certificate)
}

/// Returns whether an await state can be reached again from itself.
fn comes_back(chart: &Chart, id: StateId) -> bool {
    if !chart.state(id).is_some_and(State::is_await) {
        return false;
    }
    let mut reached = vec![false; chart.states.len()];
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        let running = chart.state(at).is_some_and(|state| !state.is_final());
        let any = [chart.any.cancel_turn, chart.any.shutdown, Some(chart.any.cancel)];
        let any = any.into_iter().flatten().filter(|to| running && *to != at);
        for to in reach::next(chart, at).chain(any) {
            match reached.get_mut(to.index()) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            open.push(to);
        }
    }
    reached.get(id.index()) == Some(&true)
}

/// Returns the worst-case cost of one visit of a state.
fn visit(state: &State, children: &[Child<'_>]) -> Cost {
    let (work, items, parallel) = match &state.kind {
        StateKind::Run(work) => (work, 1, 1),
        StateKind::FanOut { work, max_items, max_parallel, .. } => {
            (work, u64::from(*max_items), u64::from(*max_parallel).max(1))
        }
        StateKind::BetweenAttemptsOf(_) | StateKind::WhileAsking(_) => return Cost::default(),
        StateKind::Decide(_) | StateKind::Await { .. } | StateKind::Final(_) => {
            return Cost([1, 0, 0, 0]);
        }
    };
    let limits = work.attempts;
    let tries = u64::from(limits.max);
    let mut models = u64::from(work.worst.model_calls);
    let mut tools = u64::from(work.worst.tool_calls);
    if let Some(child) = child(state).and_then(|name| children.iter().find(|it| it.name == name)) {
        models = models.saturating_add(child.certificate.model_calls);
        tools = tools.saturating_add(child.certificate.tool_calls);
    }
    let waits = limits.cap.max(limits.hint_cap).saturating_mul(tries.saturating_sub(1));
    // A person's time is not the run's.
    let attempt = if work.person { 0 } else { limits.timeout };
    let time = attempt.saturating_mul(tries).saturating_add(waits);
    let times = |each: u64| each.saturating_mul(tries).saturating_mul(items);
    // An item that a person is asked about between its orders or its attempts gives
    // its place away, and then rounds say nothing: the last item to end has waited
    // while the others kept every place busy.
    let asks_midway = work.governed.calls() && (work.tasks > 1 || tries > 1);
    let time = if asks_midway && items > parallel {
        let others = time.saturating_mul(items.saturating_sub(1));
        time.saturating_add(others.checked_div(parallel).unwrap_or(others))
    } else {
        time.saturating_mul(items.div_ceil(parallel))
    };
    Cost([1, times(models), times(tools), time])
}

/// Returns the chart that a state runs as a child.
fn child(state: &State) -> Option<alloc::string::String> {
    #[derive(Deserialize)]
    struct With {
        chart: alloc::string::String,
    }
    serde_json::from_str(state.with()?).ok().map(|With { chart }| chart)
}

impl CostGraph<'_> {
    /// Returns the cost of the worst walk from any of these states.
    fn worst(&self, starts: &[StateId]) -> Cost {
        match self.space() {
            Some(_) => self.exact(starts),
            None => levels::bound(self, starts),
        }
    }

    /// Returns where a walk can begin.
    fn starts(&self) -> Vec<StateId> {
        let chart = self.chart;
        if self.per == CertificateScope::Run {
            return vec![chart.start];
        }
        let any = [Some(chart.any.cancel), chart.any.cancel_turn, chart.any.shutdown];
        let mut starts: Vec<StateId> = any.into_iter().flatten().collect();
        starts.push(chart.start);
        let timed = chart.budgets.iter().filter(|budget| budget.charge == Some(Charge::Time));
        starts.extend(timed.map(|budget| budget.otherwise));
        for state in chart.states.iter().filter(|state| state.is_await()) {
            for route in events(state) {
                starts.push(route.edge.to);
                starts
                    .extend(route.edge.spend.and_then(|id| chart.budget(id)).map(|b| b.otherwise));
            }
        }
        starts
    }

    /// Returns whether this way begins a new turn, which the walk does not follow.
    pub(super) fn ends_turn(&self, state: &State, at: usize) -> bool {
        self.per == CertificateScope::Turn && state.is_await() && !is_timeout(state, at)
    }

    /// Returns whether every walk ends in this state.
    pub(super) fn is_last(&self, id: StateId) -> bool {
        let Some(state) = self.chart.state(id) else { return true };
        (0..state.routes.len()).all(|at| self.ends_turn(state, at))
    }

    /// Returns a budget's limit as the walk counts it: a charge runs out whenever it likes.
    pub(super) fn max(&self, id: BudgetId) -> u64 {
        self.chart.budget(id).map_or(0, |it| if it.charge.is_some() { 0 } else { it.max })
    }

    /// Returns the size of the space that an exact search walks, if it is small.
    fn space(&self) -> Option<u64> {
        let states = u64::try_from(self.chart.states.len()).ok()?;
        self.chart
            .budget_ids()
            .try_fold(states, |space, id| space.checked_mul(self.max(id).checked_add(2)?))
            .filter(|space| *space <= EXACT)
    }

    /// Returns how often a budget can be refilled.
    fn refills(&self, id: BudgetId) -> u64 {
        match self.chart.budget(id).and_then(|budget| budget.reset) {
            None => 0,
            Some(Reset::Await) if self.per == CertificateScope::Turn => 0,
            // No await comes back, so each is left by an event once at most.
            Some(Reset::Await) => {
                self.chart.states.iter().filter(|state| state.is_await()).count() as u64
            }
            Some(Reset::Spending(by)) => {
                let outer = self.refills(by);
                self.max(by).saturating_mul(outer.saturating_add(1)).saturating_add(outer)
            }
        }
    }

    /// Returns whether a charge can run out in this state.
    pub(super) fn runs_out(&self, state: &State, charge: Charge) -> bool {
        let work = match &state.kind {
            StateKind::Run(work) | StateKind::FanOut { work, .. } => work,
            // Time that is up together with another budget is seen to on the way out of
            // where that one's `else` has led; where events begin turns, in the next turn.
            StateKind::Decide(_) => return matches!(charge, Charge::Step | Charge::Time),
            StateKind::Await { .. } => {
                return charge == Charge::Step
                    || charge == Charge::Time && self.per == CertificateScope::Run;
            }
            StateKind::Final(_) | StateKind::BetweenAttemptsOf(_) | StateKind::WhileAsking(_) => {
                return false;
            }
        };
        let child = child(state).is_some();
        match charge {
            Charge::ModelCall | Charge::Token | Charge::Money => {
                work.worst.model_calls > 0 || child
            }
            Charge::ToolCall => work.worst.tool_calls > 0 || child,
            Charge::Interaction => work.worst.interactions > 0,
            Charge::Action => work.worst.actions > 0,
            Charge::Step | Charge::OutsideApp | Charge::Time => true,
        }
    }

    /// Returns how many non-final visits a budget's `else` can cause.
    fn free_visits(&self) -> u64 {
        let ids = self.chart.budget_ids().zip(&self.chart.budgets);
        let goes_on = ids
            .filter(|(_, budget)| !self.chart.state(budget.otherwise).is_some_and(State::is_final));
        goes_on.fold(0, |free, (id, _)| free.saturating_add(self.refills(id)).saturating_add(1))
    }

    /// Returns whether a budget may be used up at any time, because its balance at the start of
    /// the walk is unknown.
    pub(super) fn is_unsure(&self, id: BudgetId) -> bool {
        let spends = |state: &State| events(state).any(|route| route.edge.spend == Some(id));
        let mut awaits = self.chart.states.iter().filter(|state| state.is_await());
        self.midway
            || self.per == CertificateScope::Turn && (!self.is_fresh(id) || awaits.any(spends))
    }

    /// Returns whether every event refills a budget.
    fn is_fresh(&self, id: BudgetId) -> bool {
        match self.chart.budget(id).and_then(|budget| budget.reset) {
            None => false,
            Some(Reset::Await) => true,
            Some(Reset::Spending(by)) => self.is_fresh(by),
        }
    }

    /// Lowers a bound to the maximum of a charged budget.
    fn cut(&mut self, id: BudgetId, starts: &[StateId], to: &mut Certificate) {
        let Some(budget) = self.chart.budget(id) else { return };
        let periods = self.refills(id).saturating_add(1);
        let permits = budget.max.saturating_mul(periods);
        // A child's calls are charged when it ends, so it may exceed the balance.
        let alone = || !self.chart.states.iter().any(|state| child(state).is_some());
        match budget.charge {
            Some(Charge::ModelCall | Charge::ToolCall | Charge::Token | Charge::Money)
                if !alone() => {}
            Some(Charge::Token) => to.tokens = Some(to.tokens.unwrap_or(permits).min(permits)),
            Some(Charge::Money) => to.money = Some(to.money.unwrap_or(permits).min(permits)),
            Some(Charge::ModelCall) => to.model_calls = to.model_calls.min(permits),
            Some(Charge::ToolCall) => to.tool_calls = to.tool_calls.min(permits),
            Some(Charge::Step) => {
                // A state that any `else` leads to is entered free of charge, and so is
                // a final one.
                let most = permits.saturating_add(self.free_visits()).saturating_add(1);
                let Cost([_, model_calls, tool_calls, time_ms]) = self.paced(starts, most);
                to.steps = to.steps.min(most);
                to.model_calls = to.model_calls.min(model_calls);
                to.tool_calls = to.tool_calls.min(tool_calls);
                to.time_ms = to.time_ms.min(time_ms);
            }
            // A budget used up in an earlier turn no longer limits a later one.
            Some(Charge::Time) if self.per == CertificateScope::Turn && !self.is_fresh(id) => {}
            Some(Charge::Time) => {
                // Once it is used up, the states after `else` still take their time.
                self.closed = (periods == 1).then_some(id);
                self.midway = true;
                let Cost([_, _, _, rest]) = self.worst(&[budget.otherwise]);
                (self.closed, self.midway) = (None, false);
                let most = permits.saturating_add(rest.saturating_mul(periods));
                to.time_ms = to.time_ms.min(most);
            }
            Some(Charge::Interaction | Charge::Action | Charge::OutsideApp) | None => {}
        }
    }
}

pub(super) fn is_timeout(state: &State, at: usize) -> bool {
    state.kernel_outcomes.timeout.is_some_and(|timeout| timeout.index() == at)
}

/// Returns the ways of an await state that an event takes.
fn events(state: &State) -> impl Iterator<Item = &super::Route> {
    state
        .routes
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_timeout(state, *at))
        .map(|(_, route)| route)
}
