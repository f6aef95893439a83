//! Evidence: which calls run tests, and whether the tests passed.
//!
//! The command says that tests are run, the exit status says how that ended, and what
//! the runner printed confirms it: a run in which no test was run shows nothing.

mod command;
mod line;
mod output;
mod runners;
#[cfg(test)]
mod tests;

use alloc::string::String;

use pointsman_kernel::agent::{ToolCall, ToolResult};

use super::progress;
use crate::{EXITED, transcript::NOT_DONE};
use command::TestRun;

/// Returns whether the tests that a call ran have passed; nothing if it ran none.
pub(super) fn of(call: &ToolCall, result: &ToolResult, named: &[String]) -> Option<bool> {
    let line = progress::text(call, &["command"])?;
    // A call that was refused, or given up before it began, has run nothing.
    if result.output.starts_with(NOT_DONE) {
        return None;
    }
    let (first, rest) = result.output.split_once('\n').unwrap_or((&result.output, ""));
    let code: Option<i32> = first.strip_prefix(EXITED).and_then(|code| code.trim().parse().ok());
    let printed = if code.is_some() { rest } else { result.output.as_str() };
    let passed = code.map_or(result.ok, |code| code == 0);
    let tally = output::tally(printed);
    let told = tally.told();
    match command::ran(&line, named) {
        // The exit status is the tests' own.
        Some(TestRun::Decides) if tally.is_empty_run() && (passed || tally.failed == 0) => None,
        Some(TestRun::Decides) => Some(passed && told != Some(false)),
        // Something else decided over the exit status, or may have: only where all of it
        // went well can it be relied on.
        Some(TestRun::Chained) if passed && tally.is_empty_run() => None,
        Some(TestRun::Chained) if passed => Some(told != Some(false)),
        Some(TestRun::Chained | TestRun::Hidden) => tally.told_by_runner(),
        // An unknown script that printed what only a runner prints.
        Some(TestRun::Unknown) => tally.counted().map(|told| told && passed),
        None => None,
    }
}
