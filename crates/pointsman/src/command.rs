//! The commands, one file each.

mod check;
mod decode;
mod explain;
mod graph;
mod init;
mod run;
mod runs;
mod simulate;

use std::process::ExitCode;

use clap::Subcommand;

use crate::report::Error;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Runs(runs::Runs),
    Show(runs::Show),
    Why(runs::Explain),
    Resume(runs::Resume),
    Replay(runs::Replay),
    Export(runs::Export),
    Check(check::Check),
    Graph(graph::Graph),
    Simulate(simulate::Simulate),
    Explain(explain::Explain),
    Decode(decode::Decode),
    Init(init::Init),
}

impl Command {
    /// Runs it and returns the exit code.
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        match self {
            Self::Run(run) => run.run(),
            Self::Runs(runs) => runs.run(),
            Self::Show(show) => show.run(),
            Self::Why(why) => why.run(),
            Self::Resume(resume) => resume.run(),
            Self::Replay(replay) => replay.run(),
            Self::Export(export) => export.run(),
            Self::Check(check) => check.run(),
            Self::Graph(graph) => graph.run(),
            Self::Simulate(simulate) => simulate.run(),
            Self::Explain(explain) => explain.run(),
            Self::Decode(decode) => decode.run(),
            Self::Init(init) => init.run(),
        }
    }
}
