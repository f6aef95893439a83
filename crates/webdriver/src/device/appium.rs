//! A device behind a server of Appium: a phone, an emulator, or a browser.
//!
//! It speaks W3C WebDriver with Appium's extensions, to a server that is already running.

mod app;
mod client;
mod gesture;
mod page;
mod record;
mod session;
mod settings;
mod status;
mod trouble;
mod windows;

use std::{sync::Mutex, time::Duration};

use pointsman_agents::explore::{Platform, RecordingStep};

pub use settings::{AppiumSettings, CapsError};
pub use status::{ServerStatus, server, status};

use super::{
    AppState, Device, DeviceClass, DeviceError, DeviceResult, Gesture, InstalledApp, ScreenCapture,
};
use client::WebDriverClient;
use session::AppiumSession;

/// The name under which the protocol hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A device behind a server of Appium.
#[derive(Debug)]
pub struct Appium {
    wire: WebDriverClient,
    settings: AppiumSettings,
    session: Mutex<Option<AppiumSession>>,
    /// Site and path of the page that was last seen: one that has crashed does not tell.
    place: Mutex<Option<(String, String)>>,
    /// One session at a time is opened: two would fight for the device.
    opening: tokio::sync::Mutex<()>,
}

impl Appium {
    /// Makes a device of a server's address and a session's capabilities. Nothing is sent
    /// before it is opened.
    pub fn new(settings: AppiumSettings) -> Result<Self, DeviceError> {
        let wire = WebDriverClient::new(&settings.url, settings.times.connect).map_err(|why| {
            let message = format!(
                "`{}` is not the address of an Appium server: {why}; write it as `http://127.0.0.1:4723`",
                settings.url
            );
            DeviceError::new(DeviceClass::InvalidArgument, message)
        })?;
        Ok(Self {
            wire,
            settings,
            session: Mutex::default(),
            place: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        })
    }

    fn platform(&self) -> Platform {
        settings::platform(&self.settings.capabilities)
    }

    fn is_page(&self) -> bool {
        self.platform() == Platform::Web
    }

    const fn limit(&self) -> Duration {
        self.settings.times.command
    }
}

impl Device for Appium {
    fn name(&self) -> String {
        format!("Appium at {} ({})", self.wire.address(), self.platform().name())
    }

    fn open(&self) -> DeviceResult<'_, ()> {
        Box::pin(self.open_session())
    }

    fn installed<'a>(&'a self, package: &'a str) -> DeviceResult<'a, Option<InstalledApp>> {
        Box::pin(self.installed_app(package))
    }

    fn install<'a>(&'a self, _package: &'a str, file: &'a str) -> DeviceResult<'a, ()> {
        Box::pin(self.install_app(file))
    }

    fn launch<'a>(
        &'a self,
        package: &'a str,
        _key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        Box::pin(async move { self.launch_app(package).await.map(|()| None) })
    }

    fn restart<'a>(
        &'a self,
        package: &'a str,
        _key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        Box::pin(async move {
            self.stop_app(package).await?;
            self.launch_app(package).await.map(|()| None)
        })
    }

    fn look(&self) -> DeviceResult<'_, ScreenCapture> {
        Box::pin(async move {
            if self.is_page() { self.look_at_page().await } else { self.look_at_screen().await }
        })
    }

    fn picture(&self) -> DeviceResult<'_, Option<Vec<u8>>> {
        Box::pin(async move { self.take_picture().await.map(Some) })
    }

    fn act<'a>(
        &'a self,
        gesture: &'a Gesture,
        _key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        Box::pin(async move { self.perform(gesture).await.map(|()| None) })
    }

    /// A phone keeps no list of what was done to it.
    fn remembers(&self) -> bool {
        false
    }

    fn state<'a>(&'a self, package: &'a str) -> DeviceResult<'a, AppState> {
        Box::pin(self.app_state(package))
    }

    fn close(&self) -> DeviceResult<'_, ()> {
        Box::pin(self.close_session())
    }
}
