//! What `check` knows of a job: its name, its outcomes, and its worst case.
//!
//! Declarations are constants next to the job's pure halves, in the agent's crate.

use serde::{Deserialize, Serialize};

use crate::{
    id::{JobId, Outcome},
    tool::ToolOffer,
};

/// A job as its author declares it.
#[derive(Clone, Copy, Debug)]
pub struct JobDecl {
    /// The name that charts use, such as `form.fill`.
    pub name: &'static str,
    /// The kind of states for it.
    pub kind: JobKind,
    /// The named ways it can end, and how far model output can influence each.
    pub outcomes: &'static [(&'static str, Influence)],
    /// Whether the chart names further outcomes itself, as for `match`.
    pub open: Option<Influence>,
    /// Whether an attempt can fail, which adds `failed` and `timeout`, and how
    /// far model output can bring about `failed`.
    pub fails: Option<Influence>,
    /// Whether the governor watches it, which adds further outcomes.
    pub governed: Governance,
    /// Orders per attempt, including those that `Settlement::Again` adds.
    pub tasks: u8,
    /// The most that one attempt can charge.
    pub worst: Charges,
    /// The keys of the chart's `with` table, for jobs that take any.
    pub with: &'static [Param],
    /// Whose words its result holds, and whose doing its outcomes are.
    pub words: TextOrigin,
    /// The tool that it always calls, if it calls one that `with` does not name.
    pub calls: Option<&'static str>,
    /// Milliseconds that an attempt has where the state says nothing. Jobs without it take
    /// the chart's default.
    pub usual_timeout: Option<u64>,
    /// Whether it waits for a person, which costs no time.
    pub person: bool,
}

/// Whose words a job's result holds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum TextOrigin {
    /// A model's, or unknown.
    #[default]
    Model,
    /// A model's where its parameters hold a model's words. Else neither the result nor the
    /// way it ends is the model's doing.
    Parameters,
    /// From elsewhere, whatever the parameters contain: a person's answer.
    Others,
}

/// The kind of states for a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum JobKind {
    /// `run`, and the `run` of a `fan_out`: it orders effects.
    Run,
    /// `decide`: pure, settled within the step.
    Decide,
    /// The `join` of a `fan_out`: pure, called when every item is done.
    Join,
}

/// How far model output can bring about an outcome, from not at all to most.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Influence {
    /// Not at all.
    #[default]
    None,
    /// By picking from a list that the host enumerated.
    Choice,
    /// By proposing an action.
    Proposal,
}

/// Whether the governor watches a job.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Governance {
    /// No: the host carries it out.
    #[default]
    No,
    /// Its turns are judged: adds `stuck`.
    Turns,
    /// It starts proposed tool calls, each judged: adds `stuck` and, outside a
    /// fan-out, `denied`.
    Calls,
    /// It starts the agent's own tool calls, which no model proposed: permissions apply, but the
    /// calls cannot be stuck. Adds `denied`, which no model output can cause.
    Own,
}

impl Governance {
    /// Returns whether it starts tool calls.
    pub const fn calls(self) -> bool {
        matches!(self, Self::Calls | Self::Own)
    }
}

/// The most that one attempt can charge.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Charges {
    /// Calls of a model.
    pub model_calls: u32,
    /// Calls of a tool.
    pub tool_calls: u32,
    /// Taps, keys, clicks.
    pub interactions: u32,
    /// Actions, as a person would count them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub actions: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Charges {
    /// Nothing.
    pub const NONE: Self = Self { model_calls: 0, tool_calls: 0, interactions: 0, actions: 0 };
}

/// A key of a state's `with` table.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key.
    pub name: &'static str,
    /// Whether the chart must give it.
    pub required: bool,
    /// Its type.
    pub shape: ParamShape,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParamShape {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// Anything.
    Any,
    /// A text with `{slot}` placeholders.
    Template,
    /// A list of texts with `{slot}` placeholders, except in the first.
    Command,
    /// The name of a slot that the job reads.
    Slot,
    /// The name of the slot that the job fills.
    Into,
    /// A list of different texts, one at least.
    Choices,
    /// The name of the tool that the job calls.
    Tool,
    /// The arguments of that tool: a table, in whose texts `{slot}` is filled.
    Arguments,
}

impl JobDecl {
    /// A `run` job that orders one task of the host's own and can fail.
    pub const RUN: Self = Self {
        name: "",
        kind: JobKind::Run,
        outcomes: &[],
        open: None,
        fails: Some(Influence::None),
        governed: Governance::No,
        tasks: 1,
        worst: Charges::NONE,
        with: &[],
        words: TextOrigin::Model,
        calls: None,
        usual_timeout: None,
        person: false,
    };
    /// A `decide` job.
    pub const DECIDE: Self = Self { kind: JobKind::Decide, fails: None, tasks: 0, ..Self::RUN };
    /// A `join` job.
    pub const JOIN: Self = Self { kind: JobKind::Join, ..Self::DECIDE };

    /// Returns the outcome of that name; a name that is not declared does not compile.
    ///
    /// Meant for constants: `const READY: Outcome = SETTLE.outcome("ready");`.
    ///
    /// # Panics
    ///
    /// At compile time, if the job declares no such outcome.
    #[expect(clippy::panic, reason = "reached at compile time only, where it is the message")]
    pub const fn outcome(&self, name: &str) -> Outcome {
        let mut at: u8 = 0;
        let mut rest = self.outcomes;
        while let [(first, _), tail @ ..] = rest {
            if same(first, name) {
                return Outcome(at);
            }
            at = at.saturating_add(1);
            rest = tail;
        }
        panic!("the job declares no outcome of that name")
    }
}

