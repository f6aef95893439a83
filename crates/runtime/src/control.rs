//! A person's word to runs of a store, for programs that drive none of them: messages, answers, pauses
//! and cancels, to one run or to all that a filter names.

mod bulk;

use std::{sync::Arc, time::Duration};

use pointsman_kernel::{
    Late, StepResult,
    agents::Agents,
    body::Body,
    chart::Charge,
    event::{Event, Pauser, Scope},
    id::{At, Seq},
};

use crate::{
    driver::{fold, written},
    engine, entry,
    mailbox::arrived,
    observe::Question,
    session::{ApprovalDecision, Delivery, SessionError, approval, end, overdue, program},
    store::{RunId, RunRow, Store},
};

pub use bulk::{BulkAction, BulkReport, ForkQueue};

/// How long the owner of a run has to take a message.
const POSTED: Duration = Duration::from_secs(10);

/// Speaks to the runs of a store. It can be cloned.
#[derive(Clone, Debug)]
pub struct RunControl {
    agents: Arc<Agents>,
    store: Arc<dyn Store>,
}

impl RunControl {
    /// Returns the control over a store whose runs are of these agents.
    pub const fn new(agents: Arc<Agents>, store: Arc<dyn Store>) -> Self {
        Self { agents, store }
    }

    /// Sends an event to a run. The process that drives it takes the event within moments; if there
    /// is none, the event waits for a worker or until the run is resumed.
    pub async fn send(&self, id: &RunId, event: &Event<Body>) -> Result<Delivery, SessionError> {
        let RunRow { seq, created_ms, queue, .. } = self.store.run(id).await?;
        let sent = At(self.store.now_ms().saturating_sub(created_ms));
        let message = self.store.send(id, &written(event)).await?;
        if queue.is_some_and(|place| place.status.is_some())
            && self.store.run(id).await?.owner.is_none()
        {
            return Ok(Delivery::Queued);
        }
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
    }

    /// Sends an event to a run, and does not wait until the run takes it.
    pub async fn post(&self, id: &RunId, event: &Event<Body>) -> Result<(), SessionError> {
        self.store.send(id, &written(event)).await?;
        Ok(())
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

    /// Returns the open questions of a run that can still be answered.
    pub async fn questions(&self, id: &RunId) -> Result<Vec<Question>, SessionError> {
        let row = self.store.run(id).await?;
        if row.ended.is_some() {
            return Ok(Vec::new());
        }
        let program = program(&self.agents, &*self.store, id).await?;
        let loaded = fold(&program, id, &self.store.lines(id, Seq(0)).await?)?;
        let now_ms = self.store.now_ms();
        let open = |question: &Question| overdue(&row, question, now_ms).is_none();
        Ok(loaded.questions().into_iter().filter(open).collect())
    }

    /// Sends a person's decision over a question of a run.
    pub async fn decide(
        &self,
        id: &RunId,
        question: &Question,
        decision: &ApprovalDecision,
    ) -> Result<Delivery, SessionError> {
        let run = program(&self.agents, &*self.store, id).await?.start();
        self.send(id, &approval(&*run, question, decision)).await
    }

    /// Cancels a run. A run without an owner ends at once, and no interrupted effect is repeated.
    pub async fn cancel(&self, id: &RunId) -> Result<Delivery, SessionError> {
        let Some(lease) = self.store.claim(id).await? else {
            return self.send(id, &Event::Cancelled { scope: Scope::Run }).await;
        };
        end::end(&end::idle(&self.agents, &self.store), lease).await?;
        end::end_children(&self.agents, &self.store, id).await;
        Ok(Delivery::Taken)
    }

    /// Pauses a run: effects in progress finish, and no other starts until the run is resumed. For a
    /// run without an owner the pause is written at once.
    pub async fn pause(&self, id: &RunId, why: &str) -> Result<Delivery, SessionError> {
        let Some(lease) = self.store.claim(id).await? else {
            let by = Some(Pauser::Person);
            return self.send(id, &Event::Paused { why: why.into(), by }).await;
        };
        end::pause(&end::idle(&self.agents, &self.store), lease, why).await?;
        Ok(Delivery::Taken)
    }

    /// Puts a run without an owner back into the queue, with additional budget. A run that has an owner
    /// keeps it: [`SessionError::Held`].
    pub async fn requeue(
        &self,
        id: &RunId,
        grants: &[(Charge, u64)],
        queue: &ForkQueue,
    ) -> Result<(), SessionError> {
        let row = self.store.run(id).await?;
        if row.owner.is_some() {
            return Err(SessionError::Held { run: id.clone() });
        }
        if !grants.is_empty() {
            let lease = engine::claim(&*self.store, id).await?;
            end::grant(&end::idle(&self.agents, &self.store), lease, grants).await?;
        }
        self.post(id, &Event::Resumed).await?;
        let queued = self.store.enqueue(&[(id.clone(), queue.options(&row))]).await?;
        if queued.is_empty() { Err(SessionError::Held { run: id.clone() }) } else { Ok(()) }
    }

    /// Resumes a paused run that a process or a worker drives.
    pub async fn unpause(&self, id: &RunId) -> Result<Delivery, SessionError> {
        self.send(id, &Event::Resumed).await
    }
}
