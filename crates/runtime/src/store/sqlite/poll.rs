//! Polls for writes of other processes, while there are readers of changes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use pointsman_kernel::id::Seq;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::task::{AbortHandle, spawn_blocking};

use super::{
    Change, Feed, RunId, SqliteReader, StoreError,
    checksum::{Checksum, entry},
    manifest::Manifest,
};

/// The one who looks, for everybody who waits. It stops with the last of them.
#[derive(Debug)]
pub(super) struct Poller(AbortHandle);

impl Drop for Poller {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The position of the poller, if it runs, and its connection.
#[derive(Debug, Default)]
pub(super) struct Polled {
    poller: Mutex<Weak<Poller>>,
    place: Arc<PollPlace>,
}

/// The poller's own connection. It is here and not with the poller, so that the store can close it
/// in time.
#[derive(Debug, Default)]
struct PollPlace(Mutex<Option<Cursor>>);

impl PollPlace {
    fn lock(&self) -> MutexGuard<'_, Option<Cursor>> {
        // An aborted poll has at worst seen too little: the next one starts over.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks, and returns the changes. A journal that cannot be read now is looked at again.
    fn look(&self, reader: &SqliteReader) -> Vec<Change> {
        let mut place = self.lock();
        if let Some(cursor) = &mut *place {
            match cursor.look() {
                Ok(changes) => return changes,
                Err(_) => *place = None,
            }
        }
        // The writes during a failed read are unknown.
        *place = Cursor::open(reader).ok();
        vec![Change::Lagged]
    }
}

impl Polled {
    /// Returns the poller, or starts one. It finds every entry and message from now on.
    pub(super) async fn poller(
        &self,
        reader: &Arc<SqliteReader>,
        feed: &Feed,
        every: Duration,
    ) -> Result<Arc<Poller>, StoreError> {
        if let Some(poller) = self.found() {
            return Ok(poller);
        }
        let (place, opened) = (Arc::clone(&self.place), Arc::clone(reader));
        let open = move || {
            *place.lock() = Some(Cursor::open(&opened)?);
            Ok(())
        };
        super::background(open).await?;
        let mut slot = self.poller.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have started one meanwhile: a second one does no harm.
        let looking =
            tokio::spawn(look(Arc::clone(&self.place), Arc::clone(reader), feed.clone(), every));
        let poller = Arc::new(Poller(looking.abort_handle()));
        *slot = Arc::downgrade(&poller);
        Ok(poller)
    }

    /// Closes the poller's connection, after a look that is in progress.
    pub(super) fn close(&self) {
        *self.place.lock() = None;
    }

    fn found(&self) -> Option<Arc<Poller>> {
        let slot = self.poller.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have gone with the threads that it was started on.
        slot.upgrade().filter(|poller| !poller.0.is_finished())
    }
}

/// Looks again and again, and gives hints.
async fn look(place: Arc<PollPlace>, reader: Arc<SqliteReader>, feed: Feed, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let (place, reader) = (Arc::clone(&place), Arc::clone(&reader));
        let changes = spawn_blocking(move || place.look(&reader)).await;
        for change in changes.unwrap_or_default() {
            feed.send(change);
        }
    }
}

/// How far the journal was looked at.
#[derive(Debug)]
struct Cursor {
    connection: Connection,
    /// SQLite's count of what others have committed.
    version: i64,
    /// The last entry that was seen, and its checksum: places of removed entries are used again.
    last: Option<(i64, Checksum)>,
    messages: i64,
    runs: i64,
}

impl Cursor {
    /// Begins at the journal's end.
    fn open(reader: &SqliteReader) -> Result<Self, StoreError> {
        let connection = reader.open_own()?;
        let mut cursor = Self { connection, version: 0, last: None, messages: 0, runs: 0 };
        cursor.look()?;
        Ok(cursor)
    }

    /// Returns the changes since the last look.
    fn look(&mut self) -> Result<Vec<Change>, StoreError> {
        let fail = |source| StoreError::reading(None, source);
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut query| query.query_row(params![], |row| row.get(0)))
            .map_err(fail)?;
        if version == self.version {
            return Ok(Vec::new());
        }
        let moment = self.connection.unchecked_transaction().map_err(fail)?;
        let manifest = Manifest::read(&moment)?;
        let checksum = |place: i64| {
            moment
                .prepare_cached("SELECT tip FROM entry WHERE place = ?1")
                .and_then(|mut query| {
                    query.query_row(params![place], |row| row.get(0).map(Checksum)).optional()
                })
                .map_err(fail)
        };
        let kept = match self.last {
            Some((place, was)) => checksum(place)? == Some(was),
            None => true,
        };
        let place = self.last.map_or(0, |(place, _)| place);
        let (mut changes, mut created, mut last) = (Vec::new(), 0_i64, place);
        if kept {
            let mut entries: BTreeMap<String, i64> = BTreeMap::new();
            let mut query = moment
                .prepare_cached("SELECT place, run, seq FROM entry WHERE place > ?1 ORDER BY place")
                .map_err(fail)?;
            let mut rows = query.query(params![place]).map_err(fail)?;
            while let Some(row) = rows.next().map_err(fail)? {
                let read = || Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?));
                let (place, run, seq) = read().map_err(fail)?;
                last = place;
                created = created.saturating_add(i64::from(seq == 1));
                entries.insert(run, seq);
            }
            changes.extend(entries.into_iter().map(|(run, seq)| {
                let (run, seq): (_, Seq) = (RunId::from_row(run), entry(seq));
                Change::Entry { run, seq }
            }));
        } else {
            last = moment
                .query_row("SELECT max(place) FROM entry", [], |row| row.get(0))
                .map(|place: Option<i64>| place.unwrap_or(0))
                .map_err(fail)?;
        }
        // Each run that was made has a first entry among the new ones; any other difference is
        // made by runs that were removed.
        if !kept || self.runs.saturating_add(created) != manifest.runs {
            changes.push(Change::Lagged);
        }
        let mut query =
            moment.prepare_cached("SELECT DISTINCT run FROM letter WHERE id > ?1").map_err(fail)?;
        let posted = query
            .query_map(params![self.messages], |row| row.get(0).map(RunId::from_row))
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(fail)?;
        changes.extend(posted.into_iter().map(|run| Change::Message { run }));
        let last = if last > 0 { checksum(last)?.map(|checksum| (last, checksum)) } else { None };
        drop(query);
        drop(moment);
        (self.version, self.last, self.messages, self.runs) =
            (version, last, manifest.messages, manifest.runs);
        Ok(changes)
    }
}
