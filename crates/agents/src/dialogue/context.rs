//! How much of a conversation fits, and the questions that one turn of the model takes:
//! the reply itself, and before it at most one summary.

use alloc::borrow::Cow;

use pointsman_kernel::{
    agent::{Answer, Fault, FaultClass, Reply, Visit},
    chart::StateKind,
    prompt::Prompt,
};
use serde::{Deserialize, Serialize};

use super::{Setup, condense};
use crate::{answer, transcript::Transcript};

/// The item of a model call that asks for a reply.
pub(crate) const REPLY: u16 = 0;
/// The item of a model call that asks for a summary.
pub(crate) const SUMMARY: u16 = 1;

/// Questions to the model in one attempt: one that was too long, a summary, and one more.
const MAX_ORDERS: u8 = 3;
/// Bytes of a summary, where there is room for it.
const MAX_SUMMARY: usize = 12_000;
/// Bytes that an agent's own words and the state of the work are taken to need.
const OWN_WORDS: usize = 4_000;
/// Bytes of a prompt below which nothing is learnt from a provider's refusal.
const LEAST_LEARNT: usize = 2_000;

/// How much fits, and what is being asked.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Context {
    /// The bytes of the smallest prompt that the provider found too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_long: Option<usize>,
    /// The questions of the current attempt, beyond its first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking: Option<AttemptQuestions>,
}

/// The questions of one attempt.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttemptQuestions {
    /// The attempt.
    pub attempt: u16,
    /// The questions that were put.
    pub orders: u8,
    /// Whether the last one was for a summary.
    pub summarising: bool,
}

/// The meaning of an answer.
#[derive(Debug)]
pub(crate) enum ReplyOutcome {
    /// The model replied.
    Reply(Reply),
    /// The model is asked once more, for this item.
    Again(u16),
    /// The attempt failed.
    Failed(Fault),
}

enum Remedy {
    /// What is before this place gives way to a summary.
    Summarise(usize),
    /// Outputs are cut.
    Shrink,
}

impl Context {
    /// Returns what an attempt asks first.
    pub(crate) fn first(&self, setup: &Setup, transcript: &Transcript, attempt: u16) -> u16 {
        // An attempt after the first does without, for the summary may be what hung; but a
        // fault that passes leaves word that it is to be asked for again.
        let asks = attempt <= 1 || self.put(attempt).is_some_and(|asking| asking.summarising);
        let due = asks && matches!(self.remedy(setup, transcript), Some(Remedy::Summarise(_)));
        if due { SUMMARY } else { REPLY }
    }

    /// Returns whether the question in progress is for a summary.
    pub(crate) fn is_summary(&self, setup: &Setup, transcript: &Transcript, attempt: u16) -> bool {
        self.put(attempt).map_or_else(
            || self.first(setup, transcript, attempt) == SUMMARY,
            |asking| asking.summarising,
        )
    }

    /// Takes the answer to the question in progress.
    pub(crate) fn hear<R>(
        &mut self,
        setup: &Setup,
        transcript: &mut Transcript,
        visit: &Visit<'_>,
        answer: Answer<R>,
    ) -> ReplyOutcome {
        let attempt = visit.attempt;
        let orders = self.put(attempt).map_or(1, |asking| asking.orders);
        if self.is_summary(setup, transcript, attempt) {
            let written = match answer::model(answer) {
                Ok(reply) => {
                    let most = self.limit(setup).div_euclid(5).min(MAX_SUMMARY);
                    condense::usable(&reply, most)
                }
                Err(fault) if fault.repeatable && !is_last(visit) => {
                    let attempt = attempt.saturating_add(1);
                    self.asking = Some(AttemptQuestions { attempt, orders: 1, summarising: true });
                    return ReplyOutcome::Failed(fault);
                }
                Err(_) => None,
            };
            self.condense(setup, transcript, written);
            return self.again(attempt, orders, false);
        }
        if orders == 1 {
            // The text that the model was shown instead of a summary becomes the memory.
            self.condense(setup, transcript, None);
        }
        match answer::model(answer) {
            Ok(reply) => {
                self.asking = None;
                ReplyOutcome::Reply(reply)
            }
            Err(fault) if fault.class == FaultClass::TooLong => {
                self.refused(setup, transcript, attempt, orders, fault)
            }
            Err(fault) => {
                self.asking = None;
                ReplyOutcome::Failed(fault)
            }
        }
    }

