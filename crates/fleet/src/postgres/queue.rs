//! The queue: which runs are ready, and which is next.
//!
//! A waiting run is in no index but that of its id. Ready runs are found by key, label and rank,
//! so a million runs of one key do not delay the others.

use std::{sync::Arc, time::Duration};

use pointsman_runtime::{
    clock::boot_ms,
    store::{Lease, QueueOptions, RunId, StoreError, Worker, check_queued},
};
use tokio::time::sleep;
use tokio_postgres::types::{ToSql, Type};

use super::{
    checksum::{self, Place, signed, unsigned},
    database::{Database, Failure, Params, jittered},
    lease::{CLAIMS, Keeper},
    limits::{CHOOSE_LIMITED, LimitColumns},
    migrate::{self, VERSION},
    read::{ROW, run_id, run_row},
};

/// Makes runs ready whose time has come, or whose owner was lost after it wrote something. An
/// owner that wrote nothing leaves the run unchanged.
const SWEEP: &str = "
WITH due AS (
    SELECT id FROM pointsman.run
    WHERE status = 'timed' AND wake_at <= (SELECT pointsman.now_ms())
    ORDER BY wake_at LIMIT 500 FOR UPDATE SKIP LOCKED
), lost AS (
    SELECT id FROM pointsman.run
    WHERE status = 'leased' AND expires_ms <= (SELECT pointsman.now_ms())
    LIMIT 500 FOR UPDATE SKIP LOCKED
), swept AS (
    UPDATE pointsman.run r SET status = CASE
        WHEN r.status = 'timed' THEN 'ready'
        WHEN r.claims >= $1 THEN 'quarantined'
        WHEN r.wrote = r.epoch THEN 'ready'
        ELSE r.back END
    WHERE id IN (SELECT id FROM due UNION ALL SELECT id FROM lost)
)
SELECT version, min_version FROM pointsman.meta";

/// Keys take turns: the one that has had the least comes first, and within a turn the run that was
/// queued first. An idle key saves up one round at most. A claim locks its keys, and concurrent
/// claims skip them, so it finds a few more than it can use. The server looks at one run of each key
/// (`LIMIT 1`), even if its statistics are of a time when no run was ready.
const CHOOSE_READY: &str = "
WITH found AS MATERIALIZED (
    SELECT key.key FROM pointsman.key CROSS JOIN LATERAL (SELECT FROM pointsman.run r
        WHERE r.status = 'ready' AND r.key = key.key AND r.needs = ANY ($2) LIMIT 1) AS first
    ORDER BY key.turns, key.key LIMIT 2 * $1 + 16
), k AS (
    SELECT key.key, greatest(key.turns, (SELECT max(turns) FROM pointsman.key) - $1) AS turns
    FROM found JOIN pointsman.key ON key.key = found.key
    ORDER BY key.turns, key.key LIMIT $1 FOR UPDATE OF key SKIP LOCKED
), next AS (
    SELECT r.id, k.key, r.rank,
        k.turns + row_number() OVER (PARTITION BY k.key ORDER BY r.rank, r.id) AS turn
    FROM k CROSS JOIN LATERAL unnest($2) AS label CROSS JOIN LATERAL (
        SELECT run.id, run.rank FROM pointsman.run
        WHERE run.status = 'ready' AND run.key = k.key AND run.needs = label
        ORDER BY run.rank, run.id LIMIT $1
    ) AS r
), chosen AS (
    SELECT * FROM next ORDER BY turn, rank, id LIMIT $1";

/// Claims the chosen runs, whichever statement chose them. They are found by their ids: the index of
/// ready runs cannot serve the test of their status. `met` says whether another claim was in the way:
/// it had locked a key, or has claimed a chosen run in the meantime.
const CLAIM_CHOSEN: &str = "
), claimed AS (
    UPDATE pointsman.run r SET
        epoch = r.epoch + 1, owner = $3, expires_ms = (SELECT pointsman.now_ms()) + $4,
        status = 'leased', back = 'ready', claims = r.claims + 1
    FROM chosen
    WHERE r.id = chosen.id AND r.status || '' = 'ready'
        AND (SELECT min_version FROM pointsman.meta) <= $5
    RETURNING r.id, r.epoch, r.expires_ms, r.mail, chosen.key, chosen.turn, chosen.rank
), counted AS (
    UPDATE pointsman.key SET turns = had.turn
    FROM (SELECT key, max(turn) AS turn FROM claimed GROUP BY key) AS had
    WHERE key.key = had.key
)
SELECT id, epoch, expires_ms, mail, (SELECT count(*) FROM claimed) < (SELECT count(*) FROM chosen)
    OR (SELECT count(*) FROM k) < least($1, (SELECT count(*) FROM found)) AS met
