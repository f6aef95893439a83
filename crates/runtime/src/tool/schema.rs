//! What the tools are to a model, and whether a call's arguments fit.

#[cfg(feature = "tools")]
use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(feature = "tools")]
use jsonschema::Validator;
use pointsman_kernel::agent::ToolCall;
use serde_json::Value;
#[cfg(feature = "tools")]
use serde_json::json;

use super::{Tool, ToolSpec, Toolbox, limits::ToolLimits};

/// Returns the schema of a text that is not empty.
#[cfg(feature = "tools")]
pub(super) fn words(about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": about })
}

/// Returns the schema of a text.
#[cfg(feature = "tools")]
pub(super) fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// Returns the schema of a yes or no.
#[cfg(feature = "tools")]
pub(super) fn flag(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

/// Returns the schema of a number.
#[cfg(feature = "tools")]
pub(super) fn number(least: u64, about: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": about })
}

/// Returns the schema of the digest that a file must still have.
#[cfg(feature = "tools")]
pub(super) fn known_digest() -> Value {
    text(
        "The digest that you were last shown for this file. If given, the call fails when the file \
         has changed since.",
    )
}

/// Returns a tool that takes these arguments and no others.
#[cfg(feature = "tools")]
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
    #[cfg(feature = "tools")]
    schemas: BTreeMap<Box<str>, Schema>,
}

#[cfg(feature = "tools")]
#[derive(Debug)]
struct Schema {
    validator: Validator,
    takes: String,
}

impl Offer {
    /// Compiles the schemas of the tools. Foreign tools check their arguments themselves.
    #[cfg(feature = "tools")]
    pub(super) fn of(toolbox: Toolbox, limits: &ToolLimits) -> Result<Self, String> {
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

    /// Lists the tools. No schema is compiled: each tool checks its arguments itself.
    #[cfg(not(feature = "tools"))]
    #[expect(clippy::unnecessary_wraps, reason = "with the feature `tools` a schema can be wrong")]
    pub(super) fn of(toolbox: Toolbox, limits: &ToolLimits) -> Result<Self, String> {
        let specs = toolbox.iter().filter_map(|tool| tool.spec(limits)).collect();
        Ok(Self { toolbox, specs })
    }

    /// Returns the tool that a call is of, and the arguments if they fit, or else what a model
    /// should know.
    pub(super) fn check(&self, call: &ToolCall) -> Result<(&Arc<dyn Tool>, Value), String> {
        let tool = &call.tool;
        let Some(known) = self.toolbox.find(tool) else {
            let is_own = |name: &&str| self.toolbox.find(name).is_some_and(|it| !it.decl().foreign);
            let mut names: Vec<&str> =
                self.specs.iter().map(|spec| &*spec.name).filter(is_own).collect();
            names.sort_unstable();
            return Err(format!("there is no tool `{tool}`; known: {}", names.join(", ")));
        };
        let value: Value = serde_json::from_str(call.arguments.get())
            .map_err(|error| format!("the arguments of `{tool}` are not JSON: {error}"))?;
        #[cfg(feature = "tools")]
        self.fits(tool, &value)?;
        Ok((known, value))
    }

    /// Checks arguments against the schema of their tool.
    #[cfg(feature = "tools")]
    fn fits(&self, tool: &str, value: &Value) -> Result<(), String> {
        let Some(schema) = self.schemas.get(tool) else { return Ok(()) };
        let wrong: Vec<String> = schema
            .validator
            .iter_errors(value)
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
            return Ok(());
        }
        let (wrong, takes) = (wrong.join("; "), &schema.takes);
        Err(format!("invalid arguments for `{tool}`: {wrong}\n`{tool}` takes {takes}"))
    }
}

/// Returns what a schema takes, in a line.
#[cfg(feature = "tools")]
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
    // By name, because the order of an object's members may vary.
    let mut takes: Vec<String> = properties.iter().map(one).collect();
    takes.sort_unstable();
    takes.join(", ")
}
