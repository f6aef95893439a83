//! What a JSON Schema can be used for.

use serde_json::{Map, Value};

/// Keywords that OpenAI's strict mode takes. A schema with any other is sent without
/// it, since the whole request would be refused.
const STRICT: [&str; 19] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "type",
];

/// Returns whether a schema describes an object and nothing else.
pub(super) fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// Returns the parameters of a tool, which every provider wants to be an object.
pub(super) fn parameters(schema: &Value) -> Value {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| Map::new().into());
    schema.into()
}

/// Returns whether strict mode takes a schema: every object closed, every property
/// required, and only keywords that it knows.
pub(super) fn is_strict(schema: &Value) -> bool {
    is_object(schema) && schema.get("anyOf").is_none() && takes(schema)
}

fn takes(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let says_what = ["type", "anyOf", "$ref", "enum", "const"];
    object.keys().all(|key| STRICT.contains(&key.as_str()))
        && says_what.iter().any(|key| object.contains_key(*key))
        && (!is_object(schema) || closed(object))
        && each(object.get("properties"))
        && each(object.get("$defs"))
        && object.get("items").is_none_or(takes)
        && object
            .get("anyOf")
            .is_none_or(|any| any.as_array().is_some_and(|schemas| schemas.iter().all(takes)))
}

fn each(schemas: Option<&Value>) -> bool {
    schemas.is_none_or(|schemas| {
        schemas.as_object().is_some_and(|schemas| schemas.values().all(takes))
    })
}

fn closed(object: &Map<String, Value>) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    let required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = object.get("properties").and_then(Value::as_object);
    object.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_some_and(|properties| properties.keys().all(|name| required(name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_closed_objects_are_strict() {
        let closed = json!({
            "type": "object",
            "properties": { "a": { "type": "string" }, "b": { "enum": [1, 2] } },
            "required": ["b", "a"],
            "additionalProperties": false,
        });
        assert!(is_strict(&closed));
        for (pointer, value) in [
            ("/required", json!(["a"])),
            ("/additionalProperties", json!(true)),
            ("/properties/a", json!({ "type": "string", "minLength": 2 })),
            ("/properties/a", json!({ "type": "object" })),
            ("/properties/b", json!({})),
            ("/type", json!("array")),
        ] {
            let mut open = closed.clone();
            *open.pointer_mut(pointer).expect("it is there") = value;
            assert!(!is_strict(&open), "{open}");
        }
    }

    #[test]
    fn parameters_are_an_object() {
        let empty = json!({ "type": "object", "properties": {} });
        assert_eq!(parameters(&json!(null)), empty);
        assert_eq!(parameters(&json!({})), empty);
    }
}
