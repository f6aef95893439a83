//! The figures: as a table, as JSON, and against the limits.

use serde_json::{Value, json};

use crate::bench::median;

/// How much faster the first screen must be than that of the page that loads the journal whole.
const TIMES_FASTER: f64 = 10.0;
/// Entries of a run for which that must hold.
const LONG: usize = 100_000;
/// The part of that page's memory.
const SHARE: f64 = 0.2;
/// Milliseconds that the second view of the statistics may take.
const SECOND_VIEW: f64 = 1_000.0;
const MIB: f64 = 1_048_576.0;

/// One visit of a page. Times are in milliseconds.
#[derive(Debug, Default)]
pub(super) struct PageFigures {
    pub(super) first: f64,
    /// Nothing where a page is asked for its first screen alone.
    pub(super) step: Option<f64>,
    pub(super) find: Option<f64>,
    /// The tasks of more than 50 ms.
    pub(super) tasks: Vec<f64>,
    pub(super) memory: u64,
}

/// All visits of a run.
pub(super) struct Sizes {
    entries: usize,
    pub(super) ours: Vec<PageFigures>,
    pub(super) whole: Vec<PageFigures>,
    pub(super) inspect: Vec<PageFigures>,
}

/// The statistics of many runs, in milliseconds: medians.
pub(super) struct StatisticsFigures {
    pub(super) runs: usize,
    pub(super) first: f64,
    pub(super) second: f64,
}

/// The medians of visits.
struct Medians {
    first: f64,
    step: Option<f64>,
    find: Option<f64>,
    tasks: f64,
    longest: f64,
    memory: f64,
}

impl Medians {
    fn of(visits: &[PageFigures]) -> Self {
        let of = |figure: &dyn Fn(&PageFigures) -> f64| {
            median(&visits.iter().map(figure).collect::<Vec<_>>())
        };
        let of_some = |figure: fn(&PageFigures) -> Option<f64>| {
            visits.iter().map(figure).collect::<Option<Vec<_>>>().map(|it| median(&it))
        };
        #[expect(clippy::cast_precision_loss, reason = "bytes of a process, and tasks of a page")]
        Self {
            first: of(&|it| it.first),
            step: of_some(|it| it.step),
            find: of_some(|it| it.find),
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
        Self { entries, ours: Vec::new(), whole: Vec::new(), inspect: Vec::new() }
    }

    pub(super) fn print(&self) {
        println!("a run of {} entries, medians of {}:", self.entries, self.ours.len());
        println!(
            "{:<26}{:>13}{:>10}{:>10}{:>12}{:>12}{:>10}",
            "", "first screen", "a step", "find", "long tasks", "longest", "memory"
        );
        let pages = [
            ("this page", &self.ours),
            ("loading it whole", &self.whole),
            ("inspect view", &self.inspect),
        ];
        for (name, visits) in pages {
            let Medians { first, step, find, tasks, longest, memory } = Medians::of(visits);
            let [step, find] = [step, find]
                .map(|it| it.map_or_else(|| "-".to_owned(), |it| format!("{it:.0} ms")));
            println!(
                "{name:<26}{first:>10.0} ms{step:>10}{find:>10}{tasks:>12.0}\
                 {longest:>9.0} ms{memory:>6.0} MiB"
            );
        }
    }

    pub(super) fn json(&self) -> Value {
        let [ours, whole, inspect] =
            [&self.ours, &self.whole, &self.inspect].map(|visits| Medians::of(visits).json());
        json!({ "entries": self.entries, "page": ours, "whole": whole, "inspect_view": inspect })
    }
}

impl StatisticsFigures {
    pub(super) fn print(&self) {
        let Self { runs, first, second } = self;
        println!(
            "statistics of {runs} ended runs: the first view {first:.0} ms, the second {second:.0} ms"
        );
    }

    pub(super) fn json(&self) -> Value {
        json!({ "runs": self.runs, "first_ms": self.first, "second_ms": self.second })
    }
}

/// Prints each limit beside the result, and returns whether all were met.
pub(super) fn print_limits(all: &[Sizes], statistics: &StatisticsFigures) -> bool {
    let mut met = print_limit(
        statistics.second < SECOND_VIEW,
        &format!("statistics, the second view in under a second: {:.0} ms", statistics.second),
    );
    // A page that loads everything is quick enough where there is little.
    for sizes in all.iter().filter(|it| it.entries >= LONG) {
        let [ours, whole] = [&sizes.ours, &sizes.whole].map(|visits| Medians::of(visits));
        let (faster, share) = (whole.first / ours.first, ours.memory / whole.memory);
        let limits = [
            (faster >= TIMES_FASTER, format!("first screen at least 10 times faster: {faster:.1}")),
            (share <= SHARE, format!("at most a fifth of the memory: {share:.2}")),
        ];
        for (is, limit) in limits {
            met &= print_limit(is, &format!("{} entries: {limit}", sizes.entries));
        }
    }
    met
}

fn print_limit(met: bool, limit: &str) -> bool {
    println!("{}  {limit}", if met { "met   " } else { "MISSED" });
    met
}
