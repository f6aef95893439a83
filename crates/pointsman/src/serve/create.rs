//! `POST /api/v1/runs`: start a run.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::{event::RunConfig, id::Digest};
use pointsman_runtime::{
    entry::begun,
    local_executor::Workspace,
    model::{Provider, Spec},
    store::RunRow,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Server,
    extract::Given,
    openapi,
    problem::HttpProblem,
    repeat::{is_request_name, request_name},
};
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
    if request.request.as_deref().is_some_and(|name| !is_request_name(name)) {
        let detail = "`request` must have 1 to 255 visible characters";
        return Err(unfit(detail, "a UUID is a good name for a request"));
    }
    let wanted = request.request.is_some().then(|| WantedRun::of(&request));
    let submitted = request.submit_chart(&server.contexts, false).await;
    // What is wrong is the body, and not the path.
    let (run, digest) = submitted.map_err(|error| match HttpProblem::from(error) {
        problem if problem.status() == 404 => problem.with_status(StatusCode::UNPROCESSABLE_ENTITY),
        problem => problem,
    })?;
    if let Some(wanted) = wanted {
        // A key names one request: another one must not take its run for its own.
        let row = server.store().run(&run).await?;
        let begun = begun(&**server.store(), &run).await?;
        if !wanted.is(&row, begun.as_ref(), digest) {
            let detail = format!(
                "this name (`Idempotency-Key` or `request`) was already used for another request, \
                 which started run {run}"
            );
            return Err(unfit(&detail, "use a new name for each new request"));
        }
    }
    let location = [(header::LOCATION, format!("/api/v1/runs/{run}"))];
    let body = Json(StartedRun { run: run.to_string() });
    Ok((StatusCode::CREATED, location, body).into_response())
}

/// What a named request says of its run. What it leaves out is the server's choice.
struct WantedRun {
    goal: Option<String>,
    agent: Option<String>,
    dir: Option<PathBuf>,
    model: Option<String>,
}

impl WantedRun {
    fn of(request: &RunRequest) -> Self {
        let RunRequest { goal, agent, dir, model, .. } = request.clone();
        Self { goal, agent, dir, model }
    }

    /// Returns whether a run is the wanted one. The digest of an agent's chart is the program's
    /// business: another version of it may have started the run.
    fn is(&self, row: &RunRow, begun: Option<&RunConfig>, digest: Digest) -> bool {
        let same = |given: Option<&str>, has: &str| given.is_none_or(|given| given == has);
        if !same(self.goal.as_deref(), &row.goal) || !same(self.agent.as_deref(), &row.chart) {
            return false;
        }
        let Some(begun) = begun else { return true };
        let place = begun.place.as_ref();
        let place = place.and_then(|it| serde_json::from_str::<Workspace>(it.get()).ok());
        (self.agent.is_some() || begun.digest == digest)
            && place.is_none_or(|place| {
                let dir = self.dir.as_deref().zip(place.dir.as_deref());
                let model = self.model.as_deref().map(written);
                dir.is_none_or(|(wanted, has)| whole(wanted) == has)
                    && same(model.as_deref(), &place.model)
            })
    }
}

/// Returns a model as journals name it.
fn written(model: &str) -> String {
    match model.parse::<Spec>() {
        Ok(spec) if spec.provider() == Provider::Script => {
            Spec::script(&whole(Path::new(spec.name()))).to_string()
        }
        Ok(spec) => spec.to_string(),
        Err(_) => model.to_owned(),
    }
}

/// Returns a path as journals name it.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}

fn unfit(detail: &str, hint: &str) -> HttpProblem {
    HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, detail, hint)
}
