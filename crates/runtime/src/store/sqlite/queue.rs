//! The queue of a journal: which runs wait for an owner, and from when on they are ready.
//!
//! A row is written with the run's first entry and removed with its last. While the run has an
//! owner, the row says what holds if that owner is lost: the run is ready from its owner's first
//! entry on. Claiming writes nothing; only the lock shows whether a run has an owner.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    super::{
        QueueCounts, QueueOptions, QueuePlace, QueueStatus, RunRow,
        queue::{QueuedRun, RunningCounts, in_turn},
    },
    Lease, MessageId, RunId, SqliteClaim, SqliteReader, SqliteStore, StoreDamage, StoreError,
    Worker, WriteRequest,
    checksum::{Checksum, ChecksumBuilder, signed, unsigned},
    lock,
    term::Term,
};
use crate::clock::{Stopwatch, now_ms};

/// How a run is parked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parking {
    /// Until its wake-up time, or a message that its owner has not read.
    Rests { read: Option<MessageId> },
    /// Until a time, in milliseconds since 1970, or a message that came after its owner claimed it.
    Until { at_ms: u64, heard: MessageId },
}

/// Ready whatever the time.
const AT_ONCE: Option<i64> = Some(0);
/// Later times count as this one, so that a sum of two times does not overflow.
const LATEST: i64 = i64::MAX / 2;

/// From how many ready runs on a process keeps those that a claim has left: it reads all of them to
/// put them in order, which takes longer than claiming a few.
const MANY: usize = 1_000;
/// For how long it keeps them: so many times as long as it took to read them, and this long at most.
/// Meanwhile a run that becomes ready waits behind them.
const RARELY: u32 = 10;
const OLDEST: Duration = Duration::from_secs(1);

/// Runs that were ready when a claim read them, in the order in which they are claimed.
#[derive(Debug)]
struct ReadyBacklog {
    runs: VecDeque<RunId>,
    /// The labels of the worker that they are for.
    labels: Vec<Box<str>>,
    age: Stopwatch,
    lasts: Duration,
}

/// The ready runs that the last claim has left, if they are many.
#[derive(Debug, Default)]
pub(super) struct Backlog(Mutex<Option<ReadyBacklog>>);

impl Backlog {
    fn keep(&self, backlog: ReadyBacklog) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(backlog);
    }

    /// Takes the runs for a worker, unless they were read too long ago.
    fn take(&self, worker: &Worker) -> Option<ReadyBacklog> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (kept.labels == worker.labels && kept.age.elapsed() < kept.lasts).then_some(kept)
    }
}

impl SqliteStore {
    pub(super) async fn claim_queued(
        &self,
        most: usize,
        worker: &Worker,
    ) -> Result<Vec<Lease>, StoreError> {
        let now = self.queue_ms();
        // Workers with limits count and claim one after the other.
        let limited = !worker.limits.is_empty();
        let counting = if limited { self.lock_claims()? } else { None };
        if limited && counting.is_none() {
            return Ok(Vec::new());
        }
        let mut leases = Vec::new();
        if !limited && let Some(mut backlog) = self.backlog.take(worker) {
            leases = self.claim_first(&mut backlog.runs, most, now).await?;
            if leases.len() == most {
                self.backlog.keep(backlog);
                return Ok(leases);
            }
        }
        let reading = Stopwatch::start();
        let mut ready = self.read(move |reader| reader.ready(now)).await?;
        let mut running = RunningCounts::default();
        if limited {
            let owned = self.read(SqliteReader::owned).await?;
            for run in &owned {
                running.add(&run.agent, &run.key);
            }
            ready.retain(|run| owned.iter().all(|it| it.run != run.run));
        }
        let mut ready: VecDeque<RunId> = in_turn(ready, running, worker).into();
        let lasts = reading.elapsed().saturating_mul(RARELY).min(OLDEST);
        let missing = most.saturating_sub(leases.len());
        leases.extend(self.claim_first(&mut ready, missing, now).await?);
        if !limited && ready.len() >= MANY {
            let (runs, labels) = (ready, worker.labels.clone());
            self.backlog.keep(ReadyBacklog { runs, labels, age: Stopwatch::start(), lasts });
        }
        Ok(leases)
    }

