//! One round of `code`: a reply, its calls, their results, and their outcome.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, Fault, FaultClass, Reply, ToolCall, ToolResult},
    chart::Budget,
    governor::{Level, Verdict},
    id::At,
    turn::{TurnError, TurnErrorKind},
};

use super::{
    data::CodeData,
    evidence,
    plan::{Advance, is_claim},
    progress::{self, CallFailure, Judgement, WorkProgress},
    proposal,
    recovery::{RecoveryChoice, Trouble},
};
use crate::{PLAN_TOOL, answer, dialogue, transcript};

/// Messages that are remembered; the older half then gives way to a summary.
const MAX_MESSAGES: usize = 400;

/// The message for an unreadable reply.
const UNREADABLE: &str = "a call needs the name of a tool and a JSON object";

impl CodeData {
    /// Takes a reply. Its calls are to be run, except those that end a phase.
    pub(super) fn propose(&mut self, reply: Reply) -> Result<(), Fault> {
        self.advice.used();
        if !is_readable(&reply) {
            self.advice.say(UNREADABLE);
            return Err(unusable(UNREADABLE.into()));
        }
        self.error = None;
        self.recovered = None;
        self.transcript.reply(reply);
        dialogue::bound(&mut self.transcript, MAX_MESSAGES);
        self.batch.clear();
        // Invalid claims and plans are answered here, without asking a person.
        let mut answered = Vec::new();
        let mut proposed = false;
        for (at, called) in (0..).zip(self.transcript.calls()) {
            let call = &called.call;
            if is_claim(&call.tool) {
                answered.push((at, self.plan.take_claim(&call.arguments, &self.work)));
            } else if call.tool == PLAN_TOOL
                && let Err(why) = proposal::read(&self.plan, proposed, &call.arguments)
            {
                answered.push((at, ToolResult { ok: false, output: why, mutated: false }));
            } else {
                proposed |= call.tool == PLAN_TOOL;
                self.batch.push(at);
            }
        }
        let refused = answered.iter().find(|(_, result)| !result.ok);
        let refused = refused.map(|(_, result)| unusable(result.output.clone()));
        for (at, result) in answered {
            self.transcript.record(at, result);
        }
        // A reply with only a false claim is a failed turn.
        refused.filter(|_| self.batch.is_empty() && self.plan.claim.is_none()).map_or(Ok(()), Err)
    }

    /// Takes the governor's verdict; the run must recover from a halt.
    pub(super) fn advise(&mut self, verdict: &Verdict) {
        self.advice.hear(verdict);
        if verdict.level == Level::Halt {
            self.trouble = Some(Trouble::stuck(verdict));
        }
    }

    pub(super) fn call(&self, item: u16) -> ToolCall {
        self.transcript.call(self.place(item))
    }

    pub(super) fn record(&mut self, item: u16, result: ToolResult) {
        // A halt is reported just before the result that it is about.
        if !result.ok {
            self.blame(CallFailure::of(&self.call(item), &result));
        }
        self.keep(item, result);
    }

    fn keep(&mut self, item: u16, result: ToolResult) {
        self.transcript.record(self.place(item), result);
    }

    pub(super) fn model_forgone(&mut self, why: &Abandoned) {
        self.context.close();
        self.fail(why);
        // A halted turn was reported before.
        if let Some(trouble) = Trouble::no_reply(why) {
            self.trouble = Some(trouble);
        }
    }

    pub(super) fn call_forgone(&mut self, item: u16, why: &Abandoned) {
        // The halted call, and not those that end with it.
        if let (Abandoned::Stuck { reason }, Some(Trouble::Stuck { reason: halted, .. })) =
            (why, &self.trouble)
            && reason == halted
            && let Some(failure) = self.progress.failure_of(&self.call(item)).cloned()
        {
            self.blame(failure);
        }
        self.fail(why);
        self.keep(item, transcript::forgone(why));
    }

    /// Records why the turn has no answer, where this ends it; the first reason is the
    /// one to show.
    fn fail(&mut self, why: &Abandoned) {
        if matches!(why, Abandoned::Cancelled | Abandoned::Budget) {
            self.error.get_or_insert_with(|| answer::turn_error(why));
        }
    }

