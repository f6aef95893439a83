//! The `chaos` tier: a fleet under load while its workers are killed and suspended, its server
//! crashes, and its connections are cut and delayed. A checker reads what is left: tables, and every
//! effect that was started.
//!
//! The same storm with a planted fault must be noticed: a checker that finds nothing has to show that
//! it could. And the storm of a fault that shows only at the end must pass without the fault: a sound
//! fleet could be too slow for it.

mod check;
mod fleet;
mod history;
mod load;
mod proxy;
mod pulse;
mod scene;
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
    /// Whether it shows only once all is over.
    at_end: bool,
}

const FAULTS: [Fault; 9] = [
    Fault {
        name: "no-epoch",
        seconds: 20,
        rounds: 60,
        strokes: &[Stroke::Suspend],
        shows: &[Violation::SecondWriter],
        at_end: false,
    },
    Fault {
        name: "early-answer",
        seconds: 15,
        rounds: 60,
        strokes: &[],
        shows: &[Violation::NoEntry, Violation::Gap],
        at_end: false,
    },
    // Answers are lost only with a connection.
    Fault {
        name: "unknown-is-written",
        seconds: 20,
        rounds: 60,
        strokes: &[Stroke::Crash, Stroke::Cut],
        shows: &[Violation::NoEntry, Violation::Gap],
        at_end: false,
    },
    // Only an answer that is lost after the commit shows it: cuts lose more of them than crashes.
    Fault {
        name: "blind-retry",
        seconds: 40,
        rounds: 60,
        strokes: &[Stroke::Cut, Stroke::Cut, Stroke::Crash],
        shows: &[Violation::WrittenTwice],
        at_end: false,
    },
    Fault {
        name: "late-permit",
        seconds: 20,
        rounds: 60,
        strokes: &[Stroke::Suspend],
        shows: &[Violation::PastLease],
        at_end: false,
    },
    Fault {
        name: "no-mail-check",
        seconds: 12,
        rounds: 60,
        strokes: &[Stroke::Cut],
        shows: &[Violation::LostWake],
        at_end: false,
    },
    Fault {
        name: "effect-first",
        seconds: 15,
        rounds: 60,
        strokes: &[],
        shows: &[Violation::NoEntry],
        at_end: false,
    },
    // Once Redis has gone, no run is claimed again.
    Fault {
        name: "hints-trusted",
        seconds: 6,
        rounds: 3,
        strokes: &[Stroke::FlushRedis, Stroke::LoseRedis],
        shows: &[Violation::NotEnded],
        at_end: true,
    },
    Fault {
        name: "serial-cursor",
        seconds: 8,
        rounds: 2,
        strokes: &[Stroke::Delay],
        shows: &[Violation::Unheard],
        at_end: true,
    },
];

/// Runs the storm without a fault, then with each.
pub(crate) fn tier() -> Result<bool> {
    let whole = Storm {
        workers: 3,
        seed: SEED,
        runs: 200,
        parts: 14,
        rounds: 4,
        seconds: 90,
        standby: false,
        fault: None,
        planted: false,
    };
    watch::threads()?.block_on(async {
        let mut passed = report(&whole).await?;
        for fault in &FAULTS {
            let Fault { seconds, rounds, at_end, .. } = *fault;
            let sound = Storm { runs: 40, parts: 1, rounds, seconds, fault: Some(fault), ..whole };
            if at_end {
                passed &= report(&sound).await?;
            }
            let mut noticed = false;
            for seed in SEED..SEED + STORMS {
                noticed = report(&Storm { seed, planted: true, ..sound }).await?;
                if noticed {
                    break;
                }
            }
            passed &= noticed;
        }
        Ok(passed)
    })
}

/// Runs eight workers and thousands of runs, with a standby that is promoted when half of them have
/// ended.
pub(crate) fn soak() -> Result<bool> {
    program::build(false)?;
    let storm = Storm {
        workers: 8,
        seed: SEED,
        runs: 2_000,
        parts: 20,
        rounds: 2,
        seconds: 240,
        standby: true,
        fault: None,
        planted: false,
    };
    watch::threads()?.block_on(report(&storm))
}

/// Runs a storm, and returns whether the checker says what it should.
async fn report(storm: &Storm) -> Result<bool> {
    let started = Instant::now();
    let (history, found) = storm.run().await?;
    let name = match storm.fault {
        None => "no fault".to_owned(),
        Some(fault) if storm.planted => fault.name.to_owned(),
        Some(fault) => format!("the storm of {}, without the fault", fault.name),
    };
    println!("{name}: {}, {:.0} s", history.summary(), started.elapsed().as_secs_f64());
    for (violation, what) in found.iter().take(10) {
        println!("  {}: {what}", violation.rule());
    }
    let shows = found.iter().any(|(violation, _)| storm.shows(*violation));
    let mut passed = shows == storm.planted;
    if storm.fault.is_none() {
        for lack in history.lacks() {
            println!("  {lack}: the storm shows nothing");
            passed = false;
        }
    }
    println!("  {}", if passed { "as it should be" } else { "NOT as it should be" });
    Ok(passed)
}
