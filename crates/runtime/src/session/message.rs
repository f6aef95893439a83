//! Messages to runs that other processes may drive: cancel, pause, continue, answers. See
//! [`RunControl`], which does the same for callers that await.

use std::sync::Arc;

use pointsman_kernel::{body::Body, event::Event};

use super::{ApprovalDecision, Session, SessionError};
use crate::{control::RunControl, observe::Question, store::RunId};

/// The fate of a sent event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// The process that drives the run has taken it.
    Taken,
    /// The process that drives the run has discarded it, for this reason: it had no effect.
    Ignored(String),
    /// The process that drives the run has not taken it yet.
    Held,
    /// It waits until the run is resumed.
    Waiting,
    /// It waits for the next free worker.
    Queued,
}

impl Session {
    /// Returns what speaks to the runs of this store.
    pub fn control(&self) -> RunControl {
        RunControl::new(Arc::clone(&self.agents), Arc::clone(&self.store))
    }

    /// Sends an event to a run: see [`RunControl::send`].
    pub fn send(&self, id: &RunId, event: &Event<Body>) -> Result<Delivery, SessionError> {
        self.block_on(self.control().send(id, event))
    }

    /// Sends a person's decision over a question of a run.
    pub fn decide(
        &self,
        id: &RunId,
        question: &Question,
        decision: &ApprovalDecision,
    ) -> Result<Delivery, SessionError> {
        self.block_on(self.control().decide(id, question, decision))
    }

    /// Cancels a run: see [`RunControl::cancel`].
    pub fn cancel(&self, id: &RunId) -> Result<Delivery, SessionError> {
        self.block_on(self.control().cancel(id))
    }

    /// Pauses a run: see [`RunControl::pause`].
    pub fn pause(&self, id: &RunId, why: &str) -> Result<Delivery, SessionError> {
        self.block_on(self.control().pause(id, why))
    }

    /// Lifts the pause of a run that has an owner.
    pub fn unpause(&self, id: &RunId) -> Result<Delivery, SessionError> {
        self.block_on(self.control().unpause(id))
    }
}
