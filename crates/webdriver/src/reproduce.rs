//! Makes happen again what went wrong in an exploration, with as few actions as possible.
//!
//! The shortest known way comes first, then delta debugging over the actions of the journal.
//! The start of the app and its set-up stay. How often the result works is counted.

mod test_device;
#[cfg(test)]
mod tests;

use pointsman_agents::explore::{
    ExploreConfig, Reduction,
    map::{ActionPath, ActionResult, AppMap, Granularity, Mishap, MishapKind, PathModel},
};
use thiserror::Error;

use crate::device::{DeviceError, DeviceSettings};
use test_device::TestDevice;
pub use test_device::TestDeviceError;

/// Tries to judge a path, and to judge one that does not always work.
const TRIES: u32 = 5;
const MANY_TRIES: u32 = 20;
/// Tries after which a way counts as one that does not work.
const MIN_TRIES: u32 = 3;
const MAX_TRIES: u32 = 10;
/// Actions for each problem: this many, or this many per action of its path, up to the last
/// number.
const ACTIONS: u64 = 500;
const ACTIONS_PER_MOVE: u64 = 60;
const MAX_ACTIONS: u64 = 3_000;
/// Known ways that are tried at most.
const MAX_WAYS: usize = 8;
/// Others that are counted where the shortest does not always work.
const MAX_OTHERS: usize = 3;
/// How much surer a way must be to be worth one action more, in tenths.
const SURER: u64 = 15;

/// How much is tried.
#[derive(Clone, Debug, Default)]
pub struct ReproduceOptions {
    /// How often the shortest way is verified; by default 5 times, and 20 times where an
    /// action on it was seen to come to different things or it did not always work.
    pub tries: Option<u32>,
    /// Actions at most, over all that is reproduced; by default 500 for each, or 60 for each
    /// action of the way on which it was seen, at most 3,000.
    pub actions: Option<u64>,
    /// How long a device is given.
    pub device: DeviceSettings,
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
    /// The number of tries.
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
    /// There is no device for it.
    #[error(transparent)]
    Stage(#[from] TestDeviceError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Reproduces all that went wrong in an exploration, one after the other. Each has a share
/// of the remaining budget: the longer its way, the more.
pub async fn reproduce(
    config: &ExploreConfig,
    map: &AppMap,
    options: &ReproduceOptions,
) -> Result<Vec<Reproducer>, ReproduceError> {
    let stage = TestDevice::new(config, &options.device)?;
    stage.open().await?;
    let mut bench = TrialBudget::new(map, stage);
    let mut rest: u64 = map.mishaps.iter().map(|it| allowance(it.path.len())).sum();
    let mut left = options.actions.unwrap_or(rest);
    let mut found = Vec::new();
    for mishap in &map.mishaps {
        let own = allowance(mishap.path.len());
        let share = left.saturating_mul(own).checked_div(rest).unwrap_or(0);
        (bench.left, rest) = (share, rest - own);
        found.push(bench.reproduce(mishap, options.tries).await?);
        left -= share - bench.left;
    }
    bench.stage.close().await;
    Ok(found)
}

/// Returns the default budget of actions for a problem that was seen after this many moves. Half
/// of it is enough to walk the whole path thirty times.
fn allowance(moves: usize) -> u64 {
    let length = u64::try_from(moves).unwrap_or(u64::MAX);
    length.saturating_mul(ACTIONS_PER_MOVE).clamp(ACTIONS, MAX_ACTIONS)
}

/// Where ways are tried, within a budget.
struct TrialBudget<'a> {
    map: &'a AppMap,
    /// Where actions lead, including the results of the tries.
    ways: PathModel,
    stage: TestDevice,
    left: u64,
}

impl<'a> TrialBudget<'a> {
    fn new(map: &'a AppMap, stage: TestDevice) -> Self {
        Self { map, ways: PathModel::of(map), stage, left: 0 }
    }

