//! Checks a job's `with` table against the parameters of the job and the arguments of its tool.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};

use super::{
    draft::{Spanned, StateDraft, ToolsDraft},
    resolve::NameTable,
    slots::{given, place},
};
use crate::{
    code::Code,
    diagnostic::{Findings, Span, did_you_mean, nearest},
    job::{Argument, ArgumentKind, JobDecl, ParamShape},
    template,
};

/// Checks the `with` table against the job's parameters.
pub(super) fn parameters(
    written: &StateDraft,
    job: &JobDecl,
    names: &NameTable<'_>,
    found: &mut Findings,
) {
    let given = given(written);
    let span = written.with.as_ref().map_or(written.name.span, |with| with.span);
    let at = |key: &str| place(written, &format!("/{key}"), key).span;
    let known = || job.with.iter().map(|param| param.name);
    let unknown = || given.keys().filter(|key| known().all(|name| name != key.as_str()));
    let misspelt = |name: &str| unknown().any(|key| nearest(key, known()) == Some(name));
    for key in unknown() {
        let hint = did_you_mean(key, known(), "parameter");
        let message = format!("`{}` takes no parameter `{key}`", job.name);
        found.add(Code::UnknownKey, at(key), message, hint);
    }
    let missing = job.with.iter().filter(|it| it.required && !given.contains_key(it.name));
    for param in missing.filter(|param| !misspelt(param.name)) {
        let message = format!("`{}` needs the parameter `{}`", job.name, param.name);
        found.add(Code::MissingKey, span, message, format!("add `with.{} = …`", param.name));
    }
    for (param, value) in job.with.iter().filter_map(|param| Some((param, given.get(param.name)?)))
    {
        let (fits, expected) = match param.shape {
            ParamShape::Text
            | ParamShape::Template
            | ParamShape::Slot
            | ParamShape::Into
            | ParamShape::Tool => (value.is_string(), "a string"),
            ParamShape::Texts | ParamShape::Command | ParamShape::Choices => {
                (is_texts(value), "a list of strings")
            }
            ParamShape::Arguments => (value.is_object(), "a table"),
            ParamShape::Any => (true, ""),
        };
        if !fits {
            let message = format!("`with.{}` of `{}` must be {expected}", param.name, job.name);
            found.add(Code::WrongType, at(param.name), message, format!("write {expected} here"));
        } else if param.shape == ParamShape::Choices {
            choices(value, (param.name, at(param.name)), found);
        }
    }
    // The one parameter that names another chart.
    if let Some(child) = given.get("chart").and_then(Value::as_str)
        && names.registry.children.iter().all(|known| known.name != child)
    {
        let known = names.registry.children.iter().map(|known| known.name);
        let message = format!("chart `{child}` cannot run as a child");
        found.add(Code::UnknownChild, at("chart"), message, did_you_mean(child, known, "child"));
    }
    called(written, job, &given, names, found);
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

/// Rejects an empty list of choices, and empty or duplicate ones.
fn choices(value: &Value, (name, span): (&str, Span), found: &mut Findings) {
    let list: Vec<&str> =
        value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if list.is_empty() {
        let message = format!("`with.{name}` is empty, so there is nothing to choose");
        found.add(Code::Choices, span, message, "list the choices");
    }
    let mut seen = BTreeSet::new();
    for choice in list {
        if choice.trim().is_empty() {
            let message = format!("`with.{name}` lists an empty string");
            found.add(Code::Choices, span, message, "remove it, or write a choice");
        } else if !seen.insert(choice) {
            let message = format!("`with.{name}` lists `{choice}` twice");
            found.add(Code::Choices, span, message, "remove one of them");
        }
    }
}

/// Checks the tool that a job calls: that there is one, that its state allows it, and that
/// it takes the arguments.
fn called(
    written: &StateDraft,
    job: &JobDecl,
    given: &Map<String, Value>,
    names: &NameTable<'_>,
    found: &mut Findings,
) {
    let param = |shape| job.with.iter().find(|param| param.shape == shape).map(|it| it.name);
    let tool_named = param(ParamShape::Tool).and_then(|key| {
        let tool = given.get(key)?.as_str()?;
        Some(place(written, &format!("/{key}"), tool))
    });
    let fixed = || {
        let span = written.kind.as_ref().map_or(written.name.span, |does| does.span);
        job.calls.map(|tool| Spanned::new(tool.to_string(), span))
    };
    let Some(tool) = tool_named.clone().or_else(fixed) else { return };
    let shape = if tool_named.is_some() { names.tool(&tool, found) } else { None };
    allowed(written, &tool, found);
    if let (Some(key), Some(takes)) = (param(ParamShape::Arguments), shape.and_then(|it| it.takes))
    {
        let none = Value::Object(Map::new());
        let arguments = given.get(key).unwrap_or(&none);
        if let Value::Object(arguments) = arguments {
            fits(written, (&tool, key), takes, arguments, found);
        }
    }
}

/// Refuses a call that the state's own `tools` forbid.
fn allowed(written: &StateDraft, tool: &Spanned<String>, found: &mut Findings) {
    let Some(tools) = &written.tools else { return };
    let allowed = match &tools.value {
        ToolsDraft::All => true,
        ToolsDraft::None => false,
        ToolsDraft::Only(list) => list.iter().any(|it| it.value == tool.value),
    };
    if !allowed {
        let message = format!("state `{}` calls `{}` but does not allow it", *written.name, **tool);
        let hint = format!("write `tools = [\"{}\"]`", **tool);
        found.add(Code::NotAllowed, tools.span, message, hint);
    }
}

/// Checks the arguments of a call against the tool's declaration.
fn fits(
    written: &StateDraft,
    (tool, key): (&Spanned<String>, &str),
    takes: &[Argument<'_>],
    arguments: &Map<String, Value>,
    found: &mut Findings,
) {
    let at = |name: &str| place(written, &format!("/{key}/{name}"), name).span;
    let whole = place(written, &format!("/{key}"), key).span;
    let known = || takes.iter().map(|it| it.name);
    let unknown = || arguments.keys().filter(|name| known().all(|it| it != name.as_str()));
    let misspelt = |name: &str| unknown().any(|key| nearest(key, known()) == Some(name));
    for name in unknown() {
        let message = format!("`{}` takes no argument `{name}`", **tool);
        found.add(Code::Arguments, at(name), message, did_you_mean(name, known(), "argument"));
    }
    let missing = takes.iter().filter(|it| it.required && !arguments.contains_key(it.name));
    for argument in missing.filter(|argument| !misspelt(argument.name)) {
        let message = format!("`{}` needs the argument `{}`", **tool, argument.name);
        let hint = format!("add `{} = …` to `with.{key}`", argument.name);
        found.add(Code::Arguments, whole, message, hint);
    }
    for (argument, value) in takes.iter().filter_map(|it| Some((it, arguments.get(it.name)?))) {
        let (fits, expected) = match argument.kind {
            ArgumentKind::Text => (value.is_string(), "a string"),
            ArgumentKind::Flag => (value.is_boolean(), "`true` or `false`"),
            ArgumentKind::Number => (value.is_i64() || value.is_u64(), "a whole number"),
            ArgumentKind::Texts => (is_texts(value), "a list of strings"),
            ArgumentKind::Any => (true, ""),
        };
        if !fits {
            let message = format!("`{}` of `{}` must be {expected}", argument.name, **tool);
            let slot = value.as_str().is_some_and(|text| template::slots(text).next().is_some());
            let hint = if slot {
                format!("a filled slot is a string; write {expected} here")
            } else {
                format!("write {expected} here")
            };
            found.add(Code::Arguments, at(argument.name), message, hint);
        }
    }
}
