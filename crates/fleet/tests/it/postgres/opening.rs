//! What a store is opened over: tables of the right format, and a server that loses nothing.

use std::time::Duration;

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::{Store as _, StoreError, Worker};
use pointsman_testing::script::{Script, new_run};

use tokio::time::{sleep, timeout};

use super::Fresh;

async fn refusal(url: &str) -> String {
    match PostgresStore::open(url, PostgresOptions::default()).await {
        Ok(_) => panic!("it opens"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_server_that_may_lose_entries_is_refused() {
    let fresh = Fresh::new().await;
    for setting in ["off", "local"] {
        let set = format!("ALTER DATABASE {} SET synchronous_commit = {setting}", fresh.name);
        fresh.client().await.batch_execute(&set).await.expect("it is set");
        let why = refusal(&fresh.direct).await;
        assert!(why.contains("`synchronous_commit` is"), "{why}");
        let lossy = PostgresOptions { lossy: true, ..PostgresOptions::default() };
        fresh.open(lossy).await;
    }
}

/// Two claims at a time would fail instead of sharing what is ready.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn server_with_another_isolation_is_refused() {
    for isolation in ["repeatable read", "serializable"] {
        // The pooler keeps connections with the settings that they were made with.
        let fresh = Fresh::new().await;
        let name = &fresh.name;
        let set =
            format!("ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'");
        fresh.client().await.batch_execute(&set).await.expect("it is set");
        for url in [&fresh.direct, &fresh.pooled()] {
            let why = refusal(url).await;
            assert!(
                why.contains(&format!("`default_transaction_isolation` is `{isolation}`")),
                "{why}"
            );
            assert!(why.contains("Set it to `read committed`"), "{why}");
        }
    }
}

/// A process that lives for weeks must not date runs by what the clocks were at its start.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn clock_of_the_server_is_read_again() {
    let fresh = Fresh::new().await;
    let clock = Duration::from_millis(50);
    let store = fresh.open(PostgresOptions { clock, ..PostgresOptions::default() }).await;
    assert!(store.clock_ahead_ms().abs() < 60_000, "{}", store.clock_ahead_ms());
    let client = fresh.client().await;
    let moved = "CREATE OR REPLACE FUNCTION pointsman.now_ms() RETURNS bigint LANGUAGE sql AS
                 $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000 $$";
    client.batch_execute(moved).await.expect("the clock is moved");
    let noticed = async {
        while store.clock_ahead_ms() > -540_000 {
            sleep(clock).await;
        }
    };
    timeout(Duration::from_mins(1), noticed).await.expect("it reads the clock again");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn tables_are_made_once_by_however_many() {
    let fresh = Fresh::empty().await;
    let why = refusal(&fresh.direct).await;
    assert!(why.contains("pointsman migrate"), "{why}");
    let many = (0..8).map(|number| {
        // Some of them come through the pooler.
        let url = if number % 2 == 0 { fresh.direct.clone() } else { fresh.pooled() };
        tokio::spawn(async move { PostgresStore::migrate(&url).await })
    });
    let many: Vec<_> = many.collect();
    for one in many {
        assert_eq!(one.await.expect("it does not panic").expect("they are made"), 3);
    }
    fresh.open(PostgresOptions::default()).await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn tables_of_an_earlier_build_are_migrated() {
    const SECOND: &str =
        "DROP TYPE pointsman.new_entry, pointsman.new_prompt, pointsman.new_part CASCADE;";
    for (format, without) in [(1, "DROP FUNCTION pointsman.append;"), (2, "")] {
        let fresh = Fresh::new().await;
        let client = fresh.client().await;
        let earlier = format!("{SECOND}{without} UPDATE pointsman.meta SET version = {format}");
        client.batch_execute(&earlier).await.expect("it is set");
        let why = refusal(&fresh.direct).await;
        let named = why.contains(&format!("format {format}"));
        assert!(named && why.contains("pointsman migrate"), "{why}");
        let migrated = PostgresStore::migrate(&fresh.direct).await.expect("they are migrated");
        assert_eq!(migrated, 3);
        let store = fresh.open(PostgresOptions::default()).await;
        let mut script = Script::new("later");
        let lease = store.create(script.next("it begins").into(), new_run(5)).await;
        let lease = lease.expect("it begins");
        store.append(&lease, script.next("it runs").into()).await.expect("it is written");
        // Workers of the previous format still find their function.
        let functions = "SELECT count(*) FROM pg_proc WHERE proname = 'append'";
        let functions = client.query_one(functions, &[]).await.expect("the server answers");
        assert_eq!(functions.get::<_, i64>(0), 2);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn tables_of_a_later_build_are_used_if_possible() {
    let fresh = Fresh::new().await;
    let client = fresh.client().await;
    let store = fresh.open(PostgresOptions::default()).await;
    // A later build has added something.
    client.batch_execute("UPDATE pointsman.meta SET version = 9").await.expect("it is set");
    fresh.open(PostgresOptions::default()).await;
    // And later removed what this one needs: an open store claims nothing more.
    client.batch_execute("UPDATE pointsman.meta SET min_version = 9").await.expect("it is set");
    let why = refusal(&fresh.direct).await;
    assert!(why.contains("format 9") && why.contains("up to 3"), "{why}");
    let refused = store.claim_ready(1, &Worker::default()).await;
    assert!(matches!(refused, Err(StoreError::TooNew { .. })), "{refused:?}");
    let refused = PostgresStore::migrate(&fresh.direct).await;
    assert!(matches!(refused, Err(StoreError::TooNew { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_password_is_in_no_error() {
    let url = "postgres://pointsman:hunter2@127.0.0.1:1/pointsman";
    let why = refusal(url).await;
    assert!(why.contains("postgres://127.0.0.1:1/pointsman") && !why.contains("hunter2"), "{why}");
    assert!(!refusal("postgres://pointsman:hunter2@[").await.contains("hunter2"));
}
