//! Answers in messages that were not taken yet.

use std::collections::BTreeMap;

use pointsman_kernel::{agent::Answer, erased::AnyRun, event::Event, id::EffectId};

use super::{Session, SessionError};
use crate::{
    mailbox::counting,
    observe::Question,
    store::{MailboxMessage, RunId, RunRow},
};

/// Returns the question that a message answers, and whether it says yes.
fn answer(run: &dyn AnyRun, message: &MailboxMessage) -> Option<(EffectId, bool)> {
    match message.event().ok()? {
        Event::ApprovalAnswered { effect, granted, .. } => Some((effect, granted)),
        Event::Answered { effect, answer, .. } => {
            let yes = matches!(&answer, Answer::Own(report) if run.is_yes(report));
            Some((effect, yes))
        }
        _ => None,
    }
}

/// Returns until when a question of a run can be answered, in milliseconds since 1970.
pub const fn due(row: &RunRow, question: &Question) -> u64 {
    row.created_ms.saturating_add(question.expires.0)
}

/// Returns for how many milliseconds it has been too late to answer a question of a run, at a time of
/// the store's clock.
pub const fn overdue(row: &RunRow, question: &Question, now_ms: u64) -> Option<u64> {
    now_ms.checked_sub(due(row, question))
}

impl Session {
    /// Returns the answers to a run's questions that were not taken yet. The last of several
    /// answers counts.
    pub fn answers(&self, id: &RunId) -> Result<BTreeMap<EffectId, bool>, SessionError> {
        let messages = self.block_on(self.store.messages(id))?;
        if messages.is_empty() {
            return Ok(BTreeMap::new());
        }
        let run = self.program(id)?.start();
        let counting = counting(&messages).filter(|(_, counts)| *counts);
        Ok(counting.filter_map(|(message, _)| answer(&*run, message)).collect())
    }
}
