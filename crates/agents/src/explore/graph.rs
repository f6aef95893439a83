//! The coverage graph: screens seen, actions offered and tried, and where each led.

use alloc::{collections::BTreeMap, collections::BTreeSet, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::{CandidateAction, DeviceAction, Direction},
    screen::{Foreground, ScreenId},
    worth::ActionTraits,
};

/// Screens that are remembered at most, with their variants.
const MAX_NODES: usize = 5_000;
/// Actions that are remembered of one screen.
const MAX_ACTIONS: usize = 600;
/// Different outcomes of one action that are remembered.
const MAX_OUTCOMES: usize = 20;

/// What was seen of an app.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ScreenGraph {
    ids: BTreeMap<ScreenId, u32>,
    nodes: Vec<ScreenNode>,
}

/// A screen that was seen, or a variant of one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ScreenNode {
    /// Its identity.
    pub id: ScreenId,
    /// The screen that it is a variant of.
    pub coarse: ScreenId,
    /// The app in front.
    pub package: String,
    /// Its activity.
    pub activity: String,
    /// What was in front.
    pub front: Foreground,
    /// Actions from the first screen to here, when it was first seen.
    pub depth: u32,
    /// How often it was looked at.
    pub visits: u32,
    /// The blob that holds its picture, the first that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// All that it ever offered, in the order in which it was first seen.
    pub actions: Vec<TriedAction>,
    /// Where an action is in that list, by key.
    pub(super) places: BTreeMap<String, u32>,
}

/// An action of a screen, and its result.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct TriedAction {
    /// Known by this on its screen.
    pub key: String,
    /// What to do.
    pub act: DeviceAction,
    /// Which way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Its text.
    pub label: String,
    /// How often it was tried.
    pub times: u32,
    /// Where it led, and how often: nodes by their place.
    pub to: Vec<(u32, u32)>,
    /// Whether it could not be done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub barred: bool,
    /// What it has in common with others.
    pub(super) traits: ActionTraits,
}

/// How much of an app was covered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct GraphCoverage {
    /// Activities of the app.
    pub activities: usize,
    /// Screens of the app; variants of one count once.
    pub screens: usize,
    /// Actions that were offered; those of variants of one screen count once.
    pub seen: usize,
    /// Those of them whose outcome was seen.
    pub tried: usize,
    /// Actions that are known to lead from one screen to another, with every outcome.
    pub edges: usize,
}

impl ScreenGraph {
    /// Returns all screens and their variants, in the order in which they were first seen.
    pub fn nodes(&self) -> &[ScreenNode] {
        &self.nodes
    }

    /// Returns a screen by its place.
    pub fn node(&self, at: u32) -> Option<&ScreenNode> {
        self.nodes.get(usize::try_from(at).ok()?)
    }

    pub(super) fn node_mut(&mut self, at: u32) -> Option<&mut ScreenNode> {
        self.nodes.get_mut(usize::try_from(at).ok()?)
    }

    /// Returns the place of a screen.
    pub fn find(&self, id: &ScreenId) -> Option<u32> {
        self.ids.get(id).copied()
    }

    /// Returns how much was covered.
    pub fn coverage(&self) -> GraphCoverage {
        let own = || self.nodes.iter().filter(|node| node.front == Foreground::App);
        let (mut seen, mut tried) = (BTreeSet::new(), BTreeSet::new());
        let mut edges = BTreeSet::new();
        // Neither a crash nor another app is a screen of this one.
        let counts =
            |node: &&ScreenNode| matches!(node.front, Foreground::App | Foreground::SystemDialog);
        for node in self.nodes.iter().filter(counts) {
            for action in &node.actions {
                let name = (&node.coarse, action.key.as_str());
                seen.insert(name);
                if !action.to.is_empty() {
                    tried.insert(name);
                }
                let to = action.to.iter().filter_map(|(to, _)| self.node(*to)).filter(counts);
                let to = to.map(|to| &to.coarse).filter(|to| **to != node.coarse);
                edges.extend(to.map(|to| (&node.coarse, action.key.as_str(), to)));
            }
        }
        GraphCoverage {
            activities: own().map(|node| &node.activity).collect::<BTreeSet<_>>().len(),
            screens: own().map(|node| &node.coarse).collect::<BTreeSet<_>>().len(),
            seen: seen.len(),
            tried: tried.len(),
            edges: edges.len(),
        }
    }

    /// Records a screen, and returns its place and whether it is new. What does not fit
    /// is not remembered.
    pub(super) fn see(&mut self, node: ScreenNode) -> Option<(u32, bool)> {
        if let Some(at) = self.find(&node.id) {
            return Some((at, false));
        }
        let at = u32::try_from(self.nodes.len()).ok().filter(|_| self.nodes.len() < MAX_NODES)?;
        self.ids.insert(node.id.clone(), at);
        self.nodes.push(node);
        Some((at, true))
    }
}

impl ScreenNode {
    /// Returns its identity, whatever its fields hold.
    pub(super) fn look(&self) -> &str {
        self.id.as_str().split('+').next().unwrap_or_default()
    }

    /// Returns the result of an action.
    pub fn action(&self, key: &str) -> Option<&TriedAction> {
        self.actions.get(usize::try_from(*self.places.get(key)?).ok()?)
    }

    pub(super) fn action_mut(&mut self, key: &str) -> Option<&mut TriedAction> {
        self.actions.get_mut(usize::try_from(*self.places.get(key)?).ok()?)
    }

    /// Records what a screen offers.
    pub(super) fn offer(&mut self, candidate: &CandidateAction, traits: ActionTraits) {
        let place = u32::try_from(self.actions.len()).unwrap_or(u32::MAX);
        if self.actions.len() >= MAX_ACTIONS || self.places.contains_key(&candidate.key) {
            return;
        }
        self.places.insert(candidate.key.clone(), place);
        self.actions.push(TriedAction {
            key: candidate.key.clone(),
            act: candidate.act,
            direction: candidate.direction,
            label: candidate.label.clone(),
            traits,
            ..TriedAction::default()
        });
    }
}

impl TriedAction {
    /// Records where the action led, and returns whether it never led there before.
    pub(super) fn led(&mut self, to: Option<u32>) -> bool {
        self.times = self.times.saturating_add(1);
        let Some(to) = to else { return false };
        if let Some((_, times)) = self.to.iter_mut().find(|(known, _)| *known == to) {
            *times = times.saturating_add(1);
            return false;
        }
        if self.to.len() < MAX_OUTCOMES {
            self.to.push((to, 1));
        }
        true
    }

    /// Returns whether it may be worth another try: it led to several screens, or to others
    /// than a text before it may lead to.
    pub(super) fn is_unsure(&self) -> bool {
        self.to.len() > 1
    }
}
