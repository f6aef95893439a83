//! The agents that the runs of a process can be of, and charts bound to one of them.
//!
//! A driver, a store or a view knows no agent by name. It is given [`Agents`], asks them to
//! [verify](Agents::verify) a chart, and holds the [`Program`] that results.

use alloc::{boxed::Box, vec::Vec};
use core::ops::Deref;

use serde_json::value::RawValue;

use crate::{
    chart::{Chart, RefusedChart, verify},
    erased::{AgentRow, AnyRun},
    job::{AgentDecl, Child, Registry, ToolShape},
};

/// Agents, the charts that come with them, and what charts may name besides.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    rows: Vec<AgentRow>,
    /// The declarations of the same agents, as `check` wants them.
    decls: Vec<AgentDecl>,
    charts: Vec<(&'static str, &'static str)>,
    tools: Vec<ToolShape<'static>>,
    children: Vec<Child<'static>>,
}

impl Agents {
    /// No agents; the methods below add some.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds agents. Of two with one name the first counts.
    #[must_use]
    pub fn with(mut self, rows: &[AgentRow]) -> Self {
        self.rows.extend_from_slice(rows);
        self.decls.extend(rows.iter().map(|row| row.decl));
        self
    }

    /// Adds charts that can be started by name, each with its text.
    #[must_use]
    pub fn with_charts(mut self, charts: &[(&'static str, &'static str)]) -> Self {
        self.charts.extend_from_slice(charts);
        self
    }

    /// Adds tools that states may allow.
    #[must_use]
    pub fn with_tools(mut self, tools: &[ToolShape<'static>]) -> Self {
        self.tools.extend_from_slice(tools);
        self
    }

    /// Adds charts of these agents that other charts may start as child runs.
    #[must_use]
    pub fn with_children(mut self, children: &[Child<'static>]) -> Self {
        self.children.extend_from_slice(children);
        self
    }

    /// Returns what charts may name.
    pub fn registry(&self) -> Registry<'_> {
        Registry { agents: &self.decls, tools: &self.tools, children: &self.children }
    }

    /// Reads and verifies a chart.
    pub fn verify(&self, source: &str) -> Result<Program, RefusedChart> {
        let chart = verify(source, &self.registry())?;
        if let Some(agent) = self.rows.iter().find(|row| row.decl.name == chart.jobs()) {
            return Ok(Program { chart, agent: *agent });
        }
        // Verification has refused a chart of an agent that is not there.
        Err(RefusedChart { chart: chart.name().into(), diagnostics: Vec::new(), more: 0 })
    }

    /// Returns the declarations of all agents, in the order of their addition.
    pub fn decls(&self) -> &[AgentDecl] {
        &self.decls
    }

    /// Returns the declaration of an agent; an unknown agent has an empty one.
    pub fn decl(&self, agent: &str) -> &AgentDecl {
        self.decls.iter().find(|decl| decl.name == agent).unwrap_or(&AgentDecl::NONE)
    }

    /// Returns the conversational agents, in the order of their addition.
    pub fn conversational(&self) -> impl Iterator<Item = &AgentDecl> {
        self.decls.iter().filter(|decl| decl.converses())
    }

    /// Returns whether an agent may call a tool at all: some belong to one agent alone.
    pub fn may_call(&self, agent: &AgentDecl, tool: &str) -> bool {
        let owned = self.decls.iter().any(|decl| decl.own_tools.contains(&tool));
        !owned || agent.own_tools.contains(&tool)
    }

    /// Returns the charts that can be started by name, each with its text.
    pub fn charts(&self) -> &[(&'static str, &'static str)] {
        &self.charts
    }

    /// Returns the text of the chart of that name.
    pub fn chart(&self, name: &str) -> Option<&'static str> {
        self.charts.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
    }
}

/// A verified chart with the agent whose jobs it uses: everything to start, load and replay a run.
/// It dereferences to its chart.
#[derive(Debug)]
pub struct Program {
    chart: Chart,
    agent: AgentRow,
}

impl Program {
    /// Returns the agent's declaration.
    pub const fn agent(&self) -> &AgentDecl {
        &self.agent.decl
    }

    /// Makes a run that has not begun.
    pub fn start(&self) -> Box<dyn AnyRun> {
        (self.agent.start)(&self.chart)
    }

    /// Makes a run from its snapshot.
    pub fn load(&self, snapshot: &RawValue) -> Result<Box<dyn AnyRun>, serde_json::Error> {
        (self.agent.load)(snapshot)
    }
}

impl Deref for Program {
    type Target = Chart;

    fn deref(&self) -> &Chart {
        &self.chart
    }
}
