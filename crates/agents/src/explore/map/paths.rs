//! Known paths in an app: the shortest, and how reliable each is.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use super::{
    super::screen::{Screen, ScreenId},
    ActionResult, AppMap, Mishap, MishapKind,
    spots::{SURE, Spots},
};

impl AppMap {
    /// Returns the screens that a start of the app leads to, once the set-up is done.
    pub fn starts(&self) -> BTreeSet<&ScreenId> {
        let started = self.started().filter_map(|at| {
            let ActionResult::Screen(id) = &self.moves.get(at)?.to else { return None };
            Some(id)
        });
        let mut found: BTreeSet<&ScreenId> = started.collect();
        // An app that was there already was never started.
        if found.is_empty() {
            found.extend(self.screens.first().map(|it| &it.id));
        }
        found
    }

    /// Returns the moves after which the app was started and set up, by their places.
    fn started(&self) -> impl Iterator<Item = usize> {
        let mut since = None;
        self.moves.iter().enumerate().filter_map(move |(at, done)| {
            since = if done.action.starts() {
                Some(0)
            } else {
                since.map(|it: usize| it.saturating_add(1))
            };
            (since == Some(self.setup)).then_some(at)
        })
    }

    /// Returns the moves of the shortest known path to a problem: the original start and set-up,
    /// then one move for every edge, then the action that caused it.
    pub fn shortest(&self, mishap: &Mishap) -> Vec<usize> {
        let ways = PathModel::of(self).to(self, mishap, Granularity::Spots);
        let known = ways.into_iter().next().map(|way| way.moves);
        known.filter(|it| it.len() < mishap.path.len()).unwrap_or_else(|| mishap.path.clone())
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
                && it.to != ActionResult::Unknown
        });
        let other = same.filter(|it| it.to.kind() != Some(mishap.kind)).count();
        u32::try_from(other).unwrap_or(u32::MAX)
    }
}

/// Where an action led, as ways count it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PathEnd {
    /// To a place of the app, by its number.
    Spot(usize),
    /// To a crash or a hang.
    Down(MishapKind),
    /// Elsewhere.
    Away,
}

/// How finely places are distinguished.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Granularity {
    /// By their heads and by which fields are filled.
    Spots,
    /// As the screens of the map.
    Screens,
}

/// A way to something that went wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActionPath {
    /// Its moves, from the start of the app, by their places in the map.
    pub moves: Vec<usize>,
    /// How likely it works, in millionths.
    pub sure: u64,
}

/// Where actions are known to lead. It learns from every further try.
#[derive(Clone, Debug, Default)]
pub struct PathModel {
    spots: Spots,
    /// By the place and the action's key.
    done: BTreeMap<(usize, String), Done>,
    /// Where the app was when it was set up, and how often.
    starts: BTreeMap<usize, u32>,
}

#[derive(Clone, Debug, Default)]
struct Done {
    /// A move that did it.
    place: usize,
    times: u32,
    to: BTreeMap<PathEnd, u32>,
}

/// The surest ways of each length from where a search began.
type Layers = Vec<BTreeMap<usize, Reached>>;

#[derive(Clone, Copy, Debug)]
struct Reached {
    sure: u64,
    /// The place before and the move that led on.
    by: Option<(usize, usize)>,
}

impl PathModel {
    /// Returns what a map knows.
    pub fn of(map: &AppMap) -> Self {
        let mut ways = Self { spots: map.spots.clone(), ..Self::default() };
        for (place, done) in map.moves.iter().enumerate().filter(|(_, it)| !it.action.starts()) {
            if let (Some(from), Some(end)) = (done.spots.0, ways.end(&done.to, done.spots.1)) {
                ways.note(from, place, &done.action.key, end);
            }
        }
        for at in map.started() {
            if let Some(spot) = map.moves.get(at).and_then(|it| it.spots.1) {
                ways.start(spot);
            }
        }
        if ways.starts.is_empty() {
            ways.starts.insert(0, 1);
        }
        ways
    }

    /// Records a look, and returns the number of the place.
    pub fn see(&mut self, screen: &Screen) -> usize {
        self.spots.see(screen)
    }

    /// Records where the app is once it is started and set up.
    pub fn start(&mut self, spot: usize) {
        let times = self.starts.entry(spot).or_default();
        *times = times.saturating_add(1);
    }

    /// Records where an action led that a move of the map had done.
    pub fn note(&mut self, from: usize, place: usize, key: &str, end: PathEnd) {
        let done = self
            .done
            .entry((from, key.into()))
            .or_insert_with(|| Done { place, ..Done::default() });
        done.times = done.times.saturating_add(1);
        let times = done.to.entry(end).or_default();
        *times = times.saturating_add(1);
    }

    /// Returns where an action led, if anyone looked.
    pub fn end(&self, landing: &ActionResult, spot: Option<usize>) -> Option<PathEnd> {
        match landing {
            ActionResult::Screen(_) => spot.map(PathEnd::Spot),
            ActionResult::Crash => Some(PathEnd::Down(MishapKind::Crash)),
            ActionResult::NotResponding => Some(PathEnd::Down(MishapKind::NotResponding)),
            ActionResult::Outside(_) => Some(PathEnd::Away),
            ActionResult::Unknown => None,
        }
    }

    /// Returns whether a move of the map was seen to come to different things, or is not
    /// always offered.
    pub fn varies(&self, map: &AppMap, place: usize) -> bool {
        let done = map.moves.get(place).filter(|it| !it.action.starts());
        let Some((done, from)) = done.and_then(|it| Some((it, it.spots.0?))) else {
            return false;
        };
        let known = self.done.get(&(from, done.action.key.clone()));
        known.is_some_and(|it| it.to.len() > 1) || self.spots.offers(from, &done.action.key) < SURE
    }

