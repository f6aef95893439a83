//! What the tools are to a model, and whether a call's arguments fit.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{ToolSpec, limits::Limits};

/// Returns what models are told of each tool.
pub(super) fn specs(limits: &Limits) -> Vec<ToolSpec> {
    let path = |about: &str| json!({ "type": "string", "minLength": 1, "description": about });
    let text = |about: &str| json!({ "type": "string", "description": about });
    let flag = |about: &str| json!({ "type": "boolean", "description": about });
    let digest = text(
        "The digest that was given last as the file's content, if it must not have changed since.",
    );
    let number = |least: u64, about: &str| json!({ "type": "integer", "minimum": least, "description": about });
    let wait = json!({
        "type": "integer", "minimum": 1, "maximum": limits.shell_max_ms,
        "description": format!("Milliseconds it may take; {} if left out.", limits.shell_ms),
    });
    vec![
        spec(
            "context.fts_search",
            "Finds the passages of the workspace's text files that fit a question best.",
            json!({ "query": path("Words or a question.") }),
            &["query"],
        ),
        spec(
            "edit",
            "Replaces a piece of a text file. `old` must stand there to the letter, and once. Line \
             ends and the encoding are kept.",
            json!({
                "path": path("The file, from the workspace's root."),
                "old": path("The text to replace, with enough around it to be the only one."),
                "new": text("The text to put there."),
                "all": flag("Replace every place where `old` stands."),
                "digest": digest,
            }),
            &["path", "old", "new"],
        ),
        spec(
            "git",
            &super::git::about(),
            json!({ "args": {
                "type": "array", "minItems": 1, "items": { "type": "string" },
                "description": "The verb and its arguments, such as [\"diff\", \"--stat\"].",
            } }),
            &["args"],
        ),
        spec(
            "http_get",
            "Fetches a text page over http or https.",
            json!({ "url": path("The address, with its scheme.") }),
            &["url"],
        ),
        spec(
            "list",
            "Lists files and folders, without what .gitignore names. Folders end in `/`.",
            json!({
                "path": text("The folder, from the workspace's root; the root if left out."),
                "depth": number(1, "How many folders to go down; 3 if left out."),
            }),
            &[],
        ),
        super::plan::spec(),
        spec(
            "read",
            "Reads a text file, with line numbers. The last line is a digest of the content.",
            json!({
                "path": path("The file, from the workspace's root."),
                "from": number(1, "The first line."),
                "to": number(1, "The last line."),
            }),
            &["path"],
        ),
        spec(
            "search",
            "Finds lines by a regular expression, without files that .gitignore names.",
            json!({
                "query": path("The pattern, in Rust's regex syntax."),
                "literal": flag("Take the query as plain text."),
                "ignore_case": flag("Take capital and small letters as the same."),
                "path": text("The folder or file to search; the whole workspace if left out."),
                "glob": text("Which files, such as `*.rs` or `src/**/*.toml`."),
            }),
            &["query"],
        ),
        spec(
            "shell",
            "Runs a command with `sh -c` in a sandbox: it can change the workspace, but not .git, \
             and it has no network unless the settings allow it.",
            json!({
                "command": path("The command."),
                "timeout_ms": wait,
                "cwd": text("The folder to run it in, from the workspace's root."),
            }),
            &["command"],
        ),
        spec(
            "write",
            "Writes a whole file, and makes the folders above it.",
            json!({
                "path": path("The file, from the workspace's root."),
                "content": text("All that it shall hold."),
                "digest": digest,
            }),
            &["path", "content"],
        ),
    ]
}

/// Returns a tool that takes these arguments and no others.
pub(super) fn spec(name: &str, about: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolSpec { name: name.into(), about: about.into(), parameters }
}

/// The schemas, compiled once.
#[derive(Debug)]
pub(super) struct Schemas(BTreeMap<Box<str>, Schema>);

#[derive(Debug)]
struct Schema {
    validator: Validator,
    takes: String,
}

impl Schemas {
    /// Compiles the schemas of the tools.
    pub(super) fn of(specs: &[ToolSpec]) -> Result<Self, String> {
        let schema = |spec: &ToolSpec| {
            let validator = jsonschema::validator_for(&spec.parameters)
                .map_err(|error| format!("the schema of `{}`: {error}", spec.name))?;
            Ok((spec.name.clone(), Schema { validator, takes: takes(&spec.parameters) }))
        };
        specs.iter().map(schema).collect::<Result<_, String>>().map(Self)
    }

    /// Returns the arguments if they fit, or else what a model should know.
    pub(super) fn check(&self, tool: &str, arguments: &str) -> Result<Value, String> {
        let Some(schema) = self.0.get(tool) else {
            let names: Vec<&str> = self.0.keys().map(AsRef::as_ref).collect();
            return Err(format!("there is no tool `{tool}` here; there are {}", names.join(", ")));
        };
        let value: Value = serde_json::from_str(arguments)
            .map_err(|error| format!("the arguments of `{tool}` are no JSON: {error}"))?;
        let wrong: Vec<String> = schema
            .validator
            .iter_errors(&value)
            .take(5)
            .map(|error| {
                let at = error.instance_path().to_string();
                // The value itself stays out: it may be a whole file.
                let what = error.masked();
                match at.trim_start_matches('/') {
                    "" => what.to_string(),
                    argument => format!("`{argument}`: {what}"),
                }
            })
            .collect();
        if wrong.is_empty() {
            return Ok(value);
        }
        let (wrong, takes) = (wrong.join("; "), &schema.takes);
        Err(format!("the arguments of `{tool}` do not fit: {wrong}\n`{tool}` takes {takes}"))
    }
}

/// Returns what a schema takes, in a line.
fn takes(parameters: &Value) -> String {
    let required = parameters.get("required").and_then(Value::as_array);
    let must = |name: &str| {
        required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let Some(properties) = parameters.get("properties").and_then(Value::as_object) else {
        return "nothing".into();
    };
    let one = |(name, schema): (&String, &Value)| {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        format!("`{name}` ({kind}, {})", if must(name) { "required" } else { "optional" })
    };
    // By name, whatever order the members of an object are kept in.
    let mut takes: Vec<String> = properties.iter().map(one).collect();
    takes.sort_unstable();
    takes.join(", ")
}
