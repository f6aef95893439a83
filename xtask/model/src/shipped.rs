//! The five charts that ship, verified, and the declarations of their agents.

use anyhow::{Context, Result, anyhow};
use pointsman_agents::{AGENTS, CHARTS};
use pointsman_kernel::{chart::Chart, job::AgentDecl};

/// Returns every shipped chart, in the order of the crate's own list.
pub fn charts() -> Result<Vec<Chart>> {
    CHARTS.iter().map(|(name, _)| chart(name)).collect()
}

/// Returns one shipped chart.
pub fn chart(name: &str) -> Result<Chart> {
    pointsman_agents::chart(name)
        .with_context(|| format!("no chart named `{name}` ships"))?
        .map_err(|refused| anyhow!("chart `{name}` is refused: {refused:?}"))
}

/// Returns the place of a chart's agent among the shipped ones.
pub fn agent(chart: &Chart) -> Result<usize> {
    AGENTS
        .iter()
        .position(|decl| decl.name == chart.jobs())
        .with_context(|| format!("chart `{}` uses an agent that does not ship", chart.name()))
}

/// Returns the declaration of the agent in that place; there is always a first one.
pub const fn decl(place: usize) -> AgentDecl {
    AGENTS[if place < AGENTS.len() { place } else { 0 }]
}
