//! The view of a run for front ends: plain, named, ready to print.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::Serialize;

use crate::{
    chart::{Charge, Chart, Disposition, StateKind},
    effect::{Cause, Hop},
    erased::AppliedStep,
    governor::Verdict,
    id::{At, EffectId, Seq, StateId},
    run::{Core, ItemStatus},
};

/// A run at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunView {
    /// The chart's name.
    pub chart: Box<str>,
    /// The state.
    pub state: Box<str>,
    /// The name under which it is seen: a label of the chart, or the state again.
    pub seen_as: Box<str>,
    /// How it ended.
    pub ended: Option<Disposition>,
    /// Entries so far.
    pub entries: u64,
    /// States entered so far.
    pub visits: u64,
    /// Milliseconds since the first entry.
    pub now: At,
    /// Milliseconds in the state.
    pub in_state_ms: u64,
    /// Whether starts are stopped.
    pub paused: bool,
    /// When it must be woken.
    pub wake: Option<At>,
    /// Work in progress.
    pub items: Vec<ItemView>,
    /// The balances.
    pub budgets: Vec<BudgetView>,
}

/// One job in progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemView {
    /// The attempt; 0 before the first.
    pub attempt: u16,
    /// `queued`, `working`, `backing_off`, `asking` or `done`.
    pub doing: &'static str,
    /// The effect that is waited for.
    pub effect: Option<EffectId>,
    /// Until when.
    pub until: Option<At>,
}

/// The balance of a budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetView {
    /// Its name.
    pub name: Box<str>,
    /// The charge, if edges do not spend it.
    pub charge: Option<Charge>,
    /// The balance.
    pub left: u64,
    /// Its maximum.
    pub max: u64,
    /// Whether it was overspent once.
    pub closed: bool,
}

/// Returns the view of a run.
pub fn view(chart: &Chart, core: &Core) -> RunView {
    let waits = |is: fn(&ItemStatus) -> bool| core.items.iter().any(|item| is(&item.doing));
    let label = if waits(|doing| matches!(doing, ItemStatus::Asking { .. })) {
        chart.while_asking(core.state)
    } else if waits(|doing| matches!(doing, ItemStatus::BackingOff { .. })) {
        chart.between_attempts(core.state)
    } else {
        None
    };
    RunView {
        chart: chart.name().into(),
        state: chart.state_name(core.state).into(),
        seen_as: chart.state_name(label.unwrap_or(core.state)).into(),
        ended: core.ended,
        entries: core.next.0.saturating_sub(1),
        visits: core.visits,
        now: core.now,
        in_state_ms: core.now.since(core.entered),
        paused: core.paused,
        wake: core.wake,
        items: core.items.iter().map(|item| item_view(item.attempt, item.doing)).collect(),
        budgets: budgets(chart, core),
    }
}

const fn item_view(attempt: u16, doing: ItemStatus) -> ItemView {
    let (doing, effect, until) = match doing {
        ItemStatus::Queued => ("queued", None, None),
        ItemStatus::Working { effect, deadline, .. } => ("working", Some(effect), Some(deadline)),
        ItemStatus::BackingOff { until } => ("backing_off", None, Some(until)),
        ItemStatus::Asking { effect, expires, .. } => ("asking", Some(effect), Some(expires)),
        ItemStatus::Done => ("done", None, None),
    };
    ItemView { attempt, doing, effect, until }
}

fn budgets(chart: &Chart, core: &Core) -> Vec<BudgetView> {
    let budgets = chart.budgets().iter().zip(&core.balances);
    budgets
        .map(|(budget, balance)| BudgetView {
            name: budget.name().into(),
            charge: budget.charge(),
            left: balance.left,
            max: budget.max(),
            closed: balance.closed,
        })
        .collect()
}

