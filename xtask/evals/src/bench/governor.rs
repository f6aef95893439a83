//! What a verdict costs: a call that is judged and its result that is taken in, once
//! the governor remembers as much as it ever will.

use std::{fmt::Write as _, hint::black_box, time::Instant};

use anyhow::{Result, ensure};
use pointsman_kernel::{
    agent::{ToolCall, ToolResult},
    chart::StuckThresholds,
    governor::GovernorMonitor,
};
use serde_json::value::RawValue;

use super::{count, figures::median, nanos, tally};
use crate::{allocation, random::SplitMix64};

const SEED: u64 = 0x676f_7665_726e_6f72;
/// Calls of one pass.
const CALLS: usize = 1_000;
/// Calls that fill the memory; none is remembered longer.
const FILLED: usize = 256;
const PASSES: usize = 64;

/// The cost of one decision.
pub(crate) struct Decision {
    /// The bytes of a result.
    pub(crate) bytes: usize,
    /// Nanoseconds, median.
    pub(crate) nanos: f64,
    /// Allocations, on average.
    pub(crate) allocations: f64,
}

/// Measures decisions over calls that are allowed, with results of about this size.
pub(crate) fn measure(bytes: usize) -> Result<Decision> {
    let rounds = rounds(bytes, &mut SplitMix64::new(SEED))?;
    let (mut times, mut allocations) = (Vec::new(), 0);
    for pass in 0..PASSES {
        let mut watch = GovernorMonitor::new(strict(), pointsman_agents::tools());
        for (call, result) in rounds.iter().take(FILLED) {
            watch.propose(call);
            watch.observe(call, result);
        }
        let (before, started) = (allocation::counted(), Instant::now());
        let mut silent = true;
        for (call, result) in rounds.iter().skip(FILLED) {
            silent &= black_box(watch.propose(call)).is_none();
            silent &= black_box(watch.observe(call, result)).is_none();
        }
        let took = started.elapsed();
        allocations = allocation::counted().saturating_sub(before);
        ensure!(silent, "the governor spoke where all is new");
        if pass > PASSES / 4 {
            times.push(nanos(took) / count(rounds.len() - FILLED));
        }
    }
    let allocations = tally(allocations) / count(rounds.len() - FILLED);
    Ok(Decision { bytes, nanos: median(&times), allocations })
}

/// Every rule, so that none is measured in its sleep.
fn strict() -> StuckThresholds {
    StuckThresholds {
        identical_call: Some(3),
        identical_query: Some(2),
        same_error: Some(3),
        failing_tool: Some(5),
        oscillation: Some(4),
        no_progress: Some(10),
        ..StuckThresholds::default()
    }
}

/// Returns calls of all kinds with their results, each one new.
fn rounds(bytes: usize, draws: &mut SplitMix64) -> Result<Vec<(ToolCall, ToolResult)>> {
    let kinds = [("read", "path"), ("search", "query"), ("edit", "path"), ("shell", "command")];
    (0..CALLS)
        .map(|at| {
            let (tool, argument) = kinds[at % kinds.len()];
            let part = draws.next();
            let arguments =
                format!(r#"{{"{argument}":"src/part-{part:x}.rs","from":{at},"to":{{"n":9}}}}"#);
            let mut output = String::new();
            while output.len() < bytes {
                let line = draws.next() % 900;
                let _ = writeln!(output, "{line}: let value = parse({part:x}, &text)?; // 0.5s");
            }
            let call = ToolCall {
                id: at.to_string(),
                tool: tool.to_owned(),
                arguments: RawValue::from_string(arguments)?,
            };
            // One call in ten fails, and each in another way.
            let ok = at % 10 != 0;
            Ok((call, ToolResult { ok, output, mutated: tool == "edit" }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_calls_are_let_pass_in_silence() -> Result<()> {
        super::super::RESULTS.into_iter().try_for_each(|bytes| measure(bytes).map(drop))
    }
}
