//! A claim that the server undoes because of a deadlock is repeated.

use std::{sync::Arc, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_runtime::store::{Release, Store as _, Worker};
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use super::Fresh;

const LIMIT: Duration = Duration::from_mins(2);

/// Makes two runs ready.
async fn fill(client: &Client) {
    let rows = "
        INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms,
            fixed_checksum, seq, link, state, prompts, checksum, epoch, owner, expires_ms, wrote,
            key, rank, needs, status, back, claims, mail)
        SELECT id, 'chat', 'chat', '', '', 1, 1, '', 1, '', 'waiting', 0, '', 0, '', 0,
            0, 'key', 1, '', 'ready', 'ready', 0, 0
        FROM unnest(ARRAY['one', 'two']) AS id;
        INSERT INTO pointsman.key VALUES ('key', 0)";
    client.batch_execute(rows).await.expect("the runs are made");
}

/// Waits until the server counts so many, by this query.
async fn counted(client: &Client, sql: &str) {
    let count = async {
        while client.query_one(sql, &[]).await.expect("the server counts").get::<_, i64>(0) == 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, count).await.unwrap_or_else(|_| panic!("never more than none: {sql}"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn claim_that_meets_a_deadlock_is_repeated() {
    let fresh = Fresh::new().await;
    let (other, watcher) = (fresh.client().await, fresh.client().await);
    fill(&other).await;
    let store = Arc::new(fresh.open(PostgresOptions::default()).await);
    // One of the two orders is not the claim's own. Its side looks for a deadlock first, unless this
    // machine is slow: then the other side is undone, and the next round shows it.
    for held in [["one", "two"], ["two", "one"], ["one", "two"], ["two", "one"]] {
        let [first, second] =
            held.map(|id| format!("SELECT FROM pointsman.run WHERE id = '{id}' FOR UPDATE"));
        let first = format!("BEGIN; SET LOCAL deadlock_timeout = '10s'; {first}");
        other.batch_execute(&first).await.expect("the run is free");
        let claims = Arc::clone(&store);
        let claim = tokio::spawn(async move { claims.claim_ready(2, &Worker::default()).await });
        let waits = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        counted(&watcher, waits).await;
        let ended = other.batch_execute(&format!("{second}; COMMIT")).await;
        if ended.is_err() {
            other.batch_execute("ROLLBACK").await.expect("a broken transaction can be left");
        }
        let leases = claim.await.expect("the claim ends").expect("a deadlock is no error");
        assert_eq!(leases.len(), 2);
        for lease in leases {
            store.release(lease, Release::Parked { read: None }).await.expect("it is parked");
        }
        let again = "UPDATE pointsman.run SET status = 'ready'";
        other.batch_execute(again).await.expect("the runs are free");
    }
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    counted(&watcher, deadlocks).await;
}
