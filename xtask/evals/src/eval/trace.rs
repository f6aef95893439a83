//! A recorded run as the governor is shown it. What its tools do is guessed from
//! their names, and what a shell command changes from its words.

use anyhow::{Context, Result};
use pointsman_kernel::{
    agent::{Reply, ToolCall, ToolResult},
    tool::{ToolDecl, ToolEffect},
};
use serde_json::{Value, json, value::RawValue};

/// How a run ended, according to its recorders.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Success,
    Failure,
    Unknown,
}

/// A recorded run.
pub(super) struct Trace {
    pub(super) outcome: Outcome,
    pub(super) steps: Vec<TraceStep>,
}

/// One step of it.
pub(super) enum TraceStep {
    /// A call and its result.
    Call(ToolCall, ToolResult),
    /// A turn without a call, and whether it could be read.
    Turn(Reply, bool),
    /// A person's turn.
    Person,
}

impl Trace {
    /// Reads a line.
    pub(super) fn read(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line)?;
        let outcome = match value["outcome"].as_str() {
            Some("success") => Outcome::Success,
            Some("failure") => Outcome::Failure,
            _ => Outcome::Unknown,
        };
        let steps = value["steps"].as_array().context("a trajectory has steps")?;
        let steps = steps.iter().map(seen).collect::<Result<_>>()?;
        Ok(Self { outcome, steps })
    }
}

fn seen(step: &Value) -> Result<TraceStep> {
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let tool = text("tool");
    match &*tool {
        "respond" => return Ok(TraceStep::Person),
        "none" => {
            return Ok(TraceStep::Turn(Reply { text: text("text"), calls: Vec::new() }, false));
        }
        _ => {}
    }
    let ok = step["ok"].as_bool().unwrap_or(true);
    let mut arguments = json!({ "args": step["args"] });
    if let Some(target) = step["target"].as_str() {
        arguments["target"] = target.into();
    }
    // The digest represents the whole result. It uses letters that occur in no digest, or it would
    // be masked as one.
    let digest = |text: String| text.chars().map(letter).collect::<String>();
    let result = ToolResult {
        ok,
        output: if ok { digest(text("result_nhash")) } else { text("error") },
        mutated: ok && effect(&tool) == ToolEffect::Command && changes(&step["args"]),
    };
    let arguments = RawValue::from_string(arguments.to_string())?;
    Ok(TraceStep::Call(ToolCall { id: String::new(), tool, arguments }, result))
}

fn letter(digit: char) -> char {
    digit.to_digit(16).and_then(|digit| char::from_u32('g' as u32 + digit)).unwrap_or(digit)
}

/// Returns what the tools of a run would declare.
pub(super) fn tools(trace: &Trace) -> Vec<ToolDecl> {
    let mut names: Vec<&str> = trace
        .steps
        .iter()
        .filter_map(|seen| match seen {
            TraceStep::Call(call, _) => Some(&*call.tool),
            TraceStep::Turn(..) | TraceStep::Person => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let decl =
        |name: &&str| ToolDecl { effect: effect(name), ..ToolDecl::write(name, &["target"]) };
    names.iter().map(decl).collect()
}

fn effect(tool: &str) -> ToolEffect {
    let starts = |with: &[&str]| with.iter().any(|start| tool.starts_with(start));
    if matches!(tool, "submit" | "exit_cost" | "think" | "terminate" | "browser_use") {
        ToolEffect::Opaque
    } else if starts(&["edit", "create", "update_", "book_", "cancel_", "send_", "str_replace"]) {
        ToolEffect::Write
    } else if starts(&["open", "goto", "scroll_", "search_", "find_", "get_", "list_", "calculate"])
    {
        ToolEffect::Read
    } else {
        ToolEffect::Command
    }
}

/// Returns whether a shell command looks as if it changed something.
fn changes(arguments: &Value) -> bool {
    let text = arguments.as_str().unwrap_or_default();
    [">", "sed -i", "git apply", "patch", "mv ", "rm ", "mkdir", "touch", "tee ", "install"]
        .iter()
        .any(|sign| text.contains(sign))
}