    /// Returns the known paths to a problem, shortest first, and then only those that are more
    /// reliable than all shorter ones.
    pub fn to(&self, map: &AppMap, mishap: &Mishap, grain: Granularity) -> Vec<ActionPath> {
        let prefix = map.prefix(&mishap.path);
        let fixed = mishap.path.get(..prefix).unwrap_or_default();
        let total = self.starts.values().fold(0_u64, |sum, it| sum.saturating_add((*it).into()));
        let starts = self.starts.iter().map(|(spot, times)| {
            let sure = u64::from(*times).saturating_mul(SURE).checked_div(total).unwrap_or(0);
            (self.node(*spot, grain), Reached { sure, by: None })
        });
        let longest = mishap.path.len().saturating_sub(prefix);
        let layers = self.search(starts.collect(), grain, longest);
        let mut ways: Vec<ActionPath> = Vec::new();
        for length in 0..layers.len() {
            let Some((end, last, sure)) = self.surest(map, mishap, &layers, length, grain) else {
                continue;
            };
            if ways.iter().all(|way| way.sure < sure) {
                let middle = back(&layers, length, end);
                let moves = fixed.iter().copied().chain(middle).chain(last).collect();
                ways.push(ActionPath { moves, sure });
            }
        }
        ways
    }

    /// Returns the shortest known way between two places, by the moves that did it.
    pub fn between(&self, from: usize, to: usize, longest: usize) -> Option<Vec<usize>> {
        let start = [(from, Reached { sure: SURE, by: None })];
        let layers = self.search(start.into(), Granularity::Spots, longest);
        let length = layers.iter().position(|layer| layer.contains_key(&to))?;
        Some(back(&layers, length, to))
    }

    fn node(&self, spot: usize, grain: Granularity) -> usize {
        match grain {
            Granularity::Spots => spot,
            Granularity::Screens => self.spots.first(spot),
        }
    }

    /// Extends paths by one action at a time, as long as a screen is reached more reliably than
    /// with fewer actions.
    fn search(
        &self,
        start: BTreeMap<usize, Reached>,
        grain: Granularity,
        longest: usize,
    ) -> Layers {
        let mut best: BTreeMap<usize, u64> =
            start.iter().map(|(node, reached)| (*node, reached.sure)).collect();
        let mut layers = Vec::from([start]);
        while layers.len() <= longest {
            let mut next: BTreeMap<usize, Reached> = BTreeMap::new();
            for ((spot, key), done) in &self.done {
                let node = self.node(*spot, grain);
                let Some(here) = layers.last().and_then(|layer| layer.get(&node)) else { continue };
                let here = times(here.sure, self.spots.offers(*spot, key));
                for (end, count) in &done.to {
                    let PathEnd::Spot(to) = end else { continue };
                    let (to, sure) = (self.node(*to, grain), times(here, done.chance(*count)));
                    if to == node || best.get(&to).is_some_and(|it| *it >= sure) {
                        continue;
                    }
                    best.insert(to, sure);
                    next.insert(to, Reached { sure, by: Some((node, done.place)) });
                }
            }
            if next.is_empty() {
                break;
            }
            layers.push(next);
        }
        layers
    }

    /// Returns where a way of this many moves ends, with the move that does it, if one is
    /// needed, and how likely that works.
    fn surest(
        &self,
        map: &AppMap,
        mishap: &Mishap,
        layers: &Layers,
        length: usize,
        grain: Granularity,
    ) -> Option<(usize, Option<usize>, u64)> {
        let layer = layers.get(length)?;
        let there = |spot: usize| self.spots.screen(spot) == mishap.screen.as_ref();
        if mishap.kind == MishapKind::DeadEnd {
            let ends = layer.iter().filter(|(node, _)| there(**node));
            return ends.map(|(node, it)| (*node, None, it.sure)).max_by_key(|it| it.2);
        }
        let mut found: Option<(usize, Option<usize>, u64)> = None;
        for ((spot, key), done) in self.done.iter().filter(|((spot, _), _)| there(*spot)) {
            let node = self.node(*spot, grain);
            let (Some(here), Some(count)) =
                (layer.get(&node), done.to.get(&PathEnd::Down(mishap.kind)))
            else {
                continue;
            };
            let same = map.moves.get(done.place).map(|it| it.action.kind_key());
            if same.as_ref() != Some(&mishap.key) {
                continue;
            }
            let offered = times(here.sure, self.spots.offers(*spot, key));
            let sure = times(offered, done.chance(*count));
            if found.is_none_or(|it| it.2 < sure) {
                found = Some((node, Some(done.place), sure));
            }
        }
        found
    }
}

impl Done {
    /// Returns how likely it leads where it led so often, in millionths. What was seen once
    /// is a little less sure than what was seen often.
    fn chance(&self, count: u32) -> u64 {
        let tenths = |it: u32, more: u64| u64::from(it).saturating_mul(10).saturating_add(more);
        let part = tenths(count, 9).saturating_mul(SURE);
        part.checked_div(tenths(self.times, 10)).unwrap_or(SURE)
    }
}

/// Returns the moves that led to a place in this many actions.
fn back(layers: &Layers, length: usize, end: usize) -> Vec<usize> {
    let (mut moves, mut node) = (Vec::new(), end);
    for layer in layers.iter().take(length.saturating_add(1)).rev() {
        let Some((before, place)) = layer.get(&node).and_then(|it| it.by) else { break };
        moves.push(place);
        node = before;
    }
    moves.reverse();
    moves
}

fn times(one: u64, two: u64) -> u64 {
    one.saturating_mul(two).checked_div(SURE).unwrap_or(0)
}
