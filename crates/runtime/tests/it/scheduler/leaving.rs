//! Runs that a worker gives up before they rest: it stops, or the provider of their model is closed.

use std::sync::atomic::AtomicBool;

use pointsman_kernel::{
    agent::{Fault, FaultClass},
    id::Digest,
};
use pointsman_runtime::{
    model::{ModelSettings, Spec},
    session::StartOptions,
    store::QueueStatus,
};
use pointsman_testing::script::{Script, write};
use tokio::sync::Semaphore;

use super::*;
use crate::session::TestSession;

/// Asks twice, one after the other.
const TWICE: &str = r#"
chart     = "twice"
version   = 1
start     = "first"
authority = "propose"

[any]
cancel = "cancelled"

[state.first]
run     = "model.reply"
with    = { prompt = "go", into = "reply" }
timeout = "60s"
on.completed = "second"
on.failed    = "failed"

[state.second]
run     = "model.reply"
with    = { prompt = "again", into = "reply" }
timeout = "60s"
on.completed = "done"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Answers once it is let, and counts what was started.
struct Slow {
    started: AtomicUsize,
    lets: Arc<Semaphore>,
}

impl Slow {
    fn new() -> Arc<Self> {
        Arc::new(Self { started: AtomicUsize::new(0), lets: Arc::new(Semaphore::new(0)) })
    }
}

