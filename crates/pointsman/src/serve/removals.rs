//! `DELETE /api/v1/runs/ID` and `POST /api/v1/runs/prune`: removing runs.

use std::sync::Arc;

use axum::{Json, extract::State};
use pointsman_runtime::{
    clock::now_ms,
    store::{PruneOptions, RunId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Server,
    extract::{Given, Named},
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::{agents, report::Error};

/// Runs that were removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RemovedList {
    /// The run and its children.
    removed: Vec<String>,
}

/// Remove a run with its children, in any state, unless a process owns it.
#[utoipa::path(
    delete,
    path = "/runs/{id}",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The removed runs", body = RemovedList),
        openapi::RunRefusal,
    )
)]
pub(super) async fn remove(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
) -> Result<Json<RemovedList>, HttpProblem> {
    let run = run_id(&id)?;
    let removed = server
        .blocking(move |session| {
            let removed = session.remove(&run).map_err(Error::Session)?;
            agents::remove(session, &removed.runs);
            Ok(removed.runs)
        })
        .await?;
    Ok(Json(RemovedList { removed: names(&removed) }))
}

/// The ended runs to remove.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PruneBody {
    /// Remove runs that started longer ago than this, in milliseconds.
    older_than_ms: Option<u64>,
    /// Always keep this many of the newest.
    keep: Option<usize>,
    /// Whether to list the runs without removing any.
    dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PruneResult {
    /// Whether nothing was removed.
    dry_run: bool,
    /// The runs that were removed, or would be.
    removed: Vec<String>,
    /// Runs that are kept because a process owns them.
    held: Vec<String>,
    /// Runs that are kept because they are damaged.
    damaged: Vec<String>,
}

/// Remove old runs that have ended; active and waiting runs stay.
#[utoipa::path(
    post,
    path = "/runs/prune",
    tag = "runs",
    request_body = PruneBody,
    responses(
        (status = 200, description = "The runs that were removed, or would be", body = PruneResult),
        (status = 422, response = openapi::Unfit),
    )
)]
pub(super) async fn prune(
    State(server): State<Arc<Server>>,
    Given(body): Given<PruneBody>,
) -> Result<Json<PruneResult>, HttpProblem> {
    let PruneBody { older_than_ms, keep, dry_run } = body;
    if older_than_ms.is_none() && keep.is_none() {
        return Err(Error::PruneWhich.into());
    }
    let before_ms = older_than_ms.map(|age| now_ms().saturating_sub(age));
    let pruned = server
        .blocking(move |session| {
            let options = PruneOptions { before_ms, keep, dry_run };
            let pruned = session.prune(options).map_err(Error::Session)?;
            if !dry_run {
                agents::remove(session, pruned.runs.iter().map(|row| &row.id));
            }
            Ok(pruned)
        })
        .await?;
    let removed: Vec<RunId> = pruned.runs.into_iter().map(|row| row.id).collect();
    Ok(Json(PruneResult {
        dry_run,
        removed: names(&removed),
        held: names(&pruned.held),
        damaged: names(&pruned.damaged),
    }))
}

fn names(runs: &[RunId]) -> Vec<String> {
    runs.iter().map(ToString::to_string).collect()
}
