//! Shows. The command line: it reads what people type, asks the libraries, and
//! prints what they say. It decides nothing.

mod chart;
mod command;
mod draw;
mod place;
mod report;
mod words;

use std::process::ExitCode;

use clap::Parser;

use command::Command;

/// Keeps LLM agents on rails: charts that are proved to halt before they run.
#[derive(Debug, Parser)]
#[command(name = "pointsman", version, max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pointsman run research \"Where is the loop rule proved?\"
  pointsman check form                       a shipped agent, by name
  pointsman check my-agent.toml --json       a chart of your own
  pointsman graph research --format mermaid
  pointsman simulate chat --outcomes user_input,completed,text_only
  pointsman init my-agent.toml
  pointsman explain PM0501

Exit codes: 0 done or succeeded, 1 failed, 2 usage or file trouble, 3 waiting for a person,
4 budget, 5 stuck, 6 cancelled, 7 denied, 8 chart refused, 9 replay diverged, 10 store fault.";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.command.run() {
        Ok(code) => code,
        Err(error) => {
            report::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
