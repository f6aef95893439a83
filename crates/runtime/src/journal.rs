//! The journal of one run: writes its entries, and alone gives permission to act on them.
//!
//! Any store can say that an entry was written. Only this module turns that into permits, and
//! executors take nothing else: an effect that was not written down cannot be carried out.

use std::{fmt, sync::Arc, time::Duration};

use pointsman_kernel::{
    id::{Digest, EffectId, Seq},
    journal::Entry,
};

use crate::{
    clock::boot_ms,
    plant,
    store::{
        Append, EntryLine, Lease, MessageId, NewRun, Release, RunId, Store, StoreError,
        protocol::AppendFailure,
    },
};

/// The delay before a write with a lost answer is retried; it doubles each time.
const PAUSE: Duration = Duration::from_millis(50);

/// A run's journal, under a lease once the run is there.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Arc<dyn Store>,
    agent: &'static str,
    lease: Option<Lease>,
}

impl Journal {
    /// Returns the journal of a new run.
    pub(crate) fn new(store: Arc<dyn Store>, agent: &'static str) -> Self {
        Self { store, agent, lease: None }
    }

    /// Returns the journal of a run that the caller has claimed.
    pub(crate) fn of(store: Arc<dyn Store>, agent: &'static str, lease: Lease) -> Self {
        Self { store, agent, lease: Some(lease) }
    }

