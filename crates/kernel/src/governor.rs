//! Verdicts: permissions over proposed calls, and rules over repetition.
//!
//! The governor rules on proposals of a run; it never routes. The strictest rule wins. A verdict
//! is data: it names its rule, the evidence and its entries, and an alternative, and it is the
//! same on replay.

mod arguments;
mod content;
mod key;
mod memory;
mod monitor;
mod pattern;
mod permission;
mod rules;
mod value;

use alloc::{boxed::Box, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

pub(crate) use memory::CallKey;
pub use monitor::GovernorMonitor;
pub use permission::{Grant, Permissions};

use crate::{
    agent::{Reply, ToolCall, ToolResult},
    chart::{Chart, State, StuckThresholds},
    id::{At, Digest, Seq, StateId},
    tool::ToolDecl,
};

/// Bytes of a query that a verdict repeats.
const MAX_QUERY: usize = 200;

/// A ruling, from mildest to strictest.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// Run it.
    #[default]
    Allow,
    /// Run it, and tell the model the reason.
    Warn,
    /// A person must say yes first.
    Ask,
    /// Do not run it: `denied` or `stuck`, or an item's result.
    Refuse,
    /// Nothing new is learnt: `stuck`.
    Halt,
}

/// The rules, by name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// The state's `tools` do not list it.
    ToolsOfState,
    /// The run's permissions.
    Permission,
    /// It needs approval, and the run is unattended.
    Unattended,
    /// The score: results that were there before.
    NothingNew,
    /// The same call, too many times in a row.
    IdenticalCall,
    /// The same query, too many times in a row.
    IdenticalQuery,
    /// The same error from the same target.
    SameError,
    /// The same tool failing, with any arguments.
    FailingTool,
    /// Undoing and redoing.
    Oscillation,
    /// Many results without anything new. Warns only.
    NoProgress,
    /// Many steps in a state without anything new.
    StepsInState,
    /// The same message again.
    DuplicateMessage,
    /// Many messages without an action.
    Monologue,
    /// Many turns that could not be read.
    Unparsable,
}

impl Rule {
    /// Returns whether it is about permission rather than repetition.
    pub const fn is_permission(self) -> bool {
        matches!(self, Self::ToolsOfState | Self::Permission | Self::Unattended)
    }
}

/// A ruling.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The ruling.
    pub level: Level,
    /// The rule that said so.
    pub rule: Rule,
    /// The reason.
    pub reason: String,
    /// What to do instead.
    pub advice: Box<str>,
    /// The entries that it saw it in.
    pub evidence: Vec<Seq>,
}

impl Verdict {
    fn new(level: Level, rule: Rule, reason: String) -> Self {
        Self { level, rule, reason, advice: Box::default(), evidence: Vec::new() }
    }

    fn advising(self, advice: &str) -> Self {
        Self { advice: advice.into(), ..self }
    }

    fn seen_at(self, evidence: Vec<Seq>) -> Self {
        Self { evidence, ..self }
    }
}

/// The governor's memory of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Governor {
    /// The permissions.
    pub permissions: Permissions,
    /// The permissions before a person added to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<Box<Permissions>>,
    /// The declarations of the tools, by name.
    tools: Vec<ToolDecl>,
    /// Whether the host checks calls before a person is asked.
    checks: bool,
    memory: memory::Memory,
}

impl Governor {
    /// Starts afresh for a run, in the rooms that it has.
    pub(crate) fn begin(
        &mut self,
        permissions: Permissions,
        mut tools: Vec<ToolDecl>,
        checks: bool,
    ) {
        tools.sort_by(|left, right| left.name.cmp(&right.name));
        self.permissions = permissions;
        self.begun = None;
        self.tools = tools;
        self.checks = checks;
        self.memory.forget();
    }

    /// Returns the declaration of a tool.
    pub fn tool(&self, name: &str) -> Option<&ToolDecl> {
        let at = self.tools.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        self.tools.get(at)
    }

    /// Returns whether a success would not be one: the run was halted before.
    pub(crate) const fn has_halted(&self) -> bool {
        self.memory.halted
    }

    /// Remembers that the run is stuck, until it learns something or a person speaks.
    pub(crate) const fn note_halt(&mut self) {
        self.memory.halted = true;
    }

    /// A person has spoken: repetition is forgotten.
    pub(crate) fn observe_person(&mut self) {
        self.memory.reset();
    }

    /// A fault of the infrastructure has brought a call or a turn to nothing.
    pub(crate) fn excuse(&mut self, call: Option<&CallKey>) {
        self.memory.excuse(call);
    }

    /// A new phase begins: repetition is forgotten.
    pub(crate) fn turn_page(&mut self) {
        self.memory.reset();
    }

