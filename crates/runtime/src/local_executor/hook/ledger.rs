//! What a run's own tools have changed, as its journal tells: every change of a file by a tool
//! that says so, with what the file held before it and after it.

use std::sync::{Arc, Mutex, PoisonError};

use pointsman_agents::chat::{ChatReport, after::is_command};
use pointsman_kernel::{
    agent::{Answer, ToolCall},
    agents::Agents,
    tool::CONTENT,
};

use crate::{
    store::{RunId, Store},
    timeline::{Projector, TimelineKind},
    tool::{Arguments, ToolKind, WorkspaceTools},
};

/// How many runs' ledgers are cached.
const KEPT: usize = 8;

/// Something that has changed files.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Deed {
    /// A tool that says what the file held and holds.
    Change { path: String, before: String, after: String },
    /// Something that says nothing of files: a command, a server's tool.
    Command,
}

/// A run's deeds, the first one first.
#[derive(Debug, Default)]
pub(super) struct Ledger(Vec<Deed>);

/// The part of a run's journal that was read.
pub(super) struct Account {
    read: Projector,
    ledger: Ledger,
}

/// The ledgers of the last runs, so that each batch reads only new entries.
#[derive(Default)]
pub(in crate::local_executor) struct Accounts(Mutex<Vec<(RunId, Account)>>);

impl Accounts {
    /// Takes a run's account out, if there is one.
    pub(super) fn take(&self, run: &RunId) -> Option<Account> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| known == run)?;
        Some(kept.remove(at).1)
    }

    /// Caches a run's ledger, and drops the least recently used one.
    pub(super) fn keep(&self, run: RunId, account: Account) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((run, account));
    }
}

impl Account {
    /// Reads what a run's journal has had added to it, or all of it the first time.
    pub(super) async fn read(
        known: Option<Self>,
        agents: &Agents,
        store: &dyn Store,
        run: &RunId,
        tools: &WorkspaceTools,
    ) -> Result<Self, String> {
        let mut account = match known {
            Some(known) => known,
            None => Self::unread(agents, store, run).await?,
        };
        let lines = store.lines(run, account.read.seq()).await;
        let lines = lines.map_err(|error| error.to_string())?;
        let items = account.read.fold_all(&lines).map_err(|error| error.to_string())?;
        account.ledger.0.extend(items.iter().filter_map(|item| deed(&item.kind, tools)));
        Ok(account)
    }

    async fn unread(agents: &Agents, store: &dyn Store, run: &RunId) -> Result<Self, String> {
        let source = store.chart_source(run).await.map_err(|error| error.to_string())?;
        let refused = |_| "this build refuses the run's chart".to_owned();
        let program = Arc::new(agents.verify(&source).map_err(refused)?);
        Ok(Self { read: Projector::new(program, run.clone()), ledger: Ledger::default() })
    }

    /// Returns what the run has done.
    pub(super) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

impl Ledger {
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

    /// Returns whether every change of a file since its last commit is the run's: the file was as
    /// committed when the run changed it first, no other program changed it between two of the
    /// run's changes, and it is as the last one left it. Commands that the run started in between
    /// may have changed it.
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

/// Returns what an answer says about files.
fn deed(kind: &TimelineKind, tools: &WorkspaceTools) -> Option<Deed> {
    let TimelineKind::Answered { answer, call, .. } = kind else { return None };
    match &**answer {
        Answer::Own(report) => {
            let Ok(ChatReport::PostTools { actions, .. }) = report.read() else { return None };
            ran_a_command(&actions).then_some(Deed::Command)
        }
        Answer::Tool(result) if result.mutated => {
            let call = call.as_ref()?;
            let edits = result.ok && tools.toolbox().kind(&call.tool) == ToolKind::Edit;
            let change = edits.then(|| change(call, &result.output, tools)).flatten();
            Some(change.unwrap_or(Deed::Command))
        }
        _ => None,
    }
}

/// Returns the change that the last line of a result describes.
fn change(call: &ToolCall, output: &str, tools: &WorkspaceTools) -> Option<Deed> {
    let path = tools.plain(Arguments::of(call)?.text("path")?)?;
    let said = output.trim_end().rsplit('\n').next()?.strip_prefix(CONTENT)?;
    let (before, after) = said.strip_suffix(']')?.split_once(" -> ")?;
    Some(Deed::Change { path, before: before.into(), after: after.into() })
}

/// Returns whether the report of a hook says that one of the user's commands was run,
/// well or not: that may have changed files. A hook that only commits changes none.
fn ran_a_command(actions: &[String]) -> bool {
    actions.iter().any(|action| is_command(action))
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
    fn only_explained_changes_belong_to_the_run() {
        let run = || Deed::Command;
        check(&[], "HEAD", false);
        check(&[change("HEAD", "1")], "1", true);
        check(&[change("HEAD", "1"), change("1", "2")], "2", true);
        // It had other changes before.
        check(&[change("0", "1")], "1", false);
        check(&[change("0", "1"), change("1", "2")], "2", false);
        // Another program changed it in between, or since.
        check(&[change("HEAD", "1"), change("1+", "2")], "2", false);
        check(&[change("HEAD", "1")], "1+", false);
        // The run may have, where it has run something.
        check(&[change("HEAD", "1"), run()], "1+", true);
        check(&[change("HEAD", "1"), run(), change("1+", "2")], "2", true);
        check(&[run(), change("0", "1")], "1", false);
        check(&[change("HEAD", "1"), run(), change("1", "2")], "2+", false);
        // A commit in between starts over.
        check(&[change("0", "1"), change("HEAD", "2")], "2", true);
    }

    #[test]
    fn only_a_command_that_was_run_may_have_changed_files() {
        let ran = |actions: &[&str]| {
            let actions: Vec<String> = actions.iter().map(|action| (*action).into()).collect();
            ran_a_command(&actions)
        };
        assert!(ran(&["ran `cargo fmt`", "committed 1 file as 1234567: Format"]));
        assert!(ran(&[&super::super::failed("`cargo fmt`", "exit code 1")]));
        for other in [
            "committed 1 file as 1234567: ran `it` again",
            "the commit failed: `x` failed",
            "a.txt: not committed, because it also contains changes from outside this run",
            "ran `x`: not committed, because it also contains changes from outside this run",
        ] {
            assert!(!ran(&[other]), "{other}");
        }
        assert!(!ran(&[]));
    }
}
