//! The `code` tier: a change in two phases to a real repository, by a scripted model.
//!
//! The model sees a test fail, edits wrongly until it is stopped, recovers, and commits twice.
//! People answer from other processes. On the way the program is killed and resumed, and the
//! repository must be the same as in an undisturbed run.

mod change_test;
mod judge;
mod project;

use std::time::Instant;

use anyhow::{Context, Result};

use self::change_test::{ChangeTest, Kills};

/// Runs the tier.
pub(crate) fn tier() -> Result<bool> {
    runs(1)
}

/// Makes the change so many times in each way, and returns whether all went well.
pub(crate) fn runs(times: usize) -> Result<bool> {
    let course = ChangeTest::open()?;
    let mut well = true;
    println!("{:<24}{:>7}{:>8}{:>8}{:>9}", "killed", "kills", "asked", "entries", "seconds");
    for _ in 0..times {
        for kills in [Kills::Never, Kills::Twice, Kills::Everywhere] {
            let started = Instant::now();
            let done = course.go(kills).with_context(|| format!("a change, killed {kills}"))?;
            let complaints = judge::complaints(kills, &done);
            let (entries, took) = (done.entries(), started.elapsed().as_secs_f64());
            let (killed, asked) = (done.kills, done.asked.len());
            let name = kills.to_string();
            println!("{name:<24}{killed:>7}{asked:>8}{entries:>8}{took:>9.1}");
            for complaint in &complaints {
                eprintln!("killed {kills}: {complaint}");
            }
            well &= complaints.is_empty();
        }
    }
    Ok(well)
}
