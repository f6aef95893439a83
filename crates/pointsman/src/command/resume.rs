//! `pointsman resume` and `pointsman fork`: resuming a run, or continuing it in another one.

use std::process::ExitCode;

use clap::Args;
use pointsman_kernel::{chart::Charge, id::Seq};
use pointsman_runtime::{
    control::{BulkAction, BulkReport, ForkQueue},
    session::{Session, SessionError},
    store::{RunId, RunRow},
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{answer::say, run::json_line};
use crate::{
    conversations,
    drive::{Drive, Waits},
    ending::finish,
    notify::note,
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
    run_filter::{self, BulkArgs, RequeueArgs},
};

/// Resume an interrupted, paused or waiting run.
#[derive(Args, Debug)]
#[command(after_help = "\
Calls that were in progress are not repeated blindly: each tool declares what to do with them. The
run keeps its permissions, folder and model, unless `--dir` or `--model` says otherwise.

Examples:
  pointsman resume                       the newest run of this folder that has not ended
  pointsman resume last
  pointsman resume last --grant model_calls=1
  pointsman resume RUN --dir ~/src/project --model openai:gpt-5-mini
  pointsman resume RUN --queue           a worker drives it
  pointsman resume RUN --queue --grant tokens=50000
  pointsman resume --status quarantined --queue --dry-run")]
pub(crate) struct Resume {
    /// The run: an id, a unique prefix of one, or `last` [default: the newest run of this folder
    /// that has not ended].
    #[arg(conflicts_with = "FilterArgs")]
    run: Option<RunArgument>,
    /// Add N to a limit of the run: `model_calls`, `tool_calls`, `tokens`, `money` (in millionths
    /// of a currency unit), `interactions`, `actions`, `steps`, `outside_app` or `time` (in
    /// milliseconds). May be repeated.
    #[arg(long, value_name = "KEY=N", value_parser = grant, conflicts_with = "FilterArgs")]
    grant: Vec<(Charge, u64)>,
    #[command(flatten)]
    again: RequeueArgs,
    #[command(flatten)]
    bulk: BulkArgs,
    #[command(flatten)]
    drive: Drive,
}

/// Reads what a person grants.
fn grant(typed: &str) -> Result<(Charge, u64), String> {
    let (key, amount) = typed.split_once('=').ok_or("write KEY=N, for example model_calls=1")?;
    // Charts count in the singular, people in the plural.
    let name = Value::String(key.strip_suffix('s').unwrap_or(key).into());
    let charge = Charge::deserialize(name).map_err(|_| {
        format!(
            "unknown key `{key}`; use model_calls, tool_calls, tokens, money, \
             interactions, actions, steps, outside_app or time"
        )
    })?;
    let amount = amount.parse().ok().filter(|amount| *amount > 0);
    Ok((charge, amount.ok_or_else(|| format!("`{key}` needs a whole number above 0"))?))
}

/// Fork a run at an entry and continue.
#[derive(Args, Debug)]
#[command(after_help = "\
Without `--at`, a run that has ended is forked before its last entry. The new run keeps the folder
and the model, unless `--dir` or `--model` says otherwise.

With a filter, the command skips runs that already have a fork at the same entry, and queues forks
that an earlier attempt created but could not queue. After a failure, repeat the command.

Examples:
  pointsman fork last --at 3
  pointsman fork RUN --at 3 --model anthropic:claude-sonnet-4-5
  pointsman fork RUN --no-run            only creates it, and prints its id
  pointsman fork RUN --at 3 --queue      a worker drives the fork
  pointsman fork --status failed --newer-than 1d --queue")]
pub(crate) struct Fork {
    /// The run: an id, a unique prefix of one, or `last`.
    #[arg(required_unless_present = "FilterArgs", conflicts_with = "FilterArgs")]
    run: Option<RunArgument>,
    /// The last entry that the fork shares.
    #[arg(long, value_name = "ENTRY", conflicts_with = "FilterArgs")]
    at: Option<u64>,
    /// Only create the fork, and print its id.
    #[arg(long, conflicts_with = "queue")]
    no_run: bool,
    #[command(flatten)]
    again: RequeueArgs,
    #[command(flatten)]
    bulk: BulkArgs,
    #[command(flatten)]
    drive: Drive,
}

impl Resume {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let queue = || self.again.options(session.store().now_ms());
        if self.again.queue {
            self.drive.not_for_workers()?;
        }
        if !self.bulk.filter.is_empty() {
            if !self.again.queue {
                return Err(Error::NoQueue);
            }
            return self.bulk.act(&session, &BulkAction::Resume(queue()), self.drive.json);
        }
        let row = match &self.run {
            Some(run) => run.find(&session)?,
            None => conversations::open(&session, self.drive.dir())?,
        };
        let (json, resumed) = if self.again.queue {
            (self.drive.json, requeue(&session, &row, &self.grant, queue(), self.drive.json))
        } else {
            let drive = self.drive.resuming(&session, &row.id)?;
            (drive.json, go_on(&session, &drive, &row.id, &self.grant))
        };
        match resumed {
            // Its owner only needs to learn that the pause is lifted.
            Err(Error::Session(SessionError::Held { .. }))
                if self.grant.is_empty() && is_paused(&session, &row.id)? =>
            {
                let delivery = session.unpause(&row.id).map_err(Error::Session)?;
                say(&row, delivery, "resumed", json)
            }
            done => done,
        }
    }
}

