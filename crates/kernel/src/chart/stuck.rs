//! The chart's `[stuck]` table: the governor's named rules and their thresholds.

use serde::{Deserialize, Serialize};

/// Thresholds; a rule that is not named is not applied.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StuckThresholds {
    /// Whether the governor watches for repetition at all.
    pub enable: bool,
    /// The same call, this many times in a row.
    pub identical_call: Option<u32>,
    /// The same query, this many times in a row.
    pub identical_query: Option<u32>,
    /// The same error on the same target, this many times in a row.
    pub same_error: Option<u32>,
    /// The same tool failing with any arguments, this many times in a row.
    pub failing_tool: Option<u32>,
    /// Two contents that alternate, over a window of this many actions.
    pub oscillation: Option<u32>,
    /// This many actions without new information: only warns and restricts.
    pub no_progress: Option<u32>,
    /// This many attempts and visits of a state since the last new information.
    pub steps_in_state: Option<u32>,
    /// The same message among this many last ones.
    pub duplicate_message: Option<u32>,
    /// This many messages without an action in between.
    pub monologue: Option<u32>,
    /// This many unreadable model turns.
    pub unparsable: Option<u32>,
    /// A screen that does not change.
    pub screen_stall: Option<ScreenStall>,
    /// How many calls lie between two reports of progress.
    pub progress_check_interval: u32,
    /// How many actions are remembered.
    pub max_recent_actions: u32,
    /// How many errors are remembered.
    pub max_recent_errors: u32,
    /// Whether a new phase starts with a clean memory.
    pub reset_on_phase: bool,
}

/// The ladder for a screen that does not change.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ScreenStall {
    /// Rounds before a warning.
    pub warn: u32,
    /// Rounds before another policy.
    pub switch: u32,
    /// Rounds before the app is started again.
    pub restart: u32,
}

impl Default for StuckThresholds {
    fn default() -> Self {
        Self {
            enable: true,
            identical_call: None,
            identical_query: None,
            same_error: None,
            failing_tool: None,
            oscillation: None,
            no_progress: None,
            steps_in_state: None,
            duplicate_message: None,
            monologue: None,
            unparsable: None,
            screen_stall: None,
            progress_check_interval: 10,
            max_recent_actions: 20,
            max_recent_errors: 10,
            reset_on_phase: true,
        }
    }
}
