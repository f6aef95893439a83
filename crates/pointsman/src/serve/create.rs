//! `POST /api/v1/runs`: start a run.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Server, extract::Given, openapi, problem::HttpProblem, repeat::request_name};
use crate::start::RunRequest;

/// A run that was started.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StartedRun {
    /// Its id.
    run: String,
}

/// Start a run.
///
/// It is queued at once and driven as soon as the server has a free slot. The same `Idempotency-Key` never starts a
/// second run.
#[utoipa::path(
    post,
    path = "/runs",
    tag = "runs",
    request_body = RunRequest,
    params(("Idempotency-Key" = Option<String>, Header, max_length = 255,
        description = "A name for this request; repeating it returns the same run")),
    responses(
        (status = 201, description = "The run is queued", body = StartedRun,
            headers(("Location" = String, description = "The path of the run"))),
        (status = 409, response = openapi::Conflict),
        (status = 422, response = openapi::Unfit),
    )
)]
pub(super) async fn create(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Given(mut request): Given<RunRequest>,
) -> Result<Response, HttpProblem> {
    if request.base_url.is_some() {
        // Who chooses the address chooses who sees the files and the key.
        return Err(unfit("`base_url` cannot be set over HTTP", "set it in the server's settings"));
    }
    if let Some(name) = request_name(&headers)? {
        request.request = Some(name.into());
    }
    let named = request.request.is_some();
    let (goal, agent) = (request.goal.clone(), request.agent.clone());
    let run = request.submit(&server.contexts, false).await;
    // What is wrong is the body, and not the path.
    let run = run.map_err(|error| match HttpProblem::from(error) {
        problem if problem.status() == 404 => problem.with_status(StatusCode::UNPROCESSABLE_ENTITY),
        problem => problem,
    })?;
    if named {
        // A key names one request: another one must not take its run for its own.
        let row = server.store().run(&run).await?;
        let same = |given: Option<&str>, has: &str| given.is_none_or(|given| given == has);
        if !same(goal.as_deref(), &row.goal) || !same(agent.as_deref(), &row.chart) {
            let detail = format!("this `Idempotency-Key` started run {run} for another request");
            return Err(unfit(&detail, "use a new key for each new request"));
        }
    }
    let location = [(header::LOCATION, format!("/api/v1/runs/{run}"))];
    let body = Json(StartedRun { run: run.to_string() });
    Ok((StatusCode::CREATED, location, body).into_response())
}

fn unfit(detail: &str, hint: &str) -> HttpProblem {
    HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, detail, hint)
}
