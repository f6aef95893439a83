//! `cargo xtask soak`: the `live`, `code` and `kill` tiers, for much longer.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{code, kill, live, place, process};

/// Killed runs for each run with a model.
const KILLS: usize = 20;
const BUILD_CAP: Duration = Duration::from_mins(15);

/// Runs so many runs with each bad model, makes as many changes that are killed on the
/// way, then kills at random moments.
pub(crate) fn soak(runs: usize) -> Result<bool> {
    let built = process::run(build(), BUILD_CAP).context("starting cargo")?;
    ensure!(built.well(), "the program does not build");
    let rows = [
        timed("live", || live::runs(runs, runs))?,
        timed("code", || code::runs(runs))?,
        timed("kill", || kill::runs(runs.saturating_mul(KILLS)))?,
    ];
    println!("\n{:<8}{:>10}  result", "soak", "seconds");
    for (name, took, well) in rows {
        let result = if well { "passed" } else { "FAILED" };
        println!("{name:<8}{:>10.1}  {result}", took.as_secs_f64());
    }
    Ok(rows.iter().all(|(.., well)| *well))
}

type Timed = (&'static str, Duration, bool);

fn timed(name: &'static str, work: impl FnOnce() -> Result<bool>) -> Result<Timed> {
    let started = Instant::now();
    let well = work().with_context(|| format!("in `{name}`"))?;
    Ok((name, started.elapsed(), well))
}

fn build() -> Command {
    let mut cargo = process::command(place::cargo());
    cargo.args(["build", "--locked", "--package", "pointsman"]).current_dir(place::root());
    cargo
}
