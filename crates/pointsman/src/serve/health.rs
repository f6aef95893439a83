//! `/healthz` and `/readyz`: for whatever watches the server.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use pointsman_runtime::{
    clock::Stopwatch,
    store::{Health, Store},
};
use serde::Serialize;
use tokio::sync::Mutex as AsyncMutex;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{Routes, Server, problem::HttpProblem};

/// For how long an answer of the store is kept: anybody may ask, and the store counts its runs.
const KEPT: Duration = Duration::from_secs(1);

/// What the store answered last, and when.
#[derive(Debug, Default)]
pub(super) struct LastHealth(AsyncMutex<Option<(Stopwatch, Result<Health, String>)>>);

impl LastHealth {
    /// Returns how the store stands. Requests that come while it is asked wait for the same answer.
    async fn of(&self, store: &dyn Store) -> Result<Health, String> {
        let mut last = self.0.lock().await;
        if let Some((asked, health)) = &*last
            && asked.elapsed() < KEPT
        {
            return health.clone();
        }
        let health = store.health().await.map_err(|error| error.to_string());
        *last = Some((Stopwatch::start(), health.clone()));
        health
    }
}

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
    let health = server.last_health.of(&**server.store()).await.map_err(not)?;
    match health.unwritable.filter(|_| !server.options.read_only) {
        Some(why) => Err(not(why)),
        None => {
            Ok(Json(ReadyStatus { status: "ready", runs: health.runs, messages: health.messages }))
        }
    }
}

#[cfg(test)]
mod tests {
    use pointsman_runtime::store::MemoryStore;
    use pointsman_testing::script::Script;

    use super::*;

    #[tokio::test]
    async fn store_is_asked_once_a_second() {
        let (store, last, waited) = (MemoryStore::new(), LastHealth::default(), Stopwatch::start());
        let runs = async || last.of(&store).await.map(|health| health.runs);
        assert_eq!(runs().await, Ok(0));
        Script::begin("one", &store, 5).await;
        let again = runs().await;
        assert!(again == Ok(0) || waited.elapsed() >= KEPT, "{again:?}");
        tokio::time::sleep(KEPT).await;
        assert_eq!(runs().await, Ok(1));
    }
}
