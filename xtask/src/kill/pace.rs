//! When to kill: moments that are drawn, and a pace that is learnt, because a machine that
//! does other things as well is slower at one time than at another.

use std::time::Duration;

use crate::random::SplitMix64;

/// Of how many moments one may lie before the run has begun.
const ANYWHERE: usize = 8;
/// Parts that a time is divided into.
const PARTS: u32 = 1_000;
/// How much slower or faster the machine is taken to be after a moment that was missed.
const STEP: u32 = 20;
/// The slowest that is believed.
const SLOWEST: u32 = 50 * PARTS;
const FASTEST: u32 = PARTS / 20;

/// A moment, before it is known how fast the machine is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    /// Whether it may lie before the run has begun.
    anywhere: bool,
    part: u32,
}

impl Draw {
    pub(super) fn new(draws: &mut SplitMix64) -> Self {
        let anywhere = draws.below(ANYWHERE) == 0;
        let part = u32::try_from(draws.below(PARTS as usize)).unwrap_or(0);
        Self { anywhere, part }
    }
}

/// What a program was at when its moment came.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Hit {
    /// It was over.
    #[default]
    Missed,
    /// It had not written its first entry.
    Early,
    /// It was within the run.
    Within,
    /// It had written its last entry.
    Late,
}

/// How fast runs go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    begins: Duration,
    usual: Duration,
    /// How much longer it all takes now, in parts.
    now: u32,
}

impl Pace {
    /// Takes how long a program needed for a run, and how long the run itself was.
    pub(super) const fn new(usual: Duration, ran: Duration) -> Self {
        Self { begins: usual.saturating_sub(ran), usual, now: PARTS }
    }

    /// Returns when a moment is.
    pub(super) fn moment(&self, draw: Draw) -> Duration {
        let from = if draw.anywhere { Duration::ZERO } else { self.begins };
        let moment = from + self.usual.saturating_sub(from) * draw.part / PARTS;
        moment * self.now / PARTS
    }

    /// Learns from a moment that has passed.
    pub(super) fn learn(&mut self, draw: Draw, hit: Hit) {
        let step = self.now / STEP;
        match hit {
            Hit::Missed | Hit::Late => self.now = self.now.saturating_sub(step).max(FASTEST),
            Hit::Early if !draw.anywhere => self.now = self.now.saturating_add(step).min(SLOWEST),
            Hit::Early | Hit::Within => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_kills_happen_during_the_run() {
        let ms = Duration::from_millis;
        for per_cent in [20, 50, 100, 200, 800] {
            let mut pace = Pace::new(ms(500), ms(300));
            let mut draws = SplitMix64::new(7);
            let (mut killed, mut within) = (0, 0);
            for _ in 0..300 {
                let draw = Draw::new(&mut draws);
                let (moment, begun) = (pace.moment(draw), ms(200) * per_cent / 100);
                let hit = match moment {
                    it if it < begun => Hit::Early,
                    it if it < ms(500) * per_cent / 100 => Hit::Within,
                    _ => Hit::Missed,
                };
                pace.learn(draw, hit);
                killed += u32::from(hit != Hit::Missed);
                within += u32::from(hit == Hit::Within);
            }
            assert!(killed >= 200 && within * 2 >= killed, "{per_cent} %: {killed}, {within}");
        }
    }
}
