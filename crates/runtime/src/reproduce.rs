//! Makes happen again what went wrong in an exploration, with as few actions as possible.
//!
//! The shortest known way comes first, then delta debugging over the actions of the journal.
//! The start of the app and its set-up stay. How often the result works is counted.

mod stage;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use pointsman_agents::explore::{
    Reduction, ScreenId,
    map::{Action, Kind, Landing, Map, Mishap},
};
use thiserror::Error;

use crate::{
    device::{DeviceError, Settings},
    session::Exploration,
};
use stage::Stage;
pub use stage::StageError;

/// Tries by which a way is judged, and by which one is judged that does not always work.
const TRIES: u32 = 3;
const MANY_TRIES: u32 = 20;
/// Known ways that are tried at most.
const MAX_WAYS: usize = 8;

/// How much is tried.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often the shortest way is verified; by default 3 times, and 20 times where an
    /// action on it was seen to come to different things.
    pub tries: Option<u32>,
    /// Actions at most, over all that is reproduced.
    pub actions: u64,
    /// How long a device is given.
    pub device: Settings,
}

impl Default for Options {
    fn default() -> Self {
        Self { tries: None, actions: 2_000, device: Settings::default() }
    }
}

/// A way to make something happen again.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproducer {
    /// What happens.
    pub mishap: Mishap,
    /// The moves, by their places in the map: the start, the set-up, and what leads there.
    pub path: Vec<usize>,
    /// How many moves the exploration took the first time.
    pub seen_after: usize,
    /// How often it happened again.
    pub held: u32,
    /// Out of so many tries.
    pub tries: u32,
    /// Actions that were spent on it.
    pub actions: u64,
    /// Whether the budget ended before all was tried.
    pub cut_short: bool,
}

/// Why nothing can be reproduced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There is no device to do it on.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Reproduces all that went wrong in an exploration, one after the other. Each has an equal
/// share of what is left of the budget.
pub async fn reproduce(
    exploration: &Exploration,
    options: &Options,
) -> Result<Vec<Reproducer>, ReproduceError> {
    let map = &exploration.map;
    let stage = Stage::new(&exploration.config, &options.device)?;
    stage.open().await?;
    let mut bench = Bench { map, stage, left: 0 };
    let (mut found, mut left) = (Vec::new(), options.actions);
    for (mishap, rest) in map.mishaps.iter().zip((1..=map.mishaps.len()).rev()) {
        let share = left / u64::try_from(rest).unwrap_or(u64::MAX);
        bench.left = share;
        found.push(bench.reproduce(mishap, options.tries).await?);
        left = left.saturating_sub(share - bench.left);
    }
    bench.stage.close().await;
    Ok(found)
}

/// Where ways are tried, within a budget.
struct Bench<'a> {
    map: &'a Map,
    stage: Stage,
    left: u64,
}

/// What came of going a way once.
enum Went {
    /// It happened.
    There,
    /// It did not; the first move that came to something else, by its place in the way.
    Astray(Option<usize>),
}

