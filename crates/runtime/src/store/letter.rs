//! Letters: what another process has to say to a run, kept until the run takes it.

use pointsman_kernel::{body::Body, event::Event};

use super::{LetterId, RunId};

/// A letter that waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Letter {
    /// Its number.
    pub id: LetterId,
    /// The run that it is for.
    pub run: RunId,
    /// What it says.
    pub body: Box<str>,
    /// When it was posted, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Letter {
    /// Reads the event that it brings.
    pub fn event(&self) -> Result<Event<Body>, serde_json::Error> {
        serde_json::from_str(&self.body)
    }
}
