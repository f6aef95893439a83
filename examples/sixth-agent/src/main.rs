//! A stranger's agent in a stranger's program.
//!
//! It runs twice: with journals in memory, where the task of the run is dropped and resumed, and
//! with journals in a file, where the process is killed and the next one resumes the run.
//! `docs/embedding.md` walks through it.

mod agent;
mod executor;
mod tool;

use std::{
    env,
    error::Error,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::Ordering,
};

use pointsman_kernel::{
    agents::Agents, chart::Disposition, erased::AgentRow, governor::Permissions, id::Seq,
    job::ToolShape,
};
use pointsman_runtime::{
    driver::RunStatus,
    engine::{Engine, RunHandle},
    session::StartOptions,
    store::{MemoryStore, RunId, SqliteStore, Store},
    timeline::TimelineKind,
    tool::ToolSettings,
};
use serde_json::json;

use agent::Beekeeper;
use executor::Apiary;
use tool::{FILE, LABEL, Label};

const CHART: &str = include_str!("chart.toml");

type Outcome = Result<(), Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome {
    let mut arguments = env::args_os().skip(1);
    if let Some(folder) = arguments.next() {
        return work(Path::new(&folder)).await;
    }
    let folder = env::temp_dir().join(format!("sixth-agent-{}", std::process::id()));
    for part in ["memory", "sqlite"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let done = async {
        in_memory(&folder.join("memory")).await?;
        in_a_file(&folder.join("sqlite")).await
    };
    let done = done.await;
    std::fs::remove_dir_all(&folder)?;
    done
}

/// Sets an engine up: a store, an agent with its chart, its executor and its tool.
async fn engine(
    store: impl Store,
    apiary: &Apiary,
    folder: &Path,
) -> Result<Engine, Box<dyn Error>> {
    let agents = Agents::new()
        .with(&[AgentRow::of::<Beekeeper>()])
        .with_charts(&[("harvest", CHART)])
        .with_tools(&[ToolShape::named(LABEL)]);
    let engine = Engine::builder(store)
        .agents(agents)
        .executor::<Beekeeper>(apiary.clone())
        .workspace(ToolSettings::within(folder))
        .tool(Label);
    Ok(engine.build().await?)
}

async fn start(engine: &Engine) -> Result<RunHandle, Box<dyn Error>> {
    let program = engine.agents().verify(CHART).map_err(|refused| refused.to_string())?;
    let start = StartOptions {
        program,
        source: CHART.into(),
        config: json!({ "hive": "the hive by the oak" }).into(),
        goal: "harvest".into(),
        words: Vec::new(),
        permissions: Permissions::allow_all(),
        seed: None,
    };
    Ok(engine.start(start).await?)
}

/// Waits until the executor is asked about the weather.
async fn until_asked(run: &mut RunHandle) -> Outcome {
    while let Some(notice) = run.next().await {
        if let Some(TimelineKind::Started { what, .. }) = notice.kind()
            && what.starts_with("asks the sky")
        {
            return Ok(());
        }
    }
    Err("the run is over before the sky was asked".into())
}

/// Drops the task of a run in the middle of its work, and resumes the run.
async fn in_memory(folder: &Path) -> Outcome {
    let (store, slow) = (MemoryStore::new(), Apiary { slow: true, ..Apiary::default() });
    let first = engine(store.clone(), &slow, folder).await?;
    let mut run = start(&first).await?;
    until_asked(&mut run).await?;
    let id = run.run().clone();
    drop(run);
    println!("in memory: the task of run {id} was dropped while it asked the sky");
    let second = engine(store, &Apiary { slow: false, ..slow.clone() }, folder).await?;
    finish(&second, &id).await?;
    assert_eq!(slow.opened.load(Ordering::Relaxed), 1, "the hive was opened once");
    Ok(())
}

/// Kills the process that drives a run, and resumes the run.
async fn in_a_file(folder: &Path) -> Outcome {
    let mut child = Command::new(env::current_exe()?).arg(folder).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("its output is piped")?;
    let id = BufReader::new(output).lines().next().ok_or("it says which run it drives")??;
    child.kill()?;
    child.wait()?;
    println!("in a file: the process of run {id} was killed while it asked the sky");
    let apiary = Apiary::default();
    let engine = engine(SqliteStore::open(&journal(folder))?, &apiary, folder).await?;
    finish(&engine, &id.parse()?).await?;
    assert_eq!(apiary.opened.load(Ordering::Relaxed), 0, "the hive was opened before");
    Ok(())
}

/// What the other process does: it begins a run, and is killed.
async fn work(folder: &Path) -> Outcome {
    let slow = Apiary { slow: true, ..Apiary::default() };
    let engine = engine(SqliteStore::open(&journal(folder))?, &slow, folder).await?;
    let mut run = start(&engine).await?;
    until_asked(&mut run).await?;
    println!("{}", run.run());
    run.wait().await?;
    Ok(())
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("journal.db")
}

/// Resumes a run, waits for its end and prints what happened.
async fn finish(engine: &Engine, id: &RunId) -> Outcome {
    let outcome = engine.resume(id).await?.wait().await?;
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    let labels = outcome.result.ok_or("it has a result")?;
    let mut timeline = engine.timeline(id, Seq(0)).await?;
    for item in timeline.next(usize::MAX).await? {
        match &item.kind {
            TimelineKind::Transition { to: Some(to), reason, .. } => {
                println!("  {:>2}  → {to} ({reason})", item.seq.0);
            }
            TimelineKind::Started { what, again, .. } => {
                let again = if *again { ", again" } else { "" };
                println!("  {:>2}    {what}{again}", item.seq.0);
            }
            TimelineKind::Answered { what, .. } => println!("  {:>2}    {what}", item.seq.0),
            kind => {
                if let Some(event) = kind.event() {
                    println!("  {:>2}  {event}", item.seq.0);
                }
            }
        }
    }
    println!("  {labels}; {FILE} says so");
    Ok(())
}