    /// Claims the first of these runs that are still ready, and takes all before them out.
    async fn claim_first(
        &self,
        ready: &mut VecDeque<RunId>,
        most: usize,
        now: u64,
    ) -> Result<Vec<Lease>, StoreError> {
        let mut leases: Vec<Lease> = Vec::new();
        while leases.len() < most && !ready.is_empty() {
            let mut claimed = Vec::new();
            while leases.len() + claimed.len() < most
                && let Some(run) = ready.pop_front()
            {
                match super::Store::claim(self, &run).await {
                    Ok(lease) => claimed.extend(lease),
                    // It was removed a moment ago; resuming it by name reports that.
                    Err(StoreError::NoSuchRun { .. } | StoreError::Damaged { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            // It may have been driven and parked since it was found.
            let runs: Vec<RunId> = claimed.iter().map(|lease| lease.run().clone()).collect();
            let still = self.read(move |reader| reader.still_ready(&runs, now)).await?;
            claimed.retain(|lease| still.contains(lease.run()));
            leases.append(&mut claimed);
        }
        Ok(leases)
    }

    /// Returns the time by which runs are woken.
    fn queue_ms(&self) -> u64 {
        let ahead = self.options.ahead_ms.load(std::sync::atomic::Ordering::Acquire);
        now_ms().saturating_add(ahead)
    }

    /// Keeps a run out of the queue for a while.
    pub(super) async fn defer(&self, lease: &Lease, wait: Duration) -> Result<(), StoreError> {
        let Some(claimed) = lease.guard::<SqliteClaim>() else { return Ok(()) };
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let (at_ms, heard) = (self.queue_ms().saturating_add(wait), claimed.heard);
        self.park(lease, Parking::Until { at_ms, heard }).await
    }

    /// Parks a run, unless it is not in the queue or its lease is over.
    pub(super) async fn park(&self, lease: &Lease, parking: Parking) -> Result<(), StoreError> {
        let Some(claimed) = lease.guard::<SqliteClaim>() else { return Ok(()) };
        let (run, term) = (lease.run().clone(), claimed.active_term.term());
        let asked = run.clone();
        if self.read(move |reader| reader.is_queued(&asked)).await? {
            self.ask(WriteRequest::Park { run, term, parking }).await?;
        }
        Ok(())
    }
}

impl SqliteReader {
    /// Returns the queued runs with an owner.
    fn owned(&self) -> Result<Vec<QueuedRun>, StoreError> {
        let mut queued = self.read(|connection| rows(connection, None, false, |_| Ok(())))?;
        queued.retain(|it| lock::owner(self.path(), &it.run).is_some());
        Ok(queued)
    }

    /// Returns the runs that are ready, with or without an owner.
    fn ready(&self, now_ms: u64) -> Result<Vec<QueuedRun>, StoreError> {
        self.read(|connection| rows(connection, Some(now_ms), self.is_ordered(), |_| Ok(())))
    }

    /// Returns which of these runs are ready.
    fn still_ready(&self, runs: &[RunId], now_ms: u64) -> Result<Vec<RunId>, StoreError> {
        self.read(|connection| {
            let mut query = connection
                .prepare_cached("SELECT 1 FROM queue WHERE run = ?1 AND at_ms <= ?2")
                .map_err(|source| StoreError::reading(None, source))?;
            let mut still = Vec::new();
            for run in runs {
                let ready = query.exists(params![run.as_str(), signed(now_ms)]);
                if ready.map_err(|source| StoreError::reading(Some(run), source))? {
                    still.push(run.clone());
                }
            }
            Ok(still)
        })
    }

    fn is_queued(&self, run: &RunId) -> Result<bool, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT 1 FROM queue WHERE run = ?1")
                .and_then(|mut query| query.exists(params![run.as_str()]))
                .map_err(|source| StoreError::reading(Some(run), source))
        })
    }
}

impl SqliteReader {
    /// Adds to a run's row its owner and its status in the queue. An ended run has left both.
    pub(super) fn place_in_queue(
        &self,
        connection: &Connection,
        row: &mut RunRow,
    ) -> Result<(), StoreError> {
        if row.ended.is_some() || self.is_frozen() {
            return Ok(());
        }
        row.owner = lock::owner(self.path(), &row.id);
        let found = connection
            .prepare_cached("SELECT key, needs, at_ms FROM queue WHERE run = ?1")
            .and_then(|mut query| {
                query
                    .query_row(params![row.id.as_str()], |cells| {
                        let (key, needs): (String, Option<String>) = (cells.get(0)?, cells.get(1)?);
                        Ok((key, needs, cells.get::<_, Option<i64>>(2)?))
                    })
                    .optional()
            })
            .map_err(|source| StoreError::reading(Some(&row.id), source))?;
        row.queue = found.map(|(key, needs, at_ms)| {
            let due = at_ms.is_some_and(|at| at <= signed(now_ms()));
            let status = match (&row.owner, due) {
                (Some(_), _) => QueueStatus::Leased,
                (None, true) => QueueStatus::Ready,
                (None, false) => QueueStatus::Waiting,
            };
            let (key, needs) = (key.into(), needs.map(Into::into));
            QueuePlace { key, needs, status: Some(status), fault: None }
        });
        Ok(())
    }
}

impl SqliteReader {
    /// Counts the queued runs by their status.
    pub(super) fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        let mut counts = QueueCounts::default();
        // Runs cannot be claimed in a read-only file, and the previous format has no queue.
        if self.is_frozen() {
            return Ok(counts);
        }
        let (owned, now) = (lock::owned(self.path()), now_ms());
        self.read(|connection| {
            let fail = |source| StoreError::reading(None, source);
            let mut queued =
                connection.prepare_cached("SELECT 1 FROM queue WHERE run = ?1").map_err(fail)?;
            for run in &owned {
                if queued.exists(params![run.as_str()]).map_err(fail)? {
                    counts.leased = counts.leased.saturating_add(1);
                }
            }
            let mut due = connection.prepare_cached(DUE).map_err(fail)?;
            let mut found = due.query(params![signed(now)]).map_err(fail)?;
            while let Some(cells) = found.next().map_err(fail)? {
                let run = cells.get(0).map(RunId::from_row).map_err(fail)?;
                let since: i64 = cells.get(1).map_err(fail)?;
                if !owned.contains(&run) {
                    counts.add_ready(unsigned(since), now);
                }
            }
            Ok(())
        })?;
        Ok(counts)
    }
}

