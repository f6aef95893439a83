//! Finds the changes of other processes while this one has subscribers.
//!
//! The cursor is a transaction's number, and it never passes one that is still open: an entry that
//! is committed late is found all the same. A number from a sequence would have been passed.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    plant,
    store::{Change, Changes, Feed, StoreError},
};
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::types::Type;

use super::{
    checksum::unsigned,
    database::{Database, Failure},
    read::run_id,
};

const NOW: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";

/// Returns the changes committed since the cursor, and the next cursor.
const SINCE: &str = "
WITH until AS MATERIALIZED (
    SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid
)
SELECT 'until', (SELECT xid::text FROM until), 0::bigint
UNION ALL SELECT 'entry', run, max(seq) FROM pointsman.entry
    WHERE xid >= $1::text::xid8 AND xid < (SELECT xid FROM until) GROUP BY run
UNION ALL SELECT 'message', run, 0 FROM pointsman.message
    WHERE xid >= $1::text::xid8 AND xid < (SELECT xid FROM until) GROUP BY run
UNION ALL SELECT 'removal', '', 0 FROM pointsman.removal
    WHERE xid >= $1::text::xid8 AND xid < (SELECT xid FROM until)";

/// Polls for changes while a subscriber holds its guard.
#[derive(Debug, Default)]
pub(super) struct Poller(Mutex<Weak<Guard>>);

#[derive(Debug)]
struct Guard;

impl Poller {
    /// Returns what changes from now on.
    pub(super) async fn subscribe(
        &self,
        database: &Database,
        feed: &Feed,
        every: Duration,
    ) -> Result<Changes, StoreError> {
        // Every subscriber has its own cursor, and the first one starts the polling. Both of two
        // subscribers learn of a change that is found between their cursors.
        let failed = |failure: Failure| failure.read(None);
        let now = database.read(NOW, &[]).await.map_err(failed)?;
        let cursor: String = now.first().map(|row| row.get(0)).unwrap_or_default();
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = running.upgrade() {
            return Ok(feed.subscribe(guard));
        }
        let guard = Arc::new(Guard);
        *running = Arc::downgrade(&guard);
        let changes = feed.subscribe(Arc::clone(&guard));
        let waited_for = Arc::downgrade(&guard);
        tokio::spawn(poll(database.clone(), feed.clone(), every, cursor, waited_for));
        Ok(changes)
    }
}

async fn poll(
    database: Database,
    feed: Feed,
    every: Duration,
    mut cursor: String,
    waited_for: Weak<Guard>,
) {
    let mut ticks = interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lost = false;
    loop {
        ticks.tick().await;
        if waited_for.strong_count() == 0 {
            return;
        }
        match look(&database, &feed, &cursor).await {
            Ok(next) => {
                if std::mem::take(&mut lost) {
                    feed.send(Change::Lagged);
                }
                cursor = next;
            }
            Err(failure) => {
                // After a failover another server answers, so subscribers must read everything again.
                lost = true;
                tracing::warn!(%failure, "changes cannot be read");
            }
        }
    }
}

async fn look(database: &Database, feed: &Feed, cursor: &str) -> Result<String, StoreError> {
    // A lost connection must be seen: it is not asked again behind the caller's back.
    let database = database.once();
    // A serial number would pass transactions that are still open.
    let serial = plant::is("serial-cursor").then(|| SINCE.replace("_xmin", "_xmax"));
    let since = serial.as_deref().unwrap_or(SINCE);
    let found = database.write(since, &[(&cursor, Type::TEXT)]).await;
    let found = found.map_err(|failure| failure.read(None))?;
    let mut next = cursor.to_owned();
    for row in &found {
        let (kind, what): (&str, &str) = (row.get(0), row.get(1));
        match kind {
            "until" => what.clone_into(&mut next),
            "entry" => {
                let seq = Seq(unsigned(row.get(2)));
                feed.send(Change::Entry { run: run_id(what)?, seq });
            }
            "message" => feed.send(Change::Message { run: run_id(what)? }),
            _ => feed.send(Change::Lagged),
        }
    }
    Ok(next)
}
