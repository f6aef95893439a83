//! The runs of a queue, many at a time in one process.
//!
//! A run waits in its store: for a worker, for a message or for its wake-up time. A scheduler claims
//! runs that are ready, drives each until it rests, and parks it again, so a run that waits takes
//! no memory here. Any number of schedulers share one store.

use std::{
    collections::HashMap,
    future::{Future as _, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use async_trait::async_trait;
use pointsman_kernel::{
    agents::Program,
    chart::{Disposition, RefusedChart},
    event::Pauser,
    id::{Digest, Seq},
};
use thiserror::Error;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
};

use crate::{
    clock::now_ms,
    driver::{DriveError, Driver, DriverContext},
    store::{Change, Changes, Lease, RunId, Store, StoreError, Worker},
    task::{RunTask, TaskEnd, Until},
    watch::PauseSignal,
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
    Chart(RunId, RefusedChart),
    /// A fault of this program stopped the run.
    #[error("internal error (panic) in run {0}; see the log")]
    Panicked(RunId),
    /// The run's context cannot be set up here.
    #[error("run {run} cannot be driven here: {why}")]
    Context {
        /// The run.
        run: RunId,
        /// The reason.
        why: String,
    },
}

/// Finds the context of a run: what acts for it, in which folder, with which model.
#[async_trait]
pub trait DriverContexts: Send + Sync + 'static {
    /// Returns the context of a run.
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError>;
}

/// One context for all runs.
#[async_trait]
impl DriverContexts for DriverContext {
    async fn context(&self, _: &RunId) -> Result<Self, SchedulerError> {
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
    /// Opens a scheduler. The receiver gets each run that has ended or failed.
    pub async fn open(
        store: Arc<dyn Store>,
        contexts: impl DriverContexts,
        options: SchedulerOptions,
    ) -> Result<(Self, mpsc::UnboundedReceiver<FinishedRun>), StoreError> {
        let changes = store.changes().await?;
        let (finished, leaving) = mpsc::unbounded_channel();
        let (claims, closed) = watch::channel(true);
        let (count, driven) = watch::channel(0);
        let shared = Arc::new(Shared {
            store,
            contexts: Box::new(contexts),
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
    contexts: Box<dyn DriverContexts>,
    /// Programs by the digest of their chart's text: many runs share one.
    programs: Mutex<HashMap<Digest, Arc<Program>>>,
    /// Failures of a run in a row, and the time until which it is kept out of the queue.
    failures: Mutex<HashMap<RunId, (u32, u64)>>,
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
    let (mut driving, mut kept_out) = (JoinSet::new(), JoinSet::new());
    loop {
        while driving.try_join_next().is_some() {}
        while kept_out.try_join_next().is_some() {}
        let free = if *open.borrow() { jobs.saturating_sub(driving.len()) } else { 0 };
        let leases = if free == 0 { Vec::new() } else { shared.ready(free, &options.worker).await };
        let found = !leases.is_empty();
        for lease in leases {
            match shared.pause_of(lease.run()) {
                None => drop(driving.spawn(Arc::clone(&shared).drive(lease))),
                // While the lease is held, the run is not ready. Each such claim counts as one
                // without progress, so a store can set the run aside.
                Some(pause) => drop(kept_out.spawn(async move {
                    tokio::time::sleep(pause).await;
                    drop(lease);
                })),
            }
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
        let mut driving = pin!(self.driven(lease));
        let driven = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| driving.as_mut().poll(context)));
            polled.unwrap_or_else(|_| Poll::Ready(Err(SchedulerError::Panicked(run.clone()))))
        });
        let how = match driven.await {
            Ok(rest) => {
                self.failures().remove(&run);
                let Some(ended) = rest else { return };
                Ok(ended)
            }
            Err(error) => {
                tracing::warn!(%run, %error, "the run cannot be driven");
                self.fail(&run);
                Err(error)
            }
        };
        // The journal says the same.
        drop(self.finished.send(FinishedRun { run, how }));
    }

    /// Drives a run until it ends or rests. One that rests is parked.
    async fn driven(&self, lease: Lease) -> Result<Option<Disposition>, SchedulerError> {
        let run = lease.run().clone();
        let context = self.contexts.context(&run).await?;
        let program = self.program(&context, &run).await?;
        // An agent whose questions end with the process stays here until they are answered.
        let lasts = program.agent().questions_last;
        let until = if lasts { Until::Parks } else { Until::Ends { answers: true } };
        let mut driver = Driver::resume(context, program, lease).await?;
        if driver.run().core().paused_by.contains(&Pauser::Worker) {
            driver.heed(Pauser::Worker, PauseSignal::Resume).await?;
        }
        let mut task = RunTask::new(driver, until).with_mailbox().await?;
        loop {
            if let TaskEnd::Ended(ended) = task.run().await? {
                return Ok(Some(ended));
            }
            match task.park().await? {
                Some(again) => task = again,
                None => return Ok(None),
            }
        }
    }

    /// Notes a failure, so that the run is kept out of the queue for a while.
    fn fail(&self, run: &RunId) {
        let mut failures = self.failures();
        let (count, until_ms) = failures.entry(run.clone()).or_default();
        let pause = self.retry.saturating_mul(1 << (*count).min(16)).min(LONGEST_RETRY);
        *count = count.saturating_add(1);
        *until_ms = now_ms().saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    }

    /// Returns for how long a run is still kept out of the queue.
    fn pause_of(&self, run: &RunId) -> Option<Duration> {
        let until_ms = self.failures().get(run)?.1;
        let left = until_ms.checked_sub(now_ms()).filter(|left| *left > 0)?;
        Some(Duration::from_millis(left))
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<RunId, (u32, u64)>> {
        // A count is whole at any time.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn program(
        &self,
        context: &DriverContext,
        run: &RunId,
    ) -> Result<Arc<Program>, SchedulerError> {
        let source = self.store.chart_source(run).await?;
        let digest = Digest::of(source.as_bytes());
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&digest) {
            return Ok(Arc::clone(program));
        }
        let verified = context.agents.verify(&source);
        let program = Arc::new(verified.map_err(|why| SchedulerError::Chart(run.clone(), why))?);
        programs.insert(digest, Arc::clone(&program));
        Ok(program)
    }
}
