//! The `xstate` tier: the shipped charts, exported, against the real npm package.
//!
//! `simulate` says where a chart goes; `XState` runs the export and must go there
//! too. Node compares; what it compared is counted here.

mod walk;

use std::{fs, time::Duration};

use anyhow::{Context, Result};
use pointsman_kernel::{chart::Chart, graph};
use serde_json::{Value, json};
use xtask_model::shipped;

use self::walk::{Coverage, SimulatedStep, Walk};
use crate::{
    components,
    place::{self, Scratch},
    process,
    random::SplitMix64,
};

const SEED: u64 = 0x706f_696e_7473_6d61;
const WALKS: usize = 200;
const TRANSITIONS: u64 = 10_000;
const CAP: Duration = Duration::from_secs(100);

/// Runs the tier, and returns whether both went the same ways.
pub(crate) fn tier() -> Result<bool> {
    let npm = components::npm()?;
    let scratch = Scratch::new()?;
    println!("seed {SEED:#018x}, {WALKS} sequences per chart");
    let mut draws = SplitMix64::new(SEED);
    let mut work = Vec::new();
    let mut covered = true;
    for chart in shipped::charts()? {
        let (walks, coverage) = walks(&chart, &mut draws)?;
        covered &= told(&chart, &coverage);
        let config = format!("{}.json", chart.name());
        fs::write(scratch.file(&config), graph::xstate(&chart).to_string())?;
        let sequences: Vec<Value> = walks.iter().map(sequence).collect();
        work.push(json!({ "chart": chart.name(), "config": config, "sequences": sequences }));
    }
    let (input, output) = (scratch.file("work.json"), scratch.file("result.json"));
    fs::write(&input, Value::from(work).to_string())?;
    let mut node = process::command("node");
    node.arg(place::script("js/xstate.mjs")).args([&npm, &input, &output]);
    let ended = process::run(node, CAP).context("starting node")?;
    if !ended.well() {
        eprintln!("XState went another way, or not at all ({ended:?})");
        return Ok(false);
    }
    let result: Value = serde_json::from_str(&fs::read_to_string(&output)?)?;
    let count = |name| result.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (transitions, refusals) = (count("transitions"), count("refusals"));
    println!("{transitions} transitions and {refusals} refusals compared, no difference");
    if transitions < TRANSITIONS {
        eprintln!("at least {TRANSITIONS} transitions were to be compared");
        return Ok(false);
    }
    Ok(covered)
}

fn walks(chart: &Chart, draws: &mut SplitMix64) -> Result<(Vec<Walk>, Coverage)> {
    let mut coverage = Coverage::new(chart);
    let walks =
        (0..WALKS).map(|_| walk::walk(chart, draws, &mut coverage)).collect::<Result<_>>()?;
    Ok((walks, coverage))
}

/// Tells which edges were taken, and returns whether all were.
fn told(chart: &Chart, coverage: &Coverage) -> bool {
    let missing = coverage.missing(chart);
    let (name, edges) = (chart.name(), coverage.edges());
    println!("{name}: {} of {edges} edges taken", edges - missing.len());
    for edge in &missing {
        eprintln!("{name}: never taken: {edge}");
    }
    missing.is_empty()
}

fn sequence(walk: &Walk) -> Value {
    let events: Vec<Value> = walk
        .steps
        .iter()
        .map(|step| match &step.seen {
            SimulatedStep::Taken(state) => json!([step.name, state]),
            SimulatedStep::Refused => json!([step.name, null]),
        })
        .collect();
    json!({ "events": events, "endedAt": walk.ended_at })
}

#[cfg(test)]
mod tests {
    use anyhow::{bail, ensure};

    use super::*;

    #[test]
    fn every_edge_of_the_shipped_charts_is_taken() -> Result<()> {
        let mut draws = SplitMix64::new(SEED);
        for chart in shipped::charts()? {
            let (_, coverage) = walks(&chart, &mut draws)?;
            let missing = coverage.missing(&chart);
            ensure!(missing.is_empty(), "{}: {missing:?}", chart.name());
        }
        Ok(())
    }

    #[test]
    fn the_same_seed_walks_the_same_ways() -> Result<()> {
        for chart in shipped::charts()? {
            let [once, twice] = [(); 2].map(|()| walks(&chart, &mut SplitMix64::new(7)));
            let told = |walks: Vec<Walk>| walks.iter().map(sequence).collect::<Vec<_>>();
            if told(once?.0) != told(twice?.0) {
                bail!("chart `{}` is walked differently", chart.name());
            }
        }
        Ok(())
    }
}
