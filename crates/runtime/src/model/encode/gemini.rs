//! `streamGenerateContent`, as Gemini takes it: calls are matched by name and order.

use serde_json::{Value, json};

use super::{Parts, schema, turns::EncodedTurn};

/// What Gemini 3 takes in place of the signature that it wants back with each call,
/// where calls come from somewhere else: the journal keeps none.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn body(parts: &Parts<'_>) -> Value {
    let settings = parts.settings;
    let signs = settings.spec.name().trim_start_matches("models/").starts_with("gemini-3");
    let mut config = json!({ "maxOutputTokens": settings.max_tokens });
    if let Some(temperature) = settings.temperature {
        config["temperature"] = temperature.into();
    }
    if let Some(seed) = settings.seed {
        // The field is a signed number of 32 bits.
        config["seed"] = (seed & 0x7fff_ffff).into();
    }
    if let Some(wanted) = parts.schema {
        config["responseMimeType"] = "application/json".into();
        config["responseJsonSchema"] = wanted.clone();
    }
    let mut body = json!({
        "contents": contents(&parts.turns, signs),
        "generationConfig": config,
    });
    if !parts.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": parts.system }] });
    }
    if !parts.tools.is_empty() {
        let tools = parts.tools.iter().map(|(name, tool)| {
            let parameters = schema::parameters(&tool.parameters);
            json!({
                "name": name, "description": tool.about, "parametersJsonSchema": parameters,
            })
        });
        let tools: Vec<Value> = tools.collect();
        body["tools"] = json!([{ "functionDeclarations": tools }]);
    }
    body
}

fn contents(turns: &[EncodedTurn], signs: bool) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, parts) = match turn {
            EncodedTurn::User(text) => ("user", vec![json!({ "text": text })]),
            EncodedTurn::Model { text, calls } => {
                let said = Some(text).filter(|text| !text.is_empty());
                let said = said.map(|text| json!({ "text": text }));
                let calls = calls.iter().enumerate().map(|(place, call)| {
                    let made = json!({ "name": call.name, "args": call.arguments });
                    let mut part = json!({ "functionCall": made });
                    // Of parallel calls only the first is signed.
                    if signs && place == 0 {
                        part["thoughtSignature"] = UNSIGNED.into();
                    }
                    part
                });
                ("model", said.into_iter().chain(calls).collect())
            }
            EncodedTurn::Results(results) => {
                let results = results.iter().map(|result| {
                    let word = if result.ok { "output" } else { "error" };
                    let response = json!({ word: result.output });
                    json!({ "functionResponse": { "name": result.name, "response": response } })
                });
                ("user", results.collect())
            }
        };
        // Results and what a person says after them are one turn here.
        match contents.last_mut() {
            Some((last, said)) if *last == role => said.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    contents.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}
