//! The way to the best untried action over known edges.

use alloc::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    string::String,
    vec,
    vec::Vec,
};
use core::cmp::Reverse;

use super::{
    graph::{ScreenGraph, TriedAction},
    policy::{Policy, Prospect, Rank},
    worth::ActionStats,
};

/// What one sure action costs; an edge that held one time in three costs three times that.
pub(super) const STEP: u64 = 100;
/// The longest path that is considered.
const FARTHEST: u64 = 40 * STEP;

/// The first action of a plan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum FirstAction {
    /// An action of this screen.
    Act(String),
    /// Starting again.
    Restart,
}

/// The input of a plan.
pub(super) struct PlanContext<'a> {
    pub(super) graph: &'a ScreenGraph,
    pub(super) learned: &'a ActionStats,
    /// The screen that the app starts with.
    pub(super) root: Option<u32>,
    pub(super) here: u32,
    /// What can be done here now.
    pub(super) offered: &'a BTreeSet<&'a str>,
    pub(super) goal: &'a [String],
    pub(super) exhaust: bool,
    pub(super) seed: u64,
}

/// A plan, and whether another candidate of the screen has the same merit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ExplorePlan {
    pub(super) first: FirstAction,
    pub(super) undecided: bool,
}

/// A way that was found: what it costs, and how it begins.
#[derive(Clone, Copy)]
struct FoundPath {
    cost: u64,
    /// The place of the first action here; nothing is a restart.
    first: Option<usize>,
}

impl PlanContext<'_> {
    /// Returns the beginning of the best way to something worth trying, by a policy.
    pub(super) fn plan(&self, policy: Policy) -> Option<ExplorePlan> {
        let here = self.graph.node(self.here)?;
        let mut best: Option<(Rank, u64, Rank, Option<usize>)> = None;
        let mut all: Vec<(Rank, Option<usize>)> = Vec::new();
        for (at, way) in self.ways() {
            let Some(node) = self.graph.node(at) else { continue };
            let screen = self.learned.screen(node.look());
            for (place, action) in node.actions.iter().enumerate() {
                if at == self.here && !self.offered.contains(action.key.as_str()) {
                    continue;
                }
                let worth = self.learned.worth(at, action, screen, self.exhaust);
                if worth == 0 {
                    continue;
                }
                let tie = mix(self.seed, u64::from(at), u64::try_from(place).unwrap_or(0));
                let prospect =
                    Prospect { worth, cost: way.cost, node, here, action, goal: self.goal, tie };
                let first = if at == self.here { Some(place) } else { way.first };
                let (rank, merit) = (policy.rank(&prospect), policy.merit(&prospect));
                if best.is_none_or(|(old, old_tie, ..)| (rank, tie) < (old, old_tie)) {
                    best = Some((rank, tie, merit, first));
                }
                all.push((merit, first));
            }
        }
        let (.., merit, first) = best?;
        let Some(first) = first else {
            return Some(ExplorePlan { first: FirstAction::Restart, undecided: false });
        };
        // A restart is not an alternative to pick.
        let undecided =
            all.iter().any(|(other, way)| *other == merit && way.is_some_and(|way| way != first));
        Some(ExplorePlan {
            first: FirstAction::Act(here.actions.get(first)?.key.clone()),
            undecided,
        })
    }

    /// Returns the cheapest known way to every screen that can be reached from here.
    fn ways(&self) -> BTreeMap<u32, FoundPath> {
        let count = self.graph.nodes().len();
        let mut known: Vec<Option<FoundPath>> = vec![None; count];
        let mut queue: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
        let slot = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(start) = known.get_mut(slot(self.here)) {
            *start = Some(FoundPath { cost: 0, first: None });
        }
        queue.push(Reverse((0, self.here)));
        while let Some(Reverse((cost, at))) = queue.pop() {
            let Some(way) = known.get(slot(at)).copied().flatten() else { continue };
            if cost > way.cost || cost > FARTHEST {
                continue;
            }
            let Some(node) = self.graph.node(at) else { continue };
            let begins = at == self.here;
            let mut go = |to: u32, price: u64, first: Option<usize>| {
                let cost = cost.saturating_add(price);
                if let Some(old) = known.get_mut(slot(to))
                    && old.is_none_or(|old| cost < old.cost)
                {
                    *old = Some(FoundPath { cost, first: if begins { first } else { way.first } });
                    queue.push(Reverse((cost, to)));
                }
            };
            if let Some(root) = self.root.filter(|root| begins && *root != at) {
                go(root, STEP, None);
            }
            for (place, action) in node.actions.iter().enumerate() {
                let offered = !begins || self.offered.contains(action.key.as_str());
                if !offered || action.barred {
                    continue;
                }
                for (to, times) in action.to.iter().filter(|(to, _)| *to != at) {
                    go(*to, price(action, *times), Some(place));
                }
            }
        }
        let found = known.into_iter().enumerate();
        found.filter_map(|(at, way)| Some((u32::try_from(at).ok()?, way?))).collect()
    }
}

fn price(action: &TriedAction, times: u32) -> u64 {
    let all = action.to.iter().fold(0_u64, |sum, (_, times)| sum.saturating_add(u64::from(*times)));
    STEP.saturating_mul(all).checked_div(u64::from(times).max(1)).unwrap_or(STEP).max(STEP)
}

/// Returns a number that depends on all of these and looks like chance.
pub(super) fn mix(seed: u64, one: u64, two: u64) -> u64 {
    let mut state = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(one.wrapping_mul(0xbf58_476d_1ce4_e5b9))
        .wrapping_add(two.wrapping_mul(0x94d0_49bb_1331_11eb))
        .wrapping_add(0x2545_f491_4f6c_dd1d);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