FROM (VALUES (true)) AS always (one) LEFT JOIN claimed ON true ORDER BY turn, rank, id";

/// How often a claim is made that got nothing because others were in the way, and the first pause
/// between two: it doubles each time. A claim takes milliseconds, but the next poll is far away.
const CLAIM_TRIES: u32 = 5;
const CLAIM_PAUSE: Duration = Duration::from_millis(20);

/// A run is queued only as it was when its checksum was made. A run with an owner keeps it; if that
/// owner leaves it without another entry, it is ready at its time.
const ENQUEUE: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::text[],
        $7::bigint[]) AS t (run, was, fixed, key, rank, needs, at)
), queued AS (
    UPDATE pointsman.run r SET
        fixed_checksum = i.fixed, key = i.key, rank = i.rank, needs = i.needs, claims = 0,
        fault = NULL, wake_at = i.at, wrote = 0,
        back = CASE WHEN i.at > (SELECT pointsman.now_ms()) THEN 'timed' ELSE 'ready' END,
        status = CASE WHEN r.expires_ms > (SELECT pointsman.now_ms()) THEN 'leased'
            WHEN i.at > (SELECT pointsman.now_ms()) THEN 'timed' ELSE 'ready' END
    FROM i WHERE r.id = i.run AND r.fixed_checksum = i.was AND r.ended IS NULL
    RETURNING r.id, r.key
), keys AS (
    INSERT INTO pointsman.key (key, turns) SELECT DISTINCT key, 0 FROM queued
    ON CONFLICT DO NOTHING
)
SELECT id FROM queued";

/// Whether a run is ready for a worker with these labels, or has an owner. Each question has its own
/// index, in which no waiting run is.
const WORK: &str = "
SELECT EXISTS (SELECT FROM pointsman.run WHERE status = 'ready' AND needs = ANY ($1))
    OR EXISTS (SELECT FROM pointsman.run WHERE status = 'leased' AND needs = ANY ($1))
    OR EXISTS (SELECT FROM pointsman.run WHERE status = 'timed'
        AND wake_at <= (SELECT pointsman.now_ms()) AND needs = ANY ($1))";

/// How many runs one statement queues.
const QUEUED: usize = 500;

impl Database {
    pub(super) async fn enqueue(
        &self,
        runs: &[(RunId, QueueOptions)],
    ) -> Result<Vec<RunId>, StoreError> {
        check_queued(runs)?;
        let mut queued = Vec::with_capacity(runs.len());
        for some in runs.chunks(QUEUED) {
            queued.extend(self.enqueue_some(some).await?);
        }
        Ok(queued)
    }

