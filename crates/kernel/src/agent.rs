//! The kernel's view of an agent: typed data and the pure halves of its jobs.
//!
//! The other half, `perform`, lives in the runtime: it takes an [`Order`] out into
//! the world and comes back with an [`Answer`].

mod fault;

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use thiserror::Error;

pub use fault::{Fault, FaultClass};

use crate::{
    chart::{Budget, Disposition, State},
    governor::Verdict,
    id::{At, JobId, Outcome},
    job::AgentDecl,
    prompt::Prompt,
    table::DataTable,
    turn::TurnError,
};

/// An agent: its data, and for each job how it is briefed and settled.
///
/// Every method is total and pure. A method that refuses leaves the data unchanged.
pub trait Agent: Sized + Send + Sync + 'static {
    /// The agent's data of a run.
    type Data: Serialize + DeserializeOwned + Default + Send;
    /// An order of the agent's own.
    type Task: Serialize + DeserializeOwned + Send;
    /// The answer to an order of the agent's own.
    type Report: Serialize + DeserializeOwned + Send;

    /// Names, jobs, events and lists.
    const DECL: AgentDecl;

    /// Takes the configuration that the first entry holds.
    fn begin(data: &mut Self::Data, config: &RawValue) -> Result<(), BadBody>;

    /// Takes the body of an event, by its place in `DECL.events`.
    fn receive(data: &mut Self::Data, event: u16, body: &RawValue) -> Result<(), BadBody>;

    /// Returns whether an event is a person's message, which resets the governor. Closing the
    /// input is not: a stuck run that is closed was stuck.
    fn speaks(event: u16) -> bool {
        let _ = event;
        true
    }

    /// Returns how many items a list has, by its place in `DECL.lists`.
    fn items(data: &Self::Data, list: u16) -> u16;

    /// Returns the order of an attempt, at its start.
    fn brief(data: &Self::Data, visit: &Visit<'_>) -> Order<Self::Task>;

    /// Takes the answer: ends the job, orders more, or fails the attempt.
    fn settle(
        data: &mut Self::Data,
        visit: &Visit<'_>,
        answer: Answer<Self::Report>,
    ) -> Settlement<Self::Task>;

    /// Learns that no answer will settle this visit, or this item of a fan-out.
    fn abandon(data: &mut Self::Data, visit: &Visit<'_>, why: &Abandoned);

    /// Handles a used-up budget: the run leaves this state by the budget's `else`, or ends. Work
    /// in progress is abandoned right after this call; often there is none, and nothing else would
    /// report the budget.
    fn used_up(data: &mut Self::Data, state: &State, budget: &Budget) {
        let _ = (data, state, budget);
    }

    /// Takes a verdict of the governor, for the next prompt.
    fn advise(data: &mut Self::Data, verdict: &Verdict) {
        let _ = (data, verdict);
    }

    /// Returns whether the model call in progress is one of its turns. A call that is internal to
    /// the agent, such as one for a summary, is not judged as a turn.
    fn is_turn(data: &Self::Data, visit: &Visit<'_>) -> bool {
        let _ = (data, visit);
        true
    }

    /// Returns the phase that the run is in; a change of it is a fresh start for the
    /// governor.
    fn phase(data: &Self::Data) -> u32 {
        let _ = data;
        0
    }

    /// Renders the prompt of a call, when it starts. It depends only on the data and the visit, so
    /// the journal never stores a transcript twice.
    fn prompt(data: &Self::Data, visit: &Visit<'_>) -> Prompt {
        let _ = (data, visit);
        Prompt::default()
    }

    /// Returns the result of the run, for the person who started it.
    fn result(data: &Self::Data) -> Option<String> {
        let _ = data;
        None
    }

    /// Returns the same as data for programs, for agents whose result is more than text.
    fn report(data: &Self::Data) -> Option<serde_json::Value> {
        let _ = data;
        None
    }

    /// Returns the current stage in a line for people, if there is more to say than the state: the
    /// phase of a plan.
    fn stage(data: &Self::Data) -> Option<String> {
        let _ = data;
        None
    }

    /// Returns tables of what the run has found or done so far, for people.
    fn tables(data: &Self::Data) -> Vec<DataTable> {
        let _ = data;
        Vec::new()
    }

    /// Returns why the last turn has no answer, for agents that hold a conversation.
    fn turn_error(data: &Self::Data) -> Option<&TurnError> {
        let _ = data;
        None
    }

    /// Describes a task in a line for people; nothing where its name says all.
    fn describe_task(task: &Self::Task) -> Option<String> {
        let _ = task;
        None
    }

    /// Describes a report in a line for people; nothing if its arrival says enough.
    fn describe_report(report: &Self::Report) -> Option<Summary> {
        let _ = report;
        None
    }

    /// Returns the question of a task that only asks a person for yes or no. No executor is
    /// given such a task: front ends put the question.
    fn question(task: &Self::Task) -> Option<String> {
        let _ = task;
        None
    }

    /// Returns the report for a person's answer to such a question, with their reason. An agent
    /// that asks questions has one.
    fn reply(yes: bool, text: &str) -> Option<Self::Report> {
        let _ = (yes, text);
        None
    }

    /// Returns whether a report is a person's yes to such a question.
    fn is_yes(report: &Self::Report) -> bool {
        let _ = report;
        false
    }

    /// Settles a `decide` or `join` job.
    fn decide(data: &mut Self::Data, visit: &Visit<'_>) -> Outcome;
}

/// A report in a line, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Whether all succeeded.
    pub ok: bool,
    /// The line.
    pub text: String,
    /// Whether the line is worth its room: a long one is shown in full.
    pub full: bool,
}

impl Summary {
    /// A line that may be shortened.
    pub fn line(ok: bool, text: impl Into<String>) -> Self {
        Self { ok, text: text.into(), full: false }
    }
}

/// The place of a job in the chart, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The state.
    pub state: &'a State,
    /// The job: the state's own, or the `run` or `join` of a fan-out.
    pub job: JobId,
    /// The item of a fan-out; 0 elsewhere.
    pub item: u16,
    /// The attempt; the first is 1.
    pub attempt: u16,
    /// Whether an order of it is held, for a person to decide on or for a place: it has not
    /// begun.
    pub held: bool,
    /// When the state was entered.
    pub entered: At,
    /// The time of the event that is being applied.
    pub now: At,
}

