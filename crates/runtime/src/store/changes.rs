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
pub struct Feed(broadcast::Sender<Change>);

impl Default for Feed {
    fn default() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }
}

impl Feed {
    /// Gives a hint to everybody who waits.
    pub fn send(&self, change: Change) {
        // Without readers the change is dropped.
        drop(self.0.send(change));
    }

    /// Returns whether there are readers.
    pub fn has_readers(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Returns the notifications from now on. The guard lives as long.
    pub fn subscribe(&self, guard: impl Send + Sync + 'static) -> Changes {
        Changes { hints: self.0.subscribe(), _guard: Box::new(guard) }
    }
}

/// Hints of what changes, from the moment at which they were asked for.
pub struct Changes {
    hints: broadcast::Receiver<Change>,
    _guard: Box<dyn Send + Sync>,
}

impl Changes {
    /// Waits for the next notification. Dropping the future loses none. If the store is closed, this
    /// waits forever.
    pub async fn next(&mut self) -> Change {
        match self.hints.recv().await {
            Ok(change) => change,
            Err(broadcast::error::RecvError::Lagged(_)) => Change::Lagged,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Waits until a message may have come for a run.
    pub async fn message_for(&mut self, run: &RunId) {
        while !self.next().await.is_message_for(run) {}
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}
