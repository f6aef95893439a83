//! Gates: a provider that answers 429 with a time to wait accepts no requests until then, from no worker.
//!
//! A run whose provider is closed is paused by the gate, so nothing starts and nothing is charged. It
//! leaves the worker until the gate opens. The store tells other workers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::{
    agent::{Answer, FaultClass},
    event::Event,
};
use tokio::sync::watch;

use crate::{
    clock::{boot_ms, entropy},
    store::Store,
};

/// The longest time for which a provider's word closes its gate.
const LONGEST: Duration = Duration::from_mins(10);
/// Runs come back within this time after a gate opens, so that they do not come all at once.
const JITTER_MS: u64 = 2_000;

/// The gates that this process knows of. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    /// The time since the machine was started at which each opens.
    closed: Arc<Mutex<BTreeMap<Box<str>, u64>>>,
    changed: Arc<watch::Sender<()>>,
    /// How far the clock is set ahead: for tests.
    ahead_ms: Arc<AtomicU64>,
}

impl Gates {
    /// Returns gates whose clock a test can set ahead.
    pub(crate) fn ahead(ahead_ms: Arc<AtomicU64>) -> Self {
        Self { ahead_ms, ..Self::default() }
    }

    fn now_ms(&self) -> u64 {
        boot_ms().saturating_add(self.ahead_ms.load(Ordering::Acquire))
    }

    fn closed(&self) -> MutexGuard<'_, BTreeMap<Box<str>, u64>> {
        // Every change under the lock is whole.
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a gate for a time, unless it is closed for longer.
    pub(crate) fn close(&self, name: &str, wait: Duration) {
        let until = self.now_ms().saturating_add(millis(wait.min(LONGEST)));
        let mut closed = self.closed();
        let has = closed.entry(name.into()).or_default();
        if until > *has {
            *has = until;
            drop(closed);
            self.changed.send_replace(());
        }
    }

    /// Returns for how long a gate is closed still.
    pub(crate) fn wait(&self, name: &str) -> Option<Duration> {
        let until = self.closed().get(name).copied()?;
        let left = until.saturating_sub(self.now_ms());
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// Returns the gates that are closed, and for how long.
    pub(crate) fn list(&self) -> Vec<(Box<str>, Duration)> {
        let names: Vec<Box<str>> = self.closed().keys().cloned().collect();
        names.into_iter().filter_map(|name| self.wait(&name).map(|wait| (name, wait))).collect()
    }

    /// Returns how long a run stays away from a gate: as long as it is closed, and a little longer.
    pub(crate) fn away(&self, name: &str) -> Option<Duration> {
        let jitter = entropy().checked_rem(JITTER_MS).unwrap_or_default();
        self.wait(name).map(|wait| wait.saturating_add(Duration::from_millis(jitter)))
    }

    /// Learns what other workers have found closed.
    pub(crate) async fn learn(&self, store: &dyn Store) {
        match store.gates().await {
            Ok(gates) => gates.iter().for_each(|(name, wait)| self.close(name, *wait)),
            Err(error) => tracing::debug!(%error, "cannot read which providers are paused"),
        }
    }

    /// Returns a receiver that hears of gates that close.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns how long a provider accepts no requests, if its answer says so. The store closes the gate of all
/// workers for the same time.
pub(crate) fn closes<B>(event: &Event<B>) -> Option<Duration> {
    let Event::Answered { answer: Answer::Fault(fault), .. } = event else { return None };
    let limited = fault.class == FaultClass::RateLimited;
    fault.hint_ms.filter(|_| limited).map(|ms| Duration::from_millis(ms).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::{
        agent::Fault,
        event::Usage,
        id::{EffectId, Seq},
    };

    use super::*;

    #[test]
    fn no_answer_closes_a_gate_for_longer_than_the_limit() {
        for (hint_ms, class, wants) in [
            (Some(5_000), FaultClass::RateLimited, Some(Duration::from_secs(5))),
            (Some(u64::MAX), FaultClass::RateLimited, Some(LONGEST)),
            (None, FaultClass::RateLimited, None),
            (Some(5_000), FaultClass::Unavailable, None),
        ] {
            let fault = Fault { class, repeatable: true, hint_ms, message: String::new() };
            let (effect, usage) = (EffectId { seq: Seq(1), index: 0 }, Usage::default());
            let answer: Answer<()> = Answer::Fault(fault);
            let event: Event<()> = Event::Answered { effect, answer, usage, sent: None };
            assert_eq!(closes(&event), wants, "{hint_ms:?} {class:?}");
        }
    }

    #[test]
    fn gate_opens_by_itself_and_never_earlier() {
        let gates = Gates::default();
        assert_eq!(gates.wait("a"), None);
        gates.close("a", Duration::from_hours(5));
        let long = gates.wait("a").expect("it is closed");
        assert!(long <= LONGEST && long > Duration::from_mins(9), "{long:?}");
        gates.close("a", Duration::from_millis(1));
        assert!(gates.wait("a").is_some_and(|wait| wait > Duration::from_mins(9)));
        assert!(gates.away("a") >= gates.wait("a"));
        assert_eq!(gates.wait("b"), None);
        gates.close("b", Duration::ZERO);
        assert_eq!(gates.wait("b"), None);
    }
}
