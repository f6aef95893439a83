//! Answers that are lost: what was written is found by reading, and never written twice.

use std::{sync::Arc, time::Duration};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::store::{Store, StoreError};
use pointsman_testing::script::{Script, new_run};

use super::{Fresh, proxy::Proxy};

/// A store behind a proxy, with one connection that reads and one that writes.
async fn behind_a_proxy(fresh: &Fresh) -> (Proxy, PostgresStore) {
    let (proxy, url) = Proxy::before(fresh).await;
    let options = PostgresOptions { heartbeats: false, ..PostgresOptions::default() };
    let store = PostgresStore::open(&url, options).await.expect("it opens");
    (proxy, store)
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn an_entry_whose_answer_is_lost_is_there_once() {
    let fresh = Fresh::new().await;
    let (proxy, store) = behind_a_proxy(&fresh).await;
    let (mut script, lease) = Script::create("lost", &store, 5).await.expect("it begins");
    let next = Arc::new(script.next("it goes on"));
    proxy.lose_next_answer();
    match store.append(&lease, Arc::clone(&next)).await {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("the answer was lost: {other:?}"),
    }
    assert!(!proxy.waits());
    // The journal reads first, and finds it. Writing the same line again would be rejected.
    let row = store.run(&script.run).await.expect("it is read");
    assert_eq!((row.seq, row.link), (Seq(2), Digest::of(next.line.as_bytes())));
    match store.append(&lease, next).await {
        Err(StoreError::Conflict { at: Seq(2), .. }) => {}
        other => panic!("it is there: {other:?}"),
    }
    store.append(&lease, script.next("and on").into()).await.expect("it goes on");
    let store: &dyn Store = &store;
    assert_eq!(store.lines(&script.run, Seq(0)).await.expect("it is read"), script.lines);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn creator_can_claim_a_run_after_a_lost_response() {
    let fresh = Fresh::new().await;
    let (proxy, store) = behind_a_proxy(&fresh).await;
    let other = fresh.open(PostgresOptions::default()).await;
    let mut script = Script::new("made");
    let first = script.next("it begins");
    proxy.lose_next_answer();
    match store.create(first.into(), new_run(5)).await {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("the answer was lost: {other:?}"),
    }
    // Its maker has it, whether it knows or not.
    assert!(other.claim(&script.run).await.expect("it is asked").is_none());
    let lease = store.claim(&script.run).await.expect("it is asked").expect("it is its maker's");
    assert!(store.claim(&script.run).await.expect("it is asked").is_none());
    store.append(&lease, script.next("it goes on").into()).await.expect("it is written");
}

/// Its lease expired before it could claim the run, and another process had the run since.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn creator_takes_no_run_from_its_next_owner() {
    let fresh = Fresh::new().await;
    let (proxy, store) = behind_a_proxy(&fresh).await;
    let other = fresh.open(PostgresOptions::default()).await;
    let mut script = Script::new("taken");
    let first = script.next("it begins");
    proxy.lose_next_answer();
    match store.create(first.into(), new_run(5)).await {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("the answer was lost: {other:?}"),
    }
    let expire = "UPDATE pointsman.run SET expires_ms = 0";
    fresh.client().await.batch_execute(expire).await.expect("it expires");
    let lease = other.claim(&script.run).await.expect("it is asked").expect("it is free");
    let stolen = store.claim(&script.run).await.expect("it is asked");
    assert!(stolen.is_none(), "{stolen:?}");
    other.append(&lease, script.next("it goes on").into()).await.expect("it is written");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn creator_can_claim_a_run_after_a_claim_that_failed() {
    let fresh = Fresh::new().await;
    let (mut proxy, url) = Proxy::before(&fresh).await;
    // No request waits for a server that is away.
    let deadline = Duration::from_secs(5);
    let options = PostgresOptions { deadline, heartbeats: false, ..PostgresOptions::default() };
    let store = PostgresStore::open(&url, options).await.expect("it opens");
    let script = Script::new("made");
    let first = script.clone().next("it begins");
    proxy.lose_next_answer();
    match store.create(first.into(), new_run(5)).await {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("the answer was lost: {other:?}"),
    }
    proxy.stop().await;
    drop(store.claim(&script.run).await.expect_err("nobody is there"));
    proxy.resume().await;
    drop(store.claim(&script.run).await.expect("it is asked").expect("it is its maker's"));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn late_response_is_unknown_and_is_found_later() {
    let fresh = Fresh::new().await;
    // It holds for every request of the store, so a busy machine must meet it otherwise.
    let deadline = Duration::from_secs(5);
    let options = PostgresOptions { deadline, heartbeats: false, ..PostgresOptions::default() };
    let store = fresh.open(options).await;
    let (mut script, lease) = Script::create("slow", &store, 5).await.expect("it begins");
    // Another connection has locked the row for now, so the server waits, and we do not cancel it.
    let mut client = fresh.client().await;
    let held = client.transaction().await.expect("it begins");
    held.execute("SELECT FROM pointsman.run WHERE id = 'slow' FOR UPDATE", &[])
        .await
        .expect("it is locked");
    let next = Arc::new(script.next("it goes on"));
    match store.append(&lease, Arc::clone(&next)).await {
        Err(StoreError::Unknown { .. }) => {}
        other => panic!("nobody can know: {other:?}"),
    }
    assert_eq!(store.run(&script.run).await.expect("it is read").seq, Seq(1));
    held.commit().await.expect("it lets go");
    // The same line again: whichever of the two came first, there is one.
    match store.append(&lease, next).await {
        Ok(()) | Err(StoreError::Conflict { at: Seq(2), .. }) => {}
        other => panic!("it is written or was: {other:?}"),
    }
    let store: &dyn Store = &store;
    assert_eq!(store.lines(&script.run, Seq(0)).await.expect("it is read"), script.lines);
}
