//! What a model is shown: plain parts that every provider's format can carry.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::agent::{ToolCall, ToolResult};

/// A prompt, before any provider's format.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Prompt {
    /// What the model is told before anything else.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<PromptMessage>,
    /// The tools that it may propose, by name.
    pub tools: Vec<Box<str>>,
    /// The JSON Schema that the reply must fit, where it must be JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// What the host adds on its way to the model, where nobody else may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateText>,
}

/// What a model is told that the journal must not hold: the host reads it when the call
/// starts, and no kept prompt has it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PrivateText {
    /// The absolute path of the profile whose facts are added to the system text; empty
    /// where there is none.
    pub file: String,
    /// Whether the reply is kept out of the journal too.
    pub redact: bool,
    /// What the prompt is about, in the words by which facts are chosen: only those that are
    /// for it are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
}

/// One message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptMessage {
    /// From a person, or from the host in their stead.
    User(String),
    /// From the model.
    Assistant {
        /// What it said.
        text: String,
        /// What it proposed.
        calls: Vec<ToolCall>,
    },
    /// What a call came to.
    Tool {
        /// The call's id.
        id: String,
        /// The result.
        result: ToolResult,
    },
}
