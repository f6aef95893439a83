//! What a model decided, out of whatever it wrote around it.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String};

use pointsman_kernel::{agent::Reply, json::canonical_body};
use serde_json::{Map, Value, value::RawValue};
use thiserror::Error;

use super::offer::{SEARCH, ToolList, one_line};

/// The action that gives the answer; models that call tools call it by that name too.
const FINISH: &str = "finish";
/// What stands for no tool where the schema asks for one.
pub(super) const NO_TOOL: &str = "none";
/// Opening braces that are tried before the reply counts as unreadable.
const MAX_TRIES: usize = 64;
/// Bytes of a query or of a call's arguments.
const MAX_ARGUMENTS: usize = 4 * 1024;
/// Bytes of a model's word that an error repeats.
const MAX_WORD: usize = 60;

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
        /// The tool, by the name that the host knows.
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

/// Why a reply is not a usable decision. The text is for the model.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum UnusableReply {
    /// There is nothing to read.
    #[error("no JSON object could be read in the reply")]
    NoObject,
    /// The object says neither what to do nor with which tool.
    #[error("the reply has no `action`")]
    NoAction,
    /// The action is unknown.
    #[error("there is no action `{action}`")]
    UnknownAction {
        /// What was written.
        action: String,
    },
    /// A thought was given for a decision.
    #[error("a decision is a search, a tool or the end, not a thought")]
    Thought,
    /// A tool should be used, but none is named.
    #[error("to use a tool, name it as `tool_name`")]
    NoToolNamed,
    /// The tool is not offered.
    #[error("there is no tool `{tool}` here")]
    NoSuchTool {
        /// What was written.
        tool: String,
    },
    /// No tool may be used.
    #[error("tools are off: finish")]
    ToolsOff,
    /// Tools may be used, but not the search.
    #[error("the search is off here")]
    SearchOff,
    /// A search for nothing.
    #[error("a search needs a `query`")]
    NoQuery,
    /// An end without an answer.
    #[error("to finish, give the answer as `final`")]
    NoAnswer,
    /// The answer is the example from the prompt.
    #[error("that is the example: give the answer to the question itself")]
    Example,
    /// The arguments are not a JSON object.
    #[error("the arguments are no JSON object")]
    Arguments,
    /// The query or the arguments are too long.
    #[error("the query or the arguments are longer than {MAX_ARGUMENTS} bytes")]
    TooLong,
    /// Searching on would bring nothing.
    #[error("the last {searches} searches found nothing new: use another tool, or finish")]
    Fruitless {
        /// How many.
        searches: usize,
    },
}

/// The answer that the prompt shows as an example.
pub(super) const EXAMPLE: &str = "A red signal means stop (signals.md:3).";

/// Returns the decision of a reply, or why it has none.
///
/// A native call counts before the text; of several the first one is taken, since
/// a decision is one step.
pub(super) fn of(reply: &Reply, offer: &ToolList) -> Result<Decision, UnusableReply> {
    let Some(proposed) = reply.calls.first() else { return read(&reply.text, offer) };
    let arguments = serde_json::from_str(proposed.arguments.get()).unwrap_or_default();
    call(&proposed.tool, &arguments, offer)
}

/// Reads a decision out of text: a fenced block first, else the first object that
/// looks like one.
pub fn read(text: &str, offer: &ToolList) -> Result<Decision, UnusableReply> {
    // What a model thinks aloud is not what it says.
    let said = text.rsplit("</think>").next().unwrap_or(text);
    let object = object(said).ok_or(UnusableReply::NoObject)?;
    let action = word(&object, "action").to_lowercase();
    let named = [word(&object, "tool_name"), word(&object, "tool")];
    let named = named.into_iter().find(|name| !name.is_empty() && *name != NO_TOOL);
    match (action.as_str(), named) {
        (FINISH, _) => finish(&object),
        ("reason" | "think" | "thought" | "error", _) => Err(UnusableReply::Thought),
        ("search", None) => search(&object, offer),
        ("search", Some(_)) if first_text(&object, &["query"]).is_some() => search(&object, offer),
        // Whatever the action is called, a tool that is named is meant.
        (_, Some(name)) => call(name, &arguments(&object)?, offer),
        ("", None) => Err(UnusableReply::NoAction),
        ("tool", None) => Err(UnusableReply::NoToolNamed),
        // Some models give a tool's name for the action.
        (action, None) if offer.find(action).is_some() => call(action, &arguments(&object)?, offer),
        (action, None) => Err(UnusableReply::UnknownAction { action: one_line(action, MAX_WORD) }),
    }
}

