//! Events. Facts only: past tense, no opinions, never rewritten.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    agent::{Answer, ToolCall},
    chart::Charge,
    governor::{Grant, Permissions},
    id::{At, Digest, EffectId},
    tool::ToolDecl,
};

/// An event and when it was seen.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Observed<R> {
    /// When; the driver never lets it fall.
    pub at: At,
    /// What.
    pub event: Event<R>,
}

/// Everything that can happen to a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<R> {
    /// The run was started: always the first entry.
    Begun(Box<RunConfig>),
    /// A person or another system gave something that an await state waits for.
    Given {
        /// The event, by its place among the agent's events.
        event: u16,
        /// What came with it.
        body: Box<RawValue>,
    },
    /// An effect was answered.
    Answered {
        /// The effect.
        effect: EffectId,
        /// The answer.
        answer: Answer<R>,
        /// Its cost.
        #[serde(default, skip_serializing_if = "Usage::is_nothing")]
        usage: Usage,
        /// When it was sent, where it came as a message: one that was sent too late counts for
        /// nothing, however late it is seen. Without it, it was in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<At>,
    },
    /// A person decided over a call that was held for them.
    ApprovalAnswered {
        /// The question.
        effect: EffectId,
        /// The call that was decided over: an answer to another one is refused.
        call: Digest,
        /// Whether the call may run.
        granted: bool,
        /// Why.
        reason: String,
        /// What to do with calls like it from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<Grant>,
        /// When it was sent, where it came as a message: see [`Answered`](Self::Answered).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<At>,
    },
    /// The run's one wake-up time came.
    Woke,
    /// A person asked it to stop.
    Cancelled {
        /// How much of it.
        scope: Scope,
    },
    /// Starts were stopped.
    Paused {
        /// Why.
        why: String,
        /// Its author, the only one who may lift it. Without an author, anyone may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Pauser>,
    },
    /// A person resumed the run: every pause is lifted.
    Resumed,
    /// The author of a pause lifted it. Starts continue unless another pause stands.
    Lifted {
        /// Who.
        by: Pauser,
    },
    /// The process that drove the run stopped without a word, and another one resumes it. The time
    /// in between counts only towards a person's deadline.
    Interrupted {
        /// Effects that were started and not answered: they may or may not have been done.
        under_way: Vec<UnansweredEffect>,
        /// Whether calls that are made again count towards the certificate. Journals of
        /// builds that did not count them lack it.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        counted: bool,
    },
    /// The run shares all entries before this one with another run and continues on its own: rules
    /// that a person allowed for the other one no longer apply.
    Forked,
    /// A person permits more than the chart does.
    Granted {
        /// More of what.
        charge: Charge,
        /// How much more.
        amount: u64,
    },
}

/// Who can pause a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pauser {
    /// A person.
    Person,
    /// The parent of a child run, which is paused itself.
    Parent,
    /// The watch over the machine, which is short of something.
    Machine,
    /// The queue: no worker drives the run, and the next one lifts the pause.
    Worker,
    /// The provider of the run's model, which accepts no requests for a while.
    Gate,
}

/// An effect that was started and not answered.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct UnansweredEffect {
    /// The effect.
    pub effect: EffectId,
    /// The call, where it is a tool's: what to do about it is the tool's to declare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
}

impl<R> Event<R> {
    /// Returns the event's name, as in the journal.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Begun(_) => "begun",
            Self::Given { .. } => "given",
            Self::Answered { .. } => "answered",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::Woke => "woke",
            Self::Cancelled { .. } => "cancelled",
            Self::Paused { .. } => "paused",
            Self::Resumed => "resumed",
            Self::Lifted { .. } => "lifted",
            Self::Interrupted { .. } => "interrupted",
            Self::Forked => "forked",
            Self::Granted { .. } => "granted",
        }
    }

    /// Returns the oldest journal format that can express it.
    pub const fn format(&self) -> u16 {
        let is_new = match self {
            Self::Answered { sent, .. } | Self::ApprovalAnswered { sent, .. } => sent.is_some(),
            Self::Paused { by, .. } => by.is_some(),
            Self::Lifted { .. } => true,
            Self::Begun(begun) => begun.queued,
            Self::Given { .. }
            | Self::Woke
            | Self::Cancelled { .. }
            | Self::Resumed
            | Self::Interrupted { .. }
            | Self::Forked
            | Self::Granted { .. } => false,
        };
        if is_new { 2 } else { 1 }
    }
}

/// A run's configuration: fixed at its start, so that no later change touches it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunConfig {
    /// The chart's name, for people.
    pub chart: String,
    /// The chart's declared version, for people.
    pub version: u32,
    /// The digest of the run's chart.
    pub digest: Digest,
    /// The seed for the jitter of retries.
    pub seed: u64,
    /// The permissions.
    pub permissions: Permissions,
    /// The declarations of the tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDecl>,
    /// Whether the host checks every call that needs approval before it asks, so that a call which
    /// cannot run fails at once. Then even an unattended run leaves such a call to the host first.
    /// Older journals have no such field.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub checks: bool,
    /// Whether the run waits in a queue: it starts paused, until a worker lifts that.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub queued: bool,
    /// The agent's own configuration.
    pub config: Box<RawValue>,
    /// The workspace and the model of the run, for resuming it. No step uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<RawValue>>,
}

/// The cost of an answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Millionths of a currency unit.
    pub money: u64,
    /// Actions that ended outside the app.
    pub outside_app: u64,
    /// Calls of a model that a child run made, out of its allowance.
    pub model_calls: u64,
    /// Calls of a tool that a child run made, out of its allowance.
    pub tool_calls: u64,
}

impl Usage {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How much is cancelled.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// The run.
    Run,
    /// The work until the run next waits for a person.
    Turn,
    /// The run, cleanly.
    Shutdown,
}

impl Scope {
    /// Returns the name that `[any]` has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "cancel",
            Self::Turn => "cancel_turn",
            Self::Shutdown => "shutdown",
        }
    }
}
