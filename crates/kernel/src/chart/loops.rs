//! The one loop rule, and what makes it a proof.
//!
//! File order is rank. An edge forward raises the rank; every other edge spends a budget or waits
//! for a person. A budget is refilled only by spending an earlier one. So the list (the balance of
//! each budget in file order, then the rank) moves in one lexicographic direction at every step:
//! every run halts.

use alloc::{format, vec::Vec};

use super::{
    Budget, Chart, Reset, State, StateKind,
    draft::{ChartDraft, EdgeDraft},
    verify::edges,
};
use crate::{
    code::Code,
    diagnostic::{Findings, Span},
    id::{BudgetId, StateId},
};

/// Refuses ways back that spend nothing.
pub(super) fn metered(draft: &ChartDraft, states: &[State], found: &mut Findings) {
    for (from, route, edge) in edges(states) {
        // An await with a timeout continues on its own, so it meters nothing.
        let waits = states
            .get(edge.to.index())
            .is_some_and(|to| matches!(to.kind, StateKind::Await { timeout: None, .. }));
        if edge.to > from || spends(draft, from, &route.name) || waits {
            continue;
        }
        let name = |id: StateId| states.get(id.index()).map_or("?", |state| &state.name);
        let message = format!(
            "`on.{}` leads from `{}` back to `{}` and spends nothing",
            route.name,
            name(from),
            name(edge.to)
        );
        let budgets: Vec<&str> = draft
            .budgets
            .iter()
            .filter(|budget| budget.charge.is_none())
            .map(|budget| budget.name.as_str())
            .collect();
        let budget = budgets.last().copied().unwrap_or("rounds");
        let hint = format!("write `{{ to = \"{}\", spend = \"{budget}\" }}`", name(edge.to));
        found.add(Code::Unmetered, target_span(draft, from, &route.name), message, hint);
    }
}

/// Returns whether the file writes that a route spends something, known or not.
fn spends(draft: &ChartDraft, from: StateId, outcome: &str) -> bool {
    written(draft, from, outcome).is_some_and(|edge| edge.spend.is_some())
}

/// Refuses budgets that are refilled by a later one, or by each other.
pub(super) fn resets(draft: &ChartDraft, budgets: &[Budget], found: &mut Findings) {
    for (at, (budget, written)) in budgets.iter().zip(&draft.budgets).enumerate() {
        let Some(Reset::Spending(by)) = budget.reset else { continue };
        let span = written.reset.as_ref().map_or(written.name.span, |reset| reset.span);
        let by_name = budgets.get(by.index()).map_or("?", |by| &by.name);
        if let Some(circle) = circle(budgets, at) {
            let message = format!("budgets refill each other: {}", circle.join(" → "));
            found.add(Code::ResetCycle, span, message, "remove the reset of the outermost budget");
        } else if by.index() >= at {
            let message = format!(
                "`{}` is reset by `{by_name}`, but `{by_name}` is declared after it",
                budget.name
            );
            let hint = format!("move `{by_name}` above `{}`", budget.name);
            found.add(Code::ResetOrder, span, message, hint);
        }
        if budgets.get(by.index()).is_some_and(|by| by.charge.is_some()) {
            let message = format!("`{by_name}` is charged, so no edge spends it");
            let hint = "name a budget that an edge spends";
            found.add(Code::SpentAndCharged, span, message, hint);
        }
    }
}

/// Returns the names on the circle of resets through a budget, if there is one.
fn circle(budgets: &[Budget], start: usize) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut at = start;
    for _ in budgets {
        let budget = budgets.get(at)?;
        names.push(&*budget.name);
        let Some(Reset::Spending(by)) = budget.reset else { return None };
        at = by.index();
        if at == start {
            names.push(&*budgets.get(at)?.name);
            return Some(names);
        }
    }
    None
}

/// Refuses budgets that limit nothing, and edges that spend charged ones.
pub(super) fn spent(draft: &ChartDraft, states: &[State], found: &mut Findings) {
    for (at, budget) in draft.budgets.iter().enumerate() {
        let id = BudgetId(u8::try_from(at).unwrap_or(u8::MAX));
        let mut spending = edges(states).filter(|(_, _, edge)| edge.spend == Some(id));
        match (budget.charge, spending.next()) {
            (None, None) => {
                let message = format!("no edge spends `{}`", *budget.name);
                let hint = "spend it on an edge that leads back, add `charge`, or remove it";
                found.add(Code::NeverSpent, budget.name.span, message, hint);
            }
            (Some(_), Some((from, route, _))) => {
                let message = format!("`{}` is charged by the kernel", *budget.name);
                let hint = "spend another budget here";
                let span = target_span(draft, from, &route.name);
                found.add(Code::SpentAndCharged, span, message, hint);
            }
            (None, Some(_)) | (Some(_), None) => {}
        }
    }
}

/// Refuses cycles of decide states, which would spin within one step.
pub(super) fn decide_cycles(draft: &ChartDraft, chart: &Chart, found: &mut Findings) {
    let decides = |id: StateId| {
        chart.state(id).is_some_and(|state| matches!(state.kind, StateKind::Decide(_)))
    };
    for start in chart.state_ids().filter(|id| decides(*id)) {
        // The lowest state of a cycle reports it, so that each is reported once.
        let mut reached: Vec<StateId> = Vec::new();
        let mut open: Vec<StateId> = alloc::vec![start];
        while let Some(at) = open.pop() {
            for edge in chart.state(at).into_iter().flat_map(|state| &state.routes) {
                let to = edge.edge.to;
                if to == start {
                    let name = chart.state_name(start);
                    let message = format!("`decide` states form a cycle through `{name}`");
                    let span = draft.states.get(start.index()).map(|state| state.name.span);
                    let hint = "put a `run` or `await` state into the cycle";
                    found.add(Code::DecideCycle, span.unwrap_or_default(), message, hint);
                    open.clear();
                    break;
                }
                if to > start && decides(to) && !reached.contains(&to) {
                    reached.push(to);
                    open.push(to);
                }
            }
        }
    }
}

/// Returns where the file writes the target of a route.
pub(super) fn target_span(draft: &ChartDraft, from: StateId, outcome: &str) -> Span {
    written(draft, from, outcome).map_or_else(Span::default, |edge| {
        let end = edge.to.as_ref().map_or(0, |to| to.span.end);
        Span { start: edge.outcome.span.start, end: end.max(edge.outcome.span.end) }
    })
}

fn written<'d>(draft: &'d ChartDraft, from: StateId, outcome: &str) -> Option<&'d EdgeDraft> {
    let state = draft.states.get(from.index())?;
    state.on.iter().find(|edge| edge.outcome.as_str() == outcome)
}
