//! Fairness: how long runs of small keys wait for a worker, in an idle fleet and behind a key with very
//! many runs. The real scheduler claims; a run only takes its time, and then leaves the queue.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use async_trait::async_trait;
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::{
    driver::DriverContext,
    scheduler::{DriverContexts, Scheduler, SchedulerError, SchedulerOptions},
    store::RunId,
};
use tokio_postgres::Client;
use xtask::postgres::Postgres;

use super::database;
use crate::bench::median;

/// Small keys, and the runs of each.
const KEYS: usize = 9;
const RUNS: usize = 10;
/// Runs of the big key.
const BIG: usize = 100_000;
/// Runs that are driven at a time, and how long each takes.
const JOBS: usize = 16;
const TAKES: Duration = Duration::from_millis(100);
/// Between two runs that become ready. It is no divisor of the time between two polls of the queue.
const BETWEEN: Duration = Duration::from_millis(170);
/// For the last runs.
const SETTLES: Duration = Duration::from_mins(2);
/// How long a run is kept out of the queue after it was driven: until the benchmark has ended.
const KEPT_OUT: Duration = Duration::from_hours(10);

/// Between two polls of the queue: as shipped, and so short that an idle fleet hardly waits for them.
const POLLS: [(&str, Duration); 2] =
    [("fairness", Duration::from_millis(500)), ("fairness_polls", Duration::from_millis(20))];

/// The median wait of small keys' runs, in milliseconds.
pub(super) struct Fairness {
    /// Between two polls of the queue.
    pub(super) poll: Duration,
    pub(super) idle: f64,
    pub(super) busy: f64,
    /// Runs of the big key that were driven meanwhile.
    pub(super) big: usize,
}

/// Measures with long and with short times between two polls.
pub(super) async fn all(server: &Postgres) -> Result<Vec<Fairness>> {
    let mut all = Vec::new();
    for (name, poll) in POLLS {
        all.push(measure(server, name, poll).await?);
    }
    Ok(all)
}

/// Measures an idle fleet, and then one with a big key.
async fn measure(server: &Postgres, name: &str, poll: Duration) -> Result<Fairness> {
    let (url, sender) = database::store(server, name).await?;
    let client = database::connect(&url).await?;
    for phase in ["idle", "busy"] {
        for key in 0..KEYS {
            database::fill(&client, &small(phase, key), "waiting", RUNS).await?;
        }
    }
    let worker = Arc::new(PostgresStore::open(&url, PostgresOptions::default()).await?);
    let contexts = Arc::new(Served::default());
    let options =
        SchedulerOptions { jobs: JOBS, retry: KEPT_OUT, poll, ..SchedulerOptions::default() };
    let (scheduler, _finished) = Scheduler::open(worker, Arc::clone(&contexts), options).await?;
    let idle = waits(&client, &contexts, "idle").await?;
    database::fill(&client, "big", "ready", BIG).await?;
    let busy = waits(&client, &contexts, "busy").await?;
    drop(scheduler);
    drop(sender);
    let big = contexts.claims().keys().filter(|run| run.as_str().starts_with("big-")).count();
    Ok(Fairness { poll, idle: median(&idle), busy: median(&busy), big })
}

fn small(phase: &str, key: usize) -> String {
    format!("{phase}{key}")
}

/// Makes runs of the small keys ready one by one, and returns how long each waited, in milliseconds.
async fn waits(client: &Client, served: &Served, phase: &str) -> Result<Vec<f64>> {
    let mut ready = Vec::new();
    for run in 1..=RUNS {
        for key in 0..KEYS {
            let run: RunId = format!("{}-{run}", small(phase, key)).parse()?;
            let now = "UPDATE pointsman.run SET status = 'ready', rank = pointsman.now_ms() WHERE id = $1";
            client.execute(now, &[&run.as_str()]).await?;
            ready.push((run, Instant::now()));
            tokio::time::sleep(BETWEEN).await;
        }
    }
    let since = Instant::now();
    loop {
        let claims = served.claims().clone();
        let wait = |(run, ready): &(RunId, Instant)| {
            let claimed = claims.get(run)?;
            Some(claimed.saturating_duration_since(*ready).as_secs_f64() * 1e3)
        };
        let waits: Vec<f64> = ready.iter().filter_map(wait).collect();
        if waits.len() == ready.len() {
            return Ok(waits);
        }
        ensure!(since.elapsed() < SETTLES, "only {} of {} runs start", waits.len(), ready.len());
        tokio::time::sleep(TAKES).await;
    }
}

/// When each run was claimed.
#[derive(Default)]
struct Served(Mutex<HashMap<RunId, Instant>>);

impl Served {
    fn claims(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DriverContexts for Served {
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError> {
        self.claims().insert(run.clone(), Instant::now());
        tokio::time::sleep(TAKES).await;
        Err(SchedulerError::Context { run: run.clone(), why: "it has no journal".into() })
    }
}
