//! What a run holds beyond its timeline: explanations, prompts, exports, replays; and figures over
//! all runs.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::{
    id::Seq,
    view::{StepExplanation, view},
};
use pointsman_runtime::{
    session::{self, SessionError},
    stats::Stats,
    store::export,
    timeline::Projector,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named, within},
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::report::Error;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct EntryQuery {
    /// The entry; by default the last one.
    #[param(minimum = 1)]
    #[serde(deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    entry: Option<u64>,
}

/// Explain one step: why the run took this transition.
#[utoipa::path(
    get,
    path = "/runs/{id}/why",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), EntryQuery),
    responses(
        (status = 200, description = "The step, its transitions, verdicts and budgets", body = Object),
        openapi::RunRefusal,
    )
)]
pub(super) async fn why(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<EntryQuery>,
) -> Result<Json<StepExplanation>, HttpProblem> {
    let run = run_id(&id)?;
    let explain = move |session: &session::Session| {
        let recalled = session.recall(&run, query.entry.map(Seq)).map_err(Error::Session)?;
        let mut projector = Projector::new(Arc::new(recalled.program), run.clone());
        let mut last = None;
        for line in &recalled.lines {
            last = Some(projector.fold(line).map_err(|error| Error::Session(error.into()))?.0);
        }
        let none = SessionError::NoSuchEntry { run, has: 0, asked: Seq(1) };
        last.ok_or(Error::Session(none))
    };
    Ok(Json(server.blocking(explain).await?))
}

/// A prompt that a model received.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ShownPrompt {
    /// The entry.
    step: u64,
    /// The effect that asked the model.
    effect: String,
    /// The messages, the system's first.
    #[schema(value_type = Vec<Object>)]
    parts: Vec<Value>,
}

/// Read the exact prompts that models received.
#[utoipa::path(
    get,
    path = "/runs/{id}/prompts",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The prompts, in order", body = Vec<ShownPrompt>),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn prompts(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
) -> Result<Json<Vec<ShownPrompt>>, HttpProblem> {
    let prompts = server.store().prompts(&run_id(&id)?).await?;
    let shown = prompts.into_iter().map(|prompt| ShownPrompt {
        step: prompt.seq.0,
        effect: prompt.effect.to_string(),
        parts: prompt.parts.iter().filter_map(|part| serde_json::from_str(part).ok()).collect(),
    });
    Ok(Json(shown.collect()))
}

/// Export a run as JSON Lines that anyone can verify.
#[utoipa::path(
    get,
    path = "/runs/{id}/export",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The export", body = String, content_type = "application/jsonl"),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn export_run(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
) -> Result<Response, HttpProblem> {
    let mut text = Vec::new();
    export(&**server.store(), &run_id(&id)?, &mut text).await.map_err(Error::Export)?;
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], text).into_response())
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct ReplayQuery {
    /// Stop after this entry.
    #[param(minimum = 1)]
    #[serde(deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    until: Option<u64>,
}

/// A run that was replayed and is the same.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SameRun {
    /// The run.
    run: String,
    /// How many entries were replayed.
    entries: usize,
    /// How many prompts were rendered again.
    prompts: usize,
    /// The state after the last entry.
    state: Box<str>,
    /// Always true: anything else is an error.
    identical: bool,
}

/// Replay a run's journal, and check every byte.
#[utoipa::path(
    get,
    path = "/runs/{id}/replay",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), ReplayQuery),
    responses(
        (status = 200, description = "Every byte is the same", body = SameRun),
        openapi::RunRefusal,
    )
)]
pub(super) async fn replay(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<ReplayQuery>,
) -> Result<Json<SameRun>, HttpProblem> {
    let run = run_id(&id)?;
    server.store().run(&run).await?;
    let replayed =
        session::replay(server.agents(), &**server.store(), &run, query.until.map(Seq)).await;
    let replayed = replayed.map_err(|error| match error {
        error @ SessionError::NoSuchEntry { .. } => Error::Session(error),
        error => Error::Diverged(Box::new(Error::Session(error))),
    })?;
    let recalled = &replayed.recalled;
    Ok(Json(SameRun {
        run: run.to_string(),
        entries: recalled.lines.len(),
        prompts: replayed.prompts,
        state: view(&recalled.program, recalled.loaded.run.core()).state,
        identical: true,
    }))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct StatsQuery {
    /// Only runs of this agent or chart.
    agent: Option<String>,
}

/// Read statistics over all runs, or over one agent's. Only changed runs are read again.
#[utoipa::path(
    get,
    path = "/stats",
    tag = "runs",
    params(StatsQuery),
    responses(
        (status = 200, description = "The figures", body = Object),
    )
)]
pub(super) async fn stats(
    State(server): State<Arc<Server>>,
    Asked(query): Asked<StatsQuery>,
) -> Result<Json<Stats>, HttpProblem> {
    let mut cache = server.summaries.lock().await;
    let agent = query.agent.as_deref();
    let stats = Stats::with_cache(server.agents(), &**server.store(), agent, &mut cache).await?;
    // Without the file the next start reads all runs again.
    if let Err(error) = cache.save() {
        tracing::warn!(%error, "the summaries of runs cannot be saved");
    }
    Ok(Json(stats))
}
