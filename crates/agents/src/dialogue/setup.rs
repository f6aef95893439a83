//! The configuration that conversations have in common, and its checks.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::{agent::BadBody, chart::AllowedTools};
use serde::{Deserialize, Serialize};

/// Tools that a configuration may name.
const MAX_TOOLS: usize = 512;
/// Tokens below which no conversation can be held.
const LEAST_TOKENS: u32 = 1_000;
/// Tokens that no model reads at once.
const MOST_TOKENS: u32 = 100_000_000;
/// Exchanges that may be kept word for word.
const MOST_TURNS: u16 = 1_000;
/// Bytes that the description of a tool is taken to need: only its name is known here.
const TOOL_BYTES: usize = 600;
/// Bytes around what a file says.
const FENCE_BYTES: usize = 400;

/// How a conversation is set up. It is fixed when the run begins.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The system prompt, instead of the agent's own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// Instructions from files of the workspace, shown as content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<Instruction>,
    /// The tools that are offered, by name, where the state allows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Box<str>>,
    /// How long a conversation may grow before its oldest part is summed up.
    pub limits: ConversationLimits,
}

/// Instructions from a file, for work in its folder.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The file.
    pub source: String,
    /// Its text.
    pub text: String,
}

/// How long a conversation may grow.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationLimits {
    /// Tokens that the model can read at once, at four bytes each.
    pub context_tokens: u32,
    /// Exchanges at the end that stay word for word when the rest is summed up: a
    /// person's message, or a reply with the results of its calls.
    pub keep_turns: u16,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self { context_tokens: 100_000, keep_turns: 8 }
    }
}

impl Setup {
    /// Refuses a configuration that no conversation can be held with.
    pub(crate) fn checked(self) -> Result<Self, BadBody> {
        let ConversationLimits { context_tokens, keep_turns } = self.limits;
        if !(LEAST_TOKENS..=MOST_TOKENS).contains(&context_tokens) {
            return Err(BadBody(format!(
                "`limits.context_tokens` is {context_tokens}: set it to the number of tokens that \
                 the model reads at once, from {LEAST_TOKENS} to {MOST_TOKENS}"
            )));
        }
        if !(1..=MOST_TURNS).contains(&keep_turns) {
            return Err(BadBody(format!(
                "`limits.keep_turns` is {keep_turns}: set it to a number from 1 to {MOST_TURNS}"
            )));
        }
        if self.tools.len() > MAX_TOOLS {
            return Err(BadBody(format!("`tools` names more than {MAX_TOOLS} tools")));
        }
        for (at, name) in self.tools.iter().enumerate() {
            if name.trim().is_empty() {
                return Err(BadBody(format!("`tools[{at}]` is empty: write the name of a tool")));
            }
            if self.tools.iter().take(at).any(|known| known == name) {
                return Err(BadBody(format!("`tools` names `{name}` twice")));
            }
        }
        if let Some(at) = self.instructions.iter().position(|it| it.source.trim().is_empty()) {
            return Err(BadBody(format!(
                "`instructions[{at}]` has no `source`: name the file that the text comes from"
            )));
        }
        // The parts that are never cut must leave room, or the conversation could not begin.
        let (needed, most) = (self.base().div_ceil(4), context_tokens.div_euclid(2));
        if needed > usize::try_from(most).unwrap_or(usize::MAX) {
            return Err(BadBody(format!(
                "the system text, the instructions and the tools need {needed} tokens, more than \
                 half of `limits.context_tokens` ({most}): shorten them, offer fewer tools, or raise the \
                 limit if the model reads more"
            )));
        }
        Ok(self)
    }

    /// Returns the bytes of every prompt that are there before the conversation.
    pub(super) fn base(&self) -> usize {
        let told = self.instructions.iter().map(|file| file.text.len().saturating_add(FENCE_BYTES));
        let tools = self.tools.len().saturating_mul(TOOL_BYTES);
        told.fold(self.system.len().saturating_add(tools), usize::saturating_add)
    }

    /// Returns the system prompt.
    pub(crate) fn system_or(&self, own: &str) -> String {
        if self.system.trim().is_empty() { own.into() } else { self.system.clone() }
    }

    /// Returns the tools to offer where only some are allowed.
    pub(crate) fn offered(&self, allowed: &AllowedTools) -> Vec<Box<str>> {
        self.tools.iter().filter(|name| allowed.allow(name)).cloned().collect()
    }
}
