//! Many runs at a time: the driver and the store, beside a bare loop that shares
//! flushes between as many callers and does nothing else.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use anyhow::{Result, anyhow};
use pointsman_runtime::store::SqliteStore;
use rusqlite::{Connection, params};
use tokio::{runtime::Runtime, sync::oneshot, task::JoinSet};

use super::{
    clock::{self, Clock},
    disk::Raw,
};
use crate::bench::median;

const RUNS: usize = 64;
const ROUNDS: usize = 7;
/// Entries that share a flush at most, as in the store.
const TOGETHER: usize = 1_024;
/// Bytes of the entry of a counter's step.
const RECORD: usize = 300;

/// Durable steps per second, medians.
pub(super) struct Grouped {
    pub(super) runs: usize,
    pub(super) ours: f64,
    pub(super) bare: f64,
    /// How much of the bare loop is reached, round by round.
    pub(super) share: f64,
    /// Microseconds of a raw flush beside them.
    pub(super) raw: f64,
}

/// Measures both in turns.
pub(super) fn measure(folder: &Path) -> Result<Grouped> {
    std::fs::create_dir_all(folder)?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = Arc::new(SqliteStore::open_with(&folder.join("journal.db"), &super::options())?);
    let bare = Bare::open(&folder.join("bare.db"))?;
    let mut raw = Raw::open(&folder.join("raw"), RECORD)?;
    let (mut ours, mut bares, mut shares, mut raws) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // The first round warms caches up, and is not counted.
    for round in 0..=ROUNDS {
        let one = threads.block_on(clock::steps(&store, RUNS))?;
        let other = bare.through(&threads)?;
        let flush = raw.look()?;
        if round > 0 {
            ours.push(one);
            bares.push(other);
            shares.push(one / other);
            raws.push(flush);
        }
    }
    let (ours, bare) = (median(&ours), median(&bares));
    Ok(Grouped { runs: RUNS, ours, bare, share: median(&shares), raw: median(&raws) })
}

type Row = (u64, u64, String, oneshot::Sender<()>);

/// The bare loop: one thread that writes what has come and flushes once.
struct Bare {
    rows: mpsc::Sender<Row>,
}

/// The SQL of the bare loop for one run, without contention.
pub(super) struct Single(Connection);

impl Single {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self(database(path)?))
    }

    /// Writes a row, and waits until it is on disk.
    pub(super) fn write(&mut self, seq: u64) -> Result<()> {
        let (done, _written) = oneshot::channel();
        Ok(batched(&mut self.0, &[(1, seq, "x".repeat(RECORD), done)])?)
    }
}

fn database(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    connection.execute_batch(
        "CREATE TABLE run (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL,
         wake INTEGER) STRICT;
         CREATE TABLE entry (run INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL,
         PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;",
    )?;
    Ok(connection)
}

impl Bare {
    fn open(path: &Path) -> Result<Self> {
        let connection = database(path)?;
        let (rows, inbox) = mpsc::channel();
        thread::Builder::new().name("bare".into()).spawn(move || write(connection, &inbox))?;
        Ok(Self { rows })
    }

    /// Has as many callers wait for rows as there are runs.
    fn through(&self, threads: &Runtime) -> Result<f64> {
        static ROUND_NUMBER: AtomicU64 = AtomicU64::new(0);
        let round = ROUND_NUMBER.fetch_add(1, Relaxed);
        threads.block_on(async {
            let clock = Clock::start();
            let mut all = JoinSet::new();
            for caller in 0..RUNS as u64 {
                let (clock, rows) = (Arc::clone(&clock), self.rows.clone());
                let run = round * RUNS as u64 + caller;
                all.spawn(async move {
                    let gone = || anyhow!("the bare loop has gone");
                    let mut seq = 0;
                    while clock.runs() {
                        seq += 1;
                        let (done, written) = oneshot::channel();
                        let row = (run, seq, "x".repeat(RECORD), done);
                        rows.send(row).map_err(|_| gone())?;
                        written.await.map_err(|_| gone())?;
                        clock.count();
                    }
                    Ok(())
                });
            }
            clock.rate(all).await
        })
    }
}

fn write(mut connection: Connection, inbox: &mpsc::Receiver<Row>) {
    while let Ok(first) = inbox.recv() {
        let mut batch = vec![first];
        batch.extend(inbox.try_iter().take(TOGETHER - 1));
        // Callers that are not answered say that the loop has gone.
        if batched(&mut connection, &batch).is_err() {
            return;
        }
        for (.., done) in batch {
            // A caller that has gone does not count.
            let _: Result<(), ()> = done.send(());
        }
    }
}

fn batched(connection: &mut Connection, batch: &[Row]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (run, seq, line, _) in batch {
        let (run, seq) = (i64::try_from(*run).unwrap_or(0), i64::try_from(*seq).unwrap_or(0));
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO run (id, seq, state, wake) VALUES (?1, ?2, 'counting', ?2)",
            )?
            .execute(params![run, seq])?;
        transaction
            .prepare_cached("INSERT INTO entry (run, seq, line) VALUES (?1, ?2, ?3)")?
            .execute(params![run, seq, line])?;
    }
    transaction.commit()
}
