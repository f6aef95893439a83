//! The builtin agent: jobs for users' own charts, over data that is plain JSON.
//!
//! A chart gives each job its parameters in `with`; results go into slots, and
//! `{slot}` in a parameter is filled from them. Rendering is in `render`.

mod decl;
mod render;
#[cfg(test)]
mod tests;
mod words;

use alloc::{collections::BTreeMap, format, string::String};

use pointsman_kernel::{
    agent::{
        Abandoned, Agent, Answer, BadBody, ChildRun, Fault, FaultClass, ModelCall, Order,
        Settlement, Summary, ToolCall, ToolResult, Visit,
    },
    chart::Disposition,
    id::Outcome,
    job::AgentDecl,
    prompt::{Prompt, PromptMessage},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use crate::{answer, catalogue};
use decl::{
    ASK_ID, CHILD_FAILED, CHILD_ID, CHOOSE_ID, CHOSEN, COMPLETED, HTTP_ID, HTTP_OK, JOBS, NO,
    NONZERO, OTHER, REPLY_ID, SHELL_ID, SHELL_OK, SLOTS, SUCCEEDED, TOOL_ID, TOOL_OK, YES,
};
use render::With;

/// Slots of a run at most; a chart that wants more does not get them.
const MAX_SLOTS: usize = 200;
/// Characters of a slot that are kept.
const MAX_TEXT: usize = 64 * 1024;
/// The event that the input is over.
const INPUT_CLOSED: u16 = 1;

/// Runs users' own charts.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinAgent;

/// What a run knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct BuiltinData {
    /// Values by name: `goal`, `input`, `error`, and what the chart's `into` names.
    pub slots: BTreeMap<String, Value>,
    /// Whether no further input will come.
    pub input_closed: bool,
}

/// What the host should do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BuiltinTask {
    /// Ask a person a question that yes or no answers.
    Ask {
        /// The question.
        question: String,
    },
}

