//! `cargo xtask bench journal --ram`: what a durable step costs beside the disk. In memory a
//! flush takes nothing, so the rest is our own work.

use std::{fs, path::Path, time::Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    grouped::{self, Grouped, Single},
    micros,
    peers::{self, STEPS},
};
use crate::{bench::median, components, place::Scratch};

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";
/// Rounds of the three counters in turns; the first is not counted.
const ROUNDS: usize = 7;
/// The targets: beside `XState` with better-sqlite3, the same SQL alone, and the bare loop.
const XSTATE: f64 = 0.75;
const BARE: f64 = 1.5;
const SHARE: f64 = 0.75;

/// What was measured; microseconds per step, medians.
struct Figures {
    ours: f64,
    xstate: f64,
    bare: f64,
    /// Round by round.
    to_xstate: f64,
    to_bare: f64,
    grouped: Grouped,
}

/// Runs the benchmark, and returns whether every target was reached.
pub(super) fn inner(json: Option<&Path>) -> Result<bool> {
    ensure!(Path::new(MEMORY).is_dir(), "{MEMORY} is not there: mount a tmpfs there first");
    let npm = components::npm_of_benches()?;
    let scratch = Scratch::within(Path::new(MEMORY))?;
    let (mut ours, mut xstates, mut bares) = (Vec::new(), Vec::new(), Vec::new());
    let (mut to_xstate, mut to_bare) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        eprintln!("measuring one run, round {round} of {ROUNDS}");
        let folder = scratch.file(&format!("round-{round}"));
        fs::create_dir_all(&folder).context("making a folder in memory")?;
        let our = peers::ours(&folder)?;
        let (_, xstate) = peers::xstate(&npm, &folder)?;
        let bare = alone(&folder)?;
        if round > 0 {
            to_xstate.push(our / xstate);
            to_bare.push(our / bare);
            ours.push(our);
            xstates.push(xstate);
            bares.push(bare);
        }
    }
    eprintln!("measuring many runs");
    let grouped = grouped::measure(&scratch.file("grouped"))?;
    let figures = Figures {
        ours: median(&ours),
        xstate: median(&xstates),
        bare: median(&bares),
        to_xstate: median(&to_xstate),
        to_bare: median(&to_bare),
        grouped,
    };
    figures.print();
    if let Some(file) = json {
        fs::write(file, figures.json().to_string()).context("writing the figures")?;
    }
    Ok(figures.print_targets())
}

/// Returns what the same SQL takes alone, on the caller's thread.
fn alone(folder: &Path) -> Result<f64> {
    let mut single = Single::open(&folder.join("bare.db"))?;
    let started = Instant::now();
    for seq in 1..=u64::from(STEPS) {
        single.write(seq)?;
    }
    Ok(micros(started.elapsed()) / f64::from(STEPS))
}

impl Figures {
    fn print(&self) {
        let Self { ours, xstate, bare, grouped, .. } = self;
        println!("in memory, {STEPS} steps of a counter, µs per step:");
        println!(
            "  ours {ours:.1}, XState with better-sqlite3 {xstate:.1}, the SQL alone {bare:.1}"
        );
        let Grouped { runs, ours, bare, share, .. } = grouped;
        println!("{runs} runs: {ours:.0} steps/s, a bare loop {bare:.0}/s, {:.0} %", share * 100.0);
    }

    fn print_targets(&self) -> bool {
        let Self { to_xstate, to_bare, grouped, .. } = self;
        let targets = [
            (*to_xstate <= XSTATE, format!("the counter <= {XSTATE} of XState: {to_xstate:.2}")),
            (*to_bare <= BARE, format!("the counter <= {BARE} times the SQL alone: {to_bare:.2}")),
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
        let Self { ours, xstate, bare, to_xstate, to_bare, grouped } = self;
        json!({
            "counter": {
                "us_per_step": ours,
                "xstate_us_per_step": xstate,
                "sql_us_per_step": bare,
                "of_xstate": to_xstate,
                "of_sql": to_bare,
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
