//! Instructions per step: a count that no noise touches, where Valgrind is there.

use std::{env, fs, time::Duration};

use anyhow::{Context, Result, bail};

use crate::{components, place::Scratch, process};

const CAP: Duration = Duration::from_mins(5);
/// Two loops that differ in nothing but the number of their passes.
const FEW: u32 = 2;
const MANY: u32 = 12;

/// Returns the program that counts, if it is installed.
pub(crate) fn counter() -> Option<&'static str> {
    components::is_present("valgrind").then_some("valgrind")
}

/// Returns the instructions that one step of a chart takes.
pub(crate) fn per_step(counter: &str, chart: &str, steps: f64) -> Result<f64> {
    let (few, many) = (collect(counter, chart, FEW)?, collect(counter, chart, MANY)?);
    Ok((many - few) / (f64::from(MANY - FEW) * steps))
}

fn collect(counter: &str, chart: &str, passes: u32) -> Result<f64> {
    let scratch = Scratch::new()?;
    let log = scratch.file("log");
    let mut command = process::command(counter);
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", log.display()));
    command.arg(env::current_exe().context("finding this very program")?);
    command.args(["bench-loop", chart, &passes.to_string(), &MANY.to_string()]);
    let ended = process::run(command, CAP).context("starting valgrind")?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    if !ended.well() {
        bail!("valgrind failed ({ended:?}):\n{said}");
    }
    collected(&said).with_context(|| format!("valgrind counted nothing:\n{said}"))
}

/// Returns the number on callgrind's line `Collected : N`.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let said = "==7== Events    : Ir\n==7== Collected : 123456\n==7==\n";
        assert_eq!(collected(said), Some(123_456.0));
        assert_eq!(collected("==7== nothing"), None);
    }
}
