//! `POST /api/v1/runs/bulk`: one action for all runs that a filter names.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use pointsman_runtime::{
    control::{BulkAction, ForkQueue},
    session::Session,
    store::{Filter, RunId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Server,
    extract::Given,
    openapi,
    problem::{HttpProblem, run_id},
    runs::RunFilter,
};
use crate::agents;

/// An action for many runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkBody {
    /// What to do.
    action: BulkName,
    /// The runs.
    #[serde(default)]
    filter: RunFilter,
    /// Only these of the runs that match the filter, for example those that a dry run has listed: so
    /// runs that match only since then are left alone.
    #[schema(value_type = Option<Vec<String>>)]
    runs: Option<Vec<Box<str>>>,
    /// Whether to act on all runs; required if the filter is empty and `runs` is absent.
    #[serde(default)]
    all: bool,
    /// Whether to list the runs without acting on any.
    #[serde(default)]
    dry_run: bool,
    /// The reason for an answer, which the journals keep.
    reason: Option<String>,
    /// For `resume` and `fork`: the concurrency key; by default each run's own.
    key: Option<String>,
    /// For `resume` and `fork`: the priority of the runs.
    #[serde(default)]
    priority: i32,
    /// For `resume` and `fork`: the earliest time to start them, in milliseconds since 1970.
    #[serde(default)]
    not_before_ms: u64,
}

/// What is done to every run.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum BulkName {
    Cancel,
    Approve,
    Deny,
    Resume,
    Fork,
}

/// The result of a bulk action.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BulkResult {
    /// Whether nothing was done.
    dry_run: bool,
    /// How many runs it applies to.
    count: usize,
    /// The runs that it applies to.
    runs: Vec<String>,
    /// The forks that were created, in the order of `runs`.
    forks: Vec<String>,
    /// The runs that are not forked again, because they have a fork at the same entry.
    skipped: Vec<String>,
    /// The runs that could not be acted on.
    failed: Vec<FailedAction>,
}

/// A run that could not be acted on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailedAction {
    /// The run.
    run: String,
    /// Why.
    why: String,
}

/// Cancel, answer, resume or fork all runs that match a filter, or only count them.
#[utoipa::path(
    post,
    path = "/runs/bulk",
    tag = "actions",
    request_body = BulkBody,
    responses(
        (status = 200, description = "The result", body = BulkResult),
        (status = 422, response = openapi::Unfit),
    )
)]
pub(super) async fn bulk(
    State(server): State<Arc<Server>>,
    Given(body): Given<BulkBody>,
) -> Result<Json<BulkResult>, HttpProblem> {
    let (dry_run, waiting) = (body.dry_run, body.filter.waiting);
    let (mut filter, mut among, action) = body.read()?;
    if let Some(wanted) = waiting {
        (filter, among) = server.among_waiting(filter, among, wanted).await?;
    }
    let report = server.control.bulk_among(&filter, among.as_ref(), &action, dry_run).await?;
    if matches!(action, BulkAction::Cancel) && !dry_run {
        let runs = report.runs.clone();
        let forget = move |session: &Session| {
            agents::forget_ended(session, &runs);
            Ok(())
        };
        server.blocking(forget).await?;
    }
    let ids = |runs: &[RunId]| runs.iter().map(ToString::to_string).collect::<Vec<_>>();
    let failed = report.failed.into_iter();
    Ok(Json(BulkResult {
        dry_run,
        count: report.runs.len(),
        runs: ids(&report.runs),
        forks: ids(&report.forks),
        skipped: ids(&report.skipped),
        failed: failed.map(|(run, why)| FailedAction { run: run.to_string(), why }).collect(),
    }))
}

impl BulkBody {
    fn read(self) -> Result<(Filter, Option<BTreeSet<RunId>>, BulkAction), HttpProblem> {
        let waiting = self.filter.waiting;
        let filter = self.filter.read()?;
        let unfit = |problem: HttpProblem| problem.with_status(StatusCode::UNPROCESSABLE_ENTITY);
        let read = |runs: Vec<Box<str>>| -> Result<BTreeSet<RunId>, HttpProblem> {
            runs.iter().map(|run| run_id(run).map_err(unfit)).collect()
        };
        let among = self.runs.map(read).transpose()?;
        let is_empty = filter == Filter::default() && waiting.is_none();
        if is_empty && among.is_none() && !self.all {
            let detail = "the filter is empty";
            let hint = "set a filter, or set `all` to act on every run";
            return Err(HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, detail, hint));
        }
        let queue = ForkQueue {
            key: self.key.map(Into::into),
            priority: self.priority,
            not_before_ms: self.not_before_ms,
        };
        let decide = |granted, word: &str| BulkAction::Decide {
            granted,
            reason: self.reason.clone().unwrap_or_else(|| format!("{word} over HTTP")),
        };
        let action = match self.action {
            BulkName::Cancel => BulkAction::Cancel,
            BulkName::Approve => decide(true, "approved"),
            BulkName::Deny => decide(false, "denied"),
            BulkName::Resume => BulkAction::Resume(queue),
            BulkName::Fork => BulkAction::Fork { queue: Some(queue) },
        };
        Ok((filter, among, action))
    }
}
