//! Runs over HTTP: programs and pages start, follow and steer them.
//!
//! Here belongs what speaks HTTP. Handlers read requests, call the engine, the store or the
//! kernel, and write what those return; none of them decides anything. `command/serve.rs` reads the
//! options.
#![allow(unused_qualifications, reason = "the macro that describes paths writes such names")]

mod actions;
mod beside;
mod bulk;
mod charts;
mod content;
mod create;
mod events;
mod extract;
mod guard;
mod health;
mod hub;
mod inspect;
mod lanes;
mod listen;
mod metrics;
mod moments;
mod next;
mod open_runs;
mod openapi;
mod page;
mod problem;
mod prompt;
mod removals;
mod repeat;
mod runs;
mod stall;
mod story;
mod tables;
mod waiting;
mod what_if;
mod worker_metrics;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::get,
};
use pointsman_kernel::{agents::Agents, chart::Disposition};
use pointsman_runtime::{
    clock::now_ms,
    config::ServeConfig,
    control::RunControl,
    exit::Exit,
    host_name,
    metrics::RunMetrics,
    observe::{Log, Observer},
    scheduler::{Scheduler, SchedulerOptions},
    session::Session,
    stats::SummaryCache,
    store::{Store, Worker},
};
use tokio::{
    sync::{Mutex as AsyncMutex, watch},
    task::JoinHandle,
};
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    contexts::RunContexts,
    error::ServeError,
    report::{self, Error},
    tokens::{Role, TokenFile},
};
pub(crate) use beside::PageServer;
use guard::Guard;
pub(crate) use guard::GuardOptions;
use health::LastHealth;
use hub::Hub;
use listen::{ConnectionLimits, Listener, StopSignals};
use metrics::HttpMetrics;
use open_runs::OpenRuns;
use problem::HttpProblem;
use repeat::{Repeats, repeat};
pub(crate) use worker_metrics::MetricsServer;

/// How a server serves.
#[derive(Clone, Debug)]
pub(crate) struct ServeOptions {
    /// The address.
    pub(crate) listen: SocketAddr,
    /// Runs that are driven at a time; none where others drive them.
    pub(crate) jobs: Option<usize>,
    /// Whether requests that change something are refused.
    pub(crate) read_only: bool,
    /// Certificate and key, for TLS.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    /// Live notices that are kept for a slow follower of a run.
    pub(crate) stream_buffer: usize,
    /// Time between two signs of life on a quiet stream.
    pub(crate) keep_alive: Duration,
    /// How long requests and runs in progress have to end when the server stops.
    pub(crate) drain: Duration,
    /// Who may send requests, and how many.
    pub(crate) guard: GuardOptions,
    /// The file that keeps figures of runs.
    pub(crate) summaries: Option<PathBuf>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7100)),
            jobs: Some(4),
            read_only: false,
            tls: None,
            stream_buffer: 256,
            keep_alive: Duration::from_secs(15),
            drain: Duration::from_mins(1),
            guard: GuardOptions::default(),
            summaries: None,
        }
    }
}

impl ServeOptions {
    /// Returns the options that the settings ask for.
    pub(crate) fn of(config: &ServeConfig) -> Result<Self, Error> {
        let usual = Self::default();
        let listen = config.listen.as_deref().and_then(|listen| listen.parse().ok());
        let tls = match (config.tls_cert.clone(), config.tls_key.clone()) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            // Who wants TLS must not get a server without it.
            (cert, _) => {
                let keys = ["tls_cert", "tls_key"];
                let [given, missing] = if cert.is_some() { keys } else { [keys[1], keys[0]] };
                return Err(Error::Serve(ServeError::HalfTls { given, missing }));
            }
        };
        Ok(Self {
            listen: listen.unwrap_or(usual.listen),
            jobs: config.jobs.or(usual.jobs),
            tls,
            stream_buffer: config.stream_buffer.unwrap_or(usual.stream_buffer),
            keep_alive: config.keep_alive.unwrap_or(usual.keep_alive),
            drain: config.drain.unwrap_or(usual.drain),
            guard: GuardOptions::of(config),
            ..usual
        })
    }
}

/// What all handlers share.
pub(crate) struct Server {
    session: Arc<Session>,
    control: RunControl,
    contexts: Arc<RunContexts>,
    hub: Hub,
    open_runs: OpenRuns,
    summaries: AsyncMutex<SummaryCache>,
    options: ServeOptions,
    repeats: Repeats,
    guard: Arc<Guard>,
    http_metrics: Arc<HttpMetrics>,
    run_metrics: Arc<RunMetrics>,
    last_health: LastHealth,
    /// Becomes true when the server stops.
    closing: watch::Receiver<bool>,
}

impl Server {
    fn store(&self) -> &Arc<dyn Store> {
        self.session.store()
    }

    fn agents(&self) -> &Agents {
        self.session.agents()
    }

