//! The queue's index, which is derived and is never relied upon where it is wrong; and the counts of
//! queued runs.

use std::sync::Arc;

use pointsman_runtime::{
    clock::now_ms,
    store::{MemoryStore, NewRun, QueueCounts, QueueOptions, Release, SqliteStore, Store, Worker},
};

use super::{Script, TempFolder, id, new_run};

/// Queues runs of which one waits for a message.
async fn queued(store: &SqliteStore) {
    for (name, made) in [("a", 1), ("b", 2), ("waits", 3)] {
        let mut first = Script::new(name).next("it begins");
        first.wake = None;
        let new_run = NewRun { queue: Some(QueueOptions::default()), ..new_run(made) };
        let lease = store.create(first.into(), new_run).await.expect("the run is created");
        if name == "waits" {
            let parked = Release::Parked { read: None };
            store.release(lease, parked).await.expect("the run is parked");
        }
    }
}

async fn ready(store: &SqliteStore) -> Vec<String> {
    let leases = store.claim_ready(9, &Worker::default()).await.expect("the store answers");
    leases.iter().map(|lease| lease.run().to_string()).collect()
}

#[tokio::test]
async fn many_ready_runs_are_claimed_once_by_two_stores() {
    const RUNS: u64 = 1_200;
    let folder = TempFolder::new("backlog");
    let (ours, theirs) = (folder.store(), folder.store());
    let enter = async |name: String, made| {
        let mut first = Script::new(&name).next("it begins");
        first.wake = None;
        let new_run = NewRun { queue: Some(QueueOptions::default()), ..new_run(made) };
        drop(ours.create(first.into(), new_run).await.expect("the run is created"));
    };
    for made in 0..RUNS {
        enter(format!("run{made:04}"), made).await;
    }
    let mut claimed = Vec::new();
    loop {
        let before = claimed.len();
        for store in [&ours, &theirs] {
            let leases = store.claim_ready(170, &Worker::default()).await;
            let leases = leases.expect("the store answers");
            for lease in leases {
                claimed.push(lease.run().to_string());
                let parked = Release::Parked { read: None };
                store.release(lease, parked).await.expect("the run is parked");
            }
        }
        if claimed.len() == before {
            break;
        }
    }
    let wants: Vec<String> = (0..RUNS).map(|made| format!("run{made:04}")).collect();
    assert_eq!(claimed, wants, "each is claimed once, and in order");
    enter("late".into(), RUNS).await;
    assert_eq!(ready(&theirs).await, ["late"]);
}

#[tokio::test]
async fn journal_without_the_index_is_upgraded_and_keeps_its_queue() {
    let folder = TempFolder::new("unindexed");
    queued(&folder.store()).await;
    folder.raw().execute_batch(super::faults::UNINDEXED).expect("the SQL runs");
    assert_eq!(ready(&folder.store()).await, ["a", "b"]);
    let format = folder.raw().pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    assert_eq!(format.expect("it has one"), 3);
}

#[tokio::test]
async fn an_index_that_lacks_a_run_is_made_anew() {
    let folder = TempFolder::new("index");
    queued(&folder.store()).await;
    // The index stays as it is while its table changes: as a lost write of one page leaves it.
    let raw = folder.raw();
    let index: (String, i64) = raw
        .query_row("SELECT sql, rootpage FROM sqlite_schema WHERE name = 'ready'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("there is one");
    let row: (Vec<u8>, i64) = raw
        .query_row("SELECT at_seal, at_ms FROM queue WHERE run = 'b'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("it is queued");
    raw.execute_batch("UPDATE queue SET at_ms = NULL WHERE run = 'b'").expect("the SQL runs");
    let hide = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'ready'";
    raw.execute_batch(hide).expect("the SQL runs");
    drop(raw);
    let raw = folder.raw();
    raw.execute("UPDATE queue SET at_ms = ?2, at_seal = ?1 WHERE run = 'b'", row)
        .expect("the SQL runs");
    raw.execute_batch("PRAGMA writable_schema = ON").expect("the SQL runs");
    let show = "INSERT INTO sqlite_schema VALUES ('index', 'ready', 'queue', ?2, ?1)";
    raw.execute(show, index).expect("the SQL runs");
    drop(raw);
    assert_eq!(ready(&folder.store()).await, ["a", "b"]);
    let told = folder.raw().query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(told.expect("it can be asked"), "ok");
}

#[tokio::test]
async fn counts_know_since_when_runs_are_ready() {
    let folder = TempFolder::new("counts");
    let stores: [Arc<dyn Store>; 2] = [Arc::new(folder.store()), Arc::new(MemoryStore::new())];
    for store in stores {
        let counts = async || store.queue_counts().await.expect("the queue is counted");
        assert_eq!(counts().await, QueueCounts::default());
        let now = now_ms();
        let later = QueueOptions { not_before_ms: now + 600_000, ..QueueOptions::default() };
        for (name, minutes, queue) in [
            ("new", 2, QueueOptions::default()),
            ("old", 5, QueueOptions::default()),
            ("later", 9, later),
        ] {
            let mut first = Script::new(name).next("it begins");
            first.wake = None;
            let new_run = NewRun { queue: Some(queue), ..new_run(now - minutes * 60_000) };
            drop(store.create(first.into(), new_run).await.expect("the run is created"));
        }
        let all = async || {
            let QueueCounts { ready, leased, quarantined, lag } = counts().await;
            (ready, leased, quarantined, lag.as_secs() / 60)
        };
        assert_eq!(all().await, (2, 0, 0, 5), "{store:?}");
        let lease = store.claim(&id("old")).await.expect("it is asked").expect("it is free");
        assert_eq!(all().await, (1, 1, 0, 2), "{store:?}");
        store.release(lease, Release::Parked { read: None }).await.expect("the run is parked");
        assert_eq!(all().await, (1, 0, 0, 2), "{store:?}");
        // It waits for a worker since its message came.
        store.send(&id("old"), "hello").await.expect("the message is sent");
        assert_eq!(all().await, (2, 0, 0, 2), "{store:?}");
    }
}
