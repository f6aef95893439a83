//! The yard's post: letters from other processes reach the runs that they are for.

use std::{collections::BTreeSet, sync::Weak};

use super::{Inner, Slot, Yard};
use crate::{
    driver::Sent,
    session::{POST, every, is_word},
    store::{Letter, RunId, StoreError},
};

/// Looks for letters whenever the journal has changed, for as long as the yard is there.
pub(super) async fn keep(inner: Weak<Inner>) {
    let mut rounds = every(POST);
    let (mut changes, mut stale) = (None, true);
    loop {
        rounds.tick().await;
        let Some(yard) = inner.upgrade().map(Yard) else { return };
        let store = &yard.0.site.store;
        if changes.is_none() {
            changes = store.watch().ok();
        }
        stale |= changes.as_mut().is_none_or(|it| it.changed().unwrap_or(true));
        if stale {
            stale = match store.all_letters() {
                Ok(letters) => !yard.bring(&letters),
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "letters of some run cannot be read");
                    !yard.bring(&yard.readable())
                }
                // A journal that cannot be read now is looked at again.
                Err(_) => true,
            };
        }
    }
}

impl Yard {
    /// Returns the letters of those runs here whose letters can be read.
    fn readable(&self) -> Vec<Letter> {
        let runs: Vec<RunId> = self.slots().runs.keys().cloned().collect();
        let letters = |run: &RunId| self.0.site.store.letters(run).unwrap_or_default();
        runs.iter().flat_map(letters).collect()
    }

    /// Has the runs of this yard take their letters; those that are parked are loaded.
    /// Returns whether nobody was in the way.
    fn bring(&self, letters: &[Letter]) -> bool {
        let mut all = true;
        let runs: BTreeSet<&RunId> = letters.iter().map(|letter| &letter.run).collect();
        for run in runs {
            let mut own = letters.iter().filter(|letter| letter.run == *run);
            // Looked at under the lock: nobody of this yard loads it meanwhile.
            let mut slots = self.slots();
            let parked = match slots.runs.get(run) {
                Some(Slot::Driven(inbox)) => {
                    // One that has broken off is loaded by the next event.
                    drop(inbox.send(Sent::Letter));
                    false
                }
                // A word waits until the run listens.
                Some(Slot::Parked { listens, .. }) => own.any(|it| *listens || !is_word(it)),
                // Whoever loads it looks for letters.
                Some(Slot::Loading(_)) | None => false,
            };
            // What another process drives takes its letters there, or leaves them to us.
            if parked && matches!(self.0.site.store.hold(run), Ok(Some(_))) {
                self.load(&mut slots, run.clone(), Vec::new());
            } else {
                all &= !parked;
            }
        }
        all
    }
}
