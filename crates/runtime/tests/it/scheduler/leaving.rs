//! Runs that a worker gives up before they rest: it stops, or the provider of their model is closed.

use std::sync::atomic::AtomicBool;

use pointsman_kernel::agent::{Fault, FaultClass};
use pointsman_runtime::store::QueueStatus;
use tokio::sync::Semaphore;

use super::*;

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
