//! The other half of every job: carrying an order out into the world.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

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
use crate::{store::RunId, watch::ResourceWatch};

/// An order that is on disk, with everything needed to carry it out.
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

/// Receives a model's text while it is written, and a tool's output while the tool runs. It is
/// shown but not stored: the journal has only complete results.
#[derive(Clone, Debug, Default)]
pub struct ProgressSink {
    pieces: Option<mpsc::UnboundedSender<String>>,
    rests: Arc<AtomicBool>,
}

impl ProgressSink {
    /// A sink without an observer.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sends each piece there.
    pub fn to(sender: mpsc::UnboundedSender<String>) -> Self {
        Self { pieces: Some(sender), ..Self::default() }
    }

    /// Shows a piece of text.
    pub fn show(&self, text: &str) {
        if let Some(sender) = self.pieces.as_ref().filter(|_| !text.is_empty()) {
            // An observer that was dropped needs no update.
            drop(sender.send(text.to_owned()));
        }
    }

    /// Records whether the effect does nothing until its run is resumed, as a paused child run does.
    /// A worker that stops waits for no such effect.
    pub(crate) fn rests(&self, rests: bool) {
        self.rests.store(rests, Ordering::Relaxed);
    }

    /// Returns what [`rests`](Self::rests) has recorded, now and later.
    pub(crate) fn resting(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.rests)
    }
}

/// The answer, as the journal stores it.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The answer.
    pub answer: Answer<Body>,
    /// Its cost.
    pub usage: Usage,
    /// The tokens that a provider counted. Only observers learn it: the journal has the cost.
    pub tokens: Option<TokenCount>,
}

/// The tokens of a model call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TokenCount {
    /// Tokens read, those from a cache included.
    pub input: u64,
    /// Tokens written, those of reasoning included.
    pub output: u64,
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

    /// The same answer, with its cost.
    #[must_use]
    pub const fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The same answer, with the tokens that a provider counted.
    #[must_use]
    pub const fn counting(mut self, tokens: TokenCount) -> Self {
        self.tokens = Some(tokens);
        self
    }

    pub(crate) fn answer(answer: Answer<Body>) -> Self {
        Self { answer, usage: Usage::default(), tokens: None }
    }
}

/// A future that a driver can hold.
pub type EffectFuture = Pin<Box<dyn Future<Output = Completion> + Send>>;

/// A check of a call that needs approval: why it cannot run, if that is known.
pub type PrecheckFuture = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// The work after a run has ended.
pub type CleanupFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Carries out orders. Dropping the future must stop its work.
pub trait EffectExecutor: Send + Sync {
    /// Returns the name of the model, for people.
    fn model(&self) -> &str;

    /// Returns the name of the provider and account that are asked, the same for every worker that
    /// asks them; nothing if none is asked. It holds no secret.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// Returns a new watch over the machine, which pauses a run while the machine is short of
    /// something; nothing if none is wanted.
    fn watch(&self) -> Option<ResourceWatch> {
        None
    }

    /// Starts a task.
    fn perform(&self, permit: Permit, task: EffectTask, shown: ProgressSink) -> EffectFuture;

    /// Checks whether a call could run at all, before a person is asked for approval. It must
    /// change nothing and reveal nothing that the run may not already read: the reason goes to the
    /// model. An executor that does not know returns nothing.
    fn check(&self, run: &RunId, call: &ToolCall) -> Option<PrecheckFuture> {
        let _ = (run, call);
        None
    }

    /// Reports that a run was paused or resumed: its children follow.
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