    /// The provider found the prompt too long: something is left out, or nothing can be.
    fn refused(
        &mut self,
        setup: &Setup,
        transcript: &mut Transcript,
        attempt: u16,
        orders: u8,
        fault: Fault,
    ) -> ReplyOutcome {
        let used = used(setup, transcript).max(LEAST_LEARNT);
        self.too_long = Some(self.too_long.map_or(used, |known| known.min(used)));
        let remedy = self.remedy(setup, transcript);
        if remedy.is_none() || orders >= MAX_ORDERS {
            self.asking = None;
            return ReplyOutcome::Failed(fault);
        }
        let summarise = matches!(remedy, Some(Remedy::Summarise(_)));
        if summarise && attempt <= 1 && orders == 1 {
            return self.again(attempt, orders, true);
        }
        self.condense(setup, transcript, None);
        self.again(attempt, orders, false)
    }

    /// Learns that no answer will come.
    pub(crate) const fn close(&mut self) {
        self.asking = None;
    }

    /// Returns the conversation as the question in progress shows it.
    pub(crate) fn shown<'t>(
        &self,
        setup: &Setup,
        transcript: &'t Transcript,
        attempt: u16,
    ) -> Cow<'t, Transcript> {
        if self.put(attempt).is_some() || self.remedy(setup, transcript).is_none() {
            return Cow::Borrowed(transcript);
        }
        let mut shown = transcript.clone();
        self.condense(setup, &mut shown, None);
        Cow::Owned(shown)
    }

    /// Returns the prompt by which the model is asked for a summary.
    pub(crate) fn summary_prompt(&self, setup: &Setup, transcript: &Transcript) -> Prompt {
        let at = match self.remedy(setup, transcript) {
            Some(Remedy::Summarise(at)) => at,
            Some(Remedy::Shrink) | None => transcript.messages().len(),
        };
        let dropped = transcript.messages().get(..at).unwrap_or_default();
        condense::prompt(dropped, self.limit(setup).div_euclid(2))
    }

    const fn again(&mut self, attempt: u16, orders: u8, summarising: bool) -> ReplyOutcome {
        let orders = orders.saturating_add(1);
        self.asking = Some(AttemptQuestions { attempt, orders, summarising });
        ReplyOutcome::Again(if summarising { SUMMARY } else { REPLY })
    }

    /// Returns what this attempt has asked beyond its first question.
    fn put(&self, attempt: u16) -> Option<AttemptQuestions> {
        self.asking.filter(|asking| asking.attempt == attempt)
    }

    /// Makes a conversation fit, as far as that is possible.
    fn condense(
        &self,
        setup: &Setup,
        transcript: &mut Transcript,
        written: Option<alloc::string::String>,
    ) {
        if let Some(Remedy::Summarise(at)) = self.remedy(setup, transcript) {
            condense::replace(transcript, at, written);
        }
        if self.remedy(setup, transcript).is_some() {
            condense::shrink(transcript);
        }
    }

    /// Returns what can be done about a conversation that does not fit.
    fn remedy(&self, setup: &Setup, transcript: &Transcript) -> Option<Remedy> {
        let most = self.limit(setup).div_euclid(10).saturating_mul(8);
        if used(setup, transcript) <= most {
            return None;
        }
        let room = most.saturating_sub(setup.base()).saturating_sub(OWN_WORDS).div_euclid(2);
        let keep = usize::from(setup.limits.keep_turns);
        let at = condense::boundary(transcript, keep, room);
        if condense::is_worth(transcript, at) {
            return Some(Remedy::Summarise(at));
        }
        condense::can_shrink(transcript).then_some(Remedy::Shrink)
    }

    /// Returns the bytes that the model can read at once, as far as is known.
    fn limit(&self, setup: &Setup) -> usize {
        let told = usize::try_from(setup.limits.context_tokens).unwrap_or(usize::MAX);
        let told = told.saturating_mul(4);
        self.too_long.map_or(told, |learnt| learnt.min(told))
    }
}

/// Returns whether no attempt comes after this one.
const fn is_last(visit: &Visit<'_>) -> bool {
    if let StateKind::Run(work) = visit.state.kind() {
        return visit.attempt >= work.attempts.max;
    }
    true
}

/// Returns the bytes of the prompt that a conversation makes.
fn used(setup: &Setup, transcript: &Transcript) -> usize {
    setup.base().saturating_add(OWN_WORDS).saturating_add(transcript.size())
}
