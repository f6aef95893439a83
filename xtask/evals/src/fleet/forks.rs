//! A bulk fork: very many runs that have failed are forked back onto their queue by one command.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use pointsman_fleet::PostgresStore;
use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    control::{BulkAction, BulkReport, ForkQueue, RunControl},
    driver::Driver,
    store::{Filter, QueueOptions, QueueStatus, StatusFilter, Store},
};
use tokio::task::JoinSet;
use xtask::postgres::Postgres;

use super::database;
use crate::durable::counter::{Plan, context};

/// Runs that have failed.
pub(super) const RUNS: usize = 15_000;
/// Runs that are submitted at a time.
const TOGETHER: usize = 64;
const KEY: &str = "throttled";

/// How long each command took.
pub(super) struct Forks {
    /// The first one: it forks and queues all runs.
    pub(super) first: Duration,
    /// The second one: it finds that all are forked.
    pub(super) second: Duration,
}

/// Submits runs, cancels them, and forks them as one command does; then repeats the command.
pub(super) async fn measure(server: &Postgres) -> Result<Forks> {
    let (url, store) = database::store(server, "forks").await?;
    submit(&store).await?;
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let control = RunControl::new(Arc::new(pointsman_agents::all()), shared);
    let all = Filter { key: Some(KEY.into()), ..Filter::default() };
    let cancelled = control.bulk(&all, &BulkAction::Cancel, false).await?;
    complete(&cancelled, cancelled.runs.len())?;
    database::vacuum(&database::connect(&url).await?).await?;
    let status = Some(StatusFilter::EndedAs(Disposition::Cancelled));
    let failed = Filter { status, ..all.clone() };
    let fork = BulkAction::Fork { queue: Some(ForkQueue::default()) };
    let since = Instant::now();
    let forked = control.bulk(&failed, &fork, false).await?;
    let first = since.elapsed();
    complete(&forked, forked.forks.len())?;
    let since = Instant::now();
    let skipped = control.bulk(&failed, &fork, false).await?;
    let second = since.elapsed();
    complete(&skipped, skipped.skipped.len())?;
    let ready = Filter { queue: Some(QueueStatus::Ready), ..all };
    let ready = control.bulk(&ready, &BulkAction::Cancel, true).await?;
    complete(&ready, ready.runs.len())?;
    Ok(Forks { first, second })
}

/// Checks that an action applied to every run.
fn complete(report: &BulkReport, count: usize) -> Result<()> {
    if let Some((run, why)) = report.failed.first() {
        bail!("{} runs failed; run {run}: {why}", report.failed.len());
    }
    ensure!(count == RUNS, "{count} of {RUNS} runs");
    Ok(())
}

/// Queues the runs, under one key.
async fn submit(store: &Arc<PostgresStore>) -> Result<()> {
    let plan = Arc::new(Plan::read()?);
    let mut all = JoinSet::new();
    for share in 0..TOGETHER {
        let (plan, store) = (Arc::clone(&plan), Arc::clone(store));
        all.spawn(async move {
            for _ in (share..RUNS).step_by(TOGETHER) {
                let queue = QueueOptions { key: KEY.into(), ..QueueOptions::default() };
                Driver::submit(context(&store), plan.prepared(), None, queue).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(submitted) = all.join_next().await {
        submitted.context("submitting broke off")??;
    }
    Ok(())
}
