//! Hints over Redis: what a process leaves behind there.

use std::{collections::HashMap, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_runtime::store::{Store as _, Worker};
use redis::{Client, Value, aio::MultiplexedConnection, cmd};
use tokio::time::{sleep, timeout};

use super::{Fresh, server};

const LIMIT: Duration = Duration::from_mins(1);

/// Returns how many consumers of this process there are.
async fn consumers(redis: &mut MultiplexedConnection) -> usize {
    let mut ask = cmd("XINFO");
    ask.arg("CONSUMERS").arg("pointsman:ready").arg("workers");
    let listed = ask.query_async::<Vec<HashMap<String, Value>>>(redis).await;
    let ours = format!(":{}-", std::process::id());
    let is_ours = |consumer: &&HashMap<String, Value>| match consumer.get("name") {
        Some(Value::BulkString(name)) => String::from_utf8_lossy(name).contains(&ours),
        _ => false,
    };
    listed.unwrap_or_default().iter().filter(is_ours).count()
}

/// Gives a hint: some versions of Redis know a consumer only from its first entry on.
async fn give(redis: &mut MultiplexedConnection) {
    let mut add = cmd("XADD");
    add.arg("pointsman:ready").arg("*").arg("ready").arg(1);
    add.query_async::<Value>(redis).await.expect("the hint is given");
}

async fn reaches(redis: &mut MultiplexedConnection, wants: usize) {
    let reached = async {
        while consumers(redis).await != wants {
            if wants > 0 {
                give(redis).await;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, reached).await.unwrap_or_else(|_| panic!("never {wants} consumers"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn store_that_is_dropped_takes_no_more_hints() {
    let fresh = Fresh::new().await;
    let url = server("POINTSMAN_REDIS_URL");
    let client = Client::open(&*url).expect("it is an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("it connects");
    let options = PostgresOptions { redis: Some(url), ..PostgresOptions::default() };
    let store = fresh.open(options).await;
    // A subscriber may outlive the store.
    let changes = store.changes().await.expect("it is asked");
    store.claim_ready(1, &Worker::default()).await.expect("it is asked");
    reaches(&mut redis, 1).await;
    drop(store);
    reaches(&mut redis, 0).await;
    drop(changes);
}