fn call(
    name: &str,
    arguments: &Map<String, Value>,
    offer: &ToolList,
) -> Result<Decision, UnusableReply> {
    let Some(tool) = offer.find(name) else {
        return match name {
            FINISH => finish(arguments),
            // The action's name given for the tool's.
            "search" if offer.searches() => search(arguments, offer),
            _ if offer.is_empty() => Err(UnusableReply::ToolsOff),
            _ => Err(UnusableReply::NoSuchTool { tool: one_line(name, MAX_WORD) }),
        };
    };
    if tool == SEARCH {
        return search(arguments, offer);
    }
    let arguments = RawValue::from_string(format!("{}", Value::Object(arguments.clone())));
    let arguments = arguments.and_then(|arguments| canonical_body(&arguments));
    let arguments = arguments.map_err(|_| UnusableReply::Arguments)?;
    if arguments.get().len() > MAX_ARGUMENTS {
        return Err(UnusableReply::TooLong);
    }
    Ok(Decision::Tool { tool: tool.into(), arguments })
}

fn search(object: &Map<String, Value>, offer: &ToolList) -> Result<Decision, UnusableReply> {
    if offer.is_empty() {
        return Err(UnusableReply::ToolsOff);
    }
    if !offer.searches() {
        return Err(UnusableReply::SearchOff);
    }
    let within = arguments(object).unwrap_or_default();
    let query =
        first_text(object, &["query", "q"]).or_else(|| first_text(&within, &["query", "q"]));
    match query {
        Some(query) if query.len() > MAX_ARGUMENTS => Err(UnusableReply::TooLong),
        Some(query) => Ok(Decision::Search { query }),
        None => Err(UnusableReply::NoQuery),
    }
}

fn finish(object: &Map<String, Value>) -> Result<Decision, UnusableReply> {
    let text = first_text(object, &["final", "answer", "text", "result"]);
    match text {
        // A small model likes to repeat what it was shown; that answers nothing.
        Some(text) if text.trim() == EXAMPLE => Err(UnusableReply::Example),
        Some(text) => Ok(Decision::Finish { text }),
        None => Err(UnusableReply::NoAnswer),
    }
}

/// Returns the arguments: an object, or the text of one, as the schema asks for it.
fn arguments(object: &Map<String, Value>) -> Result<Map<String, Value>, UnusableReply> {
    let keys = ["tool_params", "args", "arguments", "parameters"];
    match keys.iter().find_map(|key| object.get(*key)) {
        Some(Value::Object(arguments)) => Ok(arguments.clone()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Map::new()),
        Some(Value::String(text)) => parse(text).ok_or(UnusableReply::Arguments),
        // A tool says itself what it misses.
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {
            Ok(Map::new())
        }
    }
}

fn word<'o>(object: &'o Map<String, Value>, key: &str) -> &'o str {
    object.get(key).and_then(Value::as_str).unwrap_or_default().trim()
}

fn first_text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let mut texts = keys.iter().filter_map(|key| object.get(*key)?.as_str());
    texts.find(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned())
}

/// Reads an object. Models write line breaks within strings, which JSON forbids: if nothing else
/// is wrong, they are repaired.
fn parse(text: &str) -> Option<Map<String, Value>> {
    let read = serde_json::from_str(text);
    read.or_else(|_| serde_json::from_str(&with_escapes(text))).ok()
}

/// Writes the control characters within strings as JSON has them.
fn with_escapes(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let mut mended = String::with_capacity(text.len());
    for c in text.chars() {
        if quoted && c.is_ascii_control() {
            if !escaped {
                mended.push('\\');
            }
            match c {
                '\n' => mended.push('n'),
                '\r' => mended.push('r'),
                '\t' => mended.push('t'),
                other => mended.extend(format!("u{:04x}", u32::from(other)).chars()),
            }
            escaped = false;
            continue;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        mended.push(c);
    }
    mended
}

/// Returns the first object that names an action or a tool, else the first object;
/// what stands in a fenced block comes before the rest.
fn object(text: &str) -> Option<Map<String, Value>> {
    // Every second piece between fences is the inside of one.
    let inside = text.split("```").skip(1).step_by(2);
    let mut first = None;
    for object in inside.chain([text]).flat_map(objects) {
        if ["action", "tool_name", "tool"].iter().any(|key| object.contains_key(*key)) {
            return Some(object);
        }
        first.get_or_insert(object);
    }
    first
}

/// Returns the balanced objects that parse. Braces within strings, and quotation
/// marks behind a backslash, do not count.
fn objects(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    let starts = text.match_indices('{').take(MAX_TRIES);
    starts.filter_map(|(start, _)| balanced(text.get(start..)?)).filter_map(parse)
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
