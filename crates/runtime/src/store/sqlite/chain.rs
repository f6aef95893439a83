//! A run's entries, from its last back to its first.
//!
//! Entries of all runs lie one after the other, as they came: what many runs write at a
//! time fills a few pages, and not one page of each. A run's row has the place of its last
//! entry, and every entry the place of the one that it follows.

use pointsman_kernel::id::{Digest, Seq};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    Damage, RunRow, StoreError, artifact,
    seal::{Seal, Tip, signed},
};

const ENTRY: &str = "SELECT e.place, e.follows, e.prompts, e.line, e.artifact, a.size, a.body,
            e.state, e.ended, e.wake, e.tip
     FROM entry e LEFT JOIN artifact a ON a.digest = e.artifact
     WHERE e.place = ?1 AND e.run = ?2 AND e.seq = ?3";

/// An entry's row, with the artifact that it may name.
pub(super) struct Cells<'a>(&'a Row<'a>);

impl Cells<'_> {
    /// Returns where it lies.
    pub(super) fn place(&self) -> rusqlite::Result<i64> {
        self.0.get(0)
    }

    /// Returns how many prompts were kept with it.
    pub(super) fn prompts(&self) -> rusqlite::Result<i64> {
        self.0.get(2)
    }

    /// Returns the line, or that of the artifact.
    pub(super) fn line(&self) -> rusqlite::Result<Result<String, Damage>> {
        let line: Option<String> = self.0.get(3)?;
        let artifact: Option<[u8; 32]> = self.0.get(4)?;
        Ok(match (line, artifact.map(Digest)) {
            (Some(line), None) => Ok(line),
            (None, Some(digest)) => {
                let size: Option<i64> = self.0.get(5)?;
                let body: Option<Vec<u8>> = self.0.get(6)?;
                size.zip(body)
                    .and_then(|(size, body)| artifact::unpack(&digest, size, &body))
                    .ok_or(Damage::Artifact(digest))
            }
            _ => Err(Damage::Line),
        })
    }

    /// Returns what is kept beside the line.
    pub(super) fn beside(&self) -> rusqlite::Result<Columns> {
        Ok(Columns {
            state: self.0.get(7)?,
            ended: self.0.get(8)?,
            wake: self.0.get(9)?,
            prompts: self.prompts()?,
            tip: Seal(self.0.get(10)?),
        })
    }

    /// Returns the digest of the line, without reading it where the row has it.
    pub(super) fn link(&self) -> rusqlite::Result<Digest> {
        let line: Option<String> = self.0.get(3)?;
        line.map_or_else(|| self.0.get(4).map(Digest), |line| Ok(Digest::of(line.as_bytes())))
    }
}

/// The columns of an entry that are derived from its line, and their seal.
pub(super) struct Columns {
    pub(super) state: String,
    pub(super) ended: Option<String>,
    pub(super) wake: Option<i64>,
    pub(super) prompts: i64,
    pub(super) tip: Seal,
}

/// Goes from a run's last entry back to `first`. One that is not where the next one says,
/// or is another run's, is missing.
pub(super) fn back(
    connection: &Connection,
    row: &RunRow,
    first: Seq,
    mut each: impl FnMut(Seq, Cells<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let run = row.id.as_str();
    let fail = |seq, source| StoreError::sorted(Some(&row.id), Some(seq), source);
    let mut place = last(connection, row)?;
    let mut query = connection.prepare_cached(ENTRY).map_err(|source| fail(row.seq, source))?;
    let mut seq = row.seq;
    while seq >= first && seq > Seq(0) {
        let fail = |source| fail(seq, source);
        let mut found = query.query(params![place, run, signed(seq.0)]).map_err(fail)?;
        let Some(cells) = found.next().map_err(fail)? else {
            return Err(StoreError::damaged(Some(row.id.clone()), Some(seq), Damage::Missing));
        };
        place = cells.get(1).map_err(fail)?;
        each(seq, Cells(cells))?;
        seq = Seq(seq.0.saturating_sub(1));
    }
    Ok(())
}

/// Returns where a run's last entry lies.
fn last(connection: &Connection, row: &RunRow) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT place FROM run WHERE id = ?1")
        .and_then(|mut query| query.query_row(params![row.id.as_str()], |cells| cells.get(0)))
        .map_err(|source| StoreError::sorted(Some(&row.id), Some(row.seq), source))
}

/// Returns a run's first line. Those between are passed over, and the line is compared with
/// its seal instead of with the line after it.
pub(super) fn first(connection: &Connection, row: &RunRow) -> Result<String, StoreError> {
    let (run, mut seq, mut place) = (row.id.as_str(), row.seq, last(connection, row)?);
    let damaged = |seq, damage| StoreError::damaged(Some(row.id.clone()), Some(seq), damage);
    let mut query = connection
        .prepare_cached("SELECT follows FROM entry WHERE place = ?1 AND run = ?2 AND seq = ?3")
        .map_err(|source| StoreError::reading(Some(&row.id), source))?;
    while seq > Seq(1) {
        let found = query.query_row(params![place, run, signed(seq.0)], |cells| cells.get(0));
        let found =
            found.optional().map_err(|e| StoreError::sorted(Some(&row.id), Some(seq), e))?;
        place = found.ok_or_else(|| damaged(seq, Damage::Missing))?;
        seq = Seq(seq.0.saturating_sub(1));
    }
    let fail = |source| StoreError::sorted(Some(&row.id), Some(seq), source);
    let mut query = connection.prepare_cached(ENTRY).map_err(fail)?;
    let mut found = query.query(params![place, run, signed(seq.0)]).map_err(fail)?;
    let cells = found.next().map_err(fail)?.ok_or_else(|| damaged(seq, Damage::Missing))?;
    let cells = Cells(cells);
    let line = cells.line().map_err(fail)?.map_err(|damage| damaged(seq, damage))?;
    let Columns { state, ended, wake, prompts, tip } = cells.beside().map_err(fail)?;
    let sealed = Tip {
        seq: signed(seq.0),
        state: &state,
        ended: ended.as_deref(),
        wake,
        prompts,
        link: &Digest::of(line.as_bytes()),
    };
    if sealed.seal() == tip { Ok(line) } else { Err(damaged(seq, Damage::Line)) }
}
