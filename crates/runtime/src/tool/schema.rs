//! What the tools are to a model, and whether a call's arguments fit.

use std::{collections::BTreeMap, sync::Arc};

use jsonschema::Validator;
use pointsman_kernel::agent::ToolCall;
use serde_json::{Value, json};

use super::{Tool, ToolSpec, Toolbox, limits::Limits};

/// Returns the schema of a text that is not empty.
pub(super) fn words(about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": about })
}

/// Returns the schema of a text.
pub(super) fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// Returns the schema of a yes or no.
pub(super) fn flag(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

/// Returns the schema of a number.
pub(super) fn number(least: u64, about: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": about })
}

/// Returns the schema of the digest that a file must still have.
pub(super) fn known_digest() -> Value {
    text("The digest that was given last as the file's content, if it must not have changed since.")
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

/// The tools over a workspace as they are offered, with their schemas compiled.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) toolbox: Toolbox,
    pub(super) specs: Vec<ToolSpec>,
    schemas: BTreeMap<Box<str>, Schema>,
}

#[derive(Debug)]
struct Schema {
    validator: Validator,
    takes: String,
}

impl Offer {
    /// Compiles the schemas of the tools. Foreign tools check their arguments themselves.
    pub(super) fn of(toolbox: Toolbox, limits: &Limits) -> Result<Self, String> {
        let (mut specs, mut schemas) = (Vec::new(), BTreeMap::new());
        for tool in toolbox.iter() {
            let Some(spec) = tool.spec(limits) else { continue };
            if !tool.decl().foreign {
                let validator = jsonschema::validator_for(&spec.parameters)
                    .map_err(|error| format!("the schema of `{}`: {error}", spec.name))?;
                let schema = Schema { validator, takes: takes(&spec.parameters) };
                schemas.insert(spec.name.clone(), schema);
            }
            specs.push(spec);
        }
        Ok(Self { toolbox, specs, schemas })
    }

    /// Returns the tool that a call is of, and the arguments if they fit, or else what a model
    /// should know.
    pub(super) fn check(&self, call: &ToolCall) -> Result<(&Arc<dyn Tool>, Value), String> {
        let tool = &call.tool;
        let Some(known) = self.toolbox.find(tool) else {
            let names: Vec<&str> = self.schemas.keys().map(AsRef::as_ref).collect();
            return Err(format!("there is no tool `{tool}` here; there are {}", names.join(", ")));
        };
        let value: Value = serde_json::from_str(call.arguments.get())
            .map_err(|error| format!("the arguments of `{tool}` are no JSON: {error}"))?;
        let Some(schema) = self.schemas.get(tool.as_str()) else { return Ok((known, value)) };
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
            return Ok((known, value));
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
