//! `pointsman simulate`: a dry run by outcomes.

use std::{fmt::Write as _, process::ExitCode};

use clap::Args;
use pointsman_kernel::simulate::{Simulation, simulate};

use crate::{
    chart::Source,
    report::{self, Error},
};

/// Walk through a chart, given the outcome of each visit.
#[derive(Args, Debug)]
#[command(after_help = "\
Give one name per visit: an outcome of the state's job, an awaited event, an outcome
that the kernel adds (failed, timeout, stuck, denied), or cancel, cancel_turn, shutdown. Each
edge that is taken spends its budget. A used-up budget or an unknown name stops the walk;
`rejected` reports it, and the exit code is 0.

Examples:
  pointsman simulate form --outcomes activate,ready,none
  pointsman simulate chat --outcomes user_input,completed,text_only --json")]
pub(crate) struct Simulate {
    /// A shipped agent, a chart file, or `-` for standard input.
    chart: String,
    /// The outcomes, one per visit.
    #[arg(long, value_delimiter = ',', default_value = "")]
    outcomes: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let chart = Source::find(&self.chart)?.program()?;
        let outcomes = self.outcomes.iter().map(|outcome| outcome.trim());
        let simulation = simulate(&chart, outcomes.filter(|outcome| !outcome.is_empty()));
        let text = if self.json {
            // Strings always serialise.
            serde_json::to_string(&simulation).unwrap_or_default() + "\n"
        } else {
            told(&simulation)
        };
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn told(simulation: &Simulation) -> String {
    let mut text = simulation.visited.join("\n→ ");
    text.push('\n');
    // Writing to a string cannot fail.
    let _: std::fmt::Result = match (&simulation.rejected, simulation.ended) {
        (Some(rejected), _) => writeln!(
            text,
            "rejected: `{}`, outcome {} of the list: {}",
            rejected.outcome,
            rejected.at + 1,
            rejected.why
        ),
        (None, Some(ended)) => {
            let ended = serde_json::to_value(ended).unwrap_or_default();
            writeln!(text, "ended: {}", ended.as_str().unwrap_or_default())
        }
        (None, None) => writeln!(text, "not ended: the next visit needs an outcome"),
    };
    text
}
