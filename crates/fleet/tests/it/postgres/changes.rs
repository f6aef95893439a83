//! Changes are found in whatever order they are committed.

use std::{sync::Arc, time::Duration};

use pointsman_fleet::PostgresOptions;
use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::store::{Change, Store, StoreError};
use pointsman_testing::script::{Script, id};
use tokio::time::timeout;

use super::Fresh;

const LIMIT: Duration = Duration::from_mins(1);

/// A cursor over numbers that are assigned at writing has passed this entry long before it is
/// committed.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn an_entry_that_is_committed_late_is_announced() {
    let fresh = Fresh::new().await;
    let poll = Duration::from_millis(20);
    let options = PostgresOptions { poll, heartbeats: false, ..PostgresOptions::default() };
    let (ours, theirs) = (fresh.open(options.clone()).await, fresh.open(options).await);
    let (mut late, _kept) = Script::create("late", &ours, 5).await.expect("it begins");
    let (mut quick, lease) = Script::create("quick", &ours, 5).await.expect("it begins");
    let mut changes = theirs.changes().await.expect("it is asked");
    // An append that another process holds open: its row is written, and not committed.
    let mut client = fresh.client().await;
    let held = client.transaction().await.expect("it begins");
    let next = late.next("it goes on");
    held.execute(
        "INSERT INTO pointsman.entry (run, seq, epoch, line, link, state, prompts, checksum)
         VALUES ('late', 2, 1, $1, $2, '', 0, '')",
        &[&&*next.line, &Digest::of(next.line.as_bytes()).0.to_vec()],
    )
    .await
    .expect("it is written");
    // One that began later is committed earlier, and its readers look many times meanwhile.
    ours.append(&lease, quick.next("it goes on").into()).await.expect("it is written");
    let early = timeout(Duration::from_secs(5), async {
        loop {
            if let Change::Entry { run, seq: Seq(2) } = changes.next().await {
                break run;
            }
        }
    });
    let early = early.await.ok();
    assert!(early.as_ref() != Some(&late.run), "it is not committed");
    held.commit().await.expect("it is committed");
    let mut missing = vec![late.run.clone()];
    missing.extend(early.is_none().then(|| quick.run.clone()));
    let found = timeout(LIMIT, async {
        while !missing.is_empty() {
            if let Change::Entry { run, seq: Seq(2) } = changes.next().await {
                missing.retain(|it| *it != run);
            }
        }
    });
    assert!(found.await.is_ok(), "an entry is passed over");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn changed_table_rows_are_detected() {
    let fresh = Fresh::new().await;
    let store: Arc<dyn Store> = Arc::new(
        fresh.open(PostgresOptions { heartbeats: false, ..PostgresOptions::default() }).await,
    );
    for name in ["line", "state", "goal", "gone", "whole"] {
        let mut script = Script::begin(name, &*store, 5).await;
        script.until(&*store, 3).await;
    }
    let client = fresh.client().await;
    for damage in [
        "UPDATE pointsman.entry SET line = replace(line, 'goes', 'went') WHERE run = 'line' AND seq = 2",
        "UPDATE pointsman.run SET state = 'another' WHERE id = 'state'",
        "UPDATE pointsman.run SET goal = 'another' WHERE id = 'goal'",
        "DELETE FROM pointsman.entry WHERE run = 'gone' AND seq = 3",
    ] {
        client.batch_execute(damage).await.expect("it is damaged");
    }
    for name in ["line", "state", "goal", "gone"] {
        let read = store.journal(&id(name)).await;
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{name}");
    }
    let whole = store.journal(&id("whole")).await.expect("it is whole");
    assert_eq!(whole.1.len(), 3);
    let found = store.check().await.expect("it is asked");
    let mut names: Vec<&str> = found.iter().filter_map(|it| Some(it.run()?.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["goal", "gone", "state"]);
}
