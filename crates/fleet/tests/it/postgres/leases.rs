//! Leases that are lost, and what a row costs that is written to again and again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pointsman_fleet::PostgresOptions;
use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    driver::DriverContext,
    scheduler::{DriverContexts, Scheduler, SchedulerError, SchedulerOptions},
    store::{Lease, NewRun, QueueOptions, Release, RunId, Store, StoreError, Worker},
};
use pointsman_testing::script::{Script, id, new_run};
use tokio_postgres::Client;

use super::Fresh;

fn quiet() -> PostgresOptions {
    PostgresOptions { heartbeats: false, ..PostgresOptions::default() }
}

/// Creates a run in the queue, and leaves it there.
async fn queue(store: &dyn Store, name: &str, key: &str) {
    let queue = Some(QueueOptions { key: key.into(), ..QueueOptions::default() });
    let first = Script::new(name).next("it begins");
    let lease = store.create(first.into(), NewRun { queue, ..new_run(5) }).await;
    store.release(lease.expect("it begins"), Release::Ready).await.expect("it waits");
}

async fn claim_ready(store: &dyn Store, most: usize) -> Vec<Lease> {
    store.claim_ready(most, &Worker::default()).await.expect("it is asked")
}

fn names(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.run().as_str()).collect()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn expired_lease_is_taken_over_and_fences_its_owner() {
    let fresh = Fresh::new().await;
    let short = PostgresOptions { lease: Duration::from_secs(5), ..quiet() };
    let (ours, theirs) = (fresh.open(short).await, fresh.open(quiet()).await);
    let (mut script, lost) = Script::create("taken", &ours, 5).await.expect("it begins");
    let taken = loop {
        match theirs.claim(&script.run).await.expect("it is asked") {
            Some(lease) => break lease,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    assert!(taken.epoch() > lost.epoch());
    assert!(lost.is_over(), "its owner knows by its own clock");
    assert_eq!(ours.renew(&[&lost]).await.expect("it is asked"), [script.run.clone()]);
    match ours.append(&lost, script.clone().next("too late").into()).await {
        Err(StoreError::Fenced { .. }) => {}
        other => panic!("a lost owner writes: {other:?}"),
    }
    theirs.append(&taken, script.next("theirs").into()).await.expect("it goes on");
}

/// Its task may hang, and hold on to it.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn old_lease_of_a_run_that_was_claimed_again_is_not_renewed() {
    let fresh = Fresh::new().await;
    let store = fresh.open(quiet()).await;
    let (script, old) = Script::create("twice", &store, 5).await.expect("it begins");
    let ended = old.expires();
    let expire = "UPDATE pointsman.run SET expires_ms = 0 WHERE id = 'twice'";
    fresh.client().await.batch_execute(expire).await.expect("it expires");
    let new = store.claim(&script.run).await.expect("it is asked").expect("it is free");
    assert_eq!(store.renew(&[&old, &new]).await.expect("it is asked"), [script.run]);
    assert_eq!(old.expires(), ended);
    assert!(store.renew(&[&new]).await.expect("it is asked").is_empty());
}

/// Contexts that hang until released. The runtime gives their thread's other tasks to another
/// thread: otherwise what happens to wait there, such as a connection, would hang too.
struct Hanging(Arc<AtomicBool>);

#[async_trait]
impl DriverContexts for Hanging {
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError> {
        tokio::task::block_in_place(|| {
            while !self.0.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Err(SchedulerError::Context { run: run.clone(), why: "it hung".into() })
    }
}

/// The process lives, and renews its other leases.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn run_whose_task_hangs_is_taken_over() {
    let fresh = Fresh::new().await;
    let usual = PostgresOptions::default;
    let hangs = Duration::from_millis(500);
    let ours = Arc::new(fresh.open(PostgresOptions { lease: hangs * 10, hangs, ..usual() }).await);
    let theirs = fresh.open(usual()).await;
    queue(&*ours, "hangs", "").await;
    let let_go = Arc::new(AtomicBool::new(false));
    let contexts = Hanging(Arc::clone(&let_go));
    let store: Arc<dyn Store> = ours;
    let opened = Scheduler::open(store, contexts, SchedulerOptions::default()).await;
    let (_scheduler, mut finished) = opened.expect("it opens");
    let run = id("hangs");
    let taken = async {
        // The scheduler has it first.
        while theirs.run(&run).await.expect("it is there").owner.is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        loop {
            if let Some(lease) = theirs.claim(&run).await.expect("it is asked") {
                return lease;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let taken = tokio::time::timeout(Duration::from_mins(1), taken).await;
    let_go.store(true, Ordering::Release);
    assert!(taken.is_ok(), "its lease was renewed, although nothing drives it");
    let lost = finished.recv().await.expect("it is reported");
    assert!(lost.how.is_err(), "{lost:?}");
}

/// The model of the protocol found this: such an entry made the lease look valid, while the queue had
/// given the run to the next owner, or said that it waits.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn an_entry_that_arrives_after_its_lease_expired_is_refused() {
    let fresh = Fresh::new().await;
    let store = fresh.open(quiet()).await;
    let client = fresh.client().await;
    for back in ["ready", "waiting"] {
        queue(&store, back, "a").await;
        let set = format!("UPDATE pointsman.run SET status = '{back}' WHERE id = '{back}'");
        client.batch_execute(&set).await.expect("it is set");
        let lease = store.claim(&id(back)).await.expect("it is asked").expect("it is free");
        let expire = format!("UPDATE pointsman.run SET expires_ms = 0 WHERE id = '{back}'");
        client.batch_execute(&expire).await.expect("it expires");
        assert!(claim_ready(&store, 0).await.is_empty(), "nothing is asked for");
        let mut script = Script::new(back);
        script.next("it begins");
        match store.append(&lease, script.next("too late").into()).await {
            Err(StoreError::Fenced { .. }) => {}
            other => panic!("a run that is {back} was written to: {other:?}"),
        }
    }
}

/// The next owner, if there is none as yet, has still to read it.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_message_is_not_discarded_after_its_lease_expired() {
    let fresh = Fresh::new().await;
    let store = fresh.open(quiet()).await;
    queue(&store, "mail", "a").await;
    let lease = store.claim(&id("mail")).await.expect("it is asked").expect("it is free");
    let message = store.send(&id("mail"), "yes").await.expect("it is sent");
    let expire = "UPDATE pointsman.run SET expires_ms = 0 WHERE id = 'mail'";
    fresh.client().await.batch_execute(expire).await.expect("it expires");
    assert!(claim_ready(&store, 0).await.is_empty(), "nothing is asked for");
    let discarded = store.discard(&lease, message).await;
    assert!(matches!(discarded, Err(StoreError::Fenced { .. })), "{discarded:?}");
    assert_eq!(store.messages(&id("mail")).await.expect("they are read").len(), 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn heartbeats_keep_a_lease_until_it_is_dropped() {
    let fresh = Fresh::new().await;
    let beating = PostgresOptions { lease: Duration::from_secs(15), ..PostgresOptions::default() };
    let (ours, theirs) = (fresh.open(beating).await, fresh.open(quiet()).await);
    let (script, lease) = Script::create("kept", &ours, 5).await.expect("it begins");
    let first = lease.expires().expect("it expires");
    while lease.expires().expect("it expires") == first {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!lease.is_over());
    drop(lease);
    // It is given up in the background.
    while theirs.claim(&script.run).await.expect("it is asked").is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn one_fenced_run_does_not_fail_the_others_of_its_batch() {
    let fresh = Fresh::new().await;
    let (ours, theirs) = (Arc::new(fresh.open(quiet()).await), fresh.open(quiet()).await);
    let mut runs = Vec::new();
    for number in 0..20 {
        let name = format!("batch{number}");
        runs.push(Script::create(&name, &*ours, 5).await.expect("it begins"));
    }
    let client = fresh.client().await;
    let expire = "UPDATE pointsman.run SET expires_ms = 0 WHERE id = 'batch7'";
    client.batch_execute(expire).await.expect("it expires");
    let taken = theirs.claim(&id("batch7")).await.expect("it is asked").expect("it is free");
    let writes = runs.into_iter().map(|(mut script, lease)| {
        let ours = Arc::clone(&ours);
        tokio::spawn(async move {
            // A text that the server cannot keep is refused alone, too.
            let mut next = script.next("it goes on");
            if script.run == id("batch9") {
                next.state = "\0".into();
            }
            (script.run.clone(), ours.append(&lease, next.into()).await)
        })
    });
    let writes: Vec<_> = writes.collect();
    for write in writes {
        match write.await.expect("it does not panic") {
            (run, Err(StoreError::Fenced { .. })) => assert_eq!(run, id("batch7")),
            (run, Err(StoreError::Other { .. })) => assert_eq!(run, id("batch9")),
            (run, written) => {
                written.unwrap_or_else(|error| panic!("{run}: {error}"));
                assert_eq!(theirs.run(&run).await.expect("it is read").seq, Seq(2), "{run}");
            }
        }
    }
    for left in ["batch7", "batch9"] {
        assert_eq!(theirs.run(&id(left)).await.expect("it is read").seq, Seq(1), "{left}");
    }
    drop(taken);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn run_that_keeps_losing_owners_is_quarantined() {
    let fresh = Fresh::new().await;
    let store = fresh.open(quiet()).await;
    queue(&store, "poison", "a").await;
    for claim in 1..=5 {
        let leases = claim_ready(&store, 1).await;
        assert_eq!(names(&leases), ["poison"], "claim {claim}");
    }
    assert!(claim_ready(&store, 1).await.is_empty(), "it is claimed a sixth time");
    let client = fresh.client().await;
    let status = client.query_one("SELECT status FROM pointsman.run", &[]).await.expect("a row");
    assert_eq!(status.get::<_, &str>(0), "quarantined");
    assert_eq!(store.queue_counts().await.expect("it is counted").quarantined, 1);
    // A person resumes it by id; it continues, and its lost owners no longer count.
    let lease = store.claim(&id("poison")).await.expect("it is asked").expect("it is free");
    let mut script = Script::new("poison");
    script.next("it begins");
    store.append(&lease, script.next("it goes on").into()).await.expect("it is written");
    store.release(lease, Release::Ready).await.expect("it waits");
    assert_eq!(names(&claim_ready(&store, 1).await), ["poison"]);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn a_key_with_many_runs_keeps_no_other_key_waiting() {
    let fresh = Fresh::new().await;
    let store = fresh.open(quiet()).await;
    for number in 0..30 {
        queue(&store, &format!("big{number:02}"), "big").await;
    }
    let first = claim_ready(&store, 10).await;
    assert_eq!(first.len(), 10);
    for name in ["small1", "small2"] {
        queue(&store, name, name).await;
    }
    // Each of the others has waited less, and is served before the big one continues.
    let next = claim_ready(&store, 2).await;
    assert_eq!(names(&next), ["small1", "small2"]);
    let rest = claim_ready(&store, 100).await;
    assert_eq!(rest.len(), 20);
}

/// Returns how many updates of runs the server has counted, and how many of them changed no index,
/// once there are as many as that. It reports a connection's figures when it is idle or ends.
async fn updates(client: &Client, least: i64) -> (i64, i64) {
    let asked = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'run'";
    let counted = async {
        loop {
            let row = client.query_one(asked, &[]).await.expect("it is counted");
            if row.get::<_, i64>(0) >= least {
                return (row.get(0), row.get(1));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), counted).await.expect("the server counts updates")
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn entries_leave_the_indexes_of_runs_alone() {
    let fresh = Fresh::alone().await;
    let store = Arc::new(fresh.open(quiet()).await);
    for number in 0..40 {
        queue(&*store, &format!("hot{number}"), "hot").await;
    }
    let leases = claim_ready(&*store, 40).await;
    // Each run was released and claimed, which moves it in the indexes.
    let client = fresh.client().await;
    let before = updates(&client, 80).await;
    let runs = leases.into_iter().map(|lease| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut script = Script::new(lease.run().as_str());
            script.next("it begins");
            for _ in 0..75 {
                let next = script.next("it goes on").into();
                store.append(&lease, next).await.expect("it is written");
            }
            store.renew(&[&lease]).await.expect("it is renewed");
            lease
        })
    });
    let runs: Vec<_> = runs.collect();
    let mut leases = Vec::new();
    for run in runs {
        leases.push(run.await.expect("it ends"));
    }
    drop((leases, store));
    let after = updates(&client, before.0 + 40 * 76).await;
    let (all, hot) = (after.0 - before.0, after.1 - before.1);
    assert!(hot * 100 >= all * 95, "{hot} of {all} updates stay in their page");
}
