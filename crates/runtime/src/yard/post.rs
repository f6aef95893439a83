//! The yard's post: letters from other processes reach the runs that they are for.

use std::{collections::BTreeSet, sync::Weak};

use serde_json::Value;

use super::{Inner, Slot, Yard};
use crate::{
    session::{POST, every, is_word},
    store::{Letter, RunId},
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
        // A journal that cannot be read now is looked at again.
        if stale && let Ok(letters) = store.all_letters() {
            stale = false;
            yard.bring(&letters);
        }
    }
}

impl Yard {
    /// Has the runs of this yard take their letters; those that are parked are loaded.
    fn bring(&self, letters: &[Letter]) {
        let runs: BTreeSet<&RunId> = letters.iter().map(|letter| &letter.run).collect();
        for run in runs {
            let mut own = letters.iter().filter(|letter| letter.run == *run);
            let parked = match self.slots().runs.get(run) {
                Some(Slot::Driven(inbox)) => {
                    // One that has broken off is loaded by the next event.
                    drop(inbox.send(Value::Null));
                    false
                }
                // A word waits until the run listens.
                Some(Slot::Parked { listens, .. }) => own.any(|it| *listens || !is_word(it)),
                // Whoever loads it looks for letters.
                Some(Slot::Loading(_)) | None => false,
            };
            // What another process drives takes its letters there.
            let free = || matches!(self.0.site.store.hold(run), Ok(Some(_)));
            if parked && free() {
                let mut slots = self.slots();
                if matches!(slots.runs.get(run), Some(Slot::Parked { .. })) {
                    self.load(&mut slots, run.clone(), Vec::new());
                }
            }
        }
    }
}
