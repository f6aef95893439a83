//! The queue's SQL decides as the functions do that the model checker explores, for every row.

use std::time::Duration;

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::{
    Lease, MessageId, NewRun, QueueOptions, Release, Store, Worker,
    protocol::{CLAIMS, Leaving, QueueRow, RowStatus},
};
use pointsman_testing::script::{Script, id, new_run};
use tokio_postgres::Client;

use super::Fresh;

const BACKS: [RowStatus; 4] =
    [RowStatus::Waiting, RowStatus::Timed, RowStatus::Ready, RowStatus::Quarantined];

/// Returns every row that makes a difference.
fn rows() -> Vec<QueueRow> {
    let mut rows = Vec::new();
    for status in RowStatus::ALL {
        for back in BACKS {
            for wrote in [false, true] {
                for claims in [0, CLAIMS - 1, CLAIMS] {
                    for wakes in [false, true] {
                        rows.push(QueueRow { status, back, wrote, claims, wakes });
                    }
                }
            }
        }
    }
    rows
}

/// One run whose row is set as a case needs it.
struct Bench {
    store: PostgresStore,
    client: Client,
}

impl Bench {
    async fn new(fresh: &Fresh) -> Self {
        let options = PostgresOptions { heartbeats: false, ..PostgresOptions::default() };
        let store = fresh.open(options).await;
        let queue = Some(QueueOptions { key: "a".into(), ..QueueOptions::default() });
        let first = Script::new("row").next("it begins");
        let lease = store.create(first.into(), NewRun { queue, ..new_run(5) }).await;
        store.release(lease.expect("it begins"), Release::Ready).await.expect("it waits");
        Self { store, client: fresh.client().await }
    }

    /// Sets the row, under a lease that has expired.
    async fn set(&self, row: &QueueRow) {
        let (status, back) = (row.status.name(), row.back.name());
        let wrote = if row.wrote { "epoch" } else { "-1" };
        let wake = if row.wakes { "7" } else { "NULL" };
        let claims = row.claims;
        let sql = format!(
            "DELETE FROM pointsman.message;
             UPDATE pointsman.run SET status = '{status}', back = '{back}', wrote = {wrote},
                 claims = {claims}, wake = {wake}, wake_at = 0, expires_ms = 0"
        );
        self.client.batch_execute(&sql).await.expect("it is set");
    }

    async fn get(&self) -> QueueRow {
        let sql = "SELECT status, back, wrote = epoch, claims, wake IS NOT NULL FROM pointsman.run";
        let row = self.client.query_one(sql, &[]).await.expect("it is read");
        let named = |name: &str| RowStatus::ALL.into_iter().find(|it| it.name() == name);
        QueueRow {
            status: named(row.get(0)).expect("a status"),
            back: named(row.get(1)).expect("a status"),
            wrote: row.get(2),
            claims: row.get::<_, i32>(3).cast_unsigned(),
            wakes: row.get(4),
        }
    }

    /// Sends a message, which leaves the row as it is.
    async fn send(&self, row: &QueueRow) -> MessageId {
        let message = self.store.send(&id("row"), "{}").await.expect("it is sent");
        let (status, back) = (row.status.name(), row.back.name());
        let sql = format!("UPDATE pointsman.run SET status = '{status}', back = '{back}'");
        self.client.batch_execute(&sql).await.expect("it is set");
        message
    }

    /// Returns a lease, and sets the row beneath it.
    async fn held(&self, row: &QueueRow) -> Lease {
        self.set(&QueueRow { status: RowStatus::Waiting, ..*row }).await;
        let lease = self.store.claim(&id("row")).await.expect("it is asked").expect("it is free");
        self.set(row).await;
        lease
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn the_queue_decides_as_the_model_does() {
    let fresh = Fresh::new().await;
    let bench = Bench::new(&fresh).await;
    for row in rows() {
        bench.set(&row).await;
        bench.store.send(&id("row"), "{}").await.expect("it is sent");
        assert_eq!(bench.get().await, row.sent(), "a message to {row:?}");

        bench.set(&row).await;
        let leases = bench.store.claim_ready(1, &Worker::default()).await.expect("it is asked");
        let wants = row.swept().claimed_ready();
        assert_eq!(bench.get().await, wants.unwrap_or_else(|| row.swept()), "a claim of {row:?}");
        assert_eq!(leases.len(), usize::from(wants.is_some()), "a claim of {row:?}");
        drop(leases);
        bench.store.settle().await;

        bench.set(&row).await;
        let lease = bench.store.claim(&id("row")).await.expect("it is asked").expect("it is free");
        assert_eq!(bench.get().await, row.claimed_by_name(), "a claim by name of {row:?}");
        drop(lease);
        bench.store.settle().await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_run_is_left_as_the_model_leaves_it() {
    let fresh = Fresh::new().await;
    let bench = Bench::new(&fresh).await;
    for row in rows() {
        let lease = bench.held(&row).await;
        bench.store.release(lease, Release::Ready).await.expect("it is given up");
        assert_eq!(bench.get().await, row.released(Leaving::Ready), "{row:?}");

        let lease = bench.held(&row).await;
        drop(lease);
        bench.store.settle().await;
        assert_eq!(bench.get().await, row.released(Leaving::Dropped), "{row:?}");

        for unread in [false, true] {
            let lease = bench.held(&row).await;
            let wait = Duration::from_secs(9);
            if unread {
                bench.send(&row).await;
            }
            bench.store.release(lease, Release::Deferred { wait }).await.expect("it is given up");
            let wants = row.released(Leaving::Deferred { unread });
            assert_eq!(bench.get().await, wants, "{row:?}, unread: {unread}");

            let lease = bench.held(&row).await;
            let message = bench.send(&row).await;
            let read = if unread { None::<MessageId> } else { Some(message) };
            bench.store.release(lease, Release::Parked { read }).await.expect("it is given up");
            let wants = row.released(Leaving::Parked { unread });
            assert_eq!(bench.get().await, wants, "{row:?}, unread: {unread}");
        }
    }
}
