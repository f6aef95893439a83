//! Throughput and memory of workers, as processes: from 1 to 8 of them, and with few or very many runs
//! that wait.

use std::{
    io,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::{
    driver::Driver,
    scheduler::{Scheduler, SchedulerOptions},
    store::{QueueOptions, Store},
};
use tokio_postgres::Client;
use xtask::postgres::Postgres;

use super::{claims::Queue, database};
use crate::{
    bench::median,
    durable::{
        counter::{Plan, context},
        waiting::resident,
    },
};

/// Runs that a worker drives at a time.
const JOBS: usize = 64;
/// How many workers there are.
pub(super) const WORKERS: [usize; 2] = [1, 8];
/// How many runs wait, at the least.
pub(super) const FEW: usize = 1_000;
const ROUNDS: usize = 3;
const MEASURED: Duration = Duration::from_secs(3);
const STARTS: Duration = Duration::from_mins(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The key of the runs that are driven.
const KEY: &str = "driven";

/// How a worker is started.
#[derive(clap::Args, Debug)]
pub(crate) struct WorkerOptions {
    /// The store.
    #[arg(long)]
    store: String,
}

/// Drives counters until the standard input closes.
pub(crate) fn work(options: &WorkerOptions) -> Result<bool> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    threads.block_on(async {
        let store = PostgresStore::open(&options.store, PostgresOptions::default()).await?;
        let store = Arc::new(store);
        let scheduling = SchedulerOptions { jobs: JOBS, ..SchedulerOptions::default() };
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let (scheduler, _finished) = Scheduler::open(shared, context(&store), scheduling).await?;
        let closed = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
        closed.await.context("waiting for the end")?.context("waiting for the end")?;
        drop(scheduler);
        store.settle().await;
        Ok(true)
    })
}

/// Throughput and memory of one set-up, medians.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Durable steps per second of all workers together.
    pub(super) steps: f64,
    /// The memory of the largest worker, in bytes.
    pub(super) memory: f64,
    /// The share of updates of runs that changed no index, in percent.
    pub(super) hot: f64,
    /// Claims per second, where they were measured.
    pub(super) claims: Option<f64>,
}

/// Measures one worker and eight in turns.
pub(super) async fn workers(server: &Postgres) -> Result<[Load; 2]> {
    let fleets = [
        Fleet::open(server, "one_worker", WORKERS[0]).await?,
        Fleet::open(server, "more_workers", WORKERS[1]).await?,
    ];
    in_turns(&fleets).await
}

/// Measures one worker while few and while many runs wait, in turns.
pub(super) async fn waiting(server: &Postgres, many: usize) -> Result<[Load; 2]> {
    let mut fleets = Vec::new();
    for (name, waiting) in [("few_wait", FEW), ("many_wait", many)] {
        eprintln!("  filling {waiting} runs that wait");
        let mut fleet = Fleet::open(server, name, 1).await?;
        database::fill(&fleet.client, "waiting", "waiting", waiting).await?;
        fleet.queue = Some(Queue::open(&fleet.url).await?);
        fleets.push(fleet);
    }
    let fleets: [Fleet; 2] = fleets.try_into().ok().context("there are two")?;
    in_turns(&fleets).await
}

async fn in_turns(fleets: &[Fleet; 2]) -> Result<[Load; 2]> {
    let mut rounds = [const { Vec::new() }; 2];
    // The first round warms caches up, and is not counted.
    for round in 0..=ROUNDS {
        for (fleet, loads) in fleets.iter().zip(&mut rounds) {
            let load = fleet.measure().await?;
            if round > 0 {
                loads.push(load);
            }
        }
    }
    Ok(rounds.map(|loads| {
        let of = |figure: fn(&Load) -> Option<f64>| {
            let figures: Vec<f64> = loads.iter().filter_map(figure).collect();
            (!figures.is_empty()).then(|| median(&figures))
        };
        Load {
            steps: of(|load| Some(load.steps)).unwrap_or(f64::NAN),
            memory: of(|load| Some(load.memory)).unwrap_or(f64::NAN),
            hot: of(|load| Some(load.hot)).unwrap_or(f64::NAN),
            claims: of(|load| load.claims),
        }
    }))
}