/// The runs whose time has come, and since when they are ready.
const DUE: &str = "SELECT queue.run, max(rank, queue.at_ms, ifnull(sent, 0)) FROM queue
    LEFT JOIN (SELECT run, max(at_ms) AS sent FROM letter GROUP BY run) AS mail
        ON mail.run = queue.run
    WHERE queue.at_ms <= ?1";

/// The rows whose time has come, by the index: runs that wait cost nothing.
const INDEXED: &str = "INDEXED BY ready LEFT JOIN run ON id = queue.run WHERE at_ms <= ?1";
/// The same, or all rows, by reading them. It is put so that SQLite does not use the index: no run
/// without a time is in it.
const SCANNED: &str = "LEFT JOIN run ON id = queue.run WHERE ?1 IS NULL OR at_ms <= ?1";

/// Returns the query of some rows.
fn select(which: &str) -> String {
    format!("SELECT queue.run, key, rank, needs, seal, at_ms, at_seal, agent FROM queue {which}")
}

/// Reads the rows whose time has come, or all. A row with a wrong checksum is reported.
pub(super) fn rows(
    connection: &Connection,
    now_ms: Option<u64>,
    indexed: bool,
    mut damaged: impl FnMut(StoreError) -> Result<(), StoreError>,
) -> Result<Vec<QueuedRun>, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let which = if indexed { INDEXED } else { SCANNED };
    let mut query = connection.prepare_cached(&select(which)).map_err(fail)?;
    let mut found = query.query(params![now_ms.map(signed)]).map_err(fail)?;
    let mut waiting = Vec::new();
    while let Some(cells) = found.next().map_err(fail)? {
        let read = || -> rusqlite::Result<_> {
            let run = RunId::from_row(cells.get(0)?);
            let (key, needs): (String, Option<String>) = (cells.get(1)?, cells.get(3)?);
            let rank = cells.get(2)?;
            let intact = fixed(&run, &key, rank, needs.as_deref()) == Checksum(cells.get(4)?)
                && at(&run, cells.get(5)?) == Checksum(cells.get(6)?);
            let (key, needs) = (key.into(), needs.map(Into::into));
            let agent = cells.get::<_, Option<String>>(7)?.unwrap_or_default().into();
            Ok((QueuedRun { run, agent, key, rank, needs }, intact))
        };
        let (row, intact) = read().map_err(fail)?;
        if intact {
            waiting.push(row);
        } else {
            damaged(StoreError::damaged(Some(row.run), None, StoreDamage::Queue))?;
        }
    }
    Ok(waiting)
}

