//! Two explorations of one app against each other.

use std::collections::BTreeMap;

use pointsman_agents::explore::map::{ActionResult, AppMap, MishapKind};
use serde::Serialize;

use super::told;

/// What one of two runs has and the other has not.
#[derive(Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct Compared {
    /// Screens.
    pub(crate) screens: Differs,
    /// Ways from one screen to another.
    pub(crate) edges: Differs,
    /// Crashes and hangs.
    pub(crate) crashes: Differs,
}

/// Differences between two runs, for people.
#[derive(Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct Differs {
    /// In the first run alone.
    pub(crate) lost: Vec<String>,
    /// In the second run alone.
    pub(crate) new: Vec<String>,
    /// How many are in both.
    pub(crate) same: usize,
}

impl Compared {
    /// Compares two maps.
    pub(crate) fn new(one: &AppMap, two: &AppMap) -> Self {
        Self {
            screens: Differs::new(screens(one), screens(two)),
            edges: Differs::new(edges(one), edges(two)),
            crashes: Differs::new(crashes(one), crashes(two)),
        }
    }
}

type Known = BTreeMap<String, String>;

impl Differs {
    fn new(one: Known, two: Known) -> Self {
        let only = |this: &Known, other: &Known| -> Vec<String> {
            let only = this.iter().filter(|(key, _)| !other.contains_key(*key));
            only.map(|(_, told)| told.clone()).collect()
        };
        let (lost, new) = (only(&one, &two), only(&two, &one));
        Self { same: one.len() - lost.len(), lost, new }
    }
}

fn screens(map: &AppMap) -> Known {
    let screen = map.screens.iter();
    screen
        .map(|it| (it.id.as_str().into(), format!("{} ({})", it.name(), it.id.as_str())))
        .collect()
}

fn edges(map: &AppMap) -> Known {
    let between = map.edges.iter().filter_map(|edge| match &edge.to {
        ActionResult::Screen(to) => Some((edge, to)),
        _ => None,
    });
    let edge = between.map(|(edge, to)| {
        let (from, key) = (edge.from.as_str(), &edge.action.key);
        let told = format!("{}: {} → {}", map.name(&edge.from), edge.action.name(), map.name(to));
        (format!("{from}\n{key}\n{}", to.as_str()), told)
    });
    edge.collect()
}

fn crashes(map: &AppMap) -> Known {
    let wrong = map.mishaps.iter().filter(|it| it.kind != MishapKind::DeadEnd);
    let crash = wrong.map(|it| {
        let screen = it.screen.as_ref().map_or("", |id| id.as_str());
        (format!("{}\n{screen}\n{}", it.kind.name(), it.key), told(map, it))
    });
    crash.collect()
}
