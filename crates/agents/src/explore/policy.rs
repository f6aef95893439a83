//! The search policies: each says which untried action to go to next.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::DeviceAction,
    graph::{ScreenNode, TriedAction},
    plan::STEP,
};

/// How to choose what to try next.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy {
    /// Finishes the shallowest screen first.
    #[serde(alias = "bfs", alias = "breadth-first")]
    BreadthFirst,
    /// Continues from the current screen, and goes back when it is finished.
    #[serde(alias = "dfs", alias = "depth-first")]
    DepthFirst,
    /// Takes what promises the most for the fewest actions.
    #[default]
    #[serde(alias = "max-coverage")]
    MaxCoverage,
    /// Stays within the activity it is in.
    Focused,
    /// Prefers what shares words with the goal.
    #[serde(alias = "goal-oriented")]
    GoalOriented,
}

/// Sorts first; the smallest wins.
pub(super) type Rank = (u64, u64, u64, u64);

/// Something that could be tried, and the way there.
#[derive(Clone, Copy)]
pub(super) struct Prospect<'a> {
    /// The chance that it shows something new, in millionths.
    pub(super) worth: u64,
    /// What the way there costs.
    pub(super) cost: u64,
    pub(super) node: &'a ScreenNode,
    pub(super) here: &'a ScreenNode,
    pub(super) action: &'a TriedAction,
    pub(super) goal: &'a [String],
    /// A number that looks like chance.
    pub(super) tie: u64,
}

impl Policy {
    /// All of them, in the order in which the ladder tries them.
    pub const ALL: [Self; 5] = [
        Self::MaxCoverage,
        Self::DepthFirst,
        Self::BreadthFirst,
        Self::GoalOriented,
        Self::Focused,
    ];

    /// Returns the policy to try after this one.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::MaxCoverage => Self::DepthFirst,
            Self::DepthFirst => Self::BreadthFirst,
            Self::BreadthFirst => Self::GoalOriented,
            Self::GoalOriented => Self::Focused,
            Self::Focused => Self::MaxCoverage,
        }
    }

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "bfs",
            Self::DepthFirst => "dfs",
            Self::MaxCoverage => "max-coverage",
            Self::Focused => "focused",
            Self::GoalOriented => "goal-oriented",
        }
    }

    /// Ranks something that could be tried.
    pub(super) fn rank(self, it: &Prospect<'_>) -> Rank {
        // Among equals the more promising, by a hair's breadth of chance.
        let noise = it.worth.saturating_mul(it.tie & 0xff) >> 14;
        let unlikely = u64::MAX.saturating_sub(it.worth.saturating_add(noise));
        let back = u64::from(it.action.act == DeviceAction::Back);
        let depth = u64::from(it.node.depth);
        match self {
            Self::BreadthFirst => (depth, it.cost, back, unlikely),
            Self::DepthFirst => (it.cost.min(1), u64::MAX.saturating_sub(depth), it.cost, unlikely),
            Self::MaxCoverage => {
                let promise = it.worth.saturating_add(noise).saturating_mul(1_000);
                let rate = promise.checked_div(it.cost.saturating_add(STEP)).unwrap_or(0);
                (u64::MAX.saturating_sub(rate), it.cost, back, 0)
            }
            Self::Focused => {
                let leaves = u64::from(it.node.activity != it.here.activity);
                (leaves, it.cost, back, unlikely)
            }
            Self::GoalOriented => (lacking(it.goal, &it.action.label), it.cost, back, unlikely),
        }
    }

    /// Ranks something by the policy's own reasons alone: without the seed, and where there
    /// is a goal without a guess at novelty. A policy is undecided between equals.
    pub(super) fn merit(self, it: &Prospect<'_>) -> Rank {
        let (first, second, third, fourth) = self.rank(&Prospect { tie: 0, ..*it });
        match self {
            Self::GoalOriented => (first, second, third, 0),
            Self::BreadthFirst | Self::DepthFirst | Self::MaxCoverage | Self::Focused => {
                (first, second, third, fourth)
            }
        }
    }
}

/// Returns how many words of the goal a label lacks.
fn lacking(goal: &[String], label: &str) -> u64 {
    let label = words(label);
    let lacking = goal.iter().filter(|word| !label.contains(word));
    u64::try_from(lacking.count()).unwrap_or(u64::MAX)
}

/// Returns the words of a text that tell something.
pub(super) fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 2);
    parts.map(str::to_lowercase).collect()
}
