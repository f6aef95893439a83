//! `cargo xtask check-model`: the kernel's own step, explored exhaustively within
//! caps, over every shipped chart.
//!
//! Charts are reduced first, so that their loops close (`reduce`). An agent that
//! draws stands in for the shipped one (`agent`): whatever that one could decide,
//! this one decides in turn. What can happen next is in `world`, what must hold
//! after it in `inspect`. The protocol of a fleet's leases and appends is explored too (`lease`).

#![expect(clippy::print_stdout, reason = "it reports to the terminal")]

mod agent;
mod inspect;
mod key;
mod lease;
mod node;
mod plant;
mod reduce;
mod search;
pub mod shipped;
#[cfg(test)]
mod tests;
mod walks;
mod world;

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use clap::Args;
use pointsman_agents::CHARTS;
use pointsman_kernel::chart::{Chart, StateKind};
use stateright::{Checker as _, HasDiscoveries, Model as _};

pub use self::plant::PlantedBug;
use self::{
    node::{BrokenProperty, Node},
    reduce::Reduction,
    search::{Caps, Search, SearchRecord, lock},
    walks::{Finding, beyond},
};

/// What budgets permit at most: first so little that the search comes to its end.
const SIZES: [u64; 2] = [1, 2];
/// The part of the time that the first search may take.
const FIRST: f64 = 0.6;

/// What to explore, and how far.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Explore this chart alone; may be given more than once.
    #[arg(long, value_name = "NAME")]
    chart: Vec<String>,
    /// Seconds that each chart may take, both searches together.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Places that are looked at, per chart.
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    states: usize,
    /// Entries that a journal may have.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    depth: u32,
    /// What a budget permits at most; 1 and then 2 unless given.
    #[arg(long, value_name = "N")]
    most: Option<u64>,
    /// Plant a bug, to see it found.
    #[arg(long, value_name = "BUG")]
    plant: Option<PlantedBug>,
}

/// Explores the charts that were asked for, or all. The profile of development optimises
/// this program for it: without that it would see too little.
pub fn check(options: &Options) -> Result<bool> {
    for name in &options.chart {
        shipped::chart(name)?;
    }
    let asked = |name: &str| options.chart.is_empty() || options.chart.iter().any(|it| it == name);
    let mut passed = !options.chart.is_empty() || options.plant.is_some() || lease::check();
    for (name, _) in CHARTS.iter().filter(|(name, _)| asked(name)) {
        passed &= explore(name, options)?;
    }
    Ok(passed)
}

/// Explores one chart, twice unless a maximum is given: so small that the search
/// comes to its end, then larger for as long as there is time.
fn explore(name: &str, options: &Options) -> Result<bool> {
    let started = Instant::now();
    let whole = Duration::from_secs(options.seconds);
    let sizes = options.most.map_or_else(|| SIZES.to_vec(), |most| vec![most]);
    let (mut passed, mut unreached) = (true, Vec::new());
    for (place, most) in sizes.iter().enumerate() {
        let last = place + 1 == sizes.len();
        let until = started + if last { whole } else { whole.mul_f64(FIRST) };
        let caps = Caps { until, states: options.states, depth: options.depth };
        let report = report(name, *most, options.plant, caps)?;
        report.print();
        let missed = report.unreached();
        unreached = if place == 0 { missed } else { common(&unreached, &missed) };
        passed &= report.violations().is_empty();
        if !passed {
            return Ok(false);
        }
        if last {
            println!("  {}", told(&unreached, report.is_cut()));
            // What was not reached may lie beyond a cut, and nowhere else.
            passed &= unreached.is_empty() || report.is_cut();
        }
    }
    Ok(passed)
}

fn common(left: &[String], right: &[String]) -> Vec<String> {
    left.iter().filter(|it| right.contains(it)).cloned().collect()
}

fn told(unreached: &[String], cut: bool) -> String {
    match (unreached, cut) {
        ([], _) => "every edge was taken and every end was reached".to_owned(),
        (some, true) => format!("not reached before the cut: {}", some.join(", ")),
        (some, false) => format!("VIOLATED: never reached: {}", some.join(", ")),
    }
}

