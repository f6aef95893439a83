//! Parameters and placeholders: `{slot}` is filled, `{{` and `}}` are braces.
//!
//! A value is filled in once and never read again for placeholders, so what a
//! model wrote cannot ask for another slot.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::{
    agent::Visit,
    json,
    template::{self, TemplatePart},
};
use serde_json::{Map, Value, value::RawValue};

use super::{BuiltinData, words};

/// The parameters that a chart gives a job. `check` knows their names; whatever
/// their types, they can be read as text or as a list.
pub(super) struct With<'a>(BTreeMap<&'a str, &'a RawValue>);

impl<'a> With<'a> {
    pub(super) fn of(visit: &Visit<'a>) -> Self {
        let with = visit.state.with().and_then(|with| serde_json::from_str(with).ok());
        Self(with.unwrap_or_default())
    }

    pub(super) fn text(&self, key: &str) -> String {
        match self.value(key) {
            Some(Value::String(text)) => text,
            other => other.map(|value| value.to_string()).unwrap_or_default(),
        }
    }

    fn value(&self, key: &str) -> Option<Value> {
        serde_json::from_str(self.0.get(key)?.get()).ok()
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(Value::Array(items)) => items.iter().map(text_of).collect(),
            Some(one) => [text_of(&one)].into(),
            None => Vec::new(),
        }
    }

    /// Returns a command as a line for a shell. The program is the chart's alone; slots
    /// fill arguments, and each stays one argument.
    pub(super) fn command(&self, data: &BuiltinData) -> String {
        let words = self.list("command").into_iter().enumerate();
        let filled = words.map(|(at, word)| if at == 0 { word } else { fill(&word, data) });
        words::line(&filled.collect::<Vec<_>>())
    }

    /// Returns a tool's arguments.
    pub(super) fn arguments(&self, data: &BuiltinData) -> Value {
        let empty = || Value::Object(Map::new());
        fill_all(self.value("args").unwrap_or_else(empty), data)
    }
}

/// Returns arguments in their canonical spelling.
pub(super) fn canonical(arguments: &Value) -> Box<RawValue> {
    let raw = RawValue::from_string(arguments.to_string());
    let canonical = raw.and_then(|raw| json::canonical_body(&raw));
    canonical.unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns text as it is, and anything else as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Fills placeholders. An unfilled slot stays as written, so that a mistake is visible and never
/// silently empty.
pub(super) fn fill(text: &str, data: &BuiltinData) -> String {
    let mut filled = String::with_capacity(text.len());
    for piece in template::parts(text) {
        match piece {
            TemplatePart::Text(text) => filled.push_str(text),
            TemplatePart::Slot { name, written } => match data.slots.get(name) {
                Some(value) => filled.push_str(&text_of(value)),
                None => filled.push_str(written),
            },
        }
    }
    filled
}

/// Returns the one of the list that a reply names, whatever its case, quotes and
/// full stop.
pub(super) fn named(list: &[String], reply: &str) -> Option<String> {
    let plain = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '.' | '*');
    let reply = reply.trim();
    let exact = list.iter().find(|item| *item == reply);
    let folded = reply.trim_matches(plain).to_lowercase();
    let mut alike = list.iter().filter(|item| item.to_lowercase() == folded);
    // Two that differ in case alone must be named exactly.
    let alike = alike.next().filter(|_| alike.next().is_none());
    exact.or(alike).cloned()
}

fn fill_all(value: Value, data: &BuiltinData) -> Value {
    match value {
        Value::String(text) => Value::String(fill(&text, data)),
        Value::Array(items) => items.into_iter().map(|item| fill_all(item, data)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, item)| (key, fill_all(item, data))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
