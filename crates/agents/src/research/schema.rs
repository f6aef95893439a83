//! The JSON Schema of a decision.
//!
//! It keeps to what strict modes and grammars take: one flat object, texts and lists
//! of words, every key required, no other key allowed. A model that is held to it
//! writes the keys in their order, which is the alphabet's: the action comes first,
//! and a tool's name before its parameters. The parameters are the text of a JSON
//! object, since no schema of all tools' parameters at once would be strict.

use alloc::{string::String, vec, vec::Vec};

use serde_json::{Map, Value, json};

use super::{decision::NO_TOOL, offer::ToolList};

/// Returns the schema of a decision over the offered tools.
pub(super) fn of(offer: &ToolList) -> Value {
    let mut actions: Vec<&str> = Vec::new();
    let mut properties = Map::new();
    let mut text = |key: &str, about: &str| {
        properties.insert(key.into(), json!({ "type": "string", "description": about }));
    };
    text("final", "the answer, to finish; else empty");
    if offer.searches() {
        actions.push("search");
        text("query", "words to search for, to search; else empty");
    }
    let others: Vec<&str> = offer.others().map(|tool| &*tool.name).collect();
    if !others.is_empty() {
        actions.push("tool");
        text("tool_params", "the tool's parameters: a JSON object as text; else {}");
        let names = [vec![NO_TOOL], others].concat();
        properties.insert("tool_name".into(), json!({ "type": "string", "enum": names }));
    }
    actions.push("finish");
    properties.insert("action".into(), json!({ "type": "string", "enum": actions }));
    // The order is the alphabet's whatever kind of map holds them.
    properties.sort_keys();
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
