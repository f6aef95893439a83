//! The `chat` agent: a conversation with tools that run side by side.

pub mod after;
mod data;
mod prompt;
#[cfg(test)]
mod tests;

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, Agent, Answer, BadBody, ModelCall, Order, Settlement, Summary, Visit},
    chart::{Budget, State},
    governor::Verdict,
    id::{JobId, Outcome},
    job::{AgentDecl, Charges, ConversationStyle, Governance, Influence, JobDecl, job_id},
    prompt::Prompt,
    tool::ToolOffer,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use data::{ChatData, CompletedTool};
pub use pointsman_kernel::turn::{TurnError, TurnErrorKind};

use crate::{answer, dialogue::ReplyOutcome};

/// The chart.
pub const CHART: &str = include_str!("../charts/chat.toml");

const REPLY: JobDecl = JobDecl {
    name: "model.reply",
    outcomes: &[("completed", Influence::None)],
    // A reply that says nothing fails the attempt.
    fails: Some(Influence::Proposal),
    // A prompt that is too long, a summary of old turns, and the prompt again.
    tasks: 3,
    worst: Charges { model_calls: 3, ..Charges::NONE },
    ..JobDecl::RUN
};
const SORT: JobDecl = JobDecl {
    name: "reply.sort",
    outcomes: &[("tool_calls", Influence::Proposal), ("text_only", Influence::Proposal)],
    ..JobDecl::DECIDE
};
const CALL: JobDecl = JobDecl {
    name: "tool.call",
    outcomes: &[("ok", Influence::None)],
    governed: Governance::Calls,
    worst: Charges { tool_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
// What the tools report decides, not what the model wrote.
const MUTATION: JobDecl = JobDecl {
    name: "batch.mutation",
    outcomes: &[
        ("mutated", Influence::None),
        ("unchanged", Influence::None),
        ("broken", Influence::None),
    ],
    ..JobDecl::JOIN
};
const HOOK: JobDecl = JobDecl {
    name: "hook.post_tools",
    outcomes: &[("done", Influence::None)],
    // A commit's message may be asked of a model.
    worst: Charges { model_calls: 1, ..Charges::NONE },
    ..JobDecl::RUN
};
/// Every job of the agent.
pub const JOBS: &[JobDecl] = &[REPLY, SORT, CALL, MUTATION, HOOK];

const REPLY_ID: JobId = job_id(JOBS, "model.reply");
const SORT_ID: JobId = job_id(JOBS, "reply.sort");
const CALL_ID: JobId = job_id(JOBS, "tool.call");

const COMPLETED: Outcome = REPLY.outcome("completed");
const TOOL_CALLS: Outcome = SORT.outcome("tool_calls");
const TEXT_ONLY: Outcome = SORT.outcome("text_only");
const OK: Outcome = CALL.outcome("ok");
const MUTATED: Outcome = MUTATION.outcome("mutated");
const UNCHANGED: Outcome = MUTATION.outcome("unchanged");
const BROKEN: Outcome = MUTATION.outcome("broken");
const DONE: Outcome = HOOK.outcome("done");

/// The event that carries a person's message; the other one has no body.
const USER_INPUT: u16 = 0;

/// The `chat` agent.
#[derive(Debug)]
pub struct ChatAgent;

/// What the host does for the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatTask {
    /// Run the configured hooks after tools, such as a commit.
    PostTools {
        /// Every tool of the batch, in request order.
        completed_tools: Vec<CompletedTool>,
    },
}

/// What the host reports.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatReport {
    /// The hook is through.
    PostTools {
        /// Whether it did something.
        action_taken: bool,
        /// What it did, and what had no effect: a line each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        actions: Vec<String>,
    },
}

impl Agent for ChatAgent {
    type Data = ChatData;
    type Task = ChatTask;
    type Report = ChatReport;

    const DECL: AgentDecl = AgentDecl {
        name: "chat",
        about: "a conversation, with tools that you allow",
        revision: crate::SOURCES,
        jobs: JOBS,
        events: &["user_input", "input_closed"],
        lists: &["tool_calls"],
        conversation: Some(ConversationStyle::Open),
        offer: ToolOffer::Names,
        ..AgentDecl::NONE
    };

