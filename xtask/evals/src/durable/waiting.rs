//! Memory of runs that wait: the store has them, and a scheduler holds nothing of them.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use pointsman_kernel::governor::Permissions;
use pointsman_runtime::{
    clock::new_run_id,
    driver::{Driver, DriverContext, PreparedRun},
    scheduler::{Scheduler, SchedulerOptions},
    store::{QueueOptions, SqliteStore},
};
use pointsman_testing::script::begun;
use serde_json::json;
use tokio::task::JoinSet;

use super::counter::context;

/// Runs that are driven at a time.
const PLACES: usize = 256;
/// Runs that make every room grow which does not grow with the number of runs.
const WARM: usize = 500;
const SETTLES: Duration = Duration::from_mins(2);

/// What waiting runs take.
pub(super) struct Waiting {
    pub(super) runs: usize,
    /// Bytes of memory for each.
    pub(super) bytes: f64,
    /// Bytes of disk for each.
    pub(super) disk: f64,
}

/// Begins so many conversations that wait for a word, and looks at the memory.
#[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
pub(super) fn measure(folder: &Path, runs: usize) -> Result<Waiting> {
    fs::create_dir_all(folder)?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let journal = folder.join("journal.db");
    let store = Arc::new(SqliteStore::open(&journal)?);
    let (before, after) = threads.block_on(async {
        let context = context(&store);
        let options = SchedulerOptions { jobs: PLACES, ..SchedulerOptions::default() };
        let opened = Scheduler::open(Arc::clone(&context.store), context.clone(), options).await;
        let (scheduler, mut finished) = opened?;
        fill(&context, &scheduler, WARM, WARM).await?;
        let before = resident("self")?;
        fill(&context, &scheduler, runs, WARM + runs).await?;
        let after = resident("self")?;
        if let Ok(gone) = finished.try_recv() {
            return Err(anyhow!("run {} did not wait: {:?}", gone.run, gone.how));
        }
        Ok((before, after))
    })?;
    let size = |name: &str| fs::metadata(folder.join(name)).map_or(0, |file| file.len());
    let disk = size("journal.db") + size("journal.db-wal");
    let bytes = after.saturating_sub(before) as f64 / runs.max(1) as f64;
    Ok(Waiting { runs, bytes, disk: disk as f64 / (WARM + runs) as f64 })
}

/// Begins so many more runs, and waits until that many are parked.
async fn fill(
    context: &DriverContext,
    scheduler: &Scheduler,
    more: usize,
    parked: usize,
) -> Result<()> {
    let source = pointsman_agents::chat::CHART;
    let program = pointsman_agents::all().verify(source);
    let program = Arc::new(program.map_err(|refused| anyhow!("chat is refused: {refused:?}"))?);
    let mut all = JoinSet::new();
    for _ in 0..more {
        let begun = begun(&program, Permissions::allow_all(), &json!({}));
        let (id, program) = (new_run_id(), Arc::clone(&program));
        let source = source.into();
        let beginning =
            PreparedRun { id, program, source, goal: "talk".into(), words: Vec::new(), begun };
        all.spawn(Driver::submit(context.clone(), beginning, None, QueueOptions::default()));
        while all.len() >= PLACES {
            all.join_next().await.context("there is one")???;
        }
    }
    while let Some(done) = all.join_next().await {
        done??;
    }
    let since = Instant::now();
    loop {
        // Counting reads every ready run, which takes time from those that are driven.
        if scheduler.driven() == 0 {
            let counts = context.store.queue_counts().await?;
            if counts.ready.saturating_add(counts.leased) == 0 {
                return Ok(());
            }
        }
        if since.elapsed() > SETTLES {
            let counts = context.store.queue_counts().await?;
            let busy = counts.ready.saturating_add(counts.leased);
            bail!("{busy} of {parked} runs do not park");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Returns the bytes of memory that a process has.
pub(crate) fn resident(process: &str) -> Result<u64> {
    let status = format!("/proc/{process}/status");
    let text = fs::read_to_string(status).context("asking for the memory")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    Ok(kib.context("the memory is told in kB")? * 1_024)
}
