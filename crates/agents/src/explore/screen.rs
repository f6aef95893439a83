//! A captured screen: what the agent keeps of a hierarchy, and what it is known by.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{actions::Act, tree::Bounds};

/// What a device shows. The hierarchy and the picture themselves are blobs.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Screen {
    /// The app in front.
    pub package: String,
    /// The part of the app.
    pub activity: String,
    /// What it is known by: what can be done there, never what is written.
    pub coarse: ScreenId,
    /// The same with texts, ticks and filled fields.
    pub fine: ScreenId,
    /// Elements in the hierarchy.
    pub nodes: u32,
    /// What the system shows instead of an app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
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
    /// Which of those that share the key it is, from 1.
    pub row: u32,
    /// What it is, without the package of the class.
    pub class: String,
    /// What is written on it.
    pub label: String,
    /// Where it is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// What can be done with it.
    pub acts: Vec<Act>,
    /// What its text field takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Field>,
    /// Whether neither it nor anything around it says that it can be tapped.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub weak: bool,
    /// Whether it is in a list.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub listed: bool,
    /// Whether its text field holds a text.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub filled: bool,
}

/// What a text field takes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Field {
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
pub enum Dialog {
    /// A question of the system, such as for a permission.
    System,
    /// The app has crashed.
    Crash,
    /// The app does not respond.
    NotResponding,
}

/// What is in front.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Front {
    /// The app that is explored.
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

impl Screen {
    /// Returns what is in front while this app is explored.
    pub fn front(&self, app: &str) -> Front {
        match self.dialog {
            Some(Dialog::Crash | Dialog::NotResponding) => Front::CrashDialog,
            _ if self.package == app => Front::App,
            Some(Dialog::System) => Front::SystemDialog,
            None => Front::Elsewhere,
        }
    }
}

impl ScreenId {
    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