    async fn reproduce(
        &mut self,
        mishap: &Mishap,
        tries: Option<u32>,
    ) -> Result<Reproducer, ReproduceError> {
        let before = self.left;
        // An unverified path is worth little.
        let wanted = u64::from(tries.unwrap_or(MANY_TRIES));
        // The app is started for every try, even where it was in front already.
        let length = u64::try_from(mishap.path.len() + 1).unwrap_or(u64::MAX);
        let kept = wanted.saturating_mul(length).min(before / 2);
        self.left -= kept;
        let base = match self.known(mishap).await? {
            Some(way) => way,
            None => self.shortened(mishap, mishap.path.clone()).await?,
        };
        let reduced = self.reduced(mishap, &base).await?;
        let cut_short = self.left == 0;
        self.left += kept;
        let (mut path, mut rate) = (reduced.clone(), self.rate(mishap, &reduced, tries).await?);
        if rate.0 == 0 && base != path {
            (path, rate) = (base.clone(), self.rate(mishap, &base, tries).await?);
        }
        // One action more is worth a way that does not depend on chance.
        let (longest, mut counted) = (path.len() + 1, vec![path.clone()]);
        while rate.0 < rate.1 && counted.len() <= MAX_OTHERS {
            let known = self.ways.to(self.map, mishap, Granularity::Spots).into_iter();
            let known = known.filter(|way| promises(way.sure, rate)).map(|way| way.moves);
            let mut others = known.rev().chain([base.clone()]);
            let other = others.find(|it| it.len() <= longest && !counted.contains(it));
            let cost = |way: &Vec<usize>| u64::try_from(way.len()).map(|it| it * wanted);
            let Some(other) = other.filter(|it| cost(it).is_ok_and(|it| it <= self.left)) else {
                break;
            };
            let again = self.rate(mishap, &other, tries).await?;
            if surer(again, rate) {
                (path, rate) = (other.clone(), again);
            }
            counted.push(other);
        }
        Ok(Reproducer {
            seen_after: mishap.path.len(),
            path,
            held: rate.0,
            tries: rate.1,
            actions: before - self.left,
            cut_short: cut_short || self.left == 0,
            mishap: mishap.clone(),
        })
    }

    /// Finds the shortest known way that works. What every try has shown counts for the next.
    async fn known(&mut self, mishap: &Mishap) -> Result<Option<Vec<usize>>, ReproduceError> {
        let mut tried: Vec<Vec<usize>> = Vec::new();
        for grain in [Granularity::Spots, Granularity::Screens] {
            for _ in 0..MAX_WAYS {
                let mut ways = self.ways.to(self.map, mishap, grain);
                ways.retain(|way| {
                    way.moves.len() <= mishap.path.len() && !tried.contains(&way.moves)
                });
                let Some(way) = chosen(&ways).filter(|_| self.left > 0) else { break };
                if self.holds(mishap, &way.moves, way.sure).await? {
                    return Ok(Some(way.moves.clone()));
                }
                tried.push(way.moves.clone());
            }
        }
        Ok(None)
    }

    /// Takes a shorter way between two places of a path, or none where they are the same:
    /// where the most is saved first.
    async fn shortened(
        &mut self,
        mishap: &Mishap,
        mut path: Vec<usize>,
    ) -> Result<Vec<usize>, ReproduceError> {
        'again: loop {
            for shorter in self.shortcuts(&path) {
                if self.left == 0 {
                    break 'again;
                }
                if self.holds(mishap, &shorter, 0).await? {
                    path = shorter;
                    continue 'again;
                }
            }
            break;
        }
        Ok(path)
    }

    /// Returns what a path becomes by each shorter way between two of its places, the
    /// shortest first.
    fn shortcuts(&self, path: &[usize]) -> Vec<Vec<usize>> {
        let spot = |at: usize| path.get(at).and_then(|it| self.map.moves.get(*it)?.spots.0);
        let mut found = Vec::new();
        for one in self.map.prefix(path)..path.len() {
            for two in one + 1..path.len() {
                let (Some(from), Some(to)) = (spot(one), spot(two)) else { continue };
                let way = self.ways.between(from, to, two - one - 1);
                found.extend(way.map(|way| [&path[..one], &way, &path[two..]].concat()));
            }
        }
        found.sort_by_key(Vec::len);
        found.dedup();
        found
    }

