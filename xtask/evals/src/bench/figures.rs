//! What was measured: as a table, as JSON, and against the targets.

use serde_json::{Value, json};

use super::governor::Decision;

const STEP_NANOS: f64 = 1_000.0;
const TIMES_FASTER: f64 = 30.0;
const DECODED: f64 = 1_000_000.0;
const BYTES: f64 = 250_000.0;
const DECISION_NANOS: f64 = 2_000.0;

/// The figures of a whole benchmark.
pub(crate) struct Figures {
    pub(crate) rows: Vec<Row>,
    pub(crate) replay: Replay,
    /// The governor's, by the size of results; the smallest is held to the target.
    pub(crate) decisions: Vec<Decision>,
}

/// One chart; times in nanoseconds, medians.
pub(crate) struct Row {
    pub(crate) name: String,
    /// One event, run to completion.
    pub(crate) step: f64,
    pub(crate) instructions: Option<f64>,
    /// The kernel's allocations per step, once all rooms have grown.
    pub(crate) allocations: f64,
    /// The kernel's allocations for the rooms of one new run.
    pub(crate) allocations_of_a_run: f64,
    /// One transition: a step may take none, or several.
    pub(crate) hop: f64,
    /// One transition of `XState`, over the very same ways.
    pub(crate) peer: f64,
    /// How many times longer `XState` takes, round by round.
    pub(crate) ratio: f64,
}

/// Entries per second.
pub(crate) struct Replay {
    pub(crate) entries: usize,
    pub(crate) decoded: f64,
    pub(crate) bytes: f64,
}

impl Figures {
    pub(crate) fn print(&self, counter: Option<&str>) {
        println!(
            "{:<10}{:>9}{:>13}{:>13}{:>15}{:>17}{:>8}",
            "chart",
            "ns/step",
            "instr/step",
            "allocs/step",
            "ns/transition",
            "XState ns/trans.",
            "ratio"
        );
        for row in &self.rows {
            let instructions = row.instructions.map_or_else(|| "-".into(), |it| format!("{it:.0}"));
            println!(
                "{:<10}{:>9.0}{instructions:>13}{:>13.3}{:>15.0}{:>17.0}{:>7.0}x",
                row.name, row.step, row.allocations, row.hop, row.peer, row.ratio
            );
        }
        if counter.is_none() {
            println!("instructions are not counted: valgrind is not installed");
        }
        let rooms = worst(&self.rows, |row| row.allocations_of_a_run);
        println!("a new run allocates its rooms once: {rooms:.1} times at most, on average");
        let Replay { entries, decoded, bytes } = self.replay;
        println!("replay of {entries} entries: {decoded:.0}/s decoded, {bytes:.0}/s from bytes");
        for Decision { bytes, nanos, allocations } in &self.decisions {
            println!(
                "governor, a call judged and its result of {bytes} bytes taken in, memory full, \
                 all new: {nanos:.0} ns, {allocations:.3} allocations"
            );
        }
    }

    /// Prints each target beside what was reached, and returns whether all were.
    pub(crate) fn print_targets(&self) -> bool {
        let slowest = worst(&self.rows, |row| row.step);
        let ratio = -worst(&self.rows, |row| -row.ratio);
        let allocations = worst(&self.rows, |row| row.allocations);
        let Replay { decoded, bytes, .. } = self.replay;
        let decision = self.decisions.first().map_or(f64::NAN, |it| it.nanos);
        let spent = self.decisions.iter().map(|it| it.allocations).fold(0.0, f64::max);
        let targets = [
            (slowest <= STEP_NANOS, format!("median step <= 1 µs: {slowest:.0} ns")),
            (ratio >= TIMES_FASTER, format!("at least 30x XState: {ratio:.0}x")),
            (allocations == 0.0, format!("0 allocations per step: {allocations:.3}")),
            (decoded >= DECODED, format!("at least 1,000,000 decoded events/s: {decoded:.0}")),
            (bytes >= BYTES, format!("at least 250,000 events/s from bytes: {bytes:.0}")),
            (decision <= DECISION_NANOS, format!("governor decision <= 2 µs: {decision:.0} ns")),
            (spent == 0.0, format!("0 allocations per governor decision: {spent:.3}")),
        ];
        for (reached, target) in &targets {
            println!("{}  {target}", if *reached { "pass" } else { "FAIL" });
        }
        targets.iter().all(|(reached, _)| *reached)
    }

    pub(crate) fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "chart": row.name,
                "ns_per_step": row.step,
                "instructions_per_step": row.instructions,
                "allocations_per_step": row.allocations,
                "allocations_of_a_run": row.allocations_of_a_run,
                "ns_per_transition": row.hop,
                "xstate_ns_per_transition": row.peer,
                "ratio": row.ratio,
            })
        };
        let decision = |it: &Decision| {
            json!({
                "result_bytes": it.bytes,
                "ns_per_decision": it.nanos,
                "allocations_per_decision": it.allocations,
            })
        };
        json!({
            "charts": self.rows.iter().map(row).collect::<Vec<_>>(),
            "replay": {
                "entries": self.replay.entries,
                "decoded_per_second": self.replay.decoded,
                "from_bytes_per_second": self.replay.bytes,
            },
            "governor": self.decisions.iter().map(decision).collect::<Vec<_>>(),
        })
    }
}

/// Returns the largest figure of all rows.
fn worst(rows: &[Row], figure: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(figure).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the median, or nothing that passes for a figure.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match (sorted.get(half), half.checked_sub(1).and_then(|before| sorted.get(before))) {
        (Some(upper), Some(lower)) if sorted.len().is_multiple_of(2) => {
            f64::midpoint(*lower, *upper)
        }
        (Some(middle), _) => *middle,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        for (figures, middle) in
            [(&[3.0][..], 3.0), (&[9.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 2.0, 8.0], 3.0)]
        {
            assert!((median(figures) - middle).abs() < f64::EPSILON);
        }
        assert!(median(&[]).is_nan());
    }
}
