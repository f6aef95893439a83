//! What a decoder finds: pieces while it reads, and the reply at its end.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, value::RawValue};
use thiserror::Error;

use super::error::{DecodeError, ErrorClass};

/// A piece of a reply, to show while it arrives. Only [`Decoded`] is used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReplyPiece {
    /// More of the text.
    Text(String),
    /// More of what the model thinks aloud. Never part of the text.
    Reasoning(String),
    /// More of the model's refusal. Never part of the text.
    Refusal(String),
    /// A tool call began.
    CallStarted {
        /// Its place among the reply's calls.
        call: usize,
        /// The provider's id.
        id: Option<String>,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Its place among the reply's calls.
        call: usize,
        /// The text to append.
        delta: String,
    },
    /// What was counted so far.
    Usage(TokenUsage),
    /// The provider's word for why it stopped.
    Stopped(String),
    /// The reply failed. Nothing that follows counts.
    Failed(DecodeError),
}

/// A reply, read to its end.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Decoded {
    /// What the model said, without reasoning and refusal.
    pub text: String,
    /// The calls that it proposes, in its order.
    pub tool_calls: Vec<ProposedCall>,
    /// The provider's own word for why it stopped.
    pub stop: Option<String>,
    /// What the provider counted.
    pub usage: TokenUsage,
    /// Whether the protocol's own end was seen, with a stop word and without error.
    pub complete: bool,
    /// The error that the answer carried, or that made it unreadable. An answer that
    /// merely ends too early carries none; see [`Decoded::failure`].
    pub error: Option<DecodeError>,
    /// The model's refusal, in its words.
    #[serde(skip)]
    pub refusal: Option<String>,
    /// What cut the reply short, where the provider says so beside its word for the stop.
    #[serde(skip)]
    pub cut_by: Option<String>,
}

impl Decoded {
    /// Returns why this reply must not be acted upon, or nothing if it is complete.
    pub fn failure(&self) -> Option<DecodeError> {
        if self.complete {
            return None;
        }
        Some(self.error.clone().unwrap_or_else(|| DecodeError {
            class: ErrorClass::Truncated,
            status: None,
            code: None,
            message: "the stream ended early".to_owned(),
            retryable: ErrorClass::Truncated.retryable(),
            retry_after_ms: None,
        }))
    }
}

/// A tool call that a model proposes.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ProposedCall {
    /// The provider's id. Some providers give none.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// What to call it with.
    pub arguments: ProposedArguments,
}

impl ProposedCall {
    /// Returns the provider's id, or one derived from where the call stands. `scope`
    /// must name the reply among all replies of a conversation, such as its effect's
    /// id: a place alone repeats from reply to reply.
    pub fn id_within(&self, scope: &str, place: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("call_{scope}_{place}"))
    }
}

/// A call's arguments, exactly as the model wrote them; never trusted to be whole.
///
/// As JSON they have the protocol's own shape: a text for OpenAI's two, a value for
/// the others, and null where such a value was never finished.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProposedArguments {
    pub(super) text: String,
    pub(super) quoted: bool,
}

/// A call's arguments are not a JSON object.
#[derive(Debug, Error)]
#[error("the arguments are not a JSON object")]
pub struct NotAnObject(#[from] serde_json::Error);

impl ProposedArguments {
    /// Returns what the model wrote.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Reads them. Nothing written means no arguments.
    pub fn parsed(&self) -> Result<Map<String, Value>, NotAnObject> {
        if self.text.trim().is_empty() {
            return Ok(Map::new());
        }
        Ok(serde_json::from_str(&self.text)?)
    }
}

impl Serialize for ProposedArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.quoted {
            return serializer.serialize_str(&self.text);
        }
        RawValue::from_string(self.text.clone()).ok().serialize(serializer)
    }
}

/// What a provider counted, in tokens.
///
/// `input` and `output` are its two main counters. Some providers count cached input
/// or reasoning beside them; those are kept apart, and [`TokenUsage::charged`] has all.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct TokenUsage {
    /// Tokens read.
    pub input: Option<u64>,
    /// Tokens written.
    pub output: Option<u64>,
    /// Input that is not in `input`: written to a cache or read from it.
    #[serde(skip)]
    pub cached: u64,
    /// Output that is not in `output`: reasoning.
    #[serde(skip)]
    pub reasoning: u64,
}

impl TokenUsage {
    /// Returns all tokens that count against a budget.
    pub fn charged(&self) -> u64 {
        [self.input.unwrap_or(0), self.output.unwrap_or(0), self.cached, self.reasoning]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}
