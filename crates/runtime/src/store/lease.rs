//! Leases: one owner at a time appends to a run.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{RunId, protocol};
use crate::clock::boot_ms;

/// The right to append to a run, until it is given up, dropped or lost.
///
/// The value is the ownership: its holder drives the run. The store's own part, such as a locked
/// file, is inside and is dropped with it.
#[must_use = "a lease that is dropped is given up"]
pub struct Lease {
    run: RunId,
    epoch: u64,
    expires_ms: Option<Arc<AtomicU64>>,
    deadline_ms: Option<Arc<AtomicU64>>,
    ahead_ms: i64,
    pulse: Option<Pulse>,
    guard: Box<dyn Any + Send + Sync>,
}

/// The sign of life of a run's task. A store renews no lease whose owner has given signs and then none
/// for a while: its task hangs, and another worker can do better.
#[derive(Clone, Debug)]
pub struct Pulse {
    limit: Duration,
    /// When the last sign was given, by [`boot_ms`]; 0 if none was.
    last_ms: Arc<AtomicU64>,
}

impl Pulse {
    /// Returns one that stops after so long without a sign: for stores.
    pub fn new(limit: Duration) -> Self {
        Self { limit, last_ms: Arc::default() }
    }

    /// Gives a sign.
    pub fn beat(&self) {
        self.last_ms.store(boot_ms().max(1), Ordering::Release);
    }

    /// Returns how often a sign should be given.
    pub fn every(&self) -> Duration {
        (self.limit / 4).max(Duration::from_millis(1))
    }

    /// Returns whether signs were given, and none for too long.
    pub fn has_stopped(&self) -> bool {
        let last = self.last_ms.load(Ordering::Acquire);
        let since = Duration::from_millis(boot_ms().saturating_sub(last));
        last > 0 && since >= self.limit
    }
}

impl Lease {
    /// Makes a lease: for stores. The guard is dropped with it.
    pub fn new(run: RunId, epoch: u64, guard: impl Any + Send + Sync) -> Self {
        let (expires_ms, deadline_ms, guard) = (None, None, Box::new(guard));
        Self { run, epoch, expires_ms, deadline_ms, ahead_ms: 0, pulse: None, guard }
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

    /// Says how far this machine's clock is ahead of the store's: for stores whose clock is another
    /// machine's.
    pub fn ahead(self, ahead_ms: i64) -> Self {
        Self { ahead_ms, ..self }
    }

    /// Has its owner give signs of life: for stores that renew leases by themselves.
    pub fn beating(self, pulse: Pulse) -> Self {
        Self { pulse: Some(pulse), ..self }
    }

    /// Returns where its owner gives signs of life.
    pub const fn pulse(&self) -> Option<&Pulse> {
        self.pulse.as_ref()
    }

    /// Returns how far this machine's clock was ahead of the store's when the lease was granted, in
    /// milliseconds.
    pub const fn ahead_ms(&self) -> i64 {
        self.ahead_ms
    }

    /// Returns whether its owner must no longer use it: another may have the run soon.
    pub fn is_over(&self) -> bool {
        let deadline = self.deadline_ms.as_ref().map(|at| at.load(Ordering::Acquire));
        deadline.is_some_and(|at| protocol::is_over(boot_ms(), at))
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

    /// Returns the store's own part; nothing for a lease of another kind of store.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulse_stops_only_after_a_sign() {
        let (short, long) = (Pulse::new(Duration::ZERO), Pulse::new(Duration::from_hours(1)));
        assert!(!short.has_stopped(), "its owner gives no signs at all");
        for pulse in [&short, &long] {
            pulse.beat();
        }
        assert!(short.has_stopped());
        assert!(!long.has_stopped());
    }
}
