//! The one writer: takes what has come, writes it in one transaction, flushes once.

use std::sync::mpsc::Receiver;

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Savepoint, params};

use super::{Append, Committed, Job, Opening, Reply, RunId, StoreError};

/// Entries that share a flush at most.
const TOGETHER: usize = 1_024;

/// Works until nobody can send any more.
pub(super) fn run(mut connection: Connection, inbox: &Receiver<Job>) {
    let mut broken: Option<String> = None;
    while let Ok(first) = inbox.recv() {
        let mut batch = vec![first];
        batch.extend(inbox.try_iter().take(TOGETHER - 1));
        match &broken {
            Some(why) => {
                for job in batch {
                    refuse(job, why);
                }
            }
            None => broken = write(&mut connection, batch).err(),
        }
    }
}

fn refuse(job: Job, why: &str) {
    let error = StoreError::Broken { why: why.into() };
    // Who has stopped waiting need not be told.
    match job {
        Job::Append(_, _, reply) => drop(reply.send(Err(error))),
        Job::Prune { reply, .. } => drop(reply.send(Err(error))),
    }
}

/// Writes a batch. An error here means that nobody knows what is on the disk.
fn write(connection: &mut Connection, batch: Vec<Job>) -> Result<(), String> {
    let mut done: Vec<(Reply, Result<Committed, StoreError>)> = Vec::with_capacity(batch.len());
    let mut prunes = Vec::new();
    let began = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
    let mut transaction = match began {
        Ok(transaction) => transaction,
        Err(source) => {
            let why = source.to_string();
            for job in batch {
                refuse(job, &why);
            }
            // Nothing was begun, so nothing is unsure: the next batch may succeed.
            return Ok(());
        }
    };
    for job in batch {
        match job {
            Job::Append(append, opening, reply) => {
                let written = match transaction.savepoint() {
                    Ok(savepoint) => one(savepoint, &append, opening.as_deref()),
                    Err(source) => Err(sort(&append, source)),
                };
                done.push((reply, written));
            }
            Job::Prune { before_ms, reply } => {
                let before = i64::try_from(before_ms).unwrap_or(i64::MAX);
                let gone = transaction
                    .execute(
                        "DELETE FROM run WHERE ended IS NOT NULL AND created_ms < ?1",
                        params![before],
                    )
                    .map(|count| count as u64);
                prunes.push((reply, gone.map_err(|source| StoreError::reading(None, source))));
            }
        }
    }
    let result = transaction.commit();
    let broken = result.as_ref().err().map(ToString::to_string);
    let full = result
        .as_ref()
        .err()
        .is_some_and(|error| error.sqlite_error_code() == Some(ErrorCode::DiskFull));
    for (reply, written) in done {
        let answer = match (&broken, written) {
            (None, written) => written,
            (Some(_), Err(error)) => Err(error),
            (Some(why), Ok(_)) => Err(StoreError::Broken { why: why.clone() }),
        };
        drop(reply.send(answer));
    }
    for (reply, gone) in prunes {
        drop(reply.send(match &broken {
            None => gone,
            Some(why) => Err(StoreError::Broken { why: why.clone() }),
        }));
    }
    match broken {
        // A full disk rolls the transaction back: what is there is known.
        Some(_) if full => Ok(()),
        Some(why) => Err(why),
        None => Ok(()),
    }
}

/// Writes one entry, or nothing of it.
fn one(
    mut savepoint: Savepoint<'_>,
    append: &Append,
    opening: Option<&Opening>,
) -> Result<Committed, StoreError> {
    let written = rows(&mut savepoint, append, opening)
        .and_then(|()| savepoint.commit().map_err(|source| sort(append, source)));
    // A savepoint that is dropped without a commit is rolled back.
    written.map(|()| Committed { seq: append.seq, link: Digest::of(append.line.as_bytes()) })
}

fn rows(
    savepoint: &mut Savepoint<'_>,
    append: &Append,
    opening: Option<&Opening>,
) -> Result<(), StoreError> {
    let fail = |source| sort(append, source);
    let run = append.run.as_str();
    let seq = i64::try_from(append.seq.0).unwrap_or(i64::MAX);
    let ended = append.ended.map(name);
    let wake = append.wake.and_then(|wake| i64::try_from(wake).ok());
    if let Some(opening) = opening {
        let (parent, parent_seq) = match &opening.forked {
            Some((parent, seq)) => (Some(parent.as_str()), i64::try_from(seq.0).ok()),
            None => (None, None),
        };
        let created = i64::try_from(opening.created_ms).unwrap_or(i64::MAX);
        savepoint
            .prepare_cached(
                "INSERT INTO run (id, agent, chart, source, goal, created_ms, parent, parent_seq,
                 seq, state, ended, wake) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,0,'',NULL,NULL)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    run,
                    &*opening.agent,
                    &*opening.chart,
                    &*opening.source,
                    &*opening.goal,
                    created,
                    parent,
                    parent_seq,
                ])
            })
            .map_err(fail)?;
    }
    // The row moves on only from the entry before: no gap, and no second writer.
    let moved = savepoint
        .prepare_cached(
            "UPDATE run SET seq = ?2, state = ?3, ended = ?4, wake = ?5
             WHERE id = ?1 AND seq = ?2 - 1",
        )
        .and_then(|mut update| update.execute(params![run, seq, &*append.state, ended, wake]))
        .map_err(fail)?;
    if moved != 1 {
        return Err(conflict(savepoint, append));
    }
    savepoint
        .prepare_cached("INSERT INTO entry (run, seq, line) VALUES (?1, ?2, ?3)")
        .and_then(|mut insert| insert.execute(params![run, seq, append.line]))
        .map_err(fail)?;
    if let Some(body) = &append.snapshot {
        savepoint
            .prepare_cached("INSERT OR REPLACE INTO snapshot (run, seq, body) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![run, seq, &**body]))
            .map_err(fail)?;
    }
    Ok(())
}

fn conflict(savepoint: &Savepoint<'_>, append: &Append) -> StoreError {
    let run: RunId = append.run.clone();
    let at = savepoint
        .query_row("SELECT seq FROM run WHERE id = ?1", params![run.as_str()], |row| {
            row.get::<_, i64>(0)
        })
        .optional();
    match at {
        Ok(Some(at)) => {
            let at = Seq(u64::try_from(at).unwrap_or(0));
            StoreError::Conflict { run, at, wanted: append.seq }
        }
        Ok(None) => StoreError::NoSuchRun { run },
        Err(source) => sort(append, source),
    }
}

fn sort(append: &Append, source: rusqlite::Error) -> StoreError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { run: append.run.clone(), seq: append.seq },
        _ => StoreError::reading(Some(&append.run), source),
    }
}

const fn name(ended: Disposition) -> &'static str {
    match ended {
        Disposition::Succeeded => "succeeded",
        Disposition::Failed => "failed",
        Disposition::Cancelled => "cancelled",
        Disposition::Budget => "budget",
        Disposition::Stuck => "stuck",
        Disposition::Denied => "denied",
        _ => "unknown",
    }
}
