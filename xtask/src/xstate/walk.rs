//! Random walks through a chart, drawn towards what no walk has taken yet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::{Context, Result, ensure};
use pointsman_kernel::{
    chart::{Chart, Route, State},
    event::Scope,
    id::StateId,
    simulate::simulate,
};

use crate::random::SplitMix64;

const LONGEST: usize = 60;
/// Names that are tried on a chart that has ended.
const AFTER_THE_END: usize = 2;
const SCOPES: [Scope; 3] = [Scope::Run, Scope::Turn, Scope::Shutdown];

/// One sequence of names, and what `simulate` makes of each.
pub(crate) struct Walk {
    pub(crate) steps: Vec<Step>,
    /// The step that ended it.
    pub(crate) ended_at: Option<usize>,
}

pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) seen: SimulatedStep,
}

pub(crate) enum SimulatedStep {
    /// It led to this state.
    Taken(String),
    /// The state does not offer it.
    Refused,
}

/// How often each edge was taken: a state's own ways, the timeouts that fall to
/// `failed`, and what `[any]` offers.
pub(crate) struct Coverage {
    taken: BTreeMap<(StateId, String), u64>,
    /// Every name that the chart has for a way out.
    names: Vec<String>,
    /// The states from which a walk could continue forever without budgets.
    lasting: BTreeSet<StateId>,
}

impl Coverage {
    pub(crate) fn new(chart: &Chart) -> Self {
        let edges = chart.state_ids().flat_map(|from| {
            offers(chart, from).into_iter().map(move |(name, _)| ((from, name), 0))
        });
        let taken: BTreeMap<_, _> = edges.collect();
        let names: BTreeSet<&String> = taken.keys().map(|(_, name)| name).collect();
        let names = names.into_iter().cloned().collect();
        Self { taken, names, lasting: lasting(chart) }
    }

    /// Returns how many edges there are.
    pub(crate) fn edges(&self) -> usize {
        self.taken.len()
    }

    /// Returns the edges that were never taken.
    pub(crate) fn missing(&self, chart: &Chart) -> Vec<String> {
        let never = self.taken.iter().filter(|(_, times)| **times == 0);
        never.map(|((from, name), _)| format!("{} --{name}-->", chart.state_name(*from))).collect()
    }

    fn is_missing(&self, from: StateId, name: &str) -> bool {
        self.taken.get(&(from, name.to_owned())) == Some(&0)
    }

    /// Returns the first name on the shortest way to an edge that was never taken.
    fn towards_missing(&self, chart: &Chart, from: StateId) -> Option<String> {
        let mut reached = BTreeSet::from([from]);
        let mut queue = VecDeque::from([(from, None)]);
        while let Some((state, first)) = queue.pop_front() {
            for (name, to) in offers(chart, state) {
                let first: String = first.clone().unwrap_or_else(|| name.clone());
                if self.is_missing(state, &name) {
                    return Some(first);
                }
                if reached.insert(to) {
                    queue.push_back((to, Some(first)));
                }
            }
        }
        None
    }
}

/// Returns the states that lead round in a circle, or to one that does.
fn lasting(chart: &Chart) -> BTreeSet<StateId> {
    let mut lasting: BTreeSet<StateId> = chart.state_ids().collect();
    loop {
        let goes_on = |from: &StateId| {
            let mut ways = chart.state(*from).into_iter().flat_map(State::routes);
            ways.any(|way| lasting.contains(&way.edge().to))
        };
        let still: BTreeSet<StateId> = lasting.iter().copied().filter(goes_on).collect();
        if still.len() == lasting.len() {
            return still;
        }
        lasting = still;
    }
}

/// Returns every name that leads on from a state, and where to.
fn offers(chart: &Chart, from: StateId) -> Vec<(String, StateId)> {
    let Some(state) = chart.state(from).filter(|it| !it.is_final() && !it.is_label()) else {
        return Vec::new();
    };
    let own = |way: &Route| (way.name().to_owned(), way.edge().to);
    let mut offers: Vec<_> = state.routes().iter().map(own).collect();
    if let Some(way) = state.kernel_outcomes().timeout.and_then(|outcome| state.route(outcome))
        && state.outcome("timeout").is_none()
    {
        offers.push(("timeout".to_owned(), way.edge().to));
    }
    let any = chart.any();
    for (scope, to) in SCOPES.into_iter().zip([Some(any.cancel), any.cancel_turn, any.shutdown]) {
        offers.extend(to.map(|to| (scope.name().to_owned(), to)));
    }
    offers
}

/// Walks once.
pub(crate) fn walk(chart: &Chart, draws: &mut SplitMix64, coverage: &mut Coverage) -> Result<Walk> {
    let mut walk = Walk { steps: Vec::new(), ended_at: None };
    let mut taken: Vec<String> = Vec::new();
    let mut state = chart.start();
    for _ in 0..LONGEST {
        let name = propose(chart, state, draws, coverage);
        let names = taken.iter().chain([&name]).map(String::as_str);
        let simulation = simulate(chart, names);
        let offered = offers(chart, state).iter().any(|(offer, _)| *offer == name);
        match simulation.rejected {
            None => {
                let to = simulation.visited.last().context("a simulation starts somewhere")?;
                ensure!(walk.ended_at.is_none(), "a simulation goes on after its end");
                *coverage.taken.entry((state, name.clone())).or_default() += 1;
                state = chart.find(to).context("a simulation stays in its chart")?;
                if simulation.ended.is_some() {
                    walk.ended_at = Some(walk.steps.len());
                }
                taken.push(name.clone());
                walk.steps.push(Step { name, seen: SimulatedStep::Taken(to.to_string()) });
            }
            // A budget is used up. The export has no budgets, so it is not asked.
            Some(_) if offered => {}
            Some(_) => walk.steps.push(Step { name, seen: SimulatedStep::Refused }),
        }
        if walk.ended_at.is_some_and(|at| walk.steps.len() > at + AFTER_THE_END) {
            break;
        }
    }
    Ok(walk)
}

/// Returns the name to try next: mostly one that the state offers.
fn propose(chart: &Chart, state: StateId, draws: &mut SplitMix64, coverage: &Coverage) -> String {
    match draws.below(32) {
        0 | 1 => draws.one_of(&coverage.names).cloned(),
        2 => draws.one_of(&SCOPES).map(|scope| scope.name().to_owned()),
        3..16 => coverage.towards_missing(chart, state),
        _ => None,
    }
    .or_else(|| wander(chart, state, draws, coverage))
    // Where nothing is offered, anything must be refused.
    .or_else(|| draws.one_of(&coverage.names).cloned())
    .unwrap_or_default()
}

/// Returns one of the state's own routes; those that lead to the end are rare.
fn wander(
    chart: &Chart,
    state: StateId,
    draws: &mut SplitMix64,
    coverage: &Coverage,
) -> Option<String> {
    let ways = chart.state(state)?.routes();
    let on: Vec<&Route> =
        ways.iter().filter(|way| coverage.lasting.contains(&way.edge().to)).collect();
    let way = if on.is_empty() || draws.one_in(16) {
        draws.one_of(ways)
    } else {
        draws.one_of(&on).copied()
    };
    way.map(|way| way.name().to_owned())
}
