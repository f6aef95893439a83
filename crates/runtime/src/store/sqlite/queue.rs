//! The queue of a journal: which runs wait for an owner, and from when on they are ready.
//!
//! A row is written with the run's first entry, and gone with its last. While the run has an owner
//! the row says what is true once that owner is lost: it is ready from its owner's first entry on.
//! Nothing is written when a run is claimed, and whether somebody has it is told by its lock alone.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    super::{
        QueueOptions,
        queue::{QueuedRun, in_turn},
    },
    Claimed, Lease, MessageId, RunId, SqliteReader, SqliteStore, StoreDamage, StoreError, Worker,
    WriteRequest,
    checksum::{Checksum, ChecksumBuilder, signed},
    term::Term,
};
use crate::clock::now_ms;

/// Ready whatever the time.
const AT_ONCE: Option<i64> = Some(0);

impl SqliteStore {
    pub(super) async fn claim_queued(
        &self,
        most: usize,
        worker: &Worker,
    ) -> Result<Vec<Lease>, StoreError> {
        let ahead = self.options.ahead_ms.load(std::sync::atomic::Ordering::Acquire);
        let now = now_ms().saturating_add(ahead);
        let ready = in_turn(self.read(move |reader| reader.ready(now)).await?, worker);
        let mut leases = Vec::new();
        for run in ready {
            if leases.len() == most {
                break;
            }
            match super::Store::claim(self, &run).await {
                Ok(lease) => leases.extend(lease),
                // It was removed a moment ago; resuming it by name reports that.
                Err(StoreError::NoSuchRun { .. } | StoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // Somebody may have driven them on and parked them since they were found.
        let runs: Vec<RunId> = leases.iter().map(|lease| lease.run().clone()).collect();
        let still = self.read(move |reader| reader.still_ready(&runs, now)).await?;
        leases.retain(|lease| still.contains(lease.run()));
        Ok(leases)
    }

    /// Parks a run, unless it is not in the queue or its lease is over.
    pub(super) async fn park(
        &self,
        lease: &Lease,
        read: Option<MessageId>,
    ) -> Result<(), StoreError> {
        let Some(claimed) = lease.guard::<Claimed>() else { return Ok(()) };
        let (run, term) = (lease.run().clone(), claimed.active_term.term());
        let asked = run.clone();
        if self.read(move |reader| reader.is_queued(&asked)).await? {
            self.ask(WriteRequest::Park { run, term, read }).await?;
        }
        Ok(())
    }
}

impl SqliteReader {
    /// Returns the runs that are ready, whoever has them.
    fn ready(&self, now_ms: u64) -> Result<Vec<QueuedRun>, StoreError> {
        self.read(|connection| rows(connection, Some(now_ms), |_| Ok(())))
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

/// Reads the rows whose time has come, or all. A row without its checksum is told of.
pub(super) fn rows(
    connection: &Connection,
    now_ms: Option<u64>,
    mut damaged: impl FnMut(StoreError) -> Result<(), StoreError>,
) -> Result<Vec<QueuedRun>, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query = connection
        .prepare_cached(
            "SELECT run, key, rank, needs, seal, at_ms, at_seal FROM queue
             WHERE ?1 IS NULL OR at_ms <= ?1",
        )
        .map_err(fail)?;
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
            Ok((QueuedRun { run, key, rank, needs }, intact))
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

/// Makes a run ready, if it is in the queue.
pub(super) fn wake(connection: &Connection, run: &RunId) -> rusqlite::Result<()> {
    set(connection, run, AT_ONCE)
}

/// Parks a run until its wake-up time, unless a message came that its owner has not read.
pub(super) fn park(
    connection: &Connection,
    run: &RunId,
    term: &Term,
    read: Option<MessageId>,
) -> rusqlite::Result<()> {
    if term.is_over(connection, run)? {
        return Ok(());
    }
    let unread = connection
        .prepare_cached("SELECT 1 FROM letter WHERE run = ?1 AND id > ?2")?
        .exists(params![run.as_str(), read.map_or(0, MessageId::number)])?;
    let wake: Option<i64> = connection
        .prepare_cached("SELECT created_ms + wake FROM run WHERE id = ?1")?
        .query_row(params![run.as_str()], |cells| cells.get(0))
        .optional()?
        .flatten();
    set(connection, run, if unread { AT_ONCE } else { wake })
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