/// Explores one chart with budgets of one size.
fn report(name: &str, most: u64, plant: Option<PlantedBug>, caps: Caps) -> Result<Report> {
    let reduction = Reduction::of(name, most);
    let chart = reduction.chart(name)?;
    match shipped::agent(&chart)? {
        0 => Ok(Report::of::<0>(chart, reduction, plant, caps)),
        1 => Ok(Report::of::<1>(chart, reduction, plant, caps)),
        2 => Ok(Report::of::<2>(chart, reduction, plant, caps)),
        3 => Ok(Report::of::<3>(chart, reduction, plant, caps)),
        4 => Ok(Report::of::<4>(chart, reduction, plant, caps)),
        5 => Ok(Report::of::<5>(chart, reduction, plant, caps)),
        _ => bail!("the search has no place for the agent of chart `{name}`"),
    }
}

/// What came of exploring one chart.
struct Report {
    chart: Arc<Chart>,
    reduction: Reduction,
    seen: Arc<SearchRecord>,
    found: Option<Node>,
    finding: Finding,
    generated: usize,
    unique: usize,
    depth: usize,
    took: Duration,
}

impl Report {
    fn of<const N: usize>(
        chart: Chart,
        reduction: Reduction,
        plant: Option<PlantedBug>,
        caps: Caps,
    ) -> Self {
        let started = Instant::now();
        let search = Search::<N>::new(chart, plant, caps);
        let (chart, seen) = (Arc::clone(&search.chart), Arc::clone(&search.seen));
        let checker = search.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let found = lock(&seen.found).take();
        let finding = lock(&seen.walks).finding();
        Self {
            chart,
            reduction,
            found,
            finding,
            generated: checker.state_count(),
            unique: checker.unique_state_count(),
            depth: checker.max_depth(),
            took: started.elapsed(),
            seen,
        }
    }

    fn is_cut(&self) -> bool {
        self.seen.cut.load(Relaxed)
    }

    /// Returns every promise that does not hold.
    fn violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        if let Some(node) = &self.found {
            let property = node.broken.map_or("", BrokenProperty::property);
            violations.push(format!("{property}:\n{}", node.told(&self.chart)));
        }
        match self.finding {
            Finding::Cycle(_) => violations.push("a cycle is paid from no budget".to_owned()),
            Finding::Worst(cost) => violations.extend(beyond(cost, self.chart.certificate())),
        }
        violations
    }

    /// Returns the edges and ends that no run has taken.
    fn unreached(&self) -> Vec<String> {
        let (edges, ends) = (lock(&self.seen.edges), lock(&self.seen.ends));
        let mut unreached = Vec::new();
        for (id, state) in self.chart.state_ids().zip(self.chart.states()) {
            for way in state.routes() {
                let outcome = state.outcome(way.name());
                if outcome.is_some_and(|outcome| !edges.contains(&(id, outcome))) {
                    unreached.push(format!("{}.{}", state.name(), way.name()));
                }
            }
            if let StateKind::Final(ending) = state.kind()
                && !ends.contains(ending)
            {
                unreached.push(format!("an end as {}", ending.name()));
            }
        }
        unreached
    }

    fn print(&self) {
        let (name, certificate) = (self.chart.name(), self.chart.certificate());
        let result = match (self.violations().is_empty(), self.is_cut()) {
            (false, _) => "VIOLATED",
            (true, true) => "cut",
            (true, false) => "complete",
        };
        println!("{name}: {}", self.reduction.about());
        println!(
            "  {result}: {} steps, {} places, depth {}, {:.1} s; {} misfits, {} replays, {} edges",
            self.generated,
            self.unique,
            self.depth,
            self.took.as_secs_f64(),
            self.seen.misfits.load(Relaxed),
            self.seen.replays.load(Relaxed),
            lock(&self.seen.walks).edges(),
        );
        if let Finding::Worst([visits, models, tools, ms]) = self.finding {
            println!(
                "  dearest: {visits} of {} visits, {models} of {} model calls, {tools} of {} tool \
                 calls, {ms} of {} ms, per {:?}",
                certificate.steps,
                certificate.model_calls,
                certificate.tool_calls,
                certificate.time_ms,
                certificate.per
            );
        }
        for violation in self.violations() {
            println!("  violated: {violation}");
        }
    }
}
