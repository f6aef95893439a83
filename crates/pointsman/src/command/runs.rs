//! `pointsman runs`: the runs that are kept, and removing some of them.

use std::{collections::BTreeSet, process::ExitCode};

use clap::{Args, Subcommand};
use pointsman_runtime::{
    clock::now_ms,
    config::milliseconds,
    session::Session,
    store::{Health, Page, PruneOptions, RunId, RunList, RunRow, StoreError},
};
use serde_json::json;

use super::run::json_line;
use crate::{
    agents, format,
    notify::note,
    paths::{self, Globals},
    report::{self, Error},
    run_argument::RunArgument,
    run_filter::FilterArgs,
    run_object::RunObject,
    standing::status,
};

/// List runs, newest first, or remove some.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pointsman runs
  pointsman runs --limit 100 --json
  pointsman runs --status failed --agent code --newer-than 1d
  pointsman runs --status waiting --idle 2h --key team-a
  pointsman runs prune --older-than 30d --dry-run
  pointsman runs remove RUN"
)]
pub(crate) struct Runs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    #[command(flatten)]
    filter: FilterArgs,
    /// How many to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print JSON Lines, one per run.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    Prune(PruneRuns),
    Remove(RemoveRuns),
}

/// Remove runs by id, in any state: damaged and unfinished ones too.
#[derive(Args, Debug)]
#[command(after_help = "\
Removing a run also removes its children. A run that another process owns is kept: cancel it first.

Examples:
  pointsman runs remove RUN
  pointsman runs remove RUN RUN --json")]
