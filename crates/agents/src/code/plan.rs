//! Phases: what each is for, what was done in it, and how it ended.
//!
//! A phase ends because someone says how it ended. No phase is a success by default,
//! and none ends twice.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use pointsman_kernel::{
    agent::{BadBody, ToolResult},
    id::At,
    table::{DataTable, RowMark},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The call by which a model says that a phase is over. It is never run: the agent
/// itself takes it.
pub const PHASE_COMPLETE: &str = "phase_complete";
/// The same in the spelling of charts, which some models write.
const PHASE_COMPLETE_DOTTED: &str = "phase.complete";

/// Phases that a plan may have.
const MAX_PHASES: usize = 100;
/// Names of files that are kept for a phase.
const MAX_FILES: usize = 4096;

/// The phases of a task.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Plan {
    /// Every phase, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The phases that have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<PhaseRecord>,
    /// When the phase after those was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<At>,
    /// How the model says that it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// One phase, as planned.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its purpose.
    pub description: String,
    /// How long it should take, in milliseconds. Told, never enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_ms: Option<u64>,
}

/// How a model says that a phase ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Whether it succeeded.
    pub success: bool,
    /// The phase that is meant; the open one if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<usize>,
    /// The obstacle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
}

/// What was done since a phase or a session was started.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PhaseWork {
    /// Tool calls.
    pub calls: u32,
    /// Files changed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
    /// Whether tests passed when they were last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<bool>,
}

/// A phase that has ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PhaseRecord {
    /// Its number; the first is 1.
    pub number: usize,
    /// When it was started.
    pub started: At,
    /// When it ended.
    pub ended: At,
    /// Tool calls.
    pub calls: u32,
    /// How many files were changed.
    pub files_changed: usize,
    /// Whether tests passed when they were last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<bool>,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The obstacle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
}

/// Where a plan goes from the end of a phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Advance {
    Next,
    AllDone,
    Blocked,
}

impl Plan {
    /// Sets the phases of a plan; a plan in progress is not replaced.
    pub(super) fn set(&mut self, phases: Vec<Phase>) -> Result<(), BadBody> {
        if phases.len() > MAX_PHASES {
            return Err(BadBody(format!("a plan has at most {MAX_PHASES} phases")));
        }
        if let Some(at) = phases.iter().position(|phase| phase.description.trim().is_empty()) {
            let number = at.saturating_add(1);
            return Err(BadBody(format!("phase {number} of the plan has no `description`")));
        }
        if !self.phases.is_empty() {
            return Err(BadBody("a plan is already in progress".into()));
        }
        self.phases = phases;
        Ok(())
    }

    /// Returns the number of the phase that is open or comes next, if there is one.
    pub fn current(&self) -> Option<usize> {
        let number = self.records.len().saturating_add(1);
        (number <= self.phases.len()).then_some(number)
    }

    /// Returns the phase that is open, in a line for people.
    pub fn stage(&self) -> Option<String> {
        let number = self.current().filter(|_| self.started.is_some())?;
        let what = &self.phases.get(number.saturating_sub(1))?.description;
        Some(format!("phase {number} of {}: {what}", self.phases.len()))
    }

    /// Starts the phase that comes next, and returns what to tell the model of it.
    pub(super) fn open(&mut self, now: At) -> Option<String> {
        let number = self.current().filter(|_| self.started.is_none())?;
        let phase = self.phases.get(number.saturating_sub(1))?;
        self.started = Some(now);
        let (total, what) = (self.phases.len(), phase.description.trim_end_matches('.'));
        Some(format!(
            "Phase {number} of {total}: {what}. Call `{PHASE_COMPLETE}` when it is complete."
        ))
    }

