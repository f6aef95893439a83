//! The yard's post: letters from other processes reach the runs that they are for.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Weak,
    time::Duration,
};

use super::{Inner, Slot, Yard};
use crate::{
    driver::Sent,
    mail::is_word,
    store::{Change, Letter, RunId, StoreError},
};

/// Time before letters are looked for again that could not be read or brought.
const AGAIN: Duration = Duration::from_millis(200);

/// Brings letters whenever some have come, for as long as the yard is there.
pub(super) async fn keep(inner: Weak<Inner>) {
    let mut changes = None;
    loop {
        let all = {
            let Some(yard) = inner.upgrade().map(Yard) else { return };
            if changes.is_none() {
                changes = yard.0.site.store.changes().await.ok();
            }
            // Subscribed first: what comes while these are brought is announced.
            yard.bring().await
        };
        let Some(changes) = changes.as_mut().filter(|_| all) else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        while matches!(changes.next().await, Change::Entry { .. }) {}
    }
}

impl Yard {
    /// Has the runs of this yard take their letters; those that are parked are loaded. Returns
    /// whether nothing was in the way.
    async fn bring(&self) -> bool {
        let letters = match self.0.site.store.all_letters().await {
            Ok(letters) => letters,
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, "cannot read the messages of a run");
                self.readable().await
            }
            // A journal that cannot be read now is looked at again.
            Err(_) => return false,
        };
        let mut runs: BTreeMap<&RunId, Vec<&Letter>> = BTreeMap::new();
        for letter in &letters {
            runs.entry(&letter.run).or_default().push(letter);
        }
        let mut all = true;
        for (run, letters) in runs {
            all &= self.bring_to(run, &letters).await;
        }
        all
    }

    /// Brings letters to one run; returns whether nothing was in the way.
    async fn bring_to(&self, run: &RunId, letters: &[&Letter]) -> bool {
        if !self.wants(run, letters) {
            return true;
        }
        // What another process drives takes its letters there, or leaves them to us.
        let Ok(Some(lease)) = self.0.site.store.claim(run).await else { return false };
        let mut slots = self.slots();
        if matches!(slots.runs.get(run), Some(Slot::Parked { .. })) {
            self.load(&mut slots, run.clone(), Vec::new(), Some(lease));
        }
        true
    }

    /// Returns whether a run is parked and can take one of these letters. One that is driven gets
    /// a notice of them, and one that is being loaded looks for them.
    fn wants(&self, run: &RunId, letters: &[&Letter]) -> bool {
        match self.slots().runs.get(run) {
            Some(Slot::Driven(inbox)) => {
                // One that has broken off is loaded by the next event.
                drop(inbox.send(Sent::Letter));
                false
            }
            // A word waits until the run listens.
            Some(Slot::Parked { listens, .. }) => letters.iter().any(|it| *listens || !is_word(it)),
            Some(Slot::Loading(_)) | None => false,
        }
    }

    /// Returns the letters of those runs here whose letters can be read.
    async fn readable(&self) -> Vec<Letter> {
        let runs: BTreeSet<RunId> = self.slots().runs.keys().cloned().collect();
        let mut letters = Vec::new();
        for run in runs {
            letters.extend(self.0.site.store.letters(&run).await.unwrap_or_default());
        }
        letters
    }
}
