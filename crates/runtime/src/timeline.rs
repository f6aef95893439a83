//! The timeline of a run: its journal as typed items.
//!
//! Everything that shows a run reads these items: a driver gives them to observers, step by
//! step, and [`Timeline`] reads the same ones from the journal, from any entry on.
//! As JSON they are described in `docs/timeline.md`.

pub(crate) mod describe;
mod project;
mod read;

use pointsman_kernel::{
    agent::{Answer, OrderKind, ToolCall},
    body::Body,
    chart::{Charge, Disposition},
    effect::Hop,
    event::{Pauser, Scope, Usage},
    governor::{Level, Verdict},
    id::{At, EffectId, Seq},
    turn::TurnError,
};
use serde::{Deserialize, Serialize, Serializer};

use crate::observe::Question;

pub use describe::{SUMMARISED, words};
pub(crate) use project::{Before, Step, project};
pub use read::{Projector, Timeline};

/// The version of the items' JSON. Kinds and fields may be added to it without another number.
pub const TIMELINE_VERSION: u16 = 1;

/// One fact of a run, from its journal.
#[derive(Clone, Debug, Serialize)]
pub struct TimelineItem {
    /// The entry.
    pub seq: Seq,
    /// The item's position among those of its entry. Both together identify it.
    pub index: u16,
    /// Milliseconds since the run began.
    pub at: At,
    /// Its kind.
    #[serde(flatten)]
    pub kind: TimelineKind,
}

/// The kind of an item. The first group are events, one for each entry, under the journal's own
/// names; the others follow from the event.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TimelineKind {
    /// The run was started.
    Begun {
        /// The chart's name.
        chart: Box<str>,
        /// The chart's declared version.
        version: u32,
    },
    /// Something was said to the run.
    Given {
        /// The agent's name for it.
        event: Box<str>,
        /// The words, where it holds some.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// An effect was answered.
    Answered {
        /// The effect.
        #[serde(serialize_with = "shown")]
        effect: EffectId,
        /// The action, in a few words; empty if it was only a person's answer.
        did: Box<str>,
        /// Whether it succeeded.
        ok: bool,
        /// The answer, in a few words.
        what: Box<str>,
        /// Whether it is internal to the agent, such as a summary, and not a reply to a person.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        aside: bool,
        /// The call, where it is a tool's.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<Box<ToolCall>>,
        /// The whole answer.
        answer: Box<Answer<Body>>,
        /// Its cost.
        usage: Usage,
    },
    /// A person decided over a call, or its question expired.
    ApprovalAnswered {
        /// The question.
        #[serde(serialize_with = "shown")]
        effect: EffectId,
        /// Whether the call may run.
        granted: bool,
        /// Why.
        reason: Box<str>,
        /// The call.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<Box<ToolCall>>,
    },
    /// The run's wake-up time came.
    Woke,
    /// A person asked it to stop.
    Cancelled {
        /// How much of it.
        scope: Scope,
    },
    /// Starts were stopped.
    Paused {
        /// Why.
        why: Box<str>,
        /// Who paused it, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<Pauser>,
    },
    /// One who paused the run lifted that pause.
    Lifted {
        /// Who.
        by: Pauser,
        /// Whether another pause is left.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        still_paused: bool,
    },
    /// The run was resumed.
    Resumed,
    /// The process that drove the run ended, and another one resumed it.
    Interrupted,
    /// The run shares the entries before this one with another run.
    Forked,
    /// A person permitted more than the chart does.
    Granted {
        /// More of what.
        charge: Charge,
        /// How much more.
        amount: u64,
    },
    /// An entry of a run whose agent this process does not know, as far as it can be read.
    Raw {
        /// The event's name.
        event: Box<str>,
        /// The transitions, by the numbers of their states.
        hops: Vec<Hop>,
    },

    /// An attempt failed though nothing answered with a fault: its answer would not do, or its
    /// time was up.
    Failed {
        /// Why.
        why: Box<str>,
    },
    /// A transition was taken.
    Transition {
        /// The state that was left; none at the very start.
        from: Option<Box<str>>,
        /// The state that was entered; none where the run ended where it was.
        to: Option<Box<str>>,
        /// Why.
        reason: Box<str>,
        /// The budget that was spent.
        #[serde(skip_serializing_if = "Option::is_none")]
        spent: Option<Box<str>>,
        /// Milliseconds that were spent in the state that was left.
        ms: u64,
    },
    /// The run is at something new, such as the phase of a plan; nothing where it is at none.
    Stage {
        /// What, in a line.
        text: Option<Box<str>>,
    },
    /// The governor ruled something other than a plain yes.
    Verdict(Verdict),
    /// A failed attempt is repeated after a while.
    Retrying {
        /// The attempt that comes next.
        attempt: u16,
        /// Milliseconds until then.
        wait_ms: u64,
    },
    /// An effect was started.
    Started {
        /// The effect.
        #[serde(serialize_with = "shown")]
        effect: EffectId,
        /// The attempt; the first is 1.
        attempt: u16,
        /// Who carries it out.
        by: OrderKind,
        /// The action, in a few words.
        what: Box<str>,
        /// The call, where it is a tool's.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<Box<ToolCall>>,
        /// Whether it had been started before the run was interrupted.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        again: bool,
        /// Whether the call turned out to be impossible before a person was asked for it, so
        /// that in truth nothing was started.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        only_checked: bool,
    },
    /// A person is needed. [`LiveNotice::Ask`](crate::observe::LiveNotice::Ask) tells observers
    /// when to ask the question.
    Asked(Question),
    /// An abandoned effect was stopped.
    Stopped {
        /// The effect.
        #[serde(serialize_with = "shown")]
        effect: EffectId,
    },
    /// The run waits for a word: a turn is over, or none has begun.
    Listens {
        /// Why the turn has no answer, where it has none.
        error: Option<TurnError>,
    },
    /// The run ended: always the last item.
    Ended {
        /// How.
        disposition: Disposition,
    },
}

