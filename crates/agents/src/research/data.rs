//! What a run of `research` knows: its goal, what was found, how it ends.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use pointsman_kernel::agent::{BadBody, Forgone, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use super::decision::{Decision, SEARCH};
use crate::{advice::Advice, answer, transcript};

/// Bytes of an output or an analysis that are kept.
const MAX_TEXT: usize = 16 * 1024;
/// Bytes of a finding that a summary repeats.
const MAX_LINE: usize = 300;
/// Findings that are kept; the chart's `decisions` bounds them well below.
const MAX_FINDINGS: usize = 100;
/// What a goal says that wants no tools.
const NO_TOOLS: [&str; 8] = [
    "no tools",
    "without tools",
    "do not use tools",
    "don't use tools",
    "do not search",
    "don't search",
    "no search",
    "without searching",
];

/// The data of a run of `research`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Data {
    /// The question.
    pub goal: String,
    /// Whether tools may be used.
    pub tools: bool,
    /// The call that the last decision asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
    /// What calls came to, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the next prompt should say: why the last decision was not taken, what was
    /// repeated, and whether the run is stuck.
    #[serde(default, skip_serializing_if = "Advice::is_empty")]
    pub advice: Advice,
    /// The model's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why the last job came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// How far a run came that got stuck. With it, no answer is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What the run has to show in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A call and what came of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Finding {
    /// The call.
    pub call: ToolCall,
    /// What came of it.
    pub result: ToolResult,
    /// What the model made of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub analysis: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    goal: String,
    #[serde(default = "yes")]
    tools: bool,
}

const fn yes() -> bool {
    true
}

impl Data {
    pub(super) fn configure(&mut self, config: &RawValue) -> Result<(), BadBody> {
        let config: Config = serde_json::from_str(config.get())?;
        let goal = config.goal.to_lowercase();
        self.tools = config.tools && !NO_TOOLS.iter().any(|phrase| goal.contains(phrase));
        self.goal = config.goal;
        Ok(())
    }

    /// Turns away what the goal or the configuration does not want.
    pub(super) fn permit(&self, decision: Decision) -> Result<Decision, &'static str> {
        let needs_tools = !matches!(decision, Decision::Finish { .. });
        if needs_tools && !self.tools { Err("tools are off: finish") } else { Ok(decision) }
    }

    /// Plans a search. White space does not make another query of it.
    pub(super) fn plan_search(&mut self, query: String) {
        let words: Vec<&str> = query.split_whitespace().collect();
        let arguments = json!({ "query": words.join(" ") });
        if let Ok(arguments) = RawValue::from_string(format!("{arguments}")) {
            self.plan_call(SEARCH.into(), arguments);
        }
    }

    pub(super) fn plan_call(&mut self, tool: String, arguments: Box<RawValue>) {
        let id = format!("call-{}", self.findings.len().saturating_add(1));
        self.call = Some(ToolCall { id, tool, arguments });
        self.stopped = None;
    }

    pub(super) fn next_call(&self) -> ToolCall {
        self.call.clone().unwrap_or_else(transcript::no_call)
    }

    pub(super) fn found(&mut self, mut result: ToolResult) {
        cut(&mut result.output);
        if let Some(call) = self.call.take()
            && self.findings.len() < MAX_FINDINGS
        {
            self.findings.push(Finding { call, result, analysis: String::new() });
        }
    }

    pub(super) fn not_found(&mut self, why: &Forgone) {
        self.found(transcript::forgone(why));
        self.stopped_by(why);
    }

    pub(super) fn analysed(&mut self, mut text: String) {
        cut(&mut text);
        if let Some(finding) = self.findings.last_mut() {
            finding.analysis = text;
        }
    }

    pub(super) fn stopped_by(&mut self, why: &Forgone) {
        self.stopped = Some(answer::reason(why));
    }

    /// Ends without an answer, whatever is said from here on.
    pub(super) fn give_up(&mut self, summary: String) {
        self.summary = Some(summary);
    }

    /// Returns how far the run came.
    pub(super) fn draft(&self) -> String {
        let mut lines = alloc::vec![format!("No answer was found to: {}", self.goal)];
        let why = self.stopped.as_deref().or_else(|| self.advice.halted());
        lines.extend(why.map(|why| format!("It stopped because: {why}.")));
        lines.extend(self.findings.iter().map(Finding::line));
        lines.join("\n")
    }

    /// Returns what the run has to show, and whether it is an answer. A run that got
    /// stuck has none, whatever the model wrote before.
    pub(super) fn outcome(&self) -> (String, bool) {
        match (&self.summary, &self.answer) {
            (Some(summary), _) => (summary.clone(), false),
            (None, Some(answer)) => (answer.clone(), true),
            (None, None) => (self.draft(), false),
        }
    }
}

impl Finding {
    /// Returns it in a line: what was asked, and the start of what is known of it.
    fn line(&self) -> String {
        let known = if self.analysis.is_empty() { &self.result.output } else { &self.analysis };
        let first = known.lines().next().unwrap_or_default();
        let start = first.get(..first.floor_char_boundary(MAX_LINE)).unwrap_or_default();
        format!("- `{}` {}: {start}", self.call.tool, self.call.arguments.get())
    }
}

fn cut(text: &mut String) {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push_str("\n[cut]");
    }
}