/// Puts a run back into the queue.
fn requeue(
    session: &Session,
    row: &RunRow,
    grants: &[(Charge, u64)],
    queue: ForkQueue,
    json: bool,
) -> Result<ExitCode, Error> {
    let run = &row.id;
    if let Some(error) = Error::of_child(run) {
        return Err(error);
    }
    if let Some(how) = &row.ended {
        return Err(Error::HasEnded { run: run.to_string(), how: how.to_string() });
    }
    let requeued = session.control();
    let requeued = session.block_on(requeued.requeue(run, grants, &queue));
    requeued.map_err(Error::Session)?;
    let report = BulkReport { runs: vec![run.clone()], ..BulkReport::default() };
    run_filter::told(&report, &BulkAction::Resume(queue), false, json)
}

impl Fork {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let queue = self.again.queue.then(|| self.again.options(session.store().now_ms()));
        if self.run.is_none() || self.no_run || queue.is_some() {
            self.drive.not_for_workers()?;
        }
        let Some(run) = &self.run else {
            return self.bulk.act(&session, &BulkAction::Fork { queue }, self.drive.json);
        };
        let row = run.find(&session)?;
        let fork = || session.fork(&row.id, self.at.map(Seq)).map_err(Error::Session);
        if !self.no_run && queue.is_none() {
            // First, so that no fork is left behind if the folder is missing.
            let drive = self.drive.resuming(&session, &row.id)?;
            let child = fork()?;
            note(&format!("forked {} as {child}", row.id));
            return go_on(&session, &drive, &child, &[]);
        }
        let child = fork()?;
        if let Some(queue) = queue {
            return enqueue(&session, &row, child, queue, self.drive.json);
        }
        if self.drive.json {
            json_line(&json!({ "run": child.as_str(), "forked": row.id.as_str() }))?;
        } else {
            report::data(&format!("{child}\n"))?;
            note(&format!("next: pointsman resume {child}"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Queues a fork that was just made.
fn enqueue(
    session: &Session,
    row: &RunRow,
    child: RunId,
    queue: ForkQueue,
    json: bool,
) -> Result<ExitCode, Error> {
    // First, so that the fork is known even if it cannot be queued.
    note(&format!("forked {} as {child}", row.id));
    let queued = [(child.clone(), queue.options(row))];
    session.block_on(session.store().enqueue(&queued)).map_err(Error::Store)?;
    let (runs, forks) = (vec![row.id.clone()], vec![child]);
    let report = BulkReport { runs, forks, ..BulkReport::default() };
    run_filter::told(&report, &BulkAction::Fork { queue: Some(queue) }, false, json)
}

fn is_paused(session: &Session, run: &RunId) -> Result<bool, Error> {
    let recalled = session.recall(run, None).map_err(Error::Session)?;
    Ok(recalled.loaded.run.core().paused)
}

fn go_on(
    session: &Session,
    drive: &Drive,
    run: &RunId,
    grants: &[(Charge, u64)],
) -> Result<ExitCode, Error> {
    let (executor, forms) = drive.executor(session, &drive.config()?)?;
    let row = session.block_on(session.store().run(run)).map_err(Error::Store)?;
    let mut audience =
        drive.audience(session, false, Waits::of(session.agents().decl(&row.agent)))?;
    let observers = audience.observers.clone();
    let approver = &mut *audience.approver;
    let outcome = session.resume_granting(&executor, run, grants, observers, approver);
    let outcome = outcome.map_err(Error::Session)?;
    finish(session, &forms, &outcome, audience, drive.json)
}