impl Bench<'_> {
    async fn reproduce(
        &mut self,
        mishap: &Mishap,
        tries: Option<u32>,
    ) -> Result<Reproducer, ReproduceError> {
        let before = self.left;
        let base = match self.known(mishap, BTreeSet::new()).await? {
            Some(way) => way,
            None => self.without_loops(mishap, mishap.path.clone()).await?,
        };
        let reduced = self.reduced(mishap, &base).await?;
        let (mut path, mut rate) = (reduced.clone(), self.rate(mishap, &reduced, tries).await?);
        if rate.0 == 0 && reduced != base {
            (path, rate) = (base.clone(), self.rate(mishap, &base, tries).await?);
        }
        // One action more is worth a way that does not depend on chance.
        if rate.0 < rate.1
            && let Some(other) = self.known(mishap, self.chances(mishap)).await?
            && other.len() <= path.len() + 1
        {
            let again = self.rate(mishap, &other, tries).await?;
            if u64::from(again.0) * u64::from(rate.1) > u64::from(rate.0) * u64::from(again.1) {
                (path, rate) = (other, again);
            }
        }
        Ok(Reproducer {
            seen_after: mishap.path.len(),
            path,
            held: rate.0,
            tries: rate.1,
            actions: before - self.left,
            cut_short: self.left == 0,
            mishap: mishap.clone(),
        })
    }

    /// Finds the shortest known way that works without some edges. An edge at which a way
    /// goes astray is not used again.
    async fn known(
        &mut self,
        mishap: &Mishap,
        mut without: BTreeSet<usize>,
    ) -> Result<Option<Vec<usize>>, ReproduceError> {
        for _ in 0..MAX_WAYS {
            let Some((edges, way)) = self.map.shortest_without(mishap, &without) else { break };
            let (holds, astray) = self.holds(mishap, &way).await?;
            if holds {
                return Ok(Some(way));
            }
            let first = way.len() - edges.len() - usize::from(!mishap.key.is_empty());
            let edge = astray.and_then(|at| edges.get(at.checked_sub(first)?));
            let Some(edge) = edge.filter(|_| self.left > 0) else { break };
            without.insert(*edge);
        }
        Ok(None)
    }

    /// Leaves out what only led back to where it began, the longest first.
    async fn without_loops(
        &mut self,
        mishap: &Mishap,
        mut path: Vec<usize>,
    ) -> Result<Vec<usize>, ReproduceError> {
        'again: loop {
            let from =
                |at: usize| path.get(at).and_then(|it| self.map.moves.get(*it)?.from.clone());
            let first = self.map.prefix(&path);
            let mut loops = Vec::new();
            for one in first..path.len() {
                let later = (one + 1..path.len()).filter(|two| from(one) == from(*two));
                loops.extend(later.filter(|_| from(one).is_some()).map(|two| (one, two)));
            }
            loops.sort_by_key(|(one, two)| std::cmp::Reverse(two - one));
            for (one, two) in loops {
                if self.left == 0 {
                    break 'again;
                }
                let shorter = [&path[..one], &path[two..]].concat();
                if self.holds(mishap, &shorter).await?.0 {
                    path = shorter;
                    continue 'again;
                }
            }
            break;
        }
        Ok(path)
    }

    /// Leaves out all that is not needed.
    async fn reduced(
        &mut self,
        mishap: &Mishap,
        base: &[usize],
    ) -> Result<Vec<usize>, ReproduceError> {
        let suffix = usize::from(mishap.kind != Kind::DeadEnd);
        let mut reduction = Reduction::new(base, self.map.prefix(base), suffix);
        while let Some(next) = reduction.propose() {
            if self.left == 0 {
                break;
            }
            let (holds, _) = self.holds(mishap, &next).await?;
            reduction.tell(holds);
        }
        Ok(reduction.best())
    }

    /// Counts how often a way works. One that works sometimes is tried more often.
    async fn rate(
        &mut self,
        mishap: &Mishap,
        path: &[usize],
        tries: Option<u32>,
    ) -> Result<(u32, u32), ReproduceError> {
        let mut wanted =
            tries.unwrap_or_else(|| if self.varies(path) { MANY_TRIES } else { TRIES });
        let (mut held, mut done) = (0, 0);
        while done < wanted && self.left > 0 {
            held += u32::from(matches!(self.once(mishap, path).await?, Went::There));
            done += 1;
            if done == wanted && held > 0 && held < done && tries.is_none() {
                wanted = MANY_TRIES;
            }
        }
        Ok((held, done))
    }

    /// Returns whether a way works at least once, and else where it went astray most often.
    /// One on which an action comes to different things is tried more often.
    async fn holds(
        &mut self,
        mishap: &Mishap,
        path: &[usize],
    ) -> Result<(bool, Option<usize>), ReproduceError> {
        let tries = if self.varies(path) { 2 * TRIES } else { TRIES };
        let mut astray: BTreeMap<usize, u32> = BTreeMap::new();
        for _ in 0..tries {
            if self.left == 0 {
                break;
            }
            match self.once(mishap, path).await? {
                Went::There => return Ok((true, None)),
                Went::Astray(Some(at)) => *astray.entry(at).or_default() += 1,
                Went::Astray(None) => {}
            }
        }
        Ok((false, astray.into_iter().max_by_key(|(_, times)| *times).map(|(at, _)| at)))
    }

    /// Goes a way once from the start of the app.
    async fn once(&mut self, mishap: &Mishap, path: &[usize]) -> Result<Went, ReproduceError> {
        let (mut from, mut landed) = self.stage.start(&mut self.left).await?;
        let mut astray = None;
        for (at, place) in path.iter().enumerate() {
            let Some(done) = self.map.moves.get(*place) else { continue };
            // The app is started whichever way it was started then.
            if done.action.starts() {
                continue;
            }
            if self.left == 0 || landed.kind().is_some() {
                return Ok(Went::Astray(astray));
            }
            match self.stage.act(&done.action, &mut self.left).await? {
                Some(came) => (from, landed) = came,
                // What led here led to a screen that does not offer it.
                None => return Ok(Went::Astray(astray.or_else(|| at.checked_sub(1)))),
            }
            if landed != done.to {
                astray.get_or_insert(at);
            }
        }
        let there = match mishap.kind {
            Kind::DeadEnd => mishap.screen.clone().map(Landing::Screen) == Some(landed),
            kind => landed.kind() == Some(kind) && (from.is_none() || from == mishap.screen),
        };
        Ok(if there { Went::There } else { Went::Astray(astray) })
    }

    /// Returns whether an action of a way was seen to come to different things.
    fn varies(&self, path: &[usize]) -> bool {
        let moves = path.iter().filter_map(|at| self.map.moves.get(*at));
        let mut acts = moves.filter(|it| !it.action.starts());
        acts.any(|it| {
            it.from.as_ref().is_some_and(|from| self.comes_to(from, &it.action).len() > 1)
        })
    }

    /// Returns the edges whose action was seen to come to different things.
    fn chances(&self, mishap: &Mishap) -> BTreeSet<usize> {
        let edges = self.map.edges.iter().enumerate();
        let varied = edges.filter(|(_, edge)| {
            let does_it = Some(&edge.from) == mishap.screen.as_ref();
            !does_it && self.comes_to(&edge.from, &edge.action).len() > 1
        });
        varied.map(|(at, _)| at).collect()
    }

    fn comes_to(&self, from: &ScreenId, action: &Action) -> BTreeSet<&Landing> {
        let same = self
            .map
            .moves
            .iter()
            .filter(|it| it.from.as_ref() == Some(from) && it.action.key == action.key);
        same.map(|it| &it.to).filter(|to| **to != Landing::Unknown).collect()
    }
}
