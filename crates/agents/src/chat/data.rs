//! What a conversation knows: its messages, and what went wrong last.

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, BadBody, Fault, FaultClass, Reply},
    chart::Budget,
    governor::{Level, Verdict},
    turn::TurnError,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    advice::Advice,
    answer,
    dialogue::{self, Context, Setup},
    transcript::{self, Transcript},
};

/// Messages that are remembered; the older half then gives way to a summary.
const MAX_MESSAGES: usize = 2_000;

/// The data of a run of `chat`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ChatData {
    /// How the conversation is set up.
    #[serde(default)]
    pub setup: Setup,
    /// How much of the conversation fits into a prompt.
    #[serde(default)]
    pub context: Context,
    /// The conversation.
    pub transcript: Transcript,
    /// What the next prompt should say about the work so far; a new message clears it.
    #[serde(default, skip_serializing_if = "Advice::is_empty")]
    pub advice: Advice,
    /// Why the last turn has no answer, to be shown; a new message clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
    /// Whether the machine failed a call of this batch in a way that no other call can fix.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub broken: bool,
    /// Whether the last hook did something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_acted: Option<bool>,
    /// What the last hook did, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_actions: Vec<String>,
}

/// A tool of a finished batch, as a hook sees it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CompletedTool {
    /// The tool.
    pub name: String,
    /// Whether it succeeded.
    pub succeeded: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserInput {
    text: String,
}

impl ChatData {
    pub(super) fn configure(&mut self, config: &RawValue) -> Result<(), BadBody> {
        let setup: Option<Setup> = serde_json::from_str(config.get())?;
        self.setup = setup.unwrap_or_default().checked()?;
        Ok(())
    }

    /// Takes a person's message; a new turn starts without the last one's error.
    pub(super) fn hear(&mut self, body: &RawValue) -> Result<(), BadBody> {
        let UserInput { text } = serde_json::from_str(body.get())?;
        if text.trim().is_empty() {
            return Err(BadBody("the message is empty".into()));
        }
        self.transcript.say(text);
        self.error = None;
        self.broken = false;
        self.advice.clear();
        Ok(())
    }

    /// Takes a model's reply, which has seen the advice there was. One without words and
    /// calls is none: a model may spend all that it is allowed on thinking.
    pub(super) fn reply(&mut self, reply: Reply) -> Result<(), Fault> {
        self.advice.used();
        if reply.calls.is_empty() && reply.text.trim().is_empty() {
            self.advice.say("the last reply was empty: answer in words, or call a tool");
            let message = "the reply was empty".into();
            let class = FaultClass::Invalid;
            return Err(Fault { class, repeatable: true, hint_ms: None, message });
        }
        // The turn went on after whatever went wrong in it.
        self.error = None;
        self.transcript.reply(reply);
        dialogue::bound(&mut self.transcript, MAX_MESSAGES);
        Ok(())
    }

    /// Takes that a call came to nothing. One that fails is for the model to read; some
    /// ends are the end of the turn.
    pub(super) fn forgo(&mut self, item: u16, why: &Abandoned) {
        self.transcript.record(item, transcript::forgone(why));
        let broken = matches!(why, Abandoned::Failed(it) if it.class == FaultClass::Resource);
        self.broken |= broken;
        if broken
            || matches!(why, Abandoned::Stuck { .. } | Abandoned::Budget | Abandoned::Cancelled)
        {
            self.fail(why);
        }
    }

    /// Takes that the hook came to nothing. One that fails does not stop the conversation.
    pub(super) fn forgo_hook(&mut self, why: &Abandoned) {
        (self.hook_acted, self.hook_actions) = (Some(false), Vec::new());
        if matches!(why, Abandoned::Budget | Abandoned::Cancelled) {
            self.fail(why);
        }
    }

    /// Takes that a budget is used up: that is why the turn has no answer.
    pub(super) fn used_up(&mut self, budget: &Budget) {
        self.error.get_or_insert_with(|| answer::used_up(budget));
    }

    /// Takes the governor's advice; a halt is also why the turn has no answer.
    pub(super) fn advise(&mut self, verdict: &Verdict) {
        self.advice.hear(verdict);
        if verdict.level == Level::Halt {
            self.fail(&Abandoned::Stuck { reason: verdict.reason.clone() });
        }
    }

    /// Records why the turn has no answer. The first reason is the one to show.
    pub(super) fn fail(&mut self, why: &Abandoned) {
        self.error.get_or_insert_with(|| answer::turn_error(why));
    }

    pub(super) fn completed_tools(&self) -> Vec<CompletedTool> {
        let completed = self.transcript.calls().iter().map(|called| CompletedTool {
            name: called.call.tool.clone(),
            succeeded: called.result.as_ref().is_some_and(|result| result.ok),
        });
        completed.collect()
    }

    /// Returns whether a call of the batch changed something, or may have before it failed.
    pub(super) fn mutated(&self) -> bool {
        let mut results =
            self.transcript.calls().iter().filter_map(|called| called.result.as_ref());
        results.any(|result| result.mutated)
    }
}