/// Sees to it that the index has every row of the queue, and returns whether it does: a run that it
/// lacked would never be offered.
pub(super) fn settle(connection: &Connection) -> bool {
    let fits = || {
        let told = connection.query_row("PRAGMA integrity_check(queue)", [], |cells| cells.get(0));
        told.is_ok_and(|told: String| told == "ok")
    };
    fits() || connection.execute_batch("REINDEX ready").is_ok() && fits()
}

/// Puts a new run into the queue.
pub(super) fn enter(
    connection: &Connection,
    run: &RunId,
    queue: &QueueOptions,
    queued_ms: u64,
) -> rusqlite::Result<()> {
    let (key, rank, needs) = (&*queue.key, queue.rank(queued_ms), queue.needs.as_deref());
    let at_ms = Some(signed(queue.not_before_ms));
    connection
        .prepare_cached(
            "INSERT INTO queue (run, key, rank, needs, seal, at_ms, at_seal)
             VALUES (?1,?2,?3,?4,?5,?6,?7)",
        )?
        .execute(params![
            run.as_str(),
            key,
            rank,
            needs,
            fixed(run, key, rank, needs).0,
            at_ms,
            at(run, at_ms).0,
        ])
        .map(drop)
}

/// Puts runs into the queue that have not ended, whatever they waited for, and returns those.
pub(super) fn put(
    connection: &Connection,
    runs: &[(RunId, QueueOptions)],
    now_ms: u64,
) -> rusqlite::Result<Vec<RunId>> {
    let mut queued = Vec::with_capacity(runs.len());
    for (run, queue) in runs {
        let open = connection
            .prepare_cached("SELECT 1 FROM run WHERE id = ?1 AND ended IS NULL")?
            .exists(params![run.as_str()])?;
        if open {
            connection
                .prepare_cached("DELETE FROM queue WHERE run = ?1")?
                .execute(params![run.as_str()])?;
            enter(connection, run, queue, now_ms)?;
            queued.push(run.clone());
        }
    }
    Ok(queued)
}

/// Makes a run ready, if it is in the queue.
pub(super) fn wake(connection: &Connection, run: &RunId) -> rusqlite::Result<()> {
    set(connection, run, AT_ONCE)
}

/// Parks a run, unless its owner was lost.
pub(super) fn park(
    connection: &Connection,
    run: &RunId,
    term: &Term,
    parking: Parking,
) -> rusqlite::Result<()> {
    if term.is_over(connection, run)? {
        return Ok(());
    }
    let read = match parking {
        Parking::Rests { read } => read,
        Parking::Until { heard, .. } => Some(heard),
    };
    let unread = connection
        .prepare_cached("SELECT 1 FROM letter WHERE run = ?1 AND id > ?2")?
        .exists(params![run.as_str(), read.map_or(0, MessageId::number)])?;
    if unread {
        return set(connection, run, AT_ONCE);
    }
    if let Parking::Until { at_ms, .. } = parking {
        return set(connection, run, Some(signed(at_ms)));
    }
    let wake: Option<i64> = connection
        .prepare_cached("SELECT min(created_ms, ?2) + min(wake, ?2) FROM run WHERE id = ?1")?
        .query_row(params![run.as_str(), LATEST], |cells| cells.get(0))
        .optional()?
        .flatten();
    set(connection, run, wake)
}

fn set(connection: &Connection, run: &RunId, at_ms: Option<i64>) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE queue SET at_ms = ?2, at_seal = ?3 WHERE run = ?1")?
        .execute(params![run.as_str(), at_ms, at(run, at_ms).0])
        .map(drop)
}

/// Returns the run that a request has made.
pub(super) fn made_by(connection: &Connection, request: &str) -> Result<Option<RunId>, StoreError> {
    let found = connection
        .prepare_cached("SELECT run, seal FROM request WHERE name = ?1")
        .and_then(|mut query| {
            query
                .query_row(params![request], |cells| {
                    Ok((RunId::from_row(cells.get(0)?), Checksum(cells.get(1)?)))
                })
                .optional()
        })
        .map_err(|source| StoreError::reading(None, source))?;
    match found {
        Some((run, checksum)) if requested(request, &run) != checksum => {
            Err(StoreError::damaged(Some(run), None, StoreDamage::Queue))
        }
        found => Ok(found.map(|(run, _)| run)),
    }
}

