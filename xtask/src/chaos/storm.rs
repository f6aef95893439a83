//! One storm: what is done to a fleet, in an order that its seed draws.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{
    Fault,
    check::{self, Finding, Violation},
    history::History,
    scene::{BETWEEN, Scene},
};
use crate::random::SplitMix64;

/// How long a fleet may take to finish once it is left alone.
const CALM: Duration = Duration::from_mins(3);
/// The same with thousands of runs.
const LONG_CALM: Duration = Duration::from_mins(40);
/// The same where nothing is judged that has not ended.
const NO_CALM: Duration = Duration::from_secs(6);
/// For how many beats of the pulse nothing may be written, or announced, until a fleet counts as stopped.
/// A beat takes 0.1 s, and longer on a busy machine.
const STILL: usize = 600;
/// The same with few runs: a set-up and a lease take a fifth of it.
const STILL_WITH_FEW: usize = 200;

/// What a storm does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stroke {
    Kill,
    /// A worker is killed just after it has started an effect.
    KillDuring(Started),
    Suspend,
    /// A worker is asked to end, and started again.
    Drain,
    Crash,
    Cut,
    Delay,
    FlushRedis,
    KillRedis,
    /// Redis ends, and stays away.
    LoseRedis,
}

/// An effect that a worker has started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Started {
    /// The next owner of the run repeats it: a takeover that can be measured.
    Model,
    /// A call that must not be repeated: the next owner of the run asks a person.
    Unrepeatable,
}

const STROKES: [Stroke; 10] = [
    Stroke::KillDuring(Started::Unrepeatable),
    Stroke::KillDuring(Started::Model),
    Stroke::Suspend,
    Stroke::Kill,
    Stroke::Crash,
    Stroke::Drain,
    Stroke::FlushRedis,
    Stroke::Cut,
    Stroke::Delay,
    Stroke::KillRedis,
];

/// A pooler and a proxy know one server.
const STROKES_WITH_STANDBY: [Stroke; 5] = [
    Stroke::KillDuring(Started::Unrepeatable),
    Stroke::KillDuring(Started::Model),
    Stroke::Suspend,
    Stroke::Kill,
    Stroke::Drain,
];

/// A storm over a fleet.
#[derive(Clone, Copy)]
pub(super) struct Storm {
    pub(super) workers: usize,
    pub(super) seed: u64,
    pub(super) runs: usize,
    /// Parts in which the runs are submitted, one after the other while the storm lasts.
    pub(super) parts: usize,
    /// Words to each run.
    pub(super) rounds: usize,
    pub(super) seconds: u64,
    /// Whether the server has a synchronous standby, which takes its place once half of the runs
    /// have ended.
    pub(super) standby: bool,
    /// The fault whose storm this is.
    pub(super) fault: Option<&'static Fault>,
    /// Whether every worker has that fault. The storm ends when it shows.
    pub(super) planted: bool,
}

/// How long a fleet is left alone.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    pub(super) longest: Duration,
    /// Beats of the pulse without a change.
    pub(super) still: usize,
}

impl Storm {
    /// Runs it to its end, or until something shows. Returns what is left to read, and what is wrong
    /// with it.
    pub(super) async fn run(&self) -> Result<(History, Vec<Finding>)> {
        let mut scene = Scene::start(self).await?;
        let mut draws = SplitMix64::new(self.seed);
        let (began, lasts) = (Instant::now(), Duration::from_secs(self.seconds));
        let strokes = self.strokes();
        while began.elapsed() < lasts || scene.strokes() < strokes.len() {
            tokio::time::sleep(BETWEEN).await;
            scene.fail_over().await?;
            // Each once, then what is still missing, then as they are drawn.
            let stroke = match strokes.get(scene.strokes()) {
                Some(next) => Some(*next),
                None => self.missing(&scene).await?.or_else(|| draws.one_of(strokes).copied()),
            };
            let Some(stroke) = stroke else { break };
            let worker = draws.below(self.workers);
            scene.strike(stroke, worker).await?;
            if let Some(noticed) = self.noticed(&scene).await? {
                return Ok(noticed);
            }
            if scene.is_over() && scene.strokes() >= strokes.len() {
                break;
            }
        }
        scene.calm(self.patience()).await?;
        scene.end(self.patience()).await
    }

    /// Returns a stroke for what a storm without a fault must bring about and has not: an effect may have
    /// ended before its worker was killed.
    async fn missing(&self, scene: &Scene) -> Result<Option<Stroke>> {
        if self.fault.is_some() || self.standby {
            return Ok(None);
        }
        let history = scene.history().await?;
        Ok(match (history.takeovers().is_empty(), history.asked) {
            (true, _) => Some(Stroke::KillDuring(Started::Model)),
            (false, 0) => Some(Stroke::KillDuring(Started::Unrepeatable)),
            (false, _) => None,
        })
    }

    fn strokes(&self) -> &'static [Stroke] {
        match self.fault {
            _ if self.standby => &STROKES_WITH_STANDBY,
            Some(fault) if !fault.strokes.is_empty() => fault.strokes,
            _ => &STROKES,
        }
    }

    /// A fault and its control have the same.
    fn patience(&self) -> Patience {
        match self.fault {
            None if self.standby => Patience { longest: LONG_CALM, still: STILL },
            None => Patience { longest: CALM, still: STILL },
            Some(fault) if fault.at_end => Patience { longest: CALM, still: STILL_WITH_FEW },
            Some(_) => Patience { longest: NO_CALM, still: STILL_WITH_FEW },
        }
    }

    /// Returns whether this is what the storm is there to show.
    pub(super) fn shows(&self, violation: Violation) -> bool {
        let fault = self.fault.filter(|_| self.planted);
        fault.is_none_or(|fault| fault.shows.contains(&violation))
    }

    /// Returns what is wrong by now, if that ends the storm.
    async fn noticed(&self, scene: &Scene) -> Result<Option<(History, Vec<Finding>)>> {
        // Thousands of journals are read once, at the end.
        if self.standby {
            return Ok(None);
        }
        let history = scene.history().await?;
        let found = check::violations_so_far(&history);
        let shows = found.iter().any(|(violation, _)| self.shows(*violation));
        Ok(shows.then_some((history, found)))
    }
}