    /// Takes a claim that the open phase is over, and returns the answer to it.
    pub(super) fn take_claim(&mut self, arguments: &RawValue, work: &PhaseWork) -> ToolResult {
        let refuse = |output: String| ToolResult { ok: false, output, mutated: false };
        let claim: Claim = match serde_json::from_str(arguments.get()) {
            Ok(claim) => claim,
            Err(error) => return refuse(format!("set `success` to true or false: {error}")),
        };
        let Some(open) = self.current().filter(|_| self.started.is_some()) else {
            return refuse("no phase is open".into());
        };
        if claim.phase.is_some_and(|named| named != open) || self.claim.is_some() {
            return refuse(format!("only phase {open} is open, and it can end only once"));
        }
        if claim.success && work.tests_passed == Some(false) {
            return refuse(
                "the last tests failed: make them pass, or set `success` to false".into(),
            );
        }
        let untested = claim.success && work.tests_passed.is_none() && !work.files.is_empty();
        self.claim = Some(claim);
        let output = if untested { "noted; no tests were run in this phase" } else { "noted" };
        ToolResult { ok: true, output: output.into(), mutated: false }
    }

    /// Ends the phase that was claimed to be over, and says where to go. Without a
    /// claim nothing ends: then a plan that is not through is blocked.
    pub(super) fn advance(&mut self, work: &mut PhaseWork, now: At) -> Advance {
        if let (Some(claim), Some(number)) = (self.claim.take(), self.current()) {
            let work = core::mem::take(work);
            self.records.push(PhaseRecord {
                number,
                started: self.started.take().unwrap_or(now),
                ended: now,
                calls: work.calls,
                files_changed: work.files.len(),
                tests_passed: work.tests_passed,
                // Calls of the same reply ran after the claim was made.
                succeeded: claim.success && work.tests_passed != Some(false),
                blockers: claim.blockers,
            });
            let succeeded = self.records.last().is_some_and(|record| record.succeeded);
            if succeeded && self.current().is_some() {
                return Advance::Next;
            }
        }
        let all = self.current().is_none() && self.records.iter().all(|record| record.succeeded);
        if all { Advance::AllDone } else { Advance::Blocked }
    }

    /// Returns the phases as a table; nothing without a plan.
    pub(super) fn table(&self, open: &PhaseWork) -> Option<DataTable> {
        let columns = ["phase", "goal", "status", "calls", "files changed", "tests", "blockers"];
        let mut table = DataTable::new("Phases", &columns);
        let tests = |passed: Option<bool>| match passed {
            None => "not run",
            Some(true) => "passed",
            Some(false) => "failed",
        };
        for (at, phase) in self.phases.iter().enumerate() {
            let number = at.saturating_add(1);
            let is_open = self.started.is_some() && self.current() == Some(number);
            let (mark, status, calls, files, tested, blockers) = match self.records.get(at) {
                Some(it) => {
                    let (mark, status) = if it.succeeded {
                        (RowMark::Good, "succeeded")
                    } else {
                        (RowMark::Bad, "failed")
                    };
                    let blockers = it.blockers.join("; ");
                    (mark, status, it.calls, it.files_changed, tests(it.tests_passed), blockers)
                }
                None if is_open => {
                    let (mark, tested) = (RowMark::Plain, tests(open.tests_passed));
                    (mark, "in progress", open.calls, open.files.len(), tested, String::new())
                }
                None => (RowMark::Plain, "planned", 0, 0, "", String::new()),
            };
            table.row(
                mark,
                [
                    number.to_string(),
                    phase.description.clone(),
                    status.into(),
                    calls.to_string(),
                    files.to_string(),
                    tested.into(),
                    blockers,
                ],
            );
        }
        (!table.rows.is_empty()).then_some(table)
    }
}

/// Returns whether a call is a claim that a phase is over.
pub(super) fn is_claim(tool: &str) -> bool {
    tool == PHASE_COMPLETE || tool == PHASE_COMPLETE_DOTTED
}

impl PhaseWork {
    pub(super) fn changed(&mut self, file: &str) {
        if self.files.len() < MAX_FILES && !self.files.contains(file) {
            self.files.insert(file.into());
        }
    }
}
