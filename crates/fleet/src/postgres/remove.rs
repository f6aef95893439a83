//! Removes runs with all that is theirs, and keys without runs.

use pointsman_runtime::store::{
    Filter, Page, PruneOptions, PruneReport, RemovedRuns, RunId, StoreError,
};
use tokio::time::timeout;
use tokio_postgres::{
    Client, Error as SqlError,
    types::{ToSql, Type},
};

use super::{
    checksum::unsigned,
    database::{Database, Failure, is_last_word, told},
    read::run_id,
};

/// Locks the runs first, so that the next statement sees all entries committed before.
const LOCK: &str = "
SELECT id, expires_ms > (SELECT pointsman.now_ms()) FROM pointsman.run
WHERE id = $1 OR ($2 AND starts_with(id, $1 || '-')) ORDER BY id FOR UPDATE";

const REMOVE: &str = "
WITH gone AS (
    DELETE FROM pointsman.run WHERE id = ANY ($1)
), entries AS (
    DELETE FROM pointsman.entry WHERE run = ANY ($1)
), messages AS (
    DELETE FROM pointsman.message WHERE run = ANY ($1)
), snapshots AS (
    DELETE FROM pointsman.snapshot WHERE run = ANY ($1)
), prompts AS (
    DELETE FROM pointsman.prompt WHERE run = ANY ($1)
), parts AS (
    DELETE FROM pointsman.part WHERE run = ANY ($1) RETURNING 1
), blobs AS (
    DELETE FROM pointsman.blob WHERE run = ANY ($1) RETURNING 1
), old AS (
    DELETE FROM pointsman.removal WHERE at_ms < (SELECT pointsman.now_ms()) - 3600000
), new AS (
    INSERT INTO pointsman.removal (at_ms) SELECT pointsman.now_ms()
)
SELECT (SELECT count(*) FROM parts) + (SELECT count(*) FROM blobs)";

/// Keys of which nothing is in the queue. Every row of a run is read for that: waiting runs are in no
/// index by key.
const IDLE_KEYS: &str = "
SELECT key.key FROM pointsman.key WHERE NOT EXISTS (
    SELECT FROM pointsman.run r WHERE r.key = key.key AND r.status <> 'ended')";

/// Every statement that puts a run into the queue also writes to the table of keys. So once this lock is
/// held, none is in progress and none begins, and the next statement sees the runs of all. Appends do
/// not touch the table.
const LOCK_KEYS: &str = "
SET LOCAL lock_timeout = '1s'; LOCK TABLE pointsman.key IN SHARE ROW EXCLUSIVE MODE";

const REMOVE_KEYS: &str = "
DELETE FROM pointsman.key WHERE key.key = ANY ($1) AND NOT EXISTS (
    SELECT FROM pointsman.run r WHERE r.key = key.key AND r.key = ANY ($1) AND r.status <> 'ended')";

/// What became of a run that was to go.
enum Gone {
    /// It was removed, with its children and this many artifacts.
    Removed(Vec<RunId>, u64),
    /// One of them has an owner.
    Held,
    /// It was not there.
    Missing,
}

impl Database {
    async fn take_away(
        &self,
        run: &RunId,
        with_children: bool,
        dry_run: bool,
    ) -> Result<Gone, StoreError> {
        let failed = |failure: Failure| failure.write(Some(run), None);
        let mut connection = self.connection().await.map_err(failed)?;
        let gone = take_away(&mut connection, run, with_children, dry_run);
        match timeout(self.deadline(), gone).await {
            Ok(gone) => gone,
            Err(_) => Err(failed(self.no_answer(connection))),
        }
    }

    /// Removes the keys of which nothing is in the queue: each claim looks at every key. A run that is
    /// queued meanwhile has its key afterwards.
    async fn remove_keys(&self) -> Result<(), Failure> {
        let idle = self.read(IDLE_KEYS, &[]).await?;
        let keys: Vec<&str> = idle.iter().map(|row| row.get(0)).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection().await?;
        match timeout(self.deadline(), remove_keys(&mut connection, &keys)).await {
            Ok(removed) => removed.map_err(|error| Failure::Refused(told(&error).into())),
            Err(_) => Err(self.no_answer(connection)),
        }
    }

    pub(super) async fn remove(&self, run: &RunId) -> Result<Option<RemovedRuns>, StoreError> {
        match self.take_away(run, true, false).await? {
            Gone::Removed(runs, _) => Ok(Some(RemovedRuns { runs, unswept: false })),
            Gone::Held => Ok(None),
            Gone::Missing => Err(StoreError::NoSuchRun { run: run.clone() }),
        }
    }

    pub(super) async fn prune(&self, prune: PruneOptions) -> Result<PruneReport, StoreError> {
        let all = self.list(&Filter::default(), &Page::first(usize::MAX)).await?;
        let damaged = all.damaged.iter().filter_map(|error| error.run().cloned()).collect();
        let mut report = PruneReport { damaged, ..PruneReport::default() };
        for row in prune.pick(all.runs) {
            match self.take_away(&row.id, false, prune.dry_run).await? {
                Gone::Removed(_, artifacts) => {
                    report.artifacts += artifacts;
                    report.runs.push(row);
                }
                Gone::Held => report.held.push(row.id),
                Gone::Missing => {}
            }
        }
        if !prune.dry_run
            && let Err(failure) = self.remove_keys().await
        {
            tracing::warn!(?failure, "keys without runs could not be removed");
        }
        Ok(report)
    }
}

async fn take_away(
    client: &mut Client,
    run: &RunId,
    with_children: bool,
    dry_run: bool,
) -> Result<Gone, StoreError> {
    let failed = |error: SqlError| {
        let definite = error.as_db_error().is_some_and(|it| !is_last_word(it.severity()));
        let failure = if definite {
            Failure::Refused(told(&error).into())
        } else {
            Failure::Unknown(told(&error))
        };
        failure.write(Some(run), None)
    };
    let transaction = client.transaction().await.map_err(failed)?;
    let family: [(&(dyn ToSql + Sync), Type); 2] =
        [(&run.as_str(), Type::TEXT), (&with_children, Type::BOOL)];
    let family = transaction.query_typed(LOCK, &family).await.map_err(failed)?;
    if family.is_empty() {
        return Ok(Gone::Missing);
    }
    if family.iter().any(|row| row.get(1)) {
        return Ok(Gone::Held);
    }
    let runs: Vec<RunId> = family.iter().map(|row| run_id(row.get(0))).collect::<Result<_, _>>()?;
    if dry_run {
        return Ok(Gone::Removed(runs, 0));
    }
    let names: Vec<&str> = runs.iter().map(RunId::as_str).collect();
    let names: [(&(dyn ToSql + Sync), Type); 1] = [(&names, Type::TEXT_ARRAY)];
    let removed = transaction.query_typed(REMOVE, &names).await.map_err(failed)?;
    let artifacts = removed.first().map_or(0, |row| row.get::<_, i64>(0));
    transaction.commit().await.map_err(failed)?;
    Ok(Gone::Removed(runs, unsigned(artifacts)))
}

async fn remove_keys(client: &mut Client, keys: &[&str]) -> Result<(), SqlError> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK_KEYS).await?;
    transaction.query_typed(REMOVE_KEYS, &[(&keys, Type::TEXT_ARRAY)]).await?;
    transaction.commit().await
}
