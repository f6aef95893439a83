//! Reading: runs, lines, snapshots. Each call opens the file for itself, so that
//! reads go on whatever the writer is doing.

use pointsman_kernel::id::Seq;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{RunId, Store, StoreError, schema};

/// A run as the list shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The agent.
    pub agent: Box<str>,
    /// The chart.
    pub chart: Box<str>,
    /// What it was started for.
    pub goal: Box<str>,
    /// When, in milliseconds since 1970.
    pub created_ms: u64,
    /// The run and entry that it was forked from.
    pub forked: Option<(RunId, Seq)>,
    /// Its last entry.
    pub seq: Seq,
    /// Its state.
    pub state: Box<str>,
    /// How it ended.
    pub ended: Option<Box<str>>,
    /// When it wants to be woken, in milliseconds since its first entry.
    pub wake: Option<u64>,
}

/// A snapshot, as it was kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kept {
    /// The entry after which it was taken.
    pub seq: Seq,
    /// The run, as JSON.
    pub body: Box<str>,
}

const ROW: &str = "SELECT id, agent, chart, goal, created_ms, parent, parent_seq, seq, state, ended, wake FROM run";

impl Store {
    fn reader(&self) -> Result<Connection, StoreError> {
        schema::open_to_read(&self.path)
    }

    /// Returns every run, the newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let fail = |source| StoreError::reading(None, source);
        let reader = self.reader()?;
        let mut query =
            reader.prepare(&format!("{ROW} ORDER BY created_ms DESC, id DESC")).map_err(fail)?;
        let rows = query.query_map([], row).map_err(fail)?;
        rows.collect::<Result<_, _>>().map_err(fail)
    }

    /// Returns one run.
    pub fn run(&self, id: &RunId) -> Result<RunRow, StoreError> {
        let found = self
            .reader()?
            .query_row(&format!("{ROW} WHERE id = ?1"), params![id.as_str()], row)
            .optional()
            .map_err(|source| StoreError::reading(Some(id), source))?;
        found.ok_or_else(|| StoreError::NoSuchRun { run: id.clone() })
    }

    /// Returns the text of the chart that a run was started with.
    pub fn chart_source(&self, id: &RunId) -> Result<String, StoreError> {
        self.one(id, "SELECT source FROM run WHERE id = ?1")
    }

    /// Returns the lines of a run after an entry, in order.
    pub fn lines(&self, id: &RunId, after: Seq) -> Result<Vec<String>, StoreError> {
        let fail = |source| StoreError::reading(Some(id), source);
        let reader = self.reader()?;
        let mut query = reader
            .prepare("SELECT line FROM entry WHERE run = ?1 AND seq > ?2 ORDER BY seq")
            .map_err(fail)?;
        let after = i64::try_from(after.0).unwrap_or(i64::MAX);
        let lines = query.query_map(params![id.as_str(), after], |row| row.get(0)).map_err(fail)?;
        lines.collect::<Result<_, _>>().map_err(fail)
    }

    /// Returns the newest snapshot of a run, if there is one.
    pub fn snapshot(&self, id: &RunId) -> Result<Option<Kept>, StoreError> {
        self.reader()?
            .query_row(
                "SELECT seq, body FROM snapshot WHERE run = ?1",
                params![id.as_str()],
                |row| {
                    let body: String = row.get(1)?;
                    Ok(Kept { seq: Seq(count(row, 0)?), body: body.into() })
                },
            )
            .optional()
            .map_err(|source| StoreError::reading(Some(id), source))
    }

    fn one(&self, id: &RunId, query: &str) -> Result<String, StoreError> {
        let found = self
            .reader()?
            .query_row(query, params![id.as_str()], |row| row.get(0))
            .optional()
            .map_err(|source| StoreError::reading(Some(id), source))?;
        found.ok_or_else(|| StoreError::NoSuchRun { run: id.clone() })
    }
}

fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or(0))
}

fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Box<str>> {
    row.get::<_, String>(at).map(Into::into)
}

fn row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let id = |at: usize| -> rusqlite::Result<Option<RunId>> {
        Ok(row.get::<_, Option<String>>(at)?.map(|text| RunId(text.into())))
    };
    let forked = id(5)?.zip(row.get::<_, Option<i64>>(6)?);
    Ok(RunRow {
        id: id(0)?.unwrap_or_else(|| RunId("".into())),
        agent: text(row, 1)?,
        chart: text(row, 2)?,
        goal: text(row, 3)?,
        created_ms: count(row, 4)?,
        forked: forked.map(|(run, seq)| (run, Seq(u64::try_from(seq).unwrap_or(0)))),
        seq: Seq(count(row, 7)?),
        state: text(row, 8)?,
        ended: row.get::<_, Option<String>>(9)?.map(Into::into),
        wake: row.get::<_, Option<i64>>(10)?.and_then(|wake| u64::try_from(wake).ok()),
    })
}
