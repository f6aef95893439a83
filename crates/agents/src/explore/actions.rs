//! Which actions a screen offers: a bounded list in a stable order.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    screen::{Screen, Widget},
    task::Target,
};

/// Candidates of a round at most, `back` included.
pub const MAX_CANDIDATES: usize = 20;

/// One thing that could be done.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Candidate {
    /// Known by this on its screen, whatever else the screen shows.
    pub key: String,
    /// What to do.
    pub act: Act,
    /// Which way to swipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Where; nowhere for `back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The class of the element, without its package.
    pub class: String,
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
    Text,
    /// Swipe over it.
    Swipe,
    /// Hold it.
    LongPress,
    /// Go back.
    #[default]
    Back,
    /// Let the screen go on by itself.
    Wait,
    /// Bring the app to the front.
    Launch,
    /// Stop the app and start it again.
    Restart,
}

impl Act {
    /// Returns its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::Text => "text",
            Self::Swipe => "swipe",
            Self::LongPress => "long_press",
            Self::Back => "back",
            Self::Wait => "wait",
            Self::Launch => "launch",
            Self::Restart => "restart",
        }
    }
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
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// Returns its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// Returns all that a screen offers, in the order of its hierarchy, `back` last.
pub fn offers(screen: &Screen) -> Vec<Candidate> {
    let mut offers: Vec<Candidate> = screen.widgets.iter().flat_map(of_widget).collect();
    offers.push(Candidate { key: "back".into(), ..Candidate::default() });
    offers
}

/// Enumerates what can be done on a screen. Those tried least come first, so that
/// the limit never hides an action for good; `back` is always among them.
///
/// `tried` says how often an action was tried here, or nothing if it never may be again.
pub fn enumerate(screen: &Screen, tried: impl Fn(&str) -> Option<u32>) -> Vec<Candidate> {
    let mut found: Vec<(u32, bool, Candidate)> = Vec::new();
    for widget in &screen.widgets {
        let offers = of_widget(widget);
        found.extend(offers.filter_map(|it| Some((tried(&it.key)?, widget.weak, it))));
    }
    // The sort is stable: what was tried as often stays in the screen's order.
    found.sort_by_key(|(times, weak, _)| (*times, *weak));
    found.truncate(MAX_CANDIDATES.saturating_sub(1));
    let mut candidates: Vec<Candidate> = found.into_iter().map(|(_, _, it)| it).collect();
    let back = Candidate { key: "back".into(), ..Candidate::default() };
    candidates.extend(Some(back).filter(|back| tried(&back.key).is_some()));
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

fn of_widget(widget: &Widget) -> impl Iterator<Item = Candidate> {
    widget.acts.iter().flat_map(move |act| {
        const WAYS: [Option<Direction>; 4] = [
            Some(Direction::Up),
            Some(Direction::Down),
            Some(Direction::Left),
            Some(Direction::Right),
        ];
        let ways: &[Option<Direction>] = if *act == Act::Swipe { &WAYS } else { &[None] };
        ways.iter().map(move |way| candidate(widget, *act, *way))
    })
}

fn candidate(widget: &Widget, act: Act, direction: Option<Direction>) -> Candidate {
    let way = direction.map_or("", Direction::name);
    let row = widget.row;
    Candidate {
        key: format!("{} {}~{row} {way}", act.name(), widget.key).trim_end().into(),
        act,
        direction,
        target: Some(Target { ordinal: widget.ordinal, bounds: widget.bounds }),
        class: widget.class.clone(),
        label: widget.label.clone(),
    }
}
