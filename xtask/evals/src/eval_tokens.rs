//! `cargo xtask eval tokens`: what goals without an answer cost, with the governor and
//! without it, and whether it costs an answer anywhere.
//!
//! The documents are this repository's and the search is the real one. The model is a
//! persona: it behaves as models do that do not find what they look for. Tokens are
//! estimated at four characters each, in the prompt and in the reply.

mod persona;
mod world;

use anyhow::{Context, Result, ensure};
use pointsman_kernel::chart::{Disposition, verify};

use persona::{ANSWERABLE, Case, MISSING, Persona};
use world::{RunResult, World};

/// Runs every case with the governor on and off, and prints what it cost.
pub(crate) fn tokens() -> Result<bool> {
    let on = pointsman_agents::CHARTS.iter().find(|(name, _)| *name == "research");
    let (_, on) = on.context("no chart is called research")?;
    let off = without_governor(on)?;
    let world = World::new()?;
    println!("{:<26}{:>12}{:>12}{:>9}", "missing answers", "off", "on", "less");
    let (mut spent_off, mut spent_on, mut honest) = (0, 0, true);
    for persona in Persona::ALL {
        let sum = |chart: &str| -> Result<(u64, bool)> {
            let runs: Vec<RunResult> = MISSING
                .iter()
                .map(|case| world.run(chart, case, persona))
                .collect::<Result<_>>()?;
            let honest = runs.iter().all(|ran| ran.ended != Disposition::Succeeded);
            Ok((runs.iter().map(|ran| ran.tokens).sum(), honest))
        };
        let ((off, _), (on, never_succeeds)) = (sum(&off)?, sum(on)?);
        honest &= never_succeeds || persona.gives_up();
        spent_off += off;
        spent_on += on;
        println!("{:<26}{off:>12}{on:>12}{:>8}%", persona.name(), less(off, on));
    }
    println!("{:<26}{spent_off:>12}{spent_on:>12}{:>8}%", "all", less(spent_off, spent_on));
    let mut lost = Vec::new();
    for case in ANSWERABLE {
        let ran = world.run(on, case, Persona::Circling)?;
        let free = world.run(&off, case, Persona::Circling)?;
        ensure!(free.ended == Disposition::Succeeded, "`{}` has no answer at all", case.goal);
        if ran.ended != Disposition::Succeeded {
            lost.push(case.goal);
        }
    }
    println!("\n{} goals with an answer, {} lost to the governor", ANSWERABLE.len(), lost.len());
    for goal in &lost {
        println!("lost: {goal}");
    }
    if !honest {
        println!("a run without an answer read as a success");
    }
    Ok(lost.is_empty() && honest && spent_on < spent_off)
}

/// Returns by how many per cent the second is less than the first.
fn less(off: u64, on: u64) -> i64 {
    let (off, on) = (i64::try_from(off).unwrap_or(i64::MAX), i64::try_from(on).unwrap_or(i64::MAX));
    off.saturating_sub(on).saturating_mul(100).checked_div(off).unwrap_or(0)
}

/// Returns the chart with its rules against repetition off; its budgets stay.
fn without_governor(chart: &str) -> Result<String> {
    let (before, rest) = chart.split_once("[stuck]\n").context("the chart has no [stuck]")?;
    let (_, after) = rest.split_once("\n[").context("[stuck] is the chart's end")?;
    let text = format!("{before}[stuck]\nenable = false\n\n[{after}");
    let sound = verify(&text, &pointsman_agents::registry()).is_ok();
    ensure!(sound, "the chart without its governor is refused");
    Ok(text)
}

impl Case {
    /// Returns whether a passage holds the answer.
    fn is_answered_by(&self, passage: &str) -> bool {
        self.key.is_some_and(|key| passage.to_lowercase().contains(key))
    }
}
