//! Language models: the protocols that they speak, and how their answers are read.
//!
//! Nothing here reaches a network yet. [`decode`] is pure: bytes in, a reply out.

pub mod decode;
pub mod quote;

use std::{fmt, str::FromStr};

use thiserror::Error;

/// A wire protocol that model providers speak.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Protocol {
    /// Chat completions, by OpenAI and by most that are compatible with it.
    OpenAiChat,
    /// Responses, by OpenAI.
    OpenAiResponses,
    /// Messages, by Anthropic.
    AnthropicMessages,
    /// `generateContent` and `streamGenerateContent`, by Gemini.
    GeminiGenerate,
}

impl Protocol {
    /// Every protocol, in the order of the documentation.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::AnthropicMessages, Self::GeminiGenerate];

    /// Returns the name that people type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GeminiGenerate => "gemini-generate",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No protocol has this name.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("no protocol is called `{name}`")]
pub struct NoSuchProtocol {
    /// What was asked for.
    pub name: String,
}

impl FromStr for Protocol {
    type Err = NoSuchProtocol;

    fn from_str(name: &str) -> Result<Self, NoSuchProtocol> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.as_str() == name);
        found.ok_or_else(|| NoSuchProtocol { name: name.to_owned() })
    }
}
