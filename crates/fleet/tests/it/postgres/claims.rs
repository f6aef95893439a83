//! Claims read few rows, whatever the server's statistics say.

use std::{sync::Arc, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_runtime::store::{ClaimLimits, QueueCounts, Store as _, Worker};
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use super::Fresh;

/// Runs that become ready at once.
const BURST: i64 = 20_000;
/// The server counts what was read some time after it was read.
const LIMIT: Duration = Duration::from_mins(2);

async fn fill(client: &Client, status: &str) {
    let rows = format!(
        "INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms,
            fixed_checksum, seq, link, state, prompts, checksum, epoch, owner, expires_ms, wrote,
            key, rank, needs, status, back, claims, mail)
        SELECT '{status}-' || n, 'chat', 'chat', '', '', n, n, '', 1, '', 'waiting', 0, '', 0, '', 0,
            0, 'key' || n % 10, n, '', '{status}', 'ready', 0, 0
        FROM generate_series(1, {BURST}) AS n;
        INSERT INTO pointsman.key SELECT 'key' || n, 0 FROM generate_series(0, 9) AS n
        ON CONFLICT DO NOTHING"
    );
    client.batch_execute(&rows).await.expect("the runs are made");
}

/// Returns how many rows of runs and of their indexes were read.
async fn rows_read(client: &Client) -> i64 {
    let sql =
        "SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'run')::bigint
        + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'run')";
    client.query_one(sql, &[]).await.expect("the server counts").get(0)
}

/// Claims some runs of a burst that came after the server had last looked at its tables.
async fn claim_from_burst(limits: ClaimLimits) {
    let fresh = Fresh::alone().await;
    let client = fresh.client().await;
    fill(&client, "waiting").await;
    client.batch_execute("ANALYZE pointsman.run; ANALYZE pointsman.key").await.expect("it looks");
    fill(&client, "ready").await;
    let store = fresh.open(PostgresOptions::default()).await;
    let before = rows_read(&client).await;
    let worker = Worker { limits, ..Worker::default() };
    let leases = store.claim_ready(16, &worker).await.expect("the queue can be read");
    assert_eq!(leases.len(), 16);
    // The server reports a connection's figures when it is idle or ends.
    drop((leases, store));
    let counted = async {
        loop {
            let read = rows_read(&client).await - before;
            // Each run is read at least when it is chosen and when it is claimed.
            if read >= 32 {
                return read;
            }
            sleep(Duration::from_millis(200)).await;
        }
    };
    let read = timeout(LIMIT, counted).await.expect("the server counts what it reads");
    assert!(read < BURST / 2, "a claim of 16 runs read {read} rows");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_burst_of_ready_runs_does_not_slow_claims() {
    claim_from_burst(ClaimLimits::default()).await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_burst_does_not_slow_claims_with_limits() {
    claim_from_burst(ClaimLimits { each_key: Some(100), ..ClaimLimits::default() }).await;
}

/// Claims do not wait for each other, so one that finds the only key locked looks again.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn claim_that_meets_another_is_repeated() {
    let fresh = Fresh::new().await;
    let (other, watcher) = (fresh.client().await, fresh.client().await);
    let store = Arc::new(fresh.open(PostgresOptions::default()).await);
    let pid = other.query_one("SELECT pg_backend_pid()", &[]).await.expect("it has a number");
    let pid: i32 = pid.get(0);
    fill(&other, "ready").await;
    other.batch_execute("DELETE FROM pointsman.run WHERE key <> 'key1'").await.expect("one key");
    let limited = ClaimLimits { each_key: Some(100), ..ClaimLimits::default() };
    for limits in [ClaimLimits::default(), limited] {
        let worker = Worker { limits, ..Worker::default() };
        // On a slow machine the key may be locked for longer than a claim is repeated.
        let mut rounds = 0..20;
        let claimed = loop {
            assert!(rounds.next().is_some(), "claims that meet others come to nothing");
            let lock = "BEGIN; SELECT FROM pointsman.key FOR UPDATE";
            other.batch_execute(lock).await.expect("no claim is in progress");
            let (claims, worker) = (Arc::clone(&store), worker.clone());
            let claim = tokio::spawn(async move { claims.claim_ready(1, &worker).await });
            let tried = "SELECT EXISTS (SELECT FROM pg_stat_activity a, pg_stat_activity locks
                WHERE a.datname = current_database() AND a.application_name = 'pointsman'
                AND a.state = 'idle' AND a.query LIKE '%FROM pointsman.key %'
                AND locks.pid = $1 AND a.query_start > locks.xact_start)";
            let is_tried = async {
                while !watcher
                    .query_one(tried, &[&pid])
                    .await
                    .expect("it is asked")
                    .get::<_, bool>(0)
                {
                    sleep(Duration::from_millis(1)).await;
                }
            };
            timeout(LIMIT, is_tried).await.expect("it is tried");
            other.batch_execute("COMMIT").await.expect("the key is free");
            let claimed = claim.await.expect("it ends").expect("the queue can be read");
            if !claimed.is_empty() {
                break claimed;
            }
        };
        assert_eq!(claimed.len(), 1);
        drop(claimed);
        store.settle().await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn counts_know_since_when_runs_are_ready() {
    let fresh = Fresh::new().await;
    let store = fresh.open(PostgresOptions::default()).await;
    assert_eq!(store.queue_counts().await.expect("it is counted"), QueueCounts::default());
    // Times are in seconds from now. `old` has waited longest: the others came later, or have waited
    // since their time came or their owner was lost.
    let rows = "INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms,
            fixed_checksum, seq, link, state, prompts, checksum, epoch, owner, expires_ms, wrote,
            key, rank, needs, status, back, wake_at, claims, mail)
        SELECT id, 'chat', 'chat', '', '', 0, 0, '', 1, '', 'waiting', 0, '', 0, '',
            pointsman.now_ms() + expires * 1000, 0, 'key', pointsman.now_ms() + rank * 1000, '',
            status, 'ready', pointsman.now_ms() + wake * 1000, 0, 0
        FROM (VALUES ('new', 'ready', -120, NULL, -900), ('old', 'ready', -300, -900, -900),
            ('early', 'ready', -100, 600, -900), ('woken', 'ready', -900, -60, -900),
            ('due', 'timed', -900, -30, -900), ('later', 'timed', -900, 600, -900),
            ('lost', 'leased', -900, NULL, -10), ('driven', 'leased', -900, NULL, 600),
            ('aside', 'quarantined', -900, NULL, -900), ('waits', 'waiting', -900, NULL, -900))
            AS t (id, status, rank, wake, expires)";
    fresh.client().await.batch_execute(rows).await.expect("the runs are made");
    let QueueCounts { ready, leased, quarantined, lag } =
        store.queue_counts().await.expect("it is counted");
    assert_eq!((ready, leased, quarantined, lag.as_secs() / 60), (6, 1, 1, 5));
}
