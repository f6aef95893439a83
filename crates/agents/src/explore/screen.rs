//! A captured screen: what the agent keeps of a hierarchy, and what it is known by.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::{CandidateAction, DeviceAction},
    tree::Bounds,
    variant::SAME_PICTURE,
};

/// What a device shows. The hierarchy and the picture themselves are blobs.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Screen {
    /// The app in front.
    pub package: String,
    /// The part of the app.
    pub activity: String,
    /// Its identity: the possible actions, never texts.
    pub coarse: ScreenId,
    /// The same with texts, ticks and filled fields.
    pub fine: ScreenId,
    /// A digest of the tree of its elements, by which variants are distinguished.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shape: String,
    /// The text at its top, without numbers that change on their own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Elements in the hierarchy.
    pub nodes: u32,
    /// What the system shows instead of an app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<SystemDialog>,
    /// What can be acted upon, in the order of the hierarchy.
    pub widgets: Vec<Widget>,
    /// A perceptual hash of the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<u64>,
    /// The blob that holds the hierarchy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The blob that holds the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

/// Something on a screen that can be acted upon.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Widget {
    /// Its place in the hierarchy.
    pub ordinal: u32,
    /// Known by this on any screen: rows of a list share it.
    pub key: String,
    /// Its number among those with the same key, from 1.
    pub row: u32,
    /// What it is, without the package of the class.
    pub class: String,
    /// The text on it.
    pub label: String,
    /// Where it is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// What can be done with it.
    pub acts: Vec<DeviceAction>,
    /// What its text field takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<TextFieldKind>,
    /// Whether neither it nor anything around it says that it can be tapped.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub weak: bool,
    /// Whether it is in a list.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub listed: bool,
    /// A digest of what its text field holds; empty if it holds nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub holds: String,
}

/// What a text field takes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextFieldKind {
    /// Any text.
    Text,
    /// A password.
    Password,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// A number.
    Number,
    /// A web address.
    Url,
    /// A date.
    Date,
    /// What to search for.
    Search,
    /// A person's name.
    Name,
}

/// What the system shows over an app.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemDialog {
    /// A question of the system, such as for a permission.
    System,
    /// The app has crashed.
    Crash,
    /// The app does not respond.
    NotResponding,
}

/// The app or dialog in front.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Foreground {
    /// The app that is explored.
    #[default]
    App,
    /// A question of the system.
    SystemDialog,
    /// The news that an app crashed or does not respond.
    CrashDialog,
    /// Another app.
    Elsewhere,
}

/// Sixteen hexadecimal digits: plenty for the few hundred screens of a run.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ScreenId(pub String);

/// How far a screen differs from the one before.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenChange {
    /// Nothing but what changes by itself.
    #[default]
    None,
    /// Texts, ticks or fields.
    Minor,
    /// What can be done, in the same activity.
    Moderate,
    /// The activity or the app.
    Major,
}

impl Screen {
    /// Returns how far another screen differs from this one. The pictures decide only where
    /// neither has elements.
    pub fn change(&self, after: &Self) -> ScreenChange {
        if self.package != after.package || self.activity != after.activity {
            return ScreenChange::Major;
        }
        if let (0, 0, Some(old), Some(new)) = (self.nodes, after.nodes, self.hash, after.hash) {
            let same = (old ^ new).count_ones() <= SAME_PICTURE;
            return if same { ScreenChange::None } else { ScreenChange::Moderate };
        }
        match after {
            _ if self.fine == after.fine => ScreenChange::None,
            _ if self.coarse == after.coarse => ScreenChange::Minor,
            _ => ScreenChange::Moderate,
        }
    }

    /// Returns how far down the screen a candidate is, in fifths, if it says that it can be
    /// tapped.
    pub(super) fn place(&self, candidate: &CandidateAction) -> Option<u8> {
        if candidate.act != DeviceAction::Tap || candidate.weak || candidate.field.is_some() {
            return None;
        }
        let bottoms = self.widgets.iter().filter_map(|it| it.bounds).map(|it| it.bottom);
        let height = i64::from(bottoms.max()?);
        let (_, middle) = candidate.target?.bounds?.middle();
        let fifth = i64::from(middle).saturating_mul(5).checked_div(height)?;
        u8::try_from(fifth.clamp(0, 4)).ok()
    }

    /// Returns what is in front while this app is explored.
    pub fn front(&self, app: &str) -> Foreground {
        match self.dialog {
            Some(SystemDialog::Crash | SystemDialog::NotResponding) => Foreground::CrashDialog,
            _ if self.package == app => Foreground::App,
            Some(SystemDialog::System) => Foreground::SystemDialog,
            None => Foreground::Elsewhere,
        }
    }
}

impl ScreenId {
    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
