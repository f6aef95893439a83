//! The search policies: each puts the candidates of a screen in an order, by what
//! was tried and where it led. No chance is involved, so no seed is.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::{Act, Candidate},
    graph::{Frontier, Graph},
    screen::ScreenId,
};

/// How to choose among the candidates of a screen.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy {
    /// Finishes the shallowest screen first.
    #[default]
    BreadthFirst,
    /// Goes on from where it is, and back when a screen is done.
    DepthFirst,
    /// Takes the shortest known way to an untried action.
    MaxCoverage,
    /// Stays within the activity it is in.
    Focused,
    /// Prefers what shares words with the goal.
    GoalOriented,
}

/// Sorts first; the smallest wins.
type Rank = (u32, u32, u32, u32);

impl Policy {
    /// Returns the policy to try after this one.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::BreadthFirst => Self::DepthFirst,
            Self::DepthFirst => Self::MaxCoverage,
            Self::MaxCoverage => Self::GoalOriented,
            Self::GoalOriented => Self::Focused,
            Self::Focused => Self::BreadthFirst,
        }
    }

    /// Returns the name that people know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth first",
            Self::DepthFirst => "depth first",
            Self::MaxCoverage => "maximal coverage",
            Self::Focused => "focused",
            Self::GoalOriented => "goal oriented",
        }
    }

    /// Chooses a candidate; ties go to the earlier one.
    pub(super) fn choose(
        self,
        graph: &Graph,
        here: &ScreenId,
        goal: &str,
        candidates: &[Candidate],
    ) -> Option<usize> {
        let shallow = |new: &Frontier, old: &Frontier| new < old;
        let near = |new: &Frontier, old: &Frontier| new.steps < old.steps;
        let frontiers = match self {
            Self::BreadthFirst => graph.frontiers(shallow),
            Self::DepthFirst | Self::MaxCoverage | Self::Focused | Self::GoalOriented => {
                graph.frontiers(near)
            }
        };
        let view = View { graph, here, frontiers, goal: words(goal) };
        let ranked = candidates.iter().enumerate().map(|(at, it)| (self.rank(&view, it), at));
        ranked.min().map(|(_, at)| at)
    }

    fn rank(self, view: &View<'_>, candidate: &Candidate) -> Rank {
        let times = view.times(candidate);
        let back = u32::from(candidate.act == Act::Back);
        let beyond = view.beyond(candidate);
        let depth = beyond.map_or(u32::MAX, |it| u32::from(it.depth));
        let steps = beyond.map_or(u32::MAX, |it| u32::from(it.steps));
        match self {
            Self::BreadthFirst => (depth, steps, back, times),
            Self::DepthFirst => (u32::from(times > 0), back, steps, times),
            Self::MaxCoverage => (steps, back, times, 0),
            Self::Focused => (u32::from(view.leaves_activity(candidate)), times, back, steps),
            Self::GoalOriented => (view.strange(candidate), times, back, steps),
        }
    }
}

/// What a policy looks at.
struct View<'a> {
    graph: &'a Graph,
    here: &'a ScreenId,
    frontiers: BTreeMap<&'a ScreenId, Frontier>,
    goal: Vec<String>,
}

impl View<'_> {
    fn times(&self, candidate: &Candidate) -> u32 {
        self.graph.action(self.here, &candidate.key).map_or(0, |tried| tried.times)
    }

    /// Returns the untried action that the candidate leads towards: itself if it
    /// was never tried, or one beyond the screen that it is known to lead to.
    fn beyond(&self, candidate: &Candidate) -> Option<Frontier> {
        if self.times(candidate) == 0 {
            let depth = self.graph.node(self.here).map_or(0, |node| node.depth);
            return Some(Frontier { depth, steps: 0 });
        }
        let to = self.graph.action(self.here, &candidate.key)?.to.as_ref()?;
        let next = self.frontiers.get(to).filter(|_| to != self.here)?;
        Some(Frontier { steps: next.steps.saturating_add(1), ..*next })
    }

    fn leaves_activity(&self, candidate: &Candidate) -> bool {
        let to = self.graph.action(self.here, &candidate.key).and_then(|it| it.to.as_ref());
        let activity = |id: &ScreenId| self.graph.node(id).map(|node| node.activity.as_str());
        to.is_some_and(|to| activity(to) != activity(self.here))
    }

    /// Returns how many words of the goal the candidate's label lacks.
    fn strange(&self, candidate: &Candidate) -> u32 {
        let label = words(&candidate.label);
        let lacking = self.goal.iter().filter(|word| !label.contains(word));
        u32::try_from(lacking.count()).unwrap_or(u32::MAX)
    }
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 2);
    parts.map(str::to_lowercase).collect()
}
