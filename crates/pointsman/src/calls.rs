//! Calls of tools as people read them: in a line, whole, and as the change they make.

use std::path::Path;

use pointsman_kernel::{agent::ToolCall, governor::Grant};
use pointsman_runtime::tool::{ToolKind, folder::Folder};
use serde_json::{Map, Value};

use crate::{
    agents::toolbox,
    format,
    line::{Ink, Line},
};

/// Arguments that say by themselves what a call is about.
const SPEAKING: [&str; 6] = ["command", "path", "url", "query", "pattern", "args"];
/// Characters of a call in a line.
const MOST: usize = 100;
/// Lines of a change that was made.
const CHANGED: usize = 8;

/// Returns a call in a few words: the tool, and the argument that says the most.
pub(crate) fn title(call: &ToolCall) -> String {
    let arguments: Map<String, Value> =
        serde_json::from_str(call.arguments.get()).unwrap_or_default();
    let said = SPEAKING.iter().find_map(|name| match arguments.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            Some(words?.join(" "))
        }
        _ => None,
    });
    let said = said.unwrap_or_else(|| {
        if arguments.is_empty() { String::new() } else { call.arguments.get().to_owned() }
    });
    format::line(&format!("{} {said}", call.tool), MOST)
}

/// Returns all of a call, for a person who decides about it. If the run's folder is known, a text
/// is shown as a diff against the file that it would replace.
pub(crate) fn whole(call: &ToolCall, folder: Option<&Path>) -> Vec<Line> {
    let head = Line::of(Ink::Bold, &format::visible(&call.tool));
    let folder = folder.and_then(|folder| Folder::open(folder).ok());
    let text = toolbox().describe_whole(call, folder.as_ref());
    let lines: Vec<Line> = text.lines().map(signed).collect();
    // Some descriptions begin with the tool's name.
    let named = lines.first().is_some_and(|line| line.text().starts_with(&call.tool));
    let head = (!named).then_some(head);
    head.into_iter().chain(lines).collect()
}

/// Returns whether a call changes a file.
pub(crate) fn is_edit(call: &ToolCall) -> bool {
    toolbox().kind(&call.tool) == ToolKind::Edit
}

/// Returns the change that a call made, where it is one that can be shown in a few lines.
pub(crate) fn change(call: &ToolCall) -> Vec<Line> {
    if !is_edit(call) {
        return Vec::new();
    }
    let text = toolbox().describe(call).unwrap_or_default();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let over = lines.len().saturating_sub(CHANGED);
    let more = (over > 0).then(|| {
        let over = format::counted(u64::try_from(over).unwrap_or(u64::MAX), "line");
        Line::of(Ink::Dim, &format!("… and {over} more"))
    });
    lines.into_iter().take(CHANGED).map(signed).chain(more).collect()
}

/// Returns a rule as people read it.
pub(crate) fn rule(grant: &Grant) -> String {
    let with: Vec<String> =
        grant.arguments.iter().map(|(name, pattern)| format!("{name} = {pattern}")).collect();
    let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
    format::folded(&format::visible(&format!("{}{with}", grant.tool)))
}

/// Returns a rule as it is typed.
pub(crate) fn typed(grant: &Grant) -> String {
    let with = grant.arguments.iter().map(|(name, pattern)| format!(":{name}={pattern}"));
    std::iter::once(grant.tool.clone()).chain(with).collect()
}

/// Returns a line of a description, in the ink that its sign asks for.
fn signed(line: &str) -> Line {
    let ink = match line.as_bytes().first() {
        Some(b'+') => Ink::Good,
        Some(b'-') => Ink::Bad,
        _ => Ink::Plain,
    };
    Line::of(ink, line)
}
