//! `cargo xtask bench fleet`: runs in PostgreSQL, beside a bare loop and other frameworks on the same
//! server.

mod claims;
mod database;
mod fairness;
mod figures;
mod forks;
mod scale;
mod steps;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use xtask::postgres::Postgres;

pub(crate) use self::scale::{WorkerOptions, work};
use self::{figures::Figures, scale::FEW};
use crate::{bench::released, components, place::Scratch, process};

const CAP: Duration = Duration::from_hours(1);

/// What is measured.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Measure this part alone; repeat it for several.
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
    /// Runs that wait at the same time.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    waiting: usize,
    /// How long a session idles in a transaction beside claims, in seconds; at least 15.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,
    /// Write the figures to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Part {
    /// Durable steps of 1, 8 and 64 runs.
    Steps,
    /// Throughput and memory of 1 and 8 workers.
    Workers,
    /// Throughput, claims and memory while many runs wait.
    Waiting,
    /// How long small keys wait behind a big one.
    Fairness,
    /// Claims, beside another queue over PostgreSQL.
    Claims,
    /// Claims beside a session that idles in a transaction.
    Idle,
    /// A bulk fork of very many runs.
    Forks,
}

impl Options {
    fn has(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Builds this program for release and runs the benchmark there.
pub(crate) fn bench(options: &Options) -> Result<bool> {
    let mut cargo = released();
    cargo.args(["--", "bench-fleet-inner"]);
    for part in &options.only {
        let name = part.to_possible_value().context("a part has a name")?;
        cargo.args(["--only", name.get_name()]);
    }
    cargo.args(["--waiting", &options.waiting.to_string(), "--idle", &options.idle.to_string()]);
    if let Some(file) = &options.json {
        cargo.arg("--json").arg(file);
    }
    Ok(process::run(cargo, CAP).context("starting cargo")?.well())
}

/// Runs the benchmark, and returns whether every target was reached.
pub(crate) fn inner(options: &Options) -> Result<bool> {
    ensure!(!cfg!(debug_assertions), "a debug build measures nothing: use `bench fleet`");
    eprintln!("installing missing components");
    components::postgres()?;
    let python = components::python_of_fleet()?;
    let (server, scratch) = (Postgres::start()?, Scratch::new()?);
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut figures = Figures::default();
    if options.has(Part::Steps) {
        let peers = steps::Peers { python: &python, server: &server, scratch: &scratch };
        figures.steps = Some(steps::measure(&threads, &peers)?);
    }
    if options.has(Part::Workers) {
        eprintln!("measuring 1 and 8 workers");
        figures.workers = Some(threads.block_on(scale::workers(&server))?);
    }
    if options.has(Part::Waiting) {
        let many = options.waiting;
        eprintln!("measuring {FEW} and {many} runs that wait");
        figures.waiting = Some((many, threads.block_on(scale::waiting(&server, many))?));
    }
    if options.has(Part::Fairness) {
        eprintln!("measuring how long small keys wait");
        figures.fairness = threads.block_on(fairness::all(&server))?;
    }
    if options.has(Part::Claims) {
        eprintln!("measuring claims");
        let npm = components::npm_of_fleet()?;
        let measured = threads.block_on(claims::beside_peer(&server, &npm, &scratch))?;
        figures.claims = Some(measured);
    }
    if options.has(Part::Idle) {
        let idle = Duration::from_secs(options.idle);
        eprintln!("measuring claims beside a transaction that idles for {} s", idle.as_secs());
        figures.idle = Some(threads.block_on(claims::beside_idle(&server, idle))?);
    }
    if options.has(Part::Forks) {
        eprintln!("measuring a bulk fork of {} runs", forks::RUNS);
        figures.forks = Some(threads.block_on(forks::measure(&server))?);
    }
    drop(server);
    figures.print();
    if let Some(file) = &options.json {
        write(file, &figures)?;
    }
    Ok(figures.print_targets())
}

fn write(file: &Path, figures: &Figures) -> Result<()> {
    std::fs::write(file, figures.json().to_string()).context("writing the figures")
}
