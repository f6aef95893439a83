//! Every state can be reached, and an end can be reached from every state.

use alloc::{format, vec, vec::Vec};

use super::{Chart, draft::ChartDraft};
use crate::{code::Code, diagnostic::Findings, id::StateId};

/// Refuses states that cannot be reached.
pub(super) fn reachable(draft: &ChartDraft, chart: &Chart, found: &mut Findings) {
    let mut reached = vec![false; chart.states.len()];
    let any = chart.any;
    let mut open: Vec<StateId> =
        [Some(chart.start), Some(any.cancel), any.cancel_turn, any.shutdown]
            .into_iter()
            .flatten()
            .collect();
    while let Some(at) = open.pop() {
        match reached.get_mut(at.index()) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        open.extend(next(chart, at));
    }
    for ((seen, state), written) in reached.iter().zip(&chart.states).zip(&draft.states) {
        if !seen && !state.is_label() {
            let message = format!("state `{}` is unreachable", state.name);
            let hint = "route an outcome to it, or remove it";
            found.add(Code::Unreachable, written.name.span, message, hint);
        }
    }
}

/// Rejects states without a path to a final state.
pub(super) fn ends(draft: &ChartDraft, chart: &Chart, found: &mut Findings) {
    let mut ends: Vec<bool> = chart.states.iter().map(super::State::is_final).collect();
    loop {
        let more: Vec<StateId> = chart
            .state_ids()
            .filter(|id| ends.get(id.index()) == Some(&false))
            .filter(|id| next(chart, *id).any(|to| ends.get(to.index()) == Some(&true)))
            .collect();
        if more.is_empty() {
            break;
        }
        for id in more {
            if let Some(end) = ends.get_mut(id.index()) {
                *end = true;
            }
        }
    }
    for ((end, state), written) in ends.iter().zip(&chart.states).zip(&draft.states) {
        if !end && !state.is_label() {
            let message = format!("no final state is reachable from `{}`", state.name);
            let hint = "route one of its outcomes towards a final state";
            found.add(Code::DeadEnd, written.name.span, message, hint);
        }
    }
}

/// Returns the states that one step can lead to: by an edge, or by a budget's `else`.
pub(super) fn next(chart: &Chart, at: StateId) -> impl Iterator<Item = StateId> {
    let state = chart.state(at);
    let routes = state.into_iter().flat_map(|state| &state.routes);
    let by_edge = routes.clone().map(|route| route.edge.to);
    let by_else = routes.filter_map(|route| chart.budget(route.edge.spend?)).map(|it| it.otherwise);
    // A charge can run out wherever something runs.
    let charged = chart
        .budgets
        .iter()
        .filter(move |budget| {
            budget.charge.is_some()
                && state.is_some_and(|state| !state.is_final() && !state.is_label())
        })
        .map(|budget| budget.otherwise);
    by_edge.chain(by_else).chain(charged)
}
