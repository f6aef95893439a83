//! One spelling per JSON value: no spaces, keys in order.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use serde_json::{Value, value::RawValue};

/// Returns the canonical text of a value: sorted keys, no white space.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Returns the canonical spelling of a body from outside.
pub fn canonical_body(body: &RawValue) -> Result<Box<RawValue>, serde_json::Error> {
    let value: Value = serde_json::from_str(body.get())?;
    RawValue::from_string(canonical(&value))
}

// Written out rather than left to `Value`'s own order, which a feature of
// `serde_json` that any crate of a build may turn on would change.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(list) => {
            text.push('[');
            for (at, item) in list.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, item)) in entries.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(&Value::String(key.to_owned()), text);
                text.push(':');
                write(item, text);
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&serde_json::to_string(value).unwrap_or_default());
        }
    }
}
