//! Chat completions, as OpenAI and its many imitators take them.

use serde_json::{Value, json};

use super::{Parts, schema, turns::EncodedTurn};
use crate::model::spec::Provider;

pub(super) fn body(parts: &Parts<'_>) -> Value {
    let settings = parts.settings;
    let mut body = json!({
        "model": settings.spec.name(),
        "messages": messages(parts),
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    // OpenAI's newer models refuse the old name, and most imitators know no other.
    let official = settings.spec.provider() == Provider::OpenAi;
    body[if official { "max_completion_tokens" } else { "max_tokens" }] =
        settings.max_tokens.into();
    if let Some(temperature) = settings.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(seed) = settings.seed {
        body["seed"] = seed.into();
    }
    if let Some(wanted) = parts.schema {
        let strict = schema::is_strict(wanted);
        let form = json!({ "name": super::REPLY, "schema": wanted, "strict": strict });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": form });
    }
    if !parts.tools.is_empty() {
        body["tools"] = parts.tools.iter().map(tool).collect();
    }
    body
}

fn messages(parts: &Parts<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !parts.system.is_empty() {
        messages.push(json!({ "role": "system", "content": parts.system }));
    }
    for turn in &parts.turns {
        match turn {
            EncodedTurn::User(text) => messages.push(json!({ "role": "user", "content": text })),
            EncodedTurn::Model { text, calls } if calls.is_empty() => {
                messages.push(json!({ "role": "assistant", "content": text }));
            }
            EncodedTurn::Model { text, calls } => {
                let calls = calls.iter().map(|call| {
                    let arguments = call.arguments.to_string();
                    let function = json!({ "name": call.name, "arguments": arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                });
                let content = Some(text).filter(|text| !text.is_empty());
                let calls: Vec<Value> = calls.collect();
                messages
                    .push(json!({ "role": "assistant", "content": content, "tool_calls": calls }));
            }
            EncodedTurn::Results(results) => messages.extend(results.iter().map(|result| {
                json!({ "role": "tool", "tool_call_id": result.id, "content": result.told() })
            })),
        }
    }
    messages
}

fn tool((name, tool): &(&str, &crate::tool::ToolSpec)) -> Value {
    let parameters = schema::parameters(&tool.parameters);
    let mut function = json!({ "name": name, "description": tool.about, "parameters": parameters });
    // Imitators may not know the word, so it is said only where it changes something.
    if schema::is_strict(&parameters) {
        function["strict"] = true.into();
    }
    json!({ "type": "function", "function": function })
}
