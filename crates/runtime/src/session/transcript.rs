//! The messages of a run, for a person who returns to it.

#[cfg(feature = "agents")]
use pointsman_agents::{
    code::Plan,
    transcript::{Transcript, TranscriptMessage},
};
#[cfg(feature = "agents")]
use pointsman_kernel::erased::AnyRun;
#[cfg(feature = "agents")]
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Delivery, RecalledRun, Session, SessionError,
    converse::{closed, closing, said},
    end,
};
use crate::{
    driver::listens,
    engine::claim,
    mailbox::given,
    store::{Lease, MailboxMessage, Release, RunId},
    timeline::words,
};

/// A part of what a run's agent holds.
#[cfg(feature = "agents")]
#[derive(Deserialize)]
struct Kept<T> {
    data: T,
}

#[cfg(feature = "agents")]
#[derive(Default, Deserialize)]
struct KeptTranscript {
    #[serde(default)]
    transcript: Transcript,
}

#[cfg(feature = "agents")]
#[derive(Default, Deserialize)]
struct KeptPlan {
    #[serde(default)]
    plan: Option<Plan>,
}

/// Reads a part of what a run's agent holds; an agent without it has the default.
#[cfg(feature = "agents")]
fn kept<T: Default + DeserializeOwned>(run: &dyn AnyRun) -> T {
    let snapshot = run.snapshot().ok();
    let whole = snapshot.and_then(|run| serde_json::from_str::<Kept<T>>(run.get()).ok());
    whole.map_or_else(T::default, |whole| whole.data)
}

/// Returns the plan of a run and how far it came, for agents that have one.
#[cfg(feature = "agents")]
pub fn plan_of(run: &dyn AnyRun) -> Option<Plan> {
    kept::<KeptPlan>(run).plan.filter(|plan| !plan.phases.is_empty())
}

impl RecalledRun {
    /// Returns the conversation, the oldest message first; empty for agents that hold none.
    #[cfg(feature = "agents")]
    pub fn messages(&self) -> Vec<TranscriptMessage> {
        kept::<KeptTranscript>(&*self.loaded.run).transcript.messages().to_vec()
    }

    /// Returns the plan and how far it came, for agents that have one.
    #[cfg(feature = "agents")]
    pub fn plan(&self) -> Option<Plan> {
        plan_of(&*self.loaded.run)
    }

    /// Returns whether the run is in a state that waits for a word from outside.
    pub fn listens(&self) -> bool {
        listens(&self.program, self.loaded.run.core())
    }
}

impl Session {
    /// Sends a message to a run that another process may own. It waits until the run has an owner
    /// and awaits a message.
    pub fn say(&self, id: &RunId, text: &str) -> Result<Delivery, SessionError> {
        self.send(id, &said(text))
    }

    /// Says to a run that is not driven here that nothing more will be said to it.
    pub fn close(&self, id: &RunId) -> Result<(), SessionError> {
        let Some(event) = closed(self.program(id)?.agent()) else { return Ok(()) };
        let messages = self.block_on(self.store.messages(id))?;
        if !messages.iter().any(|message| given(message) == Some(event)) {
            self.send(id, &closing(event))?;
        }
        Ok(())
    }

    /// Returns the messages that a run has not received yet, oldest first.
    pub fn unheard(&self, id: &RunId) -> Result<Vec<String>, SessionError> {
        let messages = self.block_on(self.store.messages(id))?;
        Ok(messages.iter().filter_map(text).collect())
    }

    /// Returns how many words wait for a run that each begin a turn.
    pub fn waiting(&self, id: &RunId) -> Result<usize, SessionError> {
        let messages = self.block_on(self.store.messages(id))?;
        Ok(messages.iter().filter(|message| given(message) == Some(0)).count())
    }

    /// Withdraws the end of the input: a conversation is being resumed.
    pub(super) async fn reopen(
        &self,
        lease: &Lease,
        closed: Option<u16>,
    ) -> Result<(), SessionError> {
        for message in self.store.messages(lease.run()).await? {
            if closed.is_some() && given(&message) == closed {
                self.store.discard(lease, message.id).await?;
            }
        }
        Ok(())
    }

    /// Creates a run that continues a conversation that has ended. It shares the past before the
    /// end and awaits a message; work in progress is not repeated. Messages that the other run
    /// never received are sent to it.
    pub fn again(&self, id: &RunId) -> Result<RunId, SessionError> {
        let child = self.fork(id, None)?;
        self.threads.block_on(async {
            end::settle(&self.idle(), claim(&*self.store, &child).await?).await?;
            // Two processes may continue it at once: one of them moves the messages.
            let Some(ended) = self.store.claim(id).await? else { return Ok(child) };
            for message in self.store.messages(id).await? {
                if text(&message).is_some() {
                    self.store.send(&child, &message.body).await?;
                    self.store.discard(&ended, message.id).await?;
                }
            }
            self.store.release(ended, Release::Ready).await?;
            Ok(child)
        })
    }
}

/// Returns the text of a message.
fn text(message: &MailboxMessage) -> Option<String> {
    words(&message.event().ok()?)
}
