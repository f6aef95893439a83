//! The tools that a server offers, under names that are safe and unique.

use std::collections::BTreeSet;

use jsonschema::Validator;
use pointsman_kernel::tool::{Recovery, ToolDecl};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::{McpError, McpLimits, printable, start_of};
use crate::tool::ToolSpec;

/// Bytes of a tool's full name: the most that every provider of models takes.
const LONGEST: usize = 64;
/// Bytes of a server's part of it.
const LONGEST_SERVER: usize = 20;
/// Complaints about arguments that are told at once, and bytes of each: a schema may list
/// a thousand values that would fit.
const COMPLAINTS: usize = 5;
const COMPLAINT: usize = 400;

/// A tool on offer.
#[derive(Debug)]
pub(super) struct Offered {
    /// The server's own name for it.
    pub(super) original: String,
    /// How models are told of it.
    pub(super) spec: ToolSpec,
    /// How the kernel is told of it.
    pub(super) decl: ToolDecl,
    check: Validator,
}

impl Offered {
    /// Checks arguments, and says what a model should change.
    pub(super) fn check(&self, arguments: &JsonObject) -> Result<(), String> {
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
        Err(format!("the arguments do not fit: {}", said.join("; ")))
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
    let prefix = format!("mcp.{label}.");
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

/// Returns the parts of tool names that stand for servers.
pub(super) fn labels<'a>(servers: impl Iterator<Item = &'a str>) -> Vec<String> {
    unique(servers, LONGEST_SERVER)
}

/// Declares a tool. What a server says of it is a claim: it counts only when a person
/// has said so. What it says of arguments that are left out only makes rules stricter, and so
/// does taking every text for a path.
fn declared(name: &str, believed: bool, tool: &Tool) -> ToolDecl {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let defaults = properties.into_iter().flatten().filter_map(|(name, schema)| {
        Some((name.as_str().into(), schema.get("default")?.to_string().into()))
    });
    let texts = properties.into_iter().flatten().filter(|(_, schema)| may_be_text(schema));
    let paths: Vec<&str> = texts.map(|(name, _)| name.as_str()).collect();
    let unknown = ToolDecl { defaults: defaults.collect(), ..ToolDecl::unknown(name) };
    let unknown = unknown.with_paths(&paths);
    let Some(hints) = tool.annotations.as_ref().filter(|_| believed) else { return unknown };
    if hints.read_only_hint == Some(true) {
        let ToolDecl { paths, defaults, .. } = unknown;
        ToolDecl { paths, defaults, ..ToolDecl::read(name, &[]) }
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

/// Returns safe names for these, in their order: letters, digits, `-` and `_`, of so many
/// bytes at most, no two alike. A name that is safe already keeps itself.
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
mod tests {
    use pointsman_kernel::tool::ToolEffect;
    use serde_json::json;

    use super::*;

    fn tools(list: Value) -> Vec<Tool> {
        serde_json::from_value(list).unwrap()
    }

    fn names(names: &[&str], room: usize) -> Vec<String> {
        unique(names.iter().copied(), room)
    }

    #[test]
    fn names_are_safe_and_unique_and_the_safe_ones_keep_theirs() {
        assert_eq!(names(&["a b", "a.b", "a_b", "a/b"], 9), ["a_b_2", "a_b_3", "a_b", "a_b_4"]);
        assert_eq!(names(&["", "é", "_"], 9), ["__2", "__3", "_"]);
        assert_eq!(names(&["abcdef", "abcdeg", "abcdeh"], 5), ["abcde", "abc_2", "abc_3"]);
    }

    #[test]
    fn a_servers_word_counts_only_when_a_person_says_so() {
        let list = json!([
            {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": true}},
            {"name": "put", "inputSchema": {}, "annotations": {"idempotentHint": true}},
            {"name": "send", "inputSchema": {}}
        ]);
        let decls = |believed| {
            let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
            offered.into_iter().map(|offered| offered.decl).collect::<Vec<_>>()
        };
        let unknown =
            ["look", "put", "send"].map(|tool| ToolDecl::unknown(&format!("mcp.s.{tool}")));
        assert_eq!(decls(false), unknown);
        let [look, put, send] = decls(true).try_into().unwrap();
        assert_eq!((look.effect, look.recovery), (ToolEffect::Read, Recovery::Retry));
        assert_eq!((put.effect, put.recovery), (ToolEffect::Write, Recovery::Retry));
        assert_eq!(send, ToolDecl::unknown("mcp.s.send"));
    }

    #[test]
    fn whatever_may_be_a_text_is_taken_for_a_path() {
        let list = json!([{"name": "look", "annotations": {"readOnlyHint": true}, "inputSchema": {
            "properties": {"path": {"type": "string"}, "paths": {"type": "array"}, "any": {},
                "some": {"type": ["null", "string"]}, "count": {"type": "integer"}}
        }}]);
        for believed in [false, true] {
            let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
            let mut paths = offered[0].decl.paths.clone();
            paths.sort();
            assert_eq!(paths, ["any", "path", "paths", "some"].map(Box::from));
        }
    }

    #[test]
    fn what_stands_for_an_argument_that_is_left_out_is_declared() {
        let list = json!([{"name": "look", "annotations": {"readOnlyHint": true}, "inputSchema": {
            "properties": {"path": {"default": "."}, "deep": {"default": true}, "q": {}}
        }}]);
        for believed in [false, true] {
            let (offered, _) = offered("s", believed, tools(list.clone()), &McpLimits::default());
            let mut defaults = offered[0].decl.defaults.clone();
            defaults.sort();
            let wanted = [("deep", "true"), ("path", "\".\"")];
            assert_eq!(defaults, wanted.map(|(name, json)| (name.into(), json.into())));
        }
    }

    #[test]
    fn arguments_that_do_not_fit_are_not_repeated() {
        let many: Vec<String> = (0..1000).map(|n| format!("value {n}")).collect();
        let list = json!([{"name": "put", "inputSchema": {"type": "object", "properties": {
            "text": {"maxLength": 10}, "kind": {"enum": many}
        }}}]);
        let (offered, _) = offered("s", false, tools(list), &McpLimits::default());
        let long = json!({ "text": "whole file ".repeat(1000), "kind": "none" });
        let said = offered[0].check(long.as_object().unwrap()).unwrap_err();
        assert!(!said.contains("whole file") && said.len() < 1000, "{said}");
        assert!(said.contains("at /text: ") && said.contains("at /kind: "), "{said}");
    }

    #[test]
    fn arguments_that_do_not_fit_are_told_in_words() {
        let list = json!([{"name": "add", "description": "Adds numbers", "inputSchema": {
            "type": "object", "required": ["a", "b"],
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}}
        }}]);
        let limits = McpLimits { about: 4, ..McpLimits::default() };
        let (offered, _) = offered("s", false, tools(list), &limits);
        let add = offered.first().unwrap();
        assert_eq!(&*add.spec.about, "Adds");
        let check = |arguments: Value| add.check(arguments.as_object().unwrap());
        assert_eq!(check(json!({"a": 1, "b": 2.5})), Ok(()));
        let said = "the arguments do not fit: \"b\" is a required property; \
                    at /a: value is not of type \"number\"";
        assert_eq!(check(json!({"a": "x"})), Err(said.into()));
    }

    #[test]
    fn a_tool_whose_schema_cannot_be_used_is_left_out_alone() {
        let list = json!([
            {"name": "odd", "inputSchema": {"type": "nothing"}},
            {"name": "far", "inputSchema": {"$ref": "https://example.org/schema.json"}},
            {"name": "good", "inputSchema": {"type": "object"}},
            {"name": "vast", "inputSchema": {"type": "object", "title": "x".repeat(200)}}
        ]);
        let limits = McpLimits { schema: 200, ..McpLimits::default() };
        let (offered, left_out) = offered("s", false, tools(list), &limits);
        assert_eq!(offered.iter().map(|tool| &*tool.original).collect::<Vec<_>>(), ["good"]);
        assert_eq!(
            left_out.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
            ["far", "odd", "vast"]
        );
    }
}
