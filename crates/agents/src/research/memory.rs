//! Findings as a prompt shows them: the last ones whole, older ones in a summary, and
//! all of it within the available space.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{ToolCall, ToolResult},
    prompt::PromptMessage,
};
use serde_json::{json, value::RawValue};

use super::{
    data::{Finding, ResearchData},
    offer::one_line,
};

/// Findings that stay whole when the memory is long.
const WHOLE: usize = 5;
/// Bytes of a call's arguments beyond which a prompt shows only their start.
const MAX_SHOWN: usize = 1_000;
/// Bytes of arguments and notes that a line of the summary repeats.
const MAX_LINE: usize = 240;
/// What stands at the end of a text that is not shown to its end.
const CUT: &str = "\n[the rest is not shown]";

/// Returns the messages with the findings, at most this many bytes.
pub(super) fn messages(data: &ResearchData, room: usize) -> Vec<PromptMessage> {
    let findings = data.findings.as_slice();
    let whole = findings.iter().map(size).fold(0, usize::saturating_add);
    let mut count =
        if whole > data.limits.memory() { WHOLE.min(findings.len()) } else { findings.len() };
    // A quarter is reserved for the summary of the rest.
    let most = room.saturating_sub(room / 4);
    while calls_size(recent(findings, count)) > most {
        count = count.saturating_sub(1);
    }
    let recent = recent(findings, count);
    let older = findings.get(..findings.len().saturating_sub(count)).unwrap_or_default();
    let mut messages = Vec::new();
    let mut room = room.saturating_sub(calls_size(recent));
    if let Some(text) = summary(older, data.forgotten, room / 4) {
        room = room.saturating_sub(text.len());
        messages.push(PromptMessage::User(text));
    }
    let texts = recent.iter().flat_map(|it| [it.result.output.len(), it.analysis.len()]);
    let share = share(texts.collect(), room);
    for finding in recent {
        let call = shown(&finding.call);
        let id = call.id.clone();
        messages.push(PromptMessage::Assistant { text: String::new(), calls: vec![call] });
        let output = cut(&finding.result.output, share);
        let result = ToolResult { output, ..finding.result.clone() };
        messages.push(PromptMessage::Tool { id, result });
        let text = cut(&finding.analysis, share);
        if !text.is_empty() {
            messages.push(PromptMessage::Assistant { text, calls: Vec::new() });
        }
    }
    messages
}

/// Returns the bytes that a message takes.
pub(super) fn message_size(message: &PromptMessage) -> usize {
    match message {
        PromptMessage::User(text) => text.len(),
        PromptMessage::Assistant { text, calls } => {
            calls.iter().map(call_size).fold(text.len(), usize::saturating_add)
        }
        PromptMessage::Tool { id, result } => id.len().saturating_add(result.output.len()),
        _ => 0,
    }
}

fn recent(findings: &[Finding], count: usize) -> &[Finding] {
    findings.get(findings.len().saturating_sub(count)..).unwrap_or_default()
}

fn size(finding: &Finding) -> usize {
    let texts = finding.result.output.len().saturating_add(finding.analysis.len());
    call_size(&finding.call).saturating_add(texts)
}

/// Returns the bytes that the calls take, which cannot be cut.
fn calls_size(findings: &[Finding]) -> usize {
    let calls = findings.iter().map(|finding| {
        let call = shown(&finding.call);
        // Its result names the call by its id.
        call_size(&call).saturating_add(call.id.len())
    });
    calls.fold(0, usize::saturating_add)
}

fn call_size(call: &ToolCall) -> usize {
    let names = call.id.len().saturating_add(call.tool.len());
    names.saturating_add(call.arguments.get().len())
}

/// Returns a call as it is shown: long arguments by their start, still as JSON.
fn shown(call: &ToolCall) -> ToolCall {
    if call.arguments.get().len() <= MAX_SHOWN {
        return call.clone();
    }
    let start = one_line(call.arguments.get(), MAX_LINE);
    let arguments = RawValue::from_string(format!("{}", json!({ "shortened": start })));
    let arguments = arguments.unwrap_or_else(|_| RawValue::NULL.to_owned());
    ToolCall { arguments, ..call.clone() }
}

/// Returns the size to which texts must be cut to fit together: short ones stay whole, and the
/// long ones share the remaining space.
fn share(mut sizes: Vec<usize>, room: usize) -> usize {
    sizes.sort_unstable();
    let (mut left, mut count) = (room, sizes.len());
    for size in sizes {
        let share = left.checked_div(count).unwrap_or(0);
        if size > share {
            return share;
        }
        left = left.saturating_sub(size);
        count = count.saturating_sub(1);
    }
    usize::MAX
}

fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.into();
    }
    let Some(kept) = limit.checked_sub(CUT.len()) else { return String::new() };
    let start = text.get(..text.floor_char_boundary(kept)).unwrap_or_default();
    format!("{start}{CUT}")
}

/// Summarises the older findings, the newest first.
fn summary(older: &[Finding], forgotten: usize, room: usize) -> Option<String> {
    const TITLE: &str = "Earlier findings, in short:";
    /// Room for saying how many are left out.
    const MORE: usize = 60;
    let mut left = room.checked_sub(TITLE.len().saturating_add(MORE))?;
    let mut lines: Vec<String> = Vec::new();
    for finding in older.iter().rev() {
        let line = line(finding);
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        lines.push(line);
    }
    let missing = older.len().saturating_sub(lines.len()).saturating_add(forgotten);
    if missing > 0 {
        lines.push(format!("\n- {missing} before that are not shown"));
    }
    lines.reverse();
    (!lines.is_empty()).then(|| format!("{TITLE}{}", lines.concat()))
}

fn line(finding: &Finding) -> String {
    let arguments = one_line(finding.call.arguments.get(), MAX_LINE);
    let found = match (finding.result.ok, finding.passages().count()) {
        (false, _) => "failed".into(),
        (true, 0) => "no passage".into(),
        (true, 1) => "1 passage".into(),
        (true, count) => format!("{count} passages"),
    };
    let known =
        if finding.analysis.is_empty() { &finding.result.output } else { &finding.analysis };
    format!("\n- {} {arguments}: {found}. {}", finding.call.tool, one_line(known, MAX_LINE))
}
