//! The `chaos` tier: a fleet under load while its workers are killed and suspended, its server
//! crashes, and its connections are cut and delayed. A checker reads what is left: tables, and every
//! effect that was started.
//!
//! The same storm with a planted fault must be noticed: a checker that finds nothing has to show that
//! it could.

mod check;
mod fleet;
mod load;
mod proxy;
mod storm;
pub(crate) mod watch;

use std::time::{Duration, Instant};

use anyhow::Result;

use self::{
    check::Violation,
    storm::{Storm, Stroke},
};
use crate::program;

/// How long a lease lasts here, and the time between two looks at the queue.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
pub(crate) const POLL: Duration = Duration::from_millis(500);

/// Every storm of this tier comes from it.
const SEED: u64 = 16;

/// How many storms may pass before a fault shows: a busy machine moves the strokes to other moments.
const STORMS: u64 = 4;

/// A fault of every worker, and the storm that shows it.
struct Fault {
    name: &'static str,
    /// The longest time that the storm lasts.
    seconds: u64,
    /// Words to each run.
    rounds: usize,
    /// The strokes that it needs if not all.
    strokes: &'static [Stroke],
    /// The violations that show it.
    shows: &'static [Violation],
}

const FAULTS: [Fault; 7] = [
    Fault {
        name: "no-epoch",
        seconds: 20,
        rounds: 60,
        strokes: &[Stroke::Suspend],
        shows: &[Violation::SecondWriter],
    },
    Fault {
        name: "early-answer",
        seconds: 15,
        rounds: 60,
        strokes: &[],
        shows: &[Violation::NoEntry, Violation::Gap],
    },
    // Answers are lost only with a connection.
    Fault {
        name: "unknown-is-written",
        seconds: 20,
        rounds: 60,
        strokes: &[Stroke::Crash, Stroke::Cut],
        shows: &[Violation::NoEntry, Violation::Gap],
    },
    Fault {
        name: "no-mail-check",
        seconds: 12,
        rounds: 60,
        strokes: &[Stroke::Cut],
        shows: &[Violation::LostWake],
    },
    Fault {
        name: "effect-first",
        seconds: 15,
        rounds: 60,
        strokes: &[],
        shows: &[Violation::NoEntry],
    },
    // Short ones: what never happens shows at their end.
    Fault {
        name: "hints-trusted",
        seconds: 6,
        rounds: 60,
        strokes: &[Stroke::FlushRedis, Stroke::KillRedis],
        shows: &[Violation::NotEnded],
    },
    Fault {
        name: "serial-cursor",
        seconds: 8,
        rounds: 2,
        strokes: &[Stroke::Delay],
        shows: &[Violation::Unheard],
    },
];

/// Runs the storm without a fault, then with each.
pub(crate) fn tier() -> Result<bool> {
    let whole = Storm {
        workers: 3,
        seed: SEED,
        runs: 200,
        rounds: 4,
        seconds: 90,
        standby: false,
        fault: None,
    };
    watch::threads()?.block_on(async {
        let mut passed = report(&whole).await?;
        for fault in &FAULTS {
            let Fault { seconds, rounds, .. } = *fault;
            let mut noticed = false;
            for seed in SEED..SEED + STORMS {
                let fault = Some(fault);
                noticed =
                    report(&Storm { seed, runs: 40, rounds, seconds, fault, ..whole }).await?;
                if noticed {
                    break;
                }
            }
            passed &= noticed;
        }
        Ok(passed)
    })
}

/// Runs eight workers and thousands of runs, with a standby that is promoted half-way.
pub(crate) fn soak() -> Result<bool> {
    program::build(false)?;
    let storm = Storm {
        workers: 8,
        seed: SEED,
        runs: 2_000,
        rounds: 2,
        seconds: 240,
        standby: true,
        fault: None,
    };
    watch::threads()?.block_on(report(&storm))
}

/// Runs a storm, and returns whether the checker says what it should.
async fn report(storm: &Storm) -> Result<bool> {
    let started = Instant::now();
    let (history, found) = storm.run().await?;
    let name = storm.fault.map_or("no fault", |fault| fault.name);
    println!("{name}: {}, {:.0} s", history.summary(), started.elapsed().as_secs_f64());
    for (violation, what) in found.iter().take(10) {
        println!("  {}: {what}", violation.rule());
    }
    let shows = |fault: &Fault| found.iter().any(|(violation, _)| fault.shows.contains(violation));
    let passed = storm.fault.map_or(found.is_empty(), shows);
    println!("  {}", if passed { "as it should be" } else { "NOT as it should be" });
    Ok(passed)
}
