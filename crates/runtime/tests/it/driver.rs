//! The driver: journal before effect; killed at any task, it resumes there.

mod figures;
mod replays;
mod unknown;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use pointsman_agents::research;
use pointsman_kernel::{
    agent::FaultClass,
    agents::Program,
    chart::{Chart, Disposition},
    event::{Event, RunConfig},
    governor::Permissions,
    id::Seq,
    journal::body,
};
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun, RunStatus, fold},
    effect::{Completion, EffectExecutor, EffectFuture, EffectTask, Permit, ProgressSink},
    store::{RunId, SqliteStore, Store as _, StoreError},
};
use pointsman_testing::script;
use serde_json::json;

use crate::store::TempFolder;

/// A world that answers like a good one, hangs at the n-th task, and counts.
struct World {
    hangs_at: usize,
    started: AtomicUsize,
    tools: Mutex<Vec<String>>,
}

impl World {
    fn new(hangs_at: usize) -> Arc<Self> {
        let tools = Mutex::new(Vec::new());
        Arc::new(Self { hangs_at, started: AtomicUsize::new(0), tools })
    }
}

impl EffectExecutor for World {
    fn model(&self) -> &'static str {
        "a script"
    }

    fn perform(&self, _: Permit, task: EffectTask, _: ProgressSink) -> EffectFuture {
        let at = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        if at == self.hangs_at {
            return Box::pin(std::future::pending());
        }
        let done = match task {
            EffectTask::Model(prompt) if prompt.schema.is_none() => {
                Completion::text("It names a file.")
            }
            EffectTask::Model(_) => {
                Completion::text(r#"{"action": "finish", "final": "In main.rs."}"#)
            }
            EffectTask::Tool(call) => {
                self.tools
                    .lock()
                    .expect("no thread panicked while it held the lock")
                    .push(call.arguments.get().to_owned());
                Completion::tool(true, "main.rs:1: fn main()")
            }
            EffectTask::Own(task) => {
                let Ok(research::ResearchTask::Assemble { text, .. }) = task.read() else {
                    panic!("it only assembles: {}", task.get());
                };
                Completion::own(&research::ResearchReport::Assembled { text })
            }
            _ => Completion::fault(FaultClass::Contract, false, "not in this world"),
        };
        Box::pin(async move { done })
    }
}

fn research() -> (Arc<Program>, &'static str) {
    let source = pointsman_agents::all().chart("research").expect("the chart ships");
    (Arc::new(crate::program(source)), source)
}

fn begun(chart: &Chart, permissions: Permissions) -> RunConfig {
    let goal = json!({ "goal": "Where is main?" });
    RunConfig { tools: pointsman_agents::tools(), ..script::begun(chart, permissions, &goal) }
}

fn context(store: &Arc<SqliteStore>, world: &Arc<World>) -> DriverContext {
    let executor = Arc::<World>::clone(world);
    DriverContext {
        agents: Arc::new(pointsman_agents::all()),
        store: Arc::<SqliteStore>::clone(store),
        executor,
        observers: Vec::new(),
    }
}

async fn begin_with(
    context: DriverContext,
    program: (Arc<Program>, &str),
    id: RunId,
    begun: RunConfig,
) -> Driver {
    let (program, source) = program;
    let beginning = PreparedRun {
        id,
        program,
        source: source.into(),
        goal: "goal".into(),
        words: Vec::new(),
        begun,
    };
    let begun = Driver::begin(context, beginning).await;
    begun.unwrap_or_else(|error| panic!("it begins: {error}"))
}

async fn begin(store: &Arc<SqliteStore>, world: &Arc<World>, id: RunId) -> Driver {
    let program = research();
    let begun = begun(&program.0, Permissions::allow_all());
    begin_with(context(store, world), program, id, begun).await
}

/// Drives a run until it ends or waits.
async fn to_the_end(driver: &mut Driver) -> Option<Disposition> {
    loop {
        match driver.status() {
            RunStatus::Ended(ended) => return Some(ended),
            RunStatus::Moving => {}
            _ if driver.is_idle() => return None,
            _ => {}
        }
        driver.turn().await.expect("it is driven");
    }
}

#[tokio::test]
async fn a_run_is_driven_to_its_end_and_its_journal_replays() {
    let folder = TempFolder::new("drive");
    let store = Arc::new(folder.store());
    let world = World::new(0);
    let mut driver = begin(&store, &world, new_run_id()).await;
    assert_eq!(to_the_end(&mut driver).await, Some(Disposition::Succeeded));
    let result = driver.run().result().expect("it has one");
    assert!(result.starts_with("In main.rs."), "{result}");
    let lines = store.reader().lines(driver.id(), Seq(0)).expect("the journal lines are readable");
    let again = fold(&research().0, driver.id(), &lines).expect("it replays");
    let text = |run: &dyn pointsman_kernel::erased::AnyRun| {
        run.snapshot().expect("the snapshot is readable").get().to_owned()
    };
    assert_eq!(text(&*again.run), text(driver.run()));
    let row = store.reader().run(driver.id()).expect("the run is readable");
    assert_eq!((&*row.state, row.ended.as_deref()), ("done", Some("succeeded")));
}

