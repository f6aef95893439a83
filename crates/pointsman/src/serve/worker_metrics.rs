//! `/metrics` of a worker: figures of the runs that it drives, and of its store.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    http::StatusCode,
    middleware::from_fn_with_state,
    response::Response,
    routing::get,
};
use pointsman_runtime::{metrics::RunMetrics, session::Session, store::Store};
use tokio::{sync::watch, task::JoinHandle};

use super::{
    ServeOptions, check_tokens,
    guard::{self, Guard},
    listen::{ConnectionLimits, Listener},
    metrics::{HttpMetrics, written},
    problem::HttpProblem,
};
use crate::{
    report::Error,
    tokens::{Role, TokenFile},
};

/// How long requests in progress have to end when the worker does.
const DRAIN: Duration = Duration::from_secs(2);

/// A server beside a worker, with one path. It answers while the process waits for something.
pub(crate) struct MetricsServer {
    url: String,
    close: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

/// What the metrics are read from.
struct Figures {
    http: Arc<HttpMetrics>,
    runs: Arc<RunMetrics>,
    store: Arc<dyn Store>,
}

impl MetricsServer {
    /// Starts to answer, to those whom `serve` would answer at this address.
    pub(crate) fn start(
        session: &Session,
        options: &ServeOptions,
        tokens: TokenFile,
        runs: Arc<RunMetrics>,
    ) -> Result<Self, Error> {
        check_tokens(options, &tokens)?;
        session.block_on(async {
            let listener = Listener::open(options)?;
            let url = format!("{}/metrics", listener.url());
            let (close, closing) = watch::channel(false);
            let http = Arc::new(HttpMetrics::default());
            let guard = Arc::new(Guard::new(
                listener.address(),
                options.tls.is_some(),
                tokens,
                options.guard.clone(),
                Arc::clone(&http),
                closing.clone(),
            ));
            let limits = ConnectionLimits::of(&options.guard, Arc::clone(&http));
            let figures = Figures { http, runs, store: Arc::clone(session.store()) };
            let router = router(figures, &guard);
            let serving = tokio::spawn(listener.serve(router, limits, closing, DRAIN));
            Ok(Self { url, close, serving })
        })
    }

    /// Returns the address of the metrics.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Answers the requests in progress, and no more.
    pub(crate) async fn stop(self) {
        self.close.send_replace(true);
        // A panic of the loop has been told.
        drop(self.serving.await);
    }
}

fn router(figures: Figures, guard: &Arc<Guard>) -> Router {
    Router::new()
        .route("/metrics", get(read))
        .route_layer(from_fn_with_state((Arc::clone(guard), Role::Read), guard::permit))
        .fallback(no_such_path)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(guard), guard::admit))
        .with_state(Arc::new(figures))
}

async fn read(State(figures): State<Arc<Figures>>) -> Response {
    written(&figures.http, &figures.runs, &*figures.store).await
}

async fn no_such_path() -> HttpProblem {
    HttpProblem::new(StatusCode::NOT_FOUND, "a worker serves only /metrics", "")
}
