//! `pointsman watch`: the full-screen view.

use std::process::ExitCode;

use clap::Args;

use crate::{paths::Globals, report::Error, run_argument::RunArgument, watch};

/// Watch runs full-screen: live, step by step, with the reason for each step.
#[derive(Args, Debug)]
#[command(after_help = "\
Needs a terminal. `?` lists the keys; `q` leaves; the runs continue. Runs that wait for you come
first: `a` approves and `d` denies, like `pointsman approve` and `pointsman deny`.

Examples:
  pointsman watch
  pointsman watch last
  pointsman watch RUN --store postgres://USER@HOST/DATABASE")]
pub(crate) struct Watch {
    /// The run: an id, a unique prefix of one, or `last` [default: the list of all runs].
    run: Option<RunArgument>,
}

impl Watch {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        watch::needs_terminal()?;
        let session = globals.session()?;
        let run = self.run.map(|run| run.find(&session)).transpose()?;
        watch::watch(session, run.map(|row| row.id))?;
        Ok(ExitCode::SUCCESS)
    }
}
