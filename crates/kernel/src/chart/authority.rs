//! Which edges model output can influence, and whether the chart declares so.

use alloc::{boxed::Box, format, vec::Vec};

use serde::Serialize;

use super::{Authority, Chart, State, draft::ChartDraft, loops::target_span, verify::edges};
use crate::{code::Code, diagnostic::Findings, job::Influence};

/// Every edge that model output can influence directly.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct AuthorityReport {
    /// The declared level.
    pub level: Authority,
    /// The edges, in the order of the file.
    pub edges: Vec<InfluencedEdge>,
}

/// An edge that model output can influence.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct InfluencedEdge {
    /// The state it leaves.
    pub from: Box<str>,
    /// The outcome.
    pub outcome: Box<str>,
    /// The state it leads to.
    pub to: Box<str>,
}

/// Refuses edges that depend on more than the declared authority.
pub(super) fn admitted(draft: &ChartDraft, states: &[State], found: &mut Findings) {
    let Some(authority) = draft.authority else { return };
    for (from, route, _) in edges(states) {
        if authority.admits(route.influence) {
            continue;
        }
        let (does, needs) = match route.influence {
            Influence::None => continue,
            Influence::Choice => ("a model's choice", "choose"),
            Influence::Proposal => ("a model's proposal", "propose"),
        };
        let name = states.get(from.index()).map_or("?", |state| &state.name);
        let message = format!("`on.{}` of `{name}` depends on {does}", route.name);
        let hint = format!("declare `authority = \"{needs}\"`, or use a job that needs no model");
        found.add(Code::Authority, target_span(draft, from, &route.name), message, hint);
    }
}

pub(super) fn report(chart: &Chart) -> AuthorityReport {
    let edges = edges(&chart.states)
        .filter(|(_, route, _)| route.influence != Influence::None)
        .map(|(from, route, edge)| InfluencedEdge {
            from: chart.state_name(from).into(),
            outcome: route.name.clone(),
            to: chart.state_name(edge.to).into(),
        })
        .collect();
    AuthorityReport { level: chart.authority, edges }
}
