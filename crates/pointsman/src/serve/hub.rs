//! Live notices for followers of runs: bounded, so that a slow reader never slows a run.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pointsman_kernel::id::EffectId;
use pointsman_runtime::{
    observe::{LiveNotice, Notice, Observer},
    store::{Change, Changes, RunId},
};
use tokio::sync::broadcast;

/// A notice to the followers of a run.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// Its journal may have more entries.
    Changed,
    /// A piece of text was written for an effect.
    Delta(EffectId, Arc<str>),
    /// The text that was written for an effect is void.
    Discard(EffectId),
    /// The reader was too slow, and notices were dropped.
    Lagged,
}

/// Gives live notices to the followers of each run.
#[derive(Clone, Debug)]
pub(crate) struct Hub {
    runs: Arc<Mutex<HashMap<RunId, broadcast::Sender<Signal>>>>,
    buffer: usize,
}

impl Hub {
    /// Makes a hub that keeps this many notices for a slow follower.
    pub(super) fn new(buffer: usize) -> Self {
        Self { runs: Arc::default(), buffer: buffer.max(1) }
    }

    /// Follows a run from now on.
    pub(super) fn follow(&self, run: &RunId) -> Following {
        let mut runs = self.lock();
        let sender = runs.entry(run.clone()).or_insert_with(|| broadcast::Sender::new(self.buffer));
        let signals = sender.subscribe();
        Following { hub: self.clone(), run: run.clone(), signals }
    }

    /// Passes hints of the store on, for as long as it is polled.
    pub(super) async fn pass_on(self, mut changes: Changes) {
        loop {
            match changes.next().await {
                Change::Entry { run, .. } => self.send(&run, || Signal::Changed),
                Change::Message { .. } => {}
                _ => {
                    for sender in self.lock().values() {
                        // Without a follower it is not needed.
                        drop(sender.send(Signal::Changed));
                    }
                }
            }
        }
    }

    fn send(&self, run: &RunId, signal: impl FnOnce() -> Signal) {
        if let Some(sender) = self.lock().get(run) {
            drop(sender.send(signal()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, broadcast::Sender<Signal>>> {
        // The map is whole at any time.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Hub {
    fn notice(&self, run: &RunId, notice: &Notice) {
        match notice {
            Notice::Live(LiveNotice::Persisted { .. }) => self.send(run, || Signal::Changed),
            Notice::Live(LiveNotice::Delta { effect, text }) => {
                self.send(run, || Signal::Delta(*effect, Arc::from(&**text)));
            }
            Notice::Live(LiveNotice::Discard(effect)) => {
                self.send(run, || Signal::Discard(*effect));
            }
            _ => {}
        }
    }
}

/// The notices of one run for one follower.
#[derive(Debug)]
pub(super) struct Following {
    hub: Hub,
    run: RunId,
    signals: broadcast::Receiver<Signal>,
}

impl Following {
    /// Waits for the next notice. Dropping the future loses none.
    pub(super) async fn next(&mut self) -> Signal {
        match self.signals.recv().await {
            Ok(signal) => signal,
            Err(broadcast::error::RecvError::Lagged(_)) => Signal::Lagged,
            // The hub keeps the sender for as long as there is a follower.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut runs = self.hub.lock();
        // This follower is still counted.
        if runs.get(&self.run).is_some_and(|sender| sender.receiver_count() <= 1) {
            runs.remove(&self.run);
        }
    }
}
