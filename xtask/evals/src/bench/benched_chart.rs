//! A chart on the bench: its scripts, one run that is used over and over, a clock.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use pointsman_kernel::{
    StepResult,
    chart::Chart,
    effect::StepOutput,
    event::{Event, Observed},
    id::{At, Seq},
    run::{BudgetBalance, Run},
    step,
};
use xtask_model::shipped;

use super::{
    agent::BenchAgent,
    count,
    journal::{ChartJournals, journals},
    script::{Script, scripts},
    tally,
};
use crate::{allocation, random::SplitMix64};

const SEED: u64 = 0x7374_6570_7069_6e67;
/// Steps of one pass.
const STEPS: usize = 2_000;

/// One chart on the bench, whichever agent it belongs to.
pub(crate) trait BenchedChart {
    fn chart(&self) -> &Chart;

    fn scripts(&self) -> &[Script];

    /// Steps every script once, and returns how long that took.
    fn pass(&mut self) -> Result<Duration>;

    /// Makes all copies of the scripts, steps some of them and drops none: two runs
    /// that differ in `passes` alone differ by the steps alone.
    fn run(&mut self, passes: usize, of: usize) -> Result<()>;

    /// Returns the kernel's allocations in one pass, once all rooms have grown.
    fn allocations(&mut self) -> Result<f64>;

    /// Returns the kernel's allocations for the rooms of one new run.
    fn allocations_of_a_run(&mut self) -> Result<f64>;

    /// Records so many entries, in whole runs.
    fn journals(&self, entries: usize) -> Result<Box<dyn ChartJournals + '_>>;

    /// Returns the steps of one pass.
    fn steps(&self) -> f64 {
        count(self.scripts().iter().map(|script| script.events.len()).sum())
    }

    /// Returns the transitions of one pass, the first of each run included.
    fn hops(&self) -> f64 {
        count(self.scripts().iter().map(|script| script.names.len() + 1).sum())
    }
}

/// Puts a shipped chart on the bench.
pub(crate) fn rig(chart: Chart) -> Result<Box<dyn BenchedChart>> {
    Ok(match shipped::agent(&chart)? {
        0 => Box::new(MountedChart::<0>::new(chart)?),
        1 => Box::new(MountedChart::<1>::new(chart)?),
        2 => Box::new(MountedChart::<2>::new(chart)?),
        3 => Box::new(MountedChart::<3>::new(chart)?),
        4 => Box::new(MountedChart::<4>::new(chart)?),
        5 => Box::new(MountedChart::<5>::new(chart)?),
        _ => bail!("the bench has no place for the agent of chart `{}`", chart.name()),
    })
}

struct MountedChart<const N: usize> {
    chart: Chart,
    scripts: Vec<Script>,
    run: Run<BenchAgent<N>>,
    out: StepOutput<u64>,
}

impl<const N: usize> MountedChart<N> {
    fn new(chart: Chart) -> Result<Self> {
        let scripts = scripts::<N>(&chart, &mut SplitMix64::new(SEED), STEPS)?;
        Ok(Self { run: Run::new(&chart), scripts, out: StepOutput::default(), chart })
    }

    /// Returns every event of every script, as new.
    fn events(&self) -> Vec<Observed<()>> {
        self.scripts.iter().flat_map(|script| script.events.iter().cloned()).collect()
    }

    /// Steps through events of one run after the other; the room that a run has
    /// grown is kept, as a driver keeps its `StepOutput`.
    fn through(&mut self, events: &mut impl Iterator<Item = Observed<()>>) -> Result<()> {
        let mut applied = true;
        for seen in events {
            if matches!(seen.event, Event::Begun(_)) {
                renew(&self.chart, &mut self.run);
            }
            let seq = self.run.core.next;
            let took = step(&self.chart, &mut self.run, seq, seen, &mut self.out);
            applied &= took == Ok(StepResult::Applied);
            black_box(&self.out);
        }
        ensure!(applied, "a script was not applied as it was drawn");
        Ok(())
    }
}

impl<const N: usize> BenchedChart for MountedChart<N> {
    fn chart(&self) -> &Chart {
        &self.chart
    }

    fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    fn pass(&mut self) -> Result<Duration> {
        let mut events = self.events().into_iter();
        let started = Instant::now();
        self.through(&mut events)?;
        let took = started.elapsed();
        let state = self.chart.state_name(self.run.core.state);
        let same = self.scripts.last().is_some_and(|script| script.end == state);
        ensure!(same, "a script ended in another state than when it was drawn");
        Ok(took)
    }

    fn run(&mut self, passes: usize, of: usize) -> Result<()> {
        let copies: Vec<_> = (0..of.max(passes)).map(|_| self.events()).collect();
        let mut copies: Vec<_> = copies.into_iter().map(Vec::into_iter).collect();
        for events in copies.iter_mut().take(passes) {
            self.through(events)?;
        }
        std::mem::forget(copies);
        Ok(())
    }

    fn allocations(&mut self) -> Result<f64> {
        self.through(&mut self.events().into_iter())?;
        let mut events = self.events().into_iter();
        let before = allocation::counted();
        self.through(&mut events)?;
        Ok(tally(allocation::counted() - before))
    }

    fn allocations_of_a_run(&mut self) -> Result<f64> {
        let mut taken = 0;
        for at in 0..self.scripts.len() {
            let events: Vec<_> = self.scripts.get(at).map_or_else(Vec::new, |it| it.events.clone());
            let mut events = events.into_iter();
            let before = allocation::counted();
            self.run = Run::new(&self.chart);
            self.through(&mut events)?;
            taken += allocation::counted() - before;
        }
        Ok(tally(taken) / count(self.scripts.len()))
    }

    fn journals(&self, entries: usize) -> Result<Box<dyn ChartJournals + '_>> {
        let scripts = scripts::<N>(&self.chart, &mut SplitMix64::new(!SEED), entries)?;
        journals::<N>(&self.chart, scripts)
    }
}

/// Resets a run, but keeps its allocated memory. Its orders, seed and governor are replaced when
/// it begins.
fn renew<const N: usize>(chart: &Chart, run: &mut Run<BenchAgent<N>>) {
    let core = &mut run.core;
    core.state = chart.start();
    core.ended = None;
    core.next = Seq(1);
    (core.now, core.entered) = (At(0), At(0));
    core.visits = 0;
    core.wake = None;
    core.paused = false;
    for (purse, budget) in core.balances.iter_mut().zip(chart.budgets()) {
        *purse = BudgetBalance { left: budget.max(), closed: false };
    }
    core.items.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_chart_can_be_put_on_the_bench() -> Result<()> {
        for chart in shipped::charts()? {
            let mut rig = rig(chart)?;
            rig.pass()?;
            let journals = rig.journals(500)?;
            ensure!(journals.entries() >= 500, "too few entries");
            journals.decoded()?;
            journals.bytes()?;
        }
        Ok(())
    }

    #[test]
    fn scripts_are_drawn_the_same_way_twice() -> Result<()> {
        for (name, _) in pointsman_agents::CHARTS {
            let [once, twice] = [(); 2].map(|()| rig(shipped::chart(name)?));
            let (once, twice) = (once?, twice?);
            for (one, two) in once.scripts().iter().zip(twice.scripts()) {
                assert_eq!((&one.names, &one.end), (&two.names, &two.end));
            }
        }
        Ok(())
    }
}
