//! What the project does to itself: tests with real components, benchmarks.
//!
//! Run as `cargo xtask …` from anywhere inside the workspace.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for the terminal: printing is what it does"
)]

mod allocation;
mod bench;
mod components;
mod place;
mod process;
mod random;
mod shipped;
mod tiers;
mod xstate;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::tiers::Tier;

/// Set-up, tests with real components, benchmarks.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the tests, tier by tier, and installs what they need.
    Test {
        /// Run this tier alone; may be given more than once.
        #[arg(long, value_name = "TIER")]
        only: Vec<Tier>,
        /// Name the tiers and run none.
        #[arg(long)]
        list: bool,
    },
    /// Measures.
    #[command(subcommand)]
    Bench(Bench),
    /// The `xstate` tier, as the process that the tier starts.
    #[command(hide = true)]
    XstateTier,
    /// The step benchmark, as the release build that it starts.
    #[command(hide = true)]
    BenchStepInner {
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// A fixed loop of steps, for an instruction counter to watch.
    #[command(hide = true)]
    BenchLoop { chart: String, passes: usize, of: usize },
}

#[derive(Subcommand)]
enum Bench {
    /// Steps and replays of the shipped charts, beside `XState`.
    Step {
        /// Write the figures to this file as well.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Test { list: true, .. } => tiers::list(),
        Command::Test { only, list: false } => tiers::test(&only),
        Command::Bench(Bench::Step { json }) => bench::step(json.as_deref()),
        Command::XstateTier => xstate::tier(),
        Command::BenchStepInner { json } => bench::step_inner(json.as_deref()),
        Command::BenchLoop { chart, passes, of } => bench::step_loop(&chart, passes, of),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