    /// Writes an entry, the first with the run's opening, and returns once it outlives the process. `starts` are the effects that it permits, each with whether it was started before.
    pub(crate) async fn write(
        &mut self,
        append: Append,
        new_run: Option<NewRun>,
        starts: Vec<(EffectId, bool)>,
    ) -> Result<Committed, StoreError> {
        let mut append = Arc::new(append);
        let mut pause = PAUSE;
        let mut tries = 1;
        let epoch = loop {
            let error = match self.attempt(&append, new_run.as_ref()).await {
                Ok(epoch) => break epoch,
                Err(error) => error,
            };
            let failure = failure(&error);
            if !failure.must_look(tries) {
                return Err(error);
            }
            let is_leased = self.lease.is_some();
            let is_blind = plant::is("blind-retry") && is_leased;
            let is_trusted = plant::is("unknown-is-written") && is_leased;
            if is_trusted || !is_blind && self.has(&append).await? {
                break self.epoch(&append.run).await?;
            }
            if !failure.is_tried_again(tries) {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            if is_blind {
                append = Arc::new(self.moved(&append).await?);
            }
            (pause, tries) = (pause.saturating_mul(2), tries + 1);
        };
        let (run, agent) = (&append.run, self.agent);
        // It is written, and the run's next owner may start its effects before we would.
        let is_unchecked = plant::is("late-permit");
        if is_unchecked {
            tokio::time::sleep(plant::EARLY).await;
        }
        let issued_ms = boot_ms();
        if self.lease.as_ref().is_some_and(Lease::is_over) && !is_unchecked {
            return Err(StoreError::Fenced { run: run.clone() });
        }
        let permit =
            |(effect, again)| Permit { run: run.clone(), agent, effect, again, epoch, issued_ms };
        let permits = starts.into_iter().map(permit).collect();
        Ok(Committed { seq: append.seq, link: append.line.digest(), permits })
    }

    /// Writes an entry once, and returns the epoch that it was written in.
    async fn attempt(
        &mut self,
        append: &Arc<Append>,
        new_run: Option<&NewRun>,
    ) -> Result<u64, StoreError> {
        if let (None, Some(new_run)) = (&self.lease, new_run) {
            let lease = self.store.create(Arc::clone(append), new_run.clone()).await?;
            let epoch = lease.epoch();
            self.lease = Some(lease);
            return Ok(epoch);
        }
        let unclaimed = || StoreError::Fenced { run: append.run.clone() };
        let lease = self.lease.as_ref().ok_or_else(unclaimed)?;
        self.store.append(lease, Arc::clone(append)).await?;
        Ok(lease.epoch())
    }

    /// Returns whether the run is there, and leased.
    pub(crate) const fn is_leased(&self) -> bool {
        self.lease.is_some()
    }

    /// Returns a permit for an effect that is not written: for the planted fault alone.
    pub(crate) fn unwritten(&self, run: &RunId, effect: EffectId) -> Option<Permit> {
        let (lease, agent) = (self.lease.as_ref()?, self.agent);
        let epoch = lease.epoch();
        plant::is("effect-first").then(|| Permit {
            run: run.clone(),
            agent,
            effect,
            again: false,
            epoch,
            issued_ms: boot_ms(),
        })
    }

    /// Returns an entry with the same event, to follow the run's last entry: for the planted fault
    /// alone.
    async fn moved(&self, append: &Append) -> Result<Append, StoreError> {
        let last = self.store.run(&append.run).await?;
        let mut moved = append.clone();
        if let Ok(entry) = Entry::read(&append.line) {
            moved.seq = Seq(last.seq.0.saturating_add(1));
            moved.line = EntryLine::of(&Entry { seq: moved.seq, prev: last.link, ..entry });
        }
        Ok(moved)
    }

    /// Removes a message of the run that no entry will take.
    pub(crate) async fn discard(&self, message: MessageId) -> Result<(), StoreError> {
        match &self.lease {
            Some(lease) => self.store.discard(lease, message).await,
            // A run without a lease has no entry, and so no messages.
            None => Err(StoreError::NoSuchMessage { message }),
        }
    }

    /// Gives the run up, so that another owner can claim it.
    pub(crate) async fn release(self, how: Release) -> Result<(), StoreError> {
        match self.lease {
            Some(lease) => self.store.release(lease, how).await,
            None => Ok(()),
        }
    }

    /// Returns whether the store has this very entry.
    async fn has(&self, append: &Append) -> Result<bool, StoreError> {
        match self.store.run(&append.run).await {
            Ok(row) => Ok((row.seq, row.link) == (append.seq, append.line.digest())),
            Err(StoreError::NoSuchRun { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the epoch of the lease. A run that was created without an answer is claimed first.
    async fn epoch(&mut self, run: &RunId) -> Result<u64, StoreError> {
        if self.lease.is_none() {
            self.lease = self.store.claim(run).await?;
        }
        let lease = self.lease.as_ref().ok_or_else(|| StoreError::Fenced { run: run.clone() })?;
        Ok(lease.epoch())
    }
}

/// Returns what an error says of the entry.
const fn failure(error: &StoreError) -> AppendFailure {
    match error {
        StoreError::Unknown { .. } => AppendFailure::Unknown,
        StoreError::Conflict { .. }
        | StoreError::RunExists { .. }
        | StoreError::Repeated { .. } => AppendFailure::Conflict,
        _ => AppendFailure::Refused,
    }
}

/// An entry that was written, with the right to start its effects.
#[must_use = "committed effects must be started"]
#[derive(Debug)]
pub(crate) struct Committed {
    seq: Seq,
    link: Digest,
    permits: Vec<Permit>,
}

impl Committed {
    /// Returns the entry that was written.
    pub(crate) const fn seq(&self) -> Seq {
        self.seq
    }

    /// Returns the digest of its line, which the next entry holds.
    pub(crate) const fn link(&self) -> Digest {
        self.link
    }

    /// Returns the permits: one for each effect.
    pub(crate) fn into_permits(self) -> Vec<Permit> {
        self.permits
    }
}

/// The right to carry an effect out: its entry was written.
///
/// As text it is an idempotency key: the same before and after a crash, another one in every fork.
#[derive(Debug)]
pub struct Permit {
    /// The run.
    pub run: RunId,
    /// The agent that it is of.
    pub agent: &'static str,
    /// The effect.
    pub effect: EffectId,
    /// Whether it was started before an interruption and may be partly done.
    pub again: bool,
    epoch: u64,
    issued_ms: u64,
}

impl Permit {
    /// Returns the epoch of the lease under which it was written: a provider that knows a later
    /// one refuses it.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns when the lease was checked for it, by the boot clock: for tests of a fleet.
    #[doc(hidden)]
    pub const fn issued_ms(&self) -> u64 {
        self.issued_ms
    }

    /// Makes one without a journal: for tests of executors and tools.
    #[doc(hidden)]
    pub const fn unwritten(run: RunId, agent: &'static str, effect: EffectId, again: bool) -> Self {
        Self { run, agent, effect, again, epoch: 0, issued_ms: 0 }
    }
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.run, self.effect.seq.0, self.effect.index)
    }
}
