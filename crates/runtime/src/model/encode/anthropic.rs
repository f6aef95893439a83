//! Messages, as Anthropic takes them: roles in turn, no empty text, and a schema by
//! way of one forced tool.

use serde_json::{Value, json};

use super::{Parts, REPLY, schema, turns::EncodedTurn};

pub(super) fn body(parts: &Parts<'_>) -> Value {
    let settings = parts.settings;
    let mut body = json!({
        "model": settings.spec.name(),
        "max_tokens": settings.max_tokens,
        "messages": messages(&parts.turns),
        "stream": true,
    });
    if !parts.system.is_empty() {
        body["system"] = parts.system.as_str().into();
    }
    if let Some(temperature) = settings.temperature {
        body["temperature"] = temperature.into();
    }
    if let Some(wanted) = parts.schema {
        let about = "Gives the reply, in the form that is asked for.";
        body["tools"] = json!([{ "name": REPLY, "description": about, "input_schema": wanted }]);
        body["tool_choice"] =
            json!({ "type": "tool", "name": REPLY, "disable_parallel_tool_use": true });
    }
    if !parts.tools.is_empty() {
        let tools = parts.tools.iter().map(|(name, tool)| {
            let parameters = schema::parameters(&tool.parameters);
            json!({ "name": name, "description": tool.about, "input_schema": parameters })
        });
        body["tools"] = tools.collect();
    }
    body
}

fn messages(turns: &[EncodedTurn]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            EncodedTurn::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            EncodedTurn::Model { text, calls } => {
                let said = Some(text).filter(|text| !text.is_empty());
                let said = said.map(|text| json!({ "type": "text", "text": text }));
                let calls = calls.iter().map(|call| {
                    json!({
                        "type": "tool_use", "id": call.id, "name": call.name,
                        "input": call.arguments,
                    })
                });
                ("assistant", said.into_iter().chain(calls).collect())
            }
            EncodedTurn::Results(results) => {
                let results = results.iter().map(|result| {
                    let mut block = json!({
                        "type": "tool_result", "tool_use_id": result.id, "content": result.output,
                    });
                    if !result.ok {
                        block["is_error"] = true.into();
                    }
                    block
                });
                ("user", results.collect())
            }
        };
        // Results and what a person says after them are one turn here.
        match messages.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}
