//! Many runs in one process. A run that waits is parked: it lies on the disk, and
//! all that is kept of it here is its name and when to wake it.

mod mailbox;

use std::{
    collections::{BTreeSet, HashMap},
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::Duration,
};

use pointsman_kernel::{
    agents::Program,
    body::Body,
    chart::{Disposition, RefusedChart},
    event::Event,
    id::Digest,
};
use thiserror::Error;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc},
    task::AbortHandle,
};

use crate::{
    clock::now_ms,
    driver::{DriveError, Driver, PreparedRun, Sent, Site, rests},
    engine::{CLAIM_PAUSE, CLAIM_TRIES},
    mailbox::is_word,
    store::{Lease, RunId, StoreError},
    task::{Rest, RunTask, Until},
};

/// How long the clock's keeper sleeps at most, so that it sees a clock that was set.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);

/// Why a scheduler cannot take a run or an event.
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
    /// Somebody else drives the run.
    #[error("run {0} is being driven by another process")]
    Held(RunId),
    /// The scheduler was closed.
    #[error("no more runs are taken: the scheduler is closed")]
    Closed,
}

/// What a scheduler reports of a run that it no longer drives.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run.
    pub run: RunId,
    /// How it ended, or why it could not be driven on. It is then as its journal says.
    pub how: Result<Disposition, SchedulerError>,
}

/// Where a run of this scheduler is.
enum RunSlot {
    /// Somebody drives it and takes events.
    Driven(mpsc::UnboundedSender<Sent>),
    /// It is being loaded; these events wait for it.
    Loading(Vec<Sent>),
    /// It waits on the disk.
    Parked {
        /// When to wake it, if it has a time.
        wake: Option<u64>,
        /// Whether it waits for a word.
        listens: bool,
    },
}

#[derive(Default)]
struct RunSlots {
    runs: HashMap<RunId, RunSlot>,
    /// Parked runs with a time to be woken, in milliseconds since 1970.
    due: BTreeSet<(u64, RunId)>,
}

struct Inner {
    site: Site,
    /// Programs by the digest of their chart's text: many runs share one.
    programs: Mutex<HashMap<Digest, Arc<Program>>>,
    slots: Mutex<RunSlots>,
    places: Arc<Semaphore>,
    due_changed: Arc<Notify>,
    finished: mpsc::UnboundedSender<FinishedRun>,
    keepers: OnceLock<[AbortHandle; 2]>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.keepers.get().into_iter().flatten().for_each(AbortHandle::abort);
    }
}

/// Many runs, driven in this process.
#[derive(Clone)]
pub struct Scheduler(Arc<Inner>);

impl Scheduler {
    /// Opens a scheduler that drives so many runs at a time. What has left it is told through
    /// the receiver.
    ///
    /// Must be called where tasks can be spawned. Messages from other processes are taken,
    /// and wake the run that they are for.
    pub fn open(site: Site, places: usize) -> (Self, mpsc::UnboundedReceiver<FinishedRun>) {
        let (finished, leaving) = mpsc::unbounded_channel();
        let inner = Inner {
            site,
            programs: Mutex::default(),
            slots: Mutex::default(),
            places: Arc::new(Semaphore::new(places.max(1))),
            due_changed: Arc::new(Notify::new()),
            finished,
            keepers: OnceLock::new(),
        };
        let scheduler = Self(Arc::new(inner));
        let weak = || Arc::downgrade(&scheduler.0);
        let time = tokio::spawn(keep_time(weak(), Arc::clone(&scheduler.0.due_changed)));
        let mailbox = tokio::spawn(mailbox::keep(weak()));
        // Set once, here.
        drop(scheduler.0.keepers.set([time.abort_handle(), mailbox.abort_handle()]));
        (scheduler, leaving)
    }

    /// Begins a run; its first entry is on disk when this returns.
    pub async fn begin(&self, beginning: PreparedRun) -> Result<(), SchedulerError> {
        let place = self.place().await?;
        let id = beginning.id.clone();
        let driver = Driver::begin(self.0.site.clone(), beginning).await?;
        self.slots().runs.insert(id, RunSlot::Driven(driver.inbox()));
        self.drive(driver, place);
        Ok(())
    }

