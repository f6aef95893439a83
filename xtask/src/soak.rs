//! `cargo xtask soak`: the `live`, `code` and `kill` tiers, for much longer, and engines that share a
//! thread.

mod heartbeat;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{chaos, code, kill, live, program};

/// Killed runs for each run with a model, where nothing else is asked for.
const KILLS: usize = 20;

/// A part that runs for itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum SoakPart {
    /// Eight workers, 2,000 runs, kills, and a standby that is promoted under load.
    Fleet,
}

/// How much of each.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Amount {
    /// A part that runs alone.
    only: Option<SoakPart>,
    /// Runs with each kind of model, and changes that are killed on the way.
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: usize,
    /// Runs with the weak model, which is slow [default: as many as of the others].
    #[arg(long, value_name = "N")]
    weak: Option<usize>,
    /// Runs that are killed at random moments [default: 20 times as many].
    #[arg(long, value_name = "N")]
    kills: Option<usize>,
}

/// Runs so many runs with each bad model, makes as many changes that are killed on the
/// way, then kills at random moments.
pub(crate) fn soak(amount: Amount) -> Result<bool> {
    let Amount { only, runs, weak, kills } = amount;
    if only == Some(SoakPart::Fleet) {
        return chaos::soak();
    }
    program::build(false)?;
    let weak = weak.unwrap_or(runs);
    let kills = kills.unwrap_or_else(|| runs.saturating_mul(KILLS));
    let mut rows = Vec::new();
    // A part without runs has nothing to prove.
    if weak + runs > 0 {
        rows.push(timed("live", || live::runs(weak, runs))?);
    }
    if runs > 0 {
        rows.push(timed("code", || code::runs(runs))?);
    }
    rows.push(timed("engines", heartbeat::runs)?);
    if kills > 0 {
        rows.push(timed("kill", || kill::runs(kills))?);
    }
    println!("\n{:<9}{:>9}  result", "soak", "seconds");
    for (name, took, well) in &rows {
        let result = if *well { "passed" } else { "FAILED" };
        println!("{name:<9}{:>9.1}  {result}", took.as_secs_f64());
    }
    Ok(rows.iter().all(|(.., well)| *well))
}

type Timed = (&'static str, Duration, bool);

fn timed(name: &'static str, work: impl FnOnce() -> Result<bool>) -> Result<Timed> {
    let started = Instant::now();
    let well = work().with_context(|| format!("in `{name}`"))?;
    Ok((name, started.elapsed(), well))
}