    async fn enqueue_some(&self, runs: &[(RunId, QueueOptions)]) -> Result<Vec<RunId>, StoreError> {
        let names: Vec<&str> = runs.iter().map(|(run, _)| run.as_str()).collect();
        let sql = format!(
            "SELECT {ROW}, pointsman.now_ms() AS now FROM pointsman.run WHERE id = ANY ($1)"
        );
        let found = self.read(&sql, &[(&names, Type::TEXT_ARRAY)]).await;
        let found = found.map_err(|failure| failure.read(None))?;
        let (mut ids, mut was, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut keys, mut ranks) = (Vec::new(), Vec::new());
        let (mut needs, mut times) = (Vec::new(), Vec::new());
        for cells in &found {
            let row = run_row(cells)?;
            let options = runs.iter().find(|(run, _)| *run == row.id);
            let Some((_, queue)) = options.filter(|_| row.ended.is_none()) else { continue };
            let place = Place {
                request: cells.get("request"),
                key: Some(&queue.key),
                rank: queue.rank(unsigned(cells.get("now"))),
                needs: queue.needs.as_deref().unwrap_or_default(),
            };
            was.push(cells.get::<_, Vec<u8>>("fixed_checksum"));
            fixed.push(checksum::fixed(&row, &place).to_vec());
            keys.push(&*queue.key);
            ranks.push(place.rank);
            needs.push(place.needs);
            times.push(signed(queue.not_before_ms));
            ids.push(row.id.to_string());
        }
        let params: Params<'_> = &[
            (&ids, Type::TEXT_ARRAY),
            (&was, Type::BYTEA_ARRAY),
            (&fixed, Type::BYTEA_ARRAY),
            (&keys, Type::TEXT_ARRAY),
            (&ranks, Type::INT8_ARRAY),
            (&needs, Type::TEXT_ARRAY),
            (&times, Type::INT8_ARRAY),
        ];
        let queued = self.write(ENQUEUE, params).await;
        let queued = queued.map_err(|failure| failure.write(None, None))?;
        queued.iter().map(|row| run_id(row.get(0))).collect()
    }

    pub(super) async fn has_work(&self, worker: &Worker) -> Result<bool, StoreError> {
        let labels = labels(worker);
        let found = self.read(WORK, &[(&labels, Type::TEXT_ARRAY)]).await;
        let found = found.map_err(|failure| failure.read(None))?;
        Ok(found.first().is_some_and(|row| row.get(0)))
    }

    /// Notes why a worker could not drive a run.
    pub(super) async fn fault(&self, run: &RunId, why: &str) -> Result<(), StoreError> {
        let sql = "UPDATE pointsman.run SET fault = $2 WHERE id = $1";
        // The server keeps no NUL character.
        let why = why.replace('\0', "\u{fffd}");
        let noted = self.repeat(sql, &[(&run.as_str(), Type::TEXT), (&why, Type::TEXT)]).await;
        noted.map(drop).map_err(|failure| failure.write(Some(run), None))
    }
}

/// Returns the labels of a worker. What needs nothing needs the empty one, which every worker has.
fn labels(worker: &Worker) -> Vec<&str> {
    [""].into_iter().chain(worker.labels.iter().map(|label| &**label)).collect()
}

pub(super) async fn claim_ready(
    database: &Database,
    keeper: &Arc<Keeper>,
    most: usize,
    worker: &Worker,
) -> Result<Vec<Lease>, StoreError> {
    keeper.settled().await;
    // A worker looks again soon, and must notice meanwhile that it is to stop.
    let database = &database.once();
    let failed = |failure: Failure| failure.write(None, None);
    let swept = database.write(SWEEP, &[(&CLAIMS, Type::INT4)]).await.map_err(failed)?;
    let has = swept.first().map_or((0, 0), |row| (row.get(0), row.get(1)));
    migrate::check_known(database, has)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX).min(1_000);
    let labels = labels(worker);
    let lasts = keeper.lasts_ms();
    let owner = keeper.owner();
    let limits = LimitColumns::of(&worker.limits);
    let mut params: Vec<(&(dyn ToSql + Sync), Type)> = vec![
        (&most, Type::INT8),
        (&labels, Type::TEXT_ARRAY),
        (&owner, Type::TEXT),
        (&lasts, Type::INT8),
        (&VERSION, Type::INT4),
    ];
    let choose = if worker.limits.is_empty() {
        CHOOSE_READY
    } else {
        params.extend(limits.params());
        CHOOSE_LIMITED
    };
    let claim = format!("{choose}{CLAIM_CHOSEN}");
    let (mut pause, mut tries) = (CLAIM_PAUSE, 1);
    loop {
        let asked = boot_ms();
        let claimed = database.write(&claim, &params).await.map_err(failed)?;
        let mut leases = Vec::with_capacity(claimed.len());
        for row in &claimed {
            let Some(run) = row.get::<_, Option<&str>>(0) else { continue };
            let granted = (row.get(1), row.get(2), row.get(3));
            leases.push(keeper.grant(run_id(run)?, granted, asked));
        }
        let met = claimed.first().is_some_and(|row| row.get(4));
        if !leases.is_empty() || !met || tries >= CLAIM_TRIES {
            return Ok(leases);
        }
        sleep(jittered(pause)).await;
        (pause, tries) = (pause.saturating_mul(2), tries + 1);
    }
}
