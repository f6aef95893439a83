//! Changes: notifications that something was written.

use pointsman_kernel::id::Seq;
use tokio::sync::broadcast;

use super::RunId;

/// Hints that are kept for a slow reader. One that is slower lists again.
const KEPT: usize = 1_024;

/// A notification of a write. It has no content: read that from the store. It may come twice, and
/// one may stand for several.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The run has this entry.
    Entry {
        /// The run.
        run: RunId,
        /// The entry.
        seq: Seq,
    },
    /// A message was sent to the run.
    Message {
        /// The run.
        run: RunId,
    },
    /// A run of the queue may have become ready.
    Queued,
    /// Notifications were lost, or runs were removed: anything may have changed.
    Lagged,
}

impl Change {
    /// Returns whether there may be a message for this run.
    pub fn is_message_for(&self, run: &RunId) -> bool {
        match self {
            Self::Message { run: to } => to == run,
            Self::Lagged => true,
            Self::Entry { .. } | Self::Queued => false,
        }
    }
}

/// Announces changes: for stores.
#[derive(Clone, Debug)]
pub struct Feed {
    all: broadcast::Sender<Change>,
    /// Messages, and losses, alone: each of hundreds of runs waits for a message, and an entry of one
    /// of them must not wake the others.
    mail: broadcast::Sender<Change>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { all: broadcast::Sender::new(KEPT), mail: broadcast::Sender::new(KEPT) }
    }
}

impl Feed {
    /// Gives a hint to everybody who waits.
    pub fn send(&self, change: Change) {
        // Without readers the change is dropped.
        if matches!(change, Change::Message { .. } | Change::Lagged) {
            drop(self.mail.send(change.clone()));
        }
        drop(self.all.send(change));
    }

    /// Returns whether there are readers.
    pub fn has_readers(&self) -> bool {
        self.all.receiver_count() > 0
    }

    /// Returns the notifications from now on. The guard lives as long.
    pub fn subscribe(&self, guard: impl Send + Sync + 'static) -> Changes {
        let (hints, mail) = (self.all.subscribe(), self.mail.subscribe());
        Changes { hints, mail, _guard: Box::new(guard) }
    }
}

/// Hints of what changes, from the moment at which they were asked for.
pub struct Changes {
    hints: broadcast::Receiver<Change>,
    mail: broadcast::Receiver<Change>,
    _guard: Box<dyn Send + Sync>,
}

impl Changes {
    /// Waits for the next notification. Dropping the future loses none. If the store is closed, this
    /// waits forever.
    pub async fn next(&mut self) -> Change {
        next(&mut self.hints).await
    }

    /// Waits until a message may have come for a run. Entries do not wake it.
    pub async fn message_for(&mut self, run: &RunId) {
        while !next(&mut self.mail).await.is_message_for(run) {}
    }
}

async fn next(hints: &mut broadcast::Receiver<Change>) -> Change {
    match hints.recv().await {
        Ok(change) => change,
        Err(broadcast::error::RecvError::Lagged(_)) => Change::Lagged,
        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::{Context, Wake, Waker},
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn entries_wake_no_run_that_waits_for_a_message() {
        let feed = Feed::default();
        let mut changes = feed.subscribe(());
        let [run, other] = [b"run", b"sun"].map(|name| RunId::from_letters(name));
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        {
            let mut waits = pin!(changes.message_for(&run));
            assert!(waits.as_mut().poll(&mut context).is_pending());
            for seq in 1..=9 {
                feed.send(Change::Entry { run: run.clone(), seq: Seq(seq) });
                feed.send(Change::Queued);
            }
            assert_eq!(count.0.load(Ordering::SeqCst), 0);
            feed.send(Change::Message { run: other });
            assert!(waits.as_mut().poll(&mut context).is_pending());
            feed.send(Change::Message { run: run.clone() });
            assert!(waits.as_mut().poll(&mut context).is_ready());
        }
        for change in [Change::Message { run: run.clone() }, Change::Lagged] {
            feed.send(change);
            assert!(pin!(changes.message_for(&run)).poll(&mut context).is_ready());
        }
    }
}
