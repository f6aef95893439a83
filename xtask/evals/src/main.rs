//! Evaluations, benchmarks against other frameworks, and training.
//!
//! `cargo xtask` builds and runs this program for `bench`, `eval` and `train`; no other command
//! compiles it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for the terminal: printing is what it does"
)]

mod allocation;
mod bench;
mod durable;
mod eval;
mod eval_decode;
mod eval_explore;
mod eval_forms;
mod eval_screens;
mod eval_tokens;
mod filling;
mod fleet;
mod page;
mod train;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use pointsman_runtime::tool::sandbox;
use xtask::{pages, program, random, webdriver};
use xtask_set_up::{components, place, process};

/// Evaluations and benchmarks.
#[derive(Parser)]
#[command(bin_name = "xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures.
    #[command(subcommand)]
    Bench(Bench),
    /// Evaluates recordings: trajectories of agents, answers of providers.
    #[command(subcommand)]
    Eval(Eval),
    /// Learns from data.
    #[command(subcommand)]
    Train(Train),
    /// The step benchmark, as the release build that it starts.
    #[command(hide = true)]
    BenchStepInner {
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// The journal benchmark, as the release build that it starts.
    #[command(hide = true)]
    BenchJournalInner {
        #[arg(long)]
        waiting: usize,
        #[arg(long)]
        ram: bool,
        #[arg(long)]
        json: Option<PathBuf>,
    },
    /// The benchmark of fleets, as the release build that it starts.
    #[command(hide = true)]
    BenchFleetInner(fleet::Options),
    /// A worker of that benchmark.
    #[command(hide = true)]
    BenchFleetWorker(fleet::WorkerOptions),
    /// A fixed loop of durable steps, for a counter of system calls to watch.
    #[command(hide = true)]
    BenchJournalLoop { folder: PathBuf, steps: u32 },
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
    /// Steps that are kept on disk, beside a raw flush and other frameworks.
    Journal {
        /// Runs that wait at the same time.
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        waiting: usize,
        /// Measure in memory, beside `XState` and the SQL alone: our own share of a step.
        #[arg(long)]
        ram: bool,
        /// Write the figures to this file as well.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Runs that share PostgreSQL, beside a bare loop and other frameworks.
    Fleet(fleet::Options),
    /// What it costs to type a field, beside the rules alone.
    Fields {
        /// Measure the development build, which needs no building for release.
        #[arg(long)]
        dev: bool,
    },
    /// A form of a hundred fields, beside bare WebDriver calls that send the same keys.
    Form {
        /// Measure the development build, which needs no building for release.
        #[arg(long)]
        dev: bool,
        /// Write the figures to this file as well.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// A run with a long journal on the page, beside a page that loads the journal whole.
    Page(page::Options),
}

#[derive(Subcommand)]
enum Train {
    /// What form fields ask for.
    Fields {
        /// Where the labelled pages are, with their `index.json`.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Keep what the browser saw in this file, and take it from there the next time.
        #[arg(long, value_name = "FILE")]
        sightings: Option<PathBuf>,
        /// Write the model to this file, and not to where it ships from.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
enum Eval {
    /// The governor over runs of other agents: whom it flags, and when.
    Stuck {
        /// Where the trajectories are: `*.jsonl` or `*.jsonl.gz`, one per line.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
    /// The decoders over recorded answers of providers: text, calls, stop, usage, error.
    Decode {
        /// Where the answers are, with their `index.json`.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// How often each is decoded in random chunks.
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        splits: usize,
    },
    /// The form agent over pages of others: fields, components, and tasks with a reward.
    Forms(eval_forms::Options),
    /// The explore agent over recorded and synthetic apps: how many screens it reaches.
    Explore {
        /// Where the graphs are: `*.jsonl.gz`, and more in `synthetic`.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Runs of each.
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// Print a line for every app.
        #[arg(long)]
        verbose: bool,
    },
    /// How short and how sure the ways are that are found to the crashes of synthetic apps.
    Reproducers {
        /// Where the graphs are: `*.jsonl.gz`, and more in `synthetic`.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Runs of each.
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// Actions of each run.
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
        actions: u64,
        /// Print a line for every crash.
        #[arg(long)]
        verbose: bool,
    },
    /// How hierarchies of others are read, and whether screens are distinguished.
    Screens {
        /// Where the dumps are, with their `index.json`.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
    /// What goals without an answer cost, with the governor and without it.
    Tokens,
}

fn main() -> ExitCode {
    // Commands of the runs that it drives are confined by this program, as by the real one.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == sandbox::HELPER) {
        return sandbox::helper_main(words);
    }
    let done = match Arguments::parse().command {
        Command::Bench(Bench::Step { json }) => bench::step(json.as_deref()),
        Command::Bench(Bench::Journal { waiting, ram, json }) => {
            durable::bench(waiting, ram, json.as_deref())
        }
        Command::Bench(Bench::Fleet(options)) => fleet::bench(&options),
        Command::Bench(Bench::Fields { dev }) => train::bench(dev),
        Command::Bench(Bench::Form { dev, json }) => filling::bench(dev, json.as_deref()),
        Command::Bench(Bench::Page(options)) => page::bench(&options),
        Command::Eval(Eval::Stuck { data }) => eval::stuck(&data),
        Command::Eval(Eval::Decode { data, splits }) => eval_decode::decode(&data, splits),
        Command::Eval(Eval::Forms(options)) => eval_forms::forms(&options),
        Command::Eval(Eval::Explore { data, seeds, verbose }) => {
            eval_explore::explore(&data, seeds, verbose)
        }
        Command::Eval(Eval::Reproducers { data, seeds, actions, verbose }) => {
            eval_explore::reproducers(&data, seeds, actions, verbose)
        }
        Command::Eval(Eval::Screens { data }) => eval_screens::screens(&data),
        Command::Eval(Eval::Tokens) => eval_tokens::tokens(),
        Command::Train(Train::Fields { data, sightings, out }) => {
            train::fields(&data, sightings.as_deref(), out.as_deref())
        }
        Command::BenchStepInner { json } => bench::step_inner(json.as_deref()),
        Command::BenchJournalInner { waiting, ram, json } => {
            durable::inner(waiting, ram, json.as_deref())
        }
        Command::BenchFleetInner(options) => fleet::inner(&options),
        Command::BenchFleetWorker(options) => fleet::work(&options),
        Command::BenchJournalLoop { folder, steps } => durable::steps(&folder, steps),
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
