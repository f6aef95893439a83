//! Messages: events that another process sends to a run, stored until the run takes them.

use pointsman_kernel::{body::Body, event::Event};

use super::{MessageId, RunId};

/// A message that waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MailboxMessage {
    /// Its number.
    pub id: MessageId,
    /// The run that it is for.
    pub run: RunId,
    /// Its content.
    pub body: Box<str>,
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: u64,
}

impl MailboxMessage {
    /// Reads the event that it brings.
    pub fn event(&self) -> Result<Event<Body>, serde_json::Error> {
        serde_json::from_str(&self.body)
    }
}
