//! The mailbox watcher: messages from other processes reach the runs that they are for.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Weak,
    time::Duration,
};

use super::{Inner, RunSlot, Scheduler};
use crate::{
    driver::Sent,
    mailbox::is_word,
    store::{Change, MailboxMessage, RunId, StoreError},
};

/// Time before messages are looked for again that could not be read or brought.
const AGAIN: Duration = Duration::from_millis(200);

/// Brings messages whenever some have come, for as long as the scheduler is there.
pub(super) async fn keep(inner: Weak<Inner>) {
    let mut changes = None;
    loop {
        let all = {
            let Some(scheduler) = inner.upgrade().map(Scheduler) else { return };
            if changes.is_none() {
                changes = scheduler.0.site.store.changes().await.ok();
            }
            // Subscribed first: what comes while these are brought is announced.
            scheduler.bring().await
        };
        let Some(changes) = changes.as_mut().filter(|_| all) else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        while matches!(changes.next().await, Change::Entry { .. }) {}
    }
}

impl Scheduler {
    /// Has the runs of this scheduler take their messages; those that are parked are loaded. Returns
    /// whether nothing was in the way.
    async fn bring(&self) -> bool {
        let messages = match self.0.site.store.all_messages().await {
            Ok(messages) => messages,
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::warn!(%error, "messages of some run cannot be read");
                self.readable().await
            }
            // A journal that cannot be read now is looked at again.
            Err(_) => return false,
        };
        let mut runs: BTreeMap<&RunId, Vec<&MailboxMessage>> = BTreeMap::new();
        for message in &messages {
            runs.entry(&message.run).or_default().push(message);
        }
        let mut all = true;
        for (run, messages) in runs {
            all &= self.bring_to(run, &messages).await;
        }
        all
    }

    /// Brings messages to one run; returns whether nothing was in the way.
    async fn bring_to(&self, run: &RunId, messages: &[&MailboxMessage]) -> bool {
        if !self.wants(run, messages) {
            return true;
        }
        // What another process drives takes its messages there, or leaves them to us.
        let Ok(Some(lease)) = self.0.site.store.claim(run).await else { return false };
        let mut slots = self.slots();
        if matches!(slots.runs.get(run), Some(RunSlot::Parked { .. })) {
            self.load(&mut slots, run.clone(), Vec::new(), Some(lease));
        }
        true
    }

    /// Returns whether a run is parked and can take one of these messages. One that is driven gets
    /// a notice of them, and one that is being loaded looks for them.
    fn wants(&self, run: &RunId, messages: &[&MailboxMessage]) -> bool {
        match self.slots().runs.get(run) {
            Some(RunSlot::Driven(inbox)) => {
                // One that has broken off is loaded by the next event.
                drop(inbox.send(Sent::Message));
                false
            }
            // A word waits until the run listens.
            Some(RunSlot::Parked { listens, .. }) => {
                messages.iter().any(|it| *listens || !is_word(it))
            }
            Some(RunSlot::Loading(_)) | None => false,
        }
    }

    /// Returns the messages of those runs here whose messages can be read.
    async fn readable(&self) -> Vec<MailboxMessage> {
        let runs: BTreeSet<RunId> = self.slots().runs.keys().cloned().collect();
        let mut messages = Vec::new();
        for run in runs {
            messages.extend(self.0.site.store.messages(&run).await.unwrap_or_default());
        }
        messages
    }
}
