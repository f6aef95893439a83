//! Durable steps of 1, 8 and 64 runs: driver and store with real leases, beside a bare loop that
//! inserts the same rows, and other frameworks.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use pointsman_fleet::PostgresStore;
use tokio::{
    runtime::Runtime,
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tokio_postgres::{Client, Statement, types::ToSql};
use xtask::postgres::Postgres;

use super::database::{self, Updates};
use crate::{
    bench::median,
    components::Python,
    durable::{
        clock::{self, Clock},
        disk::Raw,
        peers::reported,
    },
    place::{self, Scratch},
    process,
};

/// How many runs there are at a time.
const RUNS: [usize; 3] = [1, 8, 64];
const ROUNDS: usize = 3;
/// Steps of all runs of a peer together, in a round.
const STEPS: usize = 1_200;
/// Rows of one statement at most, as in the store.
const TOGETHER: usize = 256;
/// Bytes of the raw record: about an entry.
const RECORD: usize = 512;

/// The other frameworks, and the script's names for them.
pub(super) const PEERS: [(&str, &str); 2] =
    [("langgraph", "LangGraph, PostgresSaver"), ("dbos", "DBOS")];

/// How other frameworks are run.
pub(super) struct Peers<'a> {
    pub(super) python: &'a Python,
    pub(super) server: &'a Postgres,
    pub(super) scratch: &'a Scratch,
}

/// Durable steps per second of so many runs, medians.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) runs: usize,
    pub(super) ours: f64,
    pub(super) bare: f64,
    /// Our part of the bare loop, round by round.
    pub(super) share: f64,
    pub(super) peers: Vec<Peer>,
    /// Microseconds of a raw flush beside them.
    pub(super) raw: f64,
}

/// Another framework.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) per_second: f64,
    /// How many of its steps one of ours takes the time of, round by round.
    pub(super) ratio: f64,
}

/// All of it, and the share of updates that changed no index, in percent.
pub(super) struct StepFigures {
    pub(super) rows: Vec<Steps>,
    pub(super) hot: f64,
}

/// Measures all in turns.
pub(super) fn measure(threads: &Runtime, peers: &Peers<'_>) -> Result<StepFigures> {
    let (ours, store) = threads.block_on(database::store(peers.server, "ours"))?;
    for (which, _) in PEERS {
        threads.block_on(database::make(peers.server, which))?;
    }
    // Caches warm up, and the first lines say how long the others are.
    threads.block_on(clock::steps(&store, 64))?;
    let client = threads.block_on(database::connect(&ours))?;
    let line = threads.block_on(async {
        let sql = "SELECT line FROM pointsman.entry WHERE seq = 5 LIMIT 1";
        anyhow::Ok(client.query_one(sql, &[]).await?.get::<_, String>(0))
    })?;
    let url = threads.block_on(database::make(peers.server, "bare"))?;
    let bare = threads.block_on(Bare::open(&url, line))?;
    let mut raw = Raw::open(&peers.scratch.file("raw"), RECORD)?;
    let mut rows = Vec::new();
    for runs in RUNS {
        eprintln!("measuring {runs} runs");
        rows.push(round_by_round(threads, peers, (&store, &bare), &mut raw, runs)?);
    }
    let updates = threads.block_on(database::updates(&client))?;
    Ok(StepFigures { rows, hot: updates.hot_share(Updates::default()) })
}

fn round_by_round(
    threads: &Runtime,
    peers: &Peers<'_>,
    (store, bare): (&Arc<PostgresStore>, &Bare),
    raw: &mut Raw,
    runs: usize,
) -> Result<Steps> {
    let (mut all_ours, mut bares, mut shares, mut raws) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut theirs = [const { (String::new(), Vec::new(), Vec::new()) }; PEERS.len()];
    for _ in 0..ROUNDS {
        let ours = threads.block_on(clock::steps(store, runs))?;
        let other = threads.block_on(bare.steps(runs))?;
        for ((which, name), (title, rates, ratios)) in PEERS.into_iter().zip(&mut theirs) {
            let (version, rate) = peers.run(which, runs)?;
            *title = format!("{name} {version}");
            rates.push(rate);
            ratios.push(ours / rate);
        }
        all_ours.push(ours);
        bares.push(other);
        shares.push(ours / other);
        raws.push(raw.look()?);
    }
    let peer = |(name, rates, ratios): (String, Vec<f64>, Vec<f64>)| Peer {
        name,
        per_second: median(&rates),
        ratio: median(&ratios),
    };
    Ok(Steps {
        runs,
        ours: median(&all_ours),
        bare: median(&bares),
        share: median(&shares),
        peers: theirs.into_iter().map(peer).collect(),
        raw: median(&raws),
    })
}

