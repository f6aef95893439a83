//! The commands, one file each.

mod check;
mod explain;
mod graph;
mod init;
mod simulate;

use std::process::ExitCode;

use clap::Subcommand;

use crate::report::Error;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(check::Check),
    Graph(graph::Graph),
    Simulate(simulate::Simulate),
    Explain(explain::Explain),
    Init(init::Init),
}

impl Command {
    /// Runs it and returns the exit code.
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        match self {
            Self::Check(check) => check.run(),
            Self::Graph(graph) => graph.run(),
            Self::Simulate(simulate) => simulate.run(),
            Self::Explain(explain) => explain.run(),
            Self::Init(init) => init.run(),
        }
    }
}