/// Notes the run that a request has made.
pub(super) fn note(connection: &Connection, request: &str, run: &RunId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO request (name, run, seal) VALUES (?1,?2,?3)")?
        .execute(params![request, run.as_str(), requested(request, run).0])
        .map(drop)
}

fn fixed(run: &RunId, key: &str, rank: i64, needs: Option<&str>) -> Checksum {
    ChecksumBuilder::of("queue")
        .text(run.as_str())
        .text(key)
        .number(rank)
        .maybe_text(needs)
        .checksum()
}

fn at(run: &RunId, at_ms: Option<i64>) -> Checksum {
    ChecksumBuilder::of("at").text(run.as_str()).maybe_number(at_ms).checksum()
}

fn requested(request: &str, run: &RunId) -> Checksum {
    ChecksumBuilder::of("request").text(request).text(run.as_str()).checksum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pointsman_kernel::id::Seq;
    use pointsman_testing::folder::TempFolder;

    use super::{
        super::{Append, NewRun, Release, Store, schema::TABLES},
        *,
    };

    /// Queues a run without an owner.
    async fn queued(store: &SqliteStore, name: &[u8], created_ms: u64) -> RunId {
        let (run, zeros) = (RunId::from_letters(name), "0".repeat(64));
        let line = format!(
            r#"{{"v":1,"seq":1,"at":0,"event":"woke","hops":[],"effects":"{zeros}","prev":"{zeros}"}}"#
        );
        let first = Append {
            run: run.clone(),
            seq: Seq(1),
            line: line.into(),
            state: "asking".into(),
            ended: None,
            wake: None,
            snapshot: None,
            prompts: Vec::new(),
            message: None,
        };
        let new_run = NewRun {
            agent: "builtin".into(),
            chart: "asker".into(),
            source: "a chart".into(),
            goal: "ask".into(),
            created_ms,
            forked: None,
            messages: Vec::new(),
            request: None,
            queue: Some(QueueOptions::default()),
        };
        drop(store.create(Arc::new(first), new_run).await.expect("the run is created"));
        run
    }

    #[tokio::test]
    async fn what_a_claim_has_left_is_claimed_while_it_is_ready() {
        let folder = TempFolder::new("backlog");
        let store = SqliteStore::open(&folder.journal()).expect("the journal opens");
        let mut runs = Vec::new();
        for (name, created_ms) in [b"a", b"b", b"c", b"d"].into_iter().zip(1..) {
            runs.push(queued(&store, name, created_ms).await);
        }
        let [first, parked, owned, last] = &runs[..] else { panic!("four runs") };
        let lease = store.claim(parked).await.expect("the store answers").expect("it is free");
        let rests = Release::Parked { read: None };
        store.release(lease, rests).await.expect("the run is parked");
        let _owned = store.claim(owned).await.expect("the store answers").expect("it is free");
        let keep = |labels: &[&str]| {
            let runs = [parked, owned, last].into_iter().cloned().collect();
            let labels = labels.iter().map(|label| (*label).into()).collect();
            let (age, lasts) = (Stopwatch::start(), Duration::MAX);
            store.backlog.keep(ReadyBacklog { runs, labels, age, lasts });
        };
        let claimed = async || {
            let leases = store.claim_ready(1, &Worker::default()).await;
            let leases = leases.expect("the store answers");
            leases.first().map(|lease| lease.run().clone())
        };
        // `first` comes before it in the journal, and was not left.
        keep(&[]);
        assert_eq!(claimed().await.as_ref(), Some(last));
        // None is left: all are read again. So they are for a worker with other labels.
        assert_eq!(claimed().await.as_ref(), Some(first));
        keep(&["gpu"]);
        assert_eq!(claimed().await.as_ref(), Some(first));
    }

    #[test]
    fn only_the_query_by_the_index_relies_on_it() {
        let connection = Connection::open_in_memory().expect("memory is there");
        for (_, table) in TABLES {
            connection.execute_batch(table).expect("the table is made");
        }
        let plan = |which| -> String {
            let sql = format!("EXPLAIN QUERY PLAN {}", select(which));
            connection.query_row(&sql, [5], |cells| cells.get(3)).expect("it has a plan")
        };
        assert_eq!(plan(INDEXED), "SEARCH queue USING INDEX ready (at_ms<?)");
        assert_eq!(plan(SCANNED), "SCAN queue");
    }
}