    /// Does work of the session, which blocks, on a thread for such work.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, HttpProblem> {
        let session = Arc::clone(&self.session);
        let done = tokio::task::spawn_blocking(move || work(&session)).await;
        let broke = |_| {
            let detail = "internal error (panic); see the log of the server";
            HttpProblem::new(StatusCode::INTERNAL_SERVER_ERROR, detail, "")
        };
        Ok(done.map_err(broke)??)
    }
}

type Routes = OpenApiRouter<Arc<Server>>;

/// Paths that only read, or compute from what they are given.
fn reads() -> Routes {
    Routes::new()
        .routes(routes!(runs::list_runs))
        .routes(routes!(runs::read_run))
        .routes(routes!(runs::read_timeline))
        .routes(routes!(events::follow))
        .routes(routes!(moments::read_story))
        .routes(routes!(moments::read_moment))
        .routes(routes!(moments::read_text))
        .routes(routes!(prompt::read_prompt))
        .routes(routes!(moments::find))
        .routes(routes!(next::next_entry))
        .routes(routes!(lanes::lanes))
        .routes(routes!(what_if::what_if))
        .routes(routes!(what_if::changes))
        .routes(routes!(moments::standings))
        .routes(routes!(inspect::why))
        .routes(routes!(inspect::prompts))
        .routes(routes!(inspect::export_run))
        .routes(routes!(inspect::replay))
        .routes(routes!(content::blob))
        .routes(routes!(content::file))
        .routes(routes!(tables::read_tables))
        .routes(routes!(tables::read_edits))
        .routes(routes!(tables::draw_map))
        .routes(routes!(inspect::stats))
        .routes(routes!(charts::list_charts))
        .routes(routes!(charts::read_chart))
        .routes(routes!(charts::draw_chart))
        .routes(routes!(charts::read_run_chart))
        .routes(routes!(charts::draw_run_chart))
        .routes(routes!(charts::check))
        .routes(routes!(charts::simulate))
        .routes(routes!(charts::explain_code))
}

/// Paths that start, steer or fork runs.
fn changes() -> Routes {
    Routes::new()
        .routes(routes!(create::create))
        .routes(routes!(actions::approve))
        .routes(routes!(actions::deny))
        .routes(routes!(actions::cancel))
        .routes(routes!(actions::pause))
        .routes(routes!(actions::resume))
        .routes(routes!(actions::fork))
        .routes(routes!(actions::input))
}

/// Paths that act on many runs, or remove runs.
fn administration() -> Routes {
    Routes::new()
        .routes(routes!(bulk::bulk))
        .routes(routes!(removals::remove))
        .routes(routes!(removals::prune))
}

/// Returns every path, with its description, under what is before paths of each role.
fn routes(under: impl Fn(Routes, Role) -> Routes) -> Routes {
    let api = under(reads(), Role::Read)
        .merge(under(changes(), Role::Operate))
        .merge(under(administration(), Role::Admin));
    Routes::with_openapi(openapi::Document::openapi())
        .merge(health::routes())
        .merge(under(metrics::routes(), Role::Read))
        .nest("/api/v1", api)
}

/// Returns what answers requests.
fn router(server: &Arc<Server>) -> Router {
    let under = |routes: Routes, role: Role| {
        let routes = if role > Role::Read {
            routes
                .layer(from_fn_with_state(Arc::clone(server), repeat))
                .layer(from_fn_with_state(Arc::clone(server), writable))
        } else {
            routes
        };
        routes.layer(from_fn_with_state((Arc::clone(&server.guard), role), guard::permit))
    };
    routes(under)
        .split_for_parts()
        .0
        .merge(page::routes())
        .route("/openapi.json", get(document))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // The guard alone bounds bodies.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&server.guard), guard::admit))
        .with_state(Arc::clone(server))
}

/// Refuses changes where the server only reads.
async fn writable(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Result<Response, HttpProblem> {
    if server.options.read_only {
        let detail = "this server is read-only";
        let hint = "start it without `--read-only`";
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, detail, hint));
    }
    Ok(next.run(request).await)
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi::DOCUMENT.as_str()).into_response()
}

async fn no_such_path(uri: Uri) -> HttpProblem {
    let detail = format!("there is nothing at {}", uri.path());
    HttpProblem::new(StatusCode::NOT_FOUND, detail, "/openapi.json lists every path")
}

async fn no_such_method(request: Request) -> HttpProblem {
    let detail = format!("{} does not support {}", request.uri().path(), request.method());
    HttpProblem::new(StatusCode::METHOD_NOT_ALLOWED, detail, "/openapi.json lists every path")
}

/// Serves until the process is asked to end, and then lets requests and runs in progress end.
pub(crate) fn run(session: Session, options: ServeOptions, tokens: TokenFile) -> Result<(), Error> {
    let session = Arc::new(session);
    session.block_on(serve(&session, options, tokens))
}

