//! Variants of a screen: the same structure with fields filled, or with another title where
//! one structure was seen to be several screens.
//!
//! Everything here follows from the reports in the journal, so a replay gives the same ids.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::screen::{Screen, ScreenId};

/// Titles of one structure that are told apart; further ones are taken together.
const MAX_TITLES: usize = 8;
/// Fields of a screen whose state is part of a variant.
const MAX_FIELDS: usize = 6;
/// Bits in which two pictures of the same screen may differ.
pub(super) const SAME_PICTURE: u32 = 10;

/// What is known about the variants of screens.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Variants {
    /// What fields held when they were first seen: a hint, or nothing.
    bare: BTreeMap<String, String>,
    /// Titles by structure, in the order in which they were seen.
    titles: BTreeMap<ScreenId, Vec<String>>,
    /// Structures that were seen to be several screens.
    split: BTreeMap<ScreenId, bool>,
    /// Pictures of screens without elements.
    pictures: BTreeMap<ScreenId, Vec<u64>>,
}

impl Variants {
    /// Returns what a screen is known by, variant included.
    pub(super) fn id(&mut self, screen: &Screen) -> ScreenId {
        let mut id = self.screen_id(screen);
        let mut filled = String::new();
        for field in screen.widgets.iter().filter(|it| it.field.is_some()).take(MAX_FIELDS) {
            let name = format!("{}~{}", field.key, field.row);
            let bare = self.bare.entry(name).or_insert_with(|| field.holds.clone());
            filled.push(if !field.holds.is_empty() && field.holds != *bare { '1' } else { '0' });
        }
        if filled.contains('1') {
            id = format!("{id}+{filled}");
        }
        ScreenId(id)
    }

    fn screen_id(&mut self, screen: &Screen) -> String {
        let coarse = &screen.coarse;
        if let Some(hash) = screen.hash.filter(|_| screen.nodes == 0) {
            let known = self.pictures.entry(coarse.clone()).or_default();
            let near = |old: &u64| (*old ^ hash).count_ones() <= SAME_PICTURE;
            let at = known.iter().position(near).unwrap_or(known.len());
            if at == known.len() && at < MAX_TITLES {
                known.push(hash);
            }
            return variant(coarse, at);
        }
        let titles = self.titles.entry(coarse.clone()).or_default();
        let at = titles.iter().position(|it| *it == screen.title).unwrap_or(titles.len());
        if at == titles.len() && at < MAX_TITLES {
            titles.push(screen.title.clone());
        }
        if self.split.get(coarse).is_some_and(|split| *split) {
            return variant(coarse, at.min(MAX_TITLES.saturating_sub(1)));
        }
        coarse.0.clone()
    }

    /// Takes note that an action on a structure led to several others, and returns whether it
    /// is several screens from now on: that takes titles by which they can be told apart.
    pub(super) fn split(&mut self, coarse: &ScreenId) -> bool {
        let titles = self.titles.get(coarse).map_or(0, Vec::len);
        let splits = titles > 1 && titles <= MAX_TITLES && !self.split.contains_key(coarse);
        if splits {
            self.split.insert(coarse.clone(), true);
        }
        splits
    }
}

/// The first keeps the name, and with it what was learned before there were several.
fn variant(coarse: &ScreenId, at: usize) -> String {
    if at == 0 { coarse.0.clone() } else { format!("{}/{at}", coarse.0) }
}
