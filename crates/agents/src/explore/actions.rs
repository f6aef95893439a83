//! Which actions a screen offers: a bounded list in a stable order.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    screen::{Screen, TextFieldKind, Widget},
    task::Target,
};

/// Candidates of a round at most, `back` included.
pub const MAX_CANDIDATES: usize = 20;

/// One thing that could be done.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CandidateAction {
    /// Known by this on its screen, whatever else the screen shows.
    pub key: String,
    /// What to do.
    pub act: DeviceAction,
    /// Which way to swipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Where; nowhere for `back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The class of the element, without its package.
    pub class: String,
    /// Its text.
    pub label: String,
    /// Known by this on any screen: rows of a list share it.
    #[serde(default)]
    pub group: String,
    /// Its number among those with the same name, from 1.
    #[serde(default)]
    pub row: u32,
    /// What its text field takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<TextFieldKind>,
    /// Whether nothing says that the element can be tapped.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub weak: bool,
    /// Whether it is in a list.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub listed: bool,
}

impl CandidateAction {
    fn plain(act: DeviceAction) -> Self {
        Self { key: act.name().into(), act, group: act.name().into(), row: 1, ..Self::default() }
    }

    /// Returns the identifier that the app gives the element; empty if it gives none.
    pub fn resource(&self) -> &str {
        let named = self.group.split_once('#').map_or("", |(_, name)| name);
        named.split(' ').next().unwrap_or_default()
    }

    /// Describes it: the action, the direction and the element.
    pub(super) fn described(&self) -> String {
        let mut words = String::from(self.act.name());
        if let Some(way) = self.direction {
            words = format!("{words} {}", way.name());
        }
        match (self.label.as_str(), self.resource()) {
            ("", "") if self.class.is_empty() => words,
            ("", "") => format!("{words} {}", self.class),
            ("", resource) => format!("{words} {} {resource:?}", self.class),
            (label, _) => format!("{words} {} {label:?}", self.class),
        }
    }
}

/// What can be done with a device.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeviceAction {
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
    /// Wait for the screen to change on its own.
    Wait,
    /// Bring the app to the front.
    Launch,
    /// Stop the app and start it again.
    Restart,
}

impl DeviceAction {
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
pub fn offers(screen: &Screen) -> Vec<CandidateAction> {
    let mut offers: Vec<CandidateAction> = screen.widgets.iter().flat_map(of_widget).collect();
    offers.push(CandidateAction::plain(DeviceAction::Back));
    if screen.widgets.iter().all(|it| it.weak) {
        offers.push(CandidateAction::plain(DeviceAction::Wait));
    }
    offers
}

/// Returns what can be done in another app: go back, or bring the explored one to the front.
pub(super) fn outside() -> Vec<CandidateAction> {
    [DeviceAction::Back, DeviceAction::Launch].map(CandidateAction::plain).into()
}

/// Reads which candidate a text names: by number from 1, or by its whole label.
pub(super) fn named(candidates: &[CandidateAction], text: &str) -> Option<usize> {
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

fn of_widget(widget: &Widget) -> impl Iterator<Item = CandidateAction> {
    widget.acts.iter().flat_map(move |act| {
        const WAYS: [Option<Direction>; 4] = [
            Some(Direction::Up),
            Some(Direction::Down),
            Some(Direction::Left),
            Some(Direction::Right),
        ];
        let ways: &[Option<Direction>] = if *act == DeviceAction::Swipe { &WAYS } else { &[None] };
        ways.iter().map(move |way| candidate(widget, *act, *way))
    })
}

fn candidate(widget: &Widget, act: DeviceAction, direction: Option<Direction>) -> CandidateAction {
    let way = direction.map_or("", Direction::name);
    let row = widget.row;
    CandidateAction {
        key: format!("{} {}~{row} {way}", act.name(), widget.key).trim_end().into(),
        group: format!("{} {} {way}", act.name(), widget.key).trim_end().into(),
        row,
        field: widget.field,
        weak: widget.weak,
        listed: widget.listed,
        act,
        direction,
        target: Some(Target { ordinal: widget.ordinal, bounds: widget.bounds }),
        class: widget.class.clone(),
        label: widget.label.clone(),
    }
}
