//! A dry run by outcomes: where would the chart go?

use alloc::{boxed::Box, format, string::String, vec::Vec};

use serde::Serialize;

use crate::{
    chart::{Chart, Disposition, Edge, Reset, StateKind},
    id::StateId,
    view::RunView,
};

/// The visited states of a dry run, and its end.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Simulation {
    /// Every state that was entered, the first included.
    pub visited: Vec<Box<str>>,
    /// How it ended, if it came to an end.
    pub ended: Option<Disposition>,
    /// The outcome that could not be taken.
    pub rejected: Option<SimulationError>,
}

/// An outcome that could not be taken.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct SimulationError {
    /// Its place in the list, from 0.
    pub at: usize,
    /// The outcome.
    pub outcome: String,
    /// Why not.
    pub why: String,
}

/// Takes one outcome or event name per visit. Only edge budgets apply, and a
/// used-up one stops the simulation.
pub fn simulate<'o>(chart: &Chart, outcomes: impl IntoIterator<Item = &'o str>) -> Simulation {
    walk(Walker::new(chart), outcomes)
}

/// Does the same from where a run is, with what it has left of its budgets. The run itself does
/// not change.
pub fn simulate_from<'o>(
    chart: &Chart,
    run: &RunView,
    outcomes: impl IntoIterator<Item = &'o str>,
) -> Simulation {
    let mut walker = Walker::new(chart);
    let ids = || chart.state_ids().zip(chart.states());
    if let Some((id, _)) = ids().find(|(_, state)| state.name() == &*run.state) {
        walker.state = id;
    }
    for (left, budget) in walker.left.iter_mut().zip(chart.budgets()) {
        if let Some(known) = run.budgets.iter().find(|it| &*it.name == budget.name()) {
            *left = known.left;
        }
    }
    walk(walker, outcomes)
}

fn walk<'o>(mut walker: Walker<'_>, outcomes: impl IntoIterator<Item = &'o str>) -> Simulation {
    let chart = walker.chart;
    let mut simulation = Simulation { visited: Vec::new(), ended: None, rejected: None };
    simulation.visited.push(chart.state_name(walker.state).into());
    for (at, outcome) in outcomes.into_iter().enumerate() {
        if let Err(why) = walker.take(outcome) {
            simulation.rejected = Some(SimulationError { at, outcome: outcome.into(), why });
            break;
        }
        simulation.visited.push(chart.state_name(walker.state).into());
    }
    if let Some(StateKind::Final(disposition)) =
        chart.state(walker.state).map(super::chart::State::kind)
    {
        simulation.ended = Some(*disposition);
    }
    simulation
}

struct Walker<'c> {
    chart: &'c Chart,
    state: StateId,
    left: Vec<u64>,
}

impl<'c> Walker<'c> {
    fn new(chart: &'c Chart) -> Self {
        let left = chart.budgets().iter().map(crate::chart::Budget::max).collect();
        Self { chart, state: chart.start(), left }
    }

    fn take(&mut self, outcome: &str) -> Result<(), String> {
        let Some(state) = self.chart.state(self.state) else { return Err("no such state".into()) };
        if state.is_final() {
            return Err(format!("the run has ended in `{}`", state.name()));
        }
        let Some(edge) = self.edge(outcome) else {
            let routes: Vec<String> =
                state.routes().iter().map(|route| format!("`{}`", route.name())).collect();
            return Err(format!(
                "state `{}` has no such outcome; its outcomes are {}",
                state.name(),
                routes.join(", ")
            ));
        };
        if state.is_await() && outcome != "timeout" && state.outcome(outcome).is_some() {
            self.refill(Reset::Await);
        }
        if let Some(id) = edge.spend {
            let name = self.chart.budget(id).map_or("?", crate::chart::Budget::name);
            let left = self.left.get_mut(id.index()).filter(|left| **left > 0);
            let Some(left) = left else { return Err(format!("budget `{name}` is used up")) };
            *left = left.saturating_sub(1);
            self.refill(Reset::Spending(id));
        }
        self.state = edge.to;
        Ok(())
    }

    fn edge(&self, outcome: &str) -> Option<Edge> {
        let state = self.chart.state(self.state)?;
        if let Some(route) = state.outcome(outcome).and_then(|outcome| state.route(outcome)) {
            return Some(route.edge());
        }
        let any = self.chart.any();
        let to = match outcome {
            "cancel" => Some(any.cancel),
            "cancel_turn" => any.cancel_turn,
            "shutdown" => any.shutdown,
            // Where it is not routed, a timeout is a failure.
            "timeout" => {
                return state
                    .kernel_outcomes()
                    .timeout
                    .and_then(|it| state.route(it))
                    .map(super::chart::Route::edge);
            }
            _ => None,
        };
        to.map(|to| Edge { to, spend: None })
    }

    /// Refills every budget that this resets, and those below it: an earlier budget
    /// resets a later one, so the recursion ends.
    fn refill(&mut self, by: Reset) {
        for id in self.chart.budget_ids() {
            let Some(budget) = self.chart.budget(id).filter(|it| it.reset() == Some(by)) else {
                continue;
            };
            if let Some(left) = self.left.get_mut(id.index()) {
                *left = budget.max();
            }
            self.refill(Reset::Spending(id));
        }
    }
}