/// Refuses an address that other machines reach while no valid token lets them in; one of the page
/// never does.
fn check_tokens(options: &ServeOptions, tokens: &TokenFile) -> Result<(), Error> {
    let known = tokens.list().map_err(Error::Token)?;
    let (address, now) = (options.listen, now_ms());
    if !address.ip().to_canonical().is_loopback()
        && !known.iter().any(|it| it.is_valid(now) && !it.page)
    {
        return Err(Error::Serve(ServeError::Exposed { address }));
    }
    Ok(())
}

/// A server that is set up, and does not answer yet.
struct ReadyServer {
    listener: Listener,
    server: Arc<Server>,
    close: watch::Sender<bool>,
    /// Passes on what other processes write.
    hints: JoinHandle<()>,
    driving: Option<Scheduler>,
}

impl ReadyServer {
    /// Opens the address, and starts to drive runs where that is asked for.
    async fn new(
        session: &Arc<Session>,
        options: ServeOptions,
        tokens: TokenFile,
    ) -> Result<Self, Error> {
        check_tokens(&options, &tokens)?;
        let listener = Listener::open(&options)?;
        let (close, closing) = watch::channel(false);
        let hub = Hub::new(options.stream_buffer);
        let changes = session.store().changes().await.map_err(Error::Store)?;
        let hints = tokio::spawn(hub.clone().pass_on(changes));
        let observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log), Arc::new(hub.clone())];
        let run_metrics = Arc::new(RunMetrics::new(session.agents()));
        let contexts = RunContexts::new(session, observers).with_metrics(&run_metrics);
        let contexts = Arc::new(contexts);
        let driving = match options.jobs {
            Some(jobs) => Some(drive(session, &contexts, jobs).await?),
            None => None,
        };
        let http_metrics = Arc::new(HttpMetrics::default());
        let guard = Arc::new(Guard::new(
            listener.address(),
            options.tls.is_some(),
            tokens,
            options.guard.clone(),
            Arc::clone(&http_metrics),
            closing.clone(),
        ));
        let summaries = options.summaries.as_deref().map(SummaryCache::open).unwrap_or_default();
        let server = Arc::new(Server {
            session: Arc::clone(session),
            control: session.control(),
            contexts,
            hub,
            open_runs: OpenRuns::default(),
            summaries: AsyncMutex::new(summaries),
            options,
            repeats: Repeats::default(),
            guard,
            http_metrics,
            run_metrics,
            last_health: LastHealth::default(),
            closing,
        });
        Ok(Self { listener, server, close, hints, driving })
    }

    /// Answers requests until it is closed.
    fn answer(listener: Listener, server: &Arc<Server>) -> JoinHandle<()> {
        let options = &server.options;
        let limits = ConnectionLimits::of(&options.guard, Arc::clone(&server.http_metrics));
        let (closing, drain) = (server.closing.clone(), options.drain);
        tokio::spawn(listener.serve(router(server), limits, closing, drain))
    }
}

async fn serve(
    session: &Arc<Session>,
    options: ServeOptions,
    tokens: TokenFile,
) -> Result<(), Error> {
    let drain = options.drain;
    // Before anyone can know of the server: a signal then never kills it.
    let mut signals = StopSignals::new()?;
    let ready = ReadyServer::new(session, options, tokens).await?;
    let ReadyServer { listener, server, close, hints, driving } = ready;
    report::data(&format!("listening on {}\n", listener.url()))?;
    let serving = ReadyServer::answer(listener, &server);
    signals.next().await;
    tracing::info!("the server is stopping");
    close.send_replace(true);
    // A second signal ends the wait.
    let hurried = tokio::spawn(async move {
        signals.next().await;
        std::process::exit(Exit::of(Disposition::Cancelled, None, false).code().into());
    });
    // A panic of the loop has been told.
    drop(serving.await);
    if let Some(scheduler) = driving {
        scheduler.drain(drain).await;
    }
    hints.abort();
    hurried.abort();
    session.store().settle().await;
    Ok(())
}

/// Drives the runs of the queue.
async fn drive(
    session: &Session,
    contexts: &Arc<RunContexts>,
    jobs: usize,
) -> Result<Scheduler, Error> {
    let options = SchedulerOptions {
        jobs,
        worker: Worker {
            labels: vec![format!("host:{}", host_name()).into()],
            ..Worker::default()
        },
        ..SchedulerOptions::default()
    };
    let opened = Scheduler::open(Arc::clone(session.store()), Arc::clone(contexts), options).await;
    let (scheduler, mut finished) = opened.map_err(Error::Store)?;
    // The journal has how each run ended, and the log why one could not be driven.
    drop(tokio::spawn(async move { while finished.recv().await.is_some() {} }));
    Ok(scheduler)
}