/// Why a step went the way it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepExplanation {
    /// The entry.
    pub seq: Seq,
    /// When.
    pub at: At,
    /// The event's name.
    pub event: String,
    /// Every transition, with the ways that were not taken.
    pub hops: Vec<HopExplanation>,
    /// The governor's verdicts.
    pub verdicts: Vec<Verdict>,
    /// Why attempts failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The balances after the step.
    pub budgets: Vec<BudgetView>,
}

/// Why one transition was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopExplanation {
    /// The state that was left.
    pub from: Box<str>,
    /// `began`, an outcome, a budget, or a scope of cancelling.
    pub because: String,
    /// The state that was entered; none where the run ended where it was.
    pub to: Option<Box<str>>,
    /// The budget that was spent.
    pub spent: Option<Box<str>>,
    /// The other ways out, as (outcome, state).
    pub not_taken: Vec<(Box<str>, Box<str>)>,
}

/// Explains a step from its output and the core after it.
pub fn explain(chart: &Chart, core: &Core, event: &str, stepped: &AppliedStep) -> StepExplanation {
    // Attempts fail in the state that the step found, whether or not it was left then.
    let left = stepped.hops.iter().find(|hop| hop.by != Cause::Began).map(|hop| hop.from);
    let failed = stepped.failed.iter().map(|fault| match &*fault.message {
        "" => too_long(chart, left.unwrap_or(core.state)),
        message => message.into(),
    });
    StepExplanation {
        seq: Seq(core.next.0.saturating_sub(1)),
        at: core.now,
        event: event.into(),
        hops: stepped.hops.iter().map(|hop| explain_hop(chart, hop)).collect(),
        verdicts: stepped.verdicts.clone(),
        failed: failed.collect(),
        budgets: budgets(chart, core),
    }
}

/// Says that an attempt took too long, with its limit and where that is set.
fn too_long(chart: &Chart, state: StateId) -> String {
    let name = chart.state_name(state);
    match chart.state(state).map(crate::chart::State::kind) {
        Some(StateKind::Run(work) | StateKind::FanOut { work, .. }) => {
            let ms = work.attempts.timeout;
            let limit = match ms % 1_000 {
                0 => alloc::format!("{} s", ms / 1_000),
                _ => alloc::format!("{ms} ms"),
            };
            alloc::format!("it took too long: more than {limit}, the `timeout` of state `{name}`")
        }
        _ => "it took too long".into(),
    }
}

/// Explains one transition, by the names of the chart.
pub fn explain_hop(chart: &Chart, hop: &Hop) -> HopExplanation {
    let state = chart.state(hop.from);
    let outcome_name = |outcome| {
        state.and_then(|state| state.route(outcome)).map_or("?", crate::chart::Route::name)
    };
    let budget_name = |id| chart.budget(id).map_or("?", crate::chart::Budget::name);
    let (because, taken) = match hop.by {
        Cause::Began => (String::from("the run began"), None),
        Cause::Outcome(outcome) => (outcome_name(outcome).into(), Some(outcome)),
        Cause::Beyond { budget, outcome } => {
            let name = budget_name(budget);
            let because = match outcome {
                Some(outcome) => {
                    alloc::format!("{}, but `{name}` is used up", outcome_name(outcome))
                }
                None => alloc::format!("`{name}` is used up"),
            };
            (because, None)
        }
        Cause::Cancelled(scope) => (scope.name().into(), None),
        Cause::Bound => (String::from("the calls that the certificate permits are used up"), None),
        Cause::Broken => (String::from("the agent did something that it does not declare"), None),
    };
    let routes =
        state.filter(|_| hop.by != Cause::Began).into_iter().flat_map(super::chart::State::routes);
    let not_taken = routes
        .enumerate()
        .filter(|(at, _)| taken.is_none_or(|taken| taken.index() != *at))
        .map(|(_, route)| (route.name().into(), chart.state_name(route.edge().to).into()));
    HopExplanation {
        from: chart.state_name(hop.from).into(),
        because,
        to: hop.to.map(|to| chart.state_name(to).into()),
        spent: hop.spent.map(|id| budget_name(id).into()),
        not_taken: not_taken.collect(),
    }
}
