//! The scheduler: many runs in one process, and those that wait are on the disk.

use std::{sync::Arc, time::Duration};

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
    driver::{Driver, PreparedRun, Site},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    scheduler::{FinishedRun, Scheduler, SchedulerError},
    store::{RunId, SqliteStore, Store as _},
};
use pointsman_testing::script::begun;
use serde_json::json;

use crate::store::{Folder, Plain as _};

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

fn site(store: &Arc<SqliteStore>, executor: Arc<dyn EffectExecutor>) -> Site {
    let (agents, store) = (Arc::new(pointsman_agents::all()), Arc::<SqliteStore>::clone(store));
    Site { agents, store, executor, observers: Vec::new() }
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
    Event::Given { event: 0, body: body(&json!({ "text": text })).expect("it is JSON") }
}

fn closed() -> Event<Body> {
    Event::Given { event: 1, body: body(&json!({})).expect("it is JSON") }
}

/// Waits until so many runs are parked and none is driven.
async fn parked(scheduler: &Scheduler, wanted: usize) {
    let wait = async {
        while scheduler.census() != (0, wanted) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let came = tokio::time::timeout(LIMIT, wait).await;
    assert!(came.is_ok(), "{:?} instead of {wanted} parked", scheduler.census());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_runs_wait_on_the_disk_and_all_come_to_their_end() {
    let folder = Folder::new("scheduler");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let (scheduler, mut leaving) = Scheduler::open(site, 64);
    let program = program(CHART);
    let ids: Vec<RunId> = (0..1_000).map(|_| new_run_id()).collect();
    // Together, so that they share flushes.
    let begun = ids.iter().map(|id| scheduler.begin(beginning(&program, CHART, id.clone())));
    for begun in futures_util::future::join_all(begun).await {
        begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    }
    parked(&scheduler, 1_000).await;
    for id in &ids {
        assert!(scheduler.send(id, input("hello")));
    }
    parked(&scheduler, 1_000).await;
    for id in &ids {
        // Two events at once: the second must not be lost while the first loads the run.
        assert!(scheduler.send(id, Event::Paused { why: "tea".into(), by: None }));
        assert!(scheduler.send(id, closed()));
    }
    for _ in &ids {
        let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
        let FinishedRun { run, how } = finished.expect("the scheduler is open");
        assert_eq!(how.ok(), Some(Disposition::Succeeded), "run {run}");
    }
    assert_eq!(scheduler.census(), (0, 0));
    let unknown: RunId = "nobody".parse().expect("an id");
    assert!(!scheduler.send(&unknown, closed()));
    assert!(store.runs().expect("readable").iter().all(|row| row.ended.is_some()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parked_run_is_woken_when_its_time_has_come() {
    let folder = Folder::new("sleeper");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let (scheduler, mut leaving) = Scheduler::open(site.clone(), 8);
    let program = program(SLEEPER);
    let id = new_run_id();
    let begun = scheduler.begin(beginning(&program, SLEEPER, id.clone())).await;
    begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    // A slow machine may see it only when its time has come.
    let finished = tokio::select! {
        finished = leaving.recv() => finished,
        () = parked(&scheduler, 1) => {
            tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it is woken")
        }
    };
    let finished = finished.expect("the scheduler is open");
    assert_eq!((finished.run, finished.how.ok()), (id, Some(Disposition::Succeeded)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_an_earlier_process_are_adopted() {
    let folder = Folder::new("adopted");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let program = program(CHART);
    let id = new_run_id();
    {
        let (scheduler, _leaving) = Scheduler::open(site.clone(), 8);
        let begun = scheduler.begin(beginning(&program, CHART, id.clone())).await;
        begun.unwrap_or_else(|error| panic!("it begins: {error}"));
        parked(&scheduler, 1).await;
    }
    let (scheduler, mut leaving) = Scheduler::open(site, 8);
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is adopted: {error}"));
    assert!(scheduler.send(&id, closed()));
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
    assert_eq!(finished.expect("the scheduler is open").how.ok(), Some(Disposition::Succeeded));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_that_were_left_behind_end_with_their_parent() {
    let folder = Folder::new("scheduler-children");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let (scheduler, mut leaving) = Scheduler::open(site, 8);
    let id = new_run_id();
    let begun = scheduler.begin(beginning(&program(CHART), CHART, id.clone())).await;
    begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    parked(&scheduler, 1).await;
    // As good as any child is one that shares its parent's past.
    let child: RunId = format!("{id}-1-0").parse().expect("an id");
    store.fork(&id, Seq(1), child.clone(), 5).await.expect("it is made");
    assert!(scheduler.send(&id, closed()));
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
    assert_eq!(finished.expect("the scheduler is open").how.ok(), Some(Disposition::Succeeded));
    let row = store.reader().run(&child).expect("readable");
    assert_eq!(row.ended.as_deref(), Some("cancelled"));
}

/// Never answers.
struct Mute;

impl EffectExecutor for Mute {
    fn model(&self) -> &'static str {
        "nobody"
    }

    fn perform(&self, _: Permit, _: EffectTask, _: ProgressSink) -> EffectFuture {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_run_goes_on_when_it_is_adopted_and_is_free() {
    let folder = Folder::new("adopted-busy");
    let store = Arc::new(folder.store());
    let site = |executor| site(&store, executor);
    let program = program(CHART);
    let id = new_run_id();
    // Somebody began it, asked a model and was gone.
    let begun = Driver::begin(site(Arc::new(Mute)), beginning(&program, CHART, id.clone())).await;
    let mut driver = begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    driver.give(input("hello")).await.unwrap_or_else(|error| panic!("it hears: {error}"));
    drop(driver);

    let lease = store.claim(&id).await.expect("it can be asked").expect("it is free");
    let (scheduler, mut leaving) = Scheduler::open(site(Arc::new(World)), 8);
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is adopted: {error}"));
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it comes back");
    let how = finished.expect("the scheduler is open").how;
    assert!(matches!(&how, Err(SchedulerError::Held(run)) if *run == id), "{how:?}");

    drop(lease);
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is adopted: {error}"));
    parked(&scheduler, 1).await;
    let row = store.reader().run(&id).expect("readable");
    assert_eq!((&*row.state, row.seq.0), ("waiting", 4), "begun, given, interrupted, answered");
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is known: {error}"));
    parked(&scheduler, 1).await;

    scheduler.close();
    let refused = scheduler.begin(beginning(&program, CHART, new_run_id())).await;
    assert!(matches!(refused, Err(SchedulerError::Closed)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_interrupted_at_a_snapshot_goes_on_when_it_is_adopted() {
    let folder = Folder::new("adopted-snapshot");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let program = program(CHART);
    let id = new_run_id();
    let begun = Driver::begin(site.clone(), beginning(&program, CHART, id.clone())).await;
    let mut driver = begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    // The entries with an even number are words; a snapshot is kept with the 256th.
    while store.reader().run(&id).expect("readable").seq.0 < 255 {
        driver.give(input("hello")).await.unwrap_or_else(|error| panic!("it hears: {error}"));
        driver.turn().await.unwrap_or_else(|error| panic!("it answers: {error}"));
    }
    driver.give(input("hello")).await.unwrap_or_else(|error| panic!("it hears: {error}"));
    drop(driver);
    let row = store.reader().run(&id).expect("readable");
    let kept = store.reader().snapshot(&id).expect("readable").expect("there is one");
    assert_eq!((&*row.state, row.seq.0, kept.seq.0), ("answering", 256, 256));

    let (scheduler, mut leaving) = Scheduler::open(site, 8);
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is adopted: {error}"));
    parked(&scheduler, 1).await;
    let row = store.reader().run(&id).expect("readable");
    assert_eq!((&*row.state, row.seq.0), ("waiting", 258), "interrupted, answered");

    assert!(scheduler.send(&id, closed()));
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
    assert_eq!(finished.expect("the scheduler is open").how.ok(), Some(Disposition::Succeeded));
    scheduler.adopt(id.clone()).await.unwrap_or_else(|error| panic!("it is known: {error}"));
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it has ended");
    let finished = finished.expect("the scheduler is open");
    assert_eq!((finished.run, finished.how.ok()), (id, Some(Disposition::Succeeded)));
    assert_eq!(scheduler.census(), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_are_heard_and_wake_a_run_that_is_parked() {
    let folder = Folder::new("scheduler-messages");
    let store = Arc::new(folder.store());
    let site = site(&store, Arc::new(World));
    let (scheduler, mut leaving) = Scheduler::open(site.clone(), 8);
    let program = program(CHART);
    let (id, other) = (new_run_id(), new_run_id());
    let first =
        PreparedRun { words: vec![input("hello")], ..beginning(&program, CHART, id.clone()) };
    scheduler.begin(first).await.unwrap_or_else(|error| panic!("it begins: {error}"));
    parked(&scheduler, 1).await;
    let row = store.reader().run(&id).expect("readable");
    assert_eq!((&*row.state, row.seq.0), ("waiting", 3), "begun, given, answered");

    // Another process says something, and then that this was all.
    let send = |id: RunId, event: Event<Body>| {
        let store = folder.store();
        let event = serde_json::to_string(&event).expect("it is JSON");
        async move { store.send(&id, &event).await.expect("it is posted") }
    };
    send(id.clone(), input("and now?")).await;
    send(id.clone(), closed()).await;
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
    let finished = finished.expect("the scheduler is open");
    assert_eq!((&finished.run, finished.how.ok()), (&id, Some(Disposition::Succeeded)));
    assert_eq!(store.reader().run(&id).expect("readable").seq.0, 6, "given, answered, given");

    let begun = scheduler.begin(beginning(&program, CHART, other.clone())).await;
    begun.unwrap_or_else(|error| panic!("it begins: {error}"));
    parked(&scheduler, 1).await;
    send(other.clone(), Event::Cancelled { scope: Scope::Run }).await;
    let finished = tokio::time::timeout(LIMIT, leaving.recv()).await.expect("it ends");
    let finished = finished.expect("the scheduler is open");
    assert_eq!((finished.run, finished.how.ok()), (other, Some(Disposition::Cancelled)));
}
