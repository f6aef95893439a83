//! `cargo xtask bench journal`: what a step costs that survives a power loss.
//!
//! Disks differ and change from minute to minute, so every figure stands beside a raw
//! append and flush that was measured in between.

pub(crate) mod clock;
pub(crate) mod counter;
pub(crate) mod disk;
mod figures;
mod flushes;
mod grouped;
mod many;
pub(crate) mod peers;
mod ram;
mod same_sql;
pub(crate) mod waiting;

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use pointsman_runtime::store::SqliteOptions;

use self::{counter::Counter, disk::Raw, figures::Figures, figures::Pairs};
use crate::{
    bench::{median, released},
    components,
    place::{self, Scratch},
    process,
};

pub(crate) use self::flushes::steps;

const CAP: Duration = Duration::from_hours(1);
/// Pairs of a raw flush and a step, after some to warm up.
const PAIRS: usize = 1_000;
/// Steps before the first pair that counts: by then the log has been written back once,
/// and is written over from then on.
const WARM: usize = 1_200;

/// Builds this program for release and runs the benchmark there.
pub(crate) fn bench(waiting: usize, ram: bool, json: Option<&Path>) -> Result<bool> {
    let mut cargo = released();
    cargo.args(["--", "bench-journal-inner", "--waiting", &waiting.to_string()]);
    if ram {
        cargo.arg("--ram");
    }
    if let Some(file) = json {
        cargo.arg("--json").arg(file);
    }
    Ok(process::run(cargo, CAP).context("starting cargo")?.well())
}

/// Runs the benchmark, and returns whether every target was reached.
pub(crate) fn inner(waiting: usize, ram: bool, json: Option<&Path>) -> Result<bool> {
    ensure!(!cfg!(debug_assertions), "a debug build measures nothing: use `bench journal`");
    if ram {
        return ram::inner(json);
    }
    eprintln!("installing what is missing of the peers");
    let peers = peers::Peers::ready()?;
    components::strace()?;
    // Next to the build output, on a disk: the temporary folder may be in memory.
    let ourselves = std::env::current_exe().context("finding this very program")?;
    let disk = ourselves.parent().context("a program lies in a folder")?;
    let scratch = Scratch::within(disk)?;
    eprintln!("measuring one run");
    let pairs = pairs(&scratch.file("pairs"))?;
    eprintln!("counting flushes");
    let flushes = flushes::count(&scratch.file("flushes"))?;
    eprintln!("measuring many runs");
    let grouped = grouped::measure(&scratch.file("grouped"))?;
    eprintln!("measuring peers");
    let peers = peers.measure(&scratch.file("peers"))?;
    eprintln!("measuring {waiting} waiting runs");
    let waiting = waiting::measure(&scratch.file("waiting"), waiting)?;
    eprintln!("measuring figures over many runs");
    let many = many::measure(&scratch.file("many"), many::SIZES)?;
    let figures = Figures { pairs, flushes, grouped, peers, waiting, many };
    figures.print();
    if let Some(file) = json {
        std::fs::write(file, figures.json().to_string()).context("writing the figures")?;
    }
    Ok(figures.print_targets())
}

/// Measures one run's steps and raw flushes in turns.
fn pairs(folder: &Path) -> Result<Pairs> {
    std::fs::create_dir_all(folder)?;
    let mut counter = Counter::open(&folder.join("journal.db"))?;
    let record = counter.bytes_of_a_step()?;
    let mut raw = Raw::open(&folder.join("raw"), record)?;
    let (mut ratios, mut steps, mut flushes) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..WARM + PAIRS {
        // The first may pay for the remains of the other.
        let (step, flush) = if pair % 2 == 0 {
            let flush = raw.append()?;
            (counter.step()?, flush)
        } else {
            (counter.step()?, raw.append()?)
        };
        if pair >= WARM {
            ratios.push(step.as_secs_f64() / flush.as_secs_f64());
            steps.push(micros(step));
            flushes.push(micros(flush));
        }
    }
    Ok(Pairs { record, step: median(&steps), raw: median(&flushes), ratio: median(&ratios) })
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns how journals are opened: as the command does.
fn options() -> SqliteOptions {
    SqliteOptions { inline_commit: true, ..SqliteOptions::default() }
}

/// Returns the text of the counter's chart.
fn chart() -> Result<String> {
    std::fs::read_to_string(place::script("bench/counter.toml")).context("reading the counter")
}
