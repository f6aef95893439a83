//! Removals: within a time limit, and with the keys that no run needs any more.

use std::{sync::Arc, time::Duration};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_kernel::chart::Disposition;
use pointsman_runtime::store::{
    NewRun, PruneOptions, QueueOptions, Release, RunId, Store, StoreError, Worker,
};
use pointsman_testing::script::{Script, new_run};
use tokio::time::timeout;
use tokio_postgres::Client;

use super::Fresh;

const LIMIT: Duration = Duration::from_mins(1);

/// Queues a run under a key, and ends it or leaves it ready.
async fn queue(store: &PostgresStore, name: &str, key: &str, ends: bool) -> RunId {
    let queue = Some(QueueOptions { key: key.into(), ..QueueOptions::default() });
    let mut script = Script::new(name);
    let lease = store.create(script.next("it begins").into(), NewRun { queue, ..new_run(5) }).await;
    let lease = lease.expect("it begins");
    if ends {
        let mut last = script.next("ends");
        last.ended = Some(Disposition::Succeeded);
        store.append(&lease, last.into()).await.expect("it ends");
    }
    store.release(lease, Release::Ready).await.expect("it is given up");
    script.run
}

async fn keys(client: &Client) -> Vec<String> {
    let rows = client.query("SELECT key FROM pointsman.key ORDER BY key", &[]).await;
    rows.expect("they are read").iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn pruning_removes_the_keys_of_which_nothing_is_in_the_queue() {
    let fresh = Fresh::new().await;
    let (store, client) = (fresh.open(PostgresOptions::default()).await, fresh.client().await);
    queue(&store, "past", "past", true).await;
    queue(&store, "present", "present", false).await;
    assert_eq!(keys(&client).await, ["past", "present"]);
    let dry_run = PruneOptions { dry_run: true, ..PruneOptions::default() };
    store.prune(dry_run).await.expect("it is asked");
    assert_eq!(keys(&client).await, ["past", "present"]);
    store.prune(PruneOptions::default()).await.expect("they are removed");
    assert_eq!(keys(&client).await, ["present"]);
    queue(&store, "again", "past", false).await;
    let leases = store.claim_ready(9, &Worker::default()).await.expect("it is asked");
    assert_eq!(leases.len(), 2, "a key that comes back is claimed from");
}

/// Whether such a server has committed is not known.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn removal_that_ends_with_its_connection_is_unknown() {
    let fresh = Fresh::new().await;
    let (store, client) = (fresh.open(PostgresOptions::default()).await, fresh.client().await);
    let run = queue(&store, "past", "past", true).await;
    let stall = "CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER stall AFTER DELETE ON pointsman.run
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stall()";
    client.batch_execute(stall).await.expect("commits take long");
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let ends = async {
        while client.query(end, &[]).await.expect("it is asked").is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let both = async { tokio::join!(store.remove(&run), ends) };
    let (removed, ()) = timeout(LIMIT, both).await.expect("it ends");
    assert!(matches!(removed, Err(StoreError::Unknown { .. })), "{removed:?}");
}

/// A run whose key is removed while it is queued would never be claimed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn run_that_is_queued_while_its_key_is_removed_is_claimed() {
    let fresh = Fresh::new().await;
    let store = Arc::new(fresh.open(PostgresOptions::default()).await);
    let other = Arc::new(fresh.open(PostgresOptions::default()).await);
    for round in 0..40 {
        queue(&store, &format!("past{round}"), "key", true).await;
        let prune = Arc::clone(&other);
        let pruned = tokio::spawn(async move { prune.prune(PruneOptions::default()).await });
        queue(&store, &format!("new{round}"), "key", false).await;
        pruned.await.expect("it ends").expect("they are removed");
        let leases = store.claim_ready(1, &Worker::default()).await.expect("it is asked");
        assert_eq!(leases.len(), 1, "the run of round {round} has no key");
        for lease in leases {
            let mut script = Script::new(lease.run().as_str());
            script.next("it begins");
            let mut last = script.next("ends");
            last.ended = Some(Disposition::Succeeded);
            store.append(&lease, last.into()).await.expect("it ends");
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn removal_of_a_run_that_is_locked_ends_at_the_time_limit() {
    let fresh = Fresh::new().await;
    let deadline = Duration::from_secs(1);
    let store = fresh.open(PostgresOptions { deadline, ..PostgresOptions::default() }).await;
    let run = queue(&store, "locked", "", true).await;
    let client = fresh.client().await;
    client
        .batch_execute("BEGIN; SELECT FROM pointsman.run WHERE id = 'locked' FOR UPDATE")
        .await
        .expect("it is free");
    match timeout(LIMIT, store.remove(&run)).await.expect("it has a time limit") {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("it is locked: {other:?}"),
    }
    client.batch_execute("ROLLBACK").await.expect("it is let go");
    let gone = async {
        loop {
            match store.remove(&run).await {
                Err(StoreError::NoSuchRun { .. }) | Ok(Some(_)) => return,
                // The first removal waits for the lock still.
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    timeout(LIMIT, gone).await.expect("it is removed");
}
