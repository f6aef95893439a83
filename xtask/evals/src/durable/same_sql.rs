//! The SQL of a step alone: the store's own tables and its own two statements, with nothing around
//! them. No step is decided, nothing is encoded, digested or checked.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, TransactionBehavior, params};

use super::counter::Counter;

/// A run whose rows are written without the store.
pub(super) struct SameSql {
    connection: Connection,
    run: String,
    seq: i64,
    state: String,
    wake: Option<i64>,
    line: String,
    link: Vec<u8>,
    tip: Vec<u8>,
}

impl SameSql {
    /// Has the store make a run of a few steps, and takes over from there.
    pub(super) fn open(journal: &Path) -> Result<Self> {
        Counter::open(journal)?.bytes_of_a_step()?;
        let connection = Connection::open(journal)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 1_000)?;
        let last = "SELECT run.id, run.seq, run.state, run.wake, entry.line, run.link, run.tip
                    FROM run JOIN entry ON entry.place = run.place";
        let run = connection.query_row(last, [], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
                row.get(6)?,
            ))
        });
        let (run, seq, state, wake, text, link, tip) =
            run.context("reading the run of the store")?;
        Ok(Self { connection, run, seq, state, wake, line: text, link, tip })
    }

    /// Writes the rows of a step, and waits until they are on disk.
    pub(super) fn write(&mut self) -> Result<()> {
        self.seq += 1;
        let connection = &mut self.connection;
        let (run, seq, state, wake) = (&self.run, self.seq, &self.state, self.wake);
        let (text, link, tip) = (&self.line, &self.link, &self.tip);
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let place = step
            .prepare_cached(
                "INSERT INTO entry (follows, run, seq, state, ended, wake, prompts, tip, line, artifact)
                 VALUES ((SELECT place FROM run WHERE id = ?1),?1,?2,?3,?4,?5,?6,?7,?8,?9)",
            )?
            .insert(params![run, seq, state, None::<&str>, wake, 0, tip, text, None::<&[u8]>])?;
        let moved = step
            .prepare_cached(
                "UPDATE run SET seq = ?2, state = ?3, ended = ?4, wake = ?5, prompts = ?6,
                 link = ?7, tip = ?8, place = ?9
                 WHERE id = ?1 AND seq = ?2 - 1 AND link = ?10
                 AND NOT EXISTS (SELECT 1 FROM lease WHERE run = ?1
                     AND (epoch > ?11 OR epoch = ?11 AND owner <> ?12))",
            )?
            .execute(params![
                run,
                seq,
                state,
                None::<&str>,
                wake,
                0,
                link,
                tip,
                place,
                link,
                i64::MAX,
                [0_u8; 8],
            ])?;
        ensure!(moved == 1, "the run's row did not move on to entry {seq}");
        Ok(step.commit()?)
    }
}
