//! What a run of `code` knows, and how a round changes it.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{BadBody, Fault, FaultClass, Forgone, Reply, ToolCall, ToolResult},
    governor::{Level, Verdict},
    id::At,
    turn::{TurnError, TurnErrorKind},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    plan::{Advance, PHASE_COMPLETE, Phase, Plan, Work},
    progress::{self, Failure, Judgement, Progress},
    recovery::{Choice, Recovery, Trouble},
};
use crate::{
    advice::Advice,
    answer,
    transcript::{self, Transcript},
};

/// Messages that are kept.
const MAX_MESSAGES: usize = 400;
/// Commands that run tests, where the configuration names none.
const TESTS: [&str; 6] = ["cargo test", "go test", "pytest", "npm test", "make test", "make check"];

/// What is said of a reply in which nothing can be read.
const UNREADABLE: &str = "a call needs the name of a tool and a JSON object";

/// The data of a run of `code`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Data {
    /// What the model is told before anything else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// How commands start that run tests.
    #[serde(default)]
    pub tests: Vec<String>,
    /// The last prompt, which outlives its place in the conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The conversation.
    pub transcript: Transcript,
    /// What the next prompt should say of the work so far.
    #[serde(default, skip_serializing_if = "Advice::is_empty")]
    pub advice: Advice,
    /// The calls of the last reply that are to be run, by their places in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<u16>,
    /// The phases.
    pub plan: Plan,
    /// What was done since the last phase ended.
    pub work: Work,
    /// What the last calls came to.
    pub progress: Progress,
    /// What has to be recovered from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// The recoveries that were used since the last phase or prompt began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<Recovery>,
    /// Why the last turn has no answer, to be shown; a new prompt clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    system: String,
    phases: Vec<Phase>,
    tests: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    text: String,
    #[serde(default)]
    phases: Vec<Phase>,
}

impl Data {
    pub(super) fn configure(&mut self, config: &RawValue) -> Result<(), BadBody> {
        let config: Option<Config> = serde_json::from_str(config.get())?;
        let config = config.unwrap_or_default();
        self.plan.set(config.phases)?;
        self.system = config.system;
        self.tests = config.tests.unwrap_or_else(|| TESTS.map(Into::into).into());
        Ok(())
    }

    /// Takes a person's prompt, with which everything may be tried once more.
    pub(super) fn hear(&mut self, body: &RawValue) -> Result<(), BadBody> {
        let Prompt { text, phases } = serde_json::from_str(body.get())?;
        if text.is_empty() {
            return Err(BadBody("the prompt is empty".into()));
        }
        if !phases.is_empty() {
            self.plan.set(phases)?;
        }
        self.join();
        self.prompt.clone_from(&text);
        self.transcript.say(text);
        self.start_afresh();
        self.error = None;
        Ok(())
    }

    pub(super) fn build(&mut self, now: At) {
        if let Some(told) = self.plan.open(now) {
            self.transcript.note(told);
        }
    }

    /// Takes a reply. Its calls are to be run, but for those that end a phase.
    pub(super) fn propose(&mut self, reply: Reply) -> Result<(), Fault> {
        self.advice.used();
        if !is_readable(&reply) {
            self.advice.say(UNREADABLE);
            return Err(unusable(UNREADABLE.into()));
        }
        self.error = None;
        self.transcript.reply(reply);
        self.transcript.keep_last(MAX_MESSAGES);
        self.batch.clear();
        let mut claims = Vec::new();
        for (at, called) in (0..).zip(self.transcript.calls()) {
            if called.call.tool == PHASE_COMPLETE {
                let result = self.plan.take_claim(&called.call.arguments, &self.work);
                claims.push((at, result));
            } else {
                self.batch.push(at);
            }
        }
        let refused = claims.iter().find(|(_, result)| !result.ok);
        let refused = refused.map(|(_, result)| unusable(result.output.clone()));
        for (at, result) in claims {
            self.transcript.record(at, result);
        }
        // A reply that only claims what is not so is a turn that came to nothing.
        refused.filter(|_| self.batch.is_empty() && self.plan.claim.is_none()).map_or(Ok(()), Err)
    }

    /// Takes what the governor has to say; what it halts has to be recovered from.
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
        // A halt is told just before the result that it is about.
        if !result.ok {
            self.blame(Failure::of(&self.call(item), &result));
        }
        self.keep(item, result);
    }

    fn keep(&mut self, item: u16, result: ToolResult) {
        self.transcript.record(self.place(item), result);
    }

    pub(super) fn model_forgone(&mut self, why: &Forgone) {
        self.fail(why);
        // A turn that was halted is told as such before.
        if let Some(trouble) = Trouble::no_reply(why) {
            self.trouble = Some(trouble);
        }
    }

    pub(super) fn call_forgone(&mut self, item: u16, why: &Forgone) {
        // The call that was halted, and not those that end with it.
        if let (Forgone::Stuck { reason }, Some(Trouble::Stuck { reason: halted, .. })) =
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
    fn fail(&mut self, why: &Forgone) {
        if matches!(why, Forgone::Cancelled | Forgone::Budget) {
            self.error.get_or_insert_with(|| answer::turn_error(why));
        }
    }

    fn blame(&mut self, failed: Failure) {
        if let Some(Trouble::Stuck { failure, .. }) = &mut self.trouble {
            failure.get_or_insert(failed);
        }
    }

    /// Takes the results of a batch into account, in request order, once.
    pub(super) fn join(&mut self) {
        for at in core::mem::take(&mut self.batch) {
            let Some(called) = self.transcript.calls().get(usize::from(at)) else { continue };
            let Some(result) = &called.result else { continue };
            self.work.calls = self.work.calls.saturating_add(1);
            self.progress.record(&called.call, result);
            if result.mutated
                && let Some(file) = progress::file(&called.call)
            {
                self.work.changed(&file);
            }
            if progress::is_test(&called.call, &self.tests) {
                self.work.tests_passed = Some(result.ok);
            }
        }
    }

    /// Says what comes of a round.
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

    /// Chooses how to go on, and tells the model.
    pub(super) fn choose(&mut self) -> Choice {
        // A batch that was halted comes here unjoined, and may have changed files.
        self.join();
        self.transcript.seal();
        let Some(trouble) = &self.trouble else { return Choice::Broken };
        let choice = trouble.choose(&self.used);
        // Shown if no recovery is left for it.
        self.error = Some(trouble.turn_error());
        if let Choice::Recover(rule) = choice {
            self.transcript.note(trouble.advice(rule));
            self.used.push(rule);
            self.trouble = None;
            self.advice.clear();
            self.progress = Progress::default();
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

    /// Forgets errors and recoveries: a phase or a prompt begins.
    fn start_afresh(&mut self) {
        self.progress = Progress::default();
        self.trouble = None;
        self.advice.clear();
        self.used.clear();
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