/// A database with its workers.
struct Fleet {
    url: String,
    client: Client,
    store: Arc<PostgresStore>,
    workers: usize,
    queue: Option<Queue>,
}

impl Fleet {
    async fn open(server: &Postgres, name: &str, workers: usize) -> Result<Self> {
        let (url, store) = database::store(server, name).await?;
        let client = database::connect(&url).await?;
        Ok(Self { url, client, store, workers, queue: None })
    }

    async fn measure(&self) -> Result<Load> {
        let claims = match &self.queue {
            Some(queue) => {
                queue.vacuum().await?;
                let claims = queue.claims().await?;
                // Workers are to claim the runs that they can drive.
                let park = "UPDATE pointsman.run SET status = 'waiting' WHERE status = 'ready'";
                self.client.batch_execute(park).await?;
                Some(claims)
            }
            None => None,
        };
        self.submit().await?;
        let workers = (0..self.workers).map(|_| Process::start(&self.url));
        let workers = workers.collect::<Result<Vec<_>>>()?;
        self.started().await?;
        // Claims change an index; their updates are counted by then.
        let updates = database::updates(&self.client).await?;
        let (since, before) = (Instant::now(), self.entries().await?);
        tokio::time::sleep(MEASURED).await;
        let (after, took) = (self.entries().await?, since.elapsed());
        let hot = database::updates(&self.client).await?.hot_share(updates);
        let mut memory = 0;
        for worker in &workers {
            memory = memory.max(resident(&worker.0.id().to_string())?);
        }
        for worker in workers {
            worker.end()?;
        }
        let clear = format!(
            "DELETE FROM pointsman.run WHERE key = '{KEY}';
             TRUNCATE pointsman.entry, pointsman.snapshot, pointsman.prompt, pointsman.part"
        );
        self.client.batch_execute(&clear).await?;
        #[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
        let (entries, memory) = ((after - before) as f64, memory as f64);
        Ok(Load { steps: entries / took.as_secs_f64(), memory, hot, claims })
    }

    /// Queues as many counters as the workers can drive at a time.
    async fn submit(&self) -> Result<()> {
        let plan = Plan::read()?;
        for _ in 0..self.workers * JOBS {
            let queue = QueueOptions { key: KEY.into(), ..QueueOptions::default() };
            Driver::submit(context(&self.store), plan.prepared(), None, queue).await?;
        }
        Ok(())
    }

    /// Waits until all counters are driven.
    async fn started(&self) -> Result<()> {
        let since = Instant::now();
        let sql =
            "SELECT count(*) FROM pointsman.run WHERE key = $1 AND status = 'leased' AND seq > 3";
        let wanted = i64::try_from(self.workers * JOBS)?;
        while self.client.query_one(sql, &[&KEY]).await?.get::<_, i64>(0) < wanted {
            ensure!(since.elapsed() < STARTS, "{wanted} runs do not start");
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        Ok(())
    }

    /// Returns the number of entries of the counters.
    async fn entries(&self) -> Result<i64> {
        let sql = "SELECT sum(seq)::bigint FROM pointsman.run WHERE key = $1 AND status = 'leased'";
        Ok(self.client.query_one(sql, &[&KEY]).await?.get(0))
    }
}

/// A worker's process. It ends with its input.
struct Process(Child);

impl Process {
    fn start(url: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench-fleet-worker", "--store", url]).stdin(Stdio::piped());
        Ok(Self(command.spawn().context("starting a worker")?))
    }

    fn end(mut self) -> Result<()> {
        drop(self.0.stdin.take());
        ensure!(self.0.wait()?.success(), "a worker failed; its output is above");
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}
