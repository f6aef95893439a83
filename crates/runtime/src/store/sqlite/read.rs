//! Reading: runs, lines, snapshots. Every checksum and every link is checked on the way.

use pointsman_kernel::id::{Digest, Seq};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    super::{RunId, RunRow, Snapshot, StoreDamage, StoreError},
    Link, SqliteReader, artifact,
    chain::{self, Places},
    checksum::{self, Checksum, Fixed, Tip, entry, unsigned},
    manifest::Manifest,
};

pub(super) const COLUMNS: &str = "id, agent, chart, source, goal, created_ms, parent, parent_seq, fixed, \
                       seq, state, ended, wake, prompts, link, tip";

impl SqliteReader {
    /// Returns one run.
    pub fn run(&self, id: &RunId) -> Result<RunRow, StoreError> {
        self.read(|connection| {
            let mut row = run(connection, id)?;
            self.place_in_queue(connection, &mut row)?;
            Ok(row)
        })
    }

    /// Returns the text of the chart that a run was started with.
    pub fn chart_source(&self, id: &RunId) -> Result<String, StoreError> {
        self.read(|connection| {
            let digest = run(connection, id)?.source;
            artifact::read(connection, &digest)
                .map_err(|source| StoreError::reading(Some(id), source))?
                .ok_or_else(|| {
                    StoreError::damaged(Some(id.clone()), None, StoreDamage::Artifact(digest))
                })
        })
    }

    /// Returns the lines of a run after an entry, in order, each the very one that was
    /// written: their chain is checked from that entry to the run's last.
    pub fn lines(&self, id: &RunId, after: Seq) -> Result<Vec<String>, StoreError> {
        self.page(id, after, usize::MAX)
    }

    /// Returns up to `limit` lines of a run after an entry. The checksum of the last of them is
    /// enough to verify it, so no later line is read; if it does not match, all are read, and
    /// their chain locates the damage.
    pub fn page(&self, id: &RunId, after: Seq, limit: usize) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let row = run(connection, id)?;
            let until = after.0.saturating_add(limit.try_into().unwrap_or(u64::MAX));
            match lines_until(connection, &row, Some(&self.places), after, Seq(until)) {
                Err(StoreError::Damaged { .. }) if until < row.seq.0 => {
                    self.places.forget(id);
                    let mut lines = lines(connection, &row, after)?;
                    lines.truncate(limit);
                    Ok(lines)
                }
                read => read,
            }
        })
    }

    /// Returns a run with its lines, as both are at one moment.
    pub fn journal(&self, id: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        self.read(|connection| {
            let row = run(connection, id)?;
            let lines = lines(connection, &row, Seq(0))?;
            Ok((row, lines))
        })
    }

    /// Returns the newest snapshot of a run, if there is one that fits the journal. A
    /// snapshot is a cache: one that is damaged counts as none.
    pub fn snapshot(&self, id: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.read(|connection| {
            let row = run(connection, id)?;
            match snapshot(connection, &row) {
                Err(StoreError::Damaged { .. }) => Ok(None),
                found => found,
            }
        })
    }
}

/// Reads one run's row.
pub(super) fn run(connection: &Connection, id: &RunId) -> Result<RunRow, StoreError> {
    let fail = |source| StoreError::reading(Some(id), source);
    let mut query = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM run WHERE id = ?1"))
        .map_err(fail)?;
    let mut found = query.query(params![id.as_str()]).map_err(fail)?;
    if let Some(row) = found.next().map_err(fail)? {
        return checked(row);
    }
    // A search can go astray in a damaged file. The manifest knows whether that was so.
    let mut query = connection.prepare_cached("SELECT id FROM run").map_err(fail)?;
    let ids = query
        .query_map([], |row| row.get(0).map(RunId::from_row))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(fail)?;
    Manifest::read(connection)?.check(&ids)?;
    if ids.contains(id) {
        return Err(StoreError::damaged(Some(id.clone()), None, StoreDamage::Row));
    }
    Err(StoreError::NoSuchRun { run: id.clone() })
}

