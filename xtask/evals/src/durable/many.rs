//! Figures over many runs: `stats` reads each journal once, however many there are.

use std::{fs, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use pointsman_runtime::{stats::Stats, store::SqliteStore};
use tokio::{runtime::Runtime, task::JoinSet};

use super::counter::Plan;

/// Few runs, and many.
pub(super) const SIZES: [usize; 2] = [1_000, 8_000];
/// Runs that are driven at a time.
const PLACES: usize = 256;
/// Steps of a run, after its first entry.
const STEPS: usize = 4;
/// Times that the figures are made; the fastest counts.
const ROUNDS: usize = 3;

/// What figures over many runs take.
pub(super) struct Many {
    /// Microseconds of processor time for each run, where there are few and where there are many.
    pub(super) each: [f64; 2],
}

impl Many {
    /// Returns how much longer a run takes among many than among few.
    pub(super) fn ratio(&self) -> f64 {
        let [few, many] = self.each;
        many / few
    }
}

/// Makes so many runs in one journal, and the figures over them; then more, and again.
pub(super) fn measure(folder: &Path, sizes: [usize; 2]) -> Result<Many> {
    fs::create_dir_all(folder)?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = Arc::new(SqliteStore::open(&folder.join("journal.db"))?);
    let (mut has, mut each) = (0, [0.0; 2]);
    for (each, size) in each.iter_mut().zip(sizes) {
        fill(&threads, &store, size - has)?;
        has = size;
        let took =
            (0..ROUNDS).map(|_| figures(&threads, &store, size)).collect::<Result<Vec<_>>>()?;
        let took = took.into_iter().min().context("it was measured")?;
        *each = super::micros(took) / f64::from(u32::try_from(size)?);
    }
    Ok(Many { each })
}

fn fill(threads: &Runtime, store: &Arc<SqliteStore>, runs: usize) -> Result<()> {
    let plan = Arc::new(Plan::read()?);
    threads.block_on(async {
        let mut all = JoinSet::new();
        for _ in 0..runs {
            let (plan, store) = (Arc::clone(&plan), Arc::clone(store));
            all.spawn(async move {
                let mut driver = plan.begin(&store).await?;
                for _ in 0..STEPS {
                    driver.turn().await?;
                }
                anyhow::Ok(())
            });
            while all.len() >= PLACES {
                all.join_next().await.context("there is one")???;
            }
        }
        while let Some(done) = all.join_next().await {
            done??;
        }
        Ok(())
    })
}

/// Returns the processor time of making the figures: what else the machine does is not in it.
fn figures(threads: &Runtime, store: &SqliteStore, runs: usize) -> Result<Duration> {
    let started = spent()?;
    let stats = threads.block_on(Stats::over(&pointsman_agents::all(), store, None))?;
    let took = spent()?.saturating_sub(started);
    let (read, unread) = (stats.runs, &stats.unreadable);
    ensure!(u64::try_from(runs)? == read, "of {runs} runs {read} were read: {unread:?}");
    Ok(took)
}

/// Returns the processor time that the threads of this process have had: the journal is read in
/// the background.
fn spent() -> Result<Duration> {
    let mut all = Duration::ZERO;
    for thread in fs::read_dir("/proc/self/task").context("listing the threads")? {
        // A thread may end while it is asked.
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        let nanos = text.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
        all += nanos.map(Duration::from_nanos).context("the time is told in nanoseconds")?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Scratch;

    #[test]
    fn figures_are_made_over_every_run() -> Result<()> {
        let scratch = Scratch::new()?;
        // Figures over fewer or more runs than were made are an error. A few of them may take
        // less time than the system tells apart.
        let many = measure(&scratch.file("many"), [3, 7])?;
        assert!(many.each.iter().all(|it| *it >= 0.0));
        Ok(())
    }
}
