//! Responses, as OpenAI takes them. Nothing is kept there: the journal is the memory.

use serde_json::{Value, json};

use super::{Parts, schema, turns::EncodedTurn};

pub(super) fn body(parts: &Parts<'_>) -> Value {
    let settings = parts.settings;
    let mut body = json!({
        "model": settings.spec.name(),
        "input": input(&parts.turns),
        "stream": true,
        "store": false,
        "max_output_tokens": settings.max_tokens,
    });
    if !parts.system.is_empty() {
        body["instructions"] = parts.system.as_str().into();
    }
    if let Some(temperature) = settings.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(wanted) = parts.schema {
        let strict = schema::is_strict(wanted);
        let format = json!({
            "type": "json_schema", "name": super::REPLY, "schema": wanted, "strict": strict,
        });
        body["text"] = json!({ "format": format });
    }
    if !parts.tools.is_empty() {
        let tools = parts.tools.iter().map(|(name, tool)| {
            let parameters = schema::parameters(&tool.parameters);
            // Strict is the default here, so it must be said where it does not fit.
            let strict = schema::is_strict(&parameters);
            json!({
                "type": "function", "name": name, "description": tool.about,
                "parameters": parameters, "strict": strict,
            })
        });
        body["tools"] = tools.collect();
    }
    body
}

fn input(turns: &[EncodedTurn]) -> Vec<Value> {
    let mut input = Vec::new();
    for turn in turns {
        match turn {
            EncodedTurn::User(text) => input.push(json!({ "role": "user", "content": text })),
            EncodedTurn::Model { text, calls } => {
                if !text.is_empty() {
                    input.push(json!({ "role": "assistant", "content": text }));
                }
                input.extend(calls.iter().map(|call| {
                    json!({
                        "type": "function_call", "call_id": call.id, "name": call.name,
                        "arguments": call.arguments.to_string(),
                    })
                }));
            }
            EncodedTurn::Results(results) => input.extend(results.iter().map(|result| {
                json!({
                    "type": "function_call_output", "call_id": result.id, "output": result.told(),
                })
            })),
        }
    }
    input
}
