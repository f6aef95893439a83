//! Which runs are meant by a filter, and one action for all of them.

use std::process::ExitCode;

use clap::Args;
use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    config::milliseconds,
    control::{BulkAction, BulkReport, ForkQueue},
    session::Session,
    store::{Filter, QueueStatus, RunId, RunScope, StatusFilter},
};
use serde_json::json;

use crate::{
    agents, format,
    notify::note,
    report::{self, Error},
};

/// Which runs.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilterArgs {
    /// Runs of this agent.
    #[arg(long, value_name = "NAME", help_heading = "Filter")]
    agent: Option<String>,
    /// Runs of this chart.
    #[arg(long, value_name = "NAME", help_heading = "Filter")]
    chart: Option<String>,
    /// Runs in this state.
    #[arg(long, value_name = "NAME", help_heading = "Filter")]
    state: Option<String>,
    /// Runs with this status: `open`, `ended`, `succeeded`, `failed`, `budget`, `stuck`, `cancelled`,
    /// `denied`; for queued runs also `ready`, `waiting`, `leased`, `quarantined`.
    #[arg(long, value_name = "STATUS", value_parser = status, help_heading = "Filter")]
    status: Option<Status>,
    /// Queued runs with this concurrency key.
    #[arg(long, value_name = "KEY", help_heading = "Filter")]
    key: Option<String>,
    /// Runs whose goal contains this text; case is ignored.
    #[arg(long, value_name = "TEXT", help_heading = "Filter")]
    text: Option<String>,
    /// Runs that started longer ago than this: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Filter")]
    older_than: Option<u64>,
    /// Runs that started within this time: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Filter")]
    newer_than: Option<u64>,
    /// Unfinished runs without a new entry for this long.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Filter")]
    idle: Option<u64>,
}

/// The status of runs.
#[derive(Clone, Copy, Debug)]
enum Status {
    Run(StatusFilter),
    Queue(QueueStatus),
}

/// Every way in which a run can end.
const ENDS: [Disposition; 6] = [
    Disposition::Succeeded,
    Disposition::Failed,
    Disposition::Budget,
    Disposition::Stuck,
    Disposition::Cancelled,
    Disposition::Denied,
];

fn status(text: &str) -> Result<Status, String> {
    let end = ENDS.into_iter().find(|end| end.name() == text).map(StatusFilter::EndedAs);
    let run = match text {
        "open" => Some(StatusFilter::Open),
        "ended" => Some(StatusFilter::Ended),
        _ => end,
    };
    let queue = || QueueStatus::ALL.into_iter().find(|it| it.name() == text).map(Status::Queue);
    let names = ENDS.iter().map(|end| end.name());
    let all =
        ["open", "ended"].into_iter().chain(names).chain(QueueStatus::ALL.map(QueueStatus::name));
    let wrong = || format!("use one of: {}", all.collect::<Vec<_>>().join(", "));
    run.map(Status::Run).or_else(queue).ok_or_else(wrong)
}

fn time(text: &str) -> Result<u64, &'static str> {
    milliseconds(text).ok_or("write a number and a unit, such as 12h or 30d")
}

impl FilterArgs {
    /// Returns whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter(0) == Filter::default()
    }

    /// Returns it as a store takes it whose clock shows this time.
    pub(crate) fn filter(&self, now_ms: u64) -> Filter {
        let text = |text: &Option<String>| text.as_deref().map(Into::into);
        let ago = |age: Option<u64>| age.map(|age| now_ms.saturating_sub(age));
        let (status, queue) = match self.status {
            Some(Status::Run(status)) => (Some(status), None),
            Some(Status::Queue(queue)) => (None, Some(queue)),
            None => (None, None),
        };
        Filter {
            scope: RunScope::All,
            agent: text(&self.agent),
            chart: text(&self.chart),
            state: text(&self.state),
            status,
            text: text(&self.text),
            from_ms: ago(self.newer_than),
            before_ms: ago(self.older_than),
            key: text(&self.key),
            queue,
            idle_since_ms: ago(self.idle),
        }
    }
}

