//! The words of people, models and tools, as the conventions write them: only for those who opted in.

use opentelemetry::KeyValue;
use pointsman_kernel::{
    agent::{Reply, ToolCall},
    prompt::{Prompt, PromptMessage},
};
use serde_json::{Value, json};

use super::names;

/// Characters of one text. A queue of spans must not hold whole histories.
const MAX_TEXT: usize = 8_000;
/// Messages of a prompt: the newest.
const MAX_MESSAGES: usize = 16;

/// Returns the attributes of a prompt.
pub(super) fn prompt(prompt: &Prompt) -> [KeyValue; 2] {
    let system = json!([text_part(&prompt.system)]);
    let newest = prompt.messages.len().saturating_sub(MAX_MESSAGES);
    let messages: Vec<Value> = prompt.messages.iter().skip(newest).map(message).collect();
    [
        KeyValue::new(names::SYSTEM_INSTRUCTIONS, system.to_string()),
        KeyValue::new(names::INPUT_MESSAGES, Value::Array(messages).to_string()),
    ]
}

/// Returns the attribute of a model's reply.
pub(super) fn reply(reply: &Reply) -> KeyValue {
    let reason = if reply.calls.is_empty() { "stop" } else { "tool_call" };
    let parts = parts(&reply.text, &reply.calls);
    let output = json!([{ "role": "assistant", "parts": parts, "finish_reason": reason }]);
    KeyValue::new(names::OUTPUT_MESSAGES, output.to_string())
}

/// Returns the attribute of a call's arguments.
pub(super) fn arguments(call: &ToolCall) -> KeyValue {
    KeyValue::new(names::TOOL_ARGUMENTS, cut(call.arguments.get()))
}

/// Returns the attribute of a call's result.
pub(super) fn result(output: &str) -> KeyValue {
    KeyValue::new(names::TOOL_RESULT, cut(output))
}

fn message(message: &PromptMessage) -> Value {
    match message {
        PromptMessage::User(text) => json!({ "role": "user", "parts": [text_part(text)] }),
        PromptMessage::Assistant { text, calls } => {
            json!({ "role": "assistant", "parts": parts(text, calls) })
        }
        PromptMessage::Tool { id, result } => {
            let response = cut(&result.output);
            let part = json!({ "type": "tool_call_response", "id": id, "response": response });
            json!({ "role": "tool", "parts": [part] })
        }
        // A later kernel's.
        _ => json!({ "role": "user", "parts": [] }),
    }
}

fn parts(text: &str, calls: &[ToolCall]) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| text_part(text));
    let calls = calls.iter().map(|call| {
        let arguments = cut(call.arguments.get());
        json!({ "type": "tool_call", "id": call.id, "name": call.tool, "arguments": arguments })
    });
    text.into_iter().chain(calls).collect()
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "content": cut(text) })
}

/// Returns the start of a text, with a sign where the rest is left out.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
