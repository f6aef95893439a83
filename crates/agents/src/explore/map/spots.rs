//! Places in an app, a little finer than its screens: distinguished by the text at the head
//! and by the fields that are filled. Ways that hold for the one need not hold for the other.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::super::{
    actions,
    screen::{Screen, ScreenId},
};

/// All that is certain, in millionths.
pub(super) const SURE: u64 = 1_000_000;

/// The places that were seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spots {
    /// What fields held when they were first seen: a hint, or nothing.
    bare: BTreeMap<String, String>,
    names: BTreeMap<(ScreenId, String, String), usize>,
    all: Vec<Spot>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Spot {
    screen: ScreenId,
    /// The first place that is the same screen.
    first: usize,
    looks: u32,
    /// How often an action was offered, by its key.
    offered: BTreeMap<String, u32>,
}

impl Spots {
    /// Records a look, and returns the number of the place.
    pub(super) fn see(&mut self, screen: &Screen) -> usize {
        let mut filled = String::new();
        for field in screen.widgets.iter().filter(|it| it.field.is_some()) {
            let name = format!("{}~{}", field.key, field.row);
            let bare = self.bare.entry(name).or_insert_with(|| field.holds.clone());
            filled.push(if !field.holds.is_empty() && field.holds != *bare { '1' } else { '0' });
        }
        let count = self.all.len();
        let name = (screen.coarse.clone(), screen.title.clone(), filled);
        let at = *self.names.entry(name).or_insert(count);
        if at == count {
            let first = self.all.iter().position(|it| it.screen == screen.coarse);
            let first = first.unwrap_or(count);
            self.all.push(Spot { screen: screen.coarse.clone(), first, ..Spot::default() });
        }
        if let Some(spot) = self.all.get_mut(at) {
            spot.looks = spot.looks.saturating_add(1);
            for offer in actions::offers(screen) {
                let times = spot.offered.entry(offer.key).or_default();
                *times = times.saturating_add(1);
            }
        }
        at
    }

    /// Returns the screen that a place is.
    pub(super) fn screen(&self, at: usize) -> Option<&ScreenId> {
        self.all.get(at).map(|it| &it.screen)
    }

    /// Returns the first place that is the same screen.
    pub(super) fn first(&self, at: usize) -> usize {
        self.all.get(at).map_or(at, |it| it.first)
    }

    /// Returns how likely a place offers an action, in millionths.
    pub(super) fn offers(&self, at: usize, key: &str) -> u64 {
        let Some(spot) = self.all.get(at) else { return SURE };
        let times = u64::from(spot.offered.get(key).copied().unwrap_or_default());
        let (times, looks) = (times.saturating_add(1), u64::from(spot.looks).saturating_add(1));
        times.saturating_mul(SURE).checked_div(looks).unwrap_or(SURE).min(SURE)
    }
}
