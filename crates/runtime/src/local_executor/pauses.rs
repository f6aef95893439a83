//! Which runs are paused, for the children that are driven below them.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::store::RunId;

/// Whether each run is paused that was so, or has children that want to know.
#[derive(Debug, Default)]
pub(super) struct Pauses(Mutex<BTreeMap<RunId, watch::Sender<bool>>>);

impl Pauses {
    /// Records that a run was paused or resumed.
    pub(super) fn tell(&self, run: &RunId, paused: bool) {
        let mut runs = self.runs();
        match runs.get(run) {
            Some(sender) => drop(sender.send_replace(paused)),
            None if paused => drop(runs.insert(run.clone(), watch::Sender::new(true))),
            // An unknown run is not paused.
            None => {}
        }
    }

    /// Returns a receiver of whether a run is paused.
    pub(super) fn of(&self, run: &RunId) -> watch::Receiver<bool> {
        let mut runs = self.runs();
        runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(false)).subscribe()
    }

    /// Forgets a run that has ended.
    pub(super) fn forget(&self, run: &RunId) {
        self.runs().remove(run);
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, watch::Sender<bool>>> {
        // Every change under the lock is whole, so a panic elsewhere spoils nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
