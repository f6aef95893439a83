//! Questions, as each protocol writes them. Pure: a question in, JSON out.
//!
//! What the protocols share is settled here: which form a reply is asked for in, the
//! order of the turns, and the names of tools. Every request asks for a stream.

mod anthropic;
mod gemini;
mod names;
mod openai_chat;
mod openai_responses;
mod schema;
mod turns;

pub use names::ToolNames;

use pointsman_kernel::prompt::PromptMessage;
use serde_json::Value;

use super::{ModelRequest, Protocol, settings::ModelSettings, settings::Proposals};
use crate::tool::ToolSpec;
use turns::EncodedTurn;

/// The name of the tool that enforces a schema if the protocol has no other way.
pub(super) const REPLY: &str = "reply";

/// The form that a reply is asked for in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReplyFormat {
    /// Plain text.
    Text,
    /// JSON text that fits the prompt's schema.
    Schema,
    /// Text, and calls of the prompt's tools.
    Tools,
}

/// A question as it is sent.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The request's body.
    pub body: Value,
    /// What the tools are called in it.
    pub names: ToolNames,
    /// The form that the reply was asked for in.
    pub form: ReplyFormat,
}

/// What every protocol's encoder is given.
struct Parts<'q> {
    settings: &'q ModelSettings,
    system: String,
    turns: Vec<EncodedTurn>,
    /// The tools to offer; none unless the form is [`ReplyFormat::Tools`].
    tools: Vec<(&'q str, &'q ToolSpec)>,
    /// The schema to hold the reply to; none unless the form is [`ReplyFormat::Schema`].
    schema: Option<&'q Value>,
}

/// Writes a question for a protocol.
pub fn encode(protocol: Protocol, question: &ModelRequest, settings: &ModelSettings) -> Encoded {
    let prompt = &question.prompt;
    let offered = question.tools.iter().filter(|tool| prompt.tools.contains(&tool.name));
    let offered: Vec<&ToolSpec> = offered.collect();
    let form = match (settings.proposals, &prompt.schema, offered.is_empty()) {
        // Where only one of the two is possible there is nothing to choose.
        (Proposals::Schema, Some(_), _) | (Proposals::Tools, Some(_), true) => ReplyFormat::Schema,
        (Proposals::Tools, _, false) | (Proposals::Schema, None, false) => ReplyFormat::Tools,
        (_, None, true) => ReplyFormat::Text,
    };
    let native = form == ReplyFormat::Tools;
    let called = prompt.messages.iter().filter(|_| native).flat_map(|message| match message {
        PromptMessage::Assistant { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let tools = offered.iter().filter(|_| native).map(|tool| &*tool.name);
    let names = ToolNames::of(tools.chain(called.map(|call| call.tool.as_str())));
    let mut parts = Parts {
        settings,
        system: prompt.system.trim().to_owned(),
        turns: turns::of(&prompt.messages, native, &names),
        tools: Vec::new(),
        schema: prompt.schema.as_ref().filter(|_| form == ReplyFormat::Schema),
    };
    if native {
        parts.tools = offered.iter().map(|tool| (names.sent(&tool.name), *tool)).collect();
    }
    // Only an object can be demanded; anything else can be asked for in words.
    if let Some(schema) = parts.schema.filter(|schema| !schema::is_object(schema)) {
        let words = format!("Reply with JSON that fits this schema and nothing else: {schema}");
        let joined = [parts.system.as_str(), &words].join("\n\n");
        joined.trim().clone_into(&mut parts.system);
        parts.schema = None;
    }
    let body = match protocol {
        Protocol::OpenAiChat => openai_chat::body(&parts),
        Protocol::OpenAiResponses => openai_responses::body(&parts),
        Protocol::AnthropicMessages => anthropic::body(&parts),
        Protocol::GeminiGenerate => gemini::body(&parts),
    };
    Encoded { body, names, form }
}