impl TimelineKind {
    /// Returns the event's name, as in the journal, where this is the item of an event.
    pub fn event(&self) -> Option<&str> {
        match self {
            Self::Raw { event, .. } => Some(event),
            Self::Failed { .. }
            | Self::Transition { .. }
            | Self::Stage { .. }
            | Self::Verdict(_)
            | Self::Retrying { .. }
            | Self::Started { .. }
            | Self::Asked(_)
            | Self::Stopped { .. }
            | Self::Listens { .. }
            | Self::Ended { .. } => None,
            _ => Some(self.name()),
        }
    }

    /// Returns its name: `kind` as JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Begun { .. } => "begun",
            Self::Given { .. } => "given",
            Self::Answered { .. } => "answered",
            Self::ApprovalAnswered { .. } => "approval_answered",
            Self::Woke => "woke",
            Self::Cancelled { .. } => "cancelled",
            Self::Paused { .. } => "paused",
            Self::Resumed => "resumed",
            Self::Lifted { .. } => "lifted",
            Self::Interrupted => "interrupted",
            Self::Forked => "forked",
            Self::Granted { .. } => "granted",
            Self::Raw { .. } => "raw",
            Self::Failed { .. } => "failed",
            Self::Transition { .. } => "transition",
            Self::Stage { .. } => "stage",
            Self::Verdict(_) => "verdict",
            Self::Retrying { .. } => "retrying",
            Self::Started { .. } => "started",
            Self::Asked(_) => "asked",
            Self::Stopped { .. } => "stopped",
            Self::Listens { .. } => "listens",
            Self::Ended { .. } => "ended",
        }
    }

    /// Returns the whole text of a tool's result, a fault or a model's reply; nothing for answers
    /// that are internal to the agent.
    pub fn output(&self) -> Option<&str> {
        match self {
            Self::Answered { answer, aside, .. } => describe::output(answer, *aside),
            _ => None,
        }
    }
}

/// Returns whether a verdict says that nothing new is learnt, and stops the job.
pub fn is_stuck(verdict: &Verdict) -> bool {
    !verdict.rule.is_permission() && verdict.level >= Level::Refuse
}

/// Calls and their cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Spent {
    /// Calls of a model that were started.
    pub model_calls: u64,
    /// Calls of a tool that were started.
    pub tool_calls: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Millionths of a currency unit.
    pub money: u64,
}

impl Spent {
    /// Counts an item.
    pub fn add(&mut self, item: &TimelineItem) {
        match &item.kind {
            TimelineKind::Started { by, only_checked: false, .. } => match by {
                OrderKind::Model => self.model_calls += 1,
                OrderKind::Tool => self.tool_calls += 1,
                _ => {}
            },
            TimelineKind::Answered { usage, .. } => {
                self.tokens = self.tokens.saturating_add(usage.tokens);
                self.money = self.money.saturating_add(usage.money);
            }
            _ => {}
        }
    }

    /// Adds calls and their cost.
    pub const fn merge(&mut self, other: &Self) {
        self.model_calls += other.model_calls;
        self.tool_calls += other.tool_calls;
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.money = self.money.saturating_add(other.money);
    }

    /// Returns what items cost together.
    pub fn of(items: &[TimelineItem]) -> Self {
        let mut spent = Self::default();
        for item in items {
            spent.add(item);
        }
        spent
    }
}

/// Writes an effect as people and commands name it.
pub(crate) fn shown<S: Serializer>(effect: &EffectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(effect)
}
