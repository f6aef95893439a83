//! An exploration read back from what was ordered and reported: the app's map, what was
//! done in order, and where it went wrong. The same journal always gives the same map.

mod paths;
mod reader;
mod spots;
#[cfg(test)]
mod tests;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Serialize;

use super::{
    actions::{DeviceAction, Direction},
    screen::{Foreground, Screen, ScreenId, SystemDialog, Widget},
    task::RecordingStep,
};
pub use paths::{ActionPath, Granularity, PathEnd, PathModel};
pub use reader::MapReader;
pub use spots::Spots;

/// What an exploration found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AppMap {
    /// The app.
    pub app: String,
    /// The recording, where it was not a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// The screens in the order in which they were first seen.
    pub screens: Vec<MapScreen>,
    /// Where actions led, in the order in which that was first seen.
    pub edges: Vec<MapEdge>,
    /// What was done, in order.
    pub moves: Vec<PerformedAction>,
    /// Crashes, hangs and dead ends.
    pub mishaps: Vec<Mishap>,
    /// Steps of the set-up after every start.
    pub setup: usize,
    /// Places that ways go through.
    #[serde(skip)]
    pub spots: Spots,
}

/// A screen that was seen. Variants of it are one screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MapScreen {
    /// Its identity.
    pub id: ScreenId,
    /// Its name: the text at its top.
    pub title: String,
    /// The part of the app.
    pub activity: String,
    /// Whether the system asks something there.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub dialog: bool,
    /// Actions that were performed before it was first seen.
    pub first: usize,
    /// How often an action led there, or stayed.
    pub visits: u32,
    /// Actions that it offered.
    pub seen: usize,
    /// Those of them that were tried.
    pub tried: usize,
    /// Actions that were tried and changed nothing.
    pub idle: usize,
    /// The blob that holds the hierarchy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The blob that holds the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// Its controls when it was first seen.
    #[serde(skip)]
    pub widgets: Vec<Widget>,
    /// The keys of what it offered.
    #[serde(skip)]
    pub offered: BTreeSet<String>,
    /// The keys of what was tried, and whether it ever led away.
    #[serde(skip)]
    pub taken: BTreeMap<String, bool>,
}

/// Where an action led.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapEdge {
    /// The screen before.
    pub from: ScreenId,
    /// The action.
    pub action: MapAction,
    /// What came after.
    pub to: ActionResult,
    /// How often that was seen.
    pub times: u32,
    /// The first move that showed it, by its place.
    pub first: usize,
}

/// Something that was done.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct MapAction {
    /// Known by this on its screen.
    pub key: String,
    /// What was done.
    pub act: DeviceAction,
    /// Which way it was swiped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Its text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What was typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The element.
    #[serde(skip)]
    pub widget: Option<Widget>,
}

/// A performed action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerformedAction {
    /// Milliseconds since the run began.
    pub at: u64,
    /// The screen before, where it is known.
    pub from: Option<ScreenId>,
    /// What was done.
    pub action: MapAction,
    /// What came after.
    pub to: ActionResult,
    /// What a recording knows about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<RecordingStep>,
    /// The places before and after, where they are known.
    #[serde(skip)]
    pub spots: (Option<usize>, Option<usize>),
}

/// The result of an action.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionResult {
    /// A screen of the app, or a question of the system.
    Screen(ScreenId),
    /// The app crashed.
    Crash,
    /// The app does not respond.
    NotResponding,
    /// Another app is in front.
    Outside(String),
    /// It was not checked.
    #[default]
    Unknown,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MishapKind {
    /// The app crashed.
    Crash,
    /// The app did not respond.
    NotResponding,
    /// Nothing leads away from a screen.
    DeadEnd,
}

/// Something that went wrong, and how it came to that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mishap {
    /// What.
    pub kind: MishapKind,
    /// The screen on which it happened.
    pub screen: Option<ScreenId>,
    /// The action that did it, by its key, in which all rows of a list are one; empty for a
    /// dead end.
    pub key: String,
    /// How often it happened.
    pub times: u32,
    /// How often the same action on the same screen came to something else.
    pub otherwise: u32,
    /// The moves that led there first, by their positions, from the last start of the app; the
    /// last one caused it.
    pub path: Vec<usize>,
}

/// How much of an app was seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct MapCoverage {
    /// Parts of the app.
    pub activities: usize,
    /// Screens of the app.
    pub screens: usize,
    /// Ways from one screen to another.
    pub edges: usize,
    /// Actions that screens offered.
    pub actions_seen: usize,
    /// Those of them that were tried.
    pub actions_tried: usize,
    /// Actions that were performed.
    pub actions: usize,
}

