//! What the project does to itself: tests with real components, benchmarks.
//!
//! Run as `cargo xtask …` from anywhere inside the workspace.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for the terminal: printing is what it does"
)]

mod chaos;
mod code;
mod evals;
mod history;
mod kill;
mod live;
mod record;
mod soak;
mod tiers;
mod xstate;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use pointsman_runtime::tool::sandbox;
use xtask::{pages, postgres, program, random, server, webdriver};
use xtask_set_up::{components, place, process};

use crate::{evals::Words, tiers::Tier};

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
    /// Runs with bad models and kills at random moments, for a long time.
    Soak(soak::Amount),
    /// Measures.
    #[command(disable_help_flag = true)]
    Bench(Words),
    /// Explores every run of the shipped charts, reduced, within caps.
    CheckModel(xtask_model::Options),
    /// Evaluates recordings: trajectories of agents, answers of providers.
    #[command(disable_help_flag = true)]
    Eval(Words),
    /// Learns from data.
    #[command(disable_help_flag = true)]
    Train(Words),
    /// Makes a picture of a conversation on a terminal, or of a form in a browser.
    Record {
        /// What it shows.
        #[arg(default_value = "chat")]
        what: record::RecordingSubject,
    },
    /// Prints every string that users read, with its place.
    Words,
    /// One tier, as the process that `test` starts for it.
    #[command(hide = true)]
    RunTier { tier: Tier },
    /// Counts requests, as the process that the `kill` tier starts.
    #[command(hide = true)]
    CountServer { port: u16, file: PathBuf },
    /// A watcher of the `chaos` tier.
    #[command(hide = true)]
    ChaosWatch(chaos::watch::Options),
}

fn main() -> ExitCode {
    // Commands of the runs that it drives are confined by this program, as by the real one.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == sandbox::HELPER) {
        return sandbox::helper_main(words);
    }
    let done = match Arguments::parse().command {
        Command::Test { list: true, .. } => tiers::list(),
        Command::Test { only, list: false } => tiers::test(&only),
        Command::Soak(amount) => soak::soak(amount),
        Command::Bench(words) => evals::run("bench", &words),
        Command::CheckModel(options) => xtask_model::check(&options),
        Command::Eval(words) => evals::run("eval", &words),
        Command::Train(words) => evals::run("train", &words),
        Command::Record { what } => record::record(what),
        Command::Words => print_words(),
        Command::RunTier { tier } => tiers::inner(tier),
        Command::ChaosWatch(options) => chaos::watch::watch(&options),
        Command::CountServer { port, file } => kill::counter::serve(port, &file),
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

fn print_words() -> anyhow::Result<bool> {
    print!("{}", xtask_words::document(&xtask_words::collect(&place::root())?));
    Ok(true)
}
