//! Rounds of equal length, in which callers count what they get done.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use pointsman_runtime::store::Store;
use tokio::task::JoinSet;

use super::counter::Plan;

const ROUND: Duration = Duration::from_millis(1_500);

/// Counts for as long as a round takes.
pub(crate) struct Clock {
    counted: AtomicU64,
    over: AtomicBool,
    since: Instant,
}

impl Clock {
    pub(crate) fn start() -> Arc<Self> {
        let (counted, over) = (AtomicU64::new(0), AtomicBool::new(false));
        Arc::new(Self { counted, over, since: Instant::now() })
    }

    pub(crate) fn runs(&self) -> bool {
        !self.over.load(Relaxed)
    }

    pub(crate) fn count(&self) {
        self.counted.fetch_add(1, Relaxed);
    }

    /// Waits for the end of the round and of all work in progress.
    #[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
    pub(crate) async fn rate(&self, mut all: JoinSet<Result<()>>) -> Result<f64> {
        tokio::time::sleep(ROUND).await;
        self.over.store(true, Relaxed);
        while let Some(done) = all.join_next().await {
            done.context("a run broke off")??;
        }
        Ok(self.counted.load(Relaxed) as f64 / self.since.elapsed().as_secs_f64())
    }
}

/// Drives so many runs side by side for a round, and returns their steps per second.
pub(crate) async fn steps<S: Store>(store: &Arc<S>, runs: usize) -> Result<f64> {
    let plan = Plan::read()?;
    let mut drivers = Vec::new();
    for _ in 0..runs {
        drivers.push(plan.begin(store).await?);
    }
    let clock = Clock::start();
    let mut all = JoinSet::new();
    for mut driver in drivers {
        let clock = Arc::clone(&clock);
        all.spawn(async move {
            while clock.runs() {
                driver.turn().await?;
                clock.count();
            }
            Ok(())
        });
    }
    clock.rate(all).await
}
