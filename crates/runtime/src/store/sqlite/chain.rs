//! A run's entries, from its last back to its first.
//!
//! Entries of all runs are stored in order of arrival: concurrent writes of many runs fill a few
//! pages instead of one page each. A run's row has the position of its last entry, and every entry
//! the position of its predecessor.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use pointsman_kernel::id::{Digest, Seq};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    RunId, RunRow, StoreDamage, StoreError, artifact,
    checksum::{Checksum, Tip, signed},
};

/// Entries between two places that are remembered.
const APART: u64 = 256;
/// Runs whose places are remembered.
const REMEMBERED: usize = 16;

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
    pub(super) fn line(&self) -> rusqlite::Result<Result<String, StoreDamage>> {
        let line: Option<String> = self.0.get(3)?;
        let artifact: Option<[u8; 32]> = self.0.get(4)?;
        Ok(match (line, artifact.map(Digest)) {
            (Some(line), None) => Ok(line),
            (None, Some(digest)) => {
                let size: Option<i64> = self.0.get(5)?;
                let body: Option<Vec<u8>> = self.0.get(6)?;
                size.zip(body)
                    .and_then(|(size, body)| artifact::unpack(&digest, size, &body))
                    .ok_or(StoreDamage::Artifact(digest))
            }
            _ => Err(StoreDamage::Line),
        })
    }

    /// Returns the data beside the line.
    pub(super) fn columns(&self) -> rusqlite::Result<Columns> {
        Ok(Columns {
            state: self.0.get(7)?,
            ended: self.0.get(8)?,
            wake: self.0.get(9)?,
            prompts: self.prompts()?,
            tip: Checksum(self.0.get(10)?),
        })
    }

    /// Returns whether the row's checksum is for a line with this number.
    pub(super) fn checksums(&self, seq: Seq, link: &Digest) -> rusqlite::Result<bool> {
        let Columns { state, ended, wake, prompts, tip } = self.columns()?;
        let (seq, ended) = (signed(seq.0), ended.as_deref());
        Ok(Tip { seq, state: &state, ended, wake, prompts, link }.checksum() == tip)
    }

    /// Returns the digest of the line, without reading it where the row has it.
    pub(super) fn link(&self) -> rusqlite::Result<Digest> {
        let line: Option<String> = self.0.get(3)?;
        line.map_or_else(|| self.0.get(4).map(Digest), |line| Ok(Digest::of(line.as_bytes())))
    }
}

/// The columns of an entry that are derived from its line, and their checksum.
pub(super) struct Columns {
    pub(super) state: String,
    pub(super) ended: Option<String>,
    pub(super) wake: Option<i64>,
    pub(super) prompts: i64,
    pub(super) tip: Checksum,
}

/// Where some entries of the runs lie that were read last: without them, each page of a long journal
/// would be looked for from its end. Whoever reads a place checks that it holds the entry.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<VecDeque<RunPlaces>>);

#[derive(Debug)]
struct RunPlaces {
    run: RunId,
    places: BTreeMap<Seq, i64>,
}

impl Places {
    /// Returns the first known entry from one on, and where it lies.
    fn nearest(&self, run: &RunId, from: Seq) -> Option<(Seq, i64)> {
        let known = self.lock();
        let found = known.iter().find(|it| it.run == *run)?;
        found.places.range(from..).next().map(|(seq, place)| (*seq, *place))
    }

    fn keep(&self, run: &RunId, passed: Vec<(Seq, i64)>) {
        if passed.is_empty() {
            return;
        }
        let mut known = self.lock();
        let at = known.iter().position(|it| it.run == *run);
        let kept = at.and_then(|at| known.remove(at));
        let mut kept =
            kept.unwrap_or_else(|| RunPlaces { run: run.clone(), places: BTreeMap::new() });
        kept.places.extend(passed);
        known.push_back(kept);
        if known.len() > REMEMBERED {
            known.pop_front();
        }
    }

    /// Forgets a run whose entries were not where they had been: it was removed meanwhile.
    pub(super) fn forget(&self, run: &RunId) {
        self.lock().retain(|it| it.run != *run);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<RunPlaces>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes from a run's last entry back to `first`. One that is not where the next one says,
/// or is another run's, is missing.
pub(super) fn back(
    connection: &Connection,
    row: &RunRow,
    first: Seq,
    each: impl FnMut(Seq, Cells<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    back_from(connection, row, None, row.seq, first, each)
}

/// Goes from an entry back to `first`. Those after it are passed over, from the nearest place that
/// is known.
pub(super) fn back_from(
    connection: &Connection,
    row: &RunRow,
    places: Option<&Places>,
    from: Seq,
    first: Seq,
    mut each: impl FnMut(Seq, Cells<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let run = row.id.as_str();
    let fail = |seq, source| StoreError::sorted(Some(&row.id), Some(seq), source);
    let missing = |seq| StoreError::damaged(Some(row.id.clone()), Some(seq), StoreDamage::Missing);
    let known = places.and_then(|places| places.nearest(&row.id, from)).filter(|it| it.0 < row.seq);
    let (mut seq, mut place) = match known {
        Some((seq, place)) => (seq, Some(place)),
        None => (row.seq, last(connection, row)?),
    };
    let mut passed = Vec::new();
    let mut query = connection
        .prepare_cached("SELECT follows FROM entry WHERE place = ?1 AND run = ?2 AND seq = ?3")
        .map_err(|source| fail(seq, source))?;
    while seq > from {
        // What one run wrote alone lies side by side: its entries need not be passed one by one.
        let far =
            seq.0.checked_sub(APART).filter(|far| *far >= from.0 && far.is_multiple_of(APART));
        if let Some((far, there)) =
            far.zip(place.and_then(|place| place.checked_sub_unsigned(APART)))
            && query.exists(params![there, run, signed(far)]).map_err(|source| fail(seq, source))?
        {
            (seq, place) = (Seq(far), Some(there));
            passed.push((seq, there));
            continue;
        }
        let found = query.query_row(params![place, run, signed(seq.0)], |cells| cells.get(0));
        let found = found.optional().map_err(|source| fail(seq, source))?;
        place = found.ok_or_else(|| missing(seq))?;
        seq = Seq(seq.0.saturating_sub(1));
        passed.extend(place.filter(|_| seq.0.is_multiple_of(APART)).map(|place| (seq, place)));
    }
    if let Some(places) = places {
        places.keep(&row.id, passed);
    }
    let mut query = connection.prepare_cached(ENTRY).map_err(|source| fail(seq, source))?;
    while seq >= first && seq > Seq(0) {
        let fail = |source| fail(seq, source);
        let mut found = query.query(params![place, run, signed(seq.0)]).map_err(fail)?;
        let cells = found.next().map_err(fail)?.ok_or_else(|| missing(seq))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_is_not_before_the_entry() {
        let places = Places::default();
        let run: RunId = "long".parse().expect("an id");
        assert_eq!(places.nearest(&run, Seq(1)), None);
        places.keep(&run, vec![(Seq(512), 60), (Seq(256), 30)]);
        let nearest = |seq| places.nearest(&run, Seq(seq));
        assert_eq!(nearest(1), Some((Seq(256), 30)));
        assert_eq!(nearest(256), Some((Seq(256), 30)));
        assert_eq!(nearest(257), Some((Seq(512), 60)));
        assert_eq!(nearest(513), None);
        places.forget(&run);
        assert_eq!(nearest(1), None);
    }
}
