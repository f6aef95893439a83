//! The queue: which runs are ready, and who is next.
//!
//! A run that waits is in no index but that of its id. Those that are ready are found by key, label
//! and rank, so a million runs of one key do not delay the others.

use std::sync::Arc;

use pointsman_runtime::{
    clock::boot_ms,
    store::{Lease, StoreError, Worker},
};
use tokio_postgres::types::Type;

use super::{
    database::{Database, Failure},
    lease::{CLAIMS, Keeper},
    migrate::{self, VERSION},
    read::run_id,
};

/// Makes ready whose time has come, and whose owner is lost after it wrote something. One that
/// wrote nothing leaves the run as it was.
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
/// claims skip them.
const CLAIM_READY: &str = "
WITH k AS (
    SELECT key.key, greatest(key.turns, (SELECT max(turns) FROM pointsman.key) - $1) AS turns
    FROM pointsman.key
    WHERE EXISTS (SELECT FROM pointsman.run r
        WHERE r.status = 'ready' AND r.key = key.key AND r.needs = ANY ($2))
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
    SELECT * FROM next ORDER BY turn, rank, id LIMIT $1
), claimed AS (
    UPDATE pointsman.run r SET
        epoch = r.epoch + 1, owner = $3, expires_ms = (SELECT pointsman.now_ms()) + $4,
        status = 'leased', back = 'ready', claims = r.claims + 1
    FROM chosen
    WHERE r.id = chosen.id AND r.status = 'ready'
        AND (SELECT min_version FROM pointsman.meta) <= $5
    RETURNING r.id, r.epoch, r.expires_ms, chosen.key, chosen.turn, chosen.rank
), counted AS (
    UPDATE pointsman.key SET turns = had.turn
    FROM (SELECT key, max(turn) AS turn FROM claimed GROUP BY key) AS had
    WHERE key.key = had.key
)
SELECT id, epoch, expires_ms FROM claimed ORDER BY turn, rank, id";

pub(super) async fn claim_ready(
    database: &Database,
    keeper: &Arc<Keeper>,
    most: usize,
    worker: &Worker,
) -> Result<Vec<Lease>, StoreError> {
    keeper.settled().await;
    let failed = |failure: Failure| failure.write(None, None);
    let swept = database.write(SWEEP, &[(&CLAIMS, Type::INT4)]).await.map_err(failed)?;
    let has = swept.first().map_or((0, 0), |row| (row.get(0), row.get(1)));
    migrate::check_known(database, has)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX).min(1_000);
    // What needs nothing needs the empty label, which every worker has.
    let labels: Vec<&str> =
        [""].into_iter().chain(worker.labels.iter().map(|label| &**label)).collect();
    let (asked, lasts) = (boot_ms(), keeper.lasts_ms());
    let claimed = database
        .write(
            CLAIM_READY,
            &[
                (&most, Type::INT8),
                (&labels, Type::TEXT_ARRAY),
                (&keeper.owner(), Type::TEXT),
                (&lasts, Type::INT8),
                (&VERSION, Type::INT4),
            ],
        )
        .await
        .map_err(failed)?;
    let mut leases = Vec::with_capacity(claimed.len());
    for row in &claimed {
        let run = run_id(row.get(0))?;
        leases.push(keeper.grant(run, row.get(1), row.get(2), asked));
    }
    Ok(leases)
}
