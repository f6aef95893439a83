//! Progress: the results of the last calls, for recovery and for people. The governor decides
//! whether there is progress.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::agent::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Failures that are remembered.
const MAX_FAILURES: usize = 10;
/// Bytes of an error's text by which it is known.
const MAX_ERROR: usize = 500;
/// Replies in a row that leave a phase open before someone must look.
const MAX_IDLE_REPLIES: u8 = 2;

/// What the last calls came to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WorkProgress {
    /// Calls that failed since something was last changed, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<CallFailure>,
    /// Replies in a row that said something and left the phase open.
    #[serde(default)]
    pub idle_replies: u8,
}

/// A call that failed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CallFailure {
    /// The tool.
    pub tool: String,
    /// What it was about.
    pub target: String,
    /// Its text.
    pub error: String,
}

/// The state of the work after a round.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Judgement {
    Continue,
    Answered,
    PhaseComplete,
}

impl WorkProgress {
    /// Takes the result of a call. Whatever changed something may have removed the
    /// cause of what failed before; a mere look at something has not.
    pub(super) fn record(&mut self, call: &ToolCall, result: &ToolResult) {
        if result.ok {
            if result.mutated {
                self.failures.clear();
            }
            return;
        }
        if self.failures.len() >= MAX_FAILURES {
            self.failures.remove(0);
        }
        self.failures.push(CallFailure::of(call, result));
    }

    /// Returns how a call failed the last time, if it did.
    pub(super) fn failure_of(&self, call: &ToolCall) -> Option<&CallFailure> {
        let target = target(call);
        self.failures.iter().rfind(|known| known.tool == call.tool && known.target == target)
    }

    /// Counts a reply that leaves the phase open, and returns whether someone must look.
    pub(super) const fn idled(&mut self) -> bool {
        self.idle_replies = self.idle_replies.saturating_add(1);
        self.idle_replies >= MAX_IDLE_REPLIES
    }
}

impl CallFailure {
    pub(super) fn of(call: &ToolCall, result: &ToolResult) -> Self {
        let end = result.output.floor_char_boundary(MAX_ERROR);
        let error = result.output.get(..end).unwrap_or_default().into();
        Self { tool: call.tool.clone(), target: target(call), error }
    }
}

/// Returns what a call is about: a file, a command, or all of its arguments.
fn target(call: &ToolCall) -> String {
    file(call).or_else(|| text(call, &["command"])).unwrap_or_else(|| call.arguments.to_string())
}

/// Returns the file that a call is about.
pub(super) fn file(call: &ToolCall) -> Option<String> {
    text(call, &["path", "file", "file_path", "filename"])
}

pub(super) fn text(call: &ToolCall, keys: &[&str]) -> Option<String> {
    let arguments: Map<String, Value> = serde_json::from_str(call.arguments.get()).ok()?;
    let found = keys.iter().find_map(|key| arguments.get(*key)?.as_str());
    found.filter(|found| !found.is_empty()).map(Into::into)
}
