//! How likely an action is to show something new: learned from all that was tried before.
//!
//! All numbers are whole: chances are millionths, so that every machine computes the same.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::{CandidateAction, DeviceAction, Direction},
    graph::TriedAction,
};

const SURE: u64 = 1_000_000;
/// Nothing is more likely than this.
const MOST: u64 = 950_000;

/// Tries that the first guess about a kind of action weighs as much as.
const KIND_WEIGHT: u64 = 2;
/// The weight of a kind, in tries, in the estimate for one name.
const NAME_WEIGHT: u64 = 8;
/// What a field that was filled once, here or elsewhere, is worth, in hundredths.
const FILLED_BEFORE: u64 = 50;
/// Tries that a screen is given before their results count.
const SCREEN_WEIGHT: u64 = 8;
/// Successes that must be expected of a part of the screen before their results count,
/// in millionths.
const PLACE_WEIGHT: u64 = 6 * SURE;
/// What the first rows of a list are worth, in hundredths; later ones are like the last.
const ROWS: [u64; 4] = [100, 30, 20, 5];
/// What the last place on a screen is worth less than the first, in thousandths.
const ORDER: u64 = 300;
/// The chance that what did nothing does something the next time, in millionths.
const SAME_AGAIN: u64 = 2_000;
/// What another try of an action that led elsewhere is worth of the share of such actions
/// that led elsewhere again, in hundredths.
const OTHER_AGAIN: u64 = 30;
/// The chance of something new for every screen that an action led to only once.
const SEVERAL_AGAIN: u64 = 300_000;
/// Tries after which an action is not tried again.
const MAX_TRIES: u32 = 12;
/// Tries of an action whose outcome is not sure, where a run may end.
const UNSURE_TRIES: u32 = 3;

/// Flags of a kind of action, beside the act and the direction.
const WEAK: u16 = 1 << 8;
const LISTED: u16 = 1 << 9;
const FIELD: u16 = 1 << 10;
const BESIDE_FIELDS: u16 = 1 << 11;

/// What was learned about actions.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ActionStats {
    kinds: BTreeMap<u16, TryRecord>,
    /// Numbers of the names that actions have on any screen.
    names: BTreeMap<String, u32>,
    groups: Vec<TryRecord>,
    /// By how far down the screen an action is.
    places: BTreeMap<u8, Lift>,
    /// By variant of a screen.
    screens: BTreeMap<String, TryRecord>,
    /// How often the same action led elsewhere the second time.
    again: TryRecord,
}

/// How often something was tried, and how often with success.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct TryRecord {
    tries: u32,
    hits: u32,
}

impl TryRecord {
    fn add(&mut self, hit: bool) {
        self.tries = self.tries.saturating_add(1);
        self.hits = self.hits.saturating_add(u32::from(hit));
    }

    /// Returns the chance of a success, where this many tries at `guess` came before.
    fn chance(self, guess: u64, weight: u64) -> u64 {
        let hits = u64::from(self.hits).saturating_mul(SURE);
        let guess = guess.saturating_mul(weight);
        let tries = u64::from(self.tries).saturating_add(weight).max(1);
        hits.saturating_add(guess).checked_div(tries).unwrap_or(guess)
    }
}

/// How often something succeeded, beside how often it was expected to; both in millionths.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Lift {
    expected: u64,
    hits: u64,
}

impl Lift {
    fn add(&mut self, expected: u64, hit: bool) {
        self.expected = self.expected.saturating_add(expected);
        self.hits = self.hits.saturating_add(if hit { SURE } else { 0 });
    }

    /// Returns a chance, as much greater or smaller as experience was than what was expected.
    fn lift(self, chance: u64) -> u64 {
        let hits = self.hits.saturating_add(PLACE_WEIGHT);
        part(chance, hits, self.expected.saturating_add(PLACE_WEIGHT)).min(MOST)
    }
}

/// What an action has in common with others.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ActionTraits {
    /// What to expect of it before anything was tried.
    pub(super) kind: u16,
    /// The number of its name, which it has on any screen.
    pub(super) group: u32,
    /// Its number among those with the same name, from 1.
    pub(super) row: u32,
    /// Its place among all that the screen offers, in thousandths.
    pub(super) rank: u32,
    /// How far down the screen it is, in fifths; only if it says that it can be tapped.
    pub(super) place: Option<u8>,
}

impl ActionTraits {
    /// Returns what the place in a list and on the screen makes of a chance.
    fn ordered(self, chance: u64) -> u64 {
        let row = usize::try_from(self.row.saturating_sub(1)).unwrap_or(usize::MAX);
        let row = ROWS.get(row).or(ROWS.last()).copied().unwrap_or(100);
        let order = part(u64::from(self.rank), ORDER, 1_000);
        part(part(chance, row, 100), 1_000_u64.saturating_sub(order), 1_000)
    }
}

/// The result of a try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TryOutcome {
    /// A screen that was never seen before.
    pub(super) new: bool,
    /// Another screen.
    pub(super) moved: bool,
    /// A screen to which the action never led before.
    pub(super) surprising: bool,
}

