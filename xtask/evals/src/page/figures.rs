//! The figures: as a table, as JSON, and against the limits.

use serde_json::{Value, json};

use crate::bench::median;

/// How much faster the first screen must be than that of the page that loads the journal whole.
const TIMES_FASTER: f64 = 10.0;
/// The part of that page's memory.
const SHARE: f64 = 0.2;
const MIB: f64 = 1_048_576.0;

/// One visit of a page. Times are in milliseconds.
#[derive(Debug, Default)]
pub(super) struct PageFigures {
    pub(super) first: f64,
    pub(super) step: f64,
    pub(super) find: f64,
    /// The tasks of more than 50 ms.
    pub(super) tasks: Vec<f64>,
    pub(super) memory: u64,
}

/// All visits of a run.
pub(super) struct Sizes {
    entries: usize,
    pub(super) ours: Vec<PageFigures>,
    pub(super) whole: Vec<PageFigures>,
}

/// The medians of visits.
struct Medians {
    first: f64,
    step: f64,
    find: f64,
    tasks: f64,
    longest: f64,
    memory: f64,
}

impl Medians {
    fn of(visits: &[PageFigures]) -> Self {
        let of = |figure: &dyn Fn(&PageFigures) -> f64| {
            median(&visits.iter().map(figure).collect::<Vec<_>>())
        };
        #[expect(clippy::cast_precision_loss, reason = "bytes of a process, and tasks of a page")]
        Self {
            first: of(&|it| it.first),
            step: of(&|it| it.step),
            find: of(&|it| it.find),
            tasks: of(&|it| it.tasks.len() as f64),
            longest: of(&|it| it.tasks.iter().copied().fold(0.0, f64::max)),
            memory: of(&|it| it.memory as f64 / MIB),
        }
    }

    fn json(&self) -> Value {
        json!({
            "first_ms": self.first, "step_ms": self.step, "find_ms": self.find,
            "long_tasks": self.tasks, "longest_ms": self.longest, "memory_mib": self.memory,
        })
    }
}

impl Sizes {
    pub(super) const fn new(entries: usize) -> Self {
        Self { entries, ours: Vec::new(), whole: Vec::new() }
    }

    pub(super) fn print(&self) {
        println!("a run of {} entries, medians of {}:", self.entries, self.ours.len());
        println!(
            "{:<26}{:>13}{:>10}{:>10}{:>12}{:>12}{:>10}",
            "", "first screen", "a step", "find", "long tasks", "longest", "memory"
        );
        for (name, visits) in [("this page", &self.ours), ("loading it whole", &self.whole)] {
            let Medians { first, step, find, tasks, longest, memory } = Medians::of(visits);
            println!(
                "{name:<26}{first:>10.0} ms{step:>7.0} ms{find:>7.0} ms{tasks:>12.0}\
                 {longest:>9.0} ms{memory:>6.0} MiB"
            );
        }
    }

    pub(super) fn json(&self) -> Value {
        let [ours, whole] = [&self.ours, &self.whole].map(|visits| Medians::of(visits).json());
        json!({ "entries": self.entries, "page": ours, "whole": whole })
    }
}

/// Prints each limit beside the result, and returns whether all were met.
pub(super) fn print_limits(all: &[Sizes]) -> bool {
    let mut met = true;
    for sizes in all {
        let [ours, whole] = [&sizes.ours, &sizes.whole].map(|visits| Medians::of(visits));
        let (faster, share) = (whole.first / ours.first, ours.memory / whole.memory);
        let limits = [
            (faster >= TIMES_FASTER, format!("first screen at least 10 times faster: {faster:.1}")),
            (share <= SHARE, format!("at most a fifth of the memory: {share:.2}")),
        ];
        for (is, limit) in limits {
            met &= is;
            let word = if is { "met   " } else { "MISSED" };
            println!("{word}  {} entries: {limit}", sizes.entries);
        }
    }
    met
}
