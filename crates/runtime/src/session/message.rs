//! Messages to runs that other processes may drive: cancel, pause, continue, answers.

use std::time::Duration;

use pointsman_kernel::{
    body::Body,
    event::{Event, Scope},
};

use super::{Decision, Session, SessionError, approval, end};
use crate::{driver::written, observe::Question, store::RunId};

/// How long somebody who drives a run has to take a letter.
const POSTED: Duration = Duration::from_secs(10);

/// What became of an event that was posted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Posted {
    /// The process that drives the run has taken it.
    Taken,
    /// The process that drives the run has not taken it yet.
    Held,
    /// It waits until a process drives the run.
    Waiting,
}

impl Session {
    /// Posts an event to a run. Whoever drives it takes it within moments; if nobody does,
    /// it waits for the next [`resume`](Self::resume).
    pub fn post(&self, id: &RunId, event: &Event<Body>) -> Result<Posted, SessionError> {
        self.threads.block_on(async {
            let letter = self.store.post(id, &written(event)).await?;
            if self.store.claim(id).await?.is_some() {
                return Ok(Posted::Waiting);
            }
            let taken = async {
                while self.store.has_letter(letter).await? {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok(Posted::Taken)
            };
            tokio::time::timeout(POSTED, taken).await.unwrap_or(Ok(Posted::Held))
        })
    }

    /// Posts a person's decision over a question of a run.
    pub fn decide(
        &self,
        id: &RunId,
        question: &Question,
        decision: &Decision,
    ) -> Result<Posted, SessionError> {
        let run = self.program(id)?.start();
        self.post(id, &approval(&*run, question, decision))
    }

    /// Cancels a run. Where nobody drives it, it is ended here and now, and nothing that
    /// was under way is done again; returns whether somebody else was told instead.
    pub fn cancel(&self, id: &RunId) -> Result<Posted, SessionError> {
        let event = Event::Cancelled { scope: Scope::Run };
        let lease = self.block_on(self.store.claim(id))?;
        let Some(lease) = lease else { return self.post(id, &event) };
        let site = self.idle();
        self.threads.block_on(async {
            end::end(&site, lease).await?;
            end::end_children(&self.agents, &self.store, id).await;
            Ok::<(), SessionError>(())
        })?;
        Ok(Posted::Taken)
    }

    /// Pauses a run: what is under way goes on, and nothing new is started until somebody
    /// [resumes](Self::resume) it, or [lets it go on](Self::unpause). Where nobody drives it,
    /// that is written down here and now.
    pub fn pause(&self, id: &RunId, why: &str) -> Result<Posted, SessionError> {
        let Some(lease) = self.block_on(self.store.claim(id))? else {
            return self.post(id, &Event::Paused { why: why.into() });
        };
        self.threads.block_on(end::pause(&self.idle(), lease, why))?;
        Ok(Posted::Taken)
    }

    /// Lets a paused run go on that somebody drives.
    pub fn unpause(&self, id: &RunId) -> Result<Posted, SessionError> {
        self.post(id, &Event::Resumed)
    }
}
