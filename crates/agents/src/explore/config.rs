//! What a person sets for an exploration.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    actions::{DeviceAction, Direction},
    policy::Policy,
    task::App,
};

/// What a person sets.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExploreConfig {
    /// The app.
    pub app: App,
    /// What to look for, in the person's words.
    #[serde(default)]
    pub goal: String,
    /// Whether a model may pick among the candidates.
    #[serde(default)]
    pub ask_model: bool,
    /// What to type, by label or by identifier of the field.
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
    /// How candidates are chosen; nothing lets the ladder switch between policies.
    #[serde(default)]
    pub policy: Option<Policy>,
    /// What to do with questions for permission.
    #[serde(default)]
    pub permissions: PermissionPolicy,
    /// Steps to take before exploring, and after every restart.
    #[serde(default)]
    pub setup: Vec<SetupStep>,
    /// Whether to continue until the budget is used up when nothing is left to try.
    #[serde(default)]
    pub exhaust: bool,
    /// What breaks ties.
    #[serde(default)]
    pub seed: u64,
    /// Where it is explored. The agent does not look at it.
    #[serde(default)]
    pub device: DeviceLocation,
}

/// Where an app is explored: on a device behind a server, or in a recording.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceLocation {
    /// The address of an Appium server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appium: Option<String>,
    /// The file with the capabilities of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// The file with a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
}

/// What to do when the system asks whether the app may do something.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PermissionPolicy {
    /// Allow it.
    Allow,
    /// Deny it.
    Deny,
    /// Treat the question as any other screen.
    #[default]
    Explore,
}

/// A step of the set-up. The given properties find the element.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SetupStep {
    /// What to do.
    pub act: DeviceAction,
    /// The identifier that the app gives the element, with or without its package.
    #[serde(default)]
    pub resource: Option<String>,
    /// The text on the element.
    #[serde(default)]
    pub label: Option<String>,
    /// The end of its class.
    #[serde(default)]
    pub class: Option<String>,
    /// What to type.
    #[serde(default)]
    pub text: Option<String>,
    /// Which way to swipe.
    #[serde(default)]
    pub direction: Option<Direction>,
}
