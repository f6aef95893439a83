//! Servers that are away for a moment, or silent: work that is complete is not lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_kernel::{chart::Disposition, governor::Permissions, id::Seq};
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    entry::event_name,
    scheduler::{Scheduler, SchedulerOptions},
    store::{NewRun, QueueOptions, Release, Store, Worker},
};
use pointsman_testing::script::{Script, begun, id, new_run};
use serde_json::json;
use tokio::{sync::watch, time::timeout};

use super::{Fresh, proxy::Proxy};

/// For how long a server is away: many times longer than the pauses between tries to connect.
const AWAY: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_mins(1);

/// Asks the model once. A call that was interrupted can be made again.
const CHART: &str = r#"
chart     = "asker"
version   = 1
start     = "asking"
authority = "propose"

[any]
cancel = "cancelled"

[state.asking]
run     = "model.reply"
with    = { prompt = "go", into = "reply" }
timeout = "5m"
attempts = 2
on.completed = "done"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Answers once it may, and counts how often it was asked.
struct Slow {
    asked: AtomicUsize,
    answers: watch::Sender<bool>,
}

impl EffectExecutor for Slow {
    fn model(&self) -> &'static str {
        "a slow one"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.subscribe();
        Box::pin(async move {
            drop(answers.wait_for(|answers| *answers).await);
            Completion::text("well said")
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn server_that_restarts_during_a_call_costs_no_second_call() {
    let fresh = Fresh::new().await;
    let (mut proxy, url) = Proxy::before(&fresh).await;
    let store = PostgresStore::open(&url, PostgresOptions::default()).await.expect("it opens");
    let executor = Arc::new(Slow { asked: AtomicUsize::new(0), answers: watch::Sender::default() });
    let context = DriverContext {
        agents: Arc::new(pointsman_agents::all()),
        store: Arc::new(store),
        executor: Arc::<Slow>::clone(&executor),
        observers: Vec::new(),
    };
    let program = Arc::new(context.agents.verify(CHART).expect("the chart is sound"));
    let (run, begun) =
        (new_run_id(), begun(&program, Permissions::default(), &json!({ "goal": "" })));
    let prepared = PreparedRun {
        id: run.clone(),
        program,
        source: CHART.into(),
        goal: "".into(),
        words: Vec::new(),
        begun,
    };
    let queued = Driver::submit(context.clone(), prepared, None, QueueOptions::default()).await;
    queued.expect("it is queued");
    let store = Arc::clone(&context.store);
    let opened = Scheduler::open(Arc::clone(&store), context, SchedulerOptions::default()).await;
    let (_scheduler, mut finished) = opened.expect("it opens");
    let is_asked = async {
        while executor.asked.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, is_asked).await.expect("the call begins");
    proxy.stop().await;
    // The answer comes while nothing can be written.
    executor.answers.send_replace(true);
    tokio::time::sleep(AWAY).await;
    proxy.resume().await;
    let ended = timeout(LIMIT, finished.recv()).await.expect("it ends").expect("it is reported");
    assert_eq!(ended.how.expect("the run is driven to its end"), Disposition::Succeeded);
    assert_eq!(executor.asked.load(Ordering::SeqCst), 1, "the call is made again");
    let lines = store.lines(&run, Seq(0)).await.expect("it is read");
    let names: Vec<_> = lines.iter().map(|line| event_name(line).expect("a name")).collect();
    assert_eq!(names, ["begun", "lifted", "answered"]);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn release_waits_for_a_server_that_restarts() {
    let fresh = Fresh::new().await;
    let (mut proxy, url) = Proxy::before(&fresh).await;
    let store = PostgresStore::open(&url, PostgresOptions::default()).await.expect("it opens");
    let queue = Some(QueueOptions::default());
    let first = Script::new("left").next("it begins");
    let lease = store.create(first.into(), NewRun { queue, ..new_run(5) }).await;
    let lease = lease.expect("it begins");
    proxy.stop().await;
    let (released, ()) = tokio::join!(store.release(lease, Release::Ready), async {
        tokio::time::sleep(AWAY).await;
        proxy.resume().await;
    });
    released.expect("the server is back");
    let other = fresh.open(PostgresOptions::default()).await;
    let claimed = other.claim_ready(1, &Worker::default()).await.expect("it is asked");
    assert_eq!(claimed.len(), 1, "it waits until its lease expires");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn address_without_a_server_is_reported_at_once() {
    let fresh = Fresh::new().await;
    let (mut proxy, url) = Proxy::before(&fresh).await;
    proxy.stop().await;
    let deadline = LIMIT * 10;
    let opened =
        PostgresStore::open(&url, PostgresOptions { deadline, ..PostgresOptions::default() });
    let opened = timeout(LIMIT, opened).await.expect("nobody waits for a wrong address");
    drop(opened.expect_err("nobody is there"));
}

/// A third of a lease passes before it is renewed, and two thirds before it is no longer used.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
async fn one_renewal_without_an_answer_loses_no_lease() {
    let fresh = Fresh::new().await;
    let (proxy, url) = Proxy::before(&fresh).await;
    let store = PostgresStore::open(&url, PostgresOptions::default()).await.expect("it opens");
    let queue = Some(QueueOptions::default());
    let first = Script::new("kept").next("it begins");
    let lease = store.create(first.into(), NewRun { queue, ..new_run(5) }).await;
    let lease = lease.expect("it begins");
    let first = lease.expires().expect("it expires");
    // Nothing else is asked of the server.
    proxy.swallow_next_answer();
    let renewed = async {
        while lease.expires().expect("it expires") == first {
            assert!(!lease.is_over(), "the lease of {} is lost", id("kept"));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LIMIT, renewed).await.expect("it is renewed by the next try");
    assert!(!proxy.waits() && !lease.is_over());
}
