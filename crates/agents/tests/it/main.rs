//! The shipped charts, held to their sources and to the rules.

mod corpus;
mod digests;
mod goldens;
mod laws;
mod matrix;
mod maxima;
mod mutations;
mod seeds;
mod world;

use std::collections::{BTreeMap, VecDeque};

use pointsman_agents::{CHARTS, chart};
use pointsman_kernel::chart::Chart;

/// Returns the shipped charts.
fn charts() -> Vec<Chart> {
    let shipped = |name: &&str| {
        chart(name).expect("chart ships with the agents").expect("chart ships with the agents")
    };
    CHARTS.iter().map(|(name, _)| name).map(shipped).collect()
}

/// Returns, for every state that can be reached by outcomes, the shortest way there.
fn ways_there(chart: &Chart) -> BTreeMap<&str, Vec<&str>> {
    let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open = VecDeque::from([(chart.start(), Vec::new())]);
    while let Some((at, way)) = open.pop_front() {
        let state = chart.state(at).expect("chart has the state");
        if ways.contains_key(state.name()) {
            continue;
        }
        ways.insert(state.name(), way.clone());
        let any = chart.any();
        let any = [
            ("cancel", Some(any.cancel)),
            ("cancel_turn", any.cancel_turn),
            ("shutdown", any.shutdown),
        ];
        let edges = state.routes().iter().map(|way| (way.name(), way.edge().to));
        let any =
            any.into_iter().filter(|_| !state.is_final()).filter_map(|(n, to)| Some((n, to?)));
        for (outcome, to) in edges.chain(any) {
            let mut further = way.clone();
            further.push(outcome);
            open.push_back((to, further));
        }
    }
    ways
}

/// Returns every name that could end a visit somewhere in the chart.
fn names(chart: &Chart) -> Vec<&str> {
    let mut names: Vec<&str> = chart
        .states()
        .iter()
        .flat_map(|state| state.routes().iter().map(pointsman_kernel::chart::Route::name))
        .chain([
            "cancel",
            "cancel_turn",
            "shutdown",
            "timeout",
            "failed",
            "stuck",
            "denied",
            "bogus",
        ])
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
