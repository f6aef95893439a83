//! Replay on the bench: from events that are decoded, and from bytes.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use pointsman_kernel::{
    StepResult,
    chart::Chart,
    effect::StepOutput,
    event::Observed,
    id::Digest,
    journal::{Entry, RecordResult, Recorder, digest},
    replay::replay,
    run::Run,
    step,
};

use super::{
    agent::BenchAgent,
    benched_chart::BenchedChart,
    figures::{Replay, median},
    script::Script,
};

/// Entries in all, an equal part for each chart.
const ENTRIES: usize = 100_000;
const PASSES: usize = 9;

/// The journals of one chart's runs.
pub(crate) trait ChartJournals {
    fn entries(&self) -> usize;

    /// Steps through events that are typed already, and compares what each puts out.
    fn decoded(&self) -> Result<Duration>;

    /// Replays the lines, with the chain checked.
    fn bytes(&self) -> Result<Duration>;
}

/// Measures how many entries a second are replayed, over all charts.
pub(crate) fn measure(rigs: &[Box<dyn BenchedChart>]) -> Result<Replay> {
    let part = ENTRIES.div_ceil(rigs.len().max(1));
    let journals = rigs.iter().map(|rig| rig.journals(part)).collect::<Result<Vec<_>>>()?;
    let entries: usize = journals.iter().map(|journal| journal.entries()).sum();
    ensure!(entries >= ENTRIES, "only {entries} entries were recorded");
    let (mut decoded, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..PASSES {
        let mut took = [Duration::ZERO; 2];
        for journal in &journals {
            took[0] += journal.decoded()?;
            took[1] += journal.bytes()?;
        }
        decoded.push(rate(entries, took[0]));
        bytes.push(rate(entries, took[1]));
    }
    Ok(Replay { entries, decoded: median(&decoded), bytes: median(&bytes) })
}

#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
fn rate(entries: usize, took: Duration) -> f64 {
    entries as f64 / took.as_secs_f64()
}

/// Records the runs of these scripts.
pub(crate) fn journals<const N: usize>(
    chart: &Chart,
    scripts: Vec<Script>,
) -> Result<Box<dyn ChartJournals + '_>> {
    let runs = scripts.into_iter().map(|script| record::<N>(chart, script));
    Ok(Box::new(Journals::<N> { chart, runs: runs.collect::<Result<_>>()? }))
}

struct Journals<'c, const N: usize> {
    chart: &'c Chart,
    runs: Vec<Recording>,
}

struct Recording {
    events: Vec<Observed<()>>,
    effects: Vec<Digest>,
    lines: Vec<String>,
}

fn record<const N: usize>(chart: &Chart, script: Script) -> Result<Recording> {
    let mut recorder = Recorder::<BenchAgent<N>>::new(chart);
    let mut recording = Recording { events: script.events, effects: Vec::new(), lines: Vec::new() };
    for seen in &recording.events {
        let RecordResult::Line(line) = recorder.record(seen.clone())? else {
            bail!("an event was not applied as it was drawn");
        };
        recording.effects.push(Entry::read(&line)?.effects);
        recording.lines.push(line);
    }
    Ok(recording)
}

impl<const N: usize> ChartJournals for Journals<'_, N> {
    fn entries(&self) -> usize {
        self.runs.iter().map(|run| run.lines.len()).sum()
    }

    fn decoded(&self) -> Result<Duration> {
        let copies: Vec<_> = self.runs.iter().map(|run| run.events.clone()).collect();
        let mut out = StepOutput::default();
        let mut same = true;
        let started = Instant::now();
        for (recording, events) in self.runs.iter().zip(copies) {
            let mut run = Run::<BenchAgent<N>>::new(self.chart);
            for (seen, effects) in events.into_iter().zip(&recording.effects) {
                let seq = run.core.next;
                let took = step(self.chart, &mut run, seq, seen, &mut out);
                same &= took == Ok(StepResult::Applied) && digest(&out) == *effects;
            }
        }
        let took = started.elapsed();
        ensure!(same, "a decoded replay diverged");
        Ok(took)
    }

    fn bytes(&self) -> Result<Duration> {
        let started = Instant::now();
        for recording in &self.runs {
            replay::<BenchAgent<N>>(self.chart, recording.lines.iter().map(String::as_str))?;
        }
        Ok(started.elapsed())
    }
}