    /// Takes a run that is on the disk already. One that rests is parked until something
    /// happens; one that was interrupted goes on, and so does one that a message waits for. One
    /// that has ended is told as such. A run that is here already stays as it is.
    pub async fn adopt(&self, id: RunId) -> Result<(), SchedulerError> {
        let site = &self.0.site;
        let row = site.store.run(&id).await?;
        if self.slots().runs.contains_key(&id) {
            return Ok(());
        }
        if let Some(ended) = row.ended.as_deref().and_then(disposition) {
            self.leave(id, Ok(ended));
            return Ok(());
        }
        let wake = row.wake.map(|wake| row.created_ms.saturating_add(wake));
        let program = self.program(&id).await?;
        let rest = rests(site, &program, &id).await?;
        let listens = rest.as_ref().is_some_and(|rest| rest.listens);
        let messages = site.store.messages(&id).await?;
        let has_mail = messages.iter().any(|message| listens || !is_word(message));
        let mut slots = self.slots();
        if slots.runs.contains_key(&id) {
            return Ok(());
        }
        self.park(&mut slots, id.clone(), wake, listens);
        if rest.is_none() || has_mail {
            self.load(&mut slots, id, Vec::new(), None);
        }
        Ok(())
    }

    /// Takes no more runs, and wakes none. Those that are driven go on until they rest.
    pub fn close(&self) {
        self.0.places.close();
    }

    /// Sends an event to a run, which is loaded if it is parked. Returns whether this
    /// scheduler has such a run.
    pub fn send(&self, id: &RunId, event: Event<Body>) -> bool {
        let event = Sent::Event(event);
        let mut slots = self.slots();
        match slots.runs.get_mut(id) {
            Some(RunSlot::Driven(inbox)) => {
                // Whoever drove it may have broken off: then somebody else goes on with it.
                if let Err(unsent) = inbox.send(event) {
                    self.load(&mut slots, id.clone(), vec![unsent.0], None);
                }
            }
            Some(RunSlot::Loading(waiting)) => waiting.push(event),
            Some(RunSlot::Parked { .. }) => self.load(&mut slots, id.clone(), vec![event], None),
            None => return false,
        }
        true
    }

    /// Returns how many runs are driven or loaded, and how many are parked.
    pub fn census(&self) -> (usize, usize) {
        let slots = self.slots();
        let parked =
            slots.runs.values().filter(|slot| matches!(slot, RunSlot::Parked { .. })).count();
        (slots.runs.len() - parked, parked)
    }

    fn slots(&self) -> MutexGuard<'_, RunSlots> {
        // Every change under the lock is whole, so a panic elsewhere spoils nothing.
        self.0.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn park(&self, slots: &mut RunSlots, id: RunId, wake: Option<u64>, listens: bool) {
        if let Some(wake) = wake {
            slots.due.insert((wake, id.clone()));
            self.0.due_changed.notify_one();
        }
        slots.runs.insert(id, RunSlot::Parked { wake, listens });
    }

    /// Loads a parked run and drives it; claims it first, unless the caller has.
    fn load(&self, slots: &mut RunSlots, id: RunId, events: Vec<Sent>, lease: Option<Lease>) {
        let slot = slots.runs.insert(id.clone(), RunSlot::Loading(events));
        if let Some(RunSlot::Parked { wake: Some(wake), .. }) = slot {
            slots.due.remove(&(wake, id.clone()));
        }
        let scheduler = self.clone();
        tokio::spawn(async move {
            match scheduler.loaded(&id, lease).await {
                Ok((driver, place)) => {
                    let mut slots = scheduler.slots();
                    let inbox = driver.inbox();
                    let slot = slots.runs.insert(id, RunSlot::Driven(inbox.clone()));
                    if let Some(RunSlot::Loading(events)) = slot {
                        for event in events {
                            drop(inbox.send(event));
                        }
                    }
                    drop(slots);
                    scheduler.drive(driver, place);
                }
                Err(error) => scheduler.leave(id, Err(error)),
            }
        });
    }

