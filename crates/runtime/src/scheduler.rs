//! The runs of a queue, many at a time in one process.
//!
//! A run waits in its store: for a worker, for a message or for its wake-up time. A scheduler claims
//! runs that are ready, drives each until it rests, and parks it again, so a run that waits takes
//! no memory here. Any number of schedulers share one store.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use pointsman_kernel::{
    agents::Program,
    chart::{Disposition, Refused},
    event::Pauser,
    id::{Digest, Seq},
};
use thiserror::Error;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
};

use crate::{
    driver::{DriveError, Driver, Site},
    store::{Change, Changes, Lease, RunId, Store, StoreError, Worker},
    task::{Rest, RunTask, Until},
    watch::Call,
};

/// The longest time for which a run that cannot be driven is kept out of the queue.
const LONGEST_RETRY: Duration = Duration::from_mins(5);

/// The error of a run that a scheduler cannot drive.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// The run cannot be driven.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This build refuses the chart that the run was started with.
    #[error("this build refuses the chart of run {0}: {1}")]
    Chart(RunId, Refused),
    /// A fault of this program stopped the run.
    #[error("internal error (panic) in run {0}; see the log")]
    Panicked(RunId),
    /// The run's site cannot be set up.
    #[error("run {run} cannot be driven here: {why}")]
    Site {
        /// The run.
        run: RunId,
        /// The reason.
        why: String,
    },
}

/// Finds the site of a run: what acts for it, in which folder, with which model.
#[async_trait]
pub trait Sites: Send + Sync + 'static {
    /// Returns the site of a run.
    async fn site(&self, run: &RunId) -> Result<Site, SchedulerError>;
}

/// One site for all runs.
#[async_trait]
impl Sites for Site {
    async fn site(&self, _: &RunId) -> Result<Self, SchedulerError> {
        Ok(self.clone())
    }
}

/// What a scheduler reports of a run that it no longer drives.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run.
    pub run: RunId,
    /// Its end, or the error that stopped it. The journal has all that was done before.
    pub how: Result<Disposition, SchedulerError>,
}

/// The limits of a scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Runs that are driven at a time.
    pub jobs: usize,
    /// What the worker can do.
    pub worker: Worker,
    /// The time between two looks at the queue while no change is announced. A wake-up is late by
    /// this much at most.
    pub poll: Duration,
    /// The time for which a run that cannot be driven is kept out of the queue; it doubles with
    /// each failure.
    pub retry: Duration,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            jobs: 4,
            worker: Worker::default(),
            poll: Duration::from_millis(500),
            retry: Duration::from_secs(1),
        }
    }
}

/// Drives the runs of a queue. Dropping it stops the work in progress: the journals have all that
/// was done, and another scheduler resumes it.
#[derive(Debug)]
pub struct Scheduler {
    claims: watch::Sender<bool>,
    claiming: Option<JoinHandle<()>>,
    driven: watch::Receiver<usize>,
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        if let Some(claiming) = &self.claiming {
            claiming.abort();
        }
    }
}

impl Scheduler {
    /// Opens a scheduler. The receiver is told of each run that has ended or failed.
    pub async fn open(
        store: Arc<dyn Store>,
        sites: impl Sites,
        options: SchedulerOptions,
    ) -> Result<(Self, mpsc::UnboundedReceiver<FinishedRun>), StoreError> {
        let changes = store.changes().await?;
        let (finished, leaving) = mpsc::unbounded_channel();
        let (claims, closed) = watch::channel(true);
        let (count, driven) = watch::channel(0);
        let shared = Arc::new(Shared {
            store,
            sites: Box::new(sites),
            programs: Mutex::default(),
            failures: Mutex::default(),
            retry: options.retry,
            finished,
        });
        let claiming = tokio::spawn(claim(shared, options, changes, closed, count));
        Ok((Self { claims, claiming: Some(claiming), driven }, leaving))
    }

    /// Returns how many runs are driven at this moment.
    pub fn driven(&self) -> usize {
        *self.driven.borrow()
    }

    /// Claims no more runs, and waits until those in progress rest. Runs that take longer than the
    /// limit are stopped; another scheduler resumes them.
    pub async fn drain(mut self, limit: Duration) {
        self.claims.send_replace(false);
        if let Some(mut claiming) = self.claiming.take()
            && tokio::time::timeout(limit, &mut claiming).await.is_err()
        {
            claiming.abort();
        }
    }
}

/// What the tasks of a scheduler share.
struct Shared {
    store: Arc<dyn Store>,
    sites: Box<dyn Sites>,
    /// Programs by the digest of their chart's text: many runs share one.
    programs: Mutex<HashMap<Digest, Arc<Program>>>,
    /// Failures of a run in a row.
    failures: Mutex<HashMap<RunId, u32>>,
    retry: Duration,
    finished: mpsc::UnboundedSender<FinishedRun>,
}