    fn describe_task(task: &ChatTask) -> Option<String> {
        let ChatTask::PostTools { .. } = task;
        Some("runs the hooks".into())
    }

    fn describe_report(report: &ChatReport) -> Option<Summary> {
        let ChatReport::PostTools { actions, .. } = report;
        Some(after::summary(actions))
    }

    fn begin(data: &mut ChatData, config: &RawValue) -> Result<(), BadBody> {
        data.configure(config)
    }

    fn receive(data: &mut ChatData, event: u16, body: &RawValue) -> Result<(), BadBody> {
        if event == USER_INPUT { data.hear(body) } else { Ok(()) }
    }

    fn speaks(event: u16) -> bool {
        event == USER_INPUT
    }

    fn items(data: &ChatData, _list: u16) -> u16 {
        u16::try_from(data.transcript.calls().len()).unwrap_or(u16::MAX)
    }

    fn brief(data: &ChatData, visit: &Visit<'_>) -> Order<ChatTask> {
        match visit.job {
            REPLY_ID => ask(data.context.first(&data.setup, &data.transcript, visit.attempt)),
            CALL_ID => Order::Tool(data.transcript.call(visit.item)),
            _ => Order::own(ChatTask::PostTools { completed_tools: data.completed_tools() }),
        }
    }

    fn settle(
        data: &mut ChatData,
        visit: &Visit<'_>,
        answer: Answer<ChatReport>,
    ) -> Settlement<ChatTask> {
        let settled = match visit.job {
            REPLY_ID => {
                let ChatData { setup, transcript, context, .. } = data;
                match context.hear(setup, transcript, visit, answer) {
                    ReplyOutcome::Reply(reply) => data.reply(reply).map(|()| COMPLETED),
                    ReplyOutcome::Again(item) => return Settlement::Again(ask(item)),
                    ReplyOutcome::Failed(fault) => Err(fault),
                }
            }
            CALL_ID => answer::tool(answer).map(|result| {
                data.transcript.record(visit.item, result);
                OK
            }),
            _ => answer::own(answer).map(|ChatReport::PostTools { action_taken, actions }| {
                (data.hook_acted, data.hook_actions) = (Some(action_taken), actions);
                DONE
            }),
        };
        settled.map_or_else(Settlement::Failed, Settlement::Outcome)
    }

    fn abandon(data: &mut ChatData, visit: &Visit<'_>, why: &Abandoned) {
        match visit.job {
            REPLY_ID => {
                data.context.close();
                data.fail(why);
            }
            CALL_ID => data.forgo(visit.item, why),
            _ => data.forgo_hook(why),
        }
    }

    fn used_up(data: &mut ChatData, _: &State, budget: &Budget) {
        data.used_up(budget);
    }

    fn advise(data: &mut ChatData, verdict: &Verdict) {
        data.advise(verdict);
    }

    fn is_turn(data: &ChatData, visit: &Visit<'_>) -> bool {
        visit.job != REPLY_ID
            || !data.context.is_summary(&data.setup, &data.transcript, visit.attempt)
    }

    fn prompt(data: &ChatData, visit: &Visit<'_>) -> Prompt {
        prompt::render(data, visit)
    }

    fn result(data: &ChatData) -> Option<String> {
        let text = data.transcript.last_text();
        (!text.trim().is_empty()).then(|| text.into())
    }

    fn turn_error(data: &ChatData) -> Option<&TurnError> {
        data.error.as_ref()
    }

    fn decide(data: &mut ChatData, visit: &Visit<'_>) -> Outcome {
        match visit.job {
            SORT_ID if data.transcript.calls().is_empty() => TEXT_ONLY,
            SORT_ID => TOOL_CALLS,
            _ if data.broken => BROKEN,
            _ if data.mutated() => MUTATED,
            _ => UNCHANGED,
        }
    }
}

/// Asks the model for an item: a reply, or a summary.
const fn ask(item: u16) -> Order<ChatTask> {
    Order::Model(ModelCall { job: REPLY_ID, item })
}
