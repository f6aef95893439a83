//! The coverage graph: screens seen, actions tried, and where each led.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{actions::Candidate, screen::ScreenId};

/// Screens that are remembered at most; an app with more counts as explored.
pub(super) const MAX_SCREENS: usize = 200;
/// Actions that are remembered of one screen.
const MAX_ACTIONS: usize = 100;

/// What was seen of an app.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Graph(BTreeMap<ScreenId, Node>);

/// A screen that was seen.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Node {
    /// Its activity.
    pub activity: String,
    /// Actions from the first screen to here, when it was first seen.
    pub depth: u16,
    /// Whether it was looked at: until then nobody knows what can be done there.
    pub looked_at: bool,
    /// What can be done there, and what came of it.
    pub actions: BTreeMap<String, Tried>,
}

/// What came of an action.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Tried {
    /// How often it was tried.
    pub times: u32,
    /// Where it led the last time.
    pub to: Option<ScreenId>,
    /// Whether it left the app, brought it down or could not be done.
    pub barred: bool,
}

/// How near untried actions are from a screen.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Frontier {
    /// How deep the screen with untried actions lies.
    pub(super) depth: u16,
    /// Actions to get there.
    pub(super) steps: u16,
}

impl Graph {
    /// Returns how many screens were seen.
    pub fn screens(&self) -> usize {
        self.0.len()
    }

    /// Returns how many actions were seen, and how many of them were tried.
    pub fn coverage(&self) -> (usize, usize) {
        let actions = || self.0.values().flat_map(|node| node.actions.values());
        (actions().count(), actions().filter(|tried| tried.times > 0).count())
    }

    /// Returns what is known of a screen.
    pub fn node(&self, id: &ScreenId) -> Option<&Node> {
        self.0.get(id)
    }

    /// Returns the screens that were seen.
    pub fn nodes(&self) -> impl Iterator<Item = (&ScreenId, &Node)> {
        self.0.iter()
    }

    /// Returns how many actions are known to lead from one screen to another.
    pub fn edges(&self) -> usize {
        let leads = |id: &ScreenId, tried: &Tried| tried.to.as_ref().is_some_and(|to| to != id);
        let of = |(id, node): (&ScreenId, &Node)| {
            node.actions.values().filter(|tried| leads(id, tried)).count()
        };
        self.0.iter().map(of).sum()
    }

    /// Takes note of a screen, and returns whether it is new.
    pub(super) fn see(&mut self, id: &ScreenId, activity: &str, depth: u16) -> bool {
        if self.0.contains_key(id) || self.0.len() >= MAX_SCREENS {
            return false;
        }
        let activity = activity.chars().take(200).collect();
        self.0.insert(id.clone(), Node { activity, depth, ..Node::default() });
        true
    }

    /// Takes note of what a screen offers.
    pub(super) fn offer(&mut self, id: &ScreenId, candidates: &[Candidate]) {
        let Some(node) = self.0.get_mut(id) else { return };
        node.looked_at = true;
        for candidate in candidates {
            if node.actions.len() < MAX_ACTIONS && !node.actions.contains_key(&candidate.key) {
                node.actions.insert(candidate.key.clone(), Tried::default());
            }
        }
    }

    /// Takes note of where an action led; nowhere bars it.
    pub(super) fn tried(&mut self, from: &ScreenId, key: &str, to: Option<ScreenId>) {
        let action = self.0.get_mut(from).and_then(|node| node.actions.get_mut(key));
        if let Some(tried) = action {
            tried.times = tried.times.saturating_add(1);
            tried.barred = to.is_none();
            tried.to = to;
        }
    }

    /// Returns what came of an action.
    pub(super) fn action(&self, screen: &ScreenId, key: &str) -> Option<&Tried> {
        self.0.get(screen)?.actions.get(key)
    }

    /// Returns whether no known way leads from these screens to an untried action.
    pub(super) fn is_exhausted(&self, from: &[&ScreenId]) -> bool {
        let frontiers = self.frontiers(|new, old| new.steps < old.steps);
        from.iter().all(|id| !frontiers.contains_key(id))
    }

    /// Returns, for every screen from which untried actions can be reached over
    /// known edges, the best of them by `better`.
    pub(super) fn frontiers(
        &self,
        better: impl Fn(&Frontier, &Frontier) -> bool,
    ) -> BTreeMap<&ScreenId, Frontier> {
        let mut known: BTreeMap<&ScreenId, Frontier> = BTreeMap::new();
        for (id, node) in self.0.iter().filter(|(_, node)| !node.is_done()) {
            known.insert(id, Frontier { depth: node.depth, steps: 0 });
        }
        // A path has no more edges than there are screens, so this ends.
        for _ in 0..self.0.len() {
            let mut news: Vec<(&ScreenId, Frontier)> = Vec::new();
            for (id, node) in &self.0 {
                for to in node.actions.values().filter_map(|tried| tried.to.as_ref()) {
                    let Some(next) = known.get(to) else { continue };
                    let next = Frontier { steps: next.steps.saturating_add(1), ..*next };
                    if known.get(id).is_none_or(|old| better(&next, old)) {
                        news.push((id, next));
                    }
                }
            }
            if news.is_empty() {
                break;
            }
            for (id, next) in news {
                let slot = known.entry(id).or_insert(next);
                if better(&next, slot) {
                    *slot = next;
                }
            }
        }
        known
    }
}

impl Node {
    fn is_done(&self) -> bool {
        self.looked_at && self.actions.values().all(|tried| tried.times > 0)
    }
}
