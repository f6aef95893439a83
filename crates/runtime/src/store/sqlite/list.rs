//! The list of runs: undamaged rows, and the damage.
//!
//! The table `listing` orders the runs, so that a page is read without the rest. It is derived
//! from the runs' rows: when the file is opened, it is compared with them and the manifest, and
//! rebuilt if it differs. If that is impossible, or a page is damaged, all rows are read instead,
//! and the manifest shows whether one is missing.

use pointsman_kernel::id::Seq;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::{
    super::{Cursor, Filter, Health, Page, RunList, RunRow, RunScope, StoreError, row::made},
    RunId, SqliteReader, StoreDamage,
    checksum::{signed, unsigned},
    manifest::Manifest,
    queue,
    read::{self, COLUMNS, checked},
};

impl SqliteReader {
    /// Returns a page of the runs that are whole, and the damage that was met on the way: one row
    /// must not hide all the others.
    pub fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        self.read(|connection| {
            let mut whole = Vec::new();
            if let Some((from, to)) = range(&filter.scope) {
                if rows(connection, "WHERE id >= ?1 AND id < ?2", [from, to], &mut whole).is_ok() {
                    return Ok(filter.page(self.idle_and_placed(connection, filter, whole)?, page));
                }
            } else if self.is_ordered() {
                match self.ordered(connection, filter, page) {
                    Err(StoreError::Damaged { .. }) => {}
                    listed => return listed,
                }
            }
            let (runs, damaged) = all(connection)?;
            let runs = self.idle_and_placed(connection, filter, runs)?;
            Ok(RunList { damaged, ..filter.page(runs, page) })
        })
    }

    /// Returns the runs that have been idle long enough, with their places in the queue.
    fn idle_and_placed(
        &self,
        connection: &Connection,
        filter: &Filter,
        rows: Vec<RunRow>,
    ) -> Result<Vec<RunRow>, StoreError> {
        let mut kept = Vec::with_capacity(rows.len());
        for mut row in rows {
            self.place_in_queue(connection, &mut row)?;
            if is_idle(connection, filter, &row)? {
                kept.push(row);
            }
        }
        Ok(kept)
    }

    /// Reads the page by the table that has the order.
    fn ordered(
        &self,
        connection: &Connection,
        filter: &Filter,
        page: &Page,
    ) -> Result<RunList, StoreError> {
        let fail = |source| StoreError::reading(None, source);
        let mut query = connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS}, made_ms, listing.run FROM listing LEFT JOIN run ON id = listing.run
                 WHERE (made_ms, listing.run) < (?1, ?2) AND made_ms >= ?3
                 ORDER BY made_ms DESC, listing.run DESC"
            ))
            .map_err(fail)?;
        let last = filter.before_ms.map_or(i64::MAX, signed);
        let after = match &page.after {
            Some(Cursor { made_ms, run }) => (signed(*made_ms), run.as_str()).min((last, "")),
            None => (last, ""),
        };
        let from = filter.from_ms.map_or(i64::MIN, signed);
        let mut found = query.query(params![after.0, after.1, from]).map_err(fail)?;
        let mut listed = RunList::default();
        if page.limit == 0 {
            return Ok(listed);
        }
        while let Some(cells) = found.next().map_err(fail)? {
            let made_ms: i64 = cells.get(16).map_err(fail)?;
            let run = cells.get(17).map(RunId::from_row).map_err(fail)?;
            let damaged = || StoreError::damaged(Some(run.clone()), None, StoreDamage::Row);
            let missing = cells.get_ref(0).map_err(fail)? == rusqlite::types::ValueRef::Null;
            let mut row = if missing { Err(damaged()) } else { checked(cells) }?;
            if row.made_ms() != unsigned(made_ms) {
                return Err(damaged());
            }
            self.place_in_queue(connection, &mut row)?;
            if filter.fits(&row) && is_idle(connection, filter, &row)? {
                listed.runs.push(row);
            }
            if listed.runs.len() == page.limit {
                listed.next = listed.runs.last().map(RunRow::cursor);
                break;
            }
        }
        Ok(listed)
    }

    /// Looks at all rows, and returns what is damaged.
    pub fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        self.read(|connection| {
            let (_, mut damaged) = all(connection)?;
            // Runs cannot be claimed in a read-only file, and the previous format has no queue.
            if !self.is_frozen() {
                queue::rows(connection, None, false, |error| {
                    damaged.push(error);
                    Ok(())
                })?;
            }
            Ok(damaged)
        })
    }

    /// Counts what there is, by the manifest.
    pub(super) fn health(&self) -> Result<Health, StoreError> {
        let Manifest { runs, waiting, .. } = self.read(Manifest::read)?;
        Ok(Health { runs: unsigned(runs), messages: unsigned(waiting), unwritable: None })
    }

    /// Returns every run that is whole, the newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let listed = self.list(&Filter::default(), &Page::first(usize::MAX))?;
        Ok(listed.runs)
    }
}

/// Returns the names between which such runs are found. A family is small, and read whole.
fn range(scope: &RunScope) -> Option<(String, String)> {
    match scope {
        RunScope::All | RunScope::Roots => None,
        // The children's names begin with their parent's: `.` is the message after `-`.
        RunScope::Descendants(run) => Some((format!("{run}-"), format!("{run}."))),
        // No name has a message as high as the last one.
        RunScope::Prefix(begin) => Some((begin.to_string(), format!("{begin}\u{7f}"))),
    }
}