    /// Leaves out all that is not needed.
    async fn reduced(
        &mut self,
        mishap: &Mishap,
        base: &[usize],
    ) -> Result<Vec<usize>, ReproduceError> {
        let suffix = usize::from(mishap.kind != MishapKind::DeadEnd);
        let mut reduction = Reduction::new(base, self.map.prefix(base), suffix);
        while let Some(next) = reduction.propose() {
            if self.left == 0 {
                break;
            }
            let holds = self.holds(mishap, &next, 0).await?;
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
        let varies = path.iter().any(|it| self.ways.varies(self.map, *it));
        let mut wanted = tries.unwrap_or(if varies { MANY_TRIES } else { TRIES });
        let (mut held, mut done) = (0, 0);
        while done < wanted && self.left > 0 {
            held += u32::from(self.once(mishap, path).await?);
            done += 1;
            if held < done && tries.is_none() {
                wanted = MANY_TRIES;
            }
        }
        Ok((held, done))
    }

    /// Returns whether a way works at least once. One that is known to depend on chance is
    /// tried more often: `sure` is how likely it works, in millionths, if that is known.
    async fn holds(
        &mut self,
        mishap: &Mishap,
        path: &[usize],
        sure: u64,
    ) -> Result<bool, ReproduceError> {
        let tries = 2_500_000_u64.checked_div(sure).and_then(|it| u32::try_from(it).ok());
        for _ in 0..tries.unwrap_or(MIN_TRIES).clamp(MIN_TRIES, MAX_TRIES) {
            if self.left == 0 {
                break;
            }
            if self.once(mishap, path).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes a way once from the start of the app, and returns whether it happens at its end.
    async fn once(&mut self, mishap: &Mishap, path: &[usize]) -> Result<bool, ReproduceError> {
        let (mut from, mut landed) = self.stage.start(&mut self.left).await?;
        let mut spot = self.spot(&landed);
        let prefix = self.map.prefix(path);
        if let (1, Some(spot)) = (prefix, spot) {
            self.ways.start(spot);
        }
        for (at, place) in path.iter().enumerate() {
            let Some(done) = self.map.moves.get(*place) else { continue };
            // The app is started whichever way it was started then.
            if done.action.starts() {
                continue;
            }
            if self.left == 0 || landed.kind().is_some() {
                return Ok(false);
            }
            let exact = self.stage.offers(&done.action);
            match self.stage.act(&done.action, &mut self.left).await? {
                Some(came) => (from, landed) = came,
                // The screen does not offer it.
                None => return Ok(false),
            }
            let before = spot.filter(|_| exact);
            spot = self.spot(&landed);
            if let (Some(before), Some(end)) = (before, self.ways.end(&landed, spot)) {
                self.ways.note(before, *place, &done.action.key, end);
            }
            if let (true, Some(spot)) = (at + 1 == prefix, spot) {
                self.ways.start(spot);
            }
        }
        Ok(match mishap.kind {
            MishapKind::DeadEnd => mishap.screen.clone().map(ActionResult::Screen) == Some(landed),
            kind => landed.kind() == Some(kind) && (from.is_none() || from == mishap.screen),
        })
    }

    /// Records the present screen, and returns the number of the place.
    fn spot(&mut self, landed: &ActionResult) -> Option<usize> {
        let screen = self.stage.screen().filter(|_| matches!(landed, ActionResult::Screen(_)))?;
        Some(self.ways.see(screen))
    }
}

/// Chooses the shortest of some ways, or one that takes an action more and is surer.
fn chosen(ways: &[ActionPath]) -> Option<&ActionPath> {
    let shortest = ways.first()?;
    let surer = ways.iter().rev().find(|way| {
        way.moves.len() <= shortest.moves.len() + 1 && way.sure * 10 >= shortest.sure * SURER
    });
    Some(surer.unwrap_or(shortest))
}

/// Returns whether a way that works so likely, in millionths, is better than this rate.
fn promises(sure: u64, (held, tries): (u32, u32)) -> bool {
    sure * u64::from(tries) > u64::from(held) * 1_250_000
}

/// Returns whether the first rate is better.
fn surer(one: (u32, u32), two: (u32, u32)) -> bool {
    u64::from(one.0) * u64::from(two.1) > u64::from(two.0) * u64::from(one.1)
}
