//! Leases: one owner at a time appends to a run.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::RunId;
use crate::clock::boot_ms;

/// The right to append to a run, until it is given up, dropped or lost.
///
/// The value is the ownership: its holder drives the run. The store's own part, such as a locked
/// file, is inside and goes with it.
#[must_use = "a lease that is dropped is given up"]
pub struct Lease {
    run: RunId,
    epoch: u64,
    expires_ms: Option<Arc<AtomicU64>>,
    deadline_ms: Option<Arc<AtomicU64>>,
    guard: Box<dyn Any + Send + Sync>,
}

impl Lease {
    /// Makes a lease: for stores. The guard is dropped with it.
    pub fn new(run: RunId, epoch: u64, guard: impl Any + Send + Sync) -> Self {
        Self { run, epoch, expires_ms: None, deadline_ms: None, guard: Box::new(guard) }
    }

    /// Has it expire at a time that the store moves on when it is renewed: for stores.
    pub fn until(self, expires_ms: Arc<AtomicU64>) -> Self {
        Self { expires_ms: Some(expires_ms), ..self }
    }

    /// Has its owner stop using it at a time of [`boot_ms`], which the store moves on, too: for stores
    /// whose clock is another machine's.
    pub fn usable_until(self, deadline_ms: Arc<AtomicU64>) -> Self {
        Self { deadline_ms: Some(deadline_ms), ..self }
    }

    /// Returns whether its owner must not use it any more: another may have the run soon.
    pub fn is_over(&self) -> bool {
        let deadline = self.deadline_ms.as_ref().map(|at| at.load(Ordering::Acquire));
        deadline.is_some_and(|at| boot_ms() >= at)
    }

    /// Returns when it ends unless it is renewed, in milliseconds since 1970; nothing if it lasts as
    /// long as its owner.
    pub fn expires(&self) -> Option<u64> {
        self.expires_ms.as_ref().map(|at| at.load(Ordering::Acquire))
    }

    /// Returns the run.
    pub const fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the epoch: a run's later leases have higher ones.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns what the store has put inside; nothing in a lease of another kind of store.
    pub fn guard<G: 'static>(&self) -> Option<&G> {
        self.guard.downcast_ref()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lease = f.debug_struct("Lease");
        lease.field("run", &self.run).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
