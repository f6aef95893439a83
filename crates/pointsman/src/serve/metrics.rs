//! `/metrics`: figures of the server, of the runs that it drives and of its store.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use pointsman_runtime::{
    metrics::{MetricsText, RunMetrics, write_store},
    store::Store,
};
use utoipa_axum::routes;

use super::{Routes, Server};

pub(super) fn routes() -> Routes {
    Routes::new().routes(routes!(metrics))
}

/// Read the metrics of the server in Prometheus' text format.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain"))
)]
pub(super) async fn metrics(State(server): State<Arc<Server>>) -> Response {
    written(&server.http_metrics, &server.run_metrics, &**server.store()).await
}

/// Returns the figures of a process and of its store.
pub(super) async fn written(http: &HttpMetrics, runs: &RunMetrics, store: &dyn Store) -> Response {
    let mut text = MetricsText::default();
    http.write(&mut text);
    runs.write(&mut text);
    let stored = write_store(store, &mut text).await;
    if let Err(error) = &stored {
        // The figures of the server are there all the same.
        tracing::warn!(%error, "the store's metrics cannot be read");
    }
    text.metric("pointsman_store_up", "gauge", "1 if the store answers.");
    text.sample("pointsman_store_up", &[], u8::from(stored.is_ok()));
    ([(header::CONTENT_TYPE, MetricsText::CONTENT_TYPE)], text.finish()).into_response()
}

/// Why a request was refused, as it is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RefusalReason {
    /// The Host is none of the server's.
    Host,
    /// A page of another origin sent it.
    Origin,
    /// A page of another site made a browser send it.
    Site,
    /// Too many requests, or too many with a wrong token.
    Rate,
    /// No token, or a wrong one.
    Token,
    /// The token's role does not permit it.
    Role,
    /// The body is too long, too slow or broken off.
    Body,
    /// Too many event streams.
    Streams,
}

impl RefusalReason {
    const ALL: [Self; 8] = [
        Self::Host,
        Self::Origin,
        Self::Site,
        Self::Rate,
        Self::Token,
        Self::Role,
        Self::Body,
        Self::Streams,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::Site => "site",
            Self::Rate => "rate",
            Self::Token => "token",
            Self::Role => "role",
            Self::Body => "body",
            Self::Streams => "streams",
        }
    }
}

/// Figures of the server itself.
#[derive(Debug, Default)]
pub(super) struct HttpMetrics {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    refused: [AtomicU64; RefusalReason::ALL.len()],
    connections: AtomicU64,
}

impl HttpMetrics {
    pub(super) fn answer(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn refuse(&self, reason: RefusalReason) {
        let place = RefusalReason::ALL.iter().position(|it| *it == reason);
        if let Some(count) = place.and_then(|at| self.refused.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a connection for as long as the value is there.
    pub(super) fn connect(self: &Arc<Self>) -> OpenConnection {
        self.connections.fetch_add(1, Ordering::Relaxed);
        OpenConnection(Arc::clone(self))
    }

    fn write(&self, text: &mut MetricsText) {
        let name = "pointsman_http_responses_total";
        text.metric(name, "counter", "Responses, by the first digit of their status.");
        for (class, count) in self.answers.iter().enumerate().skip(1) {
            let (class, count) = (format!("{class}xx"), count.load(Ordering::Relaxed));
            text.sample(name, &[("status", &class)], count);
        }
        let name = "pointsman_http_refused_total";
        text.metric(name, "counter", "Requests that the guard refused, by reason.");
        for (reason, count) in RefusalReason::ALL.iter().zip(&self.refused) {
            text.sample(name, &[("reason", reason.name())], count.load(Ordering::Relaxed));
        }
        let name = "pointsman_http_connections";
        text.metric(name, "gauge", "Open connections.");
        text.sample(name, &[], self.connections.load(Ordering::Relaxed));
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct OpenConnection(Arc<HttpMetrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
