//! The other half of every job: carrying an order out into the world.

use std::{future::Future, pin::Pin};

use pointsman_kernel::{
    agent::{Answer, ChildEnd, ChildRun, Fault, FaultClass, Reply, ToolCall, ToolResult},
    body::Body,
    chart::Disposition,
    event::Usage,
    job::AgentDecl,
    prompt::Prompt,
};
use serde::Serialize;
use tokio::sync::mpsc;

pub use crate::journal::Permit;
use crate::store::RunId;

/// An order that is on disk, with what is needed to carry it out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EffectTask {
    /// Ask a model this.
    Model(Prompt),
    /// Call this tool.
    Tool(ToolCall),
    /// Run this chart to its end.
    Child(ChildRun),
    /// Do something of the agent's own.
    Own(Body),
}

/// Where a model's text goes while it is still being written, and a tool's output while
/// it still runs. It is shown and not kept: only what is finished is.
#[derive(Clone, Debug, Default)]
pub struct ProgressSink(Option<mpsc::UnboundedSender<String>>);

impl ProgressSink {
    /// Nobody watches.
    pub const fn nobody() -> Self {
        Self(None)
    }

    /// Sends each piece there.
    pub const fn to(sender: mpsc::UnboundedSender<String>) -> Self {
        Self(Some(sender))
    }

    /// Shows a piece of text.
    pub fn show(&self, text: &str) {
        if let Some(sender) = self.0.as_ref().filter(|_| !text.is_empty()) {
            // Who has stopped watching need not be told.
            drop(sender.send(text.to_owned()));
        }
    }
}

/// What came back, as the journal will hold it.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The answer.
    pub answer: Answer<Body>,
    /// What it cost.
    pub usage: Usage,
}

impl Completion {
    /// A report of the agent's own.
    pub fn own<T: Serialize>(report: &T) -> Self {
        match Body::of(report) {
            Ok(report) => Self::answer(Answer::Own(report)),
            Err(error) => Self::fault(FaultClass::Contract, false, &error.to_string()),
        }
    }

    /// A model's text.
    pub fn text(text: &str) -> Self {
        Self::reply(Reply { text: text.into(), ..Reply::default() })
    }

    /// A model's finished reply.
    pub fn reply(reply: Reply) -> Self {
        Self::answer(Answer::Model(reply))
    }

    /// A tool's result.
    pub fn tool(ok: bool, output: &str) -> Self {
        Self::result(ToolResult { ok, output: output.into(), mutated: false })
    }

    /// A tool's result, with whether it may have changed something.
    pub fn result(result: ToolResult) -> Self {
        Self::answer(Answer::Tool(result))
    }

    /// How a child run ended.
    pub fn child(end: ChildEnd) -> Self {
        Self::answer(Answer::Child(end))
    }

    /// A fault.
    pub fn fault(class: FaultClass, repeatable: bool, message: &str) -> Self {
        Self::failed(Fault { class, repeatable, hint_ms: None, message: message.into() })
    }

    /// A fault that may carry a hint.
    pub fn failed(fault: Fault) -> Self {
        Self::answer(Answer::Fault(fault))
    }

    /// The same answer, with what it cost.
    #[must_use]
    pub const fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    pub(crate) fn answer(answer: Answer<Body>) -> Self {
        Self { answer, usage: Usage::default() }
    }
}

/// A future that a driver can hold.
pub type EffectFuture = Pin<Box<dyn Future<Output = Completion> + Send>>;

/// A look at a call that a person is to decide over: why it cannot run, if that is known.
pub type PrecheckFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// What is done when a run has ended.
pub type CleanupFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Carries orders out. Dropping the future must stop what it started.
pub trait EffectExecutor: Send + Sync {
    /// Returns the name of what is asked for text, for people.
    fn model(&self) -> &str;

    /// Starts a task.
    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture;

    /// Looks whether a call could run at all, before a person is asked for it. Must change
    /// nothing, and tell nothing that the run may not read unasked: the reason goes to the
    /// model. A host that cannot tell returns nothing.
    fn check(&self, run: &RunId, call: &ToolCall) -> Option<PrecheckFuture> {
        let _ = (run, call);
        None
    }

    /// Learns that starts of a run are stopped, or go on: its children keep to that.
    fn paused(&self, run: &RunId, paused: bool) {
        let _ = (run, paused);
    }

    /// Learns that a run of an agent has ended, and how: its resources can go. The driver
    /// waits for that.
    fn ended(&self, agent: &AgentDecl, run: &RunId, how: Disposition) -> CleanupFuture {
        let _ = (agent, run, how);
        Box::pin(std::future::ready(()))
    }
}
