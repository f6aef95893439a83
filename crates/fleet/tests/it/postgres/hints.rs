//! Hints over Redis: what a process leaves behind there.

use std::{collections::HashMap, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_runtime::store::{
    Change, Changes, NewRun, QueueOptions, Release, Store as _, Worker,
};
use pointsman_testing::script::{Script, new_run};
use redis::{Client, Value, aio::MultiplexedConnection, cmd};
use tokio::time::{sleep, timeout};

use super::{Fresh, server};

const LIMIT: Duration = Duration::from_mins(1);
/// After this time without one, no old hint is on its way.
const QUIET: Duration = Duration::from_secs(1);

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

/// Waits for a hint.
async fn hint(changes: &mut Changes) {
    while changes.next().await != Change::Queued {}
}

/// Takes back the hints that were given.
async fn drain(redis: &mut MultiplexedConnection, changes: &mut Changes) {
    let mut trim = cmd("XTRIM");
    trim.arg("pointsman:ready").arg("MAXLEN").arg(0);
    trim.query_async::<Value>(redis).await.expect("the hints are removed");
    let drained = async { while timeout(QUIET, hint(changes)).await.is_ok() {} };
    timeout(LIMIT, drained).await.expect("nobody gives hints");
}

/// One test, because the stores of all tests share the hints.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn hint_wakes_a_store_until_it_is_dropped() {
    let fresh = Fresh::new().await;
    let url = server("POINTSMAN_REDIS_URL");
    let client = Client::open(&*url).expect("it is an address");
    let mut redis = client.get_multiplexed_async_connection().await.expect("it connects");
    // Without hints, nothing would be seen in time.
    let poll = Duration::from_hours(1);
    let options = PostgresOptions { redis: Some(url), poll, ..PostgresOptions::default() };
    let (store, other) = (fresh.open(options.clone()).await, fresh.open(options).await);
    // A subscriber may outlive the store.
    let mut changes = store.changes().await.expect("it is asked");
    store.claim_ready(1, &Worker::default()).await.expect("it is asked");
    reaches(&mut redis, 1).await;
    drain(&mut redis, &mut changes).await;
    let queue = Some(QueueOptions::default());
    let first = Script::new("hinted").next("it begins");
    let lease = other.create(first.into(), NewRun { queue, ..new_run(5) }).await;
    other.release(lease.expect("it begins"), Release::Ready).await.expect("it waits");
    timeout(LIMIT, hint(&mut changes)).await.expect("the hint comes");
    drop((store, other));
    reaches(&mut redis, 0).await;
    drop(changes);
}
