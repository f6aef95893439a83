//! Shows. The command line reads what people type, asks the libraries, and prints what they
//! say; the editor server does the same for editors. Neither decides anything.

mod acp;
mod agents;
mod answers;
mod appmap;
mod browse;
mod budgets;
mod calls;
mod chart;
mod chat;
mod check;
mod command;
mod commits;
mod contexts;
mod conversations;
#[cfg(debug_assertions)]
mod crash_point;
mod dialogue;
mod draw;
mod drive;
#[cfg(debug_assertions)]
mod effect_log;
mod ending;
mod error;
mod findings;
mod format;
mod input_line;
mod json_lines;
mod line;
mod live;
mod log;
mod notify;
mod paths;
mod piped_input;
mod report;
mod rules;
mod run_argument;
mod run_filter;
mod run_object;
mod screen;
mod serve;
mod standing;
mod start;
mod telemetry;
mod terminal_approver;
mod tokens;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use pointsman_runtime::tool::sandbox;

use command::Command;
use paths::Globals;

/// Keep LLM agents on rails: before a chart runs, Pointsman proves that it halts.
#[derive(Debug, Parser)]
#[command(name = "pointsman", version, max_term_width = 100, after_help = EXAMPLES)]
struct Arguments {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pointsman run research \"Where is the loop rule proved?\"
  pointsman run my-agent.toml \"Write a haiku\" --model ollama:llama3.2
  pointsman show last                        what the newest run did, step by step
  pointsman watch                            all runs, full-screen and live
  pointsman check form                       a shipped agent
  pointsman check my-agent.toml --json       your own chart
  pointsman graph research --format mermaid
  pointsman init my-agent.toml
  pointsman doctor                           check this machine

Run ids can be shortened to any unique prefix; `last` is the newest run.

Exit codes: 0 success, 1 failed, 2 usage or configuration, 3 waiting for a person,
4 budget, 5 stuck, 6 cancelled, 7 denied, 8 chart refused, 9 replay diverged, 10 store fault.";

fn main() -> ExitCode {
    // The program runs itself like this to confine a command before it starts.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == sandbox::HELPER) {
        return sandbox::helper_main(words);
    }
    let Arguments { globals, command } = Arguments::parse();
    let done = log::start(&globals).and_then(|()| command.run(&globals));
    telemetry::finish();
    match done {
        Ok(code) => code,
        Err(error) => {
            report::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
