//! Verdicts over proposed tool calls: permissions and plain repetition.
//!
//! The strictest rule wins. A verdict is data: it names its rule and its evidence,
//! and is the same on replay.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    agent::ToolCall,
    chart::{Chart, State},
    id::Digest,
};

/// What may be done with a call, from mildest to strictest.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// Run it.
    #[default]
    Allow,
    /// A person must say yes first.
    Ask,
    /// Do not run it: `denied`, or an item's result.
    Refuse,
    /// Do not run it, nothing new is learnt: `stuck`.
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
    /// It would have to be asked for, and nobody is there.
    Unattended,
    /// The same call, too many times in a row.
    IdenticalCall,
}

/// A ruling over one call.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// What may be done.
    pub level: Level,
    /// The rule that said so.
    pub rule: Rule,
    /// What it saw, and what to do instead.
    pub reason: String,
}

/// What may run unasked, fixed when a run begins.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Permissions {
    /// For tools that are not listed.
    pub otherwise: Level,
    /// Tool by tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<(String, Level)>,
    /// Whether a person is there to be asked.
    pub attended: bool,
}

impl Default for Permissions {
    /// Nobody is there and nothing is listed: nothing may run.
    fn default() -> Self {
        Self { otherwise: Level::Refuse, tools: Vec::new(), attended: false }
    }
}

impl Permissions {
    /// Everything may run.
    pub const fn allow_all() -> Self {
        Self { otherwise: Level::Allow, tools: Vec::new(), attended: true }
    }

    /// Everything is asked for.
    pub const fn ask_all() -> Self {
        Self { otherwise: Level::Ask, tools: Vec::new(), attended: true }
    }
}

/// What the governor remembers of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Governor {
    /// What may run unasked.
    pub permissions: Permissions,
    /// The last call that was let through, and how often in a row.
    last: Option<(Digest, u32)>,
}

impl Governor {
    pub(crate) const fn new(permissions: Permissions) -> Self {
        Self { permissions, last: None }
    }

    /// Forgets repetition: a person has spoken.
    pub(crate) const fn reset(&mut self) {
        self.last = None;
    }

    /// Judges a proposed call; the strictest rule wins.
    pub(crate) fn judge(&self, chart: &Chart, state: &State, call: &ToolCall) -> Option<Verdict> {
        let rules =
            [self.identical_call(chart, call), tools_of_state(state, call), self.permission(call)];
        rules.into_iter().flatten().max_by_key(|verdict| verdict.level)
    }

    /// Remembers a call that starts.
    pub(crate) fn started(&mut self, call: &ToolCall) {
        let key = key(call);
        self.last = match self.last {
            Some((last, times)) if last == key => Some((key, times.saturating_add(1))),
            _ => Some((key, 1)),
        };
    }

    fn identical_call(&self, chart: &Chart, call: &ToolCall) -> Option<Verdict> {
        let limit = chart.stuck().identical_call.filter(|_| chart.stuck().enable)?;
        let times = match self.last {
            Some((last, times)) if last == key(call) => times.saturating_add(1),
            _ => 1,
        };
        (times >= limit).then(|| Verdict {
            level: Level::Halt,
            rule: Rule::IdenticalCall,
            reason: format!("`{}` was proposed {times} times with the same arguments", call.tool),
        })
    }

    fn permission(&self, call: &ToolCall) -> Option<Verdict> {
        let listed = self.permissions.tools.iter().find(|(tool, _)| *tool == call.tool);
        match listed.map_or(self.permissions.otherwise, |(_, level)| *level) {
            Level::Allow => None,
            Level::Ask if !self.permissions.attended => Some(Verdict {
                level: Level::Refuse,
                rule: Rule::Unattended,
                reason: format!("`{}` needs a person's yes, and nobody is there", call.tool),
            }),
            Level::Ask => Some(Verdict {
                level: Level::Ask,
                rule: Rule::Permission,
                reason: format!("`{}` needs a person's yes", call.tool),
            }),
            Level::Refuse | Level::Halt => Some(Verdict {
                level: Level::Refuse,
                rule: Rule::Permission,
                reason: format!("`{}` is not permitted", call.tool),
            }),
        }
    }
}

fn tools_of_state(state: &State, call: &ToolCall) -> Option<Verdict> {
    (!state.tools().allow(&call.tool)).then(|| Verdict {
        level: Level::Refuse,
        rule: Rule::ToolsOfState,
        reason: format!("state `{}` does not allow `{}`", state.name(), call.tool),
    })
}

/// The identity of a call: the tool and its arguments, never the id a model gave it.
fn key(call: &ToolCall) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.tool.as_bytes());
    hasher.update(&[0]);
    hasher.update(call.arguments.get().as_bytes());
    Digest(*hasher.finalize().as_bytes())
}
