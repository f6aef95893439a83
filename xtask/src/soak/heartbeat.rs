//! Two engines on one thread: nothing that they do keeps another task of the thread waiting.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};
use pointsman_kernel::{chart::Disposition, governor::Permissions};
use pointsman_runtime::{
    driver::RunStatus, engine::Engine, session::StartOptions, store::SqliteStore, tool,
};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use crate::place::{self, Scratch};

/// Time between two beats, and how late one may be.
const BEAT: Duration = Duration::from_millis(10);
const LATE: Duration = Duration::from_millis(50);
/// Runs of each engine.
const RUNS: usize = 25;
const QUESTION: &str = "How does a run survive a crash?";

/// Drives runs of both engines to their end beside a task that beats.
pub(super) fn runs() -> Result<bool> {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let latest = threads.block_on(async {
        let over = Arc::new(AtomicBool::new(false));
        let beats = tokio::spawn(beat(Arc::clone(&over)));
        let (one, two) = (Scratch::new()?, Scratch::new()?);
        let engines = [engine(&one).await?, engine(&two).await?];
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            for engine in &engines {
                runs.push(engine.start(start(engine)?).await?);
            }
        }
        for run in runs {
            let outcome = run.wait().await?;
            let well = outcome.status == RunStatus::Ended(Disposition::Succeeded);
            ensure!(well, "run {} is {:?}", outcome.run, outcome.status);
        }
        over.store(true, Ordering::Relaxed);
        anyhow::Ok(beats.await?)
    })?;
    println!(
        "{} runs of two engines on one thread; the latest of the beats each 10 ms was {:.1} ms late",
        2 * RUNS,
        latest.as_secs_f64() * 1e3
    );
    Ok(latest <= LATE)
}

async fn engine(scratch: &Scratch) -> Result<Engine> {
    let store = SqliteStore::open(&scratch.file("journal.db"))?;
    let tools = tool::ToolSettings::over(place::root().join("docs"), scratch.file("index.db"));
    let builder = Engine::builder(store).agents(pointsman_agents::all()).workspace(tools);
    Ok(builder.build().await?)
}

fn start(engine: &Engine) -> Result<StartOptions> {
    let source = engine.agents().chart("research").ok_or_else(|| anyhow!("research ships"))?;
    let program = engine.agents().verify(source);
    Ok(StartOptions {
        program: program.map_err(|refused| anyhow!("it is refused: {refused:?}"))?,
        source: source.into(),
        config: json!({ "goal": QUESTION }).into(),
        goal: QUESTION.into(),
        words: Vec::new(),
        permissions: Permissions::allow_all(),
        seed: None,
    })
}

/// Beats until the runs are over, and returns how late the latest beat was. The beat that is due then
/// counts, too.
async fn beat(over: Arc<AtomicBool>) -> Duration {
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut latest = Duration::ZERO;
    loop {
        let due = Instant::now();
        beats.tick().await;
        latest = latest.max(due.elapsed().saturating_sub(BEAT));
        if over.load(Ordering::Relaxed) {
            return latest;
        }
    }
}
