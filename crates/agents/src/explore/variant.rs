//! Variants of a screen: the same actions in another shape, with fields filled, or with another
//! title where one shape was seen to be several screens.
//!
//! Everything here follows from the reports in the journal, so a replay gives the same ids.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::screen::{Screen, ScreenId};

/// Looks of one structure that are distinguished; further ones are taken together.
const MAX_LOOKS: usize = 24;
/// Fields of a screen whose state is part of a variant.
const MAX_FIELDS: usize = 6;
/// Bits in which two pictures of the same screen may differ.
pub(super) const SAME_PICTURE: u32 = 10;

/// Known variants of screens.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Variants {
    /// What fields held when they were first seen: a hint, or nothing.
    bare: BTreeMap<String, String>,
    /// Looks by structure, in the order in which they were seen.
    looks: BTreeMap<ScreenId, Vec<Appearance>>,
    /// Structures that were seen to be several screens.
    split: BTreeSet<ScreenId>,
    /// Pictures of screens without elements.
    pictures: BTreeMap<ScreenId, Vec<u64>>,
}

/// What a structure looked like.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Appearance {
    shape: String,
    title: String,
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
            if at == known.len() && at < MAX_LOOKS {
                known.push(hash);
            }
            return variant(coarse, at);
        }
        let looks = self.looks.entry(coarse.clone()).or_default();
        let look = Appearance { shape: screen.shape.clone(), title: screen.title.clone() };
        let split = self.split.contains(coarse);
        let same = |it: &Appearance| it.shape == look.shape && (!split || it.title == look.title);
        let at = looks.iter().position(same).unwrap_or(looks.len());
        if looks.len() < MAX_LOOKS && !looks.contains(&look) {
            looks.push(look);
        }
        variant(coarse, at)
    }

    /// Records that an action on a structure led to several others, and returns whether its
    /// titles tell it apart from now on: that takes one shape with several of them.
    pub(super) fn split(&mut self, coarse: &ScreenId) -> bool {
        let looks = self.looks.get(coarse).map(Vec::as_slice).unwrap_or_default();
        let several = |one: &Appearance| looks.iter().any(|it| it.shape == one.shape && it != one);
        let splits = looks.len() < MAX_LOOKS && looks.iter().any(several);
        splits && self.split.insert(coarse.clone())
    }
}

/// The first keeps the name, and with it what was learned before there were several.
fn variant(coarse: &ScreenId, at: usize) -> String {
    if at == 0 { coarse.0.clone() } else { format!("{}/{at}", coarse.0) }
}