/// Claims and drives runs until the scheduler is closed and none is left.
async fn claim(
    shared: Arc<Shared>,
    options: SchedulerOptions,
    mut changes: Changes,
    mut open: watch::Receiver<bool>,
    count: watch::Sender<usize>,
) {
    let jobs = options.jobs.max(1);
    let mut driving = JoinSet::new();
    loop {
        while driving.try_join_next().is_some() {}
        let free = if *open.borrow() { jobs.saturating_sub(driving.len()) } else { 0 };
        let leases = if free == 0 { Vec::new() } else { shared.ready(free, &options.worker).await };
        let found = !leases.is_empty();
        for lease in leases {
            driving.spawn(Arc::clone(&shared).drive(lease));
        }
        count.send_replace(driving.len());
        if found {
            continue;
        }
        let is_open = *open.borrow();
        if !is_open && driving.is_empty() {
            return;
        }
        tokio::select! {
            Some(_) = driving.join_next() => {}
            () = announced(&mut changes), if free > 0 => {}
            () = tokio::time::sleep(options.poll), if free > 0 => {}
            // A scheduler that is gone has aborted this task.
            closed = open.changed(), if is_open => if closed.is_err() { return },
        }
    }
}

/// Waits until a run may have become ready: a new one, or one with a message.
async fn announced(changes: &mut Changes) {
    while matches!(changes.next().await, Change::Entry { seq, .. } if seq > Seq(1)) {}
}

impl Shared {
    /// Claims runs that are ready. A store that fails is asked again after a while.
    async fn ready(&self, most: usize, worker: &Worker) -> Vec<Lease> {
        match self.store.claim_ready(most, worker).await {
            Ok(leases) => leases,
            Err(error) => {
                tracing::warn!(%error, "the queue cannot be read");
                Vec::new()
            }
        }
    }

    /// Drives a run until it ends, fails or is parked.
    async fn drive(self: Arc<Self>, lease: Lease) {
        let run = lease.run().clone();
        let driven = AssertUnwindSafe(self.driven(lease)).catch_unwind().await;
        let how = match driven.unwrap_or_else(|_| Err(SchedulerError::Panicked(run.clone()))) {
            Ok(rest) => {
                self.failures().remove(&run);
                let Some(ended) = rest else { return };
                Ok(ended)
            }
            Err(error) => {
                tracing::warn!(%run, %error, "the run cannot be driven");
                self.keep_out(&run).await;
                Err(error)
            }
        };
        // The journal says the same.
        drop(self.finished.send(FinishedRun { run, how }));
    }

    /// Drives a run until it ends or rests. One that rests is parked.
    async fn driven(&self, lease: Lease) -> Result<Option<Disposition>, SchedulerError> {
        let run = lease.run().clone();
        let site = self.sites.site(&run).await?;
        let program = self.program(&site, &run).await?;
        // An agent whose questions end with the process stays here until they are answered.
        let lasts = program.agent().questions_last;
        let until = if lasts { Until::Parks } else { Until::Ends { answers: true } };
        let mut driver = Driver::resume(site, program, lease).await?;
        if driver.run().core().paused_by.contains(&Pauser::Worker) {
            driver.heed(Pauser::Worker, Call::Resume).await?;
        }
        let mut task = RunTask::new(driver, until).with_mailbox().await?;
        loop {
            if let Rest::Ended(ended) = task.run().await? {
                return Ok(Some(ended));
            }
            match task.park().await? {
                Some(again) => task = again,
                None => return Ok(None),
            }
        }
    }

    /// Keeps a run that failed out of the queue for a while, so that it does not fail over and over.
    async fn keep_out(&self, run: &RunId) {
        let failures = {
            let mut failures = self.failures();
            let failures = failures.entry(run.clone()).or_default();
            *failures = failures.saturating_add(1);
            *failures
        };
        let pause = self.retry.saturating_mul(1 << failures.saturating_sub(1).min(16));
        if let Ok(Some(lease)) = self.store.claim(run).await {
            tokio::spawn(async move {
                tokio::time::sleep(pause.min(LONGEST_RETRY)).await;
                drop(lease);
            });
        }
    }

    fn failures(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, u32>> {
        // A count is whole at any time.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn program(&self, site: &Site, run: &RunId) -> Result<Arc<Program>, SchedulerError> {
        let source = self.store.chart_source(run).await?;
        let digest = Digest::of(source.as_bytes());
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&digest) {
            return Ok(Arc::clone(program));
        }
        let verified = site.agents.verify(&source);
        let program = Arc::new(verified.map_err(|why| SchedulerError::Chart(run.clone(), why))?);
        programs.insert(digest, Arc::clone(&program));
        Ok(program)
    }
}