impl AppMap {
    /// Returns how much was seen.
    pub fn coverage(&self) -> MapCoverage {
        // A dialog of the system is not a screen of the app.
        let own = || self.screens.iter().filter(|it| !it.dialog);
        let activities: BTreeSet<&str> = own().map(|it| it.activity.as_str()).collect();
        let between =
            |edge: &&MapEdge| matches!(&edge.to, ActionResult::Screen(to) if *to != edge.from);
        MapCoverage {
            activities: activities.len(),
            screens: own().count(),
            edges: self.edges.iter().filter(between).count(),
            actions_seen: self.screens.iter().map(|it| it.seen).sum(),
            actions_tried: self.screens.iter().map(|it| it.tried).sum(),
            actions: self.moves.len(),
        }
    }

    /// Returns a screen.
    pub fn screen(&self, id: &ScreenId) -> Option<&MapScreen> {
        self.screens.iter().find(|it| it.id == *id)
    }

    /// Returns the screens from which nothing leads away.
    pub fn dead_ends(&self) -> impl Iterator<Item = &ScreenId> {
        let dead = |it: &&Mishap| it.kind == MishapKind::DeadEnd;
        self.mishaps.iter().filter(dead).filter_map(|it| it.screen.as_ref())
    }

    /// Returns what to call a screen.
    pub fn name(&self, id: &ScreenId) -> String {
        self.screen(id).map_or_else(|| id.as_str().into(), MapScreen::name)
    }
}

impl MapScreen {
    /// Returns what to call it.
    pub fn name(&self) -> String {
        let activity = self.activity.rsplit(['.', '/']).next().unwrap_or_default();
        let name = if self.title.is_empty() { activity } else { &self.title };
        if name.is_empty() { self.id.as_str().to_string() } else { name.to_string() }
    }

    /// Returns whether every action it ever offered was tried.
    pub const fn is_done(&self) -> bool {
        self.tried >= self.seen
    }
}

impl MapAction {
    /// Returns what to call it: what was done, and on what.
    pub fn name(&self) -> String {
        let mut name = self.act.name().replace('_', " ");
        if let Some(way) = self.direction {
            name.push(' ');
            name.push_str(way.name());
        }
        // What has no words is called by its identifier, else by its class and place.
        let key = self.widget.as_ref().map_or("", |it| {
            let named = it.key.strip_prefix(it.class.as_str()).and_then(|it| it.strip_prefix('#'));
            named.unwrap_or(&it.key)
        });
        let what = if self.label.is_empty() { key } else { &self.label };
        if !what.is_empty() {
            name.push(' ');
            name.push('“');
            name.extend(what.chars().take(40));
            name.push('”');
        }
        name
    }

    /// Returns its identity where all rows of a list are one.
    pub fn kind_key(&self) -> String {
        match self.widget.as_ref().filter(|it| it.listed) {
            Some(widget) => {
                let way = self.direction.map_or("", Direction::name);
                format!("{} {}~* {way}", self.act.name(), widget.key).trim_end().into()
            }
            None => self.key.clone(),
        }
    }

    /// Returns whether it starts the app, so that what was before does not count.
    pub const fn starts(&self) -> bool {
        matches!(self.act, DeviceAction::Launch | DeviceAction::Restart)
    }
}

impl MishapKind {
    /// Returns its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::NotResponding => "not responding",
            Self::DeadEnd => "dead end",
        }
    }
}

impl ActionResult {
    /// Returns what a screen is after an action, while this app is explored.
    pub fn of(screen: &Screen, app: &str, running: bool) -> Self {
        match screen.front(app) {
            Foreground::App | Foreground::SystemDialog => Self::Screen(screen.coarse.clone()),
            Foreground::CrashDialog if screen.dialog == Some(SystemDialog::NotResponding) => {
                Self::NotResponding
            }
            Foreground::CrashDialog => Self::Crash,
            Foreground::Elsewhere if !running => Self::Crash,
            Foreground::Elsewhere => Self::Outside(screen.package.clone()),
        }
    }

    /// Returns what went wrong there, if anything did.
    pub const fn kind(&self) -> Option<MishapKind> {
        match self {
            Self::Crash => Some(MishapKind::Crash),
            Self::NotResponding => Some(MishapKind::NotResponding),
            Self::Screen(_) | Self::Outside(_) | Self::Unknown => None,
        }
    }
}
