//! What a model decided, out of whatever it wrote around it.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String};

use pointsman_kernel::{agent::Reply, json::canonical_body};
use serde_json::{Map, Value, value::RawValue};

/// The tool that searches the documents.
pub const SEARCH: &str = "context.fts_search";
/// The name by which a model that calls tools natively finishes.
const FINISH: &str = "finish";
/// Opening braces that are tried before the reply counts as unreadable.
const MAX_TRIES: usize = 64;

/// One step that a model proposes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Decision {
    /// Search the documents.
    Search {
        /// For what.
        query: String,
    },
    /// Call another tool.
    Tool {
        /// The tool.
        tool: String,
        /// Its arguments: a JSON object in canonical form.
        arguments: Box<RawValue>,
    },
    /// Give the answer.
    Finish {
        /// The answer.
        text: String,
    },
}

/// Returns the decision of a reply, or why it has none.
///
/// A native call counts before the text; of several the first one is taken, since
/// a decision is one step.
pub(super) fn of(reply: &Reply) -> Result<Decision, &'static str> {
    let Some(call) = reply.calls.first() else { return read(&reply.text) };
    let arguments = serde_json::from_str(call.arguments.get()).unwrap_or_default();
    if call.tool == FINISH { finish(&arguments) } else { tool(&call.tool, arguments) }
}

/// Reads a decision out of text: a fenced block first, else the first object.
pub fn read(text: &str) -> Result<Decision, &'static str> {
    let object = fenced(text).or_else(|| first_object(text)).and_then(parse);
    let object = object.ok_or("no JSON object could be read in the reply")?;
    let word = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().trim();
    let action = word("action").to_lowercase();
    let named = if word("tool_name").is_empty() { word("tool") } else { word("tool_name") };
    match action.as_str() {
        FINISH => finish(&object),
        "search" if named.is_empty() => search(&object),
        "reason" | "error" => Err("a decision is a search, a tool or the end, not a thought"),
        // Whatever the action is called, a tool that is named is meant.
        _ if !named.is_empty() => {
            let arguments = object.get("args").or_else(|| object.get("arguments"));
            tool(named, arguments.and_then(Value::as_object).cloned().unwrap_or_default())
        }
        _ => Err("the action is not known and names no tool"),
    }
}

fn tool(name: &str, arguments: Map<String, Value>) -> Result<Decision, &'static str> {
    // Models write the separator either way.
    if name.replace('/', ".") == SEARCH {
        return search(&arguments);
    }
    let arguments = RawValue::from_string(format!("{}", Value::Object(arguments)));
    let arguments = arguments.and_then(|arguments| canonical_body(&arguments));
    let arguments = arguments.map_err(|_| "the arguments cannot be written as JSON")?;
    Ok(Decision::Tool { tool: name.into(), arguments })
}

fn search(arguments: &Map<String, Value>) -> Result<Decision, &'static str> {
    let args = arguments.get("args").and_then(Value::as_object).unwrap_or(arguments);
    let query = first_text(args, &["query", "q"]);
    query.map(|query| Decision::Search { query }).ok_or("a search needs a query")
}

fn finish(object: &Map<String, Value>) -> Result<Decision, &'static str> {
    let text = first_text(object, &["final", "answer", "text", "result"]);
    text.map(|text| Decision::Finish { text }).ok_or("to finish, give the answer as `final`")
}

fn first_text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let mut texts = keys.iter().filter_map(|key| object.get(*key)?.as_str());
    texts.find(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned())
}

fn parse(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Returns the first object within the first fenced block that has one which parses.
fn fenced(text: &str) -> Option<&str> {
    // Every second piece between fences is the inside of one.
    let mut inside = text.split("```").skip(1).step_by(2).filter_map(first_object);
    inside.find(|object| parse(object).is_some())
}

/// Returns the first balanced object that parses. Braces within strings, and
/// quotation marks behind a backslash, do not count.
fn first_object(text: &str) -> Option<&str> {
    let starts = text.match_indices('{').take(MAX_TRIES);
    let mut objects = starts.filter_map(|(start, _)| balanced(text.get(start..)?));
    objects.find(|object| parse(object).is_some())
}

fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth = depth.saturating_add(1),
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}
