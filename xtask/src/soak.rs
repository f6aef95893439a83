//! `cargo xtask soak`: the `live` and `kill` tiers, for much longer.

use std::{process::Command, time::Instant};

use anyhow::{Context, Result, ensure};

use crate::{kill, live, place, process};

/// Killed runs for each run with a model.
const KILLS: usize = 20;
const BUILD_CAP: std::time::Duration = std::time::Duration::from_mins(15);

/// Runs so many runs with each bad model, then kills at random moments.
pub(crate) fn soak(runs: usize) -> Result<bool> {
    let built = process::run(build(), BUILD_CAP).context("starting cargo")?;
    ensure!(built.well(), "the program does not build");
    let started = Instant::now();
    let lived = live::runs(runs, runs)?;
    let live_took = started.elapsed();
    let started = Instant::now();
    let survived = kill::runs(runs.saturating_mul(KILLS))?;
    let word = |well: bool| if well { "passed" } else { "FAILED" };
    println!("live  {:>8.1} s  {}", live_took.as_secs_f64(), word(lived));
    println!("kill  {:>8.1} s  {}", started.elapsed().as_secs_f64(), word(survived));
    Ok(lived && survived)
}

fn build() -> Command {
    let mut cargo = process::command(place::cargo());
    cargo.args(["build", "--locked", "--package", "pointsman"]).current_dir(place::root());
    cargo
}