    async fn loaded(
        &self,
        id: &RunId,
        lease: Option<Lease>,
    ) -> Result<(Driver, OwnedSemaphorePermit), SchedulerError> {
        let place = self.place().await?;
        let lease = match lease {
            Some(lease) => lease,
            None => self.claim(id).await?,
        };
        let program = self.program(id).await?;
        Ok((Driver::resume(self.0.site.clone(), program, lease).await?, place))
    }

    /// Waits for a place.
    async fn place(&self) -> Result<OwnedSemaphorePermit, SchedulerError> {
        let place = Arc::clone(&self.0.places).acquire_owned().await;
        place.map_err(|_| SchedulerError::Closed)
    }

    async fn claim(&self, id: &RunId) -> Result<Lease, SchedulerError> {
        // A process that sends a message claims the run for a moment.
        for _ in 0..CLAIM_TRIES {
            if let Some(lease) = self.0.site.store.claim(id).await? {
                return Ok(lease);
            }
            tokio::time::sleep(CLAIM_PAUSE).await;
        }
        Err(SchedulerError::Held(id.clone()))
    }

    async fn program(&self, id: &RunId) -> Result<Arc<Program>, SchedulerError> {
        let source = self.0.site.store.chart_source(id).await?;
        let digest = Digest::of(source.as_bytes());
        let mut programs = self.0.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&digest) {
            return Ok(Arc::clone(program));
        }
        let verified = self.0.site.agents.verify(&source);
        let program = Arc::new(verified.map_err(|why| SchedulerError::Chart(id.clone(), why))?);
        programs.insert(digest, Arc::clone(&program));
        Ok(program)
    }

    /// Drives a run until it ends, fails or can be parked.
    fn drive(&self, driver: Driver, place: OwnedSemaphorePermit) {
        let scheduler = self.clone();
        tokio::spawn(async move {
            let id = driver.id().clone();
            let mut task = RunTask::new(driver, Until::Parks);
            loop {
                match task.run().await {
                    Ok(Rest::Ended(ended)) => return scheduler.leave(id, Ok(ended)),
                    Ok(_) => {}
                    Err(error) => return scheduler.leave(id, Err(error.into())),
                }
                let mut slots = scheduler.slots();
                let driver = task.driver();
                // Events are sent under the lock: none can slip in between.
                if !driver.is_under_way() && driver.is_idle() {
                    let (wake, listens) = (driver.wakes_at(), driver.listens());
                    // The next to load it must find it free.
                    drop((task, place));
                    scheduler.park(&mut slots, id, wake, listens);
                    return;
                }
            }
        });
    }

    fn leave(&self, run: RunId, how: Result<Disposition, SchedulerError>) {
        self.slots().runs.remove(&run);
        // Where nobody wants to know, nothing is lost: the journal says it all.
        drop(self.0.finished.send(FinishedRun { run, how }));
    }
}

/// Returns how a run ended, by its name.
fn disposition(name: &str) -> Option<Disposition> {
    serde_json::from_value(name.into()).ok()
}

/// Wakes parked runs when their time has come, for as long as the scheduler is there.
async fn keep_time(inner: Weak<Inner>, changed: Arc<Notify>) {
    loop {
        let Some(scheduler) = inner.upgrade().map(Scheduler) else { return };
        let now = now_ms();
        let due: Vec<RunId> = {
            let mut slots = scheduler.slots();
            let later = slots.due.split_off(&(now.saturating_add(1), RunId::from_letters(b"")));
            mem::replace(&mut slots.due, later).into_iter().map(|(_, id)| id).collect()
        };
        for id in due {
            let mut slots = scheduler.slots();
            if matches!(slots.runs.get(&id), Some(RunSlot::Parked { .. })) {
                scheduler.load(&mut slots, id, Vec::new(), None);
            }
        }
        let next =
            scheduler.slots().due.first().map(|(at, _)| Duration::from_millis(at - now.min(*at)));
        // The scheduler may go while nobody is due.
        drop(scheduler);
        let sleep = tokio::time::sleep(next.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP));
        tokio::select! {
            () = sleep => {}
            () = changed.notified() => {}
        }
    }
}
