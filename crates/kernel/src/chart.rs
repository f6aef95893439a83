//! The verified chart: dense, immutable, and only ever made by `check`.
//!
//! Parse, don't validate: a [`Chart`] value exists only if every rule of
//! [`verify`] holds, so nothing that runs one has to ask again.

mod authority;
mod budgets;
mod build;
mod certificate;
mod draft;
mod exact;
mod levels;
mod limits;
mod loops;
mod paced;
mod parameters;
mod reach;
mod read;
mod resolve;
mod routes;
mod slots;
mod stuck;
mod table;
mod verify;

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use authority::{AuthorityReport, InfluencedEdge};
pub use budgets::{BadMaximum, Maximum, with_budgets};
pub use build::{ChartBuilder, StateBuilder};
pub use certificate::{Certificate, CertificateScope};
pub(crate) use draft::Spanned;
pub use stuck::{ScreenStall, StuckThresholds};
pub use verify::{RefusedChart, verify};

use crate::{
    id::{BudgetId, Digest, JobId, Outcome, StateId},
    job::{Charges, Governance, Influence},
};

/// A track plan that was found to halt.
#[derive(Debug)]
pub struct Chart {
    pub(crate) name: Box<str>,
    pub(crate) version: u32,
    pub(crate) digest: Digest,
    pub(crate) jobs: Box<str>,
    pub(crate) authority: Authority,
    pub(crate) start: StateId,
    pub(crate) states: Box<[State]>,
    pub(crate) budgets: Box<[Budget]>,
    pub(crate) any: AnyState,
    pub(crate) stuck: StuckThresholds,
    pub(crate) slots: Box<[Box<str>]>,
    pub(crate) needs: Box<[Box<str>]>,
    pub(crate) filled: Box<[(Box<str>, serde_json::Value)]>,
    pub(crate) certificate: Certificate,
    pub(crate) report: AuthorityReport,
}

/// How much a model may decide, from least to most.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Authority {
    /// It writes text; no route depends on it.
    #[default]
    Text,
    /// It picks from a list that the host enumerated.
    Choose,
    /// It proposes tool calls, which the governor judges.
    Propose,
}

impl Authority {
    /// Returns whether the level admits that much influence on a route.
    pub const fn admits(self, influence: Influence) -> bool {
        match influence {
            Influence::None => true,
            Influence::Choice => matches!(self, Self::Choose | Self::Propose),
            Influence::Proposal => matches!(self, Self::Propose),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Disposition {
    /// It succeeded.
    Succeeded,
    /// It could not.
    Failed,
    /// A person stopped it.
    Cancelled,
    /// A limit stopped it.
    Budget,
    /// Nothing new was learnt.
    Stuck,
    /// A permission was refused.
    Denied,
}

impl Disposition {
    /// Returns its name, as charts and journals write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Budget => "budget",
            Self::Stuck => "stuck",
            Self::Denied => "denied",
        }
    }
}

/// One state of a chart.
#[derive(Debug)]
pub struct State {
    pub(crate) name: Box<str>,
    pub(crate) kind: StateKind,
    /// Every way out, the job's own first; `Outcome` is the index.
    pub(crate) routes: Box<[Route]>,
    pub(crate) kernel_outcomes: KernelOutcomes,
    pub(crate) tools: AllowedTools,
    pub(crate) with: Option<Box<RawValue>>,
}

/// The kind of a state.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateKind {
    /// Runs a job with effects.
    Run(Work),
    /// Settles a pure job within the step.
    Decide(JobId),
    /// Waits for one of these events, in the order of the state's ways.
    Await {
        /// The agent's numbers of the events.
        events: Box<[u16]>,
        /// How long it waits before it continues by `timeout`.
        timeout: Option<u64>,
    },
    /// Runs a job once per item of a list.
    FanOut {
        /// The job and its limits, each item's.
        work: Work,
        /// The agent's number of the list.
        over: u16,
        /// The pure job that joins the results.
        join: JobId,
        /// The most items in progress at once.
        max_parallel: u16,
        /// Items at most; those beyond are refused one by one.
        max_items: u16,
    },
    /// Ends the run.
    Final(Disposition),
    /// A label that is shown while another state waits for its next attempt.
    BetweenAttemptsOf(StateId),
    /// A label that is shown while a person decides about a call of another state.
    WhileAsking(StateId),
}

