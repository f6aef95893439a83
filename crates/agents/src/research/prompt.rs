//! What a model is shown: the goal, what was found, and, at the very end, the run's
//! own state.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use pointsman_kernel::{
    agent::Visit,
    chart::Tools,
    prompt::{Message, Prompt},
};
use serde_json::json;

use super::{DECIDE_ID, data::Data};

const DECIDE: &str = "\
You answer a question from a body of documents. Reply with one JSON object and nothing else:
{\"action\": \"tool\", \"tool_name\": \"context.fts_search\", \"args\": {\"query\": \"…\"}} to search,
{\"action\": \"tool\", \"tool_name\": \"…\", \"args\": {…}} to use another tool, or
{\"action\": \"finish\", \"final\": \"…\"} to give the answer, with the file and line of what it rests on.";

const ANALYZE: &str = "\
You answer a question from a body of documents. Say in a few sentences what the last result tells
about the question, and what is still missing. Reply in plain text.";

/// Findings that are shown whole; of older ones only what was made of them.
const WHOLE: usize = 5;

/// Renders the prompt of a decision or an analysis.
pub(super) fn render(data: &Data, visit: &Visit<'_>) -> Prompt {
    let decides = visit.job == DECIDE_ID;
    let mut messages = vec![Message::User(data.goal.clone())];
    let older = data.findings.len().saturating_sub(WHOLE);
    if older > 0 {
        messages.push(Message::User(summary(data, older)));
    }
    for finding in data.findings.iter().skip(older) {
        let call = finding.call.clone();
        let id = call.id.clone();
        messages.push(Message::Assistant { text: String::new(), calls: vec![call] });
        messages.push(Message::Tool { id, result: finding.result.clone() });
        if !finding.analysis.is_empty() {
            let text = finding.analysis.clone();
            messages.push(Message::Assistant { text, calls: Vec::new() });
        }
    }
    messages.push(Message::User(state(data, visit)));
    let schema = decides.then(|| {
        json!({
            "type": "object",
            "properties": {
                "action": { "enum": ["tool", "finish"] },
                "tool_name": { "type": "string" },
                "args": { "type": "object" },
                "final": { "type": "string" },
            },
            "required": ["action"],
        })
    });
    let tools: Vec<Box<str>> = match visit.state.tools() {
        Tools::Only(list) => list.to_vec(),
        Tools::All if decides && data.tools => vec!["context.fts_search".into()],
        Tools::All | Tools::None | _ => Vec::new(),
    };
    let system = if decides { DECIDE } else { ANALYZE }.to_string();
    Prompt { system, messages, tools, schema }
}

/// Says what was made of the older findings.
fn summary(data: &Data, older: usize) -> String {
    let told = data.findings.iter().take(older).map(|finding| {
        let call = finding.call.arguments.get();
        format!("\n- {} {call}: {}", finding.call.tool, finding.analysis)
    });
    let told: String = told.collect();
    format!("Earlier findings, in short:{told}")
}

/// The run's own state. The form is a contract: tools that read prompts rely on it.
fn state(data: &Data, visit: &Visit<'_>) -> String {
    let phase = visit.state.name().to_uppercase();
    let duration = visit.now.since(visit.entered);
    let status = if data.advice.is_stuck() { "STUCK" } else { "HEALTHY" };
    let text = format!(
        "## Agent State\nCurrent Phase: {phase}\nPhase Duration: {duration}ms\nStatus: {status}"
    );
    let advice: Vec<&str> = data.advice.lines().collect();
    if advice.is_empty() { text } else { format!("{text}\nAdvice: {}", advice.join(" ")) }
}