/// Whatever task was in progress when the program was killed, the run resumes and reaches the same
/// end; repeatable work was repeated, and the journal says so.
#[tokio::test]
async fn killed_run_resumes_at_its_last_entry() {
    for hangs_at in 1..=4 {
        let folder = TempFolder::new(&format!("killed-{hangs_at}"));
        let id = new_run_id();
        let written = {
            let store = Arc::new(folder.store());
            let world = World::new(hangs_at);
            let mut driver = begin(&store, &world, id.clone()).await;
            // A task is begun once its entry is on disk.
            let hangs = async {
                while world.started.load(Ordering::SeqCst) < hangs_at {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            };
            tokio::select! {
                ended = to_the_end(&mut driver) => panic!("it ended: {ended:?}"),
                () = hangs => {}
            }
            store.reader().lines(&id, Seq(0)).expect("the journal lines are readable")
        };
        assert_eq!(written.len(), hangs_at, "one entry for each task that was started");
        let store = Arc::new(folder.store());
        let world = World::new(0);
        let lease = store
            .claim(&id)
            .await
            .expect("the store answers the claim")
            .expect("no other owner holds the run");
        let resumed = Driver::resume(context(&store, &world), research().0, lease).await;
        let mut driver = resumed.unwrap_or_else(|error| panic!("it goes on: {error}"));
        assert_eq!(to_the_end(&mut driver).await, Some(Disposition::Succeeded));
        let lines = store.reader().lines(&id, Seq(0)).expect("the journal lines are readable");
        assert_eq!(lines[..hangs_at], written, "what was written stays");
        assert!(lines[hangs_at].contains("interrupted"), "the interruption is written down");
        assert_eq!(lines.len(), 6);
        // A search that only looks may be done again, and only that one is.
        let searches = world.tools.lock().expect("no thread panicked while it held the lock").len();
        assert_eq!(searches, usize::from(hangs_at == 1));
        assert!(fold(&research().0, &id, &lines).is_ok());
    }
}

/// A conversation waits after its reply; the caller does not wait for finished work.
#[tokio::test]
async fn waiting_run_is_detached() {
    let folder = TempFolder::new("parked");
    let store = Arc::new(folder.store());
    let source = pointsman_agents::chat::CHART;
    let chart = Arc::new(crate::program(source));
    let config = body(&json!({})).expect("the body is valid JSON");
    let begun = RunConfig { config, ..begun(&chart, Permissions::allow_all()) };
    let context = context(&store, &World::new(0));
    let mut driver = begin_with(context, (chart, source), new_run_id(), begun).await;
    assert_eq!(to_the_end(&mut driver).await, None);
    let said = body(&json!({ "text": "hello" })).expect("the body is valid JSON");
    let said = Event::Given { event: 0, body: said };
    driver.give(said).await.expect("the run listens");
    let rests = tokio::time::timeout(std::time::Duration::from_mins(2), to_the_end(&mut driver));
    assert_eq!(rests.await.expect("it does not hang"), None);
    assert_eq!(driver.run().core().next, Seq(4), "begun, given, answered");
}

#[tokio::test]
async fn a_journal_that_was_changed_is_not_read() {
    let folder = TempFolder::new("changed");
    let store = Arc::new(folder.store());
    let mut driver = begin(&store, &World::new(0), new_run_id()).await;
    to_the_end(&mut driver).await;
    let id = driver.id().clone();
    drop((driver, store));
    let path: PathBuf = folder.journal();
    let raw = rusqlite::Connection::open(path).expect("the database opens");
    let changed = raw
        .execute("UPDATE entry SET line = replace(line, 'main.rs', 'moin.rs') WHERE seq = 2", [])
        .expect("the SQL runs");
    assert_eq!(changed, 1);
    drop(raw);
    let read = folder.store().reader().lines(&id, Seq(0));
    assert!(matches!(read, Err(StoreError::Damaged { seq: Some(Seq(2)), .. })), "{read:?}");
}

#[tokio::test]
async fn denied_calls_never_start() {
    let folder = TempFolder::new("denied");
    let store = Arc::new(folder.store());
    let world = World::new(0);
    let program = research();
    let begun = begun(&program.0, Permissions::default());
    let mut driver = begin_with(context(&store, &world), program, new_run_id(), begun).await;
    assert_eq!(to_the_end(&mut driver).await, Some(Disposition::Stuck));
    assert!(world.tools.lock().expect("no thread panicked while it held the lock").is_empty());
}
