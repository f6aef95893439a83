//! Shortest ways over what is known of an app.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

use super::{super::screen::ScreenId, Landing, Map, Mishap};

impl Map {
    /// Returns the screens that a start of the app leads to, once the set-up is done.
    pub fn starts(&self) -> BTreeSet<&ScreenId> {
        let mut found = BTreeSet::new();
        let mut since = None;
        for done in &self.moves {
            since = if done.action.starts() {
                Some(0)
            } else {
                since.map(|it: usize| it.saturating_add(1))
            };
            if let (Some(count), Landing::Screen(id)) = (since, &done.to)
                && count == self.setup
            {
                found.insert(id);
            }
        }
        // An app that was there already was never started.
        if found.is_empty() {
            found.extend(self.screens.first().map(|it| &it.id));
        }
        found
    }

    /// Returns the shortest known way from a start of the app to a screen, by the edges'
    /// places, without some of them; nothing if none is known.
    pub fn way(&self, to: &ScreenId, without: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let mut came: BTreeMap<&ScreenId, Option<usize>> = BTreeMap::new();
        let mut next: VecDeque<&ScreenId> = VecDeque::new();
        for start in self.starts() {
            came.insert(start, None);
            next.push_back(start);
        }
        while let Some(here) = next.pop_front() {
            if here == to {
                break;
            }
            for (at, edge) in self.edges.iter().enumerate().filter(|(_, it)| it.from == *here) {
                if without.contains(&at) {
                    continue;
                }
                let Landing::Screen(there) = &edge.to else { continue };
                if !came.contains_key(there) {
                    came.insert(there, Some(at));
                    next.push_back(there);
                }
            }
        }
        let mut way = Vec::new();
        let mut here = to;
        while let Some(at) = came.get(here)? {
            way.push(*at);
            here = &self.edges.get(*at)?.from;
        }
        way.reverse();
        Some(way)
    }

    /// Returns the moves of the shortest known way to something that went wrong: the start
    /// and the set-up as they were, then one move for every edge, then the action that did it.
    pub fn shortest(&self, mishap: &Mishap) -> Vec<usize> {
        let known = self.shortest_without(mishap, &BTreeSet::new()).map(|(_, moves)| moves);
        known.unwrap_or_else(|| mishap.path.clone())
    }

    /// Returns the same without some edges, with the edges that it takes; nothing where no
    /// way is known that is shorter than the one that was taken.
    pub fn shortest_without(
        &self,
        mishap: &Mishap,
        without: &BTreeSet<usize>,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let way = self.way(mishap.screen.as_ref()?, without)?;
        let prefix = mishap.path.iter().take(self.prefix(&mishap.path));
        let edges = way.iter().filter_map(|at| self.edges.get(*at)).map(|edge| edge.first);
        let last = mishap.path.last().filter(|_| !mishap.key.is_empty());
        let short: Vec<usize> = prefix.copied().chain(edges).chain(last.copied()).collect();
        (short.len() < mishap.path.len()).then_some((way, short))
    }

    /// Returns how many moves at the beginning of a path start the app and set it up.
    pub fn prefix(&self, path: &[usize]) -> usize {
        let starts =
            path.first().and_then(|at| self.moves.get(*at)).is_some_and(|it| it.action.starts());
        if starts { self.setup.saturating_add(1).min(path.len()) } else { 0 }
    }

    /// Returns how often an action on a screen came to something else than this.
    pub(super) fn otherwise(&self, mishap: &Mishap) -> u32 {
        let same = self.moves.iter().filter(|it| {
            it.from == mishap.screen
                && it.action.kind_key() == mishap.key
                && it.to != Landing::Unknown
        });
        let other = same.filter(|it| it.to.kind() != Some(mishap.kind)).count();
        u32::try_from(other).unwrap_or(u32::MAX)
    }
}
