//! `check`: from a draft to a chart, or to every reason why not.
//!
//! The checks run in the order of this file's `check`. A check that rests on
//! names is left out while names are unknown, so that one misspelling is one
//! finding and not ten.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use super::{
    AnyState, Budget, Chart, Edge, Reset, Route, State, authority, certificate, draft::ChartDraft,
    loops, reach, read::read, resolve::NameTable, routes,
};
use crate::{
    code::Code,
    diagnostic::{Diagnostic, Findings},
    id::{BudgetId, Digest, StateId},
    job::Registry,
};

/// Limits that keep ids small and verification quick.
const MAX_STATES: usize = 200;
const MAX_BUDGETS: usize = 60;
const MAX_WAYS: usize = 100;

/// A chart that was refused: every reason, in the order of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefusedChart {
    /// The name that the file gives, where it could be read.
    pub chart: String,
    /// The first hundred findings.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more findings there are.
    pub more: usize,
}

/// The first reason, and how many more there are: for a line. A front end with more room shows
/// every diagnostic.
impl fmt::Display for RefusedChart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.diagnostics.split_first() else {
            return f.write_str("unknown reason");
        };
        write!(f, "{} ({})", first.message, first.code)?;
        match rest.len().saturating_add(self.more) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl core::error::Error for RefusedChart {}

/// Reads and verifies a chart.
pub fn verify(source: &str, registry: &Registry<'_>) -> Result<Chart, RefusedChart> {
    let mut found = Findings::default();
    let draft = read(source, &mut found);
    check(&draft, registry, found)
}

/// Verifies a draft that was read with these findings so far.
pub(crate) fn check(
    draft: &ChartDraft,
    registry: &Registry<'_>,
    mut found: Findings,
) -> Result<Chart, RefusedChart> {
    let refuse = |found: Findings| {
        let (diagnostics, more) = found.into_sorted();
        RefusedChart { chart: draft.chart.value.clone(), diagnostics, more }
    };
    // Without any state there is nothing to say about routes.
    if draft.states.is_empty() {
        if found.is_empty() {
            let hint = "add a table `[state.NAME]` for each state, in the order in which a run enters them";
            found.add(Code::MissingKey, draft.chart.span, "the chart has no states", hint);
        }
        return Err(refuse(found));
    }
    // The rest takes time that grows faster than the chart, which these limits allow.
    if !sizes(draft, &mut found) {
        return Err(refuse(found));
    }
    let names = NameTable::new(draft, registry, &mut found);
    names.slots.check(&mut found);
    let (budgets, budgets_known) = budgets(draft, &names, &mut found);
    let any = any(draft, &names, &mut found);
    let start = draft.start.as_ref().and_then(|name| names.target(name, &mut found));
    let routed = routes::route(draft, &names, &mut found);
    loops::metered(draft, &routed.states, &mut found);
    loops::resets(draft, &budgets, &mut found);
    if budgets_known && routed.spends_known {
        loops::spent(draft, &routed.states, &mut found);
    }
    authority::admitted(draft, &routed.states, &mut found);
    let (Some(start), Some(any)) = (start, any) else { return Err(refuse(found)) };
    let mut chart = Chart {
        name: draft.chart.as_str().into(),
        version: draft.version,
        digest: digest(draft),
        jobs: draft.jobs.as_str().into(),
        authority: draft.authority.unwrap_or_default(),
        start,
        states: routed.states.into_boxed_slice(),
        budgets: budgets.into_boxed_slice(),
        any,
        stuck: draft.stuck,
        slots: names.slots.all(),
        needs: names.slots.needed(),
        filled: draft.slots.iter().map(|(it, value)| (it.as_str().into(), value.clone())).collect(),
        certificate: certificate::Certificate::default(),
        report: authority::AuthorityReport::default(),
    };
    if routed.targets_known && routed.spends_known && budgets_known {
        reach::reachable(draft, &chart, &mut found);
        reach::ends(draft, &chart, &mut found);
        loops::decide_cycles(draft, &chart, &mut found);
    }
    if found.is_empty() {
        if let Some(certificate) = certificate::certify(&chart, registry.children) {
            chart.certificate = certificate;
        } else {
            let hint = "lower the budgets of the inner loops";
            found.add(
                Code::TooLarge,
                draft.chart.span,
                "the bound is too large to be useful",
                hint,
            );
        }
    }
    if !found.is_empty() {
        return Err(refuse(found));
    }
    chart.report = authority::report(&chart);
    Ok(chart)
}