/// What the host reports.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BuiltinReport {
    /// What a person said.
    Answered {
        /// Whether it was yes.
        yes: bool,
        /// What else they said.
        text: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuiltinConfig {
    #[serde(default)]
    goal: String,
    #[serde(default)]
    slots: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    text: String,
}

impl Agent for BuiltinAgent {
    type Data = BuiltinData;
    type Task = BuiltinTask;
    type Report = BuiltinReport;

    const DECL: AgentDecl = AgentDecl {
        name: "builtin",
        about: "a chart of your own, made of general jobs",
        revision: crate::SOURCES,
        jobs: JOBS,
        events: &["input", "input_closed"],
        slots: SLOTS,
        ..AgentDecl::NONE
    };

    fn prompt(data: &BuiltinData, visit: &Visit<'_>) -> Prompt {
        let asked = PromptMessage::User(data.prompt(visit));
        Prompt { messages: [asked].into(), ..Prompt::default() }
    }

    /// A chart says what it has come to by filling the slot `result`.
    fn result(data: &BuiltinData) -> Option<String> {
        data.slots.get("result").map(render::text_of)
    }

    fn describe_report(report: &BuiltinReport) -> Option<Summary> {
        Some(Summary::line(true, if Self::is_yes(report) { "yes" } else { "no" }))
    }

    fn question(task: &BuiltinTask) -> Option<String> {
        let BuiltinTask::Ask { question } = task;
        Some(question.clone())
    }

    fn reply(yes: bool, text: &str) -> Option<BuiltinReport> {
        Some(BuiltinReport::Answered { yes, text: text.into() })
    }

    fn is_yes(report: &BuiltinReport) -> bool {
        let BuiltinReport::Answered { yes, .. } = report;
        *yes
    }

    fn begin(data: &mut BuiltinData, config: &RawValue) -> Result<(), BadBody> {
        let BuiltinConfig { goal, slots } = serde_json::from_str(config.get())?;
        if slots.len() >= MAX_SLOTS {
            return Err(BadBody(format!("a run has at most {MAX_SLOTS} slots")));
        }
        *data = BuiltinData { slots, input_closed: false };
        data.put("goal", &goal);
        Ok(())
    }

    fn receive(data: &mut BuiltinData, event: u16, body: &RawValue) -> Result<(), BadBody> {
        if event == INPUT_CLOSED {
            data.input_closed = true;
            return Ok(());
        }
        let Input { text } = serde_json::from_str(body.get())?;
        data.put("input", &text);
        Ok(())
    }

    fn speaks(event: u16) -> bool {
        event != INPUT_CLOSED
    }

    fn items(_data: &BuiltinData, _list: u16) -> u16 {
        0
    }

    fn brief(data: &BuiltinData, visit: &Visit<'_>) -> Order<BuiltinTask> {
        let with = With::of(visit);
        let text = |key: &str| render::fill(&with.text(key), data);
        let call = |tool: String, arguments: &Value| {
            let arguments = render::canonical(arguments);
            Order::Tool(ToolCall { id: visit.state.name().into(), tool, arguments })
        };
        match visit.job {
            TOOL_ID => call(with.text("tool"), &with.arguments(data)),
            ASK_ID => Order::own(BuiltinTask::Ask { question: text("question") }),
            SHELL_ID => call("shell".into(), &json!({ "command": with.command(data) })),
            HTTP_ID => call("http_get".into(), &json!({ "url": text("url") })),
            CHILD_ID => Order::Child(ChildRun { chart: with.text("chart"), goal: text("goal") }),
            _ => Order::Model(ModelCall { job: visit.job, item: visit.item }),
        }
    }

    fn settle(
        data: &mut BuiltinData,
        visit: &Visit<'_>,
        answer: Answer<BuiltinReport>,
    ) -> Settlement<BuiltinTask> {
        match took(data, visit, answer) {
            Ok(outcome) => Settlement::Outcome(outcome),
            Err(fault) => Settlement::Failed(fault),
        }
    }

    fn abandon(data: &mut BuiltinData, _visit: &Visit<'_>, why: &Abandoned) {
        data.put("error", &answer::reason(why));
    }

    fn decide(data: &mut BuiltinData, visit: &Visit<'_>) -> Outcome {
        let slot = data.text(&With::of(visit).text("slot"));
        let added = visit.state.kernel_outcomes();
        let kernels = [added.failed, added.timeout, added.stuck, added.denied];
        let named = visit.state.outcome(slot.trim());
        named.filter(|outcome| !kernels.contains(&Some(*outcome))).unwrap_or(OTHER)
    }
}

fn took(
    data: &mut BuiltinData,
    visit: &Visit<'_>,
    answer: Answer<BuiltinReport>,
) -> Result<Outcome, Fault> {
    let with = With::of(visit);
    let (result, outcome) = match visit.job {
        REPLY_ID => (answer::model(answer)?.text, COMPLETED),
        CHOOSE_ID => {
            let text = answer::model(answer)?.text;
            let named = render::named(&with.list("from"), &text).ok_or_else(|| {
                failed(FaultClass::Invalid, "the reply names nothing on the list".into())
            })?;
            (named, CHOSEN)
        }
        TOOL_ID => {
            let result = answer::tool(answer)?;
            if !result.ok {
                return Err(failed(FaultClass::Other, result.output));
            }
            (result.output, TOOL_OK)
        }
        CHILD_ID => {
            let end = answer::child(answer)?;
            let well = end.ended == Disposition::Succeeded;
            (end.result, if well { SUCCEEDED } else { CHILD_FAILED })
        }
        SHELL_ID => ran(answer::tool(answer)?)?,
        HTTP_ID => (fetched(answer::tool(answer)?)?, HTTP_OK),
        ASK_ID => {
            let BuiltinReport::Answered { yes, text } = answer::own(answer)?;
            (text, if yes { YES } else { NO })
        }
        _ => return Err(answer::misfit()),
    };
    data.put(&with.text("into"), &result);
    Ok(outcome)
}

/// Tells a program that ended from one that never ran or was stopped; what it wrote is
/// the result.
fn ran(result: ToolResult) -> Result<(String, Outcome), Fault> {
    let (how, wrote) = result.output.split_once('\n').unwrap_or((&result.output, ""));
    let ended = how.starts_with(catalogue::EXITED) || how.starts_with(catalogue::SIGNALLED);
    match (result.ok, ended) {
        (true, true) => Ok((wrote.into(), SHELL_OK)),
        (true, false) => Ok((result.output, SHELL_OK)),
        (false, true) => Ok((wrote.into(), NONZERO)),
        (false, false) => Err(failed(FaultClass::Other, result.output)),
    }
}

/// Returns a page's text without the line above it that says where it is from.
fn fetched(result: ToolResult) -> Result<String, Fault> {
    let (how, page) = result.output.split_once('\n').unwrap_or((&result.output, ""));
    let from = how.split_once(catalogue::FROM);
    let status = from.and_then(|(status, _)| status.parse::<u16>().ok());
    match (result.ok, status) {
        (true, Some(_)) => Ok(page.into()),
        (true, None) => Ok(result.output),
        (false, Some(status)) => {
            let mut fault = failed(FaultClass::Other, format!("the status was {status}"));
            // A request that is wrong stays wrong.
            fault.repeatable = !(400..=499).contains(&status) || status == 408 || status == 429;
            Err(fault)
        }
        (false, None) => Err(failed(FaultClass::Other, result.output)),
    }
}

const fn failed(class: FaultClass, message: String) -> Fault {
    Fault { class, repeatable: true, hint_ms: None, message }
}

impl BuiltinData {
    /// Returns a slot as text: other values as JSON.
    pub fn text(&self, slot: &str) -> String {
        self.slots.get(slot).map(render::text_of).unwrap_or_default()
    }

    /// Renders the question to the model for a job of this visit's state.
    pub fn prompt(&self, visit: &Visit<'_>) -> String {
        let with = With::of(visit);
        let prompt = render::fill(&with.text("prompt"), self);
        let from = with.list("from");
        if from.is_empty() {
            return prompt;
        }
        format!("{prompt}\n\nAnswer with one of these and nothing else:\n{}", from.join("\n"))
    }

    /// Puts a text into a slot; a job without `into` puts it nowhere.
    fn put(&mut self, slot: &str, text: &str) {
        let known = self.slots.contains_key(slot);
        if !slot.is_empty() && (known || self.slots.len() < MAX_SLOTS) {
            let text: String = text.chars().take(MAX_TEXT).collect();
            self.slots.insert(slot.into(), Value::String(text));
        }
    }
}
