//! Where the text of a reply goes while it arrives: to whoever watches.

use tokio::sync::mpsc;

/// A sink for streamed text. What it is sent is shown, never acted upon.
#[derive(Clone, Debug)]
pub struct Shown(Option<mpsc::UnboundedSender<String>>);

impl Shown {
    /// Returns a sink that nobody watches.
    pub const fn nobody() -> Self {
        Self(None)
    }

    /// Returns a sink that sends each piece of text on.
    pub const fn to(watcher: mpsc::UnboundedSender<String>) -> Self {
        Self(Some(watcher))
    }

    /// Shows more of the text. A watcher that went away misses nothing.
    pub(super) fn text(&self, delta: &str) {
        if let Some(watcher) = &self.0
            && !delta.is_empty()
        {
            drop(watcher.send(delta.to_owned()));
        }
    }
}
