//! `/healthz` and `/readyz`: for whatever watches the server.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{Routes, Server, problem::HttpProblem};

pub(super) fn routes() -> Routes {
    Routes::new().routes(routes!(alive)).routes(routes!(ready))
}

/// The server answers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AliveStatus {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
}

/// The store can be used.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReadyStatus {
    /// Always `ready`.
    status: &'static str,
    /// How many runs there are.
    runs: u64,
    /// How many messages wait.
    messages: u64,
}

/// Report whether the process answers.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses((status = 200, description = "It answers", body = AliveStatus))
)]
pub(super) async fn alive() -> Json<AliveStatus> {
    Json(AliveStatus { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Report whether requests can be served: the store answers and accepts entries.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "server",
    responses(
        (status = 200, description = "It is ready", body = ReadyStatus),
        (status = 503, description = "It is not ready", body = HttpProblem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn ready(
    State(server): State<Arc<Server>>,
) -> Result<Json<ReadyStatus>, HttpProblem> {
    let not =
        |why: String| HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, why, "try again later");
    if *server.closing.borrow() {
        return Err(not("the server is stopping".into()));
    }
    let health = server.store().health().await.map_err(|error| not(error.to_string()))?;
    match health.unwritable.filter(|_| !server.options.read_only) {
        Some(why) => Err(not(why)),
        None => {
            Ok(Json(ReadyStatus { status: "ready", runs: health.runs, messages: health.messages }))
        }
    }
}
