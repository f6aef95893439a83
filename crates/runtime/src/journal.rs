//! The journal of one run: writes its entries, and alone gives permission to act on them.
//!
//! Any store can say that an entry was written. Only this module turns that into permits, and
//! executors take nothing else: an effect that was not written down cannot be carried out.

use std::{fmt, sync::Arc, time::Duration};

use pointsman_kernel::id::{Digest, EffectId, Seq};

use crate::{
    plant,
    store::{
        Append, Lease, MessageId, NewRun, Release, RunId, Store, StoreError,
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
        let append = Arc::new(append);
        let (seq, link) = (append.seq, append.line.digest());
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
            let blind = plant::is("unknown-is-written") && self.lease.is_some();
            if blind || self.has(&append, link).await? {
                break self.epoch(&append.run).await?;
            }
            if !failure.is_tried_again(tries) {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            (pause, tries) = (pause.saturating_mul(2), tries + 1);
        };
        let (run, agent) = (&append.run, self.agent);
        // It is written, and the run's next owner may start its effects before we would.
        if self.lease.as_ref().is_some_and(Lease::is_over) {
            return Err(StoreError::Fenced { run: run.clone() });
        }
        let permit = |(effect, again)| Permit { run: run.clone(), agent, effect, again, epoch };
        Ok(Committed { seq, link, permits: starts.into_iter().map(permit).collect() })
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
        })
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
    async fn has(&self, append: &Append, link: Digest) -> Result<bool, StoreError> {
        match self.store.run(&append.run).await {
            Ok(row) => Ok((row.seq, row.link) == (append.seq, link)),
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
}

impl Permit {
    /// Returns the epoch of the lease under which it was written: a provider that knows a later
    /// one refuses it.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Makes one without a journal: for tests of executors and tools.
    #[doc(hidden)]
    pub const fn unwritten(run: RunId, agent: &'static str, effect: EffectId, again: bool) -> Self {
        Self { run, agent, effect, again, epoch: 0 }
    }
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.run, self.effect.seq.0, self.effect.index)
    }
}