/// Returns whether a run has been idle long enough for a filter.
fn is_idle(connection: &Connection, filter: &Filter, row: &RunRow) -> Result<bool, StoreError> {
    if filter.idle_since_ms.is_none() || row.ended.is_some() {
        return Ok(true);
    }
    let last = read::lines(connection, row, Seq(row.seq.0.saturating_sub(1)))?;
    Ok(last.last().is_some_and(|line| filter.is_idle(row, line)))
}

/// Reads rows; fails at the first damaged one.
fn rows(
    connection: &Connection,
    which: &str,
    names: [String; 2],
    runs: &mut Vec<RunRow>,
) -> Result<(), StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM run {which}")).map_err(fail)?;
    let mut found = query.query(names).map_err(fail)?;
    while let Some(cells) = found.next().map_err(fail)? {
        runs.push(checked(cells)?);
    }
    Ok(())
}

/// Reads all rows, and collects the damage.
fn all(connection: &Connection) -> Result<(Vec<RunRow>, Vec<StoreError>), StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM run")).map_err(fail)?;
    let mut found = query.query([]).map_err(fail)?;
    let (mut runs, mut damaged, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match found.next() {
            Ok(Some(row)) => match checked(row) {
                Ok(row) => {
                    ids.push(row.id.clone());
                    runs.push(row);
                }
                Err(error) => {
                    ids.extend(error.run().cloned());
                    damaged.push(damage(error)?);
                }
            },
            Ok(None) => {
                let checked = Manifest::read(connection).and_then(|manifest| manifest.check(&ids));
                if let Err(error) = checked {
                    damaged.push(damage(error)?);
                }
                return Ok((runs, damaged));
            }
            Err(source) => {
                damaged.push(damage(fail(source))?);
                return Ok((runs, damaged));
            }
        }
    }
}

/// Returns an error about damage; any other error ends the reading.
fn damage(error: StoreError) -> Result<StoreError, StoreError> {
    if matches!(error, StoreError::Damaged { .. }) { Ok(error) } else { Err(error) }
}

/// Returns whether the order has every run of the manifest at its place.
pub(super) fn fits(connection: &Connection) -> Result<bool, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query = connection
        .prepare(
            "SELECT made_ms, run, created_ms, parent IS NOT NULL
             FROM listing LEFT JOIN run ON id = run",
        )
        .map_err(fail)?;
    let mut found = query.query([]).map_err(fail)?;
    let mut ids = Vec::new();
    while let Some(cells) = found.next().map_err(fail)? {
        let read = || -> rusqlite::Result<_> {
            let run = RunId::from_row(cells.get(1)?);
            Ok((cells.get(0)?, run, cells.get::<_, Option<i64>>(2)?, cells.get(3)?))
        };
        let (made_ms, run, created_ms, forked): (i64, _, _, bool) = read().map_err(fail)?;
        // A missing or damaged row is reported when its page is read.
        let is_there = |created| made(&run, forked, unsigned(created)) == unsigned(made_ms);
        if !created_ms.is_none_or(is_there) {
            return Ok(false);
        }
        ids.push(run);
    }
    Ok(Manifest::read(connection)?.check(&ids).is_ok())
}

/// Sees to it that the order fits, and returns whether it does.
pub(super) fn settle(connection: &mut Connection) -> bool {
    // Another process may be writing: all that is asked is of one moment.
    let moment = connection.unchecked_transaction();
    if moment.is_ok_and(|moment| fits(&moment).is_ok_and(|fits| fits)) {
        return true;
    }
    let mut again = || -> Result<bool, StoreError> {
        let fail = |source| StoreError::reading(None, source);
        let made =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        made.execute_batch("DELETE FROM listing").map_err(fail)?;
        fill(&made).map_err(fail)?;
        let fits = fits(&made)?;
        if fits {
            made.commit().map_err(fail)?;
        }
        Ok(fits)
    };
    again().unwrap_or(false)
}

/// Puts all runs in order.
fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut query = connection.prepare("SELECT id, created_ms, parent IS NOT NULL FROM run")?;
    let mut found = query.query([])?;
    while let Some(cells) = found.next()? {
        let (run, created) = (RunId::from_row(cells.get(0)?), unsigned(cells.get(1)?));
        enter(connection, &run, made(&run, cells.get(2)?, created))?;
    }
    Ok(())
}

/// Puts a run in its place.
pub(super) fn enter(connection: &Connection, run: &RunId, made_ms: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO listing (made_ms, run) VALUES (?1,?2)")?
        .execute(params![signed(made_ms), run.as_str()])
        .map(drop)
}

/// Returns the place of a run; nothing if its row is not there.
pub(super) fn place(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT created_ms, parent IS NOT NULL FROM run WHERE id = ?1")?
        .query_row(params![run.as_str()], |cells| {
            Ok(made(run, cells.get(1)?, unsigned(cells.get(0)?)))
        })
        .optional()
}

/// Takes a run from its place.
pub(super) fn strike(connection: &Connection, run: &RunId, place: u64) -> rusqlite::Result<()> {
    let struck = connection
        .prepare_cached("DELETE FROM listing WHERE made_ms = ?1 AND run = ?2")?
        .execute(params![signed(place), run.as_str()])?;
    if struck == 0 {
        // Its row was damaged: it is somewhere else.
        connection.execute("DELETE FROM listing WHERE run = ?1", params![run.as_str()])?;
    }
    Ok(())
}
