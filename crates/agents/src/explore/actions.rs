//! Which actions a screen offers: a bounded list in a stable order.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::screen::{Screen, Widget};

/// Candidates of a screen at most, besides `back`.
pub(super) const MAX_CANDIDATES: usize = 20;
/// Rows of one list that are candidates.
const MAX_ALIKE: u32 = 3;
/// Characters of a label that are kept.
const MAX_LABEL: usize = 200;

/// One thing that could be done.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Candidate {
    /// Known by this on its screen.
    pub key: String,
    /// What to do.
    pub act: Act,
    /// Where, as the device finds it; nowhere for `back`.
    pub path: String,
    /// What is written there.
    pub label: String,
}

/// What can be done with a device.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Act {
    /// Tap it.
    Tap,
    /// Type into it.
    Type,
    /// Scroll it on.
    Swipe,
    /// Hold it.
    LongPress,
    /// Go back.
    #[default]
    Back,
    /// Wait: the screen has nothing to press.
    Wait,
}

/// Which way the finger moves.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Up, so that the contents scroll down.
    Up,
    /// Down.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

impl Direction {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// Where a recording stood before an action and after it. The agent does not look at it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Step {
    /// The state before.
    pub from: String,
    /// What was done, in the recording's words.
    pub kind: String,
    /// On which element, by ordinal.
    pub node: Option<usize>,
    /// Which way.
    pub direction: Option<String>,
    /// The state after.
    pub to: String,
}

impl Act {
    /// Returns what a person would call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::Type => "type",
            Self::Swipe => "swipe",
            Self::LongPress => "long press",
            Self::Back => "back",
            Self::Wait => "wait",
        }
    }
}

/// Enumerates what can be done on a screen. Those tried least come first, so that
/// the limit never hides an action for good.
///
/// `tried` says how often an action was tried here, or nothing if it never may be
/// again; `back` is offered where it does not leave the app.
pub(super) fn enumerate(
    screen: &Screen,
    back: bool,
    tried: impl Fn(&str) -> Option<u32>,
) -> Vec<Candidate> {
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let mut found: Vec<(u32, Candidate)> = Vec::new();
    for widget in screen.widgets.iter().filter(|widget| widget.is_actionable()) {
        let row = alike.entry(widget.key()).or_default();
        *row = row.saturating_add(1);
        if *row <= MAX_ALIKE {
            let row = *row;
            let candidates = widget.acts.iter().map(|act| candidate(widget, *act, row));
            found.extend(candidates.filter_map(|it| Some((tried(&it.key)?, it))));
        }
    }
    // The sort is stable: what was tried as often stays in the screen's order.
    found.sort_by_key(|(times, _)| *times);
    found.truncate(MAX_CANDIDATES);
    let mut candidates: Vec<Candidate> = found.into_iter().map(|(_, it)| it).collect();
    let back = Some(Candidate { key: "back".into(), ..Candidate::default() }).filter(|_| back);
    candidates.extend(back.filter(|back| tried(&back.key).is_some()));
    candidates
}

/// Reads which candidate a text names: by number from 1, or by its whole label.
pub(super) fn named(candidates: &[Candidate], text: &str) -> Option<usize> {
    let text = text.trim().trim_end_matches('.');
    if let Ok(number) = text.parse::<usize>() {
        let at = number.checked_sub(1)?;
        return (at < candidates.len()).then_some(at);
    }
    let mut same = candidates
        .iter()
        .enumerate()
        .filter(|(_, it)| !it.label.is_empty() && it.label.to_lowercase() == text.to_lowercase());
    match (same.next(), same.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

fn candidate(widget: &Widget, act: Act, row: u32) -> Candidate {
    Candidate {
        key: format!("{} {} {row}", act.name(), widget.key()),
        act,
        path: widget.path.clone(),
        label: widget.label.chars().take(MAX_LABEL).collect(),
    }
}
