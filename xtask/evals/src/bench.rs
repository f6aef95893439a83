//! `cargo xtask bench`: what a step and a replay cost, beside `XState` in the same run.

mod agent;
mod benched_chart;
mod figures;
mod governor;
mod instructions;
mod journal;
mod peer;
mod script;

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use xtask_model::shipped;

pub(crate) use self::figures::median;
use self::{
    benched_chart::BenchedChart,
    figures::{Figures, Row},
    peer::Peer,
};
use crate::{components, place, process};

const CAP: Duration = Duration::from_mins(30);
/// Rounds that warm caches and compilers up, and are not counted.
const WARM: usize = 5;
const ROUNDS: usize = 31;
/// Bytes of the results that the governor is shown: a few lines, and a page.
const RESULTS: [usize; 2] = [256, 4_096];
/// Passes of the kernel for each one of its peer, which is that much slower.
const PASSES: usize = 8;

/// Returns cargo, to run this program as it is built for release.
pub(crate) fn released() -> std::process::Command {
    let mut cargo = process::command(place::cargo());
    cargo.args(["run", "--quiet", "--locked", "--release", "--package", "xtask-evals"]);
    cargo.arg("--manifest-path").arg(place::root().join("Cargo.toml"));
    cargo
}

/// Builds this program for release and runs the benchmark there.
pub(crate) fn step(json: Option<&Path>) -> Result<bool> {
    let mut cargo = released();
    cargo.args(["--", "bench-step-inner"]);
    if let Some(file) = json {
        cargo.arg("--json").arg(file);
    }
    Ok(process::run(cargo, CAP).context("starting cargo")?.well())
}

/// Runs the benchmark, and returns whether every target was reached.
pub(crate) fn step_inner(json: Option<&Path>) -> Result<bool> {
    ensure!(!cfg!(debug_assertions), "a debug build measures nothing: use `bench step`");
    let mut rigs = rigs()?;
    let mut peer = Peer::start(&components::npm()?, &rigs)?;
    let counter = instructions::counter();
    let mut rows = Vec::new();
    for (place, rig) in rigs.iter_mut().enumerate() {
        eprintln!("measuring {}", rig.chart().name());
        rows.push(measure(rig.as_mut(), || peer.pass(place), counter)?);
    }
    drop(peer);
    eprintln!("measuring replay");
    let replay = journal::measure(&rigs)?;
    eprintln!("measuring the governor");
    let decisions = RESULTS.map(governor::measure).into_iter().collect::<Result<_>>()?;
    let figures = Figures { rows, replay, decisions };
    figures.print(counter);
    if let Some(file) = json {
        std::fs::write(file, figures.json().to_string()).context("writing the figures")?;
    }
    Ok(figures.print_targets())
}

/// Steps a chart's scripts a fixed number of times.
pub(crate) fn step_loop(chart: &str, passes: usize, of: usize) -> Result<bool> {
    let mut rig = benched_chart::rig(shipped::chart(chart)?)?;
    rig.run(passes, of)?;
    Ok(true)
}

fn rigs() -> Result<Vec<Box<dyn BenchedChart>>> {
    shipped::charts()?.into_iter().map(benched_chart::rig).collect()
}

/// Measures one chart: the kernel and its peer in turns, so that a noisy machine
/// is as noisy for both.
fn measure(
    rig: &mut dyn BenchedChart,
    mut peer: impl FnMut() -> Result<Duration>,
    counter: Option<&str>,
) -> Result<Row> {
    let (steps, hops) = (rig.steps(), rig.hops());
    let (mut per_step, mut per_hop, mut peers, mut ratios) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM + ROUNDS {
        let passes: Vec<f64> =
            (0..PASSES).map(|_| Ok(nanos(rig.pass()?))).collect::<Result<_>>()?;
        let its = nanos(peer()?);
        if round >= WARM {
            ratios.push(its / median(&passes));
            per_step.extend(passes.iter().map(|pass| pass / steps));
            per_hop.extend(passes.iter().map(|pass| pass / hops));
            peers.push(its / hops);
        }
    }
    let name = rig.chart().name().to_owned();
    Ok(Row {
        instructions: counter
            .map(|counter| instructions::per_step(counter, &name, steps))
            .transpose()?,
        allocations: rig.allocations()? / steps,
        allocations_of_a_run: rig.allocations_of_a_run()?,
        name,
        step: median(&per_step),
        hop: median(&per_hop),
        peer: median(&peers),
        ratio: median(&ratios),
    })
}

#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
const fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
const fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
const fn tally(number: u64) -> f64 {
    number as f64
}
