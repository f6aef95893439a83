//! Which edges model output can influence, and whether the chart declares so.

use alloc::{boxed::Box, format, vec::Vec};

use serde::Serialize;

use super::{Authority, Chart, State, draft::Draft, loops::target_span, verify::edges};
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
pub(super) fn admitted(draft: &Draft, states: &[State], found: &mut Findings) {
    let Some(authority) = draft.authority else { return };
    for (from, way, _) in edges(states) {
        if authority.admits(way.influence) {
            continue;
        }
        let (does, needs) = match way.influence {
            Influence::None => continue,
            Influence::Choice => ("a model's choice", "choose"),
            Influence::Proposal => ("a model's proposal", "propose"),
        };
        let name = states.get(from.index()).map_or("?", |state| &state.name);
        let message = format!("`on.{}` of `{name}` depends on {does}", way.name);
        let hint = format!("declare `authority = \"{needs}\"`, or use a job that needs no model");
        found.add(Code::Authority, target_span(draft, from, &way.name), message, hint);
    }
}

pub(super) fn report(chart: &Chart) -> AuthorityReport {
    let edges = edges(&chart.states)
        .filter(|(_, way, _)| way.influence != Influence::None)
        .map(|(from, way, edge)| InfluencedEdge {
            from: chart.state_name(from).into(),
            outcome: way.name.clone(),
            to: chart.state_name(edge.to).into(),
        })
        .collect();
    AuthorityReport { level: chart.authority, edges }
}
