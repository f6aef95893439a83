//! What a run of `code` knows, what it is given at its start, and what a person says.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::{agent::BadBody, id::At, turn::TurnError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    plan::{Phase, PhaseWork, Plan},
    progress::WorkProgress,
    recovery::{RecoveryAction, Trouble},
};
use crate::{
    advice::Advice,
    dialogue::{Context, ConversationLimits, Instruction, Setup},
    transcript::Transcript,
};

/// The data of a run of `code`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct CodeData {
    /// How the conversation is set up.
    #[serde(default)]
    pub setup: Setup,
    /// How much of the conversation fits into a prompt.
    #[serde(default)]
    pub context: Context,
    /// How commands start that run tests, beside those of the common runners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// The last prompt, which outlives its place in the conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The conversation.
    pub transcript: Transcript,
    /// What the next prompt should say about the work so far.
    #[serde(default, skip_serializing_if = "Advice::is_empty")]
    pub advice: Advice,
    /// The calls of the last reply that are to be run, by their places in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<u16>,
    /// The phases.
    pub plan: Plan,
    /// What was done since the last phase ended.
    pub work: PhaseWork,
    /// What the last calls came to.
    pub progress: WorkProgress,
    /// What to recover from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// The recoveries that were used since the last phase or prompt began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<RecoveryAction>,
    /// What was recovered from last, to be shown if the chart allows no further recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<TurnError>,
    /// Why the last turn has no answer, to be shown; a new prompt clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CodeConfig {
    system: String,
    instructions: Vec<Instruction>,
    tools: Vec<Box<str>>,
    limits: ConversationLimits,
    phases: Vec<Phase>,
    tests: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptBody {
    text: String,
    #[serde(default)]
    phases: Vec<Phase>,
}

impl CodeData {
    pub(super) fn configure(&mut self, config: &RawValue) -> Result<(), BadBody> {
        let config: Option<CodeConfig> = serde_json::from_str(config.get())?;
        let config = config.unwrap_or_default();
        let CodeConfig { system, instructions, tools, limits, phases, tests } = config;
        if let Some(at) = tests.iter().position(|test| test.trim().is_empty()) {
            return Err(BadBody(format!("`tests[{at}]` is empty: write a command")));
        }
        let setup = Setup { system, instructions, tools, limits }.checked()?;
        self.plan.set(phases)?;
        (self.setup, self.tests) = (setup, tests);
        Ok(())
    }

    /// Takes a person's prompt, with which everything may be tried once more.
    pub(super) fn hear(&mut self, body: &RawValue) -> Result<(), BadBody> {
        let PromptBody { text, phases } = serde_json::from_str(body.get())?;
        if text.trim().is_empty() {
            return Err(BadBody("the prompt is empty".into()));
        }
        if !phases.is_empty() {
            self.plan.set(phases)?;
        }
        self.join(None);
        self.drop_claim();
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

    /// Forgets a claim without effect: it was about the end of its own round, and that
    /// round was broken off.
    pub(super) fn drop_claim(&mut self) {
        if self.plan.claim.take().is_some() {
            self.transcript.note(
                "The phase is still open: your report that it is complete was rejected.".into(),
            );
        }
    }

    /// Forgets errors and recoveries: a phase or a prompt begins.
    pub(super) fn start_afresh(&mut self) {
        self.progress = WorkProgress::default();
        self.trouble = None;
        self.recovered = None;
        self.advice.clear();
        self.used.clear();
    }
}
