//! `cargo xtask bench journal --ram`: what a durable step costs beside the disk. In memory a
//! flush takes nothing, so the rest is our own work.

use std::{fs, path::Path, time::Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    grouped::{self, Grouped, Single},
    micros,
    peers::{self, STEPS},
    same_sql::SameSql,
};
use crate::{bench::median, components, place::Scratch};

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";
/// Rounds of the four counters in turns; the first is not counted.
const ROUNDS: usize = 7;
/// The targets: beside `XState` with better-sqlite3, the same SQL alone, and the bare loop.
const XSTATE: f64 = 0.75;
const SAME: f64 = 1.5;
const SHARE: f64 = 0.75;

/// What was measured; microseconds per step, medians.
struct Figures {
    ours: f64,
    xstate: f64,
    /// The same statements on the same tables.
    same: f64,
    /// The least that keeps a step: two short rows of numbers and a text.
    least: f64,
    /// Round by round.
    to_xstate: f64,
    to_same: f64,
    grouped: Grouped,
}

/// Runs the benchmark, and returns whether every target was reached.
pub(super) fn inner(json: Option<&Path>) -> Result<bool> {
    ensure!(Path::new(MEMORY).is_dir(), "{MEMORY} is not there: mount a tmpfs there first");
    let npm = components::npm_of_benches()?;
    let scratch = Scratch::within(Path::new(MEMORY))?;
    let (mut ours, mut xstates) = (Vec::new(), Vec::new());
    let (mut sames, mut leasts) = (Vec::new(), Vec::new());
    let (mut to_xstate, mut to_same) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        eprintln!("measuring one run, round {round} of {ROUNDS}");
        let folder = scratch.file(&format!("round-{round}"));
        fs::create_dir_all(&folder).context("making a folder in memory")?;
        let our = peers::ours(&folder)?;
        let (_, xstate) = peers::xstate(&npm, &folder)?;
        let mut same = SameSql::open(&folder.join("same.db"))?;
        let same = alone(|_| same.write())?;
        let mut least = Single::open(&folder.join("least.db"))?;
        let least = alone(|seq| least.write(seq))?;
        if round > 0 {
            to_xstate.push(our / xstate);
            to_same.push(our / same);
            ours.push(our);
            xstates.push(xstate);
            sames.push(same);
            leasts.push(least);
        }
    }
    eprintln!("measuring many runs");
    let grouped = grouped::measure(&scratch.file("grouped"))?;
    let figures = Figures {
        ours: median(&ours),
        xstate: median(&xstates),
        same: median(&sames),
        least: median(&leasts),
        to_xstate: median(&to_xstate),
        to_same: median(&to_same),
        grouped,
    };
    figures.print();
    if let Some(file) = json {
        fs::write(file, figures.json().to_string()).context("writing the figures")?;
    }
    Ok(figures.print_targets())
}

/// Returns what SQL takes alone, on the caller's thread.
fn alone(mut write: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    for seq in 1..=u64::from(STEPS) {
        write(seq)?;
    }
    Ok(micros(started.elapsed()) / f64::from(STEPS))
}

impl Figures {
    fn print(&self) {
        let Self { ours, xstate, same, least, grouped, .. } = self;
        println!("in memory, {STEPS} steps of a counter, µs per step:");
        println!(
            "  ours {ours:.1}, XState with better-sqlite3 {xstate:.1}, the same SQL alone {same:.1}, \
             the least SQL that keeps a step {least:.1}"
        );
        let Grouped { runs, ours, bare, share, .. } = grouped;
        println!("{runs} runs: {ours:.0} steps/s, a bare loop {bare:.0}/s, {:.0} %", share * 100.0);
    }

    fn print_targets(&self) -> bool {
        let Self { to_xstate, to_same, grouped, .. } = self;
        let targets = [
            (*to_xstate <= XSTATE, format!("the counter <= {XSTATE} of XState: {to_xstate:.2}")),
            (
                *to_same <= SAME,
                format!("the counter <= {SAME} times the same SQL alone: {to_same:.2}"),
            ),
            (
                grouped.share >= SHARE,
                format!("at least 75 % of a bare loop: {:.0} %", grouped.share * 100.0),
            ),
        ];
        for (reached, target) in &targets {
            println!("{}  {target}", if *reached { "pass" } else { "FAIL" });
        }
        targets.iter().all(|(reached, _)| *reached)
    }

    fn json(&self) -> Value {
        let Self { ours, xstate, same, least, to_xstate, to_same, grouped } = self;
        json!({
            "counter": {
                "us_per_step": ours,
                "xstate_us_per_step": xstate,
                "sql_us_per_step": same,
                "least_us_per_step": least,
                "of_xstate": to_xstate,
                "of_sql": to_same,
            },
            "grouped": {
                "runs": grouped.runs,
                "steps_per_s": grouped.ours,
                "bare_per_s": grouped.bare,
                "share": grouped.share,
            },
        })
    }
}