/// A job with effects and the limits of its attempts.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The job.
    pub job: JobId,
    /// Whether the governor watches it.
    pub governed: Governance,
    /// Orders per attempt.
    pub tasks: u8,
    /// The most that one attempt can charge.
    pub worst: Charges,
    /// Limits of one visit, or of one item.
    pub attempts: Attempts,
    /// Whether it waits for a person, which costs no time.
    pub person: bool,
}

/// How often and how long a job is tried. Attempts count the first try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attempts {
    /// Attempts at most.
    pub max: u16,
    /// Milliseconds that one attempt may take.
    pub timeout: u64,
    /// Waiting time after the first failed attempt, in milliseconds.
    pub base: u64,
    /// Waiting time at most.
    pub cap: u64,
    /// A provider's hint above this makes the attempt the last.
    pub hint_cap: u64,
    /// Milliseconds that a person has to answer.
    pub ask_timeout: u64,
}

/// One way out of a state.
#[derive(Debug)]
pub struct Route {
    pub(crate) name: Box<str>,
    pub(crate) edge: Edge,
    pub(crate) influence: Influence,
}

/// Where an outcome leads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Edge {
    /// The next state.
    pub to: StateId,
    /// The budget that going there spends.
    pub spend: Option<BudgetId>,
}

/// The outcomes that the kernel adds, where the state has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelOutcomes {
    /// Attempts used up, or not repeatable.
    pub failed: Option<Outcome>,
    /// The last attempt timed out; the same as `failed` where not routed.
    pub timeout: Option<Outcome>,
    /// The governor found no progress.
    pub stuck: Option<Outcome>,
    /// A permission was refused.
    pub denied: Option<Outcome>,
}

/// The tools that a state allows: never an empty list that means all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AllowedTools {
    /// Not one.
    #[default]
    None,
    /// Every tool of the registry.
    All,
    /// These.
    Only(Box<[Box<str>]>),
}

impl AllowedTools {
    /// Returns whether the state allows the tool.
    pub fn allow(&self, tool: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(list) => list.iter().any(|allowed| **allowed == *tool),
        }
    }
}

/// A limit, and what happens beyond it.
#[derive(Debug)]
pub struct Budget {
    pub(crate) name: Box<str>,
    pub(crate) max: u64,
    pub(crate) charge: Option<Charge>,
    pub(crate) reset: Option<Reset>,
    pub(crate) otherwise: StateId,
    /// The budgets to refill when this one is spent or refilled.
    pub(crate) refills: Box<[BudgetId]>,
}

/// Units that the kernel counts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Charge {
    /// Visits of states that are not final.
    Step,
    /// Calls of a model.
    ModelCall,
    /// Calls of a tool.
    ToolCall,
    /// Tokens, read and written.
    Token,
    /// Taps, keys, clicks.
    Interaction,
    /// Actions of the agent's own: a tap, a text, a restart.
    Action,
    /// Actions that ended outside the app.
    OutsideApp,
    /// Milliseconds, except those spent waiting for a person.
    Time,
    /// Millionths of a currency unit.
    Money,
}

impl Charge {
    /// Returns the name that charts have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::ModelCall => "model_call",
            Self::ToolCall => "tool_call",
            Self::Token => "token",
            Self::Interaction => "interaction",
            Self::Action => "action",
            Self::OutsideApp => "outside_app",
            Self::Time => "time",
            Self::Money => "money",
        }
    }
}

/// What refills a budget.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reset {
    /// A received event.
    Await,
    /// Spending an earlier budget.
    Spending(BudgetId),
}

/// Where a run goes from any state that is not final.
#[derive(Clone, Copy, Debug)]
pub struct AnyState {
    /// When it is cancelled.
    pub cancel: StateId,
    /// When only the turn is.
    pub cancel_turn: Option<StateId>,
    /// When it is asked to shut down.
    pub shutdown: Option<StateId>,
}