    /// Returns the parts of a call that are compared.
    pub(crate) fn key(&self, call: &ToolCall) -> CallKey {
        CallKey::of(call, self.tool(&call.tool))
    }

    /// Judges a proposed call; the strictest rule wins.
    pub(crate) fn judge(
        &mut self,
        chart: &Chart,
        state: &State,
        (call, key): (&ToolCall, &CallKey),
        (now, seq): (At, Seq),
    ) -> Option<Verdict> {
        let rules = [
            self.propose(chart.stuck(), (call, key), seq),
            tools_of_state(state, call),
            self.permissions.judge(call, self.tool(&call.tool), now),
        ];
        rules.into_iter().flatten().max_by_key(|verdict| verdict.level)
    }

    /// Returns whether the host checks a call first although this verdict refuses it: the run is
    /// unattended, and a call that cannot run needs no permission.
    pub(crate) fn leaves_to_host(&self, verdict: &Verdict) -> bool {
        self.checks && verdict.rule == Rule::Unattended
    }

    /// Judges a call of an unattended run again; nothing if a person answers.
    pub(crate) fn unattended(&self, call: &ToolCall, now: At) -> Option<Verdict> {
        if !self.checks || self.permissions.attended {
            return None;
        }
        self.permissions.judge(call, self.tool(&call.tool), now)
    }

    /// Judges whether a proposed call is a repetition.
    fn propose(
        &mut self,
        stuck: &StuckThresholds,
        (call, key): (&ToolCall, &CallKey),
        seq: Seq,
    ) -> Option<Verdict> {
        if !stuck.enable {
            return None;
        }
        let verdict = self.memory.propose(stuck, key, &call.tool, seq)?;
        Some(self.naming_query(verdict, call))
    }

    /// Says which query was repeated.
    fn naming_query(&self, mut verdict: Verdict, call: &ToolCall) -> Verdict {
        let query = self.tool(&call.tool).and_then(|tool| tool.query.as_deref());
        let query = query.and_then(|name| arguments::member(call.arguments.get(), name));
        if let Some(query) = query.filter(|_| verdict.rule == Rule::IdenticalQuery) {
            let start = query.get(..query.floor_char_boundary(MAX_QUERY)).unwrap_or_default();
            verdict.reason = format!("{}: {start}", verdict.reason);
        }
        verdict
    }

    /// Takes in a tool's result.
    pub(crate) fn observe(
        &mut self,
        stuck: &StuckThresholds,
        key: &CallKey,
        result: &ToolResult,
        seq: Seq,
    ) -> Option<Verdict> {
        self.memory.observe(stuck, key, result, seq).filter(|_| stuck.enable)
    }

    /// Takes in a model's reply.
    pub(crate) fn observe_reply(
        &mut self,
        stuck: &StuckThresholds,
        reply: &Reply,
        seq: Seq,
    ) -> Option<Verdict> {
        let verdict = self.memory.observe_turn(stuck, &reply.text, reply.calls.len(), seq);
        verdict.filter(|_| stuck.enable)
    }

    /// Takes in whether a model's reply could be read.
    pub(crate) fn read(
        &mut self,
        stuck: &StuckThresholds,
        read: bool,
        seq: Seq,
    ) -> Option<Verdict> {
        self.memory.read_turn(stuck, read, seq).filter(|_| stuck.enable)
    }

    /// Takes in that a governed job starts an attempt.
    pub(crate) fn enter(
        &mut self,
        stuck: &StuckThresholds,
        state: StateId,
        seq: Seq,
    ) -> Option<Verdict> {
        self.memory.enter(stuck, state, seq).filter(|_| stuck.enable)
    }

    /// Remembers a person's rule for similar calls.
    pub(crate) fn remember(&mut self, grant: Grant) {
        self.begun.get_or_insert_with(|| Box::new(self.permissions.clone()));
        self.permissions.remember(grant);
    }

    /// Drops the rules that a person has added: they were for another run.
    pub(crate) fn fork(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.permissions = *begun;
        }
    }
}

fn tools_of_state(state: &State, call: &ToolCall) -> Option<Verdict> {
    (!state.tools().allow(&call.tool)).then(|| {
        let reason = format!("state `{}` does not allow `{}`", state.name(), call.tool);
        Verdict::new(Level::Refuse, Rule::ToolsOfState, reason)
            .advising("call one of the tools that the state allows")
    })
}

/// The identity of a call, exact to the byte: the subject of an approval.
pub fn identity(call: &ToolCall) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.tool.as_bytes());
    hasher.update(&[0]);
    hasher.update(call.arguments.get().as_bytes());
    Digest(*hasher.finalize().as_bytes())
}