/// Returns whether the chart is small enough to be checked.
fn sizes(draft: &ChartDraft, found: &mut Findings) -> bool {
    let mut fits = true;
    let mut limit = |count: usize, max: usize, what: &str, span| {
        if count > max {
            fits = false;
            let message = alloc::format!("{count} {what}; the limit is {max}");
            found.add(Code::TooMany, span, message, "move a part into another chart");
        }
    };
    limit(draft.states.len(), MAX_STATES, "states", draft.chart.span);
    limit(draft.budgets.len(), MAX_BUDGETS, "budgets", draft.chart.span);
    for state in &draft.states {
        limit(state.on.len(), MAX_WAYS, "outcomes", state.name.span);
    }
    fits
}

fn budgets(draft: &ChartDraft, names: &NameTable<'_>, found: &mut Findings) -> (Vec<Budget>, bool) {
    let mut known = true;
    let mut budgets: Vec<Budget> = Vec::with_capacity(draft.budgets.len());
    for written in &draft.budgets {
        let reset = match &written.reset {
            Some(name) if name.as_str() == "await" => Some(Reset::Await),
            Some(name) => {
                let budget = names.budget(name, found);
                known &= budget.is_some();
                budget.map(Reset::Spending)
            }
            None => None,
        };
        let otherwise = written.otherwise.as_ref().and_then(|name| names.target(name, found));
        known &= otherwise.is_some();
        budgets.push(Budget {
            name: written.name.as_str().into(),
            max: written.max,
            charge: written.charge,
            reset,
            otherwise: otherwise.unwrap_or_default(),
            refills: Box::default(),
        });
    }
    let refills: Vec<Box<[BudgetId]>> = names
        .budget_ids()
        .map(|of| {
            let resets = |child: &BudgetId| {
                budgets.get(child.index()).is_some_and(|it| it.reset == Some(Reset::Spending(of)))
            };
            names.budget_ids().filter(resets).collect()
        })
        .collect();
    for (budget, refills) in budgets.iter_mut().zip(refills) {
        budget.refills = refills;
    }
    (budgets, known)
}

fn any(draft: &ChartDraft, names: &NameTable<'_>, found: &mut Findings) -> Option<AnyState> {
    let mut resting = |name: &super::draft::Name| -> Option<StateId> {
        let to = names.target(name, found)?;
        if !names.rests(to) {
            let message = alloc::format!("`{}` is neither a final nor an await state", **name);
            let hint = "`[any]` must lead to a final or await state";
            found.add(Code::AnyTarget, name.span, message, hint);
        }
        Some(to)
    };
    let cancel = draft.any.cancel.as_ref().and_then(&mut resting);
    let cancel_turn = draft.any.cancel_turn.as_ref().and_then(&mut resting);
    let shutdown = draft.any.shutdown.as_ref().and_then(&mut resting);
    Some(AnyState { cancel: cancel?, cancel_turn, shutdown })
}

fn digest(draft: &ChartDraft) -> Digest {
    let bytes = serde_json::to_value(draft).map(|value| crate::json::canonical(&value));
    Digest::of(bytes.unwrap_or_default().as_bytes())
}

/// Every edge of a chart, with the state it leaves.
pub(super) fn edges(states: &[State]) -> impl Iterator<Item = (StateId, &Route, Edge)> {
    states.iter().enumerate().flat_map(|(at, state)| {
        let from = StateId(u16::try_from(at).unwrap_or(u16::MAX));
        state.routes.iter().map(move |route| (from, route, route.edge))
    })
}
