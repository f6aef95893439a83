//! Prompts: plain parts that every provider's format can express.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::agent::{ToolCall, ToolResult};

/// A prompt, before any provider's format.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Prompt {
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<PromptMessage>,
    /// The tools that it may propose, by name.
    pub tools: Vec<Box<str>>,
    /// The JSON Schema that the reply must fit, where it must be JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// Text that the host adds on the way to the model, and that no one else may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateText>,
}

/// Text for a model that the journal must not contain: the host reads it when the call starts, and
/// no stored prompt has it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PrivateText {
    /// The absolute path of the profile whose facts are added to the system text; empty
    /// where there is none.
    pub file: String,
    /// Whether the reply is kept out of the journal too.
    pub redact: bool,
    /// The topic of the prompt, in words that select facts: only facts for these words are added.
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
        /// Its text.
        text: String,
        /// Its calls.
        calls: Vec<ToolCall>,
    },
    /// The result of a call.
    Tool {
        /// The call's id.
        id: String,
        /// The result.
        result: ToolResult,
    },
}