/// Takes a row if its checksums fit.
pub(super) fn checked(row: &Row<'_>) -> Result<RunRow, StoreError> {
    let id = row.get(0).map(RunId::from_row).map_err(|e| StoreError::reading(None, e))?;
    let read = || -> rusqlite::Result<Option<RunRow>> {
        let text = |at: usize| row.get::<_, String>(at);
        let (agent, chart, goal, state) = (text(1)?, text(2)?, text(4)?, text(10)?);
        let parent: Option<String> = row.get(6)?;
        let ended: Option<String> = row.get(11)?;
        let (source, link) = (Digest(row.get(3)?), Digest(row.get(14)?));
        let fixed = Fixed {
            id: id.as_str(),
            agent: &agent,
            chart: &chart,
            source: &source,
            goal: &goal,
            created_ms: row.get(5)?,
            parent: parent.as_deref(),
            parent_seq: row.get(7)?,
        };
        let tip = Tip {
            seq: row.get(9)?,
            state: &state,
            ended: ended.as_deref(),
            wake: row.get(12)?,
            prompts: row.get(13)?,
            link: &link,
        };
        if fixed.checksum() != Checksum(row.get(8)?) || tip.checksum() != Checksum(row.get(15)?) {
            return Ok(None);
        }
        let (created_ms, parent_seq) = (unsigned(fixed.created_ms), fixed.parent_seq);
        let (seq, wake) = (entry(tip.seq), tip.wake.map(unsigned));
        Ok(Some(RunRow {
            id: id.clone(),
            agent: agent.into(),
            chart: chart.into(),
            source,
            goal: goal.into(),
            created_ms,
            forked: parent.map(RunId::from_row).zip(parent_seq.map(entry)),
            seq,
            link,
            state: state.into(),
            ended: ended.map(Into::into),
            wake,
            owner: None,
            queue: None,
        }))
    };
    match read() {
        Ok(Some(row)) => Ok(row),
        Ok(None) => Err(StoreError::damaged(Some(id), None, StoreDamage::Row)),
        Err(source) => Err(StoreError::reading(Some(&id), source)),
    }
}

/// Reads the lines after an entry and checks their chain.
///
/// The check goes backwards from the verified link in the run's row, so that each line is compared
/// with a trusted digest, and the reported entry is the damaged one.
pub(super) fn lines(
    connection: &Connection,
    row: &RunRow,
    after: Seq,
) -> Result<Vec<String>, StoreError> {
    lines_until(connection, row, None, after, row.seq)
}

/// Reads the lines after an entry, up to another one whose own checksum is checked where it is not the
/// run's last.
fn lines_until(
    connection: &Connection,
    row: &RunRow,
    places: Option<&Places>,
    after: Seq,
    until: Seq,
) -> Result<Vec<String>, StoreError> {
    if after > row.seq {
        let (run, has) = (row.id.clone(), row.seq);
        return Err(StoreError::NoSuchEntry { run, has, asked: after });
    }
    let damaged = |seq, damage| StoreError::damaged(Some(row.id.clone()), Some(seq), damage);
    // The line of that entry itself is read as well: the next one must link to it.
    let first = after.max(Seq(1));
    let mut lines = Vec::new();
    let mut wanted = (until >= row.seq).then_some(row.link);
    chain::back_from(connection, row, places, until.min(row.seq), first, |seq, cells| {
        let fail = |source| StoreError::sorted(Some(&row.id), Some(seq), source);
        let line = cells.line().map_err(fail)?.map_err(|damage| damaged(seq, damage))?;
        let digest = Digest::of(line.as_bytes());
        let is_it = match wanted {
            Some(wanted) => digest == wanted,
            None => cells.checksums(seq, &digest).map_err(fail)?,
        };
        match Link::of(&line) {
            Some(it) if it.seq == seq && is_it => wanted = Some(it.prev),
            _ => return Err(damaged(seq, StoreDamage::Line)),
        }
        lines.push(line);
        Ok(())
    })?;
    if after >= Seq(1) {
        lines.pop();
    }
    lines.reverse();
    Ok(lines)
}

fn snapshot(connection: &Connection, row: &RunRow) -> Result<Option<Snapshot>, StoreError> {
    let run = row.id.as_str();
    let found = connection
        .prepare_cached("SELECT seq, link, body, seal FROM snapshot WHERE run = ?1")
        .and_then(|mut query| {
            query
                .query_row(params![run], |cells| {
                    let body: String = cells.get(2)?;
                    Ok((
                        cells.get::<_, i64>(0)?,
                        Digest(cells.get(1)?),
                        body,
                        Checksum(cells.get(3)?),
                    ))
                })
                .optional()
        })
        .map_err(|source| StoreError::reading(Some(&row.id), source))?;
    let Some((seq, link, body, intact)) = found else { return Ok(None) };
    let fits = checksum::snapshot(run, seq, &link, &body) == intact
        && entry(seq) <= row.seq
        && link_at(connection, row, entry(seq))? == link;
    Ok(fits.then(|| Snapshot { seq: entry(seq), link, body: body.into() }))
}

/// Returns the digest of one entry's line.
fn link_at(connection: &Connection, row: &RunRow, seq: Seq) -> Result<Digest, StoreError> {
    let mut link = row.link;
    chain::back(connection, row, seq, |at, cells| {
        if at == seq {
            let fail = |source| StoreError::sorted(Some(&row.id), Some(seq), source);
            link = cells.link().map_err(fail)?;
        }
        Ok(())
    })?;
    Ok(link)
}
