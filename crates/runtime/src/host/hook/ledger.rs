//! What a run's own tools have changed, as its journal tells: every `edit` and `write`,
//! with what the file held before it and after it.

use std::collections::BTreeMap;

use pointsman_kernel::{
    agent::{ToolCall, ToolResult},
    chart::verify,
    id::{EffectId, Seq},
    journal::Entry,
    tool::CONTENT,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    driver::fold_each,
    store::{RunId, Store},
};

/// Something that has changed files.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Deed {
    /// A tool that says what the file held and holds.
    Change { path: String, before: String, after: String },
    /// Something that says nothing of files: a command, a server's tool, a hook.
    Command,
}

/// A run's deeds, the first one first.
#[derive(Debug, Default)]
pub(super) struct Ledger(Vec<Deed>);

#[derive(Deserialize)]
struct Answered {
    effect: EffectId,
    answer: Value,
}

impl Ledger {
    /// Reads a run's journal.
    pub(super) fn of(store: &Store, run: &RunId) -> Result<Self, String> {
        let source = store.chart_source(run).map_err(|error| error.to_string())?;
        let chart = verify(&source, &pointsman_agents::registry())
            .map_err(|_| "this build refuses the run's chart".to_owned())?;
        let lines = store.lines(run, Seq(0)).map_err(|error| error.to_string())?;
        let (mut deeds, mut at) = (Vec::new(), 0_usize);
        let mut calls: BTreeMap<EffectId, ToolCall> = BTreeMap::new();
        let folded = fold_each(&chart, run, &lines, |_, _, stepped| {
            deeds.extend(lines.get(at).and_then(|line| deed(line, &mut calls)));
            at = at.saturating_add(1);
            for (effect, order) in &stepped.effects {
                let order: Value = serde_json::from_str(order.get()).unwrap_or_default();
                if let Some(call) = order.pointer("/start/tool") {
                    calls.extend(ToolCall::deserialize(call).ok().map(|call| (*effect, call)));
                } else if order.pointer("/start/own").is_some() {
                    deeds.push(Deed::Command);
                }
            }
        });
        folded.map_err(|error| error.to_string())?;
        Ok(Self(deeds))
    }

    /// Returns the files that were changed.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self
            .0
            .iter()
            .filter_map(|deed| match deed {
                Deed::Change { path, .. } => Some(path.as_str()),
                Deed::Command => None,
            })
            .collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Returns whether all that a file holds beyond its last commit is the run's: it was
    /// as committed when the run changed it first, nobody else has changed it between
    /// two of the run's changes, and it is as the last one left it. Where the run has
    /// run a command in between, that may have changed it.
    pub(super) fn owns(&self, path: &str, committed: &str, now: &str) -> bool {
        let (mut held, mut commanded) = (None, false);
        for deed in &self.0 {
            match deed {
                Deed::Command => commanded = true,
                Deed::Change { path: changed, before, after } if changed == path => {
                    let goes_on = held.is_some_and(|held| held == before || commanded);
                    held = (before == committed || goes_on).then_some(after);
                    commanded = false;
                }
                Deed::Change { .. } => {}
            }
        }
        held.is_some_and(|held| held == now || commanded)
    }
}

/// Returns what an answer says of files.
fn deed(line: &str, calls: &mut BTreeMap<EffectId, ToolCall>) -> Option<Deed> {
    let entry = Entry::read(line).ok()?;
    let event: Value = serde_json::from_str(entry.event.get()).ok()?;
    let Answered { effect, answer } = Answered::deserialize(event.get("answered")?).ok()?;
    let call = calls.remove(&effect)?;
    let result = ToolResult::deserialize(answer.get("tool")?).ok()?;
    if !result.mutated {
        return None;
    }
    if !result.ok || !matches!(call.tool.as_str(), "edit" | "write") {
        return Some(Deed::Command);
    }
    let arguments: Value = serde_json::from_str(call.arguments.get()).ok()?;
    let path = arguments.get("path")?.as_str()?.to_owned();
    let said = result.output.trim_end().rsplit('\n').next()?.strip_prefix(CONTENT)?;
    let (before, after) = said.strip_suffix(']')?.split_once(" -> ")?;
    Some(Deed::Change { path, before: before.into(), after: after.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &str, after: &str) -> Deed {
        Deed::Change { path: "a".into(), before: before.into(), after: after.into() }
    }

    #[track_caller]
    fn check(deeds: &[Deed], now: &str, owns: bool) {
        let other = Deed::Change { path: "b".into(), before: "x".into(), after: "y".into() };
        let deeds = [deeds, &[other]].concat();
        assert_eq!(Ledger(deeds.clone()).owns("a", "HEAD", now), owns, "{deeds:?}, now {now}");
    }

    #[test]
    fn only_what_the_run_can_account_for_is_its_own() {
        let run = || Deed::Command;
        check(&[], "HEAD", false);
        check(&[change("HEAD", "1")], "1", true);
        check(&[change("HEAD", "1"), change("1", "2")], "2", true);
        // It held somebody's work before.
        check(&[change("0", "1")], "1", false);
        check(&[change("0", "1"), change("1", "2")], "2", false);
        // Somebody else changed it in between, or since.
        check(&[change("HEAD", "1"), change("1+", "2")], "2", false);
        check(&[change("HEAD", "1")], "1+", false);
        // The run may have, where it has run something.
        check(&[change("HEAD", "1"), run()], "1+", true);
        check(&[change("HEAD", "1"), run(), change("1+", "2")], "2", true);
        check(&[run(), change("0", "1")], "1", false);
        check(&[change("HEAD", "1"), run(), change("1", "2")], "2+", false);
        // What is committed meanwhile is a new beginning.
        check(&[change("0", "1"), change("HEAD", "2")], "2", true);
    }
}
