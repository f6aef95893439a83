//! The scheduler: the runs of a queue, many at a time; waiting runs are only on disk.

mod leaving;
mod machine;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::{
    agents::Program,
    body::Body,
    chart::Disposition,
    event::{Event, Scope},
    governor::Permissions,
    id::Seq,
    journal::body,
};
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    metrics::{MetricsText, RunMetrics},
    scheduler::{DriverContexts, FinishedRun, Scheduler, SchedulerError, SchedulerOptions},
    store::{QueueOptions, RunId, SqliteStore, Store as _},
};
use pointsman_testing::{script::begun, stand_in::Mute};
use serde_json::json;

use crate::store::{Plain as _, TempFolder};

const LIMIT: Duration = Duration::from_mins(1);

/// Waits for a word, asks the model, waits again; the end of the input ends it.
const CHART: &str = r#"
chart     = "echo"
version   = 1
start     = "waiting"
authority = "propose"

[any]
cancel = "cancelled"

[state.waiting]
await = ["input", "input_closed"]
on.input        = "answering"
on.input_closed = "done"

[state.answering]
run     = "model.reply"
with    = { prompt = "{input}", into = "reply" }
timeout = "10s"
# One that is interrupted can be made again.
attempts = 2
on.completed = "waiting"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Waits two seconds and is done.
const SLEEPER: &str = r#"
chart     = "sleeper"
version   = 1
start     = "waiting"
authority = "text"

[any]
cancel = "cancelled"

[state.waiting]
await   = ["input"]
timeout = "2s"
on.input   = "done"
on.timeout = "done"

[state.done]
final = "succeeded"
[state.cancelled]
final = "cancelled"
"#;

struct World;

impl EffectExecutor for World {
    fn model(&self) -> &'static str {
        "a script"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(async { Completion::text("well said") })
    }
}

fn context(store: &Arc<SqliteStore>, executor: Arc<dyn EffectExecutor>) -> DriverContext {
    let (agents, store) = (Arc::new(pointsman_agents::all()), Arc::<SqliteStore>::clone(store));
    DriverContext { agents, store, executor, observers: Vec::new() }
}

fn program(source: &str) -> Arc<Program> {
    Arc::new(crate::program(source))
}

fn beginning(program: &Arc<Program>, source: &str, id: RunId) -> PreparedRun {
    let begun = begun(program, Permissions::default(), &json!({ "goal": "" }));
    PreparedRun {
        id,
        program: Arc::clone(program),
        source: source.into(),
        goal: "".into(),
        words: Vec::new(),
        begun,
    }
}

fn input(text: &str) -> Event<Body> {
    Event::Given { event: 0, body: body(&json!({ "text": text })).expect("the body is valid JSON") }
}

fn closed() -> Event<Body> {
    Event::Given { event: 1, body: body(&json!({})).expect("the body is valid JSON") }
}

/// Queues a run of a chart.
async fn submit(context: &DriverContext, program: &Arc<Program>, source: &str, id: &RunId) {
    let beginning = beginning(program, source, id.clone());
    let queued = Driver::submit(context.clone(), beginning, None, QueueOptions::default()).await;
    queued.unwrap_or_else(|error| panic!("run {id} is queued: {error}"));
}

/// Opens a scheduler that looks at the queue often.
async fn open(
    context: &DriverContext,
    jobs: usize,
) -> (Scheduler, tokio::sync::mpsc::UnboundedReceiver<FinishedRun>) {
    let (poll, retry) = (Duration::from_millis(20), Duration::from_millis(20));
    let options = SchedulerOptions { jobs, poll, retry, ..SchedulerOptions::default() };
    let opened = Scheduler::open(Arc::clone(&context.store), context.clone(), options).await;
    opened.unwrap_or_else(|error| panic!("the scheduler opens: {error}"))
}

async fn send(store: &SqliteStore, run: &RunId, event: &Event<Body>) {
    let event = serde_json::to_string(event).expect("the value serialises");
    store.send(run, &event).await.unwrap_or_else(|error| panic!("run {run}: {error}"));
}