/// A body that an agent cannot read.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{0}")]
pub struct BadBody(pub String);

impl From<serde_json::Error> for BadBody {
    fn from(error: serde_json::Error) -> Self {
        Self(alloc::format!("{error}"))
    }
}

/// An order to the world: one that the kernel can meter and judge, or the agent's own.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Order<T> {
    /// Ask a model.
    Model(ModelCall),
    /// Call a tool.
    Tool(ToolCall),
    /// Start a child run.
    Child(ChildRun),
    /// Do something of the agent's own.
    Own {
        /// What to do.
        task: T,
        /// Taps, keys and clicks that it takes at most.
        #[serde(default, skip_serializing_if = "is_zero")]
        interactions: u32,
        /// The actions that it takes, as a person would count them.
        #[serde(default, skip_serializing_if = "is_zero")]
        actions: u32,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl<T> Order<T> {
    /// An order of the agent's own that touches nothing a person would.
    pub const fn own(task: T) -> Self {
        Self::Own { task, interactions: 0, actions: 0 }
    }

    /// The agent's own order with this many taps, keys and clicks.
    pub const fn touching(task: T, interactions: u32) -> Self {
        Self::Own { task, interactions, actions: 0 }
    }

    /// Returns which answer it takes.
    pub const fn kind(&self) -> OrderKind {
        match self {
            Self::Model(_) => OrderKind::Model,
            Self::Tool(_) => OrderKind::Tool,
            Self::Child(_) => OrderKind::Child,
            Self::Own { .. } => OrderKind::Own,
        }
    }
}

/// Which answer an order takes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OrderKind {
    /// A model's reply.
    Model,
    /// A tool's result.
    Tool,
    /// A child's end.
    Child,
    /// A report of the agent's own.
    Own,
}

/// A question to a model. The agent renders the prompt from its data when the
/// call starts, so the journal never holds a transcript twice.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ModelCall {
    /// The job that asks.
    pub job: JobId,
    /// The item that it asks for.
    pub item: u16,
}

/// A call of a tool, as proposed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ToolCall {
    /// The model's id of the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments: a JSON object in canonical form.
    pub arguments: Box<RawValue>,
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.tool == other.tool
            && self.arguments.get() == other.arguments.get()
    }
}

/// A child run: its own journal, an allowance out of the parent's budgets.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChildRun {
    /// The chart to run.
    pub chart: String,
    /// Its goal.
    pub goal: String,
}

/// The answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer<R> {
    /// A model's finished reply.
    Model(Reply),
    /// A tool's result.
    Tool(ToolResult),
    /// How a child ended.
    Child(ChildEnd),
    /// A report of the agent's own.
    Own(R),
    /// Nothing: it failed.
    Fault(Fault),
}

impl<R> Answer<R> {
    /// Returns whether this can answer an order of that kind. A fault answers all.
    pub(crate) const fn fits(&self, kind: OrderKind) -> bool {
        match self {
            Self::Model(_) => matches!(kind, OrderKind::Model),
            Self::Tool(_) => matches!(kind, OrderKind::Tool),
            Self::Child(_) => matches!(kind, OrderKind::Child),
            Self::Own(_) => matches!(kind, OrderKind::Own),
            Self::Fault(_) => true,
        }
    }
}

/// A model's reply: data, never a decision.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// The calls that it proposes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
}

/// A tool's result. A tool that rejects a call has answered; it did not fail.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ToolResult {
    /// Whether it succeeded.
    pub ok: bool,
    /// Its output, as text for the model.
    pub output: String,
    /// Whether it may have changed something.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub mutated: bool,
}

/// How a child run ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChildEnd {
    /// Its disposition.
    pub ended: Disposition,
    /// Its result.
    pub result: String,
}

/// The result of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Settlement<T> {
    /// The job ends in this way.
    Outcome(Outcome),
    /// The same attempt orders more.
    Again(Order<T>),
    /// The attempt failed.
    Failed(Fault),
}

/// Why no answer will settle a visit or an item.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Abandoned {
    /// The last attempt failed, or was not worth repeating.
    Failed(Fault),
    /// The last attempt timed out.
    TimedOut {
        /// What it was waiting for; empty if the chart's own timeout stopped it.
        message: String,
    },
    /// A person or a rule said no.
    Denied {
        /// Their reason.
        reason: String,
    },
    /// The governor found no progress.
    Stuck {
        /// The repetition.
        reason: String,
    },
    /// A budget is used up.
    Budget,
    /// A person cancelled.
    Cancelled,
}
