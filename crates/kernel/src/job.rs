//! What `check` knows of a job: its name, its outcomes, and its worst case.
//!
//! Declarations are constants beside the job's pure halves, in the agent's crate.

use serde::{Deserialize, Serialize};

use crate::id::{JobId, Outcome};

/// A job as its author declares it.
#[derive(Clone, Copy, Debug)]
pub struct JobDecl {
    /// The name that charts use, such as `form.fill`.
    pub name: &'static str,
    /// In which kind of state it may stand.
    pub kind: JobKind,
    /// The named ways it can end, and how far model output can influence each.
    pub outcomes: &'static [(&'static str, Influence)],
    /// Whether the chart names further outcomes itself, as for `match`.
    pub open: Option<Influence>,
    /// Whether an attempt can fail, which adds `failed` and `timeout`, and how
    /// far model output can bring about `failed`.
    pub fails: Option<Influence>,
    /// Whether the governor watches it, which adds further outcomes.
    pub governed: Governed,
    /// Orders per attempt, those that `Settled::Again` adds included.
    pub tasks: u8,
    /// The most that one attempt can charge.
    pub worst: Charges,
    /// The keys of the chart's `with` table, for jobs that take any.
    pub with: &'static [Param],
}

/// In which kind of state a job may stand.
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
pub enum Governed {
    /// No: the host does what it does.
    #[default]
    No,
    /// Its turns are judged: adds `stuck`.
    Turns,
    /// It starts proposed tool calls, each judged: adds `stuck` and, outside a
    /// fan-out, `denied`.
    Calls,
    /// It starts tool calls of the agent's own, which no model proposed: permissions are
    /// asked, nobody is stuck. Adds `denied`, which no model output can bring about.
    Own,
}

impl Governed {
    /// Returns whether it starts tool calls.
    pub const fn calls(self) -> bool {
        matches!(self, Self::Calls | Self::Own)
    }
}

/// What one attempt can charge at most.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Charges {
    /// Calls of a model.
    pub model_calls: u32,
    /// Calls of a tool.
    pub tool_calls: u32,
    /// Taps, keys, clicks.
    pub interactions: u32,
}

/// A key of a state's `with` table.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key.
    pub name: &'static str,
    /// Whether the chart must give it.
    pub required: bool,
    /// What it must be.
    pub shape: Shape,
}

/// What a parameter must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// Anything.
    Any,
}

impl JobDecl {
    /// A `run` job that orders one task of the host's own and can fail.
    pub const RUN: Self = Self {
        name: "",
        kind: JobKind::Run,
        outcomes: &[],
        open: None,
        fails: Some(Influence::None),
        governed: Governed::No,
        tasks: 1,
        worst: Charges { model_calls: 0, tool_calls: 0, interactions: 0 },
        with: &[],
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

/// What a chart may name: the agents with their jobs, and the tools.
#[derive(Clone, Copy, Debug)]
pub struct Registry<'a> {
    /// The agents whose jobs, events and data a chart can use.
    pub agents: &'a [AgentDecl],
    /// Every tool that a state may allow.
    pub tools: &'a [&'a str],
    /// Charts that the `agent` job may start, with what each certifies.
    pub children: &'a [Child<'a>],
}

/// The constants of an agent that `check` reads.
#[derive(Clone, Copy, Debug)]
pub struct AgentDecl {
    /// Its name, as in `jobs = "form"`.
    pub name: &'static str,
    /// Its jobs.
    pub jobs: &'static [JobDecl],
    /// The events that its await states can wait for.
    pub events: &'static [&'static str],
    /// The lists that its fan-outs can run over.
    pub lists: &'static [&'static str],
}

/// A chart that can run as a child.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// The chart's name.
    pub name: &'a str,
    /// What one child run can cost at most.
    pub certificate: crate::chart::Certificate,
}
