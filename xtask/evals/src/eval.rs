//! `cargo xtask eval`: the governor over recorded runs of other agents.
//!
//! A flag on a run that succeeded is not by itself an error, and a run that failed
//! without one has mostly given a wrong answer: the figures are for orientation.

mod trace;

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use pointsman_kernel::{
    chart::StuckThresholds,
    governor::{GovernorMonitor, Level, Rule, Verdict},
};

use self::trace::{Outcome, Trace, TraceStep};

/// One detector: rules, and which of their verdicts count.
struct Row {
    name: &'static str,
    stuck: StuckThresholds,
    counts: fn(&Verdict) -> bool,
}

/// What a detector says of all traces.
#[derive(Default)]
struct Tally {
    flagged: [usize; 2],
    runs: [usize; 2],
    /// The steps of the first flags in runs that failed.
    at: Vec<usize>,
    /// Flags and steps in runs that succeeded.
    flags: usize,
    steps: usize,
}

/// Prints what the governor says of the trajectories in a directory.
pub(crate) fn stuck(data: &Path) -> Result<bool> {
    let traces = read(data)?;
    ensure!(!traces.is_empty(), "there is no trajectory in {}", data.display());
    println!(
        "{:<22}{:>18}{:>18}{:>10}{:>12}",
        "verdict", "success flagged", "failure flagged", "median at", "per 1,000"
    );
    for row in rows() {
        let mut tally = Tally::default();
        for trace in &traces {
            tally.add(&row, trace);
        }
        tally.print(row.name);
    }
    println!(
        "{} trajectories; median at: the step of the first flag in runs that failed; \
         per 1,000: flags in 1,000 steps of runs that succeeded",
        traces.len()
    );
    Ok(true)
}

fn rows() -> Vec<Row> {
    let off = StuckThresholds::default();
    let ladder = |name, counts| Row { name, stuck: off, counts };
    let named =
        |name, stuck| Row { name, stuck, counts: |verdict| verdict.rule != Rule::NothingNew };
    vec![
        ladder("score: warn", |verdict| verdict.level >= Level::Warn),
        ladder("score: refuse", |verdict| verdict.level >= Level::Refuse),
        ladder("score: halt", |verdict| verdict.level >= Level::Halt),
        named("identical_call = 3", StuckThresholds { identical_call: Some(3), ..off }),
        named("same_error = 3", StuckThresholds { same_error: Some(3), ..off }),
        named("failing_tool = 5", StuckThresholds { failing_tool: Some(5), ..off }),
        named("oscillation = 4", StuckThresholds { oscillation: Some(4), ..off }),
        named("no_progress = 10", StuckThresholds { no_progress: Some(10), ..off }),
        named("unparsable = 3", StuckThresholds { unparsable: Some(3), ..off }),
    ]
}

impl Tally {
    fn add(&mut self, row: &Row, trace: &Trace) {
        let side = match trace.outcome {
            Outcome::Success => 0,
            Outcome::Failure => 1,
            Outcome::Unknown => return,
        };
        let flags = flags(row, trace);
        self.runs[side] += 1;
        self.flagged[side] += usize::from(!flags.is_empty());
        if side == 0 {
            self.flags += flags.len();
            self.steps += trace.steps.len();
        } else {
            self.at.extend(flags.first());
        }
    }

    fn print(&mut self, name: &str) {
        self.at.sort_unstable();
        let median =
            self.at.get(self.at.len() / 2).map_or_else(|| "-".to_owned(), ToString::to_string);
        let [success, failure] = [0, 1].map(|side| {
            let (flagged, runs) = (self.flagged[side], self.runs[side]);
            format!("{:.1} % ({flagged})", 100.0 * share(flagged, runs))
        });
        let rate = 1_000.0 * share(self.flags, self.steps);
        println!("{name:<22}{success:>18}{failure:>18}{median:>10}{rate:>12.2}");
    }
}

/// Returns the steps in which a detector speaks; the first is 1. What it refuses does
/// not happen, so its result is not shown; a halt is the end.
fn flags(row: &Row, trace: &Trace) -> Vec<usize> {
    let mut watch = GovernorMonitor::new(row.stuck, trace::tools(trace));
    let mut flags = Vec::new();
    for (at, seen) in trace.steps.iter().enumerate() {
        let verdicts = match seen {
            TraceStep::Call(call, result) => {
                let proposed = watch.propose(call);
                let level = proposed.as_ref().map_or(Level::Allow, |verdict| verdict.level);
                let observed = (level < Level::Refuse).then(|| watch.observe(call, result));
                [proposed, observed.flatten()]
            }
            TraceStep::Turn(reply, read) => [watch.observe_reply(reply, *read), None],
            TraceStep::Person => {
                watch.person();
                [None, None]
            }
        };
        let verdicts: Vec<Verdict> = verdicts.into_iter().flatten().collect();
        if verdicts.iter().any(row.counts) {
            flags.push(at + 1);
        }
        if verdicts.iter().any(|verdict| verdict.level == Level::Halt) {
            break;
        }
    }
    flags
}

/// Reads all trajectories of a directory, file by file in order of their names.
fn read(data: &Path) -> Result<Vec<Trace>> {
    let entries = fs::read_dir(data).with_context(|| format!("reading {}", data.display()))?;
    let mut files: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut traces = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let text = if name.ends_with(".jsonl.gz") {
            let unpacked = Command::new("gzip").arg("-dc").arg(&file).output();
            let unpacked = unpacked.context("starting gzip")?;
            ensure!(unpacked.status.success(), "gzip cannot read {}", file.display());
            String::from_utf8(unpacked.stdout)?
        } else if name.ends_with(".jsonl") {
            fs::read_to_string(&file)?
        } else {
            continue;
        };
        for line in text.lines() {
            traces.push(Trace::read(line).with_context(|| format!("reading {}", file.display()))?);
        }
    }
    Ok(traces)
}

#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flagged(steps: &str) -> Vec<Vec<usize>> {
        let line = format!(r#"{{"outcome":"failure","steps":[{steps}]}}"#);
        let trace = Trace::read(&line).unwrap();
        rows().iter().take(3).map(|row| flags(row, &trace)).collect()
    }

    #[test]
    fn a_loop_is_flagged_and_ends_with_its_halt() {
        let step = r#"{"tool":"open","args":"a.py","ok":true,"result_nhash":"00ff"}"#;
        let steps = [step; 12].join(",");
        assert_eq!(flagged(&steps), [vec![4, 5, 6, 7, 8], vec![5, 6, 7, 8], vec![8]]);
    }

    #[test]
    fn moving_results_and_people_are_not() {
        let step = |at| format!(r#"{{"tool":"scroll_down","args":"","result_nhash":"{at:04x}"}}"#);
        let steps: Vec<String> = (0..30).map(step).collect();
        assert!(flagged(&steps.join(",")).iter().all(Vec::is_empty));
        let talk = r#"{"tool":"respond","args":"Hello?","result_nhash":"01"}"#;
        assert!(flagged(&[talk; 30].join(",")).iter().all(Vec::is_empty));
    }
}