/// Runs that a filter names instead of an id.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BulkArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// With a filter: print the number of matching runs, and do nothing.
    #[arg(long, requires = "FilterArgs", help_heading = "Filter")]
    dry_run: bool,
}

impl BulkArgs {
    /// Does something to every run that the filter names.
    pub(crate) fn act(
        &self,
        session: &Session,
        action: &BulkAction,
        json: bool,
    ) -> Result<ExitCode, Error> {
        let filter = self.filter.filter(session.store().now_ms());
        // The forks are reported as they are made: what was done before a failure is known.
        let mut forked = |run: &RunId, fork: &RunId| {
            if !json {
                note(&format!("forked {run} as {fork}"));
            }
        };
        let control = session.control();
        let report = control.bulk_watched(&filter, None, action, self.dry_run, &mut forked);
        let report = session.block_on(report).map_err(Error::Session)?;
        if matches!(action, BulkAction::Cancel) && !self.dry_run {
            agents::forget_ended(session, &report.runs);
        }
        told(&report, action, self.dry_run, json)
    }
}

/// Reports what became of an action.
pub(crate) fn told(
    report: &BulkReport,
    action: &BulkAction,
    dry_run: bool,
    json: bool,
) -> Result<ExitCode, Error> {
    let BulkReport { runs, forks, skipped, failed } = report;
    let counted =
        |runs: &[RunId]| format::counted(u64::try_from(runs.len()).unwrap_or(u64::MAX), "run");
    if json {
        let names = |runs: &[RunId]| json!(runs.iter().map(RunId::as_str).collect::<Vec<_>>());
        let failed: Vec<_> =
            failed.iter().map(|(run, why)| json!({ "run": run.as_str(), "why": why })).collect();
        report::json(&json!({
            "runs": names(runs),
            "forks": names(forks),
            "failed": failed,
            "dry_run": dry_run,
        }))?;
    } else {
        let would = if dry_run { "would be " } else { "" };
        report::data(&format!("{} {would}{}\n", counted(runs), word(action)))?;
        for (run, why) in failed {
            note(&format!("run {run}: {}", format::line(why, 300)));
        }
    }
    if !skipped.is_empty() {
        note(&format!("{} skipped: already forked", counted(skipped)));
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const fn word(action: &BulkAction) -> &'static str {
    match action {
        BulkAction::Cancel => "cancelled",
        BulkAction::Decide { granted: true, .. } => "approved",
        BulkAction::Decide { granted: false, .. } => "denied",
        BulkAction::Resume(_) => "queued",
        BulkAction::Fork { queue: Some(_) } => "forked and queued",
        BulkAction::Fork { queue: None } => "forked",
    }
}

/// How runs enter the queue again.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RequeueArgs {
    /// Queue the run for a worker.
    #[arg(long, help_heading = "Queue")]
    pub(crate) queue: bool,
    /// With `--queue`: the concurrency key [default: the run's own].
    #[arg(long, value_name = "KEY", requires = "queue", help_heading = "Queue")]
    to_key: Option<String>,
    /// With `--queue`: the priority.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_hyphen_values = true,
        requires = "queue",
        help_heading = "Queue"
    )]
    priority: i32,
    /// With `--queue`: wait at least this long before the run starts.
    #[arg(long, value_name = "TIME", value_parser = time, requires = "queue", help_heading = "Queue")]
    delay: Option<u64>,
}

impl RequeueArgs {
    /// Returns them as an action takes them, at a time of the store.
    pub(crate) fn options(&self, now_ms: u64) -> ForkQueue {
        ForkQueue {
            key: self.to_key.as_deref().map(Into::into),
            priority: self.priority,
            not_before_ms: self.delay.map_or(0, |delay| now_ms.saturating_add(delay)),
        }
    }
}
