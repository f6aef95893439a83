//! What was measured: as a table, as JSON, and against the targets.

use serde_json::{Value, json};

use super::{
    flushes::Flushes,
    grouped::Grouped,
    many::{self, Many},
    peers::Row,
    waiting::Waiting,
};

const RATIO: f64 = 1.2;
const SHARE: f64 = 0.75;
const PER_SECOND: f64 = 30_000.0;
/// The slowest disk that the target of steps per second is meant for, in microseconds.
const DISK: f64 = 200.0;
const WAITING: f64 = 4_096.0;
/// How much longer a run may take among many than among few.
const MANY: f64 = 1.5;

/// The figures of a whole benchmark.
pub(super) struct Figures {
    pub(super) pairs: Pairs,
    pub(super) flushes: Flushes,
    pub(super) grouped: Grouped,
    pub(super) peers: Vec<Row>,
    pub(super) waiting: Waiting,
    pub(super) many: Many,
}

/// One run's steps and raw flushes in turns; microseconds, medians.
pub(super) struct Pairs {
    /// Bytes of the raw record: as many as an entry has.
    pub(super) record: usize,
    pub(super) step: f64,
    pub(super) raw: f64,
    /// Pair by pair.
    pub(super) ratio: f64,
}

impl Figures {
    pub(super) fn print(&self) {
        let Pairs { record, step, raw, ratio } = self.pairs;
        println!("one run, a step and a raw flush of {record} bytes in turns:");
        println!("  {step:.0} µs per durable step, {raw:.0} µs per raw flush, {ratio:.2}x");
        let Flushes { per_step, long: (steps, all, checkpoints) } = self.flushes;
        println!("  {per_step:.2} flushes per step; {all} in {steps} steps with checkpoints,");
        println!("  {checkpoints} of them of the journal's main file");
        let Grouped { runs, ours, bare, share, raw } = self.grouped;
        println!("{runs} runs, sharing flushes (raw flush {raw:.0} µs):");
        println!("  {ours:.0} durable steps/s, a bare loop {bare:.0}/s, {:.0} %", share * 100.0);
        println!(
            "{:<46}{:>10}{:>10}{:>9}",
            "1,000 steps of a counter", "µs/step", "raw µs", "ratio"
        );
        for Row { name, step, raw, ratio } in &self.peers {
            println!("{name:<46}{step:>10.0}{raw:>10.0}{ratio:>8.1}x");
        }
        let Waiting { runs, bytes, disk } = self.waiting;
        println!("{runs} waiting runs: {bytes:.0} bytes of memory and {disk:.0} of disk each");
        for (runs, each) in many::SIZES.into_iter().zip(self.many.each) {
            println!("figures over {runs} runs: {each:.0} µs each");
        }
    }

    /// Prints each target beside what was reached, and returns whether all were.
    pub(super) fn print_targets(&self) -> bool {
        let Self { pairs, flushes, grouped, waiting, many, .. } = self;
        let Grouped { ours, raw, .. } = grouped;
        let targets = [
            (
                pairs.ratio <= RATIO,
                format!("a durable step <= 1.2 raw flushes: {:.2}", pairs.ratio),
            ),
            (
                (flushes.per_step - 1.0).abs() < 0.005,
                format!("1 flush per step: {:.2}", flushes.per_step),
            ),
            (
                grouped.share >= SHARE,
                format!("at least 75 % of a bare loop: {:.0} %", grouped.share * 100.0),
            ),
            (
                waiting.bytes <= WAITING,
                format!("a waiting run <= 4 KiB of memory: {:.0} bytes", waiting.bytes),
            ),
            (
                many.ratio() <= MANY,
                format!("figures: a run among 8,000 <= 1.5 among 1,000: {:.2}", many.ratio()),
            ),
        ];
        for (reached, target) in &targets {
            println!("{}  {target}", if *reached { "pass" } else { "FAIL" });
        }
        // A figure of its own, and no ratio: it means something on such a disk alone.
        let fast = *raw > DISK || *ours >= PER_SECOND;
        let word = if *raw > DISK {
            "----"
        } else if fast {
            "pass"
        } else {
            "FAIL"
        };
        println!(
            "{word}  at least 30,000 durable steps/s where a raw flush takes 160 µs: {ours:.0}"
        );
        if *raw > DISK {
            println!("      not judged: a raw flush takes {raw:.0} µs here");
        }
        fast && targets.iter().all(|(reached, _)| *reached)
    }

    pub(super) fn json(&self) -> Value {
        let Self { pairs, flushes, grouped, peers, waiting, many } = self;
        let (steps, all, checkpoints) = flushes.long;
        let peer = |row: &Row| {
            json!({
                "name": row.name,
                "us_per_step": row.step,
                "raw_us": row.raw,
                "ratio": row.ratio,
            })
        };
        json!({
            "one_run": {
                "record_bytes": pairs.record,
                "us_per_step": pairs.step,
                "raw_us": pairs.raw,
                "ratio": pairs.ratio,
                "flushes_per_step": flushes.per_step,
                "long_loop": { "steps": steps, "flushes": all, "main_file": checkpoints },
            },
            "grouped": {
                "runs": grouped.runs,
                "steps_per_s": grouped.ours,
                "bare_per_s": grouped.bare,
                "share": grouped.share,
                "raw_us": grouped.raw,
            },
            "counter": peers.iter().map(peer).collect::<Vec<_>>(),
            "waiting": {
                "runs": waiting.runs,
                "memory_bytes": waiting.bytes,
                "disk_bytes": waiting.disk,
            },
            "figures": { "runs": many::SIZES, "us_per_run": many.each, "ratio": many.ratio() },
        })
    }
}