/// Waits until a run is at this entry.
async fn reaches(store: &SqliteStore, run: &RunId, seq: u64) {
    let wait = async {
        while store.reader().run(run).expect("the run is readable").seq.0 < seq {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let came = tokio::time::timeout(LIMIT, wait).await;
    assert!(came.is_ok(), "{:?} instead of entry {seq}", store.reader().run(run));
}

async fn rested(scheduler: &Scheduler) {
    let wait = async {
        while scheduler.driven() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let came = tokio::time::timeout(LIMIT, wait).await;
    assert!(came.is_ok(), "{} runs do not rest", scheduler.driven());
}

async fn finished(
    leaving: &mut tokio::sync::mpsc::UnboundedReceiver<FinishedRun>,
) -> (RunId, Result<Disposition, SchedulerError>) {
    let finished = tokio::time::timeout(LIMIT, leaving.recv())
        .await
        .expect("the event comes before the timeout");
    let FinishedRun { run, how } = finished.expect("the scheduler is open");
    (run, how)
}

/// Returns the names of a run's events, in order.
fn events(store: &SqliteStore, run: &RunId) -> Vec<String> {
    let lines = store.reader().lines(run, Seq(0)).expect("the journal is readable");
    let name = |line: &String| {
        let entry: serde_json::Value = serde_json::from_str(line).expect("the text is valid JSON");
        match &entry["event"] {
            serde_json::Value::String(name) => name.clone(),
            event => {
                event.as_object().expect("an event has a name").keys().next().cloned().expect("one")
            }
        }
    };
    lines.iter().map(name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousand_queued_runs_wait_on_disk_and_all_end() {
    let folder = TempFolder::new("scheduler");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let program = program(CHART);
    let ids: Vec<RunId> = (0..1_000).map(|_| new_run_id()).collect();
    // Together, so that they share flushes.
    futures_util::future::join_all(ids.iter().map(|id| submit(&context, &program, CHART, id)))
        .await;
    let (scheduler, mut leaving) = open(&context, 64).await;
    for id in &ids {
        reaches(&store, id, 2).await;
    }
    for id in &ids {
        send(&store, id, &input("hello")).await;
    }
    for id in &ids {
        reaches(&store, id, 4).await;
    }
    for id in &ids {
        // Two at once: the second must not be lost while the first wakes the run.
        send(&store, id, &Event::Paused { why: "tea".into(), by: None }).await;
        send(&store, id, &closed()).await;
    }
    for _ in &ids {
        let (run, how) = finished(&mut leaving).await;
        assert_eq!(how.ok(), Some(Disposition::Succeeded), "run {run}");
    }
    assert!(store.runs().expect("the runs are readable").iter().all(|row| row.ended.is_some()));
    rested(&scheduler).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_what_the_scheduler_drives() {
    let folder = TempFolder::new("scheduler-metrics");
    let store = Arc::new(folder.store());
    let mut context = context(&store, Arc::new(World));
    let program = program(CHART);
    let metrics = Arc::new(RunMetrics::new(&context.agents));
    context.observers.push(metrics.observer(program.agent().name));
    let ids: Vec<RunId> = (0..3).map(|_| new_run_id()).collect();
    for id in &ids {
        submit(&context, &program, CHART, id).await;
        send(&store, id, &input("hello")).await;
        send(&store, id, &closed()).await;
    }
    let (_scheduler, mut leaving) = open(&context, 2).await;
    for _ in &ids {
        assert_eq!(finished(&mut leaving).await.1.ok(), Some(Disposition::Succeeded));
    }
    let mut text = MetricsText::default();
    metrics.write(&mut text);
    let text = text.finish();
    let agent = program.agent().name;
    for line in [
        format!("pointsman_runs_ended_total{{agent=\"{agent}\",status=\"succeeded\"}} 3"),
        format!("pointsman_attempts_total{{agent=\"{agent}\",by=\"model\",first=\"yes\"}} 3"),
        format!("pointsman_queue_wait_seconds_count{{agent=\"{agent}\"}} 3"),
        format!("pointsman_budget_left_ratio_count{{agent=\"{agent}\"}} 3"),
        format!("pointsman_takeovers_total{{agent=\"{agent}\"}} 0"),
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
}

/// Counts starts, and repeated ones.
#[derive(Default)]
struct Counting(AtomicUsize, AtomicUsize);

impl EffectExecutor for Counting {
    fn model(&self) -> &'static str {
        "a count"
    }

    fn perform(&self, permit: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.fetch_add(usize::from(permit.again), Ordering::SeqCst);
        Box::pin(async { Completion::text("counted") })
    }
}

/// Asks the model at once.
fn eager() -> String {
    CHART.replace("start     = \"waiting\"", "start     = \"answering\"").replace("{input}", "go")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_run_starts_nothing_until_a_worker_drives_it() {
    let folder = TempFolder::new("scheduler-eager");
    let store = Arc::new(folder.store());
    let counts = Arc::new(Counting::default());
    let context = context(&store, Arc::<Counting>::clone(&counts));
    let (chart, id) = (eager(), new_run_id());
    submit(&context, &program(&chart), &chart, &id).await;
    assert_eq!(counts.0.load(Ordering::SeqCst), 0, "nobody drives it yet");
    let (scheduler, _leaving) = open(&context, 2).await;
    reaches(&store, &id, 3).await;
    rested(&scheduler).await;
    assert_eq!(events(&store, &id), ["begun", "lifted", "answered"]);
    let counted = [&counts.0, &counts.1].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counted, [1, 0], "started once, and not again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_with_the_same_name_makes_no_second_run() {
    let folder = TempFolder::new("scheduler-request");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let program = program(CHART);
    let ask = |id: RunId| {
        let (context, beginning) = (context.clone(), beginning(&program, CHART, id));
        Driver::submit(context, beginning, Some("order 7".into()), QueueOptions::default())
    };
    let first = new_run_id();
    ask(first.clone()).await.unwrap_or_else(|error| panic!("it is queued: {error}"));
    let again = ask(new_run_id()).await.expect_err("the request was made before");
    assert!(again.to_string().contains(first.as_str()), "{again}");
    assert_eq!(store.runs().expect("the runs are readable").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_run_is_woken_when_its_time_has_come() {
    let folder = TempFolder::new("sleeper");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let (_scheduler, mut leaving) = open(&context, 8).await;
    let id = new_run_id();
    submit(&context, &program(SLEEPER), SLEEPER, &id).await;
    let (run, how) = finished(&mut leaving).await;
    assert_eq!((run, how.ok()), (id, Some(Disposition::Succeeded)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_that_were_left_behind_end_with_their_parent() {
    let folder = TempFolder::new("scheduler-children");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let (scheduler, mut leaving) = open(&context, 8).await;
    let id = new_run_id();
    submit(&context, &program(CHART), CHART, &id).await;
    reaches(&store, &id, 2).await;
    rested(&scheduler).await;
    // As good as any child is one that shares its parent's past.
    let child: RunId = format!("{id}-1-0").parse().expect("a child's id");
    store.fork(&id, Seq(1), child.clone(), 5).await.expect("the run is forked");
    send(&store, &id, &closed()).await;
    let (_, how) = finished(&mut leaving).await;
    assert_eq!(how.ok(), Some(Disposition::Succeeded));
    let row = store.reader().run(&child).expect("the child is readable");
    assert_eq!(row.ended.as_deref(), Some("cancelled"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_schedulers_runs_are_resumed_by_the_next_one() {
    let folder = TempFolder::new("scheduler-next");
    let store = Arc::new(folder.store());
    let (chart, id) = (eager(), new_run_id());
    let mute = context(&store, Arc::new(Mute));
    submit(&mute, &program(&chart), &chart, &id).await;
    let (scheduler, _leaving) = open(&mute, 1).await;
    reaches(&store, &id, 2).await;
    drop(scheduler);

    let (scheduler, mut leaving) = open(&context(&store, Arc::new(World)), 1).await;
    reaches(&store, &id, 4).await;
    rested(&scheduler).await;
    assert_eq!(events(&store, &id), ["begun", "lifted", "interrupted", "answered"]);
    send(&store, &id, &closed()).await;
    assert_eq!(finished(&mut leaving).await.1.ok(), Some(Disposition::Succeeded));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_of_another_owner_is_left_alone() {
    let folder = TempFolder::new("scheduler-owner");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let (owned, free) = (new_run_id(), new_run_id());
    let program = program(CHART);
    submit(&context, &program, CHART, &owned).await;
    let lease = store.claim(&owned).await.expect("the store answers").expect("no owner yet");
    let (_scheduler, _leaving) = open(&context, 8).await;
    submit(&context, &program, CHART, &free).await;
    reaches(&store, &free, 2).await;
    assert_eq!(store.reader().run(&owned).expect("the run is readable").seq.0, 1);
    drop(lease);
    reaches(&store, &owned, 2).await;
}

/// A context that fails for one run this many times.
struct Failing(DriverContext, RunId, AtomicUsize);

#[async_trait::async_trait]
impl DriverContexts for Failing {
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError> {
        let fails = |left: usize| left.checked_sub(1);
        if *run != self.1 || self.2.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_err()
        {
            return Ok(self.0.clone());
        }
        let why = "its folder is gone".into();
        Err(SchedulerError::Context { run: run.clone(), why })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_run_is_retried_without_blocking_others() {
    let folder = TempFolder::new("scheduler-failing");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let (bad, good) = (new_run_id(), new_run_id());
    let program = program(CHART);
    submit(&context, &program, CHART, &bad).await;
    submit(&context, &program, CHART, &good).await;
    let failing = Failing(context.clone(), bad.clone(), AtomicUsize::new(2));
    let (poll, retry) = (Duration::from_millis(20), Duration::from_millis(20));
    let options = SchedulerOptions { jobs: 1, poll, retry, ..SchedulerOptions::default() };
    let opened = Scheduler::open(Arc::clone(&context.store), failing, options).await;
    let (scheduler, mut leaving) = opened.expect("the store answers");
    for _ in 0..2 {
        let (run, how) = finished(&mut leaving).await;
        assert_eq!(run, bad);
        assert!(how.is_err_and(|error| error.to_string().contains("its folder is gone")));
    }
    reaches(&store, &good, 2).await;
    reaches(&store, &bad, 2).await;
    scheduler.drain(LIMIT).await;
    submit(&context, &program, CHART, &new_run_id()).await;
    assert!(leaving.recv().await.is_none(), "a drained scheduler claims nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_other_processes_wake_a_parked_run() {
    let folder = TempFolder::new("scheduler-messages");
    let store = Arc::new(folder.store());
    let context = context(&store, Arc::new(World));
    let (_scheduler, mut leaving) = open(&context, 8).await;
    let program = program(CHART);
    let (id, other) = (new_run_id(), new_run_id());
    let first =
        PreparedRun { words: vec![input("hello")], ..beginning(&program, CHART, id.clone()) };
    let queued = Driver::submit(context.clone(), first, None, QueueOptions::default()).await;
    queued.unwrap_or_else(|error| panic!("it is queued: {error}"));
    reaches(&store, &id, 4).await;
    assert_eq!(events(&store, &id), ["begun", "lifted", "given", "answered"]);

    let elsewhere = folder.store();
    send(&elsewhere, &id, &input("and now?")).await;
    send(&elsewhere, &id, &closed()).await;
    let (run, how) = finished(&mut leaving).await;
    assert_eq!((&run, how.ok()), (&id, Some(Disposition::Succeeded)));
    assert_eq!(
        store.reader().run(&id).expect("the run is readable").seq.0,
        7,
        "given, answered, given"
    );

    submit(&context, &program, CHART, &other).await;
    reaches(&store, &other, 2).await;
    send(&elsewhere, &other, &Event::Cancelled { scope: Scope::Run }).await;
    let (run, how) = finished(&mut leaving).await;
    assert_eq!((run, how.ok()), (other, Some(Disposition::Cancelled)));
}
