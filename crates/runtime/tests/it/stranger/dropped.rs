//! What a dropped handle leaves behind over a file: nothing. The test is a process of its own, so that
//! all of its threads and child processes come from the runs.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::{agents::Agents, erased::AgentRow, governor::Permissions, id::Seq};
use pointsman_runtime::{
    effect::Permit,
    engine::{Engine, EngineError, RunHandle},
    executor::{Executor, TaskFuture},
    model::{ModelSettings, Spec},
    session::StartOptions,
    store::{RunId, SqliteStore},
    tool::ToolSettings,
};
use serde_json::json;
use tokio::runtime::Handle;

use super::{CHART, Report, Shepherd, Task};
use crate::{children::parent, store::TempFolder, tool::sandbox_helper};

/// Tells the test that it is the process, and where to work.
const PLACE: &str = "POINTSMAN_TEST_DROPPED";
/// How long anything may take that is not stuck.
const LIMIT: Duration = Duration::from_mins(1);

/// Runs a command for longer than the test lasts.
const SLEEPER: &str = r#"
chart     = "sleeper"
version   = 1
start     = "sleeping"
authority = "propose"

[any]
cancel = "cancelled"

[state.sleeping]
run     = "tool.call"
with    = { tool = "shell", args = { command = "touch asleep; sleep 600" }, into = "result" }
tools   = ["shell"]
timeout = "20m"
on.ok     = "done"
on.failed = "failed"
on.denied = "failed"
on.stuck  = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Counts the tasks that it begins, and ends none.
#[derive(Clone, Default)]
struct Slow(Arc<AtomicUsize>);

impl Executor<Shepherd> for Slow {
    fn perform(&self, _: Permit, _: Task) -> TaskFuture<Report> {
        let begun = Arc::clone(&self.0);
        Box::pin(async move {
            begun.fetch_add(1, Ordering::Relaxed);
            std::future::pending().await
        })
    }
}

#[test]
fn dropped_handle_leaves_no_task_lock_process_or_thread() {
    let Some(place) = env::var_os(PLACE).map(PathBuf::from) else {
        let folder = TempFolder::new("dropped");
        let program = env::current_exe().expect("the test binary has a path");
        let test = "stranger::dropped::dropped_handle_leaves_no_task_lock_process_or_thread";
        let mut process = Command::new(program);
        process.args(["--exact", test, "--nocapture"]).env(PLACE, &folder.0);
        let output = process
            .env("POINTSMAN_SANDBOX_HELPER", sandbox_helper())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}\n{errors}");
        return;
    };
    let before = threads();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let tokio = tokio.expect("the runtime starts");
    tokio.block_on(drops(&place)).unwrap_or_else(|error| panic!("{error}"));
    // Those that wait for blocking work end with it.
    drop(tokio);
    assert_eq!(threads(), before);
}

async fn drops(place: &Path) -> Result<(), EngineError> {
    let (engine, slow) = open(place).await?;
    let baseline = alive();
    for round in 0..2 {
        // In a task of an agent's own, in a command, and in a child run.
        let handle = begin(&engine, "shepherd", CHART).await?;
        until("the task begins", || slow.0.load(Ordering::Relaxed) > round).await;
        released(&engine, place, handle, baseline).await?;

        let handle = begin(&engine, "sleeper", SLEEPER).await?;
        let asleep = place.join("work/asleep");
        until("the command begins", || asleep.exists()).await;
        assert!(!children().is_empty(), "the command is a process of ours");
        fs::remove_file(&asleep).expect("the file existed and is removed");
        released(&engine, place, handle, baseline).await?;

        let handle = engine.start(parent()).await?;
        let child: RunId = format!("{}-1-0", handle.run()).parse().expect("the text is a run id");
        let asks = async {
            // Its search is answered, and then its model is asked.
            let answered = |lines: Vec<String>| lines.iter().any(|line| line.contains("answered"));
            while !engine.store().lines(&child, Seq(0)).await.is_ok_and(answered) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LIMIT, asks).await.expect("the child asks its model");
        assert!(alive() > baseline, "the run has a task");
        assert_eq!(held(place), 2, "the parent and the child are locked");
        released(&engine, place, handle, baseline).await?;
        drop(engine.store().claim(&child).await?.expect("nobody has the child"));
    }
    assert_eq!(threads().get("journal"), Some(&1));
    drop(engine);
    until("the store's thread ends", || !threads().contains_key("journal")).await;
    Ok(())
}

async fn open(place: &Path) -> Result<(Engine, Slow), EngineError> {
    let work = place.join("work");
    fs::create_dir_all(&work).expect("the folder is created");
    fs::write(work.join("a.md"), "The oven is lit at four.\n").expect("the file is written");
    let script = place.join("script.jsonl");
    let turn = json!({ "text": "Well.", "delay_ms": 3_600_000 });
    fs::write(&script, format!("{turn}\n").repeat(3)).expect("the file is written");
    let mut tools = ToolSettings::over(work, place.join("index.db"));
    tools.sandbox.helper = Some(sandbox_helper().into());
    let agents: Agents = pointsman_agents::all().with(&[AgentRow::of::<Shepherd>()]);
    let slow = Slow::default();
    let store = SqliteStore::open(&place.join("journal.db"))?;
    let builder = Engine::builder(store).agents(agents).executor::<Shepherd>(slow.clone());
    let engine = builder.workspace(tools).model(ModelSettings::new(Spec::script(&script)));
    Ok((engine.build().await?, slow))
}

async fn begin(engine: &Engine, goal: &str, chart: &str) -> Result<RunHandle, EngineError> {
    let options = StartOptions {
        program: engine.agents().verify(chart).expect("the chart is accepted"),
        source: chart.into(),
        config: json!({ "goal": goal }).into(),
        goal: goal.into(),
        words: Vec::new(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    };
    engine.start(options).await
}

/// Drops the handle of a run, and checks that nothing of it remains.
async fn released(
    engine: &Engine,
    place: &Path,
    handle: RunHandle,
    baseline: usize,
) -> Result<(), EngineError> {
    let run = handle.run().clone();
    assert!(engine.store().claim(&run).await?.is_none(), "its task has it");
    drop(handle);
    until("its tasks end", || alive() == baseline).await;
    until("its locks go", || held(place) == 0).await;
    until("its processes end", || children().is_empty()).await;
    drop(engine.store().claim(&run).await?.expect("nobody has the run"));
    let lines = engine.store().lines(&run, Seq(0)).await?;
    assert!(!lines.is_empty(), "the run stays as it was");
    Ok(())
}

fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Returns how many runs are locked.
fn held(place: &Path) -> usize {
    fs::read_dir(place.join("journal.db.holds")).expect("the folder is readable").count()
}

/// Returns the ids of this process's children.
fn children() -> String {
    let tasks = fs::read_dir("/proc/self/task").expect("the system lists threads").flatten();
    tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect()
}

/// Returns how many threads of each name this process has.
fn threads() -> BTreeMap<String, usize> {
    let mut threads = BTreeMap::new();
    let tasks = fs::read_dir("/proc/self/task").expect("the system lists threads").flatten();
    for name in tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()) {
        *threads.entry(name.trim().to_owned()).or_default() += 1;
    }
    threads
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let waits = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, waits).await.is_ok(), "{what} within a minute");
}