/// Returns the kind of a candidate: what it has in common with those on other screens.
pub(super) fn kind(candidate: &CandidateAction, beside_fields: bool) -> u16 {
    let act = match candidate.act {
        DeviceAction::Tap => 0,
        DeviceAction::Text => 1,
        DeviceAction::LongPress => 2,
        DeviceAction::Back => 3,
        DeviceAction::Wait => 4,
        DeviceAction::Launch => 5,
        DeviceAction::Restart => 6,
        DeviceAction::Swipe => match candidate.direction {
            None | Some(Direction::Up) => 8,
            Some(Direction::Down) => 9,
            Some(Direction::Left) => 10,
            Some(Direction::Right) => 11,
        },
    };
    let mut kind = act;
    for (flag, bit) in [
        (candidate.weak, WEAK),
        (candidate.listed, LISTED),
        (candidate.field.is_some() && candidate.act != DeviceAction::Text, FIELD),
        (beside_fields && candidate.act == DeviceAction::Tap && !candidate.listed, BESIDE_FIELDS),
    ] {
        if flag {
            kind |= bit;
        }
    }
    kind
}

/// Returns what to expect of a kind before anything was tried.
fn first_guess(kind: u16) -> u64 {
    let (act, weak, listed, field) =
        (kind & 0xff, kind & WEAK > 0, kind & LISTED > 0, kind & FIELD > 0);
    match act {
        0 if weak && listed => 50_000,
        0 if weak => 60_000,
        0 if field => 50_000,
        0 if kind & BESIDE_FIELDS > 0 => 400_000,
        0 | 4 => 500_000,
        1 if listed => 200_000,
        1 => 900_000,
        2 if field => 10_000,
        3 => 150_000,
        5 => 300_000,
        _ => 100_000,
    }
}

impl ActionStats {
    /// Returns the number of a name.
    pub(super) fn group(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.push(TryRecord::default());
        self.names.insert(name.into(), number);
        number
    }

    /// Records the result of an action.
    pub(super) fn take(&mut self, screen: &str, action: &TriedAction, outcome: TryOutcome) {
        if action.times == 0 {
            let traits = &action.traits;
            if let Some(place) = traits.place {
                let expected = traits.ordered(self.of_kind(traits.kind));
                self.places.entry(place).or_default().add(expected, outcome.new);
            }
            self.kinds.entry(traits.kind).or_default().add(outcome.new);
            if let Some(group) =
                usize::try_from(traits.group).ok().and_then(|at| self.groups.get_mut(at))
            {
                group.add(outcome.new);
            }
            if !self.screens.contains_key(screen) {
                self.screens.insert(screen.into(), TryRecord::default());
            }
            if let Some(record) = self.screens.get_mut(screen) {
                record.add(outcome.moved);
            }
        } else if action.to.len() == 1 {
            self.again.add(outcome.surprising);
        }
    }

    /// Returns what the screen's own record makes of its actions, in millionths.
    pub(super) fn screen(&self, screen: &str) -> u64 {
        self.screens.get(screen).copied().unwrap_or_default().chance(SURE, SCREEN_WEIGHT)
    }

    /// Returns the chance that an action shows something new, in millionths. `screen` is the
    /// record of its screen. Nothing is expected of what need not be tried again.
    pub(super) fn worth(&self, at: u32, action: &TriedAction, screen: u64, exhaust: bool) -> u64 {
        if action.barred {
            return 0;
        }
        if action.times > 0 {
            return self.again(at, action, exhaust);
        }
        let mut chance = self.of_kind(action.traits.kind);
        let group = usize::try_from(action.traits.group).ok().and_then(|at| self.groups.get(at));
        if let Some(group) = group.filter(|_| has_name(action.act)) {
            chance = group.chance(chance, NAME_WEIGHT);
            if action.act == DeviceAction::Text && group.tries > 0 {
                chance = part(chance, FILLED_BEFORE, 100);
            }
        }
        chance = action.traits.ordered(chance);
        if let Some(place) = action.traits.place {
            chance = self.places.get(&place).copied().unwrap_or_default().lift(chance);
        }
        part(chance, screen, SURE).max(1)
    }

    /// Returns the chance of a kind of action.
    fn of_kind(&self, kind: u16) -> u64 {
        let record = self.kinds.get(&kind).copied().unwrap_or_default();
        record.chance(first_guess(kind), KIND_WEIGHT)
    }

    fn again(&self, at: u32, action: &TriedAction, exhaust: bool) -> u64 {
        let limit = match (exhaust, action.is_unsure()) {
            (true, _) => MAX_TRIES,
            (false, true) => UNSURE_TRIES,
            (false, false) => 1,
        };
        if action.times >= limit {
            return 0;
        }
        let times = u64::from(action.times);
        let single = action.to.iter().filter(|(_, times)| *times == 1).count();
        let chance = match action.to.as_slice() {
            [(only, _)] if *only == at => SAME_AGAIN,
            [_] => {
                let seen = self.again.chance(SURE / 4, 4);
                part(seen, OTHER_AGAIN, 100)
            }
            _ => SEVERAL_AGAIN.saturating_mul(u64::try_from(single).unwrap_or(0)),
        };
        chance.checked_div(times).unwrap_or(0)
    }
}

/// Returns whether an action is the same thing on any screen only by its element's name.
const fn has_name(act: DeviceAction) -> bool {
    matches!(
        act,
        DeviceAction::Tap | DeviceAction::Text | DeviceAction::Swipe | DeviceAction::LongPress
    )
}

fn part(of: u64, share: u64, whole: u64) -> u64 {
    of.saturating_mul(share).checked_div(whole).unwrap_or(0)
}
