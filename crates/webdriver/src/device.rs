//! A device that an app runs on, or a recording of one.
//!
//! What a screen means is not decided here: a device gives a hierarchy and takes gestures,
//! and the explore agent's pure functions judge them.

mod appium;
mod error;
pub mod hierarchy;
mod picture;
mod recording;
mod settle;
mod setup;
mod thumbnail;

use std::{pin::Pin, sync::Arc, time::Duration};

use pointsman_agents::explore::{Bounds, DeviceAction, Direction, RecordingStep, Tree};

pub use appium::{
    Appium, AppiumSettings, CapsError, ServerStatus, server as appium_server,
    status as appium_status,
};
pub use error::{DeviceClass, DeviceError};
pub use picture::perceptual_hash;
pub use recording::{GroundTruth, KnownAction, Recording, RecordingError};
pub(crate) use settle::settle;
pub use setup::{SetupError, setup};
pub use thumbnail::thumbnail;

/// What a device was asked for.
pub type DeviceResult<'a, T> = Pin<Box<dyn Future<Output = Result<T, DeviceError>> + Send + 'a>>;

/// A device for the explore agent's tasks. Every call has its own limit.
pub trait Device: Send + Sync {
    /// Returns what people should call it.
    fn name(&self) -> String;

    /// Opens a session, or takes up the one there is.
    fn open(&self) -> DeviceResult<'_, ()>;

    /// Returns the installed version of an app; nothing if it is not installed.
    fn installed<'a>(&'a self, package: &'a str) -> DeviceResult<'a, Option<InstalledApp>>;

    /// Installs an app from a file.
    fn install<'a>(&'a self, package: &'a str, file: &'a str) -> DeviceResult<'a, ()>;

    /// Brings an app to the front, starting it if need be.
    fn launch<'a>(
        &'a self,
        package: &'a str,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>>;

    /// Stops an app and starts it again.
    fn restart<'a>(
        &'a self,
        package: &'a str,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>>;

    /// Reads the hierarchy of the screen.
    fn look(&self) -> DeviceResult<'_, ScreenCapture>;

    /// Takes a picture of the screen as PNG; nothing where there are none.
    fn picture(&self) -> DeviceResult<'_, Option<Vec<u8>>>;

    /// Performs a gesture. The key is the same when it is asked for again after a crash.
    fn act<'a>(
        &'a self,
        gesture: &'a Gesture,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>>;

    /// Returns whether it recognises a repeated gesture by its key. If not, an interrupted gesture
    /// may or may not have been performed.
    fn remembers(&self) -> bool;

    /// Returns whether a screen changes only after an action: then it need not settle.
    fn stands_still(&self) -> bool {
        false
    }

    /// Returns how an app stands.
    fn state<'a>(&'a self, package: &'a str) -> DeviceResult<'a, AppState>;

    /// Ends the session.
    fn close(&self) -> DeviceResult<'_, ()>;
}

/// How long a device is given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeviceSettings {
    /// How long a screen must stay the same to count as settled.
    pub quiet: Duration,
    /// How long it is waited for that at most.
    pub settle: Duration,
    /// How long to wait between two looks.
    pub poll: Duration,
    /// How long to wait on a screen that has nothing to press.
    pub wait: Duration,
    /// For one command of Appium.
    pub command: Duration,
    /// For a session of Appium to be opened.
    pub session: Duration,
    /// For an app to be installed.
    pub install: Duration,
    /// For an app to come to the front, or to stop.
    pub launch: Duration,
    /// To reach the server of Appium.
    pub connect: Duration,
    /// For a session of Appium to end.
    pub close: Duration,
    /// How long a finger rests in a long press.
    pub hold: Duration,
    /// How long a swipe takes.
    pub swipe: Duration,
    /// How far a swipe goes, in the device's own points.
    pub distance: u16,
}

impl Default for DeviceSettings {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(400),
            settle: Duration::from_secs(5),
            poll: Duration::from_millis(200),
            wait: Duration::from_secs(1),
            command: Duration::from_mins(1),
            session: Duration::from_mins(3),
            install: Duration::from_mins(3),
            launch: Duration::from_secs(30),
            connect: Duration::from_secs(5),
            close: Duration::from_secs(10),
            hold: Duration::from_secs(1),
            swipe: Duration::from_millis(300),
            distance: 500,
        }
    }
}

/// An app that is installed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct InstalledApp {
    /// Its version code, where the device tells.
    pub version: Option<u64>,
}

/// What a device shows.
#[derive(Clone, Debug, Default)]
pub struct ScreenCapture {
    /// The elements.
    pub tree: Arc<Tree>,
    /// The hierarchy as the device gave it.
    pub source: Arc<str>,
    /// The app in front; empty where the device does not tell.
    pub package: String,
    /// The part of that app; empty where the device does not tell.
    pub activity: String,
}

/// Something to do on a screen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Gesture {
    /// What.
    pub act: DeviceAction,
    /// On which element, by its ordinal in the last look.
    pub target: Option<usize>,
    /// Where that is.
    pub bounds: Option<Bounds>,
    /// Which way to swipe.
    pub direction: Option<Direction>,
    /// What to type.
    pub text: Option<String>,
}

/// How an app stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AppState {
    /// It is not installed.
    Missing,
    /// It is installed and does not run.
    Stopped,
    /// It runs behind another.
    Background,
    /// It is in front.
    Front,
}
