//! A captured screen, and the structure that it is known by.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use pointsman_kernel::id::Digest;
use serde::{Deserialize, Serialize};

use super::actions::Act;

/// What a device shows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Screen {
    /// The app in front.
    pub package: String,
    /// The part of the app.
    pub activity: String,
    /// What can be seen, in the order of the hierarchy; without bars and keyboard.
    pub widgets: Vec<Widget>,
}

/// Something on a screen.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Widget {
    /// Where the device finds it.
    pub path: String,
    /// What it is.
    pub class: String,
    /// What the app calls it.
    pub resource: String,
    /// What is written on it.
    pub label: String,
    /// What can be done with it now; nothing if it is disabled.
    pub acts: Vec<Act>,
}

/// The structure of a screen: what can be done, never what is written.
///
/// A clock that ticks or a list that grows by a row is the same screen.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ScreenId(String);

impl Screen {
    /// Returns what the screen is known by.
    pub fn id(&self) -> ScreenId {
        let keys: BTreeSet<String> =
            self.widgets.iter().filter(|widget| widget.is_actionable()).map(Widget::key).collect();
        let mut text = format!("{}\n{}", self.package, self.activity);
        for key in &keys {
            text.push('\n');
            text.push_str(key);
        }
        // Sixteen digits are plenty for the few hundred screens of a run.
        ScreenId(format!("{}", Digest::of(text.as_bytes())).chars().take(16).collect())
    }
}

impl Widget {
    /// Returns whether something can be done with it.
    pub const fn is_actionable(&self) -> bool {
        !self.acts.is_empty()
    }

    /// Returns what the widget is known by on any screen: rows of a list share it.
    pub fn key(&self) -> String {
        let acts: BTreeSet<Act> = self.acts.iter().copied().collect();
        let acts: Vec<&str> = acts.into_iter().map(Act::name).collect();
        format!("{}#{}:{}", self.class, self.resource, acts.join("+"))
    }
}