/// Returns the id of a job within its agent's list; a missing name does not compile.
///
/// # Panics
///
/// At compile time, if the list has no such job.
#[expect(clippy::panic, reason = "reached at compile time only, where it is the message")]
pub const fn job_id(jobs: &[JobDecl], name: &str) -> JobId {
    let mut at: u16 = 0;
    let mut rest = jobs;
    while let [first, tail @ ..] = rest {
        if same(first.name, name) {
            return JobId(at);
        }
        at = at.saturating_add(1);
        rest = tail;
    }
    panic!("the agent declares no job of that name")
}

const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([l, ls @ ..], [r, rs @ ..]) = (left, right) {
        if *l != *r {
            return false;
        }
        (left, right) = (ls, rs);
    }
    left.is_empty() && right.is_empty()
}

/// The names that a chart may use: the agents with their jobs, and the tools.
#[derive(Clone, Copy, Debug)]
pub struct Registry<'a> {
    /// The agents whose jobs, events and data a chart can use.
    pub agents: &'a [AgentDecl],
    /// Every tool that a state may allow, besides those of [`SERVERS`].
    pub tools: &'a [ToolShape<'a>],
    /// Charts that the `agent` job may start, with their certificates.
    pub children: &'a [Child<'a>],
}

/// How the names of tools begin that servers offer. Which there are is known when a run
/// starts, so `check` lets them pass.
pub const SERVERS: &str = "mcp.";

/// A tool as `check` knows it.
#[derive(Clone, Copy, Debug)]
pub struct ToolShape<'a> {
    /// Its name.
    pub name: &'a str,
    /// The arguments that it takes, and no others; nothing where that is not known.
    pub takes: Option<&'a [Argument<'a>]>,
}

impl<'a> ToolShape<'a> {
    /// A tool that takes these arguments and no others.
    pub const fn new(name: &'a str, takes: &'a [Argument<'a>]) -> Self {
        Self { name, takes: Some(takes) }
    }

    /// A tool with only its name.
    pub const fn named(name: &'a str) -> Self {
        Self { name, takes: None }
    }
}

/// An argument of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether every call must give it.
    pub required: bool,
    /// Its type.
    pub kind: ArgumentKind,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number,
    /// A list of texts.
    Texts,
    /// Anything.
    Any,
}

/// A slot that every run of an agent has.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its name.
    pub name: &'static str,
    /// What fills it.
    pub filled: SlotSource,
}

/// What fills a slot that every run has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlotSource {
    /// The person or program that starts the run.
    Start,
    /// An event, with a person's words.
    Event,
    /// Any error, possibly with a model's words.
    Error,
}

/// The constants of an agent, for `check` and for hosts.
#[derive(Clone, Copy, Debug)]
pub struct AgentDecl {
    /// Its name, as in `jobs = "form"`.
    pub name: &'static str,
    /// Its purpose, in a few words.
    pub about: &'static str,
    /// What its decisions rest on, as text that changes with them: a version, or a digest of
    /// its sources. Snapshots of its runs are used only under the same revision; without one
    /// none are made, and every run is folded from its first entry.
    pub revision: &'static str,
    /// Its jobs.
    pub jobs: &'static [JobDecl],
    /// The events that its await states can wait for.
    pub events: &'static [&'static str],
    /// The lists that its fan-outs can run over.
    pub lists: &'static [&'static str],
    /// The slots that every run has, for agents whose data is slots.
    pub slots: &'static [Slot],
    /// How it holds conversations, if it does: people speak to it, and it answers in turns.
    pub conversation: Option<ConversationStyle>,
    /// How it learns of the tools that it may call.
    pub offer: ToolOffer,
    /// The tools that it alone may call.
    pub own_tools: &'static [&'static str],
    /// Whether its runs can call tools that run commands.
    pub commands: bool,
    /// Whether its questions can be answered after the process that asked them has ended.
    pub questions_last: bool,
}

impl AgentDecl {
    /// An agent without jobs.
    pub const NONE: Self = Self {
        name: "",
        about: "",
        revision: "",
        jobs: &[],
        events: &[],
        lists: &[],
        slots: &[],
        conversation: None,
        offer: ToolOffer::None,
        own_tools: &[],
        commands: true,
        questions_last: true,
    };

    /// Returns whether it holds conversations.
    pub const fn converses(&self) -> bool {
        self.conversation.is_some()
    }

    /// Returns whether it works by a plan of phases and reports at its end.
    pub const fn plans(&self) -> bool {
        matches!(self.conversation, Some(ConversationStyle::Planned))
    }

    /// Returns the job of that name.
    pub fn job(&self, name: &str) -> Option<&'static JobDecl> {
        self.jobs.iter().find(|job| job.name == name)
    }
}

/// How an agent holds a conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConversationStyle {
    /// It answers messages; its result was already said.
    Open,
    /// It works by a plan of phases, and reports at its end what became of them.
    Planned,
}

/// A chart that can run as a child.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// The chart's name.
    pub name: &'a str,
    /// The worst case of one child run.
    pub certificate: crate::chart::Certificate,
}
