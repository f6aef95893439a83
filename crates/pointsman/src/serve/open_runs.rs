//! The runs that clients look at: an inspector for each, with its checkpoints, in bounded memory.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::id::Seq;
use pointsman_runtime::{clock::Stopwatch, inspect::Inspector, store::RunId};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::{Server, problem::HttpProblem};

/// Runs whose checkpoints are kept.
const OPEN: usize = 8;
/// Entries between two checkpoints of a run, and the bytes that they may take.
const CHECKPOINTS: (u64, usize) = (1_024, 16 << 20);
/// Entries that are read before the next look at the time.
const PAGE: usize = 512;
/// How long a request waits for checkpoints before it is answered with their progress.
const PATIENCE: Duration = Duration::from_millis(400);

/// The runs that were looked at last.
#[derive(Debug, Default)]
pub(super) struct OpenRuns(Mutex<VecDeque<(RunId, Arc<OpenJournal>)>>);

/// A run that is looked at.
#[derive(Debug)]
struct OpenJournal {
    inspector: Arc<AsyncMutex<Inspector>>,
    /// The entry that the fold has come to.
    read: AtomicU64,
}

/// An inspector in front of an entry, or how far it has come.
pub(super) enum Reached {
    /// The next entry is the wanted one.
    Ready(OwnedMutexGuard<Inspector>),
    /// It is still on its way, and continues without the request.
    Reading {
        /// The last entry that it has read.
        read: u64,
    },
}

impl OpenRuns {
    fn find(&self, run: &RunId) -> Option<Arc<OpenJournal>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|(id, _)| id == run)?;
        let found = open.remove(at)?;
        let journal = Arc::clone(&found.1);
        open.push_back(found);
        Some(journal)
    }

    fn keep(&self, run: &RunId, journal: &Arc<OpenJournal>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(id, _)| id != run);
        open.push_back((run.clone(), Arc::clone(journal)));
        if open.len() > OPEN {
            open.pop_front();
        }
    }
}

impl Server {
    /// Brings the inspector of a run in front of an entry, as far as it can in a moment.
    pub(super) async fn reach(&self, run: &RunId, seq: Seq) -> Result<Reached, HttpProblem> {
        let journal = if let Some(journal) = self.open_runs.find(run) {
            journal
        } else {
            let inspector = Inspector::open(self.agents(), Arc::clone(self.store()), run).await?;
            let inspector = inspector.with_checkpoints(CHECKPOINTS.0, CHECKPOINTS.1);
            let inspector = Arc::new(AsyncMutex::new(inspector));
            let journal = Arc::new(OpenJournal { inspector, read: AtomicU64::new(0) });
            self.open_runs.keep(run, &journal);
            journal
        };
        let reading = || Reached::Reading { read: journal.read.load(Ordering::Relaxed) };
        let lock = Arc::clone(&journal.inspector).lock_owned();
        let Ok(mut inspector) = tokio::time::timeout(PATIENCE, lock).await else {
            return Ok(reading());
        };
        let since = Stopwatch::start();
        while !inspector.approach(seq, PAGE).await? {
            journal.read.store(inspector.seq().0, Ordering::Relaxed);
            if since.elapsed() > PATIENCE {
                let reading = reading();
                drop(tokio::spawn(journal.continue_to(inspector, seq)));
                return Ok(reading);
            }
        }
        Ok(Reached::Ready(inspector))
    }
}

impl OpenJournal {
    /// Reads on in the background. The next request meets the same fault of a journal again.
    async fn continue_to(self: Arc<Self>, mut inspector: OwnedMutexGuard<Inspector>, seq: Seq) {
        while let Ok(false) = inspector.approach(seq, PAGE).await {
            self.read.store(inspector.seq().0, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }
}
