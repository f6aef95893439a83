//! Messages to runs that other processes may drive: cancel, pause, continue, answers.

use std::time::Duration;

use pointsman_kernel::{
    Late, StepResult,
    body::Body,
    event::{Event, Pauser, Scope},
    id::{At, Seq},
};

use super::{ApprovalDecision, Session, SessionError, approval, end, program};
use crate::{
    clock::now_ms,
    driver::{fold, written},
    entry,
    mailbox::arrived,
    observe::Question,
    store::{RunId, RunRow},
};

/// How long somebody who drives a run has to take a message.
const POSTED: Duration = Duration::from_secs(10);

/// What became of an event that was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// The process that drives the run has taken it.
    Taken,
    /// The process that drives the run has thrown it away, for this reason: nothing came of it.
    Ignored(String),
    /// The process that drives the run has not taken it yet.
    Held,
    /// It waits until a process drives the run.
    Waiting,
}

impl Session {
    /// Sends an event to a run. Whoever drives it takes it within moments; if nobody does,
    /// it waits for the next [`resume`](Self::resume).
    pub fn send(&self, id: &RunId, event: &Event<Body>) -> Result<Delivery, SessionError> {
        self.threads.block_on(async {
            let RunRow { seq, created_ms, .. } = self.store.run(id).await?;
            let sent = At(now_ms().saturating_sub(created_ms));
            let message = self.store.send(id, &written(event)).await?;
            if self.store.claim(id).await?.is_some() {
                return Ok(Delivery::Waiting);
            }
            let gone = async {
                while self.store.has_message(message).await? {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                self.became(id, seq, event, sent).await
            };
            tokio::time::timeout(POSTED, gone).await.unwrap_or(Ok(Delivery::Held))
        })
    }

    /// Returns what became of an event that is no longer in the mailbox. One that was taken is in
    /// the journal; any other the run would not take now either, and says why.
    async fn became(
        &self,
        id: &RunId,
        after: Seq,
        event: &Event<Body>,
        sent: At,
    ) -> Result<Delivery, SessionError> {
        // The run has seen another time of sending, by the store's clock.
        let event = arrived(event.clone(), sent);
        let is_it = |it: Event<Body>| written(&arrived(it, sent)) == written(&event);
        let new = self.store.lines(id, after).await?;
        if new.iter().filter_map(|line| entry::event(line)).any(is_it) {
            return Ok(Delivery::Taken);
        }
        let program = program(&self.agents, &*self.store, id).await?;
        let mut run = fold(&program, id, &self.store.lines(id, Seq(0)).await?)?.run;
        let (seq, now) = (run.core().next, run.core().now);
        Ok(Delivery::Ignored(match run.step(&program, seq, now, event) {
            Err(refused) => refused.to_string(),
            Ok(stepped) => match stepped.result {
                // Nothing is left to wish for.
                StepResult::Ignored(Late::Already) => return Ok(Delivery::Taken),
                StepResult::Ignored(late) => late.to_string(),
                _ => "replaced by another message".into(),
            },
        }))
    }

    /// Sends a person's decision over a question of a run.
    pub fn decide(
        &self,
        id: &RunId,
        question: &Question,
        decision: &ApprovalDecision,
    ) -> Result<Delivery, SessionError> {
        let run = self.program(id)?.start();
        self.send(id, &approval(&*run, question, decision))
    }

    /// Cancels a run. Where nobody drives it, it is ended here and now, and nothing that
    /// was under way is done again; returns whether somebody else was told instead.
    pub fn cancel(&self, id: &RunId) -> Result<Delivery, SessionError> {
        let event = Event::Cancelled { scope: Scope::Run };
        let lease = self.block_on(self.store.claim(id))?;
        let Some(lease) = lease else { return self.send(id, &event) };
        let context = self.idle();
        self.threads.block_on(async {
            end::end(&context, lease).await?;
            end::end_children(&self.agents, &self.store, id).await;
            Ok::<(), SessionError>(())
        })?;
        Ok(Delivery::Taken)
    }

    /// Pauses a run: what is under way goes on, and nothing new is started until somebody
    /// [resumes](Self::resume) it, or [lets it go on](Self::unpause). Where nobody drives it,
    /// that is written down here and now.
    pub fn pause(&self, id: &RunId, why: &str) -> Result<Delivery, SessionError> {
        let Some(lease) = self.block_on(self.store.claim(id))? else {
            let by = Some(Pauser::Person);
            return self.send(id, &Event::Paused { why: why.into(), by });
        };
        self.threads.block_on(end::pause(&self.idle(), lease, why))?;
        Ok(Delivery::Taken)
    }

    /// Lets a paused run go on that somebody drives.
    pub fn unpause(&self, id: &RunId) -> Result<Delivery, SessionError> {
        self.send(id, &Event::Resumed)
    }
}