    /// Handles a used-up budget. If it is the chart's number of recoveries, the report is about
    /// the trouble: the budget only explains why nothing more is tried.
    pub(super) fn used_up(&mut self, recovering: bool, budget: &Budget) {
        let trouble = self.recovered.take().filter(|_| recovering);
        let error = trouble.unwrap_or_else(|| answer::used_up(budget));
        self.error.get_or_insert(error);
    }

    fn blame(&mut self, failed: CallFailure) {
        if let Some(Trouble::Stuck { failure, .. }) = &mut self.trouble {
            failure.get_or_insert(failed);
        }
    }

    /// Takes the results of a batch into account, in request order, once. A plan that was
    /// approved is taken, and its first phase opened where the time is known.
    pub(super) fn join(&mut self, now: Option<At>) {
        for at in core::mem::take(&mut self.batch) {
            let Some(called) = self.transcript.calls().get(usize::from(at)) else { continue };
            let Some(result) = &called.result else { continue };
            self.work.calls = self.work.calls.saturating_add(1);
            self.progress.record(&called.call, result);
            if result.mutated
                && let Some(file) = progress::file(&called.call)
            {
                self.work.changed(&file);
                // What passed was another state of the files; what failed stays failed until
                // it is seen to pass.
                self.work.tests_passed = self.work.tests_passed.filter(|passed| !passed);
            }
            if let Some(passed) = evidence::of(&called.call, result, &self.tests) {
                self.work.tests_passed = Some(passed);
            }
            if called.call.tool == PLAN_TOOL
                && result.ok
                && let Ok(phases) = proposal::read(&self.plan, false, &called.call.arguments)
            {
                self.plan.phases = phases;
            }
        }
        if let Some(now) = now {
            self.build(now);
        }
    }

    /// Returns the outcome of a round.
    pub(super) fn judge(&mut self) -> Judgement {
        if self.plan.claim.is_some() {
            return Judgement::PhaseComplete;
        }
        if !self.transcript.calls().is_empty() {
            self.progress.idle_replies = 0;
            return Judgement::Continue;
        }
        if self.transcript.last_text().trim().is_empty() {
            self.transcript.note("The reply was empty.".into());
            return Judgement::Continue;
        }
        let Some(open) = self.plan.current() else { return Judgement::Answered };
        if self.progress.idled() {
            let message =
                format!("phase {open} is still open, and the model stopped working on it");
            self.error = Some(TurnError { kind: TurnErrorKind::Stuck, message });
            return Judgement::Answered;
        }
        self.transcript.note("The phase is still open.".into());
        Judgement::Continue
    }

    /// Chooses how to recover, and tells the model.
    pub(super) fn choose(&mut self, now: At) -> RecoveryChoice {
        // A batch that was halted comes here unjoined, and may have changed files.
        self.join(Some(now));
        self.transcript.seal();
        self.drop_claim();
        let Some(trouble) = &self.trouble else { return RecoveryChoice::Broken };
        let choice = trouble.choose(&self.used);
        let error = trouble.turn_error();
        if let RecoveryChoice::Recover(rule) = choice {
            self.recovered = Some(error);
            self.transcript.note(trouble.advice(rule));
            self.used.push(rule);
            self.trouble = None;
            self.advice.clear();
            self.progress = WorkProgress::default();
        } else {
            self.error = Some(error);
        }
        choice
    }

    pub(super) fn advance(&mut self, now: At) -> Advance {
        let advance = self.plan.advance(&mut self.work, now);
        if advance == Advance::Next {
            self.start_afresh();
        }
        advance
    }

    fn place(&self, item: u16) -> u16 {
        self.batch.get(usize::from(item)).copied().unwrap_or(u16::MAX)
    }
}

/// Returns the fault of a reply in which nothing can be used.
const fn unusable(message: String) -> Fault {
    Fault { class: FaultClass::Invalid, repeatable: true, hint_ms: None, message }
}

/// Returns whether a reply has words, or a call that could be one.
fn is_readable(reply: &Reply) -> bool {
    let is_call = |call: &ToolCall| !call.tool.is_empty() && call.arguments.get().starts_with('{');
    reply.calls.is_empty() || !reply.text.trim().is_empty() || reply.calls.iter().any(is_call)
}
