//! Claims from the queue: runs that are ready are claimed and parked again. Also beside a session that
//! idles in a transaction, so that nothing can be vacuumed.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::{Release, Store, Worker};
use tokio::task::JoinSet;
use tokio_postgres::Client;
use xtask::postgres::Postgres;

use super::database;
use crate::{
    bench::median,
    durable::{clock::Clock, peers::reported},
    place::{self, Scratch},
    process,
};

/// Workers that claim, each over its own connections, and the runs of one claim at most.
const WORKERS: usize = 4;
const TOGETHER: usize = 16;
/// Runs that are ready when a round begins: more than it claims.
const READY: usize = 40_000;
const KEYS: usize = 10;
/// After a claim that found every key locked.
const AGAIN: Duration = Duration::from_millis(1);
const ROUNDS: usize = 5;
/// Jobs of the other queue in a round.
const THEIR_JOBS: &str = "2000";
/// Rounds at the end of the idle transaction that count.
const LAST: usize = 5;

/// A queue with ready runs, and its workers.
pub(super) struct Queue {
    client: Client,
    stores: Vec<Arc<PostgresStore>>,
}

impl Queue {
    /// Adds ready runs of several keys to a database.
    pub(super) async fn open(url: &str) -> Result<Self> {
        let client = database::connect(url).await?;
        for key in 0..KEYS {
            database::fill(&client, &format!("ready{key}"), "ready", READY / KEYS).await?;
        }
        let mut stores = Vec::new();
        for _ in 0..WORKERS {
            let store = PostgresStore::open(url, PostgresOptions::default()).await?;
            stores.push(Arc::new(store));
        }
        Ok(Self { client, stores })
    }

    /// Claims and parks for a round, and returns claims per second.
    pub(super) async fn claims(&self) -> Result<f64> {
        let again = "UPDATE pointsman.run SET status = 'ready'
                     WHERE status = 'waiting' AND id >= 'ready' AND id < 'readz'";
        self.client.execute(again, &[]).await?;
        let clock = Clock::start();
        let mut all = JoinSet::new();
        for store in &self.stores {
            let (clock, store) = (Arc::clone(&clock), Arc::clone(store));
            all.spawn(async move {
                while clock.runs() {
                    claim_and_park(&clock, &store).await?;
                }
                Ok(())
            });
        }
        clock.rate(all).await
    }

    /// Removes dead rows.
    pub(super) async fn vacuum(&self) -> Result<()> {
        database::vacuum(&self.client).await
    }
}

async fn claim_and_park(clock: &Clock, store: &Arc<PostgresStore>) -> Result<()> {
    let leases = store.claim_ready(TOGETHER, &Worker::default()).await?;
    if leases.is_empty() {
        tokio::time::sleep(AGAIN).await;
    }
    let mut all = JoinSet::new();
    for lease in leases {
        let store = Arc::clone(store);
        all.spawn(async move { store.release(lease, Release::Parked { read: None }).await });
    }
    while let Some(parked) = all.join_next().await {
        parked.context("a release broke off")??;
        clock.count();
    }
    Ok(())
}

/// Claims per second beside another queue, medians.
pub(super) struct ClaimFigures {
    pub(super) ours: f64,
    pub(super) peer: String,
    pub(super) theirs: f64,
    /// Round by round.
    pub(super) ratio: f64,
}

/// Measures claims here and in another queue in turns.
pub(super) async fn beside_peer(
    server: &Postgres,
    npm: &Path,
    scratch: &Scratch,
) -> Result<ClaimFigures> {
    let (url, _store) = database::store(server, "claims").await?;
    let queue = Queue::open(&url).await?;
    let theirs = database::make(server, "peer_queue").await?;
    let (mut all_ours, mut rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut peer = String::new();
    for _ in 0..ROUNDS {
        queue.vacuum().await?;
        let ours = queue.claims().await?;
        let mut node = process::command("node");
        node.arg(place::script("js/queue.mjs")).arg(npm).arg(&theirs);
        node.args([THEIR_JOBS, &TOGETHER.to_string()]);
        let (version, rate) = reported(node, &scratch.file("queue"), "claims_per_s")?;
        peer = format!("graphile-worker {version}");
        all_ours.push(ours);
        rates.push(rate);
        ratios.push(ours / rate);
    }
    Ok(ClaimFigures {
        ours: median(&all_ours),
        peer,
        theirs: median(&rates),
        ratio: median(&ratios),
    })
}

/// Claims per second, medians: without and at the end of a transaction that idled so long.
pub(super) struct IdleFigures {
    pub(super) alone: f64,
    pub(super) beside: f64,
    pub(super) idle: Duration,
}

/// Measures claims, first alone and then beside a session that idles in a transaction.
pub(super) async fn beside_idle(server: &Postgres, idle: Duration) -> Result<IdleFigures> {
    let (url, _store) = database::store(server, "idle").await?;
    let queue = Queue::open(&url).await?;
    let mut alone = Vec::new();
    for _ in 0..ROUNDS {
        queue.vacuum().await?;
        alone.push(queue.claims().await?);
    }
    queue.vacuum().await?;
    let session = database::connect(&url).await?;
    session.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()").await?;
    let (since, mut beside) = (Instant::now(), Vec::new());
    while since.elapsed() < idle {
        beside.push(queue.claims().await?);
    }
    session.batch_execute("COMMIT").await?;
    let last = beside.len().checked_sub(LAST).and_then(|first| beside.get(first..));
    ensure!(last.is_some(), "the transaction idles too briefly: give a longer `--idle`");
    Ok(IdleFigures { alone: median(&alone), beside: median(last.unwrap_or_default()), idle })
}
