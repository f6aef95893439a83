//! Every (state, outcome) pair of every chart, as one snapshot each.

use std::fmt::Write as _;

use insta::assert_snapshot;
use pointsman_kernel::{chart::Chart, simulate::simulate};

use crate::{charts, names, ways_there};

/// Returns where a name leads from a state, or nothing if it is rejected.
pub(crate) fn leads(chart: &Chart, way: &[&str], name: &str) -> Option<String> {
    // The way there may have used up a budget: a walk of one step starts afresh, so
    // only the last step can be rejected for its name.
    let outcomes = way.iter().copied().chain([name]);
    let simulation = simulate(chart, outcomes);
    match simulation.rejected {
        Some(rejected) => {
            assert_eq!(rejected.at, way.len(), "the way there was rejected: {rejected:?}");
            None
        }
        None => simulation.visited.last().map(ToString::to_string),
    }
}

fn matrix(chart: &Chart) -> String {
    let ways = ways_there(chart);
    let mut text = String::new();
    for state in chart.states() {
        let Some(way) = ways.get(state.name()) else {
            let why = if state.is_label() { "only a label" } else { "only where a budget ends" };
            writeln!(text, "{}: {why}", state.name()).expect("writing to a String cannot fail");
            continue;
        };
        writeln!(text, "{}:", state.name()).expect("writing to a String cannot fail");
        let mut rejected = Vec::new();
        for name in names(chart) {
            match leads(chart, way, name) {
                Some(to) => {
                    writeln!(text, "  {name} -> {to}").expect("writing to a String cannot fail");
                }
                None => rejected.push(name),
            }
        }
        writeln!(text, "  rejected: {}", rejected.join(" "))
            .expect("writing to a String cannot fail");
    }
    text
}

#[test]
fn the_whole_matrix_of_each_chart_is_reviewed() {
    for chart in charts() {
        assert_snapshot!(format!("matrix_{}", chart.name()), matrix(&chart));
    }
}

#[test]
fn unknown_edge_is_rejected() {
    for chart in charts() {
        let ways = ways_there(&chart);
        for state in chart.states().iter().filter(|state| !state.is_label()) {
            let Some(way) = ways.get(state.name()) else {
                assert!(state.is_final(), "{} is reached by no outcome", state.name());
                continue;
            };
            for name in names(&chart) {
                let edge = state.outcome(name).and_then(|outcome| state.route(outcome));
                let timeout =
                    state.kernel_outcomes().timeout.and_then(|outcome| state.route(outcome));
                let any = match name {
                    "cancel" => Some(chart.any().cancel),
                    "cancel_turn" => chart.any().cancel_turn,
                    "shutdown" => chart.any().shutdown,
                    _ => None,
                };
                let expected = edge
                    .or_else(|| timeout.filter(|_| name == "timeout"))
                    .map(|way| way.edge().to)
                    .or_else(|| any.filter(|_| !state.is_final()))
                    .map(|to| chart.state_name(to).to_owned());
                let found = leads(&chart, way, name);
                assert_eq!(found, expected, "{}: {} by {name}", chart.name(), state.name());
            }
        }
    }
}

#[test]
fn chat_starts_waiting_and_shuts_down_from_every_state() {
    let chart = pointsman_agents::chart("chat")
        .expect("chart ships with the agents")
        .expect("chart ships with the agents");
    assert_eq!(chart.state_name(chart.start()), "waiting_for_user_input");
    for (state, way) in ways_there(&chart) {
        let found = chart.find(state).and_then(|id| chart.state(id));
        let ended = found.is_some_and(pointsman_kernel::chart::State::is_final);
        if !ended {
            assert_eq!(leads(&chart, &way, "shutdown").as_deref(), Some("shutting_down"));
        }
    }
}
