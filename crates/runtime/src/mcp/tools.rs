//! The tools that a server offers, under names that are safe and unique.

use std::collections::BTreeSet;

use jsonschema::Validator;
use pointsman_kernel::{
    job::SERVERS,
    tool::{Recovery, ToolDecl},
};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::{McpError, McpLimits, printable, start_of};
use crate::tool::ToolSpec;

/// Bytes of a tool's full name: the most that every provider of models takes.
const LONGEST: usize = 64;
/// Bytes of a server's part of it.
const LONGEST_SERVER: usize = 20;
/// How many mistakes in arguments are reported at once, and the bytes of each: a schema may list a
/// thousand valid values.
const COMPLAINTS: usize = 5;
const COMPLAINT: usize = 400;

/// A tool on offer.
#[derive(Debug)]
pub(super) struct Offered {
    /// The server's own name for it.
    pub(super) original: String,
    /// Its description for models.
    pub(super) spec: ToolSpec,
    /// Its declaration for the kernel.
    pub(super) decl: ToolDecl,
    check: Validator,
}

impl Offered {
    /// Returns arguments that fit, or what a model should change.
    pub(super) fn fitting(&self, arguments: Value) -> Result<JsonObject, String> {
        let Value::Object(arguments) = arguments else {
            return Err("the arguments must be a JSON object".into());
        };
        self.check(&arguments)?;
        Ok(arguments)
    }

    /// Checks arguments, and says what a model should change.
    fn check(&self, arguments: &JsonObject) -> Result<(), String> {
        let arguments = Value::Object(arguments.clone());
        let mut complaints = self.check.iter_errors(&arguments).map(|error| {
            let at = error.instance_path().to_string();
            // The value itself stays out: it may be a whole file.
            let what = error.masked().to_string();
            let said = if at.is_empty() { what } else { format!("at {at}: {what}") };
            let start = start_of(&said, COMPLAINT);
            if start.len() < said.len() { format!("{start} …") } else { said }
        });
        let mut said: Vec<String> = complaints.by_ref().take(COMPLAINTS).collect();
        match complaints.count() {
            0 if said.is_empty() => return Ok(()),
            0 => (),
            more => said.push(format!("and {more} more")),
        }
        Err(format!("invalid arguments: {}", said.join("; ")))
    }
}

/// What becomes of a server's list: the tools on offer, and those left out with the reason.
pub(super) type Sorted = (Vec<Offered>, Vec<(String, McpError)>);

/// Takes a server's list. The order of the list does not matter to the names.
pub(super) fn offered(
    label: &str,
    believed: bool,
    mut tools: Vec<Tool>,
    limits: &McpLimits,
) -> Sorted {
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    tools.dedup_by(|one, other| one.name == other.name);
    let prefix = format!("{SERVERS}{label}.");
    let room = LONGEST.saturating_sub(prefix.len());
    let names = unique(tools.iter().map(|tool| &*tool.name), room);
    let (mut on_offer, mut left_out) = (Vec::new(), Vec::new());
    for (tool, name) in tools.into_iter().zip(names) {
        let name = format!("{prefix}{name}");
        let parameters = Value::Object(tool.input_schema.as_ref().clone());
        let size = serde_json::to_string(&parameters).map_or(usize::MAX, |text| text.len());
        if size > limits.schema {
            let why = format!("it has {size} bytes, and the limit is {}", limits.schema);
            left_out.push((tool.name.into_owned(), McpError::Schema { why }));
            continue;
        }
        // A schema is checked with what it says itself: nothing is fetched for it.
        let check = match jsonschema::options().offline().build(&parameters) {
            Ok(check) => check,
            Err(error) => {
                let why = printable(start_of(&error.to_string(), limits.about));
                left_out.push((tool.name.into_owned(), McpError::Schema { why }));
                continue;
            }
        };
        let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        on_offer.push(Offered {
            spec: ToolSpec {
                name: name.as_str().into(),
                about: start_of(about, limits.about).into(),
                parameters,
            },
            decl: declared(&name, believed, &tool),
            original: tool.name.into_owned(),
            check,
        });
    }
    (on_offer, left_out)
}

/// Returns the server's parts of tool names.
pub(super) fn labels<'a>(servers: impl Iterator<Item = &'a str>) -> Vec<String> {
    unique(servers, LONGEST_SERVER)
}

/// Declares a tool. A server's hints are claims: they count only if a person trusts the server.
/// Its defaults of arguments only make rules stricter, and so does matching every text as a path
/// and as a command, whatever the schema says.
fn declared(name: &str, believed: bool, tool: &Tool) -> ToolDecl {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let defaults = properties.into_iter().flatten().filter_map(|(name, schema)| {
        Some((name.as_str().into(), schema.get("default")?.to_string().into()))
    });
    let texts = properties.into_iter().flatten().filter(|(_, schema)| may_be_text(schema));
    let paths: Vec<&str> = texts.map(|(name, _)| name.as_str()).collect();
    let unknown =
        ToolDecl { defaults: defaults.collect(), foreign: true, ..ToolDecl::unknown(name) };
    let unknown = unknown.with_paths(&paths);
    let Some(hints) = tool.annotations.as_ref().filter(|_| believed) else { return unknown };
    if hints.read_only_hint == Some(true) {
        let ToolDecl { paths, defaults, .. } = unknown;
        ToolDecl { paths, defaults, foreign: true, ..ToolDecl::read(name, &[]) }
    } else if hints.idempotent_hint == Some(true) {
        ToolDecl { idempotent: true, recovery: Recovery::Retry, ..unknown }
    } else {
        unknown
    }
}

/// Returns whether a value of this schema may be a text, or a list of them.
fn may_be_text(schema: &Value) -> bool {
    let text = |kind: &str| matches!(kind, "string" | "array");
    match schema.get("type") {
        Some(Value::String(kind)) => text(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(text),
        _ => true,
    }
}

/// Returns safe, unique names in the same order: letters, digits, `-` and `_`, of at most `room`
/// bytes. A safe name does not change.
fn unique<'a>(names: impl Iterator<Item = &'a str>, room: usize) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let is_safe = |name: &str| (1..=room).contains(&name.len()) && name.chars().all(is_plain);
    let mut taken: BTreeSet<String> =
        names.iter().filter(|name| is_safe(name)).map(|name| (*name).to_owned()).collect();
    let safe = names.into_iter().map(|name| {
        if is_safe(name) {
            return name.to_owned();
        }
        let plain = name.chars().map(|char| if is_plain(char) { char } else { '_' });
        let plain: String = plain.take(room).collect();
        let plain = if plain.is_empty() { "_".to_owned() } else { plain };
        let mut candidate = plain.clone();
        let mut count = 1;
        while !taken.insert(candidate.clone()) {
            count += 1;
            let suffix = format!("_{count}");
            candidate = format!("{}{suffix}", start_of(&plain, room.saturating_sub(suffix.len())));
        }
        candidate
    });
    safe.collect()
}

#[cfg(test)]
mod tests;
