//! What the agent has a device do, and what a device reports.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{
    actions::{DeviceAction, Direction},
    screen::Screen,
    tree::Bounds,
};

/// The app that is explored.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct App {
    /// Its package.
    pub package: String,
    /// The activity to launch, where it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// Where to install it from.
    pub install_from: Option<String>,
    /// The version that it must have at least.
    pub version: Option<u64>,
}

/// What the device should do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExploreTask {
    /// Open a session, or use the open one.
    Session,
    /// Look which version of the app is installed.
    Inspect(App),
    /// Install the app.
    Install(App),
    /// Bring the app to the front, starting it if necessary.
    Launch(App),
    /// Stop the app and start it again.
    Restart(App),
    /// Wait, within a limit, until two looks at the screen are equal.
    Settle,
    /// Capture the screen as it is.
    Capture,
    /// Settle, then capture: the screen after an action. A screen of another app is
    /// metered as one step outside.
    Verify,
    /// Act on the screen that was captured last.
    Perform {
        /// What to do.
        act: DeviceAction,
        /// Where; nowhere for `back`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Target>,
        /// Which way to swipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
        /// What to type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Wait on a screen without controls.
    Wait,
    /// Look whether session and app are still there.
    Check,
}

impl ExploreTask {
    /// Describes the task in a line for people.
    pub(super) const fn describe(&self) -> &'static str {
        match self {
            Self::Session => "opens a session",
            Self::Inspect(_) => "checks the version of the app",
            Self::Install(_) => "installs the app",
            Self::Launch(_) | Self::Perform { act: DeviceAction::Launch, .. } => {
                "brings the app to the front"
            }
            Self::Restart(_) | Self::Perform { act: DeviceAction::Restart, .. } => {
                "restarts the app"
            }
            Self::Settle => "waits until the screen stops changing",
            Self::Capture => "reads the screen",
            Self::Verify => "reads the screen after the action",
            Self::Perform { act: DeviceAction::Tap, .. } => "taps",
            Self::Perform { act: DeviceAction::Text, .. } => "types text",
            Self::Perform { act: DeviceAction::Swipe, .. } => "swipes",
            Self::Perform { act: DeviceAction::LongPress, .. } => "presses and holds",
            Self::Perform { act: DeviceAction::Back, .. } => "goes back",
            Self::Wait | Self::Perform { act: DeviceAction::Wait, .. } => {
                "waits for the screen to change"
            }
            Self::Check => "checks the session and the app",
        }
    }
}

/// An element of the screen that was captured last.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Target {
    /// Its place in the hierarchy.
    pub ordinal: u32,
    /// Where it was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
}

/// What the device reports.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExploreReport {
    /// It was done.
    Done,
    /// The version of the app that is installed, if it is.
    Installed(Option<u64>),
    /// An action was performed: for `Perform`, `Wait`, `Launch` and `Restart`.
    Performed {
        /// What a recording knows about it. The agent ignores it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<RecordingStep>,
    },
    /// The content of the screen.
    Captured {
        /// The screen.
        screen: Screen,
        /// Whether the app still runs.
        running: bool,
    },
    /// How session and app are.
    Health {
        /// Whether the session answers.
        session: bool,
        /// Whether the app runs.
        running: bool,
        /// Whether it, or a dialog of the system, is in front.
        in_front: bool,
    },
}

/// One step through a recording, in the words of its file.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RecordingStep {
    /// The state before.
    pub from: String,
    /// The kind of action.
    pub kind: String,
    /// The element acted upon.
    pub node: Option<usize>,
    /// Which way it was swiped.
    pub direction: Option<String>,
    /// The state after.
    pub to: String,
}
