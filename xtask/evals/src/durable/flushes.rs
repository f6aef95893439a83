//! Flushes per step, counted by watching the system calls of a fixed loop.

use std::{env, fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail};

use super::counter::Counter;
use crate::process;

const CAP: Duration = Duration::from_mins(5);
/// Two loops that differ in nothing but their steps, and are too short to fill the log
/// that is written ahead.
const FEW: u32 = 50;
const MANY: u32 = 250;
/// A loop that fills it several times.
const LONG: u32 = 5_000;

/// What was counted.
pub(super) struct Flushes {
    /// Of a step, while the log has room.
    pub(super) per_step: f64,
    /// Steps of the long loop, its flushes in all, and those of them that move the log
    /// into the journal.
    pub(super) long: (u32, u64, u64),
}

/// Counts the flushes of loops.
pub(super) fn count(folder: &Path) -> Result<Flushes> {
    let (few, _) = watched(&folder.join("few"), FEW)?;
    let (many, _) = watched(&folder.join("many"), MANY)?;
    let (all, checkpoints) = watched(&folder.join("long"), LONG)?;
    #[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
    let more = many.saturating_sub(few) as f64;
    Ok(Flushes { per_step: more / f64::from(MANY - FEW), long: (LONG, all, checkpoints) })
}

/// Only takes steps, for strace.
pub(crate) fn steps(folder: &Path, steps: u32) -> Result<bool> {
    let mut counter = Counter::open(&folder.join("journal.db"))?;
    for _ in 0..steps {
        counter.step()?;
    }
    Ok(true)
}

/// Returns the flushes of a loop, and those of the journal's main file.
fn watched(folder: &Path, steps: u32) -> Result<(u64, u64)> {
    fs::create_dir_all(folder)?;
    let log = folder.join("calls");
    let mut strace = process::command("strace");
    strace.args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-o"]);
    strace.arg(&log).arg(env::current_exe().context("finding this very program")?);
    strace.arg("bench-journal-loop").arg(folder).arg(steps.to_string());
    let ended = process::run(strace, CAP).context("starting strace")?;
    if !ended.well() {
        bail!("the loop cannot be watched ({ended:?})");
    }
    counted(&fs::read_to_string(&log)?).context("no flush was seen")
}

/// Counts the calls in a log of strace, and those on the main file. A call that another thread
/// interrupts is logged in two lines; only the first has a file.
fn counted(log: &str) -> Option<(u64, u64)> {
    let calls = log.lines().filter(|line| line.contains("sync(") && !line.contains("resumed"));
    let (mut all, mut main) = (0, 0);
    for call in calls {
        all += 1;
        main += u64::from(call.contains("journal.db>"));
    }
    (all > 0).then_some((all, main))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_file() {
        let log = "7 fdatasync(5</t/journal.db-wal>) = 0\n\
                   7 fdatasync(5</t/journal.db-wal> <unfinished ...>\n\
                   8 <... fdatasync resumed>) = 0\n\
                   7 fsync(4</t/journal.db>) = 0\n\
                   7 +++ exited with 0 +++\n";
        assert_eq!(counted(log), Some((3, 1)));
        assert_eq!(counted(""), None);
    }
}