struct RemoveRuns {
    /// The runs: ids, unique prefixes, or `last`.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<RunArgument>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Remove old runs that have ended; active and waiting runs stay.
#[derive(Args, Debug)]
#[command(after_help = "\
With both `--older-than` and `--keep`, the newest N runs are kept, however old.

Examples:
  pointsman runs prune --older-than 30d
  pointsman runs prune --keep 1000 --dry-run")]
struct PruneRuns {
    /// Remove runs that started longer ago than this: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Option<u64>,
    /// Always keep the newest N [default: `keep` of `[journal]`].
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// List what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn time(text: &str) -> Result<u64, &'static str> {
    milliseconds(text).ok_or("write a number and a unit, such as 12h or 30d")
}

/// The table's columns before the goal.
const HEAD: [&str; 5] = ["RUN", "AGENT", "STATE", "AGE", "STEPS"];

impl Runs {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        match self.command {
            Some(RunsCommand::Prune(prune)) => return prune.run(globals),
            Some(RunsCommand::Remove(remove)) => return remove.run(globals),
            None => {}
        }
        // Looking makes nothing: where no run was kept yet, there may be no right to write.
        if globals.is_new(&paths::user()?)? {
            return Ok(none_yet(self.json));
        }
        let session = globals.session()?;
        let (store, page) = (session.store(), Page::first(self.limit));
        let RunList { runs: shown, damaged, next } = session
            .block_on(store.list(&self.filter.filter(store.now_ms()), &page))
            .map_err(Error::Store)?;
        if !self.filter.is_empty() {
            return self.filtered(&session, &shown, next.is_some(), damaged);
        }
        let Health { runs: all, .. } = session.block_on(store.health()).map_err(Error::Store)?;
        let seen = u64::try_from(shown.len() + damaged.len()).unwrap_or(u64::MAX);
        if self.json {
            for row in &shown {
                json_line(&object(row))?;
            }
        } else if !shown.is_empty() {
            report::data(&table(&shown, now_ms(), |row| status(&session, row).text))?;
        } else if all == 0 && damaged.is_empty() {
            return Ok(none_yet(self.json));
        }
        if all > seen {
            note(&format!("{} more: `--limit {all}` shows them all", all - seen));
        }
        for error in damaged {
            note(&match error.run() {
                Some(run) => format!("{error}; `pointsman runs remove {run}` removes it"),
                None => error.to_string(),
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Runs {
    /// Shows the runs that a filter names.
    fn filtered(
        &self,
        session: &Session,
        shown: &[RunRow],
        more: bool,
        damaged: Vec<StoreError>,
    ) -> Result<ExitCode, Error> {
        if self.json {
            for row in shown {
                json_line(&object(row))?;
            }
        } else if shown.is_empty() {
            note("no run matches");
        } else {
            report::data(&table(shown, now_ms(), |row| status(session, row).text))?;
        }
        if more {
            note(&format!(
                "there are more: `--limit {}` shows them",
                self.limit.saturating_mul(10)
            ));
        }
        for error in damaged {
            note(&error.to_string());
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn none_yet(json: bool) -> ExitCode {
    if !json {
        note("no runs yet; start one with `pointsman run research \"QUESTION\"`");
    }
    ExitCode::SUCCESS
}

pub(super) fn object(row: &RunRow) -> serde_json::Value {
    // Text and numbers always serialise.
    serde_json::to_value(RunObject::of(row)).unwrap_or_default()
}

pub(super) fn table(rows: &[RunRow], now: u64, status: impl Fn(&RunRow) -> String) -> String {
    let cells = |row: &RunRow| {
        [
            row.id.to_string(),
            row.chart.to_string(),
            status(row),
            format::age(now, row.made_ms()),
            row.seq.0.to_string(),
        ]
    };
    format::table(HEAD, "GOAL", rows.iter().map(|row| (cells(row), &*row.goal)))
}

impl PruneRuns {
    fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let config = paths::user()?;
        let kept = config.journal.keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
        let keep = self.keep.or(kept);
        if self.older_than.is_none() && keep.is_none() {
            return Err(Error::PruneWhich);
        }
        let session = globals.session_with(&config)?;
        let before_ms = self.older_than.map(|age| session.store().now_ms().saturating_sub(age));
        let pruned = session
            .prune(PruneOptions { before_ms, keep, dry_run: self.dry_run })
            .map_err(Error::Session)?;
        if !self.dry_run {
            agents::remove(&session, pruned.runs.iter().map(|row| &row.id));
        }
        if self.json {
            let ids = |ids: Vec<&str>| json!(ids);
            json_line(&json!({
                "removed": ids(pruned.runs.iter().map(|row| row.id.as_str()).collect()),
                "held": ids(pruned.held.iter().map(RunId::as_str).collect()),
                "damaged": ids(pruned.damaged.iter().map(RunId::as_str).collect()),
                "dry_run": self.dry_run,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !pruned.runs.is_empty() {
            let status = |row: &RunRow| row.ended.as_deref().unwrap_or("not ended").to_owned();
            report::data(&table(&pruned.runs, now_ms(), status))?;
        }
        let word = if self.dry_run { "would be removed" } else { "removed" };
        let count = u64::try_from(pruned.runs.len()).unwrap_or(u64::MAX);
        note(&format!("{} {word}", format::counted(count, "run")));
        for run in &pruned.damaged {
            note(&format!(
                "run {run} kept: it is damaged; `pointsman runs remove {run}` removes it"
            ));
        }
        if !pruned.held.is_empty() {
            let count = u64::try_from(pruned.held.len()).unwrap_or(u64::MAX);
            let runs = format::counted(count, "run");
            note(&format!("{runs} kept: owned by another process"));
        }
        if pruned.unswept {
            note(UNSWEPT);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Said where what the runs held could not be removed with them.
const UNSWEPT: &str = "artifacts of removed runs are kept, because a damaged run may need them";

impl RemoveRuns {
    fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        // All are found before the first is removed: `last` is the last as of now.
        let find = |which: &RunArgument| which.id(&session);
        let found = self.runs.iter().map(find).collect::<Result<BTreeSet<_>, _>>()?;
        let (mut gone, mut unswept, mut failed) = (BTreeSet::new(), false, Ok(()));
        for run in &found {
            // It may have gone with its parent.
            if gone.contains(run) {
                continue;
            }
            let removed = match session.remove(run) {
                Ok(removed) => removed,
                // Removed runs are reported all the same.
                Err(error) => {
                    failed = Err(Error::Session(error));
                    break;
                }
            };
            agents::remove(&session, &removed.runs);
            unswept = removed.unswept;
            for run in removed.runs {
                if !self.json {
                    report::data(&format!("removed: run {run}\n"))?;
                }
                gone.insert(run);
            }
        }
        if self.json {
            let ids: Vec<&str> = gone.iter().map(RunId::as_str).collect();
            json_line(&json!({ "removed": ids }))?;
        }
        if unswept {
            note(UNSWEPT);
        }
        failed.map(|()| ExitCode::SUCCESS)
    }
}