impl Peers<'_> {
    /// Runs one of them, and returns its version and its steps per second.
    fn run(&self, which: &str, runs: usize) -> Result<(String, f64)> {
        let mut command = process::command(self.python.program());
        command.arg(place::script("py/fleet_peers.py")).arg(which);
        let url = self.server.url().replacen("postgres:", "postgresql:", 1);
        command.arg(format!("{url}/{which}")).arg(runs.to_string());
        command.arg(STEPS.div_ceil(runs).to_string());
        let report = reported(command, &self.scratch.file("report"), "steps_per_s");
        report.with_context(|| format!("{which} does not run"))
    }
}

type Row = (String, i64, oneshot::Sender<()>);

/// The bare loop: rows of many callers, inserted by one statement; nothing is fenced, chained or
/// checked.
struct Bare {
    rows: mpsc::Sender<Row>,
}

impl Bare {
    async fn open(url: &str, line: String) -> Result<Self> {
        let client = database::connect(url).await?;
        client
            .batch_execute(
                "CREATE TABLE entry (run text COLLATE \"C\" NOT NULL, seq bigint NOT NULL,
                 epoch bigint NOT NULL, line text NOT NULL, link bytea NOT NULL,
                 state text NOT NULL, checksum bytea NOT NULL, PRIMARY KEY (run, seq))",
            )
            .await?;
        let insert = client
            .prepare(
                "INSERT INTO entry (run, seq, epoch, line, link, state, checksum)
                 SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[],
                     $5::bytea[], $6::text[], $7::bytea[])",
            )
            .await?;
        let (rows, inbox) = mpsc::channel(TOGETHER);
        tokio::spawn(insert_all(client, insert, line, inbox));
        Ok(Self { rows })
    }

    /// Has as many callers wait for rows as there are runs.
    async fn steps(&self, runs: usize) -> Result<f64> {
        let clock = Clock::start();
        let mut all = JoinSet::new();
        for _ in 0..runs {
            let (clock, rows) = (Arc::clone(&clock), self.rows.clone());
            let run = pointsman_runtime::clock::new_run_id().to_string();
            all.spawn(async move {
                let ended = || anyhow!("the bare loop has ended");
                let mut seq = 0;
                while clock.runs() {
                    seq += 1;
                    let (done, written) = oneshot::channel();
                    rows.send((run.clone(), seq, done)).await.map_err(|_| ended())?;
                    written.await.map_err(|_| ended())?;
                    clock.count();
                }
                Ok(())
            });
        }
        clock.rate(all).await
    }
}

async fn insert_all(
    client: Client,
    insert: Statement,
    entry: String,
    mut inbox: mpsc::Receiver<Row>,
) {
    let mut rows = Vec::new();
    let (digest, checksum) = ([7_u8; 32], [7_u8; 16]);
    while inbox.recv_many(&mut rows, TOGETHER).await > 0 {
        let count = rows.len();
        let runs: Vec<&str> = rows.iter().map(|(run, ..)| run.as_str()).collect();
        let seqs: Vec<i64> = rows.iter().map(|(_, seq, _)| *seq).collect();
        let (epochs, texts) = (vec![1_i64; count], vec![entry.as_str(); count]);
        let (links, states) = (vec![&digest[..]; count], vec!["counting"; count]);
        let checksums = vec![&checksum[..]; count];
        let columns: [&(dyn ToSql + Sync); 7] =
            [&runs, &seqs, &epochs, &texts, &links, &states, &checksums];
        let inserted = client.execute(&insert, &columns).await;
        // Callers that are not answered report that the loop has ended.
        if inserted.is_err() {
            return;
        }
        for (.., done) in rows.drain(..) {
            // A caller that no longer waits does not count.
            let _: Result<(), ()> = done.send(());
        }
    }
}
