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
    id::{Digest, Seq},
    replay::Divergence,
};
use thiserror::Error;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::interval,
};

use crate::{
    clock::boot_ms,
    driver::{DriveError, Driver, DriverContext},
    gate::Gates,
    store::{Change, Changes, Lease, Release, RunId, Store, StoreError, Worker},
    task::{RunTask, TaskEnd, Until},
};

/// The longest time for which a run that cannot be driven is kept out of the queue.
const LONGEST_RETRY: Duration = Duration::from_mins(5);

/// For how many times the first retry a run is deferred that cannot be set up here.
const UNPLACEABLE: u32 = 5;

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
    /// This build cannot replay the run's journal.
    #[error("this build cannot replay run {0}: {1}")]
    Unreadable(RunId, Divergence),
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

impl SchedulerError {
    /// Returns whether another worker may do better: the run was not driven at all.
    const fn is_local(&self) -> bool {
        matches!(self, Self::Context { .. } | Self::Chart(..) | Self::Unreadable(..))
    }

    /// Returns the error of a run that could not be read.
    fn unread(run: &RunId, error: DriveError) -> Self {
        match error {
            DriveError::Diverged { source, .. } => Self::Unreadable(run.clone(), source),
            error => Self::Drive(error),
        }
    }
}

/// Finds the context of a run: what acts for it, in which folder, with which model.
#[async_trait]
pub trait DriverContexts: Send + Sync + 'static {
    /// Returns the context of a run.
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError>;
}

/// Contexts that others use, too.
#[async_trait]
impl<C: DriverContexts> DriverContexts for Arc<C> {
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError> {
        (**self).context(run).await
    }
}

/// One context for all runs.
#[async_trait]
impl DriverContexts for DriverContext {
    async fn context(&self, _: &RunId) -> Result<Self, SchedulerError> {
        Ok(self.clone())
    }
}

/// A scheduler's report on a run that it no longer drives.
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
    /// The worker's abilities.
    pub worker: Worker,
    /// The time between two polls of the queue while no change is announced: the longest delay of
    /// a wake-up.
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
            open: closed.clone(),
            gates: Gates::default(),
            finished,
        });
        let claiming = tokio::spawn(claim(shared, options, changes, closed, count));
        Ok((Self { claims, claiming: Some(claiming), driven }, leaving))
    }

    /// Returns how many runs are driven at this moment.
    pub fn driven(&self) -> usize {
        *self.driven.borrow()
    }

    /// Claims no more runs, and hands over those in progress: nothing new starts, effects in progress
    /// are waited for, and then other schedulers can claim the runs. Runs that take longer than the
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

/// The shared state of a scheduler's tasks.
struct Shared {
    store: Arc<dyn Store>,
    contexts: Box<dyn DriverContexts>,
    /// Programs by the digest of their chart's text: many runs share one.
    programs: Mutex<HashMap<Digest, Arc<Program>>>,
    /// Failures of a run in a row, and the time until which it is kept out of the queue, by a clock that
    /// nobody sets.
    failures: Mutex<HashMap<RunId, (u32, u64)>>,
    retry: Duration,
    /// Whether runs are claimed, and driven on.
    open: watch::Receiver<bool>,
    gates: Gates,
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
        shared.gates.learn(&*shared.store).await;
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
            // Without a free place too: other workers close gates, and the runs here keep to them.
            () = tokio::time::sleep(options.poll) => {}
            // Dropping the scheduler aborts this task.
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
        // The beats wake a task to which nothing happens.
        let mut pulse = lease.pulse().map(|it| (it.clone(), interval(it.every())));
        let mut driving = pin!(self.driven(lease));
        let driven = poll_fn(|context| {
            if let Some((pulse, beats)) = &mut pulse {
                pulse.beat();
                while beats.poll_tick(context).is_ready() {}
            }
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
                if let Err(unnoted) = self.store.fault(&run, &error.to_string()).await {
                    tracing::warn!(%run, error = %unnoted, "the failure cannot be recorded");
                }
                if !error.is_local() {
                    self.fail(&run);
                }
                Err(error)
            }
        };
        // The journal says the same.
        drop(self.finished.send(FinishedRun { run, how }));
    }

    /// Drives a run until it ends or rests. One that rests is parked.
    async fn driven(&self, lease: Lease) -> Result<Option<Disposition>, SchedulerError> {
        let run = lease.run().clone();
        let set_up = async {
            let context = self.contexts.context(&run).await?;
            let program = self.program(&context, &run).await?;
            let read = Driver::read(&context, &program, &run).await;
            let read = read.map_err(|error| SchedulerError::unread(&run, error))?;
            Ok((context, program, read))
        };
        let (context, program, read) = match set_up.await {
            Ok(set_up) => set_up,
            Err(error) => {
                // Another worker may have what is missing here, or a newer build.
                let wait = self.retry.saturating_mul(UNPLACEABLE);
                self.store.release(lease, Release::Deferred { wait }).await?;
                return Err(error);
            }
        };
        // An agent whose questions end with the process stays here until they are answered.
        let lasts = program.agent().questions_last;
        let until = if lasts { Until::Parks } else { Until::Ends { answers: true } };
        let driver = Driver::resume_read(context, program, lease, read).await?;
        let task = RunTask::new(driver, until);
        let mut task = task.with_worker(self.open.clone(), self.gates.clone()).with_watch();
        task.lift_left().await?;
        let mut task = task.with_mailbox().await?;
        loop {
            match task.run().await? {
                TaskEnd::Ended(ended) => return Ok(Some(ended)),
                TaskEnd::Leaves(how) => {
                    task.leave(how).await?;
                    return Ok(None);
                }
                _ => {}
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
        *until_ms = boot_ms().saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    }

    /// Returns for how long a run is still kept out of the queue.
    fn pause_of(&self, run: &RunId) -> Option<Duration> {
        let until_ms = self.failures().get(run)?.1;
        let left = until_ms.checked_sub(boot_ms()).filter(|left| *left > 0)?;
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