impl EffectExecutor for Slow {
    fn model(&self) -> &'static str {
        "a slow script"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        self.started.fetch_add(1, Ordering::SeqCst);
        let lets = Arc::clone(&self.lets);
        Box::pin(async move {
            drop(lets.acquire_owned().await);
            Completion::text("at last")
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drained_worker_waits_for_its_effects_and_starts_no_more() {
    let folder = TempFolder::new("scheduler-drain");
    let store = Arc::new(folder.store());
    let chart = TWICE;
    let id = new_run_id();
    let slow = Slow::new();
    let first = context(&store, Arc::<Slow>::clone(&slow));
    submit(&first, &program(chart), chart, &id).await;
    let (scheduler, _leaving) = open(&first, 1).await;
    reaches(&store, &id, 2).await;
    let draining = tokio::spawn(scheduler.drain(LIMIT));
    reaches(&store, &id, 3).await;
    slow.lets.add_permits(9);
    tokio::time::timeout(LIMIT, draining).await.expect("it is drained").expect("without a panic");
    assert_eq!(events(&store, &id), ["begun", "lifted", "paused", "answered"]);
    assert_eq!(slow.started.load(Ordering::SeqCst), 1, "nothing was started after the stop");

    let (_scheduler, mut leaving) = open(&context(&store, Arc::new(World)), 1).await;
    assert_eq!(finished(&mut leaving).await.1.ok(), Some(Disposition::Succeeded));
    assert_eq!(
        events(&store, &id),
        ["begun", "lifted", "paused", "answered", "lifted", "answered"]
    );
}

/// A provider that is asked too often, once.
#[derive(Default)]
struct Limited {
    asked: AtomicUsize,
    refused: AtomicBool,
}

impl EffectExecutor for Limited {
    fn model(&self) -> &'static str {
        "a provider"
    }

    fn provider(&self) -> Option<&str> {
        Some("provider:account")
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let fault = Fault {
            class: FaultClass::RateLimited,
            repeatable: true,
            hint_ms: Some(8_000),
            message: "slow down".into(),
        };
        let first = !self.refused.swap(true, Ordering::SeqCst);
        let answer = if first { Completion::failed(fault) } else { Completion::text("well said") };
        Box::pin(async { answer })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_provider_is_asked_by_no_run() {
    let folder = TempFolder::new("scheduler-gate");
    let store = Arc::new(folder.store());
    let limited = Arc::new(Limited::default());
    let context = context(&store, Arc::<Limited>::clone(&limited));
    let chart = eager();
    let program = program(&chart);
    let (one, two) = (new_run_id(), new_run_id());
    submit(&context, &program, &chart, &one).await;
    let (scheduler, _leaving) = open(&context, 4).await;
    // It is refused, and paused by the gate.
    reaches(&store, &one, 4).await;
    submit(&context, &program, &chart, &two).await;
    reaches(&store, &two, 3).await;
    rested(&scheduler).await;
    let waits = store.reader().run(&two).expect("the run is readable");
    assert_eq!(waits.queue.and_then(|place| place.status), Some(QueueStatus::Waiting));
    assert_eq!(events(&store, &two), ["begun", "paused", "lifted"]);
    assert_eq!(limited.asked.load(Ordering::SeqCst), 1, "the second run asked nobody");
    // When the gate opens both go on, and the second has lost no attempt.
    reaches(&store, &two, 5).await;
    assert_eq!(events(&store, &two), ["begun", "paused", "lifted", "lifted", "answered"]);
    // A busy machine may interrupt the first between two attempts, which is an entry more.
    let answers = || events(&store, &one).iter().filter(|event| *event == "answered").count();
    let answered = async {
        while answers() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, answered).await.expect("the first run is answered");
    let asked = limited.asked.load(Ordering::SeqCst);
    assert_eq!(asked, 3, "{:?}", events(&store, &one));
}

/// Answers once it is let, at a provider.
struct SlowProvider(Arc<Slow>);

impl EffectExecutor for SlowProvider {
    fn model(&self) -> &'static str {
        "a slow provider"
    }

    fn provider(&self) -> Option<&str> {
        Some("provider:account")
    }

    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture {
        self.0.perform(permit, task, shown)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_worker_learns_that_a_provider_is_closed() {
    let folder = TempFolder::new("scheduler-gate-full");
    let store = Arc::new(folder.store());
    let (slow, id) = (Slow::new(), new_run_id());
    let context = context(&store, Arc::new(SlowProvider(Arc::clone(&slow))));
    submit(&context, &program(TWICE), TWICE, &id).await;
    let (scheduler, _leaving) = open(&context, 1).await;
    reaches(&store, &id, 2).await;
    // Another worker was refused.
    store.close_gate("provider:account", LIMIT).await.expect("the gate closes");
    reaches(&store, &id, 3).await;
    slow.lets.add_permits(9);
    rested(&scheduler).await;
    assert_eq!(events(&store, &id), ["begun", "lifted", "paused", "answered"]);
    assert_eq!(slow.started.load(Ordering::SeqCst), 1, "the closed provider is not asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_of_a_newer_build_is_left_to_it() {
    let folder = TempFolder::new("scheduler-newer");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let id = new_run_id();
    submit(&context, &program(CHART), CHART, &id).await;
    // A newer build has written an event that this one does not know.
    let first = store.reader().lines(&id, Seq(0)).expect("the journal is readable").remove(0);
    let prev = Digest::of(first.as_bytes());
    let mut script = Script { run: id.clone(), seq: Seq(1), prev, lines: Vec::new() };
    write(&*store, script.next("from a newer build")).await.expect("the entry is appended");

    let (_scheduler, mut leaving) = open(&context, 1).await;
    let (run, how) = finished(&mut leaving).await;
    assert!(matches!(how, Err(SchedulerError::Unreadable(..))), "{how:?}");
    let waits = store.reader().run(&run).expect("the run is readable").queue;
    // It is deferred: the claim counts as none, and a worker of the newer build can take it.
    assert_eq!(waits.and_then(|place| place.status), Some(QueueStatus::Waiting));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drained_worker_does_not_wait_for_a_resting_child() {
    let desk = tokio::task::block_in_place(|| TestSession::new("scheduler-drain-child"));
    let script = desk.work().join("script.jsonl");
    let turn = json!({ "text": "Well.", "delay_ms": 1_500 });
    std::fs::write(&script, format!("{turn}\n").repeat(20)).expect("the file is written");
    let executor = tokio::task::block_in_place(|| {
        desk.host_of(ModelSettings::new(Spec::script(&script)), None)
    });
    let store = Arc::clone(desk.session.store());
    let context = DriverContext {
        agents: Arc::new(pointsman_agents::all()),
        store: Arc::clone(&store),
        executor: Arc::new(executor),
        observers: Vec::new(),
    };
    let StartOptions { program, source, config, permissions, .. } = crate::children::parent();
    let id = new_run_id();
    let config: serde_json::Value = serde_json::from_str(config.get()).expect("it is JSON");
    let begun = begun(&program, permissions, &config);
    let goal = "When is the oven lit?".into();
    let beginning = PreparedRun {
        id: id.clone(),
        program: Arc::new(program),
        source,
        goal,
        words: Vec::new(),
        begun,
    };
    let queued = Driver::submit(context.clone(), beginning, None, QueueOptions::default()).await;
    queued.unwrap_or_else(|error| panic!("the run is queued: {error}"));
    let (scheduler, _leaving) = open(&context, 1).await;
    // Its job starts with the entry that lifts the queue's pause.
    let child: RunId = format!("{id}-2-0").parse().expect("a child's id");
    let begins = async {
        while store.run(&child).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, begins).await.expect("the child begins");
    // The child's call in progress is waited for, and nothing else of the child.
    let drained = scheduler.drain(Duration::from_hours(1));
    tokio::time::timeout(LIMIT, drained).await.expect("the worker is drained");
    tokio::task::block_in_place(|| drop(desk));
}
